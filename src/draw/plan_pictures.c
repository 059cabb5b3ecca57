// Pictures of discomfort and guidance on a plan: the darker, the more; arrows where guidance leads.
// SPDX-License-Identifier: Apache-2.0
#include "draw/plan_colours.h"
#include "draw/plan_drawing.h"
#include <math.h>

static double value_at(const th_picture *picture, size_t k) {
    if (picture->discomfort) return (double)picture->discomfort[k];
    return hypot((double)picture->guidance[k].x, (double)picture->guidance[k].y);
}

static cairo_surface_t *mask_of(const th_picture *picture) {
    cairo_surface_t *mask = cairo_image_surface_create(CAIRO_FORMAT_A8, picture->nx, picture->ny);
    unsigned char *data = cairo_image_surface_get_data(mask);
    if (!data) return mask; // no memory: paints nothing
    ptrdiff_t stride = cairo_image_surface_get_stride(mask);
    size_t count = (size_t)picture->nx * (size_t)picture->ny;
    double most = 1e-9;
    for (size_t k = 0; k < count; ++k) most = fmax(most, value_at(picture, k));
    cairo_surface_flush(mask);
    for (int row = 0; row < picture->ny; ++row) // downwards; those of the picture run upwards
        for (int x = 0; x < picture->nx; ++x) {
            size_t k = (size_t)(picture->ny - 1 - row) * (size_t)picture->nx + (size_t)x;
            data[row * stride + x] = (unsigned char)(115.0 * value_at(picture, k) / most);
        }
    cairo_surface_mark_dirty(mask);
    return mask;
}

static void draw_arrow(const th_canvas *canvas, double x, double y, th_vec2 v, double size) {
    double length = hypot((double)v.x, (double)v.y);
    if (!(length > 0.05)) return;
    double ux = size * (double)v.x / length, uy = -size * (double)v.y / length; // y runs down
    cairo_t *cairo = canvas->cairo;
    cairo_move_to(cairo, x + ux, y + uy);
    cairo_line_to(cairo, x - ux - 0.5 * uy, y - uy + 0.5 * ux);
    cairo_line_to(cairo, x - ux + 0.5 * uy, y - uy - 0.5 * ux);
    cairo_close_path(cairo);
    cairo_fill(cairo);
}

static void draw_arrows(const th_canvas *canvas, const th_panel *panel, const th_picture *picture) {
    double apart = fmax(2.5 * canvas->text / panel->scale, 0.5); // [m]
    double low_x = (double)picture->box.min_x, low_y = (double)picture->box.min_y;
    double width = (double)picture->box.max_x - low_x, height = (double)picture->box.max_y - low_y;
    th_canvas_colour(canvas, GUIDANCE, 1);
    for (double y = apart / 2; y < height; y += apart)
        for (double x = apart / 2; x < width; x += apart) {
            int column = (int)fmin(x / width * picture->nx, picture->nx - 1);
            int row = (int)fmin(y / height * picture->ny, picture->ny - 1);
            draw_arrow(canvas, th_panel_x(panel, low_x + x), th_panel_y(panel, low_y + y),
                       picture->guidance[(size_t)row * (size_t)picture->nx + (size_t)column],
                       0.5 * canvas->text);
        }
}

void th_draw_picture(const th_canvas *canvas, const th_panel *panel, const th_picture *picture) {
    cairo_t *cairo = canvas->cairo;
    cairo_surface_t *mask = mask_of(picture);
    double left = th_panel_x(panel, (double)picture->box.min_x);
    double top = th_panel_y(panel, (double)picture->box.max_y);
    cairo_save(cairo);
    cairo_translate(cairo, left, top);
    cairo_scale(cairo, (th_panel_x(panel, (double)picture->box.max_x) - left) / picture->nx,
                (th_panel_y(panel, (double)picture->box.min_y) - top) / picture->ny);
    th_canvas_colour(canvas, picture->guidance ? GUIDANCE : DISCOMFORT, 1);
    cairo_mask_surface(cairo, mask, 0, 0);
    cairo_restore(cairo);
    if (picture->guidance) draw_arrows(canvas, panel, picture);
    cairo_surface_destroy(mask);
}
