// ORCA on the CPU: nearest neighbours by cells, half-planes, linear programs. Cost O(agents x
// candidates of 3 x 3 cells). People of one cell share a list of candidates; the ten nearest are
// found by counting, for each candidate, how many are nearer, which is vector code without branches.
// SPDX-License-Identifier: Apache-2.0
#include "formula/orca.h"
#include "core/parallel.h"
#include "formula/random.h"
#include "formula/segment.h"
#include "move/move.h"
#include "move/neighbours.h"
#include <assert.h>
#include <math.h>
#include <string.h>

enum { CANDIDATES = 1024, SHORT_LIST = 32 };

// People near one cell, copied together.
typedef struct candidate_list {
    int level, column, row, half;     // cells column +- half, row +- half of that level
    int count;                        // -1: none yet; CANDIDATES + 1: too many to list
    float density;                    // of the cells [1/m2]
    float min_x, min_y, max_x, max_y; // all people in this box are listed
    _Alignas(TH_ALIGN) float x[CANDIDATES], y[CANDIDATES], distance2[CANDIDATES];
    uint32_t agent[CANDIDATES], id[CANDIDATES];
} candidate_list;

typedef struct neighbour_list {
    int count;
    uint32_t agent[TH_ORCA_NEIGHBOURS];
} neighbour_list;

static void list_candidates(const th_world *world, candidate_list *list, int half) {
    const th_agents *agents = &world->agents;
    const th_level_grid *grid = &world->index.grids[list->level];
    int column0 = list->column - half, column1 = list->column + half, row0 = list->row - half,
        row1 = list->row + half;
    // Border cells hold everybody beyond them, so a side on the border has no end.
    const float far = 1e30f;
    list->min_x = column0 <= 0 ? -far : grid->origin.x + (float)column0 * grid->cell;
    list->max_x =
        column1 >= grid->nx - 1 ? far : grid->origin.x + (float)(column1 + 1) * grid->cell;
    list->min_y = row0 <= 0 ? -far : grid->origin.y + (float)row0 * grid->cell;
    list->max_y = row1 >= grid->ny - 1 ? far : grid->origin.y + (float)(row1 + 1) * grid->cell;
    column0 = column0 < 0 ? 0 : column0;
    row0 = row0 < 0 ? 0 : row0;
    column1 = column1 > grid->nx - 1 ? grid->nx - 1 : column1;
    row1 = row1 > grid->ny - 1 ? grid->ny - 1 : row1;
    list->half = half;
    list->count = 0;
    for (int row = row0; row <= row1; ++row) {
        uint32_t begin, end;
        th_index_run(&world->index, grid, row, column0, column1, &begin, &end);
        int run = (int)(end - begin);
        if (list->count + run > CANDIDATES) {
            list->count = CANDIDATES + 1;
            return;
        }
        memcpy(list->x + list->count, agents->position_x + begin, (size_t)run * sizeof *list->x);
        memcpy(list->y + list->count, agents->position_y + begin, (size_t)run * sizeof *list->y);
        memcpy(list->id + list->count, agents->id + begin, (size_t)run * sizeof *list->id);
        for (int k = 0; k < run; ++k) list->agent[list->count + k] = begin + (uint32_t)k;
        list->count += run;
    }
    float side = (float)(2 * half + 1) * grid->cell;
    list->density = (float)list->count / (side * side);
}

// How wide to look: until a circle inside the listed cells is likely to hold `wanted` people.
static void list_for_cell(const th_world *world, candidate_list *list, int level, int column,
                          int row, int wanted, float range) {
    list->level = level;
    list->column = column;
    list->row = row;
    float cell = world->index.grids[level].cell;
    int widest = (int)ceilf(range / cell);
    for (int half = 1;; ++half) {
        list_candidates(world, list, half);
        float radius = (float)half * cell;
        bool enough = list->density * 3.14159265f * radius * radius >= 1.1f * (float)wanted;
        if (enough || half >= widest || list->count > CANDIDATES) return;
    }
}

// Exact fallback for crowds too dense to list: one by one, kept sorted.
static void nearest_by_insertion(const th_world *world, uint32_t i, float range, int wanted,
                                 neighbour_list *nearest) {
    const th_agents *agents = &world->agents;
    const th_level_grid *grid = &world->index.grids[agents->level[i]];
    th_vec2 p = th_position(agents, i);
    float distances2[TH_ORCA_NEIGHBOURS], limit2 = range * range;
    th_rows rows = th_rows_around(grid, p, range);
    int count = 0;
    for (uint32_t begin, end; th_next_run(&world->index, grid, &rows, &begin, &end);) {
        for (uint32_t j = begin; j < end; ++j) {
            float distance2 = th_length2(th_sub(th_position(agents, j), p));
            if (distance2 > limit2 || j == i) continue;
            if (count == wanted && distance2 == limit2 &&
                agents->id[j] > agents->id[nearest->agent[count - 1]])
                continue;
            int at = count < wanted ? count++ : wanted - 1;
            for (; at > 0 && (distances2[at - 1] > distance2 ||
                              (distances2[at - 1] == distance2 &&
                               agents->id[nearest->agent[at - 1]] > agents->id[j]));
                 --at) {
                distances2[at] = distances2[at - 1];
                nearest->agent[at] = nearest->agent[at - 1];
            }
            distances2[at] = distance2;
            nearest->agent[at] = j;
            if (count == wanted) limit2 = distances2[wanted - 1];
        }
    }
    nearest->count = count;
}

// Which candidates are nearer than sqrt(limit2). Without a branch: every index is written, and kept only
// when the counter moves on.
TH_FORMULA int shorten_list(const candidate_list *list, float limit2, uint16_t *near) {
    int count = 0;
    for (int k = 0; k < list->count; ++k) {
        near[count] = (uint16_t)k;
        count += list->distance2[k] < limit2;
    }
    return count;
}

// The `wanted` nearest of the short list in order of (distance, id): an entry's place is the number of
// entries before it. Both parts of the key go into one integer: the bits of a float that is not negative
// sort like the float.
TH_FORMULA void rank_short_list(const candidate_list *list, const uint16_t *near, int count,
                                uint32_t self, int wanted, neighbour_list *nearest) {
    uint64_t key[SHORT_LIST];
    int64_t place[SHORT_LIST] = {0};
    uint32_t agent[SHORT_LIST];
    int kept = 0;
    for (int k = 0; k < count; ++k) {
        uint32_t bits;
        memcpy(&bits, &list->distance2[near[k]], sizeof bits);
        key[kept] = (uint64_t)bits << 32 | list->id[near[k]];
        agent[kept] = list->agent[near[k]];
        kept += agent[kept] != self;
    }
    for (int k = kept; k < SHORT_LIST; ++k) key[k] = UINT64_MAX;
    // Half the lanes at a time: usually all entries are in the first.
    for (int base = 0; base < kept; base += SHORT_LIST / 2)
        for (int j = 0; j < kept; ++j) {
            uint64_t other = key[j];
#pragma omp simd
            for (int k = 0; k < SHORT_LIST / 2; ++k) place[base + k] += other < key[base + k];
        }
    nearest->count = kept < wanted ? kept : wanted;
    for (int k = 0; k < kept; ++k)
        if (place[k] < wanted) nearest->agent[place[k]] = agent[k];
}

TH_FORMULA void find_nearest(const th_world *world, candidate_list *list, uint32_t i,
                             const th_orca_params *params, neighbour_list *nearest) {
    const th_agents *agents = &world->agents;
    int wanted = (int)params->max_neighbours;
    float range = params->neighbour_range;
    th_vec2 p = th_position(agents, i);
    const th_level_grid *grid = &world->index.grids[agents->level[i]];
    int column = th_grid_column(grid, p.x), row = th_grid_row(grid, p.y);
    if (list->count < 0 || list->column != column || list->row != row ||
        list->level != (int)agents->level[i])
        list_for_cell(world, list, (int)agents->level[i], column, row, wanted + 1, range);
    for (;;) {
        if (list->count > CANDIDATES) {
            nearest_by_insertion(world, i, range, wanted, nearest);
            return;
        }
        // Everybody within `sure` of p is listed.
        float sure = th_min(th_min(p.x - list->min_x, list->max_x - p.x),
                            th_min(p.y - list->min_y, list->max_y - p.y));
        float limit2 = th_min(sure, range) * th_min(sure, range);
        // A circle that should hold a few more than wanted, so that the short list is short.
        float likely2 = 1.25f * (float)(wanted + 1) / (3.14159265f * th_max(list->density, 1e-3f));
        int count = list->count;
        float *distance2s = list->distance2;
        const float *xs = list->x, *ys = list->y;
#pragma omp simd
        for (int k = 0; k < count; ++k) {
            float dx = xs[k] - p.x, dy = ys[k] - p.y;
            distance2s[k] = dx * dx + dy * dy;
        }
        uint16_t near[CANDIDATES + 1];
        int found = shorten_list(list, th_min(limit2, likely2), near); // counts the person itself
        if (found <= wanted && likely2 < limit2) found = shorten_list(list, limit2, near);
        if (found > SHORT_LIST) {
            nearest_by_insertion(world, i, range, wanted, nearest);
            return;
        }
        if (found > wanted || sure >= range) {
            rank_short_list(list, near, found, i, wanted, nearest);
            return;
        }
        list_candidates(world, list, list->half + 1); // too few in the sure circle: look further
    }
}

// People seen across a link to another level, merged in by distance. Rare, so plain insertion.
static void add_linked(const th_world *world, uint32_t i, const th_orca_params *params,
                       neighbour_list *nearest) {
    uint32_t found[TH_ORCA_NEIGHBOURS];
    int count = th_linked_neighbours(world, i, params->neighbour_range, found, TH_ORCA_NEIGHBOURS);
    th_vec2 p = th_position(&world->agents, i);
    for (int k = 0; k < count; ++k) {
        float distance2 = th_length2(th_sub(th_position(&world->agents, found[k]), p));
        int wanted = (int)params->max_neighbours;
        if (nearest->count == wanted) {
            th_vec2 last = th_position(&world->agents, nearest->agent[wanted - 1]);
            if (th_length2(th_sub(last, p)) <= distance2) continue;
            nearest->count--;
        }
        int at = nearest->count++;
        for (; at > 0; --at) {
            th_vec2 before = th_position(&world->agents, nearest->agent[at - 1]);
            if (th_length2(th_sub(before, p)) <= distance2) break;
            nearest->agent[at] = nearest->agent[at - 1];
        }
        nearest->agent[at] = found[k];
    }
}

// The walls around one person, nearest first.
enum { NEAR_WALLS = 64 };
typedef struct wall_list {
    int count, wall[NEAR_WALLS];
    float distance2[NEAR_WALLS];
    float range; // all standing walls within it are listed
} wall_list;

static void list_walls(const th_walls *walls, int level, th_vec2 p, float range, wall_list *list) {
    list->count = 0;
    list->range = range;
    if (range <= walls->grids[level].reach && !th_walls_maybe_near(walls, level, p)) return;
    list->count = th_walls_near(walls, level, p, range, list->wall, list->distance2, NEAR_WALLS);
    // When some did not fit, the list is complete only up to the last that did.
    if (list->count == NEAR_WALLS) list->range = sqrtf(list->distance2[NEAR_WALLS - 1]);
}

// Does a wall stand between p and q? Only walls nearer to p than q can.
static bool hidden_behind(const th_walls *walls, int level, const wall_list *list, th_vec2 p,
                          th_vec2 q) {
    float distance2 = th_length2(th_sub(q, p)), t;
    if (distance2 >= list->range * list->range)
        return th_walls_first_crossing(walls, level, p, q, &t) >= 0;
    for (int k = 0; k < list->count && list->distance2[k] <= distance2; ++k) {
        const th_wall *wall = &walls->walls[list->wall[k]];
        double at;
        if (th_segments_meet(p, q, wall->a, wall->b, &at)) return true;
    }
    return false;
}

static void drop_hidden(const th_walls *walls, const th_world *world, uint32_t i,
                        const wall_list *list, neighbour_list *nearest) {
    const th_agents *agents = &world->agents;
    int kept = 0, level = (int)agents->level[i];
    for (int k = 0; k < nearest->count; ++k) {
        uint32_t j = nearest->agent[k];
        bool same_level = agents->level[j] == agents->level[i];
        if (same_level &&
            hidden_behind(walls, level, list, th_position(agents, i), th_position(agents, j)))
            continue;
        nearest->agent[kept++] = j;
    }
    nearest->count = kept;
}

static void wall_lines(const th_walls *walls, const th_world *world, uint32_t i,
                       const th_orca_params *params, const wall_list *list, float range,
                       th_orca_lines *lines) {
    const th_agents *agents = &world->agents;
    th_vec2 p = th_position(agents, i), v = th_velocity(agents, i);
    float radius = agents->radius[i], inverse_horizon = 1.0f / params->time_horizon_obstacle;
    for (int k = 0; k < list->count && lines->count < TH_ORCA_WALLS; ++k) {
        if (list->distance2[k] > range * range) break;
        const th_wall *wall = &walls->walls[list->wall[k]];
        th_orca_edge edge = {
            .a = th_sub(wall->a, p), .b = th_sub(wall->b, p), .direction = wall->direction};
        // Only edges that show us their walkable side.
        if (th_det(wall->direction, th_sub(p, wall->a)) >= 0.0f) continue;
        if (th_orca_covered(lines, edge.a, edge.b, radius, inverse_horizon)) continue;
        const th_wall *next = &walls->walls[wall->next], *previous = &walls->walls[wall->prev];
        edge.previous = previous->direction;
        edge.next = next->direction;
        edge.a_convex = wall->a_convex;
        edge.b_convex = next->a_convex;
        th_orca_line line;
        if (th_orca_wall_line(&edge, v, radius, inverse_horizon, &line))
            th_orca_set_line(lines, lines->count++, line);
    }
    lines->wall_count = lines->count;
}

typedef struct neighbour_lanes {
    _Alignas(TH_ALIGN) float x[TH_ORCA_NEIGHBOURS], y[TH_ORCA_NEIGHBOURS];
    _Alignas(TH_ALIGN) float vx[TH_ORCA_NEIGHBOURS], vy[TH_ORCA_NEIGHBOURS];
    _Alignas(TH_ALIGN) float radius[TH_ORCA_NEIGHBOURS], share[TH_ORCA_NEIGHBOURS],
        tie[TH_ORCA_NEIGHBOURS];
} neighbour_lanes;

static_assert(TH_ORCA_WALLS + TH_ORCA_NEIGHBOURS <= TH_ORCA_LINES,
              "all lanes are written behind the wall lines, used or not");

// Lanes beyond the neighbours hold a harmless stranger, so that the vector loop computes nothing wild.
TH_FORMULA void agent_lines(const th_world *world, uint32_t i, const th_orca_params *params,
                            const neighbour_list *nearest, th_orca_lines *lines) {
    const th_agents *agents = &world->agents;
    th_vec2 p = th_position(agents, i), v = th_velocity(agents, i);
    float radius = agents->radius[i], inverse_horizon = 1.0f / params->time_horizon,
          inverse_step = 1.0f / world->dt;
    bool all_react = world->scene->scripted_count == 0;
    neighbour_lanes lanes;
    for (int k = 0; k < TH_ORCA_NEIGHBOURS; ++k) {
        lanes.x[k] = p.x + 10.0f;
        lanes.y[k] = p.y;
        lanes.vx[k] = lanes.vy[k] = lanes.radius[k] = 0.0f;
        lanes.share[k] = 0.5f;
        lanes.tie[k] = 1.0f;
    }
    for (int k = 0; k < nearest->count; ++k) {
        uint32_t j = nearest->agent[k];
        lanes.x[k] = agents->position_x[j];
        lanes.y[k] = agents->position_y[j];
        lanes.vx[k] = agents->velocity_x[j];
        lanes.vy[k] = agents->velocity_y[j];
        lanes.radius[k] = agents->radius[j];
        lanes.tie[k] = i < j ? 1.0f : -1.0f;
        if (!all_react && !th_moves(agents->phase[j])) lanes.share[k] = 1.0f;
    }
    float *point_x = lines->point_x + lines->count, *point_y = lines->point_y + lines->count;
    float *direction_x = lines->direction_x + lines->count,
          *direction_y = lines->direction_y + lines->count;
#pragma omp simd
    for (int k = 0; k < TH_ORCA_NEIGHBOURS; ++k) {
        th_vec2 to = {lanes.x[k] - p.x, lanes.y[k] - p.y},
                relative = {v.x - lanes.vx[k], v.y - lanes.vy[k]};
        th_orca_line line =
            th_orca_agent_line(to, v, relative, radius + lanes.radius[k], inverse_horizon,
                               inverse_step, lanes.share[k], lanes.tie[k]);
        point_x[k] = line.point.x;
        point_y[k] = line.point.y;
        direction_x[k] = line.direction.x;
        direction_y[k] = line.direction.y;
    }
    lines->count += nearest->count;
}

// Two random numbers in -1 .. 1 for each person of a block: vector code, a tenth of the cost of drawing
// them one by one.
typedef struct block_noise {
    _Alignas(TH_ALIGN) float x[TH_BLOCK], y[TH_BLOCK];
} block_noise;

TH_FORMULA void draw_noise(const th_world *world, int begin, int end, block_noise *noise) {
    const uint32_t *id = world->agents.id + begin;
    uint64_t seed = world->seed, step = world->step_count;
#pragma omp simd
    for (int k = 0; k < end - begin; ++k) {
        th_random4 r = th_philox(seed, TH_STREAM_NOISE, id[k], step);
        noise->x[k] = 2.0f * th_uniform(r.v[0]) - 1.0f;
        noise->y[k] = 2.0f * th_uniform(r.v[1]) - 1.0f;
    }
}

// Nobody who stands still is shaken.
TH_FORMULA th_vec2 preferred_with_noise(const th_agents *agents, uint32_t i, float strength,
                                        th_vec2 noise) {
    th_vec2 preferred = {agents->preferred_x[i], agents->preferred_y[i]};
    if (preferred.x == 0.0f && preferred.y == 0.0f) return preferred;
    return th_add(preferred, th_scale(strength, noise));
}

TH_FORMULA void move_agent(th_world *world, const th_walls *walls, candidate_list *list, uint32_t i,
                           const th_orca_params *params, bool links, th_vec2 noise) {
    th_agents *agents = &world->agents;
    neighbour_list nearest;
    find_nearest(world, list, i, params, &nearest);
    if (links) add_linked(world, i, params, &nearest);
    th_orca_lines lines;
    lines.count = lines.wall_count = 0;
    if (walls->count > 0) {
        float range = params->time_horizon_obstacle * params->max_speed + agents->radius[i];
        wall_list near;
        int level = (int)agents->level[i];
        list_walls(walls, level, th_position(agents, i), th_max(range, walls->grids[level].reach),
                   &near);
        wall_lines(walls, world, i, params, &near, range, &lines);
        if (params->line_of_sight > 0.0f) drop_hidden(walls, world, i, &near, &nearest);
    }
    agent_lines(world, i, params, &nearest, &lines);
    // Somebody who prefers to be faster than the limit may be.
    float max_speed = th_max(params->max_speed, agents->speed[i]);
    th_vec2 velocity =
        th_orca_velocity(&lines, max_speed, preferred_with_noise(agents, i, params->noise, noise));
    if (params->max_acceleration > 0.0f) {
        th_vec2 old = th_velocity(agents, i);
        velocity =
            th_add(old, th_limit(th_sub(velocity, old), params->max_acceleration * world->dt));
    }
    agents->next_velocity_x[i] = velocity.x;
    agents->next_velocity_y[i] = velocity.y;
    agents->next_position_x[i] = agents->position_x[i] + velocity.x * world->dt;
    agents->next_position_y[i] = agents->position_y[i] + velocity.y * world->dt;
}

TH_CLONES static void move_block(th_world *world, const th_walls *walls, int begin, int end) {
    const th_agents *agents = &world->agents;
    candidate_list list;
    list.count = -1;
    bool links = world->scene->link_count > 0;
    block_noise noise;
    draw_noise(world, begin, end, &noise);
    for (int i = begin; i < end; ++i) {
        const th_group_state *group = &world->groups[agents->group[i]];
        if (!th_moves(agents->phase[i]) || group->move != TH_MOVE_ORCA) continue;
        th_orca_params params;
        memcpy(&params, group->move_params, sizeof params);
        th_vec2 own_noise = {noise.x[i - begin], noise.y[i - begin]};
        move_agent(world, walls, &list, (uint32_t)i, &params, links, own_noise);
    }
}

void th_move_orca(th_world *world) {
    bool any = false;
    for (int g = 0; g < world->group_count; ++g)
        any = any || (!world->groups[g].scripted && world->groups[g].move == TH_MOVE_ORCA);
    if (!any) return;
    th_walls walls = th_world_walls(world);
    int count = world->agents.count, blocks = th_block_count(count);
#pragma omp parallel for num_threads(world->threads) schedule(dynamic, 1)
    for (int b = 0; b < blocks; ++b)
        move_block(world, &walls, b * TH_BLOCK,
                   (b + 1) * TH_BLOCK < count ? (b + 1) * TH_BLOCK : count);
}
