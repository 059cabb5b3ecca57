// Collision-free speed: the loop over people. Cost per sub-step O(people x neighbours within 2 m), twice: for the way
// and for the room along it. SPDX-License-Identifier: Apache-2.0
#include "move/collision_free_speed/collision_free_speed.h"
#include "state/influences.h"

static float range(const th_world *world, uint32_t self) {
    return th_collision_free_speed_range(world, self);
}

TH_CLONES static void block(th_world *world, const th_substep *step, const th_walls *walls,
                            uint32_t begin, uint32_t end) {
    for (uint32_t i = begin; i < end; ++i)
        if (th_substep_own(world, TH_MOVE_COLLISION_FREE_SPEED, i))
            th_collision_free_speed_take(world, step, walls, i);
}

static const th_substep_walk walk = {TH_MOVE_COLLISION_FREE_SPEED, range, block};

static void run(th_world *world, int model) {
    (void)model;
    th_substep_run(world, &walk);
}

// Influences on a person: wish and pushes, whose sum is the way it takes; the room along it.
static int influences(th_world *world, int model, uint32_t self, th_influence *told, int max) {
    (void)model;
    if (!th_substep_own(world, TH_MOVE_COLLISION_FREE_SPEED, self)) return 0;
    const th_agents *a = &world->agents;
    th_influences all = {told, 0, max};
    th_walls walls = th_world_walls(world);
    th_substep step = th_substep_begin_for(world, &walk, &walls, self);
    th_vec2 p = th_position(a, self), wish = th_unit(th_v(a->drive_x[self], a->drive_y[self]));
    if (!(th_length2(wish) > 0.0f)) return 0;
    uint32_t list[TH_NEAR_MAX + 1];
    float sight = range(world, self);
    th_felt felt = th_felt_begin(world, &step, self, p.x, p.y, sight);
    for (int count;
         (count = th_felt_next(&felt, world, &step, &walls, self, p.x, p.y, sight, list)) >= 0;)
        for (int k = 0; k < count; ++k)
            th_tell_vector(&all, "push of a person", "-", p,
                           th_collision_free_speed_push_of(world, self, list[k]), a->id[list[k]]);
    th_vec2 of_walls = th_collision_free_speed_walls(world, &walls, self);
    th_vec2 push = th_add(th_collision_free_speed_pushes(world, &step, &walls, self), of_walls);
    th_vec2 e = th_collision_free_speed_way(wish, push);
    th_tell_vector(&all, "push of walls", "-", p, of_walls, 0);
    th_tell_vector(&all, "direction wanted", "-", p, wish, 0);
    th_tell_vector(&all, "direction taken", "-", p, e, 0);
    th_headway_tell(world, &step, &walls, self, e,
                    th_collision_free_speed_params_of(world, self)->time_gap, &all);
    return all.count;
}

static void body(const float *values, th_body_rules *rules) {
    rules->separation_passes =
        (int)((const th_collision_free_speed_params *)values)->separation_passes;
}

static float reach(const th_world *world, const float *values) {
    (void)world, (void)values;
    return TH_HEADWAY_SIGHT;
}

static const th_param_info params[] = {TH_COLLISION_FREE_SPEED_PARAMS(TH_PARAM_INFO)};
TH_COLLISION_FREE_SPEED_PRESETS(TH_PRESET_VALUES)
static const th_preset_info presets[] = {TH_COLLISION_FREE_SPEED_PRESETS(TH_PRESET_INFO)};
const th_model th_move_collision_free_speed_model = {
    .cookie = TH_MODEL_COOKIE,
    .stage = TH_STAGE_MOVE,
    .name = "collision_free_speed",
    .doc = "speed by the room ahead and a time gap, way by repulsion",
    .source = TH_TCS16,
    .params = params,
    .param_count = TH_COUNT_OF(params),
    .presets = presets,
    .preset_count = TH_COUNT_OF(presets),
    .body = body,
    .run = run,
    .reach = reach,
    .influences = influences,
};
