// Refuges, waiting areas that hold so many, and timetables. SPDX-License-Identifier: Apache-2.0
#include "support.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static th_goal_kind kind_of(const th_scene *scene, int goal) { return scene->goals[goal].kind; }

static uint64_t people_at(const th_world *world, int goal) {
    return th_world_exit(world, goal).left;
}

// Twenty people, four of whom never use the stairs door; the refuge is theirs alone.
static const char with_refuge[] =
    "{\"levels\": [{\"walkable\": {\"rect\": [0, 0, 20, 10]}, \"walls\": [[[12, 0], [12, 10]]]}],"
    " \"doors\": [{\"id\": \"narrow\", \"line\": [[12, 4], [12, 6]]}],"
    " \"exits\": [{\"id\": \"out\", \"line\": [[20, 4], [20, 6]]}],"
    " \"waiting_areas\": [{\"id\": \"safe\", \"area\": {\"rect\": [9, 8, 12, 10]}, \"refuge\": "
    "true}],"
    " \"profiles\": [{\"id\": \"chair\", \"like\": \"wheelchair\", \"avoid\": [\"narrow\"]}],"
    " \"groups\": [{\"id\": \"walkers\", \"count\": 16, \"area\": {\"rect\": [0, 0, 6, 6]}},"
    "              {\"id\": \"chairs\", \"count\": 4, \"area\": {\"rect\": [0, 6, 6, 10]},"
    "               \"profiles\": \"chair\"}],"
    " \"run\": {\"max_time\": 200}}";

static void a_refuge_is_for_those_that_need_it(void **state) {
    (void)state;
    th_scene *scene = scene_of(with_refuge);
    th_world *world = world_of(scene, 1, 1);
    assert_int_equal(kind_of(scene, 1), TH_GOAL_WAITING);
    run_to_end(world, 200.0);
    th_statistics statistics = th_world_statistics(world);
    assert_int_equal(statistics.left, 16);
    assert_int_equal(people_at(world, 0), 16);
    assert_int_equal(people_at(world, 1), 4);
    th_exit_count safe = th_world_exit(world, 1);
    assert_true(safe.first_time > 0.0 && safe.first_time < safe.last_time);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// Wheelchairs in a corner: the first stop at its edge, and the last that get no further count as there.
static void a_crowded_refuge_takes_all(void **state) {
    (void)state;
    th_scene *scene = scene_of("{\"levels\": [{\"walkable\": {\"rect\": [0, 0, 20, 10]}}],"
                               " \"waiting_areas\": [{\"id\": \"safe\", \"area\": {\"rect\": [17, "
                               "8, 20, 10]}, \"refuge\": true}],"
                               " \"groups\": [{\"count\": 9, \"profiles\": \"wheelchair\", "
                               "\"area\": {\"rect\": [0, 0, 8, 10]}}]}");
    th_world *world = world_of(scene, 1, 1);
    run_to_end(world, 120.0);
    assert_int_equal(people_at(world, 0), 9);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

static void a_refuge_alone_is_for_all(void **state) {
    (void)state;
    th_scene *scene =
        scene_of("{\"levels\": [{\"walkable\": {\"rect\": [0, 0, 20, 10]}}],"
                 " \"waiting_areas\": [{\"id\": \"a\", \"area\": {\"rect\": [0, 0, 4, 10]}, "
                 "\"refuge\": true},"
                 "   {\"id\": \"b\", \"area\": {\"rect\": [16, 0, 20, 10]}, \"refuge\": true}],"
                 " \"groups\": [{\"count\": 6, \"area\": {\"rect\": [5, 0, 8, 10]}},"
                 "              {\"count\": 9, \"area\": {\"rect\": [12, 0, 15, 10]}}]}");
    th_world *world = world_of(scene, 1, 1);
    run_to_end(world, 100.0);
    assert_int_equal(people_at(world, 0), 6);
    assert_int_equal(people_at(world, 1), 9);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// Twelve people pass an area for five, where each waits ten seconds: never more than five wait in it, and all get through.
static void a_full_area_lets_people_wait_outside(void **state) {
    (void)state;
    static const int seeds[] = {1, 2, 3};
    for (size_t k = 0; k < sizeof seeds / sizeof *seeds; ++k) {
        th_scene *scene =
            scene_of("{\"levels\": [{\"walkable\": {\"rect\": [0, 0, 30, 10]}}],"
                     " \"exits\": [{\"id\": \"out\", \"line\": [[30, 2], [30, 8]]}],"
                     " \"waiting_areas\": [{\"id\": \"desk\", \"area\": {\"rect\": [14, 2, 18, 8]},"
                     "                    \"wait\": 10, \"capacity\": 5}],"
                     " \"groups\": [{\"count\": 12, \"area\": {\"rect\": [0, 0, 8, 10]},"
                     "              \"route\": [\"desk\", \"out\"]}]}");
        th_world *world = world_of(scene, 1, (uint64_t)seeds[k]);
        uint64_t most = 0;
        int near_by = 0;
        for (int step = 0; step < 2000 && th_world_statistics(world).left < 12; ++step) {
            th_world_step(world, 1);
            const uint32_t *phase = th_world_map(world, TH_FIELD_PHASE, TH_ACCESS_READ);
            const float *x = th_world_map(world, TH_FIELD_POSITION_X, TH_ACCESS_READ);
            int waiting = 0, outside = 0, count = th_world_agent_count(world);
            for (int i = 0; i < count; ++i) {
                waiting += phase[i] == TH_PHASE_WAITING;
                outside += phase[i] == TH_PHASE_STANDING && (double)x[i] + scene->origin.x < 14.2;
            }
            assert_true(waiting <= 5);
            if (waiting == 5 && outside > near_by) near_by = outside;
            if (people_at(world, 1) > most) most = people_at(world, 1);
        }
        assert_int_equal(most, 5);
        assert_true(near_by >= 3);
        assert_int_equal(th_world_statistics(world).left, 12);
        assert_true(th_world_time(world) > 20.0); // three turns at the desk
        th_world_destroy(world);
        th_scene_destroy(scene);
    }
}

static void write_table(const char *text) {
    FILE *file = fopen("waiting-table.csv", "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static th_result load_timed(th_scene **scene, th_error *error) {
    static const char text[] =
        "{\"levels\": [{\"walkable\": {\"rect\": [0, 0, 20, 10]}, \"walls\": [[[10, 0], [10, "
        "10]]]}],"
        " \"doors\": [{\"id\": \"main\", \"line\": [[10, 4], [10, 6]], \"schedule\": [[5, "
        "\"close\"]]}],"
        " \"exits\": [{\"id\": \"east\", \"line\": [[20, 4], [20, 6]]}],"
        " \"groups\": [{\"id\": \"late\", \"area\": {\"rect\": [1, 1, 5, 9]},"
        "              \"source\": {\"timetable\": [[2, 1]]}}],"
        " \"timetable\": \"waiting-table.csv\"}";
    return th_scene_load_json(text, strlen(text), "test", ".", NULL, scene, error);
}

static void one_table_moves_doors_exits_and_people(void **state) {
    (void)state;
    th_scene *scene = NULL;
    th_error error = {0};
    write_table("time,what,value\n# a remark\n30,doors.main,open\r\n10, groups.late ,4\n"
                "40;exits.east;close\n50,exits.east,open\n1,groups.late,2\n");
    th_result result = load_timed(&scene, &error);
    if (result != TH_OK) fail_msg("%s: %s", error.path, error.message);
    const th_door *door = &scene->doors[0];
    assert_int_equal(door->schedule_count, 2);
    assert_false(door->schedule[0].open);
    assert_near(door->schedule[1].time, 30.0, 1e-9);
    assert_true(door->schedule[1].open);
    assert_int_equal(scene->door_count, 2); // and the exit that shuts
    assert_int_equal(scene->doors[1].schedule_count, 2);
    th_world *world = world_of(scene, 1, 1);
    th_world_step(world, 120);
    assert_int_equal(th_world_statistics(world).spawned, 7);
    run_to_end(world, 200.0);
    assert_int_equal(th_world_statistics(world).left, 7);
    th_world_destroy(world);
    th_scene_destroy(scene);
    unlink("waiting-table.csv");
}

// The door shuts at 5 s by itself; the rows before that leave it so.
static void changes_after_the_last_row_stay(void **state) {
    (void)state;
    th_scene *scene = NULL;
    th_error error = {0};
    write_table("1,doors.main,close\n2,doors.main,open\n");
    if (load_timed(&scene, &error) != TH_OK) fail_msg("%s: %s", error.path, error.message);
    const th_door *door = &scene->doors[0];
    assert_int_equal(door->schedule_count, 3);
    assert_near(door->schedule[2].time, 5.0, 1e-9);
    assert_false(door->schedule[2].open);
    th_scene_destroy(scene);
    unlink("waiting-table.csv");
}

static void bad_tables_are_told(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"5,doors.main\n", "line 1: rows are"},
        {"x,doors.main,open\n", "line 1: the time"},
        {"5,walls.main,open\n", "line 1: what must be"},
        {"5,doors.main,ajar\n", "\"open\" or \"close\""},
        {"5,groups.late,1.5\n", "whole number"},
        {"time,what,value\n5,doors.side,open\n", "line 2: the scene has no"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        th_scene *scene = NULL;
        th_error error = {0};
        write_table(cases[k][0]);
        assert_int_equal(load_timed(&scene, &error), TH_BAD_SCENE);
        if (!strstr(error.message, cases[k][1])) fail_msg("%s", error.message);
        assert_string_equal(error.path, "timetable");
    }
    unlink("waiting-table.csv");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_refuge_is_for_those_that_need_it),
        cmocka_unit_test(a_crowded_refuge_takes_all),
        cmocka_unit_test(a_refuge_alone_is_for_all),
        cmocka_unit_test(a_full_area_lets_people_wait_outside),
        cmocka_unit_test(one_table_moves_doors_exits_and_people),
        cmocka_unit_test(changes_after_the_last_row_stay),
        cmocka_unit_test(bad_tables_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
