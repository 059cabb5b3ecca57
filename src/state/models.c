// The models of a world: which there are, what they keep, their fields by number and by name.
// SPDX-License-Identifier: Apache-2.0
#include "state/world.h"
#include <assert.h>
#include <string.h>

int th_used_models(const th_world *world, int *list) {
    int count = 0;
    for (int s = 0; s < TH_STAGE_COUNT; ++s)
        for (int k = 0; k < world->stage_model_count[s]; ++k)
            list[count++] = world->stage_models[s][k];
    return count;
}

static bool is_model(int model) {
    int count;
    th_models(&count);
    return model >= 0 && model < count;
}

void *th_model_state(const th_world *world, int model) {
    return is_model(model) ? world->model_state[model] : NULL;
}
void th_model_set_state(th_world *world, int model, void *state) {
    if (is_model(model)) world->model_state[model] = state;
}

void *th_model_field(const th_world *world, int model, int k) {
    if (!is_model(model)) return NULL;
    const th_model *found = th_models(NULL)[model];
    bool used = false;
    for (int u = 0; u < world->stage_model_count[found->stage]; ++u)
        used = used || world->stage_models[found->stage][u] == model;
    return used && k >= 0 && k < found->field_count ? world->agents.own[world->first_own[model] + k]
                                                    : NULL;
}

int th_model_used_field(const th_world *world, int model, int k) {
    if (!is_model(model)) return -1;
    const th_model *found = th_models(NULL)[model];
    return k >= 0 && k < found->use_count ? th_world_field(world, found->uses[k].field) : -1;
}

const float *th_model_params(const th_world *world, int model, int group) {
    if (group < 0 || group >= world->group_count) return NULL;
    float *params = NULL;
    for (int k = 0; th_state_model(&world->groups[group], k, &params) != TH_NO_MODEL; ++k)
        if ((int)th_state_model(&world->groups[group], k, &params) == model) return params;
    return NULL;
}

// ---- fields by number and by name

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

const char *th_field_name(th_field field) {
    static const char *const names[] = {
#define X(NAME, name, type, doc) #name,
        TH_FIELDS(X)
#undef X
    };
    return (unsigned)field < TH_FIELD_COUNT ? names[field] : "?";
}

int th_world_field(const th_world *world, const char *name) {
    if (!name) return -1;
    for (int f = 0; f < TH_FIELD_COUNT; ++f)
        if (strcmp(th_field_name((th_field)f), name) == 0) return f;
    int used[TH_MODEL_MAX], count = th_used_models(world, used);
    const char *slash = strchr(name, '/');
    size_t stage = slash ? (size_t)(slash - name) : 0;
    if (slash) name = slash + 1;
    for (int k = 0; k < count; ++k) {
        const th_model *model = th_models(NULL)[used[k]];
        const char *of = th_stage_name(model->stage);
        size_t length = strlen(model->name);
        if (slash && (strlen(of) != stage || strncmp(of, slash - stage, stage) != 0)) continue;
        if (strncmp(name, model->name, length) != 0 || name[length] != '.') continue;
        for (int f = 0; f < model->field_count; ++f)
            if (strcmp(model->fields[f].name, name + length + 1) == 0)
                return TH_FIELD_COUNT + world->first_own[used[k]] + f;
    }
    return -1;
}
