// Sub-steps on the device: what move/substep.c does for everybody at once. How fast and how far anybody went
// stays there. SPDX-License-Identifier: Apache-2.0
#ifndef TH_CUDA_SUBSTEP_CUH
#define TH_CUDA_SUBSTEP_CUH
#include "cuda/moving.cuh"

namespace th {

// For everybody_most; not-a-numbers count as nothing, as in th_max.
TH_ON_GPU inline uint32_t square_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return value > 0.0f ? bits : 0u;
}
TH_ON_GPU inline float root_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return sqrtf(value);
}

// th_substep_begin.
static void begin_substeps(th_world *host, th_substep step) {
    moving *s = host->cuda->moving;
    once(host, TH_LAMBDA(th_world *) {
        s->step = step;
        s->fastest2 = s->moved2 = s->top_speed2 = 0;
        memset(s->sizes, 0, sizeof s->sizes);
        s->repairs = 0;
        s->specials = 0;
    });
    everybody_most(host, &s->fastest2, TH_LAMBDA(th_world * world, int i) {
        return square_bits(th_substep_copy_state(world, s->step.model, (uint32_t)i));
    });
    once(host, TH_LAMBDA(th_world * world) {
        th_walls walls = th_world_walls(world);
        s->step.fastest = root_of(s->fastest2);
        th_substep_looks(world, &s->step, &walls);
    });
}

static void end_one_substep(th_world *host) {
    moving *s = host->cuda->moving;
    once(host, TH_LAMBDA(th_world * world) {
        float moved2;
        memcpy(&moved2, &s->moved2, sizeof moved2);
        th_substep_end(&s->step, moved2);
        s->moved2 = 0;
        world->counters.repairs += s->repairs;
        s->repairs = 0;
        s->specials = 0;
    });
}

// th_substep_advance.
static void advance_substep(th_world *host) {
    moving *s = host->cuda->moving;
    everybody_most(host, &s->moved2, TH_LAMBDA(th_world * world, int i) {
        uint64_t repairs = 0;
        float moved2 = th_substep_advance_person(world, &s->step, (uint32_t)i, &repairs);
        if (repairs) add(&s->repairs, repairs);
        return square_bits(moved2);
    });
    end_one_substep(host);
}

} // namespace th
#endif
