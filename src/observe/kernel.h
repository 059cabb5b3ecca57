// The kernel density (core/kernel.h) of people at a moment. SPDX-License-Identifier: Apache-2.0
#ifndef TH_OBSERVE_KERNEL_H
#define TH_OBSERVE_KERNEL_H
#include "core/kernel.h"
#include "throng/record.h"

// The density at each person's place at a moment [1/m2], 0 beyond the scene; positions relative to the scene origin unless the moment
// says its own. NULL: no memory.
float *th_people_density(const th_scene_view *scene, const th_moment *moment);
#endif
