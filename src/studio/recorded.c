// What a recording tells of the scene's exits, doors, lines and areas, moment by moment, for the charts.
// SPDX-License-Identifier: Apache-2.0
#include "formula/segment.h"
#include "observe/density.h"
#include "record/moment.h"
#include "studio/studio.h"
#include "throng/model.h"
#include <math.h>
#include <stdlib.h>

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
