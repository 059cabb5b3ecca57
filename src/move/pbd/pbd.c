// Position-based crowds, Weiss et al. 2017: making the work space and the order of a sub-step. The lists of
// neighbours are drawn up once per sub-step and used by all its iterations (solve.c).
// Cost per sub-step O(people x (people in range + iterations x listed)). SPDX-License-Identifier: Apache-2.0
#include "move/pbd/step.h"
#include "state/influences.h"
#include "state/ranks.h"
#include <string.h>

// ---- memory

// Nothing is kept from step to step. On a device the work space is there.
static bool create(th_world *world, int model) {
    if (world->on_device) return true;
    th_arena *arena = &world->arena;
    th_pbd *pbd = th_arena_alloc(arena, 1, sizeof *pbd);
    if (!pbd) return false;
    world->model_state[model] = pbd;
    pbd->capacity = world->agents.capacity;
    pbd->group_count = world->group_count;
    size_t people = (size_t)pbd->capacity, padded = people + TH_ARRAY_PAD;
    size_t blocks = (size_t)th_block_count(pbd->capacity);
#define TAKE(name, count) pbd->name = th_arena_alloc(arena, count, sizeof *pbd->name)
    TAKE(u_x, padded);
    TAKE(u_y, padded);
    TAKE(next_u_x, padded);
    TAKE(next_u_y, padded);
    TAKE(extra_x, padded);
    TAKE(extra_y, padded);
    TAKE(inverse_mass, padded);
    TAKE(neighbours, blocks * TH_BLOCK * TH_PBD_NEIGHBOURS);
    TAKE(neighbour_start, people);
    TAKE(touch_count, people);
    TAKE(meet_count, people);
    TAKE(walls, people * TH_PBD_WALLS);
    TAKE(groups, (size_t)pbd->group_count);
#undef TAKE
    return !arena->failed;
}

static bool same_params(const th_group_state *a, const th_group_state *b) {
    int k = 0;
    while (k < TH_PARAM_MAX && a->move_params[k] == b->move_params[k]) ++k;
    return k == TH_PARAM_MAX;
}

static void prepare_groups(th_world *world, const th_substep *step) {
    th_pbd *pbd = th_pbd_of(world);
    for (int g = 0; g < pbd->group_count; ++g) {
        if (!th_pbd_group_is_own(world, g)) continue;
        th_pbd_group *group = &pbd->groups[g];
        th_pbd_read_group(world, g, step->h, pbd->iterations);
        group->like = g;
        for (int k = g - 1; k >= 0; --k)
            if (th_pbd_group_is_own(world, k) && same_params(&world->groups[k], &world->groups[g]))
                group->like = k;
    }
}

// Once per step, for own people: the drive, and what they see.
static void look_and_lean(th_world *world, th_substep *step, const th_walls *walls) {
    bool looks = th_substep_looks(world, step, walls);
    int count = world->agents.count;
#pragma omp parallel for schedule(dynamic, 64) num_threads(world->threads)
    for (int k = 0; k < count; ++k) {
        uint32_t i = (uint32_t)k;
        if (!th_pbd_own(world, i)) continue;
        th_pbd_lean_aside(world, i);
        th_pbd_follow_walls(world, walls, i);
        if (looks) th_substep_look(world, step, walls, i, th_pbd_felt_range(world, i), true);
    }
}

static uint64_t predict_block(th_world *world, const th_substep *step, uint32_t begin,
                              uint32_t end) {
    th_pbd *pbd = th_pbd_of(world);
    uint64_t repairs = 0;
    for (uint32_t i = begin; i < end; ++i) {
        th_vec2 u = th_pbd_predicted(world, step, i, &repairs);
        pbd->u_x[i] = pbd->next_u_x[i] = u.x;
        pbd->u_y[i] = pbd->next_u_y[i] = u.y;
        pbd->extra_x[i] = pbd->extra_y[i] = 0.0f;
        pbd->inverse_mass[i] = th_pbd_inverse_mass_of(world, i);
    }
    return repairs;
}

// Takes over the shifts of the stabilisation, which give no velocity.
static void shift_block(th_world *world, const th_substep *step, const th_walls *walls,
                        uint32_t begin, uint32_t end) {
    (void)step;
    (void)walls;
    th_agents *a = &world->agents;
    th_pbd *pbd = th_pbd_of(world);
    for (uint32_t i = begin; i < end; ++i) {
        a->substep_x[i] += pbd->extra_x[i];
        a->substep_y[i] += pbd->extra_y[i];
        pbd->extra_x[i] = pbd->extra_y[i] = 0.0f;
    }
}

// Returns the largest squared distance from generation n.
static float advance_block(th_world *world, const th_substep *step, uint32_t begin, uint32_t end) {
    th_agents *a = &world->agents;
    const th_pbd *pbd = th_pbd_of(world);
    float largest = 0.0f;
    bool last = step->done + 1 == step->count;
    for (uint32_t i = begin; i < end; ++i) {
        float moved2;
        if (th_pbd_own(world, i)) {
            a->substep_x[i] += pbd->extra_x[i];
            a->substep_y[i] += pbd->extra_y[i];
            a->substep_velocity_x[i] = a->next_velocity_x[i];
            a->substep_velocity_y[i] = a->next_velocity_y[i];
            if (last) {
                a->next_position_x[i] = a->substep_x[i];
                a->next_position_y[i] = a->substep_y[i];
            }
            moved2 = th_substep_moved2(a, i);
        } else {
            moved2 = th_substep_walk_on(a, step, i);
        }
        largest = th_max(moved2, largest);
    }
    return largest;
}

static uint32_t block_end(const th_world *world, int b) {
    int end = (b + 1) * TH_BLOCK;
    return (uint32_t)(end < world->agents.count ? end : world->agents.count);
}

// Runs over all blocks of people, on all threads.
static void each_block(th_world *world, const th_substep *step, const th_walls *walls,
                       th_pbd_pass *pass) {
    int blocks = th_block_count(world->agents.count);
#pragma omp parallel for schedule(dynamic, 2) num_threads(world->threads)
    for (int b = 0; b < blocks; ++b)
        pass(world, step, walls, (uint32_t)b * TH_BLOCK, block_end(world, b));
}

static void predict(th_world *world, const th_substep *step) {
    int blocks = th_block_count(world->agents.count);
    const float *inverse_mass = th_pbd_of(world)->inverse_mass;
    float least = 1e30f, most = 0.0f;
    uint64_t repairs = 0;
#pragma omp parallel for schedule(static) num_threads(world->threads) reduction(+ : repairs) \
    reduction(min : least) reduction(max : most)
    for (int b = 0; b < blocks; ++b) {
        uint32_t begin = (uint32_t)b * TH_BLOCK, end = block_end(world, b);
        repairs += predict_block(world, step, begin, end);
        for (uint32_t i = begin; i < end; ++i) {
            least = inverse_mass[i] < least ? inverse_mass[i] : least;
            most = inverse_mass[i] > most ? inverse_mass[i] : most;
        }
    }
    least = -th_ranks_highest(world, -least);
    most = th_ranks_highest(world, most);
    th_pbd_of(world)->equal_masses = least == most;
    th_ranks_send2(world, th_pbd_of(world)->u_x, th_pbd_of(world)->u_y);
    world->counters.repairs += repairs;
}

static void advance(th_world *world, th_substep *step) {
    int blocks = th_block_count(world->agents.count);
    float largest = 0.0f;
#pragma omp parallel for schedule(static) num_threads(world->threads) reduction(max : largest)
    for (int b = 0; b < blocks; ++b) {
        float moved = advance_block(world, step, (uint32_t)b * TH_BLOCK, block_end(world, b));
        largest = moved > largest ? moved : largest;
    }
    // How far lists look decides in which order cohesion is summed: it is the same on all ranks.
    th_substep_end(step, th_ranks_highest(world, th_substep_meet(world, largest)));
}

static void swap_displacements(th_pbd *pbd) {
    float *x = pbd->u_x, *y = pbd->u_y;
    pbd->u_x = pbd->next_u_x;
    pbd->u_y = pbd->next_u_y;
    pbd->next_u_x = x;
    pbd->next_u_y = y;
}

// Displacements as predicted, and the neighbours and walls that every agent may touch or meet.
static void begin_substep(th_world *world, th_substep *step, const th_walls *walls) {
    predict(world, step);
    each_block(world, step, walls, th_pbd_list_block);
}

// Displacements and velocities that hurt no constraint.
static void solve_substep(th_world *world, th_substep *step, const th_walls *walls) {
    th_pbd *pbd = th_pbd_of(world);
    for (int k = 0; k < pbd->stabilisation; ++k) {
        each_block(world, step, walls, th_pbd_stabilise_block);
        each_block(world, step, walls, shift_block);
        th_ranks_send2(world, world->agents.substep_x, world->agents.substep_y);
    }
    for (int k = 0; k < pbd->iterations; ++k) {
        each_block(world, step, walls, th_pbd_solve_block);
        swap_displacements(pbd);
        th_ranks_send2(world, pbd->u_x, pbd->u_y);
    }
    each_block(world, step, walls, th_pbd_finish_block);
}

static th_substep begin_step(th_world *world, const th_walls *walls) {
    th_pbd_asked most = th_pbd_asked_by_groups(world);
    th_pbd_of(world)->iterations = most.iterations;
    th_pbd_of(world)->stabilisation = most.stabilisation;
    th_substep step = th_substep_begin(world, TH_MOVE_PBD, most.substep);
    prepare_groups(world, &step);
    look_and_lean(world, &step, walls);
    return step;
}

static void run(th_world *world, int model) {
    (void)model;
    th_walls walls = th_world_walls(world);
    th_substep step = begin_step(world, &walls);
    while (step.done < step.count) {
        begin_substep(world, &step, &walls);
        solve_substep(world, &step, &walls);
        advance(world, &step);
    }
}

// ---- influences on a person: the constraints as the first sub-step finds them, and what comes of them

// The correction that a constraint asks of person i, as a velocity over the sub-step.
static void tell_asked(th_influences *all, const char *name, th_vec2 at, th_pbd_correction c,
                       float h, uint32_t other) {
    if (c.count > 0.0f)
        th_tell_vector(all, name, "m/s", at, th_scale(1.0f / h, th_v(c.x, c.y)), other);
}

static void tell_constraints(const th_world *world, const th_substep *step, const th_walls *walls,
                             uint32_t i, th_influences *all) {
    const th_agents *a = &world->agents;
    const th_pbd *pbd = th_pbd_of(world);
    const th_pbd_group *group = th_pbd_group_of(world, i);
    const th_pbd_params *p = &group->params;
    const uint32_t *list = th_pbd_neighbours(pbd, i);
    th_vec2 at = th_v(a->substep_x[i], a->substep_y[i]), own = th_v(pbd->u_x[i], pbd->u_y[i]);
    for (uint32_t k = 0; k < pbd->touch_count[i] + pbd->meet_count[i]; ++k) {
        uint32_t j = list[k];
        th_vec2 x = th_sub(at, th_v(a->substep_x[j], a->substep_y[j]));
        th_vec2 u = th_sub(own, th_v(pbd->u_x[j], pbd->u_y[j]));
        float radii = a->radius[i] + a->radius[j];
        float share = th_pbd_share(pbd->inverse_mass[i], pbd->inverse_mass[j]);
        if (k < pbd->touch_count[i])
            tell_asked(all, "contact with a person", at,
                       th_pbd_contact(th_add(x, u), u, p->contact_margin * radii, share,
                                      p->static_friction, p->kinetic_friction),
                       step->h, a->id[j]);
        else
            tell_asked(all, "avoidance of a person", at,
                       th_pbd_avoid(&group->avoid, x, u, radii, share), step->h, a->id[j]);
    }
    if (walls->count == 0) return;
    th_vec2 off = th_pbd_off_walls(walls, pbd->walls + (size_t)i * TH_PBD_WALLS, a->radius[i], at,
                                   th_add(at, own), p->averaging);
    th_tell_vector(all, "contact with walls", "m/s", at, th_scale(1.0f / step->h, off), 0);
}

static int influences(th_world *world, int model, uint32_t i, th_influence *list, int max) {
    (void)model;
    if (!th_pbd_own(world, i)) return 0;
    const th_agents *a = &world->agents;
    const th_pbd *pbd = th_pbd_of(world);
    uint64_t repairs = world->counters.repairs;
    th_influences all = {list, 0, max};
    th_walls walls = th_world_walls(world);
    th_substep step = begin_step(world, &walls);
    th_vec2 at = th_position(a, i);
    th_tell_vector(&all, "drive", "m/s", at, th_v(a->drive_x[i], a->drive_y[i]), 0);
    begin_substep(world, &step, &walls);
    tell_constraints(world, &step, &walls, i, &all);
    solve_substep(world, &step, &walls);
    th_vec2 solved = th_scale(1.0f / step.h, th_v(pbd->u_x[i], pbd->u_y[i]));
    th_vec2 next = th_v(a->next_velocity_x[i], a->next_velocity_y[i]);
    th_tell_vector(&all, "after constraints", "m/s", at, solved, 0);
    th_tell_vector(&all, "cohesion and limit", "m/s", at, th_sub(next, solved), 0);
    world->counters.repairs = repairs;
    return all.count;
}

static void body(const float *values, th_body_rules *rules) {
    rules->separation_passes = (int)((const th_pbd_params *)values)->separation_passes;
}

// With whole cells, as the places in a run of cells decide in which order cohesion is summed.
static float reach(const th_world *world, const float *values) {
    const th_pbd_params *p = (const th_pbd_params *)(const void *)values;
    float cell = world->cell_size;
    for (int l = 0; l < world->index.level_count; ++l)
        cell = th_max(cell, 1.5f * world->index.grids[l].cell);
    return th_max(p->lr_range, p->cohesion_range) * world->max_radius +
           2.0f * world->ranks->travel + 2.0f * cell;
}

static const th_param_info params[] = {TH_PBD_PARAMS(TH_PARAM_INFO)};
TH_PBD_PRESETS(TH_PRESET_VALUES)
static const th_preset_info presets[] = {TH_PBD_PRESETS(TH_PRESET_INFO)};
const th_model th_move_pbd_model = {
    .cookie = TH_MODEL_COOKIE,
    .stage = TH_STAGE_MOVE,
    .name = "pbd",
    .doc = "position-based dynamics: contacts, friction and avoidance as constraints",
    .source = "Weiss, Litteneker, Jiang, Terzopoulos 2017",
    .params = params,
    .param_count = TH_COUNT_OF(params),
    .presets = presets,
    .preset_count = TH_COUNT_OF(presets),
    .body = body,
    .run = run,
    .reach = reach,
    .create = create,
    .influences = influences,
    // It goes through every agent within two metres, and smaller cells follow that circle better.
    .cell_size = 0.9f,
};
