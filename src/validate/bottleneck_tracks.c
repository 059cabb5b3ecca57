// Runs a crowd and reads flow, density and smoothness from its tracks. SPDX-License-Identifier: Apache-2.0
#include "validate/bottleneck_tracks.h"
#include "core/array.h"
#include "core/error.h"
#include "observe/walkers.h"
#include "record/moment.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double NOTHING = (double)NAN;

static th_vec2 place(const th_run_tracks *tracks, int frame, int person) {
    size_t at = (size_t)frame * (size_t)tracks->people + (size_t)person;
    return (th_vec2){tracks->x[at], tracks->y[at]};
}

static bool there(th_vec2 p) { return !isnan(p.x); }

// ---- the run

static bool grow(th_run_tracks *tracks) {
    int room = th_array_capacity_int(tracks->room, tracks->frames + 1);
    size_t places = (size_t)room * (size_t)tracks->people;
    if (!TH_RESIZE(tracks->x, places) || !TH_RESIZE(tracks->y, places)) return false;
    tracks->room = room;
    return true;
}

// Everybody's place now. False: no memory.
static bool keep_frame(const th_moment *now, th_run_tracks *tracks) {
    if (tracks->frames == tracks->room && !grow(tracks)) return false;
    size_t begin = (size_t)tracks->frames * (size_t)tracks->people;
    for (int k = 0; k < tracks->people; ++k)
        tracks->x[begin + (size_t)k] = tracks->y[begin + (size_t)k] = NAN;
    for (int i = 0; i < now->count; ++i) {
        if (now->id[i] < 1 || now->id[i] > tracks->people) continue;
        size_t at = begin + (size_t)now->id[i] - 1;
        tracks->x[at] = (float)now->x[i];
        tracks->y[at] = (float)now->y[i];
    }
    ++tracks->frames;
    return true;
}

static th_result watch(th_world *world, const th_tracks_def *def, th_run_tracks *tracks,
                       th_error *error) {
    int steps = (int)lround(1 / (TH_TRACKS_RATE * def->step));
    tracks->people = th_world_agent_count(world);
    double overlaps = 0;
    th_world_moment crowd = {0};
    bool good;
    for (;;) {
        good = th_world_moment_take(&crowd, world, 0) && keep_frame(&crowd.moment, tracks);
        if (!good) break;
        th_statistics now = th_world_statistics(world);
        tracks->repairs = now.repairs;
        tracks->deepest_overlap = fmax(tracks->deepest_overlap, (double)now.deepest_overlap);
        if (now.inside > 0) overlaps += 100.0 * (double)now.overlaps / (double)now.inside;
        if (th_world_done(world) || now.time >= def->max_time) break;
        th_world_step(world, steps);
    }
    th_world_moment_release(&crowd);
    tracks->overlaps = overlaps / tracks->frames;
    return good ? TH_OK : th_fail(error, TH_NO_MEMORY, "", "no memory for the tracks of a crowd");
}

th_result th_tracks_run(const th_tracks_def *def, th_run_tracks *tracks, th_error *error) {
    *tracks = (th_run_tracks){0};
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

void th_tracks_release(th_run_tracks *tracks) {
    free(tracks->x);
    free(tracks->y);
    *tracks = (th_run_tracks){0};
}

// ---- what is measured as in a recording

bool th_tracks_frame_make(th_tracks_frame *room, const th_run_tracks *tracks) {
    size_t people = (size_t)tracks->people + 1;
    *room = (th_tracks_frame){.id = malloc(people * sizeof *room->id),
                              .memory = malloc(4 * people * sizeof *room->memory),
                              .people = tracks->people};
    return room->id && room->memory;
}

void th_tracks_frame_release(th_tracks_frame *room) {
    free(room->id);
    free(room->memory);
}

th_moment th_tracks_moment(const th_run_tracks *tracks, int frame, const th_tracks_frame *room) {
    double *x = room->memory, *y = x + room->people;
    double *velocity_x = y + room->people, *velocity_y = velocity_x + room->people;
    th_moment moment = {.number = frame,
                        .time = frame / TH_TRACKS_RATE,
                        .id = room->id,
                        .x = x,
                        .y = y,
                        .velocity_x = velocity_x,
                        .velocity_y = velocity_y};
    for (int k = 0; frame < tracks->frames && k < tracks->people; ++k) {
        th_vec2 p = place(tracks, frame, k), before = frame > 0 ? place(tracks, frame - 1, k) : p;
        if (!there(p)) continue;
        int i = moment.count++;
        room->id[i] = k + 1;
        x[i] = (double)p.x;
        y[i] = (double)p.y;
        velocity_x[i] = TH_TRACKS_RATE * (double)(p.x - before.x);
        velocity_y[i] = TH_TRACKS_RATE * (double)(p.y - before.y);
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

th_result th_tracks_look(const th_run_tracks *tracks, double line, th_tracks_found *found,
                         th_error *error) {
    const double far = 100;                                      // [m] wider than any of the doors
    th_line_watch watch = {.a = {line, far}, .b = {line, -far}}; // forward is +x
    th_walkers *walkers = th_walkers_create();
    th_tracks_frame room;
    bool good = th_tracks_frame_make(&room, tracks) && walkers;
    for (int f = 0; good && f < tracks->frames; ++f) {
        th_moment moment = th_tracks_moment(tracks, f, &room);
        good = th_walkers_see(walkers, &moment) && th_line_see(&watch, walkers, &moment);
    }
    th_result done = good ? sum_up(walkers, &watch, found, error)
                          : th_fail(error, TH_NO_MEMORY, "", "no memory to measure a crowd");
    th_line_release(&watch);
    th_walkers_destroy(walkers);
    th_tracks_frame_release(&room);
    return done;
}

static bool inside(const th_box *box, th_vec2 p) {
    return p.x >= box->min_x && p.x < box->max_x && p.y >= box->min_y && p.y < box->max_y;
}

th_tracks_area th_tracks_in(const th_run_tracks *tracks, th_box box, double from, double to) {
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

double th_tracks_densest(const th_run_tracks *tracks) {
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
