// The bench scenes, made in code for any number of people. All share radius 0.2 m, preferred and
// maximum speed 1.3 m/s, neighbour range 5 m, at most 10 neighbours, horizon 2 s.
//   circle   hexagonal lattice (0.6 m) filling an annulus, inner radius half the outer; goal: the
//            opposite point
//   block    square lattice at 3 people/m2; goal mirrored in x, so the halves walk through each other
//   dense    the same at 4 people/m2
//   packed   hexagonal lattice (0.41 m), nearly touching; goal mirrored in x
//   pillars  people at 1 per m2 among pillars 5 m apart, 25 to a pillar, one far goal, planned with a
//            distance field
//   door     people at 3 per m2 in a room, one door of 2 m
//   rooms    people at 1 per m2 in rooms of 20 by 20 m, openings of 1.6 m in each wall between them, exits in the outer
//            walls of both ends of each row: 85 rooms at 34 000 people, 2500 at a million
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_BENCH_SCENES_H
#define TH_BENCH_SCENES_H
#include "throng/throng.h"

typedef enum th_bench_scene {
    TH_BENCH_CIRCLE,
    TH_BENCH_BLOCK,
    TH_BENCH_DENSE,
    TH_BENCH_PACKED,
    TH_BENCH_PILLARS, // this and what follows has walls
    TH_BENCH_DOOR,
    TH_BENCH_ROOMS,
    TH_BENCH_SCENE_COUNT
} th_bench_scene;

extern const char *const th_bench_scene_names[TH_BENCH_SCENE_COUNT];

#define TH_BENCH_SPEED 1.3f // preferred and maximum [m/s]
#define TH_BENCH_STEP 0.1   // [s], unless another is asked for

// Returns the index into the names, or TH_BENCH_SCENE_COUNT.
th_bench_scene th_bench_find_scene(const char *name);

typedef struct th_bench_models {
    const char *move, *behave;  // behave NULL: the default
    const th_model_def *filter; // NULL: none
} th_bench_models;

// Makes scene and world with exactly `agents` people and steps of `step` seconds. Destroy the world first, then the scene.
th_result th_bench_create(th_bench_scene which, const th_bench_models *models, int agents,
                          double step, int threads, th_backend backend, th_scene **scene,
                          th_world **world, th_error *error);

// A scene file instead; a `step` of 0 is the file's. A file that cannot be read is TH_BAD_SCENE here: the name was
// wrong, not the disk.
th_result th_bench_load(const char *file, const th_scene_options *options, int threads, double step,
                        th_backend backend, th_scene **scene, th_world **world, th_error *error);

// Sub-steps that a move model takes in a step of so many seconds; 1 for models without sub-steps.
int th_bench_substeps(const char *model, double step);
bool th_bench_has_model(th_stage stage, const char *model);
#endif
