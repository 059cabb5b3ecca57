// A crew: several processes, on one machine or many, that share the runs of one folder. They need no messages and no
// scheduler, only a file system that all of them see, NFS included: no flock, no fcntl. Everything lies in DIR/cluster:
//
//     logs/                   what each task of a scheduler said
//     work/about.json         seconds between two beats
//     work/tasks/ID           identity of a task: machine, process, scheduler's number (JSON)
//     work/tasks/ID.beat      a number that the task changes at every beat
//     work/tasks/ID.end       the task has left, or was found dead; a link whose target says why
//     work/00012/12345.2      run 12345, second attempt: a symbolic link to the ID of its task
//     work/00012/12345.2.back     that attempt was given back unfinished: pre-empted, out of time
//     work/00012/12345.2.failed   it ended with this error
//     work/00012/12345.done   its result
//     work/tables.3           the third that writes the tables of the folder; .back when it has
//
// Taking a run is making the link 12345.K. symlink() makes a name only where there is none, on NFS too, and the link has
// its whole content at once, so of two tasks one gets the run. No claim is ever changed or removed: a run whose task died
// is taken over by the next number, K + 1, which again only one can make. Hence no task acts on a claim that has become
// another's in between. A result is written beside and linked to its name, which again works once: should a
// run be made twice (a task that stood still for minutes and then went on), the first result stays and the second, which
// has the same bits, is dropped.
//
// A task is dead when
//   - it left (ID.end), or another one found it dead before;
//   - its process is not there, which only tasks of the same boot of the same machine can tell;
//   - the scheduler restarted it: a task with its number and a higher restart count is there;
//   - its beat stood still at TH_CREW_LOOKS looks, one beat apart. The one who looks counts looks and uses only its own
//     monotonic clock; no time of one machine is compared with another's. A look that was late or slow (the file server
//     was away, the machine slept) begins the count again.
// A task that was found dead by mistake sees its ID.end at its next beat, drops its runs and joins again under a new ID.
//
// When all is done `work` is renamed, then removed; a task that still stood somewhere finds nothing any more and ends.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_CLUSTER_CREW_H
#define TH_CLUSTER_CREW_H
#include "core/file.h"
#include "throng/base.h"
#include <jansson.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    // 120 s at the usual beat; an NFS client may show a minute-old state of a file.
    TH_CREW_LOOKS = 12,
    TH_CREW_DEATHS = 10 // of the tasks that had a run, before it is given up
};

// State of a run. A skipped run is needed no more.
typedef enum th_crew_state {
    TH_CREW_FREE,
    TH_CREW_TAKEN,
    TH_CREW_DONE,
    TH_CREW_FAILED,
    TH_CREW_SKIPPED
} th_crew_state;

typedef struct th_crew th_crew;

// Are there runs in this folder that several processes share?
bool th_crew_exists(const char *folder);
// Makes cluster/ in it, unless it is there: beside and renamed, so any number of processes may do it at once.
th_result th_crew_prepare(const char *folder, th_error *error);
// Removes cluster/ with everything in it.
void th_crew_clear(const char *folder);
// Removes a folder that was filled beside another and is not needed.
void th_crew_discard(const char *folder);

// Registers this process and begins its beat. `log` is the file that holds what it says, or "". With `watch` it only
// looks: no ticket, no beat, and nothing may be taken. TH_NO_FILE when `work` has gone: all is done.
th_result th_crew_join(const char *folder, int runs, const char *log, bool watch, th_crew **crew,
                       th_error *error);
// The runs that this process still has must have been kept, given back or failed.
void th_crew_leave(th_crew *crew);

// The next run for this process, in the order of the runs; -1: none is free. Any thread may take.
int th_crew_take(th_crew *crew);
// Stores the run's result. A result of another process that is there already stays.
th_result th_crew_keep(th_crew *crew, int run, const void *bytes, size_t size, th_error *error);
void th_crew_give_back(th_crew *crew, int run);
void th_crew_fail(th_crew *crew, int run, const char *why);
// The run need not be made.
void th_crew_skip(th_crew *crew, int run);

// Reads again what there is of the runs from `first` to before `end`.
void th_crew_look(th_crew *crew, int first, int end);
// As of the last look; of a taken run it asks now whether its task is dead, and then the run is free or failed.
th_crew_state th_crew_state_of(th_crew *crew, int run);
// A result's bytes with a 0 behind them, to be freed; NULL: there is none.
char *th_crew_result(const th_crew *crew, int run, size_t *size);
// How often tasks died of it, its newest task and why that ended ("": not known). False: never taken.
typedef struct th_crew_attempt {
    int deaths;
    char task[112], why[400], log[TH_PATH_MAX], machine[80], job[64];
    // Since its last beat, by the clock of the file server [s]; for readers, nothing is decided by it.
    double silent;
} th_crew_attempt;
bool th_crew_attempt_of(th_crew *crew, int run, th_crew_attempt *attempt);

// Nothing is free any more. True: a beat has passed while a task did not answer, ask again; false: all others live,
// or there are none.
bool th_crew_wait(th_crew *crew, const atomic_bool *interrupt);
// Was this process declared dead by mistake, because it stood still? Its runs now belong to others.
const atomic_bool *th_crew_expelled(const th_crew *crew);

// One process at a time writes tables. False: interrupted, or `work` has gone.
bool th_crew_lock_tables(th_crew *crew, const atomic_bool *interrupt);
void th_crew_unlock_tables(th_crew *crew);
// All is done: `work` goes. The crew may still be asked for what it knows.
void th_crew_disband(th_crew *crew);

// ---- processes that Slurm or MPI started, and job scripts for Slurm (launch.c). The program links neither: launchers tell
// their processes who they are in the environment, and sbatch is a program.

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
