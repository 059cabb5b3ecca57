// throng picture: PNGs of the plan with everybody on it, at chosen times.
// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"
#include "core/statistics.h"
#include "draw/plan_drawing.h"
#include "report/folder.h"

// For the doors' state at the start; afterwards events tell.
#include "throng/scene_view.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMES_MAX = 1000 };

typedef struct picture_settings {
    const char *at, *out, *colour;
    long long seed, threads, width;
    double step;
    bool quiet;
    th_text_list overrides, plugins;
    double times[TIMES_MAX]; // ascending [s]
    int time_count;
    th_colour_by colour_by;
    th_text_list layers;
    bool show_rooms;
} picture_settings;

static bool read_times(const th_command *command, picture_settings *s) {
    const char *at = s->at;
    for (;;) {
        char *end = NULL;
        double time = strtod(at, &end);
        bool good = end != at && (*end == ',' || *end == '\0') && time >= 0 && time < 1e7;
        if (!good || s->time_count == TIMES_MAX) {
            th_complain(command, "--at %s: give at most %d times in seconds, like 0,10,30", s->at,
                        TIMES_MAX);
            return false;
        }
        s->times[s->time_count++] = time;
        if (*end == '\0') break;
        at = end + 1;
    }
    th_sort_values(s->times, s->time_count);
    return true;
}

static bool read_colour(const th_command *command, picture_settings *s) {
    static const char *const words[] = {"speed", "density", "group"};
    for (int i = 0; i < 3; ++i) {
        if (strcmp(s->colour, words[i]) != 0) continue;
        s->colour_by = (th_colour_by)i;
        return true;
    }
    const char *nearest = th_suggest(s->colour, words, 3);
    th_complain(command, "--colour %s: give speed, density or group%s%s%s", s->colour,
                nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
    return false;
}

static bool read_layers(const th_command *command, picture_settings *s) {
    static const char *const words[] = {"rooms"};
    for (int k = 0; k < s->layers.count; ++k) {
        if (strcmp(s->layers.items[k], words[0]) == 0) {
            s->show_rooms = true;
            continue;
        }
        th_complain(command, "--layer %s: give rooms", s->layers.items[k]);
        return false;
    }
    return true;
}

static void note_doors(const th_world *world, bool *door_closed, int door_count) {
    int count = 0;
    const th_event *events = th_world_events(world, &count, NULL);
    for (int i = 0; i < count; ++i) {
        bool door =
            events[i].kind == TH_EVENT_DOOR_OPENED || events[i].kind == TH_EVENT_DOOR_CLOSED;
        if (door && events[i].index >= 0 && events[i].index < door_count)
            door_closed[events[i].index] = events[i].kind == TH_EVENT_DOOR_CLOSED;
    }
}

static int draw_now(th_world *world, const picture_settings *s, th_plan_view *view,
                    const char *path, bool first) {
    th_world_moment crowd = {0};
    float *density = NULL;
    bool good = th_world_moment_take(&crowd, world, TH_DRAWN);
    if (good && s->colour_by == TH_BY_DENSITY) {
        density = th_crowd_density(&crowd.moment);
        good = density != NULL;
    }
    if (good) {
        // One frame for the whole series, so that pictures can be put over each other.
        if (first) view->box = th_plan_box(view->scene, &crowd.moment);
        view->crowd = &crowd.moment;
        view->density = density;
        view->time = th_world_time(world);
        view->left = th_world_statistics(world).left;
        good = th_plan_draw(view, path);
    }
    view->crowd = NULL;
    view->density = NULL;
    free(density);
    th_world_moment_release(&crowd);
    if (good) return TH_EXIT_OK;
    fprintf(stderr,
            "%s: the picture could not be written: %s; free space or choose another --out\n", path,
            errno ? strerror(errno) : "no memory");
    return TH_EXIT_FAILED;
}

static int draw_series(const char *scene_path, th_world *world, const picture_settings *s) {
    const th_scene *scene = th_world_scene(world);
    char stem[256], path[4000];
    th_file_stem(scene_path, stem, sizeof stem);
    double step = s->step > 0 ? s->step : scene->run.step;
    bool *door_closed = calloc((size_t)scene->door_count + 1, sizeof *door_closed);
    if (!door_closed) return TH_EXIT_FAILED;
    for (int i = 0; i < scene->door_count; ++i) door_closed[i] = scene->doors[i].closed;
    th_plan_view view = {.scene = scene, .door_closed = door_closed, .colour_by = s->colour_by};
    view.width = (int)s->width;
    view.title = *scene->name ? scene->name : stem;
    th_rooms *rooms = NULL;
    th_error error;
    if (s->show_rooms && th_rooms_find(scene, TH_PASSAGE_WIDEST, &rooms, &error) != TH_OK) {
        th_report_error(scene_path, &error);
        free(door_closed);
        return TH_EXIT_FAILED;
    }
    view.rooms = rooms;
    th_progress progress = th_progress_start(!s->quiet, s->times[s->time_count - 1]);
    int code = TH_EXIT_OK;
    for (int i = 0; i < s->time_count && code == TH_EXIT_OK && !th_interrupted(); ++i) {
        while (th_world_time(world) < s->times[i] - 0.5 * step && !th_interrupted()) {
            th_world_step(world, 1);
            note_doors(world, door_closed, scene->door_count);
            if (!th_progress_due(&progress)) continue;
            th_statistics now = th_world_statistics(world);
            th_progress_show(&progress, now.time, now.inside, now.left, now.waiting_to_enter);
        }
        if (th_interrupted()) break;
        snprintf(path, sizeof path, "%s/%s_t%05.1f.png", s->out, stem, s->times[i]);
        th_progress_end(&progress);
        code = draw_now(world, s, &view, path, i == 0);
        if (code == TH_EXIT_OK && !s->quiet) printf("%s\n", path);
    }
    th_progress_end(&progress);
    th_rooms_destroy(rooms);
    free(door_closed);
    return code == TH_EXIT_OK && th_interrupted() ? TH_EXIT_INTERRUPTED : code;
}

static int run_picture(const th_command *command, int argc, char **argv) {
    picture_settings s = {
        .at = "0", .out = "pictures", .colour = "speed", .seed = -1, .width = 1600};
    const th_option options[] = {
        {"at", TH_OPTION_TEXT, &s.at, "T,T,...", "simulated times [s] (default 0)", 0, 0},
        {"out", TH_OPTION_TEXT, &s.out, "DIR", "folder, made when missing (default pictures)", 0,
         0},
        {"colour", TH_OPTION_TEXT, &s.colour, "BY", "speed (default), density or group", 0, 0},
        {"layer", TH_OPTION_LIST, &s.layers, "NAME", "also draw rooms (with their portals)", 0, 0},
        {"width", TH_OPTION_INTEGER, &s.width, "PX", "width of the picture (default 1600)", 320,
         20000},
        {"seed", TH_OPTION_INTEGER, &s.seed, "N", "random seed (default: the scene's)", 1, 9e18},
        {"threads", TH_OPTION_INTEGER, &s.threads, "N", "threads, 0 for as many cores as pay", 0,
         1024},
        {"step", TH_OPTION_REAL, &s.step, "S", "time step [s] (default: the scene's)", 1e-4, 0.5},
        {"set", TH_OPTION_LIST, &s.overrides, "PATH=VALUE",
         "change a value of the scene; repeatable", 0, 0},
        TH_PLUGIN_OPTION(&s.plugins),
        {"quiet", TH_OPTION_FLAG, &s.quiet, NULL, "no progress line and no file names", 0, 0},
    };
    const char *path = NULL;
    th_parse_result parsed = th_args_parse(
        command, options, (int)(sizeof options / sizeof options[0]), argc, argv, &path);
    if (parsed != TH_PARSE_OK) return parsed == TH_PARSE_HELP ? TH_EXIT_OK : TH_EXIT_USAGE;
    if (!read_times(command, &s) || !read_colour(command, &s) || !read_layers(command, &s))
        return TH_EXIT_USAGE;

    th_scene *scene = NULL;
    th_world *world = NULL;
    int code = th_load_plugins(&s.plugins);
    if (code == TH_EXIT_OK) code = th_load_scene(path, &s.overrides, &scene);
    if (code != TH_EXIT_OK) return code;
    code = th_make_world(path, scene, s.seed, (int)s.threads, s.step, TH_BACKEND_CPU, &world);
    th_error error = {0};
    if (code == TH_EXIT_OK && th_make_folders(s.out, &error) != TH_OK) {
        th_report_error(s.out, &error);
        code = TH_EXIT_FAILED;
    }
    if (code == TH_EXIT_OK) {
        th_watch_interrupt();
        code = draw_series(path, world, &s);
    }
    th_world_destroy(world);
    th_scene_destroy(scene);
    return code;
}

const th_command th_command_picture = {
    .name = "picture",
    .operands = "SCENE",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "draw the plan and everybody on it as PNG",
    .detail =
        "Runs the scene and writes DIR/<scene>_t010.0.png at every time asked for: walls, doors,\n"
        "exits, stairs and zones, one panel per level, and everybody as a disc of true size.\n"
        "Colours: speed as a share of the preferred speed, density (people within 1 m), or group.\n"
        "Dark always means trouble: standing still, or dense.",
    .examples = "  throng picture scenes/station.json --at 0,10,30 --out pictures\n"
                "  throng picture scenes/station.json --layer rooms\n"
                "  throng picture scenes/station.json --at 60 --colour density --width 2400\n",
    .run = run_picture,
};
