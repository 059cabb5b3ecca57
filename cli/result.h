// What a run, or many, gave, printed for people and machines. SPDX-License-Identifier: Apache-2.0
#ifndef TH_CLI_RESULT_H
#define TH_CLI_RESULT_H
#include "observe/ensemble.h"

// The summary of one run.
void th_result_print(const th_scene *scene, const char *scene_file,
                     const th_observation *observation);
// One of many runs on a line.
void th_result_print_run(const th_run_summary *run);
// All of them: mean, median, 95th percentile, interval.
void th_result_print_sample(const th_ensemble *ensemble);
#endif
