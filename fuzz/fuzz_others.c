// libFuzzer target: any bytes as a table of people and as a scenario of Vadere or JuPedSim. Either a clear error comes out, or JSON that the scene's own
// reader takes or refuses with an error. SPDX-License-Identifier: Apache-2.0
#include "import/drawing.h"
#include "throng/scene.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    th_arena arena = th_arena_of(NULL);
    th_error error = {0};
    const char *told = NULL;
    th_import_settings settings = th_import_settings_default();
    char line[600];
    json_t *plain = json_pack("{s:[{s:s}]}", "levels", "id", "ground");
    if (th_import_people(plain, (const char *)data, size, line, sizeof line, &error) != TH_OK &&
        !error.message[0])
        abort();
    json_decref(plain);
    error = (th_error){0};
    json_t *scene =
        th_others_take(&arena, (const char *)data, size, NULL, &settings, &told, &error);
    char *text = scene ? json_dumps(scene, 0) : NULL;
    if (!scene && !error.message[0]) abort();
    if (text) {
        th_scene_options options = {.no_files = true};
        th_scene *loaded = NULL;
        if (th_scene_load_json(text, strlen(text), "fuzz", NULL, &options, &loaded, &error) !=
                TH_OK &&
            !error.message[0])
            abort();
        th_scene_destroy(loaded);
    }
    free(text);
    json_decref(scene);
    th_arena_release(&arena);
    return 0;
}
