// Creating a scene, from a definition or from a text or a file: compile it, build the wall grids, close the gaps that are
// narrower than every body, let the planners prepare. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/file.h"
#include "plan/plan.h"
#include "scene/decode.h"
#include "scene/scene.h"
#include "space/rooms.h"
#include "space/walls.h"
#include "throng/model.h"
#include "world/world.h"
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static th_result compile(const th_scene_def *def, const th_narrow_gap *gaps, int gap_count,
                         th_scene **scene, th_error *error) {
    th_result result = th_scene_compile(def, gaps, gap_count, scene, error);
    if (result != TH_OK) return result;
    if (th_wall_grids_build(*scene) && th_goal_grids_build(*scene)) return TH_OK;
    th_scene_release(*scene);
    *scene = NULL;
    return th_fail(
        error, TH_NO_MEMORY, "",
        "no memory for the grids of walls and goals; free some or make the scene smaller");
}

// ---- gaps: a gap narrower than every body is a wall, for planners and for sight alike

enum { GAPS_MOST = 1000 };

// The width that the smallest, or the largest, of the scene's agents needs; 0 without groups. [m]
static float needed(const th_scene *scene, bool largest) {
    double least = HUGE_VAL, most = 0.0;
    for (int g = 0; g < scene->group_count; ++g) {
        least = fmin(least, th_group_gap(&scene->groups[g], false));
        most = fmax(most, th_group_gap(&scene->groups[g], true));
    }
    return scene->group_count > 0 ? (float)(largest ? most : least) - TH_FITS : 0.0f;
}

// The definition with a wall across each gap; NULL: no memory.
static const th_scene_def *with_walls(const th_scene_def *def, const th_scene *scene,
                                      const th_narrow_gap *gaps, int count, th_arena *arena) {
    th_scene_def *closed = th_arena_alloc(arena, 1, sizeof *closed);
    th_level_def *levels = th_arena_alloc(arena, (size_t)def->level_count, sizeof *levels);
    th_point *points = th_arena_alloc(arena, 2 * (size_t)count, sizeof *points);
    if (!closed || !levels || !points) return NULL;
    *closed = *def;
    closed->levels = levels;
    for (int l = 0; l < def->level_count; ++l) {
        const th_level_def *level = &def->levels[l];
        th_shape *walls =
            th_arena_alloc(arena, (size_t)level->wall_count + (size_t)count, sizeof *walls);
        if (!walls) return NULL;
        levels[l] = *level;
        levels[l].walls = walls;
        if (level->wall_count > 0)
            memcpy(walls, level->walls, (size_t)level->wall_count * sizeof *walls);
        for (int k = 0; k < count; ++k) {
            const th_line *gap = &gaps[k].line;
            if (gap->level != l) continue;
            th_point *line = &points[(size_t)(2 * k)];
            line[0] =
                (th_point){(double)gap->a.x + scene->origin.x, (double)gap->a.y + scene->origin.y};
            line[1] =
                (th_point){(double)gap->b.x + scene->origin.x, (double)gap->b.y + scene->origin.y};
            walls[levels[l].wall_count++] = (th_shape){.points = line, .point_count = 2};
        }
    }
    return closed;
}

static int by_need(const void *left, const void *right) {
    float a = *(const float *)left, b = *(const float *)right;
    return (a > b) - (a < b);
}

// One more size for each set of ways that groups never use, as wide as the widest of these groups' people.
static void tell_bars_apart(th_scene *scene) {
    int widths = scene->size_count;
    for (int k = 0; k < scene->bar_count; ++k) {
        float need = 0.0f;
        for (int g = 0; widths > 1 && g < scene->group_count; ++g)
            if (scene->groups[g].bar == k + 1)
                need = fmaxf(need, (float)th_group_gap(&scene->groups[g], true) - TH_FITS);
        scene->sizes[scene->size_count++] = need;
    }
}

// One size below every different width of the gaps, and one for the largest people. Of too many widths the narrowest
// count by themselves: people that fit through some of the others only go around.
static bool tell_sizes_apart(th_scene *scene, float most, th_arena *work) {
    float *widths = th_arena_alloc(work, (size_t)scene->narrow_gap_count, sizeof *widths);
    if (!widths) return false;
    for (int k = 0; k < scene->narrow_gap_count; ++k) widths[k] = scene->narrow_gaps[k].width;
    qsort(widths, (size_t)scene->narrow_gap_count, sizeof *widths, by_need);
    scene->size_count = 0;
    for (int k = 0; k < scene->narrow_gap_count && scene->size_count < TH_WIDTH_MAX - 1; ++k)
        if (k == 0 || widths[k] > widths[k - 1] + TH_FITS)
            scene->sizes[scene->size_count++] = widths[k];
    scene->sizes[scene->size_count++] = most;
    tell_bars_apart(scene);
    return true;
}

static bool remember(th_scene *scene, const th_narrow_gap *gaps, int closed, int count) {
    th_line *lines = th_arena_alloc(scene->arena, (size_t)closed + 1, sizeof *lines);
    th_narrow_gap *narrow =
        th_arena_alloc(scene->arena, (size_t)(count - closed) + 1, sizeof *narrow);
    if (!lines || !narrow) return false;
    for (int k = 0; k < closed; ++k) lines[k] = gaps[k].line;
    for (int k = closed; k < count; ++k) narrow[k - closed] = gaps[k];
    scene->closed_gaps = lines;
    scene->closed_gap_count = closed;
    scene->narrow_gaps = narrow;
    scene->narrow_gap_count = count - closed;
    return true;
}

// Moves gaps too narrow for all to the front and returns their number; a door remains one, whatever its width.
static int closed_first(th_narrow_gap *gaps, int count, float least) {
    int closed = 0;
    for (int k = 0; k < count; ++k) {
        if (gaps[k].door >= 0 || gaps[k].width > least) continue;
        th_narrow_gap swap = gaps[closed];
        gaps[closed++] = gaps[k];
        gaps[k] = swap;
    }
    return closed;
}

static th_result close_gaps(const th_scene_def *def, th_scene **scene, th_error *error) {
    float least = needed(*scene, false), most = needed(*scene, true);
    (*scene)->size_count = 1;
    tell_bars_apart(*scene);
    if (!(most > 0.0f) || def->level_count == 0) return TH_OK;
    th_arena work = {.memory = (*scene)->arena->memory};
    th_narrow_gap *gaps = th_arena_alloc(&work, GAPS_MOST, sizeof *gaps);
    int count = gaps ? th_gaps_find(*scene, most, &work, gaps, GAPS_MOST) : -1;
    th_result result = TH_OK;
    if (count > 0) {
        th_scene *closed = NULL;
        int closed_count = closed_first(gaps, count, least);
        const th_scene_def *more = with_walls(def, *scene, gaps, closed_count, &work);
        if (more) result = compile(more, gaps + closed_count, count - closed_count, &closed, error);
        if (closed && remember(closed, gaps, closed_count, count) &&
            tell_sizes_apart(closed, most, &work)) {
            th_scene_release(*scene);
            *scene = closed;
        } else {
            th_scene_release(closed);
            if (result == TH_OK) count = -1;
        }
    }
    th_arena_release(&work);
    if (count < 0)
        return th_fail(error, TH_NO_MEMORY, "",
                       "no memory to look for narrow gaps; free some or make the scene smaller");
    return result;
}

th_result th_scene_create(const th_scene_def *def, th_scene **out, th_error *error) {
    assert(out);
    *out = NULL;
    th_scene *scene = NULL;
    th_arena work = {.memory = th_memory_of(&def->allocator)};
    th_scene_def timed, all;
    th_result result = th_timetable_expand(def, &work, &timed, error);
    if (result == TH_OK) result = th_profiles_expand(&timed, &work, &all, error);
    bool whole = result == TH_OK && all.groups != timed.groups;
    if (result == TH_OK) result = compile(&all, NULL, 0, &scene, error);
    if (result == TH_OK) result = close_gaps(&all, &scene, error);
    if (result == TH_OK) result = th_recorded_check(scene, error);
    if (result == TH_OK) result = th_plan_prepare(scene, error);
    if (result != TH_OK && whole)
        th_profiles_locate(error, &all.groups[0].part, sizeof *all.groups, all.group_count);
    th_arena_release(&work);
    if (result != TH_OK) {
        th_scene_destroy(scene);
        return result;
    }
    *out = scene;
    return TH_OK;
}

void th_scene_destroy(th_scene *scene) {
    if (!scene) return;
    th_plan_release(scene);
    th_scene_release(scene);
}

// ---- from a text or a file

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
