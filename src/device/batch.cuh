// The seats of a batch, for the backend. SPDX-License-Identifier: Apache-2.0
#ifndef TH_DEVICE_BATCH_CUH
#define TH_DEVICE_BATCH_CUH
#include "device/device.cuh"
#include "throng/world.h"

namespace th {

th_batch *batch_create(void); // nullptr: no memory, or no device
void batch_destroy(th_batch *batch);
// nullptr: no memory.
seat *take_seat(th_batch *batch);
// What is listed is forgotten.
void leave_seat(seat *seat);

// While a thread is in the functions of a world.
struct sitting {
    seat *before;
    sitting(seat *own) : before(seated) { seated = own; }
    ~sitting() { seated = before; }
};

} // namespace th
#endif
