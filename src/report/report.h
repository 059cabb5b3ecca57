// The folder a run leaves: tables and one self-contained page. SPDX-License-Identifier: Apache-2.0
#ifndef TH_REPORT_REPORT_H
#define TH_REPORT_REPORT_H
#include "observe/ensemble.h"
#include "throng/scene.h"

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
#endif
