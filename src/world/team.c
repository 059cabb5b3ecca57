// SPDX-License-Identifier: Apache-2.0
#include "world/team.h"
#include "core/parallel.h"
#include "core/pool.h"

// Trying the other number of threads may take this share of the time. A first step with all threads on busy cores
// may take FIRST_TRIAL [s]: 5000 people of a model with ninety loops took 0.05 to 0.3 s on two cores with two
// endless loops beside them, and 3 ms on one thread.
static const double TRIAL_SHARE = 0.05, FIRST_TRIAL = 0.2;
static const double NEWEST = 0.25; // weight of the newest step in a running mean

static double trial_seconds(const th_team *team, int candidate) {
    double cost = team->cost[candidate];
    return cost > 0.0 ? cost * team->people : FIRST_TRIAL;
}

int th_team_choose(th_team *team, int worth, int cores, int others) {
    int free_cores = cores - others;
    int few = free_cores < 1 ? 1 : free_cores < worth ? free_cores : worth;
    if (few == worth) {
        *team = (th_team){.most = team->most};
        return worth;
    }
    bool all_quicker = team->cost[TH_TEAM_ALL] > 0.0 && team->cost[TH_TEAM_FEW] > 0.0 &&
                       team->cost[TH_TEAM_ALL] < team->cost[TH_TEAM_FEW];
    int best = all_quicker ? TH_TEAM_ALL : TH_TEAM_FEW, other = 1 - best;
    bool trial = team->since_trial * TRIAL_SHARE > trial_seconds(team, other);
    if (trial) team->since_trial = 0.0;
    team->busy = true;
    team->candidate = trial ? other : best;
    return team->candidate == TH_TEAM_ALL ? worth : few;
}

void th_team_note(th_team *team, double seconds, int people) {
    if (!team->busy || people == 0) return;
    double *cost = &team->cost[team->candidate], now = seconds / people;
    *cost = *cost > 0.0 ? (1.0 - NEWEST) * *cost + NEWEST * now : now;
    team->people = people;
    team->since_trial += seconds;
}

void th_choose_threads(th_world *world) {
    int most = world->team.most;
    if (most == 0) return;
    // A few people on many cores take longer than on one.
    int worth = 1 + world->agents.count / TH_BLOCK;
    worth = worth < most ? worth : most;
    if (worth > 1) {
        int others = th_running_tasks() - world->threads; // its own threads still spin
        worth = th_team_choose(&world->team, worth, th_online_cores(), others > 0 ? others : 0);
    }
    world->threads = worth;
}
