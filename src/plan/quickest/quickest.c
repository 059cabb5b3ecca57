// The planner `quickest`: its memory, its clock, its snapshots. Cost of a step: four nodes per agent and the step's share of
// the solutions, about 0.15 microseconds a node, at most TH_QUICKEST_LANES times STEP_MOST nodes.
// SPDX-License-Identifier: Apache-2.0
#include "core/parallel.h"
#include "plan/plan.h"
#include "plan/quickest/state.h"
#include "state/ranks.h"
#include "state/world.h"
#include <string.h>

// Nodes as far apart as agents count around themselves [m], closer in small scenes where they cost nothing, and so close that
// doors and exits have OPENING_NODES across.
static const double SPACING_MOST = 0.7;
static const double NODES_WANTED = 20000.0;
static const double OPENING_NODES = 1.5;
enum { STEP_MOST = 5000 };            // nodes that a lane settles in a step at most
static const float SEED_RANGE = 1.5f; // [nodes] how far around a goal its distance is exact

static th_quickest *state_of(const th_world *world) { return world->model_state[TH_PLAN_QUICKEST]; }

// ---- memory

static double spacing_for(const th_scene *scene) {
    double area = 0.0, finest = (double)th_nodes_wanted_spacing(scene);
    for (int l = 0; l < scene->level_count; ++l) {
        const th_box *box = &scene->levels[l].box;
        area +=
            ((double)box->max_x - (double)box->min_x) * ((double)box->max_y - (double)box->min_y);
    }
    double spacing = fmin(SPACING_MOST, sqrt(area / NODES_WANTED));
    spacing = fmin(spacing, (double)th_nodes_narrowest(scene) / OPENING_NODES);
    return fmax(spacing, finest);
}

typedef struct node_range {
    int column0, column1, row0, row1;
} node_range;

static int lattice_index(float x, int last) {
    return x <= 0.0f ? 0 : x >= (float)last ? last : (int)x;
}

static node_range nodes_around(const th_nodes *nodes, const th_goal *goal) {
    const th_node_level *grid = &nodes->levels[th_goal_level(goal)];
    float s = nodes->inverse_spacing, more = SEED_RANGE + 1.0f;
    th_box box = th_goal_box(goal);
    node_range range = {lattice_index((box.min_x - grid->origin.x) * s - SEED_RANGE, grid->nx - 1),
                        lattice_index((box.max_x - grid->origin.x) * s + more, grid->nx - 1),
                        lattice_index((box.min_y - grid->origin.y) * s - SEED_RANGE, grid->ny - 1),
                        lattice_index((box.max_y - grid->origin.y) * s + more, grid->ny - 1)};
    return range;
}

static bool is_goal(const th_world *world, int goal) {
    const th_scene *scene = world->scene;
    for (int g = 0; g < scene->group_count; ++g) {
        const th_group *group = &scene->groups[g];
        for (int k = 0; th_quickest_has(world, g) && k < th_group_ways(group); ++k)
            if (th_quick_is_goal_of(&scene->targets[group->route[k]], goal)) return true;
    }
    return false;
}

// Memory limit of the lattice: grids, lanes, and the faces and fields of each size.
static const double BYTES_MOST = 2.5e8; // [bytes]

static double nodes_most(const th_scene *scene) {
    double of_size = (double)sizeof(th_node_faces) + 4.0 * scene->goal_count;
    return BYTES_MOST / (82.0 + 24.0 * TH_QUICKEST_LANES + of_size * scene->size_count);
}

static float spacing(const th_scene *scene, int model, float *wanted) {
    (void)model;
    *wanted = (float)spacing_for(scene);
    if (!(*wanted > 0.0f)) *wanted = th_nodes_wanted_spacing(scene);
    return th_nodes_spacing_within(scene, spacing_for(scene), nodes_most(scene));
}

static void take_fields(th_quickest *s, const th_world *world) {
    const th_scene *scene = world->scene;
    int sizes = scene->size_count;
    s->field_count = scene->goal_count * sizes;
    s->fields = th_arena_alloc(&s->arena, (size_t)s->field_count, sizeof *s->fields);
    for (int k = 0; !s->arena.failed && k < s->field_count; ++k) {
        th_quick_field *f = &s->fields[k];
        f->goal = k / sizes;
        f->size = k % sizes;
        if (!is_goal(world, f->goal)) continue;
        node_range range = nodes_around(&s->nodes, &scene->goals[f->goal]);
        f->seed_most = (range.column1 - range.column0 + 1) * (range.row1 - range.row0 + 1);
        f->seeds = th_arena_alloc(&s->arena, (size_t)f->seed_most, sizeof *f->seeds);
        f->values = th_arena_alloc(&s->arena, (size_t)s->nodes.count, sizeof *f->values);
    }
}

static void take_grids(th_quickest *s, const th_world *world) {
    size_t count = (size_t)s->nodes.count, sizes = (size_t)world->scene->size_count;
    float **grids[] = {&s->density,      &s->flow_x,     &s->flow_y,        &s->drag,
                       &s->fresh[0],     &s->fresh[1],   &s->fresh[2],      &s->rows.pivot,
                       &s->rows.gain,    &s->rows.ratio, &s->columns.pivot, &s->columns.gain,
                       &s->columns.ratio};
    for (int k = 0; k < TH_COUNT_OF(grids); ++k)
        *grids[k] = th_arena_alloc(&s->arena, count, sizeof(float));
    s->sums = th_arena_alloc(&s->arena, count, sizeof *s->sums);
    s->walkers =
        th_arena_alloc(&s->arena, (size_t)world->scene->target_count * sizes, sizeof *s->walkers);
    s->queue = th_arena_alloc(&s->arena, (size_t)world->scene->goal_count * TH_QUICKEST_BINS,
                              sizeof *s->queue);
    for (size_t size = 0; size < sizes; ++size) {
        s->faces[size].cost = th_arena_alloc(&s->arena, count, sizeof(th_node_faces));
        s->faces[size].portal_cost =
            th_arena_alloc(&s->arena, (size_t)s->nodes.portal_count * TH_FACES, sizeof(float));
    }
}

static void take_lanes(th_quickest *s) {
    for (int k = 0; k < TH_QUICKEST_LANES && !s->arena.failed; ++k) {
        th_buckets_create(&s->lanes[k].buckets, &s->graphs[0], &s->arena);
        float **work[] = {&s->lanes[k].values, &s->lanes[k].share, &s->lanes[k].ratio};
        for (int w = 0; w < TH_COUNT_OF(work); ++w)
            *work[w] = th_arena_alloc(&s->arena, (size_t)s->nodes.count, sizeof(float));
        s->lanes[k].field = s->field_count;
    }
}

static void destroy(th_world *world, int model) {
    th_quickest *s = state_of(world);
    if (!s) return;
    for (int size = 0; size < TH_SIZE_MAX; ++size)
        th_graph_destroy(&s->graphs[size], &world->memory);
    th_nodes_release(&s->nodes);
    th_arena_release(&s->arena);
    th_dealloc(&world->memory, s, 1, sizeof *s);
    world->model_state[model] = NULL;
}

static bool create(th_world *world, int model) {
    const th_scene *scene = world->scene;
    if (!scene->plan->nodes.scene || scene->target_count == 0)
        return true; // all agents walk straight
    th_quickest *s = th_alloc(&world->memory, 1, sizeof *s);
    if (!s) return false;
    world->model_state[model] = s;
    s->arena = th_arena_of(&world->memory.allocator);
    if (th_nodes_build_within(&s->nodes, scene, spacing_for(scene), nodes_most(scene), NULL) !=
        TH_OK)
        return false;
    for (int size = 0; size < scene->size_count; ++size)
        if (!th_graph_create(&s->graphs[size], &s->nodes, &world->memory)) return false;
    s->graph_version = world->walls_version - 1;
    take_fields(s, world);
    take_grids(s, world);
    if (!s->arena.failed) take_lanes(s);
    return !s->arena.failed;
}

// ---- walls

static void find_seeds(th_quickest *s, const th_world *world, th_quick_field *f) {
    const th_goal *goal = &world->scene->goals[f->goal];
    const th_walls walls = th_walls_for(world->scene, th_world_walls(world), f->size);
    const th_node_level *grid = &s->nodes.levels[th_goal_level(goal)];
    node_range range = nodes_around(&s->nodes, goal);
    float need = th_least_need(world->scene, &walls);
    f->seed_count = 0;
    for (int row = range.row0; row <= range.row1; ++row)
        for (int column = range.column0; column <= range.column1; ++column) {
            int node = grid->first + row * grid->nx + column;
            if (!(s->nodes.flags[node] & TH_NODE_WALKABLE)) continue;
            th_vec2 p = th_node_position(&s->nodes, grid, node);
            th_vec2 q = th_goal_nearest(goal, p, 0.5f * world->scene->sizes[f->size]);
            float distance = th_length(th_sub(q, p));
            if (distance <= SEED_RANGE * s->nodes.spacing &&
                th_clear_path(&walls, th_goal_level(goal), p, q) &&
                th_goal_has_room(&walls, goal, p, q, need))
                f->seeds[f->seed_count++] = (th_goal_node){node, distance};
        }
}

static void take_note_of_walls(th_quickest *s, const th_world *world) {
    th_walls walls = th_world_walls(world);
    for (int size = 0; size < world->scene->size_count; ++size) {
        th_walls sized = th_walls_for(world->scene, walls, size);
        th_graph_update(&s->graphs[size], &sized);
    }
    th_quickest_factor(s, world);
    for (int k = 0; k < s->field_count; ++k)
        if (s->fields[k].values) find_seeds(s, world, &s->fields[k]);
    s->graph_version = world->walls_version;
    ++s->changes;
}

// ---- the clock

static bool lanes_are_done(const th_quickest *s) {
    for (int k = 0; k < TH_QUICKEST_LANES; ++k)
        if (s->lanes[k].field < s->field_count) return false;
    return true;
}

static uint32_t interval_of(const th_world *world) {
    return (uint32_t)th_max(2.0f, TH_QUICKEST_INTERVAL / world->dt + 0.5f);
}

// A change of walls begins a new count: the fields under way are of other walls.
bool th_quickest_begin(th_quickest *s, const th_world *world) {
    bool changed = s->graph_version != world->walls_version;
    if (changed) take_note_of_walls(s, world);
    if (!changed && s->counted) {
        ++s->since;
        if (s->since < interval_of(world) || !lanes_are_done(s)) return false;
    }
    s->since = 0;
    return true;
}

static int next_wanted(const th_quickest *s, int from) {
    while (from < s->field_count && !s->fields[from].wanted) ++from;
    return from;
}

// The k-th wanted field is of lane k % TH_QUICKEST_LANES.
static int next_of_lane(const th_quickest *s, int field) {
    for (int k = 0; k < TH_QUICKEST_LANES && field < s->field_count; ++k)
        field = next_wanted(s, field + 1);
    return field;
}

static void begin_lanes(th_quickest *s) {
    int field = -1;
    for (int k = 0; k < TH_QUICKEST_LANES; ++k) {
        field = field < s->field_count ? next_wanted(s, field + 1) : field;
        s->lanes[k].field = field;
        s->lanes[k].begun = false;
    }
}

static void find_wanted(th_quickest *s, const th_scene *scene) {
    int sizes = scene->size_count;
    for (int k = 0; k < s->field_count; ++k) s->fields[k].wanted = false;
    for (int t = 0; t < scene->target_count; ++t)
        for (int size = 0; size < sizes; ++size)
            for (int g = 0; s->walkers[t * sizes + size] > 0 && g < scene->targets[t].goal_count;
                 ++g)
                s->fields[scene->targets[t].goals[g] * sizes + size].wanted = true;
}

void th_quickest_take_crowd(th_quickest *s, const th_world *world) {
    th_quickest_spread(s, world);
    th_quickest_make_faces(s, world);
    for (int g = 0; g < world->scene->goal_count; ++g)
        for (int b = 1; b < TH_QUICKEST_BINS; ++b)
            s->queue[g * TH_QUICKEST_BINS + b] += s->queue[g * TH_QUICKEST_BINS + b - 1];
    find_wanted(s, world->scene);
    begin_lanes(s);
    s->counted = true;
    ++s->crowd_version;
    ++s->changes;
}

// Enough nodes to finish all fields within a quarter of the interval, unless that is too much for a step: the sooner a field
// is in use, the less the crowd has changed since it was counted.
static uint64_t share_of_step(const th_quickest *s, const th_world *world) {
    int wanted = 0;
    for (int k = 0; k < s->field_count; ++k) wanted += s->fields[k].wanted;
    uint64_t fields = (uint64_t)(wanted + TH_QUICKEST_LANES - 1) / TH_QUICKEST_LANES;
    uint64_t share = 4 * fields * (uint64_t)s->nodes.count / interval_of(world) + 200;
    return share < STEP_MOST ? share : STEP_MOST;
}

static uint64_t advance_lane(th_quickest *s, th_quick_lane *lane, uint64_t most) {
    uint64_t settled = 0;
    while (lane->field < s->field_count && settled < most) {
        th_quick_field *f = &s->fields[lane->field];
        if (!lane->begun) {
            lane->buckets.graph = &s->graphs[f->size];
            th_potential_begin(&lane->buckets, 1.0f, f->seeds, f->seed_count, lane->values);
            lane->begun = true;
        }
        uint64_t before = lane->buckets.taken;
        bool done =
            th_potential_advance(&lane->buckets, &s->faces[f->size], lane->values, most - settled);
        settled += lane->buckets.taken - before;
        if (!done) break;
        th_quickest_fill_width(s, lane);
        float *swap = f->values;
        f->values = lane->values;
        lane->values = swap;
        f->solved = true;
        ++f->version;
        lane->begun = false;
        lane->field = next_of_lane(s, lane->field);
    }
    return settled;
}

void th_quickest_advance(th_quickest *s, const th_world *world) {
    if (lanes_are_done(s)) return;
    uint64_t most = share_of_step(s, world), settled = 0;
#pragma omp parallel for num_threads(world->threads) schedule(dynamic, 1) reduction(+ : settled)
    for (int k = 0; k < TH_QUICKEST_LANES; ++k) settled += advance_lane(s, &s->lanes[k], most);
    s->settled += settled;
    ++s->changes;
}

// ---- the step on the host

static void count(th_quickest *s, const th_world *world) {
    const th_agents *agents = &world->agents;
    const th_walls walls = th_world_walls(world);
    int nodes = s->nodes.count, parts = world->threads, sizes = world->scene->size_count;
    memset(s->walkers, 0, (size_t)world->scene->target_count * (size_t)sizes * sizeof *s->walkers);
    memset(s->queue, 0, (size_t)world->scene->goal_count * TH_QUICKEST_BINS * sizeof *s->queue);
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (int t = 0; t < parts; ++t) {
        int begin = (int)((int64_t)nodes * t / parts),
            end = (int)((int64_t)nodes * (t + 1) / parts);
        memset(s->sums + begin, 0, (size_t)(end - begin) * sizeof *s->sums);
        for (int i = 0; i < agents->count; ++i)
            if (th_in_the_way(agents->phase[i]) && !th_is_ghost(world, (uint32_t)i))
                th_quick_count_person(s, &walls, agents, (uint32_t)i, begin, end);
    }
#pragma omp parallel for num_threads(parts) schedule(static)
    for (int i = 0; i < agents->count; ++i) {
        int target = th_quickest_target(world, i);
        if (target < 0 || th_is_ghost(world, (uint32_t)i)) continue;
        int walker = target * sizes + th_quickest_size(world, i);
        int place = th_quick_place_in_queue(s, world, &walls, i);
#pragma omp atomic
        ++s->walkers[walker];
        if (place < 0) continue;
#pragma omp atomic
        ++s->queue[place];
    }
    th_ranks_sum32(world, &s->sums->people, 3 * nodes);
    th_ranks_sum32(world, s->walkers, world->scene->target_count * sizes);
    th_ranks_sum32(world, s->queue, world->scene->goal_count * TH_QUICKEST_BINS);
}

typedef struct planned {
    const th_quickest *s;
    th_planner planner;
} planned;
static uint64_t plan_block(const void *context, int begin, int end) {
    const planned *p = context;
    const th_world *world = p->planner.world;
    uint64_t unreachable = 0;
    for (int i = begin; i < end; ++i)
        if (th_quickest_has(world, (int)world->agents.group[i]) &&
            th_quickest_plan(p->s, &p->planner, i))
            unreachable += !th_is_ghost(world, (uint32_t)i);
    return unreachable;
}
static void plan(const th_quickest *s, th_world *world) {
    const planned p = {s, th_planner_of(world)};
    world->counters.unreachable +=
        th_share_out(world, world->agents.count, TH_BLOCK, plan_block, &p);
}

static void run(th_world *world, int model) {
    th_quickest *s = state_of(world);
    if (!s) {
        th_plan_people(world, model);
        return;
    }
    if (th_quickest_begin(s, world)) {
        count(s, world);
        th_quickest_take_crowd(s, world);
    } else
        th_quickest_advance(s, world);
    plan(s, world);
}

// ---- snapshots: the crowd as last counted and the fields in force. Solutions under way begin again from the count, or are
// saved, too, where restoring is to be a copy (th_plan_follows).

typedef struct saved_head {
    uint32_t since, counted, stale, zero;
} saved_head;

// Calls visit(pointer, bytes) for every array that is saved.
#define EACH_SAVED(s, world, visit)                                                       \
    do {                                                                                  \
        size_t nodes_ = (size_t)(s)->nodes.count * sizeof(float);                         \
        visit((s)->density, nodes_);                                                      \
        visit((s)->flow_x, nodes_);                                                       \
        visit((s)->flow_y, nodes_);                                                       \
        visit((s)->queue,                                                                 \
              (size_t)(world)->scene->goal_count *TH_QUICKEST_BINS * sizeof *(s)->queue); \
        for (int k = 0; k < (s)->field_count; ++k)                                        \
            if ((s)->fields[k].values) visit((s)->fields[k].values, nodes_);              \
    } while (0)

// A lane; where it has begun, its values and what waits in its buckets follow.
typedef struct saved_lane {
    int32_t field, begun, now, waiting;
} saved_lane;

static saved_lane lane_to_save(const th_quick_lane *lane) {
    const th_buckets *b = &lane->buckets;
    if (!lane->begun) return (saved_lane){.field = lane->field};
    return (saved_lane){lane->field, 1, b->now, b->near + b->far};
}

static size_t lane_size(const th_quickest *s, const saved_lane *lane) {
    size_t begun =
        (size_t)s->nodes.count * sizeof(float) + (size_t)lane->waiting * sizeof(th_bucket_entry);
    return sizeof *lane + (lane->begun ? begun : 0);
}

static size_t size_without_lanes(const th_quickest *s, const th_world *world) {
    size_t size = sizeof(saved_head) + 2 * (size_t)s->field_count;
#define SIZE(values, bytes) size += (bytes)
    EACH_SAVED(s, world, SIZE);
#undef SIZE
    return size;
}

static size_t saved_size(const th_world *world, int model) {
    (void)model;
    const th_quickest *s = state_of(world);
    if (!s) return 0;
    size_t size = size_without_lanes(s, world);
    for (int k = 0; th_plan_follows(world) && k < TH_QUICKEST_LANES; ++k) {
        saved_lane lane = lane_to_save(&s->lanes[k]);
        size += lane_size(s, &lane);
    }
    return size;
}

static void save_lanes(const th_quickest *s, char *to) {
    size_t values = (size_t)s->nodes.count * sizeof(float);
    for (int k = 0; k < TH_QUICKEST_LANES; ++k) {
        saved_lane lane = lane_to_save(&s->lanes[k]);
        memcpy(to, &lane, sizeof lane);
        to += sizeof lane;
        if (!lane.begun) continue;
        memcpy(to, s->lanes[k].values, values);
        to += values;
        th_buckets_list(&s->lanes[k].buckets, to);
        to += (size_t)lane.waiting * sizeof(th_bucket_entry);
    }
}

static void save(const th_world *world, int model, void *memory) {
    (void)model;
    const th_quickest *s = state_of(world);
    if (!s) return;
    char *to = memory;
    saved_head head = {s->since, s->counted, s->graph_version != world->walls_version, 0};
    memcpy(to, &head, sizeof head);
    to += sizeof head;
#define PUT(values, bytes) memcpy(to, values, bytes), to += (bytes)
    EACH_SAVED(s, world, PUT);
#undef PUT
    for (int k = 0; k < s->field_count; ++k) {
        *to++ = s->fields[k].wanted;
        *to++ = s->fields[k].solved;
    }
    if (th_plan_follows(world)) save_lanes(s, to);
}

static bool floats_between(const char *from, size_t count, float least, float most) {
    for (size_t i = 0; i < count; ++i) {
        float value;
        memcpy(&value, from + i * sizeof value, sizeof value);
        if (!(value >= least && value <= most)) return false;
    }
    return true;
}

// Its field is one of the lane's own, so that no two lanes solve the same; what waits is in the order of the buckets.
static bool lane_is_sound(const th_quickest *s, int number, const saved_lane *lane,
                          const char *wanted, const char *from) {
    int before = 0, bucket = 0;
    if (lane->field < 0 || lane->field > s->field_count || lane->begun >> 1 != 0) return false;
    if (lane->field == s->field_count) return !lane->begun;
    for (int k = 0; k < lane->field; ++k) before += wanted[2 * k];
    if (!wanted[2 * lane->field] || before % TH_QUICKEST_LANES != number) return false;
    if (!lane->begun) return true;
    size_t nodes = (size_t)s->nodes.count;
    if (lane->now < 0 || lane->now > 1000000000 ||
        !floats_between(from, nodes, 0.0f, TH_UNREACHABLE))
        return false;
    from += nodes * sizeof(float);
    for (int k = 0; k < lane->waiting; ++k) {
        th_bucket_entry entry;
        memcpy(&entry, from + (size_t)k * sizeof entry, sizeof entry);
        if (entry.node < 0 || entry.node >= s->nodes.count || entry.bucket < bucket ||
            entry.bucket > TH_BUCKETS)
            return false;
        bucket = entry.bucket;
    }
    return true;
}

static bool lanes_are_sound(const th_quickest *s, const char *wanted, const char *from,
                            size_t left) {
    for (int k = 0; k < TH_QUICKEST_LANES; ++k) {
        saved_lane lane;
        if (left < sizeof lane) return false;
        memcpy(&lane, from, sizeof lane);
        if (lane.waiting < 0 || lane.waiting > s->nodes.count || left < lane_size(s, &lane) ||
            !lane_is_sound(s, k, &lane, wanted, from + sizeof lane))
            return false;
        left -= lane_size(s, &lane);
        from += lane_size(s, &lane);
    }
    return left == 0;
}

static bool saved_is_sound(const th_world *world, int model, const void *memory, size_t size) {
    (void)model;
    const th_quickest *s = state_of(world);
    if (!s) return size == 0;
    size_t plain = size_without_lanes(s, world);
    if (size < plain || (size != plain && !th_plan_follows(world))) return false;
    saved_head head;
    const char *from = memory;
    memcpy(&head, from, sizeof head);
    from += sizeof head;
    size_t nodes = (size_t)s->nodes.count;
    if (head.since > 1000000000u || head.counted > 1 || head.stale > 1 || head.zero != 0)
        return false;
    if (!floats_between(from, nodes, 0.0f, 1e6f) ||
        !floats_between(from + nodes * sizeof(float), 2 * nodes, -1e9f, 1e9f))
        return false;
    from += 3 * nodes * sizeof(float) +
            (size_t)world->scene->goal_count * TH_QUICKEST_BINS * sizeof(uint32_t);
    for (int k = 0; k < s->field_count; ++k) {
        if (!s->fields[k].values) continue;
        if (!floats_between(from, nodes, 0.0f, TH_UNREACHABLE)) return false;
        from += nodes * sizeof(float);
    }
    for (int k = 0; k < s->field_count; ++k, from += 2) {
        const uint8_t *flags = (const uint8_t *)from;
        if (flags[0] > 1 || flags[1] > 1) return false;
        if (!s->fields[k].values && (flags[0] || flags[1])) return false;
    }
    return !th_plan_follows(world) ||
           lanes_are_sound(s, from - 2 * s->field_count, from, size - plain);
}

static void restore_lanes(th_quickest *s, const char *from) {
    size_t values = (size_t)s->nodes.count * sizeof(float);
    for (int k = 0; k < TH_QUICKEST_LANES; ++k) {
        th_quick_lane *lane = &s->lanes[k];
        saved_lane saved;
        memcpy(&saved, from, sizeof saved);
        lane->field = saved.field;
        lane->begun = saved.begun;
        if (lane->begun) {
            const char *waiting = from + sizeof saved + values;
            memcpy(lane->values, from + sizeof saved, values);
            lane->buckets.graph = &s->graphs[s->fields[lane->field].size];
            th_buckets_fill(&lane->buckets, 1.0f, saved.now, waiting, saved.waiting);
        }
        from += lane_size(s, &saved);
    }
}

static void solve_lanes_again(th_quickest *s, const th_world *world, uint32_t since) {
    begin_lanes(s);
    for (s->since = 0; s->since < since && !lanes_are_done(s); ++s->since)
        th_quickest_advance(s, world);
}

static void restore(th_world *world, int model, const void *memory) {
    (void)model;
    th_quickest *s = state_of(world);
    if (!s) return;
    const char *from = memory;
    saved_head head;
    memcpy(&head, from, sizeof head);
    from += sizeof head;
#define GET(values, bytes) memcpy(values, from, bytes), from += (bytes)
    EACH_SAVED(s, world, GET);
#undef GET
    for (int k = 0; k < s->field_count; ++k) {
        s->fields[k].wanted = *from++;
        s->fields[k].solved = *from++;
        ++s->fields[k].version;
    }
    s->counted = head.counted;
    take_note_of_walls(s, world);
    th_quickest_make_faces(s, world);
    ++s->crowd_version;
    if (th_plan_follows(world))
        restore_lanes(s, from);
    else
        solve_lanes_again(s, world, head.since);
    s->since = head.since;
    if (head.stale) s->graph_version = world->walls_version - 1; // the next step counts again
}

static bool fields_are_sound(const th_world *world, int model, int group, const uint32_t *fields) {
    (void)model;
    (void)group;
    return fields[TH_QUICKEST_GOAL] <= (uint32_t)world->scene->goal_count;
}

// ---- what it shows

static bool directions(th_world *world, int model, int group, int target, int level,
                       const th_vec2 *points, int count, th_vec2 *found) {
    (void)model;
    const th_quickest *s = state_of(world);
    if (!s || !s->counted || !th_quickest_has(world, group)) return false;
    th_walls walls = th_walls_for(world->scene, th_world_walls(world), 0);
    for (int k = 0; k < count; ++k) {
        const th_quick_mind open = {-1, 0u, TH_QUICKEST_ALL, 0.0f, 1e6f}; // sees every queue
        th_quick_choice choice =
            th_quick_choose(s, world->scene, &walls, target, 0, &open, level, points[k]);
        found[k] = th_v(0.0f, 0.0f);
        if (choice.goal < 0) continue; // no way from there, such as off the ground
        found[k] = th_quick_way(s, &walls, th_quick_field_of(s, world->scene, choice.goal, 0),
                                level, points[k])
                       .direction;
    }
    return true;
}

static int statistics(const th_world *world, int model, th_model_value *values, int max) {
    (void)model;
    const th_quickest *s = state_of(world);
    if (!s) return 0;
    int solved = 0;
    uint64_t solutions = 0;
    for (int k = 0; k < s->field_count; ++k) {
        solved += s->fields[k].solved;
        solutions += s->fields[k].version;
    }
    const th_model_value all[] = {{"nodes", "1", (double)s->nodes.count},
                                  {"fields", "1", (double)solved},
                                  {"solutions", "1", (double)solutions},
                                  {"nodes_settled", "1", (double)s->settled}};
    for (int k = 0; k < TH_COUNT_OF(all) && k < max; ++k) values[k] = all[k];
    return TH_COUNT_OF(all);
}

static const th_field_info fields[TH_QUICKEST_FIELDS] = {
    {"goal", false, true, "1 + the chosen goal in the scene's list, 0: none yet", NULL},
    {"left", false, true,
     "bits of the goals that the agent went away from, of their numbers modulo 32", NULL},
    {"seen", false, true, "bits of the goals that an agent has seen that was not told of all",
     NULL},
};
static const th_param_info params[] = {TH_QUICKEST_PARAMS(TH_PARAM_INFO)};
const th_model th_plan_quickest_model = {
    .cookie = TH_MODEL_COOKIE,
    .stage = TH_STAGE_PLAN,
    .name = "quickest",
    .doc = "the quickest way through the crowd as it moves, to the goal that is reached first",
    .source = "Kretz 2009; Treuille, Cooper, Popovic 2006; Ehtamo et al. 2010",
    .is_default = true,
    .params = params,
    .param_count = TH_COUNT_OF(params),
    .fields = fields,
    .field_count = TH_COUNT_OF(fields),
    .run = run,
    .reach = th_reads_none,
    .create = create,
    .destroy = destroy,
    .saved_size = saved_size,
    .save = save,
    .saved_is_sound = saved_is_sound,
    .restore = restore,
    .fields_are_sound = fields_are_sound,
    .directions = directions,
    .statistics = statistics,
    .needs_lattice = true,
    .tells_apart = true,
    .weighs_ways = true,
    .spacing = spacing,
};
