// One model of a world made by hand, run as the step runs it. SPDX-License-Identifier: Apache-2.0
#ifndef TH_TESTS_RUN_MODEL_H
#define TH_TESTS_RUN_MODEL_H
#include "state/world.h"

static inline void run_model(th_world *world, th_model_id model) {
    th_models(NULL)[model]->run(world, (int)model);
}

// The plan stage: every plan model's people.
static inline void run_plans(th_world *world) {
    world->counters.unreachable = 0;
    run_model(world, TH_PLAN_STRAIGHT);
    run_model(world, TH_PLAN_FIELD);
    run_model(world, TH_PLAN_ROADMAP);
}
#endif
