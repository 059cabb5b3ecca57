// Scripted people and bodies: where the path says, whatever the others do. SPDX-License-Identifier: Apache-2.0
#include "formula/vec.h"
#include "move/move.h"

// Linear between key frames, still before the first and after the last.
static th_vec2 path_at(const th_scripted *body, double time) {
    const th_keyframe *path = body->path;
    int last = body->path_count - 1, k = 0;
    while (k < last && path[k + 1].time <= time) ++k;
    if (k == last || time <= path[0].time) return th_v((float)path[k].x, (float)path[k].y);
    double s = (time - path[k].time) / (path[k + 1].time - path[k].time);
    return th_v((float)(path[k].x + s * (path[k + 1].x - path[k].x)),
                (float)(path[k].y + s * (path[k + 1].y - path[k].y)));
}

void th_move_scripted(th_world *world) {
    const th_scene *scene = world->scene;
    if (scene->scripted_count == 0) return;
    th_agents *agents = &world->agents;
    double end = world->time + (double)world->dt;
    for (int i = 0; i < agents->count; ++i) {
        if (agents->phase[i] != TH_PHASE_SCRIPTED && agents->phase[i] != TH_PHASE_BODY) continue;
        const th_scripted *body = &scene->scripted[agents->group[i] - (uint32_t)scene->group_count];
        th_vec2 next = th_add(path_at(body, end), body->discs[agents->route_step[i]]);
        agents->next_position_x[i] = next.x;
        agents->next_position_y[i] = next.y;
        agents->next_velocity_x[i] = (next.x - agents->position_x[i]) / world->dt;
        agents->next_velocity_y[i] = (next.y - agents->position_y[i]) / world->dt;
    }
}
