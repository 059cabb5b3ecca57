// What a sweep varies: paths of the scene, each with a list of values; all combinations of them.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_RUN_VARY_H
#define TH_RUN_VARY_H
#include "throng/base.h"
#include <jansson.h>

enum {
    TH_VARY_PATHS = 8,
    TH_VARY_VALUES = 1000,        // of one path
    TH_VARY_COMBINATIONS = 100000 // reason: a slip in a range should not ask for a year's work
};

typedef struct th_vary {
    char *path;
    char **values; // JSON, as it stands behind the '=' of an override
    int count;
} th_vary;

typedef struct th_variation {
    th_vary items[TH_VARY_PATHS];
    int count;
    int combinations; // 1 when nothing is varied
} th_variation;

// "path=1,2,4", "path=0.8..1.6:5" (evenly spaced, both ends included), "path=orca,social_force". TH_BAD_ARGUMENT
// with the path "vary". Release in any case.
th_result th_variation_read(th_variation *variation, const char *const *texts, int count,
                            th_error *error);
void th_variation_release(th_variation *variation);
const char *th_variation_value(const th_variation *variation, int k, int item);

// [{"path": ..., "values": [...]}, ...] and back; false when it is nothing of the kind.
json_t *th_variation_json(const th_variation *variation);
bool th_variation_of_json(th_variation *variation, const json_t *json);
#endif
