// Companies, leaders and followers among HiDAC's minds.
// SPDX-License-Identifier: Apache-2.0
#include "behave/hidac/hidac.h"
#include "hidac_mind.h"
#include "support.h"
#include <stdlib.h>
#include <string.h>

static double gap_between(const char *json, uint64_t seed) {
    run r = begin(json, seed, 1);
    double first = 0;
    while (!th_world_done(r.world) && th_world_time(r.world) < 200) {
        th_world_step(r.world, 1);
        if (first == 0 && th_world_statistics(r.world).left > 0) first = th_world_time(r.world);
    }
    double gap = th_world_time(r.world) - first;
    assert_int_equal(th_world_statistics(r.world).left, 3);
    finish(&r);
    return gap;
}

// Three that came together, slow and quick: the others wait for the slowest.
static void companions_keep_together(void **state) {
    (void)state;
    double gap[2] = {0, 0};
    for (int together = 0; together < 2; ++together) {
        char json[1500];
        snprintf(
            json, sizeof json,
            TH_JSON({"levels":[{"walkable":{"rect":[0,0,40,4]}}],
                 "exits":[{"id":"a","line":[[40,1],[40,3]]}],
                 "groups":[{"id":"g","positions":[[1,1],[1,2],[1,3]],"to":"a","speed":{"uniform":[0.4,2]},
                 "behave":{"model":"hidac","companions":%d,"wait_distance":2}}]}),
                                                    together ? 3 : 1);
        for (uint64_t seed = 1; seed <= 5; ++seed) gap[together] += gap_between(json, seed);
    }
    if (!(gap[0] > 50 && gap[1] < 0.4 * gap[0]))
        fail_msg("alone %g s, together %g s", gap[0], gap[1]);
}

// A guide whose people would leave by the east on their own; it goes through the hall to the west. Returns how many
// took the west, and how far apart they ever were while the guide was inside.
static int led_west(const char *leader, double guide_speed, double speed, uint64_t seed,
                    double *farthest) {
    char json[1500];
    snprintf(json, sizeof json,
             "{" HALL ",\"groups\":["
             "{\"id\":\"guide\",\"positions\":[[25,7]],\"to\":\"west\",\"speed\":%g,"
             "\"behave\":\"hidac\"},"
             "{\"id\":\"g\",\"count\":6,\"area\":{\"rect\":[22.5,9,27.5,11.5]},"
             "\"to\":[\"west\",\"east\"],\"speed\":%g,%s\"behave\":\"hidac\"}]}",
             guide_speed, speed, leader);
    run r = begin(json, seed, 1);
    *farthest = 0;
    while (!th_world_done(r.world) && th_world_time(r.world) < 200) {
        th_world_step(r.world, 1);
        int count = th_world_agent_count(r.world);
        if (word_of(&r, "id", 0) != 1) break;
        const float *x = th_world_map(r.world, TH_FIELD_POSITION_X, TH_ACCESS_READ);
        for (int k = 1; k < count && count == 7; ++k)
            *farthest = fmax(*farthest, (double)fabsf(x[k] - x[0]));
        th_world_unmap(r.world, TH_FIELD_POSITION_X);
    }
    assert_true(run_to_end(r.world, 200) < 200);
    int west = (int)th_world_exit(r.world, 0).left;
    finish(&r);
    return west;
}

static void followers_go_where_the_leader_goes(void **state) {
    (void)state;
    const char *led = "\"leader\":\"guide\",";
    double apart;
    assert_int_equal(led_west("", 1.3, 1.3, 1, &apart), 1);
    for (uint64_t seed = 1; seed <= CROWDS(5); ++seed) {
        assert_int_equal(led_west(led, 1.3, 1.3, seed, &apart), 7);
        // A leader that is much quicker waits, and quicker followers do not run away.
        assert_int_equal(led_west(led, 2.0, 0.7, seed, &apart), 7);
        if (apart > 8.0) fail_msg("the leader was %g m ahead", apart);
        assert_int_equal(led_west(led, 0.7, 2.0, seed, &apart), 7);
        if (apart > 5.0) fail_msg("followers were %g m away", apart);
    }
}

// A follower ahead of its leader stands; were the leader called by it, both would wait for each other.
static void agents_ahead_are_not_waited_for(void **state) {
    (void)state;
    run r = begin("{\"levels\":[{\"walkable\":{\"rect\":[0,0,15,8]}}],"
                  "\"exits\":[{\"id\":\"out\",\"line\":[[15,3.5],[15,4.5]]}],\"groups\":["
                  "{\"id\":\"guide\",\"positions\":[[13.8,1.1]],\"to\":\"out\",\"behave\":"
                  "\"hidac\"},{\"id\":\"g\",\"positions\":[[13.5,5.3]],\"to\":\"out\","
                  "\"leader\":\"guide\",\"behave\":\"hidac\"}]}",
                  1, 1);
    assert_true(run_to_end(r.world, 60) < 15);
    finish(&r);
}

// Leaders that visit a place first: their people come along.
static void followers_come_along_a_route(void **state) {
    (void)state;
    run r = begin("{" HALL ",\"waypoints\":[{\"id\":\"tour\",\"area\":{\"rect\":[4,8,6,10]}}],"
                  "\"groups\":[{\"id\":\"guide\",\"positions\":[[25,7]],\"route\":[\"tour\","
                  "\"east\"],\"behave\":\"hidac\"},"
                  "{\"id\":\"g\",\"positions\":[[25,9],[26,9]],\"to\":[\"west\",\"east\"],"
                  "\"leader\":\"guide\",\"behave\":\"hidac\"}]}",
                  1, 1);
    float least = 30;
    while (!th_world_done(r.world) && th_world_time(r.world) < 200) {
        th_world_step(r.world, 1);
        const float *x = th_world_map(r.world, TH_FIELD_POSITION_X, TH_ACCESS_READ);
        if (th_world_agent_count(r.world) == 3) least = fminf(least, fmaxf(x[1], x[2]));
        th_world_unmap(r.world, TH_FIELD_POSITION_X);
    }
    assert_true(th_world_done(r.world));
    assert_true(least < 9.0f); // both were over there
    assert_int_equal(th_world_exit(r.world, 1).left, 3);
    finish(&r);
}

static void refuse_leader(const char *behave, const char *leader, const char *wanted) {
    char json[1500];
    snprintf(json, sizeof json,
             "{" HALL ",\"groups\":[{\"id\":\"guide\",\"count\":1,\"to\":\"west\",%s},"
             "{\"id\":\"g\",\"count\":2,\"to\":\"west\",\"behave\":\"hidac\",\"leader\":\"%s\"}]}",
             behave, leader);
    th_scene *scene;
    th_error error;
    assert_int_equal(th_scene_load_json(json, strlen(json), "test", NULL, NULL, &scene, &error),
                     TH_BAD_SCENE);
    if (!strstr(error.message, wanted)) fail_msg("%s", error.message);
    assert_non_null(strstr(error.path, ".leader"));
}

static void bad_leaders(void **state) {
    (void)state;
    refuse_leader("\"behave\":\"hidac\"", "guid", "did you mean \"guide\"?");
    refuse_leader("\"behave\":\"hidac\"", "nobody at all", "no group has the id");
    refuse_leader("\"behave\":\"route\"", "guide", "set its \"behave\" to \"hidac\"");
    refuse_leader("\"behave\":\"hidac\"", "g", "follows itself");
    refuse_leader("\"behave\":\"hidac\",\"leader\":\"g\"", "guide", "follows itself");
}

// An agent without knowledge walks after one with it; others explore.
static void followers_without_a_leader(void **state) {
    (void)state;
    double end[2] = {0, 0};
    for (int follow = 0; follow < 2; ++follow)
        for (uint64_t seed = 1; seed <= CROWDS(5); ++seed) {
            char json[2000];
            snprintf(
                json, sizeof json,
                "{" SIX_ROOMS ",\"exits\":[{\"id\":\"out\",\"line\":[[58,5],[58,7]]}],\"groups\":["
                "{\"id\":\"knows\",\"positions\":[[5,4.5]],\"to\":\"out\",\"speed\":1.4,\"behave\":"
                "{"
                "\"model\":\"hidac\",\"talks\":0}},{\"id\":\"g\",\"count\":5,\"area\":{\"rect\":[3."
                "5,5,"
                "6.5,7]},\"to\":\"out\",\"speed\":1.3,\"behave\":{\"model\":\"hidac\",\"knows_"
                "all\":0,"
                "\"talks\":0,\"followers\":%d,\"sight\":20}}],\"run\":{\"step\":0.1}}",
                follow);
            run r = begin(json, seed, 1);
            end[follow] += run_to_end(r.world, 900);
            finish(&r);
        }
    double walk = CROWDS(5) * 57 / 1.4; // no agent is quicker
    if (!(end[1] - walk < 0.6 * (end[0] - walk)))
        fail_msg("exploring %g s, following %g s", end[0], end[1]);
}

// ---- companies

// Some members know the way and some do not, without talk: one that knows it leads, and none waits in vain.
static void companies_of_mixed_knowledge(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 5; ++seed) {
        run r = begin(TH_JSON({"levels":[{"walkable":{"rect":[0,0,40,4]}}],"exits":[{"id":"a","line":[[40,1],[40,3]]}],
            "groups":[{"id":"g","count":12,"area":{"rect":[0.5,0.5,4,3.5]},"to":"a","behave":{"model":"hidac","knows_all":0.5,
            "companions":4,"talks":0}}]}),
                                           seed, 1);
        double end = run_to_end(r.world, 200);
        if (end > 55) fail_msg("seed %d: %g s", (int)seed, end);
        finish(&r);
    }
}

// An agent that came with others of another group does not wait for them, though their numbers follow each other.
static void companies_are_of_one_group(void **state) {
    (void)state;
    run r =
        begin(TH_JSON({"levels":[{"walkable":{"rect":[0,0,40,6]}}],
        "exits":[{"id":"east","line":[[40,1],[40,5]]},{"id":"west","line":[[0,1],[0,5]]}],
        "groups":[{"id":"g0","positions":[[34,1],[34,3]],"to":"east","behave":{"model":"hidac","companions":4}},
            {"id":"g1","positions":[[1,1]],"to":"west"},
            {"id":"g2","positions":[[20,2],[20,4]],"to":"west","behave":{"model":"hidac","companions":4}}]}),
                                                        1, 1);
    steps_to(&r, 12);
    assert_int_equal(th_world_exit(r.world, 0).left, 2);
    assert_true(run_to_end(r.world, 120) < 40);
    finish(&r);
}

// Where an agent knows the way, the others need not search.
static void the_one_that_knows_leads_the_company(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= CROWDS(8); ++seed) {
        run r = begin(
            "{" SIX_ROOMS
            ",\"exits\":[{\"id\":\"out\",\"line\":[[58,5],[58,7]]}],\"groups\":[{\"id\":\"g\","
            "\"positions\":[[5,5],[5.5,5],[6,5],[6.5,5]],\"speed\":1.34,\"to\":\"out\","
            "\"behave\":{\"model\":\"hidac\",\"knows_all\":0.5,\"talks\":0,\"companions\":4}}],"
            "\"run\":{\"step\":0.1}}",
            seed, 1);
        steps_to(&r, 0.3);
        bool one_agent_knows = count_nature(&r, TH_MIND_KNOWS_ALL) > 0;
        double end = run_to_end(r.world, 400);
        if (one_agent_knows && end > 62) fail_msg("seed %d: %g s", (int)seed, end);
        finish(&r);
    }
}

// Explorers that came together take one way.
static void companies_explore_together(void **state) {
    (void)state;
    int apart = 0;
    for (uint64_t seed = 1; seed <= 5; ++seed) {
        run r = begin(TH_JSON({"levels":[{"walkable":[{"rect":[0,0,10,6]},{"rect":[-8,0,-0.2,6]},{"rect":[-0.2,2.5,0,3.5]},
            {"rect":[10.2,0,18,6]},{"rect":[10,2.5,10.2,3.5]}]}],"exits":[{"id":"a","line":[[-8,1],[-8,2]]}],
            "groups":[{"id":"g","positions":[[5,1],[5,2],[5,3],[5,4]],"to":"a","behave":{"model":"hidac","knows_all":0,
            "talks":0,"companions":4}}]}),
                            seed, 1);
        steps_to(&r, 2.5);
        for (int k = 1; k < 4; ++k)
            apart += word_of(&r, "hidac.aim", k) != word_of(&r, "hidac.aim", 0);
        assert_true(run_to_end(r.world, 200) < 200);
        finish(&r);
    }
    assert_int_equal(apart, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(companions_keep_together),
        cmocka_unit_test(followers_go_where_the_leader_goes),
        cmocka_unit_test(agents_ahead_are_not_waited_for),
        cmocka_unit_test(followers_come_along_a_route),
        cmocka_unit_test(bad_leaders),
        cmocka_unit_test(followers_without_a_leader),
        cmocka_unit_test(companies_of_mixed_knowledge),
        cmocka_unit_test(companies_are_of_one_group),
        cmocka_unit_test(the_one_that_knows_leads_the_company),
        cmocka_unit_test(companies_explore_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
