// throng check: checks a scene and prints its contents. SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"
#include "throng/findings.h"
#include "throng/rooms.h"
#include "throng/scene_view.h"
#include <stdio.h>

static void print_findings(const char *path, const th_findings *findings) {
    int count = 0;
    const th_finding *list = th_findings_list(findings, &count);
    for (int k = 0; k < count; ++k)
        printf("%s: %s: %s%s%s\n", path,
               list[k].severity == TH_SEVERITY_CAUTION ? "warning"
                                                       : th_severity_name(list[k].severity),
               list[k].text, *list[k].cure ? " " : "", list[k].cure);
}

// Returns an exit code.
static int tell_findings(const char *path, const th_scene *scene) {
    th_findings *findings = NULL;
    th_error error = {0};
    if (th_scene_findings(scene, &findings, &error) != TH_OK) return th_report_error(path, &error);
    print_findings(path, findings);
    th_findings_destroy(findings);
    return TH_EXIT_OK;
}

static void print_rooms(const th_scene_view *scene) {
    enum { WALLS_MOST = 8000 }; // finding them takes 60 s for 80 000
    if (scene->wall_count > WALLS_MOST) {
        printf("  rooms: not counted, as there are %d walls\n", scene->wall_count);
        return;
    }
    th_rooms *rooms = NULL;
    th_error error;
    if (th_rooms_create(scene->scene, TH_PASSAGE_WIDTH_MAX, &rooms, &error) != TH_OK) {
        printf("  rooms: %s\n", error.message);
        return;
    }
    int kinds[3] = {0};
    for (int p = 0; p < rooms->portal_count; ++p) kinds[rooms->portals[p].kind]++;
    printf("  %d %s, %d %s: %d doors, %d passages, %d stairs\n", rooms->room_count,
           rooms->room_count == 1 ? "room" : "rooms", rooms->portal_count,
           rooms->portal_count == 1 ? "portal" : "portals", kinds[TH_PORTAL_DOOR],
           kinds[TH_PORTAL_PASSAGE], kinds[TH_PORTAL_STAIRS]);
    th_rooms_destroy(rooms);
}

static int run_check(const th_command *command, int argc, char **argv) {
    bool quiet = false, allow_links = false;
    th_text_list overrides = {0}, plugins = {0};
    const th_option options[] = {
        {"set", TH_OPTION_LIST, &overrides, "PATH=VALUE", "change a value of the scene; repeatable",
         0, 0},
        TH_PLUGIN_OPTION(&plugins),
        TH_LINKS_OPTION(&allow_links),
        {"quiet", TH_OPTION_FLAG, &quiet, NULL, "say nothing when the scene is good", 0, 0},
    };
    const char *path = NULL;
    th_parse_result parsed = th_args_parse(command, options, 4, argc, argv, &path);
    if (parsed != TH_PARSE_OK) return parsed == TH_PARSE_HELP ? TH_EXIT_OK : TH_EXIT_USAGE;

    th_scene *scene = NULL;
    th_world *world = NULL;
    int code = th_load_plugins(&plugins);
    if (code == TH_EXIT_OK) code = th_load_scene(path, &overrides, allow_links, &scene);
    if (code != TH_EXIT_OK) return code;
    // Only placing the people tells whether they fit.
    code = th_make_world(path, scene, -1, 1, 0, TH_BACKEND_CPU, &world);
    if (code == TH_EXIT_OK && !quiet) {
        th_statistics now = th_world_statistics(world);
        th_run_settings settings = th_scene_view_of(scene)->run;
        printf("%s: good: %s, %llu people at the start, ", path, th_scene_view_of(scene)->name,
               (unsigned long long)now.inside);
        if (settings.duration > 0)
            printf("runs %g s", settings.duration);
        else
            printf("runs until empty, at most %g s", settings.max_time);
        printf(", step %g s\n", settings.step);
        print_rooms(th_scene_view_of(scene));
        code = tell_findings(path, scene);
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
        "prints `file:line:column: path: what is wrong; what would be right` and exits 2.\n"
        "Says how many rooms the plan has and what joins them (`throng picture --layer rooms`).\n"
        "Warns of gaps that some of the people do not fit through, of doors that close nothing, "
        "of\n"
        "stairs without side walls, and of plans too large for their number of destinations.",
    .examples = "  throng check scenes/station.json\n"
                "  throng check scenes/station.json --set groups.0.count=4000\n",
    .run = run_check,
};
