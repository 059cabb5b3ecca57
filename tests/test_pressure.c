// Pressure, crowd pressure and exposure: maps and people against figures by hand or by a slow method, saving and
// restoring, sums over runs. SPDX-License-Identifier: Apache-2.0
#include "observe/ensemble.h"
#include "observe/observer.h"
#include "observe/observer_parts.h"
#include "support.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char room[] = TH_JSON(
    {"levels":[{"id":"room", "walkable":{"rect":[0,0,10,10]}}],
    "exits":[{"id":"out", "line":[[10,4],[10,6]]}],
    "groups":[{"id":"p", "count":1, "to":"out"}]});

// A crowd in a pen whose walls end at a door, by the model uic.
static const char pen[] =
    TH_JSON(
        {"levels":[{"id":"pen", "walkable":[{"rect":[0,0,12,8]}, {"rect":[12,3,15,5]}]}],
        "exits":[{"id":"out", "line":[[15,3],[15,5]]}],
        "groups":[{"id":"p", "count":220, "area":{"rect":[1,1,11,7]}, "to":"out", "move":"%s"}],
        "run":{"step":0.1, "seed":3}});

static th_scene *pen_of(const char *model) {
    char json[800];
    snprintf(json, sizeof json, pen, model);
    return scene_of(json);
}

static th_observer *observer_of(th_world *world, bool maps) {
    th_observer_def def = th_observer_def_default();
    def.maps = maps;
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

// ---- crowd pressure

// Fourteen people on one spot in the middle of a cell. Of each, (6/16)^2 are in that cell of 0.25 m2 and 4/16 x 6/16 in
// the one beside it. Walking half east and half west they stay where they are: no pressure. Thrown east in one sample and
// west in the next at 0.6 m/s, the local velocity differs by 1.2 m/s: with the weight w of 2 s its variance is
// (1 - w) w 1.44.
static void put_fourteen(th_map *map, th_map_work *work, float even, float odd) {
    for (int k = 0; k < 14; ++k)
        th_map_put(map, work,
                   &(th_last_seen){.x = 5.25f, .y = 5.25f, .velocity = {k % 2 ? odd : even, 0.0f}});
    th_map_take(map, work, 2.0, false);
}

static void crowd_pressure_by_hand(void **state) {
    (void)state;
    th_scene *scene = scene_of(room);
    th_map map = {0};
    th_map_work work = {0};
    assert_true(th_map_create(th_scene_view_of(scene), 0, 0.5, NULL, &map, &work));
    int here = 10 * map.nx + 10;
    double density = 14.0 * 36.0 / 256.0 / 0.25, beside = 14.0 * 24.0 / 256.0 / 0.25;
    for (int n = 0; n < 3; ++n) put_fourteen(&map, &work, 0.6f, -0.6f);
    assert_near((double)map.density_max[here], density, 1e-4);
    assert_near((double)map.crowd_pressure_max[here], 0.0, 1e-9);
    assert_near((double)map.crowd_pressure_count[here], 3.0, 0.0);
    assert_int_equal(work.crowding[here], 2); // 7.9 /m2
    // Two cells away 14 x (1/16)(6/16) x 14.8 = 4.9 people are in the kernel: too few.
    assert_near((double)map.crowd_pressure_count[here + 2], 0.0, 0.0);
    th_map_take(&map, &work, 2.0, false); // no people: the means start anew
    put_fourteen(&map, &work, 0.6f, 0.6f);
    assert_near((double)map.crowd_pressure_max[here], 0.0, 1e-9);
    put_fourteen(&map, &work, -0.6f, -0.6f);
    double w = 1.0 - exp(-2.0 / TH_PRESSURE_TIME), variance = (1.0 - w) * w * 1.44;
    assert_near((double)map.crowd_pressure_max[here], density * variance, 1e-4);
    assert_near((double)map.crowd_pressure_max[here + 1], beside * variance, 1e-4);
    assert_near(map.turbulent_time[here], 2.0, 0.0);     // 7.9 /m2
    assert_near(map.turbulent_time[here + 1], 0.0, 0.0); // 5.2 /m2: pressure, but not packed
    th_map_release(&map);
    th_map_work_release(&work);
    th_scene_destroy(scene);
}

static double hat(double distance) { return fmax(1.0 - fabs(distance), 0.0); }

// The kernel in one direction as one sum: shared by distance, then 1 4 6 4 1 over 16.
static double weight_1d(double cells) {
    static const double twice[5] = {1.0, 4.0, 6.0, 4.0, 1.0};
    double sum = 0.0;
    for (int k = -2; k <= 2; ++k) sum += twice[k + 2] / 16.0 * hat(cells - k);
    return sum;
}
static double weight_of(const th_map *map, int i, int j, double x, double y) {
    return weight_1d((x - (double)map->min_x) / (double)map->cell - i - 0.5) *
           weight_1d((y - (double)map->min_y) / (double)map->cell - j - 0.5);
}

static double random_share(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / 16777216.0;
}

// Two moments of a crowd that stands and is thrown about: the pressure of every cell worked out person by person.
static void crowd_pressure_agrees_with_brute_force(void **state) {
    (void)state;
    enum { PEOPLE = 150 };
    th_scene *scene = scene_of(room);
    th_map map = {0};
    th_map_work work = {0};
    uint32_t random = 7;
    double x[PEOPLE], y[PEOPLE], u[2][PEOPLE], v[2][PEOPLE];
    assert_true(th_map_create(th_scene_view_of(scene), 0, 0.5, NULL, &map, &work));
    for (int k = 0; k < PEOPLE; ++k) {
        x[k] = 3.0 + 4.0 * random_share(&random);
        y[k] = 3.0 + 4.0 * random_share(&random);
    }
    for (int n = 0; n < 2; ++n) {
        for (int k = 0; k < PEOPLE; ++k) {
            u[n][k] = 2.0 * random_share(&random) - 0.5 * n;
            v[n][k] = 0.3 * random_share(&random);
            th_map_put(&map, &work,
                       &(th_last_seen){.x = (float)x[k],
                                       .y = (float)y[k],
                                       .velocity = {(float)u[n][k], (float)v[n][k]}});
        }
        th_map_take(&map, &work, 1.0, false);
    }
    int with = 0, without = 0;
    double weight = 1.0 - exp(-1.0 / TH_PRESSURE_TIME);
    for (int j = 4; j < 16; ++j) {
        for (int i = 4; i < 16; ++i) {
            double people = 0.0, mean_u[2] = {0}, mean_v[2] = {0};
            for (int k = 0; k < PEOPLE; ++k) {
                double w = weight_of(&map, i, j, x[k], y[k]);
                people += w;
                for (int n = 0; n < 2; ++n) mean_u[n] += w * u[n][k];
                for (int n = 0; n < 2; ++n) mean_v[n] += w * v[n][k];
            }
            double du = (mean_u[1] - mean_u[0]) / people, dv = (mean_v[1] - mean_v[0]) / people;
            double variance = (1.0 - weight) * weight * (du * du + dv * dv);
            int c = j * map.nx + i;
            bool enough = people * 14.8 >= 5.0;
            assert_near((double)map.crowd_pressure_count[c], enough ? 2.0 : 0.0, 0.0);
            if (enough)
                assert_near((double)map.crowd_pressure_max[c], people / 0.25 * variance, 2e-5);
            with += enough;
            without += !enough;
        }
    }
    assert_true(with > 60 && without > 5);
    th_map_release(&map);
    th_map_work_release(&work);
    th_scene_destroy(scene);
}

// ---- exposure

// A block of people that walk apart, far from all walls; the densities around every agent worked out person by person.
static const char field[] = TH_JSON(
    {"levels":[{"id":"field", "walkable":{"rect":[-40,-40,40,40]}}],
    "exits":[{"id":"east", "line":[[40,-4],[40,4]]}, {"id":"west",
        "line":[[-40,-4],[-40,4]]}],
    "groups":[{"id":"e", "count":0, "to":"east", "radius":0.1, "plan":"field"}, {"id":"w", "count":0,
        "to":"west", "radius":0.1, "plan":"field"}],
    "run":{"step":0.1}});

enum { BLOCK = 14, BLOCK_PEOPLE = BLOCK * BLOCK };

static void expose_slowly(const th_map *map, th_world *world, double *exposure, int *crowding,
                          double before, double after) {
    const float *x = th_world_map(world, TH_FIELD_POSITION_X, TH_ACCESS_READ);
    const float *y = th_world_map(world, TH_FIELD_POSITION_Y, TH_ACCESS_READ);
    for (int p = 0; p < BLOCK_PEOPLE; ++p) {
        int i = (int)((x[p] - map->min_x) / map->cell), j = (int)((y[p] - map->min_y) / map->cell);
        double density = 0.0;
        for (int k = 0; k < BLOCK_PEOPLE; ++k)
            density += weight_of(map, i, j, (double)x[k], (double)y[k]) / 0.25;
        int now = (density > 4.0) + (density > 7.0) + (density > 8.0);
        for (int k = 0; k < TH_EXPOSURES; ++k)
            exposure[p * TH_EXPOSURES + k] +=
                (crowding[p] > k ? before : 0.0) + (now > k ? after : 0.0);
        crowding[p] = now;
    }
}

// Crowd pressure of cell (i, j) from the ways since the sample before; `motion` is what it was.
static double crowd_pressure_slowly(const th_map *map, th_world *world, int i, int j,
                                    th_vec2 *before, double motion[4], bool first) {
    const float *x = th_world_map(world, TH_FIELD_POSITION_X, TH_ACCESS_READ);
    const float *y = th_world_map(world, TH_FIELD_POSITION_Y, TH_ACCESS_READ);
    double people = 0.0, u = 0.0, v = 0.0, weight = 1.0 - exp(-1.0 / TH_PRESSURE_TIME);
    for (int k = 0; k < BLOCK_PEOPLE; ++k) {
        double w = weight_of(map, i, j, (double)x[k], (double)y[k]);
        people += w;
        u += first ? 0.0 : w * (double)(x[k] - before[k].x); // in 1 s
        v += first ? 0.0 : w * (double)(y[k] - before[k].y);
        before[k] = (th_vec2){x[k], y[k]};
    }
    if (people * 14.8 < 5.0) return motion[0] = 0.0;
    double off_u = u / people - motion[1], off_v = v / people - motion[2];
    bool anew = !(motion[0] > 0.0);
    motion[0] = anew ? people / 0.25 : motion[0] + weight * (people / 0.25 - motion[0]);
    motion[1] += (anew ? 1.0 : weight) * off_u;
    motion[2] += (anew ? 1.0 : weight) * off_v;
    motion[3] =
        anew ? 0.0 : (1.0 - weight) * (motion[3] + weight * (off_u * off_u + off_v * off_v));
    return motion[0] * motion[3];
}

static void spawn_block(th_world *world) {
    th_agent_def agents[BLOCK_PEOPLE];
    for (int k = 0; k < BLOCK_PEOPLE; ++k) {
        agents[k] = th_agent_def_default();
        agents[k].position =
            (th_vec2){0.3f * (float)(k % BLOCK), 0.3f * (float)(k / BLOCK)}; // 11 /m2
        agents[k].group = k % 2;
    }
    th_error error = {0};
    if (th_world_spawn(world, agents, BLOCK_PEOPLE, NULL, &error) != TH_OK)
        fail_msg("%s", error.message);
}

static void exposure_slowly(void **state) {
    (void)state;
    th_scene *scene = scene_of(field);
    th_world *world = world_of(scene, 1, 0);
    spawn_block(world);
    th_observer *observer = observer_of(world, true), *blind = observer_of(world, false);
    double exposure[BLOCK_PEOPLE * TH_EXPOSURES] = {0};
    int crowding[BLOCK_PEOPLE] = {0};
    const th_map *map = &th_observer_observation(observer)->maps[0];
    see(observer, world);
    see(blind, world);
    th_vec2 before[BLOCK_PEOPLE];
    const int i = 84, j = 84; // around (2.25, 2.25)
    expose_slowly(map, world, exposure, crowding, 0.0, 0.0);
    double motion[4] = {0};
    double crowd_pressure = crowd_pressure_slowly(map, world, i, j, before, motion, true);
    for (int s = 1; s <= 6; ++s) {
        watch(observer, world, 10);
        expose_slowly(map, world, exposure, crowding, 0.5, 0.5);
        crowd_pressure += crowd_pressure_slowly(map, world, i, j, before, motion, false);
    }
    watch(observer, world, 4); // the piece after the last sample, as seen then
    see(blind, world);
    th_observation *o = finish(observer, world);
    double total[TH_EXPOSURES] = {0};
    assert_true(crowd_pressure > 0.001);
    assert_near(map->crowd_pressure_sum[j * map->nx + i], crowd_pressure, 1e-4 * crowd_pressure);
    assert_int_equal(o->person_count, BLOCK_PEOPLE);
    for (int p = 0; p < BLOCK_PEOPLE; ++p) {
        for (int k = 0; k < TH_EXPOSURES; ++k) {
            double expected = exposure[p * TH_EXPOSURES + k] + (crowding[p] > k ? 0.4 : 0.0);
            assert_near((double)o->people[p].exposure[k], expected, 1e-4);
            total[k] += expected;
        }
        assert_true(isnan(o->people[p].peak_pressure)); // not that model
    }
    print_message("a block that walks apart: %.0f, %.0f, %.0f person-seconds above 4, 7, 8 /m2\n",
                  total[0], total[1], total[2]);
    assert_true(total[0] > total[1] && total[1] > total[2] && total[2] > 10.0);
    assert_null(o->maps[0].pressure_max);
    // Without maps nothing is known of densities.
    assert_true(isnan(finish(blind, world)->people[0].exposure[0]));
    th_observer_destroy(observer);
    th_observer_destroy(blind);
    th_world_destroy(world);
    th_scene_destroy(scene);
}

// ---- the model's pressure

// Grids that coincide are copied; finer ones give their largest, coarser ones the cell's own value.
static void pressure_of_other_grids(void **state) {
    (void)state;
    th_scene *scene = scene_of(room);
    th_map map = {0};
    th_map_work work = {0};
    float values[80 * 80];
    uint32_t random = 3;
    assert_true(th_map_create(th_scene_view_of(scene), 0, 0.5, NULL, &map, &work));
    assert_null(map.pressure_max);
    for (int k = 0; k < 80 * 80; ++k) values[k] = (float)random_share(&random);
    th_grid same = {map.nx, map.ny, map.min_x, map.min_y, map.cell, values};
    assert_true(th_map_take_pressure(&map, &same, 1));
    for (int c = 0; c < map.nx * map.ny; ++c)
        assert_near((double)map.pressure_max[c], (double)values[c], 0.0);
    assert_true(th_map_take_pressure(&map, &same, 1));
    for (int c = 0; c < map.nx * map.ny; ++c)
        assert_near(map.pressure_sum[c], 2.0 * (double)values[c], 1e-6);
    assert_true(th_map_make_pressure(&map)); // anew
    th_grid fine = {80, 80, map.min_x - 0.1f, map.min_y - 0.1f, 0.13f, values};
    assert_true(th_map_take_pressure(&map, &fine, 1));
    double expected[20 * 20] = {0};
    for (int k = 0; k < 80 * 80; ++k) {
        int i = (int)floor((-0.1 + 0.13 * (k % 80 + 0.5)) / 0.5),
            j = (int)floor((-0.1 + 0.13 * (k / 80 + 0.5)) / 0.5);
        if (i >= 0 && i < 20 && j >= 0 && j < 20)
            expected[j * 20 + i] = fmax(expected[j * 20 + i], (double)values[k]);
    }
    for (int c = 0; c < 20 * 20; ++c) assert_near((double)map.pressure_max[c], expected[c], 0.0);
    assert_true(th_map_make_pressure(&map));
    th_grid coarse = {3, 2, map.min_x + 1.0f, map.min_y + 1.2f, 2.0f, values};
    assert_true(th_map_take_pressure(&map, &coarse, 1));
    for (int c = 0; c < 20 * 20; ++c) {
        double x = (c % 20 + 0.5) * 0.5 - 1.0, y = (c / 20 + 0.5) * 0.5 - 1.2;
        bool on = x > 0.0 && x < 6.0 && y > 0.0 && y < 4.0;
        double value = on ? (double)values[(int)(y / 2.0) * 3 + (int)(x / 2.0)] : 0.0;
        assert_near((double)map.pressure_max[c], value, 0.0);
    }
    th_map_release(&map);
    th_map_work_release(&work);
    th_scene_destroy(scene);
}

static float value_at(const th_grid *grid, double x, double y) {
    int i = (int)floor((x - (double)grid->min_x) / (double)grid->cell),
        j = (int)floor((y - (double)grid->min_y) / (double)grid->cell);
    return i >= 0 && j >= 0 && i < grid->nx && j < grid->ny ? grid->values[j * grid->nx + i] : 0.0f;
}

// A packed crowd: the map has what the model's cell has at its middle (the model's are larger), and every agent
// met the value of its cell.
static void pressure_of_a_run(void **state) {
    (void)state;
    enum { CELLS = 30 * 16 };
    th_scene *scene = pen_of("uic");
    th_world *world = world_of(scene, 1, 0);
    th_observer *observer = observer_of(world, true);
    const th_map *map = &th_observer_observation(observer)->maps[0];
    float peak[256] = {0}, most[CELLS] = {0}, highest = 0.0f;
    double sum[CELLS] = {0};
    see(observer, world);
    assert_null(map->pressure_max);
    assert_int_equal(map->nx * map->ny, CELLS);
    for (int s = 1; s <= 12; ++s) {
        watch(observer, world, 10);
        th_grid grid;
        assert_true(th_world_map_grid(world, TH_GRID_PRESSURE, 0, &grid));
        assert_true(grid.cell >= map->cell);
        for (int c = 0; c < CELLS; ++c) {
            if (map->walkable[c] <= 0.0f) continue;
            float value = value_at(&grid, (c % 30 + 0.5) * 0.5, (c / 30 + 0.5) * 0.5);
            most[c] = fmaxf(most[c], value);
            sum[c] += (double)value;
        }
        const uint32_t *id = th_world_map(world, TH_FIELD_ID, TH_ACCESS_READ);
        const float *x = th_world_map(world, TH_FIELD_POSITION_X, TH_ACCESS_READ);
        const float *y = th_world_map(world, TH_FIELD_POSITION_Y, TH_ACCESS_READ);
        for (int k = 0; k < th_world_agent_count(world); ++k)
            peak[id[k]] = fmaxf(peak[id[k]], value_at(&grid, (double)x[k], (double)y[k]));
    }
    th_observation *o = finish(observer, world);
    for (int c = 0; c < CELLS; ++c) {
        assert_near((double)map->pressure_max[c], (double)most[c], 0.0);
        assert_near(map->pressure_sum[c], sum[c], 1e-9);
        highest = fmaxf(highest, most[c]);
    }
    print_message("highest pressure of the pen: %.3f m2/s\n", (double)highest);
    assert_true(highest > 0.1f);
    int squeezed = 0;
    for (int p = 0; p < o->person_count; ++p) {
        assert_near((double)o->people[p].peak_pressure, (double)peak[p + 1], 0.0);
        squeezed += o->people[p].peak_pressure > 0.1f;
    }
    assert_true(squeezed > 10);
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
    th_scene *scene = pen_of("uic");
    th_world *whole = world_of(scene, 1, 0), *before = world_of(scene, 1, 0),
             *after = world_of(scene, 2, 9);
    th_observer *watch_whole = observer_of(whole, true), *watch_before = observer_of(before, true),
                *watch_after = observer_of(after, true);
    see(watch_whole, whole);
    see(watch_before, before);
    size_t size, early_size, state_size;
    void *early = kept_bytes(watch_before, &early_size); // no pressure yet
    watch(watch_whole, whole, 110);
    watch(watch_before, before, 55);
    state_size =
        th_world_snapshot_size(before); // grows with the cells that pressure has been found for
    void *bytes = kept_bytes(watch_before, &size), *snapshot = malloc(state_size);
    assert_int_equal(th_world_snapshot(before, snapshot, state_size, NULL), TH_OK);
    assert_int_equal(th_world_restore(after, snapshot, state_size, NULL), TH_OK);
    assert_int_equal(th_observer_restore(watch_after, bytes, size, NULL), TH_OK);
    see(watch_after, after);
    watch(watch_after, after, 55);
    assert_int_equal(th_world_hash(whole), th_world_hash(after));
    size_t size_whole, size_after;
    void *bytes_whole = kept_bytes(watch_whole, &size_whole),
         *bytes_after = kept_bytes(watch_after, &size_after);
    assert_int_equal(size_whole, size_after); // everything there is, bit by bit
    assert_memory_equal(bytes_whole, bytes_after, size_whole);
    assert_non_null(th_observer_observation(watch_after)->maps[0].pressure_max);
    // Back to before the first step: the pressure is gone again.
    assert_int_equal(th_observer_restore(watch_after, early, early_size, NULL), TH_OK);
    assert_null(th_observer_observation(watch_after)->maps[0].pressure_max);
    void *kept[] = {early, bytes, snapshot, bytes_whole, bytes_after};
    for (int k = 0; k < 5; ++k) free(kept[k]);
    th_observer_destroy(watch_whole);
    th_observer_destroy(watch_before);
    th_observer_destroy(watch_after);
    th_world_destroy(whole);
    th_world_destroy(before);
    th_world_destroy(after);
    th_scene_destroy(scene);
}

// ---- runs

// The first run ends before there is a pressure; the sum has that of the others.
static void runs_added_up(void **state) {
    (void)state;
    th_scene *scene = pen_of("uic");
    th_ensemble ensemble;
    assert_int_equal(th_ensemble_init(&ensemble), TH_OK);
    double highest[3], crowd[3], sum = 0.0;
    for (int r = 0; r < 3; ++r) {
        th_world *world = world_of(scene, 1, (uint64_t)r + 1);
        th_observer *observer = observer_of(world, true);
        see(observer, world);
        watch(observer, world, r == 0 ? 5 : 80);
        th_observation *o = finish(observer, world);
        int cells = o->maps[0].nx * o->maps[0].ny;
        uint64_t crushed = 0;
        highest[r] = crowd[r] = 0.0;
        for (int c = 0; c < cells; ++c) {
            if (r > 0) highest[r] = fmax(highest[r], (double)o->maps[0].pressure_max[c]);
            if (r > 0) sum += o->maps[0].pressure_sum[c];
            crowd[r] = fmax(crowd[r], (double)o->maps[0].crowd_pressure_max[c]);
        }
        for (int p = 0; p < o->person_count; ++p)
            crushed += o->people[p].exposure[1] > TH_PACKED_TIME;
        assert_int_equal(th_ensemble_add(&ensemble, o, NULL), TH_OK);
        assert_int_equal(ensemble.runs[r].crushed, crushed);
        th_observer_destroy(observer);
        th_world_destroy(world);
    }
    assert_true(isnan(ensemble.runs[0].max_pressure));
    double added = 0.0, largest = 0.0, largest_crowd = 0.0;
    for (int c = 0; c < ensemble.maps[0].nx * ensemble.maps[0].ny; ++c) {
        added += ensemble.maps[0].pressure_sum[c];
        largest = fmax(largest, (double)ensemble.maps[0].pressure_max[c]);
        largest_crowd = fmax(largest_crowd, (double)ensemble.maps[0].crowd_pressure_max[c]);
    }
    assert_true(sum > 0.0);
    assert_near(added, sum, 1e-9 * sum);
    assert_near(largest, fmax(highest[1], highest[2]), 0.0);
    assert_near(largest_crowd, fmax(crowd[0], fmax(crowd[1], crowd[2])), 0.0);
    for (int r = 1; r < 3; ++r) {
        assert_near(ensemble.runs[r].max_pressure, highest[r], 0.0);
        assert_near(ensemble.runs[r].max_crowd_pressure, crowd[r], 0.0);
    }
    assert_null(ensemble.first->maps[0].pressure_max);
    th_ensemble_release(&ensemble);
    th_scene_destroy(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crowd_pressure_by_hand),
        cmocka_unit_test(crowd_pressure_agrees_with_brute_force),
        cmocka_unit_test(exposure_slowly),
        cmocka_unit_test(pressure_of_other_grids),
        cmocka_unit_test(pressure_of_a_run),
        cmocka_unit_test(kept_and_taken_up),
        cmocka_unit_test(runs_added_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
