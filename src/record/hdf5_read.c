// Reading HDF5 trajectories: the archive's, JuPedSim's and throng's own. Numbers of any width are
// converted by HDF5 itself. Runs in a process of its own (hdf5_pipe.c). SPDX-License-Identifier: Apache-2.0
#include "record/hdf5.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 16384 };                       // rows per read
enum { LEVELS_MAX = 4096, NOTES_MAX = 4096 }; // more is a damaged file
#define DEFLATE_MOST \
    1100 // zlib packs at best about 1030 : 1; a file that promises more holds no rows
enum { TEXT_MAX = 1 << 26 }; // bytes of one text

// ---- attributes

// A kept copy, or NULL when there is no such text.
static char *keep_text_attribute(th_trajectory *trajectory, hid_t attribute) {
    hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute), memory = -1;
    char *text = NULL;
    if (type >= 0 && H5Tget_class(type) == H5T_STRING && H5Sget_simple_extent_npoints(space) == 1) {
        bool any_length = H5Tis_variable_str(type) > 0;
        size_t size = any_length ? 0 : H5Tget_size(type);
        memory = H5Tcopy(H5T_C_S1);
        H5Tset_cset(memory, H5Tget_cset(type));
        H5Tset_size(memory, any_length ? H5T_VARIABLE : size + 1);
        char *read = NULL;
        if (any_length && H5Aread(attribute, memory, &read) >= 0 && read) {
            text = th_arena_string(&trajectory->kept, read);
            H5free_memory(read);
        } else if (!any_length && size < TEXT_MAX) {
            text = th_arena_alloc(&trajectory->kept, 1, size + 2);
            if (text && H5Aread(attribute, memory, text) < 0) text = NULL;
        }
    }
    H5Tclose(memory);
    H5Sclose(space);
    H5Tclose(type);
    return text;
}

static char *keep_text(th_trajectory *trajectory, hid_t object, const char *name) {
    if (H5Aexists(object, name) <= 0) return NULL;
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    if (attribute < 0) return NULL;
    char *text = keep_text_attribute(trajectory, attribute);
    H5Aclose(attribute);
    return text;
}

// 0: there is none.
static double read_number(hid_t object, const char *name) {
    if (H5Aexists(object, name) <= 0) return 0;
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    if (attribute < 0) return 0;
    hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    H5T_class_t class = H5Tget_class(type);
    double value = 0;
    if ((class == H5T_INTEGER || class == H5T_FLOAT) && H5Sget_simple_extent_npoints(space) == 1 &&
        H5Aread(attribute, H5T_NATIVE_DOUBLE, &value) < 0)
        value = 0;
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(attribute);
    return value;
}

// ---- rows

static bool has_numbers(hid_t type, const char *name) {
    int index = H5Tget_member_index(type, name);
    if (index < 0) return false;
    H5T_class_t class = H5Tget_member_class(type, (unsigned)index);
    return class == H5T_INTEGER || class == H5T_FLOAT;
}

// The number of items, if the file can hold as many: one number of a damaged file must not cost all memory. -1: it cannot.
static int64_t count_items(hid_t dataset) {
    hid_t space = H5Dget_space(dataset), type = H5Dget_type(dataset);
    int64_t count = -1;
    if (H5Sget_simple_extent_ndims(space) == 1)
        count = (int64_t)H5Sget_simple_extent_npoints(space);
    double bytes = (double)count * (double)H5Tget_size(type);
    if (bytes > DEFLATE_MOST * (double)H5Dget_storage_size(dataset)) count = -1;
    H5Tclose(type);
    H5Sclose(space);
    return count;
}

static bool read_block(hid_t dataset, hid_t type, int64_t begin, int64_t count, void *items) {
    hsize_t start = (hsize_t)begin, size = (hsize_t)count;
    hid_t space = H5Dget_space(dataset), memory = H5Screate_simple(1, &size, NULL);
    bool good = space >= 0 && memory >= 0 &&
                H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &size, NULL) >= 0 &&
                H5Dread(dataset, type, memory, space, H5P_DEFAULT, items) >= 0;
    H5Sclose(memory);
    H5Sclose(space);
    return good;
}

static th_result add_row(th_trajectory *trajectory, const th_hdf5_row *row, th_error *error) {
    th_row_table *table = trajectory->state;
    if (row->frame < 0 || !(fabs(row->x) <= TH_FARTHEST && fabs(row->y) <= TH_FARTHEST))
        return th_trajectory_fail(error, TH_NO_FILE, trajectory->path,
                                  "row %lld: person %lld in frame %lld at (%g, %g); frames are "
                                  "counted from 0 and positions are numbers up to %g",
                                  (long long)table->count, (long long)row->id,
                                  (long long)row->frame, row->x, row->y, TH_FARTHEST);
    th_row added = {.frame = row->frame,
                    .id = row->id,
                    .x = row->x,
                    .y = row->y,
                    .orientation_x = row->ox,
                    .orientation_y = row->oy};
    if (th_row_table_add(table, added)) return TH_OK;
    return th_trajectory_fail(error, TH_NO_MEMORY, trajectory->path, "no memory for its %lld rows",
                              (long long)table->count);
}

static th_result read_rows(th_trajectory *trajectory, hid_t dataset, th_error *error) {
    th_row_table *table = trajectory->state;
    const char *path = trajectory->path;
    hid_t file_type = H5Dget_type(dataset);
    bool good = H5Tget_class(file_type) == H5T_COMPOUND && has_numbers(file_type, "id") &&
                has_numbers(file_type, "frame") && has_numbers(file_type, "x") &&
                has_numbers(file_type, "y");
    bool orientation = good && has_numbers(file_type, "ox") && has_numbers(file_type, "oy");
    H5Tclose(file_type);
    if (!good)
        return th_trajectory_fail(error, TH_NO_FILE, path,
                                  "its dataset /trajectory lacks the columns id, frame, x, y");
    int64_t count = count_items(dataset);
    if (count < 0)
        return th_trajectory_fail(error, TH_NO_FILE, path,
                                  "its dataset /trajectory is not a list of rows, or is damaged");
    table->has_orientation = orientation;
    th_hdf5_row *rows = calloc(BLOCK, sizeof *rows);
    hid_t type = th_hdf5_row_type(false, orientation);
    th_result result = TH_OK;
    if (!rows || type < 0)
        result = th_trajectory_fail(error, TH_NO_MEMORY, path, "no memory to read its rows");
    for (int64_t begin = 0; result == TH_OK && begin < count; begin += BLOCK) {
        int64_t size = count - begin < BLOCK ? count - begin : BLOCK;
        if (!read_block(dataset, type, begin, size, rows))
            result = th_hdf5_fail(error, path, "its rows cannot be read");
        for (int64_t i = 0; result == TH_OK && i < size; ++i)
            result = add_row(trajectory, &rows[i], error);
    }
    if (type >= 0) H5Tclose(type);
    free(rows);
    return result;
}

// ---- what throng keeps beside the rows

// A dataset of throng's own; negative: not there.
static hid_t open_own(hid_t file, const char *name) {
    if (H5Lexists(file, TH_HDF5_GROUP, H5P_DEFAULT) <= 0 || H5Lexists(file, name, H5P_DEFAULT) <= 0)
        return -1;
    return H5Dopen2(file, name, H5P_DEFAULT);
}

// All items of a small list; the caller reclaims the texts. NULL: none.
static void *read_list(hid_t dataset, hid_t type, int64_t most, int64_t *count) {
    *count = dataset >= 0 && type >= 0 ? count_items(dataset) : 0;
    if (*count <= 0 || *count > most) return NULL;
    void *items = calloc((size_t)*count, H5Tget_size(type));
    if (items && H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, items) < 0) {
        free(items);
        return NULL;
    }
    return items;
}

static void free_list(hid_t dataset, hid_t type, void *items) {
    if (items) {
        hid_t space = H5Dget_space(dataset);
        H5Dvlen_reclaim(type, space, H5P_DEFAULT, items);
        H5Sclose(space);
        free(items);
    }
    if (type >= 0) H5Tclose(type);
    if (dataset >= 0) H5Dclose(dataset);
}

static bool keep_levels(th_trajectory *trajectory, hid_t file) {
    hid_t dataset = open_own(file, TH_HDF5_LEVELS), type = th_hdf5_level_type();
    int64_t count = 0;
    th_hdf5_level *read = read_list(dataset, type, LEVELS_MAX, &count);
    bool memory = true;
    if (read) {
        th_trajectory_level *levels =
            th_arena_alloc(&trajectory->kept, 1, (size_t)count * sizeof *levels);
        memory = levels != NULL;
        for (int64_t i = 0; memory && i < count; ++i) {
            levels[i].z = isfinite(read[i].z) ? read[i].z : 0;
            levels[i].id = th_arena_string(&trajectory->kept, read[i].id ? read[i].id : "");
            if (read[i].wkt && read[i].wkt[0])
                levels[i].wkt = th_arena_string(&trajectory->kept, read[i].wkt);
            memory = levels[i].id && (levels[i].wkt || !read[i].wkt || !read[i].wkt[0]);
        }
        trajectory->info.levels = levels;
        trajectory->info.level_count = memory ? (int)count : 0;
    }
    free_list(dataset, type, read);
    return memory;
}

// The one area that others write.
static bool keep_area(th_trajectory *trajectory, hid_t file) {
    char *area = keep_text(trajectory, file, TH_HDF5_GEOMETRY);
    if (!area) return true;
    th_trajectory_level *level = th_arena_alloc(&trajectory->kept, 1, sizeof *level);
    if (!level) return false;
    *level = (th_trajectory_level){.id = "0", .wkt = area};
    trajectory->info.levels = level;
    trajectory->info.level_count = 1;
    return true;
}

static bool keep_notes(th_trajectory *trajectory, hid_t file) {
    hid_t dataset = open_own(file, TH_HDF5_NOTES), type = th_hdf5_note_type();
    int64_t count = 0;
    th_hdf5_note *read = read_list(dataset, type, NOTES_MAX, &count);
    bool memory = true;
    if (read) {
        th_trajectory_note *notes =
            th_arena_alloc(&trajectory->kept, 1, (size_t)count * sizeof *notes);
        memory = notes != NULL;
        for (int64_t i = 0; memory && i < count; ++i) {
            notes[i].key = th_arena_string(&trajectory->kept, read[i].key ? read[i].key : "");
            notes[i].value = th_arena_string(&trajectory->kept, read[i].value ? read[i].value : "");
            memory = notes[i].key && notes[i].value;
        }
        trajectory->info.notes = notes;
        trajectory->info.note_count = memory ? (int)count : 0;
    }
    free_list(dataset, type, read);
    return memory;
}

// The archive and JuPedSim describe a file by texts of its root: title, date, source.
typedef struct root_notes {
    th_trajectory *trajectory;
    th_trajectory_note notes[32];
    int count;
} root_notes;

static herr_t take_root_text(hid_t file, const char *name, const H5A_info_t *about, void *context) {
    (void)about;
    root_notes *root = context;
    if (root->count == 32) return 1;
    if (strcmp(name, TH_HDF5_GEOMETRY) == 0 || strcmp(name, "file_version") == 0) return 0;
    char *value = keep_text(root->trajectory, file, name);
    char *key = value ? th_arena_string(&root->trajectory->kept, name) : NULL;
    if (key) root->notes[root->count++] = (th_trajectory_note){key, value};
    return 0;
}

static bool keep_root_texts(th_trajectory *trajectory, hid_t file) {
    root_notes root = {.trajectory = trajectory};
    hsize_t begin = 0;
    H5Aiterate2(file, H5_INDEX_NAME, H5_ITER_INC, &begin, take_root_text, &root);
    th_trajectory_note *notes = th_arena_alloc(&trajectory->kept, 1, sizeof root.notes);
    if (!notes) return false;
    memcpy(notes, root.notes, sizeof root.notes);
    trajectory->info.notes = notes;
    trajectory->info.note_count = root.count;
    return true;
}

static th_result read_row_levels(th_trajectory *trajectory, hid_t file, th_error *error) {
    th_row_table *table = trajectory->state;
    hid_t dataset = open_own(file, TH_HDF5_LEVEL);
    if (dataset < 0) return TH_OK;
    int32_t *levels = calloc(BLOCK, sizeof *levels);
    bool good = levels && count_items(dataset) == table->count;
    for (int64_t begin = 0; good && begin < table->count; begin += BLOCK) {
        int64_t size = table->count - begin < BLOCK ? table->count - begin : BLOCK;
        good = read_block(dataset, H5T_NATIVE_INT32, begin, size, levels);
        for (int64_t i = 0; good && i < size; ++i) {
            table->rows[begin + i].level = levels[i];
            good = levels[i] >= 0 && levels[i] < trajectory->info.level_count;
        }
    }
    table->has_level = good;
    free(levels);
    H5Dclose(dataset);
    if (good) return TH_OK;
    return th_hdf5_fail(error, trajectory->path, "its dataset /" TH_HDF5_LEVEL " is damaged");
}

static bool read_empty_frames(th_trajectory *trajectory, hid_t file) {
    th_row_table *table = trajectory->state;
    hid_t dataset = open_own(file, TH_HDF5_EMPTY_FRAMES), type = H5Tcopy(H5T_NATIVE_INT64);
    int64_t count = 0;
    int64_t *frames = read_list(dataset, type, INT64_MAX, &count);
    bool memory = true;
    for (int64_t i = 0; memory && frames && i < count; ++i)
        if (frames[i] >= 0) memory = th_row_table_add_empty(table, frames[i]);
    free_list(dataset, type, frames);
    return memory;
}

// ---- the whole

static th_result read_all(th_trajectory *trajectory, hid_t file, hid_t dataset, th_error *error) {
    const char *path = trajectory->path;
    th_trajectory_info *info = &trajectory->info;
    info->format = TH_TRAJECTORY_HDF5;
    info->fps = read_number(dataset, "fps");
    if (!(info->fps > 0)) info->fps = read_number(file, "fps");
    bool own = H5Lexists(file, TH_HDF5_GROUP, H5P_DEFAULT) > 0;
    bool memory = own ? keep_levels(trajectory, file) && keep_notes(trajectory, file)
                      : keep_area(trajectory, file) && keep_root_texts(trajectory, file);
    if (!memory) return th_trajectory_fail(error, TH_NO_MEMORY, path, "no memory for its header");
    th_result result = read_rows(trajectory, dataset, error);
    if (result == TH_OK) result = read_row_levels(trajectory, file, error);
    if (result != TH_OK) return result;
    if (!read_empty_frames(trajectory, file))
        return th_trajectory_fail(error, TH_NO_MEMORY, path, "no memory for its frames");
    return TH_OK;
}

th_result th_hdf5_read(th_trajectory *trajectory, const char *path, th_error *error) {
    snprintf(trajectory->path, sizeof trajectory->path, "%s", path);
    th_hdf5_voice voice = th_hdf5_hush();
    th_result result = TH_OK;
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0) {
        result = th_hdf5_fail(error, path, "cannot be opened; is it complete?");
    } else if (H5Lexists(file, TH_HDF5_TRAJECTORY, H5P_DEFAULT) <= 0) {
        result = th_trajectory_fail(error, TH_NO_FILE, path,
                                    "not a trajectory: it is HDF5 without a dataset /trajectory");
    } else {
        hid_t dataset = H5Dopen2(file, TH_HDF5_TRAJECTORY, H5P_DEFAULT);
        result = dataset < 0 ? th_hdf5_fail(error, path, "its dataset /trajectory cannot be opened")
                             : read_all(trajectory, file, dataset, error);
        if (dataset >= 0) H5Dclose(dataset);
    }
    if (file >= 0) H5Fclose(file);
    th_hdf5_speak_again(voice);
    return result;
}
