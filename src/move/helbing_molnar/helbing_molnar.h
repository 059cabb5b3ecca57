// Social force of Helbing, Molnar 1995, "Social force model for pedestrian dynamics", Physical Review
// E 51 (HM95). Unit mass: forces are accelerations. Equations implemented, additions and parts left
// out: docs/models/social-force.md. SPDX-License-Identifier: Apache-2.0
#ifndef TH_FORMULA_HELBING_MOLNAR_H
#define TH_FORMULA_HELBING_MOLNAR_H
#include "formula/math.h"
#include "formula/params.h"
#include "formula/vec.h"

#define TH_HM95 "Helbing, Molnar 1995"

#define TH_HELBING_MOLNAR_PARAMS(X)                                                         \
    TH_CONTACT_PARAMS(X)                                                                    \
    X(substep, 0.05, 0.001, 0.5, "s", "throng: a tenth of the relaxation time",             \
      "longest time step of the forces; the crowd takes the smallest of its groups")        \
    X(line_of_sight, 1, 0, 1, "-", "throng; 0 feels through walls, as the paper does",      \
      "1: people behind a wall or a shut door are not felt")                                \
    X(relaxation_time, 0.5, 0.01, 10, "s", TH_HM95, "time to reach the preferred velocity") \
    X(repulsion_strength, 2.1, 0, 50, "m2/s2", TH_HM95, "V0, potential of another person")  \
    X(repulsion_distance, 0.3, 0.02, 1, "m", TH_HM95,                                       \
      "sigma, over which that potential falls by e")                                        \
    X(wall_strength, 10, 0, 100, "m2/s2", TH_HM95, "U0, potential of a wall")               \
    X(wall_distance, 0.2, 0.02, 1, "m", TH_HM95, "R, over which that potential falls by e") \
    X(step_time, 0.5, 0, 5, "s",                                                            \
      TH_HM95 ": 2, but also about one step's width, which is 0.5; see docs",               \
      "time of the step that others keep clear")                                            \
    X(sight_angle, 200, 0, 360, "deg", TH_HM95,                                             \
      "full angle of view, around the preferred direction")                                 \
    X(rear_weight, 0.5, 0, 1, "-", TH_HM95 ": c", "weight of people out of view")           \
    X(max_speed_factor, 1.3, 1, 5, "-", TH_HM95,                                            \
      "nobody is faster than this times the own preferred speed")                           \
    X(noise, 0, 0, 5, "m/s2", TH_HM95 ": a fluctuation term without a figure; 0: off",      \
      "standard deviation of a random push, each component, drawn anew every step")

// X(name, doc, {parameter, value}...)
#define TH_HELBING_MOLNAR_PRESETS(X)                                                          \
    X(hm1995, "the published model, which feels through walls, with steps of 2 s kept clear", \
      {"step_time", 2}, {"line_of_sight", 0})

typedef struct th_helbing_molnar_params {
    TH_HELBING_MOLNAR_PARAMS(TH_PARAM_MEMBER)
} th_helbing_molnar_params;

// Repulsion ends where b is this many repulsion_distance: V0/sigma e^-7 = 0.006 m/s2, a third of a
// percent of the drive of somebody who starts to walk.
#define TH_HELBING_MOLNAR_REACH 7.0f
// A step counts up to this length [m]; it bounds how far people look for others. 2 s at 2 m/s.
#define TH_HELBING_MOLNAR_LONGEST_STEP 4.0f
// The gradient of b has no bound at the ends of the step (it grows as sqrt(s / distance) / 2); this
// bound is met 1 % of a step away from them [-].
#define TH_HELBING_MOLNAR_STEEPEST 5.0f

// How far from somebody repulsion is felt, when nobody's step is longer than s [m]: the far end of
// the ellipse with foci s apart and semi-minor axis b.
TH_FORMULA float th_helbing_molnar_range(const th_helbing_molnar_params *p, float s) {
    float b = TH_HELBING_MOLNAR_REACH * p->repulsion_distance;
    return 0.5f * s + sqrtf(b * b + 0.25f * s * s);
}

// Acceleration of i by j: -grad V0 e^(-b/sigma) with 2b = sqrt((|r| + |r - y|)^2 - |y|^2), where r
// points from j to i and y is the step j is about to make:
//   grad b = (|r| + |r - y|) / (4b) (r/|r| + (r - y)/|r - y|).
// (0, 0) for coincident people.
TH_FORMULA th_vec2 th_helbing_molnar_repulsion(const th_helbing_molnar_params *p,
                                               float inverse_distance, th_vec2 r, th_vec2 step) {
    float s2 = step.x * step.x + step.y * step.y, s = sqrtf(s2);
    float shorten = s > TH_HELBING_MOLNAR_LONGEST_STEP ? TH_HELBING_MOLNAR_LONGEST_STEP / s : 1.0f;
    float yx = shorten * step.x, yy = shorten * step.y;
    float qx = r.x - yx, qy = r.y - yy;
    float r1 = sqrtf(r.x * r.x + r.y * r.y), r2 = sqrtf(qx * qx + qy * qy);
    // 4 b^2 = (r1 + r2)^2 - s^2 = 2 (r1 r2 + r.q). Close to the step r and q are nearly opposite and
    // the sum cancels; there r1 r2 + r.q = (r x q)^2 / (r1 r2 - r.q) does not, with r x q = -(r x y).
    float product = r1 * r2, dot = r.x * qx + r.y * qy, cross = r.x * yy - r.y * yx;
    float b2 = dot >= 0.0f ? product + dot : cross * cross / th_max(product - dot, 1e-12f);
    float b = sqrtf(0.5f * b2), sum = r1 + r2;
    float scale = b > 1e-6f ? sum / (4.0f * b) : 0.0f;
    float inverse1 = r1 > 1e-6f ? 1.0f / r1 : 0.0f, inverse2 = r2 > 1e-6f ? 1.0f / r2 : 0.0f;
    float gx = scale * (r.x * inverse1 + qx * inverse2);
    float gy = scale * (r.y * inverse1 + qy * inverse2);
    float steep2 = gx * gx + gy * gy;
    float limit = steep2 > TH_HELBING_MOLNAR_STEEPEST * TH_HELBING_MOLNAR_STEEPEST
                      ? TH_HELBING_MOLNAR_STEEPEST / sqrtf(steep2)
                      : 1.0f;
    float over = b * inverse_distance;
    float size = over < TH_HELBING_MOLNAR_REACH
                     ? limit * p->repulsion_strength * inverse_distance * th_exp(-over)
                     : 0.0f;
    return th_v(size * gx, size * gy);
}

// Weight of a push f on somebody who looks along e (unit, or (0, 0) with cos_sight -1): 1 if what
// pushes is in view, else c.
TH_FORMULA float th_helbing_molnar_weight(float cos_sight, float rear_weight, th_vec2 e,
                                          th_vec2 f) {
    float length = sqrtf(f.x * f.x + f.y * f.y);
    return -(e.x * f.x + e.y * f.y) >= length * cos_sight ? 1.0f : rear_weight;
}

// Acceleration by a wall whose nearest point is d > 0 away in direction -n.
TH_FORMULA th_vec2 th_helbing_molnar_wall(const th_helbing_molnar_params *p, th_vec2 n, float d) {
    return th_scale(p->wall_strength / p->wall_distance * th_exp(-d / p->wall_distance), n);
}

// Velocity after h seconds: pushes explicit, the drive (v0 e - v)/tau implicit, then the speed limit.
TH_FORMULA th_vec2 th_helbing_molnar_velocity(const th_helbing_molnar_params *p, th_vec2 v,
                                              th_vec2 drive, th_vec2 push, float speed, float h) {
    float relax = h / p->relaxation_time;
    th_vec2 w = th_scale(1.0f / (1.0f + relax), th_v(v.x + relax * drive.x + h * push.x,
                                                     v.y + relax * drive.y + h * push.y));
    return th_limit(w, p->max_speed_factor * speed);
}
#endif
