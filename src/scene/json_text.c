// Parsing of scene text. SPDX-License-Identifier: Apache-2.0
#include "scene/json_text.h"
#include "core/error.h"
#include <stdio.h>
#include <string.h>

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
