// One pressure problem solved on the device by itself: for tests and measurements of the solver.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_MOVE_UIC_PRESSURE_H
#define TH_MOVE_UIC_PRESSURE_H
#include "move/uic/lcp.h"

#ifdef __cplusplus
extern "C" {
#endif
// As th_lcp_solve, over the whole grid. False: there is no device, or it has no memory.
bool th_device_pressure(const th_lcp *lcp, th_lcp_result *result);
#ifdef __cplusplus
}
#endif
#endif
