// Places of interest: the loop over people. Cost O(people), and of the few that something may happen to in a step
// O(places and their outlines). SPDX-License-Identifier: Apache-2.0
#include "behave/interest/interest.h"
#include "core/parallel.h"
#include "registry/models.h"
#include "state/influences.h"
#include <stdio.h>

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

// The place that an agent goes to or looks at.
static int influences(th_world *world, int model, uint32_t i, th_influence *list, int max) {
    (void)model;
    const th_agents *a = &world->agents;
    const th_group *group = &world->scene->groups[a->group[i]];
    th_influences all = {list, 0, max};
    uint32_t detour = th_detour_of(a->leg[i]);
    if (detour == 0) return 0;
    const th_interest_place *place = th_detour_place(world->scene, group, detour);
    th_vec2 p = th_position(a, i), to = th_sub(th_nearest_on_rings(&place->area, p), p);
    th_tell(&all, (th_influence){.kind = TH_INFLUENCE_RECTANGLE,
                                 .name = "interest",
                                 .unit = "m",
                                 .at = th_add(p, th_scale(0.5f, to)),
                                 .vector = to,
                                 .size = 0.1f});
    return all.count;
}

// ---- the section of the scene

static const char *compile(void *items, int count, int *item) {
    const th_interest_place *places = items;
    for (*item = 0; *item < count; ++*item)
        if (!(places[*item].until > places[*item].from))
            return "\"until\" does not come after \"from\"; give the end of the interest later";
    return NULL;
}

static const th_key_info keys[] = {
    {.name = "area",
     .kind = TH_KEY_AREA,
     .offset = offsetof(th_interest_place, area),
     .required = true,
     .doc = "Outline of a building or of open ground; people look at it from outside."},
    {.name = "layer",
     .kind = TH_KEY_NAME,
     .offset = offsetof(th_interest_place, layer),
     .words = "other",
     .doc = "What kind of place it is, a word of your own. Default other."},
    {.name = "strength",
     .kind = TH_KEY_NUMBER,
     .offset = offsetof(th_interest_place, strength),
     .unit = "-",
     .min = 0,
     .above = true,
     .max = 10,
     .value = 1,
     .doc = "Factor on its interest, default 1."},
    {.name = "from",
     .kind = TH_KEY_NUMBER,
     .offset = offsetof(th_interest_place, from),
     .unit = "s",
     .min = 0,
     .max = 1e7,
     .doc = "When it begins to be of interest [s], default 0."},
    {.name = "until",
     .kind = TH_KEY_NUMBER,
     .offset = offsetof(th_interest_place, until),
     .unit = "s",
     .min = 0,
     .above = true,
     .max = 1e7,
     .value = (double)INFINITY,
     .doc = "When that ends [s]; default: never."},
};
static const th_section_info section = {
    .name = "interests",
    .item = "interest",
    .doc = "Places that draw people whose behaviour is \"interest\".",
    .item_size = sizeof(th_interest_place),
    .keys = keys,
    .key_count = TH_COUNT_OF(keys),
    .max_items = 255, // each has a distance field of its own
    .colour = 0xcc4073,
    .detours = true,
    .needed = true,
    .group_key = "interested_in",
    .group_doc = "Layers that the group cares for, with weights or without (1). Default: all.",
    .compile = compile,
};

static bool idle(const th_scene *scene, int group, const float *params, char *text, size_t size) {
    (void)group, (void)params;
    double end = scene->run.duration > 0.0 ? scene->run.duration : scene->run.max_time;
    int count;
    const th_interest_place *places = th_scene_items(scene, section.name, &count);
    for (int k = 0; k < count; ++k) {
        if ((double)places[k].from < end) continue;
        snprintf(text, size,
                 "the interest \"%.40s\" has no effect: it begins at %g s and the run ends at %g s",
                 places[k].item.id, (double)places[k].from, end);
        return true;
    }
    return false;
}

#define PLACE(k) \
    { "place_" #k, false, true, "1 + detour to a place that leaves it cold, 0: none", NULL }
#define UNTIL(k) \
    { "until_" #k, true, true, "until when place_" #k " does [s]", NULL }
static const th_field_info fields[TH_INTEREST_FIELDS] = {
    {"looks", false, true, "places looked at", "places looked at"},
    {"since", true, true, "when it was drawn to a place [s]", NULL},
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
    .sections = &section,
    .section_count = 1,
    .run = run,
    .reach = th_reads_none,
    .fields_are_sound = fields_are_sound,
    .decides = TH_DECIDES_DETOUR,
    .check = check,
    .idle = idle,
    .influences = influences,
};
