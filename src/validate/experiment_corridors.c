// Corridors: one way with the experiment's own doors, both ways.
// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "validate/experiments.h"

th_result th_experiment_corridor(const th_experiment_settings *settings,
                                 th_experiment_progress *progress, void *progress_context,
                                 th_experiment_result *result, th_error *error) {
    (void)settings, (void)progress, (void)progress_context, (void)result;
    return th_fail(error, TH_BAD_ARGUMENT, "", "being built");
}
th_result th_experiment_both_ways(const th_experiment_settings *settings,
                                  th_experiment_progress *progress, void *progress_context,
                                  th_experiment_result *result, th_error *error) {
    (void)settings, (void)progress, (void)progress_context, (void)result;
    return th_fail(error, TH_BAD_ARGUMENT, "", "being built");
}
