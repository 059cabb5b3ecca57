// IMO MSC.1/Circ.1238 (2007) and 1533 (2016): tests of evacuation models for ships.
// SPDX-License-Identifier: Apache-2.0
#include "validate/suite_parts.h"

// Men of 30 to 50 years walk at 0.97 to 1.62 m/s: the circular's table 3.4.
#define POPULATION "groups[0].speed={\"uniform\":[0.97,1.62]}"

static void stairs_up(th_trial *trial) {
    th_check_stairs(trial, "rimea_02_stairs_up", "stairs[0].up=1", 1, 10);
}
static void stairs_down(th_trial *trial) {
    th_check_stairs(trial, "rimea_03_stairs_down", "stairs[0].down=1", -1, 10);
}
static void corner(th_trial *trial) {
    th_check_corner(trial, "groups[0].area={\"rect\":[0,0,4,2]}", 120);
}
static void population(th_trial *trial) {
    th_check_population(trial, 50, POPULATION, 1.295, (1.62 - 0.97) / sqrt(12));
}
static void doors_shut(th_trial *trial) { th_check_doors_shut(trial, POPULATION); }

static void high_density(th_trial *trial) {
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

static const th_suite_test tests[] = {
    {"1", "Walking in a corridor", 'F', "40 m at 1.0 m/s in 40 s, within 5 %",
     "tolerance of NIST 2.1", th_check_walking_speed, 1},
    {"2", "Walking up stairs", 'S', "10 m at 1.0 m/s in 10 s, within 5 %", "tolerance of JuPedSim",
     stairs_up, 1},
    {"3", "Walking down stairs", 'S', "10 m at 1.0 m/s in 10 s, within 5 %",
     "tolerance of JuPedSim", stairs_down, 1},
    {"4", "Flow through an exit", 'F',
     "100 people through 1 m: at most 1.33 people/s over the whole time",
     "a ceiling that contradicts measurement with people", th_check_exit_flow, 2},
    {"5", "Response times", 'F', "ten people start at their own times, 10 to 100 s, within 0.5 s",
     "tolerance of RiMEA 4.1.1", th_check_premovement, 2},
    {"6", "Round a corner", 'F', "20 people from 4 m x 2 m, all round, none through the walls",
     "IMO", corner, 2},
    {"7", "Population", 'F',
     "50 people walk at 0.97 to 1.62 m/s: own speed within 0.03 m/s, mean 1.295 and deviation "
     "0.188 m/s within "
     "three standard errors",
     "table 3.4", population, 1},
    {"8", "Counterflow", 'F',
     "100 people through a corridor take the longer the more (0, 10, 50, 100) come towards them",
     "IMO", th_check_counterflow, 35},
    {"9", "Two of four doors shut", 'F', "1000 people take about twice the time: ratio 1.6 to 2.4",
     "band of JuPedSim", doors_shut, 40},
    {"10", "Allocated exits", 'F', "15 people by the main, 8 by the secondary exit, as told", "IMO",
     th_check_exit_allocation, 1},
    {"11", "Jam before stairs", 'S',
     "jam at the room's exit, steady corridor, jam at the foot of the stairs: flow onto the stairs "
     "at "
     "least 0.05 per s lower",
     "rule of JuPedSim for RiMEA 13, whose plan is used", th_check_room_corridor_stairs, 2},
    {"12", "Flow at high density", 'F',
     "flow in a corridor at very high density below that at moderate density",
     "Circ.1533, from second hand", high_density, 15},
};

const th_suite th_suite_imo = {"imo", "IMO",
                               "MSC.1/Circ.1238 (2007) and MSC.1/Circ.1533 (2016), annex 3", tests,
                               (int)(sizeof tests / sizeof *tests)};
