// The events stage: time goes on, doors follow their schedule, sources place people. Also holds the live edits, which
// do the same by a call. SPDX-License-Identifier: Apache-2.0
#include "contact/bodies.h"
#include "core/error.h"
#include "formula/vec.h"
#include "plan/plan.h"
#include "registry/models.h"
#include "state/device.h"
#include "world/spawn.h"
#include "world/world.h"
#include <math.h>
#include <string.h>

void th_push_event(th_world *world, th_event event) {
    if ((uint32_t)world->event_count < th_event_max(world))
        world->events[world->event_count++] = event;
    else
        world->events_lost++;
}

const th_event *th_world_events(const th_world *world, int *count, uint64_t *lost) {
    th_refresh(world, 0);
    *count = world->event_count;
    if (lost) *lost = world->events_lost;
    return world->events;
}

// No agent may stand exactly on a line that becomes a wall, because the crossing test could not tell its side. Agents closer
// than 2 mm are set 3 mm off, on their side.
static void clear_wall_line(th_world *world, int level, th_vec2 a, th_vec2 b) {
    th_agents *agents = &world->agents;
    th_vec2 normal = th_perp_left(th_unit(th_sub(b, a)));
    const float clearance = 0.002f;
    th_walls walls = th_world_walls(world); // as they stand before the change
    for (int i = 0; i < agents->count; ++i) {
        if (agents->level[i] != (uint32_t)level || th_gone(agents->phase[i])) continue;
        th_vec2 p = th_position(agents, (uint32_t)i);
        th_vec2 off = th_sub(p, th_nearest_on_segment(p, a, b));
        if (th_length2(off) >= clearance * clearance) continue;
        float side = th_dot(th_sub(p, a), normal) < 0.0f ? -1.0f : 1.0f;
        th_vec2 on_line = th_nearest_on_segment(p, a, b);
        for (int k = 0; k < 2;
             ++k, side = -side) { // the other side where another wall is in the way
            th_vec2 moved = th_add(on_line, th_scale(side * 1.5f * clearance, normal));
            float t;
            if (th_walls_first_crossing(&walls, level, p, moved, &t) >= 0) continue;
            agents->position_x[i] = moved.x;
            agents->position_y[i] = moved.y;
            break;
        }
    }
}

void th_step_off_walls(th_world *world, uint32_t i) {
    th_agents *agents = &world->agents;
    th_walls walls = th_world_walls(world);
    const float touching = 1e-5f, clearance = 0.003f; // [m]
    if (!th_moves(agents->phase[i])) return;
    for (int round = 0; round < 3; ++round) { // off one wall may be onto the next
        int nearest;
        th_vec2 p = th_position(agents, i);
        if (th_walls_near(&walls, (int)agents->level[i], p, touching, &nearest, NULL, 1) == 0)
            return;
        // Walkable ground lies to the right of a wall; a thin wall has it on both sides.
        th_vec2 off = th_scale(clearance, th_perp_right(walls.walls[nearest].direction));
        agents->position_x[i] = p.x + off.x;
        agents->position_y[i] = p.y + off.y;
    }
}

static void change_door(th_world *world, int d, bool open) {
    if (world->door_closed[d] == !open) return;
    const th_door *door = &world->scene->doors[d];
    if (!open) clear_wall_line(world, door->line.level, door->line.a, door->line.b);
    world->door_closed[d] = !open;
    world->walls_version++;
    th_push_event(world, (th_event){.kind = open ? TH_EVENT_DOOR_OPENED : TH_EVENT_DOOR_CLOSED,
                                    .time = world->time,
                                    .index = d});
}

// Half a step of slack: a change at 30 s belongs to the step that begins at 30 s.
static bool change_due(const th_world *world, int d) {
    const th_door *door = &world->scene->doors[d];
    int next = world->door_next_change[d];
    return next < door->schedule_count &&
           door->schedule[next].time <= world->time + 0.5 * (double)world->dt;
}

bool th_doors_due(const th_world *world) {
    for (int d = 0; d < world->scene->door_count; ++d)
        if (change_due(world, d)) return true;
    return false;
}

void th_follow_schedules(th_world *world) {
    const th_scene *scene = world->scene;
    uint32_t version = world->walls_version;
    for (int d = 0; d < scene->door_count; ++d) {
        while (change_due(world, d))
            change_door(world, d, scene->doors[d].schedule[world->door_next_change[d]++].open);
    }
    if (world->walls_version != version) th_plan_walls_changed(world);
}

void th_stage_events(th_world *world) {
    th_follow_schedules(world);
    th_bodies_move(world);
    th_plan_follow(world);
    if (world->ranks && th_sources_are_due(world)) th_ranks_see_sources(world);
    th_spawn_sources(world);
}

// ---- live edits

void th_fetch_to_change(th_world *world) {
    if (!world->device) return;
    world->device->fetch(world, TH_ALL_FIELDS);
    world->device->changed(world);
}

th_result th_world_set_door(th_world *world, const char *id, bool open, th_error *error) {
    th_fetch_to_change(world);
    const th_scene *scene = world->scene;
    for (int d = 0; d < scene->door_count; ++d) {
        if (!id || strcmp(scene->doors[d].id, id) != 0) continue;
        uint32_t version = world->walls_version;
        change_door(world, d, open);
        if (world->walls_version != version) th_plan_walls_changed(world);
        return TH_OK;
    }
    return th_fail(error, TH_BAD_ARGUMENT, "",
                   "there is no door '%s' in the scene (it has %d doors)", id ? id : "NULL",
                   scene->door_count);
}

static void set_edge(th_wall *edge, th_vec2 a, th_vec2 b, int level, int other) {
    float length = th_length(th_sub(b, a));
    *edge = (th_wall){.a = a,
                      .b = b,
                      .direction = th_unit(th_sub(b, a)),
                      .length = length,
                      .next = other,
                      .prev = other,
                      .a_convex = true,
                      .level = level,
                      .door = -1};
}

th_result th_world_add_wall(th_world *world, int level, th_vec2 a, th_vec2 b, int *wall,
                            th_error *error) {
    th_fetch_to_change(world);
    const th_scene *scene = world->scene;
    if (level < 0 || level >= scene->level_count)
        return th_fail(error, TH_BAD_ARGUMENT, "", "level %d does not exist; the scene has %d",
                       level, scene->level_count);
    if (!isfinite(a.x) || !isfinite(a.y) || !isfinite(b.x) || !isfinite(b.y) ||
        !(th_length(th_sub(b, a)) >= 0.01f && th_length(a) < 1e6f && th_length(b) < 1e6f))
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "a wall needs two points at least 1 cm apart and within 1000 km");
    int slot = 0; // a removed wall has length 0 and its place is used again
    while (slot < TH_LIVE_WALL_MAX && scene->wall_count + 2 * slot < world->wall_count &&
           world->walls[scene->wall_count + 2 * slot].length > 0.0f)
        slot++;
    if (slot == TH_LIVE_WALL_MAX)
        return th_fail(error, TH_FULL, "", "all %d live walls are in use; remove one first",
                       TH_LIVE_WALL_MAX);
    th_result result = th_plan_world_reserve(world, error);
    if (result != TH_OK) return result;
    clear_wall_line(world, level, a, b);
    int first = scene->wall_count + 2 * slot;
    set_edge(&world->walls[first], a, b, level, first + 1);
    set_edge(&world->walls[first + 1], b, a, level, first);
    if (world->wall_count < first + 2) world->wall_count = first + 2;
    world->walls_version++;
    th_plan_walls_changed(world);
    if (wall) *wall = slot;
    return TH_OK;
}

th_result th_world_remove_wall(th_world *world, int wall, th_error *error) {
    th_fetch_to_change(world);
    bool possible = wall >= 0 && wall < TH_LIVE_WALL_MAX;
    int first = world->scene->wall_count + (possible ? 2 * wall : 0);
    if (!possible || first >= world->wall_count || world->walls[first].length <= 0.0f)
        return th_fail(error, TH_BAD_ARGUMENT, "", "there is no live wall %d", wall);
    world->walls[first].length = world->walls[first + 1].length = 0.0f;
    world->walls_version++;
    th_plan_walls_changed(world);
    return TH_OK;
}

// "name" of "model.name": where several models of a group have one, the model's name comes first.
static const char *without_model(const char *name, const th_model *model) {
    size_t length = strlen(model->name);
    return strncmp(name, model->name, length) == 0 && name[length] == '.' ? name + length + 1
                                                                          : name;
}

static th_result change_param(th_world *world, int group, int number, float *params, int p,
                              float value, th_error *error) {
    const th_model *model = th_models(NULL)[number];
    th_group_state *state = &world->groups[group];
    float before[TH_PARAM_MAX];
    memcpy(before, params, sizeof before);
    params[p] = value;
    th_result result = th_model_check_params(model, params, "", TH_BAD_ARGUMENT, error);
    const char *why = result == TH_OK && model->edited && value != before[p]
                          ? model->edited(world, number, group, before)
                          : NULL;
    if (why) result = th_fail(error, TH_BAD_ARGUMENT, "", "%s: %s", model->params[p].name, why);
    if (result != TH_OK) params[p] = before[p];
    state->body = th_model_body(th_models(NULL)[state->move], state->move_params);
    return result;
}

// Refuses the name of a parameter that several models of the group have. Between two models of one name, such as HiDAC's
// behaviour and its move model, the first is meant.
static th_result check_one_meant(th_group_state *state, const char *name, th_error *error) {
    const th_model *first = NULL;
    float *params;
    for (int c = 0; th_state_model(state, c, &params) != TH_NO_MODEL; ++c) {
        const th_model *model = th_models(NULL)[th_state_model(state, c, &params)];
        if (th_model_find_param(model, name) < 0) continue;
        if (first && strcmp(first->name, model->name) != 0)
            return th_fail(error, TH_BAD_ARGUMENT, "",
                           "%s and %s both have a parameter '%s'; say %s.%s or %s.%s", first->name,
                           model->name, name, first->name, name, model->name, name);
        first = first ? first : model;
    }
    return TH_OK;
}

th_result th_world_set_param(th_world *world, int group, const char *name, double value,
                             th_error *error) {
    th_fetch_to_change(world);
    if (group < 0 || group >= world->scene->group_count)
        return th_fail(error, TH_BAD_ARGUMENT, "", "group %d does not exist; the scene has %d",
                       group, world->scene->group_count);
    th_group_state *state = &world->groups[group];
    float *params;
    if (check_one_meant(state, name, error) != TH_OK) return TH_BAD_ARGUMENT;
    for (int c = 0; th_state_model(state, c, &params) != TH_NO_MODEL; ++c) {
        int number = (int)th_state_model(state, c, &params);
        const th_model *model = th_models(NULL)[number];
        int p = th_model_find_param(model, without_model(name, model));
        if (p < 0) continue;
        const th_param_info *info = &model->params[p];
        if (!(value >= info->min && value <= info->max))
            return th_fail(error, TH_BAD_ARGUMENT, "", "%s = %g is outside %g .. %g %s", name,
                           value, info->min, info->max, info->unit);
        return change_param(world, group, number, params, p, (float)value, error);
    }
    return th_fail(error, TH_BAD_ARGUMENT, "",
                   "no model of group '%s' has a parameter '%s'; `throng list` shows them",
                   world->scene->groups[group].id, name);
}
