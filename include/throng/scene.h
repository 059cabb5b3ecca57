// throng: the scene, constant once created. A scene file is decoded into a th_scene_def and then
// compiled by th_scene_create, so a file and a program can express exactly the same things.
// The JSON keys are the member names below; docs/scene-format.md is the guide, schema/scene.schema.json the law.
//
// Threads: a scene never changes, so any number of threads may use it at once. Scenes are created independently of each
// other; th_model_register and th_plugin_load (throng/model.h) must not run meanwhile.
// SPDX-License-Identifier: Apache-2.0
#ifndef THRONG_SCENE_H
#define THRONG_SCENE_H

#include "throng/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct th_scene th_scene;
typedef struct th_scene_view th_scene_view; // what is in it: throng/scene_view.h

// A flat shape; give exactly one of the three.
//  points  one closed ring (the last point need not repeat the first) or, for lines, a polyline
//  wkt     POLYGON, MULTIPOLYGON, GEOMETRYCOLLECTION of them, LINESTRING for lines
//  file    a .wkt or .geojson file, relative to the scene file; or a .png with `corners`: what is dark in it
typedef struct th_shape {
    const th_point *points;
    int point_count;
    const char *wkt;
    const char *file;
    // Two opposite corners of the ground that a .png covers; its pixels are square.
    th_point corners[2];
} th_shape;

// A floor. With no walkable shape the level is an open plane without outer walls.
typedef struct th_level_def {
    uint32_t cookie; // set by th_level_def_default
    const char *id;
    double z; // height of the floor, for pictures and reports only [m] default 0
    const th_shape *walkable;
    int walkable_count;
    const th_shape *obstacles; // solid, cut out of walkable
    int obstacle_count;
    const th_shape *walls; // thin walls, two-sided polylines
    int wall_count;
} th_level_def;

// Stairs or a ramp: an area of the lower level `level` whose `top` line is also a line of the
// level `to`. Agents that cross that line change level; plan coordinates do not change.
// A link without area (a step, a lift door) has area.point_count 0 and factors 1.
typedef struct th_stairs_def {
    uint32_t cookie; // set by th_stairs_def_default
    const char *id;
    const char *level;
    const char *to;
    th_shape area;
    th_point top[2];
    double up;   // speed factor walking up [-] (0, 2] default 0.5, RiMEA 4.1.1 test 2
    double down; // speed factor walking down [-] (0, 2] default 0.67, RiMEA 4.1.1 test 3
} th_stairs_def;

typedef struct th_zone_def {
    uint32_t cookie; // set by th_zone_def_default
    const char *id;
    const char *level;
    th_shape area;
    double speed; // factor on the preferred speed [-] (0, 2] default 1
    // How strongly people avoid the place, for plans that heed it (`heeds` of th_model) [-] 0 .. 1000 default 0: at 1
    // and the usual weights a second here is as bad as two elsewhere.
    double discomfort;
    // Id of the goal whose people feel the discomfort, for plans that tell people apart by goal; NULL: all people.
    const char *to;
} th_zone_def;

typedef enum th_picture_kind {
    TH_PICTURE_DISCOMFORT, // as that of zones; pictures and zones add up
    TH_PICTURE_GUIDANCE,   // directions in which people are led; pictures add up
    TH_PICTURE_HEIGHT,     // of the ground; pictures add up
} th_picture_kind;

// A drawn map over a rectangle of the ground, for plans that heed it (`heeds` of th_model). The top row of its pixels is the
// north; what is transparent counts as nothing, in proportion.
typedef struct th_picture_def {
    uint32_t cookie; // set by th_picture_def_default
    const char *id;
    const char *level;
    const char *file;      // a PNG; or, for programs:
    const uint8_t *pixels; // red, green, blue, alpha of each, row by row from the top
    int width, height;     // of `pixels`
    th_picture_kind kind;
    th_point corners[2]; // two opposite ones of the rectangle; its pixels are square
    // Discomfort [-] or height [m] of a black and of a white pixel, greys in between, 0 .. 1000; default 1 and 0 of discomfort,
    // 0 and 1 of height.
    double black, white;
    // Strength of guidance where red or green is 255 (east, north) or 1; 128: none [-] (0, 1) default 0.8.
    double strength;
    // Id of the goal whose people it is for, as th_zone_def has it; NULL: all people.
    const char *to;
} th_picture_def;

// Scene data of a model: a section that the model declares (th_section_info, throng/model.h). Of each element the values of
// its keys by name, "id" and "level" among them; keys that are left out have their defaults.
typedef struct th_value_def {
    const char *key;
    double number;          // numbers
    const char *text;       // words, names, and ids of goals
    const th_point *points; // lines
    int point_count;
    th_shape area; // areas
} th_value_def;
typedef struct th_item_def {
    const th_value_def *values;
    int value_count;
} th_item_def;
typedef struct th_section_def {
    const char *name; // as the scene file has it: "strips"
    const th_item_def *items;
    int item_count;
} th_section_def;

typedef struct th_door_change {
    double time; // [s]
    bool open;
} th_door_change;

// A door is a line. Closed it is a wall; open it is a gap, also where it lies on a drawn wall.
typedef struct th_door_def {
    uint32_t cookie; // set by th_door_def_default
    const char *id;
    const char *level;
    th_point line[2];
    bool closed; // at the start; default false
    const th_door_change *schedule;
    int schedule_count;
} th_door_def;

typedef enum th_goal_kind {
    TH_GOAL_EXIT,     // agents that reach it leave the world
    TH_GOAL_WAYPOINT, // agents that reach it go on with the route
    TH_GOAL_WAITING,  // agents that reach it stay `wait` seconds, then go on
    TH_GOAL_DETOUR, // a place that a behaviour sends people to: an element of a model's section (th_section_info)
} th_goal_kind;

// Exits, waypoints and waiting areas (three arrays in the file, one list here).
// An area (reached when the centre is inside) or a two-point line (reached when crossed; a line
// lying on a wall opens it). One of `area` and `line`.
typedef struct th_goal_def {
    uint32_t cookie; // set by th_goal_def_default
    const char *id;
    const char *level;
    th_goal_kind kind; // not TH_GOAL_DETOUR
    th_shape area;
    bool has_line;
    th_point line[2];
    double wait; // for waiting areas [s] >= 0 default 0
    // Waiting areas: people stay for good and are counted by themselves. Among other goals of a leg it is for people that
    // avoid something only. On the CPU only, as are capacities.
    bool refuge;
    int capacity; // of a waiting area: so many wait in it, the next outside [people] 0: no limit, default 0
    // Exits with a line: shut at the start (default false), and when that changes. A shut exit is a wall and no goal.
    bool closed;
    const th_door_change *schedule;
    int schedule_count;
} th_goal_def;

typedef enum th_distribution_kind {
    TH_DISTRIBUTION_CONSTANT,  // a
    TH_DISTRIBUTION_UNIFORM,   // a .. b
    TH_DISTRIBUTION_NORMAL,    // mean a, standard deviation b, redrawn outside min .. max
    TH_DISTRIBUTION_LOGNORMAL, // of exp(N(a, b)), redrawn outside min .. max
    TH_DISTRIBUTION_GAMMA,     // shape a, scale b, redrawn outside min .. max
    TH_DISTRIBUTION_WEIBULL,   // scale a, shape b, redrawn outside min .. max
} th_distribution_kind;

typedef struct th_distribution {
    th_distribution_kind kind;
    double a, b;
    double min, max;
} th_distribution;

// One leg of a route: the nearest of these goals, by walking distance.
typedef struct th_route_step {
    const char *const *goals;
    int goal_count;
} th_route_step;

typedef struct th_param {
    const char *name;
    double value;
} th_param;

// A choice of a behave, plan, filter or move model: its name, a preset (or NULL) and single values on top.
typedef struct th_model_def {
    const char *name;
    const char *preset;
    const th_param *params;
    int param_count;
} th_model_def;

// How much a group cares for the elements of a name in a model's section: a value of its `group_key` (th_section_info).
typedef struct th_weight_def {
    const char *key;  // as the scene file has it
    const char *name; // NULL: the key is given and names nothing
    double weight;    // [-] 0 .. 10, 0: not at all
} th_weight_def;

typedef struct th_arrival { // one row of a source's timetable
    double time;            // [s]
    int count;
} th_arrival;

// How a group's people get a goal point of their own, for plans with `own_goals`.
typedef enum th_own_goal_kind {
    TH_OWN_GOAL_NONE,     // follow the route
    TH_OWN_GOAL_IN_AREA,  // a random walkable point in own_goal_area
    TH_OWN_GOAL_MIRROR_X, // the start mirrored in x about own_goal_centre
    TH_OWN_GOAL_OPPOSITE, // the start mirrored through own_goal_centre
} th_own_goal_kind;

// Does a body turn its shoulders where it is narrow? Those that move as `people` do; wheelchairs, prams and people with
// luggage do not.
typedef enum th_rigid {
    TH_RIGID_BY_SIZE, // those with a radius above 0.3 m do not: no person's shoulders are that wide
    TH_RIGID_ALWAYS,
    TH_RIGID_NEVER,
} th_rigid;

// A kind of people: what is given here holds for those of its kind, what is left out is the group's own. Distributions, `rigid`
// and the move model have flags or names that say whether they are given.
typedef struct th_profile_def {
    uint32_t cookie; // set by th_profile_def_default
    const char *id;
    // A built-in profile (th_profiles) whose values hold where none are given here, or NULL.
    const char *like;
    const char *doc, *source; // of the built-in ones
    bool has_radius, has_speed, has_premovement, has_mass, has_rigid;
    th_distribution radius, speed, premovement, mass; // as th_group_def has them
    th_rigid rigid;
    // Speed on stairs as a share of that on the flat [-] (0, 2], 0: not given. Stairs whose own factors are not 0.5 up and 0.67
    // down change it in proportion.
    double up, down;
    th_model_def move;        // no name: not given
    const char *const *avoid; // as th_group_def has it, added to the group's
    int avoid_count;
} th_profile_def;

// The share of a group's people that are of a kind.
typedef struct th_share_def {
    const char *profile; // id of a profile of the scene, or else of a built-in one
    double share;        // [-] 0 .. 1e6; the shares of a group count in proportion
} th_share_def;

// Which part of a group with several profiles: each becomes a group of its own, "visitors/adult", next to each other. Each
// person's kind is drawn by the seed.
typedef struct th_part {
    const char *profile; // NULL: none
    int place;           // of the whole group in the definition
    int index, count;    // which of how many parts; 0, 1: the whole group
    double begin, end;   // of 0 .. 1
} th_part;

// People of a recording: those of its first frame, or of the one that is named, begin there with their velocities; those
// seen later for the first time come at their time and place. A group with an `area` takes whom it sees there, from then on.
typedef struct th_recording_def {
    const char *file; // any trajectory that is read, relative to the scene file; NULL: none
    double time;      // where the run begins [s]: at the first frame from there on
    int64_t frame;    // the same as the number of a frame
    bool no_entries;  // only the people of that frame
    double fps, unit; // of a text that does not say them, [1/s] [m]; 0: not given
} th_recording_def;

// Agents that start, want and move alike. They come either at the start (count, density or
// positions), from a source (rate or timetable) during the run, or as a recording has them.
typedef struct th_group_def {
    uint32_t cookie; // set by th_group_def_default
    const char *id;
    const char *level;
    th_shape area;              // where they appear; empty: the whole level
    int64_t count;              // [people] -1: not given
    double density;             // [1/m2] of the area, 0: not given
    const char *positions_file; // CSV with columns x,y (header optional, .gz allowed), or NULL
    const th_point *positions;
    int position_count;
    double rate;                // source [1/s], 0: not given
    double rate_start;          // [s]
    double rate_end;            // [s] default: no end
    const th_arrival *arrivals; // source by timetable
    int arrival_count;
    th_recording_def recording;
    th_distribution radius; // [m] default constant 0.2
    // Preferred speed [m/s] default normal 1.34, 0.26 in 0.5..2.2, Weidmann 1993.
    th_distribution speed;
    th_distribution premovement; // time before they set off [s] default constant 0
    th_distribution mass;        // [kg] default constant 80, Helbing 2000
    th_rigid rigid;              // default TH_RIGID_BY_SIZE
    const th_route_step *route;
    int route_count;
    th_own_goal_kind own_goal;
    th_shape own_goal_area;
    th_point own_goal_centre;
    // For sections with a `group_key`. None of a key: each name has weight 1; else only what is named.
    const th_weight_def *weights;
    int weight_count;
    // Models by the names that `throng list` shows; no name: the default of the stage. Several behaviours work together
    // where each decides something else (TH_DECIDES_*, throng/model.h); none: the default.
    const th_model_def *behave;
    int behave_count;
    th_model_def plan, filter, move;
    // Id of the group whose people they follow, or NULL; with a behaviour that follows leaders.
    const char *leader;
    double up,
        down; // speed on stairs as a share of that on the flat, as th_profile_def has it; default 0.5, 0.67
    // Ids of stairs, doors, zones and exits that they never use. Plans with `tells_apart` (throng/model.h) lead them around.
    const char *const *avoid;
    int avoid_count;
    const th_share_def *shares; // of the profiles; none: all are alike
    int share_count;
    th_part part; // set by th_scene_create
} th_group_def;

typedef struct th_keyframe {
    double time;
    double x, y;
} th_keyframe;

// A person (radius) or a solid body (shape, placed with its own origin on the path) that moves along
// a timed path whatever the others do. Linear between key frames, still before and after.
typedef struct th_scripted_def {
    uint32_t cookie; // set by th_scripted_def_default
    const char *id;
    const char *level;
    double radius; // [m] used when shape is empty, default 0.2
    th_shape shape;
    const th_keyframe *path;
    int path_count;
} th_scripted_def;

typedef struct th_measure_line_def {
    uint32_t cookie; // set by th_measure_line_def_default
    const char *id;
    const char *level;
    th_point line[2];
} th_measure_line_def;

typedef struct th_measure_area_def {
    uint32_t cookie; // set by th_measure_area_def_default
    const char *id;
    const char *level;
    th_shape area;
} th_measure_area_def;

typedef struct th_run_settings {
    double step;     // [s] 0.0001 .. 0.5 default 0.1
    double duration; // [s] 0: until empty; default 0
    double max_time; // an until-empty run gives up here [s] default 3600
    uint64_t seed;   // default 1
    int runs;        // default 1
} th_run_settings;

typedef struct th_record_settings {
    const char *format; // "none" (default), "sqlite", "compact" or "text"
    double fps;         // [1/s] default 10
} th_record_settings;

enum { TH_MAP_TIMES = 8 };

typedef struct th_scene_def {
    uint32_t cookie; // set by th_scene_def_default
    const char *name;
    const char *description;
    const char *base_dir;       // relative files are looked up here; NULL: the current folder
    const th_level_def *levels; // none: one open plane called "ground"
    int level_count;
    const th_stairs_def *stairs;
    int stairs_count;
    const th_zone_def *zones;
    int zone_count;
    const th_picture_def *pictures;
    int picture_count;
    const th_section_def *sections; // of models
    int section_count;
    const th_door_def *doors;
    int door_count;
    const th_goal_def *goals;
    int goal_count;
    const th_group_def *groups;
    int group_count;
    // CSV with rows time,what,value: 30,doors.main,close or 0,groups.visitors,50; also exits.ID. Or NULL.
    const char *timetable_file;
    const th_profile_def *profiles;
    int profile_count;
    const th_scripted_def *scripted;
    int scripted_count;
    const th_measure_line_def *measure_lines;
    int measure_line_count;
    const th_measure_area_def *measure_areas;
    int measure_area_count;
    // When the report shows maps of density and speed [s], ascending, at most TH_MAP_TIMES. None: means over up to eight
    // stretches of time.
    const double *map_times;
    int map_time_count;
    th_run_settings run;
    th_record_settings record;
    // Spacing of the distance fields [m]. 0: 0.2, finer for narrow doors; huge scenes get a coarser one.
    double plan_cell;
    bool no_files; // refuse linked files (scenes from strangers); default false
    // Linked files may lie outside base_dir; default true: the program names them itself.
    bool allow_links;
    th_allocator allocator;
} th_scene_def;

// The defaults that the members above state; a scene file begins with the same ones. Start every definition from its
// function: its cookie is checked, so that th_scene_create refuses a zeroed element and a program whose elements have another
// size than the library's. Structs without a cookie (shapes, distributions, route steps, model choices, sections and their
// values) are values: zeros mean "not given". An `id` that is NULL is made up; a
// `level` that is NULL is the only one.
TH_API th_scene_def th_scene_def_default(void);
TH_API th_level_def th_level_def_default(void);
TH_API th_stairs_def th_stairs_def_default(void);
TH_API th_zone_def th_zone_def_default(void);
TH_API th_picture_def th_picture_def_default(th_picture_kind kind);
TH_API th_door_def th_door_def_default(void);
TH_API th_goal_def th_goal_def_default(th_goal_kind kind);
TH_API th_group_def th_group_def_default(void);
TH_API th_profile_def th_profile_def_default(void);
TH_API th_scripted_def th_scripted_def_default(void);
TH_API th_measure_line_def th_measure_line_def_default(void);
TH_API th_measure_area_def th_measure_area_def_default(void);

// The built-in profiles, with their sources.
TH_API const th_profile_def *th_profiles(int *count);

// The definition and everything it points to may die after the call.
TH_API th_result th_scene_create(const th_scene_def *def, th_scene **scene, th_error *error);

// How to load: overrides are "path=value" texts applied to the JSON before it is checked
// ("groups[0].count=400", "groups.0.count=400" or "groups.visitors.count=400").
typedef struct th_scene_options { // zeros are the defaults
    const char *const *overrides;
    int override_count;
    bool no_files; // refuse linked files (scenes from strangers)
    // Linked files may lie anywhere; default false: only in the scene's folder and below it.
    bool allow_links;
    th_allocator allocator;
} th_scene_options;

TH_API th_scene_options th_scene_options_default(void);
TH_API th_result th_scene_load_file(const char *path, const th_scene_options *options,
                                    th_scene **scene, th_error *error);
// `name` is what messages call the text; `base_dir` (or NULL) is where linked files are looked up.
TH_API th_result th_scene_load_json(const char *text, size_t length, const char *name,
                                    const char *base_dir, const th_scene_options *options,
                                    th_scene **scene, th_error *error);
// The JSON that th_scene_load_file would compile: comments gone, overrides applied, otherwise unchecked.
// Loaded from the folder of the file it is the same scene. Caller frees with th_free.
TH_API th_result th_scene_overridden_json(const char *path, const th_scene_options *options,
                                          char **json, th_error *error);
// A scene as bytes, `throng compile`: what is left of it once its text is checked and its geometry joined. Worlds of the loaded
// scene have the same hashes. Builds with TH_COMPILED_ONLY, without GEOS, jansson and libpng, have no other scenes. Models and
// plugins are found by name. Caller frees the bytes with th_free.
TH_API th_result th_scene_compiled(const th_scene *scene, void **bytes, size_t *size,
                                   th_error *error);
// The bytes may die after the call. TH_BAD_SCENE where they are damaged, of another version of the format, or name models or
// parameters that this build lacks. th_scene_load_file reads such files, too.
TH_API th_result th_scene_load_compiled(const void *bytes, size_t size,
                                        const th_allocator *allocator, th_scene **scene,
                                        th_error *error);
// Recordings are read by libthrong-record (th_record_serve_scenes); without it scenes that name them are refused.
typedef struct th_recorded_person {
    int64_t id;       // in the recording
    double time;      // since the beginning of the run [s]; 0: there from the start
    th_point place;   // in the recording's coordinates
    th_vec2 velocity; // [m/s]
    int level;        // of `levels`
} th_recorded_person;
typedef struct th_recording_request {
    const char *path; // to open
    const th_recording_def *def;
    const char *const *levels; // ids of the scene
    int level_count;
    // Asked for each person in each frame from the beginning on until it says true: taken.
    bool (*take)(void *context, const th_recorded_person *person);
    void *context;
} th_recording_request;
typedef th_result th_recording_reader(const th_recording_request *request, th_error *error);
// For the whole process; before scenes are loaded.
TH_API void th_scene_read_recordings_with(th_recording_reader *reader);

// Worlds made from a scene must be destroyed before it.
TH_API void th_scene_destroy(th_scene *scene);

// The contents of a scene (name, levels, walls, doors, goals, groups, settings): th_scene_view_of in throng/scene_view.h.

// Point queries, relative to the scene's origin. All doors open. On a level that does not exist nothing is walkable, and
// the distance is -1e6.
TH_API bool th_scene_walkable(const th_scene *scene, int level, th_vec2 point);
// Distance to the nearest wall: positive inside the walkable area, negative in solids. [m], capped at +-1e6.
TH_API float th_scene_distance(const th_scene *scene, int level, th_vec2 point);
// How far apart the nodes of the distance fields are [m]; 0: the scene needs none. `wanted`: how far they should be at
// most, by plan_cell or by the narrowest door or goal. The first is larger where nodes times destinations would be too
// many; passages narrower than two of them may then be missed.
TH_API float th_scene_plan_spacing(const th_scene *scene, float *wanted);

#ifdef __cplusplus
}
#endif
#endif
