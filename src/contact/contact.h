// Contact: pushes overlapping agents apart, then walls have the last word. After this stage no agent
// stands in a wall or has passed one, whatever the models wanted.
//
// The proof of the last sentence: a move is accepted only when the straight path from the old to the
// new position touches no standing wall; the old position is always such a position. So by induction
// every agent stays in the part of the walkable area it started in, and doors and links are the only ways.
// Cost O(agents x people within two radii). SPDX-License-Identifier: Apache-2.0
#ifndef TH_CONTACT_CONTACT_H
#define TH_CONTACT_CONTACT_H
#include "formula/random.h"
#include "formula/segment.h"
#include "scene/wall_chains.h"
#include "space/distance_grid.h"
#include "state/exits.h"
#include "state/nearest.h"
#include "state/world.h"
#include <math.h>
#include <string.h>

// The stage; commits generation n+1.
void th_stage_contact(th_world *world);

TH_BOTH static inline int th_contact_passes_of(const th_world *world, uint32_t i) {
    return world->groups[world->agents.group[i]].body.separation_passes;
}
TH_BOTH static inline int th_contact_pair_passes_of(const th_world *world, uint32_t group) {
    const th_group_state *state = &world->groups[group];
    return state->separates_pairs ? 0 : state->body.separation_passes;
}

// No person runs 10 m/s; a model with that speed has blown up. Scenes may ask for it all the same, with a speed of up to
// 10 m/s in a zone of factor 2: then a quarter more than that is allowed.
TH_BOTH static inline float th_contact_top_speed(float preferred) {
    return th_clamp(2.5f * preferred, 10.0f, 25.0f);
}

// Replaces values that are not finite by the old state, and limits the step to the reach of the index. Returns the
// squared length of the agent's step.
TH_BOTH static inline float th_contact_repair(const th_world *world, int i, int *repairs) {
    const th_agents *agents = &world->agents;
    if (agents->phase[i] == TH_PHASE_FALLEN) { // no model moves them
        agents->next_position_x[i] = agents->position_x[i];
        agents->next_position_y[i] = agents->position_y[i];
        agents->next_velocity_x[i] = agents->next_velocity_y[i] = 0.0f;
    }
    float longest = th_contact_top_speed(agents->speed[i]) * world->dt;
    float x = agents->next_position_x[i] - agents->position_x[i];
    float y = agents->next_position_y[i] - agents->position_y[i];
    float speed2 = agents->next_velocity_x[i] * agents->next_velocity_x[i] +
                   agents->next_velocity_y[i] * agents->next_velocity_y[i];
    float moved2 = x * x + y * y;
    if (!(moved2 < 1e30f && speed2 < 1e30f)) { // also catches NaN
        agents->next_position_x[i] = agents->position_x[i];
        agents->next_position_y[i] = agents->position_y[i];
        agents->next_velocity_x[i] = agents->next_velocity_y[i] = 0.0f;
        moved2 = 0.0f;
        *repairs += 1;
    } else if (moved2 > longest * longest && agents->phase[i] < TH_PHASE_SCRIPTED) {
        float shorter = longest / sqrtf(moved2);
        agents->next_position_x[i] = agents->position_x[i] + shorter * x;
        agents->next_position_y[i] = agents->position_y[i] + shorter * y;
        moved2 = longest * longest;
        *repairs += 1;
    }
    return moved2;
}

// Share of an overlap that agent i gives way when it stands on purpose; 0.5: as a walking agent.
TH_BOTH static inline float th_contact_yield_of(const th_world *world, uint32_t i) {
    const th_group_state *state = &world->groups[world->agents.group[i]];
    return world->agents.phase[i] != TH_PHASE_WALKING ? state->body.standing_yield : 0.5f;
}

// Share of an overlap that i gives way to j: half, all of it when j does not move, little when i stands firm.
TH_BOTH static inline float th_contact_share(const th_world *world, uint32_t i, uint32_t j) {
    if (!th_moves(world->agents.phase[j])) return 1.0f;
    float own = th_contact_yield_of(world, i), other = th_contact_yield_of(world, j);
    return own == other ? 0.5f : own / (own + other);
}

// The displacement that pair (i, j) asks of i. Without `walls` there are none.
TH_BOTH static inline th_vec2 th_contact_push_from(const th_world *world, const th_walls *walls,
                                                   uint32_t i, uint32_t j, th_vec2 p, th_vec2 q,
                                                   float distance2, float apart) {
    const th_agents *agents = &world->agents;
    th_vec2 none = {0.0f, 0.0f};
    if (j == i || !th_in_the_way(agents->phase[j])) return none;
    float t;
    if (walls && th_walls_maybe_near(walls, (int)agents->level[i], p) &&
        agents->level[i] == agents->level[j] &&
        th_walls_first_crossing(walls, (int)agents->level[i], p, q, &t) >= 0)
        return none; // back to back at a thin wall
    float distance = sqrtf(distance2), share = th_contact_share(world, i, j);
    th_vec2 direction = distance > 1e-6f ? th_scale(1.0f / distance, th_sub(p, q))
                                         : th_pair_direction(agents->id[i], agents->id[j]);
    return th_scale(share * (apart - distance), direction);
}

enum {
    TH_CONTACT_LOOK_AGAIN = 1,
    TH_CONTACT_WAS_PUSHED = 2
}; // bits of agents.contact_flags during the stage

// A Jacobi pass: from frozen positions to new ones.
typedef struct th_separation {
    int pass;
    float moved; // furthest way of any agent since the index was built [m]
    const float *from_x, *from_y;
    float *to_x, *to_y;
} th_separation;

// Sums all pushes on one agent. A plain sum overshoots in a tight crowd and throws agents about; a mean spreads too
// slowly. Up to two contacts count in full, more share the weight of two (delta averaging with over-relaxation, as in
// Macklin et al. 2014, "Unified particle physics").
typedef struct th_push_sum {
    th_vec2 sum;
    int contacts;
    float firmness; // of soft bodies: how much the pushes fall per way given, summed [-]
} th_push_sum;

TH_BOTH static inline void th_contact_add_push(th_push_sum *push, th_vec2 one) {
    push->sum = th_add(push->sum, one);
    push->contacts += one.x != 0.0f || one.y != 0.0f;
}

// ---- bodies that give way to pressure
// The drive of a walker is m / tau times what its velocity lacks (Helbing, Farkas, Vicsek 2000). In a crowd that hardly
// moves it balances the forces F of the neighbours: m / tau (x - x') / dt = sum of F n, with x' where the model wants the
// agent at the end of the step. The passes are Jacobi iterations of that, implicit, so that it holds for every step; the
// harder the bodies, the nearer it comes to the rule above.
#define TH_DRIVE_TIME 0.5f // [s] tau

// The way that a force of 1 N moves agent i in a step [m/N]; 0: a hard body.
TH_FORMULA float th_contact_yielding(const th_world *world, uint32_t i) {
    const th_body_rules *body = &world->groups[world->agents.group[i]].body;
    bool soft = body->stiffness > 0.0f || body->stiffening > 0.0f;
    return soft ? TH_DRIVE_TIME * world->dt / th_max(world->agents.mass[i], 1.0f) : 0.0f;
}

// Makes of the push off an overlap, `share` of its depth, that of a soft body: its way under the force, and against the
// way `slip` by which the two have slid in this step.
TH_FORMULA th_vec2 th_contact_soften(const th_body_rules *body, float yielding, float mass,
                                     float overlap, float share, th_vec2 one, float friction,
                                     th_vec2 slip, th_push_sum *push) {
    float force = (body->stiffness + body->stiffening * overlap) * overlap;
    float rubs = 2.0f * share * TH_DRIVE_TIME * friction * force / th_max(mass, 1.0f);
    th_vec2 n = th_unit(one);
    push->firmness +=
        2.0f * share * yielding * (body->stiffness + 2.0f * body->stiffening * overlap) + rubs;
    return th_sub(th_scale(2.0f * share * yielding * force, n),
                  th_scale(rubs, th_sub(slip, th_scale(th_dot(slip, n), n))));
}

// The way of a soft body in a pass, of one that stands at p.
TH_FORMULA th_vec2 th_contact_soft_way(const th_world *world, uint32_t i, th_vec2 p,
                                       const th_push_sum *push) {
    const th_agents *agents = &world->agents;
    th_vec2 wanted = {agents->position_x[i] + world->dt * agents->next_velocity_x[i],
                      agents->position_y[i] + world->dt * agents->next_velocity_y[i]};
    float shared = push->contacts < 2 ? 2.0f : 1.0f;
    return th_scale(1.0f / (1.0f + shared * push->firmness), th_add(th_sub(wanted, p), push->sum));
}

// Distance from an agent's place within which it may touch others [m].
TH_FORMULA float th_contact_reach(const th_world *world, const th_separation *now, uint32_t i) {
    return world->agents.radius[i] + world->max_radius + now->moved;
}
TH_FORMULA bool th_contact_touch(float dx, float dy, float apart) {
    return dx * dx + dy * dy < apart * apart;
}

// Adds what j pushes i, if the two touch. `walls` may be NULL on open ground without links.
TH_FORMULA void th_contact_add_push_of(const th_world *world, const th_walls *walls,
                                       const th_separation *now, uint32_t i, uint32_t j,
                                       th_push_sum *push) {
    th_vec2 p = {now->from_x[i], now->from_y[i]}, q = {now->from_x[j], now->from_y[j]};
    float apart = world->agents.radius[i] + world->agents.radius[j];
    if (!th_contact_touch(p.x - q.x, p.y - q.y, apart)) return;
    float distance2 = th_length2(th_sub(p, q)), yielding = th_contact_yielding(world, i);
    th_vec2 one = th_contact_push_from(world, walls, i, j, p, q, distance2, apart);
    if (yielding > 0.0f && (one.x != 0.0f || one.y != 0.0f)) {
        const th_agents *agents = &world->agents;
        // Agents that walk past each other turn edgeways, so only agents with the same direction rub.
        bool walk = agents->phase[i] == TH_PHASE_WALKING && agents->phase[j] == TH_PHASE_WALKING;
        float same = walk ? agents->preferred_x[i] * agents->preferred_x[j] +
                                agents->preferred_y[i] * agents->preferred_y[j]
                          : 0.0f;
        const th_body_rules *body = &world->groups[agents->group[i]].body;
        one = th_contact_soften(
            body, yielding, agents->mass[i], apart - sqrtf(distance2),
            th_contact_share(world, i, j), one, same > 0.0f ? body->friction : 0.0f,
            th_sub(th_sub(p, th_position(agents, i)), th_sub(q, th_position(agents, j))), push);
    }
    th_contact_add_push(push, one);
}

// The same for those that i touches across links.
TH_FORMULA void th_contact_add_linked_pushes(const th_world *world, const th_walls *walls,
                                             const th_separation *now, uint32_t i,
                                             th_push_sum *push) {
    if (!walls || world->scene->link_count == 0) return;
    uint32_t found[16];
    int count = th_linked_neighbours(world, i, th_contact_reach(world, now, i), found, 16);
    for (int k = 0; k < count; ++k) th_contact_add_push_of(world, walls, now, i, found[k], push);
}

// Does i look for contacts in this pass? After the first pass only agents that had a contact do, so a loose crowd pays
// for one pass. An agent first touched by a neighbour's push is dealt with in the next step.
TH_BOTH static inline bool th_contact_looks(const th_world *world, const th_separation *now,
                                            uint32_t i) {
    const th_agents *agents = &world->agents;
    uint32_t *contact = agents->contact_flags;
    if (now->pass == 0) contact[i] = TH_CONTACT_LOOK_AGAIN;
    return contact[i] & TH_CONTACT_LOOK_AGAIN && th_moves(agents->phase[i]) &&
           th_contact_pair_passes_of(world, agents->group[i]) > now->pass;
}

// Where i stands after the pass, given the pushes on it if it looks. Returns whether there was a contact.
TH_BOTH static inline bool th_contact_take_push(const th_world *world, const th_separation *now,
                                                uint32_t i, bool looks, const th_push_sum *push) {
    const th_agents *agents = &world->agents;
    uint32_t *contact = agents->contact_flags;
    th_vec2 p = {now->from_x[i], now->from_y[i]};
    bool pushed = false;
    if (looks) {
        float weight = push->contacts > 2 ? 2.0f / (float)push->contacts : 1.0f;
        th_vec2 way = push->firmness > 0.0f ? th_contact_soft_way(world, i, p, push)
                                            : th_scale(weight, push->sum);
        p = th_add(p, th_limit(way, 0.5f * agents->radius[i]));
        pushed = push->contacts > 0;
        contact[i] = pushed ? TH_CONTACT_LOOK_AGAIN | TH_CONTACT_WAS_PUSHED
                            : contact[i] & TH_CONTACT_WAS_PUSHED;
    } else {
        contact[i] &= TH_CONTACT_WAS_PUSHED;
    }
    now->to_x[i] = p.x;
    now->to_y[i] = p.y;
    return pushed;
}

// A stopped or pushed agent gets the velocity it really moved with, up to walking speed. Otherwise agents pressed
// together would keep velocities that none of them has, and the crowd recoils: ORCA's `circle` explodes outward after
// 25 s without this.
TH_BOTH static inline void th_contact_take_real_velocity(const th_world *world, uint32_t i,
                                                         th_vec2 from, th_vec2 to) {
    const th_agents *agents = &world->agents;
    th_vec2 wanted = {agents->next_velocity_x[i], agents->next_velocity_y[i]};
    float limit = th_max(th_length(wanted), agents->speed[i]);
    th_vec2 real = th_limit(th_scale(1.0f / world->dt, th_sub(to, from)), limit);
    agents->next_velocity_x[i] = real.x;
    agents->next_velocity_y[i] = real.y;
}

// Pushes a disc off the walls it reaches into; a few rounds, because leaving one wall may mean
// entering the next. In gaps narrower than the disc it ends in between. Where the centre is on the wall there
// is no direction off it but the wall's own, to the side where the agent stood before: an agent left there
// would stick to the wall for good, nearer and nearer, and in the end slip out along the line of an exit.
TH_BOTH static inline th_vec2 th_contact_push_off_walls(const th_walls *walls, int level,
                                                        th_vec2 from, th_vec2 p, float radius) {
    for (int round = 0; round < 3; ++round) {
        int wall;
        float distance2;
        if (th_walls_near(walls, level, p, radius, &wall, &distance2, 1) == 0) return p;
        const th_wall *nearest = &walls->walls[wall];
        th_vec2 off = th_sub(p, th_nearest_on_segment(p, nearest->a, nearest->b));
        float distance = sqrtf(distance2);
        if (distance >= radius) return p;
        if (distance < 1e-5f) {
            bool left = th_orientation(nearest->a, nearest->b, from) > 0.0;
            off = left ? th_perp_left(nearest->direction) : th_perp_right(nearest->direction);
            p = th_add(p, th_scale(radius, off));
        } else {
            p = th_add(p, th_scale((radius - distance) / distance, off));
        }
    }
    return p;
}

// A soft body that a wall has pushed from `pressed` to q, on its way from p, rubs along it.
TH_FORMULA th_vec2 th_contact_rub_wall(const th_world *world, uint32_t i, th_vec2 p,
                                       th_vec2 pressed, th_vec2 q) {
    float friction = world->groups[world->agents.group[i]].body.friction;
    th_vec2 off = th_sub(q, pressed), way = th_sub(q, p), n = th_unit(off);
    if (!(friction > 0.0f) || th_contact_yielding(world, i) <= 0.0f) return q;
    // The wall's force moves it by `off` in a step: m / tau times off / step.
    float rubs = friction * th_length(off) / world->dt;
    th_vec2 slid = th_sub(way, th_scale(th_dot(way, n), n));
    return th_sub(q, th_scale(rubs / (1.0f + rubs), slid));
}

// Where a rigid body ends that moves from p towards q. It never gets into a gap that is narrower than itself: a crowd
// would shove it in, since two walls push it back and forth and leave it between them. One that stands in such a gap
// already goes where it wants to itself, or where there is more room.
TH_BOTH static inline th_vec2 th_contact_keep_out_of_gap(const th_world *world,
                                                         const th_walls *walls, uint32_t i,
                                                         th_vec2 p, th_vec2 q) {
    int level = (int)world->agents.level[i];
    th_vec2 wanted = {world->agents.preferred_x[i], world->agents.preferred_y[i]};
    float radius = th_wall_radius(world, i), free = radius - TH_RIGID_SLACK;
    float here = th_wall_radius_here(world, walls, i);
    th_vec2 end = th_contact_push_off_walls(walls, level, p, q, here);
    float room = th_wall_room(walls, level, end, radius);
    if (here == radius) return room >= free ? end : p;
    bool wants = th_dot(th_sub(end, p), wanted) > 0.0f && room >= TH_RIGID_SQUEEZE * here;
    return wants || room >= th_wall_room(walls, level, p, radius) ? end : p;
}

// The furthest point of the path p -> q that keeps TH_WALL_GAP from the first wall on it, then along that
// wall as far as the rest of the path leads. Returns q when nothing is in the way.
TH_BOTH static inline th_vec2 th_contact_stop_at_walls(const th_walls *walls, int level, th_vec2 p,
                                                       th_vec2 q, bool *stopped) {
    float t;
    int wall = th_walls_first_crossing(walls, level, p, q, &t);
    *stopped = wall >= 0;
    if (wall < 0) return q;
    th_vec2 path = th_sub(q, p), along = walls->walls[wall].direction;
    float length = th_length(path);
    float free_part = th_max(t * length - TH_WALL_GAP, 0.0f) / th_max(length, 1e-9f);
    th_vec2 stop = th_add(p, th_scale(free_part, path));
    if (th_walls_first_crossing(walls, level, p, stop, &t) >= 0) return p;
    th_vec2 slide = th_add(stop, th_scale((1.0f - free_part) * th_dot(path, along), along));
    if (th_walls_first_crossing(walls, level, stop, slide, &t) < 0 &&
        th_walls_first_crossing(walls, level, p, slide, &t) < 0)
        return slide;
    return stop;
}

// The link crossed by the path p -> q on this level, or NULL; *at is where.
TH_BOTH static inline const th_link *th_contact_crossed_link(const th_scene *scene, uint32_t level,
                                                             th_vec2 p, th_vec2 q, th_vec2 *at,
                                                             uint32_t *to) {
    for (int l = 0; l < scene->link_count; ++l) {
        const th_link *link = &scene->links[l];
        bool up = (uint32_t)link->level[0] == level, down = (uint32_t)link->level[1] == level;
        float side_p = th_dot(th_sub(p, link->a), link->up),
              side_q = th_dot(th_sub(q, link->a), link->up);
        up = up && side_p <= 0.0f && side_q > 0.0f;
        down = down && side_p >= 0.0f && side_q < 0.0f;
        if ((!up && !down) || !th_line_parts(p, q, link->a, link->b)) continue;
        float t = side_p / (side_p - side_q);
        *at = th_add(p, th_scale(t, th_sub(q, p)));
        *to = (uint32_t)link->level[up ? 1 : 0];
        return link;
    }
    return NULL;
}

// Final position of a path, walls of both levels respected. False when a wall cut it short.
TH_BOTH static inline bool th_contact_finish_path(const th_world *world, const th_walls *walls,
                                                  uint32_t *level, th_vec2 p, th_vec2 *q) {
    th_vec2 at;
    uint32_t to;
    bool stopped;
    const th_link *link = world->scene->link_count
                              ? th_contact_crossed_link(world->scene, *level, p, *q, &at, &to)
                              : NULL;
    if (!link) {
        *q = th_contact_stop_at_walls(walls, (int)*level, p, *q, &stopped);
        return !stopped;
    }
    float t;
    bool way_to_line = th_walls_first_crossing(walls, (int)*level, p, at, &t) < 0;
    if (way_to_line && th_walls_first_crossing(walls, (int)to, at, *q, &t) < 0) {
        *level = to;
        return true;
    }
    // A wall on either side of the line: stay on this level, just before the line or the wall.
    th_vec2 back = th_scale(TH_WALL_GAP, th_unit(th_sub(p, at)));
    *q = th_contact_stop_at_walls(walls, (int)*level, p, th_add(at, back), &stopped);
    return false;
}

// The path of one person, walls and exits respected; 1 when it was cut short.
TH_BOTH static inline int th_contact_keep_out_of_walls(const th_world *world, const th_walls *walls,
                                                       int k, bool separated) {
    const th_agents *agents = &world->agents;
    uint32_t i = (uint32_t)k, level = agents->level[i];
    if (!th_moves(agents->phase[i])) return 0;
    th_vec2 p = th_position(agents, i),
            q = {agents->next_position_x[i], agents->next_position_y[i]};
    // Most are further from all walls than they go and their bodies reach.
    float clear = th_walls_clear(walls, (int)level, p) - agents->radius[i];
    bool near = !(clear > 0.0f && th_length2(th_sub(q, p)) < clear * clear);
    bool whole = true;
    if (near || world->scene->link_count > 0) {
        // The bare model presses on walls by itself: lifting people off would take away the friction that
        // lets arches form at doors.
        if (th_contact_passes_of(world, i) > 0) {
            th_vec2 pressed = q;
            q = th_is_rigid(world, i)
                    ? th_contact_keep_out_of_gap(world, walls, i, p, q)
                    : th_contact_push_off_walls(walls, (int)level, p, q, th_wall_radius(world, i));
            if (!th_is_rigid(world, i)) q = th_contact_rub_wall(world, i, p, pressed, q);
        }
        whole = th_contact_finish_path(world, walls, &level, p, &q);
    }
    if (th_stop_at_foreign_exits(world, walls, i, level, p, &q)) {
        whole = false;
        level = agents->level[i]; // back to the start of the step
    }
    if (!whole || (separated && agents->contact_flags[i] & TH_CONTACT_WAS_PUSHED))
        th_contact_take_real_velocity(world, i, p, q);
    agents->level[i] = level;
    agents->next_position_x[i] = q.x;
    agents->next_position_y[i] = q.y;
    return !whole;
}

TH_BOTH static inline void th_contact_swap(float **a, float **b) {
    float *swap = *a;
    *a = *b;
    *b = swap;
}

TH_BOTH static inline th_separation th_separation_of(const th_agents *agents, int pass,
                                                     float moved) {
    th_separation now = {pass,
                         moved,
                         agents->next_position_x,
                         agents->next_position_y,
                         agents->separated_x,
                         agents->separated_y};
    return now;
}

// After a pass: what it wrote is what the next one reads.
TH_BOTH static inline void th_contact_take_pass(th_agents *agents) {
    th_contact_swap(&agents->next_position_x, &agents->separated_x);
    th_contact_swap(&agents->next_position_y, &agents->separated_y);
}

TH_BOTH static inline void th_contact_commit(th_agents *agents) {
    th_contact_swap(&agents->position_x, &agents->next_position_x);
    th_contact_swap(&agents->position_y, &agents->next_position_y);
    th_contact_swap(&agents->velocity_x, &agents->next_velocity_x);
    th_contact_swap(&agents->velocity_y, &agents->next_velocity_y);
}

// The most passes any group asks for.
TH_BOTH static inline int th_contact_pair_passes(const th_world *world) {
    int passes = 0;
    for (int g = 0; g < world->scene->group_count; ++g) {
        int own = th_contact_pair_passes_of(world, (uint32_t)g);
        if (own > passes) passes = own;
    }
    return passes;
}
#endif
