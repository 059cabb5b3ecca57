// What a run keeps: run.json says how it came about, so that it can be repeated and resumed; then the
// recording, the tables and the report. SPDX-License-Identifier: Apache-2.0
#ifndef TH_CLI_RUN_FOLDER_H
#define TH_CLI_RUN_FOLDER_H
#include "cli/args.h"
#include "cli/simulation.h"
#include "observe/ensemble.h"

typedef struct th_run_folder {
    th_folder folder; // path "": only printing
    json_t *about;    // run.json
    th_recording recording;
    th_text_list overrides; // --set texts; they belong to `about`
} th_run_folder;

// "throng run scenes/hall.json --set 'name=a b'", quoted for a shell; to be freed.
char *th_command_line(const th_command *command, int argc, char **argv);

// Reads run.json of a folder; the error says when there is none.
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

// What summary.json holds, and for people who watch `wall_seconds` and the folder; NULL with an error.
json_t *th_run_folder_summary(const th_run_folder *run, const th_scene *scene,
                              const th_ensemble *ensemble, th_error *error);
// Tables, page and the state in run.json (`complete`: not stopped by the user). Trouble is told on stderr; returns the exit code.
int th_run_folder_results(th_run_folder *run, const th_scene *scene, const th_ensemble *ensemble,
                          const char *trouble, bool complete, bool quiet);
#endif
