// Tools of the whole program: arenas, growing arrays, replaced files, clocks, the pool.
// SPDX-License-Identifier: Apache-2.0
#include "core/file.h"
#include "core/memory.h"
#include "core/pool.h"
#include "core/system/system.h"
#include "support.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// ---- arenas

static th_arena counted_arena(ledger *l) {
    const th_allocator allocator = {counted_alloc, counted_free, l};
    return th_arena_of(&allocator);
}

static void assert_zero(const unsigned char *bytes, size_t count) {
    for (size_t i = 0; i < count; ++i) assert_int_equal(bytes[i], 0);
}

static void arena_blocks(void **state) {
    (void)state;
    static const size_t sizes[] = {0, 1, 63, 64, 65, 4000, 16384, 16385, 70000, 8, 1000000, 3};
    enum { BLOCKS = 200, KINDS = sizeof sizes / sizeof *sizes };
    ledger l = {0};
    th_arena arena = counted_arena(&l);
    unsigned char *blocks[BLOCKS];
    size_t used = 0;
    for (size_t i = 0; i < BLOCKS; ++i) {
        blocks[i] = th_arena_alloc(&arena, sizes[i % KINDS], 1);
        assert_non_null(blocks[i]);
        assert_int_equal((uintptr_t)blocks[i] % TH_ALIGN, 0);
        assert_zero(blocks[i], sizes[i % KINDS]);
        memset(blocks[i], (int)i, sizes[i % KINDS]);
        used += sizes[i % KINDS];
    }
    for (size_t i = 0; i < BLOCKS; ++i) // none overlaps another
        for (size_t k = 0; k < sizes[i % KINDS]; ++k)
            assert_int_equal(blocks[i][k], (unsigned char)i);
    assert_int_equal(arena.used, used);
    assert_int_equal(arena.bytes, l.bytes);
    assert_true(arena.bytes >= used && arena.bytes < used + used / 8 + 64 * 1024);
    assert_false(arena.failed);
    th_arena_release(&arena);
    assert_int_equal(l.bytes, 0); // free was told the right sizes
    assert_int_equal(arena.bytes, 0);
    assert_non_null(th_arena_alloc(&arena, 10, 10)); // and again
    th_arena_release(&arena);
    assert_int_equal(l.bytes, 0);
}

static void arena_strings_and_arrays(void **state) {
    (void)state;
    ledger l = {0};
    th_arena arena = counted_arena(&l);
    char *word = th_arena_string(&arena, "corridor");
    assert_string_equal(word, "corridor");
    assert_ptr_equal(th_arena_string(&arena, "door"), word + 9);
    assert_null(th_arena_string(&arena, NULL));
    double *values = NULL;
    int capacity = 0;
    for (int i = 0; i < 5000; ++i) {
        assert_true(th_arena_reserve(&arena, &values, &capacity, i + 1, sizeof *values));
        values[i] = i;
    }
    for (int i = 0; i < 5000; ++i) assert_true(values[i] == i);
    assert_true(capacity >= 5000 && capacity < 2 * 5000);
    assert_null(th_arena_alloc(&arena, SIZE_MAX / 2, 4));
    assert_true(arena.failed);
    th_arena_release(&arena);
    assert_int_equal(l.bytes, 0);
}

// Memory as a world takes it: its arrays and itself from one arena, one look at `failed`, one release.
typedef struct thing {
    th_arena arena;
    float *x, *y;
    char *name;
    uint32_t *few;
} thing;

static thing *make_thing(ledger *l) {
    th_arena arena = counted_arena(l);
    thing *made = th_arena_alloc(&arena, 1, sizeof *made);
    thing arrays = {.x = th_arena_alloc(&arena, 100000, sizeof(float)),
                    .y = th_arena_alloc(&arena, 100000, sizeof(float)),
                    .name = th_arena_string(&arena, "thing"),
                    .few = th_arena_alloc(&arena, 3, sizeof(uint32_t))};
    if (arena.failed) {
        th_arena_release(&arena);
        return NULL;
    }
    *made = arrays;
    made->arena = arena;
    return made;
}

static void arena_without_memory(void **state) {
    (void)state;
    int64_t fail_at = 1;
    for (;; ++fail_at) {
        ledger l = {.fail_at = fail_at};
        thing *made = make_thing(&l);
        if (!made) {
            assert_int_equal(l.bytes, 0);
            continue;
        }
        made->x[99999] = 1.0f;
        th_arena arena = made->arena;
        th_arena_release(&arena);
        assert_int_equal(l.bytes, 0);
        break;
    }
    assert_int_equal(fail_at, 4); // the first chunk and the two large arrays were refused in turn
}

static void reserved_memory(void **state) {
    (void)state;
    ledger l = {.fail_at = 3};
    const th_allocator allocator = {counted_alloc, counted_free, &l};
    th_memory memory = th_memory_of(&allocator);
    int *numbers = NULL, capacity = 0, count = 0;
    while (th_alloc_reserve(&memory, &numbers, &capacity, count + 1, sizeof *numbers)) {
        assert_int_equal(numbers[capacity - 1], 0);
        numbers[count] = count;
        ++count;
    }
    assert_int_equal(count, capacity); // the third was refused, the second is whole
    assert_true(count > 16);
    for (int i = 0; i < count; ++i) assert_int_equal(numbers[i], i);
    assert_int_equal(l.bytes, (int64_t)sizeof *numbers * capacity);
    th_dealloc(&memory, numbers, (size_t)capacity, sizeof *numbers);
    assert_int_equal(l.bytes, 0);
}

// ---- growing arrays

static void arrays_grow(void **state) {
    (void)state;
    struct {
        double *all;
        int count, capacity;
    } list = {0};
    size_t room = 0, moves = 0;
    uint16_t *small = NULL, *one = NULL;
    for (int i = 0; i < 10000; ++i) {
        int before = list.capacity;
        assert_true(TH_RESERVE(list.all, list.capacity, list.count + 1));
        moves += list.capacity != before;
        list.all[list.count++] = i;
        assert_true(TH_RESERVE(small, room, i + 1));
        small[i] = (uint16_t)i;
        assert_true(TH_RESERVE_ONE(one, i));
        one[i] = (uint16_t)i;
    }
    assert_true(moves < 20);
    for (int i = 0; i < 10000; ++i) {
        assert_true(list.all[i] == i);
        assert_int_equal(small[i], (uint16_t)i);
        assert_int_equal(one[i], (uint16_t)i);
    }
    free(list.all);
    free(small);
    free(one);
}

static void array_capacities(void **state) {
    (void)state;
    assert_int_equal(th_array_capacity(10, 10), 10);
    assert_int_equal(th_array_capacity(0, 0), 0);
    for (size_t needed = 1; needed < 3000; needed += 7) {
        size_t capacity = th_array_capacity(0, needed);
        assert_true(capacity > needed && capacity <= needed + needed / 8 + 16);
    }
    assert_true(th_array_capacity(SIZE_MAX / 2, SIZE_MAX - 1) == SIZE_MAX - 1);
    const size_t rooms[][2] = {{0, 0}, {1, 16}, {16, 16}, {17, 32}, {32, 32}, {1000, 1024}};
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; ++i)
        assert_int_equal(th_array_room(rooms[i][0]), rooms[i][1]);
}

static void arrays_without_memory(void **state) {
    (void)state;
    int capacity = 0, *array = NULL;
    size_t room = 0;
    assert_true(TH_RESERVE(array, capacity, 4));
    int *before = array, kept = capacity;
    array[3] = 7;
    assert_false(TH_RESERVE(array, room, SIZE_MAX / 2)); // in bytes more than a size_t
    assert_false(TH_RESERVE(array, capacity, (size_t)INT32_MAX + 1));
    assert_false(TH_RESIZE(array, SIZE_MAX / 2));
    assert_ptr_equal(array, before);
    assert_int_equal(capacity, kept);
    assert_int_equal(room, 0);
    assert_int_equal(array[3], 7);
    assert_true(TH_RESIZE(array, 0)); // zero elements give an array too
    assert_non_null(array);
    free(array);
}

// ---- files

typedef struct scratch {
    char folder[64], path[80], part[96];
} scratch;

static scratch make_scratch(void) {
    scratch s;
    snprintf(s.folder, sizeof s.folder, "/tmp/throng-core-XXXXXX");
    assert_non_null(mkdtemp(s.folder));
    snprintf(s.path, sizeof s.path, "%s/a.txt", s.folder);
    snprintf(s.part, sizeof s.part, "%s.part", s.path);
    return s;
}

static void remove_scratch(const scratch *s) {
    unlink(s->path);
    assert_int_not_equal(access(s->part, F_OK), 0); // nothing is left beside
    assert_int_equal(rmdir(s->folder), 0);
}

static void assert_content(const char *path, const char *wanted) {
    size_t size = 0;
    th_error error = {0};
    char *text = th_file_content(path, &size, &error);
    if (!text) fail_msg("%s: %s", error.file, error.message);
    assert_string_equal(text, wanted);
    assert_int_equal(size, strlen(wanted));
    free(text);
}

static void file_replaced(void **state) {
    (void)state;
    scratch s = make_scratch();
    for (int durability = TH_FLUSHED; durability <= TH_SYNCED; ++durability) {
        th_error error = {0};
        assert_int_equal(th_file_replace(s.path, "old", 3, (th_durability)durability, &error),
                         TH_OK);
        th_file_writer writer;
        th_file_begin(&writer, s.folder, "a.txt");
        th_file_put(&writer, "new ", 4);
        fprintf(writer.file, "%d", 42);
        assert_content(s.path, "old"); // until the end
        assert_int_equal(th_file_end(&writer, (th_durability)durability, &error), TH_OK);
        assert_content(s.path, "new 42");
        th_file_begin(&writer, s.folder, "a.txt");
        th_file_put(&writer, "no", 2);
        th_file_discard(&writer);
        assert_content(s.path, "new 42");
    }
    assert_int_equal(th_file_replace(s.path, NULL, 0, TH_FLUSHED, NULL), TH_OK);
    assert_content(s.path, "");
    remove_scratch(&s);
}

static void file_on_a_full_disk(void **state) {
    (void)state;
    scratch s = make_scratch();
    assert_int_equal(th_file_replace(s.path, "old", 3, TH_SYNCED, NULL), TH_OK);
    for (int size = 1; size <= 1 << 20; size <<= 10) { // in the buffer, and beyond
        th_error error = {0};
        char *bytes = calloc(1, (size_t)size);
        assert_int_equal(symlink("/dev/full", s.part), 0);
        assert_int_equal(th_file_replace(s.path, bytes, (size_t)size, TH_FLUSHED, &error),
                         TH_NO_FILE);
        assert_string_equal(error.file, s.path);
        assert_string_equal(error.message, "cannot be written: No space left on device; "
                                           "free space or choose another folder");
        assert_content(s.path, "old");
        assert_int_not_equal(access(s.part, F_OK), 0);
        free(bytes);
    }
    remove_scratch(&s);
}

static void file_nowhere(void **state) {
    (void)state;
    scratch s = make_scratch();
    th_error error = {0};
    assert_int_equal(th_file_replace("/nowhere/at/all", "x", 1, TH_SYNCED, &error), TH_NO_FILE);
    assert_string_equal(error.file, "/nowhere/at/all");
    assert_non_null(strstr(error.message, "No such file or directory"));
    assert_int_equal(mkdir(s.path, 0777), 0); // a folder is not replaced by a file
    assert_int_equal(th_file_replace(s.path, "x", 1, TH_FLUSHED, &error), TH_NO_FILE);
    assert_int_equal(rmdir(s.path), 0);
    char *longer = malloc(TH_PATH_MAX + 1);
    memset(longer, 'a', TH_PATH_MAX);
    longer[TH_PATH_MAX] = '\0';
    assert_int_equal(th_file_replace(longer, "x", 1, TH_SYNCED, &error), TH_NO_FILE);
    assert_non_null(strstr(error.message, "too long"));
    free(longer);
    size_t size;
    assert_null(th_file_content(s.path, &size, &error));
    assert_non_null(strstr(error.message, "cannot be read: No such file"));
    assert_null(th_file_content(s.folder, &size, &error));
    assert_string_equal(error.message, "cannot be read: not a plain file");
    remove_scratch(&s);
}

static double seconds_of(clockid_t clock) {
    struct timespec now;
    assert_int_equal(clock_gettime(clock, &now), 0);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void clocks(void **state) {
    (void)state;
    // Between two readings of the system's own clocks, however long this thread is kept waiting.
    for (int round = 0; round < 2; ++round) {
        double before[2] = {seconds_of(CLOCK_MONOTONIC), seconds_of(CLOCK_THREAD_CPUTIME_ID)};
        double wall = th_monotonic_seconds(), cpu = th_thread_cpu_seconds();
        assert_true(before[0] <= wall && wall <= seconds_of(CLOCK_MONOTONIC));
        assert_true(before[1] <= cpu && cpu <= seconds_of(CLOCK_THREAD_CPUTIME_ID));
        usleep(30000);
    }
}

// ---- the pool

enum { JOBS = 60 };
typedef struct workshop {
    atomic_int running, most, ahead, runs[JOBS];
    int window, delivered, order[JOBS];
    int stop_after; // delivered; < 0: never
    atomic_int wait_calls;
    int give_up_at; // the call of `waiting` that stops the pool; 0: none
} workshop;

enum { HELD = 10 }; // the job that does not end before the pool was told to stop

static void do_job(void *context, int job) {
    workshop *w = context;
    int now = atomic_fetch_add(&w->running, 1) + 1, most = atomic_load(&w->most);
    while (now > most && !atomic_compare_exchange_weak(&w->most, &most, now)) {
    }
    while (job == HELD && atomic_load(&w->wait_calls) < w->give_up_at) usleep(1000);
    usleep((unsigned)(job * 7919 % 5) * 400); // they end in another order than they began
    atomic_fetch_add(&w->runs[job], 1);
    atomic_fetch_sub(&w->running, 1);
}

static bool take_job(void *context, int job) {
    workshop *w = context;
    assert_int_equal(atomic_load(&w->runs[job]), 1);
    int begun = 0;
    for (int i = 0; i < JOBS; ++i) begun += atomic_load(&w->runs[i]);
    if (w->window > 0) assert_true(begun <= w->delivered + w->window);
    w->order[w->delivered++] = job;
    return w->stop_after < 0 || w->delivered < w->stop_after;
}

static bool keep_waiting(void *context, const th_pool_progress *progress) {
    workshop *w = context;
    assert_true(progress->delivered <= progress->done && progress->done <= progress->begun);
    return atomic_fetch_add(&w->wait_calls, 1) + 1 != w->give_up_at;
}

static void pool_delivers_in_order(void **state) {
    (void)state;
    int backwards[JOBS];
    for (int i = 0; i < JOBS; ++i) backwards[i] = JOBS - 1 - i;
    for (int variant = 0; variant < 8; ++variant) {
        workshop w = {.window = variant & 1 ? 6 : 0, .stop_after = -1};
        bool back = variant & 2;
        th_pool_def def = {.count = JOBS,
                           .threads = variant & 4 ? 3 : 1,
                           .window = w.window,
                           .order = back ? backwards : NULL,
                           .run = do_job,
                           .deliver = take_job,
                           .waiting = keep_waiting,
                           .context = &w};
        th_pool_progress progress;
        assert_int_equal(th_pool_run(&def, &progress, NULL), TH_OK);
        assert_int_equal(progress.delivered, JOBS);
        assert_int_equal(progress.newest, back ? 0 : JOBS - 1);
        assert_true(atomic_load(&w.most) <= def.threads);
        for (int i = 0; i < JOBS; ++i) assert_int_equal(w.order[i], back ? JOBS - 1 - i : i);
    }
}

static void pool_stops(void **state) {
    (void)state;
    workshop w = {.window = 4, .stop_after = 10};
    th_pool_def def = {.count = JOBS,
                       .threads = 2,
                       .window = 4,
                       .run = do_job,
                       .deliver = take_job,
                       .context = &w};
    th_pool_progress progress;
    assert_int_equal(th_pool_run(&def, &progress, NULL), TH_OK);
    assert_int_equal(progress.delivered, 10);
    assert_true(progress.begun <= 14 && progress.done == progress.begun);

    w = (workshop){.stop_after = -1, .give_up_at = 3};
    def.waiting = keep_waiting;
    assert_int_equal(th_pool_run(&def, &progress, NULL), TH_OK);
    assert_int_equal(progress.delivered, progress.begun); // what ran is delivered
    assert_true(progress.begun <= HELD + def.window);

    def.count = 0;
    assert_int_equal(th_pool_run(&def, &progress, NULL), TH_OK);
    assert_int_equal(progress.newest, -1);
    assert_true(th_core_count() >= 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arena_blocks),
        cmocka_unit_test(arena_strings_and_arrays),
        cmocka_unit_test(arena_without_memory),
        cmocka_unit_test(reserved_memory),
        cmocka_unit_test(arrays_grow),
        cmocka_unit_test(array_capacities),
        cmocka_unit_test(arrays_without_memory),
        cmocka_unit_test(file_replaced),
        cmocka_unit_test(file_on_a_full_disk),
        cmocka_unit_test(file_nowhere),
        cmocka_unit_test(clocks),
        cmocka_unit_test(pool_delivers_in_order),
        cmocka_unit_test(pool_stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
