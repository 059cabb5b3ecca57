// Position-based crowds: the formulas, crowds without walls, then walls, levels and mixed models.
// SPDX-License-Identifier: Apache-2.0
#include "formula/random.h"
#include "lane_index.h"
#include "move/pbd/pbd.h"
#include "pbd_world.h"
#include "support.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- formulas

static void parameters_are_the_published_ones_and_begin_with_contact(void **state) {
    (void)state;
    th_model_choice choice;
    assert_int_equal(th_model_choose(TH_STAGE_MOVE, &(th_model_def){.name = "pbd"}, false, false,
                                     "", &choice, NULL),
                     TH_OK);
    th_pbd_params p;
    memcpy(&p, choice.params, sizeof p);
    // alpha = 0.0385 at 1/48 s.
    th_vec2 v = th_pbd_blend(th_v(1.0f, 0.0f), th_v(0.0f, 1.0f), p.substep, p.reaction_time);
    assert_true(fabsf(v.y - 0.0385f) < 1e-4f && fabsf(v.x + v.y - 1.0f) < 1e-6f);
    // c W(0) with poly6 in three dimensions: 217 * 315 / (64 pi 7^3).
    assert_true(fabs((double)p.cohesion - 217.0 * 315.0 / (64.0 * 3.14159265358979 * 343.0)) <
                1e-4);
    assert_true(p.iterations == 6.0f && p.stabilisation == 1.0f && p.averaging == 1.2f);
    // As printed: sideways only, and nothing that throng added.
    assert_int_equal(th_model_choose(TH_STAGE_MOVE,
                                     &(th_model_def){.name = "pbd", .preset = "weiss2017"}, false,
                                     false, "", &choice, NULL),
                     TH_OK);
    memcpy(&p, choice.params, sizeof p);
    assert_true(p.lr_mode == (float)TH_PBD_TANGENTIAL && p.contact_margin == 1.0f);
    assert_true(p.iterations == 6.0f && p.stabilisation == 1.0f && p.averaging == 1.2f);
    assert_true(p.momentum == 0.0f && p.side_bias == 0.0f && p.sidestep == 0.0f && p.ease == 0.0f &&
                p.follow_walls == 0.0f);
    // Six iterations have the full effect: (1 - k')^6 = 1 - k.
    float each = th_pbd_stiffness_each(0.24f, 6);
    assert_true(fabs(pow(1.0 - (double)each, 6.0) - 0.76) < 1e-6);
}

// Card check 2.
static void time_to_collision_has_its_closed_form(void **state) {
    (void)state;
    th_pbd_meeting head_on = th_pbd_meet(th_v(-4.0f, 0.0f), th_v(2.0f, 0.0f), 0.5f);
    assert_true(head_on.meets > 0.0f && fabsf(head_on.tau - 1.75f) < 1e-6f);
    // From the left and from below to the same point, 3 m away, at 1 m/s: |(-3 + t, 3 - t)| = 0.5.
    th_pbd_meeting crossing = th_pbd_meet(th_v(-3.0f, 3.0f), th_v(1.0f, -1.0f), 0.5f);
    assert_true(crossing.meets > 0.0f && fabsf(crossing.tau - (3.0f - 0.5f / sqrtf(2.0f))) < 1e-5f);
    th_pbd_meeting overtaking = th_pbd_meet(th_v(-2.0f, 0.3f), th_v(0.4f, 0.0f), 0.5f);
    assert_true(overtaking.meets > 0.0f && fabsf(overtaking.tau - (2.0f - 0.4f) / 0.4f) < 1e-4f);
    assert_true(th_pbd_meet(th_v(-2.0f, 0.0f), th_v(-1.0f, 0.0f), 0.5f).meets <= 0.0f); // parting
    assert_true(th_pbd_meet(th_v(-2.0f, 0.6f), th_v(1.0f, 0.0f), 0.5f).meets <= 0.0f); // passing by
    assert_true(th_pbd_meet(th_v(-0.4f, 0.0f), th_v(1.0f, 0.0f), 0.5f).meets <= 0.0f); // touching
    assert_true(th_pbd_meet(th_v(-2.0f, 0.0f), th_v(1e-3f, 0.0f), 0.5f).meets <= 0.0f); // at rest
}

static void contact_pushes_along_and_friction_holds_across(void **state) {
    (void)state;
    // 0.1 m deep, sliding 0.016 m: within 0.21 * 0.1, so all of it is taken; kinetic friction would take 0.01.
    th_vec2 d = th_v(0.4f, 0.0f), slow = th_v(0.0f, 0.016f), fast = th_v(0.0f, 0.1f);
    th_pbd_correction stick = th_pbd_contact(d, slow, 0.5f, 0.5f, 0.21f, 0.1f);
    assert_true(fabsf(stick.x - 0.05f) < 1e-6f && fabsf(stick.y + 0.008f) < 1e-7f);
    th_pbd_correction slide = th_pbd_contact(d, fast, 0.5f, 0.5f, 0.21f, 0.1f);
    assert_true(fabsf(slide.x - 0.05f) < 1e-6f && fabsf(slide.y + 0.5f * 0.1f * 0.1f) < 1e-6f);
    assert_true(th_pbd_contact(th_v(0.6f, 0.0f), slow, 0.5f, 0.5f, 0.21f, 0.1f).count == 0.0f);
    // The lighter of 20 and 80 kg takes four fifths; one that does not give way, nothing.
    assert_true(fabsf(th_pbd_share(1.0f / 20.0f, 1.0f / 80.0f) - 0.8f) < 1e-6f);
    assert_true(th_pbd_share(1.0f / 20.0f, 0.0f) == 1.0f);
}

static void avoidance_goes_on_with_the_motion_begun(void **state) {
    (void)state;
    th_pbd_params p = {
        .lr_stiffness = 0.24f, .lr_decay = 20.0f, .lr_range = 10.0f, .lr_sign = 1.0f};
    const float h = 1.0f / 48.0f;
    // i comes from the left and has begun to pass above; n points back to the left.
    th_vec2 x = th_v(-2.0f, 0.1f), u = th_v(2.0f * h, 0.1f * h);
    p.lr_mode = TH_PBD_TANGENTIAL;
    th_pbd_avoidance avoid = th_pbd_avoidance_of(&p, h, 6);
    th_pbd_correction aside = th_pbd_avoid(&avoid, x, u, 0.5f, 0.5f);
    assert_true(aside.count == 1.0f && aside.y > 0.0f && fabsf(aside.x) < aside.y);
    p.lr_sign = -1.0f;
    avoid = th_pbd_avoidance_of(&p, h, 6);
    assert_true(th_pbd_avoid(&avoid, x, u, 0.5f, 0.5f).y == -aside.y);
    p.lr_mode = TH_PBD_NORMAL;
    avoid = th_pbd_avoidance_of(&p, h, 6);
    th_pbd_correction brake = th_pbd_avoid(&avoid, x, u, 0.5f, 0.5f);
    assert_true(brake.x < 0.0f); // back
    p.lr_mode = TH_PBD_BOTH, p.lr_sign = 1.0f;
    avoid = th_pbd_avoidance_of(&p, h, 6);
    th_pbd_correction both = th_pbd_avoid(&avoid, x, u, 0.5f, 0.5f);
    assert_true(fabsf(both.x - (aside.x + brake.x)) < 1e-7f &&
                fabsf(both.y - (aside.y + brake.y)) < 1e-7f);
    // Head on there is no sideways part except the bias to the right.
    th_pbd_correction head_on =
        th_pbd_avoid(&avoid, th_v(-2.0f, 0.0f), th_v(2.0f * h, 0.0f), 0.5f, 0.5f);
    assert_true(head_on.count == 1.0f && head_on.y == 0.0f);
    p.side_bias = 0.01f;
    avoid = th_pbd_avoidance_of(&p, h, 6);
    assert_true(th_pbd_avoid(&avoid, th_v(-2.0f, 0.0f), th_v(2.0f * h, 0.0f), 0.5f, 0.5f).y < 0.0f);
}

// Head on at 2 m/s, half a sub-step after the last free instant: the overlap predicted is one sub-step of 1 m/s whenever
// they meet, and k exp(-tau~^2 / tau0) of it is taken away, spread over the iterations.
static void avoidance_falls_with_the_time_to_collision(void **state) {
    (void)state;
    th_pbd_params p = {.lr_stiffness = 0.24f,
                       .lr_decay = 20.0f,
                       .lr_range = 10.0f,
                       .lr_sign = 1.0f,
                       .lr_mode = TH_PBD_NORMAL};
    const double h = 1.0 / 48.0, each = 1.0 - pow(1.0 - 0.24, 1.0 / 6.0);
    th_pbd_avoidance avoid = th_pbd_avoidance_of(&p, (float)h, 6);
    for (int n = 12; n <= 192; n *= 2) { // a quarter of a second to four
        double tau = ((double)n + 0.5) * h, tilde = ((double)n + 1.0) * h;
        th_vec2 x = {(float)-(0.5 + 2.0 * tau), 0.0f}, u = {(float)(2.0 * h), 0.0f};
        double taken = 0.5 * each * exp(-tilde * tilde / 20.0) * h;
        assert_near(th_pbd_avoid(&avoid, x, u, 0.5f, 0.5f).x, -taken, 2e-3 * taken);
    }
}

// The quick test on displacements agrees with the full one, from any side.
static void both_ask_the_same_of_a_meeting(void **state) {
    (void)state;
    const float h = 1.0f / 48.0f;
    int meetings = 0, count = 0;
    for (int from = 0; from < 16; ++from)
        for (int way = 0; way < 16; ++way, ++count) {
            double a = 0.41 * from, b = 0.13 + 0.39 * way;
            th_vec2 x = {(float)(2.0 * cos(a)), (float)(2.0 * sin(a))};
            th_vec2 v = {(float)(1.3 * cos(b)), (float)(1.3 * sin(b))};
            bool meets = th_pbd_meet(x, v, 0.5f).meets > 0.0f;
            assert_int_equal(th_pbd_going_to_meet(x, th_scale(h, v), 0.5f, TH_PBD_SLOWEST * h * h),
                             meets);
            meetings += meets;
        }
    assert_true(meetings > 10 && meetings < count / 2); // 8 % of the ways
    // Slow along x alone, quick along y.
    assert_true(
        th_pbd_going_to_meet(th_v(0.0f, 2.0f), th_v(0.0f, -h), 0.5f, TH_PBD_SLOWEST * h * h));
}

// An agent that is stopped leans and eases, one that walks at full speed does neither.
static void a_stopped_agent_leans_and_eases(void **state) {
    (void)state;
    th_vec2 preferred = th_v(0.0f, 1.2f);
    th_vec2 walking = th_pbd_lean(preferred, preferred, 0.5f, 0.8f);
    assert_true(walking.x == preferred.x && walking.y == preferred.y);
    th_vec2 stopped = th_pbd_lean(preferred, th_v(0.0f, 0.0f), 0.5f, 0.8f);
    assert_true(fabsf(stopped.x - 0.6f) < 1e-6f && fabsf(stopped.y - 0.24f) < 1e-6f);
}

static void a_drive_into_a_wall_goes_along_it(void **state) {
    (void)state;
    th_vec2 n = th_v(0.0f, 1.0f); // the wall is below
    th_vec2 along = th_pbd_along(th_v(0.6f, -0.8f), n);
    assert_true(fabsf(along.x - 1.0f) < 1e-6f && fabsf(along.y) < 1e-6f);
    th_vec2 off = th_pbd_along(th_v(0.6f, 0.8f), n), straight = th_pbd_along(th_v(0.0f, -1.0f), n);
    assert_true(off.x == 0.6f && off.y == 0.8f && straight.y == -1.0f);
}

static void walls_hold_on_their_line_and_at_their_corners(void **state) {
    (void)state;
    th_vec2 a = {0.0f, 0.0f}, east = {1.0f, 0.0f}; // solid above, ground below
    th_pbd_correction c = th_pbd_wall(th_v(1.0f, -0.1f), a, east, 2.0f, 0.3f, true, true, true);
    assert_true(fabsf(c.y + 0.2f) < 1e-6f && c.x == 0.0f);
    c = th_pbd_wall(th_v(1.0f, 0.1f), a, east, 2.0f, 0.3f, true, true,
                    true); // pushed through: back
    assert_true(fabsf(c.y + 0.4f) < 1e-6f);
    c = th_pbd_wall(th_v(-0.1f, 0.0f), a, east, 2.0f, 0.3f, true, true, true);
    assert_true(fabsf(c.x + 0.2f) < 1e-6f && c.count == 1.0f);
    assert_true(th_pbd_wall(th_v(-0.1f, 0.0f), a, east, 2.0f, 0.3f, true, false, true).count ==
                0.0f);
    assert_true(th_pbd_wall(th_v(2.1f, 0.0f), a, east, 2.0f, 0.3f, true, true, false).count ==
                0.0f);
}

// Card check 7. The corrections of i and j are opposite to the last bit, in contact, friction and avoidance.
static void corrections_of_a_pair_sum_to_zero(void **state) {
    (void)state;
    th_pbd_params p = {.lr_mode = TH_PBD_BOTH,
                       .lr_stiffness = 0.24f,
                       .lr_decay = 20.0f,
                       .lr_range = 10.0f,
                       .lr_sign = 1.0f,
                       .side_bias = 0.01f};
    th_pbd_avoidance avoid = th_pbd_avoidance_of(&p, 0.02f, 6);
    int contacts = 0, meetings = 0;
    for (uint32_t k = 0; k < 1000; ++k) {
        th_random4 r = th_philox(3, TH_STREAM_PLACE, k, 0);
        th_vec2 x = th_v(2.0f * th_uniform(r.v[0]) - 1.0f, 2.0f * th_uniform(r.v[1]) - 1.0f);
        th_vec2 u = th_v(0.05f * th_uniform(r.v[2]) - 0.025f, 0.05f * th_uniform(r.v[3]) - 0.025f);
        th_vec2 d = th_add(x, u), minus_d = th_scale(-1.0f, d), minus_x = th_scale(-1.0f, x),
                minus_u = th_scale(-1.0f, u);
        th_pbd_correction i = th_pbd_contact(d, u, 0.5f, 0.5f, 0.21f, 0.1f),
                          j = th_pbd_contact(minus_d, minus_u, 0.5f, 0.5f, 0.21f, 0.1f);
        assert_true(i.x + j.x == 0.0f && i.y + j.y == 0.0f);
        contacts += i.count > 0.0f;
        i = th_pbd_avoid(&avoid, x, u, 0.5f, 0.5f);
        j = th_pbd_avoid(&avoid, minus_x, minus_u, 0.5f, 0.5f);
        assert_true(i.x + j.x == 0.0f && i.y + j.y == 0.0f);
        meetings += i.count > 0.0f;
    }
    assert_true(contacts > 50 && meetings > 50);
}

// ---- crowds without walls

// People of one group that want nothing, on an open plane or in a room.
static th_world *standing(const char *move, const char *room, int count, const char *more,
                          th_scene **scene) {
    char text[1024];
    static const char format[] = TH_JSON(
        {"levels": [{"walkable": {"rect": [%s]}}],
        "groups": [{"id": "people", "count": %d, "radius": 0.1, "route": []%s,
            "move": {"model": "pbd"%s}}],
        "run": {"step": 0.1}});
    snprintf(text, sizeof text, format, room, count, more, move);
    *scene = scene_of(text);
    return world_of(*scene, 1, 1);
}

// Card check 1: thrown into a box anyhow, half of the ground covered.
static void overlaps_go_away_within_a_second(void **state) {
    (void)state;
    th_scene *scene;
    th_world *world =
        standing(TH_JSON(, "lr_range": 0, "cohesion": 0), "0, 0, 6, 6", 92, "", &scene);
    th_agents *a = &world->agents;
    for (int i = 0; i < a->count; ++i) {
        th_random4 r = th_philox(5, TH_STREAM_PLACE, (uint32_t)i, 0);
        a->radius[i] = 0.25f;
        a->position_x[i] = 0.3f + 5.4f * th_uniform(r.v[0]);
        a->position_y[i] = 0.3f + 5.4f * th_uniform(r.v[1]);
    }
    world->max_radius = 0.25f;
    float before = deepest_overlap(world);
    th_world_step(world, 10);
    float after = deepest_overlap(world);
    print_message("overlap box: deepest %.1f %% of the diameter, after 1 s %.2f %%\n",
                  (double)(100.0f * before), (double)(100.0f * after));
    assert_true(before > 0.8f && after < 0.02f);
    assert_invariants(world);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// Two that come at each other step aside when they are within the range, in mean radii of the two, not before.
static void avoidance_begins_at_its_range(void **state) {
    (void)state;
    for (int near = 0; near < 2; ++near) {
        th_scene *scene;
        th_world *world = standing(TH_JSON(, "lr_range": 10, "cohesion": 0, "side_bias": 0.3),
                                           "0, 0, 6, 6", 2, "", &scene);
        th_agents *a = &world->agents;
        for (int i = 0; i < 2; ++i) {
            a->position_x[i] = i == 0 ? 2.0f : near ? 2.9f : 3.3f;
            a->position_y[i] = 3.0f;
            a->velocity_x[i] = i == 0 ? 1.0f : -1.0f;
        }
        th_world_step(world, 1);
        float aside = fmaxf(fabsf(a->position_y[0] - 3.0f), fabsf(a->position_y[1] - 3.0f));
        assert_true(near ? aside > 1e-5f : aside == 0.0f);
        th_world_destroy(world);
        th_scene_destroy(scene);
    }
}

static th_vec2 momentum_of(const th_world *world) {
    const th_agents *a = &world->agents;
    th_vec2 sum = {0.0f, 0.0f};
    for (uint32_t i = 0; i < (uint32_t)a->count; ++i)
        sum = th_add(sum, th_scale(a->mass[i], th_velocity(a, i)));
    return sum;
}

// Card check 7 through the whole step: two bodies of unequal mass run into each other off centre. Blending
// takes the same share from both, (1 - h/reaction_time) a sub-step, and nothing else may change the sum.
static void momentum_of_a_collision_is_kept(void **state) {
    (void)state;
    th_scene *scene;
    th_world *world = standing(TH_JSON(, "lr_range": 0, "cohesion": 0, "reaction_time": 10),
                                       "-20, -20, 20, 20", 2, "", &scene);
    th_agents *a = &world->agents;
    const float places[2] = {-1.0f, 1.0f}, masses[2] = {60.0f, 90.0f};
    for (int i = 0; i < 2; ++i) {
        a->radius[i] = 0.25f;
        a->position_x[i] = places[i];
        a->position_y[i] = 0.1f * places[i];
        a->velocity_x[i] = -1.2f * places[i];
        a->velocity_y[i] = 0.0f;
        a->mass[i] = masses[i];
        a->speed[i] = 3.0f;
    }
    world->max_radius = 0.25f;
    th_vec2 before = momentum_of(world);
    float rest = 1.0f;
    th_world_step(world, 20);
    for (int k = 0; k < 20 * 5; ++k) rest *= 1.0f - 0.02f / 10.0f;
    th_vec2 after = momentum_of(world);
    assert_true(fabsf(after.x - rest * before.x) < 0.02f &&
                fabsf(after.y - rest * before.y) < 0.02f);
    assert_true(fabsf(a->velocity_y[0]) > 0.05f); // they did collide
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// The speed at which two agents of 70 kg still slide past each other after a collision off centre.
static float sliding_after_collision(const char *friction) {
    char move[160];
    snprintf(move, sizeof move,
             TH_JSON(, "lr_range": 0, "cohesion": 0, "reaction_time": 10%s), friction);
    th_scene *scene;
    th_world *world = standing(move, "-20, -20, 20, 20", 2, "", &scene);
    th_agents *a = &world->agents;
    for (int i = 0; i < 2; ++i) {
        float side = i == 0 ? -1.0f : 1.0f;
        a->radius[i] = 0.25f;
        a->position_x[i] = side;
        a->position_y[i] = 0.15f * side;
        a->velocity_x[i] = -1.2f * side;
        a->velocity_y[i] = 0.0f;
        a->speed[i] = 3.0f;
    }
    world->max_radius = 0.25f;
    th_world_step(world, 12);
    float sliding = th_length(th_sub(th_velocity(a, 0), th_velocity(a, 1)));
    th_world_destroy(world);
    th_scene_destroy(scene);
    return sliding;
}

static void friction_takes_from_the_sliding(void **state) {
    (void)state;
    float with = sliding_after_collision(""),
          without = sliding_after_collision(TH_JSON(, "static_friction": 0, "kinetic_friction": 0)),
                                            rough = sliding_after_collision(TH_JSON(, "static_friction": 0, "kinetic_friction": 1));
    print_message("sliding after a collision %.3f, without friction %.3f, kinetic 1 %.3f m/s\n",
                  (double)with, (double)without, (double)rough);
    assert_true(with < 0.97f * without && rough < 0.97f * with);
}

// A box of people that overlap at random, after one sub-step: how deep, and how fast the fastest has become.
typedef struct heap_state {
    float deepest, fastest;
} heap_state;

static heap_state heap_after_a_substep(const char *move) {
    th_scene *scene;
    th_world *world = standing(move, "0, 0, 6, 6", 92, "", &scene);
    th_agents *a = &world->agents;
    for (int i = 0; i < a->count; ++i) {
        th_random4 r = th_philox(5, TH_STREAM_PLACE, (uint32_t)i, 0);
        a->radius[i] = 0.25f;
        a->position_x[i] = 0.7f + 0.48f * (float)(i % 10) + 0.2f * th_uniform(r.v[0]);
        a->position_y[i] = 0.7f + 0.48f * (float)(i / 10) + 0.2f * th_uniform(r.v[1]);
    }
    world->max_radius = 0.25f;
    th_world_step(world, 1);
    heap_state heap = {deepest_overlap(world), 0.0f};
    for (uint32_t i = 0; i < (uint32_t)a->count; ++i)
        heap.fastest = fmaxf(heap.fastest, th_length(th_velocity(a, i)));
    th_world_destroy(world);
    th_scene_destroy(scene);
    return heap;
}

#define HEAP "\"lr_range\": 0, \"cohesion\": 0, \"contact_margin\": 1, \"substep\": 0.1"
// More iterations part people better; stabilisation parts them without a velocity; averaging says how far.
static void every_iteration_counts(void **state) {
    (void)state;
    heap_state one = heap_after_a_substep(", \"iterations\": 1, \"stabilisation\": 0, " HEAP),
               six = heap_after_a_substep(", \"stabilisation\": 0, " HEAP),
               stabilised =
                   heap_after_a_substep(", \"iterations\": 1, \"stabilisation\": 6, " HEAP),
               careful = heap_after_a_substep(", \"averaging\": 0.6, \"iterations\": 1, "
                                              "\"stabilisation\": 0, " HEAP);
    print_message(
        "overlap after 1 iteration %.1f %%, 6 %.1f %%; fastest %.2f m/s, stabilised %.2f\n",
        (double)(100.0f * one.deepest), (double)(100.0f * six.deepest), (double)one.fastest,
        (double)stabilised.fastest);
    assert_true(six.deepest < 0.8f * one.deepest && stabilised.deepest < 0.8f * one.deepest);
    assert_true(stabilised.fastest < 0.3f * one.fastest && careful.fastest < 0.6f * one.fastest);
}

// Random velocities of a cluster at 2.2 radii; alone with cohesion.
static th_world *cluster(th_scene **scene) {
    th_world *world =
        standing(TH_JSON(, "lr_range": 0, "reaction_time": 10), "-20, -20, 20, 20", 100, "", scene);
    th_agents *a = &world->agents;
    for (int i = 0; i < a->count; ++i) {
        th_random4 r = th_philox(7, TH_STREAM_PLACE, (uint32_t)i, 0);
        a->radius[i] = 0.2f;
        a->position_x[i] = 0.44f * (float)(i % 10);
        a->position_y[i] = 0.44f * (float)(i / 10);
        a->velocity_x[i] = 0.2f * th_uniform(r.v[0]) - 0.1f;
        a->velocity_y[i] = 0.2f * th_uniform(r.v[1]) - 0.1f;
    }
    world->max_radius = 0.2f;
    return world;
}

typedef struct spread {
    double variance, energy;
} spread;

static spread spread_of(const float *vx, const float *vy, int count) {
    double x = 0.0, y = 0.0, squares = 0.0;
    for (int i = 0; i < count; ++i) {
        x += (double)vx[i] / count;
        y += (double)vy[i] / count;
        squares += (double)(vx[i] * vx[i] + vy[i] * vy[i]) / count;
    }
    spread s = {squares - x * x - y * y, squares};
    return s;
}

// Card check 8.
static void cohesion_never_adds_energy(void **state) {
    (void)state;
    th_scene *scene;
    th_world *world = cluster(&scene);
    th_agents *a = &world->agents;
    spread last = spread_of(a->velocity_x, a->velocity_y, a->count), first = last;
    for (int k = 0; k < 30; ++k) {
        th_world_step(world, 1);
        spread now = spread_of(a->velocity_x, a->velocity_y, a->count);
        assert_true(now.variance < last.variance && now.energy < last.energy);
        last = now;
    }
    assert_true(last.variance < 0.1 * first.variance);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// The same cluster by the kernel sum as published, without the time step: the velocities blow up.
static void cohesion_in_its_literal_form_blows_up(void **state) {
    (void)state;
    th_scene *scene;
    th_world *world = cluster(&scene);
    const th_agents *a = &world->agents;
    static float vx[2][100], vy[2][100];
    memcpy(vx[0], a->velocity_x, sizeof vx[0]);
    memcpy(vy[0], a->velocity_y, sizeof vy[0]);
    double first = spread_of(vx[0], vy[0], 100).variance;
    for (int k = 0; k < 10; ++k) {
        const float *x = vx[k % 2], *y = vy[k % 2];
        for (uint32_t i = 0; i < 100; ++i) {
            th_vec2 drawn = {0.0f, 0.0f};
            for (uint32_t j = 0; j < 100; ++j) {
                float d2 = th_length2(th_sub(th_position(a, i), th_position(a, j)));
                float w = 0.9912f * th_pbd_cohesion_weight(d2, 7.0f * 0.2f);
                drawn = th_add(drawn, th_scale(w, th_v(x[j] - x[i], y[j] - y[i])));
            }
            vx[1 - k % 2][i] = x[i] + drawn.x;
            vy[1 - k % 2][i] = y[i] + drawn.y;
        }
    }
    assert_true(spread_of(vx[0], vy[0], 100).variance > 10.0 * first);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

static void a_heap_of_coincident_people_comes_apart(void **state) {
    (void)state;
    th_scene *scene;
    th_world *world = standing("", "-20, -20, 20, 20", 200, "", &scene);
    th_agents *a = &world->agents;
    for (int i = 0; i < a->count; ++i) {
        a->radius[i] = 0.2f;
        a->position_x[i] = a->position_y[i] = 1.0f;
    }
    world->max_radius = 0.2f;
    th_world_step(world, 60);
    assert_invariants(world);
    assert_true(deepest_overlap(world) < 0.05f);
    assert_int_equal(world->counters.repairs, 0);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

static void what_is_not_finite_is_repaired(void **state) {
    (void)state;
    th_scene *scene;
    th_world *world = standing("", "0, 0, 6, 6", 20, "", &scene);
    world->agents.velocity_x[3] = NAN;
    world->agents.velocity_y[7] = INFINITY;
    th_world_step(world, 1);
    assert_true(world->counters.repairs >= 2);
    assert_invariants(world);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// ---- walls, levels, others

static void agents_are_not_felt_through_a_thin_wall(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON(
        {"levels": [{"walkable": {"rect": [0, 0, 6, 6]}, "walls": [[[3, 0], [3, 6]]]}],
        "groups": [{"id": "west", "positions": [[2.75, 3]], "radius": 0.25, "route": [],
            "move": "pbd"}, {"id": "east", "positions": [[3.25, 3.1]], "radius": 0.25,
            "route": [], "move": "pbd"}]}));
    th_world *world = world_of(scene, 1, 1);
    th_world_step(world, 20);
    const float *x = field_of(world, TH_FIELD_POSITION_X),
                *y = field_of(world, TH_FIELD_POSITION_Y);
    assert_true(fabsf(x[0] - 2.75f) < 2e-3f && fabsf(y[0] - 3.0f) < 1e-4f);
    assert_true(fabsf(x[1] - 3.25f) < 2e-3f && fabsf(y[1] - 3.1f) < 1e-4f);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

static void agents_that_do_not_give_way_are_walked_around(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON(
        {"levels": [{"walkable": {"rect": [-8, -3, 8, 3]}}],
        "exits": [{"id": "out", "line": [[8, -3], [8, 3]]}],
        "scripted": [{"id": "post", "radius": 0.4, "path": [[0, 0, 0.05], [100, 0, 0.05]]}],
        "groups": [{"id": "walker", "positions": [[-6, 0]], "to": "out", "move": "pbd"}],
        "run": {"step": 0.1}}));
    th_world *world = world_of(scene, 1, 1);
    for (int k = 0; k < 150 && world->counters.left == 0; ++k) {
        th_world_step(world, 1);
        assert_true(deepest_overlap(world) < 0.02f);
    }
    assert_int_equal(world->counters.left, 1);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

static void stairs_are_climbed_and_no_agent_is_lost(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON(
        {"levels": [{"id": "below", "walkable": {"rect": [-6, 0, 3, 2]}}, {"id": "above",
            "z": 6, "walkable": {"rect": [13, 0, 18, 2]}}],
        "stairs": [{"id": "stairs", "level": "below", "to": "above",
            "area": {"rect": [3, 0, 13, 2]}, "top": [[13, 0], [13, 2]], "up": 0.5,
            "down": 0.75}],
        "exits": [{"id": "up", "level": "above", "line": [[18, 0], [18, 2]]}, {"id": "down",
            "level": "below", "line": [[-6, 0], [-6, 2]]}],
        "groups": [{"id": "climbers", "level": "below", "count": 12,
            "area": {"rect": [-5, 0, 2, 2]}, "to": "up", "move": "pbd"}, {"id": "others",
            "level": "above", "count": 6, "area": {"rect": [14, 0, 17, 2]}, "to": "down",
            "move": "pbd"}]}));
    th_world *world = world_of(scene, 1, 1);
    run_to_end(world, 120.0);
    assert_int_equal(world->counters.left, 18);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

static void people_of_orca_and_pbd_pass_each_other(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON(
        {"levels": [{"walkable": {"rect": [0, 0, 24, 8]}}],
        "exits": [{"id": "left", "line": [[0, 0], [0, 8]]}, {"id": "right",
            "line": [[24, 0], [24, 8]]}],
        "groups": [{"id": "a", "count": 30, "area": {"rect": [1, 1, 9, 7]}, "to": "right",
            "move": "pbd"}, {"id": "b", "count": 30, "area": {"rect": [15, 1, 23, 7]},
            "to": "left", "move": "orca"}],
        "run": {"step": 0.1}}));
    th_world *world = world_of(scene, 1, 1);
    run_to_end(world, 90.0);
    assert_int_equal(world->counters.left, 60);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_are_the_published_ones_and_begin_with_contact),
        cmocka_unit_test(time_to_collision_has_its_closed_form),
        cmocka_unit_test(contact_pushes_along_and_friction_holds_across),
        cmocka_unit_test(avoidance_goes_on_with_the_motion_begun),
        cmocka_unit_test(avoidance_falls_with_the_time_to_collision),
        cmocka_unit_test(both_ask_the_same_of_a_meeting),
        cmocka_unit_test(a_stopped_agent_leans_and_eases),
        cmocka_unit_test(a_drive_into_a_wall_goes_along_it),
        cmocka_unit_test(walls_hold_on_their_line_and_at_their_corners),
        cmocka_unit_test(corrections_of_a_pair_sum_to_zero),
        cmocka_unit_test(avoidance_begins_at_its_range),
        cmocka_unit_test(overlaps_go_away_within_a_second),
        cmocka_unit_test(momentum_of_a_collision_is_kept),
        cmocka_unit_test(friction_takes_from_the_sliding),
        cmocka_unit_test(every_iteration_counts),
        cmocka_unit_test(cohesion_never_adds_energy),
        cmocka_unit_test(cohesion_in_its_literal_form_blows_up),
        cmocka_unit_test(a_heap_of_coincident_people_comes_apart),
        cmocka_unit_test(what_is_not_finite_is_repaired),
        cmocka_unit_test(agents_are_not_felt_through_a_thin_wall),
        cmocka_unit_test(agents_that_do_not_give_way_are_walked_around),
        cmocka_unit_test(stairs_are_climbed_and_no_agent_is_lost),
        cmocka_unit_test(people_of_orca_and_pbd_pass_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
