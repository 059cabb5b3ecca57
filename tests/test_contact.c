// The contact stage by itself: agents get a place and the place that the model wants, and the stage moves them.
// SPDX-License-Identifier: Apache-2.0
#include "contact/contact.h"
#include "support.h"
#include <stdlib.h>
#include <string.h>

enum { MOST = 8 };
typedef struct stage {
    th_scene *scene;
    th_world *world;
} stage;

typedef struct person {
    float x, y;   // where they stand
    float nx, ny; // where the model wants them
    float radius; // 0: 0.2 m
    int level;
    int group;
    bool stands;
} person;

static const char ROOM[] =
    TH_JSON({"levels":[{"id":"room", "walkable":{"rect":[0,0,10,10]}}],
    "groups":[{"id":"all", "count":0, "own_goal":"opposite", "plan":"straight", "speed":1.3,
    "move":{"model":"orca", "separation_passes":%d}}], "run":{"duration":20}});

static uint32_t index_of(const th_world *world, uint32_t id) {
    for (uint32_t i = 0; i < (uint32_t)world->agents.count; ++i)
        if (world->agents.id[i] == id) return i;
    fail_msg("no agent has id %u", id);
    return 0;
}

// People number 1, 2, ... stand where they are told, and the stage moves them from there.
static stage run_stage(const char *scene, const person *people, int count) {
    stage s = {.scene = scene_of(scene)};
    s.world = world_of(s.scene, 1, 1);
    th_agent_def defs[MOST];
    for (int k = 0; k < count; ++k) {
        defs[k] = th_agent_def_default();
        defs[k].position = defs[k].goal = th_v(people[k].x, people[k].y);
        defs[k].radius = people[k].radius > 0.0f ? people[k].radius : 0.2f;
        defs[k].level = defs[k].goal_level = people[k].level;
        defs[k].group = people[k].group;
    }
    assert_int_equal(th_world_spawn(s.world, defs, count, NULL, NULL), TH_OK);
    th_world_step(s.world, 1); // the index; where people stand is put right below
    th_agents *a = &s.world->agents;
    for (int k = 0; k < count; ++k) {
        uint32_t i = index_of(s.world, (uint32_t)k + 1);
        a->position_x[i] = people[k].x;
        a->position_y[i] = people[k].y;
        a->level[i] = (uint32_t)people[k].level;
        a->phase[i] = people[k].stands ? TH_PHASE_STANDING : TH_PHASE_WALKING;
        a->next_position_x[i] = people[k].nx;
        a->next_position_y[i] = people[k].ny;
        a->next_velocity_x[i] = (people[k].nx - people[k].x) / s.world->dt;
        a->next_velocity_y[i] = (people[k].ny - people[k].y) / s.world->dt;
    }
    memset(&s.world->counters, 0, sizeof s.world->counters);
    th_stage_contact(s.world);
    return s;
}

static stage in_room(int passes, const person *people, int count) {
    char text[1024];
    snprintf(text, sizeof text, ROOM, passes);
    return run_stage(text, people, count);
}

static th_vec2 place_of(const stage *s, uint32_t id) {
    return th_position(&s->world->agents, index_of(s->world, id));
}
static th_vec2 velocity_of(const stage *s, uint32_t id) {
    return th_velocity(&s->world->agents, index_of(s->world, id));
}

static void end(stage *s) {
    th_world_destroy(s->world);
    th_scene_destroy(s->scene);
}

#define assert_at(found, wanted_x, wanted_y, tolerance) \
    do {                                                \
        th_vec2 at_ = (found);                          \
        assert_near(at_.x, (wanted_x), (tolerance));    \
        assert_near(at_.y, (wanted_y), (tolerance));    \
    } while (0)

// ---- states that no person can be in

static void what_is_no_number_is_repaired(void **state) {
    (void)state;
    stage s = in_room(4, &(person){5, 5, NAN, 5, 0, 0, 0, false}, 1);
    assert_at(place_of(&s, 1), 5, 5, 0);
    assert_at(velocity_of(&s, 1), 0, 0, 0);
    assert_int_equal(s.world->counters.repairs, 1);
    end(&s);
}

static void no_agent_goes_faster_than_10_m_per_s(void **state) {
    (void)state;
    stage s = in_room(4, &(person){5, 5, 8, 5, 0, 0, 0, false}, 1); // 30 m/s
    assert_at(place_of(&s, 1), 6, 5, 1e-4);
    assert_int_equal(s.world->counters.repairs, 1);
    end(&s);
}

// Scenes may use speeds of 10 m/s, and twice that in a zone.
static void fast_agents_are_possible(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON(
        {"levels": [{"walkable": {"rect": [0, 0, 400, 6]}}], "exits": [{"id": "e", "line": [[400, 0], [400, 6]]}],
         "zones": [{"area": {"rect": [100, 0, 400, 6]}, "speed": 2}],
         "groups": [{"count": 4, "area": {"rect": [0, 0, 20, 6]}, "speed": 10, "move": {"model": "orca", "max_speed": 5}}]}));
    th_world *world = world_of(scene, 1, 0);
    run_to_end(world, 60.0);
    assert_int_equal(th_world_statistics(world).left, 4);
    assert_int_equal(th_world_statistics(world).repairs, 0);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// ---- pairs

static void pairs_part_half_and_half(void **state) {
    (void)state;
    stage s =
        in_room(1, (person[]){{5, 5, 5, 5, 0, 0, 0, false}, {5.3f, 5, 5.3f, 5, 0, 0, 0, false}}, 2);
    assert_at(place_of(&s, 1), 4.95, 5, 1e-4);
    assert_at(place_of(&s, 2), 5.35, 5, 1e-4);
    end(&s);
}

// Two on one place part, though no push is longer than half a radius.
static void coincident_pair(void **state) {
    (void)state;
    stage s = in_room(1, (person[]){{5, 5, 5, 5, 0, 0, 0, false}, {5, 5, 5, 5, 0, 0, 0, false}}, 2);
    th_vec2 a = place_of(&s, 1), b = place_of(&s, 2);
    assert_near(hypotf(a.x - 5, a.y - 5), 0.1, 1e-4);
    assert_near(hypotf(a.x - b.x, a.y - b.y), 0.2, 1e-4);
    end(&s);
}

// Three on one side of an agent: pushes are averaged, so that no agent is thrown.
static void many_contacts_share_their_weight(void **state) {
    (void)state;
    person people[] = {{5, 5, 5, 5, 0, 0, 0, false},
                       {5.35f, 5, 5.35f, 5, 0, 0, 0, false},
                       {5.28f, 5.21f, 5.28f, 5.21f, 0, 0, 0, false},
                       {5.28f, 4.79f, 5.28f, 4.79f, 0, 0, 0, false}};
    stage s = in_room(1, people, 4);
    // 0.025 from each, two of them at 37 degrees: 0.065 in all, of which two thirds count.
    assert_near(place_of(&s, 1).x, 5 - 2.0 / 3 * 0.065, 2e-3);
    end(&s);
}

// An agent that was pushed has the velocity it really moved with, not faster than it walks.
static void velocity_is_the_real_one(void **state) {
    (void)state;
    stage s =
        in_room(4, (person[]){{5, 5, 5, 5, 0, 0, 0, false}, {5.3f, 5, 5.1f, 5, 0, 0, 0, false}}, 2);
    th_vec2 v = velocity_of(&s, 1), p = place_of(&s, 1);
    assert_true(v.x < -0.5f);
    assert_near(v.x, fmaxf(10 * (p.x - 5), -1.3f), 1e-3);
    end(&s);
}

// Agents are not pushed across a thin wall, nor along it.
static void thin_walls_part_pairs(void **state) {
    (void)state;
    static const char thin[] = TH_JSON(
        {"levels":[{"id":"room", "walkable":{"rect":[0,0,10,10]}, "walls":[[[5,1],[5,9]]]}],
        "groups":[{"id":"all", "count":0, "own_goal":"opposite", "plan":"straight",
            "move":{"model":"orca", "separation_passes":4}}], "run":{"duration":20}});
    stage s = run_stage(
        thin,
        (person[]){{4.9f, 5, 4.9f, 5, 0, 0, 0, false}, {5.1f, 5.2f, 5.1f, 5.2f, 0, 0, 0, false}},
        2);
    assert_at(place_of(&s, 1), 4.8, 5, 1e-3); // off the wall, straight
    assert_at(place_of(&s, 2), 5.2, 5.2, 1e-3);
    end(&s);
}

// ---- walls

static void bodies_stay_off_walls(void **state) {
    (void)state;
    stage s = in_room(4, &(person){0.3f, 5, 0.15f, 5, 0, 0, 0, false}, 1); // the centre stays clear
    assert_at(place_of(&s, 1), 0.2, 5, 1e-3);
    end(&s);
    s = in_room(4, &(person){0.4f, 0.4f, 0.05f, 0.06f, 0, 0, 0, false},
                1); // off one wall is into the next
    assert_at(place_of(&s, 1), 0.2, 0.2, 1e-3);
    end(&s);
    s = in_room(4, &(person){0.3f, 5, 0, 5, 0, 0, 0, false}, 1); // onto the very line
    assert_at(place_of(&s, 1), 0.2, 5, 1e-3);
    end(&s);
}

// Without passes the model itself keeps bodies off; centres stop 1 mm before the wall and slide along it.
static void paths_end_at_walls_and_slide(void **state) {
    (void)state;
    stage s = in_room(0, &(person){0.1f, 5, -0.1f, 5.2f, 0, 0, 0, false}, 1);
    assert_at(place_of(&s, 1), 0.001, 5.2, 2e-3);
    assert_int_equal(s.world->counters.wall_stops, 1);
    end(&s);
    s = in_room(0, &(person){0.1f, 0.1f, -0.1f, -0.3f, 0, 0, 0, false},
                1); // the slide is not through another wall
    th_vec2 p = place_of(&s, 1);
    assert_true(p.x > 0 && p.y > 0);
    end(&s);
}

// ---- what a move model asks of contacts

static const char FIRM[] = TH_JSON({"levels":[{"id":"room", "walkable":{"rect":[0,0,10,10]}}],
    "groups":[{"id":"all", "count":0, "own_goal":"opposite", "plan":"straight", "speed":1.3,
    "move":{"model":"people", "separation_passes":1, "body_depth":0.6, "standing_yield":0.1,
        "stiffness":0, "stiffening":0}}], "run":{"duration":20}});

// An agent that turns its shoulders comes nearer to a wall than a radius; one that stands on purpose gives way little.
static void shoulders_and_firm_stand(void **state) {
    (void)state;
    stage s = run_stage(FIRM, &(person){.x = 0.3f, .y = 5, .nx = 0.05f, .ny = 5}, 1);
    assert_at(place_of(&s, 1), 0.6 * 0.2, 5, 1e-3);
    end(&s);
    person pair[] = {{.x = 5, .y = 5, .nx = 5, .ny = 5, .stands = true},
                     {.x = 5.34f, .y = 5, .nx = 5.34f, .ny = 5}};
    s = run_stage(FIRM, pair, 2);
    assert_near(place_of(&s, 1).x, 5 - 0.06 * 0.1 / 0.6, 1e-4);
    assert_near(place_of(&s, 2).x, 5.34 + 0.06 * 0.5 / 0.6, 1e-4);
    end(&s);
}

static const char SOFT[] = TH_JSON({"levels":[{"id":"room", "walkable":{"rect":[0,0,10,10]}}],
    "groups":[{"id":"all", "count":0, "own_goal":"opposite", "plan":"straight", "speed":1.3,
    "move":{"model":"people", "separation_passes":16, "stiffness":%g, "stiffening":%g}}],
    "run":{"step":%g, "duration":20}});

// Two who walk into each other stop where what drives them, m v / tau, is the force of their bodies.
static void soft_bodies_balance_what_drives_them(void **state) {
    (void)state;
    static const double laws[][2] = {{2745, 27000}, {2745, 0}, {0, 27000}, {1e5, 0}};
    for (int k = 0; k < 12; ++k) {
        const double *law = laws[k % 4], steps[] = {0.05, 0.0625, 0.1}, step = steps[k / 4];
        char text[1024];
        snprintf(text, sizeof text, SOFT, law[0], law[1], step);
        float way = 0.5f * (float)step;
        person pair[] = {{.x = 5, .y = 5, .nx = 5 + way, .ny = 5},
                         {.x = 5.39f, .y = 5, .nx = 5.39f - way, .ny = 5}};
        stage s = run_stage(text, pair, 2);
        const th_agents *a = &s.world->agents;
        uint32_t i = index_of(s.world, 1);
        double overlap = 0.4 - (double)(place_of(&s, 2).x - place_of(&s, 1).x);
        double lacks = (double)(5 + way - place_of(&s, 1).x) / step;
        assert_near(place_of(&s, 1).x + place_of(&s, 2).x, 10.39, 1e-4);
        assert_true(overlap > 0);
        double force = (law[0] + law[1] * overlap) * overlap;
        assert_near(force, (double)a->mass[i] * lacks / 0.5, 0.03 * force + 1);
        end(&s);
    }
}

static const char GAP[] = TH_JSON({"levels":[{"id":"room", "walkable":{"rect":[0,0,10,10]},
    "obstacles":[{"rect":[5,1,8,4.75]}, {"rect":[5,5.25,8,9]}]}],
    "groups":[{"id":"all", "count":0, "own_goal":"opposite", "plan":"straight", "speed":1.3, "rigid":%s,
    "move":"orca"}], "run":{"duration":20}});

static float shoved_in(const char *rigid) {
    char text[1024];
    snprintf(text, sizeof text, GAP, rigid);
    stage s = run_stage(text, &(person){.x = 4.6f, .y = 5, .nx = 5.4f, .ny = 5, .radius = 0.4f}, 1);
    float x = place_of(&s, 1).x;
    end(&s);
    return x;
}

// A push ends between the walls of a gap of 0.5 m. A rigid body of 0.4 m stays where it is.
static void rigid_bodies_are_not_pushed_into_gaps(void **state) {
    (void)state;
    assert_true(shoved_in("false") > 5.2f);
    assert_near(shoved_in("true"), 4.6, 1e-4);
}

// ---- stairs

static const char STAIRS[] = TH_JSON(
    {"levels":[{"id":"low", "walkable":{"rect":[0,0,10,10]}},
               {"id":"high", "walkable":{"rect":[0,0,10,10]}, "walls":[[[5.1,4],[5.1,4.5]],
                [[4.9,4],[4.9,4.5]]]}],
    "stairs":[{"level":"low", "to":"high", "top":[[5,4],[5,6]]}],
    "groups":[{"id":"all", "level":"low", "count":0, "own_goal":"opposite", "plan":"straight",
        "move":{"model":"orca", "separation_passes":4}}], "run":{"duration":20}});

static uint32_t level_after(float x, float y, float nx, int level, th_vec2 *place) {
    stage s = run_stage(STAIRS, &(person){x, y, nx, y, 0.04f, level, 0, false}, 1);
    uint32_t reached = s.world->agents.level[index_of(s.world, 1)];
    if (place) *place = place_of(&s, 1);
    end(&s);
    return reached;
}

// -1 or 1: to which side of the line it goes up.
static float upward(void) { return level_after(4.95f, 5.5f, 5.05f, 0, NULL) == 1 ? 1.0f : -1.0f; }

static void stairs_are_entered_over_their_line(void **state) {
    (void)state;
    float from = 5 - 0.05f * upward(), to = 5 + 0.05f * upward();
    assert_int_equal(level_after(from, 5.5f, to, 0, NULL), 1);
    assert_int_equal(level_after(to, 5.5f, from, 1, NULL), 0);
    assert_int_equal(level_after(to, 5.5f, from, 0, NULL), 0); // the wrong way
    assert_int_equal(level_after(from, 7.5f, to, 0, NULL), 0); // beside the line
    assert_int_equal(level_after(to, 7.5f, from, 1, NULL), 1);
}

// A wall of the upper level behind the line: an agent that cannot get past it stays below, before the line.
static void walls_beyond_stairs_count(void **state) {
    (void)state;
    th_vec2 place;
    float side = upward(), from = 5 - 0.05f * side;
    assert_int_equal(level_after(from, 4.25f, 5 + 0.15f * side, 0, &place), 0);
    assert_true(side * (place.x - 5.0f) < 0.0f);
    assert_int_equal(level_after(from, 4.25f, 5 + 0.05f * side, 0, NULL), 1);
}

// ---- exits of others

static const char EXITS[] = TH_JSON(
    {"levels":[{"id":"room", "walkable":{"rect":[0,0,10,10]}}],
    "exits":[{"id":"west", "line":[[0,0],[0,4]]}, {"id":"south", "line":[[0,0],[4,0]]},
             {"id":"inner", "line":[[6,2],[6,8]]}, {"id":"north", "line":[[4,10],[6,10]]}],
    "groups":[{"id":"all", "count":0, "area":{"rect":[1,1,3,3]}, "to":"north",
        "move":{"model":"orca", "separation_passes":0}},
        {"id":"westward", "count":0, "area":{"rect":[1,1,3,3]}, "to":"west",
        "move":{"model":"orca", "separation_passes":0}}], "run":{"duration":20}});

static th_vec2 after_exits(person one) {
    stage s = run_stage(EXITS, &one, 1);
    th_vec2 place = place_of(&s, 1);
    end(&s);
    return place;
}

static void only_the_own_exit_is_left_by(void **state) {
    (void)state;
    th_vec2 kept = after_exits((person){0.05f, 2, -0.1f, 2.1f, 0, 0, 0, false});
    assert_true(kept.x > 0.0f);
    assert_near(kept.y, 2.1, 1e-3); // it slides along
    assert_true(after_exits((person){0.05f, 2, -0.1f, 2.1f, 0, 0, 1, false}).x < 0.0f);
    // In the corner where two exits meet, the way off one leads over the other.
    th_vec2 corner = after_exits((person){0.05f, 0.05f, -0.1f, -0.1f, 0, 0, 0, false});
    assert_at(corner, 0.05, 0.05, 1e-4);
    // A line within the room stops no agent.
    assert_at(after_exits((person){5.95f, 5, 6.05f, 5, 0, 0, 0, false}), 6.05, 5, 1e-4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_no_number_is_repaired),
        cmocka_unit_test(no_agent_goes_faster_than_10_m_per_s),
        cmocka_unit_test(fast_agents_are_possible),
        cmocka_unit_test(pairs_part_half_and_half),
        cmocka_unit_test(coincident_pair),
        cmocka_unit_test(many_contacts_share_their_weight),
        cmocka_unit_test(velocity_is_the_real_one),
        cmocka_unit_test(thin_walls_part_pairs),
        cmocka_unit_test(bodies_stay_off_walls),
        cmocka_unit_test(paths_end_at_walls_and_slide),
        cmocka_unit_test(shoulders_and_firm_stand),
        cmocka_unit_test(soft_bodies_balance_what_drives_them),
        cmocka_unit_test(rigid_bodies_are_not_pushed_into_gaps),
        cmocka_unit_test(stairs_are_entered_over_their_line),
        cmocka_unit_test(walls_beyond_stairs_count),
        cmocka_unit_test(only_the_own_exit_is_left_by),
    };
    return cmocka_run_group_tests_name("contact", tests, NULL, NULL);
}
