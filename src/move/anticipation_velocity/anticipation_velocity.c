// Anticipation velocity: the loop over people. Cost per sub-step O(people x neighbours within 3 m), twice: for the way
// and for the room along it. SPDX-License-Identifier: Apache-2.0
#include "move/anticipation_velocity/anticipation_velocity.h"
#include "state/influences.h"

static float range(const th_world *world, uint32_t self) {
    (void)world;
    (void)self;
    return TH_HEADWAY_SIGHT;
}

TH_CLONES static void block(th_world *world, const th_substep *step, const th_walls *walls,
                            uint32_t begin, uint32_t end) {
    for (uint32_t i = begin; i < end; ++i)
        if (th_substep_own(world, TH_MOVE_ANTICIPATION_VELOCITY, i))
            th_anticipation_velocity_take(world, step, walls, i);
}

static const th_substep_walk walk = {TH_MOVE_ANTICIPATION_VELOCITY, range, block};

static void run(th_world *world, int model) {
    (void)model;
    th_substep_run(world, &walk);
}

// Influences on a person: the direction wanted and the pushes on it, the way it turns to, the room along it.
static int influences(th_world *world, int model, uint32_t self, th_influence *told, int max) {
    if (!th_substep_own(world, TH_MOVE_ANTICIPATION_VELOCITY, self)) return 0;
    const th_agents *a = &world->agents;
    const th_anticipation_velocity_params *params = th_anticipation_velocity_params_of(world, self);
    th_influences all = {told, 0, max};
    th_walls walls = th_world_walls(world);
    th_substep step = th_substep_begin_for(world, &walk, &walls, self);
    th_vec2 p = th_position(a, self), e0 = th_unit(th_v(a->drive_x[self], a->drive_y[self]));
    th_vec2 e = th_v(th_own_floats(world, (th_model_id)model, TH_AVM_DIRECTION_X)[self],
                     th_own_floats(world, (th_model_id)model, TH_AVM_DIRECTION_Y)[self]);
    if (!(th_length2(e0) > 0.0f)) return 0;
    e = th_length2(e) > 0.0f ? e : e0;
    uint32_t list[TH_NEAR_MAX + 1];
    th_felt felt = th_felt_begin(world, &step, self, p.x, p.y, TH_HEADWAY_SIGHT);
    for (int count; (count = th_felt_next(&felt, world, &step, &walls, self, p.x, p.y,
                                          TH_HEADWAY_SIGHT, list)) >= 0;)
        for (int k = 0; k < count; ++k) {
            th_avm_pair pair = th_avm_pair_of(world, self, list[k], e0, e);
            th_tell_vector(&all, "push of a person", "-", p, th_avm_influence(params, &pair),
                           a->id[list[k]]);
        }
    th_vec2 of_walls = th_avm_walls(world, &walls, self);
    th_vec2 push = th_add(th_avm_influences(world, &step, &walls, self, e0, e), of_walls);
    th_vec2 next = th_avm_way(params, e0, e, push, step.h);
    th_tell_vector(&all, "push of walls", "-", p, of_walls, 0);
    th_tell_vector(&all, "direction wanted", "-", p, e0, 0);
    th_tell_vector(&all, "direction taken", "-", p, next, 0);
    th_headway_tell(world, &step, &walls, self, next, params->time_gap, &all);
    return all.count;
}

static const th_field_info fields[] = {
    {.name = "direction_x", .is_float = true, .hashed = true, .doc = "direction of walking"},
    {.name = "direction_y", .is_float = true, .hashed = true, .doc = "direction of walking"}};
static void body(const float *values, th_body_rules *rules) {
    rules->separation_passes =
        (int)((const th_anticipation_velocity_params *)values)->separation_passes;
}

static float reach(const th_world *world, const float *values) {
    (void)world, (void)values;
    return TH_HEADWAY_SIGHT;
}

static const th_param_info params[] = {TH_ANTICIPATION_VELOCITY_PARAMS(TH_PARAM_INFO)};
TH_ANTICIPATION_VELOCITY_PRESETS(TH_PRESET_VALUES)
static const th_preset_info presets[] = {TH_ANTICIPATION_VELOCITY_PRESETS(TH_PRESET_INFO)};
const th_model th_move_anticipation_velocity_model = {
    .cookie = TH_MODEL_COOKIE,
    .stage = TH_STAGE_MOVE,
    .name = "anticipation_velocity",
    .doc = "speed by the room ahead and a time gap, way by where others will be",
    .source = TH_XCS21,
    .params = params,
    .param_count = TH_COUNT_OF(params),
    .presets = presets,
    .preset_count = TH_COUNT_OF(presets),
    .fields = fields,
    .field_count = TH_COUNT_OF(fields),
    .longest_step = 0.025f, // tools/measure-steps: other egress times beyond
    .body = body,
    .run = run,
    .reach = reach,
    .influences = influences,
};
