// The insides of th_runs, for the files of this folder. SPDX-License-Identifier: Apache-2.0
#ifndef TH_RUN_RUNS_H
#define TH_RUN_RUNS_H
#include "observe/ensemble.h"
#include "observe/findings.h"
#include "observe/observer.h"
#include "observe/sensitivity.h"
#include "report/report.h"
#include "throng/base.h"
#include "throng/record.h"
#include "throng/run.h"
#include <jansson.h>
#include <stdatomic.h>

// ---- one run

// One run: a world, what is measured of it, what is recorded of it, and its checkpoints; and many runs side by side.

// ---- checkpoints
// The world and what was measured of it so far, in one checked file, so that a run which was killed goes on from there.
// The two newest are kept.

typedef struct th_checkpoint {
    uint64_t step_count;
    double wall_seconds; // the run took so far [s]
    const void *world, *observer;
    size_t world_size, observer_size;
    char *bytes; // of the file; the others point into it
} th_checkpoint;

// Sets the checksum of a file of at least 16 bytes; apart so that the fuzzer gets past it.
void th_checkpoint_seal(char *bytes, size_t size);

enum { TH_CHECKPOINT_NAME = 64, TH_CHECKPOINTS_LISTED = 16 };
typedef char th_checkpoint_name[TH_CHECKPOINT_NAME];
// Names below the folder, newest first; returns how many.
int th_checkpoint_list(const th_folder *folder, th_checkpoint_name *names);
// Lengths, version and checksum are checked. Release with th_checkpoint_release.
th_result th_checkpoint_read(const th_folder *folder, const char *name, th_checkpoint *checkpoint,
                             th_error *error);
// The same of bytes that are in memory already, which it takes over; `path` is for messages.
th_result th_checkpoint_take(char *bytes, size_t size, const char *path, th_checkpoint *checkpoint,
                             th_error *error);
void th_checkpoint_release(th_checkpoint *checkpoint);

// ---- one run

// Shared by all runs of a scene.
typedef struct th_simulation_def {
    const th_scene_view *scene;
    double step;      // [s]
    double end;       // stops here even when people are inside [s]
    bool until_empty; // stops when no agent is on the way
    int threads;      // of each world, 0: as many as pay
    th_backend backend;
    th_batch *batch; // of runs side by side on a device; NULL: none
} th_simulation_def;

// From the scene's own settings; `step` and `max_time` (0: the scene's) have the last word.
th_simulation_def th_simulation_def_of(const th_scene_view *scene, double step, double max_time);

// Where the trajectories of a run go.
typedef struct th_recording {
    bool wanted;
    th_trajectory_format format;
    double fps;             // wanted
    char file[32];          // in the folder
    char path[TH_PATH_MAX]; // folder/file
} th_recording;

typedef struct th_simulation th_simulation;
struct th_simulation {
    const th_simulation_def *def;
    uint64_t seed;
    th_world *world;
    th_observer *observer;
    const char *recording;        // its file; belongs to the caller that began it
    th_recorder *recorder;        // NULL: nothing is recorded, or no longer
    const atomic_bool *stop;      // ends the run early when true; NULL: never
    const atomic_bool *interrupt; // the same, by the user
    // Set to the simulated milliseconds, for a watcher in another thread; or NULL.
    atomic_llong *clock;
    const th_folder *checkpoints; // NULL: none are written
    double checkpoint_every;      // [s] simulated
    double wall_before;           // seconds the run took before it was resumed
    char trouble[640];            // why the recording ends early; "": it does not
    char note[1000];              // a line about trouble that was not told yet; "": none
    bool checkpoint_failed;
    bool wants_image; // a complete run leaves a checkpoint of its end in `image`
    char *image;
    size_t image_size;
    void (*stepped)(void *context, const th_simulation *simulation); // after every step; or NULL
    void (*tell)(void *context, const char *note); // NULL: the last one stays in `note`
    void *context;
};

// Makes world and observer. On failure nothing is left behind.
th_result th_simulation_start(th_simulation *simulation, const th_simulation_def *def,
                              uint64_t seed, th_error *error);
// Begins a recording, or with `resume` goes on in the one that is there.
th_result th_simulation_record(th_simulation *simulation, const th_recording *recording,
                               const th_trajectory_note *notes, int note_count, bool resume,
                               th_error *error);
// World and observer as they were.
th_result th_simulation_restore(th_simulation *simulation, const th_checkpoint *checkpoint,
                                th_error *error);
// Steps to the end, `interrupt` or `stop`, and completes the observation and the recording. A recording or a
// checkpoint that fails makes a note and does not stop the run.
th_result th_simulation_run(th_simulation *simulation, th_error *error);
void th_simulation_release(th_simulation *simulation);

// People that are inside or may still come until `end` [s].
double th_people_expected(const th_scene_view *scene, double end);
// A frame is every n-th step, the nearest to what is wanted: frames per second really written.
double th_frames_per_second(double wanted, double step);

// ---- many runs side by side over the cores, one scene shared
// Results are handed over strictly in the order of the seeds, so that nothing computed from them depends on how many
// ran at once.

typedef struct th_jobs {
    const th_simulation_def *simulation; // threads is overwritten when 0
    const uint64_t *seeds;
    int count;
    int jobs; // at once; 0: as many as cores
    // When it becomes true unfinished runs are given up, except that the first is delivered as far as it came.
    const atomic_bool *interrupt;
    // After the run with seeds[0] was made, in its thread; NULL: nothing. To start its recording.
    th_result (*begin_first)(void *context, th_simulation *first, th_error *error);
    // When a run is complete, in its thread, one at a time, in any order; NULL: nothing.
    th_result (*finished)(void *context, int index, const th_simulation *run, th_error *error);
    // In seed order, in the caller's thread; false: enough, the others are given up. `run` is released after.
    bool (*deliver)(void *context, int index, th_simulation *run);
    // Now and then, in the caller's thread, with the simulated time of the run that is waited for [s].
    void (*waiting)(void *context, double simulated);
    void *context;
} th_jobs;

th_result th_jobs_run(const th_jobs *jobs, th_error *error);

// ---- results of the runs of a sweep as rows of runs.csv, rows.c

typedef struct th_variation th_variation;

// All quantities (observe/quantities.h) of one run, in the order of the store's titles; shorter rows lack the last ones.
typedef struct th_row_figures {
    double *values; // NULL: not known
    int count;
} th_row_figures;

typedef struct th_row_store {
    const th_folder *folder;
    const th_variation *variation;
    uint64_t first_seed;
    int runs;                // of each combination, at most
    th_run_outcome *rows;    // [combination][run]
    bool *known;             // of each row: it is there
    int file;                // open for appending, -1: not
    int found;               // rows that were there already
    th_row_figures *figures; // [combination][run]
    char **titles;           // "exit main: mean wait [s]"
    int title_count;
    int figures_file; // run_quantities.csv, open for appending when figures_open
    bool figures_open;
    char *header; // the last one in it
} th_row_store;

// Reads what is there (half a line at the end, left by a kill, is cut off) and opens for appending.
th_result th_rows_open(th_row_store *store, th_error *error);
// The same for reading only; without `from_folder` it is empty.
th_result th_rows_load(th_row_store *store, bool from_folder, th_error *error);
void th_rows_close(th_row_store *store);
bool th_rows_has(const th_row_store *store, int combination, int run);
const th_run_outcome *th_rows_get(const th_row_store *store, int combination, int run);
// Appends and syncs. The row in memory becomes what a reader of the file would see, so that a resumed sweep computes
// from the same numbers as an uninterrupted one. The quantities (of this run alone) are on the disk before it.
th_result th_rows_add(th_row_store *store, int combination, int run, const th_run_outcome *row,
                      const th_quantities *quantities, th_error *error);
// A row as a line, and its quantities (NULL: none) as two, to be freed; NULL: no memory. And from its lines, which more may
// follow; false: it is not that row.
char *th_rows_line(const th_row_store *store, int combination, const th_run_outcome *row,
                   const th_quantities *quantities);
bool th_rows_take(th_row_store *store, int combination, int run, const char *line);
// The quantity with this title of a run; NaN: none.
double th_rows_figure(const th_row_store *store, int combination, int run, int title);
// The files anew: in order, and of each combination only the first used[combination] runs.
th_result th_rows_sort(const th_row_store *store, const int *used, th_error *error);

// ---- paths of the scene that a sweep varies, each with a list of values, and all their combinations, sweep.c

enum {
    TH_VARY_PATHS = TH_INPUTS,
    TH_VARY_VALUES = 1000,         // of one path
    TH_VARY_COMBINATIONS = 100000, // reason: a slip in a range should not ask for a year's work
    TH_SAMPLE_POINTS = 10000
};

typedef struct th_vary {
    char *path;
    char **values; // JSON, as it stands behind the '=' of an override
    int count;
    char *distribution; // of a sample, as it was given: "normal:1.34:0.26"; NULL: no sample
    bool listed;        // it is a list: values are words, not numbers
} th_vary;

struct th_variation {
    th_vary items[TH_VARY_PATHS];
    int count;
    int combinations; // 1 when nothing is varied
    bool sampled;     // combination k has value k of every path
};

// "path=1,2,4", "path=0.8..1.6:5" (evenly spaced, both ends included), "path=orca,social_force". TH_BAD_ARGUMENT
// with the path "vary". Release in any case.
th_result th_variation_read(th_variation *variation, const char *const *texts, int count,
                            th_error *error);
// The same with distributions and `sample`, "lhs:64" or "sobol:64" (the path of its errors is "sample").
th_result th_variation_draw(th_variation *variation, const char *const *texts, int count,
                            const char *sample, uint64_t seed, th_error *error);
void th_variation_release(th_variation *variation);
const char *th_variation_value(const th_variation *variation, int k, int item);

// [{"path": ..., "values": [...]}, ...], of a sample with the "distribution", and back; false when it is nothing of the kind.
json_t *th_variation_json(const th_variation *variation);
bool th_variation_of_json(th_variation *variation, const json_t *json);

// ---- the folder of a run
// run.json says how the run came about, so that it can be repeated and resumed; then the recording, the tables and the
// report.

typedef struct th_run_folder {
    th_folder folder; // path "": nothing is kept, or not yet
    json_t *about;    // run.json
    th_recording recording;
    const char **overrides; // the texts belong to `about`
    double max_time;        // --max-time [s]; 0: not given
    int override_count;
} th_run_folder;

// Takes over `about` and finds the overrides in it. Release in any case.
th_result th_run_folder_begin(th_run_folder *run, json_t *about, th_error *error);
// Reads run.json of a folder; the error says when there is none. Release in any case.
th_result th_run_folder_open(th_run_folder *run, const char *path, th_error *error);
// "running", "interrupted" or "finished", written at once.
th_result th_run_folder_state(th_run_folder *run, const char *state, th_error *error);
void th_run_folder_release(th_run_folder *run);

// The command that makes the same run again in this folder, quoted for a shell; to be freed. NULL: no memory.
char *th_run_folder_again(const th_run_folder *run);

// Whether report.html is written, besides the tables.
bool th_run_folder_wants_page(const th_run_folder *run);
const char *th_run_folder_text(const th_run_folder *run, const char *key); // "" when missing

// "sqlite", "compact", "text" or "none"; false: none of them.
bool th_recording_choose(th_recording *recording, const char *format);
// Notes of the recording about its origin.
enum { TH_RUN_NOTES = 4 };
void th_run_folder_notes(const th_run_folder *run, th_trajectory_note *notes);

// For the room report. `trouble` is why the recording ends early, or "".
th_report_def th_run_folder_report(const th_run_folder *run, const th_scene_view *scene,
                                   const th_ensemble *ensemble, const char *trouble);
// The contents of summary.json, `wall_seconds` and the folder; NULL with an error.
json_t *th_run_folder_summary(const th_run_folder *run, const th_report_def *report,
                              th_error *error);

// ---- the scene exactly as run, in the folder of the run: overrides applied, linked files copied beside it, so
// that `throng run DIR/scene.json` gives the same hash anywhere
typedef struct th_texts {
    const char *const *items;
    int count;
} th_texts;

// Changes of a definition of runs to the scene, which its copy must hold.
typedef struct th_scene_changes {
    uint64_t seed;         // 0: not given
    int runs;              // 0: not given
    double step, max_time; // [s] 0: not given
} th_scene_changes;

// The scene file's tree with `overrides` and then `changes` applied; `scene` is what the file and the
// overrides were compiled to. As it has been loaded before, errors are those of a file that changed in
// between. NULL with an error.
json_t *th_scene_tree(const char *scene_file, const th_texts *overrides,
                      const th_scene_changes *changes, const th_scene_view *scene, th_error *error);
// A number that changes when the tree or a file it links to does.
uint64_t th_scene_digest(const json_t *tree, const char *scene_file);
// Writes scene.json and files/; names in the tree are changed to those of the copies.
th_result th_scene_copy(const th_folder *folder, json_t *tree, const char *scene_file,
                        th_error *error);

// ---- runs

struct th_runs {
    th_runs_info info;
    th_runs_watch_fn *watch;
    void *context;
    atomic_bool interrupt;
    // How
    th_simulation_def simulation; // of a sweep only threads and backend
    uint64_t first_seed;
    int jobs; // 0: one per core
    double checkpoint_every;
    // Where
    char *out;    // NULL: a new folder
    bool force;   // replace what throng wrote there
    json_t *tree; // the scene as it will be copied; NULL: nothing is kept, or it is there already
    bool own_plugins; // given when it was opened; those that the folder names are not loaded
    bool resumable;   // the folder is there and has checkpoints
    bool shared;      // with other processes, shared.c
    bool told_beginning, partial; // tables of what is there, though runs are missing
    bool others_made;             // the folder
    int made;                     // runs of a shared folder whose results are there
    th_run_folder keep;
    // What
    th_scene *scene;     // NULL: a sweep, which loads one for each combination
    th_simulation first; // made to see whether the people fit
    bool made_compact;   // many people: a recording in rows was made a compact one
    th_variation variation;
    const char *paths[TH_VARY_PATHS];
    // Results
    th_ensemble ensemble; // not of a sweep
    char trouble[640];    // why the recording ends early; "": it does not
    th_run_outcome *outcomes;
    int outcome_count;
    th_runs_point *points; // point_count of them
    int points_done;
    const char *(*values)[TH_VARY_PATHS]; // of each point
    th_findings *findings;
};

// With fewer runs intervals are not trusted: with 4 degrees of freedom Student's t is still 2.8, and with fewer a
// narrow interval is often luck.
enum { TH_RUNS_LEAST = 5 };
// Is the sample of `runs` runs good enough to stop, or hopeless, as none of them emptied the scene?
bool th_runs_enough(const th_sample_summary *egress, int runs, double until_ci);

static inline bool th_runs_interrupted(const th_runs *runs) {
    return atomic_load_explicit(&runs->interrupt, memory_order_relaxed);
}
// Calls the watcher; a `text` of NULL is none. th_runs_note formats the line of a NOTE.
void th_runs_tell(th_runs *runs, th_runs_progress progress);
void th_runs_note(th_runs *runs, const char *format, ...) __attribute__((format(printf, 2, 3)));

th_result th_runs_add(th_runs *runs, const th_run_outcome *outcome, th_error *error);
// All runs of the next point have been added: tells so.
void th_runs_close_point(th_runs *runs);
// The outcome of one run. `flow` is th_exit_flow, to be called before the observation is moved.
th_run_outcome th_outcome_of(const th_run_summary *summary, double flow);
double th_exit_flow(const th_observation *observation);

// A single run or several, of runs->scene. execute.c
th_result th_runs_execute_plain(th_runs *runs, th_error *error);
// The folder of a run, to be resumed. execute.c
th_result th_runs_open_plain(th_runs *runs, const char *folder, th_error *error);
// The plugins of a definition for the folder's description; NULL: none. And those of an opened folder, loaded.
json_t *th_runs_plugins(const th_runs_def *def);
th_result th_runs_check_plugins(const th_runs *runs, th_error *error);
// Sweeps. sweep.c
th_result th_sweep_create(th_runs *runs, const th_runs_def *def, th_error *error);
th_result th_sweep_open(th_runs *runs, const char *folder, th_error *error);
th_result th_sweep_execute(th_runs *runs, th_error *error);
// Tables of the rows that are there, of a folder that no other process writes.
th_result th_sweep_collect(th_runs *runs, th_error *error);
void th_sweep_print_point(FILE *out, const th_runs *runs, int point);
// Whether the folder holds this sweep, to be continued (a different one is an error); and what a new folder holds before
// its runs.
th_result th_sweep_find(th_runs *runs, bool *same, th_error *error);
th_result th_sweep_write(th_runs *runs, th_error *error);
// The scene of a point, from the copy in the folder.
th_result th_sweep_scene(const th_runs *runs, int point, th_scene **scene, th_error *error);
// Tables and page of all points, which are closed; `whole`: of all their runs.
th_result th_sweep_conclude(th_runs *runs, const th_row_store *store, const int *used, bool whole,
                            th_error *error);
// Tables and report of a plain set of runs from the first `count` images (th_simulation.image, after a line) that are
// there. execute.c
typedef char *th_image_fn(void *context, int run, size_t *size);
th_result th_runs_gather(th_runs *runs, int count, th_image_fn *image, void *context, bool whole,
                         th_error *error);
// As th_sweep_find and _write, of a plain set of runs in a folder that several processes share.
th_result th_runs_find(th_runs *runs, bool *same, th_error *error);
th_result th_runs_write(th_runs *runs, th_error *error);
// Folders that several processes share. shared.c
th_result th_shared_prepare(th_runs *runs, th_error *error);
th_result th_shared_execute(th_runs *runs, th_error *error);
th_result th_shared_collect(th_runs *runs, th_error *error);
#endif
