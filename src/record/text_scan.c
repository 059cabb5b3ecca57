// Text read line by line, plain or gzipped: comments, rows `id frame x y z`, the places of lines. CSV has its rows
// read by csv.c. SPDX-License-Identifier: Apache-2.0
#include "record/text.h"
#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct comments_seen {
    bool column_unit; // a column's title has given the unit
} comments_seen;

// ---- the comment lines at the top: frame rate, unit, levels
// PedPy's rules (docs/recordings.md), and more lenient, as the archive holds files that PedPy needs help with.

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The powers of ten that doubles hold exactly.
static const double powers_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                       1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                       1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

double th_text_number(const char *text, const char **end) {
    if (end) *end = text;
    const char *at = text + (*text == '+' || *text == '-');
    uint64_t mantissa = 0;
    int digits = 0, decimals = 0;
    for (; is_digit(*at); ++at, ++digits)
        if (digits < 18) mantissa = mantissa * 10 + (uint64_t)(*at - '0');
    if (*at == '.')
        for (++at; is_digit(*at); ++at, ++digits, ++decimals)
            if (digits < 18) mantissa = mantissa * 10 + (uint64_t)(*at - '0');
    if (digits == 0) return 0;
    // One exact division rounds once, as strtod does, in a tenth of its time.
    if (digits <= 15 && *at != 'e' && *at != 'E') {
        if (end) *end = at;
        double value = (double)mantissa / powers_of_ten[decimals];
        return *text == '-' ? -value : value;
    }
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!c_locale) return 0;
    char *stop = NULL;
    double value = strtod_l(text, &stop, c_locale);
    freelocale(c_locale);
    if (end) *end = stop;
    return value;
}

static double first_positive(const char *text) {
    for (; *text; ++text) {
        const char *end;
        double value = th_text_number(text, &end);
        if (end != text) return value > 0 && isfinite(value) ? value : 0;
    }
    return 0;
}

// "in metres" and "in m," but not "in mode".
static bool says_metres(const char *line) {
    for (const char *at = line; (at = strcasestr(at, "in m")) != NULL; at += 4)
        if (!isalpha((unsigned char)at[4]) || strncasecmp(at + 4, "et", 2) == 0) return true;
    return false;
}

static void read_unit(comments_seen *comments, const char *line, th_text_header *header) {
    if (strcasestr(line, "x/cm") || strcasestr(line, "x/m")) {
        header->unit = strcasestr(line, "x/cm") ? 0.01 : 1;
        comments->column_unit = true;
    } else if (!comments->column_unit) { // prose gives way to a column's title
        if (strcasestr(line, "in cm")) header->unit = 0.01;
        if (says_metres(line)) header->unit = 1;
    }
}

// "# level 1 3.5 upper%20floor"
static void read_level(const char *line, th_text_header *header) {
    int index = -1, used = 0;
    if (sscanf(line, "# level %d %n", &index, &used) != 1 || used == 0) return;
    if (index != header->level_count || index >= TH_TEXT_LEVELS) return;
    const char *end = NULL;
    th_text_level *level = &header->levels[index];
    level->z = th_text_number(line + used, &end);
    if (!isfinite(level->z) || end == line + used || *end != ' ') return;
    th_text_decode(level->id, sizeof level->id, end + 1);
    ++header->level_count;
}

// One comment line before the first row, without its line end.
static void read_comment(comments_seen *comments, const char *line, th_text_header *header) {
    const char *word = strcasestr(line, "framerate");
    if (word && header->fps <= 0) header->fps = first_positive(word + strlen("framerate"));
    read_unit(comments, line, header);
    static const char columns[] = "# id frame x/m y/m z/m level";
    if (strcmp(line, columns) == 0) header->has_level = true;
    if (strncmp(line, "# throng ", 9) == 0) header->by_throng = true;
    if (header->by_throng) read_level(line, header);
}

void th_text_encode(char *word, size_t size, const char *id) {
    // A level may be called "framerate": its letters are escaped, so that the name survives.
    bool all = strcasestr(id, "framerate") != NULL;
    size_t at = 0;
    for (; *id && at + 4 <= size; ++id) {
        bool letter = (*id >= 'a' && *id <= 'z') || (*id >= 'A' && *id <= 'Z') || is_digit(*id);
        if ((letter && !all) || *id == '_' || *id == '-')
            word[at++] = *id;
        else
            at += (size_t)snprintf(word + at, size - at, "%%%02X", (unsigned)(unsigned char)*id);
    }
    word[at] = '\0';
}

static int hex_digit(char digit) {
    if (digit >= '0' && digit <= '9') return digit - '0';
    if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
    return -1;
}

void th_text_decode(char *id, size_t size, const char *word) {
    size_t at = 0;
    while (*word && at + 1 < size) {
        bool coded = word[0] == '%' && hex_digit(word[1]) >= 0 && hex_digit(word[2]) >= 0;
        int byte = coded ? hex_digit(word[1]) * 16 + hex_digit(word[2]) : *word;
        if (byte == 0) break;
        id[at++] = (char)byte;
        word += coded ? 3 : 1;
    }
    id[at] = '\0';
}

// ---- line by line, plain or gzipped
// A line is at most 64 KiB, so memory stays bounded whatever the file is.

enum { LINE_MAX_BYTES = 1 << 16, BUFFER_BYTES = 1 << 18 };

th_result th_text_fail(const th_text_scanner *scan, const char *at, th_error *error,
                       const char *format, ...) {
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

static th_result fill(th_text_scanner *scan, th_error *error) {
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
static th_result next_line(th_text_scanner *scan, th_error *error) {
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
        return th_text_fail(scan, scan->text, error,
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

static th_result fail_word(const th_text_scanner *scan, const char *at, const char *what,
                           th_error *error) {
    const char *verdict = scan->has_rows ? "" : "not a trajectory: ";
    int length = word_length(at);
    if (memchr(at, ',', (size_t)length) || memchr(at, ';', (size_t)length))
        return th_text_fail(
            scan, at, error,
            "%scolumns parted by commas or semicolons, but not from the first row on; "
            "part all rows alike",
            verdict);
    if (length == 0)
        return th_text_fail(scan, at, error,
                            "%sthe %s is missing; a row is `id frame x y z` (z may be left out)",
                            verdict, what);
    return th_text_fail(scan, at, error,
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

bool th_text_take_real(const char **at, double *value, int *decimals) {
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

static th_result check_place(const th_text_scanner *scan, const char *at, const th_row *row,
                             th_error *error) {
    if (fabs(row->x) <= TH_FARTHEST && fabs(row->y) <= TH_FARTHEST) return TH_OK;
    return th_text_fail(
        scan, at, error,
        "person %lld stands nowhere (%g, %g); positions are at most %g m from (0, 0)",
        (long long)row->id, row->x, row->y, TH_FARTHEST);
}

// `place`: behind the coordinates.
static th_result read_row(const th_text_scanner *scan, th_text_header *header, th_row *row,
                          const char **place, th_error *error) {
    const char *at = skip_blank(scan->text);
    if (!take_integer(&at, &row->id)) return fail_word(scan, at, "person's number", error);
    at = skip_blank(at);
    if (!take_integer(&at, &row->frame)) return fail_word(scan, at, "frame number", error);
    if (row->frame < 0)
        return th_text_fail(scan, at, error, "frame %lld; frames are counted from 0",
                            (long long)row->frame);
    at = skip_blank(at);
    if (!th_text_take_real(&at, &row->x, &header->decimals))
        return fail_word(scan, at, "x coordinate", error);
    at = skip_blank(at);
    if (!th_text_take_real(&at, &row->y, &header->decimals))
        return fail_word(scan, at, "y coordinate", error);
    *place = at;
    if (!header->has_level) return TH_OK; // further columns belong to other programs
    at = skip_blank(at);
    double z;
    int unused = 0;
    int64_t level;
    if (!th_text_take_real(&at, &z, &unused)) return fail_word(scan, at, "z coordinate", error);
    at = skip_blank(at);
    if (!take_integer(&at, &level)) return fail_word(scan, at, "level", error);
    if (level < 0 || level >= header->level_count)
        return th_text_fail(scan, at, error, "level %lld; the header names %d", (long long)level,
                            header->level_count);
    row->level = (int32_t)level;
    return TH_OK;
}

// The line at which a writer was cut off: to which frame did it belong?
static void note_cut(const th_text_scanner *scan, th_text_header *header) {
    long long frame;
    int used = 0;
    const char *form = header->csv ? "%*d,%lld%n" : "%*d %lld%n";
    header->cut = true;
    // "# frame 7: nobody" is a frame of its own.
    header->cut_frame = scan->text[0] == '#' ? INT64_MAX : -1;
    if (sscanf(scan->text, form, &frame, &used) == 1 && used > 0 &&
        scan->text[used] == (header->csv ? ',' : ' '))
        header->cut_frame = frame;
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
    th_text_scanner scan;
    comments_seen comments;
    th_text_header *header;
    th_text_row_fn *row;
    void *context;
    double per_metre; // 0 before the first row
    bool begun;       // a line behind the comments was seen
    th_csv csv;
} scan_state;

// At the first row the header is complete.
static th_result begin_rows(scan_state *state, th_trajectory_assumed assumed, th_error *error) {
    th_text_header *header = state->header;
    if (header->fps <= 0) header->fps = assumed.fps;
    header->unit_assumed = header->unit <= 0 && assumed.unit <= 0;
    if (header->unit <= 0) header->unit = assumed.unit > 0 ? assumed.unit : 1;
    state->per_metre = 1 / header->unit;
    if (header->fps > 0) return TH_OK;
    return th_trajectory_fail(
        error, TH_NO_FILE, state->scan.path,
        "says no frame rate; add `# framerate: 25.00 fps` as its first line%s, "
        "or name the rate (--fps)",
        header->csv ? " or a column `time`" : "");
}

static th_result take_line(scan_state *state, th_trajectory_assumed assumed, th_error *error) {
    th_text_scanner *scan = &state->scan;
    if (strlen(scan->text) != scan->length)
        return th_text_fail(scan, scan->text + strlen(scan->text), error,
                            "a zero byte; this is not text");
    const char *at = skip_blank(scan->text);
    if (*at == '#' && state->per_metre <= 0) read_comment(&state->comments, at, state->header);
    int64_t empty = empty_frame(at, state->header);
    if (empty >= 0) {
        th_result result = state->per_metre <= 0 ? begin_rows(state, assumed, error) : TH_OK;
        if (result != TH_OK) return result;
        return state->row(state->context, empty, NULL, scan->line_offset, error);
    }
    if (*at == '#' || *at == '\0') return TH_OK;
    th_row row = {0};
    th_result result = TH_OK;
    if (!state->begun) {
        bool titles = false;
        state->begun = true;
        state->header->csv = th_csv_separator(at) != '\0';
        if (state->header->csv)
            result = th_csv_begin(scan, assumed, state->header, &state->csv, &titles, error);
        if (result != TH_OK || titles) return result;
    }
    // Checks that the line is a row before complaining about a missing frame rate.
    result = state->header->csv ? th_csv_row(scan, state->header, &state->csv, &row, &at, error)
                                : read_row(scan, state->header, &row, &at, error);
    if (result == TH_OK && state->per_metre <= 0) result = begin_rows(state, assumed, error);
    if (result != TH_OK) return result;
    row.x /= state->per_metre;
    row.y /= state->per_metre;
    result = check_place(scan, at, &row, error);
    if (result != TH_OK) return result;
    scan->has_rows = true;
    return state->row(state->context, row.frame, &row, scan->line_offset, error);
}

static th_result scan_lines(scan_state *state, th_trajectory_assumed assumed, th_error *error) {
    th_text_scanner *scan = &state->scan;
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
