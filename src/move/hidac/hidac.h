// HiDAC, the low level: Pelechano, Allbeck, Badler 2007, "Controlling individual agents in high-density crowd
// simulation" (PAB07). Equation numbers are the paper's. Gaps filled, changes and their reasons: docs/models/hidac.md.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_MOVE_HIDAC_H
#define TH_MOVE_HIDAC_H
#include "formula/math.h"
#include "formula/random.h"
#include "move/hidac/view.h"
#include "state/exits.h"

// (4) to (6): the part of a unit direction that leads past something at d; (d x v) x d is |d|^2 times it. (0, 0) where
// d is along v.
TH_FORMULA th_vec2 th_hidac_tangent(th_vec2 direction, th_vec2 d) {
    float d2 = th_length2(d);
    if (d2 <= 0.0f) return th_v(0.0f, 0.0f);
    th_vec2 t = th_sub(direction, th_scale(th_dot(direction, d) / d2, d));
    float length = th_length(t);
    return length > 0.05f ? th_scale(1.0f / length, t) : th_v(0.0f, 0.0f);
}

// The side to turn to in front of an agent straight ahead.
TH_FORMULA th_vec2 th_hidac_aside(const th_hidac_params *p, th_vec2 direction) {
    return p->keep_side < 0.0f ? th_perp_left(direction) : th_perp_right(direction);
}

// Does an agent at `distance` count for avoidance, by its direction?
TH_FORMULA bool th_hidac_selects(const th_hidac_view *i, float distance, bool oncoming) {
    float near = th_hidac_near(i);
    if (i->params->oncoming_first > 0.0f) return oncoming || distance < th_max(near, 0.5f);
    return !(oncoming && distance < near);
}

// Cosine of the angle within which an agent comes straight on. It takes a tenth of a step, so it is computed when one
// comes.
TH_FORMULA float th_hidac_cos_side(th_hidac_view *i) {
    const th_hidac_params *p = i->params;
    if (i->cos_side >= 0.0f) return i->cos_side;
    float dense = p->rectangle_loose > p->rectangle_dense
                      ? th_clamp((p->rectangle_loose - i->rectangle) /
                                     (p->rectangle_loose - p->rectangle_dense),
                                 0.0f, 1.0f)
                      : 0.0f;
    double sine, cosine;
    float angle = p->side_angle_loose + dense * (p->side_angle_dense - p->side_angle_loose);
    th_sincos_turn((double)angle / 360.0, &sine, &cosine);
    i->cos_side = th_max((float)cosine, 0.0f);
    return i->cos_side;
}

// Does an agent at d with velocity u come straight on to one that goes along f?
TH_FORMULA bool th_hidac_head_on(th_hidac_view *i, th_vec2 f, th_vec2 d, float distance,
                                 th_vec2 u) {
    float towards = th_dot(f, u), ahead = th_dot(f, d);
    if (!(towards < 0.0f && ahead > 0.0f)) return false;
    float cosine = th_hidac_cos_side(i);
    return towards < -cosine * th_length(u) && ahead > cosine * distance;
}

// (7) to (9): how much an agent at q with velocity u turns i away; `against`: an agent that wants to go the other way.
TH_FORMULA th_vec2 th_hidac_avoidance(th_hidac_view *i, th_vec2 d, float distance, th_vec2 u,
                                      bool against) {
    const th_hidac_params *p = i->params;
    float along = th_dot(i->heading, u);
    if (!th_hidac_selects(i, distance, along < 0.0f)) return th_v(0.0f, 0.0f);
    th_vec2 f = against ? i->along_walls : i->heading;
    th_vec2 t = p->keep_side != 0.0f && th_hidac_head_on(i, f, d, distance, u)
                    ? th_hidac_aside(p, f)
                    : th_hidac_tangent(f, d);
    float short_of = distance - i->rectangle;
    float w_o = along > 0.0f ? p->same_way_weight : p->oncoming_weight;
    return th_scale(short_of * short_of * w_o, t);
}

// (13): how far an agent at -away moves i off.
TH_FORMULA th_vec2 th_hidac_push(th_vec2 away, float distance, float overlap) {
    return distance > TH_COINCIDENT ? th_scale(overlap / distance, away) : th_v(0.0f, 0.0f);
}

TH_BOTH static inline bool th_hidac_hidden(const th_world *world, const th_walls *walls,
                                           const th_hidac_view *i, uint32_t j, float distance) {
    return distance > i->clear && i->params->line_of_sight > 0.0f && walls->count > 0 &&
           th_hidden(world, walls, i->self, j);
}

// An agent on the ground ahead: past the nearest point of the body, to the right where it lies straight ahead.
TH_BOTH static inline void th_hidac_see_fallen(const th_world *world, th_hidac_view *i, uint32_t j,
                                               th_vec2 q) {
    th_vec2 along = th_v(th_own_floats(world, TH_MOVE_HIDAC, TH_HIDAC_HEADING_X)[j],
                         th_own_floats(world, TH_MOVE_HIDAC, TH_HIDAC_HEADING_Y)[j]);
    th_vec2 off = th_sub(i->p, q), across = th_perp_left(along);
    float x =
        th_clamp(th_dot(off, along), -0.5f * TH_HIDAC_BODY_LENGTH, 0.5f * TH_HIDAC_BODY_LENGTH);
    float y =
        th_clamp(th_dot(off, across), -0.5f * TH_HIDAC_BODY_WIDTH, 0.5f * TH_HIDAC_BODY_WIDTH);
    th_vec2 d = th_sub(th_add(q, th_add(th_scale(x, along), th_scale(y, across))), i->p);
    float distance = th_length(d);
    if (distance >= i->fallen_distance || th_dot(d, i->wish) <= 0.0f) return;
    th_vec2 t = th_hidac_tangent(i->wish, th_sub(q, i->p));
    i->fallen_distance = distance;
    i->avoid_fallen = th_length2(t) > 0.0f ? t : th_hidac_aside(i->params, i->wish);
}

// The velocity of agent j as i sees it. An agent in panic, which no timer frees, sees the preferred velocity of agents
// held up face to face with it: two agents that stop each other would otherwise see each other stand, and neither would
// step aside.
TH_BOTH static inline th_vec2 th_hidac_course(const th_hidac_view *i, const th_agents *a,
                                              uint32_t j) {
    th_vec2 v = th_velocity(a, j), wanted = th_v(a->preferred_x[j], a->preferred_y[j]);
    bool held_up =
        i->panics && th_length2(v) < 0.01f && th_dot(wanted, i->wish) < -0.9f * th_length(wanted);
    return held_up ? wanted : v;
}

// Random numbers of an agent: with the largest step those that it has for good.
TH_FORMULA th_random4 th_hidac_random(const th_world *world, uint32_t id, uint64_t step) {
    return th_philox(world->seed, TH_STREAM_HIDAC, id, step);
}

// Traits drawn once per agent: 0 panic, 1 manners, 2 lying.
TH_BOTH static inline float th_hidac_draw(const th_world *world, uint32_t self, int k) {
    return th_uniform(th_hidac_random(world, world->agents.id[self], UINT64_MAX).v[k]);
}

// Does j push instead of stopping: in panic, or by its manners?
TH_BOTH static inline bool th_hidac_pushes(const th_world *world, uint32_t j) {
    if (world->groups[world->agents.group[j]].move != TH_MOVE_HIDAC) return false;
    uint32_t manners = th_own_words(world, TH_MOVE_HIDAC, TH_HIDAC_MANNERS)[j];
    float share = th_hidac_params_of(world, j)->pushers;
    return th_own_floats(world, TH_MOVE_HIDAC, TH_HIDAC_PANIC)[j] > 0.5f || manners == 2 ||
           (manners == 0 && share > 0.0f && th_hidac_draw(world, j, 1) < share);
}

// The push of an agent that leans on a neighbour at `toward`, a unit vector: half of what it wants to be faster that way, as
// two equal bodies share their momentum. `goes` is its velocity averaged over fall_time: contact corrects velocities back and
// forth, more so with a long step, and since pushes do not pull, each correction would count on one side only.
TH_FORMULA th_vec2 th_hidac_lean(th_vec2 wanted, th_vec2 goes, th_vec2 toward) {
    return th_scale(0.5f * th_max(th_dot(th_sub(wanted, goes), toward), 0.0f), toward);
}

// The share of its push that an agent passes on across a gap [m]: all where bodies touch or nearly do, less where arms have to
// reach.
// In a crowd that presses gaps are of one to three centimetres, more with a short step than with a long one, so a slope that
// began at contact would make falls depend on the step.
TH_FORMULA float th_hidac_reaches(float gap) {
    return th_clamp(2.0f - 2.0f * gap / TH_HIDAC_LEANS, 0.0f, 1.0f);
}

// Adds what j, leaning on i, wants: its preferred velocity at the pace of panic.
TH_BOTH static inline void th_hidac_feel(const th_world *world, th_hidac_view *i, uint32_t j,
                                         th_vec2 away, float distance) {
    const th_agents *a = &world->agents;
    if (distance <= TH_COINCIDENT || !th_hidac_pushes(world, j)) return;
    bool panics = th_own_floats(world, TH_MOVE_HIDAC, TH_HIDAC_PANIC)[j] > 0.5f;
    float pace = panics ? th_hidac_params_of(world, j)->panic_speed : 1.0f;
    th_vec2 wanted = th_scale(pace, th_v(a->preferred_x[j], a->preferred_y[j]));
    th_vec2 goes = th_v(th_own_floats(world, TH_MOVE_HIDAC, TH_HIDAC_GOES_X)[j],
                        th_own_floats(world, TH_MOVE_HIDAC, TH_HIDAC_GOES_Y)[j]);
    float reaches = th_hidac_reaches(distance - i->radius - a->radius[j]);
    th_vec2 push = th_hidac_lean(wanted, goes, th_scale(1.0f / distance, away));
    i->leaned_on = th_add(i->leaned_on, th_scale(reaches, push));
}

TH_BOTH static inline void th_hidac_see(const th_world *world, const th_walls *walls,
                                        th_hidac_view *i, uint32_t j) {
    const th_agents *a = &world->agents;
    const th_hidac_params *p = i->params;
    th_vec2 q = th_position(a, j), d = th_sub(q, i->p);
    if (a->phase[j] == TH_PHASE_FALLEN) {
        if (!th_hidac_hidden(world, walls, i, j, th_length(d))) th_hidac_see_fallen(world, i, j, q);
        return;
    }
    float along = th_dot(d, i->wish), side = th_det(i->wish, d);
    float distance2 = th_length2(d), touch = i->radius + a->radius[j] + i->space;
    float leaning = i->radius + a->radius[j] + TH_HIDAC_LEANS;
    float half_width2 = i->half_width * i->half_width;
    bool seen = th_hidac_within(along, side, th_hidac_longest(i), half_width2);
    bool touches = distance2 < touch * touch, leans = distance2 < leaning * leaning;
    if (!seen && !touches && !leans) return;
    float distance = sqrtf(distance2);
    if (th_hidac_hidden(world, walls, i, j, distance)) return;
    if (touches) {
        th_vec2 one = distance > TH_COINCIDENT
                          ? th_hidac_push(th_sub(i->p, q), distance, touch - distance)
                          : th_scale(touch, th_pair_direction(a->id[i->self], a->id[j]));
        i->push_people = th_add(i->push_people, one);
    }
    if (leans) th_hidac_feel(world, i, j, th_sub(i->p, q), distance);
    if (!seen) return;
    i->ahead += th_hidac_within(along, side, p->rectangle_loose, half_width2);
    float agrees = a->preferred_x[j] * i->wish.x + a->preferred_y[j] * i->wish.y;
    if (th_hidac_within(along, side, i->rectangle, half_width2)) {
        th_vec2 turn = th_hidac_avoidance(i, d, distance, th_hidac_course(i, a, j), agrees < 0.0f);
        i->avoid_people = th_add(i->avoid_people, turn);
        i->meets |= agrees < 0.0f && th_length2(turn) > 0.0f;
    }
    float ahead = i->radius + p->waiting_radius;
    th_vec2 off = th_sub(d, th_scale(ahead, i->wish));
    float within = p->waiting_radius + a->radius[j];
    bool in_path = fabsf(side) < 0.5f * (i->radius + a->radius[j]);
    if (agrees > 0.0f && in_path && th_length2(off) < within * within)
        i->disc_taken |= th_dot(th_velocity(a, j), i->wish) < TH_HIDAC_WALKS_ON;
}

// Does the segment reach into the rectangle of influence? By clipping it, first along, then across.
TH_FORMULA bool th_hidac_wall_ahead(const th_hidac_view *i, const th_wall *wall) {
    th_vec2 a = th_sub(wall->a, i->p), b = th_sub(wall->b, i->p);
    float ax = th_dot(a, i->wish), ay = th_det(i->wish, a);
    float bx = th_dot(b, i->wish), by = th_det(i->wish, b);
    float from = 0.0f, to = 1.0f, dx = bx - ax, dy = by - ay;
    float lows[2] = {-ax, -i->half_width - ay}, steps[2] = {dx, dy};
    float highs[2] = {i->rectangle - ax, i->half_width - ay};
    for (int k = 0; k < 2; ++k) {
        if (steps[k] == 0.0f) {
            if (lows[k] > 0.0f || highs[k] < 0.0f) return false;
            continue;
        }
        float s = lows[k] / steps[k], t = highs[k] / steps[k];
        from = th_max(from, th_min(s, t));
        to = th_min(to, th_max(s, t));
    }
    return from <= to;
}

// Does an agent lean into a wall at -away and turn along it against its wish, or lean there, held up, although it wants
// off the wall? Walls (5) turn agents along their last direction, so that two agents leaning opposite ways would stand there
// for ever.
TH_FORMULA bool th_hidac_leans_astray(const th_hidac_view *i, th_vec2 away, float distance) {
    if (!(-th_dot(i->heading, away) > 0.7f * distance)) return false;
    if (i->held_up && th_dot(i->wish, away) > 0.0f) return true;
    return th_det(i->heading, away) * th_det(i->wish, away) < 0.0f;
}

// Keeps an agent at the line of an exit that is closed to it from turning outward while its wish leads inward. Walls (5) are
// not seen there, and two agents that met at the line would turn past each other over it for ever.
TH_BOTH static inline void th_hidac_leave_exits(const th_world *world, th_hidac_view *i) {
    th_vec2 outward;
    for (int g = th_next_foreign_exit(world, i->self, 0, i->p, &outward); g >= 0;
         g = th_next_foreign_exit(world, i->self, g, i->p, &outward))
        if (th_dot(i->heading, outward) > 0.0f && th_dot(i->wish, outward) < 0.0f)
            i->heading = i->along_walls = i->wish;
}

// (11): walls and obstacles that the body touches; both are edges here, and the nearest point of an edge gives the same
// vectors. Agents pass oncoming ones along the walls: if two agents that meet at a wall kept their directions, each would turn
// into the wall for ever.
TH_BOTH static inline void th_hidac_touch_walls(const th_walls *walls, th_hidac_view *i) {
    enum { POINTS = 16 };
    const float slack = 0.05f; // [m]
    bool blocked = false, astray = false;
    th_vec2 points[POINTS];
    float touch = i->radius + i->params->wall_space;
    float range = th_min(touch + slack, walls->grids[i->level].reach);
    if (i->clear >= range) return;
    int count = th_wall_points(walls, (int)i->level, i->p, range, points, POINTS);
    for (int k = 0; k < count; ++k) {
        th_vec2 away = th_sub(i->p, points[k]);
        float distance = th_length(away);
        if (distance < touch)
            i->push_walls = th_add(i->push_walls, th_hidac_push(away, distance, touch - distance));
        blocked |= -th_dot(i->heading, away) > 0.9f * distance;
        astray |= th_hidac_leans_astray(i, away, distance);
        float into = -th_dot(i->along_walls, away);
        if (into > 0.0f && distance > TH_COINCIDENT)
            i->along_walls = th_add(i->along_walls, th_scale(into / (distance * distance), away));
    }
    bool corner = th_length2(i->along_walls) <= 0.01f;
    i->along_walls = corner ? i->wish : th_unit(i->along_walls);
    // Keeps agents from walking straight into a wall or a corner or, when they turn back, into the end of a corridor.
    if (corner || astray || (blocked && th_dot(i->heading, i->wish) < -0.7f))
        i->heading = i->along_walls = i->wish;
}

// (5): walls and obstacles ahead.
TH_BOTH static inline void th_hidac_see_walls(const th_walls *walls, th_hidac_view *i) {
    enum { WALLS = 16 };
    int found[WALLS];
    float reach = walls->grids[i->level].reach;
    float range = th_min(i->rectangle + i->half_width, reach);
    if (i->clear >= range) return;
    int count = th_walls_near(walls, (int)i->level, i->p, range, found, NULL, WALLS);
    for (int k = 0; k < count && th_length2(i->wish) > 0.0f; ++k) {
        const th_wall *wall = &walls->walls[found[k]];
        bool faces = th_det(wall->direction, th_sub(i->p, wall->a)) <= 0.0f; // solid on the left
        bool towards = th_det(wall->direction, i->heading) > 0.0f;
        if (!faces || !towards || !th_hidac_wall_ahead(i, wall)) continue;
        th_vec2 t = th_hidac_tangent(i->heading, th_perp_left(wall->direction));
        // A held-up agent is not turned along walls against its wish: among three walls it would turn for ever.
        bool back = i->held_up && th_dot(t, i->wish) < -0.7f;
        i->avoid_walls = th_add(i->avoid_walls, back ? th_scale(-1.0f, t) : t);
    }
}

// Is an agent one of the share that begins so? An agent that has never stepped has no rectangle yet.
TH_BOTH static inline bool th_hidac_begins(const th_world *world, uint32_t self, float share,
                                           int k) {
    return share > 0.0f && th_own_floats(world, TH_MOVE_HIDAC, TH_HIDAC_RECTANGLE)[self] <= 0.0f &&
           th_hidac_draw(world, self, k) < share;
}

TH_BOTH static inline th_hidac_view th_hidac_look(const th_world *world, const th_walls *walls,
                                                  uint32_t self) {
    const th_agents *a = &world->agents;
    const th_hidac_params *p = th_hidac_params_of(world, self);
    const float *rectangle = th_own_floats(world, TH_MOVE_HIDAC, TH_HIDAC_RECTANGLE);
    th_hidac_view i = {.params = p, .self = self, .level = a->level[self]};
    i.p = th_position(a, self);
    i.wish = a->phase[self] == TH_PHASE_WALKING
                 ? th_unit(th_v(a->preferred_x[self], a->preferred_y[self]))
                 : th_v(0.0f, 0.0f);
    i.heading = th_v(th_own_floats(world, TH_MOVE_HIDAC, TH_HIDAC_HEADING_X)[self],
                     th_own_floats(world, TH_MOVE_HIDAC, TH_HIDAC_HEADING_Y)[self]);
    if (th_length2(i.heading) == 0.0f) i.heading = i.wish;
    i.along_walls = i.heading;
    i.panics = th_own_floats(world, TH_MOVE_HIDAC, TH_HIDAC_PANIC)[self] > 0.5f ||
               th_hidac_begins(world, self, p->panic, 0);
    i.held_up = i.panics && th_dot(th_velocity(a, self), i.wish) < 0.1f;
    i.fallen_distance = p->fallen_range;
    uint32_t manners = th_own_words(world, TH_MOVE_HIDAC, TH_HIDAC_MANNERS)[self];
    bool pushes = manners == 2 ||
                  (manners == 0 && p->pushers > 0.0f && th_hidac_draw(world, self, 1) < p->pushers);
    i.space = pushes ? p->pusher_space : p->personal_space;
    i.space *= i.panics ? p->panic_space : 1.0f;
    i.radius = a->radius[self];
    i.half_width = 0.5f * p->rectangle_width;
    i.rectangle = rectangle[self] > 0.0f ? rectangle[self] : p->rectangle_loose;
    i.cos_side = -1.0f;
    i.clear = walls->count > 0 ? th_walls_clear(walls, (int)i.level, i.p) : 1e6f;
    return i;
}

TH_BOTH static inline void th_hidac_see_people(const th_world *world, const th_walls *walls,
                                               th_hidac_view *i, float touch) {
    th_hidac_cells cells = th_hidac_cells_of(world, i, touch);
#ifndef __cplusplus
    if (world->agents.count >= TH_HIDAC_LANES) {
        th_hidac_sieve sieve = th_hidac_sieve_of(walls, i, touch);
        th_hidac_kept kept;
        kept.next = kept.end = 0;
        while (th_hidac_sift(&world->agents, &world->index, &sieve, i->self, &cells, &kept)) {
            i->ahead += kept.ahead;
            for (int k = 0; k < kept.count; ++k) th_hidac_see(world, walls, i, kept.list[k]);
        }
        return;
    }
#endif
    for (uint32_t begin, end; th_hidac_next_run(&world->index, &cells, &begin, &end);)
        for (uint32_t j = begin; j < end; ++j)
            if (j != i->self && !th_gone(world->agents.phase[j])) th_hidac_see(world, walls, i, j);
}

TH_BOTH static inline void th_hidac_see_all(const th_world *world, const th_walls *walls,
                                            th_hidac_view *i) {
    float touch = i->radius + world->max_radius + th_max(i->space, TH_HIDAC_LEANS);
    if (walls->count > 0) th_hidac_touch_walls(walls, i);
    th_hidac_leave_exits(world, i);
    th_hidac_see_people(world, walls, i, touch);
    if (world->scene->link_count > 0) {
        uint32_t found[16];
        bool walks = th_length2(i->wish) > 0.0f;
        float far = th_hidac_corner(th_hidac_longest(i), i->half_width);
        float reach = walks ? th_max(far, touch) : touch;
        int count = th_linked_neighbours(world, i->self, reach, found, 16);
        for (int k = 0; k < count; ++k) th_hidac_see(world, walls, i, found[k]);
    }
    i->disc_taken &= !i->meets; // agents that pass each other do not queue
    if (walls->count > 0) th_hidac_see_walls(walls, i);
}

// (1), (2): where to, a unit vector.
TH_FORMULA th_vec2 th_hidac_direction(const th_hidac_view *i) {
    const th_hidac_params *p = i->params;
    th_vec2 sum = th_scale(p->attractor_weight, i->wish);
    sum = th_add(sum, th_scale(p->previous_weight, i->heading));
    sum = th_add(sum, th_scale(p->walls_weight, i->avoid_walls));
    sum = th_add(sum, th_scale(p->others_weight, i->avoid_people));
    th_vec2 direction = th_unit(sum);
    return th_length2(direction) > 0.0f ? direction : i->wish;
}

// The rules of stopping (4.1.3) and waiting (4.1.4): a new state and its time. An agent that has waited to the end of
// the timer tries to walk for a second before it waits again: otherwise the timer would free it for one step only.
TH_FORMULA void th_hidac_rules(const th_hidac_view *i, const th_world *world, th_vec2 direction,
                               uint32_t *state, float *timer) {
    const th_hidac_params *p = i->params;
    *timer = th_max(*timer - world->dt, 0.0f);
    bool against = p->stopping > 0.0f && -th_dot(direction, i->push_people) > p->yields;
    bool free = *state == TH_HIDAC_WAITS && !i->disc_taken;
    bool stops = !i->panics && against && *state != TH_HIDAC_WAITS;
    if (i->panics || free) *timer = 0.0f;
    if (*timer > 0.0f && !(*state == TH_HIDAC_TRIES && stops)) return;
    bool waited_in_vain = *state == TH_HIDAC_WAITS && !free;
    bool stopped = *state == TH_HIDAC_STOPS && !i->panics;
    *state = TH_HIDAC_WALKS;
    if (stopped && stops) { // the timer has run out: it tries to move again
        *timer = 0.1f;
        return;
    }
    if (i->panics || !(stops || waited_in_vain || i->disc_taken)) return;
    th_random4 now = th_hidac_random(world, world->agents.id[i->self], world->step_count);
    float u = th_uniform(now.v[2]);
    if (stops) {
        *state = TH_HIDAC_STOPS;
        *timer = p->stop_shortest + u * (p->stop_longest - p->stop_shortest);
    } else if (waited_in_vain) {
        *state = TH_HIDAC_TRIES;
        *timer = 1.0f;
    } else if (p->waiting > 0.0f && i->disc_taken) {
        *state = TH_HIDAC_WAITS;
        *timer = p->wait_shortest + u * (p->wait_longest - p->wait_shortest);
    }
}

// lambda of (10): an agent that touches a wall feels people less.
TH_FORMULA float th_hidac_lambda(const th_hidac_view *i) {
    return th_length2(i->push_walls) > 0.0f ? i->params->wall_priority : 1.0f;
}

// alpha of (3). As printed, any displacement holds an agent up. Graded, only one against its direction does, in proportion to
// its size; agents in panic do not stop or wait, and every displacement holds them up.
TH_FORMULA float th_hidac_alpha(const th_hidac_view *i, th_vec2 direction, th_vec2 r) {
    if (i->params->yields <= 0.0f) return th_length(r) > i->params->dead_band ? 0.0f : 1.0f;
    float against = i->panics ? th_length(r) : -th_dot(direction, r);
    float stands = (i->panics ? 0.75f : 1.0f) * i->params->yields;
    return 1.0f - th_clamp(against / stands, 0.0f, 1.0f);
}

// (3): the velocity of the step.
TH_FORMULA th_vec2 th_hidac_velocity(const th_hidac_params *p, th_vec2 now, th_vec2 walk, th_vec2 r,
                                     float speed, float dt) {
    if (p->response_time <= 0.0f) return th_add(walk, th_scale(1.0f / dt, r));
    th_vec2 back = th_limit(th_scale(1.0f / th_max(p->response_time, dt), r), speed);
    th_vec2 wanted = th_add(walk, back);
    float share = p->relaxation_time > 0.0f ? 1.0f - th_exp(-dt / p->relaxation_time) : 1.0f;
    return th_add(now, th_scale(share, th_sub(wanted, now)));
}

// Perceived density: of those in the rectangle of a loose crowd [1/m2].
TH_FORMULA float th_hidac_density(const th_hidac_view *i) {
    return (float)i->ahead / (i->params->rectangle_loose * i->params->rectangle_width);
}

// Towards the rectangle's length for the density seen, within about half a second so that one person more does not
// switch it.
TH_FORMULA float th_hidac_rectangle(const th_hidac_view *i, float dt) {
    const th_hidac_params *p = i->params;
    if (p->adapts <= 0.0f) return p->rectangle_loose;
    float dense = th_clamp((th_hidac_density(i) - p->loose_density) /
                               th_max(p->dense_density - p->loose_density, 0.01f),
                           0.0f, 1.0f);
    float wanted = p->rectangle_loose + dense * (p->rectangle_dense - p->rectangle_loose);
    return i->rectangle + th_min(dt / 0.5f, 1.0f) * (wanted - i->rectangle);
}

// The share of a step in an average over fall_time.
TH_FORMULA float th_hidac_share(const th_hidac_params *p, float dt) {
    return 1.0f - th_exp(-dt / p->fall_time);
}

// The push of others, averaged over fall_time [m/s].
TH_BOTH static inline th_vec2 th_hidac_pushed(const th_world *world, const th_hidac_view *i) {
    th_vec2 pushed = th_v(th_own_floats(world, TH_MOVE_HIDAC, TH_HIDAC_PUSHED_X)[i->self],
                          th_own_floats(world, TH_MOVE_HIDAC, TH_HIDAC_PUSHED_Y)[i->self]);
    float share = th_hidac_share(i->params, world->dt);
    return th_add(pushed, th_scale(share, th_sub(i->leaned_on, pushed)));
}

// (3) without r: alpha v ((1 - beta) f + beta F_Fa).
TH_FORMULA th_vec2 th_hidac_walk(const th_hidac_view *i, th_vec2 direction, th_vec2 r, float pace) {
    const th_hidac_params *p = i->params;
    th_vec2 along = direction;
    if (th_length2(i->avoid_fallen) > 0.0f)
        along = th_add(th_scale(1.0f - p->fallen_weight, direction),
                       th_scale(p->fallen_weight, i->avoid_fallen));
    return th_scale(th_hidac_alpha(i, direction, r) * pace, along);
}

// The speed to accelerate to; 0 for agents that stand, stop or wait.
TH_BOTH static inline float th_hidac_top_speed(const th_world *world, const th_hidac_view *i,
                                               uint32_t state) {
    const th_agents *a = &world->agents;
    bool held = state == TH_HIDAC_STOPS || state == TH_HIDAC_WAITS;
    if (th_length2(i->wish) == 0.0f || held) return 0.0f;
    float preferred = th_length(th_v(a->preferred_x[i->self], a->preferred_y[i->self]));
    float top = preferred * i->params->speed_factor * (i->panics ? i->params->panic_speed : 1.0f);
    return th_min(top, th_max(preferred, TH_HIDAC_SPRINT));
}

TH_BOTH static inline void th_hidac_keep(th_world *world, const th_hidac_view *i, th_vec2 direction,
                                         th_vec2 v, th_vec2 pushed) {
    th_agents *a = &world->agents;
    uint32_t self = i->self;
    a->next_velocity_x[self] = v.x;
    a->next_velocity_y[self] = v.y;
    a->next_position_x[self] = i->p.x + world->dt * v.x;
    a->next_position_y[self] = i->p.y + world->dt * v.y;
    th_own_floats(world, TH_MOVE_HIDAC, TH_HIDAC_HEADING_X)[self] = direction.x;
    th_own_floats(world, TH_MOVE_HIDAC, TH_HIDAC_HEADING_Y)[self] = direction.y;
    th_own_floats(world, TH_MOVE_HIDAC, TH_HIDAC_RECTANGLE)[self] =
        th_hidac_rectangle(i, world->dt);
    th_own_floats(world, TH_MOVE_HIDAC, TH_HIDAC_PUSHED_X)[self] = pushed.x;
    th_own_floats(world, TH_MOVE_HIDAC, TH_HIDAC_PUSHED_Y)[self] = pushed.y;
}

// A step of own person `self`. No other agent's values are written, and what others read of it (place, velocity, phase)
// does not change before the step is over.
TH_BOTH static inline void th_hidac_step(th_world *world, const th_walls *walls, uint32_t self) {
    th_agents *a = &world->agents;
    th_hidac_view i = th_hidac_look(world, walls, self);
    const th_hidac_params *p = i.params;
    th_hidac_see_all(world, walls, &i);
    th_vec2 direction = th_hidac_direction(&i);
    uint32_t *state = &th_own_words(world, TH_MOVE_HIDAC, TH_HIDAC_STATE)[self];
    float *timer = &th_own_floats(world, TH_MOVE_HIDAC, TH_HIDAC_TIMER)[self];
    float *pace = &th_own_floats(world, TH_MOVE_HIDAC, TH_HIDAC_PACE)[self];
    th_hidac_rules(&i, world, direction, state, timer);
    th_vec2 by_people = th_scale(p->repulsion_gain * th_hidac_lambda(&i), i.push_people);
    th_vec2 r = th_add(th_scale(p->repulsion_gain, i.push_walls), by_people); // (10)
    float faster = p->acceleration * (i.panics ? p->panic_acceleration : 1.0f) * world->dt;
    *pace = th_min(*pace + faster, th_hidac_top_speed(world, &i, *state));
    th_vec2 v = th_hidac_velocity(p, th_velocity(a, self), th_hidac_walk(&i, direction, r, *pace),
                                  r, a->speed[self], world->dt);
    th_vec2 pushed = th_hidac_pushed(world, &i);
    bool thrown = p->falling > 0.0f && th_length(pushed) > p->fall_push;
    bool lies = th_hidac_begins(world, self, p->lies, 2);
    if (a->phase[self] == TH_PHASE_WALKING && (thrown || lies)) {
        *state = TH_HIDAC_FALLS;
        *timer = p->gets_up;
        if (thrown) direction = th_unit(pushed); // falls the way it was pushed
    }
    th_hidac_keep(world, &i, direction, v, pushed);
}

// Notes the agent's velocity, averaged over fall_time. Runs after every agent's step, since neighbours read the value there.
TH_BOTH static inline void th_hidac_note_velocity(th_world *world, uint32_t self) {
    float share = th_hidac_share(th_hidac_params_of(world, self), world->dt);
    float *x = &th_own_floats(world, TH_MOVE_HIDAC, TH_HIDAC_GOES_X)[self];
    float *y = &th_own_floats(world, TH_MOVE_HIDAC, TH_HIDAC_GOES_Y)[self];
    *x += share * (world->agents.velocity_x[self] - *x);
    *y += share * (world->agents.velocity_y[self] - *y);
}

// After every agent's step: a falling agent lies from now on, and one that has lain long enough stands up. Returns by
// how many more lie.
TH_BOTH static inline int th_hidac_lie_down(th_world *world, uint32_t self) {
    th_agents *a = &world->agents;
    if (world->groups[a->group[self]].move != TH_MOVE_HIDAC) return 0;
    uint32_t *state = &th_own_words(world, TH_MOVE_HIDAC, TH_HIDAC_STATE)[self];
    float *timer = &th_own_floats(world, TH_MOVE_HIDAC, TH_HIDAC_TIMER)[self];
    float *panic = &th_own_floats(world, TH_MOVE_HIDAC, TH_HIDAC_PANIC)[self];
    float share = th_hidac_params_of(world, self)->panic;
    th_hidac_note_velocity(world, self);
    // For good, whatever a behaviour says. Here and not in the step, in which neighbours read it.
    if (share > 0.0f && *panic < TH_HIDAC_FOR_GOOD && th_hidac_draw(world, self, 0) < share)
        *panic = TH_HIDAC_FOR_GOOD;
    if (a->phase[self] == TH_PHASE_WALKING && *state == TH_HIDAC_FALLS) {
        a->phase[self] = TH_PHASE_FALLEN;
        return 1;
    }
    if (a->phase[self] != TH_PHASE_FALLEN || *timer <= 0.0f) return 0;
    *timer -= world->dt;
    if (*timer > 0.0f) return 0;
    a->phase[self] = TH_PHASE_WALKING;
    *state = TH_HIDAC_WALKS;
    *timer = 0.0f;
    // It has made no step.
    a->next_position_x[self] = a->position_x[self];
    a->next_position_y[self] = a->position_y[self];
    a->next_velocity_x[self] = a->next_velocity_y[self] = 0.0f;
    return -1;
}
#endif
