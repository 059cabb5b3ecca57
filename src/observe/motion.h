// Positions and velocities of all people, frame by frame, from a trajectory in any format: what every
// measurement looks at. People and agents are measured by the same code. SPDX-License-Identifier: Apache-2.0
#ifndef TH_OBSERVE_MOTION_H
#define TH_OBSERVE_MOTION_H
#include "throng/record.h"

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

// Whether two places are too far apart for one person in that time [m], [s]: an id used again, or the seam of
// a periodic corridor. Velocities, ways and crossings begin anew there.
bool th_is_jump(double dx, double dy, double time);
#endif
