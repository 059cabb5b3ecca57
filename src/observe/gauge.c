// Voronoi and Gaussian density of a scene's measurement areas while it runs, by the code that measures
// recordings. Only people near an area are handed over, so the price is theirs and not the crowd's.
// SPDX-License-Identifier: Apache-2.0
#include "observe/density.h"
#include "observe/parts.h"
#include "record/wkt.h"
#include <math.h>
#include <stdlib.h>

// People that may matter: those who bound a cell that reaches into the area stand within three cut-offs of it,
// and Gaussians end after six sigmas. [m]
static const float NEAR = 3.5f;

// NULL region: the area cannot be measured so, and its columns stay empty.
static th_region *region_of(const th_scene *scene, const th_measure_area *area, bool *memory) {
    const th_level *level = &scene->levels[area->area.level];
    const th_point origin = {0.0, 0.0}; // positions are relative to the scene's
    bool walls = level->bounded && level->walkable.ring_count > 0;
    char *walkable = walls ? th_polygons_wkt(&level->walkable, origin) : NULL;
    char *shape = th_polygons_wkt(&area->area.shape, origin);
    th_region *region = NULL;
    bool texts = shape && (walkable || !walls);
    if (!texts || th_region_create(walkable, shape, &region, NULL) == TH_NO_MEMORY) *memory = false;
    free(walkable);
    free(shape);
    return region;
}

bool th_gauges_create(th_observer *observer) {
    const th_scene *scene = observer->scene;
    bool memory = true;
    observer->gauges = calloc((size_t)scene->measure_area_count + 1, sizeof(th_region *));
    if (!observer->gauges) return false;
    for (int a = 0; memory && a < scene->measure_area_count; ++a)
        observer->gauges[a] = region_of(scene, &scene->measure_areas[a], &memory);
    return memory;
}

void th_gauges_destroy(th_observer *observer) {
    for (int a = 0; observer->gauges && a < observer->scene->measure_area_count; ++a)
        th_region_destroy(observer->gauges[a]);
    free((void *)observer->gauges);
    free(observer->gauge_points);
}

static bool make_room(th_observer *observer, int count) {
    if (count <= observer->gauge_room) return true;
    double *points = realloc(observer->gauge_points, 3 * (size_t)count * sizeof *points);
    if (!points) return false;
    observer->gauge_points = points;
    observer->gauge_room = count;
    return true;
}

static int gather(const th_moment *moment, const th_area *area, double *x, double *y,
                  double *speed) {
    const th_box *box = &area->shape.box;
    const double low_x = (double)(box->min_x - NEAR), high_x = (double)(box->max_x + NEAR);
    const double low_y = (double)(box->min_y - NEAR), high_y = (double)(box->max_y + NEAR);
    int count = 0;
    for (int i = 0; i < moment->count; ++i) {
        if (!th_is_person(moment->phase[i]) || th_moment_level(moment, i) != area->level ||
            moment->x[i] < low_x || moment->x[i] > high_x || moment->y[i] < low_y ||
            moment->y[i] > high_y)
            continue;
        x[count] = moment->x[i];
        y[count] = moment->y[i];
        speed[count++] = hypot(moment->velocity_x[i], moment->velocity_y[i]);
    }
    return count;
}

bool th_gauges_take(th_observer *observer, const th_moment *moment) {
    th_observation *o = &observer->observation;
    if (o->area_count > 0 && !make_room(observer, moment->count)) return false;
    for (int a = 0; a < o->area_count; ++a) {
        double *x = observer->gauge_points, *y = x + observer->gauge_room;
        double *speed = y + observer->gauge_room;
        float *columns[2] = {o->areas[a].voronoi_density, o->areas[a].gaussian_density};
        for (int k = 0; k < 2; ++k) columns[k][o->sample_count] = NAN;
        if (!observer->gauges[a]) continue;
        int count = gather(moment, &observer->scene->measure_areas[a].area, x, y, speed);
        for (int k = 0; k < 2; ++k) {
            th_density_def def = th_density_def_default();
            th_area_reading reading;
            def.method = k == 0 ? TH_VORONOI : TH_GAUSSIAN;
            if (th_region_measure(observer->gauges[a], &def, x, y, speed, count, &reading, NULL,
                                  NULL) != TH_OK)
                return false;
            columns[k][o->sample_count] = (float)reading.density;
        }
    }
    return true;
}
