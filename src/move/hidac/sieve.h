// HiDAC, the low level: whom of those around a person has to look at. On the CPU eight are tried at a time, and most of
// them need no closer look. SPDX-License-Identifier: Apache-2.0
#ifndef TH_MOVE_HIDAC_SIEVE_H
#define TH_MOVE_HIDAC_SIEVE_H
#include "move/hidac/view.h"

// The cells that hold whom one may see or touch: those around the loose rectangle ahead and the own body, row by row.
typedef struct th_hidac_cells {
    const th_level_grid *grid;
    int row, last_row;
    th_vec2 p, wish;
    float across_x, along_x; // 1 / wish.y, 1 / wish.x; 0: the rectangle's sides do not narrow a row
    float low_x, high_x;     // of the rectangle and the body, from p [m]
    float length, half_width, touch, slack;
} th_hidac_cells;

// Where an agent lies, all around, since the fallen count beside the rectangle, too.
TH_BOTH static inline th_hidac_cells th_hidac_cells_of(const th_world *world,
                                                       const th_hidac_view *i, float touch) {
    th_hidac_cells c;
    c.grid = &world->index.grids[i->level];
    c.p = i->p;
    c.wish = i->wish;
    c.touch = touch;
    c.half_width = i->half_width;
    c.length = th_max(i->params->rectangle_loose, i->rectangle);
    c.slack = 0.01f * c.grid->cell; // more than the coordinates round
    c.across_x = c.along_x = 0.0f;
    float low_y, high_y;
    if (world->counters.fallen > 0 || th_length2(i->wish) == 0.0f) {
        float far = sqrtf(c.length * c.length + c.half_width * c.half_width);
        far = th_max(far, i->params->fallen_range);
        float reach = th_length2(i->wish) > 0.0f ? th_max(far, touch) : touch;
        c.low_x = low_y = -reach;
        c.high_x = high_y = reach;
    } else {
        th_vec2 end = th_scale(c.length, i->wish), half = th_scale(c.half_width, i->wish);
        float dx = fabsf(half.y), dy = fabsf(half.x);
        c.low_x = th_min(th_min(end.x, 0.0f) - dx, -touch);
        c.high_x = th_max(th_max(end.x, 0.0f) + dx, touch);
        low_y = th_min(th_min(end.y, 0.0f) - dy, -touch);
        high_y = th_max(th_max(end.y, 0.0f) + dy, touch);
        if (fabsf(i->wish.y) > 0.1f) c.across_x = 1.0f / i->wish.y;
        if (fabsf(i->wish.x) > 0.1f) c.along_x = 1.0f / i->wish.x;
    }
    c.row = th_grid_row(c.grid, i->p.y + low_y - c.slack);
    c.last_row = th_grid_row(c.grid, i->p.y + high_y + c.slack);
    return c;
}

// The people of the next row of cells, as far as the rectangle reaches at its height; false: no more rows.
TH_BOTH static inline bool th_hidac_next_run(const th_index *index, th_hidac_cells *c,
                                             uint32_t *begin, uint32_t *end) {
    if (c->row > c->last_row) return false;
    int row = c->row++;
    float low = c->low_x, high = c->high_x;
    float y0 = c->grid->origin.y + (float)row * c->grid->cell - c->p.y - c->slack,
          y1 = y0 + c->grid->cell + 2.0f * c->slack;
    bool border = row == 0 || row == c->grid->ny - 1; // holds every agent beyond it, too
    if (!border && c->across_x != 0.0f) {             // |wish.x y - wish.y x| <= half_width
        float a = c->wish.x * y0 * c->across_x, b = c->wish.x * y1 * c->across_x,
              w = c->half_width * fabsf(c->across_x);
        low = th_max(low, th_min(a, b) - w);
        high = th_min(high, th_max(a, b) + w);
    }
    if (!border && c->along_x != 0.0f) { // 0 <= wish.x x + wish.y y <= length
        float a = -c->wish.y * y0 * c->along_x, b = -c->wish.y * y1 * c->along_x,
              l = c->length * c->along_x;
        low = th_max(low, th_min(a, b) + th_min(l, 0.0f));
        high = th_min(high, th_max(a, b) + th_max(l, 0.0f));
    }
    if (y0 < c->touch && y1 > -c->touch) { // the body
        low = th_min(low, -c->touch);
        high = th_max(high, c->touch);
    }
    if (low > high) {
        *begin = *end = 0;
        return true;
    }
    th_index_run(index, c->grid, row, th_grid_column(c->grid, c->p.x + low - c->slack),
                 th_grid_column(c->grid, c->p.x + high + c->slack), begin, end);
    return true;
}

#ifndef __cplusplus
#include "core/parallel.h"
#include <string.h>

// Decides which of many neighbours an agent has to look at one by one.
typedef struct th_hidac_sieve {
    th_vec2 p, wish, heading, disc;
    float length, loose, rectangle, half_width2; // of the rectangle
    float touch2, near2, disc2;                  // squares of distances
    float clear2;                                // no wall hides nearer agents
    float
        oncoming; // an agent that goes less than this along the heading counts over the whole rectangle
} th_hidac_sieve;

static inline th_hidac_sieve th_hidac_sieve_of(const th_walls *walls, const th_hidac_view *i,
                                               float touch) {
    const th_hidac_params *p = i->params;
    float near = 1.001f * th_max(i->rectangle - 1.5f, 0.5f); // roots and squares round differently
    bool hides = p->line_of_sight > 0.0f && walls->count > 0;
    // Of whom those in panic, and the literal rule, take notice depends on more.
    bool any = i->panics || !(p->oncoming_first > 0.0f);
    return (th_hidac_sieve){i->p,
                            i->wish,
                            i->heading,
                            th_scale(i->radius + p->waiting_radius, i->wish),
                            th_max(p->rectangle_loose, i->rectangle),
                            p->rectangle_loose,
                            i->rectangle,
                            i->half_width * i->half_width,
                            touch * touch,
                            near * near,
                            1.001f * p->waiting_radius * p->waiting_radius,
                            hides ? 0.999f * i->clear * i->clear : INFINITY,
                            any ? INFINITY : 0.0f};
}

enum { TH_HIDAC_KEPT = 256, TH_HIDAC_LANES = 8 };
typedef struct th_hidac_kept {
    uint32_t list[TH_HIDAC_KEPT];
    int count;
    int ahead; // of the others, in the loose rectangle
    uint32_t next, end;
} th_hidac_kept;

// Lists neighbours that touch, turn or stop an agent, that lie, or that a wall may hide: they have to be looked at one
// by one. Of the others it matters only how many are in the loose rectangle: of a dozen people ahead that go the same
// way, all but one or two. False: there are no more. Not for crowds of less than eight.
//
// The last eight of all are read for any after them: `from` and `end` tell which ones count.
TH_CLONES static bool th_hidac_sift(const th_agents *a, const th_index *index,
                                    const th_hidac_sieve *sieve, uint32_t self,
                                    th_hidac_cells *cells, th_hidac_kept *kept) {
    const th_hidac_sieve s = *sieve;
    const uint32_t last = (uint32_t)a->count - TH_HIDAC_LANES;
    uint32_t ahead[TH_HIDAC_LANES] = {0};
    kept->count = 0;
    for (bool more = true; more; more = th_hidac_next_run(index, cells, &kept->next, &kept->end)) {
        for (; kept->next < kept->end; kept->next += TH_HIDAC_LANES) {
            uint32_t from = kept->next, end = kept->end, at = from < last ? from : last;
            const float *x = a->position_x + at, *y = a->position_y + at;
            const float *u = a->velocity_x + at, *v = a->velocity_y + at;
            const uint32_t *phase = a->phase + at;
            uint32_t keep[TH_HIDAC_LANES]; // 0 or 1
            if (kept->count > TH_HIDAC_KEPT - TH_HIDAC_LANES) goto full;
#pragma omp simd
            for (int k = 0; k < TH_HIDAC_LANES; ++k) {
                float dx = x[k] - s.p.x, dy = y[k] - s.p.y;
                float along = dx * s.wish.x + dy * s.wish.y, side = s.wish.x * dy - s.wish.y * dx;
                float distance2 = dx * dx + dy * dy, ox = dx - s.disc.x, oy = dy - s.disc.y;
                float agrees = s.heading.x * u[k] + s.heading.y * v[k];
                int seen = (along > 0.0f) & (along <= s.length) & (side * side <= s.half_width2);
                int turns =
                    (along <= s.rectangle) & ((agrees < s.oncoming) | (distance2 < s.near2));
                int stops = ox * ox + oy * oy < s.disc2;
                int close = (seen & (turns | stops | (distance2 > s.clear2))) |
                            (distance2 < s.touch2) | (phase[k] == TH_PHASE_FALLEN);
                uint32_t j = at + (uint32_t)k;
                int here = (phase[k] < TH_PHASE_LEFT) & (j >= from) & (j < end);
                int counts = seen & (along <= s.loose) & (close ^ 1);
                keep[k] = (uint32_t)(close & here);
                ahead[k] += (uint32_t)(counts & here);
            }
            uint64_t two[TH_HIDAC_LANES / 2];
            memcpy(two, keep, sizeof two);
            if ((two[0] | two[1] | two[2] | two[3]) == 0) continue;
            for (uint32_t k = 0; k < TH_HIDAC_LANES; ++k) {
                kept->list[kept->count] = at + k; // always written, kept only if close: no branch
                kept->count += (int)(keep[k] & (at + k != self));
            }
        }
    }
full:
    kept->ahead = 0;
    for (int k = 0; k < TH_HIDAC_LANES; ++k) kept->ahead += (int)ahead[k];
    return kept->count + kept->ahead > 0;
}
#endif
#endif
