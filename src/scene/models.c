// Models as the scene names them: names to indices, presets and values to floats.
// SPDX-License-Identifier: Apache-2.0
#include "registry/models.h"
#include "core/error.h"
#include "scene/scene.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

const char *th_decision_name(th_decision decision) {
    switch (decision) {
    case TH_DECIDES_ROUTE: return "when to set off, wait and leave";
    case TH_DECIDES_LEG: return "the next leg of the route";
    case TH_DECIDES_DETOUR: return "detours to places beside the route";
    case TH_DECIDES_AIM: return "the point to walk to next";
    case TH_DECIDES_COMPANY: return "which group to follow";
    case TH_DECIDES_MOOD: return "the mood";
    case TH_DECIDES_SPEED: return "the preferred speed";
    }
    return "?";
}

const th_model_choice *th_group_model(const th_group *group, int k) {
    const th_model_choice *const others[] = {&group->plan, &group->filter, &group->move};
    if (k < 0) return NULL;
    if (k < group->behave_count) return &group->behave[k];
    k -= group->behave_count;
    return k < 3 ? others[k] : NULL;
}

static const char *stage_word(th_stage stage) {
    return stage == TH_STAGE_MOVE ? "move model" : th_stage_name(stage);
}

// With own goals the default is a plan that leads to them; with a behaviour that weighs ways itself it is the shortest way.
static int default_model(th_stage stage, bool own_goals, bool aims) {
    int usual = th_stage_default_model(stage), count;
    const th_model *const *models = th_models(&count);
    bool good = own_goals ? models[usual]->own_goals : !(aims && models[usual]->weighs_ways);
    if (stage != TH_STAGE_PLAN || good) return usual;
    for (int m = 0; m < count; ++m)
        if (models[m]->stage == stage && models[m]->own_goals == own_goals &&
            models[m]->needs_lattice && !(aims && models[m]->weighs_ways))
            return m;
    return usual;
}

static th_result unknown_name(const char *what, const char *name, const char *path,
                              const char *const *known, int count, th_error *error) {
    const char *near = count ? th_nearest_word(name, known, count) : NULL;
    if (near)
        return th_fail(error, TH_BAD_SCENE, path, "unknown %s \"%.60s\"; did you mean \"%s\"?",
                       what, name, near);
    char list[400] = "";
    for (int i = 0; i < count; ++i) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", known[i]);
    }
    return th_fail(error, TH_BAD_SCENE, path, "unknown %s \"%.60s\"; known: %s", what, name,
                   count ? list : "none");
}

static th_result unknown_model(th_stage stage, const char *name, const char *path,
                               th_error *error) {
    const char *known[TH_MODEL_MAX];
    int count = 0, all;
    const th_model *const *models = th_models(&all);
    for (int m = 0; m < all; ++m)
        if (models[m]->stage == stage && !models[m]->internal) known[count++] = models[m]->name;
    return unknown_name(stage_word(stage), name, path, known, count, error);
}

static th_result set_param(const th_model *model, const th_param *param, const char *path,
                           th_model_choice *choice, th_error *error) {
    char place[160];
    snprintf(place, sizeof place, "%s.%.60s", path, param->name);
    int index = th_model_find_param(model, param->name);
    if (index < 0) {
        const char *known[TH_PARAM_MAX + 2] = {"model", "preset"};
        for (int i = 0; i < model->param_count; ++i) known[i + 2] = model->params[i].name;
        char what[80];
        snprintf(what, sizeof what, "parameter of %s", model->name);
        return unknown_name(what, param->name, place, known, model->param_count + 2, error);
    }
    const th_param_info *info = &model->params[index];
    if (!(param->value >= info->min && param->value <= info->max))
        return th_fail(error, TH_BAD_SCENE, place,
                       "%s is %g; it must lie in %g .. %g %s (default %g)", info->name,
                       param->value, info->min, info->max,
                       strcmp(info->unit, "-") == 0 ? "" : info->unit, info->value);
    choice->params[index] = (float)param->value;
    return TH_OK;
}

static th_result set_preset(const th_model *model, const char *name, const char *path,
                            th_model_choice *choice, th_error *error) {
    for (int i = 0; i < model->preset_count; ++i) {
        if (strcmp(model->presets[i].name, name) != 0) continue;
        for (int k = 0; k < model->presets[i].param_count; ++k) {
            th_result result = set_param(model, &model->presets[i].params[k], path, choice, error);
            if (result != TH_OK) return result;
        }
        return TH_OK;
    }
    enum { MOST = 16 };
    const char *known[MOST];
    int count = 0;
    for (; count < model->preset_count && count < MOST; ++count)
        known[count] = model->presets[count].name;
    char place[160], what[80];
    snprintf(place, sizeof place, "%s.preset", path);
    snprintf(what, sizeof what, "preset of %s", model->name);
    return unknown_name(what, name, place, known, count, error);
}

th_result th_model_choose(th_stage stage, const th_model_def *def, bool own_goals, bool aims,
                          const char *path, th_model_choice *choice, th_error *error) {
    memset(choice, 0, sizeof *choice);
    choice->model =
        def->name ? th_model_find(stage, def->name) : default_model(stage, own_goals, aims);
    if (choice->model < 0) return unknown_model(stage, def->name, path, error);
    const th_model *model = th_models(NULL)[choice->model];
    for (int i = 0; i < model->param_count; ++i) choice->params[i] = (float)model->params[i].value;
    if (def->preset) {
        th_result result = set_preset(model, def->preset, path, choice, error);
        if (result != TH_OK) return result;
    }
    for (int i = 0; i < def->param_count; ++i) {
        th_result result = set_param(model, &def->params[i], path, choice, error);
        if (result != TH_OK) return result;
    }
    return th_model_check_params(model, choice->params, path, TH_BAD_SCENE, error);
}

// ---- what the bodies of a group need

static double radius_of(const th_distribution *radius, bool largest) {
    switch (radius->kind) {
    case TH_DISTRIBUTION_CONSTANT: return radius->a;
    case TH_DISTRIBUTION_UNIFORM: return largest ? radius->b : radius->a;
    default: return largest ? radius->max : radius->min;
    }
}

double th_group_gap(const th_group *group, bool largest) {
    const th_model *move = th_models(NULL)[group->move.model];
    th_body_rules body = th_model_body(move, group->move.params);
    double radius = radius_of(&group->radius, largest);
    double depth = th_is_rigid_body(group->rigid, (float)radius) ? 1.0 : (double)body.depth;
    return 2.0 * depth * radius + (double)body.gap_clearance;
}
