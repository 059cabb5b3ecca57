// HiDAC, the low level: parameters, own fields of a person, what it sees. SPDX-License-Identifier: Apache-2.0
#ifndef TH_MOVE_HIDAC_VIEW_H
#define TH_MOVE_HIDAC_VIEW_H
#include "formula/params.h"
#include "formula/vec.h"
#include "move/substep.h"

#define TH_PAB07 "Pelechano, Allbeck, Badler 2007"

#define TH_HIDAC_PARAMS(X)                                                                         \
    TH_CONTACT_PARAMS(X)                                                                           \
    X(rectangle_loose, 3, 0.5, 5, "m", TH_PAB07, "length of the rectangle of influence, loose")    \
    X(rectangle_dense, 1.5, 0.5, 5, "m", TH_PAB07, "the same in a dense crowd")                    \
    X(rectangle_width, 1.5, 0.4, 4, "m", "throng: three shoulder widths; not printed",             \
      "width of the rectangle")                                                                    \
    X(loose_density, 1, 0, 10, "1/m2", "throng: not printed", "perceived density that is loose")   \
    X(dense_density, 2, 0.1, 10, "1/m2", "throng: not printed", "perceived density that is dense") \
    X(adapts, 1, 0, 1, "-", TH_PAB07, "1: rectangle and side preference follow the density")       \
    X(line_of_sight, 1, 0, 1, "-", TH_PAB07 ": only the same room", "1: walls hide people")        \
    X(attractor_weight, 1, 0, 10, "-", "throng: the unit of the weights", "w_At")                  \
    X(others_weight, 0.4, 0, 10, "-", "throng: ratio of open implementations, 5 to 2",             \
      "w_Ot, tangential strength: 0.1 thin, 0.4 medium, 0.8 wide queues")                          \
    X(walls_weight, 0.3, 0, 10, "-", "throng: ratio of open implementations", "w_Wa and w_Ob")     \
    X(previous_weight, 0.2, 0, 10, "-", "throng: equation 1 would add up without bound",           \
      "weight of the last direction")                                                              \
    X(same_way_weight, 1.2, 0, 10, "-", TH_PAB07 " (9)", "w_o of people going the same way")       \
    X(oncoming_weight, 2.4, 0, 10, "-", TH_PAB07 " (9)", "w_o of all others")                      \
    X(oncoming_first, 1, 0, 1, "-", "throng: as the paper's example; 0: as its sentence",          \
      "1: oncoming people count over the whole rectangle, others only near by")                    \
    X(keep_side, 1, -1, 1, "-", TH_PAB07 ": right",                                                \
      "1 right, -1 left, 0 none: where to turn before an oncoming agent")                          \
    X(side_angle_loose, 30, 0, 90, "deg", "throng: not printed", "straight on, in a loose crowd")  \
    X(side_angle_dense, 5, 0, 90, "deg", "throng: not printed", "straight on, in a dense crowd")   \
    X(acceleration, 2, 0.1, 20, "m/s2", "throng: 0.7 s to walking speed; not printed", "a")        \
    X(speed_factor, 1, 0.1, 2, "-", "throng", "by ability, on the own speed")                      \
    X(personal_space, 0.05, 0, 1, "m", "throng: docs/models/hidac.md",                             \
      "epsilon, how much closer than touching others are felt")                                    \
    X(pushers, 0, 0, 1, "-", TH_PAB07 ": personality", "share of people with pusher_space")        \
    X(pusher_space, 0, 0, 1, "m", "throng: not printed", "epsilon of those who push")              \
    X(wall_space, 0, 0, 1, "m", "throng: who keeps clear of both jambs passes no door",            \
      "epsilon at walls")                                                                          \
    X(repulsion_gain, 1, 0, 2, "-", TH_PAB07 ": 1", "share of an overlap that is taken back")      \
    X(dead_band, 0, 0, 0.2, "m", TH_PAB07 ": 0", "shorter displacements do not hold an agent up")  \
    X(yields, 0.75, 0, 5, "-", "throng: 0: any displacement stops, as printed",                    \
      "displacement at which an agent stands still, in personal spaces")                           \
    X(response_time, 0.2, 0, 2, "s", "throng: 0: displacements, as printed",                       \
      "time in which an overlap is taken back by walking")                                         \
    X(relaxation_time, 0.2, 0, 2, "s", "throng: 0: at once, as printed",                           \
      "time to take on a new velocity")                                                            \
    X(wall_priority, 0.3, 0, 1, "-", TH_PAB07, "lambda, weight of people's pushes at a wall")      \
    X(stopping, 1, 0, 1, "-", TH_PAB07, "1: the stopping rule")                                    \
    X(stop_shortest, 0.1, 0, 10, "s", "throng: a small range; not printed", "of a stop")           \
    X(stop_longest, 0.5, 0, 10, "s", "throng: a small range; not printed", "of a stop")            \
    X(waiting, 1, 0, 1, "-", TH_PAB07, "1: the waiting rule")                                      \
    X(waiting_radius, 0.2, 0.05, 2, "m", "throng: docs/models/hidac.md",                           \
      "radius of the disc ahead that is kept free")                                                \
    X(wait_shortest, 1, 0, 100, "s", "throng: not printed", "of a wait")                           \
    X(wait_longest, 5, 0, 100, "s", "throng: not printed", "of a wait")                            \
    X(panic, 0, 0, 1, "-", TH_PAB07, "share of people in panic from the beginning")                \
    X(panic_space, 0.6, 0, 1, "-", "throng: not printed", "factor on personal space in panic")     \
    X(panic_speed, 1.5, 0.5, 3, "-", "throng: a run; not printed", "factor on speed in panic")     \
    X(panic_acceleration, 3, 0.5, 10, "-", "throng: not printed", "factor in panic")               \
    X(falling, 0, 0, 1, "-", TH_PAB07, "1: who is pushed too far falls")                           \
    X(fall_push, 1.5, 0.1, 20, "m/s", "Hof 2005: faster than a step of 0.45 m can catch",          \
      "a push this strong throws an agent; a neighbour that runs gives about 1")                   \
    X(fall_time, 0.5, 0.05, 5, "s", "throng: a step of a walk; not printed",                       \
      "over which pushes are averaged")                                                            \
    X(lies, 0, 0, 1, "-", "throng: for scenes", "share of people who lie from the beginning")      \
    X(gets_up, 0, 0, 3600, "s", TH_PAB07 ": never", "after which the fallen stand up; 0: never")   \
    X(fallen_range, 2, 0, 5, "m", TH_PAB07, "within which the fallen are walked around")           \
    X(fallen_weight, 0.5, 0, 1, "-", TH_PAB07, "beta, weight of walking around them")

#define TH_HIDAC_PRESETS(X)                                                                        \
    X(paper, "as printed: displacements, any of which stops", {"separation_passes", 0},            \
      {"personal_space", 0.05}, {"wall_space", 0.05}, {"yields", 0}, {"response_time", 0},         \
      {"relaxation_time", 0}, {"waiting_radius", 0.45})                                            \
    X(impaired, "with a walking stick: Boyce, Shields, Silcock 1999, 0.81 m/s",                    \
      {"speed_factor", 0.6}, {"acceleration", 1})                                                  \
    X(injured, "throng: half the speed of the others", {"speed_factor", 0.5}, {"acceleration", 1}) \
    X(trained, "staff: throng: a brisk walk", {"speed_factor", 1.2}, {"acceleration", 3})

typedef struct th_hidac_params {
    TH_HIDAC_PARAMS(TH_PARAM_MEMBER)
} th_hidac_params;

// Own fields of a person.
enum {
    TH_HIDAC_HEADING_X,
    TH_HIDAC_HEADING_Y,
    TH_HIDAC_PACE,
    TH_HIDAC_TIMER,
    TH_HIDAC_STATE,
    TH_HIDAC_RECTANGLE,
    TH_HIDAC_PUSHED_X,
    TH_HIDAC_PUSHED_Y,
    TH_HIDAC_PANIC,
    TH_HIDAC_MANNERS,
    TH_HIDAC_FIELDS
};
enum {
    TH_HIDAC_WALKS,
    TH_HIDAC_STOPS,
    TH_HIDAC_WAITS,
    TH_HIDAC_TRIES,
    TH_HIDAC_FALLS
};                             // of the field state
#define TH_HIDAC_FOR_GOOD 2.0f // of the field panic
// A body on the ground, torso and head [m]; the legs are stepped over.
#define TH_HIDAC_BODY_LENGTH 0.9f
#define TH_HIDAC_BODY_WIDTH 0.5f

// The view of one person and its sums.
typedef struct th_hidac_view {
    const th_hidac_params *params;
    uint32_t self, level;
    th_vec2 p;
    th_vec2 wish;        // unit; (0, 0): wants to stand
    th_vec2 heading;     // unit
    th_vec2 along_walls; // the same without what leads into a wall that one touches, unit
    float radius, space, rectangle, half_width;
    float cos_side; // of the angle within which an agent comes straight on
    float clear;    // no wall is nearer [m]
    bool panics;
    bool
        held_up; // in panic, when no timer frees it, and does not get on, though it may press into a wall
    // sums
    th_vec2 avoid_people, avoid_walls; // of (1)
    th_vec2 push_people, push_walls;   // of (10)
    th_vec2 leaned_on;                 // push of the neighbours that lean on it [m/s]
    th_vec2 avoid_fallen;              // unit; (0, 0): no agent lies ahead
    float fallen_distance;             // to the nearest of them
    int ahead;                         // people in the loose rectangle
    bool disc_taken;
} th_hidac_view;

TH_BOTH static inline const th_hidac_params *th_hidac_params_of(const th_world *world, uint32_t i) {
    return (const th_hidac_params *)(const void *)world->groups[world->agents.group[i]].move_params;
}
#endif
