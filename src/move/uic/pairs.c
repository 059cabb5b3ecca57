// The pair step: people closer than the pair distance are moved apart, each by half of what is missing, all
// pushes of a pass added up, from frozen positions. The way of the step is walked in a few pieces with a pass
// after each, so that a long step does not carry people through each other. People of other models and
// scripted ones have moved already and stay where they are; they are given way to in full.
// Cost O(people x people within the pair distance). SPDX-License-Identifier: Apache-2.0
#include "move/uic/pairs.h"
#include "core/parallel.h"
#include <assert.h>

enum { LANES = TH_UIC_LANES_OF_PAIRS };
static_assert((int)LANES <= (int)TH_ARRAY_PAD, "runs are copied LANES at a time");

// Starts the pair step for all agents; returns the largest displacement.
static float begin(th_world *world, th_uic_pair_step *step) {
    th_agents *a = &world->agents;
    float furthest2 = 0.0f, widest = 0.0f;
    int arrived = 0;
#pragma omp parallel for num_threads(world->threads) schedule(static) \
    reduction(max                                                     \
              : furthest2, widest) reduction(+ : arrived)
    for (int k = 0; k < a->count; ++k) {
        uint32_t i = (uint32_t)k;
        arrived += th_uic_begin_pairs(world, step, i);
        widest = step->half[i] > widest ? step->half[i] : widest;
        float moved2 = th_uic_moved2(a, i);
        furthest2 = moved2 > furthest2 ? moved2 : furthest2;
    }
    step->widest = widest;
    step->mixed = th_uic_of(world)->has_foreign || arrived > 0;
    return sqrtf(furthest2);
}

// ---- a cell of the index and every agent around it, copied side by side

typedef struct around {
    _Alignas(64) float x[TH_UIC_AROUND_MAX + LANES];
    _Alignas(64) float y[TH_UIC_AROUND_MAX + LANES];
    _Alignas(64) float half[TH_UIC_AROUND_MAX + LANES];
    _Alignas(64) float give[TH_UIC_AROUND_MAX + LANES];
    int count; // filled up to a multiple of LANES with people far away; -1: too many
} around;

// A run of any length, LANES at a time: every array of agents is that much longer than the crowd, and what is
// copied too much is overwritten by the next run.
TH_FORMULA void copy_run(float *restrict to, const float *restrict from, uint32_t length) {
    for (uint32_t k = 0; k < length; k += LANES)
        for (uint32_t l = 0; l < LANES; ++l) to[k + l] = from[k + l];
}

// Agents that may be within the pair distance of the people of a cell (begin .. end).
TH_FORMULA void look_around(const th_world *world, const th_uic_pair_step *step,
                            const th_level_grid *grid, const float *xs, const float *ys,
                            uint32_t begin, uint32_t end, around *near) {
    th_rows rows = th_uic_rows_around_cell(step, grid, xs, ys, begin, end);
    uint32_t count = 0;
    for (uint32_t first, last; th_next_run(&world->index, grid, &rows, &first, &last);) {
        uint32_t length = last - first;
        if (count + length > TH_UIC_AROUND_MAX) {
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

// Every agent around at once, for the person at p. The person is one of them, and pushes itself by 0; taking it out
// of the list would make the processor wait for that to be written. Person k always goes to lane k mod LANES, so
// the sums do not depend on the width of the machine's registers.
TH_FORMULA th_uic_push push_from_around(const around *near, th_vec2 p, float own,
                                        float tight_share2, bool mixed) {
    lanes sum_x = {0}, sum_y = {0};
    count_lanes tight = {0};
    for (int first = 0; first < near->count; first += LANES) {
        float push_x[LANES], push_y[LANES];
        int32_t is_tight[LANES];
#pragma omp simd
        for (int l = 0; l < LANES; ++l) {
            int k = first + l;
            float dx = p.x - near->x[k], dy = p.y - near->y[k], apart = own + near->half[k];
            float d2 = dx * dx + dy * dy, apart2 = th_uic_apart2(apart);
            float scale = th_uic_push_scale(d2, apart, mixed ? near->give[k] : 0.5f);
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
    th_uic_push result = {lanes_sum(&sum_x, &sum_y), lanes_count(&tight) > 1, 1e6f};
    return result;
}

// Is another agent at the very place p?
TH_FORMULA bool coincides(const around *near, th_vec2 p) {
    int found = 0;
#pragma omp simd reduction(+ : found)
    for (int k = 0; k < near->count; ++k) {
        float dx = p.x - near->x[k], dy = p.y - near->y[k];
        found += dx * dx + dy * dy <= TH_UIC_COINCIDENT2;
    }
    return found > 1;
}

TH_FORMULA th_uic_push push_on(const th_world *world, const th_uic_pair_step *step,
                               const th_walls *walls, uint32_t i, const around *near,
                               const float *xs, const float *ys, bool by_wall) {
    th_vec2 p = {xs[i], ys[i]};
    float own = step->share * step->half[i], tight = th_uic_tight_share2(step);
    th_uic_push result = {{0.0f, 0.0f}, true, 1e6f};
    bool coincident = near->count < 0;
    if (!coincident) {
        result = step->mixed ? push_from_around(near, p, own, tight, true)
                             : push_from_around(near, p, own, tight, false);
        coincident = result.tight && coincides(near, p);
    }
    return th_uic_look_closer(world, step, walls, i, result, coincident, xs, ys, by_wall);
}

// Findings of a pass for the next one.
typedef struct pass_result {
    float moved2; // furthest from where the index saw them
    int tight;    // people
} pass_result;

// The people of one cell: writes separated_x, separated_y, in a tidying pass only of the agents that look (there are
// some).
TH_FORMULA void pass_cell(th_world *world, const th_uic_pair_step *step, const th_walls *walls,
                          const th_level_grid *grid, uint32_t begin, uint32_t end, around *near,
                          bool by_wall, pass_result *passed) {
    th_agents *a = &world->agents;
    const float *xs = a->next_position_x, *ys = a->next_position_y;
    uint32_t *flags = a->pair_flags;
    bool any = false;
    for (uint32_t i = begin; i < end; ++i) any = any || th_uic_looks(step, flags[i]);
    if (any) look_around(world, step, grid, xs, ys, begin, end, near);
    for (uint32_t i = begin; i < end; ++i) {
        th_vec2 p = {xs[i], ys[i]};
        if (th_uic_looks(step, flags[i])) {
            th_uic_push result = push_on(world, step, walls, i, near, xs, ys, by_wall);
            p = th_uic_take_push(world, step, walls, i, p, result, by_wall);
        } else if (step->tidy) {
            continue;
        }
        a->separated_x[i] = p.x;
        a->separated_y[i] = p.y;
        passed->tight += (flags[i] & TH_UIC_IS_TIGHT) != 0;
        passed->moved2 = th_max(passed->moved2, th_length2(th_sub(p, th_position(a, i))));
    }
}

// Cells of a row, by column, with tight agents left: the tidying passes look at few of all. The
// list lies in agents.listed where the row's people lie, for a row has no more cells with people than people; it
// ends with LAST unless it is full.
enum { LAST = -1 };
typedef struct tight_list {
    int32_t *columns;
    uint32_t count, most;
} tight_list;

static tight_list list_of_row(const th_world *world, int l, int row) {
    const th_level_grid *grid = &world->index.grids[l];
    const uint32_t *start = world->index.cell_start + grid->first + row * grid->nx;
    tight_list list = {(int32_t *)world->agents.listed + start[0], 0, start[grid->nx] - start[0]};
    return list;
}

static void close_list(tight_list *list) {
    if (list->count < list->most) list->columns[list->count] = LAST;
}

static bool any_tight(const uint32_t *flags, uint32_t begin, uint32_t end) {
    uint32_t all = 0;
    for (uint32_t i = begin; i < end; ++i) all |= flags[i];
    return all & TH_UIC_IS_TIGHT;
}

// May a wall be in the way of the people of a cell of the index, or of those that they may push? Flags of a row's
// quarters; NULL where there are no walls.
static const uint8_t *quarters_of_row(const th_world *world, int l, int row) {
    const th_uic_level *level = &th_uic_of(world)->levels[l];
    if (!level->walled) return NULL;
    int m = th_uic_of(world)->index_per_half, wide = 2 * level->grid.nx;
    return th_uic_of(world)->quarters + 4 * (size_t)level->first + (size_t)(row / m * wide);
}

TH_CLONES static pass_result pass_row(th_world *world, const th_uic_pair_step *step,
                                      const th_walls *walls, int l, int row) {
    const th_level_grid *grid = &world->index.grids[l];
    const uint32_t *start = world->index.cell_start + grid->first + row * grid->nx;
    const uint8_t *quarters = quarters_of_row(world, l, row);
    int per_half = th_uic_of(world)->index_per_half;
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
            quarters && quarters[per_half == 1 ? column : column / per_half] & TH_UIC_LOOK_CLOSER;
        pass_cell(world, step, walls, grid, first, end, &near, by_wall, &passed);
        if (!step->tidy && any_tight(world->agents.pair_flags, first, end))
            list.columns[list.count++] = column;
    }
    if (!step->tidy) close_list(&list);
    return passed;
}

// After a tidying pass: few have new places, fewer are still tight.
static void take_tidied(th_world *world, int l, int row) {
    th_agents *a = &world->agents;
    const th_level_grid *grid = &world->index.grids[l];
    const uint32_t *start = world->index.cell_start + grid->first + row * grid->nx;
    tight_list list = list_of_row(world, l, row);
    for (uint32_t k = 0; k < list.most && list.columns[k] != LAST; ++k) {
        int column = list.columns[k];
        for (uint32_t i = start[column]; i < start[column + 1]; ++i) th_uic_take_tidied(a, i);
        if (any_tight(a->pair_flags, start[column], start[column + 1]))
            list.columns[list.count++] = column;
    }
    close_list(&list);
}

// One pass over every agent; returns how many are tight.
static int run_pass(th_world *world, th_uic_pair_step *step) {
    th_walls walls = th_world_walls(world);
    float moved2 = 0.0f;
    int tight = 0;
    for (int l = 0; l < th_uic_of(world)->level_count; ++l) {
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
    if (!step->tidy) th_uic_swap_positions(&world->agents);
    for (int l = 0; step->tidy && l < th_uic_of(world)->level_count; ++l) {
#pragma omp parallel for num_threads(world->threads) schedule(static)
        for (int row = 0; row < world->index.grids[l].ny; ++row) take_tidied(world, l, row);
    }
    return tight;
}

static void walk_on(th_world *world, th_uic_pair_step *step) {
    th_agents *a = &world->agents;
    float furthest2 = 0.0f;
#pragma omp parallel for num_threads(world->threads) schedule(static) reduction(max : furthest2)
    for (int i = 0; i < a->count; ++i) {
        th_uic_walk_on(world, step, (uint32_t)i);
        float moved2 = th_uic_moved2(a, (uint32_t)i);
        furthest2 = moved2 > furthest2 ? moved2 : furthest2;
    }
    step->moved = sqrtf(furthest2);
}

// An agent that was pushed has the velocity really walked.
TH_CLONES static void finish_block(th_agents *a, int begin, int end, float dt) {
    const float *restrict x = a->position_x, *restrict y = a->position_y;
    float *restrict next_x = a->next_position_x, *restrict next_y = a->next_position_y;
    const float *restrict speed = a->speed;
    const uint32_t *restrict flags = a->pair_flags;
    float *restrict velocity_x = a->next_velocity_x, *restrict velocity_y = a->next_velocity_y;
    float inverse_dt = 1.0f / dt;
#pragma omp simd
    for (int i = begin; i < end; ++i) {
        th_vec2 way = {next_x[i] - x[i], next_y[i] - y[i]};
        float share = th_uic_share_of_way(way, dt, speed[i]);
        bool pushed = flags[i] & TH_UIC_PUSHED, far = pushed && share < 1.0f;
        next_x[i] = far ? x[i] + share * way.x : next_x[i];
        next_y[i] = far ? y[i] + share * way.y : next_y[i];
        velocity_x[i] = pushed ? share * inverse_dt * way.x : velocity_x[i];
        velocity_y[i] = pushed ? share * inverse_dt * way.y : velocity_y[i];
    }
}

static void finish(th_world *world) {
    th_agents *a = &world->agents;
#pragma omp parallel for num_threads(world->threads) schedule(static)
    for (int b = 0; b < th_block_count(a->count); ++b)
        finish_block(a, b * TH_BLOCK, (b + 1) * TH_BLOCK < a->count ? (b + 1) * TH_BLOCK : a->count,
                     world->dt);
}

void th_uic_separate(th_world *world) {
    th_uic *uic = th_uic_of(world);
    th_uic_pair_step step;
    th_uic_pass_plan plan = th_uic_plan_passes(world, &step);
    if (plan.passes == 0) return;
    step.moved = begin(world, &step);
    int tight = 0;
    for (int pass = 0; pass < plan.passes; ++pass) {
        tight = run_pass(world, &step);
        if (th_uic_walks_after(&plan, pass)) walk_on(world, &step);
    }
    th_uic_begin_tidying(&step);
    for (int pass = 0; pass < uic->tidy_passes && tight > 0; ++pass) tight = run_pass(world, &step);
    finish(world);
}
