// HDF5 trajectories are read by a program of their own, throng-read-hdf5 (reader/read_hdf5.c), and sent through a
// pipe. If a damaged file crashes the HDF5 library or makes it run away, only that program ends, within limits on
// memory and time, and the file is reported as damaged. Started with posix_spawn: a fork of a program with threads
// could not run the library, and would copy a large host's page tables. SPDX-License-Identifier: Apache-2.0
#include "core/system/system.h"
#include "record/hdf5.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// ---- a trajectory through a pipe: numbers as this machine keeps them
// The receiver checks everything: the sender read a file that may have damaged its memory.

static const uint32_t BEGIN = 0x54354854, END = 0x21444e45; // "TH5T", "END!"
enum { BLOCK_ROWS = 4096, TEXT_NONE = -1 };
enum { LEVELS_MOST = 10000, NOTES_MOST = 10000, TEXT_MOST = 1 << 27 };

// ---- sending

typedef struct sender {
    int file;
    bool good;
} sender;

static void put(sender *s, const void *bytes, size_t size) {
    const char *at = bytes;
    while (s->good && size > 0) {
        ssize_t wrote = write(s->file, at, size);
        if (wrote < 0 && errno == EINTR) continue;
        s->good = wrote > 0;
        at += s->good ? wrote : 0;
        size -= s->good ? (size_t)wrote : 0;
    }
}

static void put_number(sender *s, int64_t number) { put(s, &number, sizeof number); }

static void put_text(sender *s, const char *text) {
    put_number(s, text ? (int64_t)strlen(text) : TEXT_NONE);
    if (text) put(s, text, strlen(text));
}

static void put_info(sender *s, const th_trajectory_info *info) {
    put(s, &info->fps, sizeof info->fps);
    put_number(s, info->level_count);
    for (int i = 0; i < info->level_count; ++i) {
        put(s, &info->levels[i].z, sizeof info->levels[i].z);
        put_text(s, info->levels[i].id);
        put_text(s, info->levels[i].wkt);
    }
    put_number(s, info->note_count);
    for (int i = 0; i < info->note_count; ++i) {
        put_text(s, info->notes[i].key);
        put_text(s, info->notes[i].value);
    }
}

static void put_table(sender *s, const th_row_table *table) {
    put_number(s, table->has_orientation);
    put_number(s, table->has_level);
    put_number(s, table->count);
    put(s, table->rows, (size_t)table->count * sizeof *table->rows);
    put_number(s, table->empty_count);
    put(s, table->empty, (size_t)table->empty_count * sizeof *table->empty);
}

bool th_hdf5_send(const char *path, int file) {
    th_trajectory trajectory = {.kept = th_arena_of(NULL)};
    th_row_table table = {0};
    th_error error = {0};
    trajectory.state = &table;
    error.code = th_hdf5_read(&trajectory, path, &error);
    sender s = {file, true};
    put(&s, &BEGIN, sizeof BEGIN);
    put_number(&s, (int64_t)sizeof(th_row));
    put_number(&s, error.code);
    if (error.code != TH_OK) {
        put_text(&s, error.message);
    } else {
        put_info(&s, &trajectory.info);
        put_table(&s, &table);
    }
    put(&s, &END, sizeof END);
    th_row_table_release(&table);
    th_arena_release(&trajectory.kept);
    return s.good;
}

// ---- receiving. Values that do not fit leave channel->complete false.

static bool take(th_hdf5_channel *c, void *bytes, size_t size) {
    char *at = bytes;
    if (c->room < (int64_t)size) return false;
    c->room -= (int64_t)size;
    while (size > 0) {
        double left = c->deadline - th_monotonic_seconds();
        struct pollfd ready = {.fd = c->file, .events = POLLIN};
        int polled = left > 0 ? poll(&ready, 1, (int)(left < 3600 ? 1000 * left + 1 : 3600000)) : 0;
        if (polled < 0 && errno == EINTR) continue;
        c->late = polled == 0;
        ssize_t got = polled > 0 ? read(c->file, at, size) : 0;
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        at += got;
        size -= (size_t)got;
    }
    return true;
}

static bool take_number(th_hdf5_channel *c, int64_t most, int64_t *number) {
    return take(c, number, sizeof *number) && *number >= 0 && *number <= most;
}

// False with c->no_memory where that is the reason.
static bool take_text(th_hdf5_channel *c, th_arena *kept, bool wanted, const char **text) {
    int64_t length = 0;
    *text = NULL;
    if (!take(c, &length, sizeof length)) return false;
    if (length == TEXT_NONE) return !wanted;
    if (length < 0 || length > TEXT_MOST || length > c->room) return false;
    char *made = th_arena_alloc(kept, (size_t)length + 1, 1); // zeroed
    c->no_memory = !made;
    *text = made;
    return made && take(c, made, (size_t)length);
}

static bool take_info(th_hdf5_channel *c, th_trajectory *trajectory) {
    th_trajectory_info *info = &trajectory->info;
    th_arena *kept = &trajectory->kept;
    int64_t count = 0;
    if (!take(c, &info->fps, sizeof info->fps) || !take_number(c, LEVELS_MOST, &count))
        return false;
    th_trajectory_level *levels = th_arena_alloc(kept, (size_t)count + 1, sizeof *levels);
    c->no_memory = !levels;
    info->levels = levels;
    info->level_count = (int)count;
    bool good = levels != NULL;
    for (int i = 0; good && i < (int)count; ++i)
        good = take(c, &levels[i].z, sizeof levels[i].z) &&
               take_text(c, kept, true, &levels[i].id) && take_text(c, kept, false, &levels[i].wkt);
    if (!good || !take_number(c, NOTES_MOST, &count)) return false;
    th_trajectory_note *notes = th_arena_alloc(kept, (size_t)count + 1, sizeof *notes);
    c->no_memory = !notes;
    info->notes = notes;
    info->note_count = (int)count;
    good = notes != NULL;
    for (int i = 0; good && i < (int)count; ++i)
        good = take_text(c, kept, true, &notes[i].key) && take_text(c, kept, true, &notes[i].value);
    return good;
}

static bool take_rows(th_hdf5_channel *c, th_row_table *table, int level_count) {
    static const size_t size = sizeof(th_row);
    int64_t count = 0;
    if (!take_number(c, c->room / (int64_t)size, &count)) return false;
    th_row *block = malloc(BLOCK_ROWS * size);
    c->no_memory = !block;
    bool good = block != NULL;
    for (int64_t at = 0; good && at < count;) {
        int64_t n = count - at < BLOCK_ROWS ? count - at : BLOCK_ROWS;
        good = take(c, block, (size_t)n * size);
        for (int64_t i = 0; good && i < n; ++i) {
            if (!table->has_level) block[i].level = 0;
            good = block[i].frame >= 0 && block[i].level >= 0 &&
                   (block[i].level < level_count || !table->has_level);
            if (!good) break;
            good = th_row_table_add(table, block[i]);
            c->no_memory = !good;
        }
        at += n;
    }
    free(block);
    return good;
}

static bool take_table(th_hdf5_channel *c, th_row_table *table, int level_count) {
    int64_t orientation = 0, level = 0, count = 0;
    if (!take_number(c, 1, &orientation) || !take_number(c, 1, &level)) return false;
    table->has_orientation = orientation != 0;
    table->has_level = level != 0;
    if (!take_rows(c, table, level_count)) return false;
    if (!take_number(c, c->room / (int64_t)sizeof(int64_t), &count)) return false;
    bool good = true;
    for (int64_t i = 0; good && i < count; ++i) {
        int64_t frame = 0;
        good = take_number(c, INT64_MAX, &frame);
        if (!good) break;
        good = th_row_table_add_empty(table, frame);
        c->no_memory = !good;
    }
    return good;
}

static bool take_end(th_hdf5_channel *c) {
    uint32_t end = 0;
    return c->complete = take(c, &end, sizeof end) && end == END;
}

static th_result refuse(th_hdf5_channel *c, const char *path, th_error *error) {
    return th_trajectory_fail(error, c->no_memory ? TH_NO_MEMORY : TH_NO_FILE, path,
                              c->no_memory ? "no memory for its rows" : "is damaged");
}

static th_result repeat_error(th_hdf5_channel *c, th_trajectory *trajectory, int64_t code,
                              th_error *error) {
    const char *text = NULL;
    if (!take_text(c, &trajectory->kept, true, &text) || !take_end(c))
        return refuse(c, trajectory->path, error);
    // Memory within the reader's limits is a matter of the file.
    bool ours = code == TH_BAD_ARGUMENT || code == TH_NO_FILE;
    return th_trajectory_fail(error, TH_NO_FILE, trajectory->path, "%s%s",
                              ours ? "" : "is damaged or far larger than it looks: ", text);
}

static th_result complete(th_trajectory *trajectory, th_error *error) {
    th_trajectory_info *info = &trajectory->info;
    info->format = TH_TRAJECTORY_HDF5;
    if (!(info->fps > 0)) info->fps = trajectory->assumed.fps;
    if (!(info->fps > 0))
        return th_trajectory_fail(
            error, TH_NO_FILE, trajectory->path,
            "says no frame rate: the attribute fps of /trajectory is missing; "
            "name the rate (--fps)");
    return th_row_table_complete(trajectory->state, info, trajectory->path, error);
}

th_result th_hdf5_receive(th_trajectory *trajectory, th_hdf5_channel *c, th_error *error) {
    uint32_t begin = 0;
    int64_t row_size = 0, code = 0;
    bool good = take(c, &begin, sizeof begin) && begin == BEGIN &&
                take_number(c, INT32_MAX, &row_size) && row_size == (int64_t)sizeof(th_row) &&
                take_number(c, INT32_MAX, &code);
    if (good && code != TH_OK) return repeat_error(c, trajectory, code, error);
    good = good && take_info(c, trajectory) &&
           take_table(c, trajectory->state, trajectory->info.level_count) && take_end(c);
    return good ? complete(trajectory, error) : refuse(c, trajectory->path, error);
}

// ---- the child

extern char **environ;

// Far more than an intact file needs: reading takes 0.01 s per MB, and rows are at most twenty times larger than packed.
double th_hdf5_seconds_most(double file_bytes) { return 2 + file_bytes / 1e6; }
double th_hdf5_memory_most(double file_bytes) { return 1e9 + 100 * file_bytes; }
enum { BUSY = 6 }; // seconds of the clock per second of work, on a machine with much else to do

// ---- finding the program

#define READER "throng-read-hdf5"
#ifndef TH_LIBEXEC
#define TH_LIBEXEC "/usr/local/libexec/throng"
#endif

// Where the code in this file lies: a shared library or the program.
static bool own_folder(char *folder, size_t size) {
    Dl_info about = {0};
    char *whole = NULL;
    if (dladdr((const void *)&th_hdf5_backend, &about) != 0 && about.dli_fname &&
        strstr(about.dli_fname, ".so"))
        whole = realpath(about.dli_fname, NULL);
    if (!whole) whole = realpath("/proc/self/exe", NULL);
    if (!whole && about.dli_fname) whole = realpath(about.dli_fname, NULL);
    char *slash = whole ? strrchr(whole, '/') : NULL;
    if (slash) *slash = '\0';
    bool fits = slash && strlen(whole) < size;
    if (fits) memcpy(folder, whole, strlen(whole) + 1);
    free(whole);
    return fits;
}

// Installed beside the libraries, in the build folder, or where the installation was meant to be.
static bool find_reader(char *path, size_t size) {
    static const char *const places[] = {".", "..", "../libexec/throng", "../../libexec/throng"};
    const char *given = getenv("THRONG_HDF5_READER");
    char folder[TH_PATH_MAX];
    if (given) return snprintf(path, size, "%s", given) < (int)size && access(path, X_OK) == 0;
    bool known = own_folder(folder, sizeof folder);
    for (size_t i = 0; known && i < sizeof places / sizeof places[0]; ++i)
        if (snprintf(path, size, "%s/%s/" READER, folder, places[i]) < (int)size &&
            access(path, X_OK) == 0)
            return true;
    return snprintf(path, size, "%s", TH_LIBEXEC "/" READER) < (int)size && access(path, X_OK) == 0;
}

// ---- its life

// A group of its own: Ctrl-C is for the process that waits for it. Default signals, whatever the host has set.
static int spawn(const char *program, const char *path, int out, pid_t *child) {
    char *arguments[] = {(char *)(uintptr_t)program, (char *)(uintptr_t)path, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    if (posix_spawn_file_actions_init(&files) != 0) return ENOMEM;
    if (posix_spawnattr_init(&attributes) != 0) {
        posix_spawn_file_actions_destroy(&files);
        return ENOMEM;
    }
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                              POSIX_SPAWN_SETPGROUP);
    int failed = posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    if (!failed) failed = posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    if (!failed) failed = posix_spawn_file_actions_adddup2(&files, out, 1);
    if (!failed) failed = posix_spawn(child, program, &files, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return failed;
}

static th_result start(const char *path, int *in, pid_t *child, th_error *error) {
    char program[TH_PATH_MAX];
    int ends[2];
    if (!find_reader(program, sizeof program))
        return th_trajectory_fail(error, TH_NO_FILE, path,
                                  "cannot be read: the program " READER " is missing, which reads "
                                  "HDF5; install throng whole, or name it in THRONG_HDF5_READER");
    if (pipe(ends) != 0)
        return th_trajectory_fail(error, TH_NO_FILE, path, "cannot be read: no pipe: %s",
                                  strerror(errno));
    for (int i = 0; i < 2; ++i) {
        if (ends[i] < 3) { // would be replaced by the child's own
            int higher = fcntl(ends[i], F_DUPFD, 3);
            close(ends[i]);
            ends[i] = higher;
        }
        fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    }
    int failed = spawn(program, path, ends[1], child);
    close(ends[1]);
    *in = ends[0];
    if (!failed) return TH_OK;
    close(ends[0]);
    return th_trajectory_fail(error, TH_NO_FILE, path, "cannot be read: %s does not start: %s",
                              program, strerror(failed));
}

// Ends it where it has not ended, and returns its status; 0: not known, as a host may ignore its children.
static int end(pid_t child, bool wait) {
    int status = 0;
    if (!wait) kill(child, SIGKILL);
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return 0;
    return status;
}

static th_result explain(const th_hdf5_channel *channel, int status, const char *path,
                         double file_bytes, th_error *error) {
    char why[120] = "its contents do not fit together";
    int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (channel->late || signal == SIGXCPU)
        snprintf(why, sizeof why, "reading it takes longer than %.0f s",
                 th_hdf5_seconds_most(file_bytes));
    else if (signal && signal != SIGKILL)
        snprintf(why, sizeof why, "the HDF5 library crashes on it (%s)", strsignal(signal));
    else if (signal)
        snprintf(why, sizeof why, "the HDF5 library was ended by the system");
    return th_trajectory_fail(error, TH_NO_FILE, path, "is damaged: %s; restore it from a copy",
                              why);
}

th_result th_hdf5_open(th_trajectory *trajectory, const char *path, th_error *error) {
    trajectory->state = calloc(1, sizeof(th_row_table));
    if (!trajectory->state)
        return th_trajectory_fail(error, TH_NO_MEMORY, path, "no memory to read it");
    struct stat about;
    double bytes = stat(path, &about) == 0 ? (double)about.st_size : 0;
    pid_t child = 0;
    th_hdf5_channel channel = {
        .deadline = th_monotonic_seconds() + BUSY * th_hdf5_seconds_most(bytes),
        .room = (int64_t)th_hdf5_memory_most(bytes),
    };
    th_result result = start(path, &channel.file, &child, error);
    if (result != TH_OK) return result;
    result = th_hdf5_receive(trajectory, &channel, error);
    close(channel.file);
    int status = end(child, channel.complete);
    if (channel.complete || result == TH_NO_MEMORY) return result;
    return explain(&channel, status, path, bytes, error);
}

th_result th_hdf5_next(th_trajectory *trajectory, th_moment *frame, th_error *error) {
    return th_row_table_next(trajectory->state, frame, trajectory->path, error);
}

void th_hdf5_rewind(th_trajectory *trajectory) { th_row_table_rewind(trajectory->state); }

void th_hdf5_close(th_trajectory *trajectory) {
    if (trajectory->state) th_row_table_release(trajectory->state);
    free(trajectory->state);
    trajectory->state = NULL;
}
