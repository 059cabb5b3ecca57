// A build without CUDA. SPDX-License-Identifier: Apache-2.0
#include "state/device.h"

const th_device_backend *th_cuda_backend(void) { return NULL; }
