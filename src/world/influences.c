// What drives a person, told by the models. SPDX-License-Identifier: Apache-2.0
#include "world/world.h"

int th_world_influences(th_world *world, th_agent_id id, int model, th_influence *list, int max) {
    if (world->device || !th_world_alive(world, id)) return 0;
    // Models look around by the cells of the last step, which people have left since. Sorting is by cell and id, so
    // doing it once more changes nothing for the next step.
    th_stage_index(world);
    int64_t i = th_find_agent(world, id.serial);
    int count = 0;
    const th_group_state *group = &world->groups[world->agents.group[i]];
    const int of_stage[] = {(int)group->behave, (int)group->plan, (int)group->filter,
                            (int)group->move};
    for (int k = 0; k < 4; ++k) {
        int m = of_stage[k];
        if (m < 0 || (model >= 0 && m != model)) continue;
        const th_model *one = th_models(NULL)[m];
        int left = count < max ? max - count : 0;
        if (one->influences)
            count += one->influences(world, m, (uint32_t)i, left ? list + count : NULL, left);
    }
    return count;
}
