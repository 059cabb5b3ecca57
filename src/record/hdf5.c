// HDF5 as the Pedestrian Dynamics Data Archive has it: dataset /trajectory of rows id, frame, x, y, z.
// An export: the file is made in memory (about 15 bytes per row, twice that while finishing) and
// written when it is finished. HDF5 1.10 cannot close a file for which the disk had no room, and ends
// the process with a segmentation fault at exit; its memory files have no such trouble.
// SPDX-License-Identifier: Apache-2.0
#include "record/hdf5.h"
#include "core/memory.h"
#include "record/moment.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Rows per chunk: 0.9 MB at most, as a chunk must fit HDF5's cache of 1 MiB or it is compressed again
// with every write.
enum { CHUNK = 16384, GZIP_LEVEL = 1 };

static bool recognise(const unsigned char *head, size_t size) {
    return size >= 8 && memcmp(head, "\x89HDF\r\n\x1a\n", 8) == 0;
}

// ---- shared with reading

th_hdf5_voice th_hdf5_hush(void) {
    th_hdf5_voice voice = {0};
    H5Eget_auto2(H5E_DEFAULT, &voice.speak, &voice.context);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return voice;
}

void th_hdf5_speak_again(th_hdf5_voice voice) {
    H5Eset_auto2(H5E_DEFAULT, voice.speak, voice.context);
}

static herr_t take_reason(unsigned depth, const H5E_error2_t *entry, void *context) {
    if (depth == 0 && entry->desc) snprintf(context, 256, "%s", entry->desc);
    return 0;
}

th_result th_hdf5_fail(th_error *error, const char *path, const char *what) {
    char reason[256] = "";
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_reason, reason); // begins where it went wrong
    H5Eclear2(H5E_DEFAULT);
    return th_trajectory_fail(error, TH_NO_FILE, path, "%s%s%s%s", what,
                              reason[0] ? " (HDF5: " : "", reason, reason[0] ? ")" : "");
}

// of any length, UTF-8
static hid_t text_type(void) {
    hid_t type = H5Tcopy(H5T_C_S1);
    if (type >= 0 &&
        (H5Tset_size(type, H5T_VARIABLE) < 0 || H5Tset_cset(type, H5T_CSET_UTF8) < 0)) {
        H5Tclose(type);
        return -1;
    }
    return type;
}

hid_t th_hdf5_row_type(bool with_z, bool with_orientation) {
    hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(th_hdf5_row));
    if (type < 0) return type;
    bool good = H5Tinsert(type, "id", HOFFSET(th_hdf5_row, id), H5T_NATIVE_INT64) >= 0 &&
                H5Tinsert(type, "frame", HOFFSET(th_hdf5_row, frame), H5T_NATIVE_INT64) >= 0 &&
                H5Tinsert(type, "x", HOFFSET(th_hdf5_row, x), H5T_NATIVE_DOUBLE) >= 0 &&
                H5Tinsert(type, "y", HOFFSET(th_hdf5_row, y), H5T_NATIVE_DOUBLE) >= 0;
    if (good && with_z)
        good = H5Tinsert(type, "z", HOFFSET(th_hdf5_row, z), H5T_NATIVE_DOUBLE) >= 0;
    if (good && with_orientation)
        good = H5Tinsert(type, "ox", HOFFSET(th_hdf5_row, ox), H5T_NATIVE_DOUBLE) >= 0 &&
               H5Tinsert(type, "oy", HOFFSET(th_hdf5_row, oy), H5T_NATIVE_DOUBLE) >= 0;
    if (good) return type;
    H5Tclose(type);
    return -1;
}

static hid_t close_after(hid_t type, hid_t text, bool good) {
    H5Tclose(text);
    if (good || type < 0) return type;
    H5Tclose(type);
    return -1;
}

hid_t th_hdf5_level_type(void) {
    hid_t text = text_type(), type = H5Tcreate(H5T_COMPOUND, sizeof(th_hdf5_level));
    return close_after(type, text,
                       H5Tinsert(type, "id", HOFFSET(th_hdf5_level, id), text) >= 0 &&
                           H5Tinsert(type, "z", HOFFSET(th_hdf5_level, z), H5T_NATIVE_DOUBLE) >=
                               0 &&
                           H5Tinsert(type, "wkt", HOFFSET(th_hdf5_level, wkt), text) >= 0);
}

hid_t th_hdf5_note_type(void) {
    hid_t text = text_type(), type = H5Tcreate(H5T_COMPOUND, sizeof(th_hdf5_note));
    return close_after(type, text,
                       H5Tinsert(type, "key", HOFFSET(th_hdf5_note, key), text) >= 0 &&
                           H5Tinsert(type, "value", HOFFSET(th_hdf5_note, value), text) >= 0);
}

// ---- writing

typedef struct hdf5_writer {
    int disk_file;            // made at once, so that a wrong path is known before the work
    hid_t file, rows, levels; // levels: negative when there is one
    hid_t row_type;
    bool has_orientation, failed;
    hsize_t row_count; // in the file
    int buffered;
    th_hdf5_row buffer[CHUNK];
    int32_t level_buffer[CHUNK];
    int64_t *empty_frames;
    hsize_t empty_count;
    size_t empty_capacity;
} hdf5_writer;

static bool put_text(hid_t object, const char *name, const char *text) {
    hid_t type = text_type(), space = H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    bool good = attribute >= 0 && H5Awrite(attribute, type, &text) >= 0;
    if (attribute >= 0 && H5Aclose(attribute) < 0) good = false;
    H5Sclose(space);
    H5Tclose(type);
    return good;
}

static bool put_number(hid_t object, const char *name, double value) {
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(object, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT);
    bool good = attribute >= 0 && H5Awrite(attribute, H5T_NATIVE_DOUBLE, &value) >= 0;
    if (attribute >= 0 && H5Aclose(attribute) < 0) good = false;
    H5Sclose(space);
    return good;
}

// One-dimensional, to grow; negative on failure.
static hid_t make_column(hid_t file, const char *name, hid_t type) {
    const hsize_t none = 0, no_limit = H5S_UNLIMITED, chunk = CHUNK;
    hid_t space = H5Screate_simple(1, &none, &no_limit), packed = H5Tcopy(type);
    hid_t settings = H5Pcreate(H5P_DATASET_CREATE);
    hid_t dataset = -1;
    if (space >= 0 && settings >= 0 && packed >= 0 &&
        (H5Tget_class(packed) != H5T_COMPOUND || H5Tpack(packed) >= 0) &&
        H5Pset_chunk(settings, 1, &chunk) >= 0 && H5Pset_shuffle(settings) >= 0 &&
        H5Pset_deflate(settings, GZIP_LEVEL) >= 0)
        dataset = H5Dcreate2(file, name, packed, space, H5P_DEFAULT, settings, H5P_DEFAULT);
    H5Pclose(settings);
    H5Tclose(packed);
    H5Sclose(space);
    return dataset;
}

static bool describe_columns(hid_t rows, double fps, bool orientation) {
    return put_number(rows, "fps", fps) && put_text(rows, "id", "unique number of the person") &&
           put_text(rows, "frame", "number of the frame; time = frame / fps [s]") &&
           put_text(rows, "x", "x-coordinate [m]") && put_text(rows, "y", "y-coordinate [m]") &&
           put_text(rows, "z", "height of the level [m]") &&
           (!orientation || (put_text(rows, "ox", "x-component of the viewing direction") &&
                             put_text(rows, "oy", "y-component of the viewing direction")));
}

static bool make_datasets(th_trajectory_writer *trajectory, bool orientation) {
    hdf5_writer *writer = trajectory->state;
    writer->has_orientation = orientation;
    writer->row_type = th_hdf5_row_type(true, orientation);
    if (writer->row_type < 0) return false;
    writer->rows = make_column(writer->file, TH_HDF5_TRAJECTORY, writer->row_type);
    if (writer->rows < 0) return false;
    if (trajectory->info.level_count > 1) {
        writer->levels = make_column(writer->file, TH_HDF5_LEVEL, H5T_NATIVE_INT32);
        if (writer->levels < 0) return false;
    }
    return describe_columns(writer->rows, trajectory->info.fps, orientation);
}

// A list of levels, notes or frame numbers, all at once.
static bool put_list(hid_t file, const char *name, hid_t type, hsize_t count, const void *items) {
    if (count == 0) return true;
    hid_t space = H5Screate_simple(1, &count, NULL);
    hid_t dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool good = dataset >= 0 && H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, items) >= 0;
    if (dataset >= 0 && H5Dclose(dataset) < 0) good = false;
    H5Sclose(space);
    return good;
}

static bool put_levels(hid_t file, const th_trajectory_info *info) {
    th_hdf5_level *levels = calloc((size_t)info->level_count + 1, sizeof *levels);
    if (!levels) return false;
    for (int i = 0; i < info->level_count; ++i)
        levels[i] = (th_hdf5_level){(char *)info->levels[i].id, info->levels[i].z,
                                    info->levels[i].wkt ? (char *)info->levels[i].wkt : ""};
    hid_t type = th_hdf5_level_type();
    bool good =
        type >= 0 && put_list(file, TH_HDF5_LEVELS, type, (hsize_t)info->level_count, levels);
    H5Tclose(type);
    free(levels);
    return good;
}

static bool put_notes(hid_t file, const th_trajectory_info *info) {
    // th_trajectory_note is two texts as well.
    _Static_assert(sizeof(th_hdf5_note) == sizeof(th_trajectory_note), "written as it is");
    hid_t type = th_hdf5_note_type();
    bool good =
        type >= 0 && put_list(file, TH_HDF5_NOTES, type, (hsize_t)info->note_count, info->notes);
    H5Tclose(type);
    return good;
}

static bool put_head(hid_t file, const th_trajectory_info *info) {
    char source[64];
    snprintf(source, sizeof source, "throng %s", th_version());
    // PedPy wants one polygon here; which, when there are several levels, is a choice: the first.
    const char *area = info->level_count > 0 ? info->levels[0].wkt : NULL;
    hid_t group = H5Gcreate2(file, TH_HDF5_GROUP, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool good = group >= 0 && H5Gclose(group) >= 0;
    return good && put_text(file, "file_version", "1.0.0") && put_text(file, "source", source) &&
           (!area || put_text(file, TH_HDF5_GEOMETRY, area)) && put_levels(file, info) &&
           put_notes(file, info);
}

// Negative on failure.
static hid_t make_memory_file(const char *path) {
    enum { GROWTH = 16 << 20 }; // [bytes]
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), file = -1;
    if (access >= 0 && H5Pset_fapl_core(access, GROWTH, false) >= 0)
        file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5Pclose(access);
    return file;
}

static th_result create_hdf5(th_trajectory_writer *trajectory, const char *path, th_error *error) {
    hdf5_writer *writer = calloc(1, sizeof *writer);
    if (!writer) return th_trajectory_fail(error, TH_NO_MEMORY, path, "no memory to write it");
    trajectory->state = writer;
    trajectory->info.quantum = 0;
    writer->file = writer->rows = writer->levels = writer->row_type = -1;
    writer->disk_file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (writer->disk_file < 0)
        return th_trajectory_fail(error, TH_NO_FILE, path, "cannot be made: %s", strerror(errno));
    th_hdf5_voice voice = th_hdf5_hush();
    writer->file = make_memory_file(path);
    th_result result = TH_OK;
    if (writer->file < 0 || !put_head(writer->file, &trajectory->info)) {
        writer->failed = true;
        result = th_hdf5_fail(error, path, "its header cannot be made");
    }
    th_hdf5_speak_again(voice);
    return result;
}

static bool extend(hid_t dataset, hid_t type, hsize_t before, hsize_t count, const void *items) {
    hsize_t after = before + count;
    if (H5Dset_extent(dataset, &after) < 0) return false;
    hid_t file_space = H5Dget_space(dataset), memory = H5Screate_simple(1, &count, NULL);
    bool good = file_space >= 0 && memory >= 0 &&
                H5Sselect_hyperslab(file_space, H5S_SELECT_SET, &before, NULL, &count, NULL) >= 0 &&
                H5Dwrite(dataset, type, memory, file_space, H5P_DEFAULT, items) >= 0;
    H5Sclose(memory);
    H5Sclose(file_space);
    return good;
}

static bool flush_rows(hdf5_writer *writer) {
    hsize_t count = (hsize_t)writer->buffered;
    writer->buffered = 0;
    if (count == 0) return true;
    bool good = extend(writer->rows, writer->row_type, writer->row_count, count, writer->buffer) &&
                (writer->levels < 0 || extend(writer->levels, H5T_NATIVE_INT32, writer->row_count,
                                              count, writer->level_buffer));
    writer->row_count += count;
    return good;
}

static bool note_empty_frame(hdf5_writer *writer, int64_t frame) {
    if (!TH_RESERVE(writer->empty_frames, writer->empty_capacity, writer->empty_count + 1))
        return false;
    writer->empty_frames[writer->empty_count++] = frame;
    return true;
}

static bool put_rows(th_trajectory_writer *trajectory, const th_moment *frame) {
    hdf5_writer *writer = trajectory->state;
    const th_trajectory_info *info = &trajectory->info;
    for (int i = 0; i < frame->count; ++i) {
        int32_t level = th_moment_level(frame, i);
        writer->level_buffer[writer->buffered] = level;
        writer->buffer[writer->buffered++] = (th_hdf5_row){
            .id = frame->id[i],
            .frame = frame->number,
            .x = th_moment_x(frame, i),
            .y = th_moment_y(frame, i),
            .z = info->level_count > 0 ? info->levels[level].z : 0,
            .ox = frame->orientation_x ? frame->orientation_x[i] : 0,
            .oy = frame->orientation_y ? frame->orientation_y[i] : 0,
        };
        if (writer->buffered == CHUNK && !flush_rows(writer)) return false;
    }
    return true;
}

static th_result write_hdf5(th_trajectory_writer *trajectory, const th_moment *frame,
                            th_error *error) {
    hdf5_writer *writer = trajectory->state;
    if (frame->count == 0 && !note_empty_frame(writer, frame->number))
        return th_trajectory_fail(error, TH_NO_MEMORY, trajectory->path, "no memory for a frame");
    if (frame->count == 0) return TH_OK;
    th_hdf5_voice voice = th_hdf5_hush();
    bool good = writer->rows >= 0 ||
                make_datasets(trajectory, frame->orientation_x && frame->orientation_y);
    good = good && put_rows(trajectory, frame);
    th_result result = TH_OK;
    if (!good) {
        writer->failed = true;
        result = th_hdf5_fail(error, trajectory->path, "its rows cannot be made; no memory?");
    }
    th_hdf5_speak_again(voice);
    return result;
}

static bool complete(th_trajectory_writer *trajectory) {
    hdf5_writer *writer = trajectory->state;
    return (writer->rows >= 0 || make_datasets(trajectory, false)) && flush_rows(writer) &&
           put_list(writer->file, TH_HDF5_EMPTY_FRAMES, H5T_NATIVE_INT64, writer->empty_count,
                    writer->empty_frames);
}

static th_result write_image(th_trajectory_writer *trajectory, th_error *error) {
    hdf5_writer *writer = trajectory->state;
    const char *path = trajectory->path;
    ssize_t size = H5Fflush(writer->file, H5F_SCOPE_GLOBAL) < 0
                       ? -1
                       : H5Fget_file_image(writer->file, NULL, 0);
    char *image = size > 0 ? malloc((size_t)size) : NULL;
    if (!image || H5Fget_file_image(writer->file, image, (size_t)size) != size) {
        free(image);
        return th_hdf5_fail(error, path, "cannot be finished; no memory?");
    }
    th_result result = TH_OK;
    for (ssize_t done = 0; done < size && result == TH_OK;) {
        ssize_t wrote = write(writer->disk_file, image + done, (size_t)(size - done));
        if (wrote > 0) done += wrote;
        if (wrote <= 0 && errno != EINTR)
            result = th_trajectory_fail(error, TH_NO_FILE, path, "cannot be written: %s",
                                        strerror(errno));
    }
    free(image);
    return result;
}

static th_result finish_hdf5(th_trajectory_writer *trajectory, th_error *error) {
    hdf5_writer *writer = trajectory->state;
    if (!writer) return TH_OK;
    th_hdf5_voice voice = th_hdf5_hush();
    bool whole = writer->file >= 0 && !writer->failed;
    th_result result = TH_OK;
    if (whole && !complete(trajectory))
        result = th_hdf5_fail(error, trajectory->path, "cannot be finished; no memory?");
    else if (whole)
        result = write_image(trajectory, error);
    if (writer->row_type >= 0) H5Tclose(writer->row_type);
    if (writer->rows >= 0) H5Dclose(writer->rows);
    if (writer->levels >= 0) H5Dclose(writer->levels);
    if (writer->file >= 0) H5Fclose(writer->file);
    th_hdf5_speak_again(voice);
    if (writer->disk_file >= 0 && close(writer->disk_file) != 0 && result == TH_OK)
        result = th_trajectory_fail(error, TH_NO_FILE, trajectory->path, "cannot be written: %s",
                                    strerror(errno));
    free(writer->empty_frames);
    free(writer);
    trajectory->state = NULL;
    return result;
}

const th_trajectory_backend th_hdf5_backend = {
    .recognise = recognise,
    .open = th_hdf5_open,
    .next = th_hdf5_next,
    .rewind = th_hdf5_rewind,
    .close = th_hdf5_close,
    .create = create_hdf5,
    .append = NULL, // written all at once
    .write = write_hdf5,
    .finish = finish_hdf5,
};
