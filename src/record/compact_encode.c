// Frames into blobs. About a hundred million people a second on one core where nobody comes or goes;
// zstd takes half of that. SPDX-License-Identifier: Apache-2.0
#include "core/array.h"
#include "core/error.h"
#include "core/parallel.h"
#include "record/compact_codec.h"
#include <string.h>

enum {
    VARINT_MOST = 10, // bytes of a 64-bit varint
    ZSTD_LEVEL = 1,
};

static void put_u32(unsigned char *at, uint32_t value) {
    for (int k = 0; k < 4; ++k) at[k] = (unsigned char)(value >> 8 * k);
}

static unsigned char *put_varint(unsigned char *at, uint64_t value) {
    for (; value >= 128; value >>= 7) *at++ = (unsigned char)(value | 128);
    *at++ = (unsigned char)value;
    return at;
}

TH_CLONES static void put_planes(unsigned char *restrict planes, int count,
                                 const uint32_t *restrict value) {
    for (int k = 0; k < 4; ++k) {
        unsigned char *plane = planes + (size_t)k * (size_t)count;
        for (int i = 0; i < count; ++i) plane[i] = (unsigned char)(value[i] >> 8 * k);
    }
}

// ---- residuals

// Residual bytes; returns how many are escapes.
TH_CLONES static int residual_plane(int count, const int32_t *restrict now,
                                    const int32_t *restrict place, const int32_t *restrict moved,
                                    unsigned char *restrict plane) {
    int escapes = 0;
    for (int i = 0; i < count; ++i) {
        uint32_t residual = (uint32_t)now[i] - th_compact_expected(place[i], moved[i]);
        bool fits = residual + 127u <= 254u;
        plane[i] = (unsigned char)(fits ? residual : (uint32_t)TH_ESCAPE);
        escapes += !fits;
    }
    return escapes;
}

// Appends the escaped residuals of one plane; returns how many.
static int list_escapes(int count, const int32_t *now, const int32_t *place, const int32_t *moved,
                        const unsigned char *plane, uint32_t *list) {
    int found = 0;
    const unsigned char *at = plane, *end = plane + count;
    while (at < end && (at = memchr(at, TH_ESCAPE, (size_t)(end - at)))) {
        ptrdiff_t i = at++ - plane;
        list[found++] = (uint32_t)now[i] - th_compact_expected(place[i], moved[i]);
    }
    return found;
}

TH_CLONES static void step_on(int count, const int32_t *restrict now, int32_t *restrict place,
                              int32_t *restrict moved) {
    for (int i = 0; i < count; ++i) {
        moved[i] = (int32_t)((uint32_t)now[i] - (uint32_t)place[i]);
        place[i] = now[i];
    }
}

// ---- who came, who left

TH_CLONES static bool ascending(int count, const int64_t *id) {
    int wrong = 0;
    for (int i = 1; i < count; ++i) wrong |= id[i] <= id[i - 1];
    return !wrong;
}

TH_CLONES static bool same_ids(int count, const int64_t *a, const int64_t *b) {
    int64_t differ = 0;
    for (int i = 0; i < count; ++i) differ |= a[i] ^ b[i];
    return !differ;
}

// Brings codec->now into the order of the new frame and lists who left and who came. A newcomer is predicted
// at the position of the first frame, so the residual is 0.
static bool merge(th_compact_codec *codec, const th_grid_frame *frame, th_compact_head *h) {
    th_grid_crowd *old = &codec->now, *next = &codec->next;
    if (old->count == frame->count && same_ids(old->count, old->id, frame->id)) return true;
    if (!th_compact_reserve_crowd(next, frame->count) ||
        !TH_RESERVE(codec->left, codec->left_capacity, old->count) ||
        !TH_RESERVE(codec->came, codec->came_capacity, frame->count))
        return false;
    int j = 0;
    for (int i = 0; i < frame->count; ++i) {
        while (j < old->count && old->id[j] < frame->id[i]) codec->left[h->left++] = j++;
        if (j < old->count && old->id[j] == frame->id[i]) {
            th_compact_copy_person(next, i, old, j++);
            continue;
        }
        codec->came[h->came++] = i;
        next->id[i] = frame->id[i];
        next->x[i] = frame->x[i];
        next->y[i] = frame->y[i];
        next->moved_x[i] = next->moved_y[i] = next->level[i] = 0;
        next->heading[i] = 0;
    }
    while (j < old->count) codec->left[h->left++] = j++;
    next->count = frame->count;
    th_compact_swap_crowds(codec);
    return true;
}

// Everybody comes; what is known of their last displacement comes with them.
static bool merge_key(th_compact_codec *codec, const th_grid_frame *frame, th_compact_head *h) {
    if (!codec->started) codec->now.count = 0;
    if (!merge(codec, frame, h) || !th_compact_reserve_crowd(&codec->now, frame->count) ||
        !TH_RESERVE(codec->came, codec->came_capacity, frame->count))
        return false;
    th_grid_crowd *now = &codec->now;
    for (int i = 0; i < frame->count; ++i) {
        codec->came[i] = i;
        now->moved_x[i] = (int32_t)((uint32_t)frame->x[i] - (uint32_t)now->x[i]);
        now->moved_y[i] = (int32_t)((uint32_t)frame->y[i] - (uint32_t)now->y[i]);
        now->x[i] = frame->x[i];
        now->y[i] = frame->y[i];
    }
    memset(now->level, 0, (size_t)frame->count * sizeof *now->level);
    memset(now->heading, 0, (size_t)frame->count);
    h->left = 0;
    h->came = (uint32_t)frame->count;
    return true;
}

static uint32_t count_level_changes(const th_grid_crowd *now, const th_grid_frame *frame) {
    uint32_t changes = 0;
    for (int i = 0; i < frame->count; ++i)
        changes += now->level[i] != (frame->level ? frame->level[i] : 0);
    return changes;
}

// `numbers` has room for came of them.
static void put_newcomers(const th_compact_codec *codec, uint32_t came, unsigned char *planes,
                          uint32_t *numbers) {
    const th_grid_crowd *now = &codec->now;
    const int32_t *fields[] = {now->x, now->y, now->moved_x, now->moved_y};
    for (int f = 0; f < 4; ++f) {
        for (uint32_t k = 0; k < came; ++k) numbers[k] = (uint32_t)fields[f][codec->came[k]];
        put_planes(planes + 4 * (size_t)f * came, (int)came, numbers);
    }
}

static unsigned char *put_lists(const th_compact_codec *codec, const th_grid_frame *frame,
                                const th_compact_head *h, unsigned char *at) {
    uint64_t least = 0; // the smallest that can follow
    for (uint32_t k = 0; k < h->left; ++k) {
        at = put_varint(at, (uint64_t)codec->left[k] - least);
        least = (uint64_t)codec->left[k] + 1;
    }
    for (uint32_t k = 0; k < h->came; ++k) {
        uint64_t id = (uint64_t)codec->now.id[codec->came[k]];
        // The first as a zigzag number, so that small ids are short.
        at = put_varint(at, k ? id - least : id << 1 ^ (uint64_t)((int64_t)id >> 63));
        least = id + 1;
    }
    int changed = -1;
    for (int i = 0; h->level_changes && i < frame->count; ++i) {
        int32_t level = frame->level ? frame->level[i] : 0;
        if (level == codec->now.level[i]) continue;
        at = put_varint(at, (uint64_t)(i - changed - 1));
        at = put_varint(at, (uint32_t)level);
        codec->now.level[i] = level;
        changed = i;
    }
    return at;
}

TH_CLONES static void heading_plane(int count, const uint8_t *restrict now,
                                    uint8_t *restrict before, unsigned char *restrict plane) {
    for (int i = 0; i < count; ++i) {
        plane[i] = (unsigned char)(now[i] - before[i]);
        before[i] = now[i];
    }
}

// Writes planes and lists; the residuals are done when `h` is complete but for list_bytes.
static bool put_content(th_compact_codec *codec, const th_grid_frame *frame, th_compact_head *h) {
    th_grid_crowd *now = &codec->now;
    int count = frame->count;
    bool key = h->flags & TH_FLAG_KEY;
    th_compact_layout at = th_compact_layout_of(h);
    if (!TH_RESERVE(codec->content, codec->content_capacity, at.newcomers)) return false;
    unsigned char *plane_x = codec->content + at.residual_x;
    unsigned char *plane_y = codec->content + at.residual_y;
    if (!key) {
        int escapes = residual_plane(count, frame->x, now->x, now->moved_x, plane_x);
        escapes += residual_plane(count, frame->y, now->y, now->moved_y, plane_y);
        h->escapes = (uint32_t)escapes;
    }
    if (h->flags & TH_FLAG_HEADING)
        heading_plane(count, frame->heading, now->heading, codec->content + at.heading);
    at = th_compact_layout_of(h);
    uint64_t lists =
        (uint64_t)VARINT_MOST * ((uint64_t)h->left + h->came + 2ull * h->level_changes);
    // The numbers before they are split need a place: behind everything, four bytes aligned.
    uint64_t scratch_at = (at.lists + lists + 3) / 4 * 4;
    uint64_t most = h->came > h->escapes ? h->came : h->escapes;
    if (!TH_RESERVE(codec->content, codec->content_capacity, scratch_at + 4 * most)) return false;
    uint32_t *scratch = (uint32_t *)(void *)(codec->content + scratch_at);
    put_newcomers(codec, h->came, codec->content + at.newcomers, scratch);
    if (h->escapes) {
        plane_x = codec->content + at.residual_x;
        plane_y = codec->content + at.residual_y;
        int found = list_escapes(count, frame->x, now->x, now->moved_x, plane_x, scratch);
        list_escapes(count, frame->y, now->y, now->moved_y, plane_y, scratch + found);
        put_planes(codec->content + at.escapes, (int)h->escapes, scratch);
    }
    unsigned char *list = codec->content + at.lists;
    h->list_bytes = (uint32_t)(put_lists(codec, frame, h, list) - list);
    if (!key) {
        step_on(count, frame->x, now->x, now->moved_x);
        step_on(count, frame->y, now->y, now->moved_y);
    }
    return true;
}

static void put_head(unsigned char *content, const th_compact_head *h) {
    const uint32_t fields[8] = {h->flags,         h->count,      h->left,    h->came,
                                h->level_changes, h->list_bytes, h->escapes, 0};
    for (int k = 0; k < 8; ++k) put_u32(content + 4 * k, fields[k]);
}

static th_result compress(th_compact_codec *codec, size_t size, const unsigned char **bytes,
                          size_t *blob_size, th_error *error) {
    if (!codec->compress) {
        codec->compress = ZSTD_createCCtx();
        if (!codec->compress) return th_compact_no_memory(error);
        ZSTD_CCtx_setParameter(codec->compress, ZSTD_c_compressionLevel, ZSTD_LEVEL);
        ZSTD_CCtx_setParameter(codec->compress, ZSTD_c_checksumFlag, 1);
    }
    if (!TH_RESERVE(codec->blob, codec->blob_capacity, 1 + ZSTD_compressBound(size)))
        return th_compact_no_memory(error);
    codec->blob[0] = TH_COMPACT_VERSION;
    size_t written = ZSTD_compress2(codec->compress, codec->blob + 1, codec->blob_capacity - 1,
                                    codec->content, size);
    if (ZSTD_isError(written))
        return th_fail(error, TH_NO_MEMORY, "", "a frame cannot be compressed: %s",
                       ZSTD_getErrorName(written));
    *bytes = codec->blob;
    *blob_size = written + 1;
    return TH_OK;
}

th_result th_compact_encode(th_compact_codec *codec, const th_grid_frame *frame, bool key,
                            const unsigned char **bytes, size_t *size, th_error *error) {
    if (frame->count < 0 || frame->count > TH_COMPACT_PEOPLE_MAX)
        return th_fail(error, TH_BAD_ARGUMENT, "", "a frame of %d people; at most %d fit",
                       frame->count, TH_COMPACT_PEOPLE_MAX);
    if (!ascending(frame->count, frame->id))
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "people of a frame are not in ascending order of id; sort them");
    th_compact_head h = {.count = (uint32_t)frame->count};
    key = key || !codec->started;
    bool merged = key ? merge_key(codec, frame, &h) : merge(codec, frame, &h);
    codec->started = false; // until all of it is done
    if (!merged) return th_compact_no_memory(error);
    h.flags = (key ? (uint32_t)TH_FLAG_KEY : 0) | (frame->heading ? (uint32_t)TH_FLAG_HEADING : 0);
    h.level_changes = count_level_changes(&codec->now, frame);
    if (!put_content(codec, frame, &h)) return th_compact_no_memory(error);
    put_head(codec->content, &h);
    th_result result = compress(codec, (size_t)th_compact_layout_of(&h).end, bytes, size, error);
    codec->started = result == TH_OK;
    return result;
}
