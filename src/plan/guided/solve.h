// One navigation field: from strokes and zones to guidance and slowness of every node, to cost-to-go, to directions.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_PLAN_GUIDED_SOLVE_H
#define TH_PLAN_GUIDED_SOLVE_H
#include "plan/continuum/state.h"
#include "plan/field/field.h"
#include "plan/guided/guided.h"

typedef struct th_guided_field { // by node
    float *potential;   // cost-to-go, metres of free ground; TH_UNREACHABLE where there is no way
    th_vec2 *direction; // of motion: unit, or 0 where there is none
} th_guided_field;

typedef struct th_guided_problem {
    const th_graph *graph;
    const th_walls *walls;
    int target;
    const th_guided_params *params;
    const th_continuum *crowd; // density and flow of every node; NULL: people are not counted
} th_guided_problem;

// Work space of one solution; all arrays by node.
typedef struct th_guided_work {
    th_vec2 *guidance;
    float *slowness;      // 1 on ground without discomfort
    th_vec2 *stroke;      // of the stroke that is being spread: sum of its directions
    float *stroke_weight; // and the largest weight of its pieces
    th_front front;
    uint64_t settled; // nodes of the last solution, those settled again included
} th_guided_work;

// How much slower than freely people walk from the node in direction k, into the crowd at `to`: the free speed over the
// continuum's (eq. 4.1). Times 1 + discomfort that is its cost of a metre (eq. 4.3) with a path weight of 0, in metres
// of free ground.
static inline float th_guided_crowd_cost(const th_guided_problem *p, int to, int k) {
    const th_continuum *crowd = p->crowd;
    const th_continuum_params walk = {.top_speed = p->params->top_speed,
                                      .least_speed = p->params->least_speed,
                                      .density_min = p->params->density_min,
                                      .density_max = p->params->density_max};
    if (to < 0 || !(crowd->density[to] > walk.density_min)) return 1.0f;
    th_vec2 along = th_unit(th_v((float)th_direction_x[k], (float)th_direction_y[k]));
    float flow = th_dot(th_v(crowd->flow_x[to], crowd->flow_y[to]), along);
    return walk.top_speed / th_face_speed(&walk, walk.top_speed, crowd->density[to], flow);
}

bool th_guided_work_create(th_guided_work *work, int nodes, th_arena *arena);
// Guidance and slowness of every node for people that go to the target.
void th_guided_spread(const th_guided_problem *problem, th_guided_work *work);
// After th_guided_spread.
void th_guided_solve(const th_guided_problem *problem, th_guided_work *work,
                     const th_guided_field *field);
// What the triangles around a node say: the right side of the discrete equation.
th_guided_step th_guided_update(const th_guided_problem *problem, const th_guided_work *work,
                                const float *potential, int node, int nx);

// ---- people

// Where ways part the interpolated directions cancel; below this length the nearest node's holds. [-]
#define TH_GUIDED_RIDGE 0.1f
// In the direction of motion the cost-to-go falls by 1 / 1.99 per metre at least (eq. 4.8). Where the interpolated one
// falls by less than this, guidance changes from node to node, interpolated directions might lead around in circles,
// and people go by sight. [-]
#define TH_GUIDED_LEAST_FALL 0.1f
// Where people go by sight they aim at the next node but one: further ahead the straight way may lead against the
// guidance that the nodes lead around.
#define TH_GUIDED_PULL 2

// Minus the gradient of the interpolated cost-to-go in a cell; c: of its lower left node.
TH_BOTH static inline th_vec2 th_guided_down(const float *c, int nx, const th_field_cell *cell,
                                             float inverse_spacing) {
    float x = (c[1] - c[0]) + cell->t * ((c[nx + 1] - c[nx]) - (c[1] - c[0]));
    float y = (c[nx] - c[0]) + cell->s * ((c[nx + 1] - c[1]) - (c[nx] - c[0]));
    return th_v(-inverse_spacing * x, -inverse_spacing * y);
}

// Bilinear interpolation of the directions around p; false beside walls and where it does not lead on.
TH_BOTH static inline bool th_guided_open_direction(const th_field_ask *ask,
                                                    const th_guided_field *field,
                                                    const th_field_cell *cell, th_vec2 *direction) {
    const th_nodes *nodes = ask->graph->nodes;
    int nx = nodes->levels[ask->level].nx, node = cell->node;
    if (!cell->inside || !th_field_open_cell(ask->graph, node, nx) ||
        field->potential[node] >= TH_UNREACHABLE)
        return false;
    float s = cell->s, t = cell->t;
    const th_vec2 *d = field->direction + node;
    th_vec2 low = th_add(th_scale(1.0f - s, d[0]), th_scale(s, d[1]));
    th_vec2 high = th_add(th_scale(1.0f - s, d[nx]), th_scale(s, d[nx + 1]));
    th_vec2 sum = th_add(th_scale(1.0f - t, low), th_scale(t, high));
    if (!(th_length(sum) >= TH_GUIDED_RIDGE)) sum = d[(t > 0.5f ? nx : 0) + (s > 0.5f ? 1 : 0)];
    *direction = th_unit(sum);
    th_vec2 down = th_guided_down(field->potential + node, nx, cell, nodes->inverse_spacing);
    return th_dot(down, *direction) > TH_GUIDED_LEAST_FALL &&
           !(th_field_near_walls(nodes, ask->walls, node) &&
             th_field_runs_into_wall(ask, *direction));
}

// Which way to walk from p; `distance` is the cost-to-go. Cost: four nodes in the open; some sight lines beside walls.
TH_BOTH static inline th_way th_guided_way(const th_graph *graph, const th_walls *walls,
                                           const th_guided_field *field, int level, th_vec2 p) {
    th_way way = {{0.0f, 0.0f}, TH_UNREACHABLE};
    th_field_ask ask = {graph, walls, field->potential, level, p, TH_GUIDED_PULL};
    th_field_cell cell = th_field_cell_of(graph->nodes, level, p);
    if (!cell.known) return way;
    if (th_guided_open_direction(&ask, field, &cell, &way.direction)) {
        way.distance = field->potential[cell.node];
        return way;
    }
    return th_field_way_beside_walls(ask, cell.column, cell.row);
}
#endif
