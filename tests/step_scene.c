// Runs a scene with libthrong alone and prints the hash of its last state as `throng run --json` does, for tools/compare-hashes
// and builds for other systems: run SCENE ... --max-time S
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <throng/scene_view.h>
#include <throng/throng.h>

int main(int argc, char **argv) {
    th_error error = {0};
    th_scene *scene = NULL;
    th_world *world = NULL;
    th_scene_options options = th_scene_options_default();
    th_world_def def = th_world_def_default();
    double seconds = 1.0;
    for (int k = 3; k + 1 < argc; ++k)
        if (strcmp(argv[k], "--max-time") == 0) seconds = strtod(argv[k + 1], NULL);
    if (argc < 3) return 1;
    def.threads = 1;
    options.allow_links = true;
    if (th_scene_load_file(argv[2], &options, &scene, &error) != TH_OK ||
        th_world_create(scene, &def, &world, &error) != TH_OK) {
        fprintf(stderr, "%s: %s\n", argv[2], error.message);
        th_scene_destroy(scene);
        return 2;
    }
    bool until_empty = !(th_scene_view_of(scene)->run.duration > 0);
    double end = seconds - 0.5 * th_world_step_length(world);
    while (th_world_time(world) < end && !(until_empty && th_world_done(world)))
        th_world_step(world, 1);
    printf("{\"runs\": [{\"hash\": \"%016llx\", \"spawned\": %llu}]}\n",
           (unsigned long long)th_world_hash(world),
           (unsigned long long)th_world_statistics(world).spawned);
    th_world_destroy(world);
    th_scene_destroy(scene);
    return 0;
}
