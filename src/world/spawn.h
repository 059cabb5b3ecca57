// Spawns one person, and steps the sources; on the CPU and on a GPU. SPDX-License-Identifier: Apache-2.0
#ifndef TH_WORLD_SPAWN_H
#define TH_WORLD_SPAWN_H
#include "formula/random.h"
#include "formula/vec.h"
#include "scene/draw.h"
#include "space/distance_grid.h"
#include "state/ranks.h"
#include "state/world.h"
#include <assert.h>
#include <math.h>

enum {
    TH_SOURCE_TRIES = 32, // random spots tried for one person of a source in one step
    TH_GOAL_TRIES = 1000, // random points tried for an own goal
};

TH_BOTH static inline th_vec2 th_random_goal_in(const th_world *world, const th_area *area,
                                                uint32_t id, float radius) {
    const th_box *box = &area->shape.box;
    th_vec2 point = {0.5f * (box->min_x + box->max_x), 0.5f * (box->min_y + box->max_y)};
    for (uint64_t k = 0; k < TH_GOAL_TRIES; ++k) {
        th_random4 r = th_philox(world->seed, TH_STREAM_OWN_GOAL, id, k);
        point.x = box->min_x + th_uniform(r.v[0]) * (box->max_x - box->min_x);
        point.y = box->min_y + th_uniform(r.v[1]) * (box->max_y - box->min_y);
        if (th_polygons_contain(&area->shape, point) &&
            th_wall_distance(world->scene, area->level, point) >= radius)
            break;
    }
    return point;
}

TH_BOTH static inline void th_set_own_goal(th_world *world, uint32_t i, const th_group *group) {
    th_agents *agents = &world->agents;
    th_vec2 start = th_position(agents, i), goal = {0.0f, 0.0f};
    uint32_t level = agents->level[i];
    switch (group->own_goal) {
    case TH_OWN_GOAL_NONE: return;
    case TH_OWN_GOAL_IN_AREA:
        goal = th_random_goal_in(world, &group->own_goal_area, agents->id[i], agents->radius[i]);
        level = (uint32_t)group->own_goal_area.level;
        break;
    case TH_OWN_GOAL_MIRROR_X:
        goal = th_v(2.0f * group->own_goal_centre.x - start.x, start.y);
        break;
    case TH_OWN_GOAL_OPPOSITE: goal = th_sub(th_scale(2.0f, group->own_goal_centre), start); break;
    }
    agents->goal_x[i] = goal.x;
    agents->goal_y[i] = goal.y;
    agents->goal_level[i] = level;
}

// Appends one agent (the caller has checked the capacity). Returns its index.
TH_BOTH static inline uint32_t th_append_agent(th_world *world, const th_agent_def *def,
                                               uint32_t phase) {
    th_agents *agents = &world->agents;
    assert(agents->count < agents->capacity);
    uint32_t i = (uint32_t)agents->count++;
#define X(NAME, name, type, doc) agents->name[i] = 0;
    TH_FIELDS(X)
#undef X
    for (int f = 0; f < agents->own_count; ++f) ((uint32_t *)agents->own[f])[i] = 0;
    agents->id[i] = world->next_id++;
    agents->position_x[i] = def->position.x;
    agents->position_y[i] = def->position.y;
    agents->velocity_x[i] = def->velocity.x;
    agents->velocity_y[i] = def->velocity.y;
    agents->level[i] = (uint32_t)def->level;
    agents->group[i] = (uint32_t)def->group;
    agents->radius[i] = def->radius;
    agents->speed[i] = def->speed;
    agents->mass[i] = def->mass;
    agents->goal_x[i] = def->goal.x;
    agents->goal_y[i] = def->goal.y;
    agents->goal_level[i] = (uint32_t)def->goal_level;
    agents->phase[i] = phase;
    agents->start_time[i] = (float)world->time;
    if (world->max_radius < def->radius) world->max_radius = def->radius;
    if (phase != TH_PHASE_BODY) world->counters.spawned++;
    world->id_order_valid = false;
    return i;
}

// Draws values that the caller left open from the group's distributions, keyed by the agent's future id.
TH_BOTH static inline void th_draw_properties(const th_world *world, const th_group *group,
                                              uint32_t id, th_agent_def *def) {
    if (!(def->radius > 0.0f))
        def->radius = th_draw(&group->radius, world->seed, TH_STREAM_RADIUS, id);
    if (!(def->speed > 0.0f)) def->speed = th_draw(&group->speed, world->seed, TH_STREAM_SPEED, id);
    if (!(def->mass > 0.0f)) def->mass = th_draw(&group->mass, world->seed, TH_STREAM_MASS, id);
}

// The part of a group with profiles to which the person with this id belongs; `first` is its first part.
TH_BOTH static inline int th_part_of(const th_world *world, int first, uint32_t id) {
    const th_group *groups = world->scene->groups;
    int part = first, last = first + groups[first].part.count - 1;
    if (part == last) return first;
    double drawn = (double)th_uniform(th_philox(world->seed, TH_STREAM_PROFILE, id, 0).v[0]);
    while (part < last && drawn >= groups[part].part.end) ++part;
    return part;
}

TH_BOTH static inline uint32_t th_append_member(th_world *world, int g, const th_entry *place,
                                                float radius) {
    const th_group *group = &world->scene->groups[g];
    th_agent_def def = {.position = place->position,
                        .velocity = place->velocity,
                        .level = place->level,
                        .group = g,
                        .radius = radius};
    th_draw_properties(world, group, world->next_id, &def);
    uint32_t i = th_append_agent(world, &def, TH_PHASE_STANDING);
    th_agents *agents = &world->agents;
    agents->wait_until[i] = (float)world->time + th_draw(&group->premovement, world->seed,
                                                         TH_STREAM_PREMOVEMENT, agents->id[i]);
    th_set_own_goal(world, i, group);
    return i;
}

// ---- sources

// Least distance of a newcomer of the group from another agent [m].
TH_BOTH static inline float th_newcomer_apart(const th_body_rules *body, float radii) {
    return th_max(body->newcomer_bodies * radii, body->newcomer_metres);
}

// The same over ranks: of all that stand near sources, and of newcomers.
TH_BOTH static inline bool th_spot_is_free_of_all(const th_ranks *ranks, int level, th_vec2 p,
                                                  float radius, const th_body_rules *body) {
    for (int k = 0; k < ranks->near_count; ++k) {
        float apart = th_newcomer_apart(body, radius + ranks->near_radius[k]);
        if (ranks->near_level[k] == (uint32_t)level &&
            th_length2(th_sub(ranks->near_position[k], p)) < apart * apart)
            return false;
    }
    return true;
}

// Is it far enough from all others? The index is from the last step's start, so the search is widened
// by what people can have moved since; those placed after it stand at the end of the arrays.
TH_BOTH static inline bool th_apart_from_all(const th_world *world, int level, th_vec2 p,
                                             float radius, const th_body_rules *body) {
    const th_agents *agents = &world->agents;
    if (world->ranks) return th_spot_is_free_of_all(world->ranks, level, p, radius, body);
    const th_level_grid *grid = &world->index.grids[level];
    float reach = th_newcomer_apart(body, radius + world->max_radius) + world->max_moved;
    th_rows rows = th_rows_around(grid, p, reach);
    for (uint32_t begin, end; th_next_run(&world->index, grid, &rows, &begin, &end);) {
        for (uint32_t j = begin; j < end; ++j) {
            float apart = th_newcomer_apart(body, radius + agents->radius[j]);
            if (th_in_the_way(agents->phase[j]) && agents->level[j] == (uint32_t)level &&
                th_length2(th_sub(th_position(agents, j), p)) < apart * apart)
                return false;
        }
    }
    for (uint32_t j = world->index.cell_start[world->index.cell_count]; j < (uint32_t)agents->count;
         ++j) {
        float apart = th_newcomer_apart(body, radius + agents->radius[j]);
        if (agents->level[j] == (uint32_t)level &&
            th_length2(th_sub(th_position(agents, j), p)) < apart * apart)
            return false;
    }
    return true;
}

// Is there room for a newcomer here now?
TH_BOTH static inline bool th_spot_is_free(const th_world *world, int level, th_vec2 p,
                                           float radius, const th_body_rules *body) {
    if (world->scene->levels[level].bounded && th_wall_distance(world->scene, level, p) < radius)
        return false;
    th_walls walls = th_world_walls(world);
    int wall;
    if (th_walls_near(&walls, level, p, radius, &wall, NULL, 1) > 0) return false;
    if (th_bodies_hold(&walls, level, p)) return false;
    return th_apart_from_all(world, level, p, radius, body);
}

// After an agent was appended: over ranks all append it, and one keeps it.
TH_BOTH static inline void th_keep_own(th_world *world) {
#ifndef __CUDA_ARCH__
    th_ranks_keep(world);
#else
    (void)world;
#endif
}

TH_BOTH static inline bool th_has_room(const th_world *world) {
    return world->ranks ? world->ranks->crowd < world->crowd_capacity
                        : world->agents.count < world->agents.capacity;
}

TH_BOTH static inline bool th_place_from_source(th_world *world, int g) {
    const th_group *group = &world->scene->groups[g];
    const th_polygons *shape = group->area.shape.ring_count
                                   ? &group->area.shape
                                   : &world->scene->levels[group->level].walkable;
    const th_box *box = &shape->box;
    g = th_part_of(world, g, world->next_id);
    float radius =
        th_draw(&world->scene->groups[g].radius, world->seed, TH_STREAM_RADIUS, world->next_id);
    for (uint32_t k = 0; k < TH_SOURCE_TRIES; ++k) {
        th_random4 r = th_philox(world->seed, TH_STREAM_SOURCE, world->next_id,
                                 world->step_count * TH_SOURCE_TRIES + k);
        th_vec2 p = {box->min_x + th_uniform(r.v[0]) * (box->max_x - box->min_x),
                     box->min_y + th_uniform(r.v[1]) * (box->max_y - box->min_y)};
        if (!th_polygons_contain(shape, p) ||
            !th_spot_is_free(world, group->level, p, radius, &world->groups[g].body))
            continue;
        const th_entry place = {.position = p, .level = group->level};
        th_append_member(world, g, &place, radius);
        th_keep_own(world);
        return true;
    }
    return false;
}

// The next person of a recording, at its own place and with its velocity. It waits only while another body holds the
// place: people in recordings come closer than bodies of other sizes would.
TH_BOTH static inline bool th_place_recorded(th_world *world, int g) {
    uint64_t next = world->sources[g].placed;
    const th_group *group = &world->scene->groups[g];
    if (next >= (uint64_t)group->entry_count) return false;
    const th_entry *entry = &group->entries[next];
    const th_body_rules half = {.newcomer_bodies = 0.5f}; // of the sum of the radii
    g = th_part_of(world, g, world->next_id);
    float radius =
        th_draw(&world->scene->groups[g].radius, world->seed, TH_STREAM_RADIUS, world->next_id);
    if (!th_apart_from_all(world, entry->level, entry->position, radius, &half)) return false;
    th_append_member(world, g, entry, radius);
    th_keep_own(world);
    return true;
}

// People that a source should have brought by the given time.
TH_BOTH static inline double th_source_due(const th_group *group, double time) {
    double due = 0.0;
    double until = time < group->rate_end ? time : group->rate_end;
    if (group->rate > 0.0 && until > group->rate_start)
        due += floor(group->rate * (until - group->rate_start) + 1e-9);
    for (int a = 0; a < group->arrival_count; ++a)
        if (group->arrivals[a].time <= time) due += group->arrivals[a].count;
    return due;
}

// People that a source brings in all; infinite for a rate without an end.
TH_BOTH static inline double th_source_announced(const th_group *group) {
    return th_source_due(group, (double)INFINITY);
}

static inline bool th_sources_are_due(const th_world *world) {
    for (int g = 0; g < world->scene->group_count; ++g) {
        const th_group *group = &world->scene->groups[g];
        if ((double)world->sources[g].placed < th_source_due(group, world->time)) return true;
    }
    return false;
}

// Lets the sources place the agents that are due.
TH_BOTH static inline void th_spawn_sources(th_world *world) {
    const th_scene *scene = world->scene;
    for (int g = 0; g < scene->group_count; ++g) {
        const th_group *group = &scene->groups[g];
        if (group->rate <= 0.0 && group->arrival_count == 0) continue;
        th_source_state *source = &world->sources[g];
        source->due = (uint64_t)th_source_due(group, world->time);
        while (source->placed < source->due && th_has_room(world)) {
            if (!(group->entries ? th_place_recorded(world, g) : th_place_from_source(world, g)))
                break;
            source->placed++;
        }
    }
}
#endif
