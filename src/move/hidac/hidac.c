// HiDAC, the low level: the loop over people. SPDX-License-Identifier: Apache-2.0
#include "move/hidac/hidac.h"
#include "core/parallel.h"
#include "state/influences.h"

static void run(th_world *world, int model) {
    (void)model;
    th_walls walls = th_world_walls(world);
    int count = world->agents.count;
#pragma omp parallel for schedule(dynamic, 64) num_threads(world->threads)
    for (int i = 0; i < count; ++i) {
        if (th_substep_own(world, TH_MOVE_HIDAC, (uint32_t)i)) {
            th_hidac_step(world, &walls, (uint32_t)i);
        }
    }
    uint64_t down = 0, up = 0;
#pragma omp parallel for schedule(static) num_threads(world->threads) reduction(+ : down, up)
    for (int i = 0; i < count; ++i) {
        int more = th_hidac_lie_down(world, (uint32_t)i);
        down += more > 0;
        up += more < 0;
    }
    world->counters.fallen += down - up;
    world->counters.falls += down;
}

// ---- influences on a person: figure 14

// Adds each neighbour to the sums, and tells whether it is counted; then the sums are complete.
static void tell_others(const th_world *world, const th_walls *walls, th_hidac_view *i,
                        th_influences *all) {
    const th_agents *a = &world->agents;
    th_hidac_view sums = *i;
    th_hidac_see_all(world, walls, &sums);
    for (uint32_t j = 0; j < (uint32_t)a->count; ++j) {
        if (j == i->self || a->level[j] != i->level || th_gone(a->phase[j])) continue;
        th_hidac_view one = *i;
        if (walls->count > 0) th_hidac_touch_walls(walls, &one);
        th_hidac_leave_exits(world, &one);
        th_hidac_see(world, walls, &one, j);
        th_vec2 turn = th_scale(i->params->others_weight, one.avoid_people);
        if (th_length2(turn) > 0.0f)
            th_tell_vector(all, "avoidance of one person", "-", i->p, turn, a->id[j]);
        if (one.ahead > 0)
            th_tell_body(all, "counted person", th_position(a, j), a->radius[j], a->id[j]);
    }
    *i = sums;
}

static void tell_rectangle(const th_hidac_view *i, const char *name, float length,
                           th_influences *all) {
    th_vec2 along = th_scale(length, i->wish);
    th_tell(all, (th_influence){.kind = TH_INFLUENCE_RECTANGLE,
                                .name = name,
                                .unit = "m",
                                .at = th_add(i->p, th_scale(0.5f, along)),
                                .vector = along,
                                .size = i->params->rectangle_width});
}

static void tell_shapes(const th_hidac_view *i, uint32_t state, th_influences *all) {
    const th_hidac_params *p = i->params;
    bool walks = th_length2(i->wish) > 0.0f;
    th_tell_circle(all, state == TH_HIDAC_STOPS ? "personal space, stops" : "personal space", i->p,
                   i->radius + i->space);
    if (!walks) return;
    // The sample first: where both are the same, the other is drawn over it.
    tell_rectangle(i, "density sample", p->rectangle_loose, all);
    tell_rectangle(i, "rectangle of influence", i->rectangle, all);
    th_vec2 disc = th_add(i->p, th_scale(i->radius + p->waiting_radius, i->wish));
    th_tell_circle(all, state == TH_HIDAC_WAITS ? "waiting disc, waits" : "waiting disc", disc,
                   p->waiting_radius);
}

// A body on the ground: the rectangle that others walk around or over.
static void tell_body(const th_world *world, uint32_t self, th_influences *all) {
    th_vec2 along = th_v(th_own_floats(world, TH_MOVE_HIDAC, TH_HIDAC_HEADING_X)[self],
                         th_own_floats(world, TH_MOVE_HIDAC, TH_HIDAC_HEADING_Y)[self]);
    th_tell(all, (th_influence){.kind = TH_INFLUENCE_RECTANGLE,
                                .name = "body on the ground",
                                .unit = "m",
                                .at = th_position(&world->agents, self),
                                .vector = th_scale(TH_HIDAC_BODY_LENGTH, along),
                                .size = TH_HIDAC_BODY_WIDTH});
}

static int influences(th_world *world, int model, uint32_t self, th_influence *list, int max) {
    (void)model;
    th_influences all = {list, 0, max};
    if (world->agents.phase[self] == TH_PHASE_FALLEN) tell_body(world, self, &all);
    if (!th_substep_own(world, TH_MOVE_HIDAC, self)) return all.count;
    th_walls walls = th_world_walls(world);
    th_hidac_view i = th_hidac_look(world, &walls, self);
    const th_hidac_params *p = i.params;
    tell_shapes(&i, th_own_words(world, TH_MOVE_HIDAC, TH_HIDAC_STATE)[self], &all);
    tell_others(world, &walls, &i, &all);
    th_tell_vector(&all, "attractor", "-", i.p, th_scale(p->attractor_weight, i.wish), 0);
    th_tell_vector(&all, "last direction", "-", i.p, th_scale(p->previous_weight, i.heading), 0);
    th_tell_vector(&all, "avoidance of walls", "-", i.p, th_scale(p->walls_weight, i.avoid_walls),
                   0);
    th_tell_vector(&all, "direction", "-", i.p, th_hidac_direction(&i), 0);
    th_tell_vector(&all, "walk around the fallen", "-", i.p,
                   th_scale(p->fallen_weight, i.avoid_fallen), 0);
    th_tell_vector(&all, "moved off people", "m", i.p,
                   th_scale(p->repulsion_gain * th_hidac_lambda(&i), i.push_people), 0);
    th_tell_vector(&all, "moved off walls", "m", i.p, th_scale(p->repulsion_gain, i.push_walls), 0);
    th_tell_figure(&all, "people in the density sample", "-", (float)i.ahead);
    th_tell_figure(&all, "density ahead", "1/m2", th_hidac_density(&i));
    th_tell_figure(&all, "left of a stop or a wait", "s",
                   th_own_floats(world, TH_MOVE_HIDAC, TH_HIDAC_TIMER)[self]);
    th_tell_figure(&all, "is in panic", "-", i.panics ? 1.0f : 0.0f);
    return all.count;
}

static th_mood mood(const th_world *world, int model, uint32_t i) {
    (void)model;
    uint32_t state = th_own_words(world, TH_MOVE_HIDAC, TH_HIDAC_STATE)[i];
    if (th_own_floats(world, TH_MOVE_HIDAC, TH_HIDAC_PANIC)[i] > 0.5f) return TH_MOOD_PANICS;
    return state == TH_HIDAC_WAITS || state == TH_HIDAC_STOPS ? TH_MOOD_WAITS : TH_MOOD_CALM;
}

// Finds a switch that is neither on nor off; NULL: none.
static const float *odd_switch(const th_hidac_params *p) {
    const float *switches[] = {&p->adapts,   &p->line_of_sight, &p->oncoming_first,
                               &p->stopping, &p->waiting,       &p->falling};
    for (int k = 0; k < TH_COUNT_OF(switches); ++k)
        if (*switches[k] != 0.0f && *switches[k] != 1.0f) return switches[k];
    return NULL;
}

static const char *check(const float *values, int *param) {
    const th_hidac_params *p = (const th_hidac_params *)(const void *)values;
    const float *odd = odd_switch(p);
    if (odd) {
        *param = (int)(odd - values);
        return "is a switch; give 0 (off) or 1 (on)";
    }
    if (p->keep_side != 0.0f && p->keep_side != 1.0f && p->keep_side != -1.0f) {
        *param = (int)(&p->keep_side - values);
        return "is no side; give 1 (right), -1 (left) or 0 (none)";
    }
    if (p->rectangle_dense > p->rectangle_loose) {
        *param = (int)(&p->rectangle_dense - values);
        return "is longer than rectangle_loose; give both, rectangle_dense at most rectangle_loose";
    }
    if (p->loose_density > p->dense_density) {
        *param = (int)(&p->loose_density - values);
        return "is above dense_density; give both, loose_density at most dense_density";
    }
    if (p->stop_shortest > p->stop_longest) {
        *param = (int)(&p->stop_shortest - values);
        return "is longer than stop_longest; give both, stop_shortest at most stop_longest";
    }
    if (p->wait_shortest > p->wait_longest) {
        *param = (int)(&p->wait_shortest - values);
        return "is longer than wait_longest; give both, wait_shortest at most wait_longest";
    }
    return NULL;
}

// ---- a share that is changed while people walk

static void redraw_panic(th_world *world, uint32_t i, float share) {
    float *panic = &th_own_floats(world, TH_MOVE_HIDAC, TH_HIDAC_PANIC)[i];
    if (th_hidac_draw(world, i, 0) < share)
        *panic = TH_HIDAC_FOR_GOOD;
    else if (*panic == TH_HIDAC_FOR_GOOD)
        *panic = 0.0f;
}

// A raised share makes more agents lie down; with a lowered one, agents that no longer belong to it stand up.
static void redraw_lying(th_world *world, uint32_t i, float before, const th_hidac_params *p) {
    uint32_t *phase = &world->agents.phase[i];
    float drawn = th_hidac_draw(world, i, 2);
    bool down = *phase == TH_PHASE_WALKING && drawn < p->lies && drawn >= before;
    bool up = *phase == TH_PHASE_FALLEN && drawn >= p->lies && drawn < before;
    if (!down && !up) return;
    *phase = down ? TH_PHASE_FALLEN : TH_PHASE_WALKING;
    th_own_words(world, TH_MOVE_HIDAC, TH_HIDAC_STATE)[i] = down ? TH_HIDAC_FALLS : TH_HIDAC_WALKS;
    th_own_floats(world, TH_MOVE_HIDAC, TH_HIDAC_TIMER)[i] = down ? p->gets_up : 0.0f;
    if (down) world->counters.fallen++, world->counters.falls++;
    if (up) world->counters.fallen--;
}

static const char *edited(th_world *world, int model, int group, const float *before) {
    (void)model;
    const th_hidac_params *old = (const th_hidac_params *)(const void *)before;
    const th_hidac_params *p =
        (const th_hidac_params *)(const void *)world->groups[group].move_params;
    for (uint32_t i = 0; i < (uint32_t)world->agents.count; ++i) {
        // An agent that has made no step yet draws by the new values then.
        if (world->agents.group[i] != (uint32_t)group || th_gone(world->agents.phase[i]) ||
            th_own_floats(world, TH_MOVE_HIDAC, TH_HIDAC_RECTANGLE)[i] <= 0.0f)
            continue;
        if (p->panic != old->panic) redraw_panic(world, i, p->panic);
        if (p->lies != old->lies) redraw_lying(world, i, old->lies, p);
    }
    return NULL;
}

static const th_field_info fields[TH_HIDAC_FIELDS] = {
    [TH_HIDAC_HEADING_X] = {"heading_x", true, true, "direction of the last step", NULL},
    [TH_HIDAC_HEADING_Y] = {"heading_y", true, true, "direction of the last step", NULL},
    [TH_HIDAC_PACE] = {"pace", true, true, "speed reached so far [m/s]", "pace"},
    [TH_HIDAC_TIMER] = {"timer", true, true, "left of a stop or a wait [s]",
                        "time left of a stop or a wait"},
    [TH_HIDAC_STATE] = {"state", false, true, "0 walks, 1 stops, 2 waits, 3 tries, 4 falls", NULL},
    [TH_HIDAC_RECTANGLE] = {"rectangle", true, true, "length of the rectangle of influence [m]",
                            "rectangle of influence"},
    [TH_HIDAC_PUSHED_X] = {"pushed_x", true, true, "by others, of late [m/s]", NULL},
    [TH_HIDAC_PUSHED_Y] = {"pushed_y", true, true, "by others, of late [m/s]", NULL},
    [TH_HIDAC_PANIC] = {"panic", true, true, "above 0.5: is in panic, 2: for good", NULL},
    [TH_HIDAC_MANNERS] = {"manners", false, true, "0 drawn by `pushers`, 1 polite, 2 pushes", NULL},
    [TH_HIDAC_GOES_X] = {"goes_x", true, true, "velocity, averaged over fall_time [m/s]", NULL},
    [TH_HIDAC_GOES_Y] = {"goes_y", true, true, "velocity, averaged over fall_time [m/s]", NULL},
};
static void body(const float *values, th_body_rules *rules) {
    const th_hidac_params *p = (const th_hidac_params *)values;
    rules->separation_passes = (int)p->separation_passes;
    rules->falls = p->falling > 0.0f || p->lies > 0.0f;
    rules->rises = p->gets_up > 0.0f;
}

static const th_param_info params[] = {TH_HIDAC_PARAMS(TH_PARAM_INFO)};
_Static_assert(TH_COUNT_OF(params) <= TH_PARAM_MAX, "too many parameters");
TH_HIDAC_PRESETS(TH_PRESET_VALUES)
static const th_preset_info presets[] = {TH_HIDAC_PRESETS(TH_PRESET_INFO)};
const th_model th_move_hidac_model = {
    .cookie = TH_MODEL_COOKIE,
    .stage = TH_STAGE_MOVE,
    .name = "hidac",
    .doc = "people who steer past others, stop, queue and push",
    .source = "Pelechano, Allbeck, Badler 2007",
    .params = params,
    .param_count = TH_COUNT_OF(params),
    .presets = presets,
    .preset_count = TH_COUNT_OF(presets),
    .fields = fields,
    .field_count = TH_HIDAC_FIELDS,
    .longest_step = 0.1f, // tools/measure-steps: deeper overlaps than 10 cm beyond
    .body = body,
    .run = run,
    .influences = influences,
    .mood = mood,
    .check = check,
    .edited = edited,
};
