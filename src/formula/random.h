// Counter-based random numbers: (seed, stream, agent, step) -> value, nothing stored, so the same
// on any thread and device. Philox-4x32-10, Salmon et al. 2011, "Parallel random numbers: as easy as
// 1, 2, 3". SPDX-License-Identifier: Apache-2.0
#ifndef TH_FORMULA_RANDOM_H
#define TH_FORMULA_RANDOM_H
#include "core/device.h"
#include <math.h>

// One stream per purpose; never reuse a number.
enum {
    TH_STREAM_PLACE = 1,  // start positions
    TH_STREAM_RADIUS = 2, // drawn properties
    TH_STREAM_SPEED = 3,
    TH_STREAM_PREMOVEMENT = 4,
    TH_STREAM_MASS = 5,
    TH_STREAM_OWN_GOAL = 6,
    TH_STREAM_SOURCE = 7,       // where and when sources place people
    TH_STREAM_NOISE = 8,        // perturbation of the preferred velocity
    TH_STREAM_PAIR = 9,         // direction that parts coincident people
    TH_STREAM_ROADMAP = 10,     // sampling of road-map nodes
    TH_STREAM_FORCE_NOISE = 11, // fluctuation term of Helbing-Molnar 1995
    TH_STREAM_STRIDE = 12,      // people's own stride factor, buffer and height of DenseSense
    TH_STREAM_SIDESTEP = 13,    // side that a stopped agent steps to, pbd
    TH_STREAM_OTHER_WAY = 14,   // other way that a blocked agent tries, people
    TH_STREAM_UNSTEADY = 15,    // deviation of the speed of those that follow others, people
    TH_STREAM_KNOWS = 16,       // whether an agent knows all goals of its legs, quickest
    TH_STREAM_PROFILE = 17,     // the kind of a person in a group with profiles
    TH_STREAM_GAP = 18,         // distance that an agent keeps while it stands, people
    TH_STREAM_HIDAC = 20,       // personality and timers of hidac
    TH_STREAM_HIDAC_MIND = 21,  // knowledge, role and temper of the behaviour hidac
    TH_STREAM_MARKERS = 22,     // markers on the ground, colonization
    TH_STREAM_DODGE = 23,       // side to which an agent dodges an oncoming one, colonization
    TH_STREAM_RESCUE = 24,      // direction that a standing agent tries, colonization
    TH_STREAM_UNDECIDED = 25,   // whether an agent is undecided, and the sight it chooses
    // Whether an agent is drawn to a place of interest or stops there, and at which.
    TH_STREAM_INTEREST = 30,
    TH_STREAM_BROWSE = 31,        // how long an agent looks at a place of interest
    TH_STREAM_SAMPLE = 32,        // points of a sweep's uncertain inputs
    TH_STREAM_OWN_MODEL = 1 << 24 // and up: numbers that models as functions of one person draw
};

typedef struct th_random4 {
    uint32_t v[4];
} th_random4;

TH_FORMULA th_random4 th_philox(uint64_t seed, uint32_t stream, uint32_t agent, uint64_t step) {
    uint32_t c0 = agent, c1 = stream, c2 = (uint32_t)step, c3 = (uint32_t)(step >> 32);
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    for (int round = 0; round < 10; ++round) {
        uint64_t p0 = (uint64_t)0xD2511F53u * c0, p1 = (uint64_t)0xCD9E8D57u * c2;
        uint32_t n0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0, n2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)p1;
        c3 = (uint32_t)p0;
        c0 = n0;
        c2 = n2;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    th_random4 r;
    r.v[0] = c0;
    r.v[1] = c1;
    r.v[2] = c2;
    r.v[3] = c3;
    return r;
}

// [0, 1), 24 bits: exact in float.
TH_FORMULA float th_uniform(uint32_t bits) { return (float)(bits >> 8) * (1.0f / 16777216.0f); }
// (0, 1), 52 bits from two words. The added half excludes 0; with 53 bits it would round the largest up to 1.
TH_FORMULA double th_uniform_double(uint32_t high, uint32_t low) {
    uint64_t bits = ((uint64_t)high << 20) | (low >> 12);
    return ((double)bits + 0.5) * (1.0 / 4503599627370496.0);
}

// A unit direction for a pair of coincident agents, opposite when the ids are exchanged.
TH_FORMULA th_vec2 th_pair_direction(uint32_t id_i, uint32_t id_j) {
    uint32_t low = id_i < id_j ? id_i : id_j, high = id_i < id_j ? id_j : id_i;
    th_random4 r = th_philox(0, TH_STREAM_PAIR, low, high);
    float x = th_uniform(r.v[0]) - 0.5f, y = th_uniform(r.v[1]) - 0.5f;
    float length2 = x * x + y * y;
    if (length2 < 1e-6f) {
        x = 1.0f;
        y = 0.0f;
        length2 = 1.0f;
    }
    float s = (id_i < id_j ? 1.0f : -1.0f) / sqrtf(length2);
    th_vec2 d;
    d.x = s * x;
    d.y = s * y;
    return d;
}
#endif
