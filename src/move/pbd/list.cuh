// Position-based crowds on the device: the neighbours that an agent may touch or is going to meet (solve.c), one thread
// per person. The list is made once a sub-step, two bytes an entry, and the iterations read it; an agent that finds no
// room for it, or sees across a link, works it out anew every time. Bound by arithmetic: about 90 people are looked at
// for the 7 that are listed. SPDX-License-Identifier: Apache-2.0
#ifndef TH_MOVE_PBD_LIST_CUH
#define TH_MOVE_PBD_LIST_CUH
#include "device/model.cuh"
#include "device/team.cuh"
#include "move/pbd/step.h"
#include "move/substep.cuh"

namespace th {

// The step on the device.
struct pbd_state : substep_state {
    uint32_t sizes[4]; // bits of the largest inverse mass and radius, complements of the smallest
    bool alike;        // all have one radius and one mass
    uint32_t specials; // people in agents.cell that need the general kernels

    TH_ON_GPU void begin(const th_substep &first) {
        substep_state::begin(first);
        memset(sizes, 0, sizeof sizes);
        specials = 0;
    }
    TH_ON_GPU void end(th_world *world) {
        substep_state::end(world);
        specials = 0;
    }
};

// A place and a displacement, read at once.
struct alignas(16) walk {
    float x, y, ux, uy;
};

// Position-based crowds. A person has 2 x 16 bytes here and on average LISTED entries of two bytes; what avoidance
// has added so far lies in next_velocity, where its list begins in slot, how long it is in order.
struct pbd_memory {
    enum {
        CROWD = 128, // people that share room for their lists
        LISTED = 12, // entries that there are for one of them on average
    };
    pbd_state *step;
    // Where the sub-step begins, after stabilisation, and the displacement of every agent.
    walk *now;
    walk *next; // what a stabilisation or an iteration writes, to take its place
    uint16_t *lists;
    uint32_t *used; // entries of each crowd
    bool one_group;
};

} // namespace th

// Looks at every agent within reach. `others` knows every agent's place, displacement and radius when the sub-step
// began; `note(row, first, touch, meet)` is told which of first, first + 1, ... in a row of cells the bits mean. Few
// are wanted, but in a warp nearly always by one of its threads: so the loop only sets bits.
template <class Others, class Note>
TH_BOTH static void look_around(const th_world *world, const th_pbd_seeker &o, float reach,
                                const Others &others, Note *note) {
    enum { WORD = 32 };
    const th_level_grid *grid = &world->index.grids[world->agents.level[o.i]];
    th_vec2 center = th_v(o.x, o.y);
    th_rows rows = th_rows_around(grid, center, reach);
    for (uint32_t begin, end;
         th_next_run_within(&world->index, grid, &rows, center, reach, &begin, &end);)
        for (uint32_t first = begin; first < end; first += WORD) {
            uint32_t stop = end - first < WORD ? end : first + WORD, touch = 0, meet = 0, bit = 1;
            TH_ROLLED for (uint32_t j = first; j < stop;
                           ++j, bit += bit) { // else each run ends in a rest
                th_pbd_wanted w = others.wanted_by(o, j);
                touch |= w.touches ? bit : 0u;
                meet |= w.meets ? bit : 0u;
            }
            if (o.i - first < WORD)
                touch &= ~(1u << (o.i - first)); // no agent meets itself, its offset is 0
            if (touch | meet) note->write(rows.row - 1, first, touch, meet);
        }
}

// Worked out anew: for the few that find no room for a list.
struct begun_anew {
    const th_world *world;
    const th_substep *step;
    TH_BOTH th_pbd_wanted wanted_by(const th_pbd_seeker &o, uint32_t j) const {
        const th_agents *a = &world->agents;
        uint64_t repairs = 0;
        th_vec2 u = th_pbd_predicted(world, step, j, &repairs);
        return th_pbd_wants(&o, a->substep_x[j], a->substep_y[j], u.x, u.y, a->radius[j]);
    }
};
// Counts all, writes as many as fit.
struct felt_note {
    th_pbd_felt *felt;
    TH_BOTH void write(int, uint32_t first, uint32_t touch, uint32_t meet) {
        for (; touch; touch &= touch - 1, ++felt->touch_count)
            if (felt->touch_count < TH_PBD_NEIGHBOURS)
                felt->touch[felt->touch_count] = first + th::lowest_bit(touch);
        for (; meet; meet &= meet - 1, ++felt->meet_count)
            if (felt->meet_count < TH_PBD_NEIGHBOURS)
                felt->meet[felt->meet_count] = first + th::lowest_bit(meet);
    }
};
TH_BOTH static inline void collect(const th_world *world, const th_pbd_seeker *s, float reach,
                                   th_pbd_felt *felt) {
    felt_note note = {felt};
    felt->touch_count = felt->meet_count = 0;
    look_around(world, *s, reach, begun_anew{world, s->step}, &note);
}

namespace th {

// Bits of agents.around beside TH_AROUND_*, then the numbers of those to touch and to meet. An agent that is listed and
// not near a wall is the rule, and has kernels of its own: what the general ones need would cost every thread
// registers.
constexpr uint32_t PBD_NEAR_WALL = 4, PBD_LISTED = 8, PBD_OWN = 16, PBD_GENERAL = 32,
                   PBD_TOUCH = 64, PBD_COUNTS = 128, PBD_MEET = PBD_TOUCH * PBD_COUNTS;
static_assert((TH_AROUND_HIDDEN | TH_AROUND_LINKED) < (int)PBD_NEAR_WALL, "bits of their own");
static_assert((int)TH_PBD_NEIGHBOURS < (int)PBD_COUNTS, "room for the numbers");
TH_ON_GPU inline bool is_plain(uint32_t order) {
    return (order & (PBD_GENERAL | PBD_OWN)) == PBD_OWN;
}
TH_ON_GPU inline uint32_t touched_in(uint32_t order) { return order / PBD_TOUCH % PBD_COUNTS; }
TH_ON_GPU inline uint32_t met_in(uint32_t order) { return order / PBD_MEET; }

// ---- two bytes an entry: the row of cells, counted from the own, and the place from where the own column begins in
// that row.

enum { PBD_ROWS = 32, PBD_SPAN = 2048 };

// The own cell: start[nx * r] is where the own column begins r rows further up.
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

// The entries of people in one row.
struct row_of_entries {
    uint32_t begin; // of the own column
    int up;
    TH_ON_GPU bool fits() const { return up >= -PBD_ROWS / 2 && up < PBD_ROWS / 2; }
    // False: j is too far off for two bytes.
    TH_ON_GPU bool encode(uint32_t j, uint16_t *entry) const {
        uint32_t along = j - begin + PBD_SPAN / 2;
        *entry = (uint16_t)((uint32_t)(up + PBD_ROWS / 2) * PBD_SPAN + along);
        return along < PBD_SPAN;
    }
};
TH_ON_GPU inline row_of_entries entries_of_row(const own_column &column, int row) {
    int up = row - column.row;
    return {column.start[column.nx * up], up};
}
TH_ON_GPU inline uint32_t decode(const own_column &column, uint32_t entry) {
    int up = (int)(entry / PBD_SPAN) - PBD_ROWS / 2;
    return column.start[column.nx * up] + (entry % PBD_SPAN - PBD_SPAN / 2);
}

// The lists of an agent before they are stored: a column of a table in shared memory that the threads of a block share.
// An agent that has more on a list is left to the general kernels.
struct entry_note {
    enum {
        TOUCHED = 16, // on each list
        MET = 32,
        NOTED = TOUCHED + MET,
#ifdef __CUDACC__
        STRIDE = THREADS
#else
        STRIDE = 1
#endif
    };
    uint16_t *touch, *meet; // entry k at k * STRIDE
    own_column column;
    uint32_t touch_count, meet_count;
    bool fits;

    TH_ON_GPU void begin(const own_column &own, uint16_t *table) {
        touch = table;
        meet = table + TOUCHED * STRIDE;
        column = own;
        touch_count = meet_count = 0;
        fits = true;
    }
    TH_ON_GPU void write(int row, uint32_t first, uint32_t touch_bits, uint32_t meet_bits) {
        row_of_entries entries = entries_of_row(column, row);
        fits = fits && entries.fits();
        for (; touch_bits; touch_bits &= touch_bits - 1, ++touch_count)
            if (touch_count < TOUCHED)
                fits =
                    entries.encode(first + lowest_bit(touch_bits), &touch[touch_count * STRIDE]) &&
                    fits;
        for (; meet_bits; meet_bits &= meet_bits - 1, ++meet_count)
            if (meet_count < MET)
                fits = entries.encode(first + lowest_bit(meet_bits), &meet[meet_count * STRIDE]) &&
                       fits;
    }
};

// Where the lists of i begin, if its crowd has room for so many.
TH_ON_GPU inline bool take_room(const pbd_memory &memory, uint32_t i, uint32_t count,
                                uint32_t *begin) {
    enum { ROOM = pbd_memory::CROWD * pbd_memory::LISTED };
    uint32_t crowd = i / pbd_memory::CROWD, used = add(&memory.used[crowd], count);
    *begin = crowd * ROOM + used;
    return used + count <= ROOM;
}
TH_ON_GPU inline void set_listed(const th_agents *a, uint32_t i, uint32_t begin, uint32_t touch,
                                 uint32_t meet) {
    a->slot[i] = begin;
    a->around[i] = a->around[i] % PBD_TOUCH | PBD_LISTED | touch * PBD_TOUCH | meet * PBD_MEET;
}
TH_ON_GPU inline bool keep_list(const th_world *world, const pbd_memory &memory, uint32_t i,
                                const entry_note &note) {
    uint32_t begin;
    if (!note.fits || note.touch_count > entry_note::TOUCHED || note.meet_count > entry_note::MET)
        return false;
    if (!take_room(memory, i, note.touch_count + note.meet_count, &begin)) return false;
    uint16_t *to = memory.lists + begin;
    for (uint32_t k = 0; k < note.touch_count; ++k) *to++ = note.touch[k * entry_note::STRIDE];
    for (uint32_t k = 0; k < note.meet_count; ++k) *to++ = note.meet[k * entry_note::STRIDE];
    set_listed(&world->agents, i, begin, note.touch_count, note.meet_count);
    return true;
}
// The same for an agent that was found anew.
TH_ON_GPU inline bool encode_all(const th_world *world, uint32_t i, const uint32_t *list,
                                 uint32_t count, uint16_t *to) {
    const th_agents *a = &world->agents;
    const th_level_grid *grid = &world->index.grids[a->level[i]];
    own_column column = column_of(world, i);
    bool fits = true;
    for (uint32_t k = 0; fits && k < count; ++k) {
        row_of_entries row = entries_of_row(column, th_grid_row(grid, a->position_y[list[k]]));
        fits = row.fits() && row.encode(list[k], &to[k]);
    }
    return fits;
}
TH_ON_GPU inline void keep_felt(const th_world *world, const pbd_memory &memory, uint32_t i,
                                const th_pbd_felt &felt) {
    uint32_t begin;
    if (take_room(memory, i, felt.touch_count + felt.meet_count, &begin) &&
        encode_all(world, i, felt.touch, felt.touch_count, memory.lists + begin) &&
        encode_all(world, i, felt.meet, felt.meet_count, memory.lists + begin + felt.touch_count))
        set_listed(&world->agents, i, begin, felt.touch_count, felt.meet_count);
}

// The neighbours that an agent may feel in this sub-step: the listed,
struct listed_people {
    const uint16_t *entries;
    own_column column;
    int touch_count, meet_count;
    TH_ON_GPU uint32_t touch(int k) const { return decode(column, entries[k]); }
    TH_ON_GPU uint32_t meet(int k) const { return decode(column, entries[touch_count + k]); }
};
TH_ON_GPU inline listed_people listed_by(const th_world *world, const pbd_memory &memory,
                                         uint32_t i, uint32_t order) {
    return {memory.lists + world->agents.slot[i], column_of(world, i), (int)touched_in(order),
            (int)met_in(order)};
}
// or those found anew.
struct found_people {
    const th_pbd_felt *felt;
    int touch_count, meet_count;
    TH_ON_GPU uint32_t touch(int k) const { return felt->touch[k]; }
    TH_ON_GPU uint32_t meet(int k) const { return felt->meet[k]; }
};
TH_ON_GPU inline found_people found_by(const th_world *world, const th_substep *step,
                                       const th_walls *walls, uint32_t i, th_pbd_felt *felt) {
    uint64_t repairs = 0;
    float reach;
    th_pbd_seeker s =
        th_pbd_seeker_of(world, step, i, th_pbd_predicted(world, step, i, &repairs), &reach);
    collect(world, &s, reach + step->moved, felt);
    for (float limit = reach; th_pbd_look_less_far(felt, &s, &limit);)
        collect(world, &s, limit + step->moved, felt);
    th_pbd_trim_felt(world, step, walls, i, reach, felt);
    return {felt, (int)felt->touch_count, (int)felt->meet_count};
}
TH_ON_GPU inline found_people copy_of(const listed_people &listed, th_pbd_felt *felt) {
    for (int k = 0; k < listed.touch_count; ++k) felt->touch[k] = listed.touch(k);
    for (int k = 0; k < listed.meet_count; ++k) felt->meet[k] = listed.meet(k);
    return {felt, listed.touch_count, listed.meet_count};
}

// ---- making the lists

// With `alike` every agent has the seeker's radius.
template <bool alike> struct beginning {
    const walk *now;
    const float *radius;
    TH_ON_GPU th_pbd_wanted wanted_by(const th_pbd_seeker &o, uint32_t j) const {
        walk w = now[j];
        return th_pbd_wants(&o, w.x, w.y, w.ux, w.uy, alike ? o.radius : radius[j]);
    }
};
// An agent that sees every agent around and no heap gets a list here. False: i needs the general kernels.
template <bool alike>
TH_ON_GPU bool list_plain(const th_world *world, const th_substep *step, const pbd_memory &memory,
                          uint32_t i, uint16_t *table) {
    const th_agents *a = &world->agents;
    uint32_t order = a->around[i] & (PBD_OWN | (uint32_t)(TH_AROUND_HIDDEN | TH_AROUND_LINKED));
    a->around[i] = order;
    if (order != PBD_OWN) return !(order & PBD_OWN); // another's; hidden or across a link
    float reach;
    walk own = memory.now[i];
    th_pbd_seeker s = th_pbd_seeker_of(world, step, i, th_v(own.ux, own.uy), &reach);
    entry_note note;
    note.begin(column_of(world, i), table);
    look_around(world, s, reach + step->moved, beginning<alike>{memory.now, a->radius}, &note);
    return keep_list(world, memory, i, note);
}
// Makes the lists of agents that need the general kernels.
TH_ON_GPU inline void list_special(const th_world *world, const th_substep *step,
                                   const pbd_memory &memory, uint32_t i) {
    const th_agents *a = &world->agents;
    if (a->around[i] & (PBD_LISTED | (uint32_t)TH_AROUND_LINKED)) return;
    th_walls walls = th_world_walls(world);
    th_pbd_felt felt;
    found_by(world, step, &walls, i, &felt);
    keep_felt(world, memory, i, felt);
}
// Marks agents that may touch walls. True: i needs the general kernels now.
TH_ON_GPU inline bool mark_near_wall(const th_world *world, const pbd_memory &memory, uint32_t i) {
    const th_agents *a = &world->agents;
    int near_walls[TH_PBD_WALLS];
    if (!(a->around[i] & PBD_OWN)) return false;
    th_walls walls = th_world_walls(world);
    th_vec2 u = th_v(memory.now[i].ux, memory.now[i].uy);
    if (th_pbd_list_walls(world, &walls, i, u, near_walls) == 0) return false;
    bool first = !(a->around[i] & PBD_GENERAL);
    a->around[i] |= PBD_NEAR_WALL | PBD_GENERAL;
    return first;
}

} // namespace th
#endif
