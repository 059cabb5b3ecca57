// Keeping to one side: the loop over people and the model's description. Cost: a place on a strip and four cells per
// agent on one. Model, additions and what is left out: docs/models/keep_side.md. SPDX-License-Identifier: Apache-2.0
#include "filter/keep_side/keep_side.h"
#include "core/parallel.h"
#include "throng/model.h"

static th_keep_side *state_of(const th_world *world) {
    return world->model_state[TH_FILTER_KEEP_SIDE];
}

static void run(th_world *world, int model) {
    (void)model;
    th_keep_side *s = state_of(world);
    th_strips_update(s, world);
    th_walls walls = th_world_walls(world);
    int count = world->agents.count;
#pragma omp parallel for num_threads(world->threads) schedule(static)
    for (int i = 0; i < count; ++i)
        if (th_keep_side_filters(world, i)) th_keep_side_filter(world, &s->fields, &walls, i);
}

static void destroy(th_world *world, int model) {
    th_keep_side *s = state_of(world);
    if (!s) return;
    th_arena_release(&s->arena);
    th_dealloc(&world->memory, s, 1, sizeof *s);
    world->model_state[model] = NULL;
}

static bool create(th_world *world, int model) {
    th_keep_side *s = th_alloc(&world->memory, 1, sizeof *s);
    if (!s) return false;
    world->model_state[model] = s;
    s->arena = th_arena_of(&world->memory.allocator);
    return th_strips_create(s, world->scene);
}

// ---- snapshots: the fields follow from the walls, which may be others afterwards

static void restore(th_world *world, int model, const void *memory) {
    (void)model;
    (void)memory;
    state_of(world)->stale = true;
}
static bool fields_are_sound(const th_world *world, int model, int group, const uint32_t *fields) {
    (void)model;
    (void)group;
    float leaving;
    memcpy(&leaving, &fields[TH_KEEP_SIDE_LEAVING], sizeof leaving);
    int strips;
    th_strips_of(world->scene, &strips);
    return fields[TH_KEEP_SIDE_HELD] <= 2 * (uint32_t)strips && leaving >= 0.0f && leaving <= 1e3f;
}

// ---- what it shows

static int influences(th_world *world, int model, uint32_t i, th_influence *list, int max) {
    th_keep_side *s = state_of(world);
    uint32_t held = th_own_words(world, (th_model_id)model, TH_KEEP_SIDE_HELD)[i];
    if (held == 0) return 0;
    th_strips_update(s, world);
    const th_keep_side_params *params =
        (const th_keep_side_params *)world->groups[world->agents.group[i]].filter_params;
    const th_strip_field *strip = &s->strips[(held - 1) / 2];
    int sense = (int)((held - 1) % 2);
    th_vec2 at = th_position(&world->agents, i);
    th_strip_place place = th_strip_place_of(strip, at);
    float hold;
    th_vec2 local =
        th_strip_look_up(strip, &place, sense, th_keep_side_cosine(params->turn), &hold);
    const th_influence all[] = {{.kind = TH_INFLUENCE_VECTOR,
                                 .name = "keep side",
                                 .unit = "-",
                                 .at = at,
                                 .vector = th_strip_direction(strip, &place, sense, local)}};
    for (int k = 0; k < TH_COUNT_OF(all) && k < max; ++k) list[k] = all[k];
    return TH_COUNT_OF(all);
}

static int statistics(const th_world *world, int model, th_model_value *values, int max) {
    const th_keep_side *s = state_of(world);
    const uint32_t *held = th_own_words(world, (th_model_id)model, TH_KEEP_SIDE_HELD);
    int people = 0;
    for (int i = 0; i < world->agents.count; ++i) people += held[i] != 0;
    const th_model_value all[] = {{"cells", "1", (double)s->cell_count},
                                  {"builds", "1", (double)s->builds},
                                  {"people_on_strips", "1", (double)people}};
    for (int k = 0; k < TH_COUNT_OF(all) && k < max; ++k) values[k] = all[k];
    return TH_COUNT_OF(all);
}

static const th_field_info fields[] = {
    {.name = "held",
     .hashed = true,
     .doc = "1 + 2 * strip + sense of the strip one keeps to, 0: none"},
    {.name = "leaving",
     .is_float = true,
     .hashed = true,
     .doc = "for how long one has wanted to leave it [s]"},
};
static const th_param_info params[] = {TH_KEEP_SIDE_PARAMS(TH_PARAM_INFO)};
const th_model th_filter_keep_side_model = {
    .cookie = TH_MODEL_COOKIE,
    .stage = TH_STAGE_FILTER,
    .name = "keep_side",
    .doc = "agents on marked strips keep to the right, or the left",
    .source = "Cheng 2013, section 3.6",
    .params = params,
    .param_count = TH_COUNT_OF(params),
    .fields = fields,
    .field_count = TH_COUNT_OF(fields),
    .sections = &th_strips_section,
    .section_count = 1,
    .run = run,
    .create = create,
    .destroy = destroy,
    .restore = restore,
    .fields_are_sound = fields_are_sound,
    .influences = influences,
    .statistics = statistics,
};
