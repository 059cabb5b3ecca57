// The compact codec's memory and layout, and the way to the grid. SPDX-License-Identifier: Apache-2.0
#include "core/array.h"
#include "core/error.h"
#include "core/parallel.h"
#include "record/compact_codec.h"
#include <math.h>
#include <stdlib.h>

th_compact_layout th_compact_layout_of(const th_compact_head *h) {
    th_compact_layout at = {.residual_x = TH_HEAD_BYTES};
    uint64_t residuals = h->flags & TH_FLAG_KEY ? 0 : h->count;
    at.residual_y = at.residual_x + residuals;
    at.heading = at.residual_y + residuals;
    at.newcomers = at.heading + (h->flags & TH_FLAG_HEADING ? h->count : 0);
    at.escapes = at.newcomers + (uint64_t)TH_NEWCOMER_BYTES * h->came;
    at.lists = at.escapes + 4 * (uint64_t)h->escapes;
    at.end = at.lists + h->list_bytes;
    return at;
}

// ---- memory

bool th_compact_reserve_crowd(th_grid_crowd *c, int count) {
    if (count < c->capacity) return true;
    int capacity = th_array_capacity_int(c->capacity, count + 1); // never NULL, even for nobody
    if (!TH_RESIZE(c->id, capacity) || !TH_RESIZE(c->x, capacity) || !TH_RESIZE(c->y, capacity) ||
        !TH_RESIZE(c->moved_x, capacity) || !TH_RESIZE(c->moved_y, capacity) ||
        !TH_RESIZE(c->level, capacity) || !TH_RESIZE(c->heading, capacity))
        return false;
    c->capacity = capacity;
    return true;
}

static void free_crowd(th_grid_crowd *c) {
    free(c->id);
    free(c->x);
    free(c->y);
    free(c->moved_x);
    free(c->moved_y);
    free(c->level);
    free(c->heading);
}

th_compact_codec *th_compact_codec_create(void) { return calloc(1, sizeof(th_compact_codec)); }

void th_compact_codec_destroy(th_compact_codec *codec) {
    if (!codec) return;
    free_crowd(&codec->now);
    free_crowd(&codec->next);
    free(codec->left);
    free(codec->came);
    free(codec->content);
    free(codec->blob);
    ZSTD_freeCCtx(codec->compress);
    ZSTD_freeDCtx(codec->decompress);
    free(codec);
}

th_result th_compact_no_memory(th_error *error) {
    return th_fail(error, TH_NO_MEMORY, "", "no memory for a frame; use a machine with more");
}

void th_compact_copy_person(th_grid_crowd *to, int i, const th_grid_crowd *from, int j) {
    to->id[i] = from->id[j];
    to->x[i] = from->x[j];
    to->y[i] = from->y[j];
    to->moved_x[i] = from->moved_x[j];
    to->moved_y[i] = from->moved_y[j];
    to->level[i] = from->level[j];
    to->heading[i] = from->heading[j];
}

void th_compact_swap_crowds(th_compact_codec *codec) {
    th_grid_crowd kept = codec->now;
    codec->now = codec->next;
    codec->next = kept;
}

// ---- to the grid and back

#define ROUND_SHIFT 6755399441055744.0 // 1.5 * 2^52: pushes the fraction out of the mantissa
#define GRID_MOST 2147483646.0         // a little less than 2^31, so that rounding stays inside

TH_CLONES static bool round_block(int count, const double *restrict quanta,
                                  int32_t *restrict grid) {
    int wrong = 0;
    for (int i = 0; i < count; ++i) {
        double value = quanta[i];
        bool inside = value >= -GRID_MOST && value <= GRID_MOST;
        wrong |= !inside;
        grid[i] = (int32_t)((inside ? value : 0.0) + ROUND_SHIFT - ROUND_SHIFT);
    }
    return !wrong;
}

enum { GRID_BLOCK = 256 };

bool th_compact_to_grid(int count, const double *position, double origin, double quantum,
                        int32_t *grid) {
    double quanta[GRID_BLOCK], per_metre = 1.0 / quantum;
    for (int from = 0; from < count; from += GRID_BLOCK) {
        int size = count - from < GRID_BLOCK ? count - from : GRID_BLOCK;
        for (int i = 0; i < size; ++i) quanta[i] = (position[from + i] - origin) * per_metre;
        if (!round_block(size, quanta, grid + from)) return false;
    }
    return true;
}

// Arc tangent on [0, 1] by Abramowitz and Stegun 4.4.47, error below 1e-5 rad: a 2400th of a heading.
TH_CLONES void th_compact_headings(int count, const float *direction_x, const float *direction_y,
                                   uint8_t *heading) {
    for (int i = 0; i < count; ++i) {
        float x = direction_x[i], y = direction_y[i];
        float ax = fabsf(x), ay = fabsf(y);
        float longer = ax > ay ? ax : ay, shorter = ax > ay ? ay : ax;
        float q = shorter / (longer > 0.0f ? longer : 1.0f), q2 = q * q;
        float p = 0.0208351f;
        p = p * q2 - 0.0851330f;
        p = p * q2 + 0.1801410f;
        p = p * q2 - 0.3302995f;
        p = p * q2 + 0.9998660f;
        float turn = p * q * (0.15915494f * TH_COMPACT_HEADINGS);
        turn = ay > ax ? 0.25f * TH_COMPACT_HEADINGS - turn : turn;
        turn = x < 0.0f ? 0.5f * TH_COMPACT_HEADINGS - turn : turn;
        turn = y < 0.0f ? TH_COMPACT_HEADINGS - turn : turn;
        turn = q >= 0.0f && q <= 1.0f ? turn : 0.0f; // not a number
        heading[i] = (uint8_t)((int32_t)(turn + 0.5f) & (TH_COMPACT_HEADINGS - 1));
    }
}
