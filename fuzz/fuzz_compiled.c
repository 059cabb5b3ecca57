// Compiled scenes take bytes: whatever they hold, loading refuses or a world steps. The check sum is made right, so that the
// fuzzer gets past it. SPDX-License-Identifier: Apache-2.0
#include "throng/throng.h"
#include "world/world.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char scene_text[] =
    "{\"levels\":[{\"id\":\"a\",\"walkable\":{\"rect\":[0,0,10,6]},\"obstacles\":[{\"rect\":[2,2,3,"
    "3]}]},"
    "{\"id\":\"b\",\"walkable\":{\"rect\":[8,0,20,6]}}],"
    "\"stairs\":[{\"level\":\"a\",\"to\":\"b\",\"area\":{\"rect\":[7,1,9,3]},\"top\":[[9,1],[9,3]]}"
    "],"
    "\"zones\":[{\"level\":\"a\",\"area\":{\"rect\":[0,4,2,6]},\"speed\":0.5}],"
    "\"doors\":[{\"id\":\"d\",\"level\":\"a\",\"line\":[[5,0],[5,6]],\"schedule\":[{\"time\":0.1,"
    "\"open\":false}]}],"
    "\"exits\":[{\"id\":\"e\",\"level\":\"b\",\"line\":[[20,1],[20,5]]}],"
    "\"strips\":[{\"level\":\"b\",\"line\":[[10,3],[19,3]]}],"
    "\"interests\":[{\"level\":\"b\",\"area\":{\"rect\":[12,0,13,1]},\"layer\":\"shop\"}],"
    "\"groups\":[{\"id\":\"g\",\"level\":\"a\",\"count\":5,\"area\":{\"rect\":[1,1,4,5]},\"to\":"
    "\"e\","
    "\"filter\":\"keep_side\",\"behave\":[\"route\",\"interest\"]},"
    "{\"id\":\"h\",\"level\":\"a\",\"positions\":[[1,5],[3,5]],\"to\":\"e\",\"behave\":\"hidac\","
    "\"move\":\"hidac\"},"
    "{\"id\":\"s\",\"level\":\"a\",\"source\":{\"rate\":1},\"area\":{\"rect\":[1,1,4,5]},\"to\":"
    "\"e\",\"move\":\"uic\"}],"
    "\"scripted\":[{\"level\":\"b\",\"path\":[[0,12,3],[10,15,3]]}],"
    "\"measure\":{\"lines\":[{\"id\":\"l\",\"level\":\"b\",\"line\":[[15,0],[15,6]]}]}}";

// Input: threes of a two-byte offset and a byte to change there in good bytes; an odd first byte cuts them short, too.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static unsigned char *good, *bad;
    static size_t bytes;
    enum { HEAD = 28 };
    if (!good) {
        th_scene *scene = NULL;
        void *made = NULL;
        if (th_scene_load_json(scene_text, sizeof scene_text - 1, "fuzz", NULL, NULL, &scene,
                               NULL) ||
            th_scene_compiled(scene, &made, &bytes, NULL))
            abort();
        th_scene_destroy(scene);
        good = made;
        bad = malloc(bytes);
        if (!bad) abort();
    }
    if (size < 3) return 0;
    memcpy(bad, good, bytes);
    size_t used = data[0] & 1 ? HEAD + ((size_t)data[1] << 8 | data[2]) % (bytes - HEAD) : bytes;
    for (size_t k = data[0] & 1 ? 3 : 1; k + 3 <= size; k += 3)
        bad[HEAD + ((size_t)data[k] << 8 | data[k + 1]) % (bytes - HEAD)] ^= data[k + 2];
    th_compiled_seal(bad, used);
    th_scene *scene = NULL;
    th_world *world = NULL;
    th_world_def def = th_world_def_default();
    def.threads = 1;
    if (th_scene_load_compiled(bad, used, NULL, &scene, NULL) == TH_OK &&
        th_world_create(scene, &def, &world, NULL) == TH_OK)
        th_world_step(world, 3);
    th_world_destroy(world);
    th_scene_destroy(scene);
    return 0;
}
