// Where a JSON path stands in the text of a scene. jansson keeps no positions, so the text is kept and
// walked again when (and only when) there is an error to report. SPDX-License-Identifier: Apache-2.0
#ifndef TH_SCENE_SOURCE_MAP_H
#define TH_SCENE_SOURCE_MAP_H
#include "core/memory.h"
#include "throng/scene.h"
#include <jansson.h>

typedef struct th_source_override {
    char path[160];   // canonical: "groups[0].count"
    const char *text; // as the caller wrote it
} th_source_override;

typedef struct th_source_map {
    th_memory memory;
    th_arena arena;
    const char *text;
    size_t length;
    th_source_override *overrides;
    int override_count;
    char file[256];
} th_source_map;

// A copy of the text is kept. NULL: no memory.
th_source_map *th_source_map_create(const th_memory *memory, const char *text, size_t length,
                                    const char *file, int override_capacity);
void th_source_map_destroy(th_source_map *map);

// Line and column (1-based, columns in characters) of a byte of the text.
void th_source_position(const char *text, size_t length, size_t offset, int *line, int *column);
// Byte offset of the value at `path`, or of its nearest existing ancestor; of the key when `at_key`.
size_t th_source_find(const th_source_map *map, const char *path, bool at_key);
// Adds file, line and column to an error that has a path, and says so when an override set the value.
void th_source_map_locate(const th_source_map *map, th_error *error);

// ---- the JSON of a scene text

// Scene text -> JSON tree: comments, syntax errors with their place, overrides.

// The tree, or NULL with an error that has file, line and column.
json_t *th_json_parse(const th_source_map *map, th_error *error);
// Applies "path=value" texts and notes their canonical paths in the map.
th_result th_json_override(json_t *root, th_source_map *map, const char *const *overrides,
                           int count, th_error *error);
// "an object", "the number 4.5", "the text \"abc\"": what was found, for messages.
const char *th_json_found(const json_t *value, char *text, size_t size);
#endif
