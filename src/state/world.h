// The world's state, as every stage sees it. SPDX-License-Identifier: Apache-2.0
#ifndef TH_STATE_WORLD_H
#define TH_STATE_WORLD_H
#include "core/parallel.h"
#include "registry/models.h"
#include "scene/scene.h"
#include "space/index.h"
#include "space/walls.h"
#include "throng/world.h"

// Generation n of every field (from the list), and what a step writes for n+1.
typedef struct th_agents {
#define X(NAME, name, type, doc) type *name;
    TH_FIELDS(X)
#undef X
    // Written by move, corrected by contact, committed at the end of contact.
    float *next_velocity_x, *next_velocity_y;
    uint32_t *cell; // cell of each agent, from the last index stage
    // Scratch space of a step: not sorted, not kept. An array has a name for each of its uses, and a stage uses its own
    // names only.
    union {
        float *next_position_x;     // move and contact: where people go
        float *previous_position_x; // measure: where they were before the step
        float *drive_x; // move in sub-steps: own people's preferred velocity, until the last one
    };
    union {
        float *next_position_y, *previous_position_y, *drive_y;
    };
    union {
        float *separated_x; // contact and pair steps: what a pass writes
        float *substep_x;   // move in sub-steps: where people are now
        float *heading_x;   // filter: direction in which people planned to go, unit or 0
    };
    union {
        float *separated_y, *substep_y, *heading_y;
    };
    union {
        float *substep_velocity_x; // move in sub-steps: their velocity now
        float *pair_half;          // the pair step of uic: half the distance that is kept
    };
    union {
        float *substep_velocity_y;
        float *pair_share; // the pair step of uic: how much of an overlap a person gives way
    };
    union {
        uint32_t *order; // index: the new order of the agents
        // Move in sub-steps: what hides agents, and agents across a link, TH_AROUND_*.
        uint32_t *around;
        uint32_t *pair_flags; // the pair step of uic
    };
    union {
        uint32_t *slot;          // index: the place within a cell
        uint32_t *contact_flags; // contact: TH_CONTACT_*
        uint32_t *exit;          // measure: by which exit an agent left
        uint32_t *listed;        // people picked out of all: the tight ones of uic
    };
    // Fields of the world's models, sorted like the others; world->first_own says where a model's begin.
    void **own;
    int own_count;
    int count, capacity; // count includes agents that left in this step, until the next index stage
} th_agents;

// The models of a group, with parameters that may be edited live. Indexed like agents.group: the scene's
// groups, then one per scripted body.
typedef struct th_group_state {
    th_model_id behave[TH_BEHAVE_MAX], plan, filter, move;
    int behave_count;
    float behave_params[TH_BEHAVE_MAX][TH_PARAM_MAX], plan_params[TH_PARAM_MAX],
        filter_params[TH_PARAM_MAX], move_params[TH_PARAM_MAX];
    th_body_rules body;   // of the move model, by move_params
    th_rigid rigid;       // whether bodies turn their shoulders, as the scene says
    bool separates_pairs; // the move model does that itself
    bool follows_route;   // setting off, legs and leaving are route's
    bool led;             // a behaviour sets the own goal, also of those with a route
    int left_to_plan;     // the behaviour's own field that leaves people to the planner; -1: none
    bool goes_straight;   // the plan model needs neither distance fields nor the road map
    bool scripted;
} th_group_state;

typedef struct th_source_state {
    uint64_t due;    // people owed so far
    uint64_t placed; // people that found a spot
} th_source_state;

// Running totals. Threads count for themselves and the integers are added up: order does not matter.
typedef struct th_counters {
    uint64_t spawned, left, removed;
    // Digest of all departures, with time and place: worlds that emptied differently have different hashes.
    uint64_t left_digest;
    uint64_t wall_crossings, wall_stops, repairs, unreachable;
    uint64_t fallen; // agents that lie on the ground now
    uint64_t falls;  // so far
    double last_left_time;
    float largest_overlap;
} th_counters;

// Every agent array is this much longer than the capacity, so that vector loops may read a full
// register at the end.
enum { TH_ARRAY_PAD = 16 };

enum { TH_LIVE_WALL_MAX = 256 };

// The numbers of threads tried beside other busy programs, and their times: world/world.h.
enum { TH_TEAM_FEW, TH_TEAM_ALL }; // as many as cores are free, or as the crowd is worth
typedef struct th_team {
    int most;           // what the crowd may grow to use; 0: the caller gave a number
    bool busy;          // others run on the cores
    int candidate;      // TH_TEAM_*, in use now
    double cost[2];     // [s] per person and step of either; 0: not measured yet
    double since_trial; // [s] stepped since the slower one was tried
    int people;         // in the last step
} th_team;

struct th_world {
    const th_scene *scene;
    th_memory memory;
    th_arena arena; // all that lasts as long as the world, the world itself too
    th_log_fn *log;
    void *log_context;
    int threads;          // in use now
    th_host_threads host; // that loops are handed to; begin NULL: none
    th_team team;
    uint64_t seed;
    double step_length; // [s] as given; time is a multiple of it
    double replan;      // [s] in which fields follow changed walls; 0: at once
    float dt;           // the same, for the formulas
    double time;
    uint64_t step_count;
    uint32_t next_id;

    th_agents agents;
    // Second array of every field: the index stage of the CPU sorts from one to the other and swaps them.
    void **other_field;
    th_index index;
    th_box *level_boxes; // work space of the index stage
    float cell_size;
    float max_radius; // of all agents so far
    float max_moved;  // furthest an agent went since the index was made [m]

    th_group_state *groups; // group_count of the scene + scripted_count
    int group_count;
    th_source_state *sources;

    uint8_t *door_closed;
    int *door_next_change;
    th_wall *walls;  // scene walls, then 2 * TH_LIVE_WALL_MAX live edges, then the edges of bodies
    int wall_count;  // without those of bodies
    th_body *bodies; // TH_BODY_MAX
    int body_count;  // the last one in use, and those before it
    uint32_t walls_version; // raised by every door or wall change; planners compare it

    struct th_plan_world *plan; // distance fields in force, plan/plan.h
    // By model number: what a model keeps, NULL where no group uses it, and its first field in agents.own.
    void *model_state[TH_MODEL_MAX];
    int first_own[TH_MODEL_MAX];
    uint32_t *own_hash_factor; // by own field: odd for fields that are hashed, 0 for others
    // The models in use of a stage, in the order in which they run.
    int stage_models[TH_STAGE_COUNT][TH_MODEL_MAX], stage_model_count[TH_STAGE_COUNT];
    bool on_device; // lives there; work space that only the CPU needs is not made
    const struct th_device_backend *device; // state/device.h; NULL: the world lives here
    struct th_batch *batch;                 // of the definition
    struct th_ranks *ranks;                 // state/ranks.h; NULL: the world holds the whole crowd
    const uint8_t *ghost;      // by place, a copy of another rank's person; NULL: there are none
    int crowd_capacity;        // of all ranks together; else that of the agents
    int next_part, part_count; // of the snapshots that are being restored
    struct th_device_world *device_world; // the device's copy, src/device

    th_line_count *lines; // the scene's measurement lines, then its doors
    th_exit_count *exits; // by goal, without their names
    th_counters counters;
    th_profile profile;
    // Why a model's `create` failed, where it is not for want of memory; only while the world is made.
    th_error *trouble;
    th_event *events;
    int event_count;
    int left_in_step; // people marked TH_PHASE_LEFT by this step
    uint64_t events_lost;

    // views
    uint32_t *id_order; // storage index of the k-th living agent by id; valid while id_order_valid
    int id_order_count;
    bool id_order_valid;
    void **views; // by field, as view_access
    th_access *view_access;
    uint32_t *one_agent; // work space of checks from outside: all fields of an agent
    float *grid_views[TH_GRID_COUNT];
    size_t grid_view_sizes[TH_GRID_COUNT]; // values there is room for
};

// The first edge of a body among the walls.
TH_BOTH static inline int th_body_edge(const th_world *world, int body) {
    return world->scene->wall_count + 2 * TH_LIVE_WALL_MAX + TH_BODY_CORNERS * body;
}
TH_BOTH static inline bool th_is_rigid(const th_world *world, uint32_t i) {
    return th_is_rigid_body(world->groups[world->agents.group[i]].rigid, world->agents.radius[i]);
}
// Events that a call of th_world_step keeps: every agent may leave in it, and doors open and close.
TH_BOTH static inline uint32_t th_event_max(const th_world *world) {
    return (uint32_t)world->agents.capacity + 4096;
}

// Least distance of the centre from a wall [m]: the radius, or less for an agent that turns its shoulders.
TH_BOTH static inline float th_wall_radius(const th_world *world, uint32_t i) {
    float depth = th_is_rigid(world, i) ? 1.0f : world->groups[world->agents.group[i]].body.depth;
    return depth * world->agents.radius[i];
}
// Distance of the nearest wall from p, at most `radius` [m].
TH_BOTH static inline float th_wall_room(const th_walls *walls, int level, th_vec2 p,
                                         float radius) {
    int nearest;
    float distance2;
    bool any = th_walls_near(walls, level, p, radius, &nearest, &distance2, 1) > 0;
    return any ? th_min(sqrtf(distance2), radius) : radius;
}
// The same where agent i stands: a rigid body in a place narrower than itself (put there, or beside a door that closed)
// is narrower than the place, so that it gets out again.
TH_BOTH static inline float th_wall_radius_here(const th_world *world, const th_walls *walls,
                                                uint32_t i) {
    float radius = th_wall_radius(world, i);
    if (!th_is_rigid(world, i) || walls->count == 0) return radius;
    th_vec2 p = {world->agents.position_x[i], world->agents.position_y[i]};
    float room = th_wall_room(walls, (int)world->agents.level[i], p, radius);
    return room < radius - TH_RIGID_SLACK ? TH_RIGID_SQUEEZE * room : radius;
}

TH_BOTH static inline th_walls th_world_walls(const th_world *world) {
    th_walls walls = {world->walls,
                      world->scene->wall_count,
                      world->wall_count,
                      world->door_closed,
                      world->scene->wall_grids,
                      0.0f,
                      world->bodies,
                      world->body_count,
                      false,
                      0.0f};
    return walls;
}
TH_BOTH static inline th_vec2 th_position(const th_agents *agents, uint32_t i) {
    th_vec2 p = {agents->position_x[i], agents->position_y[i]};
    return p;
}
TH_BOTH static inline th_vec2 th_velocity(const th_agents *agents, uint32_t i) {
    th_vec2 v = {agents->velocity_x[i], agents->velocity_y[i]};
    return v;
}
// A copy of a person that another rank moves: others see it, and nothing is done or counted for it here.
TH_BOTH static inline bool th_is_ghost(const th_world *world, uint32_t i) {
    return world->ghost && world->ghost[i];
}
TH_BOTH static inline bool th_gone(uint32_t phase) { return phase >= TH_PHASE_LEFT; }
// Does it still have a way to go? A fallen agent has, where its model lets the fallen stand up.
TH_BOTH static inline bool th_under_way(const th_world *world, uint32_t i) {
    uint32_t phase = world->agents.phase[i];
    if (phase != TH_PHASE_FALLEN) return phase < TH_PHASE_ARRIVED;
    return world->groups[world->agents.group[i]].body.rises;
}
// The group's parameters of a behaviour; NULL: it is none of the group's.
TH_BOTH static inline const float *th_behave_params(const th_group_state *group,
                                                    th_model_id model) {
    for (int k = 0; k < group->behave_count; ++k)
        if (group->behave[k] == model) return group->behave_params[k];
    return NULL;
}
// The k-th model of the group, by stage, behaviours as they are listed, and where its parameters are; TH_NO_MODEL: it has no
// more.
static inline th_model_id th_state_model(th_group_state *group, int k, float **params) {
    if (k < group->behave_count) {
        *params = group->behave_params[k];
        return group->behave[k];
    }
    const th_model_id others[] = {group->plan, group->filter, group->move};
    float *of_others[] = {group->plan_params, group->filter_params, group->move_params};
    k -=
        group->behave_count + (group->scripted ? -2 : 0); // scripted bodies have a move model alone
    *params = k < 3 ? of_others[k] : NULL;
    return k < 3 ? others[k] : TH_NO_MODEL;
}
// Does the planner lead to the point that a behaviour has set, not to the person's leg? On a detour it leads to the place.
TH_BOTH static inline bool th_is_led(const th_world *world, int i) {
    const th_group_state *group = &world->groups[world->agents.group[i]];
    if (!group->led || th_detour_of(world->agents.leg[i]) > 0) return false;
    return group->left_to_plan < 0 ||
           ((const uint32_t *)world->agents.own[group->left_to_plan])[i] == 0;
}
// Neither fallen, scripted nor gone: an agent that the models move.
TH_BOTH static inline bool th_moves(uint32_t phase) { return phase < TH_PHASE_FALLEN; }
// Agents that others keep clear of. Fallen ones are stepped over: as neighbours they would stop people for good where there is no way
// around. HiDAC alone, whose rule they are, sees them.
TH_BOTH static inline bool th_in_the_way(uint32_t phase) {
    return !th_gone(phase) && phase != TH_PHASE_FALLEN;
}

// The model's k-th own field of all agents; only in worlds that use the model.
TH_BOTH static inline float *th_own_floats(const th_world *world, th_model_id model, int k) {
    return (float *)world->agents.own[world->first_own[model] + k];
}
TH_BOTH static inline uint32_t *th_own_words(const th_world *world, th_model_id model, int k) {
    return (uint32_t *)world->agents.own[world->first_own[model] + k];
}

// The field of another model that th_model_used_field has given a number, of all agents.
TH_BOTH static inline float *th_used_floats(const th_world *world, int field) {
    return (float *)world->agents.own[field - TH_FIELD_COUNT];
}
TH_BOTH static inline uint32_t *th_used_words(const th_world *world, int field) {
    return (uint32_t *)world->agents.own[field - TH_FIELD_COUNT];
}

// models.c: the models that some group uses, stage by stage; room for TH_MODEL_MAX. Returns how many.
int th_used_models(const th_world *world, int *list);

// The array of a field, untyped; every element is four bytes.
// Numbers from TH_FIELD_COUNT on are the fields of the world's models.
void *th_field_get(const th_agents *agents, int field);
void th_field_set(th_agents *agents, int field, void *array);
static inline int th_field_count(const th_agents *agents) {
    return TH_FIELD_COUNT + agents->own_count;
}

// A stage reads generation n and writes its own outputs only. Models of a stage run one after the
// other over their own agents (those whose group chose them).
typedef void th_stage_fn(th_world *world);

// ---- a loop over agents, shared out among the threads of a step: throng's own, or those of the host (th_world_def.host)

// begin .. end - 1; begin is a multiple of the grain. Returns what is to be added up.
typedef uint64_t th_part_fn(const void *context, int begin, int end);

// Calls `part` for all of 0 .. count - 1, `grain` at a time, in any order. Returns the sum.
uint64_t th_share_out(const th_world *world, int count, int grain, th_part_fn *part,
                      const void *context);
#endif
