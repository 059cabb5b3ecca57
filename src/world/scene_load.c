// Scene text or file -> th_scene. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/file.h"
#include "scene/decode.h"
#include "scene/scene.h"
#include "scene/source_map.h"
#include "world/world.h"
#include <stdio.h>
#include <string.h>

static th_result decode_and_create(json_t *root, th_source_map *map, const char *base_dir,
                                   const th_scene_options *options, th_scene **scene,
                                   th_error *error) {
    th_arena arena = {.memory = map->memory};
    th_scene_def def = th_scene_def_default();
    def.base_dir = base_dir;
    def.allow_links = options && options->allow_links;
    if (options) {
        def.allocator = options->allocator;
        def.no_files = options->no_files;
    }
    th_result result = th_scene_decode(root, &arena, map, &def, error);
    if (result == TH_OK) result = th_scene_create(&def, scene, error);
    th_arena_release(&arena);
    return result;
}

static th_result load_with_map(th_source_map *map, const char *base_dir,
                               const th_scene_options *options, th_scene **scene, th_error *error) {
    json_t *root = th_json_parse(map, error);
    if (!root) return error->code;
    th_result result = TH_OK;
    if (options)
        result = th_json_override(root, map, options->overrides, options->override_count, error);
    if (result == TH_OK) result = decode_and_create(root, map, base_dir, options, scene, error);
    json_decref(root);
    return result;
}

th_result th_scene_load_json(const char *text, size_t length, const char *name,
                             const char *base_dir, const th_scene_options *options,
                             th_scene **scene, th_error *error) {
    th_error local;
    if (!error) error = &local;
    memset(error, 0, sizeof *error);
    *scene = NULL;
    if (length > TH_FILE_BYTES_MAX)
        return th_fail(error, TH_BAD_SCENE, "", "%.100s: a scene text is at most %zu MiB",
                       name ? name : "scene", TH_FILE_BYTES_MAX >> 20);
    th_memory memory = th_memory_of(options ? &options->allocator : NULL);
    th_source_map *map = th_source_map_create(&memory, text, length, name ? name : "scene",
                                              options ? options->override_count : 0);
    if (!map) return th_fail(error, TH_NO_MEMORY, "", "no memory for the scene text");
    th_result result = load_with_map(map, base_dir, options, scene, error);
    if (result != TH_OK) {
        th_source_map_locate(map, error);
        th_source_map_destroy(map);
        return result;
    }
    (*scene)->source_map = map;
    return TH_OK;
}

// `arena` holds the text.
static th_result read_scene(th_arena *arena, const char *path, char **text, size_t *length,
                            th_error *error) {
    memset(error, 0, sizeof *error);
    th_result result =
        th_file_read(arena, (th_link_scope){NULL, true}, path, "", text, length, error);
    if (result != TH_OK) snprintf(error->file, sizeof error->file, "%s", path);
    return result;
}

static th_result load_compiled(const char *bytes, size_t size, const char *path,
                               const th_scene_options *options, th_scene **scene, th_error *error) {
    th_result result =
        options && options->override_count > 0
            ? th_fail(error, TH_BAD_SCENE, "",
                      "a compiled scene cannot be changed; give the scene it was made from")
            : th_scene_load_compiled(bytes, size, options ? &options->allocator : NULL, scene,
                                     error);
    if (result != TH_OK) snprintf(error->file, sizeof error->file, "%s", path);
    return result;
}

th_result th_scene_load_file(const char *path, const th_scene_options *options, th_scene **scene,
                             th_error *error) {
    th_error local;
    if (!error) error = &local;
    *scene = NULL;
    char folder[TH_PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash) slash[slash == folder] = '\0';
    th_arena arena = th_arena_of(options ? &options->allocator : NULL);
    char *text = NULL;
    size_t length = 0;
    th_result result = read_scene(&arena, path, &text, &length, error);
    if (result == TH_OK && th_is_compiled(text, length))
        result = load_compiled(text, length, path, options, scene, error);
    else if (result == TH_OK)
        result =
            th_scene_load_json(text, length, path, slash ? folder : NULL, options, scene, error);
    th_arena_release(&arena);
    return result;
}

static char *overridden(th_source_map *map, const th_scene_options *options, th_error *error) {
    char *json = NULL;
    json_t *root = th_json_parse(map, error);
    if (root &&
        th_json_override(root, map, options->overrides, options->override_count, error) == TH_OK) {
        json = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
        if (!json) th_fail(error, TH_NO_MEMORY, "", "no memory for the scene's JSON");
    }
    if (!json) th_source_map_locate(map, error);
    json_decref(root);
    return json;
}

th_result th_scene_overridden_json(const char *path, const th_scene_options *options, char **json,
                                   th_error *error) {
    static const th_scene_options none;
    th_error local;
    if (!error) error = &local;
    if (!options) options = &none;
    *json = NULL;
    th_arena arena = th_arena_of(&options->allocator);
    char *text = NULL;
    size_t length = 0;
    th_result result = read_scene(&arena, path, &text, &length, error);
    th_source_map *map = NULL;
    if (result == TH_OK && th_is_compiled(text, length)) {
        th_fail(error, TH_BAD_SCENE, "",
                "a compiled scene has no text, which folders of runs keep; run it with --out none, "
                "or give the scene it was made from");
        snprintf(error->file, sizeof error->file, "%s", path);
    } else if (result == TH_OK) {
        map = th_source_map_create(&arena.memory, text, length, path, options->override_count);
        if (!map) th_fail(error, TH_NO_MEMORY, "", "no memory for the scene text");
    }
    if (map) *json = overridden(map, options, error);
    th_source_map_destroy(map);
    th_arena_release(&arena);
    return *json ? TH_OK : error->code;
}
