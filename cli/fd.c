// throng fd: fundamental diagrams of recordings and scenes, over Weidmann and over people.
// SPDX-License-Identifier: Apache-2.0
#include "cli/fd_source.h"
#include "cli/terminal.h"
#include "cli/trajectory_text.h"
#include "observe/density.h"
#include "report/folder.h"
#include "report/table_file.h"
#include "validate/fd_figure.h"
#include "validate/measured.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILES_MOST = 16, CLASSES = 24, OVER_MOST = 8 };
static const double CLASS_WIDTH = 0.5; // [1/m2] as the measured classes of uo180
static const int LEAST_SAMPLES = 10;   // of a class that is drawn or printed
static const int CLOUD_MOST = 1200;    // dots of one series; more only make the figure large

typedef struct diagram {
    const th_measured_set *over[OVER_MOST];
    int over_count;
    bool weidmann;
    th_fd_list list;
    th_fundamental_bin bins[TH_FD_MOST][CLASSES];
} diagram;

// ---- what was asked for

static bool choose_over(const th_command *command, const char *names, diagram *d) {
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
        if (d->over_count < OVER_MOST) d->over[d->over_count++] = set;
    }
    return true;
}

typedef struct areas {
    th_fd_area items[TH_LIST_MAX];
    th_place_text texts[TH_LIST_MAX];
    char rectangles[TH_LIST_MAX][256];
} areas;

static bool read_areas(const th_command *command, const th_text_list *list, areas *a) {
    for (int k = 0; k < list->count; ++k) {
        th_place_text place;
        th_error error = {0};
        if (th_place_text_read(list->items[k], &place, &error) != TH_OK) {
            th_complain(command, "--area %s", error.message);
            return false;
        }
        if (place.is_box) th_place_rectangle(&place, a->rectangles[k], sizeof a->rectangles[k]);
        if (place.is_box && a->rectangles[k][0] == '\0') {
            th_complain(command, "--area %s: the rectangle has no width or no height",
                        list->items[k]);
            return false;
        }
        snprintf(a->items[k].name, sizeof a->items[k].name, "%s", place.name);
        if (place.name[0] == '\0')
            snprintf(a->items[k].name, sizeof a->items[k].name, "area %d", k + 1);
        a->texts[k] = place;
        a->items[k].wkt = place.is_box ? a->rectangles[k] : a->texts[k].wkt;
    }
    return true;
}

static bool read_method(const th_command *command, const char *name, th_density_method *method) {
    static const char *const words[] = {"classic", "voronoi", "gaussian"};
    *method = TH_CLASSIC;
    if (!name) return true;
    for (int k = 0; k < 3; ++k)
        if (strcmp(name, words[k]) == 0) {
            *method = (th_density_method)k;
            return true;
        }
    th_complain(command, "no method '%s'; there are classic, voronoi and gaussian", name);
    return false;
}

static bool read_direction(const th_command *command, const char *text, th_point *direction) {
    if (!text) return true;
    char rest = 0;
    double x, y;
    if (sscanf(text, "%lf,%lf%c", &x, &y, &rest) == 2 && isfinite(x) && isfinite(y)) {
        *direction = (th_point){x, y};
        return true;
    }
    th_complain(command, "--direction %s: two numbers x,y, e.g. 0,-1", text);
    return false;
}

// "100:800", "100:", ":800"
static bool read_frames(const th_command *command, const char *text, th_motion_def *motion) {
    if (!text) return true;
    const char *colon = strchr(text, ':');
    char *first_end = NULL, *last_end = NULL;
    long long first = colon && colon != text ? strtoll(text, &first_end, 10) : 0;
    long long last = colon && colon[1] ? strtoll(colon + 1, &last_end, 10) : -1;
    bool good = colon && (!first_end || first_end == colon) && first >= 0 &&
                (!last_end || (*last_end == '\0' && last >= first));
    if (!good) th_complain(command, "--frames %s: write FIRST:LAST, FIRST: or :LAST", text);
    motion->first = first;
    motion->last = last;
    return good;
}

// ---- results

static void make_classes(diagram *d) {
    for (int k = 0; k < d->list.count; ++k) {
        th_fundamental_bins_add(&d->list.items[k].samples, CLASS_WIDTH, d->bins[k], CLASSES);
        th_fundamental_bins_finish(CLASS_WIDTH, d->bins[k], CLASSES);
    }
}

static void print_diagram(const diagram *d) {
    for (int k = 0; k < d->list.count; ++k) {
        const th_fundamental_samples *samples = &d->list.items[k].samples;
        th_fundamental_mean mean = th_fundamental_mean_of(samples);
        printf("%s%s, %d samples in %.2f m2\n", k > 0 ? "\n" : "", d->list.items[k].name,
               samples->count, samples->area);
        if (samples->count == 0) continue;
        printf("  mean           %6.2f /m2 %7.2f m/s %7.2f /(m s)\n", mean.density, mean.speed,
               mean.flow);
        for (int b = 0; b < CLASSES; ++b) {
            const th_fundamental_bin *bin = &d->bins[k][b];
            if (bin->count >= LEAST_SAMPLES)
                printf("  %4.1f .. %4.1f /m2 %5d %10.2f m/s %7.2f /(m s)  +- %.2f m/s\n",
                       b * CLASS_WIDTH, (b + 1) * CLASS_WIDTH, bin->count, bin->speed, bin->flow,
                       bin->standard_deviation);
        }
    }
}

static int write_csv(const diagram *d, const char *path) {
    char folder[TH_PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    const char *name = slash ? path + (slash - folder) + 1 : path;
    if (slash)
        *slash = '\0';
    else
        snprintf(folder, sizeof folder, ".");
    th_table_file csv;
    th_table_open(&csv, folder[0] ? folder : "/", name);
    static const char *const columns[] = {"series", "frame", "people", "density", "speed", "flow"};
    for (int c = 0; c < 6; ++c) th_table_text(&csv, columns[c]);
    th_table_end_row(&csv);
    for (int k = 0; k < d->list.count; ++k)
        for (int i = 0; i < d->list.items[k].samples.count; ++i) {
            const th_fundamental_sample *s = &d->list.items[k].samples.samples[i];
            th_table_text(&csv, d->list.items[k].name);
            th_table_count(&csv, (uint64_t)s->frame);
            th_table_count(&csv, (uint64_t)s->count);
            th_table_number(&csv, s->density);
            th_table_number(&csv, s->speed);
            th_table_number(&csv, s->flow);
            th_table_end_row(&csv);
        }
    th_error error = {0};
    return th_table_close(&csv, &error) == TH_OK ? TH_EXIT_OK : th_report_failure(path, &error);
}

// ---- the figure: clouds of samples, means of classes, what was measured

typedef struct numbers {
    double *density, *speed, *spread;
    int count;
} numbers;

static bool reserve(numbers *n, int count) {
    n->density = calloc((size_t)count + 1, sizeof *n->density);
    n->speed = calloc((size_t)count + 1, sizeof *n->speed);
    n->spread = calloc((size_t)count + 1, sizeof *n->spread);
    return n->density && n->speed && n->spread;
}

static void release(numbers *n) {
    free(n->density);
    free(n->speed);
    free(n->spread);
}

static bool cloud_of(const th_fundamental_samples *samples, numbers *n) {
    int stride = 1 + samples->count / CLOUD_MOST;
    if (!reserve(n, samples->count)) return false;
    for (int i = 0; i < samples->count; i += stride) {
        n->density[n->count] = samples->samples[i].density;
        n->speed[n->count++] = samples->samples[i].speed;
    }
    return true;
}

static bool classes_of(const th_fundamental_bin *bins, numbers *n) {
    if (!reserve(n, CLASSES)) return false;
    for (int b = 0; b < CLASSES; ++b) {
        if (bins[b].count < LEAST_SAMPLES) continue;
        n->density[n->count] = bins[b].density;
        n->speed[n->count] = bins[b].speed;
        n->spread[n->count++] = bins[b].standard_deviation;
    }
    return true;
}

static bool measured_of(const th_measured_set *set, numbers *n) {
    if (!reserve(n, set->count)) return false;
    for (int i = 0; i < set->count; ++i) {
        n->density[n->count] = set->points[i].density;
        n->speed[n->count] = set->points[i].speed;
        n->spread[n->count++] = set->points[i].spread;
    }
    return true;
}

enum { SERIES_MOST = OVER_MOST + 2 * TH_FD_MOST };
static int add_series(th_fd_series *series, int count, const char *name, th_fd_mark mark,
                      int colour, const numbers *n) {
    series[count] = (th_fd_series){.name = name,
                                   .mark = mark,
                                   .colour = colour,
                                   .density = n->density,
                                   .speed = n->speed,
                                   .spread = mark == TH_FD_DOTS ? n->spread : NULL,
                                   .count = n->count};
    return count + 1;
}

static int write_figure(const diagram *d, const char *path) {
    numbers all[SERIES_MOST] = {0};
    th_fd_series series[SERIES_MOST];
    int count = 0;
    bool good = true;
    for (int k = 0; k < d->over_count && good; ++k) {
        good = measured_of(d->over[k], &all[count]);
        bool many = d->over[k]->count > 24;
        count = add_series(series, count, d->over[k]->title, many ? TH_FD_CLOUD : TH_FD_DOTS,
                           -1 - k % 3, &all[count]);
    }
    for (int k = 0; k < d->list.count && good; ++k) {
        const char *name = d->list.items[k].name;
        good = cloud_of(&d->list.items[k].samples, &all[count]);
        count = add_series(series, count, name, TH_FD_CLOUD, k, &all[count]);
        good = good && classes_of(d->bins[k], &all[count]);
        count = add_series(series, count, name, TH_FD_DOTS, k, &all[count]);
    }
    th_error error = {0};
    int code = TH_EXIT_FAILED;
    if (good) {
        th_fd_panel panels[2] = {{"", false, series, count}, {"", true, series, count}};
        th_fd_figure figure = {.title = "Fundamental diagram",
                               .panels = panels,
                               .panel_count = 2,
                               .columns = 2,
                               .weidmann = d->weidmann};
        code = th_fd_figure_write(&figure, path, &error) == TH_OK ? TH_EXIT_OK
                                                                  : th_report_failure(path, &error);
    }
    for (int k = 0; k < SERIES_MOST; ++k) release(&all[k]);
    return code;
}

// ---- the command

typedef struct options {
    const char *files[FILES_MOST], *over, *out, *csv, *method, *direction, *frames, *unit;
    th_text_list area_texts, overrides;
    double fps;
    long long every, seed;
    bool quiet;
} options;

static int draw_all(const th_command *command, options *o, th_fd_request *request, diagram *d) {
    int code = TH_EXIT_OK;
    for (int k = 0; k < FILES_MOST && o->files[k] && code == TH_EXIT_OK; ++k)
        code = th_fd_take(command, request, o->files[k], &d->list);
    if (code != TH_EXIT_OK) return code;
    make_classes(d);
    if (!o->quiet) print_diagram(d);
    if (o->csv) code = write_csv(d, o->csv);
    if (code == TH_EXIT_OK && strcmp(o->out, "none") != 0) {
        code = write_figure(d, o->out);
        if (code == TH_EXIT_OK && !o->quiet) printf("\n%s\n", o->out);
    }
    return code;
}

static int perform(const th_command *command, options *o) {
    areas *a = calloc(1, sizeof *a);
    diagram *d = calloc(1, sizeof *d);
    th_fd_request request = {.def = th_fundamental_def_default(),
                             .area_count = o->area_texts.count,
                             .overrides = &o->overrides,
                             .seed = o->seed};
    int code = TH_EXIT_USAGE;
    if (!a || !d)
        code = TH_EXIT_FAILED;
    else if (choose_over(command, o->over, d) && read_areas(command, &o->area_texts, a) &&
             read_method(command, o->method, &request.def.density.method) &&
             read_direction(command, o->direction, &request.def.direction) &&
             read_frames(command, o->frames, &request.def.motion) &&
             th_unit_option(command, o->unit, &request.def.motion.assumed.unit)) {
        request.areas = a->items;
        request.def.motion.assumed.fps = o->fps;
        request.def.every = o->every;
        code = draw_all(command, o, &request, d);
    }
    if (d) th_fd_release(&d->list);
    free(d);
    free(a);
    return code;
}

static int run_fd(const th_command *command, int argc, char **argv) {
    options o = {.out = "fd.png", .every = 1, .seed = -1};
    const th_option table[] = {
        {"area", TH_OPTION_LIST, &o.area_texts, "[NAME=]PLACE",
         "measure here: x0,y0,x1,y1 or POLYGON ((x y, ...)); repeatable; default: a scene's own", 0,
         0},
        {"over", TH_OPTION_TEXT, &o.over, "NAMES",
         "measurements drawn below: weidmann,uo180,ug180 (default), uo180_runs, uni500, bi400, "
         "ao300, none",
         0, 0},
        {"out", TH_OPTION_TEXT, &o.out, "FILE",
         "figure, .png or .svg; default fd.png; none: no figure", 0, 0},
        {"csv", TH_OPTION_TEXT, &o.csv, "FILE", "every sample as a table", 0, 0},
        {"method", TH_OPTION_TEXT, &o.method, "NAME", "classic (default), voronoi or gaussian", 0,
         0},
        {"direction", TH_OPTION_TEXT, &o.direction, "X,Y",
         "speed is the part along this; default: the whole speed", 0, 0},
        {"frames", TH_OPTION_TEXT, &o.frames, "FIRST:LAST", "only these; of a scene, steps", 0, 0},
        {"every", TH_OPTION_INTEGER, &o.every, "N", "every N-th frame", 1, 1e9},
        {"fps", TH_OPTION_REAL, &o.fps, "N", "frame rate of a text that does not say it", 1e-6,
         1e6},
        {"unit", TH_OPTION_TEXT, &o.unit, "m|cm", "of a text that does not say it; default m", 0,
         0},
        {"set", TH_OPTION_LIST, &o.overrides, "PATH=VALUE", "change scenes before they run", 0, 0},
        {"seed", TH_OPTION_INTEGER, &o.seed, "N", "of scenes; default: their own", 0, 1e15},
        {"quiet", TH_OPTION_FLAG, &o.quiet, NULL, "print nothing when all is well", 0, 0},
    };
    int count = (int)(sizeof table / sizeof *table);
    th_parse_result parsed = th_args_parse(command, table, count, argc, argv, o.files);
    if (parsed == TH_PARSE_HELP) return TH_EXIT_OK;
    if (parsed == TH_PARSE_BAD) return TH_EXIT_USAGE;
    return perform(command, &o);
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
    .examples =
        "  throng fd runs/hall/trajectory.sqlite --area 4,0,8,4\n"
        "  throng fd uo-180-180-070.txt.gz --fps 16 --unit cm --area 0,-2,1.8,0 --frames 500:1399\n"
        "  throng fd scenes/experiments/corridor_one_way.json --out diagram.svg --csv "
        "samples.csv\n",
    .run = run_fd,
};
