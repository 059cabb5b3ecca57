// DenseSense, Best, Narang, Curtis, Manocha 2014, "Density-dependent filters" (BNCM14): how fast there is
// room to walk, from the density one metre ahead. Equations implemented, misprints put right, additions and
// parts left out: docs/models/densesense.md. SPDX-License-Identifier: Apache-2.0
#ifndef TH_FORMULA_DENSESENSE_H
#define TH_FORMULA_DENSESENSE_H
#include "formula/math.h"
#include "formula/params.h"
#include "formula/random.h"
#include "formula/vec.h"

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
      "the nearest this many count, 0: everybody in range")                                      \
    X(density_range, 5, 0.5, 10, "m", TH_MENGE_CODE, "who is farther away does not count")       \
    X(density_sight, 1, 0, 1, "-", "throng", "1: people behind a wall do not count")             \
    X(obstacle_mode, 1, 0, 2, "-", "1: " TH_BNCM14 ", 2: Menge's code",                          \
      "0: walls ignored; 1: free_space, density by reachable room; 2: additive, as people")      \
    X(arc_width, 60, 0, 90, "degrees", "throng: not published",                                  \
      "how far to each side other directions are tried")                                         \
    X(arc_samples, 13, 1, 31, "-", "throng: not published; Menge: 1",                            \
      "directions tried, the planned one in the middle (even: one less); 1: none but that")      \
    X(arc_interval, 1, 0, 10, "s", "throng: tau, for which a direction is chosen; 0: always",    \
      "how often people look for a better direction")                                            \
    X(arc_hysteresis, 0.02, 0, 1, "-", "throng",                                                 \
      "the last direction stays until another is better by this share")

// X(name, doc, {parameter, value}...)
#define TH_DENSESENSE_PRESETS(X)                                                                   \
    X(menge, "as the authors' code: ten nearest, straight ahead only, walls added like people",    \
      {"stride_buffer", 0.9}, {"steps_per_stride", 2}, {"sigma_obstacle", 1.5},                    \
      {"areal_density", 0}, {"density_neighbours", 10}, {"density_sight", 0},                      \
      {"obstacle_mode", 2}, {"arc_samples", 1})                                                    \
    X(consistent, "right units, everybody counts, free space, arc of directions: the defaults",    \
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

#define TH_DENSESENSE_MOST_ROOM 100.0f    // [m] Menge: below 0.001 nobody is in the way
#define TH_DENSESENSE_LEAST_FREE 0.1f     // of the room around a point; keeps eq. 8 finite
#define TH_DENSESENSE_MEAN_HEIGHT 1.72f   // [m] eq. 1
#define TH_DENSESENSE_FREE_RADIUS 1.0f    // [m] of the region of eq. 7
enum { TH_DENSESENSE_ARC_MOST = 15 };     // directions to each side, of 31 arc_samples
enum { TH_DENSESENSE_FREE_SAMPLES = 32 }; // points of the region that are tried
// Where the Gaussian of everybody ends, in sigmas: th_densesense_weight_within_cut is made for it. What is
// cut off (14 %) is put back by the prefactor: a sum to 2.5 sigmas costs half as much again.
#define TH_DENSESENSE_CUT 2.0f

// A value between mean (1 - spread) and mean (1 + spread), the same for a person all his life.
TH_FORMULA float th_densesense_own(float mean, float spread, uint32_t bits) {
    return mean + mean * spread * (2.0f * th_uniform(bits) - 1.0f);
}

// What turns room into speed: V(S) = (pace S)^2, from eq. 2.
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
    return rho > 0.0f ? th_min(room, TH_DENSESENSE_MOST_ROOM) : TH_DENSESENSE_MOST_ROOM;
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

// Somebody at d from the point ahead; times the prefactor it is his share of the density.
TH_FORMULA float th_densesense_weight(const th_densesense_kernel *k, float dx, float dy) {
    float t = th_densesense_exponent(k, dx, dy);
    return t <= k->limit ? th_exp(-t) : 0.0f;
}

// The same within the cut, where this is spent on everybody: a polynomial through the Chebyshev points of
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

// How far |d'| counts when everybody does [m]: to where the Gaussian is cut, within density_range of the person.
TH_FORMULA float th_densesense_reach(const th_densesense_params *p) {
    return th_max(th_min(TH_DENSESENSE_CUT * p->sigma_agent, p->density_range - p->look_ahead),
                  0.1f);
}

// Obstacles, additive: what a wall whose nearest point to q is d away adds to the density. It reaches as
// far as sigma_obstacle says and counts like somebody at that distance, whatever that sigma: the code has
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

// Does a wall from a to b stand before n? All relative to somebody on its walkable side (right of a -> b);
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

// Eq. 9 put right, squared and per tau^2: how far from where the plan wants him in tau, g = p + tau v0, is
// somebody who walks with `speed` at an angle of that cosine to v0?
TH_FORMULA float th_densesense_cost2(float preferred_speed, float speed, float cosine) {
    return preferred_speed * preferred_speed + speed * (speed - 2.0f * preferred_speed * cosine);
}
#endif
