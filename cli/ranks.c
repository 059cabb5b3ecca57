// throng run under mpirun: every rank steps its part of the crowd and records it; the first one writes down what all counted,
// and makes one recording of their parts. SPDX-License-Identifier: Apache-2.0
#include "cli/ranks.h"
#include "core/file.h"
#include "core/system/system.h"
#include "throng/live.h"
#include "throng/mpi.h"
#include "throng/record.h"
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifndef _WIN32
#include <sys/resource.h>
#endif

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
    th_file_writer counts; // of the first rank
    double end_time;
    bool until_empty;
} over_ranks;

// ---- the library

static int no_mpi(over_ranks *r, const char *why) {
    th_complain(r->command,
                "mpirun has started several processes, and %s cannot be loaded (%s); build throng "
                "where MPI is installed, or start it without mpirun",
                TH_MPI_LIBRARY, why);
    return TH_EXIT_FAILED;
}

static int load_mpi(over_ranks *r) {
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
    snprintf(path, TH_PATH_MAX, "%s/%s", r->def->out, name);
}

static const char *suffix_of(th_trajectory_format format) {
    static const char *const suffixes[] = {
#define X(NAME, name, suffix, doc) suffix,
        TH_TRAJECTORY_FORMATS(X)
#undef X
    };
    return suffixes[format];
}

static void part_path(const over_ranks *r, int rank, char *path) {
    char name[64];
    snprintf(name, sizeof name, "trajectory.rank%d.%s", rank, suffix_of(r->format));
    path_in(r, path, name);
}

static int make_folder(over_ranks *r) {
    if (!is_first(r) || !r->def->out) return TH_EXIT_OK;
    if (mkdir(r->def->out, 0777) == 0) return TH_EXIT_OK;
    th_complain(r->command, "--out %s: %s; give a folder that is not there yet", r->def->out,
                strerror(errno));
    return TH_EXIT_FAILED;
}

static int begin_counts(over_ranks *r) {
    if (!is_first(r) || !r->def->out) return TH_EXIT_OK;
    th_file_begin(&r->counts, r->def->out, "counts.csv");
    if (!r->counts.file) {
        th_error error = {0};
        error.code = th_file_end(&r->counts, TH_FLUSHED, &error);
        return th_report_failure(r->def->out, &error);
    }
    const th_scene_view *scene = th_scene_view_of(r->scene);
    fputs("time,inside,left,removed,waiting_to_enter", r->counts.file);
    for (int g = 0; g < scene->goal_count; ++g)
        if (scene->goals[g].kind == TH_GOAL_EXIT)
            fprintf(r->counts.file, ",%s", scene->goals[g].id);
    fputc('\n', r->counts.file);
    return TH_EXIT_OK;
}

static void add_counts(over_ranks *r) {
    th_statistics now = th_world_counts(r->world);
    if (!r->counts.file) return;
    const th_scene_view *scene = th_scene_view_of(r->scene);
    fprintf(r->counts.file, "%.10g,%llu,%llu,%llu,%llu", now.time, (unsigned long long)now.inside,
            (unsigned long long)now.left, (unsigned long long)now.removed,
            (unsigned long long)now.waiting_to_enter);
    for (int g = 0; g < scene->goal_count; ++g)
        if (scene->goals[g].kind == TH_GOAL_EXIT)
            fprintf(r->counts.file, ",%llu", (unsigned long long)th_world_exit(r->world, g).left);
    fputc('\n', r->counts.file);
}

// ---- recordings: one file of each rank, made one in the end

static int begin_recording(over_ranks *r) {
    const char *wanted = r->def->record;
    int format = 0;
    if (!wanted || strcmp(wanted, "none") == 0) return TH_EXIT_OK;
    while (format < TH_TRAJECTORY_FORMAT_COUNT &&
           strcmp(wanted, th_trajectory_format_name((th_trajectory_format)format)) != 0)
        ++format;
    if (format == TH_TRAJECTORY_FORMAT_COUNT || format == TH_TRAJECTORY_HDF5 ||
        format == TH_TRAJECTORY_CSV || !r->def->out) {
        th_complain(r->command,
                    r->def->out ? "--record %s: give sqlite, compact or text"
                                : "--record %s needs --out DIR over ranks",
                    wanted);
        return TH_EXIT_USAGE;
    }
    char path[TH_PATH_MAX];
    th_error error = {0};
    th_recorder_def recorder = th_recorder_def_default();
    r->format = (th_trajectory_format)format;
    part_path(r, r->comm->rank, path);
    recorder.path = path;
    recorder.format = r->format;
    if (r->def->fps > 0) recorder.fps = r->def->fps;
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

static th_result merge_frames(th_trajectory **parts, int count, th_trajectory_writer *writer,
                              th_error *error) {
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
        if (result != TH_OK || moments[0].count < 0) break;
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

static int merge_recordings(over_ranks *r) {
    int count = r->comm->size;
    char path[TH_PATH_MAX], name[64];
    th_error error = {0};
    th_trajectory **parts = calloc((size_t)count, sizeof *parts);
    th_trajectory_writer *writer = NULL;
    th_result result = parts ? TH_OK : TH_NO_MEMORY;
    for (int p = 0; p < count && result == TH_OK; ++p) {
        part_path(r, p, path);
        result = th_trajectory_open(path, &parts[p], &error);
    }
    snprintf(name, sizeof name, "trajectory.%s", suffix_of(r->format));
    path_in(r, path, name);
    if (result == TH_OK)
        result = th_trajectory_writer_create(path, th_trajectory_about(parts[0]), &writer, &error);
    if (result == TH_OK) result = merge_frames(parts, count, writer, &error);
    th_error closing = {0};
    closing.code = th_trajectory_writer_close(writer, &closing);
    if (result == TH_OK && closing.code != TH_OK) {
        result = closing.code;
        error = closing;
    }
    for (int p = 0; parts && p < count; ++p) {
        th_trajectory_close(parts[p]);
        part_path(r, p, path);
        if (result == TH_OK) unlink(path);
    }
    free(parts);
    error.code = result;
    return result == TH_OK ? TH_EXIT_OK : th_report_failure(r->def->out, &error);
}

static int end_recording(over_ranks *r) {
    th_error error = {0};
    if (!r->recorder) return TH_EXIT_OK;
    error.code = th_recorder_close(r->recorder, NULL, &error);
    int code = error.code == TH_OK ? TH_EXIT_OK : th_report_failure(r->def->out, &error);
    code = agreed(r, code); // all parts are there
    return code == TH_EXIT_OK && is_first(r) ? merge_recordings(r) : code;
}

// ---- the run

static int start(over_ranks *r) {
    const th_ranks_def *def = r->def;
    int code = th_load_scene(def->scene, def->overrides, def->allow_links, &r->scene);
    code = agreed(r, code);
    if (code != TH_EXIT_OK) return code;
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
    if (error.code != TH_OK) {
        code = is_first(r) ? th_report_error(def->scene, &error) : TH_EXIT_SCENE;
        return agreed(r, code);
    }
    code = agreed(r, make_folder(r));
    if (code == TH_EXIT_OK) code = agreed(r, begin_recording(r));
    if (code == TH_EXIT_OK) code = agreed(r, begin_counts(r));
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
    add_counts(r);
    record(r);
    while (th_world_time(r->world) < r->end_time - 0.5 * step) {
        if (r->until_empty && th_world_done(r->world)) break;
        th_world_step(r->world, 1);
        if (th_world_step_count(r->world) % per_second == 0) add_counts(r);
        record(r);
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
    if (r->def->out) {
        char path[TH_PATH_MAX];
        path_in(r, path, "ranks.json");
        error.code = th_file_replace(path, text, strlen(text), TH_FLUSHED, &error);
        if (error.code == TH_OK) error.code = th_file_end(&r->counts, TH_FLUSHED, &error);
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
    return error.code == TH_OK ? TH_EXIT_OK : th_report_failure(r->def->out, &error);
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

int th_run_over_ranks(const th_command *command, const th_ranks_def *def) {
    over_ranks r = {.command = command, .def = def};
    int code = load_mpi(&r);
    if (code != TH_EXIT_OK) return code;
    code = run(&r);
    th_world_destroy(r.world);
    th_scene_destroy(r.scene);
    r.end(r.comm);
    return code;
}
