// Inside the compact codec: what encoder and decoder share. The content of a blob, inside zstd:
//   32-byte head: flags, count, left, came, level changes, bytes of lists, escapes, 0; u32 little endian
//   planes of residuals x, y (count bytes each; not in a key frame), of heading changes (if known)
//   newcomers' x, y and displacement x, y in the last frame: four byte planes each
//   escaped residuals: four byte planes
//   lists, all varints: who left (gaps of index in the old frame), ids that came (gaps), levels that
//     changed (gap of index, new level)
// Byte planes, because zstd's Huffman stage then sees one distribution at a time: residuals compress by entropy
// coding and hardly by matching. A key frame is one in which everybody came; newcomers
// bring their displacement so that the frame after it is as small as any other.
//
// Measured, bytes per person and frame at 1 mm and 10 frames a second without key frames, on the scenes
// station and grosser_stern: 1.24 and 0.94. Of these headings take 0.35 and 0.23. Predicting that people stay
// where they were would take 2.44 and 2.02; two-byte residuals half as much again as one-byte ones (0.88
// against 1.33 for the positions) and a third more time; zstd at level 3 no less and at level -1 1.82.
// A key frame takes 7.4 and 5.9 (8.2 and 6.4 with differences between neighbours). Tracked people
// (AO-300, 25 frames a second) take 1.45, and 2.14 when predicted to stay.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_RECORD_COMPACT_CODEC_H
#define TH_RECORD_COMPACT_CODEC_H
#include "record/compact.h"
#include <stddef.h>
#include <zstd.h>

enum {
    TH_HEAD_BYTES = 32,
    TH_FLAG_KEY = 1,
    TH_FLAG_HEADING = 2,
    TH_FLAGS_KNOWN = 3,
    TH_NEWCOMER_BYTES = 16,
    TH_ESCAPE = 0x80, // residual byte -128: the value is in the list of escapes
};

typedef struct th_grid_crowd {
    int count, capacity;
    int64_t *id;
    int32_t *x, *y, *moved_x, *moved_y, *level;
    uint8_t *heading;
} th_grid_crowd;

struct th_compact_codec {
    bool started; // a key frame was seen and nothing went wrong since
    th_grid_crowd now, next;
    int *left, *came; // indices, in the old and the new frame
    int left_capacity, came_capacity;
    unsigned char *content, *blob;
    size_t content_capacity, blob_capacity;
    ZSTD_CCtx *compress;
    ZSTD_DCtx *decompress;
};

typedef struct th_compact_head {
    uint32_t flags, count, left, came, level_changes, list_bytes, escapes;
} th_compact_head;

// Where each part of the content lies.
typedef struct th_compact_layout {
    uint64_t residual_x, residual_y, heading, newcomers, escapes, lists, end;
} th_compact_layout;

th_compact_layout th_compact_layout_of(const th_compact_head *head);

// Memory; false or TH_NO_MEMORY when there is none.
bool th_compact_reserve_crowd(th_grid_crowd *crowd, int count);
th_result th_compact_no_memory(th_error *error);

void th_compact_copy_person(th_grid_crowd *to, int i, const th_grid_crowd *from, int j);
void th_compact_swap_crowds(th_compact_codec *codec);

// The predicted position of somebody who moved so far in the last frame. Wraps around, so that encoder and
// decoder agree whatever the values.
static inline uint32_t th_compact_expected(int32_t place, int32_t moved) {
    return (uint32_t)place + (uint32_t)moved;
}
#endif
