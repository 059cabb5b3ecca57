// Cases, people and samples of the verification tests. SPDX-License-Identifier: Apache-2.0
#include "validate/suite_parts.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/statistics.h"
#include "draw/plan_drawing.h"
#include "throng/scene_view.h"
#include "validate/corridors.h"
#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- words and verdicts

static void append(char *text, size_t size, const char *format, va_list arguments) {
    size_t used = strlen(text);
    if (used + 1 < size) vsnprintf(text + used, size - used, format, arguments);
}

void th_trial_say(th_trial *trial, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    append(trial->outcome->measured, sizeof trial->outcome->measured, format, arguments);
    va_end(arguments);
}

void th_trial_remark(th_trial *trial, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    append(trial->outcome->remark, sizeof trial->outcome->remark, format, arguments);
    va_end(arguments);
}

void th_trial_judge(th_trial *trial, bool holds) {
    if (!holds)
        trial->outcome->verdict = TH_FAIL;
    else if (!trial->judged)
        trial->outcome->verdict = TH_PASS;
    trial->judged = true;
}

void th_trial_fail(th_trial *trial, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *text = trial->outcome->remark;
    if (*text) th_trial_remark(trial, "; ");
    append(text, sizeof trial->outcome->remark, format, arguments);
    va_end(arguments);
    th_trial_judge(trial, false);
}

void th_trial_report(th_trial *trial) {
    if (!trial->judged) trial->outcome->verdict = TH_REPORTED;
    trial->judged = true;
}

bool th_trial_failed(const th_trial *trial) {
    return trial->judged && trial->outcome->verdict == TH_FAIL;
}

// ---- scenes

static const th_embedded_scene *find_scene(const char *stem) {
    for (int i = 0; i < th_embedded_scene_count; ++i)
        if (strcmp(th_embedded_scenes[i].stem, stem) == 0) return &th_embedded_scenes[i];
    return NULL;
}

enum { GROUPS = 16, OVERRIDES = 80, WORDS = 400 };

typedef struct override_list {
    char words[4 * GROUPS][WORDS];
    const char *items[OVERRIDES];
    int count;
} override_list;

static void override_models(override_list *list, const th_suite_setup *setup,
                            const th_embedded_scene *embedded) {
    const char *const keys[] = {"plan", "filter", "move", "behave"};
    const char *const values[] = {setup->plan, setup->filter, setup->move, setup->behave};
    json_t *root = json_loadb((const char *)embedded->text, embedded->length, 0, NULL);
    const json_t *groups = json_object_get(root, "groups");
    const char *usual = th_models(NULL)[th_stage_default_model(TH_STAGE_PLAN)]->name;
    bool usual_plan = setup->plan && strcmp(setup->plan, usual) == 0;
    for (int g = 0; g < (int)json_array_size(groups) && g < GROUPS; ++g) {
        // Tests of a behaviour keep theirs, and the plan that is usual with it.
        bool behaves = json_object_get(json_array_get(groups, (size_t)g), "behave") != NULL;
        for (int k = 0; k < 4; ++k) {
            if (!values[k] || (behaves && (k == 3 || (k == 0 && usual_plan)))) continue;
            char *words = list->words[list->count];
            snprintf(words, WORDS, "groups[%d].%s=%s", g, keys[k], values[k]);
            list->items[list->count++] = words;
        }
    }
    json_decref(root);
}

static void take_error(th_trial *trial, const char *stem, const th_error *error) {
    th_trial_fail(trial, "%s: %s%s%s", stem, error->path, *error->path ? ": " : "", error->message);
}

static bool open_case(th_case *one, th_trial *trial, const char *stem, uint64_t seed, int threads,
                      const th_suite_setup *setup, const char *const *overrides) {
    *one = (th_case){.trial = trial};
    const th_embedded_scene *embedded = find_scene(stem);
    override_list *list = calloc(1, sizeof *list);
    if (!embedded || !list) {
        free(list);
        th_trial_fail(trial, "%s: no such scene, or no memory", stem);
        return false;
    }
    if (setup) override_models(list, setup, embedded);
    for (; overrides && *overrides && list->count < OVERRIDES; ++overrides)
        list->items[list->count++] = *overrides;
    th_scene_options options = {.overrides = list->items, .override_count = list->count};
    th_error error = {0};
    th_world_def def = th_world_def_default();
    def.threads = threads;
    def.seed = seed;
    bool good = th_scene_load_json((const char *)embedded->text, embedded->length, stem, NULL,
                                   &options, &one->scene, &error) == TH_OK &&
                th_world_create(one->scene, &def, &one->world, &error) == TH_OK;
    free(list);
    if (!good) {
        take_error(trial, stem, &error);
        th_case_close(one);
    }
    trial->outcome->runs += good;
    return good;
}

bool th_case_open(th_case *one, th_trial *trial, const char *stem, uint64_t seed,
                  const char *const *overrides) {
    return open_case(one, trial, stem, seed, 1, trial->setup, overrides);
}

bool th_case_open_as_is(th_case *one, th_trial *trial, const char *stem, uint64_t seed, int threads,
                        const char *const *overrides) {
    return open_case(one, trial, stem, seed, threads, NULL, overrides);
}

void th_case_close(th_case *one) {
    th_world_moment_release(&one->now);
    th_world_destroy(one->world);
    // The picture keeps the scene alive.
    if (!one->trial || one->trial->outcome->picture.scene != one->scene)
        th_scene_destroy(one->scene);
    one->world = NULL;
    one->scene = NULL;
}

// ---- running

static void look_after(th_case *one) {
    th_statistics now = th_world_statistics(one->world);
    if (now.wall_crossings > 0) th_trial_fail(one->trial, "a person was found in a wall");
    if (now.spawned != now.inside + now.left + now.removed)
        th_trial_fail(one->trial, "a person was lost");
}

bool th_case_step(th_case *one, double limit) {
    if (th_trial_failed(one->trial)) return false;
    if (th_world_done(one->world) || th_world_time(one->world) >= limit) return false;
    th_world_step(one->world, 1);
    // Once a second, and at the end, where the last people are.
    if (++one->steps % 10 == 0 || th_world_done(one->world)) look_after(one);
    return true;
}

double th_case_finish(th_case *one, double limit) {
    while (th_case_step(one, limit)) {
    }
    th_statistics now = th_world_statistics(one->world);
    if (!th_world_done(one->world) && !th_trial_failed(one->trial))
        th_trial_fail(one->trial, "%" PRIu64 " of %" PRIu64 " people still inside after %.0f s",
                      now.inside, now.spawned, now.time);
    return th_world_time(one->world);
}

void th_case_picture(th_case *one) {
    th_suite_picture *picture = &one->trial->outcome->picture;
    if (picture->scene) return;
    int doors = th_scene_view_of(one->scene)->door_count;
    picture->door_closed = calloc((size_t)doors + 1, sizeof *picture->door_closed);
    bool good = picture->door_closed && th_world_moment_take(&picture->crowd, one->world, TH_DRAWN);
    if (!good) { // a report without this picture
        th_world_moment_release(&picture->crowd);
        free(picture->door_closed);
        *picture = (th_suite_picture){0};
        return;
    }
    picture->time = th_world_time(one->world);
    for (int d = 0; d < doors; ++d) {
        picture->door_closed[d] = th_scene_view_of(one->scene)->doors[d].closed;
        for (int k = 0; k < th_scene_view_of(one->scene)->doors[d].schedule_count; ++k)
            if (th_scene_view_of(one->scene)->doors[d].schedule[k].time <= picture->time)
                picture->door_closed[d] = !th_scene_view_of(one->scene)->doors[d].schedule[k].open;
    }
    picture->left = th_world_statistics(one->world).left;
    picture->scene = one->scene;
}

void th_case_picture_at(th_case *one, double time) {
    while (th_case_step(one, time)) {
    }
    th_case_picture(one);
}

// ---- people

int th_case_everybody(th_case *one, th_person_now *people, int most) {
    const unsigned known = TH_KNOW_LEVEL | TH_KNOW_VELOCITY | TH_KNOW_PHASE | TH_KNOW_GROUP |
                           TH_KNOW_BODY | TH_KNOW_WAIT;
    const th_moment *now = &one->now.moment;
    if (!th_world_moment_take(&one->now, one->world, known) || now->count > most) {
        th_trial_fail(one->trial, "no memory to look at %d people",
                      th_world_agent_count(one->world));
        return 0;
    }
    for (int i = 0; i < now->count; ++i)
        people[i] = (th_person_now){now->x[i],
                                    now->y[i],
                                    now->velocity_x[i],
                                    now->velocity_y[i],
                                    now->preferred_speed[i],
                                    now->wait_until[i],
                                    (uint32_t)now->id[i],
                                    (uint32_t)th_moment_level(now, i),
                                    (uint32_t)now->group[i],
                                    (uint32_t)now->phase[i]};
    return now->count;
}

bool th_case_find(th_case *one, uint32_t id, th_person_now *found) {
    enum { FEW = 64 }; // tests that follow one person have few people
    th_person_now people[FEW];
    int count = th_case_everybody(one, people, FEW);
    for (int i = 0; i < count; ++i) {
        if (people[i].id != id) continue;
        *found = people[i];
        return true;
    }
    return false;
}

double th_case_time_to_come(th_case *one, uint32_t id, double x, double y, double direction_x,
                            double direction_y, double distance, double limit) {
    double before = 0, time_before = th_world_time(one->world);
    th_person_now p;
    while (th_case_find(one, id, &p)) {
        double along = (p.x - x) * direction_x + (p.y - y) * direction_y;
        double time = th_world_time(one->world);
        if (along >= distance)
            return along > before
                       ? time_before + (time - time_before) * (distance - before) / (along - before)
                       : time;
        before = along;
        time_before = time;
        if (!th_case_step(one, limit)) break;
    }
    th_trial_fail(one->trial, "person %u did not come %g m within %g s", id, distance, limit);
    return (double)NAN;
}

th_line_count th_case_line(th_case *one, const char *id) {
    for (int i = 0; i < th_world_line_count(one->world); ++i) {
        th_line_count line = th_world_line(one->world, i);
        if (strcmp(line.id, id) == 0) return line;
    }
    th_trial_fail(one->trial, "the scene has no line %s", id);
    return (th_line_count){.id = id};
}

th_area_state th_case_area(th_case *one, const char *id) {
    for (int i = 0; i < th_world_area_count(one->world); ++i) {
        th_area_state area = th_world_area(one->world, i);
        if (strcmp(area.id, id) == 0) return area;
    }
    th_trial_fail(one->trial, "the scene has no area %s", id);
    return (th_area_state){.id = id};
}

// ---- samples

int th_trial_series(th_trial *trial, const char *name, const char *unit, const char *unit_x,
                    double low, double high) {
    th_outcome *outcome = trial->outcome;
    // Beyond the limit the last series is reused: a figure lacks a line instead of the program crashing.
    int number =
        outcome->series_count < TH_SERIES_MAX ? outcome->series_count++ : TH_SERIES_MAX - 1;
    th_series *series = &outcome->series[number];
    snprintf(series->name, sizeof series->name, "%s", name);
    series->unit = unit;
    series->unit_x = unit_x;
    series->low = low;
    series->high = high;
    return number;
}

void th_trial_point(th_trial *trial, int number, double x, double y) {
    th_series *series = &trial->outcome->series[number];
    if (!TH_RESERVE_ONE(series->x, series->count) || !TH_RESERVE_ONE(series->y, series->count)) {
        th_trial_fail(trial, "no memory for a sample");
        return;
    }
    series->x[series->count] = x;
    series->y[series->count++] = y;
}

void th_trial_value(th_trial *trial, int number, double value) {
    th_trial_point(trial, number, trial->outcome->series[number].count + 1, value);
}

double th_series_mean(const th_series *series) { return th_mean(series->y, series->count); }

double th_series_deviation(const th_series *series) {
    return series->count > 1 ? th_standard_deviation(series->y, series->count) : 0;
}

double th_trial_mean_egress(th_trial *trial, const char *name, const char *stem,
                            const char *const *overrides, double limit, double picture) {
    int series = th_trial_series(trial, name, "s", NULL, (double)NAN, (double)NAN);
    for (int seed = 1; seed <= trial->setup->crowds && !th_trial_failed(trial); ++seed) {
        th_case one;
        if (!th_case_open(&one, trial, stem, (uint64_t)seed, overrides)) break;
        if (seed == 1 && picture > 0) th_case_picture_at(&one, picture);
        th_trial_value(trial, series, th_case_finish(&one, limit));
        th_case_close(&one);
    }
    return th_series_mean(&trial->outcome->series[series]);
}

double th_kolmogorov(double *values, int count, double (*cumulative)(double x, const void *context),
                     const void *context) {
    if (count < 1) return 0;
    th_sort_values(values, count);
    double largest = 0, n = count;
    for (int i = 0; i < count; ++i) {
        double expected = cumulative(values[i], context);
        largest = fmax(largest, fmax(expected - i / n, (i + 1) / n - expected));
    }
    // Stephens 1970: good for all sample sizes above four.
    double t = largest * (sqrt(n) + 0.12 + 0.11 / sqrt(n)), sum = 0;
    if (t < 0.2) return 1; // the series below does not converge there
    for (int k = 1; k <= 100; ++k) sum += (k % 2 ? 2 : -2) * exp(-2.0 * k * k * t * t);
    return fmin(fmax(sum, 0), 1);
}

char *th_lane_positions(int count) {
    enum { ONE = 24 };
    static const char key[] = "groups[0].positions=[";
    char *text = malloc(sizeof key + (size_t)count * ONE + 2), *at = text;
    if (!text) return NULL;
    at += sprintf(at, "%s", key);
    for (int i = 0; i < count; ++i) at += sprintf(at, "%s[1,%d]", i ? "," : "", 1 + 2 * i);
    sprintf(at, "]");
    return text;
}

// ---- a corridor without ends

// Models in a scene file are names or objects; th_periodic_def wants the JSON text of either.
static void quoted(const char *model, char *text, size_t size) {
    bool object = model && *model == '{';
    snprintf(text, size, object ? "%s" : "\"%s\"", model ? model : "none");
}

bool th_trial_corridor_speed(th_trial *trial, double density, double width, double *speed) {
    char filter[400], move[400];
    quoted(trial->setup->filter, filter, sizeof filter);
    quoted(trial->setup->move, move, sizeof move);
    th_periodic_def def = th_periodic_def_default(filter, move, density);
    th_periodic_result result;
    th_error error = {0};
    def.length =
        26; // JuPedSim's corridor; a warm-up of 40 s replaces its 1000 m and the seconds it drops
    def.width = width;
    def.step = 0.1;
    if (th_periodic_run(&def, &result, &error) != TH_OK) {
        th_trial_fail(trial, "%g people/m2: %s", density, error.message);
        return false;
    }
    trial->outcome->runs++;
    *speed = result.speed;
    return true;
}
