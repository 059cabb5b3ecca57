// Pictures of crowds from their tracks: one column per run, one row per moment. SPDX-License-Identifier: Apache-2.0
#ifndef TH_VALIDATE_BOTTLENECK_FRAMES_H
#define TH_VALIDATE_BOTTLENECK_FRAMES_H
#include "validate/bottleneck_scenes.h"
#include "validate/bottleneck_tracks.h"

typedef struct th_frames_def {
    const th_door_scene *scene;
    const th_run_tracks *const *tracks; // one per column
    const char *const *names;
    int columns;
    const double *times; // [s] one per row
    int rows;
} th_frames_def;

// Everybody as a disc of mean size, coloured by speed. False: no memory or the file cannot be written.
bool th_frames_draw(const th_frames_def *def, const char *path);
#endif
