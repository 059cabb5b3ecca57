// throng fd: fundamental diagrams of recordings and scenes, over Weidmann and over people.
// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"
#include "validate/diagram.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILES_MOST = 16 };

typedef struct options {
    const char *files[FILES_MOST], *over, *out, *csv, *method, *direction, *frames, *unit;
    th_text_list area_texts, overrides;
    double fps;
    long long every, seed;
    bool quiet, both_ways, allow_links;
    th_typed_area typed[TH_LIST_MAX];
    th_diagram_area areas[TH_LIST_MAX];
    th_diagram diagram;
} options;

static bool choose_over(const th_command *command, const char *names, th_diagram *d) {
    char copy[256];
    snprintf(copy, sizeof copy, "%s", names ? names : "weidmann,uo180,ug180");
    char *rest = NULL;
    for (char *word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        if (strcmp(word, "none") == 0) continue;
        if (strcmp(word, "weidmann") == 0) {
            d->weidmann = true;
            continue;
        }
        const th_measured_set *set = th_measured_find(word);
        if (!set) {
            int count;
            const th_measured_set *sets = th_measured_sets(&count);
            th_complain(command, "--over: no measurement '%s'; there are weidmann,", word);
            for (int k = 0; k < count; ++k)
                fprintf(stderr, "  %-11s %s (%s)\n", sets[k].name, sets[k].title, sets[k].source);
            return false;
        }
        if (d->over_count < TH_DIAGRAM_OVER) d->over[d->over_count++] = set;
    }
    return true;
}

static bool read_options(const th_command *command, options *o, th_diagram_def *def) {
    th_fundamental_def *f = &def->fundamental;
    bool methods[TH_DENSITY_METHODS] = {true};
    f->motion.assumed.fps = o->fps;
    f->every = o->every;
    f->both_ways = o->both_ways;
    bool good = choose_over(command, o->over, &o->diagram) &&
                th_read_areas(command, &o->area_texts, o->typed) &&
                th_read_method(command, o->method, false, methods) &&
                th_read_direction(command, o->direction, &f->direction) &&
                th_read_frames(command, o->frames, &f->motion.first, &f->motion.last) &&
                th_read_unit(command, o->unit, &f->motion.assumed.unit);
    for (int m = 0; m < TH_DENSITY_METHODS; ++m)
        if (methods[m]) f->density.method = (th_density_method)m;
    for (int k = 0; k < o->area_texts.count && good; ++k)
        o->areas[k] = (th_diagram_area){o->typed[k].place.name, o->typed[k].wkt};
    return good;
}

// All areas of a file; warns of areas that were always empty.
static int take(const th_command *command, th_diagram *d, const th_diagram_def *def,
                const char *file) {
    th_error error = {0};
    int before = d->count;
    th_result result = th_diagram_take(d, def, file, &error);
    for (int k = before; k < d->count; ++k)
        if (d->series[k].samples.count == 0)
            th_complain(command, "%s: the area was always empty", d->series[k].name);
    if (result == TH_OK) return TH_EXIT_OK;
    if (result != TH_BAD_ARGUMENT || strcmp(error.path, "areas") != 0)
        return th_report_error(file, &error);
    th_complain(command, "%s", error.message);
    return TH_EXIT_USAGE;
}

static int draw(const th_command *command, options *o, const th_diagram_def *def) {
    th_error error = {0};
    int code = TH_EXIT_OK;
    for (int k = 0; k < FILES_MOST && o->files[k] && code == TH_EXIT_OK; ++k)
        code = take(command, &o->diagram, def, o->files[k]);
    if (code != TH_EXIT_OK) return code;
    if (!o->quiet) th_diagram_print(stdout, &o->diagram);
    if (o->csv && th_diagram_table(&o->diagram, o->csv, &error) != TH_OK)
        return th_report_failure(o->csv, &error);
    if (strcmp(o->out, "none") == 0) return TH_EXIT_OK;
    if (th_diagram_figure(&o->diagram, o->out, &error) != TH_OK)
        return th_report_failure(o->out, &error);
    if (!o->quiet) printf("\n%s\n", o->out);
    return TH_EXIT_OK;
}

static int perform(const th_command *command, options *o) {
    th_diagram_def def = {.fundamental = th_fundamental_def_default(),
                          .areas = o->areas,
                          .area_count = o->area_texts.count,
                          .scene_options = {.overrides = o->overrides.items,
                                            .override_count = o->overrides.count,
                                            .allow_links = o->allow_links},
                          .seed = (uint64_t)o->seed};
    int code = read_options(command, o, &def) ? draw(command, o, &def) : TH_EXIT_USAGE;
    th_diagram_release(&o->diagram);
    return code;
}

static int run_fd(const th_command *command, int argc, char **argv) {
    options *o = calloc(1, sizeof *o);
    if (!o) return TH_EXIT_FAILED;
    o->out = "fd.png";
    o->every = 1;
    th_text_list plugins = {0};
    const th_option table[] = {
        {"area", TH_OPTION_LIST, &o->area_texts, "[NAME=]PLACE",
         "measure here: x0,y0,x1,y1 or POLYGON ((x y, ...)); repeatable; default: a scene's own", 0,
         0},
        {"over", TH_OPTION_TEXT, &o->over, "NAMES",
         "measurements drawn below: weidmann,uo180,ug180 (default), uo180_runs, uni500, bi400, "
         "ao300, none",
         0, 0},
        {"out", TH_OPTION_TEXT, &o->out, "FILE",
         "figure, .png or .svg; default fd.png; none: no figure", 0, 0},
        {"csv", TH_OPTION_TEXT, &o->csv, "FILE", "every sample as a table", 0, 0},
        {"method", TH_OPTION_TEXT, &o->method, "NAME", "classic (default), voronoi or gaussian", 0,
         0},
        {"direction", TH_OPTION_TEXT, &o->direction, "X,Y",
         "speed is the part along this; default: the whole speed", 0, 0},
        {"both-ways", TH_OPTION_FLAG, &o->both_ways, NULL,
         "people walk along --direction and against it: the size of that part", 0, 0},
        {"frames", TH_OPTION_TEXT, &o->frames, "FIRST:LAST", "only these; of a scene, steps", 0, 0},
        {"every", TH_OPTION_INTEGER, &o->every, "N", "every N-th frame", 1, 1e9},
        {"fps", TH_OPTION_REAL, &o->fps, "N", "frame rate of a text that does not say it", 1e-6,
         1e6},
        {"unit", TH_OPTION_TEXT, &o->unit, "m|cm", "of a text that does not say it; default m", 0,
         0},
        {"set", TH_OPTION_LIST, &o->overrides, "PATH=VALUE", "change scenes before they run", 0, 0},
        {"seed", TH_OPTION_INTEGER, &o->seed, "N", "of scenes; default: their own", 0, 1e15},
        TH_LINKS_OPTION(&o->allow_links),
        TH_PLUGIN_OPTION(&plugins),
        {"quiet", TH_OPTION_FLAG, &o->quiet, NULL, "print nothing when all is well", 0, 0},
    };
    int count = (int)(sizeof table / sizeof *table);
    th_parse_result parsed = th_args_parse(command, table, count, argc, argv, o->files);
    int code = parsed == TH_PARSE_HELP ? TH_EXIT_OK : TH_EXIT_USAGE;
    if (parsed == TH_PARSE_OK) code = th_load_plugins(&plugins);
    if (parsed == TH_PARSE_OK && code == TH_EXIT_OK) code = perform(command, o);
    free(o);
    return code;
}

const th_command th_command_fd = {
    .name = "fd",
    .operands = "FILE...",
    .operand_min = 1,
    .operand_max = FILES_MOST,
    .summary = "fundamental diagram of recordings and scenes, over what was measured",
    .detail =
        "FILE is a recording in any format that throng reads (of people or of agents), or a "
        "scene,\n"
        "which is run and measured in its own areas. Draws speed and flow over density: every\n"
        "sample, means per class of 0.5 /m2 with their standard deviation, Weidmann's curve and\n"
        "measurements of people that the program carries with it.",
    .examples = "  throng run scenes/door.json --out door --record sqlite\n"
                "  throng fd door/trajectory.sqlite --area 8,4,10,6\n"
                "  throng fd tests/data/readings/uo-180-180-070.txt.gz --fps 16 --unit cm \\\n"
                "      --area 0,-2,1.8,0 --frames 500:1399\n"
                "  throng fd scenes/experiments/corridor_one_way.json --out diagram.svg --csv "
                "samples.csv\n",
    .run = run_fd,
};
