// Unilateral incompressibility, Narain, Golas, Curtis, Lin 2009, "Aggregate dynamics for dense crowd
// simulation": the maths of one person, one cell, one face. The crowd is a fluid that may thin out freely
// but never be packed beyond a limit; a pressure p >= 0 that acts only where it is packed bends the flow.
// Densities are carried as a packing: every person takes up the area 1 / rho_max of eq. 4, and the packing
// of a cell, sum of areas / area of the cell, is at most 1. With equal bodies this is rho / rho_max of the
// paper; with unequal ones each counts by its own size. Model, additions, omissions: docs/models/uic.md.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_MOVE_UIC_UIC_H
#define TH_MOVE_UIC_UIC_H
#include "formula/params.h"
#include "formula/vec.h"
#include "move/uic/lcp.h"
#include "space/staggered.h"
#include "state/world.h"

#define TH_NGCL09 "Narain, Golas, Curtis, Lin 2009"

// separation_passes leads, as in every move model. Here it counts the passes of the model's own pair step.
#define TH_UIC_PARAMS(X)                                                                           \
    X(separation_passes, 2, 0, 16, "-", "throng: a fit to the paper's nearest distances",          \
      "passes of the pair step that moves people apart who are closer than pair_distance")         \
    X(pressure, 1, 0, 1, "-", TH_NGCL09 ": Fig. 3",                                                \
      "1: packing is limited by pressure; 0: pair step only")                                      \
    X(pair_distance, 1.33, 0, 2, "d_min",                                                          \
      "throng: no holes; at 1.41 = 1 / sqrt(alpha) streams clot",                                  \
      "people closer than this are moved apart; 0: no pair step")                                  \
    X(tidy_passes, 5, 0, 16, "-", "throng: a tenth of the overlaps at no more cost",               \
      "further passes for those who are still closer than about d_min")                            \
    X(pair_substep, 0.1, 0.005, 1, "s", "throng: shorter ones bring nothing, docs/models/uic.md",  \
      "longest piece of way between two passes of the pair step")                                  \
    X(d_min, 0, 0, 2, "m", TH_NGCL09 ": eq. 4",                                                    \
      "distance people do not fall below; 0: twice the radius of each")                            \
    X(alpha, 0.5, 0.1, 1, "-", TH_NGCL09 ": eq. 4 has it <= 1; 0.5 is throng's fit",               \
      "share of the densest packing of discs that a crowd reaches")                                \
    X(cell_size, 0, 0, 20, "m", "throng: density overshoots least at 5 to 6 d_min",                \
      "side of a cell, the largest any group asks for; 0: 5 d_min; read when the world is made")   \
    X(tolerance, 1e-3, 1e-6, 0.1, "-", "throng",                                                   \
      "of the pressure solve, as a share of the maximum density")                                  \
    X(excess_time, 0.4, 0, 10, "s", "throng: in one step an overfull cell throws people about",    \
      "in which pressure empties a cell to the limit; 0: in one step, as published")               \
    X(reaction_time, 0.1, 0, 2, "s",                                                               \
      "throng: at once, what a plan or a push says wrong is jerked at",                            \
      "in which people take on the velocity that flow and plan ask for; 0: at once, as published") \
    X(speed_limit, 0, 0, 5, "m/s", TH_NGCL09 ": v_max; 0: mean preferred speed of those around",   \
      "speed that a flow bent by pressure makes up for")                                           \
    X(keep_side, 0, -1, 1, "-", TH_NGCL09 ": wished for in section 5.2",                           \
      "share of the speed by which people facing others step to the right (left if negative)")     \
    X(lanes, 0, 0, 4, "-", "throng: crossing streams form stripes; 1 to 3 differ little",          \
      "how strongly people step to the side where more want their way; 0: as published")           \
    X(give_way, 1, 0, 1, "-", "throng: two packed crowds that meet at a corner stand for good",    \
      "how far people who stand because wishes around them oppose each other leave the common "    \
      "flow and step to their right; 0: as published")

// X(name, doc, {parameter, value}...)
#define TH_UIC_PRESETS(X)                                                                     \
    X(narain2009, "the distances the paper reports, 1.25 d_min where dense", {"alpha", 0.45}, \
      {"pair_distance", 1.25}, {"separation_passes", 3}, {"give_way", 0}, {"excess_time", 0}, \
      {"reaction_time", 0})                                                                   \
    X(packed, "denser and quicker: 4.7 people per m2 of radius 0.2 m instead of 3.6",         \
      {"alpha", 0.65}, {"pair_distance", 1.15}, {"separation_passes", 5}, {"tidy_passes", 16})

typedef struct th_uic_params {
    TH_UIC_PARAMS(TH_PARAM_MEMBER)
} th_uic_params;

// A flow below this share of the speed limit counts as standing: renormalised, the noise of a standing crowd would become
// walking.
#define TH_UIC_FLOOR 1e-3f
// Renormalising makes a flow faster by this factor at most. Opposed preferred velocities leave a small mean that changes its
// sign from step to step; at full walking speed it shook the people of an alley (41 m/s2, now 0.2 to 1.3).
#define TH_UIC_RENORM_MOST 4.0f
// Share of the mean speed below which an agent gives way where wishes oppose, the more the slower it is. With 0.3 a crowd
// that had come loose was held again at once: streams in a corridor of 2 m took 189 s (now 131) at 1.9 m/s2 (1.0).
#define TH_UIC_STANDS 1.0f
// [s] in which an agent that gives way changes its velocity; and the most of a change in a step. Beyond 0.23 it would
// overshoot: from the speed at which it stops to give way, see th_uic_eased.
#define TH_UIC_EASE_TIME 0.3f
#define TH_UIC_EASE_MOST 0.2f
// No agent is carried or pushed faster than this many times the own walking speed, whatever an overfull cell asks for.
#define TH_UIC_FASTEST 1.19f
#define TH_UIC_SLOWEST 0.1f // [m/s] a standing agent is pushed aside at least this fast
#define TH_UIC_QUICK 2.5f   // [m/s] a quick agent: how far any may get in a step
#define TH_UIC_CELL 5.0f    // default cell size in d_min

// The fastest that an agent with this walking speed moves [m/s].
TH_FORMULA float th_uic_fastest(float speed) {
    return TH_UIC_FASTEST * th_max(speed, TH_UIC_SLOWEST);
}

// The distance that an agent keeps: as given, or twice the own radius.
TH_FORMULA float th_uic_d_min(float given, float radius) {
    return given > 0.0f ? given : 2.0f * radius;
}

// Area one person takes up, 1 / rho_max (eq. 4): sqrt(3) d_min^2 / (2 alpha) [m2].
TH_FORMULA float th_uic_share(float d_min, float alpha) {
    return 0.8660254f * d_min * d_min / alpha;
}

// Eq. 3 with the weight bounded: the packing overshoots 1 by a few per cent.
TH_FORMULA float th_uic_weight(float packing, float capacity) {
    return capacity > 1e-6f ? th_min(packing / capacity, 1.0f) : 1.0f;
}

// Share of what is done in `time` that is done in a step: of what a cell holds beyond its capacity, of a change of velocity.
TH_FORMULA float th_uic_share_of_time(float dt, float time) { return dt < time ? dt / time : 1.0f; }

// renorm of eq. 10 for one component of a face: `along` is that component, `across` the other.
TH_FORMULA float th_uic_renorm(float along, float across, float limit) {
    float length = sqrtf(along * along + across * across);
    if (length < TH_UIC_FLOOR * limit || !(length > 0.0f)) return 0.0f;
    return along * th_min(limit / length, TH_UIC_RENORM_MOST);
}

// Mean preferred velocities as of the last step, here and to both sides.
typedef struct th_uic_wishes {
    th_vec2 here, left, right;
} th_uic_wishes;

// Preferred velocity v with a step to the right, the more the people here want to go another way: nothing when their
// mean preferred velocity is one's own, `keep_side` of the speed when it is opposite. And with a step to the side where
// more want one's own way: people who want the same come together and pass others in lanes or stripes.
TH_FORMULA th_vec2 th_uic_keep_side(th_vec2 v, const th_uic_wishes *mean, float keep_side,
                                    float lanes) {
    float speed2 = th_length2(v);
    if (!(speed2 > 1e-12f)) return v;
    float against = th_clamp(0.5f * (1.0f - th_dot(v, mean->here) / speed2), 0.0f, 1.0f);
    float better = 0.5f * th_dot(v, th_sub(mean->right, mean->left)) / speed2;
    float aside = th_clamp(keep_side * against + lanes * better, -1.0f, 1.0f);
    th_vec2 turned = th_add(v, th_scale(aside, th_perp_right(v)));
    return th_scale(sqrtf(speed2 / th_length2(turned)), turned); // no faster than before
}

// ---- what the parts of the model share
// The grids of all levels in common arrays, level after level, what a view shows of them, and the functions of the
// parts.

// One level as of the last step. All arrays nx * ny, cell (i, j) at j nx + i; NULL before the first step.
typedef struct th_uic_view {
    th_staggered grid;
    // Of this model, spread over the nearest cells; their sum is the number of people.
    const float *people;
    const float *packing;   // share of the cell that people (all models) take up, 1: packed [1]
    const float *capacity;  // share that can be taken up: free ground, weighted as people are [1]
    const float *free_area; // exact share of the cell that is ground [1]
    // Pressure of the second solve [m2/s]: its gradient is the velocity that packing takes from people's
    // wish. Never negative, 0 where there is room. In newtons: docs/models/uic.md.
    const double *pressure;
    const float *velocity_x, *velocity_y; // of the flow, at west and south faces [m/s]
    const float *aperture_x, *aperture_y; // open share of west and south faces
} th_uic_view;

// Running sums since the world was made, but for what says otherwise.
typedef struct th_uic_statistics {
    uint64_t steps;
    uint64_t solves, iterations, outer, unconverged; // of the pressure solver
    uint64_t visits;                                 // cells it looked at
    double largest_residual;        // of the last step, share of the maximum density
    int active_cells, jammed_cells; // of the last step: cells with people, with pressure
    float densest;                  // largest packing / capacity of any cell in the last step
    double splat_seconds, solve_seconds, grid_seconds, follow_seconds, pair_seconds;
} th_uic_statistics;

// Sums over people at a node of one of the three lattices. Three windows of four out of one row
// of six: at centres people, foreign, share, speed; at faces share, speed, x, y.
enum { TH_UIC_LANES = 4 };
typedef struct th_uic_centre {
    float people;  // of this model
    float foreign; // area taken up by people of other models and scripted people [m2]
    float share;   // area taken up by people of this model [m2]
    float speed;   // not used
} th_uic_centre;
typedef struct th_uic_face {
    float share; // [m2]
    float speed; // preferred speed, weighted by share
    float x, y;  // preferred velocity, weighted by share
} th_uic_face;

// How a quarter of a cell (a half along x and y) treats the neighbours across its outer sides.
enum {
    TH_UIC_FOLD_X = 1,  // a wall closes the face beside it: nothing is given to the cell behind
    TH_UIC_FOLD_Y = 2,  // the same above or below
    TH_UIC_FOLD_XY = 4, // the cell across the corner is behind walls
    // A wall runs through, or a gate through the cell: an agent that stands here may.
    TH_UIC_WALL = 8,
    // belong to another cell
    TH_UIC_NEAR_WALL = 16, // a wall is near enough to stand between two people of the pair step
    TH_UIC_NEAR_GATE = 64, // an exit or a link is in the cell or in one beside it
    TH_UIC_LOOK_CLOSER = TH_UIC_NEAR_WALL | TH_UIC_NEAR_GATE
};

// The cell an agent stands in among the nine numbers 3 dy + dx + 4, and one more number for agents that see no centre at all,
// in a passage too narrow for the grid. These are not counted and walk as they prefer; the pair step keeps them apart.
enum { TH_UIC_OWN_CELL = 4, TH_UIC_NO_CELL = 9 };

typedef struct th_uic_level {
    th_staggered grid;
    int first; // index of cell 0 in the common arrays
    th_floor floor;
    uint32_t walls_version; // the apertures are of this one
    bool measured;          // the grid is in use and its cells have been measured
    bool stale;             // and must be again
    bool walled;            // anything but open ground
    bool has_bodies;
} th_uic_level;

// A face with a link: on this level it looks into another one.
typedef struct th_uic_link_face {
    int level, other;
    int cell; // whose west (axis 0) or south (axis 1) face it is, within the level
    int axis;
    float share; // of the face
} th_uic_link_face;

// Where the ground of a level ends for the flow though no wall stands: an exit, or a link to another level.
typedef struct th_uic_gate {
    int level, other; // other: the level a link leads to, -1 for an exit
    th_vec2 a, b;
} th_uic_gate;

// A part of a cell (th_floor_row): where its ground is and which cell people there count in.
typedef struct th_uic_ground {
    th_vec2 at;
    int cell; // within the level; TH_UIC_NO_GROUND, TH_UIC_UNSEEN
} th_uic_ground;
enum { TH_UIC_NO_GROUND = -1, TH_UIC_UNSEEN = -2 };

typedef struct th_uic_group {
    bool own;    // moved by this model
    float d_min; // 0: twice the radius
    float area;  // area taken up is this times d_min^2; of others, times the square of the diameter
    float separate; // half the pair distance over d_min
    int passes;
    float keep_side, lanes, give_way;
    bool pressure;
    float speed_limit, tolerance;
} th_uic_group;

// Every array of the model, once: element, name, how many, what. th_uic_create allocates them, the device has the
// same under the same names. `uic` is the struct they belong to; arrays by cell hold all levels, one after the other.
#define TH_UIC_ARRAYS(X)                                                                           \
    X(th_uic_level, levels, uic->level_count, "grids as measured")                                 \
    X(th_uic_group, groups, uic->group_count, "what the step asks of a group")                     \
    X(th_uic_link_face, link_faces, uic->link_face_capacity, "faces that look into another level") \
    X(th_uic_gate, gates, uic->gate_count, "exits and links, all levels")                          \
    X(th_uic_centre, centre, uic->cell_capacity, "sums over people at centres")                    \
    X(th_uic_face, west, uic->cell_capacity, "sums over people at west faces")                     \
    X(th_uic_face, south, uic->cell_capacity, "sums over people at south faces")                   \
    X(th_vec2, anchor, uic->cell_capacity, "where a body can stand, nearest to the centre")        \
    X(float, hold, uic->cell_capacity, "1; 0 where a passage is too narrow for the cell")          \
    X(uint8_t, quarters, 4 * uic->cell_capacity, "flags: (2 nx) x (2 ny) of a level")              \
    X(uint8_t, cell_shift, uic->agent_capacity, "by agent: the cell it belongs to, as 3 dy + dx")  \
    X(uint8_t, squeezes, uic->agent_capacity, "by agent: how far it gives way, of 255")            \
    X(float, people, uic->cell_capacity, "of this model")                                          \
    X(float, packing, uic->cell_capacity, "share of the cell that people take up")                 \
    X(float, capacity, uic->cell_capacity, "share that can be taken up")                           \
    X(float, room, uic->cell_capacity, "capacity less moving bodies")                              \
    X(float, aperture_x, uic->cell_capacity, "open share of west faces, standing walls")           \
    X(float, aperture_y, uic->cell_capacity, "of south faces")                                     \
    X(float, open_x, uic->cell_capacity, "the same less moving bodies")                            \
    X(float, open_y, uic->cell_capacity, "the same less moving bodies")                            \
    X(float, exit_x, uic->cell_capacity, "share of the west face that is an exit")                 \
    X(float, exit_y, uic->cell_capacity, "of the south face")                                      \
    X(float, gate_x, uic->cell_capacity, "share of the west face that is an exit or a link")       \
    X(float, gate_y, uic->cell_capacity, "of the south face")                                      \
    X(uint64_t, covered, uic->covered_capacity, "by moving bodies, 8 x 8 bits a cell")             \
    X(float, u, uic->cell_capacity, "velocity of the flow at west faces")                          \
    X(float, v, uic->cell_capacity, "velocity of the flow at south faces")                         \
    X(float, limit_u, uic->cell_capacity, "speed that the flow at west faces makes up for")        \
    X(float, limit_v, uic->cell_capacity, "at south faces")                                        \
    X(float, renormed_u, uic->cell_capacity, "renormalised u, before it takes its place")          \
    X(float, renormed_v, uic->cell_capacity, "renormalised v")                                     \
    X(float, mean_x, uic->cell_capacity, "mean preferred velocity in a cell, for wishes")          \
    X(float, mean_y, uic->cell_capacity, "mean preferred velocity in a cell, for wishes")          \
    X(double, east, uic->cell_capacity, "coupling with the cell to the east")                      \
    X(double, north, uic->cell_capacity, "coupling with the cell to the north")                    \
    X(double, ground, uic->cell_capacity, "coupling with p = 0")                                   \
    X(double, b, uic->cell_capacity, "slack and divergence")                                       \
    X(double, inner_pressure, uic->cell_capacity, "start and result of the inner solve")           \
    X(double, pressure, uic->cell_capacity, "of the outer solve")

// Arrays that only the host has.
#define TH_UIC_HOST_ARRAYS(X)                                                                    \
    X(th_uic_level, wanted, uic->level_count, "grids as the index is built now: grid and first") \
    X(float, free_area, uic->cell_capacity, "exact share of the cell that is ground")            \
    X(int32_t, active, uic->cell_capacity, "cells with people, for the solver")                  \
    X(th_floor_part, parts, uic->part_capacity, "work space, one row")                           \
    X(th_uic_ground, ground_rows, 2 * uic->part_capacity, "work space, two rows")

typedef struct th_uic {
#define X(type, name, count, doc) type *name;
    TH_UIC_ARRAYS(X)
    TH_UIC_HOST_ARRAYS(X)
#undef X
    th_arena arena; // holds this struct and all that it points to
    int level_count, group_count;
    int cell_capacity, agent_capacity, covered_capacity, part_capacity, link_face_capacity;
    int link_face_count, gate_count;
    float h;            // side of a cell as asked for
    float body;         // [m] no agent's centre comes nearer to a wall
    int index_per_half; // cells of the index along half a cell
    bool steps_aside;   // keep_side or lanes in a group
    bool any_pressure, has_foreign;
    float tolerance, speed_limit, pair_substep;
    float ease;  // share of a change of velocity that an agent that gives way takes in a step
    float react; // and any agent
    float excess_share; // of what is packed beyond the limit, taken away in a step
    int tidy_passes;
    float one_person;  // area that the largest takes up [m2]
    float pair_reach;  // furthest that the pair step looks, so far [m]
    th_lcp_work *work; // NULL on a world that lives on a device
    th_uic_statistics statistics;
} th_uic;

// The model's state in a world that uses it.
TH_BOTH static inline th_uic *th_uic_of(const th_world *world) {
    return (th_uic *)world->model_state[TH_MOVE_UIC];
}
static inline const th_uic_params *th_uic_params_of(const float *params) {
    return (const th_uic_params *)(const void *)params;
}

// ---- grids.c
// Fills the counts of `uic`.
void th_uic_choose_sizes(th_uic *uic, const th_scene *scene, int agents, bool on_device);
int th_uic_index_cells(const th_world *world, int model);

#ifdef __cplusplus
extern "C" {
#endif
// Boxes for the index, wide enough for `boxes`, and its cell size. Cells grow when they would not fit.
float th_uic_build_grids(th_world *world, th_box *boxes);
// Reads the groups' parameters, adopts the grids that were built last and measures what changed on them.
void th_uic_prepare(th_world *world); // uic.c
#ifdef __cplusplus
}
#endif

// Writes the scene's gates unless `gates` is NULL; returns how many.
int th_uic_list_gates(const th_scene *scene, th_uic_gate *gates);
// Adopts the grids the index was built for; measures floors and apertures where they changed.
void th_uic_measure(th_world *world);
void th_uic_cover_bodies(th_world *world);

// ---- splat.c
void th_uic_splat(th_world *world);
// Writes next_velocity and next_position of the model's people.
void th_uic_follow(th_world *world);

// ---- project.c
void th_uic_project(th_world *world);

// ---- pairs.c
void th_uic_separate(th_world *world);

// ---- uic.c
th_uic_view th_uic_view_of(const th_world *world, int level);
th_uic_statistics th_uic_statistics_of(const th_world *world);

// Moved by this model?
TH_BOTH static inline bool th_uic_own(const th_world *world, uint32_t i) {
    return th_moves(world->agents.phase[i]) && th_uic_of(world)->groups[world->agents.group[i]].own;
}

// Where an agent counts: a quarter of a cell and the place in it, (0, 0) .. (1, 1) from its south-west.
typedef struct th_uic_place {
    int i, j;           // cell
    int half_x, half_y; // 0 west, south; 1 east, north
    float x, y;
} th_uic_place;

TH_BOTH static inline th_uic_place th_uic_place_of(const th_staggered *grid, th_vec2 p, int i,
                                                   int j, int shift) {
    i += shift % 3 - 1;
    j += shift / 3 - 1;
    float x = th_clamp((p.x - grid->origin.x) * grid->inverse_h - (float)i, 0.0f, 1.0f) * 2.0f;
    float y = th_clamp((p.y - grid->origin.y) * grid->inverse_h - (float)j, 0.0f, 1.0f) * 2.0f;
    th_uic_place place = {i, j, x >= 1.0f, y >= 1.0f, x, y};
    place.x -= (float)place.half_x;
    place.y -= (float)place.half_y;
    return place;
}
#endif
