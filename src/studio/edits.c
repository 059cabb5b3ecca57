// Edits of clients: the scene, its models, its people. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "studio/studio.h"
#include "throng/model.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- edits of the running world or its document: models, doors, walls, elements of the scene; undo and redo

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

static const char *const stage_names[] = {"behave", "plan", "filter", "move"};

// The group's model that has the parameter: of the stage and with the name that are given, else the first. NULL: none.
static const th_model *model_with(const th_group *group, const char *stage, const char *wanted,
                                  const char *name) {
    const th_model_choice *choice;
    for (int k = 0; (choice = th_group_model(group, k)); ++k) {
        const th_model *model = th_models(NULL)[choice->model];
        if (stage && strcmp(stage, th_stage_name(model->stage)) != 0) continue;
        if (wanted && strcmp(wanted, model->name) != 0) continue;
        for (int p = 0; p < model->param_count; ++p)
            if (strcmp(model->params[p].name, name) == 0) return model;
    }
    return NULL;
}

static th_result set_group_param(th_studio *studio, int w, int g, const json_t *asked,
                                 json_t *document, int *done, th_error *error) {
    th_play *play = &studio->plays[w];
    const th_group *group = &th_scene_view_of(th_world_scene(play->world))->groups[g];
    const char *name = json_string_value(json_object_get(asked, "name"));
    const char *stage = json_string_value(json_object_get(asked, "stage"));
    double value = json_number_value(json_object_get(asked, "value"));
    const char *wanted = json_string_value(json_object_get(asked, "model"));
    const th_model *model = model_with(group, stage, wanted, name);
    if (!model)
        return th_fail(error, TH_BAD_ARGUMENT, "name",
                       "no model of group '%s' has a parameter '%.60s'", group->id, name);
    // A behaviour and a move model may have the same name: the world then takes the first.
    const th_model *meant = model_with(group, NULL, model->name, name);
    if (meant != model)
        return th_fail(error, TH_BAD_ARGUMENT, "stage",
                       "the %s model has a '%.60s' too and comes first; change it with `model`",
                       th_stage_name(meant->stage), name);
    char full[TH_STUDIO_NAME];
    snprintf(full, sizeof full, "%s.%s", model->name, name);
    th_result result = th_world_set_param(play->world, g, full, value, error);
    if (result != TH_OK) return result;
    result = th_document_set_param(document, g, th_stage_name(model->stage), model->name, name,
                                   value, error);
    *done += result == TH_OK;
    return result;
}

// The same in the document alone.
static th_result set_document_param(th_studio *studio, int w, int g, const json_t *asked,
                                    json_t *document, int *done, th_error *error) {
    const th_group *group = &th_scene_view_of(th_world_scene(studio->plays[w].world))->groups[g];
    const char *name = json_string_value(json_object_get(asked, "name"));
    const th_model *model = model_with(group, json_string_value(json_object_get(asked, "stage")),
                                       json_string_value(json_object_get(asked, "model")), name);
    if (!model) return TH_BAD_ARGUMENT;
    th_result result =
        th_document_set_param(document, g, th_stage_name(model->stage), model->name, name,
                              json_number_value(json_object_get(asked, "value")), error);
    *done += result == TH_OK;
    return result;
}

// Compiles the changed document and goes on with it, beside the crowd where there are threads; takes the document over.
static json_t *reload(th_studio *studio, int w, json_t *document, const char *text,
                      th_error *error) {
    return th_rebuild_edit(studio, w, document, text, json_pack("{s:s}", "how", "reload"), error);
}

// A parameter that the running world does not take: the scene is compiled with it and the crowd moves over.
static json_t *set_anew(th_studio *studio, int w, const json_t *asked, const char *name,
                        th_error *error) {
    int done;
    json_t *document = json_deep_copy(studio->plays[w].document);
    if (for_groups(studio, w, asked, document, set_document_param, &done, error))
        return reload(studio, w, document, name, error);
    json_decref(document);
    return NULL;
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
        th_error live = *error;
        *error = (th_error){0};
        json_t *answer = set_anew(studio, w, asked, name, error);
        if (!answer && error->code != TH_OK) *error = live;
        return answer;
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
    const json_t *named = json_object_get(asked, "model");
    if (json_is_array(named)) {
        th_result result = th_document_set_behaviours(document, g, named, error);
        *done += result == TH_OK;
        return result;
    }
    json_t *choice = json_pack("{s:O}", "model", named);
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

json_t *th_do_model(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    (void)client;
    int w = th_request_world(studio, asked, error), done, s = 0;
    if (w < 0) return NULL;
    const char *stage = json_string_value(json_object_get(asked, "stage"));
    const json_t *named = json_object_get(asked, "model");
    const char *model = json_string_value(named);
    if (json_is_array(named) && stage && strcmp(stage, "behave") == 0) model = "behaviours";
    while (stage && s < 4 && strcmp(stage_names[s], stage) != 0) ++s;
    if (!stage || s == 4 || !model)
        return th_request_refuse(error, "stage",
                                 "give stage (behave, plan, filter, move) and model");
    json_t *document = json_deep_copy(studio->plays[w].document);
    if (!for_groups(studio, w, asked, document, set_group_model, &done, error)) {
        json_decref(document);
        return NULL;
    }
    return reload(studio, w, document, model, error);
}

static int door_of(const th_scene_view *scene, const json_t *given, th_error *error) {
    const char *ids[TH_REQUEST_IDS];
    int count = scene->door_count < TH_REQUEST_IDS ? scene->door_count : TH_REQUEST_IDS;
    for (int k = 0; k < count; ++k) ids[k] = scene->doors[k].id;
    return th_request_index(given, "door", ids, count, error);
}

// ---- edits

// The element of the document for a door: one of its doors, or the exit that it shuts.
static json_t *door_element(const json_t *document, const th_scene_view *scene, int d) {
    int exit = scene->doors[d].exit, place = 0;
    if (exit < 0) return json_array_get(json_object_get(document, "doors"), (size_t)d);
    for (int g = 0; g < exit; ++g) place += scene->goals[g].kind == TH_GOAL_EXIT;
    return json_array_get(json_object_get(document, "exits"), (size_t)place);
}

static json_t *edit_door(th_studio *studio, int w, const json_t *asked, th_error *error) {
    th_play *play = &studio->plays[w];
    const th_scene_view *scene = th_scene_view_of(th_world_scene(play->world));
    const json_t *open = json_object_get(asked, "open");
    int d = door_of(scene, json_object_get(asked, "door"), error);
    if (d < 0) return NULL;
    if (!json_is_boolean(open)) return th_request_refuse(error, "open", "say true or false");
    if (th_undo_push(studio, &studio->undo, w, "door")) {
        th_undo *undo = &studio->undo.items[studio->undo.count - 1];
        undo->door = d;
        undo->door_open = th_world_door_open(play->world, d);
    }
    if (th_world_set_door(play->world, scene->doors[d].id, json_is_true(open), error) != TH_OK) {
        th_undo_drop(&studio->undo);
        return NULL;
    }
    th_undo_clear(&studio->redo);
    json_t *element = door_element(play->document, scene, d);
    if (element) json_object_set_new(element, "closed", json_boolean(!json_is_true(open)));
    play->dirty = true;
    th_studio_tell_edited(studio, w, json_is_true(open) ? "door opened" : "door shut", "live", 0);
    return json_pack("{s:s}", "how", "live");
}

// The document's coordinates are the scene's own, to a tenth of a millimetre: no digits of the float's rounding.
static json_t *in_file(const th_scene_view *scene, th_vec2 p) {
    return json_pack("[f,f]", round(((double)p.x + scene->origin.x) * 1e4) / 1e4,
                     round(((double)p.y + scene->origin.y) * 1e4) / 1e4);
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
    if (!added) { // some segments of a polyline may stand already
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

static th_result edit_one(json_t *document, const json_t *asked, th_document_made *made,
                          th_error *error) {
    const char *kind = json_string_value(json_object_get(asked, "kind"));
    const char *what = json_string_value(json_object_get(asked, "what"));
    const json_t *level = json_object_get(asked, "level"), *key = json_object_get(asked, "key"),
                 *value = json_object_get(asked, "value");
    if (kind && strcmp(kind, "add") == 0)
        return th_document_add(document, what, level, value, made, error);
    if (kind && strcmp(kind, "change") == 0)
        return th_document_change(document, what, level, key, value, error);
    if (kind && strcmp(kind, "remove") == 0)
        return th_document_remove(document, what, level, key, error);
    if (kind && strcmp(kind, "patch") == 0)
        return th_document_patch(document, json_object_get(asked, "patch"), error);
    return th_fail(error, TH_BAD_ARGUMENT, "edits",
                   "several edits at once are of kind add, change, remove or patch");
}

static void tell_made(json_t *answer, const th_document_made *made) {
    json_object_set_new(answer, "what", json_string(made->what));
    json_object_set_new(answer, "made", made->id[0] ? json_string(made->id) : json_null());
    json_object_set_new(answer, "index", json_integer(made->index));
}

// All of a list of edits or none; *made_all: what is new.
static th_result edit_several(json_t *document, const json_t *edits, json_t *made_all,
                              th_error *error) {
    enum { MOST = 10000 };
    th_result result = TH_OK;
    if (!json_is_array(edits) || json_array_size(edits) == 0 || json_array_size(edits) > MOST)
        return th_fail(error, TH_BAD_ARGUMENT, "edits", "give a list of 1 to %d edits", MOST);
    for (size_t k = 0; k < json_array_size(edits) && result == TH_OK; ++k) {
        th_document_made made = {0};
        result = edit_one(document, json_array_get(edits, k), &made, error);
        if (result != TH_OK || !made.what) continue;
        json_t *told = json_object();
        tell_made(told, &made);
        json_array_append_new(made_all, told);
    }
    return result;
}

static json_t *edit_document(th_studio *studio, int w, const json_t *asked, const char *kind,
                             th_error *error) {
    const char *what = json_string_value(json_object_get(asked, "what"));
    const json_t *edits = json_object_get(asked, "edits");
    bool several = strcmp(kind, "several") == 0;
    json_t *document = json_deep_copy(studio->plays[w].document), *made_all = json_array();
    th_document_made made = {0};
    th_result result = several ? edit_several(document, edits, made_all, error)
                               : edit_one(document, asked, &made, error);
    if (result != TH_OK) {
        json_decref(document);
        json_decref(made_all);
        return NULL;
    }
    char text[80];
    snprintf(text, sizeof text, "%s %.40s", several ? "edits" : kind, what ? what : "");
    json_t *answer = json_pack("{s:s}", "how", "reload");
    if (made.what) tell_made(answer, &made);
    if (several) json_object_set(answer, "made_all", made_all);
    json_decref(made_all);
    return th_rebuild_edit(studio, w, document, text, answer, error);
}

json_t *th_do_edit(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    (void)client;
    static const char *const kinds[] = {"door",   "wall",   "people", "remove_people", "add",
                                        "change", "remove", "patch",  "several",       "person"};
    const char *kind = json_string_value(json_object_get(asked, "kind"));
    int w = th_request_world(studio, asked, error);
    if (w < 0) return NULL;
    if (kind && strcmp(kind, "door") == 0) return edit_door(studio, w, asked, error);
    if (kind && strcmp(kind, "wall") == 0) return edit_wall(studio, w, asked, error);
    if (kind && strcmp(kind, "people") == 0) return th_edit_people(studio, w, asked, error);
    if (kind && strcmp(kind, "remove_people") == 0)
        return th_edit_remove_people(studio, w, asked, error);
    if (kind && strcmp(kind, "person") == 0) return th_edit_person(studio, w, asked, error);
    for (int k = 4; kind && k < 9; ++k)
        if (strcmp(kind, kinds[k]) == 0) return edit_document(studio, w, asked, kind, error);
    const char *near = kind ? th_nearest_word(kind, kinds, 10) : NULL;
    th_fail(error, TH_BAD_ARGUMENT, "kind", "there is no edit '%.40s'%s%s", kind ? kind : "",
            near ? "; did you mean " : "", near ? near : "");
    return NULL;
}

// A door goes back as it was shut: at once, in the running world.
static json_t *door_undone(th_studio *studio, th_undo_stack *from, th_undo_stack *to,
                           th_error *error) {
    const th_undo *undo = &from->items[from->count - 1];
    th_play *play = &studio->plays[undo->world];
    int door = undo->door, world = undo->world;
    bool open = undo->door_open;
    const char *id = th_scene_view_of(th_world_scene(play->world))->doors[door].id;
    json_t *answer = json_pack("{s:s,s:i}", "text", undo->text, "world", world);
    if (th_undo_push(studio, to, world, undo->text)) {
        to->items[to->count - 1].door = door;
        to->items[to->count - 1].door_open = !open;
    }
    if (th_world_set_door(play->world, id, open, error) != TH_OK) {
        th_undo_drop(to);
        json_decref(answer);
        return NULL;
    }
    th_undo_leave(studio, from);
    play->dirty = true;
    return answer;
}

// The edit alone is undone and time goes on, but for edits of people; `time`: back to the moment of the edit.
static json_t *undone(th_studio *studio, const json_t *asked, th_undo_stack *from,
                      th_undo_stack *to, const char *text, th_error *error) {
    if (from->count == 0) return th_request_refuse(error, "", "there is nothing to go back to");
    const th_undo *undo = &from->items[from->count - 1];
    int world = undo->world;
    bool with_time = json_is_true(json_object_get(asked, "time")) || undo->of_people;
    json_t *answer;
    if (with_time && undo->scene == studio->plays[world].scene) {
        answer = json_pack("{s:s,s:i}", "text", undo->text, "world", world);
        if (th_undo_take(studio, from, to, error) != TH_OK) {
            json_decref(answer);
            return NULL;
        }
    } else if (!with_time && undo->door >= 0 && undo->scene == studio->plays[world].scene) {
        answer = door_undone(studio, from, to, error);
    } else {
        return th_rebuild_undo(studio, from, to, with_time, error);
    }
    if (answer) th_studio_tell_edited(studio, world, text, "live", 0);
    return answer;
}

json_t *th_do_undo(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    (void)client;
    return undone(studio, asked, &studio->undo, &studio->redo, "undone", error);
}

json_t *th_do_redo(th_studio *studio, const json_t *asked, uint64_t client, th_error *error) {
    (void)client;
    return undone(studio, asked, &studio->redo, &studio->undo, "redone", error);
}

// ---- people placed and taken away by hand: the brush

typedef struct disc {
    int level;
    th_vec2 at;
    float radius;
} disc;

static bool get_disc(const th_scene_view *scene, const json_t *asked, disc *d, th_error *error) {
    double radius = 2.0;
    d->level = th_request_level(scene, json_object_get(asked, "level"), error);
    if (d->level < 0) return false;
    if (!th_request_point(json_object_get(asked, "at"), &d->at) ||
        (json_object_get(asked, "radius") &&
         !th_request_number(asked, "radius", 0.1, 100, &radius))) {
        th_request_refuse(error, "at", "give a place [x, y], and a radius from 0.1 to 100 m");
        return false;
    }
    d->radius = (float)radius;
    return true;
}

// An edit that is undone by going back to before it.
static void push_of_people(th_studio *studio, int w, const char *text) {
    if (th_undo_push(studio, &studio->undo, w, text))
        studio->undo.items[studio->undo.count - 1].of_people = true;
}

// Places of people within the disc and a little beyond.
static int people_near(th_world *world, const disc *d, th_vec2 *places, th_agent_id *ids, int most,
                       float beyond) {
    const float *x = th_world_map(world, TH_FIELD_POSITION_X, TH_ACCESS_READ);
    const float *y = th_world_map(world, TH_FIELD_POSITION_Y, TH_ACCESS_READ);
    const uint32_t *level = th_world_map(world, TH_FIELD_LEVEL, TH_ACCESS_READ);
    const uint32_t *id = th_world_map(world, TH_FIELD_ID, TH_ACCESS_READ);
    const uint32_t *group = th_world_map(world, TH_FIELD_GROUP, TH_ACCESS_READ);
    int count = th_world_agent_count(world), found = 0;
    float reach = d->radius + beyond;
    uint32_t groups = (uint32_t)th_scene_view_of(th_world_scene(world))->group_count;
    for (int k = 0; x && y && level && id && group && k < count && found < most; ++k) {
        float dx = x[k] - d->at.x, dy = y[k] - d->at.y;
        if (level[k] != (uint32_t)d->level || dx * dx + dy * dy > reach * reach ||
            (ids && group[k] >= groups)) // scripted ones cannot be taken away
            continue;
        if (places) places[found] = (th_vec2){x[k], y[k]};
        if (ids) ids[found].serial = id[k];
        found++;
    }
    return found;
}

static bool spot_is_free(const th_scene_view *scene, int level, th_vec2 p, float body,
                         const th_vec2 *others, int count) {
    if (scene->levels[level].bounded && (!th_scene_walkable(scene->scene, level, p) ||
                                         th_scene_distance(scene->scene, level, p) < body))
        return false;
    for (int k = 0; k < count; ++k) {
        float dx = others[k].x - p.x, dy = others[k].y - p.y;
        if (dx * dx + dy * dy < 4.0f * body * body) return false;
    }
    return true;
}

// Random spots in the disc; the same for the same world and step.
static int find_spots(const th_scene_view *scene, uint64_t random, const disc *d, th_vec2 *taken,
                      int taken_count, int wanted) {
    const float body = 0.22f;
    int found = 0;
    for (int tries = 0; tries < 60 * wanted && found < wanted; ++tries) {
        float u[2];
        for (int k = 0; k < 2; ++k) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            u[k] = (float)(random >> 40) / 16777216.0f;
        }
        float r = d->radius * sqrtf(u[0]), angle = 6.2831853f * u[1];
        th_vec2 p = {d->at.x + r * cosf(angle), d->at.y + r * sinf(angle)};
        if (!spot_is_free(scene, d->level, p, body, taken, taken_count + found)) continue;
        taken[taken_count + found++] = p;
    }
    return found;
}

// One more polygon, about as large as the disc, for the area of the people added. Caller frees; NULL: no memory.
static char *joined_area(const char *before, const th_scene_view *scene, const disc *d) {
    enum { CORNERS = 12, ROOM = 700 };
    static const char begin[] = "MULTIPOLYGON (";
    size_t length = before ? strlen(before) - 1 : sizeof begin - 1; // without the last bracket
    char *text = malloc(length + ROOM);
    if (!text) return NULL;
    snprintf(text, length + 1, "%s", before ? before : begin);
    length += (size_t)snprintf(text + length, ROOM, "%s((", before ? ", " : "");
    for (int k = 0; k <= CORNERS; ++k) {
        double angle = (k % CORNERS) * (6.283185307179586 / CORNERS), r = (double)d->radius + 0.25;
        length += (size_t)snprintf(text + length, 60, "%s%.3f %.3f", k ? ", " : "",
                                   (double)d->at.x + scene->origin.x + r * cos(angle),
                                   (double)d->at.y + scene->origin.y + r * sin(angle));
    }
    snprintf(text + length, 8, ")))");
    return text;
}

// People added by hand come again at a restart: a group of their own beside the one they joined, with the discs of the
// brush as its area. Other people may stand there at the start.
static void note_added(th_play *play, int group, const disc *d, int count) {
    static const char *const dropped[] = {"count", "density", "positions", "positions_file",
                                          "source"};
    const th_scene_view *scene = th_scene_view_of(th_world_scene(play->world));
    json_t *groups = json_object_get(play->document, "groups"), *element = NULL, *other;
    char id[80];
    size_t k;
    snprintf(id, sizeof id, "%.50s_added_%d", scene->groups[group].id, d->level);
    json_array_foreach(groups, k, other) {
        const char *name = json_string_value(json_object_get(other, "id"));
        if (name && strcmp(name, id) == 0) element = other;
    }
    const char *before =
        json_string_value(json_object_get(json_object_get(element, "area"), "wkt"));
    if (!element) {
        element = json_deep_copy(json_array_get(groups, (size_t)group));
        for (int m = 0; m < 5; ++m) json_object_del(element, dropped[m]);
        json_object_set_new(element, "id", json_string(id));
        json_object_set_new(element, "level", json_string(scene->levels[d->level].id));
        json_array_append_new(groups, element);
    }
    char *area = joined_area(before, scene, d);
    json_int_t all = json_integer_value(json_object_get(element, "count")) + count;
    if (area) json_object_set_new(element, "area", json_pack("{s:s}", "wkt", area));
    json_object_set_new(element, "count", json_integer(all));
    free(area);
}

static th_result spawn(th_studio *studio, int w, int group, const disc *d, const th_vec2 *places,
                       int count, th_error *error) {
    th_agent_def *people = calloc((size_t)count + 1, sizeof *people);
    if (!people) return th_fail(error, TH_NO_MEMORY, "", "no memory for %d people", count);
    for (int k = 0; k < count; ++k) {
        people[k] = th_agent_def_default();
        people[k].position = places[k];
        people[k].level = people[k].goal_level = d->level;
        people[k].group = group;
        people[k].goal = d->at;
    }
    th_result result = th_world_spawn(studio->plays[w].world, people, count, NULL, error);
    if (result == TH_FULL) { // a world with more room
        int lost;
        result = th_play_reload(studio, w, json_deep_copy(studio->plays[w].document), count + 20000,
                                &lost, error);
        if (result == TH_OK)
            result = th_world_spawn(studio->plays[w].world, people, count, NULL, error);
    }
    free(people);
    return result;
}

json_t *th_edit_people(th_studio *studio, int w, const json_t *asked, th_error *error) {
    enum { MOST = 20000 };
    th_play *play = &studio->plays[w];
    const th_scene_view *scene = th_scene_view_of(th_world_scene(play->world));
    disc d;
    double wanted = 10;
    int group = th_request_group(scene, json_object_get(asked, "group"), error);
    if (group < 0 || !get_disc(scene, asked, &d, error)) return NULL;
    if (json_object_get(asked, "count") && !th_request_number(asked, "count", 1, MOST, &wanted))
        return th_request_refuse(error, "count", "give 1 to 20000 people");
    th_vec2 *places = malloc((size_t)th_world_agent_count(play->world) * sizeof *places +
                             (MOST + 1) * sizeof *places);
    if (!places) return th_request_refuse(error, "", "no memory to place people");
    int taken = people_near(play->world, &d, places, NULL, th_world_agent_count(play->world), 1.0f);
    uint64_t random = th_world_step_count(play->world) * 2654435761u +
                      (uint64_t)th_world_agent_count(play->world);
    int found = find_spots(scene, random, &d, places, taken, (int)wanted);
    push_of_people(studio, w, "people");
    th_result result = spawn(studio, w, group, &d, places + taken, found, error);
    if (result == TH_OK && found > 0) note_added(play, group, &d, found);
    free(places);
    if (result != TH_OK) {
        th_undo_drop(&studio->undo);
        return NULL;
    }
    th_undo_clear(&studio->redo);
    play->dirty = true;
    th_studio_tell_edited(studio, w, "people added", "live", 0);
    return json_pack("{s:s,s:i}", "how", "live", "added", found);
}

json_t *th_edit_remove_people(th_studio *studio, int w, const json_t *asked, th_error *error) {
    th_play *play = &studio->plays[w];
    const json_t *person = json_object_get(asked, "person");
    disc d;
    if (!json_is_integer(person) &&
        !get_disc(th_scene_view_of(th_world_scene(play->world)), asked, &d, error))
        return NULL;
    int count = th_world_agent_count(play->world);
    th_agent_id *ids = malloc(((size_t)count + 1) * sizeof *ids);
    if (!ids) return th_request_refuse(error, "", "no memory to remove people");
    ids[0].serial = (uint32_t)json_integer_value(person);
    int found = json_is_integer(person) ? 1 : people_near(play->world, &d, NULL, ids, count, 0.0f);
    push_of_people(studio, w, "people removed");
    th_undo_clear(&studio->redo);
    int removed = th_world_remove(play->world, ids, found);
    free(ids);
    th_studio_tell_edited(studio, w, "people removed", "live", 0);
    return json_pack("{s:s,s:i}", "how", "live", "removed", removed);
}

// The field "stage/model.name" of a model, NULL where there is none or it is the model's own affair.
static const th_field_info *field_called(const char *name) {
    int count;
    const th_model *const *models = th_models(&count);
    for (int m = 0; name && m < count; ++m)
        for (int f = 0; f < models[m]->field_count; ++f) {
            char whole[TH_STUDIO_NAME];
            snprintf(whole, sizeof whole, "%s/%s.%s", th_stage_name(models[m]->stage),
                     models[m]->name, models[m]->fields[f].name);
            if (strcmp(whole, name) == 0 && models[m]->fields[f].hashed)
                return &models[m]->fields[f];
        }
    return NULL;
}

// Writes a field of one agent or, where `group` is not negative, of all agents of the group; returns how many.
static int write_field(th_world *world, int field, bool is_float, int k, int group, double number) {
    int begin = k < 0 ? 0 : k, end = k < 0 ? th_world_agent_count(world) : k + 1, count = 0;
    const uint32_t *groups = th_world_map(world, TH_FIELD_GROUP, TH_ACCESS_READ);
    void *view = th_world_map(world, field, TH_ACCESS_WRITE);
    for (int i = begin; view && groups && i < end; ++i) {
        if (group >= 0 && groups[i] != (uint32_t)group) continue;
        if (is_float)
            ((float *)view)[i] = (float)number;
        else
            ((uint32_t *)view)[i] = (uint32_t)number;
        count++;
    }
    th_world_unmap(world, field);
    th_world_unmap(world, TH_FIELD_GROUP);
    return count;
}

// A value that a model keeps of an agent, personality and panic among them: of one, or of a group. Not in the document.
json_t *th_edit_person(th_studio *studio, int w, const json_t *asked, th_error *error) {
    th_world *world = studio->plays[w].world;
    const char *name = json_string_value(json_object_get(asked, "field"));
    const json_t *value = json_object_get(asked, "value");
    json_int_t person = json_integer_value(json_object_get(asked, "person"));
    const json_t *of = json_object_get(asked, "group");
    const th_field_info *info = field_called(name);
    int field = info ? th_world_field(world, name) : -1, k = -1, group = -1;
    if (of && (group = th_request_group(th_scene_view_of(th_world_scene(world)), of, error)) < 0)
        return NULL;
    if (!of && person > 0 && person <= UINT32_MAX) k = th_studio_find_view(world, (uint32_t)person);
    if (!of && k < 0) return th_request_refuse(error, "person", "there is no such person");
    if (field < 0)
        return th_request_refuse(error, "field", "no model of the world keeps such a value");
    double number = json_number_value(value);
    if (!json_is_number(value) ||
        (info->is_float ? !(fabs(number) <= 1e6) : !(number >= 0 && number < 4e9)))
        return th_request_refuse(error, "value", "is no number that the model can keep");
    push_of_people(studio, w, "person");
    th_undo_clear(&studio->redo);
    int count = write_field(world, field, info->is_float, k, group, number);
    th_studio_tell_edited(studio, w, of ? "group changed" : "person changed", "live", 0);
    return json_pack("{s:s,s:i}", "how", "live", "changed", count);
}
