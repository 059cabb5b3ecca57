// Groups: numbers of people, times, routes and models. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "registry/models.h"
#include "scene/decode.h"
#include "scene/scene.h"
#include <string.h>

static void read_arrival(th_decoder *decoder, json_t *value, void *item) {
    th_arrival *arrival = item;
    if (!json_is_array(value) || json_array_size(value) != 2 ||
        !json_is_integer(json_array_get(value, 1)) ||
        json_integer_value(json_array_get(value, 1)) > 100000000 ||
        json_integer_value(json_array_get(value, 1)) < -1) {
        th_expected(decoder, value, "a row [time, whole number of people]");
        return;
    }
    arrival->time = th_decode_number(decoder, json_array_get(value, 0));
    arrival->count = (int)json_integer_value(json_array_get(value, 1));
}

static void read_source(th_decoder *decoder, json_t *object, th_group_def *group) {
    json_t *source = json_object_get(object, "source");
    if (!source) return;
    th_place place = th_enter_key(decoder, "source");
    if (TH_CHECK_KEYS(decoder, source, "rate", "from", "until", "timetable")) {
        if (!json_object_get(source, "rate") == !json_object_get(source, "timetable"))
            th_expected(decoder, source, "either \"rate\" or \"timetable\"");
        th_read_number(decoder, source, "rate", &group->rate);
        th_read_number(decoder, source, "from", &group->rate_start);
        th_read_number(decoder, source, "until", &group->rate_end);
        group->arrivals = th_read_array(decoder, source, "timetable", sizeof(th_arrival),
                                        read_arrival, &group->arrival_count);
    }
    th_leave(decoder, place);
}

// One leg: "a" or ["a", "b"].
static void read_leg(th_decoder *decoder, json_t *value, void *item) {
    th_route_step *step = item;
    bool several = json_is_array(value);
    size_t size = several ? json_array_size(value) : 1;
    if (size == 0) th_expected(decoder, value, "the id of a goal or an array of ids");
    const char **goals = th_decoder_alloc(decoder, size, sizeof *goals);
    for (size_t i = 0; goals && i < size && decoder->result == TH_OK; ++i)
        goals[i] = th_decode_string(decoder, several ? json_array_get(value, i) : value,
                                    "the id of a goal or an array of ids");
    step->goals = goals;
    step->goal_count = decoder->result == TH_OK ? (int)size : 0;
}

static void read_route(th_decoder *decoder, json_t *object, th_group_def *group) {
    json_t *to = json_object_get(object, "to");
    if (to && json_object_get(object, "route")) {
        th_place both = th_enter_key(decoder, "to");
        th_expected(decoder, to, "either \"to\" or \"route\", not both");
        th_leave(decoder, both);
    }
    if (!to) {
        group->route = th_read_array(decoder, object, "route", sizeof(th_route_step), read_leg,
                                     &group->route_count);
        return;
    }
    th_place place = th_enter_key(decoder, "to");
    th_route_step *step = th_decoder_alloc(decoder, 1, sizeof *step);
    if (step) read_leg(decoder, to, step);
    group->route = step;
    group->route_count = step ? 1 : 0;
    th_leave(decoder, place);
}

static void read_own_goal(th_decoder *decoder, json_t *object, th_group_def *group) {
    json_t *goal = json_object_get(object, "own_goal");
    if (!goal) return;
    static const char expected[] =
        "\"mirror_x\", \"opposite\", {\"in\": shape}, {\"mirror_x\": [x, y]} "
        "or {\"opposite\": [x, y]}";
    th_place place = th_enter_key(decoder, "own_goal");
    const char *word = json_string_value(goal);
    if (json_is_object(goal) && TH_CHECK_KEYS(decoder, goal, "in", "mirror_x", "opposite")) {
        word = json_object_iter_key(json_object_iter(goal));
        if (json_object_size(goal) != 1) word = NULL;
        json_t *centre = word && strcmp(word, "in") != 0 ? json_object_get(goal, word) : NULL;
        if (centre) {
            th_place inner = th_enter_key(decoder, word);
            group->own_goal_centre = th_decode_point(decoder, centre);
            th_leave(decoder, inner);
        }
    }
    if (word && strcmp(word, "mirror_x") == 0)
        group->own_goal = TH_OWN_GOAL_MIRROR_X;
    else if (word && strcmp(word, "opposite") == 0)
        group->own_goal = TH_OWN_GOAL_OPPOSITE;
    else if (word && json_is_object(goal))
        group->own_goal = TH_OWN_GOAL_IN_AREA;
    else
        th_expected(decoder, goal, expected);
    if (group->own_goal == TH_OWN_GOAL_IN_AREA)
        th_read_shape(decoder, goal, "in", &group->own_goal_area);
    th_leave(decoder, place);
}

static void read_rigid(th_decoder *decoder, json_t *object, th_group_def *group) {
    bool rigid = false;
    th_read_bool(decoder, object, "rigid", &rigid);
    if (json_object_get(object, "rigid")) group->rigid = rigid ? TH_RIGID_ALWAYS : TH_RIGID_NEVER;
}

static void read_recording(th_decoder *decoder, json_t *object, th_group_def *group) {
    static const char *const keys[] = {"file", "time", "frame", "entries", "fps", "unit"};
    th_recording_def *recording = &group->recording;
    json_t *found = json_object_get(object, "recording");
    bool entries = true;
    if (!found || decoder->result != TH_OK) return;
    th_place place = th_enter_key(decoder, "recording");
    if (!json_is_object(found) || !json_is_string(json_object_get(found, "file")))
        th_expected(decoder, found, "{\"file\": recording, \"time\": seconds}");
    else if (th_check_keys(decoder, found, keys, 6)) {
        th_read_string(decoder, found, "file", &recording->file);
        th_read_number(decoder, found, "time", &recording->time);
        th_read_integer(decoder, found, "frame", &recording->frame);
        th_read_bool(decoder, found, "entries", &entries);
        th_read_number(decoder, found, "fps", &recording->fps);
        th_read_number(decoder, found, "unit", &recording->unit);
        recording->no_entries = !entries;
    }
    th_leave(decoder, place);
}

static void read_params(th_decoder *decoder, json_t *object, th_model_def *model) {
    th_param *params = th_decoder_alloc(decoder, json_object_size(object), sizeof *params);
    if (!params) return;
    const char *key;
    json_t *value;
    int count = 0;
    json_object_foreach(object, key, value) {
        if (strcmp(key, "model") == 0 || strcmp(key, "preset") == 0) continue;
        th_place place = th_enter_key(decoder, key);
        params[count].name = key;
        params[count++].value = th_decode_number(decoder, value);
        th_leave(decoder, place);
    }
    model->params = params;
    model->param_count = count;
}

static void decode_model(th_decoder *decoder, json_t *found, th_model_def *model) {
    if (json_is_string(found)) {
        model->name = json_string_value(found);
    } else if (json_is_object(found)) {
        th_read_string(decoder, found, "model", &model->name);
        th_read_string(decoder, found, "preset", &model->preset);
        read_params(decoder, found, model);
    } else {
        th_expected(decoder, found,
                    "the name of a model or {\"model\": name, parameter: value, ...}");
    }
}

static void read_model(th_decoder *decoder, json_t *object, const char *key, th_model_def *model) {
    json_t *found = json_object_get(object, key);
    if (!found || decoder->result != TH_OK) return;
    th_place place = th_enter_key(decoder, key);
    decode_model(decoder, found, model);
    th_leave(decoder, place);
}

// One behaviour, or a list of them.
static void read_behaviours(th_decoder *decoder, json_t *object, th_group_def *group) {
    json_t *found = json_object_get(object, "behave");
    if (!found || decoder->result != TH_OK) return;
    th_place place = th_enter_key(decoder, "behave");
    size_t count = json_is_array(found) ? json_array_size(found) : 1;
    if (count == 0) th_expected(decoder, found, "a behaviour or a list of at least one");
    th_model_def *list = th_decoder_alloc(decoder, count + 1, sizeof *list);
    for (size_t k = 0; list && k < count && decoder->result == TH_OK; ++k) {
        if (!json_is_array(found)) {
            decode_model(decoder, found, &list[k]);
            break;
        }
        th_place inner = th_enter_index(decoder, k);
        decode_model(decoder, json_array_get(found, k), &list[k]);
        th_leave(decoder, inner);
    }
    group->behave = list;
    group->behave_count = (int)count;
    th_leave(decoder, place);
}

// ---- kinds of people

static const char *const *read_ids(th_decoder *decoder, json_t *object, const char *key,
                                   int *count) {
    json_t *found = json_object_get(object, key);
    *count = 0;
    if (!found || decoder->result != TH_OK) return NULL;
    th_place place = th_enter_key(decoder, key);
    if (!json_is_array(found)) th_expected(decoder, found, "a list of ids");
    size_t size = json_array_size(found);
    const char **ids = th_decoder_alloc(decoder, size + 1, sizeof *ids);
    for (size_t k = 0; ids && k < size && decoder->result == TH_OK; ++k)
        ids[k] = th_decode_string(decoder, json_array_get(found, k), "an id");
    if (decoder->result == TH_OK) *count = (int)size;
    th_leave(decoder, place);
    return ids;
}

// "adult", or {"adult": 0.9, "wheelchair": 0.1}.
static void read_shares(th_decoder *decoder, json_t *object, th_group_def *group) {
    json_t *found = json_object_get(object, "profiles");
    if (!found || decoder->result != TH_OK) return;
    th_place place = th_enter_key(decoder, "profiles");
    size_t size = json_is_string(found) ? 1 : json_object_size(found);
    if (size == 0) th_expected(decoder, found, "the id of a profile or {\"id\": share, ...}");
    th_share_def *shares = th_decoder_alloc(decoder, size + 1, sizeof *shares);
    const char *key;
    json_t *value;
    if (shares && json_is_string(found)) {
        shares[group->share_count++] = (th_share_def){json_string_value(found), 1.0};
    } else if (shares) {
        json_object_foreach(found, key, value) {
            th_place inner = th_enter_key(decoder, key);
            shares[group->share_count++] = (th_share_def){key, th_decode_number(decoder, value)};
            th_leave(decoder, inner);
        }
    }
    group->shares = shares;
    th_leave(decoder, place);
}

// Keys of profiles that replace values of groups.
static const char *const shared_keys[] = {"radius", "speed", "premovement", "mass",
                                          "rigid",  "up",    "down",        "move"};
enum { SHARED_KEYS = sizeof shared_keys / sizeof *shared_keys };

static bool replaces(const th_profile_def *profile, int key) {
    const bool given[SHARED_KEYS] = {
        profile->has_radius, profile->has_speed, profile->has_premovement, profile->has_mass,
        profile->has_rigid,  profile->up > 0.0,  profile->down > 0.0,      profile->move.name};
    return given[key];
}

static void check_shadowed_group(th_decoder *decoder, const json_t *value, const th_scene_def *def,
                                 const th_group_def *group) {
    for (int key = 0; key < SHARED_KEYS && decoder->result == TH_OK; ++key) {
        const json_t *found = json_object_get(value, shared_keys[key]);
        bool all = found != NULL;
        for (int k = 0; k < group->share_count && all; ++k) {
            th_profile_def profile;
            th_error ignored = {0};
            th_result result =
                th_profile_whole(def, group->shares[k].profile, decoder->path, &profile, &ignored);
            all = result == TH_OK && replaces(&profile, key);
        }
        if (!all) continue;
        th_place place = th_enter_key(decoder, shared_keys[key]);
        decoder->result =
            th_fail(decoder->error, TH_BAD_SCENE, decoder->path,
                    "%s has no effect: every profile of the group gives its own; take "
                    "it away, or define profiles without it",
                    shared_keys[key]);
        th_leave(decoder, place);
    }
}

void th_check_shadowed(th_decoder *decoder, json_t *root, const th_scene_def *def) {
    json_t *list = json_object_get(root, "groups");
    th_place place = th_enter_key(decoder, "groups");
    for (int g = 0; g < def->group_count && decoder->result == TH_OK; ++g) {
        if (def->groups[g].share_count == 0) continue;
        th_place inner = th_enter_index(decoder, (size_t)g);
        check_shadowed_group(decoder, json_array_get(list, (size_t)g), def, &def->groups[g]);
        th_leave(decoder, inner);
    }
    th_leave(decoder, place);
}

void th_decode_profile(th_decoder *decoder, json_t *value, th_profile_def *profile) {
    *profile = th_profile_def_default();
    if (!TH_CHECK_KEYS(decoder, value, "id", "like", "radius", "speed", "premovement", "mass",
                       "rigid", "up", "down", "move", "avoid"))
        return;
    th_group_def like_group = th_group_def_default();
    th_read_string(decoder, value, "id", &profile->id);
    th_read_string(decoder, value, "like", &profile->like);
    th_read_distribution(decoder, value, "radius", &profile->radius);
    th_read_distribution(decoder, value, "speed", &profile->speed);
    th_read_distribution(decoder, value, "premovement", &profile->premovement);
    th_read_distribution(decoder, value, "mass", &profile->mass);
    th_read_number(decoder, value, "up", &profile->up);
    th_read_number(decoder, value, "down", &profile->down);
    for (int k = 0; k < 2; ++k) {
        const char *key = k == 0 ? "up" : "down";
        const double factor = k == 0 ? profile->up : profile->down;
        th_place place = th_enter_key(decoder, key);
        if (json_object_get(value, key) && !(factor > 0.0))
            th_expected(decoder, json_object_get(value, key), "a factor above 0");
        th_leave(decoder, place);
    }
    read_rigid(decoder, value, &like_group);
    profile->rigid = like_group.rigid;
    profile->has_radius = json_object_get(value, "radius") != NULL;
    profile->has_speed = json_object_get(value, "speed") != NULL;
    profile->has_premovement = json_object_get(value, "premovement") != NULL;
    profile->has_mass = json_object_get(value, "mass") != NULL;
    profile->has_rigid = json_object_get(value, "rigid") != NULL;
    read_model(decoder, value, "move", &profile->move);
    profile->avoid = read_ids(decoder, value, "avoid", &profile->avoid_count);
}

// Checks the keys against those of the engine and those of models' sections.
static bool check_group_keys(th_decoder *decoder, json_t *value) {
    int own;
    const char *const *keys = th_group_keys(&own);
    const char *known[TH_OWN_KEY_MAX + TH_SECTION_MAX];
    memcpy(known, keys, (size_t)own * sizeof *keys);
    return th_check_keys(decoder, value, known, own + th_section_group_keys(known + own));
}

void th_decode_group(th_decoder *decoder, json_t *value, th_group_def *group) {
    *group = th_group_def_default();
    if (!check_group_keys(decoder, value)) return;
    th_read_string(decoder, value, "id", &group->id);
    th_read_string(decoder, value, "level", &group->level);
    th_read_shape(decoder, value, "area", &group->area);
    th_read_integer(decoder, value, "count", &group->count);
    if (decoder->result == TH_OK && json_object_get(value, "count") && group->count < 0) {
        th_place place = th_enter_key(decoder, "count");
        th_expected(decoder, json_object_get(value, "count"), "a number of people, 0 or more");
        th_leave(decoder, place);
    }
    th_read_number(decoder, value, "density", &group->density);
    th_read_string(decoder, value, "positions_file", &group->positions_file);
    json_t *positions = json_object_get(value, "positions");
    if (positions && decoder->result == TH_OK) {
        th_place place = th_enter_key(decoder, "positions");
        group->positions = th_decode_points(decoder, positions, &group->position_count);
        th_leave(decoder, place);
    }
    read_source(decoder, value, group);
    read_recording(decoder, value, group);
    th_read_distribution(decoder, value, "radius", &group->radius);
    th_read_distribution(decoder, value, "speed", &group->speed);
    th_read_distribution(decoder, value, "premovement", &group->premovement);
    th_read_distribution(decoder, value, "mass", &group->mass);
    read_rigid(decoder, value, group);
    read_route(decoder, value, group);
    read_own_goal(decoder, value, group);
    th_decode_weights(decoder, value, group);
    read_behaviours(decoder, value, group);
    read_model(decoder, value, "plan", &group->plan);
    read_model(decoder, value, "filter", &group->filter);
    read_model(decoder, value, "move", &group->move);
    th_read_string(decoder, value, "leader", &group->leader);
    th_read_number(decoder, value, "up", &group->up);
    th_read_number(decoder, value, "down", &group->down);
    group->avoid = read_ids(decoder, value, "avoid", &group->avoid_count);
    read_shares(decoder, value, group);
}
