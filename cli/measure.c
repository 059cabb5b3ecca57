// throng measure: density, speed, flow and more of a recording, of people or of agents.
// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"
#include "observe/findings.h"
#include "report/report.h"
#include "throng/record.h"
#include "throng/scene_view.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct request {
    const char *path, *walkable, *method, *frames, *unit, *los, *out, *direction;
    th_text_list areas, lines;
    double fps;
    long long every, level;
    bool quiet;
    th_survey_def def;
    th_survey_area_def area_defs[TH_LIST_MAX];
    th_survey_line_def line_defs[TH_LIST_MAX];
    th_typed_area typed_areas[TH_LIST_MAX];
    th_place_text line_texts[TH_LIST_MAX];
    char *ground; // walkable area read from a file
} request;

// ---- reading what was asked for

static bool read_lines(const th_command *command, request *r) {
    for (int i = 0; i < r->lines.count; ++i) {
        th_error error = {0};
        th_place_text *place = &r->line_texts[i];
        th_result result = th_place_text_read(r->lines.items[i], place, &error);
        if (result != TH_OK || !place->is_box) {
            th_complain(command, "--line %s: a line is x0,y0,x1,y1 or NAME=x0,y0,x1,y1",
                        r->lines.items[i]);
            return false;
        }
        if (place->name[0] == '\0') snprintf(place->name, sizeof place->name, "line %d", i + 1);
        r->line_defs[i] = (th_survey_line_def){
            place->name, {place->box[0], place->box[1]}, {place->box[2], place->box[3]}};
    }
    r->def.lines = r->line_defs;
    r->def.line_count = r->lines.count;
    return true;
}

static bool read_service(const th_command *command, request *r) {
    for (int s = 0; r->los && s < TH_SERVICE_COUNT; ++s)
        if (strcmp(r->los, th_services[s].name) == 0) {
            r->def.service = &th_services[s];
            return true;
        }
    if (r->los) th_complain(command, "no levels of service '%s'; there are fruin and hcm", r->los);
    return !r->los;
}

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

// WKT, a file with WKT in it, or a scene. Returns an exit code.
static int read_ground(request *r) {
    th_error error = {0};
    r->def.walkable = r->walkable;
    if (!r->walkable || strchr(r->walkable, '(')) return TH_EXIT_OK;
    if (ends_with(r->walkable, ".json")) {
        th_scene *scene = NULL;
        int code = th_load_scene(r->walkable, NULL, false, &scene);
        if (code != TH_EXIT_OK) return code;
        if (r->level < th_scene_view_of(scene)->level_count)
            r->ground = th_scene_level_wkt(scene, (int)r->level);
        th_scene_destroy(scene);
        r->def.walkable = r->ground;
        if (r->ground) return TH_EXIT_OK;
        fprintf(stderr, "%s: has no level %lld\n", r->walkable, r->level);
        return TH_EXIT_USAGE;
    }
    size_t size = 0;
    r->ground = th_file_content(r->walkable, &size, &error);
    if (!r->ground) return th_report_error(r->walkable, &error);
    r->def.walkable = r->ground;
    return TH_EXIT_OK;
}

static bool read_request(const th_command *command, request *r) {
    th_survey_def *def = &r->def;
    def->motion.assumed.fps = r->fps;
    def->every = r->every;
    def->level = (int)r->level;
    bool good = th_read_unit(command, r->unit, &def->motion.assumed.unit) &&
                th_read_areas(command, &r->areas, r->typed_areas) && read_lines(command, r) &&
                th_read_method(command, r->method, true, def->method) && read_service(command, r) &&
                th_read_frames(command, r->frames, &def->motion.first, &def->motion.last) &&
                th_read_direction(command, r->direction, &def->direction);
    if (good && def->both_ways && !r->direction) {
        th_complain(command, "--both-ways needs --direction X,Y, the axis people walk along");
        return false;
    }
    for (int i = 0; i < r->areas.count && good; ++i)
        r->area_defs[i] = (th_survey_area_def){r->typed_areas[i].place.name, r->typed_areas[i].wkt};
    def->areas = r->area_defs;
    def->area_count = r->areas.count;
    return good;
}

// ---- the work

static int write_results(const request *r, const th_survey *survey) {
    th_error error = {0};
    th_result result = th_survey_tables(r->out, r->path, survey, &error);
    if (result == TH_OK) result = th_survey_figures(r->out, r->path, survey, &error);
    if (result != TH_OK) return th_report_failure(r->out, &error);
    if (!r->quiet) printf("\n%s/measured.json\n", r->out);
    return TH_EXIT_OK;
}

// Prints the findings of the whole ground; nothing where the recording makes no scene.
static void print_recording_findings(const th_survey *survey) {
    th_findings *findings = NULL;
    th_error error = {0};
    if (th_survey_findings(survey, &findings, &error) != TH_OK)
        printf("\nfindings: none could be made: %s\n", error.message);
    th_print_findings(findings);
    th_findings_destroy(findings);
}

static int measure(request *r) {
    th_error error = {0};
    th_survey *survey = NULL;
    if (r->out && th_make_folders(r->out, &error) != TH_OK)
        return th_report_failure(r->out, &error);
    th_share shown;
    th_share_start(&shown, "measuring", r->quiet);
    r->def.progress = th_share_show;
    r->def.context = &shown;
    th_watch_interrupt();
    th_result result = th_survey_make(r->path, &r->def, &survey, &error);
    th_share_end(&shown);
    if (result != TH_OK) {
        // Reports a wrong argument or a fault of the recording.
        int code = th_report_error(r->path, &error);
        return result == TH_BAD_ARGUMENT ? TH_EXIT_USAGE : code;
    }
    if (!r->quiet) th_survey_print(stdout, r->path, survey);
    if (!r->quiet && !survey->stopped) print_recording_findings(survey);
    int code = r->out ? write_results(r, survey) : TH_EXIT_OK;
    if (code == TH_EXIT_OK && survey->stopped) code = TH_EXIT_INTERRUPTED;
    th_survey_destroy(survey);
    return code;
}

static int run_measure(const th_command *command, int argc, char **argv) {
    request *r = calloc(1, sizeof *r);
    if (!r) return TH_EXIT_FAILED;
    r->def = th_survey_def_default();
    r->every = 1;
    const th_option options[] = {
        {"area", TH_OPTION_LIST, &r->areas, "[NAME=]PLACE",
         "measure here: x0,y0,x1,y1 or POLYGON ((x y, ...)); repeatable", 0, 0},
        {"line", TH_OPTION_LIST, &r->lines, "[NAME=]ENDS",
         "count here, x0,y0,x1,y1; forward is from its right to its left; repeatable", 0, 0},
        {"walkable", TH_OPTION_TEXT, &r->walkable, "WKT|FILE",
         "where people can be: POLYGON, a .wkt file or a scene; default: the recording's", 0, 0},
        {"method", TH_OPTION_TEXT, &r->method, "NAME",
         "classic (default), voronoi, gaussian or all", 0, 0},
        {"cut-off", TH_OPTION_REAL, &r->def.cut_off, "M",
         "Voronoi cells end this far from their person; default 1, 0: never", 0, 1e6},
        {"width", TH_OPTION_REAL, &r->def.width, "M",
         "of the Gaussian at half its height; default 0.7", 0.01, 100},
        {"direction", TH_OPTION_TEXT, &r->direction, "X,Y",
         "speeds in areas are the part along this; default: the whole speed", 0, 0},
        {"both-ways", TH_OPTION_FLAG, &r->def.both_ways, NULL,
         "people walk along --direction and against it: the size of that part", 0, 0},
        {"window", TH_OPTION_REAL, &r->def.motion.window, "S",
         "velocities look this far back and ahead; default 0.3, 0: one frame", 0, 1000},
        {"frames", TH_OPTION_TEXT, &r->frames, "FIRST:LAST", "only these", 0, 0},
        {"every", TH_OPTION_INTEGER, &r->every, "N", "measure areas in every N-th frame", 1, 1e9},
        {"radius", TH_OPTION_REAL, &r->def.radius, "M",
         "of bodies, for collisions; default 0.2, 0: none", 0, 10},
        {"los", TH_OPTION_TEXT, &r->los, "NAME", "levels of service: fruin (default) or hcm", 0, 0},
        {"level", TH_OPTION_INTEGER, &r->level, "N", "of areas and lines; default 0", 0, 1000},
        {"fps", TH_OPTION_REAL, &r->fps, "N", "frame rate of a text that does not say it", 1e-6,
         1e6},
        {"unit", TH_OPTION_TEXT, &r->unit, "m|cm", "of a text that does not say it; default m", 0,
         0},
        {"out", TH_OPTION_TEXT, &r->out, "DIR", "folder for CSV and JSON files and figures", 0, 0},
        {"quiet", TH_OPTION_FLAG, &r->quiet, NULL, "print nothing when all is well", 0, 0},
    };
    int option_count = sizeof options / sizeof options[0];
    th_parse_result parsed = th_args_parse(command, options, option_count, argc, argv, &r->path);
    int code = parsed == TH_PARSE_HELP ? TH_EXIT_OK : TH_EXIT_USAGE;
    if (parsed == TH_PARSE_OK && read_request(command, r)) {
        code = read_ground(r);
        if (code == TH_EXIT_OK) code = measure(r);
    }
    free(r->ground);
    free(r);
    return code;
}

const th_command th_command_measure = {
    .name = "measure",
    .operands = "TRAJECTORY",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "density, speed, flow and more of a recording",
    .detail =
        "TRAJECTORY is any recording that throng reads: its own, JuPedSim's, Juelich text (also\n"
        ".gz) and HDF5, so people and agents are measured by the same code. Areas give density,\n"
        "speed, flow, levels of service and crowd pressure over time; lines give flow, specific\n"
        "flow, N-t curves and time headways of both directions; people give paths, times in\n"
        "jams, smoothness, distances and collisions. Walls come from the recording where it\n"
        "knows them. With --out DIR: measured.json, measured_areas.csv, measured_lines.csv,\n"
        "measured_people.csv and figures. docs/measurement.md says how each is defined.",
    .examples =
        "  throng run scenes/door.json --out door --record sqlite\n"
        "  throng measure door/trajectory.sqlite --area front=8,4,10,6 --line exit=11,5.5,11,4.5\n"
        "  throng measure tests/data/readings/uo-180-180-070.txt.gz --fps 16 --unit cm --frames "
        "500:1399 \\\n"
        "      --area corridor=0,-2,1.8,0 --direction 0,-1 --method all \\\n"
        "      --walkable 'POLYGON ((0 -4, 1.8 -4, 1.8 4, 0 4, 0 -4))' --out measured\n"
        "  throng measure tests/data/readings/traj_AO_300.txt.gz --line exit=-0.6,0,2.4,0\n",
    .run = run_measure,
};
