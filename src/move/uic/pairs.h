// The pair step for one person, on the CPU and on a device: which agents look for others, how far, what pushes, where
// walls stop a push. The CPU's loops are in pairs.c, the kernels in pairs.cu.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_MOVE_UIC_PAIRS_H
#define TH_MOVE_UIC_PAIRS_H
#include "formula/math.h"
#include "formula/random.h"
#include "move/uic/uic.h"
#include "state/exits.h"
#include "state/nearest.h"
#include <math.h>
#include <string.h>

enum {
    TH_UIC_LANES_OF_PAIRS = 16, // sums side by side: person k around an agent goes to sum k mod 16
    TH_UIC_AROUND_MAX = 512     // people around a cell of the index; more are taken one by one
};

// Bits of agents.pair_flags during the pair step.
enum {
    TH_UIC_LOOKS = 1, // for others, in the next pass
    TH_UIC_PUSHED = 2,
    TH_UIC_IS_TIGHT = 4,
    TH_UIC_TIDIED = 8 // has a new place from this tidying pass
};

// An arrived agent makes room for a walking one: of what the pair lacks, the walking one takes this share and the
// arrived one the rest. Otherwise agents that still have to pass would wait for ever.
#define TH_UIC_PAST_ARRIVED 0.25f
#define TH_UIC_COINCIDENT2 1e-12f // [m2] closer than a micrometre there is no direction
// An agent nearer to another than this many d_min is looked at again in the tidying passes, which aim at this
// distance. The margin is what a neighbour pushes back in the same pass.
#define TH_UIC_TIGHT 1.025f
#define TH_UIC_SQUEEZED 1.15f // [d_min] pair distance of agents that give way
// Share of a push that is taken in an ordinary pass. All pushes of a pass are added up from frozen positions, and in a
// packed crowd six of them in full carry people past where they should be; the next pass brings them back. With an odd
// number of passes they then stand on the other side in every other step. Half of it is calm with any number.
#define TH_UIC_RELAX 0.6f

typedef struct th_uic_pair_step {
    float widest;       // half the pair distance of any agent, at most [m]
    float moved;        // furthest that any agent is from where the index saw it [m]
    float *half, *give; // by agent: half the pair distance [m]; share of the push the other takes
    float piece;        // time walked before each pass that begins a piece of way [s]
    bool tidy;          // only agents that are still tight
    float share;        // of the pair distance that this pass aims at
    float tight;        // that the tidying passes aim at
    float relax;        // share of a push that is taken
    float most;         // a pass moves no agent further than this many `half`: d_min / 2
    bool mixed;         // others than the model's own people are there
} th_uic_pair_step;

typedef struct th_uic_push {
    th_vec2 sum;
    bool tight;  // an agent is very near, perhaps at the very place
    float clear; // no wall is nearer [m]
} th_uic_push;

// ---- the plan of a step

// The number of passes, and after which of them people walk on.
typedef struct th_uic_pass_plan {
    int passes, pieces;
} th_uic_pass_plan;

static inline bool th_uic_walks_after(const th_uic_pass_plan *plan, int pass) {
    return pass + 1 < plan->passes &&
           (pass + 1) * plan->pieces / plan->passes > pass * plan->pieces / plan->passes;
}

// 0 passes: no pair step.
static inline th_uic_pass_plan th_uic_plan_passes(const th_world *world, th_uic_pair_step *step) {
    const th_uic *uic = th_uic_of(world);
    th_uic_pass_plan plan = {0, 0};
    float separate =
        0.0f; // half the pair distance in d_min, of the group that keeps furthest apart
    for (int g = 0; g < uic->group_count; ++g) {
        if (!uic->groups[g].own || uic->groups[g].passes == 0) continue;
        plan.passes = uic->groups[g].passes > plan.passes ? uic->groups[g].passes : plan.passes;
        separate = th_max(separate, uic->groups[g].separate);
    }
    if (plan.passes == 0) return plan;
    plan.pieces = (int)ceilf(world->dt / uic->pair_substep - 1e-3f);
    plan.pieces = plan.pieces < 1 ? 1 : plan.pieces;
    if (plan.passes < plan.pieces) plan.passes = plan.pieces;
    memset(step, 0, sizeof *step);
    step->half = world->agents.pair_half;
    step->give = world->agents.pair_share;
    step->piece = world->dt / (float)plan.pieces;
    step->share = 1.0f;
    step->relax = TH_UIC_RELAX;
    step->tight = th_min(0.5f * TH_UIC_TIGHT / separate, 1.0f);
    step->most = 0.5f / separate;
    return plan;
}

// From here on only agents that are still tight.
static inline void th_uic_begin_tidying(th_uic_pair_step *step) {
    step->tidy = true;
    step->share = step->tight;
    step->relax = 1.0f;
}

// The limit below which a pair is tight, as the square of a share of the distance aimed at.
TH_FORMULA float th_uic_tight_share2(const th_uic_pair_step *step) {
    return step->tidy ? 1.0f : step->tight * step->tight;
}

// ---- one person before and after the passes

// The square of the way from where an agent stood when the step began.
TH_FORMULA float th_uic_moved2(const th_agents *a, uint32_t i) {
    float dx = a->next_position_x[i] - a->position_x[i];
    float dy = a->next_position_y[i] - a->position_y[i];
    return dx * dx + dy * dy;
}

// Half the pair distance in d_min: an agent that gives way squeezes past others. At the full distance two groups that
// meet in an alley of 1.3 m stand like a lattice of balls; they pass at 1.25 and less, and overlap from 1.1 on.
TH_FORMULA float th_uic_half_of(float separate, float aside) {
    return separate - aside * th_max(separate - 0.5f * TH_UIC_SQUEEZED, 0.0f);
}

// Half distance, share, and the first piece of an agent's way. True: one of the model's agents that has arrived.
TH_FORMULA bool th_uic_begin_pairs(th_world *world, const th_uic_pair_step *step, uint32_t i) {
    th_agents *a = &world->agents;
    const th_uic_group *group = &th_uic_of(world)->groups[a->group[i]];
    bool own = th_uic_own(world, i);
    if (own) {
        a->next_position_x[i] = a->position_x[i] + step->piece * a->next_velocity_x[i];
        a->next_position_y[i] = a->position_y[i] + step->piece * a->next_velocity_y[i];
    }
    float aside = own ? (float)th_uic_of(world)->squeezes[i] / 255.0f : 0.0f;
    step->half[i] =
        own ? th_uic_half_of(group->separate, aside) * th_uic_d_min(group->d_min, a->radius[i])
            : a->radius[i];
    bool stays = a->phase[i] == TH_PHASE_ARRIVED;
    step->give[i] = own ? (stays ? TH_UIC_PAST_ARRIVED : 0.5f) : 1.0f;
    bool none = own && (step->half[i] <= 0.0f || group->passes == 0);
    if (none || !th_in_the_way(a->phase[i])) step->half[i] = -1e6f; // has no pair step
    if (a->phase[i] == TH_PHASE_FALLEN) { // its place after the step is not known
        a->next_position_x[i] = a->position_x[i];
        a->next_position_y[i] = a->position_y[i];
    }
    a->pair_flags[i] = own && !none ? TH_UIC_LOOKS : 0;
    return own && stays;
}

// The next piece of way after a pass.
TH_FORMULA void th_uic_walk_on(th_world *world, const th_uic_pair_step *step, uint32_t i) {
    th_agents *a = &world->agents;
    if (!th_uic_own(world, i)) return;
    a->next_position_x[i] += step->piece * a->next_velocity_x[i];
    a->next_position_y[i] += step->piece * a->next_velocity_y[i];
    if (step->half[i] > 0.0f) a->pair_flags[i] |= TH_UIC_LOOKS;
}

// An agent that was pushed by `way` in all goes this share of it: no agent is pushed faster than people are carried.
// The next steps remove what is left of an overlap.
TH_FORMULA float th_uic_share_of_way(th_vec2 way, float dt, float speed) {
    float limit = dt * th_uic_fastest(speed), length2 = th_length2(way);
    return length2 > limit * limit ? limit / sqrtf(length2) : 1.0f;
}

// ---- near agents

// The rows of the index that may hold an agent within the pair distance of the people of a cell (begin .. end).
// The order in which pushes are added up depends on it, so every machine takes the same.
TH_FORMULA th_rows th_uic_rows_around_cell(const th_uic_pair_step *step, const th_level_grid *grid,
                                           const float *xs, const float *ys, uint32_t begin,
                                           uint32_t end) {
    float low_x = xs[begin], high_x = low_x, low_y = ys[begin], high_y = low_y, own = 0.0f;
    for (uint32_t i = begin; i < end; ++i) {
        low_x = th_min(low_x, xs[i]);
        high_x = th_max(high_x, xs[i]);
        low_y = th_min(low_y, ys[i]);
        high_y = th_max(high_y, ys[i]);
        own = th_max(own, step->share * step->half[i]);
    }
    float reach = own + step->share * step->widest + step->moved;
    th_rows rows = {th_grid_row(grid, low_y - reach), th_grid_row(grid, high_y + reach),
                    th_grid_column(grid, low_x - reach), th_grid_column(grid, high_x + reach)};
    return rows;
}

// Square of a pair distance, negative where the distance is: an agent that has no pair step has one of minus 1000 km.
TH_FORMULA float th_uic_apart2(float apart) { return apart * fabsf(apart); }

// The share that a person takes of the vector from another, `d2` the square of its length, to be `apart` again.
TH_FORMULA float th_uic_push_scale(float d2, float apart, float give) {
    return give * (apart * th_inverse_root(th_max(d2, TH_UIC_COINCIDENT2)) - 1.0f);
}

// ---- one pair after the other

TH_BOTH static inline th_vec2 th_uic_push_of_pair(const th_world *world,
                                                  const th_uic_pair_step *step, uint32_t i,
                                                  uint32_t j, th_vec2 p, th_vec2 q) {
    float apart = step->share * (step->half[i] + step->half[j]), d2 = th_length2(th_sub(p, q));
    if (j == i || !(apart > 0.0f) || d2 >= apart * apart) return th_v(0.0f, 0.0f);
    const th_agents *a = &world->agents;
    float d = sqrtf(d2);
    th_vec2 direction = d2 > TH_UIC_COINCIDENT2 ? th_scale(1.0f / d, th_sub(p, q))
                                                : th_pair_direction(a->id[i], a->id[j]);
    return th_scale(step->give[j] * (apart - d), direction);
}

// For the coincident, and where a wall may stand between two people. No wall is nearer to p than `clear`.
TH_BOTH static inline th_vec2
th_uic_push_one_by_one(const th_world *world, const th_uic_pair_step *step, const th_walls *walls,
                       uint32_t i, const float *xs, const float *ys, float reach, float clear) {
    int level = (int)world->agents.level[i];
    const th_level_grid *grid = &world->index.grids[level];
    th_vec2 p = {xs[i], ys[i]}, sum = {0.0f, 0.0f};
    th_rows rows = th_rows_around(grid, p, reach);
    for (uint32_t begin, end; th_next_run(&world->index, grid, &rows, &begin, &end);)
        for (uint32_t j = begin; j < end; ++j) {
            th_vec2 q = {xs[j], ys[j]}, one = th_uic_push_of_pair(world, step, i, j, p, q);
            if (one.x == 0.0f && one.y == 0.0f) continue;
            if (th_length2(th_sub(p, q)) > clear * clear &&
                th_walls_first_crossing(walls, level, p, q, NULL) >= 0)
                continue;
            sum = th_add(sum, one);
        }
    return sum;
}

// A lower bound on the distance of p from every wall, up to `range`.
TH_BOTH static inline float th_uic_clear_of_walls(const th_walls *walls, int level, th_vec2 p,
                                                  float range) {
    int wall;
    float distance2;
    if (range > walls->grids[level].reach) return 0.0f;
    if (range < th_walls_clear(walls, level, p)) return range;
    return th_walls_near(walls, level, p, range, &wall, &distance2, 1) > 0
               ? 0.999f * sqrtf(distance2)
               : range;
}

TH_BOTH static inline th_vec2 th_uic_push_over_links(const th_world *world,
                                                     const th_uic_pair_step *step, uint32_t i,
                                                     const float *xs, const float *ys,
                                                     float reach) {
    uint32_t found[16];
    th_vec2 sum = {0.0f, 0.0f}, p = {xs[i], ys[i]};
    int count = th_linked_neighbours(world, i, reach, found, 16);
    for (int k = 0; k < count; ++k) {
        th_vec2 q = {xs[found[k]], ys[found[k]]};
        sum = th_add(sum, th_uic_push_of_pair(world, step, i, found[k], p, q));
    }
    return sum;
}

// Cases that the sum over all neighbours leaves out: walls, links, people at the very same place.
TH_FORMULA th_uic_push th_uic_look_closer(const th_world *world, const th_uic_pair_step *step,
                                          const th_walls *walls, uint32_t i, th_uic_push result,
                                          bool coincident, const float *xs, const float *ys,
                                          bool by_wall) {
    if (!coincident && !by_wall && world->scene->link_count == 0) return result;
    th_vec2 p = {xs[i], ys[i]};
    float furthest = step->share * step->half[i] + step->share * step->widest;
    float reach = furthest + step->moved;
    if (by_wall)
        result.clear = th_uic_clear_of_walls(walls, (int)world->agents.level[i], p, furthest);
    if (coincident || (result.clear < furthest && (result.sum.x != 0.0f || result.sum.y != 0.0f)))
        result.sum = th_uic_push_one_by_one(world, step, walls, i, xs, ys, reach, result.clear);
    if (world->scene->link_count > 0)
        result.sum = th_add(result.sum, th_uic_push_over_links(world, step, i, xs, ys, reach));
    return result;
}

// ---- taking a push

// Walls push back within the pair step: an agent that is pushed into one would stick to it, and the contact stage
// would press an agent pushed out onto the others. No further from p, where the step began, than the first wall,
// then off the nearest.
TH_BOTH static inline th_vec2 th_uic_stop_at_walls(const th_world *world, const th_walls *walls,
                                                   uint32_t i, th_vec2 p, th_vec2 q) {
    int level = (int)world->agents.level[i], wall;
    float radius = world->agents.radius[i], distance2, t;
    if (th_walls_near(walls, level, q, radius, &wall, &distance2, 1) == 0 &&
        th_length2(th_sub(q, p)) < radius * radius)
        return q;
    if (th_walls_first_crossing(walls, level, p, q, &t) >= 0) {
        // A share of the way would bring people nearer and nearer to a wall they are pressed against.
        float way = th_max(t - TH_WALL_GAP / th_max(th_length(th_sub(q, p)), 1e-9f), 0.0f);
        q = th_add(p, th_scale(way, th_sub(q, p)));
    }
    for (int round = 0; round < 2; ++round) {
        if (th_walls_near(walls, level, q, radius, &wall, &distance2, 1) == 0) return q;
        const th_wall *nearest = &walls->walls[wall];
        th_vec2 off = th_sub(q, th_nearest_on_segment(q, nearest->a, nearest->b));
        float distance = sqrtf(distance2);
        if (distance < 1e-5f || distance >= radius) return q;
        th_vec2 lifted = th_add(q, th_scale((radius - distance) / distance, off));
        if (th_walls_first_crossing(walls, level, q, lifted, NULL) >= 0) return q;
        q = lifted;
    }
    return q;
}

// Within this distance of the line of its own exit, in radii, an agent is not pushed back from it.
#define TH_UIC_AT_EXIT 3.0f

// Removes from a push, p to q, the part that leads away from the exit line at which the agent stands. Agents pressed onto a
// line that they do not want to cross stand along it like a wall, which held back those that wanted to leave, and all behind
// them.
TH_FORMULA th_vec2 th_uic_keep_at_exit(const th_world *world, uint32_t i, th_vec2 p, th_vec2 q) {
    const th_scene *scene = world->scene;
    const th_vec2 from = th_position(&world->agents, i); // it may be beyond the line already
    float reach = TH_UIC_AT_EXIT * world->agents.radius[i];
    if (!th_goals_maybe_near(scene, (int)world->agents.level[i], from, from)) return q;
    for (int g = 0; g < scene->goal_count; ++g) {
        const th_goal *goal = &scene->goals[g];
        if (!goal->is_line || goal->kind != TH_GOAL_EXIT ||
            (uint32_t)goal->line.level != world->agents.level[i])
            continue;
        th_vec2 out = th_sub(th_nearest_on_segment(from, goal->line.a, goal->line.b), from);
        float distance2 = th_length2(out);
        if (distance2 > reach * reach || distance2 < 1e-10f || !th_wants_goal(world, i, g))
            continue;
        float back = th_min(th_dot(th_sub(q, p), out), 0.0f) / distance2;
        q = th_sub(q, th_scale(back, out));
        // Sliding off another exit beside it is not limited: cut to the largest allowed move, hardly any of the agent's
        // own motion would be left.
        th_slide_off_exit(world, i, world->agents.level[i], g, p, &q);
        return q;
    }
    return q;
}

// An agent that has to look, in this pass.
TH_BOTH static inline bool th_uic_looks(const th_uic_pair_step *step, uint32_t flags) {
    return flags & (step->tidy ? TH_UIC_IS_TIGHT : TH_UIC_LOOKS);
}

// Where an agent at p is after a push; notes in the flags what the next pass has to know.
TH_FORMULA th_vec2 th_uic_take_push(const th_world *world, const th_uic_pair_step *step,
                                    const th_walls *walls, uint32_t i, th_vec2 p,
                                    th_uic_push result, bool by_wall) {
    const th_agents *a = &world->agents;
    uint32_t *flags = a->pair_flags;
    if (a->phase[i] == TH_PHASE_ARRIVED)
        result.sum = th_scale(2.0f * (1.0f - TH_UIC_PAST_ARRIVED), result.sum);
    result.sum = th_scale(step->relax, result.sum);
    bool pushed = result.sum.x != 0.0f || result.sum.y != 0.0f;
    th_vec2 to = th_add(p, th_limit(result.sum, step->most * step->half[i]));
    if (by_wall) to = th_uic_keep_at_exit(world, i, p, to);
    // Limits the push over the whole step, too: what the agent cannot take, the others take in the next pass. With the limit.
    // at the end of the step only, slow people were run over by those behind them.
    th_vec2 from = th_position(a, i);
    to = th_add(from, th_limit(th_sub(to, from), world->dt * th_uic_fastest(a->speed[i])));
    float way2 = by_wall ? th_max(th_length2(th_sub(to, p)), th_length2(th_sub(from, p))) : 0.0f;
    if (by_wall && sqrtf(way2) + a->radius[i] >= result.clear)
        to = th_uic_stop_at_walls(world, walls, i, from, to);
    // The contact stage alone would leave people pressed onto an exit that they do not want inside the others on its line: the.
    // pair step pushes them over it, the contact stage back.
    bool held = by_wall && th_stop_at_foreign_exits(world, walls, i, a->level[i], from, &to);
    flags[i] = (pushed ? TH_UIC_LOOKS | TH_UIC_PUSHED : flags[i] & TH_UIC_PUSHED) |
               (held ? TH_UIC_PUSHED : 0) | (result.tight ? TH_UIC_IS_TIGHT : 0) |
               (step->tidy ? TH_UIC_TIDIED : 0);
    return to;
}

// The new place of an agent that was tidied.
TH_BOTH static inline void th_uic_take_tidied(th_agents *a, uint32_t i) {
    if (!(a->pair_flags[i] & TH_UIC_TIDIED)) return;
    a->next_position_x[i] = a->separated_x[i];
    a->next_position_y[i] = a->separated_y[i];
    a->pair_flags[i] &= ~(uint32_t)TH_UIC_TIDIED;
}

TH_BOTH static inline void th_uic_swap_positions(th_agents *a) {
    float *swap_x = a->next_position_x, *swap_y = a->next_position_y;
    a->next_position_x = a->separated_x;
    a->next_position_y = a->separated_y;
    a->separated_x = swap_x;
    a->separated_y = swap_y;
}
#endif
