// One run: a world, what is measured of it, what is recorded of it, and its checkpoints; and many runs side by side.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_RUN_SIMULATION_H
#define TH_RUN_SIMULATION_H
#include "observe/observer.h"
#include "report/folder.h"
#include "throng/record.h"
#include <stdatomic.h>

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
void th_checkpoint_release(th_checkpoint *checkpoint);

// ---- one run

// What all runs of a scene have in common.
typedef struct th_simulation_def {
    const th_scene_view *scene;
    double step;      // [s]
    double end;       // stops here even when people are inside [s]
    bool until_empty; // stops when no agent is on the way
    int threads;      // of each world, 0: as many as pay
    th_backend backend;
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
    atomic_llong
        *clock; // set to the simulated milliseconds, for a watcher in another thread; or NULL
    const th_folder *checkpoints; // NULL: none are written
    double checkpoint_every;      // [s] simulated
    double wall_before;           // seconds the run took before it was resumed
    char trouble[640];            // why the recording ends early; "": it does not
    char note[1000];              // a line about trouble that was not told yet; "": none
    bool checkpoint_failed;
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
#endif
