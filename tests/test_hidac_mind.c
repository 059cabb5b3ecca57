// The behaviour hidac, rule by rule: knowledge, shut doors, talk, impatience.
// SPDX-License-Identifier: Apache-2.0
#include "behave/hidac/hidac.h"
#include "hidac_mind.h"
#include "support.h"
#include <stdlib.h>
#include <string.h>

// People know all: the nearer exit. Their way in: the first exit, however far.
static void knowledge_decides_the_exit(void **state) {
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

// An agent that knows nothing finds out, also from far inside and at every seed.
static void explorers_get_out(void **state) {
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

// A door shuts: agents that see it take the other one, those in the room behind still mean to pass it.
static void only_agents_that_see_a_shut_door_replan(void **state) {
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

// Trained staff tell the way to agents they meet, where people talk.
static void talk(void **state) {
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
static void the_impatient_take_the_other_door(void **state) {
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

// The same bits for any number of threads, and after a snapshot.
static void same_for_threads_and_snapshots(void **state) {
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
    uint64_t hash[5];
    for (int k = 0; k < 5; ++k) {
        run r = begin(json, 7, k == 1 ? 3 : 1);
        steps_to(&r, 6);
        if (k >= 2) {
            size_t size = th_world_snapshot_size(r.world);
            void *bytes = malloc(size);
            assert_non_null(bytes);
            th_error error;
            assert_int_equal(th_world_snapshot(r.world, bytes, size, &error), TH_OK);
            if (k > 2) { // in a world with room for more or fewer people
                th_world_destroy(r.world);
                th_world_def def = th_world_def_default();
                def.threads = 1;
                def.max_agents = k == 3 ? 5000 : 60;
                assert_int_equal(th_world_create(r.scene, &def, &r.world, &error), TH_OK);
            }
            if (k == 2) steps_to(&r, 9);
            if (th_world_restore(r.world, bytes, size, &error) != TH_OK)
                fail_msg("%d: %s", k, error.message);
            free(bytes);
        }
        steps_to(&r, 15);
        hash[k] = th_world_hash(r.world);
        finish(&r);
    }
    for (int k = 1; k < 5; ++k) assert_true(hash[0] == hash[k]);
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

static void bad_shares(void **state) {
    (void)state;
    refuse("\"knows_all\":1.5", "it must lie in 0 .. 1");
    refuse("\"knows_all\":0.7,\"knows_way_in\":0.6", "add up to at most 1");
    refuse("\"anxious\":0.7,\"polite\":0.6", "add up to at most 1");
}

// The five factors: each moves its parameter the way its word says.
static void temper(void **state) {
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

// A wall with a door that opens again at 8 s. One saw it shut and tells two that stay; later one looks at the open door
// among them: what it sees counts, not the older news.
static void the_latest_news_counts(void **state) {
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
    assert_int_equal(th_world_exit(r.world, 0).left, 1); // the one that looked
    assert_int_equal(th_world_exit(r.world, 1).left, 1); // the one that saw it shut
    finish(&r);
}

// An agent that cannot see a shut door goes another way when told of it, and does not where agents do not talk.
static void shut_doors_are_told(void **state) {
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

// An agent without a map begins beside its exit, goes to a desk next door first, and remembers where the exit was.
static void an_exit_seen_is_remembered(void **state) {
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

// People that keep to the way they came by pass a room with an exit; agents that look for this exit find it no later
// after talking to them.
static void no_agent_is_told_away_from_its_exit(void **state) {
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

// Staff that do not talk tell no agent the way.
static void the_mute_tell_nothing(void **state) {
    (void)state;
    run r = begin(TH_JSON({"levels":[{"walkable":{"rect":[0,0,20,6]}}],"exits":[{"id":"a","line":[[20,1],[20,5]]}],
        "groups":[{"id":"staff","positions":[[5,3]],"to":"a","premovement":50,"behave":{"model":"hidac","trained":1,"talks":0}},
            {"id":"guests","positions":[[6,3]],"to":"a","premovement":50,"behave":{"model":"hidac","knows_all":0}}]}),
                                                     1, 1);
    steps_to(&r, 5);
    assert_int_equal(count_nature(&r, TH_MIND_TOLD), 0);
    finish(&r);
}

// ---- acceptance check 10: talk and staff shorten an evacuation by people that know nothing

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

// Staff save about a second of 92; the means of 16 crowds scatter by as much, those of 40 by less.
static void talk_and_staff_shorten_an_evacuation(void **state) {
    (void)state;
    const uint64_t crowds = CROWDS(40), silent_crowds = CROWDS(16);
    double silent = 0, talking = 0, staff = 0;
    for (uint64_t seed = 1; seed <= crowds; ++seed) {
        if (seed <= silent_crowds) silent += evacuation(0, 0.0, seed) / (double)silent_crowds;
        talking += evacuation(1, 0.0, seed) / (double)crowds;
        staff += evacuation(1, 0.1, seed) / (double)crowds;
    }
    // A single crowd, under sanitizers, cannot tell staff from talk.
    if (!(talking < 0.7 * silent && staff < (crowds > 1 ? talking : 0.7 * silent)))
        fail_msg("silent %g s, talking %g s, with staff %g s", silent, talking, staff);
}

// Explorers do not all guess alike.
static void guesses_differ(void **state) {
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

static void hysteresis(void **state) {
    (void)state;
    int easily = changes_of_mind(1.0, 0.0), slowly = changes_of_mind(1.0, 20.0),
        hardly = changes_of_mind(0.3, 0.0);
    if (!(slowly < easily && hardly < 0.5 * easily))
        fail_msg("%d changes, %d with a pause, %d for much quicker ways", easily, slowly, hardly);
}

// An exit around the end of a wall, whose jamb hides what lies straight on beyond it from everywhere.
static void hidden_exits_are_reached(void **state) {
    (void)state;
    run r = begin(TH_JSON({"levels":[{"walkable":{"rect":[0,0,10,12]},"walls":[[[5,2],[10,2]]]}],
        "exits":[{"id":"out","line":[[10,0.7],[10,1.3]]}],
        "groups":[{"id":"g","positions":[[8,11],[8.3,10],[8.5,11.5]],"to":"out","behave":"hidac"}]}),
                      1, 1);
    assert_true(run_to_end(r.world, 100) < 40);
    finish(&r);
}

// Walls between which ways are nearly as long either way, and one that ends on an exit: people stood in all of these,
// or went to and fro between two rooms for good.
static void odd_walls(void **state) {
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

// A snapshot between two looks, when queues and companies are those of a step before.
static void snapshots_at_any_step(void **state) {
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
        cmocka_unit_test(knowledge_decides_the_exit),
        cmocka_unit_test(explorers_get_out),
        cmocka_unit_test(only_agents_that_see_a_shut_door_replan),
        cmocka_unit_test(talk),
        cmocka_unit_test(the_impatient_take_the_other_door),
        cmocka_unit_test(same_for_threads_and_snapshots),
        cmocka_unit_test(bad_shares),
        cmocka_unit_test(temper),
        cmocka_unit_test(the_latest_news_counts),
        cmocka_unit_test(shut_doors_are_told),
        cmocka_unit_test(an_exit_seen_is_remembered),
        cmocka_unit_test(no_agent_is_told_away_from_its_exit),
        cmocka_unit_test(the_mute_tell_nothing),
        cmocka_unit_test(talk_and_staff_shorten_an_evacuation),
        cmocka_unit_test(guesses_differ),
        cmocka_unit_test(hysteresis),
        cmocka_unit_test(hidden_exits_are_reached),
        cmocka_unit_test(odd_walls),
        cmocka_unit_test(snapshots_at_any_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
