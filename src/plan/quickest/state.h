// State of the planner `quickest` in a world, and its rules for one agent: for its own files, host and device.
//
// Every TH_QUICKEST_INTERVAL the crowd is counted on a lattice, and the travel time to every goal in use is solved again,
// some nodes in every step. Until a field is first solved agents follow the distance field. SPDX-License-Identifier: Apache-2.0
#ifndef TH_PLAN_QUICKEST_STATE_H
#define TH_PLAN_QUICKEST_STATE_H
#include "plan/continuum/continuum.h"
#include "plan/preferred.h"
#include "plan/quickest/quickest.h"

enum {
    // Fields that are solved at the same time, whatever the number of threads.
    TH_QUICKEST_LANES = 4,
    TH_QUICKEST_BINS = 1024 // of a queue: seconds of travel time
};

#define TH_QUICKEST_INTERVAL \
    1.0f // [s] how often the crowd is counted; longer where it takes longer to solve

// Agents are counted at their position after this time, because fields are in use until their count is 1.25 seconds
// old. With 1.5 s streams are counted beyond corners at which they still turn, and crowd there. [s]
#define TH_QUICKEST_AHEAD 0.8f

// The sums of agents at a node in units of 1 / TH_QUICKEST_ONE: integers, so that their order does not matter.
enum { TH_QUICKEST_ONE = 1 << 16 };
typedef struct th_crowd_sums {
    uint32_t people, flow_x, flow_y;
} th_crowd_sums;

// Travel time to a goal for agents of a size, in metres of free ground at every node; TH_UNREACHABLE: no way.
typedef struct th_quick_field {
    int goal, size;
    bool wanted;      // since the crowd was last counted
    bool solved;      // `values` are whole
    uint32_t version; // counts what they were
    float *values;
    th_goal_node *seeds;
    int seed_count, seed_most;
} th_quick_field;

typedef struct th_quick_lane {
    th_buckets buckets;
    float *values;
    float *share, *ratio; // work space of th_quickest_fill_width
    int field; // that is being solved; the lane's next one follows it; field_count: none is left
    bool begun;
} th_quick_lane;

// Factors of the solution that spreads a count along lines of nodes, by node.
typedef struct th_spread {
    float *pivot, *gain, *ratio;
} th_spread;

typedef struct th_quickest {
    th_arena arena; // of all this
    th_nodes nodes;
    th_graph graphs[TH_SIZE_MAX];
    uint32_t graph_version; // of the walls that the graphs have
    th_crowd_sums *sums;    // by node
    uint32_t *walkers;      // by target and size: agents on their way to it
    uint32_t *queue;        // by goal and bin: agents who chose it; a running sum once counted
    float *density, *flow_x, *flow_y; // by node: [1/m2], [m/s] times density
    float *fresh[3];                  // by node: the same, of this count alone
    float *drag;                      // by node: th_crowd_drag of the density
    th_spread rows, columns;          // for the links as they are
    th_faces faces[TH_SIZE_MAX];
    th_quick_field *fields; // by goal and size; without values where no group wants them
    int field_count;
    th_quick_lane lanes[TH_QUICKEST_LANES];
    uint32_t since;         // steps since the crowd was counted
    bool counted;           // ever
    uint64_t settled;       // nodes, of all solutions
    uint32_t changes;       // of graphs, fields and queues
    uint32_t crowd_version; // counts what faces and queues were
} th_quickest;

TH_BOTH static inline bool th_quickest_has(const th_world *world, int group) {
    return group < world->scene->group_count &&
           world->scene->groups[group].plan.model == TH_PLAN_QUICKEST;
}

TH_BOTH static inline const th_quick_field *
th_quick_field_of(const th_quickest *s, const th_scene *scene, int goal, int size) {
    return &s->fields[goal * scene->size_count + size];
}

// The target that a field leads the agent to; -1: none does.
TH_BOTH static inline int th_quickest_target(const th_world *world, int i) {
    const th_agents *agents = &world->agents;
    int g = (int)agents->group[i];
    if (agents->phase[i] != TH_PHASE_WALKING || !th_quickest_has(world, g) || world->groups[g].led)
        return -1;
    return th_leg_target(&world->scene->groups[g], agents->leg[i]);
}

TH_BOTH static inline int th_quickest_size(const th_world *world, int i) {
    return world->scene->size_count == 1 ? 0 : th_size_of(world, i);
}

// ---- reading a field

// The value at a place: of the nearest node in sight.
TH_BOTH static inline float th_quick_value(const th_quickest *s, const th_walls *walls,
                                           const th_quick_field *f, int level, th_vec2 p) {
    th_field_cell cell = th_field_cell_of(&s->nodes, level, p);
    if (!cell.known) return TH_UNREACHABLE;
    const th_graph *graph = &s->graphs[f->size];
    int nx = s->nodes.levels[level].nx;
    if (cell.inside && th_field_open_cell(graph, cell.node, nx)) {
        const float *d = f->values + cell.node;
        if (!(d[0] < TH_UNREACHABLE)) return TH_UNREACHABLE;
        float low = d[0] + cell.s * (d[1] - d[0]), high = d[nx] + cell.s * (d[nx + 1] - d[nx]);
        return low + cell.t * (high - low);
    }
    th_field_ask ask = {graph, walls, f->values, level, p, 0};
    th_field_candidate best = th_field_best_in_sight(&ask, cell.column, cell.row, 1);
    if (best.node < 0)
        best = th_field_best_in_sight(&ask, cell.column, cell.row, TH_FIELD_NEAR_RINGS);
    return best.node < 0 ? TH_UNREACHABLE : best.value;
}

// The direction of travel's cost of one axis in a cell: of the faces towards smaller values, by the nodes' shares. 0: none.
TH_BOTH static inline float th_quick_axis_cost(const th_node_faces *costs, int node, int nx,
                                               int face, const float *share) {
    const int step[4] = {0, 1, nx, nx + 1};
    float sum = 0.0f, weight = 0.0f;
    for (int k = 0; k < 4; ++k) {
        float cost = costs[node + step[k]].face[face];
        if (cost >= TH_CONTINUUM_SHUT) continue;
        sum += share[k] * cost;
        weight += share[k];
    }
    return weight > 0.0f ? sum / weight : 0.0f;
}

// Where two ways meet the interpolated slope is below this share of the costs; agents go by sight there. [-]
#define TH_QUICKEST_RIDGE 0.3f

// The way in an open cell. With costs per face the travel time T obeys (T_x / c_x)^2 + (T_y / c_y)^2 = 1, and the quickest way
// is not down its gradient but along (T_x / c_x^2, T_y / c_y^2): out of an oncoming lane before on. Without a crowd it is
// the gradient of the bilinear interpolation, as in a distance field.
TH_BOTH static inline bool th_quick_open_direction(const th_quickest *s, const th_field_ask *ask,
                                                   const th_node_faces *costs,
                                                   const th_field_cell *cell, th_vec2 *direction) {
    int nx = s->nodes.levels[ask->level].nx, node = cell->node;
    if (!cell->inside || !th_field_open_cell(ask->graph, node, nx)) return false;
    const float *t = ask->distance + node;
    if (t[0] >= TH_UNREACHABLE) return false;
    float a = cell->s, b = cell->t;
    const float share[4] = {(1.0f - a) * (1.0f - b), a * (1.0f - b), (1.0f - a) * b, a * b};
    float gx = (t[1] - t[0]) + b * ((t[nx + 1] - t[nx]) - (t[1] - t[0]));
    float gy = (t[nx] - t[0]) + a * ((t[nx + 1] - t[1]) - (t[nx] - t[0]));
    float cx = th_quick_axis_cost(costs, node, nx, gx < 0.0f ? 0 : 2, share);
    float cy = th_quick_axis_cost(costs, node, nx, gy < 0.0f ? 1 : 3, share);
    if (!(cx > 0.0f && cy > 0.0f)) return false;
    gx /= cx;
    gy /= cy;
    if (!(gx * gx + gy * gy > TH_QUICKEST_RIDGE * TH_QUICKEST_RIDGE)) return false;
    *direction = th_unit(th_v(-gx / cx, -gy / cy));
    return !(th_field_near_walls(&s->nodes, ask->walls, node) &&
             th_field_runs_into_wall(ask, *direction));
}

TH_BOTH static inline th_way th_quick_way(const th_quickest *s, const th_walls *walls,
                                          const th_quick_field *f, int level, th_vec2 p) {
    th_way way = {{0.0f, 0.0f}, TH_UNREACHABLE};
    const th_graph *graph = &s->graphs[f->size];
    th_field_ask ask = {graph, walls, f->values, level, p, TH_FIELD_PULL_MAX};
    th_field_cell cell = th_field_cell_of(&s->nodes, level, p);
    if (!cell.known) return way;
    if (th_quick_open_direction(s, &ask, s->faces[f->size].cost, &cell, &way.direction)) {
        way.distance = f->values[cell.node];
        return way;
    }
    return th_field_way_beside_walls(ask, cell.column, cell.row);
}

// ---- the choice between the goals of a leg

TH_BOTH static inline int th_quick_bin(float value) {
    float bin = value * (1.0f / (float)TH_WEIDMANN_FREE_SPEED);
    return bin < (float)(TH_QUICKEST_BINS - 1) ? (int)bin : TH_QUICKEST_BINS - 1;
}

// Seconds to a goal from where it is `value` away. Only agents that know the queue there count it.
TH_BOTH static inline float th_quick_time(const th_quickest *s, const th_scene *scene, int goal,
                                          float value, bool knows_queue) {
    const th_goal *g = &scene->goals[goal];
    float width = g->is_line ? th_length(th_sub(g->line.b, g->line.a)) : 0.0f;
    int bin = knows_queue ? th_quick_bin(value) : 0;
    float ahead = bin > 0 ? (float)s->queue[goal * TH_QUICKEST_BINS + bin - 1] : 0.0f;
    return th_exit_time(value * (1.0f / (float)TH_WEIDMANN_FREE_SPEED), ahead, width);
}

TH_BOTH static inline bool th_quick_sees(const th_scene *scene, const th_walls *walls, int goal,
                                         int level, th_vec2 p, float sight) {
    const th_goal *g = &scene->goals[goal];
    if (th_goal_level(g) != level) return false;
    th_vec2 q = th_goal_nearest(g, p, 0.5f * TH_GOAL_ROOM);
    return th_length2(th_sub(q, p)) <= sight * sight && th_clear_path(walls, level, p, q);
}

// The knowledge with which an agent chooses.
typedef struct th_quick_mind {
    int present;    // the goal chosen so far, which another must beat by the inertia; -1: none
    uint32_t left;  // bits of goals that it went away from: it does not go back unseen
    uint32_t known; // bits of goals that it was told of or has seen
    float inertia, sight; // as parameters
} th_quick_mind;
TH_BOTH static inline uint32_t th_quick_bit(int goal) { return 1u << (goal & 31); }

typedef struct th_quick_choice {
    int goal; // -1: none is known
    float value;
} th_quick_choice;

// The best goal of a target. Agents know where the goals are that they were told of or have seen, and how long the way is.
// They know the queue only of the present goal, in which they stand, and of goals in sight.
TH_BOTH static inline th_quick_choice th_quick_choose(const th_quickest *s, const th_scene *scene,
                                                      const th_walls *walls, int target, int size,
                                                      const th_quick_mind *mind, int level,
                                                      th_vec2 p) {
    const th_target *goals = &scene->targets[target];
    th_quick_choice best = {-1, TH_UNREACHABLE};
    float least = TH_UNREACHABLE;
    for (int k = -1; k < goals->goal_count; ++k) {
        if (k < 0 && mind->present < 0) continue;
        int goal = k < 0 ? mind->present
                         : goals->goals[k]; // the present one first: few others need a look
        if (k >= 0 && goal == mind->present) continue;
        const th_quick_field *f = th_quick_field_of(s, scene, goal, size);
        if (!f->solved) continue;
        float value = th_quick_value(s, walls, f, level, p);
        if (value >= TH_UNREACHABLE || th_quick_time(s, scene, goal, value, false) >= least)
            continue;
        bool seen =
            goal == mind->present || th_quick_sees(scene, walls, goal, level, p, mind->sight);
        if (!seen && (mind->left | ~mind->known) & th_quick_bit(goal)) continue;
        float time = th_quick_time(s, scene, goal, value, seen);
        if (goal == mind->present) time *= 1.0f - mind->inertia;
        if (time >= least) continue;
        least = time;
        best.goal = goal;
        best.value = value;
    }
    return best;
}

// The person's own fields: 1 + the chosen goal, 0: none yet; bits of the goals it went away from, and of those it has seen.
enum { TH_QUICKEST_GOAL, TH_QUICKEST_LEFT, TH_QUICKEST_SEEN, TH_QUICKEST_FIELDS };

#define TH_QUICKEST_ALL 0xffffffffu // bits of all goals

TH_BOTH static inline bool th_quick_is_goal_of(const th_target *target, int goal) {
    for (int k = 0; k < target->goal_count; ++k)
        if (target->goals[k] == goal) return true;
    return false;
}

// Was the agent told where all goals of its legs are? The answer is the same in all runs of a seed, whenever it is asked.
TH_BOTH static inline bool th_quick_knows_all(const th_world *world, int i, float share) {
    if (share >= 1.0f) return true;
    th_random4 drawn = th_philox(world->seed, TH_STREAM_KNOWS, world->agents.id[i], 0);
    return th_uniform(drawn.v[0]) < share;
}

// Bits of the goals of a target that are in sight.
TH_BOTH static inline uint32_t th_quick_look(const th_scene *scene, const th_walls *walls,
                                             int target, int level, th_vec2 p, float sight) {
    const th_target *goals = &scene->targets[target];
    uint32_t seen = 0;
    for (int k = 0; k < goals->goal_count; ++k)
        if (th_quick_sees(scene, walls, goals->goals[k], level, p, sight))
            seen |= th_quick_bit(goals->goals[k]);
    return seen;
}

// Each agent has moments of its own, so that a crowd does not turn round at once.
TH_BOTH static inline bool th_quick_reconsiders(const th_world *world, int i) {
    const th_quickest_params *p =
        (const th_quickest_params *)world->groups[world->agents.group[i]].plan_params;
    uint64_t every = (uint64_t)th_max(1.0f, p->reconsider / world->dt + 0.5f);
    uint32_t mixed = world->agents.id[i] * 2654435761u; // Knuth's multiplicative hash
    return (world->step_count + (mixed >> 8)) % every == 0;
}

// The field that the agent follows; NULL: none is solved yet, or none leads there.
TH_BOTH static inline const th_quick_field *th_quick_follow(const th_quickest *s,
                                                            const th_planner *planner,
                                                            const th_walls *walls, int target,
                                                            int size, int i) {
    const th_world *world = planner->world;
    const th_scene *scene = planner->scene;
    uint32_t *own = &th_own_words(world, TH_PLAN_QUICKEST, TH_QUICKEST_GOAL)[i];
    uint32_t *left = &th_own_words(world, TH_PLAN_QUICKEST, TH_QUICKEST_LEFT)[i];
    int present = (int)*own - 1;
    bool good = present >= 0 && th_quick_is_goal_of(&scene->targets[target], present) &&
                th_quick_field_of(s, scene, present, size)->solved;
    if (!good || th_quick_reconsiders(world, i)) {
        const th_quickest_params *p =
            (const th_quickest_params *)world->groups[world->agents.group[i]].plan_params;
        uint32_t *seen = &th_own_words(world, TH_PLAN_QUICKEST, TH_QUICKEST_SEEN)[i];
        int level = (int)world->agents.level[i];
        th_vec2 at = th_position(&world->agents, (uint32_t)i);
        bool all = th_quick_knows_all(world, i, p->knows_all);
        if (!all) *seen |= th_quick_look(scene, walls, target, level, at, p->sight);
        th_quick_mind mind = {good ? present : -1, good ? *left : 0u, all ? TH_QUICKEST_ALL : *seen,
                              p->inertia, p->sight};
        th_quick_choice choice = th_quick_choose(s, scene, walls, target, size, &mind, level, at);
        if (choice.goal < 0 && !all) { // it has seen none: out by the way it came, the quickest
            mind.known = TH_QUICKEST_ALL;
            choice = th_quick_choose(s, scene, walls, target, size, &mind, level, at);
        }
        *left = good && choice.goal != present ? mind.left | th_quick_bit(present) : mind.left;
        *own = (uint32_t)(choice.goal + 1);
        present = choice.goal;
    }
    return present < 0 ? NULL : th_quick_field_of(s, scene, present, size);
}

// ---- one agent

// This near to a goal in sight agents walk to its nearest point. Nearer than this no agent stands in between; further away the
// field knows which part of a wide exit is free. [m]
#define TH_QUICKEST_NEAR_GOAL 0.75f

// People keep to the shortest way unless the crowd asks for a clear turn: a turn of so much is followed by half, a smaller
// one hardly, a larger one nearly. sin^2 of half of 11.5 degrees: throng; with 30 degrees people walk into clumps, with none
// they weave between lanes. [-]
#define TH_QUICKEST_TURN 0.01f

TH_BOTH static inline th_vec2 th_quick_keep_on(const th_planner *planner, int target, int size,
                                               int i, th_vec2 quickest) {
    const th_agents *agents = &planner->world->agents;
    th_planner sized = th_planner_for(planner, size, target);
    th_way shortest = th_way_to_target(&sized, target, false, (int)agents->level[i],
                                       th_position(agents, (uint32_t)i), th_goal_inset(agents, i),
                                       th_velocity(agents, (uint32_t)i));
    if (shortest.distance >= TH_UNREACHABLE) return quickest;
    float turn = 0.5f * th_max(1.0f - th_dot(shortest.direction, quickest), 0.0f);
    float share = turn / (turn + TH_QUICKEST_TURN);
    return th_unit(th_add(th_scale(1.0f - share, shortest.direction), th_scale(share, quickest)));
}

// False: no field leads the agent.
TH_BOTH static inline bool th_quickest_walker(const th_quickest *s, const th_planner *planner,
                                              int i) {
    const th_world *world = planner->world;
    const th_agents *agents = &world->agents;
    int target = th_quickest_target(world, i);
    if (target < 0 || !s->counted) return false;
    int size = th_quickest_size(world, i), level = (int)agents->level[i];
    th_walls walls = th_walls_for(world->scene, planner->walls, size);
    const th_quick_field *f = th_quick_follow(s, planner, &walls, target, size, i);
    if (!f) return false;
    th_vec2 at = th_position(agents, (uint32_t)i);
    th_way way = th_quick_way(s, &walls, f, level, at);
    if (way.distance >= TH_UNREACHABLE) return false;
    way.direction = th_quick_keep_on(planner, target, size, i, way.direction);
    if (way.distance < 4.0f * TH_QUICKEST_NEAR_GOAL) {
        const th_target goal = {1, &f->goal};
        th_goal_way(world->scene, &walls, &goal, level, at, agents->radius[i],
                    th_velocity(agents, (uint32_t)i), TH_QUICKEST_NEAR_GOAL, &way);
    }
    float speed = agents->speed[i];
    if (world->scene->zone_count > 0)
        speed *= th_zone_factor(world->scene, agents->group[i], level, at, way.direction);
    agents->preferred_x[i] = speed * way.direction.x;
    agents->preferred_y[i] = speed * way.direction.y;
    return true;
}

// Preferred velocity of one of the planner's agents; 1: the goal cannot be reached.
TH_BOTH static inline int th_quickest_plan(const th_quickest *s, const th_planner *planner, int i) {
    if (th_quickest_walker(s, planner, i)) return 0;
    return th_plan_person(planner, i, th_goes_straight(planner, planner->world->agents.group[i]));
}

// ---- counting

#ifdef TH_DEVICE_CODE
#define TH_QUICKEST_COUNTER TH_ON_GPU
#else
#define TH_QUICKEST_COUNTER
#endif
TH_QUICKEST_COUNTER static inline void th_quick_add(uint32_t *sum, float value) {
    float parts = th_clamp(value * (float)TH_QUICKEST_ONE, -1e9f, 1e9f);
    uint32_t whole = (uint32_t)(int32_t)(parts + (parts < 0.0f ? -0.5f : 0.5f));
#ifdef TH_DEVICE_CODE
    th::add(sum, whole);
#else
    *sum += whole;
#endif
}

// Adds the agent to the nodes around it in begin .. end - 1. Walls hide the count: beside one an agent counts at the
// nearest node in sight.
TH_QUICKEST_COUNTER static inline void th_quick_count_person(const th_quickest *s,
                                                             const th_walls *walls,
                                                             const th_agents *agents, uint32_t i,
                                                             int begin, int end) {
    int level = (int)agents->level[i];
    th_vec2 p = th_position(agents, i), v = th_velocity(agents, i);
    th_vec2 ahead = th_add(p, th_scale(TH_QUICKEST_AHEAD, v));
    if (th_walls_first_crossing(walls, level, p, ahead, NULL) < 0) p = ahead;
    th_field_cell cell = th_field_cell_of(&s->nodes, level, p);
    int nx = s->nodes.levels[level].nx;
    if (!cell.known || !cell.inside || cell.node + nx + 1 < begin || cell.node >= end) return;
    float a = cell.s, b = cell.t;
    float share[4] = {(1.0f - a) * (1.0f - b), a * (1.0f - b), (1.0f - a) * b, a * b};
    const int step[4] = {0, 1, nx, nx + 1};
    if (!th_field_open_cell(&s->graphs[0], cell.node, nx)) {
        int nearest = -1;
        for (int k = 0; k < 4; ++k) {
            th_vec2 node =
                th_node_position(&s->nodes, &s->nodes.levels[level], cell.node + step[k]);
            if (s->nodes.flags[cell.node + step[k]] & TH_NODE_WALKABLE &&
                (nearest < 0 || share[k] > share[nearest]) &&
                th_walls_first_crossing(walls, level, p, node, NULL) < 0)
                nearest = k;
        }
        for (int k = 0; k < 4; ++k) share[k] = k == nearest ? 1.0f : 0.0f;
    }
    for (int k = 0; k < 4; ++k) {
        int node = cell.node + step[k];
        if (node < begin || node >= end || share[k] == 0.0f) continue;
        th_quick_add(&s->sums[node].people, share[k]);
        th_quick_add(&s->sums[node].flow_x, share[k] * v.x);
        th_quick_add(&s->sums[node].flow_y, share[k] * v.y);
    }
}

// Where the agent counts in the queues: the place of its goal and bin, -1: nowhere.
TH_BOTH static inline int th_quick_place_in_queue(const th_quickest *s, const th_world *world,
                                                  const th_walls *all, int i) {
    int goal = (int)th_own_words(world, TH_PLAN_QUICKEST, TH_QUICKEST_GOAL)[i] - 1;
    if (goal < 0 || world->scene->goals[goal].is_line == false) return -1;
    int size = th_quickest_size(world, i);
    const th_quick_field *f = th_quick_field_of(s, world->scene, goal, size);
    if (!f->solved) return -1;
    th_walls walls = th_walls_for(world->scene, *all, size);
    float value = th_quick_value(s, &walls, f, (int)world->agents.level[i],
                                 th_position(&world->agents, (uint32_t)i));
    return value < TH_UNREACHABLE ? goal * TH_QUICKEST_BINS + th_quick_bin(value) : -1;
}

#ifdef __cplusplus
extern "C" {
#endif
// ---- quickest.c, also for the device

// Graphs for the walls as they are; true: the crowd is to be counted in this step.
bool th_quickest_begin(th_quickest *s, const th_world *world);
// After `sums`, `walkers` and `queue` were counted: what the crowd costs, and which fields to solve.
void th_quickest_take_crowd(th_quickest *s, const th_world *world);
// The step's share of the solutions.
void th_quickest_advance(th_quickest *s, const th_world *world);

// ---- crowd.c

// Factorises the spreading of counts over the links. Called after the graphs have changed.
void th_quickest_factor(th_quickest *s, const th_world *world);
// Sums to densities and flows, spread over the nodes around, and the cost of every face.
void th_quickest_spread(th_quickest *s, const th_world *world);
void th_quickest_make_faces(th_quickest *s, const th_world *world);
// A lane's solution, once it is whole: streams use the width that there is.
void th_quickest_fill_width(const th_quickest *s, const th_quick_lane *lane);
#ifdef __cplusplus
}
#endif
#endif
