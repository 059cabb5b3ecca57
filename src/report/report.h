// The folder a run leaves: tables and one self-contained page; and what `throng measure` writes. SPDX-License-Identifier: Apache-2.0
#ifndef TH_REPORT_REPORT_H
#define TH_REPORT_REPORT_H
#include "observe/ensemble.h"
#include "observe/survey.h"
#include "throng/scene.h"
#include <stdio.h>

// What the report says about how the run came about.
typedef struct th_report_def {
    const th_scene_view *scene;
    const th_ensemble *ensemble;
    const char *folder;            // exists
    const char *scene_file;        // as given on the command line
    const char *command_line;      // as typed
    const char *recording;         // file name in the folder, or NULL
    const char *recording_trouble; // why the recording ends early, or NULL
    const char *const *overrides;  // --set texts
    int override_count;
    double max_time; // --max-time [s]; 0: not given
} th_report_def;

// Id of the empty span in report.html where a link to the replay goes, once somebody has made one.
#define TH_REPORT_REPLAY "replay"

// summary.json, evacuation.csv, counters.csv, areas.csv, people.csv, runs.csv. src/report/tables.c
th_result th_report_tables(const th_report_def *def, th_error *error);
// report.html with every figure inside, and the figures as PNG in folder/figures.
th_result th_report_page(const th_report_def *def, th_error *error);

// ---- recordings

// A survey of a recording as text, tables and figures: what `throng measure` prints and writes.

void th_survey_print(FILE *out, const char *path, const th_survey *survey);
// measured_areas.csv, measured_lines.csv, measured_people.csv, measured.json.
th_result th_survey_tables(const char *folder, const char *path, const th_survey *survey,
                           th_error *error);
// measured_areas.png and measured_lines.png, those that there is something for.
th_result th_survey_figures(const char *folder, const char *path, const th_survey *survey,
                            th_error *error);
#endif
