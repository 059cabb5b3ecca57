// What the behaviour hidac keeps per world: rooms, what everybody remembers, ways for what people believe, queues.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_BEHAVE_HIDAC_MIND_H
#define TH_BEHAVE_HIDAC_MIND_H
#include "behave/hidac/hidac.h"
#include "space/room_ways.h"
#include "state/world.h"

enum {
    TH_MIND_DOOR_WORDS = 1024, // most doors of a scene, in words of 32
    TH_MIND_BELIEFS = 32,      // sets of shut doors whose ways are at hand
    TH_MIND_BINS = 16, // people before a place by distance, a metre each, the last one: beyond
};

// Ways to all targets and single goals for one set of doors that somebody takes for shut.
typedef struct th_belief {
    uint32_t *shut; // door_words
    float *ways;    // (targets + goals) * 2 portals
    uint64_t asked; // when last; 0: empty
} th_belief;

typedef struct th_mind {
    th_rooms *rooms;
    th_arena arena;
    int door_words, room_words, words; // of a memory: doors taken for shut, rooms seen
    int capacity;
    uint32_t *memory, *heard; // capacity * words; heard: what listeners will know
    int *free_slots;          // the first free_count are free
    int free_count;
    th_belief beliefs[TH_MIND_BELIEFS];
    uint64_t asked;
    th_front front;
    int place_count; // 2 * portals (portal and room it is left from), then goals
    int *queue;      // place_count * TH_MIND_BINS
    float *beyond;   // by 2 * portal + side: how far behind the line people aim [m]
    uint8_t *open;   // by door: none is shut
    // by place in the list of those whose turn it is
    uint32_t *due, *next_aim, *leader;
    bool *told;
    int move_panic, move_manners; // fields of the move model hidac; -1: none
    // companions: by company, of this moment
    uint32_t *first_id, *first_aim, *first_room;
    float *farthest;
} th_mind;

bool th_mind_create(th_world *world, int model);
void th_mind_destroy(th_world *world, int model);
size_t th_mind_saved_size(const th_world *world, int model);
void th_mind_save(const th_world *world, int model, void *bytes);
bool th_mind_saved_is_sound(const th_world *world, int model, const void *bytes, size_t size);
void th_mind_restore(th_world *world, int model, const void *bytes);
bool th_mind_fields_are_sound(const th_world *world, int model, int group, const uint32_t *fields);

// A place for the memory of somebody new, all zero. Not for several threads at once.
int th_mind_take_slot(th_world *world, th_mind *mind);
// The ways of a target (row < target_count) or a goal (row - target_count) for a set of shut doors. Searches where they are
// not at hand; not for several threads at once.
const float *th_mind_ways(const th_world *world, th_mind *mind, const uint32_t *shut, int row);
// The same where they are at hand, else NULL; for any number of threads.
const float *th_mind_known_ways(const th_world *world, const th_mind *mind, const uint32_t *shut,
                                int row);

static inline bool th_bit(const uint32_t *bits, int k) { return bits[k / 32] >> (k % 32) & 1; }
static inline void th_set_bit(uint32_t *bits, int k, bool on) {
    bits[k / 32] = on ? bits[k / 32] | 1u << (k % 32) : bits[k / 32] & ~(1u << (k % 32));
}
#endif
