// The table of models: those of src/state/models.h, then those that a program registers.
// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "state/world.h"
#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <string.h>

#define X(STAGE, NAME, stage, name) extern const th_model th_##stage##_##name##_model;
TH_MODELS(X)
#undef X

static const th_model *models[TH_MODEL_MAX] = {
#define X(STAGE, NAME, stage, name) &th_##stage##_##name##_model,
    TH_MODELS(X)
#undef X
};
static_assert((int)TH_BUILT_IN_MODELS <= (int)TH_MODEL_MAX, "raise TH_MODEL_MAX");
static int model_count = TH_BUILT_IN_MODELS;

th_model th_model_default(void) { return (th_model){.cookie = TH_MODEL_COOKIE}; }

const th_model *const *th_models(int *count) {
    if (count) *count = model_count;
    return models;
}

int th_model_find(th_stage stage, const char *name) {
    for (int m = 0; m < model_count; ++m)
        if (models[m]->stage == stage && !models[m]->internal && strcmp(models[m]->name, name) == 0)
            return m;
    return -1;
}

int th_model_default_of(th_stage stage) {
    for (int m = 0; m < model_count; ++m)
        if (models[m]->stage == stage && models[m]->is_default) return m;
    return -1;
}

// ---- what a description from outside must have

static bool is_word(const char *text) {
    if (!text || !(isalpha((unsigned char)text[0]))) return false;
    size_t length = strlen(text);
    for (size_t k = 0; k < length; ++k)
        if (!isalnum((unsigned char)text[k]) && text[k] != '_') return false;
    return length < 40;
}

static th_result check_params(const th_model *model, th_error *error) {
    for (int p = 0; p < model->param_count; ++p) {
        const th_param_info *info = &model->params[p];
        if (!is_word(info->name))
            return th_fail(error, TH_BAD_ARGUMENT, "",
                           "model \"%s\": parameter %d has no name of letters, digits and _",
                           model->name, p);
        if (!info->unit || !info->source || !info->doc)
            return th_fail(
                error, TH_BAD_ARGUMENT, "",
                "model \"%s\": parameter \"%s\" needs unit (\"-\" for none), source and doc",
                model->name, info->name);
        if (!(isfinite(info->min) && isfinite(info->max) && info->min <= info->value &&
              info->value <= info->max))
            return th_fail(error, TH_BAD_ARGUMENT, "",
                           "model \"%s\": the default %g of \"%s\" does not lie in %g .. %g",
                           model->name, info->value, info->name, info->min, info->max);
        for (int q = 0; q < p; ++q)
            if (strcmp(model->params[q].name, info->name) == 0)
                return th_fail(error, TH_BAD_ARGUMENT, "", "model \"%s\" has two parameters \"%s\"",
                               model->name, info->name);
    }
    return TH_OK;
}

static th_result check_lists(const th_model *model, th_error *error) {
    if (model->param_count < 0 || model->param_count > TH_PARAM_MAX ||
        (model->param_count > 0 && !model->params))
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "model \"%s\" has %d parameters; there may be 0 to %d, in `params`",
                       model->name, model->param_count, TH_PARAM_MAX);
    if (model->field_count < 0 || model->field_count > TH_OWN_FIELD_MAX ||
        (model->field_count > 0 && !model->fields))
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "model \"%s\" has %d fields; there may be 0 to %d, in `fields`", model->name,
                       model->field_count, TH_OWN_FIELD_MAX);
    for (int f = 0; f < model->field_count; ++f)
        if (!is_word(model->fields[f].name))
            return th_fail(error, TH_BAD_ARGUMENT, "",
                           "model \"%s\": field %d has no name of letters, digits and _",
                           model->name, f);
    return check_params(model, error);
}

th_result th_model_register(const th_model *model, th_error *error) {
    if (!model || model->cookie != TH_MODEL_COOKIE)
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "the description was not made by th_model_default(); start from it");
    if (!is_word(model->name))
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "a model needs a name of letters, digits and _, beginning with a letter");
    if (model->stage != TH_STAGE_BEHAVE && model->stage != TH_STAGE_PLAN &&
        model->stage != TH_STAGE_FILTER && model->stage != TH_STAGE_MOVE)
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "model \"%s\": stage must be TH_STAGE_BEHAVE, PLAN, FILTER or MOVE",
                       model->name);
    if (!model->doc || !model->source)
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "model \"%s\" needs doc (one line) and source (paper or author)",
                       model->name);
    if (!model->run)
        return th_fail(error, TH_BAD_ARGUMENT, "", "model \"%s\" has no function that runs it",
                       model->name);
    if (th_model_find(model->stage, model->name) >= 0)
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "there is a model \"%s\" of this stage already; give yours another name",
                       model->name);
    if (model->is_default || model->internal)
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "model \"%s\": is_default and internal are for the engine's own models",
                       model->name);
    th_result result = check_lists(model, error);
    if (result != TH_OK) return result;
    if (model_count == TH_MODEL_MAX)
        return th_fail(error, TH_FULL, "", "there are %d models already, the most there can be",
                       TH_MODEL_MAX);
    models[model_count++] = model;
    return TH_OK;
}

// ---- for the functions of a model

void *th_model_state(const th_world *world, int model) { return world->model_state[model]; }
void th_model_set_state(th_world *world, int model, void *state) {
    world->model_state[model] = state;
}

void *th_model_field(const th_world *world, int model, int k) {
    const th_model *found = models[model];
    bool used = false;
    for (int u = 0; u < world->stage_model_count[found->stage]; ++u)
        used = used || world->stage_models[found->stage][u] == model;
    return used && k >= 0 && k < found->field_count ? world->agents.own[world->first_own[model] + k]
                                                    : NULL;
}

const float *th_model_params(const th_world *world, th_stage stage, int group) {
    const th_group_state *state = &world->groups[group];
    switch (stage) {
    case TH_STAGE_BEHAVE: return state->behave_params;
    case TH_STAGE_PLAN: return state->plan_params;
    case TH_STAGE_FILTER: return state->filter_params;
    case TH_STAGE_MOVE: return state->move_params;
    default: return NULL;
    }
}
