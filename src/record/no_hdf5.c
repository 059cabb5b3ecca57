// In place of the HDF5 format, where throng is built without the HDF5 library: says so. SPDX-License-Identifier: Apache-2.0
#include "record/backend.h"
#include <string.h>

static bool recognise(const unsigned char *head, size_t size) {
    return size >= 8 && memcmp(head, "\x89HDF\r\n\x1a\n", 8) == 0;
}

static th_result refuse(th_error *error, const char *path) {
    return th_trajectory_fail(error, TH_BAD_ARGUMENT, path,
                              "this throng is built without HDF5; use sqlite, compact or text, and "
                              "convert it where HDF5 is");
}

static th_result open_none(th_trajectory *trajectory, const char *path, th_error *error) {
    (void)trajectory;
    return refuse(error, path);
}

static th_result create_none(th_trajectory_writer *writer, const char *path, th_error *error) {
    (void)writer;
    return refuse(error, path);
}

static void close_none(th_trajectory *trajectory) { (void)trajectory; }

static th_result finish_none(th_trajectory_writer *writer, th_error *error) {
    (void)writer;
    (void)error;
    return TH_OK;
}

const th_trajectory_backend th_hdf5_backend = {
    .recognise = recognise,
    .open = open_none,
    .close = close_none,
    .create = create_none,
    .finish = finish_none,
};
