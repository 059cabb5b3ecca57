// The folder of a run. SPDX-License-Identifier: Apache-2.0
#include "run/run_folder.h"
#include "core/error.h"
#include "report/summary.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *th_run_folder_text(const th_run_folder *run, const char *key) {
    const char *text = json_string_value(json_object_get(run->about, key));
    return text ? text : "";
}

bool th_recording_choose(th_recording *recording, const char *format) {
    recording->wanted = strcmp(format, "none") != 0;
    if (!recording->wanted) return true;
    for (int i = 0; i < TH_TRAJECTORY_FORMAT_COUNT; ++i) {
        th_trajectory_format known = (th_trajectory_format)i;
        if (known == TH_TRAJECTORY_HDF5 || strcmp(th_trajectory_format_name(known), format) != 0)
            continue;
        recording->format = known;
        snprintf(recording->file, sizeof recording->file, "trajectory.%s",
                 known == TH_TRAJECTORY_TEXT ? "txt" : "sqlite");
        return true;
    }
    return false;
}

static th_result read_recording(th_run_folder *run, th_error *error) {
    const json_t *record = json_object_get(run->about, "record");
    const char *format = json_string_value(json_object_get(record, "format"));
    th_recording *recording = &run->recording;
    if (!format || !th_recording_choose(recording, format))
        return th_file_fail(error, run->folder.path, "run.json has no known record.format");
    recording->fps = json_number_value(json_object_get(record, "fps"));
    if (!th_folder_path(&run->folder, recording->file, recording->path, sizeof recording->path))
        return th_file_fail(error, run->folder.path, "the name is too long");
    return TH_OK;
}

th_result th_run_folder_begin(th_run_folder *run, json_t *about, th_error *error) {
    run->about = about;
    const json_t *overrides = json_object_get(about, "overrides");
    run->overrides = calloc(json_array_size(overrides) + 1, sizeof *run->overrides);
    if (!about || !run->overrides)
        return th_fail(error, TH_NO_MEMORY, "", "no memory for the description of the run");
    for (size_t i = 0; i < json_array_size(overrides); ++i) {
        const char *text = json_string_value(json_array_get(overrides, i));
        if (text) run->overrides[run->override_count++] = text;
    }
    return TH_OK;
}

th_result th_run_folder_open(th_run_folder *run, const char *path, th_error *error) {
    snprintf(run->folder.path, sizeof run->folder.path, "%s", path);
    if (!th_folder_has(&run->folder, "run.json"))
        return th_file_fail(error, path, "has no run.json; give the folder of a `throng run`");
    json_t *about = th_folder_read_json(&run->folder, "run.json", error);
    if (!about) return error->code;
    th_result result = th_run_folder_begin(run, about, error);
    return result == TH_OK ? read_recording(run, error) : result;
}

th_result th_run_folder_state(th_run_folder *run, const char *state, th_error *error) {
    if (!run->folder.path[0]) return TH_OK;
    json_object_set_new(run->about, "state", json_string(state));
    return th_folder_write_json(&run->folder, "run.json", run->about, error);
}

void th_run_folder_release(th_run_folder *run) {
    json_decref(run->about);
    free(run->overrides);
    *run = (th_run_folder){0};
}

void th_run_folder_notes(const th_run_folder *run, th_trajectory_note *notes) {
    notes[0] = (th_trajectory_note){"throng_version", th_version()};
    notes[1] = (th_trajectory_note){"throng_scene", th_run_folder_text(run, "scene_file")};
    notes[2] = (th_trajectory_note){"throng_command", th_run_folder_text(run, "command_line")};
    notes[3] = (th_trajectory_note){"throng_seed", th_run_folder_text(run, "seed")};
}

bool th_run_folder_wants_page(const th_run_folder *run) {
    return !json_is_false(json_object_get(run->about, "report"));
}

th_report_def th_run_folder_report(const th_run_folder *run, const th_scene *scene,
                                   const th_ensemble *ensemble, const char *trouble) {
    const char *command_line = th_run_folder_text(run, "command_line");
    return (th_report_def){.scene = scene,
                           .ensemble = ensemble,
                           .folder = run->folder.path,
                           .scene_file = th_run_folder_text(run, "scene_file"),
                           .command_line = *command_line ? command_line : NULL,
                           .recording = run->recording.wanted ? run->recording.file : NULL,
                           .recording_trouble = *trouble ? trouble : NULL,
                           .overrides = run->overrides,
                           .override_count = run->override_count};
}

json_t *th_run_folder_summary(const th_run_folder *run, const th_report_def *report,
                              th_error *error) {
    json_t *summary = th_report_summary_json(report, error);
    const th_ensemble *ensemble = report->ensemble;
    double seconds = 0;
    for (int i = 0; i < ensemble->run_count; ++i) seconds += ensemble->runs[i].wall_seconds;
    if (!summary) return NULL;
    json_object_set_new(summary, "wall_seconds", json_real(seconds));
    json_object_set_new(summary, "folder",
                        run->folder.path[0] ? json_string(run->folder.path) : json_null());
    return summary;
}
