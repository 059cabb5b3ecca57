// Requests that change the running world or its document: models, doors, walls, elements of the scene; undo and redo.
// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "studio/requests.h"
#include "throng/model.h"
#include <stdio.h>
#include <string.h>

// ---- models

// Calls `change` for the group that is named, or for all.
typedef th_result group_fn(th_studio *studio, int world, int group, const json_t *asked,
                           json_t *document, int *done, th_error *error);

static bool for_groups(th_studio *studio, int w, const json_t *asked, json_t *document,
                       group_fn *change, int *done, th_error *error) {
    const th_scene_view *scene = th_scene_view_of(th_world_scene(studio->plays[w].world));
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
    const th_group *group = &th_scene_view_of(th_world_scene(play->world))->groups[g];
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

json_t *th_do_set(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    (void)client;
    int w = th_request_world(studio, asked, error), done;
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

json_t *th_do_model(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    (void)client;
    int w = th_request_world(studio, asked, error), done, s = 0;
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

static int door_of(const th_scene_view *scene, const json_t *given, th_error *error) {
    const char *ids[TH_REQUEST_IDS];
    int count = scene->door_count < TH_REQUEST_IDS ? scene->door_count : TH_REQUEST_IDS;
    for (int k = 0; k < count; ++k) ids[k] = scene->doors[k].id;
    return th_request_index(given, "door", ids, count, error);
}

// ---- edits

static json_t *edit_door(th_studio *studio, int w, const json_t *asked, th_error *error) {
    th_play *play = &studio->plays[w];
    const th_scene_view *scene = th_scene_view_of(th_world_scene(play->world));
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
static json_t *in_file(const th_scene_view *scene, th_vec2 p) {
    return json_pack("[f,f]", (double)p.x + scene->origin.x, (double)p.y + scene->origin.y);
}

static bool add_live_walls(th_play *play, int level, const json_t *line, json_t *polyline,
                           th_error *error) {
    const th_scene_view *scene = th_scene_view_of(th_world_scene(play->world));
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
    const th_scene_view *scene = th_scene_view_of(th_world_scene(play->world));
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

json_t *th_do_edit(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    (void)client;
    static const char *const kinds[] = {"door", "wall",   "people", "remove_people",
                                        "add",  "change", "remove", "patch"};
    const char *kind = json_string_value(json_object_get(asked, "kind"));
    int w = th_request_world(studio, asked, error);
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

json_t *th_do_undo(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    (void)asked, (void)client;
    return undone(studio, &studio->undo, &studio->redo, "undone", error);
}

json_t *th_do_redo(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    (void)asked, (void)client;
    return undone(studio, &studio->redo, &studio->undo, "redone", error);
}
