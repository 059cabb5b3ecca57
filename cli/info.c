// throng info: prints the contents of a trajectory file. SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"
#include "core/geometry.h"
#include "throng/record.h"
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct description {
    const char *path;
    const th_trajectory_info *info;
    int64_t bytes;
    int64_t log_bytes; // of a database's log that was not taken in; 0: none
} description;

static const char *format_doc(th_trajectory_format format) {
    static const char *const docs[] = {
#define X(NAME, name, suffix, doc) doc,
        TH_TRAJECTORY_FORMATS(X)
#undef X
    };
    return docs[format];
}

// NAN: not known, or no polygon.
static double level_area(const th_trajectory_level *level) {
    th_arena arena = th_arena_of(NULL);
    th_geometry geometry = {.arena = &arena};
    th_shape shape = {.wkt = level->wkt};
    if (!level->wkt || !th_geometry_open(&geometry)) return (double)NAN;
    GEOSGeometry *polygon = th_geometry_parse(&geometry, &shape, false, "", NULL);
    double area = polygon ? th_geometry_area(&geometry, polygon) : (double)NAN;
    if (polygon) GEOSGeom_destroy_r(geometry.geos, polygon);
    th_geometry_close(&geometry);
    th_arena_release(&arena);
    return area;
}

static double bytes_per_row(const description *d) {
    return d->info->row_count > 0 ? (double)d->bytes / (double)d->info->row_count : (double)NAN;
}

static json_t *number_or_null(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *levels_json(const th_trajectory_info *info) {
    json_t *levels = json_array();
    for (int i = 0; i < info->level_count; ++i) {
        const th_trajectory_level *level = &info->levels[i];
        json_array_append_new(levels, json_pack("{s:s,s:f,s:o,s:s?}", "id", level->id, "z",
                                                level->z, "area", number_or_null(level_area(level)),
                                                "wkt", level->wkt));
    }
    return levels;
}

static json_t *describe_json(const description *d) {
    const th_trajectory_info *info = d->info;
    json_t *notes = json_object(), *bounds = json_null();
    for (int i = 0; i < info->note_count; ++i)
        json_object_set_new(notes, info->notes[i].key, json_string(info->notes[i].value));
    if (info->row_count > 0)
        bounds = json_pack("[f,f,f,f]", info->min_x, info->min_y, info->max_x, info->max_y);
    bool frames = info->frame_count > 0;
    return json_pack("{s:s,s:s,s:f,s:I,s:o,s:o,s:o,s:o,s:I,s:I,s:o,s:f,s:I,s:o,s:b,s:o,s:o}",
                     "file", d->path, "format", th_trajectory_format_name(info->format), "fps",
                     info->fps, "frames", (json_int_t)info->frame_count, "first_frame",
                     frames ? json_integer(info->first_frame) : json_null(), "last_frame",
                     frames ? json_integer(info->last_frame) : json_null(), "start_time",
                     number_or_null(frames ? (double)info->first_frame / info->fps : (double)NAN),
                     "end_time",
                     number_or_null(frames ? (double)info->last_frame / info->fps : (double)NAN),
                     "people", (json_int_t)info->agent_count, "rows", (json_int_t)info->row_count,
                     "bounds", bounds, "quantum", info->quantum, "bytes", (json_int_t)d->bytes,
                     "bytes_per_row", number_or_null(bytes_per_row(d)), "cut_off", d->log_bytes > 0,
                     "levels", levels_json(info), "notes", notes);
}

static void print_levels(const th_trajectory_info *info) {
    if (info->level_count == 0) printf("  geometry     none in the file\n");
    for (int i = 0; i < info->level_count; ++i) {
        const th_trajectory_level *level = &info->levels[i];
        double area = level_area(level);
        char id[160];
        printf("  level        %s, z %g m, ", th_printable(id, sizeof id, level->id, false),
               level->z);
        if (isfinite(area))
            printf("%.1f m2 walkable\n", area);
        else
            printf("%s\n", level->wkt ? "walkable area cannot be read" : "walkable area not known");
    }
}

// A scene or a dictionary can be a page long, and its line ends matter to no reader.
static void print_note(const th_trajectory_note *note) {
    enum { SHOWN = 80 };
    char plain[SHOWN + 1], line[SHOWN + 1], key[80];
    snprintf(plain, sizeof plain, "%s", note->value);
    for (char *at = plain; *at; ++at)
        if (*at == '\n' || *at == '\t' || *at == '\r') *at = ' ';
    th_printable(line, sizeof line, plain, false);
    bool more = strlen(note->value) > SHOWN;
    printf("  %-12s %s%s\n", th_printable(key, sizeof key, note->key, false), line,
           more ? " ... (--json has all of it)" : "");
}

static void print_description(const description *d) {
    const th_trajectory_info *info = d->info;
    char size[32];
    th_size_text(size, sizeof size, (double)d->bytes);
    printf("%s\n  format       %s: %s\n", d->path, th_trajectory_format_name(info->format),
           format_doc(info->format));
    printf("  frame rate   %g per second\n", info->fps);
    if (info->frame_count > 0)
        printf("  frames       %lld, from %lld (%.2f s) to %lld (%.2f s)\n",
               (long long)info->frame_count, (long long)info->first_frame,
               (double)info->first_frame / info->fps, (long long)info->last_frame,
               (double)info->last_frame / info->fps);
    else
        printf("  frames       none\n");
    printf("  people       %lld in %lld rows, one per person and frame\n",
           (long long)info->agent_count, (long long)info->row_count);
    if (info->row_count > 0) {
        printf("  positions    x %.3f to %.3f m, y %.3f to %.3f m", info->min_x, info->max_x,
               info->min_y, info->max_y);
        if (info->quantum > 0) printf(", multiples of %g mm", 1000 * info->quantum);
        printf("\n  size         %s, %.2f bytes per person and frame\n", size, bytes_per_row(d));
    } else {
        printf("  size         %s\n", size);
    }
    print_levels(info);
    for (int i = 0; i < info->note_count; ++i) print_note(&info->notes[i]);
    if (d->log_bytes > 0)
        printf("  cut off      %s-wal was beside it: the writer is still at work, or was killed;\n"
               "               every frame it had committed is counted here\n",
               d->path);
}

static int run_info(const th_command *command, int argc, char **argv) {
    const char *path = NULL, *unit = NULL;
    bool json = false;
    double fps = 0;
    const th_option options[] = {
        {"json", TH_OPTION_FLAG, &json, NULL, "one JSON object on stdout", 0, 0},
        {"fps", TH_OPTION_REAL, &fps, "N", "frame rate of a text that does not say it", 1e-6, 1e6},
        {"unit", TH_OPTION_TEXT, &unit, "m|cm", "of a text that does not say it; default m", 0, 0},
    };
    th_parse_result parsed = th_args_parse(command, options, 3, argc, argv, &path);
    if (parsed != TH_PARSE_OK) return parsed == TH_PARSE_HELP ? TH_EXIT_OK : TH_EXIT_USAGE;
    th_trajectory_assumed assumed = {.fps = fps};
    if (!th_read_unit(command, unit, &assumed.unit)) return TH_EXIT_USAGE;
    char log[1100];
    snprintf(log, sizeof log, "%s-wal", path);
    int64_t log_bytes = th_file_bytes(log); // before opening, which takes the log in
    th_error error = {0};
    th_trajectory *trajectory = NULL;
    if (th_trajectory_open_assuming(path, assumed, &trajectory, &error) != TH_OK)
        return th_report_error(path, &error);
    description d = {path, th_trajectory_about(trajectory), th_file_bytes(path),
                     log_bytes > 0 ? log_bytes : 0};
    int code = TH_EXIT_OK;
    if (json) {
        json_t *object = describe_json(&d);
        if (object) json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
        putchar('\n');
        code = object ? TH_EXIT_OK : TH_EXIT_FAILED;
        json_decref(object);
    } else {
        print_description(&d);
    }
    th_trajectory_close(trajectory);
    return code;
}

const th_command th_command_info = {
    .name = "info",
    .operands = "FILE",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "tell what is in a trajectory file",
    .detail =
        "Format, frames, people, levels with their walkable area, what the recording says about\n"
        "itself (scene, seed, version, command line), and bytes per person and frame. Exits 2\n"
        "when the file is not a trajectory, and says why.",
    .examples = "  throng run scenes/door.json --out door --record sqlite\n"
                "  throng info door/trajectory.sqlite\n"
                "  throng info door/trajectory.sqlite --json\n"
                "  throng info tests/data/readings/uo-050-180-180.txt.gz --fps 16 --unit cm\n",
    .run = run_info,
};
