// Rings and polylines -> directed wall edges with openings cut out. SPDX-License-Identifier: Apache-2.0
#ifndef TH_SCENE_WALL_CHAINS_H
#define TH_SCENE_WALL_CHAINS_H
#include "scene/scene.h"

#define TH_OPENING_REACH 0.01f // [m] an opening lies on a wall when it is no further off than this
// No agent passes a gap narrower than this beside a door: the smallest body is 0.1 m wide (radius 0.05 m). So much a door's line may
// be too short or too long for its opening.
#define TH_DOOR_SLIT 0.1f   // [m]
#define TH_SAME_POINT 1e-6f // [m] shorter edges are dropped

typedef enum th_opening_kind {
    TH_OPENING_DOOR,
    TH_OPENING_GOAL,
    TH_OPENING_STAIRS
} th_opening_kind;

// A line that opens a wall where it lies on one.
typedef struct th_opening {
    th_line line;
    th_box box; // of the line, with room for every wall that it may open
    th_opening_kind kind;
    int index,
        side; // in the scene's list of the kind; of stairs: 0 on the lower level, 1 on the upper
} th_opening;

// A part of the ground's edge that an opening took away.
typedef struct th_gap {
    const th_opening *opening;
    th_vec2 a, direction; // of the edge; what is not ground is on its left
    float begin, end;     // [m] along it
} th_gap;

typedef struct th_wall_builder {
    th_memory memory;
    th_wall *walls;
    int count, capacity;
    int level;
    const th_opening *openings; // of all levels
    int opening_count;
    bool note_gaps;            // of the chains that are added
    const th_polygons *ground; // what these chains bound; NULL: an open plane, or other chains
    th_gap *gaps;              // those of one edge follow each other
    int gap_count, gap_capacity;
} th_wall_builder;

// A chain of points, solid on its left. Closed rings do not repeat the first point. The parts that openings leave, and
// open chains, become two-sided walls. False: no memory.
bool th_wall_builder_add(th_wall_builder *builder, const th_vec2 *points, int count, bool closed);
// Moves the ends of a door's line that lie on ground to the wall, or else the door, within TH_DOOR_SLIT of them: a door that
// is shut leaves no slit. Looks at the walls from `first` on.
void th_wall_builder_fit_door(const th_wall_builder *builder, const th_level *level, int first,
                              th_line *line);
// The two edges of a door; no openings are cut.
bool th_wall_builder_add_door(th_wall_builder *builder, const th_line *line, int door);
// Convexity of all corners, once every edge is there.
void th_wall_builder_finish(th_wall_builder *builder);
void th_wall_builder_release(th_wall_builder *builder);
#endif
