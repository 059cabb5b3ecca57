// Measures single cases and prints the table of all of them. SPDX-License-Identifier: Apache-2.0
#include "bench/bench.h"
#include "core/error.h"
#include "core/file.h"
#include "core/statistics.h"
#include "core/system/system.h"
#include "throng/scene_view.h"
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct behaviour {
    double time;            // [s]
    double overlap_share;   // agents that overlap another by more than 1 cm
    double deepest_overlap; // [m]
    double goalward_speed;  // mean over the time and the people, in units of the preferred speed
    double goalward_speed_at_end; // the same at `time` alone
} behaviour;

static uint64_t peak_rss(void) {
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
#ifdef __APPLE__
    return (uint64_t)usage.ru_maxrss; // bytes there, kilobytes elsewhere
#else
    return (uint64_t)usage.ru_maxrss * 1024;
#endif
}

// The same steps once before, untimed, then back to the start: threads have found their cores and the
// processor its clock rate. A run of 10 000 people is over in 50 ms, half of which would be that.
static void rehearse(th_world *world) {
    enum { MOST = 200000 }; // above, the run is long enough by itself
    size_t size = th_world_snapshot_size(world);
    void *start = th_world_agent_count(world) <= MOST ? malloc(size) : NULL;
    if (start && th_world_snapshot(world, start, size, NULL) == TH_OK) {
        th_world_step(world, TH_BENCH_WARM_UP + TH_BENCH_MEASURED);
        th_world_restore(world, start, size, NULL);
    }
    free(start);
}

// Milliseconds of a step, over so many of them.
static double time_steps(th_world *world, int steps) {
    int count;
    double start = th_monotonic_seconds();
    th_world_step(world, steps);
    th_world_events(world, &count, NULL); // waits for a device, and brings a few words
    return 1e3 * (th_monotonic_seconds() - start) / steps;
}

th_bench_figures th_bench_measure(th_world *world, th_backend backend) {
    th_bench_figures figures = {0};
    double samples[TH_BENCH_MEASURED];
    int burst = backend == TH_BACKEND_CPU ? 1 : TH_BENCH_BURST, count = TH_BENCH_MEASURED / burst;
    rehearse(world);
    th_world_step(world, TH_BENCH_WARM_UP);
    th_world_reset_profile(world);
    figures.agents = th_world_agent_count(world);
    double planned = 0; // [s] until the step before
    for (int i = 0; i < count; ++i) {
        samples[i] = time_steps(world, burst);
        double now = th_world_profile(world).seconds[TH_STAGE_PLAN];
        figures.plan_ms_max = fmax(figures.plan_ms_max, 1e3 * (now - planned) / burst);
        planned = now;
    }
    th_profile profile = th_world_profile(world);
    for (int i = 0; i < TH_STAGE_COUNT && profile.steps > 0; ++i)
        figures.stage_ms[i] = 1e3 * profile.seconds[i] / (double)profile.steps;
    th_sort_values(samples, count);
    figures.ms_per_step = 0.5 * (samples[count / 2 - 1] + samples[count / 2]);
    figures.ms_per_step_min = samples[0];
    figures.hash = th_world_hash(world);
    figures.peak_rss_bytes = peak_rss();
    figures.device_bytes = th_world_device_bytes(world);
    return figures;
}

// Towards where the plan points: on open ground straight at the agent's own goal, with a distance
// field along the way there.
static double mean_goalward(th_world *world) {
    static const th_field wanted[] = {TH_FIELD_PREFERRED_X, TH_FIELD_PREFERRED_Y,
                                      TH_FIELD_VELOCITY_X,  TH_FIELD_VELOCITY_Y,
                                      TH_FIELD_SPEED,       TH_FIELD_PHASE};
    enum { VIEWS = sizeof wanted / sizeof wanted[0] };
    const void *views[VIEWS];
    bool mapped = true;
    for (int i = 0; i < VIEWS; ++i) {
        views[i] = th_world_map(world, wanted[i], TH_ACCESS_READ);
        mapped = mapped && views[i];
    }
    double sum = 0;
    int count = 0;
    for (int i = 0; mapped && i < th_world_agent_count(world); ++i) {
        double px = (double)((const float *)views[0])[i], py = (double)((const float *)views[1])[i];
        double vx = (double)((const float *)views[2])[i], vy = (double)((const float *)views[3])[i];
        double length = hypot(px, py), speed = (double)((const float *)views[4])[i];
        bool walking = ((const uint32_t *)views[5])[i] == TH_PHASE_WALKING;
        if (!walking || length <= 0 || speed <= 0) continue;
        sum += (vx * px + vy * py) / length / speed;
        count += 1;
    }
    for (int i = 0; i < VIEWS; ++i) th_world_unmap(world, wanted[i]);
    return count > 0 ? sum / count : 0;
}

// Steps on until `time` and looks.
static behaviour measure_behaviour(th_world *world, double time) {
    double goalward = 0;
    int steps = 0;
    for (; th_world_time(world) < time - 1e-3; ++steps) {
        th_world_step(world, 1);
        goalward += mean_goalward(world);
    }
    th_statistics now = th_world_statistics(world);
    behaviour found = {.time = now.time};
    found.deepest_overlap = (double)now.deepest_overlap;
    if (now.inside > 0) found.overlap_share = (double)now.overlapping_agents / (double)now.inside;
    found.goalward_speed = steps > 0 ? goalward / steps : 0;
    found.goalward_speed_at_end = mean_goalward(world);
    return found;
}

// ---- a case

static const double BEHAVIOUR_TIME = 30; // [s] as in the figures measured for RVO2

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
    if (object) json_object_set_new(object, "plan_ms_max", json_real(figures->plan_ms_max));
    if (object && what->behave) json_object_set_new(object, "behave", json_string(what->behave));
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

static void add_behaviour(json_t *object, const behaviour *found) {
    json_object_set_new(object, "behaviour_time", json_real(found->time));
    json_object_set_new(object, "overlap_share", json_real(found->overlap_share));
    json_object_set_new(object, "deepest_overlap", json_real(found->deepest_overlap));
    json_object_set_new(object, "goalward_speed", json_real(found->goalward_speed));
    json_object_set_new(object, "goalward_speed_at_end", json_real(found->goalward_speed_at_end));
}

// "name=value" on every group that has such a parameter; at least one must.
static th_result set_param(th_world *world, const char *text, th_error *error) {
    const char *equals = strchr(text, '=');
    char name[64], *end = NULL;
    double value = equals ? strtod(equals + 1, &end) : 0;
    if (!equals || end == equals + 1 || *end || equals - text >= (int)sizeof name)
        return th_fail(error, TH_BAD_ARGUMENT, "param", "%s: give name=number", text);
    snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
    int groups = th_scene_view_of(th_world_scene(world))->group_count;
    th_error why = {0};
    bool known = false;
    for (int g = 0; g < groups; ++g)
        known = th_world_set_param(world, g, name, value, &why) == TH_OK || known;
    if (known) return TH_OK;
    return th_fail(error, TH_BAD_ARGUMENT, "param", "%s: %s", text, why.message);
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

static th_result make(const th_bench_case *what, th_scene **scene, th_world **world,
                      th_error *error) {
    th_bench_scene which = th_bench_find_scene(what->scene);
    if (which == TH_BENCH_SCENE_COUNT)
        return th_bench_load(what->scene,
                             &(th_scene_options){.overrides = what->overrides,
                                                 .override_count = what->override_count},
                             what->threads, what->step, what->backend, scene, world, error);
    char name[64];
    th_model_def filter = filter_of(what->filter, name, sizeof name);
    const th_bench_models models = {what->model, what->behave, &filter};
    th_result result =
        th_bench_create(which, &models, what->agents, what->step > 0 ? what->step : TH_BENCH_STEP,
                        what->threads, what->backend, scene, world, error);
    if (result != TH_OK) snprintf(error->file, sizeof error->file, "%s", what->scene);
    return result;
}

static json_t *measure(const th_bench_case *what, th_error *error) {
    th_scene *scene = NULL;
    th_world *world = NULL;
    json_t *object = NULL;
    th_result result = make(what, &scene, &world, error);
    if (result != TH_OK) return NULL;
    for (int k = 0; k < what->param_count && result == TH_OK; ++k)
        result = set_param(world, what->params[k], error);
    if (result == TH_OK) {
        th_bench_figures figures = th_bench_measure(world, what->backend);
        object = figures_json(what, &figures, th_world_step_length(world));
        if (!object) th_fail(error, TH_NO_MEMORY, "", "no memory for the figures");
    }
    if (object && what->behaviour) {
        behaviour found = measure_behaviour(world, BEHAVIOUR_TIME);
        add_behaviour(object, &found);
    }
    th_world_destroy(world);
    th_scene_destroy(scene);
    return object;
}

// The child's side of a measurement: the object goes through the pipe, an error into the shared memory.
static int measure_into(const th_bench_case *what, int pipe_end, th_error *error) {
    json_t *object = measure(what, error);
    bool good = object && json_dumpfd(object, pipe_end, JSON_COMPACT) == 0;
    json_decref(object);
    close(pipe_end);
    return good ? 0 : 1;
}

static json_t *measure_in_child(const th_bench_case *what, th_error *error) {
    int ends[2], status = 0;
    fflush(NULL);
    if (pipe(ends) != 0) return NULL;
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        _exit(measure_into(what, ends[1], error));
    }
    close(ends[1]);
    json_t *object = child > 0 ? json_loadfd(ends[0], 0, NULL) : NULL;
    close(ends[0]);
    bool good = child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
                WEXITSTATUS(status) == 0;
    if (good && object) return object;
    json_decref(object);
    return NULL;
}

static json_t *measure_apart(const th_bench_case *what, th_error *error) {
    th_error *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    json_t *object = shared == MAP_FAILED ? NULL : measure_in_child(what, shared);
    if (!object && shared != MAP_FAILED) *error = *shared;
    if (shared != MAP_FAILED) munmap(shared, sizeof *shared);
    if (!object && error->code == TH_OK)
        th_fail(error, TH_NO_MEMORY, "", "the process of %s, %s, %d people ended early",
                what->scene, what->model, what->agents);
    return object;
}

// The figures of a case as an object, a built-in scene or a scene file; NULL with an error whose path is the option
// that was wrong. `apart`: in a process of its own, because the peak memory of a process never goes down again.
static json_t *measure_case(const th_bench_case *what, bool apart, th_error *error) {
    return apart ? measure_apart(what, error) : measure(what, error);
}

// ---- the cases with their bars, and how their measurements are printed

// Bars for two cores: three times the speed of the best open library measured on the same kind of
// machine (RVO2, Menge, JuPedSim; docs/design.md). Memory: bytes per person at a million.
static const double MEMORY_BAR = 300;
static const double BEHAVE_BAR = 0.15;       // share of a step that a high level takes
static const double PLAN_MOST_BAR = 3;       // of any step of the plan stage [ms]
static const double DEVICE_MEMORY_BAR = 200; // of the device, so that 100 million people fit

enum { SIZES = 4, CASES_MOST = 32 };
typedef struct bench_plan {
    const char *scene, *model, *behave;
    double bars[SIZES]; // at each number of people [ms]; 0: none
    int sizes;          // how many of them are measured
    double step;        // [s] 0: the bench's own
    bool bar_on_plan;
} bench_plan;

// At 10 000, 100 000 and 1 000 000 people.
static const bench_plan plan_of_cpu[] = {
    {"circle", "orca", NULL, {2.5, 33, 450}, 3, 0, false},
    {"block", "orca", NULL, {2.5, 28, 320}, 3, 0, false},
    {"packed", "orca", NULL, {0}, 3, 0, false},
    {"pillars", "orca", NULL, {1}, 1, 0, true},
    {"hall", "people", NULL, {1}, 1, 0, true},
    {"block", "social_force", NULL, {1.5, 15, 180}, 3, 0, false},
    {"block", "helbing_molnar", NULL, {0}, 2, 0, false},
    {"dense", "pbd", NULL, {6, 60}, 2, 0, false},
    {"block", "hidac", "hidac", {3, 32}, 2, 0, false},
    {"door", "hidac", "hidac", {3, 32}, 2, 0, false},
    {"rooms", "hidac", "hidac", {0}, 3, 0, false},
};
// At 100 000 people to 100 million, bars for one H200. A step of position-based crowds is one of its sub-steps.
static const bench_plan plan_of_device[] = {
    {"dense", "pbd", NULL, {0.3, 0.8, 6, 60}, 4, 1.0 / 48, false},
    {"dense", "uic", NULL, {0.5, 1.2, 8, 80}, 4, 0, false},
    {"dense", "orca", NULL, {0.5, 3, 30}, 3, 0, false},
    {"dense", "hidac", NULL, {0, 2}, 2, 0, false},
    {"rooms", "hidac", "hidac", {0, 2}, 2, 0, false},
};

static int add_cases(th_bench_case *cases, int count, const bench_plan *plan, int fewest, int most,
                     const th_bench_case *common) {
    int people = fewest;
    for (int k = 0; k < plan->sizes && people <= most; ++k, people *= 10) {
        cases[count] = *common;
        cases[count].scene = plan->scene;
        cases[count].model = plan->model;
        cases[count].behave = plan->behave;
        cases[count].agents = people;
        cases[count].step = plan->step;
        cases[count].bar = plan->bars[k];
        cases[count].bar_on_plan = plan->bar_on_plan;
        cases[count].behaviour = k == 0 && common->backend == TH_BACKEND_CPU;
        ++count;
    }
    return count;
}

static int list_cases(th_bench_case *cases, bool full, int threads, th_backend backend) {
    th_bench_case common = {.threads = threads, .backend = backend};
    int count = 0;
    if (backend == TH_BACKEND_CPU)
        for (size_t i = 0; i < sizeof plan_of_cpu / sizeof plan_of_cpu[0]; ++i)
            count =
                add_cases(cases, count, &plan_of_cpu[i], 10000, full ? 1000000 : 100000, &common);
    else
        for (size_t i = 0; i < sizeof plan_of_device / sizeof plan_of_device[0]; ++i)
            count = add_cases(cases, count, &plan_of_device[i], 100000, full ? 100000000 : 1000000,
                              &common);
    return count;
}

static double real_of(const json_t *row, const char *key) {
    return json_number_value(json_object_get(row, key));
}

static double plan_ms(const json_t *row) { return real_of(json_object_get(row, "stages"), "plan"); }

static double behave_share(const json_t *row) {
    const json_t *stages = json_object_get(row, "stages");
    double sum = 0;
    for (int k = 0; k < TH_STAGE_COUNT; ++k) sum += real_of(stages, th_stage_name((th_stage)k));
    return sum > 0 ? real_of(stages, th_stage_name(TH_STAGE_BEHAVE)) / sum : 0;
}

static void print_head(const th_bench_case *what) {
    bool cpu = what->backend == TH_BACKEND_CPU;
    printf("throng bench, %d thread%s, %s; times in milliseconds, median and least of 20 "
           "steps%s\n\n",
           what->threads, what->threads > 1 ? "s" : "", cpu ? "cpu" : "cuda",
           cpu ? "" : " in bursts of 5");
    printf("scene    model              people       per       ms    least  bar           "
           "bytes/person  "
           "state hash\n");
}

static void print_bar(double figure, double bar) {
    char text[32] = "";
    if (bar > 0) snprintf(text, sizeof text, "<= %g %s", bar, figure <= bar ? "ok" : "MISSED");
    printf("  %-14s", text);
}

static void print_stages(const th_bench_case *what, const json_t *row) {
    printf("         ");
    if (what->step > 0) printf("steps of %.3g s: ", what->step);
    const char *name;
    json_t *value;
    json_object_foreach(json_object_get(row, "stages"), name, value) {
        double ms = json_number_value(value);
        if (ms >= 0.0005) printf("%s %.3g  ", name, ms);
    }
    putchar('\n');
}

static void print_row(const th_bench_case *what, const json_t *row) {
    int agents = (int)json_integer_value(json_object_get(row, "agents"));
    int substeps = (int)json_integer_value(json_object_get(row, "substeps"));
    double share = substeps > 1 ? 1.0 / substeps : 1.0;
    bool on_device = what->backend != TH_BACKEND_CPU;
    double median = real_of(row, "ms_per_step") * share;
    double bytes = real_of(row, on_device ? "device_bytes_per_agent" : "bytes_per_agent");
    printf("%-8s %-15s %9d  %8s  %7.3f  %7.3f", what->scene, what->model, agents,
           substeps > 1 ? "sub-step" : "step", median, real_of(row, "ms_per_step_min") * share);
    print_bar(median, what->bar_on_plan ? 0 : what->bar);
    double most = on_device ? DEVICE_MEMORY_BAR : MEMORY_BAR;
    printf("%5.0f%-9s", bytes, agents < 1000000 ? "" : bytes <= most ? " ok" : " MISSED");
    printf("%s\n", json_string_value(json_object_get(row, "hash")));
    print_stages(what, row);
    if (what->bar_on_plan && what->bar > 0)
        printf("         planning %.3f ms per step, bar <= %g %s; at most %.3f ms, bar <= %g %s\n",
               plan_ms(row), what->bar, plan_ms(row) <= what->bar ? "ok" : "MISSED",
               real_of(row, "plan_ms_max"), PLAN_MOST_BAR,
               real_of(row, "plan_ms_max") <= PLAN_MOST_BAR ? "ok" : "MISSED");
    if (what->behave)
        printf("         behaviour %s: %.1f %% of the step, bar <= %g %s\n", what->behave,
               100 * behave_share(row), 100 * BEHAVE_BAR,
               behave_share(row) <= BEHAVE_BAR ? "ok" : "MISSED");
    if (json_object_get(row, "overlap_share"))
        printf(
            "         after %.0f s: %.2f %% overlap by more than 1 cm, deepest %.1f cm, goalward "
            "speed %.2f of preferred (%.2f at the end)\n",
            real_of(row, "behaviour_time"), 100 * real_of(row, "overlap_share"),
            100 * real_of(row, "deepest_overlap"), real_of(row, "goalward_speed"),
            real_of(row, "goalward_speed_at_end"));
}

static const char *const columns[] = {"scene",
                                      "model",
                                      "behave",
                                      "agents",
                                      "threads",
                                      "device",
                                      "step",
                                      "ms_per_step",
                                      "ms_per_step_min",
                                      "substeps",
                                      "ms_per_substep",
                                      "peak_rss_bytes",
                                      "bytes_per_agent",
                                      "device_bytes",
                                      "device_bytes_per_agent",
                                      "overlap_share",
                                      "deepest_overlap",
                                      "goalward_speed",
                                      "hash"};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

static void write_cell(FILE *file, const json_t *value) {
    if (json_is_string(value))
        fprintf(file, "%s", json_string_value(value));
    else if (json_is_integer(value))
        fprintf(file, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value))
        fprintf(file, "%.6g", json_real_value(value));
}

static void write_rows(FILE *file, const th_bench_case *cases, const json_t *rows) {
    for (int k = 0; k < COLUMNS; ++k) fprintf(file, "%s,", columns[k]);
    for (int k = 0; k < TH_STAGE_COUNT; ++k) fprintf(file, "%s_ms,", th_stage_name((th_stage)k));
    fprintf(file, "bar_ms\n");
    for (size_t i = 0; i < json_array_size(rows); ++i) {
        const json_t *row = json_array_get(rows, i);
        const json_t *stages = json_object_get(row, "stages");
        for (int k = 0; k < COLUMNS; ++k) {
            write_cell(file, json_object_get(row, columns[k]));
            fputc(',', file);
        }
        for (int k = 0; k < TH_STAGE_COUNT; ++k) {
            write_cell(file, json_object_get(stages, th_stage_name((th_stage)k)));
            fputc(',', file);
        }
        if (cases[i].bar > 0) fprintf(file, "%g", cases[i].bar);
        fputc('\n', file);
    }
}

static th_result write_csv(const th_bench_case *cases, const json_t *rows, const char *path,
                           th_error *error) {
    th_file_writer writer;
    th_file_begin(&writer, NULL, path);
    if (writer.file) write_rows(writer.file, cases, rows);
    if (th_file_end(&writer, TH_FLUSHED, NULL) == TH_OK) return TH_OK;
    return th_file_fail(error, path,
                        "the table could not be written; free space or choose another --csv");
}

// ---- an earlier table beside the new figures

enum { EARLIER_COLUMNS = 64 };

// Cuts a line at its commas; returns how many cells there are.
static int cut(char *line, char **cells) {
    int count = 0;
    for (char *cell = strsep(&line, ","); cell && count < EARLIER_COLUMNS;
         cell = strsep(&line, ","))
        cells[count++] = cell;
    return count;
}

// The rows of a table that --csv wrote, as objects whose values are text.
static json_t *rows_of_table(char *text) {
    char *names[EARLIER_COLUMNS], *cells[EARLIER_COLUMNS];
    char *head = strsep(&text, "\n");
    int columns_there = cut(head, names);
    json_t *rows = json_array();
    for (char *line; (line = strsep(&text, "\n"));) {
        int count = cut(line, cells);
        if (count != columns_there) continue;
        json_t *row = json_object();
        for (int k = 0; k < count; ++k) json_object_set_new(row, names[k], json_string(cells[k]));
        json_array_append_new(rows, row);
    }
    return rows;
}

// NULL with an error when the file is no such table.
static json_t *read_earlier(const char *path, th_error *error) {
    size_t size = 0;
    char *text = th_file_content(path, &size, error);
    if (!text) return NULL;
    json_t *rows = rows_of_table(text);
    free(text);
    const json_t *first = json_array_get(rows, 0);
    if (json_object_get(first, "ms_per_step") && json_object_get(first, "hash")) return rows;
    json_decref(rows);
    th_file_fail(error, path,
                 "is no table of `throng bench --csv`: it lacks a row with "
                 "ms_per_step and hash; give one that --csv wrote");
    return NULL;
}

static const char *text_of(const json_t *row, const char *name) {
    const char *text = json_string_value(json_object_get(row, name));
    return text ? text : "";
}

// Was the row measured under the same conditions? A table without the step had the bench's.
static bool is_same_case(const json_t *old, const json_t *row) {
    static const char *const words[] = {"scene", "model", "behave", "device"};
    for (size_t k = 0; k < sizeof words / sizeof words[0]; ++k)
        if (strcmp(text_of(old, words[k]), text_of(row, words[k])) != 0) return false;
    double step = text_of(old, "step")[0] ? atof(text_of(old, "step")) : TH_BENCH_STEP;
    return atof(text_of(old, "agents")) == real_of(row, "agents") &&
           atof(text_of(old, "threads")) == real_of(row, "threads") &&
           fabs(step - real_of(row, "step")) < 1e-6;
}

// Faster is below 1. The hash tells whether the same steps were timed.
static void print_compared(const json_t *earlier, const char *path, const json_t *row) {
    size_t k;
    json_t *old;
    json_array_foreach(earlier, k, old) {
        if (!is_same_case(old, row)) continue;
        double ms = atof(text_of(old, "ms_per_step")),
               least = atof(text_of(old, "ms_per_step_min"));
        printf("         %.2f times the %.4g ms of %s (least: %.2f times), %s hash\n",
               real_of(row, "ms_per_step") / ms, ms, path, real_of(row, "ms_per_step_min") / least,
               strcmp(text_of(old, "hash"), text_of(row, "hash")) == 0 ? "the same" : "another");
        return;
    }
    printf("         no row of %s has this scene, model, size, step and number of threads\n", path);
}

th_result th_bench_table(const th_bench_table_def *def, th_error *error) {
    th_bench_case cases[CASES_MOST];
    int count = list_cases(cases, def->full, def->threads, def->backend), i = 0;
    bool tell = !def->quiet && isatty(STDERR_FILENO);
    json_t *earlier = def->compare ? read_earlier(def->compare, error) : NULL;
    if (def->compare && !earlier) return error->code;
    json_t *rows = json_array();
    print_head(&cases[0]);
    for (; i < count; ++i) {
        if (tell)
            fprintf(stderr, "\r\033[K%s, %s, %d people ...", cases[i].scene, cases[i].model,
                    cases[i].agents);
        json_t *row = measure_case(&cases[i], true, error);
        if (tell) fputs("\r\033[K", stderr);
        if (!row) break;
        print_row(&cases[i], row);
        if (earlier) print_compared(earlier, def->compare, row);
        fflush(stdout);
        json_array_append_new(rows, row);
    }
    th_result result = i == count ? TH_OK : error->code;
    if (result == TH_OK && def->csv) result = write_csv(cases, rows, def->csv, error);
    json_decref(earlier);
    json_decref(rows);
    return result;
}

th_result th_bench_one(const th_bench_case *what, const char *compare, bool json, th_error *error) {
    json_t *earlier = compare ? read_earlier(compare, error) : NULL;
    if (compare && !earlier) return error->code;
    json_t *object = measure_case(what, false, error);
    if (!object) {
        json_decref(earlier);
        return error->code;
    }
    if (json) {
        json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(7));
        putchar('\n');
    } else {
        print_head(what);
        print_row(what, object);
        if (earlier) print_compared(earlier, compare, object);
    }
    json_decref(earlier);
    json_decref(object);
    return TH_OK;
}
