// What clients ask for, one function each, called between two steps. A function returns the members of its answer, or NULL
// with an error. SPDX-License-Identifier: Apache-2.0
#include "studio/requests.h"
#include "core/error.h"
#include "throng/model.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef json_t *request_fn(th_studio *studio, const json_t *asked, uint64_t client,
                           th_error *error);

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
static int world_of(const th_studio *studio, const json_t *asked, th_error *error) {
    const json_t *given = json_object_get(asked, "world");
    json_int_t world = given ? json_integer_value(given) : 0;
    if ((given && !json_is_integer(given)) || world < 0 || world >= studio->play_count) {
        th_fail(error, TH_BAD_ARGUMENT, "world", "there is no world %d; `compare` makes a second",
                (int)world);
        return -1;
    }
    return (int)world;
}

// Index from an index or an id of `count` names; -1 with an error.
static int index_of(const json_t *given, const char *what, const char *const *ids, int count,
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

enum { IDS = 4096 };
int th_request_level(const th_scene *scene, const json_t *given, th_error *error) {
    const char *ids[TH_STUDIO_LEVELS];
    int count = scene->level_count < TH_STUDIO_LEVELS ? scene->level_count : TH_STUDIO_LEVELS;
    for (int k = 0; k < count; ++k) ids[k] = scene->levels[k].id;
    return index_of(given, "level", ids, count, error);
}

int th_request_group(const th_scene *scene, const json_t *given, th_error *error) {
    const char *ids[IDS];
    int count = scene->group_count < IDS ? scene->group_count : IDS;
    for (int k = 0; k < count; ++k) ids[k] = scene->groups[k].id;
    return index_of(given, "group", ids, count, error);
}

static int door_of(const th_scene *scene, const json_t *given, th_error *error) {
    const char *ids[IDS];
    int count = scene->door_count < IDS ? scene->door_count : IDS;
    for (int k = 0; k < count; ++k) ids[k] = scene->doors[k].id;
    return index_of(given, "door", ids, count, error);
}

void th_studio_tell_scene(th_studio *studio, int world) {
    th_studio_say(&studio->exchange, 0, false, th_describe_scene(studio, world));
}

void th_studio_tell_edited(th_studio *studio, int world, const char *text, const char *how,
                           int lost) {
    th_studio_say(&studio->exchange, 0, false,
                  json_pack("{s:s,s:i,s:s,s:s,s:i}", "event", "edited", "world", world, "text",
                            text, "how", how, "lost", lost));
    th_studio_tell_scene(studio, world);
    studio->changed = true;
    studio->scrubbing = false;
}

// ---- time

static json_t *do_play(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    (void)asked, (void)client, (void)error;
    studio->playing = true;
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
        // Live edits may make a plan that no run could begin with; the one that runs is not touched.
        th_fail(error, result, refused.path,
                "the crowd walks on, but the plan as edited cannot start anew: %s; undo the change "
                "(Ctrl+Z) or leave a way, then restart",
                refused.message);
        return NULL;
    }
    for (int w = 0; w < studio->play_count; ++w) {
        th_studio_tell_edited(studio, w, "restarted", "reload", 0);
        th_charts_see(studio, w);
        th_charts_doubts(studio, w);
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
    int w = world_of(studio, asked, error);
    if (w < 0) return NULL;
    const th_world *world = studio->plays[w].world;
    char hash[20];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)th_world_hash(world));
    return json_pack("{s:s,s:I,s:f}", "hash", hash, "step", (json_int_t)th_world_step_count(world),
                     "time", th_world_time(world));
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

// ---- models

// Calls `change` for the group that is named, or for all.
typedef th_result group_fn(th_studio *studio, int world, int group, const json_t *asked,
                           json_t *document, int *done, th_error *error);

static bool for_groups(th_studio *studio, int w, const json_t *asked, json_t *document,
                       group_fn *change, int *done, th_error *error) {
    const th_scene *scene = th_world_scene(studio->plays[w].world);
    const char *name = json_string_value(json_object_get(asked, "group"));
    *done = 0;
    if (!(name && strcmp(name, "*") == 0)) {
        int group = th_request_group(scene, json_object_get(asked, "group"), error);
        return group >= 0 && change(studio, w, group, asked, document, done, error) == TH_OK;
    }
    for (int g = 0; g < scene->group_count; ++g) {
        th_error skipped = {0};
        th_result result = change(studio, w, g, asked, document, done, &skipped);
        if (result != TH_OK && error) *error = skipped; // others may have the parameter
    }
    return *done > 0;
}

static const th_model_choice *choice_of(const th_group *group, int stage) {
    const th_model_choice *const choices[] = {&group->behave, &group->plan, &group->filter,
                                              &group->move};
    return choices[stage];
}
static const char *const stage_names[] = {"behave", "plan", "filter", "move"};

// The stage whose model has the parameter: the one named, or the first.
static int stage_with(const th_group *group, const char *wanted, const char *name) {
    for (int s = 0; s < 4; ++s) {
        if (wanted && strcmp(wanted, stage_names[s]) != 0) continue;
        const th_model *model = th_models(NULL)[choice_of(group, s)->model];
        for (int p = 0; p < model->param_count; ++p)
            if (strcmp(model->params[p].name, name) == 0) return s;
    }
    return -1;
}

static th_result set_group_param(th_studio *studio, int w, int g, const json_t *asked,
                                 json_t *document, int *done, th_error *error) {
    th_play *play = &studio->plays[w];
    const th_group *group = &th_world_scene(play->world)->groups[g];
    const char *name = json_string_value(json_object_get(asked, "name"));
    const char *stage = json_string_value(json_object_get(asked, "stage"));
    double value = json_number_value(json_object_get(asked, "value"));
    int s = stage_with(group, stage, name), first = stage_with(group, NULL, name);
    if (s < 0)
        return th_fail(error, TH_BAD_ARGUMENT, "name",
                       "no model of group '%s' has a parameter '%.60s'", group->id, name);
    // The world finds a parameter by its name alone, in the order of the stages.
    if (s != first)
        return th_fail(error, TH_BAD_ARGUMENT, "stage",
                       "the %s model has a '%.60s' too and comes first; change it with `model`",
                       stage_names[first], name);
    th_result result = th_world_set_param(play->world, g, name, value, error);
    if (result != TH_OK) return result;
    result = th_document_set_param(document, g, stage_names[s],
                                   th_models(NULL)[choice_of(group, s)->model]->name, name, value,
                                   error);
    *done += result == TH_OK;
    return result;
}

static json_t *do_set(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    (void)client;
    int w = world_of(studio, asked, error), done;
    if (w < 0) return NULL;
    const char *name = json_string_value(json_object_get(asked, "name"));
    if (!name || !json_is_number(json_object_get(asked, "value")))
        return th_request_refuse(error, "name",
                                 "give the name of a parameter and a number as value");
    th_undo_push(studio, &studio->undo, w, name);
    if (!for_groups(studio, w, asked, studio->plays[w].document, set_group_param, &done, error)) {
        th_undo_drop(&studio->undo);
        return NULL;
    }
    th_undo_clear(&studio->redo);
    studio->plays[w].dirty = true;
    th_studio_tell_edited(studio, w, name, "live", 0);
    return json_pack("{s:s,s:i}", "how", "live", "groups", done);
}

static th_result set_group_model(th_studio *studio, int w, int g, const json_t *asked,
                                 json_t *document, int *done, th_error *error) {
    (void)studio, (void)w;
    const char *stage = json_string_value(json_object_get(asked, "stage"));
    json_t *choice = json_pack("{s:O}", "model", json_object_get(asked, "model"));
    const json_t *preset = json_object_get(asked, "preset");
    if (json_is_string(preset)) json_object_set(choice, "preset", (json_t *)preset);
    const char *name;
    json_t *value;
    json_object_foreach(json_object_get(asked, "params"), name, value)
        json_object_set(choice, name, value);
    th_result result = th_document_set_model(document, g, stage, choice, error);
    json_decref(choice);
    *done += result == TH_OK;
    return result;
}

// Compiles the changed document and goes on with it; the document is taken over.
static json_t *reload(th_studio *studio, int w, json_t *document, const char *text, int room,
                      th_error *error) {
    int lost = 0;
    th_undo_push(studio, &studio->undo, w, text);
    if (th_play_reload(studio, w, document, room, &lost, error) != TH_OK) {
        th_undo_drop(&studio->undo);
        return NULL;
    }
    th_undo_clear(&studio->redo);
    th_studio_tell_edited(studio, w, text, "reload", lost);
    th_charts_doubts(studio, w);
    return json_pack("{s:s,s:i}", "how", "reload", "lost", lost);
}

static json_t *do_model(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    (void)client;
    int w = world_of(studio, asked, error), done, s = 0;
    if (w < 0) return NULL;
    const char *stage = json_string_value(json_object_get(asked, "stage"));
    const char *model = json_string_value(json_object_get(asked, "model"));
    while (stage && s < 4 && strcmp(stage_names[s], stage) != 0) ++s;
    if (!stage || s == 4 || !model)
        return th_request_refuse(error, "stage",
                                 "give stage (behave, plan, filter, move) and model");
    json_t *document = json_deep_copy(studio->plays[w].document);
    if (!for_groups(studio, w, asked, document, set_group_model, &done, error)) {
        json_decref(document);
        return NULL;
    }
    return reload(studio, w, document, model, 0, error);
}

// ---- edits

static json_t *edit_door(th_studio *studio, int w, const json_t *asked, th_error *error) {
    th_play *play = &studio->plays[w];
    const th_scene *scene = th_world_scene(play->world);
    const json_t *open = json_object_get(asked, "open");
    int d = door_of(scene, json_object_get(asked, "door"), error);
    if (d < 0) return NULL;
    if (!json_is_boolean(open)) return th_request_refuse(error, "open", "say true or false");
    th_undo_push(studio, &studio->undo, w, "door");
    if (th_world_set_door(play->world, scene->doors[d].id, json_is_true(open), error) != TH_OK) {
        th_undo_drop(&studio->undo);
        return NULL;
    }
    th_undo_clear(&studio->redo);
    json_t *element = json_array_get(json_object_get(play->document, "doors"), (size_t)d);
    if (element) json_object_set_new(element, "closed", json_boolean(!json_is_true(open)));
    play->dirty = true;
    th_studio_tell_edited(studio, w, json_is_true(open) ? "door opened" : "door shut", "live", 0);
    return json_pack("{s:s}", "how", "live");
}

// The document's coordinates are the scene's own.
static json_t *in_file(const th_scene *scene, th_vec2 p) {
    return json_pack("[f,f]", (double)p.x + scene->origin.x, (double)p.y + scene->origin.y);
}

static bool add_live_walls(th_play *play, int level, const json_t *line, json_t *polyline,
                           th_error *error) {
    const th_scene *scene = th_world_scene(play->world);
    th_vec2 before = {0};
    if (!play->live_walls) play->live_walls = json_array();
    for (size_t k = 0; k < json_array_size(line); ++k) {
        th_vec2 here;
        if (!th_request_point(json_array_get(line, k), &here)) {
            th_request_refuse(error, "line", "give points as [x, y]");
            return false;
        }
        json_array_append_new(polyline, in_file(scene, here));
        if (k > 0) {
            if (th_world_add_wall(play->world, level, before, here, NULL, error) != TH_OK)
                return false;
            json_array_append_new(play->live_walls,
                                  json_pack("{s:i,s:[[f,f],[f,f]]}", "level", level, "line",
                                            (double)before.x, (double)before.y, (double)here.x,
                                            (double)here.y));
        }
        before = here;
    }
    return true;
}

static json_t *edit_wall(th_studio *studio, int w, const json_t *asked, th_error *error) {
    th_play *play = &studio->plays[w];
    const th_scene *scene = th_world_scene(play->world);
    const json_t *line = json_object_get(asked, "line");
    int level = th_request_level(scene, json_object_get(asked, "level"), error);
    if (level < 0) return NULL;
    if (json_array_size(line) < 2 || json_array_size(line) > 200)
        return th_request_refuse(error, "line", "a wall has 2 to 200 points");
    th_undo_push(studio, &studio->undo, w, "wall");
    json_t *polyline = json_array();
    th_document_made made;
    json_t *level_id = json_integer(level);
    bool added =
        add_live_walls(play, level, line, polyline, error) &&
        th_document_add(play->document, "walls", level_id, polyline, &made, error) == TH_OK;
    json_decref(level_id);
    json_decref(polyline);
    if (!added) { // of a polyline some segments may stand already
        th_error unread = {0};
        if (studio->undo.count > 0) th_undo_take(studio, &studio->undo, &studio->redo, &unread);
        th_undo_clear(&studio->redo);
        return NULL;
    }
    th_undo_clear(&studio->redo);
    play->dirty = true;
    th_studio_tell_edited(studio, w, "wall added", "live", 0);
    return json_pack("{s:s,s:s,s:i,s:i}", "how", "live", "what", "walls", "index", made.index,
                     "level", level);
}

// ---- edits of the document

static json_t *edit_document(th_studio *studio, int w, const json_t *asked, const char *kind,
                             th_error *error) {
    const char *what = json_string_value(json_object_get(asked, "what"));
    const json_t *level = json_object_get(asked, "level"), *key = json_object_get(asked, "key"),
                 *value = json_object_get(asked, "value");
    json_t *document = json_deep_copy(studio->plays[w].document);
    th_document_made made = {0};
    th_result result;
    if (strcmp(kind, "add") == 0)
        result = th_document_add(document, what, level, value, &made, error);
    else if (strcmp(kind, "change") == 0)
        result = th_document_change(document, what, level, key, value, error);
    else if (strcmp(kind, "remove") == 0)
        result = th_document_remove(document, what, level, key, error);
    else
        result = th_document_patch(document, json_object_get(asked, "patch"), error);
    if (result != TH_OK) {
        json_decref(document);
        return NULL;
    }
    char text[80];
    snprintf(text, sizeof text, "%s %.40s", kind, what ? what : "");
    json_t *answer = reload(studio, w, document, text, 0, error);
    if (answer && made.what) {
        json_object_set_new(answer, "what", json_string(made.what));
        json_object_set_new(answer, "made", made.id[0] ? json_string(made.id) : json_null());
        json_object_set_new(answer, "index", json_integer(made.index));
    }
    return answer;
}

static json_t *do_edit(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    (void)client;
    static const char *const kinds[] = {"door", "wall",   "people", "remove_people",
                                        "add",  "change", "remove", "patch"};
    const char *kind = json_string_value(json_object_get(asked, "kind"));
    int w = world_of(studio, asked, error);
    if (w < 0) return NULL;
    if (kind && strcmp(kind, "door") == 0) return edit_door(studio, w, asked, error);
    if (kind && strcmp(kind, "wall") == 0) return edit_wall(studio, w, asked, error);
    if (kind && strcmp(kind, "people") == 0) return th_edit_people(studio, w, asked, error);
    if (kind && strcmp(kind, "remove_people") == 0)
        return th_edit_remove_people(studio, w, asked, error);
    for (int k = 4; kind && k < 8; ++k)
        if (strcmp(kind, kinds[k]) == 0) return edit_document(studio, w, asked, kind, error);
    const char *near = kind ? th_nearest_word(kind, kinds, 8) : NULL;
    th_fail(error, TH_BAD_ARGUMENT, "kind", "there is no edit '%.40s'%s%s", kind ? kind : "",
            near ? "; did you mean " : "", near ? near : "");
    return NULL;
}

static json_t *undone(th_studio *studio, th_undo_stack *from, th_undo_stack *to, const char *text,
                      th_error *error) {
    if (from->count == 0) return th_request_refuse(error, "", "there is nothing to go back to");
    int world = from->items[from->count - 1].world;
    char what[80];
    snprintf(what, sizeof what, "%s", from->items[from->count - 1].text);
    if (th_undo_take(studio, from, to, error) != TH_OK) return NULL;
    th_studio_tell_edited(studio, world, text, "reload", 0);
    return json_pack("{s:s,s:i}", "text", what, "world", world);
}

static json_t *do_undo(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    (void)asked, (void)client;
    return undone(studio, &studio->undo, &studio->redo, "undone", error);
}

static json_t *do_redo(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    (void)asked, (void)client;
    return undone(studio, &studio->redo, &studio->undo, "redone", error);
}

// ---- scenes

static json_t *opened(th_studio *studio, json_t *document, const char *name, th_error *error) {
    if (!document || th_play_open(studio, document, name, NULL, error) != TH_OK) return NULL;
    th_studio_tell_edited(studio, 0, "opened", "reload", 0);
    th_charts_see(studio, 0);
    th_charts_doubts(studio, 0);
    return json_pack("{s:s}", "name", name);
}

static json_t *do_open(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    (void)client;
    const char *text = json_string_value(json_object_get(asked, "text"));
    const char *name = json_string_value(json_object_get(asked, "name"));
    if (!text) return th_request_refuse(error, "text", "give the scene, WKT or GeoJSON as text");
    if (!name || !*name) name = "opened.json";
    json_t *document = th_document_of_plan(text, name);
    if (!document) document = th_document_read(text, strlen(text), name, error);
    return opened(studio, document, name, error);
}

static json_t *do_new(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    (void)client;
    th_vec2 size = {20.0f, 15.0f};
    const json_t *given = json_object_get(asked, "size");
    if (given && (!th_request_point(given, &size) || !(size.x >= 3.0f && size.y >= 3.0f) ||
                  size.x > 5000.0f || size.y > 5000.0f))
        return th_request_refuse(error, "size", "give width and height from 3 to 5000 m");
    return opened(studio, th_document_empty((double)size.x, (double)size.y), "new.json", error);
}

static json_t *do_save(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    (void)client;
    int w = world_of(studio, asked, error);
    if (w < 0) return NULL;
    json_t *document = json_deep_copy(studio->plays[w].document);
    json_t *run = json_object_get(document, "run");
    if (!run) {
        run = json_object();
        json_object_set_new(document, "run", run);
    }
    if (json_object_get(run, "seed") || studio->seed != 1)
        json_object_set_new(run, "seed", json_integer((json_int_t)studio->seed));
    char *text = json_dumps(document, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
    json_decref(document);
    if (!text) return th_request_refuse(error, "", "no memory for the text of the scene");
    const char *slash = strrchr(studio->name, '/');
    json_t *answer = json_pack("{s:s,s:s}", "name", slash ? slash + 1 : studio->name, "text", text);
    free(text);
    return answer;
}

static json_t *do_templates(th_studio *studio, const json_t *asked, uint64_t client,
                            th_error *error) {
    (void)asked, (void)client, (void)error;
    json_t *hello = th_describe_hello(studio);
    json_t *answer = json_pack("{s:O}", "templates", json_object_get(hello, "templates"));
    json_decref(hello);
    return answer;
}

static json_t *do_template(th_studio *studio, const json_t *asked, uint64_t client,
                           th_error *error) {
    (void)client;
    const char *name = json_string_value(json_object_get(asked, "name"));
    for (int k = 0; name && k < th_studio_template_count; ++k) {
        const th_studio_template *t = &th_studio_templates[k];
        if (strcmp(t->name, name) != 0) continue;
        char file[128];
        snprintf(file, sizeof file, "%s.json", t->name);
        return opened(studio, th_document_read((const char *)t->text, t->size, file, error), file,
                      error);
    }
    return th_request_refuse(error, "name", "there is no such template; `templates` lists them");
}

static json_t *do_compare(th_studio *studio, const json_t *asked, uint64_t client,
                          th_error *error) {
    (void)client;
    const json_t *on = json_object_get(asked, "on");
    if (!json_is_boolean(on)) return th_request_refuse(error, "on", "say true or false");
    if (th_play_compare(studio, json_is_true(on), error) != TH_OK) return NULL;
    for (int w = 0; w < studio->play_count; ++w)
        th_studio_tell_edited(studio, w, json_is_true(on) ? "comparing" : "one world", "reload", 0);
    return fine();
}

// ---- looking

static void forget_inspection(th_studio *studio, uint64_t client) {
    for (int k = 0; k < studio->inspection_count; ++k)
        if (studio->inspections[k].client == client)
            studio->inspections[k--] = studio->inspections[--studio->inspection_count];
}

static json_t *do_person(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    const json_t *person = json_object_get(asked, "person");
    int w = world_of(studio, asked, error);
    if (w < 0) return NULL;
    if (!json_is_integer(person) || json_integer_value(person) < 0 ||
        json_integer_value(person) > UINT32_MAX)
        return th_request_refuse(error, "person", "give an id, or 0 for nobody");
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
    int w = studio->replay ? 0 : world_of(studio, asked, error);
    if (w < 0) return NULL;
    th_studio_say(&studio->exchange, client, false, th_describe_scene(studio, w));
    return fine();
}

static json_t *do_models(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    (void)studio, (void)asked, (void)client, (void)error;
    return json_pack("{s:o}", "models", th_describe_models());
}

// A client has come: everything it must know first.
static json_t *do_joined(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    (void)asked, (void)error;
    th_studio_say(&studio->exchange, client, false, th_describe_hello(studio));
    for (int w = 0; w < (studio->replay ? 1 : studio->play_count); ++w)
        th_studio_say(&studio->exchange, client, false, th_describe_scene(studio, w));
    studio->changed = true;
    return NULL;
}

// Requests of the server itself begin with an underscore; it lets none of these in from outside.
static const struct {
    const char *name;
    request_fn *function;
    bool replays; // recordings have it too
} requests[] = {
    {"play", do_play, true},
    {"pause", do_pause, true},
    {"step", do_step, true},
    {"speed", do_speed, true},
    {"restart", do_restart, true},
    {"seed", do_seed, false},
    {"hash", do_hash, false},
    {"scrub", do_scrub, true},
    {"set", do_set, false},
    {"model", do_model, false},
    {"edit", do_edit, false},
    {"undo", do_undo, false},
    {"redo", do_redo, false},
    {"open", do_open, false},
    {"new", do_new, false},
    {"save", do_save, false},
    {"templates", do_templates, true},
    {"template", do_template, false},
    {"compare", do_compare, false},
    {"person", do_person, true},
    {"charts", do_charts, true},
    {"scene", do_scene, true},
    {"models", do_models, true},
    {"_joined", do_joined, true},
    {"_gone", do_gone, true},
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
                    "a recording is shown, which cannot be changed; open its scene with `throng "
                    "studio`");
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

void th_studio_answer(th_studio *studio, const th_studio_request *request) {
    const char *name = json_string_value(json_object_get(request->message, "do"));
    th_error error = {0};
    json_t *answer = perform(studio, request, &error);
    if (name && name[0] == '_') {
        json_decref(answer);
        return;
    }
    if (answer)
        json_object_set_new(answer, "ok", json_true());
    else
        answer = complaint(&error);
    json_t *id = json_object_get(request->message, "id");
    if (answer && id) json_object_set(answer, "id", id);
    th_studio_say(&studio->exchange, request->client, true, answer);
}
