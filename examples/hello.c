// The smallest program: a room, a door, fifty people. No files, no window.
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <throng/throng.h>

int main(void) {
    const th_point room[] = {{0, 0}, {10, 0}, {10, 8}, {0, 8}};
    const th_point start[] = {{0.5, 0.5}, {6, 0.5}, {6, 7.5}, {0.5, 7.5}};
    const th_shape walkable = {.points = room, .point_count = 4};
    th_level_def level = th_level_def_default();
    level.walkable = &walkable;
    level.walkable_count = 1;

    th_goal_def door = th_goal_def_default(TH_GOAL_EXIT); // a line on the wall opens it
    door.id = "door";
    door.has_line = true;
    door.line[0] = (th_point){10, 3.5};
    door.line[1] = (th_point){10, 4.5};
    const char *goals[] = {"door"};
    const th_route_step route = {.goals = goals, .goal_count = 1};

    th_group_def people = th_group_def_default();
    people.id = "people";
    people.area = (th_shape){.points = start, .point_count = 4};
    people.count = 50;
    people.route = &route;
    people.route_count = 1;

    th_scene_def def = th_scene_def_default();
    def.name = "hello";
    def.levels = &level;
    def.level_count = 1;
    def.goals = &door;
    def.goal_count = 1;
    def.groups = &people;
    def.group_count = 1;

    th_error error;
    th_scene *scene = NULL;
    th_world *world = NULL;
    th_world_def world_def = th_world_def_default();
    if (th_scene_create(&def, &scene, &error) != TH_OK ||
        th_world_create(scene, &world_def, &world, &error) != TH_OK) {
        fprintf(stderr, "%s: %s\n", error.path, error.message);
        th_scene_destroy(scene);
        return 1;
    }
    while (!th_world_done(world)) {
        th_world_step(world, 50);
        const float *x = th_world_map(world, TH_FIELD_POSITION_X, TH_ACCESS_READ);
        int count = th_world_agent_count(world);
        printf("%5.1f s: %2d inside, the first of them at x = %.2f m\n", th_world_time(world),
               count, count ? (double)x[0] : 0.0);
        th_world_unmap(world, TH_FIELD_POSITION_X);
    }
    printf("all out after %.1f s\n", th_world_statistics(world).last_left_time);
    th_world_destroy(world);
    th_scene_destroy(scene);
    return 0;
}
