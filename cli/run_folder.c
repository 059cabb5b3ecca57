// The folder of a run. SPDX-License-Identifier: Apache-2.0
#include "cli/run_folder.h"
#include "cli/commands.h"
#include "core/error.h"
#include "report/report.h"
#include "report/summary.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What a shell takes as it is.
static bool plain(const char *word) {
    for (const char *c = word; *c; ++c)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=,:+%@", *c))
            return false;
    return *word != '\0';
}

static void put_quoted(FILE *text, const char *word) {
    if (plain(word)) {
        fputs(word, text);
        return;
    }
    fputc('\'', text);
    for (const char *c = word; *c; ++c) {
        if (*c == '\'')
            fputs("'\\''", text);
        else
            fputc(*c, text);
    }
    fputc('\'', text);
}

char *th_command_line(const th_command *command, int argc, char **argv) {
    char *line = NULL;
    size_t size = 0;
    FILE *text = open_memstream(&line, &size);
    if (!text) return NULL;
    fprintf(text, "throng %s", command->name);
    for (int i = 0; i < argc; ++i) {
        fputc(' ', text);
        put_quoted(text, argv[i]);
    }
    if (fclose(text) == 0) return line;
    free(line);
    return NULL;
}

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

th_result th_run_folder_open(th_run_folder *run, const char *path, th_error *error) {
    *run = (th_run_folder){0};
    snprintf(run->folder.path, sizeof run->folder.path, "%s", path);
    if (!th_folder_has(&run->folder, "run.json"))
        return th_file_fail(error, path, "has no run.json; give the folder of a `throng run`");
    run->about = th_folder_read_json(&run->folder, "run.json", error);
    if (!run->about) return error->code;
    const json_t *overrides = json_object_get(run->about, "overrides");
    for (size_t i = 0; i < json_array_size(overrides) && i < TH_LIST_MAX; ++i) {
        const char *text = json_string_value(json_array_get(overrides, i));
        if (text) run->overrides.items[run->overrides.count++] = text;
    }
    return read_recording(run, error);
}

th_result th_run_folder_state(th_run_folder *run, const char *state, th_error *error) {
    if (!run->folder.path[0]) return TH_OK;
    json_object_set_new(run->about, "state", json_string(state));
    return th_folder_write_json(&run->folder, "run.json", run->about, error);
}

void th_run_folder_release(th_run_folder *run) {
    json_decref(run->about);
    run->about = NULL;
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

static th_result write_results(const th_report_def *def, bool page, th_progress *progress,
                               th_error *error) {
    th_progress_say(progress, "writing the tables");
    th_result result = th_report_tables(def, error);
    if (result != TH_OK || !page) return result;
    th_progress_say(progress, "writing the report");
    return th_report_page(def, error);
}

static th_report_def report_def(const th_run_folder *run, const th_scene *scene,
                                const th_ensemble *ensemble, const char *trouble) {
    return (th_report_def){.scene = scene,
                           .ensemble = ensemble,
                           .folder = run->folder.path,
                           .scene_file = th_run_folder_text(run, "scene_file"),
                           .command_line = th_run_folder_text(run, "command_line"),
                           .recording = run->recording.wanted ? run->recording.file : NULL,
                           .recording_trouble = trouble && *trouble ? trouble : NULL,
                           .overrides = run->overrides.items,
                           .override_count = run->overrides.count};
}

json_t *th_run_folder_summary(const th_run_folder *run, const th_scene *scene,
                              const th_ensemble *ensemble, th_error *error) {
    const th_report_def def = report_def(run, scene, ensemble, NULL);
    json_t *summary = th_report_summary_json(&def, error);
    double seconds = 0;
    for (int i = 0; i < ensemble->run_count; ++i) seconds += ensemble->runs[i].wall_seconds;
    if (!summary) return NULL;
    json_object_set_new(summary, "wall_seconds", json_real(seconds));
    json_object_set_new(summary, "folder",
                        run->folder.path[0] ? json_string(run->folder.path) : json_null());
    return summary;
}

int th_run_folder_results(th_run_folder *run, const th_scene *scene, const th_ensemble *ensemble,
                          const char *trouble, bool complete, bool quiet) {
    if (!run->folder.path[0]) return TH_EXIT_OK;
    const th_report_def def = report_def(run, scene, ensemble, trouble);
    th_error error = {0};
    th_progress progress = th_progress_start(!quiet, 0);
    // A terminal sees what it waits for; a log needs no line about a second's work.
    progress.shown = progress.shown && progress.terminal;
    th_result result = write_results(&def, th_run_folder_wants_page(run), &progress, &error);
    th_progress_end(&progress);
    if (result == TH_OK)
        result = th_run_folder_state(run, complete ? "finished" : "interrupted", &error);
    if (result == TH_OK) return TH_EXIT_OK;
    error.code = result;
    return th_report_failure(run->folder.path, &error);
}
