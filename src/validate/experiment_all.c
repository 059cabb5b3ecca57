// `throng experiment all`: one configuration, every bar. Corridors and single file are here, doors and rooms in
// experiment_all_rooms.c. The same people everywhere but for their free speed, which is that of the people of each
// experiment where it was measured. SPDX-License-Identifier: Apache-2.0
#include "validate/experiment_all.h"
#include "core/error.h"
#include "core/statistics.h"
#include "validate/periodic.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    th_result done = th_corridor_run(scene, seed, &window, &result, error);
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
    return walk_ring(settings, &def, seed, found, error);
}

static th_result walk_caserne(const th_experiment_settings *settings, int place, uint64_t seed,
                              th_all_found *found, th_error *error) {
    return walk_file(settings, th_caserne_classes[place].density, 1.24, seed, found, error);
}

static void judge_caserne(th_all_study *study, const th_all_found *found, int seeds) {
    add_rms(study, "single_file", "speed, caserne 2006, 0.5 to 2.5 per m",
            squares(th_caserne_classes, TH_CASERNE_CLASSES, found, seeds), TH_CASERNE_CLASSES,
            TH_CASERNE_CLASSES, seeds, 0.15);
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

static th_result walk_two_way(const th_experiment_settings *settings, int place, uint64_t seed,
                              th_all_found *found, th_error *error) {
    th_corridor_people people = {settings->choice, 110.0};
    th_corridor_window window = {.area = place == BI400 ? "POLYGON ((-1 0, 1 0, 1 4, -1 4, -1 0))"
                                                        : "POLYGON ((0 -1, 3 -1, 3 1, 0 1, 0 -1))",
                                 .from = 30.0,
                                 .until = people.inflow_time};
    char *scene = place == BI400 ? th_corridor_both_ways(2.0, &people)
                                 : th_corridor_two_way_300(&th_two_way_300[place], &people);
    th_corridor_result result;
    th_result done = th_corridor_run(scene, seed, &window, &result, error);
    free(scene);
    found->number[0] = result.mean.flow;
    found->number[1] = result.mean.density;
    found->number[2] = result.late.flow;
    return done;
}

static th_measured_state two_way_people(int place) {
    if (place == BI400) return th_bi400;
    const th_two_way_run *run = &th_two_way_300[place];
    return (th_measured_state){run->density, run->speed, run->flow};
}

// A jam: in the last quarter of the time less than half of people's flow.
static void judge_two_way(th_all_study *study, const th_all_found *found, int seeds) {
    int jams = 0;
    for (int p = 0; p < TWO_WAY_PLACES; ++p) {
        char what[96], name[48];
        th_measured_state people = two_way_people(p);
        const th_all_found *own = found + p * seeds;
        if (p == BI400)
            snprintf(name, sizeof name, "4 m, bi_corr_400");
        else
            snprintf(name, sizeof name, "3 m, entrances of %.2f m", th_two_way_300[p].entrance);
        snprintf(what, sizeof what, "flow [1/(m s)], %s", name);
        th_all_near(study, "two_way", what, people.flow, th_all_summary(own, seeds, 0), 2, 0.15);
        snprintf(what, sizeof what, "density [1/m2], %s", name);
        th_all_near(study, "two_way", what, people.density, th_all_summary(own, seeds, 1), 2, 0.25);
        for (int k = 0; k < seeds; ++k) jams += !(own[k].number[2] >= 0.5 * people.flow);
    }
    char remark[64];
    snprintf(remark, sizeof remark, "of %d runs", TWO_WAY_PLACES * seeds);
    th_all_add(study, &(th_all_row){.name = "two_way",
                                    .what = "jams",
                                    .remark = remark,
                                    .bar = "none",
                                    .people = 0,
                                    .own = th_all_single(jams, seeds),
                                    .pass = jams == 0});
}

// ---- all of them

static const th_all_family corridors[] = {
    {"one_way", TH_UO180_RUNS, 10, 2, walk_one_way, judge_one_way},
    {"one_way", TH_UG180_CLASSES, 3, 1, walk_ug180, judge_ug180},
    {"single_file", TH_CASERNE_CLASSES, 10, 2, walk_caserne, judge_caserne},
    {"single_file", TH_SINGLE_FILE_BANDS, 3, 1, walk_rimea, judge_rimea},
    {"two_way", TWO_WAY_PLACES, 10, 2, walk_two_way, judge_two_way},
};
enum { CORRIDORS = sizeof corridors / sizeof *corridors };

typedef struct family_runs {
    const th_all_family *family;
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

static th_result run_family(th_all_study *study, const th_all_family *family,
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

static bool wanted(const th_experiment_settings *settings, const th_all_family *family) {
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
    for (int f = 0; f < CORRIDORS + th_all_rooms_count && done == TH_OK && !stopped; ++f) {
        const th_all_family *family = f < CORRIDORS ? &corridors[f] : &th_all_rooms[f - CORRIDORS];
        if (wanted(settings, family))
            done = run_family(&study, family, progress, progress_context, &stopped, error);
    }
    if (done == TH_OK && !stopped && study.bars > 0)
        th_experiment_judge(result, study.missed == 0 ? TH_PASS : TH_FAIL, "every bar of the table",
                            "%d of %d met", study.bars - study.missed, study.bars);
    if (done == TH_OK && !stopped && study.bars == 0)
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "no row begins with '%s'; there are one_way, single_file, two_way, doors, "
                       "lock_ups and time_step",
                       settings->only);
    return done;
}
