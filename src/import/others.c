// Scenes of other simulators: JuPedSim (WKT, JSON of its web application) and Vadere (.scenario). They say what is what, so
// nothing is guessed; what throng has no word for is told. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "import/drawing.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct taker {
    th_arena *arena;
    json_t *scene;
    char *told;
    int told_length, told_capacity;
    int left_out;
} taker;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
tell(taker *t, const char *format, ...) {
    char line[400];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length >= (int)sizeof line) length = (int)sizeof line - 1;
    if (!th_arena_reserve(t->arena, &t->told, &t->told_capacity, t->told_length + length + 1, 1))
        return;
    memcpy(t->told + t->told_length, line, (size_t)length + 1);
    t->told_length += length;
}

static double number_in(const json_t *object, const char *key, double missing) {
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) && isfinite(json_number_value(value)) ? json_number_value(value)
                                                                       : missing;
}

static void begin(taker *t, const char *name, const char *kind) {
    t->scene = json_pack("{s:s,s:[],s:[],s:[],s:[],s:[]}", "name", name ? name : kind, "levels",
                         "exits", "waypoints", "waiting_areas", "groups");
    if (!t->scene)
        t->scene = json_pack("{s:s,s:[],s:[],s:[],s:[],s:[]}", "name", kind, "levels", "exits",
                             "waypoints", "waiting_areas", "groups");
}

static void add(taker *t, const char *list, json_t *element) {
    json_t *to = json_object_get(t->scene, list);
    if (!to) json_object_set_new(t->scene, list, to = json_array());
    json_array_append_new(to, element);
}

static size_t count_of(const taker *t, const char *list) {
    return json_array_size(json_object_get(t->scene, list));
}

// Empty lists go; the rest is counted.
static void finish(taker *t, const th_import_settings *settings) {
    static const char *const lists[] = {"exits", "waypoints", "waiting_areas", "zones", "groups"};
    if (settings->people > 0 && count_of(t, "groups") == 0)
        add(t, "groups", json_pack("{s:i}", "count", settings->people));
    for (int k = 0; k < settings->exit_count; ++k) {
        const double *e = settings->exits[k];
        add(t, "exits", json_pack("{s:[[f,f],[f,f]]}", "line", e[0], e[1], e[2], e[3]));
    }
    for (size_t k = 0; k < sizeof lists / sizeof *lists; ++k) {
        if (count_of(t, lists[k]) > 0)
            tell(t, "  %-16s %8zu\n", lists[k], count_of(t, lists[k]));
        else
            json_object_del(t->scene, lists[k]);
    }
    if (count_of(t, "exits") == 0)
        tell(t, "  no exits: give --exit x0,y0,x1,y1 where people leave\n");
    json_object_set_new(t->scene, "import",
                        json_pack("{s:s}", "file", settings->file ? settings->file : ""));
}

static bool has_id(const taker *t, const char *list, const char *id) {
    size_t k;
    json_t *value;
    json_array_foreach(json_object_get(t->scene, list), k, value) {
        const char *own = json_string_value(json_object_get(value, "id"));
        if (own && strcmp(own, id) == 0) return true;
    }
    return false;
}

static bool is_goal(const taker *t, const char *id) {
    return has_id(t, "exits", id) || has_id(t, "waypoints", id) || has_id(t, "waiting_areas", id);
}

// ---- JuPedSim

// [[x, y], ...] without what is no point.
static json_t *ring_of(const json_t *shape) {
    json_t *out = json_array();
    size_t k;
    json_t *p;
    json_array_foreach(json_object_get(shape, "coordinates"), k, p) {
        const json_t *x = json_array_get(p, 0), *y = json_array_get(p, 1);
        if (json_is_number(x) && json_is_number(y))
            json_array_append_new(out,
                                  json_pack("[f,f]", json_number_value(x), json_number_value(y)));
    }
    return out;
}

static json_t *spread_of(const json_t *parameters, const char *value, const char *kind,
                         const char *deviation, double missing) {
    double mean = number_in(parameters, value, missing);
    const char *word = json_string_value(json_object_get(parameters, kind));
    double sd = number_in(parameters, deviation, 0.0);
    if (!word || strcmp(word, "gaussian") != 0 || !(sd > 0.0)) return json_real(mean);
    return json_pack("{s:[f,f],s:f,s:f}", "normal", mean, sd, "min", fmax(0.1, mean - 3.0 * sd),
                     "max", mean + 3.0 * sd);
}

static const char *next_of(const json_t *transitions, const char *from, int *count) {
    const char *to = NULL;
    size_t k;
    json_t *value;
    *count = 0;
    json_array_foreach(transitions, k, value) {
        const char *start = json_string_value(json_object_get(value, "from"));
        const char *end = json_string_value(json_object_get(value, "to"));
        if (!start || !end || strcmp(start, from) != 0) continue;
        ++*count;
        to = end;
    }
    return to;
}

// Legs along the transitions; where they branch, the way on is left to the people: the nearest exit.
static json_t *route_of(taker *t, const json_t *root, const char *from) {
    enum { LEGS_MOST = 64 };
    json_t *route = json_array();
    int count;
    const char *at = from;
    for (int k = 0; k < LEGS_MOST; ++k) {
        at = next_of(json_object_get(root, "transitions"), at, &count);
        if (count > 1)
            tell(t, "  %.60s: its journey branches; people take the nearest exit\n", from);
        if (count != 1 || !is_goal(t, at)) break;
        json_array_append_new(route, json_string(at));
        if (has_id(t, "exits", at)) break;
    }
    if (json_array_size(route) > 0 &&
        has_id(t, "exits", json_string_value(json_array_get(route, json_array_size(route) - 1))))
        return route;
    json_t *exits = json_array(), *value;
    size_t k;
    json_array_foreach(json_object_get(t->scene, "exits"), k, value)
        json_array_append(exits, json_object_get(value, "id"));
    if (json_array_size(exits) > 0)
        json_array_append_new(route, exits);
    else
        json_decref(exits);
    return route;
}

static void take_distribution(taker *t, const json_t *root, const char *id, const json_t *value) {
    const json_t *p = json_object_get(value, "parameters");
    double number = number_in(p, "number", 0.0);
    json_t *group = json_pack("{s:s,s:o,s:o,s:o,s:o}", "id", id, "area", ring_of(value), "radius",
                              spread_of(p, "radius", "radius_distribution", "radius_std", 0.2),
                              "speed", spread_of(p, "v0", "v0_distribution", "v0_std", 1.2),
                              "route", route_of(t, root, id));
    if (!group) return;
    double from = number_in(p, "flow_start_time", 0.0), until = number_in(p, "flow_end_time", 0.0);
    if (json_is_true(json_object_get(p, "use_flow_spawning")) && until > from)
        json_object_set_new(group, "source",
                            json_pack("{s:f,s:f,s:f}", "rate", number / (until - from), "from",
                                      from, "until", until));
    else
        json_object_set_new(group, "count", json_integer((json_int_t)fmin(number, 1e6)));
    double a = number_in(p, "premovement_param_a", 0.0);
    double b = number_in(p, "premovement_param_b", 0.0);
    if (json_is_true(json_object_get(p, "use_premovement")) && a > 0.0 && b > 0.0)
        json_object_set_new(group, "premovement", json_pack("{s:[f,f]}", "gamma", a, b));
    add(t, "groups", group);
}

static void take_places(taker *t, const json_t *root) {
    const char *id;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)json_object_get(root, "exits"), id, value) {
        add(t, "exits", json_pack("{s:s,s:o}", "id", id, "area", ring_of(value)));
        if (json_is_true(json_object_get(value, "enable_throughput_throttling")))
            tell(t, "  %.60s: its limit of throughput is left out\n", id);
    }
    json_object_foreach((json_t *)(uintptr_t)json_object_get(root, "checkpoints"), id, value) {
        double wait = number_in(value, "waiting_time", 0.0);
        json_t *place = json_pack("{s:s,s:o}", "id", id, "area", ring_of(value));
        if (wait > 0.0) json_object_set_new(place, "wait", json_real(wait));
        add(t, wait > 0.0 ? "waiting_areas" : "waypoints", place);
    }
    json_object_foreach((json_t *)(uintptr_t)json_object_get(root, "zones"), id, value)
        add(t, "zones",
            json_pack("{s:s,s:o,s:f}", "id", id, "area", ring_of(value), "speed",
                      fmin(2.0, fmax(0.01, number_in(value, "speed_factor", 1.0)))));
}

// The move models that both have, by JuPedSim's names.
static const char *model_of(const char *name) {
    static const char *const names[][2] = {{"CollisionFreeSpeedModel", "collision_free_speed"},
                                           {"CollisionFreeSpeedModelV2", "collision_free_speed"},
                                           {"AnticipationVelocityModel", "anticipation_velocity"},
                                           {"SocialForceModel", "helbing_molnar"}};
    for (size_t k = 0; name && k < sizeof names / sizeof *names; ++k)
        if (strcmp(names[k][0], name) == 0) return names[k][1];
    return NULL;
}

static void take_settings(taker *t, const json_t *root) {
    const json_t *simulation =
        json_object_get(json_object_get(root, "config"), "simulation_settings");
    const json_t *p = json_object_get(simulation, "simulationParams");
    const char *name = json_string_value(json_object_get(p ? p : root, "model_type"));
    if (!name) name = json_string_value(json_object_get(root, "model_type"));
    const char *model = model_of(name);
    size_t k;
    json_t *group;
    json_array_foreach(json_object_get(t->scene, "groups"), k, group) if (model)
        json_object_set_new(group, "move", json_string(model));
    if (name)
        tell(t, "  %.60s: people move as \"%s\"; parameters are throng's own\n", name,
             model ? model : "people");
    json_t *run = json_object();
    double most = number_in(p, "max_simulation_time", 0.0);
    double seed = number_in(simulation, "baseSeed", -1.0);
    if (most >= 1.0 && most <= 1e6) json_object_set_new(run, "max_time", json_real(most));
    if (seed >= 0.0 && seed < 1e9) json_object_set_new(run, "seed", json_integer((json_int_t)seed));
    json_object_set_new(t->scene, "run", run);
}

static bool take_jupedsim(taker *t, const json_t *root, const char *wkt,
                          const th_import_settings *settings) {
    const char *own = json_string_value(json_object_get(root, "walkable_area_wkt"));
    begin(t, settings->name, "jupedsim");
    if (own) wkt = own;
    json_t *level = wkt ? json_pack("{s:s,s:[s]}", "id", "ground", "walkable", wkt) : NULL;
    if (!level) return false;
    add(t, "levels", level);
    take_places(t, root);
    const char *id;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)json_object_get(root, "distributions"), id, value)
        take_distribution(t, root, id, value);
    take_settings(t, root);
    return true;
}

// ---- Vadere

static json_t *shape_of(const json_t *element) {
    const json_t *shape = json_object_get(element, "shape");
    const char *type = json_string_value(json_object_get(shape, "type"));
    if (type && strcmp(type, "POLYGON") == 0) {
        json_t *ring = json_array(), *p;
        size_t k;
        json_array_foreach(json_object_get(shape, "points"), k, p) json_array_append_new(
            ring, json_pack("[f,f]", number_in(p, "x", 0.0), number_in(p, "y", 0.0)));
        return ring;
    }
    const json_t *centre = json_object_get(shape, "center");
    if (centre)
        return json_pack("{s:[f,f,f]}", "circle", number_in(centre, "x", 0.0),
                         number_in(centre, "y", 0.0), number_in(shape, "radius", 0.5));
    double x = number_in(shape, "x", 0.0), y = number_in(shape, "y", 0.0);
    return json_pack("{s:[f,f,f,f]}", "rect", x, y, x + number_in(shape, "width", 0.0),
                     y + number_in(shape, "height", 0.0));
}

static void put_id(char *id, size_t size, const char *stem, const json_t *number) {
    snprintf(id, size, "%s%lld", stem, (long long)json_integer_value(number));
}

// Targets of one number are parts of one: target1, target1_2 and so on. `next`: the first that is not taken.
static void put_target(const taker *t, char *id, size_t size, const json_t *number, bool next) {
    put_id(id, size, "target", number);
    size_t stem = strlen(id);
    for (int k = 2; next && is_goal(t, id) && k < 10000; ++k)
        snprintf(id + stem, size - stem, "_%d", k);
}

static json_t *leg_of(const taker *t, const json_t *number) {
    char id[60];
    put_target(t, id, sizeof id, number, false);
    json_t *leg = json_array();
    size_t stem = strlen(id);
    for (int k = 2; is_goal(t, id) && k < 10000; ++k) {
        json_array_append_new(leg, json_string(id));
        snprintf(id + stem, sizeof id - stem, "_%d", k);
    }
    return leg;
}

static void take_target(taker *t, const json_t *target) {
    char id[60];
    const json_t *absorber = json_object_get(target, "absorber");
    const json_t *absorbs =
        absorber ? json_object_get(absorber, "enabled") : json_object_get(target, "absorbing");
    double wait = number_in(target, "waitingTime", 0.0);
    put_target(t, id, sizeof id, json_object_get(target, "id"), true);
    json_t *place = json_pack("{s:s,s:o}", "id", id, "area", shape_of(target));
    if (!place) return;
    if (!json_is_false(absorbs)) {
        add(t, "exits", place);
    } else if (wait > 0.0) {
        json_object_set_new(place, "wait", json_real(wait));
        add(t, "waiting_areas", place);
    } else {
        add(t, "waypoints", place);
    }
    if (json_is_true(json_object_get(json_object_get(target, "waiter"), "enabled")))
        tell(t, "  %s: its waiting times are left out\n", id);
}

static void set_people(const taker *t, json_t *group, const json_t *people, const json_t *targets) {
    double mean = number_in(people, "speedDistributionMean", 1.34);
    double sd = number_in(people, "speedDistributionStandardDeviation", 0.26);
    double low = number_in(people, "minimumSpeed", 0.5);
    double high = number_in(people, "maximumSpeed", 2.2);
    json_object_set_new(group, "radius",
                        json_real(fmin(2.0, fmax(0.05, number_in(people, "radius", 0.2)))));
    json_object_set_new(group, "speed",
                        sd > 0.0 ? json_pack("{s:[f,f],s:f,s:f}", "normal", mean, sd, "min",
                                             fmax(0.0, low), "max", high)
                                 : json_real(mean));
    json_t *route = json_array(), *value;
    size_t k;
    json_array_foreach(targets, k, value) {
        json_t *leg = leg_of(t, value);
        if (json_array_size(leg) > 0)
            json_array_append_new(route, leg);
        else
            json_decref(leg);
    }
    if (json_array_size(route) > 0)
        json_object_set_new(group, "route", route);
    else
        json_decref(route);
}

// Interval at which its people come [s]; 0: once.
static double spacing_of(const json_t *source) {
    const json_t *spawner = json_object_get(source, "spawner");
    const json_t *distribution = json_object_get(spawner, "distribution");
    double every = number_in(distribution, "updateFrequency", 0.0);
    const json_t *old = json_object_get(source, "distributionParameters");
    if (!(every > 0.0) && json_is_array(old)) every = json_number_value(json_array_get(old, 0));
    return every;
}

static void take_source(taker *t, const json_t *source, const json_t *people) {
    char id[40];
    const json_t *spawner = json_object_get(source, "spawner");
    double number = number_in(spawner, "eventElementCount", number_in(source, "spawnNumber", 1.0));
    double from = number_in(spawner, "constraintsTimeStart", number_in(source, "startTime", 0.0));
    double until = number_in(spawner, "constraintsTimeEnd", number_in(source, "endTime", from));
    double every = spacing_of(source);
    put_id(id, sizeof id, "source", json_object_get(source, "id"));
    json_t *group = json_pack("{s:s,s:o}", "id", id, "area", shape_of(source));
    if (!group) return;
    set_people(t, group, people, json_object_get(source, "targetIds"));
    number = fmin(fmax(number, 0.0), 1e6);
    if (until > from && every > 0.0)
        json_object_set_new(
            group, "source",
            json_pack("{s:f,s:f,s:f}", "rate", number / every, "from", from, "until", until));
    else // they come as there is room
        json_object_set_new(group, "source",
                            json_pack("{s:[[f,i]]}", "timetable", from, (int)number));
    if (number_in(spawner, "constraintsElementsMax",
                  number_in(source, "maxSpawnNumberTotal", -1.0)) > 0.0)
        tell(t, "  %s: its limit of people in all is left out\n", id);
    add(t, "groups", group);
}

static void take_person(taker *t, const json_t *person, const json_t *people) {
    const json_t *own = json_object_get(person, "attributes");
    const json_t *at = json_object_get(person, "position");
    char id[40];
    put_id(id, sizeof id, "person", json_object_get(own, "id"));
    json_t *group = json_pack("{s:s,s:[[f,f]]}", "id", id, "positions", number_in(at, "x", 0.0),
                              number_in(at, "y", 0.0));
    if (!group) return;
    set_people(t, group, own ? own : people, json_object_get(person, "targetIds"));
    double speed = number_in(person, "freeFlowSpeed", 0.0);
    if (speed > 0.0) json_object_set_new(group, "speed", json_real(speed));
    add(t, "groups", group);
}

static void take_ground(taker *t, const json_t *topography) {
    const json_t *own = json_object_get(topography, "attributes");
    const json_t *bounds = json_object_get(own, "bounds");
    double edge = json_is_false(json_object_get(own, "bounded"))
                      ? 0.0
                      : number_in(own, "boundingBoxWidth", 0.5);
    double x = number_in(bounds, "x", 0.0) + edge, y = number_in(bounds, "y", 0.0) + edge;
    double width = number_in(bounds, "width", 10.0) - 2.0 * edge;
    double height = number_in(bounds, "height", 10.0) - 2.0 * edge;
    json_t *obstacles = json_array(), *value;
    size_t k;
    json_array_foreach(json_object_get(topography, "obstacles"), k, value)
        json_array_append_new(obstacles, shape_of(value));
    tell(t, "  ground of %.4g x %.4g m, %zu obstacles\n", width, height,
         json_array_size(obstacles));
    json_t *level = json_pack("{s:s,s:[{s:[f,f,f,f]}],s:o}", "id", "ground", "walkable", "rect", x,
                              y, x + width, y + height, "obstacles", obstacles);
    if (json_array_size(obstacles) == 0) json_object_del(level, "obstacles");
    add(t, "levels", level);
}

static bool take_vadere(taker *t, const json_t *root, const th_import_settings *settings) {
    const double stairs = 0.58; // [-] between 0.5 up and 0.67 down, RiMEA 4.1.1
    const json_t *scenario = json_object_get(root, "scenario");
    const json_t *topography = json_object_get(scenario, "topography");
    if (!json_is_object(topography)) return false;
    begin(t, json_string_value(json_object_get(root, "name")), "vadere");
    (void)settings;
    take_ground(t, topography);
    size_t k;
    json_t *value;
    char id[40];
    json_array_foreach(json_object_get(topography, "targets"), k, value) take_target(t, value);
    json_array_foreach(json_object_get(topography, "stairs"), k, value) {
        put_id(id, sizeof id, "stairs", json_object_get(value, "id"));
        add(t, "zones",
            json_pack("{s:s,s:o,s:f}", "id", id, "area", shape_of(value), "speed", stairs));
        tell(t, "  %s: a zone where people walk at %g of their speed, up and down\n", id, stairs);
    }
    const json_t *people = json_object_get(topography, "attributesPedestrian");
    json_array_foreach(json_object_get(topography, "sources"), k, value)
        take_source(t, value, people);
    json_array_foreach(json_object_get(topography, "dynamicElements"), k, value)
        take_person(t, value, people);
    json_t *areas = json_array();
    json_array_foreach(json_object_get(topography, "measurementAreas"), k, value) {
        put_id(id, sizeof id, "area", json_object_get(value, "id"));
        json_array_append_new(areas, json_pack("{s:s,s:o}", "id", id, "area", shape_of(value)));
    }
    if (json_array_size(areas) > 0)
        json_object_set_new(t->scene, "measure", json_pack("{s:O}", "areas", areas));
    json_decref(areas);
    static const char *const unknown[] = {"absorbingAreas", "targetChangers", "aerosolClouds",
                                          "droplets"};
    for (k = 0; k < sizeof unknown / sizeof *unknown; ++k)
        if (json_array_size(json_object_get(topography, unknown[k])) > 0)
            tell(t, "  %s are left out\n", unknown[k]);
    const json_t *simulation = json_object_get(scenario, "attributesSimulation");
    double most = number_in(simulation, "finishTime", 0.0);
    if (most >= 1.0 && most <= 1e6)
        json_object_set_new(t->scene, "run", json_pack("{s:f}", "max_time", most));
    return true;
}

// ---- which of them

json_t *th_others_take(th_arena *arena, const char *text, size_t length, const char *wkt,
                       const th_import_settings *settings, const char **told, th_error *error) {
    taker t = {.arena = arena};
    json_error_t where;
    json_t *root = wkt && !text ? json_object() : json_loadb(text, length, 0, &where);
    bool good = false;
    if (!root) {
        th_fail(error, TH_BAD_SCENE, "", "line %d: the file is no JSON: %.100s", where.line,
                where.text);
        return NULL;
    }
    if (json_is_array(json_object_get(root, "levels"))) { // throng's own
        *told = "";
        return root;
    }
    tell(&t, "%s:\n", settings->file ? settings->file : "scene");
    if (json_object_get(root, "scenario"))
        good = take_vadere(&t, root, settings);
    else if (wkt || json_object_get(root, "walkable_area_wkt"))
        good = take_jupedsim(&t, root, wkt, settings);
    if (good)
        finish(&t, settings);
    else
        th_fail(error, TH_BAD_SCENE, "",
                "this is neither a scenario of Vadere (no \"scenario\" with \"topography\") nor of "
                "JuPedSim (no \"walkable_area_wkt\", and no geometry.wkt beside it)");
    json_decref(root);
    if (!good) json_decref(t.scene);
    *told = t.told ? t.told : "";
    return good ? t.scene : NULL;
}
