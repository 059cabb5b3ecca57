// throng: the one list of agent fields. It drives allocation, sorting, snapshots and views. No functions, so no thread rules.
// SPDX-License-Identifier: Apache-2.0
#ifndef THRONG_FIELDS_H
#define THRONG_FIELDS_H

// Where TH_FIELD_LEG holds TH_DETOUR * (1 + k) besides the leg, the agent is on detour k of its group, or looks at that place.
#define TH_DETOUR 0x10000u

// X(NAME, name, type, doc). Every element is 4 bytes wide: one scratch array can sort them all.
// All arrays are in cell order and change order in every step; a mapped view is in id order.
#define TH_FIELDS(X)                                                                           \
    X(ID, id, uint32_t, "never reused, starts at 1; the key of every random number")           \
    X(POSITION_X, position_x, float, "[m] from the scene origin")                              \
    X(POSITION_Y, position_y, float, "[m] from the scene origin")                              \
    X(VELOCITY_X, velocity_x, float, "[m/s]")                                                  \
    X(VELOCITY_Y, velocity_y, float, "[m/s]")                                                  \
    X(PREFERRED_X, preferred_x, float, "preferred velocity, written by plan and filter [m/s]") \
    X(PREFERRED_Y, preferred_y, float, "preferred velocity, written by plan and filter [m/s]") \
    X(RADIUS, radius, float, "[m]")                                                            \
    X(SPEED, speed, float, "preferred speed on flat free ground [m/s]")                        \
    X(MASS, mass, float, "[kg]")                                                               \
    X(GOAL_X, goal_x, float, "own goal point, where the group gives one [m]")                  \
    X(GOAL_Y, goal_y, float, "own goal point, where the group gives one [m]")                  \
    X(GOAL_LEVEL, goal_level, uint32_t, "level of the own goal point")                         \
    X(LEVEL, level, uint32_t, "index of the level")                                            \
    X(GROUP, group, uint32_t, "index of the group; scripted bodies come after the groups")     \
    X(PHASE, phase, uint32_t, "th_phase")                                                      \
    X(LEG, leg, uint32_t, "which leg of the group's route, and above it a detour")             \
    X(WAIT_UNTIL, wait_until, float, "end of pre-movement or waiting [s]")                     \
    X(START_TIME, start_time, float, "when it appeared [s]")

typedef enum th_field {
    TH_FIELD_NONE = -1, // no such field; a field's number is an int
#define X(NAME, name, type, doc) TH_FIELD_##NAME,
    TH_FIELDS(X)
#undef X
        TH_FIELD_COUNT
} th_field;

// The activity of an agent.
typedef enum th_phase {
    TH_PHASE_STANDING, // has not set off yet (pre-movement time)
    TH_PHASE_WALKING,
    TH_PHASE_WAITING,  // in a waiting area
    TH_PHASE_ARRIVED,  // reached an own goal or the end of a route without exit; stays there
    TH_PHASE_FALLEN,   // lies on the ground; others walk around or over
    TH_PHASE_SCRIPTED, // follows a timed path
    TH_PHASE_BODY,     // a disc of a scripted solid body: not a person, never counted
    // Gone through an exit, or taken out by th_world_remove; dropped by the next step. Views leave these agents out, but
    // th_world_stored and the functions of models see them until then.
    TH_PHASE_LEFT,
    TH_PHASE_REMOVED,
    TH_PHASE_COUNT
} th_phase;

#endif
