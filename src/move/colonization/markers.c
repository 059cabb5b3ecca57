// Making the pattern of markers. Cost: some 40 000 darts and 262 144 samples, 20 ms. SPDX-License-Identifier:
// Apache-2.0
#include "formula/random.h"
#include "move/colonization/colonization.h"
#include <string.h>

enum { SAMPLES = 512 }; // along a side of the torus, for the cells' centres
// Discs that touch cover 0.44 of the ground, as in Bicho et al.: easily reached, and even enough.
static const double SPACING = 0.75;

typedef struct pattern {
    double x[TH_MARKERS], y[TH_MARKERS]; // on the torus, 0 .. 1
    int next[TH_MARKERS];                // of the same cell
    int head[TH_MARKER_COLUMNS * TH_MARKER_COLUMNS];
    int64_t sum_x[TH_MARKERS], sum_y[TH_MARKERS], samples[TH_MARKERS];
    int count;
} pattern;

static int cell_along(double x) { return (int)(x * TH_MARKER_COLUMNS) & (TH_MARKER_COLUMNS - 1); }

// The shorter way round.
static double around(double d) { return d > 0.5 ? d - 1.0 : d < -0.5 ? d + 1.0 : d; }

// The nearest marker, or -1 where none lies in the nine cells around.
static int nearest(const pattern *p, double x, double y, double *distance2) {
    int best = -1;
    *distance2 = 1e9;
    for (int k = 0; k < 9; ++k) {
        int cell = th_marker_cell(cell_along(x) + k % 3 - 1, cell_along(y) + k / 3 - 1);
        for (int m = p->head[cell]; m >= 0; m = p->next[m]) {
            double dx = around(p->x[m] - x), dy = around(p->y[m] - y);
            double d2 = dx * dx + dy * dy;
            if (d2 < *distance2 || (d2 == *distance2 && m < best)) {
                *distance2 = d2;
                best = m;
            }
        }
    }
    return best;
}

static void throw_darts(pattern *p) {
    double least2 = SPACING * SPACING / (double)TH_MARKERS;
    memset(p->head, 0xFF, sizeof p->head); // -1
    for (uint64_t dart = 0; p->count < TH_MARKERS; ++dart) {
        th_random4 random = th_philox(0, TH_STREAM_MARKERS, 0, dart);
        double x = th_uniform_double(random.v[0], random.v[1]);
        double y = th_uniform_double(random.v[2], random.v[3]), distance2;
        if (nearest(p, x, y, &distance2) >= 0 && distance2 < least2) continue;
        int cell = th_marker_cell(cell_along(x), cell_along(y)), m = p->count++;
        p->x[m] = x;
        p->y[m] = y;
        p->next[m] = p->head[cell];
        p->head[cell] = m;
    }
}

// Lloyd's step: every marker goes to the centre of what is nearest to it. Sums of whole numbers have one value.
static void centre(pattern *p) {
    const double scale = 1048576.0;
    for (int n = 0; n < SAMPLES * SAMPLES; ++n) {
        double x = ((double)(n % SAMPLES) + 0.5) / SAMPLES, distance2;
        double y = ((double)(n / SAMPLES) + 0.5) / SAMPLES;
        int m = nearest(p, x, y, &distance2);
        if (m < 0) continue;
        p->sum_x[m] += (int64_t)(around(x - p->x[m]) * scale);
        p->sum_y[m] += (int64_t)(around(y - p->y[m]) * scale);
        ++p->samples[m];
    }
    for (int m = 0; m < TH_MARKERS; ++m) {
        double weight = 1.0 / (scale * (double)(p->samples[m] > 0 ? p->samples[m] : 1));
        p->x[m] += (double)p->sum_x[m] * weight;
        p->y[m] += (double)p->sum_y[m] * weight;
        p->x[m] -= floor(p->x[m]);
        p->y[m] -= floor(p->y[m]);
    }
}

static void sort_into_cells(const pattern *p, th_markers *markers) {
    int count = 0;
    for (int cell = 0; cell < TH_MARKER_COLUMNS * TH_MARKER_COLUMNS; ++cell) {
        markers->start[cell] = count;
        for (int m = 0; m < TH_MARKERS; ++m) {
            if (th_marker_cell(cell_along(p->x[m]), cell_along(p->y[m])) != cell) continue;
            markers->x[count] = (float)(p->x[m] * TH_MARKER_COLUMNS);
            markers->y[count++] = (float)(p->y[m] * TH_MARKER_COLUMNS);
        }
    }
    markers->start[TH_MARKER_COLUMNS * TH_MARKER_COLUMNS] = count;
}

bool th_markers_create(th_markers *markers, th_arena *arena) {
    pattern *p = th_alloc(&arena->memory, 1, sizeof *p);
    markers->x = th_arena_alloc(arena, TH_MARKERS, sizeof(float));
    markers->y = th_arena_alloc(arena, TH_MARKERS, sizeof(float));
    markers->start = th_arena_alloc(arena, TH_MARKER_COLUMNS * TH_MARKER_COLUMNS + 1, sizeof(int));
    bool done = p && !arena->failed;
    if (done) {
        throw_darts(p);
        centre(p);
        sort_into_cells(p, markers);
    }
    th_dealloc(&arena->memory, p, 1, sizeof *p);
    return done;
}
