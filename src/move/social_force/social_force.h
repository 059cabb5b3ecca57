// Social force of Helbing, Farkas, Vicsek 2000, "Simulating dynamical features of escape panic",
// Nature 407 (HFV00). Equations implemented, additions and parts left out: docs/models/social-force.md.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_FORMULA_SOCIAL_FORCE_H
#define TH_FORMULA_SOCIAL_FORCE_H
#include "formula/math.h"
#include "formula/params.h"
#include "formula/random.h"
#include "formula/vec.h"
#include "move/substep.h"

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
      "preferred speed of an agent that is brought to a stop")

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
// arise when an agent is placed on top of another.
#define TH_SOCIAL_FORCE_CAP 20000.0f

// Distance between surfaces beyond which there is no force [m].
TH_FORMULA float th_social_force_reach(const th_social_force_params *p) {
    return th_min(TH_SOCIAL_FORCE_REACH * p->repulsion_distance, TH_SOCIAL_FORCE_LONGEST_GAP);
}

// The force of others on person i, linear in i's velocity v: push - drag v. Keeping the friction's matrix
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

TH_BOTH static inline const th_social_force_params *th_social_force_params_of(const th_world *world,
                                                                              uint32_t i) {
    return (const th_social_force_params *)(const void *)world->groups[world->agents.group[i]]
        .move_params;
}

// Person i, as the loop over neighbours needs it.
typedef struct th_pressed_person {
    const th_social_force_params *params;
    float x, y, radius;
    float inverse_distance, reach; // 1/B and where forces end
} th_pressed_person;

// The force of an agent at (x, y) with velocity (vx, vy); none of an agent at i's very place, which *coincident tells.
TH_FORMULA th_social_force_sum th_social_force_of_agent(const th_pressed_person *i,
                                                        const th_social_force_params *p, float x,
                                                        float y, float vx, float vy, float radius,
                                                        int *coincident) {
    float dx = i->x - x, dy = i->y - y;
    float d = sqrtf(dx * dx + dy * dy);
    float inverse =
        d > TH_COINCIDENT ? 1.0f / d : 0.0f; // the pushes of the coincident are added later
    *coincident |= d > TH_COINCIDENT ? 0 : 1;
    return th_social_force_of(p, i->inverse_distance, i->reach, th_v(dx * inverse, dy * inverse),
                              (i->radius + radius) - d, th_v(vx, vy));
}

TH_FORMULA void th_social_force_add(th_social_force_sum *sum, th_social_force_sum f) {
    sum->push = th_add(sum->push, f.push);
    sum->drag_xx += f.drag_xx;
    sum->drag_xy += f.drag_xy;
    sum->drag_yy += f.drag_yy;
}

// Adds the push of agents at i's very place, in a direction drawn from both ids, opposite for the two.
TH_BOTH static inline void th_social_force_push_coincident(const th_agents *a,
                                                           const th_pressed_person *i,
                                                           uint32_t self, const uint32_t *list,
                                                           int count, th_social_force_sum *sum) {
    for (int k = 0; k < count; ++k) {
        uint32_t j = list[k];
        float dx = i->x - a->substep_x[j], dy = i->y - a->substep_y[j];
        float d = sqrtf(dx * dx + dy * dy);
        if (d > TH_COINCIDENT) {
            continue;
        }
        th_social_force_sum f = th_social_force_of(
            i->params, i->inverse_distance, i->reach, th_pair_direction(a->id[self], a->id[j]),
            (i->radius + a->radius[j]) - d,
            th_v(a->substep_velocity_x[j], a->substep_velocity_y[j]));
        th_social_force_add(sum, f);
    }
}

TH_BOTH static inline void th_social_force_of_walls(const th_walls *walls, int level,
                                                    const th_pressed_person *i,
                                                    th_social_force_sum *sum) {
    enum { POINTS = 16 };
    th_vec2 points[POINTS], position = th_v(i->x, i->y);
    int count = th_wall_points(walls, level, position, i->radius + i->reach, points, POINTS);
    for (int k = 0; k < count; ++k) {
        th_vec2 away = th_sub(position, points[k]);
        float d = th_length(away);
        if (d <= TH_COINCIDENT) {
            continue;
        } // on the wall: the contact stage decides
        th_social_force_sum f =
            th_social_force_of(i->params, i->inverse_distance, i->reach, th_scale(1.0f / d, away),
                               i->radius - d, th_v(0, 0));
        th_social_force_add(sum, f);
    }
}

// Bodies' centres farther apart than this feel nothing of each other [m].
TH_BOTH static inline float th_social_force_range_of(const th_world *world, uint32_t self) {
    return world->agents.radius[self] + world->max_radius +
           th_social_force_reach(th_social_force_params_of(world, self));
}

TH_FORMULA th_pressed_person th_pressed_person_of(const th_world *world, uint32_t self) {
    const th_agents *a = &world->agents;
    const th_social_force_params *p = th_social_force_params_of(world, self);
    th_pressed_person i = {p,
                           a->substep_x[self],
                           a->substep_y[self],
                           a->radius[self],
                           1.0f / p->repulsion_distance,
                           th_social_force_reach(p)};
    return i;
}

// Own person's velocity after the sub-step, into next_velocity; `sum` is the press of people.
TH_FORMULA void th_social_force_take(th_world *world, const th_substep *step, const th_walls *walls,
                                     uint32_t self, const th_pressed_person *i,
                                     th_social_force_sum sum) {
    th_agents *a = &world->agents;
    const th_social_force_params *p = i->params;
    int level = (int)a->level[self];
    if (walls->count > 0 && th_walls_maybe_near(walls, level, th_v(i->x, i->y))) {
        th_social_force_of_walls(walls, level, i, &sum);
    }
    th_vec2 drive = th_v(a->drive_x[self], a->drive_y[self]);
    th_vec2 v = th_social_force_velocity(
        p, a->mass[self], th_v(a->substep_velocity_x[self], a->substep_velocity_y[self]), drive,
        &sum, step->h);
    a->next_velocity_x[self] = v.x;
    a->next_velocity_y[self] = v.y;
}

// Mean direction that the people around want to go; (0, 0) when no agent there wants anything.
TH_BOTH static inline th_vec2 th_social_force_neighbours_direction(const th_world *world,
                                                                   const th_substep *step,
                                                                   const th_walls *walls,
                                                                   uint32_t self, float radius) {
    const th_agents *a = &world->agents;
    uint32_t list[TH_NEAR_MAX + 1];
    float x = a->position_x[self], y = a->position_y[self];
    th_vec2 sum = th_v(0, 0);
    th_near near = th_near_begin(world, step, a->level[self], x, y, radius);
    bool hides = walls->count > 0 && th_social_force_params_of(world, self)->line_of_sight > 0.0f;
    for (bool more = true; more;) {
        int count = th_near_next(&near, a->position_x, a->position_y, self, x, y, radius, list);
        more = count == TH_NEAR_MAX;
        count = th_drop_fallen(world, list, count);
        if (hides) {
            count = th_drop_hidden(world, walls, self, list, count);
        }
        for (int k = 0; k < count; ++k) {
            sum = th_add(sum, th_unit(th_v(a->preferred_x[list[k]], a->preferred_y[list[k]])));
        }
    }
    return th_unit(sum);
}

// Herding and impatience, once per step: changes the drive that th_substep_begin has set.
TH_BOTH static inline void th_social_force_change_drive(th_world *world, const th_substep *step,
                                                        const th_walls *walls, uint32_t i) {
    th_agents *a = &world->agents;
    const th_social_force_params *p = th_social_force_params_of(world, i);
    th_vec2 drive = th_v(a->drive_x[i], a->drive_y[i]);
    float speed = th_length(drive);
    if (speed <= 0.0f) {
        return;
    }
    th_vec2 e = th_scale(1.0f / speed, drive);
    if (p->herding > 0.0f) {
        th_vec2 theirs =
            th_social_force_neighbours_direction(world, step, walls, i, p->herding_radius);
        th_vec2 mixed =
            th_unit(th_add(th_scale(1.0f - p->herding, e), th_scale(p->herding, theirs)));
        e = th_length2(mixed) > 0.0f ? mixed : e;
    }
    speed =
        th_social_force_impatient_speed(speed, th_dot(th_velocity(a, i), e), p->impatient_speed);
    a->drive_x[i] = speed * e.x;
    a->drive_y[i] = speed * e.y;
}

// The shortest sub-step that a group asks for; whether any of them herds or grows impatient.
static inline float th_social_force_substep(const th_world *world, bool *drive_changes) {
    float shortest = world->dt;
    *drive_changes = false;
    for (int g = 0; g < world->group_count; ++g) {
        if (world->groups[g].move != TH_MOVE_SOCIAL_FORCE || world->groups[g].scripted) {
            continue;
        }
        const th_social_force_params *p =
            (const th_social_force_params *)(const void *)world->groups[g].move_params;
        shortest = th_min(shortest, p->substep);
        *drive_changes |= p->herding > 0.0f || p->impatient_speed > 0.0f;
    }
    return shortest;
}
#endif
