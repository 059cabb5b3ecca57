// The model uic on a device: its state, and the functions that its units share. SPDX-License-Identifier: Apache-2.0
#ifndef TH_MOVE_UIC_DEVICE_CUH
#define TH_MOVE_UIC_DEVICE_CUH
#include "device/model.cuh"
#include "device/team.cuh"
#include "move/uic/splat.h"

namespace th {

struct pair_report;     // pairs.cu
struct pressure_report; // pressure_levels.cuh

// On the host; pointers of the device but for `built_over`.
struct uic_device {
    th_uic known; // the device's struct, as it was sent last
    th_uic *state;
    int cells;            // in use
    int project_blocks;   // that the pressure's kernel may have
    int tidying_blocks;   // and that of the tidying passes
    float *fine, *coarse; // values of the hierarchy: the finest level's, then the coarse levels'
    int coarse_capacity;
    double *r[2], *d[2], *ad, *partial;
    pair_report *pairs;
    pressure_report *report;
    th_box *built_over; // by level: the box that its grid was built over
    bool has_grids;
    bool open, bodies;
    letter crowd; // the crowd's boxes
    bool looking; // and they are on their way
    uint64_t looked;
};

inline uic_device *uic_device_of(const th_world *host) {
    return (uic_device *)host->device_world->model_state[TH_MOVE_UIC];
}

enum { MAY_HAVE_STRAYS = 32 }; // bit of a cell's quarters: an agent nearby may stand behind a wall

// Where an agent stood when the step began.
TH_ON_GPU inline th_uic_quarter quarter_of(const th_world *world, int i) {
    const th_level_grid *index = &world->index.grids[world->agents.level[i]];
    int m = th_uic_of(world)->index_per_half;
    int column = th_grid_column(index, world->agents.position_x[i]) / m;
    int row = th_grid_row(index, world->agents.position_y[i]) / m;
    th_uic_quarter q = {(int)world->agents.level[i], column / 2, row / 2, column % 2, row % 2, 0};
    return q;
}

// ---- splat.cu
void uic_splat(th_world *host);
void uic_follow(th_world *host);

// ---- pressure.cu
bool uic_take_pressure(th_world *host); // false: no memory
void uic_project(th_world *host);

// ---- pairs.cu
bool uic_take_pairs(th_world *host); // false: no memory
void uic_separate(th_world *host);

} // namespace th
#endif
