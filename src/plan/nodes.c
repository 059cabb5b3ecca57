// Building the lattice. Cost O(nodes + wall length / spacing). SPDX-License-Identifier: Apache-2.0
#include "plan/nodes.h"
#include "core/error.h"
#include "formula/segment.h"
#include "space/distance_grid.h"
#include <string.h>

static const double SPACING = 0.2;      // [m] a body's half-width resolves every gap one can pass
static const double SPACING_MIN = 0.05; // [m]
static const double GAP_NODES = 2.5;    // nodes across the narrowest door or goal line
enum { NODES_MAX = 8000000 };           // 32 MB per target
// Nodes times targets: 120 MB, and about 4 s of one core to solve; beyond it the lattice is coarser than wanted, which
// `check` and a run's warnings tell. With more, a scene of some kilobytes would take more than five seconds to load.
static const double VALUES_MAX = 3e7;
static const double MARGIN = 2.0; // [m] room to walk round what stands at the edge of an open plane
// Within this of a wall (a body radius [m]) the ground costs up to TH_CLEARANCE_COST more: no agent's
// centre fits there, and without it shortest paths scrape along corners. More would bend the distances
// away from the geodesic: with these two they are within 2 % of it past the tip of a wall.
static const float CLEARANCE = 0.2f;

// ---- size

double th_nodes_narrowest(const th_scene *scene) {
    double least = 1e9;
    for (int i = 0; i < scene->door_count; ++i) {
        const th_line *line = &scene->doors[i].line;
        least = fmin(least, (double)th_length(th_sub(line->b, line->a)));
    }
    for (int i = 0; i < scene->goal_count; ++i) {
        const th_line *line = &scene->goals[i].line;
        if (scene->goals[i].is_line)
            least = fmin(least, (double)th_length(th_sub(line->b, line->a)));
    }
    for (int i = 0; i < scene->link_count; ++i)
        least = fmin(least, (double)th_length(th_sub(scene->links[i].b, scene->links[i].a)));
    return least;
}

// The nodes of the coarsest lattice there can be: nine per level.
static double least_nodes(const th_scene *scene) { return 9.0 * 1.01 * scene->level_count; }

static bool too_many_values(const th_scene *scene) {
    double least = least_nodes(scene);
    return least > NODES_MAX || least * scene->target_count > VALUES_MAX;
}

static double wanted_spacing(const th_scene *scene) {
    if (scene->plan_cell > 0.0) return scene->plan_cell;
    return fmax(SPACING_MIN, fmin(SPACING, th_nodes_narrowest(scene) / GAP_NODES));
}

static double choose_spacing(const th_scene *scene, double wanted, double most) {
    most = fmax(fmin(most, NODES_MAX), least_nodes(scene));
    for (double spacing = wanted > 0.0 ? wanted : wanted_spacing(scene);; spacing *= 1.25) {
        double nodes = 0.0;
        for (int l = 0; l < scene->level_count; ++l) {
            const th_box *box = &scene->levels[l].box;
            double margin = 2.0 * MARGIN;
            nodes += (((double)box->max_x - (double)box->min_x + margin) / spacing + 3.0) *
                     (((double)box->max_y - (double)box->min_y + margin) / spacing + 3.0);
        }
        if (nodes <= most && nodes * scene->target_count <= VALUES_MAX) return spacing;
    }
}

float th_least_need(const th_scene *scene, const th_walls *walls) {
    double least = 1e9;
    for (int g = 0; g < scene->group_count; ++g)
        least = fmin(least, th_group_gap(&scene->groups[g], false));
    for (int size = 0; size + 1 < scene->size_count - scene->bar_count; ++size)
        if (walls->need > scene->sizes[size]) least = fmax(least, (double)scene->sizes[size]);
    return least < 1e9 ? (float)least : 0.0f;
}

float th_nodes_wanted_spacing(const th_scene *scene) { return (float)wanted_spacing(scene); }

// The lattice is half a spacing beside round coordinates, so that walls drawn on them fall
// between nodes rather than on them.
static void size_level(th_nodes *nodes, int index, th_point base) {
    const th_level *level = &nodes->scene->levels[index];
    th_node_level *grid = &nodes->levels[index];
    double h = (double)nodes->spacing, margin = level->bounded ? h : MARGIN;
    double column0 = floor(((double)level->box.min_x - margin - base.x) / h);
    double row0 = floor(((double)level->box.min_y - margin - base.y) / h);
    double column1 = ceil(((double)level->box.max_x + margin - base.x) / h);
    double row1 = ceil(((double)level->box.max_y + margin - base.y) / h);
    grid->column0 = (int)column0;
    grid->row0 = (int)row0;
    grid->origin = th_v((float)(base.x + column0 * h), (float)(base.y + row0 * h));
    grid->nx = (int)(column1 - column0) + 1;
    grid->ny = (int)(row1 - row0) + 1;
    grid->first = nodes->count;
    nodes->count += grid->nx * grid->ny;
}

static void size_lattice(th_nodes *nodes, double wanted, double most) {
    nodes->spacing = (float)choose_spacing(nodes->scene, wanted, most);
    nodes->inverse_spacing = 1.0f / nodes->spacing;
    // The eikonal equation gives a slope of 1 / factor at least; interpolated across a ridge, where two
    // ways meet, it is less and points along the ridge, say straight at a pillar's middle.
    float fastest = 1.0f;
    for (int z = 0; z < nodes->scene->zone_count; ++z)
        fastest = th_max(fastest, th_max(nodes->scene->zones[z].up, nodes->scene->zones[z].down));
    nodes->least_slope = 0.7f / fastest;
    th_point base = {0.5 * (double)nodes->spacing, 0.5 * (double)nodes->spacing};
    if (nodes->scene->level_count > 0) {
        const th_box *box = &nodes->scene->levels[0].box;
        base.x += (double)box->min_x;
        base.y += (double)box->min_y;
    }
    for (int l = 0; l < nodes->scene->level_count; ++l) size_level(nodes, l, base);
}

// ---- walkable ground

static bool mark_walkable(th_nodes *nodes, int level) {
    const th_memory *memory = &nodes->scene->arena->memory;
    const th_node_level *grid = &nodes->levels[level];
    size_t most = th_row_crossing_max(nodes->scene, level);
    th_row_crossing *crossings = th_alloc(memory, most, sizeof *crossings);
    if (!crossings) return false;
    for (int row = 0; row < grid->ny; ++row) {
        uint8_t *flags = nodes->flags + grid->first + row * grid->nx;
        double y = (double)(grid->origin.y + (float)row * nodes->spacing);
        th_walkable_row(nodes->scene, level, (double)grid->origin.x, (double)nodes->spacing,
                        grid->nx, y, crossings, flags);
    }
    th_dealloc(memory, crossings, most, sizeof *crossings);
    return true;
}

static void link_neighbours(th_nodes *nodes, const th_node_level *grid) {
    for (int row = 0; row < grid->ny; ++row)
        for (int column = 0; column < grid->nx; ++column) {
            int node = grid->first + row * grid->nx + column;
            if (!(nodes->flags[node] & TH_NODE_WALKABLE)) continue;
            for (int k = 0; k < 8; ++k) {
                int c = column + th_direction_x[k], r = row + th_direction_y[k];
                if (c < 0 || r < 0 || c >= grid->nx || r >= grid->ny) continue;
                if (nodes->flags[grid->first + r * grid->nx + c] & TH_NODE_WALKABLE)
                    nodes->links[node] |= (uint8_t)(1u << k);
            }
        }
}

// ---- walls

// The part of a..b with low <= y <= high; false when there is none.
static bool clip_to_rows(th_vec2 a, th_vec2 b, float low, float high, float *x0, float *x1) {
    if (th_max(a.y, b.y) < low || th_min(a.y, b.y) > high) return false;
    float dy = b.y - a.y, s0 = 0.0f, s1 = 1.0f;
    if (fabsf(dy) > 1e-6f) {
        float at_low = (low - a.y) / dy, at_high = (high - a.y) / dy;
        s0 = th_clamp(th_min(at_low, at_high), 0.0f, 1.0f);
        s1 = th_clamp(th_max(at_low, at_high), 0.0f, 1.0f);
    }
    float xa = a.x + s0 * (b.x - a.x), xb = a.x + s1 * (b.x - a.x);
    *x0 = th_min(xa, xb);
    *x1 = th_max(xa, xb);
    return true;
}

static int lattice_floor(float x, float origin, float inverse_spacing, int low, int high) {
    float at = floorf((x - origin) * inverse_spacing);
    return at <= (float)low ? low : at >= (float)high ? high : (int)at;
}

static void cut_between(uint8_t *links, int node, int k, int nx) {
    int other = node + th_direction_y[k] * nx + th_direction_x[k];
    links[node] &= (uint8_t) ~(1u << k);
    links[other] &= (uint8_t) ~(1u << ((k + 4) & 7));
}

// Removes the links that the segment a..b meets. Directions E, NE, N, NW of every node near it stand
// for all links.
static void cut_links(const th_nodes *nodes, const th_node_level *grid, th_vec2 a, th_vec2 b,
                      uint8_t *links) {
    float h = nodes->spacing;
    int row0 =
        lattice_floor(th_min(a.y, b.y), grid->origin.y, nodes->inverse_spacing, 0, grid->ny - 1);
    int row1 =
        lattice_floor(th_max(a.y, b.y), grid->origin.y, nodes->inverse_spacing, 0, grid->ny - 1);
    for (int row = row0 > 0 ? row0 - 1 : 0; row <= row1; ++row) {
        float y = grid->origin.y + (float)row * h, x0, x1;
        if (!clip_to_rows(a, b, y - 0.01f * h, y + 1.01f * h, &x0, &x1)) continue;
        int column0 =
            lattice_floor(x0 - 1.01f * h, grid->origin.x, nodes->inverse_spacing, 0, grid->nx - 1);
        int column1 =
            lattice_floor(x1 + 1.01f * h, grid->origin.x, nodes->inverse_spacing, 0, grid->nx - 1);
        for (int column = column0; column <= column1; ++column) {
            int node = grid->first + row * grid->nx + column;
            th_vec2 p = th_node_position(nodes, grid, node);
            for (int k = 0; k < 4; ++k) {
                if (!(links[node] >> k & 1)) continue;
                int other = node + th_direction_y[k] * grid->nx + th_direction_x[k];
                double t;
                if (th_segments_meet(p, th_node_position(nodes, grid, other), a, b, &t))
                    cut_between(links, node, k, grid->nx);
            }
        }
    }
}

static void flag_cells(const th_nodes *nodes, const th_node_level *grid, const th_wall *wall,
                       float around, uint8_t flag) {
    float s = nodes->inverse_spacing;
    int row0 =
        lattice_floor(th_min(wall->a.y, wall->b.y) - around, grid->origin.y, s, 0, grid->ny - 1);
    int row1 =
        lattice_floor(th_max(wall->a.y, wall->b.y) + around, grid->origin.y, s, 0, grid->ny - 1);
    for (int row = row0; row <= row1; ++row) {
        float y = grid->origin.y + (float)row * nodes->spacing, x0, x1;
        if (!clip_to_rows(wall->a, wall->b, y - around, y + nodes->spacing + around, &x0, &x1))
            continue;
        int column0 = lattice_floor(x0 - around, grid->origin.x, s, 0, grid->nx - 1);
        int column1 = lattice_floor(x1 + around, grid->origin.x, s, 0, grid->nx - 1);
        for (int column = column0; column <= column1; ++column)
            nodes->flags[grid->first + row * grid->nx + column] |= flag;
    }
}

static void note_clearance(const th_nodes *nodes, const th_node_level *grid, const th_wall *wall) {
    float low = th_min(wall->a.y, wall->b.y) - CLEARANCE,
          high = th_max(wall->a.y, wall->b.y) + CLEARANCE;
    int row0 = lattice_floor(low, grid->origin.y, nodes->inverse_spacing, 0, grid->ny - 1);
    int row1 = lattice_floor(high, grid->origin.y, nodes->inverse_spacing, 0, grid->ny - 1);
    for (int row = row0; row <= row1; ++row) {
        float y = grid->origin.y + (float)row * nodes->spacing, x0, x1;
        if (!clip_to_rows(wall->a, wall->b, y - CLEARANCE, y + CLEARANCE, &x0, &x1)) continue;
        int column0 =
            lattice_floor(x0 - CLEARANCE, grid->origin.x, nodes->inverse_spacing, 0, grid->nx - 1);
        int column1 =
            lattice_floor(x1 + CLEARANCE, grid->origin.x, nodes->inverse_spacing, 0, grid->nx - 1);
        for (int column = column0; column <= column1; ++column) {
            int node = grid->first + row * grid->nx + column;
            th_vec2 p = th_node_position(nodes, grid, node);
            float distance = sqrtf(th_segment_distance2(p, wall->a, wall->b));
            uint8_t quantised = (uint8_t)th_min(255.0f, distance * (255.0f / CLEARANCE));
            if (quantised < nodes->clearance[node]) nodes->clearance[node] = quantised;
        }
    }
}

static void mark_walls(th_nodes *nodes, int level) {
    const th_level *l = &nodes->scene->levels[level];
    const th_node_level *grid = &nodes->levels[level];
    for (int w = l->wall_begin; w < l->wall_end; ++w) {
        const th_wall *wall = &nodes->scene->walls[w];
        flag_cells(nodes, grid, wall, TH_NODES_AHEAD * nodes->spacing, TH_CELL_NEAR);
        if (wall->door >= 0) continue;
        cut_links(nodes, grid, wall->a, wall->b, nodes->links);
        flag_cells(nodes, grid, wall, 0.01f * nodes->spacing, TH_CELL_TOUCHED);
        note_clearance(nodes, grid, wall);
    }
}

// ---- zones

// Later zones lie over earlier ones and are marked first: what is taken need not be looked at again. Row by row: three
// hundred large zones on a square kilometre took 12 s, each node asking each outline.
static void mark_zone(th_nodes *nodes, int index, th_row_crossing *crossings) {
    const th_zone *zone = &nodes->scene->zones[index];
    const th_node_level *grid = &nodes->levels[zone->area.level];
    const th_box *box = &zone->area.shape.box;
    int column0 =
        lattice_floor(box->min_x, grid->origin.x, nodes->inverse_spacing, 0, grid->nx - 1);
    int column1 =
        lattice_floor(box->max_x, grid->origin.x, nodes->inverse_spacing, 0, grid->nx - 1);
    int row0 = lattice_floor(box->min_y, grid->origin.y, nodes->inverse_spacing, 0, grid->ny - 1);
    int row1 = lattice_floor(box->max_y, grid->origin.y, nodes->inverse_spacing, 0, grid->ny - 1);
    for (int row = row0; row <= row1; ++row) {
        int first = grid->first + row * grid->nx, next = 0;
        double y = (double)th_node_position(nodes, grid, first).y;
        int count = th_row_crossings(&zone->area.shape, y, crossings);
        for (int column = column0; column <= column1; ++column) {
            double x = (double)(grid->origin.x + (float)column * nodes->spacing);
            while (next < count && crossings[next].x <= x) ++next;
            if ((count - next) % 2 == 1 && nodes->zone[first + column] == 0)
                nodes->zone[first + column] = (uint16_t)(index + 1);
        }
    }
}

static bool mark_zones(th_nodes *nodes) {
    const th_scene *scene = nodes->scene;
    size_t most = 1;
    for (int z = 0; z < scene->zone_count; ++z) {
        const th_polygons *shape = &scene->zones[z].area.shape;
        size_t points = shape->ring_count > 0 ? (size_t)shape->ring_start[shape->ring_count] : 0;
        if (points > most) most = points;
    }
    th_row_crossing *crossings = th_alloc(&scene->arena->memory, most, sizeof *crossings);
    if (!crossings) return false;
    for (int z = scene->zone_count - 1; z >= 0; --z) mark_zone(nodes, z, crossings);
    th_dealloc(&scene->arena->memory, crossings, most, sizeof *crossings);
    return true;
}

// ---- portals

static int other_level_node(const th_nodes *nodes, int node, int k, int from, int to) {
    const th_node_level *a = &nodes->levels[from], *b = &nodes->levels[to];
    int column = (node - a->first) % a->nx + a->column0 + th_direction_x[k] - b->column0;
    int row = (node - a->first) / a->nx + a->row0 + th_direction_y[k] - b->row0;
    if (column < 0 || row < 0 || column >= b->nx || row >= b->ny) return -1;
    int other = b->first + row * b->nx + column;
    return nodes->flags[other] & TH_NODE_WALKABLE ? other : -1;
}

static bool add_portal(th_nodes *nodes, const th_portal *portal) {
    if (nodes->portal_count == nodes->portal_capacity) {
        const th_memory *memory = &nodes->scene->arena->memory;
        int capacity = nodes->portal_capacity * 2 + 64;
        th_portal *grown = th_alloc(memory, (size_t)capacity, sizeof *grown);
        if (!grown) return false;
        if (nodes->portals)
            memcpy(grown, nodes->portals, (size_t)nodes->portal_count * sizeof *grown);
        th_dealloc(memory, nodes->portals, (size_t)nodes->portal_capacity, sizeof *grown);
        nodes->portals = grown;
        nodes->portal_capacity = capacity;
    }
    int at = nodes->portal_count++;
    for (; at > 0 && nodes->portals[at - 1].node > portal->node; --at)
        nodes->portals[at] = nodes->portals[at - 1];
    nodes->portals[at] = *portal;
    return true;
}

// The portals of one node over one link; side 0 is the lower level.
static bool find_portals_at(th_nodes *nodes, const th_link *link, int side, int node) {
    const th_node_level *grid = &nodes->levels[link->level[side]];
    th_vec2 p = th_node_position(nodes, grid, node);
    float before = th_dot(th_sub(p, link->a), link->up);
    if (side == 0 ? before >= 0.0f : before < 0.0f) return true;
    th_portal portal = {node, {-1, -1, -1, -1, -1, -1, -1, -1}};
    bool any = false;
    for (int k = 0; k < 8; ++k) {
        th_vec2 q = th_add(p, th_v((float)th_direction_x[k] * nodes->spacing,
                                   (float)th_direction_y[k] * nodes->spacing));
        double t;
        if (!th_segments_meet(p, q, link->a, link->b, &t)) continue;
        portal.to[k] = other_level_node(nodes, node, k, link->level[side], link->level[1 - side]);
        any |= portal.to[k] >= 0;
    }
    if (!any) return true;
    if (nodes->flags[node] & TH_NODE_PORTAL) { // two links meet here: the first keeps what it has
        th_graph all = {nodes, nodes->links, nodes->portals, NULL, NULL};
        th_portal *present = &nodes->portals[th_portal_find(&all, node) - nodes->portals];
        for (int k = 0; k < 8; ++k)
            if (present->to[k] < 0) present->to[k] = portal.to[k];
        return true;
    }
    nodes->flags[node] |= TH_NODE_PORTAL;
    return add_portal(nodes, &portal);
}

static bool find_portals(th_nodes *nodes, const th_link *link) {
    for (int side = 0; side < 2; ++side) {
        const th_node_level *grid = &nodes->levels[link->level[side]];
        float h = nodes->spacing, s = nodes->inverse_spacing;
        // An agent that crosses the line changes level, so no link of the level itself does.
        cut_links(nodes, grid, link->a, link->b, nodes->links);
        int column0 =
            lattice_floor(th_min(link->a.x, link->b.x) - h, grid->origin.x, s, 0, grid->nx - 1);
        int column1 =
            lattice_floor(th_max(link->a.x, link->b.x) + h, grid->origin.x, s, 0, grid->nx - 1);
        int row0 =
            lattice_floor(th_min(link->a.y, link->b.y) - h, grid->origin.y, s, 0, grid->ny - 1);
        int row1 =
            lattice_floor(th_max(link->a.y, link->b.y) + h, grid->origin.y, s, 0, grid->ny - 1);
        for (int row = row0; row <= row1; ++row)
            for (int column = column0; column <= column1; ++column) {
                int node = grid->first + row * grid->nx + column;
                if (!(nodes->flags[node] & TH_NODE_WALKABLE)) continue;
                if (!find_portals_at(nodes, link, side, node)) return false;
            }
    }
    return true;
}

// ---- the whole

static bool build(th_nodes *nodes) {
    const th_memory *memory = &nodes->scene->arena->memory;
    size_t count = (size_t)nodes->count;
    nodes->flags = th_alloc(memory, count, 1);
    nodes->links = th_alloc(memory, count, 1);
    nodes->clearance = th_alloc(memory, count, 1);
    nodes->zone = th_alloc(memory, count, sizeof *nodes->zone);
    if (!nodes->flags || !nodes->links || !nodes->clearance || !nodes->zone) return false;
    memset(nodes->clearance, 255, count);
    for (int l = 0; l < nodes->scene->level_count; ++l) {
        if (!mark_walkable(nodes, l)) return false;
        link_neighbours(nodes, &nodes->levels[l]);
        mark_walls(nodes, l);
    }
    if (!mark_zones(nodes)) return false;
    for (int i = 0; i < nodes->scene->link_count; ++i)
        if (!find_portals(nodes, &nodes->scene->links[i])) return false;
    return true;
}

float th_nodes_spacing_within(const th_scene *scene, double spacing, double most) {
    return too_many_values(scene) ? 0.0f : (float)choose_spacing(scene, spacing, most);
}

th_result th_nodes_build(th_nodes *nodes, const th_scene *scene, double spacing, th_error *error) {
    return th_nodes_build_within(nodes, scene, spacing, NODES_MAX, error);
}

th_result th_nodes_build_within(th_nodes *nodes, const th_scene *scene, double spacing, double most,
                                th_error *error) {
    const th_memory *memory = &scene->arena->memory;
    memset(nodes, 0, sizeof *nodes);
    if (too_many_values(scene))
        return th_fail(
            error, TH_BAD_SCENE, "levels",
            "%d levels times %d different legs of routes are too many to plan; use fewer "
            "levels or let groups share their goals",
            scene->level_count, scene->target_count);
    nodes->scene = scene;
    nodes->levels = th_alloc(memory, (size_t)scene->level_count, sizeof *nodes->levels);
    if (nodes->levels) {
        size_lattice(nodes, spacing, most);
        if (build(nodes)) return TH_OK;
    }
    th_nodes_release(nodes);
    return th_fail(error, TH_NO_MEMORY, "plan_cell",
                   "no memory for the distance fields' lattice; give a larger plan_cell");
}

void th_nodes_release(th_nodes *nodes) {
    if (!nodes->scene) return;
    const th_memory *memory = &nodes->scene->arena->memory;
    size_t count = (size_t)nodes->count;
    th_dealloc(memory, nodes->levels, (size_t)nodes->scene->level_count, sizeof *nodes->levels);
    th_dealloc(memory, nodes->flags, count, 1);
    th_dealloc(memory, nodes->links, count, 1);
    th_dealloc(memory, nodes->clearance, count, 1);
    th_dealloc(memory, nodes->zone, count, sizeof *nodes->zone);
    th_dealloc(memory, nodes->portals, (size_t)nodes->portal_capacity, sizeof *nodes->portals);
    memset(nodes, 0, sizeof *nodes);
}

// ---- the walls of now

bool th_graph_create(th_graph *graph, const th_nodes *nodes, const th_memory *memory) {
    *graph = (th_graph){.nodes = nodes};
    graph->links = th_alloc(memory, (size_t)nodes->count, 1);
    graph->portals = th_alloc(memory, (size_t)nodes->portal_count, sizeof *graph->portals);
    if (graph->links && graph->portals) return true;
    th_graph_destroy(graph, memory);
    return false;
}

void th_graph_destroy(th_graph *graph, const th_memory *memory) {
    if (!graph->nodes) return;
    th_dealloc(memory, graph->links, (size_t)graph->nodes->count, 1);
    th_dealloc(memory, graph->portals, (size_t)graph->nodes->portal_count, sizeof *graph->portals);
    memset(graph, 0, sizeof *graph);
}

static void update_portals(th_graph *graph, const th_walls *walls) {
    const th_nodes *nodes = graph->nodes;
    for (int i = 0; i < nodes->portal_count; ++i) {
        const th_portal *all = &nodes->portals[i];
        int level = th_node_level_of(nodes, all->node);
        th_vec2 p = th_node_position(nodes, &nodes->levels[level], all->node);
        graph->portals[i] = *all;
        for (int k = 0; k < 8; ++k) {
            if (all->to[k] < 0) continue;
            int other = th_node_level_of(nodes, all->to[k]);
            th_vec2 q = th_node_position(nodes, &nodes->levels[other], all->to[k]);
            if (!th_in_sight(nodes->scene, walls, level, p, other, q)) graph->portals[i].to[k] = -1;
        }
    }
}

void th_graph_update(th_graph *graph, const th_walls *walls) {
    const th_nodes *nodes = graph->nodes;
    memcpy(graph->links, nodes->links, (size_t)nodes->count);
    for (int w = 0; w < walls->count; ++w) {
        const th_wall *wall = &walls->walls[w];
        if ((w < walls->scene_count && wall->door < 0) || !th_wall_stands(walls, wall)) continue;
        cut_links(nodes, &nodes->levels[wall->level], wall->a, wall->b, graph->links);
    }
    for (int b = 0; b < walls->body_count; ++b)
        for (int k = 0; walls->bodies[b].parked && k < walls->bodies[b].corner_count; ++k) {
            const th_wall *edge = &walls->walls[walls->bodies[b].first_edge + k];
            cut_links(nodes, &nodes->levels[edge->level], edge->a, edge->b, graph->links);
        }
    update_portals(graph, walls);
}
