// Exact free areas by walking the edges of the ground through rows of parts, as font renderers do: an edge
// adds its trapezium to the parts it runs through and full strips to all parts left of it. Cost: edges x
// rows they span + parts. Derivation: the area of a region within a part is the integral of g(x) dy over
// the region's boundary (Green), with g the length of the part's row left of x.
// SPDX-License-Identifier: Apache-2.0
#include "space/staggered.h"
#include <assert.h>
#include <math.h>
#include <string.h>

th_staggered th_staggered_over(const th_box *box, float h, int snap) {
    th_staggered grid = {.h = h, .inverse_h = 1.0f / h};
    double size = (double)h, step = (double)snap;
    double column = floor(((double)box->min_x / size - 1.0) / step) * step;
    double row = floor(((double)box->min_y / size - 1.0) / step) * step;
    double end_column = (floor(((double)box->max_x / size + 1.0) / step) + 1.0) * step;
    double end_row = (floor(((double)box->max_y / size + 1.0) / step) + 1.0) * step;
    grid.column = (int)column;
    grid.row = (int)row;
    grid.nx = (int)(end_column - column);
    grid.ny = (int)(end_row - row);
    grid.origin = th_v((float)(column * size), (float)(row * size));
    return grid;
}

// ---- edges

static void add_edge(th_floor *floor, th_vec2 a, th_vec2 b) {
    floor->edges[floor->count].a = a;
    floor->edges[floor->count].b = b;
    floor->count++;
}

// Is the ground to the left of this ring's edges? Asked beside the middle of its longest edge.
static bool ground_on_left(const th_polygons *shape, const th_vec2 *ring, int count) {
    int longest = 0;
    float length2 = -1.0f;
    for (int k = 0; k < count; ++k) {
        float own = th_length2(th_sub(ring[(k + 1) % count], ring[k]));
        if (own > length2) {
            length2 = own;
            longest = k;
        }
    }
    th_vec2 a = ring[longest], b = ring[(longest + 1) % count];
    // Beyond the rounding error of coordinates as large as a town's, below the distance of any two walls.
    th_vec2 aside = th_scale(0.002f, th_perp_left(th_unit(th_sub(b, a))));
    return th_polygons_contain(shape, th_add(th_scale(0.5f, th_add(a, b)), aside));
}

static void add_rings(th_floor *floor, const th_polygons *shape) {
    for (int r = 0; r < shape->ring_count; ++r) {
        const th_vec2 *ring = shape->points + shape->ring_start[r];
        int count = shape->ring_start[r + 1] - shape->ring_start[r];
        bool left = ground_on_left(shape, ring, count);
        for (int k = 0; k < count; ++k) {
            th_vec2 a = ring[k], b = ring[(k + 1) % count];
            if (left)
                add_edge(floor, a, b);
            else
                add_edge(floor, b, a);
        }
    }
}

bool th_floor_create(th_floor *floor, th_arena *arena, const th_scene *scene, int l) {
    const th_level *level = &scene->levels[l];
    *floor = (th_floor){.open_plane = !level->bounded};
    const th_polygons *shape = &level->walkable;
    floor->capacity = level->bounded
                          ? (shape->ring_count ? shape->ring_start[shape->ring_count] : 0)
                          : level->wall_end - level->wall_begin;
    floor->edges = th_arena_alloc(arena, (size_t)floor->capacity, sizeof *floor->edges);
    if (!floor->edges) return false;
    if (level->bounded) {
        add_rings(floor, shape);
        return true;
    }
    for (int w = level->wall_begin; w < level->wall_end; ++w)
        if (scene->walls[w].door < 0) // solid to the left of a wall, so the other way round
            add_edge(floor, scene->walls[w].b, scene->walls[w].a);
    return true;
}

// ---- rows of parts. Coordinates in parts, y relative to the row.

// One stretch of an edge within one part of the row.
static void add_stretch(th_floor_part *part, double xa, double ya, double xb, double yb) {
    double dy = yb - ya;
    part->area += dy * (xa + xb) / 2.0;
    part->x += dy * (xa * xa + xa * xb + xb * xb) / 6.0;
    part->y += dy * (2.0 * xa * ya + xa * yb + xb * ya + 2.0 * xb * yb) / 6.0;
}

typedef struct row_sums {
    th_floor_part *parts;
    int count;
} row_sums;

// A strip over the whole width of every part left of `column`; noted at the last of them and handed on to
// the others when the row is complete.
static void add_strips(row_sums *row, int column, double ya, double yb) {
    if (column == 0) return;
    th_floor_part *last = &row->parts[column - 1];
    last->strip += yb - ya;
    last->strip_y += (yb - ya) * (ya + yb) / 2.0;
}

static void spread_strips(row_sums *row) {
    double strip = 0.0, strip_y = 0.0;
    for (int c = row->count - 1; c >= 0; --c) {
        th_floor_part *part = &row->parts[c];
        strip += part->strip;
        strip_y += part->strip_y;
        part->area += strip;
        part->x += 0.5 * strip;
        part->y += strip_y;
    }
}

// The piece (xa, ya) .. (xb, yb) of an edge, all within the row, cut at the columns.
static void add_piece(row_sums *row, double xa, double ya, double xb, double yb) {
    bool turned = xb < xa; // walk from left to right
    double x0 = turned ? xb : xa, y0 = turned ? yb : ya, x1 = turned ? xa : xb,
           y1 = turned ? ya : yb;
    double slope = x1 > x0 ? (y1 - y0) / (x1 - x0) : 0.0;
    while (true) {
        double column = floor(x0);
        double cut = column + 1.0 < x1 ? column + 1.0 : x1;
        double y_cut = cut < x1 ? y0 + slope * (cut - x0) : y1;
        double from = turned ? y_cut : y0, to = turned ? y0 : y_cut;
        double x_from = turned ? cut : x0, x_to = turned ? x0 : cut;
        int c = column < 0.0 ? -1 : column >= row->count ? row->count : (int)column;
        if (c >= 0) add_strips(row, c, from, to);
        if (c >= 0 && c < row->count)
            add_stretch(&row->parts[c], x_from - column, from, x_to - column, to);
        if (cut >= x1) return;
        x0 = cut;
        y0 = y_cut;
    }
}

void th_floor_row(const th_floor *floor, const th_staggered *grid, int row, th_floor_part *parts) {
    row_sums sums = {parts, grid->nx * TH_FLOOR_PARTS};
    double base = floor->open_plane ? 1.0 : 0.0;
    for (int c = 0; c < sums.count; ++c)
        parts[c] = (th_floor_part){.area = base, .x = 0.5 * base, .y = 0.5 * base};
    double scale = TH_FLOOR_PARTS / (double)grid->h;
    for (int e = 0; e < floor->count; ++e) {
        double xa = ((double)floor->edges[e].a.x - (double)grid->origin.x) * scale;
        double ya = ((double)floor->edges[e].a.y - (double)grid->origin.y) * scale - row;
        double xb = ((double)floor->edges[e].b.x - (double)grid->origin.x) * scale;
        double yb = ((double)floor->edges[e].b.y - (double)grid->origin.y) * scale - row;
        if ((ya <= 0.0 && yb <= 0.0) || (ya >= 1.0 && yb >= 1.0)) continue;
        double t0 = ya < 0.0 ? -ya / (yb - ya) : ya > 1.0 ? (1.0 - ya) / (yb - ya) : 0.0;
        double t1 = yb < 0.0 ? -ya / (yb - ya) : yb > 1.0 ? (1.0 - ya) / (yb - ya) : 1.0;
        double low_y = ya + t0 * (yb - ya), high_y = ya + t1 * (yb - ya);
        add_piece(&sums, xa + t0 * (xb - xa), low_y, xa + t1 * (xb - xa), high_y);
    }
    spread_strips(&sums);
}

// ---- walls and boxes

// The stretch t0 .. t1 of a -> b that lies in the box.
static bool clip_to_box(th_vec2 a, th_vec2 b, th_vec2 low, th_vec2 high, float *t0, float *t1) {
    const float start[2] = {a.x, a.y}, run[2] = {b.x - a.x, b.y - a.y};
    const float from[2] = {low.x, low.y}, to[2] = {high.x, high.y};
    *t0 = 0.0f;
    *t1 = 1.0f;
    for (int k = 0; k < 2; ++k) {
        if (fabsf(run[k]) < 1e-9f) {
            if (start[k] < from[k] || start[k] > to[k]) return false;
            continue;
        }
        float enter = (from[k] - start[k]) / run[k], leave = (to[k] - start[k]) / run[k];
        *t0 = th_max(*t0, th_min(enter, leave));
        *t1 = th_min(*t1, th_max(enter, leave));
    }
    return *t0 <= *t1;
}

bool th_box_shadow(th_vec2 a, th_vec2 b, th_vec2 low, th_vec2 high, int axis, float *from,
                   float *to) {
    float t0, t1;
    if (!clip_to_box(a, b, low, high, &t0, &t1)) return false;
    th_vec2 along = th_sub(b, a), p = th_add(a, th_scale(t0, along)),
            q = th_add(a, th_scale(t1, along));
    float base = axis ? low.x : low.y, side = axis ? high.x - low.x : high.y - low.y;
    float s = ((axis ? p.x : p.y) - base) / side, t = ((axis ? q.x : q.y) - base) / side;
    *from = th_clamp(th_min(s, t), 0.0f, 1.0f);
    *to = th_clamp(th_max(s, t), 0.0f, 1.0f);
    return true;
}

enum { NEAR_MOST = 256 }; // walls looked at around one face

static int walls_around(const th_walls *walls, int level, th_vec2 low, th_vec2 high, int *found) {
    th_vec2 middle = th_scale(0.5f, th_add(low, high));
    float reach = 0.5f * th_length(th_sub(high, low)) + 1e-3f, distances2[NEAR_MOST];
    if (walls->count == 0) return 0;
    if (reach <= walls->grids[level].reach && !th_walls_maybe_near(walls, level, middle)) return 0;
    return th_walls_near(walls, level, middle, reach, found, distances2, NEAR_MOST);
}

bool th_walls_touch(const th_walls *walls, int level, th_vec2 low, th_vec2 high) {
    int found[NEAR_MOST], count = walls_around(walls, level, low, high, found);
    for (int k = 0; k < count; ++k) {
        const th_wall *wall = &walls->walls[found[k]];
        float t0, t1;
        if (clip_to_box(wall->a, wall->b, low, high, &t0, &t1)) return true;
    }
    return false;
}

int th_walls_gaps(const th_walls *walls, int level, th_vec2 low, th_vec2 high, int axis,
                  th_open_gap *gaps) {
    static_assert((int)TH_GAP_MAX > (int)NEAR_MOST, "a wall leaves at most one gap more");
    int found[NEAR_MOST], count = walls_around(walls, level, low, high, found), kept = 0, open = 0;
    float from[NEAR_MOST], to[NEAR_MOST], reached = 0.0f;
    for (int k = 0; k < count; ++k) { // sorted by where they begin
        const th_wall *wall = &walls->walls[found[k]];
        float s, t;
        if (!th_box_shadow(wall->a, wall->b, low, high, axis, &s, &t) || !(t > s)) continue;
        int at = kept++;
        for (; at > 0 && from[at - 1] > s; --at) {
            from[at] = from[at - 1];
            to[at] = to[at - 1];
        }
        from[at] = s;
        to[at] = t;
    }
    for (int k = 0; k < kept; ++k) {
        if (from[k] > reached) gaps[open++] = (th_open_gap){reached, from[k]};
        reached = th_max(reached, to[k]);
    }
    if (reached < 1.0f) gaps[open++] = (th_open_gap){reached, 1.0f};
    return open;
}

float th_walls_open_share(const th_walls *walls, int level, th_vec2 low, th_vec2 high, int axis) {
    th_open_gap gaps[TH_GAP_MAX];
    float open = 0.0f;
    int count = th_walls_gaps(walls, level, low, high, axis, gaps);
    for (int k = 0; k < count; ++k) open += gaps[k].to - gaps[k].from;
    return open > 1e-5f ? open : 0.0f;
}
