// `throng experiment all`: one configuration, every bar: corridors, single file, doors of every width, rooms that must
// empty, and the time step. The same people everywhere but for their free speed, which is that of the people of each
// experiment where it was measured.
// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/statistics.h"
#include "validate/corridors.h"
#include "validate/diagram.h"
#include "validate/doors.h"
#include "validate/experiments.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Places of one kind, each run with several seeds and judged together.
typedef struct all_family {
    const char *name; // first word of its rows, for --only
    int places;
    int seeds, quick_seeds;
    th_all_walk *walk;
    th_all_judge *judge;
} all_family;

static const double NOTHING = (double)NAN;

// ---- rows

th_sample_summary th_all_summary(const th_all_found *found, int seeds, int number) {
    double values[64];
    for (int k = 0; k < seeds; ++k) values[k] = found[k].number[number];
    return th_summarise(values, seeds);
}

th_sample_summary th_all_single(double value, int seeds) {
    return (th_sample_summary){.count = seeds, .mean = value, .standard_deviation = NOTHING};
}

void th_all_add(th_all_study *study, const th_all_row *row) {
    th_experiment_table *table = study->table;
    th_cell_text(table, study->configuration);
    th_cell_text(table, row->name);
    th_cell_text(table, row->what);
    th_cell_number(table, row->people, row->decimals);
    th_cell_number(table, row->own.mean, row->decimals);
    th_cell_number(table, row->own.standard_deviation, row->decimals);
    th_cell_number(table, 100 * (row->own.mean / row->people - 1), 0);
    th_cell_text(table, row->bar);
    th_cell_number(table, row->own.count, 0);
    th_cell_text(table, th_verdict_word(row->pass ? TH_PASS : TH_FAIL));
    th_cell_text(table, row->remark ? row->remark : "");
    ++study->bars;
    study->missed += !row->pass;
}

void th_all_near(th_all_study *study, const char *name, const char *what, double people,
                 th_sample_summary own, int decimals, double bar) {
    char text[64];
    snprintf(text, sizeof text, "within %.0f %%", 100 * bar);
    th_all_add(study, &(th_all_row){.name = name,
                                    .what = what,
                                    .bar = text,
                                    .people = people,
                                    .own = own,
                                    .decimals = decimals,
                                    .pass = fabs(own.mean / people - 1) <= bar});
}

// A row about the root mean square of deviations.
static void add_rms(th_all_study *study, const char *name, const char *what, double sum, int terms,
                    int of, int seeds, double bar) {
    char text[64], remark[64];
    snprintf(text, sizeof text, "<= %.2f m/s RMS", bar);
    snprintf(remark, sizeof remark, "%d of %d classes of density reached", terms, of);
    double rms = terms > 0 ? sqrt(sum / terms) : NOTHING;
    th_all_add(study, &(th_all_row){.name = name,
                                    .what = what,
                                    .bar = text,
                                    .remark = terms < of ? remark : NULL,
                                    .people = NOTHING,
                                    .own = th_all_single(rms, seeds),
                                    .decimals = 3,
                                    .pass = rms <= bar});
}

// ---- one way: the nine runs of uo180

static th_result walk_one_way(const th_experiment_settings *settings, int place, uint64_t seed,
                              th_all_found *found, th_error *error) {
    th_corridor_people people = {settings->choice, 100.0};
    // The first need 8 s to the box; a jam before the exit has then to grow back over it.
    th_corridor_window window = {.area = "POLYGON ((0 -2, 1.8 -2, 1.8 0, 0 0, 0 -2))",
                                 .direction = {0.0, -1.0},
                                 .from = 40.0,
                                 .until = people.inflow_time};
    char *scene = th_corridor_one_way(&th_uo180_runs[place], &people);
    th_corridor_result result;
    th_result done = th_corridor_run(scene, seed, &window, 1, &result, error);
    free(scene);
    found->number[0] = result.mean.density;
    found->number[1] = result.mean.speed;
    memcpy(found->bins, result.bins, sizeof found->bins);
    return done;
}

enum { ENOUGH = 50 }; // samples that make a class

// Mean speed in every class of density over all runs against people's. Classes that only one of them reaches say
// nothing about speed at a density; they show in the densities.
static void judge_speed(th_all_study *study, const th_all_found *found, int runs, int seeds) {
    const th_measured_set *people = th_measured_find("uo180");
    double sum = 0;
    int classes = 0;
    for (int c = 0; c < people->count && c < TH_CORRIDOR_CLASSES; ++c) {
        double speed = 0;
        int count = 0;
        for (int k = 0; k < runs; ++k) {
            count += found[k].bins[c].count;
            speed += found[k].bins[c].speed;
        }
        if (count < ENOUGH) continue;
        double off = speed / count - people->points[c].speed;
        sum += off * off;
        ++classes;
    }
    add_rms(study, "one_way", "speed at density, uo180", sum, classes, people->count, seeds, 0.12);
}

static void judge_one_way(th_all_study *study, const th_all_found *found, int seeds) {
    judge_speed(study, found, TH_UO180_RUNS * seeds, seeds);
    for (int r = 0; r < TH_UO180_RUNS; ++r) {
        char what[96];
        snprintf(what, sizeof what, "density [1/m2], uo-%s", th_uo180_runs[r].name);
        th_all_near(study, "one_way", what, th_uo180_runs[r].density,
                    th_all_summary(found + r * seeds, seeds, 0), 2, 0.2);
    }
}

// ---- without ends: the ring of 1.8 m and single file

static th_result walk_ring(const th_experiment_settings *settings, th_periodic_def *def,
                           uint64_t seed, th_all_found *found, th_error *error) {
    def->seed = seed;
    if (settings->choice.radius) def->radius = atof(settings->choice.radius);
    th_periodic_result result;
    th_result done = th_periodic_run(def, &result, error);
    found->number[0] = result.speed;
    found->number[1] = result.standing;
    memcpy(found->own, result.own, sizeof found->own);
    memcpy(found->own_standing, result.own_standing, sizeof found->own_standing);
    return done;
}

static double squares(const th_measured_point *people, int count, const th_all_found *found,
                      int seeds) {
    double sum = 0;
    for (int c = 0; c < count; ++c) {
        double off = th_all_summary(found + c * seeds, seeds, 0).mean - people[c].speed;
        sum += off * off;
    }
    return sum;
}

// A ring of 1.8 m. Its people walk at 1.14 m/s where they are fewest (run ug-180-015).
static th_result walk_ug180(const th_experiment_settings *settings, int place, uint64_t seed,
                            th_all_found *found, th_error *error) {
    double density = th_ug180_classes[place].density;
    th_periodic_def def =
        th_periodic_def_default(settings->choice.filter, settings->choice.move, density);
    def.width = 1.8;
    def.speed = 1.14;
    def.spread = 0.15; // as in uo180, the same people
    return walk_ring(settings, &def, seed, found, error);
}

static void judge_ug180(th_all_study *study, const th_all_found *found, int seeds) {
    add_rms(study, "one_way", "speed in the closed ring, ug180, 0.25 to 4.25 per m2",
            squares(th_ug180_classes, TH_UG180_CLASSES, found, seeds), TH_UG180_CLASSES,
            TH_UG180_CLASSES, seeds, 0.15);
}

// Single file: 26 m x 0.8 m, as long as the oval of the experiment. Free speed 1.24 m/s: Seyfried, Steffen, Klingsch,
// Boltes 2005, J. Stat. Mech. P10002, the same course.
static th_result walk_file(const th_experiment_settings *settings, double per_metre, double speed,
                           uint64_t seed, th_all_found *found, th_error *error) {
    th_periodic_def def =
        th_periodic_def_default(settings->choice.filter, settings->choice.move, per_metre / 0.8);
    def.length = 26;
    def.width = 0.8;
    def.step = 0.1;
    def.speed = speed;
    def.warm_up = def.measured = 60; // waves take half a minute to grow
    return walk_ring(settings, &def, seed, found, error);
}

static th_result walk_caserne(const th_experiment_settings *settings, int place, uint64_t seed,
                              th_all_found *found, th_error *error) {
    return walk_file(settings, th_caserne_classes[place].density, 1.24, seed, found, error);
}

static void judge_caserne(th_all_study *study, const th_all_found *found, int seeds) {
    add_rms(study, "single_file", "speed, caserne 2006, 0.5 to 2.5 per m",
            squares(th_caserne_classes, TH_CASERNE_CLASSES, found, seeds), TH_CASERNE_CLASSES,
            TH_CASERNE_CLASSES, seeds, 0.12);
    for (int c = 0; c < TH_CASERNE_CLASSES; ++c) {
        if (th_caserne_classes[c].density < 1.7) continue; // people do not stand, there as here
        char what[96];
        snprintf(what, sizeof what, "standing [%%], caserne 2006, %.2f per m",
                 th_caserne_classes[c].density);
        // As measured: by the density of each person in all rings.
        int class = (int)lround(th_caserne_classes[c].density / TH_FILE_CLASS);
        double all = 0, standing = 0;
        for (int k = 0; k < TH_CASERNE_CLASSES * seeds; ++k) {
            all += found[k].own[class];
            standing += found[k].own_standing[class];
        }
        double share = 100 * standing / all, people = 100 * th_caserne_standing[c];
        th_all_add(study, &(th_all_row){.name = "single_file",
                                        .what = what,
                                        .bar = "within 5 points",
                                        .people = people,
                                        .own = th_all_single(share, seeds),
                                        .decimals = 1,
                                        .pass = fabs(share - people) <= 5});
    }
}

static th_result walk_rimea(const th_experiment_settings *settings, int place, uint64_t seed,
                            th_all_found *found, th_error *error) {
    return walk_file(settings, th_single_file_bands[place].density, 1.34, seed, found, error);
}

static void judge_rimea(th_all_study *study, const th_all_found *found, int seeds) {
    int inside = 0;
    for (int k = 0; k < TH_SINGLE_FILE_BANDS; ++k) {
        double speed = th_all_summary(found + k * seeds, seeds, 0).mean;
        inside += speed >= th_single_file_bands[k].slow && speed <= th_single_file_bands[k].fast;
    }
    th_all_add(study, &(th_all_row){.name = "single_file",
                                    .what = "RiMEA 16: densities of 10 inside the band",
                                    .bar = "8 of 10",
                                    .people = NOTHING,
                                    .own = th_all_single(inside, seeds),
                                    .pass = 4 * inside >= 3 * TH_SINGLE_FILE_BANDS});
}

// ---- two way

enum { BI400 = TH_TWO_WAY_300, TWO_WAY_PLACES };

// Runs and frees the scene, with streams through the box `area`.
static th_result meet(char *scene, const char *area, double until, uint64_t seed,
                      th_all_found *found, th_error *error) {
    th_corridor_window window = {.area = area, .from = 30.0, .until = until};
    th_corridor_result result;
    th_result done = th_corridor_run(scene, seed, &window, 1, &result, error);
    free(scene);
    found->number[0] = result.mean.flow;
    found->number[1] = result.mean.density;
    found->number[2] = result.late.flow;
    return done;
}

static th_result walk_two_way(const th_experiment_settings *settings, int place, uint64_t seed,
                              th_all_found *found, th_error *error) {
    th_corridor_people people = {settings->choice, 110.0};
    if (place == BI400)
        return meet(th_corridor_both_ways(2.0, &people), "POLYGON ((-1 0, 1 0, 1 4, -1 4, -1 0))",
                    people.inflow_time, seed, found, error);
    return meet(th_corridor_two_way_300(&th_two_way_300[place], &people),
                "POLYGON ((0 -1, 3 -1, 3 1, 0 1, 0 -1))", people.inflow_time, seed, found, error);
}

static th_result walk_two_way_ends(const th_experiment_settings *settings, int place, uint64_t seed,
                                   th_all_found *found, th_error *error) {
    th_corridor_people people = {settings->choice, 110.0};
    return meet(th_corridor_two_way_ends(&th_two_way_300[place], &people),
                "POLYGON ((0 -1, 3 -1, 3 1, 0 1, 0 -1))", people.inflow_time, seed, found, error);
}

static th_measured_state two_way_people(int place) {
    if (place == BI400) return th_bi400;
    const th_two_way_run *run = &th_two_way_300[place];
    return (th_measured_state){run->density, run->speed, run->flow};
}

// A jam: in the last quarter of the time less than half of people's flow.
static void judge_streams(th_all_study *study, const th_all_found *found, int seeds,
                          const char *row, int places) {
    int jams = 0;
    for (int p = 0; p < places; ++p) {
        char what[96], name[48];
        th_measured_state people = two_way_people(p);
        const th_all_found *own = found + p * seeds;
        if (p == BI400)
            snprintf(name, sizeof name, "4 m, bi_corr_400");
        else
            snprintf(name, sizeof name, "3 m, entrances of %.2f m", th_two_way_300[p].entrance);
        snprintf(what, sizeof what, "flow [1/(m s)], %s", name);
        th_all_near(study, row, what, people.flow, th_all_summary(own, seeds, 0), 2, 0.15);
        snprintf(what, sizeof what, "density [1/m2], %s", name);
        th_all_near(study, row, what, people.density, th_all_summary(own, seeds, 1), 2, 0.25);
        for (int k = 0; k < seeds; ++k) jams += !(own[k].number[2] >= 0.5 * people.flow);
    }
    char remark[64];
    snprintf(remark, sizeof remark, "of %d runs", places * seeds);
    th_all_add(study, &(th_all_row){.name = row,
                                    .what = "jams",
                                    .remark = remark,
                                    .bar = "none",
                                    .people = 0,
                                    .own = th_all_single(jams, seeds),
                                    .pass = jams == 0});
}

static void judge_two_way(th_all_study *study, const th_all_found *found, int seeds) {
    judge_streams(study, found, seeds, "two_way", TWO_WAY_PLACES);
}

static void judge_two_way_ends(th_all_study *study, const th_all_found *found, int seeds) {
    judge_streams(study, found, seeds, "two_way_ends", TH_TWO_WAY_300);
}

// ---- around a corner

static th_result walk_corner(const th_experiment_settings *settings, int place, uint64_t seed,
                             th_all_found *found, th_error *error) {
    // The first need 10 s to the second box; half a minute later the last of the crowd come.
    const th_corridor_window windows[2] = {{.area = "POLYGON ((1 -2.4, 3 -2.4, 3 0, 1 0, 1 -2.4))",
                                            .direction = {-1.0, 0.0},
                                            .from = 20.0,
                                            .until = 50.0},
                                           {.area = "POLYGON ((-2.4 1, 0 1, 0 3, -2.4 3, -2.4 1))",
                                            .direction = {0.0, 1.0},
                                            .from = 20.0,
                                            .until = 50.0}};
    char *scene = th_corridor_corner(&th_corner_240[place], &settings->choice);
    th_corridor_result results[2];
    th_result done = th_corridor_run(scene, seed, windows, 2, results, error);
    free(scene);
    for (int k = 0; k < 2; ++k) {
        found->number[2 * k] = results[k].mean.flow;
        found->number[2 * k + 1] = results[k].mean.density;
    }
    return done;
}

static void judge_corner(th_all_study *study, const th_all_found *found, int seeds) {
    for (int p = 0; p < TH_CORNER_240; ++p)
        for (int k = 0; k < 2; ++k) {
            const th_corner_run *run = &th_corner_240[p];
            const th_measured_state *people = k == 0 ? &run->before : &run->after;
            const char *where = k == 0 ? "before" : "behind";
            char what[96];
            snprintf(what, sizeof what, "flow [1/(m s)] %s it, entrance of %.1f m", where,
                     run->entrance);
            th_all_near(study, "corner", what, people->flow,
                        th_all_summary(found + p * seeds, seeds, 2 * k), 2, 0.15);
            snprintf(what, sizeof what, "density [1/m2] %s it, entrance of %.1f m", where,
                     run->entrance);
            th_all_near(study, "corner", what, people->density,
                        th_all_summary(found + p * seeds, seeds, 2 * k + 1), 2, 0.25);
        }
}

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
                                    .what = "runs with people left behind after 300 s",
                                    .remark = what,
                                    .bar = "none",
                                    .people = 0,
                                    .own = th_all_single(behind, seeds),
                                    .pass = behind == 0});
}

// ---- halls in which people choose their way

static const char *const halls[] = {"station", "hall",      "four_ways",
                                    "clump",   "two_exits", "two_exits_two_levels"};
enum { HALLS = sizeof halls / sizeof *halls, MEETINGS = 4 };
enum { DELAY, HELD_UP, DENSEST, EVEN, NOT_OUT };

static th_result run_hall(const th_experiment_settings *settings, const th_hall_def *def,
                          uint64_t seed, th_all_found *found, th_error *error) {
    th_hall_found hall;
    th_result done = th_hall_run(def, &settings->choice, seed, &hall, error);
    found->number[DELAY] = hall.delay;
    found->number[HELD_UP] = hall.held_up;
    found->number[DENSEST] = hall.density;
    found->number[EVEN] = 1 - hall.first / hall.last;
    found->number[NOT_OUT] = hall.inside;
    return done;
}

static th_result walk_hall(const th_experiment_settings *settings, int place, uint64_t seed,
                           th_all_found *found, th_error *error) {
    return run_hall(settings, &(th_hall_def){.stem = halls[place]}, seed, found, error);
}

static void add_most(th_all_study *study, const char *name, const char *what, const char *bar,
                     const th_all_found *found, int seeds, int number, int decimals, double most,
                     bool worst) {
    th_sample_summary own = th_all_summary(found, seeds, number);
    th_all_add(study, &(th_all_row){.name = name,
                                    .what = what,
                                    .bar = bar,
                                    .remark = worst ? "the worst of all seeds counts" : NULL,
                                    .people = NOTHING,
                                    .own = own,
                                    .decimals = decimals,
                                    .pass = (worst ? own.max : own.mean) <= most});
}

static void judge_halls(th_all_study *study, const th_all_found *found, int seeds) {
    char what[96];
    for (int p = 0; p < HALLS; ++p) {
        const th_all_found *own = found + p * seeds;
        snprintf(what, sizeof what, "people left behind, %s", halls[p]);
        add_most(study, "halls", what, "none", own, seeds, NOT_OUT, 0, 0, true);
        if (p >= MEETINGS) {
            snprintf(what, sizeof what, "last person of the exits apart [-], %s", halls[p]);
            add_most(study, "halls", what, "<= 0.15", own, seeds, EVEN, 2, 0.15, false);
            continue;
        }
        snprintf(what, sizeof what, "longest below 0.2 of the own speed [s], %s", halls[p]);
        add_most(study, "halls", what, "<= 20 s", own, seeds, HELD_UP, 1, 20, true);
        snprintf(what, sizeof what, "highest density [1/m2], %s", halls[p]);
        if (p == 0)
            add_most(study, "halls", what, "<= 4.5", own, seeds, DENSEST, 1, 4.5, true);
        else {
            snprintf(what, sizeof what, "time over time alone [-], %s", halls[p]);
            add_most(study, "halls", what, "<= 1.5", own, seeds, DELAY, 2, 1.5, false);
        }
    }
}

// The halls where groups meet again: at another angle with every seed, with steps of three lengths.
static const double hall_steps[] = {0.05, 0.0625, 0.1}; // [s]
enum { TURNED = MEETINGS - 1, HALL_STEPS = sizeof hall_steps / sizeof *hall_steps };

static th_result walk_turned(const th_experiment_settings *settings, int place, uint64_t seed,
                             th_all_found *found, th_error *error) {
    const th_hall_def def = {halls[1 + place / HALL_STEPS], fmod(37.0 * (double)seed, 360.0),
                             hall_steps[place % HALL_STEPS]};
    return run_hall(settings, &def, seed, found, error);
}

static void judge_turned(th_all_study *study, const th_all_found *found, int seeds) {
    const char *const name = "halls_turned";
    char what[96];
    for (int p = 0; p < TURNED; ++p) {
        const char *hall = halls[1 + p];
        const th_all_found *own = found + p * HALL_STEPS * seeds;
        const int runs = HALL_STEPS * seeds;
        snprintf(what, sizeof what, "people left behind, %s, three steps", hall);
        add_most(study, name, what, "none", own, runs, NOT_OUT, 0, 0, true);
        snprintf(what, sizeof what, "longest below 0.2 of the own speed [s], %s, three steps",
                 hall);
        add_most(study, name, what, "<= 20 s", own, runs, HELD_UP, 1, 20, true);
        snprintf(what, sizeof what, "time over time alone [-], %s, three steps", hall);
        add_most(study, name, what, "<= 1.5", own, runs, DELAY, 2, 1.5, false);
    }
}

// ---- rooms that must empty

typedef struct crowded_room {
    int people;
    double width; // of the door [m]
    int goals;    // behind it, 1 or 2
} crowded_room;

// Until the room is empty; NaN where people are inside after `longest`.
static th_result empty_room(const th_experiment_settings *settings, crowded_room r, uint64_t seed,
                            double step, double longest, double *time, th_error *error) {
    th_door_scene *text = malloc(sizeof *text);
    if (!text) return th_fail(error, TH_NO_MEMORY, "", "no memory for a scene");
    th_scene_room(text, r.people, r.width, r.goals, seed, &settings->choice);
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
    return empty_room(settings, (crowded_room){people, widths[place], 1}, seed, 0.1,
                      60 + 10 * people / 1.2, &found->number[0], error);
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

// ---- narrow doors: one goal behind them or two, steps of three lengths. The seed turns the room.

static const double narrow[] = {0.45, 0.5, 0.55, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2}; // [m]
static const double narrow_steps[] = {0.05, 0.0625, 0.1};                       // [s]
enum { NARROW = sizeof narrow / sizeof *narrow, NARROW_STEPS = 3, NARROW_PLACES = NARROW * 6 };

// A twentieth of a person a second: a tenth of what people do at the narrowest of these doors.
static th_result walk_narrow(const th_experiment_settings *settings, int place, uint64_t seed,
                             th_all_found *found, th_error *error) {
    crowded_room room = {40, narrow[place / 6], 1 + place / NARROW_STEPS % 2};
    return empty_room(settings, room, seed, narrow_steps[place % NARROW_STEPS], 800,
                      &found->number[0], error);
}

static void judge_narrow(th_all_study *study, const th_all_found *found, int seeds) {
    int all_locked = 0;
    for (int p = 0; p < NARROW_PLACES; p += NARROW_STEPS) {
        int locked = 0;
        for (int k = 0; k < NARROW_STEPS * seeds; ++k)
            locked += isnan(found[p * seeds + k].number[0]);
        char what[96], remark[96];
        snprintf(what, sizeof what, "%.2f m, %s, three steps: runs that do not empty",
                 narrow[p / 6], p / NARROW_STEPS % 2 ? "two goals" : "one goal");
        all_locked += locked;
        snprintf(remark, sizeof remark, "%d of %d so far", all_locked, (p + NARROW_STEPS) * seeds);
        th_all_add(study, &(th_all_row){.name = "narrow",
                                        .what = what,
                                        .remark = remark,
                                        .bar = "none",
                                        .people = 0,
                                        .own = th_all_single(locked, NARROW_STEPS * seeds),
                                        .decimals = 0,
                                        .pass = locked == 0});
    }
}

// ---- time step

static const crowded_room step_rooms[] = {{60, 0.8, 1}, {60, 1.2, 1}, {300, 1.0, 1}};
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

// ---- all families, run and judged

static const all_family families[] = {
    {"one_way", TH_UO180_RUNS, 10, 2, walk_one_way, judge_one_way},
    {"one_way", TH_UG180_CLASSES, 3, 1, walk_ug180, judge_ug180},
    {"single_file", TH_CASERNE_CLASSES, 10, 2, walk_caserne, judge_caserne},
    {"single_file", 2, 10, 2, th_all_walk_waves, th_all_judge_waves},
    {"single_file", TH_SINGLE_FILE_BANDS, 3, 1, walk_rimea, judge_rimea},
    {"two_way", TWO_WAY_PLACES, 10, 2, walk_two_way, judge_two_way},
    {"two_way_ends", TH_TWO_WAY_300, 10, 2, walk_two_way_ends, judge_two_way_ends},
    {"corner", TH_CORNER_240, 10, 2, walk_corner, judge_corner},
    {"doors", DOORS, 10, 2, walk_door, judge_doors},
    {"halls", HALLS, 10, 2, walk_hall, judge_halls},
    {"halls_turned", TURNED *HALL_STEPS, 10, 1, walk_turned, judge_turned},
    {"lock_ups", WIDTHS, 40, 10, walk_lone, judge_lone},
    {"lock_ups", WIDTHS, 40, 10, walk_60, judge_60},
    {"lock_ups", WIDTHS, 10, 2, walk_300, judge_300},
    {"narrow", NARROW_PLACES, 10, 1, walk_narrow, judge_narrow},
    {"eager", TH_ALL_EAGER, 10, 3, th_all_walk_eager, th_all_judge_eager},
    {"pushing", TH_ALL_PUSHING, 10, 3, th_all_walk_pushing, th_all_judge_pushing},
    {"alley", 1, 5, 1, th_all_walk_alley, th_all_judge_alley},
    {"rigid", 1, 20, 4, th_all_walk_rigid, th_all_judge_rigid},
    {"time_step", STEP_ROOMS, 10, 2, walk_steps, judge_steps},
};
enum { FAMILIES = sizeof families / sizeof *families };

typedef struct family_runs {
    const all_family *family;
    const th_experiment_settings *settings;
    th_all_found *found;
    int seeds;
} family_runs;

static th_result run_one(void *context, int index, th_error *error) {
    family_runs *runs = context;
    return runs->family->walk(runs->settings, index / runs->seeds,
                              runs->settings->seed + (uint64_t)(index % runs->seeds),
                              &runs->found[index], error);
}

static th_result run_family(th_all_study *study, const all_family *family,
                            th_experiment_progress *progress, void *progress_context, bool *stopped,
                            th_error *error) {
    const th_experiment_settings *settings = study->settings;
    family_runs runs = {family, settings, NULL,
                        settings->quick ? family->quick_seeds : family->seeds};
    int count = family->places * runs.seeds;
    runs.found = calloc((size_t)count + 1, sizeof *runs.found);
    if (!runs.found) return th_fail(error, TH_NO_MEMORY, "", "no memory for %d runs", count);
    th_result done = th_experiment_runs(settings, progress, progress_context, family->name, count,
                                        run_one, &runs, stopped, error);
    if (done == TH_OK && !*stopped) family->judge(study, runs.found, runs.seeds);
    free(runs.found);
    return done;
}

static bool wanted(const th_experiment_settings *settings, const all_family *family) {
    return !settings->only || strncmp(family->name, settings->only, strlen(settings->only)) == 0;
}

// "default", or what was chosen, as it was written on the command line: "collision_free_speed".
static void name_configuration(th_all_study *study) {
    const th_models_choice *choice = &study->settings->choice;
    const char *const parts[] = {choice->move, choice->filter, choice->plan, choice->behave,
                                 choice->radius};
    size_t used = 0, room = sizeof study->configuration;
    for (int k = 0; k < 5; ++k)
        for (const char *at = parts[k] ? parts[k] : ""; *at && used + 4 < room; ++at) {
            if (at == parts[k] && used > 0) {
                memcpy(study->configuration + used, " + ", 3);
                used += 3;
            }
            if (*at != '"') study->configuration[used++] = *at;
        }
    if (used == 0) memcpy(study->configuration, "default", 7);
}

th_result th_experiment_all(const th_experiment_settings *settings,
                            th_experiment_progress *progress, void *progress_context,
                            th_experiment_result *result, th_error *error) {
    th_all_study study = {.settings = settings};
    name_configuration(&study);
    study.table = th_experiment_add_table(
        result, "all", "Every bar; spread: standard deviation over seeds", TH_ALL_COLUMNS);
    bool stopped = false;
    th_result done = TH_OK;
    for (int f = 0; f < FAMILIES && done == TH_OK && !stopped; ++f) {
        const all_family *family = &families[f];
        if (wanted(settings, family))
            done = run_family(&study, family, progress, progress_context, &stopped, error);
    }
    if (done == TH_OK && !stopped && study.bars > 0)
        th_experiment_judge(result, study.missed == 0 ? TH_PASS : TH_FAIL, "every bar of the table",
                            "%d of %d met", study.bars - study.missed, study.bars);
    if (done == TH_OK && !stopped && study.bars == 0)
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "no row begins with '%s'; there are one_way, single_file, two_way, "
                       "two_way_ends, corner, doors, halls, halls_turned, lock_ups, narrow, eager, "
                       "pushing, alley, rigid and time_step",
                       settings->only);
    return done;
}
