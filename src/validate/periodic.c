// The corridor without ends. SPDX-License-Identifier: Apache-2.0
#include "validate/periodic.h"
#include "core/error.h"
#include "formula/random.h"
#include "formula/weidmann.h"
#include "validate/validate.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double MARGIN = 6.0; // [m] of copies at each end: neighbours count up to 5 m
// Ground beyond the copies [m]: a packed crowd must not be stopped by a wall at the end.
static const double RUN_OUT = 6.0;
enum { STORE_COLUMNS = 29 }; // of copies that are not needed, 2 m apart on a level of their own
static const float FAR_GOAL = 1e4f; // [m]

th_periodic_def th_periodic_def_default(const char *filter, const char *move, double density) {
    th_periodic_def def = {.filter = filter, .move = move, .density = density};
    def.length = 20.0;
    def.width = 4.0;
    def.step = 0.0625;
    def.warm_up = def.measured = 20.0;
    def.radius = 0.2;
    def.speed = TH_WEIDMANN_FREE_SPEED;
    def.seed = 1;
    return def;
}

typedef struct periodic {
    const th_periodic_def *def;
    th_scene *scene;
    th_world *world;
    int people, copies;
    float *old_x, *old_y; // velocities
} periodic;

static th_result corridor(const th_periodic_def *def, th_scene **scene, th_error *error) {
    char text[4096], models[TH_CHOICE_TEXT];
    th_choice_text(&(th_models_choice){.filter = def->filter, .move = def->move}, ", ", models);
    double people = def->density * def->length * def->width;
    double store_width = 2.0 * STORE_COLUMNS + 2.0,
           store_height = 2.0 * ceil(people / STORE_COLUMNS) + 4.0; // [m]
    int length = snprintf(
        text, sizeof text,
        "{\"levels\": [{\"id\": \"corridor\", \"walkable\": {\"rect\": [%g, %g, %g, %g]}},"
        " {\"id\": \"store\", \"walkable\": {\"rect\": [0, 0, %g, %g]}}],"
        " \"groups\": [{\"id\": \"people\", \"level\": \"corridor\", \"count\": 0,"
        "  \"own_goal\": {\"in\": {\"rect\": [0, -0.1, 1, 0.1]}}, \"plan\": \"straight\"%s}],"
        " \"run\": {\"step\": %.9g, \"max_time\": 1e6}}",
        -MARGIN - RUN_OUT, -def->width / 2, def->length + MARGIN + RUN_OUT, def->width / 2,
        store_width, store_height, models, def->step);
    if (length < 0 || (size_t)length >= sizeof text)
        return th_fail(error, TH_BAD_ARGUMENT, "", "filter and move are too long a text");
    return th_scene_load_json(text, (size_t)length, "corridor", NULL, NULL, scene, error);
}

// A standard normal number out of two of the four that have not been used for places.
static double normal(th_random4 r) {
    double u = fmax((double)th_uniform(r.v[2]), 1e-7), v = (double)th_uniform(r.v[3]);
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

// A hexagonal lattice with a little disorder, as many as the density asks for.
static th_agent_def person(const th_periodic_def *def, int k, int rows, int columns) {
    th_agent_def agent = th_agent_def_default();
    double room = def->width - 2.0 * def->radius;
    int row = k % rows, column = k / rows;
    th_random4 r = th_philox(def->seed, 2000, (uint32_t)k, 0);
    double spacing = def->length / columns;
    double x = (column + (row % 2 ? 0.5 : 0.0)) * spacing;
    double y = -room / 2 + room * (row + 0.5) / rows;
    agent.position.x = (float)fmod(x + 0.1 * spacing * (double)th_uniform(r.v[0]), def->length);
    agent.position.y = (float)(y + 0.1 * room / rows * ((double)th_uniform(r.v[1]) - 0.5));
    bool back = def->both_ways && th_uniform(r.v[2]) < 0.5f;
    agent.goal = (th_vec2){back ? -FAR_GOAL : FAR_GOAL, agent.position.y};
    agent.velocity = (th_vec2){back ? -0.1f : 0.1f, 0.0f};
    agent.radius = (float)def->radius;
    agent.speed = (float)fmax(0.5, def->speed + def->spread * normal(r));
    agent.mass = 80.0f;
    return agent;
}

// Copies that are not needed wait far from each other.
static th_vec2 place_in_store(int n) {
    return (th_vec2){(float)(1 + 2 * (n % STORE_COLUMNS)), (float)(1 + 2 * (n / STORE_COLUMNS))};
}

static th_result fill(periodic *p, th_error *error) {
    const th_periodic_def *def = p->def;
    p->people = (int)(def->density * def->length * def->width + 0.5);
    p->copies = p->people;
    // Rows of a hexagonal lattice of that density are sqrt(sqrt(3) / 2) = 0.93 of this apart. Fewer would put
    // people nearer behind each other than beside, where they hinder each other most.
    double spacing = sqrt(1.0 / def->density);
    int rows = (int)fmax(1.0, floor(def->width / (0.93 * spacing) + 0.5));
    int columns = (p->people + rows - 1) / rows;
    for (int k = 0; k < p->people + p->copies; ++k) {
        th_agent_def agent = person(def, k < p->people ? k : 0, rows, columns);
        if (k >= p->people) {
            agent.level = agent.goal_level = 1;
            agent.position = place_in_store(k - p->people);
        }
        th_result spawned = th_world_spawn(p->world, &agent, 1, NULL, error);
        if (spawned != TH_OK) return spawned;
    }
    return TH_OK;
}

enum { X, Y, VELOCITY_X, VELOCITY_Y, GOAL_X, GOAL_Y, FIELDS };
static const th_field FIELD[FIELDS] = {TH_FIELD_POSITION_X, TH_FIELD_POSITION_Y,
                                       TH_FIELD_VELOCITY_X, TH_FIELD_VELOCITY_Y,
                                       TH_FIELD_GOAL_X,     TH_FIELD_GOAL_Y};

static void unmap(periodic *p, int count) {
    for (int f = 0; f < count; ++f) th_world_unmap(p->world, FIELD[f]);
}

// Views of the first `count` of FIELD; on failure none is left mapped.
static th_result map(periodic *p, th_access access, int count, float **view, th_error *error) {
    for (int f = 0; f < count; ++f) {
        view[f] = th_world_map(p->world, FIELD[f], access);
        if (view[f]) continue;
        unmap(p, f);
        return th_fail(error, TH_NO_MEMORY, "", "no memory for a view of the corridor");
    }
    return TH_OK;
}

// Puts back who left, and the copies where they are needed. Ids ascend, so people come first.
static th_result wrap(periodic *p, th_error *error) {
    float *v[FIELDS], length = (float)p->def->length, margin = (float)MARGIN;
    th_result mapped = map(p, TH_WRITE, FIELDS, v, error);
    if (mapped != TH_OK) return mapped;
    uint32_t *level = th_world_map(p->world, TH_FIELD_LEVEL, TH_WRITE);
    if (!level) {
        unmap(p, FIELDS);
        return th_fail(error, TH_NO_MEMORY, "", "no memory for a view of the corridor");
    }
    int copy = p->people;
    for (int i = 0; i < p->people; ++i) {
        if (v[X][i] >= length) v[X][i] -= length;
        if (v[X][i] < 0.0f) v[X][i] += length;
        v[GOAL_Y][i] = v[Y][i];
        float shift = v[X][i] < margin ? length : v[X][i] > length - margin ? -length : 0.0f;
        if (shift == 0.0f) continue;
        for (int f = 0; f < FIELDS; ++f) v[f][copy] = v[f][i];
        v[X][copy] += shift;
        level[copy++] = 0;
    }
    for (int n = 0; copy < p->people + p->copies; ++copy, ++n) {
        th_vec2 place = place_in_store(n);
        level[copy] = 1;
        v[X][copy] = place.x;
        v[Y][copy] = place.y;
    }
    unmap(p, FIELDS);
    th_world_unmap(p->world, TH_FIELD_LEVEL);
    return TH_OK;
}

static th_result look(periodic *p, bool first, th_periodic_result *sum, th_error *error) {
    float *v[FIELDS];
    th_result mapped = map(p, TH_READ, FIELDS, v, error);
    if (mapped != TH_OK) return mapped;
    const float *x = v[X], *y = v[Y], *vx = v[VELOCITY_X], *vy = v[VELOCITY_Y];
    double apart2 = 2.0 * p->def->radius - 0.01;
    apart2 *= apart2;
    for (int i = 0; i < p->people; ++i) {
        if (!first) {
            sum->speed += v[GOAL_X][i] > 0.0f ? (double)vx[i] : -(double)vx[i];
            sum->acceleration +=
                hypot((double)(vx[i] - p->old_x[i]), (double)(vy[i] - p->old_y[i])) / p->def->step;
            for (int j = 0; j < i; ++j) {
                double dx = (double)(x[i] - x[j]), dy = (double)(y[i] - y[j]);
                sum->overlaps += dx * dx + dy * dy < apart2;
            }
        }
        p->old_x[i] = vx[i];
        p->old_y[i] = vy[i];
    }
    unmap(p, FIELDS);
    return TH_OK;
}

static th_result create(periodic *p, th_error *error) {
    const th_periodic_def *def = p->def;
    th_result result = corridor(def, &p->scene, error);
    if (result != TH_OK) return result;
    th_world_def world = th_world_def_default();
    world.threads = 1;
    world.seed = def->seed;
    world.agent_capacity = (int)(2.0 * def->density * def->length * def->width) + 16;
    result = th_world_create(p->scene, &world, &p->world, error);
    if (result == TH_OK) result = fill(p, error);
    if (result != TH_OK) return result;
    p->old_x = calloc((size_t)p->people + 1, sizeof *p->old_x);
    p->old_y = calloc((size_t)p->people + 1, sizeof *p->old_y);
    if (!p->old_x || !p->old_y)
        return th_fail(error, TH_NO_MEMORY, "", "no memory for the people of the corridor");
    return wrap(p, error);
}

static th_result walk(periodic *p, th_periodic_result *sum, th_error *error) {
    const th_periodic_def *def = p->def;
    int warm_up = (int)(def->warm_up / def->step), measured = (int)(def->measured / def->step);
    th_result result = TH_OK;
    for (int n = 0; n <= warm_up + measured && result == TH_OK; ++n) {
        th_world_step(p->world, 1);
        // Before people are put back: their velocity is the same either way.
        if (n >= warm_up) result = look(p, n == warm_up, sum, error);
        if (result == TH_OK) result = wrap(p, error);
    }
    double looks = fmax(1.0, (double)p->people * measured);
    sum->speed /= looks;
    sum->acceleration /= looks;
    sum->overlaps /= looks;
    sum->flow = def->density * sum->speed;
    sum->repairs = th_world_statistics(p->world).repairs;
    return result;
}

th_result th_periodic_run(const th_periodic_def *def, th_periodic_result *result, th_error *error) {
    *result = (th_periodic_result){0};
    // Everybody needs one copy at most, and that far from himself.
    if (!(def->length >= 2.0 * MARGIN) || !(def->density > 0.0) || !(def->step > 0.0))
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "a corridor without ends is at least %g m long and has people in it",
                       2.0 * MARGIN);
    periodic p = {.def = def};
    th_result done = create(&p, error);
    result->people = p.people;
    if (done == TH_OK) done = walk(&p, result, error);
    free(p.old_x);
    free(p.old_y);
    th_world_destroy(p.world);
    th_scene_destroy(p.scene);
    return done;
}
