// Undecided people: the loop over them. Cost O(people); an agent that chooses costs O(sights x rays).
// SPDX-License-Identifier: Apache-2.0
#include "behave/undecided/undecided.h"
#include "core/parallel.h"
#include "registry/models.h"
#include "state/ranks.h"
#include <stdio.h>
#include <string.h>

// Over ranks: the people before each sample of each goal's rim, of all ranks. NULL: no group looks at them.
static size_t counted_points(const th_world *world) {
    return (size_t)world->scene->goal_count * TH_SIGHT_SAMPLES;
}
static bool create(th_world *world, int model) {
    if (!world->ranks) return true;
    world->model_state[model] = th_alloc(&world->memory, counted_points(world), sizeof(uint32_t));
    return world->model_state[model];
}
static void destroy(th_world *world, int model) {
    th_dealloc(&world->memory, world->model_state[model], counted_points(world), sizeof(uint32_t));
    world->model_state[model] = NULL;
}

static void count_over_ranks(th_world *world, uint32_t *counted) {
    const th_goal *goals = world->scene->goals;
    memset(counted, 0, counted_points(world) * sizeof *counted);
    for (int g = 0; g < world->scene->goal_count; ++g)
        for (int k = 0; k < TH_SIGHT_SAMPLES; ++k) {
            float share = ((float)k + 0.5f) / (float)TH_SIGHT_SAMPLES;
            int level = goals[g].is_line ? goals[g].line.level : goals[g].area.level;
            if (!goals[g].is_line && goals[g].area.shape.ring_count == 0) continue; // no sight
            counted[g * TH_SIGHT_SAMPLES + k] =
                (uint32_t)th_sight_people(world, level, th_sight_rim(&goals[g], share));
        }
    th_ranks_sum32(world, counted, (int)counted_points(world));
}

static void run(th_world *world, int model) {
    if (world->ranks) count_over_ranks(world, world->model_state[model]);
    th_walls walls = th_world_walls(world);
#pragma omp parallel for num_threads(world->threads) schedule(static)
    for (int i = 0; i < world->agents.count; ++i) th_undecided_behave(world, &walls, (uint32_t)i);
}

// Bytes from outside: a choice is a leg of the group's route.
static bool fields_are_sound(const th_world *world, int model, int group, const uint32_t *fields) {
    (void)model;
    return fields[TH_UNDECIDED_NATURE] <= 2 &&
           fields[TH_UNDECIDED_CHOICE] <= (uint32_t)world->scene->groups[group].route_count;
}

static const char *check(const float *values, int *param) {
    const th_undecided_params *p = (const th_undecided_params *)(const void *)values;
    if (p->visibility_weight + p->history_weight + p->distance_weight + p->density_weight > 0.0f)
        return NULL;
    *param = (int)(&p->distance_weight - values);
    return "all weights are 0; give one of visibility_weight, history_weight, distance_weight and "
           "density_weight a value";
}

static bool idle(const th_scene *scene, int group, const float *values, char *text, size_t size) {
    const th_undecided_params *p = (const th_undecided_params *)(const void *)values;
    int sights = th_sights_of(scene, &scene->groups[group]);
    if (p->share <= 0.0f)
        snprintf(text, size, "the behaviour \"undecided\" has no effect: its share is 0");
    else if (sights == 0)
        snprintf(text, size,
                 "the behaviour \"undecided\" has no effect: the route has nothing to visit but "
                 "exits; add waypoints or waiting areas to it");
    else if (sights > TH_SIGHTS)
        snprintf(text, size,
                 "undecided people never choose the sights of the route after the first %d",
                 TH_SIGHTS);
    else
        return false;
    return true;
}

// A changed share makes some agents of the route undecided, or the other way round.
static const char *edited(th_world *world, int model, int group, const float *before) {
    (void)before;
    const th_undecided_params *p =
        (const th_undecided_params *)(const void *)th_model_params(world, model, group);
    uint32_t *nature = th_own_words(world, TH_BEHAVE_UNDECIDED, TH_UNDECIDED_NATURE);
    uint32_t *choice = th_own_words(world, TH_BEHAVE_UNDECIDED, TH_UNDECIDED_CHOICE);
    for (int i = 0; i < world->agents.count; ++i) {
        if (world->agents.group[i] != (uint32_t)group || nature[i] == 0) continue;
        uint32_t now = th_undecided_nature(world->seed, world->agents.id[i], p->share);
        if (now != nature[i]) choice[i] = 0;
        nature[i] = now;
    }
    return NULL;
}

#define VISITED(k) \
    { "visited_" #k, true, true, "when it was last at sight " #k " [s]; 0: never", NULL }
static const th_field_info fields[TH_UNDECIDED_FIELDS] = {
    {"nature", false, true, "0 new, 1 undecided, 2 walks the route", NULL},
    {"choice", false, true, "1 + leg that was chosen, 0: none", NULL},
    {"visits", false, true, "sights visited", "sights visited"},
    {"since", true, true, "when it chose [s]", NULL},
    VISITED(0),
    VISITED(1),
    VISITED(2),
    VISITED(3),
    VISITED(4),
    VISITED(5),
    VISITED(6),
    VISITED(7),
};
static const th_param_info params[] = {TH_UNDECIDED_PARAMS(TH_PARAM_INFO)};
const th_model th_behave_undecided_model = {
    .cookie = TH_MODEL_COOKIE,
    .stage = TH_STAGE_BEHAVE,
    .name = "undecided",
    .doc = "people without a goal: choose a sight, visit it, choose again",
    .source = TH_CHENG_U,
    .params = params,
    .param_count = TH_COUNT_OF(params),
    .fields = fields,
    .field_count = TH_UNDECIDED_FIELDS,
    .run = run,
    .create = create,
    .destroy = destroy,
    .reach = th_reads_none, // what is counted before sights is of all ranks
    .fields_are_sound = fields_are_sound,
    .decides = TH_DECIDES_LEG,
    .check = check,
    .idle = idle,
    .edited = edited,
};
