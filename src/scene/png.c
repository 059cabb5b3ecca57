// PNG files as they are: samples are data here, so colour profiles and gamma are left out, as is everything else a file may
// carry. libpng ends by longjmp; what it holds then is freed by png_destroy_read_struct. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "scene/compile.h"
#include <png.h>
#include <string.h>

enum { SIDE_LIMIT = 16384 };

typedef struct reader {
    th_memory memory;
    th_arena *arena; // of the pixels
    const char *bytes;
    size_t left;
    int most;
    bool too_many, no_memory;
    char cause[100];
    png_structp png;
    png_infop info;
    uint8_t *pixels;
    png_uint_32 width, height;
} reader;

// ---- what libpng calls

static void stop(png_structp png, png_const_charp message) {
    reader *r = png_get_error_ptr(png);
    snprintf(r->cause, sizeof r->cause, "%s", message);
    png_longjmp(png, 1);
}

static void ignore(png_structp png, png_const_charp message) {
    (void)png;
    (void)message;
}

static void take_bytes(png_structp png, png_bytep to, size_t count) {
    reader *r = png_get_io_ptr(png);
    if (count > r->left) png_error(png, "the file ends too early");
    memcpy(to, r->bytes, count);
    r->bytes += count;
    r->left -= count;
}

// A block remembers its size, which th_dealloc wants.
static png_voidp take_memory(png_structp png, png_alloc_size_t size) {
    reader *r = png_get_mem_ptr(png);
    if (size > SIZE_MAX - TH_ALIGN) return NULL;
    char *block = th_alloc(&r->memory, 1, size + TH_ALIGN);
    if (!block) {
        r->no_memory = true;
        return NULL;
    }
    size_t whole = size + TH_ALIGN;
    memcpy(block, &whole, sizeof whole);
    return block + TH_ALIGN;
}

static void give_memory(png_structp png, png_voidp pointer) {
    reader *r = png_get_mem_ptr(png);
    if (!pointer) return;
    char *block = (char *)pointer - TH_ALIGN;
    size_t whole;
    memcpy(&whole, block, sizeof whole);
    th_dealloc(&r->memory, block, 1, whole);
}

// ---- reading

// Chunks that say how samples look, or that are long texts: none of them changes a sample.
static void skip_extras(png_structp png) {
    static const char names[] = "bKGD\0cHRM\0eXIf\0gAMA\0hIST\0iCCP\0iTXt\0oFFs\0pCAL\0pHYs\0"
                                "sBIT\0sCAL\0sPLT\0sRGB\0tEXt\0tIME\0zTXt";
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, (png_const_bytep)names,
                                (int)(sizeof names / 5));
}

static void read_pixels(reader *r) {
    png_read_info(r->png, r->info);
    r->width = png_get_image_width(r->png, r->info);
    r->height = png_get_image_height(r->png, r->info);
    r->too_many = (uint64_t)r->width * r->height > (uint64_t)r->most;
    if (r->too_many) return;
    png_set_expand(r->png);
    png_set_scale_16(r->png);
    png_set_gray_to_rgb(r->png);
    png_set_add_alpha(r->png, 255, PNG_FILLER_AFTER);
    int passes = png_set_interlace_handling(r->png);
    png_read_update_info(r->png, r->info);
    size_t row = 4 * (size_t)r->width;
    if (png_get_rowbytes(r->png, r->info) != row) png_error(r->png, "an unknown kind of pixels");
    r->pixels = th_arena_alloc(r->arena, r->height, row);
    if (!r->pixels) {
        r->no_memory = true;
        return;
    }
    for (int pass = 0; pass < passes; ++pass)
        for (png_uint_32 y = 0; y < r->height; ++y) png_read_row(r->png, r->pixels + y * row, NULL);
    png_read_end(r->png, NULL);
}

// Everything that changes after setjmp is behind r. False: libpng has given up.
static bool read_or_stop(reader *r) {
    if (setjmp(png_jmpbuf(r->png))) return false; // NOLINT: libpng has no other way
    r->info = png_create_info_struct(r->png);
    if (!r->info) return false;
    png_set_read_fn(r->png, r, take_bytes);
    png_set_user_limits(r->png, SIDE_LIMIT, SIDE_LIMIT);
    skip_extras(r->png);
    read_pixels(r);
    return true;
}

th_result th_png_read(th_arena *arena, const char *bytes, size_t length, int most, const char *path,
                      uint8_t **pixels, int *width, int *height, th_error *error) {
    if (length < 8 || png_sig_cmp((png_const_bytep)bytes, 0, 8) != 0)
        return th_fail(error, TH_BAD_SCENE, path,
                       "the file is no PNG; save the picture in that format");
    reader r = {
        .memory = arena->memory, .arena = arena, .bytes = bytes, .left = length, .most = most};
    r.png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &r, stop, ignore, &r, take_memory,
                                     give_memory);
    bool done = r.png && read_or_stop(&r);
    if (r.png) png_destroy_read_struct(&r.png, &r.info, NULL);
    if (r.no_memory || !(done || r.cause[0]))
        return th_fail(error, TH_NO_MEMORY, path, "no memory for the picture");
    if (!done)
        return th_fail(error, TH_BAD_SCENE, path,
                       "the PNG cannot be read: %s; save the picture again", r.cause);
    if (r.too_many)
        return th_fail(error, TH_BAD_SCENE, path,
                       "the picture has %u x %u pixels; those of a scene have at most %d together: "
                       "make it coarser",
                       (unsigned)r.width, (unsigned)r.height, most);
    *pixels = r.pixels;
    *width = (int)r.width;
    *height = (int)r.height;
    return TH_OK;
}
