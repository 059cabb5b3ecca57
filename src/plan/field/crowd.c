// Quickest ways: once a second the fields are solved again with the crowd as it stands, so that people spread
// over a wide corner and leave a jammed exit for a free one (T. Kretz, Pedestrian traffic: on the quickest
// path, J. Stat. Mech. 2009; here the delay comes from Weidmann's speeds). The density last seen is a byte per node;
// snapshots keep it, so that restored worlds solve the same fields bit by bit.
// Cost: half a microsecond per node and target, once a second. SPDX-License-Identifier: Apache-2.0
#include "formula/params.h"
#include "formula/weidmann.h"
#include "plan/field/field.h"
#include "plan/plan.h"
#include "plan/prepared.h"
#include "state/device.h"
#include "state/ranks.h"
#include <string.h>

// X(name, default, min, max, "unit", "source", "doc")
#define TH_FIELD_PLAN_PARAMS(X)                                                                   \
    X(crowd_weight, 0, 0, 1, "-", "Kretz 2009, the quickest path; 0: the shortest way, as ever",  \
      "1: ways are the quickest through the crowd as it stands, looked at once a second; groups " \
      "that "                                                                                     \
      "share a goal share the largest weight")

typedef struct th_field_plan_params {
    TH_FIELD_PLAN_PARAMS(TH_PARAM_MEMBER)
} th_field_plan_params;

static const float INTERVAL = 1.0f; // [s] how often people look; as the arc of DenseSense
// The width over which people count, as the deviation of a Gaussian: planners shall see the crowd ahead, not single people.
// With 0.5 m two agents abreast in a door of 1 m each avoid the middle, and get stuck. [m]
static const float SPREAD = 1.0f;
enum { PASSES_MOST = 100 };       // of spreading; lattices finer than 0.17 m spread people less far
static const float STEPS = 16.0f; // of density per person/m2: a byte reaches to 15.9

static bool wanted(const th_scene *scene) {
    for (int g = 0; g < scene->group_count; ++g) {
        const th_model_choice *plan = &scene->groups[g].plan;
        if (plan->model == TH_PLAN_FIELD &&
            ((const th_field_plan_params *)plan->params)->crowd_weight > 0.0f)
            return true;
    }
    return false;
}

// In force now: parameters may be edited while the world runs.
static float crowd_weight(const th_world *world) {
    float weight = 0.0f;
    for (int g = 0; g < world->scene->group_count; ++g)
        if (world->groups[g].plan == TH_PLAN_FIELD)
            weight = th_max(
                weight, ((const th_field_plan_params *)world->groups[g].plan_params)->crowd_weight);
    return weight;
}

// State of the model in a world with a lattice where a group wants the quickest way.
typedef struct crowd_view {
    uint8_t *density; // around every node when last looked at, in 1/16 per m2
    float *work[2];   // the same while people are spread over the nodes around them
    float *cost;      // of a metre at a density, 256 of them
} crowd_view;

static crowd_view *view_of(const th_world *world) { return world->model_state[TH_PLAN_FIELD]; }

static bool create(th_world *world, int model) {
    struct th_plan_world *plan = world->plan;
    const th_nodes *nodes = &world->scene->plan->nodes;
    if (!nodes->scene || !wanted(world->scene)) return true;
    if (th_plan_world_reserve(world, NULL) != TH_OK) return false;
    crowd_view *view = th_alloc(&world->memory, 1, sizeof *view);
    if (!view) return false;
    world->model_state[model] = view;
    view->density = th_alloc(&world->memory, (size_t)nodes->count, 1);
    for (int k = 0; k < 2; ++k)
        view->work[k] = th_alloc(&world->memory, (size_t)nodes->count, sizeof(float));
    view->cost = th_alloc(&world->memory, 256, sizeof *view->cost);
    if (!view->density || !view->work[0] || !view->work[1] || !view->cost) return false;
    plan->replan.state.steps = 0; // solved every second anyway
    plan->next.crowd = view->density;
    plan->next.crowd_cost = view->cost;
    for (int size = 0; size < world->scene->size_count; ++size) {
        plan->plans[size].graph.crowd = view->density;
        plan->plans[size].graph.crowd_cost = view->cost;
    }
    for (int k = 0; k < 256; ++k) view->cost[k] = 1.0f;
    return true;
}

static void destroy(th_world *world, int model) {
    crowd_view *view = view_of(world);
    size_t count = (size_t)world->scene->plan->nodes.count;
    th_dealloc(&world->memory, view->density, count, 1);
    for (int k = 0; k < 2; ++k) th_dealloc(&world->memory, view->work[k], count, sizeof(float));
    th_dealloc(&world->memory, view->cost, 256, sizeof *view->cost);
    th_dealloc(&world->memory, view, 1, sizeof *view);
    world->model_state[model] = NULL;
}

static size_t saved_size(const th_world *world, int model) {
    (void)model;
    return view_of(world) ? (size_t)world->scene->plan->nodes.count : 0;
}
static void save(const th_world *world, int model, void *memory) {
    if (view_of(world)) memcpy(memory, view_of(world)->density, saved_size(world, model));
}
static bool saved_is_sound(const th_world *world, int model, const void *memory, size_t size) {
    (void)memory; // every byte is a density
    return size == saved_size(world, model);
}

static void put_people(th_world *world, float *people, uint32_t *numbers) {
    const th_nodes *nodes = &world->scene->plan->nodes;
    const th_agents *agents = &world->agents;
    memset(people, 0, (size_t)nodes->count * sizeof *people);
    for (int i = 0; i < agents->count; ++i) {
        if (th_is_ghost(world, (uint32_t)i)) continue;
        const th_node_level *grid = &nodes->levels[agents->level[i]];
        float x = (agents->position_x[i] - grid->origin.x) * nodes->inverse_spacing + 0.5f;
        float y = (agents->position_y[i] - grid->origin.y) * nodes->inverse_spacing + 0.5f;
        if (!(x >= 0.0f && y >= 0.0f && x < (float)grid->nx && y < (float)grid->ny)) continue;
        people[grid->first + (int)y * grid->nx + (int)x] +=
            1.0f; // whole numbers: any order will do
    }
    if (!world->ranks) return;
    for (int i = 0; i < nodes->count; ++i) numbers[i] = (uint32_t)people[i];
    th_ranks_sum32(world, numbers, nodes->count);
    for (int i = 0; i < nodes->count; ++i) people[i] = (float)numbers[i];
}

// One pass of diffusion over the links: what flows out of one node flows into the next, and nothing flows
// through a wall, so people beside a wall are as dense as they are and agents behind one are not felt.
static void spread_level(const th_graph *graph, const th_node_level *grid, const float *from,
                         float *to) {
    const float share = 1.0f / 6.0f; // below 1/4, or it would swing
    for (int i = grid->first; i < grid->first + grid->nx * grid->ny; ++i) {
        unsigned links = graph->links[i];
        float here = from[i], change = 0.0f;
        if (links & 1u) change += from[i + 1] - here;
        if (links & 4u) change += from[i + grid->nx] - here;
        if (links & 16u) change += from[i - 1] - here;
        if (links & 64u) change += from[i - grid->nx] - here;
        to[i] = here + share * change;
    }
}

static void look_at_crowd(th_world *world) {
    crowd_view *view = view_of(world);
    const th_nodes *nodes = &world->scene->plan->nodes;
    float *from = view->work[0], *to = view->work[1];
    float widths = SPREAD * nodes->inverse_spacing, scale = nodes->inverse_spacing;
    int passes = (int)(3.0f * widths * widths + 0.5f); // each adds h^2 / 3 to the variance
    put_people(world, from, (uint32_t *)(void *)to);
    for (int n = 0; n < passes && n < PASSES_MOST; ++n) {
        for (int l = 0; l < world->scene->level_count; ++l)
            spread_level(&world->plan->plans[0].graph, &nodes->levels[l], from, to);
        float *swap = from;
        from = to;
        to = swap;
    }
    for (int i = 0; i < nodes->count; ++i) {
        float value = STEPS * scale * scale * from[i] + 0.5f;
        view->density[i] = (uint8_t)(value < 255.0f ? value : 255.0f);
    }
}

// Solves the fields again with the crowd as last looked at.
static void solve(th_world *world) {
    struct th_plan_world *plan = world->plan;
    float weight = crowd_weight(world);
    for (int k = 0; k < 256; ++k)
        view_of(world)->cost[k] = th_crowd_slowness((float)k / STEPS, weight);
    for (int size = 0; size < world->scene->size_count; ++size) {
        const th_plans *plans = &plan->plans[size];
        th_walls walls = th_walls_for(world->scene, th_world_walls(world), size);
        for (int t = 0; t < world->scene->target_count; ++t)
            if (plans->fields[t])
                th_field_solve(&plans->graph, &walls, &world->scene->targets[t], &plan->front,
                               plans->fields[t]);
    }
}

bool th_plan_crowd_is_due(const th_world *world) {
    uint64_t every = (uint64_t)th_max(1.0f, INTERVAL / world->dt + 0.5f);
    return view_of(world) && world->step_count % every == 0;
}

void th_plan_crowd_look(th_world *world) {
    look_at_crowd(world);
    solve(world);
}

static void restore(th_world *world, int model, const void *memory) {
    if (!view_of(world)) return;
    memcpy(view_of(world)->density, memory, saved_size(world, model));
    solve(world);
}

static void run(th_world *world, int model) {
    if (th_plan_crowd_is_due(world)) th_plan_crowd_look(world);
    th_plan_people(world, model);
}

static const char *edited(th_world *world, int model, int group, const float *before) {
    (void)model, (void)group, (void)before;
    bool needed = crowd_weight(world) > 0.0f && world->scene->plan->nodes.scene;
    return needed && !view_of(world) ? TH_FIXED_AT_START : NULL;
}

static const th_param_info params[] = {TH_FIELD_PLAN_PARAMS(TH_PARAM_INFO)};
const th_model th_plan_field_model = {
    .cookie = TH_MODEL_COOKIE,
    .stage = TH_STAGE_PLAN,
    .name = "field",
    .doc = "down the walking-distance field of the goal, shared by all people with that goal",
    .source = "eikonal equation; Sethian 1996",
    .params = params,
    .param_count = TH_COUNT_OF(params),
    .run = run,
    .reach = th_reads_none,
    .create = create,
    .destroy = destroy,
    .saved_size = saved_size,
    .save = save,
    .saved_is_sound = saved_is_sound,
    .restore = restore,
    .edited = edited,
    .needs_lattice = true,
    .tells_apart = true,
};
