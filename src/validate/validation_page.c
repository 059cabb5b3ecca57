// A validation for readers and for machines. validation.html is one file with everything in it, to be handed to an
// authority; validation.json has the same content.
// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/file.h"
#include "draw/canvas.h"
#include "draw/chart.h"
#include "draw/plan_drawing.h"
#include "report/figures.h"
#include "report/report.h"
#include "throng/scene_view.h"
#include "validate/suite_parts.h"
#include "validate/validate.h"
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef double draw_figure(const th_canvas *canvas, const th_outcome *outcome);

// ---- figures of a test: the plan with its crowd, and the numbers behind the verdict
// Each draws on a page TH_FIGURE_WIDTH wide from the top and returns the height it needs.

static const th_colour BLACK = {0.1, 0.1, 0.1}, GREY = {0.45, 0.45, 0.45};

// ---- the plan

// Share of the preferred speed below which people are drawn in the colour; one path per colour keeps the
// page small.
static const double share_bound[] = {0.2, 0.6, 10};
static const double share_colour[] = {0.05, 0.5, 0.9};
enum { SHARES = 3 };

static int share_of(const th_moment *crowd, int i) {
    double speed = hypot(crowd->velocity_x[i], crowd->velocity_y[i]);
    double wanted = fmax(crowd->preferred_speed[i], 0.1);
    for (int k = 0; k < SHARES - 1; ++k)
        if (speed < share_bound[k] * wanted) return k;
    return SHARES - 1;
}

static void draw_crowd(const th_canvas *canvas, const th_panel *panel, const th_moment *crowd,
                       int level) {
    th_vec2 *points = malloc(((size_t)crowd->count + 1) * sizeof *points);
    double width = fmin(fmax(0.4 * panel->scale, 2.4), 16); // a person is about 0.4 m wide
    for (int k = 0; points && k < SHARES; ++k) {
        int count = 0;
        for (int i = 0; i < crowd->count; ++i)
            if (th_moment_level(crowd, i) == level && share_of(crowd, i) == k)
                points[count++] = (th_vec2){(float)crowd->x[i], (float)crowd->y[i]};
        th_draw_dots(canvas, panel, points, count, th_colour_scale(share_colour[k]), width);
    }
    free(points);
}

static double draw_plan(const th_canvas *canvas, const th_outcome *outcome) {
    const th_suite_picture *picture = &outcome->picture;
    const th_scene_view *scene = th_scene_view_of(picture->scene);
    double text = canvas->text;
    th_moment empty = {0};
    th_box box = th_plan_box(scene, &empty);
    float more = fmaxf(0, 0.15f * (box.max_x - box.min_x) - (box.max_y - box.min_y)) / 2;
    box.min_y -= more; // a plan thinner than this would leave no room for its labels
    box.max_y += more;
    char note[160];
    snprintf(note, sizeof note,
             "t = %.1f s, %d people on the plan; dark: slower than a fifth of the own speed, "
             "green: than "
             "three fifths, yellow: faster",
             picture->time, picture->crowd.moment.count);
    cairo_set_source_rgb(canvas->cairo, 0.35, 0.35, 0.35);
    th_canvas_text(canvas, 0.8 * text, 1.3 * text, 0, text, false, note);
    th_panel_page page = th_panel_page_fit(&box, scene->level_count, text, 4.8 * text, 2.2 * text,
                                           canvas->width - 1.5 * text, 0.75 * canvas->width);
    th_plan_view view = {.scene = scene, .door_closed = picture->door_closed, .box = box};
    for (int level = 0; level < scene->level_count; ++level) {
        th_panel panel = th_panel_page_level(canvas, &page, scene, &box, level);
        cairo_save(canvas->cairo);
        cairo_rectangle(canvas->cairo, panel.left, panel.top, panel.width, panel.height);
        cairo_clip(canvas->cairo);
        th_draw_ground(canvas, &panel, scene, level);
        draw_crowd(canvas, &panel, &picture->crowd.moment, level);
        th_draw_walls(canvas, &panel, &view, level);
        th_draw_labels(canvas, &panel, scene, level, false);
        cairo_restore(canvas->cairo);
        th_panel_axes(canvas, &panel);
    }
    return page.bottom;
}

// ---- samples: a row each

static bool has_samples(const th_outcome *outcome) {
    for (int i = 0; i < outcome->series_count; ++i)
        if (!outcome->series[i].unit_x && outcome->series[i].count > 0) return true;
    return false;
}

static bool has_curves(const th_outcome *outcome) {
    for (int i = 0; i < outcome->series_count; ++i)
        if (outcome->series[i].unit_x && outcome->series[i].count > 0) return true;
    return false;
}

static void widen(double value, double *low, double *high) {
    if (!isfinite(value)) return;
    *low = fmin(*low, value);
    *high = fmax(*high, value);
}

static void sample_range(const th_outcome *outcome, double *low, double *high) {
    *low = 1e30;
    *high = -1e30;
    for (int i = 0; i < outcome->series_count; ++i) {
        const th_series *s = &outcome->series[i];
        if (s->unit_x) continue;
        for (int k = 0; k < s->count; ++k) widen(s->y[k], low, high);
        widen(s->low, low, high);
        widen(s->high, low, high);
    }
    double margin = fmax(0.05 * (*high - *low), 0.02 * fmax(fabs(*high), 1e-6));
    *low -= margin;
    *high += margin;
}

enum { DOTS_MOST = 20, BINS = 40 };

// Many values as a histogram in the row, few as dots.
static void draw_row(const th_chart *chart, const th_series *s, double base, th_colour colour) {
    if (s->count <= DOTS_MOST) {
        for (int k = 0; k < s->count; ++k) th_chart_dot(chart, s->y[k], base + 0.3, colour);
        return;
    }
    int counts[BINS] = {0}, most = 1;
    double width = (chart->x.high - chart->x.low) / BINS;
    for (int k = 0; k < s->count; ++k) {
        int bin = (int)((s->y[k] - chart->x.low) / width);
        if (bin >= 0 && bin < BINS && ++counts[bin] > most) most = counts[bin];
    }
    cairo_t *cairo = chart->canvas->cairo;
    for (int b = 0; b < BINS; ++b) {
        if (counts[b] == 0) continue;
        double x0 = th_chart_x(chart, chart->x.low + b * width),
               y0 = th_chart_y(chart, base + 0.05);
        double x1 = th_chart_x(chart, chart->x.low + (b + 1) * width);
        double y1 = th_chart_y(chart, base + 0.05 + 0.55 * counts[b] / most);
        cairo_rectangle(cairo, x0 + 0.5, y1, x1 - x0 - 1, y0 - y1);
    }
    th_canvas_colour(chart->canvas, colour, 1);
    cairo_fill(cairo);
}

// Draws the allowed range as a pale bar.
static void draw_allowed(const th_chart *chart, const th_series *s, double base) {
    if (!isfinite(s->low) && !isfinite(s->high)) return;
    double x0 = th_chart_x(chart, isfinite(s->low) ? s->low : chart->x.low);
    double x1 = th_chart_x(chart, isfinite(s->high) ? s->high : chart->x.high);
    double y0 = th_chart_y(chart, base + 0.03), y1 = th_chart_y(chart, base + 0.62);
    cairo_rectangle(chart->canvas->cairo, x0, y1, x1 - x0, y0 - y1);
    th_canvas_colour(chart->canvas, th_colour_group(2), 0.25);
    cairo_fill(chart->canvas->cairo);
}

static double draw_samples(const th_canvas *canvas, const th_outcome *outcome) {
    double low, high, text = canvas->text, row = 3.4 * text;
    int rows = 0, drawn = 0;
    const char *unit = "";
    for (int i = 0; i < outcome->series_count; ++i) {
        const th_series *s = &outcome->series[i];
        if (s->unit_x || s->count == 0) continue;
        ++rows;
        unit = s->unit;
    }
    sample_range(outcome, &low, &high);
    char title[64];
    snprintf(title, sizeof title, strcmp(unit, "-") == 0 ? "share" : "[%s]", unit);
    th_axis y = {.low = 0, .high = rows, .unit = 1};
    th_chart chart = {
        .canvas = canvas, .left = 2 * text, .top = 0.8 * text, .width = canvas->width - 4 * text};
    chart.height = rows * row;
    chart.x = th_axis_make(low, high, 9, title);
    chart.y = y;
    th_chart_thin_ticks(&chart);
    th_chart_frame(&chart);
    for (int i = 0; i < outcome->series_count; ++i) {
        const th_series *s = &outcome->series[i];
        if (s->unit_x || s->count == 0) continue;
        double base = rows - 1 - drawn++;
        draw_allowed(&chart, s, base);
        draw_row(&chart, s, base, th_colour_group(0));
        char name[160];
        snprintf(name, sizeof name, "%s (%d)", s->name, s->count);
        th_canvas_colour(canvas, BLACK, 1);
        th_canvas_text(canvas, chart.left + 0.4 * text, th_chart_y(&chart, base + 0.7), 0,
                       0.92 * text, false, name);
        if (base > 0) th_chart_horizontal(&chart, base, (th_line_style){GREY, 0.6, 0, 0.6});
    }
    return th_chart_bottom(&chart);
}

// ---- curves

static void curve_range(const th_outcome *outcome, double *x_high, double *y_high, double *x_low) {
    double low = 0;
    *x_low = 1e30;
    *x_high = *y_high = 0;
    for (int i = 0; i < outcome->series_count; ++i) {
        const th_series *s = &outcome->series[i];
        for (int k = 0; s->unit_x && k < s->count; ++k) {
            widen(s->x[k], x_low, x_high);
            widen(s->y[k], &low, y_high);
        }
    }
    if (*x_low < 0.4 * *x_high) *x_low = 0;
}

static double draw_curves(const th_canvas *canvas, const th_outcome *outcome) {
    double x_low, x_high, y_high, text = canvas->text;
    th_legend_entry entries[TH_SERIES_MAX];
    char x_title[96] = "", y_title[96] = "";
    int count = 0;
    curve_range(outcome, &x_high, &y_high, &x_low);
    for (int i = 0; i < outcome->series_count; ++i) {
        const th_series *s = &outcome->series[i];
        if (!s->unit_x || s->count == 0) continue;
        th_line_style style = th_line_style_of(count);
        if (s->reference) style = (th_line_style){BLACK, 1.6, 1, 1};
        entries[count++] = (th_legend_entry){s->name, style, TH_LEGEND_LINE};
        bool density = strcmp(s->unit_x, "1/m2") == 0 || strcmp(s->unit_x, "1/m") == 0;
        snprintf(x_title, sizeof x_title, "%s [%s]",
                 density                           ? "density"
                 : strcmp(s->unit_x, "years") == 0 ? "age"
                                                   : "width",
                 s->unit_x);
        bool speed = strcmp(s->unit, "m/s") == 0, other = *y_title && !strstr(y_title, s->unit);
        size_t used = strlen(y_title);
        if (!*y_title || other)
            snprintf(y_title + used, sizeof y_title - used, "%s%s [%s]", used ? ", " : "",
                     speed ? "speed" : "flow", s->unit);
    }
    double y = th_legend(canvas, 0.8 * text, 1.2 * text, entries, count);
    th_chart chart =
        th_figure_chart(canvas, y + 0.4 * text, 240, th_axis_make(x_low, x_high, 9, x_title),
                        th_axis_make(0, 1.05 * y_high, 7, y_title));
    th_chart_frame(&chart);
    for (int i = 0, drawn = 0; i < outcome->series_count; ++i) {
        const th_series *s = &outcome->series[i];
        if (!s->unit_x || s->count == 0) continue;
        th_line_style style = entries[drawn++].style;
        th_chart_line(&chart, s->x, s->y, s->count, style);
        for (int k = 0; !s->reference && k < s->count; ++k)
            th_chart_dot(&chart, s->x[k], s->y[k], style.colour);
    }
    return th_chart_bottom(&chart);
}

// ---- into the page

static cairo_status_t append_svg(void *context, const unsigned char *bytes, unsigned length) {
    th_text *text = context;
    th_text_append(text, (const char *)bytes, length);
    return text->failed ? CAIRO_STATUS_NO_MEMORY : CAIRO_STATUS_SUCCESS;
}

static bool add_svg(th_text *page, draw_figure *draw, const th_outcome *outcome, const char *prefix,
                    const char *label) {
    // Drawn once off screen to measure its height.
    th_canvas unseen = th_canvas_create_zoomed(TH_FIGURE_WIDTH, 1, TH_FIGURE_TEXT, 1);
    if (!unseen.surface) return false;
    double height = ceil(draw(&unseen, outcome));
    th_canvas_destroy(&unseen);
    th_text svg = {0};
    th_canvas canvas =
        th_canvas_create_svg(TH_FIGURE_WIDTH, height, TH_FIGURE_TEXT, append_svg, &svg);
    if (!canvas.surface) return false;
    draw(&canvas, outcome);
    cairo_surface_finish(canvas.surface);
    bool good = cairo_surface_status(canvas.surface) == CAIRO_STATUS_SUCCESS &&
                cairo_status(canvas.cairo) == CAIRO_STATUS_SUCCESS;
    th_canvas_destroy(&canvas);
    good = good && !svg.failed && th_svg_inline(page, svg.bytes, prefix, label);
    th_text_release(&svg);
    return good;
}

// ---- the page

static const char style[] =
    ".pass{color:#00664a}.fail{color:#b03a00;font-weight:700}.reported{color:#005a8c}.na{color:#"
    "555}"
    ".v{white-space:nowrap;font-weight:600}article{border-top:1px solid #bbb;margin-top:1.6rem}"
    "article figure{margin:.8rem 0}@media print{article{break-inside:avoid}}";

static const char *class_of(th_verdict verdict) {
    static const char *const names[] = {"pass", "fail", "na", "reported"};
    return names[verdict];
}

static void anchor(th_text *page, const th_validation_entry *entry) {
    th_text_add(page, "%s-%s", entry->suite->name, entry->test->number);
}

static void add_head(th_text *page, const th_validation *validation) {
    th_text_put(page, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                      "<title>Verification of throng</title>\n<style>");
    th_text_put(page, th_page_style);
    th_text_put(page, style);
    th_text_put(page,
                "</style></head>\n<body>\n<header><p class=\"note\">Verification report, throng ");
    th_text_escaped(page, th_version());
    th_text_put(page,
                "</p><h1>Verification of a crowd model</h1></header>\n<section class=\"answer\"><p "
                "class=\"headline\">");
    th_text_add(page, "%d tests: %d pass, %d fail, %d reported, %d not applicable.</p>",
                validation->count, validation->totals[TH_PASS], validation->totals[TH_FAIL],
                validation->totals[TH_REPORTED], validation->totals[TH_NOT_APPLICABLE]);
    th_text_put(page, "<p>Reported: the rule gives no bound, or a bound that contradicts "
                      "measurements with people "
                      "(the remark says so). Not applicable: needs what throng does not "
                      "simulate.</p></section>\n");
}

// ---- what was simulated

static void add_model(th_text *page, const char *stage, const th_model_choice *choice) {
    const th_model *model = th_models(NULL)[choice->model];
    th_text_add(page, "<h3>%s: %s</h3><p>", stage, model->name);
    th_text_escaped(page, model->doc);
    th_text_put(page, ". Source: ");
    th_text_escaped(page, model->source);
    th_text_put(page, ".</p>\n");
    if (model->param_count == 0) return;
    th_text_put(
        page,
        "<div class=\"wide\"><table><thead><tr><th>parameter</th><th class=\"n\">value</th><th "
        "class=\"n\">default</th><th>unit</th><th>meaning</th><th>source</th></tr></"
        "thead><tbody>\n");
    for (int i = 0; i < model->param_count; ++i) {
        const th_param_info *p = &model->params[i];
        bool changed = choice->params[i] != (float)p->value;
        th_text_add(
            page,
            "<tr><td><code>%s</code></td><td class=\"n\">%s%g%s</td><td class=\"n\">%g</td><td>",
            p->name, changed ? "<strong>" : "", (double)choice->params[i],
            changed ? "</strong>" : "", p->value);
        th_text_escaped(page, p->unit);
        th_text_put(page, "</td><td>");
        th_text_escaped(page, p->doc);
        th_text_put(page, "</td><td>");
        th_text_escaped(page, p->source);
        th_text_put(page, "</td></tr>\n");
    }
    th_text_put(page, "</tbody></table></div>\n");
}

static void add_models(th_text *page, const th_validation *validation) {
    th_outcome outcome = {0};
    th_suite_test nothing = {.number = "", .title = ""};
    th_trial trial = {&validation->setup, NULL, &nothing, &outcome, false};
    th_case one;
    if (!th_case_open(&one, &trial, "rimea_01_corridor", 1, NULL))
        return; // run before: cannot fail but for memory
    const th_group *group = &th_scene_view_of(one.scene)->groups[0];
    add_model(page, "Plan", &group->plan);
    add_model(page, "Filter", &group->filter);
    add_model(page, "Move", &group->move);
    th_case_close(&one);
}

static void add_setup(th_text *page, const th_validation *validation) {
    th_text_put(page, "<section id=\"models\"><h2>Models and parameters</h2>\n<p>The same for "
                      "every test. Values that "
                      "differ from the defaults are bold.</p>\n");
    add_models(page, validation);
    th_text_put(page, "</section>\n<section id=\"assumptions\"><h2>Assumptions</h2><ul>");
    th_text_add(
        page,
        "<li>Seeds 1 to %d: tests that depend on chance are judged by the mean of %d crowds.</li>",
        validation->setup.crowds, validation->setup.crowds);
    th_text_put(
        page,
        "<li>People: radius 0.2 m, mass 80 kg, preferred speed normal 1.34 m/s, 0.26 m/s within "
        "0.5 to 2.2 m/s "
        "(Weidmann 1993), unless a test prescribes others.</li>"
        "<li>Time step 0.1 s; force models cut it into sub-steps of their own.</li>"
        "<li>Stairs are drawn along the slope; their speed factors are those on the steps.</li>"
        "<li>All people know the plan and take the nearest of the exits allowed, by walking "
        "distance.</li>"
        "<li>The rules are those of the published descriptions named beside each test; where a "
        "guideline gives "
        "words only, the bound and its origin are named.</li>"
        "<li>Every run is checked once a simulated second: no person lost, none in a wall. One "
        "that "
        "is not fails "
        "its test.</li></ul></section>\n");
}

// ---- the tests

static void add_verdict(th_text *page, const th_outcome *outcome) {
    th_text_add(page, "<span class=\"v %s\">%s</span>", class_of(outcome->verdict),
                th_verdict_word(outcome->verdict));
}

static void add_table(th_text *page, const th_validation *validation) {
    const th_suite *suite = NULL;
    th_text_put(page, "<section id=\"table\"><h2>Tests</h2>\n");
    for (int i = 0; i < validation->count; ++i) {
        const th_validation_entry *entry = &validation->entries[i];
        if (entry->suite != suite) {
            if (suite) th_text_put(page, "</tbody></table></div>\n");
            suite = entry->suite;
            th_text_add(page, "<h3 id=\"%s\">%s</h3><p class=\"note\">", suite->name, suite->title);
            th_text_escaped(page, suite->document);
            th_text_put(
                page,
                "</p><div "
                "class=\"wide\"><table><thead><tr><th>test</th><th>asked</th><th>measured</th>"
                "<th>verdict</th></tr></thead><tbody>\n");
        }
        th_text_put(page, "<tr><td><a href=\"#");
        anchor(page, entry);
        th_text_add(page, "\">%s&nbsp;%s</a> %s</td><td>", suite->title, entry->test->number,
                    entry->test->title);
        th_text_escaped(page, entry->test->asked);
        th_text_put(page, "</td><td>");
        th_text_escaped(page,
                        *entry->outcome.measured ? entry->outcome.measured : entry->outcome.remark);
        th_text_put(page, "</td><td>");
        add_verdict(page, &entry->outcome);
        th_text_put(page, "</td></tr>\n");
    }
    th_text_put(page, suite ? "</tbody></table></div></section>\n" : "</section>\n");
}

static void add_row(th_text *page, const char *name, const char *words) {
    if (!words || !*words) return;
    th_text_add(page, "<dt>%s</dt><dd>", name);
    th_text_escaped(page, words);
    th_text_put(page, "</dd>");
}

static bool add_figure(th_text *page, draw_figure *draw, const th_validation_entry *entry,
                       const char *kind, const char *caption) {
    char prefix[80], label[200];
    snprintf(prefix, sizeof prefix, "%s-%s-%s", entry->suite->name, entry->test->number, kind);
    for (char *at = prefix; *at; ++at)
        if (*at == '.') *at = '_'; // in url(#...) a point is fine, in style sheets it is not
    snprintf(label, sizeof label, "%s %s: %s", entry->suite->title, entry->test->number, kind);
    th_text_put(page, "<figure>");
    bool good = add_svg(page, draw, &entry->outcome, prefix, label);
    th_text_add(page, "<figcaption>%s</figcaption></figure>\n", caption);
    return good;
}

static bool add_test(th_text *page, const th_validation_entry *entry) {
    const th_outcome *outcome = &entry->outcome;
    bool good = true;
    th_text_put(page, "<article id=\"");
    anchor(page, entry);
    th_text_add(page, "\"><h3>%s %s: %s</h3><p>", entry->suite->title, entry->test->number,
                entry->test->title);
    add_verdict(page, outcome);
    th_text_put(page, "</p><dl class=\"method\">");
    add_row(page, "Asked", entry->test->asked);
    if (entry->test->run) add_row(page, "Source of the rule", entry->test->source);
    add_row(page, "Measured", outcome->measured);
    add_row(page, entry->test->run ? "Remark" : "Reason", outcome->remark);
    if (outcome->runs > 0) th_text_add(page, "<dt>Simulations</dt><dd>%d</dd>", outcome->runs);
    th_text_put(page, "</dl>\n");
    if (outcome->picture.scene)
        good = add_figure(page, draw_plan, entry, "plan",
                          "The plan with all people of the first crowd.");
    if (good && has_samples(outcome))
        good = add_figure(page, draw_samples, entry, "values",
                          "Dots: one per crowd; bars: how many values. Pale: what the rule allows. "
                          "In brackets: how many "
                          "values.");
    if (good && has_curves(outcome))
        good = add_figure(page, draw_curves, entry, "curves",
                          "Coloured with dots: simulated. Black, dashed: measured with people.");
    th_text_put(page, "</article>\n");
    return good;
}

static bool add_everything(th_text *page, const th_validation *validation) {
    bool good = true;
    add_head(page, validation);
    add_table(page, validation);
    add_setup(page, validation);
    th_text_put(page, "<section id=\"details\"><h2>Every test</h2>\n");
    for (int i = 0; good && i < validation->count; ++i)
        good = add_test(page, &validation->entries[i]);
    th_text_put(page, "</section>\n<footer><p>throng ");
    th_text_escaped(page, th_version());
    th_text_put(page, ", ");
    th_text_escaped(page, th_build_info());
    th_text_put(
        page,
        ". The same command gives the same numbers with any number of jobs. The scenes are in "
        "<code>scenes/verification</code>.</p></footer></body></html>\n");
    return good && !page->failed;
}

th_result th_validation_write_page(const th_validation *validation, const char *path,
                                   th_error *error) {
    th_text page = {0};
    th_result result =
        add_everything(&page, validation)
            ? th_text_write(&page, NULL, path, TH_FLUSHED, error)
            : th_fail(error, TH_NO_MEMORY, "", "no memory for the report; free some");
    th_text_release(&page);
    return result;
}

// ---- validation.json: every test with its rule, what was measured and the numbers behind it

static json_t *number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

static json_t *series_json(const th_series *series) {
    json_t *object = json_object(), *x = json_array(), *y = json_array();
    for (int i = 0; i < series->count; ++i) {
        json_array_append_new(x, number(series->x[i]));
        json_array_append_new(y, number(series->y[i]));
    }
    json_object_set_new(object, "name", json_string(series->name));
    json_object_set_new(object, "unit", json_string(series->unit));
    json_object_set_new(object, "measured_with_people", json_boolean(series->reference));
    if (series->unit_x) {
        json_object_set_new(object, "unit_x", json_string(series->unit_x));
        json_object_set(object, "x", x);
    }
    json_object_set(object, series->unit_x ? "y" : "values", y);
    if (isfinite(series->low)) json_object_set_new(object, "asked_least", number(series->low));
    if (isfinite(series->high)) json_object_set_new(object, "asked_most", number(series->high));
    json_decref(x);
    json_decref(y);
    return object;
}

static json_t *entry_json(const th_validation_entry *entry) {
    const th_outcome *outcome = &entry->outcome;
    char feature[2] = {entry->test->feature, 0};
    json_t *series = json_array();
    for (int i = 0; i < outcome->series_count; ++i)
        json_array_append_new(series, series_json(&outcome->series[i]));
    return json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:i,s:o}", "suite", entry->suite->name,
                     "number", entry->test->number, "title", entry->test->title, "feature", feature,
                     "asked", entry->test->asked, "source",
                     entry->test->run ? entry->test->source : "", "verdict",
                     th_verdict_word(outcome->verdict), "measured", outcome->measured, "remark",
                     outcome->remark, "runs", outcome->runs, "series", series);
}

static json_t *validation_json(const th_validation *validation) {
    const th_suite_setup *setup = &validation->setup;
    json_t *tests = json_array(), *totals = json_object(), *seeds = json_array();
    for (int i = 0; i < validation->count; ++i)
        json_array_append_new(tests, entry_json(&validation->entries[i]));
    for (int v = 0; v <= TH_REPORTED; ++v)
        json_object_set_new(totals, th_verdict_word((th_verdict)v),
                            json_integer(validation->totals[v]));
    for (int seed = 1; seed <= setup->crowds; ++seed)
        json_array_append_new(seeds, json_integer(seed));
    return json_pack("{s:s,s:s,s:s*,s:s,s:s,s:s,s:o,s:o,s:o}", "throng", th_version(), "build",
                     th_build_info(), "behave", setup->behave, "plan",
                     setup->plan ? setup->plan : "default", "filter",
                     setup->filter ? setup->filter : "none", "move", setup->move, "seeds", seeds,
                     "totals", totals, "tests", tests);
}

th_result th_validation_write_json(const th_validation *validation, const char *path,
                                   th_error *error) {
    json_t *object = validation_json(validation);
    if (!object) return th_fail(error, TH_NO_MEMORY, "", "no memory for the report; free some");
    th_file_writer writer;
    th_file_begin(&writer, NULL, path);
    if (writer.file &&
        json_dumpf(object, writer.file, JSON_INDENT(1) | JSON_REAL_PRECISION(8)) != 0)
        writer.cause = errno ? errno : -1;
    json_decref(object);
    return th_file_end(&writer, TH_FLUSHED, error);
}
