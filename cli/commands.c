// What the subcommands share: loading, error lines, the clock, Ctrl-C.
// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

int th_report_error(const char *fallback_file, const th_error *error) {
    const char *file = error->file[0] ? error->file : fallback_file;
    if (error->line > 0)
        fprintf(stderr, "%s:%d:%d: ", file, error->line, error->column);
    else
        fprintf(stderr, "%s: ", file);
    if (error->path[0]) fprintf(stderr, "%s: ", error->path);
    fprintf(stderr, "%s\n", error->message[0] ? error->message : th_result_text(error->code));
    bool machine = error->code == TH_NO_MEMORY || error->code == TH_NO_DEVICE;
    return machine ? TH_EXIT_FAILED : TH_EXIT_SCENE;
}

int th_report_failure(const char *fallback_file, const th_error *error) {
    th_report_error(fallback_file, error);
    return TH_EXIT_FAILED;
}

int th_report_option(const th_command *command, const th_error *error) {
    th_complain(command, "--%s %s", error->path, error->message);
    return TH_EXIT_USAGE;
}

int th_load_scene(const char *path, const th_text_list *overrides, th_scene **scene) {
    th_scene_options options = {0};
    options.overrides = overrides ? overrides->items : NULL;
    options.override_count = overrides ? overrides->count : 0;
    th_error error = {0};
    th_result result = th_scene_load_file(path, &options, scene, &error);
    if (result == TH_OK) return TH_EXIT_OK;
    error.code = result;
    return th_report_error(path, &error);
}

int th_make_world(const char *path, const th_scene *scene, long long seed, int threads, double step,
                  th_backend backend, th_world **world) {
    th_world_def def = th_world_def_default();
    def.backend = backend;
    def.threads = threads;
    if (seed >= 0) def.seed = (uint64_t)seed;
    if (step > 0) def.step = step;
    th_error error = {0};
    th_result result = th_world_create(scene, &def, world, &error);
    if (result == TH_OK) return TH_EXIT_OK;
    error.code = result;
    return th_report_error(path, &error);
}

bool th_backend_of(const th_command *command, const char *device, th_backend *backend) {
    *backend = strcmp(device, "cuda") == 0 ? TH_BACKEND_CUDA : TH_BACKEND_CPU;
    bool known = *backend == TH_BACKEND_CUDA || strcmp(device, "cpu") == 0;
    if (!known) th_complain(command, "--device %s: give cpu or cuda", device);
    return known;
}

double th_wall_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// A signal handler has no context argument, hence the one variable of the program. Atomic, because runs
// in other threads look at it too.
static atomic_int interrupt_seen;

static void on_interrupt(int number) {
    (void)number;
    atomic_store(&interrupt_seen, 1);
}

void th_watch_interrupt(void) {
    // Reset after the first, so that an impatient second Ctrl-C ends the program.
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    // A limit on file sizes is then an error of write, which is handled, instead of the end.
    signal(SIGXFSZ, SIG_IGN);
}

bool th_interrupted(void) {
    return atomic_load_explicit(&interrupt_seen, memory_order_relaxed) != 0;
}
