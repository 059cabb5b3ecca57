// Samples of recordings and of scenes. SPDX-License-Identifier: Apache-2.0
#include "cli/fd_source.h"
#include "cli/terminal.h"
#include "record/wkt.h"
#include "report/folder.h"
#include "throng/scene_view.h"
#include "validate/recorded_run.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_scene(const char *path) {
    size_t length = strlen(path);
    return length > 5 && strcmp(path + length - 5, ".json") == 0;
}

static int take_area(const th_command *command, const th_fundamental_def *def, const char *path,
                     const char *recording, const char *area, bool several, th_fd_list *list) {
    if (list->count == TH_FD_MOST) {
        th_complain(command, "more than %d areas in one diagram", TH_FD_MOST);
        return TH_EXIT_USAGE;
    }
    th_fd_samples *item = &list->items[list->count];
    char stem[96];
    th_file_stem(path, stem, sizeof stem);
    snprintf(item->name, sizeof item->name, several && area[0] ? "%s: %s" : "%s%.0s", stem, area);
    th_error error = {0};
    if (th_fundamental_read(recording, def, &item->samples, &error) != TH_OK)
        return th_report_error(path, &error);
    ++list->count;
    if (item->samples.count == 0)
        th_complain(command, "%s: nobody was ever in the area", item->name);
    return TH_EXIT_OK;
}

static int take_recording(const th_command *command, const th_fd_request *request, const char *path,
                          th_fd_list *list) {
    if (request->area_count == 0) {
        th_complain(command, "%s: say where to measure: --area x0,y0,x1,y1", path);
        return TH_EXIT_USAGE;
    }
    int code = TH_EXIT_OK;
    for (int a = 0; a < request->area_count && code == TH_EXIT_OK; ++a) {
        th_fundamental_def def = request->def;
        def.area = request->areas[a].wkt;
        code = take_area(command, &def, path, path, request->areas[a].name, request->area_count > 1,
                         list);
    }
    return code;
}

// ---- scenes

static int measure_scene(const th_command *command, const th_fd_request *request, const char *path,
                         const th_scene *scene, const char *recording, th_fd_list *list) {
    bool own = request->area_count == 0;
    int count = own ? scene->measure_area_count : request->area_count, code = TH_EXIT_OK;
    for (int a = 0; a < count && code == TH_EXIT_OK; ++a) {
        th_fundamental_def def = request->def;
        char *wkt =
            own ? th_polygons_wkt(&scene->measure_areas[a].area.shape, scene->origin) : NULL;
        if (own) def.level = scene->measure_areas[a].area.level;
        char *ground = th_scene_level_wkt(scene, def.level);
        def.area = own ? wkt : request->areas[a].wkt;
        def.walkable = ground;
        const char *name = own ? scene->measure_areas[a].id : request->areas[a].name;
        if (def.area && ground)
            code = take_area(command, &def, path, recording, name ? name : "", count > 1, list);
        else
            code = TH_EXIT_FAILED;
        free(ground);
        free(wkt);
    }
    return code;
}

static int take_scene(const th_command *command, const th_fd_request *request, const char *path,
                      th_fd_list *list) {
    th_scene *scene = NULL;
    int code = th_load_scene(path, request->overrides, &scene);
    if (code != TH_EXIT_OK) return code;
    if (request->area_count == 0 && scene->measure_area_count == 0) {
        th_complain(command, "%s: has no measure.areas; say where to measure: --area x0,y0,x1,y1",
                    path);
        th_scene_destroy(scene);
        return TH_EXIT_USAGE;
    }
    char recording[TH_RECORD_PATH];
    th_error error = {0};
    th_result done = th_record_folder_make(recording, &error);
    if (done == TH_OK) {
        double end = scene->run.duration > 0 ? scene->run.duration : scene->run.max_time;
        uint64_t seed = request->seed >= 0 ? (uint64_t)request->seed : scene->run.seed;
        done = th_record_run(scene, seed, end, recording, NULL, &error);
        if (done == TH_OK) code = measure_scene(command, request, path, scene, recording, list);
        th_record_folder_remove(recording);
    }
    th_scene_destroy(scene);
    return done == TH_OK ? code : th_report_error(path, &error);
}

int th_fd_take(const th_command *command, const th_fd_request *request, const char *path,
               th_fd_list *list) {
    return is_scene(path) ? take_scene(command, request, path, list)
                          : take_recording(command, request, path, list);
}

void th_fd_release(th_fd_list *list) {
    for (int k = 0; k < list->count; ++k) th_fundamental_release(&list->items[k].samples);
    list->count = 0;
}
