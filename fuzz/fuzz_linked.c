// libFuzzer target: any bytes as a file that a scene links to. The first byte says as what: positions, a WKT shape
// or a GeoJSON shape, as ground, obstacles or walls, a picture of discomfort, guidance or of
// the ground. Compressed bytes are unpacked as in a real scene. Nothing may
// crash, hang or leak.
//   build-fuzz/fuzz/fuzz_linked -max_len=4096 -max_total_time=60 fuzz/corpus/linked
// SPDX-License-Identifier: Apache-2.0
#include "throng/throng.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct link_kind {
    const char *name, *scene;
} link_kind;

static const link_kind KINDS[] = {
    {"f.csv", "{\"groups\":[{\"positions_file\":\"f.csv\"}]}"},
    {"f.wkt", "{\"levels\":[{\"walkable\":{\"file\":\"f.wkt\"}}]}"},
    {"f.wkt", "{\"levels\":[{\"obstacles\":{\"file\":\"f.wkt\"}}]}"},
    {"f.wkt", "{\"levels\":[{\"walls\":{\"file\":\"f.wkt\"}}]}"},
    {"f.geojson", "{\"levels\":[{\"walkable\":{\"file\":\"f.geojson\"}}]}"},
    {"f.geojson", "{\"levels\":[{\"walls\":{\"file\":\"f.geojson\"}}]}"},
    {"f.png", "{\"pictures\":[{\"file\":\"f.png\",\"corners\":[[0,0],[6,4]]}]}"},
    {"f.png",
     "{\"pictures\":[{\"file\":\"f.png\",\"shows\":\"guidance\",\"corners\":[[0,0],[6,4]]}]}"},
    {"f.png", "{\"levels\":[{\"walkable\":{\"file\":\"f.png\",\"corners\":[[0,0],[6,4]]}}]}"},
};

static char folder[] = "/tmp/throng-fuzz-XXXXXX";

static void remove_folder(void) { rmdir(folder); }

static void write_file(const char *path, const uint8_t *data, size_t size) {
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static bool ready;
    if (!ready && (!mkdtemp(folder) || atexit(remove_folder) != 0)) abort();
    ready = true;
    if (size == 0) return 0;
    const link_kind *kind = &KINDS[data[0] % (sizeof KINDS / sizeof KINDS[0])];
    char path[100];
    snprintf(path, sizeof path, "%s/%s", folder, kind->name);
    write_file(path, data + 1, size - 1);
    th_scene *scene = NULL;
    th_error error;
    th_result result = th_scene_load_json(kind->scene, strlen(kind->scene), "fuzz.json", folder,
                                          NULL, &scene, &error);
    if (result != TH_OK && (scene || error.code != result || !error.message[0])) abort();
    th_scene_destroy(scene);
    unlink(path);
    return 0;
}
