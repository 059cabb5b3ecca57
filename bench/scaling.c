// One point of the scaling plot. SPDX-License-Identifier: Apache-2.0
#include "bench/scaling.h"
#include "bench/timing.h"

th_result th_bench_scaling_point(th_bench_scene scene, const char *model, int agents, int threads,
                                 th_scaling_point *point, th_error *error) {
    th_scene *made = NULL;
    th_world *world = NULL;
    th_result result = th_bench_create(scene, model, NULL, agents, TH_BENCH_STEP, threads,
                                       TH_BACKEND_CPU, &made, &world, error);
    if (result != TH_OK) return result;
    th_bench_figures figures = th_bench_measure(world, TH_BACKEND_CPU);
    *point = (th_scaling_point){agents, threads, figures.ms_per_step,
                                1e6 * figures.ms_per_step / figures.agents, figures.hash};
    th_world_destroy(world);
    th_scene_destroy(made);
    return TH_OK;
}
