// The grids of the model: where cells are, and what of them is ground. SPDX-License-Identifier: Apache-2.0
#include "move/uic/grids.h"
#include "core/parallel.h"
#include "formula/random.h"
#include "scene/place.h"
#include "space/distance_grid.h"
#include "space/rooms.h"
#include <stdlib.h>
#include <string.h>

// ---- where the cells are
// Their size and number when a world is created, grids that the index is built to fit, and the transfer of cell values
// when an open plane's grid follows its crowd.

enum {
    CELLS_LEAST = 4096,
    CELLS_PER_PERSON = 4, // a sparse crowd on wide ground gets larger cells beyond this
    SNAP = 4,             // cells: an open plane's grid grows and shrinks by this many
    COLUMNS_MOST = 8192,  // of an open plane's grid; beyond, cells grow
    COLUMNS_BOUNDED = 1000000
};
static const double INDEX_CELLS_MOST = 4e8; // fits an int
// On a device an open plane's grid has 0.5 cells a person in crowds of up to 6700, and of larger ones this many and
// 0.2 a person (three times what 4 people/m2 need): a cell takes 270 bytes there, and the budget is 200 bytes a person.
static const double DEVICE_CELLS = 2e3;
static const float INDEX_CELL =
    1.0f; // [m] about what the index's own cells are, for other models' sake

// ---- sizes

static float typical_radius(const th_group *group) {
    enum { DRAWS = 32 };
    float sum = 0.0f;
    for (uint32_t k = 0; k < DRAWS; ++k) sum += th_draw(&group->radius, 1, TH_STREAM_RADIUS, k);
    return sum / (float)DRAWS;
}

// The least distance of an agent's centre from a wall, in d_min: a little less than a radius, for people differ.
static const float BODY = 0.4f;

// One size for the whole scene, the largest that any group asks for.
static float choose_cell(const th_scene *scene, float *body) {
    float widest = 0.1f;         // [m] no cell smaller than a hand
    *body = 2.0f * BODY * 0.25f; // [m] of the default radius
    for (int g = 0; g < scene->group_count; ++g) {
        const th_group *group = &scene->groups[g];
        if (group->move.model != TH_MOVE_UIC) continue;
        const th_uic_params *p = th_uic_params_of(group->move.params);
        float radius = typical_radius(group), d_min = th_uic_d_min(p->d_min, radius);
        widest = th_max(widest, p->cell_size > 0.0f ? p->cell_size : TH_UIC_CELL * d_min);
        *body = th_min(*body, 2.0f * BODY * radius);
    }
    return widest;
}

static int snap_of(const th_scene *scene, int level) {
    return scene->levels[level].bounded ? 1 : SNAP;
}

static double cells_over(const th_scene *scene, const th_box *boxes, float h) {
    double cells = 0.0;
    for (int l = 0; l < scene->level_count; ++l) {
        // In double first: a box of 1000 km does not fit an int.
        double wide =
            ((double)boxes[l].max_x - (double)boxes[l].min_x) / (double)h + 2.0 * SNAP + 3;
        double high =
            ((double)boxes[l].max_y - (double)boxes[l].min_y) / (double)h + 2.0 * SNAP + 3;
        if (wide * high > 1e8) return 1e9;
        th_staggered grid = th_staggered_over(&boxes[l], h, snap_of(scene, l));
        if (grid.nx > (scene->levels[l].bounded ? COLUMNS_BOUNDED : COLUMNS_MOST)) return 1e9;
        cells += (double)grid.nx * (double)grid.ny;
    }
    return cells;
}

// Bounded levels know how many cells they need. Open planes get a cell for two people (4 m2 at the usual size), because
// named elements say little about how far the crowd spreads.
static int choose_capacity(const th_scene *scene, float h, int index_per_half, int agents,
                           bool on_device) {
    double cells = 0.0, most = (double)CELLS_PER_PERSON * agents + 16.0 * CELLS_LEAST;
    double least = CELLS_LEAST * (double)scene->level_count;
    for (int l = 0; l < scene->level_count; ++l) {
        th_scene alone = {.levels = &scene->levels[l], .level_count = 1};
        if (scene->levels[l].bounded)
            cells += cells_over(&alone, &scene->levels[l].box, h);
        else
            least += on_device ? fmin(0.5 * (double)agents, DEVICE_CELLS + 0.2 * (double)agents)
                               : 0.5 * (double)agents;
    }
    double index_cells = 4.0 * index_per_half * index_per_half; // in a cell
    return (int)fmin(fmin(cells, most) + least, INDEX_CELLS_MOST / index_cells);
}

// Columns of the widest grid there can be.
static int widest_grid(const th_scene *scene, float h) {
    int widest = COLUMNS_MOST;
    for (int l = 0; l < scene->level_count; ++l) {
        if (!scene->levels[l].bounded) continue;
        th_staggered grid = th_staggered_over(&scene->levels[l].box, h, 1);
        if (grid.nx > widest) widest = grid.nx < COLUMNS_BOUNDED ? grid.nx : COLUMNS_BOUNDED;
    }
    return widest;
}

// Room for every face that a link's line may cross.
static int link_faces_of(const th_scene *scene, float h) {
    double faces = 1.0;
    for (int l = 0; l < scene->link_count; ++l)
        faces += 2.0 * (4.0 * (double)th_length(th_sub(scene->links[l].b, scene->links[l].a)) /
                            (double)h +
                        8.0);
    return (int)fmin(faces, 1e6);
}

void th_uic_choose_sizes(th_uic *uic, const th_scene *scene, int agents, bool on_device) {
    uic->level_count = scene->level_count;
    uic->h = choose_cell(scene, &uic->body);
    float halves = floorf(0.5f * uic->h / INDEX_CELL + 0.5f);
    uic->index_per_half = halves > 1.0f ? (int)halves : 1;
    uic->cell_capacity = choose_capacity(scene, uic->h, uic->index_per_half, agents, on_device);
    uic->group_count = scene->group_count + scene->scripted_count;
    uic->agent_capacity = agents;
    uic->part_capacity = TH_FLOOR_PARTS * widest_grid(scene, uic->h);
    for (int k = 0; k < scene->scripted_count; ++k)
        if (scene->scripted[k].is_body) uic->covered_capacity = uic->cell_capacity;
    uic->link_face_capacity = link_faces_of(scene, uic->h);
    uic->gate_count = th_uic_list_gates(scene, NULL);
}

// ---- grids for the index

// The index fits the grids: half a cell is so many cells of the index.
int th_uic_index_cells(const th_world *world, int model) {
    (void)model;
    const th_uic *uic = th_uic_of(world);
    return 4 * uic->index_per_half * uic->index_per_half * uic->cell_capacity;
}

float th_uic_build_grids(th_world *world, th_box *boxes) {
    th_uic *uic = th_uic_of(world);
    float h = uic->h;
    while (cells_over(world->scene, boxes, h) > (double)uic->cell_capacity) h *= 1.25f;
    float cell = h / (float)(2 * uic->index_per_half);
    int first = 0;
    for (int l = 0; l < uic->level_count; ++l) {
        th_staggered grid = th_staggered_over(&boxes[l], h, snap_of(world->scene, l));
        uic->wanted[l].grid = grid;
        uic->wanted[l].first = first;
        first += grid.nx * grid.ny;
        // Half a cell less, so that rounding does not add one to the index.
        boxes[l].min_x = grid.origin.x;
        boxes[l].min_y = grid.origin.y;
        boxes[l].max_x = grid.origin.x + ((float)(grid.nx * 2 * uic->index_per_half) - 0.5f) * cell;
        boxes[l].max_y = grid.origin.y + ((float)(grid.ny * 2 * uic->index_per_half) - 0.5f) * cell;
    }
    return cell;
}

// ---- from the last grids to these

static bool same_grid(const th_staggered *a, const th_staggered *b) {
    return a->h == b->h && a->column == b->column && a->row == b->row && a->nx == b->nx &&
           a->ny == b->ny;
}

static void move_values(const th_uic *uic, const double *from, double *to) {
    for (int l = 0; l < uic->level_count; ++l) {
        const th_uic_level *old = &uic->levels[l], *new = &uic->wanted[l];
        double *target = to + new->first;
        memset(target, 0, (size_t) new->grid.nx *(size_t) new->grid.ny * sizeof *target);
        if (!old->measured) continue;
        for (int j = 0; j < new->grid.ny; ++j)
            for (int i = 0; i < new->grid.nx; ++i) {
                int before = th_uic_cell_before(&old->grid, &new->grid, i, j);
                if (before >= 0) target[j * new->grid.nx + i] = from[old->first + before];
            }
    }
}

static void move_means(th_uic *uic, float *values) {
    int old_end = 0, new_end = 0;
    for (int l = 0; l < uic->level_count; ++l) {
        const th_staggered *old = &uic->levels[l].grid, *new = &uic->wanted[l].grid;
        old_end = uic->levels[l].first + old->nx * old->ny;
        new_end = uic->wanted[l].first + new->nx *new->ny;
    }
    for (int c = 0; c < old_end; ++c) uic->b[c] = (double)values[c];
    move_values(uic, uic->b, uic->east);
    for (int c = 0; c < new_end; ++c) values[c] = (float)uic->east[c];
}

// Takes over the grids that were built last, with pressures and mean velocities. False: they are the same.
// Pressures and mean velocities go along when a grid is built anew on the same lattice. The work arrays of
// the solve hold them meanwhile.
static bool adopt_grids(th_uic *uic) {
    bool same = true;
    for (int l = 0; l < uic->level_count; ++l)
        same = same && uic->levels[l].measured &&
               same_grid(&uic->levels[l].grid, &uic->wanted[l].grid) &&
               uic->levels[l].first == uic->wanted[l].first;
    if (same) return false;
    double *start[2] = {uic->inner_pressure, uic->pressure};
    for (int k = 0; k < 2; ++k) {
        size_t bytes = (size_t)uic->cell_capacity * sizeof(double);
        move_values(uic, start[k], uic->b);
        memcpy(start[k], uic->b, bytes);
    }
    move_means(uic, uic->mean_x);
    move_means(uic, uic->mean_y);
    for (int l = 0; l < uic->level_count; ++l) {
        uic->levels[l].grid = uic->wanted[l].grid;
        uic->levels[l].first = uic->wanted[l].first;
        uic->levels[l].measured = false;
    }
    return true;
}

// ---- what of the cells is ground: capacity of cells, apertures of faces, exits, links, moving bodies. Measured when a
// grid or a wall changes, not in every step. A wall is seen by the pressure solve only as a closed face, so every agent
// must be counted on the right side of it. An agent that stands in a cell whose centre a wall hides counts in the
// neighbouring cell whose centre is in sight, and so does the ground there.

typedef struct cell_range {
    int i0, j0, i1, j1;
} cell_range;

// The cells whose boxes a segment may touch, and a ring around them, within the grid.
static cell_range cells_around(const th_staggered *grid, th_vec2 a, th_vec2 b) {
    float x0 = (th_min(a.x, b.x) - grid->origin.x) * grid->inverse_h - 1.0f,
          x1 = (th_max(a.x, b.x) - grid->origin.x) * grid->inverse_h + 1.0f,
          y0 = (th_min(a.y, b.y) - grid->origin.y) * grid->inverse_h - 1.0f,
          y1 = (th_max(a.y, b.y) - grid->origin.y) * grid->inverse_h + 1.0f;
    float right = (float)(grid->nx - 1), top = (float)(grid->ny - 1);
    cell_range range = {
        (int)floorf(th_clamp(x0, 0.0f, right)), (int)floorf(th_clamp(y0, 0.0f, top)),
        (int)floorf(th_clamp(x1, -1.0f, right)), (int)floorf(th_clamp(y1, -1.0f, top))};
    return range;
}

// ---- anchors

// Is there anything on the level that stops people or the flow?
static bool has_walls(const th_world *world, int l) {
    const th_level *level = &world->scene->levels[l];
    if (level->bounded || level->wall_end > level->wall_begin) return true;
    for (int g = 0; g < world->scene->goal_count; ++g) {
        const th_goal *goal = &world->scene->goals[g];
        if (goal->kind == TH_GOAL_EXIT &&
            (goal->is_line ? goal->line.level : goal->area.level) == l)
            return true;
    }
    for (int w = world->scene->wall_count; w < world->wall_count; ++w)
        if (world->walls[w].level == l && world->walls[w].length > 0.0f) return true;
    return false;
}

// A little off the centre. Plans are drawn in whole metres and so are cells; a wall through the very centres would
// close the cells to both sides.
static th_vec2 usual_anchor(const th_staggered *grid, int i, int j) {
    return th_add(th_staggered_centre(grid, i, j), th_v(0.0137f * grid->h, 0.0171f * grid->h));
}

static bool body_fits(const th_world *world, const th_walls *walls, int l, th_vec2 p) {
    int wall;
    float distance2;
    return th_walls_near(walls, l, p, th_uic_of(world)->body, &wall, &distance2, 1) == 0 &&
           th_walkable(world->scene, l, p);
}

// The place nearest to the centre of cell (i, j) where a body fits, of 8 x 8; the centre if there is none.
static th_vec2 find_anchor(const th_world *world, const th_walls *walls, int l, int i, int j) {
    const th_staggered *grid = &th_uic_of(world)->levels[l].grid;
    th_vec2 centre = usual_anchor(grid, i, j), best = centre;
    th_vec2 low = {grid->origin.x + (float)i * grid->h, grid->origin.y + (float)j * grid->h};
    if (!th_walls_touch(walls, l, low, th_add(low, th_v(grid->h, grid->h))) ||
        body_fits(world, walls, l, centre))
        return centre;
    const float part = grid->h / (float)TH_FLOOR_PARTS;
    float best2 = 1e30f;
    for (int k = 0; k < TH_FLOOR_PARTS * TH_FLOOR_PARTS; ++k) {
        th_vec2 p = th_add(low, th_v(((float)(k % TH_FLOOR_PARTS) + 0.5f) * part,
                                     ((float)(k / TH_FLOOR_PARTS) + 0.5f) * part));
        float distance2 = th_length2(th_sub(p, centre));
        if (distance2 >= best2 || !body_fits(world, walls, l, p)) continue;
        best = p;
        best2 = distance2;
    }
    return best;
}

// Is cell (i, j) beside a link? Faces there must be the same on both levels.
static bool beside_link(const th_uic *uic, int l, int i, int j) {
    for (int k = 0; k < uic->gate_count; ++k) {
        const th_uic_gate *gate = &uic->gates[k];
        if (gate->other < 0 || (gate->level != l && gate->other != l)) continue;
        cell_range range = cells_around(&uic->levels[l].grid, gate->a, gate->b);
        if (i >= range.i0 && i <= range.i1 && j >= range.j0 && j <= range.j1) return true;
    }
    return false;
}

static void measure_anchors(th_world *world, int l) {
    th_uic *uic = th_uic_of(world);
    const th_uic_level *level = &uic->levels[l];
    const th_staggered *grid = &level->grid;
    th_walls walls = th_world_walls(world);
    bool walled = has_walls(world, l);
#pragma omp parallel for num_threads(world->threads) schedule(dynamic, 8)
    for (int j = 0; j < grid->ny; ++j)
        for (int i = 0; i < grid->nx; ++i)
            uic->anchor[level->first + j * grid->nx + i] = walled && !beside_link(uic, l, i, j)
                                                               ? find_anchor(world, &walls, l, i, j)
                                                               : usual_anchor(grid, i, j);
}

// ---- apertures

// The box between the centres of a cell and of its west (axis 0) or south (axis 1) neighbour.
static void box_of_face(const th_uic *uic, int l, int i, int j, int axis, th_vec2 *low,
                        th_vec2 *high) {
    const th_staggered *grid = &uic->levels[l].grid;
    th_vec2 corner = {grid->origin.x + (float)i * grid->h, grid->origin.y + (float)j * grid->h};
    th_vec2 anchor = th_uic_anchor(uic, l, i, j), before = usual_anchor(grid, i - !axis, j - axis);
    if (i - !axis >= 0 && j - axis >= 0) before = th_uic_anchor(uic, l, i - !axis, j - axis);
    *low = axis ? th_v(corner.x, before.y) : th_v(before.x, corner.y);
    *high = axis ? th_v(corner.x + grid->h, anchor.y) : th_v(anchor.x, corner.y + grid->h);
}

// Open share of a face: of the lines between the centres that no wall cuts, those that lie on ground.
static float open_share(const th_world *world, const th_walls *walls, int l, th_vec2 low,
                        th_vec2 high, int axis) {
    th_open_gap gaps[TH_GAP_MAX];
    int count = th_walls_gaps(walls, l, low, high, axis, gaps);
    if (count == 1 && gaps[0].to - gaps[0].from >= 1.0f) return 1.0f; // no wall near
    float open = 0.0f;
    for (int k = 0; k < count; ++k) {
        float at = 0.5f * (gaps[k].from + gaps[k].to);
        th_vec2 middle = {low.x + at * (high.x - low.x), low.y + at * (high.y - low.y)};
        th_vec2 start = axis ? th_v(middle.x, low.y) : th_v(low.x, middle.y);
        th_vec2 end = axis ? th_v(middle.x, high.y) : th_v(high.x, middle.y);
        // Beyond an exit there is no ground, and no wall between.
        if (th_walkable(world->scene, l, start) || th_walkable(world->scene, l, end))
            open += gaps[k].to - gaps[k].from;
    }
    return open > 1e-5f ? open : 0.0f;
}

static void measure_apertures(th_world *world, int l) {
    th_uic *uic = th_uic_of(world);
    const th_uic_level *level = &uic->levels[l];
    const th_staggered *grid = &level->grid;
    th_walls walls = th_world_walls(world);
#pragma omp parallel for num_threads(world->threads) schedule(dynamic, 8)
    for (int j = 0; j < grid->ny; ++j) {
        for (int i = 0; i < grid->nx; ++i) {
            th_vec2 low, high;
            int c = level->first + j * grid->nx + i;
            // Nothing flows over the grid's own edge: the ring around it is empty.
            box_of_face(uic, l, i, j, 0, &low, &high);
            uic->aperture_x[c] = i > 0 ? open_share(world, &walls, l, low, high, 0) : 0.0f;
            box_of_face(uic, l, i, j, 1, &low, &high);
            uic->aperture_y[c] = j > 0 ? open_share(world, &walls, l, low, high, 1) : 0.0f;
        }
    }
}

// A face less open than this counts as closed for an agent that stands beside it.
static const float MOSTLY_OPEN = 0.5f;

// Does the west (axis 0) or south face of a cell lead on to the next one? Exits and links lead elsewhere.
static bool leads_on(const th_uic *uic, int cell, int axis) {
    return axis ? uic->aperture_y[cell] - uic->gate_y[cell] >= MOSTLY_OPEN
                : uic->aperture_x[cell] - uic->gate_x[cell] >= MOSTLY_OPEN;
}

// Folds of the quarter (a, b) of the cell (i, j); a and b are 0 on the west and the south side.
static uint8_t folds_of(const th_uic *uic, const th_uic_level *level, int i, int j, int a, int b) {
    const th_staggered *grid = &level->grid;
    int c = level->first + j * grid->nx + i, dx = a ? 1 : -1, dy = b ? grid->nx : -grid->nx;
    if (i == 0 || j == 0 || i == grid->nx - 1 || j == grid->ny - 1)
        return TH_UIC_FOLD_X | TH_UIC_FOLD_Y;
    int beside = a ? c + 1 : c, above = b ? c + grid->nx : c; // whose faces the quarter lies at
    bool x = leads_on(uic, beside, 0), y = leads_on(uic, above, 1);
    bool x_then_y = x && leads_on(uic, above + dx, 1),
         y_then_x = y && leads_on(uic, beside + dy, 0);
    return (uint8_t)((x ? 0 : TH_UIC_FOLD_X) | (y ? 0 : TH_UIC_FOLD_Y) |
                     (x_then_y || y_then_x ? 0 : TH_UIC_FOLD_XY));
}

// Flags the quarters of a cell.
static void add_flags(th_uic *uic, const th_uic_level *level, int i, int j, unsigned flags) {
    uint8_t *quarters = uic->quarters + 4 * (size_t)level->first;
    for (int row = 2 * j; row < 2 * j + 2; ++row)
        for (int column = 2 * i; column < 2 * i + 2; ++column)
            quarters[row * 2 * level->grid.nx + column] |= (uint8_t)flags;
}

// Flags the cells that gates run through, and those beside them.
static void mark_gates(th_uic *uic, int l) {
    const th_uic_level *level = &uic->levels[l];
    const th_staggered *grid = &level->grid;
    for (int k = 0; k < uic->gate_count; ++k) {
        const th_uic_gate *gate = &uic->gates[k];
        if (gate->level != l) continue;
        cell_range range = cells_around(grid, gate->a, gate->b);
        for (int j = range.j0; j <= range.j1; ++j)
            for (int i = range.i0; i <= range.i1; ++i) {
                th_vec2 low = {grid->origin.x + (float)i * grid->h,
                               grid->origin.y + (float)j * grid->h};
                th_vec2 side = {grid->h, grid->h}, high = th_add(low, side);
                float from, to;
                if (th_box_shadow(gate->a, gate->b, low, high, 0, &from, &to))
                    add_flags(uic, level, i, j, TH_UIC_WALL);
                if (th_box_shadow(gate->a, gate->b, th_sub(low, side), th_add(high, side), 0, &from,
                                  &to))
                    add_flags(uic, level, i, j, TH_UIC_NEAR_GATE);
            }
    }
}

static void measure_quarters(th_world *world, int l, float reach) {
    th_uic *uic = th_uic_of(world);
    const th_uic_level *level = &uic->levels[l];
    const th_staggered *grid = &level->grid;
    th_walls walls = th_world_walls(world);
    float half = 0.5f * grid->h;
#pragma omp parallel for num_threads(world->threads) schedule(dynamic, 8)
    for (int row = 0; row < 2 * grid->ny; ++row) {
        for (int column = 0; column < 2 * grid->nx; ++column) {
            th_vec2 low = {grid->origin.x + (float)column * half,
                           grid->origin.y + (float)row * half};
            th_vec2 high = th_add(low, th_v(half, half)), more = th_v(reach, reach);
            uint8_t flags = folds_of(uic, level, column / 2, row / 2, column % 2, row % 2);
            if (th_walls_touch(&walls, l, th_sub(low, more), th_add(high, more))) {
                flags |= TH_UIC_NEAR_WALL;
                if (th_walls_touch(&walls, l, low, high)) flags |= TH_UIC_WALL;
            }
            uic->quarters[4 * (size_t)level->first + (size_t)(row * 2 * grid->nx + column)] = flags;
        }
    }
    mark_gates(uic, l);
}

// ---- exits and links

// The exits and links of a scene, all ways along which people leave a level's ground without a wall.
static int add_gate(th_uic_gate *gates, int count, int level, int other, th_vec2 a, th_vec2 b) {
    if (gates) gates[count] = (th_uic_gate){level, other, a, b};
    return count + 1;
}

static int add_exit_gates(th_uic_gate *gates, int count, const th_goal *goal) {
    if (goal->is_line)
        return add_gate(gates, count, goal->line.level, -1, goal->line.a, goal->line.b);
    const th_polygons *shape = &goal->area.shape; // an agent that crosses its edge is out
    for (int r = 0; r < shape->ring_count; ++r)
        for (int begin = shape->ring_start[r], end = shape->ring_start[r + 1], k = begin; k < end;
             ++k)
            count = add_gate(gates, count, goal->area.level, -1, shape->points[k],
                             shape->points[k + 1 < end ? k + 1 : begin]);
    return count;
}

int th_uic_list_gates(const th_scene *scene, th_uic_gate *gates) {
    int count = 0;
    for (int g = 0; g < scene->goal_count; ++g)
        if (scene->goals[g].kind == TH_GOAL_EXIT)
            count = add_exit_gates(gates, count, &scene->goals[g]);
    for (int k = 0; k < scene->link_count; ++k) {
        const th_link *link = &scene->links[k];
        for (int side = 0; side < 2; ++side)
            count =
                add_gate(gates, count, link->level[side], link->level[1 - side], link->a, link->b);
    }
    return count;
}

typedef void th_face_fn(th_uic *uic, const th_uic_gate *gate, int cell, int axis, float share);

// Calls for every face whose box between the cells' centres a gate touches.
static void visit_faces(th_uic *uic, const th_uic_gate *gate, th_face_fn *visit) {
    const th_staggered *grid = &uic->levels[gate->level].grid;
    cell_range range = cells_around(grid, gate->a, gate->b);
    for (int j = range.j0 > 1 ? range.j0 : 1; j <= range.j1; ++j) {
        for (int i = range.i0 > 1 ? range.i0 : 1; i <= range.i1; ++i) {
            for (int axis = 0; axis < 2; ++axis) {
                th_vec2 low, high;
                float from, to;
                box_of_face(uic, gate->level, i, j, axis, &low, &high);
                if (th_box_shadow(gate->a, gate->b, low, high, axis, &from, &to) &&
                    to - from > 1e-3f)
                    visit(uic, gate, j * grid->nx + i, axis, to - from);
            }
        }
    }
}

static void add_gate_face(th_uic *uic, const th_uic_gate *gate, int cell, int axis, float share) {
    int c = uic->levels[gate->level].first + cell;
    float *exit = (axis ? uic->exit_y : uic->exit_x) + c;
    float *open = (axis ? uic->gate_y : uic->gate_x) + c;
    if (gate->other < 0) *exit = th_min(*exit + share, 1.0f);
    *open = th_min(*open + share, 1.0f);
}

static void measure_gates(th_uic *uic, int l) {
    const th_uic_level *level = &uic->levels[l];
    size_t bytes = (size_t)level->grid.nx * (size_t)level->grid.ny * sizeof *uic->gate_x;
    memset(uic->exit_x + level->first, 0, bytes);
    memset(uic->exit_y + level->first, 0, bytes);
    memset(uic->gate_x + level->first, 0, bytes);
    memset(uic->gate_y + level->first, 0, bytes);
    for (int k = 0; k < uic->gate_count; ++k)
        if (uic->gates[k].level == l) visit_faces(uic, &uic->gates[k], add_gate_face);
}

static void add_link_face(th_uic *uic, const th_uic_gate *gate, int cell, int axis, float share) {
    if (uic->link_face_count == uic->link_face_capacity) return;
    th_uic_link_face face = {gate->level, gate->other, cell, axis, share};
    uic->link_faces[uic->link_face_count++] = face;
}

static void list_link_faces(th_uic *uic) {
    uic->link_face_count = 0;
    for (int k = 0; k < uic->gate_count; ++k)
        if (uic->gates[k].other >= 0) visit_faces(uic, &uic->gates[k], add_link_face);
}

// ---- capacity: the ground, spread over cells as people are

// Gives `area` at a place to the four nearest cells, folded where walls are in between.
static void give_area(th_uic *uic, const th_uic_level *level, const th_uic_place *place,
                      float area) {
    const th_staggered *grid = &level->grid;
    int c = level->first + place->j * grid->nx + place->i;
    if (place->i < 1 || place->j < 1 || place->i > grid->nx - 2 || place->j > grid->ny - 2) {
        uic->capacity[c] += area;
        return;
    }
    uint8_t folds = uic->quarters[4 * (size_t)level->first +
                                  (size_t)((2 * place->j + place->half_y) * 2 * grid->nx +
                                           2 * place->i + place->half_x)];
    int dx = place->half_x ? 1 : -1, dy = place->half_y ? grid->nx : -grid->nx;
    float far_x = 0.5f * (place->half_x ? place->x : 1.0f - place->x);
    float far_y = 0.5f * (place->half_y ? place->y : 1.0f - place->y);
    if (folds & TH_UIC_FOLD_X) far_x = 0.0f;
    if (folds & TH_UIC_FOLD_Y) far_y = 0.0f;
    float corner = far_x * far_y, beside = far_x - corner, above = far_y - corner;
    float own = 1.0f - far_x - above;
    if (folds & TH_UIC_FOLD_XY) {
        own += corner;
        corner = 0.0f;
    }
    uic->capacity[c] += own * area;
    uic->capacity[c + dx] += beside * area;
    uic->capacity[c + dy] += above * area;
    uic->capacity[c + dx + dy] += corner * area;
}

// ---- passages that the grid does not know
// A cell may be wider than a passage: then an agent may see no anchor, or walk from one cell into another over a face
// that no straight line passes. The flow would hold people there for ever, so it does not act in such cells: they walk as they
// prefer, and the pair step keeps them apart (hold, th_uic_velocity_at).

// Does a face between two cells, neighbours along the axis, let a body through?
static bool face_passes(const th_uic *uic, const th_uic_level *level, int cell, int axis) {
    int c = level->first + cell;
    float open = axis ? uic->aperture_y[c] - uic->gate_y[c] : uic->aperture_x[c] - uic->gate_x[c];
    return open * level->grid.h >= 2.0f * uic->body;
}

// Are two cells joined by faces that let a body through, directly or around a corner?
static bool joined(const th_uic *uic, const th_uic_level *level, int a, int b) {
    int nx = level->grid.nx, dx = b % nx - a % nx, dy = b / nx - a / nx;
    int face_x = (dx > 0 ? 1 : 0), face_y = (dy > 0 ? nx : 0);
    if (abs(dx) > 1 || abs(dy) > 1) return false;
    if (dy == 0) return face_passes(uic, level, a + face_x, 0);
    if (dx == 0) return face_passes(uic, level, a + face_y, 1);
    return (face_passes(uic, level, a + face_x, 0) &&
            face_passes(uic, level, a + dx + face_y, 1)) ||
           (face_passes(uic, level, a + face_y, 1) &&
            face_passes(uic, level, a + dy * nx + face_x, 0));
}

// An agent walks from one part to the next: does the flow know this way?
static void try_step(th_world *world, int l, const th_uic_ground *from, const th_uic_ground *to) {
    th_uic *uic = th_uic_of(world);
    const th_uic_level *level = &uic->levels[l];
    if (from->cell < 0 || to->cell < 0 || from->cell == to->cell) return;
    if (joined(uic, level, from->cell, to->cell)) return;
    th_walls walls = th_world_walls(world);
    if (th_walls_first_crossing(&walls, l, from->at, to->at, NULL) >= 0 ||
        th_uic_gate_between(uic, l, from->at, to->at))
        return;
    uic->hold[level->first + from->cell] = uic->hold[level->first + to->cell] = 0.0f;
}

// ---- capacity, and which cell people of each part of a cell count in

// The ground of one part in column `column` of row `row` of parts, which has some.
static th_uic_ground take_part(th_world *world, int l, int row, int column) {
    th_uic *uic = th_uic_of(world);
    const th_uic_level *level = &uic->levels[l];
    const th_staggered *grid = &level->grid;
    const th_floor_part *free = &uic->parts[column];
    const float part = 1.0f / TH_FLOOR_PARTS;
    int i = column / TH_FLOOR_PARTS, j = row / TH_FLOOR_PARTS, shift = TH_UIC_OWN_CELL;
    float area = (float)free->area * part * part;
    th_vec2 p = {grid->origin.x + ((float)column + (float)(free->x / free->area)) * part * grid->h,
                 grid->origin.y + ((float)row + (float)(free->y / free->area)) * part * grid->h};
    int quarter = (2 * row / TH_FLOOR_PARTS) * 2 * grid->nx + 2 * column / TH_FLOOR_PARTS;
    unsigned flags = uic->quarters[4 * (size_t)level->first + (size_t)quarter];
    th_walls walls = th_world_walls(world);
    if (flags & TH_UIC_WALL) shift = th_uic_cell_shift(world, l, flags, i, j, p);
    bool stands = !(flags & TH_UIC_NEAR_WALL) || body_fits(world, &walls, l, p);
    th_uic_ground ground = {p, stands ? j * grid->nx + i : TH_UIC_NO_GROUND};
    if (shift == TH_UIC_NO_CELL) {
        if (stands) uic->hold[level->first + ground.cell] = 0.0f;
        ground.cell = stands ? TH_UIC_UNSEEN : TH_UIC_NO_GROUND;
        shift = TH_UIC_OWN_CELL;
    } else if (stands) {
        ground.cell += (shift / 3 - 1) * grid->nx + shift % 3 - 1;
    }
    th_uic_place place = th_uic_place_of(grid, p, i, j, shift);
    give_area(uic, level, &place, area);
    uic->free_area[level->first + j * grid->nx + i] += area;
    return ground;
}

static void measure_floor(th_world *world, int l) {
    th_uic *uic = th_uic_of(world);
    const th_uic_level *level = &uic->levels[l];
    int columns = level->grid.nx * TH_FLOOR_PARTS, rows = level->grid.ny * TH_FLOOR_PARTS;
    int cells = level->grid.nx * level->grid.ny;
    memset(uic->capacity + level->first, 0, (size_t)cells * sizeof *uic->capacity);
    memset(uic->free_area + level->first, 0, (size_t)cells * sizeof *uic->free_area);
    for (int c = level->first; c < level->first + cells; ++c) uic->hold[c] = 1.0f;
    for (int row = 0; row < rows; ++row) {
        th_uic_ground *here = uic->ground_rows + row % 2 * columns,
                      *below = uic->ground_rows + (row + 1) % 2 * columns;
        th_floor_row(&level->floor, &level->grid, row, uic->parts);
        for (int column = 0; column < columns; ++column) {
            here[column] = uic->parts[column].area > 1e-9
                               ? take_part(world, l, row, column)
                               : (th_uic_ground){{0.0f, 0.0f}, TH_UIC_NO_GROUND};
            if (column > 0) try_step(world, l, &here[column - 1], &here[column]);
            if (row > 0) try_step(world, l, &below[column], &here[column]);
        }
    }
}

// Open ground everywhere: nothing to clip.
static void open_level(th_uic *uic, const th_uic_level *level) {
    const th_staggered *grid = &level->grid;
    int cells = grid->nx * grid->ny;
    for (int k = 0; k < cells; ++k) {
        int c = level->first + k, i = k % grid->nx, j = k / grid->nx;
        uic->capacity[c] = uic->free_area[c] = 1.0f;
        uic->aperture_x[c] = i > 0 ? 1.0f : 0.0f;
        uic->aperture_y[c] = j > 0 ? 1.0f : 0.0f;
    }
    memset(uic->quarters + 4 * (size_t)level->first, 0, 4 * (size_t)cells);
}

// The distance from an agent's place at the beginning of the step within which walls matter to the pair step: the pair
// distance, and the way in a step of a quick agent that is carried along.
static float furthest_pair(const th_world *world) {
    float most = 0.0f;
    for (int g = 0; g < th_uic_of(world)->group_count; ++g) {
        const th_uic_group *group = &th_uic_of(world)->groups[g];
        float d_min = th_uic_d_min(group->d_min, world->max_radius);
        if (group->own) most = th_max(most, 2.0f * group->separate * d_min);
    }
    return most + TH_UIC_FASTEST * TH_UIC_QUICK * world->dt;
}

static bool to_be_measured(const th_world *world, int l, bool wider) {
    const th_uic_level *level = &th_uic_of(world)->levels[l];
    return !level->measured || level->stale || wider ||
           level->walls_version != world->walls_version;
}

void th_uic_measure(th_world *world) {
    th_uic *uic = th_uic_of(world);
    bool anew = adopt_grids(uic);
    float reach = furthest_pair(world);
    bool wider = reach != uic->pair_reach; // a larger agent has come
    uic->pair_reach = reach;
    for (int l = 0; l < uic->level_count; ++l) anew = anew || uic->levels[l].stale;
    for (int l = 0; l < uic->level_count; ++l)
        if (to_be_measured(world, l, wider)) measure_anchors(world, l);
    if (anew) list_link_faces(uic);
    for (int l = 0; l < uic->level_count; ++l) {
        th_uic_level *level = &uic->levels[l];
        if (!to_be_measured(world, l, wider)) continue;
        level->walled = has_walls(world, l);
        measure_gates(uic, l);
        if (level->walled) {
            measure_apertures(world, l);
            measure_quarters(world, l, uic->pair_reach);
            measure_floor(world, l);
        } else {
            open_level(uic, level);
        }
        size_t bytes = (size_t)level->grid.nx * (size_t)level->grid.ny * sizeof(float);
        memcpy(uic->room + level->first, uic->capacity + level->first, bytes);
        memcpy(uic->open_x + level->first, uic->aperture_x + level->first, bytes);
        memcpy(uic->open_y + level->first, uic->aperture_y + level->first, bytes);
        level->walls_version = world->walls_version;
        level->measured = true;
        level->stale = false;
    }
}

// Once a step, where there are bodies: what they leave of capacities and apertures.
void th_uic_cover_bodies(th_world *world) {
    th_uic *uic = th_uic_of(world);
    const th_agents *agents = &world->agents;
    bool any = false;
    for (int l = 0; l < uic->level_count; ++l) {
        const th_uic_level *level = &uic->levels[l];
        if (!level->has_bodies) continue;
        any = true;
        memset(uic->covered + level->first, 0,
               (size_t)level->grid.nx * (size_t)level->grid.ny * sizeof *uic->covered);
    }
    if (!any) return;
    for (int i = 0; i < agents->count; ++i)
        if (agents->phase[i] == TH_PHASE_BODY)
            th_uic_cover_disc(uic, &uic->levels[agents->level[i]],
                              th_v(agents->next_position_x[i], agents->next_position_y[i]),
                              agents->radius[i]);
    for (int l = 0; l < uic->level_count; ++l) {
        const th_uic_level *level = &uic->levels[l];
        if (!level->has_bodies) continue;
        int nx = level->grid.nx, end = level->first + nx * level->grid.ny;
        for (int c = level->first + nx; c < end; ++c) th_uic_cover_cell(uic, nx, c);
    }
}
