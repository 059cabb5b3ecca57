// Overrides: "groups[0].count=400", "groups.0.count=400", "groups.visitors.count=400". The path walks
// the tree of the file; a member that the file leaves out may be set (the decoder then checks its name),
// an element of an array must be there. "doors.main.width=1.2" gives a line of that length about its
// own middle, so that a sweep can vary a width. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "scene/source_map.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD = 64, DEPTH = 32 };

typedef struct walk {
    const char *text; // the whole override
    json_t *node;     // where the walk has come
    char path[160];   // canonical path of node
    th_error *error;
} walk;

static void extend(walk *w, const char *format, const char *word, size_t index) {
    size_t used = strlen(w->path);
    if (format[0] == '[')
        snprintf(w->path + used, sizeof w->path - used, "[%zu]", index);
    else
        snprintf(w->path + used, sizeof w->path - used, "%s%s", used ? "." : "", word);
}

// The next word of a path: the first one, ".word" or "[word]". False: the path is not of this form.
static bool next_word(const char **at, const char *end, bool first, char *word) {
    char opening = first ? '\0' : **at;
    if (!first && opening != '.' && opening != '[') return false;
    *at += !first;
    size_t length = 0;
    for (; *at < end && !strchr(".[]", **at); ++*at) {
        if (**at == ' ') continue; // "count = 4" is fine
        if (length + 1 >= WORD) return false;
        word[length++] = **at;
    }
    word[length] = '\0';
    if (opening == '[') {
        if (*at == end || **at != ']') return false;
        ++*at;
    }
    while (*at < end && **at == ' ') ++*at;
    return length > 0;
}

static th_result no_element(walk *w, const char *word) {
    enum { MOST = 64 };
    const char *ids[MOST];
    int count = 0;
    size_t size = json_array_size(w->node);
    for (size_t i = 0; i < size && count < MOST; ++i) {
        const char *id = json_string_value(json_object_get(json_array_get(w->node, i), "id"));
        if (id) ids[count++] = id;
    }
    const char *near = count ? th_nearest_word(word, ids, count) : NULL;
    return th_fail(
        w->error, TH_BAD_SCENE, w->path,
        "the override %.100s names no element of %.60s: it has %zu (counted from 0)%s%.40s%s",
        w->text, w->path, size, near ? "; did you mean \"" : "", near ? near : "",
        near ? "\"?" : "");
}

static th_result find_element(walk *w, const char *word, size_t *index) {
    size_t size = json_array_size(w->node);
    char *rest;
    unsigned long number = strtoul(word, &rest, 10);
    if (word[0] >= '0' && word[0] <= '9' && *rest == '\0') {
        *index = number;
        return number < size ? TH_OK : no_element(w, word);
    }
    for (*index = 0; *index < size; ++*index) {
        json_t *element = json_array_get(w->node, *index);
        const char *id = json_string_value(json_object_get(element, "id"));
        if (!id) id = json_string_value(json_object_get(element, "model"));
        if (!id) id = json_string_value(element);
        if (id && strcmp(id, word) == 0) return TH_OK;
    }
    return no_element(w, word);
}

// "move": "orca" stands for {"model": "orca"}, so a parameter may be set on top of it.
static bool model_key(const char *key) {
    return strcmp(key, "behave") == 0 || strcmp(key, "plan") == 0 || strcmp(key, "filter") == 0 ||
           strcmp(key, "move") == 0;
}

static json_t *member_for_walk(json_t *object, const char *key) {
    json_t *member = json_object_get(object, key);
    if (member && json_is_string(member) && model_key(key)) {
        json_t *model = json_object();
        json_object_set(model, "model", member);
        json_object_set_new(object, key, model);
        return model;
    }
    if (!member) {
        member = json_object();
        if (json_object_set_new(object, key, member) != 0) return NULL;
    }
    return member;
}

// The same in a list of behaviours.
static json_t *element_for_walk(const walk *w, size_t index) {
    json_t *element = json_array_get(w->node, index);
    if (json_is_string(element) && strstr(w->path, ".behave[")) {
        json_t *model = json_object();
        json_object_set(model, "model", element);
        json_array_set_new(w->node, index, model);
    }
    return json_array_get(w->node, index);
}

// Two points of two numbers each.
static bool read_line(const json_t *line, double *ends) {
    if (json_array_size(line) != 2) return false;
    for (size_t i = 0; i < 4; ++i) {
        const json_t *point = json_array_get(line, i / 2);
        const json_t *number = json_array_get(point, i % 2);
        if (json_array_size(point) != 2 || !json_is_number(number)) return false;
        ends[i] = json_number_value(number);
    }
    return true;
}

// The line of a door, an exit or a measurement keeps its middle and direction and gets this length.
static th_result set_width(walk *w, const json_t *value) {
    double ends[4];
    extend(w, ".", "line", 0);
    if (!json_is_number(value) || !(json_number_value(value) > 0)) {
        char found[80];
        return th_fail(w->error, TH_BAD_SCENE, w->path,
                       "the override %.100s: a width is a number above 0 in metres, found %s",
                       w->text, th_json_found(value, found, sizeof found));
    }
    bool good = read_line(json_object_get(w->node, "line"), ends);
    double dx = good ? ends[2] - ends[0] : 0, dy = good ? ends[3] - ends[1] : 0;
    double length = hypot(dx, dy);
    if (!(length > 0))
        return th_fail(w->error, TH_BAD_SCENE, w->path,
                       "the override %.100s needs a line of two points apart, [[x, y], [x, y]]",
                       w->text);
    double half = 0.5 * json_number_value(value) / length;
    double x = 0.5 * (ends[0] + ends[2]), y = 0.5 * (ends[1] + ends[3]);
    json_t *line =
        json_pack("[[f,f],[f,f]]", x - half * dx, y - half * dy, x + half * dx, y + half * dy);
    if (!line || json_object_set_new(w->node, "line", line) != 0)
        return th_fail(w->error, TH_NO_MEMORY, w->path, "no memory for an override");
    w->node = json_object_get(w->node, "line");
    return TH_OK;
}

static th_result enter(walk *w, const char *word, bool last, json_t *value) {
    if (json_is_array(w->node)) {
        size_t index = 0;
        th_result result = find_element(w, word, &index);
        if (result != TH_OK) return result;
        extend(w, "[", word, index);
        if (last && json_array_set(w->node, index, value) != 0)
            return th_fail(w->error, TH_NO_MEMORY, w->path, "no memory for an override");
        w->node = last ? json_array_get(w->node, index) : element_for_walk(w, index);
        return TH_OK;
    }
    if (!json_is_object(w->node)) {
        char found[80];
        return th_fail(w->error, TH_BAD_SCENE, w->path,
                       "the override %.100s goes into %.60s, which is %s and has no members",
                       w->text, w->path, th_json_found(w->node, found, sizeof found));
    }
    if (last && strcmp(word, "width") == 0 && json_object_get(w->node, "line"))
        return set_width(w, value);
    extend(w, ".", word, 0);
    if (last && json_object_set(w->node, word, value) != 0)
        return th_fail(w->error, TH_BAD_SCENE, w->path, "the override %.100s is not valid text",
                       w->text);
    w->node = last ? json_object_get(w->node, word) : member_for_walk(w->node, word);
    return w->node ? TH_OK : th_fail(w->error, TH_NO_MEMORY, w->path, "no memory for an override");
}

static json_t *value_of(const char *text) {
    while (*text == ' ') ++text;
    json_t *value = json_loads(text, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
    return value ? value : json_string(text);
}

static th_result apply(json_t *root, const char *text, th_source_override *noted, th_error *error) {
    walk w = {text, root, "", error};
    const char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return th_fail(error, TH_BAD_SCENE, "",
                       "the override \"%.100s\" must read path=value, e.g. groups[0].count=400",
                       text);
    json_t *value = value_of(equals + 1);
    if (!value)
        return th_fail(error, TH_BAD_SCENE, "", "the override \"%.100s\" is not valid text", text);
    th_result result = TH_OK;
    const char *at = text;
    char word[WORD];
    int depth = 0;
    do {
        if (!next_word(&at, equals, depth == 0, word) || ++depth > DEPTH)
            result = th_fail(error, TH_BAD_SCENE, w.path,
                             "the path of the override \"%.100s\" is not understood; "
                             "e.g. groups[0].count=400",
                             text);
        else
            result = enter(&w, word, at == equals, value);
    } while (result == TH_OK && at < equals);
    json_decref(value);
    snprintf(noted->path, sizeof noted->path, "%s", w.path);
    return result;
}

th_result th_json_override(json_t *root, th_source_map *map, const char *const *overrides,
                           int count, th_error *error) {
    for (int i = 0; i < count; ++i) {
        th_source_override *noted = &map->overrides[map->override_count];
        th_result result = apply(root, overrides[i], noted, error);
        if (result != TH_OK) return result;
        noted->text = th_arena_string(&map->arena, overrides[i]);
        if (!noted->text) return th_fail(error, TH_NO_MEMORY, "", "no memory for an override");
        ++map->override_count;
    }
    return TH_OK;
}
