// The pair step: people closer than the pair distance are moved apart, each by half of what is missing, all
// pushes of a pass added up, from frozen positions. The way of the step is walked in a few pieces with a pass
// after each, so that a long step does not carry people through each other. People of other models and
// scripted ones have moved already and stay where they are; they are given way to in full.
// Cost O(people x people within the pair distance). SPDX-License-Identifier: Apache-2.0
#include "core/parallel.h"
#include "formula/random.h"
#include "move/neighbours.h"
#include "move/uic_state.h"
#include <math.h>
#include <string.h>

enum { LANES = 16, AROUND_MOST = 512 };
enum { LOOK_AGAIN = 1, WAS_PUSHED = 2, IS_TIGHT = 4 }; // bits of agents.order during the pair step

static const float COINCIDENT2 = 1e-12f; // [m2] closer than a micrometre there is no direction
// Who is nearer to somebody than this many d_min is looked at again in the tidying passes, which aim at this
// distance. The margin is what a neighbour pushes back in the same pass.
static const float TIGHT = 1.025f;

typedef struct pair_step {
    float widest;       // half the pair distance of anybody, at most [m]
    float moved;        // furthest that anybody is from where the index saw them [m]
    float *half, *give; // by agent: half the pair distance [m]; share of the push the other takes
    int pass;
    float piece;        // time walked before each pass that begins a piece of way [s]
    bool last, walk_on; // walk_on: a piece of way follows this pass
    bool tidy;          // only those who are still tight
    float share;        // of the pair distance that this pass aims at
    float tight;        // that the tidying passes aim at
} pair_step;

static const th_uic_group *group_of(const th_world *world, uint32_t i) {
    return &world->uic->groups[world->agents.group[i]];
}
static bool is_own(const th_world *world, uint32_t i) {
    return th_moves(world->agents.phase[i]) && group_of(world, i)->own;
}

static float d_min_of(const th_world *world, uint32_t i) {
    float d_min = group_of(world, i)->d_min;
    return d_min > 0.0f ? d_min : 2.0f * world->agents.radius[i];
}

// Half distances, shares, and the first piece of everybody's way; returns the furthest way.
static float begin(th_world *world, pair_step *step) {
    th_agents *a = &world->agents;
    float furthest2 = 0.0f, widest = 0.0f, piece = step->piece;
#pragma omp parallel for num_threads(world->threads) schedule(static) \
    reduction(max                                                     \
              : furthest2, widest)
    for (int k = 0; k < a->count; ++k) {
        uint32_t i = (uint32_t)k;
        bool own = is_own(world, i);
        if (own) {
            a->next_position_x[i] = a->position_x[i] + piece * a->next_velocity_x[i];
            a->next_position_y[i] = a->position_y[i] + piece * a->next_velocity_y[i];
        }
        step->half[i] = own ? group_of(world, i)->separate * d_min_of(world, i) : a->radius[i];
        step->give[i] = own ? 0.5f : 1.0f;
        bool none = own && (step->half[i] <= 0.0f || group_of(world, i)->passes == 0);
        if (none || th_gone(a->phase[i])) step->half[i] = -1e6f; // has no pair step
        a->order[i] = own && !none ? LOOK_AGAIN : 0;
        widest = step->half[i] > widest ? step->half[i] : widest;
        float dx = a->next_position_x[i] - a->position_x[i];
        float dy = a->next_position_y[i] - a->position_y[i];
        float moved2 = dx * dx + dy * dy;
        furthest2 = moved2 > furthest2 ? moved2 : furthest2;
    }
    step->widest = widest;
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
        for (uint32_t k = 0; k < length; ++k) {
            near->x[count + k] = xs[first + k];
            near->y[count + k] = ys[first + k];
            near->half[count + k] = step->share * step->half[first + k];
            near->give[count + k] = step->give[first + k];
        }
        count += length;
    }
    for (uint32_t k = 0; k < LANES; ++k) {
        near->x[count + k] = 1e9f;
        near->y[count + k] = near->half[count + k] = near->give[count + k] = 0.0f;
    }
    near->count = (int)((count + LANES - 1) / LANES * LANES);
}

// 1 / sqrt(x) to 5e-6: a first guess from the exponent (Lomont 2003) and two Newton steps. Products and
// differences only, so it has the same bits everywhere, and a vector of them costs less than one division.
TH_FORMULA float inverse_root(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = 0x5f375a86u - (bits >> 1);
    float y;
    memcpy(&y, &bits, sizeof y);
    y = y * (1.5f - (0.5f * x) * (y * y));
    y = y * (1.5f - (0.5f * x) * (y * y));
    return y;
}

typedef struct push {
    th_vec2 sum;
    bool coincident, tight;
} push;

TH_FORMULA float lanes_sum(const float lane[LANES]) {
    float sum[LANES / 2];
    for (int l = 0; l < LANES / 2; ++l) sum[l] = lane[l] + lane[l + LANES / 2];
    return ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
}

// Everybody around person p at once, p itself included, who pushes with nothing. Person k always goes to lane k
// mod LANES, so the sums do not depend on the width of the machine's registers.
TH_FORMULA push push_from_around(const around *near, th_vec2 p, float own, float tight_share2) {
    float sum_x[LANES] = {0}, sum_y[LANES] = {0};
    int together[LANES] = {0}, tight[LANES] = {0};
    for (int first = 0; first < near->count; first += LANES) {
#pragma omp simd
        for (int l = 0; l < LANES; ++l) {
            int k = first + l;
            float dx = p.x - near->x[k], dy = p.y - near->y[k], apart = own + near->half[k];
            float d2 = dx * dx + dy * dy, apart2 = apart * fabsf(apart);
            float bounded = d2 > COINCIDENT2 ? d2 : COINCIDENT2;
            float scale = near->give[k] * (apart * inverse_root(bounded) - 1.0f);
            scale = d2 < apart2 ? scale : 0.0f;
            sum_x[l] += scale * dx;
            sum_y[l] += scale * dy;
            together[l] += d2 <= COINCIDENT2 ? 1 : 0;
            tight[l] += d2 < tight_share2 * apart2 ? 1 : 0;
        }
    }
    int at_p = 0, close = 0;
    for (int l = 0; l < LANES; ++l) {
        at_p += together[l];
        close += tight[l];
    }
    push result = {th_v(lanes_sum(sum_x), lanes_sum(sum_y)), at_p > 1, close > 1};
    return result;
}

// ---- one pair after the other

static th_vec2 push_of_pair(const th_world *world, const pair_step *step, uint32_t i, uint32_t j,
                            th_vec2 p, th_vec2 q) {
    float apart = step->share * (step->half[i] + step->half[j]), d2 = th_length2(th_sub(p, q));
    if (j == i || !(apart > 0.0f) || d2 >= apart * apart) return th_v(0.0f, 0.0f);
    const th_agents *a = &world->agents;
    float d = sqrtf(d2);
    th_vec2 direction =
        d2 > COINCIDENT2 ? th_scale(1.0f / d, th_sub(p, q)) : th_pair_direction(a->id[i], a->id[j]);
    return th_scale(step->give[j] * (apart - d), direction);
}

// One pair after the other: near walls, which may stand between two people, and for the coincident.
static th_vec2 push_one_by_one(const th_world *world, const pair_step *step, const th_walls *walls,
                               uint32_t i, const float *xs, const float *ys, float reach,
                               bool look) {
    const th_agents *a = &world->agents;
    int level = (int)a->level[i];
    const th_level_grid *grid = &world->index.grids[level];
    th_vec2 p = {xs[i], ys[i]}, sum = {0.0f, 0.0f};
    th_rows rows = th_rows_around(grid, p, reach);
    for (uint32_t begin, end; th_next_run(&world->index, grid, &rows, &begin, &end);)
        for (uint32_t j = begin; j < end; ++j) {
            th_vec2 q = {xs[j], ys[j]}, one = push_of_pair(world, step, i, j, p, q);
            if (one.x == 0.0f && one.y == 0.0f) continue;
            if (look && th_walls_first_crossing(walls, level, p, q, NULL) >= 0) continue;
            sum = th_add(sum, one);
        }
    return sum;
}

static th_vec2 push_over_links(const th_world *world, const pair_step *step, uint32_t i,
                               const float *xs, const float *ys, float reach) {
    uint32_t found[16];
    th_vec2 sum = {0.0f, 0.0f}, p = {xs[i], ys[i]};
    int count = th_linked_neighbours(world, i, reach, found, 16);
    for (int k = 0; k < count; ++k)
        sum = th_add(sum,
                     push_of_pair(world, step, i, found[k], p, th_v(xs[found[k]], ys[found[k]])));
    return sum;
}

static bool near_wall(const th_world *world, uint32_t i, th_vec2 p) {
    const th_uic_level *level = &world->uic->levels[world->agents.level[i]];
    const th_staggered *grid = &level->grid;
    if (!level->walled) return false;
    float x = (p.x - grid->origin.x) * 2.0f * grid->inverse_h;
    float y = (p.y - grid->origin.y) * 2.0f * grid->inverse_h;
    if (!(x >= 0.0f && y >= 0.0f && x < (float)(2 * grid->nx) && y < (float)(2 * grid->ny)))
        return true;
    size_t quarter = 4 * (size_t)level->first + (size_t)((int)y * 2 * grid->nx + (int)x);
    return world->uic->quarters[quarter] & TH_UIC_NEAR_WALL;
}

TH_FORMULA push push_on(const th_world *world, const pair_step *step, const th_walls *walls,
                        uint32_t i, const around *near, const float *xs, const float *ys) {
    th_vec2 p = {xs[i], ys[i]};
    float own = step->share * step->half[i], tight = step->tidy ? 1.0f : step->tight * step->tight;
    float reach = own + step->share * step->widest + step->moved;
    push result = {{0.0f, 0.0f}, true, true};
    if (near->count >= 0) result = push_from_around(near, p, own, tight);
    bool pushed = result.coincident || result.sum.x != 0.0f || result.sum.y != 0.0f;
    bool look = pushed && near_wall(world, i, p);
    if (result.coincident || look)
        result.sum = push_one_by_one(world, step, walls, i, xs, ys, reach, look);
    if (world->scene->link_count > 0)
        result.sum = th_add(result.sum, push_over_links(world, step, i, xs, ys, reach));
    return result;
}

// Walls push back within the pair step: whoever is pushed into one would stick to it, and the contact stage
// would press who is pushed out onto the others. No further than the first wall, then off the nearest.
static th_vec2 stop_at_walls(const th_world *world, const th_walls *walls, uint32_t i, th_vec2 p,
                             th_vec2 q) {
    int level = (int)world->agents.level[i], wall;
    float radius = world->agents.radius[i], distance2, t;
    if (th_walls_near(walls, level, q, radius, &wall, &distance2, 1) == 0 &&
        th_length2(th_sub(q, p)) < radius * radius)
        return q;
    if (th_walls_first_crossing(walls, level, p, q, &t) >= 0)
        q = th_add(p, th_scale(0.9f * t, th_sub(q, p)));
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
static void real_velocity(th_world *world, uint32_t i, th_vec2 q) {
    th_agents *a = &world->agents;
    th_vec2 wanted = {a->next_velocity_x[i], a->next_velocity_y[i]};
    float limit = th_max(th_length(wanted), a->speed[i]);
    th_vec2 real = th_limit(th_scale(1.0f / world->dt, th_sub(q, th_position(a, i))), limit);
    a->next_velocity_x[i] = real.x;
    a->next_velocity_y[i] = real.y;
}

// Who has to look, in this pass.
static bool looks(const pair_step *step, uint32_t flags) {
    return flags & (step->tidy ? IS_TIGHT : LOOK_AGAIN);
}

// The people of one cell. Writes work_x, work_y: of all, in a tidying pass of those who look.
TH_FORMULA void pass_cell(th_world *world, const pair_step *step, const th_walls *walls,
                          const th_level_grid *grid, uint32_t begin, uint32_t end, around *near) {
    th_agents *a = &world->agents;
    const float *xs = a->next_position_x, *ys = a->next_position_y;
    uint32_t *flags = a->order;
    bool any = false;
    for (uint32_t i = begin; i < end; ++i) any = any || looks(step, flags[i]);
    if (any) look_around(world, step, grid, xs, ys, begin, end, near);
    for (uint32_t i = begin; i < end; ++i) {
        th_vec2 p = {xs[i], ys[i]};
        if (looks(step, flags[i])) {
            push result = push_on(world, step, walls, i, near, xs, ys);
            bool pushed = result.sum.x != 0.0f || result.sum.y != 0.0f;
            th_vec2 to = th_add(p, th_limit(result.sum, 0.5f * d_min_of(world, i)));
            p = pushed && near_wall(world, i, to) ? stop_at_walls(world, walls, i, p, to) : to;
            flags[i] = (pushed ? LOOK_AGAIN | WAS_PUSHED : flags[i] & WAS_PUSHED) |
                       (result.tight ? IS_TIGHT : 0);
        }
        a->work_x[i] = p.x;
        a->work_y[i] = p.y;
    }
}

TH_CLONES static void pass_row(th_world *world, const pair_step *step, const th_walls *walls, int l,
                               int row) {
    const th_level_grid *grid = &world->index.grids[l];
    const uint32_t *start = world->index.cell_start + grid->first + row * grid->nx;
    around near;
    for (int column = 0; column < grid->nx; ++column)
        if (start[column] < start[column + 1])
            pass_cell(world, step, walls, grid, start[column], start[column + 1], &near);
}

static void pass_level(th_world *world, const pair_step *step, int l) {
    th_walls walls = th_world_walls(world);
    int rows = world->index.grids[l].ny;
#pragma omp parallel for num_threads(world->threads) schedule(dynamic, 2)
    for (int row = 0; row < rows; ++row) pass_row(world, step, &walls, l, row);
}

static void swap_positions(th_agents *a) {
    float *swap_x = a->next_position_x, *swap_y = a->next_position_y;
    a->next_position_x = a->work_x;
    a->next_position_y = a->work_y;
    a->work_x = swap_x;
    a->work_y = swap_y;
}

// After a pass: the next piece of way; how far the furthest is from where the index saw it.
static float walk_on(th_world *world, const pair_step *step) {
    th_agents *a = &world->agents;
    float furthest2 = 0.0f;
#pragma omp parallel for num_threads(world->threads) schedule(static) reduction(max : furthest2)
    for (int i = 0; i < a->count; ++i) {
        if (step->walk_on && is_own(world, (uint32_t)i)) {
            a->next_position_x[i] += step->piece * a->next_velocity_x[i];
            a->next_position_y[i] += step->piece * a->next_velocity_y[i];
            if (step->half[i] > 0.0f) a->order[i] |= LOOK_AGAIN;
        }
        float dx = a->next_position_x[i] - a->position_x[i];
        float dy = a->next_position_y[i] - a->position_y[i];
        float moved2 = dx * dx + dy * dy;
        furthest2 = moved2 > furthest2 ? moved2 : furthest2;
    }
    return sqrtf(furthest2);
}

static int count_tight(const th_world *world) {
    const th_agents *a = &world->agents;
    int tight = 0;
#pragma omp parallel for num_threads(world->threads) schedule(static) reduction(+ : tight)
    for (int i = 0; i < a->count; ++i) tight += (a->order[i] & IS_TIGHT) != 0;
    return tight;
}

// A pass over the tight ones only: the others keep their places, so nothing is copied but theirs.
static void tidy_pass(th_world *world, pair_step *step) {
    step->tidy = true;
    step->share = step->tight;
    for (int l = 0; l < world->uic->level_count; ++l) pass_level(world, step, l);
    step->moved += 0.5f * step->widest;
}

static void finish(th_world *world) {
    th_agents *a = &world->agents;
#pragma omp parallel for num_threads(world->threads) schedule(static)
    for (int i = 0; i < a->count; ++i)
        if (a->order[i] & WAS_PUSHED && is_own(world, (uint32_t)i))
            real_velocity(world, (uint32_t)i, th_v(a->next_position_x[i], a->next_position_y[i]));
}

void th_uic_separate(th_world *world) {
    th_uic *uic = world->uic;
    th_agents *a = &world->agents;
    int passes = 0;
    float separate =
        0.0f; // half the pair distance in d_min, of the group that keeps furthest apart
    for (int g = 0; g < uic->group_count; ++g) {
        if (!uic->groups[g].own || uic->groups[g].passes == 0) continue;
        passes = uic->groups[g].passes > passes ? uic->groups[g].passes : passes;
        separate = th_max(separate, uic->groups[g].separate);
    }
    if (passes == 0) return;
    int pieces = (int)ceilf(world->dt / uic->pair_substep - 1e-3f);
    pieces = pieces < 1 ? 1 : pieces;
    if (passes < pieces) passes = pieces;
    pair_step step = {
        .half = a->work2_x, .give = a->work2_y, .piece = world->dt / (float)pieces, .share = 1.0f};
    step.tight = th_min(0.5f * TIGHT / separate, 1.0f);
    step.moved = begin(world, &step);
    for (int pass = 0; pass < passes; ++pass) {
        step.pass = pass;
        step.walk_on = pass + 1 < passes && (pass + 1) * pieces / passes > pass * pieces / passes;
        for (int l = 0; l < uic->level_count; ++l) pass_level(world, &step, l);
        swap_positions(a);
        step.moved = walk_on(world, &step);
    }
    for (int pass = 0; pass < uic->tidy_passes && count_tight(world) > 0; ++pass) {
        tidy_pass(world, &step);
        swap_positions(a);
    }
    finish(world);
}
