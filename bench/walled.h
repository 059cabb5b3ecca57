// The bench scenes with walls. SPDX-License-Identifier: Apache-2.0
#ifndef TH_BENCH_WALLED_H
#define TH_BENCH_WALLED_H
#include "bench/scenes.h"

// The four corners and the shape that they make.
th_shape th_bench_rectangle(th_point *corners, double x0, double y0, double x1, double y1);

// `group`: radius, speed and models. No scene is left behind on failure.
th_result th_bench_walled(th_bench_scene which, const th_group_def *group, int agents,
                          th_scene **scene, th_error *error);
#endif
