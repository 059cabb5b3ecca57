// Watching a run: sample times, counts against a count by hand, maps against known crowds, phases of people, saving and
// restoring. SPDX-License-Identifier: Apache-2.0
#include "observe/observer.h"
#include "observe/observer_parts.h"
#include "support.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// A hall in two halves with a gate that shuts for a while, a source, two measurement lines (one
// slanted), an area, a scripted walker and a waiting area on an agent's way.
static const char hall[] = TH_JSON(
    {"levels":[{"id":"hall", "walkable":{"rect":[0,0,30,14]},
        "walls":[[[20,0],[20,6]],[[20,8],[20,14]]]}],
    "doors":[{"id":"gate", "line":[[20,8],[20,6]], "schedule":[{"time":6, "open":false},
        {"time":10, "open":true}]}],
    "exits":[{"id":"east", "line":[[30,5],[30,9]]}, {"id":"west",
        "area":{"rect":[0,5,1,9]}}],
    "waiting_areas":[{"id":"kiosk", "area":{"rect":[14,1,18,4]}, "wait":3}],
    "groups":[{"id":"a", "count":80, "area":{"rect":[2,1,9,13]}, "to":"east"}, {"id":"b",
        "count":40, "area":{"rect":[21,1,28,13]}, "to":"west"}, {"id":"c", "count":10,
        "area":{"rect":[10,1,13,4]}, "route":["kiosk", "west"]}, {"id":"d",
        "area":{"rect":[10,10,13,13]}, "source":{"rate":3, "from":1, "until":8},
        "to":"west"}],
    "scripted":[{"id":"guard", "path":[[0,17,1],[10,17,13]]}],
    "measure":{"lines":[{"id":"middle", "line":[[15,0],[15,14]]}, {"id":"slanted",
        "line":[[4,2],[27,12]]}], "areas":[{"id":"before", "area":{"rect":[17,5,20,9]}}]},
    "run":{"step":0.1, "seed":5}});

static th_observer *observer_of(th_world *world) {
    th_observer_def def = th_observer_def_default();
    def.track_count = 40;
    th_observer *observer = NULL;
    th_error error = {0};
    if (th_observer_create(world, &def, &observer, &error) != TH_OK) fail_msg("%s", error.message);
    return observer;
}

static void see(th_observer *observer, th_world *world) {
    th_error error = {0};
    if (th_observer_see(observer, world, &error) != TH_OK) fail_msg("%s", error.message);
}

static void watch(th_observer *observer, th_world *world, int steps) {
    for (int s = 0; s < steps; ++s) {
        th_world_step(world, 1);
        see(observer, world);
    }
}

static th_observation *finish(th_observer *observer, th_world *world) {
    th_error error = {0};
    if (th_observer_finish(observer, world, &error) != TH_OK) fail_msg("%s", error.message);
    return th_observer_observation(observer);
}

static const th_counter *counter_of(const th_observation *o, const char *id) {
    for (int c = 0; c < o->counter_count; ++c)
        if (strcmp(o->counters[c].id, id) == 0) return &o->counters[c];
    fail_msg("no counter %s", id);
    return NULL;
}

// ---- counts against a count by hand

enum { HAND_PEOPLE = 1024 };
typedef struct hand_line {
    double ax, ay, bx, by;
    int forward, backward;
} hand_line;
typedef struct hand_count {
    double x[HAND_PEOPLE], y[HAND_PEOPLE];
    bool there[HAND_PEOPLE];
} hand_count;

static double side(double ax, double ay, double bx, double by, double x, double y) {
    return (bx - ax) * (y - ay) - (by - ay) * (x - ax);
}

static void cross_by_hand(hand_line *l, double px, double py, double qx, double qy) {
    double before = side(l->ax, l->ay, l->bx, l->by, px, py),
           after = side(l->ax, l->ay, l->bx, l->by, qx, qy);
    double a = side(px, py, qx, qy, l->ax, l->ay), b = side(px, py, qx, qy, l->bx, l->by);
    if ((a > 0) == (b > 0)) return;
    l->forward += before <= 0 && after > 0;
    l->backward += before > 0 && after <= 0;
}

static void count_by_hand(hand_count *hand, th_world *world, hand_line *lines, int line_count) {
    bool there[HAND_PEOPLE] = {0};
    const uint32_t *id = th_world_map(world, TH_FIELD_ID, TH_ACCESS_READ);
    const float *x = th_world_map(world, TH_FIELD_POSITION_X, TH_ACCESS_READ);
    const float *y = th_world_map(world, TH_FIELD_POSITION_Y, TH_ACCESS_READ);
    for (int i = 0; i < th_world_agent_count(world); ++i) {
        uint32_t k = id[i];
        assert_true(k < HAND_PEOPLE);
        for (int l = 0; hand->there[k] && l < line_count; ++l)
            cross_by_hand(&lines[l], hand->x[k], hand->y[k], (double)x[i], (double)y[i]);
        hand->x[k] = (double)x[i];
        hand->y[k] = (double)y[i];
        there[k] = true;
    }
    memcpy(hand->there, there, sizeof there);
}

static void counts_by_hand(void **state) {
    (void)state;
    th_scene *scene = scene_of(hall);
    th_world *world = world_of(scene, 2, 0);
    th_observer *observer = observer_of(world);
    see(observer, world);
    hand_line lines[] = {{15, 0, 15, 14, 0, 0}, {4, 2, 27, 12, 0, 0}, {20, 8, 20, 6, 0, 0}};
    hand_count *hand = calloc(1, sizeof *hand);
    count_by_hand(hand, world, lines, 3);
    for (int s = 0; s < 400; ++s) {
        watch(observer, world, 1);
        count_by_hand(hand, world, lines, 3);
    }
    th_observation *o = finish(observer, world);
    const char *names[] = {"middle", "slanted", "gate"};
    for (int l = 0; l < 3; ++l) {
        const th_counter *counter = counter_of(o, names[l]);
        assert_int_equal(counter->forward_total, lines[l].forward);
        assert_int_equal(counter->backward_total, lines[l].backward);
        assert_true(lines[l].forward > 20 && lines[l].backward > 20);
        assert_int_equal(counter->forward[o->sample_count - 1], counter->forward_total); // at 40 s
    }
    assert_near(counter_of(o, "gate")->width, 2.0, 1e-6);
    assert_int_equal(counter_of(o, "gate")->kind, TH_COUNT_DOOR);
    assert_near(counter_of(o, "east")->width, 4.0, 1e-6);
    assert_near(counter_of(o, "west")->width, 0.0, 0.0);
    const th_counter *gate = counter_of(o, "gate");
    for (int k = 7; k <= 10; ++k) { // shut
        assert_int_equal(gate->forward[k], gate->forward[6]);
        assert_int_equal(gate->backward[k], gate->backward[6]);
    }
    assert_int_equal(counter_of(o, "east")->forward_total + counter_of(o, "west")->forward_total,
                     o->statistics.left);
    free(hand);
    th_observer_destroy(observer);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// ---- when samples are taken

static void sample_times(void **state) {
    (void)state;
    th_scene *scene = scene_of(hall);
    th_world_def def = th_world_def_default();
    def.step = 0.03; // no multiple of it is 1 s
    th_world *world = NULL;
    assert_int_equal(th_world_create(scene, &def, &world, NULL), TH_OK);
    th_observer *observer = observer_of(world);
    th_observation *o = th_observer_observation(observer);
    see(observer, world);
    for (int s = 0; s < 150; ++s) {
        int before = o->sample_count;
        watch(observer, world, 1);
        see(observer, world); // looking twice changes nothing
        double time = th_world_time(world);
        if (o->sample_count == before) continue;
        assert_int_equal(o->sample_count, before + 1);
        assert_true(fabs(time - before * o->interval) <= 0.5 * 0.03 + 1e-9);
        th_statistics now = th_world_statistics(world);
        assert_int_equal(o->inside[before], now.inside);
        assert_int_equal(o->left[before], now.left);
        assert_int_equal(o->spawned[before], now.spawned);
    }
    assert_int_equal(o->sample_count, 5); // 0 .. 4 s
    assert_int_equal(o->seed, 5);
    th_observer_destroy(observer);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

static void bad_definitions(void **state) {
    (void)state;
    th_scene *scene = scene_of(hall);
    th_world *world = world_of(scene, 1, 0);
    th_observer *observer = NULL;
    th_error error = {0};
    th_observer_def def = th_observer_def_default();
    def.interval = 0.0;
    assert_int_equal(th_observer_create(world, &def, &observer, &error), TH_BAD_ARGUMENT);
    def = th_observer_def_default();
    def.cell = 0.1;
    assert_int_equal(th_observer_create(world, &def, &observer, &error), TH_BAD_ARGUMENT);
    assert_null(observer);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// ---- maps

static const char room[] = TH_JSON(
    {"levels":[{"id":"room", "walkable":{"rect":[0,0,10,10]}}],
    "exits":[{"id":"out", "line":[[10,4],[10,6]]}],
    "groups":[{"id":"p", "count":1, "area":{"rect":[1,1,2,2]}, "to":"out"}]});

// A square lattice of `density`, turned by `angle` and shifted, put into the map's rectangle.
static int put_lattice(th_map *map, th_map_work *work, double density, double angle, double shift,
                       double min_x, double max_x) {
    double spacing = 1.0 / sqrt(density), c = cos(angle), s = sin(angle);
    int count = 0;
    for (int i = -60; i < 60; ++i) {
        for (int j = -60; j < 60; ++j) {
            double u = (i + shift) * spacing, v = (j + 0.7 * shift) * spacing;
            double x = 5.0 + c * u - s * v, y = 5.0 + s * u + c * v;
            if (!(x > min_x && x < max_x && y > 0.0 && y < 10.0)) continue;
            th_map_put(map, work, &(th_last_seen){.x = (float)x, .y = (float)y, .speed = 1.0f});
            count++;
        }
    }
    return count;
}

// A regular crowd of 4 /m2 at many angles and offsets: the error of single cells away from walls, and the mean error of
// those at walls.
static void density_of_a_lattice(void **state) {
    (void)state;
    enum { CROWD_COUNT = 60 };
    th_scene *scene = scene_of(room);
    double worst = 0.0, squares = 0.0, at_walls = 0.0, mass = 0.0;
    int inner_count = 0, wall_count = 0;
    for (int k = 0; k < CROWD_COUNT; ++k) {
        th_map map = {0};
        th_map_work work = {0};
        assert_true(th_map_create(th_scene_view_of(scene), 0, 0.5, NULL, &map, &work));
        assert_int_equal(map.nx, 20);
        assert_int_equal(map.ny, 20);
        int count = put_lattice(&map, &work, 4.0, 0.11 * k, 0.37 * k + 0.25, 0.0, 10.0);
        th_map_take(&map, &work, 1.0, false);
        double people = 0.0;
        for (int c = 0; c < 400; ++c) {
            int i = c % 20, j = c / 20;
            bool inner = i > 2 && i < 17 && j > 2 && j < 17;
            double error = map.density_sum[c] / 4.0 - 1.0;
            assert_near((double)map.walkable[c], 1.0, 1e-6);
            people += map.density_sum[c] * 0.25;
            inner_count += inner;
            wall_count += !inner;
            if (inner) worst = fmax(worst, fabs(error));
            if (inner) squares += error * error;
            if (!inner) at_walls += error;
        }
        mass += people / count - 1.0;
        th_map_release(&map);
        th_map_work_release(&work);
    }
    double standard = sqrt(squares / inner_count), bias = at_walls / wall_count;
    mass /= CROWD_COUNT;
    print_message("lattice of 4 /m2: standard error %.1f %%, worst %.1f %%, at walls %+.1f %% on "
                  "average, people %+.2f %%\n",
                  100 * standard, 100 * worst, 100 * bias, 100 * mass);
    assert_true(standard < 0.01);
    assert_true(worst < 0.03);
    assert_true(fabs(bias) < 0.01);
    assert_true(fabs(mass) < 0.005);
    th_scene_destroy(scene);
}

// A uniform crowd of many people reads as its density in every cell, corners included: no bias.
static void density_at_walls(void **state) {
    (void)state;
    th_scene *scene = scene_of(
        TH_JSON(
            {"levels":[{"id":"room",
                "walkable":"POLYGON ((0.13 0.21, 9.87 0.4, 9.7 9.6, 5 7.3, 0.3 9.9, 0.13 0.21))"}],
            "exits":[{"id":"out", "area":{"rect":[4,4,5,5]}}],
            "groups":[{"id":"p", "count":1, "area":{"rect":[1,1,2,2]}, "to":"out"}]}));
    th_map map = {0};
    th_map_work work = {0};
    assert_true(th_map_create(th_scene_view_of(scene), 0, 0.5, NULL, &map, &work));
    const int fine = 1000;
    double floor = 0.0;
    int niches = 0;
    for (int k = 0; k < fine * fine; ++k) { // 10000 people per m2, so chance plays no part
        th_vec2 p = {10.0f * ((float)(k % fine) + 0.5f) / (float)fine,
                     10.0f * ((float)(k / fine) + 0.5f) / (float)fine};
        if (th_scene_walkable(scene, 0, p))
            th_map_put(&map, &work, &(th_last_seen){.x = p.x, .y = p.y, .speed = 1.0f});
    }
    th_map_take(&map, &work, 1.0, false);
    for (int c = 0; c < map.nx * map.ny; ++c) {
        floor += (double)(map.walkable[c] * map.cell * map.cell);
        if (map.walkable[c] < 0.05f) continue; // slivers: one fine point more or less shows
        if (work.kernel.floor[c] <
            0.1504f) { // hardly any floor around: taken as 0.15 of the kernel
            niches++;
            assert_true(map.density_sum[c] < 10000.0);
            continue;
        }
        if (fabs(map.density_sum[c] / 10000.0 - 1.0) > 0.04)
            fail_msg("cell %d, %d: %.0f of 10000 people per m2", c % map.nx, c / map.nx,
                     map.density_sum[c]);
    }
    assert_in_range(niches, 1, 4); // the two sharp corners
    assert_near(floor, scene->levels[0].walkable.area, 0.3);
    th_map_release(&map);
    th_map_work_release(&work);
    th_scene_destroy(scene);
}

static void thin_wall_does_not_blur(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON(
        {"levels":[{"id":"room", "walkable":{"rect":[0,0,10,10]},
            "walls":[[[5,0],[5,4]],[[5,6],[5,10]]]}],
        "exits":[{"id":"out", "line":[[10,4],[10,6]]}],
        "groups":[{"id":"p", "count":1, "area":{"rect":[1,1,2,2]}, "to":"out"}]}));
    th_map map = {0};
    th_map_work work = {0};
    assert_true(th_map_create(th_scene_view_of(scene), 0, 0.5, NULL, &map, &work));
    put_lattice(&map, &work, 4.0, 0.0, 0.5, 0.0, 5.0); // the left half
    th_map_take(&map, &work, 2.0, false);
    for (int j = 0; j < 20; ++j) {
        double left = map.density_sum[j * 20 + 9], right = map.density_sum[j * 20 + 10];
        bool wall = (j > 2 && j < 5) || (j > 14 && j < 17),
             gap = j > 8 && j < 11; // the gap's edges are in between
        if (wall) {
            assert_near(left, 4.0, 0.01);
            assert_near(right, 0.0, 0.0);
        }
        if (gap) {
            assert_near(left, 2.75, 0.05); // 5/16 of the kernel look through
            assert_near(right, 1.25, 0.05);
        }
        assert_near(map.dense_time[j * 20 + 9], left > 4.0 ? 2.0 : 0.0, 0.0);
    }
    th_map_release(&map);
    th_map_work_release(&work);
    th_scene_destroy(scene);
}

// At every sample every agent is in exactly one cell of the own level.
static void people_in_maps(void **state) {
    (void)state;
    th_scene *scene = scene_file("scenes/verification/rimea_02_stairs_up.json");
    th_world *world = world_of(scene, 1, 0);
    th_observer *observer = observer_of(world);
    see(observer, world);
    watch(observer, world, 300);
    th_observation *o = finish(observer, world);
    assert_int_equal(o->map_count, scene->level_count);
    double mapped = 0.0, inside = 0.0, outside = 0.0;
    for (int m = 0; m < o->map_count; ++m) {
        outside += o->maps[m].outside_count;
        for (int c = 0; c < o->maps[m].nx * o->maps[m].ny; ++c)
            mapped += o->maps[m].person_count[c];
    }
    for (int k = 0; k < o->sample_count; ++k) inside += o->inside[k];
    assert_near(mapped, inside, 0.0);
    assert_near(outside, 0.0, 0.0);
    th_observer_destroy(observer);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// ---- people

static void one_persons_times(void **state) {
    (void)state;
    th_scene *scene = scene_of(TH_JSON(
        {"levels":[{"id":"way", "walkable":{"rect":[0,0,22,4]}}],
        "exits":[{"id":"end", "line":[[22,1],[22,3]]}],
        "waiting_areas":[{"id":"stop", "area":{"rect":[10,0,12,4]}, "wait":5}],
        "groups":[{"id":"one", "positions":[[2,2]], "speed":1.25, "premovement":3.5,
            "route":["stop", "end"]}]}));
    th_world *world = world_of(scene, 1, 0);
    th_observer *observer = observer_of(world);
    see(observer, world);
    for (int s = 0; s < 600 && !th_world_done(world); ++s) watch(observer, world, 1);
    th_observation *o = finish(observer, world);
    assert_int_equal(o->person_count, 1);
    const th_person *person = &o->people[0];
    print_message("3.5 s + 5 s to wait, 20 m to go: waited %.2f s, walked %.2f m, left at %.2f s\n",
                  (double)person->wait_time, (double)person->path_length, (double)person->end_time);
    assert_near((double)person->start_time, 0.0, 0.0);
    assert_near((double)person->wait_time, 8.5, 0.6); // when the second spell began is not known
    assert_near((double)person->path_length, 20.0, 0.7);
    assert_near((double)person->end_time, 3.5 + 5.0 + 20.0 / 1.25, 1.0);
    assert_near((double)person->jam_time, 0.0, 1.0); // stopping and setting off
    assert_int_equal(person->exit, 1 - (strcmp(scene->goals[0].id, "end") == 0));
    assert_near(th_egress_time(o), (double)person->end_time, 1e-4);
    assert_int_equal(o->track_count, 1);
    assert_int_equal(o->tracks[0].count,
                     o->sample_count - 1 * (o->inside[o->sample_count - 1] == 0));
    assert_near((double)o->tracks[0].x[0], 2.0, 1e-5);
    th_observer_destroy(observer);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

static void times_add_up(void **state) {
    (void)state;
    th_scene *scene = scene_of(hall);
    th_world *world = world_of(scene, 1, 0);
    th_observer *observer = observer_of(world);
    see(observer, world);
    watch(observer, world, 333);
    th_observation *o = finish(observer, world);
    int people = 0, left = 0;
    for (int p = 0; p < o->person_count; ++p) {
        const th_person *person = &o->people[p];
        if (person->group < 0) continue;
        people++;
        left += !isnan(person->end_time);
        assert_int_equal(isnan(person->end_time), person->exit < 0);
        float until = isnan(person->end_time) ? (float)o->statistics.time : person->end_time;
        assert_true(person->wait_time + person->jam_time <= until - person->start_time + 1e-3f);
        assert_true(person->path_length <= 2.5f * (until - person->start_time) + 0.01f);
    }
    assert_int_equal(people, o->statistics.spawned);
    assert_int_equal(left, o->statistics.left);
    assert_int_equal(o->left_behind_count, o->statistics.inside - 1); // but the guard
    assert_true(o->timed_out && !o->done);
    assert_true(isnan(th_egress_time(o)));
    assert_true(o->track_count > 20 && o->track_count <= 40);
    for (int t = 1; t < o->track_count; ++t)
        assert_int_equal((o->tracks[t].id - 1) % (o->tracks[1].id - o->tracks[0].id), 0);
    th_observer_destroy(observer);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// All people leave in one step: the exit of each of them is known.
static void burst_of_leavers(void **state) {
    (void)state;
    th_scene *scene =
        scene_of(TH_JSON(
            {"levels":[{"id":"field", "walkable":{"rect":[0,0,100,100]}}],
            "exits":[{"id":"all", "area":{"rect":[0,0,100,100]}}],
            "groups":[{"id":"p", "count":6000, "to":"all"}]}));
    th_world *world = world_of(scene, 1, 0);
    th_observer *observer = observer_of(world);
    see(observer, world);
    watch(observer, world, 10);
    th_observation *o = finish(observer, world);
    assert_int_equal(o->statistics.left, 6000);
    assert_int_equal(o->events_lost, 0);
    assert_int_equal(o->counters[0].forward_total, 6000);
    assert_int_equal(o->left[o->sample_count - 1], 6000);
    int left = 0, through = 0;
    for (int p = 0; p < o->person_count; ++p) {
        left += !isnan(o->people[p].end_time);
        through += o->people[p].exit == 0;
    }
    assert_int_equal(left, 6000);
    assert_int_equal(through, 6000);
    th_observer_destroy(observer);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// ---- keeping

static void *kept_bytes(const th_observer *observer, size_t *size) {
    void *bytes = NULL;
    th_error error = {0};
    if (th_observer_save(observer, &bytes, size, &error) != TH_OK) fail_msg("%s", error.message);
    return bytes;
}

static void kept_and_taken_up(void **state) {
    (void)state;
    th_scene *scene = scene_of(hall);
    th_world *whole = world_of(scene, 1, 0), *before = world_of(scene, 1, 0),
             *after = world_of(scene, 2, 77);
    th_observer *watch_whole = observer_of(whole), *watch_before = observer_of(before),
                *watch_after = observer_of(after);
    see(watch_whole, whole);
    watch(watch_whole, whole, 300);
    see(watch_before, before);
    watch(watch_before, before, 137); // between samples
    size_t size, state_size = th_world_snapshot_size(before);
    void *bytes = kept_bytes(watch_before, &size), *snapshot = malloc(state_size);
    assert_int_equal(th_world_snapshot(before, snapshot, state_size, NULL), TH_OK);
    th_observer_destroy(watch_before);
    th_world_destroy(before);

    assert_int_equal(th_world_restore(after, snapshot, state_size, NULL), TH_OK);
    assert_int_equal(th_observer_restore(watch_after, bytes, size, NULL), TH_OK);
    see(watch_after, after);
    watch(watch_after, after, 163);
    assert_int_equal(th_world_hash(whole), th_world_hash(after));
    size_t size_whole, size_after;
    void *bytes_whole = kept_bytes(watch_whole, &size_whole),
         *bytes_after = kept_bytes(watch_after, &size_after);
    assert_int_equal(size_whole, size_after); // everything there is, bit by bit
    assert_memory_equal(bytes_whole, bytes_after, size_whole);
    th_observation *a = finish(watch_whole, whole), *b = finish(watch_after, after);
    assert_int_equal(a->hash, b->hash);
    assert_int_equal(a->left_behind_count, b->left_behind_count);
    assert_near((double)a->statistics.largest_overlap, (double)b->statistics.largest_overlap, 0.0);
    assert_memory_equal(a->people, b->people, (size_t)a->person_count * sizeof *a->people);
    free(bytes_whole);
    free(bytes_after);
    free(bytes);
    free(snapshot);
    th_observer_destroy(watch_whole);
    th_observer_destroy(watch_after);
    th_world_destroy(whole);
    th_world_destroy(after);
    th_scene_destroy(scene);
}

static uint32_t next_random(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

// Bytes from a damaged file: an error or a sound observer, never a crash. With the check sum set right
// again, so that the walk itself is tried.
// Nine thousand people in two halls; stairs, a gate, a wall that many stand at.
static const char large_halls[] = TH_JSON(
    {"levels":[{"id":"ground", "walkable":{"rect":[0,0,52,90]},
        "walls":[[[50,0],[50,44]],[[50,46],[50,90]]]},
        {"id":"upper", "z":3, "walkable":{"rect":[53,0,98,90]}}],
    "doors":[{"id":"gate", "level":"ground", "line":[[50,46],[50,44]]}],
    "stairs":[{"id":"stairs", "level":"ground", "to":"upper",
        "area":{"rect":[52,20,53,70]}, "top":[[53,20],[53,70]]}],
    "exits":[{"id":"east", "level":"upper", "line":[[98,5],[98,85]]}],
    "groups":[{"id":"a", "count":6000, "level":"ground", "area":{"rect":[1,1,49,88]}, "to":"east"},
        {"id":"b", "count":3000, "level":"upper", "area":{"rect":[54,1,97,88]}, "to":"east"}],
    "run":{"step":0.1, "seed":5}});

static void a_sample_is_the_same_by_any_number_of_threads(void **state) {
    (void)state;
    enum { OBSERVERS = 3 };
    const int threads[OBSERVERS] = {1, 2, 5};
    th_scene *scene = scene_of(large_halls);
    th_world *world = world_of(scene, 1, 0);
    th_observer *observers[OBSERVERS];
    void *bytes[OBSERVERS];
    size_t size[OBSERVERS];
    for (int k = 0; k < OBSERVERS; ++k) {
        th_observer_def def = th_observer_def_default();
        def.threads = threads[k];
        assert_int_equal(th_observer_create(world, &def, &observers[k], NULL), TH_OK);
        see(observers[k], world);
    }
    for (int step = 0; step < 70; ++step) {
        th_world_step(world, 1);
        for (int k = 0; k < OBSERVERS; ++k) see(observers[k], world);
    }
    for (int k = 0; k < OBSERVERS; ++k) {
        bytes[k] = kept_bytes(observers[k], &size[k]);
        assert_int_equal(size[0], size[k]);
        assert_memory_equal(bytes[0], bytes[k], size[0]);
    }
    const th_observation *o = finish(observers[2], world);
    assert_true(counter_of(o, "gate")->pass_count > 0);
    assert_true(counter_of(o, "stairs")->pass_count > 0);
    for (int k = 0; k < OBSERVERS; ++k) {
        free(bytes[k]);
        th_observer_destroy(observers[k]);
    }
    th_world_destroy(world);
    th_scene_destroy(scene);
}

static void damaged_bytes(void **state) {
    (void)state;
    th_scene *scene = scene_of(hall);
    th_world *world = world_of(scene, 1, 0);
    th_observer *observer = observer_of(world);
    see(observer, world);
    watch(observer, world, 50);
    size_t size;
    unsigned char *bytes = kept_bytes(observer, &size), *broken = malloc(size);
    uint32_t random = 1;
    int refused = 0;
    th_error error = {0};
    for (int round = 0; round < 400; ++round) {
        memcpy(broken, bytes, size);
        size_t length = round % 4 == 0 ? next_random(&random) % size : size;
        // Half of the damage where the lengths are: the head and what follows the maps.
        size_t from = round % 2 ? 0 : size - size / 8, span = round % 2 ? 400 : size / 8;
        for (uint32_t flips = 1 + next_random(&random) % 3; flips > 0; --flips)
            broken[from + next_random(&random) % span] ^=
                (unsigned char)(1 + next_random(&random) % 255);
        if (round % 3) th_observer_seal(broken, length);
        if (length >= 24)
            memcpy(broken + 16, &(uint64_t){length}, 8); // size, else never past the head
        if (round % 3) th_observer_seal(broken, length);
        th_observer *other = observer_of(world);
        if (th_observer_restore(other, broken, length, &error) != TH_OK)
            refused++;
        else
            see(other, world);
        th_observer_destroy(other);
    }
    print_message("%d of 400 damaged measurements refused\n", refused);
    assert_true(refused > 150);
    broken[0] = bytes[0];
    memcpy(broken, bytes, size);
    broken[size / 2] ^= 1; // without a new check sum: always found
    assert_int_equal(th_observer_restore(observer, broken, size, &error), TH_BAD_SNAPSHOT);
    assert_int_equal(th_observer_restore(observer, bytes, size, &error), TH_OK);
    free(bytes);
    free(broken);
    th_observer_destroy(observer);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_by_hand),
        cmocka_unit_test(sample_times),
        cmocka_unit_test(bad_definitions),
        cmocka_unit_test(density_of_a_lattice),
        cmocka_unit_test(density_at_walls),
        cmocka_unit_test(thin_wall_does_not_blur),
        cmocka_unit_test(people_in_maps),
        cmocka_unit_test(one_persons_times),
        cmocka_unit_test(times_add_up),
        cmocka_unit_test(burst_of_leavers),
        cmocka_unit_test(kept_and_taken_up),
        cmocka_unit_test(damaged_bytes),
        cmocka_unit_test(a_sample_is_the_same_by_any_number_of_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
