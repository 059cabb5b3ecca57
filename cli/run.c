// throng run: simulate a scene and say what happened. SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/result.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct run_settings {
    long long seed, threads, runs; // seed and runs: negative when not given
    double max_time, step;         // [s] 0: the scene's
    bool json, quiet;
    th_text_list overrides;
} run_settings;

// The simulated time at which the run stops even when people are inside.
static double stop_time(const run_settings *settings, const th_run_def *def) {
    double end = def->duration > 0 ? def->duration : def->max_time;
    return settings->max_time > 0 && settings->max_time < end ? settings->max_time : end;
}

// Steps until the end, Ctrl-C, or, without a duration, nobody left on the way.
static void simulate(th_world *world, const run_settings *settings, th_run_result *result) {
    th_run_def def = th_scene_run(th_world_scene(world));
    double end = stop_time(settings, &def);
    double step = settings->step > 0 ? settings->step : def.step;
    bool until_empty = def.duration <= 0;
    th_progress progress = th_progress_start(!settings->quiet, until_empty ? 0 : end);
    // Taken at fixed simulated times only: a call samples the overlaps, and the largest overlap of a
    // run must not depend on how often somebody looked.
    th_statistics latest = th_world_statistics(world);
    double next_sample = 0;
    // Half a step of slack: the sum of many steps is not exactly their product.
    while (th_world_time(world) < end - 0.5 * step && !th_interrupted()) {
        if (until_empty && th_world_done(world)) break;
        th_world_step(world, 1);
        th_run_result_count_events(result, world);
        double time = th_world_time(world);
        if (time >= next_sample) {
            th_run_result_sample(result, world);
            latest = th_world_statistics(world);
            next_sample += 1.0;
        }
        if (th_progress_due(&progress))
            th_progress_show(&progress, time, latest.inside, latest.left, latest.waiting_to_enter);
    }
    result->interrupted = th_interrupted();
    th_progress_end(&progress);
    th_run_result_finish(result, world, th_wall_clock() - progress.started);
}

// Over several runs: what an engineer asks of a sample.
typedef struct egress_summary {
    int runs, finished;
    double sum, lowest, highest;
} egress_summary;

static void add_egress(egress_summary *summary, double egress) {
    summary->runs += 1;
    if (!isfinite(egress)) return;
    if (summary->finished == 0 || egress < summary->lowest) summary->lowest = egress;
    if (summary->finished == 0 || egress > summary->highest) summary->highest = egress;
    summary->sum += egress;
    summary->finished += 1;
}

static int one_run(const char *path, const th_scene *scene, const run_settings *settings,
                   uint64_t seed, bool alone, egress_summary *summary, json_t **object) {
    th_world *world = NULL;
    int code =
        th_make_world(path, scene, (long long)seed, (int)settings->threads, settings->step, &world);
    if (code != TH_EXIT_OK) return code;
    th_run_result result;
    if (th_run_result_init(&result, path, world)) {
        result.seed = seed;
        simulate(world, settings, &result);
        double egress = th_run_result_egress_time(&result);
        add_egress(summary, egress);
        if (settings->json) {
            *object = th_run_result_json(&result, world);
        } else if (alone) {
            th_run_result_print(&result, world);
        } else if (isfinite(egress)) {
            printf("  seed %-8" PRIu64 " egress time %8.1f s   hash %016" PRIx64 "\n", seed, egress,
                   result.hash);
        } else {
            printf("  seed %-8" PRIu64 " %" PRIu64 " still inside at %.1f s   hash %016" PRIx64
                   "\n",
                   seed, result.statistics.inside, result.statistics.time, result.hash);
        }
    } else {
        fprintf(stderr, "%s: no memory for the result; close other programs\n", path);
        code = TH_EXIT_FAILED;
    }
    th_run_result_release(&result);
    th_world_destroy(world);
    return code;
}

static json_t *real_or_null(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

static void print_json(json_t *object) {
    json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    putchar('\n');
    json_decref(object);
}

static void print_many(const th_scene *scene, uint64_t first_seed, json_t *runs, bool json,
                       const egress_summary *summary) {
    bool any = summary->finished > 0;
    double mean = any ? summary->sum / summary->finished : (double)NAN;
    if (!json) {
        printf("  %d of %d runs emptied the scene", summary->finished, summary->runs);
        if (any)
            printf("; egress time mean %.1f s, lowest %.1f s, highest %.1f s", mean,
                   summary->lowest, summary->highest);
        putchar('\n');
        return;
    }
    double none = (double)NAN;
    print_json(json_pack("{s:s,s:I,s:O,s:o,s:o,s:o}", "scene", th_scene_name(scene), "seed",
                         (json_int_t)first_seed, "runs", runs, "egress_time_mean",
                         real_or_null(mean), "egress_time_min",
                         real_or_null(any ? summary->lowest : none), "egress_time_max",
                         real_or_null(any ? summary->highest : none)));
}

static int run_seeds(const char *path, const th_scene *scene, const run_settings *settings) {
    th_run_def def = th_scene_run(scene);
    uint64_t first_seed = settings->seed >= 0 ? (uint64_t)settings->seed : def.seed;
    int runs = settings->runs > 0 ? (int)settings->runs : def.runs;
    bool alone = runs <= 1;
    th_record_def record = th_scene_record(scene);
    if (record.format && strcmp(record.format, "none") != 0)
        fprintf(stderr,
                "%s: record.format is '%s', but this version of throng writes no recordings\n",
                path, record.format);
    egress_summary summary = {0};
    json_t *objects = json_array();
    if (!alone && !settings->json) printf("%s (%s), %d runs\n", th_scene_name(scene), path, runs);
    int code = TH_EXIT_OK;
    for (int i = 0; i < (alone ? 1 : runs) && code == TH_EXIT_OK && !th_interrupted(); ++i) {
        json_t *object = NULL;
        code = one_run(path, scene, settings, first_seed + (uint64_t)i, alone, &summary, &object);
        if (object) json_array_append_new(objects, object);
        if (!settings->json) fflush(stdout);
    }
    if (code == TH_EXIT_OK && alone && settings->json)
        print_json(json_incref(json_array_get(objects, 0)));
    if (code == TH_EXIT_OK && !alone)
        print_many(scene, first_seed, objects, settings->json, &summary);
    json_decref(objects);
    return code == TH_EXIT_OK && th_interrupted() ? TH_EXIT_INTERRUPTED : code;
}

static int run_run(const th_command *command, int argc, char **argv) {
    run_settings s = {.seed = -1};
    const th_option options[] = {
        {"seed", TH_OPTION_INTEGER, &s.seed, "N", "random seed (default: the scene's)", 1, 9e18},
        {"threads", TH_OPTION_INTEGER, &s.threads, "N",
         "threads, 0 for as many cores as pay; results do not depend on it", 0, 1024},
        {"set", TH_OPTION_LIST, &s.overrides, "PATH=VALUE",
         "change a value of the scene; repeatable", 0, 0},
        {"runs", TH_OPTION_INTEGER, &s.runs, "N", "that many seeds, one after the other", 1, 1e6},
        {"max-time", TH_OPTION_REAL, &s.max_time, "S", "stop at this simulated time [s]", 1e-3,
         1e9},
        {"step", TH_OPTION_REAL, &s.step, "S", "time step [s] (default: the scene's)", 1e-4, 0.5},
        {"json", TH_OPTION_FLAG, &s.json, NULL, "print one JSON object instead of the summary", 0,
         0},
        {"quiet", TH_OPTION_FLAG, &s.quiet, NULL, "no progress line", 0, 0},
    };
    const char *path = NULL;
    th_parse_result parsed = th_args_parse(
        command, options, (int)(sizeof options / sizeof options[0]), argc, argv, &path);
    if (parsed != TH_PARSE_OK) return parsed == TH_PARSE_HELP ? TH_EXIT_OK : TH_EXIT_USAGE;
    th_scene *scene = NULL;
    int code = th_load_scene(path, &s.overrides, &scene);
    if (code != TH_EXIT_OK) return code;
    th_watch_interrupt();
    code = run_seeds(path, scene, &s);
    th_scene_destroy(scene);
    return code;
}

const th_command th_command_run = {
    .name = "run",
    .operands = "SCENE",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "simulate a scene and print what happened",
    .detail =
        "Steps the scene until its duration is over or everybody is out. A progress line on "
        "stderr\n"
        "shows simulated time, people inside, speed against real time and the time to go. Ctrl-C\n"
        "stops and still prints the summary. The same seed gives the same hash with any number of\n"
        "threads.",
    .examples = "  throng run scenes/station.json\n"
                "  throng run scenes/station.json --seed 7 --set groups.0.count=500\n"
                "  throng run scenes/station.json --runs 10 --quiet\n"
                "  throng run scenes/station.json --json > result.json\n",
    .run = run_run,
};
