// The cost-to-go by a front that settles nodes in order of cost and settles a node again when its cost has fallen since.
// With guidance a cost may depend on a larger one, so fast marching alone is wrong; falling costs find the one solution of
// the discrete equation in whatever order, and in this order nearly every node is settled once or twice.
// SPDX-License-Identifier: Apache-2.0
#include "plan/guided/guided.h"
#include "plan/nodes.h"

// A node is settled again when its cost has fallen by more than this share: the residual of the equation stays below it.
static const float AGAIN = 1e-6f;
// Nodes this near to a goal and in sight of it are where costs begin [spacings].
static const float GOAL_RANGE = 1.5f;
static const float RADIUS_MIN = 2.0f; // of a stroke [spacings]

bool th_guided_work_create(th_guided_work *work, int nodes, th_arena *arena) {
    size_t count = (size_t)nodes;
    work->guidance = th_arena_alloc(arena, count, sizeof *work->guidance);
    work->slowness = th_arena_alloc(arena, count, sizeof *work->slowness);
    work->stroke = th_arena_alloc(arena, count, sizeof *work->stroke);
    work->stroke_weight = th_arena_alloc(arena, count, sizeof *work->stroke_weight);
    work->front.heap = th_arena_alloc(arena, count, sizeof *work->front.heap);
    work->front.place = th_arena_alloc(arena, count, sizeof *work->front.place);
    return !arena->failed;
}

typedef struct node_range {
    int column0, column1, row0, row1;
} node_range;

static int clamped(float x, int last) { return x <= 0.0f ? 0 : x >= (float)last ? last : (int)x; }

static node_range nodes_in(const th_nodes *nodes, const th_node_level *grid, th_box box,
                           float around) {
    float s = nodes->inverse_spacing;
    return (node_range){
        clamped((box.min_x - around - grid->origin.x) * s, grid->nx - 1),
        clamped((box.max_x + around - grid->origin.x) * s + 1.0f, grid->nx - 1),
        clamped((box.min_y - around - grid->origin.y) * s, grid->ny - 1),
        clamped((box.max_y + around - grid->origin.y) * s + 1.0f, grid->ny - 1),
    };
}

// ---- strokes

static th_box box_of(th_vec2 a, th_vec2 b) {
    return (th_box){th_min(a.x, b.x), th_min(a.y, b.y), th_max(a.x, b.x), th_max(a.y, b.y)};
}

// Narrower strokes fall between nodes, and directions that change from node to node lead nowhere.
static float radius_of(const th_nodes *nodes, const th_stroke *stroke) {
    return th_max(stroke->radius, RADIUS_MIN * nodes->spacing);
}

// Adds a piece of a stroke to the nodes within its radius; long pieces count as long as the radius at most, so that one far
// bend does not outweigh what is near.
static void add_piece(const th_nodes *nodes, const th_stroke *stroke, th_vec2 a, th_vec2 b,
                      th_guided_work *work) {
    const th_node_level *grid = &nodes->levels[stroke->item.level];
    th_vec2 along = th_sub(b, a);
    float length = th_length(along), radius = radius_of(nodes, stroke);
    if (!(length > 0.0f)) return;
    th_vec2 part = th_scale(th_min(length, radius) / length, along);
    node_range range = nodes_in(nodes, grid, box_of(a, b), radius);
    for (int row = range.row0; row <= range.row1; ++row)
        for (int column = range.column0; column <= range.column1; ++column) {
            int node = grid->first + row * grid->nx + column;
            th_vec2 p = th_node_position(nodes, grid, node);
            float weight = th_stroke_weight(th_segment_distance2(p, a, b), radius);
            if (weight <= 0.0f) continue;
            work->stroke[node] = th_add(work->stroke[node], th_scale(weight, part));
            work->stroke_weight[node] = th_max(work->stroke_weight[node], weight);
        }
}

static void add_stroke(const th_nodes *nodes, const th_stroke *stroke, float follow,
                       th_guided_work *work) {
    const th_node_level *grid = &nodes->levels[stroke->item.level];
    const th_vec2 *points = stroke->line.points;
    th_box box = box_of(points[0], points[0]);
    for (int k = 0; k + 1 < stroke->line.count; ++k) {
        th_box piece = box_of(points[k], points[k + 1]);
        box = (th_box){th_min(box.min_x, piece.min_x), th_min(box.min_y, piece.min_y),
                       th_max(box.max_x, piece.max_x), th_max(box.max_y, piece.max_y)};
        add_piece(nodes, stroke, points[k], points[k + 1], work);
    }
    node_range range = nodes_in(nodes, grid, box, radius_of(nodes, stroke));
    for (int row = range.row0; row <= range.row1; ++row)
        for (int column = range.column0; column <= range.column1; ++column) {
            int node = grid->first + row * grid->nx + column;
            float strength = follow * stroke->strength * work->stroke_weight[node];
            th_vec2 advice = th_scale(strength, th_unit(work->stroke[node]));
            work->guidance[node] = th_add(work->guidance[node], advice);
            work->stroke[node] = th_v(0.0f, 0.0f);
            work->stroke_weight[node] = 0.0f;
        }
}

// ---- discomfort

// Later zones lie over earlier ones, so they are marked first. Until the end -1 stands for ground of no zone.
static void mark_zone(const th_nodes *nodes, const th_zone *zone, float *discomfort) {
    const th_node_level *grid = &nodes->levels[zone->area.level];
    node_range range = nodes_in(nodes, grid, zone->area.shape.box, 0.0f);
    for (int row = range.row0; row <= range.row1; ++row)
        for (int column = range.column0; column <= range.column1; ++column) {
            int node = grid->first + row * grid->nx + column;
            if (discomfort[node] < 0.0f &&
                th_polygons_contain(&zone->area.shape, th_node_position(nodes, grid, node)))
                discomfort[node] = zone->discomfort;
        }
}

static void spread_discomfort(const th_guided_problem *p, float *slowness) {
    const th_nodes *nodes = p->graph->nodes;
    const th_scene *scene = nodes->scene;
    for (int i = 0; i < nodes->count; ++i) slowness[i] = -1.0f;
    for (int z = scene->zone_count - 1; z >= 0; --z)
        if (th_drawn_for(scene, p->target, scene->zones[z].to))
            mark_zone(nodes, &scene->zones[z], slowness);
    for (int i = 0; i < nodes->count; ++i) slowness[i] = th_max(slowness[i], 0.0f);
    th_pictures_add_discomfort(nodes, p->target, slowness);
    for (int i = 0; i < nodes->count; ++i)
        slowness[i] = 1.0f + p->params->discomfort_weight * slowness[i];
}

void th_guided_spread(const th_guided_problem *problem, th_guided_work *work) {
    const th_nodes *nodes = problem->graph->nodes;
    const th_scene *scene = nodes->scene;
    memset(work->guidance, 0, (size_t)nodes->count * sizeof *work->guidance);
    int count;
    const th_stroke *strokes = th_strokes_of(scene, &count);
    for (int k = 0; k < count; ++k)
        if (th_drawn_for(scene, problem->target, strokes[k].to))
            add_stroke(nodes, &strokes[k], problem->params->follow, work);
    th_pictures_add_guidance(nodes, problem->target, problem->params->follow, work->guidance);
    for (int i = 0; i < nodes->count; ++i)
        work->guidance[i] = th_limit(work->guidance[i], problem->params->most);
    spread_discomfort(problem, work->slowness);
}

// ---- the equation

// In coordinates where k is an axis direction and the diagonal one beside it lies on the side of `turn`.
static th_vec2 turned(th_vec2 v, int k, int turn) {
    th_vec2 e1 = th_v((float)th_direction_x[k], (float)th_direction_y[k]);
    int side = (k + 2 * turn) & 7;
    th_vec2 e2 = th_v((float)th_direction_x[side], (float)th_direction_y[side]);
    return th_v(th_dot(v, e1), th_dot(v, e2));
}
static th_vec2 turned_back(th_vec2 v, int k, int turn) {
    int side = (k + 2 * turn) & 7;
    return th_v(v.x * (float)th_direction_x[k] + v.y * (float)th_direction_x[side],
                v.x * (float)th_direction_y[k] + v.y * (float)th_direction_y[side]);
}

// The cost of a spacing from `node` to its neighbour `to` in direction k.
static float cost_of(const th_guided_problem *p, const th_guided_work *work, int node, int k,
                     int to) {
    const th_nodes *nodes = p->graph->nodes;
    float cost = nodes->spacing * work->slowness[node] * th_node_slowness(nodes, node, k);
    return p->crowd ? cost * th_guided_crowd_cost(p, to, k) : cost;
}

// From `node` straight to its neighbour in direction k.
static th_guided_step straight(const th_guided_problem *p, const th_guided_work *work,
                               const float *potential, int node, int k, int to) {
    th_vec2 d = th_v((float)th_direction_x[k], (float)th_direction_y[k]);
    float time = th_guided_time(d, work->guidance[node]);
    return (th_guided_step){potential[to] + cost_of(p, work, node, k, to) * time, d};
}

// From `node` between its axis neighbour in direction k and the diagonal one on the side of `turn`; as far off as can be
// where one of them is not in sight of the other.
static th_guided_step triangle(const th_guided_problem *p, const th_guided_work *work,
                               const float *potential, int node, int k, int turn, int nx) {
    th_guided_step none = {TH_UNREACHABLE, {0.0f, 0.0f}};
    int axis = th_neighbour(p->graph, node, k, nx);
    int diagonal = th_neighbour(p->graph, node, (k + turn) & 7, nx);
    if (axis < 0 || diagonal < 0 || potential[axis] >= TH_UNREACHABLE ||
        potential[diagonal] >= TH_UNREACHABLE)
        return none;
    const th_nodes *nodes = p->graph->nodes;
    int nx_axis =
        p->graph->links[node] >> k & 1 ? nx : nodes->levels[th_node_level_of(nodes, axis)].nx;
    if (th_neighbour(p->graph, axis, (k + 2 * turn) & 7, nx_axis) != diagonal) return none;
    // Across a slope's contour line, and in a crowd, the two may differ.
    float cost =
        th_max(cost_of(p, work, node, k, axis), cost_of(p, work, node, (k + turn) & 7, diagonal));
    th_guided_step step = th_guided_triangle(potential[axis], potential[diagonal],
                                             turned(work->guidance[node], k, turn), cost);
    step.direction = turned_back(step.direction, k, turn);
    return step;
}

static void take_better(th_guided_step *best, th_guided_step step) {
    if (step.value < best->value) *best = step;
}

// The best of the straight way to the neighbour in direction k and the two triangles that have it as a corner.
static th_guided_step by_neighbour(const th_guided_problem *p, const th_guided_work *work,
                                   const float *potential, int node, int k, int to, int nx) {
    th_guided_step best = straight(p, work, potential, node, k, to);
    for (int turn = -1; turn <= 1; turn += 2)
        take_better(&best, k & 1 ? triangle(p, work, potential, node, (k + turn) & 7, -turn, nx)
                                 : triangle(p, work, potential, node, k, turn, nx));
    return best;
}

th_guided_step th_guided_update(const th_guided_problem *problem, const th_guided_work *work,
                                const float *potential, int node, int nx) {
    th_guided_step best = {TH_UNREACHABLE, {0.0f, 0.0f}};
    for (int k = 0; k < 8; ++k) {
        int to = th_neighbour(problem->graph, node, k, nx);
        if (to < 0 || potential[to] >= TH_UNREACHABLE) continue;
        take_better(&best, straight(problem, work, potential, node, k, to));
        for (int turn = -1; turn <= 1 && !(k & 1); turn += 2)
            take_better(&best, triangle(problem, work, potential, node, k, turn, nx));
    }
    return best;
}

// ---- goals

typedef void goal_node_fn(th_guided_work *work, const th_guided_field *field, int node,
                          th_guided_step step);

static void each_goal_node(const th_guided_problem *p, th_guided_work *work,
                           const th_guided_field *field, goal_node_fn *visit) {
    const th_nodes *nodes = p->graph->nodes;
    const th_target *target = &nodes->scene->targets[p->target];
    for (int g = 0; g < target->goal_count; ++g) {
        const th_goal *goal = &nodes->scene->goals[target->goals[g]];
        const th_node_level *grid = &nodes->levels[th_goal_level(goal)];
        float reach = GOAL_RANGE * nodes->spacing;
        node_range range = nodes_in(nodes, grid, th_goal_box(goal), reach);
        for (int row = range.row0; row <= range.row1; ++row)
            for (int column = range.column0; column <= range.column1; ++column) {
                int node = grid->first + row * grid->nx + column;
                if (!(nodes->flags[node] & TH_NODE_WALKABLE)) continue;
                th_vec2 at = th_node_position(nodes, grid, node);
                th_vec2 q = th_goal_nearest(goal, at, 0.01f), way = th_sub(q, at);
                if (th_length(way) > reach ||
                    !th_clear_path(p->walls, th_goal_level(goal), at, q) ||
                    !th_goal_has_room(p->walls, goal, at, q,
                                      th_least_need(p->graph->nodes->scene, p->walls)))
                    continue;
                float cost = cost_of(p, work, node, 0, -1) * nodes->inverse_spacing;
                float time = th_guided_time(way, work->guidance[node]);
                visit(work, field, node, (th_guided_step){cost * time, way});
            }
    }
}

static void offer_goal_node(th_guided_work *work, const th_guided_field *field, int node,
                            th_guided_step step) {
    th_front_offer(&work->front, field->potential, node, step.value);
}

static void point_at_goal(th_guided_work *work, const th_guided_field *field, int node,
                          th_guided_step step) {
    (void)work;
    if (step.value <= field->potential[node]) field->direction[node] = th_unit(step.direction);
}

// ---- the front

static void offer(th_guided_work *work, float *potential, int node, float value) {
    if (!(value < potential[node])) return;
    if (work->front.place[node] < 0) { // settled before
        if (value > (1.0f - AGAIN) * potential[node]) {
            potential[node] = value;
            return;
        }
        work->front.place[node] = 0;
    }
    th_front_offer(&work->front, potential, node, value);
}

static void settle(const th_guided_problem *p, th_guided_work *work, float *potential, int node) {
    const th_nodes *nodes = p->graph->nodes;
    int nx = nodes->levels[th_node_level_of(nodes, node)].nx;
    ++work->settled;
    for (int k = 0; k < 8; ++k) {
        int to = th_neighbour(p->graph, node, k, nx);
        if (to < 0) continue;
        int nx_to =
            p->graph->links[node] >> k & 1 ? nx : nodes->levels[th_node_level_of(nodes, to)].nx;
        th_guided_step step = by_neighbour(p, work, potential, to, (k + 4) & 7, node, nx_to);
        offer(work, potential, to, step.value);
    }
}

static void find_directions(const th_guided_problem *p, const th_guided_work *work,
                            const th_guided_field *field) {
    const th_nodes *nodes = p->graph->nodes;
    for (int l = 0; l < nodes->scene->level_count; ++l) {
        const th_node_level *grid = &nodes->levels[l];
        for (int i = grid->first; i < grid->first + grid->nx * grid->ny; ++i) {
            th_guided_step step = {0.0f, {0.0f, 0.0f}};
            if (field->potential[i] < TH_UNREACHABLE)
                step = th_guided_update(p, work, field->potential, i, grid->nx);
            field->direction[i] = th_unit(step.direction);
        }
    }
}

void th_guided_solve(const th_guided_problem *problem, th_guided_work *work,
                     const th_guided_field *field) {
    for (int i = 0; i < problem->graph->nodes->count; ++i) {
        field->potential[i] = TH_UNREACHABLE;
        work->front.place[i] = 0;
    }
    work->front.count = 0;
    work->settled = 0;
    each_goal_node(problem, work, field, offer_goal_node);
    while (work->front.count > 0)
        settle(problem, work, field->potential, th_front_take(&work->front));
    find_directions(problem, work, field);
    each_goal_node(problem, work, field, point_at_goal);
}
