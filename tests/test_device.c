// The world on a device against the world on the CPU: same scene, same seed, same bits (device_world.h says what
// of it holds on a GPU that takes its roots from the hardware), whatever is asked or changed in between. Built:
// against CUDA where that is built, else against the emulated device (the same kernels as plain loops in memory of
// their own). Without a GPU the CUDA build skips, unless THRONG_REQUIRE_CUDA=1 makes that a failure.
// SPDX-License-Identifier: Apache-2.0
#include "device_world.h"
#include "throng/live.h"
#include <unistd.h>

#ifdef TH_SLOW_BUILD
enum { STEPS = 20 };
#else
enum { STEPS = 150 };
#endif

static void assert_same(pair p) {
    th_statistics a = th_world_statistics(p.cpu), b = th_world_statistics(p.device);
    assert_int_equal(a.spawned, b.spawned);
    assert_int_equal(a.inside, b.inside);
    assert_int_equal(a.left, b.left);
    assert_int_equal(a.removed, b.removed);
    assert_int_equal(a.waiting_to_enter, b.waiting_to_enter);
    assert_int_equal(a.wall_crossings, b.wall_crossings);
    assert_int_equal(a.wall_stops, b.wall_stops);
    assert_int_equal(a.overlaps, b.overlaps);
    assert_int_equal(a.overlapping_agents, b.overlapping_agents);
    assert_int_equal(a.repairs, b.repairs);
    assert_int_equal(a.unreachable, b.unreachable);
    assert_depth_near(a.deepest_overlap, b.deepest_overlap);
    assert_depth_near(a.largest_overlap, b.largest_overlap);
    assert_true(a.time == b.time && a.last_left_time == b.last_left_time);
    assert_int_equal(th_world_done(p.cpu), th_world_done(p.device));
    for (int l = 0; l < th_world_line_count(p.cpu); ++l) {
        th_line_count x = th_world_line(p.cpu, l), y = th_world_line(p.device, l);
        assert_int_equal(x.forward, y.forward);
        assert_int_equal(x.backward, y.backward);
        assert_true(x.first_time == y.first_time && x.last_time == y.last_time);
    }
    for (int k = 0; k < th_world_area_count(p.cpu); ++k) {
        th_area_state x = th_world_area(p.cpu, k), y = th_world_area(p.device, k);
        assert_int_equal(x.count, y.count);
        assert_true(x.density == y.density);
    }
}

static void step_both(pair p, int steps) { walk_together(p, steps, 10, ORCA_STEP, "orca"); }

// Corridors, rooms, stairs, many exits, hidden goals, threads: everything the planner and walls can meet.
static void shipped_scenes(void **state) {
    (void)state;
    static const char *const scenes[] = {
        "scenes/station.json",
        "scenes/door.json",
        "scenes/verification/rimea_02_stairs_up.json",
        "scenes/verification/rimea_06_corner.json",
        "scenes/verification/rimea_09_four_doors.json",
        "scenes/verification/rimea_10_exit_allocation.json",
        "scenes/verification/juelich_06_waypoints.json",
        "scenes/verification/juelich_08_hidden_goal.json",
        "scenes/verification/juelich_12_thin_wall.json",
    };
    for (size_t k = 0; k < sizeof scenes / sizeof *scenes; ++k) {
        pair p = pair_of(scenes[k]);
        walk_together(p, STEPS, 10, ORCA_STEP, scenes[k]);
        assert_same(p);
        pair_end(p);
    }
}

// An open plane, own goals around a pillar (road map), a source, a scripted person, a door that shuts, a line
// and an area: the parts that no shipped scene above has.
static const char busy[] = TH_JSON(
    {"levels": [{"walkable": {"rect": [0, 0, 30, 20]},
        "obstacles": [{"rect": [14, 8, 16, 12]}]}],
    "exits": [{"id": "east", "line": [[30, 2], [30, 18]]}],
    "doors": [{"id": "d", "line": [[20, 0], [20, 20]], "schedule": [{"time": 3,
        "open": false}, {"time": 5, "open": true}]}],
    "measure": {"lines": [{"id": "l", "line": [[10, 0], [10, 20]]}], "areas": [{"id": "a",
        "area": {"rect": [12, 0, 18, 7]}}]},
    "groups": [{"id": "many", "count": 150, "area": {"rect": [1, 1, 9, 19]}, "to": "east",
        "move": "orca", "plan": {"model": "field", "crowd_weight": 1}}, {"id": "more",
        "area": {"rect": [1, 1, 4, 19]}, "source": {"rate": 4}, "to": "east", "move": "orca"}],
    "run": {"step": 0.1, "duration": 60}});

static void busy_scene(void **state) {
    (void)state;
    pair p = pair_of(busy);
    step_both(p, STEPS);
    assert_same(p);
    pair_end(p);
}

// Eighty people as a recording would have them: half there at the start with velocities, the others later, some on top of
// one another.
static th_result read_eighty(const th_recording_request *request, th_error *error) {
    (void)error;
    for (int k = 0; k < 80; ++k) {
        th_recorded_person person = {.id = k, .time = k < 40 ? 0.0 : 0.15 * (k - 39)};
        person.place = (th_point){k < 40 ? 2.0 + 0.6 * (k % 8) : 1.0,
                                  k < 40 ? 3.0 + k / 8 : 9.0 + 0.1 * (k % 7)};
        person.velocity = (th_vec2){k < 40 ? 1.1f : 0.7f, 0.05f * (float)(k % 3)};
        request->take(request->context, &person);
    }
    return TH_OK;
}

static void recorded_people(void **state) {
    (void)state;
    static const char json[] =
        TH_JSON(
        {"levels": [{"walkable": {"rect": [0, 0, 30, 20]}}],
        "exits": [{"id": "east", "line": [[30, 2], [30, 18]]}],
        "groups": [{"recording": {"file": "%s"}, "to": "east"}]});
    char file[] = "/tmp/throng-device-XXXXXX", text[sizeof json + sizeof file];
    int made = mkstemp(file); // any file will do
    assert_true(made >= 0 && close(made) == 0);
    snprintf(text, sizeof text, json, file);
    th_scene_options options = {.allow_links = true};
    th_error error = {0};
    pair p = {0};
    th_scene_read_recordings_with(read_eighty);
    if (th_scene_load_json(text, strlen(text), "recorded", NULL, &options, &p.scene, &error) !=
        TH_OK)
        fail_msg("%s", error.message);
    unlink(file);
    p.cpu = device_world_with(p.scene, TH_BACKEND_CPU, 0, 0.0);
    p.device = device_world_with(p.scene, TH_BACKEND_CUDA, 0, 0.0);
    step_both(p, STEPS);
    assert_same(p);
    assert_true(th_world_statistics(p.device).spawned > 41);
    pair_end(p);
}

// Changes by the caller count on the device from the next step on.
static void changes_by_hand(void **state) {
    (void)state;
    pair p = pair_of(busy);
    th_world *worlds[2] = {p.cpu, p.device};
    step_both(p, 20);
    for (int w = 0; w < 2; ++w) {
        th_agent_def def = th_agent_def_default();
        th_agent_id added;
        th_error error;
        def.position = (th_vec2){25.0f, 10.0f};
        assert_int_equal(th_world_spawn(worlds[w], &def, 1, &added, &error), TH_OK);
        th_agent_id gone = {3};
        assert_int_equal(th_world_remove(worlds[w], &gone, 1), 1);
        float *speed = th_world_map(worlds[w], TH_FIELD_SPEED, TH_ACCESS_WRITE);
        assert_non_null(speed);
        speed[5] = 0.7f;
        th_world_unmap(worlds[w], TH_FIELD_SPEED);
        assert_int_equal(th_world_add_wall(worlds[w], 0, (th_vec2){6.0f, 3.0f},
                                           (th_vec2){6.0f, 9.0f}, NULL, &error),
                         TH_OK);
        assert_int_equal(th_world_set_param(worlds[w], 0, "time_horizon", 1.5, &error), TH_OK);
    }
    step_both(p, 40);
    assert_same(p);
    pair_end(p);
}

// The device repeats itself from its own snapshot, and the CPU goes on from there.
static void snapshots_travel(void **state) {
    (void)state;
    pair p = pair_of(busy);
    th_error error;
    step_both(p, 20);
    th_world_step(p.device, 7); // away from where the CPU is
    uint64_t now = th_world_hash(p.device);
    size_t size = th_world_snapshot_size(p.device);
    void *bytes = malloc(size);
    assert_non_null(bytes);
    assert_int_equal(th_world_snapshot(p.device, bytes, size, &error), TH_OK);
    assert_true(th_world_device_bytes(p.cpu) == 0 && th_world_device_bytes(p.device) > 0);
    th_world_step(p.device, 20);
    uint64_t later = th_world_hash(p.device);
    assert_true(later != now);
    assert_int_equal(th_world_restore(p.device, bytes, size, &error), TH_OK);
    assert_true(th_world_hash(p.device) == now);
    th_world_step(p.device, 20);
    assert_true(th_world_hash(p.device) == later);
    assert_int_equal(th_world_restore(p.cpu, bytes, size, &error), TH_OK);
    assert_int_equal(th_world_restore(p.device, bytes, size, &error), TH_OK);
    assert_true(th_world_hash(p.cpu) == now);
    step_both(p, 20);
    if (device_is_exact()) assert_true(th_world_hash(p.cpu) == later);
    free(bytes);
    pair_end(p);
}

static void views_agree(void **state) {
    (void)state;
    pair p = pair_of(busy);
    step_both(p, 30);
    int count = th_world_agent_count(p.cpu);
    assert_int_equal(count, th_world_agent_count(p.device));
    for (int f = 0; f < TH_FIELD_COUNT; ++f) {
        const void *a = th_world_map(p.cpu, (th_field)f, TH_ACCESS_READ);
        const void *b = th_world_map(p.device, (th_field)f, TH_ACCESS_READ);
        assert_non_null(a);
        assert_non_null(b);
        if (memcmp(a, b, (size_t)count * 4) != 0)
            fail_msg("%s differs", th_field_name((th_field)f));
        th_world_unmap(p.cpu, (th_field)f);
        th_world_unmap(p.device, (th_field)f);
    }
    pair_end(p);
}

// A wall where there was none and no door either, and people whose own goals the road map leads to. The pillar does not
// stand in the middle: there both ways around it to the opposite place would be of the same length to the last bit.
static void wall_in_a_plain_room(void **state) {
    (void)state;
    pair p = pair_of(TH_JSON(
        {"levels": [{"walkable": {"rect": [0, 0, 20, 20]},
            "obstacles": [{"rect": [8, 7.7, 12.6, 12.1]}]}],
        "groups": [{"id": "g", "count": 60, "own_goal": {"opposite": [10, 10]}}],
        "run": {"step": 0.1, "duration": 60}}));
    th_error error;
    step_both(p, 20);
    th_vec2 a = {3.0f, 10.0f}, b = {7.9f, 10.0f};
    assert_int_equal(th_world_add_wall(p.cpu, 0, a, b, NULL, &error), TH_OK);
    assert_int_equal(th_world_add_wall(p.device, 0, a, b, NULL, &error), TH_OK);
    step_both(p, 40);
    assert_same(p);
    pair_end(p);
}

// A crowd on an open plane, whose grid follows it.
static void open_plane(void **state) {
    (void)state;
    pair p = pair_of(TH_JSON(
        {"groups": [{"id": "g", "count": 300, "area": {"rect": [-10, -10, 10, 10]},
            "own_goal": {"opposite": [0, 0]}}],
        "run": {"step": 0.1, "duration": 60}}));
    step_both(p, STEPS);
    assert_same(p);
    pair_end(p);
}

// Filters before ORCA: DenseSense with both presets, and keeping to one side while a door closes.
static void filtered(void **state) {
    (void)state;
    static const char *const filters[] = {
        "\"densesense\"", TH_JSON({"model": "densesense", "preset": "menge"}), "\"keep_side\""};
    for (int k = 0; k < 3; ++k) {
        char json[1024];
        static const char format[] = TH_JSON(
            {"levels": [{"walkable": {"rect": [0, 0, 30, 6]},
                "obstacles": [{"rect": [14, 2, 16, 3]}]}],
            "doors": [{"line": [[15, 0], [15, 2]], "schedule": [[1, "close"]]}],
            "strips": [{"line": [[1, 3], [14, 2.5], [29, 3]], "width": 5}],
            "exits": [{"id": "east", "line": [[30, 0], [30, 6]]}],
            "groups": [{"id": "g", "count": 200, "area": {"rect": [1, 0, 13, 6]},
                "to": "east", "filter": %s}],
            "run": {"step": 0.0625, "duration": 60}});
        snprintf(json, sizeof json, format, filters[k]);
        pair p = pair_of(json);
        step_both(p, STEPS);
        assert_same(p);
        pair_end(p);
    }
}

static void too_many(void **state) {
    (void)state;
    th_scene *scene = device_scene(busy);
    th_world_def def = th_world_def_default();
    th_world *world = device_world(scene, TH_BACKEND_CUDA);
    th_world_destroy(world);
    def.backend = TH_BACKEND_CUDA;
    def.max_agents = -1;
    th_error error;
    assert_int_equal(th_world_create(scene, &def, &world, &error), TH_BAD_ARGUMENT);
    th_scene_destroy(scene);
}

// All people leave in one step: each is counted at its exit, and an event tells which one that was.
static void leaving_in_a_crowd(void **state) {
    (void)state;
    pair p = pair_of(TH_JSON(
        {"levels": [{"walkable": {"rect": [0, 0, 100, 100]}}],
        "exits": [{"id": "west", "area": {"rect": [0, 0, 50, 100]}},
            {"id": "east", "area": {"rect": [50, 0, 100, 100]}}],
        "groups": [{"count": 5000, "area": {"rect": [0, 0, 49, 100]}, "to": "west"},
            {"count": 1000, "area": {"rect": [51, 0, 100, 100]}, "to": "east"}]}));
    int count;
    uint64_t lost;
    th_world_step(p.device, 2);
    const th_event *events = th_world_events(p.device, &count, &lost);
    assert_int_equal(count, 6000);
    assert_int_equal(lost, 0);
    uint64_t by_exit[2] = {0};
    for (int k = 0; k < count; ++k) by_exit[events[k].index]++;
    for (int g = 0; g < 2; ++g) assert_int_equal(by_exit[g], th_world_exit(p.device, g).left);
    assert_int_equal(by_exit[0], 5000);
    th_world_step(p.cpu, 2);
    for (int g = 0; g < p.scene->goal_count; ++g) {
        th_exit_count cpu = th_world_exit(p.cpu, g), device = th_world_exit(p.device, g);
        assert_int_equal(cpu.left, device.left);
        assert_true(cpu.first_time == device.first_time && cpu.last_time == device.last_time);
    }
    pair_end(p);
}

// More people leave within one call than it keeps events of: the counts of the exits are whole, on the CPU and on a device.
static void exits_are_counted_without_events(void **state) {
    (void)state;
    th_scene *scene = device_scene(
        TH_JSON({"levels": [{"walkable": {"rect": [0, 0, 100, 40]}}],
                "exits": [{"id": "west", "area": {"rect": [0, 0, 49, 40]}},
                    {"id": "east", "area": {"rect": [51, 0, 100, 40]}}],
                "groups": [{"area": {"rect": [0, 0, 48, 40]}, "to": "west",
                    "source": {"rate": 2000, "until": 4}},
                    {"area": {"rect": [52, 0, 100, 40]}, "to": "east",
                        "source": {"rate": 1000, "until": 4}}]}));
    th_world_def def = th_world_def_default();
    def.max_agents = 1000;
    for (int k = 0; k < 2; ++k) {
        def.backend = k ? TH_BACKEND_CUDA : TH_BACKEND_CPU;
        th_world *world = device_world_as(scene, def);
        th_world_step(world, 50);
        int count;
        uint64_t lost;
        th_world_events(world, &count, &lost);
        uint64_t left = th_world_statistics(world).left;
        assert_true(lost > 0 && left == (uint64_t)count + lost);
        uint64_t west = th_world_exit(world, 0).left, east = th_world_exit(world, 1).left;
        assert_true(west + east == left && west > east && east > 1000);
        th_world_destroy(world);
    }
    th_scene_destroy(scene);
}

// Equal to the bit where the device has the CPU's; else as many people inside, give or take one: contacts multiply rounding.
static void assert_same_crowd(pair p) {
    if (th_cuda_backend()->exact)
        assert_same(p);
    else
        assert_near(th_world_statistics(p.cpu).inside, th_world_statistics(p.device).inside, 1);
}

// A tram through a crowd, then parked: carried, stepping aside and led around alike.
static void bodies_are_the_same(void **state) {
    (void)state;
    pair p = pair_of(
        TH_JSON({"levels": [{"walkable": {"rect": [0, 0, 30, 16]}}],
                              "exits": [{"id": "north", "line": [[0, 16], [30, 16]]}],
                              "groups": [{"count": 80, "area": {"rect": [3, 1, 27, 9]}, "to": "north"}]}));
    static const th_vec2 tram[] = {{-3, -1}, {3, -1}, {3, 1}, {-3, 1}};
    th_body_def def = th_body_def_default();
    def.outline = tram;
    def.outline_count = 4;
    def.pose = (th_body_pose){.position = {4, 8}, .velocity = {3, 0}, .spin = 0.1f};
    th_world *worlds[2] = {p.cpu, p.device};
    for (int w = 0; w < 2; ++w) {
        assert_int_equal(th_world_add_body(worlds[w], &def, NULL, NULL), TH_OK);
        th_world_step(worlds[w], STEPS / 3);
    }
    assert_same_crowd(p);
    assert_int_equal(th_world_body(p.cpu, 0).cornered, th_world_body(p.device, 0).cornered);
    def.pose = th_world_body(p.cpu, 0).pose;
    def.pose.velocity = (th_vec2){0, 0};
    def.pose.spin = 0.0f;
    for (int w = 0; w < 2; ++w) {
        assert_int_equal(th_world_move_body(worlds[w], 0, &def.pose, NULL), TH_OK);
        th_world_step(worlds[w], STEPS / 3);
    }
    assert_same_crowd(p);
    for (int w = 0; w < 2; ++w) {
        assert_int_equal(th_world_remove_body(worlds[w], 0, NULL), TH_OK);
        th_world_step(worlds[w], STEPS / 3);
    }
    assert_same_crowd(p);
    pair_end(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_are_the_same),
        cmocka_unit_test(shipped_scenes),
        cmocka_unit_test(busy_scene),
        cmocka_unit_test(recorded_people),
        cmocka_unit_test(changes_by_hand),
        cmocka_unit_test(leaving_in_a_crowd),
        cmocka_unit_test(exits_are_counted_without_events),
        cmocka_unit_test(snapshots_travel),
        cmocka_unit_test(views_agree),
        cmocka_unit_test(open_plane),
        cmocka_unit_test(too_many),
        cmocka_unit_test(filtered),
        cmocka_unit_test(wall_in_a_plain_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
