// Questions about places: the way from here to there, and a free place near a point.
//
// The way is found by A* on the lattice of the distance fields, in the graph in force, over nodes where the body has room;
// then it is pulled tight: from each corner to the furthest node that a body sees. Cost: O(nodes log nodes) at most, with
// work space for all nodes. SPDX-License-Identifier: Apache-2.0
#include "formula/math.h"
#include "plan/prepared.h"
#include "space/distance_grid.h"
#include "world/ask.h"
#include "world/world.h"
#include <math.h>
#include <string.h>

typedef struct search {
    const th_world *world;
    const th_graph *graph;
    const th_nodes *nodes;
    th_walls walls;
    th_way_point from, to;
    float radius,
        free; // nearer than `free` to either end, nodes need no room: one may stand beside a wall
    float *length; // from `from`, by node
    float *rank;   // that and the straight line to `to`
    int *before;   // the node before, -1: `from`
    th_front front;
} search;

// ---- can a body walk there?

// A strip as wide as the body along p -> q; where a body stands beside a wall its side of the strip starts in the wall, so
// near the start the middle alone counts.
static bool sees(const search *s, th_way_point p, th_way_point q) {
    const th_scene *scene = s->world->scene;
    if (!th_in_sight(scene, &s->walls, p.level, p.point, q.level, q.point)) return false;
    if (p.level != q.level) return true;
    th_vec2 path = th_sub(q.point, p.point);
    float length = th_length(path);
    if (length <= 2.0f * s->radius) return true;
    th_vec2 ahead = th_scale(s->radius / length, path), side = th_perp_left(ahead);
    th_vec2 a = th_add(p.point, ahead), b = th_sub(q.point, ahead);
    return th_walls_first_crossing(&s->walls, p.level, th_add(a, side), th_add(b, side), NULL) <
               0 &&
           th_walls_first_crossing(&s->walls, p.level, th_sub(a, side), th_sub(b, side), NULL) < 0;
}

static bool has_room(const search *s, int level, th_vec2 p) {
    if (th_length(th_sub(p, s->from.point)) < s->free ||
        th_length(th_sub(p, s->to.point)) < s->free)
        return true;
    int wall;
    return th_walls_near(&s->walls, level, p, s->radius, &wall, NULL, 1) == 0;
}

// ---- the search

static th_way_point place_of(const search *s, int node) {
    int level = th_node_level_of(s->nodes, node);
    return (th_way_point){th_node_position(s->nodes, &s->nodes->levels[level], node), level};
}

static void offer(search *s, int node, int before, float length) {
    th_way_point at = place_of(s, node);
    if (s->front.place[node] < 0 || length >= s->length[node]) return;
    if (!has_room(s, at.level, at.point)) return;
    s->length[node] = length;
    s->before[node] = before;
    th_front_offer(&s->front, s->rank, node, length + th_length(th_sub(s->to.point, at.point)));
}

// Nodes of the cells around a point: those that are seen from it.
static int around(const search *s, th_way_point p, int seen[16]) {
    const th_node_level *grid = &s->nodes->levels[p.level];
    int column = (int)floorf((p.point.x - grid->origin.x) * s->nodes->inverse_spacing) - 1;
    int row = (int)floorf((p.point.y - grid->origin.y) * s->nodes->inverse_spacing) - 1;
    int count = 0;
    for (int k = 0; k < 16; ++k) {
        int x = column + k % 4, y = row + k / 4;
        if (x < 0 || y < 0 || x >= grid->nx || y >= grid->ny) continue;
        int node = grid->first + y * grid->nx + x;
        th_vec2 at = th_node_position(s->nodes, grid, node);
        if (s->graph->links[node] != 0 && th_clear_path(&s->walls, p.level, p.point, at))
            seen[count++] = node;
    }
    return count;
}

static bool is_among(const int *list, int count, int node) {
    for (int k = 0; k < count; ++k)
        if (list[k] == node) return true;
    return false;
}

// The last node of the way, one from which `to` is seen; -1: none.
static int run(search *s) {
    int ends[16], end_count = around(s, s->to, ends), starts[16];
    int start_count = around(s, s->from, starts);
    for (int k = 0; k < start_count; ++k)
        offer(s, starts[k], -1, th_length(th_sub(place_of(s, starts[k]).point, s->from.point)));
    while (s->front.count > 0) {
        int node = th_front_take(&s->front);
        if (is_among(ends, end_count, node)) return node;
        int nx = s->nodes->levels[th_node_level_of(s->nodes, node)].nx;
        for (int k = 0; k < 8; ++k) {
            int next = th_neighbour(s->graph, node, k, nx);
            float step = s->nodes->spacing * (k % 2 ? 1.41421356f : 1.0f);
            if (next >= 0) offer(s, next, node, s->length[node] + step);
        }
    }
    return -1;
}

// ---- the way

// Turns the chain of nodes before `last` around: afterwards before[node] is the next one, -1: `to`. Returns the first.
static int turn_around(search *s, int last) {
    int next = -1;
    for (int node = last; node >= 0;) {
        int before = s->before[node];
        s->before[node] = next;
        next = node;
        node = before;
    }
    return next;
}

static int pull_tight(const search *s, int first, th_way_point *points, int max, float *length) {
    int count = 0, node = first;
    th_way_point at = s->from;
    *length = 0.0f;
    while (node >= 0 && !sees(s, at, s->to)) {
        int furthest = node;
        for (int n = s->before[node]; n >= 0 && sees(s, at, place_of(s, n)); n = s->before[n])
            furthest = n;
        th_way_point corner = place_of(s, furthest);
        *length += th_length(th_sub(corner.point, at.point));
        if (count < max) points[count] = corner;
        ++count;
        at = corner;
        node = s->before[furthest];
    }
    *length += th_length(th_sub(s->to.point, at.point));
    if (count < max) points[count] = s->to;
    return count + 1;
}

static int search_way(search *s, th_way_point *points, int max, float *length) {
    const th_memory *memory = &s->world->memory;
    size_t nodes = (size_t)s->nodes->count;
    s->length = th_alloc(memory, nodes, sizeof *s->length);
    s->rank = th_alloc(memory, nodes, sizeof *s->rank);
    s->before = th_alloc(memory, nodes, sizeof *s->before);
    bool ready =
        s->length && s->rank && s->before && th_front_create(&s->front, s->nodes->count, memory);
    int count = 0;
    for (size_t n = 0; ready && n < nodes; ++n) s->length[n] = s->rank[n] = TH_UNREACHABLE;
    int last = ready ? run(s) : -1;
    if (last >= 0) count = pull_tight(s, turn_around(s, last), points, max, length);
    if (ready) th_front_destroy(&s->front, s->nodes->count, memory);
    th_dealloc(memory, s->length, nodes, sizeof *s->length);
    th_dealloc(memory, s->rank, nodes, sizeof *s->rank);
    th_dealloc(memory, s->before, nodes, sizeof *s->before);
    return count;
}

static bool is_ground(const th_world *world, th_way_point p) {
    return th_is_level(world, p.level) && th_is_place(p.point) &&
           th_walkable(world->scene, p.level, p.point);
}

int th_world_path(const th_world *world, th_way_point from, th_way_point to, float radius,
                  th_way_point *points, int max, float *length) {
    float own;
    if (!length) length = &own;
    *length = INFINITY;
    if (!is_ground(world, from) || !is_ground(world, to) || !(radius >= 0.0f && radius <= 100.0f))
        return 0;
    const th_nodes *nodes = &world->scene->plan->nodes;
    search s = {.world = world,
                .graph = &th_plans_in_force(world, 0)->graph,
                .nodes = nodes,
                .walls = th_world_walls(world),
                .from = from,
                .to = to,
                .radius = radius,
                .free = radius + 2.0f * nodes->spacing};
    if (!nodes->scene || sees(&s, from, to)) {
        if (!sees(&s, from, to)) return 0;
        *length = th_length(th_sub(to.point, from.point));
        if (max > 0) points[0] = to;
        return 1;
    }
    int count = search_way(&s, points, max, length);
    if (count == 0) *length = INFINITY;
    return count;
}

// ---- free places

static bool is_free(const th_world *world, const th_walls *walls, int level, th_vec2 p,
                    float radius) {
    int wall;
    if (!th_walkable(world->scene, level, p) || th_bodies_hold(walls, level, p)) return false;
    if (walls->count > 0 && th_walls_near(walls, level, p, radius, &wall, NULL, 1) > 0)
        return false;
    float reach = radius + world->max_radius;
    th_asked asked =
        th_ask_box(world, level, th_sub(p, th_v(reach, reach)), th_add(p, th_v(reach, reach)));
    for (uint32_t i; th_ask_next(&asked, &i);) {
        float apart = radius + world->agents.radius[i];
        if (th_length2(th_sub(th_position(&world->agents, i), p)) < apart * apart) return false;
    }
    return true;
}

// Rings a third of the radius apart, with points as far apart along them.
bool th_world_free_place(const th_world *world, int level, th_vec2 point, float radius, float range,
                         th_vec2 *place) {
    if (!th_is_level(world, level) || !th_is_place(point) || !(radius > 0.0f && radius <= 100.0f) ||
        !(range >= 0.0f))
        return false;
    th_refresh(world, TH_ALL_FIELDS);
    th_walls walls = th_world_walls(world);
    bool on_ground = th_walkable(world->scene, level, point);
    float apart = radius / 3.0f, most = th_min(range / apart, 1000.0f);
    for (int ring = 0; (float)ring <= most; ++ring) {
        int count = ring == 0 ? 1 : 6 * ring;
        for (int k = 0; k < count; ++k) {
            double sine, cosine;
            th_sincos_turn((double)k / (double)count, &sine, &cosine);
            th_vec2 on_ring = th_v((float)cosine, (float)sine);
            th_vec2 p = th_add(point, th_scale(apart * (float)ring, on_ring));
            if (!is_free(world, &walls, level, p, radius)) continue;
            if (on_ground && walls.count > 0 && !th_clear_path(&walls, level, point, p)) continue;
            *place = p;
            return true;
        }
    }
    return false;
}
