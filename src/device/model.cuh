// The device side of a model. Each model's .cu file defines one such description; the table (world.cu) has one
// for every line of the registry, so that nothing in this room knows a model by name. SPDX-License-Identifier:
// Apache-2.0
#ifndef TH_DEVICE_MODEL_CUH
#define TH_DEVICE_MODEL_CUH
#include "device/world.cuh"

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
