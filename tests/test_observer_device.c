// Watching a world on a device, whose samples are counted while it steps on, gives what watching the CPU gives.
// SPDX-License-Identifier: Apache-2.0
#include "device_world.h"
#include "observe/observer.h"

static const char hall[] = TH_JSON(
    {"levels":[{"id":"hall", "walkable":{"rect":[0,0,30,14]},
        "walls":[[[20,0],[20,6]],[[20,8],[20,14]]]}],
    "doors":[{"id":"gate", "line":[[20,8],[20,6]], "schedule":[{"time":6, "open":false},
        {"time":10, "open":true}]}],
    "exits":[{"id":"east", "line":[[30,5],[30,9]]}, {"id":"west",
        "area":{"rect":[0,5,1,9]}}],
    "groups":[{"id":"a", "count":80, "area":{"rect":[2,1,9,13]}, "to":"east"}, {"id":"b",
        "count":40, "area":{"rect":[21,1,28,13]}, "to":"west", "move":"uic"}, {"id":"c",
        "area":{"rect":[10,10,13,13]}, "source":{"rate":3, "from":1, "until":8},
        "to":"west"}],
    "measure":{"lines":[{"id":"middle", "line":[[15,0],[15,14]]}],
        "areas":[{"id":"before", "area":{"rect":[17,5,20,9]}}]},
    "run":{"step":0.1, "seed":5}});

typedef struct watched {
    th_world *world;
    th_observer *observer;
} watched;

static watched watch(const th_scene *scene, th_backend backend, int threads) {
    watched w = {device_world(scene, backend), NULL};
    th_observer_def def = th_observer_def_default();
    def.threads = threads;
    assert_int_equal(th_observer_create(w.world, &def, &w.observer, NULL), TH_OK);
    assert_int_equal(th_observer_see(w.observer, w.world, NULL), TH_OK);
    return w;
}

static void step(watched w, int steps) {
    for (int s = 0; s < steps; ++s) {
        th_world_step(w.world, 1);
        assert_int_equal(th_observer_see(w.observer, w.world, NULL), TH_OK);
    }
}

static void *bytes_of(watched w, size_t *size) {
    void *bytes = NULL;
    assert_int_equal(th_observer_save(w.observer, &bytes, size, NULL), TH_OK);
    return bytes;
}

static void end(watched w) {
    th_observer_destroy(w.observer);
    th_world_destroy(w.world);
}

static void a_device_is_seen_as_the_cpu_is(void **state) {
    (void)state;
    th_scene *scene = device_scene(hall);
    watched cpu = watch(scene, TH_BACKEND_CPU, 1), device = watch(scene, TH_BACKEND_CUDA, 2);
    size_t size, device_size;
    for (int part = 0; part < 3;
         ++part) { // at a sample, between two, and when the gate has been shut
        step(cpu, part == 1 ? 84 : 80);
        step(device, part == 1 ? 84 : 80);
        void *bytes = bytes_of(cpu, &size), *device_bytes = bytes_of(device, &device_size);
        assert_int_equal(size, device_size);
        assert_memory_equal(bytes, device_bytes, size);
        free(bytes);
        free(device_bytes);
    }
    assert_int_equal(th_observer_finish(cpu.observer, cpu.world, NULL), TH_OK);
    assert_int_equal(th_observer_finish(device.observer, device.world, NULL), TH_OK);
    const th_observation *a = th_observer_observation(cpu.observer),
                         *b = th_observer_observation(device.observer);
    assert_true(a->statistics.left > 40);
    assert_int_equal(a->hash, b->hash);
    assert_int_equal(a->sample_count, b->sample_count);
    assert_memory_equal(a->people, b->people, (size_t)a->person_count * sizeof *a->people);
    end(cpu);
    end(device);
    th_scene_destroy(scene);
}

// The display asks every step; that must not wait, nor show what is not counted yet.
static void the_newest_counts_are_of_the_last_sample(void **state) {
    (void)state;
    th_scene *scene = device_scene(hall);
    watched device = watch(scene, TH_BACKEND_CUDA, 2);
    step(device, 25);
    th_observer_counts counts = th_observer_latest(device.observer);
    const th_observation *o = th_observer_observation(device.observer);
    assert_int_equal(counts.samples, 3);
    assert_int_equal(o->sample_count, 3);
    assert_int_equal(counts.inside, o->inside[2]);
    end(device);
    th_scene_destroy(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_device_is_seen_as_the_cpu_is),
        cmocka_unit_test(the_newest_counts_are_of_the_last_sample),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
