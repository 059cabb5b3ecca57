// Threads that pull seeds. A run may begin at most AHEAD of the slowest one before it, so finished runs
// that wait for their turn stay few. SPDX-License-Identifier: Apache-2.0
#include "cli/jobs.h"
#include "cli/commands.h"
#include "core/error.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

enum { AHEAD = 2 };           // finished runs in waiting, per job
enum { WAKE_NS = 200000000 }; // [ns] how often `waiting` is called

typedef struct slot { // of one run
    th_simulation run;
    th_result result;
    th_error error;
    bool complete;
    atomic_llong clock; // simulated so far [ms]
} slot;

typedef struct pool {
    const th_jobs *def;
    th_simulation_def simulation;
    slot *slots; // run i is in slots[i % slot_count]
    int slot_count;
    int next;      // to begin
    int delivered; // in order
    atomic_bool stop;
    pthread_mutex_t lock, finish_lock;
    pthread_cond_t changed;
} pool;

// The next run whose slot is free; -1: there is none left.
static int take(pool *p) {
    pthread_mutex_lock(&p->lock);
    while (!atomic_load(&p->stop) && p->next < p->def->count &&
           p->next >= p->delivered + p->slot_count)
        pthread_cond_wait(&p->changed, &p->lock);
    bool more = !atomic_load(&p->stop) && !th_interrupted() && p->next < p->def->count;
    int index = more ? p->next++ : -1;
    pthread_mutex_unlock(&p->lock);
    return index;
}

static void do_run(pool *p, int index, slot *s) {
    const th_jobs *def = p->def;
    s->result = th_simulation_start(&s->run, &p->simulation, def->seeds[index], &s->error);
    if (s->result != TH_OK) return;
    s->run.stop = &p->stop;
    s->run.clock = &s->clock;
    if (index == 0 && def->begin_first)
        s->result = def->begin_first(def->context, &s->run, &s->error);
    if (s->result == TH_OK) s->result = th_simulation_run(&s->run, NULL, &s->error);
    // Only what was seen of it waits for its turn: a world of a million people is a gigabyte.
    th_world_destroy(s->run.world);
    s->run.world = NULL;
    if (s->result != TH_OK || !def->finished) return;
    if (th_observer_observation(s->run.observer)->interrupted) return;
    pthread_mutex_lock(&p->finish_lock);
    s->result = def->finished(def->context, index, &s->run, &s->error);
    pthread_mutex_unlock(&p->finish_lock);
}

static void *work(void *context) {
    pool *p = context;
    for (int index; (index = take(p)) >= 0;) {
        slot *s = &p->slots[index % p->slot_count];
        do_run(p, index, s);
        pthread_mutex_lock(&p->lock);
        s->complete = true;
        pthread_cond_broadcast(&p->changed);
        pthread_mutex_unlock(&p->lock);
    }
    return NULL;
}

// False: nobody works on the next run and nobody will.
static bool wait_for_next(pool *p) {
    slot *s = &p->slots[p->delivered % p->slot_count];
    pthread_mutex_lock(&p->lock);
    while (!s->complete && !(th_interrupted() && p->next <= p->delivered)) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += WAKE_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&p->changed, &p->lock, &until);
        pthread_mutex_unlock(&p->lock);
        if (p->def->waiting)
            p->def->waiting(p->def->context, 1e-3 * (double)atomic_load(&s->clock));
        pthread_mutex_lock(&p->lock);
    }
    bool complete = s->complete;
    pthread_mutex_unlock(&p->lock);
    return complete;
}

static void free_slot(pool *p) {
    slot *s = &p->slots[p->delivered % p->slot_count];
    th_simulation_release(&s->run);
    pthread_mutex_lock(&p->lock);
    s->run = (th_simulation){0};
    s->result = TH_OK;
    s->error = (th_error){0};
    s->complete = false;
    atomic_store(&s->clock, 0);
    ++p->delivered;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

static th_result deliver_all(pool *p, th_error *error) {
    bool more = true;
    while (more && p->delivered < p->def->count) {
        if (!wait_for_next(p)) return TH_OK;
        slot *s = &p->slots[p->delivered % p->slot_count];
        if (s->result != TH_OK) {
            *error = s->error;
            return error->code = s->result;
        }
        // Half a run says nothing about the sample, but is better than no result at all.
        bool half = th_observer_observation(s->run.observer)->interrupted;
        if (half && p->delivered > 0) return TH_OK;
        more = p->def->deliver(p->def->context, p->delivered, &s->run) && !half;
        free_slot(p);
    }
    return TH_OK;
}

// Signals are for the caller's thread, which owns the terminal.
static int start_threads(pool *p, pthread_t *threads, int wanted) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int count = 0;
    while (count < wanted && pthread_create(&threads[count], NULL, work, p) == 0) ++count;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return count;
}

static void stop_threads(pool *p, const pthread_t *threads, int count) {
    pthread_mutex_lock(&p->lock);
    atomic_store(&p->stop, true);
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    for (int i = 0; i < count; ++i) pthread_join(threads[i], NULL);
    for (int i = 0; i < p->slot_count; ++i) th_simulation_release(&p->slots[i].run);
}

static th_result run_pool(pool *p, int jobs, th_error *error) {
    p->slot_count = jobs * AHEAD;
    p->slots = calloc((size_t)p->slot_count, sizeof *p->slots);
    pthread_t *threads = calloc((size_t)jobs, sizeof *threads);
    th_result result = TH_OK;
    if (!p->slots || !threads) {
        result = th_fail(error, TH_NO_MEMORY, "", "no memory for %d runs at once", jobs);
    } else {
        int started = start_threads(p, threads, jobs);
        if (started > 0)
            result = deliver_all(p, error);
        else
            result = th_fail(error, TH_NO_MEMORY, "", "no thread could be started; fewer --jobs");
        stop_threads(p, threads, started);
    }
    free(threads);
    free(p->slots);
    return result;
}

th_result th_jobs_run(const th_jobs *def, th_error *error) {
    int cores = th_core_count(), jobs = def->jobs > 0 ? def->jobs : cores;
    if (jobs > def->count) jobs = def->count;
    if (jobs < 1) return TH_OK;
    pool p = {.def = def, .simulation = *def->simulation};
    if (p.simulation.threads == 0) p.simulation.threads = cores > jobs ? cores / jobs : 1;
    pthread_mutex_init(&p.lock, NULL);
    pthread_mutex_init(&p.finish_lock, NULL);
    pthread_cond_init(&p.changed, NULL);
    th_result result = run_pool(&p, jobs, error);
    pthread_cond_destroy(&p.changed);
    pthread_mutex_destroy(&p.finish_lock);
    pthread_mutex_destroy(&p.lock);
    return result;
}
