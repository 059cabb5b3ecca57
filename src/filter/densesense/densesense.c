// DenseSense: the loop over people. Cost O(people x (people in a box around the Gaussian ahead + directions
// looked at x the same / 16)); most of the time one direction is looked at. Agents that may count are copied
// together first, so that the sums run over plain arrays without a branch. Model, additions and what is left
// out: docs/models/densesense.md. SPDX-License-Identifier: Apache-2.0
#include "filter/densesense/densesense.h"
#include "core/parallel.h"
#include "state/influences.h"

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
        if (!who.all) {
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

// ---- influences on a person: the speed that the density leaves in every direction of the arc

// The neighbours that the filter sees around an agent, for all directions of the arc.
static void list_around(const th_world *world, const th_densesense_walker *who, int half,
                        float spacing, th_densesense_around *list) {
    if (who->all) {
        th_box box = th_densesense_empty_box();
        for (int n = 0; n <= 2 * half; ++n) {
            th_vec2 turn = th_densesense_turn(th_densesense_arc_angle(spacing, n));
            th_densesense_cover(who, th_densesense_direction_of(who, turn), &box);
        }
        th_densesense_list_box(who, &box, list);
    } else {
        th_candidates candidates = {.count = -1};
        th_nearest nearest;
        th_find_nearest(world, &candidates, who->self, (int)who->params->density_neighbours,
                        who->params->density_range, &nearest);
        th_densesense_list_nearest(who, &nearest, list);
    }
    th_densesense_drop_hidden(who, list);
}

// The plan's velocity is gone once it is filtered: it is taken as the walking speed in the direction that the own turn
// leads back to.
static int influences(th_world *world, int model, uint32_t i, th_influence *list, int max) {
    const th_agents *a = &world->agents;
    th_vec2 filtered = th_unit(th_v(a->preferred_x[i], a->preferred_y[i]));
    th_influences all = {list, 0, max};
    th_walls walls = th_world_walls(world);
    th_densesense_walker who;
    th_densesense_around around;
    if (!th_densesense_filters(world, (int)i)) return 0;
    for (int j = 0; j < a->count; ++j) th_densesense_note_heading(world, (uint32_t)j);
    th_densesense_take_group(&who, &world->groups[a->group[i]]);
    th_vec2 back = th_densesense_turn(-th_own_floats(world, (th_model_id)model, 0)[i]);
    th_vec2 planned =
        th_v(back.x * filtered.x - back.y * filtered.y, back.y * filtered.x + back.x * filtered.y);
    if (!th_densesense_take_walker(world, &walls, &who, (int)i, th_scale(a->speed[i], planned)))
        return 0;
    float spacing;
    int half = th_densesense_arc_half(who.params, &spacing);
    list_around(world, &who, half, spacing, &around);
    for (int n = 0; n <= 2 * half; ++n) {
        th_vec2 turn = th_densesense_turn(th_densesense_arc_angle(spacing, n));
        th_vec2 e = th_densesense_direction_of(&who, turn);
        th_tell_vector(&all, "speed left by density", "m/s", who.p,
                       th_scale(th_densesense_speed_towards(&who, &around, e, false), e), 0);
    }
    float reach = th_min(who.reach, th_densesense_reach(who.params));
    th_tell(&all, (th_influence){.kind = TH_INFLUENCE_RECTANGLE,
                                 .name = "where density is felt",
                                 .unit = "m",
                                 .at = th_add(who.p, th_scale(who.params->look_ahead, filtered)),
                                 .vector = th_scale(2.0f * reach, filtered),
                                 .size = 2.0f * reach / who.params->lateral_stretch});
    th_tell_figure(&all, "density ahead", who.params->areal_density >= 0.5f ? "1/m2" : "1/m",
                   th_densesense_density_towards(&who, &around, filtered, true));
    return all.count;
}

// Per person: from the planned to the filtered direction, left positive.
static const th_field_info fields[] = {
    {.name = "turn",
     .is_float = true,
     .doc = "from the planned to the filtered direction, left positive [rad]",
     .label = "turn off the planned way"}};
static float reach(const th_world *world, const float *values) {
    (void)world;
    const th_densesense_params *p = (const th_densesense_params *)(const void *)values;
    // The density is felt around a place ahead; the kernel is cut at its reach in each axis.
    return th_max(1.5f * p->density_range, p->look_ahead + 1.5f * th_densesense_reach(p));
}

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
    .reach = reach,
    .influences = influences,
};
