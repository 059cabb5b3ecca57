// ISO 20414:2020: 19 tests of evacuation models. SPDX-License-Identifier: Apache-2.0
#include "validate/suite_parts.h"
#include <stdio.h>

static const double NONE = (double)NAN;

// The published numbers are those of NIST 2.4, with a fixed tolerance.
static void demographics(th_trial *trial) {
    th_check_population(trial, 100, "groups[0].speed={\"normal\":[1.2,0.2]}", 1.2, 0.2);
    const th_series *all = &trial->outcome->series[0];
    th_trial_judge(trial, fabs(th_series_mean(all) - 1.2) <= 0.05 &&
                              fabs(th_series_deviation(all) - 0.2) <= 0.05);
}

static void corner(th_trial *trial) { th_check_corner(trial, NULL, 120); }
static void stairs(th_trial *trial) {
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

// Everybody sets off at once, so the zone is looked at while people from behind still fill it.
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

static void groups(th_trial *trial) {
    static const char *const speeds[] = {"groups[0].speed=1.25", "groups[2].speed=0.5", NULL};
    th_check_groups(trial, speeds);
}

static const th_suite_test tests[] = {
    {"1", "Pre-movement", 'F', "ten people start at their own times, 10 to 100 s, within 0.5 s",
     "tolerance of RiMEA 4.1.1", th_check_premovement, 2},
    {"2", "Speed in a corridor", 'F', "1.0 m/s within 0.05 m/s over 40 m", "ISO",
     th_check_walking_speed, 1},
    {"3", "Speed on stairs", 'S', "10 m with factor 0.5: 0.5 m/s, 20 s within 5 %", "ISO", stairs,
     1},
    {"4", "Round a corner", 'F', "20 people, all round, none through the walls", "ISO", corner, 2},
    {"5", "Demographics", 'F',
     "100 people N(1.2, 0.2) m/s: pooled mean and deviation within 0.05 m/s", "ISO", demographics,
     1},
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
     "0.5 to 4 people/m2: speed falls, flow has a hump, nobody faster than free",
     "ISO; no numeric band", corridor_diagram, 3},
    {"14", "Groups", 'F',
     "five of 1.25 m/s stay together behind ten of 0.5 m/s: arrivals within 10 s",
     "ISO; plan ours; with the behaviour hidac", groups, 2},
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

const th_suite th_suite_iso = {"iso", "ISO", "ISO 20414:2020", tests,
                               (int)(sizeof tests / sizeof *tests)};
