// The numbers of all runs: queues and waits at openings, groups and profiles, worst runs, causes of people who stayed, and
// when the runs are enough. SPDX-License-Identifier: Apache-2.0
#include "observe/ensemble.h"
#include "observe/findings.h"
#include "observe/quantities.h"
#include "support.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static th_observer *observe(const th_scene *scene, uint64_t seed, double end) {
    th_world *world = world_of(scene, 1, seed);
    th_observer_def def = th_observer_def_default();
    th_observer *observer = NULL;
    assert_int_equal(th_observer_create(world, &def, &observer, NULL), TH_OK);
    assert_int_equal(th_observer_see(observer, world, NULL), TH_OK);
    while (th_world_time(world) < end && !th_world_done(world)) {
        th_world_step(world, 1);
        assert_int_equal(th_observer_see(observer, world, NULL), TH_OK);
    }
    assert_int_equal(th_observer_finish(observer, world, NULL), TH_OK);
    th_world_destroy(world);
    return observer;
}

static const th_counter *counter_of(const th_observation *o, th_counter_kind kind) {
    for (int c = 0; c < o->counter_count; ++c)
        if (o->counters[c].kind == kind) return &o->counters[c];
    fail_msg("no such counter");
    return NULL;
}

// Two rooms with a narrow door between them, and an exit that is wider.
static const char rooms[] = TH_JSON(
    {"levels":[{"walkable":{"rect":[0,0,16,8]}, "walls":[[[8,0],[8,3.6]],[[8,4.4],[8,8]]]}],
    "doors":[{"id":"gate", "line":[[8,3.6],[8,4.4]]}],
    "exits":[{"id":"out", "line":[[16,3],[16,5]]}],
    "groups":[{"id":"crowd", "count":60, "area":{"rect":[1,1,7,7]},
        "profiles":{"adult":0.75, "stick":0.25}}]});

static void queue_is_who_waits(void **state) {
    (void)state;
    th_scene *scene = scene_of(rooms);
    th_observer *observer = observe(scene, 1, 300);
    const th_observation *o = th_observer_observation(observer);
    const th_counter *gate = counter_of(o, TH_COUNT_DOOR), *out = counter_of(o, TH_COUNT_EXIT);
    assert_int_equal(gate->pass_count, gate->forward_total + gate->backward_total);
    assert_int_equal(gate->pass_count, 60);
    assert_int_equal(out->pass_count, 60);
    uint32_t longest = 0;
    for (int k = 0; k < o->sample_count; ++k) {
        uint32_t waiting = 0;
        for (int p = 0; p < gate->pass_count; ++p) {
            const th_pass *pass = &gate->passes[p];
            double since = (double)(pass->time - pass->wait);
            waiting += since <= k + 1e-3 && k < (double)pass->time - 1e-3;
        }
        assert_int_equal(gate->queue[k], waiting);
        if (waiting > longest) longest = waiting;
        // Whoever waits has not passed yet.
        assert_true(gate->queue[k] + gate->forward[k] <= 60);
    }
    assert_true(longest > 20); // 0.8 m let one person per second pass
    // The queue before the gate is not the exit's.
    for (int k = 0; k < o->sample_count; ++k) assert_true(out->queue[k] < longest / 3);
    th_observer_destroy(observer);
    th_scene_destroy(scene);
}

static double value(const th_quantities *all, const char *of, const char *id, const char *name,
                    int run) {
    const th_quantity *q = th_quantities_find(all, of, id, name);
    if (!q) fail_msg("no %s %s %s", of, id, name);
    return q->values[run];
}

static void all_runs_are_in_it(void **state) {
    (void)state;
    enum { RUNS = 3 };
    th_scene *scene = scene_of(rooms);
    th_ensemble ensemble;
    double last[RUNS];
    uint64_t seen = 0;
    th_ensemble_init(&ensemble);
    for (int r = 0; r < RUNS; ++r) {
        th_observer *observer = observe(scene, (uint64_t)r + 1, 300);
        th_observation *o = th_observer_observation(observer);
        last[r] = counter_of(o, TH_COUNT_DOOR)->last_time;
        seen += (uint64_t)counter_of(o, TH_COUNT_DOOR)->pass_count;
        assert_int_equal(th_ensemble_add(&ensemble, o, NULL), TH_OK);
        th_observer_destroy(observer);
    }
    const th_quantities *all = &ensemble.quantities;
    assert_int_equal(all->runs, RUNS);
    int worst = 0;
    for (int r = 0; r < RUNS; ++r) {
        assert_near(value(all, "door", "gate", "last", r), last[r], 1e-9);
        assert_near(value(all, "exit", "out", "last", r), ensemble.runs[r].egress_time, 1e-9);
        // Each person is of one profile, and the last of all is the last of one of them.
        double people = value(all, "profile", "adult", "people", r) +
                        value(all, "profile", "stick", "people", r);
        assert_near(people, 60, 0);
        assert_near(fmax(value(all, "profile", "adult", "last out", r),
                         value(all, "profile", "stick", "last out", r)),
                    ensemble.runs[r].egress_time, 1e-3);
        if (last[r] > last[worst]) worst = r;
    }
    const th_quantity *q = th_quantities_find(all, "door", "gate", "last");
    assert_int_equal(th_quantity_worst(all, q), worst);
    assert_near(th_quantity_summary(all, q).mean, (last[0] + last[1] + last[2]) / 3, 1e-9);
    // Added up in bins: as many as were seen to pass, also those that turned round the jamb between two samples.
    uint64_t passed = 0;
    int gate = 0;
    while (ensemble.first->counters[gate].kind != TH_COUNT_DOOR) gate++;
    for (int b = 0; b < ensemble.queues[gate].bins; ++b) passed += ensemble.queues[gate].passed[b];
    assert_int_equal(passed, seen);
    assert_int_equal(seen, 60 * RUNS);
    th_ensemble_release(&ensemble);
    th_scene_destroy(scene);
}

static void stairs_are_counted(void **state) {
    (void)state;
    th_scene *scene = scene_file("scenes/templates/stairs.json");
    th_observer *observer = observe(scene, 1, 300);
    const th_observation *o = th_observer_observation(observer);
    const th_counter *flight = counter_of(o, TH_COUNT_STAIRS);
    assert_int_equal(flight->forward_total, 0);
    assert_int_equal(flight->backward_total, 150);
    assert_int_equal(flight->backward[o->sample_count - 1], 150);
    assert_int_equal(flight->pass_count, 150);
    th_observer_destroy(observer);
    th_scene_destroy(scene);
}

// ---- why people stayed

static th_failure failure_of(const char *json, double end, char *words, size_t size) {
    th_scene *scene = scene_of(json);
    th_observer *observer = observe(scene, 1, end);
    th_run_summary run;
    assert_true(th_run_summarise(th_observer_observation(observer), &run));
    th_failure_words(th_scene_view_of(scene), &run.failure, words, size);
    free(run.left_curve);
    th_observer_destroy(observer);
    th_scene_destroy(scene);
    return run.failure;
}

static void true_cause_is_told(void **state) {
    (void)state;
    char words[400];
    // A door that shuts before they come.
    th_failure failure = failure_of(TH_JSON({"levels":[{"walkable":{"rect":[0,0,10,4]}}],
            "exits":[{"id":"out", "line":[[10,1],[10,3]], "schedule":[{"time":2, "open":false}]}],
            "groups":[{"id":"p", "count":5, "area":{"rect":[0.5,0.5,3,3.5]}}]}),
                                                 90, words, sizeof words);
    assert_int_equal(failure.counts[TH_LEFT_SHUT], 5);
    // They stand still until after the end.
    failure = failure_of(TH_JSON({"levels":[{"walkable":{"rect":[0,0,10,4]}}],
            "exits":[{"id":"out", "line":[[10,1],[10,3]]}],
            "groups":[{"id":"p", "count":5, "area":{"rect":[0.5,0.5,3,3.5]},
                "premovement":100}]}),
                                                      30, words, sizeof words);
    assert_int_equal(failure.counts[TH_LEFT_STANDING], 5);
    // Too early an end.
    failure = failure_of(TH_JSON({"levels":[{"walkable":{"rect":[0,0,60,4]}}],
            "exits":[{"id":"out", "line":[[60,1],[60,3]]}],
            "groups":[{"id":"p", "count":5, "area":{"rect":[0.5,0.5,3,3.5]}}]}),
                             10, words, sizeof words);
    assert_int_equal(failure.counts[TH_LEFT_WALKING], 5);
    assert_non_null(strstr(words, "still walking"));
}

static void head_of_jam_is_the_wheelchair(void **state) {
    (void)state;
    char words[400];
    // A wheelchair in a corridor that is hardly wider, before a gap that the others would fit through.
    th_failure failure = failure_of(TH_JSON({"levels":[{"walkable":{"rect":[0,0,20,0.9]}, "obstacles":[
                {"rect":[16,0,16.2,0.18]}, {"rect":[16,0.72,16.2,0.9]}]}],
            "exits":[{"id":"out", "line":[[20,0.02],[20,0.88]]}],
            "groups":[{"id":"chair", "positions":[[15,0.45]], "radius":0.4, "rigid":true,
                "to":"out"},
                {"id":"p", "count":6, "area":{"rect":[0.5,0.25,9,0.65]}, "to":"out"}]}),
                             200, words, sizeof words);
    assert_int_equal(failure.counts[TH_LEFT_TOO_WIDE], 1);
    assert_int_equal(failure.counts[TH_LEFT_SHUT], 0);
    assert_int_equal(failure.counts[TH_LEFT_WEDGED], 6);
    assert_non_null(strstr(words, "group \"chair\" (0.80 m wide): wider than every way"));
}

// ---- how many runs are enough

static void add_run(th_ensemble *ensemble, th_run_summary *run, uint32_t *curve, double egress) {
    int samples = (int)egress + 1;
    for (int k = 0; k < samples; ++k) curve[k] = (uint32_t)(100.0 * k / egress);
    *run = (th_run_summary){.egress_time = egress,
                            .p95_time = 0.95 * egress,
                            .spawned = 100,
                            .left = 100,
                            .done = true,
                            .sample_count = samples,
                            .left_curve = curve};
    ensemble->run_count++;
}

static void advice_follows_the_spread(void **state) {
    (void)state;
    enum { RUNS = 40 };
    static uint32_t curves[RUNS][400];
    th_run_summary runs[RUNS];
    th_convergence c;
    // Runs alike: the first ten changes are nothing.
    th_ensemble ensemble = {.runs = runs, .interval = 1};
    for (int r = 0; r < RUNS; ++r) add_run(&ensemble, &runs[r], curves[r], 200);
    assert_true(th_convergence_make(&ensemble, &c));
    assert_int_equal(c.mean_at, 1 + TH_CONVERGED_RUNS);
    assert_int_equal(c.curve_at, 1 + TH_CONVERGED_RUNS);
    assert_near(c.steps[RUNS - 1].distance, 0, 1e-12);
    assert_near(c.steps[RUNS - 1].secant, 0, 1e-12);
    th_convergence_release(&c);
    // Every other run takes half as long again: 200 and 300 s, whose deviation is known.
    ensemble.run_count = 0;
    for (int r = 0; r < RUNS; ++r) add_run(&ensemble, &runs[r], curves[r], r % 2 ? 300 : 200);
    assert_true(th_convergence_make(&ensemble, &c));
    assert_true(c.mean_at == 0 || c.mean_at > 20);
    double deviation = 50 * sqrt(RUNS / (RUNS - 1.0)), half = 1.96 * deviation / (0.01 * 250);
    assert_int_equal(c.needed, (int)ceil(half * half));
    // Curves of the same shape, longer by the ratio of the means: 250 after 300 and 200.
    assert_near(c.steps[1].distance, 0.25, 0.01);
    assert_near(c.steps[1].projection, 0.25, 0.01);
    assert_near(c.steps[1].secant, 0, 0.01);
    th_convergence_release(&c);
}

// ---- maps over time

static const th_map *map_of(th_observer *observer) {
    return &th_observer_observation(observer)->maps[0];
}

static double frame_sum(const th_map_frames *frames, const float *values, int frame, int block) {
    double sum = 0;
    for (int f = 0; f < TH_FRAMES; ++f)
        if (frame < 0 || f == frame) sum += (double)values[f * frames->nx * frames->ny + block];
    return sum;
}

// The stretches of time hold what the whole map holds, in as few as the run fits.
static void frames_add_up(void **state) {
    (void)state;
    th_scene *scene = scene_of(rooms);
    th_observer *observer = observe(scene, 1, 300);
    const th_map *map = map_of(observer);
    const th_map_frames *frames = &map->frames;
    int samples = th_observer_observation(observer)->sample_count;
    assert_int_equal(frames->samples, samples);
    assert_true(samples > TH_FRAMES * TH_FRAME_SAMPLES); // halved at least once
    assert_true(frames->width * TH_FRAMES >= samples);
    assert_true(frames->width * TH_FRAMES / 2 < samples);
    double early = 0, late = 0;
    for (int b = 0; b < frames->nx * frames->ny; ++b) {
        assert_near(frame_sum(frames, frames->density, -1, b), map->density_sum[b], 1e-3);
        assert_near(frame_sum(frames, frames->speed, -1, b), map->speed_sum[b], 1e-3);
        assert_near(frame_sum(frames, frames->walkers, -1, b), map->walker_count[b], 1e-9);
        early += frame_sum(frames, frames->walkers, 0, b);
        late += frame_sum(frames, frames->walkers, (samples - 1) / frames->width, b);
    }
    assert_true(early > 2 * late && late > 0); // people leave
    th_observer_destroy(observer);
    th_scene_destroy(scene);
}

// Runs of different length add up over the same times.
static void frames_of_runs_add_up(void **state) {
    (void)state;
    th_scene *scene = scene_of(rooms);
    th_ensemble ensemble;
    double early = 0;
    int width = 0;
    th_ensemble_init(&ensemble);
    static const double ends[] = {30, 300, 15};
    for (int r = 0; r < 3; ++r) {
        th_observer *observer = observe(scene, 1, ends[r]);
        const th_map_frames *frames = &map_of(observer)->frames;
        for (int b = 0; b < frames->nx * frames->ny; ++b)
            for (int f = 0; f * frames->width < 20; ++f)
                early += frame_sum(frames, frames->walkers, f, b);
        if (frames->width > width) width = frames->width;
        assert_int_equal(th_ensemble_add(&ensemble, th_observer_observation(observer), NULL),
                         TH_OK);
        th_observer_destroy(observer);
    }
    const th_map_frames *all = &ensemble.maps[0].frames;
    double found = 0;
    assert_int_equal(all->width, width);
    assert_int_equal(20 % width, 0);
    for (int b = 0; b < all->nx * all->ny; ++b)
        for (int f = 0; f * width < 20; ++f) found += frame_sum(all, all->walkers, f, b);
    assert_near(found, early, 1e-9);
    th_ensemble_release(&ensemble);
    th_scene_destroy(scene);
}

// A chosen time shows the people of that moment, and nothing else is kept.
static void chosen_times_are_moments(void **state) {
    (void)state;
    char text[1200];
    size_t length = strlen(rooms);
    snprintf(text, sizeof text, "%.*s, \"measure\":{\"map_times\":[0, 7, 1000]}}", (int)length - 1,
             rooms);
    th_scene *scene = scene_of(text);
    th_observer *observer = observe(scene, 1, 300);
    const th_observation *o = th_observer_observation(observer);
    const th_map_frames *frames = &o->maps[0].frames;
    double people[3] = {0};
    for (int f = 0; f < 3; ++f)
        for (int b = 0; b < frames->nx * frames->ny; ++b)
            people[f] +=
                frame_sum(frames, frames->density, f, b) * 0.25 * (double)o->maps[0].walkable[b];
    assert_int_equal(frames->chosen, 3);
    assert_near(people[0], o->inside[0], 0.02 * o->inside[0]);
    assert_near(people[1], o->inside[7], 0.02 * o->inside[7]);
    assert_near(people[2], 0, 0); // the run has ended
    th_observer_destroy(observer);
    th_scene_destroy(scene);
    th_error error = {0};
    scene = NULL;
    snprintf(text, sizeof text, "%.*s, \"measure\":{\"map_times\":[7, 3]}}", (int)length - 1,
             rooms);
    assert_int_equal(th_scene_load_json(text, strlen(text), "t.json", NULL, NULL, &scene, &error),
                     TH_BAD_SCENE);
    assert_string_equal(error.path, "measure.map_times[1]");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queue_is_who_waits),
        cmocka_unit_test(all_runs_are_in_it),
        cmocka_unit_test(frames_add_up),
        cmocka_unit_test(frames_of_runs_add_up),
        cmocka_unit_test(chosen_times_are_moments),
        cmocka_unit_test(stairs_are_counted),
        cmocka_unit_test(true_cause_is_told),
        cmocka_unit_test(head_of_jam_is_the_wheelchair),
        cmocka_unit_test(advice_follows_the_spread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
