// Runs of one scene on a device: one after the other, and side by side in a batch (throng/world.h). The runs are those of
// `throng run`, measured and with their findings, without a folder. SPDX-License-Identifier: Apache-2.0
#include "bench/bench.h"
#include "core/system/system.h"
#include "throng/run.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

// Of the runs one after the other, every run is like the next: so few of them are enough.
enum { ALONE = 6 };
// Runs at once for each core: while some wait for the device, others measure what has come.
enum { JOBS = 4 };

typedef struct timed {
    double seconds;
    int count;
    th_run_outcome *outcomes; // to be freed
} timed;

static bool go_on(const th_runs_progress *progress, void *context) {
    (void)progress;
    const th_bench_batch_def *def = context;
    return !def->stopped || !def->stopped();
}

static th_result run(const th_bench_batch_def *def, int count, int jobs, timed *out,
                     th_error *error) {
    th_runs_def runs_def = th_runs_def_default();
    runs_def.scene = def->scene;
    runs_def.runs = count;
    runs_def.jobs = jobs;
    runs_def.backend = def->backend;
    runs_def.out = "none";
    runs_def.watch = go_on;
    runs_def.context = (void *)def;
    th_runs *runs = NULL;
    th_result result = th_runs_create(&runs_def, &runs, error);
    double begin = th_monotonic_seconds();
    if (result == TH_OK) result = th_runs_execute(runs, error);
    out->seconds = th_monotonic_seconds() - begin;
    if (result == TH_OK) {
        const th_run_outcome *outcomes = th_runs_outcomes(runs, &out->count);
        out->outcomes = calloc((size_t)out->count + 1, sizeof *outcomes);
        for (int i = 0; out->outcomes && i < out->count; ++i) out->outcomes[i] = outcomes[i];
        if (!out->outcomes) out->count = 0;
    }
    th_runs_destroy(runs);
    return result;
}

static bool agree(const timed *alone, const timed *batch) {
    bool same = alone->count > 0 && batch->count >= alone->count;
    for (int i = 0; same && i < alone->count; ++i)
        same = alone->outcomes[i].seed == batch->outcomes[i].seed &&
               alone->outcomes[i].hash == batch->outcomes[i].hash;
    return same;
}

th_result th_bench_batch(const th_bench_batch_def *def, bool *same, th_error *error) {
    timed alone = {0}, batch = {0};
    int jobs = def->jobs > 0 ? def->jobs : JOBS * th_core_count();
    int few = def->runs < ALONE ? def->runs : ALONE;
    th_result result = run(def, few, 1, &alone, error);
    if (result == TH_OK) result = run(def, def->runs, jobs, &batch, error);
    if (result == TH_OK) {
        double one = alone.count / alone.seconds, many = batch.count / batch.seconds;
        *same = agree(&alone, &batch);
        printf("%-20s %6s %10s %10s\n", "", "runs", "seconds", "runs/s");
        printf("%-20s %6d %10.2f %10.2f\n", "one after the other", alone.count, alone.seconds, one);
        printf("%-20s %6d %10.2f %10.2f\n", "side by side", batch.count, batch.seconds, many);
        printf("ratio %.1f, bar 8\n", many / one);
        for (int i = 0; i < alone.count && i < batch.count; ++i)
            printf("seed %-3" PRIu64 " %016" PRIx64 " %016" PRIx64 "\n", alone.outcomes[i].seed,
                   alone.outcomes[i].hash, batch.outcomes[i].hash);
        printf("%s\n", *same ? "each run has the same state" : "runs differ");
        FILE *csv = def->csv ? fopen(def->csv, "w") : NULL;
        if (csv)
            fprintf(csv,
                    "scene,way,runs,seconds,runs_per_second\n%s,alone,%d,%.3f,%.3f\n%s,batch,%d,"
                    "%.3f,%.3f\n",
                    def->scene, alone.count, alone.seconds, one, def->scene, batch.count,
                    batch.seconds, many);
        if (csv) fclose(csv);
    }
    free(alone.outcomes);
    free(batch.outcomes);
    return result;
}
