// Cost of recording, and of observing for a report as well. The same crowd walks four times: plain, recorded,
// recorded and observed, plain; a machine that warms up or slows down on the way shows in both plain runs alike. The
// table is of the block with ORCA, 10 frames per simulated second, in every storage. SPDX-License-Identifier:
// Apache-2.0
#include "bench/bench.h"
#include "core/error.h"
#include "core/system/system.h"
#include "observe/observer.h"
#include "report/report.h"
#include "throng/record.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const int WARM_UP = 5; // steps, as in bench/bench.h

typedef struct recording_figures {
    int agents, steps, frames;
    double ms_plain;    // per step, mean of a run before and one after the recorded one
    double ms_recorded; // per step, with writing the last frames and closing the file in it
    double ms_observed; // the same with the observer of `throng run`
    double bytes_per_row;
    double rows_per_second; // of the writer's processor time
    double waited;          // [s] the simulation stood still for the writer, in all
    bool same_hash;         // a recorded crowd does not walk otherwise
} recording_figures;

// Steps that take a second or more, so that closing the file does not weigh: 40 to 400.
static int steps_for(int agents) {
    double steps = 1e7 / agents; // rows of them are 650 MB; a million: 8 s
    return steps < 40 ? 40 : steps > 400 ? 400 : (int)steps;
}

static th_result run_steps(th_world *world, th_recorder *recorder, th_observer *observer, int steps,
                           th_error *error) {
    for (int s = 0; s < steps; ++s) {
        th_world_step(world, 1);
        th_result result = observer ? th_observer_see(observer, world, error) : TH_OK;
        if (result == TH_OK && recorder) result = th_recorder_see(recorder, world, error);
        if (result != TH_OK) return result;
    }
    return TH_OK;
}

static double plain_ms(th_world *world, int steps, uint64_t *hash) {
    th_world_step(world, WARM_UP);
    double begin = th_monotonic_seconds();
    run_steps(world, NULL, NULL, steps, NULL);
    double ms = 1e3 * (th_monotonic_seconds() - begin) / steps;
    *hash = th_world_hash(world);
    return ms;
}

static th_result recorded_ms(th_world *world, const th_recorder_def *def, th_observer *observer,
                             int steps, double *ms, th_recorder_totals *totals, th_error *error) {
    th_recorder *recorder = NULL;
    th_result result = th_recorder_create(world, def, &recorder, error);
    if (result != TH_OK) return result;
    result = th_recorder_see(recorder, world, error);
    if (result == TH_OK) result = run_steps(world, recorder, observer, WARM_UP, error);
    double begin = th_monotonic_seconds();
    if (result == TH_OK) result = run_steps(world, recorder, observer, steps, error);
    th_result finished = th_recorder_close(recorder, totals, result == TH_OK ? error : NULL);
    *ms = 1e3 * (th_monotonic_seconds() - begin) / steps;
    return result != TH_OK ? result : finished;
}

static void remove_recording(const char *file) {
    static const char *const endings[] = {"", "-wal", "-shm"}; // the last two after a failure only
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; ++i) {
        char name[4096 + 8];
        snprintf(name, sizeof name, "%s%s", file, endings[i]);
        unlink(name);
    }
}

static th_result observed_ms(th_world *world, const th_recorder_def *def, int steps, double *ms,
                             th_error *error) {
    th_recorder_totals totals = {0};
    th_observer *observer = NULL;
    th_observer_def looks = th_observer_def_default();
    th_result result = th_observer_create(world, &looks, &observer, error);
    if (result != TH_OK) return result;
    result = th_observer_see(observer, world, error);
    remove_recording(def->path); // of the run before
    if (result == TH_OK) result = recorded_ms(world, def, observer, steps, ms, &totals, error);
    th_observer_destroy(observer);
    return result;
}

static th_result compare_runs(th_world *world, const th_recorder_def *def, const void *start,
                              size_t size, recording_figures *figures, th_error *error) {
    uint64_t first = 0, last = 0;
    th_recorder_totals totals = {0};
    double before = plain_ms(world, figures->steps, &first);
    th_result result = th_world_restore(world, start, size, error);
    if (result == TH_OK)
        result =
            recorded_ms(world, def, NULL, figures->steps, &figures->ms_recorded, &totals, error);
    uint64_t recorded = th_world_hash(world);
    if (result == TH_OK) result = th_world_restore(world, start, size, error);
    if (result == TH_OK)
        result = observed_ms(world, def, figures->steps, &figures->ms_observed, error);
    bool same = th_world_hash(world) == recorded;
    if (result == TH_OK) result = th_world_restore(world, start, size, error);
    if (result != TH_OK) return result;
    figures->ms_plain = 0.5 * (before + plain_ms(world, figures->steps, &last));
    figures->same_hash = first == recorded && last == recorded && same;
    figures->frames = (int)totals.frames;
    figures->waited = totals.waited;
    if (totals.rows > 0) figures->bytes_per_row = (double)totals.bytes / (double)totals.rows;
    if (totals.busy > 0) figures->rows_per_second = (double)totals.rows / totals.busy;
    return th_world_restore(world, start, size, error);
}

// Starts from the world's state and restores it afterwards. Writes `file`, and leaves it.
static th_result record_crowd(th_world *world, th_trajectory_format format, double fps,
                              const char *file, recording_figures *figures, th_error *error) {
    int agents = th_world_agent_count(world);
    *figures = (recording_figures){.agents = agents, .steps = steps_for(agents)};
    size_t size = th_world_snapshot_size(world);
    void *start = malloc(size);
    th_result result = TH_NO_MEMORY;
    if (start) {
        th_recorder_def def = th_recorder_def_default();
        def.path = file;
        def.format = format;
        def.fps = fps;
        result = th_world_snapshot(world, start, size, error);
        if (result == TH_OK) result = compare_runs(world, &def, start, size, figures, error);
    } else {
        th_fail(error, TH_NO_MEMORY, "", "no memory to keep the crowd's start");
    }
    free(start);
    return result;
}

// ---- the table

static const double FPS = 10;           // frames per simulated second; a step of 0.1 s: each one
static const double SLOW_DOWN_BAR = 20; // [%] of a step, at a million people in the compact storage
static const double OBSERVED_BAR = 30;  // [%] the same, recorded and observed
static const int MOST_IN_ROWS =
    100000; // above, rows are some gigabytes a minute: use the compact one
static const int MILLION = 1000000;

static const th_trajectory_format storages[] = {TH_TRAJECTORY_COMPACT, TH_TRAJECTORY_SQLITE,
                                                TH_TRAJECTORY_TEXT};
enum { STORAGES = sizeof storages / sizeof storages[0] };

static double slow_down(const recording_figures *figures, double ms) {
    return 100 * (ms / figures->ms_plain - 1);
}

static void print_head(int threads) {
    printf("block, ORCA, %g frames per simulated second, %d thread%s and the writer's\n\n", FPS,
           threads, threads == 1 ? "" : "s");
    printf(
        " people  storage   plain     recorded  slower      and observed  slower      bytes per   "
        "writer      waited\n"
        "                   ms/step   ms/step   %%           ms/step       %%           person     "
        " "
        "million/s   s\n");
}

// A million people in the compact storage have bars.
static const char *judged(const recording_figures *figures, th_trajectory_format format,
                          double slower, double bar) {
    if (format != TH_TRAJECTORY_COMPACT || figures->agents < MILLION) return "";
    return slower < bar ? "ok" : "MISSED";
}

static void print_row(th_trajectory_format format, const recording_figures *f) {
    double recorded = slow_down(f, f->ms_recorded), observed = slow_down(f, f->ms_observed);
    printf("%7d  %-8s  %8.3f  %8.3f  %5.1f %-6s  %8.3f  %5.1f %-6s %6.2f  %9.2f  %9.2f%s\n",
           f->agents, th_trajectory_format_name(format), f->ms_plain, f->ms_recorded, recorded,
           judged(f, format, recorded, SLOW_DOWN_BAR), f->ms_observed, observed,
           judged(f, format, observed, OBSERVED_BAR), f->bytes_per_row, 1e-6 * f->rows_per_second,
           f->waited, f->same_hash ? "" : "  HASH DIFFERS");
    fflush(stdout);
}

static void write_csv_row(FILE *csv, th_trajectory_format format, int threads,
                          const recording_figures *f) {
    if (!csv) return;
    fprintf(csv, "%d,%s,%d,%d,%g,%.6g,%.6g,%.4g,%.6g,%.4g,%.6g,%.6g,%.6g,%d\n", f->agents,
            th_trajectory_format_name(format), threads, f->steps, FPS, f->ms_plain, f->ms_recorded,
            slow_down(f, f->ms_recorded), f->ms_observed, slow_down(f, f->ms_observed),
            f->bytes_per_row, f->rows_per_second, f->waited, f->same_hash);
}

static th_result measure(const th_bench_recording_def *def, int agents, th_trajectory_format format,
                         const char *folder, recording_figures *figures, th_error *error) {
    char file[4096];
    if (snprintf(file, sizeof file, "%s/bench-%d-%s", folder, agents,
                 th_trajectory_format_name(format)) >= (int)sizeof file)
        return th_file_fail(error, folder, "the name is too long");
    th_scene *scene = NULL;
    th_world *world = NULL;
    th_result result =
        th_bench_create(TH_BENCH_BLOCK, &(th_bench_models){.move = "orca"}, agents, TH_BENCH_STEP,
                        def->threads, TH_BACKEND_CPU, &scene, &world, error);
    if (result == TH_OK) {
        result = record_crowd(world, format, FPS, file, figures, error);
        th_world_destroy(world);
        th_scene_destroy(scene);
    }
    remove_recording(file);
    if (result != TH_OK && !error->file[0])
        snprintf(error->file, sizeof error->file, "%.255s", file);
    return result;
}

static th_result measure_all(const th_bench_recording_def *def, const char *folder, FILE *csv,
                             bool *same_hash, th_error *error) {
    static const int people[] = {10000, 100000, 1000000};
    int sizes = def->agents > 0 ? 1 : 3;
    if (csv)
        fputs("agents,storage,threads,steps,fps,ms_plain,ms_recorded,slow_down_percent,"
              "ms_observed,observed_percent,bytes_per_person_frame,writer_people_per_second,waited_"
              "s,same_hash\n",
              csv);
    print_head(def->threads);
    for (int i = 0; i < sizes * STORAGES; ++i) {
        int agents = def->agents > 0 ? def->agents : people[i / STORAGES];
        th_trajectory_format format = storages[i % STORAGES];
        if (format != TH_TRAJECTORY_COMPACT && agents > MOST_IN_ROWS) continue;
        bool tell = !def->quiet && isatty(STDERR_FILENO);
        if (tell)
            fprintf(stderr, "\r\033[K%s, %d people ...", th_trajectory_format_name(format), agents);
        recording_figures figures;
        th_result result = measure(def, agents, format, folder, &figures, error);
        if (tell) fputs("\r\033[K", stderr);
        if (result != TH_OK) return result;
        print_row(format, &figures);
        write_csv_row(csv, format, def->threads, &figures);
        *same_hash = *same_hash && figures.same_hash;
    }
    return TH_OK;
}

// A given folder may be there already: only files named bench-* are written into it and removed.
static th_result in_folder(const th_bench_recording_def *def, FILE *csv, bool *same_hash,
                           th_error *error) {
    char own[] = "/tmp/throng-bench-XXXXXX";
    const char *folder = def->folder;
    bool made = false;
    if (!folder)
        made = (folder = mkdtemp(own)) != NULL;
    else
        made = mkdir(folder, 0777) == 0;
    struct stat about;
    if (!folder || stat(folder, &about) != 0 || !S_ISDIR(about.st_mode))
        return th_file_fail(error, def->folder ? def->folder : own,
                            "no folder for the recordings; name one with --out");
    th_result result = measure_all(def, folder, csv, same_hash, error);
    if (made) rmdir(folder);
    return result;
}

th_result th_bench_recording(const th_bench_recording_def *def, bool *same_hash, th_error *error) {
    *same_hash = true;
    FILE *csv = def->csv ? fopen(def->csv, "w") : NULL;
    if (def->csv && !csv)
        return th_file_fail(error, def->csv, "cannot be written; choose another --csv");
    th_result result = in_folder(def, csv, same_hash, error);
    bool good = !csv || !ferror(csv);
    good = (!csv || fclose(csv) == 0) && good;
    if (result != TH_OK || good) return result;
    return th_file_fail(error, def->csv, "the table could not be written; free space");
}
