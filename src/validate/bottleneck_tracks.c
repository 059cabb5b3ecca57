// Runs a crowd and reads flow, density and smoothness from its tracks. SPDX-License-Identifier: Apache-2.0
#include "validate/bottleneck_tracks.h"
#include "core/error.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double NOTHING = (double)NAN;

static th_vec2 place(const th_tracks *tracks, int frame, int person) {
    size_t at = (size_t)frame * (size_t)tracks->people + (size_t)person;
    return (th_vec2){tracks->x[at], tracks->y[at]};
}

static bool there(th_vec2 p) { return !isnan(p.x); }

// ---- the run

static bool grow(th_tracks *tracks) {
    int room = tracks->room > 0 ? 2 * tracks->room : 256;
    size_t size = (size_t)room * (size_t)tracks->people * sizeof(float);
    float *x = realloc(tracks->x, size);
    if (x) tracks->x = x;
    float *y = realloc(tracks->y, size);
    if (y) tracks->y = y;
    if (x && y) tracks->room = room;
    return x && y;
}

// Everybody's place now. False: no memory.
static bool keep_frame(th_world *world, th_tracks *tracks) {
    if (tracks->frames == tracks->room && !grow(tracks)) return false;
    size_t begin = (size_t)tracks->frames * (size_t)tracks->people;
    for (int k = 0; k < tracks->people; ++k)
        tracks->x[begin + (size_t)k] = tracks->y[begin + (size_t)k] = NAN;
    const uint32_t *id = th_world_map(world, TH_FIELD_ID, TH_READ);
    const float *x = th_world_map(world, TH_FIELD_POSITION_X, TH_READ);
    const float *y = th_world_map(world, TH_FIELD_POSITION_Y, TH_READ);
    bool good = id && x && y;
    for (int k = 0; good && k < th_world_agent_count(world); ++k) {
        if (id[k] < 1 || id[k] > (uint32_t)tracks->people) continue;
        tracks->x[begin + id[k] - 1] = x[k];
        tracks->y[begin + id[k] - 1] = y[k];
    }
    if (id) th_world_unmap(world, TH_FIELD_ID);
    if (x) th_world_unmap(world, TH_FIELD_POSITION_X);
    if (y) th_world_unmap(world, TH_FIELD_POSITION_Y);
    tracks->frames += good;
    return good;
}

static th_result watch(th_world *world, const th_tracks_def *def, th_tracks *tracks,
                       th_error *error) {
    int steps = (int)lround(1 / (TH_TRACKS_RATE * def->step));
    tracks->people = th_world_agent_count(world);
    double overlaps = 0;
    for (;;) {
        if (!keep_frame(world, tracks))
            return th_fail(error, TH_NO_MEMORY, "", "no memory for the tracks of a crowd");
        th_statistics now = th_world_statistics(world);
        tracks->repairs = now.repairs;
        tracks->deepest_overlap = fmax(tracks->deepest_overlap, (double)now.deepest_overlap);
        if (now.inside > 0) overlaps += 100.0 * (double)now.overlaps / (double)now.inside;
        if (th_world_done(world) || now.time >= def->max_time) break;
        th_world_step(world, steps);
    }
    tracks->overlaps = overlaps / tracks->frames;
    return TH_OK;
}

th_result th_tracks_run(const th_tracks_def *def, th_tracks *tracks, th_error *error) {
    *tracks = (th_tracks){0};
    th_scene *scene = NULL;
    th_world *world = NULL;
    th_world_def world_def = th_world_def_default();
    world_def.threads = 1;
    world_def.seed = def->seed;
    world_def.step = def->step;
    th_result done =
        th_scene_load_json(def->scene, strlen(def->scene), "experiment", NULL, NULL, &scene, error);
    if (done == TH_OK) done = th_world_create(scene, &world_def, &world, error);
    if (done == TH_OK) done = watch(world, def, tracks, error);
    th_world_destroy(world);
    th_scene_destroy(scene);
    return done;
}

void th_tracks_release(th_tracks *tracks) {
    free(tracks->x);
    free(tracks->y);
    *tracks = (th_tracks){0};
}

// ---- flow and density

// When this person came over the line [s]; NaN: never. Between two frames on a straight line.
static double time_over(const th_tracks *tracks, int person, double line) {
    for (int f = 1; f < tracks->frames; ++f) {
        th_vec2 now = place(tracks, f, person), before = place(tracks, f - 1, person);
        if (!there(now) || !there(before)) return NOTHING;
        if ((double)now.x < line) continue;
        double step = (double)now.x - (double)before.x;
        double share = step > 0 ? (line - (double)before.x) / step : 0;
        return (f - 1 + fmax(share, 0)) / TH_TRACKS_RATE;
    }
    return NOTHING;
}

th_tracks_flow th_tracks_over(const th_tracks *tracks, double line) {
    th_tracks_flow flow = {.first = NOTHING, .last = NOTHING};
    for (int k = 0; k < tracks->people; ++k) {
        double time = time_over(tracks, k, line);
        if (isnan(time)) continue;
        ++flow.through;
        flow.first = fmin(flow.first, time); // of NaN and a number fmin and fmax take the number
        flow.last = fmax(flow.last, time);
    }
    if (flow.last > flow.first) flow.flow = (flow.through - 1) / (flow.last - flow.first);
    return flow;
}

static bool inside(const th_box *box, th_vec2 p) {
    return p.x >= box->min_x && p.x < box->max_x && p.y >= box->min_y && p.y < box->max_y;
}

th_tracks_area th_tracks_in(const th_tracks *tracks, th_box box, double from, double to) {
    int frames = 0;
    uint64_t count = 0;
    double way = 0; // per frame, of all who were in it
    for (int f = 1; f < tracks->frames; ++f) {
        double time = f / TH_TRACKS_RATE;
        if (!(time >= from && time <= to)) continue;
        ++frames;
        for (int k = 0; k < tracks->people; ++k) {
            th_vec2 p = place(tracks, f, k), before = place(tracks, f - 1, k);
            if (!inside(&box, p)) continue;
            ++count;
            way += hypot((double)(p.x - before.x), (double)(p.y - before.y));
        }
    }
    double area = (double)(box.max_x - box.min_x) * (double)(box.max_y - box.min_y);
    return (th_tracks_area){.density = frames > 0 ? (double)count / frames / area : NOTHING,
                            .speed = count > 0 ? TH_TRACKS_RATE * way / (double)count : NOTHING};
}

double th_tracks_densest(const th_tracks *tracks) {
    const double area = 3.14159265358979; // [m2] of the circle
    int most = 0;
    for (int f = 0; f < tracks->frames; f += (int)TH_TRACKS_RATE) {
        for (int i = 0; i < tracks->people; ++i) {
            th_vec2 p = place(tracks, f, i);
            int around = 0;
            for (int k = 0; there(p) && k < tracks->people; ++k) {
                th_vec2 q = place(tracks, f, k);
                float dx = q.x - p.x, dy = q.y - p.y;
                around += dx * dx + dy * dy <= 1.0f;
            }
            most = around > most ? around : most;
        }
    }
    return most / area;
}

// ---- smoothness

static int ascending(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static double mean_of(const float *values, size_t count) {
    double sum = 0;
    for (size_t k = 0; k < count; ++k) sum += (double)values[k];
    return count > 0 ? sum / (double)count : NOTHING;
}

// Sorts the values. 95 % of them are not above the result.
static double percentile_95(float *values, size_t count) {
    if (count == 0) return NOTHING;
    qsort(values, count, sizeof *values, ascending);
    return (double)values[(size_t)(0.95 * (double)(count - 1))];
}

static double way(const th_tracks *tracks, int person, double *straight, int *last) {
    double walked = 0;
    th_vec2 start = place(tracks, 0, person), end = start;
    *last = 0;
    for (int f = 1; f < tracks->frames && there(place(tracks, f, person)); ++f) {
        th_vec2 now = place(tracks, f, person);
        walked += hypot((double)(now.x - end.x), (double)(now.y - end.y));
        end = now;
        *last = f;
    }
    *straight = hypot((double)(end.x - start.x), (double)(end.y - start.y));
    return walked;
}

static void paths(const th_tracks *tracks, th_tracks_smoothness *smoothness) {
    double ratio = 0, walked = 0, time = 0;
    int walkers = 0;
    for (int k = 0; k < tracks->people; ++k) {
        double straight;
        int last;
        double own = way(tracks, k, &straight, &last);
        walked += own;
        time += last / TH_TRACKS_RATE;
        if (straight < 1) continue; // [m] who has not got anywhere has no way to compare
        ratio += own / straight;
        ++walkers;
    }
    smoothness->path = walkers > 0 ? ratio / walkers : NOTHING;
    smoothness->speed = time > 0 ? walked / time : NOTHING;
}

th_result th_tracks_smooth(const th_tracks *tracks, th_tracks_smoothness *smoothness,
                           th_error *error) {
    size_t most = (size_t)tracks->frames * (size_t)tracks->people + 1, second = 0, third = 0;
    float *acceleration = malloc(most * sizeof *acceleration), *jerk = malloc(most * sizeof *jerk);
    if (!acceleration || !jerk) {
        free(acceleration);
        free(jerk);
        return th_fail(error, TH_NO_MEMORY, "", "no memory for the accelerations of a crowd");
    }
    const float rate2 = (float)(TH_TRACKS_RATE * TH_TRACKS_RATE), rate = (float)TH_TRACKS_RATE;
    for (int k = 0; k < tracks->people; ++k) {
        th_vec2 before = {0, 0};
        for (int f = 2; f < tracks->frames && there(place(tracks, f, k)); ++f) {
            th_vec2 a = place(tracks, f - 2, k), b = place(tracks, f - 1, k);
            th_vec2 c = place(tracks, f, k);
            th_vec2 now = {rate2 * (c.x - 2 * b.x + a.x), rate2 * (c.y - 2 * b.y + a.y)};
            acceleration[second++] = hypotf(now.x, now.y);
            if (f > 2) jerk[third++] = rate * hypotf(now.x - before.x, now.y - before.y);
            before = now;
        }
    }
    smoothness->acceleration = mean_of(acceleration, second);
    smoothness->acceleration_95 = percentile_95(acceleration, second);
    smoothness->jerk = mean_of(jerk, third);
    smoothness->jerk_95 = percentile_95(jerk, third);
    paths(tracks, smoothness);
    free(acceleration);
    free(jerk);
    return TH_OK;
}
