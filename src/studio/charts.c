// The series of the charts, of a world and of a recording. SPDX-License-Identifier: Apache-2.0
#include "formula/segment.h"
#include "observe/density.h"
#include "observe/observer.h"
#include "record/moment.h"
#include "studio/studio.h"
#include "throng/model.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- counts of a recording

// What a recording tells of the scene's exits, doors, lines and areas, moment by moment, for the charts.

struct th_recorded {
    const th_scene_view *scene;
    th_region **regions;    // of the measured areas; NULL: cannot be measured
    th_studio_moment *last; // the one before
    int64_t counts[];       // by goal, door, line, as of a running world
};

static th_region *region_of(const th_area *area) {
    const th_point origin = {0.0, 0.0}; // rows count from the scene's
    char *shape = th_polygons_wkt(&area->shape, origin);
    th_region *region = NULL;
    if (shape) th_region_create(NULL, shape, &region, NULL);
    free(shape);
    return region;
}

th_recorded *th_recorded_create(const th_scene_view *scene) {
    size_t counters = (size_t)th_charts_counters(scene);
    th_recorded *r = calloc(1, sizeof *r + counters * sizeof r->counts[0]);
    if (!r) return NULL;
    r->scene = scene;
    r->regions = calloc((size_t)scene->measure_area_count + 1, sizeof(th_region *));
    for (int a = 0; r->regions && a < scene->measure_area_count; ++a)
        r->regions[a] = region_of(&scene->measure_areas[a].area);
    return r;
}

void th_recorded_release(th_recorded *r) {
    if (!r) return;
    for (int a = 0; r->regions && a < r->scene->measure_area_count; ++a)
        th_region_destroy(r->regions[a]);
    free((void *)r->regions);
    th_studio_moment_release(r->last);
    free(r);
}

const int64_t *th_recorded_counts(const th_recorded *r) { return r->counts; }

static float distance_to_goal(const th_goal *goal, th_vec2 p) {
    if (goal->is_line) return sqrtf(th_segment_distance2(p, goal->line.a, goal->line.b));
    const th_box *box = &goal->area.shape.box;
    float dx = fmaxf(fmaxf(box->min_x - p.x, p.x - box->max_x), 0.0f);
    float dy = fmaxf(fmaxf(box->min_y - p.y, p.y - box->max_y), 0.0f);
    return sqrtf(dx * dx + dy * dy);
}

// A recording does not say who left where: through the exit that they were nearest to when last seen.
static void count_leaving(th_recorded *r, const th_studio_row *row) {
    const th_scene_view *scene = r->scene;
    th_vec2 p = {row->x, row->y};
    float least = INFINITY;
    int nearest = -1;
    for (int g = 0; g < scene->goal_count; ++g) {
        const th_goal *goal = &scene->goals[g];
        if (goal->kind != TH_GOAL_EXIT || goal->line.level != row->level) continue;
        float away = distance_to_goal(goal, p);
        if (away >= least) continue;
        least = away;
        nearest = g;
    }
    if (nearest >= 0) r->counts[nearest]++;
}

static void count_crossings(th_recorded *r, const th_studio_row *from, const th_studio_row *to) {
    const th_scene_view *scene = r->scene;
    th_vec2 p = {from->x, from->y}, q = {to->x, to->y};
    int64_t *doors = r->counts + scene->goal_count, *lines = doors + scene->door_count;
    for (int d = 0; d < scene->door_count; ++d)
        if (scene->doors[d].line.level == to->level)
            doors[d] += th_segment_crossing(p, q, scene->doors[d].line.a, scene->doors[d].line.b);
    for (int l = 0; l < scene->measure_line_count; ++l) {
        const th_line *line = &scene->measure_lines[l].line;
        if (line->level == to->level) lines[l] += th_segment_crossing(p, q, line->a, line->b);
    }
}

// Rows ascend in id.
void th_recorded_see(th_recorded *r, th_studio_moment *moment) {
    int k = 0;
    for (int i = 0; r->last && i < r->last->count; ++i) {
        const th_studio_row *before = &r->last->rows[i];
        if (before->phase >= TH_PHASE_BODY) continue;
        while (k < moment->count && moment->rows[k].id < before->id) ++k;
        if (k < moment->count && moment->rows[k].id == before->id)
            count_crossings(r, before, &moment->rows[k]);
        else
            count_leaving(r, before);
    }
    th_studio_moment_release(r->last);
    r->last = th_studio_moment_hold(moment);
}

json_t *th_recorded_areas(const th_recorded *r, const th_studio_moment *moment) {
    json_t *list = json_array();
    for (int a = 0; r->regions && a < r->scene->measure_area_count; ++a) {
        const th_measure_area *area = &r->scene->measure_areas[a];
        double speeds = 0.0;
        int count = 0;
        for (int i = 0; r->regions[a] && i < moment->count; ++i) {
            const th_studio_row *row = &moment->rows[i];
            if (row->level != area->area.level || row->phase >= TH_PHASE_BODY ||
                !th_region_holds(r->regions[a], (double)row->x, (double)row->y))
                continue;
            count++;
            speeds += (double)(TH_STUDIO_SPEED_STEP * (float)row->speed);
        }
        json_array_append_new(
            list, json_pack("[f,f]", area->walkable_area > 0 ? count / area->walkable_area : 0.0,
                            count ? speeds / count : 0.0));
    }
    return list;
}

// ---- charts

// Once per simulated second: a row for the charts, who stood in a dense crowd, and warnings when something happens that
// the report would warn of.

void th_charts_release(th_charts *c) {
    json_decref(c->rows);
    for (int k = 0; k < TH_CHART_WINDOW; ++k) free(c->counts[k]);
    free(c->exposure);
    th_recorded_release(c->recorded);
    *c = (th_charts){0};
}

void th_charts_reset(th_charts *c) { th_charts_release(c); }

void th_studio_warn(th_studio *studio, int world, const char *key, int level, const th_vec2 *place,
                    const char *format, ...) {
    th_charts *c = &studio->plays[world].charts;
    char where[64], text[500];
    // Once per place of 10 m.
    snprintf(where, sizeof where, "%.30s %d %d %d", key, level,
             place ? (int)floorf(place->x / 10.0f) : 0, place ? (int)floorf(place->y / 10.0f) : 0);
    for (int k = 0; k < c->key_count; ++k)
        if (strcmp(c->keys[k], where) == 0) return;
    if (c->key_count == TH_WARNINGS) return;
    memcpy(c->keys[c->key_count++], where, sizeof where);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    json_t *at = place ? json_pack("[f,f]", (double)place->x, (double)place->y) : json_null();
    double time = studio->plays[world].world ? th_world_time(studio->plays[world].world) : 0.0;
    th_studio_say(&studio->exchange, 0, false,
                  json_pack("{s:s,s:i,s:s,s:s,s:f,s:i,s:o}", "event", "warning", "world", world,
                            "key", key, "text", text, "time", time, "level", level, "place", at));
}

void th_charts_doubts(th_studio *studio, int world) {
    enum { MOST = 8 };
    th_doubt doubts[MOST];
    const th_scene_view *scene = th_scene_view_of(th_world_scene(studio->plays[world].world));
    int count = th_scene_doubts(scene->scene, doubts, MOST);
    for (int k = 0; k < count && k < MOST; ++k) {
        char key[32];
        snprintf(key, sizeof key, "doubt %d", doubts[k].group);
        th_studio_warn(studio, world, key, 0, NULL, "%s", doubts[k].text);
    }
}

// ---- flows over the last seconds

int th_charts_counters(const th_scene_view *scene) {
    return scene->goal_count + scene->door_count + scene->measure_line_count;
}

static void read_counters(const th_world *world, int64_t *counts) {
    const th_scene_view *scene = th_scene_view_of(th_world_scene(world));
    for (int g = 0; g < scene->goal_count; ++g) *counts++ = (int64_t)th_world_exit(world, g).left;
    for (int d = 0; d < scene->door_count; ++d) {
        th_line_count c = th_world_door(world, d);
        *counts++ = (int64_t)c.forward - (int64_t)c.backward;
    }
    for (int l = 0; l < scene->measure_line_count; ++l) {
        th_line_count c = th_world_line(world, l);
        *counts++ = (int64_t)c.forward - (int64_t)c.backward;
    }
}

// Moves the window on by one, whose counts are returned to be filled; slot 0 is the newest. NULL: no memory.
static int64_t *push_counters(th_charts *c, const th_scene_view *scene, double time) {
    int64_t *newest = calloc((size_t)th_charts_counters(scene) + 1, sizeof *newest);
    if (!newest) return NULL;
    free(c->counts[TH_CHART_WINDOW - 1]);
    memmove(&c->counts[1], &c->counts[0], (TH_CHART_WINDOW - 1) * sizeof c->counts[0]);
    memmove(&c->times[1], &c->times[0], (TH_CHART_WINDOW - 1) * sizeof c->times[0]);
    c->counts[0] = newest;
    c->times[0] = time;
    if (c->filled < TH_CHART_WINDOW) c->filled++;
    return newest;
}

static json_t *flows(const th_charts *c, int first, int count) {
    json_t *list = json_array();
    int oldest = c->filled - 1;
    double elapsed = oldest > 0 ? c->times[0] - c->times[oldest] : 0.0;
    for (int k = first; k < first + count; ++k)
        json_array_append_new(
            list, json_real(elapsed > 0 ? (double)(c->counts[0][k] - c->counts[oldest][k]) / elapsed
                                        : 0.0));
    return list;
}

// After an edit the scene may have other counters; the window then begins anew.
static void forget_window(th_charts *c) {
    for (int k = 0; k < TH_CHART_WINDOW; ++k) {
        free(c->counts[k]);
        c->counts[k] = NULL;
    }
    c->filled = 0;
}

// ---- what the people tell

typedef struct look {
    double speed_sum;
    int walkers, jammed;
    json_t *points;
} look;

static void look_at_level(th_charts *c, const th_studio_moment *moment,
                          const th_studio_field *density, int level, double elapsed, look *seen) {
    const int most_points = 60;
    uint32_t every = (uint32_t)(moment->count / most_points) + 1;
    for (int i = 0; i < moment->count; ++i) {
        const th_studio_row *row = &moment->rows[i];
        if (row->level != level || row->phase == TH_PHASE_BODY) continue;
        float here = th_studio_field_at(density, row->x, row->y);
        if (here > TH_DENSE && row->id < c->exposure_count) c->exposure[row->id] += (float)elapsed;
        if (row->phase != TH_PHASE_WALKING) continue;
        float speed = TH_STUDIO_SPEED_STEP * (float)row->speed;
        seen->speed_sum += (double)speed;
        seen->walkers++;
        seen->jammed += speed < TH_JAM_SPEED;
        if (row->id % every == 0 && here > 0.0f)
            json_array_append_new(seen->points, json_pack("[f,f]", (double)here, (double)speed));
    }
}

static void find_top(const th_studio_field *density, float *top, th_vec2 *place) {
    for (int k = 0; k < density->nx * density->ny; ++k) {
        if (density->values[k] <= *top) continue;
        *top = density->values[k];
        *place = (th_vec2){density->min_x + ((float)(k % density->nx) + 0.5f) * density->cell,
                           density->min_y + ((float)(k / density->nx) + 0.5f) * density->cell};
    }
}

static bool reserve_exposure(th_charts *c, const th_studio_moment *moment) {
    uint32_t last = 0;
    for (int i = 0; i < moment->count; ++i)
        if (moment->rows[i].id > last) last = moment->rows[i].id;
    if (last < c->exposure_count) return true;
    if (last > 100000000u) return false; // ids of a strange recording
    size_t room = (size_t)last + last / 2 + 1024;
    float *grown = realloc(c->exposure, room * sizeof *grown);
    if (!grown) return false;
    memset(grown + c->exposure_count, 0, (room - c->exposure_count) * sizeof *grown);
    c->exposure = grown;
    c->exposure_count = room;
    return true;
}

static look look_at_people(th_studio *studio, int world, const th_studio_moment *moment,
                           double elapsed) {
    th_charts *c = &studio->plays[world].charts;
    look seen = {.points = json_array()};
    c->density = 0.0f;
    reserve_exposure(c, moment);
    for (int l = 0; l < moment->catalogue->level_count; ++l) {
        th_studio_field density;
        if (!th_studio_map_people(moment, TH_LAYER_DENSITY, l, &density)) continue;
        float top = 0.0f;
        th_vec2 place = {0};
        find_top(&density, &top, &place);
        look_at_level(c, moment, &density, l, elapsed, &seen);
        th_studio_field_release(&density);
        if (top > c->density) c->density = top;
        if (top > 6.0f)
            th_studio_warn(studio, world, "dangerous density", l, &place,
                           "%.1f people per square metre: above 6 people cannot choose where they "
                           "move",
                           (double)top);
        else if (top > TH_DENSE)
            th_studio_warn(studio, world, "congestion", l, &place,
                           "%.1f people per square metre: congestion (above 4, IMO)", (double)top);
    }
    return seen;
}

static void warn_of_statistics(th_studio *studio, int world, const th_statistics *s) {
    if (s->unreachable > 0)
        th_studio_warn(
            studio, world, "unreachable", 0, NULL,
            "%llu people cannot reach their goal now: every door on the way is shut or a "
            "wall is across it",
            (unsigned long long)s->unreachable);
    if (s->fallen > 0)
        th_studio_warn(studio, world, "fallen", 0, NULL, "%llu people lie on the ground",
                       (unsigned long long)s->fallen);
    if (s->waiting_to_enter > 20)
        th_studio_warn(studio, world, "waiting to enter", 0, NULL,
                       "%llu people from sources find no free spot to appear at",
                       (unsigned long long)s->waiting_to_enter);
    if (s->repairs > 0)
        th_studio_warn(studio, world, "repairs", 0, NULL,
                       "%llu states were not finite or faster than 10 m/s and were set right; a "
                       "smaller step helps",
                       (unsigned long long)s->repairs);
    if (s->wall_crossings > 0)
        th_studio_warn(studio, world, "walls", 0, NULL,
                       "%llu times somebody stood in a wall: please report this scene",
                       (unsigned long long)s->wall_crossings);
}

static json_t *areas_now(const th_world *world) {
    json_t *list = json_array();
    for (int a = 0; a < th_world_area_count(world); ++a) {
        th_area_state area = th_world_area(world, a);
        json_array_append_new(list, json_pack("[f,f]", isfinite(area.density) ? area.density : 0.0,
                                              isfinite(area.mean_speed) ? area.mean_speed : 0.0));
    }
    return list;
}

// Takes the areas over.
static json_t *row_of(const th_charts *c, const th_scene_view *scene, double time, int64_t inside,
                      int64_t left, const look *seen, json_t *areas) {
    return json_pack("[f,I,I,f,i,o,o,o,o,o]", time, (json_int_t)inside, (json_int_t)left,
                     seen->walkers ? seen->speed_sum / seen->walkers : 0.0, seen->jammed,
                     flows(c, 0, scene->goal_count), flows(c, scene->goal_count, scene->door_count),
                     flows(c, scene->goal_count + scene->door_count, scene->measure_line_count),
                     areas, seen->points);
}

void th_charts_see(th_studio *studio, int world) {
    th_play *play = &studio->plays[world];
    th_charts *c = &play->charts;
    double time = th_world_time(play->world);
    if (time + 1e-9 < c->next && time + 1.5 > c->next) return; // not yet, nor back in time
    const th_scene_view *scene = th_scene_view_of(th_world_scene(play->world));
    th_studio_moment *moment = th_studio_take(studio, world);
    if (!moment) return;
    if (!c->rows) c->rows = json_array();
    if (time < c->times[0]) forget_window(c); // an undo went back
    int64_t *counts = push_counters(c, scene, time);
    if (counts) read_counters(play->world, counts);
    look seen = look_at_people(
        studio, world, moment,
        c->exposed_until > 0 && time > c->exposed_until ? fmin(time - c->exposed_until, 2.0) : 0.0);
    th_studio_moment_release(moment);
    c->exposed_until = time;
    c->next = floor(time) + 1.0;
    th_statistics s = th_world_counts(play->world);
    warn_of_statistics(studio, world, &s);
    json_t *row =
        row_of(c, scene, time, (int64_t)s.inside, (int64_t)s.left, &seen, areas_now(play->world));
    if (!row) return;
    if (json_array_size(c->rows) < TH_CHART_ROWS) json_array_append(c->rows, row);
    th_studio_say(&studio->exchange, 0, false,
                  json_pack("{s:s,s:i,s:[o]}", "event", "chart", "world", world, "rows", row));
}

// Who was seen and is not there has left; in experiments people come back. Ids of recordings are small numbers; larger ones
// are not counted.
static int64_t count_seen(th_charts *c, const th_studio_moment *moment) {
    if (!reserve_exposure(c, moment)) return moment->count;
    for (int i = 0; i < moment->count; ++i) {
        float *mark = &c->exposure[moment->rows[i].id];
        if (*mark == 0.0f) c->seen++;
        *mark = 1e-6f + *mark;
    }
    return c->seen;
}

void th_charts_of_moment(th_studio *studio, th_studio_moment *moment) {
    th_charts *c = &studio->plays[0].charts;
    const th_scene_view *scene = th_replay_scene(studio->replay);
    if (!c->recorded) c->recorded = th_recorded_create(scene);
    if (!c->recorded) return;
    int64_t seen_people = count_seen(c, moment);
    th_recorded_see(c->recorded, moment);
    if (moment->time + 1e-9 < c->next) return;
    if (!c->rows) c->rows = json_array();
    c->next = floor(moment->time) + 1.0;
    int64_t *counts = push_counters(c, scene, moment->time);
    if (counts)
        memcpy(counts, th_recorded_counts(c->recorded),
               (size_t)th_charts_counters(scene) * sizeof *counts);
    look seen = look_at_people(studio, 0, moment, 0.0);
    json_array_append_new(c->rows,
                          row_of(c, scene, moment->time, moment->count, seen_people - moment->count,
                                 &seen, th_recorded_areas(c->recorded, moment)));
}

const json_t *th_charts_row(const th_charts *c, double time) {
    size_t low = 0, high = json_array_size(c->rows);
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (json_number_value(json_array_get(json_array_get(c->rows, middle), 0)) <= time + 1e-9)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? json_array_get(c->rows, low - 1) : NULL;
}
