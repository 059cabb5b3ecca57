// JSON tree -> th_scene_def. Checks names and types; ranges and meaning are checked by compile.c, for
// files and programs alike. SPDX-License-Identifier: Apache-2.0
#ifndef TH_SCENE_DECODE_H
#define TH_SCENE_DECODE_H
#include "core/memory.h"
#include "throng/scene.h"
#include <jansson.h>

// ---- the source map: where a JSON path stands in the text of a scene

// jansson keeps no positions, so the text is kept and
// walked again when (and only when) there is an error to report.

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

// ---- scene text -> JSON tree: comments, syntax errors with their place, overrides

// The tree, or NULL with an error that has file, line and column.
json_t *th_json_parse(const th_source_map *map, th_error *error);
// Applies "path=value" texts and notes their canonical paths in the map.
th_result th_json_override(json_t *root, th_source_map *map, const char *const *overrides,
                           int count, th_error *error);
// "an object", "the number 4.5", "the text \"abc\"": what was found, for messages.
const char *th_json_found(const json_t *value, char *text, size_t size);

// The definition points into the tree and the arena; both must outlive it.
th_result th_scene_decode(json_t *root, th_arena *arena, const th_source_map *map,
                          th_scene_def *def, th_error *error);

// ---- for the decode_*.c files only. After the first failure every reader does nothing.
typedef struct th_decoder {
    th_arena *arena;
    const th_source_map *map;
    th_error *error;
    th_result result;
    char path[160];
} th_decoder;

typedef size_t th_place; // length of the path before a step into a member or element
th_place th_enter_key(th_decoder *decoder, const char *key);
th_place th_enter_index(th_decoder *decoder, size_t index);
void th_leave(th_decoder *decoder, th_place place);

void th_expected(th_decoder *decoder, const json_t *found, const char *expected);
void *th_decoder_alloc(th_decoder *decoder, size_t count, size_t size);
// Unknown members are errors that name the nearest known one. False when the value is not an object.
bool th_check_keys(th_decoder *decoder, json_t *object, const char *const *known, int count);
#define TH_CHECK_KEYS(decoder, object, ...)                            \
    th_check_keys(decoder, object, (const char *const[]){__VA_ARGS__}, \
                  (int)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *)))

// Each leaves its target as it is when the member is absent.
void th_read_number(th_decoder *decoder, json_t *object, const char *key, double *value);
void th_read_bool(th_decoder *decoder, json_t *object, const char *key, bool *value);
void th_read_string(th_decoder *decoder, json_t *object, const char *key, const char **value);
void th_read_integer(th_decoder *decoder, json_t *object, const char *key, int64_t *value);
void th_read_line(th_decoder *decoder, json_t *object, const char *key, th_point line[2]);
void th_read_shape(th_decoder *decoder, json_t *object, const char *key, th_shape *shape);
void th_read_shapes(th_decoder *decoder, json_t *object, const char *key, const th_shape **shapes,
                    int *count);
void th_read_distribution(th_decoder *decoder, json_t *object, const char *key,
                          th_distribution *distribution);

double th_decode_number(th_decoder *decoder, const json_t *value);
th_point th_decode_point(th_decoder *decoder, const json_t *value);
const char *th_decode_string(th_decoder *decoder, const json_t *value, const char *expected);
const th_point *th_decode_points(th_decoder *decoder, const json_t *array, int *count);

// Reads an array of objects: calls `read` for each with the path set. NULL and 0 when absent.
typedef void th_read_fn(th_decoder *decoder, json_t *value, void *item);
void *th_read_array(th_decoder *decoder, json_t *object, const char *key, size_t size,
                    th_read_fn *read, int *count);

void th_decode_group(th_decoder *decoder, json_t *value, th_group_def *group);
void th_decode_profile(th_decoder *decoder, json_t *value, th_profile_def *profile);
// Refuses values of groups that all of their profiles replace.
void th_check_shadowed(th_decoder *decoder, json_t *root, const th_scene_def *def);

// ---- scene data that models declare (th_section_info, throng/model.h): sections.c
void th_decode_sections(th_decoder *decoder, json_t *root, th_scene_def *def);
void th_decode_weights(th_decoder *decoder, json_t *object, th_group_def *group);
// The names of the sections, and the keys that they add to groups, at most TH_SECTION_MAX; returns how many.
enum { TH_SECTION_MAX = 64 }; // of all models together
int th_section_names(const char **names);
int th_section_group_keys(const char **names);
#endif
