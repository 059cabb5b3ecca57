// HiDAC, the low level: parameters, own fields of a person, what it sees. SPDX-License-Identifier: Apache-2.0
#ifndef TH_MOVE_HIDAC_VIEW_H
#define TH_MOVE_HIDAC_VIEW_H
#include "formula/params.h"
#include "formula/vec.h"
#include "move/substep.h"

#define TH_PAB07 "Pelechano, Allbeck, Badler 2007"

#define TH_HIDAC_PARAMS(X)                                                                         \
    TH_CONTACT_PARAMS(X)                                                                           \
    X(rectangle_loose, 3, 0.5, 5, "m", TH_PAB07, "length of the rectangle of influence, loose")    \
    X(rectangle_dense, 1.5, 0.5, 5, "m", TH_PAB07, "the same in a dense crowd")                    \
    X(rectangle_width, 1.5, 0.4, 4, "m", "throng: three shoulder widths; not printed",             \
      "width of the rectangle")                                                                    \
    X(loose_density, 1, 0, 10, "1/m2", "throng: not printed", "perceived density that is loose")   \
    X(dense_density, 2, 0.1, 10, "1/m2", "throng: not printed", "perceived density that is dense") \
    X(adapts, 1, 0, 1, "-", TH_PAB07, "1: rectangle and side preference follow the density")       \
    X(line_of_sight, 1, 0, 1, "-", TH_PAB07 ": only the same room", "1: walls hide people")        \
    X(attractor_weight, 1, 0, 10, "-", "throng: the unit of the weights", "w_At")                  \
    X(others_weight, 0.4, 0, 10, "-", "throng: ratio of open implementations, 5 to 2",             \
      "w_Ot, tangential strength: 0.05 thin, 0.15 medium, 0.4 wide queues")                        \
    X(walls_weight, 0.3, 0, 10, "-", "throng: ratio of open implementations", "w_Wa and w_Ob")     \
    X(previous_weight, 0.2, 0, 10, "-", "throng: equation 1 would add up without bound",           \
      "weight of the last direction")                                                              \
    X(same_way_weight, 1.2, 0, 10, "-", TH_PAB07 " (9)", "w_o of people going the same way")       \
    X(oncoming_weight, 2.4, 0, 10, "-", TH_PAB07 " (9)", "w_o of all others")                      \
    X(oncoming_first, 1, 0, 1, "-", "throng: as the paper's example; 0: as its sentence",          \
      "1: oncoming people count over the whole rectangle, others only near by")                    \
    X(keep_side, 1, -1, 1, "-", TH_PAB07 ": right",                                                \
      "1 right, -1 left, 0 none: where to turn before an oncoming agent")                          \
    X(side_angle_loose, 30, 0, 90, "deg", "throng: not printed", "straight on, in a loose crowd")  \
    X(side_angle_dense, 5, 0, 90, "deg", "throng: not printed", "straight on, in a dense crowd")   \
    X(acceleration, 2, 0.1, 20, "m/s2", "throng: 0.7 s to walking speed; not printed", "a")        \
    X(speed_factor, 1, 0.1, 2, "-", "throng", "by ability, on the own speed")                      \
    X(personal_space, 0.05, 0, 1, "m", "throng: docs/models/hidac.md",                             \
      "epsilon, how much closer than touching others are felt")                                    \
    X(pushers, 0, 0, 1, "-", TH_PAB07 ": personality", "share of people with pusher_space")        \
    X(pusher_space, 0, 0, 1, "m", "throng: not printed", "epsilon of those who push")              \
    X(wall_space, 0, 0, 1, "m", "throng: keeping clear of both jambs blocks doors",                \
      "epsilon at walls")                                                                          \
    X(repulsion_gain, 1, 0, 2, "-", TH_PAB07 ": 1", "share of an overlap that is taken back")      \
    X(dead_band, 0, 0, 0.2, "m", TH_PAB07 ": 0", "shorter displacements do not hold an agent up")  \
    X(yields, 0.04, 0, 0.5, "m", "throng: 0: any displacement stops, as printed",                  \
      "displacement at which an agent stands still")                                               \
    X(response_time, 0.2, 0, 2, "s", "throng: 0: displacements, as printed",                       \
      "time in which an overlap is taken back by walking")                                         \
    X(relaxation_time, 0.175, 0, 2, "s", "throng: 0: at once, as printed",                         \
      "time to take on a new velocity")                                                            \
    X(wall_priority, 0.3, 0, 1, "-", TH_PAB07, "lambda, weight of people's pushes at a wall")      \
    X(stopping, 1, 0, 1, "-", TH_PAB07, "1: the stopping rule")                                    \
    X(stop_shortest, 0.1, 0, 10, "s", "throng: a small range; not printed", "of a stop")           \
    X(stop_longest, 0.5, 0, 10, "s", "throng: a small range; not printed", "of a stop")            \
    X(waiting, 1, 0, 1, "-", TH_PAB07, "1: the waiting rule")                                      \
    X(waiting_radius, 0.25, 0.05, 2, "m", "Durupinar 2008: 0.25 to 0.65 by personality",           \
      "radius of the disc before the body that is kept free of bodies")                            \
    X(wait_shortest, 1, 0, 100, "s", "throng: not printed", "of a wait")                           \
    X(wait_longest, 5, 0, 100, "s", "throng: not printed", "of a wait")                            \
    X(panic, 0, 0, 1, "-", TH_PAB07, "share of people in panic from the beginning")                \
    X(panic_space, 0.6, 0, 1, "-", "throng: not printed", "factor on personal space in panic")     \
    X(panic_speed, 1.5, 0.5, 3, "-", "throng: a run; not printed",                                 \
      "factor on speed in panic, up to 8 m/s")                                                     \
    X(panic_acceleration, 3, 0.5, 10, "-", "throng: not printed", "factor in panic")               \
    X(falling, 0, 0, 1, "-", TH_PAB07, "1: agents pushed too far fall")                            \
    X(fall_push, 1.5, 0.1, 20, "m/s", "Hof 2005: faster than a step of 0.45 m can catch",          \
      "a push this strong throws an agent; a neighbour that runs gives about 1")                   \
    X(fall_time, 0.5, 0.05, 5, "s", "throng: a step of a walk; not printed",                       \
      "over which pushes are averaged")                                                            \
    X(lies, 0, 0, 1, "-", "throng: for scenes", "share of people who lie from the beginning")      \
    X(gets_up, 0, 0, 3600, "s", TH_PAB07 ": never", "after which the fallen stand up; 0: never")   \
    X(fallen_range, 2, 0, 5, "m", TH_PAB07, "within which the fallen are walked around")           \
    X(fallen_weight, 0.5, 0, 1, "-", TH_PAB07, "beta, weight of walking around them")

#define TH_HIDAC_PRESETS(X)                                                                        \
    X(paper, "as printed: displacements, which stop from 2 cm on; any at all would lock doors",    \
      {"separation_passes", 0}, {"personal_space", 0.05}, {"wall_space", 0.05}, {"yields", 0},     \
      {"dead_band", 0.02}, {"response_time", 0}, {"relaxation_time", 0}, {"waiting_radius", 0.45}) \
    X(impaired, "with a walking stick: Boyce, Shields, Silcock 1999, 0.81 m/s",                    \
      {"speed_factor", 0.6}, {"acceleration", 1})                                                  \
    X(injured, "throng: half the speed of the others", {"speed_factor", 0.5}, {"acceleration", 1}) \
    X(trained, "staff: throng: a brisk walk", {"speed_factor", 1.2}, {"acceleration", 3})

typedef struct th_hidac_params {
    TH_HIDAC_PARAMS(TH_PARAM_MEMBER)
} th_hidac_params;

// Own fields of a person.
enum {
    TH_HIDAC_HEADING_X,
    TH_HIDAC_HEADING_Y,
    TH_HIDAC_PACE,
    TH_HIDAC_TIMER,
    TH_HIDAC_STATE,
    TH_HIDAC_RECTANGLE,
    TH_HIDAC_PUSHED_X,
    TH_HIDAC_PUSHED_Y,
    TH_HIDAC_PANIC,
    TH_HIDAC_MANNERS,
    TH_HIDAC_GOES_X,
    TH_HIDAC_GOES_Y,
    TH_HIDAC_FIELDS
};
enum {
    TH_HIDAC_WALKS,
    TH_HIDAC_STOPS,
    TH_HIDAC_WAITS,
    TH_HIDAC_TRIES,
    TH_HIDAC_FALLS
};                             // of the field state
#define TH_HIDAC_FOR_GOOD 2.0f // of the field panic
// Panic and ability make no agent faster than a sprint [m/s]: contact takes a model that gives 10 m/s for broken.
#define TH_HIDAC_SPRINT 8.0f
// Along the own way: agents that go so fast are followed, not waited for [m/s].
#define TH_HIDAC_WALKS_ON 0.3f
// Between bodies: nearer agents lean on each other, fully up to half of it [m].
#define TH_HIDAC_LEANS 0.1f
// A body on the ground, torso and head [m]; the legs are stepped over.
#define TH_HIDAC_BODY_LENGTH 0.9f
#define TH_HIDAC_BODY_WIDTH 0.5f

// The view of one person and its sums.
typedef struct th_hidac_view {
    const th_hidac_params *params;
    uint32_t self, level;
    th_vec2 p;
    th_vec2 wish;        // unit; (0, 0): wants to stand
    th_vec2 heading;     // unit
    th_vec2 along_walls; // the same without what leads into a wall that one touches, unit
    float radius, space, rectangle, half_width;
    float cos_side; // of the angle within which an agent comes straight on
    float clear;    // no wall is nearer [m]
    bool panics;
    // In panic, when no timer frees it, and does not get on, though it may press into a wall.
    bool held_up;
    // sums
    th_vec2 avoid_people, avoid_walls; // of (1)
    th_vec2 push_people, push_walls;   // of (10)
    th_vec2 leaned_on;                 // push of the neighbours that lean on it [m/s]
    th_vec2 avoid_fallen;              // unit; (0, 0): no agent lies ahead
    float fallen_distance;             // to the nearest of them
    int ahead;                         // people in the loose rectangle
    bool disc_taken;
    bool meets; // turns past an agent that wants to go the other way
} th_hidac_view;

// ---- the rectangle of influence: from the centre `length` ahead along the wish, half the width to either side. Avoidance
// looks at its present length, perceived density at that of a loose crowd, the search for neighbours at the longer one.

TH_FORMULA float th_hidac_longest(const th_hidac_view *i) {
    return th_max(i->params->rectangle_loose, i->rectangle);
}
// The distance ahead within which agents with the same direction count; oncoming ones count over the whole length. May be
// negative.
TH_FORMULA float th_hidac_near(const th_hidac_view *i) { return i->rectangle - 1.5f; }
// Is a place so far ahead and to the side in a rectangle? Without a branch, for loops over lanes.
TH_FORMULA int th_hidac_within(float along, float side, float length, float half_width2) {
    return (along > 0.0f) & (along <= length) & (side * side <= half_width2);
}
// Distance of its corners.
TH_FORMULA float th_hidac_corner(float length, float half_width) {
    return sqrtf(length * length + half_width * half_width);
}

TH_BOTH static inline const th_hidac_params *th_hidac_params_of(const th_world *world, uint32_t i) {
    return (const th_hidac_params *)(const void *)world->groups[world->agents.group[i]].move_params;
}

// ---- neighbours that need a closer look
// HiDAC, the low level: which of the agents around have to be looked at one by one. On the CPU eight are tested at a
// time, and most need no closer look.

// The cells that hold the agents one may see or touch: those around the loose rectangle ahead and the own body, row by
// row.
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
    c.length = th_hidac_longest(i);
    c.slack = 0.01f * c.grid->cell; // more than the coordinates round
    c.across_x = c.along_x = 0.0f;
    float low_y, high_y;
    if (world->counters.fallen > 0 || th_length2(i->wish) == 0.0f) {
        float far = th_hidac_corner(c.length, c.half_width);
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
    // An agent that goes less than this along the heading counts over the whole rectangle.
    float oncoming;
} th_hidac_sieve;

static inline th_hidac_sieve th_hidac_sieve_of(const th_walls *walls, const th_hidac_view *i,
                                               float touch) {
    const th_hidac_params *p = i->params;
    float near = 1.001f * th_max(th_hidac_near(i), 0.5f); // roots and squares round differently
    float disc = p->waiting_radius + touch - i->radius;   // the largest body reaches so far into it
    bool hides = p->line_of_sight > 0.0f && walls->count > 0;
    // Agents in panic, and the literal rule, select neighbours by further conditions.
    bool any = i->panics || !(p->oncoming_first > 0.0f);
    return (th_hidac_sieve){i->p,
                            i->wish,
                            i->heading,
                            th_scale(i->radius + p->waiting_radius, i->wish),
                            th_hidac_longest(i),
                            p->rectangle_loose,
                            i->rectangle,
                            i->half_width * i->half_width,
                            touch * touch,
                            near * near,
                            1.001f * disc * disc,
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
                int seen = th_hidac_within(along, side, s.length, s.half_width2);
                int turns = th_hidac_within(along, side, s.rectangle, s.half_width2) &
                            ((agrees < s.oncoming) | (distance2 < s.near2));
                int stops = ox * ox + oy * oy < s.disc2;
                int close = (seen & (turns | stops | (distance2 > s.clear2))) |
                            (distance2 < s.touch2) | (phase[k] == TH_PHASE_FALLEN);
                uint32_t j = at + (uint32_t)k;
                int here = (phase[k] < TH_PHASE_LEFT) & (j >= from) & (j < end);
                int counts = th_hidac_within(along, side, s.loose, s.half_width2) & (close ^ 1);
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
