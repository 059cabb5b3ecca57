// People of a recording, moment by moment: when they came and went, how far they walked, how long they stood, how
// smoothly; crossings of lines with flow, N-t curve and time headways; distances between neighbours and overlaps. SPDX-License-Identifier: Apache-2.0
#ifndef TH_OBSERVE_WALKERS_H
#define TH_OBSERVE_WALKERS_H
#include "core/statistics.h"
#include "throng/record.h"

// ---- motion: positions and velocities of all people, frame by frame, from a trajectory in any format. Every measurement
// looks at it; people and agents are measured by the same code.

typedef struct th_motion th_motion;

typedef struct th_motion_def {
    th_trajectory_assumed assumed; // for texts that do not say their frame rate or unit
    // Velocity is (x(t + window) - x(t - window)) / (2 window), whole frames [s] default 0.3; 0: one frame.
    double window;
    int64_t first, last; // frames looked at; last < 0: to the end
} th_motion_def;
th_motion_def th_motion_def_default(void);

th_result th_motion_open(const char *path, const th_motion_def *def, th_motion **motion,
                         th_error *error);
const th_trajectory_info *th_motion_about(const th_motion *motion);
// The next frame, with velocities. Where the frames before or after are missing (a person has just come or is
// about to go) the window is shorter on that side, down to one-sided; NaN for a person in a single frame only.
// Frames outside first .. last are looked at for velocities only. Holds only the frames of the window in memory;
// valid until the next call.
th_result th_motion_next(th_motion *motion, th_moment *moment, th_error *error);
void th_motion_rewind(th_motion *motion);
void th_motion_close(th_motion *motion);

// Are two places too far apart for one person in that time [m], [s]: an id used again, or the seam of
// a periodic corridor. Velocities, ways and crossings begin anew there.
bool th_is_jump(double dx, double dy, double time);

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
    // 1: was last to the left of the line, -1: to its right; 0: has not been seen off it.
    int8_t side;
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

// ---- distance to the nearest neighbour, and bodies that overlap

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
