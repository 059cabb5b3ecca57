// The registry: a line per model, in the order in which `throng list` shows them. A line gives the model its number
// (TH_MOVE_ORCA) and names its description (th_move_orca_model, in src/move/orca/orca.c); nothing else in the engine knows a
// model by name. SPDX-License-Identifier: Apache-2.0
#ifndef TH_REGISTRY_MODELS_H
#define TH_REGISTRY_MODELS_H
#include "throng/model.h"

// X(STAGE, NAME, stage, name)
#define TH_MODELS(X)                                            \
    X(BEHAVE, ROUTE, behave, route)                             \
    X(BEHAVE, HIDAC, behave, hidac)                             \
    X(BEHAVE, UNDECIDED, behave, undecided)                     \
    X(BEHAVE, INTEREST, behave, interest)                       \
    X(PLAN, STRAIGHT, plan, straight)                           \
    X(PLAN, FIELD, plan, field)                                 \
    X(PLAN, ROADMAP, plan, roadmap)                             \
    X(PLAN, CONTINUUM, plan, continuum)                         \
    X(PLAN, GUIDED, plan, guided)                               \
    X(PLAN, QUICKEST, plan, quickest)                           \
    X(FILTER, NONE, filter, none)                               \
    X(FILTER, DENSESENSE, filter, densesense)                   \
    X(FILTER, KEEP_SIDE, filter, keep_side)                     \
    X(MOVE, SCRIPTED, move, scripted)                           \
    X(MOVE, PEOPLE, move, people)                               \
    X(MOVE, ORCA, move, orca)                                   \
    X(MOVE, SOCIAL_FORCE, move, social_force)                   \
    X(MOVE, HELBING_MOLNAR, move, helbing_molnar)               \
    X(MOVE, COLLISION_FREE_SPEED, move, collision_free_speed)   \
    X(MOVE, ANTICIPATION_VELOCITY, move, anticipation_velocity) \
    X(MOVE, POWER_LAW, move, power_law)                         \
    X(MOVE, UIC, move, uic)                                     \
    X(MOVE, PBD, move, pbd)                                     \
    X(MOVE, HIDAC, move, hidac)                                 \
    X(MOVE, COLONIZATION, move, colonization)

typedef enum th_model_id {
    TH_NO_MODEL = -1,
#define X(STAGE, NAME, stage, name) TH_##STAGE##_##NAME,
    TH_MODELS(X)
#undef X
        TH_BUILT_IN_MODELS
} th_model_id;

// ---- the table of models: what the engine asks of it beyond throng/model.h

// Takes back what was registered after the first `count` models.
void th_models_forget(int count);

// The keys of scenes, and of groups, that belong to no model: at most TH_OWN_KEY_MAX.
enum { TH_OWN_KEY_MAX = 32 };
const char *const *th_scene_keys(int *count);
const char *const *th_group_keys(int *count);

// `reach` of models that read no other agents.
float th_reads_none(const th_world *world, const float *params);

int th_model_find_param(const th_model *model, const char *name); // -1: none

// Do values, each of which is within its limits, fit together, and are the model's rules for bodies in range? Else what is
// wrong, with the model's name.
th_result th_model_check_params(const th_model *model, const float *params, const char *path,
                                th_result code, th_error *error);
#endif
