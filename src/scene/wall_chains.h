// Rings and polylines -> directed wall edges with openings cut out. SPDX-License-Identifier: Apache-2.0
#ifndef TH_SCENE_WALL_CHAINS_H
#define TH_SCENE_WALL_CHAINS_H
#include "scene/scene.h"

#define TH_OPENING_REACH 0.01f // [m] an opening lies on a wall when it is no further off than this
#define TH_SAME_POINT 1e-6f    // [m] shorter edges are no edges

typedef struct th_wall_builder {
    th_memory memory;
    th_wall *walls;
    int count, capacity;
    int level;
    const th_line *openings; // of all levels
    int opening_count;
} th_wall_builder;

// A chain of points, solid on its left. Closed rings do not repeat the first point. What the openings
// leave of it, and every open chain, becomes a two-sided wall. False: no memory.
bool th_wall_builder_add(th_wall_builder *builder, const th_vec2 *points, int count, bool closed);
// The two edges of a door; no openings are cut.
bool th_wall_builder_add_door(th_wall_builder *builder, const th_line *line, int door);
// Convexity of all corners, once every edge is there.
void th_wall_builder_finish(th_wall_builder *builder);
void th_wall_builder_free(th_wall_builder *builder);
#endif
