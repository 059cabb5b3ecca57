// The bench scenes. People go into the world in small portions, so that making a scene does not show in the peak memory
// of its run.
// SPDX-License-Identifier: Apache-2.0
#include "bench/bench.h"
#include "formula/random.h" // a jitter that is the same on every machine
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const float SPEED = 1.3f; // preferred and maximum [m/s]

// ---- scenes with walls: pillars, a door, rooms

static const double PILLAR_SPACING = 5.0; // [m]
static const double PILLAR_SIDE = 1.0;    // [m]
static const double PILLAR_RUNWAY = 40.0; // from the last pillars to the goal [m]
static const double DOOR_DENSITY = 3.0;   // before the door [1/m2]
static const double DOOR_WIDTH = 2.0;     // [m]
static const double DOOR_RUNWAY = 10.0;   // from the door to the goal [m]
static const double ROOM_SIDE = 20.0;     // [m]
static const double ROOM_DENSITY = 1.0;   // [1/m2]
static const double ROOM_OPENING = 1.6;   // between two rooms [m]
static const double ROOM_EXIT = 10.0;     // [m]
static const double ROOM_INSET =
    4.0; // of the starts from the exits, so that no agent leaves while timed [m]

static th_shape rectangle(th_point *corners, double x0, double y0, double x1, double y1) {
    corners[0] = (th_point){x0, y0};
    corners[1] = (th_point){x1, y0};
    corners[2] = (th_point){x1, y1};
    corners[3] = (th_point){x0, y1};
    return (th_shape){.points = corners, .point_count = 4};
}

static th_level_def level_on(const th_shape *walkable) {
    th_level_def level = th_level_def_default();
    level.walkable = walkable;
    level.walkable_count = 1;
    return level;
}

static th_goal_def exit_line(th_point a, th_point b) {
    th_goal_def exit = th_goal_def_default(TH_GOAL_EXIT);
    exit.has_line = true;
    exit.line[0] = a;
    exit.line[1] = b;
    return exit;
}

// One level, all agents to the nearest of the goals.
static th_result create_level(th_bench_scene which, const th_group_def *group, int agents,
                              th_level_def *level, th_shape area, th_goal_def *goals,
                              const char *const *names, int goal_count, th_scene **scene,
                              th_error *error) {
    th_route_step route = {names, goal_count};
    th_group_def people = *group;
    level->id = people.level = "ground";
    for (int k = 0; k < goal_count; ++k) {
        goals[k].id = names[k];
        goals[k].level = "ground";
    }
    people.area = area;
    people.count = agents;
    people.plan.name = which == TH_BENCH_HALL ? "quickest" : "field";
    people.route = &route;
    people.route_count = 1;
    th_scene_def def = th_scene_def_default();
    def.name = th_bench_scene_names[which];
    def.levels = level;
    def.level_count = 1;
    def.goals = goals;
    def.goal_count = goal_count;
    def.groups = &people;
    def.group_count = 1;
    return th_scene_create(&def, scene, error);
}

// A square of pillars, 25 people to each as in the scene of 10 000 and 400, and a run-way to the exit.
static th_result create_pillars(const th_group_def *group, int agents, th_scene **scene,
                                th_error *error) {
    int side = (int)ceil(sqrt(agents / 25.0)), count = side * side;
    double extent = side * PILLAR_SPACING, end = extent + PILLAR_RUNWAY, h = PILLAR_SIDE / 2;
    th_point(*corners)[4] = malloc((size_t)count * sizeof *corners), ground[4], goal[4], start[4];
    th_shape *obstacles = malloc((size_t)count * sizeof *obstacles);
    th_result result = TH_NO_MEMORY;
    if (corners && obstacles) {
        for (int i = 0; i < count; ++i) {
            double x = (i % side + 0.5) * PILLAR_SPACING, y = (i / side + 0.5) * PILLAR_SPACING;
            obstacles[i] = rectangle(corners[i], x - h, y - h, x + h, y + h);
        }
        th_shape walkable = rectangle(ground, -1, -1, end, extent + 1);
        th_level_def level = level_on(&walkable);
        level.obstacles = obstacles;
        level.obstacle_count = count;
        th_goal_def exit = th_goal_def_default(TH_GOAL_EXIT);
        exit.area = rectangle(goal, end - 2, -1, end, extent + 1);
        const char *const names[] = {"far"};
        result =
            create_level(TH_BENCH_PILLARS, group, agents, &level,
                         rectangle(start, 0, 0, extent, extent), &exit, names, 1, scene, error);
    }
    free(corners);
    free(obstacles);
    return result;
}

static th_result create_door(const th_group_def *group, int agents, th_scene **scene,
                             th_error *error) {
    double side = 1 + sqrt(agents / DOOR_DENSITY), end = side + DOOR_RUNWAY;
    double low = (side - DOOR_WIDTH) / 2, high = (side + DOOR_WIDTH) / 2;
    th_point ground[4], start[4],
        walls[2][2] = {{{side, 0}, {side, low}}, {{side, high}, {side, side}}};
    th_shape walkable = rectangle(ground, 0, 0, end, side);
    th_shape lines[2] = {{.points = walls[0], .point_count = 2},
                         {.points = walls[1], .point_count = 2}};
    th_level_def level = level_on(&walkable);
    level.walls = lines;
    level.wall_count = 2;
    th_goal_def exit = exit_line((th_point){end, 0}, (th_point){end, side});
    const char *const names[] = {"out"};
    return create_level(TH_BENCH_DOOR, group, agents, &level, rectangle(start, 0, 0, side, side),
                        &exit, names, 1, scene, error);
}

// ---- rooms

typedef struct room_plan {
    int side, wall_count, exit_count; // rooms of a side of the square
    th_point (*ends)[2];
    th_shape *walls;
    th_goal_def *exits;
    char (*words)[16];
    const char **names;
} room_plan;

// A wall between two rooms, on either side of the opening; across: from left to right.
static void add_wall(room_plan *plan, int k, int r, bool across) {
    double at = k * ROOM_SIDE, low = r * ROOM_SIDE, half = (ROOM_SIDE - ROOM_OPENING) / 2;
    double from[2] = {low, low + ROOM_SIDE - half};
    for (int part = 0; part < 2; ++part) {
        th_point *ends = plan->ends[plan->wall_count];
        double a = from[part], b = from[part] + half;
        ends[0] = across ? (th_point){a, at} : (th_point){at, a};
        ends[1] = across ? (th_point){b, at} : (th_point){at, b};
        plan->walls[plan->wall_count++] = (th_shape){.points = ends, .point_count = 2};
    }
}

static void add_exit(room_plan *plan, int r, bool east) {
    double x = east ? plan->side * ROOM_SIDE : 0, y = (r + 0.5) * ROOM_SIDE;
    int k = plan->exit_count++;
    snprintf(plan->words[k], sizeof plan->words[k], "%s %d", east ? "east" : "west", r + 1);
    plan->names[k] = plan->words[k];
    plan->exits[k] = exit_line((th_point){x, y - ROOM_EXIT / 2}, (th_point){x, y + ROOM_EXIT / 2});
}

static th_result create_rooms(const th_group_def *group, int agents, th_scene **scene,
                              th_error *error) {
    room_plan plan = {.side = (int)ceil(sqrt(agents / ROOM_DENSITY) / ROOM_SIDE)};
    size_t exits = 2 * (size_t)plan.side, walls = 2 * exits * (size_t)plan.side;
    double extent = plan.side * ROOM_SIDE;
    plan.ends = malloc(walls * sizeof *plan.ends);
    plan.walls = malloc(walls * sizeof *plan.walls);
    plan.exits = malloc(exits * sizeof *plan.exits);
    plan.words = malloc(exits * sizeof *plan.words);
    plan.names = malloc(exits * sizeof *plan.names);
    th_result result = TH_NO_MEMORY;
    if (plan.ends && plan.walls && plan.exits && plan.words && plan.names) {
        for (int r = 0; r < plan.side; ++r) {
            for (int k = 1; k < plan.side; ++k) add_wall(&plan, k, r, false);
            for (int k = 1; k < plan.side; ++k) add_wall(&plan, k, r, true);
            add_exit(&plan, r, false);
            add_exit(&plan, r, true);
        }
        th_point ground[4], start[4];
        th_shape walkable = rectangle(ground, 0, 0, extent, extent);
        th_level_def level = level_on(&walkable);
        level.walls = plan.walls;
        level.wall_count = plan.wall_count;
        th_shape area = rectangle(start, ROOM_INSET, 0, extent - ROOM_INSET, extent);
        result = create_level(TH_BENCH_ROOMS, group, agents, &level, area, plan.exits, plan.names,
                              plan.exit_count, scene, error);
    }
    free(plan.ends);
    free(plan.walls);
    free(plan.exits);
    free(plan.words);
    free(plan.names);
    return result;
}

// ---- hall

static th_result create_hall(const th_group_def *group, int agents, th_scene **scene,
                             th_error *error) {
    double side = sqrt(agents / ROOM_DENSITY), low = 0.45 * side, high = 0.55 * side;
    double inset = 0.1 * side; // so that no agent leaves while timed
    th_point ground[4], start[4];
    th_shape walkable = rectangle(ground, 0, 0, side, side);
    th_level_def level = level_on(&walkable);
    th_goal_def exits[] = {exit_line((th_point){side, low}, (th_point){side, high}),
                           exit_line((th_point){low, side}, (th_point){high, side}),
                           exit_line((th_point){0, low}, (th_point){0, high}),
                           exit_line((th_point){low, 0}, (th_point){high, 0})};
    const char *const names[] = {"east", "north", "west", "south"};
    return create_level(TH_BENCH_HALL, group, agents, &level,
                        rectangle(start, inset, inset, side - inset, side - inset), exits, names, 4,
                        scene, error);
}

static th_result create_walled(th_bench_scene which, const th_group_def *group, int agents,
                               th_scene **scene, th_error *error) {
    if (which == TH_BENCH_HALL) return create_hall(group, agents, scene, error);
    if (which == TH_BENCH_PILLARS) return create_pillars(group, agents, scene, error);
    return which == TH_BENCH_DOOR ? create_door(group, agents, scene, error)
                                  : create_rooms(group, agents, scene, error);
}

// ---- all scenes

const char *const th_bench_scene_names[TH_BENCH_SCENE_COUNT] = {
    "circle", "block", "dense", "packed", "pillars", "door", "rooms", "hall"};

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

// Parameters that the bench fixes, for the models that have them.
static int bench_params(const char *model, th_param *params) {
    static const th_param fixed[] = {
        {"neighbour_range", 5},       {"max_neighbours", 10},  {"time_horizon", 2},
        {"max_speed", (double)SPEED}, {"max_speed_factor", 1}, // Helbing-Molnar: of the preferred speed
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
    person.speed = SPEED;
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
    people.area = rectangle(corners, -reach, -reach, reach, reach);
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
    group.radius = (th_distribution){.kind = TH_DISTRIBUTION_CONSTANT, .a = RADIUS};
    group.speed = (th_distribution){.kind = TH_DISTRIBUTION_CONSTANT, .a = (double)SPEED};
    if (models->filter) group.filter = *models->filter;
    const th_model_def behave = {.name = models->behave};
    if (models->behave) {
        group.behave = &behave;
        group.behave_count = 1;
    }
    group.move.name = models->move;
    group.move.params = params;
    group.move.param_count = bench_params(models->move, params);
    bool open_ground = which < TH_BENCH_PILLARS;
    th_result result = open_ground ? create_open(which, &group, agents, scene, error)
                                   : create_walled(which, &group, agents, scene, error);
    if (result != TH_OK) return result;

    th_world_def def = th_world_def_default();
    def.backend = backend;
    def.threads = threads;
    def.step = step;
    def.seed = SEED;
    def.max_agents = agents;
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
