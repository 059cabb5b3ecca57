// The table of models behind th_models(): every list of parameters is expanded from its formula header, so
// that what `throng list` prints and what a stage reads cannot differ.
// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "formula/densesense.h"
#include "formula/helbing_molnar.h"
#include "formula/orca.h"
#include "formula/pbd.h"
#include "formula/quickest.h"
#include "formula/social_force.h"
#include "formula/uic.h"
#include "scene/scene.h"
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

#define INFO(name, value, min, max, unit, source, doc) {#name, unit, min, max, value, source, doc},
static const th_param_info field_params[] = {TH_FIELD_PLAN_PARAMS(INFO)};
static const th_param_info densesense_params[] = {TH_DENSESENSE_PARAMS(INFO)};
static const th_param_info orca_params[] = {TH_ORCA_PARAMS(INFO)};
static const th_param_info social_force_params[] = {TH_SOCIAL_FORCE_PARAMS(INFO)};
static const th_param_info helbing_molnar_params[] = {TH_HELBING_MOLNAR_PARAMS(INFO)};
static const th_param_info uic_params[] = {TH_UIC_PARAMS(INFO)};
static const th_param_info pbd_params[] = {TH_PBD_PARAMS(INFO)};
#undef INFO

static_assert(sizeof(densesense_params) / sizeof(th_param_info) <= TH_PARAM_MAX,
              "raise TH_PARAM_MAX");
static_assert(sizeof(orca_params) / sizeof(th_param_info) <= TH_PARAM_MAX, "raise TH_PARAM_MAX");
static_assert(sizeof(social_force_params) / sizeof(th_param_info) <= TH_PARAM_MAX,
              "raise TH_PARAM_MAX");
static_assert(sizeof(helbing_molnar_params) / sizeof(th_param_info) <= TH_PARAM_MAX,
              "raise TH_PARAM_MAX");
static_assert(sizeof(uic_params) / sizeof(th_param_info) <= TH_PARAM_MAX, "raise TH_PARAM_MAX");
static_assert(sizeof(pbd_params) / sizeof(th_param_info) <= TH_PARAM_MAX, "raise TH_PARAM_MAX");

// A formula header may list presets: X(name, "doc", {"param", value}, ...).
#define PRESET_VALUES(name, doc, ...) static const th_param preset_##name[] = {__VA_ARGS__};
#define PRESET_INFO(name, doc, ...) {#name, doc, preset_##name, COUNT(preset_##name)},
TH_DENSESENSE_PRESETS(PRESET_VALUES)
TH_SOCIAL_FORCE_PRESETS(PRESET_VALUES)
TH_HELBING_MOLNAR_PRESETS(PRESET_VALUES)
TH_UIC_PRESETS(PRESET_VALUES)
static const th_preset_info densesense_presets[] = {TH_DENSESENSE_PRESETS(PRESET_INFO)};
static const th_preset_info social_force_presets[] = {TH_SOCIAL_FORCE_PRESETS(PRESET_INFO)};
static const th_preset_info helbing_molnar_presets[] = {TH_HELBING_MOLNAR_PRESETS(PRESET_INFO)};
static const th_preset_info uic_presets[] = {TH_UIC_PRESETS(PRESET_INFO)};
#undef PRESET_VALUES
#undef PRESET_INFO

static const th_model_info models[] = {
    [TH_PLAN_STRAIGHT] = {TH_STAGE_PLAN, "straight", "straight line to the goal, walls ignored",
                          "throng", NULL, 0, NULL, 0},
    [TH_PLAN_FIELD] = {TH_STAGE_PLAN, "field",
                       "down the walking-distance field of the goal, shared by all who want it",
                       "eikonal equation; Sethian 1996", field_params, COUNT(field_params), NULL,
                       0},
    [TH_PLAN_ROADMAP] = {TH_STAGE_PLAN, "roadmap",
                         "over a shared road map, for people who each have a goal of their own",
                         "Kavraki et al. 1996", NULL, 0, NULL, 0},
    [TH_FILTER_NONE] = {TH_STAGE_FILTER, "none", "the planned velocity as it is", "throng", NULL, 0,
                        NULL, 0},
    [TH_FILTER_DENSESENSE] = {TH_STAGE_FILTER, "densesense",
                              "slower where it is dense ahead, and around it where there is room",
                              "Best, Narang, Curtis, Manocha 2014", densesense_params,
                              COUNT(densesense_params), densesense_presets,
                              COUNT(densesense_presets)},
    [TH_MOVE_ORCA] = {TH_STAGE_MOVE, "orca", "optimal reciprocal collision avoidance",
                      "van den Berg, Guy, Lin, Manocha 2011", orca_params, COUNT(orca_params), NULL,
                      0},
    [TH_MOVE_SOCIAL_FORCE] = {TH_STAGE_MOVE, "social_force",
                              "social and contact forces, integrated in sub-steps",
                              "Helbing, Farkas, Vicsek 2000", social_force_params,
                              COUNT(social_force_params), social_force_presets,
                              COUNT(social_force_presets)},
    [TH_MOVE_HELBING_MOLNAR] = {TH_STAGE_MOVE, "helbing_molnar",
                                "social forces with elliptic potentials and a field of view",
                                "Helbing, Molnar 1995", helbing_molnar_params,
                                COUNT(helbing_molnar_params), helbing_molnar_presets,
                                COUNT(helbing_molnar_presets)},
    [TH_MOVE_UIC] = {TH_STAGE_MOVE, "uic",
                     "unilateral incompressibility: a flow that may not be packed too densely",
                     "Narain, Golas, Curtis, Lin 2009", uic_params, COUNT(uic_params), uic_presets,
                     COUNT(uic_presets)},
    [TH_MOVE_PBD] = {TH_STAGE_MOVE, "pbd",
                     "position-based dynamics: contacts, friction and avoidance as constraints",
                     "Weiss, Litteneker, Jiang, Terzopoulos 2017", pbd_params, COUNT(pbd_params),
                     NULL, 0},
};
static_assert(sizeof models / sizeof models[0] == TH_MODEL_COUNT, "one row per th_model");

const th_model_info *th_models(int *count) {
    if (count) *count = TH_MODEL_COUNT;
    return models;
}

int th_model_find(th_stage stage, const char *name) {
    for (int i = 0; i < TH_MODEL_COUNT; ++i)
        if (models[i].stage == stage && strcmp(models[i].name, name) == 0) return i;
    return -1;
}

static const char *stage_word(th_stage stage) {
    return stage == TH_STAGE_PLAN ? "plan" : stage == TH_STAGE_FILTER ? "filter" : "move model";
}

static int default_model(th_stage stage) {
    return stage == TH_STAGE_PLAN     ? TH_PLAN_FIELD
           : stage == TH_STAGE_FILTER ? TH_FILTER_NONE
                                      : TH_MOVE_ORCA;
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
    const char *known[TH_MODEL_COUNT];
    int count = 0;
    for (int i = 0; i < TH_MODEL_COUNT; ++i)
        if (models[i].stage == stage) known[count++] = models[i].name;
    return unknown_name(stage_word(stage), name, path, known, count, error);
}

static int find_param(const th_model_info *model, const char *name) {
    for (int i = 0; i < model->param_count; ++i)
        if (strcmp(model->params[i].name, name) == 0) return i;
    return -1;
}

static th_result set_param(const th_model_info *model, const th_param *param, const char *path,
                           th_model_choice *choice, th_error *error) {
    char place[160];
    snprintf(place, sizeof place, "%s.%.60s", path, param->name);
    int index = find_param(model, param->name);
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

static th_result set_preset(const th_model_info *model, const char *name, const char *path,
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

th_result th_model_choose(th_stage stage, const th_model_def *def, const char *path,
                          th_model_choice *choice, th_error *error) {
    memset(choice, 0, sizeof *choice);
    choice->model = def->name ? th_model_find(stage, def->name) : default_model(stage);
    if (choice->model < 0) return unknown_model(stage, def->name, path, error);
    const th_model_info *model = &models[choice->model];
    for (int i = 0; i < model->param_count; ++i) choice->params[i] = (float)model->params[i].value;
    if (def->preset) {
        th_result result = set_preset(model, def->preset, path, choice, error);
        if (result != TH_OK) return result;
    }
    for (int i = 0; i < def->param_count; ++i) {
        th_result result = set_param(model, &def->params[i], path, choice, error);
        if (result != TH_OK) return result;
    }
    return TH_OK;
}
