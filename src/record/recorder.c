// The recorder: copies what is due while the world waits, and a thread of its own rounds, compresses and writes.
// Buffers are reused: nothing is allocated per frame unless the crowd grows.
// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/parallel.h"
#include "formula/vec.h"
#include "record/backend.h"
#include "record/moment.h"
#include "throng/scene_view.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// ---- the queue. One bell serves both sides: there are only two threads

bool th_queue_init(th_queue *queue, int capacity) {
    *queue = (th_queue){.capacity = capacity};
    queue->gate = th_gate_create();
    return queue->gate != NULL;
}

void th_queue_destroy(th_queue *queue) { th_gate_destroy(queue->gate); }

// Waits until fewer than `limit` slots are full, and adds up the time. The caller holds the gate.
static bool wait_below(th_queue *queue, int limit) {
    double begin = queue->count >= limit && !queue->broken ? th_monotonic_seconds() : 0;
    while (queue->count >= limit && !queue->broken) th_gate_wait(queue->gate);
    if (begin > 0) queue->waited += th_monotonic_seconds() - begin;
    return !queue->broken;
}

int th_queue_reserve(th_queue *queue) {
    th_gate_lock(queue->gate);
    bool free = wait_below(queue, queue->capacity);
    int slot = free ? (queue->first + queue->count) % queue->capacity : -1;
    th_gate_unlock(queue->gate);
    return slot;
}

void th_queue_push(th_queue *queue) {
    th_gate_lock(queue->gate);
    ++queue->count;
    th_gate_ring(queue->gate);
    th_gate_unlock(queue->gate);
}

bool th_queue_drain(th_queue *queue) {
    th_gate_lock(queue->gate);
    bool empty = wait_below(queue, 1);
    th_gate_unlock(queue->gate);
    return empty;
}

bool th_queue_works(th_queue *queue) {
    th_gate_lock(queue->gate);
    bool works = !queue->broken;
    th_gate_unlock(queue->gate);
    return works;
}

int th_queue_take(th_queue *queue) {
    th_gate_lock(queue->gate);
    while (queue->count == 0 && !queue->closed) th_gate_wait(queue->gate);
    int slot = queue->count > 0 ? queue->first : -1;
    th_gate_unlock(queue->gate);
    return slot;
}

void th_queue_release(th_queue *queue) {
    th_gate_lock(queue->gate);
    queue->first = (queue->first + 1) % queue->capacity;
    --queue->count;
    th_gate_ring(queue->gate);
    th_gate_unlock(queue->gate);
}

static void set_flag(th_queue *queue, bool *flag) {
    th_gate_lock(queue->gate);
    *flag = true;
    th_gate_ring(queue->gate);
    th_gate_unlock(queue->gate);
}

void th_queue_close(th_queue *queue) { set_flag(queue, &queue->closed); }
void th_queue_break(th_queue *queue) { set_flag(queue, &queue->broken); }

// ---- clearance: O(edges x people), a millisecond per edge and million people

static void add_edge(th_edge *edges, int *count, const th_scene_view *scene, int level, th_vec2 a,
                     th_vec2 b) {
    const float aside = 0.05f; // [m] as the engine looks for what is behind an exit
    th_edge edge = {.a = a, .direction = th_unit(th_sub(b, a)), .level = level};
    edge.length = th_length(th_sub(b, a));
    th_vec2 middle = th_scale(0.5f, th_add(a, b));
    th_vec2 left = th_add(middle, th_scale(aside, th_perp_left(edge.direction)));
    edge.side = th_scene_walkable(scene->scene, level, left) ? 1.0f : -1.0f;
    edges[(*count)++] = edge;
}

th_edge *th_edges_of(const th_scene_view *scene, int *count) {
    *count = 0;
    int most = scene->goal_count + 2 * scene->link_count;
    if (most == 0) return NULL;
    th_edge *edges = malloc((size_t)most * sizeof *edges);
    if (!edges) {
        *count = -1;
        return NULL;
    }
    for (int g = 0; g < scene->goal_count; ++g) {
        const th_goal *goal = &scene->goals[g];
        if (goal->is_line && goal->kind == TH_GOAL_EXIT)
            add_edge(edges, count, scene, goal->line.level, goal->line.a, goal->line.b);
    }
    for (int l = 0; l < 2 * scene->link_count; ++l) {
        const th_link *link = &scene->links[l / 2];
        add_edge(edges, count, scene, link->level[l % 2], link->a, link->b);
    }
    return edges;
}

// Without branches, so that the loop vectorises; hardly any person is moved.
TH_CLONES static void keep_clear_of(const th_edge *edge, float clearance, int count, double *x,
                                    double *y, const int32_t *level) {
    const float ax = edge->a.x, ay = edge->a.y, dx = edge->direction.x, dy = edge->direction.y;
    const float most = edge->length + clearance;
    for (int i = 0; i < count; ++i) {
        float here_x = (float)x[i], here_y = (float)y[i];
        float px = here_x - ax, py = here_y - ay;
        float along = px * dx + py * dy, across = py * dx - px * dy;
        bool close = (fabsf(across) < clearance) & (along > -clearance) & (along < most);
        if (level) close &= level[i] == edge->level;
        float side = across > 0.0f ? 1.0f : across < 0.0f ? -1.0f : edge->side;
        float shift = close ? side * clearance - across : 0.0f;
        x[i] = (double)(here_x - shift * dy);
        y[i] = (double)(here_y + shift * dx);
    }
}

void th_keep_clear(const th_edge *edges, int edge_count, float clearance, int count, double *x,
                   double *y, const int32_t *level) {
    for (int e = 0; e < edge_count; ++e) {
        if (!level && edges[e].level != 0) continue;
        keep_clear_of(&edges[e], clearance, count, x, y, level);
    }
}

// ---- the recorder

enum { QUEUE_FRAMES = 4 }; // of a million people: 180 MB
#define RECORDER_COOKIE 0x74687263u

// [m/s] Slower motion is not walking but pushes by neighbours, whose direction says nothing about where a
// person looks.
static const float STANDING_SPEED = 0.02f;

struct th_recorder {
    th_trajectory_writer *writer; // the thread's own between create and finish
    char *path;
    int every;      // steps from frame to frame
    unsigned known; // what is copied of the world
    int64_t next;   // frame not seen yet
    th_edge *edges;
    int edge_count;
    float clearance;          // from edges [m]; 0: positions are written as they are
    th_world_moment *flights; // frames on their way to the writer
    th_queue queue;
    th_thread *thread;
    th_error failure;      // of the thread, to be read once the queue is broken or the thread ended
    uint64_t frames, rows; // the thread's until it ended
    double busy;
};

// ---- the thread's side

static void write_flights(th_recorder *r) {
    for (int slot; (slot = th_queue_take(&r->queue)) >= 0;) {
        const th_world_moment *f = &r->flights[slot];
        if (r->clearance > 0)
            th_keep_clear(r->edges, r->edge_count, r->clearance, f->moment.count,
                          f->columns[TH_COLUMN_X], f->columns[TH_COLUMN_Y], f->moment.level);
        th_error error = {0};
        th_result result = th_trajectory_write(r->writer, &f->moment, &error);
        if (result != TH_OK) {
            r->failure = error;
            r->failure.code = result;
            th_queue_break(&r->queue);
            return;
        }
        r->frames++;
        r->rows += (uint64_t)f->moment.count;
        th_queue_release(&r->queue);
    }
}

static void run_thread(void *context) {
    th_recorder *r = context;
    write_flights(r);
    r->busy = th_thread_cpu_seconds();
}

// ---- the simulation's side

static th_result repeat_failure(const th_recorder *r, th_error *error) {
    if (error) *error = r->failure;
    return r->failure.code;
}

// Leaves the direction of standing people unknown, so that the writer keeps their last one.
static void rest_the_standing(const th_world_moment *f) {
    double *velocity_x = f->columns[TH_COLUMN_VELOCITY_X];
    double *velocity_y = f->columns[TH_COLUMN_VELOCITY_Y];
    for (int i = 0; i < f->moment.count; ++i) {
        float x = (float)velocity_x[i], y = (float)velocity_y[i];
        bool walks = x * x + y * y > STANDING_SPEED * STANDING_SPEED;
        velocity_x[i] = walks ? velocity_x[i] : 0.0;
        velocity_y[i] = walks ? velocity_y[i] : 0.0;
    }
}

th_result th_recorder_see(th_recorder *r, th_world *world, th_error *error) {
    uint64_t step = th_world_step_count(world);
    int64_t number = (int64_t)(step / (uint64_t)r->every);
    bool due = step % (uint64_t)r->every == 0 && number >= r->next;
    if (!due) return th_queue_works(&r->queue) ? TH_OK : repeat_failure(r, error);
    int slot = th_queue_reserve(&r->queue);
    if (slot < 0) return repeat_failure(r, error);
    th_world_moment *f = &r->flights[slot];
    if (!th_world_moment_take(f, world, r->known))
        return th_fail(error, TH_NO_MEMORY, "",
                       "no memory for a frame of %d people; record fewer people or a shorter queue",
                       th_world_agent_count(world));
    f->moment.number = number;
    rest_the_standing(f);
    r->next = number + 1;
    th_queue_push(&r->queue);
    return TH_OK;
}

// With the queue empty the thread waits for a frame, and the writer is free to be used from here.
th_result th_recorder_flush(th_recorder *r, th_error *error) {
    if (!th_queue_drain(&r->queue)) return repeat_failure(r, error);
    const th_trajectory_backend *backend = r->writer->backend;
    return backend->commit ? backend->commit(r->writer, error) : TH_OK;
}

// ---- beginning and end

static void release(th_recorder *r) {
    for (int s = 0; r->flights && s < r->queue.capacity; ++s)
        th_world_moment_release(&r->flights[s]);
    free(r->flights);
    free(r->edges);
    free(r->path);
    th_queue_destroy(&r->queue);
    free(r);
}

th_recorder_def th_recorder_def_default(void) {
    return (th_recorder_def){.cookie = RECORDER_COOKIE,
                             .format = TH_TRAJECTORY_SQLITE,
                             .fps = 10,
                             .max_queued_frames = QUEUE_FRAMES};
}

static th_result check(const th_recorder_def *def, th_error *error) {
    if (def->cookie != RECORDER_COOKIE)
        return th_fail(error, TH_BAD_ARGUMENT, "", "start from th_recorder_def_default()");
    if (!def->path || !def->path[0])
        return th_fail(error, TH_BAD_ARGUMENT, "path", "a recording needs a file");
    if (!(def->fps > 0 && def->fps <= 1e6))
        return th_fail(error, TH_BAD_ARGUMENT, "fps",
                       "%g frames per simulated second; give a number from above 0 to 1e6",
                       def->fps);
    if (def->max_queued_frames < 1 || def->max_queued_frames > 10000)
        return th_fail(error, TH_BAD_ARGUMENT, "max_queued_frames", "%d; give 1 to 10000",
                       def->max_queued_frames);
    if (def->format == TH_TRAJECTORY_HDF5)
        return th_fail(
            error, TH_BAD_ARGUMENT, "format",
            "a killed run would leave an HDF5 file that does not open; record sqlite and "
            "convert it afterwards");
    return TH_OK;
}

// A new file with the scene's geometry.
static th_result create_file(th_recorder *r, const th_scene_view *scene, const th_recorder_def *def,
                             double step, th_error *error) {
    th_trajectory_level *levels = calloc((size_t)scene->level_count, sizeof *levels);
    bool good = levels != NULL;
    for (int l = 0; good && l < scene->level_count; ++l) {
        levels[l].id = scene->levels[l].id;
        levels[l].z = (double)scene->levels[l].z;
        levels[l].wkt = th_scene_level_wkt(scene->scene, l);
        good = levels[l].wkt != NULL;
    }
    th_trajectory_info info = {.format = def->format,
                               .fps = 1.0 / (r->every * step),
                               .levels = levels,
                               .level_count = scene->level_count,
                               .notes = def->notes,
                               .note_count = def->note_count};
    th_result result =
        good ? th_trajectory_writer_create(def->path, &info, &r->writer, error)
             : th_fail(error, TH_NO_MEMORY, "", "no memory for the geometry of the recording");
    for (int l = 0; levels && l < scene->level_count; ++l) free((char *)levels[l].wkt);
    free(levels);
    return result;
}

// Continues the file at the world's time. The file must hold all earlier frames.
static th_result continue_file(th_recorder *r, const th_recorder_def *def, double step,
                               th_error *error) {
    th_trajectory *old = NULL;
    th_result result = th_trajectory_open(def->path, &old, error);
    if (result != TH_OK) return result;
    const th_trajectory_info *info = th_trajectory_about(old);
    double fps = 1.0 / (r->every * step);
    if (info->format != def->format || fabs(info->fps - fps) > 1e-6 * fps)
        result = th_trajectory_fail(error, TH_BAD_ARGUMENT, def->path,
                                    "is %s at %g frames per second; %s at %g cannot go on in it",
                                    th_trajectory_format_name(info->format), info->fps,
                                    th_trajectory_format_name(def->format), fps);
    else if (r->next > 0 && (info->frame_count == 0 || info->last_frame < r->next - 1))
        result = th_trajectory_fail(error, TH_BAD_ARGUMENT, def->path,
                                    "ends at frame %lld and the world is at frame %lld; frames "
                                    "between would be missing: go "
                                    "on from an earlier checkpoint",
                                    info->frame_count > 0 ? (long long)info->last_frame : -1LL,
                                    (long long)r->next);
    th_trajectory_close(old);
    if (result != TH_OK) return result;
    return th_trajectory_writer_append(def->path, r->next, &r->writer, error);
}

static bool has_bodies(const th_scene_view *scene) {
    for (int s = 0; s < scene->scripted_count; ++s)
        if (scene->scripted[s].is_body) return true;
    return false;
}

// NULL: no memory.
static th_recorder *make(const th_scene_view *scene, const th_recorder_def *def) {
    th_recorder *r = calloc(1, sizeof *r);
    if (!r || !th_queue_init(&r->queue, def->max_queued_frames)) {
        free(r);
        return NULL;
    }
    r->flights = calloc((size_t)def->max_queued_frames, sizeof *r->flights);
    r->path = strdup(def->path);
    r->known = TH_KNOW_LEVEL | TH_KNOW_VELOCITY | (has_bodies(scene) ? TH_PEOPLE_ONLY : 0);
    r->edges = th_edges_of(scene, &r->edge_count);
    if (r->flights && r->path && r->edge_count >= 0) return r;
    release(r);
    return NULL;
}

th_result th_recorder_create(th_world *world, const th_recorder_def *def, th_recorder **recorder,
                             th_error *error) {
    *recorder = NULL;
    th_result result = check(def, error);
    if (result != TH_OK) return result;
    const th_scene_view *scene = th_scene_view_of(th_world_scene(world));
    th_recorder *r = make(scene, def);
    if (!r) return th_fail(error, TH_NO_MEMORY, "", "no memory for a recorder");
    double step = th_world_step_length(world), every = round(1.0 / (def->fps * step));
    r->every = every < 1 ? 1 : every > 1e9 ? 1000000000 : (int)every;
    uint64_t steps = th_world_step_count(world), n = (uint64_t)r->every;
    r->next = (int64_t)((steps + n - 1) / n);
    result =
        def->resume ? continue_file(r, def, step, error) : create_file(r, scene, def, step, error);
    if (result == TH_OK) r->clearance = (float)r->writer->info.quantum;
    // Ctrl-C and the like are for the simulation's thread, which decides when to stop; this one receives no signals.
    if (result == TH_OK) r->thread = th_thread_start(run_thread, r);
    if (result == TH_OK && !r->thread) {
        th_trajectory_writer_close(r->writer, NULL);
        result = th_fail(error, TH_NO_MEMORY, "",
                         "the writer's thread did not start; raise the limit on threads");
    }
    if (result != TH_OK) {
        release(r);
        return result;
    }
    *recorder = r;
    return TH_OK;
}

th_result th_recorder_close(th_recorder *r, th_recorder_totals *totals, th_error *error) {
    if (totals) *totals = (th_recorder_totals){0};
    if (!r) return TH_OK;
    th_queue_close(&r->queue);
    th_thread_join(r->thread);
    th_error closing = {0};
    th_result result = th_trajectory_writer_close(r->writer, &closing);
    if (r->failure.code != TH_OK) // the first failure is the cause of later ones
        result = repeat_failure(r, error);
    else if (result != TH_OK && error)
        *error = closing;
    if (totals) {
        struct stat file;
        *totals = (th_recorder_totals){
            .frames = r->frames, .rows = r->rows, .waited = r->queue.waited, .busy = r->busy};
        if (stat(r->path, &file) == 0) totals->bytes = (uint64_t)file.st_size;
    }
    release(r);
    return result;
}
