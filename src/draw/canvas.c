// Pages, panels, colour scales, maps. SPDX-License-Identifier: Apache-2.0
#include "draw/canvas.h"
#include "core/error.h"
#include "core/file.h"
#include "draw/chart.h"
#include "observe/density.h"
#include "observe/observer.h"
#include "throng/scene_view.h"
#include <cairo-svg.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

static th_canvas canvas_on(cairo_surface_t *surface, double width, double height, double text,
                           double zoom) {
    th_canvas canvas = {.width = width, .height = height, .text = text};
    if (cairo_surface_status(surface) != CAIRO_STATUS_SUCCESS) {
        cairo_surface_destroy(surface);
        return canvas;
    }
    canvas.surface = surface;
    canvas.cairo = cairo_create(surface);
    cairo_scale(canvas.cairo, zoom, zoom);
    // Text has the same width in SVG and PNG, so that one layout fits both.
    cairo_font_options_t *options = cairo_font_options_create();
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    cairo_set_font_options(canvas.cairo, options);
    cairo_font_options_destroy(options);
    cairo_set_source_rgb(canvas.cairo, 1, 1, 1);
    cairo_paint(canvas.cairo);
    return canvas;
}

th_canvas th_canvas_create(int width, int height, double text) {
    return th_canvas_create_zoomed(width, height, text, 1);
}

th_canvas th_canvas_create_zoomed(double width, double height, double text, double zoom) {
    int columns = (int)ceil(width * zoom), rows = (int)ceil(height * zoom);
    return canvas_on(cairo_image_surface_create(CAIRO_FORMAT_RGB24, columns, rows), width, height,
                     text, zoom);
}

th_canvas th_canvas_create_svg(double width, double height, double text, cairo_write_func_t write,
                               void *context) {
    cairo_surface_t *surface = cairo_svg_surface_create_for_stream(write, context, width, height);
    return canvas_on(surface, width, height, text, 1);
}

void th_canvas_destroy(th_canvas *canvas) {
    if (!canvas->surface) return;
    cairo_destroy(canvas->cairo);
    cairo_surface_destroy(canvas->surface);
    canvas->surface = NULL;
}

static cairo_status_t put_png(void *writer, const unsigned char *bytes, unsigned length) {
    th_file_put(writer, bytes, length);
    return ((const th_file_writer *)writer)->cause ? CAIRO_STATUS_WRITE_ERROR
                                                   : CAIRO_STATUS_SUCCESS;
}

th_result th_canvas_write(const th_canvas *canvas, const char *path, th_error *error) {
    th_file_writer writer;
    th_file_begin(&writer, NULL, path);
    cairo_status_t status = cairo_surface_write_to_png_stream(canvas->surface, put_png, &writer);
    if (status == CAIRO_STATUS_SUCCESS || writer.cause)
        return th_file_end(&writer, TH_FLUSHED, error);
    th_file_discard(&writer);
    return th_fail(error, TH_NO_MEMORY, "", "no memory for the picture %s; free some", path);
}

void th_canvas_colour(const th_canvas *canvas, th_colour colour, double alpha) {
    cairo_set_source_rgba(canvas->cairo, colour.r, colour.g, colour.b, alpha);
}

static void choose_font(const th_canvas *canvas, double size, bool bold) {
    cairo_select_font_face(canvas->cairo, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                           bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(canvas->cairo, size);
}

// Bytes of the valid UTF-8 character at `text`, 0 when there is none. Surrogates and overlong forms are
// not valid.
static int character_length(const unsigned char *text) {
    static const struct {
        unsigned char mask, lead;
    } kinds[] = {{0x80, 0x00}, {0xe0, 0xc0}, {0xf0, 0xe0}, {0xf8, 0xf0}};
    for (int length = 1; length <= 4; ++length) {
        if ((text[0] & kinds[length - 1].mask) != kinds[length - 1].lead) continue;
        if (text[0] == 0xc0 || text[0] == 0xc1 || text[0] > 0xf4) return 0;
        for (int i = 1; i < length; ++i)
            if ((text[i] & 0xc0) != 0x80) return 0;
        bool wrong = (text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xed && text[1] > 0x9f) ||
                     (text[0] == 0xf0 && text[1] < 0x90) || (text[0] == 0xf4 && text[1] > 0x8f);
        return wrong ? 0 : length;
    }
    return 0;
}

void th_clean_text(const char *text, char *clean, size_t size) {
    const unsigned char *at = (const unsigned char *)(text ? text : "");
    size_t used = 0;
    while (*at && used + 5 <= size) {
        int length = character_length(at);
        if (length == 0 || *at < 0x20 || *at == 0x7f) {
            clean[used++] = *at == '\n' || *at == '\t' ? ' ' : '?';
            at += 1;
            continue;
        }
        memcpy(clean + used, at, (size_t)length);
        used += (size_t)length;
        at += length;
    }
    clean[used] = '\0';
}

enum { TEXT_MAX = 512 }; // no line of a figure is longer

static double clean_width(const th_canvas *canvas, const char *clean) {
    cairo_text_extents_t extents;
    cairo_text_extents(canvas->cairo, clean, &extents);
    return extents.x_advance;
}

double th_canvas_text_width(const th_canvas *canvas, double size, const char *text) {
    char clean[TEXT_MAX];
    th_clean_text(text, clean, sizeof clean);
    choose_font(canvas, size, false);
    return clean_width(canvas, clean);
}

void th_canvas_fit(const th_canvas *canvas, double size, double room, const char *text,
                   char *fitted, size_t fitted_size) {
    th_clean_text(text, fitted, fitted_size > 8 ? fitted_size - 3 : fitted_size);
    choose_font(canvas, size, false);
    size_t length = strlen(fitted);
    if (fitted_size <= 8 || clean_width(canvas, fitted) <= room) return;
    while (length > 0) {
        do --length;
        while (length > 0 && ((unsigned char)fitted[length] & 0xc0) == 0x80);
        memcpy(fitted + length, "\xe2\x80\xa6", 4);
        if (clean_width(canvas, fitted) <= room) return;
    }
}

void th_canvas_text(const th_canvas *canvas, double x, double y, double anchor, double size,
                    bool bold, const char *text) {
    char clean[TEXT_MAX];
    th_clean_text(text, clean, sizeof clean);
    choose_font(canvas, size, bold);
    cairo_move_to(canvas->cairo, x - anchor * clean_width(canvas, clean), y);
    cairo_show_text(canvas->cairo, clean);
    cairo_new_path(canvas->cairo);
}

double th_panel_x(const th_panel *panel, double x) {
    return panel->left + (x - (double)panel->box.min_x) * panel->scale;
}

double th_panel_y(const th_panel *panel, double y) {
    return panel->top + panel->height - (y - (double)panel->box.min_y) * panel->scale;
}

double th_round_length(double length) {
    double power = pow(10, floor(log10(length)));
    double digit = length / power;
    return power * (digit >= 5 ? 5 : digit >= 2 ? 2 : 1);
}

static void tick_label(char *label, size_t size, double value) {
    snprintf(label, size, "%.9g", fabs(value) < 1e-9 ? 0.0 : value);
}

void th_panel_axes(const th_canvas *canvas, const th_panel *panel) {
    cairo_t *cairo = canvas->cairo;
    double text = canvas->text, tick = 0.35 * text;
    // Far enough apart that numbers never touch, close enough for two ticks on a thin panel.
    double spacing_x = th_round_length(12 * text / panel->scale);
    double spacing_y = th_round_length(fmin(8 * text, panel->height / 2) / panel->scale);
    char label[32];
    cairo_set_source_rgb(cairo, 0.3, 0.3, 0.3);
    cairo_set_line_width(cairo, 1);
    cairo_rectangle(cairo, panel->left - 0.5, panel->top - 0.5, panel->width + 1,
                    panel->height + 1);
    cairo_stroke(cairo);
    double bottom = panel->top + panel->height;
    double first_x = panel->origin.x + (double)panel->box.min_x;
    double last_x = panel->origin.x + (double)panel->box.max_x;
    double first_y = panel->origin.y + (double)panel->box.min_y;
    double last_y = panel->origin.y + (double)panel->box.max_y;
    for (double x = ceil(first_x / spacing_x) * spacing_x; x <= last_x; x += spacing_x) {
        double at = th_panel_x(panel, x - panel->origin.x);
        cairo_move_to(cairo, at, bottom);
        cairo_line_to(cairo, at, bottom + tick);
        cairo_stroke(cairo);
        tick_label(label, sizeof label, x);
        th_canvas_text(canvas, at, bottom + tick + text, 0.5, 0.9 * text, false, label);
    }
    for (double y = ceil(first_y / spacing_y) * spacing_y; y <= last_y; y += spacing_y) {
        double at = th_panel_y(panel, y - panel->origin.y);
        cairo_move_to(cairo, panel->left, at);
        cairo_line_to(cairo, panel->left - tick, at);
        cairo_stroke(cairo);
        tick_label(label, sizeof label, y);
        th_canvas_text(canvas, panel->left - 1.4 * tick, at + 0.33 * text, 1, 0.9 * text, false,
                       label);
    }
    th_canvas_text(canvas, panel->left + panel->width / 2, bottom + tick + 2.2 * text, 0.5, text,
                   false, "x [m]");
    cairo_save(cairo);
    cairo_translate(cairo, panel->left - 3.4 * text, panel->top + panel->height / 2);
    cairo_rotate(cairo, -PI / 2);
    th_canvas_text(canvas, 0, 0, 0.5, text, false, "y [m]");
    cairo_restore(cairo);
}

void th_canvas_scale_bar(const th_canvas *canvas, double x, double y, double room, double scale) {
    cairo_t *cairo = canvas->cairo;
    double length = th_round_length(room / scale), pixels = length * scale;
    double end = 0.35 * canvas->text;
    char label[32];
    snprintf(label, sizeof label, "%g m", length);
    cairo_set_source_rgb(cairo, 0.1, 0.1, 0.1);
    cairo_set_line_width(cairo, 2);
    cairo_move_to(cairo, x, y - end);
    cairo_line_to(cairo, x, y);
    cairo_line_to(cairo, x + pixels, y);
    cairo_line_to(cairo, x + pixels, y - end);
    cairo_stroke(cairo);
    th_canvas_text(canvas, x + pixels / 2, y - 0.5 * canvas->text, 0.5, canvas->text, false, label);
}

void th_canvas_colour_bar(const th_canvas *canvas, double x, double y, double width, double height,
                          double lowest, double highest, th_colour_fn *scale, const char *title) {
    cairo_t *cairo = canvas->cairo;
    enum { BANDS = 128 };
    for (int i = 0; i < BANDS; ++i) {
        double share = (i + 0.5) / BANDS, band = height / BANDS;
        th_canvas_colour(canvas, scale(share), 1);
        // One pixel of overlap hides seams between bands.
        cairo_rectangle(cairo, x, y + height - (i + 1) * band, width, band + 1);
        cairo_fill(cairo);
    }
    cairo_set_source_rgb(cairo, 0.3, 0.3, 0.3);
    cairo_set_line_width(cairo, 1);
    cairo_rectangle(cairo, x - 0.5, y - 0.5, width + 1, height + 2);
    cairo_stroke(cairo);
    double text = canvas->text;
    th_axis axis = th_axis_make(lowest, highest, 8, "");
    for (int k = 0; k < axis.tick_count; ++k) {
        char label[32];
        double at = y + height * (1 - (axis.tick[k] - lowest) / (highest - lowest));
        cairo_move_to(cairo, x + width, at);
        cairo_line_to(cairo, x + width + 0.3 * text, at);
        cairo_stroke(cairo);
        th_axis_label(&axis, axis.tick[k], label, sizeof label);
        th_canvas_text(canvas, x + width + 0.5 * text, at + 0.33 * text, 0, 0.9 * text, false,
                       label);
    }
    cairo_set_source_rgb(cairo, 0.15, 0.15, 0.15);
    th_canvas_text(canvas, x, y - 0.8 * text, 0, text, false, title);
}

// Straight lines between evenly spaced stops.
static th_colour between(const th_colour *stops, int count, double share) {
    double at = (count - 1) * (share > 1 ? 1 : share >= 0 ? share : 0); // NaN counts as 0
    int stop = (int)at < count - 2 ? (int)at : count - 2;
    double t = at - stop;
    th_colour a = stops[stop], b = stops[stop + 1];
    return (th_colour){a.r + t * (b.r - a.r), a.g + t * (b.g - a.g), a.b + t * (b.b - a.b)};
}

// Own table of nine stops after the idea of matplotlib's viridis (van der Walt, Smith 2015): equal
// steps of lightness, readable with any colour vision and in grey; the bright end a little darker, for
// dots on a white floor.
th_colour th_colour_scale(double share) {
    static const th_colour stops[9] = {
        {0.27, 0.00, 0.33}, {0.28, 0.17, 0.48}, {0.23, 0.32, 0.55},
        {0.17, 0.45, 0.56}, {0.13, 0.57, 0.55}, {0.15, 0.68, 0.51},
        {0.37, 0.79, 0.38}, {0.67, 0.86, 0.19}, {0.93, 0.84, 0.12},
    };
    return between(stops, 9, share);
}

th_colour th_colour_scale_reversed(double share) { return th_colour_scale(1 - share); }

th_colour th_colour_heat(double share) {
    static const th_colour stops[8] = {
        {0.99, 0.96, 0.80}, {0.99, 0.88, 0.55}, {0.98, 0.76, 0.30}, {0.94, 0.58, 0.14},
        {0.85, 0.38, 0.15}, {0.68, 0.20, 0.28}, {0.44, 0.10, 0.40}, {0.17, 0.03, 0.28},
    };
    return between(stops, 8, share);
}

th_colour th_colour_difference(double share) {
    static const th_colour stops[7] = {
        {0.02, 0.19, 0.42}, {0.13, 0.45, 0.70}, {0.55, 0.76, 0.88}, {0.95, 0.95, 0.95},
        {0.96, 0.69, 0.56}, {0.80, 0.28, 0.25}, {0.45, 0.02, 0.12},
    };
    return between(stops, 7, 0.5 + 0.5 * share);
}

// Okabe and Ito 2008, "Color universal design", without black (walls) and yellow (too faint on white).
th_colour th_colour_group(int group) {
    static const th_colour palette[8] = {
        {0.00, 0.45, 0.70}, {0.84, 0.37, 0.00}, {0.00, 0.62, 0.45}, {0.80, 0.47, 0.65},
        {0.34, 0.71, 0.91}, {0.90, 0.62, 0.00}, {0.35, 0.20, 0.55}, {0.50, 0.50, 0.50},
    };
    return palette[(group % 8 + 8) % 8]; // -1: a scripted body
}

// ---- panels on a page

// For the levels' names and heights.

th_panel_page th_panel_page_fit(const th_box *box, int levels, double text, double left, double top,
                                double right, double highest) {
    th_panel_page page = {.levels = levels, .columns = 1, .left = left, .top = top};
    if (levels > 1) page.top += 1.2 * text; // the level's name
    page.gap_x = 5.4 * text;
    page.gap_y = 5.2 * text;
    double width = (double)(box->max_x - box->min_x), height = (double)(box->max_y - box->min_y);
    for (int columns = 1; columns <= levels; ++columns) {
        int rows = (levels + columns - 1) / columns;
        double room_x = (right - page.left - (columns - 1) * page.gap_x) / columns;
        double room_y = (highest - page.top - rows * page.gap_y) / rows;
        double scale = fmin(room_x / width, room_y / height);
        if (scale <= page.scale) continue;
        page.scale = scale;
        page.columns = columns;
    }
    // Too small for any panel: drawn anyway, and clipped.
    if (!(page.scale > 0)) page.scale = text / fmax(width, height);
    int rows = (levels + page.columns - 1) / page.columns;
    page.panel_width = width * page.scale;
    page.panel_height = height * page.scale;
    page.bottom = page.top + rows * (page.panel_height + page.gap_y);
    return page;
}

static double scale_of(const th_panel_page *page, int level) {
    const th_box *box = &page->boxes[level];
    double width = (double)(box->max_x - box->min_x), height = (double)(box->max_y - box->min_y);
    return fmin((page->right - page->left) / width, page->highest / height);
}

static double height_of(const th_panel_page *page, int level) {
    return scale_of(page, level) * (double)(page->boxes[level].max_y - page->boxes[level].min_y);
}

th_panel_page th_panel_page_each(const th_box *boxes, int levels, double text, double left,
                                 double top, double right, double highest) {
    th_panel_page page = {.levels = levels,
                          .columns = 1,
                          .left = left,
                          .top = levels > 1 ? top + 1.2 * text : top,
                          .gap_y = 5.2 * text,
                          .boxes = boxes,
                          .right = right,
                          .highest = highest};
    page.bottom = page.top;
    for (int level = 0; level < levels; ++level) {
        page.scale = fmax(page.scale, scale_of(&page, level));
        page.bottom += height_of(&page, level) + page.gap_y;
    }
    return page;
}

// A panel with a box of its own, below those of the levels before.
static th_panel own_panel(const th_panel_page *page, const th_scene_view *scene, int level) {
    const th_box *box = &page->boxes[level];
    th_panel panel = {.box = *box, .scale = scale_of(page, level), .origin = scene->origin};
    panel.left = page->left;
    panel.top = page->top;
    for (int above = 0; above < level; ++above) panel.top += height_of(page, above) + page->gap_y;
    panel.width = panel.scale * (double)(box->max_x - box->min_x);
    panel.height = panel.scale * (double)(box->max_y - box->min_y);
    return panel;
}

th_panel th_panel_page_level(const th_canvas *canvas, const th_panel_page *page,
                             const th_scene_view *scene, const th_box *box, int level) {
    int column = level % page->columns, row = level / page->columns;
    th_panel panel = {.box = *box, .scale = page->scale, .origin = scene->origin};
    panel.left = page->left + column * (page->panel_width + page->gap_x);
    panel.top = page->top + row * (page->panel_height + page->gap_y);
    panel.width = page->panel_width;
    panel.height = page->panel_height;
    if (page->boxes) panel = own_panel(page, scene, level);
    if (page->levels > 1) {
        char name[96];
        snprintf(name, sizeof name, "%.60s (z = %g m)", scene->levels[level].id,
                 (double)scene->levels[level].z);
        cairo_set_source_rgb(canvas->cairo, 0.15, 0.15, 0.15);
        th_canvas_text(canvas, panel.left, panel.top - 0.5 * canvas->text, 0, canvas->text, true,
                       name);
    }
    return panel;
}

// ---- maps

// Levels of service and the bounds of findings, as src/observe has them; 10: the most that was found where people died.
const double th_density_bounds[TH_DENSITY_CLASSES - 1] = {TH_FRUIN_BOUNDS, (double)TH_DENSE,
                                                          (double)TH_PACKED, (double)TH_DEADLY, 10};

static const char *const density_names[TH_DENSITY_CLASSES] = {
    "A", "B", "C", "D", "E", "F", "congestion", "packed", "deadly", "deadly",
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
