// A program that has threads of its own: the world's loops run on them, and the result is the same as with throng's.
// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <throng/throng.h>

static const char *const square =
    "{\"levels\": [{\"walkable\": {\"rect\": [0, 0, 60, 60]}}],"
    " \"exits\": [{\"id\": \"east\", \"line\": [[60, 20], [60, 40]]}],"
    " \"groups\": [{\"count\": 2000, \"area\": {\"rect\": [2, 2, 50, 58]}, \"to\": \"east\"}],"
    " \"run\": {\"step\": 0.05}}";

// The program's pool: workers that wait for a job, take pieces of it and count those that are done.
enum { WORKERS = 3, PIECE = 1 };
typedef struct pool {
    pthread_t threads[WORKERS];
    pthread_mutex_t lock;
    pthread_cond_t bell;
    th_task_fn *task;
    void *context;
    int items, busy, job; // job: its number
    bool over;
    atomic_int next;
} pool;

static void work_on(pool *p, th_task_fn *task, void *context, int items) {
    for (int k; (k = atomic_fetch_add(&p->next, PIECE)) < items;)
        task(k, k + PIECE < items ? k + PIECE : items, context);
}

static void *worker(void *context) {
    pool *p = context;
    int seen = 0;
    pthread_mutex_lock(&p->lock);
    while (!p->over) {
        if (p->job == seen) {
            pthread_cond_wait(&p->bell, &p->lock);
            continue;
        }
        seen = p->job;
        if (!p->task) continue; // the others were quicker
        th_task_fn *task = p->task;
        void *of_task = p->context;
        int items = p->items;
        ++p->busy;
        pthread_mutex_unlock(&p->lock);
        work_on(p, task, of_task, items);
        pthread_mutex_lock(&p->lock);
        --p->busy;
        pthread_cond_broadcast(&p->bell);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static void *begin(th_task_fn *task, int items, void *task_context, void *context) {
    pool *p = context;
    pthread_mutex_lock(&p->lock);
    p->task = task;
    p->context = task_context;
    p->items = items;
    atomic_store(&p->next, 0);
    ++p->job;
    pthread_cond_broadcast(&p->bell);
    pthread_mutex_unlock(&p->lock);
    return p;
}

static void finish(void *begun, void *context) {
    pool *p = context;
    (void)begun;
    work_on(p, p->task, p->context, p->items); // the thread that steps helps
    pthread_mutex_lock(&p->lock);
    p->task = NULL;
    while (p->busy > 0) pthread_cond_wait(&p->bell, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

static uint64_t run(const th_scene *scene, pool *p) {
    th_world_def def = th_world_def_default();
    th_world *world = NULL;
    th_error error;
    if (p) def.host = (th_host_threads){begin, finish, p};
    if (th_world_create(scene, &def, &world, &error) != TH_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 0;
    }
    th_world_step(world, 100);
    uint64_t hash = th_world_hash(world);
    th_world_destroy(world);
    return hash;
}

int main(void) {
    th_error error;
    th_scene *scene = NULL;
    th_scene_options options = th_scene_options_default();
    if (th_scene_load_json(square, strlen(square), "square", NULL, &options, &scene, &error) !=
        TH_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    static pool p = {.lock = PTHREAD_MUTEX_INITIALIZER, .bell = PTHREAD_COND_INITIALIZER};
    for (int k = 0; k < WORKERS; ++k) pthread_create(&p.threads[k], NULL, worker, &p);
    uint64_t own = run(scene, &p), throngs = run(scene, NULL);
    pthread_mutex_lock(&p.lock);
    p.over = true;
    pthread_cond_broadcast(&p.bell);
    pthread_mutex_unlock(&p.lock);
    for (int k = 0; k < WORKERS; ++k) pthread_join(p.threads[k], NULL);
    printf("hash %016llx with threads of the program, %016llx with throng's\n",
           (unsigned long long)own, (unsigned long long)throngs);
    th_scene_destroy(scene);
    return own == throngs && own != 0 ? 0 : 1;
}
