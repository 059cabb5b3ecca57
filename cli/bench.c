// throng bench: how fast, how large, and does the crowd still behave. Every case runs in a process of
// its own, because the peak memory of a process never goes down again.
// SPDX-License-Identifier: Apache-2.0
#include "bench/scenes.h"
#include "bench/timing.h"
#include "cli/bench_record.h"
#include "cli/bench_scaling.h"
#include "cli/bench_table.h"
#include "cli/bench_uic.h"
#include "cli/commands.h"
#include <inttypes.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const double BEHAVIOUR_TIME = 30; // [s] as in the figures measured for RVO2

typedef struct bench_settings {
    const char *scene, *model, *filter, *device, *csv, *out, *scaling;
    th_backend backend; // of `device`
    long long agents, threads;
    double step;
    th_text_list params;
    bool json, behaviour, full, record, uic, quality, quiet;
} bench_settings;

static json_t *figures_json(const th_bench_case *what, const th_bench_figures *figures,
                            double step) {
    json_t *stages = json_object();
    for (int i = 0; i < TH_STAGE_COUNT; ++i)
        json_object_set_new(stages, th_stage_name((th_stage)i), json_real(figures->stage_ms[i]));
    char hash[17];
    snprintf(hash, sizeof hash, "%016" PRIx64, figures->hash);
    int people = figures->agents > 0 ? figures->agents : 1;
    json_t *object =
        json_pack("{s:s,s:s,s:i,s:i,s:s,s:f,s:f,s:o,s:s,s:I,s:f}", "scene", what->scene, "model",
                  what->model, "agents", figures->agents, "threads", what->threads, "device",
                  what->backend == TH_BACKEND_CUDA ? "cuda" : "cpu", "ms_per_step",
                  figures->ms_per_step, "ms_per_step_min", figures->ms_per_step_min, "stages",
                  stages, "hash", hash, "peak_rss_bytes", (json_int_t)figures->peak_rss_bytes,
                  "bytes_per_agent", (double)figures->peak_rss_bytes / people);
    if (object) json_object_set_new(object, "step", json_real(step));
    if (object && figures->device_bytes > 0) {
        json_object_set_new(object, "device_bytes",
                            json_integer((json_int_t)figures->device_bytes));
        json_object_set_new(object, "device_bytes_per_agent",
                            json_real((double)figures->device_bytes / people));
    }
    int substeps = th_bench_substeps(what->model, step);
    if (object && substeps > 1) {
        json_object_set_new(object, "substeps", json_integer(substeps));
        json_object_set_new(object, "ms_per_substep", json_real(figures->ms_per_step / substeps));
    }
    return object;
}

static void add_behaviour(json_t *object, const th_bench_behaviour *behaviour) {
    json_object_set_new(object, "behaviour_time", json_real(behaviour->time));
    json_object_set_new(object, "overlap_share", json_real(behaviour->overlap_share));
    json_object_set_new(object, "deepest_overlap", json_real(behaviour->deepest_overlap));
    json_object_set_new(object, "goalward_speed", json_real(behaviour->goalward_speed));
    json_object_set_new(object, "goalward_speed_at_end",
                        json_real(behaviour->goalward_speed_at_end));
}

// "name=value" on every group that has such a parameter; at least one must.
static int set_params(th_world *world, const th_text_list *params) {
    for (int k = 0; params && k < params->count; ++k) {
        const char *equals = strchr(params->items[k], '=');
        char name[64], *end = NULL;
        double value = equals ? strtod(equals + 1, &end) : 0;
        if (!equals || end == equals + 1 || *end || equals - params->items[k] >= (int)sizeof name) {
            fprintf(stderr, "throng bench: --param %s: give name=number\n", params->items[k]);
            return TH_EXIT_USAGE;
        }
        snprintf(name, sizeof name, "%.*s", (int)(equals - params->items[k]), params->items[k]);
        int groups = th_scene_group_count(th_world_scene(world));
        th_error error = {0};
        bool known = false;
        for (int g = 0; g < groups; ++g)
            known = th_world_set_param(world, g, name, value, &error) == TH_OK || known;
        if (!known) {
            fprintf(stderr, "throng bench: --param %s: %s\n", params->items[k], error.message);
            return TH_EXIT_USAGE;
        }
    }
    return TH_EXIT_OK;
}

// "name" or "name:preset"; the name is copied to `name`.
static th_model_def filter_of(const char *text, char *name, size_t size) {
    th_model_def filter = {.name = "none"};
    if (!text) return filter;
    const char *colon = strchr(text, ':');
    snprintf(name, size, "%.*s", colon ? (int)(colon - text) : (int)strlen(text), text);
    filter.name = name;
    filter.preset = colon ? colon + 1 : NULL;
    return filter;
}

// A built-in scene or a scene file. NULL: it could not be made, *code says why.
static json_t *measure(const th_bench_case *what, int *code) {
    th_scene *scene = NULL;
    th_world *world = NULL;
    th_bench_scene which = th_bench_find_scene(what->scene);
    if (which == TH_BENCH_SCENE_COUNT) {
        *code = th_load_scene(what->scene, NULL, &scene);
        if (*code == TH_EXIT_OK)
            *code = th_make_world(what->scene, scene, -1, what->threads, what->step, what->backend,
                                  &world);
        if (*code != TH_EXIT_OK) {
            th_scene_destroy(scene);
            return NULL;
        }
    } else {
        th_error error = {0};
        char name[64];
        th_model_def filter = filter_of(what->filter, name, sizeof name);
        th_result result = th_bench_create(which, what->model, &filter, what->agents,
                                           what->step > 0 ? what->step : TH_BENCH_STEP,
                                           what->threads, what->backend, &scene, &world, &error);
        if (result != TH_OK) {
            error.code = result;
            *code = th_report_error(what->scene, &error);
            return NULL;
        }
    }
    json_t *object = NULL;
    *code = set_params(world, what->params);
    if (*code == TH_EXIT_OK) {
        th_bench_figures figures = th_bench_measure(world, what->backend);
        object = figures_json(what, &figures, th_world_step_length(world));
        *code = object ? TH_EXIT_OK : TH_EXIT_FAILED;
    }
    if (object && what->behaviour) {
        th_bench_behaviour behaviour = th_bench_behave(world, BEHAVIOUR_TIME);
        add_behaviour(object, &behaviour);
    }
    th_world_destroy(world);
    th_scene_destroy(scene);
    return object;
}

// The child's side of a measurement: the object goes through the pipe.
static int measure_into(const th_bench_case *what, int pipe_end) {
    int code = TH_EXIT_FAILED;
    json_t *object = measure(what, &code);
    if (object && json_dumpfd(object, pipe_end, JSON_COMPACT) != 0) code = TH_EXIT_FAILED;
    json_decref(object);
    close(pipe_end);
    return code;
}

static json_t *measure_apart(const th_bench_case *what, int *code) {
    int ends[2];
    *code = TH_EXIT_FAILED;
    fflush(NULL);
    if (pipe(ends) != 0) return NULL;
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        _exit(measure_into(what, ends[1]));
    }
    close(ends[1]);
    json_t *object = child > 0 ? json_loadfd(ends[0], 0, NULL) : NULL;
    close(ends[0]);
    int status = 0;
    if (child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status))
        *code = WEXITSTATUS(status);
    if (object && *code == TH_EXIT_OK) return object;
    json_decref(object);
    return NULL;
}

static int run_table(const bench_settings *s) {
    th_bench_case cases[TH_BENCH_CASES_MAX];
    int count = th_bench_cases(cases, s->full, (int)s->threads, s->backend), code = TH_EXIT_OK;
    json_t *rows = json_array();
    th_bench_print_head(&cases[0]);
    for (int i = 0; i < count && code == TH_EXIT_OK; ++i) {
        if (!s->quiet && isatty(STDERR_FILENO))
            fprintf(stderr, "\r\033[K%s, %s, %d people ...", cases[i].scene, cases[i].model,
                    cases[i].agents);
        json_t *row = measure_apart(&cases[i], &code);
        if (!s->quiet && isatty(STDERR_FILENO)) fputs("\r\033[K", stderr);
        if (!row) break;
        th_bench_print_row(&cases[i], row);
        fflush(stdout);
        json_array_append_new(rows, row);
    }
    if (code == TH_EXIT_OK && s->csv && !th_bench_write_csv(cases, rows, s->csv)) {
        fprintf(stderr, "%s: the table could not be written; free space or choose another --csv\n",
                s->csv);
        code = TH_EXIT_FAILED;
    }
    json_decref(rows);
    return code;
}

static int run_one(const bench_settings *s) {
    th_bench_case what = {
        .scene = s->scene, .model = s->model, .behaviour = s->behaviour, .params = &s->params};
    what.filter = s->filter;
    what.agents = (int)s->agents;
    what.step = s->step;
    what.threads = (int)s->threads;
    what.backend = s->backend;
    int code = TH_EXIT_OK;
    json_t *object = measure(&what, &code);
    if (!object) return code;
    if (s->json) {
        json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(7));
        putchar('\n');
    } else {
        th_bench_print_head(&what);
        th_bench_print_row(&what, object);
    }
    json_decref(object);
    return TH_EXIT_OK;
}

// Fills in what was not given and refuses what does not go together.
static bool complete(const th_command *command, bench_settings *s) {
    if (!th_backend_of(command, s->device, &s->backend)) return false;
    // A figure without its number of threads says little, so 0 does not stay 0.
    if (s->threads == 0) s->threads = omp_get_num_procs();
    if (!s->scene) s->scene = "block";
    bool built_in = th_bench_find_scene(s->scene) != TH_BENCH_SCENE_COUNT;
    if (!built_in && !strpbrk(s->scene, "./")) {
        const char *nearest = th_suggest(s->scene, th_bench_scene_names, TH_BENCH_SCENE_COUNT);
        th_complain(
            command, "--scene %s: give circle, block, dense, packed, pillars or a scene file%s%s%s",
            s->scene, nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
        return false;
    }
    if (!built_in && (s->model || s->filter || s->agents > 0)) {
        th_complain(command, "--model, --filter and --agents are for built-in scenes; a file has "
                             "its own");
        return false;
    }
    if (!s->model) s->model = built_in ? "orca" : "scene";
    if (s->agents == 0) s->agents = 10000;
    if (built_in && !th_bench_has_model(s->model)) {
        th_complain(command, "--model %s: no such move model; `throng list models` names them",
                    s->model);
        return false;
    }
    return true;
}

// Only what is the same for all rows of that table may be chosen.
static int run_record(const th_command *command, const bench_settings *s) {
    if (s->scene || s->model || s->filter || s->json || s->behaviour || s->full ||
        s->params.count > 0 || s->step > 0) {
        th_complain(command, "--record is a table of its own; it takes --agents, --threads, --out, "
                             "--csv and --quiet");
        return TH_EXIT_USAGE;
    }
    th_bench_record_settings settings = {
        .agents = (int)s->agents, .threads = (int)s->threads, .folder = s->out, .csv = s->csv};
    settings.quiet = s->quiet;
    if (settings.threads == 0) settings.threads = omp_get_num_procs();
    return th_bench_record_table(&settings);
}

static int run_uic(const th_command *command, const bench_settings *s) {
    if (s->model || s->filter || s->agents > 0 || s->json || s->behaviour || s->full ||
        s->params.count > 0 || s->step > 0 || (s->uic && s->quality)) {
        th_complain(command, "--uic and --quality are tables of their own; each takes --scene, "
                             "--threads, --csv and --quiet");
        return TH_EXIT_USAGE;
    }
    th_bench_uic_settings settings = {s->scene, (int)s->threads, s->csv, s->quiet};
    if (settings.threads == 0) settings.threads = omp_get_num_procs();
    return s->uic ? th_bench_uic_speed(&settings) : th_bench_uic_quality(&settings);
}

static int run_scaling(const th_command *command, const bench_settings *s) {
    th_bench_scaling_settings settings = {.scene = s->scene ? s->scene : "block",
                                          .model = s->model ? s->model : "uic",
                                          .plot = s->scaling,
                                          .csv = s->csv,
                                          .most = (int)s->agents,
                                          .quiet = s->quiet};
    if (th_bench_find_scene(settings.scene) == TH_BENCH_SCENE_COUNT ||
        !th_bench_has_model(settings.model) || s->json || s->behaviour || s->full ||
        s->params.count > 0 || s->threads > 0 || s->step > 0) {
        th_complain(command, "--scaling takes a built-in --scene, a --model, --agents as the "
                             "largest crowd, --csv and --quiet");
        return TH_EXIT_USAGE;
    }
    return th_bench_scaling(&settings);
}

static int run_bench(const th_command *command, int argc, char **argv) {
    bench_settings s = {.device = "cpu"};
    const th_option options[] = {
        {"scene", TH_OPTION_TEXT, &s.scene, "S",
         "circle, block, dense, packed, pillars or a scene file", 0, 0},
        {"model", TH_OPTION_TEXT, &s.model, "M", "a move model, see `throng list models`", 0, 0},
        {"filter", TH_OPTION_TEXT, &s.filter, "F", "densesense, or densesense:PRESET", 0, 0},
        {"agents", TH_OPTION_INTEGER, &s.agents, "N", "people (default 10000)", 1, 2e8},
        {"threads", TH_OPTION_INTEGER, &s.threads, "T", "threads, 0 for all cores", 0, 1024},
        {"step", TH_OPTION_REAL, &s.step, "S", "length of a step in seconds (default 0.1)", 1e-4,
         0.5},
        {"device", TH_OPTION_TEXT, &s.device, "D", "cpu or cuda", 0, 0},
        {"behaviour", TH_OPTION_FLAG, &s.behaviour, NULL, "also overlaps and progress after 30 s",
         0, 0},
        {"param", TH_OPTION_LIST, &s.params, "NAME=VALUE", "a model parameter, may be repeated", 0,
         0},
        {"full", TH_OPTION_FLAG, &s.full, NULL,
         "the table up to a million people, on a device up to 100 million", 0, 0},
        {"record", TH_OPTION_FLAG, &s.record, NULL, "the table of what recording costs", 0, 0},
        {"uic", TH_OPTION_FLAG, &s.uic, NULL, "the speed table of the scenes in scenes/uic", 0, 0},
        {"quality", TH_OPTION_FLAG, &s.quality, NULL, "the same scenes to their ends: how good", 0,
         0},
        {"scaling", TH_OPTION_TEXT, &s.scaling, "PNG",
         "cost per person from 1000 people to 4 million, as table and plot", 0, 0},
        {"out", TH_OPTION_TEXT, &s.out, "DIR", "folder for --record's files while it measures", 0,
         0},
        {"csv", TH_OPTION_TEXT, &s.csv, "FILE", "write the table as CSV too", 0, 0},
        {"json", TH_OPTION_FLAG, &s.json, NULL, "one measurement as one JSON object", 0, 0},
        {"quiet", TH_OPTION_FLAG, &s.quiet, NULL, "no progress", 0, 0},
    };
    th_parse_result parsed = th_args_parse(
        command, options, (int)(sizeof options / sizeof options[0]), argc, argv, NULL);
    if (parsed != TH_PARSE_OK) return parsed == TH_PARSE_HELP ? TH_EXIT_OK : TH_EXIT_USAGE;
    if (s.record) return run_record(command, &s);
    if (s.uic || s.quality) return run_uic(command, &s);
    if (s.scaling) return run_scaling(command, &s);
    if (s.out) {
        th_complain(command, "--out is for --record; the table goes to --csv");
        return TH_EXIT_USAGE;
    }
    bool one = s.scene || s.model || s.filter || s.agents > 0 || s.step > 0 || s.json ||
               s.params.count > 0;
    if (one && (s.full || s.csv)) {
        th_complain(command, "--full and --csv are for the table; leave out --scene, --model, "
                             "--filter, --agents, --step and --json");
        return TH_EXIT_USAGE;
    }
    if (!complete(command, &s)) return TH_EXIT_USAGE;
    return one ? run_one(&s) : run_table(&s);
}

const th_command th_command_bench = {
    .name = "bench",
    .operands = "",
    .summary = "measure speed, memory and behaviour",
    .detail =
        "Without --scene, --model or --agents: a table over the built-in scenes at 10 000 and\n"
        "100 000 people (a million with --full), with milliseconds per step (median and least of "
        "20\n"
        "steps after 5), per stage, the state hash, memory per person, behaviour after 30 s at\n"
        "10 000 people, and the bar each figure has to stay under. Social force is given per\n"
        "sub-step. With --device cuda: 4 people/m2 by three models, 100 000 and a million people "
        "(100\n"
        "million with --full), the same steps five at a time, with the memory taken there;\n"
        "position-based crowds with one sub-step of 1/48 s in a step.\n"
        "With --scene, --model, ...: one measurement.\n"
        "With --record: for 10 000, 100 000 and a million people (or --agents N) and each "
        "storage,\n"
        "the time of a step without and with recording 10 frames per simulated second, bytes per\n"
        "person and frame, people a second of the writer's processor time, and seconds waited.",
    .examples = "  throng bench\n"
                "  throng bench --full --csv bench/results/laptop.csv\n"
                "  throng bench --scene circle --model orca --agents 50000 --threads 2 --json\n"
                "  throng bench --device cuda --full\n"
                "  throng bench --scene scenes/station.json\n"
                "  throng bench --record\n",
    .run = run_bench,
};
