// --launch: runs made here, shared with other processes, or handed to Slurm. SPDX-License-Identifier: Apache-2.0
#include "cli/launch.h"
#include "cluster/crew.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef enum launching { LOCAL, SLURM, MPI, TASK } launching;

static bool read_how(const th_command *command, const th_launch *launch, bool folder,
                     launching *how) {
    static const char *const words[] = {"local", "slurm", "mpi", "task"};
    const char *given = launch->how ? launch->how : "local";
    int count = folder ? 4 : 3, found = -1;
    for (int i = 0; i < count; ++i)
        if (strcmp(given, words[i]) == 0) found = i;
    *how = found >= 0 ? (launching)found : LOCAL;
    if (found < 0) {
        const char *nearest = th_suggest(given, words, count);
        th_complain(command, "--launch %s: give local, slurm%s%s%s%s", given,
                    folder ? ", mpi or task" : " or mpi", nearest ? "; did you mean " : "",
                    nearest ? nearest : "", nearest ? "?" : "");
        return false;
    }
    if (*how == SLURM || !(launch->partition || launch->time || launch->limit > 0)) return true;
    th_complain(command, "--partition, --time and --array-limit are for --launch slurm");
    return false;
}

// Rank of this process; only the first prints progress.
static bool join_mpi(const th_command *command, th_runs_def *def, th_runs_display *display) {
    int rank = 0, size = 0;
    if (!th_launch_rank(&rank, &size)) {
        th_complain(
            command,
            "--launch mpi: this process was not started by mpirun, mpiexec (OpenMPI, MPICH, "
            "Intel MPI) or srun; run `mpirun throng %s ... --launch mpi`",
            command->name);
        return false;
    }
    if (def->jobs == 0) def->jobs = 1;
    if (rank > 0) display->quiet = true;
    return true;
}

// Options of the launch do not change results and are not kept in the folder.
static char *plain_command_line(const th_command *command, int argc, char **argv) {
    static const char *const own[] = {"--launch", "--partition", "--time", "--array-limit"};
    char **kept = calloc((size_t)argc + 1, sizeof *kept), *line = NULL;
    int count = 0;
    for (int i = 0; i < argc && kept; ++i) {
        bool mine = false, alone = false;
        for (int k = 0; k < 4; ++k) {
            size_t length = strlen(own[k]);
            if (strncmp(argv[i], own[k], length) != 0) continue;
            alone = alone || argv[i][length] == '\0';
            mine = mine || argv[i][length] == '\0' || argv[i][length] == '=';
        }
        if (!mine) kept[count++] = argv[i];
        if (alone) ++i; // its value
    }
    if (kept) line = th_command_line(command, count, kept);
    free(kept);
    return line;
}

static bool whole_path(const char *name, char *path, size_t size) {
    char *whole = realpath(name, NULL);
    bool fits = whole && strlen(whole) < size;
    if (fits) snprintf(path, size, "%s", whole);
    free(whole);
    return fits;
}

// --threads and plugins, as every task needs them.
static char *task_arguments(const th_runs_def *def) {
    char *arguments[2 * TH_LIST_MAX + 4], number[2][16], option[] = "--plugin", jobs[] = "--jobs",
                                                         threads[] = "--threads";
    const th_command none = {.name = ""};
    int count = 0;
    snprintf(number[0], sizeof number[0], "%d", def->jobs > 0 ? def->jobs : 1);
    snprintf(number[1], sizeof number[1], "%d", def->threads > 0 ? def->threads : 1);
    arguments[count++] = jobs;
    arguments[count++] = number[0];
    arguments[count++] = threads;
    arguments[count++] = number[1];
    char *whole[TH_LIST_MAX] = {0};
    for (int i = 0; i < def->plugin_count && i < TH_LIST_MAX; ++i) {
        whole[i] = realpath(def->plugins[i], NULL);
        if (!whole[i]) continue;
        arguments[count++] = option;
        arguments[count++] = whole[i];
    }
    char *line = th_command_line(&none, count, arguments); // begins with the name of the program
    for (int i = 0; i < def->plugin_count && i < TH_LIST_MAX; ++i) free(whole[i]);
    if (line) memmove(line, line + strlen("throng  "), strlen(line + strlen("throng  ")) + 1);
    return line;
}

enum { TASKS_MOST = 1000 }; // Slurm's usual MaxArraySize is 1001

static int submit(const th_runs *runs, const th_launch *launch, const th_runs_def *def) {
    const th_runs_info *about = th_runs_about(runs);
    char folder[3600], program[4096], what[400], job[64], script[4096];
    if (!whole_path(about->folder, folder, sizeof folder) ||
        !whole_path("/proc/self/exe", program, sizeof program)) {
        fprintf(stderr, "%s: the whole path of the folder or of throng cannot be told\n",
                about->folder);
        return TH_EXIT_FAILED;
    }
    int jobs = def->jobs > 0 ? def->jobs : 1, threads = def->threads > 0 ? def->threads : 1;
    th_runs_standing standing = {0};
    th_error error = {0};
    if (th_runs_stand(folder, &standing, &error) != TH_OK) return th_report_failure(folder, &error);
    int missing = standing.runs - standing.done, tasks = (missing + jobs - 1) / jobs;
    th_runs_standing_destroy(&standing);
    char *arguments = task_arguments(def);
    snprintf(what, sizeof what, "%.200s: %d runs", about->scene_name, missing);
    for (char *at = what; *at; ++at)
        if (*at < ' ') *at = ' ';
    const th_slurm_def slurm = {.folder = folder,
                                .program = program,
                                .what = what,
                                .arguments = arguments ? arguments : "",
                                .partition = launch->partition,
                                .time = launch->time,
                                .tasks = tasks < 1            ? 1
                                         : tasks > TASKS_MOST ? TASKS_MOST
                                                              : tasks,
                                .limit = (int)launch->limit,
                                .cores = jobs * threads};
    th_result result = th_launch_slurm(&slurm, job, script, &error);
    free(arguments);
    if (result == TH_BAD_ARGUMENT) {
        fprintf(stderr, "throng: --%s %s\n", error.path, error.message);
        return TH_EXIT_USAGE;
    }
    if (result != TH_OK) return th_report_failure(folder, &error);
    printf("job %s: %d runs, %d tasks, %s\n  throng status %s\n  throng collect %s\n", job, missing,
           slurm.tasks, script, about->folder, about->folder);
    return TH_EXIT_OK;
}

static int perform(th_runs *runs, launching how, const th_launch *launch, const th_runs_def *def,
                   th_runs_display *display) {
    th_error error = {0};
    display->runs = runs;
    if (how != SLURM) return th_perform_runs(display);
    if (th_runs_prepare(runs, &error) != TH_OK)
        return th_report_failure(th_runs_about(runs)->folder, &error);
    if (th_runs_about(runs)->state != TH_RUNS_STATE_FINISHED) return submit(runs, launch, def);
    printf("%s: all runs are there\n", th_runs_about(runs)->folder);
    return TH_EXIT_OK;
}

int th_launch_runs(const th_command *command, int argc, char **argv, const th_launch *launch,
                   th_runs_def *def, th_runs_display *display) {
    launching how = LOCAL;
    if (!read_how(command, launch, false, &how)) return TH_EXIT_USAGE;
    if (how == LOCAL) return th_create_and_perform(command, argc, argv, def, display);
    bool mpi = how == MPI;
    if (def->backend != TH_BACKEND_CPU || (mpi && (!def->out || def->force))) {
        th_complain(command, "%s",
                    def->backend != TH_BACKEND_CPU
                        ? "--launch is for the processor; leave --device cuda out"
                    : def->force ? "--force would be every process's; remove the folder first"
                                 : "--launch mpi needs --out DIR, the same for all processes");
        return TH_EXIT_USAGE;
    }
    if (mpi && !join_mpi(command, def, display)) return TH_EXIT_USAGE;
    th_error error = {0};
    th_runs *runs = NULL;
    char *command_line = plain_command_line(command, argc, argv);
    if (!command_line) return TH_EXIT_FAILED;
    def->command_line = command_line;
    def->shared = true;
    def->watch = th_runs_display_watch;
    def->context = display;
    th_watch_interrupt();
    int code = TH_EXIT_OK;
    th_result result = th_runs_create(def, &runs, &error);
    if (result == TH_BAD_ARGUMENT && error.path[0])
        code = th_report_option(command, &error);
    else if (result != TH_OK)
        code = th_report_error(def->scene, &error);
    else
        code = perform(runs, how, launch, def, display);
    th_runs_destroy(runs);
    free(command_line);
    return code;
}

int th_launch_folder(const th_command *command, const char *folder, const th_launch *launch,
                     th_runs_def *def, th_runs_display *display) {
    launching how = LOCAL;
    th_error error = {0};
    if (!read_how(command, launch, true, &how)) return TH_EXIT_USAGE;
    if (how == MPI && !join_mpi(command, def, display)) return TH_EXIT_USAGE;
    def->shared = how != LOCAL;
    th_watch_interrupt();
    th_result result = th_runs_open(folder, def, &display->runs, &error);
    if (result == TH_BAD_SCENE) return th_report_error(folder, &error);
    if (result != TH_OK) return th_report_failure(folder, &error);
    if (th_runs_about(display->runs)->state != TH_RUNS_STATE_FINISHED)
        return perform(display->runs, how, launch, def, display);
    return -1;
}
