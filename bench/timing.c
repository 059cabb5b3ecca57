// Timing of single steps and a look at the crowd afterwards. SPDX-License-Identifier: Apache-2.0
#include "bench/timing.h"
#include "bench/scenes.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/statistics.h"
#include "throng/scene_view.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

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
    for (int i = 0; i < count; ++i) samples[i] = time_steps(world, burst);
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

// Towards where the plan points: on open ground straight at everybody's own goal, with a distance
// field along the way there.
static double mean_goalward(th_world *world) {
    static const th_field wanted[] = {TH_FIELD_PREFERRED_X, TH_FIELD_PREFERRED_Y,
                                      TH_FIELD_VELOCITY_X,  TH_FIELD_VELOCITY_Y,
                                      TH_FIELD_SPEED,       TH_FIELD_PHASE};
    enum { VIEWS = sizeof wanted / sizeof wanted[0] };
    const void *views[VIEWS];
    bool mapped = true;
    for (int i = 0; i < VIEWS; ++i) {
        views[i] = th_world_map(world, wanted[i], TH_READ);
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

th_bench_behaviour th_bench_behave(th_world *world, double time) {
    double goalward = 0;
    int steps = 0;
    for (; th_world_time(world) < time - 1e-3; ++steps) {
        th_world_step(world, 1);
        goalward += mean_goalward(world);
    }
    th_statistics now = th_world_statistics(world);
    th_bench_behaviour behaviour = {.time = now.time};
    behaviour.deepest_overlap = (double)now.deepest_overlap;
    if (now.inside > 0)
        behaviour.overlap_share = (double)now.overlapping_agents / (double)now.inside;
    behaviour.goalward_speed = steps > 0 ? goalward / steps : 0;
    behaviour.goalward_speed_at_end = mean_goalward(world);
    return behaviour;
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

static void add_behaviour(json_t *object, const th_bench_behaviour *behaviour) {
    json_object_set_new(object, "behaviour_time", json_real(behaviour->time));
    json_object_set_new(object, "overlap_share", json_real(behaviour->overlap_share));
    json_object_set_new(object, "deepest_overlap", json_real(behaviour->deepest_overlap));
    json_object_set_new(object, "goalward_speed", json_real(behaviour->goalward_speed));
    json_object_set_new(object, "goalward_speed_at_end",
                        json_real(behaviour->goalward_speed_at_end));
}

// "name=value" on every group that has such a parameter; at least one must.
static th_result set_param(th_world *world, const char *text, th_error *error) {
    const char *equals = strchr(text, '=');
    char name[64], *end = NULL;
    double value = equals ? strtod(equals + 1, &end) : 0;
    if (!equals || end == equals + 1 || *end || equals - text >= (int)sizeof name)
        return th_fail(error, TH_BAD_ARGUMENT, "param", "%s: give name=number", text);
    snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
    int groups = th_world_scene(world)->group_count;
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
        th_bench_behaviour behaviour = th_bench_behave(world, BEHAVIOUR_TIME);
        add_behaviour(object, &behaviour);
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

json_t *th_bench_case_measure(const th_bench_case *what, bool apart, th_error *error) {
    return apart ? measure_apart(what, error) : measure(what, error);
}
