// Shared by the files that answer questions. SPDX-License-Identifier: Apache-2.0
#ifndef TH_WORLD_ASK_H
#define TH_WORLD_ASK_H
#include "formula/vec.h"
#include "state/device.h"
#include "state/world.h"
#include "throng/ask.h"

// Walks over all agents of a level that may lie in a box, by the cells of the last step, widened by how far agents went
// since; agents spawned since then come last.
typedef struct th_asked {
    const th_world *world;
    const th_level_grid *grid;
    uint32_t level;
    th_rows rows;
    uint32_t next, end;
    bool rest; // all rows are done
} th_asked;

static inline th_asked th_ask_box(const th_world *world, int level, th_vec2 low, th_vec2 high) {
    const th_level_grid *grid = &world->index.grids[level];
    float moved = world->max_moved + 0.01f; // rounding
    th_rows rows = {th_grid_row(grid, low.y - moved), th_grid_row(grid, high.y + moved),
                    th_grid_column(grid, low.x - moved), th_grid_column(grid, high.x + moved)};
    bool indexed = world->index.cell_count > 0;
    return (th_asked){.world = world,
                      .grid = grid,
                      .level = (uint32_t)level,
                      .rows = rows,
                      .end = indexed ? 0 : (uint32_t)world->agents.count,
                      .rest = !indexed};
}

static inline bool th_ask_more(th_asked *asked) {
    const th_world *world = asked->world;
    if (asked->rest) return false;
    if (th_next_run(&world->index, asked->grid, &asked->rows, &asked->next, &asked->end))
        return true;
    asked->rest = true;
    asked->next = world->index.cell_start[world->index.cell_count];
    asked->end = (uint32_t)world->agents.count;
    return true;
}

// The next agent that is there, on this level; false: no more.
static inline bool th_ask_next(th_asked *asked, uint32_t *agent) {
    const th_agents *agents = &asked->world->agents;
    do
        while (asked->next < asked->end) {
            uint32_t j = asked->next++;
            if (agents->level[j] != asked->level || th_gone(agents->phase[j])) continue;
            *agent = j;
            return true;
        }
    while (th_ask_more(asked));
    return false;
}

// An agent, not a disc of a scripted solid body.
static inline bool th_is_agent(const th_world *world, uint32_t i) {
    return world->agents.phase[i] != TH_PHASE_BODY;
}

static inline bool th_is_place(th_vec2 p) { return fabsf(p.x) < 1e6f && fabsf(p.y) < 1e6f; }
static inline bool th_is_level(const th_world *world, int level) {
    return level >= 0 && level < world->scene->level_count;
}
#endif
