// The corridor without ends. SPDX-License-Identifier: Apache-2.0
#include "support_periodic.h"
#include "formula/random.h"
#include "support.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double MARGIN = 6.0; // [m] of copies at each end: neighbours count up to 5 m
static const double STORE = 60.0; // [m] side of the level where copies wait that are not needed
static const float RADIUS = 0.2f; // [m]
static const float FREE_SPEED = 1.34f; // [m/s] Weidmann
static const float FAR_GOAL = 1e4f;    // [m]

double weidmann_speed(double density) {
    return 1.34 * (1.0 - exp(-1.913 * (1.0 / density - 1.0 / 5.4)));
}

periodic_def periodic_default(const char *filter, const char *move, double density) {
    periodic_def def = {.filter = filter, .move = move, .density = density};
    def.length = 20.0;
    def.width = 4.0;
    def.step = 0.0625;
    def.settle = def.measured = 20.0;
    def.seed = 1;
    return def;
}

typedef struct periodic {
    const periodic_def *def;
    th_scene *scene;
    th_world *world;
    int people, copies;
    float *old_x, *old_y; // velocities
} periodic;

static th_scene *corridor(const periodic_def *def) {
    char text[2048];
    snprintf(text, sizeof text,
             "{\"levels\": [{\"id\": \"corridor\", \"walkable\": {\"rect\": [%g, %g, %g, %g]}},"
             " {\"id\": \"store\", \"walkable\": {\"rect\": [0, 0, %g, %g]}}],"
             " \"groups\": [{\"id\": \"people\", \"level\": \"corridor\", \"count\": 0,"
             "  \"own_goal\": {\"in\": {\"rect\": [0, -0.1, 1, 0.1]}}, \"plan\": \"straight\","
             "  \"filter\": %s, \"move\": %s}],"
             " \"run\": {\"step\": %.9g, \"max_time\": 1e6}}",
             -MARGIN, -def->width / 2, def->length + MARGIN, def->width / 2, STORE, STORE,
             def->filter, def->move, def->step);
    return scene_of(text);
}

// A hexagonal lattice with a little disorder, as many as the density asks for.
static th_agent_def person(const periodic_def *def, int k, int rows, int columns) {
    th_agent_def agent = th_agent_def_default();
    double room = def->width - 2.0 * (double)RADIUS;
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
    agent.radius = RADIUS;
    agent.speed = FREE_SPEED;
    agent.mass = 80.0f;
    return agent;
}

static void fill(periodic *p) {
    const periodic_def *def = p->def;
    p->people = (int)(def->density * def->length * def->width + 0.5);
    p->copies = p->people;
    double spacing = sqrt(1.0 / def->density);
    int rows = (int)fmax(1.0, floor((def->width - 2 * (double)RADIUS) / (0.93 * spacing)));
    int columns = (p->people + rows - 1) / rows;
    th_error error = {0};
    for (int k = 0; k < p->people + p->copies; ++k) {
        th_agent_def agent = person(def, k < p->people ? k : 0, rows, columns);
        if (k >= p->people) {
            agent.level = agent.goal_level = 1;
            int n = k - p->people;
            agent.position = (th_vec2){(float)(1 + 2 * (n % 29)), (float)(1 + 2 * (n / 29))};
        }
        if (th_world_spawn(p->world, &agent, 1, NULL, &error) != TH_OK)
            fail_msg("%s", error.message);
    }
}

// Puts back who left, and the copies where they are needed. Ids ascend, so people come first.
static void wrap(periodic *p) {
    static const th_field fields[] = {TH_FIELD_POSITION_X, TH_FIELD_POSITION_Y, TH_FIELD_VELOCITY_X,
                                      TH_FIELD_VELOCITY_Y, TH_FIELD_GOAL_X,     TH_FIELD_GOAL_Y};
    enum { FIELDS = sizeof fields / sizeof *fields };
    float *v[FIELDS], length = (float)p->def->length, margin = (float)MARGIN;
    for (int f = 0; f < FIELDS; ++f)
        assert_non_null(v[f] = th_world_map(p->world, fields[f], TH_WRITE));
    uint32_t *level = th_world_map(p->world, TH_FIELD_LEVEL, TH_WRITE);
    assert_non_null(level);
    int copy = p->people;
    for (int i = 0; i < p->people; ++i) {
        if (v[0][i] >= length) v[0][i] -= length;
        if (v[0][i] < 0.0f) v[0][i] += length;
        v[5][i] = v[1][i];
        float shift = v[0][i] < margin ? length : v[0][i] > length - margin ? -length : 0.0f;
        if (shift == 0.0f) continue;
        for (int f = 0; f < FIELDS; ++f) v[f][copy] = v[f][i];
        v[0][copy] += shift;
        level[copy++] = 0;
    }
    for (int n = 0; copy < p->people + p->copies; ++copy, ++n) {
        level[copy] = 1;
        v[0][copy] = (float)(1 + 2 * (n % 29));
        v[1][copy] = (float)(1 + 2 * (n / 29));
    }
    for (int f = 0; f < FIELDS; ++f) th_world_unmap(p->world, fields[f]);
    th_world_unmap(p->world, TH_FIELD_LEVEL);
}

static void look(periodic *p, bool first, periodic_result *sum) {
    const float *x = field_of(p->world, TH_FIELD_POSITION_X),
                *y = field_of(p->world, TH_FIELD_POSITION_Y),
                *vx = field_of(p->world, TH_FIELD_VELOCITY_X),
                *vy = field_of(p->world, TH_FIELD_VELOCITY_Y),
                *goal = field_of(p->world, TH_FIELD_GOAL_X);
    for (int i = 0; i < p->people; ++i) {
        if (!first) {
            sum->speed += goal[i] > 0.0f ? (double)vx[i] : -(double)vx[i];
            sum->acceleration +=
                hypot((double)(vx[i] - p->old_x[i]), (double)(vy[i] - p->old_y[i])) / p->def->step;
            for (int j = 0; j < i; ++j) {
                double apart = hypot((double)(x[i] - x[j]), (double)(y[i] - y[j]));
                sum->overlaps += apart < 2.0 * (double)RADIUS - 0.01;
            }
        }
        p->old_x[i] = vx[i];
        p->old_y[i] = vy[i];
    }
}

periodic_result periodic_run(const periodic_def *def) {
    assert_true(def->length >= 2.0 * MARGIN); // one copy of each is enough
    periodic p = {.def = def, .scene = corridor(def)};
    th_world_def world = th_world_def_default();
    world.threads = 1;
    world.seed = def->seed;
    world.agent_capacity = (int)(2.0 * def->density * def->length * def->width) + 16;
    th_error error = {0};
    if (th_world_create(p.scene, &world, &p.world, &error) != TH_OK) fail_msg("%s", error.message);
    fill(&p);
    p.old_x = calloc((size_t)p.people, sizeof *p.old_x);
    p.old_y = calloc((size_t)p.people, sizeof *p.old_y);
    assert_true(p.old_x && p.old_y);
    periodic_result sum = {.people = p.people};
    int settle = (int)(def->settle / def->step), measured = (int)(def->measured / def->step);
    wrap(&p);
    for (int n = 0; n < settle; ++n) {
        th_world_step(p.world, 1);
        wrap(&p);
    }
    for (int n = 0; n <= measured; ++n) {
        th_world_step(p.world, 1);
        look(&p, n == 0, &sum); // before people are put back: their velocity is the same either way
        wrap(&p);
    }
    double looks = (double)p.people * measured;
    sum.speed /= looks;
    sum.acceleration /= looks;
    sum.overlaps /= looks;
    sum.flow = def->density * sum.speed;
    assert_int_equal(th_world_statistics(p.world).repairs, 0);
    free(p.old_x);
    free(p.old_y);
    th_world_destroy(p.world);
    th_scene_destroy(p.scene);
    return sum;
}
