// Runs halls and samples all agents twice a second. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "observe/density.h"
#include "record/moment.h"
#include "throng/live.h"
#include "throng/scene_view.h"
#include "validate/experiments.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double LOOK = 0.5;    // [s] between two looks
static const double COUNT = 2.0;   // [s] between two densities
static const double HELD_UP = 0.2; // of the own speed
static const double DEGREE = 3.14159265358979323846 / 180;

typedef struct walker {
    double begin, end; // [s] when it was first seen walking, and last
    double alone;      // [s] what the way takes alone
    double slow;       // [s] for how long it has been held up
} walker;

typedef struct watcher {
    th_world *world;
    const th_scene_view *scene;
    walker *walkers; // by id
    int room;
    th_hall_found *found;
} watcher;

// ---- scenes

static const th_embedded_hall *find_hall(const char *stem) {
    for (int k = 0; k < th_embedded_hall_count; ++k)
        if (strcmp(th_embedded_halls[k].stem, stem) == 0) return &th_embedded_halls[k];
    return NULL;
}

enum { GROUPS = 8, ITEMS = 64, WORDS = 400 };
typedef struct override_list {
    char words[ITEMS][WORDS];
    const char *items[ITEMS];
    int count;
} override_list;

__attribute__((format(printf, 2, 3))) static void add_override(override_list *list,
                                                               const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (list->count < ITEMS) {
        vsnprintf(list->words[list->count], WORDS, format, arguments);
        list->items[list->count] = list->words[list->count];
        ++list->count;
    }
    va_end(arguments);
}

static void override_models(override_list *list, const th_models_choice *choice, int groups) {
    const char *const keys[] = {"plan", "filter", "move"};
    const char *const values[] = {choice->plan, choice->filter, choice->move};
    for (int g = 0; g < groups && g < GROUPS; ++g)
        for (int k = 0; k < 3; ++k)
            if (values[k]) add_override(list, "groups[%d].%s=%s", g, keys[k], values[k]);
}

// "[[x, y], ...]" of points turned around the origin, counter-clockwise.
static const char *turned(char *text, const th_vec2 *points, int count, double turn) {
    double c = cos(turn), s = sin(turn);
    size_t used = 0;
    for (int k = 0; k < count && used < WORDS; ++k) {
        double x = (double)points[k].x, y = (double)points[k].y;
        used += (size_t)snprintf(text + used, WORDS - used, "%s[%.7f, %.7f]", k ? ", " : "[",
                                 c * x - s * y, s * x + c * y);
    }
    if (used < WORDS) snprintf(text + used, WORDS - used, "]");
    return text;
}

// False: the scene has more than plain ground, exit lines and areas in which groups start.
static bool override_places(override_list *list, const th_scene_view *scene, double turn) {
    char text[WORDS];
    const th_polygons *ground = &scene->levels[0].walkable;
    bool plain = scene->level_count == 1 && ground->ring_count == 1 && scene->door_count == 0 &&
                 scene->group_count <= GROUPS;
    if (!plain) return false;
    const int corners = ground->ring_start[1];
    add_override(list, "levels[0].walkable=%s", turned(text, ground->points, corners, turn));
    for (int g = 0; g < scene->goal_count; ++g) {
        const th_goal *goal = &scene->goals[g];
        const th_vec2 ends[] = {goal->line.a, goal->line.b};
        if (goal->kind != TH_GOAL_EXIT || !goal->is_line) return false;
        add_override(list, "exits[%d].line=%s", g, turned(text, ends, 2, turn));
    }
    for (int g = 0; g < scene->group_count; ++g) {
        const th_polygons *area = &scene->groups[g].area.shape;
        if (area->ring_count != 1) return false;
        add_override(list, "groups[%d].area=%s", g,
                     turned(text, area->points, area->ring_start[1], turn));
    }
    return true;
}

th_result th_hall_load(const th_hall_def *def, const th_models_choice *choice, th_scene **scene,
                       th_error *error) {
    const th_embedded_hall *hall = find_hall(def->stem);
    if (!hall) return th_fail(error, TH_BAD_ARGUMENT, "", "there is no hall '%s'", def->stem);
    const char *text = (const char *)hall->text;
    override_list *list = calloc(1, sizeof *list);
    if (!list) return th_fail(error, TH_NO_MEMORY, "", "no memory for a scene");
    th_result done = th_scene_load_json(text, hall->length, hall->stem, NULL, NULL, scene, error);
    if (done == TH_OK) {
        const th_scene_view *view = th_scene_view_of(*scene);
        override_models(list, choice, view->group_count);
        if (def->turn != 0 && !override_places(list, view, def->turn * DEGREE))
            done = th_fail(error, TH_BAD_ARGUMENT, "", "hall '%s' is not one that can be turned",
                           hall->stem);
    }
    if (done == TH_OK && list->count > 0) {
        const th_scene_options options = {.overrides = list->items, .override_count = list->count};
        th_scene_destroy(*scene);
        *scene = NULL;
        done = th_scene_load_json(text, hall->length, hall->stem, NULL, &options, scene, error);
    }
    free(list);
    return done;
}

// ---- people

static double distance_to_line(th_vec2 p, const th_line *line) {
    double dx = (double)(line->b.x - line->a.x), dy = (double)(line->b.y - line->a.y);
    double px = (double)(p.x - line->a.x), py = (double)(p.y - line->a.y);
    double t = fmin(fmax((px * dx + py * dy) / (dx * dx + dy * dy), 0), 1);
    return hypot(px - t * dx, py - t * dy);
}

static bool may_queue(const th_scene_view *scene, int level, th_vec2 p) {
    for (int d = 0; d < scene->door_count; ++d)
        if (scene->doors[d].line.level == level &&
            distance_to_line(p, &scene->doors[d].line) < TH_HALL_QUEUE)
            return true;
    for (int g = 0; g < scene->goal_count; ++g)
        if (scene->goals[g].is_line && scene->goals[g].line.level == level &&
            distance_to_line(p, &scene->goals[g].line) < TH_HALL_QUEUE)
            return true;
    return false;
}

static bool know(watcher *w, int64_t id) {
    if (id < w->room) return true;
    int room = 2 * (int)id + 1000;
    walker *more = realloc(w->walkers, (size_t)room * sizeof *more);
    if (!more) return false;
    memset(more + w->room, 0, (size_t)(room - w->room) * sizeof *more);
    w->walkers = more;
    w->room = room;
    return true;
}

static void begin(watcher *w, walker *one, const th_moment *now, int i, int level, th_vec2 p) {
    const th_group *group = &w->scene->groups[now->group[i]];
    float way = INFINITY;
    if (group->route_count > 0) th_world_distances(w->world, group->route[0], level, &p, 1, &way);
    one->begin = now->time;
    one->alone = isfinite(way) ? (double)way / now->preferred_speed[i] : 0.0;
}

static bool look(watcher *w, const th_moment *now, bool count) {
    float *densities = count ? th_people_density(w->scene, now) : NULL;
    bool good = densities || !count;
    for (int i = 0; i < now->count && good; ++i) {
        if (now->phase[i] != TH_PHASE_WALKING) continue;
        good = know(w, now->id[i]);
        if (!good) break;
        walker *one = &w->walkers[now->id[i]];
        int level = now->level ? now->level[i] : 0;
        th_vec2 p = {(float)(now->x[i] - w->scene->origin.x),
                     (float)(now->y[i] - w->scene->origin.y)};
        if (one->end == 0) begin(w, one, now, i, level, p);
        one->end = now->time + LOOK;
        bool slow =
            hypot(now->velocity_x[i], now->velocity_y[i]) < HELD_UP * now->preferred_speed[i];
        bool queues = may_queue(w->scene, level, p);
        one->slow = slow && !queues ? one->slow + LOOK : 0;
        w->found->held_up = fmax(w->found->held_up, one->slow);
        if (count && !queues) w->found->density = fmax(w->found->density, (double)densities[i]);
    }
    free(densities);
    return good;
}

static bool watch(watcher *w) {
    const double step = th_world_step_length(w->world);
    const int steps = (int)lround(LOOK / step), looks = (int)lround(COUNT / LOOK);
    const unsigned known = TH_KNOW_VELOCITY | TH_KNOW_PHASE | TH_KNOW_GROUP | TH_KNOW_BODY;
    th_world_moment crowd = {0};
    bool good = true;
    for (int k = 0; good && !th_world_done(w->world); ++k) {
        good = th_world_moment_take(&crowd, w->world, known) &&
               (w->scene->level_count == 1 || th_world_moment_add(&crowd, w->world, TH_KNOW_LEVEL));
        crowd.moment.time = th_world_time(w->world);
        if (good) good = look(w, &crowd.moment, k % looks == 0);
        if (crowd.moment.time >= w->scene->run.max_time) break;
        th_world_step(w->world, steps);
    }
    th_world_moment_release(&crowd);
    return good;
}

static void sum_up(const watcher *w) {
    th_hall_found *found = w->found;
    double sum = 0;
    int people = 0;
    for (int id = 0; id < w->room; ++id) {
        const walker *one = &w->walkers[id];
        if (!(one->end > 0 && one->alone > 1)) continue; // [s]
        sum += (one->end - one->begin) / one->alone;
        ++people;
    }
    found->inside = (int)th_world_statistics(w->world).inside;
    found->time = th_world_time(w->world);
    found->delay = people > 0 ? sum / people : (double)NAN;
    found->first = (double)INFINITY;
    for (int g = 0; g < w->scene->goal_count; ++g) {
        if (w->scene->goals[g].kind != TH_GOAL_EXIT) continue;
        th_exit_count exit = th_world_exit(w->world, g);
        found->first = fmin(found->first, exit.left > 0 ? exit.last_time : 0);
        found->last = fmax(found->last, exit.last_time);
    }
}

th_result th_hall_run(const th_hall_def *hall, const th_models_choice *choice, uint64_t seed,
                      th_hall_found *found, th_error *error) {
    *found = (th_hall_found){0};
    th_scene *scene = NULL;
    th_world *world = NULL;
    th_world_def def = th_world_def_default();
    def.threads = 1;
    def.seed = seed;
    if (hall->step > 0) def.step = hall->step;
    th_result done = th_hall_load(hall, choice, &scene, error);
    if (done == TH_OK) done = th_world_create(scene, &def, &world, error);
    if (done == TH_OK) {
        watcher w = {.world = world, .scene = th_scene_view_of(scene), .found = found};
        if (watch(&w))
            sum_up(&w);
        else
            done = th_fail(error, TH_NO_MEMORY, "", "no memory to watch a crowd");
        free(w.walkers);
    }
    th_world_destroy(world);
    th_scene_destroy(scene);
    return done;
}
