// Carrying out what `throng run` and `throng resume` were asked for: one run or many, printing and keeping.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_CLI_RUNS_H
#define TH_CLI_RUNS_H
#include "cli/run_folder.h"

// Below this many runs no interval is trusted: with 4 degrees of freedom Student's t is still 2.8, and with
// fewer a narrow interval is as often luck as it is knowledge.
enum { TH_RUNS_LEAST = 5 };

typedef struct th_runs {
    const char *scene_file; // as given
    th_simulation_def simulation;
    uint64_t first_seed;
    int count;       // at most
    int jobs;        // 0: as many as cores
    double until_ci; // relative width of the interval at which to stop, 0: never
    double checkpoint_every;
    bool made_compact; // many people: a recording in rows was made a compact one
    bool json, quiet;
    th_run_folder keep;
} th_runs;

// One run that has been started (and, when resumed, restored). Releases it. Returns the exit code.
int th_runs_one(th_runs *runs, th_simulation *simulation, bool resumed);
int th_runs_many(th_runs *runs);
// Says on stderr how the recording differs from what was asked.
void th_runs_tell_recording(const th_runs *runs);

// Whether the sample of `runs` runs is good enough to stop, or hopeless: none of them emptied the scene.
bool th_runs_enough(const th_sample_summary *egress, int runs, double until_ci);
#endif
