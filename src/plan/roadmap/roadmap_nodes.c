// Where the road map's nodes stand: off convex corners (shortest ways bend only there), on both sides
// of doors and level links, and wherever the lattice knows a way that those do not connect.
// SPDX-License-Identifier: Apache-2.0
#include "plan/roadmap/roadmap.h"

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

// Which nodes are connected already, by sight to near neighbours.
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
