// What a run gave, collected while it runs and printed for people or machines.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_CLI_RESULT_H
#define TH_CLI_RESULT_H
#include "throng/throng.h"
#include <jansson.h>

typedef struct th_exit_tally {
    uint64_t left;
    double first_time, last_time; // [s]
} th_exit_tally;

typedef struct th_area_tally {
    double highest_density; // sampled once a simulated second [1/m2]
    double density_sum;
    uint64_t samples;
} th_area_tally;

// Everything about one finished (or interrupted) run.
typedef struct th_run_result {
    const char *scene_file;
    uint64_t seed;
    bool interrupted;
    bool done; // nobody on the way and nobody to come
    double wall_seconds;
    double step; // [s]
    th_statistics statistics;
    uint64_t hash;
    th_exit_tally *exits; // one per goal of the scene
    int goal_count;
    th_area_tally *areas;
    int area_count;
    uint64_t events_lost;
} th_run_result;

bool th_run_result_init(th_run_result *result, const char *scene_file, const th_world *world);
void th_run_result_release(th_run_result *result);
// After every step: who left where.
void th_run_result_count_events(th_run_result *result, const th_world *world);
// Once a simulated second: densities.
void th_run_result_sample(th_run_result *result, const th_world *world);
// At the end.
void th_run_result_finish(th_run_result *result, th_world *world, double wall_seconds);

// NaN while people are still inside or nobody ever left.
double th_run_result_egress_time(const th_run_result *result);

void th_run_result_print(const th_run_result *result, th_world *world);
json_t *th_run_result_json(const th_run_result *result, const th_world *world);
#endif
