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
    "\"groups\":[{\"id\":\"g\",\"count\":5,\"area\":{\"rect\":[1,1,4,5]},\"to\":\"e\"},"
    "{\"id\":\"s\",\"source\":{\"rate\":1},\"area\":{\"rect\":[1,1,4,5]},\"to\":\"e\","
    "\"move\":\"social_force\"}],"
    "\"scripted\":[{\"path\":[[0,6,3],[10,9,3]]}],"
    "\"measure\":{\"lines\":[{\"id\":\"l\",\"line\":[[5,0],[5,6]]}]}}";

// Made once, as an input costs a restore and three steps; every input starts from the good snapshot.
static th_world *world;
static unsigned char *good, *bad;
static size_t bytes;

static void prepare(void) {
    th_scene *scene = NULL;
    if (th_scene_load_json(scene_text, strlen(scene_text), "fuzz", NULL, NULL, &scene, NULL))
        abort();
    th_world_def def = th_world_def_default();
    def.threads = 1;
    if (th_world_create(scene, &def, &world, NULL)) abort();
    th_vec2 a = {8.0f, 0.5f}, b = {8.0f, 2.0f};
    if (th_world_add_wall(world, 0, a, b, NULL, NULL)) abort();
    th_world_step(world, 3);
    bytes = th_world_snapshot_size(world);
    good = malloc(bytes);
    bad = malloc(bytes);
    if (!good || !bad || th_world_snapshot(world, good, bytes, NULL)) abort();
}

// Input: triples of a two-byte offset and a byte to change there in a good snapshot.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!world) prepare();
    if (th_world_restore(world, good, bytes, NULL)) abort();
    memcpy(bad, good, bytes);
    // The size in the head must stay right for sealing, so the first 64 bytes are left alone.
    for (size_t k = 0; k + 3 <= size; k += 3)
        bad[64 + ((size_t)data[k] << 8 | data[k + 1]) % (bytes - 64)] ^= data[k + 2];
    th_snapshot_seal(bad);
    th_world_restore(world, bad, bytes, NULL);
    th_world_step(world, 3);
    return 0;
}
