// Questions about agents: by id, nearest, in a shape, on a ray, around a point; numbers by name. SPDX-License-Identifier: Apache-2.0
#include "world/ask.h"
#include "core/kernel.h"
#include "formula/segment.h"
#include "world/world.h"
#include <math.h>
#include <string.h>

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
