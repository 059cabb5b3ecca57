// A small tokenizer that follows one JSON path through a text known to be valid JSON with comments.
// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "scene/decode.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

th_source_map *th_source_map_create(const th_memory *memory, const char *text, size_t length,
                                    const char *file, int override_capacity) {
    th_source_map *map = th_alloc(memory, 1, sizeof *map);
    if (!map) return NULL;
    map->memory = *memory;
    map->arena.memory = *memory;
    map->length = length;
    snprintf(map->file, sizeof map->file, "%s", file ? file : "");
    char *copy = th_arena_alloc(&map->arena, length + 1, 1);
    map->overrides =
        th_arena_alloc(&map->arena, (size_t)override_capacity + 1, sizeof *map->overrides);
    if (!copy || !map->overrides) {
        th_source_map_destroy(map);
        return NULL;
    }
    memcpy(copy, text, length);
    map->text = copy;
    return map;
}

void th_source_map_destroy(th_source_map *map) {
    if (!map) return;
    th_memory memory = map->memory;
    th_arena_release(&map->arena);
    th_dealloc(&memory, map, 1, sizeof *map);
}

void th_source_position(const char *text, size_t length, size_t offset, int *line, int *column) {
    if (offset > length) offset = length;
    *line = *column = 1;
    for (size_t i = 0; i < offset; ++i) {
        unsigned char c = (unsigned char)text[i];
        if (c == '\n') {
            ++*line;
            *column = 1;
        } else if ((c & 0xC0) != 0x80) { // continuation bytes of UTF-8 are not characters
            ++*column;
        }
    }
}

typedef struct cursor {
    const char *text;
    size_t length, at;
} cursor;

static void skip_space(cursor *c) {
    while (c->at < c->length) {
        const char *p = c->text + c->at;
        size_t left = c->length - c->at;
        if (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r') {
            ++c->at;
        } else if (left > 1 && p[0] == '/' && p[1] == '/') {
            while (c->at < c->length && c->text[c->at] != '\n') ++c->at;
        } else if (left > 1 && p[0] == '/' && p[1] == '*') {
            c->at += 2;
            while (c->at + 1 < c->length && !(c->text[c->at] == '*' && c->text[c->at + 1] == '/'))
                ++c->at;
            c->at += 2;
        } else {
            break;
        }
    }
    if (c->at > c->length) c->at = c->length;
}

static void skip_string(cursor *c) {
    for (++c->at; c->at < c->length && c->text[c->at] != '"'; ++c->at)
        if (c->text[c->at] == '\\') ++c->at;
    c->at = c->at < c->length ? c->at + 1 : c->length;
}

// Over one value, without recursion: nesting only needs a depth.
static void skip_value(cursor *c) {
    int depth = 0;
    do {
        skip_space(c);
        if (c->at >= c->length) return;
        char ch = c->text[c->at];
        if (ch == '"') {
            skip_string(c);
        } else {
            if (ch == '{' || ch == '[') ++depth;
            if (ch == '}' || ch == ']') --depth;
            if (depth == 0 && ch != '}' && ch != ']') {
                while (c->at < c->length && !strchr(",]} \t\r\n/", c->text[c->at])) ++c->at;
                if (c->at < c->length && c->text[c->at] == '\0') ++c->at;
                return;
            }
            ++c->at;
        }
    } while (depth > 0);
}

static bool at_char(cursor *c, char wanted) {
    skip_space(c);
    return c->at < c->length && c->text[c->at] == wanted;
}

// Moves to the member's value; *key is where its name stands.
static bool enter_member(cursor *c, const char *name, size_t name_length, size_t *key) {
    if (!at_char(c, '{')) return false;
    ++c->at;
    while (at_char(c, '"')) {
        size_t start = c->at;
        skip_string(c);
        bool same =
            c->at - start == name_length + 2 && memcmp(c->text + start + 1, name, name_length) == 0;
        if (!at_char(c, ':')) return false;
        ++c->at;
        skip_space(c);
        if (same) {
            *key = start;
            return true;
        }
        skip_value(c);
        if (at_char(c, ',')) ++c->at;
    }
    return false;
}

static bool enter_element(cursor *c, long index) {
    if (!at_char(c, '[')) return false;
    ++c->at;
    for (long i = 0; c->at < c->length && !at_char(c, ']'); ++i) {
        skip_space(c);
        if (i == index) return true;
        skip_value(c);
        if (!at_char(c, ',')) return false;
        ++c->at;
    }
    return false;
}

// A member of a definition may have another name in the file.
static bool enter_member_or_alias(cursor *c, const char *name, size_t length, size_t *key) {
    static const char *const aliases[][2] = {{"route", "to"}, {"positions", "positions_file"}};
    const cursor start = *c;
    if (enter_member(c, name, length, key)) return true;
    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; ++i) {
        if (strlen(aliases[i][0]) != length || strncmp(aliases[i][0], name, length) != 0) continue;
        *c = start;
        return enter_member(c, aliases[i][1], strlen(aliases[i][1]), key);
    }
    return false;
}

size_t th_source_find(const th_source_map *map, const char *path, bool at_key) {
    cursor c = {map->text, map->length, 0};
    skip_space(&c);
    size_t best = c.at, key = c.at;
    bool last_is_key = false;
    while (*path) {
        bool found;
        if (*path == '[') {
            char *end;
            long index = strtol(path + 1, &end, 10);
            found = enter_element(&c, index);
            last_is_key = false;
            path = *end == ']' ? end + 1 : "";
        } else {
            if (*path == '.') ++path;
            size_t length = strcspn(path, ".[");
            found = enter_member_or_alias(&c, path, length, &key);
            last_is_key = found;
            path += length;
        }
        if (!found) break;
        best = c.at;
    }
    return at_key && last_is_key ? key : best;
}

// The number of characters of the path that match the override's path, where * is any number; 0: another place.
static size_t length_of_match(const char *path, const char *pattern) {
    const char *at = path;
    for (; *pattern; ++pattern) {
        if (*pattern != '*') {
            if (*at++ != *pattern) return 0;
            continue;
        }
        if (*at < '0' || *at > '9') return 0;
        while (*at >= '0' && *at <= '9') ++at;
    }
    return (size_t)(at - path);
}

static const th_source_override *override_of(const th_source_map *map, const char *path) {
    for (int i = map->override_count - 1; i >= 0; --i) {
        const th_source_override *override = &map->overrides[i];
        size_t length = length_of_match(path, override->path);
        bool below =
            length > 0 && (path[length] == '\0' || path[length] == '.' || path[length] == '[');
        if (below) return override;
    }
    return NULL;
}

void th_source_map_locate(const th_source_map *map, th_error *error) {
    if (!map || !error || error->code == TH_OK || error->line) return;
    snprintf(error->file, sizeof error->file, "%s", map->file);
    th_source_position(map->text, map->length, th_source_find(map, error->path, false),
                       &error->line, &error->column);
    const th_source_override *override = override_of(map, error->path);
    if (!override) return;
    size_t used = strlen(error->message);
    snprintf(error->message + used, sizeof error->message - used, " (set by the override %.100s)",
             override->text);
}

// ---- parsing of scene text

// Overwrites comments by blanks, so that jansson's positions stay true. Returns the offset of a
// comment that never ends, or SIZE_MAX.
static size_t blank_comments(char *text, size_t length) {
    bool in_string = false;
    for (size_t i = 0; i < length; ++i) {
        if (in_string) {
            if (text[i] == '\\')
                ++i;
            else if (text[i] == '"' || text[i] == '\n')
                in_string = false;
        } else if (text[i] == '"') {
            in_string = true;
        } else if (text[i] == '/' && i + 1 < length && text[i + 1] == '/') {
            while (i < length && text[i] != '\n') text[i++] = ' ';
        } else if (text[i] == '/' && i + 1 < length && text[i + 1] == '*') {
            size_t start = i;
            text[i] = text[i + 1] = ' ';
            for (i += 2; i + 1 < length && !(text[i] == '*' && text[i + 1] == '/'); ++i)
                if (text[i] != '\n') text[i] = ' ';
            if (i + 1 >= length) return start;
            text[i] = text[i + 1] = ' ';
            ++i;
        }
    }
    return SIZE_MAX;
}

static void fail_at(const th_source_map *map, size_t offset, th_error *error) {
    if (!error) return;
    snprintf(error->file, sizeof error->file, "%s", map->file);
    th_source_position(map->text, map->length, offset, &error->line, &error->column);
}

// jansson reports the end of the offending token and quotes it at the end of its message; the start
// is what an editor should jump to.
static void fail_syntax(const th_source_map *map, const json_error_t *json, th_error *error) {
    size_t offset = json->position > 0 ? (size_t)json->position : 0;
    const char *near = strstr(json->text, " near '");
    if (near) {
        size_t quoted = strlen(near + 7);
        quoted = quoted ? quoted - 1 : 0; // closing quote of jansson's message
        offset = offset > quoted ? offset - quoted : 0;
    }
    th_fail(error, TH_BAD_SCENE, "", "not valid JSON: %s", json->text);
    fail_at(map, offset, error);
}

json_t *th_json_parse(const th_source_map *map, th_error *error) {
    char *blanked = th_alloc(&map->memory, map->length + 1, 1);
    if (!blanked) {
        th_fail(error, TH_NO_MEMORY, "", "no memory for %zu bytes of scene text", map->length);
        return NULL;
    }
    memcpy(blanked, map->text, map->length);
    size_t unfinished = blank_comments(blanked, map->length);
    json_t *root = NULL;
    if (unfinished != SIZE_MAX) {
        th_fail(error, TH_BAD_SCENE, "", "a comment starts here and never ends; close it with */");
        fail_at(map, unfinished, error);
    } else {
        json_error_t json = {0};
        root = json_loadb(blanked, map->length, JSON_REJECT_DUPLICATES, &json);
        if (!root) fail_syntax(map, &json, error);
    }
    th_dealloc(&map->memory, blanked, map->length + 1, 1);
    if (root && !json_is_object(root)) {
        char found[80];
        th_fail(error, TH_BAD_SCENE, "", "a scene is an object { ... }, found %s",
                th_json_found(root, found, sizeof found));
        fail_at(map, th_source_find(map, "", false), error);
        json_decref(root);
        root = NULL;
    }
    return root;
}

const char *th_json_found(const json_t *value, char *text, size_t size) {
    switch (value ? json_typeof(value) : JSON_NULL) {
    case JSON_OBJECT: snprintf(text, size, "an object"); break;
    case JSON_ARRAY: snprintf(text, size, "an array of %zu", json_array_size(value)); break;
    case JSON_STRING: snprintf(text, size, "the text \"%.40s\"", json_string_value(value)); break;
    case JSON_INTEGER:
    case JSON_REAL: snprintf(text, size, "the number %.9g", json_number_value(value)); break;
    case JSON_TRUE:
    case JSON_FALSE: snprintf(text, size, "%s", json_is_true(value) ? "true" : "false"); break;
    case JSON_NULL: snprintf(text, size, "null"); break;
    }
    return text;
}

// ---- overrides

// Overrides: "groups[0].count=400", "groups.0.count=400", "groups.visitors.count=400". The path walks
// the tree of the file; a member that the file leaves out may be set (the decoder then checks its name),
// an element of an array must be there; "groups.*.count=400" sets it in all of them. "doors.main.width=1.2" gives a line of that length about its
// own middle, so that a sweep can vary a width.

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

// Does a width in this path mean the length of the line? Sections of models have keys of their own.
static bool has_line_width(const walk *w) {
    static const char *const lists[] = {"doors[", "exits[", "waypoints[", "measure.lines["};
    bool is = false;
    for (size_t k = 0; k < sizeof lists / sizeof *lists; ++k)
        is = is || strncmp(w->path, lists[k], strlen(lists[k])) == 0;
    return is && json_object_get(w->node, "line");
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
    if (last && strcmp(word, "width") == 0 && has_line_width(w)) return set_width(w, value);
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

static th_result apply(json_t *root, th_source_map *map, const char *text,
                       th_source_override *noted, th_error *error);

// "groups.*.plan=...": the same for each element of the list to which the walk has come. `star`: in the text.
static th_result apply_to_each(json_t *root, th_source_map *map, const walk *w, const char *star,
                               th_source_override *noted) {
    size_t count = json_array_size(w->node), room = strlen(w->text) + 24;
    if (!json_is_array(w->node) || count == 0)
        return th_fail(w->error, TH_BAD_SCENE, w->path,
                       "the override %.100s has a * where the scene has no list with elements",
                       w->text);
    char *one = th_arena_alloc(&map->arena, room, 1);
    if (!one) return th_fail(w->error, TH_NO_MEMORY, w->path, "no memory for an override");
    for (size_t i = 0; i < count; ++i) {
        snprintf(one, room, "%.*s%zu%s", (int)(star - w->text), w->text, i, star + 1);
        th_result result = apply(root, map, one, noted, w->error);
        if (result != TH_OK) return result;
    }
    const char *rest = strchr(noted->path + strlen(w->path), ']');
    char path[sizeof noted->path];
    snprintf(path, sizeof path, "%.90s[*%.60s", w->path, rest ? rest : "]");
    memcpy(noted->path, path, sizeof path);
    return TH_OK;
}

static th_result apply(json_t *root, th_source_map *map, const char *text,
                       th_source_override *noted, th_error *error) {
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
        const char *before = at;
        bool good = next_word(&at, equals, depth == 0, word);
        if (good && depth > 0 && strcmp(word, "*") == 0) {
            json_decref(value);
            return apply_to_each(root, map, &w, strchr(before, '*'), noted);
        }
        if (!good || ++depth > DEPTH)
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
        th_result result = apply(root, map, overrides[i], noted, error);
        if (result != TH_OK) return result;
        noted->text = th_arena_string(&map->arena, overrides[i]);
        if (!noted->text) return th_fail(error, TH_NO_MEMORY, "", "no memory for an override");
        ++map->override_count;
    }
    return TH_OK;
}
