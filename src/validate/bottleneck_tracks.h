// One run of a small crowd, kept whole: where everybody was sixteen times a second, and what can be read from
// it afterwards. Crowds walk towards +x. SPDX-License-Identifier: Apache-2.0
#ifndef TH_VALIDATE_BOTTLENECK_TRACKS_H
#define TH_VALIDATE_BOTTLENECK_TRACKS_H
#include "throng/record.h"
#include "throng/throng.h"

// Looked at so often whatever the step, so that runs with different steps compare; the paper's rate [1/s].
#define TH_TRACKS_RATE 16.0

typedef struct th_tracks_def {
    const char *scene; // JSON; everybody is there at the start
    uint64_t seed;
    double step;     // of the world [s]; 1 / TH_TRACKS_RATE is a whole number of them
    double max_time; // who is inside then is left behind [s]
} th_tracks_def;

typedef struct th_run_tracks {
    int people, frames, room; // frames kept, and there is memory for
    float *x, *y;             // frame by frame, people by id; NaN: has left
    double overlaps;          // pairs overlapping by more than 1 cm, per 100 people inside, mean
    double deepest_overlap;   // [m]
    uint64_t repairs;         // as in th_statistics: not 0 is a bug
} th_run_tracks;

// One thread; the same numbers wherever and whenever it runs. Release also after a failure.
th_result th_tracks_run(const th_tracks_def *def, th_run_tracks *tracks, th_error *error);
void th_tracks_release(th_run_tracks *tracks);

// Memory for one frame as a moment. False: no memory; release either way.
typedef struct th_tracks_frame {
    int64_t *id;
    double *memory; // x, y, velocity x, velocity y: one block of `people` each
    int people;
} th_tracks_frame;
bool th_tracks_frame_make(th_tracks_frame *room, const th_run_tracks *tracks);
void th_tracks_frame_release(th_tracks_frame *room);
// Everybody inside at a frame, nobody behind the last one; velocities are those since the frame before.
th_moment th_tracks_moment(const th_run_tracks *tracks, int frame, const th_tracks_frame *room);

// What is measured of them as of any recording (observe/walkers.h).
typedef struct th_tracks_found {
    int through;        // people beyond the line x = line at the end
    double first, last; // when the first and the last came over it [s]; NaN: nobody
    double flow;        // (crossings - 1) / (last - first) [1/s]; 0: fewer than two
    double acceleration,
        acceleration_95;  // second differences of places: mean, 95 % are below [m/s2]
    double jerk, jerk_95; // third differences [m/s3]
    double path;  // way walked over the straight line from start to end, mean over people [-]
    double speed; // mean [m/s]
} th_tracks_found;
// NaN where nobody was seen long enough.
th_result th_tracks_look(const th_run_tracks *tracks, double line, th_tracks_found *found,
                         th_error *error);

typedef struct th_tracks_area {
    double density; // mean number of people in the box over its area [1/m2]; NaN: no frame
    double speed;   // mean of those in it [m/s]; NaN: nobody
} th_tracks_area;
// From .. to seconds.
th_tracks_area th_tracks_in(const th_run_tracks *tracks, th_box box, double from, double to);
// The highest density around anybody, looked at once a second: people within 1 m over the circle [1/m2].
double th_tracks_densest(const th_run_tracks *tracks);
#endif
