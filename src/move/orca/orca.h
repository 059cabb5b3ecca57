// ORCA, optimal reciprocal collision avoidance: van den Berg, Guy, Lin, Manocha, "Reciprocal n-body
// collision avoidance", 2011. One agent's half-planes and the three linear programs.
//
// Implemented: half-plane of an agent (cut-off disc, legs, touching pair), half-plane of a wall edge
//   with its corner cases, linear programs 1 and 2 (velocity nearest the preferred one) and 3 (least
//   violation when the half-planes exclude each other).
// Not in the paper: a direction for exactly coinciding velocities; unequal share of the avoidance for
//   neighbours that do not react; the final clip to the speed limit against rounding.
// Left out: the randomised order of the linear programs (needless for so few lines).
//
// A velocity v is allowed by a line (point q, unit direction d) when det(d, q - v) <= 0: to its left.
// The programs stay scalar: only about two of ten lines are violated, and a vector version of program 1
// took a third more time.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_FORMULA_ORCA_H
#define TH_FORMULA_ORCA_H
#include "formula/math.h"
#include "formula/params.h"
#include "formula/random.h"
#include "formula/segment.h"
#include "formula/vec.h"
#include "state/nearest.h"
#include <math.h>
#include <string.h>

#define TH_ORCA_PARAMS(X)                                                                         \
    TH_CONTACT_PARAMS(X)                                                                          \
    X(time_horizon, 2.0, 0.05, 60, "s",                                                           \
      "Menge 2.5-3, RVO2 examples 5-10; shorter for dense crowds",                                \
      "how far ahead collisions with people are avoided")                                         \
    X(time_horizon_obstacle, 0.5, 0.05, 60, "s", "between Menge's 0.15 and the RVO2 examples' 5", \
      "how far ahead collisions with walls are avoided")                                          \
    X(neighbour_range, 5, 0.1, 50, "m", "Menge", "people further away are not seen")              \
    X(max_neighbours, 10, 1, 16, "-", "Menge, RVO2 examples", "the nearest this many count")      \
    X(max_speed, 2, 0.01, 10, "m/s", "Menge", "limit for agents that do not prefer to be faster") \
    X(max_acceleration, 0, 0, 100, "m/s2", "0: no limit, as in the paper; Menge 2-5",             \
      "limit on the change of velocity")                                                          \
    X(noise, 0.001, 0, 0.1, "m/s", "RVO2 examples perturb likewise to break symmetric deadlocks", \
      "random part of the preferred velocity")                                                    \
    X(line_of_sight, 1, 0, 1, "-", "throng; 0 sees through walls as RVO2 does",                   \
      "1: people behind a wall are not neighbours")

typedef struct th_orca_params {
    TH_ORCA_PARAMS(TH_PARAM_MEMBER)
} th_orca_params;

#define TH_ORCA_EPSILON 1e-5f // parallel lines and covered edges, RVO2
enum {
    TH_ORCA_WALLS = 16,      // most wall lines
    TH_ORCA_NEIGHBOURS = 16, // most agent lines
    TH_ORCA_LINES = 32
};

typedef struct th_orca_line {
    th_vec2 point, direction;
} th_orca_line;

// Wall lines first (hard), then agent lines (soft). The CPU computes sixteen lines at once and wants arrays; a thread
// of a GPU keeps its lines in shared memory, every `stride`-th place, and reads one with one instruction.
#ifdef TH_DEVICE_CODE
typedef struct alignas(16) th_orca_place { // read and written at once
    th_orca_line line;
} th_orca_place;
typedef struct th_orca_lines {
    th_orca_place *places;
    int stride, wall_count, count;
} th_orca_lines;

TH_FORMULA th_orca_line th_orca_line_at(const th_orca_lines *lines, int i) {
    return lines->places[i * lines->stride].line;
}

TH_FORMULA void th_orca_set_line(th_orca_lines *lines, int i, th_orca_line line) {
    th_orca_place place = {line};
    lines->places[i * lines->stride] = place;
}
#else
typedef struct th_orca_lines {
    float point_x[TH_ORCA_LINES], point_y[TH_ORCA_LINES];
    float direction_x[TH_ORCA_LINES], direction_y[TH_ORCA_LINES];
    int wall_count, count;
} th_orca_lines;

TH_FORMULA th_orca_line th_orca_line_at(const th_orca_lines *lines, int i) {
    th_orca_line line;
    line.point = th_v(lines->point_x[i], lines->point_y[i]);
    line.direction = th_v(lines->direction_x[i], lines->direction_y[i]);
    return line;
}

TH_FORMULA void th_orca_set_line(th_orca_lines *lines, int i, th_orca_line line) {
    lines->point_x[i] = line.point.x;
    lines->point_y[i] = line.point.y;
    lines->direction_x[i] = line.direction.x;
    lines->direction_y[i] = line.direction.y;
}
#endif

// Half-plane that one neighbour leaves to the agent. `relative_position` = x_j - x_i, `velocity` = v_i,
// `relative_velocity` = v_i - v_j, `radius` = r_i + r_j, `share` of the avoidance that the agent takes (0.5 when the
// neighbour does the same). `tie` = +-1, opposite for the two of a pair. Without branches: it is compiled for sixteen
// neighbours at once.
TH_FORMULA th_orca_line th_orca_agent_line(th_vec2 relative_position, th_vec2 velocity,
                                           th_vec2 relative_velocity, float radius,
                                           float inverse_horizon, float inverse_step, float share,
                                           float tie) {
    th_vec2 p = relative_position, v = relative_velocity;
    float distance2 = th_length2(p), radius2 = radius * radius;
    bool touching = distance2 <= radius2;
    float inverse_time = touching ? inverse_step : inverse_horizon;
    // From the centre of the cut-off disc (the neighbour's place after the horizon) to v.
    th_vec2 w = th_v(v.x - inverse_time * p.x, v.y - inverse_time * p.y);
    float w_length2 = th_length2(w), w_dot_p = th_dot(w, p);
    bool disc = touching | ((w_dot_p < 0.0f) & (w_dot_p * w_dot_p > radius2 * w_length2));
    float w_length = th_root(w_length2);
    bool degenerate = !(w_length > 1e-12f);
    float inverse_w = th_divide(1.0f, degenerate ? 1.0f : w_length);
    th_vec2 n = th_v(degenerate ? tie : w.x * inverse_w, degenerate ? 0.0f : w.y * inverse_w);
    float depth = radius * inverse_time - w_length;
    // The two tangents from the origin to the disc of radius R around p.
    float leg = th_root(th_max(distance2 - radius2, 0.0f));
    float side = p.x * w.y - p.y * w.x > 0.0f ? 1.0f : -1.0f;
    float inverse_distance2 = th_divide(1.0f, th_max(distance2, 1e-20f));
    th_vec2 tangent = th_v((side * p.x * leg - p.y * radius) * inverse_distance2,
                           (p.x * radius + side * p.y * leg) * inverse_distance2);
    float along = th_dot(v, tangent);
    float u_x = disc ? depth * n.x : along * tangent.x - v.x;
    float u_y = disc ? depth * n.y : along * tangent.y - v.y;
    th_orca_line line;
    line.direction.x = disc ? n.y : tangent.x;
    line.direction.y = disc ? -n.x : tangent.y;
    line.point.x = velocity.x + share * u_x;
    line.point.y = velocity.y + share * u_y;
    return line;
}

// A wall edge as its half-plane needs it: solid on the left of a -> b.
typedef struct th_orca_edge {
    th_vec2 a, b;                      // relative to the agent
    th_vec2 direction, previous, next; // unit directions of this edge and its neighbours
    bool a_convex, b_convex;
} th_orca_edge;

// The tangents of a vertex at relative position p (distance^2 > radius^2): +1 left leg, -1 right leg.
TH_FORMULA th_vec2 th_orca_leg(th_vec2 p, float radius, float side) {
    float distance2 = th_length2(p);
    float leg = sqrtf(th_max(distance2 - radius * radius, 0.0f)),
          inverse_distance2 = 1.0f / distance2;
    return th_v((p.x * leg - side * p.y * radius) * inverse_distance2,
                (side * p.x * radius + p.y * leg) * inverse_distance2);
}

// Line through the velocity-space point `cut` pushed outward by the agent's radius.
TH_FORMULA th_orca_line th_orca_offset_line(th_vec2 cut, th_vec2 direction, float offset) {
    th_orca_line line;
    line.direction = direction;
    line.point = th_add(cut, th_scale(offset, th_perp_left(direction)));
    return line;
}

// Half-plane of one wall edge; false when the edge adds nothing. Walls do not step aside: the agent takes the whole
// avoidance.
TH_FORMULA bool th_orca_wall_line(const th_orca_edge *edge, th_vec2 velocity, float radius,
                                  float inverse_horizon, th_orca_line *line) {
    th_vec2 a = edge->a, b = edge->b, ab = th_sub(b, a);
    float radius2 = radius * radius;
    float s = -th_dot(a, ab) / th_length2(ab);
    float line_distance2 = th_length2(th_add(a, th_scale(s, ab)));
    bool near_line = line_distance2 <= radius2;

    // Touching already: a line through the origin stops the agent from going further in.
    if (s < 0.0f && th_length2(a) <= radius2) {
        if (!edge->a_convex) return false;
        line->point = th_v(0.0f, 0.0f);
        line->direction = th_unit(th_perp_left(a));
        return true;
    }
    if (s > 1.0f && th_length2(b) <= radius2) {
        if (!edge->b_convex || th_det(b, edge->next) < 0.0f)
            return false; // the next edge will do it
        line->point = th_v(0.0f, 0.0f);
        line->direction = th_unit(th_perp_left(b));
        return true;
    }
    if (s >= 0.0f && s < 1.0f && near_line) {
        line->point = th_v(0.0f, 0.0f);
        line->direction = th_scale(-1.0f, edge->direction);
        return true;
    }

    // The two vertices that bound the velocity obstacle, and its legs. Seen along its length an edge
    // shows only its near vertex.
    th_vec2 first = a, second = b, before = edge->previous, after = edge->next, left_leg, right_leg;
    bool first_convex = edge->a_convex, second_convex = edge->b_convex, one_vertex = false;
    if (s < 0.0f && near_line) {
        if (!edge->a_convex) return false;
        one_vertex = true;
        second = a;
        second_convex = true;
        after = edge->direction;
    } else if (s > 1.0f && near_line) {
        if (!edge->b_convex) return false;
        one_vertex = true;
        first = b;
        first_convex = true;
        before = edge->direction;
    }
    left_leg = first_convex ? th_orca_leg(first, radius, 1.0f) : th_scale(-1.0f, edge->direction);
    right_leg = second_convex ? th_orca_leg(second, radius, -1.0f) : edge->direction;

    // A leg may not cut into the adjacent edge; that edge's own line then bounds this side.
    bool left_foreign = false, right_foreign = false;
    th_vec2 back = th_scale(-1.0f, before);
    if (first_convex && th_det(left_leg, back) >= 0.0f) {
        left_leg = back;
        left_foreign = true;
    }
    if (second_convex && th_det(right_leg, after) <= 0.0f) {
        right_leg = after;
        right_foreign = true;
    }

    // Nearest point of the obstacle's boundary to the current velocity: disc, segment or leg.
    th_vec2 left_cut = th_scale(inverse_horizon, first),
            right_cut = th_scale(inverse_horizon, second);
    th_vec2 cut = th_sub(right_cut, left_cut);
    th_vec2 from_left = th_sub(velocity, left_cut), from_right = th_sub(velocity, right_cut);
    float t = one_vertex ? 0.5f : th_dot(from_left, cut) / th_length2(cut);
    float t_left = th_dot(from_left, left_leg), t_right = th_dot(from_right, right_leg);
    float offset = radius * inverse_horizon;
    if ((t < 0.0f && t_left < 0.0f) || (one_vertex && t_left < 0.0f && t_right < 0.0f)) {
        *line = th_orca_offset_line(left_cut, th_perp_right(th_unit(from_left)), offset);
        return true;
    }
    if (t > 1.0f && t_right < 0.0f) {
        *line = th_orca_offset_line(right_cut, th_perp_right(th_unit(from_right)), offset);
        return true;
    }
    const float far = 1e30f;
    float to_cut =
        t < 0.0f || t > 1.0f || one_vertex ? far : th_length2(th_sub(from_left, th_scale(t, cut)));
    float to_left = t_left < 0.0f ? far : th_length2(th_sub(from_left, th_scale(t_left, left_leg)));
    float to_right =
        t_right < 0.0f ? far : th_length2(th_sub(from_right, th_scale(t_right, right_leg)));
    if (to_cut <= to_left && to_cut <= to_right) {
        *line = th_orca_offset_line(left_cut, th_scale(-1.0f, edge->direction), offset);
        return true;
    }
    if (to_left <= to_right) {
        if (left_foreign) return false;
        *line = th_orca_offset_line(left_cut, left_leg, offset);
        return true;
    }
    if (right_foreign) return false;
    *line = th_orca_offset_line(right_cut, th_scale(-1.0f, right_leg), offset);
    return true;
}

// Does a wall line already keep the agent from the whole edge a..b (relative positions)?
TH_FORMULA bool th_orca_covered(const th_orca_lines *lines, th_vec2 a, th_vec2 b, float radius,
                                float inverse_horizon) {
    for (int j = 0; j < lines->count; ++j) {
        th_orca_line line = th_orca_line_at(lines, j);
        float at_a = th_det(th_sub(th_scale(inverse_horizon, a), line.point), line.direction);
        float at_b = th_det(th_sub(th_scale(inverse_horizon, b), line.point), line.direction);
        if (at_a - inverse_horizon * radius >= -TH_ORCA_EPSILON &&
            at_b - inverse_horizon * radius >= -TH_ORCA_EPSILON)
            return true;
    }
    return false;
}

// Linear program 1: the best velocity on line i within the speed disc and left of the lines before it.
// `along` selects: false, nearest to `optimum`; true, furthest in direction `optimum`.
TH_FORMULA bool th_orca_program1(const th_orca_lines *lines, int i, float max_speed,
                                 th_vec2 optimum, bool along, th_vec2 *result) {
    th_orca_line line = th_orca_line_at(lines, i);
    float dot = th_dot(line.point, line.direction);
    float discriminant = dot * dot + max_speed * max_speed - th_length2(line.point);
    if (discriminant < 0.0f) return false;
    float root = th_root(discriminant);
    float left = -dot - root, right = -dot + root;
    for (int j = 0; j < i; ++j) {
        th_orca_line other = th_orca_line_at(lines, j);
        float denominator = th_det(line.direction, other.direction);
        float numerator = th_det(other.direction, th_sub(line.point, other.point));
        if (fabsf(denominator) <= TH_ORCA_EPSILON) {
            if (numerator < 0.0f) return false; // parallel and outside
            continue;
        }
        float cut = th_divide(numerator, denominator);
        if (denominator >= 0.0f)
            right = cut < right ? cut : right;
        else
            left = cut > left ? cut : left;
        if (left > right) return false;
    }
    float t;
    if (along)
        t = th_dot(optimum, line.direction) > 0.0f ? right : left;
    else
        t = th_clamp(th_dot(line.direction, th_sub(optimum, line.point)), left, right);
    *result = th_add(line.point, th_scale(t, line.direction));
    return true;
}

// Linear program 2. Returns lines->count on success, else the line that could not be satisfied; the
// result is then the best for the lines before it.
TH_FORMULA int th_orca_program2(const th_orca_lines *lines, float max_speed, th_vec2 optimum,
                                bool along, th_vec2 *result) {
    *result = along ? th_scale(max_speed, optimum) : th_limit(optimum, max_speed);
    for (int i = 0; i < lines->count; ++i) {
        th_orca_line line = th_orca_line_at(lines, i);
        if (!(th_det(line.direction, th_sub(line.point, *result)) > 0.0f))
            continue; // satisfied already
        th_vec2 better;
        if (!th_orca_program1(lines, i, max_speed, optimum, along, &better)) return i;
        *result = better;
    }
    return lines->count;
}

// Lines for program 3: where line j is violated as much as line i.
TH_FORMULA void th_orca_bisectors(const th_orca_lines *lines, int i, th_orca_lines *bisectors) {
    th_orca_line line = th_orca_line_at(lines, i);
    int kept = lines->wall_count;
    for (int j = 0; j < lines->wall_count; ++j)
        th_orca_set_line(bisectors, j, th_orca_line_at(lines, j));
    for (int j = lines->wall_count; j < i; ++j) {
        th_orca_line other = th_orca_line_at(lines, j), bisector;
        float determinant = th_det(line.direction, other.direction);
        float magnitude = determinant < 0.0f ? -determinant : determinant;
        if (magnitude <= TH_ORCA_EPSILON) {
            if (th_dot(line.direction, other.direction) > 0.0f)
                continue; // same way: never the worse one
            bisector.point = th_scale(0.5f, th_add(line.point, other.point));
        } else {
            float t =
                th_divide(th_det(other.direction, th_sub(line.point, other.point)), determinant);
            bisector.point = th_add(line.point, th_scale(t, line.direction));
        }
        th_vec2 between = th_sub(other.direction, line.direction);
        float length = th_root(th_length2(between));
        bisector.direction =
            length > 1e-12f ? th_scale(th_divide(1.0f, length), between) : th_v(0.0f, 0.0f);
        th_orca_set_line(bisectors, kept++, bisector);
    }
    bisectors->wall_count = lines->wall_count;
    bisectors->count = kept;
}

// Linear program 3: from the failing line on, minimise the largest violation of the agent lines, the
// wall lines staying hard. `bisectors` is work space.
TH_FORMULA void th_orca_program3(const th_orca_lines *lines, th_orca_lines *bisectors, int failed,
                                 float max_speed, th_vec2 *result) {
    float violation = 0.0f;
    for (int i = failed; i < lines->count; ++i) {
        th_orca_line line = th_orca_line_at(lines, i);
        if (!(th_det(line.direction, th_sub(line.point, *result)) > violation)) continue;
        th_orca_bisectors(lines, i, bisectors);
        th_vec2 better;
        // Failing can only be rounding: the old result is feasible by construction. Keep it then.
        if (th_orca_program2(bisectors, max_speed, th_perp_left(line.direction), true, &better) ==
            bisectors->count)
            *result = better;
        violation = th_det(line.direction, th_sub(line.point, *result));
    }
}

TH_FORMULA th_vec2 th_orca_velocity(const th_orca_lines *lines, th_orca_lines *bisectors,
                                    float max_speed, th_vec2 preferred) {
    th_vec2 result;
    int failed = th_orca_program2(lines, max_speed, preferred, false, &result);
    if (failed < lines->count) th_orca_program3(lines, bisectors, failed, max_speed, &result);
    // Bisectors of nearly parallel lines meet far away, where rounding can put the result off the disc.
    return th_limit(result, max_speed);
}

// The walls around one person, nearest first.
enum { TH_ORCA_NEAR_WALLS = 64 };
typedef struct th_orca_wall_list {
    int count, wall[TH_ORCA_NEAR_WALLS];
    float distance2[TH_ORCA_NEAR_WALLS];
    float range; // all standing walls within it are listed
} th_orca_wall_list;

TH_BOTH static inline void th_orca_list_walls(const th_walls *walls, int level, th_vec2 p,
                                              float range, th_orca_wall_list *list) {
    list->count = 0;
    list->range = range;
    if (range <= walls->grids[level].reach && !th_walls_maybe_near(walls, level, p)) return;
    list->count =
        th_walls_near(walls, level, p, range, list->wall, list->distance2, TH_ORCA_NEAR_WALLS);
    // When some did not fit, the list is complete only up to the last that did.
    if (list->count == TH_ORCA_NEAR_WALLS)
        list->range = sqrtf(list->distance2[TH_ORCA_NEAR_WALLS - 1]);
}

// Does a wall stand between p and q? Only walls nearer to p than q can.
TH_BOTH static inline bool th_orca_hidden_behind(const th_walls *walls, int level,
                                                 const th_orca_wall_list *list, th_vec2 p,
                                                 th_vec2 q) {
    float distance2 = th_length2(th_sub(q, p)), t;
    if (distance2 >= list->range * list->range)
        return th_walls_first_crossing(walls, level, p, q, &t) >= 0;
    for (int k = 0; k < list->count && list->distance2[k] <= distance2; ++k) {
        const th_wall *wall = &walls->walls[list->wall[k]];
        double at;
        if (th_segments_meet(p, q, wall->a, wall->b, &at)) return true;
    }
    return false;
}

TH_BOTH static inline void th_orca_drop_hidden(const th_walls *walls, const th_world *world,
                                               uint32_t i, const th_orca_wall_list *list,
                                               th_nearest *nearest) {
    const th_agents *agents = &world->agents;
    int kept = 0, level = (int)agents->level[i];
    for (int k = 0; k < nearest->count; ++k) {
        uint32_t j = nearest->agent[k];
        bool same_level = agents->level[j] == agents->level[i];
        if (same_level && th_orca_hidden_behind(walls, level, list, th_position(agents, i),
                                                th_position(agents, j)))
            continue;
        nearest->agent[kept++] = j;
    }
    nearest->count = kept;
}

TH_BOTH static inline void th_orca_wall_lines(const th_walls *walls, const th_world *world,
                                              uint32_t i, const th_orca_params *params,
                                              const th_orca_wall_list *list, float range,
                                              th_orca_lines *lines) {
    const th_agents *agents = &world->agents;
    th_vec2 p = th_position(agents, i), v = th_velocity(agents, i);
    float radius = agents->radius[i], inverse_horizon = 1.0f / params->time_horizon_obstacle;
    for (int k = 0; k < list->count && lines->count < TH_ORCA_WALLS; ++k) {
        if (list->distance2[k] > range * range) break;
        const th_wall *wall = &walls->walls[list->wall[k]];
        th_orca_edge edge = {
            .a = th_sub(wall->a, p), .b = th_sub(wall->b, p), .direction = wall->direction};
        // Only edges that show the agent their walkable side.
        if (th_det(wall->direction, th_sub(p, wall->a)) >= 0.0f) continue;
        if (th_orca_covered(lines, edge.a, edge.b, radius, inverse_horizon)) continue;
        const th_wall *next = &walls->walls[wall->next], *previous = &walls->walls[wall->prev];
        edge.previous = previous->direction;
        edge.next = next->direction;
        edge.a_convex = wall->a_convex;
        edge.b_convex = next->a_convex;
        th_orca_line line;
        if (th_orca_wall_line(&edge, v, radius, inverse_horizon, &line))
            th_orca_set_line(lines, lines->count++, line);
    }
    lines->wall_count = lines->count;
}

// An agent as the half-planes of others need it.
typedef struct th_orca_avoider {
    th_vec2 p, v;
    float radius, inverse_horizon, inverse_step;
    bool all_react;
} th_orca_avoider;

TH_FORMULA th_orca_avoider th_orca_avoider_of(const th_world *world, uint32_t i,
                                              const th_orca_params *params) {
    const th_agents *agents = &world->agents;
    th_orca_avoider own;
    own.p = th_position(agents, i);
    own.v = th_velocity(agents, i);
    own.radius = agents->radius[i];
    own.inverse_horizon = 1.0f / params->time_horizon;
    own.inverse_step = 1.0f / world->dt;
    own.all_react = world->scene->scripted_count == 0;
    return own;
}

TH_FORMULA th_orca_line th_orca_neighbour_line(const th_agents *agents, const th_orca_avoider *own,
                                               uint32_t i, uint32_t j) {
    th_vec2 to = th_sub(th_position(agents, j), own->p),
            relative = th_sub(own->v, th_velocity(agents, j));
    float share = own->all_react || th_moves(agents->phase[j]) ? 0.5f : 1.0f;
    return th_orca_agent_line(to, own->v, relative, own->radius + agents->radius[j],
                              own->inverse_horizon, own->inverse_step, share, i < j ? 1.0f : -1.0f);
}

TH_FORMULA th_vec2 th_orca_noise_of(uint64_t seed, uint32_t id, uint64_t step) {
    th_random4 r = th_philox(seed, TH_STREAM_NOISE, id, step);
    return th_v(2.0f * th_uniform(r.v[0]) - 1.0f, 2.0f * th_uniform(r.v[1]) - 1.0f);
}

// No agent that stands still is shaken.
TH_FORMULA th_vec2 th_orca_preferred(const th_agents *agents, uint32_t i, float strength,
                                     th_vec2 noise) {
    th_vec2 preferred = {agents->preferred_x[i], agents->preferred_y[i]};
    if (preferred.x == 0.0f && preferred.y == 0.0f) return preferred;
    return th_add(preferred, th_scale(strength, noise));
}

// Where the velocity leads, changed no more than the limit on acceleration allows.
TH_FORMULA void th_orca_take_velocity(const th_world *world, uint32_t i,
                                      const th_orca_params *params, th_vec2 velocity) {
    const th_agents *agents = &world->agents;
    if (params->max_acceleration > 0.0f) {
        th_vec2 old = th_velocity(agents, i);
        velocity =
            th_add(old, th_limit(th_sub(velocity, old), params->max_acceleration * world->dt));
    }
    agents->next_velocity_x[i] = velocity.x;
    agents->next_velocity_y[i] = velocity.y;
    agents->next_position_x[i] = agents->position_x[i] + velocity.x * world->dt;
    agents->next_position_y[i] = agents->position_y[i] + velocity.y * world->dt;
}

// An agent that prefers to be faster than the limit may be.
TH_FORMULA float th_orca_fastest_of(const th_agents *agents, uint32_t i,
                                    const th_orca_params *params) {
    return th_max(params->max_speed, agents->speed[i]);
}

// From how far walls make lines.
TH_FORMULA float th_orca_wall_range_of(const th_agents *agents, uint32_t i,
                                       const th_orca_params *params) {
    return params->time_horizon_obstacle * params->max_speed + agents->radius[i];
}

// The lines of the walls around i into `lines`, which become its first. `nearest` are those on the same level; near
// ones on another level are added, hidden ones dropped.
TH_FORMULA void th_orca_begin_lines(const th_world *world, const th_walls *walls, uint32_t i,
                                    const th_orca_params *params, th_nearest *nearest,
                                    th_orca_lines *lines) {
    const th_agents *agents = &world->agents;
    int wanted = (int)params->max_neighbours;
    if (world->scene->link_count > 0)
        th_nearest_add_linked(world, i, wanted, params->neighbour_range, nearest);
    lines->count = lines->wall_count = 0;
    if (walls->count == 0) return;
    float range = th_orca_wall_range_of(agents, i, params);
    th_orca_wall_list near;
    int level = (int)agents->level[i];
    th_orca_list_walls(walls, level, th_position(agents, i),
                       th_max(range, walls->grids[level].reach), &near);
    th_orca_wall_lines(walls, world, i, params, &near, range, lines);
    if (params->line_of_sight > 0.0f) th_orca_drop_hidden(walls, world, i, &near, nearest);
}

// The velocity that all lines leave; bisectors are room for the program that finds it.
TH_FORMULA void th_orca_follow_lines(const th_world *world, uint32_t i,
                                     const th_orca_params *params, th_vec2 noise,
                                     const th_orca_lines *lines, th_orca_lines *bisectors) {
    const th_agents *agents = &world->agents;
    th_vec2 preferred = th_orca_preferred(agents, i, params->noise, noise);
    th_orca_take_velocity(
        world, i, params,
        th_orca_velocity(lines, bisectors, th_orca_fastest_of(agents, i, params), preferred));
}

TH_BOTH static inline bool th_orca_moves(const th_world *world, int i) {
    const th_agents *agents = &world->agents;
    return th_moves(agents->phase[i]) && !th_is_ghost(world, (uint32_t)i) &&
           world->groups[agents->group[i]].move == TH_MOVE_ORCA;
}
#endif
