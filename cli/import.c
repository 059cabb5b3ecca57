// throng import: a drawing as a scene, and what was made of it. SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"
#include "core/error.h"
#include "core/file.h"
#include "import/drawing.h"
#include "report/report.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct import_options {
    const char *out, *unit, *recipe, *picture, *area, *occupants;
    double close, turn, width;
    long long people;
    bool quiet;
    th_text_list layers, exits;
} import_options;

static bool read_exits(const th_command *command, const th_text_list *texts,
                       th_import_settings *settings) {
    for (int k = 0; k < texts->count; ++k) {
        double *e = settings->exits[settings->exit_count++];
        char more;
        if (sscanf(texts->items[k], "%lf,%lf,%lf,%lf%c", &e[0], &e[1], &e[2], &e[3], &more) == 4)
            continue;
        th_complain(command, "--exit %s: give both ends in metres, x0,y0,x1,y1", texts->items[k]);
        return false;
    }
    return true;
}

static bool read_settings(const th_command *command, const import_options *o,
                          th_import_settings *settings) {
    for (int k = 0; k < o->layers.count; ++k)
        if (!th_import_add_rule(settings, o->layers.items[k])) {
            th_complain(command, "--layer %s: give NAME=PART; parts are %s", o->layers.items[k],
                        th_role_names());
            return false;
        }
    if (o->unit && th_unit_of(o->unit) == 0.0) {
        th_complain(command, "--unit %s: give mm, cm, dm, m, km, in, ft or yd", o->unit);
        return false;
    }
    if (o->unit) settings->unit = th_unit_of(o->unit);
    settings->people = (int)o->people;
    double *a = settings->area;
    char more;
    settings->has_area = o->area != NULL;
    if (o->area && (sscanf(o->area, "%lf,%lf,%lf,%lf%c", &a[0], &a[1], &a[2], &a[3], &more) != 4 ||
                    !(a[0] < a[2] && a[1] < a[3]))) {
        th_complain(command, "--area %s: give two corners in metres, x0,y0,x1,y1", o->area);
        return false;
    }
    return read_exits(command, &o->exits, settings);
}

static th_result take_recipe(const char *path, th_import_settings *settings, json_t **kept,
                             th_error *error) {
    size_t size = 0;
    char *text = th_file_content(path, &size, error);
    if (!text) return error->code;
    *kept = json_loadb(text, size, 0, NULL);
    free(text);
    if (!*kept)
        return th_fail(error, TH_BAD_SCENE, "",
                       "%s is not a scene that `throng import` wrote: its text is no JSON", path);
    return th_import_recipe(settings, *kept, error);
}

static th_result take_occupants(const char *path, json_t *scene, bool quiet, th_error *error) {
    char told[600] = "";
    size_t size = 0;
    char *text = th_file_content(path, &size, error);
    th_result result =
        text ? th_import_people(scene, text, size, told, sizeof told, error) : error->code;
    if (result == TH_OK && !quiet) printf("%s:\n%s", path, told);
    json_t *recipe = json_object_get(scene, "import");
    if (recipe) json_object_set_new(recipe, "occupants", json_string(path));
    free(text);
    return result;
}

static th_result make_scene(const char *path, const th_import_settings *settings,
                            const import_options *o, th_error *error) {
    const char *out = o->out;
    bool quiet = o->quiet;
    th_arena arena = th_arena_of(NULL);
    const char *told = "";
    json_t *scene = th_import_file(&arena, path, settings, &told, NULL, error);
    th_result result = scene ? TH_OK : error->code;
    if (!quiet) fputs(told, stdout);
    if (result == TH_OK && o->occupants) result = take_occupants(o->occupants, scene, quiet, error);
    if (result != TH_OK) {
        json_decref(scene);
        scene = NULL;
    }
    char *json = scene ? json_dumps(scene, JSON_INDENT(2) | JSON_REAL_PRECISION(12)) : NULL;
    if (scene && !json) result = th_fail(error, TH_NO_MEMORY, "", "no memory for the scene");
    if (json) result = th_file_replace(out, json, strlen(json), TH_SYNCED, error);
    free(json);
    json_decref(scene);
    th_arena_release(&arena);
    return result;
}

static int call(const th_command *command, const char *first, const char *option,
                const char *value) {
    char *argv[3] = {(char *)(uintptr_t)first, (char *)(uintptr_t)option, (char *)(uintptr_t)value};
    return command->run(command, 1 + (option != NULL) + (value != NULL), argv);
}

static bool is_json(const char *path) {
    size_t length = strlen(path);
    return length > 5 && strcmp(path + length - 5, ".json") == 0;
}

static int run_import(const th_command *command, int argc, char **argv) {
    th_import_settings *settings = malloc(sizeof *settings);
    if (!settings) return TH_EXIT_FAILED;
    *settings = th_import_settings_default();
    import_options o = {.close = settings->close};
    const th_option options[] = {
        {"out", TH_OPTION_TEXT, &o.out, "SCENE", "the scene to write, NAME.json", 0, 0},
        {"layer", TH_OPTION_LIST, &o.layers, "NAME=PART", "what a layer is; repeatable", 0, 0},
        {"unit", TH_OPTION_TEXT, &o.unit, "UNIT", "of the drawing: mm, cm, m, in, ft", 0, 0},
        {"close", TH_OPTION_REAL, &o.close, "M", "close gaps up to this (default 0.05) [m]", 0, 1},
        {"turn", TH_OPTION_REAL, &o.turn, "DEG", "turn counter-clockwise", -360, 360},
        {"people", TH_OPTION_INTEGER, &o.people, "N", "people on the ground (default 0)", 0, 1e6},
        {"occupants", TH_OPTION_TEXT, &o.occupants, "CSV", "people: x, y, level, profile, ...", 0,
         0},
        {"width", TH_OPTION_REAL, &o.width, "M", "metres that a picture is wide", 0.1, 1e5},
        {"area", TH_OPTION_TEXT, &o.area, "X0,Y0,X1,Y1", "ground of a map [m]", 0, 0},
        {"exit", TH_OPTION_LIST, &o.exits, "X0,Y0,X1,Y1", "an exit's line [m]; repeatable", 0, 0},
        {"recipe", TH_OPTION_TEXT, &o.recipe, "SCENE", "import as this scene was", 0, 0},
        {"picture", TH_OPTION_TEXT, &o.picture, "DIR", "draw the scene there", 0, 0},
        {"quiet", TH_OPTION_FLAG, &o.quiet, NULL, "only warnings and errors", 0, 0},
    };
    const char *path = NULL;
    th_parse_result parsed = th_args_parse(
        command, options, (int)(sizeof options / sizeof options[0]), argc, argv, &path);
    int code = parsed == TH_PARSE_OK ? TH_EXIT_OK : TH_EXIT_USAGE;
    json_t *recipe = NULL;
    th_error error = {0};
    char stem[256], png[TH_PATH_MAX];
    if (parsed == TH_PARSE_OK && !o.out) {
        th_complain(command, "--out SCENE is missing: the scene to write");
        code = TH_EXIT_USAGE;
    }
    if (code == TH_EXIT_OK && !read_settings(command, &o, settings)) code = TH_EXIT_USAGE;
    if (code == TH_EXIT_OK) {
        settings->close = o.close;
        settings->turn = o.turn;
        settings->width = o.width;
        snprintf(png, sizeof png, "%.*s.png", (int)(strlen(o.out) - (is_json(o.out) ? 5 : 0)),
                 o.out);
        settings->picture = png;
        settings->file = path;
        th_file_stem(path, stem, sizeof stem);
        settings->name = stem;
        if (o.recipe && take_recipe(o.recipe, settings, &recipe, &error) != TH_OK)
            code = th_report_error(o.recipe, &error);
    }
    if (code == TH_EXIT_OK && make_scene(path, settings, &o, &error) != TH_OK)
        code = th_report_error(path, &error);
    json_decref(recipe);
    free(settings);
    if (code == TH_EXIT_OK) code = call(&th_command_check, o.out, o.quiet ? "--quiet" : NULL, NULL);
    if (code == TH_EXIT_OK && o.picture)
        code = call(&th_command_picture, o.out, "--out", o.picture);
    return parsed == TH_PARSE_HELP ? TH_EXIT_OK : code;
}

const th_command th_command_import = {
    .name = "import",
    .operands = "DRAWING",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "a drawing, a map or another simulator's scene as a scene",
    .detail =
        "Reads an ASCII DXF: lines, polylines with bulges, arcs, circles, ellipses, hatches, "
        "blocks;\n"
        "IFC 2x3 and 4 with Node and its package web-ifc: walls cut 1.1 m above each storey,\n"
        "doors, stairs, spaces; maps (.osm, .gpkg, .shp, .geojson) with GDAL's ogr2ogr; scenarios "
        "of\n"
        "Vadere and JuPedSim; plain WKT; and scenes, to which --occupants brings people.\n"
        "PNG, SVG (rsvg-convert) and PDF (pdftocairo) of --width M become a room over the "
        "picture,\n"
        "to be traced in the studio.\n"
        "Layers are taken as walls, obstacles, ground, doors, exits, people, areas, stairs, "
        "stairs_top "
        "or\n"
        "ignored: by their usual names, or as --layer says; * stands for any text, and "
        "walls@upper\n"
        "for a level. Where no ground is drawn it is what walls, doors and exits enclose. A table\n"
        "tells what was found, closed, joined and left out; the recipe stays in the scene.",
    .examples =
        "  throng compile scenes/door.json --out hall.dxf\n"
        "  throng import hall.dxf --out hall.json --people 100\n"
        "  throng import hall.dxf --out hall.json --layer 'WALL*=walls' --unit m --picture .\n"
        "  throng import hall.dxf --out hall-b.json --recipe hall.json\n"
        "  throng import floor.png --out floor.json --width 84.1\n"
        "  throng import house.ifc --out house.json --occupants people.csv\n"
        "  throng import town.osm --out town.json --area -50,-50,50,50 --people 500\n",
    .run = run_import,
};
