// DenseSense: the loop over people. Cost O(people x (people in a box around the Gaussian ahead + directions
// looked at x the same / 16)); most of the time one direction is looked at. Whoever may count is copied
// together first, so that the sums run over plain arrays without a branch. Model, additions and what is left
// out: docs/models/densesense.md. SPDX-License-Identifier: Apache-2.0
#include "filter/densesense/densesense.h"
#include "core/parallel.h"

TH_CLONES static void filter_block(th_world *world, const th_walls *walls, int begin, int end) {
    const th_agents *agents = &world->agents;
    th_candidates candidates;
    th_densesense_around list;
    candidates.count = -1;
    th_densesense_walker who;
    uint32_t of_group = UINT32_MAX;
    for (int i = begin; i < end; ++i) {
        if (!th_densesense_filters(world, i)) continue;
        if (agents->group[i] != of_group)
            th_densesense_take_group(&who, &world->groups[agents->group[i]]);
        of_group = agents->group[i];
        if (!th_densesense_take_person(world, walls, &who, i)) continue;
        if (!who.everybody) {
            th_nearest nearest;
            th_find_nearest(world, &candidates, who.self, (int)who.params->density_neighbours,
                            who.params->density_range, &nearest);
            th_densesense_list_nearest(&who, &nearest, &list);
        }
        th_densesense_filter(world, &who, &list);
    }
}

static void run(th_world *world, int model) {
    (void)model;
    th_walls walls = th_world_walls(world);
    int count = world->agents.count, blocks = th_block_count(count);
#pragma omp parallel for num_threads(world->threads) schedule(static)
    for (int i = 0; i < count; ++i) th_densesense_note_heading(world, (uint32_t)i);
#pragma omp parallel for num_threads(world->threads) schedule(dynamic, 1)
    for (int b = 0; b < blocks; ++b)
        filter_block(world, &walls, b * TH_BLOCK,
                     (b + 1) * TH_BLOCK < count ? (b + 1) * TH_BLOCK : count);
}

// Per person: from the planned to the filtered direction, left positive.
static const th_field_info fields[] = {
    {.name = "turn",
     .is_float = true,
     .doc = "from the planned to the filtered direction, left positive [rad]"}};
static const th_param_info params[] = {TH_DENSESENSE_PARAMS(TH_PARAM_INFO)};
TH_DENSESENSE_PRESETS(TH_PRESET_VALUES)
static const th_preset_info presets[] = {TH_DENSESENSE_PRESETS(TH_PRESET_INFO)};
const th_model th_filter_densesense_model = {
    .cookie = TH_MODEL_COOKIE,
    .stage = TH_STAGE_FILTER,
    .name = "densesense",
    .doc = "slower where it is dense ahead, and around it where there is room",
    .source = "Best, Narang, Curtis, Manocha 2014",
    .params = params,
    .param_count = TH_COUNT_OF(params),
    .presets = presets,
    .preset_count = TH_COUNT_OF(presets),
    .fields = fields,
    .field_count = TH_COUNT_OF(fields),
    .run = run,
};
