// The folder of a run: its description, its scene, its recording. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/file.h"
#include "core/hash.h"
#include "report/report.h"
#include "run/runs.h"
#include "throng/scene_view.h"
#include <inttypes.h>
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
        bool export_only = known == TH_TRAJECTORY_HDF5 || known == TH_TRAJECTORY_CSV;
        if (export_only || strcmp(th_trajectory_format_name(known), format) != 0) continue;
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
    run->max_time = json_number_value(json_object_get(about, "max_time"));
    return result == TH_OK ? read_recording(run, error) : result;
}

th_result th_run_folder_state(th_run_folder *run, const char *state, th_error *error) {
    if (!run->folder.path[0]) return TH_OK;
    json_object_set_new(run->about, "state", json_string(state));
    return th_folder_write_json(&run->folder, "run.json", run->about, error);
}

void th_run_folder_release(th_run_folder *run) {
    th_folder_unlock(&run->folder);
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

th_report_def th_run_folder_report(const th_run_folder *run, const th_scene_view *scene,
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
                           .override_count = run->override_count,
                           .max_time = run->max_time};
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

// ---- beginning again

// For a shell: in quotes where it would see more than a word.
static void put_word(FILE *text, const char *word) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./,:=+@%";
    if (*word && strspn(word, plain) == strlen(word)) {
        fprintf(text, " %s", word);
        return;
    }
    fputs(" '", text);
    for (; *word; ++word) {
        if (*word == '\'')
            fputs("'\\''", text);
        else
            fputc(*word, text);
    }
    fputc('\'', text);
}

// The copy of the scene holds seed, runs, step and end; the rest is in run.json.
char *th_run_folder_again(const th_run_folder *run) {
    char *command = NULL, scene[TH_PATH_MAX];
    size_t size = 0;
    FILE *text = open_memstream(&command, &size);
    if (!text || !th_folder_path(&run->folder, "scene.json", scene, sizeof scene)) return NULL;
    double until = json_number_value(json_object_get(run->about, "until_ci"));
    double every = json_number_value(json_object_get(run->about, "checkpoint_every"));
    const json_t *plugins = json_object_get(run->about, "plugins");
    fputs("throng run", text);
    put_word(text, scene);
    fputs(" --out", text);
    put_word(text, run->folder.path);
    fputs(" --force --record ", text);
    fputs(run->recording.wanted ? th_trajectory_format_name(run->recording.format) : "none", text);
    if (run->recording.wanted) fprintf(text, " --fps %.9g", run->recording.fps);
    if (until > 0) fprintf(text, " --until-ci %.9g", until);
    if (every > 0) fprintf(text, " --checkpoint every=%.9g", every);
    if (!th_run_folder_wants_page(run)) fputs(" --no-report", text);
    for (size_t i = 0; i < json_array_size(plugins); ++i) {
        const char *path = json_string_value(json_array_get(plugins, i));
        if (path) fputs(" --plugin", text);
        if (path) put_word(text, path);
    }
    if (fclose(text) == 0) return command;
    free(command);
    return NULL;
}

// ---- the scene as run

enum { CHANGES = 4, CHANGE_TEXT = 64 };

// Writes the changes as texts of overrides; returns how many. The end asked for replaces the scene's own, earlier or later.
static int list_changes(const th_scene_changes *c, const th_scene_view *scene,
                        char texts[CHANGES][CHANGE_TEXT]) {
    th_run_settings run = scene->run;
    int n = 0;
    if (c->seed > 0) snprintf(texts[n++], CHANGE_TEXT, "run.seed=%" PRIu64, c->seed);
    if (c->runs > 0) snprintf(texts[n++], CHANGE_TEXT, "run.runs=%d", c->runs);
    if (c->step > 0) snprintf(texts[n++], CHANGE_TEXT, "run.step=%.17g", c->step);
    if (c->max_time > 0 && run.duration <= 0)
        snprintf(texts[n++], CHANGE_TEXT, "run.max_time=%.17g", c->max_time);
    return n;
}

// A duration in the file would end the run before a later max_time, and it is the end of a run that has one.
static void replace_duration(json_t *tree, double max_time) {
    json_t *run = json_object_get(tree, "run");
    if (max_time > 0 && json_object_get(run, "duration"))
        json_object_set_new(run, "duration", json_real(max_time));
}

json_t *th_scene_tree(const char *scene_file, const th_texts *overrides,
                      const th_scene_changes *changes, const th_scene_view *scene,
                      th_error *error) {
    char *text = NULL, texts[CHANGES][CHANGE_TEXT];
    json_t *tree = NULL;
    int count = overrides->count, changed = list_changes(changes, scene, texts);
    const char **all = calloc((size_t)count + CHANGES, sizeof *all);
    for (int i = 0; i < count + changed && all; ++i)
        all[i] = i < count ? overrides->items[i] : texts[i - count];
    const th_scene_options options = {.overrides = all, .override_count = count + changed};
    if (all && th_scene_overridden_json(scene_file, &options, &text, error) == TH_OK)
        tree = json_loads(text, 0, NULL);
    if (tree) replace_duration(tree, changes->max_time);
    if (!tree && (!all || text)) th_fail(error, TH_NO_MEMORY, "", "no memory for the scene text");
    free(all);
    free(text);
    return tree;
}

// The path at which the loader would look for a linked file.
static bool linked_path(const char *scene_file, const char *name, char *path, size_t size) {
    const char *slash = strrchr(scene_file, '/');
    int folder = name[0] == '/' || !slash ? 0 : (int)(slash - scene_file + 1);
    int length = snprintf(path, size, "%.*s%s", folder, scene_file, name);
    return length > 0 && (size_t)length < size;
}

// Calls `visit` for every member that names a linked file: {"file": ...} of a shape and positions_file.
typedef th_result visit_link(void *context, json_t *object, const char *key, th_error *error);

static th_result each_link(json_t *node, visit_link *visit, void *context, th_error *error) {
    th_result result = TH_OK;
    if (json_is_array(node)) {
        for (size_t i = 0; i < json_array_size(node) && result == TH_OK; ++i)
            result = each_link(json_array_get(node, i), visit, context, error);
    } else if (json_is_object(node)) {
        static const char *const keys[] = {"file", "positions_file", "timetable"};
        for (int i = 0; i < 3 && result == TH_OK; ++i)
            if (json_is_string(json_object_get(node, keys[i])))
                result = visit(context, node, keys[i], error);
        for (void *at = json_object_iter(node); at && result == TH_OK;
             at = json_object_iter_next(node, at))
            // Neither a drawing nor a picture under the plan is read by a run.
            if (strcmp(json_object_iter_key(at), "import") != 0 &&
                strcmp(json_object_iter_key(at), "underlays") != 0)
                result = each_link(json_object_iter_value(at), visit, context, error);
    }
    return result;
}

typedef struct copying {
    const th_folder *folder;
    const char *scene_file;
    int count; // of files copied
} copying;

static th_result copy_link(void *context, json_t *object, const char *key, th_error *error) {
    copying *c = context;
    char from[TH_PATH_MAX], to[TH_PATH_MAX], name[320];
    const char *linked = json_string_value(json_object_get(object, key));
    const char *slash = strrchr(linked, '/');
    if (!linked_path(c->scene_file, linked, from, sizeof from))
        return th_file_fail(error, linked, "the name is too long");
    size_t size = 0;
    char *bytes = th_file_content(from, &size, error);
    if (!bytes) return error->code;
    // Numbered, because files of one name may come from two folders.
    snprintf(name, sizeof name, "files/%d_%.255s", ++c->count, slash ? slash + 1 : linked);
    th_result result = c->count == 1 ? th_folder_make(c->folder, "files", error) : TH_OK;
    if (result == TH_OK && !th_folder_path(c->folder, name, to, sizeof to))
        result = th_file_fail(error, name, "the name is too long");
    if (result == TH_OK) result = th_file_replace(to, bytes, size, TH_SYNCED, error);
    free(bytes);
    if (result == TH_OK && json_object_set_new(object, key, json_string(name)) != 0)
        result = th_fail(error, TH_NO_MEMORY, "", "no memory for the copy of the scene");
    return result;
}

th_result th_scene_copy(const th_folder *folder, json_t *tree, const char *scene_file,
                        th_error *error) {
    copying c = {folder, scene_file, 0};
    // "$schema" is for editors, and relative to where the file was.
    json_object_del(tree, "$schema");
    th_result result = each_link(tree, copy_link, &c, error);
    return result == TH_OK ? th_folder_write_json(folder, "scene.json", tree, error) : result;
}

static uint64_t digest_bytes(uint64_t digest, const char *bytes, size_t size) {
    for (size_t i = 0; i < size; ++i) digest = th_hash_add(digest, (unsigned char)bytes[i]);
    return th_hash_add(digest, size);
}

typedef struct digesting {
    const char *scene_file;
    uint64_t digest;
} digesting;

static th_result digest_link(void *context, json_t *object, const char *key, th_error *error) {
    digesting *d = context;
    char path[TH_PATH_MAX];
    const char *linked = json_string_value(json_object_get(object, key));
    size_t size = 0;
    char *bytes = linked_path(d->scene_file, linked, path, sizeof path)
                      ? th_file_content(path, &size, error)
                      : NULL;
    if (bytes) d->digest = digest_bytes(d->digest, bytes, size);
    free(bytes);
    return TH_OK;
}

uint64_t th_scene_digest(const json_t *tree, const char *scene_file) {
    digesting d = {scene_file, 0};
    char *text = json_dumps(tree, JSON_COMPACT | JSON_REAL_PRECISION(17));
    if (text) d.digest = digest_bytes(0, text, strlen(text));
    free(text);
    th_error unread = {0};
    each_link((json_t *)(uintptr_t)tree, digest_link, &d, &unread);
    return d.digest;
}
