// throng bench: measures speed, memory and the crowd's behaviour. SPDX-License-Identifier: Apache-2.0
#include "bench/bench.h"
#include "cli/terminal.h"
#include "core/system/system.h"
#include <stdio.h>
#include <string.h>

typedef struct bench_settings {
    const char *scene, *model, *behave, *filter, *device, *csv, *compare, *out, *scaling, *cells;
    th_backend backend; // of `device`
    long long agents, threads, seed, runs, jobs;
    double step, limit, wall;
    th_text_list params, plugins, overrides;
    bool json, behaviour, full, record, uic, continuum, quality, judge, own_model, studio, frame,
        quiet, batch;
} bench_settings;

// The result of a measurement as an exit code.
static int conclude(const th_command *command, th_result result, th_error *error) {
    error->code = result;
    if (result == TH_OK) return th_interrupted() ? TH_EXIT_INTERRUPTED : TH_EXIT_OK;
    if (result == TH_BAD_ARGUMENT && error->path[0]) return th_report_option(command, error);
    return result == TH_NO_FILE ? th_report_failure("bench", error)
                                : th_report_error("bench", error);
}

static int run_table(const th_command *command, const bench_settings *s) {
    const th_bench_table_def def = {.full = s->full,
                                    .threads = (int)s->threads,
                                    .backend = s->backend,
                                    .csv = s->csv,
                                    .compare = s->compare,
                                    .quiet = s->quiet};
    th_error error = {0};
    return conclude(command, th_bench_table(&def, &error), &error);
}

static int run_one(const th_command *command, const bench_settings *s) {
    const th_bench_case what = {.scene = s->scene,
                                .model = s->model,
                                .behave = s->behave,
                                .filter = s->filter,
                                .backend = s->backend,
                                .agents = (int)s->agents,
                                .threads = (int)s->threads,
                                .step = s->step,
                                .behaviour = s->behaviour,
                                .params = s->params.items,
                                .param_count = s->params.count,
                                .overrides = s->overrides.items,
                                .override_count = s->overrides.count};
    th_error error = {0};
    return conclude(command, th_bench_one(&what, s->compare, s->json, &error), &error);
}

// Fills in what was not given and refuses what does not go together.
static bool complete(const th_command *command, bench_settings *s) {
    if (!th_read_backend(command, s->device, &s->backend)) return false;
    // A time says little without its number of threads, so 0 is replaced by the number used.
    if (s->threads == 0) s->threads = th_core_count();
    if (!s->scene) s->scene = "block";
    bool built_in = th_bench_find_scene(s->scene) != TH_BENCH_SCENE_COUNT;
    if (!built_in && !strpbrk(s->scene, "./")) {
        const char *nearest = th_suggest(s->scene, th_bench_scene_names, TH_BENCH_SCENE_COUNT);
        th_complain(
            command,
            "--scene %s: give circle, block, dense, packed, pillars, door, rooms, hall or a "
            "scene file%s%s%s",
            s->scene, nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
        return false;
    }
    if (!built_in && (s->model || s->behave || s->filter || s->agents > 0)) {
        th_complain(command, "--model, --behave, --filter and --agents are for built-in scenes; a "
                             "file has its own");
        return false;
    }
    if (built_in && s->overrides.count > 0) {
        th_complain(command, "--set is for scene files; the built-in scenes take --param");
        return false;
    }
    if (!s->model) s->model = built_in ? "orca" : "scene";
    if (s->agents == 0) s->agents = 10000;
    if (built_in && !th_bench_has_model(TH_STAGE_MOVE, s->model)) {
        th_complain(command, "--model %s: no such move model; `throng list models` names them",
                    s->model);
        return false;
    }
    if (s->behave && !th_bench_has_model(TH_STAGE_BEHAVE, s->behave)) {
        th_complain(command, "--behave %s: no such behaviour; `throng list models` names them",
                    s->behave);
        return false;
    }
    return true;
}

// Only what is the same for all rows of that table may be chosen.
static int run_record(const th_command *command, const bench_settings *s) {
    if (s->scene || s->model || s->behave || s->filter || s->json || s->behaviour || s->full ||
        s->params.count > 0 || s->step > 0) {
        th_complain(command, "--record is a table of its own; it takes --agents, --threads, --out, "
                             "--csv and --quiet");
        return TH_EXIT_USAGE;
    }
    th_bench_recording_def def = {
        .agents = (int)s->agents, .threads = (int)s->threads, .folder = s->out, .csv = s->csv};
    def.quiet = s->quiet;
    if (def.threads == 0) def.threads = th_core_count();
    th_error error = {0};
    bool same_hash = true;
    th_result result = th_bench_recording(&def, &same_hash, &error);
    if (result != TH_OK) return th_report_failure("bench", &error);
    return same_hash ? TH_EXIT_OK : TH_EXIT_FAILED;
}

static int run_uic(const th_command *command, const bench_settings *s) {
    if (s->model || s->behave || s->filter || s->agents > 0 || s->json || s->behaviour || s->full ||
        s->params.count > 0 || s->step > 0 || (s->uic && s->quality)) {
        th_complain(command, "--uic and --quality are tables of their own; each takes --scene, "
                             "--threads, --csv and --quiet, --quality also --device");
        return TH_EXIT_USAGE;
    }
    th_backend backend;
    if (!th_read_backend(command, s->device, &backend)) return TH_EXIT_USAGE;
    if (s->uic && backend != TH_BACKEND_CPU) {
        th_complain(command, "--uic is measured on the processor; leave --device out, or time a "
                             "scene with --scene FILE --device cuda");
        return TH_EXIT_USAGE;
    }
    th_bench_uic_def def = {s->scene, (int)s->threads, s->csv, s->quiet, th_interrupted, backend};
    if (def.threads == 0) def.threads = th_core_count();
    th_error error = {0};
    th_watch_interrupt();
    th_result result =
        s->uic ? th_bench_uic_speed(&def, &error) : th_bench_uic_quality(&def, &error);
    return conclude(command, result, &error);
}

static int run_continuum(const th_command *command, const bench_settings *s) {
    if (s->scene || s->model || s->behave || s->filter || s->agents > 0 || s->json ||
        s->behaviour || s->full || s->params.count > 0 || s->step > 0 || s->uic || s->quality) {
        th_complain(
            command,
            "--continuum is a table of its own; it takes --threads, --device, --csv and --quiet");
        return TH_EXIT_USAGE;
    }
    th_backend backend;
    if (!th_read_backend(command, s->device, &backend)) return TH_EXIT_USAGE;
    th_bench_continuum_def def = {(int)s->threads, backend, s->csv, th_interrupted};
    if (def.threads == 0) def.threads = th_core_count();
    th_error error = {0};
    th_watch_interrupt();
    th_result result = th_bench_continuum(&def, &error);
    return conclude(command, result, &error);
}

static int run_judge(const th_command *command, const bench_settings *s) {
    if (!s->scene || s->behave || s->agents > 0 || s->csv || s->behaviour || s->full ||
        s->params.count > 0 || s->step > 0) {
        th_complain(command, "--judge is one run of a scene file; it takes --scene, --model, "
                             "--filter, --set, --seed, --limit, --wall, --threads and --device");
        return TH_EXIT_USAGE;
    }
    th_backend backend;
    if (!th_read_backend(command, s->device, &backend)) return TH_EXIT_USAGE;
    th_bench_judge_def def = {.scene = s->scene,
                              .move = s->model,
                              .filter = s->filter,
                              .overrides = s->overrides.items,
                              .override_count = s->overrides.count,
                              .seed = (uint64_t)s->seed,
                              .limit = s->limit,
                              .wall = s->wall,
                              .threads = (int)s->threads,
                              .backend = backend,
                              .stopped = th_interrupted};
    th_error error = {0};
    th_watch_interrupt();
    return conclude(command, th_bench_judge(&def, &error), &error);
}

static int run_own_model(const th_command *command, const bench_settings *s) {
    if (s->scene || s->model || s->behave || s->filter || s->json || s->behaviour || s->full ||
        s->params.count > 0 || s->step > 0) {
        th_complain(command, "--own-model is a table of its own; it takes --agents, --threads and "
                             "--csv");
        return TH_EXIT_USAGE;
    }
    th_bench_own_model_def def = {(int)s->agents, (int)s->threads, s->csv};
    if (def.threads == 0) def.threads = th_core_count();
    th_error error = {0};
    return conclude(command, th_bench_own_model(&def, &error), &error);
}

static int run_frame(const th_command *command, const bench_settings *s) {
    if (s->scene || s->model || s->behave || s->filter || s->json || s->behaviour || s->full ||
        s->params.count > 0 || s->step > 0 || s->agents > 0 || s->threads > 1 ||
        strcmp(s->device, "cpu") != 0) {
        th_complain(command, "--frame is a table of its own, on one thread; it takes --csv");
        return TH_EXIT_USAGE;
    }
    th_error error = {0};
    return conclude(command, th_bench_frame(s->csv, &error), &error);
}

static int run_batch(const th_command *command, const bench_settings *s) {
    th_backend backend;
    if (s->model || s->behave || s->filter || s->json || s->behaviour || s->full ||
        s->params.count > 0 || s->step > 0 || s->agents > 0 || s->threads > 0) {
        th_complain(command, "--batch takes a scene file as --scene, --runs, --jobs, --device and "
                             "--csv");
        return TH_EXIT_USAGE;
    }
    if (!th_read_backend(command, s->device, &backend)) return TH_EXIT_USAGE;
    if (backend == TH_BACKEND_CPU) {
        th_complain(command, "--batch is of worlds on a device; add --device cuda");
        return TH_EXIT_USAGE;
    }
    const th_bench_batch_def def = {.scene = s->scene ? s->scene : "scenes/station.json",
                                    .runs = s->runs > 0 ? (int)s->runs : 64,
                                    .jobs = (int)s->jobs,
                                    .backend = backend,
                                    .csv = s->csv,
                                    .stopped = th_interrupted};
    th_error error = {0};
    bool same = true;
    th_watch_interrupt();
    int code = conclude(command, th_bench_batch(&def, &same, &error), &error);
    return code == TH_EXIT_OK && !same ? TH_EXIT_FAILED : code;
}

static int run_scaling(const th_command *command, const bench_settings *s) {
    const th_bench_scaling_def def = {.scene = s->scene ? s->scene : "block",
                                      .model = s->model,
                                      .plot = s->scaling,
                                      .csv = s->csv,
                                      .most = (int)s->agents,
                                      .quiet = s->quiet};
    if (th_bench_find_scene(def.scene) == TH_BENCH_SCENE_COUNT || s->behave ||
        (def.model && !th_bench_has_model(TH_STAGE_MOVE, def.model)) || s->json || s->behaviour ||
        s->full || s->params.count > 0 || s->threads > 0 || s->step > 0) {
        th_complain(command, "--scaling takes a built-in --scene, a --model, --agents as the "
                             "largest crowd, --csv and --quiet");
        return TH_EXIT_USAGE;
    }
    th_error error = {0};
    return conclude(command, th_bench_scaling(&def, &error), &error);
}

static int run_cells(const th_command *command, const bench_settings *s) {
    if (s->model || s->behave || s->filter || s->agents > 0 || s->json || s->behaviour || s->full ||
        s->params.count > 0 || s->step > 0) {
        th_complain(command, "--cells takes a scene file with uic as --scene, --limit and --csv");
        return TH_EXIT_USAGE;
    }
    const th_bench_cells_def def = {.scene = s->scene ? s->scene : "scenes/uic/circle_10k.json",
                                    .plot = s->cells,
                                    .csv = s->csv,
                                    .limit = s->limit > 0 ? s->limit : 1e6,
                                    .stopped = th_interrupted};
    th_error error = {0};
    th_watch_interrupt();
    return conclude(command, th_bench_cells(&def, &error), &error);
}

#ifdef TH_STUDIO
static int run_studio(const th_command *command, const bench_settings *s) {
    if (s->scene || s->model || s->behave || s->filter || s->json || s->behaviour || s->full ||
        s->params.count > 0 || s->step > 0) {
        th_complain(command,
                    "--studio is a table of its own; it takes --agents, --threads and --csv");
        return TH_EXIT_USAGE;
    }
    th_bench_studio_def def = {(int)s->agents, (int)s->threads, s->csv};
    th_error error = {0};
    return conclude(command, th_bench_studio(&def, &error), &error);
}
#endif

static int run_bench(const th_command *command, int argc, char **argv) {
    bench_settings s = {.device = "cpu"};
    const th_option options[] = {
        {"scene", TH_OPTION_TEXT, &s.scene, "S",
         "circle, block, dense, packed, pillars, door, rooms, hall or a scene file", 0, 0},
        {"model", TH_OPTION_TEXT, &s.model, "M", "a move model, see `throng list models`", 0, 0},
        {"behave", TH_OPTION_TEXT, &s.behave, "B", "a behaviour, see `throng list models`", 0, 0},
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
        {"continuum", TH_OPTION_FLAG, &s.continuum, NULL,
         "the speed table of the scenes in scenes/continuum", 0, 0},
        {"quality", TH_OPTION_FLAG, &s.quality, NULL, "the same scenes to their ends: how good", 0,
         0},
        {"judge", TH_OPTION_FLAG, &s.judge, NULL,
         "one run of a scene file to its end, as one JSON object: who arrived, how calm", 0, 0},
        {"seed", TH_OPTION_INTEGER, &s.seed, "N", "of --judge (default: the scene's)", 0, 9e15},
        {"set", TH_OPTION_LIST, &s.overrides, "PATH=VALUE",
         "change a value of the scene file; repeatable", 0, 0},
        {"limit", TH_OPTION_REAL, &s.limit, "S",
         "simulated seconds of --judge (default: the scene's end)", 0, 1e6},
        {"wall", TH_OPTION_REAL, &s.wall, "S", "--judge gives up after so many real seconds", 0,
         1e6},
        {"own-model", TH_OPTION_FLAG, &s.own_model, NULL,
         "ORCA built in against ORCA as a function of one person", 0, 0},
        {"frame", TH_OPTION_FLAG, &s.frame, NULL,
         "a game's frame: 1000 people in a town, doors and walls that change", 0, 0},
        {"batch", TH_OPTION_FLAG, &s.batch, NULL,
         "runs of a scene file on a device, one after the other and side by side", 0, 0},
        {"runs", TH_OPTION_INTEGER, &s.runs, "N", "of --batch (default 64)", 2, 1e5},
        {"jobs", TH_OPTION_INTEGER, &s.jobs, "N", "runs of --batch at once (default: four a core)",
         0, 1024},
        {"scaling", TH_OPTION_TEXT, &s.scaling, "PNG",
         "cost per person of uic and orca, or --model, from 1000 people to 4 million: table, plot",
         0, 0},
        {"cells", TH_OPTION_TEXT, &s.cells, "PNG",
         "work of uic's pressure against the cells on which it acts: plot", 0, 0},
#ifdef TH_STUDIO
        {"studio", TH_OPTION_FLAG, &s.studio, NULL,
         "frames per second of the studio, and its share of the time", 0, 0},
#endif
        TH_PLUGIN_OPTION(&s.plugins),
        {"out", TH_OPTION_TEXT, &s.out, "DIR", "folder for --record's files while it measures", 0,
         0},
        {"csv", TH_OPTION_TEXT, &s.csv, "FILE", "write the table as CSV too", 0, 0},
        {"compare", TH_OPTION_TEXT, &s.compare, "OLD",
         "a CSV that --csv wrote: print ratios to its rows, and whether the hashes agree", 0, 0},
        {"json", TH_OPTION_FLAG, &s.json, NULL, "one measurement as one JSON object", 0, 0},
        {"quiet", TH_OPTION_FLAG, &s.quiet, NULL, "no progress", 0, 0},
    };
    th_parse_result parsed = th_args_parse(
        command, options, (int)(sizeof options / sizeof options[0]), argc, argv, NULL);
    if (parsed != TH_PARSE_OK) return parsed == TH_PARSE_HELP ? TH_EXIT_OK : TH_EXIT_USAGE;
    int code = th_load_plugins(&s.plugins);
    if (code != TH_EXIT_OK) return code;
    if (s.compare && (s.json || s.record || s.continuum || s.uic || s.quality || s.judge ||
                      s.own_model || s.frame || s.scaling || s.cells || s.batch)) {
        th_complain(command, "--compare is for the table and for one measurement, and prints its "
                             "ratios below each row; leave out --json and the other tables");
        return TH_EXIT_USAGE;
    }
    if (s.record) return run_record(command, &s);
    if (s.continuum) return run_continuum(command, &s);
    if (s.uic || s.quality) return run_uic(command, &s);
    if (s.judge) return run_judge(command, &s);
    if (s.own_model) return run_own_model(command, &s);
    if (s.frame) return run_frame(command, &s);
    if (s.scaling) return run_scaling(command, &s);
    if (s.cells) return run_cells(command, &s);
    if (s.batch) return run_batch(command, &s);
#ifdef TH_STUDIO
    if (s.studio) return run_studio(command, &s);
#endif
    if (s.out) {
        th_complain(command, "--out is for --record; the table goes to --csv");
        return TH_EXIT_USAGE;
    }
    bool one = s.scene || s.model || s.behave || s.filter || s.agents > 0 || s.step > 0 || s.json ||
               s.params.count > 0 || s.overrides.count > 0;
    if (one && (s.full || s.csv)) {
        th_complain(command, "--full and --csv are for the table; leave out --scene, --model, "
                             "--behave, --filter, --agents, --step and --json");
        return TH_EXIT_USAGE;
    }
    if (!complete(command, &s)) return TH_EXIT_USAGE;
    return one ? run_one(command, &s) : run_table(command, &s);
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
        "sub-step, HiDAC with both levels, and the share of the high one. With --device cuda: 4\n"
        "people/m2 by four models and rooms by HiDAC, 100 000 and a million people (100 million "
        "with\n"
        "--full), the same steps five at a time, with the memory taken there; position-based "
        "crowds\n"
        "with one sub-step of 1/48 s in a step.\n"
        "With --scene, --model, ...: one measurement.\n"
        "With --record: for 10 000, 100 000 and a million people (or --agents N) and each "
        "storage,\n"
        "the time of a step without and with recording 10 frames per simulated second, and with\n"
        "looking on for a report as well, bytes per person and frame, people a second of the\n"
        "writer's processor time, and seconds waited.",
    .examples = "  throng bench\n"
                "  throng bench --full --csv bench/results/laptop.csv\n"
                "  throng bench --scene circle --model orca --agents 50000 --threads 2 --json\n"
                "  throng bench --device cuda --full\n"
                "  throng bench --scene rooms --model hidac --behave hidac --agents 100000\n"
                "  throng bench --scene scenes/station.json\n"
                "  throng bench --record\n",
    .run = run_bench,
};
