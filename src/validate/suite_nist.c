// NIST Technical Note 1822 (2013): 17 tests of evacuation models. SPDX-License-Identifier: Apache-2.0
#include "validate/suite_parts.h"
#include <stdio.h>
#include <stdlib.h>

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

static void stairs(th_trial *trial) {
    const char *const down[] = {"groups[0].level=above", "groups[0].positions=[[105,1]]",
                                "groups[0].to=bottom", NULL};
    int series = th_trial_series(trial, "up and down", "m/s", NULL, 0.95, 1.05);
    double ascent = stair_speed(trial, 1, NULL), descent = stair_speed(trial, -1, down);
    th_trial_value(trial, series, ascent);
    th_trial_value(trial, series, descent);
    th_trial_say(trial, "%.3f m/s up, %.3f m/s down", ascent, descent);
    th_trial_judge(trial, fabs(ascent - 1) <= 0.05 && fabs(descent - 1) <= 0.05);
}

static void corner(th_trial *trial) { th_check_corner(trial, NULL, 60); }

static void demographics(th_trial *trial) {
    th_check_population(trial, 100, "groups[0].speed={\"normal\":[1.2,0.2]}", 1.2, 0.2);
}

static void groups(th_trial *trial) { th_check_groups(trial, NULL); }

static const th_suite_test tests[] = {
    {"1.1", "Pre-evacuation times", 'F',
     "starts follow a uniform, gamma, lognormal and Weibull distribution: Kolmogorov-Smirnov p > "
     "0.05 over all four (0.0125 each)",
     "parameters as in the note; 100 starts each", pre_evacuation, 8},
    {"2.1", "Speed in a corridor", 'F', "1.0 m/s within 0.05 m/s over 40 m", "NIST",
     th_check_walking_speed, 1},
    {"2.2", "Speed on stairs", 'S',
     "1.0 m/s within 0.05 m/s over 100 m, up and down (here the inner 99 m)", "NIST", stairs, 1},
    {"2.3", "Round a corner", 'F', "20 people, no wall crossed, all out within 60 s",
     "NIST; limit of published code", corner, 2},
    {"2.4", "Demographics", 'F',
     "100 people N(1.2, 0.2) m/s: own speed within 0.03 m/s, mean and deviation within three "
     "standard errors",
     "NIST", demographics, 1},
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
     "NIST; plan ours; with the behaviour hidac", groups, 2},
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

const th_suite th_suite_nist = {"nist", "NIST", "Technical Note 1822 (2013)", tests,
                                (int)(sizeof tests / sizeof *tests)};
