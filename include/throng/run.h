// throng: runs. A scene file, some seeds and some changed values become a folder that can be handed on: the
// scene as run, tables (CSV and JSON), report.html, and the trajectories. docs/reports.md says what is in it.
// `throng run`, `throng sweep` and `throng resume` are made of this header. In libthrong-run (pkg-config
// throng-run).
//
//     th_runs_def def = th_runs_def_default();
//     def.scene = "scenes/door.json";
//     def.runs = 20;                        // seeds 1 .. 20, side by side over the cores
//     th_runs_create(&def, &runs, &error);  // reads the scene and places its people; writes nothing
//     th_runs_execute(runs, &error);        // makes the folder, runs, writes
//     printf("%g s, see %s\n", th_runs_points(runs, &count)[0].egress.median, th_runs_about(runs)->folder);
//     th_runs_destroy(runs);
//
// The library prints nothing and catches no signals: what the user should see comes through `watch`, and
// th_runs_interrupt may be called from a signal handler. Results do not depend on jobs and threads.
//
// Threads: different th_runs are independent. One is used by one thread at a time, but th_runs_interrupt may be called by
// any; th_runs_execute starts threads of its own, and calls `watch` from the thread that called it.
// SPDX-License-Identifier: Apache-2.0
#ifndef THRONG_RUN_H
#define THRONG_RUN_H

#include "throng/findings.h"
#include "throng/world.h"

#if !defined(_WIN32) || defined(TH_BUILDING_RUN)
#define TH_RUN_API TH_EXPORT
#elif defined(TH_SHARED)
#define TH_RUN_API TH_IMPORT
#else
#define TH_RUN_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct th_runs th_runs;

// ---- what happens while it happens

// Moments at which `watch` is called: X(NAME, when). All calls come from the thread that called th_runs_execute.
#define TH_RUNS_MOMENTS(X)                                                              \
    X(BEGUN, "the folder is there; of a resumed run `time` is where it goes on")        \
    X(STEPPED, "a single run has made a step")                                          \
    X(WAITING, "several runs are under way; about five times a second")                 \
    X(RUN_DONE, "one of several runs is complete; in the order of the seeds")           \
    X(POINT_DONE, "all runs of `point` are complete: its results, text and JSON exist") \
    X(WRITING, "`text` says what is written")                                           \
    X(NOTE, "`text` is a line that the user should read: a recording that ends early")

typedef enum th_runs_moment {
#define X(NAME, when) TH_RUNS_##NAME,
    TH_RUNS_MOMENTS(X)
#undef X
        TH_RUNS_MOMENT_COUNT
} th_runs_moment;

typedef struct th_runs_progress {
    th_runs_moment moment;
    int point;             // that is worked on, see th_runs_points
    int done, count;       // runs of all points: complete, and at most
    double time;           // simulated so far by the single run or the one waited for [s]
    double end_time;       // when it ends at the latest [s]; 0: when the scene is empty
    uint64_t inside, left; // people of a single run
    double ci_relative;    // width of the egress time's interval so far; NaN: not known
    const char *text;      // of NOTE and WRITING, and of BEGUN the checkpoint; "": none
} th_runs_progress;

// Returning false interrupts, as th_runs_interrupt does.
typedef bool th_runs_watch_fn(const th_runs_progress *progress, void *context);

// ---- what to run. 0 and NULL are the defaults; every text is copied.

typedef struct th_runs_def {
    uint32_t cookie;         // set by th_runs_def_default
    const char *scene;       // scene file; the one member that has no default
    const char *const *sets; // overrides for all runs, "groups.0.count=500", see th_scene_options
    int set_count;
    bool allow_links; // the scene may read files outside its folder, see th_scene_options
    // Plugins with models that the scene names, loaded before it (th_plugin_load). The folder keeps their paths for its
    // readers; th_runs_open must be given them again, since a folder from elsewhere may name any code.
    const char *const *plugins;
    int plugin_count;
    // A sweep makes every combination of the values of some paths: "path=100,200,400", "path=0.8..1.6:5" (5 values
    // from 0.8 to 1.6), "groups.0.move=orca,social_force". At most 8 paths and 100 000 combinations. Every finished
    // run is on the disk at once; the same definition in the same folder makes what is missing.
    bool sweep;
    const char *const *vary;
    int vary_count;
    // "lhs:64" or "sobol:64" draws points instead of making combinations, 2 to 10 000; what is varied are distributions then:
    // "path=0.8..1.6", "path=normal:1.34:0.26", "path=whole:100:200", "path=orca,people" (docs/command-line.md). The report
    // has the share of each in the variance of every figure. Default: combinations.
    const char *sample;
    uint64_t
        seed; // of the first run, the next has seed + 1, ...; also of a sample; default: the scene's
    int runs; // seeds, up to 1e6, default: the scene's; of each combination of a sweep, default 10
    // Fewer runs, once the 95 % interval of the mean egress time is narrower, 0.02 for 2 % [-] (0, 10]
    double until_ci;
    double step;     // [s] (0, 0.5] default: the scene's
    double max_time; // a run ends here, whatever end the scene gives [s] default: the scene's end
    // The folder. Default: a new runs/<scene>; "none": nothing is kept, except by a sweep.
    const char *out;
    bool force;     // a folder that holds something: replace what throng wrote there
    bool no_report; // tables only
    // Trajectories, of several runs those of the first: "sqlite", "compact", "text", "none"; default: the scene's.
    const char *record;
    double fps;               // frames per simulated second [1/s] up to 1000, default: the scene's
    double checkpoint;        // time between saved states of a single run [s] default: never
    const char *command_line; // how the user asked for it, for the report
    int jobs;                 // runs at once, up to 1024, default: one per core
    int threads;              // of each run, up to 1024, default: as many cores as pay
    th_backend backend;
    th_runs_watch_fn *watch; // default: none
    void *context;
    // Several processes, on one machine or many, share the folder: all that execute the same definition with the same `out`
    // (or open the folder) take runs that no other has, and the last one writes tables and report, the same as one process
    // alone. Only a file system is between them, NFS included; src/cluster/crew.h says how. Nothing is recorded, and only one
    // of them may use `force`.
    bool shared;
} th_runs_def;

TH_RUN_API th_runs_def th_runs_def_default(void);

// Checks the definition, reads the scene and places its people; writes nothing yet. TH_BAD_ARGUMENT names the
// wrong member in error.path ("record"); other errors are the scene's.
TH_RUN_API th_result th_runs_create(const th_runs_def *def, th_runs **runs, th_error *error);
// Opens the folder of a run with checkpoints, or of a sweep, that was interrupted or killed; th_runs_execute then goes
// on with it and leaves what an uninterrupted run would have left. Of the definition only jobs, threads, backend,
// watch and context count. A folder that is finished opens too, and there is nothing to execute.
TH_RUN_API th_result th_runs_open(const char *folder, const th_runs_def *def, th_runs **runs,
                                  th_error *error);
// Makes the folder, runs, writes; once. TH_OK also when interrupted: see the state. Results that were computed can be
// read even where writing them failed.
TH_RUN_API th_result th_runs_execute(th_runs *runs, th_error *error);
// Makes the folder of shared runs and none of the runs, for a scheduler that will start the processes.
TH_RUN_API th_result th_runs_prepare(th_runs *runs, th_error *error);
// Instead of th_runs_execute, of an opened folder: tables and report from the runs that are complete, while others go on.
TH_RUN_API th_result th_runs_collect(th_runs *runs, th_error *error);
// Ends runs early: a single run, or the first of several, is kept as far as it came, a sweep can be resumed. For
// signal handlers, other threads, and before th_runs_execute.
TH_RUN_API void th_runs_interrupt(th_runs *runs);
TH_RUN_API void th_runs_destroy(th_runs *runs);

// ---- what came of it. While runs are executed the arrays grow and may move: ask again at every call of `watch`.

typedef enum th_runs_state {
    TH_RUNS_STATE_PREPARED,
    TH_RUNS_STATE_RUNNING,
    TH_RUNS_STATE_INTERRUPTED,
    TH_RUNS_STATE_FINISHED, // and written
    TH_RUNS_STATE_FAILED,   // th_runs_execute said why
    TH_RUNS_STATE_SHARED    // nothing is left for this process; others have runs
} th_runs_state;

typedef struct th_runs_info {
    const char *scene_name, *scene_file;
    const char *folder; // "" when nothing is kept, and before BEGUN
    const char *page;   // to be opened in it: "report.html" or, without a report, "summary.json"
    th_runs_state state;
    bool sweep;
    // The recording or the checkpoints end early, or runs were given up; a NOTE said why.
    bool cut_short;
    int runs; // of each point, at most
    double until_ci;
    const char *const *paths; // that a sweep varies
    int path_count;
    int point_count;
    int found;   // runs of a resumed sweep that were complete already
    bool shared; // with other processes
} th_runs_info;
TH_RUN_API const th_runs_info *th_runs_about(const th_runs *runs);

// One run. NaN: there is none.
typedef struct th_run_outcome {
    int point;
    uint64_t seed, hash;            // th_world_hash at the end
    double egress_time;             // when the last person left [s] NaN: not empty at the end
    double p95_time;                // when 95 % of all agents had left [s] NaN: never
    double flow;                    // through all exits, from the first person to the last [1/s]
    double mean_jam_time;           // of a person [s]
    double max_density;             // of any cell of the map at any time [1/m2]
    double largest_overlap;         // of two bodies [m]
    double time;                    // simulated [s]
    double wall_seconds;            // taken
    uint64_t spawned, left, inside; // people
    uint64_t fallen, lying;         // people that ever fell, that lie at the end
    bool interrupted;
} th_run_outcome;
// Point after point, in the order of the seeds.
TH_RUN_API const th_run_outcome *th_runs_outcomes(const th_runs *runs, int *count);

// Egress times of several runs; runs that did not empty the scene have none. NaN below two values, or one.
typedef struct th_egress {
    int count;
    double mean, median, p05, p95, min, max; // [s]
    double ci_low, ci_high, ci_relative;     // 95 % confidence interval of the mean, width / mean
} th_egress;

// One combination of a sweep's values; a run without sweep has one point without values.
typedef struct th_runs_point {
    const char *const *values; // of info.paths
    int first, count;          // its runs among th_runs_outcomes
    th_egress egress;
} th_runs_point;
// Points that are complete so far.
TH_RUN_API const th_runs_point *th_runs_points(const th_runs *runs, int *count);

// ---- progress of a folder, for any process that can read it

// A run that a process holds, or that was given up after ten processes died of it.
typedef struct th_runs_holder {
    int point;
    uint64_t seed;
    bool given_up;
    int deaths;    // of processes that had it
    double silent; // since the process last wrote its beat, every 10 s [s]
    const char *machine, *job, *log,
        *why; // where, the scheduler's name for it, what it said, why it ended; "": not known
} th_runs_holder;

typedef struct th_runs_standing {
    bool sweep, shared, finished; // shared: processes work on it, or may
    int runs, done, taken, given_up;
    double run_seconds; // that a run takes, the mean of complete ones [s] NaN: none yet
    double left;        // seconds until the end at the present pace [s] NaN: not known
    const th_runs_holder *holders;
    int holder_count;
} th_runs_standing;

// Reads only, whatever happens in the folder. Release with th_runs_standing_destroy.
TH_RUN_API th_result th_runs_stand(const char *folder, th_runs_standing *standing, th_error *error);
TH_RUN_API void th_runs_standing_destroy(th_runs_standing *standing);

// The findings of the scene and its runs; NULL before the end and of a sweep.
TH_RUN_API const th_findings *th_runs_findings(const th_runs *runs);
// The results of a point for people (what `throng run` prints), and of everything for programs (what summary.json or
// sweep.json holds). Caller frees with th_free; NULL: no memory, or the point is not complete.
TH_RUN_API char *th_runs_text(const th_runs *runs, int point);
TH_RUN_API char *th_runs_json(const th_runs *runs);

#ifdef __cplusplus
}
#endif
#endif
