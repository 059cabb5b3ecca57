// throng run under mpirun: one crowd over its processes. SPDX-License-Identifier: Apache-2.0
#ifndef TH_CLI_RANKS_H
#define TH_CLI_RANKS_H
#include "cli/terminal.h"

// The options given to `throng run`.
typedef struct th_ranks_def {
    const char *scene, *out, *record; // NULL: not given
    const th_text_list *overrides;
    uint64_t seed;
    double step, max_time, fps; // 0: the scene's
    int threads;
    bool allow_links, json;
} th_ranks_def;

// Returns the exit code.
int th_run_over_ranks(const th_command *command, const th_ranks_def *def);
#endif
