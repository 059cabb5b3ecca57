// Orders to one agent: where to go, and the values of its fields. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "formula/vec.h"
#include "plan/plan.h"
#include "throng/live.h"
#include "world/world.h"
#include <math.h>
#include <string.h>

static th_result find(th_world *world, th_agent_id agent, uint32_t *i, th_error *error) {
    *i = 0;
    th_fetch_to_change(world);
    int64_t found = th_find_agent(world, agent.serial);
    if (found < 0)
        return th_fail(error, TH_BAD_ARGUMENT, "", "agent %u is not there; it left or never was",
                       agent.serial);
    *i = (uint32_t)found;
    return TH_OK;
}

// An agent that walks by its route, or may.
static th_result find_free(th_world *world, th_agent_id agent, uint32_t *i, th_error *error) {
    th_result result = find(world, agent, i, error);
    if (result != TH_OK) return result;
    const th_group_state *group = &world->groups[world->agents.group[*i]];
    if (!th_moves(world->agents.phase[*i]))
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "agent %u cannot set off: it lies on the ground or follows a script",
                       agent.serial);
    if (!group->follows_route || group->led)
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "a behaviour of group '%s' decides where its agents go",
                       world->scene->groups[world->agents.group[*i]].id);
    return TH_OK;
}

static void set_off(th_world *world, uint32_t i, uint32_t leg) {
    world->agents.leg[i] = leg;
    world->agents.phase[i] = TH_PHASE_WALKING;
}

th_result th_world_send(th_world *world, th_agent_id agent, int level, th_vec2 point,
                        th_error *error) {
    const th_scene *scene = world->scene;
    uint32_t i;
    th_result result = find_free(world, agent, &i, error);
    if (result != TH_OK) return result;
    if (level < 0 || level >= scene->level_count || !(fabsf(point.x) + fabsf(point.y) < 1e6f))
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "an agent needs a point within 1000 km on one of the %d levels, not level "
                       "%d",
                       scene->level_count, level);
    if (scene->levels[level].bounded && !th_scene_walkable(scene, level, point))
        return th_fail(error, TH_BAD_ARGUMENT, "", "(%.3f, %.3f) is not walkable on level '%s'",
                       (double)point.x, (double)point.y, scene->levels[level].id);
    result = th_plan_own_goals(world, error);
    if (result != TH_OK) return result;
    world->agents.goal_x[i] = point.x;
    world->agents.goal_y[i] = point.y;
    world->agents.goal_level[i] = (uint32_t)level;
    set_off(world, i, (uint32_t)scene->groups[world->agents.group[i]].route_count);
    return TH_OK;
}

th_result th_world_set_leg(th_world *world, th_agent_id agent, int leg, th_error *error) {
    uint32_t i;
    th_result result = find_free(world, agent, &i, error);
    if (result != TH_OK) return result;
    const th_group *group = &world->scene->groups[world->agents.group[i]];
    if (leg < 0 || leg >= group->route_count)
        return th_fail(error, TH_BAD_ARGUMENT, "", "the route of group '%s' has %d legs, no leg %d",
                       group->id, group->route_count, leg);
    set_off(world, i, (uint32_t)leg);
    return TH_OK;
}

// ---- fields

static const th_field_info *own_field_info(const th_world *world, int field) {
    int used[TH_MODEL_MAX], count = th_used_models(world, used);
    for (int k = 0; k < count; ++k) {
        const th_model *model = th_models(NULL)[used[k]];
        int f = field - TH_FIELD_COUNT - world->first_own[used[k]];
        if (f >= 0 && f < model->field_count) return &model->fields[f];
    }
    return NULL;
}

static bool is_float(const th_world *world, int field) {
    static const char *const types[] = {
#define X(NAME, name, type, doc) #type,
        TH_FIELDS(X)
#undef X
    };
    if (field < TH_FIELD_COUNT) return strcmp(types[field], "float") == 0;
    return own_field_info(world, field)->is_float;
}

th_result th_world_set_field(th_world *world, th_agent_id agent, int field, double value,
                             th_error *error) {
    uint32_t i, bits = 0;
    th_result result = find(world, agent, &i, error);
    if (result != TH_OK) return result;
    if (field < 0 || field >= th_field_count(&world->agents) || field == TH_FIELD_ID)
        return th_fail(error, TH_BAD_ARGUMENT, "", "there is no field %d that can be written",
                       field);
    bool whole = !is_float(world, field);
    bool fits =
        whole ? value >= 0.0 && value <= 4294967295.0 && floor(value) == value : fabs(value) < 1e9;
    if (fits && whole)
        bits = (uint32_t)value;
    else if (fits)
        memcpy(&bits, &(float){(float)value}, sizeof bits);
    if (!fits || !th_may_become(world, i, field, bits))
        return th_fail(error, TH_BAD_ARGUMENT, "", "no agent can have %g there", value);
    ((uint32_t *)th_field_get(&world->agents, field))[i] = bits;
    th_field_written(world, i, field);
    return TH_OK;
}
