// DenseSense, Best, Narang, Curtis, Manocha 2014, "Density-dependent filters" (BNCM14): how fast there is
// room to walk, from the density one metre ahead. Equations implemented, misprints put right, additions and
// parts left out: docs/models/densesense.md. SPDX-License-Identifier: Apache-2.0
#ifndef TH_FORMULA_DENSESENSE_H
#define TH_FORMULA_DENSESENSE_H
#include "formula/math.h"
#include "formula/params.h"
#include "formula/random.h"
#include "formula/vec.h"
#include "state/nearest.h"
#include <math.h>
#include <string.h>

#define TH_BNCM14 "Best, Narang, Curtis, Manocha 2014"
#define TH_MENGE_CODE "Menge, FundamentalDiagram plug-in"

// The defaults are the preset `consistent`.
#define TH_DENSESENSE_PARAMS(X)                                                                  \
    X(stride_factor, 1.57, 0.2, 10, "m^0.5/s^0.5", TH_MENGE_CODE,                                \
      "alpha: a stride at speed v is (H/alpha) sqrt(v) long")                                    \
    X(stride_factor_spread, 0, 0, 0.9, "-", "throng",                                            \
      "people's factors lie evenly within this share above and below")                           \
    X(stride_buffer, 1.6, 0, 10, "-", "throng: fitted to Weidmann in motion; Menge: 0.5 to 0.9", \
      "beta: room wanted beyond a stride, in strides")                                           \
    X(stride_buffer_spread, 0, 0, 0.9, "-", "throng",                                            \
      "people's buffers lie evenly within this share above and below")                           \
    X(height, 1.72, 0.5, 2.5, "m", TH_BNCM14, "H is height / 1.72 m")                            \
    X(height_spread, 0, 0, 0.5, "-", "throng",                                                   \
      "people's heights lie evenly within this share above and below")                           \
    X(steps_per_stride, 1, 1, 2, "-", TH_BNCM14 ": 1; Menge's code: 2",                          \
      "1: the room ahead must hold a stride; 2: a step, which is half of one")                   \
    X(look_ahead, 1, 0, 3, "m", TH_BNCM14, "where ahead the density is felt")                    \
    X(lateral_stretch, 2.5, 1, 10, "-", TH_BNCM14, "how much less people to the side count")     \
    X(sigma_agent, 1.5, 0.2, 3, "m", TH_MENGE_CODE, "of the Gaussian along the way")             \
    X(sigma_obstacle, 0.75, 0.1, 3, "m", TH_MENGE_CODE, "of the Gaussian for walls")             \
    X(width, 0.48, 0.1, 2, "m", TH_MENGE_CODE, "w, of a person, from density to room ahead")     \
    X(areal_density, 1, 0, 1, "-", "Seyfried et al. 2005; 0: Menge's code",                      \
      "1: people per m2, room 1/(w rho); 0: the code's 1/m, room w/rho")                         \
    X(density_neighbours, 0, 0, 16, "-", "throng; Menge: 10",                                    \
      "the nearest this many count, 0: all in range")                                            \
    X(density_range, 5, 0.5, 10, "m", TH_MENGE_CODE, "people farther away do not count")         \
    X(density_sight, 1, 0, 1, "-", "throng", "1: people behind a wall do not count")             \
    X(obstacle_mode, 1, 0, 2, "-", "1: " TH_BNCM14 ", 2: Menge's code",                          \
      "0: walls ignored; 1: free_space, density by reachable room; 2: additive, as people")      \
    X(arc_width, 60, 0, 90, "degrees", "throng: not published",                                  \
      "how far to each side other directions are tried")                                         \
    X(arc_samples, 13, 1, 31, "-", "throng: not published; Menge: 1",                            \
      "directions tried, the planned one in the middle (even: one less); 1: none but that")      \
    X(arc_time, 1, 0.1, 10, "s", "throng: not published",                                        \
      "tau: the direction that leads nearest to the goal within this time is taken")             \
    X(arc_goal, 0, 0, 1, "-", "1: " TH_BNCM14 "; 0: throng, people turn less",                   \
      "1: the goal of eq. 9 is where people go; 0: where the plan wants them after tau")         \
    X(arc_interval, 1, 0, 10, "s", "throng: tau; 0: every step, " TH_BNCM14,                     \
      "how often people look for a better direction")                                            \
    X(arc_hysteresis, 0.02, 0, 1, "-", "throng; " TH_BNCM14 ": 0",                               \
      "the last direction stays until another makes up this share of what it falls short")       \
    X(oncoming, 1, 0, 1, "-", TH_BNCM14 ": 1",                                                   \
      "weight of people that walk towards the agent, to be passed and not followed")

// X(name, doc, {parameter, value}...)
#define TH_DENSESENSE_PRESETS(X)                                                                   \
    X(menge, "as the authors' code: ten nearest, straight ahead only, walls added like people",    \
      {"stride_buffer", 0.9}, {"steps_per_stride", 2}, {"sigma_obstacle", 1.5},                    \
      {"areal_density", 0}, {"density_neighbours", 10}, {"density_sight", 0},                      \
      {"obstacle_mode", 2}, {"arc_samples", 1})                                                    \
    X(best2014, "as printed, units put right: the arc every step, all count as ahead",             \
      {"stride_buffer", 0.9}, {"steps_per_stride", 1}, {"sigma_obstacle", 0.75},                   \
      {"areal_density", 1}, {"density_neighbours", 0}, {"density_sight", 1}, {"obstacle_mode", 1}, \
      {"arc_samples", 13}, {"arc_goal", 1}, {"arc_interval", 0}, {"arc_hysteresis", 0})            \
    X(passing, "consistent, and people who come count a quarter: for streams that meet",           \
      {"stride_buffer", 1.6}, {"steps_per_stride", 1}, {"sigma_obstacle", 0.75},                   \
      {"areal_density", 1}, {"density_neighbours", 0}, {"density_sight", 1}, {"obstacle_mode", 1}, \
      {"arc_samples", 13}, {"arc_goal", 1}, {"oncoming", 0.25})                                    \
    X(consistent, "right units, all count, free space, arc of directions: the defaults",           \
      {"stride_buffer", 1.6}, {"steps_per_stride", 1}, {"sigma_obstacle", 0.75},                   \
      {"areal_density", 1}, {"density_neighbours", 0}, {"density_sight", 1}, {"obstacle_mode", 1}, \
      {"arc_samples", 13})                                                                         \
    X(laboratory,                                                                                  \
      "right units, the authors' buffer, straight ahead, walls left to the move model",            \
      {"stride_buffer", 0.9}, {"steps_per_stride", 1}, {"sigma_obstacle", 0.75},                   \
      {"areal_density", 1}, {"density_neighbours", 0}, {"density_sight", 1}, {"obstacle_mode", 0}, \
      {"arc_samples", 1})

typedef struct th_densesense_params {
    TH_DENSESENSE_PARAMS(TH_PARAM_MEMBER)
} th_densesense_params;

#define TH_DENSESENSE_ROOM_MAX 100.0f     // [m] Menge: below 0.001 no agent is in the way
#define TH_DENSESENSE_LEAST_FREE 0.1f     // of the room around a point; keeps eq. 8 finite
#define TH_DENSESENSE_MEAN_HEIGHT 1.72f   // [m] eq. 1
#define TH_DENSESENSE_FREE_RADIUS 1.0f    // [m] of the region of eq. 7
enum { TH_DENSESENSE_ARC_MAX = 15 };      // directions to each side, of 31 arc_samples
enum { TH_DENSESENSE_FREE_SAMPLES = 32 }; // points of the region that are tried
// Where the Gaussian of every agent ends, in sigmas: th_densesense_weight_within_cut is made for it. The prefactor
// restores the 14 % cut off: a sum to 2.5 sigmas costs half as much again.
#define TH_DENSESENSE_CUT 2.0f

// A value between mean (1 - spread) and mean (1 + spread), constant for each person.
TH_FORMULA float th_densesense_own(float mean, float spread, uint32_t bits) {
    return mean + mean * spread * (2.0f * th_uniform(bits) - 1.0f);
}

// Converts room into speed: V(S) = (pace S)^2, from eq. 2.
TH_FORMULA float th_densesense_pace(const th_densesense_params *p, uint64_t seed, uint32_t id) {
    float alpha = p->stride_factor, beta = p->stride_buffer, height = p->height;
    if (p->stride_factor_spread > 0.0f || p->stride_buffer_spread > 0.0f ||
        p->height_spread > 0.0f) {
        th_random4 r = th_philox(seed, TH_STREAM_STRIDE, id, 0);
        alpha = th_densesense_own(alpha, p->stride_factor_spread, r.v[0]);
        beta = th_densesense_own(beta, p->stride_buffer_spread, r.v[1]);
        height = th_densesense_own(height, p->height_spread, r.v[2]);
    }
    return p->steps_per_stride * alpha * TH_DENSESENSE_MEAN_HEIGHT / (height * (1.0f + beta));
}

// Eq. 10 put right: the room ahead at density rho [m].
TH_FORMULA float th_densesense_room(const th_densesense_params *p, float rho) {
    float room = p->areal_density >= 0.5f ? 1.0f / (p->width * rho) : p->width / rho;
    return rho > 0.0f ? th_min(room, TH_DENSESENSE_ROOM_MAX) : TH_DENSESENSE_ROOM_MAX;
}

// Eq. 2 put right: min, not max.
TH_FORMULA float th_densesense_speed(float pace, float room, float preferred_speed) {
    float root = pace * room;
    return th_min(preferred_speed, root * root);
}

// Eqs. 3, 5 and 6 for one direction: |d'|^2 is a quadratic form of d, and with it the Gaussian is
// e^-(xx dx^2 + xy dx dy + yy dy^2).
typedef struct th_densesense_kernel {
    float xx, xy, yy;
    float limit; // of that exponent; beyond, a weight is 0
} th_densesense_kernel;

// `reach` [m]: where |d'| ends.
TH_FORMULA th_densesense_kernel th_densesense_kernel_of(const th_densesense_params *p, th_vec2 e,
                                                        float reach) {
    float scale = 1.0f / (2.0f * p->sigma_agent * p->sigma_agent);
    float stretch2 = p->lateral_stretch * p->lateral_stretch;
    th_densesense_kernel k;
    k.xx = scale * (e.x * e.x + stretch2 * e.y * e.y);
    k.yy = scale * (e.y * e.y + stretch2 * e.x * e.x);
    k.xy = scale * 2.0f * (1.0f - stretch2) * e.x * e.y;
    k.limit = scale * reach * reach;
    return k;
}

TH_FORMULA float th_densesense_exponent(const th_densesense_kernel *k, float dx, float dy) {
    return (k->xx * dx + k->xy * dy) * dx + k->yy * (dy * dy);
}

// An agent at d from the point ahead; times the prefactor it is its share of the density.
TH_FORMULA float th_densesense_weight(const th_densesense_kernel *k, float dx, float dy) {
    float t = th_densesense_exponent(k, dx, dy);
    return t <= k->limit ? th_exp(-t) : 0.0f;
}

// The same within the cut, where this is spent on every agent: a polynomial through the Chebyshev points of
// 0 <= t <= 2, wrong by 0.0025 at most and by 3e-4 of the sum in the mean. A third of the time of th_exp.
TH_FORMULA float th_densesense_weight_within_cut(const th_densesense_kernel *k, float dx,
                                                 float dy) {
    float t = th_densesense_exponent(k, dx, dy);
    float p = -0.0644435364f;
    p = p * t + 0.393052624f;
    p = p * t - 0.960261636f;
    p = p * t + 0.997551076f;
    return t <= k->limit ? p : 0.0f;
}

// Before the sum of eq. 3. Areal: the Gaussian, cut at `reach`, integrates to one.
TH_FORMULA float th_densesense_prefactor(const th_densesense_params *p, float reach) {
    float sigma = p->sigma_agent, tail = th_exp(-reach * reach / (2.0f * sigma * sigma));
    if (p->areal_density >= 0.5f)
        return p->lateral_stretch / (6.28318531f * sigma * sigma * (1.0f - tail));
    return 1.0f / (2.50662827f * sigma);
}

// Reach of |d'| where every agent counts [m]: to the cut of the Gaussian, within density_range of the person.
TH_FORMULA float th_densesense_reach(const th_densesense_params *p) {
    return th_max(th_min(TH_DENSESENSE_CUT * p->sigma_agent, p->density_range - p->look_ahead),
                  0.1f);
}

// Obstacles, additive: what a wall whose nearest point to q is d away adds to the density. It reaches as
// far as sigma_obstacle says and counts like an agent at that distance, whatever that sigma: the code has
// the prefactor of people.
TH_FORMULA float th_densesense_wall(const th_densesense_params *p, float distance2) {
    float sigma = p->sigma_obstacle;
    return th_exp(-distance2 / (2.0f * sigma * sigma)) / (2.50662827f * p->sigma_agent);
}

// Obstacles, free space (eq. 7): sample k of the disc around q, for direction e. Four rings of equal area
// with eight points each, mirrored at e so that neither side is preferred.
TH_FORMULA th_vec2 th_densesense_sample(int k, th_vec2 e) {
    float radius = TH_DENSESENSE_FREE_RADIUS * sqrtf(((float)(k >> 3) + 0.5f) * 0.25f);
    float along = k & 1 ? 0.923879533f : 0.382683432f, across = k & 1 ? 0.382683432f : 0.923879533f;
    along = k & 2 ? -along : along;
    across = k & 4 ? -across : across;
    return th_v(radius * (along * e.x - across * e.y), radius * (along * e.y + across * e.x));
}

// Its weight w(x), not normalised.
TH_FORMULA float th_densesense_sample_weight(const th_densesense_params *p, int k) {
    float radius2 =
        TH_DENSESENSE_FREE_RADIUS * TH_DENSESENSE_FREE_RADIUS * ((float)(k >> 3) + 0.5f) * 0.25f;
    return th_exp(-radius2 / (2.0f * p->sigma_obstacle * p->sigma_obstacle));
}

// Does a wall from a to b stand before n? All relative to an agent on its walkable side (right of a -> b);
// depth = det(b, a). Ends count, so that two walls that meet leave no crack.
TH_FORMULA bool th_densesense_hides(float ax, float ay, float bx, float by, float depth, float nx,
                                    float ny) {
    float from_a = ax * ny - ay * nx, from_b = bx * ny - by * nx;
    return (from_a <= 0.0f) & (from_b >= 0.0f) & (from_b - from_a > depth);
}

// Sine and cosine of an angle in -pi/2 .. pi/2, absolute error below 4e-6.
TH_FORMULA th_vec2 th_densesense_turn(float angle) {
    float a2 = angle * angle;
    float c =
        1.0f +
        a2 * (-0.5f + a2 * (0.0416666667f +
                            a2 * (-0.00138888889f + a2 * (2.48015873e-5f - a2 * 2.75573192e-7f))));
    float s = angle *
              (1.0f + a2 * (-0.166666667f +
                            a2 * (0.00833333333f + a2 * (-1.98412698e-4f + a2 * 2.75573192e-6f))));
    return th_v(c, s);
}

// Eq. 9 put right, as a gain: how much nearer to the goal, `distance` ahead in the planned direction, does an agent
// come in tau that walks with `speed` at an angle of that cosine to it? The smallest distance left is the largest gain.
TH_FORMULA float th_densesense_gain(float distance, float tau, float speed, float cosine) {
    float way = tau * speed, left2 = distance * distance + way * (way - 2.0f * distance * cosine);
    // distance - sqrt(left2), which loses no digits when the goal is far.
    return way * (2.0f * distance * cosine - way) / (distance + sqrtf(th_max(left2, 0.0f)));
}

// The largest gain at this angle for any speed up to `speed`.
TH_FORMULA float th_densesense_most_gain(float distance, float tau, float speed, float cosine) {
    return th_densesense_gain(distance, tau, th_min(speed, distance * cosine / tau), cosine);
}

enum { TH_DENSESENSE_SCREENS = 64 }; // walls looked at; only a maze has more around an agent

// Walls that show a person their walkable side, ends relative to the person.
typedef struct th_densesense_screens {
    int count;
    float ax[TH_DENSESENSE_SCREENS], ay[TH_DENSESENSE_SCREENS], bx[TH_DENSESENSE_SCREENS],
        by[TH_DENSESENSE_SCREENS], depth[TH_DENSESENSE_SCREENS];
} th_densesense_screens;

// Agents that may count. The list is full at about 40 people per m2 with the default parameters, where walking has
// stopped; further agents are then left out. A GPU's thread has less room of its own: there it is full at about 10
// people per m2.
#ifdef TH_DEVICE_CODE
enum { TH_DENSESENSE_AROUND = 512 };
#else
enum { TH_DENSESENSE_AROUND = 2048 };
#endif
typedef struct th_densesense_around {
    int count; // a multiple of TH_LANES; what is no person is far away; all relative to the walker
    _Alignas(TH_ALIGN) float x[TH_DENSESENSE_AROUND + (int)TH_LANES],
        y[TH_DENSESENSE_AROUND + (int)TH_LANES];
    // How much an agent counts; only where it is not 1 for all.
    _Alignas(TH_ALIGN) float share[TH_DENSESENSE_AROUND + (int)TH_LANES];
} th_densesense_around;
static const float TH_DENSESENSE_ELSEWHERE = 1e9f; // [m]
// Cosine between where an agent plans to go and straight towards one: within 60 degrees, as wide as the arc, it is
// oncoming.
static const float TH_DENSESENSE_ONCOMING = 0.5f;

// A group's common values, and one person of it.
typedef struct th_densesense_walker {
    const th_world *world;
    const th_densesense_params *params;
    float reach, prefactor;
    bool all; // no limit on the number of neighbours
    bool sight, free_space, additive;
    bool shares; // oncoming people count less
    uint32_t self;
    int level;
    th_vec2 p, heading; // heading: unit, of the planned velocity
    float speed, pace;
    th_densesense_screens walls;
} th_densesense_walker;

TH_BOTH static inline void th_densesense_add_screen(const th_wall *wall,
                                                    th_densesense_walker *who) {
    th_vec2 a = th_sub(wall->a, who->p), b = th_sub(wall->b, who->p);
    float depth = th_det(b, a);
    if (depth <= 0.0f || who->walls.count == TH_DENSESENSE_SCREENS) return; // its back
    int at = who->walls.count++;
    who->walls.ax[at] = a.x;
    who->walls.ay[at] = a.y;
    who->walls.bx[at] = b.x;
    who->walls.by[at] = b.y;
    who->walls.depth[at] = depth;
}

// Farther than the wall grid answers from one cell: tiles around the person, each small enough to be
// answered for from the cell in its middle. A wall belongs to the tile of its nearest point, so it comes once.
TH_BOTH static inline void th_densesense_list_far_screens(const th_walls *walls,
                                                          th_densesense_walker *who, float range) {
    const th_wall_grid *grid = &walls->grids[who->level];
    const float tile = 1.2f * grid->reach, half_diagonal = 0.7072f * tile;
    bool ahead_only =
        who->params->arc_samples < 3.0f; // what lies behind does not count in any direction
    int most = (int)ceilf(range / tile);
    for (int row = -most; row <= most; ++row)
        for (int column = -most; column <= most; ++column) {
            th_vec2 to = {(float)column * tile, (float)row * tile};
            if (th_length(to) > range + half_diagonal ||
                (ahead_only && th_dot(to, who->heading) < -half_diagonal))
                continue;
            const int *list = NULL;
            int count = th_wall_cell(grid, th_add(who->p, to), &list);
            for (int k = 0; k < count; ++k) {
                const th_wall *wall = &walls->walls[list[k]];
                if (th_det(wall->direction, th_sub(who->p, wall->a)) >= 0.0f) continue; // its back
                th_vec2 n = th_sub(th_nearest_on_segment(who->p, wall->a, wall->b), who->p);
                if (floorf(n.x / tile + 0.5f) == (float)column &&
                    floorf(n.y / tile + 0.5f) == (float)row && th_length2(n) <= range * range &&
                    th_wall_stands(walls, wall))
                    th_densesense_add_screen(wall, who);
            }
        }
    for (int w = walls->scene_count; w < walls->count; ++w) {
        const th_wall *wall = &walls->walls[w];
        th_vec2 n = th_sub(th_nearest_on_segment(who->p, wall->a, wall->b), who->p);
        if (wall->level == who->level && th_wall_stands(walls, wall) &&
            th_length2(n) <= range * range)
            th_densesense_add_screen(wall, who);
    }
}

TH_BOTH static inline void th_densesense_list_screens(const th_walls *walls,
                                                      th_densesense_walker *who) {
    int level = who->level;
    float range = who->additive ? who->params->density_range
                                : who->params->look_ahead + TH_DENSESENSE_FREE_RADIUS;
    if (range > walls->grids[level].reach) {
        th_densesense_list_far_screens(walls, who, range);
        return;
    }
    if (!th_walls_maybe_near(walls, level, who->p)) return;
    int near[2 * TH_DENSESENSE_SCREENS];
    float distances2[2 * TH_DENSESENSE_SCREENS];
    int count =
        th_walls_near(walls, level, who->p, range, near, distances2, 2 * TH_DENSESENSE_SCREENS);
    for (int k = 0; k < count; ++k) th_densesense_add_screen(&walls->walls[near[k]], who);
}

// Marks the lanes whose point, relative to the person, lies behind a wall.
TH_FORMULA void th_densesense_hide(const th_densesense_screens *walls, const float *x,
                                   const float *y, int *hidden) {
    for (int w = 0; w < walls->count; ++w) {
        float ax = walls->ax[w], ay = walls->ay[w], bx = walls->bx[w], by = walls->by[w],
              depth = walls->depth[w];
#pragma omp simd
        for (int l = 0; l < TH_LANES; ++l)
            hidden[l] |= th_densesense_hides(ax, ay, bx, by, depth, x[l], y[l]);
    }
}

// Fills up the last lanes.
TH_FORMULA void th_densesense_fill_up(th_densesense_around *list) {
    for (int l = 0; l < TH_LANES; ++l)
        list->x[list->count + l] = list->y[list->count + l] = TH_DENSESENSE_ELSEWHERE,
                              list->share[list->count + l] = 0.0f;
    list->count = (list->count + TH_LANES - 1) / TH_LANES * TH_LANES;
}

// Moves those behind walls far away.
TH_FORMULA void th_densesense_drop_hidden(const th_densesense_walker *who,
                                          th_densesense_around *list) {
    if (!who->sight || who->walls.count == 0) return;
    for (int first = 0; first < list->count; first += TH_LANES) {
        int hidden[TH_LANES] = {0};
        float *x = list->x + first;
        th_densesense_hide(&who->walls, x, list->y + first, hidden);
        for (int l = 0; l < TH_LANES; ++l) x[l] = hidden[l] ? TH_DENSESENSE_ELSEWHERE : x[l];
    }
}

// Every agent but the person within the box; whole registers are copied, and the next run writes over what was
// too much.
TH_FORMULA void th_densesense_list_box(const th_densesense_walker *who, const th_box *box,
                                       th_densesense_around *list) {
    const th_world *world = who->world;
    const th_agents *agents = &world->agents;
    const th_level_grid *grid = &world->index.grids[who->level];
    const th_vec2 p = who->p;
    const th_vec2 e = who->heading;
    const float oncoming = who->params->oncoming;
    const bool some_lie = world->counters.fallen > 0;
    int column0 = th_grid_column(grid, box->min_x), column1 = th_grid_column(grid, box->max_x);
    int last = th_grid_row(grid, box->max_y), count = 0;
    for (int row = th_grid_row(grid, box->min_y); row <= last; ++row) {
        uint32_t begin, end;
        th_index_run(&world->index, grid, row, column0, column1, &begin, &end);
        int run = (int)(end - begin) < TH_DENSESENSE_AROUND - count ? (int)(end - begin)
                                                                    : TH_DENSESENSE_AROUND - count;
        const float *xs = agents->position_x + begin, *ys = agents->position_y + begin;
        const float *hx = agents->heading_x + begin, *hy = agents->heading_y + begin;
        for (int first = 0; first < run; first += TH_LANES) {
#pragma omp simd
            for (int k = first; k < first + TH_LANES; ++k) {
                list->x[count + k] = xs[k] - p.x;
                list->y[count + k] = ys[k] - p.y;
            }
            if (!who->shares) continue;
#pragma omp simd
            for (int k = first; k < first + TH_LANES; ++k) {
                bool comes = -(hx[k] * e.x + hy[k] * e.y) > TH_DENSESENSE_ONCOMING;
                list->share[count + k] = comes ? oncoming : 1.0f;
            }
        }
        uint32_t own = who->self - begin;
        if (own < (uint32_t)run) list->x[count + (int)own] = TH_DENSESENSE_ELSEWHERE;
        for (int k = 0; some_lie && k < run; ++k)
            if (!th_in_the_way(agents->phase[begin + (uint32_t)k]))
                list->x[count + k] = TH_DENSESENSE_ELSEWHERE;
        count += run;
    }
    list->count = count;
    if (world->scene->link_count > 0) {
        enum { MOST = 16 };
        uint32_t found[MOST];
        int more = th_linked_neighbours(world, who->self, who->params->density_range, found, MOST);
        more = th_drop_fallen(world, found, more);
        for (int k = 0; k < more && list->count < TH_DENSESENSE_AROUND; ++k, ++list->count) {
            list->share[list->count] = 1.0f;
            list->x[list->count] = agents->position_x[found[k]] - p.x;
            list->y[list->count] = agents->position_y[found[k]] - p.y;
        }
    }
    th_densesense_fill_up(list);
}

// The nearest, when only so many count; `nearest` are those on the same level.
TH_FORMULA void th_densesense_list_nearest(const th_densesense_walker *who, th_nearest *nearest,
                                           th_densesense_around *list) {
    const th_world *world = who->world;
    if (world->scene->link_count > 0)
        th_nearest_add_linked(world, who->self, (int)who->params->density_neighbours,
                              who->params->density_range, nearest);
    for (int k = 0; k < nearest->count; ++k) {
        list->x[k] = world->agents.position_x[nearest->agent[k]] - who->p.x;
        list->y[k] = world->agents.position_y[nearest->agent[k]] - who->p.y;
    }
    list->count = nearest->count;
    th_densesense_fill_up(list);
}

// Eq. 3 without the prefactor. `cut`: the kernel ends where the Gaussian is cut.
TH_FORMULA float th_densesense_sum_weights(const th_densesense_kernel *kernel, th_vec2 q,
                                           const th_densesense_around *list, bool cut,
                                           bool shares) {
    const th_densesense_kernel k = *kernel;
    th_lanes sums = {{0}};
    for (int first = 0; first < list->count; first += TH_LANES) {
        const float *x = list->x + first, *y = list->y + first, *share = list->share + first;
#pragma omp simd
        for (int l = 0; l < TH_LANES; ++l) {
            float dx = x[l] - q.x, dy = y[l] - q.y;
            float w = cut ? th_densesense_weight_within_cut(&k, dx, dy)
                          : th_densesense_weight(&k, dx, dy);
            sums.lane[l] += shares ? share[l] * w : w;
        }
    }
    return th_lanes_sum(&sums);
}

// FS of eq. 7: how much of the disc around q the person could walk to. From here on q is relative to the person.
TH_FORMULA float th_densesense_free_space(const th_densesense_walker *who, th_vec2 q, th_vec2 e) {
    float free = 0.0f, all = 0.0f;
    for (int first = 0; first < TH_DENSESENSE_FREE_SAMPLES; first += TH_LANES) {
        float x[TH_LANES], y[TH_LANES];
        int hidden[TH_LANES] = {0};
        for (int l = 0; l < TH_LANES; ++l) {
            th_vec2 point = th_add(q, th_densesense_sample(first + l, e));
            x[l] = point.x;
            y[l] = point.y;
        }
        th_densesense_hide(&who->walls, x, y, hidden);
        for (int l = 0; l < TH_LANES; ++l) {
            float w = th_densesense_sample_weight(who->params, first + l);
            all += w;
            free += hidden[l] ? 0.0f : w;
        }
    }
    return th_max(free / all, TH_DENSESENSE_LEAST_FREE);
}

// Menge's way: every wall whose nearest point to q does not lie behind the person adds to the density.
TH_FORMULA float th_densesense_added_by_walls(const th_densesense_walker *who, th_vec2 q,
                                              th_vec2 e) {
    float sum = 0.0f;
    for (int w = 0; w < who->walls.count; ++w) {
        th_vec2 a = {who->walls.ax[w], who->walls.ay[w]}, b = {who->walls.bx[w], who->walls.by[w]};
        th_vec2 nearest = th_nearest_on_segment(q, a, b);
        if (th_dot(nearest, e) >= 0.0f)
            sum += th_densesense_wall(who->params, th_length2(th_sub(nearest, q)));
    }
    return sum;
}

// The density ahead in direction e (unit) [1/m2]. An agent that chooses a direction sees every agent as in the way: so
// people go where others walk ahead of them, and lanes form; an agent that walks passes agents that come (`passes`).
TH_FORMULA float th_densesense_density_towards(const th_densesense_walker *who,
                                               const th_densesense_around *list, th_vec2 e,
                                               bool passes) {
    const th_densesense_params *params = who->params;
    th_vec2 q = th_scale(params->look_ahead, e);
    th_densesense_kernel kernel = th_densesense_kernel_of(params, e, who->reach);
    bool shares = who->shares && passes;
    float sum = shares     ? th_densesense_sum_weights(&kernel, q, list, true, true)
                : who->all ? th_densesense_sum_weights(&kernel, q, list, true, false)
                           : th_densesense_sum_weights(&kernel, q, list, false, false);
    float rho = who->prefactor * sum;
    if (who->walls.count > 0) {
        if (who->additive) rho += th_densesense_added_by_walls(who, q, e);
        if (who->free_space && rho > 0.0f) rho /= th_densesense_free_space(who, q, e);
    }
    return rho;
}

// The speed that it leaves.
TH_FORMULA float th_densesense_speed_towards(const th_densesense_walker *who,
                                             const th_densesense_around *list, th_vec2 e,
                                             bool passes) {
    float rho = th_densesense_density_towards(who, list, e, passes);
    return th_densesense_speed(who->pace, th_densesense_room(who->params, rho), who->speed);
}

TH_FORMULA th_vec2 th_densesense_direction_of(const th_densesense_walker *who, th_vec2 turn) {
    th_vec2 h = who->heading;
    return th_v(turn.x * h.x - turn.y * h.y, turn.y * h.x + turn.x * h.y);
}

typedef struct th_densesense_choice {
    float angle, speed;
    th_vec2 turn, direction; // cosine and sine of the angle
} th_densesense_choice;

// Widens the box to all that counts in direction e.
TH_FORMULA void th_densesense_cover(const th_densesense_walker *who, th_vec2 e, th_box *box) {
    float flat = 1.0f / (who->params->lateral_stretch * who->params->lateral_stretch);
    float wide = who->reach * sqrtf(e.x * e.x + flat * e.y * e.y),
          tall = who->reach * sqrtf(e.y * e.y + flat * e.x * e.x);
    th_vec2 q = th_add(who->p, th_scale(who->params->look_ahead, e));
    box->min_x = th_min(box->min_x, q.x - wide);
    box->max_x = th_max(box->max_x, q.x + wide);
    box->min_y = th_min(box->min_y, q.y - tall);
    box->max_y = th_max(box->max_y, q.y + tall);
}
TH_FORMULA th_box th_densesense_empty_box(void) {
    th_box box = {1e30f, 1e30f, -1e30f, -1e30f};
    return box;
}

// The angle between two directions of the arc, and how many lie on each side.
TH_FORMULA int th_densesense_arc_half(const th_densesense_params *params, float *spacing) {
    int half = ((int)params->arc_samples - 1) / 2;
    *spacing = half > 0 ? params->arc_width * 0.0174532925f / (float)half : 0.0f;
    return half;
}

// Direction n of the arc, from the middle outwards, right before left.
TH_FORMULA float th_densesense_arc_angle(float spacing, int n) {
    return spacing * (float)(n & 1 ? -(n + 1) / 2 : n / 2);
}

// Straight distance to the goal of eq. 9 [m]: the own goal, else the nearest of the leg's on this level. It
// lies in the planned direction; around a corner that is the plan's, and far enough off that the distance hardly
// matters.
TH_FORMULA float th_densesense_goal_distance(const th_densesense_walker *who) {
    const float far = 1e3f, near = 0.1f;
    const th_scene *scene = who->world->scene;
    const th_agents *agents = &who->world->agents;
    uint32_t i = who->self;
    if ((int)agents->group[i] >= scene->group_count) return far;
    const th_group *group = &scene->groups[agents->group[i]];
    int to = th_leg_target(group, agents->leg[i]);
    if (to < 0) {
        if (group->own_goal == TH_OWN_GOAL_NONE) return far;
        th_vec2 own = {agents->goal_x[i], agents->goal_y[i]};
        return th_max(th_length(th_sub(own, who->p)), near);
    }
    const th_target *target = &scene->targets[to];
    float nearest2 = far * far;
    for (int g = 0; g < target->goal_count; ++g) {
        const th_goal *goal = &scene->goals[target->goals[g]];
        const th_box *box = &goal->area.shape.box;
        th_vec2 q = goal->is_line ? th_nearest_on_segment(who->p, goal->line.a, goal->line.b)
                                  : th_v(th_clamp(who->p.x, box->min_x, box->max_x),
                                         th_clamp(who->p.y, box->min_y, box->max_y));
        if ((goal->is_line ? goal->line.level : goal->area.level) != who->level) continue;
        nearest2 = th_min(nearest2, th_length2(th_sub(q, who->p)));
    }
    return th_max(sqrtf(nearest2), near);
}

// The best direction of the arc, if it is better than `kept` by more than the hysteresis. Of equals the first
// is taken, the one with the smaller angle.
TH_FORMULA th_densesense_choice th_densesense_search_arc(const th_densesense_walker *who,
                                                         th_densesense_around *list,
                                                         th_densesense_choice kept, int half,
                                                         float spacing) {
    const float s = who->speed, tau = who->params->arc_time;
    const float goal = who->params->arc_goal >= 0.5f ? th_densesense_goal_distance(who) : tau * s;
    float speed =
        who->shares ? th_densesense_speed_towards(who, list, kept.direction, false) : kept.speed;
    float most = th_densesense_gain(goal, tau, speed, kept.turn.x);
    most += who->params->arc_hysteresis * (tau * s - most);
    int count = 0;
    th_densesense_choice best = kept, tried[2 * TH_DENSESENSE_ARC_MAX + 1];
    th_box box = th_densesense_empty_box();
    for (; count <= 2 * half; ++count) {
        float angle = th_densesense_arc_angle(spacing, count);
        th_vec2 turn = th_densesense_turn(angle);
        // No speed gains more than this, here or farther out.
        if (th_densesense_most_gain(goal, tau, s, turn.x) <= most) break;
        tried[count] =
            (th_densesense_choice){angle, 0.0f, turn, th_densesense_direction_of(who, turn)};
        th_densesense_cover(who, tried[count].direction, &box);
    }
    if (who->all && count > 0) {
        th_densesense_list_box(who, &box, list);
        th_densesense_drop_hidden(who, list);
    }
    for (int n = 0; n < count; ++n) {
        if (tried[n].angle == kept.angle) continue;
        if (th_densesense_most_gain(goal, tau, s, tried[n].turn.x) <= most) break;
        tried[n].speed = th_densesense_speed_towards(who, list, tried[n].direction, false);
        float gain = th_densesense_gain(goal, tau, tried[n].speed, tried[n].turn.x);
        if (gain <= most) continue;
        best = tried[n];
        most = gain;
    }
    if (who->shares && best.angle != kept.angle)
        best.speed = th_densesense_speed_towards(who, list, best.direction, true);
    return best;
}

// Is it the agent's turn to look around? Each agent looks once in arc_interval, not all in the same step.
TH_FORMULA bool th_densesense_is_due(const th_world *world, const th_densesense_params *params,
                                     uint32_t id) {
    uint32_t period = (uint32_t)th_max(params->arc_interval / world->dt + 0.5f, 1.0f);
    uint32_t mixed =
        (id * 2654435761u) >> 16; // Knuth's multiplicative hash: neighbours in id differ
    return (world->step_count + mixed) % period == 0;
}

// Changes the preferred velocity of an agent that walks. `list` holds the nearest, unless every agent counts.
TH_FORMULA void th_densesense_filter(th_world *world, const th_densesense_walker *who,
                                     th_densesense_around *list) {
    const th_densesense_params *params = who->params;
    th_agents *agents = &world->agents;
    uint32_t i = who->self;
    float *own_turn = &th_own_floats(world, TH_FILTER_DENSESENSE, 0)[i];
    float spacing;
    int half = th_densesense_arc_half(params, &spacing);
    float turned = spacing > 0.0f ? floorf(*own_turn / spacing + 0.5f) : 0.0f;
    th_densesense_choice kept = {
        spacing * th_clamp(turned, -(float)half, (float)half), 0.0f, {1.0f, 0.0f}, who->heading};
    if (kept.angle != 0.0f) {
        kept.turn = th_densesense_turn(kept.angle);
        kept.direction = th_densesense_direction_of(who, kept.turn);
    }
    if (who->all) {
        th_box box = th_densesense_empty_box();
        th_densesense_cover(who, kept.direction, &box);
        th_densesense_list_box(who, &box, list);
    }
    th_densesense_drop_hidden(who, list);
    kept.speed = th_densesense_speed_towards(who, list, kept.direction, true);
    bool unhindered = kept.speed >= who->speed;
    // An agent that walks freely in another direction than planned looks at once whether the way is clear again.
    bool looks = kept.angle != 0.0f
                     ? unhindered || th_densesense_is_due(world, params, agents->id[i])
                     : !unhindered && th_densesense_is_due(world, params, agents->id[i]);
    if (looks && spacing > 0.0f) kept = th_densesense_search_arc(who, list, kept, half, spacing);
    *own_turn = kept.angle;
    if (kept.angle == 0.0f && kept.speed >= who->speed) return; // as planned, to the bit
    agents->preferred_x[i] = kept.speed * kept.direction.x;
    agents->preferred_y[i] = kept.speed * kept.direction.y;
}

TH_BOTH static inline void th_densesense_take_group(th_densesense_walker *who,
                                                    const th_group_state *group) {
    const th_densesense_params *params =
        (const th_densesense_params *)(const void *)group->filter_params;
    who->params = params;
    who->all = params->density_neighbours < 1.0f;
    who->reach = who->all ? th_densesense_reach(params) : 1e3f;
    who->prefactor = th_densesense_prefactor(params, who->reach);
    who->sight = params->density_sight >= 0.5f;
    who->additive = params->obstacle_mode >= 1.5f;
    who->free_space = !who->additive && params->obstacle_mode >= 0.5f;
    who->shares = who->all && params->oncoming < 1.0f;
}

// Every agent's planned direction, before any agent's is changed.
TH_FORMULA void th_densesense_note_heading(th_world *world, uint32_t i) {
    th_agents *a = &world->agents;
    th_vec2 unit = th_unit(th_v(a->preferred_x[i], a->preferred_y[i]));
    a->heading_x[i] = unit.x;
    a->heading_y[i] = unit.y;
}

TH_FORMULA bool th_densesense_filters(const th_world *world, int i) {
    const th_agents *agents = &world->agents;
    return agents->phase[i] == TH_PHASE_WALKING &&
           world->groups[agents->group[i]].filter == TH_FILTER_DENSESENSE;
}

// Fills in `who`, whose group is set, for person i with the planned velocity. False: the person does not want to go anywhere.
TH_FORMULA bool th_densesense_take_walker(const th_world *world, const th_walls *walls,
                                          th_densesense_walker *who, int i, th_vec2 planned) {
    const th_agents *agents = &world->agents;
    who->world = world;
    who->speed = th_length(planned);
    if (!(who->speed > 1e-6f)) return false;
    who->self = (uint32_t)i;
    who->level = (int)agents->level[i];
    who->p = th_position(agents, (uint32_t)i);
    who->heading = th_scale(1.0f / who->speed, planned);
    who->pace = th_densesense_pace(who->params, world->seed, agents->id[i]);
    who->walls.count = 0;
    if (walls->count > 0) th_densesense_list_screens(walls, who);
    return true;
}

TH_FORMULA bool th_densesense_take_person(const th_world *world, const th_walls *walls,
                                          th_densesense_walker *who, int i) {
    const th_agents *agents = &world->agents;
    th_vec2 planned = {agents->preferred_x[i], agents->preferred_y[i]};
    return th_densesense_take_walker(world, walls, who, i, planned);
}
#endif
