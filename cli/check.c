// throng check: is this scene good, and what is in it. SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"
#include "throng/scene_view.h"
#include <stdio.h>

// What its models are known not to manage. The scene is good all the same.
static void print_doubts(const th_scene *scene) {
    enum { MOST = 8 };
    th_doubt doubts[MOST];
    int count = th_scene_doubts(scene, doubts, MOST);
    for (int k = 0; k < count && k < MOST; ++k) printf("  doubtful: %s\n", doubts[k].text);
    if (count > MOST) printf("  doubtful: %d more\n", count - MOST);
    if (count > 0) printf("  `throng list models` says what other models manage\n");
}

static int run_check(const th_command *command, int argc, char **argv) {
    bool quiet = false;
    th_text_list overrides = {0}, plugins = {0};
    const th_option options[] = {
        {"set", TH_OPTION_LIST, &overrides, "PATH=VALUE", "change a value of the scene; repeatable",
         0, 0},
        TH_PLUGIN_OPTION(&plugins),
        {"quiet", TH_OPTION_FLAG, &quiet, NULL, "say nothing when the scene is good", 0, 0},
    };
    const char *path = NULL;
    th_parse_result parsed = th_args_parse(command, options, 3, argc, argv, &path);
    if (parsed != TH_PARSE_OK) return parsed == TH_PARSE_HELP ? TH_EXIT_OK : TH_EXIT_USAGE;

    th_scene *scene = NULL;
    th_world *world = NULL;
    int code = th_load_plugins(&plugins);
    if (code == TH_EXIT_OK) code = th_load_scene(path, &overrides, &scene);
    if (code != TH_EXIT_OK) return code;
    // Only placing the people tells whether they fit.
    code = th_make_world(path, scene, -1, 1, 0, TH_BACKEND_CPU, &world);
    if (code == TH_EXIT_OK && !quiet) {
        th_statistics now = th_world_statistics(world);
        th_run_def settings = scene->run;
        printf("%s: good: %s, %llu people at the start, ", path, scene->name,
               (unsigned long long)now.inside);
        if (settings.duration > 0)
            printf("runs %g s", settings.duration);
        else
            printf("runs until empty, at most %g s", settings.max_time);
        printf(", step %g s\n", settings.step);
        print_doubts(scene);
    }
    th_world_destroy(world);
    th_scene_destroy(scene);
    return code;
}

const th_command th_command_check = {
    .name = "check",
    .operands = "SCENE",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "tell whether a scene file is good",
    .detail =
        "Reads the scene, compiles it, and places its people. Prints one line and exits 0, or\n"
        "prints `file:line:column: path: what is wrong; what would be right` and exits 2.",
    .examples = "  throng check scenes/station.json\n"
                "  throng check scenes/station.json --set groups.0.count=4000\n",
    .run = run_check,
};
