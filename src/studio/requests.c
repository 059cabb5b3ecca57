// Requests of clients. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/system/system.h"
#include "studio/studio.h"
#include "throng/model.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- requests

// The requests of clients, one function each, called between two steps: time, views, scenes and recordings here, edits
// in edits.c. A function returns the members of its answer, or NULL with an error.

static json_t *fine(void) { return json_object(); }

json_t *th_request_refuse(th_error *error, const char *member, const char *text) {
    th_fail(error, TH_BAD_ARGUMENT, member, "%s", text);
    return NULL;
}

bool th_request_number(const json_t *asked, const char *name, double least, double most,
                       double *value) {
    const json_t *given = json_object_get(asked, name);
    if (!json_is_number(given)) return false;
    double number = json_number_value(given);
    if (!(number >= least && number <= most)) return false;
    *value = number;
    return true;
}

bool th_request_point(const json_t *given, th_vec2 *point) {
    if (json_array_size(given) != 2) return false;
    double x = json_number_value(json_array_get(given, 0));
    double y = json_number_value(json_array_get(given, 1));
    if (!json_is_number(json_array_get(given, 0)) || !json_is_number(json_array_get(given, 1)) ||
        !(fabs(x) < 1e6 && fabs(y) < 1e6))
        return false;
    *point = (th_vec2){(float)x, (float)y};
    return true;
}

// The world a request is about; -1 with an error.
int th_request_world(const th_studio *studio, const json_t *asked, th_error *error) {
    const json_t *given = json_object_get(asked, "world");
    json_int_t world = given ? json_integer_value(given) : 0;
    int count = studio->replay ? 1 : studio->play_count;
    if ((given && !json_is_integer(given)) || world < 0 || world >= count) {
        th_fail(error, TH_BAD_ARGUMENT, "world", "there is no world %d; `compare` makes a second",
                (int)world);
        return -1;
    }
    return (int)world;
}

// Index from an index or an id of `count` names; -1 with an error.
int th_request_index(const json_t *given, const char *what, const char *const *ids, int count,
                     th_error *error) {
    if (!given && count > 0) return 0;
    if (json_is_integer(given)) {
        json_int_t index = json_integer_value(given);
        if (index >= 0 && index < count) return (int)index;
    }
    const char *id = json_string_value(given);
    for (int k = 0; id && k < count; ++k)
        if (strcmp(ids[k], id) == 0) return k;
    const char *near = id ? th_nearest_word(id, ids, count) : NULL;
    th_fail(error, TH_BAD_ARGUMENT, what, "the scene has no such %s: it has %d%s%s", what, count,
            near ? "; did you mean " : "", near ? near : "");
    return -1;
}

int th_request_level(const th_scene_view *scene, const json_t *given, th_error *error) {
    const char *ids[TH_STUDIO_LEVELS];
    int count = scene->level_count < TH_STUDIO_LEVELS ? scene->level_count : TH_STUDIO_LEVELS;
    for (int k = 0; k < count; ++k) ids[k] = scene->levels[k].id;
    return th_request_index(given, "level", ids, count, error);
}

int th_request_group(const th_scene_view *scene, const json_t *given, th_error *error) {
    const char *ids[TH_REQUEST_IDS];
    int count = scene->group_count < TH_REQUEST_IDS ? scene->group_count : TH_REQUEST_IDS;
    for (int k = 0; k < count; ++k) ids[k] = scene->groups[k].id;
    return th_request_index(given, "group", ids, count, error);
}

static void tell_scene(th_studio *studio, uint64_t client, int world) {
    if (!studio->replay) th_charts_begin(studio, world);
    th_studio_say(&studio->exchange, client, false, th_describe_scene(studio, world));
}

void th_studio_tell_scene(th_studio *studio, int world) { tell_scene(studio, 0, world); }

void th_studio_tell_edited(th_studio *studio, int world, const char *text, const char *how,
                           int lost) {
    th_studio_say(&studio->exchange, 0, false,
                  json_pack("{s:s,s:i,s:s,s:s,s:i}", "event", "edited", "world", world, "text",
                            text, "how", how, "lost", lost));
    th_studio_tell_scene(studio, world);
    studio->changed = true;
    studio->scrubbing = false;
    studio->anchor_due = true;
}

// ---- time

static json_t *do_play(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    (void)asked, (void)client, (void)error;
    studio->playing = true;
    studio->last_step = 0;
    if (studio->scrubbing && studio->replay) studio->cursor = studio->scrub_time;
    studio->scrubbing = false;
    studio->changed = true;
    th_studio_repace(studio);
    return fine();
}

static json_t *do_pause(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    (void)asked, (void)client, (void)error;
    studio->playing = false;
    return fine();
}

static json_t *do_step(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    (void)client;
    double n = 1;
    if (json_object_get(asked, "n") && !th_request_number(asked, "n", 1, 10000, &n))
        return th_request_refuse(error, "n", "give a number of steps from 1 to 10000");
    studio->playing = false;
    studio->scrubbing = false;
    studio->changed = true;
    if (studio->replay) {
        studio->cursor = fmin(studio->cursor + floor(n) * th_replay_frame(studio->replay),
                              th_replay_duration(studio->replay));
        return json_pack("{s:f,s:I}", "time", studio->cursor, "step",
                         (json_int_t)(studio->cursor / th_replay_frame(studio->replay) + 0.5));
    }
    for (int k = 0; k < (int)n; ++k)
        for (int w = 0; w < studio->play_count; ++w) {
            if (w == 0) th_anchor_see(studio);
            th_world_step(studio->plays[w].world, 1);
            th_charts_see(studio, w);
        }
    studio->steps_done += (uint64_t)n;
    return json_pack("{s:f,s:I}", "time", th_world_time(studio->plays[0].world), "step",
                     (json_int_t)th_world_step_count(studio->plays[0].world));
}

static json_t *do_speed(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    (void)client;
    if (!th_request_number(asked, "times", 0, 1000, &studio->speed))
        return th_request_refuse(error, "times",
                                 "give 0 (as fast as possible) to 1000 times real time");
    th_studio_repace(studio);
    return fine();
}

static json_t *restarted(th_studio *studio, th_error *error) {
    studio->changed = true;
    if (studio->replay) {
        studio->cursor = 0;
        studio->scrubbing = false;
        th_studio_repace(studio);
        return fine();
    }
    th_error refused = {0};
    th_result result = th_play_restart(studio, &refused);
    if (result != TH_OK) {
        // Live edits may make a plan that no run could begin with; the running world stays as it is.
        th_fail(error, result, refused.path,
                "the crowd walks on, but the plan as edited cannot start anew: %s; undo the change "
                "(Ctrl+Z) or leave a way, then restart",
                refused.message);
        return NULL;
    }
    for (int w = 0; w < studio->play_count; ++w) {
        th_studio_tell_edited(studio, w, "restarted", "reload", 0);
        th_charts_see(studio, w);
    }
    return fine();
}

static json_t *do_restart(th_studio *studio, const json_t *asked, uint64_t client,
                          th_error *error) {
    (void)asked, (void)client;
    return restarted(studio, error);
}

static json_t *do_seed(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    (void)client;
    const json_t *seed = json_object_get(asked, "seed");
    if (!json_is_integer(seed) || json_integer_value(seed) < 1)
        return th_request_refuse(error, "seed", "give a whole number from 1 on");
    uint64_t before = studio->seed;
    studio->seed = (uint64_t)json_integer_value(seed);
    json_t *answer = restarted(studio, error);
    if (!answer) studio->seed = before;
    return answer;
}

static json_t *do_hash(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    (void)client;
    int w = th_request_world(studio, asked, error);
    if (w < 0) return NULL;
    const th_world *world = studio->plays[w].world;
    char hash[20];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)th_world_hash(world));
    double pause = studio->pause;
    studio->pause = 0;
    return json_pack("{s:s,s:I,s:f,s:[f,f],s:f,s:[f,f]}", "hash", hash, "step",
                     (json_int_t)th_world_step_count(world), "time", th_world_time(world), "spent",
                     studio->stepping_own, th_thread_cpu_seconds(), "pause", pause, "made_in",
                     studio->made_in[0], studio->made_in[1]);
}

// The state now: after all requests before it, and after a world that is being made.
static json_t *do_state(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    (void)asked, (void)client, (void)error;
    return json_pack("{s:o}", "state", th_describe_state(studio));
}

static json_t *do_scrub(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    (void)client;
    const json_t *time = json_object_get(asked, "time");
    double from, to;
    studio->changed = true;
    if (!time || json_is_null(time)) {
        studio->scrubbing = false;
        th_studio_repace(studio);
        return fine();
    }
    if (!json_is_number(time) || !th_history_range(&studio->history, &from, &to))
        return th_request_refuse(error, "time", "give a time of state.history, or null");
    studio->scrub_time = fmin(fmax(json_number_value(time), from), to);
    studio->scrubbing = true;
    studio->playing = false;
    if (studio->replay) studio->cursor = studio->scrub_time;
    return json_pack("{s:f}", "time", studio->scrub_time);
}

static json_t *do_branch(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    (void)asked, (void)client;
    if (th_play_branch(studio, error) != TH_OK) return NULL;
    th_studio_tell_edited(studio, 0, "branched", "live", 0);
    return json_pack("{s:f}", "time", th_world_time(studio->plays[0].world));
}

// ---- looking

static void forget_inspection(th_studio *studio, uint64_t client) {
    for (int k = 0; k < studio->inspection_count; ++k)
        if (studio->inspections[k].client == client)
            studio->inspections[k--] = studio->inspections[--studio->inspection_count];
}

static json_t *do_person(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    const json_t *person = json_object_get(asked, "person");
    int w = th_request_world(studio, asked, error);
    if (w < 0) return NULL;
    if (!json_is_integer(person) || json_integer_value(person) < 0 ||
        json_integer_value(person) > UINT32_MAX)
        return th_request_refuse(error, "person", "give an id, or 0 for none");
    forget_inspection(studio, client);
    if (json_integer_value(person) > 0 && studio->inspection_count < TH_INSPECT_MAX)
        studio->inspections[studio->inspection_count++] =
            (th_inspection){client, (uint32_t)json_integer_value(person), w};
    studio->changed = true;
    return fine();
}

static json_t *do_gone(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    (void)asked, (void)error;
    forget_inspection(studio, client);
    if (studio->upload.client == client) th_upload_end(&studio->upload);
    return NULL;
}

static json_t *do_charts(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    (void)asked, (void)client, (void)error;
    json_t *worlds = json_array();
    for (int w = 0; w < (studio->replay ? 1 : studio->play_count); ++w) {
        json_t *rows = studio->plays[w].charts.rows;
        json_array_append_new(worlds,
                              json_pack("{s:o}", "rows", rows ? json_incref(rows) : json_array()));
    }
    return json_pack("{s:o}", "worlds", worlds);
}

static json_t *do_scene(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    int w = th_request_world(studio, asked, error);
    if (w < 0) return NULL;
    tell_scene(studio, client, w);
    return fine();
}

static json_t *do_models(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    (void)asked, (void)client, (void)error;
    json_t *hello = th_describe_hello(studio);
    json_t *answer = json_pack("{s:O}", "models", json_object_get(hello, "models"));
    json_decref(hello);
    return answer;
}

void th_studio_greet(th_studio *studio, uint64_t client) {
    char **greeting = &studio->greetings[studio->replay != NULL];
    if (!*greeting) {
        json_t *hello = th_describe_hello(studio);
        *greeting = json_dumps(hello, TH_STUDIO_JSON);
        json_decref(hello);
    }
    th_studio_say_text(&studio->exchange, client, false, *greeting ? strdup(*greeting) : NULL);
}

static json_t *do_cancel(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    (void)asked, (void)client, (void)error;
    return json_pack("{s:b}", "cancelled", th_rebuild_cancel(studio));
}

// A new client: sends everything it must know first.
static json_t *do_joined(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    (void)asked, (void)error;
    th_studio_greet(studio, client);
    for (int w = 0; w < (studio->replay ? 1 : studio->play_count); ++w)
        tell_scene(studio, client, w);
    studio->changed = true;
    return NULL;
}

// Requests of the server itself begin with an underscore; it lets none of these in from outside.
static const struct {
    const char *name;
    th_request_fn *function;
    bool replays; // recordings have it too
    bool waits;   // until a world that is being made is on show
} requests[] = {
    {"play", do_play, true, false},
    {"pause", do_pause, true, false},
    {"step", do_step, true, true},
    {"speed", do_speed, true, false},
    {"restart", do_restart, true, true},
    {"seed", do_seed, false, true},
    {"hash", do_hash, false, true},
    {"state", do_state, true, true},
    {"scrub", do_scrub, true, false},
    {"branch", do_branch, false, true},
    {"set", th_do_set, false, true},
    {"model", th_do_model, false, true},
    {"edit", th_do_edit, false, true},
    {"undo", th_do_undo, false, true},
    {"redo", th_do_redo, false, true},
    {"open", th_do_open, true, true},
    {"new", th_do_new, true, true},
    {"upload", th_do_upload, true, true},
    {"import", th_do_import, true, true},
    {"underlay", th_do_underlay, false, false},
    {"save", th_do_save, false, true},
    {"templates", th_do_templates, true, false},
    {"template", th_do_template, true, true},
    {"compare", th_do_compare, false, true},
    {"person", do_person, true, false},
    {"charts", do_charts, true, false},
    {"scene", do_scene, true, false},
    {"models", do_models, true, false},
    {"cancel", do_cancel, false, false},
    {"_joined", do_joined, true, false},
    {"_gone", do_gone, true, false},
};
enum { REQUESTS = sizeof requests / sizeof requests[0] };

static json_t *perform(th_studio *studio, const th_studio_request *request, th_error *error) {
    const char *names[REQUESTS + 3] = {"view", "colour", "layer"};
    const char *name = json_string_value(json_object_get(request->message, "do"));
    for (int k = 0; k < REQUESTS; ++k) {
        names[k + 3] = requests[k].name;
        if (!name || strcmp(requests[k].name, name) != 0) continue;
        if (studio->replay && !requests[k].replays) {
            th_fail(error, TH_BAD_ARGUMENT, "do",
                    "a recording is shown, which cannot be changed; open its scene");
            return NULL;
        }
        return requests[k].function(studio, request->message, request->client, error);
    }
    const char *near = name ? th_nearest_word(name, names, REQUESTS + 1) : NULL;
    th_fail(error, TH_BAD_ARGUMENT, "do", "there is no request '%.40s'%s%s", name ? name : "",
            near ? "; did you mean " : "", near ? near : "");
    return NULL;
}

// "cause; cure" is how messages are written.
static json_t *complaint(const th_error *error) {
    const char *message = error->message[0] ? error->message : th_result_text(error->code);
    const char *cut = strrchr(message, ';');
    json_t *answer = json_pack("{s:b,s:s}", "ok", 0, "error", message);
    if (cut && cut[1]) json_object_set_new(answer, "cure", json_string(cut + 1 + (cut[1] == ' ')));
    if (error->path[0]) json_object_set_new(answer, "path", json_string(error->path));
    if (error->line > 0) json_object_set_new(answer, "line", json_integer(error->line));
    return answer;
}

void th_studio_reply(th_studio *studio, uint64_t client, json_t *id, json_t *answer,
                     const th_error *error) {
    if (answer)
        json_object_set_new(answer, "ok", json_true());
    else
        answer = complaint(error);
    if (answer && id) json_object_set(answer, "id", id);
    th_studio_say(&studio->exchange, client, true, answer);
}

bool th_studio_must_wait(const th_studio *studio, const th_studio_request *request) {
    const char *name = json_string_value(json_object_get(request->message, "do"));
    for (int k = 0; studio->rebuild && name && k < REQUESTS; ++k)
        if (strcmp(requests[k].name, name) == 0) return requests[k].waits;
    return false;
}

void th_studio_answer(th_studio *studio, const th_studio_request *request) {
    const char *name = json_string_value(json_object_get(request->message, "do"));
    th_error error = {0};
    const th_rebuild *before = studio->rebuild;
    const struct th_intake_job *reading = studio->intake.job;
    studio->asked = request;
    json_t *answer = perform(studio, request, &error);
    studio->asked = NULL;
    if (name && name[0] == '_') {
        json_decref(answer);
        return;
    }
    if (!answer && studio->rebuild && studio->rebuild != before) return; // answered when it is done
    if (!answer && studio->intake.job && studio->intake.job != reading) return;
    th_studio_reply(studio, request->client, json_object_get(request->message, "id"), answer,
                    &error);
}

// ---- opening, saving and uploading scenes

// Requests that put another scene or recording on show, save it, or set a second world beside it.

json_t *th_request_opened(th_studio *studio, json_t *document, const char *name, th_error *error) {
    bool was_recording = studio->replay != NULL;
    if (!document || th_play_open(studio, document, name, NULL, error) != TH_OK) return NULL;
    if (was_recording) th_studio_greet(studio, 0);
    th_studio_tell_edited(studio, 0, "opened", "reload", 0);
    th_charts_see(studio, 0);
    return json_pack("{s:s}", "name", name);
}

json_t *th_do_open(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    (void)client;
    const char *text = json_string_value(json_object_get(asked, "text"));
    const char *name = json_string_value(json_object_get(asked, "name"));
    if (!text) return th_request_refuse(error, "text", "give the scene, WKT or GeoJSON as text");
    if (!name || !*name) name = "opened.json";
    json_t *document = th_document_of_plan(text, name);
    if (!document) document = th_document_read(text, strlen(text), name, error);
    json_t *answer = th_request_opened(studio, document, name, error);
    if (!answer && error->code == TH_NO_FILE)
        snprintf(error->message, sizeof error->message,
                 "a scene that is sent cannot have files beside it; start `throng studio %.100s` "
                 "where they are",
                 name);
    return answer;
}

// The picture of an underlay, which lies beside the scene.
json_t *th_do_underlay(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    (void)client;
    const char *id = json_string_value(json_object_get(asked, "key")), *file = NULL;
    const json_t *list = json_object_get(studio->plays[0].document, "underlays");
    for (size_t k = 0; id && k < json_array_size(list); ++k) {
        const json_t *one = json_array_get(list, k);
        const char *name = json_string_value(json_object_get(one, "id"));
        if (name && strcmp(name, id) == 0) file = json_string_value(json_object_get(one, "file"));
    }
    if (!file) return th_request_refuse(error, "key", "give the id of an underlay of the scene");
    if (!studio->base_dir)
        return th_request_refuse(error, "", "no file lies beside a scene that was sent");
    th_arena arena = th_arena_of(NULL);
    char *bytes = NULL;
    size_t length = 0;
    json_t *answer = NULL;
    if (th_file_read(&arena, (th_link_scope){studio->base_dir, studio->allow_links}, file,
                     "underlays", &bytes, &length, error) == TH_OK) {
        if (length > TH_STUDIO_PICTURE)
            th_request_refuse(error, "", "the picture has more than 5 MiB; make it coarser");
        else
            answer = json_pack("{s:o}", "data", th_base64_text(bytes, length));
    }
    th_arena_release(&arena);
    return answer;
}

json_t *th_do_new(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    (void)client;
    th_vec2 size = {20.0f, 15.0f};
    const json_t *given = json_object_get(asked, "size");
    if (given && (!th_request_point(given, &size) || !(size.x >= 3.0f && size.y >= 3.0f) ||
                  size.x > 5000.0f || size.y > 5000.0f))
        return th_request_refuse(error, "size", "give width and height from 3 to 5000 m");
    return th_request_opened(studio, th_document_empty((double)size.x, (double)size.y), "new.json",
                             error);
}

json_t *th_do_save(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    (void)client;
    int w = th_request_world(studio, asked, error);
    if (w < 0) return NULL;
    json_t *document = json_deep_copy(studio->plays[w].document);
    json_t *run = json_object_get(document, "run");
    if (!run) {
        run = json_object();
        json_object_set_new(document, "run", run);
    }
    if (json_object_get(run, "seed") || studio->seed != 1)
        json_object_set_new(run, "seed", json_integer((json_int_t)studio->seed));
    char *text = th_document_write(document);
    json_decref(document);
    if (!text) return th_request_refuse(error, "", "no memory for the text of the scene");
    const char *slash = strrchr(studio->name, '/');
    json_t *answer = json_pack("{s:s,s:s}", "name", slash ? slash + 1 : studio->name, "text", text);
    free(text);
    return answer;
}

json_t *th_do_templates(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    (void)asked, (void)client, (void)error;
    json_t *hello = th_describe_hello(studio), *list = json_array();
    for (int k = 0; k < th_studio_template_count; ++k) {
        const th_studio_template *t = &th_studio_templates[k];
        json_t *one = json_copy(json_array_get(json_object_get(hello, "templates"), (size_t)k));
        json_object_set_new(one, "document",
                            th_document_read((const char *)t->text, t->size, t->name, NULL));
        json_array_append_new(list, one);
    }
    json_decref(hello);
    return json_pack("{s:o}", "templates", list);
}

json_t *th_do_template(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    (void)client;
    const char *name = json_string_value(json_object_get(asked, "name"));
    for (int k = 0; name && k < th_studio_template_count; ++k) {
        const th_studio_template *t = &th_studio_templates[k];
        if (strcmp(t->name, name) != 0) continue;
        char file[128];
        snprintf(file, sizeof file, "%s.json", t->name);
        return th_request_opened(
            studio, th_document_read((const char *)t->text, t->size, file, error), file, error);
    }
    return th_request_refuse(error, "name", "there is no such template; `templates` lists them");
}

json_t *th_do_compare(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    (void)client;
    const json_t *on = json_object_get(asked, "on");
    if (!json_is_boolean(on)) return th_request_refuse(error, "on", "say true or false");
    if (th_play_compare(studio, json_is_true(on), error) != TH_OK) return NULL;
    for (int w = 0; w < studio->play_count; ++w)
        th_studio_tell_edited(studio, w, json_is_true(on) ? "comparing" : "one world", "reload", 0);
    return json_object();
}

// ---- a recording or a drawing, sent in parts of base64

void th_upload_end(th_upload *upload) {
    static const char *const beside[] = {"", "-wal", "-shm", "-journal"}; // SQLite's too
    if (!upload->file) return;
    fclose(upload->file);
    for (size_t k = 0; k < sizeof beside / sizeof beside[0]; ++k) {
        char path[TH_PATH_MAX + 16];
        snprintf(path, sizeof path, "%s%s", upload->path, beside[k]);
        unlink(path);
    }
    *upload = (th_upload){0};
}

#ifdef __wasi__ // no files (worker.c)
int mkstemp(char *path);
#endif
static bool begin_upload(th_upload *upload, uint64_t client, th_error *error) {
    const char *base = getenv("TMPDIR");
    th_upload_end(upload);
    snprintf(upload->path, sizeof upload->path, "%.4000s/throng-XXXXXX",
             base && *base ? base : "/tmp");
    int handle = mkstemp(upload->path);
    upload->file = handle < 0 ? NULL : fdopen(handle, "wb");
    upload->client = client;
    if (upload->file) return true;
    if (handle >= 0) close(handle);
#ifdef __wasi__
    th_fail(error, TH_BAD_ARGUMENT, "",
            "a page without a server opens scenes, WKT and GeoJSON; recordings and drawings are "
            "read by the program; drop them on `throng studio`");
    return false;
#endif
    th_fail(error, TH_NO_FILE, "",
            "no file for the recording: %s; start throng with TMPDIR set to a folder that can be "
            "written",
            strerror(errno));
    return false;
}

static int base64_value(char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

size_t th_base64_decode(const char *text, size_t length, unsigned char *bytes) {
    size_t size = 0;
    uint32_t word = 0;
    int bits = 0;
    while (length > 0 && text[length - 1] == '=') --length;
    for (size_t k = 0; k < length; ++k) {
        int value = base64_value(text[k]);
        if (value < 0) return SIZE_MAX;
        word = word << 6 | (uint32_t)value;
        bits += 6;
        if (bits < 8) continue;
        bits -= 8;
        bytes[size++] = (unsigned char)(word >> bits);
    }
    return size;
}

// Three bytes, or the last one or two.
static size_t encode(const unsigned char *bytes, size_t left, char text[4]) {
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned word = (unsigned)bytes[0] << 16 | (left > 1 ? (unsigned)bytes[1] << 8 : 0) |
                    (left > 2 ? (unsigned)bytes[2] : 0);
    text[0] = letters[word >> 18];
    text[1] = letters[word >> 12 & 63];
    text[2] = left > 1 ? letters[word >> 6 & 63] : '=';
    text[3] = left > 2 ? letters[word & 63] : '=';
    return 4;
}

json_t *th_base64_text(const char *bytes, size_t size) {
    char *text = malloc((size + 2) / 3 * 4 + 1), *to = text;
    for (size_t k = 0; text && k < size; k += 3)
        to += encode((const unsigned char *)bytes + k, size - k, to);
    json_t *value = text ? json_stringn(text, (size_t)(to - text)) : NULL;
    free(text);
    return value;
}

void th_base64_put(th_file_writer *file, const unsigned char *bytes, size_t size) {
    char line[4096];
    size_t used = 0;
    for (size_t k = 0; k < size; k += 3) {
        used += encode(bytes + k, size - k, line + used);
        if (used + 4 <= sizeof line) continue;
        th_file_put(file, line, used);
        used = 0;
    }
    th_file_put(file, line, used);
}

static bool append_upload(th_upload *upload, const json_t *data, th_error *error) {
    size_t length = json_string_length(data);
    unsigned char *bytes = malloc(length + 1);
    size_t size = bytes ? th_base64_decode(json_string_value(data), length, bytes) : 0;
    if (!bytes || size == SIZE_MAX)
        th_request_refuse(error, "data", "give the next bytes of the recording as base64");
    else if (upload->bytes + size > TH_STUDIO_UPLOAD)
        th_request_refuse(error, "data",
                          "the recording is larger than 1 GiB, which is the most that can be "
                          "sent; start `throng replay FILE` instead");
    else if (fwrite(bytes, 1, size, upload->file) != size)
        th_request_refuse(error, "", "no room on the disk for the recording");
    else
        upload->bytes += size;
    free(bytes);
    return error->code == TH_OK;
}

static json_t *keep_upload(th_studio *studio, const char *name, th_error *error) {
    if (fflush(studio->upload.file) != 0)
        th_fail(error, TH_NO_FILE, "", "no room on the disk");
    else
        th_intake_keep(&studio->intake, studio->upload.path, name, error);
    th_upload_end(&studio->upload);
    return error->code == TH_OK ? json_pack("{s:s}", "name", name) : NULL;
}

static json_t *show_upload(th_studio *studio, const char *name, th_error *error) {
    th_error refused = {0};
    th_result result = fflush(studio->upload.file) == 0
                           ? th_replay_put(studio, studio->upload.path, name, &refused)
                           : th_fail(&refused, TH_NO_FILE, "", "no room on the disk");
    th_upload_end(&studio->upload);
    if (result != TH_OK) {
        th_fail(error, result, "", "%.100s: %s", name, refused.message);
        return NULL;
    }
    th_studio_greet(studio, 0);
    th_studio_tell_edited(studio, 0, "recording opened", "reload", 0);
    return json_pack("{s:s}", "name", name);
}

json_t *th_do_upload(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    th_upload *upload = &studio->upload;
    const char *name = json_string_value(json_object_get(asked, "name"));
    const json_t *at = json_object_get(asked, "at"), *data = json_object_get(asked, "data");
    if (!name || !json_is_integer(at) || !json_is_string(data))
        return th_request_refuse(error, "data",
                                 "give name, at (bytes sent so far) and data (base64)");
    if (upload->file && upload->client != client)
        return th_request_refuse(error, "", "another page sends a recording; try again shortly");
    if (json_integer_value(at) == 0 && !begin_upload(upload, client, error)) return NULL;
    if (!upload->file || (json_int_t)upload->bytes != json_integer_value(at))
        return th_request_refuse(error, "at", "a part is missing; begin anew with at: 0");
    if (!append_upload(upload, data, error)) {
        th_upload_end(upload);
        return NULL;
    }
    bool last = json_is_true(json_object_get(asked, "last"));
    if (last && json_is_true(json_object_get(asked, "keep")))
        return keep_upload(studio, name, error);
    if (last) return show_upload(studio, name, error);
    return json_pack("{s:I}", "bytes", (json_int_t)upload->bytes);
}
