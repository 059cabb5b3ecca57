// The road map: edges, table, cells, and the question people ask of it.
// Making it costs O(n^2) sight tests at most and n searches over its edges; a query looks at
// TH_ROAD_NEAR nodes on either side and tests a handful of sight lines. Speed zones do not bend road
// map ways. SPDX-License-Identifier: Apache-2.0
#include "plan/roadmap/roadmap.h"
#include "core/parallel.h"
#include "plan/plan.h"
#include <string.h>

static const float CELL = 1.0f; // [m]
enum { CELLS_MAX = 1000000, TRIED_MAX = 48, NEAREST_EDGES = 12, SECTORS = 16 };
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

void th_roadmap_update(th_roadmap *roadmap, const th_walls *walls) {
#pragma omp parallel num_threads(roadmap->front_count)
    {
#pragma omp for schedule(static)
        for (int i = 0; i < roadmap->count; ++i) {
            th_road_node *node = &roadmap->nodes[i];
            for (int e = 0; e < node->edge_count; ++e) {
                th_vec2 to = roadmap->nodes[node->to[e]].position;
                bool free_way = nodes_in_sight(roadmap, walls, i, node->to[e]);
                node->length[e] = free_way ? th_length(th_sub(to, node->position)) : TH_UNREACHABLE;
            }
        }
#pragma omp for schedule(static)
        for (int i = 0; i < roadmap->count; ++i)
            search_from(roadmap, i, &roadmap->fronts[omp_get_thread_num()]);
    }
}

// ---- cells

static void size_cells(th_roadmap *roadmap) {
    const th_nodes *lattice = roadmap->lattice;
    int levels = lattice->scene->level_count;
    for (roadmap->cell = CELL;; roadmap->cell *= 1.5f) {
        roadmap->cell_count = 0;
        roadmap->inverse_cell = 1.0f / roadmap->cell;
        for (int l = 0; l < levels; ++l) {
            const th_node_level *grid = &lattice->levels[l];
            th_road_level *level = &roadmap->levels[l];
            level->origin = grid->origin;
            level->nx = (int)((float)grid->nx * lattice->spacing * roadmap->inverse_cell) + 1;
            level->ny = (int)((float)grid->ny * lattice->spacing * roadmap->inverse_cell) + 1;
            level->first = roadmap->cell_count;
            roadmap->cell_count += level->nx * level->ny;
        }
        if (roadmap->cell_count <= CELLS_MAX) return;
    }
}

static th_vec2 cell_place(const th_roadmap *roadmap, const th_road_level *grid, int column, int row,
                          float s, float t) {
    return th_v(grid->origin.x + ((float)column + s) * roadmap->cell,
                grid->origin.y + ((float)row + t) * roadmap->cell);
}

// A cell may lie on both sides of a wall, so the list takes turns between four places in it.
static void fill_cell(th_roadmap *roadmap, const th_walls *walls, int level, int column, int row) {
    const th_scene *scene = roadmap->lattice->scene;
    const th_road_level *grid = &roadmap->levels[level];
    th_road_cell *cell = &roadmap->cells[grid->first + row * grid->nx + column];
    for (int k = 0; k < TH_ROAD_NEAR; ++k) cell->near[k] = -1;
    th_near_nodes near = {.count = -1}; // looked for once there is ground in the cell
    int filled = 0;
    for (int quarter = 0; quarter < 4; ++quarter) {
        th_vec2 p = cell_place(roadmap, grid, column, row, quarter & 1 ? 0.75f : 0.25f,
                               quarter & 2 ? 0.75f : 0.25f);
        if (!th_scene_walkable(scene, level, p)) continue;
        if (near.count < 0)
            near = nodes_around(roadmap, level, cell_place(roadmap, grid, column, row, 0.5f, 0.5f),
                                -1);
        int left_for_others = 3 - quarter, limit = TH_ROAD_NEAR - left_for_others;
        if (limit > filled + 5) limit = filled + 5;
        for (int i = 0; i < near.count && filled < limit; ++i) {
            bool present = false;
            for (int k = 0; k < filled; ++k) present |= cell->near[k] == near.node[i];
            const th_road_node *node = &roadmap->nodes[near.node[i]];
            if (present || !th_in_sight(scene, walls, level, p, node->level, node->position))
                continue;
            cell->near[filled++] = near.node[i];
        }
    }
}

static void fill_cells(th_roadmap *roadmap, const th_walls *walls) {
    for (int l = 0; l < roadmap->lattice->scene->level_count; ++l) {
#pragma omp parallel for num_threads(roadmap->front_count) schedule(dynamic, 4)
        for (int row = 0; row < roadmap->levels[l].ny; ++row)
            for (int column = 0; column < roadmap->levels[l].nx; ++column)
                fill_cell(roadmap, walls, l, column, row);
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
    if (done) size_cells(roadmap);
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
    .doc = "over a shared road map, for people who each have a goal of their own",
    .source = "Kavraki et al. 1996",
    .run = th_plan_people,
    .needs_lattice = true,
    .own_goals = true,
};
