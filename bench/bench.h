// The bench of `throng bench`: scenes made in code, measurements of speed, memory and quality, and their tables. Each
// th_bench_... function that takes a definition prints its result.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_BENCH_H
#define TH_BENCH_H
#include "throng/throng.h"

// ---- the bench scenes
// Made in code for any number of people. All share radius 0.2 m, preferred and maximum speed 1.3 m/s, neighbour range
// 5 m, at most 10 neighbours, horizon 2 s.
//   circle   hexagonal lattice (0.6 m) filling an annulus, inner radius half the outer; goal: the
//            opposite point
//   block    square lattice at 3 people/m2; goal mirrored in x, so the halves walk through each other
//   dense    the same at 4 people/m2
//   packed   hexagonal lattice (0.41 m), nearly touching; goal mirrored in x
//   pillars  people at 1 per m2 among pillars 5 m apart, 25 to a pillar, one far goal, planned with a
//            distance field
//   door     people at 3 per m2 in a room, one door of 2 m
//   rooms    people at 1 per m2 in rooms of 20 by 20 m, openings of 1.6 m in each wall between them, exits in the outer
//            walls of both ends of each row: 85 rooms at 34 000 people, 2500 at a million
//   hall     people at 1 per m2 in a square hall with an exit of 10 m in each wall, planned with `quickest`: 100 by 100 m
//            at 10 000 people

typedef enum th_bench_scene {
    TH_BENCH_CIRCLE,
    TH_BENCH_BLOCK,
    TH_BENCH_DENSE,
    TH_BENCH_PACKED,
    TH_BENCH_PILLARS, // this and what follows has walls
    TH_BENCH_DOOR,
    TH_BENCH_ROOMS,
    TH_BENCH_HALL,
    TH_BENCH_SCENE_COUNT
} th_bench_scene;

extern const char *const th_bench_scene_names[TH_BENCH_SCENE_COUNT];

#define TH_BENCH_STEP 0.1 // [s], unless another is asked for

// Returns the index into the names, or TH_BENCH_SCENE_COUNT.
th_bench_scene th_bench_find_scene(const char *name);

typedef struct th_bench_models {
    const char *move, *behave;  // behave NULL: the default
    const th_model_def *filter; // NULL: none
} th_bench_models;

// Makes scene and world with exactly `agents` people and steps of `step` seconds. Destroy the world first, then the
// scene.
th_result th_bench_create(th_bench_scene which, const th_bench_models *models, int agents,
                          double step, int threads, th_backend backend, th_scene **scene,
                          th_world **world, th_error *error);

// A scene file instead; a `step` of 0 is the file's. A file that cannot be read is TH_BAD_SCENE here: the name was
// wrong, not the disk.
th_result th_bench_load(const char *file, const th_scene_options *options, int threads, double step,
                        th_backend backend, th_scene **scene, th_world **world, th_error *error);

// Sub-steps that a move model takes in a step of so many seconds; 1 for models without sub-steps.
int th_bench_substeps(const char *model, double step);
bool th_bench_has_model(th_stage stage, const char *model);

// ---- one measurement: milliseconds per step and stage, memory, behaviour

enum { TH_BENCH_WARM_UP = 5, TH_BENCH_MEASURED = 20, TH_BENCH_BURST = 5 }; // steps

typedef struct th_bench_figures {
    int agents;                          // at the start of the measured steps
    double ms_per_step, ms_per_step_min; // median and least of the measured steps
    double stage_ms[TH_STAGE_COUNT];     // mean per step of those in the profile
    double plan_ms_max;                  // of the plan stage, in the slowest of the measured steps
    uint64_t hash;                       // after warm-up and measured steps
    uint64_t peak_rss_bytes;             // of the process so far
    uint64_t device_bytes;               // of the world on its device; 0 on the CPU
} th_bench_figures;

// A device runs behind its calls, so there the same steps are timed TH_BENCH_BURST at a time, until the last is
// done; the median and the least are then of the bursts.
th_bench_figures th_bench_measure(th_world *world, th_backend backend);

typedef struct th_bench_case {
    const char *scene, *model;
    const char *behave; // NULL: the default
    const char *filter; // NULL: none; "name" or "name:preset"
    th_backend backend;
    int agents, threads;
    double step; // [s]; 0: the bench's, or that of the scene file
    bool behaviour;
    const char *const *params; // "name=value", for all groups
    int param_count;
    const char *const *overrides; // of a scene file, as in th_scene_options
    int override_count;
    double bar;       // [ms] per step, or per sub-step for models with sub-steps; 0: none
    bool bar_on_plan; // the bar is on the plan stage alone
} th_bench_case;

// ---- the table of `throng bench`: milliseconds per step, memory and behaviour, with the bars beside them

typedef struct th_bench_table_def {
    bool full; // also the largest crowds
    int threads;
    th_backend backend;
    const char *csv;     // NULL: none
    const char *compare; // a table that was written as `csv` before: ratios to its rows; NULL: none
    bool quiet;          // no progress on stderr
} th_bench_table_def;

// Both print; the error names what could not be measured, its path the option that was wrong.
th_result th_bench_table(const th_bench_table_def *def, th_error *error);
th_result th_bench_one(const th_bench_case *what, const char *compare, bool json, th_error *error);

// ---- cost per person against the size of the crowd and the number of threads, as a table and a plot
// Without a model it compares uic and orca on one thread, as figure 8 of Narain et al. 2009 does. One thread is timed in
// processor time.

typedef struct th_bench_scaling_def {
    const char *scene, *model; // a built-in scene; a move model, NULL: uic and orca
    const char *plot;          // PNG
    const char *csv;           // NULL: none
    int most;                  // people at most, 0: 4 million
    bool quiet;                // no progress on stderr
} th_bench_scaling_def;

th_result th_bench_scaling(const th_bench_scaling_def *def, th_error *error);

// ---- work of uic's pressure against the cells on which it acts, as figure 7 of Narain et al. 2009
// The work is counted in cells that the solver visits, so the figure is the same on every machine.

typedef struct th_bench_cells_def {
    const char *scene; // a file
    const char *plot;  // PNG
    const char *csv;   // NULL: none
    double limit;      // simulated time looked at [s]
    bool (*stopped)(void);
} th_bench_cells_def;

th_result th_bench_cells(const th_bench_cells_def *def, th_error *error);

// ---- cost of a model written as a function of one person beside a built-in loop

typedef struct th_bench_own_model_def {
    int agents; // 0: 10 000 and 100 000
    int threads;
    const char *csv; // NULL: none
} th_bench_own_model_def;

// ORCA as it is built in and ORCA as a function of one person, on the bench's block: milliseconds per step, their ratio
// (bar: 1.5) and the state hashes, which are equal.
th_result th_bench_own_model(const th_bench_own_model_def *def, th_error *error);

// ---- the frame of a game

// A town with 1000 people on one thread, in processor time: a usual step (bar 1.2 ms for orca, 1.6 for people), and against it
// the step in which a door or a wall changes or the world is restored (bar 1.5 times), and the longest step of the second that
// follows against that of a second without changes, in a world whose ways follow within a second. `csv` may be NULL.
th_result th_bench_frame(const char *csv, th_error *error);

// ---- cost of recording: the same steps with and without a recorder, and the size of the file

typedef struct th_bench_recording_def {
    int agents; // 0: 10 000, 100 000 and a million
    int threads;
    const char *folder; // where the recordings lie while they are measured; NULL: a temporary one
    const char *csv;    // NULL: none
    bool quiet;         // no progress on stderr
} th_bench_recording_def;

// Prints the table. `same_hash` becomes false when a crowd walked otherwise because it was recorded: a bug.
th_result th_bench_recording(const th_bench_recording_def *def, bool *same_hash, th_error *error);

// ---- many runs on one device: batches

typedef struct th_bench_batch_def {
    const char *scene;
    int runs, jobs; // of the batch; jobs 0: four a core
    th_backend backend;
    const char *csv;       // NULL: none
    bool (*stopped)(void); // true: the user wants an end
} th_bench_batch_def;

// Prints runs per second one after the other and side by side, the ratio, and whether each run has the same state.
th_result th_bench_batch(const th_bench_batch_def *def, bool *same, th_error *error);

// ---- cost of the studio, and the frames that it delivers over the loopback address

typedef struct th_bench_studio_def {
    int agents; // 0: 100 000 and a million
    int threads;
    const char *csv; // NULL: none
} th_bench_studio_def;

// Prints the table: frames per second with the crowd at rest (taken, written, sent and read over a WebSocket, all
// people in view), then with the crowd stepped as fast as it goes, and the share of the stepping thread's time that the
// studio took.
th_result th_bench_studio(const th_bench_studio_def *def, th_error *error);

// ---- the scenes of Narain et al. 2009: speed and quality

typedef struct th_bench_uic_def {
    const char *scene; // one file of scenes/uic; NULL: all
    int threads;
    const char *csv;       // NULL: none
    bool quiet;            // no progress on stderr
    bool (*stopped)(void); // true: the user wants an end
    th_backend backend;    // of the quality
} th_bench_uic_def;

// Prints milliseconds per step in the thick of each scene, with the bars.
th_result th_bench_uic_speed(const th_bench_uic_def *def, th_error *error);
// Runs each scene to its end and prints densities, distances, lanes, walls.
th_result th_bench_uic_quality(const th_bench_uic_def *def, th_error *error);

// ---- the scenes of the continuum planner: speed

typedef struct th_bench_continuum_def {
    int threads;
    th_backend backend;
    const char *csv;       // NULL: none
    bool (*stopped)(void); // true: the user wants an end
} th_bench_continuum_def;

// Prints milliseconds per step of each scene in scenes/continuum, with the bars.
th_result th_bench_continuum(const th_bench_continuum_def *def, th_error *error);

// ---- quality of a crowd: the bars of dense-crowd models in numbers

// Looked at once a simulated second. NaN: the scene has nothing to measure it by.
typedef struct th_quality {
    uint64_t people; // all that ever came
    double time;     // at the end [s]
    double arrived;  // share that left or stands at the goal
    int64_t lost;    // spawned - inside - left - removed: a bug if not 0
    uint64_t wall_crossings;
    double densest;      // largest packing of a cell of the model uic, at any time [1]
    double nearest_mean; // distance to the nearest person where it is packed, in diameters
    // Share of all looks at which the nearest neighbour is closer than a diameter.
    double below_diameter;
    double deepest_overlap;                    // [m]
    double overlap_x, overlap_y, overlap_time; // where [m] and when [s] that was; NaN: never
    // Largest share of the speed that goes around the centre, core of a circle [1]
    double tangential;
    double lanes; // order parameter of Rex and Loewen 2007 among walking people, mean over time [1]
    double goalward; // mean speed towards the goal, in units of the preferred speed
    double outflow;  // people per second between the 20th and the 80th percentile of leaving [1/s]
    double outflow_variation; // standard deviation / mean of 5 s counts in that interval
    // Of one step a second, over people that walk before and after it:
    double acceleration;  // mean |change of velocity| / step [m/s2]
    double reversals;     // share of them that turn by more than a right angle while moving
    double fastest;       // largest speed, in units of the own preferred speed
    double above;         // share faster than 1.2 times the own preferred speed
    double overlap;       // deepest overlap as a share of the pair's mean diameter
    uint64_t repairs;     // states that the world had to set right
    uint64_t left_behind; // neither left nor at their goal at the end
    bool stuck;           // the run ended because they no longer got anywhere
    char who[160];        // is left behind: groups with their numbers, and where most of them are
    double last_left;     // when the last one left [s]
    double wall_seconds;
    uint64_t hash;
} th_quality;

// Steps until all have arrived, the rest is stuck (all of them stay within a metre for a minute, and nothing is to come
// that could change it) or `limit` seconds, whatever the scene's duration. `seen` (or NULL) is told the time after
// every look and stops the run by returning false.
typedef bool th_quality_progress(double time, uint64_t inside, void *context);
// False: no memory.
bool th_quality_run(th_world *world, double limit, th_quality_progress *seen, void *context,
                    th_quality *quality);

// ---- one run of a scene, judged: arrivals, calm, overlap
// tools/test-long judges the shipped scenes this way over many seeds and with every model.

typedef struct th_bench_judge_def {
    const char *scene;
    const char *move, *filter;    // of every group instead of its own; NULL: as in the scene
    const char *const *overrides; // as in th_scene_options
    int override_count;
    uint64_t seed; // 0: the scene's
    double limit;  // simulated [s]; 0: the scene's end
    double wall;   // gives up after so many seconds of real time; 0: never
    int threads;
    th_backend backend;
    bool (*stopped)(void);
} th_bench_judge_def;

// Prints one JSON object in one line. A model that the scene cannot have (own goals, say) is TH_BAD_SCENE.
th_result th_bench_judge(const th_bench_judge_def *def, th_error *error);
#endif
