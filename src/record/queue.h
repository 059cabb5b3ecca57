// A bounded queue between one producer thread and one consumer thread. It hands over the numbers of slots in a
// ring; the slots themselves belong to the owner. Only the thread that holds a slot's number may touch the slot.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_RECORD_QUEUE_H
#define TH_RECORD_QUEUE_H
#include <pthread.h>
#include <stdbool.h>

typedef struct th_queue {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int capacity, first, count; // slots first .. first + count - 1 (mod capacity) are full
    bool closed;                // the producer has ended
    bool broken;                // the consumer has given up
    double waited;              // seconds th_queue_reserve waited
} th_queue;

bool th_queue_init(th_queue *queue, int capacity); // false: the system has no mutex left
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
#endif
