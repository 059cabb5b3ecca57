// Quality of a crowd: distances, packing, lanes, vortices, outflow, calm, and the people left behind.
// SPDX-License-Identifier: Apache-2.0
#include "bench/bench.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/system/system.h"
#include "throng/scene_view.h"
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// All agents at one look, in id order, and a grid of cells to find neighbours with.
typedef struct look {
    int count, capacity;
    float *x, *y, *velocity_x, *velocity_y, *preferred_x, *preferred_y, *radius, *speed;
    uint32_t *id, *group, *level, *phase;
    int *cell_start, *order, *cell;
    int nx, ny, cell_capacity;
    float min_x, min_y, side; // of the neighbour cells [m]
    double time;              // of the look [s]
} look;

typedef struct overlap {
    float depth, share; // [m], of the pair's mean diameter
    float x, y;         // of the deepest [m]
} overlap;

static const float NEIGHBOUR_CELL = 1.0f; // [m] at 4 people per m2 a handful to a cell
static const float LANE_HALF_WIDTH = 0.4f,
                   LANE_REACH = 4.0f; // [m] a person's width to each side; see lanes_of
static const float PACKED = 0.9f; // share of the largest density from which a spot counts as dense

static const float MOVING = 0.1f;   // [m/s] slower people have no direction to turn from
static const float TOO_FAST = 1.2f; // times the preferred speed

typedef struct sums {
    double nearest, nearest_count, below, looks, goalward, goalward_count, lanes, lanes_count;
    double acceleration, walkers, movers, reversals, above;
} sums;

// All agents a minute ago, to see whether any of them made progress.
typedef struct minute {
    int count, capacity;
    uint32_t *id;
    float *x, *y;
    double time;
    uint64_t done;
} minute;

static bool grow(look *l, int count) {
    if (l->capacity > 0 && count <= l->capacity) return true;
    int capacity =
        th_array_capacity_int(l->capacity, count + 1); // never NULL, even for an empty crowd
    float **floats[] = {&l->x,           &l->y,           &l->velocity_x, &l->velocity_y,
                        &l->preferred_x, &l->preferred_y, &l->radius,     &l->speed};
    uint32_t **words[] = {&l->id, &l->group, &l->level, &l->phase};
    int **numbers[] = {&l->order, &l->cell};
    bool complete = true;
#define GROW(list)                                          \
    for (size_t k = 0; k < sizeof list / sizeof *list; ++k) \
        complete = complete && TH_RESIZE(*list[k], capacity);
    GROW(floats)
    GROW(words)
    GROW(numbers)
#undef GROW
    if (complete) l->capacity = capacity;
    return complete;
}

static void release(look *l) {
    void *all[] = {l->x,           l->y,      l->velocity_x, l->velocity_y, l->preferred_x,
                   l->preferred_y, l->radius, l->speed,      l->id,         l->group,
                   l->level,       l->phase,  l->order,      l->cell,       l->cell_start};
    for (size_t k = 0; k < sizeof all / sizeof *all; ++k) free(all[k]);
}

static bool copy_field(th_world *world, th_field field, void *to, int count) {
    const void *view = th_world_map(world, field, TH_ACCESS_READ);
    if (!view) return false;
    memcpy(to, view, (size_t)count * 4);
    th_world_unmap(world, field);
    return true;
}

static bool read_crowd(look *l, th_world *world) {
    int count = th_world_agent_count(world);
    if (!grow(l, count)) return false;
    l->count = count;
    return copy_field(world, TH_FIELD_POSITION_X, l->x, count) &&
           copy_field(world, TH_FIELD_POSITION_Y, l->y, count) &&
           copy_field(world, TH_FIELD_VELOCITY_X, l->velocity_x, count) &&
           copy_field(world, TH_FIELD_VELOCITY_Y, l->velocity_y, count) &&
           copy_field(world, TH_FIELD_PREFERRED_X, l->preferred_x, count) &&
           copy_field(world, TH_FIELD_PREFERRED_Y, l->preferred_y, count) &&
           copy_field(world, TH_FIELD_RADIUS, l->radius, count) &&
           copy_field(world, TH_FIELD_SPEED, l->speed, count) &&
           copy_field(world, TH_FIELD_ID, l->id, count) &&
           copy_field(world, TH_FIELD_GROUP, l->group, count) &&
           copy_field(world, TH_FIELD_LEVEL, l->level, count) &&
           copy_field(world, TH_FIELD_PHASE, l->phase, count);
}

static int cell_of(const look *l, float x, float y) {
    int i = (int)((x - l->min_x) / l->side), j = (int)((y - l->min_y) / l->side);
    i = i < 0 ? 0 : i >= l->nx ? l->nx - 1 : i;
    j = j < 0 ? 0 : j >= l->ny ? l->ny - 1 : j;
    return j * l->nx + i;
}

// Counting sort into cells; wider cells where the crowd spans more than there is room for.
static bool sort_crowd(look *l) {
    float max_x = -1e30f, max_y = -1e30f;
    l->min_x = l->min_y = 1e30f;
    for (int i = 0; i < l->count; ++i) {
        l->min_x = fminf(l->min_x, l->x[i]);
        l->min_y = fminf(l->min_y, l->y[i]);
        max_x = fmaxf(max_x, l->x[i]);
        max_y = fmaxf(max_y, l->y[i]);
    }
    double most = 4.0 * l->count + 1024;
    for (l->side = NEIGHBOUR_CELL;; l->side *= 1.5f) {
        double wide = floor((double)((max_x - l->min_x) / l->side)) + 1;
        double high = floor((double)((max_y - l->min_y) / l->side)) + 1;
        if (wide * high > most) continue;
        l->nx = (int)wide;
        l->ny = (int)high;
        break;
    }
    int cells = l->nx * l->ny;
    if (!TH_RESERVE(l->cell_start, l->cell_capacity, cells + 1)) return false;
    memset(l->cell_start, 0, ((size_t)cells + 1) * sizeof *l->cell_start);
    for (int i = 0; i < l->count; ++i)
        l->cell_start[(l->cell[i] = cell_of(l, l->x[i], l->y[i])) + 1]++;
    for (int c = 0; c < cells; ++c) l->cell_start[c + 1] += l->cell_start[c];
    for (int i = l->count - 1; i >= 0; --i) l->order[--l->cell_start[l->cell[i] + 1]] = i;
    // The loop above moved each start one cell up and back: cell c begins at cell_start[c + 1].
    return true;
}

static int cell_begin(const look *l, int c) { return l->cell_start[c + 1]; }
static int cell_end(const look *l, int c) {
    return c + 1 < l->nx * l->ny ? l->cell_start[c + 2] : l->count;
}

static bool is_person(const look *l, int i) { return l->phase[i] < TH_PHASE_BODY; }

// Distance to the nearest person within two neighbour cells, in own diameters.
static float nearest_of(const look *l, int i, overlap *deepest) {
    int column = l->cell[i] % l->nx, row = l->cell[i] / l->nx;
    float best2 = 1e30f;
    for (int j = row - 1; j <= row + 1; ++j)
        for (int k = column - 1; k <= column + 1; ++k) {
            if (j < 0 || k < 0 || j >= l->ny || k >= l->nx) continue;
            int c = j * l->nx + k;
            for (int n = cell_begin(l, c); n < cell_end(l, c); ++n) {
                int other = l->order[n];
                if (other == i || l->level[other] != l->level[i] || !is_person(l, other)) continue;
                float dx = l->x[other] - l->x[i], dy = l->y[other] - l->y[i];
                float d2 = dx * dx + dy * dy, apart = l->radius[i] + l->radius[other];
                if (d2 < apart * apart) {
                    float share = fmaxf(deepest->share, 1.0f - sqrtf(d2) / apart);
                    if (apart - sqrtf(d2) > deepest->depth)
                        *deepest = (overlap){apart - sqrtf(d2), share, l->x[i], l->y[i]};
                    deepest->share = share;
                }
                best2 = fminf(best2, d2);
            }
        }
    return sqrtf(best2) / (2.0f * l->radius[i]);
}

// Rex and Loewen 2007: ((same - opposite) / (same + opposite))^2 over people beside whose way one's own
// lies, `LANE_HALF_WIDTH` to each side and up to LANE_REACH along. Only agents with a neighbour there count;
// a random mixture of n neighbours gives 1/n. Negative: no neighbour there.
static double lanes_of(const look *l, int i) {
    float speed =
        sqrtf(l->preferred_x[i] * l->preferred_x[i] + l->preferred_y[i] * l->preferred_y[i]);
    if (!(speed > 0.0f) || l->phase[i] != TH_PHASE_WALKING) return -1.0;
    float ux = l->preferred_x[i] / speed, uy = l->preferred_y[i] / speed;
    int reach = (int)(LANE_REACH / l->side) + 1, column = l->cell[i] % l->nx,
        row = l->cell[i] / l->nx;
    int same = 0, opposite = 0;
    for (int j = row - reach; j <= row + reach; ++j)
        for (int k = column - reach; k <= column + reach; ++k) {
            if (j < 0 || k < 0 || j >= l->ny || k >= l->nx) continue;
            int c = j * l->nx + k;
            for (int n = cell_begin(l, c); n < cell_end(l, c); ++n) {
                int other = l->order[n];
                if (other == i || l->level[other] != l->level[i] ||
                    l->phase[other] != TH_PHASE_WALKING)
                    continue;
                float dx = l->x[other] - l->x[i], dy = l->y[other] - l->y[i];
                if (fabsf(dx * uy - dy * ux) > LANE_HALF_WIDTH ||
                    fabsf(dx * ux + dy * uy) > LANE_REACH)
                    continue;
                float other_speed = sqrtf(l->preferred_x[other] * l->preferred_x[other] +
                                          l->preferred_y[other] * l->preferred_y[other]);
                float along = (l->preferred_x[other] * ux + l->preferred_y[other] * uy);
                same += along > 0.5f * other_speed;
                opposite += along < -0.5f * other_speed;
            }
        }
    int all = same + opposite;
    return all > 0 ? (double)(same - opposite) * (same - opposite) / ((double)all * all) : -1.0;
}

static float packing_at(const th_grid *grid, float x, float y) {
    if (!grid->values) return 0.0f;
    int i = (int)((x - grid->min_x) / grid->cell), j = (int)((y - grid->min_y) / grid->cell);
    if (i < 0 || j < 0 || i >= grid->nx || j >= grid->ny) return 0.0f;
    return grid->values[(size_t)j * (size_t)grid->nx + (size_t)i];
}

static void look_at_level(look *l, const th_grid *grid, uint32_t level, sums *s, th_quality *q) {
    overlap deepest = {0};
    for (size_t c = 0; grid->values && c < (size_t)grid->nx * (size_t)grid->ny; ++c)
        q->densest = fmax(q->densest, (double)grid->values[c]);
    for (int i = 0; i < l->count; ++i) {
        if (l->level[i] != level || !is_person(l, i)) continue;
        float nearest = nearest_of(l, i, &deepest);
        s->looks += 1;
        s->below += nearest < 1.0f;
        if (packing_at(grid, l->x[i], l->y[i]) > PACKED && nearest < 10.0f) {
            s->nearest += (double)nearest;
            s->nearest_count += 1;
        }
        double lane = lanes_of(l, i);
        if (lane >= 0) s->lanes += lane;
        if (lane >= 0) s->lanes_count += 1;
        double wanted = hypot((double)l->preferred_x[i], (double)l->preferred_y[i]);
        if (l->phase[i] != TH_PHASE_WALKING || wanted <= 0 || l->speed[i] <= 0) continue;
        s->goalward +=
            (double)(l->velocity_x[i] * l->preferred_x[i] + l->velocity_y[i] * l->preferred_y[i]) /
            wanted / (double)l->speed[i];
        s->goalward_count += 1;
    }
    q->overlap = fmax(q->overlap, (double)deepest.share);
    if (!((double)deepest.depth > q->deepest_overlap)) return;
    q->deepest_overlap = (double)deepest.depth;
    q->overlap_x = (double)deepest.x;
    q->overlap_y = (double)deepest.y;
    q->overlap_time = l->time;
}

// Share of the speed that goes around the crowd's first centre, among walkers within `core` of it.
static double tangential_of(const look *l, th_vec2 centre, float core) {
    double sum = 0;
    int count = 0;
    for (int i = 0; i < l->count; ++i) {
        float dx = l->x[i] - centre.x, dy = l->y[i] - centre.y, r = sqrtf(dx * dx + dy * dy);
        float v = sqrtf(l->velocity_x[i] * l->velocity_x[i] + l->velocity_y[i] * l->velocity_y[i]);
        if (r > core || r < 0.5f || v < 0.05f || l->phase[i] != TH_PHASE_WALKING) continue;
        // Signed: a vortex turns one way, a mere mixture of ways cancels.
        sum += (double)((dx * l->velocity_y[i] - dy * l->velocity_x[i]) / (r * v));
        count += 1;
    }
    return count >= 50 ? fabs(sum / count) : 0; // fewer are not a crowd
}

static bool look_at(look *l, th_world *world, th_vec2 *centre, float *core, sums *s,
                    th_quality *q) {
    if (!read_crowd(l, world)) return false;
    if (l->count == 0) return true;
    if (!sort_crowd(l)) return false;
    l->time = th_world_time(world);
    for (int level = 0; level < th_scene_view_of(th_world_scene(world))->level_count; ++level) {
        th_grid grid = {0};
        th_world_map_grid(world, TH_GRID_PACKING, level, &grid);
        look_at_level(l, &grid, (uint32_t)level, s, q);
    }
    if (*core < 0) { // the first look: where the circle is
        double x = 0, y = 0, r = 0;
        for (int i = 0; i < l->count; ++i) x += (double)l->x[i] / l->count;
        for (int i = 0; i < l->count; ++i) y += (double)l->y[i] / l->count;
        for (int i = 0; i < l->count; ++i)
            r = fmax(r, hypot((double)l->x[i] - x, (double)l->y[i] - y));
        *centre = (th_vec2){(float)x, (float)y};
        *core = (float)(r / 3);
    }
    q->tangential = fmax(q->tangential, tangential_of(l, *centre, *core));
    return true;
}

// Mean outflow between the 20th and the 80th percentile of the departures, and how unsteady it was.
static void find_outflow(const uint64_t *left, int seconds, th_quality *q) {
    q->outflow = q->outflow_variation = (double)NAN;
    if (seconds < 2 || left[seconds - 1] == 0) return;
    double all = (double)left[seconds - 1];
    int begin = 0, end = seconds - 1;
    while (begin < seconds - 1 && (double)left[begin] < 0.2 * all) ++begin;
    while (end > begin && (double)left[end] > 0.8 * all) --end;
    if (end - begin < 1) return;
    q->outflow = (double)(left[end] - left[begin]) / (end - begin);
    enum { WINDOW = 5 }; // [s]
    double sum = 0, squares = 0;
    int windows = (end - begin) / WINDOW;
    for (int k = 0; k < windows; ++k) {
        double n = (double)(left[begin + (k + 1) * WINDOW] - left[begin + k * WINDOW]);
        sum += n;
        squares += n * n;
    }
    if (windows < 2 || sum <= 0) return;
    double mean = sum / windows;
    q->outflow_variation = sqrt(fmax(squares / windows - mean * mean, 0)) / mean;
}

// ---- one step: how calm

static void compare_walker(const look *l, int i, float vx, float vy, double step, sums *s,
                           th_quality *q) {
    double ux = (double)l->velocity_x[i], uy = (double)l->velocity_y[i];
    double wx = (double)vx, wy = (double)vy, speed = hypot(wx, wy);
    s->walkers += 1;
    s->acceleration += hypot(wx - ux, wy - uy) / step;
    if (hypot(ux, uy) > (double)MOVING && speed > (double)MOVING) {
        s->movers += 1;
        s->reversals += ux * wx + uy * wy < 0;
    }
    if (!(l->speed[i] > 0.0f)) return;
    q->fastest = fmax(q->fastest, speed / (double)l->speed[i]);
    s->above += speed > (double)(TOO_FAST * l->speed[i]);
}

// Takes a step and compares velocities before and after it; both lists are in ascending id order.
static bool watch_step(const look *l, th_world *world, sums *s, th_quality *q) {
    th_world_step(world, 1);
    const uint32_t *id = th_world_map(world, TH_FIELD_ID, TH_ACCESS_READ);
    const uint32_t *phase = th_world_map(world, TH_FIELD_PHASE, TH_ACCESS_READ);
    const float *vx = th_world_map(world, TH_FIELD_VELOCITY_X, TH_ACCESS_READ);
    const float *vy = th_world_map(world, TH_FIELD_VELOCITY_Y, TH_ACCESS_READ);
    bool complete = id && phase && vx && vy;
    int count = complete ? th_world_agent_count(world) : 0;
    for (int i = 0, k = 0; i < l->count && k < count;) {
        if (id[k] < l->id[i]) {
            ++k;
        } else if (id[k] > l->id[i]) {
            ++i;
        } else {
            if (l->phase[i] == TH_PHASE_WALKING && phase[k] == TH_PHASE_WALKING)
                compare_walker(l, i, vx[k], vy[k], th_world_step_length(world), s, q);
            ++i, ++k;
        }
    }
    if (id) th_world_unmap(world, TH_FIELD_ID);
    if (phase) th_world_unmap(world, TH_FIELD_PHASE);
    if (vx) th_world_unmap(world, TH_FIELD_VELOCITY_X);
    if (vy) th_world_unmap(world, TH_FIELD_VELOCITY_Y);
    return complete;
}

// ---- stuck agents

// After this, nothing of the scene changes by itself.
static double last_change(const th_scene_view *scene) {
    double last = 0;
    for (int d = 0; d < scene->door_count; ++d)
        for (int k = 0; k < scene->doors[d].schedule_count; ++k)
            last = fmax(last, scene->doors[d].schedule[k].time);
    for (int g = 0; g < scene->group_count; ++g) {
        const th_group *group = &scene->groups[g];
        if (group->rate > 0) last = fmax(last, group->rate_end);
        for (int k = 0; k < group->arrival_count; ++k) last = fmax(last, group->arrivals[k].time);
    }
    for (int b = 0; b < scene->scripted_count; ++b)
        last = fmax(last, scene->scripted[b].path[scene->scripted[b].path_count - 1].time);
    return last;
}

static bool remember(minute *m, const look *l, double time, uint64_t done) {
    if (l->count > m->capacity) {
        int capacity = th_array_capacity_int(m->capacity, l->count);
        if (!TH_RESIZE(m->id, capacity) || !TH_RESIZE(m->x, capacity) || !TH_RESIZE(m->y, capacity))
            return false;
        m->capacity = capacity;
    }
    for (int i = 0; i < l->count; ++i) {
        m->id[i] = l->id[i];
        m->x[i] = l->x[i];
        m->y[i] = l->y[i];
    }
    m->count = l->count;
    m->time = time;
    m->done = done;
    return true;
}

// No agent arrived, and every walking one is within a metre of where it was.
static bool nobody_got_anywhere(const minute *m, const look *l, uint64_t done) {
    if (done != m->done) return false;
    for (int i = 0, k = 0; i < l->count; ++i) {
        if (l->phase[i] == TH_PHASE_ARRIVED || l->phase[i] >= TH_PHASE_SCRIPTED) continue;
        if (l->phase[i] != TH_PHASE_WALKING) return false; // waits, and will go on
        while (k < m->count && m->id[k] < l->id[i]) ++k;
        if (k == m->count || m->id[k] != l->id[i]) return false;
        if (hypotf(l->x[i] - m->x[k], l->y[i] - m->y[k]) > 1.0f) return false;
    }
    return true;
}

static bool is_left_behind(const look *l, int i) { return l->phase[i] < TH_PHASE_ARRIVED; }

// The cell with most of those left behind. Their mean would lie between two knots, where none stands.
static int fullest_cell(const look *l, int *most) {
    int fullest = 0;
    *most = 0;
    for (int c = 0; c < l->nx * l->ny; ++c) {
        int count = 0;
        for (int n = cell_begin(l, c); n < cell_end(l, c); ++n)
            count += is_left_behind(l, l->order[n]);
        if (count > *most) fullest = c;
        if (count > *most) *most = count;
    }
    return fullest;
}

static void tell_who(const look *l, const th_scene_view *scene, th_quality *q) {
    size_t used = 0;
    for (int g = 0; g < scene->group_count; ++g) {
        int count = 0;
        for (int i = 0; i < l->count; ++i)
            count += l->group[i] == (uint32_t)g && is_left_behind(l, i);
        q->left_behind += (uint64_t)count;
        if (count == 0 || used > sizeof q->who / 2) continue;
        int wrote = snprintf(q->who + used, sizeof q->who - used, "%s%.30s %d", used ? ", " : "",
                             scene->groups[g].id, count);
        used += wrote > 0 ? (size_t)wrote : 0;
    }
    if (q->left_behind == 0 || used >= sizeof q->who) return;
    int most, cell = fullest_cell(l, &most);
    snprintf(q->who + used, sizeof q->who - used, "; %d of them around (%.1f, %.1f)", most,
             (double)(l->min_x + ((float)(cell % l->nx) + 0.5f) * l->side) + scene->origin.x,
             (double)(l->min_y + ((float)(cell / l->nx) + 0.5f) * l->side) + scene->origin.y);
}

static uint64_t arrived_count(const look *l) {
    uint64_t count = 0;
    for (int i = 0; i < l->count; ++i) count += l->phase[i] == TH_PHASE_ARRIVED;
    return count;
}

static void finish(th_world *world, const look *l, const sums *s, th_quality *q) {
    th_statistics now = th_world_statistics(world);
    q->people = now.spawned;
    q->time = now.time;
    q->lost = (int64_t)(now.spawned - now.inside - now.left - now.removed);
    q->wall_crossings = now.wall_crossings;
    q->hash = th_world_hash(world);
    double nothing = (double)NAN;
    q->arrived =
        now.spawned ? (double)(now.left + arrived_count(l)) / (double)now.spawned : nothing;
    q->nearest_mean = s->nearest_count > 0 ? s->nearest / s->nearest_count : nothing;
    q->below_diameter = s->looks > 0 ? s->below / s->looks : nothing;
    q->lanes = s->lanes_count > 0 ? s->lanes / s->lanes_count : nothing;
    q->goalward = s->goalward_count > 0 ? s->goalward / s->goalward_count : nothing;
    q->acceleration = s->walkers > 0 ? s->acceleration / s->walkers : nothing;
    q->reversals = s->movers > 0 ? s->reversals / s->movers : nothing;
    q->above = s->walkers > 0 ? s->above / s->walkers : nothing;
    q->repairs = now.repairs;
    q->last_left = now.last_left_time;
    const th_scene_view *scene = th_scene_view_of(th_world_scene(world));
    bool overlapped = q->deepest_overlap > 0;
    q->overlap_x = overlapped ? q->overlap_x + scene->origin.x : nothing;
    q->overlap_y = overlapped ? q->overlap_y + scene->origin.y : nothing;
    q->overlap_time = overlapped ? q->overlap_time : nothing;
    tell_who(l, scene, q);
}

// Are all agents stuck, so that the run may end? Asked once a second, answered once a minute.
static bool is_stuck(minute *m, const look *l, const th_statistics *now, double last,
                     bool *complete) {
    if (now->time - m->time < 60) return false;
    uint64_t done = now->left + arrived_count(l);
    bool stuck = m->time > last && now->waiting_to_enter == 0 && nobody_got_anywhere(m, l, done);
    *complete = *complete && remember(m, l, now->time, done);
    return stuck;
}

bool th_quality_run(th_world *world, double limit, th_quality_progress *seen, void *context,
                    th_quality *quality) {
    look l = {0};
    sums s = {0};
    minute m = {0};
    *quality = (th_quality){0};
    double begin = th_monotonic_seconds(),
           last = last_change(th_scene_view_of(th_world_scene(world)));
    int seconds = 0, most = (int)limit + 2;
    uint64_t *left = calloc((size_t)most, sizeof *left);
    th_vec2 centre = {0};
    float core = -1;
    bool going = left != NULL, complete = left != NULL;
    while (going && complete) {
        th_statistics now = th_world_statistics(world);
        complete = look_at(&l, world, &centre, &core, &s, quality);
        left[seconds++] = now.left;
        going = now.time < limit - 1e-3 && !th_world_done(world) && seconds < most;
        if (seen && !seen(now.time, now.inside, context)) going = false;
        if (going && complete) quality->stuck = is_stuck(&m, &l, &now, last, &complete);
        going = going && !quality->stuck;
        double next = floor(now.time + 1.001);
        if (going && complete) complete = watch_step(&l, world, &s, quality);
        while (going && th_world_time(world) < next - 1e-3) th_world_step(world, 1);
    }
    if (complete) {
        find_outflow(left, seconds, quality);
        finish(world, &l, &s, quality);
    }
    quality->wall_seconds = th_monotonic_seconds() - begin;
    free(left);
    free(m.id);
    free(m.x);
    free(m.y);
    release(&l);
    return complete;
}

// ---- one run of a scene, judged

enum { OVERRIDE = 96 }; // letters of one

typedef struct watch {
    const th_bench_judge_def *def;
    double begun;
    bool cut; // the real time was up
} watch;

static bool go_on(double time, uint64_t inside, void *context) {
    (void)time, (void)inside;
    watch *w = context;
    w->cut = w->def->wall > 0 && th_monotonic_seconds() - w->begun > w->def->wall;
    return !w->cut && !w->def->stopped();
}

// The scene again, every group with the models asked for. Scripted bodies are no groups and stay as they are.
static th_result load_with_models(const th_bench_judge_def *def, int groups, th_scene **scene,
                                  th_error *error) {
    size_t most = 2 * (size_t)groups;
    char(*texts)[OVERRIDE] = calloc(most, sizeof *texts);
    const char **items = calloc(most + (size_t)def->override_count, sizeof *items);
    th_scene_options options = {.overrides = items};
    for (int g = 0; texts && items && g < groups; ++g) {
        const char *const stages[] = {"move", "filter"}, *const models[] = {def->move, def->filter};
        for (int k = 0; k < 2; ++k) {
            if (!models[k]) continue;
            char *text = texts[options.override_count];
            snprintf(text, OVERRIDE, "groups.%d.%s=%.40s", g, stages[k], models[k]);
            items[options.override_count++] = text;
        }
    }
    // Behind them: a parameter of the new model may be given.
    for (int k = 0; items && k < def->override_count; ++k)
        items[options.override_count++] = def->overrides[k];
    th_result result = texts && items
                           ? th_scene_load_file(def->scene, &options, scene, error)
                           : th_fail(error, TH_NO_MEMORY, "", "no memory for the overrides");
    free(items);
    free(texts);
    return result;
}

static th_result load(const th_bench_judge_def *def, th_scene **scene, th_error *error) {
    th_result result = th_scene_load_file(def->scene, NULL, scene, error);
    if (result != TH_OK || (!def->move && !def->filter && def->override_count == 0)) return result;
    int groups = th_scene_view_of(*scene)->group_count;
    th_scene_destroy(*scene);
    *scene = NULL;
    return load_with_models(def, groups, scene, error);
}

static json_t *real(double value) { return isfinite(value) ? json_real(value) : json_null(); }

// The models in force: that of all groups, or "mixed".
static const char *model_name(const th_scene_view *scene, bool filter) {
    int first = -1;
    for (int g = 0; g < scene->group_count; ++g) {
        int model = filter ? scene->groups[g].filter.model : scene->groups[g].move.model;
        if (first >= 0 && model != first) return "mixed";
        first = model;
    }
    return first >= 0 ? th_models(NULL)[first]->name : "none";
}

static th_result print(const th_bench_judge_def *def, const th_world *world, const th_quality *q,
                       bool cut, th_error *error) {
    const th_scene_view *scene = th_scene_view_of(th_world_scene(world));
    char hash[20];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)q->hash);
    json_t *row =
        json_pack("{s:s,s:s,s:s,s:I,s:I,s:I,s:s,s:b,s:b,s:I,s:I,s:I,s:s}", "scene", def->scene,
                  "move", model_name(scene, false), "filter", model_name(scene, true), "seed",
                  (json_int_t)th_world_seed(world), "people", (json_int_t)q->people, "left_behind",
                  (json_int_t)q->left_behind, "who", q->who, "stuck", q->stuck, "cut", cut, "lost",
                  (json_int_t)q->lost, "wall_crossings", (json_int_t)q->wall_crossings, "repairs",
                  (json_int_t)q->repairs, "hash", hash);
    const struct {
        const char *name;
        double value;
    } reals[] = {
        {"time_s", q->time},
        {"last_left_s", q->last_left},
        {"acceleration", q->acceleration},
        {"reversals", q->reversals},
        {"fastest", q->fastest},
        {"above", q->above},
        {"overlap", q->overlap},
        {"overlap_m", q->deepest_overlap},
        {"overlap_x", q->overlap_x},
        {"overlap_y", q->overlap_y},
        {"overlap_time_s", q->overlap_time},
        {"below_d", q->below_diameter},
        {"goalward", q->goalward},
        {"wall_s", q->wall_seconds},
    };
    for (size_t k = 0; k < sizeof reals / sizeof *reals; ++k)
        json_object_set_new(row, reals[k].name, real(reals[k].value));
    char *text = row ? json_dumps(row, JSON_COMPACT | JSON_REAL_PRECISION(5)) : NULL;
    if (text) puts(text);
    free(text);
    json_decref(row);
    return text ? TH_OK : th_fail(error, TH_NO_MEMORY, "", "no memory for the answer");
}

th_result th_bench_judge(const th_bench_judge_def *def, th_error *error) {
    th_scene *scene = NULL;
    th_world *world = NULL;
    th_world_def world_def = th_world_def_default();
    world_def.threads = def->threads;
    world_def.backend = def->backend;
    world_def.seed = def->seed;
    th_result result = load(def, &scene, error);
    if (result == TH_NO_FILE)
        result = error->code = TH_BAD_SCENE; // the name was wrong, not the disk
    if (result == TH_OK) result = th_world_create(scene, &world_def, &world, error);
    if (result == TH_OK) {
        const th_run_settings *run = &th_scene_view_of(scene)->run;
        double end = run->duration > 0 ? run->duration : run->max_time;
        watch w = {def, th_monotonic_seconds(), false};
        th_quality quality;
        if (th_quality_run(world, def->limit > 0 ? def->limit : end, go_on, &w, &quality))
            result = print(def, world, &quality, w.cut, error);
        else
            result = th_fail(error, TH_NO_MEMORY, "",
                             "no memory to look at the crowd; close other programs");
    }
    if (result != TH_OK && !error->file[0])
        snprintf(error->file, sizeof error->file, "%.255s", def->scene);
    th_world_destroy(world);
    th_scene_destroy(scene);
    return result;
}
