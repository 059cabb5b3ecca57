// DenseSense: the loop over people. Cost O(people x (people in a box around the Gaussian ahead + directions
// looked at x the same / 16)); most of the time one direction is looked at. Whoever may count is copied
// together first, so that the sums run over plain arrays without a branch. Model, additions and what is left
// out: docs/models/densesense.md. SPDX-License-Identifier: Apache-2.0
#include "filter/densesense/densesense.h"
#include "core/parallel.h"
#include "formula/lanes.h"
#include "state/nearest.h"
#include "state/neighbours.h"
#include <math.h>
#include <string.h>

enum { SCREENS = 64 }; // walls looked at; more stand around nobody but in a maze

// Walls that show a person their walkable side, ends relative to the person.
typedef struct screens {
    int count;
    float ax[SCREENS], ay[SCREENS], bx[SCREENS], by[SCREENS], depth[SCREENS];
} screens;

// Whoever may count. Full at about 40 people per m2 with the default parameters, where nobody walks any more; the
// rest is then left out.
// A GPU's thread has less room of its own: there it is full at about 10 people per m2.
#ifdef TH_DEVICE_CODE
enum { AROUND = 512 };
#else
enum { AROUND = 2048 };
#endif
typedef struct around {
    int count; // a multiple of TH_LANES; what is no person is far away; all relative to the walker
    _Alignas(TH_ALIGN) float x[AROUND + (int)TH_LANES], y[AROUND + (int)TH_LANES];
} around;
static const float ELSEWHERE = 1e9f; // [m]

// What all of a group have in common, and one person of it.
typedef struct walker {
    const th_world *world;
    const th_densesense_params *params;
    float reach, prefactor;
    bool everybody; // no limit on the number of neighbours
    bool sight, free_space, additive;
    uint32_t self;
    int level;
    th_vec2 p, heading; // heading: unit, of the planned velocity
    float speed, pace;
    screens walls;
} walker;

TH_BOTH static void add_screen(const th_wall *wall, walker *who) {
    th_vec2 a = th_sub(wall->a, who->p), b = th_sub(wall->b, who->p);
    float depth = th_det(b, a);
    if (depth <= 0.0f || who->walls.count == SCREENS) return; // its back
    int at = who->walls.count++;
    who->walls.ax[at] = a.x;
    who->walls.ay[at] = a.y;
    who->walls.bx[at] = b.x;
    who->walls.by[at] = b.y;
    who->walls.depth[at] = depth;
}

// Farther than the wall grid answers from one cell: tiles around the person, each small enough to be
// answered for from the cell in its middle. A wall belongs to the tile of its nearest point, so it comes once.
TH_BOTH static void list_far_screens(const th_walls *walls, walker *who, float range) {
    const th_wall_grid *grid = &walls->grids[who->level];
    const float tile = 1.2f * grid->reach, half_diagonal = 0.7072f * tile;
    bool ahead_only =
        who->params->arc_samples < 3.0f; // what lies behind does not count in any direction
    int most = (int)ceilf(range / tile);
    for (int row = -most; row <= most; ++row)
        for (int column = -most; column <= most; ++column) {
            th_vec2 to = {(float)column * tile, (float)row * tile};
            if (th_length(to) > range + half_diagonal ||
                (ahead_only && th_dot(to, who->heading) < -half_diagonal))
                continue;
            const int *list = NULL;
            int count = th_wall_cell(grid, th_add(who->p, to), &list);
            for (int k = 0; k < count; ++k) {
                const th_wall *wall = &walls->walls[list[k]];
                if (th_det(wall->direction, th_sub(who->p, wall->a)) >= 0.0f) continue; // its back
                th_vec2 n = th_sub(th_nearest_on_segment(who->p, wall->a, wall->b), who->p);
                if (floorf(n.x / tile + 0.5f) == (float)column &&
                    floorf(n.y / tile + 0.5f) == (float)row && th_length2(n) <= range * range &&
                    th_wall_stands(walls, wall))
                    add_screen(wall, who);
            }
        }
    for (int w = walls->scene_count; w < walls->count; ++w) {
        const th_wall *wall = &walls->walls[w];
        th_vec2 n = th_sub(th_nearest_on_segment(who->p, wall->a, wall->b), who->p);
        if (wall->level == who->level && th_wall_stands(walls, wall) &&
            th_length2(n) <= range * range)
            add_screen(wall, who);
    }
}

TH_BOTH static void list_screens(const th_walls *walls, walker *who) {
    int level = who->level;
    float range = who->additive ? who->params->density_range
                                : who->params->look_ahead + TH_DENSESENSE_FREE_RADIUS;
    if (range > walls->grids[level].reach) {
        list_far_screens(walls, who, range);
        return;
    }
    if (!th_walls_maybe_near(walls, level, who->p)) return;
    int near[2 * SCREENS];
    float distances2[2 * SCREENS];
    int count = th_walls_near(walls, level, who->p, range, near, distances2, 2 * SCREENS);
    for (int k = 0; k < count; ++k) add_screen(&walls->walls[near[k]], who);
}

// Marks the lanes whose point, relative to the person, lies behind a wall.
TH_FORMULA void hide(const screens *walls, const float *x, const float *y, int *hidden) {
    for (int w = 0; w < walls->count; ++w) {
        float ax = walls->ax[w], ay = walls->ay[w], bx = walls->bx[w], by = walls->by[w],
              depth = walls->depth[w];
#pragma omp simd
        for (int l = 0; l < TH_LANES; ++l)
            hidden[l] |= th_densesense_hides(ax, ay, bx, by, depth, x[l], y[l]);
    }
}

// Fills up the last lanes.
TH_FORMULA void fill_up(around *list) {
    for (int l = 0; l < TH_LANES; ++l)
        list->x[list->count + l] = list->y[list->count + l] = ELSEWHERE;
    list->count = (list->count + TH_LANES - 1) / TH_LANES * TH_LANES;
}

// Moves those behind walls far away.
TH_FORMULA void drop_behind_walls(const walker *who, around *list) {
    if (!who->sight || who->walls.count == 0) return;
    for (int first = 0; first < list->count; first += TH_LANES) {
        int hidden[TH_LANES] = {0};
        float *x = list->x + first;
        hide(&who->walls, x, list->y + first, hidden);
        for (int l = 0; l < TH_LANES; ++l) x[l] = hidden[l] ? ELSEWHERE : x[l];
    }
}

// Everybody but the person within the box; whole registers are copied, and the next run writes over what was
// too much.
TH_FORMULA void list_box(const walker *who, const th_box *box, around *list) {
    const th_world *world = who->world;
    const th_agents *agents = &world->agents;
    const th_level_grid *grid = &world->index.grids[who->level];
    const th_vec2 p = who->p;
    int column0 = th_grid_column(grid, box->min_x), column1 = th_grid_column(grid, box->max_x);
    int last = th_grid_row(grid, box->max_y), count = 0;
    for (int row = th_grid_row(grid, box->min_y); row <= last; ++row) {
        uint32_t begin, end;
        th_index_run(&world->index, grid, row, column0, column1, &begin, &end);
        int run = (int)(end - begin) < AROUND - count ? (int)(end - begin) : AROUND - count;
        const float *xs = agents->position_x + begin, *ys = agents->position_y + begin;
        for (int first = 0; first < run; first += TH_LANES) {
#pragma omp simd
            for (int k = first; k < first + TH_LANES; ++k) {
                list->x[count + k] = xs[k] - p.x;
                list->y[count + k] = ys[k] - p.y;
            }
        }
        uint32_t own = who->self - begin;
        if (own < (uint32_t)run) list->x[count + (int)own] = ELSEWHERE;
        count += run;
    }
    list->count = count;
    if (world->scene->link_count > 0) {
        enum { MOST = 16 };
        uint32_t found[MOST];
        int more = th_linked_neighbours(world, who->self, who->params->density_range, found, MOST);
        for (int k = 0; k < more && list->count < AROUND; ++k, ++list->count) {
            list->x[list->count] = agents->position_x[found[k]] - p.x;
            list->y[list->count] = agents->position_y[found[k]] - p.y;
        }
    }
    fill_up(list);
}

// The nearest, when only so many count.
TH_FORMULA void list_nearest(const walker *who, th_candidates *candidates, around *list) {
    const th_world *world = who->world;
    th_nearest nearest;
    int wanted = (int)who->params->density_neighbours;
    float range = who->params->density_range;
#ifdef TH_DEVICE_CODE
    (void)candidates;
    th_nearest_by_insertion(world, who->self, range, wanted, &nearest);
#else
    th_find_nearest(world, candidates, who->self, wanted, range, &nearest);
#endif
    if (world->scene->link_count > 0)
        th_nearest_add_linked(world, who->self, wanted, range, &nearest);
    for (int k = 0; k < nearest.count; ++k) {
        list->x[k] = world->agents.position_x[nearest.agent[k]] - who->p.x;
        list->y[k] = world->agents.position_y[nearest.agent[k]] - who->p.y;
    }
    list->count = nearest.count;
    fill_up(list);
}

// Eq. 3 without the prefactor. `cut`: the kernel ends where the Gaussian is cut.
TH_FORMULA float sum_weights(const th_densesense_kernel *kernel, th_vec2 q, const around *list,
                             bool cut) {
    const th_densesense_kernel k = *kernel;
    th_lanes sums = {{0}};
    for (int first = 0; first < list->count; first += TH_LANES) {
        const float *x = list->x + first, *y = list->y + first;
#pragma omp simd
        for (int l = 0; l < TH_LANES; ++l) {
            float dx = x[l] - q.x, dy = y[l] - q.y;
            sums.lane[l] += cut ? th_densesense_weight_within_cut(&k, dx, dy)
                                : th_densesense_weight(&k, dx, dy);
        }
    }
    return th_lanes_sum(&sums);
}

// FS of eq. 7: how much of the disc around q the person could walk to. From here on q is relative to him.
TH_FORMULA float free_space(const walker *who, th_vec2 q, th_vec2 e) {
    float free = 0.0f, all = 0.0f;
    for (int first = 0; first < TH_DENSESENSE_FREE_SAMPLES; first += TH_LANES) {
        float x[TH_LANES], y[TH_LANES];
        int hidden[TH_LANES] = {0};
        for (int l = 0; l < TH_LANES; ++l) {
            th_vec2 point = th_add(q, th_densesense_sample(first + l, e));
            x[l] = point.x;
            y[l] = point.y;
        }
        hide(&who->walls, x, y, hidden);
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
        th_vec2 nearest = th_nearest_on_segment(q, a, b);
        if (th_dot(nearest, e) >= 0.0f)
            sum += th_densesense_wall(who->params, th_length2(th_sub(nearest, q)));
    }
    return sum;
}

// The speed that the density in direction e (unit) leaves.
TH_FORMULA float speed_towards(const walker *who, const around *list, th_vec2 e) {
    const th_densesense_params *params = who->params;
    th_vec2 q = th_scale(params->look_ahead, e);
    th_densesense_kernel kernel = th_densesense_kernel_of(params, e, who->reach);
    float sum =
        who->everybody ? sum_weights(&kernel, q, list, true) : sum_weights(&kernel, q, list, false);
    float rho = who->prefactor * sum;
    if (who->walls.count > 0) {
        if (who->additive) rho += added_by_walls(who, q, e);
        if (who->free_space && rho > 0.0f) rho /= free_space(who, q, e);
    }
    return th_densesense_speed(who->pace, th_densesense_room(params, rho), who->speed);
}

TH_FORMULA th_vec2 direction_of(const walker *who, th_vec2 turn) {
    th_vec2 h = who->heading;
    return th_v(turn.x * h.x - turn.y * h.y, turn.y * h.x + turn.x * h.y);
}

typedef struct choice {
    float angle, speed;
    th_vec2 turn, direction; // cosine and sine of the angle
} choice;

// Widens the box to all that counts in direction e.
TH_FORMULA void cover(const walker *who, th_vec2 e, th_box *box) {
    float flat = 1.0f / (who->params->lateral_stretch * who->params->lateral_stretch);
    float wide = who->reach * sqrtf(e.x * e.x + flat * e.y * e.y),
          tall = who->reach * sqrtf(e.y * e.y + flat * e.x * e.x);
    th_vec2 q = th_add(who->p, th_scale(who->params->look_ahead, e));
    box->min_x = th_min(box->min_x, q.x - wide);
    box->max_x = th_max(box->max_x, q.x + wide);
    box->min_y = th_min(box->min_y, q.y - tall);
    box->max_y = th_max(box->max_y, q.y + tall);
}
TH_FORMULA th_box nothing(void) {
    th_box box = {1e30f, 1e30f, -1e30f, -1e30f};
    return box;
}

// Direction n of the arc, from the middle outwards, right before left.
TH_FORMULA float arc_angle(float spacing, int n) {
    return spacing * (float)(n & 1 ? -(n + 1) / 2 : n / 2);
}

// The best direction of the arc, if it is better than `kept` by more than the hysteresis. Of equals the first
// is taken, the one with the smaller angle.
TH_FORMULA choice search_arc(const walker *who, around *list, choice kept, int half,
                             float spacing) {
    float remain = 1.0f - who->params->arc_hysteresis, s = who->speed;
    float best2 = remain * remain * th_densesense_cost2(s, kept.speed, kept.turn.x);
    int count = 0;
    choice best = kept, tried[2 * TH_DENSESENSE_ARC_MOST + 1];
    th_box box = nothing();
    for (; count <= 2 * half; ++count) {
        float angle = arc_angle(spacing, count);
        th_vec2 turn = th_densesense_turn(angle);
        // No speed brings anybody nearer than this, here or farther out.
        if (s * turn.y * (s * turn.y) >= best2) break;
        tried[count] = (choice){angle, 0.0f, turn, direction_of(who, turn)};
        cover(who, tried[count].direction, &box);
    }
    if (who->everybody && count > 0) {
        list_box(who, &box, list);
        drop_behind_walls(who, list);
    }
    for (int n = 0; n < count; ++n) {
        if (tried[n].angle == kept.angle) continue;
        float aside = s * tried[n].turn.y;
        if (aside * aside >= best2) break;
        tried[n].speed = speed_towards(who, list, tried[n].direction);
        float cost2 = th_densesense_cost2(s, tried[n].speed, tried[n].turn.x);
        if (cost2 >= best2) continue;
        best = tried[n];
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

TH_FORMULA void filter_walker(th_world *world, const walker *who, th_candidates *candidates,
                              around *list) {
    const th_densesense_params *params = who->params;
    th_agents *agents = &world->agents;
    uint32_t i = who->self;
    float *own_turn = &th_own_floats(world, TH_FILTER_DENSESENSE, 0)[i];
    int half = ((int)params->arc_samples - 1) / 2;
    float spacing = half > 0 ? params->arc_width * 0.0174532925f / (float)half : 0.0f;
    float turned = spacing > 0.0f ? floorf(*own_turn / spacing + 0.5f) : 0.0f;
    choice kept = {
        spacing * th_clamp(turned, -(float)half, (float)half), 0.0f, {1.0f, 0.0f}, who->heading};
    if (kept.angle != 0.0f) {
        kept.turn = th_densesense_turn(kept.angle);
        kept.direction = direction_of(who, kept.turn);
    }
    if (who->everybody) {
        th_box box = nothing();
        cover(who, kept.direction, &box);
        list_box(who, &box, list);
    } else {
        list_nearest(who, candidates, list);
    }
    drop_behind_walls(who, list);
    kept.speed = speed_towards(who, list, kept.direction);
    bool unhindered = kept.speed >= who->speed;
    // Who walks freely in another direction than planned looks at once whether the way is clear again.
    bool looks = kept.angle != 0.0f ? unhindered || is_due(world, params, agents->id[i])
                                    : !unhindered && is_due(world, params, agents->id[i]);
    if (looks && spacing > 0.0f) kept = search_arc(who, list, kept, half, spacing);
    *own_turn = kept.angle;
    if (kept.angle == 0.0f && kept.speed >= who->speed) return; // as planned, to the bit
    agents->preferred_x[i] = kept.speed * kept.direction.x;
    agents->preferred_y[i] = kept.speed * kept.direction.y;
}

TH_BOTH static void take_group(walker *who, const th_group_state *group) {
    const th_densesense_params *params =
        (const th_densesense_params *)(const void *)group->filter_params;
    who->params = params;
    who->everybody = params->density_neighbours < 1.0f;
    who->reach = who->everybody ? th_densesense_reach(params) : 1e3f;
    who->prefactor = th_densesense_prefactor(params, who->reach);
    who->sight = params->density_sight >= 0.5f;
    who->additive = params->obstacle_mode >= 1.5f;
    who->free_space = !who->additive && params->obstacle_mode >= 0.5f;
}

TH_FORMULA bool is_filtered(const th_world *world, int i) {
    const th_agents *agents = &world->agents;
    return agents->phase[i] == TH_PHASE_WALKING &&
           world->groups[agents->group[i]].filter == TH_FILTER_DENSESENSE;
}

// `who` knows its group already.
TH_FORMULA void filter_one(th_world *world, const th_walls *walls, walker *who,
                           th_candidates *candidates, around *list, int i) {
    const th_agents *agents = &world->agents;
    th_vec2 preferred = {agents->preferred_x[i], agents->preferred_y[i]};
    who->world = world;
    who->speed = th_length(preferred);
    if (!(who->speed > 1e-6f)) return;
    who->self = (uint32_t)i;
    who->level = (int)agents->level[i];
    who->p = th_position(agents, (uint32_t)i);
    who->heading = th_scale(1.0f / who->speed, preferred);
    who->pace = th_densesense_pace(who->params, world->seed, agents->id[i]);
    who->walls.count = 0;
    if (walls->count > 0) list_screens(walls, who);
    filter_walker(world, who, candidates, list);
}

#ifndef TH_DEVICE_CODE // the CPU's loop
TH_CLONES static void filter_block(th_world *world, const th_walls *walls, int begin, int end) {
    const th_agents *agents = &world->agents;
    th_candidates candidates;
    around list;
    candidates.count = -1;
    walker who;
    uint32_t of_group = UINT32_MAX;
    for (int i = begin; i < end; ++i) {
        if (!is_filtered(world, i)) continue;
        if (agents->group[i] != of_group) take_group(&who, &world->groups[agents->group[i]]);
        of_group = agents->group[i];
        filter_one(world, walls, &who, &candidates, &list, i);
    }
}

static void run(th_world *world, int model) {
    (void)model;
    th_walls walls = th_world_walls(world);
    int count = world->agents.count, blocks = th_block_count(count);
#pragma omp parallel for num_threads(world->threads) schedule(dynamic, 1)
    for (int b = 0; b < blocks; ++b)
        filter_block(world, &walls, b * TH_BLOCK,
                     (b + 1) * TH_BLOCK < count ? (b + 1) * TH_BLOCK : count);
}

// Per person: from the planned to the filtered direction, left positive.
static const th_field_info fields[] = {
    {.name = "turn",
     .is_float = true,
     .doc = "from the planned to the filtered direction, left positive [rad]"}};
static const th_param_info params[] = {TH_DENSESENSE_PARAMS(TH_PARAM_INFO)};
TH_DENSESENSE_PRESETS(TH_PRESET_VALUES)
static const th_preset_info presets[] = {TH_DENSESENSE_PRESETS(TH_PRESET_INFO)};
const th_model th_filter_densesense_model = {
    .cookie = TH_MODEL_COOKIE,
    .stage = TH_STAGE_FILTER,
    .name = "densesense",
    .doc = "slower where it is dense ahead, and around it where there is room",
    .source = "Best, Narang, Curtis, Manocha 2014",
    .params = params,
    .param_count = TH_COUNT_OF(params),
    .presets = presets,
    .preset_count = TH_COUNT_OF(presets),
    .fields = fields,
    .field_count = TH_COUNT_OF(fields),
    .run = run,
};
#endif
