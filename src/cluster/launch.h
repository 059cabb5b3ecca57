// Where this process was started by Slurm or MPI, and job scripts for Slurm. The program links neither: launchers tell
// their processes who they are in the environment, and sbatch is a program. SPDX-License-Identifier: Apache-2.0
#ifndef TH_CLUSTER_LAUNCH_H
#define TH_CLUSTER_LAUNCH_H
#include "throng/base.h"
#include <stdbool.h>
#include <stddef.h>

// The scheduler's name of this task, "slurm 4711_3", and how often it restarted it; "": no scheduler, or one that does
// not say.
void th_launch_job(char *job, size_t size, long *restart);
// The file that holds what this task says, as th_launch_slurm asks for it; "": none.
void th_launch_log(const char *folder, char *path, size_t size);

// Rank and number of the processes that mpirun, mpiexec or srun started together: OpenMPI (OMPI_COMM_WORLD_RANK and
// _SIZE), MPICH, Intel MPI and others of the hydra kind (PMI_RANK, PMI_SIZE), Slurm's srun (SLURM_PROCID, SLURM_NTASKS in
// a step). False: started by none of them. Nothing but messages depends on the numbers.
bool th_launch_rank(int *rank, int *size);

typedef struct th_slurm_def {
    const char *folder;      // whole path
    const char *program;     // whole path of throng
    const char *what;        // for people: "bottleneck, 400 runs"
    const char *arguments;   // quoted for a shell, after `throng resume FOLDER`; "": none
    const char *partition;   // NULL: the cluster's
    const char *time;        // of a task, as sbatch takes it; NULL: the partition's
    int tasks, limit, cores; // of the array; at once, 0: no limit; of each task
} th_slurm_def;

// Writes cluster/job-N.sbatch and hands it to sbatch; `job` becomes the number of the job array. The script stays.
th_result th_launch_slurm(const th_slurm_def *def, char job[64], char script[4096],
                          th_error *error);
#endif
