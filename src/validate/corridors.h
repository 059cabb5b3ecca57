// Corridors without and with ends, and runs kept as recordings. SPDX-License-Identifier: Apache-2.0
#ifndef TH_VALIDATE_CORRIDORS_H
#define TH_VALIDATE_CORRIDORS_H
#include "observe/survey.h"
#include "throng/record.h"
#include "throng/throng.h"
#include "validate/diagram.h"
#include "validate/validate.h"

// ---- a corridor without ends
// Agents that leave on one side come in on the other. The library has no such scene, so they are put back between steps
// through the public interface, and copies of those near one end stand beyond the other: every agent has neighbours on
// both sides.

typedef struct th_periodic_def {
    // As in a scene file: "\"none\"", "{\"model\": ...}"; NULL: the scene names none.
    const char *filter, *move;
    double density;       // [1/m2]
    double length, width; // [m] length at least 12: one copy of every agent has to be enough
    double step, warm_up, measured; // [s]
    double radius;                  // [m] default 0.2
    double speed, spread;           // preferred: mean and standard deviation [m/s] default 1.34, 0
    bool both_ways;                 // half of them, at random, walk towards -x
    double waves;                   // [m] the way over which waves are followed; 0: they are not
    uint64_t seed;
} th_periodic_def;

// 20 x 4 m, walls along it, steps of 1/16 s, 20 s of warm-up and 20 s measured.
th_periodic_def th_periodic_def_default(const char *filter, const char *move, double density);

#define TH_FILE_CLASS 0.25 // [1/m]
enum { TH_FILE_CLASSES = 24 };

typedef struct th_periodic_result {
    int people;
    double speed;        // mean, along the own way [m/s]
    double standing;     // share of people that stand, slower than TH_STANDING
    double acceleration; // mean of |change of velocity| / step [m/s2]
    double overlaps;     // pairs overlapping by more than 1 cm, per person, mean
    double flow;         // density * speed [1/(m s)]
    uint64_t repairs;    // as in th_statistics: not 0 is a bug
    // Single file: people, and of these the standing ones, by their own density, two over the way from the follower to the
    // person ahead; class c is around TH_FILE_CLASS c.
    double own[TH_FILE_CLASSES], own_standing[TH_FILE_CLASSES];
    double wave_speed; // [m/s] along the ring, below 0: backwards; NaN: no waves, or not followed
} th_periodic_result;

// One world with one thread; the same numbers wherever and whenever it runs.
th_result th_periodic_run(const th_periodic_def *def, th_periodic_result *result, th_error *error);

// ---- a run as a recording, to be measured like one of people

// Steps a world of the scene until `end` [s] (or until all agents have left) with one thread and writes a
// text with a frame per step; the file must not be there.
th_result th_record_run(const th_scene_view *scene, uint64_t seed, double end, const char *path,
                        th_statistics *statistics, th_error *error);
// A new folder for it; removed, with the file, by th_record_folder_remove.
enum { TH_RECORD_PATH = 512 };
th_result th_record_folder_make(char path[TH_RECORD_PATH], th_error *error);
void th_record_folder_remove(const char *path);

// ---- corridors with ends: the scenes of two experiments with people, run, recorded, and measured by the code that
// measures recordings of people

// The way people walk and how long they keep coming.
typedef struct th_corridor_people {
    th_models_choice choice;
    double inflow_time; // [s]
} th_corridor_people;

// The corridor of 1.8 m with the run's entrance and exit, people coming in at its inflow, as a scene file.
// To be freed; NULL: no memory.
char *th_corridor_one_way(const th_uo180_run *run, const th_corridor_people *people);
// A corridor of 4 m, `rate` people per second from each end.
char *th_corridor_both_ways(double rate, const th_corridor_people *people);
// The corridor of 3 m of a measured run, its entrances and its inflows.
char *th_corridor_two_way_300(const th_two_way_run *run, const th_corridor_people *people);
// The same with the ground before its ends, where people leave sideways past those who come in.
char *th_corridor_two_way_ends(const th_two_way_run *run, const th_corridor_people *people);
// Two corridors of 2.4 m at a right angle, and the crowd that waits before them.
char *th_corridor_corner(const th_corner_run *run, const th_models_choice *people);

typedef struct th_corridor_window {
    const char *area;   // WKT, where density and speed are measured
    const char *lanes;  // WKT, where the order of lanes is looked at; NULL: not
    th_point direction; // speed is the component of the velocity along it; (0, 0): its length
    double from, until; // [s]
} th_corridor_window;

// Classes of density of 0.5 /m2, as those of uo180.
#define TH_CORRIDOR_CLASS 0.5
enum { TH_CORRIDOR_CLASSES = 12 };
typedef struct th_corridor_result {
    th_fundamental_mean mean; // classic density: people counted, as for the measured tables
    th_fundamental_mean late; // the same over the last quarter of the window
    th_fundamental_bin bins[TH_CORRIDOR_CLASSES]; // sums until th_fundamental_bins_finish
    double lanes;                                 // th_lane_order; NaN: not asked for
    uint64_t waiting;                             // people due that found no room to come in
} th_corridor_result;
// One run, measured in several windows; it lasts as long as the first of them.
th_result th_corridor_run(const char *scene, uint64_t seed, const th_corridor_window *windows,
                          int count, th_corridor_result *results, th_error *error);

// Order of lanes in an area, mean over people and frames: ((like - against) / (like + against))^2 over
// people with neighbours at most 0.3 m to the side; like and against are how many of these walk the same
// way and the other way. 1: pure lanes; about 1 / (how many) when mixed. Rex and Loewen 2007, Phys. Rev. E 75,
// 051402, for directions along x.
th_result th_lane_order(const char *path, const th_motion_def *motion, const char *area,
                        double *order, th_error *error);
#endif
