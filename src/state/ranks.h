// One crowd over several worlds, each with a part of the ground (throng/ranks.h).
//
// The plan is divided into square tiles, a tile with all levels above each other. Tiles belong to ranks, piece by piece along a
// Hilbert curve, as many people to each. A person belongs to the rank whose tile it stands on when the index is made. A
// rank also holds copies of the people within the halo around its ground. Both follow from positions and the map of tiles,
// which all ranks have, so a sender and a receiver know the same list without a word, in the order of the cells.
//
// Why the bits are equal: cells and the order in them are those of one world, so a person sees the same neighbours in the
// same order; what a stage writes and neighbours read later is sent before they read it; what is added up is whole numbers.
//
// Between steps the copies are marked as removed: views, counts and the next index leave them out. SPDX-License-Identifier: Apache-2.0
#ifndef TH_STATE_RANKS_H
#define TH_STATE_RANKS_H
#include "state/world.h"
#include "throng/ranks.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TH_RANKS_MOST = 4096, TH_RANKS_NEAR = 64 }; // of all, and within the halo of a person

// Places of people in the arrays, rank by rank.
typedef struct th_rank_list {
    uint32_t *place;
    int room, count;
    int *first; // by rank, and the end
} th_rank_list;

typedef struct th_ranks {
    const th_comm *comm;
    th_memory memory;
    // the ground
    th_vec2 origin;
    float inverse_tile;
    int nx, ny, tiles;
    uint32_t *curve;  // the tiles along the curve
    uint32_t *people; // by tile
    uint16_t *owner;  // by tile
    uint8_t *inner;   // by tile: all ground within the halo of it is the owner's
    float halo, travel;
    int steps_since, moves;
    int capacity; // of the rank's arrays
    // of a step
    uint8_t *ghost;       // by place: a copy of another rank's person; world->ghost
    th_rank_list out, in; // own people whom others have copies of; copies, by owner
    uint32_t *pair;       // work space of the lists: rank and place
    int pair_room, pair_count;
    uint32_t *hole; // places of people that are gone
    int hole_room, hole_count;
    char *sent, *received;
    int sent_room, received_room;
    uint32_t *to_count, *from_count; // by rank
    const void **to;                 // by rank
    void **from;
    size_t *to_size, *from_size;
    int own, crowd; // people of the rank; of all ranks, as sources count them
    // People near the sources of all ranks, and newcomers: x, y, radius, level.
    th_vec2 *near_position;
    float *near_radius;
    uint32_t *near_level;
    int near_count, near_room[3];
    bool places; // sources do, so newcomers are noted
    // The counts when they were last added up.
    th_counters counted;
    uint64_t *before, *sum; // left by each exit, both ways over each line
    uint64_t bytes, messages;
} th_ranks;

// NULL and an error: no memory. `capacity`: of the rank's arrays.
th_ranks *th_ranks_create(const th_world *world, const th_comm *comm, int capacity,
                          th_error *error);
void th_ranks_destroy(th_world *world);
// Room for people and copies of one rank, where all have room for `people`.
int th_ranks_capacity(const th_comm *comm, int people);

// Before the index is sorted: people go to their ranks, and copies to those around. After it: which are copies.
void th_ranks_meet(th_world *world);
void th_ranks_list(th_world *world);
// Copies are of no use until the next index.
void th_ranks_part(th_world *world);
// The copies as their owners are at the end of a step.
void th_ranks_meet_again(const th_world *world);
// Is it on the rank's ground?
bool th_ranks_is_here(const th_ranks *ranks, th_vec2 p);

// Values of 4 bytes that owners have written: the copies get them. `count` arrays.
void th_ranks_send(const th_world *world, void *const *arrays, int count);
static inline void th_ranks_send2(const th_world *world, void *a, void *b) {
    void *const arrays[] = {a, b};
    if (world->ranks) th_ranks_send(world, arrays, 2);
}
static inline void th_ranks_send4(const th_world *world, void *a, void *b, void *c, void *d) {
    void *const arrays[] = {a, b, c, d};
    if (world->ranks) th_ranks_send(world, arrays, 4);
}

// Over all ranks; the value itself in a world that is a whole one.
uint64_t th_ranks_sum(const th_world *world, uint64_t value);
void th_ranks_sum32(const th_world *world, uint32_t *values, int count);
float th_ranks_highest(const th_world *world, float value);
// Ends the job when a person went further in a step than the halo allows for.
void th_ranks_check_way(const th_world *world, float moved);
// Makes the counts those of the whole crowd; `step`: at the end of one.
void th_ranks_count(th_world *world, bool step);
// After a restore: the counts of the crowd are those of the world.
void th_ranks_restored(th_world *world);

// Before sources place people: where people stand near their areas.
void th_ranks_see_sources(th_world *world);
// After a person was appended, which all ranks do: keeps it on its own rank alone.
void th_ranks_keep(th_world *world);

#ifdef __cplusplus
}
#endif
#endif
