// Density and speed in an area: classic, Voronoi, Gaussian. docs/measurement.md has the formulas.
// SPDX-License-Identifier: Apache-2.0
#include "observe/density.h"
#include "core/error.h"
#include "observe/gaussian.h"
#include "observe/region.h"
#include <math.h>
#include <stdlib.h>

th_density_def th_density_def_default(void) {
    return (th_density_def){.method = TH_CLASSIC, .cut_off = 1.0, .width = 0.7};
}

typedef struct crowd_view {
    const double *x, *y, *speed;
    int count;
} crowd_view;

// Sums of what is measured: weight of a person in the density, and in the mean of the speed.
typedef struct area_sums {
    double people, weight, speed;
} area_sums;

static void add_person(area_sums *sums, double people, double weight, double speed) {
    sums->people += people;
    if (isnan(speed) || !(weight > 0.0)) return;
    sums->weight += weight;
    sums->speed += weight * speed;
}

static void finish(const th_region *region, const area_sums *sums, th_area_reading *moment) {
    moment->density = sums->people / region->size;
    moment->speed = sums->weight > 0.0 ? sums->speed / sums->weight : (double)NAN;
    moment->flow = sums->weight > 0.0 ? moment->density * moment->speed : 0.0;
}

static bool within(const th_region *region, double x, double y, double reach) {
    const th_point low = region->area.low, high = region->area.high;
    return x >= low.x - reach && x <= high.x + reach && y >= low.y - reach && y <= high.y + reach;
}

static void measure_classic(const th_region *region, const crowd_view *crowd,
                            th_area_reading *moment) {
    area_sums sums = {0};
    for (int i = 0; i < crowd->count; ++i)
        if (th_region_holds(region, crowd->x[i], crowd->y[i]))
            add_person(&sums, 1.0, 1.0, crowd->speed[i]);
    finish(region, &sums, moment);
}

// Everybody with a place, within reach of the area. False: no memory.
static bool find_near(const th_region *region, const crowd_view *crowd, double reach, int *count) {
    th_region_work *work = region->work;
    if (crowd->count > work->near_room) {
        free(work->near);
        work->near_room = crowd->count + crowd->count / 4;
        work->near = malloc((size_t)work->near_room * sizeof *work->near);
        if (!work->near) work->near_room = 0;
        if (!work->near) return false;
    }
    *count = 0;
    for (int i = 0; i < crowd->count; ++i)
        if (isfinite(crowd->x[i]) && isfinite(crowd->y[i]) &&
            within(region, crowd->x[i], crowd->y[i], reach))
            work->near[(*count)++] = i;
    return true;
}

// A box around everybody and the area: where cells without a cut-off end on endless ground.
static void find_box(const th_region *region, const th_ground *ground, const crowd_view *crowd,
                     int near, th_point *low, th_point *high) {
    *low = region->area.low;
    *high = region->area.high;
    for (int k = 0; k < near; ++k) {
        double x = crowd->x[region->work->near[k]], y = crowd->y[region->work->near[k]];
        *low = (th_point){fmin(low->x, x), fmin(low->y, y)};
        *high = (th_point){fmax(high->x, x), fmax(high->y, y)};
    }
    if (!ground->shape) return;
    *low = (th_point){fmin(low->x, ground->rings.low.x), fmin(low->y, ground->rings.low.y)};
    *high = (th_point){fmax(high->x, ground->rings.high.x), fmax(high->y, ground->rings.high.y)};
}

static bool measure_voronoi(const th_region *region, const th_density_def *def,
                            const crowd_view *crowd, th_area_reading *moment, double *individual) {
    th_region_work *work = region->work;
    double reach = def->cut_off > 0.0 ? th_cut_off_reach(def->cut_off) : HUGE_VAL;
    // Owners of ground in the area stand within one reach of it, who bounds their cells within three.
    bool all = individual || !(def->cut_off > 0.0);
    const th_ground *ground = th_region_ground(region, all ? HUGE_VAL : 2.0 * reach);
    int near = 0;
    if (!ground || !find_near(region, crowd, all ? HUGE_VAL : 3.0 * reach, &near) ||
        !th_point_grid_fill(&work->grid, crowd->x, crowd->y, work->near, near))
        return false;
    th_point low, high;
    find_box(region, ground, crowd, near, &low, &high);
    area_sums sums = {0};
    for (int k = 0; k < near; ++k) {
        int i = work->near[k];
        double x = crowd->x[i], y = crowd->y[i];
        if (!individual && !within(region, x, y, reach)) continue;
        th_owned owned;
        if (!th_voronoi_start(def->cut_off, (th_point){x, y}, low, high, &work->start) ||
            !th_voronoi_cut(&work->grid, i, &work->start, &work->cell, &work->spare) ||
            !th_region_own(region, ground, x, y, &owned))
            return false;
        if (!(owned.own > 0.0)) continue;
        if (individual) individual[i] = work->cell.sharers / owned.own;
        add_person(&sums, owned.measured / owned.own, owned.measured / work->cell.sharers,
                   crowd->speed[i]);
    }
    finish(region, &sums, moment);
    return true;
}

// Whether the whole of a Gaussian lies on the ground: nothing of it has to be put back.
static bool walls_far(const th_ground *ground, double x, double y, double reach) {
    const th_point box[4] = {{x - reach, y - reach},
                             {x + reach, y - reach},
                             {x + reach, y + reach},
                             {x - reach, y + reach}};
    return !ground->shape ||
           (!th_edges_cross(&ground->edges, box, 4) && th_rings_hold(&ground->rings, x, y));
}

static bool measure_gaussian(const th_region *region, const th_density_def *def,
                             const crowd_view *crowd, th_area_reading *moment) {
    double sigma = def->width / (2.0 * sqrt(2.0 * log(2.0)));
    double reach = TH_GAUSSIAN_END * sigma;
    const th_ground *ground = th_region_ground(region, 2.0 * reach);
    if (!ground) return false;
    area_sums sums = {0};
    for (int i = 0; i < crowd->count; ++i) {
        double x = crowd->x[i], y = crowd->y[i];
        if (!within(region, x, y, reach)) continue;
        double share = th_gaussian_share(&region->measured, x, y, sigma);
        double walkable =
            walls_far(ground, x, y, reach) ? 1.0 : th_gaussian_share(&ground->rings, x, y, sigma);
        // Farther than three sigmas behind a wall: nobody of this crowd.
        if (!(walkable > 1e-3)) continue;
        add_person(&sums, share / walkable, share / walkable, crowd->speed[i]);
    }
    finish(region, &sums, moment);
    return true;
}

th_result th_region_measure(const th_region *region, const th_density_def *def, const double *x,
                            const double *y, const double *speed, int count,
                            th_area_reading *moment, double *individual, th_error *error) {
    const crowd_view crowd = {x, y, speed, count};
    *moment = (th_area_reading){.speed = (double)NAN};
    for (int i = 0; i < count; ++i) {
        if (individual) individual[i] = (double)NAN;
        moment->count += th_region_holds(region, x[i], y[i]);
    }
    bool good = true;
    if (def->method == TH_VORONOI)
        good = measure_voronoi(region, def, &crowd, moment, individual);
    else if (def->method == TH_GAUSSIAN && def->width > 0.0)
        good = measure_gaussian(region, def, &crowd, moment);
    else
        measure_classic(region, &crowd, moment);
    return good ? TH_OK
                : th_fail(error, TH_NO_MEMORY, "", "no memory to measure %d people; free some",
                          count);
}
