// Navigation fields: solved when an agent first walks a leg, and again when a door or wall that the field reaches has
// changed; with `every` also every so many steps, with what the crowd costs by then. Cost of a solution about two
// microseconds a node; of a step that of looking four directions up per person.
// A field belongs to a leg of a group's route; groups with equal parameters share those of equal goals.
// SPDX-License-Identifier: Apache-2.0
#include "plan/guided/guided.h"
#include "core/parallel.h"
#include "plan/plan.h"

// Where the crowd is counted [m]: a body and a half, as in the plan continuum. On finer nodes a jam has gaps.
static const float CROWD_CELL = 0.5f;

static th_guided *state_of(const th_world *world) { return world->model_state[TH_PLAN_GUIDED]; }

static const th_guided_params *params_of(const th_world *world, int group) {
    return (const th_guided_params *)world->groups[group].plan_params;
}

static const th_guided_params *scene_params(const th_world *world, int group) {
    return (const th_guided_params *)world->scene->groups[group].plan.params;
}

// ---- which legs share a field

static bool same_params(const th_guided_params *a, const th_guided_params *b) {
    const float *x = (const float *)a, *y = (const float *)b;
    for (size_t k = 0; k < sizeof *a / sizeof(float); ++k)
        if (x[k] != y[k]) return false;
    return true;
}

// Steps between two solutions that count the crowd; 0: none.
static uint64_t every_of(const th_world *world, int group) {
    return (uint64_t)(scene_params(world, group)->every + 0.5f);
}

static void find_shared(th_guided *s) {
    ++s->changes;
    for (int k = 0; k < s->field_count; ++k) {
        th_guided_leg *f = &s->fields[k];
        f->shared = k;
        f->solved = f->spread = false;
        for (int j = 0; j < k && f->shared == k; ++j) {
            const th_guided_leg *g = &s->fields[j];
            if (g->target == f->target && g->size == f->size && g->every == f->every &&
                same_params(&s->params[g->group], &s->params[f->group]))
                f->shared = j;
        }
    }
}

// ---- memory

// Limits of the lattice: memory for the fields of all legs, and a solution of each before the first step.
static const double BYTES_MOST = 2.5e8;   // [bytes]
static const double SOLUTIONS_MOST = 2e6; // nodes times legs, about 0.7 us each

typedef struct lattice_wish {
    float cell;  // [m] 0: that of the scene's plan
    double most; // nodes
} lattice_wish;

static lattice_wish lattice_for(const th_scene *scene) {
    lattice_wish wish = {0};
    double legs = 0.0, bytes = 100.0;
    for (int g = 0; g < scene->group_count; ++g) {
        if (scene->groups[g].plan.model != TH_PLAN_GUIDED) continue;
        const th_guided_params *p = (const th_guided_params *)scene->groups[g].plan.params;
        bool counts_crowd = p->every > 0.5f;
        float cell = p->cell == 0.0f && counts_crowd ? CROWD_CELL : p->cell;
        if (cell > 0.0f && (wish.cell == 0.0f || cell < wish.cell)) wish.cell = cell;
        double own = (double)th_group_ways(&scene->groups[g]) * scene->size_count;
        legs += own;
        bytes += own * (counts_crowd ? 24.0 : 12.0);
    }
    wish.most = fmin(BYTES_MOST / bytes, SOLUTIONS_MOST / fmax(legs, 1.0));
    return wish;
}

static float spacing(const th_scene *scene, int model, float *wanted) {
    (void)model;
    lattice_wish wish = lattice_for(scene);
    *wanted = wish.cell > 0.0f ? wish.cell : th_nodes_wanted_spacing(scene);
    return th_nodes_spacing_within(scene, (double)wish.cell, wish.most);
}

static void take_fields(th_guided *s, const th_world *world) {
    const th_scene *scene = world->scene;
    size_t legs = 0, count = (size_t)s->nodes.count;
    for (int g = 0; g < scene->group_count; ++g)
        if (th_guided_has(world, g))
            legs += (size_t)th_group_ways(&scene->groups[g]) * (size_t)scene->size_count;
    s->fields = th_arena_alloc(&s->arena, legs, sizeof *s->fields);
    s->first_field = th_arena_alloc(&s->arena, (size_t)scene->group_count, sizeof(int));
    s->params = th_arena_alloc(&s->arena, (size_t)scene->group_count, sizeof *s->params);
    for (int g = 0; !s->arena.failed && g < scene->group_count; ++g) {
        s->first_field[g] = s->field_count;
        for (int k = 0; th_guided_has(world, g) && k < th_group_ways(&scene->groups[g]); ++k)
            for (int size = 0; size < scene->size_count; ++size) {
                th_guided_leg *f = &s->fields[s->field_count++];
                *f = (th_guided_leg){.group = g, .target = scene->groups[g].route[k], .size = size};
                f->values.potential = th_arena_alloc(&s->arena, count, sizeof(float));
                f->values.direction = th_arena_alloc(&s->arena, count, sizeof(th_vec2));
                f->every = every_of(world, g);
                if (f->every == 0) continue;
                f->guidance = th_arena_alloc(&s->arena, count, sizeof(th_vec2));
                f->slowness = th_arena_alloc(&s->arena, count, sizeof(float));
            }
    }
}

static void take_crowd(th_guided *s, const th_world *world) {
    bool counted = false;
    for (int g = 0; g < world->scene->group_count; ++g)
        counted = counted || (th_guided_has(world, g) && every_of(world, g) > 0);
    if (!counted) return;
    th_continuum *c = &s->crowd;
    float **grids[] = {&c->density, &c->flow_x, &c->flow_y, &c->discomfort, &c->static_discomfort};
    c->nodes = s->nodes;
    c->sums = th_arena_alloc(&s->arena, (size_t)s->nodes.count, sizeof *c->sums);
    for (int k = 0; k < TH_COUNT_OF(grids); ++k)
        *grids[k] = th_arena_alloc(&s->arena, (size_t)s->nodes.count, sizeof(float));
}

static void destroy(th_world *world, int model) {
    th_guided *s = state_of(world);
    if (!s) return;
    for (int size = 0; size < TH_SIZE_MAX; ++size)
        th_graph_destroy(&s->graphs[size], &world->memory);
    th_graph_destroy(&s->next, &world->memory);
    th_nodes_release(&s->nodes);
    th_arena_release(&s->arena);
    th_dealloc(&world->memory, s, 1, sizeof *s);
    world->model_state[model] = NULL;
}

static bool create(th_world *world, int model) {
    th_guided *s = th_alloc(&world->memory, 1, sizeof *s);
    if (!s) return false;
    world->model_state[model] = s;
    s->arena = th_arena_of(&world->memory.allocator);
    lattice_wish wish = lattice_for(world->scene);
    if (th_nodes_build_within(&s->nodes, world->scene, (double)wish.cell, wish.most, NULL) != TH_OK)
        return false;
    bool done = th_graph_create(&s->next, &s->nodes, &world->memory);
    for (int size = 0; done && size < world->scene->size_count; ++size)
        done = th_graph_create(&s->graphs[size], &s->nodes, &world->memory);
    if (!done) return false;
    s->graph_version = world->walls_version - 1;
    take_fields(s, world);
    take_crowd(s, world);
    if (s->arena.failed) return false;
    for (int g = 0; g < world->scene->group_count; ++g)
        if (th_guided_has(world, g)) s->params[g] = *scene_params(world, g);
    find_shared(s);
    int team = world->team.most > world->threads ? world->team.most : world->threads;
    int workers = team < TH_GUIDED_WORKERS ? team : TH_GUIDED_WORKERS;
    for (; s->worker_count < workers && s->worker_count < s->field_count; ++s->worker_count)
        th_guided_work_create(&s->workers[s->worker_count], s->nodes.count, &s->arena);
    return !s->arena.failed;
}

// ---- changes of walls

static bool reaches(const th_guided_leg *f, int node) {
    return f->values.potential[node] < TH_UNREACHABLE;
}

// Does the field reach an end of a link that differs between the two graphs? If not, all its nodes have the links they
// had.
static bool is_touched(const th_guided_leg *f, const th_graph *before, const th_graph *after) {
    for (int i = 0; i < before->nodes->count; ++i)
        if (before->links[i] != after->links[i] && reaches(f, i)) return true;
    for (int i = 0; i < before->nodes->portal_count; ++i) {
        const th_portal *portal = &before->portals[i];
        if (memcmp(portal, &after->portals[i], sizeof *portal) != 0 && reaches(f, portal->node))
            return true;
    }
    return false;
}

// Bits of the line goals of a target, of their places modulo 32, that have room for a body. A door that shuts on an exit of the
// outer wall changes no link.
static uint32_t goals_with_room(const th_world *world, const th_walls *walls, int target) {
    const th_target *goals = &world->scene->targets[target];
    float need = th_least_need(world->scene, walls);
    uint32_t rooms = 0;
    for (int k = 0; k < goals->goal_count; ++k) {
        const th_goal *goal = &world->scene->goals[goals->goals[k]];
        th_vec2 a = goal->line.a, along = th_sub(goal->line.b, a);
        for (int part = 1; goal->is_line && part < 16; ++part)
            if (th_body_fits(walls, goal->line.level,
                             th_add(a, th_scale(0.0625f * (float)part, along)), need))
                rooms |= 1u << (k & 31);
    }
    return rooms;
}

static void take_note_of_walls(th_guided *s, const th_world *world) {
    if (s->graph_version == world->walls_version) return;
    th_walls walls = th_world_walls(world);
    for (int size = 0; size < world->scene->size_count; ++size) {
        th_walls sized = th_walls_for(world->scene, walls, size);
        th_graph_update(&s->next, &sized);
        for (int k = 0; k < s->field_count; ++k) {
            th_guided_leg *f = &s->fields[k];
            // Fields that count the crowd are solved again anyway, and a snapshot cannot tell which were touched.
            if (f->size == size && f->solved &&
                (f->every > 0 || f->rooms != goals_with_room(world, &sized, f->target) ||
                 is_touched(f, &s->graphs[size], &s->next)))
                f->solved = false;
        }
        th_graph swap = s->graphs[size];
        s->graphs[size] = s->next;
        s->next = swap;
    }
    s->graph_version = world->walls_version;
    ++s->changes;
}

static void take_note_of_params(th_guided *s, const th_world *world) {
    bool changed = false;
    for (int g = 0; g < world->scene->group_count; ++g) {
        if (!th_guided_has(world, g) || same_params(&s->params[g], params_of(world, g))) continue;
        s->params[g] = *params_of(world, g);
        changed = true;
    }
    if (changed) find_shared(s);
}

// ---- solving

// While a field is unsolved all agents state theirs; in other steps none does.
static void find_wanted(const th_guided *s, const th_world *world) {
    for (int k = 0; k < s->field_count; ++k) s->fields[k].wanted = false;
#pragma omp parallel for num_threads(world->threads) schedule(static)
    for (int i = 0; i < world->agents.count; ++i) {
        if (!th_guided_has(world, (int)world->agents.group[i])) continue;
        th_guided_leg *f = th_guided_leg_of(s, world, i);
        if (!f) continue;
        bool known;
#pragma omp atomic read
        known = f->wanted;
        if (known) continue;
#pragma omp atomic write // all writers write the same value
        f->wanted = true;
    }
}

static int solver_threads(const th_guided *s, const th_world *world) {
    int most = world->threads < s->worker_count ? world->threads : s->worker_count;
    return most > 0 ? most : 1;
}

bool th_guided_counts_crowd(const th_guided *s) {
    for (int k = 0; k < s->field_count; ++k) {
        const th_guided_leg *f = &s->fields[k];
        if (f->every > 0 && f->wanted && !f->solved) return true;
    }
    return false;
}

static void count_crowd(th_guided *s, const th_world *world) {
    const th_splat_settings set = {.exponent = 1.0f};
    s->crowd.graph = s->graphs[0];
    th_continuum_splat(&s->crowd, world, &set);
}

static void solve_field(th_guided *s, const th_world *world, th_guided_leg *f,
                        th_guided_work *work) {
    th_walls sized = th_walls_for(world->scene, th_world_walls(world), f->size);
    th_guided_problem problem = {&s->graphs[f->size], &sized, f->target, &s->params[f->group],
                                 f->every > 0 ? &s->crowd : NULL};
    th_guided_work own = *work;
    if (f->every > 0) {
        own.guidance = f->guidance;
        own.slowness = f->slowness;
    }
    if (!f->spread) th_guided_spread(&problem, &own);
    f->spread = f->every > 0;
    th_guided_solve(&problem, &own, &f->values);
    f->rooms = goals_with_room(world, &sized, f->target);
    f->solved = true;
    ++f->version;
    work->settled = own.settled;
}

void th_guided_solve_wanted(th_guided *s, const th_world *world) {
    if (th_guided_counts_crowd(s)) count_crowd(s, world);
    uint64_t solutions = 0, settled = 0;
#pragma omp parallel for num_threads(solver_threads(s, world)) schedule(dynamic, 1) \
    reduction(+ : solutions, settled)
    for (int k = 0; k < s->field_count; ++k) {
        th_guided_leg *f = &s->fields[k];
        if (!f->wanted || f->solved) continue;
        th_guided_work *work = &s->workers[omp_get_thread_num()];
        solve_field(s, world, f, work);
        ++solutions;
        settled += work->settled;
    }
    s->solutions += solutions;
    if (solutions > 0) s->settled = settled;
}

// ---- people

static void walk(const th_guided *s, th_world *world) {
    th_planner planner = th_planner_of(world);
    const th_agents *agents = &world->agents;
    uint64_t unreachable = 0;
#pragma omp parallel for num_threads(world->threads) schedule(dynamic, 4) reduction(+ : unreachable)
    for (int block = 0; block < th_block_count(agents->count); ++block) {
        int end = (block + 1) * TH_BLOCK < agents->count ? (block + 1) * TH_BLOCK : agents->count;
        for (int i = block * TH_BLOCK; i < end; ++i) {
            if (th_guided_has(world, (int)agents->group[i]))
                unreachable += (uint64_t)th_guided_plan(s, &planner, i);
        }
    }
    world->counters.unreachable += unreachable;
}

bool th_guided_begin(th_guided *s, const th_world *world) {
    take_note_of_walls(s, world);
    take_note_of_params(s, world);
    bool all = true;
    for (int k = 0; k < s->field_count; ++k) {
        th_guided_leg *f = &s->fields[k];
        if (f->every > 0 && world->step_count % f->every == 0) f->solved = false;
        all = all && (f->solved || f->shared != k);
    }
    return !all;
}

static void run(th_world *world, int model) {
    (void)model;
    th_guided *s = state_of(world);
    if (th_guided_begin(s, world)) {
        find_wanted(s, world);
        th_guided_solve_wanted(s, world);
    }
    walk(s, world);
}

// ---- snapshots: fields follow from walls and parameters, so nothing is saved but those that counted a crowd of the past.
// The walls may be others afterwards.

static size_t field_bytes(const th_guided *s) {
    return (size_t)s->nodes.count * (sizeof(float) + sizeof(th_vec2)) + 1;
}

static size_t saved_size(const th_world *world, int model) {
    (void)model;
    const th_guided *s = state_of(world);
    size_t bytes = 0;
    for (int k = 0; k < s->field_count; ++k)
        if (s->fields[k].every > 0) bytes += field_bytes(s);
    return bytes;
}

static void save(const th_world *world, int model, void *memory) {
    (void)model;
    const th_guided *s = state_of(world);
    unsigned char *to = memory;
    size_t count = (size_t)s->nodes.count;
    for (int k = 0; k < s->field_count; ++k) {
        const th_guided_leg *f = &s->fields[k];
        if (f->every == 0) continue;
        memcpy(to, f->values.potential, count * sizeof(float));
        to += count * sizeof(float);
        memcpy(to, f->values.direction, count * sizeof(th_vec2));
        to += count * sizeof(th_vec2);
        *to++ = f->solved && s->graph_version == world->walls_version;
    }
}

static bool field_is_sound(const unsigned char *from, size_t nodes) {
    for (size_t i = 0; i < 3 * nodes; ++i) { // costs, then directions
        float value;
        memcpy(&value, from + i * sizeof value, sizeof value);
        if (i < nodes ? !(value >= 0.0f && value <= TH_UNREACHABLE) : !(fabsf(value) <= 1.01f))
            return false;
    }
    return from[3 * nodes * sizeof(float)] <= 1;
}

static bool saved_is_sound(const th_world *world, int model, const void *memory, size_t size) {
    const th_guided *s = state_of(world);
    if (size != saved_size(world, model)) return false;
    const unsigned char *from = memory, *end = from + size;
    for (; from < end; from += field_bytes(s))
        if (!field_is_sound(from, (size_t)s->nodes.count)) return false;
    return true;
}

static void restore(th_world *world, int model, const void *memory) {
    (void)model;
    th_guided *s = state_of(world);
    const unsigned char *from = memory;
    size_t count = (size_t)s->nodes.count;
    s->graph_version = world->walls_version - 1;
    if (!s->crowd.sums) return;
    take_note_of_walls(s, world);
    take_note_of_params(s, world);
    for (int k = 0; k < s->field_count; ++k) {
        th_guided_leg *f = &s->fields[k];
        if (f->every == 0) continue;
        memcpy(f->values.potential, from, count * sizeof(float));
        from += count * sizeof(float);
        memcpy(f->values.direction, from, count * sizeof(th_vec2));
        from += count * sizeof(th_vec2);
        f->solved = *from++ != 0;
        ++f->version;
    }
}

// ---- what it shows

static int influences(th_world *world, int model, uint32_t i, th_influence *list, int max) {
    (void)model;
    const th_guided *s = state_of(world);
    const th_guided_leg *f = th_guided_leg_of(s, world, (int)i);
    if (!f || !f->solved) return 0;
    int level = (int)world->agents.level[i];
    th_vec2 at = th_position(&world->agents, i);
    th_walls walls = th_walls_for(world->scene, th_world_walls(world), f->size);
    th_way way = th_guided_way(&s->graphs[f->size], &walls, &f->values, level, at);
    const th_influence all[] = {{.kind = TH_INFLUENCE_VECTOR,
                                 .name = "navigation",
                                 .unit = "-",
                                 .at = at,
                                 .vector = way.direction},
                                {.kind = TH_INFLUENCE_FIGURE,
                                 .name = "cost to go",
                                 .unit = "m",
                                 .at = at,
                                 .size = way.distance}};
    for (int k = 0; k < TH_COUNT_OF(all) && k < max; ++k) list[k] = all[k];
    return TH_COUNT_OF(all);
}

static bool directions(th_world *world, int model, int group, int target, int level,
                       const th_vec2 *points, int count, th_vec2 *directions) {
    (void)model;
    const th_guided *s = state_of(world);
    const th_group *of = &world->scene->groups[group];
    const th_guided_leg *f = NULL;
    for (int way = 0; way < th_group_ways(of) && !f; ++way) {
        const th_guided_leg *one =
            &s->fields[s->first_field[group] + way * world->scene->size_count];
        one = &s->fields[one->shared];
        if (one->target == target && one->solved) f = one;
    }
    if (!f) return false;
    th_walls walls = th_walls_for(world->scene, th_world_walls(world), f->size);
    for (int k = 0; k < count; ++k) {
        th_way way = th_guided_way(&s->graphs[f->size], &walls, &f->values, level, points[k]);
        directions[k] = way.distance < TH_UNREACHABLE ? way.direction : th_v(0.0f, 0.0f);
    }
    return true;
}

static int statistics(const th_world *world, int model, th_model_value *values, int max) {
    (void)model;
    const th_guided *s = state_of(world);
    int solved = 0;
    for (int k = 0; k < s->field_count; ++k) solved += s->fields[k].solved;
    const th_model_value all[] = {{"nodes", "1", (double)s->nodes.count},
                                  {"fields", "1", (double)solved},
                                  {"solutions", "1", (double)s->solutions},
                                  {"nodes_settled", "1", (double)s->settled}};
    for (int k = 0; k < TH_COUNT_OF(all) && k < max; ++k) values[k] = all[k];
    return TH_COUNT_OF(all);
}

static const th_param_info params[] = {TH_GUIDED_PARAMS(TH_PARAM_INFO)};
static const char *edited(th_world *world, int model, int group, const float *before) {
    const th_guided_params *p =
        (const th_guided_params *)(const void *)th_model_params(world, model, group);
    const th_guided_params *old = (const th_guided_params *)(const void *)before;
    return p->cell == old->cell && p->every == old->every ? NULL : TH_FIXED_AT_START;
}

const th_model th_plan_guided_model = {
    .cookie = TH_MODEL_COOKIE,
    .stage = TH_STAGE_PLAN,
    .name = "guided",
    .doc = "the quickest way where strokes drawn on the ground carry people along",
    .source = "Patil, van den Berg, Curtis, Lin, Manocha 2011; Cheng 2013",
    .params = params,
    .param_count = TH_COUNT_OF(params),
    .sections = &th_strokes_section,
    .section_count = 1,
    .run = run,
    .create = create,
    .destroy = destroy,
    .saved_size = saved_size,
    .save = save,
    .saved_is_sound = saved_is_sound,
    .restore = restore,
    .influences = influences,
    .directions = directions,
    .statistics = statistics,
    .needs_lattice = true,
    .tells_apart = true,
    .heeds = 1 << TH_PICTURE_DISCOMFORT | 1 << TH_PICTURE_GUIDANCE | TH_HEEDS_GOALS,
    .weighs_ways = true,
    .spacing = spacing,
    .edited = edited,
};

// ---- strokes: the section "guidance" of the scene file

// Work of spreading strokes over the ground: every piece of a line is laid over the nodes within its radius.
enum { MAX_STROKES = 1000, MAX_POINTS = 10000 };
#define MAX_AREA 1e7 // [m2] of the boxes around all pieces and their radius

static const char *compile(void *items, int count, int *item) {
    const th_stroke *strokes = items;
    double area = 0.0;
    *item = -1;
    for (int k = 0; k < count; ++k) {
        const th_vec2 *p = strokes[k].line.points;
        double around = 2.0 * (double)strokes[k].radius;
        for (int i = 0; i + 1 < strokes[k].line.count; ++i)
            area += (fabs((double)(p[i + 1].x - p[i].x)) + around) *
                    (fabs((double)(p[i + 1].y - p[i].y)) + around);
    }
    return area > MAX_AREA ? "the strokes cover more than 1e7 m2; make them fewer, shorter or "
                             "narrower"
                           : NULL;
}

static const th_key_info keys[] = {
    {.name = "line",
     .kind = TH_KEY_LINE,
     .offset = offsetof(th_stroke, line),
     .required = true,
     .doc = "From its first point to its last, at least two points."},
    {.name = "radius",
     .kind = TH_KEY_NUMBER,
     .offset = offsetof(th_stroke, radius),
     .unit = "m",
     .min = 0,
     .above = true,
     .max = 20,
     .value = 2, // Patil 2011: strokes are as wide as a way
     .doc = "Distance from the line where the advice has faded to nothing [m], default 2."},
    {.name = "strength",
     .kind = TH_KEY_NUMBER,
     .offset = offsetof(th_stroke, strength),
     .unit = "-",
     .min = 0,
     .above = true,
     .max = 1, // no agent could walk against it
     .below = true,
     .value = 0.8, // nine times quicker along it than against it
     .doc = "Of the advice on the line, default 0.8."},
    {.name = "to",
     .kind = TH_KEY_GOAL,
     .offset = offsetof(th_stroke, to),
     .doc = "Goal whose people the stroke is for. Default: all people."},
};
const th_section_info th_strokes_section = {
    .name = "guidance",
    .item = "stroke",
    .doc = "Strokes on the ground that people who plan with \"guided\" prefer to walk along.",
    .item_size = sizeof(th_stroke),
    .keys = keys,
    .key_count = TH_COUNT_OF(keys),
    .max_items = MAX_STROKES,
    .max_points = MAX_POINTS,
    .reach_key = "radius",
    .leads = true,
    .colour = 0x7399d9,
    .compile = compile,
};
