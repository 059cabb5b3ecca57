// libFuzzer target: SQLite recordings. Bytes that begin as a database does are one. Other input is a recording that
// throng wrote, chosen by the first byte (rows, rows with levels, compact), to which the rest is done as SQL: so the
// fuzzer gets past the page format, to wrong numbers, tables, views and triggers. Either a clear error comes out, or
// frames that keep the reader's own rules. SPDX-License-Identifier: Apache-2.0
#include "trajectory_file.h"
#include <sqlite3.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BASES = 3, BASE_MOST = 1 << 18 };
typedef struct base {
    uint8_t bytes[BASE_MOST];
    size_t size;
} base;

static const th_trajectory_level levels[] = {
    {"a", 0, "POLYGON ((0 0, 9 0, 9 9, 0 9, 0 0))"},
    {"b", 4, "POLYGON ((0 0, 5 0, 5 5, 0 5, 0 0))"},
};

static void make_base(int which, base *made) {
    char path[] = "/tmp/throng-fuzz-base-XXXXXX";
    int file = mkstemp(path);
    if (file < 0) abort();
    close(file);
    unlink(path);
    const th_trajectory_note note = {"seed", "7"};
    th_trajectory_info info = {.format = which == 2 ? TH_TRAJECTORY_COMPACT : TH_TRAJECTORY_SQLITE,
                               .fps = 10,
                               .levels = levels,
                               .level_count = which == 0 ? 1 : 2,
                               .notes = &note,
                               .note_count = 1};
    th_trajectory_writer *writer = NULL;
    if (th_trajectory_writer_create(path, &info, &writer, NULL) != TH_OK) abort();
    for (int f = 0; f < 5; ++f) {
        const int64_t id[] = {3, 8, 9 + f};
        const double x[] = {1 + 0.1 * f, 2, 3}, y[] = {1, 2, 3 + 0.1 * f};
        const int32_t level[] = {0, which > 0, 0};
        const th_moment frame = {
            .number = 2 * f, .count = f % 4, .id = id, .x = x, .y = y, .level = level};
        if (th_trajectory_write(writer, &frame, NULL) != TH_OK) abort();
    }
    if (th_trajectory_writer_close(writer, NULL) != TH_OK) abort();
    FILE *read = fopen(path, "rb");
    if (!read) abort();
    made->size = fread(made->bytes, 1, sizeof made->bytes, read);
    fclose(read);
    unlink(path);
}

// Other files are none of the input's business.
static int allow(void *context, int action, const char *a, const char *b, const char *c,
                 const char *d) {
    (void)context, (void)a, (void)b, (void)c, (void)d;
    return action == SQLITE_ATTACH || action == SQLITE_DETACH ? SQLITE_DENY : SQLITE_OK;
}

static int stop(void *context) { return --*(int *)context < 0; }

static void change(const char *path, const char *sql) {
    sqlite3 *db = NULL;
    int looks = 200;
    if (sqlite3_open(path, &db) == SQLITE_OK) {
        sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 100000);
        sqlite3_progress_handler(db, 1000, stop, &looks);
        sqlite3_set_authorizer(db, allow, NULL);
        sqlite3_exec(db, sql, NULL, NULL, NULL);
    }
    sqlite3_close(db);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static base bases[BASES];
    if (bases[0].size == 0)
        for (int k = 0; k < BASES; ++k) make_base(k, &bases[k]);
    if (size == 0) return 0;
    if (size >= 16 && memcmp(data, "SQLite format 3", 16) == 0) {
        read_trajectory(data, size);
        return 0;
    }
    const base *chosen = &bases[data[0] % BASES];
    const char *path = file_of(chosen->bytes, chosen->size);
    char *sql = strndup((const char *)data + 1, size - 1);
    if (!sql) abort();
    change(path, sql);
    free(sql);
    open_and_read(path);
    static const char *const endings[] = {"-wal", "-shm", "-journal"};
    for (int k = 0; k < 3; ++k) {
        char beside[80];
        snprintf(beside, sizeof beside, "%s%s", path, endings[k]);
        unlink(beside);
    }
    return 0;
}
