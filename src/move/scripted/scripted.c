// Scripted people and bodies: where the path says, whatever the others do. SPDX-License-Identifier: Apache-2.0
#include "move/scripted/scripted.h"
#include "formula/params.h"
#include "state/world.h"

static void run(th_world *world, int model) {
    (void)model;
    for (int i = 0; i < world->agents.count; ++i) th_scripted_move(world, i);
}

static bool fields_are_sound(const th_world *world, int model, int group, const uint32_t *fields) {
    (void)model;
    int body = group - world->scene->group_count;
    return fields[0] < (uint32_t)world->scene->scripted[body].disc_count;
}

static const th_field_info fields[] = {
    {.name = "disc", .hashed = true, .doc = "which disc of the scripted body this is"}};
// Contact does not push it: nothing moves it off its path.
static void body(const float *params, th_body_rules *rules) {
    (void)params;
    rules->separation_passes = 0;
}

const th_model th_move_scripted_model = {
    .cookie = TH_MODEL_COOKIE,
    .stage = TH_STAGE_MOVE,
    .name = "scripted",
    .doc = "timed paths of scripted people and bodies",
    .source = "throng",
    .fields = fields,
    .field_count = TH_COUNT_OF(fields),
    .internal = true,
    .body = body,
    .run = run,
    .reach = th_reads_none,
    .fields_are_sound = fields_are_sound,
};
