// Fast marching (Sethian 1996) on the linked lattice. Cost O(n log n) in the nodes reached, about
// half a microsecond each. The front starts from the goals and settles nodes in order of distance;
// an update uses only neighbours in sight, so walls are as sharp as they are drawn.
// SPDX-License-Identifier: Apache-2.0
#include "plan/field/field.h"
#include "formula/segment.h"

// Nodes this near to a goal and in sight of it get the exact distance: the lattice resolves the round
// front of a point source badly. [m]
static const float EXACT_RANGE = 3.0f;

// ---- marching

typedef struct th_march {
    const th_graph *graph;
    th_front *front;
    float *distance;
} th_march;

// `to` sees the just settled node `from` in direction k (from `to`). Tries the straight way and the
// two triangles that have `from` as a corner and a settled third corner.
static void update(const th_march *march, int to, int from, int k, int nx_to, int nx_from) {
    const th_graph *graph = march->graph;
    const float *d = march->distance;
    float h = graph->nodes->spacing;
    if (graph->crowd) h *= graph->crowd_cost[graph->crowd[to]];
    float cost = h * th_node_slowness(graph->nodes, to, k);
    bool axis = (k & 1) == 0, in_zone = graph->nodes->zone[to] != 0;
    float best = d[from] + (axis ? cost : cost * 1.41421356f);
    for (int turn = -1; turn <= 1; turn += 2) {
        int third_k = (k + turn) & 7;
        int third = th_neighbour(graph, to, third_k, nx_to);
        if (third < 0 || march->front->place[third] >= 0) continue;
        // From the axis corner the diagonal one lies at a right angle to k, and the other way round.
        int across = axis ? (k + 2 * turn) & 7 : (k + 3 * turn) & 7;
        if (th_neighbour(graph, from, across, nx_from) != third) continue;
        float c = cost;
        if (in_zone) // across a slope's contour line the two may differ
            c = th_max(cost, h * th_node_slowness(graph->nodes, to, third_k));
        float value = axis ? th_eikonal_triangle(d[from], d[third], c)
                           : th_eikonal_triangle(d[third], d[from], c);
        best = th_min(best, value);
    }
    th_front_offer(march->front, march->distance, to, best);
}

static void settle(const th_march *march, int node) {
    const th_graph *graph = march->graph;
    const th_nodes *nodes = graph->nodes;
    int level = th_node_level_of(nodes, node), nx = nodes->levels[level].nx;
    for (int k = 0; k < 8; ++k) {
        int to = th_neighbour(graph, node, k, nx);
        if (to < 0 || march->front->place[to] < 0) continue;
        bool same = graph->links[node] >> k & 1;
        int nx_to = same ? nx : nodes->levels[th_node_level_of(nodes, to)].nx;
        update(march, to, node, (k + 4) & 7, nx_to, nx);
    }
}

// ---- the goals

// Exact distances ignore zones and the crowd, so with either near the goal only the next nodes get them.
static float exact_range(const th_graph *graph, const th_goal *goal) {
    const th_nodes *nodes = graph->nodes;
    if (graph->crowd) return 1.5f * nodes->spacing;
    th_box box = th_goal_box(goal);
    for (int z = 0; z < nodes->scene->zone_count; ++z) {
        const th_area *area = &nodes->scene->zones[z].area;
        if (area->level != th_goal_level(goal)) continue;
        if (th_ranges_touch(area->shape.box.min_x, area->shape.box.max_x, box.min_x - EXACT_RANGE,
                            box.max_x + EXACT_RANGE) &&
            th_ranges_touch(area->shape.box.min_y, area->shape.box.max_y, box.min_y - EXACT_RANGE,
                            box.max_y + EXACT_RANGE))
            return 1.5f * nodes->spacing;
    }
    return th_max(EXACT_RANGE, 1.5f * nodes->spacing);
}

static int lattice_index(float x, float origin, float inverse_spacing, int last) {
    float at = floorf((x - origin) * inverse_spacing);
    return at <= 0.0f ? 0 : at >= (float)last ? last : (int)at;
}

static void seed_goal(const th_march *march, const th_walls *walls, const th_goal *goal) {
    const th_nodes *nodes = march->graph->nodes;
    int level = th_goal_level(goal);
    const th_node_level *grid = &nodes->levels[level];
    float range = exact_range(march->graph, goal), s = nodes->inverse_spacing;
    float need = th_least_need(nodes->scene, walls);
    th_box box = th_goal_box(goal);
    int column0 = lattice_index(box.min_x - range, grid->origin.x, s, grid->nx - 1);
    int column1 = lattice_index(box.max_x + range, grid->origin.x, s, grid->nx - 1);
    int row0 = lattice_index(box.min_y - range, grid->origin.y, s, grid->ny - 1);
    int row1 = lattice_index(box.max_y + range, grid->origin.y, s, grid->ny - 1);
    for (int row = row0; row <= row1; ++row)
        for (int column = column0; column <= column1; ++column) {
            int node = grid->first + row * grid->nx + column;
            if (!(nodes->flags[node] & TH_NODE_WALKABLE)) continue;
            th_vec2 p = th_node_position(nodes, grid, node);
            th_vec2 q = th_goal_nearest(goal, p, 0.01f);
            float length = th_length(th_sub(q, p));
            if (length > range || length >= march->distance[node]) continue;
            if (!th_in_sight(nodes->scene, walls, level, p, level, q) ||
                !th_goal_has_room(walls, goal, p, q, need))
                continue;
            float slowness = nodes->zone[node] == 0 ? 1.0f : th_node_slowness(nodes, node, 0);
            th_front_offer(march->front, march->distance, node, length * slowness);
        }
}

static void seed(const th_march *march, const th_walls *walls, const th_target *target) {
    for (int g = 0; g < target->goal_count; ++g)
        seed_goal(march, walls, &march->graph->nodes->scene->goals[target->goals[g]]);
}

// ---- solving, a piece at a time

// Work of a piece: what a node costs in each part, about [1/8 of a node that is settled].
enum { MAKE_READY = 1, PASS_BY = 1, GO_ON = 5, SETTLE = 8 };
enum { BEGUN, SEEDED, MARCHES, PARTS };

th_field_work th_field_begin(const th_graph *graph, float keep) {
    // Sight lines from goals end within the exact range; a change among them moves the seeds.
    if (keep <= EXACT_RANGE + 4.0f * graph->nodes->spacing) keep = 0.0f;
    return (th_field_work){.part = BEGUN, .keep = keep};
}

// Everything nearer than `keep` stays settled, the rest is far.
static void make_ready(const th_march *march, th_field_work *work, const float *old,
                       int64_t *most) {
    int count = march->graph->nodes->count, *place = march->front->place;
    for (; *most > 0 && work->node < count; ++work->node, *most -= MAKE_READY) {
        bool kept = work->keep > 0.0f && old[work->node] < work->keep; // else `old` may be anything
        place[work->node] = kept ? -1 : 0;
        march->distance[work->node] = kept ? old[work->node] : TH_UNREACHABLE;
    }
}

// The front goes on from where it was kept.
static void go_on(const th_march *march, th_field_work *work, int64_t *most) {
    int count = work->keep > 0.0f ? march->graph->nodes->count : 0;
    for (; *most > 0 && work->node < count; ++work->node) {
        bool kept = march->distance[work->node] < work->keep && march->front->place[work->node] < 0;
        if (kept) settle(march, work->node);
        *most -= kept ? GO_ON : PASS_BY;
    }
    if (work->node >= count) work->part = MARCHES;
}

bool th_field_advance(th_field_work *work, const th_graph *graph, const th_walls *walls,
                      const th_target *target, th_front *front, const float *old, float *distance,
                      int64_t *most) {
    th_march march = {graph, front, distance};
    if (work->part == BEGUN) {
        make_ready(&march, work, old, most);
        if (work->node < graph->nodes->count) return false;
        front->count = 0;
        seed(&march, walls, target);
        work->node = 0;
        work->part = SEEDED;
    }
    if (work->part == SEEDED) go_on(&march, work, most);
    if (work->part != MARCHES) return false;
    for (; front->count > 0 && *most > 0; *most -= SETTLE) settle(&march, th_front_take(front));
    return front->count == 0;
}

bool th_field_work_is_sound(const th_field_work *work, int nodes) {
    return work->part >= 0 && work->part < PARTS && work->node >= 0 && work->node <= nodes &&
           work->keep >= 0.0f;
}

int64_t th_field_most_work(const th_graph *graph) {
    return (int64_t)graph->nodes->count * (MAKE_READY + SETTLE);
}

void th_field_resolve(const th_graph *graph, const th_walls *walls, const th_target *target,
                      float keep, th_front *front, float *distance) {
    th_field_work work = th_field_begin(graph, keep);
    int64_t most = INT64_MAX;
    th_field_advance(&work, graph, walls, target, front, distance, distance, &most);
}

void th_field_solve(const th_graph *graph, const th_walls *walls, const th_target *target,
                    th_front *front, float *distance) {
    th_field_resolve(graph, walls, target, 0.0f, front, distance);
}
