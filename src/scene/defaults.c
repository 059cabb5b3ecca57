// The defaults of every definition, once: th_scene_create sees what a program took from here, and the decoder of scene
// files begins with the same values. SPDX-License-Identifier: Apache-2.0
#include "scene/scene.h"
#include <math.h>

th_scene_def th_scene_def_default(void) {
    th_scene_def def = {.cookie = TH_SCENE_COOKIE, .allow_links = true};
    def.run = (th_run_settings){.step = 0.1, .max_time = 3600.0, .seed = 1, .runs = 1};
    def.record = (th_record_settings){.format = "none", .fps = 10.0};
    return def;
}

th_level_def th_level_def_default(void) { return (th_level_def){.cookie = TH_ELEMENT_COOKIE}; }

th_stairs_def th_stairs_def_default(void) {
    return (th_stairs_def){
        .cookie = TH_ELEMENT_COOKIE, .up = 0.5, .down = 0.67}; // RiMEA 4.1.1 tests 2 and 3
}

th_zone_def th_zone_def_default(void) {
    return (th_zone_def){.cookie = TH_ELEMENT_COOKIE, .speed = 1.0};
}

// Black is as bad as a zone of 1, or the ground. People led by a pixel walk nine times quicker along it than against it.
th_picture_def th_picture_def_default(th_picture_kind kind) {
    bool height = kind == TH_PICTURE_HEIGHT;
    return (th_picture_def){.cookie = TH_ELEMENT_COOKIE,
                            .kind = kind,
                            .black = height ? 0.0 : 1.0,
                            .white = height ? 1.0 : 0.0,
                            .strength = 0.8};
}

th_door_def th_door_def_default(void) { return (th_door_def){.cookie = TH_ELEMENT_COOKIE}; }

th_goal_def th_goal_def_default(th_goal_kind kind) {
    return (th_goal_def){.cookie = TH_ELEMENT_COOKIE, .kind = kind};
}

th_group_def th_group_def_default(void) {
    th_group_def group = {.cookie = TH_ELEMENT_COOKIE, .count = -1, .rate_end = HUGE_VAL};
    group.radius.a = 0.2;
    group.speed = (th_distribution){TH_DISTRIBUTION_NORMAL, 1.34, 0.26, 0.5, 2.2}; // Weidmann 1993
    group.mass.a = 80.0;                                                           // Helbing 2000
    group.up = th_stairs_def_default().up;
    group.down = th_stairs_def_default().down;
    return group;
}

th_profile_def th_profile_def_default(void) {
    return (th_profile_def){.cookie = TH_ELEMENT_COOKIE};
}

th_scripted_def th_scripted_def_default(void) {
    return (th_scripted_def){.cookie = TH_ELEMENT_COOKIE,
                             .radius = th_group_def_default().radius.a};
}

th_measure_line_def th_measure_line_def_default(void) {
    return (th_measure_line_def){.cookie = TH_ELEMENT_COOKIE};
}
th_measure_area_def th_measure_area_def_default(void) {
    return (th_measure_area_def){.cookie = TH_ELEMENT_COOKIE};
}

th_scene_options th_scene_options_default(void) { return (th_scene_options){0}; }
