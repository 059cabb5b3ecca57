// The folder a run or a sweep leaves: made, refused or cleared before anything is simulated, and small
// files written so that they appear whole or not at all. SPDX-License-Identifier: Apache-2.0
#ifndef TH_REPORT_FOLDER_H
#define TH_REPORT_FOLDER_H
#include "core/file.h"
#include <jansson.h>

typedef struct th_folder {
    char path[TH_PATH_MAX - 256]; // "" when nothing is kept
    bool locked;
    int lock; // file number, while locked
} th_folder;

// "scenes/hall.json" -> "hall"
void th_file_stem(const char *path, char *stem, size_t size);
// folder/name. False, with an error, when that is longer than a path can be.
bool th_folder_path(const th_folder *folder, const char *name, char *path, size_t size);
bool th_folder_has(const th_folder *folder, const char *name);

// One writer at a time: an error when another one, here or in another process, has the lock. It is the folder's own
// (flock), leaves no file and ends with the process. A folder that is not there, and a file system without locks, are
// fine. Locking again is, too.
th_result th_folder_lock(th_folder *folder, th_error *error);
void th_folder_unlock(th_folder *folder);

// Where results go: `wanted`, or with NULL the first free one of runs/STEM, runs/STEM-2, ... It is made,
// with those above it. One that holds something is refused without `force`; with it, the files that
// throng wrote there are removed and nothing else. The folder is locked before anything is touched.
th_result th_folder_claim(th_folder *folder, const char *wanted, const char *stem, bool force,
                          th_error *error);
// Makes a folder and those above it where they are missing.
th_result th_make_folders(const char *path, th_error *error);
// A folder below it, made when missing.
th_result th_folder_make(const th_folder *folder, const char *name, th_error *error);

th_result th_folder_write_json(const th_folder *folder, const char *name, const json_t *value,
                               th_error *error);
// The JSON object in a file of the folder; NULL with an error.
json_t *th_folder_read_json(const th_folder *folder, const char *name, th_error *error);
#endif
