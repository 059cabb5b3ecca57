// libFuzzer target: small scenes with every model and filter, loaded and stepped. The bytes place people, walls and
// a door in a hall, and choose the models and the step. No agent may get lost and nothing may be NaN.
//   build-fuzz/fuzz/fuzz_step -max_len=64 -max_total_time=60 fuzz/corpus/step
// SPDX-License-Identifier: Apache-2.0
#include "throng/throng.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const MOVES[] = {
    "orca",   "social_force",         "helbing_molnar",        "pbd",      "uic",
    "people", "collision_free_speed", "anticipation_velocity", "power_law"};
static const char *const FILTERS[] = {"none", "densesense", "keep_side"};

typedef struct input {
    const uint8_t *data;
    size_t size, used;
} input;

static unsigned next(input *in) { return in->used < in->size ? in->data[in->used++] : 0; }
static double place(input *in) { return 0.3 + 7.4 * next(in) / 255.0; } // [m] in the hall

static void write_scene(input *in, char *text, size_t size) {
    size_t used = 0;
    const char *move = MOVES[next(in) % (sizeof MOVES / sizeof *MOVES)],
               *filter = FILTERS[next(in) % 3];
    double step = 0.01 + 0.1 * next(in) / 255.0, radius = 0.1 + 0.2 * next(in) / 255.0;
    double ends[4];
    for (int i = 0; i < 4; ++i) ends[i] = place(in);
    used += (size_t)snprintf(
        text, size,
        "{\"levels\":[{\"walkable\":{\"rect\":[0,0,8,8]},\"walls\":[[[%g,%g],[%g,%g]]]}],"
        "\"exits\":[{\"id\":\"e\",\"line\":[[8,3],[8,5]]}],\"run\":{\"step\":%g},"
        "\"strips\":[{\"line\":[[%g,%g],[4,4],[%g,%g]],\"width\":%g}],"
        "\"groups\":[{\"to\":\"e\",\"move\":\"%s\",\"filter\":\"%s\",\"radius\":%g,\"positions\":[",
        ends[0], ends[1], ends[2] + 0.1, ends[3], step, ends[1], ends[0], ends[3], ends[2],
        ends[0] + 0.3, move, filter, radius);
    int people = 1 + (int)(next(in) % 12);
    for (int i = 0; i < people; ++i) {
        double x = place(in), y = place(in);
        used += (size_t)snprintf(text + used, size - used, "%s[%g,%g]", i ? "," : "", x, y);
    }
    snprintf(text + used, size - used, "]}]}");
}

static void check(th_world *world) {
    th_statistics s = th_world_statistics(world);
    if (s.spawned != s.inside + s.left + s.removed) abort();
    int count = th_world_agent_count(world);
    const int fields[] = {TH_FIELD_POSITION_X, TH_FIELD_POSITION_Y, TH_FIELD_VELOCITY_X,
                          TH_FIELD_VELOCITY_Y};
    for (int f = 0; f < 4; ++f) {
        const float *values = th_world_map(world, fields[f], TH_ACCESS_READ);
        for (int i = 0; values && i < count; ++i)
            if (!isfinite(values[i])) abort();
        th_world_unmap(world, fields[f]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char text[2048];
    input in = {data, size, 0};
    write_scene(&in, text, sizeof text);
    th_scene *scene = NULL;
    th_world *world = NULL;
    th_error error;
    if (th_scene_load_json(text, strlen(text), "fuzz", NULL, NULL, &scene, &error)) return 0;
    th_world_def def = th_world_def_default();
    def.threads = 1;
    if (th_world_create(scene, &def, &world, &error) == TH_OK) {
        th_world_step(world, 10);
        check(world);
        th_world_destroy(world);
    }
    th_scene_destroy(scene);
    return 0;
}
