// Measurements of one run (th_observation), and the observer that fills them. SPDX-License-Identifier: Apache-2.0
#ifndef TH_OBSERVE_OBSERVER_H
#define TH_OBSERVE_OBSERVER_H
#include "throng/record.h"
#include "throng/scene_view.h"
#include "throng/world.h"

// ---- bounds of findings

// Every bound that a finding compares with, its definition and its source. docs/reports.md shows what they say of recorded
// calm crowds (no alarm) and of accidents (alarm); tests/test_findings.c checks both.

// Slower than this while walking is a jam [m/s]. No norm gives a number. Weidmann's curve (1993) falls to
// 0.2 m/s at 3.7 /m2 and SFPE's at 3.2 /m2, both just below what IMO calls congestion, and people do
// not walk so slowly by choice: the slowest preferred speed (0.5 m/s) on stairs (factor 0.5) is 0.25 m/s.
#define TH_JAM_SPEED 0.2f

// ---- density: the kernel's (kernel.h) [1/m2]

// IMO MSC.1/Circ.1533: congestion is a local density above 4 /m2; significant when it lasts longer than 10 % of the time.
#define TH_DENSE 4.0f
#define TH_IMO_SHARE 0.1 // [-]
// Fruin 1993, The causes and prevention of crowd disasters: from about 7 /m2 the crowd is almost a fluid mass, shock waves
// run through it and people lose control. Calm students before a door of 0.5 m (040_c_56_h-) reach 7.9 /m2 for up to
// 10 s each, those before a door of 3 m (AO_300) 6.5 /m2.
#define TH_PACKED 7.0f
// Densities found where people died: Duisburg 2010 8 +- 1 /m2, Jamarat 2006 up to 10 /m2.
#define TH_DEADLY 8.0f
// How long a person is in it before it counts: after about 30 s people who cannot breathe lose consciousness, after 6
// minutes they die (Still, Crowd safety and crowd risk analysis). It leaves out those who pass through a squeeze. [s]
#define TH_PACKED_TIME 30.0f
// Seconds in denser crowds are kept of every person for these bounds.
enum { TH_EXPOSURE_DENSE, TH_EXPOSURE_PACKED, TH_EXPOSURE_DEADLY, TH_EXPOSURES };
#define TH_EXPOSURE_BOUNDS \
    { TH_DENSE, TH_PACKED, TH_DEADLY }

// ---- crowd pressure (observer_map.c) [1/s2]

// Helbing, Johansson and Al-Abideen 2007 (Phys. Rev. E 75, 046109) saw turbulence from 0.02 /s2 on, in a crowd of 6 to
// 10 /m2. In calm crowds before doors the same measure reaches 0.03 to 0.13 /s2 where they are less dense than TH_PACKED:
// people set off and stop together. So a finding asks for both, for TH_PACKED_TIME.
#define TH_TURBULENT 0.02
// Means over time are exponential with this time: several waves of stop-and-go, which take about 10 s each. [s]
#define TH_PRESSURE_TIME 30.0

// ---- load: half the sum of the contact forces on a body (th_world_contact_forces) [N]

// Loads on the chest, as quoted by Lee and Hughes 2006 (Accident Analysis and Prevention 38, 712): 623 N is what men
// pushed against a bar tolerated (Evans and Hayden 1971); 1112 N is estimated to kill within 4 to 6 minutes and 6227 N
// within 15 s (Hopkins and others 1993).
// The force is what a crowd that pushes as hard as it wants to walk would do. A queue does not: its members touch and
// do not push, as long as they have room to stand apart. So a load counts only while the person is in a crowd denser than
// TH_PACKED, where people have none (Fruin 1993: forces pass through the whole crowd). The highest load is told in any case.
enum { TH_LOADS = 3 };
#define TH_LOAD_BOUNDS \
    { 623.0f, 1112.0f, 6227.0f }
// How long, by bound: 623 N is unpleasant at once, 10 s leave out a single shove; a fifth of 4 to 6 minutes; a third of
// 15 s. [s]
#define TH_LOAD_TIMES \
    { 10.0f, 60.0f, 5.0f }

// ---- bounds that judge the model, not the crowd

// More than any door lets through in experiments with people (docs/reports.md), over a window. [1/(m s)], [s]
#define TH_TOO_MUCH_FLOW 2.5
#define TH_PEAK_WINDOW 10.0
// Bodies give about 2 cm; deeper overlaps make densities and flows too high. [m]
#define TH_OVERLAP_TOO_DEEP 0.05
// Width of map cells from which short peaks are smoothed out. [m]
#define TH_COARSE_CELL 0.51

// A line or area people are counted at. Counts are cumulative, one per sample. Stairs are counted at samples, by the level
// that a person is on; forward is up.
// A person joins the queue of an opening (exit, door, stairs) with its first jam since the opening before, and passes it.
// Between two jams it may walk for TH_QUEUE_BREAK; after a longer walk it joins anew.
#define TH_QUEUE_BREAK 10.0f // [s] about 13 m of free walking: the way to another queue
typedef enum th_counter_kind {
    TH_COUNT_EXIT,
    TH_COUNT_DOOR,
    TH_COUNT_STAIRS,
    TH_COUNT_LINE,
    TH_COUNTER_KINDS
} th_counter_kind;
extern const char *const th_counter_kind_names[TH_COUNTER_KINDS]; // "exit", ...
typedef struct th_counter {
    th_counter_kind kind;
    const char *id; // the scene's
    int level;
    double width;                           // [m]; 0 for an exit that is an area
    const char *forward_to, *backward_to;   // "east", "north-west", ...; exits: "out"
    uint32_t *forward, *backward;           // per sample; exits count forward only
    double first_time, last_time;           // [s] NaN: none yet
    uint64_t forward_total, backward_total; // at the end, which may lie between samples
    // Not of lines: people in its queue, per sample, of those who passed later; and each who passed.
    uint32_t *queue;
    struct th_pass *passes;
    int pass_count;
} th_counter;
typedef struct th_pass {
    float time, wait; // when, and how long in the queue [s]
} th_pass;

// A measurement area: density by three methods (density.h, with their defaults) and the mean speed of those in
// it, one per sample.
typedef struct th_area_series {
    const char *id; // the scene's
    int level;
    double area;            // walkable part [m2]
    float *density, *speed; // classic: people counted
    float *voronoi_density, *gaussian_density;
} th_area_series;

// Means of a cell over the last TH_PRESSURE_TIME seconds.
typedef struct th_cell_motion {
    float density;    // [1/m2]; 0: too few people
    th_vec2 velocity; // of the people around [m/s]
    float variance;   // of that over time [m2/s2]
} th_cell_motion;

// What a map was like over time: sums over the samples of TH_FRAMES stretches of time, each `width` samples long; when a run
// outlasts them, pairs are added up and the width doubles. Where the scene chooses times frame k is the sample at the k-th
// instead. On very large maps a block stands for several cells.
enum { TH_FRAMES = TH_MAP_TIMES, TH_FRAME_SAMPLES = 5, TH_FRAME_BLOCKS = 250000 };
typedef struct th_map_frames {
    int stride, nx, ny;             // cells of a block each way, blocks
    int width, samples;             // of a frame; seen so far, of several runs the most
    int chosen;                     // how many times are chosen; 0: stretches
    double chosen_times[TH_FRAMES]; // [s]
    float *density;                 // [frame][block] mean over the block [1/m2] x samples
    float *speed, *walkers;         // sums as speed_sum and walker_count
} th_map_frames;

// Maps of one level: cells row by row from the lower left. Sums over samples, so that runs can be
// added. observer_map.c says how the density of a cell is taken and how exact it is.
typedef struct th_map {
    int level;
    float min_x, min_y; // lower left corner, relative to the scene origin [m]
    float cell;         // [m]
    int nx, ny;
    float *walkable;      // share of the cell that is floor [-]
    double *density_sum;  // [1/m2] x samples
    float *density_max;   // [1/m2]
    double *person_count; // people in the cell, summed over samples
    double *speed_sum;    // of people that were not told to stand or wait [m/s]
    double *walker_count; // how many those are, summed over samples
    double *dense_time;   // seconds above 4 /m2 (IMO congestion), summed over runs
    // The parts of density_sum and dense_time after the time of use (th_observation.use_sample_count).
    double *density_late, *dense_late;
    double *jam_time;   // person-seconds below the jam speed
    float *lying_count; // people on the ground in the cell, summed over samples
    // Helbing's crowd pressure: density x variance over time of the local velocity (observer_map.c) [1/s2]
    double *crowd_pressure_sum;  // over the samples that have one
    float *crowd_pressure_count; // how many those are
    float *crowd_pressure_max;
    // Seconds above TH_TURBULENT while denser than TH_PACKED, summed over runs.
    double *turbulent_time;
    // Contact forces (th_world_contact_forces). The load that squeezes a body is half the sum of the forces on it.
    float *load_max;   // highest of all people in the cell [N]
    double *load_time; // person-seconds above th_load_bounds[0]
    // The pressure of a model that has one (TH_GRID_PRESSURE); both NULL: none has. [m2/s]
    double *pressure_sum; // over all samples; before the first step it is 0
    float *pressure_max;
    th_map_frames frames;
    th_cell_motion *motion; // as of the last sample; not added up over runs, NULL in a sum
    double outside_count; // people beyond the grid (an open plane has no end), summed over samples
} th_map;
// The arrays that runs add up, in the order in which a checkpoint holds them. X(name)
// clang-format off
#define TH_MAP_SUMS(X)                                                                       \
    X(density_sum) X(density_max) X(person_count) X(speed_sum) X(walker_count) X(dense_time) \
    X(density_late) X(dense_late) X(jam_time) X(lying_count)                                 \
    X(crowd_pressure_sum) X(crowd_pressure_count) X(crowd_pressure_max) X(turbulent_time)    \
    X(load_max) X(load_time)
// clang-format on

// One person, index = id - 1. Times in seconds, NaN: not yet. Samples tell what a person does:
// half of the time between two samples goes to what it did at the first, half to what it does at the second
// (waiting for a given time: exactly that long), so times are right to about one interval and add up to
// end - start at most.
// Paths are straight between samples; the first and last piece are speed x time.
// group -1: not a person (a disc of a scripted body), or, with an end_time, a person that came and left
// between two samples. An end_time with exit -1: the event was lost in a crowd (events_lost); counters count them.
// Exposure is to the density of the map cell the person is in (0 beyond the maps); NaN without maps.
extern const float th_exposure_bounds[TH_EXPOSURES]; // [1/m2]
// Loads on the body [N]. The time between two looks at the forces counts for the later one.
extern const float th_load_bounds[TH_LOADS]; // [N]
typedef struct th_person {
    float start_time, end_time;   // appeared, left through an exit
    float wait_time;              // standing or waiting because told to
    float jam_time;               // walking, but slower than the jam speed
    float lying_time;             // on the ground after a fall
    float path_length;            // [m]
    float exposure[TH_EXPOSURES]; // seconds above each of th_exposure_bounds
    float peak_pressure; // highest TH_GRID_PRESSURE met at a sample [m2/s]; NaN: no model has one
    float peak_load;     // highest load met at a sample [N]
    float peak_line;     // highest sum of contact forces over the circumference [N/m]
    float load_time[TH_LOADS]; // seconds above each of th_load_bounds while denser than TH_PACKED
    int16_t group, exit;       // exit: index of the goal, -1: not left
} th_person;

// Some people's ways for the figure of trajectories: one point per sample.
typedef struct th_track {
    uint32_t id;
    int group;
    int first_sample, count;
    float *x, *y;
    uint8_t *level;
} th_track;

// Why a person has not arrived when the run ends. X(NAME, words)
// clang-format off
#define TH_LEFT_CAUSES(X) \
    X(WALKING, "still walking")                                  /* the run was too short */ \
    X(STANDING, "not set off yet") \
    X(WAITING, "waiting where the route says") \
    X(FALLEN, "on the ground") \
    X(SHUT, "every way is shut by a closed door") \
    X(TOO_WIDE, "wider than every way") \
    X(NO_WAY, "no way to the goal") \
    X(QUEUE, "in a jam that moves") \
    X(WEDGED, "stuck, with the others behind")                   /* in one place for TH_REST_TIME */
// clang-format on
typedef enum th_left_cause {
#define X(name, words) TH_LEFT_##name,
    TH_LEFT_CAUSES(X)
#undef X
        TH_LEFT_CAUSE_COUNT
} th_left_cause;
extern const char *const th_left_cause_words[TH_LEFT_CAUSE_COUNT];
// A walking person that stayed within TH_REST_REACH for this long does not move any more: a queue that lets one person per
// minute pass would still push it on. [s], [m]
#define TH_REST_TIME 60.0f
#define TH_REST_REACH 0.5f

typedef struct th_left_behind {
    float x, y;
    int level, group;
    th_phase phase;
    th_left_cause cause;
    float rest;   // seconds within TH_REST_REACH of where it is
    float to_go;  // walking distance to the goal [m]; infinite: no way; NaN: not known
    float radius; // [m]
} th_left_behind;

// The first and the last sample at which something occurred [s]; NaN: never.
typedef struct th_span {
    double from, to;
} th_span;
typedef enum th_span_kind {
    TH_SPAN_DENSE,
    TH_SPAN_PACKED,
    TH_SPAN_DEADLY,
    TH_SPAN_TURBULENT,
    TH_SPANS
} th_span_kind;

typedef struct th_observation {
    const th_scene_view *scene; // NULL: made by hand
    uint64_t seed, hash;
    bool recorded;    // of a recording: people that vanish have left, and the models are not known
    bool done;        // all have arrived or left, and no more come
    bool interrupted; // stopped by the user
    bool timed_out;   // an until-empty run that hit its limit
    double step;      // [s]
    double wall_seconds;
    th_statistics statistics; // at the end
    uint64_t events_lost;

    th_span spans[TH_SPANS]; // of the maps

    double start;    // [s] when it began to be watched
    double interval; // between samples [s]; sample k is at start + k * interval
    int sample_count;
    uint32_t *spawned, *inside, *left; // per sample
    uint32_t *overlapping;             // people that overlap others by more than 1 cm, per sample
    uint32_t *jammed;                  // people walking slower than the jam speed, per sample
    // The time of use: in a run until empty the time until 95 % of all had left, or, where fewer ever did, until the last of
    // them had; else the whole time. Shares of time refer to it, so that a few people who stay do not dilute them.
    int use_sample_count; // samples in it, each stands for an interval

    th_counter *counters;
    int counter_count;
    th_area_series *areas;
    int area_count;
    th_map *maps; // one per level
    int map_count;
    th_person *people;
    int person_count;
    th_track *tracks;
    int track_count;
    th_left_behind *left_behind; // filled at the end
    int left_behind_count;
} th_observation;

// Frees all arrays; the struct itself stays, empty. Zeroed is fine.
void th_observation_release(th_observation *observation);
void th_map_release(th_map *map);
// Pairs of frames become one, twice as wide.
void th_map_halve_frames(th_map_frames *frames);

// When the last person left; NaN while people are inside or if none ever left.
double th_egress_time(const th_observation *observation);

// ---- the observer

// Watches a run and fills an observation. Samples at fixed simulated times only, so that what is
// measured does not depend on when it was read.

typedef struct th_observer th_observer;

typedef struct th_observer_def {
    double interval; // between samples [s] default 1
    // Cell of the maps [m] default 0.5; coarser when a level would have over 4 million cells.
    double cell;
    int track_count; // ways kept for the figure, default 120, spread evenly over the ids
    bool maps;       // default true
    int threads; // that take a sample of a large crowd, default 1; nothing measured depends on it
} th_observer_def;
th_observer_def th_observer_def_default(void);

th_result th_observer_create(th_world *world, const th_observer_def *def, th_observer **observer,
                             th_error *error);
// For a recording of people in the scene, which must outlive it; `boxes` (or NULL): of the maps, by level, for scenes
// without walls.
th_result th_observer_create_for(const th_scene_view *scene, const th_observer_def *def,
                                 const th_box *boxes, th_observer **observer, th_error *error);
// Every moment of it, in order; then th_observer_finish_recording. observer_recorded.c
th_result th_observer_see_moment(th_observer *observer, const th_moment *moment, th_error *error);
th_result th_observer_finish_recording(th_observer *observer, th_error *error);
void th_observer_destroy(th_observer *observer);
// Once before the first step and after every step. TH_NO_MEMORY when an array cannot grow.
th_result th_observer_see(th_observer *observer, th_world *world, th_error *error);
// At the end: final statistics, hash, people left behind. The observation belongs to the observer.
th_result th_observer_finish(th_observer *observer, th_world *world, th_error *error);
th_observation *th_observer_observation(th_observer *observer);
// People at the last sample, for a display: it waits for nothing.
typedef struct th_observer_counts {
    int samples; // taken so far
    uint32_t inside, left;
} th_observer_counts;
th_observer_counts th_observer_latest(const th_observer *observer);

// State as bytes, for checkpoints: a restored observer goes on as if nothing had happened.
// `bytes` is allocated with malloc.
th_result th_observer_save(const th_observer *observer, void **bytes, size_t *size,
                           th_error *error);
th_result th_observer_restore(th_observer *observer, const void *bytes, size_t size,
                              th_error *error);
#endif
