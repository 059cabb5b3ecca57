// Continuum crowds: from people to grids, to potentials, to preferred velocities. Cost O(people x samples) for the
// splat, O(nodes) for speed and cost of every different set of parameters, O(potentials x nodes) for the potentials,
// which threads solve side by side. A potential belongs to a leg of a group's route; groups with equal parameters share
// those of equal goals, and a leg that no agent walks has none. SPDX-License-Identifier: Apache-2.0
#include "core/parallel.h"
#include "plan/continuum/crowd.h"
#include "plan/continuum/state.h"
#include "plan/nodes.h"
#include "plan/plan.h"
#include "plan/preferred.h"

// ---- the crowd on the grid
// From people to the lattice of the continuum planner: the loops over people and nodes. Every thread has nodes of its
// own and looks at all agents.

th_splat_settings th_splat_settings_of(const th_world *world) {
    th_splat_settings set = {.exponent = 8.0f};
    float prediction = 0.0f;
    bool first = true;
    for (int g = 0; g < world->scene->group_count; ++g) {
        if (!th_continuum_has(world, g)) continue;
        const th_continuum_params *p = th_continuum_params_of(world, g);
        set.exponent = th_min(set.exponent, p->exponent);
        if (first) set.cone = p->cone >= 0.5f;
        first = false;
        if (!(p->prediction > prediction) || p->discomfort_weight == 0.0f) continue;
        prediction = p->prediction;
        set.samples = (int)(p->prediction_samples + 0.5f);
    }
    set.interval = set.samples > 0 ? prediction / (float)set.samples : 0.0f;
    return set;
}

void th_continuum_splat(const th_continuum *c, const th_world *world,
                        const th_splat_settings *set) {
    const th_splat_part all = {c, th_world_walls(world), *set, 0, 0};
    int count = c->nodes.count, parts = world->threads;
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (int t = 0; t < parts; ++t) {
        th_splat_part part = all;
        part.begin = (int)((int64_t)count * t / parts);
        part.end = (int)((int64_t)count * (t + 1) / parts);
        memset(c->sums + part.begin, 0, (size_t)(part.end - part.begin) * sizeof *c->sums);
        for (int i = 0; i < world->agents.count; ++i)
            if (!th_gone(world->agents.phase[i]))
                th_splat_agent(&part, &world->agents, (uint32_t)i);
        for (int i = part.begin; i < part.end; ++i) th_node_take_sums(c, i);
    }
}

void th_continuum_make_faces(const th_continuum *c, const th_world *world, int group) {
    const th_continuum_params *p = th_continuum_params_of(world, group);
    const th_faces *faces = &c->faces[group];
    for (int l = 0; l < world->scene->level_count; ++l) {
        const th_node_level *grid = &c->nodes.levels[l];
#pragma omp parallel for num_threads(world->threads) schedule(static)
        for (int row = 0; row < grid->ny; ++row)
            for (int column = 0; column < grid->nx; ++column)
                th_node_make_faces(c, p, faces, grid->first + row * grid->nx + column, grid->nx);
    }
    for (int i = 0; i < c->nodes.portal_count; ++i) th_portal_make_faces(c, p, faces, i);
}

// ---- people on a potential: the loop over people

void th_continuum_walk(const th_continuum *c, th_world *world) {
    th_planner planner = th_planner_of(world);
    const th_agents *agents = &world->agents;
    uint64_t unreachable = 0;
#pragma omp parallel for num_threads(world->threads) schedule(dynamic, 4) reduction(+ : unreachable)
    for (int block = 0; block < th_block_count(agents->count); ++block) {
        int end = (block + 1) * TH_BLOCK < agents->count ? (block + 1) * TH_BLOCK : agents->count;
        for (int i = block * TH_BLOCK; i < end; ++i) {
            if (!th_continuum_has(world, (int)agents->group[i]) ||
                th_continuum_plan(c, &planner, i))
                continue;
            unreachable +=
                (uint64_t)th_plan_person(&planner, i, th_goes_straight(&planner, agents->group[i]));
        }
    }
    world->counters.unreachable += unreachable;
}

bool th_continuum_directions(th_world *world, int model, int group, int target, int level,
                             const th_vec2 *points, int count, th_vec2 *directions) {
    const th_continuum *c = world->model_state[model];
    const th_potential *p = NULL;
    for (int way = 0; way < th_group_ways(&world->scene->groups[group]) && !p; ++way) {
        const th_potential *one = &c->potentials[c->first_potential[group] + way];
        if (one->target == target && c->solved[one->shared]) p = one;
    }
    if (!p) return false;
    th_continuum_view v = {c, &c->faces[c->same_faces[group]], c->potentials[p->shared].values};
    th_walls walls = th_world_walls(world);
    float top = th_continuum_params_of(world, group)->top_speed;
    for (int k = 0; k < count; ++k)
        if (!th_continuum_velocity_at(&v, &walls, level, points[k], top, &directions[k]))
            directions[k] = th_v(0.0f, 0.0f);
    return true;
}

// ---- the planner

// Nodes this near to a goal and in sight of it are where potentials begin [cells].
static const float GOAL_RANGE = 1.5f;

static th_continuum *state_of(const th_world *world) {
    return world->model_state[TH_PLAN_CONTINUUM];
}

// ---- memory

typedef struct node_range {
    int column0, column1, row0, row1;
} node_range;

static node_range nodes_around(const th_continuum *c, const th_goal *goal) {
    const th_node_level *grid = &c->nodes.levels[th_goal_level(goal)];
    float s = c->nodes.inverse_spacing;
    th_box box = th_goal_box(goal);
    node_range range = {
        th_lattice_index((box.min_x - grid->origin.x) * s - GOAL_RANGE, grid->nx - 1),
        th_lattice_index((box.max_x - grid->origin.x) * s + GOAL_RANGE + 1.0f, grid->nx - 1),
        th_lattice_index((box.min_y - grid->origin.y) * s - GOAL_RANGE, grid->ny - 1),
        th_lattice_index((box.max_y - grid->origin.y) * s + GOAL_RANGE + 1.0f, grid->ny - 1)};
    return range;
}

static void take_goals(th_continuum *c, const th_scene *scene) {
    c->goals = th_arena_alloc(&c->arena, (size_t)scene->target_count, sizeof *c->goals);
    for (int t = 0; c->goals && t < scene->target_count; ++t) {
        size_t most = 0;
        for (int g = 0; g < scene->targets[t].goal_count; ++g) {
            node_range range = nodes_around(c, &scene->goals[scene->targets[t].goals[g]]);
            most +=
                (size_t)(range.column1 - range.column0 + 1) * (size_t)(range.row1 - range.row0 + 1);
        }
        c->goals[t].nodes = th_arena_alloc(&c->arena, most, sizeof(th_goal_node));
        c->goals[t].most = (int)most;
    }
}

static void take_potentials(th_continuum *c, const th_world *world) {
    const th_scene *scene = world->scene;
    size_t legs = 0, count = (size_t)c->nodes.count;
    for (int g = 0; g < scene->group_count; ++g)
        if (th_continuum_has(world, g)) legs += (size_t)th_group_ways(&scene->groups[g]);
    c->potentials = th_arena_alloc(&c->arena, legs, sizeof *c->potentials);
    c->wanted = th_arena_alloc(&c->arena, legs, 1);
    c->solved = th_arena_alloc(&c->arena, legs, 1);
    c->first_potential = th_arena_alloc(&c->arena, (size_t)scene->group_count, sizeof(int));
    for (int g = 0; !c->arena.failed && g < scene->group_count; ++g) {
        c->first_potential[g] = c->potential_count;
        for (int k = 0; th_continuum_has(world, g) && k < th_group_ways(&scene->groups[g]); ++k) {
            th_potential *p = &c->potentials[c->potential_count++];
            p->group = g;
            p->target = scene->groups[g].route[k];
            p->values = th_arena_alloc(&c->arena, count, sizeof(float));
        }
    }
}

static void take_faces(th_continuum *c, const th_world *world) {
    size_t groups = (size_t)world->scene->group_count, count = (size_t)c->nodes.count;
    c->faces = th_arena_alloc(&c->arena, groups, sizeof *c->faces);
    c->same_faces = th_arena_alloc(&c->arena, groups, sizeof *c->same_faces);
    for (int g = 0; !c->arena.failed && g < world->scene->group_count; ++g) {
        if (!th_continuum_has(world, g)) continue;
        c->faces[g].cost = th_arena_alloc(&c->arena, count, sizeof(th_node_faces));
        c->faces[g].speed = th_arena_alloc(&c->arena, count, sizeof(th_node_faces));
        c->faces[g].portal_cost =
            th_arena_alloc(&c->arena, (size_t)c->nodes.portal_count * TH_FACES, sizeof(float));
    }
}

static void take_grids(th_continuum *c) {
    float **grids[] = {&c->density, &c->flow_x, &c->flow_y, &c->discomfort, &c->static_discomfort};
    c->sums = th_arena_alloc(&c->arena, (size_t)c->nodes.count, sizeof *c->sums);
    for (int k = 0; k < TH_COUNT_OF(grids); ++k)
        *grids[k] = th_arena_alloc(&c->arena, (size_t)c->nodes.count, sizeof(float));
    for (int i = 0; !c->arena.failed && i < c->nodes.count; ++i)
        if (c->nodes.zone[i] > 0)
            c->static_discomfort[i] = c->nodes.scene->zones[c->nodes.zone[i] - 1].discomfort;
    if (!c->arena.failed) th_pictures_add_discomfort(&c->nodes, -1, c->static_discomfort);
    bool steep = false;
    for (int k = 0; k < c->nodes.scene->picture_count; ++k)
        steep = steep || c->nodes.scene->pictures[k].kind == TH_PICTURE_HEIGHT;
    if (steep) c->height = th_arena_alloc(&c->arena, (size_t)c->nodes.count, sizeof(float));
    if (c->height) th_pictures_height(&c->nodes, c->height);
}

// Limits of the lattice: memory for grids, faces of all groups and potentials of all legs, and a solution of each
// potential in one step.
static const double BYTES_MOST = 2.5e8;   // [bytes]
static const double SOLUTIONS_MOST = 8e6; // nodes times legs, about 0.3 us each

typedef struct lattice_wish {
    float cell;  // [m]
    double most; // nodes
} lattice_wish;

static lattice_wish lattice_for(const th_scene *scene) {
    lattice_wish wish = {.cell = 1e9f};
    double legs = 0.0, bytes = 80.0;
    for (int g = 0; g < scene->group_count; ++g) {
        if (scene->groups[g].plan.model != TH_PLAN_CONTINUUM) continue;
        const float *params = scene->groups[g].plan.params;
        wish.cell = th_min(wish.cell, ((const th_continuum_params *)params)->cell);
        double own = (double)th_group_ways(&scene->groups[g]);
        legs += own;
        bytes += (double)(2 * sizeof(th_node_faces)) + own * (double)sizeof(float);
    }
    wish.most = fmin(BYTES_MOST / bytes, SOLUTIONS_MOST / fmax(legs, 1.0));
    return wish;
}

static float spacing(const th_scene *scene, int model, float *wanted) {
    (void)model;
    lattice_wish wish = lattice_for(scene);
    *wanted = wish.cell;
    return th_nodes_spacing_within(scene, (double)wish.cell, wish.most);
}

static void destroy(th_world *world, int model) {
    th_continuum *c = state_of(world);
    if (!c) return;
    th_graph_destroy(&c->graph, &world->memory);
    th_nodes_release(&c->nodes);
    th_arena_release(&c->arena);
    th_dealloc(&world->memory, c, 1, sizeof *c);
    world->model_state[model] = NULL;
}

static bool create(th_world *world, int model) {
    th_continuum *c = th_alloc(&world->memory, 1, sizeof *c);
    if (!c) return false;
    world->model_state[model] = c;
    c->arena = th_arena_of(&world->memory.allocator);
    lattice_wish wish = lattice_for(world->scene);
    if (th_nodes_build_within(&c->nodes, world->scene, (double)wish.cell, wish.most, NULL) != TH_OK)
        return false;
    if (!th_graph_create(&c->graph, &c->nodes, &world->memory)) return false;
    c->graph_version = world->walls_version - 1;
    take_grids(c);
    take_goals(c, world->scene);
    take_faces(c, world);
    take_potentials(c, world);
    if (c->arena.failed) return false;
    int most = world->team.most > world->threads ? world->team.most : world->threads;
    if (most > c->potential_count) most = c->potential_count;
    if (most > TH_SOLVER_MAX) most = TH_SOLVER_MAX;
    for (; c->solver_count < most; ++c->solver_count)
        if (!th_buckets_create(&c->solvers[c->solver_count], &c->graph, &c->arena)) return false;
    return true;
}

// ---- walls

static void find_goal_nodes(th_continuum *c, const th_world *world, int target) {
    const th_walls walls = th_world_walls(world);
    const th_target *goals = &world->scene->targets[target];
    float need = th_least_need(world->scene, &walls);
    th_goal_nodes *found = &c->goals[target];
    found->count = 0;
    for (int g = 0; g < goals->goal_count; ++g) {
        const th_goal *goal = &world->scene->goals[goals->goals[g]];
        const th_node_level *grid = &c->nodes.levels[th_goal_level(goal)];
        node_range range = nodes_around(c, goal);
        for (int row = range.row0; row <= range.row1; ++row)
            for (int column = range.column0; column <= range.column1; ++column) {
                int node = grid->first + row * grid->nx + column;
                if (!(c->nodes.flags[node] & TH_NODE_WALKABLE)) continue;
                th_vec2 p = th_node_position(&c->nodes, grid, node);
                th_vec2 q = th_goal_nearest(goal, p, 0.01f);
                float distance = th_length(th_sub(q, p));
                if (distance > GOAL_RANGE * c->nodes.spacing ||
                    !th_clear_path(&walls, th_goal_level(goal), p, q) ||
                    !th_goal_has_room(&walls, goal, p, q, need))
                    continue;
                found->nodes[found->count++] = (th_goal_node){node, distance};
            }
    }
}

bool th_continuum_take_note_of_walls(th_continuum *c, const th_world *world) {
    if (c->graph_version == world->walls_version) return false;
    th_walls walls = th_world_walls(world);
    th_graph_update(&c->graph, &walls);
    for (int k = 0; k < c->potential_count; ++k) find_goal_nodes(c, world, c->potentials[k].target);
    c->graph_version = world->walls_version;
    return true;
}

// ---- potentials

static void find_wanted(th_continuum *c, const th_world *world) {
    memset(c->wanted, 0, (size_t)c->potential_count);
    for (int i = 0; i < world->agents.count; ++i) {
        int potential = th_continuum_potential_of(c, world, i);
        if (potential >= 0) c->wanted[potential] = 1;
    }
}

static bool same_params(const th_world *world, int g, int h) {
    const float *a = world->groups[g].plan_params, *b = world->groups[h].plan_params;
    for (size_t k = 0; k < sizeof(th_continuum_params) / sizeof(float); ++k)
        if (a[k] != b[k]) return false;
    return true;
}

void th_continuum_find_shared(th_continuum *c, const th_world *world) {
    for (int g = 0; g < world->scene->group_count; ++g) {
        c->same_faces[g] = g;
        for (int h = 0; h < g && th_continuum_has(world, g); ++h)
            if (th_continuum_has(world, h) && same_params(world, h, g)) {
                c->same_faces[g] = h;
                break;
            }
    }
    for (int k = 0; k < c->potential_count; ++k) {
        th_potential *p = &c->potentials[k];
        p->shared = k;
        for (int j = 0; j < k; ++j) {
            const th_potential *q = &c->potentials[j];
            if (q->target == p->target && c->same_faces[q->group] == c->same_faces[p->group]) {
                p->shared = j;
                break;
            }
        }
    }
}

uint64_t th_continuum_every(const th_world *world) {
    float every = 1000.0f;
    for (int g = 0; g < world->scene->group_count; ++g)
        if (th_continuum_has(world, g))
            every = th_min(every, th_continuum_params_of(world, g)->every);
    return (uint64_t)(every + 0.5f);
}

static bool is_due(const th_continuum *c, const th_world *world) {
    if (world->step_count % th_continuum_every(world) == 0) return true;
    for (int k = 0; k < c->potential_count; ++k)
        if (c->wanted[k] && !c->solved[k]) return true;
    return false;
}

static int solver_threads(const th_continuum *c, const th_world *world) {
    int threads = world->threads < c->solver_count ? world->threads : c->solver_count;
    return threads > 0 ? threads : 1;
}

void th_continuum_solve(th_continuum *c, const th_world *world) {
    uint64_t taken = 0;
#pragma omp parallel for num_threads(solver_threads(c, world)) schedule(dynamic, 1) \
    reduction(+ : taken)
    for (int k = 0; k < c->potential_count; ++k) {
        c->solved[k] = c->wanted[k];
        if (!c->wanted[k]) continue;
        const th_potential *potential = &c->potentials[k];
        const th_goal_nodes *goals = &c->goals[potential->target];
        int faces = c->same_faces[potential->group];
        const th_continuum_params *p = th_continuum_params_of(world, faces);
        th_buckets *solver = &c->solvers[omp_get_thread_num()];
        th_potential_solve(solver, &c->faces[faces], th_face_cost(p, p->top_speed, 0.0f),
                           goals->nodes, goals->count, potential->values);
        taken += solver->taken;
    }
    c->nodes_taken = taken;
    ++c->solutions;
}

// Faces of every set of parameters that a wanted potential has.
static void make_faces(const th_continuum *c, const th_world *world) {
    for (int g = 0; g < world->scene->group_count; ++g) {
        bool used = false;
        for (int k = 0; k < c->potential_count; ++k)
            used = used || (c->wanted[k] && c->same_faces[c->potentials[k].group] == g);
        if (used) th_continuum_make_faces(c, world, g);
    }
}

static void run(th_world *world, int model) {
    (void)model;
    th_continuum *c = state_of(world);
    bool changed = th_continuum_take_note_of_walls(c, world);
    th_continuum_find_shared(c, world);
    find_wanted(c, world);
    if (changed || is_due(c, world)) {
        th_splat_settings set = th_splat_settings_of(world);
        th_continuum_splat(c, world, &set);
        make_faces(c, world);
        th_continuum_solve(c, world);
    }
    th_continuum_walk(c, world);
}

// ---- snapshots: potentials and faces as they were solved, for groups that solve them less often than every step

static size_t saved_size(const th_world *world, int model) {
    (void)model;
    const th_continuum *c = state_of(world);
    size_t bytes = (size_t)c->potential_count * sizeof(float);
    for (int g = 0; g < world->scene->group_count; ++g)
        if (c->faces[g].cost) bytes += 2 * sizeof(th_node_faces);
    return bytes * (size_t)c->nodes.count + (size_t)c->potential_count + sizeof(uint32_t);
}

// Calls visit(pointer, bytes) for every array that is saved.
#define EACH_SAVED(c, world, visit)                                         \
    do {                                                                    \
        size_t nodes_ = (size_t)(c)->nodes.count;                           \
        for (int k = 0; k < (c)->potential_count; ++k)                      \
            visit((c)->potentials[k].values, nodes_ * sizeof(float));       \
        for (int g = 0; g < (world)->scene->group_count; ++g)               \
            if ((c)->faces[g].cost) {                                       \
                visit((c)->faces[g].cost, nodes_ * sizeof(th_node_faces));  \
                visit((c)->faces[g].speed, nodes_ * sizeof(th_node_faces)); \
            }                                                               \
    } while (0)

static void save(const th_world *world, int model, void *memory) {
    (void)model;
    const th_continuum *c = state_of(world);
    char *to = memory;
#define PUT(values, bytes) memcpy(to, values, bytes), to += (bytes)
    EACH_SAVED(c, world, PUT);
#undef PUT
    uint32_t stale = c->graph_version != world->walls_version;
    memcpy(to, &stale, sizeof stale);
    memcpy(to + sizeof stale, c->solved, (size_t)c->potential_count);
}

static bool saved_is_sound(const th_world *world, int model, const void *memory, size_t size) {
    const th_continuum *c = state_of(world);
    if (size != saved_size(world, model)) return false;
    size_t values = (size - (size_t)c->potential_count - sizeof(uint32_t)) / sizeof(float);
    for (size_t i = 0; i < values; ++i) {
        float value;
        memcpy(&value, (const char *)memory + i * sizeof value, sizeof value);
        if (!(value >= 0.0f && value <= TH_UNREACHABLE)) return false;
    }
    const uint8_t *flags = (const uint8_t *)memory + size - (size_t)c->potential_count;
    for (int k = 0; k < c->potential_count; ++k)
        if (flags[k] > 1) return false;
    return true;
}

static void restore(th_world *world, int model, const void *memory) {
    (void)model;
    th_continuum *c = state_of(world);
    const char *from = memory;
#define GET(values, bytes) memcpy(values, from, bytes), from += (bytes)
    EACH_SAVED(c, world, GET);
#undef GET
    uint32_t stale;
    memcpy(&stale, from, sizeof stale);
    memcpy(c->solved, from + sizeof stale, (size_t)c->potential_count);
    c->graph_version = world->walls_version - 1;
    th_continuum_take_note_of_walls(c, world);
    if (stale) c->graph_version = world->walls_version - 1; // the next step solves again
}

static int statistics(const th_world *world, int model, th_model_value *values, int max) {
    (void)model;
    const th_continuum *c = state_of(world);
    int solved = 0;
    for (int k = 0; k < c->potential_count; ++k) solved += c->solved[k];
    const th_model_value all[] = {{"nodes", "1", (double)c->nodes.count},
                                  {"potentials", "1", (double)solved},
                                  {"nodes_taken", "1", (double)c->nodes_taken},
                                  {"solutions", "1", (double)c->solutions}};
    for (int k = 0; k < TH_COUNT_OF(all) && k < max; ++k) values[k] = all[k];
    return TH_COUNT_OF(all);
}

static const th_param_info params[] = {TH_CONTINUUM_PARAMS(TH_PARAM_INFO)};
static const char *edited(th_world *world, int model, int group, const float *before) {
    const th_continuum_params *p =
        (const th_continuum_params *)(const void *)th_model_params(world, model, group);
    const th_continuum_params *old = (const th_continuum_params *)(const void *)before;
    return p->cell == old->cell ? NULL : TH_FIXED_AT_START;
}

const th_model th_plan_continuum_model = {
    .cookie = TH_MODEL_COOKIE,
    .stage = TH_STAGE_PLAN,
    .name = "continuum",
    .doc = "down a potential that already counts the crowd: its flow, its density, where it goes",
    .source = "Treuille, Cooper, Popovic 2006; Cheng 2013",
    .params = params,
    .param_count = TH_COUNT_OF(params),
    .run = run,
    .create = create,
    .destroy = destroy,
    .saved_size = saved_size,
    .save = save,
    .saved_is_sound = saved_is_sound,
    .restore = restore,
    .directions = th_continuum_directions,
    .statistics = statistics,
    .needs_lattice = true,
    .heeds = 1 << TH_PICTURE_DISCOMFORT | 1 << TH_PICTURE_HEIGHT,
    .weighs_ways = true,
    .spacing = spacing,
    .edited = edited,
};
