// throng: one crowd over several processes. Each process, a rank, creates a world of the same scene with the same definition and
// its own `comm`, holds the people on its part of the ground, and steps them with the others. The ranks together have the
// bits of one world: the same hash, counts and times for any number of them.
//
// All ranks call the functions that take a th_world in the same order with the same values: several of them are answered
// together. After a step the counts (th_world_statistics, _exit, _line, _door, _done, _hash) are those of the whole crowd on
// every rank. Views, areas, events and ids are of the rank's own people.
//
// The messages go through five functions. libthrong-mpi has them for MPI (throng/mpi.h); a program may bring others.
// docs/cluster.md lists the models that run over ranks.
//
// Threads: as for throng/world.h, of each rank; ranks may be threads of one program, each with its own world.
// SPDX-License-Identifier: Apache-2.0
#ifndef THRONG_RANKS_H
#define THRONG_RANKS_H
#include "throng/world.h"

#ifdef __cplusplus
extern "C" {
#endif

// Called from the thread that steps; every rank calls the same functions in the same order. `stop` does not return.
typedef struct th_comm {
    int rank, size;
    void *context;
    // to[r] goes to rank r, from[r] has come from it; to[rank] is copied.
    void (*numbers)(const struct th_comm *comm, const uint32_t *to, uint32_t *from);
    // The same of bytes, to_size[r] and from_size[r] of them, which both sides know; 0 for the own rank.
    void (*exchange)(const struct th_comm *comm, const void *const *to, const size_t *to_size,
                     void *const *from, const size_t *from_size);
    // In place, over all ranks: sums modulo 2^64 and 2^32, and maxima.
    void (*sum)(const struct th_comm *comm, uint64_t *values, int count);
    void (*sum32)(const struct th_comm *comm, uint32_t *values, int count);
    void (*highest)(const struct th_comm *comm, double *values, int count);
    // Ends all ranks; the text names what happened on this one.
    void (*stop)(const struct th_comm *comm, const char *why);
} th_comm;

typedef struct th_rank_state {
    int own, copies; // people of the rank, and copies of others' people near by in the last step
    int capacity;    // of both together
    float halo;      // how far beyond the own ground the copies reach [m]
    uint64_t bytes, messages; // sent since the world was created
    uint64_t moves;           // how often the ground was shared out anew
    size_t memory;            // that the world holds [bytes]
} th_rank_state;
// False: the world is a whole one.
TH_API bool th_world_rank_state(const th_world *world, th_rank_state *state);

// Can the scene run over ranks? TH_BAD_ARGUMENT names what cannot.
TH_API th_result th_ranks_check(const th_scene *scene, th_error *error);

#ifdef __cplusplus
}
#endif
#endif
