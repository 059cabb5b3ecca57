// Scene text -> JSON tree: comments, syntax errors with their place, overrides.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_SCENE_JSON_TEXT_H
#define TH_SCENE_JSON_TEXT_H
#include "scene/source_map.h"
#include <jansson.h>

// The tree, or NULL with an error that has file, line and column.
json_t *th_json_parse(const th_source_map *map, th_error *error);
// Applies "path=value" texts and notes their canonical paths in the map.
th_result th_json_override(json_t *root, th_source_map *map, const char *const *overrides,
                           int count, th_error *error);
// "an object", "the number 4.5", "the text \"abc\"": what was found, for messages.
const char *th_json_found(const json_t *value, char *text, size_t size);
#endif
