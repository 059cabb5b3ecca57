// One step of the behaviour hidac: what its files share. SPDX-License-Identifier: Apache-2.0
#ifndef TH_BEHAVE_HIDAC_STEP_H
#define TH_BEHAVE_HIDAC_STEP_H
#include "behave/hidac/mind.h"

enum { TH_MIND_LOOKS = 5 }; // a person thinks with every fifth look

typedef struct th_mind_step {
    th_world *world;
    th_mind *mind;
    th_walls walls;
    uint32_t *slot, *room, *aim, *entered, *nature, *entrance, *follows;
    float *jammed, *changed, *panic, *remaining, *waited, *called;
    float interval; // [s] between two looks of a person
    uint64_t period;
} th_mind_step;

static inline const th_mind_params *th_mind_params_of(const th_mind_step *s, uint32_t i) {
    return (const th_mind_params *)(const void *)s->world->groups[s->world->agents.group[i]]
        .behave_params;
}
static inline uint32_t *th_mind_memory_of(const th_mind_step *s, uint32_t i) {
    return s->mind->memory + (size_t)(s->slot[i] - 1) * (size_t)s->mind->words;
}
static inline uint32_t *th_mind_rooms_seen(const th_mind_step *s, uint32_t i) {
    return th_mind_memory_of(s, i) + s->mind->door_words;
}
static inline bool th_mind_is_own(const th_mind_step *s, uint32_t i) {
    const th_agents *a = &s->world->agents;
    return th_moves(a->phase[i]) && s->world->groups[a->group[i]].behave == TH_BEHAVE_HIDAC;
}
// The group that the person follows; -1: none.
static inline int th_mind_leaders_of(const th_mind_step *s, uint32_t i) {
    return s->world->scene->groups[s->world->agents.group[i]].leader;
}
static inline bool th_mind_thinks(const th_mind_step *s, uint32_t i) {
    uint64_t turn = (s->world->agents.id[i] + s->world->step_count) / s->period;
    return turn % TH_MIND_LOOKS == 0;
}
static inline bool th_mind_knows(uint32_t nature) {
    return (nature & (TH_MIND_KNOWS_ALL | TH_MIND_TRAINED | TH_MIND_TOLD)) != 0;
}
// -1: no leg left.
static inline int th_mind_target_of(const th_mind_step *s, uint32_t i) {
    const th_group *group = &s->world->scene->groups[s->world->agents.group[i]];
    uint32_t leg = s->world->agents.leg[i];
    return leg < (uint32_t)group->route_count ? group->route[leg] : -1;
}

// hidac.c: is somebody nearer to the place that it makes for than j of the same room?
bool th_mind_is_ahead(const th_mind_step *s, uint32_t i, uint32_t j);
// others.c: what the k-th of those whose turn it is hears and sees of others; the memory of others is not written meanwhile.
void th_mind_listen(const th_mind_step *s, int k);
// Takes over what was heard.
void th_mind_remember(const th_mind_step *s, int k);
// Panic begins or is over.
void th_mind_panic_or_calm(const th_mind_step *s, uint32_t i);
#endif
