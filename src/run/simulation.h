// One run: a world, what is measured of it, what is recorded of it, and its checkpoints.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_RUN_SIMULATION_H
#define TH_RUN_SIMULATION_H
#include "run/checkpoint.h"
#include "throng/record.h"
#include <stdatomic.h>

// What all runs of a scene have in common.
typedef struct th_simulation_def {
    const th_scene *scene;
    double step;      // [s]
    double end;       // stops here even when people are inside [s]
    bool until_empty; // stops when nobody is on the way
    int threads;      // of each world, 0: as many as pay
    th_backend backend;
} th_simulation_def;

// From the scene's own settings; `step` and `max_time` (0: the scene's) have the last word.
th_simulation_def th_simulation_def_of(const th_scene *scene, double step, double max_time);

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
    const char *recording;        // its file; belongs to who began it
    th_recorder *recorder;        // NULL: nothing is recorded, or no longer
    const atomic_bool *stop;      // ends the run early when true; NULL: nobody else does
    const atomic_bool *interrupt; // the same, by the user
    atomic_llong
        *clock; // told the simulated milliseconds, for who watches from another thread; or NULL
    const th_folder *checkpoints; // NULL: none are written
    double checkpoint_every;      // [s] simulated
    double wall_before;           // seconds the run took before it was resumed
    char trouble[640];            // why the recording ends early; "": it does not
    char note[1000];              // a line about trouble that nobody was told yet; "": none
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

// People who are there or may still come until `end` [s].
double th_people_expected(const th_scene *scene, double end);
// A frame is every n-th step, the nearest to what is wanted: frames per second really written.
double th_frames_per_second(double wanted, double step);
#endif
