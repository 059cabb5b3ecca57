// Two or more designs side by side, from the folders of their runs: differences of all figures with their intervals,
// maps of the difference, one page. SPDX-License-Identifier: Apache-2.0
#include "report/compare.h"
#include "core/error.h"
#include "core/memory.h"
#include "observe/quantities.h"
#include "report/figures.h"
#include "throng/scene_view.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// ---- what a folder holds

// A cell of maps.csv that people came to.
typedef struct cell {
    int level;
    double x, y; // middle [m], scene coordinates
    double density, dense_time, use;
} cell;

typedef struct design {
    const char *folder;
    char name[80];   // A, B, ... and the scene's name
    json_t *numbers; // quantities.json
    cell *cells;
    int cell_count;
    double size;         // of a cell [m]
    double *time, *left; // evacuation.csv: mean over runs
    int row_count;
} design;

enum { DESIGNS_MOST = TH_COMPARE_MOST };

struct th_comparison {
    design designs[DESIGNS_MOST];
    int count;
};

static th_result damaged(const design *d, const char *file, th_error *error) {
    char path[TH_PATH_MAX];
    snprintf(path, sizeof path, "%.3800s/%s", d->folder, file);
    return th_file_fail(error, path,
                        "is not what this version of throng writes; run the scene again");
}

static char *text_of(const design *d, const char *file, th_error *error) {
    char path[TH_PATH_MAX];
    size_t size = 0;
    snprintf(path, sizeof path, "%.3800s/%s", d->folder, file);
    return th_file_content(path, &size, error);
}

static char *next_line(char **at) {
    char *line = *at;
    if (!line || !*line) return NULL;
    char *end = strchr(line, '\n');
    *at = end ? end + 1 : line + strlen(line);
    if (end) *end = '\0';
    return line;
}

static th_result read_cells(design *d, th_error *error) {
    char *text = text_of(d, "maps.csv", error), *at = text;
    if (!text) return error->code;
    th_result result = next_line(&at) ? TH_OK : damaged(d, "maps.csv", error);
    for (char *line = next_line(&at); line && result == TH_OK; line = next_line(&at)) {
        cell c = {0};
        double size = 0;
        int read = sscanf(line, "%d,%lf,%lf,%lf,%lf,%*f,%lf,%lf", &c.level, &c.x, &c.y, &size,
                          &c.density, &c.dense_time, &c.use);
        if (read != 7 || !(size > 0) || c.level < 0) result = damaged(d, "maps.csv", error);
        if (result == TH_OK && !TH_RESERVE_ONE(d->cells, d->cell_count))
            result = th_fail(error, TH_NO_MEMORY, "", "no memory for the maps; free some");
        if (result != TH_OK) break;
        d->size = size;
        d->cells[d->cell_count++] = c;
    }
    free(text);
    return result;
}

// The mean over runs, or the only run.
static th_result read_curve(design *d, th_error *error) {
    char *text = text_of(d, "evacuation.csv", error), *at = text;
    if (!text) return error->code;
    const char *head = next_line(&at);
    bool several = head && strstr(head, "left_mean");
    th_result result = head ? TH_OK : damaged(d, "evacuation.csv", error);
    for (char *line = next_line(&at); line && result == TH_OK; line = next_line(&at)) {
        const char *field = line;
        for (int i = 0; i < (several ? 4 : 3) && field; ++i) {
            field = strchr(field, ',');
            if (field) ++field;
        }
        if (!field || *field == '\0' || *field == ',')
            continue; // no run says anything of this time
        if (!TH_RESERVE_ONE(d->time, d->row_count) || !TH_RESERVE_ONE(d->left, d->row_count)) {
            result = th_fail(error, TH_NO_MEMORY, "", "no memory for the curves; free some");
            break;
        }
        d->time[d->row_count] = strtod(line, NULL);
        d->left[d->row_count++] = strtod(field, NULL);
    }
    free(text);
    return result;
}

static th_result read_design(design *d, int index, const char *folder, th_error *error) {
    th_folder of = {0};
    struct stat about;
    d->folder = folder;
    snprintf(of.path, sizeof of.path, "%s", folder);
    if (stat(folder, &about) != 0 || !th_folder_has(&of, "quantities.json"))
        return th_file_fail(error, folder,
                            "has no quantities.json; give a scene or the folder of a `throng run`");
    d->numbers = th_folder_read_json(&of, "quantities.json", error);
    if (!d->numbers) return error->code;
    const char *scene = json_string_value(json_object_get(d->numbers, "scene"));
    snprintf(d->name, sizeof d->name, "%c: %.70s", 'A' + index, scene ? scene : folder);
    if (!json_is_array(json_object_get(d->numbers, "quantities")))
        return damaged(d, "quantities.json", error);
    th_result result = read_cells(d, error);
    return result == TH_OK ? read_curve(d, error) : result;
}

th_result th_comparison_read(const char *const *folders, int count, th_comparison **made,
                             th_error *error) {
    th_comparison *c = *made = calloc(1, sizeof *c);
    if (!c) return th_fail(error, TH_NO_MEMORY, "", "no memory for the comparison; free some");
    th_result result = TH_OK;
    for (int k = 0; k < count && k < DESIGNS_MOST && result == TH_OK; ++k) {
        result = read_design(&c->designs[k], k, folders[k], error);
        c->count = k + 1;
    }
    if (result == TH_OK) return TH_OK;
    th_comparison_destroy(c);
    *made = NULL;
    return result;
}

void th_comparison_destroy(th_comparison *c) {
    for (int k = 0; c && k < c->count; ++k) {
        json_decref(c->designs[k].numbers);
        free(c->designs[k].cells);
        free(c->designs[k].time);
        free(c->designs[k].left);
    }
    free(c);
}

// ---- differences

static const char *word(const json_t *quantity, const char *key) {
    const char *text = json_string_value(json_object_get(quantity, key));
    return text ? text : "";
}

static const json_t *same_quantity(const design *d, const json_t *wanted) {
    const json_t *list = json_object_get(d->numbers, "quantities");
    for (size_t k = 0; k < json_array_size(list); ++k) {
        const json_t *one = json_array_get(list, k);
        if (strcmp(word(one, "of"), word(wanted, "of")) == 0 &&
            strcmp(word(one, "id"), word(wanted, "id")) == 0 &&
            strcmp(word(one, "quantity"), word(wanted, "quantity")) == 0)
            return one;
    }
    return NULL;
}

static th_sample_summary sample_of(const json_t *quantity) {
    const json_t *list = json_object_get(quantity, "values");
    size_t count = json_array_size(list);
    double *values = malloc((count + 1) * sizeof *values);
    for (size_t k = 0; values && k < count; ++k) {
        const json_t *value = json_array_get(list, k);
        values[k] = json_is_number(value) ? json_number_value(value) : (double)NAN;
    }
    th_sample_summary s = th_summarise(values, values ? (int)count : 0);
    free(values);
    return s;
}

th_difference th_difference_of(const th_sample_summary *a, const th_sample_summary *b) {
    th_difference d = {a->mean, b->mean, b->mean - a->mean, (double)NAN, (double)NAN, false};
    if (a->count < 2 || b->count < 2) return d;
    double va = a->standard_deviation * a->standard_deviation / a->count;
    double vb = b->standard_deviation * b->standard_deviation / b->count;
    double half = 0.0;
    if (va + vb > 0.0) {
        double freedom =
            (va + vb) * (va + vb) / (va * va / (a->count - 1) + vb * vb / (b->count - 1));
        half = th_student_t_975((int)fmax(1.0, floor(freedom))) * sqrt(va + vb);
    }
    d.low = d.mean - half;
    d.high = d.mean + half;
    d.clear = d.low > 0.0 || d.high < 0.0;
    return d;
}

// Calls `visit` for every figure that A and the other design have.
typedef void visit_difference(void *context, const json_t *quantity, int other,
                              const th_difference *difference, const th_sample_summary *b);

static void each_difference(const th_comparison *c, int other, visit_difference *visit,
                            void *context) {
    const json_t *list = json_object_get(c->designs[0].numbers, "quantities");
    for (size_t k = 0; k < json_array_size(list); ++k) {
        const json_t *quantity = json_array_get(list, k);
        const json_t *its = same_quantity(&c->designs[other], quantity);
        if (!its) continue;
        th_sample_summary a = sample_of(quantity), b = sample_of(its);
        th_difference difference = th_difference_of(&a, &b);
        visit(context, quantity, other, &difference, &b);
    }
}

// ---- compare.csv and compare.json

static void put_row(void *context, const json_t *q, int other, const th_difference *d,
                    const th_sample_summary *b) {
    th_table_file *table = context;
    char name[2] = {(char)('A' + other), '\0'};
    (void)b;
    th_table_text(table, name);
    th_table_text(table, word(q, "of"));
    th_table_text(table, word(q, "id"));
    th_table_text(table, word(q, "quantity"));
    th_table_text(table, word(q, "unit"));
    const double numbers[] = {d->a, d->b, d->mean, d->low, d->high, d->mean / d->a};
    for (int k = 0; k < 6; ++k) th_table_number(table, numbers[k]);
    th_table_text(table, isnan(d->low) ? NULL : d->clear ? "yes" : "no");
    th_table_end_row(table);
}

static th_result write_table(const th_comparison *c, const char *folder, th_error *error) {
    th_table_file table;
    th_table_open(&table, folder, "compare.csv");
    TH_TABLE_HEADER(&table, "design", "of", "id", "quantity", "unit", "mean_of_a", "mean",
                    "difference", "ci95_low", "ci95_high", "share_of_a", "clear");
    for (int k = 1; k < c->count; ++k) each_difference(c, k, put_row, &table);
    return th_table_close(&table, error);
}

static json_t *number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

static void add_json(void *context, const json_t *q, int other, const th_difference *d,
                     const th_sample_summary *b) {
    char name[2] = {(char)('A' + other), '\0'};
    (void)b;
    json_array_append_new(
        context,
        json_pack("{s:s,s:s,s:s,s:s,s:s,s:o,s:o,s:o,s:o,s:o,s:o}", "design", name, "of",
                  word(q, "of"), "id", word(q, "id"), "quantity", word(q, "quantity"), "unit",
                  word(q, "unit"), "mean_of_a", number(d->a), "mean", number(d->b), "difference",
                  number(d->mean), "ci95_low", number(d->low), "ci95_high", number(d->high),
                  "clear", isnan(d->low) ? json_null() : json_boolean(d->clear)));
}

static th_result write_json(const th_comparison *c, const char *folder, th_error *error) {
    json_t *designs = json_array(), *list = json_array();
    for (int k = 0; k < c->count; ++k)
        json_array_append_new(designs, json_pack("{s:s,s:s}", "name", c->designs[k].name, "folder",
                                                 c->designs[k].folder));
    for (int k = 1; k < c->count; ++k) each_difference(c, k, add_json, list);
    json_t *root =
        json_pack("{s:s,s:o,s:o}", "throng", th_version(), "designs", designs, "differences", list);
    if (!root) return th_fail(error, TH_NO_MEMORY, "", "no memory for compare.json; free some");
    th_table_file file;
    th_table_open(&file, folder, "compare.json");
    th_table_json(&file, root);
    json_decref(root);
    return th_table_close(&file, error);
}

// ---- figures

typedef struct compare_data {
    th_figure_data base; // a pointer to it is one to the whole
    const th_comparison *comparison;
    int other; // the design that is compared with A
} compare_data;

static const compare_data *whole(const th_figure_data *data) { return (const compare_data *)data; }

static double draw_curves(const th_canvas *canvas, const th_figure_data *data) {
    const th_comparison *c = whole(data)->comparison;
    double y = th_figure_head(canvas, data, "People who have left", "mean of the runs"), end = 1;
    double most = 1;
    th_legend_entry entries[DESIGNS_MOST];
    for (int k = 0; k < c->count; ++k) {
        const design *d = &c->designs[k];
        entries[k] = (th_legend_entry){d->name, th_line_style_of(k), TH_LEGEND_LINE};
        int last = d->row_count - 1;
        while (last > 0 && d->left[last - 1] >= d->left[last]) --last;
        for (int i = 0; i < d->row_count; ++i) most = fmax(most, d->left[i]);
        if (last >= 0) end = fmax(end, 1.1 * d->time[last]);
    }
    y = th_legend(canvas, 0.8 * canvas->text, y + 0.4 * canvas->text, entries, c->count);
    th_chart chart =
        th_figure_chart(canvas, y + 0.5 * canvas->text, 260, th_axis_time(0, end, 9, "time"),
                        th_axis_count(1.05 * most, 8, "people"));
    th_chart_frame(&chart);
    for (int k = 0; k < c->count; ++k)
        th_chart_line(&chart, c->designs[k].time, c->designs[k].left, c->designs[k].row_count,
                      th_line_style_of(k));
    return th_chart_bottom(&chart);
}

typedef double cell_number(const cell *c);
static double density_of(const cell *c) { return c->density; }
static double dense_time_of(const cell *c) { return c->dense_time; }

// B less A in the cells of the level's box; false: no memory. Cells that no person came to count as 0.
static bool fill_raster(const compare_data *data, int level, cell_number *value, th_raster *raster,
                        double *most) {
    const design *pair[2] = {&data->comparison->designs[0],
                             &data->comparison->designs[data->other]};
    const th_box *box = &data->base.boxes[level];
    th_point origin = data->base.scene->origin;
    float size = (float)pair[0]->size;
    raster->cell = size;
    raster->min_x = floorf(box->min_x / size) * size;
    raster->min_y = floorf(box->min_y / size) * size;
    raster->nx = (int)ceilf((box->max_x - raster->min_x) / size);
    raster->ny = (int)ceilf((box->max_y - raster->min_y) / size);
    size_t cells = (size_t)raster->nx * (size_t)raster->ny;
    double *values = malloc((cells + 1) * sizeof *values);
    if (!values) return false;
    for (size_t k = 0; k < cells; ++k) values[k] = (double)NAN;
    for (int side = 0; side < 2; ++side)
        for (int k = 0; k < pair[side]->cell_count; ++k) {
            const cell *c = &pair[side]->cells[k];
            int i = (int)floor((c->x - origin.x - (double)raster->min_x) / (double)size);
            int j = (int)floor((c->y - origin.y - (double)raster->min_y) / (double)size);
            if (c->level != level || i < 0 || j < 0 || i >= raster->nx || j >= raster->ny) continue;
            double *at = &values[(size_t)j * (size_t)raster->nx + (size_t)i];
            *at = (isnan(*at) ? 0.0 : *at) + (side == 0 ? -1.0 : 1.0) * value(c);
        }
    for (size_t k = 0; k < cells; ++k) *most = fmax(*most, fabs(values[k]));
    raster->value = values;
    return true;
}

static th_colour difference_colour(double value, const void *most) {
    return th_colour_difference(value / *(const double *)most);
}

static th_colour bar_colour(double share) { return th_colour_difference(2 * share - 1); }

// The largest difference on any level sets the scale.
static double largest_difference(const compare_data *data, cell_number *value) {
    double most = 0;
    for (int level = 0; level < data->base.scene->level_count; ++level) {
        th_raster raster;
        if (!fill_raster(data, level, value, &raster, &most)) continue;
        free((void *)(uintptr_t)raster.value);
    }
    return most > 0 ? most : 1;
}

static double draw_difference(const th_canvas *canvas, const th_figure_data *figure,
                              const char *title, const char *quantity, cell_number *value) {
    enum { KEY = 160 };
    const compare_data *data = whole(figure);
    char note[200];
    snprintf(note, sizeof note, "%c less A", 'A' + data->other);
    double y = th_figure_head(canvas, figure, title, note), most = largest_difference(data, value);
    th_panel_page page = th_figure_panels(canvas, figure, y, KEY);
    for (int level = 0; level < figure->scene->level_count; ++level) {
        th_panel panel = th_panel_page_level(canvas, &page, figure->scene, &figure->box, level);
        th_raster raster;
        double unused = 0;
        cairo_save(canvas->cairo);
        cairo_rectangle(canvas->cairo, panel.left, panel.top, panel.width, panel.height);
        cairo_clip(canvas->cairo);
        th_draw_ground(canvas, &panel, figure->scene, level);
        if (fill_raster(data, level, value, &raster, &unused)) {
            cairo_save(canvas->cairo);
            th_clip_to_ground(canvas, &panel, figure->scene, level);
            th_draw_raster(canvas, &panel, &raster, difference_colour, &most);
            cairo_restore(canvas->cairo);
            free((void *)(uintptr_t)raster.value);
        }
        th_draw_outline(canvas, &panel, figure->scene, level, 1.2);
        th_draw_exits(canvas, &panel, figure->scene, level);
        cairo_restore(canvas->cairo);
        th_panel_axes(canvas, &panel);
    }
    double text = canvas->text, x = canvas->width - KEY + 1.2 * text;
    th_canvas_colour_bar(canvas, x, page.top + 2.2 * text, 1.5 * text, 13 * text, -most, most,
                         bar_colour, quantity);
    return fmax(page.bottom - 1.2 * text, page.top + 18 * text);
}

static double draw_density(const th_canvas *canvas, const th_figure_data *data) {
    return draw_difference(canvas, data, "Difference of the mean density", "1/m\xc2\xb2",
                           density_of);
}
static double draw_dense(const th_canvas *canvas, const th_figure_data *data) {
    return draw_difference(canvas, data, "Difference of the time above 4 /m\xc2\xb2", "s",
                           dense_time_of);
}
static bool always(const th_figure_data *data) { return data != NULL; }
static bool maps_apply(const th_figure_data *data) {
    return whole(data)->comparison->designs[0].cell_count > 0;
}
static void caption_curves(th_text *text, const th_figure_data *data) {
    (void)data;
    th_text_put(text, "Mean number of people who have left.");
}
static void caption_maps(th_text *text, const th_figure_data *data) {
    th_text_add(text,
                "Red: more in %c, blue: less than in A; drawn over the plan of A. Where no "
                "person came in either, nothing is shown.",
                'A' + whole(data)->other);
}

static const th_figure figures[] = {
    {"compare_evacuation", "People who have left", always, NULL, draw_curves, caption_curves},
    {"compare_density", "Difference of the mean density", maps_apply, NULL, draw_density,
     caption_maps},
    {"compare_congestion", "Difference of the time above 4 people per m\xc2\xb2", maps_apply, NULL,
     draw_dense, caption_maps},
};

// ---- the page

static void add_number(th_text *page, const char *unit, double value) {
    if (strcmp(unit, "s") == 0 && isfinite(value))
        th_text_add(page, "%.1f", value);
    else
        th_text_measured(page, value);
}

static void add_difference(th_text *page, const char *unit, const th_difference *d) {
    th_text_put(page, d->mean > 0 ? "+" : "");
    add_number(page, unit, d->mean);
    if (!isnan(d->low) && d->high > d->low) {
        th_text_put(page, " <small>(");
        add_number(page, unit, d->low);
        th_text_put(page, " to ");
        add_number(page, unit, d->high);
        th_text_put(page, ")</small>");
    }
}

// The sentence that says most: the egress times.
static void add_answer(void *context, const json_t *q, int other, const th_difference *d,
                       const th_sample_summary *b) {
    th_text *page = context;
    if (strcmp(word(q, "of"), "run") != 0 || strcmp(word(q, "quantity"), "egress time") != 0)
        return;
    th_text_add(page, "<p class=\"headline\">%c ", 'A' + other);
    if (!isfinite(d->mean)) {
        th_text_put(page, isfinite(d->b)   ? "emptied, A never did"
                          : isfinite(d->a) ? "never emptied, A did"
                                           : "and A never emptied");
        th_text_put(page, ".</p>\n");
        return;
    }
    if (!d->clear && !isnan(d->low)) {
        th_text_put(page, "empties neither clearly faster nor slower than A: ");
    } else {
        th_text_add(page, "empties %.1f\xc2\xa0s %s than A: ", fabs(d->mean),
                    d->mean < 0 ? "faster" : "later");
    }
    th_text_seconds(page, d->b);
    th_text_put(page, ", A ");
    th_text_seconds(page, d->a);
    if (!isnan(d->low))
        th_text_add(page,
                    " (95\xc2\xa0%% interval of the difference %.1f to %.1f\xc2\xa0s, %d runs)",
                    d->low, d->high, b->count);
    th_text_put(page, ".</p>\n");
}

typedef struct listing {
    th_text *page;
    bool clear_only;
    int count;
} listing;

static void add_row(void *context, const json_t *q, int other, const th_difference *d,
                    const th_sample_summary *b) {
    listing *l = context;
    const char *unit = word(q, "unit");
    (void)b;
    (void)other;
    bool same = !(d->a < d->b) && !(d->a > d->b);
    if (l->clear_only ? !d->clear : same && isnan(d->low)) return;
    l->count++;
    th_text_put(l->page, "<tr><td>");
    th_text_escaped(l->page, word(q, "of"));
    th_text_put(l->page, "</td><th scope=\"row\">");
    th_text_escaped(l->page, word(q, "id"));
    th_text_put(l->page, "</th><td>");
    th_text_escaped(l->page, word(q, "quantity"));
    th_text_add(l->page, "%s%s%s</td><td class=\"n\">", *unit ? " [" : "", unit, *unit ? "]" : "");
    add_number(l->page, unit, d->a);
    th_text_put(l->page, "</td><td class=\"n\">");
    add_number(l->page, unit, d->b);
    th_text_put(l->page, "</td><td class=\"n\">");
    add_difference(l->page, unit, d);
    th_text_put(l->page, "</td></tr>\n");
}

static void add_table(th_text *page, const th_comparison *c, int other, bool clear_only) {
    listing l = {page, clear_only, 0};
    th_text_add(page,
                "<h3>%s</h3><div class=\"wide\"><table><thead><tr><th>of</th><th>name</th>"
                "<th>figure</th><th class=\"n\">A</th><th class=\"n\">%c</th>"
                "<th class=\"n\">difference (95\xc2\xa0%% interval)</th></tr></thead><tbody>\n",
                clear_only ? "What differs clearly" : "All figures", 'A' + other);
    each_difference(c, other, add_row, &l);
    th_text_put(page, "</tbody></table></div>\n");
    if (l.count == 0) th_text_put(page, "<p>Nothing.</p>\n");
}

static th_result add_figures(th_text *page, compare_data *data, const char *folder, int *number,
                             th_error *error) {
    th_result result = TH_OK;
    for (size_t k = 0; k < sizeof figures / sizeof *figures && result == TH_OK; ++k) {
        char path[TH_PATH_MAX], name[64];
        if ((k == 0) != (data->other == 0) || !figures[k].applies(&data->base)) continue;
        snprintf(name, sizeof name, "%s%s%c", figures[k].name, data->other > 0 ? "_" : "",
                 data->other > 0 ? 'a' + data->other : '\0');
        th_figure figure = figures[k];
        figure.name = name;
        snprintf(path, sizeof path, "%.3800s/figures/%s.png", folder, name);
        th_text_add(page, "<figure id=\"figure-%s\">", name);
        result = th_figure_write(&figure, &data->base, path, page, error);
        th_text_add(page, "<figcaption><strong>Figure %d. %s.</strong> ", ++*number, figure.title);
        figure.caption(page, &data->base);
        th_text_put(page, "</figcaption></figure>\n");
    }
    return result;
}

static void add_designs(th_text *page, const th_comparison *c) {
    th_text_put(page, "<ul>");
    for (int k = 0; k < c->count; ++k) {
        const json_t *seeds = json_object_get(c->designs[k].numbers, "seeds");
        th_text_put(page, "<li><strong>");
        th_text_escaped(page, c->designs[k].name);
        th_text_add(page, "</strong>, %d %s, <code>", (int)json_array_size(seeds),
                    json_array_size(seeds) == 1 ? "run" : "runs");
        th_text_escaped(page, c->designs[k].folder);
        th_text_put(page, "</code></li>\n");
    }
    th_text_put(page, "</ul>\n");
}

static th_result write_page(compare_data *data, const char *folder, const char *command_line,
                            th_error *error) {
    const th_comparison *c = data->comparison;
    th_text page = {0};
    int number = 0;
    th_page_head(&page, "Comparison of designs", "comparison");
    th_text_put(&page, "<section class=\"answer\">");
    for (int k = 1; k < c->count; ++k) each_difference(c, k, add_answer, &page);
    add_designs(&page, c);
    th_text_put(&page, "</section>\n");
    data->other = 0;
    th_result result = add_figures(&page, data, folder, &number, error);
    for (int k = 1; k < c->count && result == TH_OK; ++k) {
        data->other = k;
        th_text_add(&page, "<section><h2>%c against A</h2>\n", 'A' + k);
        add_table(&page, c, k, true);
        result = add_figures(&page, data, folder, &number, error);
        add_table(&page, c, k, false);
        th_text_put(&page, "</section>\n");
    }
    th_text_put(&page,
                "<section><h2>How it was compared</h2><p>The difference is the mean of all runs of "
                "a design less that of A, with the 95\xc2\xa0% interval of Welch's t, which does "
                "not ask for equal spread. It differs clearly where the interval does not hold 0: "
                "of 20 figures without any difference one would, too. compare.csv and compare.json "
                "have all numbers.</p>\n");
    if (command_line) {
        th_text_put(&page, "<p><code>");
        th_text_escaped(&page, command_line);
        th_text_put(&page, "</code></p>");
    }
    th_text_put(&page, "</section></body></html>\n");
    if (result == TH_OK) result = th_text_write(&page, folder, "report.html", TH_SYNCED, error);
    th_text_release(&page);
    return result;
}

th_result th_comparison_write(const th_comparison *c, const char *folder, const char *command_line,
                              th_error *error) {
    char path[TH_PATH_MAX];
    th_scene *scene = NULL;
    snprintf(path, sizeof path, "%.3800s/scene.json", c->designs[0].folder);
    th_result result = th_scene_load_file(path, NULL, &scene, error);
    if (result == TH_OK) result = write_table(c, folder, error);
    if (result == TH_OK) result = write_json(c, folder, error);
    th_ensemble none = {0};
    compare_data data = {.comparison = c};
    const th_report_def def = {
        .scene = scene ? th_scene_view_of(scene) : NULL, .ensemble = &none, .folder = folder};
    snprintf(path, sizeof path, "%.3800s/figures", folder);
    if (result == TH_OK) result = th_make_folders(path, error);
    if (result == TH_OK) result = th_figure_data_make(&data.base, &def, error);
    if (result == TH_OK) result = write_page(&data, folder, command_line, error);
    th_figure_data_release(&data.base);
    th_scene_destroy(scene);
    return result;
}

void th_comparison_print(const th_comparison *c, FILE *out) {
    static const char *const told[] = {"egress time", "95 % out", "mean time in a jam",
                                       "highest density"};
    for (int k = 0; k < c->count; ++k)
        fprintf(out, "%s (%s)\n", c->designs[k].name, c->designs[k].folder);
    for (int k = 1; k < c->count; ++k)
        for (size_t i = 0; i < sizeof told / sizeof *told; ++i) {
            const json_t *wanted =
                json_pack("{s:s,s:s,s:s}", "of", "run", "id", "", "quantity", told[i]);
            const json_t *a = same_quantity(&c->designs[0], wanted);
            const json_t *b = same_quantity(&c->designs[k], wanted);
            th_sample_summary sa = sample_of(a), sb = sample_of(b);
            th_difference d = th_difference_of(&sa, &sb);
            json_decref((json_t *)(uintptr_t)wanted);
            fprintf(out, "  %-20s A %9.2f  %c %9.2f  difference %+.2f", told[i], d.a, 'A' + k, d.b,
                    d.mean);
            if (!isnan(d.low))
                fprintf(out, " (%.2f .. %.2f)%s", d.low, d.high, d.clear ? "" : ", not clear");
            fprintf(out, " %s\n", a ? word(a, "unit") : "");
        }
}
