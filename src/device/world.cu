// The backend of a device: the whole world lives there, and a step is a row of kernels over the same per-person
// functions that the CPU runs. A step copies nothing but what a caller asked for. Integers are added up by atomics,
// floats never are, so two runs give the same bits. SPDX-License-Identifier: Apache-2.0
#include "contact/bodies.h"
#include "device/batch.cuh"
#include "device/model.cuh"
#include "device/upload.cuh"
#include "world/measure.h"
#include "world/spawn.h"
extern "C" {
#include "core/error.h"
}

namespace th {

// The table of models, from the list of the registry.
#define X(STAGE, NAME, stage, name) &device_##stage##_##name,
const device_model *const device_models[TH_BUILT_IN_MODELS] = {TH_MODELS(X)};
#undef X

// The bodies and their edges as the host has moved them, a few kilobytes; then agents are carried along.
static void move_bodies(th_world *host) {
    th_device_world *device = host->device_world;
    if (!device->bodies_newer) return;
    device->bodies_newer = false;
    int bodies = host->body_count, walls = host->wall_count, first = th_body_edge(host, 0);
    size_t edges = (size_t)(th_body_edge(host, bodies) - first);
    put(device->known.bodies, host->bodies, TH_BODY_MAX * sizeof *host->bodies);
    if (edges > 0)
        put(device->known.walls + first, host->walls + first, edges * sizeof *host->walls);
    if (walls >
        host->scene->wall_count) // the removed wall that stands for bodies where there are no walls
        put(device->known.walls, host->walls, (size_t)walls * sizeof *host->walls);
    once(
        host, TH_LAMBDA(th_world * world) {
            world->body_count = bodies;
            world->wall_count = walls;
        });
    if (bodies == 0) return;
    for_each_agent(
        host, TH_LAMBDA(th_world * world, int i) {
            uint64_t cornered = th_bodies_carry(world, (uint32_t)i);
            for (int b = 0; cornered; ++b, cornered >>= 1)
                if (cornered & 1) add(&world->bodies[b].cornered, 1u);
        });
}

static void stage_events(th_world *host) {
    move_bodies(host);
    if (host->device_world->sources)
        once(
            host, TH_LAMBDA(th_world * world) { th_spawn_sources(world); });
}

static void run_models(th_world *host, int stage) {
    each_model_of(host, stage, [&](const device_model *model) {
        if (model->run) model->run(host);
    });
}
static void stage_behave(th_world *host) { run_models(host, TH_STAGE_BEHAVE); }
static void stage_filter(th_world *host) {
    run_models(host, TH_STAGE_FILTER);
    if (host->body_count > 0)
        for_each_agent(
            host, TH_LAMBDA(th_world * world, int i) { th_bodies_make_way(world, (uint32_t)i); });
}
static void stage_move(th_world *host) { run_models(host, TH_STAGE_MOVE); }

// ---- making and ending

static void take_people(th_device_world *device, size_t n) {
    th_agents *agents = &device->known.agents;
    size_t own = (size_t)agents->own_count;
    agents->own = (void **)calloc(own + 1, sizeof *agents->own);
    if (!agents->own) device->store.failed = true;
    if (device->store.failed) return;
    device->own = device->store.room<void *>(own);
    for (int f = 0; f < field_count(agents); ++f)
        *field_pointer(agents, f) = device->store.take(n * 4);
    float **floats[] = {&agents->next_position_x,    &agents->next_position_y,
                        &agents->next_velocity_x,    &agents->next_velocity_y,
                        &agents->substep_x,          &agents->substep_y,
                        &agents->substep_velocity_x, &agents->substep_velocity_y};
    for (float **array : floats) *array = device->store.room<float>(n);
    uint32_t **words[] = {&agents->cell, &agents->order, &agents->slot};
    for (uint32_t **array : words) *array = device->store.room<uint32_t>(n);
}

static bool take_all(th_world *host) {
    th_device_world *device = host->device_world;
    const th_scene *scene = host->scene;
    store &s = device->store;
    th_nodes *nodes = nullptr;
    device->world = s.room<th_world>(1);
    device->sums = s.room<sums>(1);
    device->events = s.room<happened>(th_event_max(host));
    device->box_keys = s.room<uint32_t>(4 * (size_t)scene->level_count);
    device->known = *host;
    device->known.own_hash_factor = s.copy(host->own_hash_factor, (size_t)host->agents.own_count);
    take_people(device, (size_t)host->agents.capacity + TH_ARRAY_PAD);
    device->known.scene = copy_scene(s, scene, &nodes);
    device->known.index.grids = s.room<th_level_grid>((size_t)scene->level_count);
    device->known.index.cell_start = s.room<uint32_t>((size_t)host->index.cell_capacity + 1);
    device->known.index.block_sum = nullptr;
    device->known.level_boxes = s.room<th_box>((size_t)scene->level_count);
    device->known.groups = s.room<th_group_state>((size_t)host->group_count);
    device->known.sources = s.room<th_source_state>((size_t)scene->group_count);
    device->known.door_closed = s.room<uint8_t>((size_t)scene->door_count);
    device->known.walls = s.room<th_wall>((size_t)th_body_edge(host, TH_BODY_MAX));
    device->known.bodies = s.room<th_body>(TH_BODY_MAX);
    device->known.lines = s.room<th_line_count>((size_t)th_counted_line_count(scene));
    device->known.exits = s.room<th_exit_count>((size_t)scene->goal_count);
    for (void *&state : device->known.model_state)
        state = nullptr; // what a model keeps on the host
    device->nodes = nodes;
    device->known.plan = s.room<struct th_plan_world>(1);
    if (device->known.plan) clear(device->known.plan, sizeof(struct th_plan_world));
    if (!s.failed && !send_plan(host)) s.failed = true;
    device->bounded = true;
    for (int l = 0; l < scene->level_count; ++l)
        device->bounded = device->bounded && scene->levels[l].bounded;
    for (int g = 0; g < scene->group_count; ++g)
        device->sources =
            device->sources || scene->groups[g].rate > 0.0 || scene->groups[g].arrival_count > 0;
    device->cells = device->bounded ? host->index.cell_count : host->index.cell_capacity;
    bool good = true;
    each_model(host, [&](const device_model *model) {
        good = good && (!model->create || model->create(host));
    });
    device->tiles = s.room<uint32_t>(sort_work(host->index.cell_capacity));
    return good && !s.failed;
}

static void destroy(th_world *host) {
    th_device_world *device = host->device_world;
    if (!device) return;
    finish();
    each_model(host, [&](const device_model *model) {
        if (model->destroy) model->destroy(host);
    });
    device->store.give_back();
    device->watch.end();
    for (float **fields : device->fields) free(fields);
    free(device->known.agents.own);
    if (device->seat) leave_seat(device->seat);
    delete device;
    host->device_world = nullptr;
}

static th_result find_device(const th_world *host, th_error *error) {
#ifdef __CUDACC__
    int devices = 0;
    cudaError_t found = cudaGetDeviceCount(&devices);
    if (found != cudaSuccess || devices == 0)
        return th_fail(error, TH_NO_DEVICE, "",
                       "no CUDA device was found (%s); install the NVIDIA driver, or use the CPU",
                       found != cudaSuccess ? cudaGetErrorString(found) : "the driver lists none");
#endif
    (void)host, (void)error;
    return TH_OK;
}

static th_result no_memory(const th_world *host, th_error *error) {
    size_t free_bytes = 0, all = 0;
#ifdef __CUDACC__
    cudaGetLastError(); // the failed allocation
    cudaMemGetInfo(&free_bytes, &all);
#endif
    return th_fail(
        error, TH_NO_MEMORY, "",
        "%d people need about %.1f GB of device memory; %.1f of %.1f GB are free; use fewer people "
        "or the CPU",
        host->agents.capacity, (double)host->agents.capacity * 190.0 / 1e9,
        (double)free_bytes / 1e9, (double)all / 1e9);
}

static th_result create(th_world *host, th_error *error) {
    th_result result = find_device(host, error);
    if (result != TH_OK) return result;
    host->device_world = new (std::nothrow) th_device_world();
    if (!host->device_world) return th_fail(error, TH_NO_MEMORY, "", "no memory for the world");
    if (host->batch) host->device_world->seat = take_seat(host->batch);
    const sitting here(host->device_world->seat);
    if ((host->batch && !host->device_world->seat) || !take_all(host)) {
        result = no_memory(host, error);
        destroy(host);
        return result;
    }
    clear(host->device_world->sums, sizeof(sums));
    host->device_world->host_newer = true;
    return TH_OK;
}

static_assert((int)TH_STAGE_COUNT + 1 == (int)stopwatch::MARKS, "a mark before and after each");

static void step(th_world *host) {
    th_device_world *device = host->device_world;
    if (device->host_newer) {
        send(host);
        stage_index(host);
    }
    outdate(host);
    clear(&device->sums->step, sizeof device->sums->step);
    if (device->watch.read(host->profile.seconds)) host->profile.steps++;
    static void (*const stages[TH_STAGE_COUNT])(th_world *) = {
        stage_events, stage_index, stage_behave,  stage_plan,
        stage_filter, stage_move,  stage_contact, stage_measure};
    for (int k = 0; k < TH_STAGE_COUNT; ++k) {
        device->watch.mark(k);
        if (k == TH_STAGE_MEASURE) {
            host->step_count++;
            host->time = (double)host->step_count * host->step_length;
        }
        stages[k](host);
    }
    device->watch.mark(TH_STAGE_COUNT);
}

static void changed(th_world *host) {
    host->device_world->host_newer = true;
    host->device_world->bodies_newer = true;
}
static void bodies_changed(th_world *host) { host->device_world->bodies_newer = true; }

static void fetch_bodies(th_world *host) {
    th_body there[TH_BODY_MAX];
    if (host->device_world->bodies_newer || !finish() ||
        !get(there, host->device_world->known.bodies, sizeof there))
        return;
    for (int b = 0; b < host->body_count; ++b) host->bodies[b].cornered = there[b].cornered;
}

static void statistics(th_world *host, th_statistics *out) {
    if (host->device_world->host_newer) send(host);
    stage_index(host);
    once(
        host, TH_LAMBDA(th_world * world) { world->max_moved = 0.0f; });
    sample_overlaps(host);
    outdate(host);
    sums s;
    memset(&s, 0, sizeof s);
    if (!finish() || !get(&s, host->device_world->sums, sizeof s)) return;
    out->overlaps = s.pairs_twice / 2;
    out->overlapping_agents = s.overlapping;
    memcpy(&out->deepest_overlap, &s.deepest, sizeof s.deepest);
}

static uint64_t hash_people(th_world *host) {
    if (host->device_world->host_newer) send(host);
    sums *s = host->device_world->sums;
    once(
        host, TH_LAMBDA(th_world *) { s->hash = 0; });
    for_each_agent(
        host, TH_LAMBDA(th_world * world, int i) { add(&s->hash, th_agent_hash(world, i)); });
    sums result;
    if (!finish() || !get(&result, s, sizeof result)) return 0;
    return result.hash;
}

void find_under_way(th_world *host) {
    sums *s = host->device_world->sums;
    once(
        host, TH_LAMBDA(th_world *) { s->under_way = 0; });
    for_each_agent(
        host, TH_LAMBDA(th_world * world, int i) {
            if (th_under_way(world, (uint32_t)i))
                s->under_way = 1; // all writers write the same value
        });
}

static bool anybody_under_way(th_world *host) {
    th_device_world *device = host->device_world;
    if (device->host_newer) send(host);
    if (!device->asks_under_way) device->counted = false;
    device->asks_under_way = true;
    return fetch(host, 0) && device->under_way;
}

static bool fetch_grids(th_world *host) {
    if (host->device_world->host_newer) return true;
    bool good = true;
    each_model(host, [&](const device_model *model) {
        if (model->fetch_grids) good = good && finish() && model->fetch_grids(host);
    });
    return good;
}

static size_t bytes(const th_world *host) { return host->device_world->store.bytes; }

// A function of a world, in its seat.
template <auto function> struct seated_in;
template <class Result, class World, class... Rest, Result (*function)(World *, Rest...)>
struct seated_in<function> {
    static Result call(World *host, Rest... rest) {
        const sitting here(host->device_world ? host->device_world->seat : nullptr);
        return function(host, rest...);
    }
};

} // namespace th

extern "C" const th_device_backend *th_cuda_backend(void) {
    using namespace th;
    static const th_device_backend backend = {create,
                                              seated_in<destroy>::call,
                                              seated_in<step>::call,
                                              seated_in<fetch>::call,
                                              changed,
                                              seated_in<forget_events>::call,
                                              seated_in<note_event>::call,
                                              seated_in<statistics>::call,
                                              seated_in<hash_people>::call,
                                              seated_in<anybody_under_way>::call,
                                              bytes,
                                              seated_in<fetch_grids>::call,
                                              bodies_changed,
                                              seated_in<fetch_bodies>::call,
                                              batch_create,
                                              batch_destroy,
                                              EXACT};
    return &backend;
}
