// The queue of record/queue.h. One condition serves both sides: there are only two threads.
// SPDX-License-Identifier: Apache-2.0
#include "record/queue.h"
#include "core/clock.h"

bool th_queue_init(th_queue *queue, int capacity) {
    *queue = (th_queue){.capacity = capacity};
    if (pthread_mutex_init(&queue->mutex, NULL) != 0) return false;
    if (pthread_cond_init(&queue->changed, NULL) == 0) return true;
    pthread_mutex_destroy(&queue->mutex);
    return false;
}

void th_queue_destroy(th_queue *queue) {
    pthread_cond_destroy(&queue->changed);
    pthread_mutex_destroy(&queue->mutex);
}

// Waits until fewer than `limit` slots are full, and adds up the time. The caller holds the mutex.
static bool wait_below(th_queue *queue, int limit) {
    double begin = queue->count >= limit && !queue->broken ? th_monotonic_seconds() : 0;
    while (queue->count >= limit && !queue->broken)
        pthread_cond_wait(&queue->changed, &queue->mutex);
    if (begin > 0) queue->waited += th_monotonic_seconds() - begin;
    return !queue->broken;
}

int th_queue_reserve(th_queue *queue) {
    pthread_mutex_lock(&queue->mutex);
    bool free = wait_below(queue, queue->capacity);
    int slot = free ? (queue->first + queue->count) % queue->capacity : -1;
    pthread_mutex_unlock(&queue->mutex);
    return slot;
}

void th_queue_push(th_queue *queue) {
    pthread_mutex_lock(&queue->mutex);
    ++queue->count;
    pthread_cond_signal(&queue->changed);
    pthread_mutex_unlock(&queue->mutex);
}

bool th_queue_drain(th_queue *queue) {
    pthread_mutex_lock(&queue->mutex);
    bool empty = wait_below(queue, 1);
    pthread_mutex_unlock(&queue->mutex);
    return empty;
}

bool th_queue_works(th_queue *queue) {
    pthread_mutex_lock(&queue->mutex);
    bool works = !queue->broken;
    pthread_mutex_unlock(&queue->mutex);
    return works;
}

int th_queue_take(th_queue *queue) {
    pthread_mutex_lock(&queue->mutex);
    while (queue->count == 0 && !queue->closed) pthread_cond_wait(&queue->changed, &queue->mutex);
    int slot = queue->count > 0 ? queue->first : -1;
    pthread_mutex_unlock(&queue->mutex);
    return slot;
}

void th_queue_release(th_queue *queue) {
    pthread_mutex_lock(&queue->mutex);
    queue->first = (queue->first + 1) % queue->capacity;
    --queue->count;
    pthread_cond_signal(&queue->changed);
    pthread_mutex_unlock(&queue->mutex);
}

static void set_flag(th_queue *queue, bool *flag) {
    pthread_mutex_lock(&queue->mutex);
    *flag = true;
    pthread_cond_signal(&queue->changed);
    pthread_mutex_unlock(&queue->mutex);
}

void th_queue_close(th_queue *queue) { set_flag(queue, &queue->closed); }
void th_queue_break(th_queue *queue) { set_flag(queue, &queue->broken); }
