// libFuzzer target: small scenes with every behaviour, planner, filter and move model, loaded and stepped. The bytes place
// people, walls and a door in a hall and choose the models, their parameters and the step.
//   build-fuzz/fuzz/fuzz_step -max_len=128 -max_total_time=60 fuzz/corpus/step
// SPDX-License-Identifier: Apache-2.0
#include "fuzz_world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static fuzz_text text;
    fuzz_input in = {data, size, 0};
    fuzz_write_scene(&in, &text);
    th_scene *scene = fuzz_load(&text);
    if (!scene) return 0;
    th_world *world = fuzz_world(scene);
    if (world) {
        th_world_step(world, 10);
        fuzz_check(world);
        th_world_destroy(world);
    }
    th_scene_destroy(scene);
    return 0;
}
