// Position-based crowds: Weiss, Litteneker, Jiang, Terzopoulos 2017, "Position-based multi-agent dynamics for
// real-time crowd simulation" (WLJT17). The maths of one person and of one pair.
// A sub-step of h seconds moves person i from x by a displacement u, which begins as h times the blended
// velocity and is corrected until no constraint is hurt. A pair knows its offset X = x_i - x_j, fixed during the
// sub-step, and its relative displacement U = u_i - u_j: contact looks at X + U, avoidance at X and V = U / h.
// Every correction is that of i; j computes the opposite one for itself, bit by bit, because each formula
// changes sign with X and U. Equations, additions, omissions: docs/models/pbd.md.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_MOVE_PBD_PBD_H
#define TH_MOVE_PBD_PBD_H
#include "formula/math.h"
#include "formula/params.h"
#include "formula/vec.h"
#include "move/substep.h"

#define TH_WLJT17 "Weiss et al. 2017"
#define TH_WLJT19 "Weiss et al. 2019, long version, as quoted by a re-implementation"

// separation_passes leads, as in every move model. It is 0 here: the model's own contacts keep people apart.
#define TH_PBD_PARAMS(X)                                                                          \
    X(separation_passes, 0, 0, 16, "-", "throng: the model's own contacts keep people apart",     \
      "passes that push overlapping people apart after each step")                                \
    X(substep, 0.020833333, 0.002, 0.1, "s", TH_WLJT17 ": 1/48",                                  \
      "longest time step of the model; the crowd takes the smallest of its groups")               \
    X(reaction_time, 0.54, 0.02, 10, "s",                                                         \
      TH_WLJT17 ": alpha = 0.0385 at 1/48 s; Karamouzas et al. 2014",                             \
      "in which a velocity follows the preferred one: alpha = substep / reaction_time")           \
    X(iterations, 6, 1, 32, "-", TH_WLJT17,                                                       \
      "of the solve in each sub-step; the crowd takes the most of its groups")                    \
    X(stabilisation, 1, 0, 8, "-", TH_WLJT17,                                                     \
      "iterations that take away old overlaps without giving a velocity; the most of the groups") \
    X(averaging, 1.2, 0.1, 2, "-", TH_WLJT17,                                                     \
      "omega: a person moves by omega times the mean of the corrections asked for")               \
    X(momentum, 0.6, 0, 0.9, "-", "throng: Polyak 1964; WLJT17 has none",                         \
      "share of the last iteration's change that a touching agent repeats")                       \
    X(contact_margin, 1.05, 0.5, 1.5, "-", "first author's code; WLJT17: 1",                      \
      "people are kept this many times the sum of their radii apart")                             \
    X(static_friction, 0.21, 0, 2, "-", TH_WLJT19,                                                \
      "bodies in contact stick below this share of the depth; 0: they slide freely")              \
    X(kinetic_friction, 0.1, 0, 2, "-", "throng: half the static one, as for dry bodies",         \
      "share of the depth by which sliding bodies are held back")                                 \
    X(lr_mode, 2, 0, 2, "-", TH_WLJT17 ": 0; throng: 2 passes best",                              \
      "long-range avoidance: 0 tangential (sideways), 1 normal (braking), 2 both")                \
    X(lr_stiffness, 0.24, 0, 0.99, "-", TH_WLJT19,                                                \
      "k: share of a predicted collision that one sub-step takes away")                           \
    X(lr_decay, 20, 0.01, 400, "s2", TH_WLJT19,                                                   \
      "tau0: stiffness falls as exp(-tau^2 / tau0); beyond tau0 seconds nothing is felt")         \
    X(lr_range, 10, 0, 60, "radii", "first author's code",                                        \
      "how far others are seen, in mean radii of the two; 0: no long-range avoidance")            \
    X(lr_sign, 1, -1, 1, "-", "throng: the paper does not say; -1 jams, tests/test_pbd.c",        \
      "factor of the sideways part: 1 goes on with the motion begun, -1 brakes it")               \
    X(side_bias, 0.01, -1, 1, "-", "throng: an exact head-on pair would never turn",              \
      "share of the relative speed by which a pair is thought to pass on the right")              \
    X(sidestep, 0.5, 0, 2, "-",                                                                   \
      "throng: more than static_friction, or two that touch head-on stick",                       \
      "a stopped agent leans to a side, drawn every second, by up to this share of its speed")    \
    X(ease, 1, 0, 1, "-", "throng: agents that never stop pressing lock narrow doors",            \
      "a stopped agent walks slower, by up to this share of its speed, drawn every second")       \
    X(follow_walls, 1, 0, 1, "-", "throng: a plan for a point leads bodies into door posts",      \
      "1: an agent that touches a wall walks along it, not into it")                              \
    X(cohesion, 0.9912, 0, 20, "1/s", TH_WLJT17 ": c = 217 at h = 7 is a kernel of this height",  \
      "rate at which a neighbour of the same group at distance 0 draws the velocity along")       \
    X(cohesion_range, 7, 0, 30, "radii", TH_WLJT17 ": h", "where cohesion ends, in mean radii")   \
    X(max_speed_ratio, 1.3, 1, 5, "-", "throng; the paper clamps and gives no figure",            \
      "highest speed, in own walking speeds")                                                     \
    X(max_acceleration, 5, 0.1, 50, "m/s2",                                                       \
      "throng: about v/tau, 1.4 / 0.54 = 2.6, twice for head-on pairs",                           \
      "limit of what avoidance does to a velocity; contacts are not limited")

// X(name, doc, {parameter, value}...)
#define TH_PBD_PRESETS(X)                                                                        \
    X(weiss2017, "as printed: sideways avoidance only, no margin, none of throng's additions",   \
      {"momentum", 0}, {"contact_margin", 1}, {"lr_mode", 0}, {"side_bias", 0}, {"sidestep", 0}, \
      {"ease", 0}, {"follow_walls", 0})

typedef struct th_pbd_params {
    TH_PBD_PARAMS(TH_PARAM_MEMBER)
} th_pbd_params;

enum { TH_PBD_TANGENTIAL, TH_PBD_NORMAL, TH_PBD_BOTH }; // lr_mode

#define TH_PBD_COINCIDENT 1e-6f // [m] people closer than this have no direction between them
#define TH_PBD_SLOWEST 1e-5f    // [m2/s2] pairs whose relative speed squared is below do not meet

// Eq. 1, with alpha from the time step: at other steps than 1/48 s the crowd reacts as fast.
TH_FORMULA th_vec2 th_pbd_blend(th_vec2 v, th_vec2 preferred, float h, float reaction_time) {
    float alpha = th_min(h / reaction_time, 1.0f);
    return th_v((1.0f - alpha) * v.x + alpha * preferred.x,
                (1.0f - alpha) * v.y + alpha * preferred.y);
}

// Preferred velocity of an agent that is held up: leans to the side by `lean` (positive: right) times the share
// of the speed that is missing, and walks less by `ease` times that share.
TH_FORMULA th_vec2 th_pbd_lean(th_vec2 preferred, th_vec2 v, float lean, float ease) {
    float speed2 = th_length2(preferred);
    if (!(speed2 > 1e-12f)) return preferred;
    float missing = th_clamp(1.0f - th_dot(v, preferred) / speed2, 0.0f, 1.0f);
    return th_add(th_scale(1.0f - ease * missing, preferred),
                  th_scale(lean * missing, th_perp_right(preferred)));
}

// The drive of an agent that touches a wall with outward normal n: along it at the same speed, if it leads into it and
// not straight at it.
TH_FORMULA th_vec2 th_pbd_along(th_vec2 drive, th_vec2 n) {
    float into = -th_dot(drive, n), speed = th_length(drive);
    if (!(into > 0.0f)) return drive;
    th_vec2 along = th_add(drive, th_scale(into, n));
    float left = th_length(along);
    return left > 0.1f * speed ? th_scale(speed / left, along) : drive;
}

// Stiffness per iteration that amounts to `stiffness` after all of them: 1 - (1 - k)^(1/n), Mueller et al. 2007.
TH_FORMULA float th_pbd_stiffness_each(float stiffness, int iterations) {
    double rest = 1.0 - (double)th_clamp(stiffness, 0.0f, 0.999f);
    return (float)(1.0 - th_exp_double(th_log_double(rest) / (double)iterations));
}

// Share of a pair's correction that i takes, from the inverse masses; w_j = 0 for an agent that does not give way.
TH_FORMULA float th_pbd_share(float w_i, float w_j) { return th_divide(w_i, w_i + w_j); }

// A correction of person i and whether it counts.
typedef struct th_pbd_correction {
    float x, y;  // [m]
    float count; // 1: the constraint is hurt; else 0
} th_pbd_correction;

// Contact (eq. 2) with friction (Macklin et al. 2014). D = X + U is the offset, `apart` the distance to keep.
// Along n = D/|D| i is pushed by its share of the depth; across it the relative displacement t of this sub-step
// is taken away, all of it while |t| < mu_s depth, else mu_k depth of it. The coincident are left out.
TH_FORMULA th_pbd_correction th_pbd_contact(th_vec2 d, th_vec2 u, float apart, float share,
                                            float static_friction, float kinetic_friction) {
    float distance2 = d.x * d.x + d.y * d.y;
    float inverse = th_inverse_root(th_max(distance2, TH_PBD_COINCIDENT * TH_PBD_COINCIDENT));
    float depth = apart - distance2 * inverse;
    float nx = d.x * inverse, ny = d.y * inverse;
    float along = u.x * nx + u.y * ny;
    float tx = u.x - along * nx, ty = u.y - along * ny;
    float slide2 = tx * tx + ty * ty, sticks = static_friction * depth;
    float held = th_min(kinetic_friction * depth * th_inverse_root(th_max(slide2, 1e-24f)), 1.0f);
    held = slide2 < sticks * sticks ? 1.0f : held;
    float push = share * depth, drag = share * held;
    bool hurt = th_min(depth, distance2 - TH_PBD_COINCIDENT * TH_PBD_COINCIDENT) > 0.0f;
    th_pbd_correction c;
    c.x = hurt ? push * nx - drag * tx : 0.0f;
    c.y = hurt ? push * ny - drag * ty : 0.0f;
    c.count = hurt ? 1.0f : 0.0f;
    return c;
}

// When two discs with offset X and relative velocity V touch (Karamouzas et al. 2014): tau, the smaller root of
// |X + V t| = R. They meet only if `meets` > 0; it is not when they touch already, part, pass by or hardly move.
// With X x V for the distance of passing, D = (X.V)^2 - V^2 (X^2 - R^2) = R^2 V^2 - (X x V)^2 loses no digits,
// nor does (X^2 - R^2) / (b + sqrt D) for the root.
typedef struct th_pbd_meeting {
    float tau;   // [s]
    float meets; // a margin, not a size
} th_pbd_meeting;

TH_FORMULA th_pbd_meeting th_pbd_meet(th_vec2 x, th_vec2 v, float radii) {
    float a = v.x * v.x + v.y * v.y, b = -(x.x * v.x + x.y * v.y);
    float c = (x.x * x.x + x.y * x.y) - radii * radii, cross = x.x * v.y - x.y * v.x;
    float d = radii * radii * a - cross * cross;
    th_pbd_meeting meeting;
    meeting.tau =
        th_divide(c, th_max(b + th_max(d, 0.0f) * th_inverse_root(th_max(d, 1e-30f)), 1e-12f));
    meeting.meets = th_min(th_min(a - TH_PBD_SLOWEST, b), th_min(c, d));
    return meeting;
}

// Are two people with offset X and relative displacement U going to meet, at a rate that counts? As th_pbd_meet says
// it, without the time; `slowest` is TH_PBD_SLOWEST h^2.
TH_FORMULA bool th_pbd_going_to_meet(th_vec2 x, th_vec2 u, float radii, float slowest) {
    float way2 = u.x * u.x + u.y * u.y, cross = x.x * u.y - x.y * u.x, radii2 = radii * radii;
    return (way2 > slowest) & (x.x * u.x + x.y * u.y < 0.0f) & (x.x * x.x + x.y * x.y > radii2) &
           (radii2 * way2 > cross * cross);
}

// Parameters of avoidance in a sub-step.
typedef struct th_pbd_avoidance {
    float h, inverse_h;         // [s], [1/s]
    float stiffness;            // per iteration
    float decay, inverse_decay; // tau0
    float normal;               // 1 when lr_mode asks for the normal part, else 0
    float tangential;           // lr_sign when lr_mode asks for the tangential part, else 0
    float side_bias;
} th_pbd_avoidance;

TH_FORMULA th_pbd_avoidance th_pbd_avoidance_of(const th_pbd_params *p, float h, int iterations) {
    int mode = (int)(p->lr_mode + 0.5f);
    th_pbd_avoidance avoid;
    avoid.h = h;
    avoid.inverse_h = 1.0f / h;
    avoid.stiffness = th_pbd_stiffness_each(p->lr_stiffness, iterations);
    avoid.decay =
        p->lr_range > 0.0f ? p->lr_decay : -1.0f; // -1: no meeting is near enough to matter
    avoid.inverse_decay = 1.0f / p->lr_decay;
    avoid.normal = mode == TH_PBD_TANGENTIAL ? 0.0f : 1.0f;
    avoid.tangential = mode == TH_PBD_NORMAL ? 0.0f : p->lr_sign;
    avoid.side_bias = p->side_bias;
    return avoid;
}

// Long range, eqs. 3 to 6. tau^ = h floor(tau/h) is the last free instant, tau~ = tau^ + h the first of
// overlap; P = X + tau~ V the offset then, n = P/|P|. The normal part takes away the overlap R - |P|; the
// sideways part adds the tangential displacement of that one step, h (V - (V.n) n), to what it is, so that a
// pair that has begun to pass goes on doing so. Stiffness k exp(-tau~^2 / tau0).
TH_FORMULA th_pbd_correction th_pbd_avoid(const th_pbd_avoidance *p, th_vec2 x, th_vec2 u,
                                          float radii, float share) {
    float vx = u.x * p->inverse_h, vy = u.y * p->inverse_h;
    th_pbd_meeting meeting = th_pbd_meet(x, th_v(vx, vy), radii);
    float hat = p->h * floorf(meeting.tau * p->inverse_h), tilde = hat + p->h;
    float px = x.x + tilde * vx, py = x.y + tilde * vy;
    float distance2 = px * px + py * py, inverse = th_inverse_root(th_max(distance2, 1e-12f));
    float nx = px * inverse, ny = py * inverse, overlap = radii - distance2 * inverse;
    // The right of V, so that a head-on pair, which has no tangential motion, gets one.
    float wx = vx + p->side_bias * vy, wy = vy - p->side_bias * vx;
    float along = wx * nx + wy * ny;
    float tx = p->h * (wx - along * nx), ty = p->h * (wy - along * ny);
    float k = share * p->stiffness * th_exp(-(tilde * tilde) * p->inverse_decay);
    float push = p->normal * overlap, slide = p->tangential;
    bool hurt = (meeting.meets > 0.0f) & (overlap > 0.0f) & (meeting.tau < p->decay);
    th_pbd_correction c;
    c.x = hurt ? k * (push * nx + slide * tx) : 0.0f;
    c.y = hurt ? k * (push * ny + slide * ty) : 0.0f;
    c.count = hurt ? 1.0f : 0.0f;
    return c;
}

// Weight of one neighbour for cohesion (XSPH), the kernel poly6 with height 1: (1 - d^2/range^2)^3.
TH_FORMULA float th_pbd_cohesion_weight(float distance2, float range) {
    float q = th_max(1.0f - distance2 * th_divide(1.0f, range * range), 0.0f);
    return q * q * q;
}

// Cohesion in its stable form: towards the neighbours' velocities at a rate, not by a whole kernel sum at once.
// `weights` = sum w_j and `drawn` = sum w_j (v_j - v_i). The divisor acts only when a step asks for more than
// the whole difference; so v' is a mean of velocities that are there, and no velocity grows.
TH_FORMULA th_vec2 th_pbd_cohere(th_vec2 v, th_vec2 drawn, float weights, float rate, float h) {
    float factor = rate * h / th_max(rate * h * weights, 1.0f);
    return th_add(v, th_scale(factor, drawn));
}

// A wall edge from a, of that unit direction and length, against the disc at p: what moves it off. Ground
// is on the right. With `line_acts` the edge holds also agents beyond it: for agents that began the sub-step on
// the right. The ends are corners that belong to one edge each: `a_acts`, `b_acts` say whether they are this one's.
TH_FORMULA th_pbd_correction th_pbd_wall(th_vec2 p, th_vec2 a, th_vec2 direction, float length,
                                         float radius, bool line_acts, bool a_acts, bool b_acts) {
    th_vec2 off = th_sub(p, a), n = th_perp_right(direction);
    float s = th_dot(off, direction), distance;
    th_pbd_correction c;
    c.x = c.y = c.count = 0.0f;
    if (s > 0.0f && s < length) {
        if (!line_acts) return c;
        distance = th_dot(off, n);
    } else {
        if (s > 0.0f ? !b_acts : !a_acts) return c;
        if (s >= length) off = th_sub(off, th_scale(length, direction));
        distance = th_length(off);
        if (!(distance > TH_PBD_COINCIDENT)) return c; // on the corner: the contact stage decides
        n = th_scale(1.0f / distance, off);
    }
    float depth = radius - distance;
    if (!(depth > 0.0f)) return c;
    c.x = depth * n.x;
    c.y = depth * n.y;
    c.count = 1.0f;
    return c;
}

// The share of a sum of `count` corrections that is applied: omega / n.
TH_FORMULA float th_pbd_average(float averaging, float count) {
    return count > 0.0f ? th_divide(averaging, count) : 0.0f;
}

// ---- work space within a step
// Positions at the beginning of a sub-step lie in agents.substep, velocities in agents.substep_velocity, the drive of
// own people in agents.drive (move/substep.h).

enum {
    // Kept of a person, a whole number of TH_LANES; an agent that has more sees less far.
    TH_PBD_NEIGHBOURS = 64,
    TH_PBD_WALLS = 8 // wall edges kept of a person, the nearest; a thin wall has two
};

// Values of a group in a sub-step.
typedef struct th_pbd_group {
    int like; // the first group with the same parameters
    th_pbd_params params;
    th_pbd_avoidance avoid;
} th_pbd_group;

typedef struct th_pbd {
    int capacity, group_count;
    int iterations, stabilisation;
    bool equal_masses;          // every agent gives way, and half of it
    float *u_x, *u_y;           // displacement of every agent in this sub-step, frozen [m]
    float *next_u_x, *next_u_y; // what an iteration writes for own people
    // Own people: what avoidance has added to u; in stabilisation the shift; at the end the way to go [m].
    float *extra_x, *extra_y;
    float *inverse_mass; // 0: does not give way
    // Room for TH_PBD_NEIGHBOURS a person; within a block of TH_BLOCK people the lists lie one after the other:
    // of each first those to touch, then those to meet.
    uint32_t *neighbours;
    uint32_t *neighbour_start; // from the block's first
    uint32_t *touch_count, *meet_count;
    int *walls; // TH_PBD_WALLS a person, filled up with -1
    th_pbd_group *groups;
} th_pbd;

TH_BOTH static inline th_pbd *th_pbd_of(const th_world *world) {
    return (th_pbd *)world->model_state[TH_MOVE_PBD];
}

// The neighbours that an agent may touch in a sub-step and those it is going to meet; together TH_PBD_NEIGHBOURS at most.
typedef struct th_pbd_felt {
    uint32_t touch[TH_PBD_NEIGHBOURS], meet[TH_PBD_NEIGHBOURS];
    uint32_t touch_count, meet_count;
} th_pbd_felt;

// A pass over the own people among begin .. end. Passes read what earlier ones wrote of every agent and write
// only of these.
typedef void th_pbd_pass(th_world *world, const th_substep *step, const th_walls *walls,
                         uint32_t begin, uint32_t end);
// solve.c: the neighbours and walls that a person may touch or meet in this sub-step.
th_pbd_pass th_pbd_list_block;
// Out of the overlaps at the beginning of the sub-step: shifts into extra.
th_pbd_pass th_pbd_stabilise_block;
// One iteration: u -> next_u.
th_pbd_pass th_pbd_solve_block;
// u/h with cohesion and limits into next_velocity, the way to go into extra.
th_pbd_pass th_pbd_finish_block;

static inline uint32_t *th_pbd_neighbours(const th_pbd *pbd, uint32_t i) {
    return pbd->neighbours + (size_t)(i / TH_BLOCK) * TH_BLOCK * TH_PBD_NEIGHBOURS +
           pbd->neighbour_start[i];
}
TH_BOTH static inline bool th_pbd_own(const th_world *world, uint32_t i) {
    return th_substep_own(world, TH_MOVE_PBD, i);
}
TH_BOTH static inline const th_pbd_group *th_pbd_group_of(const th_world *world, uint32_t i) {
    return &th_pbd_of(world)->groups[world->agents.group[i]];
}
#endif
