// Juelich text: `id frame x y z`, as the Pedestrian Dynamics Data Archive, PeTrack and PedPy have it, and CSV.
// Keeps ids, frames, positions to 0.1 mm and the height of the level; with several levels a sixth
// column, which others skip, keeps the level itself. Loses geometry, orientation and notes. SPDX-License-Identifier: Apache-2.0
#include "record/text.h"
#include "core/error.h"
#include "core/memory.h"
#include "record/moment.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    info->format = header->csv ? TH_TRAJECTORY_CSV : TH_TRAJECTORY_TEXT;
    info->fps = header->fps;
    if (header->decimals >= 0 && header->decimals <= 9)
        info->quantum = pow(10, -header->decimals) * header->unit;
    th_trajectory_level *levels =
        th_arena_alloc(&trajectory->kept, 1, (size_t)header->level_count * sizeof *levels);
    th_trajectory_note *notes = th_arena_alloc(&trajectory->kept, 1, 3 * sizeof *notes);
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
    if (header->guessed[0])
        notes[info->note_count++] =
            (th_trajectory_note){"columns", th_arena_string(&trajectory->kept, header->guessed)};
    if (header->cut)
        notes[info->note_count++] =
            (th_trajectory_note){"cut_off", "the last line has no end; its frame is left out"};
    return info->note_count == 0 || notes[info->note_count - 1].value != NULL;
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
    reader->table.has_orientation = reader->header.has_orientation;
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
    char separator;
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
    writer->separator = info->format == TH_TRAJECTORY_CSV ? ',' : ' ';
    int count = info->level_count > 0 ? info->level_count : 1;
    writer->level_ending = calloc((size_t)count, sizeof *writer->level_ending);
    if (!writer->level_ending) return false;
    for (int i = 0; i < count; ++i) {
        char *at = writer->level_ending[i];
        *at++ = writer->separator;
        at = put_metres(at, info->level_count > 0 ? info->levels[i].z : 0);
        if (count > 1) {
            *at++ = writer->separator;
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
    bool csv = info->format == TH_TRAJECTORY_CSV;
    if (!reserve(writer, 256)) return false;
    writer->used =
        (size_t)snprintf(writer->buffer, 256, "# framerate: %s fps\n# %s%s\n# throng %s\n", fps,
                         csv ? "times in seconds, coordinates in metres" : "id frame x/m y/m z/m",
                         info->level_count > 1 && !csv ? " level" : "", th_version());
    for (int i = 0; i < info->level_count; ++i) {
        th_exact_text(z, info->levels[i].z);
        th_text_encode(word, sizeof word, info->levels[i].id);
        if (!reserve(writer, sizeof word + 64)) return false;
        writer->used += (size_t)snprintf(writer->buffer + writer->used, sizeof word + 64,
                                         "# level %d %s %s\n", i, z, word);
    }
    if (!csv) return true;
    if (!reserve(writer, 64)) return false;
    writer->used += (size_t)snprintf(writer->buffer + writer->used, 64, "id,frame,time,x,y,z%s\n",
                                     info->level_count > 1 ? ",level" : "");
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
    enum { ROW = 160 }; // six numbers of at most 24 characters and the level
    text_writer *writer = trajectory->state;
    if (!reserve(writer, (size_t)frame->count * ROW + ROW))
        return th_trajectory_fail(error, TH_NO_MEMORY, trajectory->path,
                                  "no memory for a frame of %d people", frame->count);
    char *at = writer->buffer, time[48];
    const char between = writer->separator;
    snprintf(time, sizeof time, ",%.10g,", (double)frame->number / trajectory->info.fps);
    if (frame->count == 0)
        at += snprintf(at, ROW, "# frame %lld: nobody\n", (long long)frame->number);
    for (int i = 0; i < frame->count; ++i) {
        double x = th_moment_x(frame, i), y = th_moment_y(frame, i);
        if (!(fabs(x) < FARTHEST && fabs(y) < FARTHEST))
            return th_trajectory_fail(error, TH_BAD_ARGUMENT, trajectory->path,
                                      "frame %lld: person %lld stands at (%g, %g), out of range",
                                      (long long)frame->number, (long long)frame->id[i], x, y);
        at = put_integer(at, frame->id[i]);
        *at++ = between;
        at = put_integer(at, frame->number);
        at = between == ',' ? stpcpy(at, time) : stpcpy(at, " ");
        at = put_metres(at, x);
        *at++ = between;
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
