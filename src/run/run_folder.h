// What a run keeps: run.json says how it came about, so that it can be repeated and resumed; then the
// recording, the tables and the report. SPDX-License-Identifier: Apache-2.0
#ifndef TH_RUN_RUN_FOLDER_H
#define TH_RUN_RUN_FOLDER_H
#include "observe/ensemble.h"
#include "report/findings.h"
#include "run/simulation.h"
#include <jansson.h>

typedef struct th_run_folder {
    th_folder folder; // path "": nothing is kept, or not yet
    json_t *about;    // run.json
    th_recording recording;
    const char **overrides; // the texts belong to `about`
    double max_time;        // --max-time [s]; 0: not given
    int override_count;
} th_run_folder;

// Takes over `about` and finds the overrides in it. Release in any case.
th_result th_run_folder_begin(th_run_folder *run, json_t *about, th_error *error);
// Reads run.json of a folder; the error says when there is none. Release in any case.
th_result th_run_folder_open(th_run_folder *run, const char *path, th_error *error);
// "running", "interrupted" or "finished", written at once.
th_result th_run_folder_state(th_run_folder *run, const char *state, th_error *error);
void th_run_folder_release(th_run_folder *run);

// The command that makes the same run again in this folder, quoted for a shell; to be freed. NULL: no memory.
char *th_run_folder_again(const th_run_folder *run);

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

// ---- the scene exactly as run, in the folder of the run: overrides applied, linked files copied beside it, so
// that `throng run DIR/scene.json` gives the same hash anywhere
typedef struct th_texts {
    const char *const *items;
    int count;
} th_texts;

// What a definition of runs changes in the scene, so that its copy has to hold it.
typedef struct th_scene_changes {
    uint64_t seed;         // 0: not given
    int runs;              // 0: not given
    double step, max_time; // [s] 0: not given
} th_scene_changes;

// The scene file's tree with `overrides` and then `changes` applied; `scene` is what the file and the
// overrides were compiled to. As it has been loaded before, errors are those of a file that changed in
// between. NULL with an error.
json_t *th_scene_tree(const char *scene_file, const th_texts *overrides,
                      const th_scene_changes *changes, const th_scene *scene, th_error *error);
// A number that changes when the tree or a file it links to does.
uint64_t th_scene_digest(const json_t *tree, const char *scene_file);
// Writes scene.json and files/; names in the tree are changed to those of the copies.
th_result th_scene_copy(const th_folder *folder, json_t *tree, const char *scene_file,
                        th_error *error);
#endif
