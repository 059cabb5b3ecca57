// A world as it stands, copied into one moment (throng/record.h). Recorders, measurements and drawings read it like a
// frame of a recording.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_RECORD_MOMENT_H
#define TH_RECORD_MOMENT_H
#include "throng/record.h"
#include "throng/scene_view.h"
#include <string.h>

// The arrays of a moment that a world fills: X(NAME, member, field, type, known).
#define TH_MOMENT_COLUMNS(X)                                         \
    X(ID, id, ID, int64_t, TH_KNOW_PLACE)                            \
    X(X, x, POSITION_X, double, TH_KNOW_PLACE)                       \
    X(Y, y, POSITION_Y, double, TH_KNOW_PLACE)                       \
    X(LEVEL, level, LEVEL, int32_t, TH_KNOW_LEVEL)                   \
    X(VELOCITY_X, velocity_x, VELOCITY_X, double, TH_KNOW_VELOCITY)  \
    X(VELOCITY_Y, velocity_y, VELOCITY_Y, double, TH_KNOW_VELOCITY)  \
    X(PHASE, phase, PHASE, int32_t, TH_KNOW_PHASE)                   \
    X(GROUP, group, GROUP, int32_t, TH_KNOW_GROUP)                   \
    X(RADIUS, radius, RADIUS, double, TH_KNOW_BODY)                  \
    X(PREFERRED_SPEED, preferred_speed, SPEED, double, TH_KNOW_BODY) \
    X(GOAL_X, goal_x, GOAL_X, double, TH_KNOW_GOAL)                  \
    X(GOAL_Y, goal_y, GOAL_Y, double, TH_KNOW_GOAL)                  \
    X(WAIT_UNTIL, wait_until, WAIT_UNTIL, double, TH_KNOW_WAIT)      \
    X(START_TIME, start_time, START_TIME, double, TH_KNOW_START)

typedef enum th_moment_column {
#define X(NAME, member, field, type, known) TH_COLUMN_##NAME,
    TH_MOMENT_COLUMNS(X)
#undef X
        TH_COLUMN_COUNT
} th_moment_column;

// Fields to copy besides ids and places. Levels are copied only where the scene has more than one.
enum {
    TH_KNOW_PLACE = 1 << 0,
    TH_KNOW_LEVEL = 1 << 1,
    TH_KNOW_VELOCITY = 1 << 2,
    TH_KNOW_PHASE = 1 << 3,
    TH_KNOW_GROUP = 1 << 4,
    TH_KNOW_BODY = 1 << 5, // radius and preferred speed
    TH_KNOW_GOAL = 1 << 6,
    TH_KNOW_WAIT = 1 << 7,
    TH_KNOW_START = 1 << 8,
    TH_PEOPLE_ONLY = 1 << 9, // without the discs of scripted bodies
};

// Zeroed is empty. The arrays are used again from one moment to the next and grow with the crowd.
typedef struct th_world_moment {
    th_moment moment; // its arrays are the ones below
    bool people_only;
    int agents;  // of the world, bodies included
    int room;    // people there is memory for
    int threads; // that copy; 0: one
    void *columns[TH_COLUMN_COUNT];
} th_world_moment;

// Copies all agents. A copy costs about 2 ns per person and array. False: no memory.
bool th_world_moment_take(th_world_moment *copy, th_world *world, unsigned known);
// More of the same moment: the world has not been stepped since. False: no memory.
bool th_world_moment_add(th_world_moment *copy, th_world *world, unsigned known);
void th_world_moment_release(th_world_moment *copy);

// Whether it is a person and no disc of a scripted body.
static inline bool th_moment_is_person(const th_moment *moment, int i) {
    return !moment->phase || moment->phase[i] < (int32_t)TH_PHASE_BODY;
}
static inline int32_t th_moment_level(const th_moment *moment, int i) {
    return moment->level ? moment->level[i] : 0;
}
// In the scene's own coordinates [m].
static inline double th_moment_x(const th_moment *moment, int i) {
    return moment->has_origin ? moment->origin.x + moment->x[i] : moment->x[i];
}
static inline double th_moment_y(const th_moment *moment, int i) {
    return moment->has_origin ? moment->origin.y + moment->y[i] : moment->y[i];
}

// ---- compiled areas as well-known text

// Any area in scene coordinates, POLYGON or MULTIPOLYGON with holes. Caller frees with th_free; NULL: no
// memory.
char *th_polygons_wkt(const th_polygons *shape, th_point origin);

// The scale at which arrows of influences on an agent (throng/model.h) are drawn, in metres of the plan per unit:
// displacements are
// centimetres and forces hundreds of newtons.
static inline double th_influence_metres(const char *unit) {
    if (strcmp(unit, "m") == 0) return 10;
    if (strcmp(unit, "m/s2") == 0) return 0.25;
    return strcmp(unit, "N") == 0 ? 0.002 : 1;
}
#endif
