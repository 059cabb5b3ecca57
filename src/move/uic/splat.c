// From people to the grid (eqs 1 and 2) and back (eq. 3). People lie in memory quarter by quarter of a cell,
// because the index is laid that way, so a quarter's people are a few runs. Within a quarter all bilinear
// weights of all three lattices are combinations of four: those of the quarter's own corners. People are
// summed up with these four, and the sums go to the nodes once per quarter.
//
// Same bits for any number of threads: bands of rows write to their own rows and one row beyond, first all
// even bands, then all odd ones. Cost O(people + cells). SPDX-License-Identifier: Apache-2.0
#include "core/parallel.h"
#include "move/move.h"
#include "move/uic/state.h"
#include <math.h>
#include <string.h>

enum { BAND = 4, OWN = 4 };

// Corners of a quarter: south-west, south-east, north-west, north-east.
enum { CORNERS = 4, WIDE = 8 };
// people, foreign, share, speed, x, y, and two to fill a register. A vector: sums in an array would go through
// memory for every person.
#ifdef TH_DEVICE_CODE // a GPU has no such vectors, and as many registers as it likes
struct wide_values {
    float lane[WIDE];
    TH_BOTH float &operator[](int k) { return lane[k]; }
    TH_BOTH float operator[](int k) const { return lane[k]; }
    TH_BOTH void operator+=(const wide_values &other) {
        for (int k = 0; k < WIDE; ++k) lane[k] += other.lane[k];
    }
};
TH_BOTH inline wide_values operator*(float weight, const wide_values &values) {
    wide_values product;
    for (int k = 0; k < WIDE; ++k) product.lane[k] = weight * values.lane[k];
    return product;
}
#else
typedef float wide_values __attribute__((vector_size(WIDE * sizeof(float))));
#endif
typedef struct quarter_sums {
    wide_values corner[CORNERS];
} quarter_sums;

TH_BOTH static th_vec2 preferred_of(const th_world *world, const th_uic_level *level, uint32_t i,
                                    int cell) {
    const th_agents *a = &world->agents;
    const th_uic *uic = world->uic;
    th_vec2 v = {a->preferred_x[i], a->preferred_y[i]};
    float keep_side = uic->keeps_side ? uic->groups[a->group[i]].keep_side : 0.0f;
    if (keep_side == 0.0f) return v;
    int c = level->first + cell;
    return th_uic_keep_side(v, th_v(uic->mean_x[c], uic->mean_y[c]), keep_side);
}

// Adds one person at (x, y) of a quarter.
TH_FORMULA void add_person(quarter_sums *sums, float x, float y, const wide_values *values) {
    sums->corner[0] += (1.0f - x) * (1.0f - y) * *values;
    sums->corner[1] += x * (1.0f - y) * *values;
    sums->corner[2] += (1.0f - x) * y * *values;
    sums->corner[3] += x * y * *values;
}

TH_BOTH static float share_of(const th_world *world, uint32_t i) {
    const th_uic_group *group = &world->uic->groups[world->agents.group[i]];
    float d = group->d_min > 0.0f ? group->d_min : 2.0f * world->agents.radius[i];
    return group->area * d * d;
}

TH_FORMULA void values_of(const th_world *world, const th_uic_level *level, uint32_t i, int cell,
                          bool own, wide_values *values) {
    if (own) {
        th_vec2 v = preferred_of(world, level, i, cell);
        float share = share_of(world, i);
        *values = (wide_values){1.0f, 0.0f, share, share * th_length(v), share * v.x, share * v.y};
    } else {
        float d = 2.0f * world->agents.radius[i];
        *values = (wide_values){0.0f, world->uic->foreign_area * d * d};
    }
}

// What a node gets of the four corners: the one it lies beside in full (`near`), the others half or a quarter,
// because a lattice's weight falls from 1 to 0 over two quarters.
typedef struct node_shares {
    float near[TH_UIC_LANES], beside[TH_UIC_LANES], above[TH_UIC_LANES], corner[TH_UIC_LANES];
} node_shares;

// `near` is the number of the corner beside the near node; the far one in x is near ^ 1, in y near ^ 2.
TH_FORMULA node_shares shares_of(const quarter_sums *sums, int near, int first_lane) {
    node_shares shares;
    for (int n = 0; n < TH_UIC_LANES; ++n) {
        int lane = first_lane + n;
        float corner = 0.25f * sums->corner[near ^ 3][lane];
        float x = 0.5f * sums->corner[near ^ 1][lane], y = 0.5f * sums->corner[near ^ 2][lane];
        shares.corner[n] = corner;
        shares.beside[n] = x + corner;
        shares.above[n] = y + corner;
        shares.near[n] = (sums->corner[near][lane] + x) + (y + corner);
    }
    return shares;
}

TH_FORMULA void add_lanes(float *node, const float *values) {
    for (int n = 0; n < TH_UIC_LANES; ++n) node[n] += values[n];
}

// The nodes of a lattice that a quarter gives to; where a wall folds, the near one again.
typedef struct node_set {
    int near, beside, above, corner;
} node_set;
TH_FORMULA node_set nodes_of(int near, int far_x, int far_y, unsigned folds) {
    int beside = folds & TH_UIC_FOLD_X ? 0 : far_x, above = folds & TH_UIC_FOLD_Y ? 0 : far_y;
    int corner = beside + above;
    if (folds & TH_UIC_FOLD_XY) corner = 0;
    node_set nodes = {near, near + beside, near + above, near + corner};
    return nodes;
}

// The three lattices: centres, west faces, south faces.
enum { CENTRES, WEST_FACES, SOUTH_FACES, LATTICES };

// What quarter (a, b) of cell c gives to one of the lattices, and which nodes get it. Faces of a cell lie on its
// own edge, so along their own axis there is no wall to fold at.
typedef struct lattice_gift {
    node_shares shares;
    node_set to;
} lattice_gift;

TH_FORMULA lattice_gift gift_to(int lattice, int c, int nx, int a, int b, unsigned folds,
                                const quarter_sums *sums) {
    int dx = a ? 1 : -1, dy = b ? nx : -nx;
    lattice_gift gift;
    // The centre lies at the corner of the quarter that is (1 - a, 1 - b) away.
    if (lattice == CENTRES) {
        gift.shares = shares_of(sums, (1 - a) | (1 - b) << 1, 0);
        gift.to = nodes_of(c, dx, dy, folds);
    } else if (lattice == WEST_FACES) {
        gift.shares = shares_of(sums, a | (1 - b) << 1, 2);
        gift.to = nodes_of(c + a, -dx, dy, folds & TH_UIC_FOLD_Y);
    } else {
        gift.shares = shares_of(sums, (1 - a) | b << 1, 2);
        gift.to = nodes_of(c + (b ? nx : 0), dx, -dy, folds & TH_UIC_FOLD_X);
    }
    return gift;
}

#ifndef TH_DEVICE_CODE // the CPU's loop
TH_FORMULA void give(float *lattice, const lattice_gift *gift) {
    add_lanes(lattice + TH_UIC_LANES * gift->to.near, gift->shares.near);
    add_lanes(lattice + TH_UIC_LANES * gift->to.beside, gift->shares.beside);
    add_lanes(lattice + TH_UIC_LANES * gift->to.above, gift->shares.above);
    add_lanes(lattice + TH_UIC_LANES * gift->to.corner, gift->shares.corner);
}

TH_FORMULA void give_quarter(th_uic *uic, int c, int nx, int a, int b, unsigned folds,
                             const quarter_sums *sums) {
    lattice_gift gift = gift_to(CENTRES, c, nx, a, b, folds, sums);
    give((float *)(void *)uic->centre, &gift);
    gift = gift_to(WEST_FACES, c, nx, a, b, folds, sums);
    give((float *)(void *)uic->west, &gift);
    gift = gift_to(SOUTH_FACES, c, nx, a, b, folds, sums);
    give((float *)(void *)uic->south, &gift);
}
#endif

typedef struct quarter {
    int l, i, j, a, b; // level, cell, half
    unsigned flags;
} quarter;

// Everybody of one run in a quarter; those of another cell are left for later. True: somebody was there.
TH_FORMULA bool sum_run(th_world *world, const th_uic_level *level, const quarter *q,
                        uint32_t begin, uint32_t end, quarter_sums *sums) {
    const th_agents *a = &world->agents;
    th_uic *uic = world->uic;
    const th_staggered *grid = &level->grid;
    float scale = 2.0f * grid->inverse_h;
    float x0 = (float)(2 * q->i + q->a), y0 = (float)(2 * q->j + q->b);
    int cell = q->j * grid->nx + q->i;
    bool any = false;
    quarter_sums added = *sums;
    for (uint32_t i = begin; i < end; ++i) {
        bool own = th_uic_own(world, i);
        uic->home[i] = OWN;
        if (a->phase[i] >= TH_PHASE_BODY) continue; // bodies take up area of their own
        // Others have moved already.
        th_vec2 p = own ? th_position(a, i) : th_v(a->next_position_x[i], a->next_position_y[i]);
        if (q->flags & TH_UIC_WALL) {
            uic->home[i] = (uint8_t)th_uic_home(world, q->l, q->i, q->j, p);
            if (uic->home[i] != OWN) continue;
        }
        wide_values values;
        values_of(world, level, i, cell, own, &values);
        add_person(&added, th_clamp((p.x - grid->origin.x) * scale - x0, 0.0f, 1.0f),
                   th_clamp((p.y - grid->origin.y) * scale - y0, 0.0f, 1.0f), &values);
        any = true;
    }
    *sums = added;
    return any;
}

TH_BOTH static unsigned flags_of(const th_uic *uic, const th_uic_level *level, int i, int j, int a,
                                 int b) {
    return uic->quarters[4 * (size_t)level->first +
                         (size_t)((2 * j + b) * 2 * level->grid.nx + 2 * i + a)];
}

// Run k of the quarter's people: one per row of the index.
TH_BOTH static void quarter_run(const th_world *world, const quarter *q, int k, uint32_t *begin,
                                uint32_t *end) {
    const th_level_grid *index = &world->index.grids[q->l];
    int m = world->uic->index_per_half, column = (2 * q->i + q->a) * m;
    th_index_run(&world->index, index, (2 * q->j + q->b) * m + k, column, column + m - 1, begin,
                 end);
}

#ifndef TH_DEVICE_CODE // the CPU's loop
TH_CLONES static void splat_row(th_world *world, int l, int j, int b) {
    th_uic *uic = world->uic;
    const th_uic_level *level = &uic->levels[l];
    int nx = level->grid.nx;
    for (int column = 2; column < 2 * nx - 2; ++column) {
        quarter q = {l, column / 2, j, column % 2, b, 0};
        q.flags = flags_of(uic, level, q.i, j, q.a, b);
        quarter_sums sums;
        bool any = false;
        for (int k = 0; k < uic->index_per_half; ++k) {
            uint32_t begin, end;
            quarter_run(world, &q, k, &begin, &end);
            if (begin == end) continue;
            if (!any) memset(&sums, 0, sizeof sums);
            any = sum_run(world, level, &q, begin, end, &sums) || any;
        }
        if (any) give_quarter(uic, level->first + j * nx + q.i, nx, q.a, b, q.flags, &sums);
    }
}

static void splat_bands(th_world *world, int l) {
    const th_staggered *grid = &world->uic->levels[l].grid;
    int bands = (grid->ny + BAND - 1) / BAND;
    for (int colour = 0; colour < 2; ++colour) {
#pragma omp parallel for num_threads(world->threads) schedule(dynamic, 1)
        for (int band = colour; band < bands; band += 2)
            for (int j = band * BAND; j < (band + 1) * BAND && j < grid->ny - 1; ++j)
                for (int b = 0; b < 2; ++b)
                    if (j > 0) splat_row(world, l, j, b);
    }
}

#endif

// Somebody who belongs to another cell than the quarter q: where, and the sums of this one person.
TH_FORMULA th_uic_place stray_sums(const th_world *world, const quarter *q, uint32_t i,
                                   quarter_sums *sums) {
    const th_agents *a = &world->agents;
    const th_uic_level *level = &world->uic->levels[q->l];
    bool own = th_uic_own(world, i);
    th_vec2 p = own ? th_position(a, i) : th_v(a->next_position_x[i], a->next_position_y[i]);
    th_uic_place at = th_uic_place_of(&level->grid, p, q->i, q->j, world->uic->home[i]);
    wide_values values;
    memset(sums, 0, sizeof *sums);
    values_of(world, level, i, at.j * level->grid.nx + at.i, own, &values);
    add_person(sums, at.x, at.y, &values);
    return at;
}
TH_FORMULA bool is_stray(const th_world *world, uint32_t i) {
    return world->uic->home[i] != OWN && world->agents.phase[i] < TH_PHASE_BODY;
}

#ifndef TH_DEVICE_CODE // the CPU's loop
// Who belongs to another cell: few, in the order they lie in memory.
static void splat_strays(th_world *world, int l) {
    th_uic *uic = world->uic;
    const th_uic_level *level = &uic->levels[l];
    const th_staggered *grid = &level->grid;
    for (int row = 2; row < 2 * grid->ny - 2; ++row) {
        for (int column = 2; column < 2 * grid->nx - 2; ++column) {
            quarter q = {l, column / 2, row / 2, column % 2, row % 2, 0};
            q.flags = flags_of(uic, level, q.i, q.j, q.a, q.b);
            if (!(q.flags & TH_UIC_WALL)) continue;
            for (int k = 0; k < uic->index_per_half; ++k) {
                uint32_t begin, end;
                quarter_run(world, &q, k, &begin, &end);
                for (uint32_t i = begin; i < end; ++i) {
                    if (!is_stray(world, i)) continue;
                    quarter_sums sums;
                    th_uic_place at = stray_sums(world, &q, i, &sums);
                    give_quarter(uic, level->first + at.j * grid->nx + at.i, grid->nx, at.half_x,
                                 at.half_y, flags_of(uic, level, at.i, at.j, at.half_x, at.half_y),
                                 &sums);
                }
            }
        }
    }
}

void th_uic_splat(th_world *world) {
    th_uic *uic = world->uic;
    for (int l = 0; l < uic->level_count; ++l) {
        const th_uic_level *level = &uic->levels[l];
        size_t cells = (size_t)level->grid.nx * (size_t)level->grid.ny;
        memset(uic->centre + level->first, 0, cells * sizeof *uic->centre);
        memset(uic->west + level->first, 0, cells * sizeof *uic->west);
        memset(uic->south + level->first, 0, cells * sizeof *uic->south);
        splat_bands(world, l);
        if (level->walled) splat_strays(world, l);
    }
}

#endif
// ---- back to people

// Bilinear value at a place of a quarter; far nodes fall back to the near one where a wall folds.
TH_FORMULA float sample(const float *lattice, int near, int far_x, int far_y, float wx, float wy,
                        unsigned folds) {
    int beside = folds & TH_UIC_FOLD_X ? 0 : far_x, above = folds & TH_UIC_FOLD_Y ? 0 : far_y;
    int corner = folds & TH_UIC_FOLD_XY ? 0 : beside + above;
    float low = lattice[near] + wx * (lattice[near + beside] - lattice[near]);
    float high = lattice[near + above] + wx * (lattice[near + corner] - lattice[near + above]);
    return low + wy * (high - low);
}

TH_FORMULA th_vec2 velocity_at(const th_uic *uic, const th_uic_level *level, const th_uic_place *at,
                               th_vec2 preferred) {
    int nx = level->grid.nx, c = level->first + at->j * nx + at->i;
    unsigned folds = flags_of(uic, level, at->i, at->j, at->half_x, at->half_y);
    int dx = at->half_x ? 1 : -1, dy = at->half_y ? nx : -nx;
    // Weights of the far nodes: centres from the side towards the middle, faces from the outer side.
    float out_x = 0.5f * (at->half_x ? at->x : 1.0f - at->x), in_x = 0.5f - out_x;
    float out_y = 0.5f * (at->half_y ? at->y : 1.0f - at->y), in_y = 0.5f - out_y;
    float packing = sample(uic->packing, c, dx, dy, out_x, out_y, folds);
    float room = sample(uic->room, c, dx, dy, out_x, out_y, folds);
    th_vec2 flow = {
        sample(uic->u, c + at->half_x, -dx, dy, in_x, out_y, folds & TH_UIC_FOLD_Y),
        sample(uic->v, c + (at->half_y ? nx : 0), dx, -dy, out_x, in_y, folds & TH_UIC_FOLD_X)};
    float weight = th_uic_weight(packing, room);
    // At an exit people part, some out, some past it: the nearer, the less the common flow holds them. And
    // nobody is carried out who does not head out.
    bool exit_x = folds & TH_UIC_FOLD_X && uic->exit_x[c + at->half_x] > 0.0f;
    bool exit_y = folds & TH_UIC_FOLD_Y && uic->exit_y[c + (at->half_y ? nx : 0)] > 0.0f;
    if (exit_x) weight *= 2.0f * in_x;
    if (exit_y) weight *= 2.0f * in_y;
    th_vec2 v = th_add(preferred, th_scale(weight, th_sub(flow, preferred)));
    if (exit_x && preferred.x * (float)dx <= 0.0f)
        v.x = dx > 0 ? th_min(v.x, 0.0f) : th_max(v.x, 0.0f);
    if (exit_y && preferred.y * (float)dy <= 0.0f)
        v.y = dy > 0 ? th_min(v.y, 0.0f) : th_max(v.y, 0.0f);
    return v;
}

TH_FORMULA void follow_run(th_world *world, const quarter *q, uint32_t begin, uint32_t end) {
    th_agents *a = &world->agents;
    const th_uic *uic = world->uic;
    const th_uic_level *level = &uic->levels[q->l];
    const th_staggered *grid = &level->grid;
    bool ring = q->i < 1 || q->j < 1 || q->i > grid->nx - 2 || q->j > grid->ny - 2;
    for (uint32_t i = begin; i < end; ++i) {
        if (!th_uic_own(world, i)) continue;
        th_vec2 p = th_position(a, i), v = {a->preferred_x[i], a->preferred_y[i]};
        if (!ring && uic->groups[a->group[i]].pressure) {
            th_uic_place at = th_uic_place_of(grid, p, q->i, q->j, uic->home[i]);
            v = preferred_of(world, level, i, at.j * grid->nx + at.i);
            v = th_limit(velocity_at(uic, level, &at, v), TH_UIC_FASTEST * a->speed[i]);
        }
        a->next_velocity_x[i] = v.x;
        a->next_velocity_y[i] = v.y;
        a->next_position_x[i] = p.x + world->dt * v.x;
        a->next_position_y[i] = p.y + world->dt * v.y;
    }
}

#ifndef TH_DEVICE_CODE // the CPU's loop
TH_CLONES static void follow_row(th_world *world, int l, int j, int b) {
    int nx = world->uic->levels[l].grid.nx;
    for (int column = 0; column < 2 * nx; ++column) {
        quarter q = {l, column / 2, j, column % 2, b, 0};
        for (int k = 0; k < world->uic->index_per_half; ++k) {
            uint32_t begin, end;
            quarter_run(world, &q, k, &begin, &end);
            follow_run(world, &q, begin, end);
        }
    }
}

void th_uic_follow(th_world *world) {
    for (int l = 0; l < world->uic->level_count; ++l) {
#pragma omp parallel for num_threads(world->threads) schedule(dynamic, 2)
        for (int j = 0; j < world->uic->levels[l].grid.ny; ++j)
            for (int b = 0; b < 2; ++b) follow_row(world, l, j, b);
    }
}
#endif
