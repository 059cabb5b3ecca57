// The field list, expanded: allocation, names, access by number. SPDX-License-Identifier: Apache-2.0
#include "world/world.h"
#include <assert.h>
#include <string.h>

#define X(NAME, name, type, doc) \
    static_assert(sizeof(type) == 4, "fields are four bytes wide: " #name);
TH_FIELDS(X)
#undef X

void *th_field_get(const th_agents *agents, int field) {
    if (field >= TH_FIELD_COUNT) return agents->own[field - TH_FIELD_COUNT];
    switch ((th_field)field) {
#define X(NAME, name, type, doc) \
    case TH_FIELD_##NAME: return agents->name;
        TH_FIELDS(X)
#undef X
    default: return NULL;
    }
}

void th_field_set(th_agents *agents, int field, void *array) {
    if (field >= TH_FIELD_COUNT) agents->own[field - TH_FIELD_COUNT] = array;
    switch ((th_field)field) {
#define X(NAME, name, type, doc) \
    case TH_FIELD_##NAME: agents->name = array; break;
        TH_FIELDS(X)
#undef X
    default: break;
    }
}

static bool indices_are_sound(const th_world *world, const uint32_t *bits) {
    const th_scene *scene = world->scene;
    uint32_t levels = (uint32_t)scene->level_count, groups = (uint32_t)scene->group_count;
    uint32_t group = bits[TH_FIELD_GROUP], phase = bits[TH_FIELD_PHASE];
    if (bits[TH_FIELD_LEVEL] >= levels || bits[TH_FIELD_GOAL_LEVEL] >= levels ||
        group >= (uint32_t)world->group_count || phase >= TH_PHASE_COUNT)
        return false;
    uint32_t detours = group < groups ? (uint32_t)scene->groups[group].detour_count : 0;
    if (th_detour_of(bits[TH_FIELD_LEG]) > detours) return false;
    bool scripted = phase == TH_PHASE_SCRIPTED || phase == TH_PHASE_BODY;
    return scripted == (group >= groups) || th_gone(phase);
}

// Numbers of models: finite, and whatever the model itself demands.
static bool own_fields_are_sound(const th_world *world, const uint32_t *bits) {
    th_group_state *group = &world->groups[bits[TH_FIELD_GROUP]];
    float *params;
    for (int c = 0; th_state_model(group, c, &params) != TH_NO_MODEL; ++c) {
        int chosen = (int)th_state_model(group, c, &params);
        const th_model *model = th_models(NULL)[chosen];
        const uint32_t *own = bits + TH_FIELD_COUNT + world->first_own[chosen];
        for (int f = 0; f < model->field_count; ++f) {
            float value;
            memcpy(&value, &own[f], sizeof value);
            if (model->fields[f].is_float && !(value >= -1e6f && value <= 1e6f)) return false;
        }
        if (model->fields_are_sound &&
            !model->fields_are_sound(world, chosen, (int)bits[TH_FIELD_GROUP], own))
            return false;
    }
    return true;
}

bool th_agent_is_sound(const th_world *world, const uint32_t *bits) {
    static const th_field numbers[] = {
        TH_FIELD_POSITION_X,  TH_FIELD_POSITION_Y,  TH_FIELD_VELOCITY_X, TH_FIELD_VELOCITY_Y,
        TH_FIELD_PREFERRED_X, TH_FIELD_PREFERRED_Y, TH_FIELD_RADIUS,     TH_FIELD_SPEED,
        TH_FIELD_MASS,        TH_FIELD_GOAL_X,      TH_FIELD_GOAL_Y,     TH_FIELD_WAIT_UNTIL,
        TH_FIELD_START_TIME};
    const float farthest = 1e6f; // [m] fifty times the largest scene
    const float latest = 1e9f;   // [s]
    const float largest = 5.0f;  // [m] of a radius: a scripted person's limit
    float value[TH_FIELD_COUNT];
    memcpy(value, bits, sizeof value);
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; ++k) {
        bool is_time = numbers[k] == TH_FIELD_WAIT_UNTIL || numbers[k] == TH_FIELD_START_TIME;
        float limit = is_time ? latest : farthest;
        if (!(value[numbers[k]] >= -limit && value[numbers[k]] <= limit)) return false;
    }
    return value[TH_FIELD_RADIUS] > 0.0f && value[TH_FIELD_RADIUS] <= largest &&
           value[TH_FIELD_SPEED] >= 0.0f && value[TH_FIELD_MASS] >= 0.0f &&
           indices_are_sound(world, bits) && own_fields_are_sound(world, bits);
}

// Everything of th_agents that is not a field: written and read within a step.
#define WORK_ARRAYS(X) \
    X(next_position_x) \
    X(next_position_y) \
    X(next_velocity_x) \
    X(next_velocity_y) \
    X(separated_x)     \
    X(separated_y) X(substep_velocity_x) X(substep_velocity_y) X(cell) X(order) X(slot)

void th_agents_create(th_world *world, int capacity, int own_count) {
    th_agents *agents = &world->agents;
    th_arena *arena = &world->arena;
    *agents = (th_agents){.capacity = capacity, .own_count = own_count};
    size_t n = (size_t)capacity + TH_ARRAY_PAD, fields = (size_t)th_field_count(agents);
    agents->own = th_arena_alloc(arena, (size_t)own_count, sizeof *agents->own);
    world->own_hash_factor =
        th_arena_alloc(arena, (size_t)own_count, sizeof *world->own_hash_factor);
    world->other_field = th_arena_alloc(arena, fields, sizeof *world->other_field);
    world->views = th_arena_alloc(arena, fields, sizeof *world->views);
    world->view_access = th_arena_alloc(arena, fields, sizeof *world->view_access);
    world->one_agent = th_arena_alloc(arena, fields, sizeof *world->one_agent);
    if (arena->failed) return;
    for (int f = 0; f < th_field_count(agents); ++f) {
        th_field_set(agents, f, th_arena_alloc(arena, n, 4));
        world->other_field[f] = th_arena_alloc(arena, n, 4);
    }
#define X(name) agents->name = th_arena_alloc(arena, n, 4);
    WORK_ARRAYS(X)
#undef X
}
