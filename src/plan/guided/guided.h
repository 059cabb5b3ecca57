// Navigation fields (Patil, van den Berg, Curtis, Lin, Manocha 2011; Cheng 2013, sections 4.2 and 4.4): the maths of
// one stroke, one triangle of the lattice and one person.
// Implemented: strokes spread to a guidance field G with |G| < 1; an agent moves with G + u, |u| <= 1, so the speed in
// the unit direction a is s = a.G + sqrt((a.G)^2 - |G|^2 + 1) (eq. 4.10); cost-to-go C with max over a of (-grad C . a)
// s = 1 (eq. 4.8); the direction of motion stored at every node (eq. 4.13), which is not -grad C. Put right: eq. 4.11
// leaves out the way to the crossing point and gives the Manhattan metric where G = 0; eq. 4.13 is not of unit length.
// Additions: triangles half as wide (eight neighbours), zones, stairs and discomfort as slower ground, levels, doors.
// Dynamic variant (section 4.4): the speed on which the cost reckons is that of the continuum planner (eq. 4.1).
// Left out: guidance from films.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_PLAN_GUIDED_GUIDED_H
#define TH_PLAN_GUIDED_GUIDED_H
#include "formula/params.h"
#include "formula/vec.h"
#include "plan/continuum/state.h"
#include "plan/field/field.h"
#include "plan/preferred.h"

// X(name, default, min, max, "unit", "source", "doc")
#define TH_GUIDED_PARAMS(X)                                                                      \
    X(cell, 0, 0, 5, "m",                                                                        \
      "throng: fine enough for the narrowest door; taken when the world is made",                \
      "side of a cell, 0: that of the distance fields, with `every` 0.5; the smallest one of "   \
      "all groups holds")                                                                        \
    X(follow, 1, 0, 10, "-", "throng",                                                           \
      "factor on the strength of all strokes, 0: the shortest way")                              \
    X(most, 0.95, 0, 0.99, "-", "throng: 39 times quicker along than against, and still finite", \
      "longest guidance; what strokes add up to beyond it is cut")                               \
    X(discomfort_weight, 1, 0, 100, "-", "Treuille 2006, gamma",                                 \
      "weight of discomfort: at 1 a metre in a zone of 1 is as bad as two elsewhere")            \
    X(every, 0, 0, 1000, "steps", "Cheng 2013, section 4.4; taken when the world is made",       \
      "steps between two solutions that count the crowd, 0: never, the crowd is not counted")    \
    X(top_speed, 1.34, 0.1, 10, "m/s", "Weidmann 1993",                                          \
      "with `every`: speed on free ground with which the cost reckons")                          \
    X(least_speed, 0.05, 0.001, 1, "m/s", "as the plan continuum",                               \
      "with `every`: speed against a dense flow")                                                \
    X(density_min, 0.5, 0.01, 20, "-", "Treuille 2006",                                          \
      "with `every`: splat up to which people walk freely")                                      \
    X(density_max, 0.8, 0.02, 20, "-", "as the plan continuum",                                  \
      "with `every`: splat from which on people walk with the flow")

typedef struct th_guided_params {
    TH_GUIDED_PARAMS(TH_PARAM_MEMBER)
} th_guided_params;

// ---- strokes

// Advice drawn on the ground, compiled: agents would rather walk along the line, from its first point to its last.
typedef struct th_stroke {
    th_item item;
    th_polyline line;
    float radius;   // [m] where the advice has faded to nothing
    float strength; // [-]
    int to;         // goal whose people it is for; -1: all
} th_stroke;

// The weight of a stroke at a distance from it: 1 on the line, 0 from the radius on, smooth at both.
TH_FORMULA float th_stroke_weight(float distance2, float radius) {
    float left = 1.0f - distance2 / (radius * radius);
    return left > 0.0f ? left * left : 0.0f;
}

// ---- cost

// Seconds for the displacement (x, y) where people walk at 1 m/s and g is the guidance: the T with |d / T - g| = 1.
TH_FORMULA float th_guided_time(th_vec2 d, th_vec2 g) {
    float along = th_dot(d, g), length2 = th_length2(d);
    float root = sqrtf(along * along + length2 * (1.0f - th_length2(g)));
    return length2 > 0.0f ? length2 / (along + root) : 0.0f;
}

typedef struct th_guided_step {
    float value;       // cost-to-go
    th_vec2 direction; // of motion, of any length
} th_guided_step;

// A node, its axis neighbour (value `axis`, one spacing away in direction (1, 0)) and the diagonal one beside it (value
// `diagonal`, in direction (1, 1)) form a triangle; g is the guidance in these coordinates, `cost` spacing times
// slowness. The least (1 - b) axis + b diagonal + cost T((1, b)) over 0 <= b <= 1. Let (X, Y) = -grad C times the
// spacing: Y = axis - diagonal is known, X = C - axis is not, and eq. 4.8 reads |(X, Y)| = cost - g.(X, Y). With k =
// cost - g.y Y that is (1 - g.x^2) X^2 + 2 k g.x X + Y^2 - k^2 = 0. The motion, g + (X, Y) / |(X, Y)|, must pass
// between the two neighbours; if it does not, one of them alone has the least (T is convex). The card's form with two
// axis neighbours is the same equation.
TH_FORMULA th_guided_step th_guided_triangle(float axis, float diagonal, th_vec2 g, float cost) {
    th_vec2 along = th_v(1.0f, 0.0f), across = th_v(1.0f, 1.0f);
    th_guided_step best = {axis + cost * th_guided_time(along, g), along};
    float corner = diagonal + cost * th_guided_time(across, g);
    if (corner < best.value) best = (th_guided_step){corner, across};
    float y = axis - diagonal, k = cost - g.y * y, a = 1.0f - g.x * g.x;
    float root2 = k * k - a * y * y;
    if (!(k > 0.0f && root2 >= 0.0f)) return best;
    float root = sqrtf(root2);
    // The larger root, in the form that does not cancel.
    float x = g.x > 0.0f ? (k * k - y * y) / (k * g.x + root) : (root - k * g.x) / a;
    float length = sqrtf(x * x + y * y);
    if (!(length > 0.0f && k - g.x * x >= 0.0f)) return best;
    th_vec2 motion = th_v(g.x + x / length, g.y + y / length);
    if (motion.x > 0.0f && motion.y >= 0.0f && motion.y <= motion.x && axis + x < best.value)
        best = (th_guided_step){axis + x, motion};
    return best;
}

// ---- one navigation field: from strokes and zones to guidance and slowness of every node, to cost-to-go, to directions

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

// The slowness of people that walk from the node in direction k, into the crowd at `to`: the free speed over the
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
// The right side of the discrete equation, from the triangles around a node.
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

// The direction in which to walk from p; `distance` is the cost-to-go. Cost: four nodes in the open; some sight lines beside
// walls.
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

// ---- the planner's state in a world
// State of the guided planner in a world, and its rules for one person: for its own files, host and device.

enum { TH_GUIDED_WORKERS = 8 };

typedef struct
    th_guided_leg { // the field of a leg of a group's route, or a detour, and a size of people
    int group, target, size;
    int shared;     // the first one with the same target, size and parameters
    uint32_t rooms; // bits of its goals with room for a body when it was solved
    bool wanted, solved;
    uint32_t version; // counts what `values` were
    th_guided_field values;
    // Only of a field that counts the crowd, and so is solved repeatedly: the interval, and the strokes, spread once.
    uint64_t every; // steps; 0: the crowd is not counted
    bool spread;
    th_vec2 *guidance;
    float *slowness;
} th_guided_leg;

typedef struct th_guided {
    th_arena arena; // of all this
    th_nodes nodes;
    th_graph graphs[TH_SIZE_MAX], next; // next: being made while the old one is compared with it
    uint32_t graph_version;             // of the walls that the graphs have
    th_guided_params *params;           // by group: those that the fields were solved with
    int *first_field;                   // by group, of its first leg
    th_guided_leg *fields;
    int field_count, worker_count;
    th_guided_work workers[TH_GUIDED_WORKERS];
    // Nodes, graph and grids only; without grids where no agent counts the crowd.
    th_continuum crowd;
    uint64_t solutions, settled;
    uint32_t changes; // of graphs and of which legs share a field
} th_guided;

TH_BOTH static inline bool th_guided_has(const th_world *world, int group) {
    return group < world->scene->group_count &&
           world->scene->groups[group].plan.model == TH_PLAN_GUIDED;
}

// The field that an agent of the planner's people follows; NULL: none, goes by an own goal.
TH_BOTH static inline th_guided_leg *th_guided_leg_of(const th_guided *s, const th_world *world,
                                                      int i) {
    const th_agents *agents = &world->agents;
    int g = (int)agents->group[i];
    if (agents->phase[i] != TH_PHASE_WALKING || th_is_led(world, i)) return NULL;
    int way = th_group_way(&world->scene->groups[g], agents->leg[i]);
    if (way < 0) return NULL;
    int sizes = world->scene->size_count, size = sizes == 1 ? 0 : th_size_of(world, i);
    return &s->fields[s->fields[s->first_field[g] + way * sizes + size].shared];
}

// False: the person is not one that a field leads.
TH_BOTH static inline bool th_guided_walker(const th_guided *s, const th_planner *planner, int i) {
    const th_world *world = planner->world;
    const th_agents *agents = &world->agents;
    const th_guided_leg *f = th_guided_leg_of(s, world, i);
    if (!f || !f->solved) return false;
    int level = (int)agents->level[i];
    th_vec2 at = th_position(agents, (uint32_t)i);
    th_walls walls = th_walls_for(world->scene, planner->walls, f->size);
    th_way way = th_guided_way(&s->graphs[f->size], &walls, &f->values, level, at);
    th_goal_way(world->scene, &walls, &world->scene->targets[f->target], level, at,
                th_goal_inset(agents, i), th_velocity(agents, (uint32_t)i), TH_PLAN_NEAR_GOAL,
                &way);
    if (way.distance >= TH_UNREACHABLE) return false;
    float speed = agents->speed[i];
    if (world->scene->zone_count > 0)
        speed *= th_zone_factor(world->scene, agents->group[i], level, at, way.direction);
    agents->preferred_x[i] = speed * way.direction.x;
    agents->preferred_y[i] = speed * way.direction.y;
    return true;
}

// Preferred velocity of one of the planner's people; 1: the goal cannot be reached.
TH_BOTH static inline int th_guided_plan(const th_guided *s, const th_planner *planner, int i) {
    if (th_guided_walker(s, planner, i)) return 0;
    return th_plan_person(planner, i, th_goes_straight(planner, planner->world->agents.group[i]));
}

#ifdef __cplusplus
extern "C" {
#endif
extern const th_section_info th_strokes_section;
static inline const th_stroke *th_strokes_of(const th_scene *scene, int *count) {
    return (const th_stroke *)th_scene_items(scene, "guidance", count);
}

// ---- guided.c, also for the device

// Graphs for the walls as they are, fields that count the crowd due again; true: some field is not solved, and an agent
// that follows it has to be found.
bool th_guided_begin(th_guided *s, const th_world *world);
// Is the crowd to be counted for the fields that are wanted?
bool th_guided_counts_crowd(const th_guided *s);
// Solves the wanted fields, with positions, velocities, levels and phases of the crowd where it is counted.
void th_guided_solve_wanted(th_guided *s, const th_world *world);
#ifdef __cplusplus
}
#endif
#endif
