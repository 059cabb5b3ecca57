// Many worlds on one device at once. A small crowd leaves a GPU idle: its step is some seventy launches, each as long
// for three thousand people as for fifty thousand. The worlds of a batch, each stepped by a thread of its own, list
// their tasks (device.cuh). A world that asks for something waits until its list is done; one of those that wait does
// the lists of all, with tasks of the same kind in one launch. Every task works on its own world, so each world has the
// bits that it has alone, whichever worlds it meets. SPDX-License-Identifier: Apache-2.0
#include "device/batch.cuh"
extern "C" {
#include "core/error.h"
#include "core/system/system.h"
}

namespace th {

thread_local seat *seated = nullptr;

enum {
    LINE = 16,      // bytes that copies are aligned to
    PAGE = 1 << 20, // bytes on their way from and to the host, of a world
#ifdef __CUDACC__
    LISTED_MOST =
        4000, // tasks in a list, which a world that asks for nothing does not exceed by far
#else
    LISTED_MOST = 50, // on the emulated device, whose tests are short
#endif
    COPY_BLOCKS_MOST = 64
};
// [s] How long worlds that are ready wait for others, when the device has nothing to do: a third of a round of tasks.
static const double PATIENCE = 1e-4;

struct entry { // of a list
    const task_kind *kind;
    size_t at; // of the task in `tasks`
    int blocks;
    size_t shared;
};
struct answer {
    void *host;
    const char *from;
    size_t bytes;
};

// Grows an array of `count` elements for one more; false: no memory.
template <class T> static bool grow(T **array, int count, int *capacity) {
    if (count < *capacity) return true;
    int wider = *capacity ? 2 * *capacity : 64;
    T *more = (T *)realloc((void *)*array, (size_t)wider * sizeof(T));
    if (!more) return false;
    *array = more;
    *capacity = wider;
    return true;
}

struct seat {
    th_batch *batch;
    seat *next; // free one
    entry *entries;
    answer *answers;
    char *tasks;
    char *page; // PAGE bytes that host and device see
    int entry_count, entry_capacity, answer_count, answer_capacity;
    size_t task_bytes, task_room, page_bytes;
    bool done, failed;
};

struct round_entry { // tasks of one kind, launched together
    const task_kind *kind;
    size_t at;
    int count, blocks;
    size_t shared;
};

} // namespace th

struct th_batch {
    th_gate *gate;
    th::seat *free_seats, **ready;
    int members, ready_count, ready_capacity;
    double first_ready; // when the first of `ready` came [s]
    bool playing;
    // Of the thread that does the lists.
    th::seat **now;
    int now_capacity;
    int *next; // entry of each list
    int next_capacity;
    th::round_entry *rounds;
    int round_count, round_capacity;
    char *staged, *tasks; // on the host, on the device
    size_t staged_bytes, staged_room;
    th::queue queue;
};

namespace th {

#ifdef __CUDACC__
static bool make_queue(queue *queue) {
    return cudaStreamCreateWithFlags(queue, cudaStreamNonBlocking) == cudaSuccess;
}
static void end_queue(queue queue) { cudaStreamDestroy(queue); }
static bool allocate_seen(char **page, size_t bytes) {
    return cudaHostAlloc((void **)page, bytes, cudaHostAllocPortable | cudaHostAllocMapped) ==
           cudaSuccess;
}
static void release_seen(char *page) { cudaFreeHost(page); }
static bool send_tasks(th_batch *batch) {
    cudaGetLastError(); // what this thread met before is not of these lists
    return cudaMemcpyAsync(batch->tasks, batch->staged, batch->staged_bytes, cudaMemcpyHostToDevice,
                           batch->queue) == cudaSuccess;
}
static bool wait_for(queue queue) {
    return cudaStreamSynchronize(queue) == cudaSuccess && cudaGetLastError() == cudaSuccess;
}
#else
static bool make_queue(queue *queue) {
    *queue = nullptr;
    return true;
}
static void end_queue(queue) {}
static bool allocate_seen(char **page, size_t bytes) { return allocate((void **)page, bytes); }
static void release_seen(char *page) { free(page); }
static bool send_tasks(th_batch *batch) {
    memcpy(batch->tasks, batch->staged, batch->staged_bytes);
    return true;
}
static bool wait_for(queue) { return true; }
#endif

// ---- listing

static size_t whole_lines(size_t bytes) { return (bytes + LINE - 1) / LINE * LINE; }

void list_task(const task_kind *kind, const void *task, int blocks, size_t shared) {
    seat *s = seated;
    if (s->entry_count >= LISTED_MOST) do_listed();
    size_t size = whole_lines(kind->size);
    if (s->task_bytes + size > s->task_room) {
        size_t wider = 2 * s->task_room + size + 4096;
        char *more = (char *)realloc(s->tasks, wider);
        if (!more) s->failed = true;
        if (!more) return;
        s->tasks = more;
        s->task_room = wider;
    }
    if (!grow(&s->entries, s->entry_count, &s->entry_capacity)) {
        s->failed = true;
        return;
    }
    memcpy(s->tasks + s->task_bytes, task, kind->size);
    s->entries[s->entry_count++] = {kind, s->task_bytes, blocks, shared};
    s->task_bytes += size;
}

// Copies; as many bytes at once as all three numbers allow.
struct copy_task {
    enum { WIDTH = THREADS, RESIDENT = 0 };
    char *to;
    const char *from;
    size_t bytes;
#ifdef __CUDACC__
    template <class Part> __device__ void copy() const {
        for (size_t k = blockIdx.x * THREADS + threadIdx.x; k < bytes / sizeof(Part);
             k += (size_t)gridDim.x * THREADS)
            ((Part *)to)[k] = ((const Part *)from)[k];
    }
    __device__ void operator()() const {
        size_t parts = (size_t)to | (size_t)from | bytes;
        if (parts % sizeof(uint4) == 0)
            copy<uint4>();
        else if (parts % sizeof(uint32_t) == 0)
            copy<uint32_t>();
        else
            copy<char>();
    }
#else
    void operator()() const { memcpy(to, from, bytes); }
#endif
};
static void list_copy(void *to, const void *from, size_t bytes) {
    int blocks = blocks_of((int)(bytes / LINE) + 1);
    launch(copy_task{(char *)to, (const char *)from, bytes},
           blocks < COPY_BLOCKS_MOST ? blocks : (int)COPY_BLOCKS_MOST);
}

// As much of the page as is free, at most `bytes`; all of it once the list is done.
static char *some_room(size_t *bytes) {
    seat *s = seated;
    // A full list would be done between here and the copy's entry in it, and give the room away.
    if (s->page_bytes >= PAGE || s->entry_count >= LISTED_MOST) do_listed();
    char *room = s->page + s->page_bytes;
    if (*bytes > PAGE - s->page_bytes) *bytes = PAGE - s->page_bytes;
    s->page_bytes += whole_lines(*bytes);
    return room;
}

bool put_listed(void *device, const void *host, size_t bytes) {
    for (size_t at = 0, part; at < bytes; at += part) {
        part = bytes - at;
        char *room = some_room(&part);
        memcpy(room, (const char *)host + at, part);
        list_copy((char *)device + at, room, part);
    }
    return !seated->failed;
}

bool ask_listed(void *host, const void *device, size_t bytes) {
    seat *s = seated;
    for (size_t at = 0, part; at < bytes; at += part) {
        part = bytes - at;
        char *room = some_room(&part);
        if (!grow(&s->answers, s->answer_count, &s->answer_capacity)) return false;
        list_copy(room, (const char *)device + at, part);
        s->answers[s->answer_count++] = {(char *)host + at, room, part};
    }
    return !s->failed;
}

void clear_listed(void *device, size_t bytes) {
    if (((size_t)device | bytes) % sizeof(uint32_t) == 0) {
        uint32_t *words = (uint32_t *)device;
        each((int)(bytes / sizeof *words), TH_LAMBDA(int k) { words[k] = 0; });
    } else {
        char *bytewise = (char *)device;
        each((int)bytes, TH_LAMBDA(int k) { bytewise[k] = 0; });
    }
}

// ---- doing

// The list with the most left has its next task done, together with all whose next is of the same kind: worlds that are
// at different places of a step come together at its end.
static bool next_round(th_batch *batch, int lists) {
    int longest = -1, most = 0;
    for (int k = 0; k < lists; ++k) {
        int left = batch->now[k]->entry_count - batch->next[k];
        if (left > most) longest = k;
        if (left > most) most = left;
    }
    if (longest < 0) return false;
    const task_kind *kind = batch->now[longest]->entries[batch->next[longest]].kind;
    round_entry round = {kind, batch->staged_bytes, 0, 0, 0};
    for (int k = 0; k < lists; ++k) {
        int own = (longest + k) % lists;
        const seat *s = batch->now[own];
        if (batch->next[own] >= s->entry_count) continue;
        const entry *e = &s->entries[batch->next[own]];
        if (e->kind != kind || (kind->alone && round.count > 0)) continue;
        memcpy(batch->staged + round.at + (size_t)round.count * kind->size, s->tasks + e->at,
               kind->size);
        round.blocks = e->blocks > round.blocks ? e->blocks : round.blocks;
        round.shared = e->shared > round.shared ? e->shared : round.shared;
        round.count++;
        batch->next[own]++;
    }
    batch->staged_bytes += whole_lines((size_t)round.count * kind->size);
    batch->rounds[batch->round_count++] = round;
    return true;
}

static bool make_room(th_batch *batch, int lists) {
    size_t bytes = LINE;
    int entries = 0;
    for (int k = 0; k < lists; ++k) {
        bytes += batch->now[k]->task_bytes;
        entries += batch->now[k]->entry_count;
    }
    while (batch->round_capacity < entries)
        if (!grow(&batch->rounds, batch->round_capacity, &batch->round_capacity)) return false;
    while (batch->next_capacity < lists)
        if (!grow(&batch->next, batch->next_capacity, &batch->next_capacity)) return false;
    if (bytes <= batch->staged_room) return true;
    if (batch->staged) release_seen(batch->staged);
    if (batch->tasks) release(batch->tasks);
    batch->staged = batch->tasks = nullptr;
    batch->staged_room = 0;
    if (!allocate_seen(&batch->staged, 2 * bytes) || !allocate((void **)&batch->tasks, 2 * bytes))
        return false;
    batch->staged_room = 2 * bytes;
    return true;
}

// Does the lists of batch->now.
static bool play(th_batch *batch, int lists) {
    batch->round_count = 0;
    batch->staged_bytes = 0;
    if (!make_room(batch, lists)) return false;
    for (int k = 0; k < lists; ++k) batch->next[k] = 0;
    while (next_round(batch, lists)) {
    }
    bool good = send_tasks(batch);
    for (int r = 0; good && r < batch->round_count; ++r) {
        const round_entry *round = &batch->rounds[r];
        const char *tasks = round->kind->alone ? batch->staged : batch->tasks;
        round->kind->launch(tasks + round->at, round->count, round->blocks, round->shared,
                            batch->queue);
    }
    return wait_for(batch->queue) && good;
}

static bool enough(const th_batch *batch) {
    return batch->ready_count >= batch->members ||
           (batch->ready_count > 0 && th_monotonic_seconds() - batch->first_ready > PATIENCE);
}

// This thread does what all have ready; the gate is locked before and after.
static void lead(th_batch *batch) {
    int lists = batch->ready_count;
    seat **ready = batch->ready;
    batch->ready = batch->now; // the next ones come while these are done
    batch->now = ready;
    int capacity = batch->ready_capacity;
    batch->ready_capacity = batch->now_capacity;
    batch->now_capacity = capacity;
    batch->ready_count = 0;
    batch->playing = true;
    th_gate_unlock(batch->gate);
    seat *own = seated;
    seated = nullptr; // kernels that launch others do so at once
    bool good = play(batch, lists);
    seated = own;
    th_gate_lock(batch->gate);
    for (int k = 0; k < lists; ++k) {
        batch->now[k]->done = true;
        batch->now[k]->failed = batch->now[k]->failed || !good;
    }
    batch->playing = false;
    th_gate_ring(batch->gate);
}

bool do_listed() {
    seat *s = seated;
    th_batch *batch = s->batch;
    if (s->entry_count > 0) {
        th_gate_lock(batch->gate);
        s->done = false;
        if (!grow(&batch->ready, batch->ready_count, &batch->ready_capacity)) s->failed = true;
        if (!s->failed) {
            if (batch->ready_count == 0) batch->first_ready = th_monotonic_seconds();
            batch->ready[batch->ready_count++] = s;
        }
        while (!s->done && !s->failed) {
            if (!batch->playing && enough(batch))
                lead(batch);
            else if (batch->playing)
                th_gate_wait(batch->gate);
            else
                th_gate_wait_for(batch->gate, PATIENCE);
        }
        th_gate_unlock(batch->gate);
    }
    for (int a = 0; a < s->answer_count && !s->failed; ++a)
        memcpy(s->answers[a].host, s->answers[a].from, s->answers[a].bytes);
    s->entry_count = s->answer_count = 0;
    s->task_bytes = s->page_bytes = 0;
    return !s->failed;
}

// ---- seats

static void end_seat(seat *s) {
    if (s->page) release_seen(s->page);
    free(s->entries);
    free(s->answers);
    free(s->tasks);
    free(s);
}

seat *take_seat(th_batch *batch) {
    th_gate_lock(batch->gate);
    seat *s = batch->free_seats;
    if (s) batch->free_seats = s->next;
    batch->members++;
    th_gate_unlock(batch->gate);
    if (!s) s = (seat *)calloc(1, sizeof *s);
    if (s && (s->page || allocate_seen(&s->page, PAGE))) {
        s->batch = batch;
        s->failed = false;
        return s;
    }
    if (s) end_seat(s);
    th_gate_lock(batch->gate);
    batch->members--;
    th_gate_unlock(batch->gate);
    return nullptr;
}

void leave_seat(seat *s) {
    th_batch *batch = s->batch;
    s->entry_count = s->answer_count = 0;
    s->task_bytes = s->page_bytes = 0;
    th_gate_lock(batch->gate);
    s->next = batch->free_seats;
    batch->free_seats = s;
    batch->members--;
    th_gate_ring(batch->gate); // those that are left may be enough
    th_gate_unlock(batch->gate);
}

void batch_destroy(th_batch *batch) {
    for (seat *s = batch->free_seats, *next; s; s = next) {
        next = s->next;
        end_seat(s);
    }
    if (batch->staged) release_seen(batch->staged);
    if (batch->tasks) release(batch->tasks);
    if (batch->queue) end_queue(batch->queue);
    if (batch->gate) th_gate_destroy(batch->gate);
    free((void *)batch->ready);
    free((void *)batch->now);
    free(batch->next);
    free(batch->rounds);
    free(batch);
}

th_batch *batch_create() {
    th_batch *batch = (th_batch *)calloc(1, sizeof *batch);
    if (!batch) return nullptr;
    batch->gate = th_gate_create();
    if (batch->gate && make_queue(&batch->queue)) return batch;
    batch_destroy(batch);
    return nullptr;
}

} // namespace th
