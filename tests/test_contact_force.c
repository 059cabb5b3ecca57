// Contact forces: rows of people against a wall, people that do not push, walls between, soft bodies, threads, memory.
// SPDX-License-Identifier: Apache-2.0
#include "support.h"
#include "throng/model.h"
#include <stdlib.h>
#include <string.h>

static const double DRIVE = 80.0 * 1.34 / 0.5; // [N] of an agent of 80 kg that wants 1.34 m/s

// A lane 1 m wide that ends at a wall; the exit is behind it, so that every agent presses on to the right.
static const char lane[] =
    TH_JSON({"levels":[{"walkable":{"rect":[0,0,40,1]}}],
             "waypoints":[{"id":"end", "area":{"rect":[39.8,0,40,1]}}],
             "groups":[{"id":"p", "count":0, "area":{"rect":[0,0,1,1]}, "to":"end", "plan":"straight",
                        "move":"%s", "speed":1.34, "radius":0.25, "mass":80}]});

static th_scene *lane_of(const char *model) {
    char json[800];
    snprintf(json, sizeof json, lane, model);
    return scene_of(json);
}

static void stand(th_world *world, float x, float y) {
    th_agent_def person = th_agent_def_default();
    th_error error = {0};
    person.position = (th_vec2){x, y};
    if (th_world_spawn(world, &person, 1, NULL, &error) != TH_OK) fail_msg("%s", error.message);
}

// Every agent wants to walk this way.
static void want(th_world *world, float x, float y) {
    int count = th_world_agent_count(world);
    float *px = th_world_map(world, TH_FIELD_PREFERRED_X, TH_ACCESS_OVERWRITE);
    float *py = th_world_map(world, TH_FIELD_PREFERRED_Y, TH_ACCESS_OVERWRITE);
    uint32_t *phase = th_world_map(world, TH_FIELD_PHASE, TH_ACCESS_OVERWRITE);
    for (int i = 0; i < count; ++i) {
        px[i] = x;
        py[i] = y;
        phase[i] = TH_PHASE_WALKING;
    }
    th_world_unmap(world, TH_FIELD_PREFERRED_X);
    th_world_unmap(world, TH_FIELD_PREFERRED_Y);
    th_world_unmap(world, TH_FIELD_PHASE);
}

// n people in a row against the wall: the first carries the drive of all from behind and gives it to the wall.
static void row_against_a_wall(void **state) {
    (void)state;
    static const int rows[] = {1, 2, 10, 40};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; ++r) {
        int n = rows[r];
        th_scene *scene = lane_of("orca");
        th_world *world = world_of(scene, 1, 1);
        float force[64];
        for (int k = 0; k < n; ++k) stand(world, 39.75f - 0.5f * (float)k, 0.5f);
        want(world, 0.3f, 0.0f); // held up: how fast they may go does not matter
        assert_true(th_world_contact_forces(world, force));
        for (int k = 0; k < n; ++k) { // k-th from the wall: n - k before, n - k - 1 behind
            double wanted = DRIVE * (2 * (n - k) - 1);
            if (fabs((double)force[k] - wanted) > 0.05 * wanted + 1.0)
                fail_msg("%d of %d: %.1f N, wanted %.1f", k, n, (double)force[k], wanted);
        }
        th_world_destroy(world);
        th_scene_destroy(scene);
    }
}

static void no_agent_pushes(void **state) {
    (void)state;
    th_scene *scene = lane_of("orca");
    th_world *world = world_of(scene, 1, 1);
    float force[8];
    for (int k = 0; k < 5; ++k) stand(world, 39.75f - 0.5f * (float)k, 0.5f);
    want(world, 0.0f, 0.0f);
    assert_true(th_world_contact_forces(world, force));
    for (int k = 0; k < 5; ++k) assert_near(force[k], 0.0, 0.0);
    want(world, -1.0f, 0.0f); // away from the wall, all as fast: none is in the way
    assert_true(th_world_contact_forces(world, force));
    for (int k = 0; k < 5; ++k) assert_near(force[k], 0.0, 1.0);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// Two rows that press on each other: in the middle the drive of one side.
static void two_ways(void **state) {
    (void)state;
    th_scene *scene = lane_of("orca");
    th_world *world = world_of(scene, 1, 1);
    float force[20];
    for (int k = 0; k < 20; ++k) stand(world, 10.0f + 0.5f * (float)k, 0.5f);
    want(world, 1.0f, 0.0f);
    float *px = th_world_map(world, TH_FIELD_PREFERRED_X, TH_ACCESS_WRITE);
    for (int k = 10; k < 20; ++k) px[k] = -1.0f;
    th_world_unmap(world, TH_FIELD_PREFERRED_X);
    assert_true(th_world_contact_forces(world, force));
    assert_near(force[9], 19.0 * DRIVE, 0.03 * 19.0 * DRIVE);
    assert_near(force[0], DRIVE, 0.1 * DRIVE);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

static void wall_between_and_gap(void **state) {
    (void)state;
    th_scene *scene = lane_of("orca");
    th_world *world = world_of(scene, 1, 1);
    th_error error = {0};
    float force[2];
    stand(world, 10.0f, 0.5f);
    stand(world, 10.51f, 0.5f); // 1 cm apart: touching, the one behind may close that gap first
    want(world, 1.0f, 0.0f);
    float *px = th_world_map(world, TH_FIELD_PREFERRED_X, TH_ACCESS_WRITE);
    px[1] = -1.0f;
    th_world_unmap(world, TH_FIELD_PREFERRED_X);
    assert_true(th_world_contact_forces(world, force));
    assert_near(force[0], DRIVE - 80.0 * 0.5 * 0.02 / 0.5, 1.5); // each closes half: 0.01 m/s
    assert_int_equal(
        th_world_add_wall(world, 0, (th_vec2){10.25f, 0.0f}, (th_vec2){10.25f, 1.0f}, NULL, &error),
        TH_OK);
    th_world_step(world, 0);
    assert_true(th_world_contact_forces(world, force));
    assert_near(force[0], DRIVE, 5.0); // the wall instead of the other
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// The social force presses by its own law, k times the overlap.
static void soft_bodies(void **state) {
    (void)state;
    th_scene *scene = lane_of("social_force");
    th_world *world = world_of(scene, 1, 1);
    float force[2];
    stand(world, 10.0f, 0.5f);
    stand(world, 10.49f, 0.5f);
    assert_true(th_world_contact_forces(world, force));
    for (int k = 0; k < 2; ++k) assert_near(force[k], 1.2e5 * 0.01, 1.0);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// People press by the law of their bodies; a wall bears what presses the first of them on it.
static void a_wall_bears_soft_bodies(void **state) {
    (void)state;
    th_scene *scene = lane_of("people");
    th_world *world = world_of(scene, 1, 1);
    float force[3];
    const float wall = 40 - 0.745f * 0.25f;
    for (int k = 0; k < 3; ++k) stand(world, wall - 0.46f * (float)k, 0.5f);
    assert_true(th_world_contact_forces(world, force));
    const double pair = (2745 + 27000 * 0.04) * 0.04;
    assert_near(force[0], 2 * pair, 1.0);
    assert_near(force[1], 2 * pair, 1.0);
    assert_near(force[2], pair, 1.0);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// A packed crowd: the same bits for any number of threads, and what pushes adds up: all forces on the far wall are the
// drive of every agent.
static void packed_crowd(void **state) {
    (void)state;
    enum { COLUMNS = 30, ROWS = 20, PEOPLE = COLUMNS * ROWS };
    static const char box[] = TH_JSON({"levels":[{"walkable":{"rect":[0,0,40,10.25]}}],
                 "waypoints":[{"id":"end", "area":{"rect":[39.8,0,40,1]}}],
                 "groups":[{"id":"p", "count":0, "area":{"rect":[0,0,1,1]}, "to":"end",
                            "plan":"straight", "move":"pbd", "speed":1.34, "radius":0.25, "mass":80}]});
    float *force[2];
    for (int run = 0; run < 2; ++run) {
        th_scene *scene = scene_of(box);
        th_world *world = world_of(scene, run == 0 ? 1 : 4, 1);
        for (int k = 0; k < PEOPLE; ++k) { // a hexagonal packing, the first column at the wall
            int column = k / ROWS, row = k % ROWS;
            stand(world, 39.75f - 0.4331f * (float)column,
                  0.25f + 0.5f * (float)row + (column % 2 ? 0.25f : 0.0f));
        }
        want(world, 1.0f, 0.0f);
        force[run] = calloc(PEOPLE, sizeof(float));
        assert_true(th_world_contact_forces(world, force[run]));
        th_world_destroy(world);
        th_scene_destroy(scene);
    }
    assert_memory_equal(force[0], force[1], PEOPLE * sizeof(float));
    // A person of the 15th column carries 14 columns: twice 14.5 drives along, over two touches at 30 degrees each way.
    double middle = 0.0;
    for (int row = 5; row < 15; ++row) middle += (double)force[0][15 * ROWS + row] / 10.0;
    assert_near(middle, 2.0 * 14.5 * DRIVE / cos(acos(-1.0) / 6.0), 0.15 * 2.0 * 14.5 * DRIVE);
    for (int run = 0; run < 2; ++run) free(force[run]);
}

static void memory_runs_out(void **state) {
    (void)state;
    th_scene *scene = lane_of("orca");
    for (int64_t fail_at = 1;; ++fail_at) {
        ledger book = {0};
        th_world_def def = th_world_def_default();
        def.allocator = (th_allocator){counted_alloc, counted_free, &book};
        th_world *world = NULL;
        th_error error = {0};
        assert_int_equal(th_world_create(scene, &def, &world, &error), TH_OK);
        for (int k = 0; k < 3; ++k) stand(world, 39.75f - 0.5f * (float)k, 0.5f);
        float force[3];
        book.fail_at = book.allocations + fail_at;
        bool made = th_world_contact_forces(world, force);
        th_world_destroy(world);
        assert_int_equal(book.bytes, 0);
        if (made) break;
        assert_true(fail_at < 100);
    }
    th_scene_destroy(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(row_against_a_wall),
        cmocka_unit_test(no_agent_pushes),
        cmocka_unit_test(two_ways),
        cmocka_unit_test(wall_between_and_gap),
        cmocka_unit_test(soft_bodies),
        cmocka_unit_test(packed_crowd),
        cmocka_unit_test(a_wall_bears_soft_bodies),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
