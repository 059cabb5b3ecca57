// The nodes a search has seen but not settled, nearest first: a heap with four children each, which
// misses the cache less than with two. Ties go to the smaller node. SPDX-License-Identifier: Apache-2.0
#ifndef TH_CORE_FRONT_H
#define TH_CORE_FRONT_H
#include "core/memory.h"
#include <string.h>

typedef struct th_front_entry {
    float distance;
    int node;
} th_front_entry;

// Work space of one search: as many entries as there are nodes.
typedef struct th_front {
    th_front_entry *heap;
    int *place; // 0: far, -1: settled, else heap position + 1
    int count;
} th_front;

static inline void th_front_destroy(th_front *front, int nodes, const th_memory *memory) {
    th_dealloc(memory, front->heap, (size_t)nodes, sizeof *front->heap);
    th_dealloc(memory, front->place, (size_t)nodes, sizeof *front->place);
    memset(front, 0, sizeof *front);
}

static inline bool th_front_create(th_front *front, int nodes, const th_memory *memory) {
    front->heap = (th_front_entry *)th_alloc(memory, (size_t)nodes, sizeof *front->heap);
    front->place = (int *)th_alloc(memory, (size_t)nodes, sizeof *front->place);
    front->count = 0;
    if (front->heap && front->place) return true;
    th_front_destroy(front, nodes, memory);
    return false;
}

static inline bool th_front_nearer(th_front_entry a, th_front_entry b) {
    return a.distance < b.distance || (a.distance == b.distance && a.node < b.node);
}

static inline void th_front_put(th_front *front, int at, th_front_entry entry) {
    front->heap[at] = entry;
    front->place[entry.node] = at + 1;
}

// Records a shorter way to an unsettled node.
static inline void th_front_offer(th_front *front, float *distance, int node, float value) {
    if (front->place[node] < 0 || !(value < distance[node])) return;
    distance[node] = value;
    int at = front->place[node] > 0 ? front->place[node] - 1 : front->count++;
    th_front_entry entry = {value, node};
    while (at > 0 && th_front_nearer(entry, front->heap[(at - 1) / 4])) {
        th_front_put(front, at, front->heap[(at - 1) / 4]);
        at = (at - 1) / 4;
    }
    th_front_put(front, at, entry);
}

// Settles the nearest node and returns it.
static inline int th_front_take(th_front *front) {
    int node = front->heap[0].node;
    th_front_entry last = front->heap[--front->count];
    front->place[node] = -1;
    if (front->count == 0) return node;
    int at = 0;
    for (;;) {
        int child = 4 * at + 1, end = child + 4 < front->count ? child + 4 : front->count;
        if (child >= end) break;
        for (int i = child + 1; i < end; ++i)
            if (th_front_nearer(front->heap[i], front->heap[child])) child = i;
        if (!th_front_nearer(front->heap[child], last)) break;
        th_front_put(front, at, front->heap[child]);
        at = child;
    }
    th_front_put(front, at, last);
    return node;
}
#endif
