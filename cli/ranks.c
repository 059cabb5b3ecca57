// throng run under mpirun: every rank steps its part of the crowd and records it; the first one writes down what all counted,
// and makes one recording of their parts.
//
// A checkpoint is a snapshot of each rank's people, and then a file that names them: without it there is no checkpoint. A run
// that goes on, over another number of ranks perhaps, records into further files; the last one makes one of all.
// SPDX-License-Identifier: Apache-2.0
#include "cli/ranks.h"
#include "cluster/crew.h"
#include "core/file.h"
#include "core/system/system.h"
#include "run/runs.h"
#include "throng/live.h"
#include "throng/mpi.h"
#include "throng/record.h"
#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifndef _WIN32
#include <sys/resource.h>
#endif

enum { KEPT = 2, LISTED = 64 }; // checkpoints
enum { SPANS_MOST = 256 };

// A run without a break: how many ranks wrote its recording, and from which frame on it counts.
typedef struct ranks_span {
    int ranks;
    int64_t first_frame;
} ranks_span;

typedef struct ranks_text {
    char *bytes;
    size_t used, room;
} ranks_text;

typedef struct over_ranks {
    const th_command *command;
    const th_ranks_def *def;
    th_comm *comm;
    void *library;
    void (*end)(th_comm *);
    th_scene *scene;
    th_world *world;
    th_recorder *recorder;
    th_trajectory_format format;
    ranks_text counts; // of the first rank, as in counts.csv
    ranks_span spans[SPANS_MOST];
    int span_count; // the last one is this run's
    const char *out, *record;
    double fps, checkpoint_every, end_time;
    bool checkpoint_failed;
    json_t *about; // of the checkpoint; NULL: a new run
    bool until_empty;
} over_ranks;

bool th_is_over_ranks(const char *launch) {
    int rank, size;
    return !launch && th_launch_rank(&rank, &size) && size > 1;
}

// ---- the messages of one process

static void alone_numbers(const th_comm *comm, const uint32_t *to, uint32_t *from) {
    (void)comm;
    *from = *to;
}
static void alone_exchange(const th_comm *comm, const void *const *to, const size_t *to_size,
                           void *const *from, const size_t *from_size) {
    (void)comm, (void)to, (void)to_size, (void)from, (void)from_size;
}
static void alone_sum(const th_comm *comm, uint64_t *values, int count) {
    (void)comm, (void)values, (void)count;
}
static void alone_sum32(const th_comm *comm, uint32_t *values, int count) {
    (void)comm, (void)values, (void)count;
}
static void alone_highest(const th_comm *comm, double *values, int count) {
    (void)comm, (void)values, (void)count;
}
static void alone_stop(const th_comm *comm, const char *why) {
    (void)comm;
    fprintf(stderr, "%s\n", why);
    exit(TH_EXIT_FAILED);
}
static th_comm alone = {0,         1,           NULL,          alone_numbers, alone_exchange,
                        alone_sum, alone_sum32, alone_highest, alone_stop};

// ---- the library

static int no_mpi(over_ranks *r, const char *why) {
    th_complain(r->command,
                "mpirun has started several processes, and %s cannot be loaded (%s); build throng "
                "where MPI is installed, or start it without mpirun",
                TH_MPI_LIBRARY, why);
    return TH_EXIT_FAILED;
}

static int load_mpi(over_ranks *r) {
    r->comm = &alone;
    if (!th_is_over_ranks(NULL)) return TH_EXIT_OK;
    char *program = realpath("/proc/self/exe", NULL),
         *slash = program ? strrchr(program, '/') : NULL;
    char beside[TH_PATH_MAX] = "";
    if (slash)
        snprintf(beside, sizeof beside, "%.*s/%s", (int)(slash - program), program, TH_MPI_LIBRARY);
    free(program);
    r->library = beside[0] ? th_library_open(beside) : NULL; // where it was built
    if (!r->library) r->library = th_library_open(TH_LIBRARY_FOLDER "/" TH_MPI_LIBRARY);
    if (!r->library) return no_mpi(r, th_library_error());
    th_result (*create)(const void *, th_comm **, th_error *);
    // POSIX lets functions be found like this; C does not say so.
    *(void **)(void *)&create = th_library_symbol(r->library, "th_mpi_comm_create");
    *(void **)(void *)&r->end = th_library_symbol(r->library, "th_mpi_comm_destroy");
    if (!create || !r->end) return no_mpi(r, "it is another library");
    th_error error = {0};
    r->comm = NULL;
    if (create(NULL, &r->comm, &error) != TH_OK) return no_mpi(r, error.message);
    return TH_EXIT_OK;
}

// The worst code of all ranks: all go on, or none does.
static int agreed(over_ranks *r, int code) {
    double worst = code;
    r->comm->highest(r->comm, &worst, 1);
    return (int)worst;
}

static bool is_first(const over_ranks *r) { return r->comm->rank == 0; }

// ---- the folder

static void path_in(const over_ranks *r, char *path, const char *name) {
    snprintf(path, TH_PATH_MAX, "%s/%s", r->out, name);
}

static const char *suffix_of(th_trajectory_format format) {
    static const char *const suffixes[] = {
#define X(NAME, name, suffix, doc) suffix,
        TH_TRAJECTORY_FORMATS(X)
#undef X
    };
    return suffixes[format];
}

static void part_path(const over_ranks *r, int span, int rank, char *path) {
    char name[96];
    if (span == 0)
        snprintf(name, sizeof name, "trajectory.rank%d.%s", rank, suffix_of(r->format));
    else
        snprintf(name, sizeof name, "trajectory.part%d.rank%d.%s", span, rank,
                 suffix_of(r->format));
    path_in(r, path, name);
}

// With what SQLite leaves beside it after a kill.
static void remove_part(const char *path) {
    static const char *const ends[] = {"", "-wal", "-shm"};
    char name[TH_PATH_MAX + 8];
    for (size_t k = 0; k < sizeof ends / sizeof *ends; ++k) {
        snprintf(name, sizeof name, "%s%s", path, ends[k]);
        unlink(name);
    }
}

// The folder with the scene as it is run.
static int make_folder(over_ranks *r) {
    const th_ranks_def *def = r->def;
    if (!is_first(r) || !r->out) return TH_EXIT_OK;
    if (mkdir(r->out, 0777) != 0) {
        th_complain(r->command, "--out %s: %s; give a folder that is not there yet", r->out,
                    strerror(errno));
        return TH_EXIT_FAILED;
    }
    th_folder folder = {0};
    th_error error = {0};
    const th_texts sets = {def->overrides->items, def->overrides->count};
    const th_scene_changes changes = {
        .seed = def->seed, .step = def->step, .max_time = def->max_time};
    snprintf(folder.path, sizeof folder.path, "%s", r->out);
    json_t *tree = th_scene_tree(def->scene, &sets, &changes, th_scene_view_of(r->scene), &error);
    if (tree) error.code = th_scene_copy(&folder, tree, def->scene, &error);
    json_decref(tree);
    return tree && error.code == TH_OK ? TH_EXIT_OK : th_report_failure(r->out, &error);
}

__attribute__((format(printf, 2, 3))) static void add_text(over_ranks *r, const char *format, ...) {
    ranks_text *t = &r->counts;
    char piece[400];
    va_list values;
    va_start(values, format);
    int length = vsnprintf(piece, sizeof piece, format, values);
    va_end(values);
    if (length < 0 || (size_t)length >= sizeof piece) return;
    if (t->used + (size_t)length + 1 > t->room) {
        size_t room = 2 * t->room + sizeof piece;
        char *bytes = realloc(t->bytes, room);
        if (!bytes) {
            r->comm->stop(r->comm, "no memory for counts.csv");
            return;
        }
        t->bytes = bytes;
        t->room = room;
    }
    memcpy(t->bytes + t->used, piece, (size_t)length + 1);
    t->used += (size_t)length;
}

static void begin_counts(over_ranks *r) {
    if (!is_first(r) || !r->out) return;
    const th_scene_view *scene = th_scene_view_of(r->scene);
    add_text(r, "time,inside,left,removed,waiting_to_enter");
    for (int g = 0; g < scene->goal_count; ++g)
        if (scene->goals[g].kind == TH_GOAL_EXIT) add_text(r, ",%s", scene->goals[g].id);
    add_text(r, "\n");
}

static void add_counts(over_ranks *r) {
    th_statistics now = th_world_counts(r->world);
    if (!is_first(r) || !r->out) return;
    const th_scene_view *scene = th_scene_view_of(r->scene);
    add_text(r, "%.10g,%llu,%llu,%llu,%llu", now.time, (unsigned long long)now.inside,
             (unsigned long long)now.left, (unsigned long long)now.removed,
             (unsigned long long)now.waiting_to_enter);
    for (int g = 0; g < scene->goal_count; ++g)
        if (scene->goals[g].kind == TH_GOAL_EXIT)
            add_text(r, ",%llu", (unsigned long long)th_world_exit(r->world, g).left);
    add_text(r, "\n");
}

// ---- recordings: one file of each rank, made one in the end

static int begin_recording(over_ranks *r) {
    const char *wanted = r->record;
    int format = 0;
    if (!wanted || strcmp(wanted, "none") == 0) return TH_EXIT_OK;
    while (format < TH_TRAJECTORY_FORMAT_COUNT &&
           strcmp(wanted, th_trajectory_format_name((th_trajectory_format)format)) != 0)
        ++format;
    if (format == TH_TRAJECTORY_FORMAT_COUNT || format == TH_TRAJECTORY_HDF5 ||
        format == TH_TRAJECTORY_CSV || !r->out) {
        th_complain(r->command,
                    r->out ? "--record %s: give sqlite, compact or text"
                           : "--record %s needs --out DIR over ranks",
                    wanted);
        return TH_EXIT_USAGE;
    }
    char path[TH_PATH_MAX];
    th_error error = {0};
    th_recorder_def recorder = th_recorder_def_default();
    r->format = (th_trajectory_format)format;
    part_path(r, r->span_count - 1, r->comm->rank, path);
    remove_part(path); // of a run that ended before its first checkpoint
    recorder.path = path;
    recorder.format = r->format;
    if (r->fps > 0) recorder.fps = r->fps;
    error.code = th_recorder_create(r->world, &recorder, &r->recorder, &error);
    return error.code == TH_OK ? TH_EXIT_OK : th_report_failure(path, &error);
}

typedef struct merged {
    int room;
    int64_t *id;
    int32_t *level;
    double *values; // six arrays: x, y, velocity and orientation
} merged;

static bool make_room(merged *m, int count) {
    if (count <= m->room) return true;
    int room = count + count / 2 + 64;
    int64_t *id = realloc(m->id, (size_t)room * sizeof *id);
    if (id) m->id = id;
    int32_t *level = realloc(m->level, (size_t)room * sizeof *level);
    if (level) m->level = level;
    double *values = realloc(m->values, (size_t)room * 6 * sizeof *values);
    if (values) m->values = values;
    if (id && level && values) m->room = room;
    return id && level && values;
}

static const double *array_of(const th_moment *moment, int k) {
    const double *const arrays[] = {moment->x,
                                    moment->y,
                                    moment->velocity_x,
                                    moment->velocity_y,
                                    moment->orientation_x,
                                    moment->orientation_y};
    return arrays[k];
}

// People of all parts in ascending order of ids, which each part has.
static th_moment merge_moments(merged *m, const th_moment *parts, int *at, int count) {
    th_moment all = parts[0];
    int total = 0;
    memset(at, 0, (size_t)count * sizeof *at);
    for (;; ++total) {
        int next = -1;
        for (int p = 0; p < count; ++p)
            if (at[p] < parts[p].count &&
                (next < 0 || parts[p].id[at[p]] < parts[next].id[at[next]]))
                next = p;
        if (next < 0) break;
        const th_moment *part = &parts[next];
        int i = at[next]++;
        m->id[total] = part->id[i];
        m->level[total] = part->level ? part->level[i] : 0;
        for (int k = 0; k < 6; ++k)
            m->values[(size_t)k * (size_t)m->room + (size_t)total] =
                array_of(part, k) ? array_of(part, k)[i] : 0.0;
    }
    const double *v = m->values;
    size_t room = (size_t)m->room;
    all.count = total;
    all.id = m->id;
    all.level = parts[0].level ? m->level : NULL;
    all.x = v;
    all.y = v + room;
    all.velocity_x = parts[0].velocity_x ? v + 2 * room : NULL;
    all.velocity_y = parts[0].velocity_y ? v + 3 * room : NULL;
    all.orientation_x = parts[0].orientation_x ? v + 4 * room : NULL;
    all.orientation_y = parts[0].orientation_y ? v + 5 * room : NULL;
    return all;
}

// The frames before `end`.
static th_result merge_frames(th_trajectory **parts, int count, int64_t end,
                              th_trajectory_writer *writer, th_error *error) {
    merged m = {0};
    th_moment *moments = calloc((size_t)count, sizeof *moments);
    int *at = calloc((size_t)count, sizeof *at);
    th_result result = moments && at ? TH_OK : TH_NO_MEMORY;
    while (result == TH_OK) {
        int total = 0;
        for (int p = 0; p < count && result == TH_OK; ++p) {
            result = th_trajectory_next(parts[p], &moments[p], error);
            if (result == TH_OK) total += moments[p].count;
        }
        if (result != TH_OK || moments[0].count < 0 || moments[0].number >= end) break;
        if (!make_room(&m, total)) {
            result = TH_NO_MEMORY;
            break;
        }
        th_moment all = merge_moments(&m, moments, at, count);
        result = th_trajectory_write(writer, &all, error);
    }
    free(m.id);
    free(m.level);
    free(m.values);
    free(moments);
    free(at);
    return result;
}

// The frames of a span behind those of the spans before.
static th_result merge_span(over_ranks *r, int span, th_trajectory_writer **writer,
                            th_error *error) {
    int count = r->spans[span].ranks;
    bool last = span == r->span_count - 1;
    char path[TH_PATH_MAX], name[64];
    th_trajectory **parts = calloc((size_t)count, sizeof *parts);
    th_result result = parts ? TH_OK : TH_NO_MEMORY;
    for (int p = 0; p < count && result == TH_OK; ++p) {
        part_path(r, span, p, path);
        result = th_trajectory_open(path, &parts[p], error);
    }
    snprintf(name, sizeof name, "trajectory.%s", suffix_of(r->format));
    path_in(r, path, name);
    if (result == TH_OK && !*writer)
        result = th_trajectory_writer_create(path, th_trajectory_about(parts[0]), writer, error);
    if (result == TH_OK)
        result = merge_frames(parts, count, last ? INT64_MAX : r->spans[span + 1].first_frame,
                              *writer, error);
    for (int p = 0; parts && p < count; ++p) th_trajectory_close(parts[p]);
    free(parts);
    return result;
}

static void remove_parts(const over_ranks *r) {
    char path[TH_PATH_MAX];
    for (int s = 0; s < r->span_count; ++s)
        for (int p = 0; p < r->spans[s].ranks; ++p) {
            part_path(r, s, p, path);
            remove_part(path);
        }
}

static int merge_recordings(over_ranks *r) {
    th_error error = {0}, closing = {0};
    th_trajectory_writer *writer = NULL;
    th_result result = TH_OK;
    for (int s = 0; s < r->span_count && result == TH_OK; ++s)
        result = merge_span(r, s, &writer, &error);
    closing.code = th_trajectory_writer_close(writer, &closing);
    if (result == TH_OK && closing.code != TH_OK) {
        result = closing.code;
        error = closing;
    }
    error.code = result;
    if (result != TH_OK) return th_report_failure(r->out, &error);
    remove_parts(r);
    return TH_EXIT_OK;
}

static int end_recording(over_ranks *r) {
    th_error error = {0};
    if (!r->recorder) return TH_EXIT_OK;
    error.code = th_recorder_close(r->recorder, NULL, &error);
    int code = error.code == TH_OK ? TH_EXIT_OK : th_report_failure(r->out, &error);
    code = agreed(r, code); // all parts are there
    return code == TH_EXIT_OK && is_first(r) ? merge_recordings(r) : code;
}

// ---- checkpoints

static void checkpoint_path(const char *folder, uint64_t step, int part, char *path) {
    int used = snprintf(path, TH_PATH_MAX, "%s/checkpoints/ranks-%012llu.", folder,
                        (unsigned long long)step);
    if (part < 0)
        snprintf(path + used, (size_t)(TH_PATH_MAX - used), "json");
    else
        snprintf(path + used, (size_t)(TH_PATH_MAX - used), "part%d", part);
}

static int larger_first(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return (*x < *y) - (*x > *y);
}

// The steps of the whole checkpoints in the folder, newest first.
static int list_checkpoints(const char *folder, uint64_t *steps) {
    char path[TH_PATH_MAX];
    snprintf(path, sizeof path, "%s/checkpoints", folder);
    DIR *entries = opendir(path);
    int count = 0;
    for (const struct dirent *entry; entries && (entry = readdir(entries));) {
        unsigned long long step = 0;
        int end = 0;
        if (sscanf(entry->d_name, "ranks-%12llu.json%n", &step, &end) == 1 && end > 0 &&
            entry->d_name[end] == '\0' && count < LISTED)
            steps[count++] = step;
    }
    if (entries) closedir(entries);
    qsort(steps, (size_t)count, sizeof *steps, larger_first);
    return count;
}

bool th_ranks_can_resume(const char *folder) {
    uint64_t steps[LISTED];
    return list_checkpoints(folder, steps) > 0;
}

static json_t *read_about(const char *folder, uint64_t step) {
    char path[TH_PATH_MAX];
    checkpoint_path(folder, step, -1, path);
    return json_load_file(path, 0, NULL);
}

// All but the two newest. The file that names the parts goes first.
static void remove_old(const over_ranks *r) {
    uint64_t steps[LISTED];
    char path[TH_PATH_MAX];
    int count = list_checkpoints(r->out, steps), more = r->comm->size;
    do // of a run of more ranks that got as far as this one
        checkpoint_path(r->out, th_world_step_count(r->world), more++, path);
    while (unlink(path) == 0);
    for (int k = KEPT; k < count; ++k) {
        json_t *about = read_about(r->out, steps[k]);
        checkpoint_path(r->out, steps[k], -1, path);
        unlink(path);
        for (int p = 0; p < (int)json_integer_value(json_object_get(about, "ranks")); ++p) {
            checkpoint_path(r->out, steps[k], p, path);
            unlink(path);
        }
        json_decref(about);
    }
}

static th_result write_part(const over_ranks *r, uint64_t step, th_error *error) {
    char path[TH_PATH_MAX];
    size_t size = th_world_snapshot_size(r->world);
    void *bytes = malloc(size);
    if (!bytes) // the snapshot is asked of all ranks together
        r->comm->stop(r->comm, "no memory for a checkpoint of its people");
    th_result result = th_world_snapshot(r->world, bytes, size, error);
    checkpoint_path(r->out, step, r->comm->rank, path);
    if (result == TH_OK) result = th_file_replace(path, bytes, size, TH_SYNCED, error);
    free(bytes);
    return result;
}

static th_result write_about(const over_ranks *r, uint64_t step, th_error *error) {
    char path[TH_PATH_MAX];
    json_t *spans = json_array();
    for (int s = 0; s < r->span_count; ++s)
        json_array_append_new(spans, json_pack("{s:i, s:I}", "ranks", r->spans[s].ranks,
                                               "first_frame", (json_int_t)r->spans[s].first_frame));
    json_t *about =
        json_pack("{s:i, s:s, s:f, s:f, s:s#, s:o}", "ranks", r->comm->size, "record",
                  r->record ? r->record : "none", "fps", r->fps, "every", r->checkpoint_every,
                  "counts", r->counts.bytes, (int)r->counts.used, "recorded", spans);
    char *bytes = about ? json_dumps(about, JSON_INDENT(2)) : NULL;
    json_decref(about);
    if (!bytes) return th_file_fail(error, r->out, "no memory for a checkpoint");
    checkpoint_path(r->out, step, -1, path);
    th_result result = th_file_replace(path, bytes, strlen(bytes), TH_SYNCED, error);
    free(bytes);
    return result;
}

static void checkpoint(over_ranks *r) {
    th_error error = {0};
    char path[TH_PATH_MAX];
    uint64_t step = th_world_step_count(r->world);
    path_in(r, path, "checkpoints");
    if (is_first(r)) mkdir(path, 0777); // what hinders it shows below
    agreed(r, 0);                       // it is there
    // Frames first: a checkpoint that the recording does not reach could not be used.
    if (r->recorder && (error.code = th_recorder_flush(r->recorder, &error)) != TH_OK)
        r->comm->stop(r->comm, error.message);
    error.code = write_part(r, step, &error);
    int code = error.code == TH_OK ? TH_EXIT_OK : th_report_failure(r->out, &error);
    code = agreed(r, code);
    if (code == TH_EXIT_OK && is_first(r)) {
        if ((error.code = write_about(r, step, &error)) != TH_OK)
            code = th_report_failure(r->out, &error);
        else
            remove_old(r);
    }
    r->checkpoint_failed = agreed(r, code) != TH_EXIT_OK;
    if (r->checkpoint_failed && is_first(r))
        fprintf(stderr, "no more checkpoints are written; the simulation goes on\n");
}

// A step of which the number of whole intervals is larger than one step before.
static bool checkpoint_due(const over_ranks *r) {
    if (r->checkpoint_every <= 0 || r->checkpoint_failed) return false;
    double steps = fmax(1.0, floor(r->checkpoint_every / th_world_step_length(r->world) + 0.5));
    return th_world_step_count(r->world) % (uint64_t)steps == 0;
}

// ---- going on

// What the run was asked for, and what the ranks counted and recorded so far. False: the file is damaged.
static bool take_about(over_ranks *r, const json_t *about) {
    const json_t *spans = json_object_get(about, "recorded");
    const char *counts = json_string_value(json_object_get(about, "counts"));
    const char *record = json_string_value(json_object_get(about, "record"));
    const json_t *item;
    size_t k;
    if (!counts || !record || json_array_size(spans) >= SPANS_MOST) return false;
    r->span_count = 0;
    json_array_foreach(spans, k, item) {
        int ranks = (int)json_integer_value(json_object_get(item, "ranks"));
        if (ranks < 1) return false;
        r->spans[r->span_count++] =
            (ranks_span){ranks, json_integer_value(json_object_get(item, "first_frame"))};
    }
    r->fps = json_number_value(json_object_get(about, "fps"));
    r->checkpoint_every = json_number_value(json_object_get(about, "every"));
    r->record = record;
    free(r->counts.bytes);
    r->counts = (ranks_text){.bytes = strdup(counts), .used = strlen(counts)};
    r->counts.room = r->counts.used + 1;
    return r->counts.bytes != NULL;
}

// All ranks read all parts, each keeps a share of every one.
static th_result restore_parts(over_ranks *r, uint64_t step, int parts, th_error *error) {
    th_result result = TH_OK;
    for (int p = 0; p < parts && result == TH_OK; ++p) {
        char path[TH_PATH_MAX];
        size_t size = 0;
        checkpoint_path(r->out, step, p, path);
        char *bytes = th_file_content(path, &size, error);
        result = bytes ? TH_OK : TH_NO_FILE;
        if (agreed(r, bytes ? 0 : 1) == 0)
            result = th_world_restore(r->world, bytes, size, error);
        else if (bytes)
            result = th_file_fail(error, path, "cannot be read by another rank");
        free(bytes);
    }
    return result;
}

// The newest checkpoint that can be read.
static int go_on(over_ranks *r) {
    uint64_t steps[LISTED];
    int count = list_checkpoints(r->out, steps);
    th_error error = {0};
    error.code = TH_NO_FILE;
    if (agreed(r, count) != count || agreed(r, -count) != -count)
        r->comm->stop(r->comm, "the ranks see different checkpoints; give a folder that all see");
    for (int k = 0; k < count && error.code != TH_OK; ++k) {
        json_decref(r->about);
        r->about = read_about(r->out, steps[k]);
        bool sound = r->about && take_about(r, r->about);
        if (agreed(r, sound ? 0 : 1) != 0) continue;
        int parts = (int)json_integer_value(json_object_get(r->about, "ranks"));
        error.code = restore_parts(r, steps[k], parts, &error);
        if (error.code == TH_OK || !is_first(r)) continue;
        fprintf(stderr, "the checkpoint of step %llu cannot be used: %s\n",
                (unsigned long long)steps[k], error.message);
    }
    if (error.code == TH_OK) return TH_EXIT_OK;
    if (!is_first(r)) return TH_EXIT_FAILED;
    th_complain(r->command, "%s: no checkpoint can be used; run the scene again", r->out);
    return TH_EXIT_FAILED;
}

// ---- the run

static int load_scene(over_ranks *r) {
    const th_ranks_def *def = r->def;
    const th_text_list none = {0};
    char path[TH_PATH_MAX];
    path_in(r, path, "scene.json");
    return def->scene ? th_load_scene(def->scene, def->overrides, def->allow_links, &r->scene)
                      : th_load_scene(path, &none, true, &r->scene);
}

static int make_world(over_ranks *r) {
    const th_ranks_def *def = r->def;
    const th_scene_view *scene = th_scene_view_of(r->scene);
    th_world_def world = th_world_def_default();
    th_error error = {0};
    r->end_time = scene->run.duration > 0 ? scene->run.duration : scene->run.max_time;
    if (def->max_time > 0) r->end_time = def->max_time;
    r->until_empty = scene->run.duration <= 0;
    world.threads = def->threads > 0 ? def->threads : 1;
    world.seed = def->seed;
    world.step = def->step;
    world.end = r->end_time;
    world.comm = r->comm;
    error.code = th_ranks_check(r->scene, &error);
    if (error.code == TH_OK) error.code = th_world_create(r->scene, &world, &r->world, &error);
    if (error.code == TH_OK) return TH_EXIT_OK;
    int code =
        is_first(r) ? th_report_error(def->scene ? def->scene : r->out, &error) : TH_EXIT_SCENE;
    return agreed(r, code);
}

// Frames from the world's time on are of this run.
static int begin_span(over_ranks *r) {
    double step = th_world_step_length(r->world), fps = r->fps > 0 ? r->fps : 10.0;
    double every = fmax(1.0, round(1.0 / (fps * step)));
    if (r->span_count == SPANS_MOST) {
        th_complain(r->command, "%s went on %d times; run the scene again", r->out, SPANS_MOST);
        return TH_EXIT_FAILED;
    }
    int64_t frame = (int64_t)ceil((double)th_world_step_count(r->world) / every);
    r->spans[r->span_count++] = (ranks_span){r->comm->size, frame};
    return begin_recording(r);
}

static int start(over_ranks *r) {
    bool fresh = r->def->scene;
    int code = agreed(r, load_scene(r));
    if (code == TH_EXIT_OK) code = make_world(r);
    if (code == TH_EXIT_OK) code = agreed(r, fresh ? make_folder(r) : go_on(r));
    if (code == TH_EXIT_OK) code = agreed(r, begin_span(r));
    if (code == TH_EXIT_OK && fresh) begin_counts(r);
    return code;
}

static int record(over_ranks *r) {
    th_error error = {0};
    if (!r->recorder) return TH_EXIT_OK;
    error.code = th_recorder_see(r->recorder, r->world, &error);
    if (error.code == TH_OK) return TH_EXIT_OK;
    r->comm->stop(r->comm, error.message); // the other ranks wait for this one
    return TH_EXIT_FAILED;
}

static void step_to_end(over_ranks *r) {
    double step = th_world_step_length(r->world);
    uint64_t per_second = (uint64_t)(1.0 / step + 0.5);
    if (per_second == 0) per_second = 1;
    if (th_world_step_count(r->world) == 0) add_counts(r);
    record(r);
    while (th_world_time(r->world) < r->end_time - 0.5 * step) {
        if (r->until_empty && th_world_done(r->world)) break;
        th_world_step(r->world, 1);
        if (th_world_step_count(r->world) % per_second == 0) add_counts(r);
        record(r);
        if (checkpoint_due(r)) checkpoint(r);
    }
}

// The least and the most of all ranks.
static json_t *range(over_ranks *r, double value) {
    double both[] = {-value, value};
    r->comm->highest(r->comm, both, 2);
    return json_pack("[f, f]", -both[0], both[1]);
}

static json_t *about_ranks(over_ranks *r) {
    th_rank_state state;
    struct rusage used;
    th_world_rank_state(r->world, &state);
    getrusage(RUSAGE_SELF, &used);
    double steps = (double)th_world_step_count(r->world);
    steps = steps > 0 ? steps : 1;
    json_t *about = json_object();
    json_object_set_new(about, "ranks", json_integer(r->comm->size));
    json_object_set_new(about, "halo", json_real((double)state.halo));
    json_object_set_new(about, "shared_out", json_integer((json_int_t)state.moves));
    json_object_set_new(about, "people", range(r, state.own));
    json_object_set_new(about, "copies", range(r, state.copies));
    json_object_set_new(about, "bytes_per_step", range(r, (double)state.bytes / steps));
    json_object_set_new(about, "messages_per_step", range(r, (double)state.messages / steps));
    json_object_set_new(about, "world_bytes", range(r, (double)state.memory));
    json_object_set_new(about, "resident_bytes", range(r, 1024.0 * (double)used.ru_maxrss));
    json_object_set_new(
        about, "processor_seconds",
        range(r, (double)used.ru_utime.tv_sec + 1e-6 * (double)used.ru_utime.tv_usec));
    return about;
}

static json_t *summary(over_ranks *r, double seconds) {
    char hash[17];
    const th_scene_view *scene = th_scene_view_of(r->scene);
    json_t *all = json_object(), *exits = json_object(), *ranks = about_ranks(r);
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)th_world_hash(r->world));
    th_statistics s = th_world_statistics(r->world);
    json_object_set_new(all, "scene", json_string(scene->name));
    json_object_set_new(all, "seed", json_integer((json_int_t)th_world_seed(r->world)));
    json_object_set_new(all, "hash", json_string(hash));
    json_object_set_new(all, "time", json_real(s.time));
    json_object_set_new(all, "steps", json_integer((json_int_t)s.steps));
    json_object_set_new(all, "spawned", json_integer((json_int_t)s.spawned));
    json_object_set_new(all, "inside", json_integer((json_int_t)s.inside));
    json_object_set_new(all, "left", json_integer((json_int_t)s.left));
    json_object_set_new(all, "last_left_time", json_real(s.last_left_time));
    json_object_set_new(all, "wall_crossings", json_integer((json_int_t)s.wall_crossings));
    json_object_set_new(all, "deepest_overlap", json_real((double)s.deepest_overlap));
    for (int g = 0; g < scene->goal_count; ++g) {
        th_exit_count exit = th_world_exit(r->world, g);
        if (scene->goals[g].kind == TH_GOAL_EXIT)
            json_object_set_new(exits, exit.id,
                                json_pack("{s:I, s:f, s:f}", "left", (json_int_t)exit.left, "first",
                                          exit.first_time, "last", exit.last_time));
    }
    json_object_set_new(all, "exits", exits);
    json_object_set_new(all, "ranks", ranks);
    json_object_set_new(all, "wall_seconds", json_real(seconds));
    return all;
}

static int write_summary(over_ranks *r, const json_t *all) {
    char *text = json_dumps(all, JSON_INDENT(2) | JSON_REAL_PRECISION(10));
    if (!text) return TH_EXIT_FAILED;
    th_error error = {0};
    if (r->out) {
        char path[TH_PATH_MAX];
        path_in(r, path, "counts.csv");
        error.code = th_file_replace(path, r->counts.bytes, r->counts.used, TH_FLUSHED, &error);
        path_in(r, path, "ranks.json");
        if (error.code == TH_OK)
            error.code = th_file_replace(path, text, strlen(text), TH_FLUSHED, &error);
    }
    if (r->def->json)
        puts(text);
    else
        printf("%s: %lld people left, %lld inside after %g s, over %d ranks\nhash %s\n",
               json_string_value(json_object_get(all, "scene")),
               (long long)json_integer_value(json_object_get(all, "left")),
               (long long)json_integer_value(json_object_get(all, "inside")),
               json_real_value(json_object_get(all, "time")), r->comm->size,
               json_string_value(json_object_get(all, "hash")));
    free(text);
    return error.code == TH_OK ? TH_EXIT_OK : th_report_failure(r->out, &error);
}

static int run(over_ranks *r) {
    int code = start(r);
    if (code != TH_EXIT_OK) return code;
    double began = th_monotonic_seconds();
    step_to_end(r);
    json_t *all = summary(r, th_monotonic_seconds() - began);
    if (is_first(r)) code = write_summary(r, all);
    json_decref(all);
    int recorded = end_recording(r);
    return agreed(r, code == TH_EXIT_OK ? recorded : code);
}

static int end(over_ranks *r, int code) {
    th_world_destroy(r->world);
    th_scene_destroy(r->scene);
    json_decref(r->about);
    free(r->counts.bytes);
    if (r->end) r->end(r->comm);
    return code;
}

int th_run_over_ranks(const th_command *command, const th_ranks_def *def) {
    over_ranks r = {.command = command,
                    .def = def,
                    .out = def->out,
                    .record = def->record,
                    .fps = def->fps,
                    .checkpoint_every = def->checkpoint};
    if (def->checkpoint > 0 && !def->out) {
        th_complain(command, "--checkpoint needs --out DIR over ranks");
        return TH_EXIT_USAGE;
    }
    int code = load_mpi(&r);
    return code == TH_EXIT_OK ? end(&r, run(&r)) : code;
}

int th_resume_over_ranks(const th_command *command, const char *folder, const th_ranks_def *def) {
    over_ranks r = {.command = command, .def = def, .out = folder};
    int code = load_mpi(&r);
    char path[TH_PATH_MAX];
    path_in(&r, path, "ranks.json");
    if (code == TH_EXIT_OK && agreed(&r, access(path, F_OK) == 0)) {
        if (is_first(&r)) printf("%s: the run is finished; see %s\n", folder, path);
        return end(&r, TH_EXIT_OK);
    }
    return code == TH_EXIT_OK ? end(&r, run(&r)) : code;
}
