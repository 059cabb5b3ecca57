// The distance field of one target: walking distance at every node, by fast marching.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_PLAN_FIELD_H
#define TH_PLAN_FIELD_H
#include "core/device.h"
#include "core/front.h"
#include "formula/math.h"
#include "formula/segment.h"
#include "plan/nodes.h"
#include "space/distance_grid.h"

// Fills distance (nodes->count) for the target; TH_UNREACHABLE where there is no way.
void th_field_solve(const th_graph *graph, const th_walls *walls, const th_target *target,
                    th_front *front, float *distance);
// The same result as th_field_solve, bit by bit, given that `distance` is right but for links whose
// nearer end is at least `keep` away: everything nearer than that stays as it is.
void th_field_resolve(const th_graph *graph, const th_walls *walls, const th_target *target,
                      float keep, th_front *front, float *distance);

// The same a piece at a time, from `old`, which stays, into `distance`: begin, then advance until it returns true. In
// between nothing but the walls may change. *most: how much work a piece may be, less what was done [about 1/8 of a node that
// is settled].
typedef struct th_field_work {
    int part, node;
    float keep;
} th_field_work;
th_field_work th_field_begin(const th_graph *graph, float keep);
bool th_field_advance(th_field_work *work, const th_graph *graph, const th_walls *walls,
                      const th_target *target, th_front *front, const float *old, float *distance,
                      int64_t *most);
int64_t th_field_most_work(const th_graph *graph);
bool th_field_work_is_sound(const th_field_work *work, int nodes); // as it came from a snapshot

// The nearest point of a goal to p; lines are shortened by `inset` at both ends (a radius: no agent
// can reach the very end of a line between walls). p itself when p is in the goal's area.
TH_BOTH static inline th_vec2 th_goal_nearest(const th_goal *goal, th_vec2 p, float inset) {
    if (!goal->is_line)
        return th_polygons_contain(&goal->area.shape, p)
                   ? p
                   : th_nearest_on_rings(&goal->area.shape, p);
    th_vec2 along = th_sub(goal->line.b, goal->line.a);
    float length = th_length(along);
    if (length <= 0.0f) return goal->line.a;
    th_vec2 cut = th_scale(th_min(inset, 0.49f * length) / length, along);
    return th_nearest_on_segment(p, th_add(goal->line.a, cut), th_sub(goal->line.b, cut));
}
TH_BOTH static inline int th_goal_level(const th_goal *goal) {
    return goal->is_line ? goal->line.level : goal->area.level;
}

// Can the centre of a body that needs `need` metres to pass be at q?
TH_BOTH static inline bool th_body_fits(const th_walls *walls, int level, th_vec2 q, float need) {
    int nearest;
    float distance2;
    return th_walls_near(walls, level, q, th_max(0.5f * need - 2e-3f, 1e-3f), &nearest, &distance2,
                         1) == 0;
}

// The free stretch of a goal line around its point q: from a to b, up to its ends or the next walls.
TH_BOTH static inline void th_goal_stretch(const th_walls *walls, const th_goal *goal, th_vec2 q,
                                           th_vec2 *a, th_vec2 *b) {
    *a = goal->line.a;
    *b = goal->line.b;
    float t;
    if (th_walls_first_crossing(walls, goal->line.level, q, *a, &t) >= 0)
        *a = th_add(q, th_scale(t, th_sub(*a, q)));
    if (th_walls_first_crossing(walls, goal->line.level, q, *b, &t) >= 0)
        *b = th_add(q, th_scale(t, th_sub(*b, q)));
}

#define TH_GOAL_ROOM 0.2f // [m] no body needs less to pass

// Is there room for a body at the goal around q, its point nearest to p and in sight of it? Not on a piece of a line behind a
// wall that is narrower than the body, nor on a line that a shut door lies on, nor on the strip of an area beyond a wall.
TH_BOTH static inline bool th_goal_has_room(const th_walls *walls, const th_goal *goal, th_vec2 p,
                                            th_vec2 q, float need) {
    int level = th_goal_level(goal);
    if (goal->kind == TH_GOAL_DETOUR) return true; // looked at from beside; it may be a solid
    if (th_body_fits(walls, level, q, need)) return true;
    if (goal->is_line) {
        th_vec2 a, b;
        th_goal_stretch(walls, goal, q, &a, &b);
        for (int k = 1; k < 8; ++k)
            if (th_body_fits(walls, level, th_add(a, th_scale(0.125f * (float)k, th_sub(b, a))),
                             need))
                return true;
        return false;
    }
    for (int ring = 1; ring <= 2; ++ring)
        for (int k = 0; k < 8; ++k) {
            float reach = 0.6f * (float)ring * need * (k & 1 ? 0.70710678f : 1.0f);
            th_vec2 at = th_add(
                q, th_v(reach * (float)th_direction_right(k), reach * (float)th_direction_up(k)));
            if (th_polygons_contain(&goal->area.shape, at) && th_clear_path(walls, level, p, at) &&
                th_body_fits(walls, level, at, need))
                return true;
        }
    return false;
}

TH_BOTH static inline th_box th_goal_box(const th_goal *goal) {
    if (!goal->is_line) return goal->area.shape.box;
    th_vec2 a = goal->line.a, b = goal->line.b;
    th_box box = {th_min(a.x, b.x), th_min(a.y, b.y), th_max(a.x, b.x), th_max(a.y, b.y)};
    return box;
}

typedef struct th_way {
    th_vec2 direction; // unit, or (0, 0) when there is no way or one has arrived
    float distance;    // to the target; TH_UNREACHABLE when there is no way
} th_way;

enum {
    TH_FIELD_PULL_MAX = 10,     // nodes looked ahead beside walls: 2 m at the usual spacing
    TH_FIELD_NEAR_RINGS = 3,    // nodes looked around where none of the next four is in sight
    TH_FIELD_OUTSIDE_RINGS = 12 // the same for an agent off the walkable ground
};

typedef struct th_field_candidate {
    int node, level;
    th_vec2 position;
    float value; // walking distance by this node
} th_field_candidate;

typedef struct th_field_ask {
    const th_graph *graph;
    const th_walls *walls;
    const float *distance;
    int level;
    th_vec2 p;
    int pull; // nodes looked ahead beside walls, at most TH_FIELD_PULL_MAX
} th_field_ask;

// Can a node be seen? Exactly, unlike the ends of goal lines: a node half a millimetre behind a wall is behind it, and
// an agent that saw it would walk against the wall for good.
TH_BOTH static inline bool th_field_sees(const th_field_ask *ask, int level, th_vec2 node) {
    if (level == ask->level)
        return th_walls_first_crossing(ask->walls, level, ask->p, node, NULL) < 0;
    return th_in_sight(ask->graph->nodes->scene, ask->walls, ask->level, ask->p, level, node);
}

TH_BOTH static inline void th_field_consider(const th_field_ask *ask, int node, int level,
                                             th_field_candidate *best) {
    if (ask->distance[node] >= TH_UNREACHABLE) return;
    const th_nodes *nodes = ask->graph->nodes;
    th_vec2 position = th_node_position(nodes, &nodes->levels[level], node);
    float value = ask->distance[node] + th_length(th_sub(position, ask->p));
    if (value >= best->value) return;
    if (!th_field_sees(ask, level, position)) return;
    th_field_candidate found = {node, level, position, value};
    *best = found;
}

// All nodes in a square of 2 * rings nodes a side around the point, and what lies behind portals.
TH_BOTH static inline th_field_candidate th_field_best_in_sight(const th_field_ask *ask, int column,
                                                                int row, int rings) {
    const th_nodes *nodes = ask->graph->nodes;
    const th_node_level *grid = &nodes->levels[ask->level];
    th_field_candidate best = {-1, 0, {0.0f, 0.0f}, TH_UNREACHABLE};
    for (int r = row - rings + 1; r <= row + rings; ++r)
        for (int c = column - rings + 1; c <= column + rings; ++c) {
            if (r < 0 || c < 0 || r >= grid->ny || c >= grid->nx) continue;
            int node = grid->first + r * grid->nx + c;
            th_field_consider(ask, node, ask->level, &best);
            if (!(nodes->flags[node] & TH_NODE_PORTAL)) continue;
            const th_portal *portal = th_portal_find(ask->graph, node);
            for (int k = 0; k < 8; ++k)
                if (portal->to[k] >= 0)
                    th_field_consider(ask, portal->to[k], th_node_level_of(nodes, portal->to[k]),
                                      &best);
        }
    return best;
}

TH_BOTH static inline int th_field_next_down(const th_field_ask *ask, int node, int level) {
    int nx = ask->graph->nodes->levels[level].nx, best = -1;
    float least = ask->distance[node];
    for (int k = 0; k < 8; ++k) {
        int other = th_neighbour(ask->graph, node, k, nx);
        if (other >= 0 && ask->distance[other] < least) {
            least = ask->distance[other];
            best = other;
        }
    }
    return best;
}

// The way down from a candidate, node by node.
typedef struct th_field_descent {
    th_field_candidate nodes[TH_FIELD_PULL_MAX];
    int count;
    bool one_level; // all on the level of the asking agent
    th_box box;     // around the asking agent and all nodes
} th_field_descent;

TH_BOTH static inline th_field_descent th_field_descend(const th_field_ask *ask,
                                                        th_field_candidate from) {
    const th_nodes *nodes = ask->graph->nodes;
    th_field_descent way = {.one_level = true, .box = {ask->p.x, ask->p.y, ask->p.x, ask->p.y}};
    th_field_candidate at = from;
    for (; way.count < ask->pull; ++way.count) {
        at.node = th_field_next_down(ask, at.node, at.level);
        if (at.node < 0) break;
        at.level = th_node_level_of(nodes, at.node);
        at.position = th_node_position(nodes, &nodes->levels[at.level], at.node);
        way.nodes[way.count] = at;
        way.one_level = way.one_level && at.level == ask->level;
        way.box =
            (th_box){th_min(way.box.min_x, at.position.x), th_min(way.box.min_y, at.position.y),
                     th_max(way.box.max_x, at.position.x), th_max(way.box.max_y, at.position.y)};
    }
    return way;
}

// Pulls the string tight: the furthest node down the way that is in sight, all before it being so. Along a
// straight wall no wall reaches into the box around all of them, and one look is enough.
TH_BOTH static inline th_field_candidate th_field_pull(const th_field_ask *ask,
                                                       th_field_candidate from) {
    th_field_descent way = th_field_descend(ask, from);
    if (way.count == 0) return from;
    if (way.one_level && th_walls_none_in(ask->walls, ask->level, &way.box))
        return way.nodes[way.count - 1];
    th_field_candidate seen = from;
    for (int i = 0; i < way.count; ++i) {
        const th_field_candidate *next = &way.nodes[i];
        if (!th_field_sees(ask, next->level, next->position)) break;
        seen = *next;
    }
    return seen;
}

TH_BOTH static inline th_way th_field_way_by_sight(const th_field_ask *ask, int column, int row,
                                                   int rings) {
    th_way way = {{0.0f, 0.0f}, TH_UNREACHABLE};
    th_field_candidate best = th_field_best_in_sight(ask, column, row, 1);
    if (best.node < 0) best = th_field_best_in_sight(ask, column, row, rings);
    if (best.node < 0) return way;
    th_field_candidate aim = th_field_pull(ask, best);
    way.direction = th_unit(th_sub(aim.position, ask->p));
    way.distance = best.value;
    return way;
}

enum {
    TH_LINK_EAST = 1 << 0,
    TH_LINK_NORTH_EAST = 1 << 1,
    TH_LINK_NORTH = 1 << 2,
    TH_LINK_NORTH_WEST = 1 << 3
};

TH_BOTH static inline bool th_field_open_cell(const th_graph *graph, int node, int nx) {
    const uint8_t *links = graph->links + node;
    uint8_t corner = TH_LINK_EAST | TH_LINK_NORTH_EAST | TH_LINK_NORTH,
            right = TH_LINK_NORTH | TH_LINK_NORTH_WEST;
    return (links[0] & corner) == corner && (links[1] & right) == right &&
           (links[nx] & TH_LINK_EAST) && !(graph->nodes->flags[node] & TH_CELL_TOUCHED);
}

// An agent pressed onto a wall by rounding sees nothing: look from 1 cm beside it.
TH_BOTH static inline th_vec2 th_field_off_the_wall(const th_field_ask *ask) {
    int nearest;
    float distance2;
    if (th_walls_near(ask->walls, ask->level, ask->p, 0.01f, &nearest, &distance2, 1) == 0)
        return ask->p;
    const th_wall *wall = &ask->walls->walls[nearest];
    return th_add(ask->p, th_scale(0.01f, th_perp_right(wall->direction)));
}

// Minus the gradient of the bilinear interpolation at (s, t) of an open cell.
TH_BOTH static inline th_way th_field_way_by_gradient(const float *d, int nx, float s, float t,
                                                      float least) {
    float d00 = d[0], d10 = d[1], d01 = d[nx], d11 = d[nx + 1];
    float gx = (d10 - d00) + t * ((d11 - d01) - (d10 - d00));
    float gy = (d01 - d00) + s * ((d11 - d10) - (d01 - d00));
    float low = d00 + s * (d10 - d00), high = d01 + s * (d11 - d01);
    float length = sqrtf(gx * gx + gy * gy);
    th_way way = {{0.0f, 0.0f}, TH_UNREACHABLE};
    if (!(length > least)) return way; // a ridge between two ways, or the goal itself
    way.direction = th_v(-gx / length, -gy / length);
    way.distance = low + t * (high - low);
    return way;
}

// Beside a wall the interpolation may point at it: does the next stretch run into one?
TH_BOTH static inline bool th_field_runs_into_wall(const th_field_ask *ask, th_vec2 direction) {
    th_vec2 ahead =
        th_add(ask->p, th_scale(TH_NODES_AHEAD * ask->graph->nodes->spacing, direction));
    return th_walls_first_crossing(ask->walls, ask->level, ask->p, ahead, NULL) >= 0;
}

// The way where nodes cannot be interpolated: beside walls, between nodes that walls part, off the ground. Column and
// row of the cell.
TH_BOTH static inline th_way th_field_way_beside_walls(th_field_ask ask, int column, int row) {
    th_way way = th_field_way_by_sight(&ask, column, row, TH_FIELD_NEAR_RINGS);
    if (way.distance < TH_UNREACHABLE) return way;
    th_vec2 p = ask.p;
    ask.p = th_field_off_the_wall(&ask);
    way = th_field_way_by_sight(&ask, column, row, TH_FIELD_NEAR_RINGS);
    if (way.distance < TH_UNREACHABLE || th_walkable(ask.graph->nodes->scene, ask.level, p))
        return way;
    ask.p = p; // pushed out through another agent's exit: look further for the way back in
    return th_field_way_by_sight(&ask, column, row, TH_FIELD_OUTSIDE_RINGS);
}

// The cell of the lattice that p lies in, the nearest one for places beside it.
typedef struct th_field_cell {
    int column, row, node; // node: its lower left corner
    float s, t;            // place within it, 0 .. 1
    bool inside;           // p is in it
    bool known;            // p is a place at all
} th_field_cell;

TH_BOTH static inline th_field_cell th_field_cell_of(const th_nodes *nodes, int level, th_vec2 p) {
    const th_node_level *grid = &nodes->levels[level];
    float x = (p.x - grid->origin.x) * nodes->inverse_spacing;
    float y = (p.y - grid->origin.y) * nodes->inverse_spacing;
    th_field_cell cell = {0, 0, 0, 0.0f, 0.0f, false, true};
    cell.inside = x >= 0.0f && y >= 0.0f && x < (float)(grid->nx - 1) && y < (float)(grid->ny - 1);
    if (!cell.inside) { // off the lattice of an open plane: back to it
        cell.known = p.x == p.x && p.y == p.y;
        x = cell.known ? th_clamp(x, 0.0f, (float)(grid->nx - 2)) : 0.0f;
        y = cell.known ? th_clamp(y, 0.0f, (float)(grid->ny - 2)) : 0.0f;
    }
    cell.column = (int)x;
    cell.row = (int)y;
    cell.node = grid->first + cell.row * grid->nx + cell.column;
    cell.s = x - (float)cell.column;
    cell.t = y - (float)cell.row;
    return cell;
}

// Do walls stand so near that a direction from the cell's nodes must be tried against them?
TH_BOTH static inline bool th_field_near_walls(const th_nodes *nodes, const th_walls *walls,
                                               int node) {
    return (nodes->flags[node] & TH_CELL_NEAR) || walls->count > walls->scene_count ||
           walls->body_count > 0;
}

// The direction in which to walk from p. Cost: four nodes in the open; some sight lines beside walls.
TH_BOTH static inline th_way th_field_way(const th_graph *graph, const th_walls *walls,
                                          const float *distance, int level, th_vec2 p) {
    const th_nodes *nodes = graph->nodes;
    th_field_ask ask = {graph, walls, distance, level, p, TH_FIELD_PULL_MAX};
    th_way way = {{0.0f, 0.0f}, TH_UNREACHABLE};
    th_field_cell cell = th_field_cell_of(nodes, level, p);
    if (!cell.known) return way;
    int node = cell.node, nx = nodes->levels[level].nx;
    if (cell.inside && th_field_open_cell(graph, node, nx) && distance[node] < TH_UNREACHABLE) {
        way = th_field_way_by_gradient(distance + node, nx, cell.s, cell.t,
                                       nodes->least_slope * nodes->spacing);
        if (way.distance < TH_UNREACHABLE && !(th_field_near_walls(nodes, walls, node) &&
                                               th_field_runs_into_wall(&ask, way.direction)))
            return way;
    }
    return th_field_way_beside_walls(ask, cell.column, cell.row);
}

// ---- goals in sight

TH_BOTH static inline th_vec2 th_goal_across_line(const th_scene *scene, const th_goal *goal,
                                                  th_vec2 p, th_vec2 heading) {
    th_vec2 normal = th_unit(th_perp_left(th_sub(goal->line.b, goal->line.a)));
    th_vec2 beyond = th_add(p, th_scale(0.1f, normal)), behind = th_sub(p, th_scale(0.1f, normal));
    bool left = th_walkable(scene, goal->line.level, beyond);
    bool right = th_walkable(scene, goal->line.level, behind);
    // An exit in the outer wall leads to where there is no ground; within a room, on as one goes.
    bool forward = left != right ? !left : th_dot(heading, normal) >= 0.0f;
    return forward ? normal : th_scale(-1.0f, normal);
}

// From its edge into an area: as one goes, toward the middle of its box, or the first of eight directions that lead in.
// Within the area as one goes: the next step takes note.
TH_BOTH static inline th_vec2 th_goal_into_area(const th_goal *goal, th_vec2 p, th_vec2 heading) {
    const float in = 0.05f, half = 0.70710678f; // [m] a step; cos 45 degrees
    const th_box *box = &goal->area.shape.box;
    th_vec2 middle = {0.5f * (box->min_x + box->max_x), 0.5f * (box->min_y + box->max_y)};
    th_vec2 ways[10] = {th_unit(heading), th_unit(th_sub(middle, p)),
                        {1.0f, 0.0f},     {-1.0f, 0.0f},
                        {0.0f, 1.0f},     {0.0f, -1.0f},
                        {half, half},     {-half, half},
                        {half, -half},    {-half, -half}};
    for (int k = 0; k < 10; ++k)
        if (th_polygons_contain(&goal->area.shape, th_add(p, th_scale(in, ways[k]))))
            return ways[k];
    return ways[0];
}

// Straight to the nearest goal of the target that is in sight and nearer than `range`; false: none.
// `heading` decides the way when one stands exactly on a goal line; lines are aimed at `inset` off their
// ends.
TH_BOTH static inline bool th_goal_way(const th_scene *scene, const th_walls *walls,
                                       const th_target *target, int level, th_vec2 p, float inset,
                                       th_vec2 heading, float range, th_way *way) {
    float best = range;
    bool found = false;
    for (int g = 0; g < target->goal_count; ++g) {
        const th_goal *goal = &scene->goals[target->goals[g]];
        if (th_goal_level(goal) != level) continue;
        th_vec2 q = th_goal_nearest(goal, p, inset);
        th_vec2 to_goal = th_sub(q, p);
        float length = th_length(to_goal);
        if (!(length < best)) continue;
        if (walls && !th_in_sight(scene, walls, level, p, level, q)) continue;
        if (walls && !th_goal_has_room(walls, goal, p, q, TH_GOAL_ROOM)) continue;
        best = length;
        found = true;
        way->distance = length;
        if (length > 1e-3f)
            way->direction = th_scale(1.0f / length, to_goal);
        else if (goal->is_line)
            way->direction = th_goal_across_line(scene, goal, p, heading);
        else
            way->direction = th_goal_into_area(goal, p, heading);
    }
    return found;
}
#endif
