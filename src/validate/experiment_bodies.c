// Rows of `throng experiment all` about bodies: waves in single file, motivation and pushing at doors, an alley that fills
// up, wheelchairs among seat rows. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "observe/density.h"
#include "record/moment.h"
#include "throng/scene_view.h"
#include "validate/doors.h"
#include "validate/experiments.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double NOTHING = (double)NAN;

// `people` with a parameter of its own, as in a scene file.
static th_models_choice with(const th_experiment_settings *settings, char text[128],
                             const char *name, double value) {
    th_models_choice choice = settings->choice;
    snprintf(text, 128, "{\"model\": \"people\", \"%s\": %g}", name, value);
    choice.move = text;
    return choice;
}

static void add_order(th_all_study *study, const char *name, const char *what, const char *bar,
                      int seeds, double value, int decimals, bool pass) {
    th_all_add(study, &(th_all_row){.name = name,
                                    .what = what,
                                    .bar = bar,
                                    .people = NOTHING,
                                    .own = th_all_single(value, seeds),
                                    .decimals = decimals,
                                    .pass = pass});
}

// ---- waves: rings of 26 m with 34 and 56 people

// Speeds 2 m apart in recordings n34_cam2 and n56_cam1 of caserne 2006 (Seyfried et al. 2010), every 0.4 s on 3 m of the
// ring, by the same method.
static const struct {
    int people;
    double speed; // [m/s]
} waves[] = {{34, -0.56}, {56, -0.67}};

th_result th_all_walk_waves(const th_experiment_settings *settings, int place, uint64_t seed,
                            th_all_found *found, th_error *error) {
    const double length = 26, width = 0.8;
    th_periodic_def def = th_periodic_def_default(settings->choice.filter, settings->choice.move,
                                                  waves[place].people / (length * width));
    def.length = length;
    def.width = width;
    def.step = 0.1;
    def.speed = 1.24;
    def.warm_up = 60;
    def.measured = 80;
    def.waves = 2;
    def.seed = seed;
    if (settings->choice.radius) def.radius = atof(settings->choice.radius);
    th_periodic_result result;
    th_result done = th_periodic_run(&def, &result, error);
    found->number[0] = result.wave_speed;
    return done;
}

void th_all_judge_waves(th_all_study *study, const th_all_found *found, int seeds) {
    for (int p = 0; p < 2; ++p) {
        char what[96];
        snprintf(what, sizeof what, "speed of waves [m/s], %d people on 26 m", waves[p].people);
        th_all_near(study, "single_file", what, waves[p].speed,
                    th_all_summary(found + p * seeds, seeds, 0), 2, 0.25);
    }
}

// ---- motivation: the door of 0.5 m of 040_c_56

static const double eager[TH_ALL_EAGER] = {0, 0.5, 1, 1.5, 2};
enum { FLOW, JAM };

static th_result walk_door(th_door_scene *scene, uint64_t seed, th_all_found *found,
                           th_error *error) {
    th_door_found door = {0};
    th_result done = th_door_run(scene, seed, 300, &door, error);
    found->number[FLOW] = door.flow;
    found->number[JAM] = door.density;
    return done;
}

th_result th_all_walk_eager(const th_experiment_settings *settings, int place, uint64_t seed,
                            th_all_found *found, th_error *error) {
    char text[128];
    th_models_choice choice = with(settings, text, "eagerness", eager[place]);
    th_door_scene *scene = malloc(sizeof *scene);
    if (!scene) return th_fail(error, TH_NO_MEMORY, "", "no memory for a scene");
    th_scene_adrian(scene, &choice);
    th_result done = walk_door(scene, seed, found, error);
    free(scene);
    return done;
}

// Adrian, Boltes, Sieben, Seyfried 2020 (TGF 2019): where the motivation is higher, it is denser before the door, and no
// fewer people pass it.
void th_all_judge_eager(th_all_study *study, const th_all_found *found, int seeds) {
    double density = 0, flow = 0;
    for (int p = 0; p < TH_ALL_EAGER; ++p) {
        double own = th_all_summary(found + p * seeds, seeds, JAM).mean,
               through = th_all_summary(found + p * seeds, seeds, FLOW).mean;
        char what[96];
        snprintf(what, sizeof what, "density before 0.5 m [1/m2], eagerness %g", eager[p]);
        add_order(study, "eager", what, "more than with less", seeds, own, 1,
                  p == 0 || own > density);
        snprintf(what, sizeof what, "flow through 0.5 m [1/s], eagerness %g", eager[p]);
        add_order(study, "eager", what, "no less than with less, by 3 %", seeds, through, 2,
                  p == 0 || through >= 0.97 * flow);
        density = own;
        flow = through;
    }
}

// ---- pushing at a narrow door

// Garcimartin, Pastor, Zuriguel and others 2014 to 2016: students who push leave through 0.69 m more slowly.
static const double pushing[TH_ALL_PUSHING] = {0.01, 0.05, 0.1};

th_result th_all_walk_pushing(const th_experiment_settings *settings, int place, uint64_t seed,
                              th_all_found *found, th_error *error) {
    char text[128];
    th_models_choice choice = with(settings, text, "lean", pushing[place]);
    th_door_scene *scene = malloc(sizeof *scene);
    if (!scene) return th_fail(error, TH_NO_MEMORY, "", "no memory for a scene");
    th_scene_kretz(scene, 0.69, &choice);
    th_result done = walk_door(scene, seed, found, error);
    free(scene);
    return done;
}

void th_all_judge_pushing(th_all_study *study, const th_all_found *found, int seeds) {
    double first = th_all_summary(found, seeds, FLOW).mean, density = 0;
    for (int p = 0; p < TH_ALL_PUSHING; ++p) {
        double own = th_all_summary(found + p * seeds, seeds, JAM).mean,
               flow = th_all_summary(found + p * seeds, seeds, FLOW).mean;
        char what[96];
        snprintf(what, sizeof what, "density before 0.69 m [1/m2], lean %g", pushing[p]);
        add_order(study, "pushing", what, "more than with less", seeds, own, 1,
                  p == 0 || own > density);
        snprintf(what, sizeof what, "flow through 0.69 m [1/s], lean %g", pushing[p]);
        add_order(study, "pushing", what, "less than with 0.01", seeds, flow, 2,
                  p == 0 || flow < first);
        density = own;
    }
}

// ---- an alley of 4 m into which 4 people/s go from each end

enum { MOUTHS, MIDDLE, DENSEST, LOAD, LOAD_THERE };

// Means over the last half minute of two.
static th_result watch_alley(th_world *world, const th_scene_view *view, th_all_found *found,
                             th_error *error) {
    const double from = 90, until = 120, quarter = 10, width = 4;
    const unsigned known = TH_KNOW_VELOCITY | TH_KNOW_PHASE | TH_KNOW_GROUP | TH_KNOW_BODY;
    int looks = 0, steps = (int)lround(1 / th_world_step_length(world));
    th_world_moment crowd = {0};
    bool good = true;
    while (good && th_world_time(world) < until) {
        th_world_step(world, steps);
        if (th_world_time(world) < from) continue;
        good = th_world_moment_take(&crowd, world, known);
        float *densities = good ? th_people_density(view, &crowd.moment) : NULL;
        float *loads = good ? calloc((size_t)crowd.moment.count + 1, sizeof *loads) : NULL;
        good = densities && loads && th_world_contact_forces(world, loads);
        for (int i = 0; good && i < crowd.moment.count; ++i) {
            double x = crowd.moment.x[i];
            if (x < 0 || x > 4 * quarter) continue;
            found->number[fabs(x - 2 * quarter) < quarter ? MIDDLE : MOUTHS] +=
                1 / (2 * quarter * width);
            found->number[LOAD] = fmax(found->number[LOAD], 0.5 * (double)loads[i]);
            if ((double)densities[i] < found->number[DENSEST]) continue;
            found->number[DENSEST] = (double)densities[i];
            found->number[LOAD_THERE] = 0.5 * (double)loads[i];
        }
        free(densities);
        free(loads);
        ++looks;
    }
    th_world_moment_release(&crowd);
    found->number[MOUTHS] /= looks;
    found->number[MIDDLE] /= looks;
    return good ? TH_OK : th_fail(error, TH_NO_MEMORY, "", "no memory to watch an alley");
}

th_result th_all_walk_alley(const th_experiment_settings *settings, int place, uint64_t seed,
                            th_all_found *found, th_error *error) {
    (void)place;
    th_scene *scene = NULL;
    th_world *world = NULL;
    th_world_def def = th_world_def_default();
    def.threads = 1;
    def.seed = seed;
    th_result done =
        th_hall_load(&(th_hall_def){.stem = "alley"}, &settings->choice, &scene, error);
    if (done == TH_OK) done = th_world_create(scene, &def, &world, error);
    if (done == TH_OK) done = watch_alley(world, th_scene_view_of(scene), found, error);
    th_world_destroy(world);
    th_scene_destroy(scene);
    return done;
}

void th_all_judge_alley(th_all_study *study, const th_all_found *found, int seeds) {
    double middle = th_all_summary(found, seeds, MIDDLE).mean,
           mouths = th_all_summary(found, seeds, MOUTHS).mean,
           densest = th_all_summary(found, seeds, DENSEST).mean;
    add_order(study, "alley", "density of the middle half after 90 s [1/m2]",
              "at least half of that of the rest", seeds, middle, 1, middle >= 0.5 * mouths);
    add_order(study, "alley", "density of the rest [1/m2]", "at least 1", seeds, mouths, 1,
              mouths >= 1);
    add_order(study, "alley", "highest density [1/m2]", ">= 8", seeds, densest, 1, densest >= 8);
    add_order(study, "alley", "highest load [N]", "above 100 N", seeds,
              th_all_summary(found, seeds, LOAD).mean, 0,
              th_all_summary(found, seeds, LOAD).mean > 100);
}

// ---- wheelchairs among seat rows

th_result th_all_walk_rigid(const th_experiment_settings *settings, int place, uint64_t seed,
                            th_all_found *found, th_error *error) {
    (void)place;
    th_hall_found hall;
    th_result done =
        th_hall_run(&(th_hall_def){.stem = "seat_rows"}, &settings->choice, seed, &hall, error);
    found->number[0] = hall.inside;
    found->number[1] = hall.time;
    return done;
}

void th_all_judge_rigid(th_all_study *study, const th_all_found *found, int seeds) {
    int stuck = 0;
    for (int k = 0; k < seeds; ++k) stuck += found[k].number[0] > 0;
    th_all_add(study, &(th_all_row){.name = "rigid",
                                    .what = "3 % wheelchairs, seat rows: runs that do not empty",
                                    .bar = "none",
                                    .people = 0,
                                    .own = th_all_single(stuck, seeds),
                                    .pass = stuck == 0});
}
