// Panic of HiDAC's minds: what frightens, how it spreads and calms, and that the move model hears of it.
// SPDX-License-Identifier: Apache-2.0
#include "behave/hidac/hidac.h"
#include "hidac_mind.h"
#include "support.h"
#include <stdlib.h>
#include <string.h>

// An alarm panics those near it, and these frighten others; without the sight of it it passes.
static void panic_spreads_and_calms(void **state) {
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
static void panic_is_seen_from_afar(void **state) {
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

// ---- panic

// Four in a sealed room beside people in panic: they neither see nor feel through the wall.
static void panic_does_not_pass_walls(void **state) {
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
static void what_frightens(void **state) {
    (void)state;
    th_mind_params p = {.panic_by_sight = 0.5f,
                        .panic_by_talk = 0.05f,
                        .panic_by_pushing = 0.2f,
                        .panic_by_density = 0.2f,
                        .panic_density = 5,
                        .panic_by_fallen = 0.3f,
                        .calming = 0.1f,
                        .panic_lasts = 40};
    const th_fright causes[] = {{.panicked = 1},  {.pushed = 1},  {.density = 6},
                                {.fallen = true}, {.told = true}, {.density = 4}};
    const double rises[] = {0.4, 0.1, 0.1, 0.2, -0.05, -0.1};
    for (int k = 0; k < 6; ++k)
        assert_near(th_mind_panic(&p, 0.5f, &causes[k], 0.0f, 1.0f), 0.5 + rises[k], 1e-6);
    // After half of panic_lasts half of it frightens, at its end nothing does.
    assert_near(th_mind_panic(&p, 0.5f, &causes[0], 20.0f, 1.0f), 0.5 + 0.25 - 0.1, 1e-6);
    assert_near(th_mind_panic(&p, 0.5f, &causes[0], 40.0f, 1.0f), 0.5 - 0.1, 1e-6);
    assert_near(th_mind_get_used(&p, 10.0f, true, 2.0f), 12.0, 1e-6);
    assert_near(th_mind_get_used(&p, 10.0f, false, 2.0f), 9.8, 1e-6);
    assert_near(th_mind_get_used(&p, 39.0f, true, 2.0f), 40.0, 1e-6);
}

// People who see only each other calm down, whatever the step, and a later alarm frightens them again.
static void panic_wears_off(void **state) {
    (void)state;
    static const double steps[] = {0.05, 0.0625, 0.1};
    for (int k = 0; k < 3; ++k) {
        run r = {.scene = scene_of(TH_JSON({"levels":[{"walkable":{"rect":[0,0,12,8]}}],
            "exits":[{"id":"a","line":[[12,3],[12,5]]}],
            "groups":[{"id":"g","count":30,"to":"a","premovement":1000,"move":"hidac",
                "behave":{"model":"hidac","alarm_time":1,"alarm_share":0.5}}]}))};
        th_world_def def = th_world_def_default();
        def.threads = 1;
        def.step = steps[k];
        assert_int_equal(th_world_create(r.scene, &def, &r.world, NULL), TH_OK);
        steps_to(&r, 20);
        assert_int_equal(count_nature(&r, TH_MIND_PANICS), 30); // it has spread to all
        steps_to(&r, 120);
        assert_int_equal(count_nature(&r, TH_MIND_PANICS), 0);
        th_error error = {0};
        if (k == 0) {
            assert_int_equal(th_world_set_param(r.world, 0, "alarm_time", 125, &error), TH_OK);
            steps_to(&r, 127);
            assert_true(count_nature(&r, TH_MIND_PANICS) > 4);
        }
        finish(&r);
    }
}

// A queue of 7.5 people/m2, as laboratories have seen it, is calm: without an alarm none panics.
static void a_packed_queue_stays_calm(void **state) {
    (void)state;
    run r =
        begin(TH_JSON({"levels":[{"walkable":{"rect":[0,0,20,6]}}],"exits":[{"id":"a","line":[[20,1],[20,5]]}],
        "groups":[{"id":"g","count":120,"area":{"rect":[1,1,5,5]},"radius":0.15,"to":"a","premovement":1000,
            "move":"hidac","behave":"hidac"}]}),
                                           1, 1);
    for (double t = 5; t <= 20; t += 5) {
        steps_to(&r, t);
        assert_int_equal(count_nature(&r, TH_MIND_PANICS), 0);
    }
    finish(&r);
}

// An alarm with a radius is heard on its level, not by people above it.
static void alarms_are_heard_on_their_level(void **state) {
    (void)state;
    for (int level = -1; level < 2; ++level) {
        char json[1500];
        snprintf(
            json, sizeof json,
            TH_JSON({"levels":[{"id":"low","walkable":{"rect":[0,0,12,8]}},{"id":"high","z":4,"walkable":{"rect":[0,0,12,8]}}],
            "exits":[{"id":"a","level":"low","line":[[12,3],[12,5]]},{"id":"b","level":"high","line":[[12,3],[12,5]]}],
            "groups":[{"id":"g","count":10,"level":"low","to":"a","premovement":1000,"behave":{"model":"hidac","alarm_time":1,
                "alarm_share":1,"alarm_x":6,"alarm_y":4,"alarm_radius":20,"alarm_level":%d}},
              {"id":"h","count":15,"level":"high","to":"b","premovement":1000,"behave":{"model":"hidac","alarm_time":1,
                "alarm_share":1,"alarm_x":6,"alarm_y":4,"alarm_radius":20,"alarm_level":%d}}]}),
                                               level, level);
        run r = begin(json, 1, 1);
        steps_to(&r, 2);
        assert_int_equal(count_nature(&r, TH_MIND_PANICS), level < 0 ? 25 : level == 0 ? 10 : 15);
        finish(&r);
    }
}

// Moods in words for pictures and pages: what the mind and the move model tell, and the phase.
static void moods_are_told(void **state) {
    (void)state;
    run r = begin(TH_JSON({"levels":[{"walkable":{"rect":[0,0,30,8]}}],"exits":[{"id":"a","line":[[30,3],[30,5]]}],
        "groups":[{"id":"calm","positions":[[2,2]],"to":"a","premovement":100},
          {"id":"scared","positions":[[12,2]],"to":"a","premovement":100,"behave":{"model":"hidac","alarm_time":0,"alarm_share":1}},
          {"id":"runs","positions":[[22,2]],"to":"a","premovement":100,"move":{"model":"hidac","panic":1}},
          {"id":"lies","positions":[[22,6]],"to":"a","move":{"model":"hidac","lies":1}},
          {"id":"jam","positions":[[2,6]],"to":"a","premovement":100,"behave":"hidac"}]}),
                                                              1, 1);
    steps_to(&r, 3);
    int jammed = th_world_field(r.world, "behave/hidac.jammed");
    float *jam = th_world_map(r.world, jammed, TH_ACCESS_WRITE);
    jam[4] = 60.0f;
    th_world_unmap(r.world, jammed);
    uint8_t moods[5];
    th_world_moods(r.world, moods);
    static const th_mood wanted[] = {TH_MOOD_CALM, TH_MOOD_PANICS, TH_MOOD_PANICS, TH_MOOD_FALLEN,
                                     TH_MOOD_IMPATIENT};
    for (int k = 0; k < 5; ++k)
        assert_string_equal(th_mood_name((th_mood)moods[k]), th_mood_name(wanted[k]));
    finish(&r);
}

// Outgoing people talk from farther off, follow less and lose patience sooner.
static void what_extraversion_does(void **state) {
    (void)state;
    th_mind_params p = {.talk_range = 2, .followers = 0.5f, .impatience = 0.5f, .patience = 10};
    th_temper out = {.extraversion = 1}, shy = {.extraversion = -1};
    assert_near(th_mind_talk_range(&p, &out), 3.0, 1e-6);
    assert_near(th_mind_talk_range(&p, &shy), 1.0, 1e-6);
    assert_near(th_mind_follows(&p, &out), 0.25, 1e-6);
    assert_near(th_mind_follows(&p, &shy), 0.75, 1e-6);
    assert_near(th_mind_impatience(&p, &out, false), 0.8, 1e-6);
    assert_near(th_mind_impatience(&p, &shy, false), 0.2, 1e-6);
}

// The level of agents that see a lying agent, that are packed, that see people in panic for good by the move model, and
// that talk with an agent in panic.
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

static void sights_frighten(void **state) {
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
             "\"radius\":0.15,\"behave\":{\"model\":\"hidac\",\"panic_by_pushing\":0,"
             "\"panic_by_density\":0.2}}");
    assert_true(highest_level(groups, 8) > 0.3f);
}

// Talk with an agent in panic keeps others from calming down; alone it frightens no agent.
static void panic_is_heard_of(void **state) {
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
static void share_of_an_alarm(void **state) {
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

// Panic of the mind is panic of the body: agents in panic run.
static void panic_reaches_the_move_model(void **state) {
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

// Personality decides which agents push: by adjective and by factor.
static void manners_reach_the_move_model(void **state) {
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(panic_spreads_and_calms),
        cmocka_unit_test(panic_is_seen_from_afar),
        cmocka_unit_test(panic_does_not_pass_walls),
        cmocka_unit_test(panic_wears_off),
        cmocka_unit_test(a_packed_queue_stays_calm),
        cmocka_unit_test(alarms_are_heard_on_their_level),
        cmocka_unit_test(what_extraversion_does),
        cmocka_unit_test(moods_are_told),
        cmocka_unit_test(what_frightens),
        cmocka_unit_test(sights_frighten),
        cmocka_unit_test(panic_is_heard_of),
        cmocka_unit_test(share_of_an_alarm),
        cmocka_unit_test(panic_reaches_the_move_model),
        cmocka_unit_test(manners_reach_the_move_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
