// Social force of Helbing, Farkas, Vicsek 2000, "Simulating dynamical features of escape panic",
// Nature 407 (HFV00). Equations implemented, additions and parts left out: docs/models/social-force.md.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_FORMULA_SOCIAL_FORCE_H
#define TH_FORMULA_SOCIAL_FORCE_H
#include "formula/math.h"
#include "formula/params.h"
#include "formula/vec.h"

#define TH_HFV00 "Helbing, Farkas, Vicsek 2000"

// separation_passes leads, as in every move model. It is 0 here: a few centimetres of overlap, with people
// and with walls, are how this model carries pressure and friction; taking them away after each step
// doubles the flow through a door at 6 m/s (2.1 instead of 0.9 people/s) and faster is no longer slower.
#define TH_SOCIAL_FORCE_PARAMS(X)                                                                 \
    X(separation_passes, 0, 0, 16, "-",                                                           \
      "throng: the model's own contact force keeps people apart",                                 \
      "passes that push overlapping people apart after each step")                                \
    X(substep, 0.01, 0.0005, 0.1, "s", "authors' question-and-answer page: 0.01 at most",         \
      "longest time step of the forces; the crowd takes the smallest of its groups")              \
    X(line_of_sight, 1, 0, 1, "-", "throng; 0 feels through walls, as the paper does",            \
      "1: people behind a wall or a shut door are not felt")                                      \
    X(relaxation_time, 0.5, 0.01, 10, "s", TH_HFV00, "time to reach the preferred velocity")      \
    X(repulsion_strength, 2000, 0, 20000, "N", TH_HFV00,                                          \
      "A, psychological force at touching distance")                                              \
    X(repulsion_distance, 0.08, 0.005, 0.5, "m", TH_HFV00, "B, over which that force falls by e") \
    X(body_stiffness, 1.2e5, 0, 1e6, "kg/s2", TH_HFV00, "k, of bodies pressed together")          \
    X(friction, 2.4e5, 0, 1e6, "kg/(m s)", TH_HFV00,                                              \
      "kappa, sliding friction of bodies pressed together")                                       \
    X(herding, 0, 0, 1, "-", TH_HFV00 ": p; 0: off",                                              \
      "share of the neighbours' direction in the own one")                                        \
    X(herding_radius, 2, 0.5, 5, "m", "throng: the paper gives no figure for every scene",        \
      "whose direction counts for herding")                                                       \
    X(impatient_speed, 0, 0, 10, "m/s", TH_HFV00 ": v_max; 0: off",                               \
      "preferred speed of somebody who is brought to a stop")

// X(name, doc, {parameter, value}...)
#define TH_SOCIAL_FORCE_PRESETS(X)                                                          \
    X(hfv2000, "the published model, which feels through walls, with a step of 5 ms",       \
      {"substep", 0.005}, {"line_of_sight", 0})                                             \
    X(menge_soft,                                                                           \
      "contact a hundred times softer and steeper repulsion, as in Menge's example scenes", \
      {"substep", 0.01}, {"repulsion_distance", 0.015}, {"body_stiffness", 1200},           \
      {"friction", 2400})

typedef struct th_social_force_params {
    TH_SOCIAL_FORCE_PARAMS(TH_PARAM_MEMBER)
} th_social_force_params;

// Forces end where the gap between two bodies is this many repulsion_distance: A e^-10 is 0.09 N with
// the published A, 0.001 m/s2 for 80 kg against a drive of about 2 m/s2.
#define TH_SOCIAL_FORCE_REACH 10.0f
#define TH_SOCIAL_FORCE_LONGEST_GAP 1.5f // [m] bound on that gap, for the cost of a large B
// [N] Bound on the psychological force. e^(overlap/B) has no meaning for deep overlaps, which only
// arise when somebody is placed on top of another.
#define TH_SOCIAL_FORCE_CAP 20000.0f

// Surface to surface distance beyond which nothing is felt [m].
TH_FORMULA float th_social_force_reach(const th_social_force_params *p) {
    return th_min(TH_SOCIAL_FORCE_REACH * p->repulsion_distance, TH_SOCIAL_FORCE_LONGEST_GAP);
}

// What others do to person i, linear in i's velocity v: push - drag v. Keeping the friction's matrix
// lets the integrator take it implicitly.
typedef struct th_social_force_sum {
    th_vec2 push;                    // [N]
    float drag_xx, drag_xy, drag_yy; // [kg/s], symmetric
} th_social_force_sum;

// One person or wall in direction -n (unit, towards i), overlapping by `overlap` (negative: a gap),
// moving with velocity w:
//   push = (A e^(overlap/B) + k g) n + kappa g (w.t) t,   drag = kappa g t t^T,   g = max(overlap, 0)
// so that push - drag v is f_ij of HFV00 with friction kappa g ((w - v).t) t: i is drawn along with
// the other's tangential motion.
TH_FORMULA th_social_force_sum th_social_force_of(const th_social_force_params *p,
                                                  float inverse_distance, float reach, th_vec2 n,
                                                  float overlap, th_vec2 w) {
    float g = th_max(overlap, 0.0f);
    float repulsion =
        th_min(p->repulsion_strength * th_exp(overlap * inverse_distance), TH_SOCIAL_FORCE_CAP);
    repulsion = overlap > -reach ? repulsion : 0.0f;
    float radial = repulsion + p->body_stiffness * g;
    float slide = p->friction * g;
    float tx = -n.y, ty = n.x;
    float along = slide * (w.x * tx + w.y * ty);
    th_social_force_sum f;
    f.push.x = radial * n.x + along * tx;
    f.push.y = radial * n.y + along * ty;
    f.drag_xx = slide * tx * tx;
    f.drag_xy = slide * tx * ty;
    f.drag_yy = slide * ty * ty;
    return f;
}

// The force on i at velocity v [N].
TH_FORMULA th_vec2 th_social_force_at(const th_social_force_sum *f, th_vec2 v) {
    return th_v(f->push.x - (f->drag_xx * v.x + f->drag_xy * v.y),
                f->push.y - (f->drag_xy * v.x + f->drag_yy * v.y));
}

// Velocity after h seconds. Repulsion explicit; drive m (v0 e - v)/tau and friction implicit in v, the
// others' velocities frozen:  (m + h m/tau + h drag) v' = m v + h (m drive/tau + push).
// Explicit friction would need h < 2 m / (kappa g): 7 ms at 10 cm of overlap with a single neighbour.
TH_FORMULA th_vec2 th_social_force_velocity(const th_social_force_params *p, float mass, th_vec2 v,
                                            th_vec2 drive, const th_social_force_sum *f, float h) {
    float relax = mass * (h / p->relaxation_time);
    float a = mass + relax + h * f->drag_xx;
    float b = h * f->drag_xy;
    float c = mass + relax + h * f->drag_yy;
    float x = mass * v.x + relax * drive.x + h * f->push.x;
    float y = mass * v.y + relax * drive.y + h * f->push.y;
    float inverse = 1.0f / (a * c - b * b);
    return th_v((c * x - b * y) * inverse, (a * y - b * x) * inverse);
}

// Impatience: v0(t) = (1 - q) v0 + q v_max with q = 1 - (v.e)/v0, kept within [0, 1]. HFV00 averages
// v.e over time; here it is the present one, so that nothing has to be remembered.
TH_FORMULA float th_social_force_impatient_speed(float preferred_speed, float speed_along,
                                                 float max_speed) {
    if (preferred_speed <= 0.0f || max_speed <= preferred_speed) {
        return preferred_speed;
    }
    float q = th_clamp(1.0f - speed_along / preferred_speed, 0.0f, 1.0f);
    return (1.0f - q) * preferred_speed + q * max_speed;
}
#endif
