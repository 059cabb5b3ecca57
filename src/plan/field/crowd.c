// Quickest ways: once a second the fields are solved again with the crowd as it stands, so that people spread
// over a wide corner and leave a jammed exit for a free one (T. Kretz, Pedestrian traffic: on the quickest
// path, J. Stat. Mech. 2009; here the delay comes from Weidmann's speeds). What the crowd was when it was
// looked at is a byte per node; snapshots keep it, and with it fields come out the same, bit by bit.
// Cost: half a microsecond per node and target, once a second. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "plan/field/quickest.h"
#include "plan/plan.h"
#include "plan/prepared.h"
#include "state/device.h"
#include <string.h>

static const float INTERVAL = 1.0f; // [s] how often people look; as the arc of DenseSense
// How far around themselves people count, as the deviation of a Gaussian: the crowd ahead is to be seen, not
// single people. With 0.5 m two who stand abreast in a door of 1 m each avoid the middle, and get stuck. [m]
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

th_result th_plan_crowd_create(th_world *world, th_error *error) {
    struct th_plan_world *plan = world->plan;
    const th_nodes *nodes = &world->scene->plan->nodes;
    if (!nodes->scene || !wanted(world->scene)) return TH_OK;
    th_result result = th_plan_world_reserve(world, error);
    if (result != TH_OK) return result;
    plan->crowd = th_alloc(&world->memory, (size_t)nodes->count, 1);
    for (int k = 0; k < 2; ++k)
        plan->crowd_work[k] = th_alloc(&world->memory, (size_t)nodes->count, sizeof(float));
    plan->crowd_cost = th_alloc(&world->memory, 256, sizeof *plan->crowd_cost);
    if (!plan->crowd || !plan->crowd_work[0] || !plan->crowd_work[1] || !plan->crowd_cost)
        return th_fail(
            error, TH_NO_MEMORY, "plan_cell",
            "no memory for the crowd on the lattice; free some or give a larger plan_cell");
    plan->plans.graph.crowd = plan->next.crowd = plan->crowd;
    plan->plans.graph.crowd_cost = plan->next.crowd_cost = plan->crowd_cost;
    for (int k = 0; k < 256; ++k) plan->crowd_cost[k] = 1.0f;
    return TH_OK;
}

void th_plan_crowd_destroy(th_world *world) {
    struct th_plan_world *plan = world->plan;
    size_t count = (size_t)world->scene->plan->nodes.count;
    th_free(&world->memory, plan->crowd, count, 1);
    for (int k = 0; k < 2; ++k) {
        th_free(&world->memory, plan->crowd_work[k], count, sizeof(float));
        plan->crowd_work[k] = NULL;
    }
    th_free(&world->memory, plan->crowd_cost, 256, sizeof *plan->crowd_cost);
    plan->crowd = NULL;
    plan->crowd_cost = NULL;
}

size_t th_plan_crowd_bytes(const th_world *world) {
    return world->plan->crowd ? (size_t)world->scene->plan->nodes.count : 0;
}

uint8_t *th_plan_crowd_image(const th_world *world) { return world->plan->crowd; }

static void put_people(th_world *world, float *people) {
    const th_nodes *nodes = &world->scene->plan->nodes;
    const th_agents *agents = &world->agents;
    memset(people, 0, (size_t)nodes->count * sizeof *people);
    for (int i = 0; i < agents->count; ++i) {
        const th_node_level *grid = &nodes->levels[agents->level[i]];
        float x = (agents->position_x[i] - grid->origin.x) * nodes->inverse_spacing + 0.5f;
        float y = (agents->position_y[i] - grid->origin.y) * nodes->inverse_spacing + 0.5f;
        if (!(x >= 0.0f && y >= 0.0f && x < (float)grid->nx && y < (float)grid->ny)) continue;
        people[grid->first + (int)y * grid->nx + (int)x] +=
            1.0f; // whole numbers: any order will do
    }
}

// One pass of diffusion over the links: what flows out of one node flows into the next, and nothing flows
// through a wall, so people beside a wall are as dense as they are and nobody is felt behind one.
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
    struct th_plan_world *plan = world->plan;
    const th_nodes *nodes = &world->scene->plan->nodes;
    float *from = plan->crowd_work[0], *to = plan->crowd_work[1];
    float widths = SPREAD * nodes->inverse_spacing, scale = nodes->inverse_spacing;
    int passes = (int)(3.0f * widths * widths + 0.5f); // each adds h^2 / 3 to the variance
    put_people(world, from);
    for (int n = 0; n < passes && n < PASSES_MOST; ++n) {
        for (int l = 0; l < world->scene->level_count; ++l)
            spread_level(&plan->plans.graph, &nodes->levels[l], from, to);
        float *swap = from;
        from = to;
        to = swap;
    }
    for (int i = 0; i < nodes->count; ++i) {
        float value = STEPS * scale * scale * from[i] + 0.5f;
        plan->crowd[i] = (uint8_t)(value < 255.0f ? value : 255.0f);
    }
}

void th_plan_crowd_solve(th_world *world) {
    struct th_plan_world *plan = world->plan;
    if (!plan->crowd) return;
    float weight = crowd_weight(world);
    for (int k = 0; k < 256; ++k) plan->crowd_cost[k] = th_crowd_slowness((float)k / STEPS, weight);
    th_walls walls = th_world_walls(world);
    for (int t = 0; t < world->scene->target_count; ++t)
        if (plan->plans.fields[t])
            th_field_solve(&plan->plans.graph, &walls, &world->scene->targets[t], &plan->front,
                           plan->plans.fields[t]);
}

bool th_plan_crowd_is_due(const th_world *world) {
    uint64_t every = (uint64_t)th_max(1.0f, INTERVAL / world->dt + 0.5f);
    return world->plan->crowd && world->step_count % every == 0;
}

void th_plan_crowd_look(th_world *world) {
    look_at_crowd(world);
    th_plan_crowd_solve(world);
}

void th_plan_crowd_update(th_world *world) {
    if (th_plan_crowd_is_due(world)) th_plan_crowd_look(world);
}
