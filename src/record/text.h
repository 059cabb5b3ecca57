// Trajectories as lines of text: Juelich text and CSV share their comments, lines, errors and the writer.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_RECORD_TEXT_H
#define TH_RECORD_TEXT_H
#include "record/backend.h"
#include <zlib.h>

// Reading line by line: for the rows (opening) and for the places of lines in the file (appending).

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
    bool has_orientation;
    bool csv; // columns parted by commas, semicolons or tabs
    bool compressed;
    int level_count;
    th_text_level levels[TH_TEXT_LEVELS];
    char guessed
        [160]; // what the columns were taken for, when they have no titles; or how the frame rate was found
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

// ---- one line of a file

typedef struct th_text_scanner {
    const char *path;
    gzFile file;
    char *buffer; // and one byte for the end of the last line
    size_t begin, end;
    bool finished;  // the file has no more bytes than those in the buffer
    int64_t offset; // of buffer[begin]
    int64_t line_offset;
    int line;
    char *text; // the line, NUL at its end
    size_t length;
    bool has_end;  // a line end follows it
    bool has_rows; // so the file is a trajectory, whatever faults follow
} th_text_scanner;

th_result th_text_fail(const th_text_scanner *scan, const char *at, th_error *error,
                       const char *format, ...) __attribute__((format(printf, 4, 5)));
// A number that takes the whole word at `at`; `decimals` grows to its digits behind the point.
bool th_text_take_real(const char **at, double *value, int *decimals);

// ---- CSV, csv.c

typedef enum th_csv_kind {
    TH_CSV_ID,
    TH_CSV_FRAME,
    TH_CSV_TIME,
    TH_CSV_X,
    TH_CSV_Y,
    TH_CSV_LEVEL,
    TH_CSV_ORIENTATION_X,
    TH_CSV_ORIENTATION_Y,
    TH_CSV_KINDS
} th_csv_kind;

typedef struct th_csv {
    char separator;
    int of[TH_CSV_KINDS]; // number of the column; -1: none
    double second;        // unit of the times [s]
    double first_time;    // [s] of the rows seen at the beginning
    bool named_levels;    // names and not numbers
} th_csv;

// The sign that parts the columns of a file's first line behind the comments; 0: it is not CSV.
char th_csv_separator(const char *line);
// Takes the first line behind the comments: titles, or else the columns are guessed from the rows in the buffer.
// *titles: it holds no row.
th_result th_csv_begin(const th_text_scanner *scan, th_trajectory_assumed assumed,
                       th_text_header *header, th_csv *csv, bool *titles, th_error *error);
// Coordinates are in the file's unit; `place`: of the y coordinate.
th_result th_csv_row(const th_text_scanner *scan, th_text_header *header, th_csv *csv, th_row *row,
                     const char **place, th_error *error);
#endif
