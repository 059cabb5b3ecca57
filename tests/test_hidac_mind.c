// The behaviour hidac, rule by rule: knowledge, shut doors, talk, impatience, panic, companions.
// SPDX-License-Identifier: Apache-2.0
#include "behave/hidac/hidac.h"
#include "support.h"
#include <stdlib.h>
#include <string.h>

typedef struct run {
    th_scene *scene;
    th_world *world;
} run;

static run begin(const char *json, uint64_t seed, int threads) {
    run r = {.scene = scene_of(json)};
    r.world = world_of(r.scene, threads, seed);
    return r;
}
static void finish(run *r) {
    th_world_destroy(r->world);
    th_scene_destroy(r->scene);
}
static void steps_to(run *r, double time) {
    while (th_world_time(r->world) < time - 1e-6) th_world_step(r->world, 1);
}
static uint32_t word_of(run *r, const char *name, int k) {
    int field = th_world_field(r->world, name);
    assert_true(field >= 0);
    const uint32_t *view = th_world_map(r->world, field, TH_ACCESS_READ);
    uint32_t value = view[k];
    th_world_unmap(r->world, field);
    return value;
}
static float place_of(run *r, int k) {
    const float *x = th_world_map(r->world, TH_FIELD_POSITION_X, TH_ACCESS_READ);
    float place = x[k];
    th_world_unmap(r->world, TH_FIELD_POSITION_X);
    return place;
}
static int count_nature(run *r, uint32_t bit) {
    int field = th_world_field(r->world, "hidac.nature"), count = 0;
    const uint32_t *view = th_world_map(r->world, field, TH_ACCESS_READ);
    for (int k = 0; k < th_world_agent_count(r->world); ++k) count += (view[k] & bit) != 0;
    th_world_unmap(r->world, field);
    return count;
}

// Two rooms on either side of a hall with exits at both of its ends.
#define HALL                                                                                       \
    "\"levels\":[{\"walkable\":[{\"rect\":[0,0,30,6]},{\"rect\":[2,6.2,8,12]},"                    \
    "{\"rect\":[4.5,6,5.5,6.2]},{\"rect\":[22,6.2,28,12]},{\"rect\":[24.5,6,25.5,6.2]}]}],"        \
    "\"exits\":[{\"id\":\"west\",\"line\":[[0,2],[0,4]]},{\"id\":\"east\",\"line\":[[30,2],[30,4]" \
    "]}]"

// People know all: the nearer exit. Their way in: the first exit, however far.
static void test_knowledge_decides_the_exit(void **state) {
    (void)state;
    for (int way_in = 0; way_in < 2; ++way_in) {
        char json[1500];
        snprintf(
            json, sizeof json,
            "{" HALL
            ",\"groups\":[{\"id\":\"g\",\"positions\":[[25,9],[26,9]],\"to\":[\"west\",\"east\"],"
            "\"behave\":{\"model\":\"hidac\",\"knows_all\":%d,\"knows_way_in\":%d}}]}",
            1 - way_in, way_in);
        run r = begin(json, 1, 1);
        assert_true(run_to_end(r.world, 120) < 100);
        assert_int_equal(th_world_exit(r.world, 0).left, way_in ? 2 : 0);
        assert_int_equal(th_world_exit(r.world, 1).left, way_in ? 0 : 2);
        finish(&r);
    }
}

// Who knows nothing finds out, also from far inside and at every seed.
static void test_explorers_get_out(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 5; ++seed) {
        run r =
            begin("{" HALL
                  ",\"groups\":[{\"id\":\"g\",\"count\":12,\"area\":{\"rect\":[22.5,7,27.5,11.5]},"
                  "\"to\":[\"west\",\"east\"],\"behave\":{\"model\":\"hidac\",\"knows_all\":0}}]}",
                  seed, 1);
        assert_true(run_to_end(r.world, 200) < 150);
        assert_int_equal(th_world_statistics(r.world).left, 12);
        finish(&r);
    }
}

// A door shuts: who sees it takes the other one, who stands in the room behind still means to pass it.
static void test_only_who_sees_a_shut_door_replans(void **state) {
    (void)state;
    const char *json = TH_JSON({"levels":[{"walkable":[{"rect":[0,0,20,6]},{"rect":[0,6.2,6,12]},{"rect":[2,6,3,6.2]}],
        "walls":[[[8,0],[8,6]]]}],
        "doors":[{"id":"a","line":[[8,1],[8,2]],"schedule":[{"time":2,"open":false}]},
                 {"id":"b","line":[[8,4.8],[8,5.8]]}],
        "exits":[{"id":"out","line":[[20,1],[20,2]]}],
        "groups":[{"id":"near","positions":[[4,1.5]],"to":"out","speed":0.3,"behave":"hidac"},
                  {"id":"far","positions":[[1,11]],"to":"out","speed":0.3,"behave":"hidac"}, {"id":"short","positions":[[4.5,0.8]],"to":"out","speed":0.3,"behave":{"model":"hidac","sight":1,"talks":0}}]});
    run r = begin(json, 1, 1);
    steps_to(&r, 1.9);
    uint32_t near_before = word_of(&r, "hidac.aim", 0), far_before = word_of(&r, "hidac.aim", 1),
             short_before = word_of(&r, "hidac.aim", 2);
    steps_to(&r, 5.0);
    assert_int_not_equal(word_of(&r, "hidac.aim", 0), near_before);
    assert_int_equal(word_of(&r, "hidac.aim", 1), far_before);
    assert_int_equal(word_of(&r, "hidac.aim", 2), short_before); // sees a metre far
    assert_true(run_to_end(r.world, 300) < 250);
    finish(&r);
}

// Trained staff tell the way to those whom they meet, where people talk.
static void test_talk(void **state) {
    (void)state;
    for (int talks = 0; talks < 2; ++talks) {
        char json[1500];
        snprintf(
            json, sizeof json,
            "{" HALL ",\"groups\":[{\"id\":\"staff\",\"positions\":[[25,9]],\"to\":\"west\","
            "\"premovement\":9,"
            "\"behave\":{\"model\":\"hidac\",\"trained\":1}},"
            "{\"id\":\"guests\",\"positions\":[[26,9],[25.5,10]],\"to\":\"west\",\"premovement\":9,"
            "\"behave\":{\"model\":\"hidac\",\"knows_all\":0,\"talks\":%d}}]}",
            talks);
        run r = begin(json, 1, 1);
        steps_to(&r, 3);
        assert_int_equal(count_nature(&r, TH_MIND_TOLD), talks ? 2 : 0); // staff know it themselves
        finish(&r);
    }
}

// Two doors, all before the nearer one: impatient people go to the other, patient ones queue.
static void test_impatience(void **state) {
    (void)state;
    uint64_t by_other[2];
    for (int impatient = 0; impatient < 2; ++impatient) {
        char json[1500];
        snprintf(json, sizeof json,
                 "{\"levels\":[{\"walkable\":{\"rect\":[0,0,14,10]}}],"
                 "\"exits\":[{\"id\":\"a\",\"line\":[[0,1],[0,1.8]]},{\"id\":\"b\",\"line\":[[14,1]"
                 ",[14,1.8]]}],"
                 "\"groups\":[{\"id\":\"g\",\"count\":60,\"area\":{\"rect\":[0.4,0.4,6,7]},\"to\":["
                 "\"a\",\"b\"],"
                 "\"behave\":{\"model\":\"hidac\",\"impatience\":%d,\"panic_by_density\":0}}]}",
                 impatient);
        run r = begin(json, 1, 1);
        run_to_end(r.world, 300);
        by_other[impatient] = th_world_exit(r.world, 1).left;
        assert_int_equal(th_world_statistics(r.world).left, 60);
        finish(&r);
    }
    assert_true(by_other[0] <= 2); // pushed so far that it is the nearer one
    assert_true(by_other[1] >= 8);
}

// An alarm panics those near it, who frighten others; without the sight of it it passes.
static void test_panic_spreads_and_calms(void **state) {
    (void)state;
    int most[2] = {0, 0};
    for (int spreads = 0; spreads < 2; ++spreads) {
        char json[1500];
        snprintf(json, sizeof json,
                 "{\"levels\":[{\"walkable\":{\"rect\":[0,0,20,6]}}],"
                 "\"exits\":[{\"id\":\"a\",\"line\":[[20,1],[20,5]]}],"
                 "\"groups\":[{\"id\":\"g\",\"count\":60,\"area\":{\"rect\":[0.4,0.4,12,5.6]},"
                 "\"to\":\"a\",\"premovement\":60,"
                 "\"move\":\"hidac\",\"behave\":{\"model\":\"hidac\",\"alarm_time\":1,\"alarm_x\":"
                 "1,\"alarm_y\":3,"
                 "\"alarm_radius\":4,\"alarm_share\":1,\"panic_by_sight\":%g}}]}",
                 spreads ? 0.8 : 0.0);
        run r = begin(json, 1, 1);
        steps_to(&r, 0.9);
        assert_int_equal(count_nature(&r, TH_MIND_PANICS), 0);
        int at_once = 0;
        for (double t = 1.5; t < 20; t += 0.5) {
            steps_to(&r, t);
            int now = count_nature(&r, TH_MIND_PANICS);
            if (at_once == 0) at_once = now;
            if (now > most[spreads]) most[spreads] = now;
        }
        assert_true(at_once > 5 && at_once < 40);
        if (!spreads) assert_int_equal(count_nature(&r, TH_MIND_PANICS), 0);
        finish(&r);
    }
    assert_true(most[1] > most[0] + 10);
}

// Panic is seen further than a voice carries.
static void test_panic_is_seen_from_afar(void **state) {
    (void)state;
    run r =
        begin("{\"levels\":[{\"walkable\":{\"rect\":[0,0,20,6]}}],"
              "\"exits\":[{\"id\":\"a\",\"line\":[[20,1],[20,5]]}],"
              "\"groups\":[{\"id\":\"g\",\"positions\":[[2,3],[6,3],[14,3]],\"to\":\"a\","
              "\"premovement\":60,\"behave\":{\"model\":\"hidac\",\"alarm_time\":1,\"alarm_x\":2,"
              "\"alarm_y\":3,\"alarm_radius\":1,\"alarm_share\":1,\"panic_by_sight\":0.8}}]}",
              1, 1);
    int most = 0;
    for (double t = 1.5; t < 10; t += 0.5) {
        steps_to(&r, t);
        int now = count_nature(&r, TH_MIND_PANICS);
        if (now > most) most = now;
    }
    assert_int_equal(most, 2); // 4 m away, not 12
    finish(&r);
}

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

// Three who came together, slow and quick: the others wait for the slowest.
static void test_companions_keep_together(void **state) {
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

// A guide whose people would leave by the east on their own; it goes through the hall to the west. Returns how many took the
// west, and how far apart they ever were while the guide was inside.
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

static void test_followers_go_where_the_leader_goes(void **state) {
    (void)state;
    const char *led = "\"leader\":\"guide\",";
    double apart;
    assert_int_equal(led_west("", 1.3, 1.3, 1, &apart), 1);
    for (uint64_t seed = 1; seed <= CROWDS(5); ++seed) {
        assert_int_equal(led_west(led, 1.3, 1.3, seed, &apart), 7);
        // A leader who is much quicker waits, and followers who are do not run away.
        assert_int_equal(led_west(led, 2.0, 0.7, seed, &apart), 7);
        if (apart > 8.0) fail_msg("the leader was %g m ahead", apart);
        assert_int_equal(led_west(led, 0.7, 2.0, seed, &apart), 7);
        if (apart > 5.0) fail_msg("followers were %g m away", apart);
    }
}

// A follower ahead of its leader stands; were the leader called by it, both would wait for each other.
static void test_nobody_waits_for_who_is_ahead(void **state) {
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

// Leaders who visit a place first: their people come along.
static void test_followers_come_along_a_route(void **state) {
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

static void test_bad_leaders(void **state) {
    (void)state;
    refuse_leader("\"behave\":\"hidac\"", "guid", "did you mean \"guide\"?");
    refuse_leader("\"behave\":\"hidac\"", "nobody at all", "no group has the id");
    refuse_leader("\"behave\":\"route\"", "guide", "set its \"behave\" to \"hidac\"");
    refuse_leader("\"behave\":\"hidac\"", "g", "follows itself");
    refuse_leader("\"behave\":\"hidac\",\"leader\":\"g\"", "guide", "follows itself");
}

// The same bits for any number of threads, and after a snapshot.
static void test_same_for_threads_and_snapshots(void **state) {
    (void)state;
    const char *json =
        "{" HALL ",\"groups\":[{\"id\":\"guide\",\"count\":2,\"to\":\"west\",\"area\":{\"rect\":"
        "[22.3,6.5,24,8]},\"behave\":\"hidac\"},{\"id\":\"led\",\"count\":10,\"area\":{\"rect\":"
        "[2.3,6.5,7.7,11.7]},\"leader\":\"guide\",\"behave\":\"hidac\"},"
        "{\"id\":\"led_too\",\"count\":10,\"area\":{\"rect\":[22.3,9.5,27.7,11.7]},"
        "\"leader\":\"guide\",\"behave\":\"hidac\"},{\"id\":\"g\",\"count\":30,\"area\":{\"rect\":["
        "22.3,"
        "6.5,27.7,11.7]},\"move\":\"hidac\","
        "\"to\":[\"west\",\"east\"],\"behave\":{\"model\":\"hidac\",\"knows_all\":0."
        "2,\"knows_way_in\":0.3,\"trained\":0.1,"
        "\"followers\":0.5,\"companions\":2,\"alarm_time\":2,\"anxious\":0.3,"
        "\"polite\":0.3,\"impatient\":0.2}}]}";
    uint64_t hash[3];
    for (int k = 0; k < 3; ++k) {
        run r = begin(json, 7, k == 1 ? 3 : 1);
        steps_to(&r, 6);
        if (k == 2) {
            size_t size = th_world_snapshot_size(r.world);
            void *bytes = malloc(size);
            assert_non_null(bytes);
            th_error error;
            assert_int_equal(th_world_snapshot(r.world, bytes, size, &error), TH_OK);
            steps_to(&r, 9);
            assert_int_equal(th_world_restore(r.world, bytes, size, &error), TH_OK);
            free(bytes);
        }
        steps_to(&r, 15);
        hash[k] = th_world_hash(r.world);
        finish(&r);
    }
    assert_true(hash[0] == hash[1]);
    assert_true(hash[0] == hash[2]);
}

static void refuse(const char *values, const char *wanted) {
    char json[1500];
    snprintf(json, sizeof json,
             "{" HALL ",\"groups\":[{\"id\":\"g\",\"count\":2,\"to\":\"west\",\"behave\":{"
             "\"model\":\"hidac\",%s}}]}",
             values);
    th_scene *scene;
    th_error error;
    assert_int_equal(th_scene_load_json(json, strlen(json), "test", NULL, NULL, &scene, &error),
                     TH_BAD_SCENE);
    assert_non_null(strstr(error.message, wanted));
    assert_non_null(strstr(error.path, "groups[0].behave"));
}

static void test_bad_shares(void **state) {
    (void)state;
    refuse("\"knows_all\":1.5", "it must lie in 0 .. 1");
    refuse("\"knows_all\":0.7,\"knows_way_in\":0.6", "add up to at most 1");
    refuse("\"anxious\":0.7,\"polite\":0.6", "add up to at most 1");
}

// The five factors: each moves its parameter the way its word says.
static void test_temper(void **state) {
    (void)state;
    th_mind_params p = {.impatience = 0.5f, .patience = 10, .panic_threshold = 0.5f};
    th_temper plain = th_temper_of(&p, 0), anxious = th_temper_of(&p, TH_MIND_ANXIOUS);
    th_temper polite = th_temper_of(&p, TH_MIND_POLITE),
              pushy = th_temper_of(&p, TH_MIND_IMPATIENT);
    assert_true(th_mind_threshold(&p, &anxious) < th_mind_threshold(&p, &plain));
    assert_true(th_mind_threshold(&p, &polite) > th_mind_threshold(&p, &plain));
    assert_true(th_mind_impatience(&p, &pushy, false) > th_mind_impatience(&p, &plain, false));
    assert_true(th_mind_impatience(&p, &polite, false) < th_mind_impatience(&p, &plain, false));
    assert_near(th_mind_impatience(&p, &polite, true), 1, 0);
    assert_near(th_mind_patience(&p, 0.25f), 7.5, 1e-6);
    assert_near(th_mind_time(10, 5, 1.5f, 12, 1), 10 + 12 / 1.22, 1e-4);
    p.talk_range = 2;
    p.followers = 0.8f;
    th_temper outgoing = {.extraversion = 1, .openness = 0.5f}, closed = {.openness = 0};
    assert_near(th_mind_talk_range(&p, &outgoing), 3, 1e-6);
    assert_near(th_mind_follows(&p, &outgoing), 0.4, 1e-6);
    assert_true(th_mind_dares(&outgoing, 4, 10) && !th_mind_dares(&outgoing, 6, 10));
    assert_false(th_mind_dares(&closed, 1, 100));
}

// ---- doors, talk and memory

// A wall with a door that opens again at 8 s. One saw it shut and tells two who stay; later somebody looks at the open door
// among them: what it sees counts, not the older news.
static void test_the_latest_news_counts(void **state) {
    (void)state;
    run r = begin(TH_JSON({"levels":[{"walkable":{"rect":[0,0,40,6]},"walls":[[[30,0],[30,6]]]}],
        "doors":[{"id":"d","line":[[30,2],[30,4]],"schedule":[{"time":0,"open":false},{"time":8,"open":true}]}],
        "exits":[{"id":"east","line":[[40,1],[40,5]]},{"id":"west","line":[[0,1],[0,5]]}],
        "groups":[{"id":"b","positions":[[24,3]],"to":["east","west"],"behave":"hidac"},
            {"id":"c","positions":[[19,3.5],[20,2.5]],"to":["east","west"],"premovement":100,
                "behave":{"model":"hidac","sight":2}},
            {"id":"n","positions":[[21,3.2]],"to":["east","west"],"premovement":8.5,
                "behave":{"model":"hidac","sight":15}}],"run":{"step":0.05}}),
                                                             1, 1);
    steps_to(&r, 45.0);
    assert_int_equal(th_world_exit(r.world, 0).left, 1); // who looked
    assert_int_equal(th_world_exit(r.world, 1).left, 1); // who saw it shut
    finish(&r);
}

// Who cannot see a shut door goes another way when told of it, and does not where nobody talks.
static void test_shut_doors_are_told(void **state) {
    (void)state;
    for (int talks = 0; talks < 2; ++talks) {
        char json[1500];
        snprintf(
            json, sizeof json,
            TH_JSON({"levels":[{"walkable":{"rect":[0,0,40,6]},"walls":[[[30,0],[30,6]]]}],
            "doors":[{"id":"d","line":[[30,2],[30,4]],"schedule":[{"time":0,"open":false}]}],
            "exits":[{"id":"east","line":[[40,1],[40,5]]},{"id":"west","line":[[0,1],[0,5]]}],
            "groups":[{"id":"saw","positions":[[24,3]],"to":["east","west"],"premovement":60,"behave":{"model":"hidac","talks":%d}},
                {"id":"blind","positions":[[24,4]],"to":["east","west"],"premovement":2,"behave":{"model":"hidac","sight":2}}]}),
                                                            talks);
        run r = begin(json, 1, 1);
        steps_to(&r, 8.0);
        float x = place_of(&r, 1);
        if (talks ? x > 23.0f : x < 26.0f) fail_msg("talks %d: at %g m", talks, (double)x);
        finish(&r);
    }
}

// Rooms along a corridor; the exit is in the first or the last.
#define SIX_ROOMS                                                                                  \
    "\"levels\":[{\"walkable\":[{\"rect\":[0,0,60,3]},{\"rect\":[2,3.2,8,9]},{\"rect\":[4.5,3,5."  \
    "5,"                                                                                           \
    "3.2]},{\"rect\":[12,3.2,18,9]},{\"rect\":[14.5,3,15.5,3.2]},{\"rect\":[22,3.2,28,9]},{"       \
    "\"rect\":[24.5,3,25.5,3.2]},{\"rect\":[32,3.2,38,9]},{\"rect\":[34.5,3,35.5,3.2]},{\"rect\":" \
    "[42,3.2,48,9]},{\"rect\":[44.5,3,45.5,3.2]},{\"rect\":[52,3.2,58,9]},{\"rect\":[54.5,3,55.5," \
    "3.2]}]}]"

// Somebody without a map begins beside its exit, goes to a desk next door first, and remembers where the exit was.
static void test_an_exit_seen_is_remembered(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 5; ++seed) {
        run r = begin(
            "{" SIX_ROOMS ",\"exits\":[{\"id\":\"out\",\"line\":[[4,9],[6,9]]}],"
            "\"waypoints\":[{\"id\":\"desk\",\"area\":{\"rect\":[14,5,16,8]}}],"
            "\"groups\":[{\"id\":\"g\",\"positions\":[[5,5]],\"speed\":1.34,\"route\":[\"desk\","
            "\"out\"],\"behave\":{\"model\":\"hidac\",\"knows_all\":0}}],\"run\":{\"step\":0.1}}",
            seed, 1);
        uint32_t leg = 0;
        while (leg == 0 && th_world_time(r.world) < 300) {
            th_world_step(r.world, 1);
            leg = word_of(&r, "leg", 0);
        }
        double reached = th_world_time(r.world);
        double end = run_to_end(r.world, 400);
        if (end - reached > 25) fail_msg("seed %d: %g s to the exit", (int)seed, end - reached);
        finish(&r);
    }
}

// People who keep to the way they came by pass a room with an exit; whom they meet looks for that very exit and finds it no
// later for having talked to them.
static void test_nobody_is_told_away_from_its_exit(void **state) {
    (void)state;
    double end[2] = {0, 0};
    for (int talks = 0; talks < 2; ++talks)
        for (uint64_t seed = 1; seed <= 5; ++seed) {
            char json[1500];
            snprintf(
                json, sizeof json,
                TH_JSON({"levels":[{"walkable":[{"rect":[0,0,40,3]},{"rect":[30,3.2,38,10]},
                {"rect":[33.5,3,34.5,3.2]},{"rect":[10,3.2,18,10]},{"rect":[13.5,3,14.5,3.2]}]}],
                "exits":[{"id":"far","line":[[0,1],[0,2]]},{"id":"side","line":[[38,6],[38,8]]}],
                "groups":[{"id":"passers","count":6,"area":{"rect":[31,5,36,9]},"to":["far","side"],
                        "behave":{"model":"hidac","knows_all":0,"knows_way_in":1}},
                    {"id":"explorers","count":6,"area":{"rect":[35,0.5,39,2.5]},"to":["side"],
                        "behave":{"model":"hidac","knows_all":0,"talks":%d}}]}),
                                                           talks);
            run r = begin(json, seed, 1);
            end[talks] += run_to_end(r.world, 300);
            finish(&r);
        }
    if (!(end[1] < 1.2 * end[0])) fail_msg("%g s without talk, %g s with it", end[0], end[1]);
}

// Staff who do not talk tell nobody the way.
static void test_the_mute_tell_nothing(void **state) {
    (void)state;
    run r = begin(TH_JSON({"levels":[{"walkable":{"rect":[0,0,20,6]}}],"exits":[{"id":"a","line":[[20,1],[20,5]]}],
        "groups":[{"id":"staff","positions":[[5,3]],"to":"a","premovement":50,"behave":{"model":"hidac","trained":1,"talks":0}},
            {"id":"guests","positions":[[6,3]],"to":"a","premovement":50,"behave":{"model":"hidac","knows_all":0}}]}),
                                                     1, 1);
    steps_to(&r, 5);
    assert_int_equal(count_nature(&r, TH_MIND_TOLD), 0);
    finish(&r);
}

// ---- acceptance check 10: talk and staff shorten an evacuation by people who know nothing

static double evacuation(int talks, double trained, uint64_t seed) {
    char json[2000];
    snprintf(json, sizeof json,
             "{" SIX_ROOMS
             ",\"exits\":[{\"id\":\"out\",\"line\":[[58,5],[58,7]]}],\"groups\":[{\"id\":"
             "\"g\",\"count\":40,\"area\":{\"rect\":[2.5,3.7,7.5,8.5]},\"to\":\"out\",\"behave\":{"
             "\"model\":\"hidac\",\"knows_all\":0,\"talks\":%d,\"trained\":%g}}],\"run\":{\"step\":"
             "0.1}}",
             talks, trained);
    run r = begin(json, seed, 1);
    double end = run_to_end(r.world, 1200);
    assert_int_equal(th_world_statistics(r.world).left, 40);
    finish(&r);
    return end;
}

static void test_talk_and_staff_shorten_an_evacuation(void **state) {
    (void)state;
    double silent = 0, talking = 0, staff = 0;
    for (uint64_t seed = 1; seed <= CROWDS(6); ++seed) {
        silent += evacuation(0, 0.0, seed);
        talking += evacuation(1, 0.0, seed);
        staff += evacuation(1, 0.1, seed);
    }
    if (!(talking < 0.7 * silent && staff < talking))
        fail_msg("silent %g s, talking %g s, with staff %g s", silent, talking, staff);
}

// Who does not know walks after somebody who does; others explore.
static void test_followers_without_a_leader(void **state) {
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
    double walk = CROWDS(5) * 57 / 1.4; // nobody is quicker
    if (!(end[1] - walk < 0.6 * (end[0] - walk)))
        fail_msg("exploring %g s, following %g s", end[0], end[1]);
}

// Explorers do not all guess alike.
static void test_guesses_differ(void **state) {
    (void)state;
    run r = begin(TH_JSON({"levels":[{"walkable":[{"rect":[0,0,10,6]},{"rect":[-8,0,-0.2,6]},{"rect":[-0.2,2.5,0,3.5]},
        {"rect":[10.2,0,18,6]},{"rect":[10,2.5,10.2,3.5]}]}],"exits":[{"id":"a","line":[[-8,1],[-8,2]]}],
        "groups":[{"id":"g","positions":[[5,1],[5,2],[5,3],[5,4],[5,5],[4.9,1.5],[5.1,2.5],[4.9,3.5]],"to":"a",
            "behave":{"model":"hidac","knows_all":0,"talks":0}}]}),
                            3, 1);
    steps_to(&r, 1.5);
    int alike = 0;
    for (int k = 1; k < 8; ++k) alike += word_of(&r, "hidac.aim", k) == word_of(&r, "hidac.aim", 0);
    assert_true(alike < 7);
    finish(&r);
}

// ---- hysteresis of impatience

static int changes_of_mind(double quicker, double pause) {
    char json[1500];
    int changes = 0;
    snprintf(
        json, sizeof json,
        TH_JSON({"levels":[{"walkable":{"rect":[0,0,14,10]}}],
                 "exits":[{"id":"a","line":[[0,1],[0,1.8]]},{"id":"b","line":[[14,1],[14,1.8]]}],
                 "groups":[{"id":"g","count":60,"area":{"rect":[0.4,0.4,8,7]},"to":["a","b"],
                 "behave":{"model":"hidac","impatience":1,"quicker":%g,"change_pause":%g}}]}),
                                                  quicker, pause);
    run r = begin(json, 1, 1);
    uint32_t before[61] = {0};
    for (double t = 0.2; t < 30; t += 0.2) {
        steps_to(&r, t);
        int count = th_world_agent_count(r.world);
        for (int k = 0; k < count; ++k) {
            uint32_t id = word_of(&r, "id", k), aim = word_of(&r, "hidac.aim", k);
            changes += before[id] != 0 && aim != 0 && before[id] != aim;
            before[id] = aim;
        }
    }
    finish(&r);
    return changes;
}

static void test_hysteresis(void **state) {
    (void)state;
    int easily = changes_of_mind(1.0, 0.0), slowly = changes_of_mind(1.0, 20.0),
        hardly = changes_of_mind(0.3, 0.0);
    if (!(slowly < easily && hardly < 0.5 * easily))
        fail_msg("%d changes, %d with a pause, %d for much quicker ways", easily, slowly, hardly);
}

// ---- panic

// Four in a sealed room beside people in panic: nobody sees or feels through the wall.
static void test_panic_does_not_pass_walls(void **state) {
    (void)state;
    run r = begin(TH_JSON({"levels":[{"walkable":[{"rect":[0,0,10,4]},{"rect":[0,4.3,10,8]}]}],
        "exits":[{"id":"a","line":[[10,1],[10,3]]},{"id":"b","line":[[10,5],[10,7]]}],
        "groups":[{"id":"scared","count":10,"area":{"rect":[0.4,2.5,5,3.7]},"to":"a","premovement":100,"move":"hidac",
                "behave":{"model":"hidac","alarm_time":1,"alarm_share":1,"calming":0}},
            {"id":"next_door","count":4,"area":{"rect":[0.4,4.5,5,5.5]},"to":"b","premovement":100,"move":"hidac",
                "behave":"hidac"}]}),
                                               1, 1);
    steps_to(&r, 10);
    assert_int_equal(count_nature(&r, TH_MIND_PANICS), 10);
    finish(&r);
}

// Everything that frightens raises the level by itself, and calming lowers it.
static void test_what_frightens(void **state) {
    (void)state;
    th_mind_params p = {.panic_by_sight = 0.5f,
                        .panic_by_talk = 0.05f,
                        .panic_by_pushing = 0.2f,
                        .panic_by_density = 0.2f,
                        .panic_density = 5,
                        .panic_by_fallen = 0.3f,
                        .calming = 0.1f};
    const th_fright causes[] = {{.panicked = 1},  {.pushed = 1},  {.density = 6},
                                {.fallen = true}, {.told = true}, {.density = 4}};
    const double rises[] = {0.4, 0.1, 0.1, 0.2, -0.05, -0.1};
    for (int k = 0; k < 6; ++k)
        assert_near(th_mind_panic(&p, 0.5f, &causes[k], 1.0f), 0.5 + rises[k], 1e-6);
}

// The level of those who see somebody lie, who are packed, who see people in panic for good by the move model, and who talk
// with somebody in panic.
static float highest_level(const char *groups, double time) {
    char json[2000];
    snprintf(json, sizeof json,
             "{\"levels\":[{\"walkable\":{\"rect\":[0,0,20,6]}}],\"exits\":[{\"id\":\"a\","
             "\"line\":[[20,1],[20,5]]}],\"groups\":[%s]}",
             groups);
    run r = begin(json, 1, 1);
    float most = 0.0f;
    for (double t = 0.5; t < time; t += 0.5) {
        steps_to(&r, t);
        for (int k = 0; k < th_world_agent_count(r.world); ++k) {
            if (word_of(&r, "group", k) != 0) continue;
            uint32_t bits = word_of(&r, "hidac.panic", k);
            float level;
            memcpy(&level, &bits, sizeof level);
            most = fmaxf(most, level);
        }
    }
    finish(&r);
    return most;
}
static void test_sights_frighten(void **state) {
    (void)state;
    const char *watcher = "{\"id\":\"w\",\"positions\":[[5,3]],\"to\":\"a\",\"premovement\":100,"
                          "\"behave\":{\"model\":\"hidac\",\"panic_by_talk\":0}},";
    char groups[1500];
    snprintf(groups, sizeof groups,
             "%s{\"id\":\"b\",\"positions\":[[7,3]],\"to\":\"a\",\"premovement\":100}", watcher);
    assert_true(highest_level(groups, 8) == 0.0f);
    snprintf(groups, sizeof groups,
             "%s{\"id\":\"b\",\"positions\":[[7,3]],\"to\":\"a\",\"move\":{\"model\":\"hidac\","
             "\"lies\":1}}",
             watcher);
    assert_true(highest_level(groups, 8) > 0.3f);
    snprintf(groups, sizeof groups,
             "%s{\"id\":\"b\",\"positions\":[[7,3]],\"to\":\"a\",\"premovement\":100,\"move\":{"
             "\"model\":\"hidac\","
             "\"panic\":1}}",
             watcher);
    assert_true(highest_level(groups, 8) > 0.3f);
    snprintf(groups, sizeof groups,
             "{\"id\":\"w\",\"count\":120,\"area\":{\"rect\":[1,1,5,5]},\"to\":\"a\","
             "\"premovement\":100,"
             "\"radius\":0.15,\"behave\":{\"model\":\"hidac\",\"panic_by_pushing\":0}}");
    assert_true(highest_level(groups, 8) > 0.3f);
}

// Talk with somebody in panic keeps others from calming down; alone it frightens nobody.
static void test_panic_is_heard_of(void **state) {
    (void)state;
    float after[2];
    for (int talks = 0; talks < 2; ++talks) {
        char groups[1500];
        snprintf(groups, sizeof groups,
                 "{\"id\":\"w\",\"positions\":[[5,3]],\"to\":\"a\",\"premovement\":100,\"behave\":{"
                 "\"model\":"
                 "\"hidac\",\"panic_by_sight\":0,\"panic_by_talk\":0.3,\"talks\":%d}},{\"id\":"
                 "\"b\",\"positions\":[[6,3]],"
                 "\"to\":\"a\",\"premovement\":100,\"behave\":{\"model\":\"hidac\",\"alarm_time\":"
                 "1,\"alarm_share\":1,"
                 "\"calming\":0}}",
                 talks);
        after[talks] = highest_level(groups, 6);
    }
    assert_true(after[0] == 0.0f && after[1] > 0.3f);
}

// An alarm frightens the share of people that it says.
static void test_share_of_an_alarm(void **state) {
    (void)state;
    run r = begin(
        TH_JSON({"levels":[{"walkable":{"rect":[0,0,40,20]}}],"exits":[{"id":"a","line":[[40,1],[40,5]]}],
        "groups":[{"id":"g","count":200,"to":"a","premovement":100,"behave":{"model":"hidac","alarm_time":1,
            "alarm_share":0.3,"panic_by_sight":0}}]}),
                                     1, 1);
    steps_to(&r, 2);
    int count = count_nature(&r, TH_MIND_PANICS);
    if (count < 40 || count > 80) fail_msg("%d of 200", count);
    finish(&r);
}

// Panic of the mind is panic of the body: who panics runs.
static void test_panic_reaches_the_move_model(void **state) {
    (void)state;
    float x[2];
    for (int alarm = 0; alarm < 2; ++alarm) {
        char json[1500];
        snprintf(json, sizeof json,
                 TH_JSON({"levels":[{"walkable":{"rect":[0,0,60,6]}}],"exits":[{"id":"a","line":[[60,1],[60,5]]}],
            "groups":[{"id":"g","positions":[[1,3]],"speed":1.2,"to":"a","move":"hidac","behave":{"model":"hidac","alarm_time":%d,
            "alarm_share":1,"calming":0}}]}),
                                                        alarm ? 1 : -1);
        run r = begin(json, 1, 1);
        steps_to(&r, 12);
        x[alarm] = place_of(&r, 0);
        finish(&r);
    }
    if (!(x[1] > x[0] + 4.0f)) fail_msg("calm %g m, in panic %g m", (double)x[0], (double)x[1]);
}

// Personality decides who pushes: by adjective and by factor.
static void test_manners_reach_the_move_model(void **state) {
    (void)state;
    const char *const what[] = {"\"polite\":1", "\"impatient\":1", "\"agreeableness\":0.6",
                                "\"agreeableness\":-0.6", "\"polite\":0"};
    const uint32_t manners[] = {1, 2, 1, 2, 0};
    for (int k = 0; k < 5; ++k) {
        char json[1500];
        snprintf(json, sizeof json,
                 "{" HALL
                 ",\"groups\":[{\"id\":\"g\",\"positions\":[[10,3]],\"to\":\"west\",\"move\":"
                 "\"hidac\",\"behave\":{\"model\":\"hidac\",%s}}]}",
                 what[k]);
        run r = begin(json, 1, 1);
        steps_to(&r, 1);
        assert_int_equal(word_of(&r, "hidac.manners", 0), manners[k]);
        finish(&r);
    }
}

// ---- companies

// Some know the way and some do not, without talk: who knows leads, and nobody waits in vain.
static void test_companies_of_mixed_knowledge(void **state) {
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

// Who came with others of another group does not wait for them, though their numbers follow each other.
static void test_companies_are_of_one_group(void **state) {
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

// Where somebody knows the way, the others need not search.
static void test_who_knows_leads_the_company(void **state) {
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
        bool somebody_knows = count_nature(&r, TH_MIND_KNOWS_ALL) > 0;
        double end = run_to_end(r.world, 400);
        if (somebody_knows && end > 62) fail_msg("seed %d: %g s", (int)seed, end);
        finish(&r);
    }
}

// An exit around the end of a wall, whose jamb hides what lies straight on beyond it from everywhere.
static void test_hidden_exits_are_reached(void **state) {
    (void)state;
    run r = begin(TH_JSON({"levels":[{"walkable":{"rect":[0,0,10,12]},"walls":[[[5,2],[10,2]]]}],
        "exits":[{"id":"out","line":[[10,0.7],[10,1.3]]}],
        "groups":[{"id":"g","positions":[[8,11],[8.3,10],[8.5,11.5]],"to":"out","behave":"hidac"}]}),
                      1, 1);
    assert_true(run_to_end(r.world, 100) < 40);
    finish(&r);
}

// Walls between which ways are nearly as long either way, and one that ends on an exit: people stood in all of these, or went
// to and fro between two rooms for good.
static void test_odd_walls(void **state) {
    (void)state;
    const char *const plans[][2] = {
        {"[[7.88,3],[7.88,6.67]]", "[[10,1.42],[10,2.42]]"},
        {"[[7.67,3.15],[7.67,6.5]]", "[[10,2.56],[10,3.16]]"},
        {"[[3.98,2.51],[3.98,5.54]],[[8.42,1.28],[10,1.28]],[[2.21,2.47],[2.21,3.55]]",
         "[[10,6],[10,7]]"},
        {"[[3.98,4.81],[10,4.81]],[[5.14,0.78],[10,0.78]],[[2.91,3.18],[2.91,5.09]]",
         "[[10,5.27],[10,5.87]]"},
        {"[[7.38,8.67],[10,8.67]],[[6.17,4.39],[10,4.39]],[[8.19,3.46],[8.19,5.55]]",
         "[[10,3.78],[10,4.78]]"}};
    for (size_t k = 0; k < sizeof plans / sizeof plans[0]; ++k)
        for (uint64_t seed = 1; seed <= CROWDS(4); ++seed) {
            char json[1000];
            snprintf(json, sizeof json,
                     "{\"levels\":[{\"walkable\":{\"rect\":[0,0,10,10]},\"walls\":[%s]}],\"exits\":"
                     "[{\"id\":\"o\","
                     "\"line\":%s}],\"groups\":[{\"id\":\"g\",\"count\":12,\"to\":\"o\",\"behave\":"
                     "\"hidac\"}],"
                     "\"run\":{\"step\":0.1}}",
                     plans[k][0], plans[k][1]);
            run r = begin(json, seed, 1);
            run_to_end(r.world, 90);
            int inside = th_world_agent_count(r.world);
            if (inside > 0) fail_msg("plan %d, seed %d: %d stay", (int)k, (int)seed, inside);
            finish(&r);
        }
}

// Explorers who came together take one way.
static void test_companies_explore_together(void **state) {
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

// A snapshot between two looks, when queues and companies are those of a step before.
static void test_snapshots_at_any_step(void **state) {
    (void)state;
    const char *json = TH_JSON({"levels":[{"walkable":{"rect":[0,0,40,4]},"walls":[[[20,0],[20,4]]]}],
        "doors":[{"id":"d","line":[[20,1],[20,3]],"schedule":[{"time":2,"open":false},{"time":9,"open":true}]}],
        "exits":[{"id":"a","line":[[40,1],[40,3]]}],
        "groups":[{"id":"g","count":12,"area":{"rect":[8,0.5,14,3.5]},"to":"a","speed":{"uniform":[0.4,2]},
            "behave":{"model":"hidac","companions":4,"wait_distance":2}}],"run":{"step":0.05}});
    for (int step = 120; step < 124; ++step) {
        run a = begin(json, 3, 1), b = begin(json, 3, 1);
        th_world_step(a.world, step);
        size_t size = th_world_snapshot_size(a.world);
        void *bytes = malloc(size);
        assert_non_null(bytes);
        th_error error;
        assert_int_equal(th_world_snapshot(a.world, bytes, size, &error), TH_OK);
        assert_int_equal(th_world_restore(b.world, bytes, size, &error), TH_OK);
        free(bytes);
        for (int k = 0; k < 200; ++k) {
            th_world_step(a.world, 1);
            th_world_step(b.world, 1);
            if (th_world_hash(a.world) != th_world_hash(b.world))
                fail_msg("step %d + %d", step, k + 1);
        }
        finish(&a);
        finish(&b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_knowledge_decides_the_exit),
        cmocka_unit_test(test_explorers_get_out),
        cmocka_unit_test(test_only_who_sees_a_shut_door_replans),
        cmocka_unit_test(test_talk),
        cmocka_unit_test(test_impatience),
        cmocka_unit_test(test_panic_spreads_and_calms),
        cmocka_unit_test(test_panic_is_seen_from_afar),
        cmocka_unit_test(test_companions_keep_together),
        cmocka_unit_test(test_followers_go_where_the_leader_goes),
        cmocka_unit_test(test_nobody_waits_for_who_is_ahead),
        cmocka_unit_test(test_followers_come_along_a_route),
        cmocka_unit_test(test_bad_leaders),
        cmocka_unit_test(test_same_for_threads_and_snapshots),
        cmocka_unit_test(test_bad_shares),
        cmocka_unit_test(test_temper),
        cmocka_unit_test(test_the_latest_news_counts),
        cmocka_unit_test(test_shut_doors_are_told),
        cmocka_unit_test(test_an_exit_seen_is_remembered),
        cmocka_unit_test(test_nobody_is_told_away_from_its_exit),
        cmocka_unit_test(test_the_mute_tell_nothing),
        cmocka_unit_test(test_talk_and_staff_shorten_an_evacuation),
        cmocka_unit_test(test_followers_without_a_leader),
        cmocka_unit_test(test_guesses_differ),
        cmocka_unit_test(test_hysteresis),
        cmocka_unit_test(test_panic_does_not_pass_walls),
        cmocka_unit_test(test_what_frightens),
        cmocka_unit_test(test_sights_frighten),
        cmocka_unit_test(test_panic_is_heard_of),
        cmocka_unit_test(test_share_of_an_alarm),
        cmocka_unit_test(test_panic_reaches_the_move_model),
        cmocka_unit_test(test_manners_reach_the_move_model),
        cmocka_unit_test(test_companies_of_mixed_knowledge),
        cmocka_unit_test(test_companies_are_of_one_group),
        cmocka_unit_test(test_who_knows_leads_the_company),
        cmocka_unit_test(test_hidden_exits_are_reached),
        cmocka_unit_test(test_odd_walls),
        cmocka_unit_test(test_companies_explore_together),
        cmocka_unit_test(test_snapshots_at_any_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
