// Snapshots take bytes: whatever they hold, restore refuses or the world goes on stepping. The check
// sum is made right, so that the fuzzer gets past it. SPDX-License-Identifier: Apache-2.0
#include "throng/throng.h"
#include "world/world.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// A world with what every world has, and two whose models remember things of their own.
static const char *const scene_texts[] = {
    "{\"levels\":[{\"id\":\"a\",\"walkable\":{\"rect\":[0,0,10,6]}}],"
    "\"doors\":[{\"id\":\"d\",\"line\":[[5,0],[5,6]],\"schedule\":[{\"time\":1,\"open\":false}]}],"
    "\"exits\":[{\"id\":\"e\",\"line\":[[10,1],[10,5]]}],"
    "\"groups\":[{\"id\":\"g\",\"count\":5,\"area\":{\"rect\":[1,1,4,5]},\"to\":\"e\"},"
    "{\"id\":\"s\",\"source\":{\"rate\":1},\"area\":{\"rect\":[1,1,4,5]},\"to\":\"e\","
    "\"move\":\"social_force\"}],"
    "\"scripted\":[{\"path\":[[0,6,3],[10,9,3]]}],"
    "\"measure\":{\"lines\":[{\"id\":\"l\",\"line\":[[5,0],[5,6]]}]}}",
    "{\"levels\":[{\"id\":\"a\",\"walkable\":{\"rect\":[0,0,10,6]}}],"
    "\"doors\":[{\"id\":\"d\",\"line\":[[5,0],[5,6]]}],"
    "\"exits\":[{\"id\":\"e\",\"line\":[[10,1],[10,5]]}],"
    "\"groups\":[{\"id\":\"u\",\"count\":3,\"area\":{\"rect\":[1,1,4,5]},\"to\":\"e\","
    "\"move\":\"uic\",\"plan\":\"continuum\"},"
    "{\"id\":\"h\",\"count\":3,\"area\":{\"rect\":[1,1,4,5]},\"to\":\"e\","
    "\"move\":\"hidac\",\"behave\":\"hidac\"},"
    "{\"id\":\"p\",\"count\":3,\"area\":{\"rect\":[1,1,4,5]},\"to\":\"e\","
    "\"move\":\"pbd\",\"plan\":{\"model\":\"field\",\"crowd_weight\":1}}]}",
    "{\"levels\":[{\"id\":\"a\",\"walkable\":{\"rect\":[0,0,10,6]}}],"
    "\"exits\":[{\"id\":\"e\",\"line\":[[10,1],[10,5]]}],"
    "\"strips\":[{\"line\":[[1,3],[9,3]]}],"
    "\"groups\":[{\"id\":\"r\",\"count\":3,\"area\":{\"rect\":[1,1,4,5]},\"to\":\"e\",\"plan\":"
    "\"roadmap\",\"filter\":\"keep_side\"},"
    "{\"id\":\"c\",\"count\":3,\"area\":{\"rect\":[6,1,9,5]},\"to\":\"e\","
    "\"move\":\"colonization\",\"behave\":\"undecided\",\"filter\":\"densesense\"}]}"};
enum { WORLDS = sizeof scene_texts / sizeof *scene_texts };

// Made once, as an input costs a restore and three steps; every input starts from the good snapshot.
static th_world *worlds[WORLDS];
static unsigned char *good[WORLDS], *bad[WORLDS];
static size_t bytes[WORLDS];

static void must(th_result result, const th_error *error) {
    if (result == TH_OK) return;
    fprintf(stderr, "%s\n", error->message);
    abort();
}

static void prepare(int w) {
    th_scene *scene = NULL;
    th_error error = {0};
    const char *text = scene_texts[w];
    must(th_scene_load_json(text, strlen(text), "fuzz", NULL, NULL, &scene, &error), &error);
    th_world_def def = th_world_def_default();
    def.threads = 1;
    def.replan = w == 0 ? 1.0 : 0.0; // with fields on their way
    must(th_world_create(scene, &def, &worlds[w], &error), &error);
    th_vec2 a = {8.0f, 0.5f}, b = {8.0f, 2.0f};
    must(th_world_add_wall(worlds[w], 0, a, b, NULL, &error), &error);
    th_world_step(worlds[w], 3);
    bytes[w] = th_world_snapshot_size(worlds[w]);
    good[w] = malloc(bytes[w]);
    bad[w] = malloc(bytes[w]);
    if (!good[w] || !bad[w]) abort();
    must(th_world_snapshot(worlds[w], good[w], bytes[w], &error), &error);
}

// Input: which world, then fours of a three-byte offset and a byte to change there in its good snapshot.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    int w = data[0] % WORLDS;
    if (!worlds[w]) prepare(w);
    if (th_world_restore(worlds[w], good[w], bytes[w], NULL)) abort();
    memcpy(bad[w], good[w], bytes[w]);
    // The size in the head must stay right for sealing, so the first 64 bytes are left alone.
    for (size_t k = 1; k + 4 <= size; k += 4) {
        size_t at = (size_t)data[k] << 16 | (size_t)data[k + 1] << 8 | data[k + 2];
        bad[w][64 + at % (bytes[w] - 64)] ^= data[k + 3];
    }
    th_snapshot_seal(bad[w]);
    th_world_restore(worlds[w], bad[w], bytes[w], NULL);
    th_world_step(worlds[w], 3);
    return 0;
}
