// throng: the world, everything that changes. Many worlds may share one scene.
//
// Threads: different worlds are independent. Of one world, functions that take a const th_world write nothing and may be
// called by several threads at once; all others need it for themselves. A world on a device keeps a copy on the host that
// every question refreshes, so it is used by one thread at a time, const or not.
// SPDX-License-Identifier: Apache-2.0
#ifndef THRONG_WORLD_H
#define THRONG_WORLD_H

#include "throng/base.h"
#include "throng/fields.h"
#include "throng/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct th_world th_world;

typedef enum th_backend { TH_BACKEND_CPU, TH_BACKEND_CUDA } th_backend;

// The stages of a step, in order: X(NAME, name, doc).
#define TH_STAGES(X)                                                            \
    X(EVENTS, events, "doors and sources")                                      \
    X(INDEX, index, "sort agents into cells, drop those that left")             \
    X(BEHAVE, behave, "phases and routes: setting off, waiting, next goal")     \
    X(PLAN, plan, "preferred velocity")                                         \
    X(FILTER, filter, "changes to the preferred velocity")                      \
    X(MOVE, move, "local model: new velocity and position")                     \
    X(CONTACT, contact, "pairs apart, walls have the last word, levels change") \
    X(MEASURE, measure, "exits, counters, statistics")

typedef enum th_stage {
#define X(NAME, name, doc) TH_STAGE_##NAME,
    TH_STAGES(X)
#undef X
        TH_STAGE_COUNT
} th_stage;

// Threads of the host instead of throng's own, in the manner of Box2D 3: the world hands over the loops of its step that take
// longest, and waits for them. Bit by bit the same however they are spread; what is not handed over runs in the thread that steps.
typedef void th_task_fn(int begin, int end, void *task_context);
typedef struct th_host_threads {
    // Arranges for task(begin, end, task_context) to be called, on any threads and in any order, for ranges that cover 0 ..
    // items - 1 once. Returns at once: a handle for `finish` to wait for, or NULL where all is done already.
    void *(*begin)(th_task_fn *task, int items, void *task_context, void *context);
    void (*finish)(void *begun, void *context); // NULL: `begin` always returns NULL
    void *context;
} th_host_threads;

typedef struct th_world_def {
    uint32_t cookie; // set by th_world_def_default
    th_backend backend;
    int threads; // 0: as many as the crowd is worth and cores are free. Results do not depend on it.
    uint64_t seed; // 0: the scene's
    double step;   // [s] 0: the scene's
    double end; // [s] sources reserve room for the agents they bring until then; 0: the scene's end
    int max_agents; // most agents alive at once; 0: what the scene's groups can bring (at least 1024)
    th_allocator allocator; // default: malloc
    th_log_fn *log;
    void *log_context;
    // [s] For games: when a door or a wall changes, the distance fields and the road map follow within this time, a share in
    // every step, so that no step takes much longer than the others; until then agents walk by the old ones. Snapshots hold the
    // fields then, so that restoring them is a copy. Results depend on it, but not on when snapshots are made or restored.
    // 0: at once. At most 60. Worlds on a device, and the planners guided and continuum, follow at once.
    double replan;
    th_host_threads host; // begin NULL: throng's own threads. With it, threads is 0 or 1.
    // The world is one of several processes' with one crowd, throng/ranks.h. NULL: it holds all people. As long as the world.
    const struct th_comm *comm;
    struct th_batch *batch; // of a world on a device; NULL: it is stepped by itself
} th_world_def;

TH_API th_world_def th_world_def_default(void);
// Places the scene's people; fails with TH_NO_ROOM, naming the group and how many fit.
TH_API th_result th_world_create(const th_scene *scene, const th_world_def *def, th_world **world,
                                 th_error *error);
TH_API void th_world_destroy(th_world *world);

// Many small worlds on one device, each used by a thread of its own: what their threads ask of the device is done
// together. Each has the bits that it has alone. A batch lives longer than its worlds. NULL: this build has no device,
// or there is no memory; worlds are then stepped by themselves.
typedef struct th_batch th_batch;
TH_API th_batch *th_batch_create(void);
TH_API void th_batch_destroy(th_batch *batch);

// The only function that moves agents. Allocates nothing.
TH_API void th_world_step(th_world *world, int steps);
TH_API double th_world_time(const th_world *world);
TH_API uint64_t th_world_step_count(const th_world *world);
TH_API uint64_t th_world_seed(const th_world *world); // in force: the definition's or the scene's
TH_API double th_world_step_length(const th_world *world); // [s]
// All agents left, were removed or arrived for good, and no source brings more.
TH_API bool th_world_done(const th_world *world);
TH_API const th_scene *th_world_scene(const th_world *world);

// ---- agents. An id is never given twice, so a stale one is simply not found.
typedef struct th_agent_id {
    uint32_t serial; // 0: no agent
} th_agent_id;

typedef struct th_agent_def {
    uint32_t cookie; // set by th_agent_def_default
    th_vec2 position;
    th_vec2 velocity;
    th_vec2 goal; // for groups with an own goal
    int level, goal_level;
    int group;
    float radius, speed, mass; // <= 0: drawn from the group's distributions
} th_agent_def;

TH_API th_agent_def th_agent_def_default(void);
// Spawns all or none. `ids` may be NULL. Agents placed over others overlap.
TH_API th_result th_world_spawn(th_world *world, const th_agent_def *agents, int count,
                                th_agent_id *ids, th_error *error);
// Returns how many of them were alive; they count as removed.
TH_API int th_world_remove(th_world *world, const th_agent_id *ids, int count);
TH_API bool th_world_alive(const th_world *world, th_agent_id id);
TH_API int th_world_agent_count(const th_world *world); // people and scripted bodies in the views

// ---- bulk data. One host array per field, th_world_agent_count() elements, in ascending id order.
// READ copies out, OVERWRITE copies in at unmap, WRITE does both. Do not step or spawn while mapped.
// A written value that no agent can have (not a number, a level or group that does not exist, a phase
// that is gone or scripted) is not taken over: the old one stays, and repairs counts it. Ids cannot
// be written. map returns NULL when there is no such field or no memory for the view; then there is nothing to unmap.
typedef enum th_access { TH_ACCESS_READ, TH_ACCESS_WRITE, TH_ACCESS_OVERWRITE } th_access;
// Fields of models come after the common ones: th_world_field (throng/model.h) finds their numbers.
TH_API void *th_world_map(th_world *world, int field, th_access access);
TH_API void th_world_unmap(th_world *world, int field);

// ---- grids: what a model that sees the crowd as a fluid knows of every cell of a level.
#define TH_GRIDS(X)                                                                       \
    X(DENSITY, density, "people of the model per m2 of free ground [1/m2]")               \
    X(PACKING, packing, "people of every model against the most that fit, 1: packed [1]") \
    X(PRESSURE, pressure, "its gradient is the velocity that packing takes from people [m2/s]")
typedef enum th_grid_kind {
#define X(NAME, name, doc) TH_GRID_##NAME,
    TH_GRIDS(X)
#undef X
        TH_GRID_COUNT
} th_grid_kind;

typedef struct th_grid {
    int nx, ny;
    float min_x, min_y, cell; // lower left corner from the scene origin, side of a cell [m]
    const float *values;      // row by row from the lower left; valid until the next map or step
} th_grid;

// As of the last step. False, and nothing in the grid, without such a level, when no group's model keeps grids (uic does),
// before the first step, or without memory for the view.
TH_API bool th_world_map_grid(th_world *world, th_grid_kind kind, int level, th_grid *grid);
TH_API const char *th_grid_name(th_grid_kind kind);

// ---- forces between bodies
// The sum of the magnitudes of all normal forces on an agent, from agents and walls that it touches [N]: th_world_agent_count()
// values in id order, of the crowd as it stands. Half of it is the load that squeezes the body; over the circumference
// 2 pi radius it is a line pressure [N/m]. Of a model with soft bodies (social_force) its own contact force; of all
// others what holds hard bodies apart in a crowd that leans on as hard as it wants to walk (docs/reports.md).
// False: no memory, or a world over ranks.
TH_API bool th_world_contact_forces(th_world *world, float *forces);

// ---- moods, as the models of an agent tell them (`mood` of the description); X(NAME, words). The later ones prevail.
#define TH_MOODS(X)           \
    X(CALM, "calm")           \
    X(WAITS, "waits")         \
    X(IMPATIENT, "impatient") \
    X(PANICS, "in panic")     \
    X(FALLEN, "fallen")
typedef enum th_mood {
#define X(NAME, words) TH_MOOD_##NAME,
    TH_MOODS(X)
#undef X
        TH_MOOD_COUNT
} th_mood;
TH_API const char *th_mood_name(th_mood mood);
// A th_mood of every agent: th_world_agent_count() values in id order.
TH_API void th_world_moods(th_world *world, uint8_t *moods);

// ---- live edits, in force from the next step on
TH_API th_result th_world_set_door(th_world *world, const char *door, bool open, th_error *error);
// A thin two-sided wall; number for removal in `wall` (or NULL). Agents on the line are set 3 mm aside.
TH_API th_result th_world_add_wall(th_world *world, int level, th_vec2 a, th_vec2 b, int *wall,
                                   th_error *error);
TH_API th_result th_world_remove_wall(th_world *world, int wall, th_error *error);
// A parameter of a group's behave, plan, filter or move model, by the name `throng list` shows, or `model.name` where several
// models of the group have one. It acts on the agents that
// are there, too: shares that decide what an agent is like (`panic`, `lies`, `knows_all`) are drawn anew from seed and agent, so
// raising one adds agents and lowering it takes agents away. TH_BAD_ARGUMENT: it is out of range, does not fit the other
// parameters, or cannot act in a running world; the old value stays.
TH_API th_result th_world_set_param(th_world *world, int group, const char *name, double value,
                                    th_error *error);

// ---- what happened
typedef struct th_statistics {
    uint64_t spawned, inside, left, removed; // people; spawned = inside + left + removed, always
    uint64_t waiting_to_enter;               // due from sources, no free spot yet
    uint64_t still_to_come;                  // announced by sources that end, not yet due
    double time;
    uint64_t steps;
    double last_left_time;       // when the last person left [s], the egress time of a finished run
    uint64_t wall_crossings;     // centres in a solid, looked at once a second: a bug if not 0
    uint64_t wall_stops;         // moves cut short by the crossing test
    uint64_t overlaps;           // pairs now overlapping by more than 1 cm
    uint64_t overlapping_agents; // agents in such a pair
    float deepest_overlap;       // now [m]
    float largest_overlap;       // ever sampled (once a simulated second and at every call) [m]
    // States set right: not finite, or faster than 10 m/s (than 2.5 times the preferred speed where that is more).
    uint64_t repairs;
    uint64_t fallen;      // people that lie on the ground now, among those inside
    uint64_t falls;       // so far; an agent that gets up may fall again
    uint64_t unreachable; // people whose goal cannot be reached now (all doors on the way shut)
} th_statistics;

// Not const: it samples the overlaps now.
TH_API th_statistics th_world_statistics(th_world *world);

typedef struct th_profile {
    double seconds[TH_STAGE_COUNT]; // since creation or the last reset
    uint64_t steps;
} th_profile;
TH_API th_profile th_world_profile(const th_world *world);
TH_API void th_world_reset_profile(th_world *world);
// Memory taken on the world's device, scene and work space included; 0 on the CPU.
TH_API size_t th_world_device_bytes(const th_world *world);
TH_API const char *th_stage_name(th_stage stage);
TH_API const char *th_field_name(th_field field);

typedef enum th_event_kind {
    TH_EVENT_DOOR_OPENED,
    TH_EVENT_DOOR_CLOSED,
    TH_EVENT_LEFT, // an agent went through exit `index`
} th_event_kind;
typedef struct th_event {
    th_event_kind kind;
    double time;
    int index;         // door or goal
    th_agent_id agent; // for TH_EVENT_LEFT
} th_event;
// Events of the last th_world_step call, in time order, at most a fixed number; `lost` (or NULL) counts the rest.
TH_API const th_event *th_world_events(const th_world *world, int *count, uint64_t *lost);

// Running results of an exit: all agents that left by it, also those whose event was lost.
typedef struct th_exit_count {
    const char *id;
    uint64_t left;
    double first_time, last_time; // [s]
} th_exit_count;
// By the number of a goal of the scene; of a refuge and of a waiting area with a capacity the people in it, else 0 people
// where it is not an exit. Here and below, a number that does not exist gives
// zeros and the id "".
TH_API th_exit_count th_world_exit(const th_world *world, int goal);

// Running results of a measurement line: people counted once per crossing.
typedef struct th_line_count {
    const char *id;
    uint64_t forward, backward; // forward: from the right of line[0]->line[1] to its left
    double first_time, last_time;
    double length; // [m]
} th_line_count;
TH_API int th_world_line_count(const th_world *world);
TH_API th_line_count th_world_line(const th_world *world, int line);
// The same for the lines of doors, indexed like the scene's doors. An agent pushed back and forth over a
// threshold counts forward and backward every time.
TH_API int th_world_door_count(const th_world *world);
TH_API th_line_count th_world_door(const th_world *world, int door);
// Running results of a measurement area: classic density (count / area) and mean speed, now.
typedef struct th_area_state {
    const char *id;
    double area; // walkable part [m2]
    int count;
    double density;    // [1/m2]
    double mean_speed; // [m/s]
} th_area_state;
TH_API int th_world_area_count(const th_world *world);
TH_API th_area_state th_world_area(const th_world *world, int area);

// 64-bit digest of the step count, the counts, when and where agents left, and the id, position, velocity, level, phase
// and leg of all agents; equal for any thread count. Other properties (radius, speed, goal) show in time.
TH_API uint64_t th_world_hash(const th_world *world);

// ---- state. A snapshot holds everything that changes; restore needs the same scene and version.
// Over ranks (throng/ranks.h) it is of the rank's own people, a part of the crowd: restore all parts one after the other, in
// the order of the ranks, into a world of one process or, on all of them alike, over any number of ranks. The world is whole
// after the last part; it must not be stepped before.
TH_API size_t th_world_snapshot_size(const th_world *world);
TH_API th_result th_world_snapshot(const th_world *world, void *memory, size_t size,
                                   th_error *error);
TH_API th_result th_world_restore(th_world *world, const void *memory, size_t size,
                                  th_error *error);

#ifdef __cplusplus
}
#endif
#endif
