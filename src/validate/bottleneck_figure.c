// Draws flow against the width of doors. SPDX-License-Identifier: Apache-2.0
#include "draw/chart.h"
#include "validate/bottleneck_data.h"
#include "validate/experiment_bottleneck.h"
#include <math.h>
#include <string.h>

static const th_colour SEYFRIED = {0.1, 0.1, 0.1}, KRETZ = {0.55, 0.55, 0.55};
enum { COLUMNS = 3, WIDEST = TH_DOOR_CASES };

static double width_of(int place) {
    return place < TH_DOOR_WIDTHS    ? th_flow_seyfried[place].width
           : place == TH_DOOR_WIDTHS ? th_flow_adrian.width
                                     : th_flow_hermes.width;
}

// In order of width: the door of 0.5 m first. Skips what was not run.
static void draw_model(const th_chart *chart, const th_door_model *model, bool all) {
    double x[WIDEST], y[WIDEST];
    int count = 0;
    for (int k = all ? -1 : 0; k < (all ? TH_DOOR_WIDTHS + 1 : TH_DOOR_WIDTHS); ++k) {
        int place = k < 0 ? TH_DOOR_WIDTHS : k == TH_DOOR_WIDTHS ? TH_DOOR_WIDTHS + 1 : k;
        if (isnan(model->found[place].flow)) continue;
        x[count] = width_of(place);
        y[count++] = model->found[place].flow;
    }
    th_chart_line(chart, x, y, count, th_line_style_of(model->model.variant));
}

static void draw_people(const th_chart *chart, bool all) {
    for (int k = 0; k < TH_FLOW_KRETZ; ++k)
        if (all || th_flow_kretz[k].width > 0.75)
            th_chart_dot(chart, th_flow_kretz[k].width, th_flow_kretz[k].flow, KRETZ);
    for (int k = 0; k < TH_FLOW_SEYFRIED; ++k)
        th_chart_dot(chart, th_flow_seyfried[k].width, th_flow_seyfried[k].flow, SEYFRIED);
    if (!all) return;
    th_chart_dot(chart, th_flow_adrian.width, th_flow_adrian.flow, SEYFRIED);
    th_chart_dot(chart, th_flow_hermes.width, th_flow_hermes.flow, SEYFRIED);
}

static th_chart make_chart(const th_canvas *canvas, int index, double top, bool all,
                           const char *title) {
    double text = canvas->text;
    th_axis x = all ? th_axis_make(0, 3.2, 6, "width of the door [m]")
                    : th_axis_make(0.7, 1.3, 6, "width of the door [m]");
    // Faster than 5 /s is off the chart: four times what people do.
    th_axis y = all ? th_axis_make(0, 13, 7, "flow [1/s]") : th_axis_make(0, 5, 6, "flow [1/s]");
    th_chart chart = {.canvas = canvas, .x = x, .y = y, .height = 190};
    double cell = (canvas->width - text) / COLUMNS;
    chart.left = 0.5 * text + index % COLUMNS * cell + th_chart_margin(canvas, &y);
    chart.width = cell - th_chart_margin(canvas, &y) - 1.2 * text;
    chart.top = top + 1.8 * text + index / COLUMNS * (chart.height + 5.5 * text);
    th_chart_settle(&chart);
    th_chart_frame(&chart);
    th_canvas_colour(canvas, SEYFRIED, 1);
    th_canvas_text(canvas, chart.left, chart.top - 0.6 * text, 0, text, true, title);
    return chart;
}

static void draw_panels(const th_canvas *canvas, double top, const th_door_model *models,
                        int count) {
    int panels = 0;
    for (int first = 0; first < count; ++first) {
        if (models[first].model.variant != 0) continue;
        th_chart chart = make_chart(canvas, panels++, top, false, models[first].model.name);
        for (int m = first; m < count && models[m].model.family == models[first].model.family; ++m)
            draw_model(&chart, &models[m], false);
        draw_people(&chart, false);
    }
    th_chart chart = make_chart(canvas, panels, top, true, "SF, 0.5 to 3 m");
    for (int m = 0; m < count; ++m)
        if (strcmp(models[m].model.move, "\"social_force\"") == 0)
            draw_model(&chart, &models[m], true);
    draw_people(&chart, true);
}

static double draw_legend(const th_canvas *canvas) {
    static const char *const names[] = {"alone", "behind densesense: menge", "consistent",
                                        "laboratory"}; // the variants of a model
    enum { VARIANTS = sizeof names / sizeof *names };
    th_legend_entry entries[VARIANTS + 2];
    for (int k = 0; k < VARIANTS; ++k)
        entries[k] = (th_legend_entry){names[k], th_line_style_of(k), TH_LEGEND_LINE};
    entries[VARIANTS] = (th_legend_entry){
        "people, Seyfried 2009 and Juelich archive", {SEYFRIED, 1, 0, 1}, TH_LEGEND_DOT};
    entries[VARIANTS + 1] =
        (th_legend_entry){"people, Kretz 2006", {KRETZ, 1, 0, 1}, TH_LEGEND_DOT};
    return th_legend(canvas, canvas->text, 1.6 * canvas->text, entries, VARIANTS + 2);
}

bool th_bottleneck_draw(const th_door_model *models, int count, const char *path) {
    th_canvas canvas = th_canvas_create_zoomed(900, 595, 13, 2);
    if (!canvas.surface) return false;
    th_canvas_colour(&canvas, (th_colour){1, 1, 1}, 1);
    cairo_paint(canvas.cairo);
    draw_panels(&canvas, draw_legend(&canvas), models, count);
    bool good = th_canvas_write(&canvas, path, NULL) == TH_OK;
    th_canvas_destroy(&canvas);
    return good;
}
