// Maps that clients see as layers. SPDX-License-Identifier: Apache-2.0
#include "observe/density.h"
#include "studio/moment.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- maps of the people (observe/density.h)

void th_studio_field_release(th_studio_field *field) {
    free(field->values);
    field->values = NULL;
}

float th_studio_field_at(const th_studio_field *field, float x, float y) {
    int i = (int)floorf((x - field->min_x) / field->cell);
    int j = (int)floorf((y - field->min_y) / field->cell);
    if (i < 0 || j < 0 || i >= field->nx || j >= field->ny) return 0.0f;
    return field->values[(size_t)j * (size_t)field->nx + (size_t)i];
}

// The people of a level, of whom the moment keeps speeds and headings in bytes. Returns how many.
static int people_of(const th_studio_moment *moment, int level, th_spot *people) {
    float cosines[256];
    int count = 0;
    for (int k = 0; k < 256; ++k) cosines[k] = cosf((float)k * (3.14159265f / 128.0f));
    for (int i = 0; i < moment->count; ++i) {
        const th_studio_row *row = &moment->rows[i];
        if (row->level != level || row->phase == TH_PHASE_BODY) continue;
        float speed = TH_STUDIO_SPEED_STEP * (float)row->speed;
        people[count++] =
            (th_spot){{row->x, row->y},
                      {speed * cosines[row->heading], speed * cosines[(row->heading + 192) & 255]}};
    }
    return count;
}

static th_people_value value_of(th_studio_layer_kind kind) {
    if (kind == TH_LAYER_SPEED) return TH_PEOPLE_SPEED;
    if (kind == TH_LAYER_FLOW) return TH_PEOPLE_FLOW;
    return kind == TH_LAYER_VELOCITY ? TH_PEOPLE_VELOCITY : TH_PEOPLE_DENSITY;
}

bool th_studio_is_of_people(th_studio_layer_kind kind) {
    return kind == TH_LAYER_DENSITY || kind == TH_LAYER_SPEED || kind == TH_LAYER_FLOW ||
           kind == TH_LAYER_VELOCITY;
}

bool th_studio_map_people(const th_studio_moment *moment, th_studio_layer_kind kind, int level,
                          th_studio_field *field) {
    if (!th_studio_is_of_people(kind) || level < 0 || level >= moment->catalogue->level_count)
        return false;
    const th_kernel *kernel = &moment->catalogue->kernels[level];
    size_t cells = (size_t)kernel->nx * (size_t)kernel->ny;
    *field = (th_studio_field){.layer = -1,
                               .level = level,
                               .nx = kernel->nx,
                               .ny = kernel->ny,
                               .min_x = kernel->min_x,
                               .min_y = kernel->min_y,
                               .cell = kernel->cell};
    th_spot *people = malloc(((size_t)moment->count + 1) * sizeof *people);
    field->values = malloc(cells * 2 * sizeof(float));
    bool made = people && field->values &&
                th_people_map(kernel, value_of(kind), people, people_of(moment, level, people),
                              field->values);
    if (!made) th_studio_field_release(field);
    free(people);
    return made;
}

// ---- maps of the world

// Maps that only the world knows: ways and directions to a target, the time that the way takes, pictures of the scene,
// grids of models.

static bool size_field(th_studio_field *field, const th_box *box, float cell, int values) {
    float width = box->max_x - box->min_x, height = box->max_y - box->min_y;
    const float most = 400.0f; // cells in a row
    cell = fmaxf(cell, fmaxf(width, height) / most);
    field->cell = cell;
    field->min_x = box->min_x;
    field->min_y = box->min_y;
    field->nx = (int)(width / cell) + 1;
    field->ny = (int)(height / cell) + 1;
    field->values = calloc((size_t)field->nx * (size_t)field->ny * (size_t)values, sizeof(float));
    return field->values != NULL;
}

static th_vec2 centre_of(const th_studio_field *field, int x, int y) {
    return (th_vec2){field->min_x + ((float)x + 0.5f) * field->cell,
                     field->min_y + ((float)y + 0.5f) * field->cell};
}

static void fill_distances(const th_world *world, th_studio_field *field) {
    const th_scene_view *scene = th_scene_view_of(th_world_scene(world));
    for (int y = 0; y < field->ny; ++y) {
        th_vec2 row[512];
        for (int x = 0; x < field->nx; ++x) row[x] = centre_of(field, x, y);
        float *values = field->values + (size_t)y * (size_t)field->nx;
        th_world_distances(world, field->target, field->level, row, field->nx, values);
        for (int x = 0; x < field->nx; ++x)
            if (!isfinite(values[x]) || (scene->levels[field->level].bounded &&
                                         !th_scene_walkable(scene->scene, field->level, row[x])))
                values[x] = NAN;
    }
}

// Down the slope of the distances.
static bool turn_into_directions(th_studio_field *field) {
    int nx = field->nx, ny = field->ny;
    float *directions = malloc(2 * (size_t)nx * (size_t)ny * sizeof *directions);
    if (!directions) return false;
    for (int y = 0; y < ny; ++y)
        for (int x = 0; x < nx; ++x) {
            const float *d = field->values + (size_t)y * (size_t)nx + x;
            float east = x + 1 < nx ? d[1] : NAN, west = x > 0 ? d[-1] : NAN;
            float north = y + 1 < ny ? d[nx] : NAN, south = y > 0 ? d[-nx] : NAN;
            float gx = (isnan(east) ? *d : east) - (isnan(west) ? *d : west);
            float gy = (isnan(north) ? *d : north) - (isnan(south) ? *d : south);
            float length = sqrtf(gx * gx + gy * gy);
            float *to = directions + 2 * ((size_t)y * (size_t)nx + (size_t)x);
            to[0] = length > 0.0f ? -gx / length : NAN; // also NaN where the distance is
            to[1] = length > 0.0f ? -gy / length : NAN;
        }
    free(field->values);
    field->values = directions;
    return true;
}

// Where the planners lead; values hold two floats a cell.
static bool fill_planned(th_world *world, th_studio_field *field) {
    const th_scene_view *scene = th_scene_view_of(th_world_scene(world));
    bool bounded = scene->levels[field->level].bounded;
    for (int y = 0; y < field->ny; ++y) {
        th_vec2 row[512], led[512];
        for (int x = 0; x < field->nx; ++x) row[x] = centre_of(field, x, y);
        if (!th_world_directions(world, field->target, field->level, row, field->nx, led))
            return false;
        float *values = field->values + 2 * (size_t)y * (size_t)field->nx;
        for (int x = 0; x < field->nx; ++x) {
            bool there = !bounded || th_scene_walkable(scene->scene, field->level, row[x]);
            values[2 * x] = there ? led[x].x : NAN;
            values[2 * x + 1] = there ? led[x].y : NAN;
        }
    }
    return true;
}

// ---- pictures

static bool is_for(const th_scene_view *scene, const th_picture *picture, int target) {
    bool is = picture->to < 0;
    for (int k = 0; !is && target < scene->target_count && k < scene->targets[target].goal_count;
         ++k)
        is = scene->targets[target].goals[k] == picture->to;
    return is;
}

// The pixel at a place; -1: beyond the picture.
static int pixel_at(const th_picture *picture, th_vec2 place) {
    const th_box *box = &picture->box;
    float x = (place.x - box->min_x) / (box->max_x - box->min_x) * (float)picture->nx;
    float y = (place.y - box->min_y) / (box->max_y - box->min_y) * (float)picture->ny;
    bool within = x >= 0.0f && y >= 0.0f && x < (float)picture->nx && y < (float)picture->ny;
    return within ? (int)y * picture->nx + (int)x : -1;
}

// Adds up the pictures of a kind for agents with the target; two floats a cell of guidance.
static void fill_pictures(const th_scene_view *scene, th_picture_kind kind,
                          th_studio_field *field) {
    for (int p = 0; p < scene->picture_count; ++p) {
        const th_picture *picture = &scene->pictures[p];
        if (picture->kind != kind || picture->level != field->level ||
            !is_for(scene, picture, field->target))
            continue;
        for (int c = 0; c < field->nx * field->ny; ++c) {
            int pixel = pixel_at(picture, centre_of(field, c % field->nx, c / field->nx));
            if (pixel < 0) continue;
            if (kind == TH_PICTURE_DISCOMFORT) {
                field->values[c] += picture->discomfort[pixel];
            } else {
                field->values[2 * c] += picture->guidance[pixel].x;
                field->values[2 * c + 1] += picture->guidance[pixel].y;
            }
        }
    }
}

static bool copy_grid(th_world *world, th_grid_kind kind, th_studio_field *field) {
    th_grid grid;
    if (!th_world_map_grid(world, kind, field->level, &grid)) return false;
    size_t cells = (size_t)grid.nx * (size_t)grid.ny;
    if (cells > 4000000 || !(field->values = malloc(cells * sizeof(float)))) return false;
    memcpy(field->values, grid.values, cells * sizeof(float));
    field->nx = grid.nx;
    field->ny = grid.ny;
    field->min_x = grid.min_x;
    field->min_y = grid.min_y;
    field->cell = grid.cell;
    return true;
}

// ---- time to go

typedef struct reached {
    float distance; // to the target [m]
    int cell;
} reached;

static int by_distance(const void *a, const void *b) {
    const reached *first = a, *second = b;
    if (first->distance != second->distance) return first->distance < second->distance ? -1 : 1;
    return first->cell - second->cell;
}

// The neighbour to which the way shortens most; -1: none. More than the way between the two is a wall.
static int next_cell(const th_studio_field *field, int cell) {
    const float *d = field->values;
    int x = cell % field->nx, y = cell / field->nx, best = -1;
    float steepest = 0.0f;
    for (int k = 0; k < 9; ++k) {
        int i = x + k % 3 - 1, j = y + k / 3 - 1;
        if (i < 0 || j < 0 || i >= field->nx || j >= field->ny) continue;
        int other = j * field->nx + i;
        float length = field->cell * (i != x && j != y ? 1.41421356f : 1.0f);
        float slope = (d[cell] - d[other]) / length;
        if (!(slope > steepest && slope < 1.5f)) continue;
        steepest = slope;
        best = other;
    }
    return best;
}

// The pace at a place: that of the people there, and the free speed where there are none. People that have just stopped
// will go on, so it is never 0.
static float pace(const th_studio_field *speed, float x, float y) {
    const float free_speed = 1.34f, least = 0.1f; // [m/s] Weidmann 1993; a shuffling queue
    float there = th_studio_field_at(speed, x, y);
    return there >= 0.0f && isfinite(there) ? fmaxf(there, least) : free_speed;
}

// Sums travel time from the target outwards, at the crowd's present pace. Ground beyond the level's stairs counts with
// the pace at their foot.
static bool turn_into_times(const th_studio_moment *moment, th_studio_field *field) {
    int cells = field->nx * field->ny, count = 0;
    float *times = malloc((size_t)cells * sizeof *times);
    reached *order = malloc((size_t)cells * sizeof *order);
    th_studio_field speed = {0};
    bool made =
        times && order && th_studio_map_people(moment, TH_LAYER_SPEED, field->level, &speed);
    for (int c = 0; made && c < cells; ++c) {
        times[c] = NAN;
        if (!isnan(field->values[c])) order[count++] = (reached){field->values[c], c};
    }
    if (count > 0) qsort(order, (size_t)count, sizeof *order, by_distance);
    for (int k = 0; k < count; ++k) {
        int c = order[k].cell, to = next_cell(field, c);
        float x = field->min_x + ((float)(c % field->nx) + 0.5f) * field->cell;
        float y = field->min_y + ((float)(c / field->nx) + 0.5f) * field->cell;
        float way = field->values[c] - (to < 0 ? 0.0f : field->values[to]);
        times[c] = (to < 0 ? 0.0f : times[to]) + way / pace(&speed, x, y);
    }
    if (made) {
        free(field->values);
        field->values = times;
    } else {
        free(times);
    }
    free(order);
    th_studio_field_release(&speed);
    return made;
}

bool th_studio_is_of_observer(th_studio_layer_kind kind) {
    return kind == TH_LAYER_CROWD_PRESSURE || kind == TH_LAYER_HIGHEST || kind == TH_LAYER_MEAN ||
           kind == TH_LAYER_DENSE || kind == TH_LAYER_USAGE || kind == TH_LAYER_DELAY;
}

// By the definitions of the report's maps, for the time so far; NaN: no person came near.
static float seen_in_cell(const th_observation *seen, const th_map *map, size_t c,
                          th_studio_layer_kind kind) {
    double value = 0.0;
    if (kind == TH_LAYER_CROWD_PRESSURE) return map->motion[c].density * map->motion[c].variance;
    if (kind == TH_LAYER_HIGHEST) value = (double)map->density_max[c];
    if (kind == TH_LAYER_MEAN) value = map->density_sum[c] / fmax(seen->sample_count, 1.0);
    if (kind == TH_LAYER_DENSE) value = map->dense_time[c];
    if (kind == TH_LAYER_USAGE) value = map->person_count[c] * seen->interval;
    if (kind == TH_LAYER_DELAY) value = map->jam_time[c];
    return value > 0.0 ? (float)value : NAN;
}

static bool copy_seen(const th_observation *seen, th_studio_layer_kind kind,
                      th_studio_field *field) {
    if (!seen || field->level >= seen->map_count) return false;
    const th_map *map = &seen->maps[field->level];
    size_t cells = (size_t)map->nx * (size_t)map->ny;
    field->nx = map->nx;
    field->ny = map->ny;
    field->min_x = map->min_x;
    field->min_y = map->min_y;
    field->cell = map->cell;
    field->values = malloc(cells * sizeof(float));
    for (size_t c = 0; field->values && c < cells; ++c)
        field->values[c] = seen_in_cell(seen, map, c, kind);
    return field->values != NULL;
}

bool th_studio_map_world(th_world *world, const th_studio_moment *moment,
                         const th_observation *seen, th_studio_layer_kind kind,
                         th_studio_field *field) {
    const th_scene_view *scene = th_scene_view_of(th_world_scene(world));
    if (field->level >= scene->level_count) return false;
    if (th_studio_is_of_observer(kind)) return copy_seen(seen, kind, field);
    if (kind == TH_LAYER_PACKING) return copy_grid(world, TH_GRID_PACKING, field);
    if (kind == TH_LAYER_PRESSURE) return copy_grid(world, TH_GRID_PRESSURE, field);
    int values = kind == TH_LAYER_PLANNED || kind == TH_LAYER_DRAWN ? 2 : 1;
    if (!size_field(field, &scene->levels[field->level].box, 0.5f, values)) return false;
    if (kind == TH_LAYER_PLANNED) return fill_planned(world, field);
    if (kind == TH_LAYER_DISCOMFORT || kind == TH_LAYER_DRAWN) {
        fill_pictures(scene, kind == TH_LAYER_DRAWN ? TH_PICTURE_GUIDANCE : TH_PICTURE_DISCOMFORT,
                      field);
        return true;
    }
    fill_distances(world, field);
    if (kind == TH_LAYER_TRAVEL_TIME) return turn_into_times(moment, field);
    return kind == TH_LAYER_DISTANCE || turn_into_directions(field);
}
