// Suites of three standards: IMO, NIST, ISO. SPDX-License-Identifier: Apache-2.0
#include "validate/suite_parts.h"
#include <stdio.h>
#include <stdlib.h>

// ---- IMO MSC.1/Circ.1238 (2007) and 1533 (2016): tests of evacuation models for ships

// Men of 30 to 50 years walk at 0.97 to 1.62 m/s: the circular's table 3.4.
#define POPULATION "groups[0].speed={\"uniform\":[0.97,1.62]}"

static void imo_stairs_up(th_trial *trial) {
    th_check_stairs(trial, "rimea_02_stairs_up", "stairs[0].up=1", 1, 10);
}
static void imo_stairs_down(th_trial *trial) {
    th_check_stairs(trial, "rimea_03_stairs_down", "stairs[0].down=1", -1, 10);
}
static void imo_corner(th_trial *trial) {
    th_check_corner(trial, "groups[0].area={\"rect\":[0,0,4,2]}", 120);
}
static void imo_population(th_trial *trial) {
    th_check_population(trial, 50, POPULATION, 1.295, (1.62 - 0.97) / sqrt(12));
}
static void imo_doors_shut(th_trial *trial) { th_check_doors_shut(trial, POPULATION); }

static void imo_high_density(th_trial *trial) {
    static const double densities[] = {0.5, 1, 1.5, 2, 3, 4, 5, 6};
    enum { COUNT = sizeof densities / sizeof *densities };
    int series = th_trial_series(trial, "flow", "1/(m s)", "1/m2", (double)NAN, (double)NAN);
    double most = 0, at = 0, last = 0;
    for (int k = 0; k < COUNT; ++k) {
        double speed;
        if (!th_trial_corridor_speed(trial, densities[k], 2, &speed)) return;
        last = densities[k] * speed;
        th_trial_point(trial, series, densities[k], last);
        if (last <= most) continue;
        most = last;
        at = densities[k];
    }
    th_trial_say(trial, "flow is largest at %g per m2, %.2f people/(m s), and %.2f at 6 per m2", at,
                 most, last);
    th_trial_judge(trial, at < densities[COUNT - 1] && last < most);
}

static const th_suite_test imo_tests[] = {
    {"1", "Walking in a corridor", 'F', "40 m at 1.0 m/s in 40 s, within 5 %",
     "tolerance of NIST 2.1", th_check_walking_speed, 1},
    {"2", "Walking up stairs", 'S', "10 m at 1.0 m/s in 10 s, within 5 %", "tolerance of JuPedSim",
     imo_stairs_up, 1},
    {"3", "Walking down stairs", 'S', "10 m at 1.0 m/s in 10 s, within 5 %",
     "tolerance of JuPedSim", imo_stairs_down, 1},
    {"4", "Flow through an exit", 'F',
     "100 people through 1 m: at most 1.33 people/s over the whole time",
     "a ceiling that contradicts measurement with people", th_check_exit_flow, 2},
    {"5", "Response times", 'F', "ten people start at their own times, 10 to 100 s, within 0.5 s",
     "tolerance of RiMEA 4.1.1", th_check_premovement, 2},
    {"6", "Round a corner", 'F', "20 people from 4 m x 2 m, all round, none through the walls",
     "IMO", imo_corner, 2},
    {"7", "Population", 'F',
     "50 people walk at 0.97 to 1.62 m/s: own speed within 0.03 m/s, mean 1.295 and deviation "
     "0.188 m/s within "
     "three standard errors",
     "table 3.4", imo_population, 1},
    {"8", "Counterflow", 'F',
     "100 people through a corridor take the longer the more (0, 10, 50, 100) come towards them",
     "IMO", th_check_counterflow, 35},
    {"9", "Two of four doors shut", 'F', "1000 people take about twice the time: ratio 1.6 to 2.4",
     "band of JuPedSim", imo_doors_shut, 40},
    {"10", "Allocated exits", 'F', "15 people by the main, 8 by the secondary exit, as told", "IMO",
     th_check_exit_allocation, 1},
    {"11", "Jam before stairs", 'S',
     "jam at the room's exit, steady corridor, jam at the foot of the stairs: flow onto the stairs "
     "at "
     "least 0.05 per s lower",
     "rule of JuPedSim for RiMEA 13, whose plan is used", th_check_room_corridor_stairs, 2},
    {"12", "Flow at high density", 'F',
     "flow in a corridor at very high density below that at moderate density",
     "Circ.1533, from second hand", imo_high_density, 15},
};

const th_suite th_suite_imo = {"imo", "IMO",
                               "MSC.1/Circ.1238 (2007) and MSC.1/Circ.1533 (2016), annex 3",
                               imo_tests, (int)(sizeof imo_tests / sizeof *imo_tests)};

// ---- NIST Technical Note 1822 (2013): 17 tests of evacuation models

static const double NONE = (double)NAN;

// ---- 1.1: distributions of pre-evacuation times

typedef struct distribution {
    const char *name, *override;
    double (*cumulative)(double x, const void *context);
    double a, b;
} distribution;

static double uniform(double x, const void *context) {
    const distribution *d = context;
    return fmin(fmax((x - d->a) / (d->b - d->a), 0), 1);
}
static double lognormal(double x, const void *context) {
    const distribution *d = context;
    return x > 0 ? 0.5 * erfc(-(log(x) - d->a) / (d->b * sqrt(2))) : 0;
}
static double weibull(double x, const void *context) {
    const distribution *d = context;
    return x > 0 ? 1 - exp(-pow(x / d->a, d->b)) : 0;
}
// The lower incomplete gamma function by its series; converges for all x that occur here.
static double gamma_cumulative(double x, const void *context) {
    const distribution *d = context;
    double t = x / d->b, term = 1 / d->a, sum = term;
    if (!(t > 0)) return 0;
    for (int k = 1; k < 500; ++k) {
        term *= t / (d->a + k);
        sum += term;
    }
    return fmin(exp(d->a * log(t) - t - lgamma(d->a)) * sum, 1);
}

static double starting_times(th_trial *trial, const distribution *d, int series) {
    enum { EACH = 10, CROWDS = 10 };
    double times[EACH * CROWDS];
    int count = 0;
    const char *const overrides[] = {d->override, "run.max_time=3600", NULL};
    for (int seed = 1; seed <= CROWDS && !th_trial_failed(trial); ++seed) {
        th_case one;
        th_person_now people[EACH];
        double due[EACH];
        if (!th_case_open(&one, trial, "rimea_05_premovement", (uint64_t)seed, overrides)) return 0;
        int found = th_case_everybody(&one, people, EACH);
        for (int i = 0; i < found; ++i) due[i] = -1;
        // The first step of each person, as seen from outside: standing, then walking or gone.
        while (th_case_step(&one, 3600)) {
            th_person_now now[EACH];
            int gone, inside = th_case_everybody(&one, now, EACH);
            const th_event *events = th_world_events(one.world, &gone, NULL);
            for (int k = 0; k < gone; ++k) // nudged onto the threshold: gone with the first step
                if (events[k].agent.serial <= EACH && due[events[k].agent.serial - 1] < 0)
                    due[events[k].agent.serial - 1] = events[k].time;
            for (int k = 0; k < inside; ++k)
                if (now[k].phase != TH_PHASE_STANDING && due[now[k].id - 1] < 0)
                    due[now[k].id - 1] = th_world_time(one.world);
            if (seed == 1 && th_world_time(one.world) >= 40) th_case_picture(&one);
        }
        th_case_finish(&one, 3600);
        th_case_close(&one);
        for (int i = 0; i < found; ++i) {
            if (due[i] < 0) continue;
            times[count++] = due[i];
            th_trial_value(trial, series, due[i]);
        }
    }
    if (count != EACH * CROWDS) th_trial_fail(trial, "only %d people were seen to start", count);
    return th_kolmogorov(times, count, d->cumulative, d);
}

static void pre_evacuation(th_trial *trial) {
    static const distribution list[] = {
        {"uniform", "groups[0].premovement={\"uniform\":[10,100]}", uniform, 10, 100},
        {"gamma", "groups[0].premovement={\"gamma\":[1.291,103.901]}", gamma_cumulative, 1.291,
         103.901},
        {"lognormal", "groups[0].premovement={\"lognormal\":[4.586,0.967]}", lognormal, 4.586,
         0.967},
        {"Weibull", "groups[0].premovement={\"weibull\":[139.285,1.195]}", weibull, 139.285, 1.195},
    };
    bool fits = true;
    for (int k = 0; k < 4 && !th_trial_failed(trial); ++k) {
        int series = th_trial_series(trial, list[k].name, "s", NULL, NONE, NONE);
        double p = starting_times(trial, &list[k], series);
        th_trial_say(trial, "%s%s p = %.2f", k ? ", " : "", list[k].name, p);
        // Four looks at chance, so each has a quarter of the 5 % (Bonferroni).
        fits = fits && p > 0.05 / 4;
    }
    th_trial_say(trial, " (Kolmogorov-Smirnov, 100 starts each)");
    th_trial_judge(trial, fits);
}

// ---- 2: movement

static double stair_speed(th_trial *trial, double way, const char *const *overrides) {
    th_case one;
    if (!th_case_open(&one, trial, "nist_22_stairs", 1, overrides)) return 0;
    double foot = way > 0 ? 3.5 : 102.5;
    double on = th_case_time_to_come(&one, 1, foot, 1, way, 0, 0, 200);
    th_case_picture(&one);
    double time = th_case_time_to_come(&one, 1, foot, 1, way, 0, 99, 200) - on;
    th_case_finish(&one, 200);
    th_case_close(&one);
    return 99 / time;
}

static void nist_stairs(th_trial *trial) {
    const char *const down[] = {"groups[0].level=above", "groups[0].positions=[[105,1]]",
                                "groups[0].to=bottom", NULL};
    int series = th_trial_series(trial, "up and down", "m/s", NULL, 0.95, 1.05);
    double ascent = stair_speed(trial, 1, NULL), descent = stair_speed(trial, -1, down);
    th_trial_value(trial, series, ascent);
    th_trial_value(trial, series, descent);
    th_trial_say(trial, "%.3f m/s up, %.3f m/s down", ascent, descent);
    th_trial_judge(trial, fabs(ascent - 1) <= 0.05 && fabs(descent - 1) <= 0.05);
}

static void nist_corner(th_trial *trial) { th_check_corner(trial, NULL, 60); }

static void nist_demographics(th_trial *trial) {
    th_check_population(trial, 100, "groups[0].speed={\"normal\":[1.2,0.2]}", 1.2, 0.2);
}

static void nist_groups(th_trial *trial) { th_check_groups(trial, NULL); }

static const th_suite_test nist_tests[] = {
    {"1.1", "Pre-evacuation times", 'F',
     "starts follow a uniform, gamma, lognormal and Weibull distribution: Kolmogorov-Smirnov p > "
     "0.05 over all four (0.0125 each)",
     "parameters as in the note; 100 starts each", pre_evacuation, 8},
    {"2.1", "Speed in a corridor", 'F', "1.0 m/s within 0.05 m/s over 40 m", "NIST",
     th_check_walking_speed, 1},
    {"2.2", "Speed on stairs", 'S',
     "1.0 m/s within 0.05 m/s over 100 m, up and down (here the inner 99 m)", "NIST", nist_stairs,
     1},
    {"2.3", "Round a corner", 'F', "20 people, no wall crossed, all out within 60 s",
     "NIST; limit of published code", nist_corner, 2},
    {"2.4", "Demographics", 'F',
     "100 people N(1.2, 0.2) m/s: own speed within 0.03 m/s, mean and deviation within three "
     "standard errors",
     "NIST", nist_demographics, 1},
    {"2.5", "Reduced visibility", 'X', "speed in smoke follows the model's correlation",
     "throng simulates no smoke", NULL, 0},
    {"2.6", "Incapacitation", 'X', "fractional effective dose at the hand-computed time",
     "throng simulates no toxic gas", NULL, 0},
    {"2.7", "Elevators", 'X', "lifts carry people as specified", "throng has no lifts", NULL, 0},
    {"2.8", "Counterflow", 'F',
     "100 people through a corridor take the longer the more (0, 10, 50, 100) come towards them",
     "NIST", th_check_counterflow, 35},
    {"2.9", "Groups", 'F',
     "four of 1.25 m/s stay with one of 0.5 m/s behind ten of 0.2 m/s: arrivals within 10 s",
     "NIST; plan ours; with the behaviour hidac", nist_groups, 2},
    {"2.10", "Disabilities", 'F',
     "with one person of 0.8 m/s and twice the radius it takes longer than with 25 alike",
     "NIST; plan ours", th_check_slow_person, 1},
    {"3.1", "Route allocation", 'F', "15 people by the main, 8 by the secondary exit, as told",
     "NIST; plan of RiMEA 10", th_check_exit_allocation, 1},
    {"3.2", "Social influence", 'F', "a leader raises the share of an exit",
     "NIST; with the behaviour hidac", th_check_social_influence, 1},
    {"3.3", "Affiliation", 'F',
     "people prefer exits they know: half by each where half know it, within 10 %; most where 80 % "
     "do",
     "NIST; with the behaviour hidac", th_check_affiliation, 1},
    {"4.1", "Dynamic exits", 'F', "the exit made for is shut after 1 s: leaves by the other",
     "NIST", th_check_dynamic_exit, 1},
    {"5.1", "Congestion", 'S', "it is denser at the room's exit than in the middle of the corridor",
     "NIST", th_check_congestion, 2},
    {"5.2", "Maximum flow", 'F', "100 people through 1 m: at most 1.33 people/(m s)",
     "a ceiling that contradicts measurement with people", th_check_exit_flow, 2},
};

const th_suite th_suite_nist = {"nist", "NIST", "Technical Note 1822 (2013)", nist_tests,
                                (int)(sizeof nist_tests / sizeof *nist_tests)};

// ---- ISO 20414:2020: 19 tests of evacuation models

// The published numbers are those of NIST 2.4, with a fixed tolerance.
static void iso_demographics(th_trial *trial) {
    th_check_population(trial, 100, "groups[0].speed={\"normal\":[1.2,0.2]}", 1.2, 0.2);
    const th_series *all = &trial->outcome->series[0];
    th_trial_judge(trial, fabs(th_series_mean(all) - 1.2) <= 0.05 &&
                              fabs(th_series_deviation(all) - 0.2) <= 0.05);
}

static void iso_corner(th_trial *trial) { th_check_corner(trial, NULL, 120); }
static void iso_stairs(th_trial *trial) {
    th_check_stairs(trial, "rimea_02_stairs_up", "stairs[0].up=0.5", 1, 10 / 0.5);
}

static void stair_flow(th_trial *trial) {
    int series = th_trial_series(trial, "flow", "1/s", "m", NONE, NONE);
    double before = 0;
    bool rises = true;
    for (int k = 0; k < 5 && !th_trial_failed(trial); ++k) {
        double width = 1 + 0.2 * k, low = 5 - width / 2, high = 5 + width / 2, flow = 0;
        char ground[240], end[80], foot[90];
        snprintf(ground, sizeof ground,
                 "levels[0].walkable=\"POLYGON ((10 8, 10 0, 0 0, 0 8, %g 8, %g 14, %g 14, %g 8, "
                 "10 8))\"",
                 low, low, high, high);
        snprintf(end, sizeof end, "exits[0].line=[[%g,14],[%g,14]]", low, high);
        snprintf(foot, sizeof foot, "measure.lines[0].line=[[%g,8],[%g,8]]", low, high);
        const char *const overrides[] = {ground, end, foot, NULL};
        for (int seed = 1; seed <= trial->setup->crowds && !th_trial_failed(trial); ++seed) {
            th_case one;
            if (!th_case_open(&one, trial, "iso_12_stair_flow", (uint64_t)seed, overrides)) return;
            th_case_picture_at(&one, 20);
            th_case_finish(&one, 600);
            th_line_count line = th_case_line(&one, "foot");
            flow += ((double)line.forward - 1) / (line.last_time - line.first_time) /
                    trial->setup->crowds;
            th_case_close(&one);
        }
        th_trial_point(trial, series, width, flow);
        th_trial_say(trial, "%s%.2f", k ? ", " : "", flow);
        rises = rises && flow > before;
        before = flow;
    }
    th_trial_say(trial, " people/s at 1.0, 1.2, 1.4, 1.6, 1.8 m");
    th_trial_judge(trial, rises);
}

// All set off at once, so the zone is looked at while people from behind still fill it.
static void corridor_diagram(th_trial *trial) {
    static const int people[] = {60, 120, 240, 360, 480};
    int speeds = th_trial_series(trial, "speed in the zone", "m/s", "1/m2", NONE, NONE);
    int flows = th_trial_series(trial, "flow over x = 40 m", "1/(m s)", "1/m2", NONE, NONE);
    double speed_before = 99, most = 0, last = 0;
    bool falls = true, free_speed = true;
    for (int k = 0; k < 5 && !th_trial_failed(trial); ++k) {
        char count[40];
        snprintf(count, sizeof count, "groups[0].count=%d", people[k]);
        const char *const overrides[] = {count, "groups[0].speed=1.34", NULL};
        th_case one;
        double density = 0, speed = 0;
        int looks = 0;
        if (!th_case_open(&one, trial, "iso_13_corridor", 1, overrides)) return;
        uint64_t at_begin = 0;
        double begin = 3,
               end = 13; // [s] free walkers come 13 m in 10 s: the zone stays full from behind
        while (th_case_step(&one, end)) {
            if (th_world_time(one.world) < begin) {
                at_begin = th_case_line(&one, "line_b").forward;
                continue;
            }
            th_area_state zone = th_case_area(&one, "zone");
            density += zone.density;
            speed += zone.mean_speed;
            ++looks;
        }
        if (k == 2) th_case_picture(&one);
        double flow = (double)(th_case_line(&one, "line_b").forward - at_begin) / (end - begin) / 2;
        th_case_close(&one);
        density /= looks;
        speed /= looks;
        th_trial_point(trial, speeds, density, speed);
        th_trial_point(trial, flows, density, flow);
        th_trial_say(trial, "%s%.2f m/s and %.2f per m s at %.1f", k ? ", " : "", speed, flow,
                     density);
        falls = falls && speed < speed_before + 0.01;
        free_speed = free_speed && speed <= 1.34 + 0.01;
        speed_before = speed;
        most = fmax(most, flow);
        last = flow;
    }
    th_trial_say(trial, " per m2");
    th_trial_judge(trial, falls && free_speed && last < most);
}

static void route_by_geometry(th_trial *trial) {
    th_case one;
    if (!th_case_open(&one, trial, "iso_17_route", 1, NULL)) return;
    th_case_picture_at(&one, 10);
    th_case_finish(&one, 300);
    double shorter = (double)th_case_line(&one, "short").forward,
           longer = (double)th_case_line(&one, "long").forward;
    th_case_close(&one);
    th_trial_say(trial, "%.0f by the shorter, %.0f by the longer way", shorter, longer);
    th_trial_judge(trial, shorter > longer);
}

static void iso_groups(th_trial *trial) {
    static const char *const speeds[] = {"groups[0].speed=1.25", "groups[2].speed=0.5", NULL};
    th_check_groups(trial, speeds);
}

static const th_suite_test iso_tests[] = {
    {"1", "Pre-movement", 'F', "ten people start at their own times, 10 to 100 s, within 0.5 s",
     "tolerance of RiMEA 4.1.1", th_check_premovement, 2},
    {"2", "Speed in a corridor", 'F', "1.0 m/s within 0.05 m/s over 40 m", "ISO",
     th_check_walking_speed, 1},
    {"3", "Speed on stairs", 'S', "10 m with factor 0.5: 0.5 m/s, 20 s within 5 %", "ISO",
     iso_stairs, 1},
    {"4", "Round a corner", 'F', "20 people, all round, none through the walls", "ISO", iso_corner,
     2},
    {"5", "Demographics", 'F',
     "100 people N(1.2, 0.2) m/s: pooled mean and deviation within 0.05 m/s", "ISO",
     iso_demographics, 1},
    {"6", "Counterflow", 'F',
     "100 people through a corridor take the longer the more (0, 10, 50, 100) come towards them",
     "ISO", th_check_counterflow, 35},
    {"7", "A slow, large person", 'F',
     "with one person of 0.8 m/s and twice the radius it takes longer than with 25 alike",
     "ISO; plan ours, as in NIST 2.10", th_check_slow_person, 1},
    {"8", "Exit allocation", 'F', "15 people by the main, 8 by the secondary exit, as told",
     "ISO; plan of RiMEA 10", th_check_exit_allocation, 1},
    {"9", "Dynamic exits", 'F', "the exit made for is shut after 1 s: leaves by the other", "ISO",
     th_check_dynamic_exit, 1},
    {"10", "Congestion", 'S',
     "it is denser at the room's exit than in the middle of the corridor before stairs",
     "ISO; plan of NIST 5.1", th_check_congestion, 2},
    {"11", "Maximum flow", 'F', "100 people through 1 m: at most 1.33 people/(m s)",
     "a ceiling that contradicts measurement with people", th_check_exit_flow, 2},
    {"12", "Flow on stairs", 'S', "100 people: flow grows with the width, 1.0 to 1.8 m", "ISO",
     stair_flow, 6},
    {"13", "Fundamental diagram of a corridor", 'F',
     "0.5 to 4 people/m2: speed falls, flow has a hump, none faster than free",
     "ISO; no numeric band", corridor_diagram, 3},
    {"14", "Groups", 'F',
     "five of 1.25 m/s stay together behind ten of 0.5 m/s: arrivals within 10 s",
     "ISO; plan ours; with the behaviour hidac", iso_groups, 2},
    {"15", "Social influence", 'F', "a leader raises the share of an exit",
     "ISO; with the behaviour hidac", th_check_social_influence, 1},
    {"16", "Affiliation", 'F',
     "people prefer exits they know: half by each where half know it, within 10 %; most where 80 % "
     "do",
     "ISO; with the behaviour hidac", th_check_affiliation, 1},
    {"17", "Route by geometry", 'F', "more than half take the shorter way", "ISO",
     route_by_geometry, 1},
    {"18", "Speed in smoke", 'X', "time in smoke over time in clear air as the correlation says",
     "throng simulates no smoke", NULL, 0},
    {"19", "Toxic gas", 'X', "fractional effective dose at the hand-computed time",
     "throng simulates no toxic gas", NULL, 0},
};

const th_suite th_suite_iso = {"iso", "ISO", "ISO 20414:2020", iso_tests,
                               (int)(sizeof iso_tests / sizeof *iso_tests)};
