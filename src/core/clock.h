// Clocks for measuring how long something takes. SPDX-License-Identifier: Apache-2.0
#ifndef TH_CORE_CLOCK_H
#define TH_CORE_CLOCK_H
#include <time.h>

static inline double th_clock_read(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Seconds since some fixed moment; never goes back when the date is set.
static inline double th_monotonic_seconds(void) { return th_clock_read(CLOCK_MONOTONIC); }

// Processor time that the calling thread has used [s].
static inline double th_thread_cpu_seconds(void) { return th_clock_read(CLOCK_THREAD_CPUTIME_ID); }
#endif
