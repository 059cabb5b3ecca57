// throng status: progress of the runs of a folder, from any machine. SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"
#include <dirent.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_time(const char *what, double seconds) {
    if (!isfinite(seconds)) return;
    if (seconds < 90)
        printf(", %s %.1f s", what, seconds);
    else
        printf(", %s %d:%02d h", what, (int)(seconds / 3600), (int)(seconds / 60) % 60);
}

static void print_holders(const th_runs_standing *s, bool given_up) {
    bool titled = false;
    for (int i = 0; i < s->holder_count; ++i) {
        const th_runs_holder *h = &s->holders[i];
        if (h->given_up != given_up) continue;
        if (!titled) puts(given_up ? "\ngiven up" : "\nrunning");
        titled = true;
        printf("  combination %-6d seed %-8" PRIu64 " %s %s", h->point, h->seed, h->machine,
               h->job);
        if (given_up)
            printf("  %d tasks ended: %s %s\n", h->deaths, h->why, h->log);
        else
            printf("  heard of %.0f s ago%s\n", fmax(0, h->silent),
                   h->deaths > 1 ? ", not the first try" : "");
    }
}

// Numbers that sbatch gave, from cluster/job-N.sbatch.id.
static void print_jobs(const char *folder) {
    char path[4096], line[128];
    for (int n = 1; n < 10000; ++n) {
        snprintf(path, sizeof path, "%.3900s/cluster/job-%d.sbatch.id", folder, n);
        FILE *file = fopen(path, "r");
        if (!file) {
            path[strlen(path) - 3] = '\0';
            FILE *script = fopen(path, "r"); // written, and not taken by sbatch
            if (!script) return;
            fclose(script);
            continue;
        }
        if (fgets(line, sizeof line, file)) {
            size_t digits = strspn(line, "0123456789");
            printf("%sjob %.*s: squeue -j %.*s; its tasks write cluster/logs\n", n == 1 ? "\n" : "",
                   (int)digits, line, (int)digits, line);
        }
        fclose(file);
    }
}

static int print_json(const th_runs_standing *s) {
    json_t *holders = json_array();
    for (int i = 0; i < s->holder_count; ++i) {
        const th_runs_holder *h = &s->holders[i];
        json_array_append_new(
            holders, json_pack("{s:i,s:I,s:b,s:i,s:f,s:s,s:s,s:s,s:s}", "combination", h->point,
                               "seed", (json_int_t)h->seed, "given_up", h->given_up, "tasks",
                               h->deaths, "silent_s", h->silent, "machine", h->machine, "job",
                               h->job, "log", h->log, "why", h->why));
    }
    json_t *object = json_pack(
        "{s:b,s:b,s:i,s:i,s:i,s:i,s:o,s:o,s:o}", "finished", s->finished, "shared", s->shared,
        "runs", s->runs, "done", s->done, "running", s->taken, "given_up", s->given_up, "run_s",
        isfinite(s->run_seconds) ? json_real(s->run_seconds) : json_null(), "left_s",
        isfinite(s->left) ? json_real(s->left) : json_null(), "tasks", holders);
    char *text = object ? json_dumps(object, JSON_INDENT(2) | JSON_REAL_PRECISION(6)) : NULL;
    if (text) puts(text);
    free(text);
    json_decref(object);
    return text ? TH_EXIT_OK : TH_EXIT_FAILED;
}

static int run_status(const th_command *command, int argc, char **argv) {
    bool json = false;
    const th_option options[] = {
        {"json", TH_OPTION_FLAG, &json, NULL, "print one JSON object instead", 0, 0}};
    const char *folder = NULL;
    th_parse_result parsed = th_args_parse(command, options, 1, argc, argv, &folder);
    if (parsed != TH_PARSE_OK) return parsed == TH_PARSE_HELP ? TH_EXIT_OK : TH_EXIT_USAGE;
    th_runs_standing s;
    th_error error = {0};
    if (th_runs_stand(folder, &s, &error) != TH_OK) return th_report_failure(folder, &error);
    int code = TH_EXIT_OK;
    if (json) {
        code = print_json(&s);
    } else {
        if (s.finished && !s.shared)
            printf("%s: finished, %d runs", folder, s.done);
        else
            printf("%s: %d of %d runs done, %d running, %d given up", folder, s.done, s.runs,
                   s.taken, s.given_up);
        print_time("a run takes", s.run_seconds);
        if (!s.finished) print_time("the rest takes about", s.left);
        putchar('\n');
        print_holders(&s, false);
        print_holders(&s, true);
        if (!s.finished) print_jobs(folder);
    }
    th_runs_standing_destroy(&s);
    return code;
}

const th_command th_command_status = {
    .name = "status",
    .operands = "DIR",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "how far the runs of a folder are, and where they run",
    .detail =
        "Reads the folder of a `throng sweep` or `throng run --launch`, on any machine that sees "
        "it:\n"
        "runs that are done, that a process has (where, and when it was last heard of; it writes a "
        "sign\n"
        "every 10 s), that were given up after ten processes had died of them, and the time that "
        "the\n"
        "rest takes at the present pace.",
    .examples = "  throng status DIR\n",
    .run = run_status,
};
