// Bookkeeping of sub-steps, shared by the force models. SPDX-License-Identifier: Apache-2.0
#include "move/substep.h"

th_substep th_substep_begin(th_world *world, th_model_id model, float longest) {
    th_substep step = th_substep_of(world, model, longest);
    int count_all = world->agents.count, blocks = th_block_count(count_all);
    float fastest2 = 0.0f;
#pragma omp parallel for schedule(static) num_threads(world->threads) reduction(max : fastest2)
    for (int b = 0; b < blocks; ++b) {
        int begin = b * TH_BLOCK, end = begin + TH_BLOCK < count_all ? begin + TH_BLOCK : count_all;
        for (int i = begin; i < end; ++i) {
            fastest2 = th_max(th_substep_copy_state(world, model, (uint32_t)i), fastest2);
        }
    }
    step.fastest = sqrtf(fastest2);
    return step;
}

void th_substep_advance(th_world *world, th_substep *step) {
    int count = world->agents.count, blocks = th_block_count(count);
    float largest = 0.0f;
    uint64_t repairs = 0;
#pragma omp parallel for schedule(static) num_threads(world->threads) reduction(max : largest) \
    reduction(+ : repairs)
    for (int b = 0; b < blocks; ++b) {
        int begin = b * TH_BLOCK, end = begin + TH_BLOCK < count ? begin + TH_BLOCK : count;
        for (int i = begin; i < end; ++i) {
            largest =
                th_max(th_substep_advance_person(world, step, (uint32_t)i, &repairs), largest);
        }
    }
    world->counters.repairs += repairs;
    th_substep_end(step, largest);
}
