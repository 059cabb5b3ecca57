// ORCA on the device: one thread per person, its neighbours and lines in shared memory.
// Three kernels. The first serves agents without walls and links nearby whose lines leave a velocity: nearly
// all. It notes the others in two lists: those without such a velocity, which need program 3 (one in fourteen at
// 4 people/m2, so that nearly every warp would have to go through it for one or two of its people), and those near
// walls or links. They have kernels of their own, which begin anew: that takes less time than to keep the lines.
// Instructions bound all three: by its PTX a warp of the first has some 6000 where one kernel for all had 41 000.
// SPDX-License-Identifier: Apache-2.0
#include "device/device.cuh"
#include "device/model.cuh"
#include "move/orca/orca.h"

// ---- nearest neighbours
// The nearest neighbours of an agent on the device, one thread per person: the same people in the same order as
// state/nearest.h finds. A circle is guessed that holds a few more than wanted; an agent that is within it goes into a
// list in the thread's own room, and the few of the list are then put in order in registers, without a branch. Both are
// for the sake of a warp, which does for all its threads what any of them needs: put in order at once, all agents in
// nine cells would cost what the listed alone do.

namespace th {

// A thread's own room: `most` places, each for one line or, before there are lines, for two people.
struct near_person {
    float distance2;
    uint32_t agent;
};
union alignas(16) orca_room {
    th_orca_place line;
    near_person people[2];
};
template <int most> struct own_room {
    enum { PEOPLE = 2 * most };
    orca_room *places;
    int stride;
    // The first `most` people have a place each, so that it may become the line of the agent in it.
    TH_BOTH near_person &person(int k) const {
        return k < most ? places[k * stride].people[0] : places[(k - most) * stride].people[1];
    }
    TH_BOTH th_orca_lines lines() const { return {(th_orca_place *)places, stride, 0, 0}; }
};

// The nearest so far, and one more, which decides whether the last of them is certain.
template <int most> struct nearest_few {
    float distance2[most + 1];
    uint32_t agent[most + 1];

    TH_BOTH static float no_one() { return 1e30f; }
    TH_BOTH void empty() {
        TH_UNROLLED for (int k = 0; k <= most; ++k) {
            distance2[k] = no_one();
            agent[k] = 0;
        }
    }
    // Every agent further away moves up by one.
    TH_BOTH void insert(near_person other) {
        TH_UNROLLED for (int k = most; k > 0; --k) {
            bool further = other.distance2 < distance2[k - 1],
                 here = other.distance2 < distance2[k];
            agent[k] = further ? agent[k - 1] : here ? other.agent : agent[k];
            distance2[k] = th_min(distance2[k], th_max(distance2[k - 1], other.distance2));
        }
        agent[0] = other.distance2 < distance2[0] ? other.agent : agent[0];
        distance2[0] = th_min(distance2[0], other.distance2);
    }
    TH_BOTH void insert_all(const own_room<most> &room, int count) {
        TH_ROLLED for (int k = 0; k < count; ++k) insert(room.person(k));
    }
    // Square of the distance of person k, where k is not a constant.
    TH_BOTH float distance2_of(int wanted) const {
        float found = no_one();
        TH_UNROLLED for (int k = 0; k <= most; ++k) found = k == wanted ? distance2[k] : found;
        return found;
    }
};

// Puts those within sqrt(limit2) of i in order.
template <int most>
TH_BOTH void order_those_within(const th_world *world, uint32_t i, float limit2,
                                const own_room<most> &room, nearest_few<most> *few) {
    const float *x = world->agents.position_x, *y = world->agents.position_y;
    const th_level_grid *grid = &world->index.grids[world->agents.level[i]];
    th_vec2 p = th_v(x[i], y[i]);
    // A little more for the rounding of the squares.
    th_rows rows = th_rows_around(grid, p, 1.0001f * th_root(limit2));
    int listed = 0;
    bool some_lie = world->counters.fallen > 0;
    few->empty();
    TH_ROLLED for (uint32_t begin, end; th_next_run(&world->index, grid, &rows, &begin, &end);) {
        for (uint32_t j = begin; j < end; ++j) {
            float distance2 = th_length2(th_sub(th_v(x[j], y[j]), p));
            if (!(distance2 < limit2) || j == i) continue;
            if (some_lie && !th_in_the_way(world->agents.phase[j])) continue;
            room.person(listed) = {distance2, j};
            if (++listed < own_room<most>::PEOPLE) continue;
            few->insert_all(room, listed);
            limit2 = th_min(limit2, few->distance2[most]);
            listed = 0;
        }
    }
    few->insert_all(room, listed);
}

// Square of the radius of a circle that should hold all wanted, by the density of the cells around; half as many
// more make it rare in a dense crowd that one of a warp's people has to look again.
TH_BOTH inline float likely_radius2(const th_world *world, uint32_t i, int wanted) {
    const th_level_grid *grid = &world->index.grids[world->agents.level[i]];
    th_rows rows = th_rows_around(grid, th_position(&world->agents, i), grid->cell);
    float side = grid->cell,
          area = side * side *
                 (float)((rows.last_row - rows.row + 1) * (rows.column1 - rows.column0 + 1));
    uint32_t people = 0;
    TH_ROLLED for (uint32_t begin, end; th_next_run(&world->index, grid, &rows, &begin, &end);)
        people += end - begin;
    return th_divide(1.5f * (float)(wanted + 1) * area, 3.14159265f * (float)people); // i is there
}

// Equal distances in the order of ids.
template <int most>
TH_BOTH void order_equals(const uint32_t *id, const own_room<most> &room, int count) {
    TH_ROLLED for (int k = 1; k < count; ++k) {
        near_person moving = room.person(k);
        int at = k;
        for (; at > 0 && room.person(at - 1).distance2 == moving.distance2 &&
               id[room.person(at - 1).agent] > id[moving.agent];
             --at)
            room.person(at) = room.person(at - 1);
        room.person(at) = moving;
    }
}

struct found_nearest {
    int count;
    float furthest2; // square of the distance of the last one
    bool certain;    // false: several are at the distance of the last one
};

// The `wanted` (at most `most`) nearest within `range` of i on its level, nearest first, into the room.
template <int most>
TH_BOTH found_nearest find_nearest(const th_world *world, uint32_t i, int wanted, float range,
                                   const own_room<most> &room) {
    nearest_few<most> few;
    float range2 = range * range, limit2 = th_min(likely_radius2(world, i, wanted), range2);
    for (;; limit2 = th_min(3.0f * limit2, range2)) {
        order_those_within(world, i, limit2, room, &few);
        if (few.distance2_of(wanted - 1) < limit2 || !(limit2 < range2)) break;
    }
    found_nearest found = {0, 0.0f, true};
    bool equals = false;
    TH_UNROLLED for (int k = 0; k < most; ++k) {
        if (k >= wanted || !(few.distance2[k] < few.no_one())) break;
        room.person(k) = {few.distance2[k], few.agent[k]};
        found.count = k + 1;
        found.furthest2 = few.distance2[k];
        equals = equals || few.distance2[k] == few.distance2[k + 1];
    }
    found.certain = found.count < wanted || found.furthest2 < few.distance2_of(wanted);
    if (equals) order_equals<most>(world->agents.id, room, found.count);
    return found;
}

// ---- lines and velocities

// An agent that is left to the other kernels. Their order depends on the threads; what they do does not.
struct orca_lists {
    uint32_t *infeasible, *special; // people
    uint32_t *infeasible_count, *special_count;
};
struct orca_state {
    uint32_t infeasible, special; // how many people are left to further kernels
};
static orca_lists orca_lists_of(const th_device_world *device) {
    const th_agents *agents = &device->known.agents;
    orca_state *counts = (orca_state *)device->model_state[TH_MOVE_ORCA];
    return {agents->slot, agents->order, &counts->infeasible, &counts->special};
}

TH_BOTH inline th_orca_params orca_params_of(const th_world *world, uint32_t i) {
    th_orca_params params;
    memcpy(&params, world->groups[world->agents.group[i]].move_params, sizeof params);
    return params;
}
TH_BOTH inline th_vec2 orca_preferred(const th_world *world, uint32_t i,
                                      const th_orca_params &params) {
    const th_agents *agents = &world->agents;
    return th_orca_preferred(agents, i, params.noise,
                             th_orca_noise_of(world->seed, agents->id[i], world->step_count));
}

// May i see any agent across a link? As state/nearest.c asks.
TH_BOTH inline bool near_link(const th_world *world, uint32_t i, float range) {
    int level = (int)world->agents.level[i];
    th_vec2 p = th_position(&world->agents, i);
    for (int l = 0; l < world->scene->link_count; ++l) {
        const th_link *link = &world->scene->links[l];
        if (level != link->level[0] && level != link->level[1]) continue;
        if (!(th_length2(th_sub(th_nearest_on_segment(p, link->a, link->b), p)) > range * range))
            return true;
    }
    return false;
}

// Neither walls nor links matter to i, as long as its neighbours are within *sight.
TH_BOTH inline bool is_in_the_open(const th_world *world, uint32_t i, const th_orca_params &params,
                                   float *sight) {
    const th_agents *agents = &world->agents;
    th_walls walls = th_world_walls(world);
    *sight = 1e15f;
    if (near_link(world, i, params.neighbour_range)) return false;
    if (walls.count == 0) return true;
    float clear = th_walls_clear(&walls, (int)agents->level[i], th_position(agents, i));
    if (params.line_of_sight > 0.0f) *sight = clear;
    return th_orca_wall_range_of(agents, i, &params) < clear;
}

enum class orca_outcome { FEASIBLE, INFEASIBLE, SPECIAL };

// The lines of an agent in the open.
template <int most>
TH_BOTH orca_outcome lines_in_the_open(const th_world *world, uint32_t i,
                                       const th_orca_params &params, const own_room<most> &room,
                                       th_orca_lines *lines) {
    float sight;
    if (!is_in_the_open(world, i, params, &sight)) return orca_outcome::SPECIAL;
    found_nearest found =
        find_nearest<most>(world, i, (int)params.max_neighbours, params.neighbour_range, room);
    if (!found.certain || !(found.furthest2 < sight * sight)) return orca_outcome::SPECIAL;
    th_orca_avoider own = th_orca_avoider_of(world, i, &params);
    *lines = room.lines();
    TH_ROLLED for (int k = 0; k < found.count; ++k) th_orca_set_line(
        lines, k, th_orca_neighbour_line(&world->agents, &own, i, room.person(k).agent));
    lines->count = found.count;
    return orca_outcome::FEASIBLE;
}

template <int most>
TH_BOTH orca_outcome move_feasible(const th_world *world, uint32_t i, const own_room<most> &room) {
    th_orca_params params = orca_params_of(world, i);
    th_orca_lines lines;
    orca_outcome outcome = lines_in_the_open<most>(world, i, params, room, &lines);
    if (outcome != orca_outcome::FEASIBLE) return outcome;
    th_vec2 velocity;
    float max_speed = th_orca_fastest_of(&world->agents, i, &params);
    if (th_orca_program2(&lines, max_speed, orca_preferred(world, i, params), false, &velocity) <
        lines.count)
        return orca_outcome::INFEASIBLE;
    th_orca_take_velocity(world, i, &params, th_limit(velocity, max_speed));
    return outcome;
}

// An agent whose lines leave no velocity.
template <int most>
TH_BOTH void move_infeasible(const th_world *world, uint32_t i, const own_room<most> &room,
                             const own_room<most> &second) {
    th_orca_params params = orca_params_of(world, i);
    // No lines, should another kernel's rounding have found an agent that has none here.
    th_orca_lines lines = room.lines(), bisectors = second.lines();
    lines_in_the_open<most>(world, i, params, room, &lines);
    th_orca_take_velocity(world, i, &params,
                          th_orca_velocity(&lines, &bisectors,
                                           th_orca_fastest_of(&world->agents, i, &params),
                                           orca_preferred(world, i, params)));
}

// Any agent.
template <int most>
TH_BOTH void move_special(const th_world *world, uint32_t i, const own_room<most> &room) {
    th_orca_params params = orca_params_of(world, i);
    th_walls walls = th_world_walls(world);
    int wanted = (int)params.max_neighbours;
    th_nearest nearest;
    found_nearest found = find_nearest<most>(world, i, wanted, params.neighbour_range, room);
    nearest.count = found.count;
    for (int k = 0; k < found.count; ++k) nearest.agent[k] = room.person(k).agent;
    if (!found.certain) th_nearest_by_insertion(world, i, params.neighbour_range, wanted, &nearest);
    th_orca_place places[TH_ORCA_LINES], more_places[TH_ORCA_LINES];
    th_orca_lines lines = {places, 1, 0, 0}, bisectors = {more_places, 1, 0, 0};
    th_orca_begin_lines(world, &walls, i, &params, &nearest, &lines);
    th_orca_avoider own = th_orca_avoider_of(world, i, &params);
    for (int k = 0; k < nearest.count; ++k)
        th_orca_set_line(&lines, lines.count++,
                         th_orca_neighbour_line(&world->agents, &own, i, nearest.agent[k]));
    th_orca_follow_lines(world, i, &params,
                         th_orca_noise_of(world->seed, world->agents.id[i], world->step_count),
                         &lines, &bisectors);
}

// ---- kernels. Every thread keeps to its own column of the shared memory, so no thread waits for another.

enum {
    LISTED_THREADS = 64,
    LISTED_BLOCKS = 2048
}; // the lists are short: small blocks are on all multiprocessors

// The next free entry of a list. A warp asks once for all its people: asked one by one, all threads would wait for the
// counter.
TH_ON_GPU inline uint32_t next_entry(uint32_t *count) {
#ifdef __CUDA_ARCH__
    unsigned together = __activemask(), lane = threadIdx.x % 32,
             first = (unsigned)__ffs((int)together) - 1;
    uint32_t begin = 0;
    if (lane == first) begin = atomicAdd(count, (uint32_t)__popc(together));
    return __shfl_sync(together, begin, (int)first) +
           (uint32_t)__popc(together & ((1u << lane) - 1));
#else
    return add(count, 1u);
#endif
}

template <int most>
TH_ON_GPU void move_or_list(const th_world *world, const orca_lists &lists, uint32_t i,
                            const own_room<most> &room) {
    if (!th_orca_moves(world, (int)i)) return;
    switch (move_feasible<most>(world, i, room)) {
    case orca_outcome::FEASIBLE: break;
    case orca_outcome::INFEASIBLE: lists.infeasible[next_entry(lists.infeasible_count)] = i; break;
    case orca_outcome::SPECIAL: lists.special[next_entry(lists.special_count)] = i; break;
    }
}

#ifdef __CUDACC__

template <int most> struct feasible_task {
    enum { WIDTH = THREADS, RESIDENT = 0 };
    const th_world *world;
    orca_lists lists;
    __device__ void operator()() const {
        __shared__ orca_room room[most * THREADS];
        uint32_t i = blockIdx.x * THREADS + threadIdx.x;
        if (i < (uint32_t)world->agents.count)
            move_or_list<most>(world, lists, i, {room + threadIdx.x, THREADS});
    }
};
template <int most> struct infeasible_task {
    enum { WIDTH = LISTED_THREADS, RESIDENT = 0 };
    const th_world *world;
    orca_lists lists;
    __device__ void operator()() const {
        __shared__ orca_room room[2 * most * LISTED_THREADS];
        own_room<most> first = {room + threadIdx.x, LISTED_THREADS},
                       second = {first.places + most * LISTED_THREADS, LISTED_THREADS};
        uint32_t count = *lists.infeasible_count;
        for (uint32_t k = blockIdx.x * LISTED_THREADS + threadIdx.x; k < count;
             k += gridDim.x * LISTED_THREADS)
            move_infeasible<most>(world, lists.infeasible[k], first, second);
    }
};
template <int most> struct special_task {
    enum { WIDTH = LISTED_THREADS, RESIDENT = 0 };
    const th_world *world;
    orca_lists lists;
    __device__ void operator()() const {
        __shared__ orca_room room[most * LISTED_THREADS];
        uint32_t count = *lists.special_count;
        for (uint32_t k = blockIdx.x * LISTED_THREADS + threadIdx.x; k < count;
             k += gridDim.x * LISTED_THREADS)
            move_special<most>(world, lists.special[k], {room + threadIdx.x, LISTED_THREADS});
    }
};

template <int most> void launch_orca(const th_world *host, const orca_lists &lists) {
    const th_world *world = world_on_device(host);
    int people = host->device_world->bound,
        listed_blocks = (people + LISTED_THREADS - 1) / LISTED_THREADS;
    if (listed_blocks > LISTED_BLOCKS) listed_blocks = LISTED_BLOCKS;
    launch(feasible_task<most>{world, lists}, blocks_of(people));
    launch(infeasible_task<most>{world, lists}, listed_blocks);
    launch(special_task<most>{world, lists}, listed_blocks);
}

#else

template <int most> void launch_orca(const th_world *host, const orca_lists &lists) {
    for_each_agent(
        host, TH_LAMBDA(th_world * world, int i) {
            orca_room room[most];
            move_or_list<most>(world, lists, (uint32_t)i, {room, 1});
        });
    for_each_agent(
        host, TH_LAMBDA(th_world * world, int k) {
            orca_room first[most], second[most];
            if ((uint32_t)k < *lists.infeasible_count)
                move_infeasible<most>(world, lists.infeasible[k], {first, 1}, {second, 1});
        });
    for_each_agent(
        host, TH_LAMBDA(th_world * world, int k) {
            orca_room room[most];
            if ((uint32_t)k < *lists.special_count)
                move_special<most>(world, lists.special[k], {room, 1});
        });
}

#endif

// Ten neighbours are the rule and take less room than the most there may be.
static void orca_run(th_world *host) {
    orca_lists lists = orca_lists_of(host->device_world);
    orca_state *counts = (orca_state *)host->device_world->model_state[TH_MOVE_ORCA];
    float wanted = 0.0f;
    for (int g = 0; g < host->group_count; ++g) {
        th_orca_params params;
        if (host->groups[g].scripted || host->groups[g].move != TH_MOVE_ORCA) continue;
        memcpy(&params, host->groups[g].move_params, sizeof params);
        wanted = th_max(wanted, params.max_neighbours);
    }
    once(
        host, TH_LAMBDA(th_world *) { counts->infeasible = counts->special = 0; });
    if (wanted < 11.0f)
        launch_orca<10>(host, lists);
    else
        launch_orca<TH_NEAREST_MAX>(host, lists);
}

static bool orca_create(th_world *host) {
    th_device_world *device = host->device_world;
    return (device->model_state[TH_MOVE_ORCA] = device->store.room<orca_state>(1)) != nullptr;
}

const device_model device_move_orca = {.create = orca_create, .run = orca_run};

} // namespace th
