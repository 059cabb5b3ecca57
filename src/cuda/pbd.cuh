// Position-based crowds on the device (move/pbd.c, pbd_list.c, pbd_solve.c, pbd_cohesion.c): a thread a person. Whom
// somebody may touch or meet is listed once a sub-step, in two bytes each, and six iterations read the list; who
// finds no room for it, or sees across a link, works it out anew every time. Sums have the CPU's order.
// A sub-step is 6 launches, 3 a stabilisation and 2 an iteration. SPDX-License-Identifier: Apache-2.0
#ifndef TH_CUDA_PBD_CUH
#define TH_CUDA_PBD_CUH
#include "cuda/pbd_cohesion.cuh"
#include "cuda/substep.cuh"

// Those within the seeker's limit; counts all, writes as many as fit. `others` knows everybody's place and
// displacement when the sub-step began.
template <class Others>
TH_BOTH static uint32_t collect_among(const th_world *world, const seeker *s, float reach, uint32_t *list,
                                      Others others) {
    const th_agents *a = &world->agents;
    const seeker o = *s;
    const th_level_grid *grid = &world->index.grids[a->level[o.i]];
    th_rows rows = th_rows_around(grid, th_v(o.x, o.y), reach);
    uint32_t count = 0;
    for (uint32_t begin, end; th_next_run(&world->index, grid, &rows, &begin, &end);)
        for (uint32_t j = begin; j < end; ++j) {
            th_vec2 p = others.place(j), u = others.displacement(j);
            if (!(wants(&o, p.x, p.y, u.x, u.y, a->radius[j]) > 0.0f) || j == o.i) continue;
            if (count < TH_PBD_NEIGHBOURS) list[count] = j;
            ++count;
        }
    return count;
}

// Worked out anew: for the few who find no room for a list.
struct begun_anew {
    const th_world *world;
    const th_substep *step;
    TH_BOTH th_vec2 place(uint32_t j) const {
        return th_v(world->agents.work_x[j], world->agents.work_y[j]);
    }
    TH_BOTH th_vec2 displacement(uint32_t j) const {
        uint64_t repairs = 0;
        return predicted(world, step, j, &repairs);
    }
};
TH_BOTH static uint32_t collect(const th_world *world, const seeker *s, float reach,
                                uint32_t *list) {
    return collect_among(world, s, reach, list, begun_anew{world, s->step});
}

namespace th {

// Bits of agents.order beside TH_AROUND_*; the number of listed people above them. Who is listed and not near a
// wall is the rule, and has kernels of its own: what the others need would cost everybody registers.
constexpr uint32_t PBD_NEAR_WALL = 4, PBD_LISTED = 8, PBD_COUNT = 16;
static_assert((TH_AROUND_HIDDEN | TH_AROUND_LINKED) < (int)PBD_NEAR_WALL, "bits of their own");
TH_ON_GPU inline bool is_plain(const th_agents *a, uint32_t i) {
    return (a->order[i] & (PBD_NEAR_WALL | PBD_LISTED)) == PBD_LISTED;
}

// ---- lists of two bytes an entry: the row of cells, counted from the own, and the place from where the own
// column begins in that row.

enum { PBD_ROWS = 16, PBD_SPAN = 4096 };

// The own cell: cell_start[nx * r] is where the own column begins r rows further up.
struct own_column {
    const uint32_t *start;
    int nx, row;
};
TH_ON_GPU inline own_column column_of(const th_world *world, uint32_t i) {
    const th_agents *a = &world->agents;
    const th_level_grid *grid = &world->index.grids[a->level[i]];
    int column = th_grid_column(grid, a->position_x[i]), row = th_grid_row(grid, a->position_y[i]);
    return {world->index.cell_start + grid->first + row * grid->nx + column, grid->nx, row};
}

// False: j is too far off for two bytes.
TH_ON_GPU inline bool encode(const th_world *world, const own_column &column, uint32_t i, uint32_t j,
                             uint16_t *entry) {
    const th_agents *a = &world->agents;
    const th_level_grid *grid = &world->index.grids[a->level[i]];
    int up = th_grid_row(grid, a->position_y[j]) - column.row;
    if (up < -PBD_ROWS / 2 || up >= PBD_ROWS / 2) return false;
    int along = (int)(j - column.start[column.nx * up]) + PBD_SPAN / 2;
    *entry = (uint16_t)((up + PBD_ROWS / 2) * PBD_SPAN + along);
    return along >= 0 && along < PBD_SPAN;
}

// Those whom a person may feel in this sub-step: the listed,
struct listed_people {
    const uint16_t *entries;
    own_column column;
    uint32_t begin; // of the own column in row `up`
    int up, count;

    TH_ON_GPU uint32_t at(int k) {
        int entry = entries[k], entry_up = entry / PBD_SPAN - PBD_ROWS / 2;
        if (entry_up != up) {
            up = entry_up;
            begin = column.start[column.nx * up];
        }
        return begin + (uint32_t)(entry % PBD_SPAN - PBD_SPAN / 2);
    }
};
TH_ON_GPU inline listed_people listed_by(const th_world *world, const pbd_memory &memory, uint32_t i) {
    const th_agents *a = &world->agents;
    return {memory.lists + a->slot[i], column_of(world, i), 0, PBD_ROWS, (int)(a->order[i] / PBD_COUNT)};
}
// or those found anew, for whom there is room in `found`.
struct found_people {
    const uint32_t *found;
    int count;
    TH_ON_GPU uint32_t at(int k) { return found[k]; }
};
TH_ON_GPU inline found_people found_by(const th_world *world, const th_substep *step,
                                       const th_walls *walls, uint32_t i, uint32_t *found) {
    uint64_t repairs = 0;
    th_vec2 u = predicted(world, step, i, &repairs);
    return {found, (int)list_people(world, step, walls, i, u, found)};
}

// Writes the list of i where its crowd has room.
TH_ON_GPU inline void keep_list(const th_world *world, const pbd_memory &memory, uint32_t i,
                                const uint32_t *list, uint32_t count) {
    enum { ROOM = pbd_memory::CROWD * pbd_memory::LISTED };
    const th_agents *a = &world->agents;
    uint32_t crowd = i / pbd_memory::CROWD, begin = add(&memory.used[crowd], count);
    bool listed = begin + count <= ROOM;
    begin += crowd * ROOM;
    own_column column = column_of(world, i);
    for (uint32_t k = 0; listed && k < count; ++k)
        listed = encode(world, column, i, list[k], &memory.lists[begin + k]);
    a->slot[i] = begin;
    a->order[i] = a->order[i] % PBD_NEAR_WALL | (listed ? PBD_LISTED + count * PBD_COUNT : 0);
}

// Who sees everybody around and no heap: here; the others are left without a list.
struct beginning {
    const both *places, *displacements;
    TH_BOTH th_vec2 place(uint32_t j) const { return th_v(places[j].x, places[j].y); }
    TH_BOTH th_vec2 displacement(uint32_t j) const {
        return th_v(displacements[j].x, displacements[j].y);
    }
};
TH_ON_GPU inline void list_plain(const th_world *world, const th_substep *step, const pbd_memory &memory,
                                 uint32_t i) {
    const th_agents *a = &world->agents;
    uint32_t list[TH_PBD_NEIGHBOURS];
    float reach;
    a->order[i] %= PBD_NEAR_WALL;
    if (a->order[i]) return; // hidden or across a link
    beginning others = {memory.place, memory.u};
    seeker s = seeker_of(world, step, i, others.displacement(i), &reach);
    uint32_t count = collect_among(world, &s, reach + step->moved, list, others);
    if (count <= TH_PBD_NEIGHBOURS) keep_list(world, memory, i, list, count);
}
// The others, and who may touch walls.
TH_ON_GPU inline void list_special(const th_world *world, const th_substep *step,
                                   const pbd_memory &memory, uint32_t i) {
    const th_agents *a = &world->agents;
    th_walls walls = th_world_walls(world);
    uint32_t list[TH_PBD_NEIGHBOURS];
    int near_walls[TH_PBD_WALLS];
    if (!(a->order[i] & (PBD_LISTED | (uint32_t)TH_AROUND_LINKED))) {
        found_people found = found_by(world, step, &walls, i, list);
        keep_list(world, memory, i, list, (uint32_t)found.count);
    }
    th_vec2 u = th_v(memory.u[i].x, memory.u[i].y);
    if (walls.count > 0 && list_walls_of(world, &walls, i, u, near_walls) > 0)
        a->order[i] |= PBD_NEAR_WALL;
}

// ---- the iterations

struct corrections {
    th_pbd_correction contact, avoid;
};

TH_ON_GPU inline void add_to(th_pbd_correction *sum, th_pbd_correction c) {
    sum->x += c.x;
    sum->y += c.y;
    sum->count += c.count;
}

// Person i among others, as the pairs need it.
struct pair_maker {
    const th_world *world;
    const both *place, *all_u;
    uint32_t i;
    both p, u;
    float radius, inverse_mass;
    bool equal;

    // Offset, relative displacement, sum of radii and the own share.
    TH_ON_GPU void with(uint32_t j, bool moves, th_vec2 *x, th_vec2 *v, float *radii) const {
        both q = place[j], w = moves ? all_u[j] : both{0.0f, 0.0f};
        *x = th_v(p.x - q.x, p.y - q.y);
        *v = moves ? th_v(u.x - w.x, u.y - w.y) : th_v(0.0f, 0.0f);
        *radii = radius + world->agents.radius[j];
    }
    TH_ON_GPU float share(uint32_t j) const {
        return equal ? 0.5f : th_pbd_share(inverse_mass, inverse_mass_of(world, j));
    }
};

TH_ON_GPU inline pair_maker pairs_of(const th_world *world, const pbd_memory &memory, uint32_t i) {
    bool equal = world->pbd->equal_masses;
    return {world, memory.place, memory.u, i, memory.place[i], memory.u[i],
            world->agents.radius[i], equal ? 1.0f : inverse_mass_of(world, i), equal};
}

TH_ON_GPU inline bool at_one_place(th_vec2 d) {
    return !(d.x * d.x + d.y * d.y - TH_PBD_COINCIDENT * TH_PBD_COINCIDENT > 0.0f);
}

// Those who stand at i's very place are pushed in a direction drawn from both ids, opposite for the two.
template <class Felt>
TH_ON_GPU void add_coincident_pairs(const pair_maker &pairs, Felt *felt, bool moves, float margin,
                                    th_pbd_correction *sum) {
    const uint32_t *id = pairs.world->agents.id;
    for (int k = 0; k < felt->count; ++k) {
        uint32_t j = felt->at(k);
        th_vec2 x, v;
        float radii;
        pairs.with(j, moves, &x, &v, &radii);
        if (!at_one_place(th_add(x, v))) continue;
        th_vec2 n = th_pair_direction(id[pairs.i], id[j]);
        float push = margin * radii * pairs.share(j);
        add_to(sum, {push * n.x, push * n.y, 1.0f});
    }
}

// Sums over all pairs, in the order of the list. The formulas give nothing for who is too far off to touch and who
// is not going to be met, so those are left out before the work is done.
template <bool moves, class Felt>
TH_ON_GPU corrections correct(const pair_maker &pairs, const th_pbd_group *group, Felt *felt) {
    const th_pbd_avoidance how = group->avoid;
    const float margin = group->params.contact_margin,
                static_friction = moves ? group->params.static_friction : 0.0f,
                kinetic_friction = moves ? group->params.kinetic_friction : 0.0f;
    corrections sum = {{0.0f, 0.0f, 0.0f}, {0.0f, 0.0f, 0.0f}};
    bool coincident = false;
    for (int k = 0; k < felt->count; ++k) {
        uint32_t j = felt->at(k);
        th_vec2 x, v;
        float radii;
        pairs.with(j, moves, &x, &v, &radii);
        th_vec2 d = th_add(x, v);
        float share = pairs.share(j), apart = margin * radii;
        // A thousandth more, for the rounding of the formula's own distance.
        if (!(d.x * d.x + d.y * d.y > 1.001f * apart * apart)) {
            add_to(&sum.contact,
                   th_pbd_contact(d, v, apart, share, static_friction, kinetic_friction));
            coincident = coincident || at_one_place(d);
        }
        if (moves && th_pbd_meet(x, th_v(v.x * how.inverse_h, v.y * how.inverse_h), radii).meets > 0.0f)
            add_to(&sum.avoid, th_pbd_avoid(&how, x, v, radii, share));
    }
    if (coincident) add_coincident_pairs(pairs, felt, moves, margin, &sum.contact);
    return sum;
}

// What the end of an iteration needs; `near` is room for TH_PBD_WALLS, or NULL: none is near.
TH_ON_GPU inline corrected corrected_of(const th_world *world, const th_substep *step,
                                        const th_walls *walls, const pair_maker &pairs, int *near) {
    uint32_t i = pairs.i;
    if (near) {
        uint64_t repairs = 0;
        near[0] = -1;
        if (world->agents.order[i] & PBD_NEAR_WALL)
            list_walls_of(world, walls, i, predicted(world, step, i, &repairs), near);
    }
    return {th_pbd_group_of(world, i), near, pairs.radius, th_v(pairs.p.x, pairs.p.y)};
}

// What walls that are not near add: nothing, but it turns -0 into 0, as on the CPU.
TH_ON_GPU inline th_vec2 off_far_walls(const th_walls *walls, th_vec2 u) {
    return walls->count > 0 ? th_add(u, th_v(0.0f, 0.0f)) : u;
}

// Out of the overlaps at the beginning: the shift into next_u.
template <class Felt>
TH_ON_GPU void stabilise_one(const th_world *world, const th_substep *step, const th_walls *walls,
                             const pbd_memory &memory, uint32_t i, Felt felt, int *near) {
    pair_maker pairs = pairs_of(world, memory, i);
    corrections sum = correct<false>(pairs, th_pbd_group_of(world, i), &felt);
    corrected person = corrected_of(world, step, walls, pairs, near);
    th_vec2 shift = shift_by(walls, &person, &sum.contact);
    if (!near) shift = off_far_walls(walls, shift);
    memory.next_u[i] = {shift.x, shift.y};
}

// One iteration: u -> next_u.
template <class Felt>
TH_ON_GPU void iterate_one(const th_world *world, const th_substep *step, const th_walls *walls,
                           const pbd_memory &memory, uint32_t i, Felt felt, int *near) {
    const th_agents *a = &world->agents;
    pair_maker pairs = pairs_of(world, memory, i);
    corrections sum = correct<true>(pairs, th_pbd_group_of(world, i), &felt);
    corrected person = corrected_of(world, step, walls, pairs, near);
    th_vec2 avoided = th_v(a->next_velocity_x[i], a->next_velocity_y[i]);
    th_vec2 u = solve_by(walls, &person, &sum.contact, &sum.avoid, th_v(pairs.u.x, pairs.u.y),
                         &avoided);
    if (!near) u = off_far_walls(walls, u);
    a->next_velocity_x[i] = avoided.x;
    a->next_velocity_y[i] = avoided.y;
    memory.next_u[i] = {u.x, u.y};
}

TH_ON_GPU inline void correct_plain(const th_world *world, const th_substep *step, const pbd_memory &memory,
                                    uint32_t i, bool moves) {
    if (!is_plain(&world->agents, i)) return;
    th_walls walls = th_world_walls(world);
    listed_people felt = listed_by(world, memory, i);
    if (moves)
        iterate_one(world, step, &walls, memory, i, felt, nullptr);
    else
        stabilise_one(world, step, &walls, memory, i, felt, nullptr);
}

TH_ON_GPU inline void correct_special(const th_world *world, const th_substep *step,
                                      const pbd_memory &memory, uint32_t i, bool moves) {
    const th_agents *a = &world->agents;
    if (is_plain(a, i)) return;
    th_walls walls = th_world_walls(world);
    uint32_t room[TH_PBD_NEIGHBOURS];
    int near[TH_PBD_WALLS];
    found_people felt = {room, (int)(a->order[i] / PBD_COUNT)};
    if (a->order[i] & PBD_LISTED) {
        listed_people listed = listed_by(world, memory, i);
        for (int k = 0; k < listed.count; ++k) room[k] = listed.at(k);
    } else {
        felt = found_by(world, step, &walls, i, room);
    }
    if (moves)
        iterate_one(world, step, &walls, memory, i, felt, near);
    else
        stabilise_one(world, step, &walls, memory, i, felt, near);
}

// ---- the step

TH_ON_GPU inline void predict_one(th_world *world, moving *s, const pbd_memory &memory, uint32_t i) {
    th_agents *a = &world->agents;
    uint64_t repairs = 0;
    th_vec2 u = predicted(world, &s->step, i, &repairs);
    if (repairs) add(&s->repairs, repairs);
    memory.place[i] = {a->work_x[i], a->work_y[i]};
    memory.u[i] = memory.next_u[i] = {u.x, u.y};
    if (th_pbd_own(world, i)) a->next_velocity_x[i] = a->next_velocity_y[i] = 0.0f;
}

static void begin_pbd(th_world *host, int iterations) {
    moving *s = host->cuda->moving;
    th_world *device = device_world(host);
    each(host->group_count, TH_LAMBDA(int g) { read_group(device, g, s->step.h, iterations); });
    everybody(host, TH_LAMBDA(th_world * world, int k) {
        uint32_t i = (uint32_t)k, bits;
        float inverse = inverse_mass_of(world, i);
        memcpy(&bits, &inverse, sizeof bits);
        largest(&s->heaviest, bits);
        smallest(&s->lightest, bits);
        if (!th_pbd_own(world, i)) return;
        lean_aside(world, i);
        world->agents.order[i] = 0;
        if (!s->step.looks) return;
        th_walls walls = th_world_walls(world);
        th_substep_look(world, &s->step, &walls, i, felt_range(world, i), true);
    });
    once(host, TH_LAMBDA(th_world * world) {
        world->pbd->equal_masses = s->lightest == s->heaviest;
    });
}

static void stabilise(th_world *host, const pbd_memory &held) {
    moving *s = host->cuda->moving;
    pbd_memory memory = held;
    everybody(host, TH_LAMBDA(th_world * world, int i) {
        if (th_pbd_own(world, (uint32_t)i)) correct_plain(world, &s->step, memory, (uint32_t)i, false);
    });
    everybody(host, TH_LAMBDA(th_world * world, int i) {
        if (th_pbd_own(world, (uint32_t)i)) correct_special(world, &s->step, memory, (uint32_t)i, false);
    });
    everybody(host, TH_LAMBDA(th_world * world, int i) {
        if (!th_pbd_own(world, (uint32_t)i)) return;
        both p = memory.place[i], shift = memory.next_u[i];
        memory.place[i] = {p.x + shift.x, p.y + shift.y};
    });
}

static void iterate(th_world *host, pbd_memory *held) {
    moving *s = host->cuda->moving;
    pbd_memory memory = *held;
    everybody(host, TH_LAMBDA(th_world * world, int i) {
        if (th_pbd_own(world, (uint32_t)i)) correct_plain(world, &s->step, memory, (uint32_t)i, true);
    });
    everybody(host, TH_LAMBDA(th_world * world, int i) {
        if (th_pbd_own(world, (uint32_t)i)) correct_special(world, &s->step, memory, (uint32_t)i, true);
    });
    held->u = memory.next_u;
    held->next_u = memory.u;
}

static void finish_pbd_substep(th_world *host, const pbd_memory &held) {
    moving *s = host->cuda->moving;
    pbd_memory memory = held;
    everybody(host, TH_LAMBDA(th_world * world, int i) {
        largest_square(&s->moved2, finish_plain(world, &s->step, memory, (uint32_t)i));
    });
    if (host->wall_count > 0) // else nobody is hidden
        everybody(host, TH_LAMBDA(th_world * world, int i) {
            largest_square(&s->moved2, finish_special(world, &s->step, memory, (uint32_t)i));
        });
    end_one_substep(host);
}

static void take_pbd_substep(th_world *host, const asked &most) {
    moving *s = host->cuda->moving;
    pbd_memory memory = host->cuda->pbd;
    int crowds = (host->cuda->bound + pbd_memory::CROWD - 1) / pbd_memory::CROWD;
    clear(memory.used, (size_t)crowds * sizeof *memory.used);
    everybody(host, TH_LAMBDA(th_world * world, int i) { predict_one(world, s, memory, (uint32_t)i); });
    everybody(host, TH_LAMBDA(th_world * world, int i) {
        if (th_pbd_own(world, (uint32_t)i)) list_plain(world, &s->step, memory, (uint32_t)i);
    });
    everybody(host, TH_LAMBDA(th_world * world, int i) {
        if (th_pbd_own(world, (uint32_t)i)) list_special(world, &s->step, memory, (uint32_t)i);
    });
    for (int k = 0; k < most.stabilisation; ++k) stabilise(host, memory);
    for (int k = 0; k < most.iterations; ++k) iterate(host, &memory);
    finish_pbd_substep(host, memory);
}

static void move_pbd(th_world *host) {
    asked most = asked_by_groups(host);
    th_substep step = th_substep_of(host, TH_MOVE_PBD, most.substep);
    begin_substeps(host, step);
    begin_pbd(host, most.iterations);
    for (int k = 0; k < step.count; ++k) take_pbd_substep(host, most);
}

// All memory of the model, for at most `people`; the state that th_world points to.
static struct th_pbd *take_pbd(store &s, pbd_memory *memory, size_t people, int groups) {
    size_t crowds = people / pbd_memory::CROWD + 1;
    memory->place = s.room<both>(people);
    memory->u = s.room<both>(people);
    memory->next_u = s.room<both>(people);
    memory->lists = s.room<uint16_t>(crowds * pbd_memory::CROWD * pbd_memory::LISTED);
    memory->used = s.room<uint32_t>(crowds);
    th_pbd state;
    memset(&state, 0, sizeof state);
    state.group_count = groups;
    state.groups = s.room<th_pbd_group>((size_t)groups);
    memory->state = s.copy(&state, 1);
    return memory->state;
}

} // namespace th
#endif
