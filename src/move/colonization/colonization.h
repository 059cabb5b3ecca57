// Space colonization: Bicho, Rodrigues, Musse, Jung, Paravisi, Magalhaes, "Simulating crowds based on a space
// colonization algorithm", Computers & Graphics 36, 2012 (BRM12), with the collision schemes of Cheng 2013, chapter 3.
// Equations implemented, additions and parts left out: docs/models/colonization.md. SPDX-License-Identifier: Apache-2.0
#ifndef TH_MOVE_COLONIZATION_COLONIZATION_H
#define TH_MOVE_COLONIZATION_COLONIZATION_H
#include "core/device.h"
#include "core/memory.h"
#include "formula/math.h"
#include "formula/params.h"
#include "formula/random.h"
#include "formula/vec.h"
#include "state/nearest.h"
#include <math.h>

// ---- markers
// Markers on the ground: one pattern of Poisson discs on a torus, after one step of Lloyd's, laid out side by side over
// the whole plane. A marker's place is a function of its number and of the cell it lies in, so they take no memory
// however large the level is, and every agent sees the same ones. Walls hide markers; those in solids are seen by no
// agent.

enum {
    TH_MARKERS = 1024,     // of the pattern
    TH_MARKER_COLUMNS = 16 // cells along a side of it: four markers a cell
};

typedef struct th_markers {
    float *x, *y; // on the pattern [cells], 0 .. TH_MARKER_COLUMNS
    int *start;   // cell c has markers start[c] .. start[c + 1] - 1
} th_markers;

// The pattern, in the arena. False: no memory.
bool th_markers_create(th_markers *markers, th_arena *arena);

// The pattern's cell of a cell of the plane.
TH_BOTH static inline int th_marker_cell(int column, int row) {
    return (row & (TH_MARKER_COLUMNS - 1)) * TH_MARKER_COLUMNS + (column & (TH_MARKER_COLUMNS - 1));
}

// The markers that may be within a distance of a point, row by row of cells, in runs of one pattern each:
//   th_marker_rows rows = th_marker_rows_around(density, p, range);
//   for (th_marker_run run; th_next_markers(markers, &rows, &run);)
//       for (int k = run.begin; k < run.end; ++k) th_marker_at(markers, &run, k) ...
typedef struct th_marker_rows {
    int column, column0, column1, row, row1; // cells of the endless plane
    float side;                              // of a cell [m]
} th_marker_rows;
typedef struct th_marker_run {
    int begin, end;
    float x, y, side; // the pattern's corner [cells], of so many metres
} th_marker_run;

TH_BOTH static inline th_marker_rows th_marker_rows_around(float density, th_vec2 p, float range) {
    float side = sqrtf((float)TH_MARKERS / density) / (float)TH_MARKER_COLUMNS;
    int column0 = (int)floorf((p.x - range) / side);
    th_marker_rows rows = {column0,
                           column0,
                           (int)floorf((p.x + range) / side),
                           (int)floorf((p.y - range) / side),
                           (int)floorf((p.y + range) / side),
                           side};
    return rows;
}

TH_BOTH static inline bool th_next_markers(const th_markers *markers, th_marker_rows *rows,
                                           th_marker_run *run) {
    if (rows->column > rows->column1) {
        rows->column = rows->column0;
        ++rows->row;
    }
    if (rows->row > rows->row1) return false;
    int last = rows->column | (TH_MARKER_COLUMNS - 1); // of this pattern
    last = last < rows->column1 ? last : rows->column1;
    run->begin = markers->start[th_marker_cell(rows->column, rows->row)];
    run->end = markers->start[th_marker_cell(last, rows->row) + 1];
    run->x = (float)(rows->column & ~(TH_MARKER_COLUMNS - 1));
    run->y = (float)(rows->row & ~(TH_MARKER_COLUMNS - 1));
    run->side = rows->side;
    rows->column = last + 1;
    return true;
}

TH_FORMULA th_vec2 th_marker_at(const th_markers *markers, const th_marker_run *run, int k) {
    return th_v((run->x + markers->x[k]) * run->side, (run->y + markers->y[k]) * run->side);
}

// ---- the model

#define TH_BRM12 "Bicho et al. 2012"
#define TH_CHENG13 "Cheng 2013"

// separation_passes leads, as in every move model.
#define TH_COLONIZATION_PARAMS(X)                                                                \
    TH_CONTACT_PARAMS(X)                                                                         \
    X(markers, 14, 4, 60, "1/m2", TH_BRM12 ": 11 to 16", "markers on the ground")                \
    X(personal_radius, 1, 0.4, 3, "m", TH_BRM12 ": 1 to 1.25",                                   \
      "markers further away belong to no agent")                                                 \
    X(guarantee, 1, 0, 2, "-", TH_CHENG13 " 3.8; 1: throng",                                     \
      "1: steps end inside the exact cell; 2: the 17 taps; 0: nothing is tested")                \
    X(distance, 0.1, 0, 1, "m", "throng: crowds that touch lock into arches at doors",           \
      "kept from others as long as patience lasts")                                              \
    X(prediction, 4, 0, 20, "-", TH_CHENG13 " 3.9 \"a few\"",                                    \
      "steps ahead at which oncoming people are dodged; 0: they are not")                        \
    X(face_angle, 20, 0, 90, "deg", TH_CHENG13 " 3.9 \"close to 180\"",                          \
      "how far from face to face a pair may be to be oncoming")                                  \
    X(dodge_time, 0.3, 0.02, 5, "s", "throng: shorter ones jitter", "for which a dodge is held") \
    X(patience, 2, 0, 60, "s", TH_CHENG13 " 5.1: rescue; the time is throng's",                  \
      "standing against one's will after which other directions are tried; 0: never")            \
    X(planner_leads, 0, 0, 1, "-", TH_CHENG13 " 5.1: 1; " TH_BRM12 ": 0",                        \
      "1: the planner's velocity is the step, markers only serve agents that it moves nowhere")

#define TH_COLONIZATION_PRESETS(X)                                                              \
    X(cheng2013, "the thesis' pipeline: the planner leads, markers free people it cannot move", \
      {"planner_leads", 1}, {"distance", 0})

typedef struct th_colonization_params {
    TH_COLONIZATION_PARAMS(TH_PARAM_MEMBER)
} th_colonization_params;

enum { TH_COLONIZATION_WAITED, TH_COLONIZATION_FIELDS };
enum { TH_CELL_EXACT = 1, TH_CELL_TAPS = 2 }; // values of `guarantee`
enum {
    TH_CELL_EDGES = 40,
    TH_CELL_WALLS = 16,
    TH_CELL_LINKED = 8,
    TH_CELL_CLOSE = 8,
    TH_TAPS = 17
};
// Gap left between two touching agents, so that rounding does not make it an overlap [m].
#define TH_CELL_HAIR 1e-5f
// An agent that makes less than this share of the preferred progress is held up.
#define TH_COLONIZATION_HELD 0.1f

// ---- a person among the markers

typedef struct th_colonist {
    const th_world *world;
    const th_walls *walls;
    const th_colonization_params *params;
    uint32_t i, level;
    th_vec2 p;
    bool hidden;  // walls are so near that they may hide markers or people
    bool rescued; // has stood against its will for longer than its patience
    uint32_t linked[TH_CELL_LINKED];
    int linked_count; // people across a link
    // The nearest others, nearest first, which own most markers that are not the person's: tested first on a GPU, where
    // it saves a third; on a CPU finding them costs more than it saves. None where walls may hide them.
    uint32_t close[TH_CELL_CLOSE];
    int close_count;
} th_colonist;

TH_BOTH static inline bool th_colonist_stands_there(const th_agents *a, uint32_t j) {
    return th_in_the_way(a->phase[j]);
}

TH_BOTH static inline void th_colonist_find_close(th_colonist *c) {
    const th_world *world = c->world;
    const th_agents *a = &world->agents;
    const th_level_grid *grid = &world->index.grids[c->level];
    float squares[TH_CELL_CLOSE], radius = c->params->personal_radius;
    c->close_count = 0;
    if (c->hidden) return;
    th_rows rows = th_rows_around(grid, c->p, radius);
    for (uint32_t begin, end; th_next_run(&world->index, grid, &rows, &begin, &end);)
        for (uint32_t j = begin; j < end; ++j) {
            float square = th_length2(th_sub(th_position(a, j), c->p));
            if (j == c->i || square > radius * radius || !th_colonist_stands_there(a, j)) continue;
            int at = c->close_count;
            if (at < TH_CELL_CLOSE)
                ++c->close_count;
            else if (square >= squares[--at])
                continue;
            for (; at > 0 && squares[at - 1] > square; --at) {
                squares[at] = squares[at - 1];
                c->close[at] = c->close[at - 1];
            }
            squares[at] = square;
            c->close[at] = j;
        }
}

TH_BOTH static inline th_colonist th_colonist_of(const th_world *world, const th_walls *walls,
                                                 uint32_t i) {
    const th_agents *a = &world->agents;
    th_colonist c;
    c.world = world;
    c.walls = walls;
    c.params = (const th_colonization_params *)(const void *)world->groups[a->group[i]].move_params;
    c.i = i;
    c.level = a->level[i];
    c.p = th_position(a, i);
    float waited = th_own_floats(world, TH_MOVE_COLONIZATION, TH_COLONIZATION_WAITED)[i];
    c.rescued = c.params->patience > 0.0f && waited >= c.params->patience;
    float range = 2.0f * c.params->personal_radius;
    c.hidden = walls->count > 0 && !(th_walls_clear(walls, (int)c.level, c.p) >= range);
    c.linked_count = world->scene->link_count > 0
                         ? th_linked_neighbours(world, i, range, c.linked, TH_CELL_LINKED)
                         : 0;
    c.close_count = 0;
    return c;
}

TH_BOTH static inline bool th_colonist_sees(const th_colonist *c, th_vec2 from, th_vec2 to) {
    return !c->hidden || th_walls_first_crossing(c->walls, (int)c->level, from, to, NULL) < 0;
}

// Is j nearer to the point than the squared distance? Of equals the lower id is.
TH_BOTH static inline bool th_colonist_loses(const th_colonist *c, uint32_t j, th_vec2 point,
                                             float distance2) {
    const th_agents *a = &c->world->agents;
    float other2 = th_length2(th_sub(th_position(a, j), point));
    if (other2 > distance2 || j == c->i) return false;
    if (other2 == distance2 && a->id[j] > a->id[c->i]) return false;
    return th_colonist_stands_there(a, j);
}

// Is the point the person's: is no other agent that sees it nearer? At the same time the label of Cheng's Voronoi
// diagram, without pixels.
TH_BOTH static inline bool th_colonist_owns(const th_colonist *c, th_vec2 point) {
    const th_world *world = c->world;
    const th_level_grid *grid = &world->index.grids[c->level];
    float distance2 = th_length2(th_sub(point, c->p));
    for (int k = 0; k < c->close_count; ++k)
        if (th_colonist_loses(c, c->close[k], point, distance2)) return false;
    th_rows rows = th_rows_around(grid, point, sqrtf(distance2) * 1.0001f);
    for (uint32_t begin, end; th_next_run(&world->index, grid, &rows, &begin, &end);)
        for (uint32_t j = begin; j < end; ++j)
            if (th_colonist_loses(c, j, point, distance2) &&
                th_colonist_sees(c, th_position(&world->agents, j), point))
                return false;
    for (int k = 0; k < c->linked_count; ++k)
        if (th_colonist_loses(c, c->linked[k], point, distance2)) return false;
    return true;
}

// (2): the weight of a marker at y from an agent that wants to go along the unit vector g; g = 0: anywhere.
TH_FORMULA float th_marker_weight(th_vec2 g, th_vec2 y) {
    float distance = th_length(y);
    if (!(distance > 0.0f)) return 0.0f;
    return (1.0f + th_dot(g, y) / distance) / (1.0f + distance);
}

// (3) and (4): the mean of the own markers by their weights, from the person [m].
TH_BOTH static inline th_vec2 th_colonist_mean(const th_colonist *c, const th_markers *markers,
                                               th_vec2 g) {
    float radius = c->params->personal_radius, sum = 0.0f;
    th_vec2 mean = th_v(0.0f, 0.0f);
    th_marker_rows rows = th_marker_rows_around(c->params->markers, c->p, radius);
    for (th_marker_run run; th_next_markers(markers, &rows, &run);)
        for (int k = run.begin; k < run.end; ++k) {
            th_vec2 marker = th_marker_at(markers, &run, k), y = th_sub(marker, c->p);
            if (th_length2(y) > radius * radius || !th_colonist_owns(c, marker)) continue;
            float weight = th_marker_weight(g, y);
            if (!(weight > 0.0f) || !th_colonist_sees(c, c->p, marker)) continue;
            mean = th_add(mean, th_scale(weight, y));
            sum += weight;
        }
    return sum > 0.0f ? th_scale(1.0f / sum, mean) : mean;
}

// (5): the speed, full where the cell is open, less as it shrinks; no agent goes beyond the mean of the markers.
TH_FORMULA float th_colonization_speed(float mean, float radius, float speed, float dt) {
    return th_min(th_min(speed, 3.14159265f * speed * mean / radius), mean / dt);
}

// ---- exact cells

// Half-planes that a step stays in: step . n <= room.
typedef struct th_cell {
    th_vec2 n[TH_CELL_EDGES];
    float room[TH_CELL_EDGES];
    int count; // more than TH_CELL_EDGES: some did not fit
} th_cell;

TH_BOTH static inline void th_cell_add(th_cell *cell, th_vec2 to, float distance, float room) {
    if (cell->count < TH_CELL_EDGES) {
        cell->n[cell->count] = th_scale(1.0f / distance, to);
        cell->room[cell->count] = th_max(room - TH_CELL_HAIR, 0.0f);
    }
    ++cell->count;
}

// (6): half of the gap to an agent is the person's. Coincident people have no direction between them; contact parts
// them.
TH_BOTH static inline void th_cell_add_agent(const th_colonist *c, th_cell *cell, uint32_t j,
                                             float step) {
    const th_agents *a = &c->world->agents;
    th_vec2 to = th_sub(th_position(a, j), c->p);
    float distance = th_length(to), gap = distance - a->radius[c->i] - a->radius[j];
    float keep = c->rescued ? 0.0f : c->params->distance;
    if (j == c->i || gap > 2.0f * step + keep + 2.0f * TH_CELL_HAIR || !(distance > 1e-6f)) return;
    if (!th_colonist_stands_there(a, j)) return;
    th_cell_add(cell, to, distance, 0.5f * (gap - keep));
}

// Adds the walls that the body may come near in a step [m].
TH_BOTH static inline void th_cell_add_walls(const th_colonist *c, th_cell *cell, float step) {
    int found[TH_CELL_WALLS];
    float radius = c->world->agents.radius[c->i];
    int count = th_walls_near(c->walls, (int)c->level, c->p, radius + step + TH_CELL_HAIR, found,
                              NULL, TH_CELL_WALLS);
    for (int k = 0; k < count; ++k) {
        const th_wall *wall = &c->walls->walls[found[k]];
        th_vec2 to = th_sub(th_nearest_on_segment(c->p, wall->a, wall->b), c->p);
        float distance = th_length(to);
        if (distance > 1e-6f) th_cell_add(cell, to, distance, distance - radius);
    }
}

TH_BOTH static inline void th_cell_of(const th_colonist *c, float step, th_cell *cell) {
    const th_world *world = c->world;
    const th_level_grid *grid = &world->index.grids[c->level];
    cell->count = 0;
    float reach =
        world->agents.radius[c->i] + world->max_radius + 2.0f * step + c->params->distance + 0.001f;
    th_rows rows = th_rows_around(grid, c->p, reach);
    for (uint32_t begin, end; th_next_run(&world->index, grid, &rows, &begin, &end);)
        for (uint32_t j = begin; j < end; ++j) th_cell_add_agent(c, cell, j, step);
    for (int k = 0; k < c->linked_count; ++k) th_cell_add_agent(c, cell, c->linked[k], step);
    if (c->hidden) th_cell_add_walls(c, cell, step);
}

// The part of edge k's line that the edges before it leave: base + t along for low <= t <= high.
TH_FORMULA bool th_cell_clip_line(const th_cell *cell, int k, th_vec2 base, th_vec2 along,
                                  float *low, float *high) {
    for (int j = 0; j < k; ++j) {
        float slope = th_dot(cell->n[j], along);
        float room = cell->room[j] - th_dot(cell->n[j], base);
        if (fabsf(slope) < 1e-6f) {
            if (room < -1e-6f) return false;
        } else if (slope > 0.0f) {
            *high = th_min(*high, room / slope);
        } else {
            *low = th_max(*low, room / slope);
        }
    }
    return *low <= *high;
}

// The point of the cell nearest to `wanted`, by the incremental program of de Berg et al.; to stand is always allowed.
TH_FORMULA th_vec2 th_cell_nearest(const th_cell *cell, th_vec2 wanted) {
    th_vec2 x = wanted, stand = th_v(0.0f, 0.0f);
    if (cell->count > TH_CELL_EDGES) return stand;
    for (int k = 0; k < cell->count; ++k) {
        if (th_dot(cell->n[k], x) <= cell->room[k]) continue;
        th_vec2 base = th_scale(cell->room[k], cell->n[k]), along = th_perp_left(cell->n[k]);
        float low = -1e6f, high = 1e6f;
        if (!th_cell_clip_line(cell, k, base, along, &low, &high)) return stand;
        x = th_add(base, th_scale(th_clamp(th_dot(along, wanted), low, high), along));
    }
    for (int k = 0; k < cell->count; ++k) // rounding where two edges are nearly parallel
        if (th_dot(cell->n[k], x) > cell->room[k] + TH_CELL_HAIR) return stand;
    return x;
}

// ---- the thesis' taps: 17 points of the disc at its new place

TH_FORMULA th_vec2 th_tap(int k) {
    const float x[TH_TAPS] = {0.0f,    -0.326f, -0.840f, -0.696f, -0.203f, 0.962f,
                              0.473f,  0.519f,  0.185f,  0.507f,  0.896f,  -0.322f,
                              -0.792f, 1.0f,    -1.0f,   0.0f,    0.0f};
    const float y[TH_TAPS] = {0.0f,    -0.406f, -0.074f, 0.457f, 0.621f, -0.195f,
                              -0.480f, 0.767f,  -0.893f, 0.064f, 0.412f, -0.933f,
                              -0.598f, 0.0f,    0.0f,    1.0f,   -1.0f};
    return th_v(x[k], y[k]);
}

// Depth to which the disc reaches into cells of others after `step`, by its taps; *centre: its centre lies in one.
TH_BOTH static inline th_vec2 th_tap_penetration(const th_colonist *c, th_vec2 step, int *foreign,
                                                 bool *centre) {
    th_vec2 middle = th_add(c->p, step), sum = th_v(0.0f, 0.0f);
    float radius = c->world->agents.radius[c->i], least = 1.0f;
    uint32_t outside = 0;
    *foreign = 0;
    for (int k = 0; k < TH_TAPS; ++k) {
        th_vec2 tap = th_tap(k);
        if (th_colonist_owns(c, th_add(middle, th_scale(radius, tap)))) continue;
        outside |= 1u << k;
        ++*foreign;
        sum = th_add(sum, tap);
    }
    *centre = outside & 1u;
    float length = th_length(sum);
    if (!(length > 1e-3f)) return th_v(0.0f, 0.0f);
    sum = th_scale(1.0f / length, sum);
    for (int k = 0; k < TH_TAPS; ++k)
        if (outside >> k & 1u) least = th_min(least, th_dot(th_tap(k), sum));
    return th_scale(radius * (1.0f - least), sum);
}

// Eq. 3.17 of the thesis, once; then half and half again, then nothing.
TH_BOTH static inline th_vec2 th_taps_correct(const th_colonist *c, th_vec2 step) {
    for (int round = 0; round < 4; ++round) {
        int foreign;
        bool centre;
        th_vec2 into = th_tap_penetration(c, step, &foreign, &centre);
        if (foreign == 0) return step;
        if (round == 0 && !centre && th_length2(into) > 0.0f)
            step = th_sub(step, into);
        else
            step = th_scale(0.5f, step);
    }
    return th_v(0.0f, 0.0f);
}

// ---- predictive binning

TH_FORMULA bool th_faces(th_vec2 v, th_vec2 w, float angle) {
    const float slow = 0.1f; // [m/s] slower agents have no heading
    float speeds = th_length(v) * th_length(w);
    double sine, cosine;
    th_sincos_turn((double)angle / 360.0, &sine, &cosine);
    return th_length2(v) > slow * slow && th_length2(w) > slow * slow &&
           th_dot(v, w) < -(float)cosine * speeds;
}

// From the right over the back to the left, never ahead: where an agent dodges to when it meets another face to face.
TH_FORMULA th_vec2 th_dodge(th_vec2 heading, float turn) {
    double sine, cosine;
    th_sincos_turn(0.5 * (double)turn, &sine, &cosine);
    return th_sub(th_scale((float)cosine, th_perp_right(heading)),
                  th_scale(0.5f * (float)sine, heading));
}

// (7): what the person adds to its step because of agents that it would touch a few steps ahead.
TH_BOTH static inline th_vec2 th_colonist_dodge(const th_colonist *c) {
    const th_world *world = c->world;
    const th_agents *a = &world->agents;
    const th_level_grid *grid = &world->index.grids[c->level];
    const float fast = 2.0f; // [m/s] of oncoming people: how far they are looked for
    th_vec2 v = th_velocity(a, c->i), sum = th_v(0.0f, 0.0f);
    float ahead = c->params->prediction * world->dt;
    if (!(ahead > 0.0f) || !(th_length2(v) > 0.0f)) return sum;
    uint64_t draw = (uint64_t)(world->time / (double)c->params->dodge_time);
    float turn = th_uniform(th_philox(world->seed, TH_STREAM_DODGE, a->id[c->i], draw).v[0]);
    float reach = a->radius[c->i] + world->max_radius + ahead * (th_length(v) + fast);
    th_rows rows = th_rows_around(grid, c->p, reach);
    for (uint32_t begin, end; th_next_run(&world->index, grid, &rows, &begin, &end);)
        for (uint32_t j = begin; j < end; ++j) {
            th_vec2 w = th_velocity(a, j), to = th_sub(th_position(a, j), c->p);
            float apart = a->radius[c->i] + a->radius[j],
                  then = th_length(th_add(to, th_scale(ahead, th_sub(w, v))));
            if (j == c->i || then >= apart || !th_faces(v, w, c->params->face_angle)) continue;
            if (!th_colonist_stands_there(a, j) || !th_colonist_sees(c, c->p, th_position(a, j)))
                continue;
            sum = th_add(sum, th_scale(0.5f * (apart - then), th_dodge(th_unit(v), turn)));
        }
    return sum;
}

// ---- the step

// The direction wished for: the planner's; turned at random for agents that have stood for too long.
TH_BOTH static inline th_vec2 th_colonist_direction(const th_colonist *c) {
    const th_agents *a = &c->world->agents;
    th_vec2 g = th_unit(th_v(a->preferred_x[c->i], a->preferred_y[c->i]));
    if (!c->rescued) return g;
    uint64_t draw = (uint64_t)c->world->time; // anew every second
    th_random4 random = th_philox(c->world->seed, TH_STREAM_RESCUE, a->id[c->i], draw);
    double sine, cosine;
    th_sincos_turn((double)th_uniform(random.v[0]) - 0.5, &sine, &cosine);
    return th_v((float)cosine * g.x - (float)sine * g.y, (float)sine * g.x + (float)cosine * g.y);
}

// The speed wished for. A walking agent that is told to stand does so until its patience ends.
TH_BOTH static inline float th_colonist_wish(const th_colonist *c) {
    const th_agents *a = &c->world->agents;
    float wish = th_length(th_v(a->preferred_x[c->i], a->preferred_y[c->i]));
    return wish > 0.0f || !c->rescued ? wish : a->speed[c->i];
}

// A wished step, with what the person dodges by and cut to its cell.
TH_BOTH static inline th_vec2 th_colonist_walk(const th_colonist *c, th_vec2 step, float wish) {
    step = th_limit(th_add(step, th_colonist_dodge(c)), wish * c->world->dt);
    int guarantee = (int)(c->params->guarantee + 0.5f);
    if (guarantee == TH_CELL_TAPS) return th_taps_correct(c, step);
    if (guarantee != TH_CELL_EXACT) return step;
    th_cell cell;
    th_cell_of(c, th_length(step), &cell);
    return th_cell_nearest(&cell, step);
}

// The step towards the mean of the markers, [m] from the person; it ends inside the cell.
TH_BOTH static inline th_vec2 th_colonist_step(const th_colonist *c, th_vec2 mean, float wish) {
    float dt = c->world->dt;
    float speed = th_colonization_speed(th_length(mean), c->params->personal_radius, wish, dt);
    return th_colonist_walk(c, th_scale(speed * dt, th_unit(mean)), wish);
}

// Does a step make so little progress that the person counts as held up?
TH_BOTH static inline bool th_colonist_held(const th_colonist *c, th_vec2 step, float wish) {
    const th_agents *a = &c->world->agents;
    th_vec2 g = th_unit(th_v(a->preferred_x[c->i], a->preferred_y[c->i]));
    return th_dot(step, g) <= TH_COLONIZATION_HELD * wish * c->world->dt;
}

// Thesis, 5.1, steps 9 and 10: the step that the planner leads to. False: it leads nowhere, markers have to.
TH_BOTH static inline bool th_colonist_led(const th_colonist *c, float wish, th_vec2 *step) {
    const th_agents *a = &c->world->agents;
    if (!(c->params->planner_leads > 0.0f) || c->rescued) return false;
    th_vec2 wanted = th_v(a->preferred_x[c->i], a->preferred_y[c->i]);
    *step = th_colonist_walk(c, th_scale(c->world->dt, wanted), wish);
    return !th_colonist_held(c, *step, wish);
}

// Writes the step, and for how long the person has made no progress.
TH_BOTH static inline void th_colonist_take(th_world *world, const th_colonist *c, th_vec2 step,
                                            float wish) {
    th_agents *a = &world->agents;
    float *waited = th_own_floats(world, TH_MOVE_COLONIZATION, TH_COLONIZATION_WAITED) + c->i;
    bool walks = a->phase[c->i] == TH_PHASE_WALKING;
    bool held = walks && th_colonist_held(c, step, wish);
    float more = held ? *waited + world->dt : *waited - 2.0f * world->dt;
    *waited = walks ? th_clamp(more, 0.0f, 2.0f * c->params->patience) : 0.0f;
    a->next_position_x[c->i] = c->p.x + step.x;
    a->next_position_y[c->i] = c->p.y + step.y;
    a->next_velocity_x[c->i] = step.x / world->dt;
    a->next_velocity_y[c->i] = step.y / world->dt;
}

TH_BOTH static inline bool th_colonization_moves(const th_world *world, uint32_t i) {
    const th_agents *a = &world->agents;
    return th_moves(a->phase[i]) && world->groups[a->group[i]].move == TH_MOVE_COLONIZATION;
}
#endif
