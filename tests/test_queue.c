// The queue between the simulation and the writer: order, bound, waiting, and a taker that gives up.
// SPDX-License-Identifier: Apache-2.0
#include "record/backend.h"
#include "support.h"
#include <pthread.h>
#include <unistd.h>

typedef struct exchange {
    th_queue queue;
    int slots[3];
    int taken;
    int break_at; // < 0: never
} exchange;

static void *take_slowly(void *context) {
    exchange *e = context;
    for (int slot; (slot = th_queue_take(&e->queue)) >= 0;) {
        if (e->slots[slot] != e->taken) break; // order lost: the test sees too few taken
        if (e->taken == e->break_at) {
            th_queue_break(&e->queue);
            break;
        }
        e->taken++;
        usleep(e->taken % 5 == 0 ? 300 : 0);
        th_queue_release(&e->queue);
    }
    return NULL;
}

static void queue_keeps_order_and_bound(void **state) {
    (void)state;
    enum { MANY = 2000 };
    for (int break_at = -1; break_at <= 100; break_at += 101) {
        exchange e = {.break_at = break_at};
        assert_true(th_queue_init(&e.queue, 3));
        pthread_t taker;
        assert_int_equal(pthread_create(&taker, NULL, take_slowly, &e), 0);
        int brought = 0;
        for (int slot; brought < MANY && (slot = th_queue_reserve(&e.queue)) >= 0; ++brought) {
            e.slots[slot] = brought;
            th_queue_push(&e.queue);
        }
        assert_int_equal(th_queue_drain(&e.queue), break_at < 0);
        assert_int_equal(th_queue_works(&e.queue), break_at < 0);
        th_queue_close(&e.queue);
        pthread_join(taker, NULL);
        assert_int_equal(e.taken, break_at < 0 ? MANY : break_at);
        // At most the three slots were ahead of the taker.
        assert_true(brought <= e.taken + 3);
        assert_true(e.queue.waited > 0);
        th_queue_destroy(&e.queue);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(queue_keeps_order_and_bound)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
