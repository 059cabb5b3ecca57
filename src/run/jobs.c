// Runs in a pool of threads. A run may begin at most AHEAD of the slowest one before it, so finished runs
// that wait for their turn stay few. SPDX-License-Identifier: Apache-2.0
#include "run/jobs.h"
#include "core/error.h"
#include "core/pool.h"
#include <pthread.h>
#include <stdlib.h>

enum { AHEAD = 2 }; // finished runs in waiting, per job

typedef struct slot { // of one run
    th_simulation run;
    th_result result;
    th_error error;
    bool made;          // false: it was not begun any more
    atomic_llong clock; // simulated so far [ms]
} slot;

typedef struct running {
    const th_jobs *def;
    th_simulation_def simulation;
    slot *slots; // run i is in slots[i % slot_count]
    int slot_count;
    atomic_bool stop; // the runs that are left are not wanted
    pthread_mutex_t finish_lock;
    th_result result;
    th_error *error;
} running;

static void make_run(void *context, int index) {
    running *r = context;
    const th_jobs *def = r->def;
    slot *s = &r->slots[index % r->slot_count];
    s->made = !atomic_load(&r->stop) && !atomic_load(def->interrupt);
    if (!s->made) return;
    s->result = th_simulation_start(&s->run, &r->simulation, def->seeds[index], &s->error);
    if (s->result != TH_OK) return;
    s->run.stop = &r->stop;
    s->run.interrupt = def->interrupt;
    s->run.clock = &s->clock;
    if (index == 0 && def->begin_first)
        s->result = def->begin_first(def->context, &s->run, &s->error);
    if (s->result == TH_OK) s->result = th_simulation_run(&s->run, &s->error);
    // Only what was seen of it waits for its turn: a world of a million people is a gigabyte.
    th_world_destroy(s->run.world);
    s->run.world = NULL;
    if (s->result != TH_OK || !def->finished) return;
    if (th_observer_observation(s->run.observer)->interrupted) return;
    pthread_mutex_lock(&r->finish_lock);
    s->result = def->finished(def->context, index, &s->run, &s->error);
    pthread_mutex_unlock(&r->finish_lock);
}

// False: no further run is wanted.
static bool hand_over(running *r, int index, slot *s) {
    if (!s->made) return false;
    if (s->result != TH_OK) {
        *r->error = s->error;
        r->result = r->error->code = s->result;
        return false;
    }
    // Half a run says nothing about the sample, but is better than no result at all.
    bool half = th_observer_observation(s->run.observer)->interrupted;
    if (half && index > 0) return false;
    return r->def->deliver(r->def->context, index, &s->run) && !half;
}

static bool deliver(void *context, int index) {
    running *r = context;
    slot *s = &r->slots[index % r->slot_count];
    bool more = hand_over(r, index, s);
    if (!more) atomic_store(&r->stop, true);
    th_simulation_release(&s->run);
    s->run = (th_simulation){0};
    s->result = TH_OK;
    s->error = (th_error){0};
    atomic_store(&s->clock, 0);
    return more;
}

static bool waiting(void *context, const th_pool_progress *progress) {
    running *r = context;
    slot *s = &r->slots[progress->delivered % r->slot_count];
    r->def->waiting(r->def->context, 1e-3 * (double)atomic_load(&s->clock));
    return !atomic_load(r->def->interrupt);
}

th_result th_jobs_run(const th_jobs *def, th_error *error) {
    int cores = th_core_count(), jobs = def->jobs > 0 ? def->jobs : cores;
    if (jobs > def->count) jobs = def->count;
    if (jobs < 1) return TH_OK;
    running r = {.def = def, .simulation = *def->simulation, .error = error};
    if (r.simulation.threads == 0) r.simulation.threads = cores > jobs ? cores / jobs : 1;
    r.slot_count = jobs * AHEAD;
    r.slots = calloc((size_t)r.slot_count, sizeof *r.slots);
    if (!r.slots) return th_fail(error, TH_NO_MEMORY, "", "no memory for %d runs at once", jobs);
    pthread_mutex_init(&r.finish_lock, NULL);
    const th_pool_def pool = {.count = def->count,
                              .threads = jobs,
                              .window = r.slot_count,
                              .run = make_run,
                              .deliver = deliver,
                              .waiting = waiting,
                              .context = &r};
    th_result result = th_pool_run(&pool, NULL, error);
    for (int i = 0; i < r.slot_count; ++i) th_simulation_release(&r.slots[i].run);
    pthread_mutex_destroy(&r.finish_lock);
    free(r.slots);
    return result == TH_OK ? r.result : result;
}
