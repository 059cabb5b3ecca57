// throng picture: PNGs of the plan with all people on it, at chosen times.
// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"
#include "core/error.h"
#include "core/statistics.h"
#include "observe/density.h"
#include "report/report.h"

// Sets the doors' state at the start; afterwards events change it.
#include "throng/scene_view.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMES_MAX = 1000, CHOSEN_MAX = 100, INFLUENCES_MAX = 20000 };

typedef struct picture_settings {
    const char *at, *out, *colour;
    long long seed, threads, width;
    double step;
    bool quiet, allow_links;
    th_text_list overrides, plugins;
    double times[TIMES_MAX]; // ascending [s]
    int time_count;
    th_colour_by colour_by;
    th_text_list layers;
    bool show_rooms;
    const char *layer_model; // model whose influences are shown; NULL: none
    const char *people;
    double chosen[CHOSEN_MAX]; // ids
    int chosen_count;
} picture_settings;

static bool read_list(const char *text, double least, double most, double *values, int max,
                      int *count) {
    for (const char *at = text;; ++at) {
        char *end = NULL;
        double value = strtod(at, &end);
        bool good = end != at && (*end == ',' || *end == '\0') && value >= least && value < most;
        if (!good || *count == max) return false;
        values[(*count)++] = value;
        if (*end == '\0') return true;
        at = end;
    }
}

static bool read_times(const th_command *command, picture_settings *s) {
    if (!read_list(s->at, 0, 1e7, s->times, TIMES_MAX, &s->time_count)) {
        th_complain(command, "--at %s: give at most %d times in seconds, like 0,10,30", s->at,
                    TIMES_MAX);
        return false;
    }
    th_sort_values(s->times, s->time_count);
    return true;
}

// After plugins are loaded: their models have layers, too.
static bool read_layers(const th_command *command, picture_settings *s) {
    const char *words[TH_MODEL_MAX + 1] = {"rooms"};
    int word_count = 1, model_count;
    const th_model *const *models = th_models(&model_count);
    for (int m = 0; m < model_count; ++m)
        if (models[m]->influences) words[word_count++] = models[m]->name;
    for (int k = 0; k < s->layers.count; ++k) {
        const char *layer = s->layers.items[k];
        int w = 0;
        while (w < word_count && strcmp(layer, words[w]) != 0) ++w;
        if (w == word_count) {
            const char *nearest = th_suggest(layer, words, word_count);
            th_complain(command,
                        "--layer %s: give rooms, or a model that tells what drives people: "
                        "hidac, orca or social_force%s%s%s",
                        layer, nearest ? "; did you mean " : "", nearest ? nearest : "",
                        nearest ? "?" : "");
            return false;
        }
        if (w == 0)
            s->show_rooms = true;
        else
            s->layer_model = words[w];
    }
    if (s->people &&
        !read_list(s->people, 1, 4294967296.0, s->chosen, CHOSEN_MAX, &s->chosen_count)) {
        th_complain(command, "--people %s: give at most %d numbers of people, like 1,2,3",
                    s->people, CHOSEN_MAX);
        return false;
    }
    return true;
}

// Chooses the agents whose influences are shown when none were named: five, spread evenly over the ids.
static void choose_people(th_world *world, picture_settings *s) {
    const uint32_t *id = th_world_map(world, TH_FIELD_ID, TH_ACCESS_READ);
    int count = th_world_agent_count(world), wanted = count < 5 ? count : 5;
    s->chosen_count = 0;
    for (int k = 0; id && k < wanted; ++k)
        s->chosen[s->chosen_count++] = id[(2 * k + 1) * count / (2 * wanted)];
    if (id) th_world_unmap(world, TH_FIELD_ID);
}

static int level_of(th_world *world, uint32_t serial) {
    const uint32_t *id = th_world_map(world, TH_FIELD_ID, TH_ACCESS_READ);
    const uint32_t *level = th_world_map(world, TH_FIELD_LEVEL, TH_ACCESS_READ);
    int found = -1, count = th_world_agent_count(world);
    for (int i = 0; id && level && i < count && found < 0; ++i)
        if (id[i] == serial) found = (int)level[i];
    if (id) th_world_unmap(world, TH_FIELD_ID);
    if (level) th_world_unmap(world, TH_FIELD_LEVEL);
    return found;
}

// NULL: no memory.
static th_plan_influence *take_influences(th_world *world, picture_settings *s, int *count) {
    enum { OF_ONE = 1000 };
    th_influence *one = malloc(OF_ONE * sizeof *one);
    th_plan_influence *all = malloc(INFLUENCES_MAX * sizeof *all);
    int model_count;
    const th_model *const *models = th_models(&model_count);
    *count = 0;
    if (!s->people) choose_people(world, s);
    for (int k = 0; one && all && k < s->chosen_count; ++k) {
        uint32_t id = (uint32_t)s->chosen[k];
        int level = level_of(world, id);
        for (int m = 0; m < model_count; ++m) { // a behaviour and a move model may share a name
            if (strcmp(models[m]->name, s->layer_model) != 0) continue;
            int told = th_world_influences(world, (th_agent_id){id}, m, one, OF_ONE);
            for (int n = 0; n < told && n < OF_ONE && *count < INFLUENCES_MAX; ++n)
                all[(*count)++] = (th_plan_influence){one[n], level};
        }
    }
    free(one);
    return all;
}

// Agents that lie on the ground, with the bodies that their models tell. NULL: no memory.
static th_plan_influence *take_bodies(th_world *world, const th_moment *crowd, int *count) {
    int model_count, fallen = 0;
    const th_model *const *models = th_models(&model_count);
    *count = 0;
    for (int i = 0; i < crowd->count; ++i) fallen += crowd->phase[i] == TH_PHASE_FALLEN;
    th_plan_influence *all = malloc(((size_t)fallen + 1) * sizeof *all);
    for (int i = 0; all && i < crowd->count; ++i) {
        if (crowd->phase[i] != TH_PHASE_FALLEN) continue;
        th_influence body;
        const th_agent_id id = {(uint32_t)crowd->id[i]};
        for (int m = 0; m < model_count; ++m)
            if (models[m]->influences && *count < fallen &&
                th_world_influences(world, id, m, &body, 1) > 0 &&
                body.kind == TH_INFLUENCE_RECTANGLE)
                all[(*count)++] = (th_plan_influence){body, th_moment_level(crowd, i)};
    }
    return all;
}

// Directions of agents that watch a place of interest. NULL: no memory.
static th_vec2 *take_watched(th_world *world) {
    const th_scene_view *scene = th_scene_view_of(th_world_scene(world));
    int count = th_world_agent_count(world);
    th_vec2 *watched = calloc((size_t)count + 1, sizeof *watched);
    const uint32_t *phase = th_world_map(world, TH_FIELD_PHASE, TH_ACCESS_READ);
    const uint32_t *group = th_world_map(world, TH_FIELD_GROUP, TH_ACCESS_READ);
    const uint32_t *leg = th_world_map(world, TH_FIELD_LEG, TH_ACCESS_READ);
    const float *x = th_world_map(world, TH_FIELD_POSITION_X, TH_ACCESS_READ);
    const float *y = th_world_map(world, TH_FIELD_POSITION_Y, TH_ACCESS_READ);
    bool good = watched && phase && group && leg && x && y;
    for (int i = 0; good && i < count; ++i)
        if (phase[i] == TH_PHASE_WAITING && group[i] < (uint32_t)scene->group_count)
            watched[i] =
                th_watched_from(scene, &scene->groups[group[i]], leg[i], (th_vec2){x[i], y[i]});
    if (good) return watched;
    free(watched);
    return NULL;
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

static int draw_now(th_world *world, picture_settings *s, th_plan_view *view, const char *path,
                    bool first) {
    th_world_moment crowd = {0};
    th_error error = {0};
    float *density = NULL;
    uint8_t *moods = NULL;
    th_vec2 *watched = take_watched(world);
    th_plan_influence *influences = NULL, *bodies = NULL;
    bool good = watched && th_world_moment_take(&crowd, world, TH_DRAWN);
    if (good) {
        bodies = take_bodies(world, &crowd.moment, &view->body_count);
        good = bodies != NULL;
    }
    if (good && s->layer_model) {
        influences = take_influences(world, s, &view->influence_count);
        good = influences != NULL;
    }
    if (good && s->colour_by == TH_BY_DENSITY) {
        density = th_people_density(view->scene, &crowd.moment);
        good = density != NULL;
    }
    if (good && s->colour_by == TH_BY_MOOD) {
        moods = malloc((size_t)th_world_agent_count(world) + 1);
        if (moods) th_world_moods(world, moods);
        good = moods != NULL;
    }
    if (good) {
        // One frame for the whole series, so that pictures can be put over each other.
        if (first) view->box = th_plan_box(view->scene, &crowd.moment);
        view->crowd = &crowd.moment;
        view->density = density;
        view->moods = moods;
        view->watched = watched;
        view->influences = influences;
        view->bodies = bodies;
        view->time = th_world_time(world);
        view->left = th_world_statistics(world).left;
        good = th_plan_draw(view, path, &error) == TH_OK;
    }
    view->crowd = NULL;
    view->density = NULL;
    view->moods = NULL;
    view->watched = NULL;
    view->influences = NULL;
    view->influence_count = view->body_count = 0;
    view->bodies = NULL;
    free(density);
    free(moods);
    free(watched);
    free(influences);
    free(bodies);
    th_world_moment_release(&crowd);
    if (good) return TH_EXIT_OK;
    if (error.code == TH_OK)
        th_fail(&error, TH_NO_MEMORY, "", "no memory for the picture; give a smaller --width");
    return th_report_failure(path, &error);
}

// Of the scene's own file, with what --set changed.
static int read_underlays(const char *scene_path, const th_scene_view *scene,
                          const picture_settings *s, th_plan_underlay **list) {
    char folder[4000] = ".", *json = NULL;
    const char *slash = strrchr(scene_path, '/');
    th_error error = {0};
    const th_scene_options options = {.overrides = s->overrides.items,
                                      .override_count = s->overrides.count};
    *list = NULL;
    if (slash) snprintf(folder, sizeof folder, "%.*s", (int)(slash + 1 - scene_path), scene_path);
    if (th_scene_overridden_json(scene_path, &options, &json, &error) != TH_OK) return 0;
    int count = th_underlays_read(scene, json, folder, s->allow_links, list, &error);
    if (error.code != TH_OK) fprintf(stderr, "%s: %s\n", error.path, error.message);
    th_free(json);
    return count;
}

static int draw_series(const char *scene_path, th_world *world, picture_settings *s) {
    const th_scene_view *scene = th_scene_view_of(th_world_scene(world));
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
    if (s->show_rooms &&
        th_rooms_create(scene->scene, TH_PASSAGE_WIDTH_MAX, &rooms, &error) != TH_OK) {
        th_report_error(scene_path, &error);
        free(door_closed);
        return TH_EXIT_FAILED;
    }
    view.rooms = rooms;
    th_plan_underlay *underlays;
    view.underlay_count = read_underlays(scene_path, scene, s, &underlays);
    view.underlays = underlays;
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
    th_underlays_free(underlays, view.underlay_count);
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
        {"colour", TH_OPTION_TEXT, &s.colour, "BY", "speed (default), density, group or mood", 0,
         0},
        {"layer", TH_OPTION_LIST, &s.layers, "NAME",
         "also draw rooms, or what drives people in that model", 0, 0},
        {"people", TH_OPTION_TEXT, &s.people, "N,N,...",
         "whom such a layer shows (default: five of them)", 0, 0},
        {"width", TH_OPTION_INTEGER, &s.width, "PX", "width of the picture (default 1600)", 320,
         20000},
        {"seed", TH_OPTION_INTEGER, &s.seed, "N", "random seed (default: the scene's)", 1, 9e18},
        {"threads", TH_OPTION_INTEGER, &s.threads, "N", "threads, 0 for as many cores as pay", 0,
         1024},
        {"step", TH_OPTION_REAL, &s.step, "S", "time step [s] (default: the scene's)", 1e-4, 0.5},
        {"set", TH_OPTION_LIST, &s.overrides, "PATH=VALUE",
         "change a value of the scene; repeatable", 0, 0},
        TH_PLUGIN_OPTION(&s.plugins),
        TH_LINKS_OPTION(&s.allow_links),
        {"quiet", TH_OPTION_FLAG, &s.quiet, NULL, "no progress line and no file names", 0, 0},
    };
    const char *path = NULL;
    th_parse_result parsed = th_args_parse(
        command, options, (int)(sizeof options / sizeof options[0]), argc, argv, &path);
    if (parsed != TH_PARSE_OK) return parsed == TH_PARSE_HELP ? TH_EXIT_OK : TH_EXIT_USAGE;
    if (!read_times(command, &s) || !th_read_colour(command, s.colour, true, &s.colour_by))
        return TH_EXIT_USAGE;

    th_scene *scene = NULL;
    th_world *world = NULL;
    int code = th_load_plugins(&s.plugins);
    if (code == TH_EXIT_OK && !read_layers(command, &s)) return TH_EXIT_USAGE;
    if (code == TH_EXIT_OK) code = th_load_scene(path, &s.overrides, s.allow_links, &scene);
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
    .summary = "draw the plan and all people on it as PNG",
    .detail =
        "Runs the scene and writes DIR/<scene>_t010.0.png at every time asked for: walls, doors,\n"
        "exits, stairs and zones, one panel per level, and people as discs of true size.\n"
        "Colours: speed as a share of the preferred speed, density (people per m2 around them), or "
        "group.\n"
        "Dark always means trouble: standing still, or dense. --layer MODEL shows what drives\n"
        "chosen people: forces, directions, half-planes of velocities, what they look at.",
    .examples = "  throng picture scenes/station.json --at 0,10,30 --out pictures\n"
                "  throng picture scenes/station.json --layer rooms\n"
                "  throng picture scenes/door.json --set groups[0].move=hidac --layer hidac\n"
                "  throng picture scenes/station.json --at 60 --colour density --width 2400\n",
    .run = run_picture,
};
