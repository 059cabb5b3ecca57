// Reading Juelich text line by line: for the rows (opening) and for the places of lines in the file (appending).
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_RECORD_TEXT_H
#define TH_RECORD_TEXT_H
#include "record/backend.h"

enum { TH_TEXT_LEVELS = 64 }; // that a header can name; more are read as numbers only

typedef struct th_text_level {
    char id[128];
    double z;
} th_text_level;

typedef struct th_text_header {
    double fps;        // 0: not said
    double unit;       // [m], 0: not said
    bool unit_assumed; // neither the file nor the caller said it
    bool by_throng;    // so the rows come frame by frame and every line has its end
    bool has_level;    // sixth column
    bool compressed;
    int level_count;
    th_text_level levels[TH_TEXT_LEVELS];
    // Found while the rows are read:
    int decimals; // most digits behind a point in x and y; -1: a number had an exponent
    bool cut;     // by_throng, and the last line has no end: the writer was killed or the disk full
    int64_t cut_frame;  // the frame that line belongs to; -1: cannot be told
    int64_t end_offset; // behind the last whole line
} th_text_header;

// Called for every row, and with row NULL for an empty frame. `offset`: of the line in the
// file. Coordinates are in metres.
typedef th_result th_text_row_fn(void *context, int64_t frame, const th_row *row, int64_t offset,
                                 th_error *error);
// Fills header (assumed values where the file says nothing) and calls `row` in the order of the file.
th_result th_text_scan(const char *path, th_trajectory_assumed assumed, th_text_header *header,
                       th_text_row_fn *row, void *context, th_error *error);

// Decimal number with a point whatever the locale; `end` (or NULL) is where it ends, `text` itself when
// there is none. "nan", "inf" and hexadecimal are none.
double th_text_number(const char *text, const char **end);

// A level's id as one word of letters, digits, "_", "-" and %XX, and back. PedPy looks for words like
// "in m" and "framerate" in every line of a header; a name must not look like one.
void th_text_encode(char *word, size_t size, const char *id);
void th_text_decode(char *id, size_t size, const char *word);
#endif
