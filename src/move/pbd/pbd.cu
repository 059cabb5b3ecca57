// Position-based crowds on the device (pbd.c): the kernels of a step. A sub-step is 5 launches, 2 more among walls,
// 2 a stabilisation and 2 an iteration. SPDX-License-Identifier: Apache-2.0
#include "move/pbd/cohesion.cuh"
#include "move/pbd/list.cuh"
#include "move/pbd/solve.cuh"

namespace th {

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
