// The pair step of the model uic on a device (pairs.h): one thread for a person, sums in the CPU's order.
// SPDX-License-Identifier: Apache-2.0
#include "move/uic/device.cuh"
#include "move/uic/pairs.h"

namespace th {

enum {
    PAIR_SLOTS = 1024, // passes, pieces of way (dt / 5 ms at most) and tidying passes of one step
    PAIR_LANES = 2 * TH_UIC_LANES_OF_PAIRS * sizeof(float) // bytes of a thread's sums
};

// Findings of a pass of the pair step for the next ones, largest over all agents: the square of the way since the
// step began and half the pair distance, as bits; is any agent tight; has any to look closer?
enum { MOVED2, TIGHT_ONES, CLOSER_ONES, WIDEST };
struct pair_report {
    uint32_t found[PAIR_SLOTS][FOUND];
    uint32_t tight; // people in the list of agents that tidy
};

// Bits of numbers that are not negative are in their order.
TH_ON_GPU inline void raise(uint32_t *most, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    *most = bits > *most ? bits : *most;
}
TH_ON_GPU inline float float_of_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// The runs of the index that may hold an agent within the pair distance of the people of i's cell, as the CPU
// takes them: the order of sums hangs on it.
TH_ON_GPU inline th_rows rows_for_cell(const th_world *world, const th_uic_pair_step *step,
                                       uint32_t i) {
    const th_agents *a = &world->agents;
    const th_level_grid *index = &world->index.grids[a->level[i]];
    int column = th_grid_column(index, a->position_x[i]),
        row = th_grid_row(index, a->position_y[i]);
    uint32_t begin, end;
    th_index_run(&world->index, index, row, column, column, &begin, &end);
    return th_uic_rows_around_cell(step, index, a->next_position_x, a->next_position_y, begin, end);
}

// The push on a person by its neighbours: sums in LANES lanes, which lie `stride` apart.
struct push_lanes {
    float *x, *y;
    int stride;
    TH_ON_GPU void clear() {
        for (int l = 0; l < TH_UIC_LANES_OF_PAIRS; ++l) x[l * stride] = y[l * stride] = 0.0f;
    }
    TH_ON_GPU void add(uint32_t lane, float push_x, float push_y) {
        x[(int)lane * stride] += push_x;
        y[(int)lane * stride] += push_y;
    }
    TH_ON_GPU float sum(const float *lane) const {
        float four[4];
        for (int l = 0; l < 4; ++l)
            four[l] = (lane[l * stride] + lane[(l + 8) * stride]) +
                      (lane[(l + 4) * stride] + lane[(l + 12) * stride]);
        return (four[0] + four[2]) + (four[1] + four[3]);
    }
};

// push_from_around of the CPU for one person, straight from memory: person k of the cell's runs goes to lane
// k mod LANES, and the lanes are added up in the same tree. Only those cells are looked at that the person itself
// can reach, about half of the runs: some 30 people of 60, where an agent's way has been 0.4 m. Instructions
// bound it, 13 for each of those; two of them are near enough for more.
struct pair_seeker {
    const th_uic_pair_step *step;
    uint32_t i;
    float x, y, own, tight2;
    push_lanes lanes;
    bool tight, very_place;

    TH_ON_GPU void meet(uint32_t j, uint32_t lane, float dx, float dy, float d2, float apart,
                        float apart2) {
        very_place = very_place || d2 <= TH_UIC_COINCIDENT2;
        tight = tight || d2 - tight2 * apart2 < 0.0f;
        if (!(d2 < apart2)) return;
        float scale = th_uic_push_scale(d2, apart, step->give[j]);
        lanes.add(lane % TH_UIC_LANES_OF_PAIRS, scale * dx, scale * dy);
    }
    // Tests which of `count` people from `first` on are near enough to meet, up to 32, a bit for each. They are read
    // AT_ONCE, so that the memory is waited for once; what is read too much is an agent beyond the run, or the room
    // that every array has at its end.
    TH_ON_GPU uint32_t near(const float *xs, const float *ys, uint32_t first,
                            uint32_t count) const {
        enum { AT_ONCE = 4 };
        static_assert((int)AT_ONCE <= (int)TH_ARRAY_PAD, "what is read too much");
        const float *half = step->half + first, share = step->share;
        uint32_t bits = 0;
        xs += first;
        ys += first;
        TH_ROLLED
        for (uint32_t begin = 0; begin < count;
             begin += AT_ONCE, xs += AT_ONCE, ys += AT_ONCE, half += AT_ONCE) {
            float dx[AT_ONCE], dy[AT_ONCE], apart[AT_ONCE];
            TH_UNROLLED
            for (int k = 0; k < AT_ONCE; ++k) {
                dx[k] = x - xs[k];
                dy[k] = y - ys[k];
                apart[k] = own + share * half[k];
            }
            uint32_t some = 0;
            TH_UNROLLED
            for (int k = 0; k < AT_ONCE; ++k) {
                float d2 = dx[k] * dx[k] + dy[k] * dy[k], apart2 = th_uic_apart2(apart[k]);
                // An agent that is tight is within apart2, because tight2 is at most 1.
                some |= d2 <= th_max(apart2, TH_UIC_COINCIDENT2) ? 1u << k : 0u;
            }
            bits |= some << begin;
        }
        if (count < 32) bits &= (1u << count) - 1;
        return i - first < 32 ? bits & ~(1u << (i - first)) : bits;
    }
    // Looks at agents first .. last: measures every agent, then meets the few near ones. A warp does the second
    // for as many as one of its threads has; met as they are found, an agent would be met nearly every time.
    TH_ON_GPU void look_at(const float *xs, const float *ys, uint32_t first, uint32_t last,
                           uint32_t lane_of_0) {
        for (; first < last; first += 32) {
            uint32_t bits = near(xs, ys, first, last - first < 32 ? last - first : 32);
            for (; bits; bits &= bits - 1) {
                uint32_t j = first + lowest_bit(bits);
                float dx = x - xs[j], dy = y - ys[j], apart = own + step->share * step->half[j];
                meet(j, lane_of_0 + j, dx, dy, dx * dx + dy * dy, apart, th_uic_apart2(apart));
            }
        }
    }
};
TH_ON_GPU inline th_uic_push push_from_runs(const th_world *world, const th_uic_pair_step *step,
                                            uint32_t i, push_lanes lanes, bool *coincident) {
    const float ROUNDING =
        0.01f; // [m] more than that of a place and its cell, 10 km from the middle
    const th_agents *a = &world->agents;
    const th_level_grid *index = &world->index.grids[a->level[i]];
    const float *xs = a->next_position_x, *ys = a->next_position_y;
    float tight2 = th_uic_tight_share2(step);
    pair_seeker seeker = {step,   i,     xs[i], ys[i], step->share * step->half[i],
                          tight2, lanes, false, false};
    lanes.clear();
    const th_rows around = rows_for_cell(world, step, i);
    const th_rows reached =
        th_rows_around(index, th_v(seeker.x, seeker.y),
                       seeker.own + step->share * step->widest + step->moved + ROUNDING);
    const int column0 = reached.column0 > around.column0 ? reached.column0 : around.column0,
              column1 = reached.column1 < around.column1 ? reached.column1 : around.column1;
    uint32_t count = 0;
    for (int row = around.row; row <= around.last_row; ++row) {
        uint32_t begin, end, first, last;
        th_index_run(&world->index, index, row, around.column0, around.column1, &begin, &end);
        count += end - begin;
        if (count > TH_UIC_AROUND_MAX) {
            *coincident = true;
            th_uic_push crowded = {{0.0f, 0.0f}, true, 1e6f};
            return crowded;
        }
        if (row < reached.row || row > reached.last_row) continue;
        th_index_run(&world->index, index, row, column0, column1, &first, &last);
        seeker.look_at(xs, ys, first, last, count - end);
    }
    *coincident = seeker.tight && seeker.very_place;
    th_uic_push result = {th_v(lanes.sum(lanes.x), lanes.sum(lanes.y)), seeker.tight, 1e6f};
    return result;
}

// Bit of agents.pair_flags beside those of pairs.h: left to the kernel that knows walls and links, which are many
// registers that few people need.
enum { LOOKS_CLOSER = 16 };

// Values common to all agents of a pass.
struct pair_pass {
    th_uic_pair_step step;
    pair_report *report;
    int from, slot; // the ways of slots from .. slot count; what is found out goes into `slot`

    TH_ON_GPU bool over() const { return step.tidy && !report->found[slot - 1][TIGHT_ONES]; }
    TH_ON_GPU th_uic_pair_step now() const {
        th_uic_pair_step all = step;
        uint32_t moved2 = 0;
        for (int k = from; k < slot; ++k)
            moved2 = report->found[k][MOVED2] > moved2 ? report->found[k][MOVED2] : moved2;
        all.widest = float_of_bits(report->found[0][WIDEST]);
        all.moved = sqrtf(float_of_bits(moved2));
        return all;
    }
    TH_ON_GPU th_uic_push around(const th_world *world, const th_uic_pair_step *all, int i,
                                 bool *coincident) const {
#ifdef __CUDACC__
        extern __shared__ float4 team_memory[]; // PAIR_LANES bytes for each thread
        float *lanes = (float *)team_memory + threadIdx.x;
        push_lanes own = {lanes, lanes + TH_UIC_LANES_OF_PAIRS * blockDim.x, (int)blockDim.x};
#else
        float lanes[2 * TH_UIC_LANES_OF_PAIRS];
        push_lanes own = {lanes, lanes + TH_UIC_LANES_OF_PAIRS, 1};
#endif
        return push_from_runs(world, all, (uint32_t)i, own, coincident);
    }
    TH_ON_GPU static void take_place(th_world *world, int i, th_vec2 p, uint32_t *found) {
        th_agents *a = &world->agents;
        a->separated_x[i] = p.x;
        a->separated_y[i] = p.y;
        if (a->pair_flags[i] & TH_UIC_IS_TIGHT) found[TIGHT_ONES] = 1;
        raise(&found[MOVED2], th_length2(th_sub(p, th_position(a, (uint32_t)i))));
    }
    TH_ON_GPU static void defer(th_world *world, int i, uint32_t *found) {
        world->agents.pair_flags[i] |= LOOKS_CLOSER;
        found[CLOSER_ONES] = 1;
    }
    // Handles agents in the open; one near a wall or a link, or at the very place of another, is deferred.
    TH_ON_GPU void in_the_open(th_world *world, int i, uint32_t *found) const {
        th_agents *a = &world->agents;
        th_vec2 p = {a->next_position_x[i], a->next_position_y[i]};
        if (!th_uic_looks(&step, a->pair_flags[i])) {
            if (!step.tidy) take_place(world, i, p, found);
            return;
        }
        if (by_wall(world, i) || world->scene->link_count > 0) return defer(world, i, found);
        th_uic_pair_step all = now();
        bool coincident;
        th_uic_push result = around(world, &all, i, &coincident);
        if (coincident) return defer(world, i, found);
        take_place(world, i, th_uic_take_push(world, &all, nullptr, (uint32_t)i, p, result, false),
                   found);
    }
    TH_ON_GPU void closer(th_world *world, int i, uint32_t *found) const {
        th_agents *a = &world->agents;
        if (!(a->pair_flags[i] & LOOKS_CLOSER)) return;
        th_vec2 p = {a->next_position_x[i], a->next_position_y[i]};
        th_walls walls = th_world_walls(world);
        th_uic_pair_step all = now();
        bool coincident, wall = by_wall(world, i);
        th_uic_push result = around(world, &all, i, &coincident);
        result = th_uic_look_closer(world, &all, &walls, (uint32_t)i, result, coincident,
                                    a->next_position_x, a->next_position_y, wall);
        take_place(world, i, th_uic_take_push(world, &all, &walls, (uint32_t)i, p, result, wall),
                   found);
    }
    TH_ON_GPU static bool by_wall(const th_world *world, int i) {
        const th_uic_level *level = &th_uic_of(world)->levels[world->agents.level[i]];
        th_uic_quarter q = quarter_of(world, i);
        return level->walled &&
               th_uic_flags_of(th_uic_of(world), level, q.i, q.j, q.a, q.b) & TH_UIC_LOOK_CLOSER;
    }
};

// find(world, i, found) for every agent, into a slot of the report.
template <class Find> static void find_among(th_world *host, size_t bytes, int slot, Find find) {
    th_world *world = host->device_world->world;
    find_most(
        host->device_world->bound, bytes, uic_device_of(host)->pairs->found[slot],
        TH_LAMBDA(int i, uint32_t *found) {
            if (i < world->agents.count) find(world, i, found);
        });
}

static void run_pass(th_world *host, pair_pass pass) {
    th_world *world = host->device_world->world;
    find_among(
        host, PAIR_LANES, pass.slot, TH_LAMBDA(th_world * everywhere, int i, uint32_t *found) {
            pass.in_the_open(everywhere, i, found);
        });
    find_most_of(
        host->device_world->bound, PAIR_LANES,
        TH_LAMBDA() {
            return pass.report->found[pass.slot][CLOSER_ONES] ? world->agents.count : 0;
        },
        pass.report->found[pass.slot],
        TH_LAMBDA(int i, uint32_t *found) { pass.closer(world, i, found); });
}

// ---- tidying

// Lists agents that are tight after the last full pass in agents.listed: only they look from then on. With a thread for every
// agent few threads of a warp would have work.
static void list_tight(th_world *host) {
    th_world *world = host->device_world->world;
    list_those(
        host->device_world->bound, host->device_world->known.agents.listed,
        &uic_device_of(host)->pairs->tight, TH_LAMBDA(int i) {
            return i < world->agents.count && world->agents.pair_flags[i] & TH_UIC_IS_TIGHT;
        });
}

// All tidying passes in one kernel: usually no agent has to look, and it ends at once.
struct tidying {
    th_world *world;
    pair_pass first;
    const uint32_t *tight;
    int passes;

    template <class Team> TH_ON_GPU void operator()(Team &team) const {
        const int count = (int)first.report->tight;
        pair_pass pass = first;
        for (int k = 0; k < passes && !pass.over(); ++k, ++pass.slot) {
            uint32_t *found = pass.report->found[pass.slot];
            team.find(count, found,
                      [&](int t, uint32_t *most) { pass.in_the_open(world, (int)tight[t], most); });
            if (found[CLOSER_ONES])
                team.find(count, found,
                          [&](int t, uint32_t *most) { pass.closer(world, (int)tight[t], most); });
            team.each(count, [&](int t) { th_uic_take_tidied(&world->agents, tight[t]); });
        }
    }
};

static void swap_next(th_world *host) {
    th_uic_swap_positions(&host->device_world->known.agents);
    once(
        host, TH_LAMBDA(th_world * world) { th_uic_swap_positions(&world->agents); });
}

void uic_separate(th_world *host) {
    const uic_device *device = uic_device_of(host);
    pair_report *report = device->pairs;
    th_uic_pair_step step;
    th_uic_pass_plan plan = th_uic_plan_passes(host, &step);
    if (plan.passes == 0) return;
    step.half = host->device_world->known.agents.pair_half;
    step.give = host->device_world->known.agents.pair_share;
    clear(report, sizeof *report);
    find_among(
        host, 0, 0, TH_LAMBDA(th_world * world, int i, uint32_t *found) {
            th_uic_begin_pairs(world, &step, (uint32_t)i);
            raise(&found[WIDEST], th_max(step.half[i], 0.0f));
            raise(&found[MOVED2], th_uic_moved2(&world->agents, (uint32_t)i));
        });
    int slot = 1, from = 0;
    for (int pass = 0; pass < plan.passes; ++pass, ++slot) {
        run_pass(host, {step, report, from, slot});
        swap_next(host);
        if (!th_uic_walks_after(&plan, pass)) continue;
        from = ++slot;
        find_among(
            host, 0, from, TH_LAMBDA(th_world * world, int i, uint32_t *found) {
                th_uic_walk_on(world, &step, (uint32_t)i);
                raise(&found[MOVED2], th_uic_moved2(&world->agents, (uint32_t)i));
            });
    }
    th_uic_begin_tidying(&step);
    if (th_uic_of(host)->tidy_passes > 0) {
        list_tight(host);
        tidying work = {host->device_world->world,
                        {step, report, from, slot},
                        host->device_world->known.agents.listed,
                        th_uic_of(host)->tidy_passes};
        grid((host->device_world->bound + GRID_THREADS - 1) / GRID_THREADS, device->tidying_blocks,
             (size_t)GRID_THREADS * PAIR_LANES, device->partial, work);
    }
    for_each_agent(
        host, TH_LAMBDA(th_world * world, int i) {
            th_agents *a = &world->agents;
            if (!(a->pair_flags[i] & TH_UIC_PUSHED)) return;
            th_vec2 way = th_sub(th_v(a->next_position_x[i], a->next_position_y[i]),
                                 th_position(a, (uint32_t)i));
            float share = th_uic_share_of_way(way, world->dt, a->speed[i]);
            float inverse_dt = 1.0f / world->dt;
            if (share < 1.0f) {
                a->next_position_x[i] = a->position_x[i] + share * way.x;
                a->next_position_y[i] = a->position_y[i] + share * way.y;
            }
            a->next_velocity_x[i] = share * inverse_dt * way.x;
            a->next_velocity_y[i] = share * inverse_dt * way.y;
        });
}

bool uic_take_pairs(th_world *host) {
    uic_device *device = uic_device_of(host);
    device->pairs = host->device_world->store.room<pair_report>(1);
    device->tidying_blocks = grid_blocks<tidying>();
    return device->pairs != nullptr;
}

} // namespace th
