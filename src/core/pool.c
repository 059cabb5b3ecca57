// A pool lives for one call of th_pool_run: its jobs are seconds long, so starting threads costs nothing.
// One lock and one condition serve all threads. SPDX-License-Identifier: Apache-2.0
#include "core/pool.h"
#include "core/error.h"
#include <stdlib.h>

static const double WAKE =
    0.2; // [s] how often `waiting` is called; fast enough for a progress line

typedef struct pool {
    const th_pool_def *def;
    th_pool_progress progress;
    bool *done; // by place in the order of beginning
    bool stop;  // begin nothing more
    th_gate *gate;
} pool;

static int job_at(const th_pool_def *def, int place) {
    return def->order ? def->order[place] : place;
}

static bool must_wait(const pool *p) {
    const th_pool_progress *now = &p->progress;
    return !p->stop && p->def->window > 0 && now->begun < p->def->count &&
           now->begun >= now->delivered + p->def->window;
}

// The place of the next job; -1: none is left.
static int take(pool *p) {
    th_gate_lock(p->gate);
    while (must_wait(p)) th_gate_wait(p->gate);
    int place = !p->stop && p->progress.begun < p->def->count ? p->progress.begun++ : -1;
    if (place >= 0) p->progress.newest = job_at(p->def, place);
    th_gate_unlock(p->gate);
    return place;
}

static void work(void *context) {
    pool *p = context;
    for (int place; (place = take(p)) >= 0;) {
        p->def->run(p->def->context, job_at(p->def, place));
        th_gate_lock(p->gate);
        p->done[place] = true;
        ++p->progress.done;
        th_gate_ring(p->gate);
        th_gate_unlock(p->gate);
    }
}

static void stop(pool *p) {
    th_gate_lock(p->gate);
    p->stop = true;
    th_gate_ring(p->gate);
    th_gate_unlock(p->gate);
}

// False: the pool has stopped and that job was never begun.
static bool wait_for(pool *p, int place) {
    const th_pool_def *def = p->def;
    th_gate_lock(p->gate);
    while (!p->done[place] && !(p->stop && p->progress.begun <= place)) {
        th_gate_wait_for(p->gate, WAKE);
        th_pool_progress now = p->progress;
        th_gate_unlock(p->gate);
        if (def->waiting && !def->waiting(def->context, &now)) stop(p);
        th_gate_lock(p->gate);
    }
    bool done = p->done[place];
    th_gate_unlock(p->gate);
    return done;
}

static void deliver_all(pool *p) {
    const th_pool_def *def = p->def;
    for (int place = 0; place < def->count && wait_for(p, place); ++place) {
        bool more = !def->deliver || def->deliver(def->context, job_at(def, place));
        th_gate_lock(p->gate);
        ++p->progress.delivered;
        th_gate_ring(p->gate);
        th_gate_unlock(p->gate);
        if (!more) return;
    }
}

static th_result run_threads(pool *p, int wanted, th_error *error) {
    th_thread **threads = calloc((size_t)wanted, sizeof(th_thread *));
    p->done = calloc((size_t)p->def->count, sizeof *p->done);
    p->gate = th_gate_create();
    int started = 0;
    bool memory = threads && p->done && p->gate;
    while (memory && started < wanted && (threads[started] = th_thread_start(work, p))) ++started;
    if (started > 0) deliver_all(p);
    if (memory) stop(p);
    for (int i = 0; i < started; ++i) th_thread_join(threads[i]);
    th_gate_destroy(p->gate);
    free(threads);
    free(p->done);
    if (started > 0) return TH_OK;
    return th_fail(error, TH_NO_MEMORY, "", "no thread could be started; run fewer jobs at once");
}

// Where there are no threads: one job after the other.
static void run_alone(pool *p) {
    const th_pool_def *def = p->def;
    th_pool_progress *now = &p->progress;
    bool more = true;
    while (more && now->begun < def->count) {
        int job = job_at(def, now->begun++);
        now->newest = job;
        def->run(def->context, job);
        ++now->done;
        if (def->waiting && !def->waiting(def->context, now)) more = false;
        if (def->deliver && !def->deliver(def->context, job)) more = false;
        ++now->delivered;
    }
}

th_result th_pool_run(const th_pool_def *def, th_pool_progress *progress, th_error *error) {
    pool p = {.def = def, .progress = {.newest = -1}};
    th_result result = TH_OK;
    int threads = def->threads > 0 ? def->threads : th_core_count();
    if (threads > def->count) threads = def->count;
    if (!th_system_has_threads())
        run_alone(&p);
    else if (threads > 0)
        result = run_threads(&p, threads, error);
    if (progress) *progress = p.progress;
    return result;
}
