// Shared by the HDF5 reader and writer: names in the file, a quiet error stack. HDF5 keeps its own state
// for the whole process and is usually built without locks: use one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_RECORD_HDF5_H
#define TH_RECORD_HDF5_H
#include "core/file.h"
#include "record/backend.h"
#include <hdf5.h>

// Everything that only throng writes lies in one group, which others do not look at.
#define TH_HDF5_TRAJECTORY "trajectory"
#define TH_HDF5_GROUP "throng"
#define TH_HDF5_LEVEL "throng/level"               // per row, when there are several levels
#define TH_HDF5_LEVELS "throng/levels"             // id, z, wkt
#define TH_HDF5_NOTES "throng/notes"               // key, value
#define TH_HDF5_EMPTY_FRAMES "throng/empty_frames" // numbers of empty frames
#define TH_HDF5_GEOMETRY "wkt_geometry"            // attribute of the file

// A row in memory. In the file there are the first five fields, and ox, oy where orientation is known.
typedef struct th_hdf5_row {
    int64_t id, frame;
    double x, y, z, ox, oy;
} th_hdf5_row;

typedef struct th_hdf5_level {
    char *id;
    double z;
    char *wkt; // "": not known
} th_hdf5_level;
typedef struct th_hdf5_note {
    char *key, *value;
} th_hdf5_note;

// Types in memory; negative on failure, to be closed with H5Tclose.
hid_t th_hdf5_row_type(bool with_z, bool with_orientation);
hid_t th_hdf5_level_type(void);
hid_t th_hdf5_note_type(void);

// HDF5 prints every failure on stderr. These two switch that off and on again; not to be nested.
typedef struct th_hdf5_voice {
    H5E_auto2_t speak;
    void *context;
} th_hdf5_voice;
th_hdf5_voice th_hdf5_hush(void);
void th_hdf5_speak_again(th_hdf5_voice voice);
// Fails with what was tried and HDF5's own message.
th_result th_hdf5_fail(th_error *error, const char *path, const char *what);

// hdf5_read.c: fills the info, without a frame rate where there is none, and the th_row_table that is the state. Only
// for throng-read-hdf5: the HDF5 library does not stand every file.
th_result th_hdf5_read(th_trajectory *trajectory, const char *path, th_error *error);

// hdf5_pipe.c: the result of th_hdf5_read, or its error, through a pipe.
typedef struct th_hdf5_channel {
    int file;
    double deadline; // th_monotonic_seconds
    int64_t room;    // [bytes] that may still come
    bool complete;   // the sender got to its end
    bool late, no_memory;
} th_hdf5_channel;
bool th_hdf5_send(const char *path, int file);
// Receives rows into a trajectory with an empty table. Without channel->complete the sender died or sent nonsense.
th_result th_hdf5_receive(th_trajectory *trajectory, th_hdf5_channel *channel, th_error *error);
double th_hdf5_seconds_most(double file_bytes); // of work
double th_hdf5_memory_most(double file_bytes);  // [bytes]

th_result th_hdf5_open(th_trajectory *trajectory, const char *path, th_error *error);
th_result th_hdf5_next(th_trajectory *trajectory, th_moment *frame, th_error *error);
void th_hdf5_rewind(th_trajectory *trajectory);
void th_hdf5_close(th_trajectory *trajectory);
#endif
