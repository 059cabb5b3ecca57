// Drawing of maps. SPDX-License-Identifier: Apache-2.0
#include "draw/raster.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Fruin 1971, Pedestrian Planning and Design, walkways: area per person 3.24, 2.32, 1.39, 0.93, 0.46 m2;
// 4: IMO MSC.1/Circ.1533 congestion; 6: people are pressed together; 8: about what was found where people died, 10: the
// most that was.
const double th_density_bounds[TH_DENSITY_CLASSES - 1] = {0.31, 0.43, 0.72, 1.08, 2.15,
                                                          4,    6,    8,    10};

static const char *const density_names[TH_DENSITY_CLASSES] = {
    "A", "B", "C", "D", "E", "F", "congestion", "pressed", "deadly", "deadly",
};
const th_value_classes th_density_classes = {.title = "density [1/m\xc2\xb2]",
                                             .count = TH_DENSITY_CLASSES,
                                             .bounds = th_density_bounds,
                                             .names = density_names};

static th_colour class_colour(const th_value_classes *classes, int index) {
    return th_colour_heat(index / (classes->count - 1.0));
}

th_colour th_class_colour(double value, const void *context) {
    const th_value_classes *classes = context;
    int found = 0;
    while (found < classes->count - 1 && value > classes->bounds[found]) ++found;
    return class_colour(classes, found);
}

static void class_label(const th_value_classes *classes, int i, char *label, size_t size) {
    const char *name = classes->names ? classes->names[i] : "";
    if (i == classes->count - 1)
        snprintf(label, size, "> %g  %s", classes->bounds[i - 1], name);
    else
        snprintf(label, size, "%g\xe2\x80\x93%g  %s", i > 0 ? classes->bounds[i - 1] : 0.0,
                 classes->bounds[i], name);
}

static void mark_line(const th_canvas *canvas, double x, double y, double width) {
    cairo_set_source_rgb(canvas->cairo, 0, 0.35, 0.7);
    cairo_set_line_width(canvas->cairo, 2);
    cairo_move_to(canvas->cairo, x - 0.4 * canvas->text, y);
    cairo_line_to(canvas->cairo, x + width + 0.4 * canvas->text, y);
    cairo_stroke(canvas->cairo);
}

double th_class_key(const th_canvas *canvas, double x, double y, const th_value_classes *classes) {
    double text = canvas->text, box = 1.5 * text;
    cairo_t *cairo = canvas->cairo;
    cairo_set_source_rgb(cairo, 0.15, 0.15, 0.15);
    th_canvas_text(canvas, x, y, 0, text, true, classes->title);
    y += 0.8 * text;
    for (int i = classes->count - 1; i >= 0; --i) {
        char label[64];
        class_label(classes, i, label, sizeof label);
        cairo_rectangle(cairo, x, y, box, box);
        th_canvas_colour(canvas, class_colour(classes, i), 1);
        cairo_fill_preserve(cairo);
        cairo_set_source_rgb(cairo, 0.3, 0.3, 0.3);
        cairo_set_line_width(cairo, 0.7);
        cairo_stroke(cairo);
        cairo_set_source_rgb(cairo, 0.15, 0.15, 0.15);
        th_canvas_text(canvas, x + 1.3 * box, y + 0.7 * box, 0, 0.92 * text, false, label);
        y += box;
    }
    if (classes->mark > 0) { // where a threshold lies between two classes, and which it is
        mark_line(canvas, x, y - classes->mark * box, box);
        y += 0.9 * text;
        mark_line(canvas, x, y, box);
        cairo_set_source_rgb(cairo, 0.15, 0.15, 0.15);
        th_canvas_text(canvas, x + box + 0.7 * text, y + 0.35 * text, 0, 0.92 * text, false,
                       classes->mark_name);
    }
    return y + text;
}

static double largest_in(const th_raster *raster, int x0, int x1, int y0, int y1) {
    double largest = (double)NAN;
    for (int y = y0; y < y1; ++y)
        for (int x = x0; x < x1; ++x)
            largest = fmax(largest, raster->value[(size_t)y * (size_t)raster->nx + (size_t)x]);
    return largest;
}

// First cell of pixel i when `cells` cells are spread over `pixels` pixels.
static int cell_at(int i, int cells, int pixels) { return (int)((int64_t)i * cells / pixels); }

static uint32_t packed(th_colour colour) {
    return 0xff000000u | (uint32_t)lround(255 * colour.r) << 16 |
           (uint32_t)lround(255 * colour.g) << 8 | (uint32_t)lround(255 * colour.b);
}

// Pixels for `cells`: blocks of whole pixels when cells are few, so that viewers that smooth images
// do not blur cells into each other.
enum { IMAGE_SIDE = 1200 };
static int image_side(int cells, int most) {
    if (most >= IMAGE_SIDE) return (int)fmax(1, (double)cells * IMAGE_SIDE / most);
    return cells * (1 + (IMAGE_SIDE - 1) / most);
}

static void fill_row(uint32_t *pixel, const th_raster *raster, int columns, int y0, int y1,
                     th_value_colour *colour, const void *context) {
    int before = -1;
    for (int column = 0; column < columns; ++column) {
        int x0 = cell_at(column, raster->nx, columns);
        int x1 = cell_at(column + 1, raster->nx, columns);
        if (x0 == before) { // the same cell again
            pixel[column] = pixel[column - 1];
            continue;
        }
        before = x0;
        double value = largest_in(raster, x0, x1 > x0 ? x1 : x0 + 1, y0, y1 > y0 ? y1 : y0 + 1);
        pixel[column] = isfinite(value) ? packed(colour(value, context)) : 0;
    }
}

static void fill_image(cairo_surface_t *image, const th_raster *raster, int columns, int rows,
                       th_value_colour *colour, const void *context) {
    unsigned char *data = cairo_image_surface_get_data(image);
    ptrdiff_t stride = cairo_image_surface_get_stride(image);
    int before = -1;
    for (int row = 0; row < rows; ++row) {
        // Image rows run downwards, map rows upwards.
        unsigned char *line = data + (rows - 1 - row) * stride;
        int y0 = cell_at(row, raster->ny, rows), y1 = cell_at(row + 1, raster->ny, rows);
        if (y0 == before)
            memcpy(line, line + stride, (size_t)columns * sizeof(uint32_t));
        else
            fill_row((void *)line, raster, columns, y0, y1, colour, context);
        before = y0;
    }
    cairo_surface_mark_dirty(image);
}

bool th_draw_raster(const th_canvas *canvas, const th_panel *panel, const th_raster *raster,
                    th_value_colour *colour, const void *context) {
    if (raster->nx < 1 || raster->ny < 1) return true;
    int most = raster->nx > raster->ny ? raster->nx : raster->ny;
    int columns = image_side(raster->nx, most), rows = image_side(raster->ny, most);
    cairo_surface_t *image = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, columns, rows);
    if (cairo_surface_status(image) != CAIRO_STATUS_SUCCESS) {
        cairo_surface_destroy(image);
        return false;
    }
    cairo_surface_flush(image);
    fill_image(image, raster, columns, rows, colour, context);
    cairo_t *cairo = canvas->cairo;
    double left = th_panel_x(panel, (double)raster->min_x);
    double top = th_panel_y(panel, (double)raster->min_y + (double)raster->cell * raster->ny);
    cairo_save(cairo);
    cairo_translate(cairo, left, top);
    cairo_scale(cairo, (double)raster->cell * raster->nx * panel->scale / columns,
                (double)raster->cell * raster->ny * panel->scale / rows);
    cairo_set_source_surface(cairo, image, 0, 0);
    cairo_pattern_set_filter(cairo_get_source(cairo), CAIRO_FILTER_NEAREST);
    cairo_paint(cairo);
    cairo_restore(cairo);
    cairo_surface_destroy(image);
    return true;
}
