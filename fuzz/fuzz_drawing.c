// libFuzzer target: any bytes as a DXF or, from a brace on, as what the reader of IFC prints. Either a clear error comes out, or a drawing whose numbers are finite, and of it a
// scene or a clear error again. SPDX-License-Identifier: Apache-2.0
#include "import/drawing.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    th_arena arena = th_arena_of(NULL);
    th_drawing drawing;
    th_error error = {0};
    char *text = malloc(size + 1);
    if (!text) return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    th_result result = size > 0 && text[0] == '{'
                           ? th_ifc_take(&drawing, &arena, text, size, &error)
                           : th_dxf_read(&drawing, &arena, text, size, 1.0, &error);
    if (result == TH_OK) {
        for (int k = 0; k < drawing.point_count; ++k)
            if (!isfinite(drawing.points[k].x) || !isfinite(drawing.points[k].y)) abort();
        for (int k = 0; k < drawing.path_count; ++k) {
            const th_drawn_path *path = &drawing.paths[k];
            if (path->count < 2 || path->first + path->count > drawing.point_count) abort();
        }
        th_import_settings settings = th_import_settings_default();
        settings.people = 3;
        const char *told = NULL;
        json_t *scene = th_plan_import(&drawing, &settings, &told, &error);
        if (!scene && !error.message[0]) abort();
        json_decref(scene);
    } else if (!error.message[0]) {
        abort();
    }
    th_arena_release(&arena);
    free(text);
    return 0;
}
