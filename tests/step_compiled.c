// Steps a compiled scene in a build without GEOS, jansson and libpng and prints its hash: FILE STEPS SEED, for
// tests/test_compiled.c. SPDX-License-Identifier: Apache-2.0
#include "throng/throng.h"
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    th_error error = {0};
    th_scene *scene = NULL;
    th_world *world = NULL;
    if (argc != 4) return 1;
    th_world_def def = th_world_def_default();
    def.threads = 1;
    def.seed = strtoull(argv[3], NULL, 10);
    if (th_scene_load_file(argv[1], NULL, &scene, &error) != TH_OK ||
        th_world_create(scene, &def, &world, &error) != TH_OK) {
        printf("%s\n", error.message);
        th_scene_destroy(scene);
        return 2;
    }
    th_world_step(world, atoi(argv[2]));
    printf("%016llx\n", (unsigned long long)th_world_hash(world));
    th_world_destroy(world);
    th_scene_destroy(scene);
    return 0;
}
