// The device's table of models, from the list of the registry. SPDX-License-Identifier: Apache-2.0
#include "device/model.cuh"

namespace th {

#define X(STAGE, NAME, stage, name) &device_##stage##_##name,
const device_model *const device_models[TH_BUILT_IN_MODELS] = {TH_MODELS(X)};
#undef X

} // namespace th
