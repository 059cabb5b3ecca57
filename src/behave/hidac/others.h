// The behaviour hidac: what people hear and see of others. Talk, whom to follow, alarm and panic.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_BEHAVE_HIDAC_OTHERS_H
#define TH_BEHAVE_HIDAC_OTHERS_H
#include "behave/hidac/step.h"
#include <string.h>

#define TH_MIND_CALM 0.2f // below the threshold: panic is over

TH_BOTH static inline void th_mind_hear_alarm(const th_mind_step *s, uint32_t i) {
    const th_mind_params *p = th_mind_params_of(s, i);
    if (p->alarm_time < 0.0f || (s->nature[i] & TH_MIND_HEARD) ||
        (float)s->world->time < p->alarm_time)
        return;
    s->nature[i] |= TH_MIND_HEARD;
    th_vec2 alarm = {(float)((double)p->alarm_x - s->world->scene->origin.x),
                     (float)((double)p->alarm_y - s->world->scene->origin.y)};
    float distance = th_length(th_sub(alarm, th_position(&s->world->agents, i)));
    if (p->alarm_radius > 0.0f && distance > p->alarm_radius) return;
    th_random4 r = th_philox(s->world->seed, TH_STREAM_HIDAC_MIND, s->world->agents.id[i], 2);
    if (th_uniform(r.v[0]) < p->alarm_share) s->panic[i] = 1.0f;
}

// ---- what others within range know and do

typedef struct th_mind_around {
    int people, panicked, fallen, close;
    bool told;       // the way, by trained staff
    uint32_t leader; // nearest one to follow; UINT32_MAX: none
    float leader_distance2;
} th_mind_around;

// May j lead i? One of the group that the scene names; else anybody who knows the way to the same place.
TH_BOTH static inline bool th_mind_leads(const th_mind_step *s, uint32_t i, uint32_t j) {
    int leaders = th_mind_leaders_of(s, i);
    if (leaders >= 0) return (int)s->world->agents.group[j] == leaders;
    return th_mind_knows(s->nature[j]) && s->aim[j] > 0 &&
           th_mind_target_of(s, j) == th_mind_target_of(s, i);
}

TH_BOTH static inline void th_mind_meet(const th_mind_step *s, uint32_t i, uint32_t j,
                                        float distance2, th_mind_around *seen, uint32_t *heard) {
    const th_mind_params *p = th_mind_params_of(s, i);
    const th_agents *a = &s->world->agents;
    if (a->phase[j] == TH_PHASE_FALLEN)
        seen->fallen += distance2 <= p->panic_range * p->panic_range;
    if (!th_moves(a->phase[j])) return;
    seen->close += distance2 <= 1.0f;
    bool minded = s->world->groups[a->group[j]].behave == TH_BEHAVE_HIDAC && s->slot[j] > 0;
    if (distance2 <= p->panic_range * p->panic_range) {
        seen->people++;
        seen->panicked += minded && (s->nature[j] & TH_MIND_PANICS) != 0;
    }
    if (!minded || s->room[j] != s->room[i]) return;
    if (heard && distance2 <= p->talk_range * p->talk_range) {
        const uint32_t *theirs = th_mind_memory_of(s, j);
        for (int w = 0; w < s->mind->words; ++w) heard[w] |= theirs[w];
        seen->told |= (s->nature[j] & TH_MIND_TRAINED) != 0;
    }
    if (!th_mind_leads(s, i, j) || distance2 > p->sight * p->sight) return;
    // Whom it follows already is the nearest.
    if (th_mind_leaders_of(s, i) >= 0 && s->follows[i] == a->id[j]) distance2 = 0.0f;
    if (distance2 < seen->leader_distance2 ||
        (distance2 == seen->leader_distance2 && a->id[j] < a->id[seen->leader])) {
        seen->leader = j;
        seen->leader_distance2 = distance2;
    }
}

TH_BOTH static inline bool th_mind_wants_leader(const th_mind_step *s, uint32_t i) {
    return th_mind_leaders_of(s, i) >= 0 ||
           ((s->nature[i] & TH_MIND_FOLLOWER) && !th_mind_knows(s->nature[i]));
}

TH_BOTH static inline th_mind_around th_mind_look_around(const th_mind_step *s, uint32_t i,
                                                         uint32_t *heard) {
    const th_mind_params *p = th_mind_params_of(s, i);
    const th_agents *a = &s->world->agents;
    th_mind_around seen = {0, 0, 0, 0, false, UINT32_MAX, INFINITY};
    // How many are calm does not matter while nobody panics.
    bool upset = s->mind->upset != 0 || s->world->counters.fallen > 0;
    float range = th_max(upset ? p->panic_range : 0.0f, heard ? p->talk_range : 0.0f);
    if (th_mind_wants_leader(s, i)) range = th_max(range, p->sight);
    range = th_max(range, 1.0f);
    th_vec2 at = th_position(a, i);
    const th_level_grid *grid = &s->world->index.grids[a->level[i]];
    th_rows rows = th_rows_around(grid, at, range);
    for (uint32_t begin, end; th_next_run(&s->world->index, grid, &rows, &begin, &end);)
        for (uint32_t j = begin; j < end; ++j) {
            float distance2 = th_length2(th_sub(th_position(a, j), at));
            if (j != i && distance2 <= range * range)
                th_mind_meet(s, i, j, distance2, &seen, heard);
        }
    return seen;
}

TH_BOTH static inline void th_mind_feel(const th_mind_step *s, uint32_t i,
                                        const th_mind_around *seen) {
    const th_mind_params *p = th_mind_params_of(s, i);
    float share = seen->people > 0 ? (float)seen->panicked / (float)seen->people : 0.0f;
    float density = (float)(seen->close + 1) / 3.14159265f;
    s->panic[i] = th_mind_panic(p, s->panic[i], share, density, seen->fallen > 0,
                                s->interval * (float)TH_MIND_LOOKS);
}

// Who has fallen behind the leader makes it wait, a little longer than until its own next look; who is ahead waits itself.
// Many may call one leader, all with the same value.
TH_BOTH static inline void th_mind_call_leader(const th_mind_step *s, uint32_t i, uint32_t leader) {
    const th_agents *a = &s->world->agents;
    th_vec2 off = th_sub(th_position(a, leader), th_position(a, i));
    float far = th_mind_params_of(s, i)->wait_distance;
    if (th_length2(off) <= far * far || th_mind_is_ahead(s, i, leader)) return;
    float *called = &s->called[leader];
#ifndef TH_DEVICE_CODE
#pragma omp atomic write
#endif
    *called = 2.0f * s->interval;
}

// What the k-th of those whose turn it is hears and sees of others, where it is the turn to think; the memory of others
// is not written meanwhile.
TH_BOTH static inline void th_mind_listen(const th_mind_step *s, int k) {
    uint32_t i = s->mind->due[k];
    uint32_t *heard = s->mind->heard + (size_t)k * (size_t)s->mind->words;
    size_t bytes = (size_t)s->mind->words * sizeof *heard;
    s->mind->leader[k] = UINT32_MAX;
    if (!th_mind_minds_others(s, i)) return;
    bool hears = th_mind_hears(s, i), led = th_mind_leaders_of(s, i) >= 0;
    if (hears) memcpy(heard, th_mind_memory_of(s, i), bytes);
    th_mind_around seen = th_mind_look_around(s, i, hears ? heard : NULL);
    if (th_mind_thinks(s, i)) th_mind_feel(s, i, &seen);
    s->mind->told[k] = seen.told;
    if (th_mind_wants_leader(s, i)) s->mind->leader[k] = seen.leader;
    if (led && seen.leader != UINT32_MAX) {
        s->follows[i] = s->world->agents.id[seen.leader];
        th_mind_call_leader(s, i, seen.leader);
    }
}

// Takes over what was heard.
TH_BOTH static inline void th_mind_remember(const th_mind_step *s, int k) {
    uint32_t i = s->mind->due[k];
    if (!th_mind_hears(s, i)) return;
    memcpy(th_mind_memory_of(s, i), s->mind->heard + (size_t)k * (size_t)s->mind->words,
           (size_t)s->mind->words * sizeof(uint32_t));
    if (s->mind->told[k]) s->nature[i] |= TH_MIND_TOLD;
}

// Panic begins or is over.
TH_BOTH static inline void th_mind_panic_or_calm(const th_mind_step *s, uint32_t i) {
    const th_mind_params *p = th_mind_params_of(s, i);
    th_temper temper = th_temper_of(p, s->nature[i]);
    float threshold = th_mind_threshold(p, &temper);
    if (s->panic[i] >= threshold)
        s->nature[i] |= TH_MIND_PANICS;
    else if (s->panic[i] < threshold - TH_MIND_CALM || s->panic[i] <= 0.0f)
        s->nature[i] &= ~(uint32_t)TH_MIND_PANICS;
}
#endif
