// Prints what is in a scene file: floors, doors, exits, and which groups walk where by which model.
// cc scene.c $(pkg-config --cflags --libs throng) -o scene && ./scene FILE
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <throng/throng.h>

static void print_group(const th_scene *scene, const th_group *group) {
    const th_model *move = th_models(NULL)[group->move.model];
    printf("group %s on %s: %lld people, %s", group->id, scene->levels[group->level].id,
           (long long)group->count, move->name);
    for (int i = 0; i < move->param_count; ++i)
        printf(" %s=%g", move->params[i].name, (double)group->move.params[i]);
    for (int leg = 0; leg < group->route_count; ++leg) {
        const th_target *target = &scene->targets[group->route[leg]];
        for (int i = 0; i < target->goal_count; ++i)
            printf("%s%s", i ? " or " : ", to ", scene->goals[target->goals[i]].id);
    }
    printf("\n");
}

int main(int argc, char **argv) {
    const char *path = argc > 1 ? argv[1] : "scenes/station.json";
    th_scene *scene = NULL;
    th_error error;
    if (th_scene_load_file(path, NULL, &scene, &error) != TH_OK) {
        fprintf(stderr, "%s: %s\n", path, error.message);
        return 1;
    }
    for (int i = 0; i < scene->level_count; ++i)
        printf("level %s: %.1f m2, %d wall edges\n", scene->levels[i].id,
               scene->levels[i].walkable.area,
               scene->levels[i].wall_end - scene->levels[i].wall_begin);
    for (int i = 0; i < scene->door_count; ++i)
        printf("door %s, %s\n", scene->doors[i].id, scene->doors[i].closed ? "closed" : "open");
    for (int i = 0; i < scene->goal_count; ++i)
        if (scene->goals[i].kind == TH_GOAL_EXIT) printf("exit %s\n", scene->goals[i].id);
    for (int i = 0; i < scene->group_count; ++i) print_group(scene, &scene->groups[i]);
    th_scene_destroy(scene);
    return 0;
}
