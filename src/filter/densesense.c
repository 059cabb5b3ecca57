// DenseSense: the loop over people. Cost O(people x directions looked at x people in an ellipse of 3.75 x 1.5 m
// around the point ahead); most of the time one direction is looked at. The ellipse is visited row of cells by
// row of cells, straight from the sorted arrays. Model and additions: docs/models/densesense.md.
// SPDX-License-Identifier: Apache-2.0
#include "formula/densesense.h"
#include "core/parallel.h"
#include "filter/filter.h"
#include "formula/lanes.h"
#include "state/nearest.h"
#include "state/neighbours.h"
#include <assert.h>
#include <math.h>
#include <string.h>

enum {
    SCREENS = 32
}; // walls that are looked at, the nearest; more stand around nobody but in a maze

// Walls that show a person their walkable side, ends relative to the person.
typedef struct screens {
    int count;
    float ax[SCREENS], ay[SCREENS], bx[SCREENS], by[SCREENS], depth[SCREENS];
} screens;

// A few people as lanes: the nearest when their number is limited, and those seen across links.
typedef struct few {
    int count;
    _Alignas(TH_ALIGN) float x[TH_LANES], y[TH_LANES];
} few;

// One person and what stays the same for all directions.
typedef struct walker {
    const th_world *world;
    const th_densesense_params *params;
    uint32_t self;
    th_vec2 p, heading; // heading: unit, of the planned velocity
    float speed, pace, reach, prefactor;
    bool everybody; // no limit on the number of neighbours
    screens walls;
    few others;
} walker;

static void list_screens(const th_walls *walls, walker *who, int level) {
    const th_densesense_params *params = who->params;
    screens *list = &who->walls;
    float range = params->obstacle_mode >= 1.5f ? params->density_range
                                                : params->look_ahead + TH_DENSESENSE_FREE_RADIUS;
    list->count = 0;
    if (range <= walls->grids[level].reach && !th_walls_maybe_near(walls, level, who->p)) return;
    int near[2 * SCREENS];
    float distances2[2 * SCREENS];
    int count = th_walls_near(walls, level, who->p, range, near, distances2, 2 * SCREENS);
    for (int k = 0; k < count && list->count < SCREENS; ++k) {
        const th_wall *wall = &walls->walls[near[k]];
        th_vec2 a = th_sub(wall->a, who->p), b = th_sub(wall->b, who->p);
        float depth = th_det(b, a);
        if (depth <= 0.0f) continue; // its back
        int at = list->count++;
        list->ax[at] = a.x;
        list->ay[at] = a.y;
        list->bx[at] = b.x;
        list->by[at] = b.y;
        list->depth[at] = depth;
    }
}

// Marks the lanes whose n, relative to the person, lies behind a wall.
TH_FORMULA void hide(const screens *walls, const float *nx, const float *ny, int *hidden) {
    for (int w = 0; w < walls->count; ++w) {
        float ax = walls->ax[w], ay = walls->ay[w], bx = walls->bx[w], by = walls->by[w],
              depth = walls->depth[w];
        for (int l = 0; l < TH_LANES; ++l)
            hidden[l] |= th_densesense_hides(ax, ay, bx, by, depth, nx[l], ny[l]);
    }
}

// The people begin .. end of the sorted arrays. `sight`: walls hide people.
TH_FORMULA void add_run(const walker *who, const th_densesense_kernel *kernel, th_vec2 q,
                        uint32_t begin, uint32_t end, bool sight, th_lanes *sums) {
    const float *xs = who->world->agents.position_x, *ys = who->world->agents.position_y;
    th_densesense_kernel k = *kernel;
    uint32_t self = who->self;
    for (uint32_t first = begin; first < end; first += TH_LANES) {
        float weight[TH_LANES];
        const float *x = xs + first, *y = ys + first;
        uint32_t left = end - first, own = self - first;
        for (uint32_t l = 0; l < TH_LANES; ++l) {
            float w = th_densesense_weight(&k, x[l] - q.x, y[l] - q.y);
            weight[l] = l < left && l != own ? w : 0.0f;
        }
        if (sight) {
            float nx[TH_LANES], ny[TH_LANES];
            int hidden[TH_LANES] = {0};
            for (int l = 0; l < TH_LANES; ++l) {
                nx[l] = x[l] - who->p.x;
                ny[l] = y[l] - who->p.y;
            }
            hide(&who->walls, nx, ny, hidden);
            for (int l = 0; l < TH_LANES; ++l) weight[l] = hidden[l] ? 0.0f : weight[l];
        }
        for (int l = 0; l < TH_LANES; ++l) sums->lane[l] += weight[l];
    }
}

// Right end, relative to its centre, of the ellipse where |d'| = reach on the line dy; `base` is
// |d'|^2 = xx dx^2 + xy dx dy + yy dy^2 with reach^2 = limit.
TH_FORMULA float ellipse_right(const th_densesense_kernel *k, float determinant, float dy) {
    float root = sqrtf(th_max(k->xx * k->limit - determinant * dy * dy, 0.0f));
    return (root - 0.5f * k->xy * dy) / k->xx;
}

// The columns that the part of the ellipse between two lines dy touches.
typedef struct span {
    float left, right;
} span;

TH_FORMULA span ellipse_span(const th_densesense_kernel *k, float low, float high) {
    float determinant = k->xx * k->yy - 0.25f * k->xy * k->xy;
    float widest = sqrtf(k->limit * k->yy / determinant); // the rightmost point
    float at = -0.5f * k->xy * widest / k->yy;            // and its height
    float right_low = ellipse_right(k, determinant, low),
          right_high = ellipse_right(k, determinant, high);
    // The ellipse is its own mirror image through the centre.
    float left_low = -ellipse_right(k, determinant, -low),
          left_high = -ellipse_right(k, determinant, -high);
    span s;
    s.right = low <= at && at <= high ? widest : th_max(right_low, right_high);
    s.left = low <= -at && -at <= high ? -widest : th_min(left_low, left_high);
    return s;
}

TH_FORMULA float sum_everybody(const walker *who, const th_densesense_kernel *kernel, th_vec2 q,
                               bool sight) {
    const th_world *world = who->world;
    const th_level_grid *grid = &world->index.grids[world->agents.level[who->self]];
    float determinant = kernel->xx * kernel->yy - 0.25f * kernel->xy * kernel->xy;
    float tall = sqrtf(kernel->limit * kernel->xx / determinant);
    int row = th_grid_row(grid, q.y - tall), last = th_grid_row(grid, q.y + tall);
    th_lanes sums = {{0}};
    for (; row <= last; ++row) {
        // Border rows hold everybody beyond them.
        float low = row == 0 ? -tall : grid->origin.y + (float)row * grid->cell - q.y;
        float high =
            row == grid->ny - 1 ? tall : grid->origin.y + (float)(row + 1) * grid->cell - q.y;
        span s = ellipse_span(kernel, th_clamp(low, -tall, tall), th_clamp(high, -tall, tall));
        uint32_t begin, end;
        th_index_run(&world->index, grid, row, th_grid_column(grid, q.x + s.left),
                     th_grid_column(grid, q.x + s.right), &begin, &end);
        add_run(who, kernel, q, begin, end, sight, &sums);
    }
    return th_lanes_sum(&sums);
}

TH_FORMULA float sum_few(const walker *who, const th_densesense_kernel *kernel, th_vec2 q) {
    th_lanes sums;
    for (int l = 0; l < TH_LANES; ++l) {
        float w = th_densesense_weight(kernel, who->others.x[l] - q.x, who->others.y[l] - q.y);
        sums.lane[l] = l < who->others.count ? w : 0.0f;
    }
    return th_lanes_sum(&sums);
}

// FS of eq. 7: how much of the disc around q the person could walk to.
TH_FORMULA float free_space(const walker *who, th_vec2 q, th_vec2 e) {
    float free = 0.0f, all = 0.0f;
    for (int first = 0; first < TH_DENSESENSE_FREE_SAMPLES; first += TH_LANES) {
        float nx[TH_LANES], ny[TH_LANES];
        int hidden[TH_LANES] = {0};
        for (int l = 0; l < TH_LANES; ++l) {
            th_vec2 n = th_add(th_sub(q, who->p), th_densesense_sample(first + l, e));
            nx[l] = n.x;
            ny[l] = n.y;
        }
        hide(&who->walls, nx, ny, hidden);
        for (int l = 0; l < TH_LANES; ++l) {
            float w = th_densesense_sample_weight(who->params, first + l);
            all += w;
            free += hidden[l] ? 0.0f : w;
        }
    }
    return th_max(free / all, TH_DENSESENSE_LEAST_FREE);
}

// Menge's way: every wall whose nearest point to q does not lie behind the person adds to the density.
TH_FORMULA float added_by_walls(const walker *who, th_vec2 q, th_vec2 e) {
    float sum = 0.0f;
    for (int w = 0; w < who->walls.count; ++w) {
        th_vec2 a = {who->walls.ax[w], who->walls.ay[w]}, b = {who->walls.bx[w], who->walls.by[w]};
        th_vec2 ahead = th_sub(q, who->p), nearest = th_nearest_on_segment(ahead, a, b);
        if (th_dot(nearest, e) >= 0.0f)
            sum += th_densesense_wall(who->params, th_length2(th_sub(nearest, ahead)));
    }
    return sum;
}

// The speed that the density in direction e (unit) leaves.
TH_FORMULA float speed_towards(const walker *who, th_vec2 e) {
    const th_densesense_params *params = who->params;
    th_vec2 q = th_add(who->p, th_scale(params->look_ahead, e));
    th_densesense_kernel kernel = th_densesense_kernel_of(params, e, who->reach);
    float sum = 0.0f;
    bool walls = who->walls.count > 0;
    if (who->everybody) {
        bool sight = walls && params->density_sight >= 0.5f;
        sum = sight ? sum_everybody(who, &kernel, q, true) : sum_everybody(who, &kernel, q, false);
    }
    if (who->others.count > 0) sum += sum_few(who, &kernel, q);
    float rho = who->prefactor * sum;
    if (walls && params->obstacle_mode >= 1.5f)
        rho += added_by_walls(who, q, e);
    else if (walls && params->obstacle_mode >= 0.5f && rho > 0.0f)
        rho /= free_space(who, q, e);
    return th_densesense_speed(who->pace, th_densesense_room(params, rho), who->speed);
}

TH_FORMULA th_vec2 direction_of(const walker *who, th_vec2 turn) {
    th_vec2 h = who->heading;
    return th_v(turn.x * h.x - turn.y * h.y, turn.y * h.x + turn.x * h.y);
}

typedef struct choice {
    float angle, speed;
    th_vec2 direction;
} choice;

// The best direction of the arc, if it is better than `kept` by more than the hysteresis. From the middle
// outwards, right before left, so that of equals the first is the one with the smaller angle.
TH_FORMULA choice search_arc(const walker *who, choice kept, int half, float spacing) {
    float remain = 1.0f - who->params->arc_hysteresis, s = who->speed;
    float best2 =
        remain * remain * th_densesense_cost2(s, kept.speed, th_dot(kept.direction, who->heading));
    choice best = kept;
    for (int n = 0; n <= 2 * half; ++n) {
        float angle = spacing * (float)(n & 1 ? -(n + 1) / 2 : n / 2);
        if (angle == kept.angle) continue;
        th_vec2 turn = th_densesense_turn(angle);
        // No speed brings anybody nearer than this, here or farther out.
        if (s * turn.y * (s * turn.y) >= best2) break;
        choice tried = {angle, 0.0f, direction_of(who, turn)};
        tried.speed = speed_towards(who, tried.direction);
        float cost2 = th_densesense_cost2(s, tried.speed, turn.x);
        if (cost2 >= best2) continue;
        best = tried;
        best2 = cost2;
    }
    return best;
}

// Whose turn it is to look around: everybody once in arc_interval, not all in the same step.
TH_FORMULA bool is_due(const th_world *world, const th_densesense_params *params, uint32_t id) {
    uint32_t period = (uint32_t)th_max(params->arc_interval / world->dt + 0.5f, 1.0f);
    uint32_t mixed =
        (id * 2654435761u) >> 16; // Knuth's multiplicative hash: neighbours in id differ
    return (world->step_count + mixed) % period == 0;
}

TH_FORMULA void filter_walker(th_world *world, const walker *who) {
    const th_densesense_params *params = who->params;
    th_agents *agents = &world->agents;
    uint32_t i = who->self;
    int half = ((int)params->arc_samples - 1) / 2;
    float spacing = half > 0 ? params->arc_width * 0.0174532925f / (float)half : 0.0f;
    float turned = spacing > 0.0f ? floorf(agents->turn[i] / spacing + 0.5f) : 0.0f;
    choice kept = {spacing * th_clamp(turned, -(float)half, (float)half), 0.0f, who->heading};
    if (kept.angle != 0.0f) kept.direction = direction_of(who, th_densesense_turn(kept.angle));
    kept.speed = speed_towards(who, kept.direction);
    bool unhindered = kept.speed >= who->speed;
    // Who walks freely in another direction than planned looks at once whether the way is clear again.
    bool looks = kept.angle != 0.0f ? unhindered || is_due(world, params, agents->id[i])
                                    : !unhindered && is_due(world, params, agents->id[i]);
    if (looks && spacing > 0.0f) kept = search_arc(who, kept, half, spacing);
    agents->turn[i] = kept.angle;
    if (kept.angle == 0.0f && kept.speed >= who->speed) return; // as planned, to the bit
    agents->preferred_x[i] = kept.speed * kept.direction.x;
    agents->preferred_y[i] = kept.speed * kept.direction.y;
}

TH_FORMULA void add_few(const th_world *world, const uint32_t *agent, int count, few *others) {
    for (int k = 0; k < count; ++k) {
        others->x[k] = world->agents.position_x[agent[k]];
        others->y[k] = world->agents.position_y[agent[k]];
    }
    others->count = count;
}

// Of the nearest, those not behind a wall.
TH_FORMULA void drop_hidden(const screens *walls, th_vec2 p, few *others) {
    float nx[TH_LANES], ny[TH_LANES];
    int hidden[TH_LANES] = {0}, kept = 0;
    for (int l = 0; l < TH_LANES; ++l) {
        nx[l] = others->x[l] - p.x;
        ny[l] = others->y[l] - p.y;
    }
    hide(walls, nx, ny, hidden);
    for (int k = 0; k < others->count; ++k) {
        others->x[kept] = others->x[k];
        others->y[kept] = others->y[k];
        kept += !hidden[k];
    }
    others->count = kept;
}

static_assert((int)TH_NEAREST_MAX <= (int)TH_LANES, "the nearest fit the lanes");

TH_FORMULA void gather_few(walker *who, th_candidates *list) {
    const th_world *world = who->world;
    const th_densesense_params *params = who->params;
    bool links = world->scene->link_count > 0;
    few *others = &who->others;
    others->count = 0;
    if (who->everybody && !links) return;
    for (int l = 0; l < TH_LANES; ++l) { // harmless strangers
        others->x[l] = who->p.x;
        others->y[l] = who->p.y;
    }
    if (who->everybody) {
        uint32_t found[TH_LANES];
        add_few(world, found,
                th_linked_neighbours(world, who->self, params->density_range, found, TH_LANES),
                others);
        return;
    }
    th_nearest nearest;
    int wanted = (int)params->density_neighbours;
    th_find_nearest(world, list, who->self, wanted, params->density_range, &nearest);
    if (links) th_nearest_add_linked(world, who->self, wanted, params->density_range, &nearest);
    add_few(world, nearest.agent, nearest.count, others);
    if (who->walls.count > 0 && params->density_sight >= 0.5f)
        drop_hidden(&who->walls, who->p, others);
}

TH_CLONES static void filter_block(th_world *world, const th_walls *walls, int begin, int end) {
    const th_agents *agents = &world->agents;
    th_candidates list;
    list.count = -1;
    for (int i = begin; i < end; ++i) {
        const th_group_state *group = &world->groups[agents->group[i]];
        if (agents->phase[i] != TH_PHASE_WALKING || group->filter != TH_FILTER_DENSESENSE) continue;
        th_vec2 preferred = {agents->preferred_x[i], agents->preferred_y[i]};
        float speed = th_length(preferred);
        if (!(speed > 1e-6f)) continue;
        th_densesense_params params;
        memcpy(&params, group->filter_params, sizeof params);
        walker who;
        who.world = world;
        who.params = &params;
        who.self = (uint32_t)i;
        who.p = th_position(agents, (uint32_t)i);
        who.heading = th_scale(1.0f / speed, preferred);
        who.speed = speed;
        who.pace = th_densesense_pace(&params, world->seed, agents->id[i]);
        who.everybody = params.density_neighbours < 1.0f;
        who.reach = who.everybody ? th_densesense_reach(&params) : 1e3f;
        who.prefactor = th_densesense_prefactor(&params, who.reach);
        who.walls.count = 0;
        if (walls->count > 0) list_screens(walls, &who, (int)agents->level[i]);
        gather_few(&who, &list);
        filter_walker(world, &who);
    }
}

void th_filter_densesense(th_world *world) {
    bool any = false;
    for (int g = 0; g < world->group_count; ++g)
        any =
            any || (!world->groups[g].scripted && world->groups[g].filter == TH_FILTER_DENSESENSE);
    if (!any) return;
    th_walls walls = th_world_walls(world);
    int count = world->agents.count, blocks = th_block_count(count);
#pragma omp parallel for num_threads(world->threads) schedule(dynamic, 1)
    for (int b = 0; b < blocks; ++b)
        filter_block(world, &walls, b * TH_BLOCK,
                     (b + 1) * TH_BLOCK < count ? (b + 1) * TH_BLOCK : count);
}
