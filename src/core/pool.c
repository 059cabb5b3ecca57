// A pool lives for one call of th_pool_run: its jobs are seconds long, so starting threads costs nothing.
// One lock and one condition serve all threads. SPDX-License-Identifier: Apache-2.0
#include "core/pool.h"
#include "core/error.h"
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { WAKE_NS = 200000000 }; // [ns] how often `waiting` is called; fast enough for a progress line

typedef struct pool {
    const th_pool_def *def;
    th_pool_progress progress;
    bool *done; // by place in the order of beginning
    bool stop;  // begin nothing more
    pthread_mutex_t lock;
    pthread_cond_t changed;
} pool;

int th_core_count(void) {
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return count > 0 ? count : 1;
}

int th_online_cores(void) {
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (int)count : 1;
}

// Linux: "load load load running/existing newest". Some microseconds.
int th_running_tasks(void) {
    char text[128];
    int file = open("/proc/loadavg", O_RDONLY | O_CLOEXEC), running = 0;
    if (file < 0) return 0;
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    text[length > 0 ? length : 0] = '\0';
    return sscanf(text, "%*s %*s %*s %d/", &running) == 1 && running > 0 ? running : 0;
}

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
    pthread_mutex_lock(&p->lock);
    while (must_wait(p)) pthread_cond_wait(&p->changed, &p->lock);
    int place = !p->stop && p->progress.begun < p->def->count ? p->progress.begun++ : -1;
    if (place >= 0) p->progress.newest = job_at(p->def, place);
    pthread_mutex_unlock(&p->lock);
    return place;
}

static void *work(void *context) {
    pool *p = context;
    for (int place; (place = take(p)) >= 0;) {
        p->def->run(p->def->context, job_at(p->def, place));
        pthread_mutex_lock(&p->lock);
        p->done[place] = true;
        ++p->progress.done;
        pthread_cond_broadcast(&p->changed);
        pthread_mutex_unlock(&p->lock);
    }
    return NULL;
}

static void wait_a_while(pool *p) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += WAKE_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&p->changed, &p->lock, &until);
}

static void stop(pool *p) {
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

// False: the pool has stopped and that job was never begun.
static bool wait_for(pool *p, int place) {
    const th_pool_def *def = p->def;
    pthread_mutex_lock(&p->lock);
    while (!p->done[place] && !(p->stop && p->progress.begun <= place)) {
        wait_a_while(p);
        th_pool_progress now = p->progress;
        pthread_mutex_unlock(&p->lock);
        if (def->waiting && !def->waiting(def->context, &now)) stop(p);
        pthread_mutex_lock(&p->lock);
    }
    bool done = p->done[place];
    pthread_mutex_unlock(&p->lock);
    return done;
}

static void deliver_all(pool *p) {
    const th_pool_def *def = p->def;
    for (int place = 0; place < def->count && wait_for(p, place); ++place) {
        bool more = !def->deliver || def->deliver(def->context, job_at(def, place));
        pthread_mutex_lock(&p->lock);
        ++p->progress.delivered;
        pthread_cond_broadcast(&p->changed);
        pthread_mutex_unlock(&p->lock);
        if (!more) return;
    }
}

// Signals are for the caller's thread, which may own a terminal.
static int start_threads(pool *p, pthread_t *threads, int wanted) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int count = 0;
    while (count < wanted && pthread_create(&threads[count], NULL, work, p) == 0) ++count;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return count;
}

static th_result run_threads(pool *p, int wanted, th_error *error) {
    pthread_t *threads = calloc((size_t)wanted, sizeof *threads);
    p->done = calloc((size_t)p->def->count, sizeof *p->done);
    int started = threads && p->done ? start_threads(p, threads, wanted) : 0;
    if (started > 0) deliver_all(p);
    stop(p);
    for (int i = 0; i < started; ++i) pthread_join(threads[i], NULL);
    free(threads);
    free(p->done);
    if (started > 0) return TH_OK;
    return th_fail(error, TH_NO_MEMORY, "", "no thread could be started; run fewer jobs at once");
}

static void init_locks(pool *p) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&p->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&p->lock, NULL);
}

th_result th_pool_run(const th_pool_def *def, th_pool_progress *progress, th_error *error) {
    pool p = {.def = def, .progress = {.newest = -1}};
    th_result result = TH_OK;
    int threads = def->threads > 0 ? def->threads : th_core_count();
    if (threads > def->count) threads = def->count;
    if (threads > 0) {
        init_locks(&p);
        result = run_threads(&p, threads, error);
        pthread_cond_destroy(&p.changed);
        pthread_mutex_destroy(&p.lock);
    }
    if (progress) *progress = p.progress;
    return result;
}
