// Bodies moved by hand (throng/live.h): convex shapes whose edges are walls. They move at the beginning of a step; an agent
// that they meet is carried along in front of the edge that met it, as far as walls let it. Agents in the way of a moving
// body step aside: their preferred velocity changes, so every model does it.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_CONTACT_BODIES_H
#define TH_CONTACT_BODIES_H
#include "contact/contact.h"
#include "formula/math.h"

// Rounding of poses far from the origin; also what a pushed agent keeps from the edge [m].
#define TH_BODY_GAP 0.003f
// A body that has not moved for so long is an obstacle to planners [s].
#define TH_BODY_PARKED 1.0f
// Agents step aside when the front would reach them within this time [s]: about the horizon of pedestrians who meet
// (Karamouzas, Skinner, Guy 2014: 3 s), and leave so much room [m].
#define TH_BODY_HORIZON 3.0f
#define TH_BODY_MARGIN 0.2f

TH_FORMULA th_vec2 th_turned(th_vec2 v, th_vec2 heading) {
    return th_v(heading.x * v.x - heading.y * v.y, heading.y * v.x + heading.x * v.y);
}
TH_FORMULA th_vec2 th_turned_back(th_vec2 v, th_vec2 heading) {
    return th_turned(v, th_v(heading.x, -heading.y));
}
TH_FORMULA th_vec2 th_heading_of(float angle) {
    double turns = (double)angle / 6.283185307179586, sine, cosine;
    th_sincos_turn(turns - floor(turns), &sine, &cosine);
    return th_v((float)cosine, (float)sine);
}

// The body's edges where it is now.
TH_BOTH static inline void th_body_place_edges(th_world *world, th_body *body) {
    int n = body->corner_count, first = body->first_edge;
    for (int k = 0; k < n; ++k) {
        th_wall *edge = &world->walls[first + k];
        th_vec2 a = th_add(body->position, th_turned(body->corners[k], body->heading));
        th_vec2 b = th_add(body->position, th_turned(body->corners[(k + 1) % n], body->heading));
        edge->a = a;
        edge->b = b;
        edge->length = th_length(th_sub(b, a));
        edge->direction = th_unit(th_sub(b, a));
        edge->next = first + (k + 1) % n;
        edge->prev = first + (k + n - 1) % n;
        edge->a_convex = true;
        edge->level = body->level;
        edge->door = -1;
        edge->gap = 0.0f;
    }
}

TH_BOTH static inline bool th_body_moves(const th_body *body) {
    return body->velocity.x != 0.0f || body->velocity.y != 0.0f || body->spin != 0.0f;
}

// A step of the body. `before` is where the last step left it, wherever the program has put it since.
TH_BOTH static inline void th_body_advance(th_world *world, th_body *body) {
    if (body->corner_count == 0) return;
    body->position = th_add(body->position, th_scale(world->dt, body->velocity));
    body->angle += world->dt * body->spin;
    body->heading = th_heading_of(body->angle);
    bool moved = body->position.x != body->before.x || body->position.y != body->before.y ||
                 body->heading.x != body->before_heading.x ||
                 body->heading.y != body->before_heading.y;
    body->rest = moved ? 0.0f : th_min(body->rest + world->dt, 2.0f * TH_BODY_PARKED);
    body->cornered = 0;
    th_body_place_edges(world, body);
}
// After the agents were carried along.
TH_BOTH static inline void th_body_arrive(th_body *body) {
    body->before = body->position;
    body->before_heading = body->heading;
}

// Distance from edge k's line to p, in the body's own frame, positive outside [m].
TH_BOTH static inline float th_body_outside(const th_body *body, int k, th_vec2 p) {
    th_vec2 a = body->corners[k], b = body->corners[(k + 1) % body->corner_count];
    return th_det(th_sub(p, a), th_unit(th_sub(b, a)));
}

// The edge at which a disc that goes from `from` to `to`, seen from the body, comes in; -1: it stays outside. One that is inside
// from the beginning is at the edge that it is least deep behind.
TH_BOTH static inline int th_body_entered(const th_body *body, th_vec2 from, th_vec2 to,
                                          float radius) {
    float enters = -1.0f, leaves = 1.0f, least = -1e30f;
    int entered = -1, nearest = 0;
    for (int k = 0; k < body->corner_count; ++k) {
        float begin = th_body_outside(body, k, from) - radius;
        float end = th_body_outside(body, k, to) - radius;
        if (begin > least) {
            least = begin;
            nearest = k;
        }
        if (begin > 0.0f && end > 0.0f) return -1;
        if (begin > 0.0f && begin / (begin - end) > enters) {
            enters = begin / (begin - end);
            entered = k;
        }
        if (begin <= 0.0f && end > 0.0f) leaves = th_min(leaves, begin / (begin - end));
    }
    if (entered < 0) return leaves < 1.0f ? -1 : nearest;
    return enters <= leaves ? entered : -1;
}

// Carries agent i along with the body, or out of it. Returns whether it is inside all the same.
TH_BOTH static inline bool th_body_carry(th_world *world, const th_walls *bare,
                                         const th_walls *walls, const th_body *body, uint32_t i) {
    th_agents *agents = &world->agents;
    th_vec2 p = th_position(agents, i);
    float radius = th_wall_radius(world, i);
    float swept = th_length(th_sub(body->position, body->before));
    if (!th_body_near(walls, body, (int)agents->level[i], p, swept + radius)) return false;
    bool still = body->rest > 0.0f;
    if (still && !th_body_holds(walls, body, p)) return false; // contact does the rest
    th_vec2 from = th_turned_back(th_sub(p, body->before), body->before_heading);
    th_vec2 to = th_turned_back(th_sub(p, body->position), body->heading);
    int edge = th_body_entered(body, still ? to : from, to, radius);
    if (edge < 0) return false;
    float missing = radius + TH_BODY_GAP - th_body_outside(body, edge, to);
    const th_vec2 *corners = body->corners;
    th_vec2 along = th_unit(th_sub(corners[(edge + 1) % body->corner_count], corners[edge]));
    th_vec2 out = th_turned(th_scale(missing, th_perp_right(along)), body->heading);
    th_vec2 q = th_add(p, out);
    uint32_t level = agents->level[i];
    th_contact_finish_path(world, bare, &level, p, &q);
    agents->position_x[i] = q.x;
    agents->position_y[i] = q.y;
    agents->level[i] = level;
    return th_body_holds(walls, body, q);
}

// All bodies, for agent i; into `cornered` a bit for each that holds it in the end.
TH_BOTH static inline uint64_t th_bodies_carry(th_world *world, uint32_t i) {
    th_walls walls = th_world_walls(world), bare = walls;
    bare.body_count = 0;
    uint64_t cornered = 0;
    if (!th_moves(world->agents.phase[i]) && world->agents.phase[i] != TH_PHASE_FALLEN) return 0;
    for (int b = 0; b < world->body_count; ++b)
        if (th_body_carry(world, &bare, &walls, &world->bodies[b], i)) cornered |= 1ull << b;
    return cornered;
}

// The lane that the body will pass: `left` and `right` of its origin, and how far its front is ahead [m].
typedef struct th_body_lane {
    th_vec2 along;
    float speed, left, right, front, rear;
} th_body_lane;
TH_BOTH static inline th_body_lane th_body_lane_of(const th_body *body) {
    th_body_lane lane = {
        th_unit(body->velocity), th_length(body->velocity), 0.0f, 0.0f, 0.0f, 0.0f};
    for (int k = 0; k < body->corner_count; ++k) {
        th_vec2 corner = th_turned(body->corners[k], body->heading);
        float ahead = th_dot(corner, lane.along), aside = th_det(lane.along, corner);
        lane.front = th_max(lane.front, ahead);
        lane.rear = th_min(lane.rear, ahead);
        lane.left = th_max(lane.left, aside);
        lane.right = th_min(lane.right, aside);
    }
    return lane;
}

// The preferred velocity of an agent in a moving body's way: aside by the shorter way that no wall bars, at its own speed,
// and not back into the lane before the body has passed.
TH_BOTH static inline void th_body_make_way(th_world *world, const th_walls *walls,
                                            const th_body *body, uint32_t i) {
    th_agents *agents = &world->agents;
    int level = (int)agents->level[i];
    float speed2 = th_length2(body->velocity), radius = agents->radius[i];
    float look = TH_BODY_HORIZON * sqrtf(speed2) + radius + TH_BODY_MARGIN;
    th_vec2 p = th_position(agents, i);
    if (speed2 < 0.01f || !th_body_near(walls, body, level, p, look)) return;
    th_body_lane lane = th_body_lane_of(body);
    th_vec2 to = th_sub(p, body->position), left = th_perp_left(lane.along);
    float ahead = th_dot(to, lane.along), aside = th_dot(to, left);
    float room = radius + TH_BODY_MARGIN;
    if (ahead < lane.rear - room || ahead - lane.front - radius > TH_BODY_HORIZON * lane.speed)
        return;
    float to_left = lane.left + room - aside, to_right = aside - lane.right + room;
    th_vec2 wish = {agents->preferred_x[i], agents->preferred_y[i]};
    if (to_left <= 0.0f || to_right <= 0.0f) { // beside the lane: not into it
        float inward = to_left <= 0.0f ? -th_dot(wish, left) : th_dot(wish, left);
        float near = to_left <= 0.0f ? -to_left : -to_right;
        if (inward <= 0.0f || near > radius) return;
        wish = th_add(wish, th_scale(to_left <= 0.0f ? inward : -inward, left));
    } else {
        bool go_left = to_left < to_right;
        for (int k = 0; k < 2; ++k, go_left = !go_left) {
            th_vec2 out = th_scale(go_left ? to_left : -to_right, left);
            if (th_walls_first_crossing(walls, level, p, th_add(p, out), NULL) < 0) break;
        }
        wish = th_scale(go_left ? agents->speed[i] : -agents->speed[i], left);
    }
    agents->preferred_x[i] = wish.x;
    agents->preferred_y[i] = wish.y;
}
TH_BOTH static inline void th_bodies_make_way(th_world *world, uint32_t i) {
    th_walls bare = th_world_walls(world);
    int count = world->body_count;
    bare.body_count = 0;
    if (world->agents.phase[i] != TH_PHASE_WALKING) return;
    for (int b = 0; b < count; ++b)
        if (world->bodies[b].corner_count > 0 && th_body_moves(&world->bodies[b]))
            th_body_make_way(world, &bare, &world->bodies[b], i);
}

// bodies.c: the CPU's loops, at the beginning of the events stage and the end of the filter stage.
void th_bodies_move(th_world *world);
void th_bodies_step_aside(th_world *world);
// After the bodies came from a snapshot: how many there are, and their edges.
void th_bodies_restored(th_world *world);
// For worlds on a device, whose host moves the bodies: steps all bodies. True: one has stopped or set off, which
// planners must know.
bool th_bodies_advance(th_world *world);
void th_bodies_tell_planners(th_world *world);
#endif
