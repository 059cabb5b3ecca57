// Juelich text, line by line, plain or gzipped. A line is at most 64 KiB, so memory stays bounded
// whatever the file is. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "record/text.h"
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { LINE_MAX_BYTES = 1 << 16, BUFFER_BYTES = 1 << 18 };

typedef struct scanner {
    const char *path;
    gzFile file;
    char *buffer; // BUFFER_BYTES and one for the end of the last line
    size_t begin, end;
    bool finished;  // the file has no more bytes than those in the buffer
    int64_t offset; // of buffer[begin]
    int64_t line_offset;
    int line;
    char *text; // the line, NUL at its end
    size_t length;
    bool has_end;  // a line end follows it
    bool has_rows; // so it is a trajectory, whatever is wrong further down
} scanner;

static th_result fail_at(const scanner *scan, const char *at, th_error *error, const char *format,
                         ...) __attribute__((format(printf, 4, 5)));
static th_result fail_at(const scanner *scan, const char *at, th_error *error, const char *format,
                         ...) {
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    th_result result = th_trajectory_fail(error, TH_NO_FILE, scan->path, "%s", message);
    if (error) {
        error->line = scan->line;
        error->column = (int)(at - scan->text) + 1;
    }
    return result;
}

static th_result fill(scanner *scan, th_error *error) {
    memmove(scan->buffer, scan->buffer + scan->begin, scan->end - scan->begin);
    scan->end -= scan->begin;
    scan->begin = 0;
    int got = gzread(scan->file, scan->buffer + scan->end, (unsigned)(BUFFER_BYTES - scan->end));
    int code = Z_OK;
    const char *message = gzerror(scan->file, &code);
    if (got < 0 || (code != Z_OK && code != Z_STREAM_END))
        return th_trajectory_fail(error, TH_NO_FILE, scan->path, "cannot be read: %s",
                                  code == Z_ERRNO ? strerror(errno) : message);
    scan->end += (size_t)got;
    scan->finished = got == 0;
    return TH_OK;
}

// The next line; text NULL at the end of the file.
static th_result next_line(scanner *scan, th_error *error) {
    char *stop;
    while (!(stop = memchr(scan->buffer + scan->begin, '\n', scan->end - scan->begin)) &&
           !scan->finished && scan->end - scan->begin <= LINE_MAX_BYTES) {
        th_result result = fill(scan, error);
        if (result != TH_OK) return result;
    }
    scan->text = scan->buffer + scan->begin;
    scan->has_end = stop != NULL;
    scan->line_offset = scan->offset;
    scan->length = stop ? (size_t)(stop - scan->text) : scan->end - scan->begin;
    ++scan->line;
    if (scan->length > LINE_MAX_BYTES)
        return fail_at(scan, scan->text, error,
                       "this line has more than %d characters; it is not a trajectory",
                       LINE_MAX_BYTES);
    size_t whole = scan->length + (stop ? 1 : 0);
    scan->begin += whole;
    scan->offset += (int64_t)whole;
    if (whole == 0) {
        scan->text = NULL;
        return TH_OK;
    }
    scan->text[scan->length] = '\0';
    if (scan->length > 0 && scan->text[scan->length - 1] == '\r') scan->text[--scan->length] = '\0';
    return TH_OK;
}

static const char *skip_blank(const char *at) {
    while (*at == ' ' || *at == '\t') ++at;
    return at;
}

static bool ends_word(char c) { return c == ' ' || c == '\t' || c == '\0' || c == '#'; }

static int word_length(const char *at) {
    int length = 0;
    while (!ends_word(at[length]) && length < 40) ++length; // enough to recognise it in a message
    return length;
}

static th_result fail_word(const scanner *scan, const char *at, const char *what, th_error *error) {
    const char *verdict = scan->has_rows ? "" : "not a trajectory: ";
    int length = word_length(at);
    if (memchr(at, ',', (size_t)length) || memchr(at, ';', (size_t)length))
        return fail_at(scan, at, error,
                       "%scolumns parted by commas or semicolons; a trajectory in text has rows "
                       "`id frame x y z` parted by blanks",
                       verdict);
    if (length == 0)
        return fail_at(scan, at, error,
                       "%sthe %s is missing; a row is `id frame x y z` (z may be left out)",
                       verdict, what);
    return fail_at(scan, at, error,
                   "%s'%.*s' is no %s; a trajectory in text has rows `id frame x y z`, and "
                   "comments begin with #",
                   verdict, length, at, what);
}

static bool take_integer(const char **at, int64_t *value) {
    const char *p = *at;
    bool negative = *p == '-';
    if (*p == '-' || *p == '+') ++p;
    int64_t sum = 0;
    int digits = 0;
    for (; *p >= '0' && *p <= '9' && digits < 18; ++p, ++digits) sum = sum * 10 + (*p - '0');
    if (digits == 0 || !ends_word(*p)) return false;
    *value = negative ? -sum : sum;
    *at = p;
    return true;
}

static bool take_real(const char **at, double *value, int *decimals) {
    const char *end;
    *value = th_text_number(*at, &end);
    if (end == *at || !ends_word(*end) || !isfinite(*value)) return false;
    for (const char *p = *at; p < end && *decimals >= 0; ++p) {
        if (*p == 'e' || *p == 'E') *decimals = -1;
        if (*p == '.' && end - p - 1 > *decimals) *decimals = (int)(end - p - 1);
    }
    *at = end;
    return true;
}

static th_result read_row(const scanner *scan, th_text_header *header, double per_metre,
                          th_row *row, th_error *error) {
    const char *at = skip_blank(scan->text);
    if (!take_integer(&at, &row->id)) return fail_word(scan, at, "person's number", error);
    at = skip_blank(at);
    if (!take_integer(&at, &row->frame)) return fail_word(scan, at, "frame number", error);
    if (row->frame < 0)
        return fail_at(scan, at, error, "frame %lld; frames are counted from 0",
                       (long long)row->frame);
    at = skip_blank(at);
    if (!take_real(&at, &row->x, &header->decimals))
        return fail_word(scan, at, "x coordinate", error);
    at = skip_blank(at);
    if (!take_real(&at, &row->y, &header->decimals))
        return fail_word(scan, at, "y coordinate", error);
    row->x /= per_metre;
    row->y /= per_metre;
    if (!(fabs(row->x) <= TH_FARTHEST && fabs(row->y) <= TH_FARTHEST))
        return fail_at(
            scan, at, error,
            "person %lld stands nowhere (%g, %g); positions are at most %g m from (0, 0)",
            (long long)row->id, row->x, row->y, TH_FARTHEST);
    if (!header->has_level) return TH_OK; // further columns belong to other programs
    at = skip_blank(at);
    double z;
    int unused = 0;
    int64_t level;
    if (!take_real(&at, &z, &unused)) return fail_word(scan, at, "z coordinate", error);
    at = skip_blank(at);
    if (!take_integer(&at, &level)) return fail_word(scan, at, "level", error);
    if (level < 0 || level >= header->level_count)
        return fail_at(scan, at, error, "level %lld; the header names %d", (long long)level,
                       header->level_count);
    row->level = (int32_t)level;
    return TH_OK;
}

// The line at which a writer was cut off: to which frame did it belong?
static void note_cut(const scanner *scan, th_text_header *header) {
    int64_t id, frame;
    const char *at = scan->text;
    header->cut = true;
    header->cut_frame = *at == '#' ? INT64_MAX : -1; // "# frame 7: nobody" is a frame of its own
    if (!take_integer(&at, &id) || *at != ' ') return;
    at = skip_blank(at);
    if (take_integer(&at, &frame) && *at == ' ') header->cut_frame = frame;
}

// "# frame 7: nobody", as written by throng. -1: something else.
static int64_t empty_frame(const char *at, const th_text_header *header) {
    static const char beginning[] = "# frame ";
    if (!header->by_throng || strncmp(at, beginning, sizeof beginning - 1) != 0) return -1;
    char *end = NULL;
    long long frame = strtoll(at + sizeof beginning - 1, &end, 10);
    return strcmp(end, ": nobody") == 0 ? frame : -1;
}

typedef struct scan_state {
    scanner scan;
    th_text_comments comments;
    th_text_header *header;
    th_text_row_fn *row;
    void *context;
    double per_metre; // 0 before the first row
} scan_state;

// At the first row the header is complete.
static th_result begin_rows(scan_state *state, th_trajectory_assumed assumed, th_error *error) {
    th_text_header *header = state->header;
    if (header->fps <= 0) header->fps = assumed.fps;
    header->unit_assumed = header->unit <= 0 && assumed.unit <= 0;
    if (header->unit <= 0) header->unit = assumed.unit > 0 ? assumed.unit : 1;
    state->per_metre = 1 / header->unit;
    if (header->fps > 0) return TH_OK;
    return th_trajectory_fail(error, TH_NO_FILE, state->scan.path,
                              "says no frame rate; add `# framerate: 25.00 fps` as its first line, "
                              "or name the rate (--fps)");
}

static th_result take_line(scan_state *state, th_trajectory_assumed assumed, th_error *error) {
    scanner *scan = &state->scan;
    if (strlen(scan->text) != scan->length)
        return fail_at(scan, scan->text + strlen(scan->text), error,
                       "a zero byte; this is not text");
    const char *at = skip_blank(scan->text);
    if (*at == '#' && state->per_metre <= 0)
        th_text_read_comment(&state->comments, at, state->header);
    int64_t empty = empty_frame(at, state->header);
    if (empty >= 0) {
        th_result result = state->per_metre <= 0 ? begin_rows(state, assumed, error) : TH_OK;
        if (result != TH_OK) return result;
        return state->row(state->context, empty, NULL, scan->line_offset, error);
    }
    if (*at == '#' || *at == '\0') return TH_OK;
    th_row row = {0};
    // Checks that the line is a row before complaining about a missing frame rate.
    th_result result =
        read_row(scan, state->header, state->per_metre > 0 ? state->per_metre : 1, &row, error);
    if (result == TH_OK && state->per_metre <= 0) {
        result = begin_rows(state, assumed, error);
        if (result != TH_OK) return result;
        row.x /= state->per_metre;
        row.y /= state->per_metre;
    }
    if (result != TH_OK) return result;
    scan->has_rows = true;
    return state->row(state->context, row.frame, &row, scan->line_offset, error);
}

static th_result scan_lines(scan_state *state, th_trajectory_assumed assumed, th_error *error) {
    scanner *scan = &state->scan;
    for (;;) {
        th_result result = next_line(scan, error);
        if (result != TH_OK) return result;
        state->header->compressed = !gzdirect(scan->file);
        state->header->end_offset = scan->text && !scan->has_end ? scan->line_offset : scan->offset;
        if (!scan->text) break;
        if (scan->line == 1 && strncmp(scan->text, "\xEF\xBB\xBF", 3) == 0) {
            scan->text += 3; // byte order mark
            scan->length -= 3;
        }
        if (!scan->has_end && state->header->by_throng) {
            note_cut(scan, state->header);
            break;
        }
        result = take_line(state, assumed, error);
        if (result != TH_OK) return result;
    }
    return state->per_metre > 0 ? TH_OK : begin_rows(state, assumed, error);
}

th_result th_text_scan(const char *path, th_trajectory_assumed assumed, th_text_header *header,
                       th_text_row_fn *row, void *context, th_error *error) {
    *header = (th_text_header){.cut_frame = -1};
    scan_state state = {.header = header, .row = row, .context = context};
    state.scan.path = path;
    state.scan.buffer = malloc(BUFFER_BYTES + 1);
    if (!state.scan.buffer)
        return th_trajectory_fail(error, TH_NO_MEMORY, path, "no memory to read the file");
    state.scan.file = gzopen(path, "rb");
    th_result result;
    if (!state.scan.file)
        result =
            th_trajectory_fail(error, TH_NO_FILE, path, "cannot be opened: %s", strerror(errno));
    else
        result = scan_lines(&state, assumed, error);
    if (state.scan.file) gzclose_r(state.scan.file);
    free(state.scan.buffer);
    return result;
}
