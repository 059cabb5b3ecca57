// The same crowd three times: plain, recorded, plain. A machine that warms up or slows down on the way
// shows in both plain runs alike. SPDX-License-Identifier: Apache-2.0
#include "bench/recording.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const int WARM_UP = 5; // steps, as in bench/timing.h

static double clock_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

int th_bench_recording_steps(int agents) {
    double steps = 1e7 / agents; // rows of them are 650 MB; a million: 8 s
    return steps < 40 ? 40 : steps > 400 ? 400 : (int)steps;
}

static th_result run_steps(th_world *world, th_recorder *recorder, int steps, th_error *error) {
    for (int s = 0; s < steps; ++s) {
        th_world_step(world, 1);
        th_result result = recorder ? th_recorder_see(recorder, world, error) : TH_OK;
        if (result != TH_OK) return result;
    }
    return TH_OK;
}

static double plain_ms(th_world *world, int steps, uint64_t *hash) {
    th_world_step(world, WARM_UP);
    double begin = clock_ms();
    run_steps(world, NULL, steps, NULL);
    double ms = (clock_ms() - begin) / steps;
    *hash = th_world_hash(world);
    return ms;
}

static th_result recorded_ms(th_world *world, const th_recorder_def *def, int steps, double *ms,
                             th_recorder_totals *totals, th_error *error) {
    th_recorder *recorder = NULL;
    th_result result = th_recorder_create(world, def, &recorder, error);
    if (result != TH_OK) return result;
    result = th_recorder_see(recorder, world, error);
    if (result == TH_OK) result = run_steps(world, recorder, WARM_UP, error);
    double begin = clock_ms();
    if (result == TH_OK) result = run_steps(world, recorder, steps, error);
    th_result finished = th_recorder_finish(recorder, totals, result == TH_OK ? error : NULL);
    *ms = (clock_ms() - begin) / steps;
    return result != TH_OK ? result : finished;
}

static th_result measure(th_world *world, const th_recorder_def *def, const void *start,
                         size_t size, th_bench_recording *figures, th_error *error) {
    uint64_t first = 0, last = 0;
    th_recorder_totals totals = {0};
    double before = plain_ms(world, figures->steps, &first);
    th_result result = th_world_restore(world, start, size, error);
    if (result == TH_OK)
        result = recorded_ms(world, def, figures->steps, &figures->ms_recorded, &totals, error);
    uint64_t recorded = th_world_hash(world);
    if (result == TH_OK) result = th_world_restore(world, start, size, error);
    if (result != TH_OK) return result;
    figures->ms_plain = 0.5 * (before + plain_ms(world, figures->steps, &last));
    figures->same_hash = first == recorded && last == recorded;
    figures->frames = (int)totals.frames;
    figures->waited = totals.waited;
    if (totals.rows > 0) figures->bytes_per_row = (double)totals.bytes / (double)totals.rows;
    if (totals.busy > 0) figures->rows_per_second = (double)totals.rows / totals.busy;
    return th_world_restore(world, start, size, error);
}

th_result th_bench_record(th_world *world, th_trajectory_format format, double fps,
                          const char *file, th_bench_recording *figures, th_error *error) {
    int agents = th_world_agent_count(world);
    *figures = (th_bench_recording){.agents = agents, .steps = th_bench_recording_steps(agents)};
    size_t size = th_world_snapshot_size(world);
    void *start = malloc(size);
    th_result result = TH_NO_MEMORY;
    if (start) {
        th_recorder_def def = {.path = file, .format = format, .fps = fps};
        result = th_world_snapshot(world, start, size, error);
        if (result == TH_OK) result = measure(world, &def, start, size, figures, error);
    } else if (error) {
        error->code = TH_NO_MEMORY;
        snprintf(error->message, sizeof error->message, "no memory to keep the crowd's start");
    }
    free(start);
    return result;
}
