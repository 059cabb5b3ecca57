// State of the behaviour hidac in a world: rooms, memories of agents, ways by belief, queues.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_BEHAVE_HIDAC_MIND_H
#define TH_BEHAVE_HIDAC_MIND_H
#include "behave/hidac/hidac.h"
#include "space/rooms.h"
#include "state/world.h"

enum {
    TH_MIND_DOOR_WORDS = 1024, // most doors of a scene, in words of 32
    TH_MIND_BELIEFS = 32,      // sets of shut doors whose ways are at hand
    TH_MIND_BINS = 15,         // people before a place by distance, a metre each
    TH_MIND_PATCH = 8,         // cells of the index along a patch of the map of fright
    TH_MIND_FRIGHTS = 4096, // numbers of patches; two patches with one number cost a look in vain
};

// Ways to all targets and single goals (rows) for one set of doors taken for shut.
typedef struct th_belief {
    uint32_t *shut;    // door_words
    float *ways;       // rows * 2 portals
    int *next;         // as many: the node that the way goes on to
    uint8_t *known;    // by row: has been searched
    uint64_t asked;    // when last; 0: empty
    uint64_t searched; // when, 0: never
} th_belief;

// People who came together and walk at this moment. A member that knows the way leads, else the first to appear.
typedef struct th_company {
    uint32_t leader; // its id, and TH_MIND_UNSURE where it does not know the way; UINT32_MAX: none
    // 1: not all know the way, so distances to the leader's aim count, not ways left.
    uint32_t unsure;
    uint32_t aim, room, entered; // the leader's
    th_vec2 goal;                // where it walks to
    float farthest;              // of them from there [m]
} th_company;
#define TH_MIND_UNSURE 0x80000000u

typedef struct th_mind {
    th_rooms *rooms;
    th_arena arena;
    // Words of a memory: doors taken for shut, rooms seen, and of each door how often it had changed by what is known.
    int door_words, room_words, words;
    int capacity;
    uint32_t *memory, *heard; // capacity * words; heard: what listeners will know
    int *free_slots;          // the first free_count are free
    int free_count;
    th_belief beliefs[TH_MIND_BELIEFS];
    uint64_t asked;
    th_front front;
    int place_count;                 // 2 * portals (portal and room it is left from), then goals
    int *queue;                      // place_count * TH_MIND_BINS
    float *beyond;                   // by 2 * portal + side: how far behind the line people aim [m]
    uint8_t *open;                   // by door: none is shut
    uint32_t *no_doors;              // the set of no shut doors
    int *goal_numbers;               // 0, 1, 2 ...: lists of one goal
    uint8_t fright[TH_MIND_FRIGHTS]; // an agent in a patch of this number frightens others
    uint16_t *changes;               // by door: how often it has shut and opened; odd: is shut
    uint32_t *route_rooms;           // by group, room_words each: rooms with a goal of its route
    // by place in the list of those whose turn it is
    uint32_t *due, *next_aim, *leader;
    bool *told;
    uint32_t upset;         // 1: some agent frightens others
    uint32_t strangers;     // 1: some agent does not know all
    uint32_t doors_changed; // 1: some door has
    int used[TH_MIND_USES]; // fields of the move model hidac; -1: no group uses it
    int *company_begin;     // by group: its first company; -1: all walk alone
    th_company *companies;  // company_count
    int company_count;
} th_mind;

#ifdef __cplusplus
extern "C" {
#endif

bool th_mind_create(th_world *world, int model);
void th_mind_destroy(th_world *world, int model);
size_t th_mind_saved_size(const th_world *world, int model);
void th_mind_save(const th_world *world, int model, void *bytes);
bool th_mind_saved_is_sound(const th_world *world, int model, const void *bytes, size_t size);
void th_mind_restore(th_world *world, int model, const void *bytes);
bool th_mind_fields_are_sound(const th_world *world, int model, int group, const uint32_t *fields);

// A memory slot for a new agent. Not for several threads at once.
int th_mind_take_slot(th_world *world, th_mind *mind);
// Searches the ways of a row (-1: of all) for a set of shut doors unless they are at hand, for all callers of
// th_mind_known_ways. They replace the ways that were not asked for the longest. False: all have been asked for since, use
// them first. Not
// for several threads at once. Cost: what the doors that differ from a set at hand touch.
bool th_mind_ask(const th_world *world, th_mind *mind, const uint32_t *shut, int row,
                 uint64_t since);

#ifdef __cplusplus
}
#endif

TH_BOTH static inline bool th_bit(const uint32_t *bits, int k) {
    return bits[k / 32] >> (k % 32) & 1;
}
TH_BOTH static inline void th_set_bit(uint32_t *bits, int k, bool on) {
    bits[k / 32] = on ? bits[k / 32] | 1u << (k % 32) : bits[k / 32] & ~(1u << (k % 32));
}
TH_BOTH static inline bool th_same_words(const uint32_t *a, const uint32_t *b, int count) {
    for (int w = 0; w < count; ++w)
        if (a[w] != b[w]) return false;
    return true;
}

// Finds the belief at hand with these doors shut; -1: none.
TH_BOTH static inline int th_mind_belief_of(const th_mind *m, const uint32_t *shut) {
    for (int b = 0; b < TH_MIND_BELIEFS; ++b)
        if (m->beliefs[b].asked > 0 && th_same_words(m->beliefs[b].shut, shut, m->door_words))
            return b;
    return -1;
}
// The ways of a target (row < target_count) or a goal (row - target_count) for a set of shut doors that is at hand.
TH_BOTH static inline const float *th_mind_known_ways(const th_mind *m, const uint32_t *shut,
                                                      int row) {
    return m->beliefs[th_mind_belief_of(m, shut)].ways +
           (size_t)row * 2 * (size_t)m->rooms->portal_count;
}

// Draws the nature of a new agent.
TH_BOTH static inline uint32_t th_mind_draw_nature(const th_mind_params *p, uint64_t seed,
                                                   uint32_t id) {
    th_random4 r = th_philox(seed, TH_STREAM_HIDAC_MIND, id, 0);
    th_random4 more = th_philox(seed, TH_STREAM_HIDAC_MIND, id, 1);
    float trained = th_uniform(r.v[0]), knowledge = th_uniform(r.v[1]), temper = th_uniform(r.v[2]);
    uint32_t nature = 0;
    if (temper < p->anxious)
        nature |= TH_MIND_ANXIOUS;
    else if (temper < p->anxious + p->polite)
        nature |= TH_MIND_POLITE;
    else if (temper < p->anxious + p->polite + p->impatient)
        nature |= TH_MIND_IMPATIENT;
    th_temper factors = th_temper_of(p, nature);
    if (trained < p->trained) nature |= TH_MIND_TRAINED;
    if (knowledge < p->knows_all)
        nature |= TH_MIND_KNOWS_ALL;
    else if (knowledge < p->knows_all + p->knows_way_in)
        nature |= TH_MIND_KNOWS_WAY_IN;
    if (th_uniform(more.v[0]) < th_mind_follows(p, &factors)) nature |= TH_MIND_FOLLOWER;
    return nature;
}
#endif
