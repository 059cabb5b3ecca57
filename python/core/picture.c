// A picture of a world, as `throng picture` draws it, and the nearest neighbours of points.
// SPDX-License-Identifier: Apache-2.0
#include "core.h"
#include "draw/plan_drawing.h"
#include "observe/density.h"
#include <math.h>
#include <stdlib.h>

static bool draw(th_world *world, const char *path, int width, th_colour_by colour_by) {
    const th_scene_view *scene = th_scene_view_of(th_world_scene(world));
    th_world_moment crowd = {0};
    bool *closed = calloc((size_t)scene->door_count + 1, sizeof *closed);
    float *density = NULL;
    bool good = closed && th_world_moment_take(&crowd, world, TH_DRAWN);
    for (int k = 0; good && k < scene->door_count; ++k) closed[k] = !th_world_door_open(world, k);
    if (good && colour_by == TH_BY_DENSITY) {
        density = th_people_density(scene, &crowd.moment);
        good = density != NULL;
    }
    if (good) {
        th_plan_view view = {.scene = scene,
                             .door_closed = closed,
                             .crowd = &crowd.moment,
                             .density = density,
                             .colour_by = colour_by,
                             .box = th_plan_box(scene, &crowd.moment),
                             .width = width,
                             .time = th_world_time(world),
                             .left = th_world_counts(world).left,
                             .title = scene->name};
        good = th_plan_draw(&view, path, NULL) == TH_OK;
    }
    free(closed);
    free(density);
    th_world_moment_release(&crowd);
    return good;
}

// picture(world, path, width, colour): colour 0 by speed, 1 by density, 2 by group.
PyObject *core_picture(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *object;
    const char *path;
    int width, colour;
    if (!PyArg_ParseTuple(arguments, "O!yii", world_type, &object, &path, &width, &colour))
        return NULL;
    th_world *world = core_world(object);
    if (!world) return NULL;
    if (!draw(world, path, width, (th_colour_by)colour))
        return PyErr_Format(PyExc_OSError, "the picture could not be written");
    Py_RETURN_NONE;
}

// ---- nearest neighbours: cells of `range`, sorted points, the nine cells around each

typedef struct places {
    const float *x, *y;
    const uint32_t *id;
    int count, nearest;
    float range, min_x, min_y;
    int nx, ny;
    int *start, *order;
} places;

static int cell_of(const places *p, float value, float low, int n) {
    int cell = (int)((value - low) / p->range);
    return cell < 0 ? 0 : cell >= n ? n - 1 : cell;
}

static int cell_at(const places *p, int i) {
    return cell_of(p, p->y[i], p->min_y, p->ny) * p->nx + cell_of(p, p->x[i], p->min_x, p->nx);
}

static bool sort_places(places *p) {
    float max_x = -INFINITY, max_y = -INFINITY;
    p->min_x = p->min_y = INFINITY;
    for (int i = 0; i < p->count; ++i) {
        p->min_x = fminf(p->min_x, p->x[i]);
        p->min_y = fminf(p->min_y, p->y[i]);
        max_x = fmaxf(max_x, p->x[i]);
        max_y = fmaxf(max_y, p->y[i]);
    }
    // At most so many cells, the outer ones hold what lies beyond.
    enum { SIDE = 2000 };
    p->nx = (int)fminf((max_x - p->min_x) / p->range + 1.0f, (float)SIDE);
    p->ny = (int)fminf((max_y - p->min_y) / p->range + 1.0f, (float)SIDE);
    if (p->nx < 1 || p->ny < 1) p->nx = p->ny = 1;
    size_t cells = (size_t)p->nx * (size_t)p->ny;
    p->start = calloc(cells + 2, sizeof *p->start);
    p->order = malloc(((size_t)p->count + 1) * sizeof *p->order);
    if (!p->start || !p->order) return false;
    for (int i = 0; i < p->count; ++i) p->start[cell_at(p, i) + 2]++;
    for (size_t c = 2; c < cells + 2; ++c) p->start[c] += p->start[c - 1];
    for (int i = 0; i < p->count; ++i) p->order[p->start[cell_at(p, i) + 1]++] = i;
    return true;
}

// Keeps the nearest, ties by id.
static void offer(const places *p, int i, int j, int *list, float *distance, int *count) {
    float dx = p->x[j] - p->x[i], dy = p->y[j] - p->y[i], d = sqrtf(dx * dx + dy * dy);
    if (j == i || !(d <= p->range)) return;
    int k = *count < p->nearest ? (*count)++ : p->nearest;
    for (; k > 0; --k) {
        bool nearer =
            d < distance[k - 1] || (d == distance[k - 1] && p->id[j] < p->id[list[k - 1]]);
        if (!nearer) break;
        if (k == p->nearest) continue;
        distance[k] = distance[k - 1];
        list[k] = list[k - 1];
    }
    if (k == p->nearest) return;
    distance[k] = d;
    list[k] = j;
}

static void find(const places *p, int i, int *list, float *distance) {
    int count = 0, column = cell_of(p, p->x[i], p->min_x, p->nx);
    int row = cell_of(p, p->y[i], p->min_y, p->ny);
    for (int k = 0; k < p->nearest; ++k) {
        list[k] = -1;
        distance[k] = INFINITY;
    }
    for (int r = row > 0 ? row - 1 : 0; r <= row + 1 && r < p->ny; ++r) {
        int first = column > 0 ? column - 1 : 0, last = column + 1 < p->nx ? column + 1 : column;
        for (int at = p->start[r * p->nx + first]; at < p->start[r * p->nx + last + 1]; ++at)
            offer(p, i, p->order[at], list, distance, &count);
    }
}

// nearest(x, y, id, count, k, range, indices, distances): of every point; -1 and infinity where there are fewer.
PyObject *core_nearest(PyObject *module, PyObject *arguments) {
    (void)module;
    unsigned long long x, y, id, indices, distances;
    places p = {0};
    if (!PyArg_ParseTuple(arguments, "KKKiifKK", &x, &y, &id, &p.count, &p.nearest, &p.range,
                          &indices, &distances))
        return NULL;
    p.x = core_pointer(x);
    p.y = core_pointer(y);
    p.id = core_pointer(id);
    bool good = sort_places(&p);
    for (int i = 0; good && i < p.count; ++i)
        find(&p, i, (int *)core_pointer(indices) + (size_t)i * (size_t)p.nearest,
             (float *)core_pointer(distances) + (size_t)i * (size_t)p.nearest);
    free(p.start);
    free(p.order);
    if (!good) return PyErr_NoMemory();
    Py_RETURN_NONE;
}
