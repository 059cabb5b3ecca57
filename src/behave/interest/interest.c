// Places of interest: the loop over people. Cost O(people), and of the few for whom something could happen in a step
// O(places and their outlines). SPDX-License-Identifier: Apache-2.0
#include "behave/interest/interest.h"
#include "core/parallel.h"
#include "state/influences.h"

static void run(th_world *world, int model) {
    (void)model;
    th_walls walls = th_world_walls(world);
#pragma omp parallel for num_threads(world->threads) schedule(static)
    for (int i = 0; i < world->agents.count; ++i) th_interest_behave(world, &walls, (uint32_t)i);
}

// Bytes from outside: places are detours of the group.
static bool fields_are_sound(const th_world *world, int model, int group, const uint32_t *fields) {
    (void)model;
    for (int k = 0; k < TH_INTEREST_KNOWN; ++k)
        if (fields[TH_INTEREST_PLACE + k] > (uint32_t)world->scene->groups[group].detour_count)
            return false;
    return true;
}

static const char *check(const float *values, int *param) {
    const th_interest_params *p = (const th_interest_params *)(const void *)values;
    if (p->browse_decay >= p->attract_decay) return NULL;
    *param = (int)(&p->browse_decay - values);
    return "people would stop where they are not drawn to; make browse_decay at least "
           "attract_decay";
}

// Where somebody goes or looks.
static int influences(th_world *world, int model, uint32_t i, th_influence *list, int max) {
    (void)model;
    const th_agents *a = &world->agents;
    const th_group *group = &world->scene->groups[a->group[i]];
    th_influences all = {list, 0, max};
    uint32_t detour = th_detour_of(a->leg[i]);
    if (detour == 0) return 0;
    const th_goal *place = th_detour_goal(world->scene, group, detour);
    th_vec2 p = th_position(a, i), to = th_sub(th_nearest_on_rings(&place->area.shape, p), p);
    th_tell(&all, (th_influence){.kind = TH_INFLUENCE_RECTANGLE,
                                 .name = "interest",
                                 .unit = "m",
                                 .at = th_add(p, th_scale(0.5f, to)),
                                 .vector = to,
                                 .size = 0.1f});
    return all.count;
}

#define PLACE(k) \
    { "place_" #k, false, true, "1 + detour to a place that leaves it cold, 0: none" }
#define UNTIL(k) \
    { "until_" #k, true, true, "until when place_" #k " does [s]" }
static const th_field_info fields[TH_INTEREST_FIELDS] = {
    {"looks", false, true, "places looked at"},
    {"since", true, true, "when it was drawn to a place [s]"},
    PLACE(0),
    PLACE(1),
    PLACE(2),
    PLACE(3),
    UNTIL(0),
    UNTIL(1),
    UNTIL(2),
    UNTIL(3),
};
static const th_param_info params[] = {TH_INTEREST_PARAMS(TH_PARAM_INFO)};
const th_model th_behave_interest_model = {
    .cookie = TH_MODEL_COOKIE,
    .stage = TH_STAGE_BEHAVE,
    .name = "interest",
    .doc = "walk the route, be drawn to places of interest, stop, look, go on",
    .source = TH_CHENG_E,
    .params = params,
    .param_count = TH_COUNT_OF(params),
    .fields = fields,
    .field_count = TH_INTEREST_FIELDS,
    .run = run,
    .fields_are_sound = fields_are_sound,
    .decides = TH_DECIDES_DETOUR,
    .check = check,
    .influences = influences,
};
