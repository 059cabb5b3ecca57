// The places of the experiments at doors, as scene files. Everybody walks towards +x; the door is around y = 0.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_VALIDATE_BOTTLENECK_SCENES_H
#define TH_VALIDATE_BOTTLENECK_SCENES_H
#include "throng/throng.h"

typedef struct th_door_scene {
    char text[16384]; // JSON
    double line;      // x of the line that counts [m]
    th_box jam;       // where the jam's density is measured [m]
    th_box shown;     // for pictures [m]
    int people;
} th_door_scene;

// `filter` and `move` as in a scene file, JSON.

// Seyfried, Passon, Steffen, Boltes, Rupprecht, Klingsch 2009, "New insights into pedestrian flow through
// bottlenecks", Transportation Science 43: 60 people, start density 3.3 /m2, a passage 2.8 m long and `width`
// wide. The paper's plan gives the start area's depth by that density; throng's choice: a room of 4 m, 3 m
// between the first row and the passage.
void th_scene_seyfried(th_door_scene *scene, double width, const char *filter, const char *move);
// Adrian, Seyfried, Sieben 2020, run 040_c_56_h-, doi 10.34735/ped.2018.1: 75 people, a door of 0.5 m with
// bevelled posts, a pen of 5.6 m.
void th_scene_adrian(th_door_scene *scene, const char *filter, const char *move);
// Hermes 2009, run AO_300: 348 people, a passage 3.0 m wide and 1.06 m long. The queue reached out of the
// cameras' sight; here it goes back at the density it had in sight, 3.2 /m2.
void th_scene_hermes(th_door_scene *scene, const char *filter, const char *move);
// A grandstand and its mouth, after Menge's example scene of the experiments of Burghardt, Klingsch, Seyfried
// 2012: ten rows to each side of an aisle of 2 m, 15 seats each, 300 people; a tunnel of 2 m.
void th_scene_grandstand(th_door_scene *scene, const char *filter, const char *move);
#endif
