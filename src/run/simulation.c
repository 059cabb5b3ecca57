// Runs, their checkpoints, and a pool of threads for many of them. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/hash.h"
#include "core/pool.h"
#include "run/runs.h"
#include "throng/scene_view.h"
#include <dirent.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- checkpoint files: a header, the world's snapshot, the observer's state

// Numbers as this machine keeps them: a checkpoint continues a run where it was begun, it is no format
// for exchange, and the snapshot inside is of the same kind.
typedef struct header {
    char magic[8];
    uint64_t checksum; // of all that follows
    uint64_t step_count;
    double wall_seconds;
    uint64_t world_size, observer_size;
    char version[16];
} header;
static const char MAGIC[8] = "THCHECK";
enum { KEPT = 2 };

// The observer's part begins on a multiple of 16 bytes, so that it may be read in place.
static size_t padded(size_t size) { return (size + 15) / 16 * 16; }

static uint64_t checksum(const char *bytes, size_t size) {
    uint64_t sum = th_hash_add(0, size);
    size_t at = 0;
    for (; at + 8 <= size; at += 8) {
        uint64_t word;
        memcpy(&word, bytes + at, 8);
        sum = th_hash_add(sum, word);
    }
    for (; at < size; ++at) sum = th_hash_add(sum, (unsigned char)bytes[at]);
    return sum;
}

static uint64_t checksum_of_file(const char *bytes, size_t size) {
    const size_t from = offsetof(header, step_count);
    return checksum(bytes + from, size - from);
}

void th_checkpoint_seal(char *bytes, size_t size) {
    uint64_t sum = checksum_of_file(bytes, size);
    memcpy(bytes + offsetof(header, checksum), &sum, sizeof sum);
}

// Header, world, observer in one block; NULL with an error.
static char *build(const th_world *world, const void *observer, size_t observer_size,
                   double wall_seconds, size_t *size, th_error *error) {
    size_t world_size = th_world_snapshot_size(world);
    *size = sizeof(header) + padded(world_size) + observer_size;
    char *bytes = calloc(1, *size);
    if (!bytes) {
        th_fail(error, TH_NO_MEMORY, "", "no memory for a checkpoint of %zu bytes", *size);
        return NULL;
    }
    header head = {.step_count = th_world_step_count(world), .wall_seconds = wall_seconds};
    head.world_size = world_size;
    head.observer_size = observer_size;
    memcpy(head.magic, MAGIC, sizeof MAGIC);
    snprintf(head.version, sizeof head.version, "%s", th_version());
    memcpy(bytes, &head, sizeof head);
    if (th_world_snapshot(world, bytes + sizeof head, world_size, error) != TH_OK) {
        free(bytes);
        return NULL;
    }
    memcpy(bytes + sizeof head + padded(world_size), observer, observer_size);
    th_checkpoint_seal(bytes, *size);
    return bytes;
}

static void remove_old(const th_folder *folder) {
    th_checkpoint_name names[TH_CHECKPOINTS_LISTED];
    int count = th_checkpoint_list(folder, names);
    char path[TH_PATH_MAX];
    for (int i = KEPT; i < count; ++i)
        if (th_folder_path(folder, names[i], path, sizeof path)) unlink(path);
}

// Writes checkpoints/checkpoint-<step>.bin and removes all but the two newest.
static th_result write_checkpoint(const th_folder *folder, const th_world *world,
                                  const th_observer *observer, double wall_seconds,
                                  th_error *error) {
    void *observed = NULL;
    size_t observed_size = 0, size = 0;
    char name[TH_CHECKPOINT_NAME], path[TH_PATH_MAX];
    th_result result = th_observer_save(observer, &observed, &observed_size, error);
    if (result != TH_OK) return result;
    char *bytes = build(world, observed, observed_size, wall_seconds, &size, error);
    free(observed);
    if (!bytes) return error->code;
    snprintf(name, sizeof name, "checkpoints/checkpoint-%012llu.bin",
             (unsigned long long)th_world_step_count(world));
    result = th_folder_make(folder, "checkpoints", error);
    if (result == TH_OK && !th_folder_path(folder, name, path, sizeof path))
        result = th_file_fail(error, name, "the name is too long");
    if (result == TH_OK) result = th_file_replace(path, bytes, size, TH_SYNCED, error);
    free(bytes);
    if (result == TH_OK) remove_old(folder);
    return result;
}

static int newest_first(const void *a, const void *b) { return strcmp(b, a); }

int th_checkpoint_list(const th_folder *folder, th_checkpoint_name *names) {
    char path[TH_PATH_MAX];
    if (!th_folder_path(folder, "checkpoints", path, sizeof path)) return 0;
    DIR *entries = opendir(path);
    if (!entries) return 0;
    int count = 0;
    for (const struct dirent *entry = readdir(entries); entry; entry = readdir(entries)) {
        unsigned long long step = 0;
        int end = 0;
        bool own = sscanf(entry->d_name, "checkpoint-%12llu.bin%n", &step, &end) == 1 && end > 0 &&
                   entry->d_name[end] == '\0';
        if (own && count < TH_CHECKPOINTS_LISTED)
            snprintf(names[count++], TH_CHECKPOINT_NAME, "checkpoints/checkpoint-%012llu.bin",
                     step);
    }
    closedir(entries);
    qsort(names, (size_t)count, sizeof names[0], newest_first);
    return count;
}

static const char *fault(const char *bytes, size_t size, header *head) {
    if (size < sizeof *head) return "it is cut short";
    memcpy(head, bytes, sizeof *head);
    if (memcmp(head->magic, MAGIC, sizeof MAGIC) != 0) return "it is no checkpoint";
    if (strncmp(head->version, th_version(), sizeof head->version) != 0)
        return "it is of another version of throng";
    size_t body = size - sizeof *head;
    bool whole = head->world_size <= body && padded((size_t)head->world_size) <= body;
    if (!whole || head->observer_size != body - padded((size_t)head->world_size))
        return "it is cut short";
    if (head->checksum != checksum_of_file(bytes, size)) return "its checksum is wrong";
    return NULL;
}

th_result th_checkpoint_read(const th_folder *folder, const char *name, th_checkpoint *checkpoint,
                             th_error *error) {
    *checkpoint = (th_checkpoint){0};
    char path[TH_PATH_MAX];
    size_t size = 0;
    if (!th_folder_path(folder, name, path, sizeof path))
        return th_file_fail(error, name, "the name is too long");
    char *bytes = th_file_content(path, &size, error);
    return bytes ? th_checkpoint_take(bytes, size, path, checkpoint, error) : error->code;
}

th_result th_checkpoint_take(char *bytes, size_t size, const char *path, th_checkpoint *checkpoint,
                             th_error *error) {
    header head;
    *checkpoint = (th_checkpoint){0};
    const char *wrong = fault(bytes, size, &head);
    if (wrong) {
        free(bytes);
        th_file_fail(error, path, "%s", wrong);
        return error->code = TH_BAD_SNAPSHOT;
    }
    checkpoint->step_count = head.step_count;
    checkpoint->wall_seconds = head.wall_seconds;
    checkpoint->bytes = bytes;
    checkpoint->world = bytes + sizeof head;
    checkpoint->world_size = (size_t)head.world_size;
    checkpoint->observer = bytes + sizeof head + padded(checkpoint->world_size);
    checkpoint->observer_size = (size_t)head.observer_size;
    return TH_OK;
}

void th_checkpoint_release(th_checkpoint *checkpoint) {
    free(checkpoint->bytes);
    *checkpoint = (th_checkpoint){0};
}

// ---- one run from its first step to its last

th_simulation_def th_simulation_def_of(const th_scene_view *scene, double step, double max_time) {
    th_run_settings run = scene->run;
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
    world.batch = def->batch;
    world.seed = seed;
    world.step = def->step;
    world.end = def->end;
    th_result result = th_world_create(def->scene->scene, &world, &s->world, error);
    th_observer_def observer = th_observer_def_default();
    observer.threads = def->threads > 0 ? def->threads : th_core_count();
    if (result == TH_OK) result = th_observer_create(s->world, &observer, &s->observer, error);
    if (result != TH_OK) th_simulation_release(s);
    return result;
}

void th_simulation_release(th_simulation *s) {
    th_recorder_close(s->recorder, NULL, NULL);
    if (s->observer) th_observer_destroy(s->observer);
    if (s->world) th_world_destroy(s->world);
    free(s->image);
    s->image = NULL;
    s->recorder = NULL;
    s->observer = NULL;
    s->world = NULL;
}

th_result th_simulation_record(th_simulation *s, const th_recording *recording,
                               const th_trajectory_note *notes, int note_count, bool resume,
                               th_error *error) {
    th_recorder_def def = th_recorder_def_default();
    def.path = recording->path;
    def.format = recording->format;
    def.fps = recording->fps;
    def.resume = resume;
    def.notes = notes;
    def.note_count = note_count;
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

// Counts the frames in the file: a full disk may have lost the last ones. "" when it does not open.
static void count_frames(const char *path, char text[48]) {
    th_trajectory *recording = NULL;
    text[0] = '\0';
    if (th_trajectory_open(path, &recording, NULL) == TH_OK)
        snprintf(text, 48, ", after %lld frames",
                 (long long)th_trajectory_about(recording)->frame_count);
    th_trajectory_close(recording);
}

// Closes a recording that cannot continue. Committed frames stay.
static void give_up_recording(th_simulation *s, const th_error *cause) {
    char frames[48];
    th_error unread = {0};
    th_recorder_close(s->recorder, NULL, &unread);
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
    error.code = th_recorder_close(s->recorder, &totals, &error);
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
    if (write_checkpoint(s->checkpoints, s->world, s->observer, wall, &error) == TH_OK) return;
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

// Everything observed of the run, as a checkpoint at its end; a process that resumes it ends at once.
static th_result make_image(th_simulation *s, double started, th_error *error) {
    void *observed = NULL;
    size_t size = 0;
    double wall = s->wall_before + th_monotonic_seconds() - started;
    th_result result = th_observer_save(s->observer, &observed, &size, error);
    if (result != TH_OK) return result;
    s->image = build(s->world, observed, size, wall, &s->image_size, error);
    free(observed);
    return s->image ? TH_OK : error->code;
}

th_result th_simulation_run(th_simulation *s, th_error *error) {
    double started = th_monotonic_seconds();
    th_result result = step_to_end(s, started, error);
    bool interrupted = stopped(s);
    if (s->wants_image && !interrupted && result == TH_OK) result = make_image(s, started, error);
    // A resumed run loses nothing of the interrupted one.
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

double th_people_expected(const th_scene_view *scene, double end) {
    double people = 0;
    for (int i = 0; i < scene->group_count; ++i) people += people_of_group(&scene->groups[i], end);
    return people;
}

double th_frames_per_second(double wanted, double step) {
    double every = fmax(1.0, floor(1.0 / (wanted * step) + 0.5));
    return 1.0 / (every * step);
}

// ---- runs in a pool of threads
// A run may begin at most AHEAD of the slowest one before it, so finished runs that wait for their turn stay few.

enum { AHEAD = 2 }; // finished runs in waiting, per job

typedef struct slot { // of one run
    th_simulation run;
    th_result result;
    th_error error;
    bool made;          // false: it was not begun any more
    atomic_llong clock; // simulated so far [ms]
} slot;

typedef struct running {
    const th_jobs *def;
    th_simulation_def simulation;
    slot *slots; // run i is in slots[i % slot_count]
    int slot_count;
    atomic_bool stop; // the runs that are left are not wanted
    th_gate *finish_gate;
    th_result result;
    th_error *error;
} running;

static void make_run(void *context, int index) {
    running *r = context;
    const th_jobs *def = r->def;
    slot *s = &r->slots[index % r->slot_count];
    s->made = !atomic_load(&r->stop) && !atomic_load(def->interrupt);
    if (!s->made) return;
    s->result = th_simulation_start(&s->run, &r->simulation, def->seeds[index], &s->error);
    if (s->result != TH_OK) return;
    s->run.stop = &r->stop;
    s->run.interrupt = def->interrupt;
    s->run.clock = &s->clock;
    if (index == 0 && def->begin_first)
        s->result = def->begin_first(def->context, &s->run, &s->error);
    if (s->result == TH_OK) s->result = th_simulation_run(&s->run, &s->error);
    // Only what was seen of it waits for its turn: a world of a million people is a gigabyte.
    th_world_destroy(s->run.world);
    s->run.world = NULL;
    if (s->result != TH_OK || !def->finished) return;
    if (th_observer_observation(s->run.observer)->interrupted) return;
    th_gate_lock(r->finish_gate);
    s->result = def->finished(def->context, index, &s->run, &s->error);
    th_gate_unlock(r->finish_gate);
}

// False: no further run is wanted.
static bool hand_over(running *r, int index, slot *s) {
    if (!s->made) return false;
    if (s->result != TH_OK) {
        *r->error = s->error;
        r->result = r->error->code = s->result;
        return false;
    }
    // A run cut short says nothing about the sample, but is better than no result.
    bool half = th_observer_observation(s->run.observer)->interrupted;
    if (half && index > 0) return false;
    return r->def->deliver(r->def->context, index, &s->run) && !half;
}

static bool deliver(void *context, int index) {
    running *r = context;
    slot *s = &r->slots[index % r->slot_count];
    bool more = hand_over(r, index, s);
    if (!more) atomic_store(&r->stop, true);
    th_simulation_release(&s->run);
    s->run = (th_simulation){0};
    s->result = TH_OK;
    s->error = (th_error){0};
    atomic_store(&s->clock, 0);
    return more;
}

static bool waiting(void *context, const th_pool_progress *progress) {
    running *r = context;
    slot *s = &r->slots[progress->delivered % r->slot_count];
    r->def->waiting(r->def->context, 1e-3 * (double)atomic_load(&s->clock));
    return !atomic_load(r->def->interrupt);
}

// More people than this keep a device busy by themselves.
static const double BATCH_PEOPLE = 30000;

// Runs side by side of small crowds on a device, where the user asked for them.
static bool batches(const th_jobs *def) {
    const th_simulation_def *simulation = def->simulation;
    return simulation->backend != TH_BACKEND_CPU && def->count > 1 && def->jobs > 1 &&
           th_people_expected(simulation->scene, simulation->end) <= BATCH_PEOPLE;
}

th_result th_jobs_run(const th_jobs *def, th_error *error) {
    th_batch *batch = batches(def) ? th_batch_create() : NULL;
    int cores = th_core_count(), jobs = def->jobs > 0 ? def->jobs : cores;
    if (jobs > def->count) jobs = def->count;
    if (jobs < 1) {
        th_batch_destroy(batch);
        return TH_OK;
    }
    running r = {.def = def, .simulation = *def->simulation, .error = error};
    r.simulation.batch = batch;
    if (r.simulation.threads == 0) r.simulation.threads = cores > jobs ? cores / jobs : 1;
    r.slot_count = jobs * AHEAD;
    r.slots = calloc((size_t)r.slot_count, sizeof *r.slots);
    r.finish_gate = th_gate_create();
    if (!r.slots || !r.finish_gate) {
        free(r.slots);
        th_gate_destroy(r.finish_gate);
        th_batch_destroy(batch);
        return th_fail(error, TH_NO_MEMORY, "", "no memory for %d runs at once", jobs);
    }
    const th_pool_def pool = {.count = def->count,
                              .threads = jobs,
                              .window = r.slot_count,
                              .run = make_run,
                              .deliver = deliver,
                              .waiting = waiting,
                              .context = &r};
    th_result result = th_pool_run(&pool, NULL, error);
    for (int i = 0; i < r.slot_count; ++i) th_simulation_release(&r.slots[i].run);
    th_gate_destroy(r.finish_gate);
    th_batch_destroy(batch);
    free(r.slots);
    return result == TH_OK ? r.result : result;
}
