// Straight to the goal; plan/preferred.h finds the way. SPDX-License-Identifier: Apache-2.0
#include "plan/plan.h"

const th_model th_plan_straight_model = {
    .cookie = TH_MODEL_COOKIE,
    .stage = TH_STAGE_PLAN,
    .name = "straight",
    .doc = "straight line to the goal, walls ignored",
    .source = "throng",
    .own_goals = true,
    .run = th_plan_people,
    .reach = th_reads_none,
};
