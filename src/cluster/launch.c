// Reads what Slurm and MPI tell this process; writes job scripts. SPDX-License-Identifier: Apache-2.0
#include "cluster/crew.h"
#include "core/error.h"
#include "core/file.h"
#include "core/system/system.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *said(const char *name) {
    const char *text = getenv(name);
    return text ? text : "";
}

void th_launch_job(char *job, size_t size, long *restart) {
    const char *array = said("SLURM_ARRAY_JOB_ID"), *single = said("SLURM_JOB_ID");
    const char *step = *said("SLURM_STEP_ID") ? said("SLURM_PROCID") : "";
    *restart = strtol(said("SLURM_RESTART_COUNT"), NULL, 10);
    job[0] = '\0';
    if (*array)
        snprintf(job, size, "slurm %.20s_%.12s%s%.12s", array, said("SLURM_ARRAY_TASK_ID"),
                 *step ? "." : "", step);
    else if (*single)
        snprintf(job, size, "slurm %.20s%s%.12s", single, *step ? "." : "", step);
}

void th_launch_log(const char *folder, char *path, size_t size) {
    const char *array = said("SLURM_ARRAY_JOB_ID");
    path[0] = '\0';
    if (*array)
        snprintf(path, size, "%.3700s/cluster/logs/%.20s_%.12s.log", folder, array,
                 said("SLURM_ARRAY_TASK_ID"));
}

bool th_launch_rank(int *rank, int *size) {
    static const char *const names[][3] = {
        {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
        {"PMI_RANK", "PMI_SIZE", "PMI_RANK"},
        {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_STEP_ID"}};
    for (int i = 0; i < 3; ++i) {
        if (!*said(names[i][0]) || !*said(names[i][1]) || !*said(names[i][2])) continue;
        *rank = atoi(said(names[i][0]));
        *size = atoi(said(names[i][1]));
        if (*rank >= 0 && *rank < *size) return true;
    }
    return false;
}

// ---- Slurm

static void put_quoted(FILE *text, const char *word) {
    fputc('\'', text);
    for (; *word; ++word) {
        if (*word == '\'')
            fputs("'\\''", text);
        else
            fputc(*word, text);
    }
    fputc('\'', text);
}

// In the name of a log Slurm replaces %A and the like; %% is one of them.
static void put_log_folder(FILE *text, const char *folder) {
    for (; *folder; ++folder) fputs(*folder == '%' ? "%%" : (char[]){*folder, '\0'}, text);
}

static void put_script(FILE *text, const th_slurm_def *def) {
    fprintf(
        text,
        "#!/bin/bash\n"
        "# %s. Each task takes runs that no other task has, until none is left; the last one\n"
        "# writes the tables and the report. What killed tasks leave is made by `throng resume`.\n"
        "#SBATCH --job-name=throng\n"
        "#SBATCH --array=1-%d",
        def->what, def->tasks);
    if (def->limit > 0) fprintf(text, "%%%d", def->limit);
    fprintf(text, "\n#SBATCH --ntasks=1\n#SBATCH --cpus-per-task=%d\n", def->cores);
    if (def->partition) fprintf(text, "#SBATCH --partition=%s\n", def->partition);
    if (def->time) fprintf(text, "#SBATCH --time=%s\n", def->time);
    fputs("#SBATCH --requeue\n"
          "#SBATCH --signal=B:TERM@30\n"
          "#SBATCH --open-mode=append\n"
          "#SBATCH --output=\"",
          text);
    put_log_folder(text, def->folder);
    fputs("/cluster/logs/%A_%a.log\"\nexec ", text);
    put_quoted(text, def->program);
    fputs(" resume ", text);
    put_quoted(text, def->folder);
    fprintf(text, " --launch task --quiet%s%s\n", *def->arguments ? " " : "", def->arguments);
}

// Words that stand in a line of #SBATCH as they are.
static th_result check_words(const th_slurm_def *def, th_error *error) {
    const char *const words[] = {def->partition, def->time};
    for (int i = 0; i < 2; ++i)
        for (const char *at = words[i]; at && *at; ++at)
            if (!isalnum((unsigned char)*at) && !strchr("-_.,:+@", *at))
                return th_fail(error, TH_BAD_ARGUMENT, i == 0 ? "partition" : "time",
                               "%.100s: give it as sbatch takes it, without spaces and quotes",
                               words[i]);
    if (!strpbrk(def->folder, "\"\n\\")) return TH_OK;
    return th_file_fail(error, def->folder,
                        "a job script cannot name a folder with quotes, backslashes or line ends; "
                        "choose another --out");
}

static th_result write_script(const th_slurm_def *def, char script[4096], th_error *error) {
    int file = -1;
    for (int n = 1; n < 10000 && file < 0; ++n) {
        snprintf(script, 4096, "%.3700s/cluster/job-%d.sbatch", def->folder, n);
        file = open(script, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0777);
        if (file < 0 && errno != EEXIST) break;
    }
    FILE *text = file >= 0 ? fdopen(file, "w") : NULL;
    if (text) put_script(text, def);
    if (text && fclose(text) == 0) return TH_OK;
    return th_file_fail(error, script, "cannot be written: %s", strerror(errno));
}

th_result th_launch_slurm(const th_slurm_def *def, char job[64], char script[4096],
                          th_error *error) {
    char answer[256], path[4200];
    th_result result = check_words(def, error);
    if (result == TH_OK) result = write_script(def, script, error);
    if (result != TH_OK) return result;
    const char *const call[] = {"sbatch", "--parsable", script, NULL};
    int status = th_system_run(call, answer, sizeof answer);
    size_t digits = strspn(answer, "0123456789"); // "4711" or "4711;cluster"
    if (status == 127)
        return th_file_fail(
            error, script, "sbatch was not found; submit it where Slurm is: sbatch %.400s", script);
    if (status != 0 || digits == 0 || digits >= 64)
        return th_file_fail(error, script,
                            "sbatch did not take it (it exits %d); change it and submit it: sbatch "
                            "%.400s",
                            status, script);
    snprintf(job, 64, "%.*s", (int)digits, answer);
    snprintf(path, sizeof path, "%s.id", script);
    return th_file_replace(path, answer, strlen(answer), TH_FLUSHED, error);
}
