// The Juelich tests of JuPedSim's jpscore, as far as their descriptions are public: 1 to 6, 8, 9, 12 to 14.
// SPDX-License-Identifier: Apache-2.0
#include "validate/suite_parts.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double NONE = (double)NAN;

static double ten_metres(th_trial *trial, const char *stem, double x, double y, double way_x,
                         double way_y, double *aside) {
    th_case one;
    th_person_now now = {0};
    if (!th_case_open(&one, trial, stem, 1, NULL)) return NONE;
    double time = th_case_time_to_come(&one, 1, x, y, way_x, way_y, 10, 30);
    th_case_picture(&one);
    th_case_find(&one, 1, &now);
    *aside = fabs((now.y - y) * way_x - (now.x - x) * way_y);
    th_case_finish(&one, 30);
    th_case_close(&one);
    return time;
}

// Forces take their relaxation time, 0.5 s, to bring an agent from rest to full speed.
static const double START_UP = 0.5; // [s]
static const double STRAIGHT =
    0.05; // [m] off the straight line at most: a fraction of a body; throng's choice

static void free_corridor_of(th_trial *trial, const char *stem) {
    double aside = 0, time = ten_metres(trial, stem, 1, 1, 1, 0, &aside);
    th_trial_value(
        trial, th_trial_series(trial, "10 m at 1 m/s", "s", NULL, 9.95, 10.05 + START_UP), time);
    th_trial_say(trial, "%.2f s, %.4f m off the straight line", time, aside);
    th_trial_judge(trial, time >= 9.95 && time <= 10.05 + START_UP && aside < STRAIGHT);
}
static void free_corridor(th_trial *trial) { free_corridor_of(trial, "juelich_01_corridor"); }
static void intermediate_goals(th_trial *trial) { free_corridor_of(trial, "juelich_06_waypoints"); }

static void rotated_corridor(th_trial *trial) {
    double half = sqrt(0.5), off[2] = {0, 0};
    double straight = ten_metres(trial, "juelich_01_corridor", 1, 1, 1, 0, &off[0]);
    double turned = ten_metres(trial, "juelich_02_rotated", 0, 2 * half, half, half, &off[1]);
    th_trial_say(trial, "%.3f s straight, %.3f s turned", straight, turned);
    th_trial_judge(trial,
                   fabs(turned - straight) <= 0.02 && off[0] < STRAIGHT && off[1] < STRAIGHT);
}

static void random_starts(th_trial *trial) {
    int series = th_trial_series(trial, "all 60 out after", "s", NULL, NONE, 200);
    for (int seed = 1; seed <= 5 && !th_trial_failed(trial); ++seed) {
        th_case one;
        if (!th_case_open(&one, trial, "juelich_03_random_starts", (uint64_t)seed, NULL)) return;
        th_case_picture_at(&one, 8);
        th_trial_value(trial, series, th_case_finish(&one, 200));
        th_case_close(&one);
    }
    th_trial_say(trial, "all out after %.1f s in the mean of five crowds",
                 th_series_mean(&trial->outcome->series[series]));
    th_trial_judge(trial, true);
}

// ---- a person stands in the way

static bool find_two(th_case *one, th_person_now *walker, th_person_now *standing) {
    th_person_now people[2];
    int count = th_case_everybody(one, people, 2);
    for (int i = 0; i < count; ++i)
        *(people[i].phase == TH_PHASE_SCRIPTED ? standing : walker) = people[i];
    return count == 2;
}

// The least gap between the two; negative when they overlap.
static double least_gap(th_case *one, double limit) {
    double least = 1e9;
    th_person_now walker, standing;
    while (th_case_step(one, limit) && find_two(one, &walker, &standing)) {
        least = fmin(least, hypot(walker.x - standing.x, walker.y - standing.y) - 0.4);
        if (th_world_time(one->world) >= 5) th_case_picture(one);
    }
    return least;
}

static void overtake(th_trial *trial) {
    th_case one;
    if (!th_case_open(&one, trial, "juelich_04_overtake", 1, NULL)) return;
    double gap = least_gap(&one, 40);
    bool past = th_world_statistics(one.world).left == 1;
    th_trial_say(trial, "%s after %.1f s (13 s alone), least gap %.3f m",
                 past ? "past" : "not past", th_world_time(one.world), gap);
    th_case_close(&one);
    th_trial_judge(trial, past && gap >= -0.001);
}

static void stop_behind(th_trial *trial) {
    th_case one;
    th_person_now walker = {0}, standing = {0};
    if (!th_case_open(&one, trial, "juelich_05_narrow", 1, NULL)) return;
    double gap = least_gap(&one, 20);
    bool both = find_two(&one, &walker, &standing);
    double speed = hypot(walker.velocity_x, walker.velocity_y);
    th_case_close(&one);
    th_trial_say(trial, "stands %.2f m before the other, speed %.4f m/s, least gap %.4f m",
                 standing.x - walker.x - 0.4, speed, gap);
    th_trial_judge(trial, both && speed < 0.01 && walker.x > 5 && gap >= -0.001);
}

static void hidden_goal(th_trial *trial) {
    // With 0.2 m kept from the corners; a person that needs at most 1.3 times as long is not stuck.
    static const double shortest[2] = {15.1, 16.4};
    double arrived[2] = {NONE, NONE};
    int count;
    th_case one;
    if (!th_case_open(&one, trial, "juelich_08_hidden_goal", 1, NULL)) return;
    while (th_case_step(&one, 80)) {
        const th_event *events = th_world_events(one.world, &count, NULL);
        for (int i = 0; i < count; ++i)
            if (events[i].agent.serial <= 2 && events[i].agent.serial > 0)
                arrived[events[i].agent.serial - 1] = events[i].time;
        if (th_world_time(one.world) >= 6) th_case_picture(&one);
    }
    th_case_finish(&one, 80);
    th_case_close(&one);
    th_trial_say(trial, "%.1f s and %.1f s; the shortest ways take %.1f s and %.1f s", arrived[0],
                 arrived[1], shortest[0], shortest[1]);
    for (int i = 0; i < 2; ++i)
        th_trial_judge(trial, arrived[i] <= 1.3 * shortest[i] + START_UP); // NaN is late
}

// ---- 9 and 12: things without effect

static void any_threads(th_trial *trial) {
    static const int threads[] = {1, 2, 3, 8};
    enum { SECONDS = 15 };
    uint64_t hashes[SECONDS] = {0};
    bool same = true;
    uint64_t left = 0;
    for (int k = 0; k < 4 && !th_trial_failed(trial); ++k) {
        th_case one;
        if (!th_case_open_as_is(&one, trial, "juelich_09_threads", 1, threads[k], NULL)) return;
        for (int second = 0; second < SECONDS; ++second) {
            for (int n = 0; n < 10; ++n) th_case_step(&one, 100);
            if (k == 0) hashes[second] = th_world_hash(one.world);
            same = same && th_world_hash(one.world) == hashes[second];
        }
        th_case_picture(&one);
        left = th_world_statistics(one.world).left;
        th_case_close(&one);
    }
    th_trial_say(trial,
                 "%s with 1, 2, 3 and 8 threads, hash %016" PRIx64 " after 15 s, %" PRIu64 " left",
                 same ? "the same, bit for bit," : "different", hashes[SECONDS - 1], left);
    th_trial_remark(trial, "Three models at once, whatever is chosen for the other tests.");
    th_trial_judge(trial, same && left > 10);
}

enum { PATH_STEPS = 130 };

static int path_below_wall(th_trial *trial, const char *const *overrides, th_person_now *path) {
    th_case one;
    int steps = 0;
    if (!th_case_open(&one, trial, "juelich_12_thin_wall", 1, overrides)) return 0;
    while (steps < PATH_STEPS && th_case_find(&one, 1, &path[steps])) {
        if (steps == 45) th_case_picture(&one);
        ++steps;
        if (!th_case_step(&one, 40)) break;
    }
    th_case_close(&one);
    return steps;
}

static double largest_difference(const th_person_now *path, const th_person_now *other, int steps) {
    double largest = 0;
    for (int i = 0; i < steps; ++i)
        largest = fmax(largest, hypot(path[i].x - other[i].x, path[i].y - other[i].y));
    return largest;
}

// The same two without the wall show that there is something to feel.
static void thin_wall(th_trial *trial) {
    static const char empty[] = "groups[1]={\"count\":0}", no_wall[] = "levels[0].walls=[]";
    const char *const alone_list[] = {empty, NULL}, *const open_list[] = {no_wall, NULL},
                      *const open_alone_list[] = {no_wall, empty, NULL};
    th_person_now with[PATH_STEPS], alone[PATH_STEPS], open[PATH_STEPS], open_alone[PATH_STEPS];
    int steps = path_below_wall(trial, NULL, with),
        steps_alone = path_below_wall(trial, alone_list, alone);
    int open_steps = path_below_wall(trial, open_list, open);
    int open_alone_steps = path_below_wall(trial, open_alone_list, open_alone);
    if (th_trial_failed(trial)) return;
    double behind = largest_difference(with, alone, steps < steps_alone ? steps : steps_alone);
    double beside = largest_difference(
        open, open_alone, open_steps < open_alone_steps ? open_steps : open_alone_steps);
    th_trial_say(trial, "%d steps, at most %g m from walking alone (%.4f m without the wall)",
                 steps, behind, beside);
    th_trial_judge(trial, steps > 90 && steps == steps_alone && behind <= 0);
}

// ---- 13: bottleneck

// Flow over the opening of a corridor 2.8 m long (Seyfried et al. 2009), start density 3.3 per m2.
static double bottleneck_flow(th_trial *trial, double width) {
    char ground[300], line[100], count[40];
    double low = 5 - width / 2, high = 5 + width / 2, sum = 0;
    snprintf(ground, sizeof ground,
             "levels[0].walkable=\"POLYGON ((10 0, 0 0, 0 10, 10 10, 10 %g, 12.8 %g, 12.8 10, 20.2 "
             "10, 20.2 0, 12.8 "
             "0, 12.8 %g, 10 %g, 10 0))\"",
             high, high, low, low);
    snprintf(line, sizeof line, "measure.lines[0].line=[[10,%g],[10,%g]]", high, low);
    snprintf(count, sizeof count, "groups[0].count=%d", 60);
    const char *const overrides[] = {ground, line, count,
                                     "groups[0].area={\"rect\":[5.5,2.98,9.98,7.02]}", NULL};
    for (int seed = 1; seed <= trial->setup->crowds && !th_trial_failed(trial); ++seed) {
        th_case one;
        if (!th_case_open(&one, trial, "rimea_12_passage", (uint64_t)seed, overrides)) return 0;
        th_case_picture_at(&one, 10);
        th_case_finish(&one, 600);
        th_line_count counted = th_case_line(&one, "opening");
        sum += ((double)counted.forward - 1) / (counted.last_time - counted.first_time);
        th_case_close(&one);
    }
    return sum / trial->setup->crowds;
}

static void bottleneck(th_trial *trial) {
    // Seyfried et al. 2009: flow by width [1/s].
    static const double widths[] = {0.8, 0.9, 1.0, 1.1, 1.2},
                        people[] = {1.288, 1.674, 1.900, 2.123, 2.364};
    int found = th_trial_series(trial, "simulated", "1/s", "m", NONE, NONE);
    int table = th_trial_series(trial, "Seyfried et al. 2009", "1/s", "m", NONE, NONE);
    trial->outcome->series[table].reference = true;
    double worst = 0;
    for (int k = 0; k < 5 && !th_trial_failed(trial); ++k) {
        double flow = bottleneck_flow(trial, widths[k]);
        th_trial_point(trial, found, widths[k], flow);
        th_trial_point(trial, table, widths[k], people[k]);
        th_trial_say(trial, "%s%.2f", k ? ", " : "", flow);
        worst = fmax(worst, fabs(flow / people[k] - 1));
    }
    th_trial_say(trial, " people/s at 0.8, 0.9, 1.0, 1.1, 1.2 m; at most %.0f %% off", 100 * worst);
    th_trial_judge(trial, worst <= 0.2);
}

// ---- 14: uniform starts

// Chi-square over ten bins: the probability of a sum as large as this with nine degrees of freedom.
static double chi_square_p(double sum) {
    // Odd degrees: erfc(sqrt(s/2)) and a finite series (Abramowitz and Stegun 26.4.4).
    double root = sqrt(sum), term = root, series = term;
    for (int r = 2; r <= 4; ++r) {
        term *= sum / (2 * r - 1);
        series += term;
    }
    return erfc(root / sqrt(2)) + sqrt(2 / 3.14159265358979) * exp(-sum / 2) * series;
}

static void uniform_starts(th_trial *trial) {
    enum { PEOPLE = 2000, BINS = 10, CROWDS = 50 };
    // Bodies of 0.4 m keep each other apart and are spread more evenly than chance; points are not.
    const char *const small[] = {"groups[0].radius=0.05", NULL};
    th_person_now *people = calloc(PEOPLE, sizeof *people);
    int series = th_trial_series(trial, "p of both axes", "-", NULL, NONE, NONE);
    for (int seed = 1; people && seed <= CROWDS && !th_trial_failed(trial); ++seed) {
        th_case one;
        int count[2][BINS] = {{0}};
        if (!th_case_open(&one, trial, "juelich_14_uniform_starts", (uint64_t)seed, small)) break;
        int found = th_case_everybody(&one, people, PEOPLE);
        th_case_picture(&one);
        th_case_close(&one);
        for (int i = 0; i < found; ++i) {
            ++count[0][(int)fmin(fmax(people[i].x / 10, 0), BINS - 1)];
            ++count[1][(int)fmin(fmax(people[i].y / 10, 0), BINS - 1)];
        }
        for (int axis = 0; axis < 2; ++axis) {
            double sum = 0, expected = PEOPLE / (double)BINS;
            for (int b = 0; b < BINS; ++b)
                sum += (count[axis][b] - expected) * (count[axis][b] - expected) / expected;
            th_trial_value(trial, series, chi_square_p(sum));
        }
    }
    free(people);
    double mean = th_series_mean(&trial->outcome->series[series]);
    th_trial_say(trial, "mean p = %.2f over 50 crowds and both axes", mean);
    // Uniform p have the mean 1/2 with a standard error of 0.29 / sqrt(100); three of them.
    th_trial_judge(trial, fabs(mean - 0.5) <= 0.087);
}

static const th_suite_test tests[] = {
    {"1", "Free corridor", 'F',
     "10 m at 1 m/s in 10 s (within 0.05 s; models with inertia 0.5 s more)", "JuPedSim",
     free_corridor, 1},
    {"2", "Rotated corridor", 'F', "the same time at 45 degrees, within 0.02 s", "JuPedSim",
     rotated_corridor, 1},
    {"3", "Random starts", 'F', "60 people reach the goal from anywhere, five crowds", "JuPedSim",
     random_starts, 2},
    {"4", "Past a standing person", 'F', "gets past without touching (1 mm)", "JuPedSim", overtake,
     1},
    {"5", "No way past", 'F', "stops behind without overlapping (1 mm)", "JuPedSim", stop_behind,
     1},
    {"6", "Intermediate goals", 'F', "cost nothing: 10 m at 1 m/s still in 10 s", "JuPedSim",
     intermediate_goals, 1},
    {"8", "Hidden goal", 'F',
     "found behind a block and out of a dead end, in at most 1.3 times the shortest way",
     "JuPedSim; bound ours", hidden_goal, 1},
    {"9", "Any number of threads", 'F', "the same state with 1, 2, 3 and 8 threads",
     "JuPedSim; here bit for bit", any_threads, 2},
    {"12", "Nothing is felt through a wall", 'F',
     "the path beside a thin wall is the same with and without a person behind it",
     "JuPedSim; here bit for bit", thin_wall, 1},
    {"13", "Bottleneck", 'F', "flow by width, 0.8 to 1.2 m, within 20 % of the measured one",
     "JuPedSim; Seyfried et al. 2009; bound ours", bottleneck, 6},
    {"14", "Uniform starts", 'F',
     "2000 people in 100 m x 100 m: mean chi-square p about 0.5 (three standard errors)",
     "JuPedSim; 50 crowds", uniform_starts, 3},
};

const th_suite th_suite_juelich = {
    "juelich", "Juelich", "verification tests of jpscore (JuPedSim), as publicly described", tests,
    (int)(sizeof tests / sizeof *tests)};
