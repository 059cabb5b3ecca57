// Shares a loop over agents out among threads. SPDX-License-Identifier: Apache-2.0
#include "state/world.h"

typedef struct shared_loop {
    th_part_fn *part;
    const void *context;
    int count, grain;
    uint64_t sum;
} shared_loop;

static uint64_t run_part(const shared_loop *loop, int k) {
    int begin = k * loop->grain, end = begin + loop->grain;
    return loop->part(loop->context, begin, end < loop->count ? end : loop->count);
}

// Runs parts begin .. end - 1 of a loop, in a thread of the host.
static void run_task(int begin, int end, void *context) {
    shared_loop *loop = context;
    uint64_t sum = 0;
    for (int k = begin; k < end; ++k) sum += run_part(loop, k);
#pragma omp atomic
    loop->sum += sum;
}

static uint64_t share_among_hosts(const th_host_threads *host, shared_loop *loop, int parts) {
    void *task = host->begin(run_task, parts, loop, host->context);
    if (task && host->finish) host->finish(task, host->context);
    return loop->sum;
}

uint64_t th_share_out(const th_world *world, int count, int grain, th_part_fn *part,
                      const void *context) {
    shared_loop loop = {part, context, count, grain, 0};
    int parts = (count + grain - 1) / grain;
    if (world->host.begin && parts > 1) return share_among_hosts(&world->host, &loop, parts);
    uint64_t sum = 0;
#pragma omp parallel for num_threads(world->threads) schedule(dynamic, 1) reduction(+ : sum)
    for (int k = 0; k < parts; ++k) sum += run_part(&loop, k);
    return sum;
}
