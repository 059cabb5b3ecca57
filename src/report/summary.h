// The results of a run, or of many: summary.json for programs, text for people. SPDX-License-Identifier: Apache-2.0
#ifndef TH_REPORT_SUMMARY_H
#define TH_REPORT_SUMMARY_H
#include "report/report.h"
#include <jansson.h>
#include <stdio.h>

// The object itself, to be released; NULL with an error, which must not be NULL.
json_t *th_report_summary_json(const th_report_def *def, th_error *error);
th_result th_report_summary(const th_report_def *def, th_error *error);

// One run: people, exits, doors, lines, areas. summary_text.c
void th_report_print_run(FILE *out, const th_scene_view *scene, const char *scene_file,
                         const th_observation *observation);
// Many runs: mean, median, 95th percentile, interval of the egress time.
void th_report_print_sample(FILE *out, const th_ensemble *ensemble);
#endif
