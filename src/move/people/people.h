// People as measured. Of a few directions around the planner's an agent takes the one with the most progress; the speed
// in each is what the time gap to those in the way allows. Equations, sources and deviations: docs/models/people.md.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_MOVE_PEOPLE_H
#define TH_MOVE_PEOPLE_H
#include "formula/math.h"
#include "formula/params.h"
#include "formula/random.h"
#include "formula/vec.h"
#include "move/substep.h"

#define TH_MHT11 "Moussaid, Helbing, Theraulaz 2011"
#define TH_BODY "torso of 0.45 m by 0.25 m (Weidmann 1993) as an ellipse with the disc's area"
#define TH_CHEST "chest in resuscitation, half for each of two bodies: Tsitlik et al. 1983"
#define TH_PEOPLE_CHOICE "throng: one value for all experiments, docs/models/people.md"

#define TH_PEOPLE_PARAMS(X)                                                                        \
    X(separation_passes, 6, 0, 16, "-", "throng: overlaps below 4 cm in a jam of 300",             \
      "passes that push overlapping people apart after each step")                                 \
    X(body_depth, 0.745, 0.3, 1, "-", TH_BODY ": sqrt(0.25/0.45)",                                 \
      "half the depth of a body against its radius: how narrow an agent that turns the shoulders " \
      "is")                                                                                        \
    X(standing_yield, 0.12, 0.001, 0.5, "-", "throng: waiting agents hold their place",            \
      "how far people who stand on purpose give way, against 0.5 of those who walk")               \
    X(time_gap, 0.9, 0.1, 3, "s",                                                                  \
      "single file: 1.06 in Seyfried et al. 2005, less for wider bodies",                          \
      "T, time gap squarely behind a person")                                                      \
    X(side_time_gap, 0.3, 0, 1, "-", "zipper effect: Hoogendoorn, Daamen 2005",                    \
      "share of it that is kept beside a shoulder")                                                \
    X(anticipation_time, 0.7, 0, 3, "s", "Xu, Chraibi, Tordeux, Zhang 2021 take 1",                \
      "t_a, for which others are expected to go on as they do")                                    \
    X(relaxation_time, 0.3, 0.01, 2, "s", "Xu, Chraibi, Tordeux, Zhang 2021",                      \
      "time to reach the velocity wished for")                                                     \
    X(strip, 1.5, 1, 3, "-", "0.6 m of a walker with sway: Weidmann 1993",                         \
      "how far to the side others are in the way, in sums of radii")                               \
    X(square, 0.55, 0, 1, "-", TH_PEOPLE_CHOICE, "up to where they are squarely in the way")       \
    X(unsteadiness, 0.1, 0, 1, "m/s^1.5", "single file: Tordeux, Schadschneider 2016",             \
      "noise in the speed of people that follow others; with it files stop and go")                \
    X(unsteady_time, 5, 0.1, 100, "s", "single file: Tordeux, Schadschneider 2016",                \
      "time in which a deviation of that speed fades")                                             \
    X(standing_gap, 0.01, -0.2, 0.5, "m", TH_PEOPLE_CHOICE,                                        \
      "distance that people keep even while they stand, until they close up; mean")                \
    X(standing_spread, 0.06, 0, 0.3, "m",                                                          \
      "diversity lets some stand while others walk: Seyfried, Portz, Schadschneider 2010",         \
      "standard deviation of that distance among people")                                          \
    X(sight, 3, 0.5, 8, "m", "closing at 2.7 m/s, a second ahead", "how far people look")          \
    X(side, 0.2, -1, 1, "-", "people keep right: " TH_MHT11,                                       \
      "advantage of passing oncoming people on the right, of the speed they cost; below 0: left")  \
    X(side_time, 0.5, 0, 2, "s", "half of t_a: Xu, Chraibi, Tordeux, Zhang 2021",                  \
      "for which the sideways motion of oncoming people is expected to last")                      \
    X(habit, 0.1, 0, 2, "-", TH_PEOPLE_CHOICE, "advantage of the direction one goes already")      \
    X(wall_distance, 1.34, 0.5, 5, "-", TH_BODY ": sqrt(0.45/0.25)",                               \
      "distance kept from walls, in radii: half the width of the shoulders")                       \
    X(wall_time_gap, 0.6, 0.01, 2, "s", "a step and a half", "time gap to a wall ahead")           \
    X(wall_push, 0.3, 0, 5, "m/s", TH_PEOPLE_CHOICE, "speed off a wall that is touched")           \
    X(held_up, 0.2, 0, 1, "-", TH_PEOPLE_CHOICE,                                                   \
      "below this share of the preferred speed an agent waits")                                    \
    X(patience, 2, 0.1, 100, "s", TH_PEOPLE_CHOICE,                                                \
      "time in which people close up, and after which those held up try other ways")               \
    X(eagerness, 1, 0, 2, "-", "motivation: Adrian, Seyfried, Sieben 2020",                        \
      "how far people close up where others compete for the same place; 0: not at all")            \
    X(courtesy, 0.3, 0, 1, "m/s", TH_PEOPLE_CHOICE,                                                \
      "how much further ahead than it is an agent counts, per second waited beyond the patience")  \
    X(slow, 0.6, 0.01, 1, "-", TH_PEOPLE_CHOICE,                                                   \
      "below this share of the preferred speed people begin to close up")                          \
    X(calm, 3, 0.1, 100, "m", "as far as people look",                                             \
      "way over which they return to their usual gaps")                                            \
    X(waiting_gap, 0.55, 0, 1, "-", TH_PEOPLE_CHOICE,                                              \
      "share of the time gaps that is left to those who have closed up")                           \
    X(waiting_strip, 1.2, 1, 3, "-", TH_PEOPLE_CHOICE, "strip of those who have closed up")        \
    X(push, 0.7, 0, 1, "-", TH_PEOPLE_CHOICE,                                                      \
      "share of the preferred speed at which people that have waited press on against oncoming "   \
      "ones")                                                                                      \
    X(lean, 0.01, 0, 1, "-", TH_PEOPLE_CHOICE,                                                     \
      "share of the preferred speed with which people that have closed up press on those ahead")   \
    X(stiffness, 2745, 0, 1e6, "N/m", TH_CHEST, "force of two bodies over the way they overlap")   \
    X(stiffening, 27000, 0, 1e7, "N/m^2", TH_CHEST, "how it rises with that way")                  \
    X(friction, 1, 0, 100, "s/m", "half of kappa / k: Helbing, Farkas, Vicsek 2000",               \
      "friction of bodies that slide, against the force between them, per speed")

typedef struct th_people_params {
    TH_PEOPLE_PARAMS(TH_PARAM_MEMBER)
} th_people_params;

enum {
    TH_PEOPLE_WAITED,
    TH_PEOPLE_CLOSENESS,
    TH_PEOPLE_UNSTEADY,
    TH_PEOPLE_LEAD,
    TH_PEOPLE_FIELDS
};
enum { TH_PEOPLE_WAYS = 13 };
// Neighbours nearer than this are looked at first [m]: in a crowd they leave so little that few of the others can matter.
#define TH_PEOPLE_CLOSE 1.2f
#define TH_PEOPLE_FREE 1e3f // [m/s] no agent is in the way

// Directions that an agent looks in, from the planner's: 0, -+11, -+23, -+37, -+54, -+74, -+90 degrees, the right first; up to a
// whole number of vectors the last again.
enum { TH_PEOPLE_LANES = 16 };
#ifdef __CUDACC__ // a GPU keeps no tables for functions; CPUs load vectors from them
#define TH_PEOPLE_TABLE const
#else
#define TH_PEOPLE_TABLE static const
#endif
TH_FORMULA float th_people_way_cos(int k) {
    TH_PEOPLE_TABLE float c[TH_PEOPLE_LANES] = {1.0f,        0.98006658f, 0.98006658f, 0.92106099f,
                                                0.92106099f, 0.79608380f, 0.79608380f, 0.58168309f,
                                                0.58168309f, 0.26749883f, 0.26749883f, 0.0f,
                                                0.0f,        0.0f,        0.0f,        0.0f};
    return c[k];
}
TH_FORMULA float th_people_way_sin(int k) {
    TH_PEOPLE_TABLE float s[TH_PEOPLE_LANES] = {
        0.0f,        -0.19866933f, 0.19866933f, -0.38941834f, 0.38941834f, -0.60518641f,
        0.60518641f, -0.81341550f, 0.81341550f, -0.96355819f, 0.96355819f, -1.0f,
        1.0f,        1.0f,         1.0f,        1.0f};
    return s[k];
}
TH_FORMULA th_vec2 th_people_way(th_vec2 e, int k) {
    float c = th_people_way_cos(k), s = th_people_way_sin(k);
    return th_v(c * e.x - s * e.y, s * e.x + c * e.y);
}

// The space that an agent keeps clear now: it shrinks as the agent closes up.
typedef struct th_people_headway {
    float time_gap, side_share; // [s] squarely behind an agent; share of it beside one
    float strip, square; // how far to the side others count, and count in full, in sums of radii
    float anticipation;  // [s]
    float wall_time_gap, wall_distance; // [s], in radii
    float speed;                        // preferred [m/s]
    float standing;                     // kept beyond the bodies even while standing [m]
} th_people_headway;

TH_FORMULA th_people_headway th_people_headway_of(const th_people_params *p, float speed,
                                                  float closeness) {
    // The most eager still need a tenth of the gaps.
    float w = th_min(closeness, 1.0f),
          shorter = th_max(1.0f - (1.0f - p->waiting_gap) * closeness, 0.1f);
    // Just wider than the body is deep: shoulders turned.
    float turned = 1.05f * p->body_depth;
    th_people_headway h = {p->time_gap * shorter,
                           p->side_time_gap,
                           p->strip + (p->waiting_strip - p->strip) * w,
                           p->square,
                           p->anticipation_time,
                           p->wall_time_gap * shorter,
                           p->wall_distance + (turned - p->wall_distance) * w,
                           speed,
                           0.0f};
    return h;
}

// (3) The distance that an agent keeps even while it stands [m]: its own, always the same, and forgotten as it closes up. Below 0
// it ends where the depths of the bodies touch. The sum of four uniform numbers is nearly normal.
TH_FORMULA float th_people_standing_gap(const th_people_params *p, uint64_t seed, uint32_t id,
                                        float radius, float closeness) {
    th_random4 drawn = th_philox(seed, TH_STREAM_GAP, id, 0);
    float sum = th_uniform(drawn.v[0]) + th_uniform(drawn.v[1]) + th_uniform(drawn.v[2]) +
                th_uniform(drawn.v[3]);
    float own = p->standing_gap + p->standing_spread * 1.7320508f * (sum - 2.0f);
    return th_max(own, (p->body_depth - 1.0f) * 2.0f * radius) * th_max(1.0f - closeness, 0.0f);
}

// An agent in the way: what does not depend on the direction.
typedef struct th_people_obstacle {
    float dx, dy, apart, strip, touch; // [m], the square of `apart` [m2]
    float goes_x, goes_y;              // way within the anticipation time [m]
    float time, per_way, least, most;  // [s], [s/m]: T + t_a of (2) falls with the way aside
    float per_pass;                    // [1/s]
} th_people_obstacle;

TH_FORMULA th_people_obstacle th_people_obstacle_of(const th_people_headway *h, float dx, float dy,
                                                    float wx, float wy, float apart) {
    float strip = h->strip * apart, more = h->time_gap * (1.0f - h->side_share);
    float per_way = more / th_max(strip - h->square * apart, 1e-6f);
    float least = h->time_gap * h->side_share + h->anticipation;
    th_people_obstacle o = {dx,
                            dy,
                            apart,
                            strip,
                            apart * apart,
                            h->anticipation * wx,
                            h->anticipation * wy,
                            least + strip * per_way,
                            per_way,
                            least,
                            least + more,
                            h->speed / th_max(strip - apart, 1e-6f)};
    return o;
}

// (1) to (3): the speed in direction e that it allows; `apart` is the sum of the radii, 0: no neighbour. An agent beside
// the way, but nearer than `strip`, is passed the slower the nearer.
TH_FORMULA float th_people_allows(const th_people_obstacle *o, th_vec2 e) {
    float along = o->dx * e.x + o->dy * e.y, across = fabsf(o->dx * e.y - o->dy * e.x);
    const float nothing = 1e-9f; // not 0, for which compilers make two instructions
    float inside = th_max(o->touch - across * across, nothing);
    float gap = th_max(along - sqrtf(inside), nothing);
    float time = th_min(th_max(o->time - o->per_way * across, o->least), o->most);
    float speed = (gap + (o->goes_x * e.x + o->goes_y * e.y)) / time;
    float pass = o->per_pass * (across - o->apart);
    float least = ((along > 0.0f) & (across < o->strip)) ? 0.0f : TH_PEOPLE_FREE;
    return th_max(th_max(speed, pass), least);
}

TH_FORMULA float th_people_allowed(const th_people_headway *h, th_vec2 e, float dx, float dy,
                                   float wx, float wy, float apart) {
    th_people_obstacle o = th_people_obstacle_of(h, dx, dy, wx, wy, apart);
    return th_people_allows(&o, e);
}

// False: the neighbour allows more than `enough` in every direction and can be skipped. (1) and (2) with the longest
// time gap, from the least room that is left in any direction in which they are within the strip.
TH_FORMULA bool th_people_may_limit(const th_people_headway *h, float dx, float dy, float wx,
                                    float wy, float apart, float enough) {
    const float rounding = 1e-3f; // [m], far above that of the sums
    float strip = h->strip * apart, square = dx * dx + dy * dy;
    float along = sqrtf(th_max(square - strip * strip, 0.0f));
    float towards = wx * dx + wy * dy, past = fabsf(wx * dy - wy * dx);
    // |d| is at most along + strip.
    float slowest = th_min(towards * (along + strip), towards * along) - past * strip;
    float room = along - apart - enough * (h->time_gap + h->anticipation) - rounding;
    return room * square + h->anticipation * slowest < 0.0f;
}

// How much further ahead than it is an agent counts that has waited: the others let it in [m].
TH_FORMULA float th_people_lead(const th_people_params *p, float waited) {
    return p->courtesy * th_max(waited - p->patience, 0.0f);
}

// (5) Of two agents in each other's way that do not meet head on, the one further ahead, by the `lead` that i has over j
// too, goes first; of equals the lower id. Agents that stand, f = 0, let no agent in.
TH_FORMULA bool th_people_goes_first(th_vec2 e, float dx, float dy, th_vec2 f, float lead,
                                     uint32_t id, uint32_t other) {
    float theirs = dx * e.x + dy * e.y, mine = lead * th_dot(f, f) - (dx * f.x + dy * f.y);
    return e.x * f.x + e.y * f.y > -0.7f && (mine > theirs || (mine == theirs && id < other));
}

// (4) The speed in direction e that a wall from a, `length` along, allows to a body that wants `wide` on either side
// and can make itself as narrow as `narrow`: towards it the time gap counts, past its ends the room there is.
TH_FORMULA float th_people_wall_allows(const th_people_headway *p, th_vec2 e, float speed,
                                       th_vec2 a, th_vec2 along, float length, float narrow,
                                       float wide) {
    float allowed = TH_PEOPLE_FREE;
    bool left = th_det(along, a) < 0.0f;
    th_vec2 n = left ? th_perp_left(along) : th_perp_right(along);
    float distance = -th_dot(a, n), towards = -th_dot(e, n);
    if (towards > 0.05f) {
        float way = distance / towards; // of the centre to the line of the wall
        float at = th_dot(th_sub(th_scale(way, e), a), along);
        if (at >= 0.0f && at <= length)
            allowed = th_max(distance - wide, 0.0f) / (towards * p->wall_time_gap);
    }
    for (int end = 0; end < 2; ++end) {
        th_vec2 d = end ? th_add(a, th_scale(length, along)) : a;
        float ahead = th_dot(d, e), across = fabsf(th_det(d, e));
        if (ahead <= 0.0f || across >= wide) continue;
        float pass = speed * th_max(across - narrow, 0.0f) / (wide - narrow);
        float way = ahead - sqrtf(wide * wide - across * across);
        allowed = th_min(allowed, th_max(pass, way / p->wall_time_gap));
    }
    return th_max(allowed, 0.0f);
}

// Input of looking around.
typedef struct th_people_view {
    const th_people_params *params;
    th_vec2 p, v, e; // position, velocity, preferred direction
    float speed;     // preferred
    float radius, waited, closeness;
    float unsteady; // deviation of the speed behind others [m/s]
    float lead;     // th_people_lead, as others see it [m]
    float narrow;   // half of what the body needs between walls [m]
    bool rigid;     // does not turn the shoulders
    th_people_headway headway;
} th_people_view;

TH_BOTH static inline const th_people_params *th_people_params_of(const th_world *world,
                                                                  uint32_t i) {
    return (const th_people_params *)(const void *)world->groups[world->agents.group[i]]
        .move_params;
}

// The room that rigid bodies keep from walls, against the radius: as deep as wide, they have no shoulders to turn.
#define TH_PEOPLE_RIGID_ROOM 1.05f

TH_FORMULA th_people_view th_people_view_of(const th_world *world, const th_walls *walls,
                                            uint32_t i) {
    const th_agents *a = &world->agents;
    th_vec2 preferred =
        a->phase[i] == TH_PHASE_WALKING ? th_v(a->preferred_x[i], a->preferred_y[i]) : th_v(0, 0);
    float speed = th_length(preferred);
    const th_people_params *p = th_people_params_of(world, i);
    float waited = th_own_floats(world, TH_MOVE_PEOPLE, TH_PEOPLE_WAITED)[i];
    float closeness = th_own_floats(world, TH_MOVE_PEOPLE, TH_PEOPLE_CLOSENESS)[i];
    float unsteady = th_own_floats(world, TH_MOVE_PEOPLE, TH_PEOPLE_UNSTEADY)[i];
    th_people_view view = {p,
                           th_position(a, i),
                           th_velocity(a, i),
                           speed > 1e-6f ? th_scale(1.0f / speed, preferred) : th_v(0, 0),
                           speed,
                           a->radius[i],
                           waited,
                           closeness,
                           unsteady,
                           th_own_floats(world, TH_MOVE_PEOPLE, TH_PEOPLE_LEAD)[i],
                           p->body_depth * a->radius[i],
                           th_is_rigid(world, i),
                           th_people_headway_of(p, speed, closeness)};
    view.headway.standing =
        th_people_standing_gap(p, world->seed, a->id[i], a->radius[i], closeness);
    if (view.rigid) {
        view.narrow = th_wall_radius_here(world, walls, i);
        view.headway.wall_distance = TH_PEOPLE_RIGID_ROOM * view.narrow / view.radius;
    }
    return view;
}

// Notes what others see of the agent, before any agent looks: the direction in which it walks (unit, or 0), and the lead that
// its waiting gives it.
TH_FORMULA void th_people_show(th_world *world, uint32_t i) {
    th_agents *a = &world->agents;
    th_vec2 way = th_v(0, 0);
    if (a->phase[i] == TH_PHASE_WALKING) way = th_unit(th_v(a->preferred_x[i], a->preferred_y[i]));
    a->heading_x[i] = way.x;
    a->heading_y[i] = way.y;
    float waited = th_own_floats(world, TH_MOVE_PEOPLE, TH_PEOPLE_WAITED)[i];
    th_own_floats(world, TH_MOVE_PEOPLE, TH_PEOPLE_LEAD)[i] =
        th_people_lead(th_people_params_of(world, i), waited);
}

// An agent that may matter to i.
typedef struct th_people_seen {
    float dx, dy, vx, vy, apart;
} th_people_seen;

// The perception of an agent: sums over the agents around it.
typedef struct th_people_met {
    float oncoming;    // speed that oncoming people allow [m/s]
    float meets;       // 0 to 1: a neighbour's way meets the own
    float right, left; // 0 to 1: a neighbour is abreast on that side
} th_people_met;

TH_FORMULA th_people_met th_people_met_none(void) {
    th_people_met none = {TH_PEOPLE_FREE, 0.0f, 0.0f, 0.0f};
    return none;
}

// (7) Neighbours compete for the place ahead where one is abreast on either side, up to a body away, or where the way of
// one meets the own within twice the anticipation time. In a file, in two side by side, and where ways have room between
// them, none competes.
TH_FORMULA float th_people_rivalry(const th_people_met *met) {
    return th_max(met->meets, th_min(met->right, met->left));
}

// A neighbour at d that walks along f.
TH_FORMULA void th_people_meet(const th_people_view *i, float dx, float dy, float apart, th_vec2 f,
                               th_people_met *met) {
    if (!(th_dot(i->e, f) > 0.0f)) return;
    float along = i->e.x * dx + i->e.y * dy, left = i->e.x * dy - i->e.y * dx;
    float aside = fabsf(left), square = dx * dx + dy * dy;
    if (aside > along && square < 4.0f * apart * apart) {
        float distance = sqrtf(square);
        float beside = th_min(2.0f * (aside - along) / th_max(distance, 1e-6f), 1.0f) *
                       th_min(4.0f - 2.0f * distance / apart, 1.0f);
        if (left > 0.0f)
            met->left = th_max(met->left, beside);
        else
            met->right = th_max(met->right, beside);
    }
    float turn = i->e.x * f.y - i->e.y * f.x, closing = left > 0.0f ? -turn : turn;
    float way = i->speed * i->params->anticipation_time * th_max(closing, 1e-6f);
    if (aside < 2.0f * way) met->meets = th_max(met->meets, th_min(2.0f - aside / way, 1.0f));
}

// Not more than a body behind.
TH_FORMULA bool th_people_is_ahead(const th_people_view *i, float dx, float dy) {
    return dx * i->e.x + dy * i->e.y >= -0.5f;
}

// The sum of the radii of i and j with shoulders turned, of those that turn them [m].
TH_FORMULA float th_people_turned(const th_world *world, const th_people_view *i, uint32_t j) {
    float depth = i->params->body_depth, other = world->agents.radius[j];
    bool rigid = th_is_rigid(world, j);
    if (!i->rigid && !rigid) return depth * (i->radius + other);
    return (i->rigid ? 1.0f : depth) * i->radius + (rigid ? 1.0f : depth) * other;
}

// False: behind, gone, on the ground, or an agent that lets i go first.
TH_FORMULA bool th_people_notice(const th_world *world, const th_people_view *i, uint32_t self,
                                 uint32_t j, th_people_seen *seen, th_people_met *met) {
    const th_agents *a = &world->agents;
    float dx = a->position_x[j] - i->p.x, dy = a->position_y[j] - i->p.y;
    if (!th_in_the_way(a->phase[j]) || !th_people_is_ahead(i, dx, dy)) return false;
    bool walks = a->phase[j] == TH_PHASE_WALKING;
    th_vec2 f = th_v(a->heading_x[j], a->heading_y[j]);
    float lead = i->lead - th_own_floats(world, TH_MOVE_PEOPLE, TH_PEOPLE_LEAD)[j];
    if (th_people_goes_first(i->e, dx, dy, f, lead, a->id[self], a->id[j])) return false;
    seen->dx = dx;
    seen->dy = dy;
    seen->vx = a->velocity_x[j];
    seen->vy = a->velocity_y[j];
    seen->apart = i->radius + a->radius[j];
    th_people_meet(i, dx, dy, seen->apart, f, met);
    seen->apart += i->headway.standing;
    // An agent that has waited squeezes past people that stand, if those can give way, and past those that hardly move.
    bool stands = walks ? a->speed[j] < i->params->held_up * i->speed : th_moves(a->phase[j]);
    if (stands && i->waited > i->params->patience)
        seen->apart = th_min(seen->apart, th_people_turned(world, i, j));
    if (th_dot(i->e, f) < -0.5f) {
        float drift = i->params->side_time * (seen->vy * i->e.x - seen->vx * i->e.y);
        seen->dx -= drift * i->e.y;
        seen->dy += drift * i->e.x;
        seen->apart = th_people_turned(world, i, j);
        met->oncoming = th_min(met->oncoming, th_people_allowed(&i->headway, i->e, dx, dy, seen->vx,
                                                                seen->vy, seen->apart));
    }
    return true;
}

// A neighbour that allows this speed in every direction changes nothing [m/s].
TH_FORMULA float th_people_enough(const th_people_view *i, const float *limit) {
    float most = 0.0f;
    for (int k = 0; k < TH_PEOPLE_WAYS; ++k) most = th_max(most, limit[k]);
    return th_min(most, i->speed);
}

// How far an agent looks whom near neighbours leave `enough` [m/s]: the others allow that much, even those that come with
// its own speed.
TH_FORMULA float th_people_range(const th_world *world, const th_people_view *i, float enough) {
    const th_people_headway *h = &i->headway;
    float apart = i->radius + world->max_radius + th_max(h->standing, 0.0f);
    float strip = h->strip * apart;
    float ahead = apart + enough * (h->time_gap + h->anticipation) + h->anticipation * i->speed;
    return th_min(sqrtf(ahead * ahead + strip * strip), i->params->sight);
}

// False: a neighbour at d, moving with w and heading for f, over which i has a `lead`, is out of range, behind i, or allows `enough` in every
// direction. For those it is true of th_people_notice decides.
TH_FORMULA bool th_people_may_matter(const th_people_headway *h, th_vec2 e, float dx, float dy,
                                     float wx, float wy, float fx, float fy, float lead,
                                     float apart, float from2, float range2, float enough) {
    float square = dx * dx + dy * dy;
    bool ahead = dx * e.x + dy * e.y >= -0.5f, near = (square >= from2) & (square < range2);
    float along = dx * e.x + dy * e.y;
    float theirs = lead * (fx * fx + fy * fy) - (dx * fx + dy * fy), same = e.x * fx + e.y * fy;
    bool lets_go = (same > -0.7f) & (theirs > along); // th_people_goes_first
    bool oncoming = same < -0.5f;                     // these are expected elsewhere than they are
    return ahead & near & !lets_go &
           (oncoming | th_people_may_limit(h, dx, dy, wx, wy, apart, enough));
}

// The cells with all that are within `range` of i and not behind it: the box around the disc less what is behind.
TH_FORMULA th_rows th_people_rows_ahead(const th_level_grid *grid, const th_people_view *i,
                                        float range) {
    const float behind = 0.51f; // [m] th_people_is_ahead, and rounding
    float chord = sqrtf(th_max(range * range - behind * behind, 0.0f));
    float across_x = chord * fabsf(i->e.y), across_y = chord * fabsf(i->e.x);
    float back_x = behind * i->e.x, back_y = behind * i->e.y;
    // The disc's own extreme where it is ahead, else an end of the chord.
    float left = range * i->e.x <= behind ? range : across_x + back_x;
    float right = range * i->e.x >= -behind ? range : across_x - back_x;
    float down = range * i->e.y <= behind ? range : across_y + back_y;
    float up = range * i->e.y >= -behind ? range : across_y - back_y;
    th_rows rows = {th_grid_row(grid, i->p.y - down), th_grid_row(grid, i->p.y + up),
                    th_grid_column(grid, i->p.x - left), th_grid_column(grid, i->p.x + right)};
    return rows;
}

// Portions of those within sight of i, th_near and then those across links; -1: there are no more.
typedef struct th_people_around {
    th_near near;
    bool more, linked, hides;
} th_people_around;

TH_BOTH static inline th_people_around th_people_around_of(const th_world *world,
                                                           const th_walls *walls, uint32_t self,
                                                           const th_people_view *i) {
    th_substep now = {TH_MOVE_PEOPLE, 1, 0, world->dt, 0.0f, 0.0f, false};
    int level = (int)world->agents.level[self];
    th_people_around around;
    around.near = th_near_begin(world, &now, (uint32_t)level, i->p.x, i->p.y, i->params->sight);
    around.more = true;
    around.linked = world->scene->link_count > 0;
    around.hides = walls->count > 0 && th_walls_maybe_near(walls, level, i->p);
    return around;
}

TH_FORMULA int th_people_around_next(th_people_around *around, const th_world *world,
                                     const th_walls *walls, uint32_t self, const th_people_view *i,
                                     uint32_t *list) {
    const th_agents *a = &world->agents;
    float range = i->params->sight;
    if (around->more) {
        int count = th_near_next(&around->near, a->position_x, a->position_y, self, i->p.x, i->p.y,
                                 range, list);
        around->more = count == TH_NEAR_MAX;
        return around->hides ? th_drop_hidden(world, walls, self, list, count) : count;
    }
    if (!around->linked) return -1;
    around->linked = false;
    return th_linked_neighbours(world, self, range, list, TH_LINKED_MAX);
}

TH_BOTH static inline void th_people_walls(const th_walls *walls, int level,
                                           const th_people_view *i, float *limit) {
    enum { MOST = 16 };
    int found[MOST];
    float narrow = i->narrow, wide = i->headway.wall_distance * i->radius;
    float range = wide + i->speed * i->headway.wall_time_gap + 0.1f;
    int count = th_walls_near(walls, level, i->p, range, found, NULL, MOST);
    for (int w = 0; w < count; ++w) {
        const th_wall *wall = &walls->walls[found[w]];
        th_vec2 a = th_sub(wall->a, i->p);
        for (int k = 0; k < TH_PEOPLE_WAYS; ++k) {
            float allowed = th_people_wall_allows(&i->headway, th_people_way(i->e, k), i->speed, a,
                                                  wall->direction, wall->length, narrow, wide);
            limit[k] = th_min(limit[k], allowed);
        }
    }
}

// Away from walls nearer than shoulders need [m/s].
TH_BOTH static inline th_vec2 th_people_off_walls(const th_walls *walls, int level,
                                                  const th_people_view *i) {
    enum { POINTS = 8 };
    th_vec2 points[POINTS], sum = th_v(0, 0);
    float wanted = i->headway.wall_distance * i->radius;
    int count = th_wall_points(walls, level, i->p, wanted, points, POINTS);
    for (int k = 0; k < count; ++k) {
        th_vec2 off = th_sub(i->p, points[k]);
        float distance = th_length(off);
        if (distance > 1e-4f)
            sum = th_add(
                sum, th_scale(i->params->wall_push * (1.0f - distance / wanted) / distance, off));
    }
    return sum;
}

// (6) The velocity wished for, of the speeds allowed in each direction. Going sideways is worth a little too: it is how
// an agent that stands face to face with another gets past. An agent that has waited long likes one direction, drawn
// once a second, and presses on when it is oncoming people that are in the way: two crowds that stop for each other
// would stand for good.
TH_FORMULA th_vec2 th_people_choose(const th_people_view *i, const float *limit, float oncoming,
                                    th_random4 drawn) {
    const float sideways = 0.05f, liking = 0.5f;
    const th_people_params *p = i->params;
    bool impatient = i->waited > p->patience;
    float push = impatient && oncoming < p->held_up * i->speed ? p->push * i->speed : 0.0f;
    float right = p->side * (i->speed - th_min(oncoming, i->speed));
    float along = p->habit * th_dot(i->v, i->e), left = p->habit * th_det(i->e, i->v);
    float score[TH_PEOPLE_WAYS];
    for (int k = 0; k < TH_PEOPLE_WAYS; ++k) {
        float c = th_people_way_cos(k), s = th_people_way_sin(k);
        float speed = th_min(th_max(limit[k], push), i->speed);
        score[k] = speed * (c + sideways) + (c * along + s * left) + (s < 0.0f ? right : 0.0f);
    }
    if (impatient) {
        int liked = (int)(th_uniform(drawn.v[0]) * (float)TH_PEOPLE_WAYS);
        score[liked] += (liking - sideways) * th_min(th_max(limit[liked], push), i->speed);
    }
    int best = 0;
    for (int k = 1; k < TH_PEOPLE_WAYS; ++k) best = score[k] > score[best] ? k : best;
    return th_scale(th_min(th_max(limit[best], push), i->speed), th_people_way(i->e, best));
}

// For how long an agent has been held up: grows to twice the patience, and is forgotten half as fast.
TH_FORMULA float th_people_waited(const th_people_view *i, float dt) {
    const th_people_params *p = i->params;
    bool waits = th_dot(i->v, i->e) < p->held_up * i->speed;
    return waits ? th_min(i->waited + dt, 2.0f * p->patience) : th_max(i->waited - 0.5f * dt, 0.0f);
}

// (7) How far an agent has closed up, 0 to `eagerness`: to rivals, or to walls that leave less room than people do. It is forgotten by walking, so that people that leave a jam
// through a passage keep close to each other.
TH_FORMULA float th_people_closeness(const th_people_view *i, float rival, float dt) {
    const th_people_params *p = i->params;
    float slow = th_clamp(1.0f - th_dot(i->v, i->e) / (p->slow * i->speed), 0.0f, 1.0f);
    float aim = p->eagerness * th_min(2.0f * slow * rival, 1.0f);
    float rate = aim > i->closeness ? 1.0f / p->patience : th_length(i->v) / p->calm;
    return i->closeness + (1.0f - th_exp(-dt * rate)) * (aim - i->closeness);
}

// (8) People do not follow evenly: the speed that others allow gets a deviation. The slower, the more of it counts; where
// there is no room it changes nothing.
TH_FORMULA float th_people_unsteady_limit(const th_people_view *i, float limit) {
    float allowed = th_max(limit, 0.0f), part = th_max(1.0f - allowed / i->speed, 0.0f);
    return th_min(th_max(allowed + part * i->unsteady, 0.0f), 2.0f * allowed);
}

// An Ornstein-Uhlenbeck process, exact for any time step. Only those that follow draw.
TH_FORMULA float th_people_unsteady(const th_people_view *i, const th_world *world, uint32_t self,
                                    bool follows) {
    const th_people_params *p = i->params;
    float kept = th_exp(-world->dt / p->unsteady_time);
    if (!follows) return kept * i->unsteady;
    float spread = p->unsteadiness * sqrtf(0.5f * p->unsteady_time * (1.0f - kept * kept));
    th_random4 drawn =
        th_philox(world->seed, TH_STREAM_UNSTEADY, world->agents.id[self], world->step_count);
    // Four uniform numbers make nearly a normal one of variance 1/3.
    float sum = th_uniform(drawn.v[0]) + th_uniform(drawn.v[1]) + th_uniform(drawn.v[2]) +
                th_uniform(drawn.v[3]);
    return kept * i->unsteady + spread * 1.7320508f * (sum - 2.0f);
}

// (9) People that have closed up lean on those ahead, whatever these allow: with less than m v0 / tau, the drive of a
// walker, in direction k [m/s].
TH_FORMULA float th_people_lean(const th_people_view *i, int k) {
    return i->params->lean * i->closeness * i->closeness * i->speed * th_people_way_cos(k);
}

// Chooses a walking agent's velocity from the speeds that people allow: `limit` gets those that walls allow too.
typedef struct th_people_wish {
    th_vec2 chosen, off_walls; // [m/s]
    bool walled;               // walls allow less than people do on the way preferred
} th_people_wish;

TH_FORMULA th_people_wish th_people_wish_of(const th_world *world, const th_walls *walls,
                                            uint32_t self, const th_people_view *i, float *limit,
                                            th_people_met met) {
    const th_agents *a = &world->agents;
    int level = (int)a->level[self];
    bool near = walls->count > 0 && th_walls_maybe_near(walls, level, i->p);
    for (int k = 0; k < TH_PEOPLE_WAYS; ++k)
        limit[k] = th_max(th_people_unsteady_limit(i, limit[k]), th_people_lean(i, k));
    float allowed = limit[0];
    if (near) th_people_walls(walls, level, i, limit);
    th_random4 drawn = {{0, 0, 0, 0}};
    if (i->waited > i->params->patience) { // only they use it
        // Agents change their direction at different moments.
        uint64_t second = (uint64_t)(world->time + 0.125 * (double)(a->id[self] % 8u));
        drawn = th_philox(world->seed, TH_STREAM_OTHER_WAY, a->id[self], second);
    }
    th_people_wish wish;
    wish.walled = limit[0] < allowed;
    wish.chosen = th_people_choose(i, limit, met.oncoming, drawn);
    wish.off_walls = near ? th_people_off_walls(walls, level, i) : th_v(0, 0);
    return wish;
}

TH_FORMULA void th_people_take(th_world *world, const th_walls *walls, uint32_t self,
                               const th_people_view *i, float *limit, th_people_met met) {
    th_agents *a = &world->agents;
    th_vec2 wish = th_v(0, 0);
    float waited = 0.0f, closeness = 0.0f, unsteady = 0.0f;
    if (i->speed > 0.0f) {
        unsteady = th_people_unsteady(i, world, self, limit[0] < i->speed);
        th_people_wish both = th_people_wish_of(world, walls, self, i, limit, met);
        wish = th_add(both.chosen, both.off_walls);
        waited = th_people_waited(i, world->dt);
        closeness = th_people_closeness(i, both.walled ? 1.0f : th_people_rivalry(&met), world->dt);
    }
    float share = 1.0f - th_exp(-world->dt / i->params->relaxation_time);
    th_vec2 v = th_add(i->v, th_scale(share, th_sub(wish, i->v)));
    // Contact stops those that lean, so that they set out anew in every step: what drives them must not depend on its
    // length.
    float leans = th_min(th_people_lean(i, 0), th_length(wish));
    th_vec2 e = th_unit(wish);
    v = th_add(v, th_scale(th_max(leans - th_dot(v, e), 0.0f), e));
    a->next_velocity_x[self] = v.x;
    a->next_velocity_y[self] = v.y;
    a->next_position_x[self] = i->p.x + world->dt * v.x;
    a->next_position_y[self] = i->p.y + world->dt * v.y;
    th_own_floats(world, TH_MOVE_PEOPLE, TH_PEOPLE_WAITED)[self] = waited;
    th_own_floats(world, TH_MOVE_PEOPLE, TH_PEOPLE_CLOSENESS)[self] = closeness;
    th_own_floats(world, TH_MOVE_PEOPLE, TH_PEOPLE_UNSTEADY)[self] = unsteady;
}
#endif
