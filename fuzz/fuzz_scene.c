// libFuzzer target: any bytes as a scene text. Nothing may crash, hang or leak; linked files are refused.
//   build-fuzz/fuzz_scene -max_len=4096 -max_total_time=60 fuzz/corpus/scene
// SPDX-License-Identifier: Apache-2.0
#include "scene/scene.h"
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    th_scene_options options = {.no_files = true};
    th_scene *scene = NULL;
    th_error error;
    th_result result =
        th_scene_load_json((const char *)data, size, "fuzz.json", NULL, &options, &scene, &error);
    if (result != TH_OK && (scene || error.code != result || !error.message[0])) abort();
    if (result == TH_OK) th_scene_destroy(scene);
    return 0;
}
