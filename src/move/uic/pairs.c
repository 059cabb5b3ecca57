// The pair step: people closer than the pair distance are moved apart, each by half of what is missing, all
// pushes of a pass added up, from frozen positions. The way of the step is walked in a few pieces with a pass
// after each, so that a long step does not carry people through each other. People of other models and
// scripted ones have moved already and stay where they are; they are given way to in full.
// Cost O(people x people within the pair distance). SPDX-License-Identifier: Apache-2.0
#include "core/parallel.h"
#include "formula/math.h"
#include "formula/random.h"
#include "move/uic/state.h"
#include "state/neighbours.h"
#include <assert.h>
#include <math.h>
#include <string.h>

enum { LANES = 16, AROUND_MOST = 512 };
static_assert((int)LANES <= (int)TH_ARRAY_PAD, "runs are copied LANES at a time");
enum {
    STILL_LOOKS = 1,
    HAS_BEEN_PUSHED = 2,
    IS_TIGHT = 4,
    TIDIED = 8
}; // bits of agents.order during the pair step

// Who has arrived makes room for who has not: of what a pair lacks, one who walks takes this share beside one
// who has arrived, and that one the rest. Otherwise people who still have to pass never do.
static const float PAST_ARRIVED = 0.25f;
static const float COINCIDENT2 = 1e-12f; // [m2] closer than a micrometre there is no direction
// Who is nearer to somebody than this many d_min is looked at again in the tidying passes, which aim at this
// distance. The margin is what a neighbour pushes back in the same pass.
static const float TIGHT = 1.025f;
static const float WALL_GAP =
    0.001f; // [m] who runs into a wall stops this far from it, as in contact

typedef struct pair_step {
    float widest;       // half the pair distance of anybody, at most [m]
    float moved;        // furthest that anybody is from where the index saw them [m]
    float *half, *give; // by agent: half the pair distance [m]; share of the push the other takes
    float piece;        // time walked before each pass that begins a piece of way [s]
    bool tidy;          // only those who are still tight
    float share;        // of the pair distance that this pass aims at
    float tight;        // that the tidying passes aim at
    float most;         // a pass moves nobody further than this many `half`: d_min / 2
    bool mixed;         // others than the model's own people are there
} pair_step;

TH_BOTH static const th_uic_group *group_of(const th_world *world, uint32_t i) {
    return &world->uic->groups[world->agents.group[i]];
}
TH_BOTH static bool is_own(const th_world *world, uint32_t i) {
    return th_moves(world->agents.phase[i]) && group_of(world, i)->own;
}

TH_BOTH static float d_min_of(const th_world *world, uint32_t i) {
    float d_min = group_of(world, i)->d_min;
    return d_min > 0.0f ? d_min : 2.0f * world->agents.radius[i];
}

// The square of the way from where somebody stood when the step began.
TH_FORMULA float moved2_of(const th_agents *a, uint32_t i) {
    float dx = a->next_position_x[i] - a->position_x[i];
    float dy = a->next_position_y[i] - a->position_y[i];
    return dx * dx + dy * dy;
}

// Half distance, share, and the first piece of somebody's way. True: one of the model's who has arrived.
TH_FORMULA bool begin_one(th_world *world, const pair_step *step, uint32_t i) {
    th_agents *a = &world->agents;
    bool own = is_own(world, i);
    if (own) {
        a->next_position_x[i] = a->position_x[i] + step->piece * a->next_velocity_x[i];
        a->next_position_y[i] = a->position_y[i] + step->piece * a->next_velocity_y[i];
    }
    step->half[i] = own ? group_of(world, i)->separate * d_min_of(world, i) : a->radius[i];
    bool stays = a->phase[i] == TH_PHASE_ARRIVED;
    step->give[i] = own ? (stays ? PAST_ARRIVED : 0.5f) : 1.0f;
    bool none = own && (step->half[i] <= 0.0f || group_of(world, i)->passes == 0);
    if (none || th_gone(a->phase[i])) step->half[i] = -1e6f; // has no pair step
    a->order[i] = own && !none ? STILL_LOOKS : 0;
    return own && stays;
}

#ifndef TH_DEVICE_CODE // the CPU's loop
// Everybody begins; returns the furthest way.
static float begin(th_world *world, pair_step *step) {
    th_agents *a = &world->agents;
    float furthest2 = 0.0f, widest = 0.0f;
    int arrived = 0;
#pragma omp parallel for num_threads(world->threads) schedule(static) \
    reduction(max                                                     \
              : furthest2, widest) reduction(+ : arrived)
    for (int k = 0; k < a->count; ++k) {
        uint32_t i = (uint32_t)k;
        arrived += begin_one(world, step, i);
        widest = step->half[i] > widest ? step->half[i] : widest;
        float moved2 = moved2_of(a, i);
        furthest2 = moved2 > furthest2 ? moved2 : furthest2;
    }
    step->widest = widest;
    step->mixed = world->uic->has_foreign || arrived > 0;
    return sqrtf(furthest2);
}

// ---- a cell of the index and everybody around it, copied side by side

typedef struct around {
    _Alignas(64) float x[AROUND_MOST + LANES];
    _Alignas(64) float y[AROUND_MOST + LANES];
    _Alignas(64) float half[AROUND_MOST + LANES];
    _Alignas(64) float give[AROUND_MOST + LANES];
    int count; // filled up to a multiple of LANES with people far away; -1: too many
} around;

// A run of any length, LANES at a time: every array of agents is that much longer than the crowd, and what is
// copied too much is overwritten by the next run.
TH_FORMULA void copy_run(float *restrict to, const float *restrict from, uint32_t length) {
    for (uint32_t k = 0; k < length; k += LANES)
        for (uint32_t l = 0; l < LANES; ++l) to[k + l] = from[k + l];
}

// Those who may be within the pair distance of the people of a cell (begin .. end).
TH_FORMULA void look_around(const th_world *world, const pair_step *step, const th_level_grid *grid,
                            const float *xs, const float *ys, uint32_t begin, uint32_t end,
                            around *near) {
    float low_x = xs[begin], high_x = low_x, low_y = ys[begin], high_y = low_y, own = 0.0f;
    for (uint32_t i = begin; i < end; ++i) {
        low_x = th_min(low_x, xs[i]);
        high_x = th_max(high_x, xs[i]);
        low_y = th_min(low_y, ys[i]);
        high_y = th_max(high_y, ys[i]);
        own = th_max(own, step->share * step->half[i]);
    }
    float reach = own + step->share * step->widest + step->moved;
    th_rows rows = {th_grid_row(grid, low_y - reach), th_grid_row(grid, high_y + reach),
                    th_grid_column(grid, low_x - reach), th_grid_column(grid, high_x + reach)};
    uint32_t count = 0;
    for (uint32_t first, last; th_next_run(&world->index, grid, &rows, &first, &last);) {
        uint32_t length = last - first;
        if (count + length > AROUND_MOST) {
            near->count = -1;
            return;
        }
        copy_run(near->x + count, xs + first, length);
        copy_run(near->y + count, ys + first, length);
        copy_run(near->half + count, step->half + first, length);
        if (step->mixed) copy_run(near->give + count, step->give + first, length);
        count += length;
    }
    for (uint32_t k = 0; k < LANES; ++k) {
        near->x[count + k] = 1e9f;
        near->y[count + k] = near->half[count + k] = near->give[count + k] = 0.0f;
    }
    if (step->share < 1.0f)
        for (uint32_t k = 0; k < count; ++k) near->half[k] *= step->share;
    near->count = (int)((count + LANES - 1) / LANES * LANES);
}

#endif

typedef struct push {
    th_vec2 sum;
    bool tight;  // somebody is very near, perhaps at the very place
    float clear; // no wall is nearer [m]
} push;

#ifndef TH_DEVICE_CODE // the CPU's loop

// Values of LANES people side by side. Written as vectors because gcc keeps sums in arrays in memory, and adds
// them up one by one. All copies of a function (core/parallel.h) do the same operations, so give the same bits.
typedef float lanes __attribute__((vector_size(LANES * sizeof(float))));
typedef int32_t count_lanes __attribute__((vector_size(LANES * sizeof(int32_t))));
typedef float half_lanes __attribute__((vector_size(LANES / 2 * sizeof(float))));
typedef int32_t half_counts __attribute__((vector_size(LANES / 2 * sizeof(int32_t))));
#define LOW(v) __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7)
#define HIGH(v) __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15)

// Both sums of lanes in a fixed tree: halves, quarters, eighths.
TH_FORMULA th_vec2 lanes_sum(const lanes *x, const lanes *y) {
    half_lanes eight_x = LOW(*x) + HIGH(*x), eight_y = LOW(*y) + HIGH(*y);
    half_lanes four = __builtin_shufflevector(eight_x, eight_y, 0, 1, 2, 3, 8, 9, 10, 11) +
                      __builtin_shufflevector(eight_x, eight_y, 4, 5, 6, 7, 12, 13, 14, 15);
    half_lanes two = four + __builtin_shufflevector(four, four, 2, 3, 0, 1, 6, 7, 4, 5);
    return th_v(two[0] + two[1], two[4] + two[5]);
}

TH_FORMULA int lanes_count(const count_lanes *counts) {
    half_counts eight = LOW(*counts) + HIGH(*counts);
    uint64_t pairs[4]; // no count is large enough to reach its neighbour's bits
    memcpy(pairs, &eight, sizeof pairs);
    uint64_t sum = (pairs[0] + pairs[1]) + (pairs[2] + pairs[3]);
    return (int)((sum & 0xffffffffu) + (sum >> 32));
}

// Everybody around at once, for the person at p. The person is one of them, and pushes itself by 0; taking it out
// of the list would make the processor wait for that to be written. Person k always goes to lane k mod LANES, so
// the sums do not depend on the width of the machine's registers.
TH_FORMULA push push_from_around(const around *near, th_vec2 p, float own, float tight_share2,
                                 bool mixed) {
    lanes sum_x = {0}, sum_y = {0};
    count_lanes tight = {0};
    for (int first = 0; first < near->count; first += LANES) {
        float push_x[LANES], push_y[LANES];
        int32_t is_tight[LANES];
#pragma omp simd
        for (int l = 0; l < LANES; ++l) {
            int k = first + l;
            float dx = p.x - near->x[k], dy = p.y - near->y[k], apart = own + near->half[k];
            float d2 = dx * dx + dy * dy, apart2 = apart * fabsf(apart);
            float bounded = d2 > COINCIDENT2 ? d2 : COINCIDENT2;
            float give = mixed ? near->give[k] : 0.5f;
            float scale = give * (apart * th_inverse_root(bounded) - 1.0f);
            scale = d2 < apart2 ? scale : 0.0f;
            push_x[l] = scale * dx;
            push_y[l] = scale * dy;
            is_tight[l] = d2 < tight_share2 * apart2;
        }
        lanes more_x, more_y;
        count_lanes more_tight;
        memcpy(&more_x, push_x, sizeof more_x);
        memcpy(&more_y, push_y, sizeof more_y);
        memcpy(&more_tight, is_tight, sizeof more_tight);
        sum_x += more_x;
        sum_y += more_y;
        tight += more_tight;
    }
    push result = {lanes_sum(&sum_x, &sum_y), lanes_count(&tight) > 1, 1e6f};
    return result;
}

// Is somebody else at the very place p?
TH_FORMULA bool coincides(const around *near, th_vec2 p) {
    int found = 0;
#pragma omp simd reduction(+ : found)
    for (int k = 0; k < near->count; ++k) {
        float dx = p.x - near->x[k], dy = p.y - near->y[k];
        found += dx * dx + dy * dy <= COINCIDENT2;
    }
    return found > 1;
}

#endif
// ---- one pair after the other

TH_BOTH static th_vec2 push_of_pair(const th_world *world, const pair_step *step, uint32_t i,
                                    uint32_t j, th_vec2 p, th_vec2 q) {
    float apart = step->share * (step->half[i] + step->half[j]), d2 = th_length2(th_sub(p, q));
    if (j == i || !(apart > 0.0f) || d2 >= apart * apart) return th_v(0.0f, 0.0f);
    const th_agents *a = &world->agents;
    float d = sqrtf(d2);
    th_vec2 direction =
        d2 > COINCIDENT2 ? th_scale(1.0f / d, th_sub(p, q)) : th_pair_direction(a->id[i], a->id[j]);
    return th_scale(step->give[j] * (apart - d), direction);
}

// One pair after the other: for the coincident, and where a wall may stand between two people. No wall is
// nearer to p than `clear`.
TH_BOTH static th_vec2 push_one_by_one(const th_world *world, const pair_step *step,
                                       const th_walls *walls, uint32_t i, const float *xs,
                                       const float *ys, float reach, float clear) {
    int level = (int)world->agents.level[i];
    const th_level_grid *grid = &world->index.grids[level];
    th_vec2 p = {xs[i], ys[i]}, sum = {0.0f, 0.0f};
    th_rows rows = th_rows_around(grid, p, reach);
    for (uint32_t begin, end; th_next_run(&world->index, grid, &rows, &begin, &end);)
        for (uint32_t j = begin; j < end; ++j) {
            th_vec2 q = {xs[j], ys[j]}, one = push_of_pair(world, step, i, j, p, q);
            if (one.x == 0.0f && one.y == 0.0f) continue;
            if (th_length2(th_sub(p, q)) > clear * clear &&
                th_walls_first_crossing(walls, level, p, q, NULL) >= 0)
                continue;
            sum = th_add(sum, one);
        }
    return sum;
}

// How far p surely is from every wall, up to `range`.
TH_BOTH static float clear_of_walls(const th_walls *walls, int level, th_vec2 p, float range) {
    int wall;
    float distance2;
    if (range > walls->grids[level].reach) return 0.0f;
    if (range < th_walls_clear(walls, level, p)) return range;
    return th_walls_near(walls, level, p, range, &wall, &distance2, 1) > 0
               ? 0.999f * sqrtf(distance2)
               : range;
}

TH_BOTH static th_vec2 push_over_links(const th_world *world, const pair_step *step, uint32_t i,
                                       const float *xs, const float *ys, float reach) {
    uint32_t found[16];
    th_vec2 sum = {0.0f, 0.0f}, p = {xs[i], ys[i]};
    int count = th_linked_neighbours(world, i, reach, found, 16);
    for (int k = 0; k < count; ++k)
        sum = th_add(sum,
                     push_of_pair(world, step, i, found[k], p, th_v(xs[found[k]], ys[found[k]])));
    return sum;
}

// What a push from everybody around leaves out: walls, links, people at the very same place.
TH_FORMULA push look_closer(const th_world *world, const pair_step *step, const th_walls *walls,
                            uint32_t i, push result, bool coincident, const float *xs,
                            const float *ys, bool by_wall) {
    if (!coincident && !by_wall && world->scene->link_count == 0) return result;
    th_vec2 p = {xs[i], ys[i]};
    float furthest = step->share * step->half[i] + step->share * step->widest;
    float reach = furthest + step->moved;
    if (by_wall) result.clear = clear_of_walls(walls, (int)world->agents.level[i], p, furthest);
    if (coincident || (result.clear < furthest && (result.sum.x != 0.0f || result.sum.y != 0.0f)))
        result.sum = push_one_by_one(world, step, walls, i, xs, ys, reach, result.clear);
    if (world->scene->link_count > 0)
        result.sum = th_add(result.sum, push_over_links(world, step, i, xs, ys, reach));
    return result;
}

#ifndef TH_DEVICE_CODE // the CPU's loop
TH_FORMULA push push_on(const th_world *world, const pair_step *step, const th_walls *walls,
                        uint32_t i, const around *near, const float *xs, const float *ys,
                        bool by_wall) {
    th_vec2 p = {xs[i], ys[i]};
    float own = step->share * step->half[i], tight = step->tidy ? 1.0f : step->tight * step->tight;
    push result = {{0.0f, 0.0f}, true, 1e6f};
    bool coincident = near->count < 0;
    if (!coincident) {
        result = step->mixed ? push_from_around(near, p, own, tight, true)
                             : push_from_around(near, p, own, tight, false);
        coincident = result.tight && coincides(near, p);
    }
    return look_closer(world, step, walls, i, result, coincident, xs, ys, by_wall);
}

#endif

// Walls push back within the pair step: whoever is pushed into one would stick to it, and the contact stage
// would press who is pushed out onto the others. No further from p, where the step began, than the first wall,
// then off the nearest.
TH_BOTH static th_vec2 stop_at_walls(const th_world *world, const th_walls *walls, uint32_t i,
                                     th_vec2 p, th_vec2 q) {
    int level = (int)world->agents.level[i], wall;
    float radius = world->agents.radius[i], distance2, t;
    if (th_walls_near(walls, level, q, radius, &wall, &distance2, 1) == 0 &&
        th_length2(th_sub(q, p)) < radius * radius)
        return q;
    if (th_walls_first_crossing(walls, level, p, q, &t) >= 0) {
        // A share of the way would bring people nearer and nearer to a wall they are pressed against.
        float way = th_max(t - WALL_GAP / th_max(th_length(th_sub(q, p)), 1e-9f), 0.0f);
        q = th_add(p, th_scale(way, th_sub(q, p)));
    }
    for (int round = 0; round < 2; ++round) {
        if (th_walls_near(walls, level, q, radius, &wall, &distance2, 1) == 0) return q;
        const th_wall *nearest = &walls->walls[wall];
        th_vec2 off = th_sub(q, th_nearest_on_segment(q, nearest->a, nearest->b));
        float distance = sqrtf(distance2);
        if (distance < 1e-5f || distance >= radius) return q;
        th_vec2 lifted = th_add(q, th_scale((radius - distance) / distance, off));
        if (th_walls_first_crossing(walls, level, q, lifted, NULL) >= 0) return q;
        q = lifted;
    }
    return q;
}

// Who was pushed has the velocity it really moved with, up to its walking speed.
TH_FORMULA void real_velocity(th_world *world, uint32_t i, th_vec2 q) {
    th_agents *a = &world->agents;
    th_vec2 wanted = {a->next_velocity_x[i], a->next_velocity_y[i]};
    float limit = th_max(th_length(wanted), a->speed[i]);
    th_vec2 real = th_limit(th_scale(1.0f / world->dt, th_sub(q, th_position(a, i))), limit);
    a->next_velocity_x[i] = real.x;
    a->next_velocity_y[i] = real.y;
}

// Who has to look, in this pass.
TH_BOTH static bool looks(const pair_step *step, uint32_t flags) {
    return flags & (step->tidy ? IS_TIGHT : STILL_LOOKS);
}

// Where somebody at p is after a push; notes in the flags what the next pass has to know.
TH_FORMULA th_vec2 take_push(const th_world *world, const pair_step *step, const th_walls *walls,
                             uint32_t i, th_vec2 p, push result, bool by_wall) {
    const th_agents *a = &world->agents;
    uint32_t *flags = a->order;
    if (a->phase[i] == TH_PHASE_ARRIVED)
        result.sum = th_scale(2.0f * (1.0f - PAST_ARRIVED), result.sum);
    bool pushed = result.sum.x != 0.0f || result.sum.y != 0.0f;
    th_vec2 to = th_add(p, th_limit(result.sum, step->most * step->half[i]));
    th_vec2 from = th_position(a, i);
    float way2 = by_wall ? th_max(th_length2(th_sub(to, p)), th_length2(th_sub(from, p))) : 0.0f;
    flags[i] = (pushed ? STILL_LOOKS | HAS_BEEN_PUSHED : flags[i] & HAS_BEEN_PUSHED) |
               (result.tight ? IS_TIGHT : 0) | (step->tidy ? TIDIED : 0);
    return by_wall && sqrtf(way2) + a->radius[i] >= result.clear
               ? stop_at_walls(world, walls, i, from, to)
               : to;
}

#ifndef TH_DEVICE_CODE // the CPU's loop
// What a pass has to know for the next one.
typedef struct pass_result {
    float moved2; // furthest from where the index saw them
    int tight;    // people
} pass_result;

// The people of one cell: writes work_x, work_y, in a tidying pass only of those who look (there are some).
TH_FORMULA void pass_cell(th_world *world, const pair_step *step, const th_walls *walls,
                          const th_level_grid *grid, uint32_t begin, uint32_t end, around *near,
                          bool by_wall, pass_result *passed) {
    th_agents *a = &world->agents;
    const float *xs = a->next_position_x, *ys = a->next_position_y;
    uint32_t *flags = a->order;
    bool any = false;
    for (uint32_t i = begin; i < end; ++i) any = any || looks(step, flags[i]);
    if (any) look_around(world, step, grid, xs, ys, begin, end, near);
    for (uint32_t i = begin; i < end; ++i) {
        th_vec2 p = {xs[i], ys[i]};
        if (looks(step, flags[i])) {
            push result = push_on(world, step, walls, i, near, xs, ys, by_wall);
            p = take_push(world, step, walls, i, p, result, by_wall);
        } else if (step->tidy) {
            continue;
        }
        a->work_x[i] = p.x;
        a->work_y[i] = p.y;
        passed->tight += (flags[i] & IS_TIGHT) != 0;
        passed->moved2 = th_max(passed->moved2, th_length2(th_sub(p, th_position(a, i))));
    }
}

// Cells of a row, by column, whose people still have somebody tight: the tidying passes look at few of all. The
// list lies in agents.slot where the row's people lie, for a row has no more cells with people than people; it
// ends with LAST unless it is full.
enum { LAST = -1 };
typedef struct tight_list {
    int32_t *columns;
    uint32_t count, most;
} tight_list;

static tight_list list_of_row(const th_world *world, int l, int row) {
    const th_level_grid *grid = &world->index.grids[l];
    const uint32_t *start = world->index.cell_start + grid->first + row * grid->nx;
    tight_list list = {(int32_t *)world->agents.slot + start[0], 0, start[grid->nx] - start[0]};
    return list;
}

static void close_list(tight_list *list) {
    if (list->count < list->most) list->columns[list->count] = LAST;
}

static bool any_tight(const uint32_t *flags, uint32_t begin, uint32_t end) {
    uint32_t all = 0;
    for (uint32_t i = begin; i < end; ++i) all |= flags[i];
    return all & IS_TIGHT;
}

// May a wall be in the way of the people of a cell of the index, or of whom they may push? Flags of a row's
// quarters; NULL where there are no walls.
static const uint8_t *quarters_of_row(const th_world *world, int l, int row) {
    const th_uic_level *level = &world->uic->levels[l];
    if (!level->walled) return NULL;
    int m = world->uic->index_per_half, wide = 2 * level->grid.nx;
    return world->uic->quarters + 4 * (size_t)level->first + (size_t)(row / m * wide);
}

TH_CLONES static pass_result pass_row(th_world *world, const pair_step *step, const th_walls *walls,
                                      int l, int row) {
    const th_level_grid *grid = &world->index.grids[l];
    const uint32_t *start = world->index.cell_start + grid->first + row * grid->nx;
    const uint8_t *quarters = quarters_of_row(world, l, row);
    int per_half = world->uic->index_per_half;
    tight_list list = list_of_row(world, l, row);
    around near;
    pass_result passed = {0.0f, 0};
    int cells = step->tidy ? (int)list.most : grid->nx;
    for (int k = 0; k < cells; ++k) {
        int column = step->tidy ? list.columns[k] : k;
        if (column == LAST) break;
        uint32_t first = start[column], end = start[column + 1];
        if (first == end) continue;
        bool by_wall =
            quarters && quarters[per_half == 1 ? column : column / per_half] & TH_UIC_NEAR_WALL;
        pass_cell(world, step, walls, grid, first, end, &near, by_wall, &passed);
        if (!step->tidy && any_tight(world->agents.order, first, end))
            list.columns[list.count++] = column;
    }
    if (!step->tidy) close_list(&list);
    return passed;
}

#endif

TH_BOTH static void swap_positions(th_agents *a) {
    float *swap_x = a->next_position_x, *swap_y = a->next_position_y;
    a->next_position_x = a->work_x;
    a->next_position_y = a->work_y;
    a->work_x = swap_x;
    a->work_y = swap_y;
}

#ifndef TH_DEVICE_CODE // the CPU's loop
// After a tidying pass: few have new places, fewer are still tight.
static void take_tidied(th_world *world, int l, int row) {
    th_agents *a = &world->agents;
    const th_level_grid *grid = &world->index.grids[l];
    const uint32_t *start = world->index.cell_start + grid->first + row * grid->nx;
    tight_list list = list_of_row(world, l, row);
    for (uint32_t k = 0; k < list.most && list.columns[k] != LAST; ++k) {
        int column = list.columns[k];
        for (uint32_t i = start[column]; i < start[column + 1]; ++i) {
            if (!(a->order[i] & TIDIED)) continue;
            a->next_position_x[i] = a->work_x[i];
            a->next_position_y[i] = a->work_y[i];
            a->order[i] &= ~(uint32_t)TIDIED;
        }
        if (any_tight(a->order, start[column], start[column + 1]))
            list.columns[list.count++] = column;
    }
    close_list(&list);
}

// One pass over everybody; returns how many are tight.
static int run_pass(th_world *world, pair_step *step) {
    th_walls walls = th_world_walls(world);
    float moved2 = 0.0f;
    int tight = 0;
    for (int l = 0; l < world->uic->level_count; ++l) {
        int rows = world->index.grids[l].ny;
#pragma omp parallel for num_threads(world->threads) schedule(dynamic, 2) \
    reduction(max : moved2) reduction(+ : tight)
        for (int row = 0; row < rows; ++row) {
            pass_result passed = pass_row(world, step, &walls, l, row);
            moved2 = passed.moved2 > moved2 ? passed.moved2 : moved2;
            tight += passed.tight;
        }
    }
    step->moved = th_max(step->moved, sqrtf(moved2));
    if (!step->tidy) swap_positions(&world->agents);
    for (int l = 0; step->tidy && l < world->uic->level_count; ++l) {
#pragma omp parallel for num_threads(world->threads) schedule(static)
        for (int row = 0; row < world->index.grids[l].ny; ++row) take_tidied(world, l, row);
    }
    return tight;
}

#endif

// The next piece of way after a pass.
TH_FORMULA void walk_one(th_world *world, const pair_step *step, uint32_t i) {
    th_agents *a = &world->agents;
    if (!is_own(world, i)) return;
    a->next_position_x[i] += step->piece * a->next_velocity_x[i];
    a->next_position_y[i] += step->piece * a->next_velocity_y[i];
    if (step->half[i] > 0.0f) a->order[i] |= STILL_LOOKS;
}

// Who was pushed tells the velocity it really moved with.
TH_FORMULA void finish_one(th_world *world, uint32_t i) {
    const th_agents *a = &world->agents;
    if (a->order[i] & HAS_BEEN_PUSHED && is_own(world, i))
        real_velocity(world, i, th_v(a->next_position_x[i], a->next_position_y[i]));
}

#ifndef TH_DEVICE_CODE // the CPU's loop
static void walk_on(th_world *world, pair_step *step) {
    th_agents *a = &world->agents;
    float furthest2 = 0.0f;
#pragma omp parallel for num_threads(world->threads) schedule(static) reduction(max : furthest2)
    for (int i = 0; i < a->count; ++i) {
        walk_one(world, step, (uint32_t)i);
        float moved2 = moved2_of(a, (uint32_t)i);
        furthest2 = moved2 > furthest2 ? moved2 : furthest2;
    }
    step->moved = sqrtf(furthest2);
}

// Who was pushed has the velocity it really moved with, up to its walking speed or what it was carried with.
TH_CLONES static void finish_block(th_agents *a, int begin, int end, float inverse_dt) {
    const float *restrict x = a->position_x, *restrict y = a->position_y;
    const float *restrict next_x = a->next_position_x, *restrict next_y = a->next_position_y;
    const float *restrict speed = a->speed;
    const uint32_t *restrict flags = a->order;
    float *restrict velocity_x = a->next_velocity_x, *restrict velocity_y = a->next_velocity_y;
#pragma omp simd
    for (int i = begin; i < end; ++i) {
        float wanted_x = velocity_x[i], wanted_y = velocity_y[i];
        float limit = th_max(sqrtf(wanted_x * wanted_x + wanted_y * wanted_y), speed[i]);
        float real_x = inverse_dt * (next_x[i] - x[i]), real_y = inverse_dt * (next_y[i] - y[i]);
        float length2 = real_x * real_x + real_y * real_y;
        float shorter = length2 > limit * limit ? limit / sqrtf(length2) : 1.0f;
        bool pushed = flags[i] & HAS_BEEN_PUSHED;
        velocity_x[i] = pushed ? shorter * real_x : wanted_x;
        velocity_y[i] = pushed ? shorter * real_y : wanted_y;
    }
}

static void finish(th_world *world) {
    th_agents *a = &world->agents;
#pragma omp parallel for num_threads(world->threads) schedule(static)
    for (int b = 0; b < th_block_count(a->count); ++b)
        finish_block(a, b * TH_BLOCK, (b + 1) * TH_BLOCK < a->count ? (b + 1) * TH_BLOCK : a->count,
                     1.0f / world->dt);
}
#endif

// How many passes there are and after which of them people walk on.
typedef struct pass_plan {
    int passes, pieces;
} pass_plan;
static bool walks_after(const pass_plan *plan, int pass) {
    return pass + 1 < plan->passes &&
           (pass + 1) * plan->pieces / plan->passes > pass * plan->pieces / plan->passes;
}

// 0 passes: no pair step.
static pass_plan plan_passes(const th_world *world, pair_step *step) {
    const th_uic *uic = world->uic;
    pass_plan plan = {0, 0};
    float separate =
        0.0f; // half the pair distance in d_min, of the group that keeps furthest apart
    for (int g = 0; g < uic->group_count; ++g) {
        if (!uic->groups[g].own || uic->groups[g].passes == 0) continue;
        plan.passes = uic->groups[g].passes > plan.passes ? uic->groups[g].passes : plan.passes;
        separate = th_max(separate, uic->groups[g].separate);
    }
    if (plan.passes == 0) return plan;
    plan.pieces = (int)ceilf(world->dt / uic->pair_substep - 1e-3f);
    plan.pieces = plan.pieces < 1 ? 1 : plan.pieces;
    if (plan.passes < plan.pieces) plan.passes = plan.pieces;
    memset(step, 0, sizeof *step);
    step->half = world->agents.work2_x;
    step->give = world->agents.work2_y;
    step->piece = world->dt / (float)plan.pieces;
    step->share = 1.0f;
    step->tight = th_min(0.5f * TIGHT / separate, 1.0f);
    step->most = 0.5f / separate;
    return plan;
}

// From here on only those who are still tight.
static void begin_tidying(pair_step *step) {
    step->tidy = true;
    step->share = step->tight;
}

#ifndef TH_DEVICE_CODE // the CPU's loop
void th_uic_separate(th_world *world) {
    th_uic *uic = world->uic;
    pair_step step;
    pass_plan plan = plan_passes(world, &step);
    if (plan.passes == 0) return;
    step.moved = begin(world, &step);
    int tight = 0;
    for (int pass = 0; pass < plan.passes; ++pass) {
        tight = run_pass(world, &step);
        if (walks_after(&plan, pass)) walk_on(world, &step);
    }
    begin_tidying(&step);
    for (int pass = 0; pass < uic->tidy_passes && tight > 0; ++pass) tight = run_pass(world, &step);
    finish(world);
}
#endif
