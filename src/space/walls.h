// The search for near walls: a grid of cells, each listing the walls within `reach` of it, so that a query of radius <= reach
// looks at one cell. SPDX-License-Identifier: Apache-2.0
#ifndef TH_SPACE_WALLS_H
#define TH_SPACE_WALLS_H
#include "core/device.h"
#include "formula/segment.h"
#include "scene/scene.h"

typedef struct th_wall_grid {
    th_vec2 origin;
    float cell, inverse_cell;
    float reach; // [m]
    int nx, ny;
    const int *start;                        // nx * ny + 1
    const int *list;                         // wall indices, ascending within a cell
    const struct th_distance_grid *distance; // signed distance far from walls, distance_grid.c
    // A lower bound on the distance from any point of a piece of a cell to any wall or door, in TH_CLEAR_UNIT.
    const uint16_t *clear; // clear_nx * clear_ny
    float inverse_piece;
    int clear_nx, clear_ny;
} th_wall_grid;

#define TH_CLEAR_UNIT 0.01f // [m]

// Grids for all levels, in the scene's arena: walls and signed distance. False: no memory.
bool th_wall_grids_build(th_scene *scene);

#define TH_FITS 1e-4f // [m] a gap that is this much too narrow counts as wide enough: rounding

// A convex body that the program moves (throng/live.h): its corners now, and its pose.
enum { TH_BODY_MAX = 64, TH_BODY_CORNERS = 16 };
typedef struct th_body {
    th_vec2 corners[TH_BODY_CORNERS]; // about its origin at angle 0, counter-clockwise
    int corner_count;                 // 0: there is no such body
    int level, first_edge;            // its edges are walls from this number on
    th_vec2 position, velocity;       // [m], [m/s]
    th_vec2 heading;                  // cosine and sine of its angle
    float angle, spin;                // [rad], [rad/s]
    th_vec2 before, before_heading;   // position and heading when the step began
    float reach;                      // how far the furthest corner is from the origin [m]
    float rest;                       // it has not moved for so long [s]
    bool parked;                      // long enough for planners to lead around it
    uint32_t cornered;                // agents inside it: between it and a wall there was no room
} th_body;

// The walls as they stand now: the scene's, less open doors, plus live walls and bodies.
typedef struct th_walls {
    const th_wall *walls; // scene walls first, live ones from scene_count on
    int scene_count, count;
    const uint8_t *door_closed; // by door
    const th_wall_grid *grids;  // by level
    float need;                 // gaps and doors narrower than this count as walls; 0: none do [m]
    const th_body *bodies;
    int body_count;
    bool parked_only; // bodies that move do not count: planners do not see them
    float bar;        // gaps that are this, below 0, count as walls; 0: none do
} th_walls;

// The walls of a scene without live walls.
TH_BOTH static inline th_walls th_walls_of(const th_scene *scene, const uint8_t *door_closed) {
    th_walls walls = {scene->walls,
                      scene->wall_count,
                      scene->wall_count,
                      door_closed,
                      scene->wall_grids,
                      0.0f,
                      NULL,
                      0,
                      false,
                      0.0f};
    return walls;
}

TH_BOTH static inline bool th_wall_stands(const th_walls *walls, const th_wall *wall) {
    if (!(wall->length > 0.0f)) return false;
    if (wall->gap < 0.0f) return wall->gap == walls->bar;
    return wall->door < 0 || wall->gap < walls->need ||
           (wall->door != TH_NARROW_GAP && walls->door_closed[wall->door]);
}

// May the body's edges lie within `range` of p?
TH_BOTH static inline bool th_body_near(const th_walls *walls, const th_body *body, int level,
                                        th_vec2 p, float range) {
    float dx = p.x - body->position.x, dy = p.y - body->position.y, far = body->reach + range;
    return body->corner_count > 0 && body->level == level && dx * dx + dy * dy <= far * far &&
           (body->parked || !walls->parked_only);
}
// Is p inside the body? Not on its edges.
TH_BOTH static inline bool th_body_holds(const th_walls *walls, const th_body *body, th_vec2 p) {
    for (int k = 0; k < body->corner_count; ++k) {
        const th_wall *edge = &walls->walls[body->first_edge + k];
        if (th_orientation(edge->a, edge->b, p) <= 0.0) return false;
    }
    return body->corner_count > 0;
}
// Is p inside any body?
TH_BOTH static inline bool th_bodies_hold(const th_walls *walls, int level, th_vec2 p) {
    for (int b = 0; b < walls->body_count; ++b)
        if (th_body_near(walls, &walls->bodies[b], level, p, 0.0f) &&
            th_body_holds(walls, &walls->bodies[b], p))
            return true;
    return false;
}

// The list of the cell that holds p into *list; the number of its entries, 0 off the grid.
// All walls within reach of p are among them, standing or not; live walls are not.
TH_BOTH static inline int th_wall_cell(const th_wall_grid *grid, th_vec2 p, const int **list) {
    float column = (p.x - grid->origin.x) * grid->inverse_cell;
    float row = (p.y - grid->origin.y) * grid->inverse_cell;
    // Written so that NaN counts as off the grid.
    if (!(column >= 0.0f && row >= 0.0f && column < (float)grid->nx && row < (float)grid->ny))
        return 0;
    int cell = (int)row * grid->nx + (int)column;
    *list = grid->list + grid->start[cell];
    return grid->start[cell + 1] - grid->start[cell];
}
// False when no wall can be within the grid's reach of p: the cheap early-out of hot loops.
TH_BOTH static inline bool th_walls_maybe_near(const th_walls *walls, int level, th_vec2 p) {
    const int *list;
    if (walls->count == 0) return false;
    if (walls->count > walls->scene_count || th_wall_cell(&walls->grids[level], p, &list) > 0)
        return true;
    for (int b = 0; b < walls->body_count; ++b)
        if (th_body_near(walls, &walls->bodies[b], level, p, walls->grids[level].reach))
            return true;
    return false;
}
// No standing wall is nearer to p than this [m]. One look-up: never too large, too small by up to the diagonal of a
// piece and, beyond the grid's reach, two diagonals and a tenth; 0 while live walls stand, which are not in the grid.
TH_BOTH static inline float th_walls_clear(const th_walls *walls, int level, th_vec2 p) {
    const th_wall_grid *grid = &walls->grids[level];
    if (walls->count > walls->scene_count) return 0.0f;
    float column = (p.x - grid->origin.x) * grid->inverse_piece;
    float row = (p.y - grid->origin.y) * grid->inverse_piece;
    bool on_grid = column >= 0.0f && row >= 0.0f && column < (float)grid->clear_nx &&
                   row < (float)grid->clear_ny;
    float clear = on_grid
                      ? TH_CLEAR_UNIT * (float)grid->clear[(int)row * grid->clear_nx + (int)column]
                  : p.x == p.x && p.y == p.y ? grid->reach
                                             : 0.0f;
    for (int b = 0; b < walls->body_count; ++b)
        if (th_body_near(walls, &walls->bodies[b], level, p, clear))
            clear = th_max(th_length(th_sub(p, walls->bodies[b].position)) - walls->bodies[b].reach,
                           0.0f);
    return clear;
}
// Distance to the nearest standing wall of any range [m], 1e6 if there is none. Slow, exact.
float th_walls_distance(const th_walls *walls, int level, th_vec2 p);

TH_BOTH static inline int th_wall_cell_along(float cell, int count) {
    return !(cell > 0.0f) ? 0 : cell >= (float)count ? count - 1 : (int)cell;
}

typedef struct th_wall_cells {
    int column0, column1, row0, row1;
} th_wall_cells;

TH_BOTH static inline th_wall_cells th_wall_cells_around(const th_wall_grid *grid, th_vec2 low,
                                                         th_vec2 high, float range) {
    th_wall_cells cells = {
        th_wall_cell_along((low.x - range - grid->origin.x) * grid->inverse_cell, grid->nx),
        th_wall_cell_along((high.x + range - grid->origin.x) * grid->inverse_cell, grid->nx),
        th_wall_cell_along((low.y - range - grid->origin.y) * grid->inverse_cell, grid->ny),
        th_wall_cell_along((high.y + range - grid->origin.y) * grid->inverse_cell, grid->ny)};
    return cells;
}

typedef struct th_wall_near_list {
    int *found;
    float *distances2;
    int count, max;
    float range2;
    float wide2; // the square of a little more than the range
} th_wall_near_list;

enum { TH_WALLS_NEAR_MAX = 64 }; // most kept when the caller gives no room for distances

TH_BOTH static inline void th_wall_insert_near(th_wall_near_list *near, int wall, float distance2) {
    int at = near->count;
    while (at > 0 && (distance2 < near->distances2[at - 1] ||
                      (distance2 == near->distances2[at - 1] && wall < near->found[at - 1])))
        --at;
    if (at > 0 && near->found[at - 1] == wall) return; // seen in another cell
    if (at >= near->max) return;
    int last = near->count < near->max ? near->count++ : near->max - 1;
    for (int i = last; i > at && i > 0; --i) { // i > 0 tells compilers where the array begins
        near->found[i] = near->found[i - 1];
        near->distances2[i] = near->distances2[i - 1];
    }
    near->found[at] = wall;
    near->distances2[at] = distance2;
}

TH_BOTH static inline void th_wall_try_near(th_wall_near_list *near, const th_walls *walls, int w,
                                            th_vec2 p) {
    const th_wall *wall = &walls->walls[w];
    // Most walls of a cell are further than asked for, which their boxes tell without a division.
    float dx = th_max(th_min(wall->a.x, wall->b.x) - p.x, p.x - th_max(wall->a.x, wall->b.x));
    float dy = th_max(th_min(wall->a.y, wall->b.y) - p.y, p.y - th_max(wall->a.y, wall->b.y));
    dx = th_max(dx, 0.0f);
    dy = th_max(dy, 0.0f);
    if (dx * dx + dy * dy > near->wide2 || !th_wall_stands(walls, wall)) return;
    float distance2 = th_segment_distance2(p, wall->a, wall->b);
    if (distance2 <= near->range2) th_wall_insert_near(near, w, distance2);
}

// Worlds with bodies are rare: what looks at bodies stays out of the loops of all others.
#if defined(__GNUC__) && !defined(__CUDACC__)
#define TH_RARE static __attribute__((noinline, cold, unused))
#else
#define TH_RARE static inline
#endif
TH_BOTH TH_RARE void th_wall_try_near_bodies(th_wall_near_list *near, const th_walls *walls,
                                             int level, th_vec2 p, float range) {
    for (int b = 0; b < walls->body_count; ++b) {
        const th_body *body = &walls->bodies[b];
        if (!th_body_near(walls, body, level, p, range)) continue;
        for (int k = 0; k < body->corner_count; ++k)
            th_wall_try_near(near, walls, body->first_edge + k, p);
    }
}

// Indices of standing walls whose nearest point lies within `range` of p, sorted by (distance, index).
// Returns how many are kept: at most `max`, the nearest. distances2 may be NULL
// (then at most 64).
TH_BOTH static inline int th_walls_near(const th_walls *walls, int level, th_vec2 p, float range,
                                        int *found, float *distances2, int max) {
    const th_wall_grid *grid = &walls->grids[level];
    if (range < th_walls_clear(walls, level, p)) return 0;
    float own_distances2[TH_WALLS_NEAR_MAX];
    float wide = range + 0.01f; // [m] rounding of coordinates as on a map
    th_wall_near_list near = {found, distances2, 0, max, range * range, wide * wide};
    if (!distances2) {
        near.distances2 = own_distances2;
        if (near.max > TH_WALLS_NEAR_MAX) near.max = TH_WALLS_NEAR_MAX;
    }
    if (near.max <= 0) return 0;
    if (range <= grid->reach) {
        const int *list = NULL;
        int count = th_wall_cell(grid, p, &list);
        for (int i = 0; i < count; ++i) th_wall_try_near(&near, walls, list[i], p);
    } else if (grid->nx > 0 && p.x == p.x && p.y == p.y) {
        th_wall_cells cells = th_wall_cells_around(grid, p, p, range);
        for (int row = cells.row0; row <= cells.row1; ++row) {
            int begin = grid->start[row * grid->nx + cells.column0];
            int end = grid->start[row * grid->nx + cells.column1 + 1];
            for (int i = begin; i < end; ++i) th_wall_try_near(&near, walls, grid->list[i], p);
        }
    }
    for (int w = walls->scene_count; w < walls->count; ++w)
        if (walls->walls[w].level == level) th_wall_try_near(&near, walls, w, p);
    if (walls->body_count > 0) th_wall_try_near_bodies(&near, walls, level, p, range);
    return near.count;
}

typedef struct th_wall_crossing {
    int wall;
    double t;
} th_wall_crossing;

TH_BOTH static inline void th_wall_try_crossing(th_wall_crossing *first, const th_walls *walls,
                                                int w, th_vec2 p, th_vec2 q) {
    const th_wall *wall = &walls->walls[w];
    double t;
    if (!th_segments_meet(p, q, wall->a, wall->b, &t) || !th_wall_stands(walls, wall)) return;
    if (first->wall >= 0 && (t > first->t || (t == first->t && w >= first->wall))) return;
    first->wall = w;
    first->t = t;
}

// The part t0 .. t1 of a path that lies over the grid: the rest crosses no wall and may be kilometres long.
TH_BOTH static inline void th_wall_clip_to_grid(const th_wall_grid *grid, th_vec2 p, th_vec2 path,
                                                float *t0, float *t1) {
    const float start[2] = {p.x - grid->origin.x, p.y - grid->origin.y}, run[2] = {path.x, path.y};
    const float size[2] = {grid->cell * (float)grid->nx, grid->cell * (float)grid->ny};
    for (int axis = 0; axis < 2; ++axis) {
        if (fabsf(run[axis]) < 1e-6f) continue;
        float enter = -start[axis] / run[axis], leave = (size[axis] - start[axis]) / run[axis];
        *t0 = th_clamp(th_min(enter, leave), *t0, 1.0f);
        *t1 = th_clamp(th_max(enter, leave), *t0, *t1);
    }
}

// The walls that meet a piece of the path p -> q no longer than twice the reach are all within reach of its middle, so
// one cell is enough.
TH_BOTH static inline void th_wall_try_piece(th_wall_crossing *first, const th_walls *walls,
                                             const th_wall_grid *grid, th_vec2 middle, th_vec2 p,
                                             th_vec2 q) {
    const int *list = NULL;
    int entries = th_wall_cell(grid, middle, &list);
    for (int i = 0; i < entries; ++i) th_wall_try_crossing(first, walls, list[i], p, q);
}

// A long path piece by piece, up to the first crossing; where walls are far, as far as it is clear at once.
TH_BOTH static inline void th_wall_walk_along(th_wall_crossing *first, const th_walls *walls,
                                              int level, th_vec2 p, th_vec2 q) {
    const th_wall_grid *grid = &walls->grids[level];
    th_vec2 path = th_sub(q, p);
    float t0 = 0.0f, t1 = 1.0f, length = th_length(path), piece = 1.9f * grid->reach;
    th_wall_clip_to_grid(grid, p, path, &t0, &t1);
    th_vec2 unit = th_scale(1.0f / length, path);
    bool exact = length < 1e5f; // rounding is less than what the clearance leaves for it
    for (float at = t0 * length, end = t1 * length; at < end;) { // [m]; not for NaN
        float clear = exact ? th_walls_clear(walls, level, th_add(p, th_scale(at, unit))) : 0.0f;
        if (clear >= 0.5f * piece) {
            at += clear;
            continue;
        }
        float step = th_min(piece, end - at);
        th_wall_try_piece(first, walls, grid, th_add(p, th_scale(at + 0.5f * step, unit)), p, q);
        at += piece;
        if (first->wall >= 0 && first->t * (double)length <= (double)at) return;
    }
}

// Bodies on the path, but for one that holds p: an agent inside gets out.
TH_BOTH TH_RARE void th_wall_try_bodies(th_wall_crossing *first, const th_walls *walls, int level,
                                        th_vec2 p, th_vec2 q) {
    th_vec2 middle = th_scale(0.5f, th_add(p, q));
    float half = 0.5f * th_length(th_sub(q, p));
    for (int b = 0; b < walls->body_count; ++b) {
        const th_body *body = &walls->bodies[b];
        if (!th_body_near(walls, body, level, middle, half) || th_body_holds(walls, body, p))
            continue;
        for (int k = 0; k < body->corner_count; ++k)
            th_wall_try_crossing(first, walls, body->first_edge + k, p, q);
    }
}

// First standing wall crossed by the path p -> q (touching counts), or -1; *t in [0, 1] along the path.
// For doubled (two-sided) walls either edge may be returned.
TH_BOTH static inline int th_walls_first_crossing(const th_walls *walls, int level, th_vec2 p,
                                                  th_vec2 q, float *t) {
    const th_wall_grid *grid = &walls->grids[level];
    th_wall_crossing first = {-1, 2.0};
    th_vec2 path = th_sub(q, p);
    float clear = th_walls_clear(walls, level, p), longest = 1.9f * grid->reach;
    if (th_length2(path) < clear * clear) return -1;
    if (grid->nx > 0) {
        if (th_length2(path) <= longest * longest)
            th_wall_try_piece(&first, walls, grid, th_add(p, th_scale(0.5f, path)), p, q);
        else
            th_wall_walk_along(&first, walls, level, p, q);
    }
    for (int w = walls->scene_count; w < walls->count; ++w)
        if (walls->walls[w].level == level) th_wall_try_crossing(&first, walls, w, p, q);
    if (walls->body_count > 0) th_wall_try_bodies(&first, walls, level, p, q);
    if (first.wall < 0) return -1;
    if (t) {
        *t = (float)first.t;
        if ((double)*t > first.t)
            *t =
                nextafterf(*t,
                           0.0f); // rounds towards the start, so that no agent ends behind the wall
    }
    return first.wall;
}

TH_BOTH static inline bool th_wall_reaches_into(const th_walls *walls, int w, const th_box *box) {
    const th_wall *wall = &walls->walls[w];
    return th_boxes_touch(wall->a, wall->b, th_v(box->min_x, box->min_y),
                          th_v(box->max_x, box->max_y), 0.0f) &&
           th_wall_stands(walls, wall);
}

// True when surely no standing wall reaches into the box, by the boxes of the walls. Cost: a cell's list for
// every 2.6 m of the box; false for boxes of more than 20 m.
//
// Pieces of the box are small enough to lie within reach of their middles.
TH_BOTH static inline bool th_walls_none_in(const th_walls *walls, int level, const th_box *box) {
    const th_wall_grid *grid = &walls->grids[level];
    float width = box->max_x - box->min_x, height = box->max_y - box->min_y;
    float side = 1.3f * grid->reach;
    if (!(width <= 20.0f && height <= 20.0f)) return false; // NaN too
    int columns = 1 + (int)(width / side), rows = 1 + (int)(height / side);
    for (int k = 0; k < columns * rows && grid->nx > 0; ++k) {
        float x = ((float)(k % columns) + 0.5f) / (float)columns;
        float y = ((float)(k / columns) + 0.5f) / (float)rows;
        const int *list = NULL;
        th_vec2 middle = {box->min_x + x * width, box->min_y + y * height};
        int count = th_wall_cell(grid, middle, &list);
        for (int i = 0; i < count; ++i)
            if (th_wall_reaches_into(walls, list[i], box)) return false;
    }
    for (int w = walls->scene_count; w < walls->count; ++w)
        if (walls->walls[w].level == level && th_wall_reaches_into(walls, w, box)) return false;
    th_vec2 middle = {0.5f * (box->min_x + box->max_x), 0.5f * (box->min_y + box->max_y)};
    float half = walls->body_count > 0 ? 0.5f * th_length(th_v(width, height)) : 0.0f;
    for (int b = 0; b < walls->body_count; ++b)
        if (th_body_near(walls, &walls->bodies[b], level, middle, half)) return false;
    return true;
}

// ---- cells near goals: one look-up per person and step replaces a loop over all exits

// Over the box of a level's goals and TH_GOAL_NEAR around it; off the grid no goal is near.
typedef struct th_goal_grid {
    th_vec2 origin;
    float inverse_cell;
    int nx, ny;
    const uint8_t *near; // nx * ny: may a goal be within TH_GOAL_NEAR of a point of the cell?
} th_goal_grid;

#define TH_GOAL_NEAR \
    1.0f // [m] further than any agent goes in a step of up to 0.1 s, three times a usual one

// Grids for all levels, in the scene's arena. False: no memory.
bool th_goal_grids_build(th_scene *scene);

// False when the path p -> q can neither meet nor end in a goal of the level, nor come within 0.1 m of one.
TH_BOTH static inline bool th_goals_maybe_near(const th_scene *scene, int level, th_vec2 p,
                                               th_vec2 q) {
    const th_goal_grid *grid = &scene->goal_grids[level];
    float dx = q.x - p.x, dy = q.y - p.y, most = TH_GOAL_NEAR - 0.1f;
    if (!(dx * dx + dy * dy < most * most)) return true;
    float column = (p.x - grid->origin.x) * grid->inverse_cell;
    float row = (p.y - grid->origin.y) * grid->inverse_cell;
    if (!(column >= 0.0f && row >= 0.0f && column < (float)grid->nx && row < (float)grid->ny))
        return false;
    return grid->near[(int)row * grid->nx + (int)column] != 0;
}
#endif
