// Grid views: what the model knows of a level's cells, per m2 of ground. SPDX-License-Identifier: Apache-2.0
#include "formula/vec.h"
#include "move/uic/state.h"

// People come whole: a quarter of a cell of the usual size holds three or four where it is full, and on less ground one
// more or less is half the density. Such a sliver (beside a stand, in a niche, outside of an exit) is looked at
// together with the cells it opens to.
static const float SLIVER = 0.25f;
static const float LEADS_ON = 0.5f; // open share of a face from which two cells share their ground
// Who stands where there is no ground at all is shown, and not as infinitely dense.
static const float LEAST_GROUND = 0.02f;

typedef struct spot {
    float people, packing, ground, pressure; // ground: free share of cells; pressure: times ground
} spot;

static void add_cell(spot *sum, const th_uic_view *view, size_t c) {
    sum->people += view->people[c];
    sum->packing += view->packing[c];
    sum->ground += view->capacity[c];
    sum->pressure += (float)view->pressure[c] * view->capacity[c];
}

static spot spot_of(const th_uic_view *view, int i, int j) {
    size_t nx = (size_t)view->grid.nx, c = (size_t)j * nx + (size_t)i;
    spot sum = {0};
    add_cell(&sum, view, c);
    if (sum.ground >= SLIVER || !(sum.packing > 0.0f)) return sum; // nobody: nothing to show
    if (i > 0 && view->aperture_x[c] >= LEADS_ON) add_cell(&sum, view, c - 1);
    if (i + 1 < view->grid.nx && view->aperture_x[c + 1] >= LEADS_ON) add_cell(&sum, view, c + 1);
    if (j > 0 && view->aperture_y[c] >= LEADS_ON) add_cell(&sum, view, c - nx);
    if (j + 1 < view->grid.ny && view->aperture_y[c + nx] >= LEADS_ON) add_cell(&sum, view, c + nx);
    return sum;
}

// All per ground as the model counts it, spread over cells as people are.
static float value_of(const th_uic_view *view, th_grid_kind kind, int i, int j) {
    spot at = spot_of(view, i, j);
    float ground = th_max(at.ground, LEAST_GROUND);
    switch (kind) {
    case TH_GRID_DENSITY: return at.people / (view->grid.h * view->grid.h * ground);
    case TH_GRID_PACKING: return at.packing / ground;
    default: return at.pressure / ground;
    }
}

bool th_uic_grid(th_world *world, int model, th_grid_kind kind, int level, th_grid *grid,
                 float *values) {
    (void)model;
    th_uic_view view = th_uic_view_of(world, level);
    if (!view.people) return false;
    *grid = (th_grid){view.grid.nx,       view.grid.ny, view.grid.origin.x,
                      view.grid.origin.y, view.grid.h,  values};
    for (int j = 0; values && j < view.grid.ny; ++j)
        for (int i = 0; i < view.grid.nx; ++i)
            values[(size_t)j * (size_t)view.grid.nx + (size_t)i] = value_of(&view, kind, i, j);
    return true;
}
