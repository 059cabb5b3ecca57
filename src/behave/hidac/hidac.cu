// The behaviour hidac runs on the host only; a world on the device refuses scenes with it.
// SPDX-License-Identifier: Apache-2.0
#include "device/model.cuh"

namespace th {

const device_model device_behave_hidac = {};

} // namespace th
