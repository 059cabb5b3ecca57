// Measures a world: milliseconds per step, per stage, memory, and whether the crowd still behaves.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_BENCH_TIMING_H
#define TH_BENCH_TIMING_H
#include "throng/throng.h"
#include <jansson.h>

enum { TH_BENCH_WARM_UP = 5, TH_BENCH_MEASURED = 20, TH_BENCH_BURST = 5 }; // steps

typedef struct th_bench_figures {
    int agents;                          // at the start of the measured steps
    double ms_per_step, ms_per_step_min; // median and least of the measured steps
    double stage_ms[TH_STAGE_COUNT];     // mean per step of those in the profile
    uint64_t hash;                       // after warm-up and measured steps
    uint64_t peak_rss_bytes;             // of the process so far
    uint64_t device_bytes;               // of the world on its device; 0 on the CPU
} th_bench_figures;

typedef struct th_bench_behaviour {
    double time;            // [s]
    double overlap_share;   // agents overlapping somebody by more than 1 cm
    double deepest_overlap; // [m]
    double goalward_speed;  // mean over the time and the people, in units of the preferred speed
    double goalward_speed_at_end; // the same at `time` alone
} th_bench_behaviour;

// A device runs behind its calls, so there the same steps are timed TH_BENCH_BURST at a time, until the last is
// done; the median and the least are then of the bursts.
th_bench_figures th_bench_measure(th_world *world, th_backend backend);
// Steps on until `time` and looks.
th_bench_behaviour th_bench_behave(th_world *world, double time);

// One measurement.
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

// The figures of a case as an object, a built-in scene or a scene file; NULL with an error whose path is the option
// that was wrong. `apart`: in a process of its own, because the peak memory of a process never goes down again.
json_t *th_bench_case_measure(const th_bench_case *what, bool apart, th_error *error);
#endif
