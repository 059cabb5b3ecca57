// The road map: edges, table, cells, and queries.
// Making it costs O(n^2) sight tests at most and n searches over its edges; a query looks at
// TH_ROAD_NEAR nodes on either side and tests a handful of sight lines. Speed zones do not bend road
// map ways. SPDX-License-Identifier: Apache-2.0
#include "plan/roadmap/roadmap.h"
#include "core/parallel.h"
#include "plan/plan.h"
#include <string.h>

static const float CELL = 1.0f; // [m]
enum { CELLS_MAX = 250000, TRIED_MAX = 48, NEAREST_EDGES = 12, SECTORS = 16 };
#define WORK_MAX INT64_C(100000000)    // [nodes and walls looked at] to fill the cells: a second
static const float SECTOR_FROM = 4.0f; // [m] long edges, one per sector, keep long ways straight

// ---- nearest first

typedef struct th_near_nodes {
    int node[TRIED_MAX];
    float distance2[TRIED_MAX];
    int count;
} th_near_nodes;

static void near_nodes_add(th_near_nodes *near, int node, float distance2) {
    if (near->count == TRIED_MAX && distance2 >= near->distance2[TRIED_MAX - 1]) return;
    int at = near->count < TRIED_MAX ? near->count++ : TRIED_MAX - 1;
    for (; at > 0 && near->distance2[at - 1] > distance2; --at) {
        near->node[at] = near->node[at - 1];
        near->distance2[at] = near->distance2[at - 1];
    }
    near->node[at] = node;
    near->distance2[at] = distance2;
}

static bool linked_levels(const th_scene *scene, int a, int b) {
    if (a == b) return true;
    for (int i = 0; i < scene->link_count; ++i) {
        const int *level = scene->links[i].level;
        if ((level[0] == a && level[1] == b) || (level[0] == b && level[1] == a)) return true;
    }
    return false;
}

static th_near_nodes nodes_around(const th_roadmap *roadmap, int level, th_vec2 p, int but) {
    th_near_nodes near = {.count = 0};
    for (int i = 0; i < roadmap->count; ++i) {
        const th_road_node *node = &roadmap->nodes[i];
        if (i == but || !linked_levels(roadmap->lattice->scene, level, node->level)) continue;
        near_nodes_add(&near, i, th_length2(th_sub(node->position, p)));
    }
    return near;
}

// ---- edges

static void add_edge(th_roadmap *roadmap, int from, int to) {
    th_road_node *node = &roadmap->nodes[from];
    for (int e = 0; e < node->edge_count; ++e)
        if (node->to[e] == to) return;
    if (node->edge_count >= TH_ROAD_EDGES) return;
    node->length[node->edge_count] = th_length(th_sub(roadmap->nodes[to].position, node->position));
    node->to[node->edge_count++] = to;
}

static bool nodes_in_sight(const th_roadmap *roadmap, const th_walls *walls, int a, int b) {
    const th_road_node *from = &roadmap->nodes[a], *to = &roadmap->nodes[b];
    return th_in_sight(roadmap->lattice->scene, walls, from->level, from->position, to->level,
                       to->position);
}

// One of 16 directions, without trigonometry: octants by signs and the larger coordinate, then halves.
static int sector_of(th_vec2 v) {
    float x = fabsf(v.x), y = fabsf(v.y);
    int half = y > 2.414f * x || (y <= x && y > 0.414f * x);
    return (v.x < 0.0f) | (v.y < 0.0f) << 1 | (y > x) << 2 | half << 3;
}

static void connect_nearest(th_roadmap *roadmap, const th_walls *walls, int node) {
    th_near_nodes near =
        nodes_around(roadmap, roadmap->nodes[node].level, roadmap->nodes[node].position, node);
    int found = 0;
    for (int i = 0; i < near.count && found < NEAREST_EDGES; ++i) {
        if (!nodes_in_sight(roadmap, walls, node, near.node[i])) continue;
        add_edge(roadmap, node, near.node[i]);
        add_edge(roadmap, near.node[i], node);
        ++found;
    }
}

static void connect_sectors(th_roadmap *roadmap, const th_walls *walls, int node) {
    th_vec2 p = roadmap->nodes[node].position;
    int best[SECTORS], tries[SECTORS] = {0};
    float nearest[SECTORS];
    for (int pass = 0; pass < 3; ++pass) { // the three nearest of a sector get a try
        for (int s = 0; s < SECTORS; ++s) {
            best[s] = -1;
            nearest[s] = tries[s] < 0 ? -1.0f : 1e30f;
        }
        static const float grow[3] = {1.0f, 1.5f, 2.5f};
        float from = SECTOR_FROM * grow[pass];
        for (int i = 0; i < roadmap->count; ++i) {
            const th_road_node *other = &roadmap->nodes[i];
            th_vec2 to = th_sub(other->position, p);
            float distance2 = th_length2(to);
            int s = sector_of(to);
            if (i == node || distance2 < from * from || distance2 >= nearest[s]) continue;
            if (other->level != roadmap->nodes[node].level) continue;
            nearest[s] = distance2;
            best[s] = i;
        }
        for (int s = 0; s < SECTORS; ++s) {
            if (best[s] < 0 || !nodes_in_sight(roadmap, walls, node, best[s])) continue;
            add_edge(roadmap, node, best[s]);
            tries[s] = -1;
        }
    }
}

// ---- table

static void search_from(th_roadmap *roadmap, int source, th_front *front) {
    float *row = roadmap->table + (size_t)source * (size_t)roadmap->count;
    for (int i = 0; i < roadmap->count; ++i) {
        row[i] = TH_UNREACHABLE;
        front->place[i] = 0;
    }
    front->count = 0;
    th_front_offer(front, row, source, 0.0f);
    while (front->count > 0) {
        int at = th_front_take(front);
        const th_road_node *node = &roadmap->nodes[at];
        for (int e = 0; e < node->edge_count; ++e)
            if (node->length[e] < TH_UNREACHABLE)
                th_front_offer(front, row, node->to[e], row[at] + node->length[e]);
    }
}

bool th_roadmap_measure(th_roadmap *roadmap, const th_walls *walls, int i) {
    th_road_node *node = &roadmap->nodes[i];
    bool changed = false;
    for (int e = 0; e < node->edge_count; ++e) {
        th_vec2 to = roadmap->nodes[node->to[e]].position;
        bool free_way = nodes_in_sight(roadmap, walls, i, node->to[e]);
        float length = free_way ? th_length(th_sub(to, node->position)) : TH_UNREACHABLE;
        changed = changed || length != node->length[e];
        node->length[e] = length;
    }
    return changed;
}

void th_roadmap_search(th_roadmap *roadmap, int i) { search_from(roadmap, i, &roadmap->fronts[0]); }

void th_roadmap_update(th_roadmap *roadmap, const th_walls *walls) {
#pragma omp parallel num_threads(roadmap->front_count)
    {
#pragma omp for schedule(static)
        for (int i = 0; i < roadmap->count; ++i) th_roadmap_measure(roadmap, walls, i);
#pragma omp for schedule(static)
        for (int i = 0; i < roadmap->count; ++i)
            search_from(roadmap, i, &roadmap->fronts[omp_get_thread_num()]);
    }
}

// ---- cells

// Cells of this size on all levels.
static void lay_cells(th_roadmap *roadmap) {
    const th_nodes *lattice = roadmap->lattice;
    roadmap->cell_count = 0;
    roadmap->inverse_cell = 1.0f / roadmap->cell;
    for (int l = 0; l < lattice->scene->level_count; ++l) {
        const th_node_level *grid = &lattice->levels[l];
        th_road_level *level = &roadmap->levels[l];
        level->origin = grid->origin;
        level->nx = (int)((float)grid->nx * lattice->spacing * roadmap->inverse_cell) + 1;
        level->ny = (int)((float)grid->ny * lattice->spacing * roadmap->inverse_cell) + 1;
        level->first = roadmap->cell_count;
        roadmap->cell_count += level->nx * level->ny;
    }
}

static th_vec2 cell_place(const th_roadmap *roadmap, const th_road_level *grid, int column, int row,
                          float s, float t) {
    return th_v(grid->origin.x + ((float)column + s) * roadmap->cell,
                grid->origin.y + ((float)row + t) * roadmap->cell);
}

// Walls that a look along a metre meets, on average over the level's ground.
static float walls_along_metre(const th_walls *walls, int level) {
    const th_wall_grid *grid = &walls->grids[level];
    float cells = (float)(grid->nx * grid->ny);
    return cells > 0.0f ? (float)grid->start[grid->nx * grid->ny] / (cells * grid->reach) : 0.0f;
}

// A cell may lie on both sides of a wall, so the list alternates between four places in it. Returns the cost [nodes and
// walls tested].
static int64_t fill_cell(const th_roadmap *roadmap, const th_walls *walls, int level, int column,
                         int row, th_road_cell *cell) {
    const th_scene *scene = roadmap->lattice->scene;
    const th_road_level *grid = &roadmap->levels[level];
    float crowded = walls_along_metre(walls, level), cost = 0.0f;
    for (int k = 0; k < TH_ROAD_NEAR; ++k) cell->near[k] = -1;
    th_near_nodes near = {.count = -1}; // looked for once there is ground in the cell
    int filled = 0;
    for (int quarter = 0; quarter < 4; ++quarter) {
        th_vec2 p = cell_place(roadmap, grid, column, row, quarter & 1 ? 0.75f : 0.25f,
                               quarter & 2 ? 0.75f : 0.25f);
        if (!th_scene_walkable(scene, level, p)) continue;
        if (near.count < 0) {
            near = nodes_around(roadmap, level, cell_place(roadmap, grid, column, row, 0.5f, 0.5f),
                                -1);
            cost += (float)roadmap->count;
        }
        int left_for_others = 3 - quarter, limit = TH_ROAD_NEAR - left_for_others;
        if (limit > filled + 5) limit = filled + 5;
        for (int i = 0; i < near.count && filled < limit; ++i) {
            bool present = false;
            for (int k = 0; k < filled; ++k) present |= cell->near[k] == near.node[i];
            if (present) continue;
            const th_road_node *node = &roadmap->nodes[near.node[i]];
            cost += 8.0f + crowded * sqrtf(near.distance2[i]);
            if (th_in_sight(scene, walls, level, p, node->level, node->position))
                cell->near[filled++] = near.node[i];
        }
    }
    return (int64_t)cost;
}

// Estimates the cost of filling all cells from one cell in SAMPLED.
static int64_t cost_of_cells(const th_roadmap *roadmap, const th_walls *walls) {
    enum { SAMPLED = 101 };
    int64_t cost = 0;
    for (int l = 0; l < roadmap->lattice->scene->level_count; ++l) {
        const th_road_level *grid = &roadmap->levels[l];
        th_road_cell cell;
        for (int c = SAMPLED / 2; c < grid->nx * grid->ny; c += SAMPLED)
            cost += SAMPLED * fill_cell(roadmap, walls, l, c % grid->nx, c / grid->nx, &cell);
    }
    return cost;
}

// As small as number and work allow.
static void size_cells(th_roadmap *roadmap, const th_walls *walls) {
    for (roadmap->cell = CELL;; roadmap->cell *= 1.5f) {
        lay_cells(roadmap);
        if (roadmap->cell_count > CELLS_MAX) continue;
        if (cost_of_cells(roadmap, walls) <= WORK_MAX) return;
    }
}

static void fill_cells(th_roadmap *roadmap, const th_walls *walls) {
    for (int l = 0; l < roadmap->lattice->scene->level_count; ++l) {
        const th_road_level *grid = &roadmap->levels[l];
#pragma omp parallel for num_threads(roadmap->front_count) schedule(dynamic, 4)
        for (int row = 0; row < grid->ny; ++row)
            for (int column = 0; column < grid->nx; ++column)
                fill_cell(roadmap, walls, l, column, row,
                          &roadmap->cells[grid->first + row * grid->nx + column]);
    }
}

// ---- making and copying

static bool allocate(th_roadmap *roadmap, int level_count) {
    const th_memory *memory = &roadmap->memory;
    size_t count = (size_t)roadmap->count;
    roadmap->table = th_alloc(memory, count * count, sizeof *roadmap->table);
    roadmap->cells = th_alloc(memory, (size_t)roadmap->cell_count, sizeof *roadmap->cells);
    bool done = roadmap->table && roadmap->cells && level_count > 0;
    int workers = omp_get_max_threads() < TH_ROAD_FRONTS ? omp_get_max_threads() : TH_ROAD_FRONTS;
    while (done && roadmap->front_count < workers) {
        done = th_front_create(&roadmap->fronts[roadmap->front_count], roadmap->count, memory);
        if (done) ++roadmap->front_count;
    }
    return done;
}

static th_roadmap *blank(const th_nodes *lattice, const th_memory *memory) {
    th_roadmap *roadmap = th_alloc(memory, 1, sizeof *roadmap);
    if (!roadmap) return NULL;
    roadmap->memory = *memory;
    roadmap->lattice = lattice;
    roadmap->nodes = th_alloc(memory, TH_ROAD_NODES, sizeof *roadmap->nodes);
    roadmap->levels =
        th_alloc(memory, (size_t)lattice->scene->level_count, sizeof *roadmap->levels);
    if (roadmap->nodes && roadmap->levels) return roadmap;
    th_roadmap_destroy(roadmap);
    return NULL;
}

th_roadmap *th_roadmap_create(const th_nodes *lattice, const th_walls *walls,
                              const th_memory *memory) {
    const th_scene *scene = lattice->scene;
    th_roadmap *roadmap = blank(lattice, memory);
    uint8_t *all_open = th_alloc(memory, (size_t)scene->door_count, 1);
    th_walls open_walls = th_walls_of(scene, all_open);
    bool done = roadmap && all_open && th_roadmap_place(roadmap, &open_walls);
    if (done) size_cells(roadmap, &open_walls);
    done = done && allocate(roadmap, scene->level_count);
    if (done) {
        for (int i = 0; i < roadmap->count; ++i) connect_nearest(roadmap, &open_walls, i);
        for (int i = 0; i < roadmap->count; ++i) connect_sectors(roadmap, &open_walls, i);
        fill_cells(roadmap, &open_walls);
        th_roadmap_update(roadmap, walls);
    }
    th_dealloc(memory, all_open, (size_t)scene->door_count, 1);
    if (done) return roadmap;
    th_roadmap_destroy(roadmap);
    return NULL;
}

th_roadmap *th_roadmap_copy(const th_roadmap *from, const th_memory *memory) {
    th_roadmap *roadmap = blank(from->lattice, memory);
    if (!roadmap) return NULL;
    int levels = from->lattice->scene->level_count;
    roadmap->count = from->count;
    roadmap->cell = from->cell;
    roadmap->inverse_cell = from->inverse_cell;
    roadmap->cell_count = from->cell_count;
    if (!allocate(roadmap, levels)) {
        th_roadmap_destroy(roadmap);
        return NULL;
    }
    size_t count = (size_t)from->count;
    memcpy(roadmap->nodes, from->nodes, count * sizeof *from->nodes);
    memcpy(roadmap->levels, from->levels, (size_t)levels * sizeof *from->levels);
    memcpy(roadmap->cells, from->cells, (size_t)from->cell_count * sizeof *from->cells);
    memcpy(roadmap->table, from->table, count * count * sizeof *from->table);
    return roadmap;
}

void th_roadmap_destroy(th_roadmap *roadmap) {
    if (!roadmap) return;
    th_memory memory = roadmap->memory;
    size_t count = (size_t)roadmap->count;
    for (int i = 0; i < roadmap->front_count; ++i)
        th_front_destroy(&roadmap->fronts[i], roadmap->count, &memory);
    th_dealloc(&memory, roadmap->nodes, TH_ROAD_NODES, sizeof *roadmap->nodes);
    th_dealloc(&memory, roadmap->levels, (size_t)roadmap->lattice->scene->level_count,
               sizeof *roadmap->levels);
    th_dealloc(&memory, roadmap->table, count * count, sizeof *roadmap->table);
    th_dealloc(&memory, roadmap->cells, (size_t)roadmap->cell_count, sizeof *roadmap->cells);
    th_dealloc(&memory, roadmap, 1, sizeof *roadmap);
}

// People with a route follow its distance fields, as with the plan "field".
const th_model th_plan_roadmap_model = {
    .cookie = TH_MODEL_COOKIE,
    .stage = TH_STAGE_PLAN,
    .name = "roadmap",
    .doc = "over a shared road map, for people with goals of their own",
    .source = "Kavraki et al. 1996",
    .run = th_plan_people,
    .reach = th_reads_none,
    .needs_lattice = true,
    .own_goals = true,
};

// ---- nodes

// Where the road map's nodes stand: off convex corners (shortest ways bend only there), on both sides
// of doors and level links, and wherever the lattice knows a way that those do not connect.

static const float CLEARANCE = 0.35f; // [m] off a corner: a body radius and some room
static const float SEPARATION = 0.3f; // [m] nearer nodes say the same twice; grows until all fit
static const float FLAT = 0.17f;      // sine of a bend (10 degrees) too slight to need a node

typedef struct th_placing {
    th_roadmap *roadmap;
    const th_scene *scene;
    const th_walls *walls; // doors open
    float separation;
    bool full;
} th_placing;

static int add_node(th_placing *placing, int level, th_vec2 p, float separation) {
    th_roadmap *roadmap = placing->roadmap;
    for (int i = 0; i < roadmap->count; ++i)
        if (roadmap->nodes[i].level == level &&
            th_length2(th_sub(roadmap->nodes[i].position, p)) < separation * separation)
            return i;
    if (roadmap->count >= TH_ROAD_NODES) {
        placing->full = true;
        return -1;
    }
    roadmap->nodes[roadmap->count] = (th_road_node){.position = p, .level = level};
    return roadmap->count++;
}

// As far off `from` in `direction` as there is room, up to the clearance.
static void add_off(th_placing *placing, int level, th_vec2 from, th_vec2 direction) {
    for (float off = CLEARANCE; off > 0.08f; off *= 0.6f) {
        th_vec2 p = th_add(from, th_scale(off, direction));
        th_vec2 start = th_add(from, th_scale(0.01f, direction));
        if (!th_scene_walkable(placing->scene, level, p)) continue;
        if (th_walls_first_crossing(placing->walls, level, start, p, NULL) >= 0) continue;
        // Room on the other side: in a gap narrower than twice the clearance, stand in its middle.
        th_vec2 beyond = th_add(p, th_scale(0.6f * off, direction));
        if (off > 0.1f && th_walls_first_crossing(placing->walls, level, p, beyond, NULL) >= 0)
            continue;
        add_node(placing, level, p, placing->separation);
        return;
    }
}

static void add_corners(th_placing *placing) {
    const th_scene *scene = placing->scene;
    for (int w = 0; w < scene->wall_count; ++w) {
        const th_wall *wall = &scene->walls[w], *before = &scene->walls[wall->prev];
        if (!wall->a_convex || wall->door >= 0 || wall->length <= 0.0f) continue;
        float turn = th_det(before->direction, wall->direction);
        bool tip = th_dot(before->direction, wall->direction) < -0.9f;
        if (turn < FLAT && !tip) continue;
        th_vec2 outward = th_add(th_perp_right(before->direction), th_perp_right(wall->direction));
        if (th_length2(outward) < 0.01f) outward = th_sub(before->direction, wall->direction);
        add_off(placing, wall->level, wall->a, th_unit(outward));
    }
}

static void add_openings(th_placing *placing) {
    const th_scene *scene = placing->scene;
    for (int d = 0; d < scene->door_count; ++d) {
        const th_line *line = &scene->doors[d].line;
        th_vec2 middle = th_scale(0.5f, th_add(line->a, line->b));
        th_vec2 normal = th_unit(th_perp_left(th_sub(line->b, line->a)));
        add_off(placing, line->level, middle, normal);
        add_off(placing, line->level, middle, th_scale(-1.0f, normal));
    }
    for (int i = 0; i < scene->link_count; ++i) {
        const th_link *link = &scene->links[i];
        th_vec2 middle = th_scale(0.5f, th_add(link->a, link->b));
        add_off(placing, link->level[0], middle, th_scale(-1.0f, link->up));
        add_off(placing, link->level[1], middle, link->up);
    }
}

// ---- what the lattice knows

// Grows regions around the nodes over the lattice: owner of each lattice node and the way back.
typedef struct th_regions {
    int *owner, *back, *queue; // owner -1: none yet; back -1: a root
    int head, tail;
} th_regions;

static int lattice_node_near(const th_placing *placing, int level, th_vec2 p) {
    const th_nodes *lattice = placing->roadmap->lattice;
    const th_node_level *grid = &lattice->levels[level];
    int column = (int)((p.x - grid->origin.x) * lattice->inverse_spacing);
    int row = (int)((p.y - grid->origin.y) * lattice->inverse_spacing);
    int best = -1;
    float nearest = 1e30f;
    for (int r = row - 1; r <= row + 2; ++r)
        for (int c = column - 1; c <= column + 2; ++c) {
            if (r < 0 || c < 0 || r >= grid->ny || c >= grid->nx) continue;
            int node = grid->first + r * grid->nx + c;
            th_vec2 q = th_node_position(lattice, grid, node);
            float distance = th_length2(th_sub(q, p));
            if (distance >= nearest || !lattice->links[node]) continue;
            if (!th_in_sight(placing->scene, placing->walls, level, p, level, q)) continue;
            nearest = distance;
            best = node;
        }
    return best;
}

static void root(th_regions *regions, int node, int owner) {
    if (node < 0 || regions->owner[node] >= 0) return;
    regions->owner[node] = owner;
    regions->back[node] = -1;
    regions->queue[regions->tail++] = node;
}

static void grow(const th_graph *graph, th_regions *regions) {
    const th_nodes *lattice = graph->nodes;
    while (regions->head < regions->tail) {
        int node = regions->queue[regions->head++];
        int nx = lattice->levels[th_node_level_of(lattice, node)].nx;
        for (int k = 0; k < 8; ++k) {
            int other = th_neighbour(graph, node, k, nx);
            if (other < 0 || regions->owner[other] >= 0) continue;
            regions->owner[other] = regions->owner[node];
            regions->back[other] = node;
            regions->queue[regions->tail++] = other;
        }
    }
}

static int find_set(int *set, int i) {
    while (set[i] != i) i = set[i] = set[set[i]];
    return i;
}

static void join(th_placing *placing, int a, int b, int *set) {
    th_road_node *nodes = placing->roadmap->nodes;
    set[find_set(set, a)] = find_set(set, b);
    int ends[2] = {a, b};
    for (int i = 0; i < 2; ++i) {
        th_road_node *node = &nodes[ends[i]];
        int other = ends[1 - i];
        bool present = node->edge_count >= TH_ROAD_EDGES;
        for (int e = 0; e < node->edge_count; ++e) present |= node->to[e] == other;
        if (present) continue;
        node->length[node->edge_count] = th_length(th_sub(nodes[other].position, node->position));
        node->to[node->edge_count++] = other;
    }
}

// Nodes along the lattice way from `lattice_node` back to its region's root, as few as see each other,
// joined to one another and to the owner. Returns the node at its start, -1 when full.
static int pave(th_placing *placing, const th_regions *regions, int lattice_node, int *set) {
    const th_nodes *lattice = placing->roadmap->lattice;
    th_roadmap *roadmap = placing->roadmap;
    int first = -1, last = -1, owner = regions->owner[lattice_node];
    for (int at = lattice_node; at >= 0;) {
        int level = th_node_level_of(lattice, at);
        th_vec2 p = th_node_position(lattice, &lattice->levels[level], at);
        int node = add_node(placing, level, p, 0.0f);
        if (node < 0) return -1;
        if (node == roadmap->count - 1) set[node] = node;
        if (first < 0) first = node;
        if (last >= 0) join(placing, last, node, set);
        last = node;
        if (regions->back[at] < 0) break;
        int next = regions->back[at]; // always in sight: a link
        for (int ahead = regions->back[next]; ahead >= 0; ahead = regions->back[ahead]) {
            int ahead_level = th_node_level_of(lattice, ahead);
            th_vec2 q = th_node_position(lattice, &lattice->levels[ahead_level], ahead);
            if (!th_in_sight(placing->scene, placing->walls, level, p, ahead_level, q)) break;
            next = ahead;
        }
        at = next;
    }
    join(placing, last, owner, set); // the root is a lattice node that the owner sees
    return first;
}

// Joins the sets of nodes that see near neighbours.
static void connect_by_sight(th_placing *placing, int *set) {
    th_roadmap *roadmap = placing->roadmap;
    for (int i = 0; i < roadmap->count; ++i) set[i] = i;
    for (int i = 0; i < roadmap->count; ++i)
        for (int j = 0; j < i; ++j) {
            const th_road_node *a = &roadmap->nodes[i], *b = &roadmap->nodes[j];
            if (th_length2(th_sub(a->position, b->position)) > 15.0f * 15.0f) continue;
            if (find_set(set, i) == find_set(set, j)) continue;
            if (th_in_sight(placing->scene, placing->walls, a->level, a->position, b->level,
                            b->position))
                join(placing, i, j, set);
        }
}

static void bridge_regions(th_placing *placing, const th_graph *graph, const th_regions *regions,
                           int *set) {
    const th_nodes *lattice = graph->nodes;
    for (int i = 0; i < regions->tail; ++i) {
        int node = regions->queue[i], nx = lattice->levels[th_node_level_of(lattice, node)].nx;
        for (int k = 0; k < 8; ++k) {
            int other = th_neighbour(graph, node, k, nx);
            if (other < 0 || regions->owner[other] == regions->owner[node]) continue;
            if (find_set(set, regions->owner[node]) == find_set(set, regions->owner[other]))
                continue;
            int a = pave(placing, regions, node, set), b = pave(placing, regions, other, set);
            if (a < 0 || b < 0) return;
            join(placing, a, b, set);
        }
    }
}

static void cover_lattice(th_placing *placing, th_regions *regions, int *set) {
    th_roadmap *roadmap = placing->roadmap;
    const th_nodes *lattice = roadmap->lattice;
    th_graph graph = {lattice, lattice->links, lattice->portals, NULL, NULL};
    connect_by_sight(placing, set);
    for (int i = 0; i < lattice->count; ++i) regions->owner[i] = -1;
    for (int i = 0; i < roadmap->count; ++i) {
        const th_road_node *node = &roadmap->nodes[i];
        root(regions, lattice_node_near(placing, node->level, node->position), i);
    }
    grow(&graph, regions);
    for (int i = 0; i < lattice->count; ++i) { // rooms without a corner to stand at
        if (regions->owner[i] >= 0 || !lattice->links[i]) continue;
        int level = th_node_level_of(lattice, i);
        int node =
            add_node(placing, level, th_node_position(lattice, &lattice->levels[level], i), 0.0f);
        if (node < 0) return;
        set[node] = node;
        root(regions, i, node);
        grow(&graph, regions);
    }
    bridge_regions(placing, &graph, regions, set);
}

bool th_roadmap_place(th_roadmap *roadmap, const th_walls *open_walls) {
    const th_memory *memory = &roadmap->memory;
    size_t count = (size_t)roadmap->lattice->count;
    th_regions regions = {.owner = th_alloc(memory, count, sizeof(int)),
                          .back = th_alloc(memory, count, sizeof(int)),
                          .queue = th_alloc(memory, count, sizeof(int))};
    int *set = th_alloc(memory, TH_ROAD_NODES, sizeof *set);
    bool done = regions.owner && regions.back && regions.queue && set;
    th_placing placing = {roadmap, roadmap->lattice->scene, open_walls, SEPARATION, false};
    // Three quarters of the room for corners, the rest for what connects them.
    for (; done; placing.separation *= 1.5f) {
        roadmap->count = 0;
        placing.full = false;
        add_openings(&placing);
        add_corners(&placing);
        if (!placing.full && roadmap->count <= TH_ROAD_NODES * 3 / 4) break;
    }
    if (done) cover_lattice(&placing, &regions, set);
    th_dealloc(memory, regions.owner, count, sizeof(int));
    th_dealloc(memory, regions.back, count, sizeof(int));
    th_dealloc(memory, regions.queue, count, sizeof(int));
    th_dealloc(memory, set, TH_ROAD_NODES, sizeof *set);
    return done;
}
