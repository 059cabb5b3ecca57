// What people were exposed to: seconds in a crowd denser than each bound, the highest pressure met, loads. Looked at
// when samples are taken; the time between two is halved as for everything else people do. Cost of a sample:
// O(people), and O(cells) where a model has a pressure.
// SPDX-License-Identifier: Apache-2.0
#include "core/array.h"
#include "observe/observer_parts.h"
#include <math.h>
#include <stdlib.h>

// 4: congestion (IMO). 6: people are pressed together; 8: about what was found where people died (Duisburg
// 2010: 8 +- 1; Jamarat 2006: up to 10).
const float th_exposure_bounds[TH_EXPOSURES] = {4.0f, 6.0f, 8.0f};

// Loads on the chest, as quoted by Lee and Hughes 2006 (Accident Analysis and Prevention 38, 712): 623 N is what men
// pushed against a bar tolerated (Evans and Hayden 1971); 1112 N is estimated to kill within 4 to 6 minutes and 6227 N
// within 15 s (Hopkins and others 1993).
const float th_load_bounds[TH_LOADS] = {623.0f, 1112.0f, 6227.0f};

uint8_t th_crowding_of(float density) {
    uint8_t crowding = 0;
    while (crowding < TH_EXPOSURES && density > th_exposure_bounds[crowding]) crowding++;
    return crowding;
}

void th_exposure_spend(th_person *person, uint32_t crowding, float time) {
    if (crowding > TH_EXPOSURES) return; // not known
    for (uint32_t k = 0; k < crowding; ++k) person->exposure[k] += time;
}

static void expose(th_person *person, th_last_seen *seen, uint8_t now, double time,
                   float interval) {
    if (seen->crowding == TH_CROWDING_UNKNOWN) {
        float since = (float)time - person->start_time;
        if (since > 0.0f) th_exposure_spend(person, now, since);
    } else {
        th_exposure_spend(person, seen->crowding, 0.5f * interval);
        th_exposure_spend(person, now, 0.5f * interval);
    }
    seen->crowding = now;
}

// ---- pressure: what a model keeps (TH_GRID_PRESSURE), on the cells of the maps. A model's grid has its own cells,
// and on an open plane it moves, so every sample is mapped anew: a cell of the map gets the largest value of the
// model's cells whose middles are in it or, where the model's are larger, that of the one its own middle is
// in. Nothing is interpolated, because a thin wall may have a packed and an empty side, and no peak gets
// lost.

void th_map_forget_pressure(th_map *map) {
    free(map->pressure_sum);
    free(map->pressure_max);
    map->pressure_sum = NULL;
    map->pressure_max = NULL;
}

bool th_map_make_pressure(th_map *map) {
    size_t cells = (size_t)map->nx * (size_t)map->ny;
    th_map_forget_pressure(map);
    map->pressure_sum = calloc(cells, sizeof *map->pressure_sum);
    map->pressure_max = calloc(cells, sizeof *map->pressure_max);
    if (map->pressure_sum && map->pressure_max) return true;
    th_map_forget_pressure(map);
    return false;
}

// The model's columns (or rows) first .. last; none when first > last.
typedef struct cell_range {
    int first, last;
} cell_range;

// The first cell of `count` whose middle is at `at` or behind, in cells from the grid's edge.
static int first_behind(float at, int count) {
    float wanted = at - 0.5f;
    if (!(wanted > 0.0f)) return 0;
    if (wanted > (float)(count - 1)) return count;
    int cell = (int)wanted;
    return (float)cell < wanted ? cell + 1 : cell;
}

// For the map's cell between low and high.
static cell_range range_of(float low, float high, int count) {
    cell_range range = {first_behind(low, count), first_behind(high, count) - 1};
    float middle = 0.5f * (low + high);
    if (range.first > range.last && middle >= 0.0f && middle < (float)count)
        range.first = range.last = (int)middle;
    return range;
}

static float largest_in(const th_grid *grid, cell_range columns, cell_range rows) {
    float largest = 0.0f;
    for (int j = rows.first; j <= rows.last; ++j)
        for (int i = columns.first; i <= columns.last; ++i)
            if (grid->values[(size_t)j * (size_t)grid->nx + (size_t)i] > largest)
                largest = grid->values[(size_t)j * (size_t)grid->nx + (size_t)i];
    return largest;
}

bool th_map_take_pressure(th_map *map, const th_grid *grid) {
    if (!map->pressure_max && !th_map_make_pressure(map)) return false;
    float ratio = map->cell / grid->cell;
    float x = (map->min_x - grid->min_x) / grid->cell, y = (map->min_y - grid->min_y) / grid->cell;
    for (int j = 0; j < map->ny; ++j) {
        cell_range rows = range_of(y + (float)j * ratio, y + (float)(j + 1) * ratio, grid->ny);
        if (rows.first > rows.last) continue;
        for (int i = 0; i < map->nx; ++i) {
            size_t c = (size_t)j * (size_t)map->nx + (size_t)i;
            if (!(map->walkable[c] > 0.0f)) continue;
            cell_range columns =
                range_of(x + (float)i * ratio, x + (float)(i + 1) * ratio, grid->nx);
            float pressure = largest_in(grid, columns, rows);
            if (!(pressure > 0.0f)) continue;
            map->pressure_sum[c] += (double)pressure;
            if (pressure > map->pressure_max[c]) map->pressure_max[c] = pressure;
        }
    }
    return true;
}

static float grid_at(const th_grid *grid, float x, float y) {
    float column = (x - grid->min_x) / grid->cell, row = (y - grid->min_y) / grid->cell;
    if (!(column >= 0.0f && row >= 0.0f && column < (float)grid->nx && row < (float)grid->ny))
        return 0.0f;
    return grid->values[(size_t)row * (size_t)grid->nx + (size_t)column];
}

static void meet_pressure(th_observation *o, const th_moment *moment, int32_t level,
                          const th_grid *grid) {
    for (int i = 0; i < moment->count; ++i)
        if (th_moment_is_person(moment, i) && th_moment_level(moment, i) == level) {
            th_person *person = &o->people[moment->id[i] - 1];
            float pressure = grid_at(grid, (float)moment->x[i], (float)moment->y[i]);
            if (!(pressure <= person->peak_pressure)) person->peak_pressure = pressure; // or NaN
        }
}

bool th_exposure_sample(th_observer *observer, th_world *world, const th_moment *moment,
                        double time) {
    th_observation *o = &observer->observation;
    float interval = (float)(time - observer->last_sample_time);
    for (int i = 0; o->map_count > 0 && i < moment->count; ++i) {
        if (!th_moment_is_person(moment, i)) continue;
        int64_t index = moment->id[i] - 1;
        int32_t m = th_moment_level(moment, i);
        uint8_t now = th_map_crowding_at(&o->maps[m], &observer->map_work[m], (float)moment->x[i],
                                         (float)moment->y[i]);
        expose(&o->people[index], &observer->last_seen[index], now, time, interval);
    }
    for (int level = 0; level < observer->scene->level_count; ++level) {
        th_grid grid;
        if (!th_world_map_grid(world, TH_GRID_PRESSURE, level, &grid)) continue;
        if (level < o->map_count && !th_map_take_pressure(&o->maps[level], &grid)) return false;
        meet_pressure(o, moment, level, &grid);
    }
    return true;
}

// ---- loads

// Working the forces out costs as much as several steps: in a large crowd they are looked at less often.
enum { LARGE_CROWD = 20000 };
#define LARGE_INTERVAL 10.0 // [s]

static void bear(th_person *person, float force, float radius, float time) {
    float load = 0.5f * force, line = force / (6.2831853f * radius);
    if (load > person->peak_load) person->peak_load = load;
    if (line > person->peak_line) person->peak_line = line;
    for (int k = 0; k < TH_LOADS; ++k)
        if (load > th_load_bounds[k]) person->load_time[k] += time;
}

static void map_load(th_map *map, float x, float y, float load, double time) {
    float column = (x - map->min_x) / map->cell, row = (y - map->min_y) / map->cell;
    if (!(column >= 0.0f && row >= 0.0f && column < (float)map->nx && row < (float)map->ny)) return;
    size_t c = (size_t)row * (size_t)map->nx + (size_t)column;
    if (load > map->load_max[c]) map->load_max[c] = load;
    if (load > th_load_bounds[0]) map->load_time[c] += time;
}

bool th_load_sample(th_observer *observer, th_world *world, const th_moment *moment, double time) {
    th_observation *o = &observer->observation;
    double since = time - observer->last_load_time;
    bool large = moment->count > LARGE_CROWD;
    if (moment->count == 0 || (large && o->sample_count > 0 && since < LARGE_INTERVAL - 1e-6))
        return true;
    if (!TH_RESERVE(observer->forces, observer->force_room, (size_t)moment->count)) return false;
    const float *radius = th_world_map(world, TH_FIELD_RADIUS, TH_ACCESS_READ);
    if (!radius || !th_world_contact_forces(world, observer->forces)) return false;
    for (int i = 0; i < moment->count; ++i) {
        float force = observer->forces[i];
        if (!(force > 0.0f) || !th_moment_is_person(moment, i)) continue;
        bear(&o->people[moment->id[i] - 1], force, radius[i], (float)since);
        int32_t level = th_moment_level(moment, i);
        if (level < o->map_count)
            map_load(&o->maps[level], (float)moment->x[i], (float)moment->y[i], 0.5f * force,
                     since);
    }
    observer->last_load_time = time;
    return true;
}
