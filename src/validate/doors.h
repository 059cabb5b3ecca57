// Crowds at doors: scenes of the experiments with people, runs kept as tracks, and the flow through one door.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_VALIDATE_DOORS_H
#define TH_VALIDATE_DOORS_H
#include "throng/record.h"
#include "throng/throng.h"
#include "validate/validate.h"

// ---- the places of the experiments, as scene files
// Every agent walks towards +x; the door is around y = 0.

typedef struct th_door_scene {
    char text[16384]; // JSON
    double line;      // x of the line that counts [m]
    th_box jam;       // where the jam's density is measured [m]
    th_box shown;     // for pictures [m]
    int people;
} th_door_scene;

// Discs with the area that adults cover seen from above: 0.100 m2 in summer dress to 0.125 m2 in winter
// dress (Predtechenskii, Milinskii 1978), so radii of 0.178 to 0.200 m; with the models of an experiment.
th_models_choice th_door_choice(const char *filter, const char *move);

// Seyfried, Passon, Steffen, Boltes, Rupprecht, Klingsch 2009, "New insights into pedestrian flow through
// bottlenecks", Transportation Science 43: 60 people, start density 3.3 /m2, a passage 2.8 m long and `width`
// wide. The paper's plan gives the start area's depth by that density; throng's choice: a room of 4 m, 3 m
// between the first row and the passage.
void th_scene_seyfried(th_door_scene *scene, double width, const th_models_choice *choice);
// Kretz, Gruenebohm, Schreckenberg 2006: about 100 people, an opening in a wall of 0.4 m. The start is throng's choice:
// that of Seyfried's room, 1 m before the opening.
void th_scene_kretz(th_door_scene *scene, double width, const th_models_choice *choice);
// Adrian, Seyfried, Sieben 2020, run 040_c_56_h-, doi 10.34735/ped.2018.1: 75 people, a door of 0.5 m with
// bevelled posts, a pen of 5.6 m.
void th_scene_adrian(th_door_scene *scene, const th_models_choice *choice);
// Hermes 2009, run AO_300: 348 people, a passage 3.0 m wide and 1.06 m long. The queue reached out of the
// cameras' sight; here it goes back at the density it had in sight, 3.2 /m2.
void th_scene_hermes(th_door_scene *scene, const th_models_choice *choice);
// A grandstand and its mouth, after Menge's example scene of the experiments of Burghardt, Klingsch, Seyfried
// 2012: ten rows to each side of an aisle of 2 m, 15 seats each, 300 people; a tunnel of 2 m.
void th_scene_grandstand(th_door_scene *scene, const th_models_choice *choice);
// A room with one door and a hall behind it, turned and the door moved along its wall by the seed, so that nothing
// is along the axes: `people` at 1 /m2, a wall of 0.2 m. One goal lies straight ahead behind the door; of two goals one
// lies to either side, and half of the people want to go to each.
void th_scene_room(th_door_scene *scene, int people, double width, int goals, uint64_t seed,
                   const th_models_choice *choice);

// ---- one run of a small crowd, kept whole: positions sixteen times a second, and what can be read from them

// Looked at so often whatever the step, so that runs with different steps compare; the paper's rate [1/s].
#define TH_TRACKS_RATE 16.0

typedef struct th_tracks_def {
    const char *scene; // JSON; all people are there at the start
    uint64_t seed;
    double step;     // of the world [s]; 1 / TH_TRACKS_RATE is a whole number of them
    double max_time; // people inside then are left behind [s]
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
// All people inside at a frame, none behind the last one; velocities are those since the frame before.
th_moment th_tracks_moment(const th_run_tracks *tracks, int frame, const th_tracks_frame *room);

// Measurements of the tracks, as of any recording (observe/walkers.h).
typedef struct th_tracks_found {
    int through;        // people beyond the line x = line at the end
    double first, last; // when the first and the last came over it [s]; NaN: none did
    double flow;        // (crossings - 1) / (last - first) [1/s]; 0: fewer than two
    double acceleration,
        acceleration_95;  // second differences of places: mean, 95 % are below [m/s2]
    double jerk, jerk_95; // third differences [m/s3]
    double path;  // way walked over the straight line from start to end, mean over people [-]
    double speed; // mean [m/s]
} th_tracks_found;
// NaN where no person was seen long enough.
th_result th_tracks_look(const th_run_tracks *tracks, double line, th_tracks_found *found,
                         th_error *error);

typedef struct th_tracks_area {
    double density; // mean number of people in the box over its area [1/m2]; NaN: no frame
    double speed;   // mean of the people in it [m/s]; NaN: empty
} th_tracks_area;
// From .. to seconds, by the classic density of observe/density.h.
th_result th_tracks_in(const th_run_tracks *tracks, th_box box, double from, double to,
                       th_tracks_area *area, th_error *error);

// ---- flow through one door

// A configuration at one door, mean over seeds. NaN: not run.
typedef struct th_door_found {
    int runs, people, through;
    double flow;         // [1/s]
    double density;      // of the jam [1/m2]
    double overlaps;     // pairs per 100 people
    double acceleration; // [m/s2]
} th_door_found;

// One crowd, at most `longest` seconds.
th_result th_door_run(const th_door_scene *scene, uint64_t seed, double longest,
                      th_door_found *door, th_error *error);
#endif
