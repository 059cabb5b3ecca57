// throng compile: a scene as bytes for builds without GEOS, jansson and libpng. SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"
#include "core/file.h"
#include "import/drawing.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int run_compile(const th_command *command, int argc, char **argv) {
    bool allow_links = false;
    const char *out = NULL, *path = NULL;
    th_text_list overrides = {0}, plugins = {0};
    const th_option options[] = {
        {"out", TH_OPTION_TEXT, &out, "FILE", "the file to write, NAME.thscene or NAME.dxf", 0, 0},
        {"set", TH_OPTION_LIST, &overrides, "PATH=VALUE", "change a value of the scene; repeatable",
         0, 0},
        TH_PLUGIN_OPTION(&plugins),
        TH_LINKS_OPTION(&allow_links),
    };
    th_parse_result parsed = th_args_parse(command, options, 4, argc, argv, &path);
    if (parsed != TH_PARSE_OK) return parsed == TH_PARSE_HELP ? TH_EXIT_OK : TH_EXIT_USAGE;
    if (!out) {
        th_complain(command, "--out FILE is missing: the file to write");
        return TH_EXIT_USAGE;
    }
    th_scene *scene = NULL;
    th_error error = {0};
    void *bytes = NULL;
    size_t size = 0;
    int code = th_load_plugins(&plugins);
    if (code == TH_EXIT_OK) code = th_load_scene(path, &overrides, allow_links, &scene);
    if (code != TH_EXIT_OK) return code;
    const char *ending = strrchr(out, '.');
    bool drawing = ending && strcmp(ending, ".dxf") == 0;
    if (drawing) {
        char *text = th_dxf_write(th_scene_view_of(scene), &size);
        if (!text || th_file_replace(out, text, size, TH_SYNCED, &error) != TH_OK)
            code = text ? th_report_error(out, &error) : TH_EXIT_FAILED;
        else
            printf("%s: %zu bytes\n", out, size);
        free(text);
    } else if (th_scene_compiled(scene, &bytes, &size, &error) != TH_OK ||
               th_file_replace(out, bytes, size, TH_SYNCED, &error) != TH_OK)
        code = th_report_error(out, &error);
    else
        printf("%s: %zu bytes\n", out, size);
    th_free(bytes);
    th_scene_destroy(scene);
    return code;
}

const th_command th_command_compile = {
    .name = "compile",
    .operands = "SCENE",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "a scene as one file that needs no geometry library",
    .detail =
        "Writes the scene as it is once its text is checked, its linked files are read and its\n"
        "geometry is joined. `throng run FILE` and th_scene_load_compiled read it and give the\n"
        "same results; so does a libthrong built with -DTH_COMPILED_ONLY=ON, which needs no GEOS,\n"
        "jansson and libpng. Another version of the format is refused: compile again. NAME.dxf is\n"
        "a drawing of ground, walls, doors, exits and stairs, which `throng import` reads.",
    .examples = "  throng compile scenes/station.json --out station.thscene\n"
                "  throng run station.thscene --out none\n"
                "  throng compile scenes/station.json --out station.dxf\n",
    .run = run_compile,
};
