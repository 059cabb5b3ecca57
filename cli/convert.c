// throng convert: a trajectory from any format into any other. SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"
#include "throng/record.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static bool format_by_suffix(const char *path, th_trajectory_format *format) {
    static const struct {
        const char *suffix;
        th_trajectory_format format;
    } suffixes[] = {
        {"sqlite", TH_TRAJECTORY_SQLITE}, {"sqlite3", TH_TRAJECTORY_SQLITE},
        {"db", TH_TRAJECTORY_SQLITE},     {"txt", TH_TRAJECTORY_TEXT},
        {"csv", TH_TRAJECTORY_CSV},       {"h5", TH_TRAJECTORY_HDF5},
        {"hdf5", TH_TRAJECTORY_HDF5},
    };
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof suffixes / sizeof suffixes[0]; ++i)
        if (strcasecmp(dot + 1, suffixes[i].suffix) == 0) {
            *format = suffixes[i].format;
            return true;
        }
    return false;
}

static bool choose_format(const th_command *command, const char *name, const char *path,
                          th_trajectory_format *format) {
    const char *names[TH_TRAJECTORY_FORMAT_COUNT];
    for (int i = 0; i < TH_TRAJECTORY_FORMAT_COUNT; ++i) {
        names[i] = th_trajectory_format_name((th_trajectory_format)i);
        if (name && strcmp(name, names[i]) == 0) {
            *format = (th_trajectory_format)i;
            return true;
        }
    }
    if (!name && format_by_suffix(path, format)) return true;
    const char *nearest = name ? th_suggest(name, names, TH_TRAJECTORY_FORMAT_COUNT) : NULL;
    if (nearest)
        th_complain(command, "no format '%s'; did you mean %s?", name, nearest);
    else if (name)
        th_complain(command, "no format '%s'; there are sqlite, compact, text, csv and hdf5", name);
    else
        th_complain(command,
                    "%s: which format? name it .sqlite, .db, .txt, .csv or .h5, or give --format "
                    "sqlite, compact, text, csv or hdf5",
                    path);
    return false;
}

static bool knows_orientation(th_trajectory *trajectory) {
    th_moment frame = {0};
    th_trajectory_rewind(trajectory);
    while (th_trajectory_next(trajectory, &frame, NULL) == TH_OK && frame.count >= 0)
        if (frame.count > 0) return frame.orientation_x != NULL;
    return false;
}

static bool knows_geometry(const th_trajectory_info *info) {
    for (int i = 0; i < info->level_count; ++i)
        if (info->levels[i].wkt) return true;
    return false;
}

static void print_result(th_trajectory *from, const char *to, th_trajectory_format format) {
    const th_trajectory_info *info = th_trajectory_about(from);
    char size[32];
    th_size_text(size, sizeof size, (double)th_file_bytes(to));
    printf("%s: %s, %lld frames of %lld people, %lld rows, %s\n", to,
           th_trajectory_format_name(format), (long long)info->frame_count,
           (long long)info->agent_count, (long long)info->row_count, size);
    if (format != TH_TRAJECTORY_TEXT && format != TH_TRAJECTORY_CSV) return;
    bool geometry = knows_geometry(info), orientation = knows_orientation(from);
    bool notes = info->note_count > 0;
    if (geometry || orientation || notes)
        printf("not stored by the %s format:%s%s%s\n", th_trajectory_format_name(format),
               geometry ? " geometry" : "", orientation ? " orientation" : "",
               notes ? " notes" : "");
}

static int convert(const char *from, const char *to, th_trajectory_format format,
                   th_trajectory_assumed assumed, bool force, bool quiet) {
    th_error error = {0};
    th_trajectory *trajectory = NULL;
    if (th_trajectory_open_assuming(from, assumed, &trajectory, &error) != TH_OK)
        return th_report_error(from, &error);
    th_share share;
    th_share_start(&share, "converting", quiet);
    th_watch_interrupt();
    th_result result =
        th_trajectory_copy(trajectory, to, format, force, th_share_show, &share, &error);
    th_share_end(&share);
    int code = TH_EXIT_OK;
    if (result != TH_OK) {
        // An unreadable recording is the file's fault, as for every other verb.
        bool unread = strcmp(error.file, from) == 0;
        code = unread ? th_report_error(from, &error) : th_report_failure(to, &error);
        if (th_interrupted()) code = TH_EXIT_INTERRUPTED;
    } else if (!quiet) {
        print_result(trajectory, to, format);
    }
    th_trajectory_close(trajectory);
    return code;
}

static int run_convert(const th_command *command, int argc, char **argv) {
    const char *name = NULL, *unit = NULL, *paths[2] = {NULL};
    double fps = 0;
    bool force = false, quiet = false;
    const th_option options[] = {
        {"format", TH_OPTION_TEXT, &name, "NAME",
         "sqlite, compact, text, csv or hdf5; default: by TO's name", 0, 0},
        {"fps", TH_OPTION_REAL, &fps, "N", "frame rate of a text that does not say it", 1e-6, 1e6},
        {"unit", TH_OPTION_TEXT, &unit, "m|cm", "of a text that does not say it; default m", 0, 0},
        {"force", TH_OPTION_FLAG, &force, NULL, "replace TO when it is there already", 0, 0},
        {"quiet", TH_OPTION_FLAG, &quiet, NULL, "print nothing when all is well", 0, 0},
    };
    int option_count = sizeof options / sizeof options[0];
    th_parse_result parsed = th_args_parse(command, options, option_count, argc, argv, paths);
    if (parsed != TH_PARSE_OK) return parsed == TH_PARSE_HELP ? TH_EXIT_OK : TH_EXIT_USAGE;
    th_trajectory_assumed assumed = {.fps = fps};
    if (!th_read_unit(command, unit, &assumed.unit)) return TH_EXIT_USAGE;
    th_trajectory_format format;
    if (!choose_format(command, name, paths[1], &format)) return TH_EXIT_USAGE;
    if (!force && access(paths[1], F_OK) == 0) {
        th_complain(command, "%s is there already; --force replaces it", paths[1]);
        return TH_EXIT_FAILED;
    }
    return convert(paths[0], paths[1], format, assumed, force, quiet);
}

const th_command th_command_convert = {
    .name = "convert",
    .operands = "FROM TO",
    .operand_min = 2,
    .operand_max = 2,
    .summary = "turn a trajectory into another format",
    .detail =
        "FROM is any trajectory that throng reads: JuPedSim's SQLite, throng's compact form of\n"
        "it, Juelich text or CSV (also .gz), the Pedestrian Dynamics Data Archive's HDF5. The\n"
        "format of FROM is recognised by its content, that of TO by its name: .sqlite or .db,\n"
        ".txt, .csv, .h5 or .hdf5. TO appears when it is complete; a conversion that fails or is\n"
        "interrupted leaves nothing. docs/recordings.md says what each format keeps.",
    .examples =
        "  throng run scenes/door.json --out door --record sqlite\n"
        "  throng convert door/trajectory.sqlite trajectory.txt\n"
        "  throng convert door/trajectory.sqlite small.sqlite --format compact\n"
        "  throng convert tests/data/readings/uo-050-180-180.txt.gz uo-050.h5 --fps 16 --unit cm\n",
    .run = run_convert,
};
