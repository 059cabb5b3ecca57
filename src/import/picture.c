// Pictures of plans to trace over: PNG as it is, SVG by librsvg's rsvg-convert, the first page of a PDF by poppler's pdftocairo.
// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/file.h"
#include "import/drawing.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SIDE \
    "3000" // [pixels] the longer side of what is converted: a line of a plan of 100 m is 1 to 3 of them

static bool ends_in(const char *path, const char *ending) {
    size_t length = strlen(path), size = strlen(ending);
    return length >= size && strcasecmp(path + length - size, ending) == 0;
}

bool th_picture_is(const char *path) {
    return ends_in(path, ".png") || ends_in(path, ".svg") || ends_in(path, ".pdf");
}

static th_result convert(const char *const *words, const char *packages, char **png, size_t *length,
                         th_error *error) {
    th_program_end end;
    th_result result = th_program_run(words, &end, error);
    if (result == TH_OK && end.missing)
        result = th_fail(error, TH_NO_FILE, "",
                         "it is drawn by the program %s, which is not here. Install it: %s",
                         words[0], packages);
    else if (result == TH_OK && end.code != 0)
        result = th_fail(error, TH_BAD_SCENE, "", "%s cannot read it: %.300s", words[0],
                         *end.said ? end.said : "it gave up");
    if (result != TH_OK) {
        free(end.out);
        return result;
    }
    *png = end.out;
    *length = end.length;
    return TH_OK;
}

// Width and height of a PNG, from its first chunk; false: it is none.
static bool size_of(const char *png, size_t length, double size[2]) {
    const unsigned char *b = (const unsigned char *)png;
    if (!png || length < 24 || memcmp(png, "\x89PNG\r\n\x1a\n", 8) != 0) return false;
    for (int k = 0; k < 2; ++k) {
        const unsigned char *n = b + 16 + 4 * k;
        size[k] = n[0] * 16777216.0 + n[1] * 65536.0 + n[2] * 256.0 + n[3];
    }
    return size[0] >= 1.0 && size[1] >= 1.0 && size[0] <= 32767.0 && size[1] <= 32767.0;
}

th_result th_picture_read(const char *path, char **png, size_t *length, th_error *error) {
    const char *const svg[] = {"rsvg-convert",        "--width",  SIDE,  "--height", SIDE,
                               "--keep-aspect-ratio", "--format", "png", path,       NULL};
    const char *const pdf[] = {"pdftocairo", "-png",      "-singlefile", "-f", "1", "-l",
                               "1",          "-scale-to", SIDE,          path, "-", NULL};
    double size[2];
    *png = NULL;
    th_result result = th_file_check_plain(path, error);
    if (result != TH_OK) return result;
    if (ends_in(path, ".svg"))
        result = convert(svg,
                         "`apt install librsvg2-bin`, `dnf install librsvg2-tools` or `brew "
                         "install librsvg`",
                         png, length, error);
    else if (ends_in(path, ".pdf"))
        result = convert(pdf,
                         "`apt install poppler-utils`, `dnf install poppler-utils` or `brew "
                         "install poppler`",
                         png, length, error);
    else
        result = (*png = th_file_content(path, length, error)) ? TH_OK : error->code;
    if (result == TH_OK && !size_of(*png, *length, size))
        result = th_fail(error, TH_BAD_SCENE, "",
                         "it is no PNG of at most 32767 pixels a side; save the picture as PNG");
    if (result == TH_OK) return TH_OK;
    free(*png);
    *png = NULL;
    return result;
}

// A room as large as the picture, which lies under it, to be drawn in the studio.
static json_t *scene_of(const th_import_settings *settings, const char *file, double scale,
                        const double size[2]) {
    double w = size[0] * scale, h = size[1] * scale, turn = settings->turn;
    double c = cos(turn / 360.0 * 6.283185307179586), s = sin(turn / 360.0 * 6.283185307179586);
    json_t *ring = json_pack("[[f,f],[f,f],[f,f],[f,f]]", 0.0, 0.0, c * w, s * w, c * w - s * h,
                             s * w + c * h, -s * h, c * h);
    json_t *scene =
        json_pack("{s:s,s:{s:s,s:f,s:f},s:[{s:s,s:o}],s:[{s:s,s:s,s:s,s:[f,f],s:f,s:f}]}", "name",
                  settings->name ? settings->name : "picture", "import", "file",
                  settings->file ? settings->file : "", "width", w, "turn", turn, "levels", "id",
                  "ground", "walkable", ring, "underlays", "id", "plan", "level", "ground", "file",
                  file, "at", 0.0, 0.0, "metres_per_pixel", scale, "turn", turn);
    if (scene && settings->people > 0)
        json_object_set_new(scene, "groups", json_pack("[{s:i}]", "count", settings->people));
    return scene;
}

json_t *th_picture_import(th_arena *arena, const char *path, const th_import_settings *settings,
                          const char **told, th_error *error) {
    size_t length = 0;
    double size[2] = {0, 0};
    char *png = NULL, text[600];
    if (!(settings->width > 0.0) || !settings->picture) {
        th_fail(error, TH_BAD_SCENE, "",
                "a picture has no scale: give the metres that it is wide, --width M");
        return NULL;
    }
    if (th_picture_read(path, &png, &length, error) != TH_OK) return NULL;
    size_of(png, length, size);
    const char *slash = strrchr(settings->picture, '/');
    double scale = settings->width / size[0];
    th_result written = th_file_replace(settings->picture, png, length, TH_SYNCED, error);
    free(png);
    if (written != TH_OK) return NULL;
    snprintf(text, sizeof text,
             "%.100s: %.0f x %.0f pixels of %.4g m; %.2f x %.2f m, turned by %g degrees\n"
             "  %.150s is to be traced: draw walls, obstacles and exits over it in the studio\n",
             settings->file ? settings->file : "picture", size[0], size[1], scale, size[0] * scale,
             size[1] * scale, settings->turn, settings->picture);
    *told = th_arena_string(arena, text);
    json_t *scene = scene_of(settings, slash ? slash + 1 : settings->picture, scale, size);
    if (!scene) th_fail(error, TH_BAD_SCENE, "", "the picture's name is not UTF-8");
    return scene;
}
