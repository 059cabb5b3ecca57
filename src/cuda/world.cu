// The CUDA backend: the whole world lives on the device, and a step is a row of kernels over the same
// per-person functions that the CPU runs (core/device.h). Nothing crosses the bus in a step but what somebody
// asked for. Integers are added up by atomics, floats never are, so two runs give the same bits.
// SPDX-License-Identifier: Apache-2.0
#include "cuda/device.cuh"
extern "C" {
#include "core/error.h" // the one thing that is called at home
}
// What of the house the kernels call; the order is that of use.
#include "behave/route/route.h"
#include "filter/densesense/densesense.c"
#include "contact/contact.h"
#include "move/helbing_molnar/helbing_molnar.c"
#include "move/orca/orca.c"
#include "move/pbd/pbd.c"
#include "move/pbd/cohesion.c"
#include "move/pbd/list.c"
#include "move/pbd/solve.c"
#include "move/scripted/scripted.c"
#include "move/social_force/social_force.c"
#include "move/substep.h"
#include "move/uic/floor.h"
#include "move/uic/pairs.h"
#include "move/uic/project.h"
#include "move/uic/splat.h"
#include "plan/preferred.h"
#include "state/nearest.h"
#include "world/measure.h"
#include "world/spawn.h"
// clang-format off
#include "cuda/moving.cuh"
#include "cuda/scan.cuh"
#include "cuda/team.cuh"
#include "cuda/upload.cuh"
#include "state/device.h"
// clang-format on

namespace th {

struct uic_grids; // uic.cuh

enum { PASSES_MOST = 32 };

// Sums of a step, on the device; nothing when it begins.
struct step_sums {
    uint32_t furthest; // largest square of a way, as bits
    int left;
    uint64_t unreachable, repairs, stops;
};
struct sums {
    step_sums step;
    uint64_t overlapping, pairs_twice, in_solids, hash;
    uint32_t deepest; // as bits
    uint32_t under_way;
    uint32_t event_count; // more than TH_EVENT_MAX: the rest is lost
};

// Something that happened, with what orders the events of one step: those from home first, then by the place in
// memory of who left.
struct happened {
    uint64_t step; // after which
    uint32_t place, id;
    int kind, index;
};

} // namespace th

struct th_cuda {
    th::store store;
    th_world *world; // on the device
    th_world known;  // its pointers; what else is in it may be old
    th::sums *sums;
    th::stopwatch watch;
    th::happened *events; // TH_EVENT_MAX
    uint32_t *box_keys;   // four a level: the crowd's box on open planes
    th::moving *moving;   // the step of a model with sub-steps, on the device
    th::pbd_memory pbd;
    uint32_t *tiles; // work space of the running sums
    th_nodes *nodes;      // of the scene's plan, on the device
    th_plans plans;       // the world's own, with device pointers; once walls have changed or may
    float **fields;       // plans.fields as an array at home
    th_roadmap roadmap;   // what plans.roadmap points to
    int bound;                // not more people than this are on the device
    int cells;                // not more cells than this are in use
    bool bounded, sources;
    bool host_newer;
    uint32_t fresh; // fields of which the host has a true copy
    th::uic_grids *uic;
};

namespace th {

static th_world *device_world(const th_world *world) { return world->cuda->world; }

// function(world, i) for everybody on the device.
template <class Function> void everybody(const th_world *host, Function function) {
    th_world *world = device_world(host);
    each(host->cuda->bound, TH_LAMBDA(int i) {
        if (i < world->agents.count) function(world, i);
    });
}
// The same with `resident` blocks on a processor.
template <int resident, class Function> void everybody_resident(const th_world *host, Function function) {
    th_world *world = device_world(host);
    each_resident<resident>(host->cuda->bound, TH_LAMBDA(int i) {
        if (i < world->agents.count) function(world, i);
    });
}
// *most becomes the largest function(world, i), if that is more.
template <class Function> void everybody_most(const th_world *host, uint32_t *most, Function function) {
    th_world *world = device_world(host);
    each_most(host->cuda->bound, most, TH_LAMBDA(int i) {
        return i < world->agents.count ? function(world, i) : 0u;
    });
}
// function(world), once.
template <class Function> void once(const th_world *host, Function function) {
    th_world *world = device_world(host);
    each(1, TH_LAMBDA(int) { function(world); });
}

static int field_count(const th_agents *agents) { return TH_FIELD_COUNT + agents->own_count; }
// Numbers from TH_FIELD_COUNT on are the fields of the world's models.
static void **field_pointer(th_agents *agents, int field) {
    if (field >= TH_FIELD_COUNT) return &agents->own[field - TH_FIELD_COUNT];
    switch (field) {
#define X(NAME, name, type, doc) \
    case TH_FIELD_##NAME: return (void **)&agents->name;
        TH_FIELDS(X)
#undef X
    }
    return nullptr;
}

// ---- where the crowd is

// The crowd's boxes on open planes; of all four keys of a level the largest is found, so the first two are those of
// -x and -y, in which order the complements of keys are.
static void find_crowd(th_world *host) {
    th_world *world = device_world(host);
    uint32_t *keys = host->cuda->box_keys;
    static_assert((int)FOUND == 4, "two corners");
    clear(keys, 4 * (size_t)host->scene->level_count * sizeof *keys);
    for (int l = 0; l < host->scene->level_count; ++l) {
        if (host->scene->levels[l].bounded) continue;
        find_most(host->cuda->bound, keys + 4 * l, TH_LAMBDA(int i, uint32_t *found) {
            const th_agents *agents = &world->agents;
            if (i >= agents->count || agents->level[i] != (uint32_t)l || th_gone(agents->phase[i])) return;
            uint32_t x = ordered(agents->position_x[i]), y = ordered(agents->position_y[i]);
            const uint32_t own[FOUND] = {~x, ~y, x, y};
            for (int f = 0; f < FOUND; ++f) found[f] = own[f] > found[f] ? own[f] : found[f];
        });
    }
}

// The same with plain keys; the first is larger than the third where nobody is.
static void crowd_boxes(th_world *host) {
    uint32_t *keys = host->cuda->box_keys;
    find_crowd(host);
    each(4 * host->scene->level_count, TH_LAMBDA(int k) { keys[k] = k & 2 ? keys[k] : ~keys[k]; });
}

} // namespace th
#include "cuda/uic.cuh"
#include "cuda/index.cuh"
namespace th {

// ---- stages

static void stage_events(th_world *host) {
    if (host->cuda->sources) once(host, TH_LAMBDA(th_world * world) { th_spawn_sources(world); });
}

static void stage_behave(th_world *host) {
    everybody(host, TH_LAMBDA(th_world * world, int i) { th_route_behave(world, i); });
}

static bool fetch(th_world *host, uint32_t fields);
static bool send_plan(th_world *host);

// Whose way is simple has a kernel of its own: what the others need would cost everybody registers.
template <bool straight, bool bare> void plan_people(th_world *host) {
    step_sums *s = &host->cuda->sums->step;
    everybody(host, TH_LAMBDA(th_world * world, int i) {
        th_planner planner = th_planner_of(world);
        planner.bare = bare;
        if (th_goes_straight(&planner, world->agents.group[i]) != straight) return;
        if (th_plan_person(&planner, i, straight)) add(&s->unreachable, (uint64_t)1);
    });
}

static void stage_plan(th_world *host) {
    if (th_plan_crowd_is_due(host)) {
        fetch(host, TH_FIELD_BIT(TH_FIELD_POSITION_X) | TH_FIELD_BIT(TH_FIELD_POSITION_Y) |
                        TH_FIELD_BIT(TH_FIELD_LEVEL));
        th_plan_crowd_look(host);
        send_plan(host);
        host->cuda->fresh = 0; // the step goes on
    }
    th_planner planner = th_planner_of(host);
    bool any[2] = {false, false};
    for (int g = 0; g < host->scene->group_count; ++g) any[th_goes_straight(&planner, (uint32_t)g)] = true;
    if (any[true] && planner.bare) plan_people<true, true>(host);
    if (any[true] && !planner.bare) plan_people<true, false>(host);
    if (any[false]) plan_people<false, false>(host);
}

static bool group_uses(const th_world *host, th_model_id move) {
    for (int g = 0; g < host->group_count; ++g)
        if (!host->groups[g].scripted && host->groups[g].move == move) return true;
    return false;
}

static void stage_filter(th_world *host) {
    bool any = false;
    for (int g = 0; g < host->group_count; ++g)
        any = any || (!host->groups[g].scripted && host->groups[g].filter == TH_FILTER_DENSESENSE);
    if (!any) return;
    everybody(host, TH_LAMBDA(th_world * world, int i) {
        if (!is_filtered(world, i)) return;
        th_walls walls = th_world_walls(world);
        walker who;
        around list;
        take_group(&who, &world->groups[world->agents.group[i]]);
        filter_one(world, &walls, &who, nullptr, &list, i);
    });
}

} // namespace th
#include "cuda/forces.cuh"
#include "cuda/orca.cuh"
#include "cuda/pbd.cuh"
namespace th {

static void stage_move(th_world *host) {
    if (host->scene->scripted_count > 0)
        everybody(host, TH_LAMBDA(th_world * world, int i) { move_scripted_one(world, i); });
    if (group_uses(host, TH_MOVE_ORCA)) move_orca(host);
    if (group_uses(host, TH_MOVE_SOCIAL_FORCE)) move_social_force(host);
    if (group_uses(host, TH_MOVE_HELBING_MOLNAR)) move_helbing_molnar(host);
    if (group_uses(host, TH_MOVE_PBD)) move_pbd(host);
    if (host->cuda->uic) uic_move(host);
}

} // namespace th
#include "cuda/contact.cuh"
#include "cuda/measure.cuh"
#include "cuda/transfer.cuh"
namespace th {

// ---- making and ending

static void take_people(th_cuda *cuda, size_t n) {
    th_agents *agents = &cuda->known.agents;
    for (int f = 0; f < field_count(agents); ++f) *field_pointer(agents, f) = cuda->store.take(n * 4);
    float **floats[] = {&agents->next_position_x, &agents->next_position_y, &agents->next_velocity_x,
                        &agents->next_velocity_y, &agents->substep_x,          &agents->substep_y,
                        &agents->substep_velocity_x,         &agents->substep_velocity_y};
    for (float **array : floats) *array = cuda->store.room<float>(n);
    uint32_t **words[] = {&agents->cell, &agents->order, &agents->slot};
    for (uint32_t **array : words) *array = cuda->store.room<uint32_t>(n);
    for (void *&other : agents->other) other = nullptr;
    for (void *&other : agents->own_other) other = nullptr;
}

static bool take_all(th_world *host) {
    th_cuda *cuda = host->cuda;
    const th_scene *scene = host->scene;
    store &s = cuda->store;
    th_nodes *nodes = nullptr;
    cuda->world = s.room<th_world>(1);
    cuda->sums = s.room<sums>(1);
    cuda->events = s.room<happened>(TH_EVENT_MAX);
    cuda->box_keys = s.room<uint32_t>(4 * (size_t)scene->level_count);
    cuda->known = *host;
    take_people(cuda, (size_t)host->agents.capacity + TH_ARRAY_PAD);
    cuda->known.scene = copy_scene(s, scene, &nodes);
    cuda->known.index.grids = s.room<th_level_grid>((size_t)scene->level_count);
    cuda->known.index.cell_start = s.room<uint32_t>((size_t)host->index.cell_capacity + 1);
    cuda->known.index.block_sum = nullptr;
    cuda->known.level_boxes = s.room<th_box>((size_t)scene->level_count);
    cuda->known.groups = s.room<th_group_state>((size_t)host->group_count);
    cuda->known.sources = s.room<th_source_state>((size_t)scene->group_count);
    cuda->known.door_closed = s.room<uint8_t>((size_t)scene->door_count);
    cuda->known.walls = s.room<th_wall>((size_t)scene->wall_count + 2 * TH_LIVE_WALL_MAX);
    cuda->known.lines = s.room<th_line_count>((size_t)th_counted_line_count(scene));
    cuda->known.model_state[TH_MOVE_UIC] = nullptr;
    cuda->moving = s.room<moving>(1);
    cuda->known.model_state[TH_MOVE_PBD] = nullptr;
    if (group_uses(host, TH_MOVE_PBD))
        cuda->known.model_state[TH_MOVE_PBD] = take_pbd(s, &cuda->pbd, (size_t)host->agents.capacity, host->group_count);
    cuda->nodes = nodes;
    cuda->known.plan = s.room<struct th_plan_world>(1);
    if (cuda->known.plan) clear(cuda->known.plan, sizeof(struct th_plan_world));
    if (!s.failed && !send_plan(host)) s.failed = true;
    cuda->bounded = true;
    for (int l = 0; l < scene->level_count; ++l) cuda->bounded = cuda->bounded && scene->levels[l].bounded;
    for (int g = 0; g < scene->group_count; ++g)
        cuda->sources = cuda->sources || scene->groups[g].rate > 0.0 || scene->groups[g].arrival_count > 0;
    cuda->cells = cuda->bounded ? host->index.cell_count : host->index.cell_capacity;
    if (th_uic_of(host) && !uic_take(host)) return false;
    cuda->tiles = s.room<uint32_t>(tiles_of(host->index.cell_capacity));
    return !s.failed;
}

static void destroy(th_world *host) {
    th_cuda *cuda = host->cuda;
    if (!cuda) return;
    finish();
    uic_give_back(host);
    cuda->store.give_back();
    cuda->watch.end();
    free(cuda->fields);
    delete cuda;
    host->cuda = nullptr;
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
    return th_fail(error, TH_NO_MEMORY, "",
                   "%d people need about %.1f GB of device memory; %.1f of %.1f GB are free; use fewer people "
                   "or the CPU",
                   host->agents.capacity, (double)host->agents.capacity * 190.0 / 1e9,
                   (double)free_bytes / 1e9, (double)all / 1e9);
}

static th_result create(th_world *host, th_error *error) {
    th_result result = find_device(host, error);
    if (result != TH_OK) return result;
    host->cuda = new (std::nothrow) th_cuda();
    if (!host->cuda) return th_fail(error, TH_NO_MEMORY, "", "no memory for the world");
    if (!take_all(host)) {
        result = no_memory(host, error);
        destroy(host);
        return result;
    }
    clear(host->cuda->sums, sizeof(sums));
    host->cuda->host_newer = true;
    return TH_OK;
}

static_assert((int)TH_STAGE_COUNT + 1 == (int)stopwatch::MARKS, "a mark before and after each");

static void step(th_world *host) {
    th_cuda *cuda = host->cuda;
    if (cuda->host_newer) {
        send(host);
        stage_index(host);
    }
    cuda->fresh = 0;
    clear(&cuda->sums->step, sizeof cuda->sums->step);
    if (cuda->watch.read(host->profile.seconds)) host->profile.steps++;
    static void (*const stages[TH_STAGE_COUNT])(th_world *) = {
        stage_events, stage_index, stage_behave,  stage_plan,
        stage_filter, stage_move,  stage_contact, stage_measure};
    for (int k = 0; k < TH_STAGE_COUNT; ++k) {
        cuda->watch.mark(k);
        if (k == TH_STAGE_MEASURE) {
            host->step_count++;
            host->time = (double)host->step_count * host->step_length;
        }
        stages[k](host);
    }
    cuda->watch.mark(TH_STAGE_COUNT);
}

static void changed(th_world *host) { host->cuda->host_newer = true; }

static void statistics(th_world *host, th_statistics *out) {
    if (host->cuda->host_newer) send(host);
    stage_index(host);
    once(host, TH_LAMBDA(th_world * world) { world->max_moved = 0.0f; });
    sample_overlaps(host);
    host->cuda->fresh = 0;
    sums s;
    memset(&s, 0, sizeof s);
    if (!finish() || !get(&s, host->cuda->sums, sizeof s)) return;
    out->overlaps = s.pairs_twice / 2;
    out->overlapping_agents = s.overlapping;
    memcpy(&out->deepest_overlap, &s.deepest, sizeof s.deepest);
}

static uint64_t hash_people(th_world *host) {
    if (host->cuda->host_newer) send(host);
    sums *s = host->cuda->sums;
    once(host, TH_LAMBDA(th_world *) { s->hash = 0; });
    everybody(host, TH_LAMBDA(th_world * world, int i) { add(&s->hash, th_person_hash(world, i)); });
    sums result;
    if (!finish() || !get(&result, s, sizeof result)) return 0;
    return result.hash;
}

static bool anybody_under_way(th_world *host) {
    if (host->cuda->host_newer) send(host);
    sums *s = host->cuda->sums;
    once(host, TH_LAMBDA(th_world *) { s->under_way = 0; });
    everybody(host, TH_LAMBDA(th_world * world, int i) {
        if (world->agents.phase[i] < TH_PHASE_ARRIVED) s->under_way = 1; // all who write, write the same
    });
    sums result;
    if (!finish() || !get(&result, s, sizeof result)) return false;
    return result.under_way != 0;
}

// A GPU has the CPU's bits when it is built to (TH_CUDA_EXACT), the emulated device always but when a test makes it rough.
#if defined(TH_EXACT) || (!defined(__CUDACC__) && !defined(TH_ROUGH))
constexpr bool EXACT = true;
#else
constexpr bool EXACT = false;
#endif

static size_t bytes(const th_world *host) { return host->cuda->store.bytes; }

} // namespace th

extern "C" const th_device_backend *th_cuda_backend(void) {
    static const th_device_backend backend = {th::create,      th::destroy,  th::step,
                                              th::fetch,       th::changed,  th::forget_events, th::note_event, th::statistics,
                                              th::hash_people, th::anybody_under_way, th::bytes,
                                              th::fetch_grids, th::EXACT};
    return &backend;
}
