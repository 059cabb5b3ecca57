// The plan quickest: around jams, to the exit that is reached first, over the whole width; the same for any number of threads
// and after a restore. SPDX-License-Identifier: Apache-2.0
#include "plan/quickest/state.h"
#include "support.h"
#include "world/world.h"
#include <stdlib.h>
#include <string.h>

// ---- formulas

static float crowd_speed(float density, float along) {
    return th_crowd_pace(th_crowd_drag(density), along);
}

static void speeds(void **state) {
    (void)state;
    const float free_speed = (float)TH_WEIDMANN_FREE_SPEED;
    assert_float_equal(crowd_speed(0.0f, 0.0f), 1.0f, 1e-6f);
    // People who walk the agent's way at its speed cost nothing, however dense they are.
    assert_float_equal(crowd_speed(3.0f, 1.0f), 1.0f, 1e-6f);
    // Among standing people Weidmann's speed holds: 0.61 m/s at 2 people/m2.
    assert_float_equal(free_speed * crowd_speed(2.0f, 0.0f), 0.61f, 0.01f);
    // Oncoming people cost twice as much speed as standing ones.
    float standing = 1.0f - crowd_speed(1.0f, 0.0f), oncoming = 1.0f - crowd_speed(1.0f, -1.0f);
    assert_float_equal(oncoming, 2.0f * standing, 1e-5f);
    assert_float_equal(crowd_speed(9.0f, -1.0f), TH_QUICKEST_LEAST, 1e-6f);
}

static void queues(void **state) {
    (void)state;
    assert_float_equal(th_exit_time(10.0f, 0.0f, 1.0f), 10.0f, 1e-6f);
    // 190 people before a metre take 100 s; those who leave while one walks are no delay.
    assert_float_equal(th_exit_time(10.0f, 190.0f, 1.0f), 100.0f, 1e-3f);
    assert_float_equal(th_exit_time(100.0f, 19.0f, 1.0f), 100.0f, 1e-3f);
    assert_float_equal(th_exit_time(10.0f, 190.0f, 0.0f), 10.0f, 1e-6f); // not a line
}

// ---- scenes

static th_scene *scene_with(const char *format, const char *plan) {
    char text[2000];
    snprintf(text, sizeof text, format, plan);
    return scene_of(text);
}

// 200 people and two exits of 1 m, the far one 20 m further on.
typedef struct two_exits {
    double time;                // until all are out [s]
    int far;                    // people who left by the far exit
    double last_near, last_far; // [s]
    double changes;             // of the goal, per person
} two_exits;

static int count_changes(th_world *world, int field, uint32_t *before) {
    int changes = 0, count = (int)th_world_statistics(world).inside;
    const uint32_t *goal = th_world_map(world, field, TH_ACCESS_READ);
    const uint32_t *id = th_world_map(world, TH_FIELD_ID, TH_ACCESS_READ);
    for (int i = 0; i < count; ++i) {
        changes += before[id[i]] != 0 && goal[i] != before[id[i]];
        before[id[i]] = goal[i];
    }
    th_world_unmap(world, field);
    th_world_unmap(world, TH_FIELD_ID);
    return changes;
}

static two_exits leave_by_two(const char *plan) {
    static const char format[] = TH_JSON(
        {"levels": [{"walkable": {"rect": [0, 0, 30, 10]}}],
        "exits": [{"id": "near", "line": [[4, 0], [5, 0]]}, {"id": "far", "line": [[25, 0], [26, 0]]}],
        "groups": [{"area": {"rect": [0.5, 0.5, 12, 9.5]}, "count": 200, "to": ["near", "far"],
            "plan": %s}],
        "run": {"step": 0.1}});
    th_scene *scene = scene_with(format, plan);
    th_world *world = world_of(scene, 1, 1);
    int field = th_world_field(world, "quickest.goal"), changes = 0;
    uint32_t before[201] = {0};
    two_exits found = {0};
    for (int step = 0; step < 3000 && th_world_statistics(world).left < 200; ++step) {
        th_world_step(world, 1);
        if (field >= 0) changes += count_changes(world, field, before);
        found.time = th_world_time(world);
    }
    assert_int_equal(th_world_statistics(world).left, 200);
    th_exit_count near = th_world_exit(world, 0), far = th_world_exit(world, 1);
    found.far = (int)far.left;
    found.last_near = near.last_time;
    found.last_far = far.last_time;
    found.changes = (double)changes / 200.0;
    th_world_destroy(world);
    th_scene_destroy(scene);
    return found;
}

static void a_queue_sends_people_to_the_other_exit(void **state) {
    (void)state;
    two_exits shortest = leave_by_two("\"field\""), quickest = leave_by_two("\"quickest\"");
    print_message(
        "  %d of 200 by the far exit; last at %.1f and %.1f s; goals changed %.2f times a "
        "person; by the shortest way %.1f s\n",
        quickest.far, quickest.last_near, quickest.last_far, quickest.changes, shortest.time);
    assert_int_equal(shortest.far, 0);
    assert_true(quickest.far > 60);
    assert_true(quickest.time < 0.75 * shortest.time);
    double later = fmax(quickest.last_near, quickest.last_far);
    assert_true(fabs(quickest.last_near - quickest.last_far) < 0.15 * later);
    // No agent runs to and fro.
    assert_true(quickest.changes < 1.0);
}

// An agent that would save less than the inertia stays.
static void inertia_keeps_people(void **state) {
    (void)state;
    two_exits stubborn = leave_by_two(TH_JSON({"model": "quickest", "inertia": 1}));
    assert_true(stubborn.changes == 0.0);
    two_exits wavering =
        leave_by_two(TH_JSON({"model": "quickest", "inertia": 0, "reconsider": 0.5}));
    two_exits usual = leave_by_two("\"quickest\"");
    print_message("  goals changed %.2f times a person, without inertia %.2f\n", usual.changes,
                  wavering.changes);
    assert_true(wavering.changes > 1.5 * usual.changes);
}

// ---- what agents know

// The far exit is out of sight of most agents, behind a wall with a gap.
static int leave_by_hidden(const char *plan) {
    static const char format[] = TH_JSON(
        {"levels": [{"walkable": {"rect": [0, 0, 30, 10]}, "walls": [[[15, 0], [15, 8]]]}],
        "exits": [{"id": "near", "line": [[4, 0], [5, 0]]}, {"id": "hidden", "line": [[16, 0], [17, 0]]}],
        "groups": [{"area": {"rect": [0.5, 0.5, 12, 9.5]}, "count": 150, "to": ["near", "hidden"],
            "plan": %s}],
        "run": {"step": 0.1}});
    th_scene *scene = scene_with(format, plan);
    th_world *world = world_of(scene, 1, 1);
    run_to_end(world, 300.0);
    assert_int_equal(th_world_statistics(world).left, 150);
    int hidden = (int)th_world_exit(world, 1).left;
    th_world_destroy(world);
    th_scene_destroy(scene);
    return hidden;
}

static void only_those_told_go_to_exits_unseen(void **state) {
    (void)state;
    int all = leave_by_hidden("\"quickest\""),
        half = leave_by_hidden(TH_JSON({"model": "quickest", "knows_all": 0.5})),
                               none =
                                   leave_by_hidden(TH_JSON({"model": "quickest", "knows_all": 0}));
    print_message(
        "  by the hidden exit: %d of 150, %d when half of them know it, %d when none does\n", all,
        half, none);
    assert_true(all > 30);
    assert_true(half > 10 && half < 0.8 * all);
    assert_int_equal(none, 0);
    // Agents need not be told of goals in sight.
    two_exits seen = leave_by_two(TH_JSON({"model": "quickest", "knows_all": 0}));
    assert_true(seen.far > 60);
}

// A goal that an agent saw is remembered when a wall hides it.
static void what_was_seen_is_remembered(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON(
        {"levels": [{"walkable": {"rect": [0, 0, 30, 10]}}],
        "exits": [{"id": "west", "line": [[0, 4], [0, 6]]}, {"id": "east", "line": [[30, 4], [30, 6]]}],
        "groups": [{"positions": [[10, 5]], "to": ["west", "east"], "speed": 0.01,
            "plan": {"model": "quickest", "knows_all": 0, "reconsider": 0.5}}],
        "run": {"step": 0.1}}));
    th_world *world = world_of(scene, 1, 1);
    th_world_step(world, 15);
    th_error error;
    assert_int_equal(th_world_add_wall(world, 0, (th_vec2){20, 0}, (th_vec2){20, 9}, NULL, &error),
                     TH_OK);
    th_world_step(world, 30);
    int field = th_world_field(world, "quickest.seen");
    const uint32_t *seen = th_world_map(world, field, TH_ACCESS_READ);
    assert_int_equal(seen[0], 3);
    th_world_unmap(world, field);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// The goal that an agent at p would choose where 1000 people queue at the exit behind the wall and none at the near one.
static int chosen_at(const th_world *world, th_vec2 p, int present, uint32_t left) {
    th_quickest *s = world->model_state[TH_PLAN_QUICKEST];
    for (int b = 0; b < TH_QUICKEST_BINS; ++b) {
        s->queue[b] = 0;
        s->queue[TH_QUICKEST_BINS + b] = 1000;
    }
    const th_walls walls = th_walls_for(world->scene, th_world_walls(world), 0);
    const th_quick_mind mind = {present, left, TH_QUICKEST_ALL, 0.2f, 40.0f};
    return th_quick_choose(s, world->scene, &walls, 0, 0, &mind, 0, p).goal;
}

static void queues_out_of_sight_are_not_known(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON(
        {"levels": [{"walkable": {"rect": [0, 0, 30, 10]}, "walls": [[[12, 0], [12, 7]]]}],
        "exits": [{"id": "near", "line": [[4, 0], [5, 0]]}, {"id": "hidden", "line": [[13, 0], [14, 0]]}],
        "groups": [{"positions": [[8, 3]], "to": ["near", "hidden"], "plan": "quickest"}],
        "run": {"step": 0.1}}));
    th_world *world = world_of(scene, 1, 1);
    th_world_step(world, 15);
    const th_vec2 before = th_v(11.5f, 6.5f), behind = th_v(12.8f, 6.0f);
    assert_int_equal(chosen_at(world, before, -1, 0), 1); // nearer, and no queue is seen
    assert_int_equal(chosen_at(world, behind, -1, 0), 0);
    assert_int_equal(chosen_at(world, before, 1, 0), 0); // it stands in that queue
    // There the hidden one is nearer by more than the inertia.
    const th_vec2 corner = th_v(11.8f, 6.9f);
    assert_int_equal(chosen_at(world, corner, 0, 0), 1);
    assert_int_equal(chosen_at(world, corner, 0, 1u << 1), 0); // it has been there
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// Alone, the quickest way is the shortest one.
static void alone_as_by_the_shortest_way(void **state) {
    (void)state;
    static const char format[] = TH_JSON(
        {"levels": [{"walkable": [{"rect": [0, 0, 10, 10]}, {"rect": [9.9, 4, 10.5, 4.8]}, {"rect": [10.4, 0, 16, 10]}]}],
        "exits": [{"id": "out", "area": {"rect": [15, 0, 16, 10]}}],
        "groups": [{"positions": [[2, 1]], "to": "out", "speed": 1.3, "plan": %s}],
        "run": {"step": 0.1}});
    double time[2];
    for (int k = 0; k < 2; ++k) {
        th_scene *scene = scene_with(format, k == 0 ? "\"field\"" : "\"quickest\"");
        th_world *world = world_of(scene, 1, 1);
        time[k] = run_to_end(world, 60.0);
        th_world_destroy(world);
        th_scene_destroy(scene);
    }
    print_message("  through a door alone: %.1f s by the shortest, %.1f s by the quickest way\n",
                  time[0], time[1]);
    assert_true(fabs(time[1] - time[0]) <= 0.21);
}

// Until all of the group `walkers` are out [s].
static double time_until(const th_scene *scene, int walkers) {
    th_world *world = world_of(scene, 1, 1);
    while ((int)th_world_statistics(world).left < walkers && th_world_time(world) < 300.0)
        th_world_step(world, 1);
    double time = th_world_time(world);
    th_world_destroy(world);
    return time;
}

static void around_standing_agents(void **state) {
    (void)state;
    static const char format[] = TH_JSON(
        {"levels": [{"walkable": {"rect": [0, 0, 16, 14]}}],
        "exits": [{"id": "east", "line": [[16, 1], [16, 13]]}],
        "groups": [{"area": {"rect": [0.5, 4, 4, 10]}, "count": 60, "to": "east", "plan": %s},
            {"area": {"rect": [7, 4.5, 9, 9.5]}, "count": 40, "to": "east", "speed": 0.02}],
        "run": {"step": 0.1}});
    double time[2];
    for (int k = 0; k < 2; ++k) {
        th_scene *scene = scene_with(format, k == 0 ? "\"field\"" : "\"quickest\"");
        time[k] = time_until(scene, 60);
        th_scene_destroy(scene);
    }
    print_message("  60 pass 40 who stand: %.1f s by the shortest, %.1f s by the quickest way\n",
                  time[0], time[1]);
    assert_true(time[1] < 0.6 * time[0]);
}

// Through a wide exit from the side: how far from its near end people cross, on average [m].
static double mean_place(const char *plan) {
    static const char format[] = TH_JSON(
        {"levels": [{"walkable": {"rect": [0, 0, 20, 12]}}],
        "exits": [{"id": "wide", "line": [[10, 0], [18, 0]]}],
        "groups": [{"area": {"rect": [0.5, 0.5, 8, 11.5]}, "count": 200, "to": "wide", "plan": %s}],
        "run": {"step": 0.1}});
    th_scene *scene = scene_with(format, plan);
    th_world *world = world_of(scene, 1, 1);
    float last[201] = {0.0f}; // where an agent was seen last
    while (th_world_statistics(world).left < 200 && th_world_time(world) < 200.0) {
        int count = (int)th_world_statistics(world).inside;
        const float *x = th_world_map(world, TH_FIELD_POSITION_X, TH_ACCESS_READ);
        const uint32_t *id = th_world_map(world, TH_FIELD_ID, TH_ACCESS_READ);
        for (int i = 0; i < count; ++i) last[id[i]] = x[i];
        th_world_unmap(world, TH_FIELD_POSITION_X);
        th_world_unmap(world, TH_FIELD_ID);
        th_world_step(world, 1);
    }
    assert_int_equal(th_world_statistics(world).left, 200);
    double sum = 0.0;
    for (int i = 1; i <= 200; ++i) sum += (double)last[i] - 10.0;
    th_world_destroy(world);
    th_scene_destroy(scene);
    return sum / 200.0;
}

static void over_the_width_of_an_exit(void **state) {
    (void)state;
    double shortest = mean_place("\"field\""), quickest = mean_place("\"quickest\"");
    print_message("  an exit of 8 m is crossed %.2f m from its near end by the shortest, %.2f m by "
                  "the quickest way\n",
                  shortest, quickest);
    assert_true(quickest > 1.3 * shortest);
}

// A stream around a right-angled corner of 2.4 m: how far from the inner corner its people begin to turn, on average [m].
static double mean_distance_from_corner(const char *plan) {
    static const char format[] = TH_JSON(
        {"levels": [{"walkable": [{"rect": [-2.4, -2.4, 14, 0]}, {"rect": [-2.4, -2.4, 0, 10]}]}],
        "exits": [{"id": "out", "line": [[-2.4, 10], [0, 10]]}],
        "groups": [{"area": {"rect": [3, -2.4, 14, 0]}, "count": 70, "to": "out", "plan": %s}],
        "run": {"step": 0.1}});
    th_scene *scene = scene_with(format, plan);
    th_world *world = world_of(scene, 1, 1);
    float last_x[71] = {0.0f};
    double sum = 0.0;
    int crossed = 0;
    while (th_world_statistics(world).left < 70 && th_world_time(world) < 100.0) {
        int count = (int)th_world_statistics(world).inside;
        const float *x = th_world_map(world, TH_FIELD_POSITION_X, TH_ACCESS_READ);
        const float *y = th_world_map(world, TH_FIELD_POSITION_Y, TH_ACCESS_READ);
        const uint32_t *id = th_world_map(world, TH_FIELD_ID, TH_ACCESS_READ);
        for (int i = 0; i < count; ++i) {
            if (last_x[id[i]] > 0.0f && x[i] <= 0.0f) {
                sum -= (double)y[i];
                ++crossed;
            }
            last_x[id[i]] = x[i];
        }
        th_world_unmap(world, TH_FIELD_POSITION_X);
        th_world_unmap(world, TH_FIELD_POSITION_Y);
        th_world_unmap(world, TH_FIELD_ID);
        th_world_step(world, 1);
    }
    assert_int_equal(th_world_statistics(world).left, 70);
    th_world_destroy(world);
    th_scene_destroy(scene);
    return sum / crossed;
}

static void over_the_width_of_a_corner(void **state) {
    (void)state;
    double shortest = mean_distance_from_corner("\"field\""),
           quickest = mean_distance_from_corner("\"quickest\"");
    print_message(
        "  a corner of 2.4 m is turned at %.2f m from its inside by the shortest, %.2f m by "
        "the quickest way\n",
        shortest, quickest);
    assert_true(quickest > 0.9);
}

// ---- the clock

static const char doors[] = TH_JSON(
    {"levels": [{"walkable": {"rect": [0, 0, 20, 20]}, "walls": [[[10, 0], [10, 2]],
        [[10, 4], [10, 16]], [[10, 18], [10, 20]]]}],
    "doors": [{"id": "south", "line": [[10, 2], [10, 4]], "schedule": [{"time": 4, "open": false}]},
        {"id": "north", "line": [[10, 16], [10, 18]]}],
    "exits": [{"id": "east", "line": [[20, 1], [20, 6]]}, {"id": "north_east", "line": [[20, 14], [20, 19]]}],
    "groups": [{"area": {"rect": [0.5, 0.5, 8, 8]}, "count": 60, "to": ["east", "north_east"], "plan": "quickest"}],
    "run": {"step": 0.1}});

static double value_of(const th_world *world, const char *name) {
    th_model_value values[8];
    int count =
        th_world_model_statistics(world, th_model_find(TH_STAGE_PLAN, "quickest"), values, 8);
    for (int k = 0; k < count && k < 8; ++k)
        if (strcmp(values[k].name, name) == 0) return values[k].value;
    fail_msg("there is no %s", name);
    return 0.0;
}

// The count is spread around agents, stays whole, and does not pass a wall.
static void walls_part_the_count(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON(
        {"levels": [{"walkable": {"rect": [0, 0, 8, 6]}, "walls": [[[4, 0], [4, 4]]]}],
        "exits": [{"id": "east", "line": [[8, 1], [8, 5]]}],
        "groups": [{"positions": [[3.5, 1], [3, 2], [3.7, 1.5]], "to": "east", "plan": "quickest",
            "speed": 0.01}],
        "run": {"step": 0.1}}));
    th_world *world = world_of(scene, 1, 1);
    th_world_step(world, 1);
    const th_quickest *s = world->model_state[TH_PLAN_QUICKEST];
    double people = 0.0, beyond = 0.0, area = (double)(s->nodes.spacing * s->nodes.spacing);
    for (int i = 0; i < s->nodes.count; ++i) {
        th_vec2 p = th_node_position(&s->nodes, &s->nodes.levels[0], i);
        people += area * (double)s->density[i];
        if (p.x > 4.0f && p.y < 2.0f) beyond = fmax(beyond, (double)s->density[i]);
    }
    assert_true(fabs(people - 3.0) < 1e-3);
    assert_true(beyond < 0.01); // without the wall 0.8 /m2
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// Every field once a second, and no step with more than its share.
static void work_is_spread_over_steps(void **state) {
    (void)state;
    th_scene *scene = scene_of(doors);
    th_world *world = world_of(scene, 1, 1);
    double nodes = 0.0, before = 0.0, most = 0.0;
    for (int step = 0; step < 35; ++step) {
        th_world_step(world, 1);
        double settled = value_of(world, "nodes_settled");
        most = fmax(most, settled - before);
        before = settled;
    }
    nodes = value_of(world, "nodes");
    // Counted at 0, 1, 2 and 3 s; two fields each, solved within a quarter of a second.
    assert_int_equal((int)value_of(world, "solutions"), 8);
    print_message("  %.0f nodes in a step at most, of two fields of %.0f\n", most, nodes);
    assert_true(most < 0.9 * nodes);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

static void doors_that_shut_are_left(void **state) {
    (void)state;
    th_scene *scene = scene_of(doors);
    th_world *world = world_of(scene, 1, 1);
    assert_true(run_to_end(world, 120.0) < 60.0);
    assert_int_equal(th_world_statistics(world).left, 60);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

static void any_threads(void **state) {
    (void)state;
    th_scene *scene = scene_of(doors);
    assert_any_threads(scene, 3, 65);
    th_scene_destroy(scene);
}

// In the middle between two counts, into a world that has seen another crowd.
static void restored(void **state) {
    (void)state;
    th_scene *scene = scene_of(doors);
    assert_restores(scene, 26, 24);
    assert_restores(scene, 45, 24);
    th_scene_destroy(scene);
}

static th_world *following(const th_scene *scene, uint64_t seed) {
    th_world_def def = th_world_def_default();
    th_world *world = NULL;
    def.threads = 1;
    def.seed = seed;
    def.replan = 1;
    assert_int_equal(th_world_create(scene, &def, &world, NULL), TH_OK);
    return world;
}

// Where ways follow within a time, what the lanes are solving is in the snapshot: restoring it solves nothing.
static void restored_where_ways_follow(void **state) {
    (void)state;
    th_scene *scene = scene_of(doors);
    th_world *world = following(scene, 1), *other = following(scene, 2);
    th_world_step(other, 33);
    int under_way = 0;
    for (int k = 0; k < 45; ++k) {
        th_world_step(world, 1);
        const th_quickest *s = world->model_state[TH_PLAN_QUICKEST],
                          *restored = other->model_state[TH_PLAN_QUICKEST];
        size_t size = th_world_snapshot_size(world);
        void *memory = malloc(size);
        assert_non_null(memory);
        assert_int_equal(th_world_snapshot(world, memory, size, NULL), TH_OK);
        uint64_t settled = restored->settled;
        assert_int_equal(th_world_restore(other, memory, size, NULL), TH_OK);
        assert_true(restored->settled == settled);
        for (int l = 0; l < TH_QUICKEST_LANES; ++l) {
            assert_int_equal(s->lanes[l].field, restored->lanes[l].field);
            under_way += s->lanes[l].begun;
        }
        assert_int_equal(th_world_snapshot_size(other), size);
        void *again = malloc(size);
        assert_non_null(again);
        assert_int_equal(th_world_snapshot(other, again, size, NULL), TH_OK);
        // The planner's part of a snapshot comes last, its buckets in order.
        size_t own = th_models(NULL)[TH_PLAN_QUICKEST]->saved_size(world, TH_PLAN_QUICKEST);
        assert_memory_equal((char *)again + size - own, (char *)memory + size - own, own);
        // The last lane has nothing to do; a forged one would do the first one's work.
        int32_t last[4];
        char *tail = (char *)memory + size - sizeof last;
        memcpy(last, tail, sizeof last);
        assert_int_equal(last[0], s->field_count);
        last[0] = s->lanes[0].field;
        memcpy(tail, last, sizeof last);
        th_snapshot_seal(memory);
        if (last[0] < s->field_count)
            assert_int_equal(th_world_restore(other, memory, size, NULL), TH_BAD_SNAPSHOT);
        th_world_step(other, 7);
        free(memory);
        free(again);
    }
    assert_true(under_way > 5);
    th_world_destroy(world);
    th_world_destroy(other);
    th_scene_destroy(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(speeds),
        cmocka_unit_test(queues),
        cmocka_unit_test(a_queue_sends_people_to_the_other_exit),
        cmocka_unit_test(inertia_keeps_people),
        cmocka_unit_test(only_those_told_go_to_exits_unseen),
        cmocka_unit_test(what_was_seen_is_remembered),
        cmocka_unit_test(queues_out_of_sight_are_not_known),
        cmocka_unit_test(alone_as_by_the_shortest_way),
        cmocka_unit_test(around_standing_agents),
        cmocka_unit_test(over_the_width_of_an_exit),
        cmocka_unit_test(over_the_width_of_a_corner),
        cmocka_unit_test(walls_part_the_count),
        cmocka_unit_test(work_is_spread_over_steps),
        cmocka_unit_test(doors_that_shut_are_left),
        cmocka_unit_test(any_threads),
        cmocka_unit_test(restored),
        cmocka_unit_test(restored_where_ways_follow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
