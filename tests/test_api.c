// The promises of the public headers that hold for all functions alike: numbers from outside are checked, const means
// const, definitions have the same defaults in programs and in scene files, zeroed ones are refused, versions agree.
// SPDX-License-Identifier: Apache-2.0
#include "state/world.h"
#include "support.h"
#include "throng/live.h"
#include "throng/record.h"
#include "throng/rooms.h"
#include "throng/run.h"
#include <ctype.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char hall[] = TH_JSON({
    "levels": [{"id": "low", "walkable": {"rect": [0, 0, 12, 8]}, "walls": [[[6, 0], [6, 3]], [[6, 5], [6, 8]]]}],
    "doors": [{"id": "gate", "line": [[6, 3], [6, 5]]}],
    "exits": [{"id": "out", "line": [[12, 3], [12, 5]]}],
    "groups": [{"id": "people", "count": 30, "area": {"rect": [1, 1, 5, 7]}, "to": "out", "move": "social_force"}],
    "measure": {"lines": [{"id": "line", "line": [[9, 0], [9, 8]]}],
                "areas": [{"id": "area", "area": {"rect": [6, 0, 12, 8]}}]},
    "run": {"step": 0.05}});

typedef struct fixture {
    th_scene *scene;
    th_world *world;
    th_rooms *rooms;
} fixture;

static int set_up(void **state) {
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->scene = scene_of(hall);
    f->world = world_of(f->scene, 1, 1);
    assert_int_equal(th_rooms_create(f->scene, TH_PASSAGE_WIDTH_MAX, &f->rooms, NULL), TH_OK);
    th_world_step(f->world, 20);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    th_rooms_destroy(f->rooms);
    th_world_destroy(f->world);
    th_scene_destroy(f->scene);
    free(f);
    return 0;
}

// ---- numbers that do not exist

static const int wrong[] = {-1, 9999, INT_MIN, INT_MAX};
enum { WRONG = sizeof wrong / sizeof *wrong };

static void worlds_refuse_wrong_numbers(void **state) {
    th_world *w = ((fixture *)*state)->world;
    th_grid grid;
    th_vec2 point = {3, 3}, way;
    float far;
    for (int k = 0; k < WRONG; ++k) {
        int n = wrong[k], count = 7;
        assert_null(th_world_map(w, n, TH_ACCESS_READ));
        assert_null(th_world_map(w, TH_FIELD_SPEED, (th_access)n));
        th_world_unmap(w, n);
        assert_null(th_world_stored(w, n, &count));
        assert_int_equal(count, 0);
        assert_false(th_world_map_grid(w, (th_grid_kind)n, 0, &grid));
        assert_false(th_world_map_grid(w, TH_GRID_DENSITY, n, &grid));
        assert_string_equal(th_world_exit(w, n).id, "");
        assert_string_equal(th_world_line(w, n).id, "");
        assert_string_equal(th_world_door(w, n).id, "");
        assert_string_equal(th_world_area(w, n).id, "");
        assert_false(th_world_door_open(w, n));
        th_world_distances(w, n, 0, &point, 1, &far);
        assert_true(isinf(far));
        th_world_distances(w, 0, n, &point, 1, &far);
        assert_true(isinf(far));
        assert_false(th_world_directions(w, n, 0, &point, 1, &way));
        assert_false(th_world_directions(w, 0, n, &point, 1, &way));
        assert_int_equal(th_world_set_param(w, n, "tau", 1, NULL), TH_BAD_ARGUMENT);
        assert_int_equal(th_world_add_wall(w, n, (th_vec2){1, 1}, point, NULL, NULL),
                         TH_BAD_ARGUMENT);
        assert_int_equal(th_world_remove_wall(w, n, NULL), TH_BAD_ARGUMENT);
        const th_agent_id first = {1};
        assert_int_equal(th_world_send(w, first, n, point, NULL), TH_BAD_ARGUMENT);
        assert_int_equal(th_world_set_leg(w, first, n, NULL), TH_BAD_ARGUMENT);
        assert_int_equal(th_world_set_field(w, first, n, 1, NULL), TH_BAD_ARGUMENT);
    }
    th_world_unmap(w, TH_FIELD_MASS); // never mapped
    assert_int_equal(th_world_set_door(w, "none", true, NULL), TH_BAD_ARGUMENT);
    assert_int_equal(th_world_field(w, "none"), -1);
    assert_false(th_world_alive(w, (th_agent_id){0}));
    assert_false(th_world_alive(w, (th_agent_id){UINT32_MAX}));
    assert_int_equal(th_world_remove(w, &(th_agent_id){UINT32_MAX}, 1), 0);
    assert_invariants(w);
}

static void agents_need_a_group_and_levels(void **state) {
    fixture *f = *state;
    for (int k = 0; k < WRONG; ++k) {
        th_agent_def agent = th_agent_def_default();
        agent.position = (th_vec2){8, 4};
        assert_int_equal(th_world_spawn(f->world, &agent, 1, NULL, NULL), TH_OK);
        agent.group = wrong[k];
        assert_int_equal(th_world_spawn(f->world, &agent, 1, NULL, NULL), TH_BAD_ARGUMENT);
        agent.group = 0;
        agent.level = wrong[k];
        assert_int_equal(th_world_spawn(f->world, &agent, 1, NULL, NULL), TH_BAD_ARGUMENT);
        agent.level = 0;
        agent.goal_level = wrong[k];
        assert_int_equal(th_world_spawn(f->world, &agent, 1, NULL, NULL), TH_BAD_ARGUMENT);
    }
    assert_int_equal(th_world_agent_count(f->world), 30 + WRONG);
}

// The count and the search are right before the order of the ids is made anew.
static void removed_agents_no_longer_count(void **state) {
    th_world *w = ((fixture *)*state)->world;
    const uint32_t *ids = th_world_map(w, TH_FIELD_ID, TH_ACCESS_READ);
    th_agent_id first = {ids[0]}, second = {ids[1]};
    th_world_unmap(w, TH_FIELD_ID);
    assert_int_equal(th_world_remove(w, &first, 1), 1);
    assert_false(w->id_order_valid);
    assert_int_equal(th_world_agent_count(w), 29);
    assert_false(th_world_alive(w, first));
    assert_true(th_world_alive(w, second));
}

static void models_refuse_wrong_numbers(void **state) {
    th_world *w = ((fixture *)*state)->world;
    th_influence influence;
    th_model_value value;
    uint32_t first = *(const uint32_t *)th_world_map(w, TH_FIELD_ID, TH_ACCESS_READ);
    th_world_unmap(w, TH_FIELD_ID);
    for (int k = 0; k < WRONG; ++k) {
        int n = wrong[k];
        assert_null(th_model_state(w, n));
        th_model_set_state(w, n, &value);
        assert_null(th_model_field(w, n, 0));
        assert_null(th_model_field(w, 0, n));
        assert_int_equal(th_model_used_field(w, n, 0), -1);
        assert_int_equal(th_model_used_field(w, 0, n), -1);
        assert_null(th_model_params(w, th_stage_default_model(TH_STAGE_MOVE), n));
        assert_null(th_model_params(w, n, 0));
        assert_int_equal(th_world_model_statistics(w, n, &value, 1), 0);
        if (n > 0) // -1 and below: all models
            assert_int_equal(th_world_influences(w, (th_agent_id){first}, n, &influence, 1), 0);
        assert_int_equal(th_stage_default_model((th_stage)n), -1);
        assert_int_equal(th_model_find((th_stage)n, "orca"), -1);
        assert_string_equal(th_stage_name((th_stage)n), "?");
        assert_string_equal(th_field_name((th_field)n), "?");
        assert_string_equal(th_grid_name((th_grid_kind)n), "unknown");
        assert_string_equal(th_result_text((th_result)n), "unknown result");
        assert_string_equal(th_trajectory_format_name((th_trajectory_format)n), "unknown");
    }
    assert_int_equal(th_world_influences(w, (th_agent_id){0}, -1, &influence, 1), 0);
}

static void scenes_refuse_wrong_numbers(void **state) {
    fixture *f = *state;
    const th_group *group = &th_scene_view_of(f->scene)->groups[0];
    const th_room_portal *portal = &f->rooms->portals[0];
    for (int k = 0; k < WRONG; ++k) {
        int n = wrong[k];
        assert_false(th_scene_walkable(f->scene, n, (th_vec2){3, 3}));
        assert_true(th_scene_distance(f->scene, n, (th_vec2){3, 3}) == -1e6f);
        assert_true(isinf(th_scene_widest_with_way(f->scene, n)));
        assert_true(th_scene_share_without_way(f->scene, n) == 0.0);
        assert_int_equal(th_group_target(group, (uint32_t)n), -1);
        assert_null(th_scene_level_wkt(f->scene, n));
        assert_int_equal(th_rooms_at(f->rooms, n, (th_vec2){3, 3}), -1);
        assert_int_equal(th_room_place(f->rooms, n, 0), -1);
        assert_int_equal(th_room_place(f->rooms, 0, n), -1);
        assert_int_equal(th_portal_side(portal, n), -1);
    }
    assert_int_equal(th_portal_side(portal, portal->rooms[1]), 1);
    th_rooms *rooms;
    assert_int_equal(th_rooms_create(f->scene, -1, &rooms, NULL), TH_BAD_ARGUMENT);
}

static void definitions_refuse_wrong_enumerators(void **state) {
    fixture *f = *state;
    th_error error;
    for (int k = 0; k < WRONG; ++k) {
        th_world_def world_def = th_world_def_default();
        th_world *world = NULL;
        world_def.backend = (th_backend)wrong[k];
        assert_int_equal(th_world_create(f->scene, &world_def, &world, &error), TH_BAD_ARGUMENT);
        assert_int_equal(th_world_continue(f->scene, &world_def, f->world, NULL, &world, &error),
                         TH_BAD_ARGUMENT);
        th_recorder_def recorder_def = th_recorder_def_default();
        th_recorder *recorder = NULL;
        recorder_def.path = "/tmp/throng-no-such-format";
        recorder_def.format = (th_trajectory_format)wrong[k];
        assert_int_equal(th_recorder_create(f->world, &recorder_def, &recorder, &error),
                         TH_BAD_ARGUMENT);
        th_trajectory_writer *writer = NULL;
        th_trajectory_info info = {.format = (th_trajectory_format)wrong[k], .fps = 10};
        assert_int_equal(th_trajectory_writer_create(recorder_def.path, &info, &writer, &error),
                         TH_BAD_ARGUMENT);
    }
}

static th_result create_with(th_goal_def goal, th_group_def group, const th_zone_def *zone,
                             th_scene **scene, th_error *error) {
    const th_point ring[] = {{0, 0}, {10, 0}, {10, 8}, {0, 8}};
    const th_shape walkable = {.points = ring, .point_count = 4};
    th_level_def level = th_level_def_default();
    level.walkable = &walkable;
    level.walkable_count = 1;
    const char *goals[] = {"out"};
    const th_route_step route = {goals, 1};
    goal.id = "out";
    goal.area = walkable;
    group.count = 3;
    group.route = &route;
    group.route_count = 1;
    th_zone_def zones[1];
    th_scene_def def = th_scene_def_default();
    def.levels = &level;
    def.level_count = 1;
    def.goals = &goal;
    def.goal_count = 1;
    def.groups = &group;
    def.group_count = 1;
    if (zone) {
        zones[0] = *zone;
        zones[0].area = walkable;
        def.zones = zones;
        def.zone_count = 1;
    }
    return th_scene_create(&def, scene, error);
}

static void scenes_refuse_wrong_kinds(void **state) {
    (void)state;
    th_scene *scene = NULL;
    th_error error;
    th_goal_def exit = th_goal_def_default(TH_GOAL_EXIT);
    th_group_def people = th_group_def_default();
    assert_int_equal(create_with(exit, people, NULL, &scene, &error), TH_OK);
    th_scene_destroy(scene);
    for (int k = 0; k < WRONG; ++k) {
        th_goal_def goal = th_goal_def_default((th_goal_kind)wrong[k]);
        assert_int_equal(create_with(goal, people, NULL, &scene, &error), TH_BAD_SCENE);
        th_group_def group = people;
        group.speed.kind = (th_distribution_kind)wrong[k];
        assert_int_equal(create_with(exit, group, NULL, &scene, &error), TH_BAD_SCENE);
        assert_string_equal(error.path, "groups[0].speed");
        group = people;
        group.own_goal = (th_own_goal_kind)wrong[k];
        assert_int_equal(create_with(exit, group, NULL, &scene, &error), TH_BAD_SCENE);
    }
}

// Every public function that takes such a number is called above: a new one must be added there.
static char *content_of(const char *path) {
    char whole[512];
    snprintf(whole, sizeof whole, "%s/%s", TH_SOURCE_DIR, path);
    FILE *file = fopen(whole, "rb");
    assert_non_null(file);
    char *text = test_calloc(1, 1 << 20);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    return text;
}

static bool takes_a_number(const char *parameters) {
    static const char *const kinds[] = {
        "int field",       "int level",    "int group",
        "int goal",        "int line",     "int door",
        "int area",        "int target",   "int model",
        "int wall",        "int room",     "int portal",
        "th_stage stage",  "th_field fi",  "th_access ac",
        "th_grid_kind ki", "th_result re", "th_trajectory_format f"};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k)
        if (strstr(parameters, kinds[k])) return true;
    return false;
}

static int look_through(const char *header, const char *tests) {
    char *text = content_of(header);
    int found = 0;
    for (char *at = text; (at = strstr(at, "_API ")) != NULL; ++at) {
        char *end = strchr(at, ';'), *open = end ? strchr(at, '(') : NULL;
        if (!end || !open || open > end || at == text || at[-1] == '(') continue;
        char declaration[1024], name[128] = "";
        snprintf(declaration, sizeof declaration, "%.*s", (int)(end - open), open);
        char *begin = open;
        while (begin > at && (isalnum((unsigned char)begin[-1]) || begin[-1] == '_')) --begin;
        snprintf(name, sizeof name, "%.*s(", (int)(open - begin), begin);
        if (strncmp(name, "th_", 3) != 0 || !takes_a_number(declaration)) continue;
        if (strcmp(name, "th_trajectory_convert(") == 0 || strcmp(name, "th_trajectory_copy(") == 0)
            continue; // th_trajectory_writer_create checks for both
        if (!strstr(tests, name))
            fail_msg("%s) of %s is not tested with wrong numbers", name, header);
        ++found;
    }
    test_free(text);
    return found;
}

static void all_functions_with_numbers_are_tested(void **state) {
    (void)state;
    static const char *const headers[] = {"base.h",       "fields.h", "live.h", "model.h",
                                          "record.h",     "rooms.h",  "run.h",  "scene.h",
                                          "scene_view.h", "world.h"};
    char *tests = content_of("tests/test_api.c"), path[64];
    int found = 0;
    for (size_t k = 0; k < sizeof headers / sizeof *headers; ++k) {
        snprintf(path, sizeof path, "include/throng/%s", headers[k]);
        found += look_through(path, tests);
    }
    assert_true(found >= 25);
    test_free(tests);
}

// ---- const means const

static uint64_t ask_everything(const th_world *w) {
    static const char *const names[] = {"id", "position_x", "none"};
    th_vec2 points[2] = {{3, 3}, {9, 4}};
    float far[2];
    int count;
    uint64_t lost, sum = th_world_hash(w) + th_world_step_count(w) + th_world_seed(w);
    sum += (uint64_t)th_world_agent_count(w) + th_world_alive(w, (th_agent_id){5});
    sum += th_world_done(w) + th_world_counts(w).inside + th_world_profile(w).steps;
    sum += (uint64_t)(th_world_time(w) + th_world_step_length(w)) + th_world_device_bytes(w);
    sum += th_world_exit(w, 0).left + th_world_line(w, 0).forward + th_world_door(w, 0).forward;
    sum += (uint64_t)th_world_area(w, 0).count + th_world_door_open(w, 0);
    sum += (uint64_t)(th_world_line_count(w) + th_world_door_count(w) + th_world_area_count(w));
    th_world_distances(w, 0, 0, points, 2, far);
    sum += (uint64_t)far[0] + (th_world_events(w, &count, &lost) ? (uint64_t)count : 0);
    for (int k = 0; k < 3; ++k) sum += (uint64_t)(th_world_field(w, names[k]) + 1);
    th_model_value values[8];
    int models;
    th_models(&models);
    for (int m = 0; m < models; ++m)
        sum +=
            (uint64_t)th_world_model_statistics(w, m, values, 8) + (th_model_state(w, m) != NULL);
    size_t size = th_world_snapshot_size(w);
    unsigned char *memory = malloc(size);
    if (!memory || th_world_snapshot(w, memory, size, NULL) != TH_OK) abort();
    for (size_t k = 0; k < size; ++k) sum = 31 * sum + memory[k];
    free(memory);
    const th_scene_view *view = th_scene_view_of(th_world_scene(w));
    sum += th_scene_walkable(view->scene, 0, points[0]);
    return sum + (uint64_t)th_scene_distance(view->scene, 0, points[0]);
}

static void const_questions_write_nothing(void **state) {
    th_world *w = ((fixture *)*state)->world;
    th_world_step(w, 1); // now the order of the ids is out of date
    assert_false(w->id_order_valid);
    size_t bytes = (size_t)w->agents.capacity * sizeof *w->id_order;
    th_world before;
    uint32_t *order = malloc(bytes);
    assert_non_null(order);
    memcpy(order, w->id_order, bytes);
    memcpy(&before, w, sizeof before);
    uint64_t first = ask_everything(w);
    assert_memory_equal(&before, w, sizeof before);
    assert_memory_equal(order, w->id_order, bytes);
    assert_true(ask_everything(w) == first);
    // With the order up to date the answers are the same.
    assert_non_null(th_world_map(w, TH_FIELD_ID, TH_ACCESS_READ));
    th_world_unmap(w, TH_FIELD_ID);
    assert_true(w->id_order_valid && ask_everything(w) == first);
    free(order);
}

typedef struct reader {
    const th_world *world;
    const th_rooms *rooms;
    uint64_t sum;
} reader;

static void *read_on(void *argument) {
    reader *r = argument;
    for (int k = 0; k < 20; ++k) {
        r->sum = 31 * r->sum + ask_everything(r->world);
        r->sum += (uint64_t)th_rooms_at(r->rooms, 0, (th_vec2){3, 3});
    }
    return NULL;
}

// The thread sanitizer sees every write that the two share.
static void two_readers_see_the_same(void **state) {
    fixture *f = *state;
    reader readers[2] = {{f->world, f->rooms, 0}, {f->world, f->rooms, 0}};
    pthread_t threads[2];
    th_world_step(f->world, 1);
    for (int k = 0; k < 2; ++k)
        assert_int_equal(pthread_create(&threads[k], NULL, read_on, &readers[k]), 0);
    for (int k = 0; k < 2; ++k) assert_int_equal(pthread_join(threads[k], NULL), 0);
    assert_true(readers[0].sum == readers[1].sum);
}

// ---- definitions

static void zeroed_definitions_are_refused(void **state) {
    fixture *f = *state;
    th_scene *scene = NULL;
    th_world *world = NULL;
    th_recorder *recorder = NULL;
    th_runs *runs = NULL;
    th_error error;
    assert_int_equal(th_scene_create(&(th_scene_def){0}, &scene, &error), TH_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "th_scene_def_default"));
    assert_int_equal(th_world_create(f->scene, &(th_world_def){0}, &world, &error),
                     TH_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "th_world_def_default"));
    assert_int_equal(
        th_recorder_create(f->world, &(th_recorder_def){.path = "x"}, &recorder, &error),
        TH_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "th_recorder_def_default"));
    assert_int_equal(th_runs_create(&(th_runs_def){.scene = "x"}, &runs, &error), TH_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "th_runs_def_default"));
    assert_int_equal(th_model_register(&(th_model){.name = "x"}, &error), TH_BAD_ARGUMENT);
}

// The second of two elements is zeroed, as where the program's element has another size than the library's.
static void zeroed_elements_are_refused(void **state) {
    (void)state;
    th_scene *scene = NULL;
    th_error error;
#define REFUSED(kind, list, count, first)                                         \
    do {                                                                          \
        const th_##kind##_def two[2] = {first};                                   \
        th_scene_def def = th_scene_def_default();                                \
        def.list = two;                                                           \
        def.count = 2;                                                            \
        assert_int_equal(th_scene_create(&def, &scene, &error), TH_BAD_ARGUMENT); \
        assert_string_equal(error.path, #list "[1]");                             \
        assert_non_null(strstr(error.message, "th_" #kind "_def_default()"));     \
    } while (0)
    REFUSED(level, levels, level_count, th_level_def_default());
    REFUSED(stairs, stairs, stairs_count, th_stairs_def_default());
    REFUSED(zone, zones, zone_count, th_zone_def_default());
    REFUSED(picture, pictures, picture_count, th_picture_def_default(TH_PICTURE_HEIGHT));
    REFUSED(door, doors, door_count, th_door_def_default());
    REFUSED(goal, goals, goal_count, th_goal_def_default(TH_GOAL_EXIT));
    REFUSED(group, groups, group_count, th_group_def_default());
    REFUSED(scripted, scripted, scripted_count, th_scripted_def_default());
    REFUSED(measure_line, measure_lines, measure_line_count, th_measure_line_def_default());
    REFUSED(measure_area, measure_areas, measure_area_count, th_measure_area_def_default());
}

// By members: there is padding between them.
static void assert_same_distribution(const th_distribution *a, const th_distribution *b) {
    assert_int_equal(a->kind, b->kind);
    assert_true(a->a == b->a && a->b == b->b && a->min == b->min && a->max == b->max);
}

// A file that says nothing and an unchanged definition make the same scene.
static void programs_and_files_have_the_same_defaults(void **state) {
    (void)state;
    th_scene *made = NULL;
    th_error error;
    th_zone_def zone = th_zone_def_default();
    assert_int_equal(create_with(th_goal_def_default(TH_GOAL_EXIT), th_group_def_default(), &zone,
                                 &made, &error),
                     TH_OK);
    th_scene *read =
        scene_of(TH_JSON({
        "levels": [{"walkable": {"rect": [0, 0, 10, 8]}}],
        "exits": [{"id": "out", "area": {"rect": [0, 0, 10, 8]}}],
        "zones": [{"area": {"rect": [0, 0, 10, 8]}}],
        "groups": [{"count": 3, "to": "out"}]}));
    const th_scene_view *a = th_scene_view_of(made), *b = th_scene_view_of(read);
    assert_same_distribution(&a->groups[0].radius, &b->groups[0].radius);
    assert_same_distribution(&a->groups[0].speed, &b->groups[0].speed);
    assert_same_distribution(&a->groups[0].mass, &b->groups[0].mass);
    assert_true(a->zones[0].up == b->zones[0].up && a->zones[0].up == 1.0f);
    assert_true(a->run.step == b->run.step && a->run.max_time == b->run.max_time);
    assert_true(a->run.seed == b->run.seed && a->run.runs == b->run.runs);
    assert_true(a->record.fps == b->record.fps);
    assert_string_equal(a->record.format, b->record.format);
    th_scene_destroy(made);
    th_scene_destroy(read);
}

// The numbers that the headers and docs/scene-format.md state.
static void defaults_are_as_stated(void **state) {
    (void)state;
    assert_true(th_stairs_def_default().up == 0.5 && th_stairs_def_default().down == 0.67);
    assert_true(th_picture_def_default(TH_PICTURE_DISCOMFORT).black == 1);
    assert_true(th_picture_def_default(TH_PICTURE_HEIGHT).white == 1);
    assert_true(th_picture_def_default(TH_PICTURE_GUIDANCE).strength == 0.8);
    assert_true(th_goal_def_default(TH_GOAL_WAITING).wait == 0);
    assert_true(th_scripted_def_default().radius == 0.2);
    assert_true(th_group_def_default().count == -1 && isinf(th_group_def_default().rate_end));
    assert_false(th_door_def_default().closed);
    assert_null(th_measure_line_def_default().id);
    assert_null(th_measure_area_def_default().id);
    assert_int_equal(th_scene_options_default().override_count, 0);
    th_recorder_def recorder = th_recorder_def_default();
    assert_true(recorder.format == TH_TRAJECTORY_SQLITE && recorder.fps == 10);
    assert_int_equal(recorder.max_queued_frames, 4);
}

static void scenes_take_each_format_of_the_header(void **state) {
    (void)state;
    static const char *const formats[] = {NULL, "none", "sqlite", "compact", "text"};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; ++i) {
        th_scene *scene = NULL;
        th_error error = {0};
        th_scene_def def = th_scene_def_default();
        def.record.format = formats[i];
        assert_int_equal(th_scene_create(&def, &scene, &error), TH_OK);
        assert_string_equal(th_scene_view_of(scene)->record.format,
                            formats[i] ? formats[i] : "none");
        th_scene_destroy(scene);
    }
}

// The rest of what has no test of its own.
static void small_questions_are_answered(void **state) {
    fixture *f = *state;
    const th_scene_view *view = th_scene_view_of(f->scene);
    static const th_stage stages[] = {TH_STAGE_BEHAVE, TH_STAGE_PLAN, TH_STAGE_FILTER,
                                      TH_STAGE_MOVE};
    for (int k = 0; k < 4; ++k)
        assert_int_equal(th_models(NULL)[th_group_model(&view->groups[0], k)->model]->stage,
                         stages[k]);
    for (int k = 0; k < WRONG; ++k) assert_null(th_group_model(&view->groups[0], wrong[k]));
    assert_null(th_group_model(&view->groups[0], 4));
    const th_polygons *area = &view->measure_areas[0].area.shape;
    assert_true(th_polygons_surround(area, (th_vec2){7, 1}));
    assert_false(th_polygons_surround(area, (th_vec2){5, 1}));
    assert_false(th_polygons_surround(area, (th_vec2){NAN, 1}));
    for (int k = 0; k < TH_DECISIONS; ++k)
        for (int other = 0; other < k; ++other)
            assert_string_not_equal(th_decision_name((th_decision)(1 << k)),
                                    th_decision_name((th_decision)(1 << other)));
    assert_string_equal(th_decision_name((th_decision)0), "?");
    assert_int_equal(th_world_profile(f->world).steps, 20);
    th_world_reset_profile(f->world);
    th_profile none = th_world_profile(f->world);
    for (int s = 0; s < TH_STAGE_COUNT; ++s) assert_true(none.seconds[s] == 0);
    th_world_step(f->world, 3);
    assert_int_equal(th_world_profile(f->world).steps, 3);
    assert_true(th_world_profile(f->world).seconds[TH_STAGE_MOVE] > 0);
}

static void versions_agree(void **state) {
    (void)state;
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", TH_VERSION_MAJOR, TH_VERSION_MINOR, TH_VERSION_PATCH);
    assert_string_equal(th_version(), text);
    assert_string_equal(TH_VERSION, text);
    assert_int_equal(th_version_number(), TH_VERSION_NUMBER);
    assert_non_null(strstr(th_build_info(), text));
    th_free(NULL);
}

int main(void) {
#define WITH_WORLD(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        WITH_WORLD(worlds_refuse_wrong_numbers),
        WITH_WORLD(agents_need_a_group_and_levels),
        WITH_WORLD(removed_agents_no_longer_count),
        WITH_WORLD(models_refuse_wrong_numbers),
        WITH_WORLD(scenes_refuse_wrong_numbers),
        WITH_WORLD(definitions_refuse_wrong_enumerators),
        cmocka_unit_test(scenes_refuse_wrong_kinds),
        cmocka_unit_test(all_functions_with_numbers_are_tested),
        WITH_WORLD(const_questions_write_nothing),
        WITH_WORLD(two_readers_see_the_same),
        WITH_WORLD(zeroed_definitions_are_refused),
        WITH_WORLD(zeroed_elements_are_refused),
        cmocka_unit_test(programs_and_files_have_the_same_defaults),
        cmocka_unit_test(defaults_are_as_stated),
        cmocka_unit_test(scenes_take_each_format_of_the_header),
        WITH_WORLD(small_questions_are_answered),
        cmocka_unit_test(versions_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
