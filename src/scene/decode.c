// The scene object and everything in it but groups. SPDX-License-Identifier: Apache-2.0
#include "scene/decode.h"
#include "core/error.h"
#include "registry/models.h"
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void read_level(th_decoder *decoder, json_t *value, void *item) {
    th_level_def *level = item;
    *level = th_level_def_default();
    if (!TH_CHECK_KEYS(decoder, value, "id", "z", "walkable", "obstacles", "walls")) return;
    th_read_string(decoder, value, "id", &level->id);
    th_read_number(decoder, value, "z", &level->z);
    th_read_shapes(decoder, value, "walkable", &level->walkable, &level->walkable_count);
    th_read_shapes(decoder, value, "obstacles", &level->obstacles, &level->obstacle_count);
    th_read_shapes(decoder, value, "walls", &level->walls, &level->wall_count);
}

static void read_stairs(th_decoder *decoder, json_t *value, void *item) {
    th_stairs_def *stairs = item;
    if (!TH_CHECK_KEYS(decoder, value, "id", "level", "to", "area", "top", "up", "down")) return;
    *stairs = th_stairs_def_default();
    if (!json_object_get(value, "area")) stairs->up = stairs->down = 1.0; // a link
    th_read_string(decoder, value, "id", &stairs->id);
    th_read_string(decoder, value, "level", &stairs->level);
    th_read_string(decoder, value, "to", &stairs->to);
    th_read_shape(decoder, value, "area", &stairs->area);
    th_read_line(decoder, value, "top", stairs->top);
    th_read_number(decoder, value, "up", &stairs->up);
    th_read_number(decoder, value, "down", &stairs->down);
}

static void read_zone(th_decoder *decoder, json_t *value, void *item) {
    th_zone_def *zone = item;
    if (!TH_CHECK_KEYS(decoder, value, "id", "level", "area", "speed", "discomfort", "to")) return;
    *zone = th_zone_def_default();
    th_read_string(decoder, value, "id", &zone->id);
    th_read_string(decoder, value, "level", &zone->level);
    th_read_shape(decoder, value, "area", &zone->area);
    th_read_number(decoder, value, "speed", &zone->speed);
    th_read_number(decoder, value, "discomfort", &zone->discomfort);
    th_read_string(decoder, value, "to", &zone->to);
}

static void read_picture(th_decoder *decoder, json_t *value, void *item) {
    th_picture_def *picture = item;
    if (!TH_CHECK_KEYS(decoder, value, "id", "level", "file", "shows", "corners", "black", "white",
                       "strength", "to"))
        return;
    const char *shows = "discomfort";
    th_read_string(decoder, value, "shows", &shows);
    th_picture_kind kind = TH_PICTURE_DISCOMFORT;
    if (shows && strcmp(shows, "guidance") == 0) kind = TH_PICTURE_GUIDANCE;
    if (shows && strcmp(shows, "height") == 0) kind = TH_PICTURE_HEIGHT;
    *picture = th_picture_def_default(kind);
    th_read_string(decoder, value, "id", &picture->id);
    th_read_string(decoder, value, "level", &picture->level);
    th_read_string(decoder, value, "file", &picture->file);
    th_read_line(decoder, value, "corners", picture->corners);
    th_read_number(decoder, value, "black", &picture->black);
    th_read_number(decoder, value, "white", &picture->white);
    th_read_number(decoder, value, "strength", &picture->strength);
    th_read_string(decoder, value, "to", &picture->to);
    if (!shows) return; // no string
    if (kind != TH_PICTURE_DISCOMFORT || strcmp(shows, "discomfort") == 0) return;
    th_place place = th_enter_key(decoder, "shows");
    th_expected(decoder, json_object_get(value, "shows"),
                "\"discomfort\", \"guidance\" or \"height\"");
    th_leave(decoder, place);
}

static void read_change(th_decoder *decoder, json_t *value, void *item) {
    th_door_change *change = item;
    if (json_is_array(value)) {
        const char *word = json_string_value(json_array_get(value, 1));
        bool known = word && (strcmp(word, "open") == 0 || strcmp(word, "close") == 0);
        if (json_array_size(value) != 2 || !known)
            th_expected(decoder, value, "[time, \"open\"] or [time, \"close\"]");
        else
            change->open = strcmp(word, "open") == 0;
        change->time = th_decode_number(decoder, json_array_get(value, 0));
        return;
    }
    if (!TH_CHECK_KEYS(decoder, value, "time", "open")) return;
    if (json_object_size(value) != 2) th_expected(decoder, value, "both \"time\" and \"open\"");
    th_read_number(decoder, value, "time", &change->time);
    th_read_bool(decoder, value, "open", &change->open);
}

static void read_door(th_decoder *decoder, json_t *value, void *item) {
    th_door_def *door = item;
    *door = th_door_def_default();
    if (!TH_CHECK_KEYS(decoder, value, "id", "level", "line", "closed", "schedule")) return;
    th_read_string(decoder, value, "id", &door->id);
    th_read_string(decoder, value, "level", &door->level);
    th_read_line(decoder, value, "line", door->line);
    th_read_bool(decoder, value, "closed", &door->closed);
    door->schedule = th_read_array(decoder, value, "schedule", sizeof(th_door_change), read_change,
                                   &door->schedule_count);
}

static void read_goal(th_decoder *decoder, json_t *value, th_goal_def *goal) {
    th_read_string(decoder, value, "id", &goal->id);
    th_read_string(decoder, value, "level", &goal->level);
    th_read_shape(decoder, value, "area", &goal->area);
    if (json_object_get(value, "line")) {
        goal->has_line = true;
        th_read_line(decoder, value, "line", goal->line);
    }
    th_read_number(decoder, value, "wait", &goal->wait);
}

static void read_exit(th_decoder *decoder, json_t *value, void *item) {
    th_goal_def *exit = item;
    *exit = th_goal_def_default(TH_GOAL_EXIT);
    if (!TH_CHECK_KEYS(decoder, value, "id", "level", "area", "line", "closed", "schedule")) return;
    read_goal(decoder, value, exit);
    th_read_bool(decoder, value, "closed", &exit->closed);
    exit->schedule = th_read_array(decoder, value, "schedule", sizeof(th_door_change), read_change,
                                   &exit->schedule_count);
}

static void read_waypoint(th_decoder *decoder, json_t *value, void *item) {
    *(th_goal_def *)item = th_goal_def_default(TH_GOAL_WAYPOINT);
    if (TH_CHECK_KEYS(decoder, value, "id", "level", "area", "line"))
        read_goal(decoder, value, item);
}

static void read_waiting_area(th_decoder *decoder, json_t *value, void *item) {
    *(th_goal_def *)item = th_goal_def_default(TH_GOAL_WAITING);
    if (!TH_CHECK_KEYS(decoder, value, "id", "level", "area", "line", "wait", "refuge", "capacity"))
        return;
    th_goal_def *area = item;
    double capacity = 0.0;
    read_goal(decoder, value, area);
    th_read_bool(decoder, value, "refuge", &area->refuge);
    th_read_number(decoder, value, "capacity", &capacity);
    area->capacity =
        capacity >= 0.0 && capacity <= 1e6 && capacity == floor(capacity) ? (int)capacity : -1;
}

static void read_group(th_decoder *decoder, json_t *value, void *item) {
    th_decode_group(decoder, value, item);
}

static void read_profile(th_decoder *decoder, json_t *value, void *item) {
    th_decode_profile(decoder, value, item);
}

static void read_keyframe(th_decoder *decoder, json_t *value, void *item) {
    th_keyframe *frame = item;
    if (json_is_array(value) && json_array_size(value) == 3) {
        frame->time = th_decode_number(decoder, json_array_get(value, 0));
        frame->x = th_decode_number(decoder, json_array_get(value, 1));
        frame->y = th_decode_number(decoder, json_array_get(value, 2));
        return;
    }
    if (!json_is_object(value)) {
        th_expected(decoder, value, "a key frame [time, x, y]");
        return;
    }
    if (!TH_CHECK_KEYS(decoder, value, "time", "x", "y")) return;
    th_read_number(decoder, value, "time", &frame->time);
    th_read_number(decoder, value, "x", &frame->x);
    th_read_number(decoder, value, "y", &frame->y);
}

static void read_scripted(th_decoder *decoder, json_t *value, void *item) {
    th_scripted_def *scripted = item;
    if (!TH_CHECK_KEYS(decoder, value, "id", "level", "radius", "shape", "path")) return;
    *scripted = th_scripted_def_default();
    th_read_string(decoder, value, "id", &scripted->id);
    th_read_string(decoder, value, "level", &scripted->level);
    th_read_number(decoder, value, "radius", &scripted->radius);
    th_read_shape(decoder, value, "shape", &scripted->shape);
    scripted->path = th_read_array(decoder, value, "path", sizeof(th_keyframe), read_keyframe,
                                   &scripted->path_count);
}

static void read_measure_line(th_decoder *decoder, json_t *value, void *item) {
    th_measure_line_def *line = item;
    *line = th_measure_line_def_default();
    if (!TH_CHECK_KEYS(decoder, value, "id", "level", "line")) return;
    th_read_string(decoder, value, "id", &line->id);
    th_read_string(decoder, value, "level", &line->level);
    th_read_line(decoder, value, "line", line->line);
}

static void read_measure_area(th_decoder *decoder, json_t *value, void *item) {
    th_measure_area_def *area = item;
    *area = th_measure_area_def_default();
    if (!TH_CHECK_KEYS(decoder, value, "id", "level", "area")) return;
    th_read_string(decoder, value, "id", &area->id);
    th_read_string(decoder, value, "level", &area->level);
    th_read_shape(decoder, value, "area", &area->area);
}

static void read_time(th_decoder *decoder, json_t *value, void *item) {
    *(double *)item = th_decode_number(decoder, value);
}

static void read_measure(th_decoder *decoder, json_t *root, th_scene_def *def) {
    json_t *measure = json_object_get(root, "measure");
    if (!measure) return;
    th_place place = th_enter_key(decoder, "measure");
    if (TH_CHECK_KEYS(decoder, measure, "lines", "areas", "map_times")) {
        def->measure_lines = th_read_array(decoder, measure, "lines", sizeof(th_measure_line_def),
                                           read_measure_line, &def->measure_line_count);
        def->measure_areas = th_read_array(decoder, measure, "areas", sizeof(th_measure_area_def),
                                           read_measure_area, &def->measure_area_count);
        def->map_times = th_read_array(decoder, measure, "map_times", sizeof(double), read_time,
                                       &def->map_time_count);
    }
    th_leave(decoder, place);
}

static void read_run(th_decoder *decoder, json_t *root, th_run_settings *run) {
    json_t *value = json_object_get(root, "run");
    if (!value) return;
    th_place place = th_enter_key(decoder, "run");
    if (TH_CHECK_KEYS(decoder, value, "step", "duration", "until_empty", "max_time", "seed",
                      "runs")) {
        th_read_number(decoder, value, "step", &run->step);
        th_read_number(decoder, value, "duration", &run->duration);
        bool until_empty = run->duration == 0.0;
        th_read_bool(decoder, value, "until_empty", &until_empty);
        th_read_number(decoder, value, "max_time", &run->max_time);
        if (decoder->result == TH_OK && !until_empty && run->duration == 0.0)
            th_expected(decoder, value, "a \"duration\" when \"until_empty\" is false");
        if (until_empty && run->duration > 0.0) { // whichever comes first
            if (run->duration < run->max_time) run->max_time = run->duration;
            run->duration = 0.0;
        }
        int64_t seed = (int64_t)run->seed, runs = run->runs;
        th_read_integer(decoder, value, "seed", &seed);
        th_read_integer(decoder, value, "runs", &runs);
        // Run k has the seed plus k, so a negative seed would reach 0.
        if (decoder->result == TH_OK && seed < 0)
            th_expected(decoder, json_object_get(value, "seed"), "a \"seed\" of 0 or more");
        run->seed = (uint64_t)seed;
        if (decoder->result == TH_OK && (runs < INT_MIN || runs > INT_MAX))
            th_expected(decoder, json_object_get(value, "runs"), "at most 100000 \"runs\"");
        run->runs = (int)runs; // compile.c checks the range
    }
    th_leave(decoder, place);
}

static void read_record(th_decoder *decoder, json_t *root, th_record_settings *record) {
    json_t *value = json_object_get(root, "record");
    if (!value) return;
    th_place place = th_enter_key(decoder, "record");
    if (TH_CHECK_KEYS(decoder, value, "format", "fps")) {
        th_read_string(decoder, value, "format", &record->format);
        th_read_number(decoder, value, "fps", &record->fps);
    }
    th_leave(decoder, place);
}

// Exits may do without an id, so that a group which names no goal can still leave by them.
static void name_exits(th_decoder *decoder, th_goal_def *exits, int count) {
    for (int i = 0; i < count; ++i) {
        if (exits[i].id) continue;
        char *name = th_decoder_alloc(decoder, 16, 1);
        if (name) snprintf(name, 16, "exit%d", i);
        exits[i].id = name;
    }
}

// Exits, waypoints and waiting areas become one list, in that order.
static void read_goals(th_decoder *decoder, json_t *root, th_scene_def *def) {
    int counts[3];
    th_goal_def *parts[3];
    parts[0] = th_read_array(decoder, root, "exits", sizeof(th_goal_def), read_exit, &counts[0]);
    parts[1] =
        th_read_array(decoder, root, "waypoints", sizeof(th_goal_def), read_waypoint, &counts[1]);
    parts[2] = th_read_array(decoder, root, "waiting_areas", sizeof(th_goal_def), read_waiting_area,
                             &counts[2]);
    size_t total = 0;
    for (int i = 0; i < 3; ++i) total += (size_t)counts[i];
    th_goal_def *goals = th_decoder_alloc(decoder, total, sizeof *goals);
    if (!goals) return;
    th_goal_def *end = goals;
    for (int i = 0; i < 3; ++i) {
        if (counts[i]) memcpy(end, parts[i], (size_t)counts[i] * sizeof *goals);
        end += counts[i];
    }
    name_exits(decoder, goals, counts[0]);
    def->goals = goals;
    def->goal_count = (int)total;
}

// A group without a goal leaves by the nearest exit, or goes to a refuge.
static void default_routes(th_decoder *decoder, json_t *root, th_scene_def *def,
                           th_group_def *groups) {
    if (decoder->result != TH_OK) return;
    th_route_step *all = th_decoder_alloc(decoder, 1, sizeof *all);
    const char **ids = th_decoder_alloc(decoder, (size_t)def->goal_count + 1, sizeof *ids);
    if (!all || !ids) return;
    all->goals = ids;
    for (int i = 0; i < def->goal_count; ++i)
        if (def->goals[i].kind == TH_GOAL_EXIT || (def->goals[i].refuge && def->goals[i].id))
            ids[all->goal_count++] = def->goals[i].id;
    if (all->goal_count == 0) return;
    json_t *list = json_object_get(root, "groups");
    for (int i = 0; i < def->group_count; ++i) {
        json_t *group = json_array_get(list, (size_t)i);
        if (json_object_get(group, "to") || json_object_get(group, "route")) continue;
        if (groups[i].own_goal != TH_OWN_GOAL_NONE) continue;
        groups[i].route = all;
        groups[i].route_count = 1;
    }
}

// Reads how a drawing became the scene, for `throng import`; a run does not use it.
static void read_recipe(th_decoder *decoder, json_t *root) {
    json_t *recipe = json_object_get(root, "import");
    if (!recipe) return;
    th_place place = th_enter_key(decoder, "import");
    TH_CHECK_KEYS(decoder, recipe, "file", "unit", "close", "turn", "origin", "area", "occupants",
                  "layers", "width");
    th_leave(decoder, place);
}

typedef struct underlay {
    const char *id, *level, *file;
    double scale, turn;
} underlay;

static void read_underlay(th_decoder *decoder, json_t *value, void *item) {
    underlay *u = item;
    if (!TH_CHECK_KEYS(decoder, value, "id", "level", "file", "at", "metres_per_pixel", "turn"))
        return;
    *u = (underlay){0};
    th_read_string(decoder, value, "id", &u->id);
    th_read_string(decoder, value, "level", &u->level);
    th_read_string(decoder, value, "file", &u->file);
    th_read_number(decoder, value, "metres_per_pixel", &u->scale);
    th_read_number(decoder, value, "turn", &u->turn);
    json_t *at = json_object_get(value, "at"), *scale = json_object_get(value, "metres_per_pixel");
    th_place place = th_enter_key(decoder, "at");
    if (at) th_decode_point(decoder, at);
    th_leave(decoder, place);
    place = th_enter_key(decoder, "metres_per_pixel");
    if (!(u->scale >= 1e-5 && u->scale <= 1e3)) th_expected(decoder, scale, "0.00001 to 1000 m");
    th_leave(decoder, place);
    place = th_enter_key(decoder, "file");
    if (!u->file) th_expected(decoder, NULL, "the name of a picture");
    th_leave(decoder, place);
}

// Checks the pictures that lie under a plan, which are drawn by others; a run does not use them.
static void read_underlays(th_decoder *decoder, json_t *root, const th_scene_def *def) {
    enum { UNDERLAYS_MAX = 20 };
    int count = 0;
    const underlay *list =
        th_read_array(decoder, root, "underlays", sizeof *list, read_underlay, &count);
    th_place place = th_enter_key(decoder, "underlays");
    if (count > UNDERLAYS_MAX)
        th_expected(decoder, json_object_get(root, "underlays"), "at most 20 pictures");
    for (int k = 0; k < count && decoder->result == TH_OK; ++k) {
        int level = 0;
        while (list[k].level && level < def->level_count &&
               !(def->levels[level].id && strcmp(def->levels[level].id, list[k].level) == 0))
            ++level;
        if (level == 0 || level < def->level_count) continue;
        th_place inside = th_enter_index(decoder, (size_t)k);
        th_enter_key(decoder, "level");
        th_expected(
            decoder,
            json_object_get(json_array_get(json_object_get(root, "underlays"), (size_t)k), "level"),
            "the id of a level");
        th_leave(decoder, inside);
    }
    th_leave(decoder, place);
}

th_result th_scene_decode(json_t *root, th_arena *arena, const th_source_map *map,
                          th_scene_def *def, th_error *error) {
    th_decoder decoder = {arena, map, error, TH_OK, ""};
    int own;
    const char *const *keys = th_scene_keys(&own);
    const char *known[TH_OWN_KEY_MAX + TH_SECTION_MAX];
    memcpy(known, keys, (size_t)own * sizeof *keys);
    int count = own + th_section_names(known + own);
    if (!th_check_keys(&decoder, root, known, count)) return decoder.result;
    th_read_string(&decoder, root, "name", &def->name);
    th_read_string(&decoder, root, "timetable", &def->timetable_file);
    th_read_string(&decoder, root, "description", &def->description);
    th_read_number(&decoder, root, "plan_cell", &def->plan_cell);
    read_recipe(&decoder, root);
    def->levels = th_read_array(&decoder, root, "levels", sizeof(th_level_def), read_level,
                                &def->level_count);
    read_underlays(&decoder, root, def);
    def->stairs = th_read_array(&decoder, root, "stairs", sizeof(th_stairs_def), read_stairs,
                                &def->stairs_count);
    def->zones =
        th_read_array(&decoder, root, "zones", sizeof(th_zone_def), read_zone, &def->zone_count);
    def->pictures = th_read_array(&decoder, root, "pictures", sizeof(th_picture_def), read_picture,
                                  &def->picture_count);
    th_decode_sections(&decoder, root, def);
    def->doors =
        th_read_array(&decoder, root, "doors", sizeof(th_door_def), read_door, &def->door_count);
    read_goals(&decoder, root, def);
    th_group_def *groups = th_read_array(&decoder, root, "groups", sizeof(th_group_def), read_group,
                                         &def->group_count);
    def->groups = groups;
    def->profiles = th_read_array(&decoder, root, "profiles", sizeof(th_profile_def), read_profile,
                                  &def->profile_count);
    th_check_shadowed(&decoder, root, def);
    def->scripted = th_read_array(&decoder, root, "scripted", sizeof(th_scripted_def),
                                  read_scripted, &def->scripted_count);
    read_measure(&decoder, root, def);
    read_run(&decoder, root, &def->run);
    read_record(&decoder, root, &def->record);
    default_routes(&decoder, root, def, groups);
    return decoder.result;
}
