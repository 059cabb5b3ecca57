// What models tell of themselves: what drives a person, which way planners lead. SPDX-License-Identifier: Apache-2.0
#include "state/device.h"
#include "throng/live.h"
#include "world/world.h"
#include <math.h>

int th_world_influences(th_world *world, th_agent_id id, int model, th_influence *list, int max) {
    if (world->device || max < 0) return 0;
    th_update_id_order(world);
    if (!th_world_alive(world, id)) return 0;
    // Models look around by the cells of the last step, which people have left since. Sorting is by cell and id, so
    // doing it once more changes nothing for the next step.
    th_stage_index(world);
    th_update_id_order(world);
    int64_t i = th_find_agent(world, id.serial);
    int count = 0;
    th_group_state *group = &world->groups[world->agents.group[i]];
    float *params;
    for (int k = 0; th_state_model(group, k, &params) != TH_NO_MODEL; ++k) {
        int m = (int)th_state_model(group, k, &params);
        if (model >= 0 && m != model) continue;
        const th_model *one = th_models(NULL)[m];
        int left = count < max ? max - count : 0;
        if (one->influences)
            count += one->influences(world, m, (uint32_t)i, left ? list + count : NULL, left);
    }
    return count;
}

bool th_world_directions(th_world *world, int target, int level, const th_vec2 *points, int count,
                         th_vec2 *directions) {
    const th_scene *scene = world->scene;
    if (target < 0 || target >= scene->target_count || level < 0 || level >= scene->level_count)
        return false;
    if (world->device) th_refresh(world, TH_ALL_FIELDS); // what was solved there
    for (int g = 0; g < scene->group_count; ++g) {
        int m = (int)world->groups[g].plan;
        const th_model *model = th_models(NULL)[m];
        if (!model->directions ||
            !model->directions(world, m, g, target, level, points, count, directions))
            continue;
        for (int k = 0; k < count; ++k) {
            float length = th_length(directions[k]);
            directions[k] = length > 0.0f ? th_scale(1.0f / length, directions[k]) : th_v(NAN, NAN);
        }
        return true;
    }
    return false;
}
