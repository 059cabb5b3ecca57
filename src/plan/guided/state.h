// What the guided planner keeps in a world, and what it does with one person: for its own files, host and device.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_PLAN_GUIDED_STATE_H
#define TH_PLAN_GUIDED_STATE_H
#include "plan/guided/guided.h"
#include "plan/preferred.h"

enum { TH_GUIDED_WORKERS = 8 };

typedef struct
    th_guided_leg { // the field of a leg of a group's route, or a detour, and a size of people
    int group, target, size;
    int shared; // the first one with the same target, size and parameters
    bool wanted, solved;
    uint32_t version; // counts what `values` were
    th_guided_field values;
    // Of one that counts the crowd, and so is solved again and again: how often, and what is drawn, spread once.
    uint64_t every; // steps; 0: the crowd is not counted
    bool spread;
    th_vec2 *guidance;
    float *slowness;
} th_guided_leg;

typedef struct th_guided {
    th_arena arena; // of all this
    th_nodes nodes;
    th_graph graphs[TH_SIZE_MAX], next; // next: being made while the old one is compared with it
    uint32_t graph_version;             // of the walls that the graphs have
    th_guided_params *params;           // by group: those that the fields were solved with
    int *first_field;                   // by group, of its first leg
    th_guided_leg *fields;
    int field_count, worker_count;
    th_guided_work workers[TH_GUIDED_WORKERS];
    th_continuum
        crowd; // nodes, graph and grids only; without grids where no agent counts the crowd
    uint64_t solutions, settled;
    uint32_t changes; // of graphs and of which legs share a field
} th_guided;

TH_BOTH static inline bool th_guided_has(const th_world *world, int group) {
    return group < world->scene->group_count &&
           world->scene->groups[group].plan.model == TH_PLAN_GUIDED;
}

// The field that an agent of the planner's people follows; NULL: none, goes by an own goal.
TH_BOTH static inline th_guided_leg *th_guided_leg_of(const th_guided *s, const th_world *world,
                                                      int i) {
    const th_agents *agents = &world->agents;
    int g = (int)agents->group[i];
    if (agents->phase[i] != TH_PHASE_WALKING || world->groups[g].led) return NULL;
    int way = th_group_way(&world->scene->groups[g], agents->leg[i]);
    if (way < 0) return NULL;
    int sizes = world->scene->size_count, size = sizes == 1 ? 0 : th_size_of(world, i);
    return &s->fields[s->fields[s->first_field[g] + way * sizes + size].shared];
}

// False: the person is not one that a field leads.
TH_BOTH static inline bool th_guided_walker(const th_guided *s, const th_planner *planner, int i) {
    const th_world *world = planner->world;
    const th_agents *agents = &world->agents;
    const th_guided_leg *f = th_guided_leg_of(s, world, i);
    if (!f || !f->solved) return false;
    int level = (int)agents->level[i];
    th_vec2 at = th_position(agents, (uint32_t)i);
    th_walls walls = th_walls_for(world->scene, planner->walls, f->size);
    th_way way = th_guided_way(&s->graphs[f->size], &walls, &f->values, level, at);
    th_goal_way(world->scene, &walls, &world->scene->targets[f->target], level, at,
                th_goal_inset(agents, i), th_velocity(agents, (uint32_t)i), TH_PLAN_NEAR_GOAL,
                &way);
    if (way.distance >= TH_UNREACHABLE) return false;
    float speed = agents->speed[i];
    if (world->scene->zone_count > 0)
        speed *= th_zone_factor(world->scene, level, at, way.direction);
    agents->preferred_x[i] = speed * way.direction.x;
    agents->preferred_y[i] = speed * way.direction.y;
    return true;
}

// Preferred velocity of one of the planner's people; 1: the goal cannot be reached.
TH_BOTH static inline int th_guided_plan(const th_guided *s, const th_planner *planner, int i) {
    if (th_guided_walker(s, planner, i)) return 0;
    return th_plan_person(planner, i, th_goes_straight(planner, planner->world->agents.group[i]));
}

#ifdef __cplusplus
extern "C" {
#endif
// ---- guided.c, also for the device

// Graphs for the walls as they are, fields that count the crowd due again; true: some field is not solved, and an agent
// that follows it has to be found.
bool th_guided_begin(th_guided *s, const th_world *world);
// Is the crowd to be counted for the fields that are wanted?
bool th_guided_counts_crowd(const th_guided *s);
// Solves the wanted fields, with positions, velocities, levels and phases of the crowd where it is counted.
void th_guided_solve_wanted(th_guided *s, const th_world *world);
#ifdef __cplusplus
}
#endif
#endif
