// Snapshots take bytes: whatever they hold, restore refuses or the world goes on stepping. The check
// sum is made right, so that the fuzzer gets past it. SPDX-License-Identifier: Apache-2.0
#include "throng/throng.h"
#include "world/world.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char scene_text[] =
    "{\"levels\":[{\"id\":\"a\",\"walkable\":{\"rect\":[0,0,10,6]}}],"
    "\"doors\":[{\"id\":\"d\",\"line\":[[5,0],[5,6]],\"schedule\":[{\"time\":1,\"open\":false}]}],"
    "\"exits\":[{\"id\":\"e\",\"line\":[[10,1],[10,5]]}],"
    "\"groups\":[{\"id\":\"g\",\"count\":5,\"area\":{\"rect\":[1,1,4,5]},\"to\":\"e\"}],"
    "\"measure\":{\"lines\":[{\"id\":\"l\",\"line\":[[5,0],[5,6]]}]}}";

// Input: pairs of (offset, byte) to change in a good snapshot.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static th_scene *scene;
    if (!scene && th_scene_load_json(scene_text, strlen(scene_text), "fuzz", NULL, NULL, &scene,
                                     NULL) != TH_OK)
        abort();
    th_world_def def = th_world_def_default();
    def.threads = 1;
    th_world *world;
    if (th_world_create(scene, &def, &world, NULL) != TH_OK) abort();
    th_world_step(world, 3);
    size_t bytes = th_world_snapshot_size(world);
    unsigned char *snapshot = malloc(bytes);
    if (!snapshot || th_world_snapshot(world, snapshot, bytes, NULL) != TH_OK) abort();
    // The size in the head must stay right for sealing, so the first 64 bytes are left alone.
    for (size_t k = 0; k + 3 <= size; k += 3)
        snapshot[64 + ((size_t)data[k] << 8 | data[k + 1]) % (bytes - 64)] ^= data[k + 2];
    th_snapshot_seal(snapshot);
    th_world_restore(world, snapshot, bytes, NULL);
    th_world_step(world, 3);
    free(snapshot);
    th_world_destroy(world);
    return 0;
}
