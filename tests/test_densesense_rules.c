// DenseSense: single rules that tests of whole crowds would miss. SPDX-License-Identifier: Apache-2.0
#include "filter/densesense/densesense.h"
#include "run_model.h"
#include "small_world.h"
#include "support.h"
#include <math.h>

static th_densesense_params defaults(void) {
    th_model_def def = {.name = "densesense"};
    th_model_choice choice;
    assert_int_equal(th_model_choose(TH_STAGE_FILTER, &def, false, false, "filter", &choice, NULL),
                     TH_OK);
    th_densesense_params p;
    memcpy(&p, choice.params, sizeof p);
    return p;
}

static small_world *create(th_densesense_params p) {
    const float none[1] = {0};
    small_world *small = small_world_create(TH_MOVE_ORCA, none, 1);
    small->groups[0].filter = TH_FILTER_DENSESENSE;
    memcpy(small->groups[0].filter_params, &p, sizeof p);
    return small;
}

static void stand(small_world *small, float x, float y) {
    small->world.agents.phase[small_world_add(small, x, y, 0.2f)] = TH_PHASE_STANDING;
}

// The direction [rad] that an agent at the origin takes that wants along x and last went `before`.
static float turn_of(small_world *small, float before) {
    uint32_t id = small->world.agents.id[small_world_add(small, 0, 0, 0.2f)];
    uint32_t i = small_world_find(small, id);
    small->world.agents.preferred_x[i] = 1.34f;
    th_own_floats(&small->world, TH_FILTER_DENSESENSE, 0)[i] = before;
    small_world_index(small, 9.0f, 1.2f);
    run_model(&small->world, TH_FILTER_DENSESENSE);
    return th_own_floats(&small->world, TH_FILTER_DENSESENSE, 0)[small_world_find(small, id)];
}

// Eq. 7: places count by a Gaussian of sigma_obstacle; four rings of equal area.
static void far_places_count_less(void **state) {
    (void)state;
    th_densesense_params p = defaults();
    for (int ring = 0; ring < 4; ++ring) {
        double r2 = (ring + 0.5) / 4, sigma = (double)p.sigma_obstacle;
        assert_near(th_densesense_sample_weight(&p, 8 * ring), exp(-r2 / (2 * sigma * sigma)),
                    1e-5);
    }
}

// Four rings of equal area with eight points each, alike on both sides of the way and before and behind.
static void places_lie_evenly_around(void **state) {
    (void)state;
    for (int ring = 0; ring < 4; ++ring) {
        th_vec2 sum = {0, 0};
        for (int k = 8 * ring; k < 8 * ring + 8; ++k) {
            th_vec2 place = th_densesense_sample(k, th_v(0.6f, 0.8f));
            assert_near(th_length(place), sqrt((ring + 0.5) / 4), 1e-5);
            sum = th_add(sum, place);
        }
        assert_near(th_length(sum), 0, 1e-5);
    }
}

// Eq. 9: how much nearer to the goal an agent comes; and an arc has as many directions as asked for, an odd number.
static void a_gain_is_what_is_left_less(void **state) {
    (void)state;
    for (float cosine = 0.5f; cosine <= 1.0f; cosine += 0.25f) {
        double way = 2 * 1.2, x = 5 - way * (double)cosine,
               y2 = way * way * (1 - (double)(cosine * cosine));
        assert_near(th_densesense_gain(5, 2, 1.2f, cosine), 5 - sqrt(x * x + y2), 1e-5);
    }
    th_densesense_params p = defaults();
    static const int halves[] = {0, 0, 1, 1, 2, 2};
    for (int samples = 1; samples <= 6; ++samples) {
        float spacing;
        p.arc_samples = (float)samples;
        assert_int_equal(th_densesense_arc_half(&p, &spacing), halves[samples - 1]);
    }
}

// As the authors' code: a wall adds to the density like an agent at its nearest point, unless it lies behind.
static void walls_behind_add_nothing(void **state) {
    (void)state;
    th_densesense_params p = defaults();
    th_densesense_walker who = {.params = &p};
    who.walls.count = 1;
    who.walls.ax[0] = who.walls.bx[0] = 1.5f; // ahead, across the way
    who.walls.ay[0] = 1;
    who.walls.by[0] = -1;
    float ahead = th_densesense_added_by_walls(&who, th_v(1, 0), th_v(1, 0));
    assert_near(ahead, th_densesense_wall(&p, 0.25f), 1e-6);
    who.walls.ax[0] = who.walls.bx[0] = -0.1f;
    assert_near(th_densesense_added_by_walls(&who, th_v(1, 0), th_v(1, 0)), 0, 0);
}

// Room only at 45 degrees and more to the left: within the arc of 60 degrees, not within one of 30.
static void the_whole_arc_is_tried(void **state) {
    (void)state;
    for (int wide = 0; wide < 2; ++wide) {
        th_densesense_params p = defaults();
        p.arc_interval = 0.0f;
        p.arc_width = wide ? 60.0f : 30.0f;
        small_world *small = create(p);
        for (float x = 0.5f; x < 5.0f; x += 0.42f)
            for (float y = -5.0f; y < 5.0f; y += 0.42f)
                if (y < 0.9f * x) stand(small, x, y);
        float turn = turn_of(small, 0.0f);
        assert_true(wide ? turn > 0.6f && turn < 1.06f : fabsf(turn) < 0.53f);
        small_world_destroy(small);
    }
}

// A clear way to the right, a worse one to the left: an agent that goes left changes sides unless it is reluctant to.
static void a_direction_stays_until_another_is_better_by_the_share(void **state) {
    (void)state;
    for (int reluctant = 0; reluctant < 2; ++reluctant) {
        th_densesense_params p = defaults();
        p.arc_interval = 0.0f;
        p.arc_hysteresis = reluctant ? 0.6f : 0.0f;
        small_world *small = create(p);
        for (float x = 1.2f; x < 5.0f; x += 0.42f)
            for (float y = -4.2f; y < 4.3f; y += 0.42f)
                if (fabsf(y + 1.2f) > 0.7f && fabsf(y - 1.2f) > 0.5f) stand(small, x, y);
        float turn = turn_of(small, 30.0f * 0.01745329f);
        assert_true(reluctant ? turn > 0.4f : turn < -0.1f);
        small_world_destroy(small);
    }
}

// Eq. 9: the goal is where the agent goes, its own or the nearest of its leg, on its level.
static void the_goal_is_where_the_agent_goes(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON(
        {"levels": [{"id": "low", "walkable": {"rect": [0, 0, 30, 6]}}, {"id": "high",
            "walkable": {"rect": [30, 0, 60, 6]}}],
        "stairs": [{"level": "low", "to": "high", "top": [[30, 0], [30, 6]]}],
        "exits": [{"id": "line", "level": "low", "line": [[0, 1], [0, 5]]}, {"id": "area",
            "level": "low", "area": {"rect": [26, 2, 28, 4]}}, {"id": "above", "level": "high",
            "area": {"rect": [30.2, 2, 31, 4]}}],
        "groups": [{"id": "out", "level": "low", "count": 1, "to": ["line", "area", "above"]},
            {"id": "own", "level": "low", "count": 1, "own_goal": "opposite", "plan": "straight"}],
        "run": {"duration": 5}}));
    th_world *world = world_of(scene, 1, 1);
    th_agents *a = &world->agents;
    for (uint32_t i = 0; i < 2; ++i) {
        th_densesense_walker who = {.world = world, .self = i, .p = {9, 3}};
        a->goal_x[i] = 12, a->goal_y[i] = 7;
        assert_near(th_densesense_goal_distance(&who), a->group[i] ? 5 : 9, 1e-5);
        who.p = th_v(22, 5); // nearer to the area, at its corner
        if (a->group[i] == 0) assert_near(th_densesense_goal_distance(&who), sqrt(17.0), 1e-5);
        who.p = th_v(29.5f, 3); // the exit above is nearer, on another level
        if (a->group[i] == 0) assert_near(th_densesense_goal_distance(&who), 1.5, 1e-5);
    }
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// The goal is 2 m ahead, where it is dense; to the left it is free. Within a second the detour leads nearer to the goal,
// within two it leads past it.
static void the_arc_looks_as_far_as_its_time(void **state) {
    (void)state;
    for (int seconds = 1; seconds <= 2; ++seconds) {
        th_densesense_params p = defaults();
        th_group group = {.own_goal = TH_OWN_GOAL_OPPOSITE};
        p.arc_interval = 0.0f;
        p.arc_goal = 1.0f;
        p.arc_time = (float)seconds;
        small_world *small = create(p);
        small->scene.groups = &group;
        small->scene.group_count = 1;
        for (float x = 0.6f; x < 4.0f; x += 0.6f)
            for (float y = -3.6f; y < 0.4f; y += 0.6f) stand(small, x, y);
        small->world.agents.goal_x[small->world.agents.count] = 2.0f; // of the walker
        float turn = turn_of(small, 0.0f);
        assert_true(seconds == 1 ? turn > 0.1f : turn == 0.0f);
        small_world_destroy(small);
    }
}

// An agent looks for a new direction once in arc_interval, and in a step about one of so many looks.
static void agents_look_one_after_the_other(void **state) {
    (void)state;
    enum { AGENTS = 1600, PERIOD = 16 };
    th_densesense_params p = defaults();
    p.arc_interval = 1.0f;
    small_world *small = create(p);
    small->world.dt = 1.0f / PERIOD;
    int looks[AGENTS] = {0};
    for (uint64_t step = 0; step < PERIOD; ++step) {
        int in_step = 0;
        small->world.step_count = step;
        for (uint32_t id = 0; id < AGENTS; ++id)
            if (th_densesense_is_due(&small->world, &p, id)) looks[id]++, in_step++;
        assert_true(in_step > AGENTS / PERIOD / 2 && in_step < 2 * AGENTS / PERIOD);
    }
    for (int id = 0; id < AGENTS; ++id) assert_int_equal(looks[id], 1);
    small_world_destroy(small);
}

// The crowd beyond the top of stairs is felt below it.
static float speed_before_stairs(int crowd) {
    char text[1200];
    snprintf(text, sizeof text,
             TH_JSON({"levels":[{"id":"low", "walkable":{"rect":[0,0,10,6]}}, {"id":"high",
                "walkable":{"rect":[10,0,20,6]}}],
            "stairs":[{"level":"low", "to":"high", "top":[[10,0],[10,6]]}],
            "groups":[{"id":"walkers", "level":"low", "count":0, "own_goal":"opposite",
                "plan":"straight", "filter":"densesense", "move":"orca"},
                {"id":"crowd", "level":"high", "area":{"rect":[10.3,1,13,5]}, "count":%d,
                "own_goal":"opposite", "plan":"straight", "premovement":100, "move":"orca"}],
            "run":{"duration":20}}),
                                 crowd);
    th_scene *scene = scene_of(text);
    th_world *world = world_of(scene, 1, 1);
    th_agent_def walker = th_agent_def_default();
    walker.position = th_v(9.7f, 3), walker.goal = th_v(18, 3), walker.goal_level = 1;
    walker.speed = 1.3f, walker.radius = 0.2f;
    th_agent_id id;
    assert_int_equal(th_world_spawn(world, &walker, 1, &id, NULL), TH_OK);
    th_world_step(world, 1);
    float *x = field_of(world, TH_FIELD_PREFERRED_X), fastest = 0.0f;
    for (int k = 0; k < th_world_agent_count(world); ++k) fastest = fmaxf(fastest, x[k]);
    th_world_destroy(world);
    th_scene_destroy(scene);
    return fastest;
}

static void people_beyond_stairs_count(void **state) {
    (void)state;
    assert_near(speed_before_stairs(0), 1.3, 1e-5);
    assert_true(speed_before_stairs(30) < 1.2f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(far_places_count_less),
        cmocka_unit_test(places_lie_evenly_around),
        cmocka_unit_test(a_gain_is_what_is_left_less),
        cmocka_unit_test(walls_behind_add_nothing),
        cmocka_unit_test(the_whole_arc_is_tried),
        cmocka_unit_test(a_direction_stays_until_another_is_better_by_the_share),
        cmocka_unit_test(the_goal_is_where_the_agent_goes),
        cmocka_unit_test(the_arc_looks_as_far_as_its_time),
        cmocka_unit_test(agents_look_one_after_the_other),
        cmocka_unit_test(people_beyond_stairs_count),
    };
    return cmocka_run_group_tests_name("densesense rules", tests, NULL, NULL);
}
