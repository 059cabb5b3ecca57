// Loading and compiling scenes: walls, openings, levels, short forms, overrides, linked files.
// SPDX-License-Identifier: Apache-2.0
#include "behave/interest/interest.h"
#include "registry/models.h"
#include "scene/scene.h"
#include "support.h"
#include <math.h>
#include <string.h>

static th_scene *good(const char *name) {
    char path[200];
    snprintf(path, sizeof path, "tests/data/scene/good/%s", name);
    return scene_file(path);
}

static th_scene *with_override(const char *name, const char *override) {
    char path[400];
    snprintf(path, sizeof path, "%s/tests/data/scene/good/%s", TH_SOURCE_DIR, name);
    th_scene_options options = {.overrides = &override, .override_count = 1};
    th_scene *scene = NULL;
    th_error error;
    if (th_scene_load_file(path, &options, &scene, &error) != TH_OK) fail_msg("%s", error.message);
    return scene;
}

// Chains are closed and continuous; lengths and directions fit; convexity is RVO2's leftOf(prev, a, b) >= 0.
static void check_chains(const th_scene *scene) {
    for (int i = 0; i < scene->wall_count; ++i) {
        const th_wall *wall = &scene->walls[i];
        const th_wall *next = &scene->walls[wall->next], *prev = &scene->walls[wall->prev];
        assert_true(wall->next >= 0 && wall->next < scene->wall_count);
        assert_int_equal(next->prev, i);
        assert_int_equal(prev->next, i);
        assert_memory_equal(&wall->b, &next->a, sizeof wall->b);
        assert_true(wall->length > 1e-6f);
        float x = wall->b.x - wall->a.x, y = wall->b.y - wall->a.y;
        assert_near(wall->length, sqrtf(x * x + y * y), 1e-4);
        assert_near(wall->direction.x * wall->length, x, 1e-3);
        double left =
            ((double)prev->a.x - (double)wall->b.x) * ((double)wall->a.y - (double)prev->a.y) -
            ((double)prev->a.y - (double)wall->b.y) * ((double)wall->a.x - (double)prev->a.x);
        assert_int_equal(wall->a_convex, left >= 0.0);
        const th_level *level = &scene->levels[wall->level];
        assert_true(i >= level->wall_begin && i < level->wall_end);
    }
}

// Just right of every one-sided wall is walkable ground, just left of it is not.
static void check_sides(const th_scene *scene, int level) {
    int checked = 0;
    for (int i = 0; i < scene->wall_count; ++i) {
        const th_wall *wall = &scene->walls[i];
        if (wall->level != level || wall->door >= 0 || wall->length < 0.01f) continue;
        float step = 0.002f;
        th_vec2 middle = {0.5f * (wall->a.x + wall->b.x), 0.5f * (wall->a.y + wall->b.y)};
        th_vec2 right = {middle.x + step * wall->direction.y, middle.y - step * wall->direction.x};
        th_vec2 left = {middle.x - step * wall->direction.y, middle.y + step * wall->direction.x};
        assert_true(th_polygons_contain(&scene->levels[level].walkable, right));
        assert_false(th_polygons_contain(&scene->levels[level].walkable, left));
        ++checked;
    }
    assert_true(checked > 0);
}

static bool wall_covers(const th_scene *scene, int level, float x, float y, int door) {
    for (int i = 0; i < scene->wall_count; ++i) {
        const th_wall *w = &scene->walls[i];
        if (w->level != level || w->door != door) continue;
        float along = (x - w->a.x) * w->direction.x + (y - w->a.y) * w->direction.y;
        float across = (x - w->a.x) * w->direction.y - (y - w->a.y) * w->direction.x;
        if (fabsf(across) < 1e-3f && along >= 0.0f && along <= w->length) return true;
    }
    return false;
}

static void ten_lines(void **state) {
    (void)state;
    th_scene *scene = good("ten_lines.json");
    check_chains(scene);
    assert_int_equal(scene->level_count, 1);
    assert_string_equal(scene->levels[0].id, "ground");
    double circle = 0.5 * 64.0 * 0.25 * sin(2.0 * 3.14159265358979 / 64.0);
    assert_near(scene->levels[0].walkable.area, 200.0 - circle, 1e-4);
    assert_int_equal(scene->target_count, 1);
    assert_int_equal(scene->groups[0].count, 50);
    assert_int_equal(scene->groups[0].move.model, TH_MOVE_PEOPLE);
    assert_int_equal(scene->groups[0].plan.model, TH_PLAN_QUICKEST);
    // The exit line opens the wall it lies on; the wall stands on both sides of it.
    assert_false(wall_covers(scene, 0, 20.0f, 5.0f, -1));
    assert_true(wall_covers(scene, 0, 20.0f, 3.9f, -1));
    assert_true(wall_covers(scene, 0, 20.0f, 6.1f, -1));
    assert_true(th_scene_walkable(scene, 0, (th_vec2){1.0f, 1.0f}));
    assert_false(th_scene_walkable(scene, 0, (th_vec2){12.0f, 5.0f}));
    th_scene_destroy(scene);
}

static void everything(void **state) {
    (void)state;
    th_scene *scene = good("everything.json");
    check_chains(scene);
    assert_string_equal(scene->name, "everything");
    assert_int_equal(scene->level_count, 2);
    // 600 m2 less two obstacles, plus the stairs' 24 m2
    assert_near(scene->levels[0].walkable.area, 600.0 - 4.0 - 1.0 + 24.0, 1e-6);
    assert_int_equal(scene->link_count, 1);
    assert_int_equal(scene->links[0].level[0], 0);
    assert_int_equal(scene->links[0].level[1], 1);
    assert_near(scene->links[0].up.x, 1.0f, 1e-6);
    // The top of the stairs is open on both levels.
    assert_false(wall_covers(scene, 0, 36.0f, 10.0f, -1));
    assert_false(wall_covers(scene, 1, 36.0f, 10.0f, -1));
    assert_true(wall_covers(scene, 1, 36.0f, 7.0f, -1));
    // Mud, then the stairs as a zone with two factors.
    assert_int_equal(scene->zone_count, 2);
    assert_near(scene->zones[0].up, 0.6f, 1e-6);
    assert_near(scene->zones[1].up, 0.5f, 1e-6);
    assert_near(scene->zones[1].down, 0.67f, 1e-6);
    // Doors: their own two edges, and the drawn wall cut where the north door lies.
    assert_int_equal(scene->door_count, 2);
    assert_true(wall_covers(scene, 0, 15.0f, 10.0f, 0));
    assert_false(wall_covers(scene, 0, 15.0f, 16.0f, -1));
    assert_true(wall_covers(scene, 0, 15.0f, 16.0f, 1));
    assert_true(scene->doors[0].closed);
    assert_int_equal(scene->doors[0].schedule_count, 3);
    assert_false(scene->doors[0].schedule[1].open);
    // Targets are shared: {west, roof} is asked for by three groups and exists once.
    // The kiosk is a detour of two of these, the show of one of them.
    assert_int_equal(scene->goal_count, 7);
    assert_int_equal(scene->target_count, 5);
    assert_int_equal(scene->name_count, 2);
    assert_int_equal(scene->groups[2].detour_count, 2);
    assert_int_equal(scene->groups[3].detour_count, 1);
    assert_int_equal(scene->groups[2].route[1], scene->groups[3].route[1]);
    assert_int_equal(th_group_target(&scene->groups[3], TH_DETOUR), scene->groups[3].route[1]);
    assert_int_equal(th_group_target(&scene->groups[3], 2 * TH_DETOUR), -1);
    assert_near(scene->groups[2].weights[1], 0.5, 1e-6);
    int places;
    const th_interest_place *place = th_scene_items(scene, "interests", &places);
    assert_int_equal(places, 2);
    assert_ptr_equal(scene->goals[5].item, &place[0].item);
    assert_near(place[0].strength, 2.0, 0.0);
    assert_near(place[1].until, 60.0, 0.0);
    assert_int_equal(scene->groups[0].route[1], scene->groups[2].route[0]);
    assert_int_equal(scene->groups[2].route[0], scene->groups[3].route[0]);
    assert_int_equal(scene->groups[0].route_count, 2);
    assert_int_equal(scene->groups[1].count, 56); // 0.2 per m2 of 280 m2
    assert_int_equal(scene->groups[3].arrival_count, 2);
    assert_int_equal(scene->groups[5].count, 2);
    assert_near(scene->groups[5].positions[1].x, 8.5f, 1e-6);
    assert_near(scene->groups[0].move.params[1], 3.0f, 1e-6); // time_horizon
    assert_int_equal(scene->scripted_count, 2);
    assert_false(scene->scripted[0].is_body);
    assert_near(scene->measure_areas[0].walkable_area, 12.0, 1e-6);
    assert_near(scene->run.step, 0.05, 1e-12);
    assert_int_equal(scene->run.runs, 2);
    assert_string_equal(scene->record.format, "sqlite");
    th_scene_destroy(scene);
}

// The discs of a body keep inside its shape and leave no way in for a body of 0.2 m radius.
static void scripted_body(void **state) {
    (void)state;
    th_scene *scene = good("everything.json");
    const th_scripted *cart = &scene->scripted[1];
    assert_true(cart->is_body && cart->disc_count > 4);
    for (int i = 0; i < cart->disc_count; ++i) {
        assert_true(fabsf(cart->discs[i].x) + cart->radius <= 0.6f + 1e-4f);
        assert_true(fabsf(cart->discs[i].y) + cart->radius <= 0.4f + 1e-4f);
    }
    for (float x = -0.55f; x <= 0.55f; x += 0.05f)
        for (float y = -0.35f; y <= 0.35f; y += 0.05f) {
            float nearest = 1e9f;
            for (int i = 0; i < cart->disc_count; ++i) {
                float dx = cart->discs[i].x - x, dy = cart->discs[i].y - y;
                nearest = fminf(nearest, sqrtf(dx * dx + dy * dy) - cart->radius);
            }
            assert_true(nearest < 0.2f); // an agent centred here would overlap
        }
    th_scene_destroy(scene);
}

static void linked_files_and_origin(void **state) {
    (void)state;
    th_scene *scene = good("linked.json");
    check_chains(scene);
    check_sides(scene, 0);
    // Two overlapping polygons joined, two pillars cut out, and map coordinates taken to an origin.
    assert_near(scene->levels[0].walkable.area, 122.0 * 50 + 10.0 * 10 - 8.0, 1e-3);
    assert_near(fmod(scene->origin.x, 100.0), 0.0, 1e-9);
    assert_true(fabs(scene->origin.x - 2600060.0) < 100.0);
    assert_true(fabsf(scene->levels[0].box.max_x) < 200.0f);
    assert_near(scene->run.duration, 30.0, 1e-12);
    th_scene_destroy(scene);
}

static void open_plane(void **state) {
    (void)state;
    th_scene *scene = good("open_plane.json");
    assert_false(scene->levels[0].bounded);
    assert_true(scene->levels[0].box.max_x > 20.0f && scene->levels[0].box.max_x < 60.0f);
    assert_int_equal(scene->wall_count, 0);
    assert_int_equal(scene->groups[0].own_goal, TH_OWN_GOAL_OPPOSITE);
    th_scene_destroy(scene);
}

static void overrides_change_the_scene(void **state) {
    (void)state;
    const struct {
        const char *text;
        int count;
    } cases[] = {{"groups[0].count=7", 7},
                 {"groups.0.count=8", 8},
                 {"groups.visitors.count=9", 9},
                 {"groups[visitors].count = 10", 10}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        th_scene *scene = with_override("everything.json", cases[i].text);
        assert_int_equal(scene->groups[0].count, cases[i].count);
        th_scene_destroy(scene);
    }
    th_scene *scene = with_override("everything.json", "groups.visitors.move=social_force");
    assert_int_equal(scene->groups[0].move.model, TH_MOVE_SOCIAL_FORCE);
    th_scene_destroy(scene);
    scene = with_override("everything.json", "groups.wanderers.move.relaxation_time=0.7");
    assert_int_equal(scene->groups[4].move.model, TH_MOVE_HELBING_MOLNAR);
    th_scene_destroy(scene);
    scene = with_override("ten_lines.json", "run.seed=99"); // "run" is not in the file
    assert_int_equal(scene->run.seed, 99);
    th_scene_destroy(scene);
    scene = with_override("ten_lines.json", "exits[0].line[0][1]=3");
    assert_near(scene->goals[0].line.a.y, 3.0f, 1e-6);
    th_scene_destroy(scene);
}

static void contains(void **state) {
    (void)state;
    const th_vec2 points[] = {{0, 0}, {4, 0}, {4, 4}, {0, 4}, {1, 1}, {1, 3}, {3, 3}, {3, 1}};
    const int starts[] = {0, 4, 8};
    th_polygons ring = {2, starts, points, {0, 0, 4, 4}, 12.0};
    assert_true(th_polygons_contain(&ring, (th_vec2){0.5f, 2.0f}));
    assert_false(th_polygons_contain(&ring, (th_vec2){2.0f, 2.0f}));
    assert_false(th_polygons_contain(&ring, (th_vec2){5.0f, 2.0f}));
    assert_true(th_polygons_contain(&ring, (th_vec2){0.5f, 1.0f})); // at the height of a corner
}

// The same scene from code: the file adds nothing that a program could not say.
static void scene_from_code(void **state) {
    (void)state;
    const th_point room[] = {{0, 0}, {20, 0}, {20, 10}, {0, 10}};
    th_shape walkable = {.points = room, .point_count = 4};
    th_level_def level = th_level_def_default();
    level.walkable = &walkable;
    level.walkable_count = 1;
    th_goal_def exit = th_goal_def_default(TH_GOAL_EXIT);
    exit.id = "east";
    exit.has_line = true;
    exit.line[0] = (th_point){20, 4};
    exit.line[1] = (th_point){20, 6};
    const char *ids[] = {"east"};
    th_route_step leg = {ids, 1};
    th_group_def group = th_group_def_default();
    group.count = 5;
    group.route = &leg;
    group.route_count = 1;
    th_scene_def def = th_scene_def_default();
    def.levels = &level;
    def.level_count = 1;
    def.goals = &exit;
    def.goal_count = 1;
    def.groups = &group;
    def.group_count = 1;
    th_scene *scene = NULL;
    th_error error = {0};
    assert_int_equal(th_scene_create(&def, &scene, &error), TH_OK);
    check_chains(scene);
    assert_int_equal(scene->wall_count, 10);
    th_scene_destroy(scene);
    th_scene_def zero = {0};
    assert_int_equal(th_scene_create(&zero, &scene, &error), TH_BAD_ARGUMENT);
}

// A wall of which everything but two ends is door; a door that only touches a wall cuts nothing.
static void cuts(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON(
        {"levels":[{"walkable":{"rect":[0,0,10,10]}, "walls":[[[5,0],[5,10]]]}],
        "doors":[{"id":"a", "line":[[5.005,2],[5.005,4]]}, {"id":"b", "line":[[5,6],[7,6]]},
            {"id":"c", "line":[[5.05,8],[5.05,9]]}]}));
    check_chains(scene);
    assert_false(wall_covers(scene, 0, 5.0f, 3.0f, -1)); // 5 mm off: on the wall
    assert_true(wall_covers(scene, 0, 5.0f, 6.0f, -1));  // only touches
    assert_true(wall_covers(scene, 0, 5.0f, 8.5f, -1));  // 5 cm off: another line
    th_scene_destroy(scene);
}

// The corner (x, y) of a plan turned by `angle`, with so many decimals.
static int put_turned(char *text, size_t size, double angle, int decimals, double x, double y) {
    return snprintf(text, size, "%.*f %.*f", decimals, x * cos(angle) - y * sin(angle), decimals,
                    x * sin(angle) + y * cos(angle));
}

static size_t put_ring(char *text, size_t size, double angle, int decimals, const double box[4]) {
    const int corners[][2] = {{0, 1}, {2, 1}, {2, 3}, {0, 3}, {0, 1}};
    size_t at = (size_t)snprintf(text, size, "POLYGON((");
    for (int k = 0; k < 5; ++k) {
        at += (size_t)put_turned(text + at, size - at, angle, decimals, box[corners[k][0]],
                                 box[corners[k][1]]);
        at += (size_t)snprintf(text + at, size - at, k < 4 ? "," : "))");
    }
    return at;
}

// A room, a corridor beside it and a passage that joins both, drawn side by side at an angle with rounded coordinates: as two
// shapes or as one. No slit is left where they touch.
static void seams_are_closed(void **state) {
    (void)state;
    static const double boxes[][4] = {{0, 0, 10, 10}, {10, 4.4, 11, 5.6}, {11, -3, 14, 12}};
    for (int k = 0; k < 4 * 44; ++k) {
        int degrees = 1 + 2 * (k / 4), decimals = k % 2 ? 3 : 6;
        double angle = degrees * 3.14159265358979 / 180.0;
        char text[1500];
        size_t at = (size_t)snprintf(text, sizeof text, "{\"levels\":[{\"walkable\":%s",
                                     k % 4 < 2 ? "[\"" : "\"GEOMETRYCOLLECTION(");
        for (int b = 0; b < 3; ++b) {
            at += put_ring(text + at, sizeof text - at, angle, decimals, boxes[b]);
            if (b < 2)
                at += (size_t)snprintf(text + at, sizeof text - at, k % 4 < 2 ? "\",\"" : ",");
        }
        snprintf(text + at, sizeof text - at, "%s}]}", k % 4 < 2 ? "\"]" : ")\"");
        th_scene *scene = scene_of(text);
        if (scene->levels[0].walkable.ring_count != 1 || scene->wall_count != 12)
            fail_msg("%d degrees, %d decimals: %d walls", degrees, decimals, scene->wall_count);
        th_scene_destroy(scene);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_lines),     cmocka_unit_test(everything),
        cmocka_unit_test(scripted_body), cmocka_unit_test(linked_files_and_origin),
        cmocka_unit_test(open_plane),    cmocka_unit_test(overrides_change_the_scene),
        cmocka_unit_test(contains),      cmocka_unit_test(scene_from_code),
        cmocka_unit_test(cuts),          cmocka_unit_test(seams_are_closed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
