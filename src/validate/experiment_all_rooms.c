// Doors of every width, rooms that must empty, and the time step: the second half of `throng experiment all`.
// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "validate/experiment_all.h"
#include "validate/experiment_bottleneck.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double NOTHING = (double)NAN;

// ---- doors

static const double kretz_widths[] = {0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2}; // [m]
enum {
    KRETZ = sizeof kretz_widths / sizeof *kretz_widths,
    ADRIAN = KRETZ + TH_FLOW_SEYFRIED,
    HERMES,
    DOORS
};
#define LONGEST 300.0 // [s] three times what the slowest measured run took

enum { FLOW, JAM, LEFT_BEHIND };

static th_result walk_door(const th_experiment_settings *settings, int place, uint64_t seed,
                           th_all_found *found, th_error *error) {
    th_door_scene *scene = malloc(sizeof *scene);
    if (!scene) return th_fail(error, TH_NO_MEMORY, "", "no memory for a scene");
    if (place < KRETZ)
        th_scene_kretz(scene, kretz_widths[place], &settings->choice);
    else if (place < ADRIAN)
        th_scene_seyfried(scene, th_flow_seyfried[place - KRETZ].width, &settings->choice);
    else if (place == ADRIAN)
        th_scene_adrian(scene, &settings->choice);
    else
        th_scene_hermes(scene, &settings->choice);
    th_door_found door = {0};
    th_result done = th_door_run(scene, seed, LONGEST, &door, error);
    free(scene);
    found->number[FLOW] = door.flow;
    found->number[JAM] = door.density;
    found->number[LEFT_BEHIND] = door.people - door.through;
    return done;
}

// Mean of the measured runs at a width.
static double kretz_flow(double width) {
    double sum = 0;
    int count = 0;
    for (int k = 0; k < TH_FLOW_KRETZ; ++k)
        if (fabs(th_flow_kretz[k].width - width) < 1e-9) sum += th_flow_kretz[k].flow, ++count;
    return sum / count;
}

static void judge_doors(th_all_study *study, const th_all_found *found, int seeds) {
    char what[96];
    for (int p = 0; p < DOORS; ++p) {
        double people;
        if (p < KRETZ) {
            people = kretz_flow(kretz_widths[p]);
            snprintf(what, sizeof what, "flow [1/s], %.1f m, Kretz 2006", kretz_widths[p]);
        } else if (p < ADRIAN) {
            people = th_flow_seyfried[p - KRETZ].flow;
            snprintf(what, sizeof what, "flow [1/s], %.1f m, Seyfried 2009",
                     th_flow_seyfried[p - KRETZ].width);
        } else {
            people = p == ADRIAN ? th_flow_adrian.flow : th_flow_hermes.flow;
            snprintf(what, sizeof what, "flow [1/s], %s",
                     p == ADRIAN ? "0.5 m, 040_c_56" : "3.0 m, AO_300");
        }
        th_all_near(study, "doors", what, people, th_all_summary(found + p * seeds, seeds, FLOW), 2,
                    0.15);
    }
    th_all_near(study, "doors", "density before it [1/m2], 0.5 m, 040_c_56", th_jam_adrian,
                th_all_summary(found + ADRIAN * seeds, seeds, JAM), 1, 0.25);
    th_all_near(study, "doors", "density before it [1/m2], 3.0 m, AO_300", th_jam_hermes,
                th_all_summary(found + HERMES * seeds, seeds, JAM), 1, 0.25);
    int behind = 0;
    for (int k = 0; k < DOORS * seeds; ++k) behind += found[k].number[LEFT_BEHIND] > 0;
    snprintf(what, sizeof what, "of %d runs", DOORS * seeds);
    th_all_add(study, &(th_all_row){.name = "doors",
                                    .what = "runs with somebody left behind after 300 s",
                                    .remark = what,
                                    .bar = "none",
                                    .people = 0,
                                    .own = th_all_single(behind, seeds),
                                    .pass = behind == 0});
}

// ---- rooms that must empty

typedef struct room {
    int people;
    double width; // of the door [m]
} room;

// Until nobody is inside; NaN where somebody still is after `longest`.
static th_result empty_room(const th_experiment_settings *settings, room r, uint64_t seed,
                            double step, double longest, double *time, th_error *error) {
    th_door_scene *text = malloc(sizeof *text);
    if (!text) return th_fail(error, TH_NO_MEMORY, "", "no memory for a scene");
    th_scene_room(text, r.people, r.width, seed, &settings->choice);
    th_scene *scene = NULL;
    th_world *world = NULL;
    th_world_def def = th_world_def_default();
    def.threads = 1;
    def.seed = seed;
    def.step = step;
    th_result done =
        th_scene_load_json(text->text, strlen(text->text), "room", NULL, NULL, &scene, error);
    if (done == TH_OK) done = th_world_create(scene, &def, &world, error);
    while (done == TH_OK && !th_world_done(world) && th_world_time(world) < longest)
        th_world_step(world, 1);
    if (done == TH_OK) *time = th_world_done(world) ? th_world_time(world) : NOTHING;
    th_world_destroy(world);
    th_scene_destroy(scene);
    free(text);
    return done;
}

static const double widths[] = {0.6, 0.7, 0.8, 0.9, 1.0, 1.2}; // [m]
enum { WIDTHS = sizeof widths / sizeof *widths };

// Ten times what people need at 1.2 /s, and enough for a walk.
static th_result walk_room(const th_experiment_settings *settings, int people, int place,
                           uint64_t seed, th_all_found *found, th_error *error) {
    return empty_room(settings, (room){people, widths[place]}, seed, 0.1, 60 + 10 * people / 1.2,
                      &found->number[0], error);
}

static void judge_rooms(th_all_study *study, const th_all_found *found, int seeds,
                        const char *crowd) {
    for (int p = 0; p < WIDTHS; ++p) {
        th_sample_summary own = th_all_summary(found + p * seeds, seeds, 0);
        bool empty = own.count == seeds;
        char what[64], remark[96];
        snprintf(what, sizeof what, "time [s], %s, %.1f m", crowd, widths[p]);
        int used = snprintf(remark, sizeof remark, "%d of %d runs empty", own.count, seeds);
        if (own.count > 0)
            snprintf(remark + used, sizeof remark - (size_t)used, ", slowest / median %.2f",
                     own.max / own.median);
        own.count = seeds;
        th_all_add(study, &(th_all_row){.name = "lock_ups",
                                        .what = what,
                                        .remark = remark,
                                        .bar = "all empty, slowest < 2 x median",
                                        .people = NOTHING,
                                        .own = own,
                                        .decimals = 0,
                                        .pass = empty && own.max < 2 * own.median});
    }
}

static th_result walk_lone(const th_experiment_settings *settings, int place, uint64_t seed,
                           th_all_found *found, th_error *error) {
    return walk_room(settings, 1, place, seed, found, error);
}
static th_result walk_60(const th_experiment_settings *settings, int place, uint64_t seed,
                         th_all_found *found, th_error *error) {
    return walk_room(settings, 60, place, seed, found, error);
}
static th_result walk_300(const th_experiment_settings *settings, int place, uint64_t seed,
                          th_all_found *found, th_error *error) {
    return walk_room(settings, 300, place, seed, found, error);
}
static void judge_lone(th_all_study *study, const th_all_found *found, int seeds) {
    judge_rooms(study, found, seeds, "one person");
}
static void judge_60(th_all_study *study, const th_all_found *found, int seeds) {
    judge_rooms(study, found, seeds, "60 people");
}
static void judge_300(th_all_study *study, const th_all_found *found, int seeds) {
    judge_rooms(study, found, seeds, "300 people");
}

// ---- time step

static const room step_rooms[] = {{60, 0.8}, {60, 1.2}, {300, 1.0}};
enum { STEP_ROOMS = sizeof step_rooms / sizeof *step_rooms };

static th_result walk_steps(const th_experiment_settings *settings, int place, uint64_t seed,
                            th_all_found *found, th_error *error) {
    th_result done =
        empty_room(settings, step_rooms[place], seed, 0.1, 3000, &found->number[0], error);
    return done != TH_OK ? done
                         : empty_room(settings, step_rooms[place], seed, 0.05, 3000,
                                      &found->number[1], error);
}

static void judge_steps(th_all_study *study, const th_all_found *found, int seeds) {
    for (int p = 0; p < STEP_ROOMS; ++p) {
        char what[96];
        snprintf(what, sizeof what, "%d people, %.1f m: all out [s], 0.05 s against 0.1 s",
                 step_rooms[p].people, step_rooms[p].width);
        th_all_near(study, "time_step", what, th_all_summary(found + p * seeds, seeds, 0).mean,
                    th_all_summary(found + p * seeds, seeds, 1), 1, 0.05);
    }
}

const th_all_family th_all_rooms[] = {
    {"doors", DOORS, 10, 2, walk_door, judge_doors},
    {"lock_ups", WIDTHS, 40, 10, walk_lone, judge_lone},
    {"lock_ups", WIDTHS, 40, 10, walk_60, judge_60},
    {"lock_ups", WIDTHS, 10, 2, walk_300, judge_300},
    {"time_step", STEP_ROOMS, 3, 1, walk_steps, judge_steps},
};
const int th_all_rooms_count = sizeof th_all_rooms / sizeof *th_all_rooms;
