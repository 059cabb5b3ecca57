// throng: models. A model is one description: its name, where it was published, its parameters, the values that it keeps
// of every agent, and the functions that run it. The engine's own models and a program's models are the
// same to the loader, the step, snapshots, views and `throng list`.
//
// Threads: the functions of a model run on all threads of a world's step at once. th_model_register and th_plugin_load
// change the table of models of the whole program: call them while nothing else uses the library.
// SPDX-License-Identifier: Apache-2.0
#ifndef THRONG_MODEL_H
#define THRONG_MODEL_H

#include "throng/scene_view.h"
#include "throng/world.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct th_param_info {
    const char *name;
    const char *unit;
    double min, max, value; // value: the default
    const char *source;
    const char *doc;
} th_param_info;

typedef struct th_preset_info {
    const char *name;
    const char *doc;
    const th_param *params;
    int param_count;
} th_preset_info;

// A value that a model keeps of every agent, four bytes wide. It exists only in worlds where a group uses the model; there it
// is 0 for a new agent, sorted, saved in snapshots and viewable (th_world_field) like the common fields.
typedef struct th_field_info {
    const char *name;
    bool is_float; // else uint32_t
    bool hashed;   // is part of th_world_hash
    const char *doc;
    // The label in a list of colours ("level of panic"); NULL: agents are not coloured by this value.
    const char *label;
} th_field_info;

// A field of another model that this one reads or writes: the only way in which models know each other.
typedef struct th_field_use {
    const char *field;  // "stage/model.field", as th_world_field takes it
    const char *absent; // one line: what happens in a world where no group uses that model
} th_field_use;

// A figure about a model's last step or its work so far.
typedef struct th_model_value {
    const char *name, *unit;
    double value;
} th_model_value;

// ---- a model as a function of one agent
// The simplest way to write a plan, filter or move model: `agent` of the description is called for every agent whose group
// chose the model, on all threads at once, and returns a velocity. All it sees is of the beginning of the stage, so the
// result does not depend on the number of threads; it must not keep anything outside `own`.

// A neighbour, nearest first; ties by id.
typedef struct th_near_agent {
    th_vec2 position, velocity; // [m] [m/s]
    float radius, distance;     // [m] distance: between the centres
    uint32_t id;
    int level, group;
    bool reacts; // false: follows a timed path and never gives way
} th_near_agent;

// A standing wall whose walkable side faces the agent, nearest first.
typedef struct th_near_wall {
    th_vec2 nearest;                       // its point nearest to the agent [m]
    float distance;                        // [m]
    const th_wall *wall, *previous, *next; // previous ends where it begins
} th_near_wall;

// An own value of the agent, a float or a number as the description's fields say.
typedef union th_value {
    float real;
    uint32_t number;
} th_value;

enum { TH_NEIGHBOUR_MAX = 16, TH_NEAR_WALL_MAX = 64 };

// The neighbours and walls that the function needs.
typedef struct th_sight {
    int neighbours;        // the nearest this many, 0 to TH_NEIGHBOUR_MAX
    float neighbour_range; // [m] to 50
    bool through_walls;    // also those behind a wall
    int walls;             // the nearest this many, 0 to TH_NEAR_WALL_MAX
    float wall_range;      // [m] to 50
} th_sight;

typedef struct th_agent {
    th_vec2 position, velocity; // [m] [m/s]
    // Move and filter: what plan and filter have decided. Plan: what the engine's own plan decides, by the distance
    // fields and the road map where the model has `needs_lattice`, else straight to the goal. [m/s]
    th_vec2 preferred;
    th_vec2 direction;         // unit vector of `preferred`; 0: wants to stand
    float radius, speed, mass; // [m], preferred speed [m/s], [kg]
    float step;                // length of the step [s]
    double time;               // at the beginning of the step [s]
    uint32_t id;
    int level, group;
    th_phase phase;
    const float *params; // of the group, in the order of the description
    th_value *own;       // the agent's values of the model's fields, to read and write
    const th_near_agent *neighbours;
    const th_near_wall *walls;
    int neighbour_count, wall_count;
    uint64_t seed, step_count; // with th_agent_random: numbers that depend on nothing else
    const th_world *world;
    int model;
} th_agent;

// Returns the new velocity (move) or the preferred velocity (plan, filter) [m/s].
typedef th_vec2 th_agent_fn(const th_agent *agent);

// ---- what drives an agent: shapes over the plan and figures, in the words of a model, for pictures and pages.
typedef enum th_influence_kind {
    TH_INFLUENCE_VECTOR,    // of `unit`, beginning at `at`: a force, a velocity, a direction
    TH_INFLUENCE_RECTANGLE, // around `at`; `vector` leads from end to end [m], `size` is the width [m]
    TH_INFLUENCE_CIRCLE,    // around `at` with radius `size` [m]
    TH_INFLUENCE_HALF_PLANE, // of velocities: `vector` is a unit vector into what is allowed, `at` a place on the border,
    // which is where a velocity leads within a second; with unit "m" of places
    TH_INFLUENCE_FIGURE, // `size`, of `unit`
} th_influence_kind;

typedef struct th_influence {
    th_influence_kind kind;
    const char *name; // the same in every answer, for keys and colours
    const char *unit; // "m", "m/s", "N", ... ; "-" for pure numbers
    th_vec2 at;       // [m]
    th_vec2 vector;
    float size;
    uint32_t other; // the id of the agent that causes it; 0: a wall, or several
} th_influence;

// ---- what the engine does with the bodies of a group
// Contact, sources and planners treat the agents of a group by these rules. They follow from the parameters of the
// group's move model (`body` of the description) and change with them.
typedef struct th_body_rules {
    // Passes of contact that push overlapping agents apart after each step. 0: the bare model, contact pushes neither off
    // neighbours nor off walls (it still stops every path at a wall). 0 to 16, default 4.
    int separation_passes;
    // Half the depth of a body as a share of its radius: how near the centre comes to a wall, for agents that turn their
    // shoulders. (0, 1], default 1.
    float depth;
    // Share of an overlap by which an agent that stands on purpose gives way; walking agents have 0.5. (0, 0.5],
    // default 0.5.
    float standing_yield;
    // The width beyond the body that an agent needs to pass a gap; planners avoid narrower gaps. [m] 0 to 1,
    // default 0.
    float gap_clearance;
    // Least distance from others at which a source places newcomers: in sums of the two radii, 1 to 10, default 1, and
    // in metres, 0 to 10, default 0.
    float newcomer_bodies, newcomer_metres;
    // Bodies that give way to pressure: two of them that overlap by d press each other apart with
    // (stiffness + stiffening d) d. A step ends where these forces and what its agents want balance. [N/m] 0 (hard bodies,
    // which are only pushed apart) to 1e6, default 0; [N/m2] 0 to 1e7, default 0.
    float stiffness, stiffening;
    // Friction of such bodies, with each other and along walls: its share of the force between them, per speed at which they
    // slide. [s/m] 0 to 100, default 0.
    float friction;
    // Agents may fall (TH_PHASE_FALLEN) or lie from the beginning; reports then count them. Default no.
    bool falls;
    bool rises; // the fallen stand up again: they still have a way to go. Default no
} th_body_rules;

// ---- scene data of a model
// A model may declare sections of the scene file: lists of elements with keys. The loader decodes and checks them by the
// declaration, plans and the studio draw them, the studio has a tool for each section with a line or an area, and the
// schema, `throng list` and the device know them. Every element has "id" and "level" besides. Compiled, an element is a
// struct of the model that begins with a th_item; `offset` says where the value of a key is in it.
typedef enum th_key_kind {
    TH_KEY_NUMBER, // float
    TH_KEY_WORD,   // int: its place in `words`
    TH_KEY_GOAL,   // int: the goal that is named, -1: none
    TH_KEY_LINE,   // th_polyline of two points at least, over walkable ground somewhere
    // th_polygons, at most half a metre from walkable ground; outer rings run counter-clockwise, holes clockwise.
    TH_KEY_AREA,
    TH_KEY_NAME, // int: its place in the scene's list of names; any text of 1 to 100 characters
} th_key_kind;
typedef struct th_key_info {
    const char *name;
    th_key_kind kind;
    size_t offset;     // in the model's struct
    const char *unit;  // of numbers; "-" for none
    double min, max;   // of numbers
    bool above, below; // of numbers: min, or max, itself is out of range
    double value;      // default of numbers (INFINITY: no limit) and words (its place)
    bool required;     // must be given; lines and areas only
    const char *words; // of a word: "right left"; of a name: its default
    const char *doc;   // what it means, for messages, schema and studio
} th_key_info;
typedef struct th_section_info {
    const char *name; // of the list in the scene file: "strips"
    const char *item; // of one element, for messages and made-up ids: "strip"
    const char *doc;
    size_t item_size;
    const th_key_info *keys;
    int key_count;
    int max_items, max_points; // of all elements together; 0: 1000 and 10 000
    // How the line of an element is drawn: as wide as the number of one key [m], or as far to either side as that of another;
    // neither: thin. With an arrow at its end where it `leads` from its first point to its last. 0xRRGGBB, 0: teal.
    const char *width_key, *reach_key;
    bool leads;
    uint32_t colour;
    // Behave models with TH_DECIDES_DETOUR: each element is a place that people are sent to, a goal of kind TH_GOAL_DETOUR whose
    // area is the element's first TH_KEY_AREA. Groups of the model have a detour to each element that they care for.
    bool detours;
    // A key of groups in the scene file: the names of the section's TH_KEY_NAME that the group cares for, ["a", "b"], or with
    // weights from 0 to 10, {"a": 1, "b": 0.5}. Without it each name has weight 1. NULL: groups have no such key.
    const char *group_key, *group_doc;
    // The model does nothing in a scene without elements; th_scene_doubts tells groups that use it there.
    bool needed;
    // Checks what the keys cannot say and works out what follows from them; `items` are complete. NULL: all is well; else a
    // sentence, *item the element that it is about (-1: all of them). May be NULL itself.
    const char *(*compile)(void *items, int count, int *item);
} th_section_info;

// ---- what behaviours decide
// A group may have several behaviours. Each step asks them in the order of this list: first those that decide the route, then
// the leg, and so on; those that decide nothing of it come last, and `order` of the description parts equals. A later decision
// stands on the earlier ones: a detour is a goal in place of the leg's until it is over, an aim is a point on the way to
// the leg or the detour. So the aim has the last word on where an agent walks. Two behaviours of a group that decide the
// same thing are refused.
typedef enum th_decision {
    // Setting off, reaching goals, waiting at them, leaving; without such a behaviour `route` does.
    TH_DECIDES_ROUTE = 1,
    TH_DECIDES_LEG = 2, // which leg of the route is next: TH_FIELD_LEG
    // Sends people to places beside their route, the elements of a section with `detours`: planners know the way to those that
    // the group cares for. TH_DETOUR * (1 + k) in the leg leads to detour k; an agent that waits on a detour waits for the behaviour.
    TH_DECIDES_DETOUR = 4,
    // The point to which walking agents go next, TH_FIELD_GOAL_X, _Y and _LEVEL; planners lead there and not to the leg,
    // except agents that the behaviour leaves to the planner (`left_to_plan`).
    TH_DECIDES_AIM = 8,
    // Company: follows the agents of the group that the scene names (`leader`).
    TH_DECIDES_COMPANY = 16,
    TH_DECIDES_MOOD = 32,  // calm, impatient, in panic, as the move model sees it
    TH_DECIDES_SPEED = 64, // the preferred speed: TH_FIELD_SPEED
} th_decision;
enum { TH_DECISIONS = 7 };
// In words, for messages and lists: "the next leg of the route".
TH_API const char *th_decision_name(th_decision decision);

enum { TH_HEEDS_GOALS = 1 << 8 };

#define TH_MODEL_COOKIE 0x7468316du
enum { TH_MODEL_MAX = 64, TH_MODEL_FIELD_MAX = 64 };

// Functions get the world and the model's number (its place in th_models()). Those that are NULL are not called. A model
// serves several worlds at once: whatever it keeps belongs to a world.
typedef struct th_model {
    uint32_t cookie;    // TH_MODEL_COOKIE, which th_model_default sets
    th_stage stage;     // TH_STAGE_BEHAVE, TH_STAGE_PLAN, TH_STAGE_FILTER or TH_STAGE_MOVE
    const char *name;   // as scenes write it
    const char *doc;    // one line
    const char *source; // the paper
    const th_param_info *params;
    int param_count; // at most TH_PARAM_MAX
    const th_preset_info *presets;
    int preset_count;
    const th_field_info *fields;
    int field_count;          // at most TH_MODEL_FIELD_MAX
    const th_field_use *uses; // th_model_used_field
    int use_count;
    const th_section_info *sections; // scene data of its own
    int section_count;
    bool is_default; // of its stage; one model per stage
    bool internal;   // scenes cannot choose it for a group

    // ---- the step: one of `agent` and `run`
    // A function of one agent; not for behave. In plan and filter it is called for walking agents, in move for all agents
    // but scripted bodies.
    th_agent_fn *agent;
    th_sight sight;
    // Changes the sight by the parameters of a group, the same way for the same values. May be NULL.
    void (*look)(const float *params, th_sight *sight);
    // With `agent`: called once in every step before the first agent is asked, on one thread, when the preferred
    // velocities are known; for what is worked out for all of them at once. May be NULL.
    void (*begin)(th_world *world, int model);
    // Does the stage for the model's own people: those whose group chose it.
    void (*run)(th_world *world, int model);
    // Behave only: at the end of a step, handles arrivals.
    void (*arrive)(th_world *world, int model);
    int order; // models of a stage run in ascending order, equals as they were registered; behaviours: see TH_DECIDES_*

    // ---- what it keeps per world, th_model_state
    // Called once for a world in which a group uses the model; false: no memory. Sets the state.
    bool (*create)(th_world *world, int model);
    void (*destroy)(th_world *world, int model);
    // The part of the state that a snapshot must hold for the same bits afterwards. Bytes from outside are checked before they are
    // restored: could a world of this scene have saved them? `restore` alone, called with NULL, is for a state that follows
    // from the walls, which may be others now.
    size_t (*saved_size)(const th_world *world, int model);
    void (*save)(const th_world *world, int model, void *memory);
    bool (*saved_is_sound)(const th_world *world, int model, const void *memory, size_t size);
    void (*restore)(th_world *world, int model, const void *memory);
    // Could an agent of the model have these own fields? NULL: numbers are enough.
    bool (*fields_are_sound)(const th_world *world, int model, int group, const uint32_t *fields);

    // ---- what it asks of the engine
    // [m] of the neighbour grid where all groups use models that want the same; 0: 1.2.
    float cell_size;
    // The longest step with which the model's results hold [s]; scenes and runs with longer ones get the finding long_step.
    // 0: no limit is known.
    float longest_step;
    // Distance within which the model reads other agents around an agent [m], between the centres, when the stage begins; 0:
    // it reads none. For
    // worlds over ranks (throng/ranks.h), which refuse models without it. `agent` functions need none: their sight says it.
    float (*reach)(const th_world *world, const float *params);
    // Move only. The model keeps its people apart itself; contact leaves their pairs alone.
    bool separates_pairs;
    // Move only. Changes the rules for the bodies of a group, which begin with the defaults; the same way for the same
    // parameters. Values out of range are refused with the model's name: when it is registered (for the parameters'
    // defaults), in a scene, and when a parameter is set live. NULL: the defaults.
    void (*body)(const float *params, th_body_rules *rules);
    // Move only. How hard two bodies press that overlap by so many metres [N], for th_world_contact_forces. NULL: bodies
    // are hard.
    float (*contact_force)(const float *params, float overlap);
    // Plan only. Needs the distance fields and the road map of the scene.
    bool needs_lattice;
    // Plan only. Its ways are an agent's own: they lead around gaps that are too narrow for it and what its group avoids.
    bool tells_apart;
    // Plan only. Leads to any point of the plan and not only to the goals of the scene, so a group may give each agent a goal
    // of its own (`own_goal`). A group with own goals that names no plan gets the first such model that needs_lattice.
    bool own_goals;
    // Plan only. Properties of the ground that it heeds: 1 << TH_PICTURE_DISCOMFORT (of zones and pictures), _GUIDANCE,
    // _HEIGHT; with TH_HEEDS_GOALS for whom it is meant (`to` of zones and pictures).
    uint32_t heeds;
    // Plan only. Its ways are not simply the shortest ones (drawn advice, crowds, discomfort count), so a behaviour that decides
    // aims leaves agents that know their way to it.
    bool weighs_ways;
    // Plan only. How far apart the nodes of its own lattice are in a scene [m]; *wanted: by its parameters. The first is
    // larger where memory or the time of a solution would be too much, which findings tell. NULL: it has none.
    float (*spacing)(const th_scene *scene, int model, float *wanted);
    // Behave only. Its decisions for its people, TH_DECIDES_*.
    uint32_t decides;
    // Behave only, with TH_DECIDES_AIM: 1 + the own field that is not 0 for agents that the planner shall lead to their leg,
    // as if there were no aim; 0: there is none. The behaviour sets it for plans with `weighs_ways`.
    int left_to_plan;
    // With `left_to_plan`: can an agent of a group with these parameters be left to the planner? NULL: yes. Where none can,
    // th_scene_doubts tells that a plan with `weighs_ways` has no effect.
    bool (*leaves_to_plan)(const float *params);
    // Do values that are good by themselves fit together? NULL: yes; else what is wrong and the cure, and *param is the
    // parameter that it is about.
    const char *(*check)(const float *params, int *param);
    // Finds a value of a group that has no effect in a scene, for th_scene_doubts: writes one sentence that names the
    // value, the reason and the cure, without a full stop. False: nothing to tell. May be NULL.
    bool (*idle)(const th_scene *scene, int group, const float *params, char *text, size_t size);
    // After a parameter of a group was set in a running world: what the model drew from the values of `before` and keeps of
    // the group's agents is drawn anew, so that the change acts on them and not on newcomers alone. NULL: a step reads all
    // parameters. Returns NULL, or why the new values cannot act in this world; they are then refused with that reason.
    const char *(*edited)(th_world *world, int model, int group, const float *before);
    // The neighbour grid fits grids of the model's own: most cells it will need, and for the crowd's boxes of a step the
    // boxes (changed in place) and the cell size [m].
    int (*index_cells)(const th_world *world, int model);
    float (*fit_index)(th_world *world, int model, th_box *boxes);

    // ---- what it can show
    // A grid of a level: sizes into *grid and, where `values` is given, its nx * ny values. False: has none.
    bool (*grid)(th_world *world, int model, th_grid_kind kind, int level, th_grid *grid,
                 float *values);
    // The influences on the agent at place `i` of the fields (th_model_field), as in the next step. Fills at most
    // `max`, returns how many there are. Called between steps; changes nothing that a step reads.
    int (*influences)(th_world *world, int model, uint32_t i, th_influence *list, int max);
    // The mood of the agent at place `i` of the fields. NULL: calm.
    th_mood (*mood)(const th_world *world, int model, uint32_t i);
    // Plan only. Which way it leads agents of a group to a target (scene_view.h), from points of a level: vectors of
    // any length, 0 where it knows no way. False: it leads none of the group there, or not yet. Called between steps;
    // changes nothing that a step reads.
    bool (*directions)(th_world *world, int model, int group, int target, int level,
                       const th_vec2 *points, int count, th_vec2 *directions);
    // Fills at most `max` values, returns how many there are.
    int (*statistics)(const th_world *world, int model, th_model_value *values, int max);
} th_model;

TH_API th_model th_model_default(void);
// Adds a model to those that scenes can name; before loading a scene that does, and not while others load. The
// description and what it points to must live as long as the program. TH_BAD_ARGUMENT names what is wrong with it.
TH_API th_result th_model_register(const th_model *model, th_error *error);
// All models: the engine's in a fixed order, then those registered.
TH_API const th_model *const *th_models(int *count);
TH_API int th_model_find(th_stage stage, const char *name); // -1: none
TH_API int th_stage_default_model(th_stage stage);
// The rules for bodies that a move model has with these parameters.
TH_API th_body_rules th_model_body(const th_model *model, const float *params);

// ---- what models are known not to manage
// In runs of doors and corridors of many widths (tools/test-long, docs/judged.md) some models leave people behind for good.
// The least widths from which on they do not, in widths of a body; 0: they never did, INFINITY: at every width tried,
// negative: not tried.
typedef struct th_model_limits {
    float door;    // through a door, out of a room or at the end of a corridor
    float two_way; // through a corridor that two crowds use against each other
} th_model_limits;
TH_API th_model_limits th_model_limits_of(const char *move, const char *filter);

typedef struct th_doubt {
    int group;      // -1: of no group
    bool no_effect; // something of the scene has none
    char text[400]; // one sentence
} th_doubt;
// Lists demands of a scene that its models are known not to meet, and its parts without effect. Returns how many
// doubts there are and fills at most `max`. Looks at the narrowest passage of the plan and at groups that walk against each other.
TH_API int th_scene_doubts(const th_scene *scene, th_doubt *doubts, int max);

// ---- plugins: models in a shared library. In its source once, around the registrations:
//     TH_PLUGIN { return th_model_register(&mine, error); }
#ifdef __cplusplus
#define TH_PLUGIN_LINKAGE extern "C"
#else
#define TH_PLUGIN_LINKAGE extern
#endif
#define TH_MODEL_VERSION \
    10 // of this header; raised when the meaning of a member or this list changes
// The version, every struct that a plugin can see here, and the lists that it counts on: X(name, number). A plugin brings these
// numbers along, and th_plugin_load compares each with its own.
#define TH_PLUGIN_LAYOUT(X)                             \
    X("TH_MODEL_VERSION", TH_MODEL_VERSION)             \
    X("version of throng", TH_VERSION_NUMBER / 100)     \
    X("th_model", sizeof(th_model))                     \
    X("th_param_info", sizeof(th_param_info))           \
    X("th_param", sizeof(th_param))                     \
    X("th_preset_info", sizeof(th_preset_info))         \
    X("th_field_info", sizeof(th_field_info))           \
    X("th_field_use", sizeof(th_field_use))             \
    X("th_model_value", sizeof(th_model_value))         \
    X("th_agent", sizeof(th_agent))                     \
    X("th_near_agent", sizeof(th_near_agent))           \
    X("th_near_wall", sizeof(th_near_wall))             \
    X("th_value", sizeof(th_value))                     \
    X("th_sight", sizeof(th_sight))                     \
    X("th_section_info", sizeof(th_section_info))       \
    X("th_key_info", sizeof(th_key_info))               \
    X("th_item", sizeof(th_item))                       \
    X("th_polyline", sizeof(th_polyline))               \
    X("th_body_rules", sizeof(th_body_rules))           \
    X("th_influence", sizeof(th_influence))             \
    X("th_error", sizeof(th_error))                     \
    X("th_vec2", sizeof(th_vec2))                       \
    X("th_box", sizeof(th_box))                         \
    X("th_grid", sizeof(th_grid))                       \
    X("th_wall", sizeof(th_wall))                       \
    X("th_scene_view", sizeof(th_scene_view))           \
    X("th_group", sizeof(th_group))                     \
    X("th_model_choice", sizeof(th_model_choice))       \
    X("th_level", sizeof(th_level))                     \
    X("th_zone", sizeof(th_zone))                       \
    X("th_door", sizeof(th_door))                       \
    X("th_goal", sizeof(th_goal))                       \
    X("th_target", sizeof(th_target))                   \
    X("th_statistics", sizeof(th_statistics))           \
    X("th_event", sizeof(th_event))                     \
    X("th_agent_def", sizeof(th_agent_def))             \
    X("th_point", sizeof(th_point))                     \
    X("th_polygons", sizeof(th_polygons))               \
    X("th_area", sizeof(th_area))                       \
    X("th_line", sizeof(th_line))                       \
    X("th_narrow_gap", sizeof(th_narrow_gap))           \
    X("th_link", sizeof(th_link))                       \
    X("th_picture", sizeof(th_picture))                 \
    X("th_section", sizeof(th_section))                 \
    X("th_part", sizeof(th_part))                       \
    X("th_scripted", sizeof(th_scripted))               \
    X("th_measure_line", sizeof(th_measure_line))       \
    X("th_measure_area", sizeof(th_measure_area))       \
    X("th_distribution", sizeof(th_distribution))       \
    X("th_door_change", sizeof(th_door_change))         \
    X("th_arrival", sizeof(th_arrival))                 \
    X("th_entry", sizeof(th_entry))                     \
    X("th_keyframe", sizeof(th_keyframe))               \
    X("th_run_settings", sizeof(th_run_settings))       \
    X("th_record_settings", sizeof(th_record_settings)) \
    X("th_world_def", sizeof(th_world_def))             \
    X("th_agent_id", sizeof(th_agent_id))               \
    X("th_profile", sizeof(th_profile))                 \
    X("th_exit_count", sizeof(th_exit_count))           \
    X("th_line_count", sizeof(th_line_count))           \
    X("th_area_state", sizeof(th_area_state))           \
    X("th_model_limits", sizeof(th_model_limits))       \
    X("th_doubt", sizeof(th_doubt))                     \
    X("the number of common fields", TH_FIELD_COUNT)    \
    X("the number of phases", TH_PHASE_COUNT)           \
    X("the number of stages", TH_STAGE_COUNT)           \
    X("the number of kinds of grid", TH_GRID_COUNT)
#define TH_PLUGIN_NUMBER(name, number) (uint32_t)(number),
#define TH_PLUGIN                                                             \
    TH_PLUGIN_LINKAGE TH_EXPORT const uint32_t th_plugin_layout[];            \
    const uint32_t th_plugin_layout[] = {TH_PLUGIN_LAYOUT(TH_PLUGIN_NUMBER)}; \
    TH_PLUGIN_LINKAGE TH_EXPORT th_result th_plugin(struct th_error *error);  \
    th_result th_plugin(struct th_error *error)

// Loads the library and calls its th_plugin. Loading a file again does nothing. TH_NO_FILE: it does not load, is not a plugin or
// was built for another version; the message says why and what to do. Models that it has registered stay until the
// program ends.
TH_API th_result th_plugin_load(const char *path, th_error *error);

// ---- for the functions of a model, during a step
// A model, field, group or stage that does not exist: NULL.
TH_API void *th_model_state(const th_world *world, int model);
TH_API void th_model_set_state(th_world *world, int model, void *state);
// The model's k-th own field of all agents, in storage order; NULL where no group uses the model.
TH_API void *th_model_field(const th_world *world, int model, int k);
// Number of the k-th field of `uses` for th_world_map, to be asked once, in `create`. -1: no group uses that model.
TH_API int th_model_used_field(const th_world *world, int model, int k);
// The model's parameters for a group, in the order of the description; NULL: the group does not use the model.
TH_API const float *th_model_params(const th_world *world, int model, int group);

// A random number in 0 .. 1 (1 excluded), different for every agent, step, stage and k (below 200 000), the same in every run
// with the same seed and for any number of threads.
TH_API float th_agent_random(const th_agent *agent, uint32_t k);

// ---- from outside
// Number of a field by name, for th_world_map: a common field, or "model.field" of a model that a group uses, or
// "stage/model.field" where models of two stages have one name. -1: none.
TH_API int th_world_field(const th_world *world, const char *name);
// The influences on an agent by the models of all stages: fills at most `max`, returns how many there are. Those of
// the model at place k of th_models() where `model` is k, of all where it is -1. 0: no such agent, nothing to tell, or
// a world on a device. The world goes on as if it had not been asked.
TH_API int th_world_influences(th_world *world, th_agent_id id, int model, th_influence *list,
                               int max);
TH_API int th_world_model_statistics(const th_world *world, int model, th_model_value *values,
                                     int max);

#ifdef __cplusplus
}
#endif
#endif
