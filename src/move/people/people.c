// People as measured: the loop over people. Cost O(people x neighbours within 3 m). SPDX-License-Identifier: Apache-2.0
#include "move/people/people.h"
#include "state/influences.h"
#include "state/world.h"

enum { KEPT = 64 }; // neighbours kept until they are looked at

// An agent that looks around.
typedef struct looker {
    const th_world *world;
    const th_walls *walls;
    const th_people_view *i;
    uint32_t self;
    bool hides; // walls may hide others from it
    th_people_met met;
    _Alignas(64) float way_x[TH_PEOPLE_LANES];
    _Alignas(64) float way_y[TH_PEOPLE_LANES];
    _Alignas(64) float limit[TH_PEOPLE_LANES];
} looker;

// All directions together: what does not depend on them is computed once.
TH_FORMULA void look_at(looker *l, const th_people_seen *one) {
    const th_people_headway h = l->i->headway;
    const th_people_obstacle o =
        th_people_obstacle_of(&h, one->dx, one->dy, one->vx, one->vy, one->apart);
    const float *x = l->way_x, *y = l->way_y;
    float *limit = l->limit;
#pragma omp simd
    for (int k = 0; k < TH_PEOPLE_LANES; ++k) {
        float allowed = th_people_allows(&o, th_v(x[k], y[k]));
        limit[k] = th_min(limit[k], allowed);
    }
}

// Looks at j if it is in the way.
TH_FORMULA void notice(looker *l, uint32_t j) {
    th_people_seen one;
    if (l->hides && th_hidden(l->world, l->walls, l->self, j)) return;
    if (th_people_notice(l->world, l->i, l->self, j, &one, &l->met)) look_at(l, &one);
}

TH_FORMULA void notice_all(looker *l, const uint32_t *list, int count) {
    for (int k = 0; k < count; ++k) notice(l, list[k]);
}

// Selects the agents of a portion between two distances that may not allow `enough`.
TH_FORMULA int sieve(const looker *l, th_portion portion, float from2, float range2, float enough,
                     uint32_t *list) {
    const th_agents *a = &l->world->agents;
    const float *px = a->position_x, *py = a->position_y, *vx = a->velocity_x, *vy = a->velocity_y;
    const float *fx = a->heading_x, *fy = a->heading_y, *r = a->radius;
    const th_people_headway h = l->i->headway;
    const th_vec2 p = l->i->p, e = l->i->e;
    const float radius = l->i->radius + h.standing, own = l->i->lead;
    const float *lead = th_own_floats(l->world, TH_MOVE_PEOPLE, TH_PEOPLE_LEAD);
    int found;
    TH_SIEVE(portion, l->self, j,
             th_people_may_matter(&h, e, px[j] - p.x, py[j] - p.y, vx[j], vy[j], fx[j], fy[j],
                                  own - lead[j], radius + r[j], from2, range2, enough),
             list, found);
    return found;
}

// Looks at those between two distances that do not allow `enough`.
TH_FORMULA void look_within(looker *l, float from, float range, float enough) {
    const th_world *world = l->world;
    const th_level_grid *grid = &world->index.grids[world->agents.level[l->self]];
    th_rows rows = th_people_rows_ahead(grid, l->i, range);
    uint32_t list[KEPT + TH_SIEVE_LIST];
    int count = 0;
    for (uint32_t begin, end; th_next_run(&world->index, grid, &rows, &begin, &end);)
        for (th_portion portion; begin < end; begin += (uint32_t)portion.count) {
            portion = th_portion_of(begin, end - begin);
            count += sieve(l, portion, from * from, range * range, enough, list + count);
            if (count <= KEPT) continue;
            notice_all(l, list, count);
            count = 0;
        }
    notice_all(l, list, count);
}

TH_FORMULA void look_around(const th_world *world, const th_walls *walls, uint32_t self,
                            const th_people_view *i, float *limit, th_people_met *met) {
    looker l;
    l.world = world;
    l.walls = walls;
    l.i = i;
    l.self = self;
    l.hides = walls->count > 0 && th_walls_maybe_near(walls, (int)world->agents.level[self], i->p);
    l.met = th_people_met_none();
#pragma omp simd
    for (int k = 0; k < TH_PEOPLE_LANES; ++k) {
        th_vec2 e = th_people_way(i->e, k);
        l.way_x[k] = e.x;
        l.way_y[k] = e.y;
        l.limit[k] = TH_PEOPLE_FREE;
    }
    float close = th_min(TH_PEOPLE_CLOSE, i->params->sight);
    look_within(&l, 0.0f, close, i->speed);
    float enough = th_people_enough(i, l.limit);
    look_within(&l, close, th_people_range(world, i, enough), enough);
    if (world->scene->link_count > 0) {
        uint32_t list[TH_LINKED_MAX];
        int count = th_linked_neighbours(world, self, i->params->sight, list, TH_LINKED_MAX);
        l.hides = false; // no wall stands on a link
        for (int k = 0; k < count; ++k) notice(&l, list[k]);
    }
    for (int k = 0; k < TH_PEOPLE_WAYS; ++k) limit[k] = l.limit[k];
    *met = l.met;
}

TH_CLONES static void move_block(th_world *world, const th_walls *walls, uint32_t begin,
                                 uint32_t end) {
    for (uint32_t self = begin; self < end; ++self) {
        float limit[TH_PEOPLE_WAYS];
        th_people_met met = th_people_met_none();
        if (!th_substep_own(world, TH_MOVE_PEOPLE, self)) continue;
        th_people_view i = th_people_view_of(world, walls, self);
        if (i.speed > 0.0f) look_around(world, walls, self, &i, limit, &met);
        th_people_take(world, walls, self, &i, limit, met);
    }
}

typedef struct moved {
    th_world *world;
    th_walls walls;
} moved;
static uint64_t move_part(const void *context, int begin, int end) {
    const moved *all = context;
    move_block(all->world, &all->walls, (uint32_t)begin, (uint32_t)end);
    return 0;
}

static void run(th_world *world, int model) {
    (void)model;
    const moved all = {world, th_world_walls(world)};
    int count = world->agents.count;
#pragma omp parallel for schedule(static) num_threads(world->threads)
    for (int i = 0; i < count; ++i) th_people_show(world, (uint32_t)i);
    th_share_out(world, count, TH_BLOCK, move_part, &all);
}

// ---- influences on a person: the speeds allowed in each direction, the one chosen, and the agents that slow it there

// Agents that leave less than the preferred speed in direction e, and the one that leaves the least.
static void tell_people(const th_world *world, const th_walls *walls, uint32_t self,
                        const th_people_view *i, th_vec2 e, th_influences *all) {
    const th_agents *a = &world->agents;
    uint32_t list[TH_NEAR_MAX + 1], slowest = UINT32_MAX;
    float least = i->speed;
    th_people_met met = th_people_met_none();
    th_people_around around = th_people_around_of(world, walls, self, i);
    for (int count; (count = th_people_around_next(&around, world, walls, self, i, list)) >= 0;)
        for (int k = 0; k < count; ++k) {
            th_people_seen seen;
            uint32_t j = list[k];
            if (!th_people_notice(world, i, self, j, &seen, &met)) continue;
            float allowed =
                th_people_allowed(&i->headway, e, seen.dx, seen.dy, seen.vx, seen.vy, seen.apart);
            if (allowed >= i->speed) continue;
            th_tell_body(all, "person in the way", th_position(a, j), a->radius[j], a->id[j]);
            slowest = allowed < least ? j : slowest;
            least = th_min(least, allowed);
        }
    if (slowest == UINT32_MAX) return;
    th_tell_body(all, "person who slows it", th_position(a, slowest), 1.2f * a->radius[slowest],
                 a->id[slowest]);
    th_tell_figure(all, "speed that this person allows", "m/s", th_people_unsteady_limit(i, least));
}

static int influences(th_world *world, int model, uint32_t self, th_influence *list, int max) {
    (void)model;
    if (!th_substep_own(world, TH_MOVE_PEOPLE, self)) return 0;
    float limit[TH_PEOPLE_WAYS];
    th_people_met met = th_people_met_none();
    th_influences all = {list, 0, max};
    th_walls walls = th_world_walls(world);
    for (int j = 0; j < world->agents.count; ++j) th_people_show(world, (uint32_t)j);
    th_people_view i = th_people_view_of(world, &walls, self);
    if (!(i.speed > 0.0f)) return 0;
    look_around(world, &walls, self, &i, limit, &met);
    th_people_wish wish = th_people_wish_of(world, &walls, self, &i, limit, met);
    for (int k = 0; k < TH_PEOPLE_WAYS; ++k)
        th_tell_vector(&all, "speed allowed", "m/s", i.p,
                       th_scale(th_min(limit[k], i.speed), th_people_way(i.e, k)), 0);
    th_tell_vector(&all, "direction chosen", "m/s", i.p, wish.chosen, 0);
    th_tell_vector(&all, "off the walls", "m/s", i.p, wish.off_walls, 0);
    th_vec2 e = th_unit(wish.chosen);
    tell_people(world, &walls, self, &i, th_length2(e) > 0.0f ? e : i.e, &all);
    th_tell_figure(&all, "time gap kept", "s", i.headway.time_gap);
    return all.count;
}

static void body(const float *values, th_body_rules *rules) {
    const th_people_params *p = (const th_people_params *)values;
    rules->separation_passes = (int)p->separation_passes;
    rules->depth = p->body_depth;
    rules->standing_yield = p->standing_yield;
    rules->stiffness = p->stiffness;
    rules->stiffening = p->stiffening;
    rules->friction = p->friction;
    // All of 360 lone walkers from odd places and angles pass with this value, 71 of 72 with half of it, two thirds with a.
    // quarter: the directions that they try seem too coarse for it.
    rules->gap_clearance = 0.02f;
}

// Two bodies that overlap.
static float contact_force(const float *values, float overlap) {
    const th_people_params *p = (const th_people_params *)values;
    return (p->stiffness + p->stiffening * overlap) * overlap;
}

static float reach(const th_world *world, const float *values) {
    (void)world;
    return ((const th_people_params *)values)->sight;
}

static const th_param_info params[] = {TH_PEOPLE_PARAMS(TH_PARAM_INFO)};
static const th_field_info fields[] = {
    {"waited", true, true, "how long the agent could not go on [s]", "time without progress"},
    {"closeness", true, true, "how far the agent has closed up, 0 to `eagerness`", "closing up"},
    {"unsteady", true, true, "deviation of its speed behind others [m/s]", "unsteadiness"},
    {"lead", true, false, "how much further ahead than it is it counts during a step [m]", NULL}};
const th_model th_move_people_model = {
    .cookie = TH_MODEL_COOKIE,
    .stage = TH_STAGE_MOVE,
    .name = "people",
    .doc = "people as measured: time gap to those ahead, the direction with the most progress",
    .source = "throng, after Tordeux, Chraibi, Seyfried 2016 and Moussaid, Helbing, Theraulaz 2011",
    .params = params,
    .param_count = TH_COUNT_OF(params),
    .fields = fields,
    .field_count = TH_COUNT_OF(fields),
    .is_default = true,
    .longest_step = 0.1f, // tools/measure-steps: deeper overlaps than 10 cm beyond
    .body = body,
    .run = run,
    .reach = reach,
    .influences = influences,
    .contact_force = contact_force,
};
