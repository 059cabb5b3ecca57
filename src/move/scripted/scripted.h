// Scripted people and bodies: where the path says, whatever the others do. SPDX-License-Identifier: Apache-2.0
#ifndef TH_MOVE_SCRIPTED_SCRIPTED_H
#define TH_MOVE_SCRIPTED_SCRIPTED_H
#include "formula/vec.h"
#include "state/world.h"

// Linear between key frames, still before the first and after the last.
TH_BOTH static inline th_vec2 th_scripted_path_at(const th_scripted *body, double time) {
    const th_keyframe *path = body->path;
    int last = body->path_count - 1, k = 0;
    while (k < last && path[k + 1].time <= time) ++k;
    if (k == last || time <= path[0].time) return th_v((float)path[k].x, (float)path[k].y);
    double s = (time - path[k].time) / (path[k + 1].time - path[k].time);
    return th_v((float)(path[k].x + s * (path[k + 1].x - path[k].x)),
                (float)(path[k].y + s * (path[k + 1].y - path[k].y)));
}

TH_BOTH static inline void th_scripted_move(th_world *world, int i) {
    const th_scene *scene = world->scene;
    th_agents *agents = &world->agents;
    if (agents->phase[i] != TH_PHASE_SCRIPTED && agents->phase[i] != TH_PHASE_BODY) return;
    const th_scripted *body = &scene->scripted[agents->group[i] - (uint32_t)scene->group_count];
    th_vec2 next = th_add(th_scripted_path_at(body, world->time + (double)world->dt),
                          body->discs[th_own_words(world, TH_MOVE_SCRIPTED, 0)[i]]);
    agents->next_position_x[i] = next.x;
    agents->next_position_y[i] = next.y;
    agents->next_velocity_x[i] = (next.x - agents->position_x[i]) / world->dt;
    agents->next_velocity_y[i] = (next.y - agents->position_y[i]) / world->dt;
}
#endif
