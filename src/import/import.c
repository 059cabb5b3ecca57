// Chooses the reader of a file by its name and its first bytes. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/file.h"
#include "import/drawing.h"
#include <stdio.h>
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

// The ground of JuPedSim's config.json lies in geometry.wkt beside it.
static json_t *read_others(th_arena *arena, const char *path, const th_import_settings *settings,
                           const char **told, th_error *error) {
    char beside[TH_PATH_MAX];
    const char *slash = strrchr(path, '/');
    size_t size = 0, length = 0;
    th_error none = {0};
    char *wkt = NULL, *text = th_file_content(path, &size, error);
    if (!text) return NULL;
    if (ends_in(path, ".wkt")) {
        wkt = text;
        text = NULL;
    } else if (snprintf(beside, sizeof beside, "%.*sgeometry.wkt",
                        slash ? (int)(slash + 1 - path) : 0, path) < (int)sizeof beside) {
        wkt = th_file_content(beside, &length, &none);
    }
    json_t *scene = th_others_take(arena, text, size, wkt, settings, told, error);
    free(wkt);
    free(text);
    return scene;
}

json_t *th_import_file(th_arena *arena, const char *path, const th_import_settings *settings,
                       const char **told, json_t **recipe, th_error *error) {
    th_drawing drawing;
    th_result result;
    *told = "";
    if (recipe) *recipe = NULL;
    if (ends_in(path, ".json .scenario .wkt"))
        return read_others(arena, path, settings, told, error);
    if (th_picture_is(path)) return th_picture_import(arena, path, settings, told, error);
    if (ends_in(path, ".jpg .jpeg .webp .gif .tif .tiff .bmp")) {
        th_fail(error, TH_BAD_SCENE, "", "save the picture as PNG; SVG and PDF are read, too");
        return NULL;
    }
    if (ends_in(path, ".zip")) {
        th_fail(error, TH_BAD_SCENE, "", "unpack it and import its config.json");
        return NULL;
    }
    if (ends_in(path, ".ifc .ifc.gz"))
        result = th_ifc_read(&drawing, arena, path, error);
    else if (ends_in(path, ".osm .osm.gz .pbf .gpkg .shp .geojson .kml .gml .fgb"))
        result = th_gis_read(&drawing, arena, path, settings->has_origin ? settings->origin : NULL,
                             error);
    else
        result = read_dxf(&drawing, arena, path, settings->unit, error);
    if (result != TH_OK) return NULL;
    json_t *scene = th_plan_import(&drawing, settings, told, error);
    if (!scene && recipe) *recipe = th_plan_recipe(&drawing, settings);
    return scene;
}
