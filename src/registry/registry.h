// The table of models: what the engine asks of it beyond throng/model.h. SPDX-License-Identifier: Apache-2.0
#ifndef TH_REGISTRY_REGISTRY_H
#define TH_REGISTRY_REGISTRY_H
#include "throng/model.h"

// Takes back what was registered after the first `count` models.
void th_models_forget(int count);

// The keys of scenes, and of groups, that belong to no model: at most TH_OWN_KEY_MAX.
enum { TH_OWN_KEY_MAX = 32 };
const char *const *th_scene_keys(int *count);
const char *const *th_group_keys(int *count);

int th_model_find_param(const th_model *model, const char *name); // -1: none

// Do values, each of which is within its limits, fit together, and are the model's rules for bodies in range? Else what is
// wrong, with the model's name.
th_result th_model_check_params(const th_model *model, const float *params, const char *path,
                                th_result code, th_error *error);
#endif
