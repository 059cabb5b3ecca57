// Prints what is in a scene file: levels, doors, exits, and which group walks where by which model.
// cc scene.c $(pkg-config --cflags --libs throng) -o scene && ./scene FILE
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <throng/throng.h>

static void print_group(const th_scene_view *view, const th_group *group) {
    const th_model *move = th_models(NULL)[group->move.model];
    printf("group %s on %s: %lld people, %s", group->id, view->levels[group->level].id,
           (long long)group->count, move->name);
    for (int i = 0; i < move->param_count; ++i)
        printf(" %s=%g", move->params[i].name, (double)group->move.params[i]);
    for (int leg = 0; leg < group->route_count; ++leg) {
        const th_target *target = &view->targets[group->route[leg]];
        for (int i = 0; i < target->goal_count; ++i)
            printf("%s%s", i ? " or " : ", to ", view->goals[target->goals[i]].id);
    }
    printf("\n");
}

static void print_scene(const th_scene_view *view) {
    for (int i = 0; i < view->level_count; ++i) {
        const th_level *level = &view->levels[i];
        printf("level %s: %.1f m2, %d wall edges\n", level->id, level->walkable.area,
               level->wall_end - level->wall_begin);
    }
    for (int i = 0; i < view->door_count; ++i)
        printf("door %s, %s\n", view->doors[i].id, view->doors[i].closed ? "closed" : "open");
    for (int i = 0; i < view->goal_count; ++i)
        if (view->goals[i].kind == TH_GOAL_EXIT) printf("exit %s\n", view->goals[i].id);
    for (int i = 0; i < view->group_count; ++i) print_group(view, &view->groups[i]);
}

int main(int argc, char **argv) {
    const char *path = argc > 1 ? argv[1] : "scenes/station.json";
    th_scene *scene = NULL;
    th_error error;
    if (th_scene_load_file(path, NULL, &scene, &error) != TH_OK) {
        fprintf(stderr, "%s:%d: %s\n", path, error.line, error.message);
        return 1;
    }
    print_scene(th_scene_view_of(scene));
    th_scene_destroy(scene);
    return 0;
}
