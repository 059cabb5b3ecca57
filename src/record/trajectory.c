// Trajectories of any format: chooses the backend and keeps the rules that all formats share.
// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/file.h"
#include "core/memory.h"
#include "record/backend.h"
#include "throng/record.h"
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Asked in this order; text comes last, as it takes anything readable.
static const th_trajectory_backend *const backends[] = {
    &th_sqlite_backend,
    &th_hdf5_backend,
    &th_text_backend,
};
enum { BACKEND_COUNT = sizeof backends / sizeof backends[0] };

static const th_trajectory_backend *backend_of(th_trajectory_format format) {
    switch (format) {
    case TH_TRAJECTORY_SQLITE:
    case TH_TRAJECTORY_COMPACT: return &th_sqlite_backend;
    case TH_TRAJECTORY_CSV:
    case TH_TRAJECTORY_TEXT: return &th_text_backend;
    case TH_TRAJECTORY_HDF5: return &th_hdf5_backend;
    default: return NULL;
    }
}

th_result th_trajectory_fail(th_error *error, th_result code, const char *path, const char *format,
                             ...) {
    if (!error) return code;
    char message[sizeof error->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    // A path too long for the error keeps its end: that is where the name is.
    size_t length = strlen(path), room = sizeof error->file - 1;
    snprintf(error->file, sizeof error->file, "%s", length > room ? path + length - room : path);
    error->line = error->column = 0;
    return th_fail(error, code, NULL, "%s", message);
}

static th_result take_path(char *to, size_t size, const char *path, th_error *error) {
    if (!path || !path[0])
        return th_fail(error, TH_BAD_ARGUMENT, NULL, "no file named; give the path of one");
    if (strlen(path) >= size)
        return th_trajectory_fail(error, TH_BAD_ARGUMENT, path,
                                  "the path has more than %zu characters; choose a shorter one",
                                  size - 1);
    memcpy(to, path, strlen(path) + 1);
    return TH_OK;
}

// ---- reading

static th_result read_head(const char *path, unsigned char *head, size_t *size, th_error *error) {
    struct stat about;
    if (stat(path, &about) != 0)
        return th_trajectory_fail(error, TH_NO_FILE, path, "cannot be opened: %s", strerror(errno));
    if (S_ISDIR(about.st_mode))
        return th_trajectory_fail(error, TH_NO_FILE, path,
                                  "is a folder; name the trajectory file in it");
    // A pipe would block, a device never ends.
    th_error why = {0};
    if (th_file_check_plain(path, &why) != TH_OK)
        return th_trajectory_fail(error, TH_NO_FILE, path, "%s", why.message);
    FILE *file = fopen(path, "rb");
    if (!file)
        return th_trajectory_fail(error, TH_NO_FILE, path, "cannot be opened: %s", strerror(errno));
    *size = fread(head, 1, TH_RECOGNISE_BYTES, file);
    bool failed = ferror(file) != 0;
    fclose(file);
    if (failed) return th_trajectory_fail(error, TH_NO_FILE, path, "cannot be read");
    if (*size == 0)
        return th_trajectory_fail(error, TH_NO_FILE, path,
                                  "is empty; a trajectory has at least a header");
    return TH_OK;
}

static th_result recognise(const char *path, const th_trajectory_backend **backend,
                           th_error *error) {
    unsigned char head[TH_RECOGNISE_BYTES];
    size_t size = 0;
    th_result result = read_head(path, head, &size, error);
    if (result != TH_OK) return result;
    for (int i = 0; i < BACKEND_COUNT; ++i)
        if (backends[i]->recognise(head, size)) {
            *backend = backends[i];
            return TH_OK;
        }
    return th_trajectory_fail(
        error, TH_NO_FILE, path,
        "is not a trajectory; those are JuPedSim's SQLite, the Pedestrian "
        "Dynamics Data Archive's HDF5, CSV, and text with rows id frame x y z");
}

// Checks a header that is written or read: `fault` is TH_BAD_ARGUMENT or TH_NO_FILE.
static th_result check_numbers(const char *path, const th_trajectory_info *info, th_result fault,
                               th_error *error) {
    if (!(info->fps >= TH_FPS_LEAST && info->fps <= TH_FPS_MAX))
        return th_trajectory_fail(error, fault, path, "%g frames per second; give %g to %g",
                                  info->fps, TH_FPS_LEAST, TH_FPS_MAX);
    for (int l = 0; info->levels && l < info->level_count; ++l)
        if (!(fabs(info->levels[l].z) <= TH_FARTHEST))
            return th_trajectory_fail(error, fault, path,
                                      "level %d lies at a height of %g m; give at most %g", l,
                                      info->levels[l].z, TH_FARTHEST);
    return TH_OK;
}

th_result th_trajectory_open_assuming(const char *path, th_trajectory_assumed assumed,
                                      th_trajectory **trajectory, th_error *error) {
    *trajectory = NULL;
    th_trajectory *opened = calloc(1, sizeof *opened);
    if (!opened) return th_fail(error, TH_NO_MEMORY, NULL, "no memory for a trajectory");
    opened->assumed = assumed;
    opened->last_frame = -1;
    opened->kept = th_arena_of(NULL);
    th_result result = take_path(opened->path, sizeof opened->path, path, error);
    if (result == TH_OK) result = recognise(path, &opened->backend, error);
    if (result == TH_OK) result = opened->backend->open(opened, path, error);
    if (result == TH_OK) result = check_numbers(path, &opened->info, TH_NO_FILE, error);
    if (result != TH_OK) {
        th_trajectory_close(opened);
        return result;
    }
    *trajectory = opened;
    return TH_OK;
}

th_result th_trajectory_open(const char *path, th_trajectory **trajectory, th_error *error) {
    return th_trajectory_open_assuming(path, (th_trajectory_assumed){0}, trajectory, error);
}

const th_trajectory_info *th_trajectory_about(const th_trajectory *trajectory) {
    return &trajectory->info;
}

// The rules that hold for every frame, written or read: `fault` is TH_BAD_ARGUMENT or TH_NO_FILE.
static th_result check_frame(const char *path, const th_trajectory_info *info, int64_t last,
                             const th_moment *frame, th_result fault, th_error *error) {
    long long number = (long long)frame->number;
    if (frame->number <= last || frame->number < 0)
        return th_trajectory_fail(error, fault, path,
                                  "frame %lld after frame %lld; frames come in ascending order",
                                  number, (long long)last);
    int levels = info->level_count > 0 ? info->level_count : 1;
    for (int i = 0; i < frame->count; ++i) {
        long long id = (long long)frame->id[i];
        if (i > 0 && frame->id[i] <= frame->id[i - 1])
            return th_trajectory_fail(error, fault, path,
                                      "frame %lld: id %lld after id %lld; ids must ascend", number,
                                      id, (long long)frame->id[i - 1]);
        if (!(fabs(frame->x[i]) <= TH_FARTHEST && fabs(frame->y[i]) <= TH_FARTHEST))
            return th_trajectory_fail(error, fault, path,
                                      "frame %lld: person %lld stands nowhere (%g, %g); positions "
                                      "are in metres and at most %g",
                                      number, id, frame->x[i], frame->y[i], TH_FARTHEST);
        if (frame->level && (frame->level[i] < 0 || frame->level[i] >= levels))
            return th_trajectory_fail(error, fault, path,
                                      "frame %lld: person %lld is on level %d of %d", number, id,
                                      (int)frame->level[i], levels);
    }
    return TH_OK;
}

static th_result damaged(const th_trajectory *t, th_error *error) {
    return th_trajectory_fail(
        error, TH_NO_FILE, t->path,
        "is damaged: it has %lld rows in %lld frames and says %lld rows in %lld frames, %lld to "
        "%lld; restore it from a copy",
        (long long)t->rows, (long long)t->frames, (long long)t->info.row_count,
        (long long)t->info.frame_count, (long long)t->info.first_frame,
        (long long)t->info.last_frame);
}

th_result th_trajectory_next(th_trajectory *t, th_moment *frame, th_error *error) {
    const th_trajectory_info *info = &t->info;
    th_result result = t->backend->next(t, frame, error);
    if (result == TH_OK && frame->count < 0) {
        bool whole = t->frames == info->frame_count && t->rows == info->row_count;
        return whole || t->skipped ? TH_OK : damaged(t, error);
    }
    if (result == TH_OK)
        result = check_frame(t->path, info, t->last_frame, frame, TH_NO_FILE, error);
    t->skipped = t->skipped || result != TH_OK;
    if (result != TH_OK) return result;
    t->last_frame = frame->number;
    t->frames++;
    t->rows += frame->count;
    if (frame->number < info->first_frame || frame->number > info->last_frame ||
        t->rows > info->row_count)
        return damaged(t, error);
    frame->time = (double)frame->number / info->fps;
    return TH_OK;
}

void th_trajectory_rewind(th_trajectory *t) {
    t->last_frame = -1;
    t->frames = t->rows = 0;
    t->skipped = false;
    t->backend->rewind(t);
}

void th_trajectory_close(th_trajectory *trajectory) {
    if (!trajectory) return;
    if (trajectory->backend) trajectory->backend->close(trajectory);
    th_arena_release(&trajectory->kept);
    free(trajectory);
}

// ---- writing

static th_result check_info(const char *path, const th_trajectory_info *info, th_error *error) {
    if (!backend_of(info->format))
        return th_trajectory_fail(error, TH_BAD_ARGUMENT, path, "unknown trajectory format %d",
                                  (int)info->format);
    th_result result = check_numbers(path, info, TH_BAD_ARGUMENT, error);
    if (result != TH_OK) return result;
    bool lists = info->level_count >= 0 && info->note_count >= 0 &&
                 (info->levels || info->level_count == 0) && (info->notes || info->note_count == 0);
    for (int i = 0; lists && i < info->level_count; ++i) lists = info->levels[i].id != NULL;
    for (int i = 0; lists && i < info->note_count; ++i)
        lists = info->notes[i].key && info->notes[i].value;
    if (!lists)
        return th_trajectory_fail(error, TH_BAD_ARGUMENT, path,
                                  "a level lacks its id, or a note its key or value");
    return TH_OK;
}

// Frees a writer whose backend has finished.
static void free_writer(th_trajectory_writer *writer) {
    th_arena_release(&writer->kept);
    free(writer);
}

static th_result make_writer(const char *path, th_trajectory_writer **writer, th_error *error) {
    *writer = NULL;
    th_trajectory_writer *made = calloc(1, sizeof *made);
    if (!made) return th_fail(error, TH_NO_MEMORY, NULL, "no memory for a trajectory writer");
    made->last_frame = -1;
    made->kept = th_arena_of(NULL);
    th_result result = take_path(made->path, sizeof made->path, path, error);
    if (result != TH_OK) {
        free_writer(made);
        return result;
    }
    *writer = made;
    return TH_OK;
}

// Files that a database may have left beside its own.
static void remove_beside(const char *path) {
    static const char *const endings[] = {"-wal", "-shm", "-journal"};
    char name[1024 + 16];
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; ++i) {
        snprintf(name, sizeof name, "%s%s", path, endings[i]);
        unlink(name);
    }
}

void th_trajectory_remove(const char *path) {
    unlink(path);
    remove_beside(path);
}

th_result th_trajectory_writer_create(const char *path, const th_trajectory_info *info,
                                      th_trajectory_writer **writer, th_error *error) {
    th_trajectory_writer *made = NULL;
    th_result result = make_writer(path, &made, error);
    *writer = NULL;
    if (result != TH_OK) return result;
    result = check_info(path, info, error);
    struct stat about;
    if (result == TH_OK && lstat(path, &about) == 0)
        result = th_trajectory_fail(error, TH_NO_FILE, path,
                                    "is there already and is not overwritten; choose another name "
                                    "or remove it");
    if (result == TH_OK && !th_keep_info(&made->kept, &made->info, info))
        result = th_trajectory_fail(error, TH_NO_MEMORY, path, "no memory for the header");
    if (result != TH_OK) {
        free_writer(made);
        return result;
    }
    made->backend = backend_of(info->format);
    result = made->backend->create(made, path, error);
    if (result != TH_OK) {
        made->backend->finish(made, NULL);
        free_writer(made);
        th_trajectory_remove(path);
        return result;
    }
    *writer = made;
    return TH_OK;
}

th_result th_trajectory_writer_append(const char *path, int64_t frame,
                                      th_trajectory_writer **writer, th_error *error) {
    th_trajectory_writer *made = NULL;
    th_result result = make_writer(path, &made, error);
    *writer = NULL;
    if (result != TH_OK) return result;
    result = recognise(path, &made->backend, error);
    if (result == TH_OK && !made->backend->append)
        result = th_trajectory_fail(error, TH_BAD_ARGUMENT, path,
                                    "this format cannot be continued; record as sqlite or text");
    if (result == TH_OK) {
        result = made->backend->append(made, path, frame, error);
        if (result != TH_OK) made->backend->finish(made, NULL);
    }
    if (result != TH_OK) {
        free_writer(made);
        return result;
    }
    made->last_frame = frame - 1; // what follows begins at `frame`
    *writer = made;
    return TH_OK;
}

th_result th_trajectory_write(th_trajectory_writer *writer, const th_moment *frame,
                              th_error *error) {
    th_result result =
        check_frame(writer->path, &writer->info, writer->last_frame, frame, TH_BAD_ARGUMENT, error);
    if (result == TH_OK) result = writer->backend->write(writer, frame, error);
    if (result == TH_OK) writer->last_frame = frame->number;
    return result;
}

th_result th_trajectory_writer_close(th_trajectory_writer *writer, th_error *error) {
    if (!writer) return TH_OK;
    th_result result = writer->backend->finish(writer, error);
    free_writer(writer);
    return result;
}

// ---- converting

#define LEFT "nothing is left of it"

static th_result copy_frames(th_trajectory *from, th_trajectory_writer *writer, th_convert_fn *seen,
                             void *context, th_error *error) {
    double rows = 0, all = from->info.row_count > 0 ? (double)from->info.row_count : 1;
    for (;;) {
        th_moment frame;
        th_result result = th_trajectory_next(from, &frame, error);
        if (result != TH_OK || frame.count < 0) return result;
        result = th_trajectory_write(writer, &frame, error);
        if (result != TH_OK) return result;
        rows += frame.count;
        if (seen && !seen(rows / all, context))
            return th_trajectory_fail(error, TH_NO_FILE, writer->path,
                                      "the conversion was stopped; " LEFT);
    }
}

// Names the file in an error by its final name, as the user knows it.
static void name_target(th_error *error, const char *part, const char *to) {
    size_t length = strlen(part), room = sizeof error->file - 1;
    if (!error || strcmp(error->file, length > room ? part + length - room : part) != 0) return;
    snprintf(error->file, sizeof error->file, "%s", to);
    char *kept = strstr(error->message, TH_FRAMES_KEPT);
    if (kept) *kept = '\0';
    if (strstr(error->message, LEFT)) return;
    size_t used = strlen(error->message);
    snprintf(error->message + used, sizeof error->message - used, "; %s", LEFT);
}

static th_result take_place(const char *part, const char *to, bool replace, th_error *error) {
    struct stat about;
    if (!replace && lstat(to, &about) == 0) // made by another process meanwhile
        return th_trajectory_fail(error, TH_NO_FILE, to, "is there already and is not overwritten");
    remove_beside(to); // else a database's old log would be read as the new one's
    if (rename(part, to) != 0)
        return th_trajectory_fail(error, TH_NO_FILE, to, "cannot be written: %s", strerror(errno));
    return TH_OK;
}

th_result th_trajectory_copy(th_trajectory *from, const char *to, th_trajectory_format format,
                             bool replace, th_convert_fn *seen, void *context, th_error *error) {
    char part[1024];
    th_result result = take_path(part, sizeof part - 32, to, error);
    if (result != TH_OK) return result;
    struct stat about;
    if (!replace && lstat(to, &about) == 0)
        return th_trajectory_fail(error, TH_NO_FILE, to,
                                  "is there already and is not overwritten; choose another name "
                                  "or remove it");
    snprintf(part + strlen(part), 32, ".part-%ld", (long)getpid());
    th_trajectory_info info = from->info;
    info.format = format;
    info.quantum = 0; // the new format's own
    th_trajectory_writer *writer = NULL;
    result = th_trajectory_writer_create(part, &info, &writer, error);
    if (result == TH_OK) {
        th_trajectory_rewind(from);
        result = copy_frames(from, writer, seen, context, error);
        th_result finished = th_trajectory_writer_close(writer, result == TH_OK ? error : NULL);
        if (result == TH_OK) result = finished;
        if (result == TH_OK) result = take_place(part, to, replace, error);
        if (result != TH_OK) th_trajectory_remove(part);
    }
    if (result != TH_OK) name_target(error, part, to);
    return result;
}

th_result th_trajectory_convert(const char *from, const char *to, th_trajectory_format format,
                                th_convert_fn *seen, void *context, th_error *error) {
    th_trajectory *trajectory = NULL;
    th_result result = th_trajectory_open(from, &trajectory, error);
    if (result == TH_OK)
        result = th_trajectory_copy(trajectory, to, format, false, seen, context, error);
    th_trajectory_close(trajectory);
    return result;
}

// ---- what trajectories and writers keep; names and numbers as text

static bool keep_optional(th_arena *kept, const char **text) {
    if (*text) *text = th_arena_string(kept, *text);
    return *text != NULL;
}

bool th_keep_info(th_arena *kept, th_trajectory_info *to, const th_trajectory_info *from) {
    th_trajectory_info copy = *from;
    size_t level_count = (size_t)from->level_count, note_count = (size_t)from->note_count;
    th_trajectory_level *levels = th_arena_alloc(kept, level_count, sizeof *levels);
    th_trajectory_note *notes = th_arena_alloc(kept, note_count, sizeof *notes);
    if (!levels || !notes) return false;
    for (size_t i = 0; i < level_count; ++i) {
        levels[i] = from->levels[i];
        if (!keep_optional(kept, &levels[i].id)) return false;
        if (levels[i].wkt && !keep_optional(kept, &levels[i].wkt)) return false;
    }
    for (size_t i = 0; i < note_count; ++i) {
        notes[i] = from->notes[i];
        if (!keep_optional(kept, &notes[i].key) || !keep_optional(kept, &notes[i].value))
            return false;
    }
    copy.levels = levels;
    copy.notes = notes;
    *to = copy;
    return true;
}

void th_exact_text(char text[TH_NUMBER_TEXT], double value) {
    // As many digits as the whole part has, else %g turns 10 into 1e+01; 17 are always enough.
    double size = fabs(value);
    int digits = size >= 10 && size < 1e15 ? (int)log10(size) + 1 : 1;
    for (; digits <= 17; ++digits) {
        snprintf(text, TH_NUMBER_TEXT, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    char *comma = strchr(text, ',');
    if (comma) *comma = '.';
    size_t length = strlen(text);
    if (!strpbrk(text, ".en")) // e: exponent, n: inf and nan
        snprintf(text + length, TH_NUMBER_TEXT - length, ".0");
}

const char *th_trajectory_format_name(th_trajectory_format format) {
    static const char *const names[] = {
#define X(NAME, name, suffix, doc) #name,
        TH_TRAJECTORY_FORMATS(X)
#undef X
    };
    return (unsigned)format < TH_TRAJECTORY_FORMAT_COUNT ? names[format] : "unknown";
}

// ---- a whole trajectory in memory, sorted into frames: for formats whose rows come in any order. 56 bytes per row

bool th_row_table_add(th_row_table *table, th_row row) {
    if (!TH_RESERVE(table->rows, table->capacity, table->count + 1)) return false;
    table->rows[table->count++] = row;
    return true;
}

bool th_row_table_add_empty(th_row_table *table, int64_t frame) {
    if (!TH_RESERVE(table->empty, table->empty_capacity, table->empty_count + 1)) return false;
    table->empty[table->empty_count++] = frame;
    return true;
}

static int compare_rows(const void *a, const void *b) {
    const th_row *p = a, *q = b;
    if (p->frame != q->frame) return p->frame < q->frame ? -1 : 1;
    return (p->id > q->id) - (p->id < q->id);
}

// Ours and JuPedSim's come in order already; the archive's go person by person.
static void sort_rows(th_row_table *table) {
    for (int64_t i = 1; i < table->count; ++i)
        if (compare_rows(&table->rows[i - 1], &table->rows[i]) > 0) {
            qsort(table->rows, (size_t)table->count, sizeof *table->rows, compare_rows);
            return;
        }
}

static int compare_numbers(const void *a, const void *b) {
    int64_t p = *(const int64_t *)a, q = *(const int64_t *)b;
    return (p > q) - (p < q);
}

// Ascending, each once, and none with a row in it.
static void sort_empty(th_row_table *table) {
    if (table->empty_count == 0) return;
    qsort(table->empty, (size_t)table->empty_count, sizeof *table->empty, compare_numbers);
    int64_t kept = 0, row = 0;
    for (int64_t i = 0; i < table->empty_count; ++i) {
        int64_t frame = table->empty[i];
        while (row < table->count && table->rows[row].frame < frame) ++row;
        bool peopled = row < table->count && table->rows[row].frame == frame;
        if (!peopled && (kept == 0 || table->empty[kept - 1] != frame))
            table->empty[kept++] = frame;
    }
    table->empty_count = kept;
}

// Counts different ids with a hash set of at most half its places taken. -1: no memory.
typedef struct id_set {
    int64_t *ids;
    bool *taken;
    size_t size, count; // size: power of two
} id_set;

static size_t place_of(const id_set *set, int64_t id) {
    // Knuth's multiplicative hash: 2^64 divided by the golden ratio.
    size_t at = (size_t)(((uint64_t)id * 0x9e3779b97f4a7c15u) >> 20) & (set->size - 1);
    while (set->taken[at] && set->ids[at] != id) at = (at + 1) & (set->size - 1);
    return at;
}

static bool grow_set(id_set *set) {
    id_set larger = {.size = set->size ? 2 * set->size : 1024, .count = set->count};
    larger.ids = malloc(larger.size * sizeof *larger.ids);
    larger.taken = calloc(larger.size, sizeof *larger.taken);
    if (!larger.ids || !larger.taken) {
        free(larger.ids);
        free(larger.taken);
        return false;
    }
    for (size_t i = 0; i < set->size; ++i)
        if (set->taken[i]) {
            size_t at = place_of(&larger, set->ids[i]);
            larger.ids[at] = set->ids[i];
            larger.taken[at] = true;
        }
    free(set->ids);
    free(set->taken);
    *set = larger;
    return true;
}

static int64_t count_people(const th_row_table *table) {
    id_set set = {0};
    bool memory = grow_set(&set);
    for (int64_t i = 0; memory && i < table->count; ++i) {
        size_t at = place_of(&set, table->rows[i].id);
        if (set.taken[at]) continue;
        set.ids[at] = table->rows[i].id;
        set.taken[at] = true;
        if (++set.count * 2 > set.size) memory = grow_set(&set);
    }
    free(set.ids);
    free(set.taken);
    return memory ? (int64_t)set.count : -1;
}

static void count_frames(const th_row_table *table, th_trajectory_info *info) {
    const th_row *rows = table->rows;
    int64_t rows_end = table->count, empty_end = table->empty_count;
    info->frame_count = empty_end;
    for (int64_t i = 0; i < rows_end; ++i)
        if (i == 0 || rows[i].frame != rows[i - 1].frame) ++info->frame_count;
    if (rows_end > 0) {
        info->first_frame = rows[0].frame;
        info->last_frame = rows[rows_end - 1].frame;
    }
    if (empty_end > 0 && (rows_end == 0 || table->empty[0] < info->first_frame))
        info->first_frame = table->empty[0];
    if (empty_end > 0 && (rows_end == 0 || table->empty[empty_end - 1] > info->last_frame))
        info->last_frame = table->empty[empty_end - 1];
}

static void find_bounds(const th_row_table *table, th_trajectory_info *info) {
    const th_row *rows = table->rows;
    if (table->count == 0) return;
    info->min_x = info->max_x = rows[0].x;
    info->min_y = info->max_y = rows[0].y;
    for (int64_t i = 1; i < table->count; ++i) {
        if (rows[i].x < info->min_x) info->min_x = rows[i].x;
        if (rows[i].x > info->max_x) info->max_x = rows[i].x;
        if (rows[i].y < info->min_y) info->min_y = rows[i].y;
        if (rows[i].y > info->max_y) info->max_y = rows[i].y;
    }
}

th_result th_row_table_complete(th_row_table *table, th_trajectory_info *info, const char *path,
                                th_error *error) {
    sort_rows(table);
    for (int64_t i = 1; i < table->count; ++i)
        if (compare_rows(&table->rows[i - 1], &table->rows[i]) == 0)
            return th_trajectory_fail(
                error, TH_NO_FILE, path,
                "person %lld is there twice in frame %lld; ids must differ within a frame",
                (long long)table->rows[i].id, (long long)table->rows[i].frame);
    sort_empty(table);
    info->row_count = table->count;
    count_frames(table, info);
    find_bounds(table, info);
    info->agent_count = count_people(table);
    if (info->agent_count < 0)
        return th_trajectory_fail(error, TH_NO_MEMORY, path, "no memory to count the people");
    return TH_OK;
}

// One block for all arrays of a frame, begun by the ids; what was in it is not needed any more.
static bool reserve(th_row_table *table, int count) {
    if (count <= table->frame_capacity) return true;
    int capacity = th_array_capacity_int(table->frame_capacity, count);
    free(table->id);
    table->frame_capacity = 0;
    size_t n = (size_t)capacity;
    table->id = malloc(n * (sizeof *table->id + 4 * sizeof(double) + sizeof *table->level));
    if (!table->id) return false;
    table->x = (double *)(table->id + n);
    table->y = table->x + n;
    table->orientation_x = table->y + n;
    table->orientation_y = table->orientation_x + n;
    table->level = (int32_t *)(table->orientation_y + n);
    table->frame_capacity = capacity;
    return true;
}

th_result th_row_table_next(th_row_table *table, th_moment *frame, const char *path,
                            th_error *error) {
    *frame = (th_moment){.count = -1};
    bool rows_left = table->at < table->count;
    if (table->empty_at < table->empty_count &&
        (!rows_left || table->empty[table->empty_at] < table->rows[table->at].frame)) {
        *frame = (th_moment){.number = table->empty[table->empty_at++]};
        return TH_OK;
    }
    if (!rows_left) return TH_OK;
    const th_row *rows = &table->rows[table->at];
    int64_t count = 0, left = table->count - table->at;
    while (count < left && rows[count].frame == rows[0].frame) ++count;
    if (count > INT_MAX || !reserve(table, (int)count))
        return th_trajectory_fail(error, TH_NO_MEMORY, path, "no memory for a frame of %lld people",
                                  (long long)count);
    for (int64_t i = 0; i < count; ++i) {
        table->id[i] = rows[i].id;
        table->x[i] = rows[i].x;
        table->y[i] = rows[i].y;
        table->orientation_x[i] = rows[i].orientation_x;
        table->orientation_y[i] = rows[i].orientation_y;
        table->level[i] = rows[i].level;
    }
    table->at += count;
    *frame = (th_moment){.number = rows[0].frame,
                         .count = (int)count,
                         .id = table->id,
                         .x = table->x,
                         .y = table->y};
    if (table->has_orientation) {
        frame->orientation_x = table->orientation_x;
        frame->orientation_y = table->orientation_y;
    }
    if (table->has_level) frame->level = table->level;
    return TH_OK;
}

void th_row_table_rewind(th_row_table *table) { table->at = table->empty_at = 0; }

void th_row_table_release(th_row_table *table) {
    free(table->rows);
    free(table->empty);
    free(table->id);
    *table = (th_row_table){0};
}
