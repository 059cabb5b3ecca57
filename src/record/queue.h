// A bounded queue between one thread that brings and one that takes: numbers of slots in a ring, the
// slots themselves are the owner's. Whoever holds a number alone may touch that slot.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_RECORD_QUEUE_H
#define TH_RECORD_QUEUE_H
#include <pthread.h>
#include <stdbool.h>

typedef struct th_queue {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int capacity, first, count; // slots first .. first + count - 1 (mod capacity) are brought
    bool closed;                // nothing more will be brought
    bool broken;                // nothing more will be taken
    double waited;              // seconds th_queue_reserve stood still
} th_queue;

bool th_queue_init(th_queue *queue, int capacity); // false: the system has no mutex left
void th_queue_destroy(th_queue *queue);            // when the other thread has ended

// ---- the bringing side. reserve waits for a free slot; -1: broken. push hands it over.
int th_queue_reserve(th_queue *queue);
void th_queue_push(th_queue *queue);
void th_queue_close(th_queue *queue);
// Waits until all that was pushed is released; false: broken.
bool th_queue_drain(th_queue *queue);
bool th_queue_works(th_queue *queue); // false: broken

// ---- the taking side. take waits for the oldest; -1: closed and empty. release gives it back.
int th_queue_take(th_queue *queue);
void th_queue_release(th_queue *queue);
void th_queue_break(th_queue *queue);
#endif
