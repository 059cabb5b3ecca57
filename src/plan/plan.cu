// The plan stage on the device: one thread per person. SPDX-License-Identifier: Apache-2.0
#include "device/model.cuh"
#include "plan/preferred.h"

namespace th {

static_assert((int)TH_BUILT_IN_MODELS <= 64, "a bit for each model");

// The models that have a stage of their own, by their bits.
static uint64_t planning_themselves(const th_world *host) {
    uint64_t those = 0;
    for (int k = 0; k < host->stage_model_count[TH_STAGE_PLAN]; ++k) {
        int model = host->stage_models[TH_STAGE_PLAN][k];
        if (model < TH_BUILT_IN_MODELS && device_models[model]->run) those |= 1ull << model;
    }
    return those;
}

// Bodies that a script moves have no plan (-1).
TH_BOTH static inline bool is_among(uint64_t models, int plan) {
    return plan >= 0 && (models >> plan & 1);
}

// Agents with a simple way have a kernel of their own: what the others need would cost every thread registers.
template <bool straight, bool bare> void plan_people(th_world *host, uint64_t others) {
    step_sums *s = &host->device_world->sums->step;
    for_each_agent(
        host, TH_LAMBDA(th_world * world, int i) {
            th_planner planner = th_planner_of(world);
            planner.bare = bare;
            uint32_t group = world->agents.group[i];
            if (is_among(others, world->groups[group].plan)) return;
            if (th_goes_straight(&planner, group) != straight) return;
            if (th_plan_person(&planner, i, straight)) add(&s->unreachable, (uint64_t)1);
        });
}

void stage_plan(th_world *host) {
    if (th_plan_crowd_is_due(host)) {
        fetch(host, TH_FIELD_BIT(TH_FIELD_POSITION_X) | TH_FIELD_BIT(TH_FIELD_POSITION_Y) |
                        TH_FIELD_BIT(TH_FIELD_LEVEL));
        th_plan_crowd_look(host);
        send_plan(host);
        outdate(host); // the step goes on
    }
    th_planner planner = th_planner_of(host);
    bool any[2] = {false, false};
    uint64_t others = planning_themselves(host);
    for (int g = 0; g < host->scene->group_count; ++g)
        if (!is_among(others, host->groups[g].plan))
            any[th_goes_straight(&planner, (uint32_t)g)] = true;
    if (any[true] && planner.bare) plan_people<true, true>(host, others);
    if (any[true] && !planner.bare) plan_people<true, false>(host, others);
    if (any[false]) plan_people<false, false>(host, others);
    each_model_of(host, TH_STAGE_PLAN, [&](const device_model *model) {
        if (model->run) model->run(host);
    });
}

// One kernel serves all three: which way an agent goes is asked person by person.
const device_model device_plan_straight = {}, device_plan_field = {}, device_plan_roadmap = {};

} // namespace th
