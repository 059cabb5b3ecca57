// Which reader a file is for, by its name and its first bytes. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/file.h"
#include "import/drawing.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool ends_in(const char *path, const char *endings) {
    size_t length = strlen(path);
    for (const char *at = endings; *at;) {
        size_t size = strcspn(at, " ");
        if (length >= size && strncasecmp(path + length - size, at, size) == 0) return true;
        at += size + (at[size] == ' ');
    }
    return false;
}

static th_result read_dxf(th_drawing *drawing, th_arena *arena, const char *path, double unit,
                          th_error *error) {
    size_t size = 0;
    char *text = th_file_content(path, &size, error);
    if (!text) return error->code;
    th_result result = th_dxf_read(drawing, arena, text, size, unit, error);
    free(text);
    return result;
}

json_t *th_import_file(th_arena *arena, const char *path, const th_import_settings *settings,
                       const char **told, th_error *error) {
    th_drawing drawing;
    th_result result;
    *told = "";
    if (ends_in(path, ".ifc .ifc.gz"))
        result = th_ifc_read(&drawing, arena, path, error);
    else
        result = read_dxf(&drawing, arena, path, settings->unit, error);
    return result == TH_OK ? th_plan_import(&drawing, settings, told, error) : NULL;
}
