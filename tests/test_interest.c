// Places of interest: fields, hazards, detours, events, and messages about bad places. SPDX-License-Identifier:
// Apache-2.0
#include "behave/interest/interest.h"
#include "interest_world.h"
#include "support.h"
#include "throng/live.h"
#include <stdlib.h>
#include <string.h>

// ---- one person

// A street of 30 m with a shop beside it and no other agent.
static th_scene *street(const char *behave, const char *walls, const char *people) {
    char json[1200];
    snprintf(json, sizeof json,
             TH_JSON({"levels": [{"walkable": {"rect": [0, 0, 30, 10]},
                          "obstacles": [{"rect": [12, 6, 18, 10]}], "walls": [%s]}],
                      "exits": [{"id": "out", "line": [[30, 0], [30, 5]]}],
                      "interests": [{"id": "shop", "layer": "shopping",
                          "area": {"rect": [12, 6, 18, 10]}}],
                      "groups": [{"positions": %s, "to": "out", "behave": %s}],
                      "run": {"step": 0.1, "duration": 1000}}),
                                           walls, people, behave);
    return scene_of(json);
}

// An agent that is drawn leaves its way, stands before the shop for as long as it looks, and takes up the way.
static void stop_look_go_on(void **state) {
    (void)state;
    th_scene *scene = street(TH_JSON({"model": "interest", "attract_rate": 5, "browse_rate": 0,
                                 "browse_time": 6, "browse_spread": 0}),
                                     "", "[[2, 1]]");
    th_world *world = world_of(scene, 1, 1);
    int looks = th_world_field(world, "interest.looks");
    double came = -1.0, stopped = -1.0, went = -1.0, moved = 0.0;
    for (int n = 0; n < 600 && !th_world_done(world); ++n) {
        float before = n ? *field_of(world, TH_FIELD_POSITION_X) : 0.0f;
        th_world_step(world, 1);
        if (th_world_done(world)) break;
        uint32_t leg = *words_of(world, TH_FIELD_LEG), phase = *words_of(world, TH_FIELD_PHASE);
        float x = *field_of(world, TH_FIELD_POSITION_X), y = *field_of(world, TH_FIELD_POSITION_Y);
        double time = th_world_time(world);
        if (leg == TH_DETOUR && came < 0.0) came = time;
        if (phase == TH_PHASE_WAITING && stopped < 0.0) {
            stopped = time;
            // Within 1.5 m of the shop, whose corner is at (12, 6).
            double dx = fmax(12.0 - ((double)x + scene->origin.x), 0.0);
            assert_true(hypot(dx, 6.0 - ((double)y + scene->origin.y)) < 1.6);
        }
        if (phase == TH_PHASE_WAITING && time > stopped + 1.0)
            moved += fabs((double)x - (double)before);
        if (stopped > 0.0 && phase == TH_PHASE_WALKING && went < 0.0) {
            went = time;
            assert_int_equal(leg, 0);
        }
        if (went > 0.0) assert_int_equal(*words_of(world, looks), 1); // 30 s have not passed
    }
    assert_true(came > 0.0 && stopped > came && went > 0.0);
    assert_near(went - stopped, 6.0, 0.15);
    assert_true(moved < 0.02);
    assert_int_equal(th_world_statistics(world).left, 1);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// An agent that stands before the shop and cannot walk.
static const char standing[] = TH_JSON([[15, 5.7]], "speed": 0);

static int looks_after(const char *behave, const char *walls, double seconds, uint64_t seed) {
    th_scene *scene = street(behave, walls, standing);
    th_world *world = world_of(scene, 1, seed);
    th_world_step(world, (int)(10.0 * seconds + 0.5));
    int looks = (int)*words_of(world, th_world_field(world, "interest.looks"));
    th_world_destroy(world);
    th_scene_destroy(scene);
    return looks;
}

// A place that was looked at leaves people cold for the refractory time, and no longer.
static void refractory_time(void **state) {
    (void)state;
    const char *eager = TH_JSON({"model": "interest", "browse_rate": 100, "attract_rate": 0,
            "browse_time": 2, "browse_spread": 0, "refractory": 10});
    assert_int_equal(looks_after(eager, "", 11.5, 1), 1);
    assert_int_equal(looks_after(eager, "", 13.0, 1), 2);
    assert_int_equal(looks_after(eager, "", 23.0, 1), 2);
    assert_int_equal(looks_after(eager, "", 26.0, 1), 3);
}

// Places behind a wall have no effect.
static void behind_a_wall(void **state) {
    (void)state;
    const char *eager = TH_JSON({"model": "interest", "browse_rate": 100, "attract_rate": 100,
            "browse_time": 2, "browse_spread": 0, "refractory": 0});
    assert_true(looks_after(eager, "", 10.0, 1) > 2);
    assert_int_equal(looks_after(eager, TH_JSON([[10, 5.9], [20, 5.9]]), 10.0, 1), 0);
}

// An agent that is drawn and cannot get there gives up after longest_way, and is not drawn again at once.
static void give_up(void **state) {
    (void)state;
    th_scene *scene = street(TH_JSON({"model": "interest", "browse_rate": 0, "attract_rate": 100,
                                 "attract_decay": 0.01, "browse_decay": 0.01, "longest_way": 5,
                                 "arrival": 0.1, "refractory": 7}),
                                     "", TH_JSON([[15, 3]], "speed": 0));
    th_world *world = world_of(scene, 1, 1);
    double seconds = 0.0;
    for (int n = 0; n < 120; ++n) {
        th_world_step(world, 1);
        seconds += *words_of(world, TH_FIELD_LEG) >= TH_DETOUR ? 0.1 : 0.0;
    }
    assert_near(seconds, 5.0, 0.4);
    assert_int_equal(*words_of(world, th_world_field(world, "interest.looks")), 0);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// An agent that is drawn and held up by those before it looks from where it stands.
static void held_up(void **state) {
    (void)state;
    int stopped = 0, all = 40;
    th_scene *scene = street(TH_JSON({"model": "interest", "attract_rate": 100,
                                 "attract_decay": 0.3, "browse_time": 1000}),
                                     "", TH_JSON([[15, 3]], "speed": 0));
    for (int seed = 1; seed <= all; ++seed) {
        th_world *world = world_of(scene, 1, (uint64_t)seed);
        th_world_step(world, 300);
        stopped += *words_of(world, TH_FIELD_PHASE) == TH_PHASE_WAITING;
        th_world_destroy(world);
    }
    // 3 m from the rim: 0.5 exp(-0.9) a second by the outer field, 0.5 exp(-6) by the inner one.
    assert_true(stopped >= 36);
    th_scene_destroy(scene);
}

// The stronger of two places draws more, in proportion; one on another level neither draws nor hinders.
static void which_place(void **state) {
    (void)state;
    int drawn[4] = {0}, all = 400, steps = 0;
    th_scene *scene = scene_of(TH_JSON({"levels": [{"id": "a", "walkable": {"rect": [0, 0, 20, 10]}},
            {"id": "b", "walkable": {"rect": [0, 0, 20, 10]}}],
        "exits": [{"id": "out", "level": "a", "line": [[0, 0], [0, 10]]}],
        "interests": [{"id": "weak", "level": "a", "area": {"rect": [9, 7, 11, 9]}, "strength": 0.2},
            {"id": "strong", "level": "a", "area": {"rect": [9, 1, 11, 3]}, "strength": 0.6},
            {"id": "upstairs", "level": "b", "area": {"rect": [9, 5.5, 11, 6.5]}, "strength": 10}],
        "groups": [{"level": "a", "positions": [[10, 5]], "speed": 0, "to": "out",
            "behave": {"model": "interest", "attract_rate": 10, "browse_rate": 0}}],
        "run": {"step": 0.1, "duration": 100}}));
    for (int seed = 1; seed <= all; ++seed) {
        th_world *world = world_of(scene, 1, (uint64_t)seed);
        uint32_t detour = 0;
        for (int n = 0; n < 100 && detour == 0; ++n) {
            th_world_step(world, 1);
            ++steps;
            detour = *words_of(world, TH_FIELD_LEG) / TH_DETOUR;
        }
        assert_in_range(detour, 1, 3);
        ++drawn[detour];
        th_world_destroy(world);
    }
    assert_int_equal(drawn[3], 0);
    assert_in_range(drawn[1], 74, 126);                             // 3 standard deviations of 100
    double mean = 1.0 / (1.0 - exp(-0.1 * 10.0 * 0.8 * exp(-1.0))); // steps until it happens
    assert_near((double)steps / all, mean, 3.0 * mean / 20.0);
    th_scene_destroy(scene);
}

// Four places are remembered at once, each for its own time.
static void several_places(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON({"interests": [{"area": {"rect": [1, 0, 2, 1]}},
            {"area": {"rect": [-2, 0, -1, 1]}}, {"area": {"rect": [-0.5, 1.5, 0.5, 2.5]}}],
        "exits": [{"id": "out", "line": [[20, 0], [20, 2]]}],
        "groups": [{"positions": [[0, 0.5]], "speed": 0, "behave": {"model": "interest",
            "browse_rate": 100, "attract_rate": 0, "browse_time": 1, "browse_spread": 0,
            "browse_decay": 0.5, "refractory": 20}}],
        "run": {"step": 0.1, "duration": 100}}));
    th_world *world = world_of(scene, 1, 1);
    int field = th_world_field(world, "interest.looks");
    th_world_step(world, 50);
    assert_int_equal(*words_of(world, field), 3); // one after the other
    th_world_step(world, 140);
    assert_int_equal(*words_of(world, field), 3);
    th_world_step(world, 80);
    assert_int_equal(*words_of(world, field), 6);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

static void what_drives(void **state) {
    (void)state;
    th_scene *scene = street(TH_JSON({"model": "interest", "browse_rate": 100}), "", standing);
    th_world *world = world_of(scene, 1, 1);
    int model = th_model_find(TH_STAGE_BEHAVE, "interest");
    th_influence one;
    th_agent_id first = {1};
    assert_int_equal(th_world_influences(world, first, model, &one, 1), 0);
    th_world_step(world, 5);
    assert_int_equal(th_world_influences(world, first, model, &one, 1), 1);
    assert_near(one.vector.x, 0.0, 0.05); // up to the shop
    assert_near(one.vector.y, 0.3, 0.05);
    // It faces what it looks at.
    const th_scene_view *view = th_scene_view_of(scene);
    th_vec2 at = {field_of(world, TH_FIELD_POSITION_X)[0], field_of(world, TH_FIELD_POSITION_Y)[0]};
    uint32_t leg = words_of(world, TH_FIELD_LEG)[0];
    assert_near(th_watched_from(view, &view->groups[0], leg, at).y, 1.0, 0.01);
    assert_near(th_length(th_watched_from(view, &view->groups[0], 0, at)), 0.0, 0.0);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// ---- crowds

typedef struct gathering {
    int drawn, standing, near; // on a detour, of these looking, of all within 6 m of a show
} gathering;

static gathering gather(th_world *world) {
    const th_scene *scene = th_world_scene(world);
    const uint32_t *leg = words_of(world, TH_FIELD_LEG), *phase = words_of(world, TH_FIELD_PHASE);
    const float *x = field_of(world, TH_FIELD_POSITION_X),
                *y = field_of(world, TH_FIELD_POSITION_Y);
    gathering g = {0, 0, 0};
    for (int i = 0; i < (int)th_world_statistics(world).inside; ++i) {
        double px = (double)x[i] + scene->origin.x, py = (double)y[i] + scene->origin.y;
        g.drawn += leg[i] >= TH_DETOUR;
        g.standing += leg[i] >= TH_DETOUR && phase[i] == TH_PHASE_WAITING;
        g.near += hypot(px - 17.0, py - 25.0) < 6.0 || hypot(px - 33.0, py - 25.0) < 6.0;
    }
    return g;
}

// Card, 4, and figure 6.5: people near two sources change their goal, gather, watch, and resume when the shows end.
static void an_event(void **state) {
    (void)state;
    th_scene *scene = scene_file("scenes/interest/event.json");
    for (int seed = 1; seed <= CROWDS(2); ++seed) {
        th_world *world = world_of(scene, 1, (uint64_t)seed);
        th_world_step(world, 99);
        gathering before = gather(world);
        assert_int_equal(before.drawn, 0);
        th_world_step(world, 451);
        gathering during = gather(world);
        th_world_step(world, 52); // 60.2 s
        gathering after = gather(world);
        if (getenv("TH_PRINT"))
            printf("event, seed %d: %d drawn at 55 s, %d of them stand, %d within 6 m; at "
                   "60.2 s %d\n",
                   seed, during.drawn, during.standing, during.near, after.drawn);
        assert_true(during.standing > 100 && during.near > 120 && before.near < 60);
        assert_int_equal(after.drawn, 0);
        run_to_end(world, 400.0);
        assert_int_equal(th_world_statistics(world).left, 240);
        th_world_destroy(world);
    }
    th_scene_destroy(scene);
}

// No agent is lost on the way to a shop, whatever the crowd; those in a hurry look at nothing.
static void shops(void **state) {
    (void)state;
    th_scene *scene = scene_file("scenes/interest/shops.json");
    for (int seed = 1; seed <= CROWDS(10); ++seed) {
        th_world *world = world_of(scene, 1, (uint64_t)seed);
        uint32_t looks = 0;
        for (int n = 0; n < 10; ++n) {
            th_world_step(world, 100);
            const uint32_t *group = words_of(world, TH_FIELD_GROUP);
            const uint32_t *seen = words_of(world, th_world_field(world, "interest.looks"));
            const uint32_t *leg = words_of(world, TH_FIELD_LEG);
            for (int i = 0; i < (int)th_world_statistics(world).inside; ++i) {
                looks += seen[i];
                if (group[i] == 2) assert_true(seen[i] == 0 && leg[i] == 0);
            }
        }
        assert_true(looks > 20);
        run_to_end(world, 900.0);
        assert_int_equal(th_world_statistics(world).inside, 0);
        th_world_destroy(world);
    }
    th_scene_destroy(scene);
}

// Metres from an agent to the nearest rim.
static double rim_distance(const th_scene *scene, float x, float y) {
    double least = 1e9;
    for (int g = 0; g < scene->goal_count; ++g) {
        if (scene->goals[g].kind != TH_GOAL_DETOUR) continue;
        th_vec2 q = th_nearest_on_rings(&scene->goals[g].area.shape, th_v(x, y));
        least = fmin(least, hypot((double)(q.x - x), (double)(q.y - y)));
    }
    return least;
}

// The share of the rims with agents standing within a metre: a point every half metre.
static double outlined(const th_scene *scene, const float *x, const float *y, const uint32_t *phase,
                       int count) {
    int points = 0, covered = 0;
    for (int g = 0; g < scene->goal_count; ++g) {
        const th_polygons *shape = &scene->goals[g].area.shape;
        int end = scene->goals[g].kind == TH_GOAL_DETOUR ? shape->ring_start[1] : 0;
        for (int k = 0, j = end - 1; k < end; j = k++) {
            th_vec2 a = shape->points[j], along = th_sub(shape->points[k], a);
            int pieces = (int)(2.0f * th_length(along));
            for (int n = 0; n < pieces; ++n, ++points) {
                th_vec2 p = th_add(a, th_scale((float)n / (float)pieces, along));
                bool near = false;
                for (int i = 0; i < count; ++i)
                    near = near ||
                           (phase[i] == TH_PHASE_WAITING && hypotf(x[i] - p.x, y[i] - p.y) < 1.0f);
                covered += near;
            }
        }
    }
    return (double)covered / points;
}

// Card, 5, and figure 6.1: standing agents outline the letters.
static void letters(void **state) {
    (void)state;
    th_scene *scene = scene_file("scenes/interest/letters.json");
    th_world *world = world_of(scene, 1, 1);
    th_world_step(world, CROWDS(2) > 1 ? 1000 : 300);
    const uint32_t *phase = words_of(world, TH_FIELD_PHASE);
    const float *x = field_of(world, TH_FIELD_POSITION_X),
                *y = field_of(world, TH_FIELD_POSITION_Y);
    int count = (int)th_world_statistics(world).inside, still = 0, near = 0;
    for (int i = 0; i < count; ++i) {
        if (phase[i] != TH_PHASE_WAITING) continue;
        ++still;
        near += rim_distance(scene, x[i], y[i]) < 0.75;
    }
    double share = outlined(scene, x, y, phase, count);
    if (getenv("TH_PRINT"))
        printf("letters: %d stand, %d of them within 0.75 m of a rim; %.0f %% of the rims "
               "within 1 m "
               "of another\n",
               still, near, 100.0 * share);
    assert_true(still > 20 && near > 0.8 * still); // some are pushed away
    assert_true(share > (CROWDS(2) > 1 ? 0.85 : 0.1));
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// ---- results, snapshots, edits

static th_scene *market(const char *plan) {
    char json[1600];
    snprintf(
        json, sizeof json,
        TH_JSON({"levels": [{"walkable": {"rect": [0, 0, 30, 20]},
                          "obstacles": [{"rect": [13, 8, 17, 12]}]}],
                      "exits": [{"id": "out", "line": [[30, 5], [30, 15]]}],
                      "waypoints": [{"id": "half", "area": {"rect": [14, 13, 16, 19]}}],
                      "interests": [{"id": "stall", "layer": "dining", "area": {"rect": [13, 8, 17, 12]}},
                          {"id": "show", "area": {"circle": [22, 10, 1]}, "from": 5, "until": 20}],
                      "groups": [{"count": 60, "area": {"rect": [1, 3, 8, 17]}, "route": ["half", "out"],
                          "behave": {"model": "interest", "attract_rate": 1, "browse_time": 3},
                          "plan": "%s", "move": "orca"}],
                      "run": {"step": 0.1, "duration": 2000}}),
                                     plan);
    return scene_of(json);
}

// Every planner leads to the places and on.
static void any_planner(void **state) {
    (void)state;
    static const char *const plans[] = {"field", "continuum", "straight"};
    for (int k = 0; k < TH_COUNT_OF(plans); ++k) {
        th_scene *scene = market(plans[k]);
        th_world *world = world_of(scene, 1, 1);
        th_world_step(world, 100);
        const uint32_t *looks = words_of(world, th_world_field(world, "interest.looks"));
        int all = 0;
        for (int i = 0; i < (int)th_world_statistics(world).inside; ++i) all += (int)looks[i];
        assert_true(all > 10);
        run_to_end(world, 300.0);
        assert_int_equal(th_world_statistics(world).left, 60);
        th_world_destroy(world);
        th_scene_destroy(scene);
    }
}

// An agent that has looked at a place goes on where it left its route.
static void the_leg_of_before(void **state) {
    (void)state;
    th_scene *scene = market("field");
    th_world *world = world_of(scene, 1, 1);
    uint32_t *leg = th_world_map(world, TH_FIELD_LEG, TH_ACCESS_WRITE), looks = 0;
    for (int i = 0; i < 60; ++i) leg[i] = 1;
    th_world_unmap(world, TH_FIELD_LEG);
    th_world_step(world, 100);
    const uint32_t *now = words_of(world, TH_FIELD_LEG);
    const uint32_t *seen = words_of(world, th_world_field(world, "interest.looks"));
    for (int i = 0; i < (int)th_world_statistics(world).inside; ++i) {
        looks += seen[i];
        assert_int_equal(now[i] % TH_DETOUR, 1);
    }
    assert_true(looks > 10);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

static void any_threads(void **state) {
    (void)state;
    th_scene *scene = market("field");
    assert_any_threads(scene, 4, 100);
    th_scene_destroy(scene);
    scene = market("continuum");
    assert_any_threads(scene, 4, 40);
    th_scene_destroy(scene);
}

static void restored(void **state) {
    (void)state;
    th_scene *scene = market("field");
    assert_restores(scene, 80, 150);
    th_scene_destroy(scene);
    scene = market("continuum");
    assert_restores(scene, 40, 30);
    th_scene_destroy(scene);
}

// Numbers from outside that lead to no place of the group are not taken.
static void unsound_numbers(void **state) {
    (void)state;
    th_scene *scene = market("field");
    th_world *world = world_of(scene, 1, 1);
    th_world_step(world, 2);
    int place = th_world_field(world, "interest.place_3");
    const struct {
        int field;
        uint32_t value, taken;
    } cases[] = {{TH_FIELD_LEG, 2 * TH_DETOUR, 1},
                 {TH_FIELD_LEG, 3 * TH_DETOUR, 0},
                 {TH_FIELD_LEG, UINT32_MAX, 0},
                 {place, 2, 1},
                 {place, 3, 0}};
    for (int k = 0; k < TH_COUNT_OF(cases); ++k) {
        uint32_t *view = th_world_map(world, cases[k].field, TH_ACCESS_WRITE);
        view[0] = cases[k].value;
        th_world_unmap(world, cases[k].field);
        assert_int_equal(*words_of(world, cases[k].field) == cases[k].value, cases[k].taken);
    }
    th_world_step(world, 5);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// Edited while people are on their way to places and look at them: they go back to their route.
static void edited(void **state) {
    (void)state;
    th_scene *scene = market("field"), *other = market("straight");
    th_world *world = world_of(scene, 1, 1), *next = NULL;
    th_world_step(world, 100);
    th_world_def def = th_world_def_default();
    int lost = -1, drawn = 0;
    const uint32_t *leg = words_of(world, TH_FIELD_LEG);
    for (int i = 0; i < (int)th_world_statistics(world).inside; ++i) drawn += leg[i] >= TH_DETOUR;
    assert_true(drawn > 5);
    assert_int_equal(th_world_continue(other, &def, world, &lost, &next, NULL), TH_OK);
    leg = words_of(next, TH_FIELD_LEG);
    for (int i = 0; i < (int)th_world_statistics(next).inside; ++i) assert_true(leg[i] < 2);
    run_to_end(next, 300.0);
    assert_int_equal(th_world_statistics(next).inside, 0);
    th_world_destroy(world);
    th_world_destroy(next);
    th_scene_destroy(scene);
    th_scene_destroy(other);
}

// ---- scenes that are wrong

static void refused(void **state) {
    (void)state;
#define SHOP(more)                                                                       \
    "{\"levels\": [{\"walkable\": {\"rect\": [0, 0, 9, 9]}}], \"interests\": [{\"id\": " \
    "\"shop\", " more
#define AREA "\"area\": {\"rect\": [1, 1, 2, 2]}"
#define GROUP(more) "}], \"groups\": [{\"count\": 1, \"route\": []" more "}]}"
    static const struct {
        const char *json, *path, *message;
    } cases[] = {
        {SHOP(AREA ", \"layer\": \"shopping\"")
             GROUP(", \"behave\": \"interest\", \"interested_in\": [\"shoping\"]"),
         "groups[0].interested_in", "has the layer \"shoping\"; did you mean \"shopping\"?"},
        {SHOP(AREA) GROUP(", \"behave\": \"interest\", \"interested_in\": {\"xyzzy\": 1}"),
         "groups[0].interested_in", "give names that stand under \"layer\""},
        {SHOP(AREA) GROUP(", \"behave\": \"interest\", \"interested_in\": {\"other\": 11}"),
         "groups[0].interested_in", "must lie in 0 .. 10"},
        {SHOP(AREA) GROUP(", \"interested_in\": [\"other\"]"), "groups[0].interested_in",
         "add \"interest\" to \"behave\""},
        {SHOP(AREA) GROUP(", \"interested_in\": \"other\""), "groups[0].interested_in",
         "expected names"},
        {SHOP("\"area\": {\"rect\": [20, 1, 22, 2]}") GROUP(""), "interests[0].area",
         "\"shop\" lies outside the level \"ground\", 11.0 m from its ground; move it"},
        {SHOP("\"layer\": \"a\"") GROUP(""), "interests[0].area", "needs an \"area\""},
        {SHOP(AREA ", \"from\": 5, \"until\": 5") GROUP(""), "interests[0]",
         "does not come after \"from\""},
        {SHOP(AREA ", \"until\": 0") GROUP(""), "interests[0].until", "must be more than 0"},
        {SHOP(AREA ", \"strength\": 0") GROUP(""), "interests[0].strength", "must be more than 0"},
        {SHOP(AREA ", \"layer\": \"\"") GROUP(""), "interests[0].layer", "1 to 100 characters"},
        {SHOP(AREA ", \"line\": [[0, 0], [1, 0]]") GROUP(""), "interests[0].line", "unknown key"},
        {SHOP(AREA) GROUP(", \"behave\": {\"model\": \"interest\", \"browse_decay\": 0.1}"),
         "groups[0].behave", "make browse_decay at least attract_decay"},
    };
    for (int k = 0; k < TH_COUNT_OF(cases); ++k) {
        th_error error = {0};
        th_scene *scene = NULL;
        th_result result = th_scene_load_json(cases[k].json, strlen(cases[k].json), "shop", NULL,
                                              NULL, &scene, &error);
        if (result != TH_BAD_SCENE || strcmp(error.path, cases[k].path) != 0 ||
            !strstr(error.message, cases[k].message))
            fail_msg("case %d: %s: %s", k, error.path, error.message);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stop_look_go_on),
        cmocka_unit_test(refractory_time),
        cmocka_unit_test(behind_a_wall),
        cmocka_unit_test(give_up),
        cmocka_unit_test(held_up),
        cmocka_unit_test(which_place),
        cmocka_unit_test(several_places),
        cmocka_unit_test(what_drives),
        cmocka_unit_test(an_event),
        cmocka_unit_test(shops),
        cmocka_unit_test(letters),
        cmocka_unit_test(any_planner),
        cmocka_unit_test(the_leg_of_before),
        cmocka_unit_test(any_threads),
        cmocka_unit_test(restored),
        cmocka_unit_test(unsound_numbers),
        cmocka_unit_test(edited),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
