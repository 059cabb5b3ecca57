// Position-based crowds on the device: whom somebody may touch or is going to meet (move/pbd_list.c), a thread a person.
// The list is made once a sub-step, two bytes an entry, and the iterations read it; who finds no room for it, or sees
// across a link, works it out anew every time. Bound by arithmetic: about 80 people are looked at for the 7 who are
// listed. SPDX-License-Identifier: Apache-2.0
#ifndef TH_CUDA_PBD_LIST_CUH
#define TH_CUDA_PBD_LIST_CUH
#include "cuda/moving.cuh"

// Those within the seeker's limit; counts all, writes as many as fit. `others` knows everybody's place and
// displacement when the sub-step began.
template <class Others>
TH_BOTH static void collect_among(const th_world *world, const seeker *s, float reach, th_pbd_felt *felt,
                                  Others others) {
    const th_agents *a = &world->agents;
    const seeker o = *s;
    const th_level_grid *grid = &world->index.grids[a->level[o.i]];
    const float *radius = a->radius;
    th_vec2 center = th_v(o.x, o.y);
    th_rows rows = th_rows_around(grid, center, reach);
    uint32_t touch_count = 0, meet_count = 0;
    for (uint32_t begin, end; th_next_run_within(&world->index, grid, &rows, center, reach, &begin, &end);)
        for (uint32_t j = begin; j < end; ++j) {
            th_vec2 p = others.place(j), u = others.displacement(j);
            wanted w = wants(&o, p.x, p.y, u.x, u.y, radius[j]);
            if (!(th_max(w.touches, w.meets) > 0.0f) || j == o.i) continue;
            if (w.touches > 0.0f) {
                if (touch_count < TH_PBD_NEIGHBOURS) felt->touch[touch_count] = j;
                ++touch_count;
            }
            if (w.meets > 0.0f) {
                if (meet_count < TH_PBD_NEIGHBOURS) felt->meet[meet_count] = j;
                ++meet_count;
            }
        }
    felt->touch_count = touch_count;
    felt->meet_count = meet_count;
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
TH_BOTH static void collect(const th_world *world, const seeker *s, float reach, th_pbd_felt *felt) {
    collect_among(world, s, reach, felt, begun_anew{world, s->step});
}

namespace th {

// Bits of agents.order beside TH_AROUND_*, then the numbers of those to touch and to meet. Who is listed and not near a
// wall is the rule, and has kernels of its own: what the others need would cost everybody registers.
constexpr uint32_t PBD_NEAR_WALL = 4, PBD_LISTED = 8, PBD_OWN = 16, PBD_TOUCH = 32, PBD_COUNTS = 128,
                   PBD_MEET = PBD_TOUCH * PBD_COUNTS;
static_assert((TH_AROUND_HIDDEN | TH_AROUND_LINKED) < (int)PBD_NEAR_WALL, "bits of their own");
static_assert((int)TH_PBD_NEIGHBOURS < (int)PBD_COUNTS, "room for the numbers");
TH_ON_GPU inline bool is_plain(uint32_t order) {
    return (order & (PBD_NEAR_WALL | PBD_LISTED | PBD_OWN)) == (PBD_LISTED | PBD_OWN);
}
TH_ON_GPU inline uint32_t touched_in(uint32_t order) { return order / PBD_TOUCH % PBD_COUNTS; }
TH_ON_GPU inline uint32_t met_in(uint32_t order) { return order / PBD_MEET; }

// ---- two bytes an entry: the row of cells, counted from the own, and the place from where the own column begins in
// that row.

enum { PBD_ROWS = 32, PBD_SPAN = 2048 };

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
    int up, touch_count, meet_count;

    TH_ON_GPU uint32_t at(int k) {
        int entry = entries[k], entry_up = entry / PBD_SPAN - PBD_ROWS / 2;
        if (entry_up != up) {
            up = entry_up;
            begin = column.start[column.nx * up];
        }
        return begin + (uint32_t)(entry % PBD_SPAN - PBD_SPAN / 2);
    }
    TH_ON_GPU uint32_t touch(int k) { return at(k); }
    TH_ON_GPU uint32_t meet(int k) { return at(touch_count + k); }
};
TH_ON_GPU inline listed_people listed_by(const th_world *world, const pbd_memory &memory, uint32_t i,
                                         uint32_t order) {
    return {memory.lists + world->agents.slot[i], column_of(world, i), 0, PBD_ROWS, (int)touched_in(order),
            (int)met_in(order)};
}
// or those found anew.
struct found_people {
    const th_pbd_felt *felt;
    int touch_count, meet_count;
    TH_ON_GPU uint32_t touch(int k) { return felt->touch[k]; }
    TH_ON_GPU uint32_t meet(int k) { return felt->meet[k]; }
};
TH_ON_GPU inline found_people found_by(const th_world *world, const th_substep *step, const th_walls *walls,
                                       uint32_t i, th_pbd_felt *felt) {
    uint64_t repairs = 0;
    list_people(world, step, walls, i, predicted(world, step, i, &repairs), felt);
    return {felt, (int)felt->touch_count, (int)felt->meet_count};
}
TH_ON_GPU inline found_people copy_of(listed_people listed, th_pbd_felt *felt) {
    for (int k = 0; k < listed.touch_count; ++k) felt->touch[k] = listed.touch(k);
    for (int k = 0; k < listed.meet_count; ++k) felt->meet[k] = listed.meet(k);
    return {felt, listed.touch_count, listed.meet_count};
}

// ---- making the lists

// Writes the lists of i where its crowd has room.
TH_ON_GPU inline void keep_list(const th_world *world, const pbd_memory &memory, uint32_t i,
                                const th_pbd_felt *felt) {
    enum { ROOM = pbd_memory::CROWD * pbd_memory::LISTED };
    const th_agents *a = &world->agents;
    uint32_t count = felt->touch_count + felt->meet_count;
    uint32_t crowd = i / pbd_memory::CROWD, begin = add(&memory.used[crowd], count);
    bool listed = begin + count <= ROOM;
    begin += crowd * ROOM;
    own_column column = column_of(world, i);
    uint16_t *to = memory.lists + begin;
    for (uint32_t k = 0; listed && k < felt->touch_count; ++k)
        listed = encode(world, column, i, felt->touch[k], to++);
    for (uint32_t k = 0; listed && k < felt->meet_count; ++k)
        listed = encode(world, column, i, felt->meet[k], to++);
    a->slot[i] = begin;
    a->order[i] = a->order[i] % PBD_TOUCH |
                  (listed ? PBD_LISTED + felt->touch_count * PBD_TOUCH + felt->meet_count * PBD_MEET : 0);
}

struct beginning {
    const both *places, *displacements;
    TH_BOTH th_vec2 place(uint32_t j) const { return th_v(places[j].x, places[j].y); }
    TH_BOTH th_vec2 displacement(uint32_t j) const {
        return th_v(displacements[j].x, displacements[j].y);
    }
};
// Who sees everybody around and no heap: here; the others are left without a list.
TH_ON_GPU inline void list_plain(const th_world *world, const th_substep *step, const pbd_memory &memory,
                                 uint32_t i) {
    const th_agents *a = &world->agents;
    uint32_t order = a->order[i] & (PBD_OWN | (uint32_t)(TH_AROUND_HIDDEN | TH_AROUND_LINKED));
    a->order[i] = order;
    if (order != PBD_OWN) return; // another's, hidden or across a link
    th_pbd_felt felt;
    float reach;
    beginning others = {memory.place, memory.u};
    seeker s = seeker_of(world, step, i, others.displacement(i), &reach);
    collect_among(world, &s, reach + step->moved, &felt, others);
    if (!too_many(&felt)) keep_list(world, memory, i, &felt);
}
// The others, and who may touch walls. True: i needs the general kernels.
TH_ON_GPU inline bool list_special(const th_world *world, const th_substep *step, const pbd_memory &memory,
                                   uint32_t i) {
    const th_agents *a = &world->agents;
    if (!(a->order[i] & PBD_OWN)) return false;
    th_walls walls = th_world_walls(world);
    if (!(a->order[i] & (PBD_LISTED | (uint32_t)TH_AROUND_LINKED))) {
        th_pbd_felt felt;
        found_by(world, step, &walls, i, &felt);
        keep_list(world, memory, i, &felt);
    }
    int near_walls[TH_PBD_WALLS];
    th_vec2 u = th_v(memory.u[i].x, memory.u[i].y);
    if (walls.count > 0 && list_walls_of(world, &walls, i, u, near_walls) > 0)
        a->order[i] |= PBD_NEAR_WALL;
    return !is_plain(a->order[i]);
}

} // namespace th
#endif
