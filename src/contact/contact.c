// The loops of the contact stage over the agents (contact.h).
// Cost O(agents x people within two radii). SPDX-License-Identifier: Apache-2.0
#include "contact/contact.h"
#include "move/sieve.h"
#include "state/ranks.h"
#include "state/world.h"

// Sums all pushes on one agent. The sieve is vector code; few agents of a cell touch.
TH_FORMULA th_push_sum pushes_on(const th_world *world, const th_walls *walls,
                                 const th_separation *now, uint32_t i) {
    const th_level_grid *grid = &world->index.grids[world->agents.level[i]];
    const float *xs = now->from_x, *ys = now->from_y, *radii = world->agents.radius;
    const th_vec2 p = {xs[i], ys[i]};
    const float radius = radii[i];
    th_push_sum push = {{0.0f, 0.0f}, 0, 0.0f};
    th_rows rows = th_rows_around(grid, p, th_contact_reach(world, now, i));
    for (uint32_t begin, end; th_next_run(&world->index, grid, &rows, &begin, &end);)
        for (th_portion portion; begin < end; begin += (uint32_t)portion.count) {
            uint32_t list[TH_SIEVE_LIST];
            int found;
            portion = th_portion_of(begin, end - begin);
            TH_SIEVE(portion, i, j, th_contact_touch(p.x - xs[j], p.y - ys[j], radius + radii[j]),
                     list, found);
            for (int k = 0; k < found; ++k)
                th_contact_add_push_of(world, walls, now, i, list[k], &push);
        }
    th_contact_add_linked_pushes(world, walls, now, i, &push);
    return push;
}

// Agents begin .. end - 1 in a pass: how many had a contact.
TH_CLONES static int separate_block(const th_world *world, const th_walls *walls,
                                    const th_separation *now, uint32_t begin, uint32_t end) {
    int pushed = 0;
    for (uint32_t i = begin; i < end; ++i) {
        th_push_sum push = {{0.0f, 0.0f}, 0, 0.0f};
        bool looks = th_contact_looks(world, now, i);
        if (looks) push = pushes_on(world, walls, now, i);
        pushed += th_contact_take_push(world, now, i, looks, &push);
    }
    return pushed;
}

static float repair_and_find_furthest(th_world *world) {
    float furthest2 = 0.0f;
    uint64_t repairs = 0;
#pragma omp parallel for num_threads(world->threads) schedule(static) reduction(max : furthest2) reduction(+ : repairs)
    for (int i = 0; i < world->agents.count; ++i) {
        int own = 0;
        float moved2 = th_contact_repair(world, i, &own);
        if (own > 0) repairs += th_is_ghost(world, (uint32_t)i) ? 0 : (uint64_t)own;
        furthest2 = moved2 > furthest2 ? moved2 : furthest2;
    }
    world->counters.repairs += repairs;
    return sqrtf(furthest2);
}

typedef struct one_pass {
    th_world *world;
    const th_walls *walls;
    th_separation now;
} one_pass;
static uint64_t separate_part(const void *context, int begin, int end) {
    const one_pass *pass = context;
    return (uint64_t)separate_block(pass->world, pass->walls, &pass->now, (uint32_t)begin,
                                    (uint32_t)end);
}

// Did any agent have a contact?
static bool separation_pass(th_world *world, const th_walls *walls, int pass, float moved) {
    const one_pass now = {world, walls, th_separation_of(&world->agents, pass, moved)};
    uint64_t pushed = th_share_out(world, world->agents.count, TH_BLOCK, separate_part, &now);
    th_ranks_send2(world, now.now.to_x, now.now.to_y);
    th_contact_take_pass(&world->agents);
    return th_ranks_sum(world, pushed) > 0;
}

typedef struct last_word {
    th_world *world;
    const th_walls *walls;
    bool separated;
} last_word;
static uint64_t keep_out_of_walls(const void *context, int begin, int end) {
    const last_word *last = context;
    uint64_t stops = 0;
    for (int k = begin; k < end; ++k)
        if (th_contact_keep_out_of_walls(last->world, last->walls, k, last->separated))
            stops += !th_is_ghost(last->world, (uint32_t)k);
    return stops;
}

void th_stage_contact(th_world *world) {
    th_walls walls = th_world_walls(world);
    float furthest = repair_and_find_furthest(world);
    th_ranks_check_way(world, furthest);
    int passes = th_contact_pair_passes(world);
    for (int pass = 0; pass < passes; ++pass) {
        if (!separation_pass(world, &walls, pass, furthest)) break;
        furthest += 0.5f * world->max_radius; // the furthest that this pass may have moved an agent
    }
    const last_word last = {world, &walls, passes > 0};
    world->counters.wall_stops +=
        th_share_out(world, world->agents.count, TH_BLOCK, keep_out_of_walls, &last);
    th_contact_commit(&world->agents);
    world->max_moved = furthest + world->max_radius; // walls may push up to a radius more
}
