// throng-read-hdf5 FILE: reads an HDF5 trajectory and sends it through stdout, for hdf5_pipe.c. A process of its own,
// because the HDF5 library crashes, loops or takes all memory on some damaged files.
// SPDX-License-Identifier: Apache-2.0
#include "record/hdf5.h"
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED // their shadow memory is counted too
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED
#endif

// The soft limit: its signal for time tells the parent what happened, where the hard one only kills.
static const struct rlimit *lowered(struct rlimit *value, double most) {
    if (most < (double)value->rlim_max) value->rlim_cur = (rlim_t)most;
    return value;
}
// A macro, as the type of a resource differs between systems.
#define LIMIT(resource, most)                                                             \
    do {                                                                                  \
        struct rlimit value;                                                              \
        if (getrlimit(resource, &value) == 0) setrlimit(resource, lowered(&value, most)); \
    } while (0)

int main(int argc, char **argv) {
    if (argc != 2) return 2;
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL); // no process would read on
#endif
    struct stat about;
    double bytes = stat(argv[1], &about) == 0 ? (double)about.st_size : 0;
    LIMIT(RLIMIT_CORE, 0);
    LIMIT(RLIMIT_CPU, th_hdf5_seconds_most(bytes));
#ifndef SANITIZED
    LIMIT(RLIMIT_AS, th_hdf5_memory_most(bytes));
#endif
    bool sent = th_hdf5_send(argv[1], STDOUT_FILENO);
    _exit(sent ? 0 : 3); // HDF5's own tidying up has crashed, too
}
