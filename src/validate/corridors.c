// Runs and measures corridors: a ring closed between steps, scenes with ends, the order of lanes.
// SPDX-License-Identifier: Apache-2.0
#include "validate/corridors.h"
#include "core/error.h"
#include "formula/random.h"
#include "formula/weidmann.h"
#include "throng/scene_view.h"
#include "validate/validate.h"
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- the models that a scene names

void th_choice_text(const th_models_choice *choice, const char *separator,
                    char text[TH_CHOICE_TEXT]) {
    const struct {
        const char *key, *value;
    } members[] = {{"behave", choice->behave},
                   {"plan", choice->plan},
                   {"radius", choice->radius},
                   {"filter", choice->filter},
                   {"move", choice->move}};
    size_t length = 0;
    text[0] = '\0';
    for (size_t k = 0; k < sizeof members / sizeof *members && length < TH_CHOICE_TEXT; ++k)
        if (members[k].value)
            length += (size_t)snprintf(text + length, TH_CHOICE_TEXT - length, "%s\"%s\": %s",
                                       separator, members[k].key, members[k].value);
}

// ---- a corridor without ends

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
    float *cells;         // speeds along the ring, look after look; NULL: waves are not followed
    int looks;
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

// Puts back the agents that left, and the copies where they are needed. Ids ascend, so people come first.
static th_result wrap(periodic *p, th_error *error) {
    float *v[FIELDS], length = (float)p->def->length, margin = (float)MARGIN;
    th_result mapped = map(p, TH_ACCESS_WRITE, FIELDS, v, error);
    if (mapped != TH_OK) return mapped;
    uint32_t *level = th_world_map(p->world, TH_FIELD_LEVEL, TH_ACCESS_WRITE);
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

// ---- single file: how dense it is where each person is, and waves

// The way from x on to the next of the ring, in direction `sign` [m].
static double way_to_next(const periodic *p, const float *x, int i, double sign) {
    double length = p->def->length, least = length;
    for (int j = 0; j < p->people; ++j) {
        if (j == i) continue;
        double way = fmod(sign * (double)(x[j] - x[i]) + 2 * length, length);
        least = fmin(least, way);
    }
    return least;
}

static void look_at_own_density(const periodic *p, const float *x, int i, bool stands,
                                th_periodic_result *sum) {
    double own = 2.0 / (way_to_next(p, x, i, 1) + way_to_next(p, x, i, -1));
    int class = (int)floor(own / TH_FILE_CLASS + 0.5);
    if (class < 0 || class >= TH_FILE_CLASSES) return;
    sum->own[class] += 1;
    sum->own_standing[class] += stands;
}

// The speed of the nearest person to each cell of the ring.
static const double WAVE_CELL = 0.25, WAVE_NEAR = 0.6, WAVE_LONGEST = 6.0; // [m], [m], [s]

static int wave_cells(const periodic *p) { return (int)(p->def->length / WAVE_CELL); }

static void look_at_cells(periodic *p, const float *x, const float *speed, int look) {
    int cells = wave_cells(p);
    for (int c = 0; c < cells; ++c) {
        double nearest = WAVE_NEAR;
        float *cell = &p->cells[look * cells + c];
        *cell = NAN;
        for (int i = 0; i < p->people; ++i) {
            double off =
                fabs(fmod((double)x[i] - WAVE_CELL * c + 1.5 * p->def->length, p->def->length) -
                     0.5 * p->def->length);
            if (off >= nearest) continue;
            nearest = off;
            *cell = speed[i];
        }
    }
}

// The correlation of speeds at x with those at x - waves, `lag` looks later.
static double correlation(const periodic *p, int looks, int lag) {
    int cells = wave_cells(p), behind = (int)lround(p->def->waves / WAVE_CELL), count = 0;
    double a = 0, b = 0, aa = 0, bb = 0, ab = 0;
    for (int n = 0; n + lag < looks; ++n)
        for (int c = 0; c < cells; ++c) {
            float one = p->cells[n * cells + c],
                  other = p->cells[(n + lag) * cells + (c - behind + cells) % cells];
            if (isnan(one) || isnan(other)) continue;
            a += (double)one, b += (double)other, ++count;
            aa += (double)one * (double)one, bb += (double)other * (double)other;
            ab += (double)one * (double)other;
        }
    double spread = sqrt((aa - a * a / count) * (bb - b * b / count));
    return count > 0 && spread > 0 ? (ab - a * b / count) / spread : 0;
}

// From the lag at which speeds are most alike (Moussaid, Helbing, Theraulaz 2011).
static double wave_speed(const periodic *p, int looks) {
    int most = (int)lround(WAVE_LONGEST / p->def->step), best = 0;
    double highest = 0.1; // less is no wave
    for (int lag = 1; lag <= most && lag < looks; ++lag) {
        double like = correlation(p, looks, lag);
        if (like > highest) {
            highest = like;
            best = lag;
        }
    }
    return best > 0 ? -p->def->waves / (best * p->def->step) : (double)NAN;
}

static th_result look(periodic *p, bool first, th_periodic_result *sum, th_error *error) {
    float *v[FIELDS];
    th_result mapped = map(p, TH_ACCESS_READ, FIELDS, v, error);
    if (mapped != TH_OK) return mapped;
    const float *x = v[X], *y = v[Y], *vx = v[VELOCITY_X], *vy = v[VELOCITY_Y];
    double apart2 = 2.0 * p->def->radius - 0.01;
    apart2 *= apart2;
    for (int i = 0; i < p->people; ++i) {
        if (!first) {
            double speed = v[GOAL_X][i] > 0.0f ? (double)vx[i] : -(double)vx[i];
            sum->speed += speed;
            sum->standing += speed < TH_STANDING;
            if (p->def->width < 1.0) look_at_own_density(p, x, i, speed < TH_STANDING, sum);
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
    if (!first && p->cells) look_at_cells(p, x, vx, p->looks++);
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
    world.max_agents = (int)(2.0 * def->density * def->length * def->width) + 16;
    result = th_world_create(p->scene, &world, &p->world, error);
    if (result == TH_OK) result = fill(p, error);
    if (result != TH_OK) return result;
    p->old_x = calloc((size_t)p->people + 1, sizeof *p->old_x);
    p->old_y = calloc((size_t)p->people + 1, sizeof *p->old_y);
    int looks = (int)(def->measured / def->step) + 1;
    if (def->waves > 0) p->cells = calloc((size_t)(looks * wave_cells(p)) + 1, sizeof *p->cells);
    if (!p->old_x || !p->old_y || (def->waves > 0 && !p->cells))
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
    sum->standing /= looks;
    sum->acceleration /= looks;
    sum->overlaps /= looks;
    sum->flow = def->density * sum->speed;
    sum->wave_speed = p->cells ? wave_speed(p, p->looks) : (double)NAN;
    sum->repairs = th_world_statistics(p->world).repairs;
    return result;
}

th_result th_periodic_run(const th_periodic_def *def, th_periodic_result *result, th_error *error) {
    *result = (th_periodic_result){0};
    // Every agent needs one copy at most, and that far from itself.
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
    free(p.cells);
    th_world_destroy(p.world);
    th_scene_destroy(p.scene);
    return done;
}

// ---- a run as a recording

th_result th_record_folder_make(char path[TH_RECORD_PATH], th_error *error) {
    const char *base = getenv("TMPDIR");
    int length =
        snprintf(path, TH_RECORD_PATH, "%s/throng-XXXXXX", base && base[0] ? base : "/tmp");
    if (length < 0 || length >= TH_RECORD_PATH - 16 || !mkdtemp(path)) {
        if (error) snprintf(error->file, sizeof error->file, "%.200s", path);
        return th_fail(error, TH_NO_FILE, "",
                       "no folder for a recording: %s; set TMPDIR to one that can be written",
                       strerror(errno));
    }
    snprintf(path + length, TH_RECORD_PATH - (size_t)length, "/run.txt");
    return TH_OK;
}

void th_record_folder_remove(const char *path) {
    char folder[TH_RECORD_PATH];
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (!slash) return;
    *slash = '\0';
    unlink(path);
    rmdir(folder);
}

static th_result step_to(th_world *world, th_recorder *recorder, double end, th_error *error) {
    th_result result = th_recorder_see(recorder, world, error);
    while (result == TH_OK && th_world_time(world) < end - 1e-9 && !th_world_done(world)) {
        th_world_step(world, 1);
        result = th_recorder_see(recorder, world, error);
    }
    return result;
}

th_result th_record_run(const th_scene_view *scene, uint64_t seed, double end, const char *path,
                        th_statistics *statistics, th_error *error) {
    th_world_def def = th_world_def_default();
    def.threads = 1;
    def.seed = seed;
    th_world *world = NULL;
    th_result result = th_world_create(scene->scene, &def, &world, error);
    if (result != TH_OK) return result;
    th_recorder_def recording = th_recorder_def_default();
    recording.path = path;
    recording.format = TH_TRAJECTORY_TEXT;
    recording.fps = 1.0 / th_world_step_length(world);
    th_recorder *recorder = NULL;
    result = th_recorder_create(world, &recording, &recorder, error);
    if (result == TH_OK) result = step_to(world, recorder, end, error);
    th_result finished = th_recorder_close(recorder, NULL, result == TH_OK ? error : NULL);
    if (result == TH_OK) result = finished;
    if (statistics) *statistics = th_world_statistics(world);
    th_world_destroy(world);
    return result;
}

// ---- corridors with ends

// ---- scenes

// Free speed: 1.36 m/s, standard deviation 0.15, as these people walk below 0.5 /m2 (diagram.c). The ground
// between entrance and corridor is as wide as people are seen to use it.
static const char ONE_WAY[] =
    "// One way through a corridor of 1.8 m, as in the Hermes experiments of 2009 (Zhang et al. "
    "2011): people "
    "come\n"
    "// through an entrance of %.2f m at y = 8, walk towards -y, and leave the corridor through an "
    "exit of "
    "%.2f m\n"
    "// at y = -4. Run %s. SPDX-License-Identifier: Apache-2.0\n"
    "{\n"
    "  \"name\": \"corridor %s\",\n"
    "  \"description\": \"Hermes 2009 in Duesseldorf: people walk one way through a corridor of "
    "1.8 m.\",\n"
    "  \"levels\": [{\n"
    "    \"walkable\": [{\"rect\": [-0.6, 4, 2.4, 8]}, {\"rect\": [0, -4, 1.8, 4]}, {\"rect\": "
    "[-0.6, -8, "
    "2.4, -4]}],\n"
    "    \"walls\": [%s]\n"
    "  }],\n"
    "  \"exits\": [{\"id\": \"out\", \"line\": [[-0.6, -8], [2.4, -8]]}],\n"
    "  \"groups\": [{\n"
    "    \"id\": \"people\",\n"
    "    \"source\": {\"rate\": %g, \"until\": %g},\n"
    "    \"area\": {\"rect\": [%.3f, 7, %.3f, 8]},\n"
    "    \"speed\": {\"normal\": [1.36, 0.15]},\n"
    "    \"to\": \"out\"%s\n"
    "  }],\n"
    "  \"measure\": {\"areas\": [{\"id\": \"box\", \"area\": {\"rect\": [0, -2, 1.8, 0]}}]},\n"
    "  \"run\": {\"step\": 0.0625, \"duration\": %g}\n"
    "}\n";

static char *print(const char *format, ...) __attribute__((format(printf, 1, 2)));
static char *print(const char *format, ...) {
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0) text = NULL;
    va_end(arguments);
    return text;
}

char *th_corridor_one_way(const th_uo180_run *run, const th_corridor_people *people) {
    double low = 0.9 - run->exit / 2, high = 0.9 + run->exit / 2;
    char walls[160] = "";
    if (run->exit < 1.8)
        snprintf(walls, sizeof walls, "[[0, -4], [%.3f, -4]], [[%.3f, -4], [1.8, -4]]", low, high);
    char choice[TH_CHOICE_TEXT];
    th_choice_text(&people->choice, ",\n    ", choice);
    return print(ONE_WAY, run->entrance, run->exit, run->name, run->name, walls, run->inflow,
                 people->inflow_time, 0.9 - run->entrance / 2, 0.9 + run->entrance / 2, choice,
                 people->inflow_time);
}

static const char BOTH_WAYS[] =
    "// Two crowds through each other in a corridor of 4 m, as in the BaSiGo experiment "
    "bi_corr_400_b_03 "
    "of 2013.\n"
    "// SPDX-License-Identifier: Apache-2.0\n"
    "{\n"
    "  \"name\": \"corridor both ways\",\n"
    "  \"description\": \"BaSiGo 2013 in Duesseldorf: two crowds meet in a corridor of 4 m.\",\n"
    "  \"levels\": [{\"walkable\": {\"rect\": [-8, 0, 8, 4]}}],\n"
    "  \"exits\": [{\"id\": \"west\", \"line\": [[-8, 0], [-8, 4]]},\n"
    "            {\"id\": \"east\", \"line\": [[8, 0], [8, 4]]}],\n"
    "  \"groups\": [\n"
    "    {\"id\": \"eastward\", \"source\": {\"rate\": %g, \"until\": %g}, \"area\": {\"rect\": "
    "[-8, 0, "
    "-6, 4]},\n"
    "     \"to\": \"east\"%s},\n"
    "    {\"id\": \"westward\", \"source\": {\"rate\": %g, \"until\": %g}, \"area\": {\"rect\": "
    "[6, 0, 8, "
    "4]},\n"
    "     \"to\": \"west\"%s}\n"
    "  ],\n"
    "  \"measure\": {\"areas\": [{\"id\": \"box\", \"area\": {\"rect\": [-1, 0, 1, 4]}}]},\n"
    "  \"run\": {\"step\": 0.0625, \"duration\": %g}\n"
    "}\n";

char *th_corridor_both_ways(double rate, const th_corridor_people *people) {
    char choice[TH_CHOICE_TEXT];
    th_choice_text(&people->choice, ", ", choice);
    return print(BOTH_WAYS, rate, people->inflow_time, choice, rate, people->inflow_time, choice,
                 people->inflow_time);
}

// Free speed: 1.38 m/s, as these people walk below 0.5 /m2 (diagram.h); its spread is that of uo180, the same
// people. They come in over 1 m, 1 m from the ends of the corridor, and leave 2 m behind them.
static const char TWO_WAY_300[] =
    "{\n"
    "  \"name\": \"two way, 3 m\",\n"
    "  \"levels\": [{\"walkable\": {\"rect\": [0, -7, 3, 7]}}],\n"
    "  \"exits\": [{\"id\": \"up\", \"line\": [[0, 7], [3, 7]]},\n"
    "            {\"id\": \"down\", \"line\": [[0, -7], [3, -7]]}],\n"
    "  \"groups\": [\n"
    "    {\"source\": {\"rate\": %g, \"until\": %g}, \"area\": {\"rect\": [%g, -6, %g, -5]},\n"
    "     \"speed\": {\"normal\": [1.38, 0.15]}, \"to\": \"up\"%s},\n"
    "    {\"source\": {\"rate\": %g, \"until\": %g}, \"area\": {\"rect\": [%g, 5, %g, 6]},\n"
    "     \"speed\": {\"normal\": [1.38, 0.15]}, \"to\": \"down\"%s}\n"
    "  ],\n"
    "  \"run\": {\"step\": 0.0625, \"duration\": %g}\n"
    "}\n";

char *th_corridor_two_way_300(const th_two_way_run *run, const th_corridor_people *people) {
    char choice[TH_CHOICE_TEXT];
    th_choice_text(&people->choice, ", ", choice);
    double low = 1.5 - run->entrance / 2, high = 1.5 + run->entrance / 2, end = people->inflow_time;
    return print(TWO_WAY_300, run->flow_up, end, low, high, choice, run->flow_down, end, low, high,
                 choice, end);
}

// The same corridor with its ends as the trajectories show them: ground of 6 m x 4 m, the entrance in the middle of its far
// side, and ways out on both sides of it past those who come in.
static const char TWO_WAY_ENDS[] =
    "{\n"
    "  \"name\": \"two way, 3 m, with its ends\",\n"
    "  \"levels\": [{\"walkable\": [{\"rect\": [0, -4, 3, 4]}, {\"rect\": [-1.5, -8, 4.5, -4]},\n"
    "    {\"rect\": [-1.5, 4, 4.5, 8]}]}],\n"
    "  \"exits\": [{\"id\": \"up_left\", \"line\": [[-1.5, 4.2], [-1.5, 7.8]]},\n"
    "            {\"id\": \"up_right\", \"line\": [[4.5, 4.2], [4.5, 7.8]]},\n"
    "            {\"id\": \"down_left\", \"line\": [[-1.5, -7.8], [-1.5, -4.2]]},\n"
    "            {\"id\": \"down_right\", \"line\": [[4.5, -7.8], [4.5, -4.2]]}],\n"
    "  \"groups\": [\n"
    "    {\"source\": {\"rate\": %g, \"until\": %g}, \"area\": {\"rect\": [%g, -8, %g, -7]},\n"
    "     \"speed\": {\"normal\": [1.38, 0.15]}, \"to\": [\"up_left\", \"up_right\"]%s},\n"
    "    {\"source\": {\"rate\": %g, \"until\": %g}, \"area\": {\"rect\": [%g, 7, %g, 8]},\n"
    "     \"speed\": {\"normal\": [1.38, 0.15]}, \"to\": [\"down_left\", \"down_right\"]%s}\n"
    "  ],\n"
    "  \"run\": {\"step\": 0.0625, \"duration\": %g}\n"
    "}\n";

char *th_corridor_two_way_ends(const th_two_way_run *run, const th_corridor_people *people) {
    char choice[TH_CHOICE_TEXT];
    th_choice_text(&people->choice, ", ", choice);
    double low = 1.5 - run->entrance / 2, high = 1.5 + run->entrance / 2, end = people->inflow_time;
    return print(TWO_WAY_ENDS, run->flow_up, end, low, high, choice, run->flow_down, end, low, high,
                 choice, end);
}

// A crowd at 3 /m2, 6 m wide, waits behind the entrance; ground of 4 m x 4 m, two arms of 2.4 m. Free speed and spread are
// those of uo180, the same people.
static const char CORNER[] =
    "{\n"
    "  \"name\": \"corner of 2.4 m\",\n"
    "  \"levels\": [{\"walkable\": [{\"rect\": [-2.4, -2.4, 4, 0]}, {\"rect\": [-2.4, -2.4, 0, "
    "8]},\n"
    "    {\"rect\": [4, -3.2, 8, 0.8]}, {\"rect\": [7.9, %g, 8.3, %g]}, {\"rect\": [8.2, -4.2, %g, "
    "1.8]}]}],\n"
    "  \"exits\": [{\"id\": \"out\", \"line\": [[-2.4, 8], [0, 8]]}],\n"
    "  \"groups\": [{\"count\": %d, \"area\": {\"rect\": [8.4, -4.2, %g, 1.8]},\n"
    "    \"speed\": {\"normal\": [1.36, 0.15]}, \"to\": \"out\"%s}],\n"
    "  \"run\": {\"step\": 0.0625, \"duration\": 200}\n"
    "}\n";

char *th_corridor_corner(const th_corner_run *run, const th_models_choice *people) {
    char choice[TH_CHOICE_TEXT];
    th_choice_text(people, ", ", choice);
    double back = 8.4 + run->people / (3.0 * 6.0);
    return print(CORNER, -1.2 - run->entrance / 2, -1.2 + run->entrance / 2, back + 0.5,
                 run->people, back, choice);
}

// ---- measured

static th_result measure(const char *path, double fps, const th_corridor_window *window,
                         th_corridor_result *result, th_error *error) {
    th_fundamental_def def = th_fundamental_def_default();
    def.density.method = TH_CLASSIC;
    def.area = window->area;
    def.direction = window->direction;
    def.motion.first = (int64_t)(window->from * fps);
    def.motion.last = (int64_t)(window->until * fps);
    th_fundamental_samples samples;
    th_result done = th_fundamental_read(path, &def, &samples, error);
    if (done != TH_OK) return done;
    result->mean = th_fundamental_mean_of(&samples);
    th_fundamental_bins_add(&samples, TH_CORRIDOR_CLASS, result->bins, TH_CORRIDOR_CLASSES);
    th_fundamental_samples late = samples;
    while (late.count > 0 &&
           late.samples->frame < def.motion.last - (def.motion.last - def.motion.first) / 4)
        ++late.samples, --late.count;
    result->late = th_fundamental_mean_of(&late);
    th_fundamental_release(&samples);
    result->lanes = (double)NAN;
    return window->lanes ? th_lane_order(path, &def.motion, window->lanes, &result->lanes, error)
                         : TH_OK;
}

static th_result run_in(const char *path, const char *scene_text, uint64_t seed,
                        const th_corridor_window *windows, int count, th_corridor_result *results,
                        th_error *error) {
    th_scene *scene = NULL;
    th_result done =
        th_scene_load_json(scene_text, strlen(scene_text), "corridor", NULL, NULL, &scene, error);
    if (done != TH_OK) return done;
    th_statistics statistics = {0};
    done = th_record_run(th_scene_view_of(scene), seed, windows->until, path, &statistics, error);
    for (int k = 0; k < count && done == TH_OK; ++k) {
        results[k].waiting = statistics.waiting_to_enter;
        done =
            measure(path, 1.0 / th_scene_view_of(scene)->run.step, &windows[k], &results[k], error);
    }
    th_scene_destroy(scene);
    return done;
}

th_result th_corridor_run(const char *scene, uint64_t seed, const th_corridor_window *windows,
                          int count, th_corridor_result *results, th_error *error) {
    for (int k = 0; k < count; ++k) results[k] = (th_corridor_result){0};
    if (!scene) return th_fail(error, TH_NO_MEMORY, "", "no memory for the scene");
    char path[TH_RECORD_PATH];
    th_result done = th_record_folder_make(path, error);
    if (done != TH_OK) return done;
    done = run_in(path, scene, seed, windows, count, results, error);
    th_record_folder_remove(path);
    return done;
}

// ---- lanes

static const double BESIDE = 0.3; // [m] to the side: half the width of a person and a half

// The order of lanes around person i among those in the area; NaN: no neighbour beside it.
static double order_of(const th_moment *moment, const bool *inside, int i) {
    int like = 0, against = 0;
    for (int j = 0; j < moment->count; ++j) {
        if (j == i || !inside[j] || fabs(moment->y[j] - moment->y[i]) > BESIDE) continue;
        bool same = (moment->velocity_x[j] > 0.0) == (moment->velocity_x[i] > 0.0);
        like += same;
        against += !same;
    }
    if (like + against == 0) return (double)NAN;
    double order = (double)(like - against) / (like + against);
    return order * order;
}

static th_result sum_order(th_motion *motion, const th_region *region, double *sum, double *count,
                           th_error *error) {
    bool *inside = NULL;
    int room = 0;
    th_moment moment;
    th_result result;
    while ((result = th_motion_next(motion, &moment, error)) == TH_OK && moment.count >= 0) {
        if (moment.count > room) {
            room = 2 * moment.count;
            free(inside);
            inside = malloc((size_t)room * sizeof *inside);
            if (!inside) return th_fail(error, TH_NO_MEMORY, "", "no memory for the lanes");
        }
        for (int i = 0; i < moment.count; ++i)
            inside[i] =
                isfinite(moment.velocity_x[i]) && th_region_holds(region, moment.x[i], moment.y[i]);
        for (int i = 0; i < moment.count; ++i) {
            double order = inside[i] ? order_of(&moment, inside, i) : (double)NAN;
            if (!isfinite(order)) continue;
            *sum += order;
            *count += 1.0;
        }
    }
    free(inside);
    return result;
}

th_result th_lane_order(const char *path, const th_motion_def *motion_def, const char *area,
                        double *order, th_error *error) {
    th_motion *motion = NULL;
    th_region *region = NULL;
    double sum = 0.0, count = 0.0;
    th_result result = th_motion_open(path, motion_def, &motion, error);
    if (result == TH_OK) result = th_region_create(NULL, area, &region, error);
    if (result == TH_OK) result = sum_order(motion, region, &sum, &count, error);
    *order = count > 0.0 ? sum / count : (double)NAN;
    th_region_destroy(region);
    th_motion_close(motion);
    return result;
}
