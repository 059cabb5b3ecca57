// A writer of SQLite recordings while it is open, shared by what opens and closes it (sqlite_write.c) and
// what puts frames into it (sqlite_frames.c). SPDX-License-Identifier: Apache-2.0
#ifndef TH_RECORD_SQLITE_WRITER_H
#define TH_RECORD_SQLITE_WRITER_H
#include "record/compact.h"
#include "record/moment.h"
#include "record/sqlite_store.h"

// ---- who was here in the last frame, and which way they faced; who was ever here
typedef struct th_people {
    int count, capacity;
    int64_t *id;
    float *direction_x, *direction_y; // unit vectors
    float *other_x, *other_y;         // the same in the next frame's order, while it is made
    // everybody ever seen: open addressing, a power of two of slots
    int64_t *slots;
    unsigned char *used;
    uint64_t slot_count, seen_count;
} th_people;

// Takes over the order of a new frame (ascending ids); newcomers face along +x. *first_seen: how many
// were never here before. False: no memory.
bool th_people_see(th_people *people, int count, const int64_t *id, int *first_seen);
// Only into the list of those ever seen.
bool th_people_remember(th_people *people, int64_t id, bool *is_new);
// Everybody faces the direction of walking; whoever is slower than TH_STANDING keeps the last direction.
void th_people_turn(th_people *people, const double *velocity_x, const double *velocity_y);
void th_people_release(th_people *people);

#define TH_STANDING 0.01f // [m/s] a millimetre in a tenth of a second, the default grid and rate

// ---- the writer
// Arrays for one frame in the shapes it goes through: X(name).
#define TH_WRITER_ARRAYS(X) X(grid_x) X(grid_y) X(heading)

typedef struct th_sqlite_writer {
    sqlite3 *db;
    const char *path;
    bool compact, failed, levels;
    int64_t geometry_hash;
    bool has_geometry;
    sqlite3_stmt *insert_row, *insert_level, *insert_frame_data, *insert_blob;
    int open_frames; // since the last commit
    double committed_at;
    // compact
    double quantum, origin_x, origin_y;
    bool has_origin;
    th_compact_codec *codec;
    int64_t key_frame;
    int since_key; // frames; 0: the next is a key frame
    th_people people;
    bool orientation_told;             // whether it is known is in the file
    double min_x, min_y, max_x, max_y; // positions, while there is no geometry
    int capacity;
    int32_t *grid_x, *grid_y;
    uint8_t *heading;
} th_sqlite_writer;

// Puts one frame, without its row in frame_data, into the open transaction. `w` has room for it.
th_result th_sqlite_put_frame(th_sqlite_writer *w, const th_moment *frame, th_error *error);
// Widens the bounds of the positions.
void th_sqlite_widen(th_sqlite_writer *w, double min_x, double min_y, double max_x, double max_y);
#endif
