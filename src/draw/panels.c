// Laying out panels. SPDX-License-Identifier: Apache-2.0
#include "draw/panels.h"

// For the levels' names and heights.
#include "throng/scene_view.h"
#include <math.h>
#include <stdio.h>

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

th_panel th_panel_page_level(const th_canvas *canvas, const th_panel_page *page,
                             const th_scene *scene, const th_box *box, int level) {
    int column = level % page->columns, row = level / page->columns;
    th_panel panel = {.box = *box, .scale = page->scale, .origin = scene->origin};
    panel.left = page->left + column * (page->panel_width + page->gap_x);
    panel.top = page->top + row * (page->panel_height + page->gap_y);
    panel.width = page->panel_width;
    panel.height = page->panel_height;
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
