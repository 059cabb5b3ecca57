// For fuzz targets that take a trajectory file: bytes as a file, and what must hold when it opens.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_FUZZ_TRAJECTORY_FILE_H
#define TH_FUZZ_TRAJECTORY_FILE_H
#include "throng/record.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char fuzz_path[64];
static inline void remove_fuzz_file(void) { unlink(fuzz_path); }

// One file for all inputs: HDF5 wants a name in a folder, so memory files will not do.
static inline const char *file_of(const uint8_t *data, size_t size) {
    static int file = -1;
    if (file < 0) {
        snprintf(fuzz_path, sizeof fuzz_path, "/tmp/throng-fuzz-XXXXXX");
        file = mkstemp(fuzz_path);
        atexit(remove_fuzz_file);
    }
    if (file < 0 || ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != (ssize_t)size)
        abort();
    return fuzz_path;
}

static inline void check_frame(const th_trajectory_info *info, const th_moment *frame,
                               int64_t last) {
    if (frame->number <= last || frame->number < info->first_frame ||
        frame->number > info->last_frame)
        abort();
    int levels = info->level_count > 0 ? info->level_count : 1;
    for (int i = 0; i < frame->count; ++i) {
        if (i > 0 && frame->id[i] <= frame->id[i - 1]) abort();
        if (!isfinite(frame->x[i]) || !isfinite(frame->y[i])) abort();
        if (frame->level && (frame->level[i] < 0 || frame->level[i] >= levels)) abort();
    }
}

// All frames of an open trajectory.
static inline void read_frames(th_trajectory *trajectory) {
    th_error error = {0};
    const th_trajectory_info *info = th_trajectory_about(trajectory);
    int64_t frames = 0, rows = 0, last = -1;
    for (;;) {
        th_moment frame;
        if (th_trajectory_next(trajectory, &frame, &error) != TH_OK) break;
        if (frame.count < 0) {
            if (frames != info->frame_count || rows != info->row_count) abort();
            break;
        }
        check_frame(info, &frame, last);
        last = frame.number;
        ++frames;
        rows += frame.count;
    }
}

static inline void open_and_read(const char *path) {
    th_trajectory *trajectory = NULL;
    th_error error = {0};
    th_result result = th_trajectory_open(path, &trajectory, &error);
    if (result != TH_OK) {
        if (trajectory || error.code != result || !error.message[0]) abort();
        return;
    }
    read_frames(trajectory);
    th_trajectory_close(trajectory);
}

static inline void read_trajectory(const uint8_t *data, size_t size) {
    open_and_read(file_of(data, size));
}
#endif
