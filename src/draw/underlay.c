// Pictures of plans under what is drawn. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/file.h"
#include "core/memory.h"
#include "draw/plan_drawing.h"
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNDERLAYS_MAX = 20, PIXELS_MAX = 1 << 26 };

typedef struct bytes {
    const char *at;
    size_t left;
} bytes;

static cairo_status_t take(void *context, unsigned char *to, unsigned length) {
    bytes *from = context;
    if (length > from->left) return CAIRO_STATUS_READ_ERROR;
    memcpy(to, from->at, length);
    from->at += length;
    from->left -= length;
    return CAIRO_STATUS_SUCCESS;
}

static double side_of(const char *png, int place) {
    const unsigned char *n = (const unsigned char *)png + place;
    return n[0] * 16777216.0 + n[1] * 65536.0 + n[2] * 256.0 + n[3];
}

static th_result read_image(th_arena *arena, const char *file, th_link_scope links,
                            const char *path, cairo_surface_t **image, th_error *error) {
    char *text = NULL;
    size_t length = 0;
    th_result result = th_file_read(arena, links, file, path, &text, &length, error);
    if (result != TH_OK) return result;
    if (length < 24 || memcmp(text, "\x89PNG", 4) != 0)
        return th_fail(error, TH_BAD_SCENE, path,
                       "only PNG is drawn; `throng import` makes one of SVG and PDF");
    if (side_of(text, 16) * side_of(text, 20) > PIXELS_MAX)
        return th_fail(error, TH_BAD_SCENE, path,
                       "the picture has more than %d pixels; make it "
                       "coarser",
                       PIXELS_MAX);
    bytes from = {text, length};
    *image = cairo_image_surface_create_from_png_stream(take, &from);
    if (cairo_surface_status(*image) == CAIRO_STATUS_SUCCESS) return TH_OK;
    cairo_surface_destroy(*image);
    return th_fail(error, TH_BAD_SCENE, path, "the PNG cannot be read; save the picture again");
}

static int level_of(const th_scene_view *scene, const json_t *value) {
    const char *id = json_string_value(json_object_get(value, "level"));
    for (int l = 0; id && l < scene->level_count; ++l)
        if (strcmp(scene->levels[l].id, id) == 0) return l;
    return 0;
}

int th_underlays_read(const th_scene_view *scene, const char *json, const char *folder,
                      bool anywhere, th_plan_underlay **list, th_error *error) {
    th_arena arena = th_arena_of(NULL);
    json_t *root = json_loads(json, 0, NULL), *values = json_object_get(root, "underlays"), *value;
    size_t k;
    int count = 0;
    *list = json_array_size(values) > 0 ? calloc(UNDERLAYS_MAX, sizeof **list) : NULL;
    json_array_foreach(values, k, value) {
        char path[40];
        snprintf(path, sizeof path, "underlays[%zu].file", k);
        const char *file = json_string_value(json_object_get(value, "file"));
        const json_t *at = json_object_get(value, "at");
        th_plan_underlay one = {.level = level_of(scene, value),
                                .at = {json_number_value(json_array_get(at, 0)) - scene->origin.x,
                                       json_number_value(json_array_get(at, 1)) - scene->origin.y},
                                .metres_per_pixel =
                                    json_number_value(json_object_get(value, "metres_per_pixel")),
                                .turn = json_number_value(json_object_get(value, "turn"))};
        if (!*list || count == UNDERLAYS_MAX || !file) break;
        if (read_image(&arena, file, (th_link_scope){folder, anywhere}, path, &one.image, error) ==
            TH_OK)
            (*list)[count++] = one;
    }
    json_decref(root);
    th_arena_release(&arena);
    return count;
}

void th_underlays_free(th_plan_underlay *list, int count) {
    for (int k = 0; k < count; ++k) cairo_surface_destroy(list[k].image);
    free(list);
}

void th_draw_underlays(const th_canvas *canvas, const th_panel *panel, const th_plan_view *view,
                       int level) {
    for (int k = 0; k < view->underlay_count; ++k) {
        const th_plan_underlay *u = &view->underlays[k];
        if (u->level != level) continue;
        double scale = panel->scale * u->metres_per_pixel;
        cairo_save(canvas->cairo);
        cairo_translate(canvas->cairo, th_panel_x(panel, u->at.x), th_panel_y(panel, u->at.y));
        cairo_rotate(canvas->cairo, -u->turn / 360.0 * 6.283185307179586);
        cairo_scale(canvas->cairo, scale, scale);
        cairo_set_source_surface(canvas->cairo, u->image, 0,
                                 -(double)cairo_image_surface_get_height(u->image));
        cairo_paint_with_alpha(canvas->cairo, 0.55); // what is drawn over it stays the clearer
        cairo_restore(canvas->cairo);
    }
}
