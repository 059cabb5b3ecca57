// Bookkeeping of sub-steps, shared by the force models. SPDX-License-Identifier: Apache-2.0
#include "move/substep.h"
#include "state/neighbours.h"

#ifndef TH_DEVICE_CODE // world.cu asks by itself
bool th_substep_used(const th_world *world, th_model model) {
    for (int g = 0; g < world->group_count; ++g) {
        if (world->groups[g].move == model && !world->groups[g].scripted) {
            return true;
        }
    }
    return false;
}
#endif

TH_BOTH th_substep th_substep_of(const th_world *world, th_model model, float longest) {
    // The 0.001 keeps 0.1 / 0.01 at ten although neither is exact.
    float count = ceilf(world->dt / longest - 0.001f);
    th_substep step = {.model = model, .count = count > 1.0f ? (int)count : 1};
    step.h = world->dt / (float)step.count;
    return step;
}

// Returns the squared speed.
TH_FORMULA float copy_state(th_world *world, th_model model, uint32_t i) {
    th_agents *a = &world->agents;
    a->work_x[i] = a->position_x[i];
    a->work_y[i] = a->position_y[i];
    a->work2_x[i] = a->velocity_x[i];
    a->work2_y[i] = a->velocity_y[i];
    if (th_substep_own(world, model, i)) {
        bool walks = a->phase[i] == TH_PHASE_WALKING;
        a->next_position_x[i] = walks ? a->preferred_x[i] : 0.0f;
        a->next_position_y[i] = walks ? a->preferred_y[i] : 0.0f;
    }
    return th_length2(th_velocity(a, i));
}

#ifndef TH_DEVICE_CODE // the CPU's loop
th_substep th_substep_begin(th_world *world, th_model model, float longest) {
    th_substep step = th_substep_of(world, model, longest);
    int count_all = world->agents.count, blocks = th_block_count(count_all);
    float fastest2 = 0.0f;
#pragma omp parallel for schedule(static) num_threads(world->threads) reduction(max : fastest2)
    for (int b = 0; b < blocks; ++b) {
        int begin = b * TH_BLOCK, end = begin + TH_BLOCK < count_all ? begin + TH_BLOCK : count_all;
        for (int i = begin; i < end; ++i) {
            fastest2 = th_max(copy_state(world, model, (uint32_t)i), fastest2);
        }
    }
    step.fastest = sqrtf(fastest2);
    return step;
}
#endif

TH_BOTH static bool finite4(float a, float b, float c, float d) {
    // Infinities and not-a-numbers both give a difference that is not zero.
    return a - a == 0.0f && b - b == 0.0f && c - c == 0.0f && d - d == 0.0f;
}

// Own person i: velocity, then position with it (semi-implicit Euler). False: had to be repaired.
TH_FORMULA bool take_velocity(th_agents *a, uint32_t i, float h) {
    float vx = a->next_velocity_x[i], vy = a->next_velocity_y[i];
    float x = a->work_x[i] + h * vx, y = a->work_y[i] + h * vy;
    bool good = finite4(x, y, vx, vy);
    if (good) {
        a->work_x[i] = x;
        a->work_y[i] = y;
        a->work2_x[i] = vx;
        a->work2_y[i] = vy;
    } else if (!finite4(a->work2_x[i], a->work2_y[i], 0.0f, 0.0f)) {
        a->work2_x[i] = 0.0f;
        a->work2_y[i] = 0.0f;
    }
    return good;
}

TH_FORMULA void write_result(th_agents *a, uint32_t i) {
    a->next_position_x[i] = a->work_x[i];
    a->next_position_y[i] = a->work_y[i];
    a->next_velocity_x[i] = a->work2_x[i];
    a->next_velocity_y[i] = a->work2_y[i];
}

// Returns the squared distance from generation n; counts repairs.
TH_FORMULA float advance_one(th_world *world, const th_substep *step, uint32_t i,
                             uint64_t *repairs) {
    th_agents *a = &world->agents;
    if (th_substep_own(world, step->model, i)) {
        *repairs += take_velocity(a, i, step->h) ? 0u : 1u;
        if (step->done + 1 == step->count) {
            write_result(a, i);
        }
    } else {
        th_substep_walk_on(a, step, i);
    }
    return th_substep_moved2(a, i);
}

#ifndef TH_DEVICE_CODE // the CPU's loop
void th_substep_advance(th_world *world, th_substep *step) {
    int count = world->agents.count, blocks = th_block_count(count);
    float largest = 0.0f;
    uint64_t repairs = 0;
#pragma omp parallel for schedule(static) num_threads(world->threads) reduction(max : largest) \
    reduction(+ : repairs)
    for (int b = 0; b < blocks; ++b) {
        int begin = b * TH_BLOCK, end = begin + TH_BLOCK < count ? begin + TH_BLOCK : count;
        for (int i = begin; i < end; ++i) {
            largest = th_max(advance_one(world, step, (uint32_t)i, &repairs), largest);
        }
    }
    world->counters.repairs += repairs;
    th_substep_end(step, largest);
}
#endif

// Those within this distance now are all who may come within `range` during the step: two people
// approach by twice the speed of the fastest, and half a metre per second for what they gain in the
// step. At most a metre, as for `moved`.
TH_BOTH static float range_during(const th_world *world, const th_substep *step, float range) {
    return range + th_min(2.0f * world->dt * (step->fastest + 0.5f), 1.0f);
}

TH_BOTH bool th_hidden(const th_world *world, const th_walls *walls, uint32_t i, uint32_t j) {
    const th_agents *a = &world->agents;
    return th_walls_first_crossing(walls, (int)a->level[i], th_position(a, i), th_position(a, j),
                                   NULL) >= 0;
}

TH_BOTH int th_drop_hidden(const th_world *world, const th_walls *walls, uint32_t i, uint32_t *list,
                           int count) {
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
TH_BOTH static float clear_distance(const th_walls *walls, int level, th_vec2 p, float range) {
    float asked = th_min(range, walls->grids[level].reach), distance2;
    int nearest;
    bool any = th_walls_maybe_near(walls, level, p) &&
               th_walls_near(walls, level, p, asked, &nearest, &distance2, 1) > 0;
    return any ? sqrtf(distance2) : asked;
}

TH_BOTH static bool somebody_hidden(const th_world *world, const th_substep *step,
                                    const th_walls *walls, uint32_t i, float range) {
    const th_agents *a = &world->agents;
    th_vec2 p = th_position(a, i);
    float clear = clear_distance(walls, (int)a->level[i], p, range);
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

TH_BOTH bool th_substep_looks(const th_world *world, th_substep *step, const th_walls *walls) {
    step->looks = walls->count > 0 || world->scene->link_count > 0;
    return step->looks;
}

TH_BOTH void th_substep_look(th_world *world, const th_substep *step, const th_walls *walls,
                             uint32_t i, float range, bool line_of_sight) {
    uint32_t around = 0, found[1];
    float wide = range_during(world, step, range);
    if (line_of_sight && walls->count > 0 && somebody_hidden(world, step, walls, i, wide)) {
        around |= TH_AROUND_HIDDEN;
    }
    if (th_linked_neighbours(world, i, wide, found, 1) > 0) {
        around |= TH_AROUND_LINKED;
    }
    world->agents.order[i] = around;
}

TH_BOTH int th_substep_linked(const th_world *world, const th_substep *step, uint32_t i,
                              float range, uint32_t *list) {
    return th_linked_neighbours(world, i, range_during(world, step, range), list, TH_LINKED_MAX);
}

// Where along the wall, 0 at a and 1 at b, its nearest point to p lies.
TH_BOTH static float place_along(const th_wall *wall, th_vec2 p) {
    return th_clamp(th_dot(th_sub(p, wall->a), wall->direction) / wall->length, 0.0f, 1.0f);
}

TH_BOTH static bool wall_acts(const th_walls *walls, const th_wall *wall, th_vec2 p, float s) {
    if (s >= 1.0f) {
        // The end belongs to the edge that starts there.
        return !th_wall_stands(walls, &walls->walls[wall->next]);
    }
    if (s <= 0.0f) {
        const th_wall *before = &walls->walls[wall->prev];
        return !th_wall_stands(walls, before) || (wall->a_convex && place_along(before, p) >= 1.0f);
    }
    return th_det(wall->direction, th_sub(p, wall->a)) <= 0.0f; // solid on the left
}

TH_BOTH int th_wall_points(const th_walls *walls, int level, th_vec2 p, float range,
                           th_vec2 *points, int max) {
    enum { NEAR_WALLS = 32 };
    int found[NEAR_WALLS];
    int near = th_walls_near(walls, level, p, range, found, NULL, NEAR_WALLS), count = 0;
    near = near < NEAR_WALLS ? near : NEAR_WALLS;
    for (int k = 0; k < near && count < max; ++k) {
        const th_wall *wall = &walls->walls[found[k]];
        float s = place_along(wall, p);
        if (!wall_acts(walls, wall, p, s)) {
            continue;
        }
        // The corner itself at s = 1, so that two edges give the very same point.
        points[count++] =
            s >= 1.0f ? wall->b : th_add(wall->a, th_scale(s, th_sub(wall->b, wall->a)));
    }
    return count;
}
