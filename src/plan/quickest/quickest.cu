// The planner `quickest` on the device: agents are counted and led there; the host makes the fields from the counts, some nodes
// in every step, and sends those that are done. SPDX-License-Identifier: Apache-2.0
#include "plan/lattice.cuh"
#include "plan/quickest/state.h"

namespace th {

struct quickest_device {    // on the host, with device pointers
    th_quickest *s;         // on the device
    th_quickest known;      // its pointers
    th_quick_field *fields; // as they are on the device
    bool current;           // all was sent
    uint32_t changes;       // the host's when it was
    uint32_t graph_version; // of the graphs that were sent
    uint32_t crowd_version; // of the faces and queues that were sent
};

static quickest_device *device_of(const th_world *host) {
    return (quickest_device *)host->device_world->model_state[TH_PLAN_QUICKEST];
}
static th_quickest *host_of(const th_world *host) {
    return (th_quickest *)host->model_state[TH_PLAN_QUICKEST];
}

static size_t walker_count(const th_world *host) {
    return (size_t)host->scene->target_count * (size_t)host->scene->size_count;
}
static size_t queue_count(const th_world *host) {
    return (size_t)host->scene->goal_count * TH_QUICKEST_BINS;
}

static bool quickest_create(th_world *host) {
    store &s = host->device_world->store;
    const th_quickest *q = host_of(host);
    if (!q) return true; // all agents walk straight
    quickest_device *d = new (std::nothrow) quickest_device();
    if (!d) return false;
    host->device_world->model_state[TH_PLAN_QUICKEST] = d;
    size_t fields = (size_t)q->field_count, count = (size_t)q->nodes.count;
    d->known = *q;
    d->s = s.room<th_quickest>(1);
    d->fields = (th_quick_field *)calloc(fields + 1, sizeof *d->fields);
    if (!d->s || !d->fields) return false;
    take_lattice(&d->known.nodes, d->known.graphs, &d->s->nodes, s, host);
    for (int size = 0; size < host->scene->size_count; ++size)
        d->known.faces[size] = {s.room<th_node_faces>(count), nullptr, nullptr};
    for (size_t k = 0; k < fields; ++k) {
        d->fields[k] = q->fields[k];
        d->fields[k].version = q->fields[k].version - 1;
        d->fields[k].values = q->fields[k].values ? s.room<float>(count) : nullptr;
        d->fields[k].seeds = nullptr;
    }
    d->known.fields = s.room<th_quick_field>(fields);
    d->known.sums = s.room<th_crowd_sums>(count);
    d->known.walkers = s.room<uint32_t>(walker_count(host));
    d->known.queue = s.room<uint32_t>(queue_count(host));
    d->known.density = d->known.flow_x = d->known.flow_y = nullptr;
    d->known.fresh[0] = d->known.fresh[1] = d->known.fresh[2] = d->known.drag = nullptr;
    d->known.rows = d->known.columns = {nullptr, nullptr, nullptr};
    return !s.failed && put(d->s, &d->known, sizeof d->known);
}

static void quickest_destroy(th_world *host) {
    quickest_device *d = device_of(host);
    if (!d) return;
    free(d->fields);
    delete d;
    host->device_world->model_state[TH_PLAN_QUICKEST] = nullptr;
}

static bool put_fields(quickest_device *d, const th_quickest *q) {
    bool good = true;
    for (int k = 0; k < q->field_count; ++k) {
        const th_quick_field *here = &q->fields[k];
        th_quick_field *there = &d->fields[k];
        if (!here->values) continue;
        there->solved = here->solved;
        if (there->version == here->version) continue;
        good = put(there->values, here->values, (size_t)q->nodes.count * sizeof(float)) && good;
        there->version = here->version;
    }
    return put(d->known.fields, d->fields, (size_t)q->field_count * sizeof *d->fields) && good;
}

// Sends the host's changes since the last step.
static void put_changes(quickest_device *d, const th_world *host) {
    const th_quickest *q = host_of(host);
    if (d->current && d->changes == q->changes) return;
    bool all = !d->current || d->graph_version != q->graph_version;
    bool counted = !d->current || d->crowd_version != q->crowd_version;
    bool good = put_fields(d, q);
    if (all) good = put_graphs(d->known.graphs, q->graphs, host) && good;
    for (int size = 0; counted && size < host->scene->size_count; ++size)
        good = put(d->known.faces[size].cost, q->faces[size].cost,
                   (size_t)q->nodes.count * sizeof(th_node_faces)) &&
               good;
    if (counted) good = put(d->known.queue, q->queue, queue_count(host) * sizeof(uint32_t)) && good;
    d->known.counted = q->counted;
    good = put(d->s, &d->known, sizeof d->known) && good;
    d->current = good;
    d->changes = q->changes;
    d->graph_version = q->graph_version;
    d->crowd_version = q->crowd_version;
}

static void count(th_world *host, quickest_device *d) {
    th_quickest *q = host_of(host);
    const th_quickest *s = d->s;
    size_t nodes = (size_t)q->nodes.count;
    clear(d->known.sums, nodes * sizeof(th_crowd_sums));
    clear(d->known.walkers, walker_count(host) * sizeof(uint32_t));
    clear(d->known.queue, queue_count(host) * sizeof(uint32_t));
    for_each_agent(
        host, TH_LAMBDA(th_world * world, int i) {
            const th_walls walls = th_world_walls(world);
            if (th_in_the_way(world->agents.phase[i]))
                th_quick_count_person(s, &walls, &world->agents, (uint32_t)i, 0, s->nodes.count);
            int target = th_quickest_target(world, i);
            if (target < 0) return;
            int walker = target * world->scene->size_count + th_quickest_size(world, i);
            int place = th_quick_place_in_queue(s, world, &walls, i);
            add(&s->walkers[walker], 1u);
            if (place >= 0) add(&s->queue[place], 1u);
        });
    bool asked = finish() && ask(q->sums, d->known.sums, nodes * sizeof(th_crowd_sums)) &&
                 ask(q->walkers, d->known.walkers, walker_count(host) * sizeof(uint32_t)) &&
                 ask(q->queue, d->known.queue, queue_count(host) * sizeof(uint32_t));
    d->current = receive() && asked && d->current;
}

static void quickest_run(th_world *host) {
    quickest_device *d = device_of(host);
    step_sums *sums = &host->device_world->sums->step;
    if (d) {
        th_quickest *q = host_of(host);
        if (th_quickest_begin(q, host)) {
            put_changes(d, host); // the walls that agents are counted between
            count(host, d);
            th_quickest_take_crowd(q, host);
        } else
            th_quickest_advance(q, host);
        put_changes(d, host);
    }
    const th_quickest *s = d ? d->s : nullptr;
    for_each_agent(
        host, TH_LAMBDA(th_world * world, int i) {
            uint32_t group = world->agents.group[i];
            if (!th_quickest_has(world, (int)group)) return;
            th_planner planner = th_planner_of(world);
            int lost = s ? th_quickest_plan(s, &planner, i)
                         : th_plan_person(&planner, i, th_goes_straight(&planner, group));
            if (lost) add(&sums->unreachable, (uint64_t)1);
        });
}

const device_model device_plan_quickest = {
    .create = quickest_create, .destroy = quickest_destroy, .run = quickest_run};

} // namespace th
