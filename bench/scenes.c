// The bench scenes. People go into the world in small portions, so that the making of a scene does not
// show in the peak memory of its run. SPDX-License-Identifier: Apache-2.0
#include "bench/scenes.h"
#include "bench/walled.h"

// Counter-based random numbers: a jitter that is the same on every machine.
#include "formula/random.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const th_bench_scene_names[TH_BENCH_SCENE_COUNT] = {
    "circle", "block", "dense", "packed", "pillars", "door", "rooms"};

static const double RADIUS = 0.2;          // [m]
static const double CIRCLE_SPACING = 0.6;  // [m]
static const double PACKED_SPACING = 0.41; // [m]
static const double BLOCK_DENSITY = 3.0;   // [1/m2]
static const double DENSE_DENSITY = 4.0;   // [1/m2]
static const uint64_t SEED = 1;
enum { STREAM_JITTER = 1000 }; // far from the library's own streams

th_bench_scene th_bench_find_scene(const char *name) {
    int i = 0;
    while (i < TH_BENCH_SCENE_COUNT && strcmp(th_bench_scene_names[i], name) != 0) ++i;
    return (th_bench_scene)i;
}

static const th_model *find_move(const char *name) {
    int found = th_model_find(TH_STAGE_MOVE, name);
    return found < 0 ? NULL : th_models(NULL)[found];
}

bool th_bench_has_model(th_stage stage, const char *model) {
    return th_model_find(stage, model) >= 0;
}

static const th_param_info *find_param(const th_model *model, const char *name) {
    for (int i = 0; model && i < model->param_count; ++i)
        if (strcmp(model->params[i].name, name) == 0) return &model->params[i];
    return NULL;
}

th_result th_bench_load(const char *file, const th_scene_options *options, int threads, double step,
                        th_backend backend, th_scene **scene, th_world **world, th_error *error) {
    th_world_def def = th_world_def_default();
    def.backend = backend;
    def.threads = threads;
    if (step > 0) def.step = step;
    *scene = NULL;
    *world = NULL;
    th_result result = th_scene_load_file(file, options, scene, error);
    if (result == TH_NO_FILE) result = error->code = TH_BAD_SCENE;
    if (result == TH_OK) result = th_world_create(*scene, &def, world, error);
    if (result == TH_OK) return TH_OK;
    if (!error->file[0]) snprintf(error->file, sizeof error->file, "%.255s", file);
    th_scene_destroy(*scene);
    *scene = NULL;
    return result;
}

int th_bench_substeps(const char *model, double step) {
    const th_param_info *substep = find_param(find_move(model), "substep");
    return substep ? (int)ceil(step / substep->value - 1e-3) : 1;
}

// What the bench fixes, for the models that have such a parameter.
static int bench_params(const char *model, th_param *params) {
    static const th_param fixed[] = {
        {"neighbour_range", 5},  {"max_neighbours", 10},
        {"time_horizon", 2},     {"max_speed", (double)TH_BENCH_SPEED},
        {"max_speed_factor", 1}, // Helbing-Molnar: of the preferred speed
    };
    int count = 0;
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; ++i)
        if (find_param(find_move(model), fixed[i].name)) params[count++] = fixed[i];
    return count;
}

// A portion of people on its way into the world.
typedef struct portion {
    th_world *world;
    th_agent_def people[1024];
    int count;
    int placed, wanted;
    double jitter; // largest offset along x and y [m]
    bool opposite; // goal through the centre; otherwise mirrored in x
    th_result result;
    th_error *error;
} portion;

static void flush(portion *p) {
    if (p->count > 0 && p->result == TH_OK)
        p->result = th_world_spawn(p->world, p->people, p->count, NULL, p->error);
    p->count = 0;
}

// False when no more people are wanted.
static bool put(portion *p, double x, double y) {
    if (p->placed == p->wanted || p->result != TH_OK) return false;
    th_random4 random = th_philox(SEED, STREAM_JITTER, (uint32_t)p->placed, 0);
    x += p->jitter * (2 * (double)th_uniform(random.v[0]) - 1);
    y += p->jitter * (2 * (double)th_uniform(random.v[1]) - 1);
    th_agent_def person = th_agent_def_default();
    person.position = (th_vec2){(float)x, (float)y};
    person.goal = (th_vec2){(float)-x, (float)(p->opposite ? -y : y)};
    person.radius = (float)RADIUS;
    person.speed = TH_BENCH_SPEED;
    p->people[p->count++] = person;
    p->placed += 1;
    if (p->count == (int)(sizeof p->people / sizeof p->people[0])) flush(p);
    return true;
}

// Walks over the hexagonal lattice points in the annulus of that outer radius, bottom row first.
// With p NULL it only counts.
static int fill_annulus(portion *p, double outer) {
    double row_height = CIRCLE_SPACING * sqrt(0.75), inner = outer / 2;
    int count = 0, rows = (int)(outer / row_height);
    for (int row = -rows; row <= rows; ++row) {
        double y = row * row_height, shift = row % 2 != 0 ? 0.5 : 0.0;
        int columns = (int)(outer / CIRCLE_SPACING) + 1;
        for (int column = -columns; column <= columns; ++column) {
            double x = (column + shift) * CIRCLE_SPACING, distance2 = x * x + y * y;
            if (distance2 > outer * outer || distance2 < inner * inner) continue;
            count += 1;
            if (p && !put(p, x, y)) return count;
        }
    }
    return count;
}

static void place_circle(portion *p) {
    p->jitter = 0.01;
    p->opposite = true;
    // Area per person: spacing^2 sqrt(3)/2; of the annulus: 3/4 pi outer^2.
    double area = CIRCLE_SPACING * CIRCLE_SPACING * sqrt(0.75) * p->wanted;
    double outer = sqrt(area / (0.75 * 3.14159265358979));
    while (fill_annulus(NULL, outer) < p->wanted) outer *= 1.0005;
    fill_annulus(p, outer);
}

// As square as the number allows; the last row may be short.
static void place_rows(portion *p, double spacing, double row_height, bool hexagonal) {
    int columns = (int)ceil(sqrt(p->wanted * row_height / spacing));
    int rows = (p->wanted + columns - 1) / columns;
    for (int i = 0; i < p->wanted; ++i) {
        int column = i % columns, row = i / columns;
        double shift = hexagonal && row % 2 != 0 ? 0.25 : hexagonal ? -0.25 : 0.0;
        if (!put(p, (column - 0.5 * (columns - 1) + shift) * spacing,
                 (row - 0.5 * (rows - 1)) * row_height))
            return;
    }
}

static void place_people(portion *p, th_bench_scene which) {
    if (which == TH_BENCH_CIRCLE) {
        place_circle(p);
    } else if (which == TH_BENCH_BLOCK || which == TH_BENCH_DENSE) {
        double spacing = 1 / sqrt(which == TH_BENCH_BLOCK ? BLOCK_DENSITY : DENSE_DENSITY);
        p->jitter = 0.05;
        place_rows(p, spacing, spacing, false);
    } else {
        place_rows(p, PACKED_SPACING, PACKED_SPACING * sqrt(0.75), true);
    }
    flush(p);
}

// No scene is left behind on failure.
static th_result create_open(th_bench_scene which, const th_group_def *group, int agents,
                             th_scene **scene, th_error *error) {
    th_point corners[4];
    double reach = sqrt(agents); // wider than any of the lattices
    th_group_def people = *group;
    people.count = 0; // they are spawned one portion after the other
    people.area = th_bench_rectangle(corners, -reach, -reach, reach, reach);
    people.plan.name = "straight";
    people.own_goal = which == TH_BENCH_CIRCLE ? TH_OWN_GOAL_OPPOSITE : TH_OWN_GOAL_MIRROR_X;
    th_scene_def def = th_scene_def_default();
    def.name = th_bench_scene_names[which];
    def.groups = &people;
    def.group_count = 1;
    return th_scene_create(&def, scene, error);
}

th_result th_bench_create(th_bench_scene which, const th_bench_models *models, int agents,
                          double step, int threads, th_backend backend, th_scene **scene,
                          th_world **world, th_error *error) {
    th_param params[8];
    th_group_def group = th_group_def_default();
    group.id = "people";
    group.radius = (th_distribution){.kind = TH_CONSTANT, .a = RADIUS};
    group.speed = (th_distribution){.kind = TH_CONSTANT, .a = (double)TH_BENCH_SPEED};
    if (models->filter) group.filter = *models->filter;
    if (models->behave) group.behave.name = models->behave;
    group.move.name = models->move;
    group.move.params = params;
    group.move.param_count = bench_params(models->move, params);
    bool open_ground = which < TH_BENCH_PILLARS;
    th_result result = open_ground ? create_open(which, &group, agents, scene, error)
                                   : th_bench_walled(which, &group, agents, scene, error);
    if (result != TH_OK) return result;

    th_world_def def = th_world_def_default();
    def.backend = backend;
    def.threads = threads;
    def.step = step;
    def.seed = SEED;
    def.agent_capacity = agents;
    result = th_world_create(*scene, &def, world, error);
    if (result == TH_OK && open_ground) {
        portion p = {.world = *world, .wanted = agents, .error = error, .result = TH_OK};
        place_people(&p, which);
        result = p.result;
        if (result != TH_OK) th_world_destroy(*world);
    }
    if (result != TH_OK) th_scene_destroy(*scene);
    return result;
}
