// Who crosses a line, when and which way; flow, N-t curve and time headways from it.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_OBSERVE_CROSSING_H
#define TH_OBSERVE_CROSSING_H
#include "observe/ensemble.h"
#include "observe/walkers.h"

// Forward is from the right of a -> b to its left, as for the measurement lines of a scene.
typedef struct th_crossing {
    int64_t id;
    double time; // on the straight way between the two frames [s]
    bool forward;
} th_crossing;

// Where a person last crossed, and how far they have been from the line since.
typedef struct th_line_visit {
    bool crossed, forward;
    double farthest; // [m]
} th_line_visit;

// Who turns back before being this far past the line has not crossed it: in a jam people sway on the spot, and
// a flow must not count that. Half a pair of shoulders. The counters of a running scene count every time. [m]
#define TH_TURNED_BACK 0.25

typedef struct th_line_watch {
    th_point a, b;
    int level;
    th_crossing *crossings; // in order of time, ties by id
    int count, room;
    th_line_visit *visits; // per walker
    int visit_count;
} th_line_watch;

// After th_walkers_see of the same moment. False: no memory.
bool th_line_see(th_line_watch *line, const th_walkers *walkers, const th_moment *moment);
void th_line_release(th_line_watch *line);
double th_line_width(const th_line_watch *line); // [m]

// Of one direction. Flow is (N - 1) / (time from the first to the last): N people have N - 1 headways between
// them. The middle 80 % leave out the first and the last tenth, when a crowd arrives and thins out.
typedef struct th_line_flow {
    int count;
    double first_time, last_time; // [s]; NaN: nobody
    double flow, middle_flow;     // [1/s]; NaN for fewer than two (middle: ten) people
    double specific_flow, middle_specific_flow; // [1/(m s)]
    th_sample_summary headway;                  // between one and the next [s]
} th_line_flow;
// TH_NO_MEMORY is the only failure.
th_result th_line_flow_of(const th_line_watch *line, bool forward, th_line_flow *flow,
                          th_error *error);
#endif
