// The parts of the recorder (throng/record.h) that are tested by themselves.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_RECORD_RECORDER_H
#define TH_RECORD_RECORDER_H
#include "core/system/system.h"
#include "throng/scene_view.h"
#include <stdbool.h>

// ---- a bounded queue between one producer thread and one consumer thread
// It hands over the numbers of slots in a ring; the slots themselves belong to the owner. Only the thread that holds a
// slot's number may touch the slot.

typedef struct th_queue {
    th_gate *gate;
    int capacity, first, count; // slots first .. first + count - 1 (mod capacity) are full
    bool closed;                // the producer has ended
    bool broken;                // the consumer has given up
    double waited;              // seconds th_queue_reserve waited
} th_queue;

bool th_queue_init(th_queue *queue, int capacity); // false: no memory
void th_queue_destroy(th_queue *queue);            // when the other thread has ended

// ---- the producer. reserve waits for a free slot; -1: broken. push hands it over.
int th_queue_reserve(th_queue *queue);
void th_queue_push(th_queue *queue);
void th_queue_close(th_queue *queue);
// Waits until all that was pushed is released; false: broken.
bool th_queue_drain(th_queue *queue);
bool th_queue_works(th_queue *queue); // false: broken

// ---- the consumer. take waits for the oldest full slot; -1: closed and empty. release frees it.
int th_queue_take(th_queue *queue);
void th_queue_release(th_queue *queue);
void th_queue_break(th_queue *queue);

// ---- clearance: keeps rounding from moving people outside
// An agent half a millimetre before an exit would be rounded onto its line, and so onto the edge of the walkable area,
// which other programs call outside. Walls are no trouble, as agents keep a millimetre from them; exits drawn as lines
// and the lines between two levels are where people come arbitrarily close to an edge.

typedef struct th_edge {
    th_vec2 a, direction; // unit
    float length;
    int32_t level;
    // +1: walkable to the left of the direction, -1: to the right; where one stands on it.
    float side;
} th_edge;

// All edges of a scene that people walk up to; caller frees. NULL with *count = 0: none; *count < 0: no
// memory.
th_edge *th_edges_of(const th_scene_view *scene, int *count);

// Moves every person that is closer to an edge than `clearance` [m] to that distance, on the same side. With a
// clearance of one quantum rounding in x and y cannot reach the edge. `level` NULL: all on level 0.
void th_keep_clear(const th_edge *edges, int edge_count, float clearance, int count, double *x,
                   double *y, const int32_t *level);
#endif
