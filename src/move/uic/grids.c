// Where the cells are: how large and how many when a world is created, grids that the index is built to fit, and the
// move of what cells remember when an open plane's grid follows its crowd. SPDX-License-Identifier: Apache-2.0
#include "formula/random.h"
#include "move/uic/floor.h"
#include "scene/place.h"
#include "space/passages.h"
#include <string.h>

enum {
    CELLS_LEAST = 4096,
    CELLS_PER_PERSON = 4, // a sparse crowd on wide ground gets larger cells beyond this
    SNAP = 4,             // cells: an open plane's grid grows and shrinks by this many
    COLUMNS_MOST = 8192,  // of an open plane's grid; beyond, cells grow
    COLUMNS_BOUNDED = 1000000
};
static const double INDEX_CELLS_MOST = 4e8; // fits an int
// On a device an open plane's grid has 0.5 cells a person in crowds of up to 6700, and of larger ones this many and
// 0.2 a person (three times what 4 people/m2 need): a cell takes 270 bytes there, and a person shall not take more
// than 200 in all.
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

// Smaller than this many d_min a cell holds less than one person, and the packing is noise.
static const float CELL_LEAST = 1.5f;
// A cell is at most this much of the narrowest passage: then the cells of a passage are joined by open faces and
// somebody in it sees the centre of one, whatever its angle and wherever the grid lies.
static const float CELL_OF_PASSAGE = 0.75f;

// One size for the whole scene, the largest that any group asks for; of those who do not ask the passages decide.
static float choose_cell(const th_scene *scene, th_arena *arena) {
    float asked = 0.0f, least = 0.0f;
    for (int g = 0; g < scene->group_count; ++g) {
        const th_group *group = &scene->groups[g];
        if (group->move.model != TH_MOVE_UIC) continue;
        const th_uic_params *p = th_uic_params_of(group->move.params);
        float d_min = th_uic_d_min(p->d_min, typical_radius(group));
        asked = th_max(asked, p->cell_size);
        if (!(p->cell_size > 0.0f)) least = th_max(least, CELL_LEAST * d_min);
    }
    if (!(least > 0.0f)) return th_max(asked, 0.1f); // [m] no cell smaller than a hand
    float d_min = least / CELL_LEAST, usual = TH_UIC_CELL * d_min;
    float passage = th_narrowest_passage(scene, arena, d_min, usual / CELL_OF_PASSAGE);
    return th_max(th_max(asked, 0.1f), th_clamp(CELL_OF_PASSAGE * passage, least, usual));
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

// Bounded levels know how many cells they need. Open planes get a cell for two people (4 m2 at the usual size),
// for what is named on them says little about how far the crowd spreads.
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

void th_uic_choose_sizes(th_uic *uic, th_arena *arena, const th_scene *scene, int agents,
                         bool on_device) {
    uic->level_count = scene->level_count;
    uic->h = choose_cell(scene, arena);
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

// Pressures and mean velocities go along when a grid is built anew on the same lattice. The work arrays of
// the solve hold them meanwhile.
bool th_uic_adopt_grids(th_uic *uic) {
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
