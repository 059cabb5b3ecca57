// Social force of Helbing, Molnar 1995, "Social force model for pedestrian dynamics", Physical Review
// E 51 (HM95). Unit mass: forces are accelerations. Equations implemented, additions and parts left
// out: docs/models/social-force.md. SPDX-License-Identifier: Apache-2.0
#ifndef TH_FORMULA_HELBING_MOLNAR_H
#define TH_FORMULA_HELBING_MOLNAR_H
#include "formula/math.h"
#include "formula/params.h"
#include "formula/random.h"
#include "formula/vec.h"
#include "move/substep.h"

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
    X(max_speed_factor, 1.3, 1, 5, "-", TH_HM95, "highest speed, in own preferred speeds")  \
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
// percent of the drive of an agent that starts to walk.
#define TH_HELBING_MOLNAR_REACH 7.0f
// A step counts up to this length [m]; it bounds how far people look for others. 2 s at 2 m/s.
#define TH_HELBING_MOLNAR_LONGEST_STEP 4.0f
// The gradient of b has no bound at the ends of the step (it grows as sqrt(s / distance) / 2); this
// bound is met 1 % of a step away from them [-].
#define TH_HELBING_MOLNAR_STEEPEST 5.0f

// Distance from an agent within which its repulsion acts, when no agent's step is longer than s [m]: the far end of
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

// Weight of a push f on an agent that looks along e (unit, or (0, 0) with cos_sight -1): 1 if what
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

TH_BOTH static inline const th_helbing_molnar_params *
th_helbing_molnar_params_of(const th_world *world, uint32_t group) {
    return (const th_helbing_molnar_params *)(const void *)world->groups[group].move_params;
}

// Person i, as the loop over neighbours needs it.
typedef struct th_looking_person {
    const th_helbing_molnar_params *params;
    float x, y;
    float inverse_distance; // 1/sigma
    th_vec2 looks;          // unit, or (0, 0): all around
    float cos_sight;
} th_looking_person;

// The weighted push of an agent at (x, y) with velocity (vx, vy); none of an agent at i's very place, which
// *coincident tells.
TH_FORMULA th_vec2 th_helbing_molnar_push_of(const th_looking_person *i,
                                             const th_helbing_molnar_params *p, float x, float y,
                                             float vx, float vy, int *coincident) {
    th_vec2 r = th_v(i->x - x, i->y - y);
    th_vec2 step = th_v(p->step_time * vx, p->step_time * vy);
    th_vec2 f = th_helbing_molnar_repulsion(p, i->inverse_distance, r, step);
    float weight = th_helbing_molnar_weight(i->cos_sight, p->rear_weight, i->looks, f);
    bool apart = r.x * r.x + r.y * r.y > TH_COINCIDENT * TH_COINCIDENT;
    weight = apart ? weight : 0.0f; // the pushes of the coincident are added later
    *coincident |= apart ? 0 : 1;
    return th_v(weight * f.x, weight * f.y);
}

// Adds the push of agents at i's very place: as hard as that of touching people that stand, in opposite directions for a pair.
TH_BOTH static inline th_vec2 th_helbing_molnar_coincident_push(const th_agents *a,
                                                                const th_looking_person *i,
                                                                uint32_t self, const uint32_t *list,
                                                                int count) {
    th_vec2 sum = th_v(0, 0);
    for (int k = 0; k < count; ++k) {
        float dx = i->x - a->substep_x[list[k]], dy = i->y - a->substep_y[list[k]];
        if (dx * dx + dy * dy > TH_COINCIDENT * TH_COINCIDENT) {
            continue;
        }
        sum = th_add(sum, th_scale(i->params->repulsion_strength * i->inverse_distance,
                                   th_pair_direction(a->id[self], a->id[list[k]])));
    }
    return sum;
}

// People farther away than this are not felt [m].
TH_BOTH static inline float th_helbing_molnar_range_of(const th_helbing_molnar_params *p,
                                                       float top_speed) {
    return th_helbing_molnar_range(
        p, th_min(p->step_time * top_speed, TH_HELBING_MOLNAR_LONGEST_STEP));
}

TH_BOTH static inline th_vec2 th_helbing_molnar_walls_push(const th_walls *walls, int level,
                                                           const th_looking_person *i) {
    enum { POINTS = 16 };
    th_vec2 points[POINTS], position = th_v(i->x, i->y), sum = th_v(0, 0);
    // U0/R e^-10 = 0.002 m/s2 with the published values; the wall grid answers 2 m at once.
    float range = th_min(10.0f * i->params->wall_distance, 2.0f);
    int count = th_wall_points(walls, level, position, range, points, POINTS);
    for (int k = 0; k < count; ++k) {
        th_vec2 away = th_sub(position, points[k]);
        float d = th_length(away);
        if (d <= TH_COINCIDENT) {
            continue;
        } // on the wall: the contact stage decides
        sum = th_add(sum, th_helbing_molnar_wall(i->params, th_scale(1.0f / d, away), d));
    }
    return sum;
}

// HM95's fluctuation term, uniform with the given standard deviation, the same during a step.
TH_BOTH static inline th_vec2 th_helbing_molnar_noise(const th_world *world, uint32_t id,
                                                      float deviation) {
    th_random4 random = th_philox(world->seed, TH_STREAM_FORCE_NOISE, id, world->step_count);
    float width =
        3.46410162f * deviation; // sqrt(12): a uniform of width w has deviation w / sqrt(12)
    return th_v(width * (th_uniform(random.v[0]) - 0.5f), width * (th_uniform(random.v[1]) - 0.5f));
}

// Cosine of half the angle of view.
TH_FORMULA float th_helbing_molnar_cos_sight(const th_helbing_molnar_params *p) {
    double sine, cosine;
    th_sincos_turn((double)p->sight_angle / 720.0, &sine, &cosine);
    return (float)cosine;
}

TH_FORMULA th_looking_person th_looking_person_of(const th_world *world,
                                                  const th_helbing_molnar_params *p,
                                                  float cos_sight, uint32_t self) {
    const th_agents *a = &world->agents;
    th_vec2 looks = th_unit(th_v(a->drive_x[self], a->drive_y[self]));
    th_looking_person i = {p,
                           a->substep_x[self],
                           a->substep_y[self],
                           1.0f / p->repulsion_distance,
                           looks,
                           th_length2(looks) > 0.0f ? cos_sight : -1.0f};
    return i;
}

// Own person's velocity after the sub-step, into next_velocity; `push` is that of people.
TH_FORMULA void th_helbing_molnar_take(th_world *world, const th_substep *step,
                                       const th_walls *walls, uint32_t self,
                                       const th_looking_person *i, th_vec2 push) {
    th_agents *a = &world->agents;
    const th_helbing_molnar_params *p = i->params;
    th_vec2 drive = th_v(a->drive_x[self], a->drive_y[self]);
    int level = (int)a->level[self];
    if (walls->count > 0 && th_walls_maybe_near(walls, level, th_v(i->x, i->y))) {
        push = th_add(push, th_helbing_molnar_walls_push(walls, level, i));
    }
    if (p->noise > 0.0f) {
        push = th_add(push, th_helbing_molnar_noise(world, a->id[self], p->noise));
    }
    th_vec2 v = th_helbing_molnar_velocity(
        p, th_v(a->substep_velocity_x[self], a->substep_velocity_y[self]), drive, push,
        a->speed[self], step->h);
    a->next_velocity_x[self] = v.x;
    a->next_velocity_y[self] = v.y;
}

// No agent's squared speed is higher during the step: what it is now, or the model's limit.
TH_FORMULA float th_helbing_molnar_highest_speed2(const th_world *world, uint32_t i) {
    const th_agents *a = &world->agents;
    float now2 = th_length2(th_velocity(a, i)), limit = 0.0f;
    if (th_substep_own(world, TH_MOVE_HELBING_MOLNAR, i)) {
        limit = th_helbing_molnar_params_of(world, a->group[i])->max_speed_factor * a->speed[i];
    }
    return th_max(now2, limit * limit);
}

static inline float th_helbing_molnar_substep(const th_world *world) {
    float shortest = world->dt;
    for (int g = 0; g < world->group_count; ++g) {
        if (world->groups[g].move == TH_MOVE_HELBING_MOLNAR && !world->groups[g].scripted) {
            shortest = th_min(shortest, th_helbing_molnar_params_of(world, (uint32_t)g)->substep);
        }
    }
    return shortest;
}
#endif
