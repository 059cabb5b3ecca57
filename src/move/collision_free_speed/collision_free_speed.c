// Collision-free speed: the loop over people. Cost per sub-step O(people x neighbours within 2 m), twice: for the way
// and for the room along it. SPDX-License-Identifier: Apache-2.0
#include "move/collision_free_speed/collision_free_speed.h"
#include "state/influences.h"

static float range(const th_world *world, uint32_t self) {
    return th_collision_free_speed_range(world, self);
}

// th_collision_free_speed_pushes of one list. They are added up one after another, so the bits are the same.
static inline th_vec2 push_of(const th_world *world, uint32_t self, const uint32_t *list, int count,
                              const th_gathered *others, int full, th_vec2 sum) {
    const th_agents *a = &world->agents;
    const th_collision_free_speed_params *p = th_collision_free_speed_params_of(world, self);
    float x = a->substep_x[self], y = a->substep_y[self], radius = a->radius[self];
    float push_x[TH_NEAR_MAX], push_y[TH_NEAR_MAX];
    int coincident = 0;
#pragma omp simd reduction(| : coincident)
    for (int k = 0; k < full; ++k) {
        th_vec2 to = th_v(others->x[k] - x, others->y[k] - y);
        th_vec2 push = th_collision_free_speed_push(p, to, radius + others->radius[k]);
        push_x[k] = push.x;
        push_y[k] = push.y;
        coincident |= !(th_length2(to) > TH_COINCIDENT * TH_COINCIDENT);
    }
    for (int k = 0; k < count; ++k) {
        th_vec2 push = th_v(push_x[k], push_y[k]);
        if (coincident) push = th_collision_free_speed_push_of(world, self, list[k]);
        sum = th_add(sum, push);
    }
    return sum;
}

// th_headway_least_room among these.
static inline float room_among(const th_world *world, uint32_t self, const th_gathered *others,
                               int full, th_vec2 e, float reach) {
    const th_agents *a = &world->agents;
    float x = a->substep_x[self], y = a->substep_y[self], radius = a->radius[self], least = 1e9f;
#pragma omp simd reduction(min : least)
    for (int k = 0; k < full; ++k) {
        th_vec2 to = th_v(others->x[k] - x, others->y[k] - y);
        float room = th_headway_room(to, e, radius + others->radius[k]);
        room = th_length2(to) < reach * reach ? room : 1e9f;
        least = room < least ? room : least;
    }
    return least;
}

// th_collision_free_speed_take, with one list for the way and the room along it wherever it holds all.
static inline void take(th_world *world, const th_substep *step, const th_walls *walls,
                        uint32_t self) {
    const th_agents *a = &world->agents;
    float x = a->substep_x[self], y = a->substep_y[self], sight = range(world, self);
    float time_gap = th_collision_free_speed_params_of(world, self)->time_gap;
    uint32_t list[TH_NEAR_MAX + 1];
    th_gathered others;
    th_vec2 push = th_v(0.0f, 0.0f);
    int lists = 0, full = 0;
    if (th_collision_free_speed_stands(world, self)) return;
    th_felt felt = th_felt_begin(world, step, self, x, y, sight);
    for (int count; (count = th_felt_next(&felt, world, step, walls, self, x, y, sight, list)) >= 0;
         ++lists) {
        full = th_gather(a, list, count, x, &others);
        push = push_of(world, self, list, count, &others, full, push);
    }
    th_vec2 e = th_collision_free_speed_direction(world, walls, self, push);
    float room = lists == 1 ? room_among(world, self, &others, full, e,
                                         th_headway_range(world, self, time_gap))
                            : th_headway_least_room(world, step, walls, self, e, time_gap);
    th_collision_free_speed_go(world, self, e, room);
}

TH_CLONES static void block(th_world *world, const th_substep *step, const th_walls *walls,
                            uint32_t begin, uint32_t end) {
    for (uint32_t i = begin; i < end; ++i)
        if (th_substep_own(world, TH_MOVE_COLLISION_FREE_SPEED, i)) take(world, step, walls, i);
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
