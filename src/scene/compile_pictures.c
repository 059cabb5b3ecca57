// Pictures: from pixels to numbers on the ground, or to the outlines of what is dark. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/file.h"
#include "formula/vec.h"
#include "scene/compile.h"
#include "scene/scene.h"
#include <math.h>
#ifndef TH_NO_PNG
#include <png.h>
#endif
#include <string.h>
#include <strings.h>

// ---- reading PNG files

#ifdef TH_NO_PNG

th_result th_png_read(th_arena *arena, const char *bytes, size_t length, int most, const char *path,
                      uint8_t **pixels, int *width, int *height, th_error *error) {
    (void)arena, (void)bytes, (void)length, (void)most, (void)pixels, (void)width, (void)height;
    return th_fail(error, TH_BAD_SCENE, path, "this build reads no PNG files");
}

#else

// Reads samples as data, without colour profiles, gamma and all else that a file may carry. libpng fails by longjmp;
// png_destroy_read_struct then frees its memory.

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

// Chunks about the look of samples, and long texts: none changes a sample.
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
                       "the file is not a PNG; save the picture in that format");
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

#endif

// Every node of a planner takes the mean of its pixels, in every solution.
enum { PICTURE_LIMIT = 100, PIXEL_LIMIT = 1 << 22 };

static const char *picture_id(const th_scene *scene, int i) { return scene->pictures[i].id; }

static void check_values(th_compiler *c, int i, const th_picture_def *def) {
    th_at(c, "pictures[%d].black", i);
    th_check_range(c, "black", def->black, 0.0, 1000.0, "");
    th_at(c, "pictures[%d].white", i);
    th_check_range(c, "white", def->white, 0.0, 1000.0, "");
    th_at(c, "pictures[%d].strength", i);
    if (!(def->strength > 0.0 && def->strength < 1.0))
        th_bad(c,
               "strength is %g; it must be more than 0 and less than 1: at 1 no agent could walk "
               "against the guidance",
               def->strength);
}

static void gather_picture(th_compiler *c, int i) {
    const th_picture_def *def = &c->def->pictures[i];
    th_picture *picture = &c->list.pictures[i];
    th_at(c, "pictures[%d].id", i);
    picture->id = th_unique_id(c, def->id, "picture", i, picture_id, i);
    th_at(c, "pictures[%d].level", i);
    picture->level = th_level_index(c, def->level);
    check_values(c, i, def);
    th_at(c, "pictures[%d].to", i);
    picture->to = def->to ? th_goal_index(c, def->to) : -1;
    if (def->to && def->kind == TH_PICTURE_HEIGHT)
        th_bad(c, "the height of the ground is the same for all groups; leave out \"to\"");
    if ((unsigned)def->kind > TH_PICTURE_HEIGHT) th_bad(c, "there is no kind %d", (int)def->kind);
    picture->kind = def->kind;
    th_at(c, "pictures[%d].corners", i);
    th_gather_point(c, def->corners[0], picture->level);
    th_gather_point(c, def->corners[1], picture->level);
    double width = fabs(def->corners[1].x - def->corners[0].x);
    double height = fabs(def->corners[1].y - def->corners[0].y);
    if (!(width >= 0.01 && height >= 0.01))
        th_bad(c, "a picture needs \"corners\": two opposite ones of the ground it covers, "
                  "[[x, y], [x, y]] [m]");
}

void th_gather_pictures(th_compiler *c) {
    const th_scene_def *def = c->def;
    th_at(c, "pictures");
    if (def->picture_count > PICTURE_LIMIT)
        th_bad(c, "%d pictures; a scene has at most %d: draw several into one", def->picture_count,
               PICTURE_LIMIT);
    c->scene->pictures = c->list.pictures =
        th_take(c, (size_t)def->picture_count, sizeof *c->scene->pictures);
    for (int i = 0; i < def->picture_count && c->result == TH_OK; ++i) {
        gather_picture(c, i);
        c->scene->picture_count = i + 1;
    }
}

// ---- pixels

typedef struct pixel_array { // red, green, blue, alpha, row by row from the top
    const uint8_t *bytes;
    int width, height;
} pixel_array;

// At the compiler's path.
static bool read_file(th_compiler *c, const char *file, int most, pixel_array *pixels) {
    th_error local = {0};
    th_error *error = c->error ? c->error : &local;
    if (!file) {
        th_bad(c, "a picture needs a \"file\", a PNG beside the scene file");
        return false;
    }
    if (c->geometry.no_files) {
        c->result = th_fail(error, TH_NO_FILE, c->path, "linked files are not allowed here");
        return false;
    }
    char *bytes = NULL;
    size_t length = 0;
    uint8_t *read = NULL;
    c->result = th_file_read(&c->work, c->geometry.links, file, c->path, &bytes, &length, error);
    if (c->result == TH_OK)
        c->result = th_png_read(&c->work, bytes, length, most, c->path, &read, &pixels->width,
                                &pixels->height, error);
    pixels->bytes = read;
    c->geometry.linked_bytes += length;
    if (c->result == TH_OK && c->geometry.linked_bytes > TH_LINKED_BYTES_MAX)
        th_bad(c, "the linked files are larger than %d MiB together", TH_LINKED_BYTES_MAX >> 20);
    return c->result == TH_OK;
}

// Pixels are square, up to one at the edge.
static void check_ratio(th_compiler *c, const th_point corners[2], const pixel_array *pixels) {
    double width = fabs(corners[1].x - corners[0].x);
    double height = fabs(corners[1].y - corners[0].y);
    double nx = pixels->width, ny = pixels->height;
    if (fabs(nx * height - ny * width) > fmax(width, height))
        th_bad(c,
               "the picture has %d x %d pixels and covers %.4g x %.4g m: they would not be square; "
               "for this width the height is %.4g m, or crop the picture",
               pixels->width, pixels->height, width, height, width * ny / nx);
}

static float number_of(const th_picture_def *def, const uint8_t *pixel) {
    double grey = (pixel[0] + pixel[1] + pixel[2]) / (3.0 * 255.0);
    return (float)((def->black + grey * (def->white - def->black)) * (pixel[3] / 255.0));
}

// 128 is nothing, 1 and 255 all of it.
static th_vec2 guidance_of(const th_picture_def *def, const uint8_t *pixel) {
    float scale = (float)(def->strength * (pixel[3] / 255.0) / 127.0);
    th_vec2 vector = th_v(scale * (float)(pixel[0] - 128), scale * (float)(pixel[1] - 128));
    return th_limit(vector, (float)def->strength);
}

static void take_values(th_compiler *c, int i, const pixel_array *pixels) {
    const th_picture_def *def = &c->def->pictures[i];
    th_picture *picture = &c->list.pictures[i];
    size_t count = (size_t)pixels->width * (size_t)pixels->height;
    float *numbers = NULL;
    th_vec2 *guidance = NULL;
    if (def->kind == TH_PICTURE_GUIDANCE)
        picture->guidance = guidance = th_take(c, count, sizeof *guidance);
    else
        numbers = th_take(c, count, sizeof *numbers);
    if (def->kind == TH_PICTURE_HEIGHT) picture->height = numbers;
    if (def->kind == TH_PICTURE_DISCOMFORT) picture->discomfort = numbers;
    if (c->result != TH_OK) return;
    picture->nx = pixels->width;
    picture->ny = pixels->height;
    for (int y = 0; y < pixels->height; ++y)
        for (int x = 0; x < pixels->width; ++x) {
            size_t up = (size_t)(pixels->height - 1 - y) * (size_t)pixels->width + (size_t)x;
            const uint8_t *pixel =
                pixels->bytes + 4 * ((size_t)y * (size_t)pixels->width + (size_t)x);
            if (guidance)
                guidance[up] = guidance_of(def, pixel);
            else
                numbers[up] = number_of(def, pixel);
        }
}

static void place(th_compiler *c, int i) {
    const th_picture_def *def = &c->def->pictures[i];
    th_picture *picture = &c->list.pictures[i];
    th_vec2 a = th_relative(c, def->corners[0]), b = th_relative(c, def->corners[1]);
    picture->box = (th_box){th_min(a.x, b.x), th_min(a.y, b.y), th_max(a.x, b.x), th_max(a.y, b.y)};
    const th_level *level = &c->scene->levels[picture->level];
    th_at(c, "pictures[%d].corners", i);
    if (level->bounded &&
        (picture->box.max_x <= level->box.min_x || picture->box.min_x >= level->box.max_x ||
         picture->box.max_y <= level->box.min_y || picture->box.min_y >= level->box.max_y))
        th_bad(c,
               "the picture lies outside level \"%.60s\"; move it there, or give the level it "
               "belongs to",
               level->id);
}

void th_compile_pictures(th_compiler *c) {
    int left = PIXEL_LIMIT;
    for (int i = 0; i < c->def->picture_count && c->result == TH_OK; ++i) {
        const th_picture_def *def = &c->def->pictures[i];
        pixel_array pixels = {def->pixels, def->width, def->height};
        place(c, i);
        th_at(c, "pictures[%d].file", i);
        if (c->result != TH_OK || (!def->pixels && !read_file(c, def->file, left, &pixels))) return;
        th_at(c, "pictures[%d]", i);
        if (pixels.width < 1 || pixels.height < 1 || pixels.width > left / pixels.height) {
            th_bad(c, "a picture of %d x %d pixels; those of a scene have 1 to %d together",
                   pixels.width, pixels.height, PIXEL_LIMIT);
            return;
        }
        left -= pixels.width * pixels.height;
        th_at(c, "pictures[%d].corners", i);
        check_ratio(c, def->corners, &pixels);
        if (c->result == TH_OK) take_values(c, i, &pixels);
    }
}

// ---- areas

// The dark parts as upright rectangles of pixels; rows from the top.
typedef struct pixel_box {
    int x0, x1, y0, y1;
} pixel_box;

enum { BOX_LIMIT = 10000, BOX_TEXT = 320 };
// Outlines are drawn straight to within this [pixels]: the steps of a slanting edge go, corners stay.
static const double STRAIGHTEN = 0.75;

bool th_shape_drawn(const th_shape *shape) {
    size_t length = shape->file ? strlen(shape->file) : 0;
    return length > 4 && strcasecmp(shape->file + length - 4, ".png") == 0;
}

static bool is_dark(const uint8_t *pixel) {
    return pixel[3] >= 128 && pixel[0] + pixel[1] + pixel[2] < 3 * 128;
}

// Finds the boxes and returns their number; more than BOX_LIMIT: too many. `last` holds for each column the box that began
// there last.
static int find_boxes(const pixel_array *pixels, pixel_box *boxes, int *last) {
    int count = 0;
    for (int x = 0; x < pixels->width; ++x) last[x] = -1;
    for (int y = 0; y < pixels->height; ++y)
        for (int x = 0, end; x < pixels->width; x = end) {
            const uint8_t *row = pixels->bytes + 4 * (size_t)y * (size_t)pixels->width;
            end = x + 1;
            if (!is_dark(row + 4 * (size_t)x)) continue;
            while (end < pixels->width && is_dark(row + 4 * (size_t)end)) ++end;
            pixel_box *above = last[x] >= 0 ? &boxes[last[x]] : NULL;
            if (above && above->x1 == end && above->y1 == y) {
                above->y1 = y + 1;
                continue;
            }
            if (count == BOX_LIMIT) return count + 1;
            last[x] = count;
            boxes[count++] = (pixel_box){x, end, y, y + 1};
        }
    return count;
}

// All boxes as one WKT text.
static char *text_of(th_compiler *c, const th_shape *shape, const pixel_array *pixels,
                     const pixel_box *boxes, int count) {
    char *text = th_arena_alloc(&c->work, (size_t)count * BOX_TEXT + 40, 1);
    if (!text) return NULL;
    const th_point *k = shape->corners;
    double west = fmin(k[0].x, k[1].x), north = fmax(k[0].y, k[1].y);
    double px = fabs(k[1].x - k[0].x) / pixels->width, py = fabs(k[1].y - k[0].y) / pixels->height;
    size_t at = (size_t)snprintf(text, 40, "GEOMETRYCOLLECTION (");
    for (int i = 0; i < count; ++i) {
        double x0 = west + px * boxes[i].x0, x1 = west + px * boxes[i].x1,
               y0 = north - py * boxes[i].y1, y1 = north - py * boxes[i].y0;
        at += (size_t)snprintf(text + at, BOX_TEXT,
                               "%sPOLYGON ((%.15g %.15g, %.15g %.15g, %.15g %.15g, %.15g %.15g, "
                               "%.15g %.15g))",
                               i > 0 ? "," : "", x0, y0, x1, y0, x1, y1, x0, y1, x0, y0);
    }
    snprintf(text + at, 2, ")");
    return text;
}

static GEOSGeometry *outlines_of(th_compiler *c, const th_shape *shape, const pixel_array *pixels) {
    int most = (pixels->width + 1) / 2 * pixels->height; // every other pixel
    if (most > BOX_LIMIT) most = BOX_LIMIT;
    pixel_box *boxes = th_arena_alloc(&c->work, (size_t)most, sizeof *boxes);
    int *last = th_arena_alloc(&c->work, (size_t)pixels->width, sizeof *last);
    int count = boxes && last ? find_boxes(pixels, boxes, last) : 0;
    if (boxes && last && count == 0)
        th_bad(c,
               "nothing is dark in the picture; draw the area in black on white, or leave the rest "
               "transparent");
    if (count > BOX_LIMIT)
        th_bad(
            c,
            "what is dark has more than %d pieces of rows; draw it coarser, without grey patterns",
            BOX_LIMIT);
    th_shape text = {
        .wkt = c->result == TH_OK && count > 0 ? text_of(c, shape, pixels, boxes, count) : NULL};
    if (!text.wkt) {
        if (c->result == TH_OK) th_no_memory(c);
        return NULL;
    }
    th_error local = {0};
    GEOSGeometry *exact =
        th_geometry_parse(&c->geometry, &text, false, c->path, c->error ? c->error : &local);
    if (!exact) {
        c->result = c->error ? c->error->code : local.code;
        return NULL;
    }
    double pixel = fabs(shape->corners[1].x - shape->corners[0].x) / pixels->width;
    GEOSGeometry *straight =
        GEOSTopologyPreserveSimplify_r(c->geometry.geos, exact, STRAIGHTEN * pixel);
    if (!straight) return exact;
    GEOSGeom_destroy_r(c->geometry.geos, exact);
    return straight;
}

GEOSGeometry *th_drawn_geometry(th_compiler *c, const th_shape *shape, bool lines) {
    const th_point *k = shape->corners;
    if (lines) {
        th_bad(c, "a picture shows areas; give thin walls as points or WKT");
        return NULL;
    }
    if (!(fabs(k[1].x - k[0].x) >= 0.01 && fabs(k[1].y - k[0].y) >= 0.01 &&
          fabs(k[0].x) < TH_COORDINATE_MAX && fabs(k[0].y) < TH_COORDINATE_MAX &&
          fabs(k[1].x) < TH_COORDINATE_MAX && fabs(k[1].y) < TH_COORDINATE_MAX)) {
        th_bad(c,
               "an area from a picture needs \"corners\": two opposite ones of the ground that the "
               "picture covers, [[x, y], [x, y]] [m]");
        return NULL;
    }
    pixel_array pixels;
    if (!read_file(c, shape->file, PIXEL_LIMIT - c->drawn_pixels, &pixels)) return NULL;
    c->drawn_pixels += pixels.width * pixels.height;
    check_ratio(c, k, &pixels);
    return c->result == TH_OK ? outlines_of(c, shape, &pixels) : NULL;
}
