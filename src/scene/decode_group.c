// Groups: numbers of people, times, routes and models. SPDX-License-Identifier: Apache-2.0
#include "registry/models.h"
#include "scene/decode.h"
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

// Those of the engine and those of models' sections.
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
}
