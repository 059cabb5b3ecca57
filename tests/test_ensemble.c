// Many runs: added up against runs by hand.
// SPDX-License-Identifier: Apache-2.0
#include "observe/ensemble.h"
#include "observe/observer.h"
#include "support.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- runs

static const char room[] = TH_JSON(
    {"levels":[{"id":"room", "walkable":{"rect":[0,0,8,8]}}],
    "exits":[{"id":"out", "line":[[8,3.5],[8,4.5]]}],
    "groups":[{"id":"p", "count":60, "area":{"rect":[1,1,6,7]}, "to":"out"}]});

static th_observer *observe(const th_scene *scene, uint64_t seed, int steps) {
    th_world *world = world_of(scene, 1, seed);
    th_observer_def def = th_observer_def_default();
    th_observer *observer = NULL;
    assert_int_equal(th_observer_create(world, &def, &observer, NULL), TH_OK);
    assert_int_equal(th_observer_see(observer, world, NULL), TH_OK);
    for (int s = 0; s < steps && !th_world_done(world); ++s) {
        th_world_step(world, 1);
        assert_int_equal(th_observer_see(observer, world, NULL), TH_OK);
    }
    assert_int_equal(th_observer_finish(observer, world, NULL), TH_OK);
    th_world_destroy(world);
    return observer;
}

static void runs_added_up(void **state) {
    (void)state;
    enum { RUNS = 4, CELLS = 256 };
    th_scene *scene = scene_of(room);
    th_ensemble ensemble;
    assert_int_equal(th_ensemble_init(&ensemble), TH_OK);
    double egress[RUNS], density[CELLS] = {0}, highest[CELLS] = {0}, jam = 0.0, p95[RUNS];
    int64_t samples = 0;
    for (int r = 0; r < RUNS; ++r) {
        th_observer *observer = observe(scene, (uint64_t)r + 1, 2000);
        th_observation *o = th_observer_observation(observer);
        egress[r] = th_egress_time(o);
        assert_true(egress[r] > 10.0);
        assert_int_equal(o->maps[0].nx * o->maps[0].ny, CELLS);
        for (int c = 0; c < CELLS; ++c) {
            density[c] += o->maps[0].density_sum[c];
            highest[c] = fmax(highest[c], (double)o->maps[0].density_max[c]);
            jam += o->maps[0].jam_time[c];
        }
        int used = o->use_sample_count;
        samples += used;
        // 57 of 60 are 95 %: three leave later than that.
        int later = 0;
        assert_int_equal(th_ensemble_add(&ensemble, o, NULL), TH_OK);
        p95[r] = ensemble.runs[r].p95_time;
        // The first sample at which 95 % have left is the last one in use.
        assert_true((used - 1) * ensemble.interval >= p95[r] - 0.06 &&
                    (used - 2) * ensemble.interval < p95[r]);
        const th_observation *full = r == 0 ? ensemble.first : o;
        for (int p = 0; p < full->person_count; ++p)
            later += (double)full->people[p].end_time > p95[r] + 1e-3;
        assert_true(later <= 3);
        assert_true(p95[r] < egress[r] + 1e-4 && p95[r] > 0.5 * egress[r]);
        th_observer_destroy(observer);
    }
    assert_int_equal(ensemble.run_count, RUNS);
    assert_int_equal(ensemble.use_samples, samples);
    double mean = 0.0, summed_jam = 0.0;
    for (int r = 0; r < RUNS; ++r) {
        const th_run_summary *run = &ensemble.runs[r];
        mean += egress[r] / RUNS;
        assert_int_equal(run->seed, r + 1);
        assert_int_equal(run->left, 60);
        assert_near(run->egress_time, egress[r], 0.0);
        assert_int_equal(run->left_curve[0], 0);
        assert_true(run->left_curve[run->sample_count - 1] <= 60);
        assert_true(run->max_density > 1.0 && run->max_density < 8.0);
    }
    for (int c = 0; c < CELLS; ++c) {
        assert_near(ensemble.maps[0].density_sum[c], density[c], 1e-9);
        assert_near((double)ensemble.maps[0].density_max[c], highest[c], 1e-6);
        summed_jam += ensemble.maps[0].jam_time[c];
    }
    assert_near(summed_jam, jam, 1e-6);
    assert_near(th_ensemble_egress(&ensemble).mean, mean, 1e-9);
    assert_true(ensemble.first->maps != ensemble.maps);
    assert_true(ensemble.first->maps[0].density_sum[130] <= ensemble.maps[0].density_sum[130]);
    th_ensemble_release(&ensemble);
    th_scene_destroy(scene);
}

// A run that is stopped has no egress time and does not change the mean of the others.
static void unfinished_run(void **state) {
    (void)state;
    th_scene *scene = scene_of(room);
    th_ensemble ensemble;
    th_ensemble_init(&ensemble);
    for (int r = 0; r < 2; ++r) {
        th_observer *observer = observe(scene, 1, r == 0 ? 50 : 2000);
        assert_int_equal(th_ensemble_add(&ensemble, th_observer_observation(observer), NULL),
                         TH_OK);
        th_observer_destroy(observer);
    }
    assert_true(isnan(ensemble.runs[0].egress_time) && isnan(ensemble.runs[0].p95_time));
    assert_false(ensemble.runs[0].done);
    th_sample_summary egress = th_ensemble_egress(&ensemble);
    assert_int_equal(egress.count, 1);
    assert_near(egress.mean, ensemble.runs[1].egress_time, 0.0);
    // Another grid does not fit.
    th_scene *other =
        scene_of(TH_JSON(
            {"levels":[{"id":"room", "walkable":{"rect":[0,0,9,8]}}],
            "exits":[{"id":"out", "line":[[9,3.5],[9,4.5]]}],
            "groups":[{"id":"p", "count":5, "to":"out"}]}));
    th_observer *observer = observe(other, 1, 10);
    th_error error = {0};
    assert_int_equal(th_ensemble_add(&ensemble, th_observer_observation(observer), &error),
                     TH_BAD_ARGUMENT);
    assert_int_equal(ensemble.run_count, 2);
    th_observer_destroy(observer);
    th_ensemble_release(&ensemble);
    th_scene_destroy(other);
    th_scene_destroy(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_added_up),
        cmocka_unit_test(unfinished_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
