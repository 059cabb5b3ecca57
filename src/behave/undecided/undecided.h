// Undecided people: Lagrangian uncertainty, section 3.5 of Xiao Cheng's thesis (2013). The legs of the route are the sights
// that people may visit, in no order; an exit at its end is where they leave. Equations implemented, additions and parts
// left out: docs/models/undecided.md. SPDX-License-Identifier: Apache-2.0
#ifndef TH_BEHAVE_UNDECIDED_H
#define TH_BEHAVE_UNDECIDED_H
#include "formula/math.h"
#include "formula/params.h"
#include "formula/random.h"
#include "formula/segment.h"
#include "formula/vec.h"
#include "state/world.h"

#define TH_CHENG_U "Cheng 2013, 3.5"
#define TH_CHENG_R "throng: not printed in Cheng 2013"

#define TH_UNDECIDED_PARAMS(X)                                                                    \
    X(share, 1, 0, 1, "-", TH_CHENG_U ": a small portion of a crowd",                             \
      "of the group that is undecided; the others walk the route as it is")                       \
    X(visits, 5, 0, 1000, "-", "throng", "sights after which people leave; 0: they never do")     \
    X(visibility_weight, 0.4, 0, 1, "-", TH_CHENG_R, "a, of what is seen of a sight")             \
    X(history_weight, 0.3, 0, 1, "-", TH_CHENG_R, "b, of the time since the last visit")          \
    X(distance_weight, 0.3, 0, 1, "-", TH_CHENG_R, "c, of being near")                            \
    X(forgetting, 300, 1, 1e5, "s", TH_CHENG_R, "T_h, over which a visit is forgotten")           \
    X(near_distance, 10, 0.1, 1000, "m", TH_CHENG_R, "d_0, at which nearness counts half")        \
    X(field_of_view, 200, 1, 360, "deg", "throng: of two eyes",                                   \
      "of agents that move; standing agents look around")                                         \
    X(longest_way, 120, 1, 1e5, "s", TH_CHENG_R, "after which an agent on its way chooses again") \
    X(density_weight, 0, 0, 1, "-", "Cheng 2013, 6: density-based evaluation",                    \
      "of room beside a sight; 0: the three terms of eq. 3.10")                                   \
    X(crowded_density, 1, 0.01, 20, "1/m2", "throng: people stand at arm's length",               \
      "people within 2 m of a sight's nearest point at which room counts half")

typedef struct th_undecided_params {
    TH_UNDECIDED_PARAMS(TH_PARAM_MEMBER)
} th_undecided_params;

enum { TH_SIGHTS = 8, TH_SIGHT_SAMPLES = 16 }; // most sights of a group; rays to the rim of one

enum {
    TH_UNDECIDED_NATURE,  // 0 new, 1 undecided, 2 walks the route
    TH_UNDECIDED_CHOICE,  // 1 + leg, 0: has to choose
    TH_UNDECIDED_VISITS,  // sights visited
    TH_UNDECIDED_SINCE,   // [s] when it chose
    TH_UNDECIDED_VISITED, // [s] when it was last there, of every sight; 0: never
    TH_UNDECIDED_FIELDS = TH_UNDECIDED_VISITED + TH_SIGHTS
};

// ---- rating

#define TH_RATING_FLOOR 0.01f // no sight is impossible

// (1): visibility, history and nearness of a sight, 0 .. 1 each.
TH_FORMULA float th_sight_history(float age, float forgetting) {
    return age < 0.0f ? 1.0f : 1.0f - th_exp(-age / forgetting);
}
TH_FORMULA float th_sight_nearness(float distance, float near_distance) {
    return 1.0f / (1.0f + distance / near_distance);
}
TH_FORMULA float th_sight_room(float density, float crowded_density) {
    return 1.0f / (1.0f + density / crowded_density);
}
TH_FORMULA float th_sight_rating(const th_undecided_params *p, float visibility, float history,
                                 float nearness, float room) {
    return th_max(p->visibility_weight * visibility + p->history_weight * history +
                      p->distance_weight * nearness + p->density_weight * room,
                  TH_RATING_FLOOR);
}

// (2): the sight k with L(k) <= r < L(k + 1), L the running sum of ratings that add up to 1; r in 0 .. 1.
TH_FORMULA int th_sight_draw(const float *ratings, int count, float r) {
    float sum = 0.0f, running = 0.0f;
    int chosen = 0;
    for (int k = 0; k < count; ++k) sum += ratings[k];
    for (int k = 0; k < count; ++k) {
        chosen = running <= r * sum ? k : chosen;
        running += ratings[k];
    }
    return chosen;
}

// 1: undecided, 2: walks the route. Drawn once, with the random number of a step that no run reaches.
TH_FORMULA uint32_t th_undecided_nature(uint64_t seed, uint32_t id, float share) {
    float drawn = th_uniform(th_philox(seed, TH_STREAM_UNDECIDED, id, UINT64_MAX).v[1]);
    return drawn < share ? 1 : 2;
}

// ---- sight

TH_BOTH static inline const th_undecided_params *th_undecided_params_of(const th_world *world,
                                                                        uint32_t i) {
    return (const th_undecided_params *)(const void *)th_behave_params(
        &world->groups[world->agents.group[i]], TH_BEHAVE_UNDECIDED);
}

// A point of the goal's rim, `share` of the way around it (or along its line).
TH_BOTH static inline th_vec2 th_sight_rim(const th_goal *goal, float share) {
    if (goal->is_line)
        return th_add(goal->line.a, th_scale(share, th_sub(goal->line.b, goal->line.a)));
    const th_polygons *shape = &goal->area.shape;
    int end = shape->ring_start[1];
    float length = 0.0f;
    for (int k = 0, before = end - 1; k < end; before = k++)
        length += th_length(th_sub(shape->points[k], shape->points[before]));
    float left = share * length;
    th_vec2 p = shape->points[0];
    for (int k = 0, before = end - 1; k < end; before = k++) {
        th_vec2 edge = th_sub(shape->points[k], shape->points[before]);
        float along = th_length(edge);
        if (left >= 0.0f && along > 0.0f)
            p = th_add(shape->points[before], th_scale(th_min(left / along, 1.0f), edge));
        left -= along;
    }
    return p;
}

// Visible share of a sight from p along `heading` (0: all around), its distance [m] and its nearest point.
typedef struct th_sight_seen {
    float visibility, distance;
    th_vec2 nearest;
    int level;
    int sample; // of the rim, the nearest one
} th_sight_seen;

TH_BOTH static inline th_sight_seen th_sight_look(const th_walls *walls, int level, th_vec2 p,
                                                  th_vec2 heading, float cosine,
                                                  const th_goal *goal) {
    int on = goal->is_line ? goal->line.level : goal->area.level;
    bool here = on == level;
    th_sight_seen seen = {0.0f, 1e6f, p, on, 0};
    bool moves = th_length2(heading) > 0.01f;
    th_vec2 ahead = th_unit(heading);
    for (int k = 0; k < TH_SIGHT_SAMPLES; ++k) {
        th_vec2 q = th_sight_rim(goal, ((float)k + 0.5f) / (float)TH_SIGHT_SAMPLES);
        th_vec2 to = th_sub(q, p);
        float distance = th_length(to);
        if (distance < seen.distance) seen.nearest = q, seen.sample = k;
        seen.distance = th_min(seen.distance, distance);
        if (!here || (moves && th_dot(ahead, to) < cosine * distance)) continue;
        // A hair short of the rim, which may lie on a wall.
        th_vec2 before = th_add(p, th_scale(0.99f, to));
        if (th_walls_first_crossing(walls, level, p, before, NULL) < 0)
            seen.visibility += 1.0f / (float)TH_SIGHT_SAMPLES;
    }
    return seen;
}

#define TH_SIGHT_CROWD 2.0f // [m] around a sight's nearest point people are counted

TH_BOTH static inline bool th_is_at_sight(const th_world *world, uint32_t j, th_vec2 at) {
    return !th_gone(world->agents.phase[j]) &&
           th_length2(th_sub(th_position(&world->agents, j), at)) <=
               TH_SIGHT_CROWD * TH_SIGHT_CROWD;
}

// The people before a sight; of a rank's own people where it has copies of others.
TH_BOTH static inline int th_sight_people(const th_world *world, int level, th_vec2 at) {
    const th_level_grid *grid = &world->index.grids[level];
    th_rows rows = th_rows_around(grid, at, TH_SIGHT_CROWD);
    int people = 0;
    for (uint32_t begin, end; th_next_run(&world->index, grid, &rows, &begin, &end);)
        for (uint32_t j = begin; j < end; ++j)
            people += th_is_at_sight(world, j, at) && !th_is_ghost(world, j);
    return people;
}

// The density of other people before a sight [1/m2]. `counted`: by goal and sample of the rim, over ranks; or NULL.
TH_BOTH static inline float th_sight_density(const th_world *world, uint32_t i, int goal,
                                             const th_sight_seen *seen, const uint32_t *counted) {
    int people = counted ? (int)counted[goal * TH_SIGHT_SAMPLES + seen->sample]
                         : th_sight_people(world, seen->level, seen->nearest);
    people -=
        world->agents.level[i] == (uint32_t)seen->level && th_is_at_sight(world, i, seen->nearest);
    return (float)people / (3.14159265f * TH_SIGHT_CROWD * TH_SIGHT_CROWD);
}

// ---- a person

TH_BOTH static inline bool th_is_exit(const th_scene *scene, const th_group *group, int leg) {
    const th_target *target = &scene->targets[group->route[leg]];
    return scene->goals[target->goals[0]].kind == TH_GOAL_EXIT;
}

// The legs of a route without the exits at its end.
TH_BOTH static inline int th_sights_of(const th_scene *scene, const th_group *group) {
    int count = group->route_count;
    while (count > 0 && th_is_exit(scene, group, count - 1)) --count;
    return count;
}

// The legs that are sights: the first TH_SIGHTS of these.
TH_BOTH static inline int th_sight_count(const th_world *world, const th_group *group) {
    int count = th_sights_of(world->scene, group);
    return count < TH_SIGHTS ? count : TH_SIGHTS;
}

TH_BOTH static inline float th_rate_sight(const th_world *world, const th_walls *walls, uint32_t i,
                                          int leg) {
    const th_agents *a = &world->agents;
    const uint32_t *counted =
        world->ranks ? (const uint32_t *)world->model_state[TH_BEHAVE_UNDECIDED] : NULL;
    const th_undecided_params *p = th_undecided_params_of(world, i);
    const th_target *target = &world->scene->targets[world->scene->groups[a->group[i]].route[leg]];
    double sine, cosine;
    th_sincos_turn((double)p->field_of_view / 720.0, &sine, &cosine);
    th_sight_seen best = {0.0f, 1e6f, {0.0f, 0.0f}, 0, 0};
    int best_goal = target->goals[0];
    for (int g = 0; g < target->goal_count; ++g) {
        th_sight_seen seen =
            th_sight_look(walls, (int)a->level[i], th_position(a, i), th_velocity(a, i),
                          (float)cosine, &world->scene->goals[target->goals[g]]);
        best.visibility = th_max(best.visibility, seen.visibility);
        if (seen.distance >= best.distance) continue;
        best.distance = seen.distance;
        best.nearest = seen.nearest;
        best.level = seen.level;
        best.sample = seen.sample;
        best_goal = target->goals[g];
    }
    float visited = th_own_floats(world, TH_BEHAVE_UNDECIDED, TH_UNDECIDED_VISITED + leg)[i];
    float age = visited > 0.0f ? (float)world->time - visited : -1.0f;
    float room = 0.0f;
    if (p->density_weight > 0.0f)
        room = th_sight_room(th_sight_density(world, i, best_goal, &best, counted),
                             p->crowded_density);
    return th_sight_rating(p, best.visibility, th_sight_history(age, p->forgetting),
                           th_sight_nearness(best.distance, p->near_distance), room);
}

TH_BOTH static inline void th_undecided_choose(th_world *world, const th_walls *walls, uint32_t i,
                                               int sights) {
    const th_agents *a = &world->agents;
    const th_group *group = &world->scene->groups[a->group[i]];
    const th_undecided_params *p = th_undecided_params_of(world, i);
    uint32_t visits = th_own_words(world, TH_BEHAVE_UNDECIDED, TH_UNDECIDED_VISITS)[i];
    int leg = sights; // the first exit after them
    if (!(p->visits > 0.0f && (float)visits >= p->visits && sights < group->route_count)) {
        float ratings[TH_SIGHTS];
        for (int k = 0; k < sights; ++k) ratings[k] = th_rate_sight(world, walls, i, k);
        th_random4 random =
            th_philox(world->seed, TH_STREAM_UNDECIDED, a->id[i], world->step_count);
        leg = th_sight_draw(ratings, sights, th_uniform(random.v[0]));
    }
    a->leg[i] = (uint32_t)leg;
    th_own_words(world, TH_BEHAVE_UNDECIDED, TH_UNDECIDED_CHOICE)[i] = (uint32_t)leg + 1;
    th_own_floats(world, TH_BEHAVE_UNDECIDED, TH_UNDECIDED_SINCE)[i] = (float)world->time;
}

// The route has led past the sight that was chosen: it has been visited.
TH_BOTH static inline bool th_undecided_note_visit(th_world *world, uint32_t i, int sights) {
    uint32_t *choice = th_own_words(world, TH_BEHAVE_UNDECIDED, TH_UNDECIDED_CHOICE) + i;
    if (*choice == 0 || world->agents.leg[i] == *choice - 1) return false;
    int leg = (int)*choice - 1;
    if (leg < sights) {
        // Never 0, which is never.
        th_own_floats(world, TH_BEHAVE_UNDECIDED, TH_UNDECIDED_VISITED + leg)[i] =
            th_max((float)world->time, 1e-3f);
        ++th_own_words(world, TH_BEHAVE_UNDECIDED, TH_UNDECIDED_VISITS)[i];
    }
    *choice = 0;
    return true;
}

// After the routes of the step. A wait ends, or a sight is walked through, by the leg being counted up.
TH_BOTH static inline void th_undecided_behave(th_world *world, const th_walls *walls, uint32_t i) {
    th_agents *a = &world->agents;
    const th_undecided_params *p = th_undecided_params_of(world, i);
    if (!th_moves(a->phase[i]) || !p) return;
    const th_group *group = &world->scene->groups[a->group[i]];
    uint32_t *nature = th_own_words(world, TH_BEHAVE_UNDECIDED, TH_UNDECIDED_NATURE) + i;
    int sights = th_sight_count(world, group);
    if (*nature == 0) *nature = th_undecided_nature(world->seed, a->id[i], p->share);
    if (*nature != 1 || sights == 0 || th_detour_of(a->leg[i]) > 0) return;
    bool visited = th_undecided_note_visit(world, i, sights);
    // An agent at the end of its route goes on: the last sight is not the last to be visited.
    if (visited && a->phase[i] == TH_PHASE_ARRIVED) a->phase[i] = TH_PHASE_WALKING;
    if (a->phase[i] != TH_PHASE_WALKING) return;
    uint32_t choice = th_own_words(world, TH_BEHAVE_UNDECIDED, TH_UNDECIDED_CHOICE)[i];
    float since = th_own_floats(world, TH_BEHAVE_UNDECIDED, TH_UNDECIDED_SINCE)[i];
    bool tired = choice <= (uint32_t)sights && (float)world->time - since > p->longest_way;
    if (choice == 0 || tired) th_undecided_choose(world, walls, i, sights);
}
#endif
