// The interface of a trajectory format. th_trajectory_open asks each backend in turn whether it knows
// the file; everything public about trajectories is a thin layer over this table.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_RECORD_BACKEND_H
#define TH_RECORD_BACKEND_H
#include "core/memory.h"
#include "core/system/system.h"
#include "throng/record.h"
#include "throng/scene_view.h"
#include <stdbool.h>

// A number in a file beyond these limits is damage, whatever the format.
#define TH_FARTHEST 1e9   // [m] from (0, 0); map projections stay below 3e7
#define TH_FPS_LEAST 1e-9 // [1/s]
#define TH_FPS_MAX 1e9

enum { TH_RECOGNISE_BYTES = 512 }; // of the file's beginning, shown to recognise()

// Begins the last part of a message that a recording ends. Code that copies a trajectory and removes the copy cuts this
// part off.
#define TH_FRAMES_KEPT "; the frames committed so far are kept"

typedef struct th_trajectory_backend {
    bool (*recognise)(const unsigned char *head, size_t size);
    // Fills trajectory->info (all of it, counts included) and trajectory->state.
    th_result (*open)(th_trajectory *trajectory, const char *path, th_error *error);
    th_result (*next)(th_trajectory *trajectory, th_moment *frame, th_error *error);
    void (*rewind)(th_trajectory *trajectory);
    void (*close)(th_trajectory *trajectory); // also after a failed open; state may be NULL

    // writer->info is a copy made by the caller of create; append fills it from the file.
    th_result (*create)(th_trajectory_writer *writer, const char *path, th_error *error);
    th_result (*append)(th_trajectory_writer *writer, const char *path, int64_t frame,
                        th_error *error); // NULL: this format cannot be continued
    th_result (*write)(th_trajectory_writer *writer, const th_moment *frame, th_error *error);
    th_result (*finish)(th_trajectory_writer *writer, th_error *error); // state may be NULL
    // Commits what was written so far. NULL: every write is committed at once.
    th_result (*commit)(th_trajectory_writer *writer, th_error *error);
} th_trajectory_backend;

// Strings and lists of info live in `kept`, released at close.
struct th_trajectory {
    const th_trajectory_backend *backend;
    th_trajectory_info info;
    char path[1024]; // for messages
    th_trajectory_assumed assumed;
    void *state;
    // Frames and rows read since the beginning, compared with the counts in the file's header.
    int64_t last_frame, frames, rows; // last_frame -1: none yet
    bool skipped;                     // a frame could not be read
    th_arena kept;
};
struct th_trajectory_writer {
    const th_trajectory_backend *backend;
    th_trajectory_info info;
    char path[1024];
    void *state;
    int64_t last_frame; // -1: none yet
    th_arena kept;
};

extern const th_trajectory_backend th_sqlite_backend; // rows and compact, sqlite_*.c
extern const th_trajectory_backend th_text_backend;   // Juelich text and CSV
extern const th_trajectory_backend th_hdf5_backend;

// A recording and what a database may have left beside it, whose log would be read as the next one's.
void th_trajectory_remove(const char *path);

// Copies levels, notes and their texts as well. False: no memory.
bool th_keep_info(th_arena *kept, th_trajectory_info *to, const th_trajectory_info *from);

// Shortest text that reads back as the same number, with a point whatever the locale: "25.0".
enum { TH_NUMBER_TEXT = 32 };
void th_exact_text(char text[TH_NUMBER_TEXT], double value);

// Error with the file's name set.
th_result th_trajectory_fail(th_error *error, th_result code, const char *path, const char *format,
                             ...) __attribute__((format(printf, 4, 5)));

// A whole trajectory in memory, for formats whose rows come in any order (text, HDF5).
typedef struct th_row {
    int64_t frame, id;
    double x, y, orientation_x, orientation_y;
    int32_t level;
} th_row;
typedef struct th_row_table {
    bool has_orientation, has_level; // else NULL is given out
    th_row *rows;
    int64_t count;
    size_t capacity;
    int64_t at;     // next row to give out
    int64_t *empty; // empty frames, where the file tells
    int64_t empty_count, empty_at;
    size_t empty_capacity;
    // arrays of the frame given out last
    int64_t *id;
    double *x, *y, *orientation_x, *orientation_y;
    int32_t *level;
    int frame_capacity;
} th_row_table;
bool th_row_table_add(th_row_table *table, th_row row); // false: no memory
bool th_row_table_add_empty(th_row_table *table, int64_t frame);
// Sorts by (frame, id), refuses a person twice in one frame, and fills the counts of info.
th_result th_row_table_complete(th_row_table *table, th_trajectory_info *info, const char *path,
                                th_error *error);
th_result th_row_table_next(th_row_table *table, th_moment *frame, const char *path,
                            th_error *error);
void th_row_table_rewind(th_row_table *table);
void th_row_table_release(th_row_table *table);

// ---- parts of the recorder (throng/record.h) that are tested by themselves

// ---- a bounded queue between one producer thread and one consumer thread
// It hands over the numbers of slots in a ring; the slots themselves belong to the owner. Only the thread that holds a
// slot's number may touch the slot.

typedef struct th_queue {
    th_gate *gate;
    int capacity, first, count; // slots first .. first + count - 1 (mod capacity) are full
    bool closed;                // the producer has ended
    bool broken;                // the consumer has given up
    double waited;              // seconds th_queue_reserve waited
} th_queue;

bool th_queue_init(th_queue *queue, int capacity); // false: no memory
void th_queue_destroy(th_queue *queue);            // when the other thread has ended

// ---- the producer. reserve waits for a free slot; -1: broken. push hands it over.
int th_queue_reserve(th_queue *queue);
void th_queue_push(th_queue *queue);
void th_queue_close(th_queue *queue);
// Waits until all that was pushed is released; false: broken.
bool th_queue_drain(th_queue *queue);
bool th_queue_works(th_queue *queue); // false: broken

// ---- the consumer. take waits for the oldest full slot; -1: closed and empty. release frees it.
int th_queue_take(th_queue *queue);
void th_queue_release(th_queue *queue);
void th_queue_break(th_queue *queue);

// ---- clearance: keeps rounding from moving people outside
// An agent half a millimetre before an exit would be rounded onto its line, and so onto the edge of the walkable area,
// which other programs call outside. Walls are no trouble, as agents keep a millimetre from them; exits drawn as lines
// and the lines between two levels are where people come arbitrarily close to an edge.

typedef struct th_edge {
    th_vec2 a, direction; // unit
    float length;
    int32_t level;
    // +1: walkable to the left of the direction, -1: to the right; where one stands on it.
    float side;
} th_edge;

// All edges of a scene that people walk up to; caller frees. NULL with *count = 0: none; *count < 0: no
// memory.
th_edge *th_edges_of(const th_scene_view *scene, int *count);

// Moves every person that is closer to an edge than `clearance` [m] to that distance, on the same side. With a
// clearance of one quantum rounding in x and y cannot reach the edge. `level` NULL: all on level 0.
void th_keep_clear(const th_edge *edges, int edge_count, float clearance, int count, double *x,
                   double *y, const int32_t *level);
#endif
