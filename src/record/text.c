// Juelich text: `id frame x y z`, as the Pedestrian Dynamics Data Archive, PeTrack and PedPy have it.
// Keeps ids, frames, positions to 0.1 mm and the height of the level; with several levels a sixth
// column, which others skip, keeps the level itself. Loses geometry, orientation and notes. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/memory.h"
#include "record/backend.h"
#include "record/moment.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

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
    bool has_rows; // so the file is a trajectory, whatever faults follow
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
    comments_seen comments;
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
    if (*at == '#' && state->per_metre <= 0) read_comment(&state->comments, at, state->header);
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

// ---- the backend

#define PER_METRE \
    10000             // decimals [1/m]: 0.1 mm is finer than any tracking, and short enough to read
#define FARTHEST 1e12 // [m] what the decimals of a 64-bit number leave

static bool recognise(const unsigned char *head, size_t size) {
    if (size >= 2 && head[0] == 0x1f && head[1] == 0x8b) return true; // gzip
    for (size_t i = 0; i < size; ++i)
        if (head[i] < 32 && !strchr("\t\n\r\f", head[i])) return false;
    return true;
}

// ---- reading

typedef struct text_reader {
    th_row_table table;
    th_text_header header;
    const char *path;
} text_reader;

static th_result keep_row(void *context, int64_t frame, const th_row *row, int64_t offset,
                          th_error *error) {
    (void)offset;
    text_reader *reader = context;
    bool kept = row ? th_row_table_add(&reader->table, *row)
                    : th_row_table_add_empty(&reader->table, frame);
    if (kept) return TH_OK;
    return th_trajectory_fail(error, TH_NO_MEMORY, reader->path, "no memory for its %lld rows",
                              (long long)reader->table.count);
}

// An incomplete frame is worse than none, because people would vanish. When even the line's frame number is missing, it
// is taken for another row of the last frame.
static void drop_cut_frame(text_reader *reader) {
    th_row_table *table = &reader->table;
    int64_t frame = reader->header.cut_frame;
    int64_t last = table->count > 0 ? table->rows[table->count - 1].frame : -1;
    bool empty_after = table->empty_count > 0 && table->empty[table->empty_count - 1] > last;
    if (frame < 0 && !empty_after) frame = last;
    while (table->count > 0 && table->rows[table->count - 1].frame == frame) --table->count;
}

static bool keep_header(th_trajectory *trajectory, const th_text_header *header) {
    th_trajectory_info *info = &trajectory->info;
    info->format = TH_TRAJECTORY_TEXT;
    info->fps = header->fps;
    if (header->decimals >= 0 && header->decimals <= 9)
        info->quantum = pow(10, -header->decimals) * header->unit;
    th_trajectory_level *levels =
        th_arena_alloc(&trajectory->kept, 1, (size_t)header->level_count * sizeof *levels);
    th_trajectory_note *notes = th_arena_alloc(&trajectory->kept, 1, 2 * sizeof *notes);
    if (!levels || !notes) return false;
    for (int i = 0; i < header->level_count; ++i) {
        levels[i].z = header->levels[i].z;
        levels[i].id = th_arena_string(&trajectory->kept, header->levels[i].id);
        if (!levels[i].id) return false;
    }
    info->levels = levels;
    info->level_count = header->level_count;
    info->notes = notes;
    if (header->unit_assumed)
        notes[info->note_count++] =
            (th_trajectory_note){"unit", "taken for metres, as the file does not say"};
    if (header->cut)
        notes[info->note_count++] =
            (th_trajectory_note){"cut_off", "the last line has no end; its frame is left out"};
    return true;
}

static th_result open_text(th_trajectory *trajectory, const char *path, th_error *error) {
    text_reader *reader = calloc(1, sizeof *reader);
    if (!reader) return th_trajectory_fail(error, TH_NO_MEMORY, path, "no memory to read it");
    trajectory->state = reader;
    reader->path = trajectory->path;
    th_result result =
        th_text_scan(path, trajectory->assumed, &reader->header, keep_row, reader, error);
    if (result != TH_OK) return result;
    if (reader->header.cut) drop_cut_frame(reader);
    reader->table.has_level = reader->header.has_level;
    if (!keep_header(trajectory, &reader->header))
        return th_trajectory_fail(error, TH_NO_MEMORY, path, "no memory for its header");
    return th_row_table_complete(&reader->table, &trajectory->info, path, error);
}

static th_result next_text(th_trajectory *trajectory, th_moment *frame, th_error *error) {
    text_reader *reader = trajectory->state;
    return th_row_table_next(&reader->table, frame, trajectory->path, error);
}

static void rewind_text(th_trajectory *trajectory) {
    text_reader *reader = trajectory->state;
    th_row_table_rewind(&reader->table);
}

static void close_text(th_trajectory *trajectory) {
    text_reader *reader = trajectory->state;
    if (reader) th_row_table_release(&reader->table);
    free(reader);
    trajectory->state = NULL;
}

// ---- writing: a frame is one write(), so that a kill rarely finds half of one on the disk

typedef struct text_writer {
    int file;
    int64_t size; // of the whole frames in the file
    char *buffer;
    size_t used, capacity;
    char (*level_ending)[48]; // " z" or " z level", and the line's end
} text_writer;

static bool reserve(text_writer *writer, size_t more) {
    return TH_RESERVE(writer->buffer, writer->capacity, writer->used + more);
}

static th_result flush(th_trajectory_writer *trajectory, th_error *error) {
    text_writer *writer = trajectory->state;
    size_t done = 0;
    while (done < writer->used) {
        ssize_t wrote = write(writer->file, writer->buffer + done, writer->used - done);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) {
            int reason = wrote < 0 ? errno : ENOSPC;
            // Removes the beginning of a frame, so that the rest stays readable. Should even this fail,
            // the reader drops the cut line.
            if (ftruncate(writer->file, (off_t)writer->size) == 0)
                lseek(writer->file, (off_t)writer->size, SEEK_SET);
            writer->used = 0;
            return th_trajectory_fail(error, TH_NO_FILE, trajectory->path,
                                      "cannot be written: %s; free space and resume" TH_FRAMES_KEPT,
                                      strerror(reason));
        }
        done += (size_t)wrote;
    }
    writer->size += (int64_t)writer->used;
    writer->used = 0;
    return TH_OK;
}

static char *put_integer(char *at, int64_t value) {
    char digits[20];
    int count = 0;
    uint64_t rest = value < 0 ? 0u - (uint64_t)value : (uint64_t)value;
    do digits[count++] = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    if (value < 0) *at++ = '-';
    while (count > 0) *at++ = digits[--count];
    return at;
}

static char *put_metres(char *at, double value) {
    int64_t parts = llround(value * PER_METRE);
    if (parts < 0) *at++ = '-';
    uint64_t rest = parts < 0 ? 0u - (uint64_t)parts : (uint64_t)parts;
    at = put_integer(at, (int64_t)(rest / PER_METRE));
    *at++ = '.';
    for (unsigned scale = PER_METRE / 10, part = (unsigned)(rest % PER_METRE); scale > 0;
         scale /= 10)
        *at++ = (char)('0' + part / scale % 10);
    return at;
}

static bool prepare_levels(text_writer *writer, const th_trajectory_info *info) {
    int count = info->level_count > 0 ? info->level_count : 1;
    writer->level_ending = calloc((size_t)count, sizeof *writer->level_ending);
    if (!writer->level_ending) return false;
    for (int i = 0; i < count; ++i) {
        char *at = writer->level_ending[i];
        *at++ = ' ';
        at = put_metres(at, info->level_count > 0 ? info->levels[i].z : 0);
        if (count > 1) {
            *at++ = ' ';
            at = put_integer(at, i);
        }
        *at++ = '\n';
    }
    return true;
}

static bool put_header(text_writer *writer, const th_trajectory_info *info) {
    char fps[TH_NUMBER_TEXT], z[TH_NUMBER_TEXT], word[3 * sizeof(((th_text_level *)0)->id)];
    // Two decimals as the archive has them, when they say it all.
    double cents = info->fps * 100;
    th_exact_text(fps, info->fps);
    if (cents == floor(cents) && cents < 1e6)
        snprintf(fps, sizeof fps, "%d.%02d", (int)cents / 100, (int)cents % 100);
    if (!reserve(writer, 256)) return false;
    writer->used = (size_t)snprintf(writer->buffer, 256,
                                    "# framerate: %s fps\n# id frame x/m y/m z/m%s\n# throng %s\n",
                                    fps, info->level_count > 1 ? " level" : "", th_version());
    for (int i = 0; i < info->level_count; ++i) {
        th_exact_text(z, info->levels[i].z);
        th_text_encode(word, sizeof word, info->levels[i].id);
        if (!reserve(writer, sizeof word + 64)) return false;
        writer->used += (size_t)snprintf(writer->buffer + writer->used, sizeof word + 64,
                                         "# level %d %s %s\n", i, z, word);
    }
    return true;
}

static th_result create_text(th_trajectory_writer *trajectory, const char *path, th_error *error) {
    if (trajectory->info.level_count > TH_TEXT_LEVELS)
        return th_trajectory_fail(error, TH_BAD_ARGUMENT, path,
                                  "%d levels; text holds at most %d, write sqlite instead",
                                  trajectory->info.level_count, TH_TEXT_LEVELS);
    text_writer *writer = calloc(1, sizeof *writer);
    if (!writer) return th_trajectory_fail(error, TH_NO_MEMORY, path, "no memory to write it");
    trajectory->state = writer;
    trajectory->info.quantum = 1.0 / PER_METRE;
    writer->file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (writer->file < 0)
        return th_trajectory_fail(error, TH_NO_FILE, path, "cannot be made: %s", strerror(errno));
    if (!prepare_levels(writer, &trajectory->info) || !put_header(writer, &trajectory->info))
        return th_trajectory_fail(error, TH_NO_MEMORY, path, "no memory to write it");
    return flush(trajectory, error);
}

static th_result write_text(th_trajectory_writer *trajectory, const th_moment *frame,
                            th_error *error) {
    enum { ROW = 128 }; // five numbers of at most 21 characters and the level
    text_writer *writer = trajectory->state;
    if (!reserve(writer, (size_t)frame->count * ROW + ROW))
        return th_trajectory_fail(error, TH_NO_MEMORY, trajectory->path,
                                  "no memory for a frame of %d people", frame->count);
    char *at = writer->buffer;
    if (frame->count == 0)
        at += snprintf(at, ROW, "# frame %lld: nobody\n", (long long)frame->number);
    for (int i = 0; i < frame->count; ++i) {
        double x = th_moment_x(frame, i), y = th_moment_y(frame, i);
        if (!(fabs(x) < FARTHEST && fabs(y) < FARTHEST))
            return th_trajectory_fail(error, TH_BAD_ARGUMENT, trajectory->path,
                                      "frame %lld: person %lld stands at (%g, %g), out of range",
                                      (long long)frame->number, (long long)frame->id[i], x, y);
        at = put_integer(at, frame->id[i]);
        *at++ = ' ';
        at = put_integer(at, frame->number);
        *at++ = ' ';
        at = put_metres(at, x);
        *at++ = ' ';
        at = put_metres(at, y);
        at = stpcpy(at, writer->level_ending[th_moment_level(frame, i)]);
    }
    writer->used = (size_t)(at - writer->buffer);
    return flush(trajectory, error);
}

static th_result finish_text(th_trajectory_writer *trajectory, th_error *error) {
    text_writer *writer = trajectory->state;
    if (!writer) return TH_OK;
    th_result result = TH_OK;
    if (writer->file >= 0 && close(writer->file) != 0)
        result = th_trajectory_fail(error, TH_NO_FILE, trajectory->path, "cannot be written: %s",
                                    strerror(errno));
    free(writer->buffer);
    free(writer->level_ending);
    free(writer);
    trajectory->state = NULL;
    return result;
}

// ---- going on where a recording stopped

typedef struct append_scan {
    int64_t frame, offset; // offset: where rows of `frame` and later begin; -1: nowhere
    const char *path;
} append_scan;

static th_result look_for_frame(void *context, int64_t frame, const th_row *row, int64_t offset,
                                th_error *error) {
    (void)row;
    append_scan *scan = context;
    if (frame >= scan->frame && scan->offset < 0) scan->offset = offset;
    if (frame < scan->frame && scan->offset >= 0)
        return th_trajectory_fail(error, TH_BAD_ARGUMENT, scan->path,
                                  "its rows are not in the order of frames, so it cannot be "
                                  "continued; convert it first");
    return TH_OK;
}

static th_result append_text(th_trajectory_writer *trajectory, const char *path, int64_t frame,
                             th_error *error) {
    // Opening it tells the levels, refuses what is damaged, and knows which frame was cut.
    th_trajectory *before = NULL;
    th_result result = th_trajectory_open(path, &before, error);
    if (result != TH_OK) return result;
    bool memory = th_keep_info(&trajectory->kept, &trajectory->info, &before->info);
    text_reader *reader = before->state;
    bool ours = reader->header.by_throng && !reader->header.compressed;
    int64_t after = before->info.frame_count > 0 ? before->info.last_frame + 1 : 0;
    th_trajectory_close(before);
    if (!ours)
        return th_trajectory_fail(error, TH_BAD_ARGUMENT, path,
                                  "is compressed or not written by throng, so it is not continued; "
                                  "convert it first");
    text_writer *writer = calloc(1, sizeof *writer);
    if (!writer) return th_trajectory_fail(error, TH_NO_MEMORY, path, "no memory to write it");
    trajectory->state = writer;
    writer->file = open(path, O_WRONLY | O_CLOEXEC);
    if (writer->file < 0)
        return th_trajectory_fail(error, TH_NO_FILE, path, "cannot be written: %s",
                                  strerror(errno));
    if (!memory || !prepare_levels(writer, &trajectory->info))
        return th_trajectory_fail(error, TH_NO_MEMORY, path, "no memory to write it");
    append_scan scan = {.frame = frame < after ? frame : after, .offset = -1, .path = path};
    th_text_header header;
    result = th_text_scan(path, (th_trajectory_assumed){0}, &header, look_for_frame, &scan, error);
    if (result != TH_OK) return result;
    if (scan.offset < 0) scan.offset = header.end_offset;
    writer->size = scan.offset;
    if (ftruncate(writer->file, (off_t)scan.offset) != 0 ||
        lseek(writer->file, (off_t)scan.offset, SEEK_SET) < 0)
        return th_trajectory_fail(error, TH_NO_FILE, path, "cannot be shortened: %s",
                                  strerror(errno));
    return TH_OK;
}

const th_trajectory_backend th_text_backend = {
    .recognise = recognise,
    .open = open_text,
    .next = next_text,
    .rewind = rewind_text,
    .close = close_text,
    .create = create_text,
    .append = append_text,
    .write = write_text,
    .finish = finish_text,
};
