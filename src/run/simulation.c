// One run from its first step to its last. SPDX-License-Identifier: Apache-2.0
#include "run/simulation.h"
#include "core/clock.h"
#include "throng/scene_view.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

th_simulation_def th_simulation_def_of(const th_scene *scene, double step, double max_time) {
    th_run_def run = scene->run;
    double end = run.duration > 0 ? run.duration : run.max_time;
    return (th_simulation_def){
        .scene = scene,
        .step = step > 0 ? step : run.step,
        .end = max_time > 0 ? max_time : end,
        .until_empty = run.duration <= 0,
    };
}

th_result th_simulation_start(th_simulation *s, const th_simulation_def *def, uint64_t seed,
                              th_error *error) {
    *s = (th_simulation){.def = def, .seed = seed};
    th_world_def world = th_world_def_default();
    world.threads = def->threads;
    world.backend = def->backend;
    world.seed = seed;
    world.step = def->step;
    world.end = def->end;
    th_result result = th_world_create(def->scene, &world, &s->world, error);
    th_observer_def observer = th_observer_def_default();
    if (result == TH_OK) result = th_observer_create(s->world, &observer, &s->observer, error);
    if (result != TH_OK) th_simulation_release(s);
    return result;
}

void th_simulation_release(th_simulation *s) {
    th_recorder_finish(s->recorder, NULL, NULL);
    if (s->observer) th_observer_destroy(s->observer);
    if (s->world) th_world_destroy(s->world);
    s->recorder = NULL;
    s->observer = NULL;
    s->world = NULL;
}

th_result th_simulation_record(th_simulation *s, const th_recording *recording,
                               const th_trajectory_note *notes, int note_count, bool resume,
                               th_error *error) {
    th_recorder_def def = {.path = recording->path,
                           .format = recording->format,
                           .fps = recording->fps,
                           .resume = resume,
                           .notes = notes,
                           .note_count = note_count};
    s->recording = recording->path;
    return th_recorder_create(s->world, &def, &s->recorder, error);
}

th_result th_simulation_restore(th_simulation *s, const th_checkpoint *checkpoint,
                                th_error *error) {
    th_result result = th_world_restore(s->world, checkpoint->world, checkpoint->world_size, error);
    if (result == TH_OK)
        result = th_observer_restore(s->observer, checkpoint->observer, checkpoint->observer_size,
                                     error);
    s->wall_before = checkpoint->wall_seconds;
    return result;
}

// One line for the user.
__attribute__((format(printf, 2, 3))) static void tell(th_simulation *s, const char *format, ...) {
    va_list values;
    va_start(values, format);
    vsnprintf(s->note, sizeof s->note, format, values);
    va_end(values);
    if (!s->tell) return;
    s->tell(s->context, s->note);
    s->note[0] = '\0';
}

static const char *cause_of(const th_error *error) {
    return error->message[0] ? error->message : th_result_text(error->code);
}

static const char *file_of(const th_error *error, const char *otherwise) {
    return error->file[0] ? error->file : otherwise;
}

// As the file says: of what was written last, a full disk may have taken some back. "" when it does not open.
static void count_frames(const char *path, char text[48]) {
    th_trajectory *recording = NULL;
    text[0] = '\0';
    if (th_trajectory_open(path, &recording, NULL) == TH_OK)
        snprintf(text, 48, ", after %lld frames",
                 (long long)th_trajectory_about(recording)->frame_count);
    th_trajectory_close(recording);
}

// Closes a recording that can go no further. What was committed stays.
static void give_up_recording(th_simulation *s, const th_error *cause) {
    char frames[48];
    th_error unread = {0};
    th_recorder_finish(s->recorder, NULL, &unread);
    s->recorder = NULL;
    count_frames(s->recording, frames);
    snprintf(s->trouble, sizeof s->trouble, "the recording ends before %.1f s%s: %.480s",
             th_world_time(s->world), frames, cause_of(cause));
    tell(s, "%s: %s; the simulation goes on without", file_of(cause, "recording"), s->trouble);
}

static void record(th_simulation *s) {
    th_error error = {0};
    if (!s->recorder) return;
    error.code = th_recorder_see(s->recorder, s->world, &error);
    if (error.code != TH_OK) give_up_recording(s, &error);
}

static void finish_recording(th_simulation *s) {
    th_error error = {0};
    if (!s->recorder) return;
    th_recorder_totals totals = {0};
    error.code = th_recorder_finish(s->recorder, &totals, &error);
    s->recorder = NULL;
    if (error.code == TH_OK) return;
    snprintf(s->trouble, sizeof s->trouble, "the recording is not complete: %.500s",
             cause_of(&error));
    tell(s, "%s: %s", file_of(&error, "recording"), s->trouble);
}

static bool is_set(const atomic_bool *flag) {
    return flag && atomic_load_explicit(flag, memory_order_relaxed);
}

static bool stopped(const th_simulation *s) { return is_set(s->interrupt) || is_set(s->stop); }

// A step of which the number of whole intervals is larger than one step before.
static bool checkpoint_due(const th_simulation *s) {
    if (!s->checkpoints || s->checkpoint_failed) return false;
    double steps = fmax(1.0, floor(s->checkpoint_every / s->def->step + 0.5));
    return th_world_step_count(s->world) % (uint64_t)steps == 0;
}

static void checkpoint(th_simulation *s, double started) {
    th_error error = {0};
    // Frames first: a checkpoint that the recording does not reach could not be used.
    if (s->recorder && (error.code = th_recorder_flush(s->recorder, &error)) != TH_OK)
        give_up_recording(s, &error);
    double wall = s->wall_before + th_monotonic_seconds() - started;
    if (th_checkpoint_write(s->checkpoints, s->world, s->observer, wall, &error) == TH_OK) return;
    s->checkpoint_failed = true;
    tell(s, "%s: %s", file_of(&error, "checkpoint"), cause_of(&error));
    tell(s, "no more checkpoints are written; the simulation goes on");
}

static th_result step_to_end(th_simulation *s, double started, th_error *error) {
    const th_simulation_def *def = s->def;
    bool fresh = th_world_step_count(s->world) == 0;
    th_result result = fresh ? th_observer_see(s->observer, s->world, error) : TH_OK;
    record(s);
    // Half a step of slack: the sum of many steps is not exactly their product.
    while (result == TH_OK && th_world_time(s->world) < def->end - 0.5 * def->step && !stopped(s)) {
        if (def->until_empty && th_world_done(s->world)) break;
        th_world_step(s->world, 1);
        if (s->clock)
            atomic_store_explicit(s->clock, (long long)(1000 * th_world_time(s->world)),
                                  memory_order_relaxed);
        result = th_observer_see(s->observer, s->world, error);
        record(s);
        if (result == TH_OK && checkpoint_due(s)) checkpoint(s, started);
        if (s->stepped) s->stepped(s->context, s);
    }
    return result;
}

th_result th_simulation_run(th_simulation *s, th_error *error) {
    double started = th_monotonic_seconds();
    th_result result = step_to_end(s, started, error);
    bool interrupted = stopped(s);
    // Nothing of an interrupted run is lost to who resumes it.
    if (interrupted && s->checkpoints && result == TH_OK) checkpoint(s, started);
    finish_recording(s);
    if (result == TH_OK) result = th_observer_finish(s->observer, s->world, error);
    th_observation *seen = th_observer_observation(s->observer);
    seen->seed = s->seed;
    seen->interrupted = interrupted;
    seen->timed_out = s->def->until_empty && !interrupted && !th_world_done(s->world);
    seen->wall_seconds = s->wall_before + th_monotonic_seconds() - started;
    return result;
}

static double people_of_group(const th_group *group, double end) {
    double people = (double)group->count;
    double until = fmin(group->rate_end, end);
    if (group->rate > 0 && until > group->rate_start)
        people += group->rate * (until - group->rate_start);
    for (int i = 0; i < group->arrival_count; ++i)
        if (group->arrivals[i].time <= end) people += group->arrivals[i].count;
    return people;
}

double th_people_expected(const th_scene *scene, double end) {
    double people = 0;
    for (int i = 0; i < scene->group_count; ++i) people += people_of_group(&scene->groups[i], end);
    return people;
}

double th_frames_per_second(double wanted, double step) {
    double every = fmax(1.0, floor(1.0 / (wanted * step) + 0.5));
    return 1.0 / (every * step);
}
