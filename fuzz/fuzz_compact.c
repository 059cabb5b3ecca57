// Blobs of compact recordings take bytes: whatever they hold, the decoder gives a frame with ascending
// ids or an error. zstd's check sum would keep the fuzzer out, so that the contents are given directly.
// SPDX-License-Identifier: Apache-2.0
#include "record/compact.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at(const th_grid_frame *frame, int count) {
    if (frame->count != count) abort();
    uint32_t sum = 0; // every element is read, so that the sanitizer sees each
    for (int i = 0; i < count; ++i) {
        if (i > 0 && frame->id[i] <= frame->id[i - 1]) abort();
        if (frame->level[i] < 0) abort();
        sum += (uint32_t)frame->x[i] ^ (uint32_t)frame->y[i];
        if (frame->heading) sum += frame->heading[i];
    }
    volatile uint32_t seen = sum;
    (void)seen;
}

// A decoded frame must come back the same from its own encoding.
static void encode_again(th_compact_codec *writer, th_compact_codec *reader,
                         const th_grid_frame *frame, bool key) {
    const unsigned char *bytes;
    size_t size;
    th_grid_frame back;
    if (th_compact_encode(writer, frame, key, &bytes, &size, NULL)) abort();
    if (th_compact_decode(reader, bytes, size, frame->count, &back, NULL)) abort();
    size_t count = (size_t)frame->count;
    if (memcmp(frame->id, back.id, count * sizeof *back.id) ||
        memcmp(frame->x, back.x, count * sizeof *back.x) ||
        memcmp(frame->y, back.y, count * sizeof *back.y) ||
        memcmp(frame->level, back.level, count * sizeof *back.level) ||
        (frame->heading != NULL) != (back.heading != NULL) ||
        (frame->heading && memcmp(frame->heading, back.heading, count)))
        abort();
}

// Input: frames one after the other, each two bytes of length and so many of content. The number of
// people is what the content says, as a database row would say it.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    th_compact_codec *codec = th_compact_codec_create();
    th_compact_codec *writer = th_compact_codec_create(), *reader = th_compact_codec_create();
    if (!codec || !writer || !reader) abort();
    th_grid_frame frame;
    if (size > 0) th_compact_decode(codec, data, size, data[0], &frame, NULL); // the outer layer
    for (int number = 0; size >= 2; ++number) {
        size_t length = (size_t)data[0] | (size_t)data[1] << 8;
        data += 2;
        size -= 2;
        if (length > size) length = size;
        int count = length > 5 ? data[4] | data[5] << 8 : 0;
        // A copy of just this size, so that reading past its end is seen.
        unsigned char *content = malloc(length ? length : 1);
        if (!content) abort();
        memcpy(content, data, length);
        if (th_compact_decode_content(codec, content, length, count, &frame, NULL) == TH_OK) {
            look_at(&frame, count);
            encode_again(writer, reader, &frame, number % 4 == 3);
        }
        free(content);
        data += length;
        size -= length;
    }
    th_compact_codec_destroy(codec);
    th_compact_codec_destroy(writer);
    th_compact_codec_destroy(reader);
    return 0;
}
