// Markers on the ground: one pattern of Poisson discs on a torus, after one step of Lloyd's, laid out side by side over
// the whole plane. A marker's place is a function of its number and of the cell it lies in, so they take no memory
// however large the level is, and every agent sees the same ones. Walls hide markers; those in solids are seen by no
// agent. SPDX-License-Identifier: Apache-2.0
#ifndef TH_MOVE_COLONIZATION_MARKERS_H
#define TH_MOVE_COLONIZATION_MARKERS_H
#include "core/device.h"
#include "core/memory.h"
#include "formula/vec.h"
#include <math.h>

enum {
    TH_MARKERS = 1024,     // of the pattern
    TH_MARKER_COLUMNS = 16 // cells along a side of it: four markers a cell
};

typedef struct th_markers {
    float *x, *y; // on the pattern [cells], 0 .. TH_MARKER_COLUMNS
    int *start;   // cell c has markers start[c] .. start[c + 1] - 1
} th_markers;

// The pattern, in the arena. False: no memory.
bool th_markers_create(th_markers *markers, th_arena *arena);

// The pattern's cell of a cell of the plane.
TH_BOTH static inline int th_marker_cell(int column, int row) {
    return (row & (TH_MARKER_COLUMNS - 1)) * TH_MARKER_COLUMNS + (column & (TH_MARKER_COLUMNS - 1));
}

// The markers that may be within a distance of a point, row by row of cells, in runs of one pattern each:
//   th_marker_rows rows = th_marker_rows_around(density, p, range);
//   for (th_marker_run run; th_next_markers(markers, &rows, &run);)
//       for (int k = run.begin; k < run.end; ++k) th_marker_at(markers, &run, k) ...
typedef struct th_marker_rows {
    int column, column0, column1, row, row1; // cells of the endless plane
    float side;                              // of a cell [m]
} th_marker_rows;
typedef struct th_marker_run {
    int begin, end;
    float x, y, side; // the pattern's corner [cells], of so many metres
} th_marker_run;

TH_BOTH static inline th_marker_rows th_marker_rows_around(float density, th_vec2 p, float range) {
    float side = sqrtf((float)TH_MARKERS / density) / (float)TH_MARKER_COLUMNS;
    int column0 = (int)floorf((p.x - range) / side);
    th_marker_rows rows = {column0,
                           column0,
                           (int)floorf((p.x + range) / side),
                           (int)floorf((p.y - range) / side),
                           (int)floorf((p.y + range) / side),
                           side};
    return rows;
}

TH_BOTH static inline bool th_next_markers(const th_markers *markers, th_marker_rows *rows,
                                           th_marker_run *run) {
    if (rows->column > rows->column1) {
        rows->column = rows->column0;
        ++rows->row;
    }
    if (rows->row > rows->row1) return false;
    int last = rows->column | (TH_MARKER_COLUMNS - 1); // of this pattern
    last = last < rows->column1 ? last : rows->column1;
    run->begin = markers->start[th_marker_cell(rows->column, rows->row)];
    run->end = markers->start[th_marker_cell(last, rows->row) + 1];
    run->x = (float)(rows->column & ~(TH_MARKER_COLUMNS - 1));
    run->y = (float)(rows->row & ~(TH_MARKER_COLUMNS - 1));
    run->side = rows->side;
    rows->column = last + 1;
    return true;
}

TH_FORMULA th_vec2 th_marker_at(const th_markers *markers, const th_marker_run *run, int k) {
    return th_v((run->x + markers->x[k]) * run->side, (run->y + markers->y[k]) * run->side);
}
#endif
