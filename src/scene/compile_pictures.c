// Pictures of discomfort and guidance: from pixels to numbers on the ground. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/file.h"
#include "formula/vec.h"
#include "scene/compile.h"
#include "scene/scene.h"
#include <math.h>

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
               "strength is %g; it must be more than 0 and less than 1: at 1 nobody could walk "
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

static bool read_file(th_compiler *c, int i, int most, pixel_array *pixels) {
    const th_picture_def *def = &c->def->pictures[i];
    th_error local = {0};
    th_error *error = c->error ? c->error : &local;
    th_at(c, "pictures[%d].file", i);
    if (!def->file) {
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
    c->result =
        th_file_read(&c->work, c->def->base_dir, def->file, c->path, &bytes, &length, error);
    if (c->result == TH_OK)
        c->result = th_png_read(&c->work, bytes, length, most, c->path, &read, &pixels->width,
                                &pixels->height, error);
    pixels->bytes = read;
    return c->result == TH_OK;
}

// Pixels are square, up to one at the edge.
static void check_ratio(th_compiler *c, int i, const pixel_array *pixels) {
    const th_picture_def *def = &c->def->pictures[i];
    double width = fabs(def->corners[1].x - def->corners[0].x);
    double height = fabs(def->corners[1].y - def->corners[0].y);
    double nx = pixels->width, ny = pixels->height;
    th_at(c, "pictures[%d].corners", i);
    if (fabs(nx * height - ny * width) > fmax(width, height))
        th_bad(c,
               "the picture has %d x %d pixels and covers %.4g x %.4g m: they would not be square; "
               "for this width the height is %.4g m, or crop the picture",
               pixels->width, pixels->height, width, height, width * ny / nx);
}

static float discomfort_of(const th_picture_def *def, const uint8_t *pixel) {
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
    float *discomfort = NULL;
    th_vec2 *guidance = NULL;
    if (def->kind == TH_PICTURE_GUIDANCE)
        picture->guidance = guidance = th_take(c, count, sizeof *guidance);
    else
        picture->discomfort = discomfort = th_take(c, count, sizeof *discomfort);
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
                discomfort[up] = discomfort_of(def, pixel);
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
        if (c->result != TH_OK || (!def->pixels && !read_file(c, i, left, &pixels))) return;
        th_at(c, "pictures[%d]", i);
        if (pixels.width < 1 || pixels.height < 1 || pixels.width > left / pixels.height) {
            th_bad(c, "a picture of %d x %d pixels; those of a scene have 1 to %d together",
                   pixels.width, pixels.height, PIXEL_LIMIT);
            return;
        }
        left -= pixels.width * pixels.height;
        check_ratio(c, i, &pixels);
        if (c->result == TH_OK) take_values(c, i, &pixels);
    }
}
