// Folders and small files. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/system/system.h"
#include "report/figures.h"
#include "report/report.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void th_file_stem(const char *path, char *stem, size_t size) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    int length = dot && dot != name ? (int)(dot - name) : (int)strlen(name);
    snprintf(stem, size, "%.*s", length, name);
}

bool th_folder_path(const th_folder *folder, const char *name, char *path, size_t size) {
    int length = snprintf(path, size, "%s/%s", folder->path, name);
    return length > 0 && (size_t)length < size;
}

bool th_folder_has(const th_folder *folder, const char *name) {
    char path[TH_PATH_MAX];
    return th_folder_path(folder, name, path, sizeof path) && access(path, F_OK) == 0;
}

static bool is_folder(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

th_result th_make_folders(const char *path, th_error *error) {
    char part[TH_PATH_MAX];
    size_t length = strlen(path);
    if (length >= sizeof part) return th_file_fail(error, path, "the name is too long");
    memcpy(part, path, length + 1);
    for (size_t i = 1; i <= length; ++i) {
        if (part[i] != '/' && part[i] != '\0') continue;
        char kept = part[i];
        part[i] = '\0';
        // Parent folders may exist without being writable: only making the last one must succeed.
        int cause = mkdir(part, 0777) != 0 ? errno : 0;
        if (cause && cause != EEXIST && !is_folder(part))
            return th_file_fail(error, path, "the folder cannot be made: %s; choose another --out",
                                strerror(cause));
        part[i] = kept;
    }
    if (is_folder(path)) return TH_OK;
    return th_file_fail(error, path, "is there already and is not a folder; choose another --out");
}

th_result th_folder_lock(th_folder *folder, th_error *error) {
    if (folder->locked) return TH_OK;
    folder->lock = th_system_lock_folder(folder->path);
    folder->locked = folder->lock >= 0;
    if (folder->lock != TH_TAKEN) return TH_OK;
    return th_file_fail(error, folder->path,
                        "another throng is writing into this folder; let it finish or end it, or "
                        "choose another --out");
}

void th_folder_unlock(th_folder *folder) {
    if (folder->locked) th_system_unlock_folder(folder->lock);
    folder->locked = false;
}

static int entry_count(const char *path) {
    DIR *folder = opendir(path);
    if (!folder) return -1;
    int count = 0;
    for (const struct dirent *entry = readdir(folder); entry; entry = readdir(folder))
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(folder);
    return count;
}

// Checked before the simulation starts.
static th_result try_writing(const th_folder *folder, th_error *error) {
    char path[TH_PATH_MAX];
    if (!th_folder_path(folder, ".throng-XXXXXX", path, sizeof path))
        return th_file_fail(error, folder->path, "the name is too long");
    int file = mkstemp(path);
    if (file < 0)
        return th_file_fail(error, folder->path,
                            "nothing can be written into this folder: %s; choose another --out",
                            strerror(errno));
    close(file);
    unlink(path);
    return TH_OK;
}

// Names that only throng writes, at the top of the folder.
static const char *const own_files[] = {
    "scene.json",
    "run.json",
    "summary.json",
    "evacuation.csv",
    "counters.csv",
    "areas.csv",
    "quantities.csv",
    "quantities.json",
    "queues.csv",
    "convergence.csv",
    "maps.csv",
    "compare.csv",
    "compare.json",
    "report.pdf",
    "people.csv",
    "runs.csv",
    "report.html",
    "trajectory.sqlite",
    "trajectory.sqlite-wal",
    "trajectory.sqlite-shm",
    "trajectory.txt",
    "trajectory.sqlite-journal",
    "sweep.json",
    "sweep.csv",
    "run_quantities.csv",
    "sensitivity.csv",
    "sensitivity.json",
};

// Files of a sub-folder whose names begin and end as throng's do.
static void remove_own(const th_folder *folder, const char *below, const char *begin,
                       const char *end) {
    char path[TH_PATH_MAX];
    if (!th_folder_path(folder, below, path, sizeof path)) return;
    DIR *entries = opendir(path);
    if (!entries) return;
    for (const struct dirent *entry = readdir(entries); entry; entry = readdir(entries)) {
        const char *name = entry->d_name;
        size_t length = strlen(name), tail = strlen(end);
        bool own = strncmp(name, begin, strlen(begin)) == 0 && length >= tail &&
                   strcmp(name + length - tail, end) == 0;
        if (own &&
            snprintf(path, sizeof path, "%s/%s/%s", folder->path, below, name) < (int)sizeof path)
            unlink(path);
    }
    closedir(entries);
}

static th_result clear_own(const th_folder *folder, th_error *error) {
    char path[TH_PATH_MAX];
    for (size_t i = 0; i < sizeof own_files / sizeof own_files[0]; ++i) {
        if (!th_folder_path(folder, own_files[i], path, sizeof path)) continue;
        if (unlink(path) != 0 && errno != ENOENT)
            return th_file_fail(error, path, "cannot be replaced: %s; choose another --out",
                                strerror(errno));
    }
    // A figure left from the old run would be taken for one of the new run.
    for (int i = 0; i < th_figure_count; ++i)
        remove_own(folder, "figures", th_figures[i].name, ".png");
    remove_own(folder, "figures", "sweep_", ".png");
    remove_own(folder, "figures", "compare_", ".png");
    remove_own(folder, "checkpoints", "checkpoint-", ".bin");
    remove_own(folder, "checkpoints", "checkpoint-", ".bin.part"); // left by a kill
    return TH_OK;
}

// runs/STEM, runs/STEM-2, ...: mkdir decides, so two programs started at once get two folders.
static th_result claim_free(th_folder *folder, const char *stem, th_error *error) {
    enum { MOST = 100000 };
    th_result result = th_make_folders("runs", error);
    for (int i = 1; i <= MOST && result == TH_OK; ++i) {
        if (i == 1)
            snprintf(folder->path, sizeof folder->path, "runs/%s", stem);
        else
            snprintf(folder->path, sizeof folder->path, "runs/%s-%d", stem, i);
        if (mkdir(folder->path, 0777) == 0) return th_folder_lock(folder, error);
        if (errno != EEXIST)
            return th_file_fail(error, folder->path,
                                "the folder cannot be made: %s; choose another with --out",
                                strerror(errno));
    }
    if (result != TH_OK) return result;
    return th_file_fail(error, "runs", "is full of earlier runs; choose another folder with --out");
}

th_result th_folder_claim(th_folder *folder, const char *wanted, const char *stem, bool force,
                          th_error *error) {
    if (!wanted) return claim_free(folder, stem, error);
    if (strlen(wanted) == 0 || strlen(wanted) >= sizeof folder->path)
        return th_file_fail(error, wanted, "--out needs the name of a folder");
    snprintf(folder->path, sizeof folder->path, "%s", wanted);
    for (size_t i = strlen(folder->path); i > 1 && folder->path[i - 1] == '/'; --i)
        folder->path[i - 1] = '\0';
    th_result result = th_make_folders(folder->path, error);
    if (result == TH_OK) result = th_folder_lock(folder, error);
    if (result == TH_OK) result = try_writing(folder, error);
    if (result != TH_OK || entry_count(folder->path) <= 0) return result;
    if (!force)
        return th_file_fail(error, folder->path,
                            "the folder is not empty; choose another --out, or --force to replace "
                            "what throng wrote there");
    return clear_own(folder, error);
}

th_result th_folder_make(const th_folder *folder, const char *name, th_error *error) {
    char path[TH_PATH_MAX];
    if (!th_folder_path(folder, name, path, sizeof path))
        return th_file_fail(error, folder->path, "the name is too long");
    if (mkdir(path, 0777) == 0 || is_folder(path)) return TH_OK;
    return th_file_fail(error, path, "the folder cannot be made: %s", strerror(errno));
}

// The fewest digits that read back as the same number: scene.json must give the same hash, and 0.1 should read 0.1.
// NULL: no memory.
static char *print_json(const json_t *value) {
    char *text = json_dumps(value, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    json_t *back = text ? json_loads(text, 0, NULL) : NULL;
    bool same = back && json_equal((json_t *)(uintptr_t)value, back);
    json_decref(back);
    if (same) return text;
    free(text);
    return json_dumps(value, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
}

th_result th_folder_write_json(const th_folder *folder, const char *name, const json_t *value,
                               th_error *error) {
    char *text = print_json(value);
    if (!text) return th_fail(error, TH_NO_MEMORY, "", "no memory for %s", name);
    th_file_writer writer;
    th_file_begin(&writer, folder->path, name);
    th_file_put(&writer, text, strlen(text));
    th_file_put(&writer, "\n", 1);
    free(text);
    return th_file_end(&writer, TH_SYNCED, error);
}

json_t *th_folder_read_json(const th_folder *folder, const char *name, th_error *error) {
    char path[TH_PATH_MAX];
    size_t size = 0;
    if (!th_folder_path(folder, name, path, sizeof path)) return NULL;
    char *text = th_file_content(path, &size, error);
    if (!text) return NULL;
    json_error_t fault;
    json_t *value = json_loadb(text, size, JSON_REJECT_DUPLICATES, &fault);
    free(text);
    if (value && json_is_object(value)) return value;
    th_file_fail(error, path, "is damaged: %s", value ? "no JSON object" : fault.text);
    json_decref(value);
    return NULL;
}
