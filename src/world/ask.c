// Questions about agents (by id, nearest, in a shape, on a ray, around a point), places (the way there, a free place) and
// numbers by name. SPDX-License-Identifier: Apache-2.0
#include "throng/ask.h"
#include "core/kernel.h"
#include "formula/math.h"
#include "formula/segment.h"
#include "formula/vec.h"
#include "plan/prepared.h"
#include "space/distance_grid.h"
#include "state/device.h"
#include "state/world.h"
#include "world/world.h"
#include <math.h>
#include <string.h>

// ---- the agents of a box

// Walks over all agents of a level that may lie in a box, by the cells of the last step, widened by how far agents went
// since; agents spawned since then come last.
typedef struct th_asked {
    const th_world *world;
    const th_level_grid *grid;
    uint32_t level;
    th_rows rows;
    uint32_t next, end;
    bool rest; // all rows are done
} th_asked;

static inline th_asked th_ask_box(const th_world *world, int level, th_vec2 low, th_vec2 high) {
    const th_level_grid *grid = &world->index.grids[level];
    float moved = world->max_moved + 0.01f; // rounding
    th_rows rows = {th_grid_row(grid, low.y - moved), th_grid_row(grid, high.y + moved),
                    th_grid_column(grid, low.x - moved), th_grid_column(grid, high.x + moved)};
    bool indexed = world->index.cell_count > 0;
    return (th_asked){.world = world,
                      .grid = grid,
                      .level = (uint32_t)level,
                      .rows = rows,
                      .end = indexed ? 0 : (uint32_t)world->agents.count,
                      .rest = !indexed};
}

static inline bool th_ask_more(th_asked *asked) {
    const th_world *world = asked->world;
    if (asked->rest) return false;
    if (th_next_run(&world->index, asked->grid, &asked->rows, &asked->next, &asked->end))
        return true;
    asked->rest = true;
    asked->next = world->index.cell_start[world->index.cell_count];
    asked->end = (uint32_t)world->agents.count;
    return true;
}

// The next agent that is there, on this level; false: no more.
static inline bool th_ask_next(th_asked *asked, uint32_t *agent) {
    const th_agents *agents = &asked->world->agents;
    do
        while (asked->next < asked->end) {
            uint32_t j = asked->next++;
            if (agents->level[j] != asked->level || th_gone(agents->phase[j])) continue;
            *agent = j;
            return true;
        }
    while (th_ask_more(asked));
    return false;
}

// An agent, not a disc of a scripted solid body.
static inline bool th_is_agent(const th_world *world, uint32_t i) {
    return world->agents.phase[i] != TH_PHASE_BODY;
}

static inline bool th_is_place(th_vec2 p) { return fabsf(p.x) < 1e6f && fabsf(p.y) < 1e6f; }
static inline bool th_is_level(const th_world *world, int level) {
    return level >= 0 && level < world->scene->level_count;
}

static int find_id(const char *const *first, size_t size, int count, const char *id) {
    const char *at = (const char *)first;
    for (int k = 0; k < count; ++k, at += size) {
        const char *name;
        memcpy(&name, at, sizeof name); // every element of these lists begins with its id
        if (name && strcmp(name, id) == 0) return k;
    }
    return -1;
}

int th_scene_find(const th_scene *scene, th_list list, const char *id) {
    if (!id) return -1;
    switch (list) {
#define LIST(NAME, name, count)                                                             \
    case TH_LIST_##NAME:                                                                    \
        return find_id((const char *const *)(const void *)scene->name, sizeof *scene->name, \
                       scene->count, id);
        LIST(LEVELS, levels, level_count)
        LIST(LINKS, links, link_count)
        LIST(ZONES, zones, zone_count)
        LIST(PICTURES, pictures, picture_count)
        LIST(DOORS, doors, door_count)
        LIST(GOALS, goals, goal_count)
        LIST(GROUPS, groups, group_count)
        LIST(SCRIPTED, scripted, scripted_count)
        LIST(LINES, measure_lines, measure_line_count)
        LIST(AREAS, measure_areas, measure_area_count)
#undef LIST
    case TH_LIST_COUNT: break;
    }
    return -1;
}

// ---- agents

static th_seen seen_from(const th_world *world, uint32_t i, th_vec2 p) {
    const th_agents *agents = &world->agents;
    th_vec2 at = th_position(agents, i);
    return (th_seen){.id = {agents->id[i]},
                     .group = (int)agents->group[i],
                     .phase = (th_phase)agents->phase[i],
                     .position = at,
                     .velocity = th_velocity(agents, i),
                     .radius = agents->radius[i],
                     .distance = th_length(th_sub(at, p))};
}

bool th_world_agent(const th_world *world, th_agent_id id, th_seen *agent, int *level) {
    *agent = (th_seen){0};
    th_refresh(world, TH_ALL_FIELDS);
    int64_t i = th_find_agent(world, id.serial);
    if (i < 0 || th_gone(world->agents.phase[i]) || !th_is_agent(world, (uint32_t)i)) return false;
    *agent = seen_from(world, (uint32_t)i, th_position(&world->agents, (uint32_t)i));
    if (level) *level = (int)world->agents.level[i];
    return true;
}

static bool comes_before(const th_seen *a, const th_seen *b) {
    return a->distance < b->distance || (a->distance == b->distance && a->id.serial < b->id.serial);
}

// Keeps the list sorted; returns how many it holds then.
static int insert(th_seen *agents, int count, int max, const th_seen *seen) {
    if (count == max && !comes_before(seen, &agents[count - 1])) return count;
    int at = count < max ? count++ : max - 1;
    for (; at > 0 && comes_before(seen, &agents[at - 1]); --at) agents[at] = agents[at - 1];
    agents[at] = *seen;
    return count;
}

int th_world_nearest(const th_world *world, int level, th_vec2 point, float range, th_seen *agents,
                     int max) {
    if (!th_is_level(world, level) || !th_is_place(point) || !(range >= 0.0f) || max <= 0) return 0;
    th_refresh(world, TH_ALL_FIELDS);
    range = th_min(range, 1e6f);
    th_vec2 reach = th_v(range, range);
    th_asked asked = th_ask_box(world, level, th_sub(point, reach), th_add(point, reach));
    int count = 0;
    for (uint32_t i; th_ask_next(&asked, &i);) {
        if (!th_is_agent(world, i)) continue;
        th_seen seen = seen_from(world, i, point);
        if (seen.distance <= range) count = insert(agents, count, max, &seen);
    }
    return count;
}

typedef struct shape {
    th_vec2 low, high, middle;
    float radius; // below 0: no circle
    const th_vec2 *corners;
    int corner_count; // 0: no polygon
} shape;

static bool surrounds(const shape *s, th_vec2 p) {
    bool inside = false;
    for (int k = 0, before = s->corner_count - 1; k < s->corner_count; before = k++)
        if (th_ray_crosses(s->corners[before], s->corners[k], p)) inside = !inside;
    return inside;
}

static bool holds(const shape *s, th_vec2 p) {
    if (!(p.x >= s->low.x && p.y >= s->low.y && p.x <= s->high.x && p.y <= s->high.y)) return false;
    if (s->corner_count > 0) return surrounds(s, p);
    return s->radius < 0.0f || th_length2(th_sub(p, s->middle)) <= s->radius * s->radius;
}

static int agents_in(const th_world *world, int level, const shape *s, th_seen *agents, int max) {
    int count = 0;
    th_refresh(world, TH_ALL_FIELDS);
    th_asked asked = th_ask_box(world, level, s->low, s->high);
    for (uint32_t i; th_ask_next(&asked, &i);) {
        if (!th_is_agent(world, i) || !holds(s, th_position(&world->agents, i))) continue;
        if (count < max) agents[count] = seen_from(world, i, s->middle);
        ++count;
    }
    return count;
}

int th_world_agents_in_circle(const th_world *world, int level, th_vec2 centre, float radius,
                              th_seen *agents, int max) {
    if (!th_is_level(world, level) || !th_is_place(centre) || !(radius >= 0.0f)) return 0;
    radius = th_min(radius, 1e6f);
    th_vec2 reach = th_v(radius, radius);
    shape s = {th_sub(centre, reach), th_add(centre, reach), centre, radius, NULL, 0};
    return agents_in(world, level, &s, agents, max);
}

static shape box_of(th_vec2 low, th_vec2 high) {
    return (shape){low, high, th_scale(0.5f, th_add(low, high)), -1.0f, NULL, 0};
}

int th_world_agents_in_box(const th_world *world, int level, th_box box, th_seen *agents, int max) {
    th_vec2 low = {box.min_x, box.min_y}, high = {box.max_x, box.max_y};
    if (!th_is_level(world, level) || !th_is_place(low) || !th_is_place(high)) return 0;
    shape s = box_of(low, high);
    return agents_in(world, level, &s, agents, max);
}

int th_world_agents_in_polygon(const th_world *world, int level, const th_vec2 *corners,
                               int corner_count, th_seen *agents, int max) {
    if (!th_is_level(world, level) || corner_count < 3) return 0;
    th_vec2 low = corners[0], high = corners[0];
    for (int k = 0; k < corner_count; ++k) {
        if (!th_is_place(corners[k])) return 0;
        low = th_v(th_min(low.x, corners[k].x), th_min(low.y, corners[k].y));
        high = th_v(th_max(high.x, corners[k].x), th_max(high.y, corners[k].y));
    }
    shape s = box_of(low, high);
    s.corners = corners;
    s.corner_count = corner_count;
    return agents_in(world, level, &s, agents, max);
}

// ---- rays

// Where along p -> p + path (0 .. 1) the disc is met first; 2: not at all.
static float meets_disc(th_vec2 p, th_vec2 path, th_vec2 centre, float radius) {
    th_vec2 off = th_sub(p, centre);
    float c = th_length2(off) - radius * radius;
    if (c <= 0.0f) return 0.0f;
    float a = th_length2(path), b = th_dot(off, path), root = b * b - a * c;
    if (!(a > 0.0f) || b >= 0.0f || root < 0.0f) return 2.0f;
    float t = c / (-b + sqrtf(root)); // the smaller root, without cancellation
    return t <= 1.0f ? t : 2.0f;
}

typedef struct ray {
    const th_world *world;
    int level;
    th_vec2 from, path;
    uint32_t but;
    float t; // of the nearest hit, 2: none
    uint32_t agent;
} ray;

static void try_agents(ray *r, th_vec2 low, th_vec2 high) {
    const th_agents *agents = &r->world->agents;
    float reach = r->world->max_radius;
    th_asked asked = th_ask_box(r->world, r->level, th_sub(low, th_v(reach, reach)),
                                th_add(high, th_v(reach, reach)));
    for (uint32_t i; th_ask_next(&asked, &i);) {
        if (agents->id[i] == r->but && r->but != 0) continue;
        float t = meets_disc(r->from, r->path, th_position(agents, i), agents->radius[i]);
        if (t > 1.0f || t > r->t || (t == r->t && agents->id[i] > agents->id[r->agent])) continue;
        r->t = t;
        r->agent = i;
    }
}

// Piece by piece, so that a long ray does not look at its whole box. An agent that is met within a piece lies in the
// piece's box, grown by a radius, so no later piece has a nearer one.
static void meet_agents(ray *r) {
    const float longest = 5.0f; // [m] a few cells
    enum { PIECES = 64 };       // beyond: longer pieces
    float length = th_length(r->path);
    int pieces = 1 + (int)th_min(length / longest, (float)(PIECES - 1));
    if (r->world->max_moved > longest) pieces = 1; // the cells are too old to tell pieces apart
    for (int k = 0; k < pieces && r->t > (float)k / (float)pieces; ++k) {
        th_vec2 a = th_add(r->from, th_scale((float)k / (float)pieces, r->path));
        th_vec2 b = th_add(r->from, th_scale((float)(k + 1) / (float)pieces, r->path));
        try_agents(r, th_v(th_min(a.x, b.x), th_min(a.y, b.y)),
                   th_v(th_max(a.x, b.x), th_max(a.y, b.y)));
    }
}

static th_vec2 towards_start(th_vec2 normal, th_vec2 path) {
    return th_dot(normal, path) > 0.0f ? th_scale(-1.0f, normal) : normal;
}

static void meet_walls(const ray *r, th_hit *hit, float *t) {
    th_walls walls = th_world_walls(r->world);
    float at;
    int w = walls.count == 0
                ? -1
                : th_walls_first_crossing(&walls, r->level, r->from, th_add(r->from, r->path), &at);
    if (w < 0) return;
    const th_wall *wall = &walls.walls[w];
    *t = at;
    hit->kind = TH_HIT_WALL;
    hit->door = wall->door >= 0 && wall->door != TH_NARROW_GAP ? wall->door : -1;
    hit->normal = towards_start(th_perp_right(wall->direction), r->path);
}

th_hit th_world_ray(const th_world *world, int level, th_vec2 from, th_vec2 to, int stops,
                    th_agent_id but) {
    th_hit hit = {.kind = TH_HIT_NOTHING, .point = to, .door = -1};
    if (!th_is_level(world, level) || !th_is_place(from) || !th_is_place(to)) return hit;
    th_refresh(world, TH_ALL_FIELDS);
    ray r = {world, level, from, th_sub(to, from), but.serial, 2.0f, 0};
    float t = 1.0f;
    if (stops & TH_RAY_WALLS) meet_walls(&r, &hit, &t);
    if (stops & TH_RAY_AGENTS) meet_agents(&r);
    if (r.t <= t) {
        t = r.t;
        hit.kind = TH_HIT_AGENT;
        hit.door = -1;
        hit.agent.serial = th_is_agent(world, r.agent) ? world->agents.id[r.agent] : 0;
        hit.normal = t > 0.0f ? th_unit(th_sub(th_add(from, th_scale(t, r.path)),
                                               th_position(&world->agents, r.agent)))
                              : th_v(0.0f, 0.0f);
    }
    hit.point = th_add(from, th_scale(t, r.path));
    hit.distance = t * th_length(r.path);
    return hit;
}

// ---- the crowd around a point: density, speed and pressure by the kernel of the maps (core/kernel.h), in a window around the
// point that lies on the stack

#define CELL 0.5 // [m] of the maps
#define PI 3.14159265f

// The agent's place in the order of the ids; -1: the order is not up to date, and forces cannot be told apart.
static int place_of(const th_world *world, uint32_t id) {
    int low = 0, high = world->id_order_valid ? world->id_order_count - 1 : -1;
    while (low <= high) {
        int middle = low + (high - low) / 2;
        uint32_t found = world->agents.id[world->id_order[middle]];
        if (found == id) return middle;
        if (found < id)
            low = middle + 1;
        else
            high = middle - 1;
    }
    return -1;
}

// Half of the sum of forces squeezes the body (throng/world.h), divided by its circumference.
static float line_pressure(const th_world *world, uint32_t i, const float *forces) {
    int place = place_of(world, world->agents.id[i]);
    return place < 0 ? NAN : 0.5f * forces[place] / (2.0f * PI * world->agents.radius[i]);
}

static th_asked people_of(const th_world *world, const th_kernel *kernel) {
    th_vec2 low = {kernel->min_x, kernel->min_y};
    th_vec2 high = {low.x + (float)kernel->nx * kernel->cell,
                    low.y + (float)kernel->ny * kernel->cell};
    return th_ask_box(world, kernel->level, low, high);
}

// Weighted sums at the point: of the velocities, or, with forces, of the line pressures as their first component.
static void sum_up(const th_world *world, th_kernel_room *room, th_vec2 point, const float *forces,
                   float sums[TH_SUMS]) {
    const th_kernel *kernel = &room->kernel;
    th_asked asked = people_of(world, kernel);
    for (uint32_t i; th_ask_next(&asked, &i);) {
        th_vec2 p = th_position(&world->agents, i);
        if (th_is_agent(world, i)) th_kernel_note(kernel, &room->work, p.x, p.y);
    }
    asked = people_of(world, kernel);
    for (uint32_t i; th_ask_next(&asked, &i);) {
        if (!th_is_agent(world, i)) continue;
        th_vec2 p = th_position(&world->agents, i), v = th_velocity(&world->agents, i);
        if (forces) v = th_v(line_pressure(world, i, forces), 0.0f);
        th_kernel_put(kernel, &room->work, p.x, p.y, v,
                      th_kernel_alone(kernel, &room->work, p.x, p.y));
    }
    th_kernel_spread(kernel, &room->work);
    int cell = th_kernel_cell(kernel, point.x, point.y);
    th_kernel_read(kernel, &room->work, cell % kernel->nx, cell / kernel->nx, sums);
}

bool th_world_crowd_at(const th_world *world, int level, th_vec2 point, const float *forces,
                       th_crowd *crowd) {
    *crowd = (th_crowd){0};
    th_kernel_room room;
    th_ground ground = th_ground_of(th_scene_view_of(world->scene));
    if (!th_is_level(world, level) || !th_is_place(point) ||
        !th_kernel_window(&ground, level, CELL, point, &room))
        return false;
    th_refresh(world, TH_ALL_FIELDS);
    float sums[TH_SUMS];
    sum_up(world, &room, point, NULL, sums);
    int cell = th_kernel_cell(&room.kernel, point.x, point.y);
    float people = sums[TH_SUM_PEOPLE];
    bool any = people > 0.0f;
    crowd->density = th_kernel_density(&room.kernel, (size_t)cell, sums);
    crowd->speed = any ? sums[TH_SUM_SPEED] / people : NAN;
    crowd->pressure = NAN;
    if (!any) return true;
    crowd->velocity = th_v(sums[TH_SUM_VELOCITY_X] / people, sums[TH_SUM_VELOCITY_Y] / people);
    if (!forces) return true;
    th_kernel_clear(&room.kernel, &room.work);
    sum_up(world, &room, point, forces, sums);
    crowd->pressure = sums[TH_SUM_VELOCITY_X] / people;
    return true;
}

// ---- places: the way from here to there, and a free place near a point

// The way is found by A* on the lattice of the distance fields, in the graph in force, over nodes where the body has room;
// then it is pulled tight: from each corner to the furthest node that a body sees. Cost: O(nodes log nodes) at most, with
// work space for all nodes.

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

static th_way_point node_place(const search *s, int node) {
    int level = th_node_level_of(s->nodes, node);
    return (th_way_point){th_node_position(s->nodes, &s->nodes->levels[level], node), level};
}

static void offer(search *s, int node, int before, float length) {
    th_way_point at = node_place(s, node);
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
static int find_way(search *s) {
    int ends[16], end_count = around(s, s->to, ends), starts[16];
    int start_count = around(s, s->from, starts);
    for (int k = 0; k < start_count; ++k)
        offer(s, starts[k], -1, th_length(th_sub(node_place(s, starts[k]).point, s->from.point)));
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
        for (int n = s->before[node]; n >= 0 && sees(s, at, node_place(s, n)); n = s->before[n])
            furthest = n;
        th_way_point corner = node_place(s, furthest);
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
    int last = ready ? find_way(s) : -1;
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
