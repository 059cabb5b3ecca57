// Everybody of a recording, one after the other: when they came and went, how far they walked, how long they
// stood, how smoothly. Fed moment by moment. SPDX-License-Identifier: Apache-2.0
#ifndef TH_OBSERVE_WALKERS_H
#define TH_OBSERVE_WALKERS_H
#include "core/statistics.h"
#include "observe/motion.h"

typedef struct th_walker {
    int64_t id;
    double first_time, last_time; // [s]
    double first_x, first_y;
    double x, y; // where last seen [m]
    int level;
    double path;     // frame by frame [m]
    double distance; // straight, of the stretches that are over [m]
    // Slower than TH_JAM_SPEED before having been faster for the first time (waiting to set off), and after
    // that (jam) [s]. A recording does not tell who was told to wait.
    double wait_time, jam_time;
    // Length of the second and third difference of the place, frame by frame [m/s2], [m/s3].
    double acceleration_sum, jerk_sum;
    int acceleration_count, jerk_count;
    th_running_quantile acceleration_p95, jerk_p95;
    double speed_sum; // [m/s]
    int speed_count;
    // Where it goes on from.
    int64_t last_moment;           // counted from 1
    int stretch;                   // frames without gap
    double start_x, start_y;       // of this stretch
    double before_x, before_y;     // where they were before, at most a second ago; otherwise NaN
    double velocity_x, velocity_y; // of the last step
    double acceleration_x, acceleration_y;
    double before_time;
    bool slow, set_off;
    bool counted;      // speed of the last moment is known
    double service[6]; // seconds at each level of service, filled by others
} th_walker;

typedef struct th_walkers {
    th_walker *all; // in order of first appearance
    int count, room;
    int *slot; // hash table of indices + 1; 0: free
    int slot_count;
    int64_t moments;
    th_histogram acceleration, jerk, speed; // of everybody at every moment
    int *now;                               // per person of the last moment: index into all
    int now_room;
} th_walkers;

// NULL: no memory.
th_walkers *th_walkers_create(void);
void th_walkers_destroy(th_walkers *walkers);
// Every moment of the recording, in order. False: no memory.
bool th_walkers_see(th_walkers *walkers, const th_moment *moment);
// Straight from beginning to end of every stretch without gap, added up [m].
double th_walker_distance(const th_walker *walker);
// Path over that; NaN for who did not get anywhere (1 cm).
double th_walker_detour(const th_walker *walker);
#endif
