// Fields that follow changed walls over several steps, so that no step takes much longer than the others. The graphs are of
// the new walls at once; a field stays in force until its successor is complete. The progress depends on the number of
// steps alone, and snapshots hold work under way, so results do not depend on when one was taken.
// SPDX-License-Identifier: Apache-2.0
#include "plan/plan.h"
#include "plan/prepared.h"
#include <string.h>

// Work, in that of fields: looking along an edge of the road map, taking up one in a search.
enum { LOOK = 4, PASS = 1, EDGES_USUAL = 16 };

bool th_replan_create(struct th_plan_world *plan, const th_scene *scene, const th_memory *memory) {
    th_replan *r = &plan->replan;
    r->field_count = scene->size_count * scene->target_count;
    r->keep = th_alloc(memory, (size_t)r->field_count + 1, sizeof *r->keep);
    if (r->state.steps > 0)
        r->fresh = th_alloc(memory, (size_t)scene->plan->nodes.count, sizeof *r->fresh);
    return r->keep && (r->state.steps == 0 || r->fresh);
}

void th_replan_destroy(struct th_plan_world *plan, const th_scene *scene, const th_memory *memory) {
    th_replan *r = &plan->replan;
    th_dealloc(memory, r->keep, (size_t)r->field_count + 1, sizeof *r->keep);
    th_dealloc(memory, r->fresh, (size_t)scene->plan->nodes.count, sizeof *r->fresh);
    r->keep = r->fresh = NULL;
}

static float **field_of(const struct th_plan_world *plan, const th_scene *scene, int field) {
    int targets = scene->target_count;
    return &plan->plans[field / targets].fields[field % targets];
}

// Once for every edge to look along it, once for every row of the table.
static int64_t row_work(const th_roadmap *map) { return (int64_t)map->count * EDGES_USUAL * PASS; }
static int64_t road_work(const th_roadmap *map) {
    int64_t work = 0;
    for (int i = 0; map && i < map->count; ++i)
        work += map->nodes[i].edge_count * LOOK + row_work(map);
    return work;
}

void th_replan_begin(th_world *world) {
    struct th_plan_world *plan = world->plan;
    const th_scene *scene = world->scene;
    th_replan *r = &plan->replan;
    if (r->state.running) {
        r->state.again = 1;
        return;
    }
    th_walls walls = th_world_walls(world);
    for (int size = 0; size < scene->size_count; ++size) {
        th_walls sized = th_walls_for(scene, walls, size);
        th_plan_renew_graph(plan, scene, &sized, size, r->keep + size * scene->target_count);
    }
    int64_t most = road_work(plan->plans[0].roadmap);
    for (int k = 0; k < r->field_count; ++k)
        if (r->keep[k] < TH_UNREACHABLE) most += th_field_most_work(&plan->plans[0].graph);
    r->state = (th_replan_state){
        .steps = r->state.steps, .running = 1, .share = most / r->state.steps + 1};
}

// The next field a piece further. False: there is none left.
static bool advance_fields(th_world *world, int64_t *most) {
    struct th_plan_world *plan = world->plan;
    th_replan *r = &plan->replan;
    th_replan_state *s = &r->state;
    while (s->field < r->field_count && !(r->keep[s->field] < TH_UNREACHABLE)) ++s->field;
    if (s->field >= r->field_count) return false;
    int size = s->field / world->scene->target_count,
        target = s->field % world->scene->target_count;
    const th_graph *graph = &plan->plans[size].graph;
    th_walls walls = th_walls_for(world->scene, th_world_walls(world), size);
    float **field = field_of(plan, world->scene, s->field);
    if (!s->begun) s->work = th_field_begin(graph, r->keep[s->field]);
    s->begun = 1;
    if (!th_field_advance(&s->work, graph, &walls, &world->scene->targets[target], &plan->front,
                          *field, r->fresh, most))
        return true;
    float *old = *field;
    *field = r->fresh;
    r->fresh = old;
    s->begun = 0;
    ++s->field;
    return true;
}

// The next node of the road map. False: there is none left.
static bool advance_roads(th_world *world, int64_t *most) {
    th_roadmap *map = world->plan->plans[0].roadmap;
    th_replan_state *s = &world->plan->replan.state;
    th_walls walls = th_world_walls(world);
    int node = s->road;
    if (!map || node >= 2 * map->count || (node >= map->count && !s->road_changed)) return false;
    if (node < map->count) {
        if (th_roadmap_measure(map, &walls, node)) s->road_changed = 1;
        *most -= LOOK * map->nodes[node].edge_count;
    } else {
        th_roadmap_search(map, node - map->count);
        *most -= row_work(map);
    }
    ++s->road;
    return true;
}

void th_plan_follow(th_world *world) {
    struct th_plan_world *plan = world->plan;
    th_replan_state *s = &plan->replan.state;
    if (!s->running) return;
    int64_t most = s->share;
    while (most > 0 && advance_fields(world, &most)) {
    }
    while (most > 0 && s->field >= plan->replan.field_count && advance_roads(world, &most)) {
    }
    s->front_count = s->begun ? plan->front.count : 0;
    if (most <= 0) return;
    s->running = 0;
    if (s->again) th_replan_begin(world);
}

// ---- snapshots: fields, graphs and road map as they are, and the field under way

// Calls visit(pointer, bytes) for every array that is saved; the first is the state.
#define EACH_SAVED(world, s, visit)                                                             \
    do {                                                                                        \
        const struct th_plan_world *plan_ = (world)->plan;                                      \
        const th_nodes *nodes_ = &(world)->scene->plan->nodes;                                  \
        size_t count_ = (size_t)nodes_->count, targets_ = (size_t)(world)->scene->target_count; \
        visit(plan_->replan.keep, (size_t)plan_->replan.field_count * sizeof(float));           \
        for (int size_ = 0; size_ < (world)->scene->size_count; ++size_) {                      \
            const th_plans *plans_ = &plan_->plans[size_];                                      \
            visit(plans_->graph.links, count_);                                                 \
            visit(plans_->graph.portals, (size_t)nodes_->portal_count * sizeof(th_portal));     \
            for (size_t t_ = 0; t_ < targets_; ++t_)                                            \
                if (plans_->fields[t_]) visit(plans_->fields[t_], count_ * sizeof(float));      \
        }                                                                                       \
        const th_roadmap *map_ = plan_->plans[0].roadmap;                                       \
        if (map_) {                                                                             \
            size_t roads_ = (size_t)map_->count;                                                \
            visit(map_->nodes, roads_ * sizeof *map_->nodes);                                   \
            visit(map_->table, roads_ *roads_ * sizeof *map_->table);                           \
        }                                                                                       \
        if ((s)->begun) {                                                                       \
            visit(plan_->replan.fresh, count_ * sizeof(float));                                 \
            visit(plan_->front.place, count_ * sizeof(int));                                    \
            visit(plan_->front.heap, (size_t)(s)->front_count * sizeof(th_front_entry));        \
        }                                                                                       \
    } while (0)

bool th_plan_follows(const th_world *world) {
    return world->plan->own && world->plan->replan.state.steps > 0;
}

static size_t size_with(const th_world *world, const th_replan_state *s) {
    size_t size = sizeof *s;
#define SIZE(data, bytes) size += (bytes)
    EACH_SAVED(world, s, SIZE);
#undef SIZE
    return size;
}

size_t th_plan_saved_size(const th_world *world) {
    return th_plan_follows(world) ? size_with(world, &world->plan->replan.state) : 0;
}

void th_plan_save(const th_world *world, void *memory) {
    if (!th_plan_follows(world)) return;
    const th_replan_state *s = &world->plan->replan.state;
    char *to = memory;
    memcpy(to, s, sizeof *s);
    to += sizeof *s;
#define PUT(data, bytes) memcpy(to, data, bytes), to += (bytes)
    EACH_SAVED(world, s, PUT);
#undef PUT
}

static bool state_is_sound(const th_world *world, const th_replan_state *s) {
    const th_replan *r = &world->plan->replan;
    const th_roadmap *map = world->plan->plans[0].roadmap;
    int nodes = world->scene->plan->nodes.count;
    bool flags = (s->running | s->again | s->begun | s->road_changed) >> 1 == 0;
    bool places = s->field >= 0 && s->field <= r->field_count && s->road >= 0 &&
                  s->road <= (map ? 2 * map->count : 0) && s->front_count >= 0 &&
                  s->front_count <= nodes && s->share >= 0;
    bool begun = !s->begun || (s->running && s->field < r->field_count &&
                               *field_of(world->plan, world->scene, s->field) &&
                               th_field_work_is_sound(&s->work, nodes));
    return s->steps > 0 && s->steps <= 1000000 && flags && places && begun &&
           (s->begun || s->front_count == 0);
}

static bool distances_are_sound(const char *bytes, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        float value;
        memcpy(&value, bytes + i * sizeof value, sizeof value);
        if (!(value >= 0.0f && value <= TH_UNREACHABLE)) return false;
    }
    return true;
}

// Walls only take links away from those that the scene has.
static bool links_are_sound(const th_nodes *nodes, const char *bytes) {
    for (int i = 0; i < nodes->count; ++i)
        if ((uint8_t)bytes[i] & ~nodes->links[i]) return false;
    for (int i = 0; i < nodes->portal_count; ++i) {
        th_portal portal;
        const th_portal *own = &nodes->portals[i];
        memcpy(&portal, bytes + nodes->count + (size_t)i * sizeof portal, sizeof portal);
        if (portal.node != own->node) return false;
        for (int k = 0; k < 8; ++k)
            if (portal.to[k] != own->to[k] && portal.to[k] != -1) return false;
    }
    return true;
}

static bool roads_are_sound(const th_roadmap *map, const char *bytes) {
    for (int i = 0; i < map->count; ++i) {
        th_road_node node;
        memcpy(&node, bytes + (size_t)i * sizeof node, sizeof node);
        if (!distances_are_sound((const char *)node.length, TH_ROAD_EDGES)) return false;
        const th_road_node *own = &map->nodes[i];
        if (node.position.x != own->position.x || node.position.y != own->position.y ||
            node.level != own->level || node.edge_count != own->edge_count ||
            memcmp(node.to, own->to, sizeof node.to) != 0)
            return false;
    }
    size_t count = (size_t)map->count;
    return distances_are_sound(bytes + count * sizeof(th_road_node), count * count);
}

// The places of nodes and the heap tell the same.
static bool front_is_sound(const char *places, const char *heap, int nodes, int front_count) {
    int listed = 0;
    for (int i = 0; i < nodes; ++i) {
        int place;
        th_front_entry entry;
        memcpy(&place, places + (size_t)i * sizeof place, sizeof place);
        if (place < -1 || place > front_count) return false;
        if (place <= 0) continue;
        memcpy(&entry, heap + (size_t)(place - 1) * sizeof entry, sizeof entry);
        if (entry.node != i || !(entry.distance >= 0.0f)) return false;
        ++listed;
    }
    return listed == front_count;
}

bool th_plan_saved_is_sound(const th_world *world, const void *memory, size_t size) {
    if (!th_plan_follows(world)) return size == 0;
    const th_nodes *nodes = &world->scene->plan->nodes;
    const struct th_plan_world *plan = world->plan;
    const th_roadmap *map = plan->plans[0].roadmap;
    size_t count = (size_t)nodes->count, fields = (size_t)plan->replan.field_count;
    th_replan_state s;
    const char *from = memory;
    if (size < sizeof s) return false;
    memcpy(&s, from, sizeof s);
    from += sizeof s;
    if (!state_is_sound(world, &s) || size != size_with(world, &s)) return false;
    bool sound = distances_are_sound(from, fields);
    for (size_t k = 0; k < fields; ++k) { // no round solves a field that no group needs
        float keep;
        memcpy(&keep, from + k * sizeof keep, sizeof keep);
        sound = sound && (keep == TH_UNREACHABLE || *field_of(plan, world->scene, (int)k));
    }
    from += fields * sizeof(float);
    for (int n = 0; n < world->scene->size_count; ++n) {
        sound = sound && links_are_sound(nodes, from);
        from += count + (size_t)nodes->portal_count * sizeof(th_portal);
        for (int t = 0; t < world->scene->target_count; ++t) {
            if (!plan->plans[n].fields[t]) continue;
            sound = sound && distances_are_sound(from, count);
            from += count * sizeof(float);
        }
    }
    if (map) {
        sound = sound && roads_are_sound(map, from);
        from += (size_t)map->count * sizeof *map->nodes;
        from += (size_t)map->count * (size_t)map->count * sizeof *map->table;
    }
    if (!sound || !s.begun) return sound;
    const char *places = from + count * sizeof(float), *heap = places + count * sizeof(int);
    return distances_are_sound(from, count) &&
           front_is_sound(places, heap, nodes->count, s.front_count);
}

void th_plan_restore(th_world *world, const void *memory) {
    if (!th_plan_follows(world)) {
        th_plan_solve(world);
        return;
    }
    struct th_plan_world *plan = world->plan;
    th_replan_state *s = &plan->replan.state;
    const char *from = memory;
    memcpy(s, from, sizeof *s);
    from += sizeof *s;
#define GET(data, bytes) memcpy(data, from, bytes), from += (bytes)
    EACH_SAVED(world, s, GET);
#undef GET
    plan->front.count = s->front_count;
    if (!s->begun)
        memset(plan->front.place, 0, (size_t)world->scene->plan->nodes.count * sizeof(int));
}
