// Kernel density: people per square metre around a place, normalised by the floor that the kernel finds there. The one
// definition of density over a plan: maps, exposure, warnings, the page's layers and colours, `throng picture`, th_world_crowd_at.
// The others are of areas (observe/density.h): classic, Voronoi, Gaussian.
//
// A person is shared among the four nearest cells by distance (so that people on a grid make no beats with the cells),
// then spread twice with the weights 1/4 1/2 1/4 in x and in y: nearly a normal distribution around the person, with a
// standard deviation of 0.54 m for cells of 0.5 m. Its effective area (1 / sum of squared weights, 3.7 m2) is that of a
// disc of 1.1 m radius, in the range of the areas densities are usually measured in: 4 /m2 means 15 people and not two
// that happen to stand close.
//   - The floor is spread by the same rule, and people are divided by it: corners and walls do not look emptier than they
//     are, and the expected value for a uniform crowd is its density everywhere.
//   - Neither people nor floor spread through a wall. Doors are gaps, open or shut.
//   - A crowd on a square grid of 4 /m2, whatever its angle and offset, is read with a standard error of 0.3 % (worst
//     1.4 %) away from walls, and density x floor adds up to the number of people within 0.5 % (tests/test_observer.c).
//   - A person with no other person within TH_ALONE is not a crowd: at any moment they count as much as makes
//     TH_ALONE_DENSITY at their place, level of service A in every scheme, beside a wall as well. Means over time count
//     them fully (th_kernel_mean), so that quiet places are not read too low.
// Cost: O(people) and O(cells between the first and the last person); creation O(cells), a hundred times more where a
// wall cuts a cell. SPDX-License-Identifier: Apache-2.0
#ifndef TH_CORE_KERNEL_H
#define TH_CORE_KERNEL_H
#include "throng/scene_view.h"

#define TH_KERNEL_CELLS 14.8f  // [-] effective area of the kernel in cells
#define TH_ALONE 2.0f          // [m]; at 0.3 /m2, where crowds begin, 98 % have a neighbour nearer
#define TH_ALONE_DENSITY 0.08f // [1/m2] below level A of HCM (0.083) and of Fruin (0.31)

// The floor of a level. Constant once made: several threads may use it, each with work space of its own.
typedef struct th_kernel {
    int level;
    float min_x, min_y, cell; // lower left corner, relative to the scene origin [m]
    int nx, ny;
    float *walkable; // per cell: its share that is floor
    float *floor;    // per cell: the share of the kernel that is floor, at least 0.15
    uint8_t *open;   // with a border of one cell: which of the eight neighbours no wall hides
} th_kernel;

// A scene and its two point queries (throng/scene.h). They are pointers because core stands below the scene.
typedef struct th_ground {
    const th_scene_view *scene;
    bool (*walkable)(const th_scene *scene, int level, th_vec2 point);
    float (*distance)(const th_scene *scene, int level, th_vec2 point);
} th_ground;
static inline th_ground th_ground_of(const th_scene_view *scene) {
    th_ground ground = {scene, th_scene_walkable, th_scene_distance};
    return ground;
}

// Cells of `cell` metres, larger where the plan would have too many. `box` NULL: that of the level. False: no memory;
// release it then too.
bool th_kernel_make(const th_ground *ground, int level, double cell, const th_box *box,
                    th_kernel *kernel);
static inline bool th_kernel_create(const th_scene_view *scene, int level, double cell,
                                    const th_box *box, th_kernel *kernel) {
    th_ground ground = th_ground_of(scene);
    return th_kernel_make(&ground, level, cell, box, kernel);
}
void th_kernel_release(th_kernel *kernel);

// The sums of the kernel.
enum {
    TH_SUM_PEOPLE,
    TH_SUM_VELOCITY_X,
    TH_SUM_VELOCITY_Y,
    TH_SUM_SPEED,
    TH_SUM_ALONE, // what people alone count too much
    TH_SUMS
};

// Arrays have a border of one cell. Empty between two moments.
typedef struct th_kernel_work {
    float *shared, *once;    // TH_SUMS floats per cell: shared among the nearest four, spread once
    uint8_t *heads;          // people per cell, at most 255
    int *row_low, *row_high; // columns in which people are, by row
    int threads;             // that spread and clear; 0: one. The sums do not depend on it
} th_kernel_work;
bool th_kernel_work_create(const th_kernel *kernel, th_kernel_work *work); // false: no memory
void th_kernel_work_release(th_kernel_work *work);

// The cell a place is in; -1: beyond the map.
int th_kernel_cell(const th_kernel *kernel, float x, float y);
// One moment, in this order: note all people, put all people, spread, read cells, clear.
void th_kernel_note(const th_kernel *kernel, th_kernel_work *work, float x, float y);
// True: no other person noted within TH_ALONE.
bool th_kernel_alone(const th_kernel *kernel, const th_kernel_work *work, float x, float y);
// False: beyond the map.
bool th_kernel_put(const th_kernel *kernel, th_kernel_work *work, float x, float y,
                   th_vec2 velocity, bool alone);
// The same for the cells of some rows alone, which one thread adds to: put all people within a row of them, in one order.
typedef struct th_row_range {
    int from, to; // rows from .. to - 1
} th_row_range;
bool th_kernel_put_in(const th_kernel *kernel, th_kernel_work *work, th_row_range rows, float x,
                      float y, th_vec2 velocity, bool alone);
void th_kernel_spread(const th_kernel *kernel, th_kernel_work *work);
// Columns within reach of the people of a row; false: none.
bool th_kernel_columns(const th_kernel *kernel, const th_kernel_work *work, int row, int reach,
                       int *low, int *high);
// Weighted sums around the middle of a cell.
void th_kernel_read(const th_kernel *kernel, const th_kernel_work *work, int column, int row,
                    float sums[TH_SUMS]);
// Density of a cell at this moment, and as part of a mean over time [1/m2].
float th_kernel_density(const th_kernel *kernel, size_t cell, const float sums[TH_SUMS]);
float th_kernel_mean(const th_kernel *kernel, size_t cell, const float sums[TH_SUMS]);
void th_kernel_clear(const th_kernel *kernel, th_kernel_work *work);

// ---- a window around one point, without memory of its own

// The floor of a cell: its share, a point on it (in the middle of the floor) and how far that point is
// from a wall. Without floor the share is 0.
typedef struct th_cell_floor {
    th_vec2 point;
    float distance, share;
} th_cell_floor;

// The density of a cell depends on people 3 cells away, shared and spread, on whether they are alone, 4 cells more, and on
// the floor at their places. So the reading in the middle is that of the whole level.
enum {
    TH_WINDOW = 8,
    TH_WINDOW_SIDE = 2 * TH_WINDOW + 1,
    TH_WINDOW_CELLS = TH_WINDOW_SIDE * TH_WINDOW_SIDE,
    TH_WINDOW_BORDERED = (TH_WINDOW_SIDE + 2) * (TH_WINDOW_SIDE + 2)
};
typedef struct th_kernel_room {
    th_kernel kernel;    // points into this struct: do not copy, do not release
    th_kernel_work work; // likewise
    float walkable[TH_WINDOW_CELLS], floor[TH_WINDOW_CELLS];
    float shared[TH_WINDOW_BORDERED * TH_SUMS], once[TH_WINDOW_BORDERED * TH_SUMS];
    uint8_t open[TH_WINDOW_BORDERED], heads[TH_WINDOW_BORDERED];
    int row_low[TH_WINDOW_SIDE + 2], row_high[TH_WINDOW_SIDE + 2];
    th_cell_floor floors[TH_WINDOW_CELLS];
} th_kernel_room;
// The cells of the level's kernel up to TH_WINDOW cells from the point's. False: the point lies beyond the level's box.
bool th_kernel_window(const th_ground *ground, int level, double cell, th_vec2 point,
                      th_kernel_room *room);
#endif
