// Navigation fields on the device: one thread per person looks its direction up. Fields are solved on the host, which
// asks which agent follows which only while one is unsolved, and for the crowd only to count it (`every`); they are
// sent once solved. SPDX-License-Identifier: Apache-2.0
#include "plan/guided/guided.h"
#include "plan/lattice.cuh"

namespace th {

struct guided_device {   // on the host, with device pointers
    th_guided *s;        // on the device
    th_guided known;     // its pointers
    th_guided_leg *legs; // as they are on the device
    bool current;        // graphs and legs were sent
    uint32_t changes;    // the host's when they were
};

static guided_device *device_of(const th_world *host) {
    return (guided_device *)host->device_world->model_state[TH_PLAN_GUIDED];
}
static th_guided *host_of(const th_world *host) {
    return (th_guided *)host->model_state[TH_PLAN_GUIDED];
}

static bool guided_create(th_world *host) {
    store &s = host->device_world->store;
    const th_guided *g = host_of(host);
    guided_device *d = new (std::nothrow) guided_device();
    if (!d) return false;
    host->device_world->model_state[TH_PLAN_GUIDED] = d;
    size_t legs = (size_t)g->field_count, count = (size_t)g->nodes.count;
    d->known = *g;
    d->s = s.room<th_guided>(1);
    d->legs = (th_guided_leg *)calloc(legs + 1, sizeof *d->legs);
    if (!d->s || !d->legs) return false;
    take_lattice(&d->known.nodes, d->known.graphs, &d->s->nodes, s, host);
    for (size_t k = 0; k < legs; ++k) {
        d->legs[k] = g->fields[k];
        d->legs[k].version = g->fields[k].version - 1;
        d->legs[k].values.potential = s.room<float>(count);
        d->legs[k].values.direction = s.room<th_vec2>(count);
    }
    d->known.fields = s.room<th_guided_leg>(legs);
    d->known.first_field = s.copy(g->first_field, (size_t)host->scene->group_count);
    return !s.failed && put(d->s, &d->known, sizeof d->known);
}

static void guided_destroy(th_world *host) {
    guided_device *d = device_of(host);
    if (!d) return;
    free(d->legs);
    delete d;
    host->device_world->model_state[TH_PLAN_GUIDED] = nullptr;
}

// ---- to the device and back

static bool put_legs(const guided_device *d, const th_guided *g) {
    return g->field_count == 0 ||
           put(d->known.fields, d->legs, (size_t)g->field_count * sizeof *d->legs);
}

// Sends the data that the device lacks.
static bool put_changes(guided_device *d, const th_world *host) {
    const th_guided *g = host_of(host);
    size_t count = (size_t)g->nodes.count;
    bool good = true, changed = !d->current || d->changes != g->changes;
    if (changed) good = put_graphs(d->known.graphs, g->graphs, host);
    for (int k = 0; k < g->field_count; ++k) {
        const th_guided_leg *here = &g->fields[k];
        th_guided_leg *there = &d->legs[k];
        changed = changed || there->shared != here->shared || there->solved != here->solved;
        there->shared = here->shared;
        there->solved = here->solved;
        if (!here->solved || there->version == here->version) continue;
        good = put(there->values.potential, here->values.potential, count * sizeof(float)) &&
               put(there->values.direction, here->values.direction, count * sizeof(th_vec2)) &&
               good;
        there->version = here->version;
    }
    if (changed) good = put_legs(d, g) && good;
    d->current = good;
    d->changes = g->changes;
    return good;
}

// ---- a step

static bool find_wanted(th_world *host, guided_device *d) {
    th_guided *g = host_of(host);
    for (int k = 0; k < g->field_count; ++k) {
        d->legs[k].shared = g->fields[k].shared;
        d->legs[k].wanted = false;
    }
    if (!put_legs(d, g)) return false;
    const th_guided *s = d->s;
    for_each_agent(
        host, TH_LAMBDA(th_world * world, int i) {
            if (!th_guided_has(world, (int)world->agents.group[i])) return;
            th_guided_leg *leg = th_guided_leg_of(s, world, i);
            if (leg) leg->wanted = true; // all writers write the same value
        });
    if (!finish() || !get(d->legs, d->known.fields, (size_t)g->field_count * sizeof *d->legs))
        return false;
    for (int k = 0; k < g->field_count; ++k) g->fields[k].wanted = d->legs[k].wanted;
    return true;
}

static void solve_on_host(th_world *host, guided_device *d) {
    th_guided *g = host_of(host);
    if (g->field_count == 0 || !find_wanted(host, d)) return;
    if (th_guided_counts_crowd(g)) {
        fetch(host, TH_FIELD_BIT(TH_FIELD_POSITION_X) | TH_FIELD_BIT(TH_FIELD_POSITION_Y) |
                        TH_FIELD_BIT(TH_FIELD_VELOCITY_X) | TH_FIELD_BIT(TH_FIELD_VELOCITY_Y) |
                        TH_FIELD_BIT(TH_FIELD_LEVEL) | TH_FIELD_BIT(TH_FIELD_PHASE));
        outdate(host); // the step goes on
    }
    th_guided_solve_wanted(g, host);
}

static void guided_run(th_world *host) {
    guided_device *d = device_of(host);
    if (th_guided_begin(host_of(host), host)) solve_on_host(host, d);
    put_changes(d, host);
    const th_guided *s = d->s;
    step_sums *sums = &host->device_world->sums->step;
    for_each_agent(
        host, TH_LAMBDA(th_world * world, int i) {
            if (!th_guided_has(world, (int)world->agents.group[i])) return;
            th_planner planner = th_planner_of(world);
            if (th_guided_plan(s, &planner, i)) add(&sums->unreachable, (uint64_t)1);
        });
}

const device_model device_plan_guided = {
    .create = guided_create, .destroy = guided_destroy, .run = guided_run};

} // namespace th
