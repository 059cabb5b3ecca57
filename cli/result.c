// Collects and prints the outcome of a run. SPDX-License-Identifier: Apache-2.0
#include "cli/result.h"

// The compiled scene, only for the names of exits, groups and levels: events and fields carry indices,
// and the public surface has no lists of names yet.
#include "scene/scene.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

bool th_run_result_init(th_run_result *result, const char *scene_file, const th_world *world) {
    *result = (th_run_result){.scene_file = scene_file};
    result->goal_count = th_world_scene(world)->goal_count;
    result->area_count = th_world_area_count(world);
    // One more than needed: calloc of nothing may return NULL, which would read as no memory.
    result->exits = calloc((size_t)result->goal_count + 1, sizeof *result->exits);
    result->areas = calloc((size_t)result->area_count + 1, sizeof *result->areas);
    return result->exits && result->areas;
}

void th_run_result_release(th_run_result *result) {
    free(result->exits);
    free(result->areas);
    result->exits = NULL;
    result->areas = NULL;
}

void th_run_result_count_events(th_run_result *result, const th_world *world) {
    int count = 0;
    uint64_t lost = 0;
    const th_event *events = th_world_events(world, &count, &lost);
    result->events_lost += lost;
    for (int i = 0; i < count; ++i) {
        bool left = events[i].kind == TH_EVENT_LEFT;
        if (!left || events[i].index < 0 || events[i].index >= result->goal_count) continue;
        th_exit_tally *tally = &result->exits[events[i].index];
        if (tally->left++ == 0) tally->first_time = events[i].time;
        tally->last_time = events[i].time;
    }
}

void th_run_result_sample(th_run_result *result, const th_world *world) {
    for (int i = 0; i < result->area_count; ++i) {
        th_area_state state = th_world_area(world, i);
        th_area_tally *tally = &result->areas[i];
        if (state.density > tally->highest_density) tally->highest_density = state.density;
        tally->density_sum += state.density;
        tally->samples += 1;
    }
}

void th_run_result_finish(th_run_result *result, th_world *world, double wall_seconds) {
    result->statistics = th_world_statistics(world);
    result->hash = th_world_hash(world);
    result->done = th_world_done(world);
    result->wall_seconds = wall_seconds;
    uint64_t steps = result->statistics.steps;
    result->step = steps > 0 ? result->statistics.time / (double)steps : 0;
}

double th_run_result_egress_time(const th_run_result *result) {
    bool finished = result->done && result->statistics.inside == 0 && result->statistics.left > 0;
    return finished ? result->statistics.last_left_time : (double)NAN;
}

// People per second between the first and the last crossing; NaN below two crossings.
static double line_flow(const th_line_count *line) {
    uint64_t crossings = line->forward + line->backward;
    double interval = line->last_time - line->first_time;
    return crossings >= 2 && interval > 0 ? (double)(crossings - 1) / interval : (double)NAN;
}

static double mean_density(const th_area_tally *tally) {
    return tally->samples > 0 ? tally->density_sum / (double)tally->samples : 0;
}

static json_t *number_or_null(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *count_json(uint64_t count) { return json_integer((json_int_t)count); }

static void print_exits(const th_run_result *result, const th_scene *scene) {
    bool titled = false;
    for (int i = 0; i < result->goal_count; ++i) {
        if (scene->goals[i].kind != TH_GOAL_EXIT) continue;
        if (!titled) printf("\nexits               people    first      last\n");
        titled = true;
        const th_exit_tally *tally = &result->exits[i];
        printf("  %-16s %7" PRIu64, scene->goals[i].id, tally->left);
        if (tally->left > 0) printf("  %6.1f s  %6.1f s", tally->first_time, tally->last_time);
        putchar('\n');
    }
    if (result->events_lost > 0)
        printf("  (%" PRIu64 " exits happened in too large a burst to be told apart)\n",
               result->events_lost);
}

static void print_lines(const th_world *world) {
    int count = th_world_line_count(world);
    if (count > 0) printf("\nlines              forward backward     flow     flow per metre\n");
    for (int i = 0; i < count; ++i) {
        th_line_count line = th_world_line(world, i);
        double flow = line_flow(&line);
        printf("  %-16s %7" PRIu64 "  %7" PRIu64, line.id, line.forward, line.backward);
        if (isfinite(flow)) printf("  %5.2f /s  %9.2f /(m s)", flow, flow / line.length);
        putchar('\n');
    }
}

static void print_areas(const th_run_result *result, const th_world *world) {
    if (result->area_count > 0)
        printf("\nareas                  now      mean   highest density [/m2]\n");
    for (int i = 0; i < result->area_count; ++i) {
        th_area_state state = th_world_area(world, i);
        printf("  %-16s %7.2f  %8.2f  %8.2f\n", state.id, state.density,
               mean_density(&result->areas[i]), result->areas[i].highest_density);
    }
}

// Who did not get out of a run that was to go on until empty, by group, and where to look for them.
static void print_inside(const th_run_result *result, th_world *world) {
    const th_scene *scene = th_world_scene(world);
    if (result->done || result->interrupted || scene->run.duration > 0) return;
    const uint32_t *group = th_world_map(world, TH_FIELD_GROUP, TH_READ);
    const uint32_t *phase = th_world_map(world, TH_FIELD_PHASE, TH_READ);
    const uint32_t *level = th_world_map(world, TH_FIELD_LEVEL, TH_READ);
    const float *x = th_world_map(world, TH_FIELD_POSITION_X, TH_READ);
    const float *y = th_world_map(world, TH_FIELD_POSITION_Y, TH_READ);
    if (!group || !phase || !level || !x || !y) return;
    int agents = th_world_agent_count(world);
    bool titled = false;
    for (int g = 0; g < scene->group_count; ++g) {
        int count = 0, first = -1;
        for (int i = 0; i < agents; ++i) {
            if (group[i] != (uint32_t)g || phase[i] >= TH_PHASE_ARRIVED) continue;
            if (count++ == 0) first = i;
        }
        if (count == 0) continue;
        if (!titled) printf("\nstill on the way    people   one of them stands at\n");
        titled = true;
        printf("  %-16s %7d   (%.2f, %.2f) on %s\n", scene->groups[g].id, count,
               (double)x[first] + scene->origin.x, (double)y[first] + scene->origin.y,
               scene->levels[level[first]].id);
    }
}

void th_run_result_print(const th_run_result *result, th_world *world) {
    const th_statistics *s = &result->statistics;
    const th_scene *scene = th_world_scene(world);
    printf("%s (%s), seed %" PRIu64 "%s\n", th_scene_name(scene), result->scene_file, result->seed,
           result->interrupted ? ", interrupted" : "");
    printf("  people           %" PRIu64 " came, %" PRIu64 " left, %" PRIu64 " inside", s->spawned,
           s->left, s->inside);
    if (s->removed > 0) printf(", %" PRIu64 " removed", s->removed);
    if (s->waiting_to_enter > 0) printf(", %" PRIu64 " waiting to enter", s->waiting_to_enter);
    double egress = th_run_result_egress_time(result);
    if (isfinite(egress))
        printf("\n  egress time      %.1f s", egress);
    else if (s->left > 0)
        printf("\n  last left at     %.1f s", s->last_left_time);
    printf("\n  simulated        %.1f s in %" PRIu64 " steps of %g s", s->time, s->steps,
           result->step);
    printf("\n  took             %.2f s", result->wall_seconds);
    if (result->wall_seconds > 0) printf(", %.1f times real time", s->time / result->wall_seconds);
    printf("\n  largest overlap  %.1f cm", 100 * (double)s->largest_overlap);
    printf("\n  walls            %" PRIu64 " crossed, %" PRIu64 " moves cut short",
           s->wall_crossings, s->wall_stops);
    if (s->repairs > 0) printf("\n  repairs          %" PRIu64, s->repairs);
    if (s->unreachable > 0)
        printf("\n  no way out       %" PRIu64 " people whose goal cannot be reached",
               s->unreachable);
    printf("\n  state hash       %016" PRIx64 "\n", result->hash);
    print_inside(result, world);
    print_exits(result, scene);
    print_lines(world);
    print_areas(result, world);
}

static json_t *exits_json(const th_run_result *result, const th_scene *scene) {
    json_t *exits = json_array();
    for (int i = 0; i < result->goal_count; ++i) {
        if (scene->goals[i].kind != TH_GOAL_EXIT) continue;
        const th_exit_tally *tally = &result->exits[i];
        double none = (double)NAN;
        json_array_append_new(
            exits, json_pack("{s:s,s:o,s:o,s:o}", "id", scene->goals[i].id, "left",
                             count_json(tally->left), "first_time",
                             number_or_null(tally->left ? tally->first_time : none), "last_time",
                             number_or_null(tally->left ? tally->last_time : none)));
    }
    return exits;
}

static json_t *lines_json(const th_world *world) {
    json_t *lines = json_array();
    for (int i = 0; i < th_world_line_count(world); ++i) {
        th_line_count line = th_world_line(world, i);
        double flow = line_flow(&line);
        json_array_append_new(lines, json_pack("{s:s,s:f,s:o,s:o,s:o,s:o}", "id", line.id, "length",
                                               line.length, "forward", count_json(line.forward),
                                               "backward", count_json(line.backward), "flow",
                                               number_or_null(flow), "specific_flow",
                                               number_or_null(flow / line.length)));
    }
    return lines;
}

static json_t *areas_json(const th_run_result *result, const th_world *world) {
    json_t *areas = json_array();
    for (int i = 0; i < result->area_count; ++i) {
        th_area_state state = th_world_area(world, i);
        json_array_append_new(
            areas, json_pack("{s:s,s:f,s:i,s:f,s:f,s:f,s:f}", "id", state.id, "area", state.area,
                             "count", state.count, "density", state.density, "mean_density",
                             mean_density(&result->areas[i]), "highest_density",
                             result->areas[i].highest_density, "mean_speed", state.mean_speed));
    }
    return areas;
}

json_t *th_run_result_json(const th_run_result *result, const th_world *world) {
    const th_statistics *s = &result->statistics;
    const th_scene *scene = th_world_scene(world);
    char hash[17];
    snprintf(hash, sizeof hash, "%016" PRIx64, result->hash);
    json_t *object = json_object();
    json_object_set_new(object, "scene", json_string(th_scene_name(scene)));
    json_object_set_new(object, "file", json_string(result->scene_file));
    json_object_set_new(object, "seed", count_json(result->seed));
    json_object_set_new(object, "interrupted", json_boolean(result->interrupted));
    json_object_set_new(object, "spawned", count_json(s->spawned));
    json_object_set_new(object, "inside", count_json(s->inside));
    json_object_set_new(object, "left", count_json(s->left));
    json_object_set_new(object, "removed", count_json(s->removed));
    json_object_set_new(object, "waiting_to_enter", count_json(s->waiting_to_enter));
    json_object_set_new(object, "egress_time", number_or_null(th_run_result_egress_time(result)));
    json_object_set_new(object, "simulated_time", json_real(s->time));
    json_object_set_new(object, "steps", count_json(s->steps));
    json_object_set_new(object, "wall_seconds", json_real(result->wall_seconds));
    json_object_set_new(object, "hash", json_string(hash));
    json_object_set_new(object, "wall_crossings", count_json(s->wall_crossings));
    json_object_set_new(object, "wall_stops", count_json(s->wall_stops));
    json_object_set_new(object, "largest_overlap", json_real((double)s->largest_overlap));
    json_object_set_new(object, "repairs", count_json(s->repairs));
    json_object_set_new(object, "unreachable", count_json(s->unreachable));
    json_object_set_new(object, "exits", exits_json(result, scene));
    json_object_set_new(object, "lines", lines_json(world));
    json_object_set_new(object, "areas", areas_json(result, world));
    return object;
}
