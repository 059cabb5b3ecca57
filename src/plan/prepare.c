// Making, renewing and releasing what the planners keep. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/parallel.h"
#include "plan/plan.h"
#include "plan/preferred.h"
#include "plan/prepared.h"
#include "state/world.h"
#include <string.h>

enum { FRONT_MAX = 8 }; // targets computed at once: 12 bytes per node each

// ---- which plans are needed

static bool nothing_but_ground(const th_scene *scene) {
    for (int l = 0; l < scene->level_count; ++l)
        if (scene->levels[l].bounded) return false;
    return scene->wall_count == 0 && scene->link_count == 0 && scene->zone_count == 0 &&
           scene->door_count == 0;
}

// Has the group people of the size? The smallest size always counts: no other field is made for it.
static bool has_size(const th_scene *scene, const th_group *group, int size) {
    int widths = scene->size_count - scene->bar_count;
    if (size >= widths) return group->bar == 1 + size - widths;
    if (size > 0 && group->bar > 0) return false;
    return size == 0 || th_group_gap(group, true) > (double)(scene->sizes[size - 1] + TH_FITS);
}

static bool target_needed(const th_scene *scene, int target, int size) {
    for (int g = 0; g < scene->group_count; ++g) {
        const th_group *group = &scene->groups[g];
        if (!th_models(NULL)[group->plan.model]->needs_lattice || !has_size(scene, group, size))
            continue;
        for (int k = 0; k < group->route_count + group->detour_count; ++k)
            if (group->route[k] == target) return true;
    }
    return false;
}

static bool roadmap_needed(const th_scene *scene) {
    for (int g = 0; g < scene->group_count; ++g) {
        const th_group *group = &scene->groups[g];
        bool own = group->own_goal != TH_OWN_GOAL_NONE || (group->decides & TH_DECIDES_AIM) != 0;
        if (own && th_models(NULL)[group->plan.model]->needs_lattice) return true;
    }
    return false;
}

static bool lattice_needed(const th_scene *scene) {
    for (int t = 0; t < scene->target_count; ++t)
        if (target_needed(scene, t, 0)) return true;
    return roadmap_needed(scene);
}

// ---- plans

static void plans_destroy_one(th_plans *plans, const th_scene *scene, int node_count,
                              const th_memory *memory) {
    for (int t = 0; plans->fields && t < scene->target_count; ++t)
        th_dealloc(memory, plans->fields[t], (size_t)node_count, sizeof(float));
    th_dealloc(memory, plans->fields, (size_t)scene->target_count, sizeof *plans->fields);
    th_roadmap_destroy(plans->roadmap);
    th_graph_destroy(&plans->graph, memory);
    memset(plans, 0, sizeof *plans);
}

static void plans_destroy(th_plans *plans, const th_scene *scene, int node_count,
                          const th_memory *memory) {
    for (int size = 0; size < scene->size_count; ++size)
        plans_destroy_one(&plans[size], scene, node_count, memory);
}

static bool plans_create_one(th_plans *plans, int size, const th_scene *scene,
                             const th_nodes *nodes, const th_memory *memory) {
    plans->fields = th_alloc(memory, (size_t)scene->target_count, sizeof *plans->fields);
    bool done = plans->fields && th_graph_create(&plans->graph, nodes, memory);
    for (int t = 0; done && t < scene->target_count; ++t) {
        if (!target_needed(scene, t, size)) continue;
        plans->fields[t] = th_alloc(memory, (size_t)nodes->count, sizeof(float));
        done = plans->fields[t] != NULL;
    }
    return done;
}

static bool plans_create(th_plans *plans, const th_scene *scene, const th_nodes *nodes,
                         const th_memory *memory) {
    memset(plans, 0, TH_SIZE_MAX * sizeof *plans);
    for (int size = 0; size < scene->size_count; ++size)
        if (!plans_create_one(&plans[size], size, scene, nodes, memory)) {
            plans_destroy(plans, scene, nodes->count, memory);
            return false;
        }
    return true;
}

static th_walls walls_at_start(const th_scene *scene) {
    th_walls walls = th_walls_of(scene, scene->plan->door_closed);
    return walls;
}

// Targets are independent of each other, so any number of threads gives the same fields.
static bool solve_all(const th_scene *scene, th_plans *plans, const th_walls *walls,
                      const th_memory *memory) {
    int nodes = plans->graph.nodes->count;
    int workers = omp_get_max_threads() < FRONT_MAX ? omp_get_max_threads() : FRONT_MAX;
    if (workers > scene->target_count) workers = scene->target_count;
    if (workers < 1) return true;
    th_front fronts[FRONT_MAX];
    int ready = 0;
    while (ready < workers && th_front_create(&fronts[ready], nodes, memory)) ++ready;
#pragma omp parallel for num_threads(ready > 0 ? ready : 1) schedule(dynamic, 1)
    for (int t = 0; t < scene->target_count; ++t)
        if (ready > 0 && plans->fields[t])
            th_field_solve(&plans->graph, walls, &scene->targets[t], &fronts[omp_get_thread_num()],
                           plans->fields[t]);
    for (int i = 0; i < ready; ++i) th_front_destroy(&fronts[i], nodes, memory);
    return ready > 0;
}

// ---- scene

static th_result no_memory(th_error *error) {
    return th_fail(error, TH_NO_MEMORY, "plan_cell",
                   "no memory for the distance fields; free some or give a larger plan_cell");
}

static th_result prepare_lattice(th_scene *scene, th_error *error) {
    struct th_plan_scene *plan = scene->plan;
    const th_memory *memory = &scene->arena->memory;
    th_result result = th_nodes_build(&plan->nodes, scene, 0.0, error);
    if (result != TH_OK) return result;
    th_walls walls = walls_at_start(scene);
    if (!plans_create(plan->plans, scene, &plan->nodes, memory)) return no_memory(error);
    for (int size = 0; size < scene->size_count; ++size) {
        th_walls sized = th_walls_for(scene, walls, size);
        th_graph_update(&plan->plans[size].graph, &sized);
        if (!solve_all(scene, &plan->plans[size], &sized, memory)) return no_memory(error);
    }
    return TH_OK;
}

static th_result prepare_roadmap(th_scene *scene, th_error *error) {
    struct th_plan_scene *plan = scene->plan;
    if (!plan->nodes.scene || !roadmap_needed(scene)) return TH_OK;
    th_walls walls = walls_at_start(scene);
    plan->plans[0].roadmap = th_roadmap_create(&plan->nodes, &walls, &scene->arena->memory);
    return plan->plans[0].roadmap ? TH_OK : no_memory(error);
}

th_result th_plan_prepare(th_scene *scene, th_error *error) {
    const th_memory *memory = &scene->arena->memory;
    struct th_plan_scene *plan = th_alloc(memory, 1, sizeof *plan);
    if (!plan) return no_memory(error);
    scene->plan = plan;
    plan->door_closed = th_alloc(memory, (size_t)scene->door_count, 1);
    th_result result = plan->door_closed ? TH_OK : no_memory(error);
    for (int d = 0; result == TH_OK && d < scene->door_count; ++d)
        plan->door_closed[d] = scene->doors[d].closed;
    plan->flat_open = nothing_but_ground(scene);
    if (result == TH_OK && !plan->flat_open && lattice_needed(scene))
        result = prepare_lattice(scene, error);
    if (result == TH_OK) result = th_plan_check_reach(scene, error);
    // The most expensive part comes last: a scene that is refused must not wait for it.
    if (result == TH_OK) result = prepare_roadmap(scene, error);
    if (result != TH_OK) th_plan_release(scene);
    return result;
}

float th_scene_plan_spacing(const th_scene *scene, float *wanted) {
    bool lattice = scene->plan && scene->plan->nodes.scene;
    *wanted = lattice ? th_nodes_wanted_spacing(scene) : 0.0f;
    return lattice ? scene->plan->nodes.spacing : 0.0f;
}

void th_plan_release(th_scene *scene) {
    struct th_plan_scene *plan = scene->plan;
    if (!plan) return;
    const th_memory *memory = &scene->arena->memory;
    plans_destroy(plan->plans, scene, plan->nodes.count, memory);
    th_nodes_release(&plan->nodes);
    th_dealloc(memory, plan->door_closed, (size_t)scene->door_count, 1);
    th_dealloc(memory, plan, 1, sizeof *plan);
    scene->plan = NULL;
}

// ---- world

static void world_release(th_world *world) {
    const th_nodes *nodes = &world->scene->plan->nodes;
    plans_destroy(world->plan->plans, world->scene, nodes->count, &world->memory);
    th_graph_destroy(&world->plan->next, &world->memory);
    th_front_destroy(&world->plan->front, nodes->count, &world->memory);
    th_replan_destroy(world->plan, world->scene, &world->memory);
    world->plan->own = false;
}

static void plans_copy(th_plans *to, const th_plans *from, int target_count) {
    const th_nodes *nodes = from->graph.nodes;
    memcpy(to->graph.links, from->graph.links, (size_t)nodes->count);
    memcpy(to->graph.portals, from->graph.portals,
           (size_t)nodes->portal_count * sizeof *nodes->portals);
    for (int t = 0; t < target_count; ++t)
        if (to->fields[t])
            memcpy(to->fields[t], from->fields[t], (size_t)nodes->count * sizeof(float));
}

th_result th_plan_world_reserve(th_world *world, th_error *error) {
    const struct th_plan_scene *shared = world->scene->plan;
    struct th_plan_world *plan = world->plan;
    const th_nodes *nodes = &shared->nodes;
    if (plan->own || !nodes->scene) return TH_OK; // no lattice, nothing to renew
    bool done = plans_create(plan->plans, world->scene, nodes, &world->memory) &&
                th_graph_create(&plan->next, nodes, &world->memory) &&
                th_front_create(&plan->front, nodes->count, &world->memory) &&
                th_replan_create(plan, world->scene, &world->memory);
    if (done && shared->plans[0].roadmap) {
        plan->plans[0].roadmap = th_roadmap_copy(shared->plans[0].roadmap, &world->memory);
        done = plan->plans[0].roadmap != NULL;
    }
    if (!done) {
        world_release(world);
        return no_memory(error);
    }
    for (int size = 0; size < world->scene->size_count; ++size)
        plans_copy(&plan->plans[size], &shared->plans[size], world->scene->target_count);
    plan->own = true;
    return TH_OK;
}

static th_result make_roadmap(th_world *world, const th_walls *walls, th_error *error) {
    const th_nodes *nodes = &world->scene->plan->nodes;
    if (!nodes->scene || th_plans_in_force(world, 0)->roadmap) return TH_OK;
    if (world->on_device)
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "on a device only groups with own goals, or plan roadmap, go to points");
    th_result result = th_plan_world_reserve(world, error);
    if (result != TH_OK) return result;
    world->plan->plans[0].roadmap = th_roadmap_create(nodes, walls, &world->memory);
    return world->plan->plans[0].roadmap ? TH_OK : no_memory(error);
}

th_result th_plan_own_goals(th_world *world, th_error *error) {
    th_walls walls = th_world_walls(world);
    return make_roadmap(world, &walls, error);
}

th_result th_plan_world_create(th_world *world, th_error *error) {
    world->plan = th_alloc(&world->memory, 1, sizeof *world->plan);
    if (!world->plan) return no_memory(error);
    bool follows = world->replan > 0.0 && !world->on_device;
    int steps = follows ? (int)(world->replan / world->step_length) : 0;
    world->plan->replan.state.steps = steps;
    bool wanted = world->scene->door_count > 0 || steps > 0;
    th_result result = wanted ? th_plan_world_reserve(world, error) : TH_OK;
    // A step of a world whose fields follow never waits for a road map. The world has no walls of its own yet.
    th_walls walls = walls_at_start(world->scene);
    return result == TH_OK && steps > 0 ? make_roadmap(world, &walls, error) : result;
}

void th_plan_world_destroy(th_world *world) {
    if (!world->plan) return;
    world_release(world);
    th_dealloc(&world->memory, world->plan, 1, sizeof *world->plan);
    world->plan = NULL;
}

// ---- changed walls

// Distance of the nearest end of any link that differs between the two graphs.
static float nearest_change(const th_graph *before, const th_graph *after, const float *distance) {
    float least = TH_UNREACHABLE;
    int count = before->nodes->count;
    for (int block = 0; block < count; block += 1024) {
        int end = block + 1024 < count ? block + 1024 : count;
        if (memcmp(before->links + block, after->links + block, (size_t)(end - block)) == 0)
            continue;
        for (int i = block; i < end; ++i)
            if (before->links[i] != after->links[i] && distance[i] < least) least = distance[i];
    }
    for (int i = 0; i < before->nodes->portal_count; ++i) {
        const th_portal *portal = &before->portals[i];
        if (memcmp(portal, &after->portals[i], sizeof *portal) == 0) continue;
        if (distance[portal->node] < least) least = distance[portal->node];
    }
    return least;
}

static bool is_on_line(th_vec2 p, const th_line *line) {
    return th_length2(th_sub(th_nearest_on_segment(p, line->a, line->b), p)) < 0.03f * 0.03f;
}

// Does a door lie on the line of one of the goals? It changes no link where the ground ends behind it, and yet the goal is
// one or none.
static bool goals_may_shut(const th_scene *scene, const th_target *target) {
    for (int k = 0; k < target->goal_count; ++k) {
        const th_goal *goal = &scene->goals[target->goals[k]];
        for (int d = 0; goal->is_line && d < scene->door_count; ++d) {
            const th_line *door = &scene->doors[d].line;
            if (door->level == goal->line.level &&
                (is_on_line(door->a, &goal->line) || is_on_line(door->b, &goal->line)))
                return true;
        }
    }
    return false;
}

void th_plan_renew_graph(struct th_plan_world *plan, const th_scene *scene, const th_walls *walls,
                         int size, float *keep) {
    th_plans *plans = &plan->plans[size];
    th_graph_update(&plan->next, walls);
    for (int t = 0; t < scene->target_count; ++t) {
        keep[t] = TH_UNREACHABLE;
        if (plans->fields[t])
            keep[t] = goals_may_shut(scene, &scene->targets[t])
                          ? 0.0f
                          : nearest_change(&plans->graph, &plan->next, plans->fields[t]);
    }
    th_graph swap = plans->graph;
    plans->graph = plan->next;
    plan->next = swap;
}

static void renew(struct th_plan_world *plan, const th_scene *scene, const th_walls *walls,
                  int size) {
    th_plans *plans = &plan->plans[size];
    float *keep = plan->replan.keep;
    th_plan_renew_graph(plan, scene, walls, size, keep);
    for (int t = 0; t < scene->target_count; ++t)
        if (keep[t] < TH_UNREACHABLE)
            th_field_resolve(&plans->graph, walls, &scene->targets[t], keep[t], &plan->front,
                             plans->fields[t]);
}

// Does this world have its own fields, or can it get them? Without memory the old fields stay in force, and people
// queue at the new wall.
static bool has_fields(th_world *world) {
    if (!world->plan->own && world->wall_count == world->scene->wall_count)
        return false; // no doors, no live walls
    return world->scene->plan->nodes.scene && th_plan_world_reserve(world, NULL) == TH_OK;
}

void th_plan_solve(th_world *world) {
    struct th_plan_world *plan = world->plan;
    const th_scene *scene = world->scene;
    if (!has_fields(world)) return;
    th_walls walls = th_world_walls(world);
    for (int size = 0; size < scene->size_count; ++size) {
        th_walls sized = th_walls_for(scene, walls, size);
        renew(plan, scene, &sized, size);
    }
    if (plan->plans[0].roadmap) th_roadmap_update(plan->plans[0].roadmap, &walls);
}

void th_plan_walls_changed(th_world *world) {
    if (world->plan->replan.state.steps == 0)
        th_plan_solve(world);
    else if (has_fields(world))
        th_replan_begin(world);
}

// ---- the plan stage

// Every agent's preferred velocity. Legs of a route follow the target's distance field,
// own goals the road map; the plan "straight" and open planes need neither.

typedef struct people_of_model {
    th_planner planner;
    int model;
} people_of_model;
static uint64_t plan_block(const void *context, int begin, int end) {
    const people_of_model *people = context;
    const th_world *world = people->planner.world;
    const uint32_t *group = world->agents.group;
    uint64_t unreachable = 0;
    for (int i = begin; i < end; ++i)
        if ((int)world->groups[group[i]].plan == people->model &&
            th_plan_person(&people->planner, i, th_goes_straight(&people->planner, group[i])))
            unreachable += !th_is_ghost(world, (uint32_t)i);
    return unreachable;
}

void th_plan_people(th_world *world, int model) {
    const people_of_model people = {th_planner_of(world), model};
    world->counters.unreachable +=
        th_share_out(world, world->agents.count, TH_BLOCK, plan_block, &people);
}

float th_plan_distance(const th_world *world, int target, int level, th_vec2 point) {
    th_planner planner = th_planner_of(world);
    th_vec2 none = {0.0f, 0.0f};
    bool straight = !planner.plans->fields || !planner.plans->fields[target];
    float distance =
        th_way_to_target(&planner, target, straight, level, point, 0.0f, none).distance;
    return distance < TH_UNREACHABLE ? distance : INFINITY;
}
