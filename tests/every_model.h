// A scene with a group for every model of the table: its model, and the usual ones of the other stages.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_TESTS_EVERY_MODEL_H
#define TH_TESTS_EVERY_MODEL_H
#include "throng/throng.h"
#include <stdio.h>
#include <stdlib.h>

enum { EVERY_MODEL_TEXT = 40000, EVERY_MODEL_PEOPLE = 5 };

// Returns the number of groups; `json` has room for EVERY_MODEL_TEXT bytes.
static inline int every_model_scene(char *json) {
    int count, groups = 0, columns = 6;
    const th_model *const *models = th_models(&count);
    size_t used = (size_t)snprintf(json, EVERY_MODEL_TEXT, "{\"groups\": [");
    for (int m = 0; m < count; ++m) {
        if (models[m]->internal) continue;
        double x = 1.0 + 3.0 * (groups % columns), y = 0.5 + 2.2 * (groups / columns);
        used += (size_t)snprintf(
            json + used, EVERY_MODEL_TEXT - used,
            "%s{\"id\": \"%s_%s\", \"count\": %d, \"area\": {\"rect\": [%g, %g, %g, %g]}, "
            "\"route\": [\"a\", \"b\"], \"%s\": \"%s\"}",
            groups ? ", " : "", th_stage_name(models[m]->stage), models[m]->name,
            EVERY_MODEL_PEOPLE, x, y, x + 2.0, y + 1.8, th_stage_name(models[m]->stage),
            models[m]->name);
        ++groups;
    }
    double top = 0.5 + 2.2 * ((groups + columns - 1) / columns) + 0.5;
    snprintf(
        json + used, EVERY_MODEL_TEXT - used,
        "], \"levels\": [{\"walkable\": {\"rect\": [0, 0, 28, %g]}, \"walls\": [[[22, 0], [22, "
        "%g]]]}], \"waypoints\": [{\"id\": \"a\", \"area\": {\"rect\": [20, 1, 21.5, %g]}}], "
        "\"exits\": [{\"id\": \"b\", \"line\": [[28, 1], [28, %g]]}], \"interests\": "
        "[{\"area\": {\"rect\": [10, 1, 12, 3]}}], \"run\": {\"step\": 0.1, \"duration\": "
        "200}}",
        top, top - 4.0, top - 1.0, top - 1.0);
    return groups;
}
#endif
