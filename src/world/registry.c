// The registry: every model of the engine, in a fixed order. Lists of parameters are expanded from the models' own
// headers, so that what `throng list` prints and what a stage reads cannot differ.
// SPDX-License-Identifier: Apache-2.0
#include "filter/densesense/densesense.h"
#include "move/helbing_molnar/helbing_molnar.h"
#include "move/orca/orca.h"
#include "move/pbd/pbd.h"
#include "move/social_force/social_force.h"
#include "move/uic/uic.h"
#include "plan/field/quickest.h"
#include "state/world.h"
#include <assert.h>

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
