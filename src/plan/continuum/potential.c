// Solving the eikonal equation with a cost per face.
//
// Marching settles nodes in the order of their potential; a quadrant's solution is never below its two neighbours, so
// that order is right for any costs per face. O(n log n).
//
// Buckets (Tsitsiklis 1995; Yatziv, Bartesaghi, Sapiro 2006) are narrower than the cheapest face. Within one the order is
// any, and a node that a later one lowers is taken again, so that the result is the same up to SETTLED. O(n).
// SPDX-License-Identifier: Apache-2.0
#include "plan/continuum/continuum.h"
#include <string.h>

// A change smaller than this share is not passed on: a few roundings. [-]
static const float SETTLED = 1e-6f;

// ---- buckets

bool th_buckets_create(th_buckets *buckets, const th_graph *graph, th_arena *arena) {
    size_t count = (size_t)graph->nodes->count;
    *buckets = (th_buckets){.graph = graph};
    buckets->links = th_arena_alloc(arena, count, sizeof *buckets->links);
    buckets->first = th_arena_alloc(arena, TH_BUCKETS + 1, sizeof(int));
    return !arena->failed;
}

static void take_out(th_buckets *b, int node) {
    th_bucket_link *link = &b->links[node];
    if (link->next >= 0) b->links[link->next].before = link->before;
    if (link->before >= 0)
        b->links[link->before].next = link->next;
    else
        b->first[link->bucket] = link->next;
    if (link->bucket == TH_BUCKETS)
        --b->far;
    else
        --b->near;
    link->bucket = -1;
}

static int bucket_number(const th_buckets *b, float value) {
    return (int)th_min(value * b->per_bucket, 1e9f);
}

static void put_in(th_buckets *b, int node, float value) {
    int number = bucket_number(b, value);
    int bucket = number - b->now < TH_BUCKETS ? number & (TH_BUCKETS - 1) : TH_BUCKETS;
    th_bucket_link *link = &b->links[node];
    if (link->bucket == bucket) return;
    if (link->bucket >= 0) take_out(b, node);
    *link = (th_bucket_link){b->first[bucket], -1, bucket};
    if (link->next >= 0) b->links[link->next].before = node;
    b->first[bucket] = node;
    if (bucket == TH_BUCKETS)
        ++b->far;
    else
        ++b->near;
}

// Only far ones are left: the buckets begin with the lowest of them.
static void come_near(th_buckets *b, const float *potential) {
    int node = b->first[TH_BUCKETS], next;
    float least = TH_UNREACHABLE;
    for (int k = node; k >= 0; k = b->links[k].next) least = th_min(least, potential[k]);
    b->now = bucket_number(b, least);
    for (; node >= 0; node = next) {
        next = b->links[node].next;
        put_in(b, node, potential[node]);
    }
}

// -1: none is left.
static int take_lowest(th_buckets *b, const float *potential) {
    if (b->near == 0 && b->far == 0) return -1;
    if (b->near == 0) come_near(b, potential);
    while (b->first[b->now & (TH_BUCKETS - 1)] < 0) ++b->now;
    int node = b->first[b->now & (TH_BUCKETS - 1)];
    take_out(b, node);
    return node;
}

static void lower(th_buckets *b, float *potential, int node, float value) {
    float old = potential[node];
    if (!(value < old)) return;
    potential[node] = value;
    if (value < (1.0f - SETTLED) * old || b->links[node].bucket >= 0) put_in(b, node, value);
}

// The two quadrants of the neighbour through face f that `node` is part of.
static void lower_neighbour(th_buckets *b, const th_faces *faces, float *potential, int node, int f,
                            const int *step) {
    int to = node + step[f], back = f ^ 2;
    float here = potential[node];
    if (!(here < potential[to])) return; // it does not come from here
    const float *cost = faces->cost[to].face;
    float best = here + cost[back];
    if (!(best < TH_CONTINUUM_FAR)) return;
    for (int side = (f + 1) & 3, k = 0; k < 2; ++k, side ^= 2) {
        if (cost[side] >= TH_CONTINUUM_SHUT) continue;
        float beside = potential[to + step[side]];
        if (beside < here + cost[back]) // otherwise it is above what comes from here alone
            best = th_min(best, th_quadrant_potential(here, beside, cost[back], cost[side]));
    }
    lower(b, potential, to, best);
}

// Across the line between two levels there is one neighbour, and no quadrant.
static void lower_through_portals(th_buckets *b, const th_faces *faces, float *potential,
                                  int node) {
    const th_graph *graph = b->graph;
    const th_portal *portal = th_portal_find(graph, node);
    for (int f = 0; f < TH_FACES; ++f) {
        int from = portal->to[2 * f];
        if (from < 0) continue;
        const th_portal *other = th_portal_find(graph, from);
        const float *cost = faces->portal_cost + TH_FACES * (other - graph->portals);
        for (int k = 0; k < TH_FACES; ++k)
            if (other->to[2 * k] == node) lower(b, potential, from, potential[node] + cost[k]);
    }
}

static void empty(th_buckets *b, float ground_cost) {
    const th_nodes *nodes = b->graph->nodes;
    for (int i = 0; i < nodes->count; ++i) b->links[i].bucket = -1;
    for (int k = 0; k <= TH_BUCKETS; ++k) b->first[k] = -1;
    b->per_bucket = 1.0f / (ground_cost * nodes->spacing);
    b->now = b->near = b->far = 0;
    b->taken = 0;
}

void th_buckets_list(const th_buckets *b, void *entries) {
    char *to = entries;
    for (int k = 0; k <= TH_BUCKETS; ++k)
        for (int node = b->first[k]; node >= 0; node = b->links[node].next) {
            memcpy(to, &(th_bucket_entry){node, k}, sizeof(th_bucket_entry));
            to += sizeof(th_bucket_entry);
        }
}

void th_buckets_fill(th_buckets *b, float ground_cost, int now, const void *entries, int count) {
    empty(b, ground_cost);
    b->now = now;
    for (int k = count - 1; k >= 0; --k) { // each becomes the first of its bucket
        th_bucket_entry entry;
        memcpy(&entry, (const char *)entries + (size_t)k * sizeof entry, sizeof entry);
        int node = entry.node, bucket = entry.bucket;
        if (b->links[node].bucket >= 0) continue;
        b->links[node] = (th_bucket_link){b->first[bucket], -1, bucket};
        if (b->first[bucket] >= 0) b->links[b->first[bucket]].before = node;
        b->first[bucket] = node;
        ++*(bucket == TH_BUCKETS ? &b->far : &b->near);
    }
}

void th_potential_begin(th_buckets *b, float ground_cost, const th_goal_node *goals, int goal_count,
                        float *potential) {
    empty(b, ground_cost);
    for (int i = 0; i < b->graph->nodes->count; ++i) potential[i] = TH_UNREACHABLE;
    for (int g = 0; g < goal_count; ++g)
        lower(b, potential, goals[g].node, ground_cost * goals[g].distance);
}

bool th_potential_advance(th_buckets *buckets, const th_faces *faces, float *potential,
                          uint64_t most) {
    th_buckets own = *buckets, *b = &own; // its counters apart from those of other threads
    const th_nodes *nodes = b->graph->nodes;
    uint64_t end = b->taken + most;
    int node = 0;
    for (; b->taken < end && (node = take_lowest(b, potential)) >= 0; ++b->taken) {
        int nx = nodes->levels[th_node_level_of(nodes, node)].nx;
        const int step[TH_FACES] = {1, nx, -1, -nx};
        int then = b->links[node]
                       .next; // taken next, if nothing comes in between: by then it is in the cache
        for (int f = 0; then >= 0 && f < TH_FACES; ++f)
            if (b->graph->links[then] >> 2 * f & 1)
                __builtin_prefetch(&faces->cost[then + step[f]]);
        for (int f = 0; f < TH_FACES; ++f)
            if (b->graph->links[node] >> 2 * f & 1)
                lower_neighbour(b, faces, potential, node, f, step);
        if (nodes->flags[node] & TH_NODE_PORTAL) lower_through_portals(b, faces, potential, node);
    }
    *buckets = own;
    if (node >= 0) return false;
    for (int i = 0; i < nodes->count; ++i)
        if (!(potential[i] < TH_CONTINUUM_FAR)) potential[i] = TH_UNREACHABLE;
    return true;
}

void th_potential_solve(th_buckets *buckets, const th_faces *faces, float ground_cost,
                        const th_goal_node *goals, int goal_count, float *potential) {
    th_potential_begin(buckets, ground_cost, goals, goal_count, potential);
    while (!th_potential_advance(buckets, faces, potential, UINT64_MAX / 2)) {
    }
}

// ---- marching

float th_potential_update(const th_graph *graph, const th_faces *faces, const float *potential,
                          int node, int nx) {
    const int step[TH_FACES] = {1, nx, -1, -nx};
    float value[TH_FACES], best = TH_UNREACHABLE;
    for (int f = 0; f < TH_FACES; ++f) {
        bool linked = graph->links[node] >> 2 * f & 1;
        value[f] = linked ? potential[node + step[f]] : TH_UNREACHABLE;
    }
    for (int x = 0; x < TH_FACES; x += 2)
        for (int y = 1; y < TH_FACES; y += 2) {
            const float *cost = faces->cost[node].face;
            best = th_min(best, th_quadrant_potential(value[x], value[y], cost[x], cost[y]));
        }
    if (!(graph->nodes->flags[node] & TH_NODE_PORTAL)) return best;
    const th_portal *portal = th_portal_find(graph, node);
    const float *cost = faces->portal_cost + TH_FACES * (portal - graph->portals);
    for (int f = 0; f < TH_FACES; ++f)
        if (portal->to[2 * f] >= 0) best = th_min(best, potential[portal->to[2 * f]] + cost[f]);
    return best;
}

void th_potential_march(const th_graph *graph, const th_faces *faces, float ground_cost,
                        const th_goal_node *goals, int goal_count, th_front *front,
                        float *potential) {
    const th_nodes *nodes = graph->nodes;
    for (int i = 0; i < nodes->count; ++i) {
        potential[i] = TH_UNREACHABLE;
        front->place[i] = 0;
    }
    front->count = 0;
    for (int g = 0; g < goal_count; ++g)
        th_front_offer(front, potential, goals[g].node, ground_cost * goals[g].distance);
    while (front->count > 0) {
        int node = th_front_take(front), nx = nodes->levels[th_node_level_of(nodes, node)].nx;
        for (int f = 0; f < TH_FACES; ++f) {
            int to = th_neighbour(graph, node, 2 * f, nx);
            if (to < 0 || front->place[to] < 0) continue;
            int nx_to = nodes->levels[th_node_level_of(nodes, to)].nx;
            float value = th_potential_update(graph, faces, potential, to, nx_to);
            if (value < TH_CONTINUUM_FAR) th_front_offer(front, potential, to, value);
        }
    }
}
