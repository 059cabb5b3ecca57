// The plan stage: every agent's preferred velocity. Legs of a route follow the target's distance field,
// own goals the road map; the plan "straight" and open planes need neither.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_PLAN_PREFERRED_H
#define TH_PLAN_PREFERRED_H
#include "formula/random.h"
#include "plan/prepared.h"

// This near, people walk to the nearest point of a goal they see rather than down the field, which
// ends at the goal and cannot lead across a line. [m]
static const float TH_PLAN_NEAR_GOAL = 3.0f;
static const float TH_PLAN_GOAL_SIGHT = 4.0f; // [m] how far they look for it
// People do not all aim at the same end of a wide exit: each keeps its own distance from the ends, up to
// this much beyond the body. Without it a crowd coming along the wall jams at the end of a free exit. [m]
static const float TH_PLAN_GOAL_SPREAD = 1.0f;
static const float TH_PLAN_FAR = 1e30f;

TH_BOTH static inline float th_goal_inset(const th_agents *agents, int i) {
    uint32_t mixed =
        agents->id[i] * 2654435761u; // Knuth's multiplicative hash: neighbours in id differ
    return agents->radius[i] + TH_PLAN_GOAL_SPREAD * th_uniform(mixed);
}

// Later zones lie over earlier ones.
TH_BOTH static inline float th_zone_factor(const th_scene *scene, uint32_t group, int level,
                                           th_vec2 p, th_vec2 direction) {
    for (int z = scene->zone_count - 1; z >= 0; --z) {
        const th_zone *zone = &scene->zones[z];
        const th_box *box = &zone->area.shape.box;
        if (zone->area.level != level || p.x < box->min_x || p.x > box->max_x || p.y < box->min_y ||
            p.y > box->max_y || !th_polygons_contain(&zone->area.shape, p))
            continue;
        bool up = th_dot(direction, zone->up_direction) >= 0.0f;
        float factor = up ? zone->up : zone->down;
        if (zone->up_direction.x == 0.0f && zone->up_direction.y == 0.0f) return factor;
        const th_group *of = &scene->groups[group];
        return factor * (up ? of->up : of->down);
    }
    return 1.0f;
}

typedef struct th_planner {
    const th_world *world;
    const th_scene *scene;
    const th_plans *plans;
    th_walls walls;
    bool bare; // no targets and no zones: every agent has an own goal
} th_planner;

// The same for people of a size; of the next smaller one where the scene's groups have no agent of it.
TH_BOTH static inline th_planner th_planner_for(const th_planner *planner, int size, int target) {
    th_planner sized = *planner;
    while (size > 0 && !th_plans_in_force(planner->world, size)->fields[target]) --size;
    sized.plans = th_plans_in_force(planner->world, size);
    sized.walls = th_walls_for(planner->scene, planner->walls, size);
    return sized;
}

// The width that an agent needs to pass, or what its group avoids, as one of the scene's sizes.
TH_BOTH static inline int th_size_of(const th_world *world, int i) {
    const th_scene *scene = world->scene;
    int widths = scene->size_count - scene->bar_count;
    int bar = scene->bar_count > 0 ? scene->groups[world->agents.group[i]].bar : 0;
    if (bar > 0) return widths + bar - 1;
    th_walls walls = th_world_walls(world);
    float clearance = world->groups[world->agents.group[i]].body.gap_clearance;
    float here = th_wall_radius_here(world, &walls, (uint32_t)i);
    bool wedged = here < th_wall_radius(world, (uint32_t)i); // it leaves as it came in
    float need = 2.0f * here + (wedged ? 0.0f : clearance) - TH_FITS;
    int size = 0;
    while (size < widths - 1 && need > scene->sizes[size]) ++size;
    return size;
}

TH_BOTH static inline th_way th_way_to_target(const th_planner *planner, int target, bool straight,
                                              int level, th_vec2 p, float inset, th_vec2 heading) {
    const th_target *goals = &planner->scene->targets[target];
    th_way way = {{0.0f, 0.0f}, TH_UNREACHABLE};
    if (straight || planner->scene->plan->flat_open) {
        th_goal_way(planner->scene, NULL, goals, level, p, inset, heading, TH_PLAN_FAR, &way);
        return way;
    }
    const float *field = planner->plans->fields[target];
    if (!field) return way;
    way = th_field_way(&planner->plans->graph, &planner->walls, field, level, p);
    if (way.distance < TH_PLAN_NEAR_GOAL || way.distance >= TH_UNREACHABLE)
        th_goal_way(planner->scene, &planner->walls, goals, level, p, inset, heading,
                    TH_PLAN_GOAL_SIGHT, &way);
    return way;
}

TH_BOTH static inline th_way th_way_to_own_goal(const th_planner *planner, bool straight, int level,
                                                th_vec2 p, int goal_level, th_vec2 goal) {
    if (!straight && planner->plans->roadmap)
        return th_roadmap_way(planner->plans->roadmap, &planner->walls, level, p, goal_level, goal,
                              NULL);
    th_vec2 to_goal = th_sub(goal, p);
    float distance = th_length(to_goal), divisor = th_max(distance, 1e-12f);
    // Divided, not multiplied by a reciprocal: bit for bit what the ORCA reference runs did.
    th_way way = {{to_goal.x / divisor, to_goal.y / divisor}, distance};
    return way;
}

// Do these people go straight to their goals? Then no field and no road map is looked at.
TH_BOTH static inline bool th_goes_straight(const th_planner *planner, uint32_t group) {
    return planner->world->groups[group].goes_straight ||
           (planner->scene->plan->flat_open && !planner->plans->roadmap);
}

// Plans for an agent that walks; 1: its goal cannot be reached.
TH_FORMULA int th_plan_walking(const th_planner *planner, int i, bool straight) {
    const th_world *world = planner->world;
    const th_agents *agents = &world->agents;
    const th_group *group = &planner->scene->groups[agents->group[i]];
    th_vec2 p = th_position(agents, (uint32_t)i), heading = th_velocity(agents, (uint32_t)i);
    int level = (int)agents->level[i];
    int target = th_leg_target(group, agents->leg[i]);
    float speed = agents->speed[i];
    th_way way;
    if (!planner->bare && target >= 0 && !th_is_led(world, i)) {
        float inset = th_goal_inset(agents, i);
        if (planner->scene->size_count == 1 || straight) {
            way = th_way_to_target(planner, target, straight, level, p, inset, heading);
        } else {
            th_planner sized = th_planner_for(planner, th_size_of(world, i), target);
            way = th_way_to_target(&sized, target, straight, level, p, inset, heading);
        }
    } else {
        th_vec2 goal = {agents->goal_x[i], agents->goal_y[i]};
        way = th_way_to_own_goal(planner, straight, level, p, (int)agents->goal_level[i], goal);
        // Shorter in the last step, so that no agent runs past an own goal.
        speed = th_min(speed, way.distance / world->dt);
    }
    if (!planner->bare && planner->scene->zone_count > 0)
        speed *= th_zone_factor(planner->scene, agents->group[i], level, p, way.direction);
    agents->preferred_x[i] = speed * way.direction.x;
    agents->preferred_y[i] = speed * way.direction.y;
    return way.distance >= TH_UNREACHABLE;
}

// Writes one person's preferred velocity; 1 when the goal cannot be reached.
TH_FORMULA int th_plan_person(const th_planner *planner, int i, bool straight) {
    const th_world *world = planner->world;
    const th_agents *agents = &world->agents;
    uint32_t phase = agents->phase[i];
    // An agent that has arrived at an own goal keeps to it when pushed away.
    bool at_own_goal = phase == TH_PHASE_ARRIVED &&
                       world->scene->groups[agents->group[i]].own_goal != TH_OWN_GOAL_NONE;
    if (phase == TH_PHASE_WALKING || at_own_goal) return th_plan_walking(planner, i, straight);
    if (th_moves(phase)) {
        agents->preferred_x[i] = 0.0f;
        agents->preferred_y[i] = 0.0f;
    }
    return 0;
}

TH_BOTH static inline th_planner th_planner_of(const th_world *world) {
    const th_scene *scene = world->scene;
    th_planner planner = {world, scene, th_plans_in_force(world, 0), th_world_walls(world),
                          scene->target_count == 0 && scene->zone_count == 0};
    planner.walls.parked_only = true;
    return planner;
}
#endif
