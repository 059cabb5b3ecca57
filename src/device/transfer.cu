// The world to the device and back: all of it when it was changed on the host, on the way back what a caller asks for.
// SPDX-License-Identifier: Apache-2.0
#include "device/model.cuh"
#include "device/upload.cuh"
#include "world/measure.h"
extern "C" {
#include "world/world.h"
}

namespace th {

static bool put_array(void *device, const void *host, size_t bytes) {
    return bytes == 0 || put(device, host, bytes);
}

// Memory for the world's own plans, the first time.
static bool make_plans(th_world *host) {
    th_device_world *device = host->device_world;
    size_t targets = (size_t)host->scene->target_count;
    struct th_plan_world plan;
    memset(&plan, 0, sizeof plan);
    plan.own = true;
    bool good = true;
    for (int size = 0; size < host->scene->size_count; ++size) {
        plan.plans[size] = copy_plans(device->store, &host->plan->plans[size],
                                      &host->scene->plan->nodes, device->nodes, host->scene);
        device->plans[size] = plan.plans[size];
        device->fields[size] = (float **)calloc(targets + 1, sizeof(float *));
        good = good && !device->store.failed && device->fields[size];
        if (good && plan.plans[size].fields && targets > 0)
            good = get(device->fields[size], plan.plans[size].fields, targets * sizeof(float *));
    }
    good = good && put(device->known.plan, &plan, sizeof plan);
    if (good && plan.plans[0].roadmap)
        good = get(&device->roadmap, plan.plans[0].roadmap, sizeof device->roadmap);
    return good;
}

static bool send_plans(th_world *host, int size) {
    th_device_world *device = host->device_world;
    const th_plans *plans = &host->plan->plans[size], *there = &device->plans[size];
    size_t nodes = (size_t)host->scene->plan->nodes.count,
           portals = (size_t)host->scene->plan->nodes.portal_count;
    bool good = put_array(there->graph.links, plans->graph.links, nodes) &&
                put_array(there->graph.portals, plans->graph.portals, portals * sizeof(th_portal));
    for (int t = 0; t < host->scene->target_count && good; ++t)
        if (plans->fields[t])
            good = put_array(device->fields[size][t], plans->fields[t], nodes * sizeof(float));
    if (good && plans->roadmap) {
        size_t n = (size_t)plans->roadmap->count;
        good = put_array(device->roadmap.nodes, plans->roadmap->nodes, n * sizeof(th_road_node)) &&
               put_array(device->roadmap.table, plans->roadmap->table, n * n * sizeof(float));
    }
    return good;
}

// The world's own plans: memory for them the first time, and then their values again and again.
bool send_plan(th_world *host) {
    if (!host->plan->own) return true;
    if (!host->device_world->fields[0]) return make_plans(host);
    bool good = true;
    for (int size = 0; size < host->scene->size_count; ++size)
        good = good && send_plans(host, size);
    return good;
}

bool send(th_world *host) {
    th_device_world *device = host->device_world;
    th_agents *agents = &device->known.agents;
    bool good = true;
    for (int f = 0; f < field_count(agents); ++f)
        good = put_array(*field_pointer(agents, f), *field_pointer(&host->agents, f),
                         (size_t)host->agents.count * 4) &&
               good;
    good = put_array(device->known.groups, host->groups,
                     (size_t)host->group_count * sizeof *host->groups) &&
           good;
    good = put_array(device->known.sources, host->sources,
                     (size_t)host->scene->group_count * sizeof *host->sources) &&
           good;
    good =
        put_array(device->known.door_closed, host->door_closed, (size_t)host->scene->door_count) &&
        good;
    good = put_array(device->known.walls, host->walls,
                     (size_t)host->wall_count * sizeof *host->walls) &&
           good;
    good = put_array(device->known.lines, host->lines,
                     (size_t)th_counted_line_count(host->scene) * sizeof *host->lines) &&
           good;
    good = put_array(device->known.exits, host->exits,
                     (size_t)host->scene->goal_count * sizeof *host->exits) &&
           good;
    good = send_plan(host) && good;
    th_world now = device->known; // device pointers, and the host's values
    now.seed = host->seed;
    now.step_length = host->step_length;
    now.dt = host->dt;
    now.time = host->time;
    now.step_count = host->step_count;
    now.next_id = host->next_id;
    now.cell_size = host->cell_size;
    now.max_radius = host->max_radius;
    now.max_moved = host->max_moved;
    now.wall_count = host->wall_count;
    now.walls_version = host->walls_version;
    now.body_count = host->body_count;
    now.counters = host->counters;
    now.agents.count = host->agents.count;
    now.agents.capacity = host->agents.capacity;
    device->known = now;
    good = put_array(device->own, agents->own, (size_t)agents->own_count * sizeof *agents->own) &&
           good;
    now.agents = agents_on_device(host);
    device->bound = device->sources ? host->agents.capacity : host->agents.count;
    good = put(device->world, &now, sizeof now) && good;
    device->host_newer = false;
    device->counted = false;
    device->fresh = TH_ALL_FIELDS;
    each_model(host, [&](const device_model *model) {
        if (model->send) good = model->send(host) && good;
    });
    return good;
}

static int compare_events(const void *left, const void *right) {
    const happened *a = (const happened *)left, *b = (const happened *)right;
    if (a->step != b->step) return a->step < b->step ? -1 : 1;
    if (a->place != b->place) return a->place < b->place ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

enum {
    EVENTS_AT_ONCE = 8
}; // come with the counters; more are asked for when their number is known

// The device's events, of which the first few are in `list` already.
static bool take_events(th_world *host, const sums *s, const happened *first) {
    th_device_world *device = host->device_world;
    uint32_t most = th_event_max(host), kept = s->event_count < most ? s->event_count : most;
    happened *list = (happened *)malloc(((size_t)kept + 1) * sizeof *list);
    uint32_t known = kept < EVENTS_AT_ONCE ? kept : (uint32_t)EVENTS_AT_ONCE;
    if (!list) return false;
    memcpy(list, first, known * sizeof *list);
    bool good =
        kept == known || get(list + known, device->events + known, (kept - known) * sizeof *list);
    if (good) {
        qsort(list, kept, sizeof *list, compare_events);
        for (uint32_t k = 0; k < kept; ++k) {
            th_event *event = &host->events[k];
            memset(event, 0, sizeof *event);
            event->kind = (th_event_kind)list[k].kind;
            event->time = (double)list[k].step * host->step_length;
            event->index = list[k].index;
            event->agent.serial = event->kind == TH_EVENT_LEFT ? list[k].id : 0;
        }
        host->event_count = (int)kept;
        host->events_lost = s->event_count - kept;
    }
    free(list);
    return good;
}

void forget_events(th_world *host) {
    host->device_world->counted = false;
    sums *s = host->device_world->sums;
    once(
        host, TH_LAMBDA(th_world *) { s->event_count = 0; });
}

void note_event(th_world *host, const th_event *event) {
    host->device_world->counted = false;
    sums *s = host->device_world->sums;
    happened *events = host->device_world->events;
    happened own = {host->step_count, 0, 0, (int)event->kind, event->index};
    once(
        host, TH_LAMBDA(th_world * world) {
            if (s->event_count < th_event_max(world)) {
                events[s->event_count] = own;
                events[s->event_count].id = s->event_count; // in the order they were noted
            }
            s->event_count++;
        });
}

// All that is not a field.
static bool fetch_counted(th_world *host) {
    th_device_world *device = host->device_world;
    size_t lines = (size_t)th_counted_line_count(host->scene), most = th_event_max(host);
    th_world now;
    sums s;
    happened first[EVENTS_AT_ONCE];
    if (device->asks_under_way) find_under_way(host);
    bool good = finish() && ask(&now, device->world, sizeof now) &&
                ask(&s, device->sums, sizeof s) &&
                ask(first, device->events,
                    (most < EVENTS_AT_ONCE ? most : (size_t)EVENTS_AT_ONCE) * sizeof *first);
    if (lines > 0)
        good = ask(host->lines, device->known.lines, lines * sizeof *host->lines) && good;
    if (host->scene->goal_count > 0)
        good = ask(host->exits, device->known.exits,
                   (size_t)host->scene->goal_count * sizeof *host->exits) &&
               good;
    if (device->sources)
        good = ask(host->sources, device->known.sources,
                   (size_t)host->scene->group_count * sizeof *host->sources) &&
               good;
    good = receive() && good;
    for (size_t l = 0; l < lines; ++l) th_name_line(host, (int)l);
    if (!good) return false;
    host->agents.count = now.agents.count;
    host->next_id = now.next_id;
    host->max_radius = now.max_radius;
    host->max_moved = now.max_moved;
    host->counters = now.counters;
    device->under_way = s.under_way != 0;
    device->counted = take_events(host, &s, first);
    return device->counted;
}

bool fetch(th_world *host, uint32_t fields) {
    th_device_world *device = host->device_world;
    if (device->host_newer) return true;
    if (!device->counted) {
        if (!fetch_counted(host)) return false;
        if (device->watch.read(host->profile.seconds)) host->profile.steps++;
    }
    uint32_t wanted = fields & ~device->fresh;
    // In a batch every answer is waited for with those of others: what was read before will be read again.
    if (wanted && device->seat) wanted = (fields | device->habit) & ~device->fresh;
    bool good = true;
    for (int f = 0; f < field_count(&host->agents); ++f)
        if (wanted & TH_FIELD_BIT(f))
            good = ask(*field_pointer(&host->agents, f), *field_pointer(&device->known.agents, f),
                       (size_t)host->agents.count * 4) &&
                   good;
    good = receive() && good;
    device->fresh |= wanted;
    if (fields != TH_ALL_FIELDS) device->habit |= fields;
    if (fields == TH_ALL_FIELDS)
        each_model(host, [&](const device_model *model) {
            if (model->fetch) good = model->fetch(host) && good;
        });
    return good;
}

} // namespace th
