// Measures what recording costs: the same steps with and without a recorder, and what the file holds.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_BENCH_RECORDING_H
#define TH_BENCH_RECORDING_H
#include "throng/record.h"

typedef struct th_bench_recording {
    int agents, steps, frames;
    double ms_plain;    // per step, mean of a run before and one after the recorded one
    double ms_recorded; // per step, with writing the last frames and closing the file in it
    double bytes_per_row;
    double rows_per_second; // of the writer's processor time
    double waited;          // [s] the simulation stood still for the writer, in all
    bool same_hash;         // a recorded crowd does not walk otherwise
} th_bench_recording;

// Steps that take a second or more, so that closing the file does not weigh: 40 to 400.
int th_bench_recording_steps(int agents);

// From the world's state now, which is there again afterwards. Writes `file`, and leaves it.
th_result th_bench_record(th_world *world, th_trajectory_format format, double fps,
                          const char *file, th_bench_recording *figures, th_error *error);
#endif
