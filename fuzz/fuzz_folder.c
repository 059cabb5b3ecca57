// libFuzzer target: folders of runs and sweeps that are resumed. The first byte says which file of an interrupted run
// or sweep the other bytes replace: its description, scene, checkpoint (with the checksum set right), recording, or the
// journal of a sweep. Resuming must fail with a reason or go on; it is interrupted after a few steps.
//   build-fuzz/fuzz/fuzz_folder -max_len=16384 -max_total_time=60 fuzz/corpus/folder
// SPDX-License-Identifier: Apache-2.0
#include "run/runs.h"
#include "throng/run.h"
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RUN_FILES = 4, FILES = 7 };
static const char *const names[FILES] = {
    "run/run.json",     "run/scene.json", "run/trajectory.txt", "run/checkpoints",
    "sweep/sweep.json", "sweep/runs.csv", "sweep/scene.json"};

static char root[64];
static char *kept[FILES]; // their bytes, with which every input begins
static size_t kept_size[FILES];
static char checkpoint_file[100];

static void remove_root(void) {
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    if (system(command) != 0) fprintf(stderr, "%s stays\n", root);
}

static const char *at(const char *name) {
    static char path[200];
    snprintf(path, sizeof path, "%s/%s", root, name);
    return path;
}

static void put(const char *path, const void *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) abort();
}

// ---- an interrupted run and an interrupted sweep, once

static int steps_left;

static bool watch(const th_runs_progress *now, void *context) {
    (void)context;
    bool counts = now->moment == TH_RUNS_STEPPED || now->moment == TH_RUNS_RUN_DONE ||
                  now->moment == TH_RUNS_WAITING;
    if (counts) --steps_left;
    return steps_left > 0;
}

static th_runs_def definition(void) {
    th_runs_def def = th_runs_def_default();
    def.threads = def.jobs = 1;
    def.watch = watch;
    return def;
}

static void make(bool sweep) {
    char scene[200], out[200];
    snprintf(scene, sizeof scene, "%s/s.json", root);
    snprintf(out, sizeof out, "%s/%s", root, sweep ? "sweep" : "run");
    static const char *const vary[] = {"groups.0.count=1,2", "run.max_time=0.2,0.3"};
    th_runs_def def = definition();
    def.scene = scene;
    def.out = out;
    def.sweep = sweep;
    def.no_report = true;
    def.vary = vary;
    def.vary_count = sweep ? 2 : 0;
    def.runs = sweep ? 2 : 1;
    def.record = sweep ? NULL : "text";
    def.checkpoint = sweep ? 0 : 0.1;
    steps_left = 4;
    th_runs *runs = NULL;
    th_error error = {0};
    if (th_runs_create(&def, &runs, &error) != TH_OK || th_runs_execute(runs, &error) != TH_OK) {
        fprintf(stderr, "%s: %s\n", error.file, error.message);
        abort();
    }
    th_runs_destroy(runs);
}

static void prepare(void) {
    static const char scene[] =
        "{\"levels\":[{\"walkable\":{\"rect\":[0,0,8,8]}}],\"run\":{\"max_time\":1},"
        "\"exits\":[{\"id\":\"e\",\"line\":[[8,3],[8,5]]}],"
        "\"groups\":[{\"to\":\"e\",\"area\":{\"rect\":[1,1,3,3]},\"count\":2}]}";
    // Every file of a folder is synced: in memory that costs nothing.
    snprintf(root, sizeof root, "%s/throng-fuzz-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(root) || atexit(remove_root) != 0) abort();
    put(at("s.json"), scene, strlen(scene));
    make(false);
    make(true);
    th_folder folder = {0};
    th_checkpoint_name found[TH_CHECKPOINTS_LISTED];
    snprintf(folder.path, sizeof folder.path, "%s/run", root);
    if (th_checkpoint_list(&folder, found) < 1) abort();
    snprintf(checkpoint_file, sizeof checkpoint_file, "run/%s", found[0]);
    for (int i = 0; i < FILES; ++i) {
        th_error error = {0};
        kept[i] = th_file_content(at(i == 3 ? checkpoint_file : names[i]), &kept_size[i], &error);
        if (!kept[i]) abort();
    }
}

// ---- an input

static void clear_checkpoints(void) {
    DIR *folder = opendir(at("run/checkpoints"));
    if (!folder) abort();
    for (const struct dirent *entry = readdir(folder); entry; entry = readdir(folder))
        unlinkat(dirfd(folder), entry->d_name, 0);
    closedir(folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!kept[0]) prepare();
    // Plugins that a folder names are loaded, and loading a library runs its code.
    if (size == 0 || memmem(data, size, "plugin", 6) || memmem(data, size, "\\u", 2)) return 0;
    int which = data[0] % FILES, begin = which < RUN_FILES ? 0 : RUN_FILES;
    if (begin == 0) clear_checkpoints();
    for (int i = begin; i < (begin ? FILES : RUN_FILES); ++i) {
        const char *path = at(i == 3 ? checkpoint_file : names[i]);
        size_t length = i == which ? size - 1 : kept_size[i];
        char *bytes = malloc(length + 1);
        if (!bytes) abort();
        memcpy(bytes, i == which ? (const char *)data + 1 : kept[i], length);
        if (i == 3 && length >= 16) th_checkpoint_seal(bytes, length);
        put(path, bytes, length);
        free(bytes);
    }
    char folder[100];
    snprintf(folder, sizeof folder, "%s/%s", root, begin ? "sweep" : "run");
    th_runs_def def = definition();
    th_runs *runs = NULL;
    th_error error = {0};
    steps_left = 3;
    th_result result = th_runs_open(folder, &def, &runs, &error);
    if (result != TH_OK && (runs || !error.message[0])) abort();
    if (result == TH_OK) result = th_runs_execute(runs, &error);
    if (result != TH_OK && !error.message[0]) abort();
    th_runs_destroy(runs);
    return 0;
}
