// Options of verbs whose runs several processes may make: --launch and what goes with it (docs/cluster.md).
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_CLI_LAUNCH_H
#define TH_CLI_LAUNCH_H
#include "cli/terminal.h"

typedef struct th_launch {
    const char *how, *partition, *time; // NULL: not given
    long long limit;                    // 0: not given
} th_launch;

#define TH_LAUNCH_OPTIONS(launch)                                                                   \
    {"launch",                                                                                      \
     TH_OPTION_TEXT,                                                                                \
     &(launch)->how,                                                                                \
     "HOW",                                                                                         \
     "local (default), slurm: an array job, mpi: as one of the processes of mpirun or srun",        \
     0,                                                                                             \
     0},                                                                                            \
        {"partition", TH_OPTION_TEXT, &(launch)->partition, "P", "Slurm's partition", 0, 0},        \
        {"time", TH_OPTION_TEXT, &(launch)->time, "T", "Slurm's limit for a task, 02:00:00", 0, 0}, \
    {                                                                                               \
        "array-limit", TH_OPTION_INTEGER, &(launch)->limit, "N", "Slurm tasks at once", 1, 100000   \
    }

// Creates the runs and makes them as asked: here, shared with other processes, or handed to Slurm.
int th_launch_runs(const th_command *command, int argc, char **argv, const th_launch *launch,
                   th_runs_def *def, th_runs_display *display);
// The same of a folder that is there.
int th_launch_folder(const th_command *command, const char *folder, const th_launch *launch,
                     th_runs_def *def, th_runs_display *display);
#endif
