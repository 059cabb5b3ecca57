// Position-based crowds on the device (pbd.c): the kernels of a step. A sub-step is 5 launches, 2 more among walls,
// 2 a stabilisation and 2 an iteration. SPDX-License-Identifier: Apache-2.0
#include "move/pbd/list.cuh"

// ---- iterations
// Position-based crowds on the device: the iterations (solve.c). Sums have the CPU's order. Bound by arithmetic
// and by the longest list among the 32 people of a warp.

namespace th {

TH_ON_GPU inline void add_to(th_pbd_correction *sum, th_pbd_correction c) {
    sum->x += c.x;
    sum->y += c.y;
    sum->count += c.count;
}

// The other of a pair, as it is read.
struct partner {
    uint32_t j;
    walk at;
    float radius;
};

// Offset, relative displacement and sum of radii of a pair.
struct couple {
    th_vec2 x, u;
    float radii;
};

// Person i among others, as the pairs need it. With `alike` every agent has i's radius and mass.
template <bool alike> struct pair_maker {
    const th_world *world;
    const walk *now;
    const float *all_radius;
    uint32_t i;
    walk own;
    float radius, inverse_mass;
    bool equal;

    TH_ON_GPU partner read(uint32_t j) const { return {j, now[j], alike ? radius : all_radius[j]}; }
    template <bool moves> TH_ON_GPU couple with(const partner &other) const {
        const walk &w = other.at;
        return {th_v(own.x - w.x, own.y - w.y),
                moves ? th_v(own.ux - w.ux, own.uy - w.uy) : th_v(0.0f, 0.0f),
                radius + other.radius};
    }
    // The own share.
    TH_ON_GPU float share(uint32_t j) const {
        return alike || equal ? 0.5f : th_pbd_share(inverse_mass, th_pbd_inverse_mass_of(world, j));
    }
};

template <bool alike>
TH_ON_GPU pair_maker<alike> pairs_of(const th_world *world, const pbd_memory &memory, uint32_t i) {
    bool equal = alike || th_pbd_of(world)->equal_masses;
    const float *radius = world->agents.radius;
    return {world,
            memory.now,
            radius,
            i,
            memory.now[i],
            radius[i],
            equal ? 1.0f : th_pbd_inverse_mass_of(world, i),
            equal};
}

TH_ON_GPU inline bool at_one_place(th_vec2 d) {
    return !(d.x * d.x + d.y * d.y - TH_PBD_COINCIDENT * TH_PBD_COINCIDENT > 0.0f);
}

// The formula gives nothing for an agent that is too far off, and then it is not asked; a thousandth for its rounding.
TH_ON_GPU inline bool is_in_touch(const couple &c, float margin) {
    th_vec2 d = th_add(c.x, c.u);
    float apart = margin * c.radii;
    return !(d.x * d.x + d.y * d.y > 1.001f * apart * apart);
}

// Agents that stand at i's very place are pushed in a direction drawn from both ids, opposite for the two.
template <bool moves, class Pairs, class Felt>
TH_ON_GPU void add_coincident_pairs(const Pairs &pairs, const Felt &felt, float margin,
                                    th_pbd_correction *sum) {
    const uint32_t *id = pairs.world->agents.id;
    for (int k = 0; k < felt.touch_count; ++k) {
        partner other = pairs.read(felt.touch(k));
        couple c = pairs.template with<moves>(other);
        if (!at_one_place(th_add(c.x, c.u))) continue;
        th_vec2 n = th_pair_direction(id[pairs.i], id[other.j]);
        float push = margin * c.radii * pairs.share(other.j);
        add_to(sum, {push * n.x, push * n.y, 1.0f});
    }
}

template <bool moves, class Pairs, class Felt>
TH_ON_GPU th_pbd_correction sum_contacts(const Pairs &pairs, const th_pbd_params *params,
                                         const Felt &felt) {
    const float margin = params->contact_margin,
                static_friction = moves ? params->static_friction : 0.0f,
                kinetic_friction = moves ? params->kinetic_friction : 0.0f;
    th_pbd_correction sum = {0.0f, 0.0f, 0.0f};
    bool coincident = false;
    int count = felt.touch_count;
    partner next = count > 0 ? pairs.read(felt.touch(0)) : partner{};
    for (int k = 0; k < count; ++k) {
        partner other = next;
        if (k + 1 < count)
            next = pairs.read(felt.touch(k + 1)); // on its way while this one is worked on
        couple c = pairs.template with<moves>(other);
        if (!is_in_touch(c, margin)) continue;
        th_vec2 d = th_add(c.x, c.u);
        add_to(&sum, th_pbd_contact(d, c.u, margin * c.radii, pairs.share(other.j), static_friction,
                                    kinetic_friction));
        coincident = coincident || at_one_place(d);
    }
    if (coincident) add_coincident_pairs<moves>(pairs, felt, margin, &sum);
    return sum;
}

template <class Pairs, class Felt>
TH_ON_GPU th_pbd_correction sum_meetings(const Pairs &pairs, const th_pbd_avoidance *avoid,
                                         const Felt &felt) {
    const th_pbd_avoidance how = *avoid;
    th_pbd_correction sum = {0.0f, 0.0f, 0.0f};
    int count = felt.meet_count;
    partner next = count > 0 ? pairs.read(felt.meet(0)) : partner{};
    for (int k = 0; k < count; ++k) {
        partner other = next;
        if (k + 1 < count) next = pairs.read(felt.meet(k + 1));
        couple c = pairs.template with<true>(other);
        add_to(&sum, th_pbd_avoid(&how, c.x, c.u, c.radii, pairs.share(other.j)));
    }
    return sum;
}

// Input of the end of an iteration; `near` is room for TH_PBD_WALLS, or NULL: none is near.
template <class Pairs>
TH_ON_GPU th_pbd_corrected corrected_of(const th_world *world, const th_substep *step,
                                        const th_walls *walls, const Pairs &pairs, int *near) {
    uint32_t i = pairs.i;
    if (near) {
        uint64_t repairs = 0;
        near[0] = -1;
        if (world->agents.around[i] & PBD_NEAR_WALL)
            th_pbd_list_walls(world, walls, i, th_pbd_predicted(world, step, i, &repairs), near);
    }
    return {th_pbd_group_of(world, i), near, pairs.radius, th_v(pairs.own.x, pairs.own.y)};
}

// Distant walls add 0, which turns -0 into 0, as on the CPU.
TH_ON_GPU inline th_vec2 off_far_walls(const th_walls *walls, th_vec2 u) {
    return walls->count > 0 ? th_add(u, th_v(0.0f, 0.0f)) : u;
}

// Out of the overlaps at the beginning: shifts the place.
template <class Pairs, class Felt>
TH_ON_GPU void stabilise_one(const th_world *world, const th_substep *step, const th_walls *walls,
                             const pbd_memory &memory, const Pairs &pairs, const Felt &felt,
                             int *near) {
    uint32_t i = pairs.i;
    th_pbd_correction contact =
        sum_contacts<false>(pairs, &th_pbd_group_of(world, i)->params, felt);
    th_pbd_corrected person = corrected_of(world, step, walls, pairs, near);
    th_vec2 shift = th_pbd_shift_by(walls, &person, &contact);
    if (!near) shift = off_far_walls(walls, shift);
    memory.next[i] = {pairs.own.x + shift.x, pairs.own.y + shift.y, pairs.own.ux, pairs.own.uy};
}

// One iteration: the next displacement.
template <class Pairs, class Felt>
TH_ON_GPU void iterate_one(const th_world *world, const th_substep *step, const th_walls *walls,
                           const pbd_memory &memory, const Pairs &pairs, const Felt &felt,
                           int *near) {
    const th_agents *a = &world->agents;
    uint32_t i = pairs.i;
    const th_pbd_group *group = th_pbd_group_of(world, i);
    th_pbd_correction contact = sum_contacts<true>(pairs, &group->params, felt);
    th_pbd_correction avoid = sum_meetings(pairs, &group->avoid, felt);
    th_pbd_corrected person = corrected_of(world, step, walls, pairs, near);
    th_vec2 avoided = th_v(a->next_velocity_x[i], a->next_velocity_y[i]);
    th_vec2 own = th_v(pairs.own.ux, pairs.own.uy), last = own; // needed by touched agents only
    if (contact.count > 0.0f) last = th_v(memory.next[i].ux, memory.next[i].uy);
    th_vec2 u = th_pbd_solve_by(walls, &person, &contact, &avoid, own, last, &avoided);
    if (!near) u = off_far_walls(walls, u);
    a->next_velocity_x[i] = avoided.x;
    a->next_velocity_y[i] = avoided.y;
    memory.next[i] = {pairs.own.x, pairs.own.y, u.x, u.y};
}

template <class Pairs, class Felt>
TH_ON_GPU void correct_one(const th_world *world, const th_substep *step, const th_walls *walls,
                           const pbd_memory &memory, const Pairs &pairs, const Felt &felt,
                           bool moves, int *near) {
    if (moves)
        iterate_one(world, step, walls, memory, pairs, felt, near);
    else
        stabilise_one(world, step, walls, memory, pairs, felt, near);
}

// Every agent that is listed and far from walls; an agent that is not the model's own stays as it is.
TH_ON_GPU inline void correct_plain(const th_world *world, const pbd_state *s,
                                    const pbd_memory &memory, uint32_t i, bool moves) {
    uint32_t order = world->agents.around[i];
    if (!(order & PBD_OWN)) memory.next[i] = memory.now[i];
    if (!is_plain(order)) return;
    th_walls walls = th_world_walls(world);
    listed_people felt = listed_by(world, memory, i, order);
    if (s->alike)
        correct_one(world, &s->step, &walls, memory, pairs_of<true>(world, memory, i), felt, moves,
                    nullptr);
    else
        correct_one(world, &s->step, &walls, memory, pairs_of<false>(world, memory, i), felt, moves,
                    nullptr);
}

TH_ON_GPU inline void correct_special(const th_world *world, const pbd_state *s,
                                      const pbd_memory &memory, uint32_t i, bool moves) {
    uint32_t order = world->agents.around[i];
    th_walls walls = th_world_walls(world);
    th_pbd_felt room;
    int near[TH_PBD_WALLS];
    found_people felt = order & PBD_LISTED ? copy_of(listed_by(world, memory, i, order), &room)
                                           : found_by(world, &s->step, &walls, i, &room);
    correct_one(world, &s->step, &walls, memory, pairs_of<false>(world, memory, i), felt, moves,
                near);
}

// ---- cohesion
// Position-based crowds on the device: cohesion and the end of a sub-step (solve.c).

TH_ON_GPU inline void add_to(th_pbd_cohesion *sum, th_pbd_cohesion other) {
    sum->weights += other.weights;
    sum->drawn = th_add(sum->drawn, other.drawn);
}

// An agent around, as it is read.
struct neighbour {
    uint32_t group;
    walk at;
    float radius;
};
template <bool alike>
TH_ON_GPU neighbour neighbour_at(const th_agents *a, const pbd_memory &memory,
                                 const th_pbd_companion &c, uint32_t j) {
    return {memory.one_group ? c.group : a->group[j], memory.now[j],
            alike ? c.radius : a->radius[j]};
}
// Adds what n, of the same group and in range, weighs.
TH_ON_GPU inline void add_companion(const th_pbd_companion &c, const neighbour &n, bool counts,
                                    th_pbd_cohesion *sum) {
    th_vec2 u = th_v(n.at.ux - c.ux, n.at.uy - c.uy);
    float dx = (n.at.x - c.x) + u.x, dy = (n.at.y - c.y) + u.y;
    float w = th_pbd_cohesion_weight(dx * dx + dy * dy, c.half_range * (c.radius + n.radius));
    w = (counts & (n.group == c.group)) ? w : 0.0f;
    add_to(sum, {w, th_scale(w, u)});
}

// The CPU has sixteen sums side by side and adds them up in a tree: the order decides the bits. Where they are not
// asked for, two are enough and leave registers for more people at once. Sums are in registers, so the loops over them
// are unrolled; four people are read before the first is looked at, so that one wait is enough.
#if defined(__CUDACC__) && !defined(TH_EXACT)
enum { COHESION_SUMS = 2, COHESION_AT_ONCE = 8 };
#else
enum { COHESION_SUMS = TH_PBD_COHESION_LANES, COHESION_AT_ONCE = TH_PBD_COHESION_LANES };
#endif
template <bool alike>
TH_ON_GPU th_pbd_cohesion cohesion_in_cells(const th_world *world, const pbd_memory &memory,
                                            const th_pbd_companion &c, float reach) {
    enum { READ = 4 };
    const th_agents *a = &world->agents;
    const th_level_grid *grid = &world->index.grids[a->level[c.i]];
    th_vec2 p = th_v(c.x, c.y);
    th_rows rows = th_rows_around(grid, p, reach);
    th_pbd_cohesion sums[COHESION_SUMS];
    for (th_pbd_cohesion &sum : sums) sum = {0.0f, {0.0f, 0.0f}};
    for (uint32_t begin, end;
         th_next_run_within(&world->index, grid, &rows, p, reach, &begin, &end);)
        TH_ROLLED for (uint32_t first = begin; first < end; first += COHESION_AT_ONCE) {
            TH_UNROLLED for (uint32_t lane = 0; lane < COHESION_AT_ONCE; lane += READ) {
                if (first + lane >= end) break;
                neighbour near[READ];
                TH_UNROLLED for (uint32_t k = 0; k < READ; ++k) {
                    uint32_t j = first + lane + k;
                    near[k] = neighbour_at<alike>(a, memory, c, j < end ? j : end - 1);
                }
                TH_UNROLLED for (uint32_t k = 0; k < READ; ++k) {
                    uint32_t j = first + lane + k;
                    add_companion(c, near[k], (j < end) & (j != c.i),
                                  &sums[(lane + k) % COHESION_SUMS]);
                }
            }
        }
    TH_UNROLLED for (int half = COHESION_SUMS / 2; half > 0; half /= 2)
        TH_UNROLLED for (int lane = 0; lane < half; ++lane) add_to(&sums[lane], sums[lane + half]);
    return sums[0];
}

// The same, less agents that a wall hides, one after the other.
TH_ON_GPU inline th_pbd_cohesion cohesion_in_sight(const th_world *world, const th_substep *step,
                                                   const th_walls *walls, const pbd_memory &memory,
                                                   const th_pbd_companion &c, float reach) {
    const th_agents *a = &world->agents;
    const th_level_grid *grid = &world->index.grids[a->level[c.i]];
    th_rows rows = th_rows_around(grid, th_v(c.x, c.y), reach + step->moved);
    th_pbd_cohesion sum = {0.0f, {0.0f, 0.0f}};
    for (uint32_t begin, end; th_next_run(&world->index, grid, &rows, &begin, &end);)
        for (uint32_t j = begin; j < end; ++j) {
            neighbour n = neighbour_at<false>(a, memory, c, j);
            float dx = n.at.x - c.x, dy = n.at.y - c.y;
            bool near = dx * dx + dy * dy < reach * reach && j != c.i && n.group == c.group;
            if (near && !th_hidden(world, walls, c.i, j)) add_companion(c, n, true, &sum);
        }
    return sum;
}

// Velocity and place after the sub-step; returns the squared distance from where the step began.
TH_ON_GPU inline float take_finished(const th_world *world, const th_substep *step,
                                     const pbd_memory &memory, uint32_t i, th_pbd_cohesion sum) {
    const th_agents *a = &world->agents;
    walk own = memory.now[i];
    th_pbd_finished f = th_pbd_finish_person(world, step, i, th_v(own.ux, own.uy), sum);
    a->substep_x[i] = own.x + f.way.x;
    a->substep_y[i] = own.y + f.way.y;
    a->substep_velocity_x[i] = a->next_velocity_x[i] = f.velocity.x;
    a->substep_velocity_y[i] = a->next_velocity_y[i] = f.velocity.y;
    if (step->done + 1 == step->count) {
        a->next_position_x[i] = a->substep_x[i];
        a->next_position_y[i] = a->substep_y[i];
    }
    return th_substep_moved2(a, i);
}

TH_ON_GPU inline th_pbd_companion companion_in(const th_world *world, const pbd_memory &memory,
                                               uint32_t i) {
    walk own = memory.now[i];
    return th_pbd_companion_of(world, i, th_v(own.x, own.y), th_v(own.ux, own.uy));
}

// All agents but those that see less; and these, whose tests would cost every thread registers.
TH_ON_GPU inline float finish_plain(th_world *world, const th_substep *step,
                                    const pbd_memory &memory, bool alike, uint32_t i) {
    th_agents *a = &world->agents;
    if (!th_pbd_own(world, i)) return th_substep_walk_on(a, step, i);
    if (th_pbd_sees_less(world, step, i)) return 0.0f;
    th_pbd_cohesion sum = {0.0f, {0.0f, 0.0f}};
    if (th_pbd_coheres(&th_pbd_group_of(world, i)->params)) {
        th_pbd_companion c = companion_in(world, memory, i);
        float searched = th_pbd_searched_by(world, step, &c);
        sum = alike ? cohesion_in_cells<true>(world, memory, c, searched)
                    : cohesion_in_cells<false>(world, memory, c, searched);
    }
    return take_finished(world, step, memory, i, sum);
}
TH_ON_GPU inline float finish_special(const th_world *world, const th_substep *step,
                                      const pbd_memory &memory, uint32_t i) {
    if (!th_pbd_own(world, i) || !th_pbd_sees_less(world, step, i)) return 0.0f;
    th_pbd_cohesion sum = {0.0f, {0.0f, 0.0f}};
    if (th_pbd_coheres(&th_pbd_group_of(world, i)->params)) {
        th_pbd_companion c = companion_in(world, memory, i);
        th_walls walls = th_world_walls(world);
        sum =
            cohesion_in_sight(world, step, &walls, memory, c, th_pbd_searched_by(world, step, &c));
    }
    return take_finished(world, step, memory, i, sum);
}

// ---- the step

static pbd_memory *memory_of(const th_world *host) {
    return (pbd_memory *)host->device_world->model_state[TH_MOVE_PBD];
}
static pbd_state *state_of(const th_world *host) { return memory_of(host)->step; }

// function(world, i) for agents that need the general kernels, usually few: they are listed in agents.cell, which
// is not needed after the sort.
template <class Function> void each_special(const th_world *host, Function function) {
    enum { MOST = 1 << 16 }; // threads, several for each place on a large device
    const pbd_state *s = state_of(host);
    th_world *world = world_on_device(host);
    int threads = host->device_world->bound < MOST ? host->device_world->bound : MOST;
    each(
        threads, TH_LAMBDA(int t) {
            for (uint32_t k = (uint32_t)t; k < s->specials; k += (uint32_t)threads)
                function(world, world->agents.cell[k]);
        });
}

TH_ON_GPU inline void predict_one(th_world *world, pbd_state *s, const pbd_memory &memory,
                                  uint32_t i) {
    th_agents *a = &world->agents;
    uint64_t repairs = 0;
    th_vec2 u = th_pbd_predicted(world, &s->step, i, &repairs);
    if (repairs) add(&s->repairs, repairs);
    memory.now[i] = memory.next[i] = {a->substep_x[i], a->substep_y[i], u.x, u.y};
    if (a->around[i] & PBD_OWN) a->next_velocity_x[i] = a->next_velocity_y[i] = 0.0f;
}

// Bits of the largest number and the complement of the smallest's; numbers are not negative, so bits are in order.
TH_ON_GPU inline void find_range(float value, uint32_t *range) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    range[0] = bits > range[0] ? bits : range[0];
    range[1] = ~bits > range[1] ? ~bits : range[1];
}

// Once per step: the groups' parameters, whether all are alike, the drive, and what own people see.
static void begin_pbd(th_world *host, int iterations) {
    pbd_state *s = state_of(host);
    th_world *device = world_on_device(host);
    each(
        host->group_count,
        TH_LAMBDA(int g) { th_pbd_read_group(device, g, s->step.h, iterations); });
    find_most(
        host->device_world->bound, s->sizes, TH_LAMBDA(int k, uint32_t *found) {
            if (k >= device->agents.count) return;
            uint32_t i = (uint32_t)k;
            float inverse = th_pbd_inverse_mass_of(device, i);
            find_range(inverse, found);
            find_range(device->agents.radius[i], found + 2);
            bool own = th_pbd_own(device, i);
            device->agents.around[i] = own ? PBD_OWN : 0;
            if (own) th_pbd_lean_aside(device, i);
        });
    if (host->wall_count > 0 || host->scene->link_count > 0) // else there is nothing to look for
        for_each_agent(
            host, TH_LAMBDA(th_world * world, int k) {
                uint32_t i = (uint32_t)k;
                if (!(world->agents.around[i] & PBD_OWN)) return;
                th_walls walls = th_world_walls(world);
                th_pbd_follow_walls(world, &walls, i);
                if (!s->step.looks) return;
                th_substep_look(world, &s->step, &walls, i, th_pbd_felt_range(world, i), true);
                world->agents.around[i] |= PBD_OWN;
            });
    once(
        host, TH_LAMBDA(th_world * world) {
            th_pbd_of(world)->equal_masses = s->sizes[0] == ~s->sizes[1];
            s->alike = th_pbd_of(world)->equal_masses && s->sizes[2] == ~s->sizes[3];
        });
}

TH_ON_GPU inline void leave_to_general(th_world *world, pbd_state *s, uint32_t i) {
    world->agents.around[i] |= PBD_GENERAL;
    world->agents.cell[add(&s->specials, 1u)] = i;
}

static void list(th_world *host, const pbd_memory &held) {
    pbd_state *s = state_of(host);
    pbd_memory memory = held;
    int crowds = (host->device_world->bound + pbd_memory::CROWD - 1) / pbd_memory::CROWD;
    clear(memory.used, (size_t)crowds * sizeof *memory.used);
    for_each_agent_resident<12>(
        host, TH_LAMBDA(th_world * world, int k) {
            uint32_t i = (uint32_t)k;
#ifdef __CUDACC__
            __shared__ uint16_t tables[entry_note::NOTED * THREADS];
            uint16_t *table = tables + threadIdx.x;
#else
        uint16_t table[entry_note::NOTED];
#endif
            bool listed = s->alike ? list_plain<true>(world, &s->step, memory, i, table)
                                   : list_plain<false>(world, &s->step, memory, i, table);
            if (!listed) leave_to_general(world, s, i);
        });
    each_special(
        host,
        TH_LAMBDA(th_world * world, uint32_t i) { list_special(world, &s->step, memory, i); });
    if (host->wall_count > 0)
        for_each_agent(
            host, TH_LAMBDA(th_world * world, int i) {
                if (mark_near_wall(world, memory, (uint32_t)i))
                    leave_to_general(world, s, (uint32_t)i);
            });
}

static void stabilise(th_world *host, pbd_memory *held) {
    pbd_state *s = state_of(host);
    pbd_memory memory = *held;
    for_each_agent(
        host, TH_LAMBDA(th_world * world, int i) {
            correct_plain(world, s, memory, (uint32_t)i, false);
        });
    each_special(
        host,
        TH_LAMBDA(th_world * world, uint32_t i) { correct_special(world, s, memory, i, false); });
    held->now = memory.next;
    held->next = memory.now;
}

static void iterate(th_world *host, pbd_memory *held) {
    pbd_state *s = state_of(host);
    pbd_memory memory = *held;
    for_each_agent_resident<10>(
        host,
        TH_LAMBDA(th_world * world, int i) { correct_plain(world, s, memory, (uint32_t)i, true); });
    each_special(
        host,
        TH_LAMBDA(th_world * world, uint32_t i) { correct_special(world, s, memory, i, true); });
    held->now = memory.next;
    held->next = memory.now;
}

static void finish_pbd_substep(th_world *host, const pbd_memory &held) {
    pbd_state *s = state_of(host);
    pbd_memory memory = held;
    most_of_agents(
        host, &s->moved2, TH_LAMBDA(th_world * world, int i) {
            return square_bits(finish_plain(world, &s->step, memory, s->alike, (uint32_t)i));
        });
    if (host->wall_count > 0) // else no agent is hidden
        most_of_agents(
            host, &s->moved2, TH_LAMBDA(th_world * world, int i) {
                return square_bits(finish_special(world, &s->step, memory, (uint32_t)i));
            });
    end_one_substep(host, s);
}

static void take_pbd_substep(th_world *host, const th_pbd_asked &most) {
    pbd_state *s = state_of(host);
    pbd_memory memory = *memory_of(host);
    for_each_agent(
        host, TH_LAMBDA(th_world * world, int i) { predict_one(world, s, memory, (uint32_t)i); });
    list(host, memory);
    for (int k = 0; k < most.stabilisation; ++k) stabilise(host, &memory);
    for (int k = 0; k < most.iterations; ++k) iterate(host, &memory);
    finish_pbd_substep(host, memory);
}

static void pbd_run(th_world *host) {
    th_pbd_asked most = th_pbd_asked_by_groups(host);
    th_substep step = th_substep_of(host, TH_MOVE_PBD, most.substep);
    begin_substeps(host, state_of(host), step);
    begin_pbd(host, most.iterations);
    for (int k = 0; k < step.count; ++k) take_pbd_substep(host, most);
}

// All memory of the model; the state that th_world points to.
static bool pbd_create(th_world *host) {
    store &s = host->device_world->store;
    size_t people = (size_t)host->agents.capacity, crowds = people / pbd_memory::CROWD + 1;
    pbd_memory *memory = new (std::nothrow) pbd_memory();
    if (!memory) return false;
    host->device_world->model_state[TH_MOVE_PBD] = memory;
    memory->step = s.room<pbd_state>(1);
    memory->now = s.room<walk>(people);
    memory->next = s.room<walk>(people);
    memory->one_group = host->group_count == 1;
    memory->lists = s.room<uint16_t>(crowds * pbd_memory::CROWD * pbd_memory::LISTED);
    memory->used = s.room<uint32_t>(crowds);
    th_pbd state;
    memset(&state, 0, sizeof state);
    state.group_count = host->group_count;
    state.groups = s.room<th_pbd_group>((size_t)host->group_count);
    host->device_world->known.model_state[TH_MOVE_PBD] = s.copy(&state, 1);
    return !s.failed;
}

static void pbd_destroy(th_world *host) { delete memory_of(host); }

const device_model device_move_pbd = {.create = pbd_create, .destroy = pbd_destroy, .run = pbd_run};

} // namespace th
