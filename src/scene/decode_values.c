// Readers of single values, points, shapes and distributions, with their short forms.
// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "formula/math.h"
#include "scene/decode.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CIRCLE_POINTS = 64, ARRAY_LIMIT = 4 * 1024 * 1024 };

th_place th_enter_key(th_decoder *decoder, const char *key) {
    size_t used = strlen(decoder->path);
    snprintf(decoder->path + used, sizeof decoder->path - used, "%s%.60s", used ? "." : "", key);
    return used;
}

th_place th_enter_index(th_decoder *decoder, size_t index) {
    size_t used = strlen(decoder->path);
    snprintf(decoder->path + used, sizeof decoder->path - used, "[%zu]", index);
    return used;
}

void th_leave(th_decoder *decoder, th_place place) { decoder->path[place] = '\0'; }

void th_expected(th_decoder *decoder, const json_t *found, const char *expected) {
    if (decoder->result != TH_OK) return;
    char text[80];
    decoder->result = th_fail(decoder->error, TH_BAD_SCENE, decoder->path, "expected %s, found %s",
                              expected, th_json_found(found, text, sizeof text));
}

void *th_decoder_alloc(th_decoder *decoder, size_t count, size_t size) {
    if (decoder->result != TH_OK) return NULL;
    void *memory = th_arena_alloc(decoder->arena, count, size);
    if (!memory)
        decoder->result = th_fail(decoder->error, TH_NO_MEMORY, decoder->path, "no memory");
    return memory;
}

static void unknown_key(th_decoder *decoder, const char *key, const char *const *known, int count) {
    const char *near = th_nearest_word(key, known, count);
    char list[400] = "";
    for (int i = 0; i < count && !near; ++i) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", known[i]);
    }
    th_place place = th_enter_key(decoder, key);
    decoder->result = th_fail(decoder->error, TH_BAD_SCENE, decoder->path,
                              near ? "unknown key \"%.60s\"; did you mean \"%s\"?"
                                   : "unknown key \"%.60s\"; known here: %s",
                              key, near ? near : list);
    if (decoder->error) {
        // The name is wrong, so the position is that of the name.
        const th_source_map *map = decoder->map;
        th_source_map_locate(map, decoder->error);
        th_source_position(map->text, map->length, th_source_find(map, decoder->path, true),
                           &decoder->error->line, &decoder->error->column);
    }
    th_leave(decoder, place);
}

bool th_check_keys(th_decoder *decoder, json_t *object, const char *const *known, int count) {
    if (decoder->result != TH_OK) return false;
    if (!json_is_object(object)) {
        th_expected(decoder, object, "an object { ... }");
        return false;
    }
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value) {
        bool found = false;
        for (int i = 0; i < count && !found; ++i) found = strcmp(key, known[i]) == 0;
        if (found) continue;
        unknown_key(decoder, key, known, count);
        return false;
    }
    return true;
}

double th_decode_number(th_decoder *decoder, const json_t *value) {
    double number = json_number_value(value);
    if (!json_is_number(value) || !isfinite(number)) {
        th_expected(decoder, value, "a number");
        return 0.0;
    }
    return number;
}

void th_read_number(th_decoder *decoder, json_t *object, const char *key, double *value) {
    json_t *found = json_object_get(object, key);
    if (!found || decoder->result != TH_OK) return;
    th_place place = th_enter_key(decoder, key);
    *value = th_decode_number(decoder, found);
    th_leave(decoder, place);
}

void th_read_integer(th_decoder *decoder, json_t *object, const char *key, int64_t *value) {
    json_t *found = json_object_get(object, key);
    if (!found || decoder->result != TH_OK) return;
    th_place place = th_enter_key(decoder, key);
    double real = json_is_real(found) ? json_real_value(found) : 0.5;
    if (json_is_integer(found))
        *value = (int64_t)json_integer_value(found);
    else if (floor(real) == real && fabs(real) < 1e15)
        *value = (int64_t)real; // 1e6 is fine too
    else
        th_expected(decoder, found, "a whole number");
    th_leave(decoder, place);
}

void th_read_bool(th_decoder *decoder, json_t *object, const char *key, bool *value) {
    json_t *found = json_object_get(object, key);
    if (!found || decoder->result != TH_OK) return;
    th_place place = th_enter_key(decoder, key);
    if (json_is_boolean(found))
        *value = json_is_true(found);
    else
        th_expected(decoder, found, "true or false");
    th_leave(decoder, place);
}

const char *th_decode_string(th_decoder *decoder, const json_t *value, const char *expected) {
    if (!json_is_string(value)) {
        th_expected(decoder, value, expected);
        return NULL;
    }
    return json_string_value(value);
}

void th_read_string(th_decoder *decoder, json_t *object, const char *key, const char **value) {
    json_t *found = json_object_get(object, key);
    if (!found || decoder->result != TH_OK) return;
    th_place place = th_enter_key(decoder, key);
    *value = th_decode_string(decoder, found, "a text");
    th_leave(decoder, place);
}

static void read_numbers(th_decoder *decoder, const json_t *array, const char *expected, int count,
                         double *numbers) {
    for (int i = 0; i < count; ++i) numbers[i] = 0.0;
    if (!json_is_array(array) || json_array_size(array) != (size_t)count) {
        th_expected(decoder, array, expected);
        return;
    }
    for (int i = 0; i < count; ++i) {
        th_place place = th_enter_index(decoder, (size_t)i);
        numbers[i] = th_decode_number(decoder, json_array_get(array, (size_t)i));
        th_leave(decoder, place);
    }
}

th_point th_decode_point(th_decoder *decoder, const json_t *value) {
    double numbers[2];
    read_numbers(decoder, value, "a point [x, y]", 2, numbers);
    th_point point = {numbers[0], numbers[1]};
    return point;
}

const th_point *th_decode_points(th_decoder *decoder, const json_t *array, int *count) {
    *count = 0;
    if (!json_is_array(array) || json_array_size(array) > ARRAY_LIMIT) {
        th_expected(decoder, array, "an array of points [[x, y], ...]");
        return NULL;
    }
    size_t size = json_array_size(array);
    th_point *points = th_decoder_alloc(decoder, size, sizeof *points);
    for (size_t i = 0; points && i < size && decoder->result == TH_OK; ++i) {
        th_place place = th_enter_index(decoder, i);
        points[i] = th_decode_point(decoder, json_array_get(array, i));
        th_leave(decoder, place);
    }
    if (decoder->result == TH_OK) *count = (int)size;
    return points;
}

void th_read_line(th_decoder *decoder, json_t *object, const char *key, th_point line[2]) {
    json_t *found = json_object_get(object, key);
    if (decoder->result != TH_OK) return;
    if (!found) {
        char expected[80];
        snprintf(expected, sizeof expected, "a member \"%s\": [[x, y], [x, y]]", key);
        th_expected(decoder, object, expected);
        return;
    }
    th_place place = th_enter_key(decoder, key);
    int count = 0;
    if (json_array_size(found) != 2) th_expected(decoder, found, "a line [[x, y], [x, y]]");
    const th_point *points =
        decoder->result == TH_OK ? th_decode_points(decoder, found, &count) : NULL;
    if (count == 2) memcpy(line, points, 2 * sizeof *points);
    th_leave(decoder, place);
}

static void decode_rectangle(th_decoder *decoder, const json_t *value, th_shape *shape) {
    double n[4];
    read_numbers(decoder, value, "a rectangle [x0, y0, x1, y1]", 4, n);
    th_point *points = th_decoder_alloc(decoder, 4, sizeof *points);
    if (!points) return;
    const th_point corners[4] = {{n[0], n[1]}, {n[2], n[1]}, {n[2], n[3]}, {n[0], n[3]}};
    memcpy(points, corners, sizeof corners);
    shape->points = points;
    shape->point_count = 4;
}

static void decode_circle(th_decoder *decoder, const json_t *value, th_shape *shape) {
    double n[3];
    read_numbers(decoder, value, "a circle [x, y, radius]", 3, n);
    if (decoder->result == TH_OK && !(n[2] > 0.0)) th_expected(decoder, value, "a radius above 0");
    th_point *points = th_decoder_alloc(decoder, CIRCLE_POINTS, sizeof *points);
    if (!points) return;
    for (int i = 0; i < CIRCLE_POINTS; ++i) {
        double sine, cosine;
        th_sincos_turn((double)i / CIRCLE_POINTS, &sine, &cosine);
        points[i].x = n[0] + n[2] * cosine;
        points[i].y = n[1] + n[2] * sine;
    }
    shape->points = points;
    shape->point_count = CIRCLE_POINTS;
}

static void decode_shape_object(th_decoder *decoder, json_t *value, th_shape *shape) {
    if (!TH_CHECK_KEYS(decoder, value, "points", "wkt", "file", "rect", "circle", "corners"))
        return;
    bool drawn = json_object_get(value, "corners") && json_object_get(value, "file");
    if (json_object_size(value) != (drawn ? 2 : 1) ||
        (!drawn && json_object_get(value, "corners"))) {
        th_expected(decoder, value,
                    "exactly one of \"points\", \"wkt\", \"file\", \"rect\" and \"circle\", with "
                    "\"corners\" "
                    "beside the \"file\" of a picture");
        return;
    }
    if (drawn) th_read_line(decoder, value, "corners", shape->corners);
    const char *key = drawn ? "file" : json_object_iter_key(json_object_iter(value));
    json_t *member = json_object_get(value, key);
    th_place place = th_enter_key(decoder, key);
    if (strcmp(key, "points") == 0) {
        shape->points = th_decode_points(decoder, member, &shape->point_count);
    } else if (strcmp(key, "wkt") == 0) {
        shape->wkt = th_decode_string(decoder, member, "a WKT text");
    } else if (strcmp(key, "file") == 0) {
        shape->file =
            th_decode_string(decoder, member, "the name of a .wkt, .geojson or .png file");
    } else if (strcmp(key, "rect") == 0) {
        decode_rectangle(decoder, member, shape);
    } else {
        decode_circle(decoder, member, shape);
    }
    th_leave(decoder, place);
}

static void decode_shape(th_decoder *decoder, json_t *value, th_shape *shape) {
    if (json_is_string(value))
        shape->wkt = json_string_value(value);
    else if (json_is_array(value))
        shape->points = th_decode_points(decoder, value, &shape->point_count);
    else if (json_is_object(value))
        decode_shape_object(decoder, value, shape);
    else
        th_expected(decoder, value,
                    "a shape: points [[x, y], ...], a WKT text or {\"rect\": [x0, y0, x1, y1]}");
}

void th_read_shape(th_decoder *decoder, json_t *object, const char *key, th_shape *shape) {
    json_t *found = json_object_get(object, key);
    if (!found || decoder->result != TH_OK) return;
    th_place place = th_enter_key(decoder, key);
    decode_shape(decoder, found, shape);
    th_leave(decoder, place);
}

// [[0,0],[1,0],...] is one ring; [[[0,0],...], {...}, "POLYGON ..."] are several shapes.
static bool is_point_list(const json_t *array) {
    const json_t *first = json_array_get(array, 0);
    return json_is_array(first) && json_is_number(json_array_get(first, 0));
}

void th_read_shapes(th_decoder *decoder, json_t *object, const char *key, const th_shape **shapes,
                    int *count) {
    json_t *found = json_object_get(object, key);
    if (!found || decoder->result != TH_OK) return;
    th_place place = th_enter_key(decoder, key);
    bool several = json_is_array(found) && !is_point_list(found);
    size_t size = several ? json_array_size(found) : 1;
    th_shape *list = th_decoder_alloc(decoder, size, sizeof *list);
    for (size_t i = 0; list && i < size && decoder->result == TH_OK; ++i) {
        th_place inner = several ? th_enter_index(decoder, i) : strlen(decoder->path);
        decode_shape(decoder, several ? json_array_get(found, i) : found, &list[i]);
        th_leave(decoder, inner);
    }
    *shapes = list;
    *count = list ? (int)size : 0;
    th_leave(decoder, place);
}

static const struct {
    const char *key;
    th_distribution_kind kind;
    const char *expected;
} distributions[] = {
    {"uniform", TH_DISTRIBUTION_UNIFORM, "[lowest, highest]"},
    {"normal", TH_DISTRIBUTION_NORMAL, "[mean, standard deviation]"},
    {"lognormal", TH_DISTRIBUTION_LOGNORMAL, "[mean, standard deviation] of the logarithm"},
    {"gamma", TH_DISTRIBUTION_GAMMA, "[shape, scale]"},
    {"weibull", TH_DISTRIBUTION_WEIBULL, "[scale, shape]"},
};

static void decode_distribution(th_decoder *decoder, json_t *value, th_distribution *distribution) {
    memset(distribution, 0, sizeof *distribution);
    if (json_is_number(value)) {
        distribution->a = th_decode_number(decoder, value);
        return;
    }
    if (!json_is_object(value)) {
        th_expected(decoder, value,
                    "a number or a distribution such as {\"normal\": [1.34, 0.26]}");
        return;
    }
    if (!TH_CHECK_KEYS(decoder, value, "uniform", "normal", "lognormal", "gamma", "weibull", "min",
                       "max"))
        return;
    int given = 0;
    for (size_t i = 0; i < sizeof distributions / sizeof distributions[0]; ++i) {
        json_t *numbers = json_object_get(value, distributions[i].key);
        if (!numbers) continue;
        ++given;
        th_place place = th_enter_key(decoder, distributions[i].key);
        double n[2];
        read_numbers(decoder, numbers, distributions[i].expected, 2, n);
        th_leave(decoder, place);
        distribution->kind = distributions[i].kind;
        distribution->a = n[0];
        distribution->b = n[1];
    }
    if (given != 1)
        th_expected(
            decoder, value,
            "exactly one of \"uniform\", \"normal\", \"lognormal\", \"gamma\" and \"weibull\"");
    distribution->min = -HUGE_VAL; // not given: the property's own range, see compile_groups.c
    distribution->max = HUGE_VAL;
    th_read_number(decoder, value, "min", &distribution->min);
    th_read_number(decoder, value, "max", &distribution->max);
}

void th_read_distribution(th_decoder *decoder, json_t *object, const char *key,
                          th_distribution *distribution) {
    json_t *found = json_object_get(object, key);
    if (!found || decoder->result != TH_OK) return;
    th_place place = th_enter_key(decoder, key);
    decode_distribution(decoder, found, distribution);
    th_leave(decoder, place);
}

void *th_read_array(th_decoder *decoder, json_t *object, const char *key, size_t size,
                    th_read_fn *read, int *count) {
    *count = 0;
    json_t *array = json_object_get(object, key);
    if (!array || decoder->result != TH_OK) return NULL;
    th_place place = th_enter_key(decoder, key);
    size_t length = json_array_size(array);
    char *items = NULL;
    if (!json_is_array(array) || length > ARRAY_LIMIT)
        th_expected(decoder, array, "an array [ ... ]");
    else
        items = th_decoder_alloc(decoder, length, size);
    for (size_t i = 0; items && i < length && decoder->result == TH_OK; ++i) {
        th_place inner = th_enter_index(decoder, i);
        read(decoder, json_array_get(array, i), items + i * size);
        th_leave(decoder, inner);
    }
    th_leave(decoder, place);
    if (items && decoder->result == TH_OK) *count = (int)length;
    return items;
}
