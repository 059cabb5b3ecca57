// Scenes of the experiments at doors, and runs of them. SPDX-License-Identifier: Apache-2.0
#include "validate/doors.h"
#include "core/error.h"
#include "core/memory.h"
#include "observe/density.h"
#include "observe/walkers.h"
#include "record/moment.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- scene files, written by hand from the experiments' plans

// Speeds are throng's default, Weidmann 1993.
th_models_choice th_door_choice(const char *filter, const char *move) {
    return (th_models_choice){
        .filter = filter, .move = move, .radius = "{\"uniform\": [0.178, 0.2]}"};
}

static void add(th_door_scene *scene, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void add(th_door_scene *scene, const char *format, ...) {
    size_t length = strlen(scene->text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(scene->text + length, sizeof scene->text - length, format, arguments);
    va_end(arguments);
}

// The rest of a scene whose people stand somewhere in start and leave by the exit.
static void add_people(th_door_scene *scene, th_box start, th_box exit,
                       const th_models_choice *choice) {
    char models[TH_CHOICE_TEXT];
    th_choice_text(choice, ", ", models);
    add(scene, "\"exits\": [{\"id\": \"out\", \"area\": {\"rect\": [%g, %g, %g, %g]}}],\n",
        (double)exit.min_x, (double)exit.min_y, (double)exit.max_x, (double)exit.max_y);
    add(scene,
        "\"groups\": [{\"count\": %d, \"area\": {\"rect\": [%g, %g, %g, %g]}, \"to\": "
        "\"out\"%s}]}\n",
        scene->people, (double)start.min_x, (double)start.min_y, (double)start.max_x,
        (double)start.max_y, models);
}

// A room of 4 m and a passage in the middle of its wall.
static void passage(th_door_scene *scene, const char *name, int people, double width, double length,
                    double run_up, const th_models_choice *choice) {
    const double density = 3.3, half = 2; // [1/m2], [m]
    *scene = (th_door_scene){.people = people, .line = 0.5 * length};
    double depth = people / density / (2 * half), back = -run_up - depth - 1;
    add(scene, "{\"name\": \"%s, %.1f m\", \"levels\": [{\"walkable\": [", name, width);
    add(scene, "{\"rect\": [%g, %g, 0, %g]}, ", back, -half, half);
    add(scene, "{\"rect\": [-0.1, %g, %g, %g]}, ", -0.5 * width, length + 0.1, 0.5 * width);
    add(scene, "{\"rect\": [%g, %g, %g, %g]}]}],\n", length, -half, length + 3, half);
    th_box start = {(float)(-run_up - depth), (float)-half, (float)-run_up, (float)half};
    th_box exit = {(float)(length + 2), (float)-half, (float)(length + 3), (float)half};
    add_people(scene, start, exit, choice);
    scene->jam = (th_box){-1.5f, -0.5f, -0.5f, 0.5f}; // a square metre, 1 m before the passage
    scene->shown = (th_box){(float)back, (float)-half, (float)(length + 3), (float)half};
}

void th_scene_seyfried(th_door_scene *scene, double width, const th_models_choice *choice) {
    passage(scene, "Seyfried 2009", 60, width, 2.8, 3, choice);
}

void th_scene_kretz(th_door_scene *scene, double width, const th_models_choice *choice) {
    passage(scene, "Kretz 2006", 100, width, 0.4, 1, choice);
}

void th_scene_adrian(th_door_scene *scene, const th_models_choice *choice) {
    *scene = (th_door_scene){.people = 75, .line = 0};
    add(scene,
        "{\"name\": \"Adrian 2020, 040_c_56_h-\", \"levels\": [{\"walkable\": ["
        "[-6.7, -2.8], [0, -2.8], [0, -0.4], [0.15, -0.25], [1.1, -0.25], [1.1, -2], [4, -2],"
        "[4, 2], [1.1, 2], [1.1, 0.25], [0.15, 0.25], [0, 0.4], [0, 2.8], [-6.7, 2.8]]}],\n");
    // Where people stood in the first frame.
    add_people(scene, (th_box){-6.0f, -2.6f, -0.1f, 2.6f}, (th_box){3, -2, 4, 2}, choice);
    scene->jam = (th_box){-1.3f, -0.4f, -0.5f, 0.4f}; // as in the archive's own analysis
    scene->shown = (th_box){-6.7f, -2.8f, 4, 2.8f};
}

void th_scene_hermes(th_door_scene *scene, const th_models_choice *choice) {
    *scene = (th_door_scene){.people = 348, .line = 0};
    // The plan has the passage 7.5 cm off the middle of the room; y is its y less 0.9 m, mirrored.
    const double density = 3.2, low = -3.1, high = 3.15; // [1/m2], [m]
    double front = -0.6, back = front - scene->people / density / (high - low);
    add(scene, "{\"name\": \"Hermes 2009, AO_300\", \"levels\": [{\"walkable\": [");
    add(scene, "{\"rect\": [%g, %g, -0.53, %g]}, {\"rect\": [-0.63, -1.5, 0.63, 1.5]}, ", back - 1,
        low, high);
    add(scene, "{\"rect\": [0.53, %g, 6.25, %g]}]}],\n", low, high);
    th_box start = {(float)back, (float)low, (float)front, (float)high};
    add_people(scene, start, (th_box){5.25f, (float)low, 6.25f, (float)high}, choice);
    scene->jam = (th_box){-2.6f, -1.5f, -0.6f, 1.5f};
    scene->shown = (th_box){-12, (float)low, 6.25f, (float)high};
}

void th_scene_grandstand(th_door_scene *scene, const th_models_choice *choice) {
    enum { ROWS = 10, SEATS = 15 };
    // [m] of Menge's scene: depth of a row, from row to row, from the mouth to the first, half an aisle, half
    // the grandstand; seats 0.6 m apart: throng's choice, so that 300 people fit.
    const double deep = 0.5, pitch = 0.7, first = 0.35, aisle = 1, side = 10, seat = 0.6;
    *scene = (th_door_scene){.people = 2 * ROWS * SEATS, .line = 0};
    add(scene, "{\"name\": \"grandstand\", \"levels\": [{\"walkable\": ["
               "{\"rect\": [-7.5, -1, 5, 1]}");
    for (int row = 0; row < ROWS; ++row) {
        double x = -first - row * pitch;
        add(scene, ", {\"rect\": [%g, %g, %g, %g]}", x - deep, -side, x, side);
    }
    add(scene, "]}],\n\"exits\": [{\"id\": \"out\", \"area\": {\"rect\": [4, %g, 5, %g]}}],\n",
        -aisle, aisle);
    char models[TH_CHOICE_TEXT];
    th_choice_text(choice, ", ", models);
    add(scene, "\"groups\": [{\"to\": \"out\"%s, \"positions\": [", models);
    for (int k = 0; k < scene->people; ++k) {
        double x = -first - 0.5 * deep - (k / 2 % ROWS) * pitch;
        double y = aisle + 0.5 * seat + (k / 2 / ROWS) * seat;
        add(scene, "%s[%g, %g]", k > 0 ? ", " : "", x, k % 2 ? y : -y);
    }
    add(scene, "]}]}\n");
    scene->jam = (th_box){-1, -1, 1, 1}; // the mouth
    scene->shown = (th_box){-7.6f, -10.1f, 5, 10.1f};
}

// ---- a room that is not along the axes

typedef struct turn {
    double cosine, sine;
} turn;

static void add_points(th_door_scene *scene, turn t, const double (*points)[2], int count) {
    for (int k = 0; k < count; ++k)
        add(scene, "%s[%.4f, %.4f]", k > 0 ? ", " : "",
            t.cosine * points[k][0] - t.sine * points[k][1],
            t.sine * points[k][0] + t.cosine * points[k][1]);
}

void th_scene_room(th_door_scene *scene, int people, double width, int goals, uint64_t seed,
                   const th_models_choice *choice) {
    const double golden = 0.618033988749895, thick = 0.2, deep = 3; // [-], [m]
    double half = 0.5 * sqrt(fmax(people, 16.0)),
           angle = fmod(golden * (double)seed, 1) * 6.2831853;
    double middle = (2 * fmod(golden * golden * (double)seed, 1) - 1) * (half - 1.2);
    double low = middle - width / 2, high = middle + width / 2;
    turn t = {cos(angle), sin(angle)};
    *scene = (th_door_scene){.people = people};
    const double ground[][2] = {{-2 * half, -half},
                                {0, -half},
                                {0, low},
                                {thick, low},
                                {thick, -half},
                                {thick + deep, -half},
                                {thick + deep, half},
                                {thick, half},
                                {thick, high},
                                {0, high},
                                {0, half},
                                {-2 * half, half}};
    const double near = goals > 1 ? thick : thick + deep - 1, far = thick + deep;
    const double bottom = goals > 1 ? 1 - half : half;
    const double out[][2] = {{near, -half}, {far, -half}, {far, bottom}, {near, bottom}};
    const double other[][2] = {{near, half - 1}, {far, half - 1}, {far, half}, {near, half}};
    // A crowd stands anywhere; a person alone comes from the far wall, so that times compare.
    double front = people > 1 ? 0 : 0.7 - 2 * half;
    const double start[][2] = {
        {-2 * half, -half}, {front, -half}, {front, half}, {-2 * half, half}};
    char models[TH_CHOICE_TEXT];
    th_choice_text(choice, ", ", models);
    add(scene, "{\"name\": \"room\", \"levels\": [{\"walkable\": [");
    add_points(scene, t, ground, 12);
    add(scene, "]}], \"exits\": [{\"id\": \"out\", \"area\": [");
    add_points(scene, t, out, 4);
    add(scene, "]}");
    if (goals > 1) {
        add(scene, ", {\"id\": \"other\", \"area\": [");
        add_points(scene, t, other, 4);
        add(scene, "]}");
    }
    add(scene, "],\n\"groups\": [");
    for (int g = 0; g < goals; ++g) {
        int count = g == 0 ? people - people / goals * (goals - 1) : people / goals;
        add(scene, "%s{\"count\": %d, \"area\": [", g > 0 ? ", " : "", count);
        add_points(scene, t, start, 4);
        add(scene, "], \"to\": \"%s\"%s}", g == 0 ? "out" : "other", models);
    }
    add(scene, "]}\n");
}

// ---- tracks, and flow, density and smoothness read from them

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

// The positions of all agents now. False: no memory.
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
        // [m] Without a path there is nothing to compare.
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

// The people of a frame, as the classic density of an area counts them.
static th_result add_frame(const th_region *region, const th_moment *moment, th_level_view *view,
                           th_tracks_area *sum, int *people, th_error *error) {
    const th_level_view_def all = {0};
    th_density_def def = th_density_def_default();
    def.method = TH_CLASSIC;
    th_area_reading reading;
    if (!th_level_view_fill(view, moment, &all))
        return th_fail(error, TH_NO_MEMORY, "", "no memory to measure a crowd");
    th_result done = th_region_measure(region, &def, view->x, view->y, view->speed, view->count,
                                       &reading, NULL, error);
    if (done != TH_OK) return done;
    sum->density += reading.density;
    if (reading.count > 0) sum->speed += reading.count * reading.speed;
    *people += reading.count;
    return TH_OK;
}

th_result th_tracks_in(const th_run_tracks *tracks, th_box box, double from, double to,
                       th_tracks_area *area, th_error *error) {
    const th_place_text place = {
        .is_box = true,
        .box = {(double)box.min_x, (double)box.min_y, (double)box.max_x, (double)box.max_y}};
    char wkt[256];
    th_place_rectangle(&place, wkt, sizeof wkt);
    th_region *region = NULL;
    th_level_view view = {0};
    th_tracks_frame room = {0};
    th_tracks_area sum = {0};
    int frames = 0, people = 0;
    th_result done = th_region_create(NULL, wkt, &region, error);
    if (done == TH_OK && !th_tracks_frame_make(&room, tracks))
        done = th_fail(error, TH_NO_MEMORY, "", "no memory to measure a crowd");
    for (int f = 1; done == TH_OK && f < tracks->frames; ++f) {
        th_moment moment = th_tracks_moment(tracks, f, &room);
        if (!(moment.time >= from && moment.time <= to)) continue;
        ++frames;
        done = add_frame(region, &moment, &view, &sum, &people, error);
    }
    area->density = frames > 0 ? sum.density / frames : NOTHING;
    area->speed = people > 0 ? sum.speed / people : NOTHING;
    th_level_view_release(&view);
    th_tracks_frame_release(&room);
    th_region_destroy(region);
    return done;
}

// ---- flow through one door

th_result th_door_run(const th_door_scene *scene, uint64_t seed, double longest,
                      th_door_found *door, th_error *error) {
    th_tracks_def def = {scene->text, seed, 1 / TH_TRACKS_RATE, longest};
    th_run_tracks tracks;
    th_tracks_found found;
    th_result done = th_tracks_run(&def, &tracks, error);
    if (done == TH_OK) done = th_tracks_look(&tracks, scene->line, &found, error);
    if (done == TH_OK) {
        // The jam stands in the middle half of the time between the first and the last.
        double quarter = 0.25 * (found.last - found.first);
        *door = (th_door_found){.runs = 1,
                                .people = tracks.people,
                                .through = found.through,
                                .flow = found.flow,
                                .overlaps = tracks.overlaps,
                                .acceleration = found.acceleration};
        th_tracks_area jam;
        done = th_tracks_in(&tracks, scene->jam, found.first + quarter, found.last - quarter, &jam,
                            error);
        door->density = jam.density;
    }
    th_tracks_release(&tracks);
    return done;
}
