// throng: questions to a scene or a world, for games and robots: agents near a point, rays, ways, free places, the crowd
// around a point, numbers by name. Positions are relative to the scene's origin [m].
//
// Threads: all of these write nothing. Any number of threads may ask a world between two steps; a world on a device is
// used by one thread at a time. The answers do not depend on the number of threads.
// SPDX-License-Identifier: Apache-2.0
#ifndef THRONG_ASK_H
#define THRONG_ASK_H

#include "throng/world.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- numbers by name: the lists of a scene (scene_view.h) whose elements have an id. X(NAME, name)
#define TH_LISTS(X)         \
    X(LEVELS, levels)       \
    X(LINKS, links)         \
    X(ZONES, zones)         \
    X(PICTURES, pictures)   \
    X(DOORS, doors)         \
    X(GOALS, goals)         \
    X(GROUPS, groups)       \
    X(SCRIPTED, scripted)   \
    X(LINES, measure_lines) \
    X(AREAS, measure_areas)
typedef enum th_list {
#define X(NAME, name) TH_LIST_##NAME,
    TH_LISTS(X)
#undef X
        TH_LIST_COUNT
} th_list;
// The number of the element with this id; -1: there is none, or no such list. Exits, waypoints and waiting areas are goals.
TH_API int th_scene_find(const th_scene *scene, th_list list, const char *id);

// ---- agents. Scripted solid bodies are not among them; agents lying on the ground are.
typedef struct th_seen {
    th_agent_id id;
    int group;
    th_phase phase;
    th_vec2 position, velocity;
    float radius;
    // Distance of its centre from the given point, or from the middle of the circle or the box [m]
    float distance;
} th_seen;

// One agent by its id. False, and nothing in *agent: it is not alive. `level` may be NULL.
TH_API bool th_world_agent(const th_world *world, th_agent_id id, th_seen *agent, int *level);
// The nearest agents whose centres are within `range` of the point, nearest first, ties by id; at most `max`. Returns how
// many. Here and below: 0 for a level that does not exist, numbers that are not finite, or a range below 0.
TH_API int th_world_nearest(const th_world *world, int level, th_vec2 point, float range,
                            th_seen *agents, int max);
// All agents whose centres are in a circle, a box or a polygon (at least 3 corners, closed by itself; a point is inside when an
// odd number of edges surround it). Returns how many there are; the first `max` of them are stored, in an order that does not
// depend on threads. `agents` may be NULL where `max` is 0.
TH_API int th_world_agents_in_circle(const th_world *world, int level, th_vec2 centre, float radius,
                                     th_seen *agents, int max);
TH_API int th_world_agents_in_box(const th_world *world, int level, th_box box, th_seen *agents,
                                  int max);
TH_API int th_world_agents_in_polygon(const th_world *world, int level, const th_vec2 *corners,
                                      int corner_count, th_seen *agents, int max);

// ---- rays
typedef enum th_hit_kind { TH_HIT_NOTHING, TH_HIT_WALL, TH_HIT_AGENT } th_hit_kind;
typedef struct th_hit {
    th_hit_kind kind;
    float distance; // from the start [m]; the ray's length where it hits nothing
    th_vec2 point;  // where
    // Unit, of what was hit, towards the start; (0, 0) where the ray begins inside an agent.
    th_vec2 normal;
    th_agent_id agent; // TH_HIT_AGENT; serial 0 where it is a disc of a scripted solid body
    int door;          // TH_HIT_WALL: the shut door; -1: a wall
} th_hit;
enum { TH_RAY_WALLS = 1, TH_RAY_AGENTS = 2 }; // what stops a ray: bits
// The first thing between two points of a level. Shut doors and live walls are walls. `but`: an agent to look past, such as
// the one that looks; serial 0: none.
TH_API th_hit th_world_ray(const th_world *world, int level, th_vec2 from, th_vec2 to, int stops,
                           th_agent_id but);

// ---- ways
typedef struct th_way_point {
    th_vec2 point;
    int level;
} th_way_point;
// A short way for a body of this radius, around walls, shut doors and live walls as they stand, over stairs, not around agents.
// It is a search on the lattice of the distance fields and then pulled tight: it costs memory of the world's allocator and
// about a millisecond per 10 000 nodes. `points`: the corners, `to` last, the first `max` of them; `from` is not among
// them. Returns the number of corners, and in *length (or NULL) the length [m]. 0 and INFINITY: there is no way, the scene
// has no distance fields and the straight line is not free (th_scene_plan_spacing), a point is not walkable, or there is
// no memory.
TH_API int th_world_path(const th_world *world, th_way_point from, th_way_point to, float radius,
                         th_way_point *points, int max, float *length);
// The nearest place, to within a third of the radius, at which a disc of this radius touches neither wall nor agent: at most
// `range` away and, where the point itself is walkable, not behind a wall. False: there is none.
TH_API bool th_world_free_place(const th_world *world, int level, th_vec2 point, float radius,
                                float range, th_vec2 *place);

// ---- the crowd around a point, by the kernel of the density maps (docs/reports.md): people weighted by distance, about a disc
// of 1.1 m radius, divided by the floor in it
typedef struct th_crowd {
    float density;    // [1/m2]; a person alone counts little
    float speed;      // mean of the people there [m/s]; NAN: no people
    th_vec2 velocity; // mean [m/s]; (0, 0): no people
    // Mean line pressure that squeezes them [N/m]; NAN: no people, or no forces given.
    float pressure;
} th_crowd;
// `forces`: of th_world_contact_forces for the world as it stands, or NULL. False, and zeros: no such level, or beyond its box.
// Costs some 20 us on open ground and up to a millisecond beside walls; for a map, observe the world instead.
TH_API bool th_world_crowd_at(const th_world *world, int level, th_vec2 point, const float *forces,
                              th_crowd *crowd);

#ifdef __cplusplus
}
#endif
#endif
