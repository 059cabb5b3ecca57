// Groups: how many, from where, by which route, with which properties. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "scene/compile.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LINKED_LIMIT = 8 * 1024 * 1024 };
#define PEOPLE_LIMIT 50000000.0 // [people] of one group; above what memory holds

static const char *group_id(const th_scene *scene, int i) { return scene->groups[i].id; }

static void gather_positions(th_compiler *c, int i, int level) {
    const th_group_def *def = &c->def->groups[i];
    c->positions[i] = def->positions;
    c->position_counts[i] = def->position_count;
    if (def->positions_file) {
        th_at(c, "groups[%d].positions_file", i);
        th_error local = {0};
        th_error *error = c->error ? c->error : &local;
        if (c->geometry.no_files) {
            c->result = th_fail(error, TH_NO_FILE, c->path, "linked files are not allowed here");
            return;
        }
        th_point *read = NULL;
        th_result result = th_positions_read(&c->work, c->geometry.links, def->positions_file,
                                             c->path, &read, &c->position_counts[i], error);
        if (result != TH_OK) c->result = result;
        c->positions[i] = read;
        c->people_linked += c->position_counts[i];
        if (c->people_linked > LINKED_LIMIT)
            th_bad(c, "the linked files hold more than %d positions together", LINKED_LIMIT);
    } else {
        th_at(c, "groups[%d].positions", i);
    }
    for (int k = 0; k < c->position_counts[i] && c->result == TH_OK; ++k)
        th_gather_point(c, c->positions[i][k], level);
}

// ---- recordings

static th_recording_reader *recording_reader;

void th_scene_read_recordings_with(th_recording_reader *reader) { recording_reader = reader; }

typedef struct recorded_list {
    th_compiler *c;
    th_recorded_person *people;
    int count, capacity;
    GEOSGeometry *area; // NULL: everywhere
    const GEOSPreparedGeometry *prepared;
    int level;
    bool no_memory;
} recorded_list;

static bool lies_in_area(const recorded_list *list, const th_recorded_person *person) {
    GEOSContextHandle_t geos = list->c->geometry.geos;
    if (person->level != list->level) return false;
    GEOSGeometry *point = GEOSGeom_createPointFromXY_r(geos, person->place.x, person->place.y);
    bool inside = point && GEOSPreparedIntersects_r(geos, list->prepared, point) == 1;
    GEOSGeom_destroy_r(geos, point);
    return inside;
}

static bool take_recorded(void *context, const th_recorded_person *person) {
    recorded_list *list = context;
    if (list->prepared && !lies_in_area(list, person)) return false;
    list->no_memory |= list->count >= LINKED_LIMIT ||
                       !th_arena_reserve(&list->c->work, &list->people, &list->capacity,
                                         list->count + 1, sizeof *list->people);
    if (!list->no_memory) list->people[list->count++] = *person;
    return true;
}

static th_result read_recording(th_compiler *c, const th_recording_def *def, recorded_list *list,
                                th_error *error) {
    char full[TH_PATH_MAX];
    if (c->geometry.no_files)
        return th_fail(error, TH_NO_FILE, c->path, "linked files are not allowed here");
    th_result result = th_file_linked(c->geometry.links, def->file, c->path, full, error);
    if (result != TH_OK) return result;
    if (!recording_reader)
        return th_fail(error, TH_NO_FILE, c->path,
                       "this program does not read recordings; it lacks th_record_serve_scenes()");
    const char **ids = th_arena_alloc(&c->work, (size_t)c->scene->level_count + 1, sizeof *ids);
    if (!ids) return th_fail(error, TH_NO_MEMORY, c->path, "no memory for the recording");
    for (int l = 0; l < c->scene->level_count; ++l) ids[l] = c->scene->levels[l].id;
    const th_recording_request request = {full,          def, ids, c->scene->level_count,
                                          take_recorded, list};
    th_error why = {0};
    result = recording_reader(&request, &why);
    if (list->no_memory)
        return th_fail(error, TH_NO_MEMORY, c->path,
                       "%.200s has more people than memory has room for", def->file);
    if (result != TH_OK && why.line > 0)
        th_fail(error, result, c->path, "%.200s:%d:%d: %s", def->file, why.line, why.column,
                why.message);
    else if (result != TH_OK)
        th_fail(error, result, c->path, "%.200s: %s", def->file, why.message);
    return result;
}

static void gather_recording(th_compiler *c, int i, int level) {
    const th_group_def *def = &c->def->groups[i];
    const th_recording_def *recording = &def->recording;
    if (!recording->file) return;
    th_at(c, "groups[%d].recording.time", i);
    th_check_range(c, "time", recording->time, 0.0, 1e9, "s");
    if (recording->time > 0.0 && recording->frame > 0)
        th_bad(c, "time and frame both say where the run begins; give one of them");
    th_at(c, "groups[%d].recording", i);
    th_error local = {0};
    recorded_list list = {.c = c, .level = level};
    const GEOSGeometry *area = th_shape_geometry(c, &def->area);
    if (area && c->result == TH_OK) list.prepared = GEOSPrepare_r(c->geometry.geos, area);
    th_result result = c->result == TH_OK
                           ? read_recording(c, recording, &list, c->error ? c->error : &local)
                           : c->result;
    if (list.prepared) GEOSPreparedGeom_destroy_r(c->geometry.geos, list.prepared);
    if (result != TH_OK) c->result = result;
    c->recorded[i] = list.people;
    c->recorded_counts[i] = list.count;
    for (int k = 0; k < list.count && c->result == TH_OK; ++k)
        th_gather_point(c, list.people[k].place, list.people[k].level);
}

// The reader gives people in the order of time; people of one time are one arrival.
static void compile_recording(th_compiler *c, int i) {
    th_group *group = &c->list.groups[i];
    int count = c->recorded_counts[i];
    const th_recorded_person *people = c->recorded[i];
    th_entry *entries = th_take(c, (size_t)count + 1, sizeof *entries);
    th_arrival *arrivals = th_take(c, (size_t)count + 1, sizeof *arrivals);
    if (!entries || !arrivals) return;
    for (int k = 0; k < count; ++k) {
        entries[k] =
            (th_entry){th_relative(c, people[k].place), people[k].velocity, people[k].level};
        if (k == 0 || people[k].time != people[k - 1].time)
            arrivals[group->arrival_count++].time = people[k].time;
        arrivals[group->arrival_count - 1].count++;
    }
    group->arrivals = arrivals;
    group->entries = entries;
    group->entry_count = count;
}

static void check_origin_of_people(th_compiler *c, int i) {
    const th_group_def *def = &c->def->groups[i];
    int ways = (def->count >= 0) + (def->density != 0.0) + (def->positions_file != NULL) +
               (def->position_count > 0) + (def->rate != 0.0) + (def->arrival_count > 0) +
               (def->recording.file != NULL);
    th_at(c, "groups[%d]", i);
    if (ways != 1)
        th_bad(c,
               "%s; give exactly one of \"count\", \"density\", \"positions\", \"positions_file\", "
               "\"source\" and \"recording\"",
               ways ? "the number of people is given twice" : "the number of people is missing");
    th_at(c, "groups[%d].count", i);
    if (def->count >= 0)
        th_check_range(c, "count", (double)def->count, 0.0, PEOPLE_LIMIT, "people");
    if (def->count < -1) th_bad(c, "count is %lld; it must be 0 or more", (long long)def->count);
    th_at(c, "groups[%d].density", i);
    th_check_range(c, "density", def->density, 0.0, 20.0, "1/m2");
    th_at(c, "groups[%d].source.rate", i);
    th_check_range(c, "rate", def->rate, 0.0, 1e5, "1/s");
    th_at(c, "groups[%d].source.from", i);
    th_check_range(c, "from", def->rate_start, 0.0, 1e7, "s");
    th_at(c, "groups[%d].source.until", i);
    if (!(def->rate_end >= def->rate_start))
        th_bad(c, "until (%g s) comes before from (%g s)", def->rate_end, def->rate_start);
    for (int k = 0; k < def->arrival_count && c->result == TH_OK; ++k) {
        th_at(c, "groups[%d].source.timetable[%d]", i, k);
        th_check_range(c, "time", def->arrivals[k].time, 0.0, 1e7, "s");
        th_check_range(c, "the number of people", (double)def->arrivals[k].count, 0.0, PEOPLE_LIMIT,
                       "");
        if (k && def->arrivals[k].time < def->arrivals[k - 1].time)
            th_bad(c, "time %g s comes after %g s; put the rows in order", def->arrivals[k].time,
                   def->arrivals[k - 1].time);
    }
}

// On an open plane the box must hold the mirrored goals as well.
static void gather_mirrored(th_compiler *c, int i, int level) {
    const th_group_def *def = &c->def->groups[i];
    if (def->own_goal != TH_OWN_GOAL_MIRROR_X && def->own_goal != TH_OWN_GOAL_OPPOSITE) return;
    th_extent box = TH_NO_EXTENT;
    th_geometry_extend(&c->geometry, th_shape_geometry(c, &def->area), &box.low, &box.high);
    for (int k = 0; k < c->position_counts[i]; ++k) {
        box.low.x = fmin(box.low.x, c->positions[i][k].x);
        box.low.y = fmin(box.low.y, c->positions[i][k].y);
        box.high.x = fmax(box.high.x, c->positions[i][k].x);
        box.high.y = fmax(box.high.y, c->positions[i][k].y);
    }
    if (box.low.x > box.high.x) return;
    bool flip_y = def->own_goal == TH_OWN_GOAL_OPPOSITE;
    th_point centre = def->own_goal_centre;
    th_at(c, "groups[%d].own_goal", i);
    th_gather_point(
        c,
        (th_point){2.0 * centre.x - box.high.x, flip_y ? 2.0 * centre.y - box.high.y : box.low.y},
        level);
    th_gather_point(
        c, (th_point){2.0 * centre.x - box.low.x, flip_y ? 2.0 * centre.y - box.low.y : box.high.y},
        level);
}

static void gather_group(th_compiler *c, int i) {
    const th_group_def *def = &c->def->groups[i];
    th_group *group = &c->list.groups[i];
    th_at(c, "groups[%d].id", i);
    group->id = th_unique_id(c, def->id, "group", i, group_id, i);
    th_at(c, "groups[%d].level", i);
    group->level = group->area.level = th_level_index(c, def->level);
    check_origin_of_people(c, i);
    th_at(c, "groups[%d].area", i);
    th_gather_shape(c, &def->area, false, group->level);
    if (c->result == TH_OK) gather_positions(c, i, group->level);
    if (c->result == TH_OK) gather_recording(c, i, group->level);
    bool needs_area = !c->scene->levels[group->level].bounded && th_shape_empty(&def->area) &&
                      c->position_counts[i] == 0 && !def->recording.file &&
                      def->count != 0; // 0: spawned by the program
    th_at(c, "groups[%d]", i);
    if (needs_area)
        th_bad(c, "the level is an open plane, so this group needs an \"area\" to appear in");
    th_at(c, "groups[%d].own_goal", i);
    if ((unsigned)def->own_goal > TH_OWN_GOAL_OPPOSITE)
        th_bad(c, "there is no own goal of kind %d", (int)def->own_goal);
    th_at(c, "groups[%d].own_goal.in", i);
    if (def->own_goal == TH_OWN_GOAL_IN_AREA) {
        if (th_shape_empty(&def->own_goal_area)) th_bad(c, "an own goal needs an area to lie in");
        th_gather_shape(c, &def->own_goal_area, false, group->level);
    }
    if (c->result == TH_OK) gather_mirrored(c, i, group->level);
}

void th_gather_groups(th_compiler *c) {
    size_t count = (size_t)c->def->group_count;
    c->scene->groups = c->list.groups = th_take(c, count, sizeof *c->scene->groups);
    c->positions = th_arena_alloc(&c->work, count + 1, sizeof *c->positions);
    c->position_counts = th_arena_alloc(&c->work, count + 1, sizeof *c->position_counts);
    c->recorded = th_arena_alloc(&c->work, count + 1, sizeof *c->recorded);
    c->recorded_counts = th_arena_alloc(&c->work, count + 1, sizeof *c->recorded_counts);
    if (!c->positions || !c->position_counts || !c->recorded || !c->recorded_counts)
        th_no_memory(c);
    for (int i = 0; i < c->def->group_count && c->result == TH_OK; ++i) {
        gather_group(c, i);
        c->scene->group_count = i + 1;
    }
    if (c->result == TH_OK) th_gather_bars(c);
}

// The range of a property; distributions are cut there too.
typedef struct property {
    const char *name, *unit;
    double low, high;
} property;

static th_distribution compile_distribution(th_compiler *c, const char *list, int index,
                                            const property *p, const th_distribution *def) {
    th_distribution d = *def;
    th_at(c, "%s[%d].%s", list, index, p->name);
    if ((unsigned)d.kind > TH_DISTRIBUTION_WEIBULL)
        th_bad(c, "there is no distribution of kind %d", (int)d.kind);
    if (d.kind == TH_DISTRIBUTION_CONSTANT) {
        th_check_range(c, p->name, d.a, p->low, p->high, p->unit);
        d.min = d.max = d.a;
        return d;
    }
    if (d.kind == TH_DISTRIBUTION_UNIFORM) {
        th_check_range(c, "the lowest value", d.a, p->low, p->high, p->unit);
        th_check_range(c, "the highest value", d.b, p->low, p->high, p->unit);
        if (d.b < d.a)
            th_bad(c, "uniform from %g to %g is empty; put the lower value first", d.a, d.b);
        d.min = d.a;
        d.max = d.b;
        return d;
    }
    if (d.min == 0.0 && d.max == 0.0) { // not given in a program
        d.min = p->low;
        d.max = p->high;
    }
    if (d.min == -HUGE_VAL) d.min = p->low; // not given in a file
    if (d.max == HUGE_VAL) d.max = p->high;
    th_check_range(c, "min", d.min, p->low, p->high, p->unit);
    th_check_range(c, "max", d.max, p->low, p->high, p->unit);
    if (!(d.min < d.max)) th_bad(c, "min %g is not below max %g", d.min, d.max);
    if (!isfinite(d.a) || !isfinite(d.b) || fabs(d.a) > 1e6 || d.b > 1e6)
        th_bad(c, "the parameters must be ordinary numbers");
    if (d.kind == TH_DISTRIBUTION_NORMAL || d.kind == TH_DISTRIBUTION_LOGNORMAL) {
        if (!(d.b >= 0.0)) th_bad(c, "the standard deviation is %g; it must be 0 or more", d.b);
    } else if (!(d.a > 0.0 && d.b > 0.0)) {
        th_bad(c, "shape and scale are %g and %g; both must be above 0", d.a, d.b);
    }
    if (d.kind == TH_DISTRIBUTION_NORMAL && (d.a + 6.0 * d.b < d.min || d.a - 6.0 * d.b > d.max))
        th_bad(c, "normal %g, %g never falls into %g .. %g %s", d.a, d.b, d.min, d.max, p->unit);
    return d;
}

static const property radius_range = {"radius", "m", 0.05, 2.0},
                      speed_range = {"speed", "m/s", 0.0, 10.0},
                      premovement_range = {"premovement", "s", 0.0, 1e6},
                      mass_range = {"mass", "kg", 1.0, 1000.0};

static void check_stairs_factors(th_compiler *c, const char *list, int index, double up,
                                 double down) {
    th_at(c, "%s[%d].up", list, index);
    th_check_above(c, "up", up, 0.0, 2.0, "");
    th_at(c, "%s[%d].down", list, index);
    th_check_above(c, "down", down, 0.0, 2.0, "");
}

static void compile_properties(th_compiler *c, int i) {
    const th_group_def *def = &c->def->groups[i];
    th_group *group = &c->list.groups[i];
    group->radius = compile_distribution(c, "groups", i, &radius_range, &def->radius);
    group->speed = compile_distribution(c, "groups", i, &speed_range, &def->speed);
    group->premovement =
        compile_distribution(c, "groups", i, &premovement_range, &def->premovement);
    group->mass = compile_distribution(c, "groups", i, &mass_range, &def->mass);
    check_stairs_factors(c, "groups", i, def->up, def->down);
    th_stairs_def usual = th_stairs_def_default();
    group->up = (float)(def->up / usual.up);
    group->down = (float)(def->down / usual.down);
    th_at(c, "groups[%d].rigid", i);
    if ((unsigned)def->rigid > TH_RIGID_NEVER)
        th_bad(c, "there is no kind of rigid body %d", (int)def->rigid);
    group->rigid = def->rigid;
}

// The number of `people` that this part of a group is expected to have; the parts add up.
static int64_t share_of(const th_part *part, int64_t people) {
    double begin = floor(part->begin * (double)people + 0.5);
    double end = floor(part->end * (double)people + 0.5);
    return (int64_t)end - (int64_t)begin;
}

static void compile_part(th_compiler *c, int i) {
    const th_group_def *def = &c->def->groups[i];
    th_part *part = &c->list.groups[i].part;
    *part = def->part;
    if (part->count == 0) *part = (th_part){NULL, i, 0, 1, 0.0, 1.0};
    if (part->profile) part->profile = th_copy_string(c, part->profile);
}

static void compile_people(th_compiler *c, int i) {
    const th_group_def *def = &c->def->groups[i];
    th_group *group = &c->list.groups[i];
    group->area = th_compile_area(c, &def->area, group->level);
    group->rate = def->rate;
    group->rate_start = def->rate_start;
    group->rate_end = def->rate_end;
    th_arrival *arrivals = th_take(c, (size_t)def->arrival_count, sizeof *arrivals);
    if (!arrivals) return;
    if (def->arrival_count)
        memcpy(arrivals, def->arrivals, (size_t)def->arrival_count * sizeof *arrivals);
    group->arrivals = arrivals;
    group->arrival_count = def->arrival_count;
    if (def->recording.file) compile_recording(c, i);
    if (def->count > 0) group->count = share_of(&group->part, def->count);
    if (def->density > 0.0) {
        const GEOSGeometry *ground = c->walkable[group->level];
        const GEOSGeometry *area = th_shape_geometry(c, &def->area);
        double size = area ? th_geometry_common_area(&c->geometry, area, ground)
                           : th_geometry_area(&c->geometry, ground);
        double people = floor(def->density * size + 0.5);
        th_at(c, "groups[%d].density", i);
        if (people > PEOPLE_LIMIT)
            th_bad(c, "%g people on %g m2 are too many", people, size);
        else
            group->count = share_of(&group->part, (int64_t)people);
    }
    if (c->position_counts[i] == 0) return;
    int count = (int)share_of(&group->part, c->position_counts[i]);
    int first = (int)floor(group->part.begin * c->position_counts[i] + 0.5);
    th_vec2 *positions = th_take(c, (size_t)count + 1, sizeof *positions);
    for (int k = 0; positions && k < count; ++k)
        positions[k] = th_relative(c, c->positions[i][first + k]);
    group->positions = positions;
    group->count = count;
}

int th_goal_index(th_compiler *c, const char *id) {
    for (int i = 0; i < c->scene->goal_count; ++i)
        if (strcmp(c->scene->goals[i].id, id) == 0) return i;
    enum { MOST = 256 };
    const char *known[MOST];
    int count = 0;
    for (; count < c->scene->goal_count && count < MOST; ++count)
        known[count] = c->scene->goals[count].id;
    const char *near = count ? th_nearest_word(id, known, count) : NULL;
    if (near)
        th_bad(c, "unknown goal \"%.60s\"; did you mean \"%.60s\"?", id, near);
    else
        th_bad(c, "unknown goal \"%.60s\"; goals are the ids of exits, waypoints and waiting_areas",
               id);
    return 0;
}

static bool is_avoided(const th_group_def *group, const char *id) {
    for (int k = 0; k < group->avoid_count; ++k)
        if (strcmp(group->avoid[k], id) == 0) return true;
    return false;
}

// Refuges are for people that avoid something, where there are other goals.
static bool is_spared(th_compiler *c, const th_group_def *group, const th_route_step *step,
                      int goal) {
    if (!c->scene->goals[goal].refuge || group->avoid_count > 0) return false;
    for (int k = 0; k < step->goal_count && c->result == TH_OK; ++k) {
        int other = th_goal_index(c, step->goals[k]);
        if (c->result == TH_OK && !c->scene->goals[other].refuge) return true;
    }
    return false;
}

// Ascending, without repeats, so that equal sets are equal arrays. Without exits that the group avoids.
static int sorted_goals(th_compiler *c, const th_group_def *group, const th_route_step *step,
                        int *goals) {
    int count = 0;
    for (int k = 0; k < step->goal_count && c->result == TH_OK; ++k) {
        int goal = th_goal_index(c, step->goals[k]), at = count;
        if (c->result == TH_OK && c->scene->goals[goal].kind == TH_GOAL_EXIT &&
            is_avoided(group, step->goals[k]))
            continue;
        if (c->result == TH_OK && is_spared(c, group, step, goal)) continue;
        while (at > 0 && goals[at - 1] > goal) --at;
        if (at > 0 && goals[at - 1] == goal) continue;
        memmove(goals + at + 1, goals + at, (size_t)(count - at) * sizeof *goals);
        goals[at] = goal;
        ++count;
    }
    return count;
}

int th_target_of(th_compiler *c, const int *goals, int count) {
    th_scene *scene = c->scene;
    for (int i = 0; i < scene->target_count; ++i)
        if (scene->targets[i].goal_count == count &&
            memcmp(scene->targets[i].goals, goals, (size_t)count * sizeof *goals) == 0)
            return i;
    c->list.targets[scene->target_count].goals = goals;
    c->list.targets[scene->target_count].goal_count = count;
    return scene->target_count++;
}

int th_group_target(const th_group *group, uint32_t leg) { return th_leg_target(group, leg); }

// A sight is in the middle of the area in which its visitors stand, or a little outside where others have pushed them.
static th_vec2 sight_from(const th_scene_view *scene, const th_target *target, th_vec2 p) {
    th_vec2 best = p;
    float least = INFINITY;
    for (int k = 0; k < target->goal_count; ++k) {
        const th_goal *goal = &scene->goals[target->goals[k]];
        const th_box *box = &goal->area.shape.box;
        th_vec2 middle = {0.5f * (box->min_x + box->max_x), 0.5f * (box->min_y + box->max_y)};
        float distance2 = th_length2(th_sub(middle, p));
        if (goal->is_line || distance2 >= least) continue;
        least = distance2;
        best = middle;
    }
    return best;
}

th_vec2 th_watched_from(const th_scene_view *scene, const th_group *group, uint32_t leg,
                        th_vec2 p) {
    bool detour = th_detour_of(leg) > 0;
    int target = th_leg_target(group, leg);
    if (target < 0 || !(detour || (group->decides & TH_DECIDES_LEG))) return th_v(0.0f, 0.0f);
    const th_target *at = &scene->targets[target];
    th_vec2 seen = detour ? th_nearest_on_rings(&scene->goals[at->goals[0]].area.shape, p)
                          : sight_from(scene, at, p);
    return th_unit(th_sub(seen, p));
}

static void compile_route(th_compiler *c, int i) {
    const th_group_def *def = &c->def->groups[i];
    th_at(c, "groups[%d].route", i);
    if (def->route_count >= (int)TH_DETOUR) th_bad(c, "a route has at most %d legs", TH_DETOUR - 1);
    int *route = th_take(c, (size_t)def->route_count + (size_t)c->scene->goal_count, sizeof *route);
    for (int k = 0; route && k < def->route_count && c->result == TH_OK; ++k) {
        th_at(c, "groups[%d].route[%d]", i, k);
        if (def->route[k].goal_count < 1) th_bad(c, "a leg of a route needs at least one goal");
        int *goals = th_take(c, (size_t)def->route[k].goal_count + 1, sizeof *goals);
        if (!goals) return;
        int count = sorted_goals(c, def, &def->route[k], goals);
        if (count == 0)
            th_bad(c, "the group \"%.60s\" avoids all goals of this leg; leave it another exit",
                   c->scene->groups[i].id);
        if (c->result == TH_OK) route[k] = th_target_of(c, goals, count);
    }
    const th_route_step *first = def->route_count > 0 ? &def->route[0] : NULL;
    bool named =
        c->result == TH_OK && first && first->goal_count > 0 && !is_avoided(def, first->goals[0]);
    c->list.groups[i].entrance = named ? th_goal_index(c, first->goals[0]) : -1;
    c->list.groups[i].route = route;
    c->list.groups[i].route_count = def->route_count;
    if (route && c->result == TH_OK) th_compile_weights(c, i, route);
}

static void choose(th_compiler *c, th_stage stage, const th_model_def *def, const char *path,
                   th_model_choice *choice) {
    th_error local = {0}, *error = c->error ? c->error : &local;
    if (c->result == TH_OK)
        c->result = th_model_choose(stage, def, false, false, path, choice, error);
}

static void choose_plan(th_compiler *c, int i, bool own_goals, th_group *group) {
    th_error local = {0}, *error = c->error ? c->error : &local;
    bool aims = (group->decides & TH_DECIDES_AIM) != 0;
    const char *path = th_at(c, "groups[%d].plan", i);
    if (c->result == TH_OK)
        c->result = th_model_choose(TH_STAGE_PLAN, &c->def->groups[i].plan, own_goals, aims, path,
                                    &group->plan, error);
}

// Behaviours of a group decide different things.
static void compile_behaviours(th_compiler *c, int i) {
    const th_group_def *def = &c->def->groups[i];
    th_group *group = &c->list.groups[i];
    const th_model_def usual = {0};
    th_at(c, "groups[%d].behave", i);
    if (def->behave_count > TH_BEHAVE_MAX)
        th_bad(c, "%d behaviours; a group has at most %d", def->behave_count, TH_BEHAVE_MAX);
    do {
        int k = group->behave_count++;
        const char *path = def->behave_count > 1 ? th_at(c, "groups[%d].behave[%d]", i, k)
                                                 : th_at(c, "groups[%d].behave", i);
        choose(c, TH_STAGE_BEHAVE, def->behave_count ? &def->behave[k] : &usual, path,
               &group->behave[k]);
        if (c->result != TH_OK) return;
        const th_model *model = th_models(NULL)[group->behave[k].model];
        for (int j = 0; j < k && c->result == TH_OK; ++j) {
            const th_model *other = th_models(NULL)[group->behave[j].model];
            uint32_t both = model->decides & other->decides;
            if (model == other)
                th_bad(c, "the behaviour \"%s\" is listed twice; take one of them away",
                       model->name);
            else if (both)
                th_bad(c,
                       "the behaviours \"%s\" and \"%s\" both decide %s; take one of them away, or "
                       "give the other to a group of its own",
                       other->name, model->name, th_decision_name((th_decision)(both & -both)));
        }
        group->decides |= model->decides;
    } while (group->behave_count < def->behave_count && c->result == TH_OK);
}

static bool leads_to_own_goals(const th_model *model) {
    return model->stage == TH_STAGE_PLAN && model->own_goals;
}

static bool tells_apart(const th_model *model) { return model->tells_apart; }

static bool knows_leaders(const th_model *model) {
    return (model->decides & TH_DECIDES_COMPANY) != 0;
}

// The names of the models that can do something, for a message: "a" or "b".
static const char *list_models(bool (*can)(const th_model *model), char *text, size_t size) {
    int count, listed = 0;
    const th_model *const *models = th_models(&count);
    text[0] = '\0';
    for (int m = count - 1; m >= 0; --m) {
        size_t used = strlen(text);
        if (can(models[m]))
            snprintf(text + used, size - used, "%s\"%s\"", listed++ ? " or " : "", models[m]->name);
    }
    return text;
}

static void compile_models(th_compiler *c, int i) {
    const th_group_def *def = &c->def->groups[i];
    th_group *group = &c->list.groups[i];
    bool own_goals = def->own_goal != TH_OWN_GOAL_NONE;
    compile_behaviours(c, i);
    choose_plan(c, i, own_goals, group);
    choose(c, TH_STAGE_FILTER, &def->filter, th_at(c, "groups[%d].filter", i), &group->filter);
    choose(c, TH_STAGE_MOVE, &def->move, th_at(c, "groups[%d].move", i), &group->move);
    if (c->result != TH_OK) return;
    const th_model *plan = th_models(NULL)[group->plan.model];
    th_at(c, "groups[%d].plan", i);
    char leading[200];
    if (own_goals && !plan->own_goals)
        th_bad(c, "the plan \"%s\" follows a route; with own goals use %s", plan->name,
               list_models(leads_to_own_goals, leading, sizeof leading));
    th_at(c, "groups[%d].avoid", i);
    if (group->bar > 0 &&
        (!plan->tells_apart || own_goals || (group->decides & TH_DECIDES_AIM) != 0))
        th_bad(c,
               "%s leads all people the same ways and would ignore \"avoid\"; use a \"plan\" that "
               "tells them apart: %s",
               own_goals                                ? "an own goal"
               : (group->decides & TH_DECIDES_AIM) != 0 ? "this behaviour"
                                                        : "this plan",
               list_models(tells_apart, leading, sizeof leading));
    th_at(c, "groups[%d].own_goal", i);
    if (def->own_goal != TH_OWN_GOAL_NONE && def->route_count)
        th_bad(c, "a group has either a route or own goals");
}

static int find_group(th_compiler *c, const char *id) {
    for (int i = 0; i < c->scene->group_count; ++i)
        if (strcmp(c->scene->groups[i].id, id) == 0) return i;
    enum { MOST = 256 };
    const char *known[MOST];
    int count = 0;
    for (; count < c->scene->group_count && count < MOST; ++count)
        known[count] = c->scene->groups[count].id;
    const char *near = th_nearest_word(id, known, count);
    if (near)
        th_bad(c, "no group has the id \"%.60s\"; did you mean \"%.60s\"?", id, near);
    else
        th_bad(c, "no group has the id \"%.60s\"; give the id of the group that leads", id);
    return -1;
}

// The leading group must exist, lead, and not follow its own followers, directly or over other groups.
static void compile_leader(th_compiler *c, int i) {
    th_group *group = &c->list.groups[i];
    const char *id = c->def->groups[i].leader;
    th_at(c, "groups[%d].leader", i);
    if (!id) return;
    group->leader = find_group(c, id);
    if (c->result != TH_OK) return;
    const int both[2] = {i, group->leader};
    for (int k = 0; k < 2; ++k) {
        const th_group *one = &c->list.groups[both[k]];
        char behaviours[200];
        if (!(one->decides & TH_DECIDES_COMPANY))
            th_bad(c,
                   "the behaviour \"%s\" of the group \"%.60s\" knows no leaders; set its "
                   "\"behave\" to %s",
                   th_models(NULL)[one->behave[0].model]->name, one->id,
                   list_models(knows_leaders, behaviours, sizeof behaviours));
    }
    int at = group->leader;
    for (int k = 0; k < c->def->group_count && at >= 0 && at != i; ++k)
        at = c->list.groups[at].leader;
    if (at == i)
        th_bad(c,
               "the group \"%.60s\" follows itself; take \"leader\" from one of the groups in "
               "the ring",
               group->id);
}

static void count_targets(th_compiler *c) {
    size_t most = (size_t)c->scene->goal_count;
    for (int i = 0; i < c->def->group_count; ++i) most += (size_t)c->def->groups[i].route_count;
    c->scene->targets = c->list.targets = th_take(c, most, sizeof *c->scene->targets);
}

// ---- profiles, whether a group has them or not

static void check_profile(th_compiler *c, int k) {
    const th_profile_def *profile = &c->def->profiles[k];
    th_error local = {0}, *error = c->error ? c->error : &local;
    th_at(c, "profiles[%d].id", k);
    if (!profile->id || !*profile->id || strlen(profile->id) > 100) {
        th_bad(c, "a profile needs an id of 1 to 100 characters");
        return;
    }
    for (int j = 0; j < k && c->result == TH_OK; ++j)
        if (strcmp(c->def->profiles[j].id, profile->id) == 0)
            th_bad(c, "the id \"%.60s\" is taken by an earlier profile; ids are unique",
                   profile->id);
    if (c->result != TH_OK) return;
    th_profile_def whole;
    c->result = th_profile_whole(c->def, profile->id, c->path, &whole, error);
    if (profile->has_radius)
        compile_distribution(c, "profiles", k, &radius_range, &profile->radius);
    if (profile->has_speed) compile_distribution(c, "profiles", k, &speed_range, &profile->speed);
    if (profile->has_premovement)
        compile_distribution(c, "profiles", k, &premovement_range, &profile->premovement);
    if (profile->has_mass) compile_distribution(c, "profiles", k, &mass_range, &profile->mass);
    check_stairs_factors(c, "profiles", k, profile->up == 0.0 ? 1.0 : profile->up,
                         profile->down == 0.0 ? 1.0 : profile->down);
    th_model_choice ignored;
    const char *path = th_at(c, "profiles[%d].move", k);
    if (profile->move.name) choose(c, TH_STAGE_MOVE, &profile->move, path, &ignored);
    th_at(c, "profiles[%d].avoid", k);
    for (int a = 0; a < profile->avoid_count; ++a) th_check_way(c, profile->avoid[a]);
}

void th_compile_groups(th_compiler *c) {
    for (int k = 0; k < c->def->profile_count && c->result == TH_OK; ++k) check_profile(c, k);
    count_targets(c);
    for (int i = 0; i < c->def->group_count && c->result == TH_OK; ++i) {
        const th_group_def *def = &c->def->groups[i];
        th_group *group = &c->list.groups[i];
        compile_part(c, i);
        compile_people(c, i);
        compile_properties(c, i);
        if (c->result == TH_OK) compile_models(c, i);
        if (c->result == TH_OK) compile_route(c, i);
        group->leader = -1;
        group->own_goal = def->own_goal;
        group->own_goal_area = th_compile_area(c, &def->own_goal_area, group->level);
        group->own_goal_centre = th_relative(c, def->own_goal_centre);
    }
    for (int i = 0; i < c->def->group_count && c->result == TH_OK; ++i) compile_leader(c, i);
}

// ---- scripted agents

// Scripted people and bodies. A body is a set of discs that move together: rings of discs, each ring
// further inside, so that no agent of 0.2 m radius can slip in.

enum { DISC_LIMIT = 20000 };

static const char *scripted_id(const th_scene *scene, int i) { return scene->scripted[i].id; }

void th_gather_scripted(th_compiler *c) {
    th_scene *scene = c->scene;
    scene->scripted = c->list.scripted =
        th_take(c, (size_t)c->def->scripted_count, sizeof *scene->scripted);
    for (int i = 0; i < c->def->scripted_count && c->result == TH_OK; ++i) {
        const th_scripted_def *def = &c->def->scripted[i];
        th_scripted *scripted = &c->list.scripted[i];
        th_at(c, "scripted[%d].id", i);
        scripted->id = th_unique_id(c, def->id, "scripted", i, scripted_id, i);
        th_at(c, "scripted[%d].level", i);
        scripted->level = th_level_index(c, def->level);
        scripted->is_body = !th_shape_empty(&def->shape);
        th_at(c, "scripted[%d].radius", i);
        if (!scripted->is_body) th_check_range(c, "radius", def->radius, 0.05, 5.0, "m");
        scripted->radius = (float)def->radius;
        th_at(c, "scripted[%d].path", i);
        if (def->path_count < 1) th_bad(c, "a path needs at least one key frame [time, x, y]");
        for (int k = 0; k < def->path_count && c->result == TH_OK; ++k) {
            th_at(c, "scripted[%d].path[%d]", i, k);
            th_check_range(c, "time", def->path[k].time, 0.0, 1e7, "s");
            if (k && !(def->path[k].time > def->path[k - 1].time))
                th_bad(c, "time %g s does not come after %g s", def->path[k].time,
                       def->path[k - 1].time);
            th_gather_point(c, (th_point){def->path[k].x, def->path[k].y}, scripted->level);
        }
        // The shape has its own origin: it is parsed for its form, not for its place.
        th_extent whole = c->extent, level = c->extents[scripted->level];
        th_at(c, "scripted[%d].shape", i);
        th_gather_shape(c, &def->shape, false, scripted->level);
        c->extent = whole;
        c->extents[scripted->level] = level;
        scene->scripted_count = i + 1;
    }
}

typedef struct disc_writer {
    th_vec2 *discs; // NULL while counting
    int count;
    float spacing;
} disc_writer;

static bool add_discs(void *context, const th_vec2 *points, int count, bool ring, bool hole) {
    (void)ring;
    (void)hole;
    disc_writer *writer = context;
    for (int i = 0; i + 1 < count; ++i) {
        double x = (double)points[i + 1].x - (double)points[i].x;
        double y = (double)points[i + 1].y - (double)points[i].y;
        double needed = ceil(sqrt(x * x + y * y) / (double)writer->spacing);
        int steps = needed < 1.0 ? 1 : needed > DISC_LIMIT ? DISC_LIMIT : (int)needed;
        for (int k = 0; k < steps; ++k, ++writer->count) {
            if (writer->count > DISC_LIMIT) return true;
            if (!writer->discs) continue;
            double t = (double)k / steps;
            writer->discs[writer->count].x = (float)((double)points[i].x + t * x);
            writer->discs[writer->count].y = (float)((double)points[i].y + t * y);
        }
    }
    return true;
}

static GEOSGeometry *inset(th_compiler *c, const GEOSGeometry *shape, double distance) {
    enum { QUADRANT = 8, CAP_ROUND = 1, JOIN_MITRE = 2 };
    return GEOSBufferWithStyle_r(c->geometry.geos, shape, -distance, QUADRANT, CAP_ROUND,
                                 JOIN_MITRE, 2.0);
}

// Discs as large as the shape allows, from 0.2 m down to 0.05 m.
static float disc_radius(th_compiler *c, const GEOSGeometry *shape) {
    static const float radii[] = {0.2f, 0.1f, 0.05f};
    for (int i = 0; i < 3; ++i) {
        GEOSGeometry *inner = inset(c, shape, (double)radii[i]);
        bool empty = !inner || GEOSisEmpty_r(c->geometry.geos, inner);
        if (inner) GEOSGeom_destroy_r(c->geometry.geos, inner);
        if (!empty) return radii[i];
    }
    return 0.0f;
}

static bool write_rings(th_compiler *c, const GEOSGeometry *shape, float radius,
                        disc_writer *writer) {
    th_point origin = {0.0, 0.0};
    if (radius == 0.0f) return th_geometry_visit(&c->geometry, shape, origin, add_discs, writer);
    for (double depth = (double)radius; writer->count <= DISC_LIMIT;
         depth += 1.5 * (double)radius) {
        GEOSGeometry *ring = inset(c, shape, depth);
        bool end = !ring || GEOSisEmpty_r(c->geometry.geos, ring);
        bool good = end || th_geometry_visit(&c->geometry, ring, origin, add_discs, writer);
        if (ring) GEOSGeom_destroy_r(c->geometry.geos, ring);
        if (!good) return false;
        if (end) break;
    }
    return true;
}

static void compile_body(th_compiler *c, int i) {
    th_scripted *scripted = &c->list.scripted[i];
    const GEOSGeometry *shape = th_shape_geometry(c, &c->def->scripted[i].shape);
    float radius = disc_radius(c, shape);
    scripted->radius = radius > 0.0f ? radius : 0.05f; // thinner than 10 cm: discs on the outline
    disc_writer writer = {NULL, 0, scripted->radius};
    if (!write_rings(c, shape, radius, &writer)) th_no_memory(c);
    th_at(c, "scripted[%d].shape", i);
    if (writer.count > DISC_LIMIT)
        th_bad(c, "the body is too large; make it a door or smaller bodies");
    writer.discs = th_take(c, (size_t)writer.count + 1, sizeof *writer.discs);
    if (!writer.discs) return;
    writer.count = 0;
    if (!write_rings(c, shape, radius, &writer)) th_no_memory(c);
    scripted->discs = writer.discs;
    scripted->disc_count = writer.count;
}

void th_compile_scripted(th_compiler *c) {
    for (int i = 0; i < c->def->scripted_count && c->result == TH_OK; ++i) {
        const th_scripted_def *def = &c->def->scripted[i];
        th_scripted *scripted = &c->list.scripted[i];
        th_keyframe *path = th_take(c, (size_t)def->path_count, sizeof *path);
        for (int k = 0; path && k < def->path_count; ++k) {
            path[k] = def->path[k];
            path[k].x -= c->scene->origin.x;
            path[k].y -= c->scene->origin.y;
        }
        scripted->path = path;
        scripted->path_count = def->path_count;
        if (scripted->is_body) {
            compile_body(c, i);
        } else {
            scripted->discs = th_take(c, 1, sizeof *scripted->discs);
            scripted->disc_count = 1;
        }
    }
}
