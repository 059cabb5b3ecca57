// Moves the agents of a world to another scene, such as one with a wall or a model changed. Elements are the same when
// their ids are. States that models keep per world begin again; values they keep of an agent are copied where its group
// still has the model. SPDX-License-Identifier: Apache-2.0
#include "plan/plan.h"
#include "state/device.h"
#include "throng/live.h"
#include "world/measure.h"
#include "world/spawn.h"
#include "world/world.h"
#include <math.h>
#include <string.h>

static int find_level(const th_scene *scene, const char *id) {
    for (int l = 0; l < scene->level_count; ++l)
        if (strcmp(scene->levels[l].id, id) == 0) return l;
    return -1;
}

static int find_group(const th_scene *scene, const char *id) {
    for (int g = 0; g < scene->group_count; ++g)
        if (strcmp(scene->groups[g].id, id) == 0) return g;
    return -1;
}

static int find_goal(const th_scene *scene, const char *id) {
    for (int g = 0; g < scene->goal_count; ++g)
        if (strcmp(scene->goals[g].id, id) == 0) return g;
    return -1;
}

static int find_door(const th_scene *scene, const char *id) {
    for (int d = 0; d < scene->door_count; ++d)
        if (strcmp(scene->doors[d].id, id) == 0) return d;
    return -1;
}

static void copy_own_fields(const th_world *world, const th_world *from, int group, int old_group,
                            uint32_t i, uint32_t k) {
    th_group_state *state = &world->groups[group], *old = &from->groups[old_group];
    float *params;
    for (int c = 0; th_state_model(state, c, &params) != TH_NO_MODEL; ++c) {
        th_model_id now = th_state_model(state, c, &params), then = TH_NO_MODEL;
        for (int k_then = 0; then != now; ++k_then) {
            then = th_state_model(old, k_then, &params);
            if (then == TH_NO_MODEL) break;
        }
        for (int f = 0; now == then && f < th_models(NULL)[now]->field_count; ++f)
            ((uint32_t *)world->agents.own[world->first_own[now] + f])[i] =
                ((const uint32_t *)from->agents.own[from->first_own[now] + f])[k];
    }
}

static bool is_sound(const th_world *world, uint32_t i) {
    uint32_t *bits = world->one_agent;
    for (int f = 0; f < th_field_count(&world->agents); ++f)
        bits[f] = ((const uint32_t *)th_field_get(&world->agents, f))[i];
    return th_agent_is_sound(world, bits);
}

static void clear_own_fields(const th_world *world, uint32_t i) {
    for (int f = 0; f < world->agents.own_count; ++f) ((uint32_t *)world->agents.own[f])[i] = 0;
}

// Another route begins with its first leg, also for agents that had arrived.
static void set_route(th_world *world, const th_world *from, int group, int old_group, uint32_t i) {
    th_agents *agents = &world->agents;
    const th_group *now = &world->scene->groups[group], *then = &from->scene->groups[old_group];
    bool same = now->route_count == then->route_count;
    for (int leg = 0; same && leg < now->route_count; ++leg) {
        const th_target *a = &world->scene->targets[now->route[leg]],
                        *b = &from->scene->targets[then->route[leg]];
        same = a->goal_count == b->goal_count;
        for (int g = 0; same && g < a->goal_count; ++g)
            same = strcmp(world->scene->goals[a->goals[g]].id,
                          from->scene->goals[b->goals[g]].id) == 0;
    }
    if (th_detour_of(agents->leg[i]) > 0) { // places may have changed: back to the route
        agents->leg[i] = th_leg_of(agents->leg[i]);
        agents->phase[i] = TH_PHASE_WALKING;
    }
    if (same) return;
    agents->leg[i] = 0;
    if (agents->phase[i] == TH_PHASE_ARRIVED || agents->phase[i] == TH_PHASE_WAITING)
        agents->phase[i] = now->route_count > 0 ? TH_PHASE_WALKING : TH_PHASE_ARRIVED;
}

// False: no place for the k-th of the old world.
static bool take_person(th_world *world, const th_world *from, uint32_t k) {
    const th_agents *old = &from->agents;
    th_agents *agents = &world->agents;
    int old_group = (int)old->group[k];
    int group = find_group(world->scene, from->scene->groups[old_group].id);
    int level = find_level(world->scene, from->scene->levels[old->level[k]].id);
    if (group < 0 || level < 0 || agents->count >= agents->capacity) return false;
    // Scenes may have different origins.
    float dx = (float)(from->scene->origin.x - world->scene->origin.x);
    float dy = (float)(from->scene->origin.y - world->scene->origin.y);
    th_vec2 place = {old->position_x[k] + dx, old->position_y[k] + dy};
    if (world->scene->levels[level].bounded && !th_scene_walkable(world->scene, level, place))
        return false;
    uint32_t i = (uint32_t)agents->count++;
    for (int f = 0; f < TH_FIELD_COUNT; ++f)
        ((uint32_t *)th_field_get(agents, f))[i] = ((const uint32_t *)th_field_get(old, f))[k];
    clear_own_fields(world, i);
    agents->position_x[i] = place.x;
    agents->position_y[i] = place.y;
    agents->goal_x[i] += dx;
    agents->goal_y[i] += dy;
    agents->group[i] = (uint32_t)group;
    agents->level[i] = (uint32_t)level;
    int goal_level = find_level(world->scene, from->scene->levels[old->goal_level[k]].id);
    agents->goal_level[i] = (uint32_t)(goal_level < 0 ? level : goal_level);
    set_route(world, from, group, old_group, i);
    copy_own_fields(world, from, group, old_group, i, k);
    if (!is_sound(world, i)) clear_own_fields(world, i);
    if (world->max_radius < agents->radius[i]) world->max_radius = agents->radius[i];
    th_step_off_walls(world, i);
    return true;
}

static void take_counts(th_world *world, const th_world *from) {
    const th_scene *scene = world->scene, *old = from->scene;
    for (int g = 0; g < old->goal_count; ++g) {
        int now = find_goal(scene, old->goals[g].id);
        if (now >= 0) world->exits[now] = from->exits[g];
    }
    for (int l = 0; l < th_counted_line_count(scene); ++l) {
        bool is_door = l >= scene->measure_line_count;
        for (int k = 0; k < th_counted_line_count(old); ++k) {
            if (is_door != (k >= old->measure_line_count) ||
                strcmp(world->lines[l].id, from->lines[k].id) != 0)
                continue;
            world->lines[l] = from->lines[k];
            th_name_line(world, l);
        }
    }
    for (int g = 0; g < scene->group_count; ++g) {
        int then = find_group(old, scene->groups[g].id);
        if (then >= 0)
            world->sources[g] = from->sources[then];
        else // a new source owes nothing for the time before it was added
            world->sources[g].due = world->sources[g].placed =
                (uint64_t)th_source_due(&scene->groups[g], from->time);
    }
}

// A door keeps its state, unless the new scene changes its state at the start.
static void take_doors(th_world *world, const th_world *from) {
    for (int d = 0; d < world->scene->door_count; ++d) {
        const th_door *door = &world->scene->doors[d];
        int then = find_door(from->scene, door->id), *next = &world->door_next_change[d];
        while (*next < door->schedule_count && door->schedule[*next].time <= from->time)
            world->door_closed[d] = !door->schedule[(*next)++].open;
        if (then >= 0 && from->scene->doors[then].closed == door->closed)
            world->door_closed[d] = from->door_closed[then];
    }
    world->walls_version++;
    th_plan_solve(world);
}

static bool differ(const float *a, const float *b, int count) {
    for (int k = 0; k < count; ++k)
        if (a[k] != b[k]) return true;
    return false;
}

// Models are told of parameters that the new scene has changed, as of a live edit.
static void tell_edited(th_world *world, const th_world *from) {
    for (int g = 0; g < world->scene->group_count; ++g) {
        int then = find_group(from->scene, world->scene->groups[g].id);
        float *now;
        for (int k = 0; then >= 0 && th_state_model(&world->groups[g], k, &now) != TH_NO_MODEL;
             ++k) {
            int number = (int)th_state_model(&world->groups[g], k, &now);
            const th_model *model = th_models(NULL)[number];
            const float *before = th_model_params(from, number, then);
            if (before && model->edited && differ(before, now, model->param_count))
                model->edited(world, number, g, before);
        }
    }
}

int th_take_over(th_world *world, th_world *from) {
    th_refresh(from, TH_ALL_FIELDS);
    th_update_id_order(from);
    int lost = 0;
    uint64_t scripted = 0;
    world->time = from->time;
    world->step_count = from->step_count;
    world->seed = from->seed;
    world->next_id = from->next_id;
    world->counters = (th_counters){0};
    th_spawn_scripted(world); // under new ids
    uint64_t placed = world->counters.spawned;
    take_doors(world, from);
    for (int n = 0; n < from->id_order_count; ++n) {
        uint32_t k = from->id_order[n];
        if (from->agents.group[k] < (uint32_t)from->scene->group_count)
            lost += !take_person(world, from, k);
        else
            scripted += from->agents.phase[k] == TH_PHASE_SCRIPTED;
    }
    world->counters = from->counters;
    world->counters.spawned += placed - scripted;
    world->counters.removed += (uint64_t)lost;
    take_counts(world, from);
    tell_edited(world, from);
    world->id_order_valid = false;
    return lost;
}

void th_world_distances(const th_world *world, int target, int level, const th_vec2 *points,
                        int count, float *distances) {
    bool known = target >= 0 && target < world->scene->target_count && level >= 0 &&
                 level < world->scene->level_count;
    for (int k = 0; k < count; ++k)
        distances[k] = known ? th_plan_distance(world, target, level, points[k]) : INFINITY;
}
