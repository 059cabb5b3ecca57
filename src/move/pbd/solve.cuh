// Position-based crowds on the device: the iterations (solve.c). Sums have the CPU's order. Bound by arithmetic
// and by the longest list among the 32 people of a warp. SPDX-License-Identifier: Apache-2.0
#ifndef TH_MOVE_PBD_SOLVE_CUH
#define TH_MOVE_PBD_SOLVE_CUH
#include "move/pbd/list.cuh"

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

} // namespace th
#endif
