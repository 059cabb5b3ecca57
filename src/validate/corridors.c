// Scenes of corridors, how they are measured, order of lanes. SPDX-License-Identifier: Apache-2.0
#include "validate/corridors.h"
#include "core/error.h"
#include "throng/scene_view.h"
#include "validate/recorded_run.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- scenes

// Free speed: 1.36 m/s, standard deviation 0.15, as these people walk below 0.5 /m2 (measured.c). The ground
// between entrance and corridor is as wide as people are seen to use it.
static const char ONE_WAY[] =
    "// One way through a corridor of 1.8 m, as in the Hermes experiments of 2009 (Zhang et al. "
    "2011): people "
    "come\n"
    "// through an entrance of %.2f m at y = 8, walk towards -y, and leave the corridor through an "
    "exit of "
    "%.2f m\n"
    "// at y = -4. Run %s. SPDX-License-Identifier: Apache-2.0\n"
    "{\n"
    "  \"name\": \"corridor %s\",\n"
    "  \"levels\": [{\n"
    "    \"walkable\": [{\"rect\": [-0.6, 4, 2.4, 8]}, {\"rect\": [0, -4, 1.8, 4]}, {\"rect\": "
    "[-0.6, -8, "
    "2.4, -4]}],\n"
    "    \"walls\": [%s]\n"
    "  }],\n"
    "  \"exits\": [{\"id\": \"out\", \"line\": [[-0.6, -8], [2.4, -8]]}],\n"
    "  \"groups\": [{\n"
    "    \"id\": \"people\",\n"
    "    \"source\": {\"rate\": %g, \"until\": %g},\n"
    "    \"area\": {\"rect\": [%.3f, 7, %.3f, 8]},\n"
    "    \"speed\": {\"normal\": [1.36, 0.15]},\n"
    "    \"to\": \"out\"%s\n"
    "  }],\n"
    "  \"measure\": {\"areas\": [{\"id\": \"box\", \"area\": {\"rect\": [0, -2, 1.8, 0]}}]},\n"
    "  \"run\": {\"step\": 0.0625, \"duration\": %g}\n"
    "}\n";

static char *print(const char *format, ...) __attribute__((format(printf, 1, 2)));
static char *print(const char *format, ...) {
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0) text = NULL;
    va_end(arguments);
    return text;
}

char *th_corridor_one_way(const th_uo180_run *run, const th_corridor_people *people) {
    double low = 0.9 - run->exit / 2, high = 0.9 + run->exit / 2;
    char walls[160] = "";
    if (run->exit < 1.8)
        snprintf(walls, sizeof walls, "[[0, -4], [%.3f, -4]], [[%.3f, -4], [1.8, -4]]", low, high);
    char choice[TH_CHOICE_TEXT];
    th_choice_text(&people->choice, ",\n    ", choice);
    return print(ONE_WAY, run->entrance, run->exit, run->name, run->name, walls, run->inflow,
                 people->inflow_time, 0.9 - run->entrance / 2, 0.9 + run->entrance / 2, choice,
                 people->inflow_time);
}

static const char BOTH_WAYS[] =
    "// Two crowds through each other in a corridor of 4 m, as in the BaSiGo experiment "
    "bi_corr_400_b_03 "
    "of 2013.\n"
    "// SPDX-License-Identifier: Apache-2.0\n"
    "{\n"
    "  \"name\": \"corridor both ways\",\n"
    "  \"levels\": [{\"walkable\": {\"rect\": [-8, 0, 8, 4]}}],\n"
    "  \"exits\": [{\"id\": \"west\", \"line\": [[-8, 0], [-8, 4]]},\n"
    "            {\"id\": \"east\", \"line\": [[8, 0], [8, 4]]}],\n"
    "  \"groups\": [\n"
    "    {\"id\": \"eastward\", \"source\": {\"rate\": %g, \"until\": %g}, \"area\": {\"rect\": "
    "[-8, 0, "
    "-6, 4]},\n"
    "     \"to\": \"east\"%s},\n"
    "    {\"id\": \"westward\", \"source\": {\"rate\": %g, \"until\": %g}, \"area\": {\"rect\": "
    "[6, 0, 8, "
    "4]},\n"
    "     \"to\": \"west\"%s}\n"
    "  ],\n"
    "  \"measure\": {\"areas\": [{\"id\": \"box\", \"area\": {\"rect\": [-1, 0, 1, 4]}}]},\n"
    "  \"run\": {\"step\": 0.0625, \"duration\": %g}\n"
    "}\n";

char *th_corridor_both_ways(double rate, const th_corridor_people *people) {
    char choice[TH_CHOICE_TEXT];
    th_choice_text(&people->choice, ", ", choice);
    return print(BOTH_WAYS, rate, people->inflow_time, choice, rate, people->inflow_time, choice,
                 people->inflow_time);
}

// Free speed: 1.38 m/s, as these people walk below 0.5 /m2 (measured.h); its spread is that of uo180, the same
// people. They come in over 1 m, 1 m from the ends of the corridor, and leave 2 m behind them.
static const char TWO_WAY_300[] =
    "{\n"
    "  \"name\": \"two way, 3 m\",\n"
    "  \"levels\": [{\"walkable\": {\"rect\": [0, -7, 3, 7]}}],\n"
    "  \"exits\": [{\"id\": \"up\", \"line\": [[0, 7], [3, 7]]},\n"
    "            {\"id\": \"down\", \"line\": [[0, -7], [3, -7]]}],\n"
    "  \"groups\": [\n"
    "    {\"source\": {\"rate\": %g, \"until\": %g}, \"area\": {\"rect\": [%g, -6, %g, -5]},\n"
    "     \"speed\": {\"normal\": [1.38, 0.15]}, \"to\": \"up\"%s},\n"
    "    {\"source\": {\"rate\": %g, \"until\": %g}, \"area\": {\"rect\": [%g, 5, %g, 6]},\n"
    "     \"speed\": {\"normal\": [1.38, 0.15]}, \"to\": \"down\"%s}\n"
    "  ],\n"
    "  \"run\": {\"step\": 0.0625, \"duration\": %g}\n"
    "}\n";

char *th_corridor_two_way_300(const th_two_way_run *run, const th_corridor_people *people) {
    char choice[TH_CHOICE_TEXT];
    th_choice_text(&people->choice, ", ", choice);
    double low = 1.5 - run->entrance / 2, high = 1.5 + run->entrance / 2, end = people->inflow_time;
    return print(TWO_WAY_300, run->flow_up, end, low, high, choice, run->flow_down, end, low, high,
                 choice, end);
}

// ---- measured

static th_result measure(const char *path, double fps, const th_corridor_window *window,
                         th_corridor_result *result, th_error *error) {
    th_fundamental_def def = th_fundamental_def_default();
    def.density.method = TH_CLASSIC;
    def.area = window->area;
    def.direction = window->direction;
    def.motion.first = (int64_t)(window->from * fps);
    def.motion.last = (int64_t)(window->until * fps);
    th_fundamental_samples samples;
    th_result done = th_fundamental_read(path, &def, &samples, error);
    if (done != TH_OK) return done;
    result->mean = th_fundamental_mean_of(&samples);
    th_fundamental_bins_add(&samples, TH_CORRIDOR_CLASS, result->bins, TH_CORRIDOR_CLASSES);
    th_fundamental_samples late = samples;
    while (late.count > 0 &&
           late.samples->frame < def.motion.last - (def.motion.last - def.motion.first) / 4)
        ++late.samples, --late.count;
    result->late = th_fundamental_mean_of(&late);
    th_fundamental_release(&samples);
    result->lanes = (double)NAN;
    return window->lanes ? th_lane_order(path, &def.motion, window->lanes, &result->lanes, error)
                         : TH_OK;
}

static th_result run_in(const char *path, const char *scene_text, uint64_t seed,
                        const th_corridor_window *window, th_corridor_result *result,
                        th_error *error) {
    th_scene *scene = NULL;
    th_result done =
        th_scene_load_json(scene_text, strlen(scene_text), "corridor", NULL, NULL, &scene, error);
    if (done != TH_OK) return done;
    th_statistics statistics = {0};
    done = th_record_run(scene, seed, window->until, path, &statistics, error);
    result->waiting = statistics.waiting_to_enter;
    if (done == TH_OK) done = measure(path, 1.0 / scene->run.step, window, result, error);
    th_scene_destroy(scene);
    return done;
}

th_result th_corridor_run(const char *scene, uint64_t seed, const th_corridor_window *window,
                          th_corridor_result *result, th_error *error) {
    *result = (th_corridor_result){0};
    if (!scene) return th_fail(error, TH_NO_MEMORY, "", "no memory for the scene");
    char path[TH_RECORD_PATH];
    th_result done = th_record_folder_make(path, error);
    if (done != TH_OK) return done;
    done = run_in(path, scene, seed, window, result, error);
    th_record_folder_remove(path);
    return done;
}

// ---- lanes

static const double BESIDE = 0.3; // [m] to the side: half the width of a person and a half

// Of person i among those in the area; NaN: nobody beside.
static double order_of(const th_moment *moment, const bool *inside, int i) {
    int like = 0, against = 0;
    for (int j = 0; j < moment->count; ++j) {
        if (j == i || !inside[j] || fabs(moment->y[j] - moment->y[i]) > BESIDE) continue;
        bool same = (moment->velocity_x[j] > 0.0) == (moment->velocity_x[i] > 0.0);
        like += same;
        against += !same;
    }
    if (like + against == 0) return (double)NAN;
    double order = (double)(like - against) / (like + against);
    return order * order;
}

static th_result sum_order(th_motion *motion, const th_region *region, double *sum, double *count,
                           th_error *error) {
    bool *inside = NULL;
    int room = 0;
    th_moment moment;
    th_result result;
    while ((result = th_motion_next(motion, &moment, error)) == TH_OK && moment.count >= 0) {
        if (moment.count > room) {
            room = 2 * moment.count;
            free(inside);
            inside = malloc((size_t)room * sizeof *inside);
            if (!inside) return th_fail(error, TH_NO_MEMORY, "", "no memory for the lanes");
        }
        for (int i = 0; i < moment.count; ++i)
            inside[i] =
                isfinite(moment.velocity_x[i]) && th_region_holds(region, moment.x[i], moment.y[i]);
        for (int i = 0; i < moment.count; ++i) {
            double order = inside[i] ? order_of(&moment, inside, i) : (double)NAN;
            if (!isfinite(order)) continue;
            *sum += order;
            *count += 1.0;
        }
    }
    free(inside);
    return result;
}

th_result th_lane_order(const char *path, const th_motion_def *motion_def, const char *area,
                        double *order, th_error *error) {
    th_motion *motion = NULL;
    th_region *region = NULL;
    double sum = 0.0, count = 0.0;
    th_result result = th_motion_open(path, motion_def, &motion, error);
    if (result == TH_OK) result = th_region_create(NULL, area, &region, error);
    if (result == TH_OK) result = sum_order(motion, region, &sum, &count, error);
    *order = count > 0.0 ? sum / count : (double)NAN;
    th_region_destroy(region);
    th_motion_close(motion);
    return result;
}
