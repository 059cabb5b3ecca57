// The table of `throng bench --record`: block, ORCA, 10 frames per simulated second, every storage.
// SPDX-License-Identifier: Apache-2.0
#include "cli/bench_record.h"
#include "bench/recording.h"
#include "bench/scenes.h"
#include "cli/commands.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const double FPS = 10;           // frames per simulated second; a step of 0.1 s: each one
static const double SLOW_DOWN_BAR = 20; // [%] of a step, at a million people in the compact storage
static const int MOST_IN_ROWS =
    100000; // above, rows are some gigabytes a minute: use the compact one
static const int MILLION = 1000000;

static const th_trajectory_format storages[] = {TH_TRAJECTORY_COMPACT, TH_TRAJECTORY_SQLITE,
                                                TH_TRAJECTORY_TEXT};
enum { STORAGES = sizeof storages / sizeof storages[0] };

static double slow_down(const th_bench_recording *figures) {
    return 100 * (figures->ms_recorded / figures->ms_plain - 1);
}

static void print_head(int threads) {
    printf("block, ORCA, %g frames per simulated second, %d thread%s and the writer's\n\n", FPS,
           threads, threads == 1 ? "" : "s");
    printf(" people  storage   plain     recorded  slower        bytes per   writer      waited\n"
           "                   ms/step   ms/step   %%             person      million/s   s\n");
}

static void print_row(th_trajectory_format format, const th_bench_recording *figures) {
    char bar[32] = "";
    double slower = slow_down(figures);
    if (format == TH_TRAJECTORY_COMPACT && figures->agents >= MILLION)
        snprintf(bar, sizeof bar, "< %g %s", SLOW_DOWN_BAR,
                 slower < SLOW_DOWN_BAR ? "ok" : "MISSED");
    printf("%7d  %-8s  %8.3f  %8.3f  %5.1f  %-11s %6.2f  %9.2f  %9.2f%s\n", figures->agents,
           th_trajectory_format_name(format), figures->ms_plain, figures->ms_recorded, slower, bar,
           figures->bytes_per_row, 1e-6 * figures->rows_per_second, figures->waited,
           figures->same_hash ? "" : "  HASH DIFFERS");
    fflush(stdout);
}

static void write_csv_row(FILE *csv, th_trajectory_format format, int threads,
                          const th_bench_recording *f) {
    if (!csv) return;
    fprintf(csv, "%d,%s,%d,%d,%g,%.6g,%.6g,%.4g,%.6g,%.6g,%.6g,%d\n", f->agents,
            th_trajectory_format_name(format), threads, f->steps, FPS, f->ms_plain, f->ms_recorded,
            slow_down(f), f->bytes_per_row, f->rows_per_second, f->waited, f->same_hash);
}

static void remove_recording(const char *file) {
    static const char *const endings[] = {"", "-wal", "-shm"}; // the last two after a failure only
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; ++i) {
        char name[4096 + 8];
        snprintf(name, sizeof name, "%s%s", file, endings[i]);
        unlink(name);
    }
}

static int measure(const th_bench_record_settings *s, int agents, th_trajectory_format format,
                   const char *folder, th_bench_recording *figures) {
    char file[4096];
    th_error error = {0};
    if (snprintf(file, sizeof file, "%s/bench-%d-%s", folder, agents,
                 th_trajectory_format_name(format)) >= (int)sizeof file)
        return TH_EXIT_USAGE;
    th_scene *scene = NULL;
    th_world *world = NULL;
    th_result result = th_bench_create(TH_BENCH_BLOCK, "orca", NULL, agents, TH_BENCH_STEP,
                                       s->threads, TH_BACKEND_CPU, &scene, &world, &error);
    if (result == TH_OK) {
        result = th_bench_record(world, format, FPS, file, figures, &error);
        th_world_destroy(world);
        th_scene_destroy(scene);
    }
    remove_recording(file);
    if (result == TH_OK) return TH_EXIT_OK;
    error.code = result;
    th_report_error(file, &error);
    return TH_EXIT_FAILED;
}

static int measure_all(const th_bench_record_settings *s, const char *folder, FILE *csv) {
    static const int people[] = {10000, 100000, 1000000};
    int sizes = s->agents > 0 ? 1 : 3, code = TH_EXIT_OK;
    bool same = true;
    if (csv)
        fputs("agents,storage,threads,steps,fps,ms_plain,ms_recorded,slow_down_percent,"
              "bytes_per_person_frame,writer_people_per_second,waited_s,same_hash\n",
              csv);
    print_head(s->threads);
    for (int i = 0; i < sizes * STORAGES && code == TH_EXIT_OK; ++i) {
        int agents = s->agents > 0 ? s->agents : people[i / STORAGES];
        th_trajectory_format format = storages[i % STORAGES];
        if (format != TH_TRAJECTORY_COMPACT && agents > MOST_IN_ROWS) continue;
        bool tell = !s->quiet && isatty(STDERR_FILENO);
        if (tell)
            fprintf(stderr, "\r\033[K%s, %d people ...", th_trajectory_format_name(format), agents);
        th_bench_recording figures;
        code = measure(s, agents, format, folder, &figures);
        if (tell) fputs("\r\033[K", stderr);
        if (code != TH_EXIT_OK) break;
        print_row(format, &figures);
        write_csv_row(csv, format, s->threads, &figures);
        same = same && figures.same_hash;
    }
    return code == TH_EXIT_OK && !same ? TH_EXIT_FAILED : code;
}

// A given folder may be there already: only files named bench-* are written into it and removed.
static int in_folder(const th_bench_record_settings *s, FILE *csv) {
    char own[] = "/tmp/throng-bench-XXXXXX";
    const char *folder = s->folder;
    bool made = false;
    if (!folder)
        made = (folder = mkdtemp(own)) != NULL;
    else
        made = mkdir(folder, 0777) == 0;
    struct stat about;
    if (!folder || stat(folder, &about) != 0 || !S_ISDIR(about.st_mode)) {
        fprintf(stderr, "%s: no folder for the recordings; name one with --out\n",
                s->folder ? s->folder : own);
        return TH_EXIT_FAILED;
    }
    int code = measure_all(s, folder, csv);
    if (made) rmdir(folder);
    return code;
}

int th_bench_record_table(const th_bench_record_settings *s) {
    FILE *csv = s->csv ? fopen(s->csv, "w") : NULL;
    if (s->csv && !csv) {
        fprintf(stderr, "%s: cannot be written; choose another --csv\n", s->csv);
        return TH_EXIT_FAILED;
    }
    int code = in_folder(s, csv);
    bool good = !csv || !ferror(csv);
    good = (!csv || fclose(csv) == 0) && good;
    if (!good) fprintf(stderr, "%s: the table could not be written; free space\n", s->csv);
    return good ? code : TH_EXIT_FAILED;
}
