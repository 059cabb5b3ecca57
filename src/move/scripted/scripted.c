// Scripted people and bodies: where the path says, whatever the others do. SPDX-License-Identifier: Apache-2.0
#include "formula/params.h"
#include "formula/vec.h"
#include "state/world.h"

// Linear between key frames, still before the first and after the last.
TH_BOTH static th_vec2 path_at(const th_scripted *body, double time) {
    const th_keyframe *path = body->path;
    int last = body->path_count - 1, k = 0;
    while (k < last && path[k + 1].time <= time) ++k;
    if (k == last || time <= path[0].time) return th_v((float)path[k].x, (float)path[k].y);
    double s = (time - path[k].time) / (path[k + 1].time - path[k].time);
    return th_v((float)(path[k].x + s * (path[k + 1].x - path[k].x)),
                (float)(path[k].y + s * (path[k + 1].y - path[k].y)));
}

TH_BOTH static void move_scripted_one(th_world *world, int i) {
    const th_scene *scene = world->scene;
    th_agents *agents = &world->agents;
    if (agents->phase[i] != TH_PHASE_SCRIPTED && agents->phase[i] != TH_PHASE_BODY) return;
    const th_scripted *body = &scene->scripted[agents->group[i] - (uint32_t)scene->group_count];
    th_vec2 next = th_add(path_at(body, world->time + (double)world->dt),
                          body->discs[th_own_words(world, TH_MOVE_SCRIPTED, 0)[i]]);
    agents->next_position_x[i] = next.x;
    agents->next_position_y[i] = next.y;
    agents->next_velocity_x[i] = (next.x - agents->position_x[i]) / world->dt;
    agents->next_velocity_y[i] = (next.y - agents->position_y[i]) / world->dt;
}

#ifndef TH_DEVICE_CODE // the CPU's loop
static void run(th_world *world, int model) {
    (void)model;
    for (int i = 0; i < world->agents.count; ++i) move_scripted_one(world, i);
}

static bool fields_are_sound(const th_world *world, int model, int group, const uint32_t *fields) {
    (void)model;
    int body = group - world->scene->group_count;
    return fields[0] < (uint32_t)world->scene->scripted[body].disc_count;
}

static const th_field_info fields[] = {
    {.name = "disc", .hashed = true, .doc = "which disc of the scripted body this is"}};
const th_model th_move_scripted_model = {
    .cookie = TH_MODEL_COOKIE,
    .stage = TH_STAGE_MOVE,
    .name = "scripted",
    .doc = "timed paths of scripted people and bodies",
    .source = "throng",
    .fields = fields,
    .field_count = TH_COUNT_OF(fields),
    .internal = true,
    .run = run,
    .fields_are_sound = fields_are_sound,
};
#endif
