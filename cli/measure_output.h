// What `throng measure` shows and leaves: a table, CSV and JSON files, figures. SPDX-License-Identifier: Apache-2.0
#ifndef TH_CLI_MEASURE_OUTPUT_H
#define TH_CLI_MEASURE_OUTPUT_H
#include "observe/survey.h"

void th_measure_print(const char *path, const th_survey *survey);
// measured_areas.csv, measured_lines.csv, measured_people.csv, measured.json.
th_result th_measure_tables(const char *folder, const char *path, const th_survey *survey,
                            th_error *error);
// measured_areas.png and measured_lines.png, those that there is something for.
th_result th_measure_figures(const char *folder, const char *path, const th_survey *survey,
                             th_error *error);
#endif
