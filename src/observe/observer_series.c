// The series of a run, one value per sample: people who came, are inside and left, counters of exits, doors and lines,
// density and speed of the scene's measurement areas. Voronoi and Gaussian densities are taken by the code that
// measures recordings; only people near an area are handed over, so the price is theirs and not the crowd's.
// SPDX-License-Identifier: Apache-2.0
#include "core/array.h"
#include "observe/density.h"
#include "observe/observer_parts.h"
#include "record/moment.h"
#include <math.h>
#include <stdlib.h>

// ---- counters

// Lines are of single precision: a door of 1.4 m is not one of 1.39999962 m.
static double line_length(const th_line *line) {
    double length =
        hypot((double)line->b.x - (double)line->a.x, (double)line->b.y - (double)line->a.y);
    return round(1e4 * length) / 1e4;
}

// Where forward over a line leads: from its right to its left, x is east and y is north, as in every scene.
static void name_sides(th_counter *counter, const th_line *line) {
    static const char *const words[8] = {"east", "north-east", "north", "north-west",
                                         "west", "south-west", "south", "south-east"};
    double angle =
        atan2((double)line->b.x - (double)line->a.x, (double)line->a.y - (double)line->b.y);
    int eighth = (int)lround(angle / (acos(-1.0) / 4.0)) & 7;
    counter->forward_to = words[eighth];
    counter->backward_to = words[(eighth + 4) & 7];
}

static void add_counter(th_observer *observer, th_counter_kind kind, const char *id, int index,
                        int level, double width) {
    th_observation *o = &observer->observation;
    observer->counter_index[o->counter_count] = index;
    o->counters[o->counter_count++] = (th_counter){.kind = kind,
                                                   .id = id,
                                                   .level = level,
                                                   .width = width,
                                                   .forward_to = "out",
                                                   .backward_to = "in",
                                                   .first_time = (double)NAN,
                                                   .last_time = (double)NAN};
}

bool th_counters_create(th_observer *observer) {
    const th_scene_view *scene = observer->scene;
    size_t most = (size_t)(scene->goal_count + scene->door_count + scene->measure_line_count) + 1;
    observer->observation.counters = calloc(most, sizeof *observer->observation.counters);
    observer->counter_index = calloc(most, sizeof *observer->counter_index);
    if (!observer->observation.counters || !observer->counter_index) return false;
    for (int g = 0; g < scene->goal_count; ++g) {
        const th_goal *goal = &scene->goals[g];
        if (goal->kind == TH_GOAL_EXIT)
            add_counter(observer, TH_COUNT_EXIT, goal->id, g,
                        goal->is_line ? goal->line.level : goal->area.level,
                        goal->is_line ? line_length(&goal->line) : 0.0);
    }
    th_observation *o = &observer->observation;
    for (int d = 0; d < scene->door_count; ++d) {
        const th_line *line = &scene->doors[d].line;
        add_counter(observer, TH_COUNT_DOOR, scene->doors[d].id, d, line->level, line_length(line));
        name_sides(&o->counters[o->counter_count - 1], line);
    }
    for (int l = 0; l < scene->measure_line_count; ++l) {
        const th_line *line = &scene->measure_lines[l].line;
        add_counter(observer, TH_COUNT_LINE, scene->measure_lines[l].id, l, line->level,
                    line_length(line));
        name_sides(&o->counters[o->counter_count - 1], line);
    }
    return true;
}

// Counts and times of every counter as they are now.
void th_counters_read(th_observer *observer, const th_world *world) {
    th_observation *o = &observer->observation;
    for (int c = 0; c < o->counter_count; ++c) {
        th_counter *counter = &o->counters[c];
        int index = observer->counter_index[c];
        if (counter->kind == TH_COUNT_EXIT) {
            th_exit_count exit = th_world_exit(world, index);
            counter->forward_total = exit.left;
            if (exit.left == 0) continue;
            counter->first_time = exit.first_time;
            counter->last_time = exit.last_time;
            continue;
        }
        th_line_count line = counter->kind == TH_COUNT_DOOR ? th_world_door(world, index)
                                                            : th_world_line(world, index);
        counter->forward_total = line.forward;
        counter->backward_total = line.backward;
        if (line.forward + line.backward == 0) continue;
        counter->first_time = line.first_time;
        counter->last_time = line.last_time;
    }
}

// ---- measurement areas

static const float NEAR = 3.5f;

// NULL region: the area cannot be measured so, and its columns stay empty.
static th_region *region_of(const th_scene_view *scene, const th_measure_area *area, bool *memory) {
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

static bool create_regions(th_observer *observer) {
    const th_scene_view *scene = observer->scene;
    bool memory = true;
    observer->regions = calloc((size_t)scene->measure_area_count + 1, sizeof(th_region *));
    if (!observer->regions) return false;
    for (int a = 0; memory && a < scene->measure_area_count; ++a)
        observer->regions[a] = region_of(scene, &scene->measure_areas[a], &memory);
    return memory;
}

bool th_areas_create(th_observer *observer) {
    const th_scene_view *scene = observer->scene;
    th_observation *o = &observer->observation;
    o->areas = calloc((size_t)scene->measure_area_count + 1, sizeof *o->areas);
    if (!o->areas) return false;
    o->area_count = scene->measure_area_count;
    for (int a = 0; a < o->area_count; ++a) {
        const th_measure_area *area = &scene->measure_areas[a];
        o->areas[a] = (th_area_series){
            .id = area->id, .level = area->area.level, .area = area->walkable_area};
    }
    return create_regions(observer);
}

void th_areas_destroy(th_observer *observer) {
    for (int a = 0; observer->regions && a < observer->scene->measure_area_count; ++a)
        th_region_destroy(observer->regions[a]);
    free((void *)observer->regions);
    th_level_view_release(&observer->near);
}

static bool find_near(th_observer *observer, const th_moment *moment, const th_area *area) {
    const th_box *box = &area->shape.box;
    const th_point near[2] = {{(double)(box->min_x - NEAR), (double)(box->min_y - NEAR)},
                              {(double)(box->max_x + NEAR), (double)(box->max_y + NEAR)}};
    const th_level_view_def def = {.level = area->level, .near = near};
    return th_level_view_fill(&observer->near, moment, &def);
}

bool th_areas_take(th_observer *observer, const th_moment *moment) {
    th_observation *o = &observer->observation;
    for (int a = 0; a < o->area_count; ++a) {
        float *columns[2] = {o->areas[a].voronoi_density, o->areas[a].gaussian_density};
        for (int k = 0; k < 2; ++k) columns[k][o->sample_count] = NAN;
        if (!observer->regions[a]) continue;
        if (!find_near(observer, moment, &observer->scene->measure_areas[a].area)) return false;
        const th_level_view *near = &observer->near;
        for (int k = 0; k < 2; ++k) {
            th_density_def def = th_density_def_default();
            th_area_reading reading;
            def.method = k == 0 ? TH_VORONOI : TH_GAUSSIAN;
            if (th_region_measure(observer->regions[a], &def, near->x, near->y, near->speed,
                                  near->count, &reading, NULL, NULL) != TH_OK)
                return false;
            columns[k][o->sample_count] = (float)reading.density;
        }
    }
    return true;
}

// ---- a sample

static bool grow_series(th_observation *o) {
    int n = o->sample_count;
    bool grown = TH_RESERVE_ONE(o->spawned, n) && TH_RESERVE_ONE(o->inside, n) &&
                 TH_RESERVE_ONE(o->left, n) && TH_RESERVE_ONE(o->overlapping, n) &&
                 TH_RESERVE_ONE(o->jammed, n);
    for (int c = 0; grown && c < o->counter_count; ++c)
        grown =
            TH_RESERVE_ONE(o->counters[c].forward, n) && TH_RESERVE_ONE(o->counters[c].backward, n);
    for (int a = 0; grown && a < o->area_count; ++a)
        grown = TH_RESERVE_ONE(o->areas[a].density, n) && TH_RESERVE_ONE(o->areas[a].speed, n) &&
                TH_RESERVE_ONE(o->areas[a].voronoi_density, n) &&
                TH_RESERVE_ONE(o->areas[a].gaussian_density, n);
    return grown;
}

bool th_series_take(th_observer *observer, th_world *world) {
    th_observation *o = &observer->observation;
    int n = o->sample_count;
    if (!grow_series(o)) return false;
    th_counters_read(observer, world);
    for (int c = 0; c < o->counter_count; ++c) {
        o->counters[c].forward[n] = (uint32_t)o->counters[c].forward_total;
        o->counters[c].backward[n] = (uint32_t)o->counters[c].backward_total;
    }
    // Samples the overlaps, which changes the largest one seen: only ever called at sample times.
    th_statistics statistics = th_world_statistics(world);
    o->spawned[n] = (uint32_t)statistics.spawned;
    o->inside[n] = (uint32_t)statistics.inside;
    o->left[n] = (uint32_t)statistics.left;
    o->overlapping[n] = (uint32_t)statistics.overlapping_agents;
    for (int a = 0; a < o->area_count; ++a) {
        th_area_state area = th_world_area(world, a);
        o->areas[a].density[n] = (float)area.density;
        // An empty area has no speed.
        o->areas[a].speed[n] = area.count > 0 ? (float)area.mean_speed : NAN;
    }
    return true;
}
