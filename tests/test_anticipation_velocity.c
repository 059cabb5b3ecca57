// Anticipation velocity model of Xu, Chraibi, Seyfried 2021: the influence of a neighbour, turning, meetings, and
// two streams. SPDX-License-Identifier: Apache-2.0
#include "move/anticipation_velocity/anticipation_velocity.h"
#include "support.h"
#include "validate/corridors.h"
#include <math.h>

#ifdef TH_SLOW_BUILD
enum { SLOW = 1 };
#else
enum { SLOW = 0 };
#endif

static th_anticipation_velocity_params defaults(void) {
    th_anticipation_velocity_params p = {
#define X(name, value, min, max, unit, source, doc) .name = (float)(value),
        TH_ANTICIPATION_VELOCITY_PARAMS(X)
#undef X
    };
    return p;
}

// i walks along x at 1.2 m/s.
static th_avm_pair pair_at(float x, float y, th_vec2 v_j) {
    return (th_avm_pair){
        .e0 = {1, 0}, .e = {1, 0}, .to = {x, y}, .v_i = {1.2f, 0}, .v_j = v_j, .l = 0.4f};
}

// Weights from the published equations, in double.
static void influence_is_the_published_one(void **state) {
    (void)state;
    th_anticipation_velocity_params p = defaults();
    // With the flow, 1 m ahead and a little to the left, as fast as oneself: k e^(-(d - l) / D), to the right.
    th_avm_pair pair = pair_at(1, 0.1f, th_v(1.2f, 0));
    th_vec2 push = th_avm_influence(&p, &pair);
    double d = hypot(1, 0.1);
    assert_true(fabsf(push.x) < 1e-9f && push.y < 0);
    assert_true(fabs((double)push.y + 8 * exp(-(d - 0.4) / 0.1)) < 1e-4);
    // Towards: twice as much, of the gap that will be left in a second, which is none.
    pair = pair_at(1, 0.1f, th_v(-1.2f, 0));
    push = th_avm_influence(&p, &pair);
    assert_true(fabs((double)push.y + 16) < 1e-3);
    // Behind: nothing. Behind the wish but ahead of the way one goes: something.
    pair = pair_at(-1, 0.1f, th_v(1.2f, 0));
    assert_true(th_length(th_avm_influence(&p, &pair)) == 0.0f);
    pair.e = th_v(-1, 0);
    assert_true(th_length(th_avm_influence(&p, &pair)) > 0.0f);
}

// Away from where the other will be: an agent that crosses from the left to the right is passed on the left.
static void the_side_is_chosen_by_where_the_other_will_be(void **state) {
    (void)state;
    th_anticipation_velocity_params p = defaults();
    th_avm_pair pair = pair_at(1, 0.4f, th_v(0, -1));
    assert_true(th_avm_influence(&p, &pair).y > 0);
    pair.v_j = th_v(0, 0);
    assert_true(th_avm_influence(&p, &pair).y < 0);
    // Exactly ahead: both of a pair go to the same side of their own.
    pair = pair_at(1, 0, th_v(-1, 0));
    pair.left = true;
    assert_true(th_avm_influence(&p, &pair).y > 0);
    pair.left = false;
    assert_true(th_avm_influence(&p, &pair).y < 0);
}

static void turning_takes_the_reaction_time(void **state) {
    (void)state;
    th_vec2 e = th_v(1, 0), aim = th_v(0, 1);
    for (int k = 0; k < 6; ++k) e = th_avm_turn(e, aim, 0.3f, 0.05f);
    assert_true(e.y > 0.5f && e.y < 0.99f);
    th_vec2 about = th_avm_turn(th_v(1, 0), th_v(-1, 0), 0.3f, 0.15f);
    assert_true(th_length(about) > 0.99f);
}

// Two people exactly head on in a corridor of 3 m get past each other without standing still. By the model alone: led by
// quickest, which turns both aside alike, they stand where they are mirror images of each other to the bit.
static void two_people_get_past_each_other(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON(
        {"levels": [{"walkable": {"rect": [0, 0, 12, 3]}}],
         "exits": [{"id": "w", "line": [[0, 0], [0, 3]]}, {"id": "e", "line": [[12, 0], [12, 3]]}],
         "groups": [{"positions": [[1, 1.5]], "to": "e", "speed": 1.3, "plan": "field", "move": "anticipation_velocity"},
                    {"positions": [[11, 1.5]], "to": "w", "speed": 1.3, "plan": "field", "move": "anticipation_velocity"}],
         "run": {"step": 0.05}}));
    th_world *world = world_of(scene, 1, 1);
    run_to_end(world, 12.0); // 11 m at 1.3 m/s: 8.5 s
    assert_int_equal(th_world_statistics(world).left, 2);
    assert_int_equal(th_world_statistics(world).overlaps, 0);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// Two streams at 1 /m2 get through each other, and single files keep the time gap.
static double periodic_speed(double density, double width, bool both_ways) {
    th_periodic_def def = th_periodic_def_default("\"none\"", "\"anticipation_velocity\"", density);
    def.length = 12;
    def.width = width;
    def.both_ways = both_ways;
    def.warm_up = SLOW ? 0.5 : 20;
    def.measured = SLOW ? 0.5 : 10;
    th_periodic_result result;
    th_error error = {0};
    if (th_periodic_run(&def, &result, &error) != TH_OK) fail_msg("%s", error.message);
    return result.speed;
}

static void streams_and_files(void **state) {
    (void)state;
    double both = periodic_speed(1.0, 4.0, true), file = periodic_speed(1.0, 1.0, false);
    print_message("both ways %.2f m/s; single file, 1 /m: %.2f m/s\n", both, file);
    if (SLOW) return;
    assert_true(both > 0.4);
    // (1 m - 0.4 m) / 1.06 s = 0.57 m/s squarely behind each other; they walk a little to the side.
    assert_true(file > 0.5 && file < 0.9);
}

// The sieve leaves out only agents with less than e^-10 of the weight of one that will be touched.
static void the_sieve_drops_only_weak_influences(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON(
        {"levels": [{"walkable": {"rect": [0, 0, 20, 20]}}],
         "exits": [{"id": "w", "line": [[0, 0], [0, 20]]}, {"id": "n", "line": [[0, 20], [20, 20]]}],
         "groups": [{"count": 150, "area": {"rect": [4, 4, 16, 16]}, "to": "w", "move": "anticipation_velocity"},
                    {"count": 150, "area": {"rect": [4, 4, 16, 16]}, "to": "n", "move": "anticipation_velocity"}],
         "run": {"step": 0.1}}));
    th_world *world = world_of(scene, 1, 1);
    th_world_step(world, 5);
    th_walls walls = th_world_walls(world);
    th_substep step = th_substep_begin(world, TH_MOVE_ANTICIPATION_VELOCITY, 0.05f);
    const th_agents *a = &world->agents;
    int influenced = 0;
    for (uint32_t i = 0; i < (uint32_t)a->count; ++i) {
        const th_anticipation_velocity_params *p = th_anticipation_velocity_params_of(world, i);
        th_vec2 e0 = th_unit(th_v(a->drive_x[i], a->drive_y[i])), plain = {0, 0};
        th_vec2 sieved = th_avm_influences(world, &step, &walls, i, e0, e0);
        int others = 0;
        for (uint32_t j = 0; j < (uint32_t)a->count; ++j) {
            th_avm_pair pair = th_avm_pair_of(world, i, j, e0, e0);
            if (j == i || th_length(pair.to) >= TH_HEADWAY_SIGHT) continue;
            plain = th_add(plain, th_avm_influence(p, &pair));
            ++others;
        }
        float bound = 1e-5f + (float)others * 2.0f * p->repulsion_strength * expf(-10.0f);
        assert_true(th_length(th_sub(plain, sieved)) <= bound);
        influenced += th_length(plain) > 0.1f;
    }
    assert_true(a->count > 200 && influenced > 50);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(influence_is_the_published_one),
        cmocka_unit_test(the_side_is_chosen_by_where_the_other_will_be),
        cmocka_unit_test(turning_takes_the_reaction_time),
        cmocka_unit_test(two_people_get_past_each_other),
        cmocka_unit_test(the_sieve_drops_only_weak_influences),
        cmocka_unit_test(streams_and_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
