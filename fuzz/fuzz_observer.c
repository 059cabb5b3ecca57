// Measurements so far are kept in a checkpoint: bad bytes are refused, or watching goes on. The check sum is made
// right, so that the fuzzer gets past it. SPDX-License-Identifier: Apache-2.0
#include "observe/observer.h"
#include "observe/observer_parts.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char scene_text[] = "{\"levels\":[{\"id\":\"a\",\"walkable\":{\"rect\":[0,0,4,3]}}],"
                                 "\"exits\":[{\"id\":\"e\",\"line\":[[4,1],[4,2]]}],"
                                 "\"groups\":[{\"id\":\"g\",\"count\":3,\"area\":{\"rect\":[1,1,3,"
                                 "2]},\"to\":\"e\",\"move\":\"uic\"}],"
                                 "\"measure\":{\"lines\":[{\"id\":\"l\",\"line\":[[2,0],[2,3]]}],"
                                 "\"areas\":[{\"id\":\"m\",\"area\":{\"rect\":[1,1,2,2]}}]}}";

static th_world *world;
static unsigned char *good, *bad;
static size_t bytes;

static th_observer *watcher(void) {
    th_observer_def def = th_observer_def_default();
    def.track_count = 4;
    th_observer *observer = NULL;
    if (th_observer_create(world, &def, &observer, NULL)) abort();
    return observer;
}

static void prepare(void) {
    th_scene *scene = NULL;
    if (th_scene_load_json(scene_text, strlen(scene_text), "fuzz", NULL, NULL, &scene, NULL))
        abort();
    th_world_def def = th_world_def_default();
    def.threads = 1;
    if (th_world_create(scene, &def, &world, NULL)) abort();
    th_observer *observer = watcher();
    if (th_observer_see(observer, world, NULL)) abort();
    for (int s = 0; s < 25; ++s) {
        th_world_step(world, 1);
        if (th_observer_see(observer, world, NULL)) abort();
    }
    void *kept;
    if (th_observer_save(observer, &kept, &bytes, NULL)) abort();
    good = kept;
    bad = malloc(bytes);
    if (!bad) abort();
    th_observer_destroy(observer);
}

// Input: how much is cut off (two bytes), then triples of a two-byte offset and a byte to change there.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!world) prepare();
    if (size < 2) return 0;
    size_t length = bytes - ((size_t)data[0] << 8 | data[1]) % (bytes - 40);
    memcpy(bad, good, bytes);
    memcpy(bad + 16, &(uint64_t){length}, 8); // the size in the head
    for (size_t k = 2; k + 3 <= size; k += 3)
        bad[32 + ((size_t)data[k] << 8 | data[k + 1]) % (length - 32)] ^= data[k + 2];
    th_observer_seal(bad, length);
    th_observer *observer = watcher();
    if (th_observer_restore(observer, bad, length, NULL) == TH_OK) {
        th_observer_see(observer, world, NULL);
        th_observer_finish(observer, world, NULL);
    }
    th_observer_destroy(observer);
    return 0;
}
