// The public view of a scene says what the scene file says, read here by another route: the file's JSON.
// SPDX-License-Identifier: Apache-2.0
#include "support.h"
#include "throng/throng.h"
#include <jansson.h>
#include <math.h>
#include <string.h>

static const char *path_of(const char *name) {
    static char path[400];
    snprintf(path, sizeof path, "%s/%s", TH_SOURCE_DIR, name);
    return path;
}

typedef struct pair { // a scene, and its file as JSON
    th_scene *scene;
    json_t *json;
} pair;

static pair load(const char *name, const char *override) {
    th_scene_options options = {.overrides = &override, .override_count = override ? 1 : 0};
    pair p = {0};
    th_error error;
    char *text = NULL;
    if (th_scene_load_file(path_of(name), &options, &p.scene, &error) != TH_OK ||
        th_scene_overridden_json(path_of(name), &options, &text, &error) != TH_OK)
        fail_msg("%s", error.message);
    p.json = json_loads(text, 0, NULL);
    assert_non_null(p.json);
    th_free(text);
    return p;
}

static void release(pair *p) {
    json_decref(p->json);
    th_scene_destroy(p->scene);
}

static double number(const json_t *object, const char *key, double absent) {
    const json_t *value = json_object_get(object, key);
    return value ? json_number_value(value) : absent;
}

static void check_text(const json_t *object, const char *key, const char *text) {
    assert_string_equal(json_string_value(json_object_get(object, key)), text);
}

// Id and level of an object of the file.
static void check_place(const th_scene *scene, const json_t *object, const char *id, int level) {
    check_text(object, "id", id);
    assert_in_range(level, 0, scene->level_count - 1);
    check_text(object, "level", scene->levels[level].id);
}

static void check_line(const th_scene *scene, const json_t *points, th_vec2 a, th_vec2 b) {
    const th_vec2 ends[2] = {a, b};
    for (size_t i = 0; i < 2; ++i) {
        const json_t *point = json_array_get(points, i);
        assert_near((double)ends[i].x + scene->origin.x,
                    json_number_value(json_array_get(point, 0)), 1e-5);
        assert_near((double)ends[i].y + scene->origin.y,
                    json_number_value(json_array_get(point, 1)), 1e-5);
    }
}

// An area given as {"rect": [x0, y0, x1, y1]}; others are left to their own tests.
static void check_rect(const th_scene *scene, const json_t *area, const th_polygons *shape) {
    const json_t *rect = json_object_get(area, "rect");
    if (!rect) return;
    double side[4], area_m2 = 0;
    for (size_t i = 0; i < 4; ++i) side[i] = json_number_value(json_array_get(rect, i));
    area_m2 = (side[2] - side[0]) * (side[3] - side[1]);
    assert_int_equal(shape->ring_count, 1);
    assert_int_equal(shape->ring_start[1] - shape->ring_start[0], 4);
    assert_near(shape->area, area_m2, 1e-6);
    assert_near((double)shape->box.min_x + scene->origin.x, side[0], 1e-5);
    assert_near((double)shape->box.max_y + scene->origin.y, side[3], 1e-5);
}

static void check_settings(const pair *p) {
    const json_t *run = json_object_get(p->json, "run"),
                 *record = json_object_get(p->json, "record");
    check_text(p->json, "name", p->scene->name);
    check_text(p->json, "description", p->scene->description);
    assert_near(p->scene->plan_cell, number(p->json, "plan_cell", 0), 0);
    assert_near(p->scene->run.step, number(run, "step", 0.1), 0);
    assert_near(p->scene->run.max_time, number(run, "max_time", 3600), 0);
    assert_int_equal(p->scene->run.seed, number(run, "seed", 1));
    assert_int_equal(p->scene->run.runs, number(run, "runs", 1));
    assert_near(p->scene->record.fps, number(record, "fps", 10), 0);
    if (record) check_text(record, "format", p->scene->record.format);
}

static void check_levels(const pair *p) {
    const json_t *levels = json_object_get(p->json, "levels");
    assert_int_equal(p->scene->level_count, json_array_size(levels));
    int walls = 0;
    for (int i = 0; i < p->scene->level_count; ++i) {
        const th_level *level = &p->scene->levels[i];
        const json_t *object = json_array_get(levels, (size_t)i);
        check_text(object, "id", level->id);
        assert_near(level->z, number(object, "z", 0), 1e-6);
        assert_int_equal(level->bounded, json_object_get(object, "walkable") != NULL);
        assert_int_equal(level->wall_begin, walls);
        for (int w = level->wall_begin; w < level->wall_end; ++w)
            assert_int_equal(p->scene->walls[w].level, i);
        walls = level->wall_end;
    }
    assert_int_equal(walls, p->scene->wall_count);
}

static void check_stairs(const pair *p) {
    const json_t *stairs = json_object_get(p->json, "stairs");
    assert_int_equal(p->scene->link_count, json_array_size(stairs));
    int zones = (int)json_array_size(json_object_get(p->json, "zones"));
    assert_int_equal(p->scene->zone_count, zones + p->scene->link_count);
    for (int i = 0; i < p->scene->link_count; ++i) {
        const th_link *link = &p->scene->links[i];
        const th_zone *zone = &p->scene->zones[zones + i];
        const json_t *object = json_array_get(stairs, (size_t)i);
        check_place(p->scene, object, link->id, link->level[0]);
        check_text(object, "to", p->scene->levels[link->level[1]].id);
        check_line(p->scene, json_object_get(object, "top"), link->a, link->b);
        check_place(p->scene, object, zone->id, zone->area.level);
        check_rect(p->scene, json_object_get(object, "area"), &zone->area.shape);
        assert_near(zone->up, number(object, "up", 0.5), 1e-6);
        assert_near(zone->down, number(object, "down", 0.67), 1e-6);
        assert_memory_equal(&zone->up_direction, &link->up, sizeof link->up);
    }
}

static void check_doors(const pair *p) {
    const json_t *doors = json_object_get(p->json, "doors");
    assert_int_equal(p->scene->door_count, json_array_size(doors));
    for (int d = 0; d < p->scene->door_count; ++d) {
        const th_door *door = &p->scene->doors[d];
        const json_t *object = json_array_get(doors, (size_t)d);
        check_place(p->scene, object, door->id, door->line.level);
        check_line(p->scene, json_object_get(object, "line"), door->line.a, door->line.b);
        assert_int_equal(door->closed, json_is_true(json_object_get(object, "closed")));
        assert_int_equal(door->schedule_count,
                         json_array_size(json_object_get(object, "schedule")));
        int walls = 0; // a door is two edges back to back, more where others cut it
        for (int w = 0; w < p->scene->wall_count; ++w) walls += p->scene->walls[w].door == d;
        assert_in_range(walls, 2, 8);
    }
}

static void check_goals(const pair *p) {
    static const char *const arrays[] = {"exits", "waypoints", "waiting_areas", "interests"};
    size_t seen[4] = {0};
    for (int g = 0; g < p->scene->goal_count; ++g) {
        const th_goal *goal = &p->scene->goals[g];
        const json_t *array = json_object_get(p->json, arrays[goal->kind]);
        const json_t *object = json_array_get(array, seen[goal->kind]++);
        check_place(p->scene, object, goal->id, goal->line.level);
        assert_int_equal(goal->area.level, goal->line.level);
        assert_int_equal(goal->is_line, json_object_get(object, "line") != NULL);
        if (goal->is_line)
            check_line(p->scene, json_object_get(object, "line"), goal->line.a, goal->line.b);
        else
            check_rect(p->scene, json_object_get(object, "area"), &goal->area.shape);
        assert_near(goal->wait, number(object, "wait", 0), 1e-6);
    }
    for (int k = 0; k < 4; ++k)
        assert_int_equal(seen[k], json_array_size(json_object_get(p->json, arrays[k])));
}

// One leg: the name of a goal, or several of which the nearest counts.
static void check_leg(const th_scene *scene, const json_t *leg, int target) {
    assert_in_range(target, 0, scene->target_count - 1);
    const th_target *goals = &scene->targets[target];
    int count = json_is_array(leg) ? (int)json_array_size(leg) : 1;
    assert_int_equal(goals->goal_count, count);
    for (int i = 0; i < count; ++i) {
        const json_t *name = json_is_array(leg) ? json_array_get(leg, (size_t)i) : leg;
        bool found = false;
        for (int g = 0; g < count; ++g)
            found = found || strcmp(json_string_value(name), scene->goals[goals->goals[g]].id) == 0;
        assert_true(found);
    }
}

static void check_route(const th_scene *scene, const json_t *object, const th_group *group) {
    const json_t *to = json_object_get(object, "to"), *route = json_object_get(object, "route");
    if (to) {
        assert_int_equal(group->route_count, 1);
        check_leg(scene, to, group->route[0]);
    } else if (route) {
        assert_int_equal(group->route_count, json_array_size(route));
        for (int i = 0; i < group->route_count; ++i)
            check_leg(scene, json_array_get(route, (size_t)i), group->route[i]);
    }
}

// A model by its name, or an object with "model", "preset" and values: the values in force.
static void check_model(const json_t *chosen, const char *usual, th_stage stage,
                        const th_model_choice *choice) {
    const char *name = json_is_object(chosen) ? json_string_value(json_object_get(chosen, "model"))
                       : chosen               ? json_string_value(chosen)
                                              : usual;
    int count = 0;
    const th_model *const *models = th_models(&count);
    assert_in_range(choice->model, 0, count - 1);
    const th_model *model = models[choice->model];
    assert_int_equal(model->stage, stage);
    assert_string_equal(model->name, name);
    const char *preset = json_string_value(json_object_get(chosen, "preset"));
    for (int i = 0; i < model->param_count; ++i) {
        double expected = model->params[i].value;
        for (int s = 0; preset && s < model->preset_count; ++s)
            for (int k = 0; k < model->presets[s].param_count; ++k)
                if (strcmp(model->presets[s].name, preset) == 0 &&
                    strcmp(model->presets[s].params[k].name, model->params[i].name) == 0)
                    expected = model->presets[s].params[k].value;
        expected = number(json_is_object(chosen) ? chosen : NULL, model->params[i].name, expected);
        assert_near(choice->params[i], (float)expected, 0);
    }
}

static void checplaces(const pair *p) {
    const json_t *groups = json_object_get(p->json, "groups"), *object;
    size_t place;
    int g = 0;
    json_array_foreach(groups, place, object) {
        size_t kinds = json_object_size(json_object_get(object, "profiles"));
        if (kinds > 0) { // a group per kind; test_profiles looks at them
            g += (int)kinds;
            continue;
        }
        const th_group *group = &p->scene->groups[g++];
        check_place(p->scene, object, group->id, group->level);
        check_rect(p->scene, json_object_get(object, "area"), &group->area.shape);
        const json_t *count = json_object_get(object, "count");
        if (count) assert_int_equal(group->count, json_integer_value(count));
        const json_t *source = json_object_get(object, "source");
        assert_near(group->rate, number(source, "rate", 0), 0);
        assert_int_equal(group->arrival_count,
                         json_array_size(json_object_get(source, "timetable")));
        check_route(p->scene, object, group);
        const json_t *behave = json_object_get(object, "behave");
        int behaviours = json_is_array(behave) ? (int)json_array_size(behave) : 1;
        assert_int_equal(group->behave_count, behaviours);
        for (int k = 0; k < behaviours; ++k)
            check_model(json_is_array(behave) ? json_array_get(behave, (size_t)k) : behave, "route",
                        TH_STAGE_BEHAVE, &group->behave[k]);
        check_model(json_object_get(object, "plan"), "quickest", TH_STAGE_PLAN, &group->plan);
        check_model(json_object_get(object, "filter"), "none", TH_STAGE_FILTER, &group->filter);
        check_model(json_object_get(object, "move"), "people", TH_STAGE_MOVE, &group->move);
    }
    assert_int_equal(p->scene->group_count, g);
}

static void check_measures(const pair *p) {
    const json_t *measure = json_object_get(p->json, "measure");
    const json_t *lines = json_object_get(measure, "lines"),
                 *areas = json_object_get(measure, "areas");
    assert_int_equal(p->scene->measure_line_count, json_array_size(lines));
    assert_int_equal(p->scene->measure_area_count, json_array_size(areas));
    for (int i = 0; i < p->scene->measure_line_count; ++i) {
        const th_measure_line *line = &p->scene->measure_lines[i];
        const json_t *object = json_array_get(lines, (size_t)i);
        check_place(p->scene, object, line->id, line->line.level);
        check_line(p->scene, json_object_get(object, "line"), line->line.a, line->line.b);
    }
    for (int i = 0; i < p->scene->measure_area_count; ++i) {
        const th_measure_area *area = &p->scene->measure_areas[i];
        const json_t *object = json_array_get(areas, (size_t)i);
        check_place(p->scene, object, area->id, area->area.level);
        check_rect(p->scene, json_object_get(object, "area"), &area->area.shape);
        assert_true(area->walkable_area <= area->area.shape.area + 1e-9);
    }
}

static void check_all(const pair *p) {
    check_settings(p);
    check_levels(p);
    check_stairs(p);
    check_doors(p);
    check_goals(p);
    checplaces(p);
    check_measures(p);
}

// Values that the file leaves out or writes in a short form.
static void everything(void **state) {
    (void)state;
    pair p = load("tests/data/scene/good/everything.json", NULL);
    const th_scene *scene = p.scene;
    check_all(&p);
    assert_near(scene->levels[0].walkable.area, 600 - 4 - 1 + 24, 1e-6); // obstacles off, stairs on
    assert_int_equal(scene->zones[0].up_direction.x, 0);                 // mud is no stairs
    assert_near(scene->zones[0].up, 0.6f, 0);
    assert_near(scene->doors[0].schedule[1].time, 60, 0);
    assert_false(scene->doors[0].schedule[1].open);
    const th_group *visitors = &scene->groups[0];
    assert_int_equal(visitors->radius.kind, TH_DISTRIBUTION_UNIFORM);
    assert_int_equal(visitors->speed.kind, TH_DISTRIBUTION_NORMAL);
    assert_near(visitors->speed.max, 2, 0);
    assert_int_equal(visitors->premovement.kind, TH_DISTRIBUTION_LOGNORMAL);
    assert_near(visitors->mass.a, 75, 0);
    assert_int_equal(scene->groups[1].count, 56); // 0.2 people per m2 on 280 m2
    assert_near(scene->groups[2].rate_end, 30, 0);
    assert_int_equal(scene->groups[3].arrivals[1].count, 4);
    assert_int_equal(scene->groups[4].count, 3);
    assert_near(scene->groups[4].positions[2].x, 3, 1e-6);
    assert_int_equal(scene->groups[4].own_goal, TH_OWN_GOAL_IN_AREA);
    assert_int_equal(scene->groups[5].own_goal, TH_OWN_GOAL_MIRROR_X);
    assert_near(scene->groups[5].own_goal_centre.x, 7.5, 1e-6);
    assert_int_equal(scene->scripted_count, 2);
    assert_string_equal(scene->scripted[0].id, "guard");
    assert_int_equal(scene->scripted[0].disc_count, 1);
    assert_true(scene->scripted[1].is_body && scene->scripted[1].disc_count > 1);
    assert_near(scene->scripted[1].path[1].y, 17, 1e-6);
    assert_near(scene->measure_areas[0].walkable_area, 12, 1e-6);
    release(&p);
}

static void stairs_are_seen(void **state) {
    (void)state;
    static const char *const names[] = {"scenes/verification/rimea_13_stairs.json",
                                        "scenes/verification/nist_22_stairs.json"};
    for (int i = 0; i < 2; ++i) {
        pair p = load(names[i], NULL);
        check_all(&p);
        assert_int_equal(p.scene->link_count, 1);
        assert_near(p.scene->links[0].up.x, 1, 1e-6); // both go up to the right
        assert_near(p.scene->links[0].up.y, 0, 1e-6);
        release(&p);
    }
}

// The overridden JSON, loaded from the same folder, is the scene that the overrides give.
static void overridden_json(void **state) {
    (void)state;
    const char *override = "groups.visitors.count=17";
    pair p = load("tests/data/scene/good/everything.json", override);
    check_all(&p);
    assert_int_equal(p.scene->groups[0].count, 17);
    char *text = json_dumps(p.json, JSON_COMPACT);
    th_scene *again = NULL;
    th_world *worlds[2] = {NULL, NULL};
    th_error error;
    if (th_scene_load_json(text, strlen(text), "again", path_of("tests/data/scene/good"), NULL,
                           &again, &error) != TH_OK)
        fail_msg("%s", error.message);
    th_world_def def = th_world_def_default();
    assert_int_equal(th_world_create(p.scene, &def, &worlds[0], &error), TH_OK);
    assert_int_equal(th_world_create(again, &def, &worlds[1], &error), TH_OK);
    for (int w = 0; w < 2; ++w) th_world_step(worlds[w], 20);
    assert_int_equal(th_world_hash(worlds[0]), th_world_hash(worlds[1]));
    for (int w = 0; w < 2; ++w) th_world_destroy(worlds[w]);
    th_scene_destroy(again);
    th_free(text);
    release(&p);
}

static void overridden_json_errors(void **state) {
    (void)state;
    char *text = (char *)"";
    th_error error;
    assert_int_equal(th_scene_overridden_json("no/such.json", NULL, &text, &error), TH_NO_FILE);
    assert_null(text);
    assert_string_equal(error.file, "no/such.json");
    const char *override = "groups.nobody.count=17";
    const th_scene_options options = {.overrides = &override, .override_count = 1};
    const char *path = path_of("tests/data/scene/good/everything.json");
    assert_int_equal(th_scene_overridden_json(path, &options, &text, &error), TH_BAD_SCENE);
    assert_null(text);
    assert_non_null(strstr(error.message, "nobody"));
    assert_int_equal(th_scene_overridden_json(path, &options, &text, NULL), TH_BAD_SCENE);
    path = path_of("tests/data/scene/good/hall.wkt");
    assert_int_equal(th_scene_overridden_json(path, NULL, &text, &error), TH_BAD_SCENE);
    assert_int_equal(error.line, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything),
        cmocka_unit_test(stairs_are_seen),
        cmocka_unit_test(overridden_json),
        cmocka_unit_test(overridden_json_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
