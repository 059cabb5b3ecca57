// Runs a crowd and reads flow, density and smoothness from its tracks. SPDX-License-Identifier: Apache-2.0
#include "validate/bottleneck_tracks.h"
#include "core/error.h"
#include "observe/crossing.h"
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

// ---- what is measured as in a recording

// One frame as a moment of a recording; the arrays have room for everybody.
typedef struct frame_view {
    int64_t *id;
    double *x, *y, *velocity_x, *velocity_y;
} frame_view;

static th_moment moment_of(const th_tracks *tracks, int frame, const frame_view *view) {
    th_moment moment = {.number = frame,
                        .time = frame / TH_TRACKS_RATE,
                        .id = view->id,
                        .x = view->x,
                        .y = view->y,
                        .velocity_x = view->velocity_x,
                        .velocity_y = view->velocity_y};
    for (int k = 0; k < tracks->people; ++k) {
        th_vec2 p = place(tracks, frame, k), before = frame > 0 ? place(tracks, frame - 1, k) : p;
        if (!there(p)) continue;
        int i = moment.count++;
        view->id[i] = k + 1;
        view->x[i] = (double)p.x;
        view->y[i] = (double)p.y;
        view->velocity_x[i] = TH_TRACKS_RATE * (double)(p.x - before.x);
        view->velocity_y[i] = TH_TRACKS_RATE * (double)(p.y - before.y);
    }
    return moment;
}

static double mean_detour(const th_walkers *walkers) {
    double sum = 0;
    int count = 0;
    for (int k = 0; k < walkers->count; ++k) {
        // [m] Who has not got anywhere has no way to compare.
        if (th_walker_distance(&walkers->all[k]) < 1) continue;
        sum += th_walker_detour(&walkers->all[k]);
        ++count;
    }
    return count > 0 ? sum / count : NOTHING;
}

static th_result sum_up(const th_walkers *walkers, const th_line_watch *line,
                        th_tracks_found *found, th_error *error) {
    th_line_flow forward, backward;
    th_result done = th_line_flow_of(line, true, &forward, error);
    if (done == TH_OK) done = th_line_flow_of(line, false, &backward, error);
    if (done != TH_OK) return done;
    *found =
        (th_tracks_found){.through = forward.count - backward.count,
                          .first = forward.first_time,
                          .last = forward.last_time,
                          .flow = isnan(forward.flow) ? 0 : forward.flow,
                          .acceleration = th_histogram_mean(&walkers->acceleration),
                          .acceleration_95 = th_histogram_quantile(&walkers->acceleration, 0.95),
                          .jerk = th_histogram_mean(&walkers->jerk),
                          .jerk_95 = th_histogram_quantile(&walkers->jerk, 0.95),
                          .path = mean_detour(walkers),
                          .speed = th_histogram_mean(&walkers->speed)};
    return TH_OK;
}

th_result th_tracks_look(const th_tracks *tracks, double line, th_tracks_found *found,
                         th_error *error) {
    const double far = 100; // [m] wider than any of the doors
    size_t people = (size_t)tracks->people + 1;
    th_line_watch watch = {.a = {line, far}, .b = {line, -far}}; // forward is +x
    th_walkers *walkers = th_walkers_create();
    double *memory = malloc(4 * people * sizeof *memory);
    int64_t *id = malloc(people * sizeof *id);
    bool good = walkers && memory && id;
    for (int f = 0; good && f < tracks->frames; ++f) {
        frame_view view = {id, memory, memory + people, memory + 2 * people, memory + 3 * people};
        th_moment moment = moment_of(tracks, f, &view);
        good = th_walkers_see(walkers, &moment) && th_line_see(&watch, walkers, &moment);
    }
    th_result done = good ? sum_up(walkers, &watch, found, error)
                          : th_fail(error, TH_NO_MEMORY, "", "no memory to measure a crowd");
    th_line_release(&watch);
    th_walkers_destroy(walkers);
    free(memory);
    free(id);
    return done;
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
