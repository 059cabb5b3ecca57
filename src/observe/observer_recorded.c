// An observer of a recording: frames instead of a world. Ids become numbers from 1 on in the order of appearance. Lines
// and doors are counted as `throng measure` counts them (walkers.h). A recording does not say where people left: a
// person that vanishes before the end has left through the nearest exit within EXIT_REACH of its last place.
// Cost of a frame: O(people x lines); of a sample also that of the maps. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/memory.h"
#include "observe/findings.h"
#include "observe/observer_parts.h"
#include "observe/survey.h"
#include "observe/walkers.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEVELS_MOST = 64 };
#define EXIT_REACH 2.0 // [m] a second's walk and a body

typedef struct th_recorded_watch {
    th_walkers *walkers;
    th_line_watch *lines; // of every counter; exits have none
    int line_count;
    double first, last; // [s] of the frames so far
    double frame;       // [s] between the last two
    double *times;      // of the samples
    int time_room;
    // The frame as the observer wants it.
    th_moment now;
    int room;
    int64_t *id;
    double *x, *y, *velocity_x, *velocity_y, *start;
    int32_t *level, *phase, *group;
    int *order;
} th_recorded_watch;

void th_recorded_watch_destroy(th_recorded_watch *w) {
    if (!w) return;
    th_walkers_destroy(w->walkers);
    for (int k = 0; w->lines && k < w->line_count; ++k) th_line_release(&w->lines[k]);
    void *arrays[] = {w->lines,      w->times, w->id,    w->x,     w->y,     w->velocity_x,
                      w->velocity_y, w->start, w->level, w->phase, w->group, w->order};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; ++k) free(arrays[k]);
    free(w);
}

static th_result no_memory(th_error *error) {
    return th_fail(error, TH_NO_MEMORY, "", "no memory for what is measured of the recording");
}

static th_point corner(th_vec2 p) { return (th_point){(double)p.x, (double)p.y}; }

// Counted as `throng measure` counts; stairs are counted at samples, exits at the end.
static bool is_line(const th_counter *counter) {
    return counter->kind == TH_COUNT_DOOR || counter->kind == TH_COUNT_LINE;
}

bool th_recorded_watch_create(th_observer *observer) {
    const th_scene_view *scene = observer->scene;
    const th_observation *o = &observer->observation;
    th_recorded_watch *w = observer->recorded = calloc(1, sizeof *w);
    if (!w) return false;
    w->line_count = o->counter_count;
    w->walkers = th_walkers_create();
    w->lines = calloc((size_t)o->counter_count + 1, sizeof *w->lines);
    if (!w->walkers || !w->lines) return false;
    for (int c = 0; c < o->counter_count; ++c) {
        int index = observer->counter_index[c];
        if (!is_line(&o->counters[c])) continue;
        const th_line *line = o->counters[c].kind == TH_COUNT_DOOR
                                  ? &scene->doors[index].line
                                  : &scene->measure_lines[index].line;
        w->lines[c] =
            (th_line_watch){.a = corner(line->a), .b = corner(line->b), .level = line->level};
    }
    return true;
}

// ---- a frame

static bool make_room(th_recorded_watch *w, int count) {
    if (count <= w->room) return true;
    int room = count + count / 2 + 64;
    if (!TH_RESIZE(w->id, room) || !TH_RESIZE(w->x, room) || !TH_RESIZE(w->y, room) ||
        !TH_RESIZE(w->velocity_x, room) || !TH_RESIZE(w->velocity_y, room) ||
        !TH_RESIZE(w->start, room) || !TH_RESIZE(w->level, room) || !TH_RESIZE(w->phase, room) ||
        !TH_RESIZE(w->group, room) || !TH_RESIZE(w->order, room))
        return false;
    w->room = room;
    return true;
}

// Positions from the scene's origin; levels that the scene does not have are the first.
static void copy_frame(th_observer *observer, const th_moment *m) {
    th_recorded_watch *w = observer->recorded;
    const th_scene_view *scene = observer->scene;
    for (int i = 0; i < m->count; ++i) {
        int32_t level = th_moment_level(m, i);
        w->x[i] = th_moment_x(m, i) - scene->origin.x;
        w->y[i] = th_moment_y(m, i) - scene->origin.y;
        w->velocity_x[i] = m->velocity_x ? m->velocity_x[i] : (double)NAN;
        w->velocity_y[i] = m->velocity_y ? m->velocity_y[i] : (double)NAN;
        w->level[i] = level >= 0 && level < scene->level_count ? level : 0;
        w->phase[i] = m->phase ? m->phase[i] : (int32_t)TH_PHASE_WALKING;
        w->group[i] =
            m->group && m->group[i] >= 0 && m->group[i] < scene->group_count ? m->group[i] : 0;
    }
    w->now = (th_moment){.number = m->number,
                         .time = m->time,
                         .count = m->count,
                         .id = m->id,
                         .x = w->x,
                         .y = w->y,
                         .velocity_x = w->velocity_x,
                         .velocity_y = w->velocity_y,
                         .level = w->level,
                         .phase = w->phase,
                         .group = w->group};
}

// ---- a sample: all people in the order of the new ids

typedef struct arrival {
    int64_t id;
    int at;
} arrival;

static int by_id(const void *a, const void *b) {
    const arrival *p = a, *q = b;
    return (p->id > q->id) - (p->id < q->id);
}

static bool renumber(th_recorded_watch *w) {
    int count = w->now.count;
    arrival *list = malloc(((size_t)count + 1) * sizeof *list);
    double *copy = malloc(((size_t)count + 1) * sizeof *copy);
    int32_t *whole = malloc(((size_t)count + 1) * sizeof *whole);
    bool made = list && copy && whole;
    for (int i = 0; made && i < count; ++i) list[i] = (arrival){w->walkers->now[i] + 1, i};
    if (made) qsort(list, (size_t)count, sizeof *list, by_id);
    double *reals[] = {w->x, w->y, w->velocity_x, w->velocity_y};
    for (int a = 0; made && a < 4; ++a) {
        for (int i = 0; i < count; ++i) copy[i] = reals[a][list[i].at];
        memcpy(reals[a], copy, (size_t)count * sizeof *copy);
    }
    int32_t *numbers[] = {w->level, w->phase, w->group};
    for (int a = 0; made && a < 3; ++a) {
        for (int i = 0; i < count; ++i) whole[i] = numbers[a][list[i].at];
        memcpy(numbers[a], whole, (size_t)count * sizeof *whole);
    }
    for (int i = 0; made && i < count; ++i) {
        w->id[i] = list[i].id;
        w->start[i] = w->walkers->all[list[i].id - 1].first_time;
    }
    w->now.id = w->id;
    w->now.start_time = w->start;
    free(list);
    free(copy);
    free(whole);
    return made;
}

static bool take_series(th_observer *observer) {
    th_observation *o = &observer->observation;
    th_recorded_watch *w = observer->recorded;
    int n = o->sample_count;
    if (!th_series_grow(o) || !TH_RESERVE(w->times, w->time_room, n + 1)) return false;
    w->times[n] = w->now.time;
    o->spawned[n] = (uint32_t)w->walkers->count;
    o->inside[n] = (uint32_t)w->now.count;
    o->left[n] = o->spawned[n] - o->inside[n];
    o->overlapping[n] = 0;
    for (int a = 0; a < o->area_count; ++a) {
        th_area_reading reading = {0};
        if (!th_area_read(observer, &w->now, a, &reading)) return false;
        o->areas[a].density[n] = (float)reading.density;
        o->areas[a].speed[n] = (float)reading.speed;
    }
    return true;
}

th_result th_observer_see_moment(th_observer *observer, const th_moment *m, th_error *error) {
    th_recorded_watch *w = observer->recorded;
    th_observation *o = &observer->observation;
    if (!make_room(w, m->count)) return no_memory(error);
    copy_frame(observer, m);
    if (!th_walkers_see(w->walkers, &w->now)) return no_memory(error);
    for (int c = 0; c < w->line_count; ++c)
        if (is_line(&o->counters[c]) && !th_line_see(&w->lines[c], w->walkers, &w->now))
            return no_memory(error);
    if (w->walkers->moments == 1) {
        w->first = o->start = m->time;
        observer->last_sample_time = observer->last_load_time = m->time;
    }
    w->frame = m->time - w->last;
    w->last = m->time;
    if (m->time < o->start + o->sample_count * o->interval - 0.5 * w->frame) return TH_OK;
    if (!renumber(w) || !take_series(observer)) return no_memory(error);
    return th_observer_take_moment(observer, &w->now, m->time, error);
}

// ---- the end

static double distance_to_exit(const th_goal *goal, double x, double y) {
    if (goal->is_line) {
        double dx = (double)(goal->line.b.x - goal->line.a.x);
        double dy = (double)(goal->line.b.y - goal->line.a.y);
        double px = x - (double)goal->line.a.x, py = y - (double)goal->line.a.y;
        double t = fmin(fmax((px * dx + py * dy) / (dx * dx + dy * dy), 0.0), 1.0);
        return hypot(px - t * dx, py - t * dy);
    }
    const th_box *box = &goal->area.shape.box;
    double dx = fmax(fmax((double)box->min_x - x, x - (double)box->max_x), 0.0);
    double dy = fmax(fmax((double)box->min_y - y, y - (double)box->max_y), 0.0);
    return hypot(dx, dy);
}

// The counter of the nearest exit within reach; -1: none.
static int exit_of(const th_observer *observer, const th_walker *walker) {
    const th_observation *o = &observer->observation;
    double least = EXIT_REACH;
    int nearest = -1;
    for (int c = 0; c < o->counter_count; ++c) {
        if (o->counters[c].kind != TH_COUNT_EXIT || o->counters[c].level != walker->level) continue;
        double away = distance_to_exit(&observer->scene->goals[observer->counter_index[c]],
                                       walker->x, walker->y);
        if (away >= least) continue;
        least = away;
        nearest = c;
    }
    return nearest;
}

// Counts a crossing from its sample on.
static void count_from(const th_observer *observer, int c, double time, bool forward) {
    const th_observation *o = &observer->observation;
    th_counter *counter = &o->counters[c];
    for (int n = o->sample_count - 1; n >= 0 && observer->recorded->times[n] >= time; --n)
        forward ? counter->forward[n]++ : counter->backward[n]++;
    forward ? counter->forward_total++ : counter->backward_total++;
    counter->first_time = fmin(counter->first_time, time);
    counter->last_time = fmax(counter->last_time, time);
}

th_result th_observer_finish_recording(th_observer *observer, th_error *error) {
    th_recorded_watch *w = observer->recorded;
    th_observation *o = &observer->observation;
    for (int c = 0; c < o->counter_count; ++c)
        for (int n = 0; n < o->sample_count && o->counters[c].kind != TH_COUNT_STAIRS; ++n)
            o->counters[c].forward[n] = o->counters[c].backward[n] = 0;
    for (int c = 0; c < o->counter_count; ++c) {
        th_line_watch *line = &w->lines[c];
        if (!is_line(&o->counters[c])) continue;
        if (!th_line_finish(line, w->walkers, w->frame, w->last)) return no_memory(error);
        for (int k = 0; k < line->count; ++k)
            count_from(observer, c, line->crossings[k].time, line->crossings[k].forward);
    }
    uint64_t inside = 0;
    for (int p = 0; p < w->walkers->count; ++p) {
        const th_walker *walker = &w->walkers->all[p];
        if (walker->last_time > w->last - 0.5 * w->frame) {
            inside++;
            continue;
        }
        int c = exit_of(observer, walker);
        // The person was still inside when last seen.
        if (c >= 0) count_from(observer, c, walker->last_time + 0.5 * w->frame, true);
        int exit = c < 0 ? -1 : observer->counter_index[c];
        if (p < o->person_count &&
            !th_person_leaves(observer, (uint32_t)p + 1, exit, walker->last_time))
            return no_memory(error);
    }
    o->statistics = (th_statistics){.time = w->last,
                                    .spawned = (uint64_t)w->walkers->count,
                                    .inside = inside,
                                    .left = (uint64_t)w->walkers->count - inside};
    o->done = inside == 0;
    return TH_OK;
}

// ---- findings of a recording

// A scene with the walkable area that is known, for the maps.
static th_result scene_of(const th_trajectory_info *info, const char *walkable, th_scene **scene,
                          th_error *error) {
    th_level_def levels[LEVELS_MOST] = {0};
    th_shape shapes[LEVELS_MOST] = {0};
    th_scene_def def = th_scene_def_default();
    int count = info->level_count < LEVELS_MOST ? info->level_count : LEVELS_MOST;
    if (count < 1) count = 1;
    for (int l = 0; l < count; ++l) {
        bool known = l < info->level_count;
        const char *wkt = walkable ? walkable : known ? info->levels[l].wkt : NULL;
        levels[l] = th_level_def_default();
        levels[l].id = known ? info->levels[l].id : "0";
        levels[l].z = known ? info->levels[l].z : 0.0;
        if (!wkt) continue;
        shapes[l].wkt = wkt;
        levels[l].walkable = &shapes[l];
        levels[l].walkable_count = 1;
    }
    def.name = "recording";
    def.levels = levels;
    def.level_count = count;
    def.no_files = true;
    return th_scene_create(&def, scene, error);
}

static th_box box_of(const th_trajectory_info *info, const th_scene_view *scene) {
    return (th_box){(float)(info->min_x - scene->origin.x) - 1.0f,
                    (float)(info->min_y - scene->origin.y) - 1.0f,
                    (float)(info->max_x - scene->origin.x) + 1.0f,
                    (float)(info->max_y - scene->origin.y) + 1.0f};
}

static th_result watch_motion(th_observer *observer, th_motion *motion, th_error *error) {
    th_result result = TH_OK;
    while (result == TH_OK) {
        th_moment moment;
        result = th_motion_next(motion, &moment, error);
        if (result != TH_OK || moment.count < 0) break;
        result = th_observer_see_moment(observer, &moment, error);
    }
    return result == TH_OK ? th_observer_finish_recording(observer, error) : result;
}

th_result th_recording_observer_create(const th_trajectory_info *info, const char *walkable,
                                       th_scene **scene, th_observer **observer, th_error *error) {
    *scene = NULL;
    *observer = NULL;
    th_result result = scene_of(info, walkable, scene, error);
    if (result != TH_OK) return result;
    const th_scene_view *plan = th_scene_view_of(*scene);
    th_box boxes[LEVELS_MOST];
    for (int l = 0; l < plan->level_count; ++l)
        boxes[l] = plan->levels[l].bounded ? plan->levels[l].box : box_of(info, plan);
    th_observer_def watched = th_observer_def_default();
    watched.track_count = 0;
    result = th_observer_create_for(plan, &watched, boxes, observer, error);
    if (result == TH_OK) return result;
    th_scene_destroy(*scene);
    *scene = NULL;
    return result;
}

th_result th_recording_observe(const char *path, const th_motion_def *def, const char *walkable,
                               th_scene **scene, th_observer **observer, th_error *error) {
    th_motion *motion = NULL;
    *scene = NULL;
    *observer = NULL;
    th_result result = th_motion_open(path, def, &motion, error);
    if (result == TH_OK)
        result =
            th_recording_observer_create(th_motion_about(motion), walkable, scene, observer, error);
    if (result == TH_OK) result = watch_motion(*observer, motion, error);
    th_motion_close(motion);
    if (result == TH_OK) return result;
    th_observer_destroy(*observer);
    th_scene_destroy(*scene);
    *observer = NULL;
    *scene = NULL;
    return result;
}

th_result th_recording_findings(const char *path, const char *walkable, th_findings **findings,
                                th_error *error) {
    th_motion_def def = th_motion_def_default();
    th_scene *scene;
    th_observer *observer;
    *findings = NULL;
    th_result result = th_recording_observe(path, &def, walkable, &scene, &observer, error);
    if (result == TH_OK)
        result = th_observation_findings(th_scene_view_of(scene), NULL,
                                         th_observer_observation(observer), true, findings, error);
    th_observer_destroy(observer);
    th_scene_destroy(scene);
    return result;
}
