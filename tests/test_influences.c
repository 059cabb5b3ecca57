// Influences on an agent, as models report them: right, and without changing anything. SPDX-License-Identifier: Apache-2.0
#include "support.h"
#include "throng/live.h"
#include "throng/model.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char room[] = TH_JSON(
    {"levels": [{"walkable": {"rect": [0, 0, 12, 8]}, "obstacles": [{"rect": [9, -1, 9.3, 3.4]}, {"rect": [9, 4.5, 9.3, 9]}]}],
      "exits": [{"id": "out", "line": [[12, 0], [12, 8]]}],
      "groups": [{"id": "p", "count": 60, "area": {"rect": [2, 0.3, 8.5, 7.7]}, "to": "out", "move": "%s"}],
      "run": {"step": 0.05}});

static th_scene *room_of(const char *model) {
    char json[1024];
    snprintf(json, sizeof json, room, model);
    return scene_of(json);
}

// With the default of every stage but the model's.
static th_scene *room_with(const th_model *model) {
    char more[64], json[1024];
    const char *stage = model->stage == TH_STAGE_BEHAVE   ? "behave"
                        : model->stage == TH_STAGE_PLAN   ? "plan"
                        : model->stage == TH_STAGE_FILTER ? "filter"
                                                          : "move";
    if (model->stage == TH_STAGE_MOVE)
        snprintf(more, sizeof more, "%s", model->name);
    else
        snprintf(more, sizeof more, "people\", \"%s\": \"%s", stage, model->name);
    snprintf(json, sizeof json, room, more);
    return scene_of(json);
}

enum { MOST = 400 };
static th_influence told[MOST];

static int ask(th_world *world, uint32_t id) {
    int count = th_world_influences(world, (th_agent_id){id}, -1, told, MOST);
    assert_true(count <= MOST);
    return count;
}

static void set_field(th_world *world, int field, int k, float value) {
    float *values = th_world_map(world, field, TH_ACCESS_WRITE);
    values[k] = value;
    th_world_unmap(world, field);
}

static const th_influence *named(const char *name, int count) {
    for (int k = 0; k < count; ++k)
        if (strcmp(told[k].name, name) == 0) return &told[k];
    fail_msg("%s is not told", name);
    return NULL;
}

static void asking_changes_nothing(void **state) {
    (void)state;
    int models;
    const th_model *const *all = th_models(&models);
    for (int m = 0; m < models; ++m) {
        if (all[m]->internal || (all[m]->stage != TH_STAGE_MOVE && !all[m]->influences)) continue;
        th_scene *scene = room_with(all[m]);
        th_world *asked = world_of(scene, 2, 1), *left_alone = world_of(scene, 2, 1);
        ask(asked, 7); // before the first step, too
        for (int k = 0; k < 60; ++k) {
            th_world_step(asked, 1);
            th_world_step(left_alone, 1);
            for (uint32_t id = 1; id <= 60; id += 20) ask(asked, id);
        }
        assert_true(th_world_hash(asked) == th_world_hash(left_alone));
        th_world_destroy(asked);
        th_world_destroy(left_alone);
        th_scene_destroy(scene);
    }
}

// Every move model and filter answers a click on a person.
static void every_model_tells(void **state) {
    (void)state;
    int models, told_by = 0;
    const th_model *const *all = th_models(&models);
    for (int m = 0; m < models; ++m) {
        bool has_no_say =
            strcmp(all[m]->name, "none") == 0 || strcmp(all[m]->name, "keep_side") == 0;
        bool asked = all[m]->stage == TH_STAGE_MOVE || all[m]->stage == TH_STAGE_FILTER;
        if (!asked || all[m]->internal || has_no_say) continue; // keep_side: no agent is on a strip
        th_scene *scene = room_with(all[m]);
        th_world *world = world_of(scene, 1, 1);
        th_world_step(world, 30);
        th_influence list[MOST];
        int shapes = 0, count = th_world_influences(world, (th_agent_id){17}, m, list, MOST);
        for (int k = 0; k < count && k < MOST; ++k) {
            shapes += list[k].kind != TH_INFLUENCE_FIGURE;
            assert_true(isfinite(list[k].at.x) && isfinite(list[k].vector.y) &&
                        isfinite(list[k].size));
        }
        if (shapes == 0) print_message("%s tells nothing\n", all[m]->name);
        assert_true(shapes > 0);
        ++told_by;
        th_world_destroy(world);
        th_scene_destroy(scene);
    }
    assert_true(told_by >= 11);
}

// A view that is mapped while an agent asks is written back to the same people.
static void views_stay_where_they_are(void **state) {
    (void)state;
    th_scene *scene = room_of("hidac");
    th_world *world = world_of(scene, 1, 1);
    th_world_step(world, 20);
    float *speed = th_world_map(world, TH_FIELD_SPEED, TH_ACCESS_WRITE);
    int count = th_world_agent_count(world);
    for (int k = 0; k < count; ++k) speed[k] = 1.0f + 0.001f * (float)k;
    assert_true(ask(world, 30) > 0);
    th_world_unmap(world, TH_FIELD_SPEED);
    float *now = field_of(world, TH_FIELD_SPEED);
    for (int k = 0; k < count; ++k) assert_near(now[k], 1.0 + 0.001 * k, 1e-6);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

static void absent_agents_have_no_influences(void **state) {
    (void)state;
    th_scene *scene = room_of("hidac");
    th_world *world = world_of(scene, 1, 1);
    assert_int_equal(ask(world, 0), 0);
    assert_int_equal(ask(world, 61), 0);
    int all = ask(world, 1);
    assert_true(all > 5);
    assert_int_equal(th_world_influences(world, (th_agent_id){1}, -1, NULL, 0), all);
    int move = th_model_find(TH_STAGE_MOVE, "hidac");
    assert_int_equal(th_world_influences(world, (th_agent_id){1}, move, NULL, 0), all);
    assert_int_equal(th_world_influences(world, (th_agent_id){1}, move + 1, NULL, 0), 0);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

static const char two[] = TH_JSON(
    {"levels": [{"walkable": {"rect": [-20, -10, 20, 10]}}],
      "exits": [{"id": "east", "line": [[20, -10], [20, 10]]}, {"id": "west", "line": [[-20, -10], [-20, 10]]}],
      "groups": [{"id": "a", "positions": [[0, 0]], "to": "east", "speed": 1.3, "mass": 80, "plan": "straight", "move": {"model": "%s" %s}},
      {"id": "b", "positions": [[%g, 0.1]], "to": "west", "speed": 1.3, "plan": "straight", "move": "%s"}], "run": {"step": %g}});

static th_scene *two_of(const char *model, const char *params, double apart, double step) {
    char json[1024];
    snprintf(json, sizeof json, two, model, params, apart, model, step);
    return scene_of(json);
}

// The direction told is the one that the next step takes, and the parts add up to it.
static void hidac_tells_its_next_direction(void **state) {
    (void)state;
    th_scene *scene = two_of("hidac", "", 4, 0.05);
    th_world *world = world_of(scene, 1, 3);
    int turned = 0;
    th_world_step(world, 10);
    for (int k = 0; k < 30; ++k) {
        th_vec2 direction, sum = {0, 0};
        int count = ask(world, 1);
        direction = named("direction", count)->vector;
        const char *parts[] = {"attractor", "last direction", "avoidance of walls",
                               "avoidance of one person"};
        for (int n = 0; n < count; ++n)
            for (int p = 0; p < 4; ++p)
                if (strcmp(told[n].name, parts[p]) == 0) {
                    sum.x += told[n].vector.x;
                    sum.y += told[n].vector.y;
                    turned += p == 3;
                }
        double length = (double)hypotf(sum.x, sum.y);
        assert_near((double)sum.x / length, direction.x, 1e-4);
        assert_near((double)sum.y / length, direction.y, 1e-4);
        th_world_step(world, 1);
        assert_near(field_of(world, th_world_field(world, "hidac.heading_x"))[0], direction.x,
                    0.02);
        assert_near(field_of(world, th_world_field(world, "hidac.heading_y"))[0], direction.y,
                    0.02);
    }
    assert_true(turned > 0);
    int count = ask(world, 1);
    const th_influence *ahead = named("rectangle of influence", count);
    assert_true(ahead->kind == TH_INFLUENCE_RECTANGLE && ahead->size == 1.5f);
    assert_true(hypotf(ahead->vector.x, ahead->vector.y) >= 1.4f);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// Is q in the rectangle that begins at p?
static bool is_ahead(const th_influence *r, th_vec2 p, th_vec2 q) {
    float length = hypotf(r->vector.x, r->vector.y), ux = r->vector.x / length,
          uy = r->vector.y / length;
    float along = ux * (q.x - p.x) + uy * (q.y - p.y), side = ux * (q.y - p.y) - uy * (q.x - p.x);
    return along > 0.0f && along <= length && fabsf(side) <= 0.5f * r->size;
}

// Figure 14: the agents counted for the density, and the area, however short the rectangle of influence is.
static void hidac_tells_whom_it_counts(void **state) {
    (void)state;
    th_scene *scene = room_of("hidac");
    th_world *world = world_of(scene, 1, 1);
    th_world_step(world, 60);
    int people = th_world_agent_count(world), most = 0, shorter = 0;
    const uint32_t *id = (const uint32_t *)(const void *)field_of(world, TH_FIELD_ID);
    const float *x = field_of(world, TH_FIELD_POSITION_X),
                *y = field_of(world, TH_FIELD_POSITION_Y);
    for (int i = 0; i < people; ++i) {
        if (x[i] > 9.0f) continue; // beyond the door an agent does not see all of the room
        int count = ask(world, id[i]), inside = 0, marked = 0;
        const th_influence *sample = named("density sample", count);
        th_vec2 p = {x[i], y[i]};
        assert_true(sample->kind == TH_INFLUENCE_RECTANGLE && sample->size == 1.5f);
        assert_near(hypotf(sample->vector.x, sample->vector.y), 3, 1e-5);
        th_vec2 seen = named("rectangle of influence", count)->vector;
        shorter += hypotf(seen.x, seen.y) < 2.5f;
        for (int j = 0; j < people; ++j) // of those in the same room, where no wall hides another
            inside += j != i && x[j] < 9.0f && is_ahead(sample, p, (th_vec2){x[j], y[j]});
        for (int k = 0; k < count; ++k) {
            if (strcmp(told[k].name, "counted person") != 0) continue;
            assert_true(told[k].kind == TH_INFLUENCE_CIRCLE && told[k].other != id[i]);
            assert_true(is_ahead(sample, p, told[k].at));
            inside += told[k].at.x >= 9.0f; // seen through the door
            ++marked;
        }
        assert_int_equal(marked, inside);
        assert_near(named("people in the density sample", count)->size, marked, 0);
        assert_near(named("density ahead", count)->size, marked / 4.5, 1e-5);
        most = marked > most ? marked : most;
    }
    assert_true(most >= 5 && shorter > 0);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// The velocity of the next step is on the allowed side of the half-plane, and the preferred one is not.
static void orca_tells_its_half_planes(void **state) {
    (void)state;
    th_scene *scene = two_of("orca", ", \"noise\": 0", 3, 0.1);
    th_world *world = world_of(scene, 1, 1);
    th_world_step(world, 4);
    int count = ask(world, 1);
    th_influence plane = *named("half-plane of a person", count);
    th_vec2 wish = named("preferred velocity", count)->vector;
    assert_int_equal(plane.kind, TH_INFLUENCE_HALF_PLANE);
    assert_int_equal(plane.other, 2);
    float x = field_of(world, TH_FIELD_POSITION_X)[0], y = field_of(world, TH_FIELD_POSITION_Y)[0];
    th_world_step(world, 1);
    float vx = field_of(world, TH_FIELD_VELOCITY_X)[0],
          vy = field_of(world, TH_FIELD_VELOCITY_Y)[0];
    float allowed = (vx + x - plane.at.x) * plane.vector.x + (vy + y - plane.at.y) * plane.vector.y;
    float wished =
        (wish.x + x - plane.at.x) * plane.vector.x + (wish.y + y - plane.at.y) * plane.vector.y;
    assert_near(allowed, 0, 1e-3);
    assert_true(wished < -0.01f);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// Over a millisecond the forces told are mass times acceleration.
static void social_force_tells_its_forces(void **state) {
    (void)state;
    th_scene *scene = two_of("social_force", "", 0.62, 0.001);
    th_world *world = world_of(scene, 1, 1);
    th_world_step(world, 5);
    th_vec2 sum = {0, 0};
    int count = ask(world, 1);
    for (int k = 0; k < count; ++k) {
        assert_string_equal(told[k].unit, "N");
        sum.x += told[k].vector.x;
        sum.y += told[k].vector.y;
    }
    assert_int_equal(named("force of a person", count)->other, 2);
    float vx = field_of(world, TH_FIELD_VELOCITY_X)[0],
          vy = field_of(world, TH_FIELD_VELOCITY_Y)[0];
    th_world_step(world, 1);
    double ax = ((double)field_of(world, TH_FIELD_VELOCITY_X)[0] - (double)vx) / 0.001;
    double ay = ((double)field_of(world, TH_FIELD_VELOCITY_Y)[0] - (double)vy) / 0.001;
    assert_true(hypot(ax, ay) > 1);
    assert_near(80 * ax, sum.x, 0.02 * hypot((double)sum.x, (double)sum.y));
    assert_near(80 * ay, sum.y, 0.02 * hypot((double)sum.x, (double)sum.y));
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// Over a short step the accelerations told are those of the person.
static void unit_mass_models_tell_their_accelerations(void **state) {
    (void)state;
    static const char *const models[] = {"helbing_molnar", "power_law"};
    for (int m = 0; m < 2; ++m) {
        th_scene *scene = two_of(models[m], "", 1.5, 0.001);
        th_world *world = world_of(scene, 1, 1);
        th_world_step(world, 200);
        th_vec2 sum = {0, 0};
        int count = ask(world, 1);
        for (int k = 0; k < count; ++k) {
            assert_string_equal(told[k].unit, "m/s2");
            sum.x += told[k].vector.x;
            sum.y += told[k].vector.y;
        }
        assert_int_equal(named("push of a person", count)->other, 2);
        float vx = field_of(world, TH_FIELD_VELOCITY_X)[0],
              vy = field_of(world, TH_FIELD_VELOCITY_Y)[0];
        th_world_step(world, 1);
        double ax = ((double)field_of(world, TH_FIELD_VELOCITY_X)[0] - (double)vx) / 0.001;
        double ay = ((double)field_of(world, TH_FIELD_VELOCITY_Y)[0] - (double)vy) / 0.001;
        assert_true(hypot(ax, ay) > 0.1);
        assert_near(ax, sum.x, 0.02 * hypot(ax, ay));
        assert_near(ay, sum.y, 0.02 * hypot(ax, ay));
        th_world_destroy(world);
        th_scene_destroy(scene);
    }
}

// The reported result is the velocity of the next step, which is one sub-step long.
static void velocities_told_are_those_of_the_next_step(void **state) {
    (void)state;
    static const struct {
        const char *model;
        const char *part[2]; // whose sum it is
        double step;
    } cases[] = {{"pbd", {"after constraints", "cohesion and limit"}, 0.02},
                 {"collision_free_speed", {"velocity by room"}, 0.05},
                 {"anticipation_velocity", {"velocity by room"}, 0.05},
                 {"uic", {"after projection"}, 0.05}};
    for (size_t m = 0; m < sizeof cases / sizeof cases[0]; ++m) {
        th_scene *scene = two_of(cases[m].model, "", 2, cases[m].step);
        th_world *world = world_of(scene, 1, 3);
        th_world_step(world, (int)(0.4 / cases[m].step));
        th_vec2 sum = {0, 0};
        int count = ask(world, 1);
        for (int k = 0; k < 2 && cases[m].part[k]; ++k) {
            sum.x += named(cases[m].part[k], count)->vector.x;
            sum.y += named(cases[m].part[k], count)->vector.y;
        }
        th_world_step(world, 1);
        assert_near(field_of(world, TH_FIELD_VELOCITY_X)[0], sum.x, 0.02);
        assert_near(field_of(world, TH_FIELD_VELOCITY_Y)[0], sum.y, 0.02);
        th_world_destroy(world);
        th_scene_destroy(scene);
    }
}

// Two overlapping agents push each other apart, and each is told by which agent.
static void pairs_tell_the_pushing_agent(void **state) {
    (void)state;
    static const char *const models[] = {"pbd", "uic"}, *const names[] = {"contact with a person",
                                                                          "push of a person"};
    for (int m = 0; m < 2; ++m) {
        th_scene *scene = two_of(models[m], "", 0.395, 0.05);
        th_world *world = world_of(scene, 1, 1);
        const th_influence *push = named(names[m], ask(world, 1));
        assert_int_equal(push->other, 2);
        assert_true(push->vector.x < -0.01f); // the other stands in the east
        th_world_destroy(world);
        th_scene_destroy(scene);
    }
}

// In a crowd that presses against a wall with a door the pressure takes of the wish, and takes nothing of a lone
// agent's.
static void uic_tells_its_pressure(void **state) {
    (void)state;
    th_scene *scene = room_of("uic");
    th_world *world = world_of(scene, 1, 1);
    th_world_step(world, 80);
    const uint32_t *id = th_world_map(world, TH_FIELD_ID, TH_ACCESS_READ);
    int people = th_world_agent_count(world), pressed = 0;
    for (int i = 0; i < people; ++i) {
        int count = ask(world, id[i]);
        float pressure = named("pressure here", count)->size;
        th_vec2 before = named("before projection", count)->vector,
                after = named("after projection", count)->vector,
                taken = named("taken by pressure", count)->vector;
        assert_near(after.x - before.x, taken.x, 1e-5);
        assert_near(after.y - before.y, taken.y, 1e-5);
        assert_true(named("packing here, of what has room", count)->size < 2.0f);
        pressed += pressure > 0.0f && hypotf(after.x, after.y) < 0.9f * hypotf(before.x, before.y);
    }
    assert_true(pressed > 5);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// The velocity follows what is chosen and what the walls add; agents in the way are named.
static void people_tells_what_it_chooses(void **state) {
    (void)state;
    th_scene *scene = two_of("people", "", 3, 0.05);
    th_world *world = world_of(scene, 1, 3);
    th_world_step(world, 10);
    for (int k = 0; k < 20; ++k) {
        int count = ask(world, 1);
        th_vec2 chosen = named("direction chosen", count)->vector,
                off = named("off the walls", count)->vector;
        int rays = 0;
        for (int n = 0; n < count; ++n) {
            bool ray = strcmp(told[n].name, "speed allowed") == 0;
            float cross = told[n].vector.x * chosen.y - told[n].vector.y * chosen.x;
            rays += ray && fabsf(cross) < 1e-5f;
        }
        assert_true(rays >= 1); // it chose one of those it looked in
        double vx = (double)field_of(world, TH_FIELD_VELOCITY_X)[0],
               vy = (double)field_of(world, TH_FIELD_VELOCITY_Y)[0];
        double share = 1 - exp(-0.05 / 0.3); // relaxation_time
        th_world_step(world, 1);
        assert_near(field_of(world, TH_FIELD_VELOCITY_X)[0],
                    vx + share * ((double)(chosen.x + off.x) - vx), 0.01);
        assert_near(field_of(world, TH_FIELD_VELOCITY_Y)[0],
                    vy + share * ((double)(chosen.y + off.y) - vy), 0.01);
    }
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// Before a door nearly every agent is slowed by a named agent, and chooses no more than this one allows.
static void people_tells_the_slowing_agents(void **state) {
    (void)state;
    th_scene *scene = room_of("people");
    th_world *world = world_of(scene, 1, 1);
    th_world_step(world, 40);
    const uint32_t *id = th_world_map(world, TH_FIELD_ID, TH_ACCESS_READ);
    int people = th_world_agent_count(world), slowed = 0, within = 0;
    for (int i = 0; i < people; ++i) {
        int count = ask(world, id[i]);
        const th_influence *by = NULL;
        for (int k = 0; k < count; ++k)
            if (strcmp(told[k].name, "person who slows it") == 0) by = &told[k];
        if (!by) continue;
        th_vec2 chosen = named("direction chosen", count)->vector;
        float allowed = named("speed that this person allows", count)->size;
        assert_true(by->other != 0 && by->other != id[i]);
        ++slowed;
        within += hypotf(chosen.x, chosen.y) <= allowed + 1e-4f;
    }
    assert_true(slowed > people / 3);
    assert_true(within >=
                slowed - slowed / 10); // but for those that have waited too long, and press on
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// The density told ahead slows as the filter does: where it leaves less than the walking speed, people walk as told.
static void densesense_tells_its_arc(void **state) {
    (void)state;
    int model = th_model_find(TH_STAGE_FILTER, "densesense");
    th_scene *scene = room_with(th_models(NULL)[model]);
    th_world *world = world_of(scene, 1, 1);
    th_world_step(world, 60);
    const uint32_t *id = th_world_map(world, TH_FIELD_ID, TH_ACCESS_READ);
    const float *px = field_of(world, TH_FIELD_PREFERRED_X),
                *py = field_of(world, TH_FIELD_PREFERRED_Y);
    int people = th_world_agent_count(world), slowed = 0, as_told = 0;
    for (int i = 0; i < people; ++i) {
        float nearest = 0.0f, speed = hypotf(px[i], py[i]), allowed = 0.0f;
        int count = th_world_influences(world, (th_agent_id){id[i]}, model, told, MOST), rays = 0;
        for (int k = 0; k < count; ++k) {
            if (strcmp(told[k].name, "speed left by density") != 0) continue;
            float length = hypotf(told[k].vector.x, told[k].vector.y);
            float cosine = (told[k].vector.x * px[i] + told[k].vector.y * py[i]) / (length * speed);
            if (cosine > nearest) allowed = length;
            nearest = cosine > nearest ? cosine : nearest;
            ++rays;
        }
        if (count == 0) continue;
        assert_int_equal(rays, 13);
        assert_true(named("density ahead", count)->size >= 0.0f);
        slowed += allowed < 1.0f;
        as_told += allowed < 1.0f && fabsf(allowed - speed) < 0.25f * speed;
    }
    assert_true(slowed > 10);
    assert_true(as_told > slowed / 2); // it has moved since, and so have the others
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// An agent that lies on the ground is a rectangle, the way it lies.
static void hidac_tells_of_a_body_on_the_ground(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON(
        {"levels": [{"walkable": {"rect": [0, 0, 12, 8]}}],
          "exits": [{"id": "out", "line": [[12, 0], [12, 8]]}],
          "groups": [{"id": "p", "positions": [[5, 4]], "to": "out", "move": {"model": "hidac", "lies": 1}}]}));
    th_world *world = world_of(scene, 1, 1);
    th_world_step(world, 2);
    int count = ask(world, 1);
    const th_influence *body = named("body on the ground", count);
    assert_int_equal(count, 1);
    assert_true(body->kind == TH_INFLUENCE_RECTANGLE);
    assert_near(body->size, 0.5, 1e-6);
    assert_near(hypotf(body->vector.x, body->vector.y), 0.9, 1e-5);
    assert_near(body->at.x, field_of(world, TH_FIELD_POSITION_X)[0], 1e-6);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// The turn of the first of two agents face to face [-], to the right of its way.
static double turn_face_to_face(const char *panic) {
    char json[600];
    snprintf(
        json, sizeof json,
        TH_JSON(
        {"levels": [{"walkable": {"rect": [0, 0, 12, 8]}}],
          "exits": [{"id": "l", "line": [[0, 0], [0, 8]]}, {"id": "r", "line": [[12, 0], [12, 8]]}],
          "groups": [
            {"id": "a", "positions": [[5, 4]], "to": "r", "radius": 0.2, "plan": "straight", "move": {"model": "hidac", "panic": %s}},
            {"id": "b", "positions": [[7, 4]], "to": "l", "radius": 0.2, "plan": "straight", "move": "hidac"}]}),
                                               panic);
    th_scene *scene = scene_of(json);
    th_world *world = world_of(scene, 1, 1);
    th_world_step(world, 1); // preferred velocities are known from now on
    const float x[] = {5.0f, 5.45f}, y[] = {4.0f, 4.0f};
    for (int k = 0; k < 2; ++k) {
        set_field(world, TH_FIELD_POSITION_X, k, x[k]);
        set_field(world, TH_FIELD_POSITION_Y, k, y[k]);
        set_field(world, TH_FIELD_VELOCITY_X, k, 0.0f);
        set_field(world, TH_FIELD_VELOCITY_Y, k, 0.0f);
        set_field(world, th_world_field(world, "hidac.heading_y"), k, 0.0f);
        set_field(world, th_world_field(world, "hidac.heading_x"), k, k == 0 ? 1.0f : -1.0f);
    }
    double turn = 0;
    int count = ask(world, 1);
    for (int k = 0; k < count; ++k)
        if (strcmp(told[k].name, "avoidance of one person") == 0) turn -= (double)told[k].vector.y;
    th_world_destroy(world);
    th_scene_destroy(scene);
    return turn;
}

// Two that have stopped each other: to the calm one, which a timer frees, the other stands; one in panic would press
// for good and steps aside.
static void in_panic_those_held_up_face_to_face_step_aside(void **state) {
    (void)state;
    assert_near(turn_face_to_face("0"), 0, 1e-6);
    assert_true(turn_face_to_face("1") > 0.5);
}

// Own markers are nearer to the person than to any other agent, and their mean lies among them; the cell has room for
// standing.
static void colonization_tells_its_markers_and_cell(void **state) {
    (void)state;
    th_scene *scene = room_of("colonization");
    th_world *world = world_of(scene, 1, 1);
    th_world_step(world, 40);
    int people = th_world_agent_count(world), markers = 0, edges = 0;
    const float *x = field_of(world, TH_FIELD_POSITION_X),
                *y = field_of(world, TH_FIELD_POSITION_Y);
    const uint32_t *id = th_world_map(world, TH_FIELD_ID, TH_ACCESS_READ);
    for (int i = 0; i < people; ++i) {
        int count = ask(world, id[i]);
        for (int k = 0; k < count; ++k) {
            th_vec2 at = told[k].at;
            float own = hypotf(at.x - x[i], at.y - y[i]);
            if (told[k].kind == TH_INFLUENCE_HALF_PLANE) {
                float inside = (x[i] - at.x) * told[k].vector.x + (y[i] - at.y) * told[k].vector.y;
                assert_true(inside >= -1e-5f);
                ++edges;
            } else if (strcmp(told[k].name, "own marker") == 0) {
                for (int j = 0; j < people; ++j) {
                    bool hidden = at.x > 8.0f || x[i] > 8.0f || x[j] > 8.0f; // perhaps, by the wall
                    assert_true(hidden || hypotf(at.x - x[j], at.y - y[j]) >= own - 1e-5f);
                }
                ++markers;
            }
        }
        assert_true(hypotf(named("mean of the markers", count)->at.x - x[i],
                           named("mean of the markers", count)->at.y - y[i]) <= 1.3f);
    }
    assert_true(markers > 5 * people && edges > 0);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// Planners tell which way they lead: in a step every agent wants to go the way that is told for where it was before.
static void planners_tell_which_way_they_lead(void **state) {
    (void)state;
    static const char hall[] = TH_JSON(
        {"levels": [{"walkable": {"rect": [0, 0, 16, 8]}, "obstacles": [{"rect": [9, -1, 9.3, 2.4]}, {"rect": [9, 5.5, 9.3, 9]}]}],
          "guidance": [{"line": [[1, 6.5], [6, 7]], "strength": 0.9}],
          "exits": [{"id": "out", "line": [[16, 0], [16, 8]]}],
          "groups": [{"id": "p", "count": 40, "area": {"rect": [1, 0.5, 8, 7.5]}, "to": "out", "plan": "%s"}]});
    static const char *const plans[] = {"guided", "continuum", "field"};
    for (int k = 0; k < 3; ++k) {
        char json[1024];
        snprintf(json, sizeof json, hall, plans[k]);
        th_scene *scene = scene_of(json);
        th_world *world = world_of(scene, 1, 1), *alone = world_of(scene, 1, 1);
        th_vec2 at[40], led[40], outside = {-5.0f, 4.0f};
        assert_false(th_world_directions(world, 0, 0, &outside, 1, led)); // no agent walks yet
        th_world_step(world, 20);
        th_world_step(alone, 20);
        const float *x = field_of(world, TH_FIELD_POSITION_X),
                    *y = field_of(world, TH_FIELD_POSITION_Y);
        for (int i = 0; i < 40; ++i) at[i] = (th_vec2){x[i], y[i]};
        th_world_step(world, 1);
        th_world_step(alone, 1);
        bool told_ways = th_world_directions(world, 0, 0, at, 40, led);
        assert_int_equal(told_ways, k < 2);
        const float *px = field_of(world, TH_FIELD_PREFERRED_X),
                    *py = field_of(world, TH_FIELD_PREFERRED_Y);
        for (int i = 0; i < 40 && told_ways; ++i) {
            float wish = hypotf(px[i], py[i]), along = px[i] * led[i].x + py[i] * led[i].y;
            assert_near(hypotf(led[i].x, led[i].y), 1, 1e-4);
            assert_true(along > 0.9999f * wish);
        }
        th_world_step(world, 20);
        th_world_step(alone, 20);
        assert_true(th_world_hash(world) == th_world_hash(alone)); // asking changes nothing
        th_world_destroy(world);
        th_world_destroy(alone);
        th_scene_destroy(scene);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(asking_changes_nothing),
        cmocka_unit_test(every_model_tells),
        cmocka_unit_test(unit_mass_models_tell_their_accelerations),
        cmocka_unit_test(velocities_told_are_those_of_the_next_step),
        cmocka_unit_test(pairs_tell_the_pushing_agent),
        cmocka_unit_test(uic_tells_its_pressure),
        cmocka_unit_test(people_tells_what_it_chooses),
        cmocka_unit_test(people_tells_the_slowing_agents),
        cmocka_unit_test(densesense_tells_its_arc),
        cmocka_unit_test(views_stay_where_they_are),
        cmocka_unit_test(absent_agents_have_no_influences),
        cmocka_unit_test(colonization_tells_its_markers_and_cell),
        cmocka_unit_test(planners_tell_which_way_they_lead),
        cmocka_unit_test(hidac_tells_its_next_direction),
        cmocka_unit_test(hidac_tells_whom_it_counts),
        cmocka_unit_test(in_panic_those_held_up_face_to_face_step_aside),
        cmocka_unit_test(hidac_tells_of_a_body_on_the_ground),
        cmocka_unit_test(orca_tells_its_half_planes),
        cmocka_unit_test(social_force_tells_its_forces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
