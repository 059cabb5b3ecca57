// What of the cells is ground: capacity of cells, apertures of faces, exits, links, moving bodies. Measured when a grid or a wall changes, not in every step.
//
// A wall is seen by the pressure solve only as a closed face, so everybody must be counted on the right side
// of it. Who stands in a cell whose centre a wall hides counts in the neighbouring cell whose centre is in
// sight, and so does the ground there. SPDX-License-Identifier: Apache-2.0
#include "move/uic/floor.h"
#include "core/parallel.h"
#include "space/distance_grid.h"
#include <string.h>

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

// ---- apertures

// The box between the centres of a cell and of its west (axis 0) or south (axis 1) neighbour.
static void box_of_face(const th_staggered *grid, int i, int j, int axis, th_vec2 *low,
                        th_vec2 *high) {
    th_vec2 corner = {grid->origin.x + (float)i * grid->h, grid->origin.y + (float)j * grid->h};
    th_vec2 anchor = th_uic_anchor(grid, i, j);
    *low = axis ? th_v(corner.x, anchor.y - grid->h) : th_v(anchor.x - grid->h, corner.y);
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
            // Nothing flows over the grid's own edge: the ring around it holds nobody.
            box_of_face(grid, i, j, 0, &low, &high);
            uic->aperture_x[c] = i > 0 ? open_share(world, &walls, l, low, high, 0) : 0.0f;
            box_of_face(grid, i, j, 1, &low, &high);
            uic->aperture_y[c] = j > 0 ? open_share(world, &walls, l, low, high, 1) : 0.0f;
        }
    }
}

// A face less open than this counts as closed for who stands beside it.
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
    const th_polygons *shape = &goal->area.shape; // who crosses its edge is out
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
                box_of_face(grid, i, j, axis, &low, &high);
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

static void measure_floor(th_world *world, int l) {
    th_uic *uic = th_uic_of(world);
    const th_uic_level *level = &uic->levels[l];
    const th_staggered *grid = &level->grid;
    size_t cells = (size_t)grid->nx * (size_t)grid->ny;
    memset(uic->capacity + level->first, 0, cells * sizeof *uic->capacity);
    memset(uic->free_area + level->first, 0, cells * sizeof *uic->free_area);
    const float part = 1.0f / TH_FLOOR_PARTS;
    for (int row = 0; row < grid->ny * TH_FLOOR_PARTS; ++row) {
        th_floor_row(&level->floor, grid, row, uic->parts);
        int j = row / TH_FLOOR_PARTS;
        for (int column = 0; column < grid->nx * TH_FLOOR_PARTS; ++column) {
            const th_floor_part *free = &uic->parts[column];
            if (!(free->area > 1e-9)) continue;
            int i = column / TH_FLOOR_PARTS, shift = TH_UIC_OWN_CELL;
            float area = (float)free->area * part * part;
            th_vec2 p = {
                grid->origin.x + ((float)column + (float)(free->x / free->area)) * part * grid->h,
                grid->origin.y + ((float)row + (float)(free->y / free->area)) * part * grid->h};
            int quarter = (2 * row / TH_FLOOR_PARTS) * 2 * grid->nx + 2 * column / TH_FLOOR_PARTS;
            unsigned flags = uic->quarters[4 * (size_t)level->first + (size_t)quarter];
            if (flags & TH_UIC_WALL) shift = th_uic_cell_shift(world, l, flags, i, j, p);
            if (shift == TH_UIC_NO_CELL) shift = TH_UIC_OWN_CELL;
            th_uic_place place = th_uic_place_of(grid, p, i, j, shift);
            give_area(uic, level, &place, area);
            uic->free_area[level->first + j * grid->nx + i] += area;
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

// Is there anything on the level that people or the flow cannot just pass?
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

// How far from where somebody stood when the step began a wall can matter to the pair step: the pair distance
// and the way of the step, walked by somebody quick who is carried along.
static float furthest_pair(const th_world *world) {
    float most = 0.0f;
    for (int g = 0; g < th_uic_of(world)->group_count; ++g) {
        const th_uic_group *group = &th_uic_of(world)->groups[g];
        float d_min = th_uic_d_min(group->d_min, world->max_radius);
        if (group->own) most = th_max(most, 2.0f * group->separate * d_min);
    }
    return most + TH_UIC_FASTEST * TH_UIC_QUICK * world->dt;
}

void th_uic_measure(th_world *world) {
    th_uic *uic = th_uic_of(world);
    bool anew = th_uic_adopt_grids(uic);
    float reach = furthest_pair(world);
    bool wider = reach != uic->pair_reach; // somebody larger has come
    uic->pair_reach = reach;
    for (int l = 0; l < uic->level_count; ++l) anew = anew || uic->levels[l].stale;
    if (anew) list_link_faces(uic);
    for (int l = 0; l < uic->level_count; ++l) {
        th_uic_level *level = &uic->levels[l];
        if (level->measured && !level->stale && !wider &&
            level->walls_version == world->walls_version)
            continue;
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
