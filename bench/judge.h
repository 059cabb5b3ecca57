// One run of a scene, judged: who arrived, how calm, how deep people overlap. The scenes that are shipped are judged
// this way over many seeds and with every model (tools/test-long). SPDX-License-Identifier: Apache-2.0
#ifndef TH_BENCH_JUDGE_H
#define TH_BENCH_JUDGE_H
#include "throng/throng.h"

typedef struct th_bench_judge_def {
    const char *scene;
    const char *move, *filter;    // of every group instead of its own; NULL: as in the scene
    const char *const *overrides; // as in th_scene_options
    int override_count;
    uint64_t seed; // 0: the scene's
    double limit;  // simulated [s]; 0: the scene's end
    double wall;   // gives up after so many seconds of real time; 0: never
    int threads;
    bool (*stopped)(void);
} th_bench_judge_def;

// Prints one JSON object in one line. A model that the scene cannot have (own goals, say) is TH_BAD_SCENE.
th_result th_bench_judge(const th_bench_judge_def *def, th_error *error);
#endif
