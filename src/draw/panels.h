// A page of plan views, one panel per level, all at one scale. SPDX-License-Identifier: Apache-2.0
#ifndef TH_DRAW_PANELS_H
#define TH_DRAW_PANELS_H
#include "draw/canvas.h"
#include "throng/scene.h"

typedef struct th_panel_page {
    int levels, columns;
    double left, top;    // of the first panel
    double gap_x, gap_y; // between panels: room for axes and names
    double scale;        // [px/m]
    double panel_width, panel_height;
    double bottom; // below the last panel's axes
} th_panel_page;

// The number of columns that shows the plan largest in left .. right and at most `highest` high.
th_panel_page th_panel_page_fit(const th_box *box, int levels, double text, double left, double top,
                                double right, double highest);
// The panel of a level, its name written over it when there are several levels.
th_panel th_panel_page_level(const th_canvas *canvas, const th_panel_page *page,
                             const th_scene *scene, const th_box *box, int level);
#endif
