// The loops of the contact stage over the agents (contact.h).
// Cost O(agents x people within two radii). SPDX-License-Identifier: Apache-2.0
#include "contact/contact.h"
#include "state/share.h"

// How many discs of a run touch the disc at p, itself included. Vector code: most agents touch no other,
// and this is all that is done for them.
TH_FORMULA int touching_in_run(const float *xs, const float *ys, const float *radii, uint32_t begin,
                               uint32_t end, th_vec2 p, float radius) {
    int touching = 0;
#pragma omp simd reduction(+ : touching)
    for (uint32_t j = begin; j < end; ++j) {
        float dx = p.x - xs[j], dy = p.y - ys[j], apart = radius + radii[j];
        touching += dx * dx + dy * dy < apart * apart;
    }
    return touching;
}

TH_CLONES static int touching_in_box(const th_index *index, const th_level_grid *grid,
                                     const float *xs, const float *ys, const float *radii,
                                     th_vec2 p, float radius, float reach) {
    th_rows rows = th_rows_around(grid, p, reach);
    int touching = 0;
    for (uint32_t begin, end; th_next_run(index, grid, &rows, &begin, &end);)
        touching += touching_in_run(xs, ys, radii, begin, end, p, radius);
    return touching;
}

// Most agents touch no other; they are done with this look. Links are rare, and an agent seen across one is not
// looked at here.
static bool is_alone(const th_world *world, const th_separation *now, uint32_t i) {
    const th_agents *agents = &world->agents;
    const th_level_grid *grid = &world->index.grids[agents->level[i]];
    float radius = agents->radius[i], reach = radius + world->max_radius + now->moved;
    return world->scene->link_count == 0 &&
           touching_in_box(&world->index, grid, now->from_x, now->from_y, agents->radius,
                           th_v(now->from_x[i], now->from_y[i]), radius, reach) <= 1;
}

// One person in a pass: whether there was a contact.
static bool separate_one(const th_world *world, const th_walls *walls, const th_separation *now,
                         uint32_t i) {
    th_push_sum push = {{0.0f, 0.0f}, 0};
    bool looks = th_contact_looks(world, now, i);
    if (looks && !is_alone(world, now, i)) push = th_contact_pushes_on(world, walls, now, i);
    return th_contact_take_push(world, now, i, looks, &push);
}

static float repair_and_find_furthest(th_world *world) {
    float furthest2 = 0.0f;
    uint64_t repairs = 0;
#pragma omp parallel for num_threads(world->threads) schedule(static) reduction(max : furthest2) reduction(+ : repairs)
    for (int i = 0; i < world->agents.count; ++i) {
        int own = 0;
        float moved2 = th_contact_repair(world, i, &own);
        repairs += (uint64_t)own;
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
    uint64_t pushed = 0;
    for (int i = begin; i < end; ++i)
        pushed += separate_one(pass->world, pass->walls, &pass->now, (uint32_t)i);
    return pushed;
}

// Did any agent have a contact?
static bool separation_pass(th_world *world, const th_walls *walls, int pass, float moved) {
    const one_pass now = {world, walls, th_separation_of(&world->agents, pass, moved)};
    uint64_t pushed = th_share_out(world, world->agents.count, TH_BLOCK, separate_part, &now);
    th_contact_take_pass(&world->agents);
    return pushed > 0;
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
        stops +=
            (uint64_t)th_contact_keep_out_of_walls(last->world, last->walls, k, last->separated);
    return stops;
}

void th_stage_contact(th_world *world) {
    th_walls walls = th_world_walls(world);
    float furthest = repair_and_find_furthest(world);
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
