// Space colonization: the loop over people. Cost O(people x markers within the personal radius x people within twice of
// it); in the open all markers of a person are compared with a neighbour at once. SPDX-License-Identifier: Apache-2.0
#include "move/colonization/colonization.h"
#include "core/parallel.h"
#include "formula/random.h"
#include "state/influences.h"
#include <string.h>

enum { MARKERS_MOST = 512, VECTOR = 16 };

typedef struct colonization {
    th_markers markers; // first: the device looks for them here
    th_arena arena;
} colonization;

// Markers that may be within the personal radius, in the order of th_colonist_mean.
typedef struct near_markers {
    _Alignas(TH_ALIGN) float x[MARKERS_MOST + VECTOR];
    _Alignas(TH_ALIGN) float y[MARKERS_MOST + VECTOR];
    _Alignas(TH_ALIGN) float distance2[MARKERS_MOST + VECTOR];
    _Alignas(TH_ALIGN) int lost[MARKERS_MOST + VECTOR]; // to a nearer agent, or too far away
    int count;
} near_markers;

// False: too many.
TH_FORMULA bool find_markers(const th_colonist *c, const th_markers *markers, near_markers *near) {
    float radius = c->params->personal_radius;
    th_marker_rows rows = th_marker_rows_around(c->params->markers, c->p, radius);
    near->count = 0;
    for (th_marker_run run; th_next_markers(markers, &rows, &run);) {
        int count = run.end - run.begin, first = near->count;
        if (first + count > MARKERS_MOST) return false;
        for (int k = 0; k < count; ++k) {
            th_vec2 marker = th_marker_at(markers, &run, run.begin + k);
            float distance2 = th_length2(th_sub(marker, c->p));
            near->x[first + k] = marker.x;
            near->y[first + k] = marker.y;
            near->distance2[first + k] = distance2;
            near->lost[first + k] = distance2 > radius * radius;
        }
        near->count += count;
    }
    return true;
}

// Removes the markers that are nearer to j.
TH_FORMULA void lose_markers(const th_colonist *c, uint32_t j, near_markers *near) {
    const th_agents *a = &c->world->agents;
    float x = a->position_x[j], y = a->position_y[j];
    bool first = a->id[j] < a->id[c->i]; // of equals
    int count = (near->count + VECTOR - 1) / VECTOR * VECTOR;
    for (int k = 0; k < count; ++k) {
        float dx = x - near->x[k], dy = y - near->y[k];
        float other2 = dx * dx + dy * dy;
        near->lost[k] |=
            first ? !(other2 > near->distance2[k]) : (int)(other2 < near->distance2[k]);
    }
}

// th_colonist_mean of an agent without walls and links near: the same sum in the same order.
TH_FORMULA th_vec2 mean_in_the_open(const th_colonist *c, const th_markers *markers, th_vec2 g) {
    near_markers near;
    const th_world *world = c->world;
    const th_level_grid *grid = &world->index.grids[c->level];
    if (!find_markers(c, markers, &near)) return th_colonist_mean(c, markers, g);
    float reach = 2.001f * c->params->personal_radius, sum = 0.0f;
    th_rows rows = th_rows_around(grid, c->p, reach);
    for (uint32_t begin, end;
         th_next_run_within(&world->index, grid, &rows, c->p, reach, &begin, &end);)
        for (uint32_t j = begin; j < end; ++j)
            if (th_length2(th_sub(th_position(&world->agents, j), c->p)) <= reach * reach &&
                j != c->i && th_colonist_stands_there(&world->agents, j))
                lose_markers(c, j, &near);
    th_vec2 mean = th_v(0.0f, 0.0f);
    for (int k = 0; k < near.count; ++k) {
        th_vec2 y = th_sub(th_v(near.x[k], near.y[k]), c->p);
        if (near.lost[k]) continue;
        float weight = th_marker_weight(g, y);
        if (!(weight > 0.0f)) continue;
        mean = th_add(mean, th_scale(weight, y));
        sum += weight;
    }
    return sum > 0.0f ? th_scale(1.0f / sum, mean) : mean;
}

TH_CLONES static void move_block(th_world *world, const th_walls *walls, const th_markers *markers,
                                 int begin, int end) {
    for (int i = begin; i < end; ++i) {
        if (!th_colonization_moves(world, (uint32_t)i)) continue;
        th_colonist c = th_colonist_of(world, walls, (uint32_t)i);
        float wish = th_colonist_wish(&c);
        th_vec2 step = th_v(0.0f, 0.0f);
        if (wish > 0.0f && !th_colonist_led(&c, wish, &step)) {
            th_vec2 g = th_colonist_direction(&c);
            bool open = !c.hidden && c.linked_count == 0;
            th_vec2 mean =
                open ? mean_in_the_open(&c, markers, g) : th_colonist_mean(&c, markers, g);
            step = th_colonist_step(&c, mean, wish);
        }
        th_colonist_take(world, &c, step, wish);
    }
}

static void run(th_world *world, int model) {
    const colonization *state = world->model_state[model];
    th_walls walls = th_world_walls(world);
    int count = world->agents.count, blocks = th_block_count(count);
#pragma omp parallel for schedule(dynamic, 1) num_threads(world->threads)
    for (int b = 0; b < blocks; ++b)
        move_block(world, &walls, &state->markers, b * TH_BLOCK,
                   (b + 1) * TH_BLOCK < count ? (b + 1) * TH_BLOCK : count);
}

// ---- what it shows: the markers that are the person's, their mean, and the edges of the cell that a step stays in

static void tell_markers(const th_colonist *c, const th_markers *markers, th_influences *all) {
    const float dot = 0.04f; // [m]
    float radius = c->params->personal_radius;
    th_marker_rows rows = th_marker_rows_around(c->params->markers, c->p, radius);
    for (th_marker_run run; th_next_markers(markers, &rows, &run);)
        for (int k = run.begin; k < run.end; ++k) {
            th_vec2 marker = th_marker_at(markers, &run, k);
            if (th_length2(th_sub(marker, c->p)) > radius * radius ||
                !th_colonist_owns(c, marker) || !th_colonist_sees(c, c->p, marker))
                continue;
            th_tell_circle(all, "own marker", marker, dot);
        }
}

static int influences(th_world *world, int model, uint32_t i, th_influence *list, int max) {
    const colonization *state = world->model_state[model];
    th_walls walls = th_world_walls(world);
    th_influences all = {list, 0, max};
    if (!th_colonization_moves(world, i)) return 0;
    th_colonist c = th_colonist_of(world, &walls, i);
    th_vec2 mean = th_colonist_mean(&c, &state->markers, th_colonist_direction(&c));
    th_cell cell;
    th_cell_of(&c, th_colonist_wish(&c) * world->dt, &cell);
    tell_markers(&c, &state->markers, &all);
    th_tell_circle(&all, "mean of the markers", th_add(c.p, mean), 0.1f);
    for (int k = 0; k < cell.count && k < TH_CELL_EDGES; ++k)
        th_tell(&all, (th_influence){.kind = TH_INFLUENCE_HALF_PLANE,
                                     .name = "edge of the cell",
                                     .unit = "m",
                                     .at = th_add(c.p, th_scale(cell.room[k], cell.n[k])),
                                     .vector = th_scale(-1.0f, cell.n[k])});
    return all.count;
}

static void destroy(th_world *world, int model) {
    colonization *state = world->model_state[model];
    if (!state) return;
    th_arena_release(&state->arena);
    th_dealloc(&world->memory, state, 1, sizeof *state);
    world->model_state[model] = NULL;
}

static bool create(th_world *world, int model) {
    colonization *state = th_alloc(&world->memory, 1, sizeof *state);
    if (!state) return false;
    world->model_state[model] = state;
    state->arena = th_arena_of(&world->memory.allocator);
    return th_markers_create(&state->markers, &state->arena);
}

static const th_field_info fields[TH_COLONIZATION_FIELDS] = {
    [TH_COLONIZATION_WAITED] = {"waited", true, true, "how long the agent could not go on [s]",
                                "time without progress"},
};
// Whose markers, whose cell, and those met a few steps ahead: of them it looks at all in the grid's cells.
static float reach(const th_world *world, const float *values) {
    const th_colonization_params *p = (const th_colonization_params *)(const void *)values;
    float most = 25.0f, ahead = p->prediction * world->dt; // [m/s] contact lets no agent go faster
    float bodies = 2.0f * world->max_radius;
    return th_max(th_max(2.002f * p->personal_radius, bodies + ahead * (most + 2.0f)),
                  bodies + 2.0f * most * world->dt + p->distance) +
           1.5f * world->cell_size;
}

static void body(const float *values, th_body_rules *rules) {
    rules->separation_passes = (int)((const th_colonization_params *)values)->separation_passes;
}

static const char *check(const float *values, int *param) {
    const th_colonization_params *p = (const th_colonization_params *)(const void *)values;
    if (p->planner_leads == 0.0f || p->planner_leads == 1.0f) return NULL;
    *param = (int)(&p->planner_leads - values);
    return "is a switch; give 0 (off) or 1 (on)";
}

static const th_param_info params[] = {TH_COLONIZATION_PARAMS(TH_PARAM_INFO)};
TH_COLONIZATION_PRESETS(TH_PRESET_VALUES)
static const th_preset_info presets[] = {TH_COLONIZATION_PRESETS(TH_PRESET_INFO)};
const th_model th_move_colonization_model = {
    .cookie = TH_MODEL_COOKIE,
    .stage = TH_STAGE_MOVE,
    .name = "colonization",
    .doc = "people share out the markers on the ground and walk to the mean of their own",
    .source = TH_BRM12 "; " TH_CHENG13,
    .params = params,
    .param_count = TH_COUNT_OF(params),
    .presets = presets,
    .preset_count = TH_COUNT_OF(presets),
    .fields = fields,
    .field_count = TH_COLONIZATION_FIELDS,
    .longest_step = 0.2f, // tools/measure-steps: slower beyond
    .body = body,
    .run = run,
    .reach = reach,
    .influences = influences,
    .check = check,
    .create = create,
    .destroy = destroy,
};

// ---- markers

// Making the pattern of markers. Cost: some 40 000 darts and 262 144 samples, 20 ms.

enum { SAMPLES = 512 }; // along a side of the torus, for the cells' centres
// Discs that touch cover 0.44 of the ground, as in Bicho et al.: easily reached, and even enough.
static const double SPACING = 0.75;

typedef struct pattern {
    double x[TH_MARKERS], y[TH_MARKERS]; // on the torus, 0 .. 1
    int next[TH_MARKERS];                // of the same cell
    int head[TH_MARKER_COLUMNS * TH_MARKER_COLUMNS];
    int64_t sum_x[TH_MARKERS], sum_y[TH_MARKERS], samples[TH_MARKERS];
    int count;
} pattern;

static int cell_along(double x) { return (int)(x * TH_MARKER_COLUMNS) & (TH_MARKER_COLUMNS - 1); }

// The shorter way round.
static double around(double d) { return d > 0.5 ? d - 1.0 : d < -0.5 ? d + 1.0 : d; }

// The nearest marker, or -1 where none lies in the nine cells around.
static int nearest(const pattern *p, double x, double y, double *distance2) {
    int best = -1;
    *distance2 = 1e9;
    for (int k = 0; k < 9; ++k) {
        int cell = th_marker_cell(cell_along(x) + k % 3 - 1, cell_along(y) + k / 3 - 1);
        for (int m = p->head[cell]; m >= 0; m = p->next[m]) {
            double dx = around(p->x[m] - x), dy = around(p->y[m] - y);
            double d2 = dx * dx + dy * dy;
            if (d2 < *distance2 || (d2 == *distance2 && m < best)) {
                *distance2 = d2;
                best = m;
            }
        }
    }
    return best;
}

static void throw_darts(pattern *p) {
    double least2 = SPACING * SPACING / (double)TH_MARKERS;
    memset(p->head, 0xFF, sizeof p->head); // -1
    for (uint64_t dart = 0; p->count < TH_MARKERS; ++dart) {
        th_random4 random = th_philox(0, TH_STREAM_MARKERS, 0, dart);
        double x = th_uniform_double(random.v[0], random.v[1]);
        double y = th_uniform_double(random.v[2], random.v[3]), distance2;
        if (nearest(p, x, y, &distance2) >= 0 && distance2 < least2) continue;
        int cell = th_marker_cell(cell_along(x), cell_along(y)), m = p->count++;
        p->x[m] = x;
        p->y[m] = y;
        p->next[m] = p->head[cell];
        p->head[cell] = m;
    }
}

// Lloyd's step: every marker goes to the centre of what is nearest to it. Sums of whole numbers have one value.
static void centre(pattern *p) {
    const double scale = 1048576.0;
    for (int n = 0; n < SAMPLES * SAMPLES; ++n) {
        double x = ((double)(n % SAMPLES) + 0.5) / SAMPLES, distance2;
        double y = ((double)(n / SAMPLES) + 0.5) / SAMPLES;
        int m = nearest(p, x, y, &distance2);
        if (m < 0) continue;
        p->sum_x[m] += (int64_t)(around(x - p->x[m]) * scale);
        p->sum_y[m] += (int64_t)(around(y - p->y[m]) * scale);
        ++p->samples[m];
    }
    for (int m = 0; m < TH_MARKERS; ++m) {
        double weight = 1.0 / (scale * (double)(p->samples[m] > 0 ? p->samples[m] : 1));
        p->x[m] += (double)p->sum_x[m] * weight;
        p->y[m] += (double)p->sum_y[m] * weight;
        p->x[m] -= floor(p->x[m]);
        p->y[m] -= floor(p->y[m]);
    }
}

static void sort_into_cells(const pattern *p, th_markers *markers) {
    int count = 0;
    for (int cell = 0; cell < TH_MARKER_COLUMNS * TH_MARKER_COLUMNS; ++cell) {
        markers->start[cell] = count;
        for (int m = 0; m < TH_MARKERS; ++m) {
            if (th_marker_cell(cell_along(p->x[m]), cell_along(p->y[m])) != cell) continue;
            markers->x[count] = (float)(p->x[m] * TH_MARKER_COLUMNS);
            markers->y[count++] = (float)(p->y[m] * TH_MARKER_COLUMNS);
        }
    }
    markers->start[TH_MARKER_COLUMNS * TH_MARKER_COLUMNS] = count;
}

bool th_markers_create(th_markers *markers, th_arena *arena) {
    pattern *p = th_alloc(&arena->memory, 1, sizeof *p);
    markers->x = th_arena_alloc(arena, TH_MARKERS, sizeof(float));
    markers->y = th_arena_alloc(arena, TH_MARKERS, sizeof(float));
    markers->start = th_arena_alloc(arena, TH_MARKER_COLUMNS * TH_MARKER_COLUMNS + 1, sizeof(int));
    bool done = p && !arena->failed;
    if (done) {
        throw_darts(p);
        centre(p);
        sort_into_cells(p, markers);
    }
    th_dealloc(&arena->memory, p, 1, sizeof *p);
    return done;
}
