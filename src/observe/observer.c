// Watching a run: series of counts and areas, and the observer that hands each moment to its parts. SPDX-License-Identifier: Apache-2.0
#include "observe/observer.h"
#include "core/error.h"
#include "core/memory.h"
#include "observe/density.h"
#include "observe/observer_parts.h"
#include "record/moment.h"
#include "throng/live.h"
#include <math.h>
#include <stdlib.h>

// ---- series

// The series of a run, one value per sample: people who came, are inside and left, counters of exits, doors and lines,
// density and speed of the scene's measurement areas. Voronoi and Gaussian densities are taken by the code that
// measures recordings; only people near an area are handed over, so the price is theirs and not the crowd's.

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
    size_t most = (size_t)(scene->goal_count + scene->door_count + scene->link_count +
                           scene->measure_line_count) +
                  1;
    observer->observation.counters = calloc(most, sizeof *observer->observation.counters);
    observer->counter_index = calloc(most, sizeof *observer->counter_index);
    if (!observer->observation.counters || !observer->counter_index) return false;
    for (int g = 0; g < scene->goal_count; ++g) {
        const th_goal *goal = &scene->goals[g];
        if (goal->kind == TH_GOAL_EXIT || goal->refuge)
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
    for (int l = 0; l < scene->link_count; ++l) {
        const th_link *link = &scene->links[l];
        const th_line line = {link->level[0], link->a, link->b};
        add_counter(observer, TH_COUNT_STAIRS, link->id, l, line.level, line_length(&line));
        o->counters[o->counter_count - 1].forward_to = "up";
        o->counters[o->counter_count - 1].backward_to = "down";
    }
    for (int l = 0; l < scene->measure_line_count; ++l) {
        const th_line *line = &scene->measure_lines[l].line;
        add_counter(observer, TH_COUNT_LINE, scene->measure_lines[l].id, l, line->level,
                    line_length(line));
        name_sides(&o->counters[o->counter_count - 1], line);
    }
    return true;
}

const char *const th_counter_kind_names[TH_COUNTER_KINDS] = {"exit", "door", "stairs", "line"};

int th_exit_counter(const th_observer *observer, int goal) {
    for (int c = 0; c < observer->observation.counter_count; ++c)
        if (observer->observation.counters[c].kind == TH_COUNT_EXIT &&
            observer->counter_index[c] == goal)
            return c;
    return -1;
}

// Counts and times of every counter as they are now.
void th_counters_read(th_observer *observer, const th_world *world) {
    th_observation *o = &observer->observation;
    for (int c = 0; c < o->counter_count; ++c) {
        th_counter *counter = &o->counters[c];
        int index = observer->counter_index[c];
        if (counter->kind == TH_COUNT_STAIRS) continue; // th_people_sample counts them
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

bool th_area_read(th_observer *observer, const th_moment *moment, int area,
                  th_area_reading *reading) {
    const th_density_def def = th_density_def_default();
    *reading = (th_area_reading){.density = (double)NAN, .speed = (double)NAN};
    if (!observer->regions[area]) return true;
    if (!find_near(observer, moment, &observer->scene->measure_areas[area].area)) return false;
    const th_level_view *near = &observer->near;
    return th_region_measure(observer->regions[area], &def, near->x, near->y, near->speed,
                             near->count, reading, NULL, NULL) == TH_OK;
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

bool th_series_grow(th_observation *o) {
    int n = o->sample_count;
    bool grown = TH_RESERVE_ONE(o->spawned, n) && TH_RESERVE_ONE(o->inside, n) &&
                 TH_RESERVE_ONE(o->left, n) && TH_RESERVE_ONE(o->overlapping, n) &&
                 TH_RESERVE_ONE(o->jammed, n);
    for (int c = 0; grown && c < o->counter_count; ++c) {
        th_counter *counter = &o->counters[c];
        grown = TH_RESERVE_ONE(counter->forward, n) && TH_RESERVE_ONE(counter->backward, n) &&
                TH_RESERVE_ONE(counter->queue, n);
        if (grown) counter->queue[n] = 0;
    }
    for (int a = 0; grown && a < o->area_count; ++a)
        grown = TH_RESERVE_ONE(o->areas[a].density, n) && TH_RESERVE_ONE(o->areas[a].speed, n) &&
                TH_RESERVE_ONE(o->areas[a].voronoi_density, n) &&
                TH_RESERVE_ONE(o->areas[a].gaussian_density, n);
    return grown;
}

void th_observer_note_counts(th_observer *observer, int sample) {
    const th_observation *o = &observer->observation;
    observer->counts = (th_observer_counts){sample + 1, o->inside[sample], o->left[sample]};
}

bool th_series_take(th_observer *observer, th_world *world) {
    th_observation *o = &observer->observation;
    int n = o->sample_count;
    if (!th_series_grow(o)) return false;
    th_counters_read(observer, world);
    for (int c = 0; c < o->counter_count; ++c) {
        o->counters[c].forward[n] = (uint32_t)o->counters[c].forward_total;
        o->counters[c].backward[n] = (uint32_t)o->counters[c].backward_total;
    }
    // Samples the overlaps, which changes the largest one seen: only ever called at sample times.
    th_statistics statistics = th_world_statistics(world);
    o->statistics = statistics;
    o->spawned[n] = (uint32_t)statistics.spawned;
    o->inside[n] = (uint32_t)statistics.inside;
    o->left[n] = (uint32_t)statistics.left;
    o->overlapping[n] = (uint32_t)statistics.overlapping_agents;
    th_observer_note_counts(observer, n);
    for (int a = 0; a < o->area_count; ++a) {
        th_area_state area = th_world_area(world, a);
        o->areas[a].density[n] = (float)area.density;
        // An empty area has no speed.
        o->areas[a].speed[n] = area.count > 0 ? (float)area.mean_speed : NAN;
    }
    return true;
}

// ---- the observer

// Watching a run: events after every step, everything else when a sample is due. A sample takes the world as one
// moment and hands it on: series, people, maps, exposure, tracks. Cost of a step without a sample: its events.

th_observer_def th_observer_def_default(void) {
    return (th_observer_def){
        .interval = 1.0, .cell = 0.5, .track_count = 120, .maps = true, .threads = 1};
}

static th_result no_memory(th_error *error) {
    return th_fail(error, TH_NO_MEMORY, "",
                   "no memory for what is measured; measure less often or run on a larger machine");
}

// ---- creation

static bool create_maps(th_observer *observer, const th_box *boxes) {
    th_observation *o = &observer->observation;
    size_t levels = (size_t)observer->scene->level_count;
    o->maps = calloc(levels + 1, sizeof *o->maps);
    observer->map_work = calloc(levels + 1, sizeof *observer->map_work);
    if (!o->maps || !observer->map_work) return false;
    if (!observer->def.maps) return true;
    for (int level = 0; level < observer->scene->level_count; ++level) {
        o->map_count = level + 1;
        if (!th_map_create(observer->scene, level, observer->def.cell, boxes ? &boxes[level] : NULL,
                           &o->maps[level], &observer->map_work[level]))
            return false;
    }
    return true;
}

static th_result create(const th_scene_view *scene, const th_observer_def *def, const th_box *boxes,
                        th_observer **out, th_error *error) {
    *out = NULL;
    if (!(def->interval >= 1e-3 && def->interval <= 1e6) || !(def->cell >= 0.5) ||
        !(def->cell <= 1e6) || def->track_count < 0 || def->track_count > 100000)
        return th_fail(
            error, TH_BAD_ARGUMENT, "",
            "an observer needs an interval of 0.001 to 1000000 s, cells of 0.5 m or more "
            "and 0 to 100000 tracks");
    th_observer *observer = calloc(1, sizeof *observer);
    if (!observer) return no_memory(error);
    th_observation *o = &observer->observation;
    observer->def = *def;
    observer->scene = scene;
    observer->track_stride = 1;
    o->interval = def->interval;
    o->scene = scene;
    for (int k = 0; k < TH_SPANS; ++k) o->spans[k] = (th_span){(double)NAN, (double)NAN};
    o->tracks = calloc((size_t)def->track_count + 1, sizeof *o->tracks);
    if (!o->tracks || !th_counters_create(observer) || !th_areas_create(observer) ||
        !create_maps(observer, boxes)) {
        th_observer_destroy(observer);
        return no_memory(error);
    }
    *out = observer;
    return TH_OK;
}

th_result th_observer_create(th_world *world, const th_observer_def *def, th_observer **out,
                             th_error *error) {
    th_result result = create(th_scene_view_of(th_world_scene(world)), def, NULL, out, error);
    if (result != TH_OK) return result;
    th_observation *o = &(*out)->observation;
    (*out)->last_step = th_world_step_count(world);
    o->seed = th_world_seed(world);
    o->start = th_world_time(world);
    (*out)->last_sample_time = (*out)->last_load_time = o->start;
    return TH_OK;
}

th_result th_observer_create_for(const th_scene_view *scene, const th_observer_def *def,
                                 const th_box *boxes, th_observer **out, th_error *error) {
    th_result result = create(scene, def, boxes, out, error);
    if (result != TH_OK) return result;
    (*out)->observation.recorded = true;
    if (th_recorded_watch_create(*out)) return TH_OK;
    th_observer_destroy(*out);
    *out = NULL;
    return no_memory(error);
}

void th_observer_destroy(th_observer *observer) {
    if (!observer) return;
    th_observer_wait(observer);
    free(observer->leaving);
    // th_ensemble_add may have taken the observation: the work space is counted by the scene.
    for (int m = 0; observer->map_work && m < observer->scene->level_count; ++m)
        th_map_work_release(&observer->map_work[m]);
    free(observer->map_work);
    th_areas_destroy(observer);
    free(observer->counter_index);
    free(observer->last_seen);
    free(observer->by_place);
    free(observer->later);
    free(observer->forces);
    th_recorded_watch_destroy(observer->recorded);
    th_world_moment_release(&observer->now);
    th_observation_release(&observer->observation);
    free(observer);
}

th_observation *th_observer_observation(th_observer *observer) {
    th_observer_wait(observer);
    return &observer->observation;
}

th_observer_counts th_observer_latest(const th_observer *observer) { return observer->counts; }

// ---- watching

static void see_leaving(th_observer *observer, const th_event *event) {
    if (!th_people_reserve(observer, event->agent.serial) ||
        !th_person_leaves(observer, event->agent.serial, event->index, event->time))
        observer->no_memory = true;
}

void th_observer_wait(th_observer *observer) {
    if (!observer->counting) return;
    th_thread_join(observer->counting);
    observer->counting = NULL;
    observer->no_memory = observer->no_memory || !observer->counted;
    observer->observation.sample_count += observer->counted;
    for (int k = 0; k < observer->leaving_count; ++k) see_leaving(observer, &observer->leaving[k]);
    observer->leaving_count = 0;
}

static void see_events(th_observer *observer, th_world *world) {
    uint64_t step = th_world_step_count(world);
    if (step == observer->last_step) return; // this step was seen before
    observer->last_step = step;
    int count = 0;
    uint64_t lost = 0;
    const th_event *events = th_world_events(world, &count, &lost);
    observer->observation.events_lost += lost;
    observer->lost_since_sample += lost;
    for (int e = 0; e < count; ++e) {
        const th_event *event = &events[e];
        if (event->kind != TH_EVENT_LEFT || event->index < 0 ||
            event->index >= observer->scene->goal_count)
            continue;
        if (!observer->counting)
            see_leaving(observer, event);
        else if (TH_RESERVE_ONE(observer->leaving, observer->leaving_count))
            observer->leaving[observer->leaving_count++] = *event;
        else
            observer->no_memory = true;
    }
}

static bool anybody_waits(const th_moment *moment) {
    for (int i = 0; i < moment->count; ++i)
        if (moment->phase[i] == TH_PHASE_STANDING || moment->phase[i] == TH_PHASE_WAITING)
            return true;
    return false;
}

// The world as it stands; NULL: no memory. Groups and start times only when there are new people.
static const th_moment *take_moment(th_observer *observer, th_world *world, int64_t known_id) {
    th_world_moment *now = &observer->now;
    const th_moment *moment = &now->moment;
    now->threads = observer->def.threads;
    if (th_world_agent_count(world) < 4096) now->threads = 1;
    if (!th_world_moment_take(now, world, TH_KNOW_LEVEL | TH_KNOW_VELOCITY | TH_KNOW_PHASE))
        return NULL;
    unsigned more = anybody_waits(moment) ? TH_KNOW_WAIT : 0;
    if (moment->count > 0 && moment->id[moment->count - 1] > known_id)
        more |= TH_KNOW_GROUP | TH_KNOW_START;
    return th_world_moment_add(now, world, more) ? moment : NULL;
}

// Do the scene's sources still bring people?
static bool more_will_come(const th_scene_view *scene, double time) {
    for (int g = 0; g < scene->group_count; ++g) {
        const th_group *group = &scene->groups[g];
        if (group->rate > 0.0 && time < group->rate_end) return true;
        if (group->arrival_count > 0 && time < group->arrivals[group->arrival_count - 1].time)
            return true;
    }
    return false;
}

// Does the current sample lie after the time of use, as far as is known? When a person leaves before 95 % have left,
// all samples so far lie within it.
static bool take_use(th_observer *observer, double time) {
    th_observation *o = &observer->observation;
    int n = o->sample_count;
    uint64_t left = o->left[n], spawned = o->spawned[n];
    bool enough = 100 * left >= 95 * spawned && !more_will_come(observer->scene, time);
    bool was_enough = n > 0 && 100 * observer->last_left >= 95 * spawned;
    bool leaving = left != observer->last_left;
    observer->last_left = left;
    bool late = observer->scene->run.duration <= 0.0 && left > 0 &&
                (enough ? was_enough || !leaving : !leaving);
    if (late) return true;
    for (int m = 0; m < o->map_count && o->use_sample_count < n; ++m) th_map_not_late(&o->maps[m]);
    o->use_sample_count = n + 1;
    return false;
}

static void take_spans(th_observer *observer, double time) {
    th_observation *o = &observer->observation;
    for (int k = 0; k < TH_SPANS; ++k) {
        bool any = false;
        for (int m = 0; m < o->map_count; ++m) any = any || observer->map_work[m].above[k];
        if (!any) continue;
        o->spans[k] = (th_span){fmin(o->spans[k].from, time), time};
    }
}

// Areas, people, maps and exposure: of the moment alone. False: no memory.
static bool count_moment(th_observer *observer, const th_moment *moment, double time) {
    th_observation *o = &observer->observation;
    if (!th_areas_take(observer, moment) || !th_people_sample(observer, moment, time)) return false;
    bool late = take_use(observer, time);
    th_people_into_maps(observer, moment);
    for (int m = 0; m < o->map_count; ++m)
        th_map_take(&o->maps[m], &observer->map_work[m], o->interval, late);
    take_spans(observer, time);
    th_exposure_sample(observer, moment, time);
    th_load_sample(observer, moment, time);
    if (!th_tracks_see(observer, moment, o->sample_count)) return false;
    observer->last_sample_time = time;
    return true;
}

static void run_counting(void *context) {
    th_observer *observer = context;
    observer->counted = count_moment(observer, &observer->now.moment, observer->counting_time);
}

// What must be asked of the world now. False: no memory.
static bool take_world(th_observer *observer, th_world *world, double time) {
    if (!th_series_take(observer, world)) return false;
    const th_moment *moment = take_moment(observer, world, observer->last_id);
    if (!moment) return false;
    if (moment->group) {
        observer->last_id = (uint32_t)moment->id[moment->count - 1];
        if (!th_people_reserve(observer, observer->last_id)) return false;
    }
    if (observer->lost_since_sample > 0)
        th_people_find_lost(observer, moment, time, observer->lost_since_sample);
    observer->lost_since_sample = 0;
    return th_pressure_sample(observer, world, moment) &&
           th_load_look(observer, world, moment, time);
}

static void take_sample(th_observer *observer, th_world *world, double time) {
    th_observer_wait(observer);
    if (observer->no_memory || !take_world(observer, world, time)) {
        observer->no_memory = true;
        return;
    }
    observer->counting_time = time;
    if (observer->def.threads > 1 && th_world_device_bytes(world) > 0)
        observer->counting = th_thread_start(run_counting, observer);
    if (observer->counting) return;
    run_counting(observer);
    observer->no_memory = !observer->counted;
    observer->observation.sample_count += observer->counted;
}

th_result th_observer_take_moment(th_observer *observer, const th_moment *moment, double time,
                                  th_error *error) {
    th_observation *o = &observer->observation;
    uint32_t last = moment->count > 0 ? (uint32_t)moment->id[moment->count - 1] : 0;
    if (last > observer->last_id) observer->last_id = last;
    if (!th_people_reserve(observer, observer->last_id) || !count_moment(observer, moment, time))
        return no_memory(error);
    o->sample_count++;
    return TH_OK;
}

static double samples_taken(const th_observer *observer) {
    return (double)observer->observation.sample_count + (observer->counting ? 1.0 : 0.0);
}

th_result th_observer_see(th_observer *observer, th_world *world, th_error *error) {
    const th_observation *o = &observer->observation;
    see_events(observer, world);
    double time = th_world_time(world);
    uint64_t steps = th_world_step_count(world);
    double step = steps > 0 ? time / (double)steps : 0.0;
    // Half a step of slack: sample k belongs to the step nearest to k intervals.
    while (!observer->no_memory &&
           time >= o->start + samples_taken(observer) * o->interval - 0.5 * step)
        take_sample(observer, world, time);
    return observer->no_memory ? no_memory(error) : TH_OK;
}

// ---- the end

const char *const th_left_cause_words[TH_LEFT_CAUSE_COUNT] = {
#define X(name, words) words,
    TH_LEFT_CAUSES(X)
#undef X
};

// The walking distance to its present goal; infinite: no way; NaN: it has none.
static float way_to_go(const th_world *world, const th_group *group, uint32_t leg,
                       const th_left_behind *person) {
    int target = th_group_target(group, leg);
    const th_vec2 place = {person->x, person->y};
    float distance = NAN;
    if (target >= 0) th_world_distances(world, target, person->level, &place, 1, &distance);
    return distance;
}

// Does no way have room for it? The planners' distances are those of the smallest size.
static bool is_too_wide(const th_scene_view *scene, const th_left_behind *person) {
    double needs =
        fmin(2.0 * (double)person->radius, th_group_gap(&scene->groups[person->group], true));
    return needs > th_scene_widest_with_way(scene->scene, person->group);
}

static th_left_cause cause_of(const th_observer *observer, const th_world *world,
                              const th_left_behind *person, const th_last_seen *seen) {
    const th_scene_view *scene = observer->scene;
    if (person->phase == TH_PHASE_STANDING) return TH_LEFT_STANDING;
    if (person->phase == TH_PHASE_WAITING) return TH_LEFT_WAITING;
    if (person->phase == TH_PHASE_FALLEN) return TH_LEFT_FALLEN;
    if (person->group < scene->group_count && is_too_wide(scene, person)) return TH_LEFT_TOO_WIDE;
    for (int d = 0; isinf(person->to_go) && d < scene->door_count; ++d)
        if (!th_world_door_open(world, d)) return TH_LEFT_SHUT;
    if (isinf(person->to_go)) return TH_LEFT_NO_WAY;
    if (person->rest >= TH_REST_TIME) return TH_LEFT_WEDGED;
    return seen->doing == TH_DOING_JAM ? TH_LEFT_QUEUE : TH_LEFT_WALKING;
}

static th_result find_left_behind(th_observer *observer, th_world *world, const th_moment *moment,
                                  th_error *error) {
    th_observation *o = &observer->observation;
    free(o->left_behind);
    o->left_behind = NULL;
    o->left_behind_count = 0;
    int count = 0;
    for (int i = 0; i < moment->count; ++i) count += moment->phase[i] < TH_PHASE_ARRIVED;
    if (count == 0) return TH_OK;
    o->left_behind = calloc((size_t)count, sizeof *o->left_behind);
    const float *radius = th_world_map(world, TH_FIELD_RADIUS, TH_ACCESS_READ);
    const uint32_t *legs = th_world_map(world, TH_FIELD_LEG, TH_ACCESS_READ);
    if (!o->left_behind) return no_memory(error);
    for (int i = 0; i < moment->count; ++i) {
        if (moment->phase[i] >= TH_PHASE_ARRIVED) continue;
        th_left_behind *person = &o->left_behind[o->left_behind_count++];
        *person = (th_left_behind){.x = (float)moment->x[i],
                                   .y = (float)moment->y[i],
                                   .level = th_moment_level(moment, i),
                                   .group = moment->group[i],
                                   .phase = (th_phase)moment->phase[i],
                                   .radius = radius ? radius[i] : 0.0f,
                                   .to_go = NAN};
        const th_last_seen *seen = &observer->last_seen[moment->id[i] - 1];
        person->rest = (float)o->statistics.time - seen->rest_since;
        if (legs && person->group < observer->scene->group_count)
            person->to_go =
                way_to_go(world, &observer->scene->groups[person->group], legs[i], person);
        person->cause = cause_of(observer, world, person, seen);
    }
    return TH_OK;
}

th_result th_observer_finish(th_observer *observer, th_world *world, th_error *error) {
    th_observation *o = &observer->observation;
    see_events(observer, world);
    th_observer_wait(observer);
    if (observer->no_memory) return no_memory(error);
    th_counters_read(observer, world);
    o->statistics = th_world_statistics(world);
    o->hash = th_world_hash(world);
    o->done = th_world_done(world);
    o->timed_out = !o->done && !o->interrupted && observer->scene->run.duration <= 0.0;
    if (o->statistics.steps > 0) o->step = o->statistics.time / (double)o->statistics.steps;
    const unsigned known = TH_KNOW_LEVEL | TH_KNOW_PHASE | TH_KNOW_GROUP;
    if (!th_world_moment_take(&observer->now, world, known)) return no_memory(error);
    const th_moment *moment = &observer->now.moment;
    double time = o->statistics.time;
    if (observer->lost_since_sample > 0)
        th_people_find_lost(observer, moment, time, observer->lost_since_sample);
    observer->lost_since_sample = 0;
    th_people_finish(observer, moment, time);
    observer->last_sample_time = time; // a second call adds nothing
    return find_left_behind(observer, world, moment, error);
}

// ---- what was measured

void th_observation_release(th_observation *o) {
    for (int c = 0; c < o->counter_count; ++c) {
        free(o->counters[c].forward);
        free(o->counters[c].backward);
        free(o->counters[c].queue);
        free(o->counters[c].passes);
    }
    for (int a = 0; a < o->area_count; ++a) {
        free(o->areas[a].density);
        free(o->areas[a].speed);
        free(o->areas[a].voronoi_density);
        free(o->areas[a].gaussian_density);
    }
    for (int m = 0; m < o->map_count; ++m) th_map_release(&o->maps[m]);
    for (int t = 0; t < o->track_count; ++t) {
        free(o->tracks[t].x);
        free(o->tracks[t].y);
        free(o->tracks[t].level);
    }
    uint32_t *series[] = {o->spawned, o->inside, o->left, o->overlapping, o->jammed};
    for (size_t k = 0; k < sizeof series / sizeof *series; ++k) free(series[k]);
    free(o->counters);
    free(o->areas);
    free(o->maps);
    free(o->people);
    free(o->tracks);
    free(o->left_behind);
    *o = (th_observation){0};
}

double th_egress_time(const th_observation *o) {
    bool empty = o->done && o->statistics.inside == 0 && o->statistics.left > 0;
    return empty ? o->statistics.last_left_time : (double)NAN;
}
