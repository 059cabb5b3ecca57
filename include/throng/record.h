// throng: trajectories, read and written in every format throng knows, and the recorder that
// writes those of a running world in the background. In libthrong-record, not in libthrong.
// docs/recordings.md says what each format keeps and what it loses.
//
// Threads: different trajectories, writers and recorders are independent; each is used by one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#ifndef THRONG_RECORD_H
#define THRONG_RECORD_H

#include "throng/world.h"

#if !defined(_WIN32) || defined(TH_BUILDING_RECORD)
#define TH_RECORD_API TH_EXPORT
#elif defined(TH_SHARED)
#define TH_RECORD_API TH_IMPORT
#else
#define TH_RECORD_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

// X(NAME, name, suffix, doc). The name is what the command line calls it.
#define TH_TRAJECTORY_FORMATS(X)                                                    \
    X(SQLITE, sqlite, "sqlite", "JuPedSim version 2, one row per person and frame") \
    X(COMPACT, compact, "sqlite",                                                   \
      "the same file with one compressed blob per frame instead of rows")           \
    X(TEXT, text, "txt", "Juelich text: id frame x y z")                            \
    X(HDF5, hdf5, "h5", "Pedestrian Dynamics Data Archive")                         \
    X(CSV, csv, "csv", "one row per person and frame, for spreadsheets and pandas")

typedef enum th_trajectory_format {
#define X(NAME, name, suffix, doc) TH_TRAJECTORY_##NAME,
    TH_TRAJECTORY_FORMATS(X)
#undef X
        TH_TRAJECTORY_FORMAT_COUNT
} th_trajectory_format;

TH_RECORD_API const char *th_trajectory_format_name(th_trajectory_format format);

// All agents at one moment, in ascending id order: a frame of a recording, or a world as it stands. An array
// that the source does not know is NULL.
typedef struct th_moment {
    int64_t number; // of the frame; frame 0 is the state before the first step
    double time;    // [s] number / fps; a writer does not look at it
    int count;      // -1: behind the last frame
    // `x` and `y` count from `origin` [m]; otherwise they are the scene's own coordinates.
    bool has_origin;
    th_point origin;
    const int64_t *id;
    const double *x, *y;                         // [m]
    const double *velocity_x, *velocity_y;       // [m/s]; NaN: not known of this person
    const double *orientation_x, *orientation_y; // unit vectors
    const int32_t *level;                        // NULL: all on level 0
    // Known of worlds only; see throng/fields.h.
    const int32_t *group, *phase;
    const double *radius, *preferred_speed, *goal_x, *goal_y; // [m], [m/s], [m]
    const double *wait_until, *start_time;                    // [s]
} th_moment;

typedef struct th_trajectory_level {
    const char *id;
    double z;        // [m]
    const char *wkt; // walkable area, POLYGON or MULTIPOLYGON with holes; NULL: not known
} th_trajectory_level;

// A further fact about the recording: "throng_seed" = "1".
typedef struct th_trajectory_note {
    const char *key, *value;
} th_trajectory_note;

// The header of a recording. A writer starts from zeros and sets format, fps and the members it knows.
typedef struct th_trajectory_info {
    th_trajectory_format format;
    double fps;
    const th_trajectory_level *levels;
    int level_count; // 0: no geometry known
    const th_trajectory_note *notes;
    int note_count;
    double quantum; // positions are multiples of this [m]; 0: as exact as numbers are
    // Counted by th_trajectory_open; not looked at by th_trajectory_writer_create.
    int64_t frame_count, first_frame, last_frame;
    int64_t row_count, agent_count;
    double min_x, min_y, max_x, max_y; // of the positions
} th_trajectory_info;

// ---- reading. The format is recognised from the content, not from the name.
typedef struct th_trajectory th_trajectory;
TH_RECORD_API th_result th_trajectory_open(const char *path, th_trajectory **trajectory,
                                           th_error *error);
// Assumptions about a text file; values in the file override them.
typedef struct th_trajectory_assumed {
    double fps;  // 0: a text without frame rate is an error
    double unit; // of the coordinates [m], 0.01 for centimetres; 0: metres
} th_trajectory_assumed;
TH_RECORD_API th_result th_trajectory_open_assuming(const char *path, th_trajectory_assumed assumed,
                                                    th_trajectory **trajectory, th_error *error);
TH_RECORD_API const th_trajectory_info *th_trajectory_about(const th_trajectory *trajectory);
// The next frame in ascending order, valid until the next call. At the end count is -1.
TH_RECORD_API th_result th_trajectory_next(th_trajectory *trajectory, th_moment *moment,
                                           th_error *error);
TH_RECORD_API void th_trajectory_rewind(th_trajectory *trajectory);
TH_RECORD_API void th_trajectory_close(th_trajectory *trajectory);

// ---- writing. A file that is there already is an error, unless frames are appended to it.
typedef struct th_trajectory_writer th_trajectory_writer;
TH_RECORD_API th_result th_trajectory_writer_create(const char *path,
                                                    const th_trajectory_info *info,
                                                    th_trajectory_writer **writer, th_error *error);
// Opens a recording of the same format and fps again, drops frames from `frame` on, and goes on there.
TH_RECORD_API th_result th_trajectory_writer_append(const char *path, int64_t frame,
                                                    th_trajectory_writer **writer, th_error *error);
// Frames in ascending order of number. In the SQLite formats, where velocities are known and
// orientations are not, agents face where they go, and keep that direction while they stand.
TH_RECORD_API th_result th_trajectory_write(th_trajectory_writer *writer, const th_moment *moment,
                                            th_error *error);
// Commits what is there, closes and frees, also after a failed write. NULL is fine.
TH_RECORD_API th_result th_trajectory_writer_close(th_trajectory_writer *writer, th_error *error);

// Everything of `from` that `to` can hold; `seen` (or NULL) is called after every frame with the
// share done, and stops the conversion by returning false. Written beside `to` and renamed at the end:
// a conversion that fails or is stopped leaves nothing.
typedef bool th_convert_fn(double share, void *context);
TH_RECORD_API th_result th_trajectory_convert(const char *from, const char *to,
                                              th_trajectory_format format, th_convert_fn *seen,
                                              void *context, th_error *error);
// The same from a trajectory that is open already (all of it, whatever was read before). `replace`:
// a file that is there already gives way once the new one is complete.
TH_RECORD_API th_result th_trajectory_copy(th_trajectory *from, const char *to,
                                           th_trajectory_format format, bool replace,
                                           th_convert_fn *seen, void *context, th_error *error);

// ---- recording a world. A thread of its own compresses and writes; when the disk is slower than the
// crowd the queue fills and th_recorder_see waits, so memory stays bounded.
typedef struct th_recorder th_recorder;
typedef struct th_recorder_def {
    uint32_t cookie;  // set by th_recorder_def_default
    const char *path; // the one member that has no default
    th_trajectory_format format;
    // Wanted, default 10; a frame is every n-th step, so what is written is 1 / (n step).
    double fps;
    int max_queued_frames; // in flight, 1 .. 10000, default 4
    bool resume;           // go on in the file at path, from the world's time on
    const th_trajectory_note *notes;
    int note_count;
} th_recorder_def;
TH_RECORD_API th_recorder_def th_recorder_def_default(void);

TH_RECORD_API th_result th_recorder_create(th_world *world, const th_recorder_def *def,
                                           th_recorder **recorder, th_error *error);
// Once before the first step and after every step. Takes a copy when a frame is due. Fails, once and
// for all later calls, when the writer failed (a full disk): what was committed stays readable.
TH_RECORD_API th_result th_recorder_see(th_recorder *recorder, th_world *world, th_error *error);

// Waits until every frame seen so far is committed: before a checkpoint, so that a run that goes on
// from it finds in the file all frames before it.
TH_RECORD_API th_result th_recorder_flush(th_recorder *recorder, th_error *error);

typedef struct th_recorder_totals {
    uint64_t frames, rows, bytes; // bytes: size of the file
    double waited;                // seconds the simulation stood still for the writer
    double busy;                  // seconds of processor time the writer's thread used
} th_recorder_totals;
// Waits until all is written, closes and frees. `totals` may be NULL; a NULL recorder is fine.
TH_RECORD_API th_result th_recorder_close(th_recorder *recorder, th_recorder_totals *totals,
                                          th_error *error);

// From now on scenes of this process may take people from recordings ("recording" of a group).
TH_RECORD_API void th_record_serve_scenes(void);

// The walkable area of a level in scene coordinates, for others to read. An open plane gives the
// rectangle of all that is named on it, 10 m wider. Caller frees with th_free; NULL: no memory.
TH_RECORD_API char *th_scene_level_wkt(const th_scene *scene, int level);

#ifdef __cplusplus
}
#endif
#endif
