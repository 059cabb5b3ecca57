// The placer. Per level one grid over the level's box holds, for every cell, the discs standing in it
// (linked lists), the walls that come near it, and the edges of the walkable outline that cross its row.
// A candidate costs a handful of cells; 100 000 people at 3 per m2 take a fraction of a second.
// SPDX-License-Identifier: Apache-2.0
#include "scene/place.h"
#include "formula/random.h"
#include "formula/vec.h"
#include <math.h>
#include <string.h>

enum { CELL_LIMIT = 4 * 1024 * 1024, NO_DISC = -1 }; // cells of all levels together

typedef struct disc {
    float x, y, radius;
    int level, next; // next disc of the same cell
} disc;

typedef struct list { // items of cell (or row) i are item[start[i]] .. item[start[i+1]]
    int *start, *item;
    int count, item_count;
} list;

typedef struct level_grid {
    float x, y, cell, inverse_cell;
    int nx, ny;
    int *head;  // first disc of a cell
    list walls; // by cell
    list edges; // by row: index of an edge's first point in the walkable polygons, then its second
} level_grid;

struct th_placer {
    th_memory memory;
    const th_scene *scene;
    float max_radius;
    disc *discs;
    int count, capacity;
    level_grid *grids;
};

static int clamp_index(float value, int count) {
    return value <= 0.0f ? 0 : value >= (float)count ? count - 1 : (int)value;
}
static int column_of(const level_grid *grid, float x) {
    return clamp_index((x - grid->x) * grid->inverse_cell, grid->nx);
}
static int row_of(const level_grid *grid, float y) {
    return clamp_index((y - grid->y) * grid->inverse_cell, grid->ny);
}

// ---- building. Lists are counted, summed and filled: two walks over the same items.
static bool list_begin(const th_memory *memory, list *l, int count) {
    l->count = count;
    l->start = th_alloc(memory, (size_t)count + 1, sizeof *l->start);
    return l->start != NULL;
}

static bool list_sum(const th_memory *memory, list *l) {
    for (int i = 1; i <= l->count; ++i) l->start[i] += l->start[i - 1];
    l->item_count = l->start[l->count];
    l->item = th_alloc(memory, (size_t)l->item_count, sizeof *l->item);
    return l->item != NULL;
}

// While counting, start[i + 1] holds cell i's count; while filling, start[i] runs from the end down.
static void list_note(list *l, int cell, int item) {
    if (!l->item)
        ++l->start[cell];
    else
        l->item[--l->start[cell]] = item;
}

static void list_free(const th_memory *memory, list *l) {
    th_dealloc(memory, l->start, (size_t)l->count + 1, sizeof *l->start);
    th_dealloc(memory, l->item, (size_t)l->item_count, sizeof *l->item);
}

// Cells within `reach` of a wall: row by row, the columns that the wall's part near the row spans.
static void note_wall(level_grid *grid, const th_wall *wall, int index, float reach) {
    float low_y = th_min(wall->a.y, wall->b.y) - reach,
          high_y = th_max(wall->a.y, wall->b.y) + reach;
    float dy = wall->b.y - wall->a.y, dx = wall->b.x - wall->a.x;
    for (int row = row_of(grid, low_y); row <= row_of(grid, high_y); ++row) {
        float t0 = 0.0f, t1 = 1.0f;
        if (fabsf(dy) > 1e-6f) {
            float y0 = grid->y + (float)row * grid->cell - reach,
                  y1 = y0 + grid->cell + 2.0f * reach;
            float s0 = (y0 - wall->a.y) / dy, s1 = (y1 - wall->a.y) / dy;
            t0 = th_clamp(th_min(s0, s1), 0.0f, 1.0f);
            t1 = th_clamp(th_max(s0, s1), 0.0f, 1.0f);
        }
        float x0 = wall->a.x + t0 * dx, x1 = wall->a.x + t1 * dx;
        int first = column_of(grid, th_min(x0, x1) - reach - 0.01f);
        int last = column_of(grid, th_max(x0, x1) + reach + 0.01f);
        for (int column = first; column <= last; ++column)
            list_note(&grid->walls, row * grid->nx + column, index);
    }
}

static void note_walls(th_placer *placer, int level) {
    const th_scene *scene = placer->scene;
    for (int i = scene->levels[level].wall_begin; i < scene->levels[level].wall_end; ++i)
        note_wall(&placer->grids[level], &scene->walls[i], i, placer->max_radius);
}

// Every edge of the outline, in the rows it crosses. Outside rows hold it in border rows.
static void note_edges(th_placer *placer, int level) {
    const th_polygons *ground = &placer->scene->levels[level].walkable;
    level_grid *grid = &placer->grids[level];
    for (int r = 0; r < ground->ring_count; ++r) {
        int end = ground->ring_start[r + 1], before = end - 1;
        for (int i = ground->ring_start[r]; i < end; before = i++) {
            float a = ground->points[before].y, b = ground->points[i].y;
            for (int row = row_of(grid, th_min(a, b)); row <= row_of(grid, th_max(a, b)); ++row) {
                list_note(&grid->edges, row, before);
                list_note(&grid->edges, row, i);
            }
        }
    }
}

static bool build_grid(th_placer *placer, int level) {
    const th_level *source = &placer->scene->levels[level];
    level_grid *grid = &placer->grids[level];
    float width = source->box.max_x - source->box.min_x,
          height = source->box.max_y - source->box.min_y;
    float share = (float)CELL_LIMIT / (float)placer->scene->level_count;
    float least = sqrtf(th_max(width, 1.0f) * th_max(height, 1.0f) / share);
    grid->cell = th_max(th_max(2.0f * placer->max_radius, least), 0.1f);
    grid->cell = th_max(grid->cell, th_max(width, height) / (0.25f * share));
    grid->inverse_cell = 1.0f / grid->cell;
    grid->x = source->box.min_x;
    grid->y = source->box.min_y;
    grid->nx = (int)(width * grid->inverse_cell) + 1;
    grid->ny = (int)(height * grid->inverse_cell) + 1;
    int cells = grid->nx * grid->ny;
    const th_memory *memory = &placer->memory;
    grid->head = th_alloc(memory, (size_t)cells, sizeof *grid->head);
    if (!grid->head || !list_begin(memory, &grid->walls, cells) ||
        !list_begin(memory, &grid->edges, grid->ny))
        return false;
    memset(grid->head, 0xFF, (size_t)cells * sizeof *grid->head); // NO_DISC
    note_walls(placer, level);
    note_edges(placer, level);
    if (!list_sum(memory, &grid->walls) || !list_sum(memory, &grid->edges)) return false;
    note_walls(placer, level);
    note_edges(placer, level);
    return true;
}

th_placer *th_placer_create(const th_memory *memory, const th_scene *scene, float max_radius,
                            int capacity) {
    th_placer *placer = th_alloc(memory, 1, sizeof *placer);
    if (!placer) return NULL;
    placer->memory = *memory;
    placer->scene = scene;
    placer->max_radius = max_radius;
    placer->capacity = capacity > 16 ? capacity : 16;
    placer->discs = th_alloc(memory, (size_t)placer->capacity, sizeof *placer->discs);
    placer->grids = th_alloc(memory, (size_t)scene->level_count, sizeof *placer->grids);
    bool good = placer->discs && placer->grids;
    for (int i = 0; i < scene->level_count && good; ++i) good = build_grid(placer, i);
    if (good) return placer;
    th_placer_destroy(placer);
    return NULL;
}

void th_placer_destroy(th_placer *placer) {
    if (!placer) return;
    th_memory memory = placer->memory;
    for (int i = 0; placer->grids && i < placer->scene->level_count; ++i) {
        level_grid *grid = &placer->grids[i];
        th_dealloc(&memory, grid->head, (size_t)grid->nx * (size_t)grid->ny, sizeof *grid->head);
        list_free(&memory, &grid->walls);
        list_free(&memory, &grid->edges);
    }
    th_dealloc(&memory, placer->grids, (size_t)placer->scene->level_count, sizeof *placer->grids);
    th_dealloc(&memory, placer->discs, (size_t)placer->capacity, sizeof *placer->discs);
    th_dealloc(&memory, placer, 1, sizeof *placer);
}

// ---- queries
static bool on_ground(const th_placer *placer, int level, th_vec2 p) {
    const th_level *source = &placer->scene->levels[level];
    if (!source->bounded) return true;
    if (p.x < source->box.min_x || p.x > source->box.max_x || p.y < source->box.min_y ||
        p.y > source->box.max_y)
        return false;
    const level_grid *grid = &placer->grids[level];
    int row = row_of(grid, p.y);
    bool inside = false;
    for (int k = grid->edges.start[row]; k < grid->edges.start[row + 1]; k += 2) {
        th_vec2 a = source->walkable.points[grid->edges.item[k]];
        th_vec2 b = source->walkable.points[grid->edges.item[k + 1]];
        if ((a.y <= p.y) == (b.y <= p.y)) continue;
        // The pair may come in either order; the crossing is the same, always taken from the lower end.
        if (a.y > b.y) {
            th_vec2 swap = a;
            a = b;
            b = swap;
        }
        double t = ((double)p.y - (double)a.y) / ((double)b.y - (double)a.y);
        if ((double)a.x + t * ((double)b.x - (double)a.x) > (double)p.x) inside = !inside;
    }
    return inside;
}

static bool clear_of_walls(const th_placer *placer, int level, th_vec2 p, float radius) {
    const level_grid *grid = &placer->grids[level];
    int cell = row_of(grid, p.y) * grid->nx + column_of(grid, p.x);
    for (int k = grid->walls.start[cell]; k < grid->walls.start[cell + 1]; ++k) {
        const th_wall *wall = &placer->scene->walls[grid->walls.item[k]];
        th_vec2 nearest = th_nearest_on_segment(p, wall->a, wall->b);
        if (th_length2(th_sub(p, nearest)) < radius * radius) return false;
    }
    return true;
}

// On an open plane, in the solid of an obstacle: the walls around are far, so the side of the nearest
// wall of the whole level decides. Only obstacles on open planes come here.
static bool inside_obstacle(const th_placer *placer, int level, th_vec2 p) {
    const th_level *source = &placer->scene->levels[level];
    bool inside = false;
    for (int i = source->wall_begin; i < source->wall_end; ++i) {
        const th_wall *wall = &placer->scene->walls[i];
        th_vec2 a = wall->a, b = wall->b;
        if (wall->door >= 0 || (a.y <= p.y) == (b.y <= p.y)) continue;
        double t = ((double)p.y - (double)a.y) / ((double)b.y - (double)a.y);
        if ((double)a.x + t * ((double)b.x - (double)a.x) > (double)p.x) inside = !inside;
    }
    return inside; // two-sided walls are crossed twice and cancel out
}

static bool clear_of_discs(const th_placer *placer, int level, th_vec2 p, float radius) {
    const level_grid *grid = &placer->grids[level];
    float reach = radius + placer->max_radius;
    int c0 = column_of(grid, p.x - reach), c1 = column_of(grid, p.x + reach);
    int r1 = row_of(grid, p.y + reach);
    for (int row = row_of(grid, p.y - reach); row <= r1; ++row)
        for (int column = c0; column <= c1; ++column)
            for (int i = grid->head[row * grid->nx + column]; i != NO_DISC;
                 i = placer->discs[i].next) {
                const disc *other = &placer->discs[i];
                float dx = other->x - p.x, dy = other->y - p.y, sum = radius + other->radius;
                if (dx * dx + dy * dy < sum * sum) return false;
            }
    return true;
}

bool th_placer_free_at(const th_placer *placer, int level, th_vec2 point, float radius) {
    if (!clear_of_discs(placer, level, point, radius)) return false;
    if (!clear_of_walls(placer, level, point, radius)) return false;
    if (placer->scene->levels[level].bounded) return on_ground(placer, level, point);
    return !inside_obstacle(placer, level, point);
}

bool th_placer_add(th_placer *placer, int level, th_vec2 point, float radius) {
    if (!th_alloc_reserve(&placer->memory, &placer->discs, &placer->capacity, placer->count + 1,
                          sizeof *placer->discs))
        return false;
    level_grid *grid = &placer->grids[level];
    int *head = &grid->head[row_of(grid, point.y) * grid->nx + column_of(grid, point.x)];
    if (radius > placer->max_radius) placer->max_radius = radius; // reach of later queries
    placer->discs[placer->count] = (disc){point.x, point.y, radius, level, *head};
    *head = placer->count++;
    return true;
}

// Takes the latest disc out again.
static void take_back(th_placer *placer) {
    const disc *last = &placer->discs[--placer->count];
    level_grid *grid = &placer->grids[last->level];
    grid->head[row_of(grid, last->y) * grid->nx + column_of(grid, last->x)] = last->next;
}

void th_placer_clear(th_placer *placer) {
    while (placer->count) take_back(placer);
}

// ---- filling
typedef struct filling {
    th_placer *placer;
    const th_area *area; // ring_count 0: the whole level
    int level, count;
    const float *radii;
    uint64_t seed;
    uint32_t first_id;
    th_vec2 *positions;
    // Equal boxes that cover the area; a candidate is a random point of a random box, so thin areas
    // in large boxes cost no more than square ones.
    th_box box;
    float side;
    int nx, ny;
    int *cells;
    int cell_count, cell_capacity;
    bool no_memory;
} filling;

static bool in_area(const filling *f, th_vec2 p) {
    return f->area->shape.ring_count == 0 || th_polygons_contain(&f->area->shape, p);
}

enum { SAMPLE_CELLS = 1 << 18, SAMPLE_CELLS_ALL = 1 << 24 }; // of a group, and of all together

static void mark_edge(uint8_t *mark, const filling *f, th_vec2 a, th_vec2 b) {
    float length = th_length(th_sub(b, a));
    int steps = (int)(2.0f * length / f->side) + 1;
    for (int k = 0; k < steps; ++k) { // pieces of half a box: a piece and its box of two by two
        float t0 = (float)k / (float)steps, t1 = (float)(k + 1) / (float)steps;
        th_vec2 p = th_add(a, th_scale(t0, th_sub(b, a))),
                q = th_add(a, th_scale(t1, th_sub(b, a)));
        int c0 = clamp_index((th_min(p.x, q.x) - f->box.min_x) / f->side - 0.001f, f->nx);
        int c1 = clamp_index((th_max(p.x, q.x) - f->box.min_x) / f->side + 0.001f, f->nx);
        int r0 = clamp_index((th_min(p.y, q.y) - f->box.min_y) / f->side - 0.001f, f->ny);
        int r1 = clamp_index((th_max(p.y, q.y) - f->box.min_y) / f->side + 0.001f, f->ny);
        for (int r = r0; r <= r1; ++r)
            for (int c = c0; c <= c1; ++c) mark[r * f->nx + c] = 1;
    }
}

static void mark_outline(uint8_t *mark, const filling *f, const th_polygons *shape) {
    for (int r = 0; r < shape->ring_count; ++r) {
        int end = shape->ring_start[r + 1], before = end - 1;
        for (int i = shape->ring_start[r]; i < end; before = i++) {
            th_vec2 a = shape->points[before], b = shape->points[i];
            if (th_max(a.x, b.x) < f->box.min_x || th_min(a.x, b.x) > f->box.max_x ||
                th_max(a.y, b.y) < f->box.min_y || th_min(a.y, b.y) > f->box.max_y)
                continue;
            mark_edge(mark, f, a, b);
        }
    }
}

// Keeps the boxes that may hold a point of the area on walkable ground.
static bool cover_area(filling *f) {
    const th_level *level = &f->placer->scene->levels[f->level];
    f->box = f->area->shape.ring_count ? f->area->shape.box : level->box;
    float width = f->box.max_x - f->box.min_x, height = f->box.max_y - f->box.min_y;
    float groups = (float)f->placer->scene->group_count;
    float most = th_min((float)SAMPLE_CELLS, (float)SAMPLE_CELLS_ALL / th_max(groups, 1.0f));
    f->side =
        th_max(th_max(sqrtf(width * height / most), 0.5f), th_max(width, height) / (most / 8.0f));
    f->nx = (int)(width / f->side) + 1;
    f->ny = (int)(height / f->side) + 1;
    f->cell_capacity = f->nx * f->ny;
    const th_memory *memory = &f->placer->memory;
    f->cells = th_alloc(memory, (size_t)f->cell_capacity, sizeof *f->cells);
    uint8_t *mark = th_alloc(memory, (size_t)f->cell_capacity, 1);
    if (f->cells && mark) {
        mark_outline(mark, f, &f->area->shape);
        if (level->bounded) mark_outline(mark, f, &level->walkable);
        for (int i = 0; i < f->cell_capacity; ++i) {
            th_vec2 centre = {f->box.min_x + ((float)(i % f->nx) + 0.5f) * f->side,
                              f->box.min_y + ((float)(i / f->nx) + 0.5f) * f->side};
            if (mark[i] || (in_area(f, centre) && on_ground(f->placer, f->level, centre)))
                f->cells[f->cell_count++] = i;
        }
    }
    bool good = f->cells && mark;
    th_dealloc(memory, mark, (size_t)f->cell_capacity, 1);
    return good;
}

static th_vec2 candidate(const filling *f, int person, uint64_t attempt) {
    th_random4 r = th_philox(f->seed, TH_STREAM_PLACE, f->first_id + (uint32_t)person, attempt);
    int cell = f->cells[((uint64_t)r.v[2] * (uint64_t)f->cell_count) >> 32];
    th_vec2 p = {f->box.min_x + ((float)(cell % f->nx) + th_uniform(r.v[0])) * f->side,
                 f->box.min_y + ((float)(cell / f->nx) + th_uniform(r.v[1])) * f->side};
    return p;
}

static bool fits(const filling *f, th_vec2 p, float radius) {
    return p.x <= f->box.max_x && p.y <= f->box.max_y &&
           th_placer_free_at(f->placer, f->level, p, radius) && in_area(f, p);
}

// Random sequential placement from person `from` on; returns how many stand. Gives up after a number of
// attempts that a crowd of up to 4 per m2 (radius 0.2 m) does not need.
static int fill_random(filling *f, int from) {
    int64_t people = f->count - from, budget = 200 * people;
    if (budget > 20000000) budget = people > 1000000 ? 20 * people : 20000000; // a few seconds
    budget += 100000;
    int placed = from;
    while (placed < f->count && budget > 0 && f->cell_count) {
        bool stands = false;
        for (uint64_t attempt = 0; attempt < 100000 && !stands && budget > 0; ++attempt, --budget) {
            th_vec2 p = candidate(f, placed, attempt);
            if (!fits(f, p, f->radii[placed])) continue;
            if (!th_placer_add(f->placer, f->level, p, f->radii[placed])) return placed;
            f->positions[placed++] = p;
            stands = true;
        }
        if (!stands) break;
    }
    return placed;
}

// All free sites of a hexagonal lattice. `turned` has its rows along y.
static int hexagonal_sites(const filling *f, float radius, bool turned, float shift, th_vec2 *sites,
                           int limit) {
    float spacing = 2.0f * radius * 1.0001f, row_step = spacing * 0.8660254f;
    float along0 = turned ? f->box.min_y : f->box.min_x,
          along1 = turned ? f->box.max_y : f->box.max_x;
    float across0 = turned ? f->box.min_x : f->box.min_y,
          across1 = turned ? f->box.max_x : f->box.max_y;
    int count = 0, rows = (int)((across1 - across0) / row_step) + 2;
    int columns = (int)((along1 - along0) / spacing) + 2;
    for (int row = 0; row < rows; ++row)
        for (int column = 0; column < columns && count < limit; ++column) {
            float along = along0 + shift + ((float)column + ((row & 1) ? 0.5f : 0.0f)) * spacing;
            float across = across0 + shift + (float)row * row_step;
            th_vec2 p = turned ? th_v(across, along) : th_v(along, across);
            if (!fits(f, p, radius)) continue;
            if (sites) sites[count] = p;
            ++count;
        }
    return count;
}

static float largest_radius(const filling *f) {
    float largest = 0.0f;
    for (int i = 0; i < f->count; ++i) largest = th_max(largest, f->radii[i]);
    return largest;
}

// Random choice of `count` of the sites (Fisher-Yates).
static void stand_on_sites(filling *f, th_vec2 *sites, int site_count, int count) {
    for (int i = 0; i < count; ++i) {
        th_random4 r =
            th_philox(f->seed, TH_STREAM_PLACE, f->first_id + (uint32_t)i, UINT64_C(1) << 32);
        int chosen = i + (int)(((uint64_t)r.v[0] * (uint64_t)(site_count - i)) >> 32);
        th_vec2 p = sites[chosen];
        sites[chosen] = sites[i];
        f->positions[i] = p;
        th_placer_add(f->placer, f->level, p, f->radii[i]);
    }
}

// When random placement has jammed: the best of four lattices, if it holds more people.
static int fill_hexagonal(filling *f, int placed) {
    float radius = largest_radius(f);
    const float shifts[2] = {radius * 1.0001f, 0.0f};
    th_box box = f->box;
    double most = (double)(box.max_x - box.min_x + 1.0f) * (double)(box.max_y - box.min_y + 1.0f) /
                  (3.46 * (double)radius * (double)radius);
    if (most > 2e7) return placed; // not a jam: the area hardly overlaps walkable ground
    for (int i = 0; i < placed; ++i) take_back(f->placer);
    int best = 0, best_count = -1;
    for (int k = 0; k < 4 && best_count < f->count; ++k) {
        int count = hexagonal_sites(f, radius, k & 1, shifts[k >> 1], NULL, INT32_MAX);
        if (count > best_count) {
            best = k;
            best_count = count;
        }
    }
    th_vec2 *sites = NULL;
    if (best_count > placed) {
        sites = th_alloc(&f->placer->memory, (size_t)best_count, sizeof *sites);
        f->no_memory = !sites;
    }
    if (!sites) { // random placement placed more: restore it
        for (int i = 0; i < placed; ++i)
            th_placer_add(f->placer, f->level, f->positions[i], f->radii[i]);
        return placed;
    }
    hexagonal_sites(f, radius, best & 1, shifts[best >> 1], sites, best_count);
    int standing = best_count < f->count ? best_count : f->count;
    stand_on_sites(f, sites, best_count, standing);
    th_dealloc(&f->placer->memory, sites, (size_t)best_count, sizeof *sites);
    return standing < f->count ? fill_random(f, standing) : standing; // small ones may fit between
}

int th_placer_fill(th_placer *placer, const th_area *area, int count, const float *radii,
                   uint64_t seed, uint32_t first_id, th_vec2 *positions) {
    filling f = {
        .placer = placer, .area = area, .level = area->level, .count = count, .radii = radii};
    f.seed = seed;
    f.first_id = first_id;
    f.positions = positions;
    int placed = 0;
    if (count > 0) f.no_memory = !cover_area(&f);
    if (count > 0 && !f.no_memory) {
        placed = fill_random(&f, 0);
        if (placed < count) placed = fill_hexagonal(&f, placed);
    }
    th_dealloc(&placer->memory, f.cells, (size_t)f.cell_capacity, sizeof *f.cells);
    return f.no_memory ? -1 : placed;
}
