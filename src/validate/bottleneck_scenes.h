// The places of the experiments at doors, as scene files. Everybody walks towards +x; the door is around y = 0.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_VALIDATE_BOTTLENECK_SCENES_H
#define TH_VALIDATE_BOTTLENECK_SCENES_H
#include "validate/validate.h"

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
// is along the axes: `people` at 1 /m2, a wall of 0.2 m.
void th_scene_room(th_door_scene *scene, int people, double width, uint64_t seed,
                   const th_models_choice *choice);
#endif
