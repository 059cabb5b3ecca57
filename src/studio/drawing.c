// Drawings that a client sends: kept in a folder of their own, made scenes by the importers in a thread of its own, and put on
// show; the client may ask again with other parts for the layers. SPDX-License-Identifier: Apache-2.0
#include "import/drawing.h"
#include "core/error.h"
#include "core/system/system.h"
#include "report/report.h"
#include "studio/studio.h"
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAME_MOST = 120, FILES_MOST = 64 };

typedef struct th_intake_job {
    th_thread *thread;
    atomic_int done, *ended; // ended: that of worlds made beside, for it wakes the stepping thread
    th_gate *gate;
    char folder[TH_PATH_MAX], name[NAME_MOST + 1], stem[NAME_MOST + 1];
    json_t *asked, *recipe, *scene; // the settings have texts of `asked`
    th_import_settings settings;
    char *told, *png; // png: of a picture to be traced
    size_t png_size;
    th_error error;
    uint64_t client;
    json_t *id;
} th_intake_job;

// ---- files

// A plain name: no other folder, nothing hidden, no option of a program.
static bool is_plain(const char *name) {
    size_t length = name ? strlen(name) : 0;
    if (length == 0 || length > NAME_MOST || name[0] == '.' || name[0] == '-') return false;
    for (const char *c = name; *c; ++c)
        if (*c == '/' || *c == '\\' || *c == ':' || (unsigned char)*c < ' ') return false;
    return true;
}

static int path_in(const char *folder, const char *name, char path[TH_PATH_MAX]) {
    return snprintf(path, TH_PATH_MAX, "%.3800s/%.255s", folder, name);
}

// Its folder's files, counted or removed.
static int each_file(const char *folder, bool removes) {
    char path[TH_PATH_MAX];
    DIR *open = *folder ? opendir(folder) : NULL;
    int count = 0;
    for (const struct dirent *entry; open && (entry = readdir(open));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        ++count;
        path_in(folder, entry->d_name, path);
        if (removes) unlink(path);
    }
    if (open) closedir(open);
    return count;
}

static void forget(th_intake *intake) {
    each_file(intake->folder, true);
    if (*intake->folder) rmdir(intake->folder);
    intake->folder[0] = '\0';
    intake->used = false;
}

static bool refuse_while_busy(const th_intake *intake, th_error *error) {
    if (intake->job)
        th_request_refuse(error, "", "another drawing is being read; try again when it is there");
    return intake->job != NULL;
}

th_result th_intake_keep(th_intake *intake, const char *from, const char *name, th_error *error) {
    const char *base = getenv("TMPDIR");
    char path[TH_PATH_MAX];
    if (refuse_while_busy(intake, error)) return TH_BAD_ARGUMENT;
    if (!is_plain(name))
        return th_fail(error, TH_BAD_ARGUMENT, "name", "give a file's name without a folder");
    if (intake->used) forget(intake);
    if (!*intake->folder) {
        snprintf(intake->folder, sizeof intake->folder, "%.3800s/throng-drawing-XXXXXX",
                 base && *base ? base : "/tmp");
        if (!mkdtemp(intake->folder)) {
            intake->folder[0] = '\0';
            return th_fail(error, TH_NO_FILE, "", "no folder for the drawing");
        }
    }
    if (each_file(intake->folder, false) >= FILES_MOST)
        return th_fail(error, TH_BAD_ARGUMENT, "", "a drawing has at most %d files", FILES_MOST);
    path_in(intake->folder, name, path);
    if (rename(from, path) == 0) return TH_OK;
    return th_fail(error, TH_NO_FILE, "", "the drawing cannot be kept in %.300s", intake->folder);
}

// ---- in the other thread

static th_result add_occupants(th_intake_job *job, const char *name, char *told, size_t size) {
    char path[TH_PATH_MAX];
    size_t length = 0;
    path_in(job->folder, name, path);
    char *text = th_file_content(path, &length, &job->error);
    if (!text) return job->error.code;
    th_result result = th_import_people(job->scene, text, length, told, size, &job->error);
    free(text);
    return result;
}

static void make(th_intake_job *job) {
    char path[TH_PATH_MAX], people[600] = "";
    const char *told = "", *occupants = json_string_value(json_object_get(job->asked, "occupants"));
    th_arena arena = th_arena_of(NULL);
    path_in(job->folder, job->name, path);
    if (th_picture_is(path)) {
        th_picture_read(path, &job->png, &job->png_size, &job->error);
        return;
    }
    job->scene = th_import_file(&arena, path, &job->settings, &told, &job->recipe, &job->error);
    if (job->scene && !job->recipe)
        job->recipe = json_deep_copy(json_object_get(job->scene, "import"));
    if (job->scene && occupants && add_occupants(job, occupants, people, sizeof people) != TH_OK) {
        json_decref(job->scene);
        job->scene = NULL;
    }
    size_t size = strlen(told) + sizeof people + NAME_MOST + 4;
    job->told = malloc(size);
    if (job->told)
        snprintf(job->told, size, "%s%s%s%s", told, *people ? occupants : "", *people ? ":\n" : "",
                 people);
    th_arena_release(&arena);
}

static void run(void *context) {
    th_intake_job *job = context;
    th_gate *gate = job->gate;
    atomic_int *ended = job->ended;
    make(job);
    th_gate_lock(gate);
    atomic_store(&job->done, 1); // before it is told, so that it is seen
    atomic_store(ended, 1);
    th_gate_ring(gate);
    th_gate_unlock(gate);
}

// ---- in the stepping thread

static void release(th_intake_job *job) {
    if (!job) return;
    th_thread_join(job->thread);
    json_decref(job->asked);
    json_decref(job->recipe);
    json_decref(job->scene);
    json_decref(job->id);
    free(job->told);
    free(job->png);
    free(job);
}

static json_t *show(th_studio *studio, const th_intake_job *job, th_error *error) {
    char file[NAME_MOST + 8];
    char *text = json_dumps(job->scene, JSON_REAL_PRECISION(12));
    snprintf(file, sizeof file, "%s.json", job->stem);
    json_t *document = text ? th_document_read(text, strlen(text), file, error) : NULL;
    free(text);
    return th_request_opened(studio, document, file, error);
}

// The page shows it under the plan, and the client says how large it is.
static json_t *picture_of(const th_intake_job *job, th_error *error) {
    char file[NAME_MOST + 8];
    snprintf(file, sizeof file, "%s.png", job->stem);
    if (job->png_size <= TH_STUDIO_PICTURE)
        return json_pack("{s:s,s:o}", "name", file, "picture",
                         th_base64_text(job->png, job->png_size));
    return th_request_refuse(error, "", "the picture has more than 5 MiB; make it coarser");
}

// A drawing that makes no scene is no refusal: its layers may be other parts.
static json_t *finish(th_studio *studio, th_intake_job *job, th_error *error) {
    *error = job->error;
    json_t *answer = NULL;
    if (job->png) return picture_of(job, error);
    if (job->scene) {
        *error = (th_error){0};
        answer = show(studio, job, error);
    }
    bool opened = answer != NULL;
    if (!opened && !job->recipe) return NULL;
    json_decref(answer);
    answer = json_pack("{s:s,s:b,s:s,s:s}", "name", job->name, "opened", opened, "told",
                       job->told ? job->told : "", "parts", th_role_names());
    if (job->recipe) json_object_set(answer, "recipe", job->recipe);
    if (!opened) json_object_set_new(answer, "fault", json_string(error->message));
    return answer;
}

void th_intake_finish(th_studio *studio) {
    th_intake_job *job = studio->intake.job;
    if (!job || !atomic_load(&job->done) || studio->rebuild) return;
    th_error error = {0};
    studio->intake.job = NULL;
    json_t *answer = finish(studio, job, &error);
    th_studio_reply(studio, job->client, job->id, answer, &error);
    release(job);
}

void th_intake_release(th_intake *intake) {
    release(intake->job);
    intake->job = NULL;
    forget(intake);
}

static bool take_settings(th_intake_job *job, th_error *error) {
    double people = 0.0;
    const char *occupants = json_string_value(json_object_get(job->asked, "occupants"));
    job->settings = th_import_settings_default();
    job->settings.file = job->name;
    job->settings.name = job->stem;
    if (json_object_get(job->asked, "people") &&
        !th_request_number(job->asked, "people", 0, 1e6, &people)) {
        th_request_refuse(error, "people", "give a number of people from 0 to 1000000");
        return false;
    }
    job->settings.people = (int)floor(people);
    if (json_object_get(job->asked, "occupants") && !is_plain(occupants)) {
        th_request_refuse(error, "occupants", "give the name of a table that was sent");
        return false;
    }
    return !json_object_get(job->asked, "import") ||
           th_import_recipe(&job->settings, job->asked, error) == TH_OK;
}

json_t *th_do_import(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    const char *name = json_string_value(json_object_get(asked, "name"));
    if (refuse_while_busy(&studio->intake, error)) return NULL;
    if (!is_plain(name) || !*studio->intake.folder)
        return th_request_refuse(error, "name",
                                 "give the name of a drawing that was sent by `upload` with keep");
    th_intake_job *job = calloc(1, sizeof *job);
    if (!job) return th_request_refuse(error, "", "no memory for the drawing");
    job->ended = &studio->rebuilt;
    job->gate = studio->exchange.gate;
    job->client = client;
    job->asked = json_deep_copy(asked);
    job->id = json_incref(json_object_get(job->asked, "id"));
    memcpy(job->folder, studio->intake.folder, sizeof job->folder);
    snprintf(job->name, sizeof job->name, "%s", name);
    th_file_stem(name, job->stem, sizeof job->stem);
    studio->intake.used = true;
    if (!take_settings(job, error)) {
        release(job);
        return NULL;
    }
    job->thread = studio->beside ? th_thread_start(run, job) : NULL;
    if (job->thread) {
        studio->intake.job = job;
        return NULL;
    }
    make(job);
    json_t *answer = finish(studio, job, error);
    release(job);
    return answer;
}
