// Models as functions of one agent (throng/model.h): the loop that calls the function for each agent and takes its answer.
// Cost: the search of nearest neighbours that ORCA has, copying them together, and a call through a pointer.
// SPDX-License-Identifier: Apache-2.0
#include "formula/random.h"
#include "plan/plan.h"
#include "state/nearest.h"
#include "state/world.h"
#include "world/world.h"
#include <assert.h>

static_assert((int)TH_NEIGHBOUR_MAX <= (int)TH_NEAREST_MAX, "as many can be searched for");
static_assert((int)TH_NEAR_WALL_MAX <= (int)TH_WALLS_NEAR_MAX, "as many can be searched for");

// One model of one world in one step.
typedef struct stage_of_model {
    th_world *world;
    const th_model *model;
    int number;
    th_walls walls;
    uint32_t *fields[TH_MODEL_FIELD_MAX];
} stage_of_model;

// The work space of a thread for a block of agents.
typedef struct view {
    th_candidates list; // shared by the people of a cell
    th_sight sight;     // of `group`
    int group;
    th_agent person;
    th_value own[TH_MODEL_FIELD_MAX];
    th_near_agent neighbours[TH_NEIGHBOUR_MAX];
    th_near_wall walls[TH_NEAR_WALL_MAX];
} view;

static int model_of_group(const th_group_state *group, th_stage stage) {
    return (int)(stage == TH_STAGE_PLAN     ? group->plan
                 : stage == TH_STAGE_FILTER ? group->filter
                                            : group->move);
}

static bool is_asked(const stage_of_model *s, int i) {
    const th_agents *agents = &s->world->agents;
    uint32_t phase = agents->phase[i];
    bool takes_part =
        s->model->stage == TH_STAGE_MOVE ? th_moves(phase) : phase == TH_PHASE_WALKING;
    return takes_part && !th_is_ghost(s->world, (uint32_t)i) &&
           model_of_group(&s->world->groups[agents->group[i]], s->model->stage) == s->number;
}

static int at_most(int value, int most) { return value < 0 ? 0 : value > most ? most : value; }

static void take_group(const stage_of_model *s, view *v, int group) {
    if (v->group == group) return;
    v->group = group;
    v->person.params = th_model_params(s->world, s->number, group);
    v->sight = s->model->sight;
    if (s->model->look) s->model->look(v->person.params, &v->sight);
    v->sight.neighbours = at_most(v->sight.neighbours, TH_NEIGHBOUR_MAX);
    v->sight.walls = at_most(v->sight.walls, TH_NEAR_WALL_MAX);
    v->sight.neighbour_range = th_clamp(v->sight.neighbour_range, 0.0f, 50.0f);
    v->sight.wall_range = th_clamp(v->sight.wall_range, 0.0f, 50.0f);
}

// Across a link to another level there is no wall to look for.
static bool is_hidden(const stage_of_model *s, uint32_t i, uint32_t j) {
    const th_agents *agents = &s->world->agents;
    if (s->walls.count == 0 || agents->level[i] != agents->level[j]) return false;
    return th_walls_first_crossing(&s->walls, (int)agents->level[i], th_position(agents, i),
                                   th_position(agents, j), NULL) >= 0;
}

TH_FORMULA void see_neighbours(const stage_of_model *s, view *v, uint32_t i) {
    const th_agents *agents = &s->world->agents;
    const th_sight *sight = &v->sight;
    th_nearest nearest = {0};
    v->person.neighbour_count = 0;
    if (sight->neighbours == 0 || !(sight->neighbour_range > 0.0f)) return;
    th_find_nearest(s->world, &v->list, i, sight->neighbours, sight->neighbour_range, &nearest);
    if (s->world->scene->link_count > 0)
        th_nearest_add_linked(s->world, i, sight->neighbours, sight->neighbour_range, &nearest);
    for (int k = 0; k < nearest.count; ++k) {
        uint32_t j = nearest.agent[k];
        if (!sight->through_walls && is_hidden(s, i, j)) continue;
        th_near_agent *other = &v->neighbours[v->person.neighbour_count++];
        other->position = th_position(agents, j);
        other->velocity = th_velocity(agents, j);
        other->radius = agents->radius[j];
        other->distance = th_length(th_sub(other->position, v->person.position));
        other->id = agents->id[j];
        other->level = (int)agents->level[j];
        other->group = (int)agents->group[j];
        other->reacts = th_moves(agents->phase[j]);
    }
}

static void see_walls(const stage_of_model *s, view *v) {
    const th_walls *walls = &s->walls;
    th_vec2 p = v->person.position;
    int level = v->person.level, near[TH_NEAR_WALL_MAX];
    float range = v->sight.wall_range, distances2[TH_NEAR_WALL_MAX];
    v->person.wall_count = 0;
    if (v->sight.walls == 0 || walls->count == 0 ||
        (range <= walls->grids[level].reach && !th_walls_maybe_near(walls, level, p)))
        return;
    int count = th_walls_near(walls, level, p, range, near, distances2, TH_NEAR_WALL_MAX);
    for (int k = 0; k < count && v->person.wall_count < v->sight.walls; ++k) {
        const th_wall *wall = &walls->walls[near[k]];
        if (th_det(wall->direction, th_sub(p, wall->a)) >= 0.0f) continue; // its back
        th_near_wall *seen = &v->walls[v->person.wall_count++];
        seen->nearest = th_nearest_on_segment(p, wall->a, wall->b);
        seen->distance = sqrtf(distances2[k]);
        seen->wall = wall;
        seen->previous = &walls->walls[wall->prev];
        seen->next = &walls->walls[wall->next];
    }
}

TH_FORMULA void see(const stage_of_model *s, view *v, uint32_t i) {
    const th_agents *agents = &s->world->agents;
    th_agent *person = &v->person;
    take_group(s, v, (int)agents->group[i]);
    person->position = th_position(agents, i);
    person->velocity = th_velocity(agents, i);
    person->preferred = th_v(agents->preferred_x[i], agents->preferred_y[i]);
    float length = th_length(person->preferred);
    person->direction =
        length > 0.0f ? th_scale(1.0f / length, person->preferred) : th_v(0.0f, 0.0f);
    person->radius = agents->radius[i];
    person->speed = agents->speed[i];
    person->mass = agents->mass[i];
    person->id = agents->id[i];
    person->level = (int)agents->level[i];
    person->group = (int)agents->group[i];
    person->phase = (th_phase)agents->phase[i];
    for (int f = 0; f < s->model->field_count; ++f) v->own[f].number = s->fields[f][i];
    see_neighbours(s, v, i);
    see_walls(s, v);
}

// ---- the answer

// The values that a world may hold and a snapshot restores; others would be refused.
static bool is_number(float value) { return value >= -1e6f && value <= 1e6f; }

// Returns how many values it had to correct.
static uint64_t keep_own(const stage_of_model *s, view *v, uint32_t i) {
    uint64_t repairs = 0;
    for (int f = 0; f < s->model->field_count; ++f) {
        if (s->model->fields[f].is_float && !is_number(v->own[f].real)) {
            v->own[f].real = 0.0f;
            ++repairs;
        }
        s->fields[f][i] = v->own[f].number;
    }
    return repairs;
}

static uint64_t take_answer(const stage_of_model *s, view *v, uint32_t i, th_vec2 velocity) {
    const th_agents *agents = &s->world->agents;
    uint64_t repairs = keep_own(s, v, i);
    if (s->model->stage == TH_STAGE_MOVE) { // contact repairs and counts NaN
        agents->next_velocity_x[i] = velocity.x;
        agents->next_velocity_y[i] = velocity.y;
        agents->next_position_x[i] = agents->position_x[i] + velocity.x * s->world->dt;
        agents->next_position_y[i] = agents->position_y[i] + velocity.y * s->world->dt;
        return repairs;
    }
    if (!is_number(velocity.x) || !is_number(velocity.y)) return repairs + 1; // the old one stays
    agents->preferred_x[i] = velocity.x;
    agents->preferred_y[i] = velocity.y;
    return repairs;
}

TH_CLONES static uint64_t run_block(const stage_of_model *s, int begin, int end) {
    view v;
    uint64_t repairs = 0;
    v.list.count = v.group = -1;
    v.person = (th_agent){.step = s->world->dt,
                          .time = s->world->time,
                          .own = v.own,
                          .neighbours = v.neighbours,
                          .walls = v.walls,
                          .seed = s->world->seed,
                          .step_count = s->world->step_count,
                          .world = s->world,
                          .model = s->number};
    for (int i = begin; i < end; ++i) {
        if (!is_asked(s, i)) continue;
        see(s, &v, (uint32_t)i);
        repairs += take_answer(s, &v, (uint32_t)i, s->model->agent(&v.person));
    }
    return repairs;
}

static uint64_t run_part(const void *context, int begin, int end) {
    return run_block(context, begin, end);
}

void th_run_agents(th_world *world, int model) {
    stage_of_model s = {.world = world,
                        .model = th_models(NULL)[model],
                        .number = model,
                        .walls = th_world_walls(world)};
    for (int f = 0; f < s.model->field_count; ++f) s.fields[f] = th_model_field(world, model, f);
    // The function may change the way that leads to the goal.
    if (s.model->stage == TH_STAGE_PLAN) th_plan_people(world, model);
    if (s.model->begin) s.model->begin(world, model);
    world->counters.repairs += th_share_out(world, world->agents.count, TH_BLOCK, run_part, &s);
}

float th_agent_random(const th_agent *person, uint32_t k) {
    uint32_t stage = (uint32_t)th_models(NULL)[person->model]->stage;
    uint32_t stream = (uint32_t)TH_STREAM_OWN_MODEL + (stage << 16) + (k / 4 & 0xffff);
    return th_uniform(th_philox(person->seed, stream, person->id, person->step_count).v[k % 4]);
}
