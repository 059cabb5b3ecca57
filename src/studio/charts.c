// The series of the charts and the findings, of a world and of a recording: what an observer (src/observe) saw. Once per
// simulated second. SPDX-License-Identifier: Apache-2.0
#include "observe/findings.h"
#include "studio/studio.h"
#include "throng/model.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void th_charts_unwatch(th_charts *c) {
    th_watch_destroy(c->watch);
    c->watch = NULL;
    c->samples = 0;
    c->over = false;
}

void th_charts_release(th_charts *c) {
    th_charts_unwatch(c);
    json_decref(c->rows);
    json_decref(c->findings);
    th_observer_destroy(c->recorded);
    *c = (th_charts){0};
}

void th_charts_reset(th_charts *c) { th_charts_release(c); }

// ---- flows over the last seconds

enum { FLOW_WINDOW = 5 }; // samples, of a second each

// Forward less backward, per second.
static double flow_at(const th_observation *o, const th_counter *counter, int sample) {
    int before = sample > FLOW_WINDOW ? sample - FLOW_WINDOW : 0;
    if (sample <= before) return 0.0;
    int64_t net = ((int64_t)counter->forward[sample] - (int64_t)counter->backward[sample]) -
                  ((int64_t)counter->forward[before] - (int64_t)counter->backward[before]);
    return (double)net / ((sample - before) * o->interval);
}

static json_t *flows_of(const th_observation *o, th_counter_kind kind, int sample) {
    json_t *list = json_array();
    for (int c = 0; c < o->counter_count; ++c)
        if (o->counters[c].kind == kind)
            json_array_append_new(list, json_real(flow_at(o, &o->counters[c], sample)));
    return list;
}

// One per goal of the scene; only exits are counted.
static json_t *exit_flows(const th_observation *o, const th_scene_view *scene, int sample) {
    json_t *list = json_array();
    int c = 0;
    for (int g = 0; g < scene->goal_count; ++g) {
        bool is_exit = scene->goals[g].kind == TH_GOAL_EXIT && c < o->counter_count;
        json_array_append_new(list, json_real(is_exit ? flow_at(o, &o->counters[c], sample) : 0.0));
        c += is_exit;
    }
    return list;
}

static json_t *areas_at(const th_observation *o, int sample) {
    json_t *list = json_array();
    for (int a = 0; a < o->area_count; ++a) {
        float density = o->areas[a].density[sample], speed = o->areas[a].speed[sample];
        json_array_append_new(list, json_pack("[f,f]", isfinite(density) ? (double)density : 0.0,
                                              isfinite(speed) ? (double)speed : 0.0));
    }
    return list;
}

// ---- readings of the crowd

typedef struct look {
    double speed_sum;
    int walkers;
    float density; // highest [1/m2]
    json_t *points;
} look;

static void look_at_level(const th_studio_moment *moment, const th_studio_field *density, int level,
                          look *seen) {
    const int most_points = 60;
    uint32_t every = (uint32_t)(moment->count / most_points) + 1;
    for (int i = 0; i < moment->count; ++i) {
        const th_studio_row *row = &moment->rows[i];
        if (row->level != level || row->phase == TH_PHASE_BODY) continue;
        float here = th_studio_field_at(density, row->x, row->y);
        if (row->phase != TH_PHASE_WALKING) continue;
        float speed = TH_STUDIO_SPEED_STEP * (float)row->speed;
        seen->speed_sum += (double)speed;
        seen->walkers++;
        if (row->id % every == 0 && here > 0.0f)
            json_array_append_new(seen->points, json_pack("[f,f]", (double)here, (double)speed));
    }
}

static float highest_of(const th_studio_field *density) {
    float highest = 0.0f;
    for (int k = 0; k < density->nx * density->ny; ++k)
        highest = fmaxf(highest, density->values[k]);
    return highest;
}

static look look_at_people(const th_studio_moment *moment) {
    look seen = {.points = json_array()};
    for (int l = 0; l < moment->catalogue->level_count; ++l) {
        th_studio_field density;
        if (!th_studio_map_people(moment, TH_LAYER_DENSITY, l, &density)) continue;
        look_at_level(moment, &density, l, &seen);
        seen.density = fmaxf(seen.density, highest_of(&density));
        th_studio_field_release(&density);
    }
    return seen;
}

// ---- rows

static json_t *row_of(const th_observation *o, const th_scene_view *scene, int n, double time,
                      const look *seen) {
    return json_pack("[f,I,I,f,i,o,o,o,o,o]", time, (json_int_t)o->inside[n],
                     (json_int_t)o->left[n], seen->walkers ? seen->speed_sum / seen->walkers : 0.0,
                     (int)o->jammed[n], exit_flows(o, scene, n), flows_of(o, TH_COUNT_DOOR, n),
                     flows_of(o, TH_COUNT_LINE, n), areas_at(o, n), seen->points);
}

// Sends the list to all clients when it has changed.
static void tell_findings(th_studio *studio, int world, th_findings *findings) {
    th_charts *c = &studio->plays[world].charts;
    json_t *list = findings ? th_findings_array(findings) : NULL;
    th_findings_destroy(findings);
    if (!list || (c->findings && json_equal(list, c->findings))) {
        json_decref(list);
        return;
    }
    json_decref(c->findings);
    c->findings = list;
    th_studio_say(&studio->exchange, 0, false,
                  json_pack("{s:s,s:i,s:O}", "event", "findings", "world", world, "list", list));
}

static bool watch_world(th_charts *c, th_world *world) {
    const th_observation *o = c->watch ? th_watch_observation(c->watch) : NULL;
    double last = o ? o->start + (o->sample_count - 1) * o->interval : 0.0;
    if (o && th_world_time(world) < last - 0.5 * o->interval) th_charts_unwatch(c); // an undo
    if (!c->watch) return th_watch_create(world, &c->watch, NULL) == TH_OK;
    return th_watch_see(c->watch, world, NULL) == TH_OK;
}

static void find(th_studio *studio, int world) {
    th_findings *findings = NULL;
    th_watch_findings(studio->plays[world].charts.watch, &findings, NULL);
    tell_findings(studio, world, findings);
}

void th_charts_see(th_studio *studio, int world) {
    th_play *play = &studio->plays[world];
    th_charts *c = &play->charts;
    if (!watch_world(c, play->world)) return;
    const th_observation *o = th_watch_observation(c->watch);
    bool sampled = o->sample_count != c->samples, ended = th_watch_over(c->watch) && !c->over;
    c->samples = o->sample_count;
    c->over = th_watch_over(c->watch);
    if (sampled || ended) find(studio, world);
    if (!sampled) return;
    th_studio_moment *moment = th_studio_take(studio, world);
    if (!moment) return;
    if (!c->rows) c->rows = json_array();
    look seen = look_at_people(moment);
    th_studio_moment_release(moment);
    c->density = seen.density;
    json_t *row = row_of(o, th_scene_view_of(th_world_scene(play->world)), o->sample_count - 1,
                         th_world_time(play->world), &seen);
    if (!row) return;
    if (json_array_size(c->rows) < TH_CHART_ROWS) json_array_append(c->rows, row);
    th_studio_say(&studio->exchange, 0, false,
                  json_pack("{s:s,s:i,s:[o]}", "event", "chart", "world", world, "rows", row));
}

void th_charts_begin(th_studio *studio, int world) {
    if (!studio->plays[world].charts.watch) th_charts_see(studio, world);
}

// ---- recordings

bool th_charts_see_frame(th_studio *studio, const th_moment *frame) {
    th_charts *c = &studio->plays[0].charts;
    if (!c->recorded) {
        th_observer_def def = th_observer_def_default();
        def.track_count = 0;
        if (th_observer_create_for(th_replay_scene(studio->replay), &def,
                                   studio->plays[0].catalogue->level_boxes, &c->recorded,
                                   NULL) != TH_OK)
            return false;
    }
    return th_observer_see_moment(c->recorded, frame, NULL) == TH_OK;
}

// Takes the values that need the moment; th_charts_end_recording adds the counts.
void th_charts_of_moment(th_studio *studio, th_studio_moment *moment) {
    th_charts *c = &studio->plays[0].charts;
    if (moment->time + 1e-9 < c->next) return;
    if (!c->rows) c->rows = json_array();
    c->next = floor(moment->time) + 1.0;
    look seen = look_at_people(moment);
    c->density = seen.density;
    json_array_append_new(
        c->rows, json_pack("[f,f,i,o]", moment->time, seen.speed_sum, seen.walkers, seen.points));
}

// The counts of the sample nearest to each row.
static void complete_rows(th_charts *c, const th_scene_view *scene, const th_observation *o) {
    json_t *rows = json_array();
    for (size_t k = 0; k < json_array_size(c->rows); ++k) {
        const json_t *short_row = json_array_get(c->rows, k);
        double time = json_number_value(json_array_get(short_row, 0));
        int n = (int)lround((time - o->start) / o->interval);
        if (n >= o->sample_count) n = o->sample_count - 1;
        if (n < 0) continue;
        look seen = {.speed_sum = json_number_value(json_array_get(short_row, 1)),
                     .walkers = (int)json_integer_value(json_array_get(short_row, 2)),
                     .points = json_incref(json_array_get(short_row, 3))};
        json_array_append_new(rows, row_of(o, scene, n, time, &seen));
    }
    json_decref(c->rows);
    c->rows = rows;
}

bool th_charts_end_recording(th_studio *studio) {
    th_charts *c = &studio->plays[0].charts;
    const th_scene_view *scene = th_replay_scene(studio->replay);
    if (!c->recorded || th_observer_finish_recording(c->recorded, NULL) != TH_OK) return false;
    th_observation *o = th_observer_observation(c->recorded);
    th_findings *findings = NULL, *of_scene = NULL;
    complete_rows(c, scene, o);
    if (th_scene_findings(scene->scene, &of_scene, NULL) == TH_OK)
        th_observation_findings(scene, of_scene, o, true, &findings, NULL);
    th_findings_destroy(of_scene);
    tell_findings(studio, 0, findings);
    th_observer_destroy(c->recorded);
    c->recorded = NULL;
    return true;
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
