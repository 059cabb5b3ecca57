// What a run keeps: run.json says how it came about, so that it can be repeated and resumed; then the
// recording, the tables and the report. SPDX-License-Identifier: Apache-2.0
#ifndef TH_RUN_RUN_FOLDER_H
#define TH_RUN_RUN_FOLDER_H
#include "observe/ensemble.h"
#include "report/warnings.h"
#include "run/simulation.h"
#include <jansson.h>

typedef struct th_run_folder {
    th_folder folder; // path "": nothing is kept, or not yet
    json_t *about;    // run.json
    th_recording recording;
    const char **overrides; // the texts belong to `about`
    int override_count;
} th_run_folder;

// Takes over `about` and finds the overrides in it. Release in any case.
th_result th_run_folder_begin(th_run_folder *run, json_t *about, th_error *error);
// Reads run.json of a folder; the error says when there is none. Release in any case.
th_result th_run_folder_open(th_run_folder *run, const char *path, th_error *error);
// "running", "interrupted" or "finished", written at once.
th_result th_run_folder_state(th_run_folder *run, const char *state, th_error *error);
void th_run_folder_release(th_run_folder *run);

// Whether report.html is written, besides the tables.
bool th_run_folder_wants_page(const th_run_folder *run);
const char *th_run_folder_text(const th_run_folder *run, const char *key); // "" when missing

// "sqlite", "compact", "text" or "none"; false: none of them.
bool th_recording_choose(th_recording *recording, const char *format);
// Notes of the recording about its origin.
enum { TH_RUN_NOTES = 4 };
void th_run_folder_notes(const th_run_folder *run, th_trajectory_note *notes);

// For the room report. `trouble` is why the recording ends early, or "".
th_report_def th_run_folder_report(const th_run_folder *run, const th_scene *scene,
                                   const th_ensemble *ensemble, const char *trouble);
// What summary.json holds, `wall_seconds` and the folder; NULL with an error.
json_t *th_run_folder_summary(const th_run_folder *run, const th_report_def *report,
                              th_error *error);
#endif
