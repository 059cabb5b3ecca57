// Recording a run into a folder of its own. SPDX-License-Identifier: Apache-2.0
#include "validate/recorded_run.h"
#include "core/error.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

th_result th_record_folder_make(char path[TH_RECORD_PATH], th_error *error) {
    const char *base = getenv("TMPDIR");
    int length =
        snprintf(path, TH_RECORD_PATH, "%s/throng-XXXXXX", base && base[0] ? base : "/tmp");
    if (length < 0 || length >= TH_RECORD_PATH - 16 || !mkdtemp(path)) {
        if (error) snprintf(error->file, sizeof error->file, "%.200s", path);
        return th_fail(error, TH_NO_FILE, "",
                       "no folder for a recording: %s; set TMPDIR to one that can be written",
                       strerror(errno));
    }
    snprintf(path + length, TH_RECORD_PATH - (size_t)length, "/run.txt");
    return TH_OK;
}

void th_record_folder_remove(const char *path) {
    char folder[TH_RECORD_PATH];
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (!slash) return;
    *slash = '\0';
    unlink(path);
    rmdir(folder);
}

static th_result step_to(th_world *world, th_recorder *recorder, double end, th_error *error) {
    th_result result = th_recorder_see(recorder, world, error);
    while (result == TH_OK && th_world_time(world) < end - 1e-9 && !th_world_done(world)) {
        th_world_step(world, 1);
        result = th_recorder_see(recorder, world, error);
    }
    return result;
}

th_result th_record_run(const th_scene *scene, uint64_t seed, double end, const char *path,
                        th_statistics *statistics, th_error *error) {
    th_world_def def = th_world_def_default();
    def.threads = 1;
    def.seed = seed;
    th_world *world = NULL;
    th_result result = th_world_create(scene, &def, &world, error);
    if (result != TH_OK) return result;
    th_recorder_def recording = {.path = path, .format = TH_TRAJECTORY_TEXT};
    recording.fps = 1.0 / th_world_step_length(world);
    th_recorder *recorder = NULL;
    result = th_recorder_create(world, &recording, &recorder, error);
    if (result == TH_OK) result = step_to(world, recorder, end, error);
    th_result finished = th_recorder_finish(recorder, NULL, result == TH_OK ? error : NULL);
    if (result == TH_OK) result = finished;
    if (statistics) *statistics = th_world_statistics(world);
    th_world_destroy(world);
    return result;
}
