// A survey of a recording as text, tables and figures: what `throng measure` prints and writes.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_REPORT_SURVEY_H
#define TH_REPORT_SURVEY_H
#include "observe/survey.h"
#include <stdio.h>

void th_survey_print(FILE *out, const char *path, const th_survey *survey);
// measured_areas.csv, measured_lines.csv, measured_people.csv, measured.json.
th_result th_survey_tables(const char *folder, const char *path, const th_survey *survey,
                           th_error *error);
// measured_areas.png and measured_lines.png, those that there is something for.
th_result th_survey_figures(const char *folder, const char *path, const th_survey *survey,
                            th_error *error);
#endif
