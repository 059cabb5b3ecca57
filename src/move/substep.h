// Models that take several small steps within one step of the world. Every agent's position and velocity now are in
// agents.substep and agents.substep_velocity. The people of the model get a new velocity in next_velocity from their
// agents.drive, then all move at once (frozen reads). People of other models keep the velocity they have. An agent that
// lies on the ground is far away meanwhile, so that no agent is held up.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_MOVE_SUBSTEP_H
#define TH_MOVE_SUBSTEP_H
#include "core/device.h"
#include "core/parallel.h"
#include "formula/math.h"
#include "formula/vec.h"
#include "move/sieve.h"
#include "state/nearest.h"

// First parameters of every model that uses th_substep_run. `longest` is the default of substep, `why` its
// source.
#define TH_SUBSTEP_PARAMS(X, longest, why)                                           \
    TH_CONTACT_PARAMS(X)                                                             \
    X(substep, longest, 0.001, 0.5, "s", why,                                        \
      "longest time step of the model; the crowd takes the smallest of its groups")  \
    X(line_of_sight, 1, 0, 1, "-", "throng; 0 sees through walls, as the papers do", \
      "1: people behind a wall or a shut door are not seen")
typedef struct th_substep_params {
    float separation_passes, substep, line_of_sight;
} th_substep_params;

typedef struct th_substep {
    th_model_id model;
    int count; // sub-steps in this step
    int done;
    float h;       // length of a sub-step [s]
    float moved;   // farthest that any agent is from where the index saw it [m]
    float fastest; // any agent's speed when the step began [m/s]
    bool looks;    // th_substep_look is called for the model's people
} th_substep;

// The same as it begins; copies the state, sets the drive of the
// model's own people to their preferred velocity.
th_substep th_substep_begin(th_world *world, th_model_id model, float longest);
// Takes over next_velocity of the model's people and moves every agent by one sub-step. Repairs what is
// not finite. After the last one next_position and next_velocity are complete.
void th_substep_advance(th_world *world, th_substep *step);
// Over ranks: the copies of others' people move as those do. Returns the largest squared distance, theirs included.
float th_substep_meet(const th_world *world, float moved2);
// Where lying agents are [m].
#define TH_SUBSTEP_ELSEWHERE 1e6f
// Squared distance from where i stood when the step began [m2].
TH_FORMULA float th_substep_moved2(const th_agents *a, uint32_t i) {
    float dx = a->substep_x[i] - a->position_x[i], dy = a->substep_y[i] - a->position_y[i];
    return dx * dx + dy * dy;
}
// Where an agent of another model is after the sub-step; returns th_substep_moved2, 0 for agents that lie.
TH_FORMULA float th_substep_walk_on(th_agents *a, const th_substep *step, uint32_t i) {
    if (a->phase[i] == TH_PHASE_FALLEN) return 0.0f;
    float time = (float)(step->done + 1) * step->h;
    a->substep_x[i] = a->position_x[i] + time * a->velocity_x[i];
    a->substep_y[i] = a->position_y[i] + time * a->velocity_y[i];
    return th_substep_moved2(a, i);
}
// Another sub-step is done; every agent is within sqrt(moved2) of where the step began.
TH_FORMULA void th_substep_end(th_substep *step, float moved2) {
    // Bounded, so that one fast body does not make every agent search far: an agent that moves more than a
    // metre within a step is seen late, in the next step.
    step->moved = th_min(sqrtf(moved2), 1.0f);
    ++step->done;
}
TH_BOTH static inline bool th_substep_own(const th_world *world, th_model_id model, uint32_t i) {
    return th_moves(world->agents.phase[i]) && !th_is_ghost(world, i) &&
           world->groups[world->agents.group[i]].move == model;
}

// People closer than this have no direction between them; one is drawn from their ids [m].
#define TH_COINCIDENT 1e-6f

// Walks over every agent within a distance of a point, in storage order, in portions.
enum { TH_NEAR_MAX = 256 };
typedef struct th_near {
    const th_index *index;
    const th_level_grid *grid;
    int row, last_row, column0, column1;
    uint32_t next, end;
} th_near;

TH_FORMULA th_near th_near_begin(const th_world *world, const th_substep *step, uint32_t level,
                                 float x, float y, float range) {
    th_near near;
    near.index = &world->index;
    near.grid = &world->index.grids[level];
    range += step->moved; // the index knows where they were
    near.row = th_grid_row(near.grid, y - range);
    near.last_row = th_grid_row(near.grid, y + range);
    near.column0 = th_grid_column(near.grid, x - range);
    near.column1 = th_grid_column(near.grid, x + range);
    th_index_run(near.index, near.grid, near.row, near.column0, near.column1, &near.next,
                 &near.end);
    return near;
}

// The next portion of those within `range` of (x, y) now, person i left out; 0: there are no more.
TH_FORMULA int th_near_next(th_near *near, const float *restrict px, const float *restrict py,
                            uint32_t i, float x, float y, float range, uint32_t *restrict list) {
    int count = 0;
    float range2 = range * range;
    for (;;) {
        uint32_t room = (uint32_t)(TH_NEAR_MAX - count), left = near->end - near->next;
        int found;
        th_portion portion = th_portion_of(near->next, left < room ? left : room);
        TH_SIEVE(portion, i, j, th_length2(th_v(px[j] - x, py[j] - y)) < range2, list + count,
                 found);
        count += found;
        near->next += (uint32_t)portion.count;
        if (count == TH_NEAR_MAX) {
            return count;
        }
        if (near->next < near->end) {
            continue;
        }
        if (near->row == near->last_row) {
            return count;
        }
        ++near->row;
        th_index_run(near->index, near->grid, near->row, near->column0, near->column1, &near->next,
                     &near->end);
    }
}

// The next portion of a neighbourhood, near enough or not; false: there are no more.
TH_FORMULA bool th_near_portion(th_near *near, th_portion *portion) {
    while (near->next == near->end) {
        if (near->row == near->last_row) return false;
        ++near->row;
        th_index_run(near->index, near->grid, near->row, near->column0, near->column1, &near->next,
                     &near->end);
    }
    *portion = th_portion_of(near->next, near->end - near->next);
    near->next += (uint32_t)portion->count;
    return true;
}

// Which neighbours an agent sees is decided once per step, where every agent stood when it began. The result for the
// sub-steps lies in agents.around, which the index stage no longer uses.
enum { TH_AROUND_HIDDEN = 1, TH_AROUND_LINKED = 2 };
enum { TH_LINKED_MAX = 64 }; // most people felt across links, the nearest

// The number of sub-steps no longer than `longest` [s] and their length.
TH_BOTH static inline th_substep th_substep_of(const th_world *world, th_model_id model,
                                               float longest) {
    // The 0.001 keeps 0.1 / 0.01 at ten although neither is exact.
    float count = ceilf(world->dt / longest - 0.001f);
    th_substep step = {.model = model, .count = count > 1.0f ? (int)count : 1};
    step.h = world->dt / (float)step.count;
    return step;
}

// Returns the squared speed.
TH_FORMULA float th_substep_copy_state(th_world *world, th_model_id model, uint32_t i) {
    th_agents *a = &world->agents;
    bool lies = a->phase[i] == TH_PHASE_FALLEN;
    a->substep_x[i] = lies ? TH_SUBSTEP_ELSEWHERE : a->position_x[i];
    a->substep_y[i] = a->position_y[i];
    a->substep_velocity_x[i] = a->velocity_x[i];
    a->substep_velocity_y[i] = a->velocity_y[i];
    if (th_substep_own(world, model, i)) {
        bool walks = a->phase[i] == TH_PHASE_WALKING;
        a->drive_x[i] = walks ? a->preferred_x[i] : 0.0f;
        a->drive_y[i] = walks ? a->preferred_y[i] : 0.0f;
    }
    return th_length2(th_velocity(a, i));
}

TH_BOTH static inline bool th_finite4(float a, float b, float c, float d) {
    // Infinities and not-a-numbers both give a difference that is not zero.
    return a - a == 0.0f && b - b == 0.0f && c - c == 0.0f && d - d == 0.0f;
}

// Own person i: velocity, then position with it (semi-implicit Euler). False: had to be repaired.
TH_FORMULA bool th_substep_take_velocity(th_agents *a, uint32_t i, float h) {
    float vx = a->next_velocity_x[i], vy = a->next_velocity_y[i];
    float x = a->substep_x[i] + h * vx, y = a->substep_y[i] + h * vy;
    bool good = th_finite4(x, y, vx, vy);
    if (good) {
        a->substep_x[i] = x;
        a->substep_y[i] = y;
        a->substep_velocity_x[i] = vx;
        a->substep_velocity_y[i] = vy;
    } else if (!th_finite4(a->substep_velocity_x[i], a->substep_velocity_y[i], 0.0f, 0.0f)) {
        a->substep_velocity_x[i] = 0.0f;
        a->substep_velocity_y[i] = 0.0f;
    }
    return good;
}

TH_FORMULA void th_substep_write_result(th_agents *a, uint32_t i) {
    a->next_position_x[i] = a->substep_x[i];
    a->next_position_y[i] = a->substep_y[i];
    a->next_velocity_x[i] = a->substep_velocity_x[i];
    a->next_velocity_y[i] = a->substep_velocity_y[i];
}

// Returns the squared distance from generation n; counts repairs.
TH_FORMULA float th_substep_advance_agent(th_world *world, const th_substep *step, uint32_t i,
                                          uint64_t *repairs) {
    th_agents *a = &world->agents;
    if (th_substep_own(world, step->model, i)) {
        *repairs += th_substep_take_velocity(a, i, step->h) ? 0u : 1u;
        if (step->done + 1 == step->count) {
            th_substep_write_result(a, i);
        }
        return th_substep_moved2(a, i);
    }
    return th_substep_walk_on(a, step, i);
}

// All agents that may come within `range` during the step are within this distance now: two people approach by twice the speed
// of the fastest, and half a metre per second for what they gain in the step. At most a metre, as for `moved`.
TH_BOTH static inline float th_substep_range(const th_world *world, const th_substep *step,
                                             float range) {
    return range + th_min(2.0f * world->dt * (step->fastest + 0.5f), 1.0f);
}

// Is there a wall between where i and j stood when the step began?
TH_BOTH static inline bool th_hidden(const th_world *world, const th_walls *walls, uint32_t i,
                                     uint32_t j) {
    const th_agents *a = &world->agents;
    return th_walls_first_crossing(walls, (int)a->level[i], th_position(a, i), th_position(a, j),
                                   NULL) >= 0;
}

// Removes the agents of the list that a wall hides from i; the others keep their order. Returns how many are left.
TH_BOTH static inline int th_drop_hidden(const th_world *world, const th_walls *walls, uint32_t i,
                                         uint32_t *list, int count) {
    int kept = 0;
    for (int k = 0; k < count; ++k) {
        uint32_t j = list[k];
        if (!th_hidden(world, walls, i, j)) {
            list[kept++] = j;
        }
    }
    return kept;
}

// A distance from p, at most `range`, within which there is no wall.
TH_BOTH static inline float th_substep_clear_distance(const th_walls *walls, int level, th_vec2 p,
                                                      float range) {
    if (th_walls_clear(walls, level, p) >= range) return range;
    float asked = th_min(range, walls->grids[level].reach), distance2;
    int nearest;
    bool any = th_walls_maybe_near(walls, level, p) &&
               th_walls_near(walls, level, p, asked, &nearest, &distance2, 1) > 0;
    return any ? sqrtf(distance2) : asked;
}

TH_BOTH static inline bool th_substep_somebody_hidden(const th_world *world, const th_substep *step,
                                                      const th_walls *walls, uint32_t i,
                                                      float range) {
    const th_agents *a = &world->agents;
    th_vec2 p = th_position(a, i);
    float clear = th_substep_clear_distance(walls, (int)a->level[i], p, range);
    if (clear >= range) {
        return false;
    }
    uint32_t list[TH_NEAR_MAX + 1];
    th_near near = th_near_begin(world, step, a->level[i], p.x, p.y, range);
    for (int count = TH_NEAR_MAX; count == TH_NEAR_MAX;) {
        count = th_near_next(&near, a->position_x, a->position_y, i, p.x, p.y, range, list);
        for (int k = 0; k < count; ++k) {
            // A hair less, as the distances are rounded.
            bool beyond = th_length(th_sub(th_position(a, list[k]), p)) > 0.999f * clear;
            if (beyond && th_hidden(world, walls, i, list[k])) {
                return true;
            }
        }
    }
    return false;
}

// Is there anything to look for: walls or links? Sets step->looks.
TH_BOTH static inline bool th_substep_looks(const th_world *world, th_substep *step,
                                            const th_walls *walls) {
    step->looks = walls->count > 0 || world->scene->link_count > 0;
    return step->looks;
}

// Looks whether any agent that may come within `range` of own person i during the step is behind a wall
// (asked only with line_of_sight) or across a link.
TH_BOTH static inline void th_substep_look(th_world *world, const th_substep *step,
                                           const th_walls *walls, uint32_t i, float range,
                                           bool line_of_sight) {
    uint32_t around = 0, found[1];
    float wide = th_substep_range(world, step, range);
    if (line_of_sight && walls->count > 0 &&
        th_substep_somebody_hidden(world, step, walls, i, wide)) {
        around |= TH_AROUND_HIDDEN;
    }
    if (th_linked_neighbours(world, i, wide, found, 1) > 0) {
        around |= TH_AROUND_LINKED;
    }
    world->agents.around[i] = around;
}

// Agents that may come within `range` of i across a link, the nearest first; room for TH_LINKED_MAX.
TH_BOTH static inline int th_substep_linked(const th_world *world, const th_substep *step,
                                            uint32_t i, float range, uint32_t *list) {
    int count =
        th_linked_neighbours(world, i, th_substep_range(world, step, range), list, TH_LINKED_MAX);
    return th_drop_fallen(world, list, count);
}

// Where along the wall, 0 at a and 1 at b, its nearest point to p lies.
TH_BOTH static inline float th_wall_place_along(const th_wall *wall, th_vec2 p) {
    return th_clamp(th_dot(th_sub(p, wall->a), wall->direction) / wall->length, 0.0f, 1.0f);
}

TH_BOTH static inline bool th_wall_acts(const th_walls *walls, const th_wall *wall, th_vec2 p,
                                        float s) {
    if (s >= 1.0f) {
        // The end belongs to the edge that starts there.
        return !th_wall_stands(walls, &walls->walls[wall->next]);
    }
    if (s <= 0.0f) {
        const th_wall *before = &walls->walls[wall->prev];
        return !th_wall_stands(walls, before) ||
               (wall->a_convex && th_wall_place_along(before, p) >= 1.0f);
    }
    return th_det(wall->direction, th_sub(p, wall->a)) <= 0.0f; // solid on the left
}

// Points of walls that act on an agent at p: the nearest point of each standing wall edge within
// `range`, a corner where two edges meet once, nothing of an edge that is seen from its solid side.
// Along a chain of edges this is one point per local minimum of the distance, so that cutting a wall
// into pieces changes nothing. Returns how many, at most max.
TH_BOTH static inline int th_wall_points(const th_walls *walls, int level, th_vec2 p, float range,
                                         th_vec2 *points, int max) {
    enum { NEAR_WALLS = 32 };
    int found[NEAR_WALLS];
    int near = th_walls_near(walls, level, p, range, found, NULL, NEAR_WALLS), count = 0;
    near = near < NEAR_WALLS ? near : NEAR_WALLS;
    for (int k = 0; k < near && count < max; ++k) {
        const th_wall *wall = &walls->walls[found[k]];
        float s = th_wall_place_along(wall, p);
        if (!th_wall_acts(walls, wall, p, s)) {
            continue;
        }
        // The corner itself at s = 1, so that two edges give the very same point.
        points[count++] =
            s >= 1.0f ? wall->b : th_add(wall->a, th_scale(s, th_sub(wall->b, wall->a)));
    }
    return count;
}

// Walks over every agent that own person i feels now: those within `range` of (x, y), i's place, that no
// wall hides, and those across links.
typedef struct th_felt {
    th_near near;
    uint32_t around;
    bool near_done;
} th_felt;

TH_FORMULA th_felt th_felt_begin(const th_world *world, const th_substep *step, uint32_t i, float x,
                                 float y, float range) {
    th_felt felt;
    felt.near = th_near_begin(world, step, world->agents.level[i], x, y, range);
    felt.around = step->looks ? world->agents.around[i] : 0;
    felt.near_done = false;
    return felt;
}

// The next portion, at most TH_NEAR_MAX, into list; -1: there are no more.
TH_FORMULA int th_felt_next(th_felt *felt, const th_world *world, const th_substep *step,
                            const th_walls *walls, uint32_t i, float x, float y, float range,
                            uint32_t *restrict list) {
    const th_agents *a = &world->agents;
    if (!felt->near_done) {
        int count = th_near_next(&felt->near, a->substep_x, a->substep_y, i, x, y, range, list);
        felt->near_done = count < TH_NEAR_MAX;
        return felt->around & TH_AROUND_HIDDEN ? th_drop_hidden(world, walls, i, list, count)
                                               : count;
    }
    if (!(felt->around & TH_AROUND_LINKED)) {
        return -1;
    }
    felt->around = 0;
    return th_substep_linked(world, step, i, range, list);
}

// ---- models in which the new velocity of every agent is a function of what it sees

// Parameters of a group begin with th_substep_params.
TH_BOTH static inline const th_substep_params *th_substep_params_of(const th_world *world,
                                                                    uint32_t i) {
    return (const th_substep_params *)(const void *)world->groups[world->agents.group[i]]
        .move_params;
}

// The shortest sub-step that a group of the model asks for.
static inline float th_substep_shortest(const th_world *world, th_model_id model) {
    float shortest = world->dt;
    for (int g = 0; g < world->group_count; ++g) {
        if (world->groups[g].move == model && !world->groups[g].scripted) {
            const float *params = world->groups[g].move_params;
            shortest = th_min(shortest, ((const th_substep_params *)(const void *)params)->substep);
        }
    }
    return shortest;
}

typedef struct th_substep_walk {
    th_model_id model;
    float (*range)(const th_world *world, uint32_t self); // how far they look, centre to centre [m]
    // Sets next_velocity of own people among begin .. end - 1.
    void (*block)(th_world *world, const th_substep *step, const th_walls *walls, uint32_t begin,
                  uint32_t end);
} th_substep_walk;
// The whole move stage of such a model.
void th_substep_run(th_world *world, const th_substep_walk *walk);
// The beginning of one as one person sees it, for what drives it.
th_substep th_substep_begin_for(th_world *world, const th_substep_walk *walk, const th_walls *walls,
                                uint32_t self);

// Neighbours copied into vectors, filled up to a multiple of TH_LANES with people 1 km away.
typedef struct th_gathered {
    _Alignas(64) float x[TH_NEAR_MAX];
    _Alignas(64) float y[TH_NEAR_MAX];
    _Alignas(64) float vx[TH_NEAR_MAX];
    _Alignas(64) float vy[TH_NEAR_MAX];
    _Alignas(64) float radius[TH_NEAR_MAX];
} th_gathered;

// Returns the filled-up count.
TH_FORMULA int th_gather(const th_agents *a, const uint32_t *restrict list, int count, float x,
                         th_gathered *restrict to) {
    for (int k = 0; k < count; ++k) {
        uint32_t j = list[k];
        to->x[k] = a->substep_x[j];
        to->y[k] = a->substep_y[j];
        to->vx[k] = a->substep_velocity_x[j];
        to->vy[k] = a->substep_velocity_y[j];
        to->radius[k] = a->radius[j];
    }
    int full = (count + TH_LANES - 1) / TH_LANES * TH_LANES;
    for (int k = count; k < full; ++k) {
        to->x[k] = x + 1000.0f;
        to->y[k] = to->vx[k] = to->vy[k] = to->radius[k] = 0.0f;
    }
    return full;
}
#endif
