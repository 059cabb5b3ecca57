// People of a recording, moment by moment: when they came and went, how far they walked, how long they stood, how
// smoothly; crossings of lines with flow, N-t curve and time headways; distances between neighbours and overlaps. SPDX-License-Identifier: Apache-2.0
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
    // that (jam) [s]. A recording does not say which people were told to wait.
    double wait_time, jam_time;
    // Length of the second and third difference of the place, frame by frame [m/s2], [m/s3].
    double acceleration_sum, jerk_sum;
    int acceleration_count, jerk_count;
    th_running_quantile acceleration_p95, jerk_p95;
    double speed_sum; // [m/s]
    int speed_count;
    // The state to continue from.
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
    th_histogram acceleration, jerk, speed; // of all people at every moment
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
// Path over that; NaN for a person that did not move (1 cm).
double th_walker_detour(const th_walker *walker);

// ---- lines

// Forward is from the right of a -> b to its left, as for the measurement lines of a scene.
typedef struct th_crossing {
    int64_t id;
    double time; // on the straight way between the two frames [s]
    bool forward;
} th_crossing;

// Where a person last crossed, and how far they have been from the line since.
typedef struct th_line_visit {
    bool crossed, forward;
    int8_t
        side; // 1: was last to the left of the line, -1: to its right; 0: has not been seen off it
    double farthest; // [m]
} th_line_visit;

// A person that turns back within this distance past the line has not crossed it: in a jam people sway on the spot, and
// a flow must not count that. Half a pair of shoulders. The counters of a running scene count every time. [m]
#define TH_TURNED_BACK 0.25

// Recordings are rounded to about a tenth of a millimetre: a person nearer to the line has not changed sides. [m]
#define TH_ON_LINE 1e-4
// Crossings this near beside an end are counted apart: the line may be too short. [m]
#define TH_BESIDE 0.5

typedef struct th_line_watch {
    th_point a, b;
    int level;
    int beside;             // crossings beside the ends
    th_crossing *crossings; // in order of time, ties by id
    int count, room;
    th_line_visit *visits; // per walker
    int visit_count;
} th_line_watch;

// After th_walkers_see of the same moment. False: no memory.
bool th_line_see(th_line_watch *line, const th_walkers *walkers, const th_moment *moment);
// After the last moment: a person that vanished (before `end`) on the way to the line, less than a frame and a half from
// it, has crossed it. At the exits of a simulation no frame shows people beyond the line. False: no memory.
bool th_line_finish(th_line_watch *line, const th_walkers *walkers, double frame, double end);
void th_line_release(th_line_watch *line);
double th_line_width(const th_line_watch *line); // [m]

// Crossings in one direction. Flow is (N - 1) / (time from the first to the last): N people have N - 1 headways between
// them. The middle 80 % leave out the first and the last tenth, when a crowd arrives and thins out.
typedef struct th_line_flow {
    int count;
    double first_time, last_time; // [s]; NaN: no crossing
    double flow, middle_flow;     // [1/s]; NaN for fewer than two (middle: ten) people
    double specific_flow, middle_specific_flow; // [1/(m s)]
    th_sample_summary headway;                  // between one and the next [s]
} th_line_flow;
// TH_NO_MEMORY is the only failure.
th_result th_line_flow_of(const th_line_watch *line, bool forward, th_line_flow *flow,
                          th_error *error);

// ---- distances and overlaps

// How near people come to each other: distance to the nearest, and bodies that overlap.

// Overlaps below this are touch, not collision; as in the statistics of a run. [m]
#define TH_TOUCH 0.01

typedef struct th_spacing th_spacing;

typedef struct th_spacing_totals {
    // Centre to the nearest other centre on the level, all people at every moment [m].
    th_histogram nearest;
    double radius;      // bodies [m]; 0: no collisions were looked for
    int64_t collisions; // times a pair began to overlap by more than TH_TOUCH
    int64_t pairs;      // overlapping pairs, added up over moments
    double pair_time;   // [s] all overlaps together
    double longest;     // [s] one overlap
    double deepest;     // [m] 2 radius - distance, at worst
    double person_time; // [s] of all people, to compare with
} th_spacing_totals;

// NULL: no memory. radius 0: nearest distances only.
th_spacing *th_spacing_create(double radius);
void th_spacing_destroy(th_spacing *spacing);
// Every moment, in order. False: no memory.
bool th_spacing_see(th_spacing *spacing, const th_moment *moment);
// Ends what is still going on.
const th_spacing_totals *th_spacing_finish(th_spacing *spacing);
#endif
