// Worlds on the CPU and on a device, for the tests that compare them. These tests link a device of their own
// (tests/CMakeLists.txt), so they cannot take the helpers of support.h. SPDX-License-Identifier: Apache-2.0
#ifndef TH_TESTS_DEVICE_WORLD_H
#define TH_TESTS_DEVICE_WORLD_H
#include "throng/throng.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

// From a text, which begins with a brace, or from a file relative to the repository.
static inline th_scene *device_scene(const char *json) {
    th_scene *scene = NULL;
    th_error error;
    th_scene_options options = {0};
    th_result result = json[0] == '{' ? th_scene_load_json(json, strlen(json), "test", NULL,
                                                           &options, &scene, &error)
                                      : th_scene_load_file(json, &options, &scene, &error);
    if (result != TH_OK) fail_msg("%s", error.message);
    return scene;
}

// Without a device the test is skipped, unless THRONG_REQUIRE_CUDA=1 makes that a failure.
static inline th_world *device_world(const th_scene *scene, th_backend backend) {
    th_world *world = NULL;
    th_error error;
    th_world_def def = th_world_def_default();
    const char *required = getenv("THRONG_REQUIRE_CUDA");
    def.backend = backend;
    def.threads = 1;
    th_result result = th_world_create(scene, &def, &world, &error);
    if (result == TH_NO_DEVICE && !(required && strcmp(required, "1") == 0)) {
        print_message("  %s\n", error.message);
        skip();
    }
    if (result != TH_OK) fail_msg("%s", error.message);
    return world;
}
#endif
