// libFuzzer target: sound HDF5 files with any content where a trajectory should be. HDF5 1.10 itself does
// not stand damaged files (which is why a process of its own reads them), so the input says what to write,
// HDF5 writes it, and our reader must refuse it or give frames in order. All in this process: what the reader would
// send goes through a file in memory. An input that begins with "TH5T" is what a reader sent.
// SPDX-License-Identifier: Apache-2.0
#include "core/system/system.h"
#include "record/hdf5.h"
#include "trajectory_file.h"
#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct input {
    const uint8_t *data;
    size_t size, at;
} input;

static uint8_t take(input *in) { return in->at < in->size ? in->data[in->at++] : 0; }

// A type for a column or attribute: numbers of many widths, and things that are no numbers.
static hid_t take_type(input *in) {
    const hid_t types[] = {H5T_STD_I64LE,  H5T_STD_I32BE,  H5T_STD_U32LE,  H5T_STD_U8LE,
                           H5T_IEEE_F64LE, H5T_STD_U64BE,  H5T_IEEE_F32BE, H5T_STD_B16LE,
                           H5T_C_S1,       H5T_STD_REF_OBJ};
    hid_t type = H5Tcopy(types[take(in) % (sizeof types / sizeof types[0])]);
    if (H5Tget_class(type) == H5T_STRING) {
        uint8_t length = take(in);
        H5Tset_size(type, length % 16 == 0 ? H5T_VARIABLE : length % 16);
    }
    return type;
}

static void put_attribute(input *in, hid_t object, const char *name) {
    uint8_t how = take(in);
    if (how % 4 == 0) return;
    hid_t type = take_type(in);
    hsize_t count = how / 64;
    hid_t space = how % 4 == 1 ? H5Screate_simple(1, &count, NULL) : H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    union {
        uint8_t bytes[64];
        const char *texts[4];
    } value = {{0}};
    if (H5Tis_variable_str(type) > 0)
        for (int i = 0; i < 4; ++i)
            value.texts[i] = take(in) % 2 ? "POLYGON ((0 0, 1 0, 1 1))" : "";
    else
        for (size_t i = 0; i < sizeof value; ++i) value.bytes[i] = take(in);
    if (attribute >= 0 && how % 4 != 3) H5Awrite(attribute, type, &value);
    if (attribute >= 0) H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(type);
}

// Fields of the names that matter, of any type, in any order (in this one for zeros); no texts of any length, as those
// would be pointers.
static hid_t take_row_type(input *in) {
    static const char *const names[] = {"id", "frame", "x", "y", "z", "ox", "oy", "key"};
    hid_t type = H5Tcreate(H5T_COMPOUND, 128);
    size_t offset = 0;
    for (int i = 0; i < 8; ++i) {
        hid_t field = take_type(in);
        size_t width = H5Tget_size(field);
        if (H5Tis_variable_str(field) <= 0 && H5Tget_class(field) != H5T_REFERENCE &&
            offset + width <= 128 && H5Tinsert(type, names[(i + take(in)) % 8], offset, field) >= 0)
            offset += width;
        H5Tclose(field);
    }
    return type;
}

static void put_dataset(input *in, hid_t file, const char *name, hid_t type) {
    hsize_t size[2] = {take(in) % 24, 2};
    uint8_t how = take(in);
    hid_t space = H5Screate_simple(how % 16 == 15 ? 2 : 1, size, NULL);
    hid_t dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    static uint8_t items[24 * 2 * 128];
    memset(items, 0, sizeof items);
    size_t used = (size_t)size[0] * H5Tget_size(type);
    for (size_t i = 0; i < used && i < sizeof items; ++i) items[i] = take(in);
    if (dataset >= 0) {
        if (how % 16 != 14) H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, items);
        put_attribute(in, dataset, "fps");
        H5Dclose(dataset);
    }
    H5Sclose(space);
}

// Levels and notes of the right kind, with texts or without.
static void put_texts(input *in, hid_t file, const char *name, bool levels) {
    struct {
        const char *first, *second;
        double z;
    } items[4];
    const hsize_t count = take(in) % 5;
    for (int i = 0; i < 4; ++i) {
        uint8_t how = take(in);
        items[i].first = how % 4 ? "ground" : how & 8 ? "" : NULL;
        items[i].second = how & 16 ? "POLYGON ((0 0, 1 0, 1 1, 0 0))" : how & 32 ? "" : NULL;
        uint8_t bytes[sizeof items[i].z];
        for (size_t k = 0; k < sizeof bytes; ++k) bytes[k] = take(in);
        memcpy(&items[i].z, bytes, sizeof bytes);
    }
    hid_t text = H5Tcopy(H5T_C_S1), type = H5Tcreate(H5T_COMPOUND, sizeof items[0]);
    H5Tset_size(text, H5T_VARIABLE);
    H5Tset_cset(text, take(in) % 4 ? H5T_CSET_UTF8 : H5T_CSET_ASCII);
    H5Tinsert(type, levels ? "id" : "key", 0, text);
    H5Tinsert(type, levels ? "wkt" : "value", sizeof(char *), text);
    H5Tinsert(type, "z", 2 * sizeof(char *), H5T_NATIVE_DOUBLE);
    hid_t space = H5Screate_simple(1, &count, NULL);
    hid_t dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (dataset >= 0) {
        if (count > 0 && count <= 4) H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, items);
        H5Dclose(dataset);
    }
    H5Sclose(space);
    H5Tclose(type);
    H5Tclose(text);
}

static void put_everything(input *in, hid_t file) {
    hid_t rows = take_row_type(in);
    put_dataset(in, file, "trajectory", rows);
    H5Tclose(rows);
    put_attribute(in, file, "fps");
    put_attribute(in, file, "wkt_geometry");
    put_attribute(in, file, "run_name");
    if (take(in) % 2) return;
    H5Gclose(H5Gcreate2(file, "throng", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    static const char *const own[] = {"throng/level", "throng/levels", "throng/notes",
                                      "throng/empty_frames"};
    for (int i = 0; i < 4; ++i) {
        uint8_t how = take(in);
        if (how % 4 == 3) continue;
        if (how % 4 == 2) {
            put_texts(in, file, own[i], i < 2);
            continue;
        }
        hid_t type = how % 4 ? take_row_type(in) : H5Tcopy(H5T_STD_I64LE);
        put_dataset(in, file, own[i], type);
        H5Tclose(type);
    }
}

static void receive(int sent) {
    th_error error = {0};
    th_trajectory *trajectory = calloc(1, sizeof *trajectory);
    if (!trajectory || lseek(sent, 0, SEEK_SET) != 0) abort();
    *trajectory = (th_trajectory){.backend = &th_hdf5_backend,
                                  .path = "fuzz.h5",
                                  .last_frame = -1,
                                  .kept = th_arena_of(NULL),
                                  .state = calloc(1, sizeof(th_row_table))};
    th_hdf5_channel channel = {sent, th_monotonic_seconds() + 60, 1 << 26, false, false, false};
    th_result result = th_hdf5_receive(trajectory, &channel, &error);
    if (result == TH_OK)
        read_frames(trajectory);
    else if (!error.message[0])
        abort();
    th_trajectory_close(trajectory);
    close(sent);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    int sent = memfd_create("sent", 0);
    if (sent < 0) abort();
    if (size >= 4 && memcmp(data, "TH5T", 4) == 0) {
        if (write(sent, data, size) != (ssize_t)size) abort();
        receive(sent);
        return 0;
    }
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    input in = {data, size, 0};
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_core(access, 1 << 16, false);
    hid_t file = H5Fcreate("fuzz", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5Pclose(access);
    if (file < 0) abort();
    put_everything(&in, file);
    H5Fflush(file, H5F_SCOPE_GLOBAL);
    ssize_t bytes = H5Fget_file_image(file, NULL, 0);
    uint8_t *image = bytes > 0 ? malloc((size_t)bytes) : NULL;
    if (!image || H5Fget_file_image(file, image, (size_t)bytes) != bytes) abort();
    H5Fclose(file);
    if (!th_hdf5_send(file_of(image, (size_t)bytes), sent)) abort();
    receive(sent);
    free(image);
    if (H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL) != 0) abort(); // something was left open
    return 0;
}
