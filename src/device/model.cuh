// The device side of a model. Each model's .cu file defines one such description; the table (world.cu) has one
// for every line of the registry, so that nothing in this room knows a model by name. SPDX-License-Identifier:
// Apache-2.0
#ifndef TH_DEVICE_MODEL_CUH
#define TH_DEVICE_MODEL_CUH
#include "device/device.cuh"
#include "plan/prepared.h"
#include "state/device.h"

// ---- the world on the device

// The world on a device, as the kernels of all models see it: where its arrays are, launches over all agents, the sums
// of a step, and what the files of this room offer each other and the models.

namespace th {

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
    uint32_t event_count; // more than th_event_max: the rest is lost
};

// Something that happened, with what orders the events of one step: those from the host first, then by the place in
// memory of agents that left.
struct happened {
    uint64_t step; // after which
    uint32_t place, id;
    int kind, index;
};

} // namespace th

struct th_device_world {
    th::store store;
    th_world *world; // on the device
    // Its pointers; what else is in it may be old. known.agents.own is an array on the host.
    th_world known;
    void **own; // the same array on the device
    th::sums *sums;
    th::stopwatch watch;
    th::happened *events; // th_event_max
    uint32_t *box_keys;   // four a level: the crowd's box on open planes
    uint32_t *tiles;      // work space of the running sums
    th_nodes *nodes;      // of the scene's plan, on the device
    // The world's own, with device pointers; once walls have changed or may.
    th_plans plans[TH_SIZE_MAX];
    float **fields[TH_SIZE_MAX]; // plans.fields as arrays on the host
    th_roadmap roadmap;          // what plans[0].roadmap points to
    int bound;                   // not more people than this are on the device
    int cells;                   // not more cells than this are in use
    bool bounded, sources;
    bool host_newer;
    bool bodies_newer; // the bodies moved by hand on the host
    th::seat *seat;    // in a batch; nullptr: by itself
    uint32_t fresh;    // fields of which the host has a true copy
    bool counted;      // counters, lines, exits, sources and events too
    // Whether people are under way, which those who asked once ask after every step: it comes with the counters.
    bool asks_under_way, under_way;
    uint32_t habit;                        // fields that were fetched before
    void *model_state[TH_BUILT_IN_MODELS]; // what the models in use keep on the host, by model
};

namespace th {

// The host's copy is old.
inline void outdate(th_world *host) {
    host->device_world->fresh = 0;
    host->device_world->counted = false;
}

inline th_world *world_on_device(const th_world *world) { return world->device_world->world; }

// The agents as kernels see them.
inline th_agents agents_on_device(const th_world *host) {
    th_agents agents = host->device_world->known.agents;
    agents.own = host->device_world->own;
    return agents;
}

// function(world, i) for every agent on the device.
template <class Function> void for_each_agent(const th_world *host, Function function) {
    th_world *world = world_on_device(host);
    each(
        host->device_world->bound, TH_LAMBDA(int i) {
            if (i < world->agents.count) function(world, i);
        });
}
// The same with `resident` blocks on a multiprocessor.
template <int resident, class Function>
void for_each_agent_resident(const th_world *host, Function function) {
    th_world *world = world_on_device(host);
    each_resident<resident>(
        host->device_world->bound, TH_LAMBDA(int i) {
            if (i < world->agents.count) function(world, i);
        });
}
// *most becomes the largest function(world, i), if that is more.
template <class Function>
void most_of_agents(const th_world *host, uint32_t *most, Function function) {
    th_world *world = world_on_device(host);
    each_most(
        host->device_world->bound, most,
        TH_LAMBDA(int i) { return i < world->agents.count ? function(world, i) : 0u; });
}
// function(world), once.
template <class Function> void once(const th_world *host, Function function) {
    th_world *world = world_on_device(host);
    each(
        1, TH_LAMBDA(int) { function(world); });
}

inline int field_count(const th_agents *agents) { return TH_FIELD_COUNT + agents->own_count; }
// Numbers from TH_FIELD_COUNT on are the fields of the world's models.
inline void **field_pointer(th_agents *agents, int field) {
    if (field >= TH_FIELD_COUNT) return &agents->own[field - TH_FIELD_COUNT];
    switch (field) {
#define X(NAME, name, type, doc) \
    case TH_FIELD_##NAME: return (void **)&agents->name;
        TH_FIELDS(X)
#undef X
    }
    return nullptr;
}

// Nothing that people could not walk through: they go where they are pushed.
inline bool open_ground(const th_world *host) {
    return host->wall_count == 0 && host->scene->link_count == 0 && host->scene->goal_count == 0;
}

// ---- index.cu

// The crowd's boxes on open planes into box_keys, four keys a level; the first is larger than the third where no agent
// is.
void crowd_boxes(th_world *host);
void stage_index(th_world *host);
// Words of work space that the sort needs for so many cells.
size_t sort_work(int cells);

// ---- transfer.cu

// All of the world to the device, after it was changed on the host.
bool send(th_world *host);
// The world's own plans, after they have changed.
bool send_plan(th_world *host);
// These fields, and all that is not a field, to the host.
bool fetch(th_world *host, uint32_t fields);
// Finds into the sums whether people are under way; world.cu.
void find_under_way(th_world *host);
void forget_events(th_world *host);
void note_event(th_world *host, const th_event *event);

// ---- the stages; those of models are in their folders

void stage_plan(th_world *host);    // plan/plan.cu; one kernel for all plan models
void stage_contact(th_world *host); // contact/contact.cu
void stage_measure(th_world *host); // measure.cu
// Pairs that overlap now, into the sums; measure.cu.
void sample_overlaps(th_world *host);

} // namespace th

namespace th {

// Any of them may be NULL. They are called for the models that the world uses.
struct device_model {
    // Takes the model's memory from the world's store, and what it needs on the host into model_state. False: no
    // memory.
    bool (*create)(th_world *host);
    void (*destroy)(th_world *host); // what create took on the host
    void (*run)(th_world *host);     // the model's stage, for its people
    void (*arrive)(th_world *host);  // behave only: at the end of a step: arrivals
    // After the host's arrays were sent; what the model keeps beside them.
    bool (*send)(th_world *host);
    bool (*fetch)(th_world *host);       // what a snapshot keeps
    bool (*fetch_grids)(th_world *host); // what views of grids show
    // Builds the grids that people are sorted by, where they have to match the model's own.
    void (*build_index)(th_world *host);
};

// device_move_orca and so on.
#define X(STAGE, NAME, stage, name) extern const device_model device_##stage##_##name;
TH_MODELS(X)
#undef X
extern const device_model *const device_models[TH_BUILT_IN_MODELS];

// function(model) for the models of a stage that are in use, in the order in which they run.
template <class Function> void each_model_of(const th_world *host, int stage, Function function) {
    for (int k = 0; k < host->stage_model_count[stage]; ++k) {
        int model = host->stage_models[stage][k];
        if (model < TH_BUILT_IN_MODELS) function(device_models[model]);
    }
}
template <class Function> void each_model(const th_world *host, Function function) {
    for (int stage = 0; stage < TH_STAGE_COUNT; ++stage) each_model_of(host, stage, function);
}

} // namespace th
#endif
