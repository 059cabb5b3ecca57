// From people to the grid (eqs 1 and 2) and back (eq. 3), for one person or one quarter of a cell, on the CPU and on
// a device. People lie in memory quarter by quarter of a cell, because the index is built that way, so a quarter's
// people are a few runs. Within a quarter all bilinear weights of all three lattices are combinations of four: those
// of the quarter's own corners. People are summed up with these four, and the sums go to the nodes once per quarter.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_MOVE_UIC_SPLAT_H
#define TH_MOVE_UIC_SPLAT_H
#include "move/uic/grids.h"
#include "move/uic/project.h"
#include "state/exits.h"
#include <string.h>

enum {
    TH_UIC_BAND = 4
}; // rows of cells that one thread takes on the CPU; decides the order of sums

// Corners of a quarter: south-west, south-east, north-west, north-east.
enum { TH_UIC_CORNERS = 4, TH_UIC_VALUES = 8 };
// people, foreign, share, speed, x, y, and two to fill a register. A vector: sums in an array would go through
// memory for every person.
#ifdef __cplusplus // a GPU has no such vectors, and as many registers as it likes
struct th_uic_values {
    float lane[TH_UIC_VALUES];
    TH_BOTH float &operator[](int k) { return lane[k]; }
    TH_BOTH float operator[](int k) const { return lane[k]; }
    TH_BOTH void operator+=(const th_uic_values &other) {
        for (int k = 0; k < TH_UIC_VALUES; ++k) lane[k] += other.lane[k];
    }
};
TH_BOTH inline th_uic_values operator*(float weight, const th_uic_values &values) {
    th_uic_values product;
    for (int k = 0; k < TH_UIC_VALUES; ++k) product.lane[k] = weight * values.lane[k];
    return product;
}
#else
typedef float th_uic_values __attribute__((vector_size(TH_UIC_VALUES * sizeof(float))));
#endif
typedef struct th_uic_sums {
    th_uic_values corner[TH_UIC_CORNERS];
} th_uic_sums;

// The mean preferred velocity around a place, between the four nearest centres.
TH_BOTH static inline th_vec2 th_uic_mean_at(const th_uic *uic, const th_uic_level *level,
                                             th_vec2 p) {
    const th_staggered *grid = &level->grid;
    float x = (p.x - grid->origin.x) * grid->inverse_h - 0.5f,
          y = (p.y - grid->origin.y) * grid->inverse_h - 0.5f;
    x = th_clamp(x, 0.0f, (float)(grid->nx - 2));
    y = th_clamp(y, 0.0f, (float)(grid->ny - 2));
    int i = (int)x, j = (int)y, c = level->first + j * grid->nx + i;
    const int nodes[4] = {c, c + 1, c + grid->nx, c + grid->nx + 1};
    x -= (float)i;
    y -= (float)j;
    const float weights[4] = {(1.0f - x) * (1.0f - y), x * (1.0f - y), (1.0f - x) * y, x * y};
    th_vec2 mean = {0.0f, 0.0f};
    for (int k = 0; k < 4; ++k)
        mean =
            th_add(mean, th_scale(weights[k], th_v(uic->mean_x[nodes[k]], uic->mean_y[nodes[k]])));
    return mean;
}

// The wish of an agent that counts in this cell: as planned, or with a step aside. It looks a cell ahead to both sides.
TH_BOTH static inline th_vec2 th_uic_preferred(const th_world *world, const th_uic_level *level,
                                               uint32_t i, int cell) {
    const th_agents *a = &world->agents;
    const th_uic *uic = th_uic_of(world);
    th_vec2 v = {a->preferred_x[i], a->preferred_y[i]};
    if (!uic->steps_aside) return v;
    const th_uic_group *group = &uic->groups[a->group[i]];
    if (group->keep_side == 0.0f && group->lanes == 0.0f) return v;
    int c = level->first + cell;
    th_uic_wishes mean = {{uic->mean_x[c], uic->mean_y[c]}, {0.0f, 0.0f}, {0.0f, 0.0f}};
    if (group->lanes > 0.0f) {
        th_vec2 along = th_scale(level->grid.h, th_unit(v));
        th_vec2 ahead = th_add(th_position(a, i), along), side = th_perp_right(along);
        mean.right = th_uic_mean_at(uic, level, th_add(ahead, side));
        mean.left = th_uic_mean_at(uic, level, th_sub(ahead, side));
    }
    return th_uic_keep_side(v, &mean, group->keep_side, group->lanes);
}

// Adds one person at (x, y) of a quarter.
TH_FORMULA void th_uic_add_person(th_uic_sums *sums, float x, float y,
                                  const th_uic_values *values) {
    sums->corner[0] += (1.0f - x) * (1.0f - y) * *values;
    sums->corner[1] += x * (1.0f - y) * *values;
    sums->corner[2] += (1.0f - x) * y * *values;
    sums->corner[3] += x * y * *values;
}

// Area that one of the model's people takes up [m2].
TH_BOTH static inline float th_uic_area_of(const th_world *world, uint32_t i) {
    const th_uic_group *group = &th_uic_of(world)->groups[world->agents.group[i]];
    float d = th_uic_d_min(group->d_min, world->agents.radius[i]);
    return group->area * d * d;
}

TH_FORMULA void th_uic_values_of(const th_world *world, const th_uic_level *level, uint32_t i,
                                 int cell, bool own, th_uic_values *values) {
    if (own) {
        th_vec2 v = th_uic_preferred(world, level, i, cell);
        float share = th_uic_area_of(world, i);
        *values =
            (th_uic_values){1.0f, 0.0f, share, share * th_length(v), share * v.x, share * v.y};
    } else {
        float d = 2.0f * world->agents.radius[i];
        *values =
            (th_uic_values){0.0f, th_uic_of(world)->groups[world->agents.group[i]].area * d * d};
    }
}

// The share of a node in the four corners: the one it lies beside in full (`near`), the others half or a quarter,
// because a lattice's weight falls from 1 to 0 over two quarters.
typedef struct th_uic_node_shares {
    float near[TH_UIC_LANES], beside[TH_UIC_LANES], above[TH_UIC_LANES], corner[TH_UIC_LANES];
} th_uic_node_shares;

// `near` is the number of the corner beside the near node; the far one in x is near ^ 1, in y near ^ 2.
TH_FORMULA th_uic_node_shares th_uic_shares_of(const th_uic_sums *sums, int near, int first_lane) {
    th_uic_node_shares shares;
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

// The nodes of a lattice that a quarter gives to; where a wall folds, the near one again.
typedef struct th_uic_node_set {
    int near, beside, above, corner;
} th_uic_node_set;
TH_FORMULA th_uic_node_set th_uic_nodes_of(int near, int far_x, int far_y, unsigned folds) {
    int beside = folds & TH_UIC_FOLD_X ? 0 : far_x, above = folds & TH_UIC_FOLD_Y ? 0 : far_y;
    int corner = beside + above;
    if (folds & TH_UIC_FOLD_XY) corner = 0;
    th_uic_node_set nodes = {near, near + beside, near + above, near + corner};
    return nodes;
}

// The three lattices: centres, west faces, south faces.
enum { TH_UIC_CENTRES, TH_UIC_WEST_FACES, TH_UIC_SOUTH_FACES, TH_UIC_LATTICES };

// The contribution of quarter (a, b) of cell c to one of the lattices, and the nodes that get it. Faces of a cell lie
// on its own edge, so along their own axis there is no wall to fold at.
typedef struct th_uic_gift {
    th_uic_node_shares shares;
    th_uic_node_set to;
} th_uic_gift;

TH_FORMULA th_uic_gift th_uic_gift_to(int lattice, int c, int nx, int a, int b, unsigned folds,
                                      const th_uic_sums *sums) {
    int dx = a ? 1 : -1, dy = b ? nx : -nx;
    th_uic_gift gift;
    // The centre lies at the corner of the quarter that is (1 - a, 1 - b) away.
    if (lattice == TH_UIC_CENTRES) {
        gift.shares = th_uic_shares_of(sums, (1 - a) | (1 - b) << 1, 0);
        gift.to = th_uic_nodes_of(c, dx, dy, folds);
    } else if (lattice == TH_UIC_WEST_FACES) {
        gift.shares = th_uic_shares_of(sums, a | (1 - b) << 1, 2);
        gift.to = th_uic_nodes_of(c + a, -dx, dy, folds & TH_UIC_FOLD_Y);
    } else {
        gift.shares = th_uic_shares_of(sums, (1 - a) | b << 1, 2);
        gift.to = th_uic_nodes_of(c + (b ? nx : 0), dx, -dy, folds & TH_UIC_FOLD_X);
    }
    return gift;
}

typedef struct th_uic_quarter {
    int l, i, j, a, b; // level, cell, half
    unsigned flags;
} th_uic_quarter;

// Every agent of one run in a quarter; those of another cell are left for later. True: an agent was there.
TH_FORMULA bool th_uic_sum_run(th_world *world, const th_uic_level *level, const th_uic_quarter *q,
                               uint32_t begin, uint32_t end, th_uic_sums *sums) {
    const th_agents *a = &world->agents;
    th_uic *uic = th_uic_of(world);
    const th_staggered *grid = &level->grid;
    float scale = 2.0f * grid->inverse_h;
    float x0 = (float)(2 * q->i + q->a), y0 = (float)(2 * q->j + q->b);
    int cell = q->j * grid->nx + q->i;
    bool any = false;
    th_uic_sums added = *sums;
    for (uint32_t i = begin; i < end; ++i) {
        bool own = th_uic_own(world, i);
        uic->cell_shift[i] = TH_UIC_OWN_CELL;
        // Bodies take up area of their own; an agent that lies is stepped over.
        if (a->phase[i] >= TH_PHASE_BODY || a->phase[i] == TH_PHASE_FALLEN) continue;
        // Others have moved already.
        th_vec2 p = own ? th_position(a, i) : th_v(a->next_position_x[i], a->next_position_y[i]);
        if (q->flags & TH_UIC_WALL) {
            uic->cell_shift[i] = (uint8_t)th_uic_cell_shift(world, q->l, q->flags, q->i, q->j, p);
            if (uic->cell_shift[i] != TH_UIC_OWN_CELL) continue;
        }
        th_uic_values values;
        th_uic_values_of(world, level, i, cell, own, &values);
        th_uic_add_person(&added, th_clamp((p.x - grid->origin.x) * scale - x0, 0.0f, 1.0f),
                          th_clamp((p.y - grid->origin.y) * scale - y0, 0.0f, 1.0f), &values);
        any = true;
    }
    *sums = added;
    return any;
}

TH_BOTH static inline unsigned th_uic_flags_of(const th_uic *uic, const th_uic_level *level, int i,
                                               int j, int a, int b) {
    return uic->quarters[4 * (size_t)level->first +
                         (size_t)((2 * j + b) * 2 * level->grid.nx + 2 * i + a)];
}

// The quarter in this column and row of quarters.
TH_BOTH static inline th_uic_quarter th_uic_quarter_at(const th_uic *uic, int l, int column,
                                                       int row) {
    th_uic_quarter q = {l, column / 2, row / 2, column % 2, row % 2, 0};
    q.flags = th_uic_flags_of(uic, &uic->levels[l], q.i, q.j, q.a, q.b);
    return q;
}

// Run k of the quarter's people: one per row of the index.
TH_BOTH static inline void th_uic_quarter_run(const th_world *world, const th_uic_quarter *q, int k,
                                              uint32_t *begin, uint32_t *end) {
    const th_level_grid *index = &world->index.grids[q->l];
    int m = th_uic_of(world)->index_per_half, column = (2 * q->i + q->a) * m;
    th_index_run(&world->index, index, (2 * q->j + q->b) * m + k, column, column + m - 1, begin,
                 end);
}

// An agent that belongs to another cell than the quarter q: where, and the sums of this one person.
TH_FORMULA th_uic_place th_uic_stray_sums(const th_world *world, const th_uic_quarter *q,
                                          uint32_t i, th_uic_sums *sums) {
    const th_agents *a = &world->agents;
    const th_uic_level *level = &th_uic_of(world)->levels[q->l];
    bool own = th_uic_own(world, i);
    th_vec2 p = own ? th_position(a, i) : th_v(a->next_position_x[i], a->next_position_y[i]);
    th_uic_place at = th_uic_place_of(&level->grid, p, q->i, q->j, th_uic_of(world)->cell_shift[i]);
    th_uic_values values;
    memset(sums, 0, sizeof *sums);
    th_uic_values_of(world, level, i, at.j * level->grid.nx + at.i, own, &values);
    th_uic_add_person(sums, at.x, at.y, &values);
    return at;
}
TH_FORMULA bool th_uic_is_stray(const th_world *world, uint32_t i) {
    uint8_t shift = th_uic_of(world)->cell_shift[i];
    return shift != TH_UIC_OWN_CELL && shift != TH_UIC_NO_CELL &&
           world->agents.phase[i] < TH_PHASE_BODY;
}

// ---- back to people

// Bilinear value at a place of a quarter; far nodes fall back to the near one where a wall folds.
TH_FORMULA float th_uic_sample(const float *lattice, int near, int far_x, int far_y, float wx,
                               float wy, unsigned folds) {
    int beside = folds & TH_UIC_FOLD_X ? 0 : far_x, above = folds & TH_UIC_FOLD_Y ? 0 : far_y;
    int corner = folds & TH_UIC_FOLD_XY ? 0 : beside + above;
    float low = lattice[near] + wx * (lattice[near + beside] - lattice[near]);
    float high = lattice[near + above] + wx * (lattice[near + corner] - lattice[near + above]);
    return low + wy * (high - low);
}

// The share of the common flow that an agent at p follows, 0 to 1. At an exit the crowd divides, some leave and some pass by,
// so the share falls towards the line. Measured from the line itself and not from a face of the grid: agents stood for ever
// before exits whose line runs through a cell.
TH_FORMULA float th_uic_hold_at_exits(const th_uic *uic, int l, float inverse_h, th_vec2 p) {
    float nearest2 = 1e30f;
    for (int g = 0; g < uic->gate_count; ++g) {
        const th_uic_gate *gate = &uic->gates[g];
        if (gate->level != l || gate->other >= 0) continue;
        nearest2 =
            th_min(nearest2, th_length2(th_sub(p, th_nearest_on_segment(p, gate->a, gate->b))));
    }
    return th_min(2.0f * sqrtf(nearest2) * inverse_h, 1.0f);
}

// An agent nearer than a body to the line of its own exit goes straight over it. Plans spread agents along a line, so an agent
// that walks along it and one that arrives would push each other back for ever. Plans also avoid the ends of a line: in a
// corner between two exits, two agents each pressed onto the other's line stood for ever.
TH_FORMULA th_vec2 th_uic_over_exit(const th_world *world, uint32_t i, int l, th_vec2 p,
                                    th_vec2 preferred) {
    const th_scene *scene = world->scene;
    float radius = world->agents.radius[i];
    for (int g = 0; g < scene->goal_count; ++g) {
        const th_goal *goal = &scene->goals[g];
        if (!goal->is_line || goal->kind != TH_GOAL_EXIT || goal->line.level != l) continue;
        th_vec2 along = th_sub(goal->line.b, goal->line.a);
        float length = th_length(along), cut = th_min(radius / th_max(length, 1e-6f), 0.49f);
        th_vec2 q = th_nearest_on_segment(p, th_add(goal->line.a, th_scale(cut, along)),
                                          th_sub(goal->line.b, th_scale(cut, along)));
        th_vec2 foot = th_nearest_on_segment(p, goal->line.a, goal->line.b);
        if (th_length2(th_sub(foot, p)) < radius * radius) q = foot;
        float distance = th_length(th_sub(q, p));
        if (distance > 2.0f * radius || !th_wants_goal(world, i, g)) continue;
        if (distance < 1e-5f) return preferred;
        return th_scale(th_length(preferred) / distance, th_sub(q, p));
    }
    return preferred;
}

// Leads an agent that touches the end of a wall and heads straight into it, as plans do that hug walls, around the end on the
// side of its wish, although the flow may turn it to the other side.
TH_FORMULA th_vec2 th_uic_around_wall_end(const th_walls *walls, int level, th_vec2 p, float radius,
                                          th_vec2 preferred, th_vec2 v) {
    const float touch = 0.01f, straight = 0.97f; // [m]; cosine
    int wall;
    float distance2;
    if (th_walls_near(walls, level, p, radius + touch, &wall, &distance2, 1) == 0) return v;
    const th_wall *near = &walls->walls[wall];
    th_vec2 q = th_nearest_on_segment(p, near->a, near->b), in = th_unit(th_sub(q, p));
    bool end = (q.x == near->a.x && q.y == near->a.y) || (q.x == near->b.x && q.y == near->b.y);
    float speed = th_length(preferred);
    if (!end || !(th_dot(preferred, in) > straight * speed)) return v;
    th_vec2 side = {-in.y, in.x};
    return th_scale(th_dot(preferred, side) > 0.0f ? speed : -speed, side);
}

TH_FORMULA void th_uic_add_wishes(const th_uic_face *face, th_vec2 *wish, float *speed) {
    wish->x += face->x;
    wish->y += face->y;
    *speed += face->speed;
}

// 1 for an agent that stands because the preferred velocities around it oppose each other, 0 for one that walks or where they
// agree. Eq. 3 gives every agent in a packed crowd the common flow, and the pair step keeps agents apart: two crowds that
// cross, or turn around the same corner, would stand for ever. The eight cells around count too, because behind the front of a
// knot all agents of a cell want the same way. `walked`: the velocity of the last step, which the pair step may have removed
// while the flow still presses.
TH_FORMULA float th_uic_opposed(const th_uic *uic, const th_staggered *grid, int first, int i,
                                int j, th_vec2 walked) {
    const int nx = grid->nx, c = first + j * nx + i;
    const th_uic_face *faces[4] = {&uic->west[c], &uic->west[c + 1], &uic->south[c],
                                   &uic->south[c + nx]};
    float speed = 0.0f, share = 0.0f;
    for (int k = 0; k < 4; ++k) {
        speed += faces[k]->speed;
        share += faces[k]->share;
    }
    if (!(speed > 1e-9f)) return 0.0f;
    float moves = th_length(walked) * share / (TH_UIC_STANDS * speed);
    if (moves >= 1.0f) return 0.0f; // most people
    int i0 = i > 0 ? i - 1 : 0, i1 = i < nx - 2 ? i + 2 : nx - 1;
    int j0 = j > 0 ? j - 1 : 0, j1 = j < grid->ny - 2 ? j + 2 : grid->ny - 1;
    th_vec2 wish = {0.0f, 0.0f};
    speed = 0.0f;
    for (int y = j0; y <= j1; ++y)
        for (int x = i0; x <= i1; ++x) {
            if (y < j1) th_uic_add_wishes(&uic->west[first + y * nx + x], &wish, &speed);
            if (x < i1) th_uic_add_wishes(&uic->south[first + y * nx + x], &wish, &speed);
        }
    float agree = 2.0f * th_length(wish) / speed;
    return 1.0f - th_min(th_max(agree, moves), 1.0f);
}

// A wish turned by up to 60 degrees to the right, as fast as before.
TH_FORMULA th_vec2 th_uic_turned(th_vec2 wish, float share) {
    float aside = 1.7320508f * share;
    return th_scale(1.0f / sqrtf(1.0f + aside * aside),
                    th_v(wish.x + aside * wish.y, wish.y - aside * wish.x));
}

// Share of a change of velocity that an agent takes in a step while it gives way. It stops to give way once it walks;
// all at once it would start and stop in every other step.
TH_FORMULA float th_uic_eased(float ease, float aside) {
    return 1.0f - (1.0f - ease) * th_min(4.0f * aside, 1.0f);
}

TH_FORMULA th_vec2 th_uic_velocity_at(const th_uic *uic, const th_uic_level *level,
                                      const th_uic_place *at, th_vec2 preferred, float hold,
                                      float aside, th_vec2 walked) {
    int nx = level->grid.nx, c = level->first + at->j * nx + at->i;
    unsigned folds = th_uic_flags_of(uic, level, at->i, at->j, at->half_x, at->half_y);
    int dx = at->half_x ? 1 : -1, dy = at->half_y ? nx : -nx;
    // Weights of the far nodes: centres from the side towards the middle, faces from the outer side.
    float out_x = 0.5f * (at->half_x ? at->x : 1.0f - at->x), in_x = 0.5f - out_x;
    float out_y = 0.5f * (at->half_y ? at->y : 1.0f - at->y), in_y = 0.5f - out_y;
    float packing = th_uic_sample(uic->packing, c, dx, dy, out_x, out_y, folds);
    float room = th_uic_sample(uic->room, c, dx, dy, out_x, out_y, folds);
    th_vec2 flow = {
        th_uic_sample(uic->u, c + at->half_x, -dx, dy, in_x, out_y, folds & TH_UIC_FOLD_Y),
        th_uic_sample(uic->v, c + (at->half_y ? nx : 0), dx, -dy, out_x, in_y,
                      folds & TH_UIC_FOLD_X)};
    float inverse_area = level->grid.inverse_h * level->grid.inverse_h;
    if (level->walled) hold *= th_uic_sample(uic->hold, c, dx, dy, out_x, out_y, 0);
    float weight =
        hold * (1.0f - aside) * th_uic_weight(packing, th_uic_room_for(uic, room, inverse_area));
    if (aside > 0.0f) preferred = th_uic_turned(preferred, aside);
    // Agents that do not head out are not carried out.
    bool exit_x = folds & TH_UIC_FOLD_X && uic->exit_x[c + at->half_x] > 0.0f;
    bool exit_y = folds & TH_UIC_FOLD_Y && uic->exit_y[c + (at->half_y ? nx : 0)] > 0.0f;
    th_vec2 v = th_add(preferred, th_scale(weight, th_sub(flow, preferred)));
    float change = th_min(uic->react, th_uic_eased(uic->ease, aside));
    if (change < 1.0f) v = th_add(walked, th_scale(change, th_sub(v, walked)));
    if (exit_x && preferred.x * (float)dx <= 0.0f)
        v.x = dx > 0 ? th_min(v.x, 0.0f) : th_max(v.x, 0.0f);
    if (exit_y && preferred.y * (float)dy <= 0.0f)
        v.y = dy > 0 ? th_min(v.y, 0.0f) : th_max(v.y, 0.0f);
    return v;
}

// Where an agent in a quarter of cells, counted in the cell that `shift` says, goes: carried by the flow, around ends
// of walls.
TH_FORMULA th_vec2 th_uic_velocity_of(const th_world *world, const th_walls *walls,
                                      const th_uic_quarter *q, uint32_t i, int shift,
                                      float *aside) {
    const th_agents *a = &world->agents;
    const th_uic *uic = th_uic_of(world);
    const th_uic_level *level = &uic->levels[q->l];
    const th_staggered *grid = &level->grid;
    bool ring = q->i < 1 || q->j < 1 || q->i > grid->nx - 2 || q->j > grid->ny - 2;
    unsigned flags = th_uic_flags_of(uic, level, q->i, q->j, q->a, q->b);
    th_vec2 p = th_position(a, i), v = {a->preferred_x[i], a->preferred_y[i]};
    *aside = 0.0f;
    if (!ring && uic->groups[a->group[i]].pressure && shift != TH_UIC_NO_CELL) {
        th_uic_place at = th_uic_place_of(grid, p, q->i, q->j, shift);
        float hold =
            flags & TH_UIC_NEAR_GATE ? th_uic_hold_at_exits(uic, q->l, grid->inverse_h, p) : 1.0f;
        v = th_uic_preferred(world, level, i, at.j * grid->nx + at.i);
        if (flags & TH_UIC_NEAR_GATE) v = th_uic_over_exit(world, i, q->l, p, v);
        th_vec2 walked = {a->velocity_x[i], a->velocity_y[i]};
        float give_way = uic->groups[a->group[i]].give_way;
        if (give_way > 0.0f)
            *aside = give_way * th_uic_opposed(uic, grid, level->first, at.i, at.j, walked);
        v = th_uic_velocity_at(uic, level, &at, v, hold, *aside, walked);
        v = th_limit(v, th_uic_fastest(a->speed[i]));
    }
    if (flags & TH_UIC_NEAR_WALL)
        v = th_uic_around_wall_end(walls, q->l, p, a->radius[i],
                                   th_v(a->preferred_x[i], a->preferred_y[i]), v);
    return v;
}

TH_FORMULA void th_uic_follow_run(th_world *world, const th_uic_quarter *q, uint32_t begin,
                                  uint32_t end) {
    th_agents *a = &world->agents;
    const th_uic *uic = th_uic_of(world);
    th_walls walls = th_world_walls(world);
    for (uint32_t i = begin; i < end; ++i) {
        if (!th_uic_own(world, i)) continue;
        float aside;
        th_vec2 p = th_position(a, i),
                v = th_uic_velocity_of(world, &walls, q, i, uic->cell_shift[i], &aside);
        uic->squeezes[i] = (uint8_t)(255.0f * aside);
        a->next_velocity_x[i] = v.x;
        a->next_velocity_y[i] = v.y;
        a->next_position_x[i] = p.x + world->dt * v.x;
        a->next_position_y[i] = p.y + world->dt * v.y;
    }
}
#endif
