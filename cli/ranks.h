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
    double checkpoint;          // [s] between them, 0: none
    int threads;
    bool allow_links, json;
} th_ranks_def;

// Does mpirun or srun run several processes, which are to share one crowd?
bool th_is_over_ranks(const char *launch);
// Is it the folder of a crowd over ranks that can go on from a checkpoint?
bool th_ranks_can_resume(const char *folder);
// Goes on with it, over any number of processes; of the definition only the threads are looked at.
int th_resume_over_ranks(const th_command *command, const char *folder, const th_ranks_def *def);

// Returns the exit code.
int th_run_over_ranks(const th_command *command, const th_ranks_def *def);
#endif
