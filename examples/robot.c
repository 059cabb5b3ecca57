// A robot among people: it looks along a ray and around itself, asks for a way, drives on slowly where people are near, and the
// people step aside. The corridor's door shuts half-way, and the fields follow without a long step.
// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <throng/ask.h>
#include <throng/live.h>
#include <throng/throng.h>

static const char *const clinic =
    "{\"levels\": [{\"walkable\": {\"rect\": [0, 0, 30, 12]},"
    "  \"walls\": [[[0, 6], [6, 6]], [[8, 6], [22, 6]], [[24, 6], [30, 6]]]}],"
    " \"doors\": [{\"id\": \"ward\", \"line\": [[22, 6], [24, 6]]}],"
    " \"exits\": [{\"id\": \"west\", \"line\": [[0, 1], [0, 5]]},"
    "            {\"id\": \"east\", \"line\": [[30, 1], [30, 5]]}],"
    " \"groups\": [{\"count\": 25, \"area\": {\"rect\": [2, 1, 14, 5]}, \"to\": \"east\"},"
    "             {\"count\": 25, \"area\": {\"rect\": [16, 1, 28, 5]}, \"to\": \"west\"}],"
    " \"run\": {\"step\": 0.05}}";

enum { CORNERS = 32 };
static const float RADIUS = 0.35f, SPEED = 1.2f;

int main(void) {
    th_error error;
    th_scene *scene = NULL;
    th_world *world = NULL;
    th_scene_options options = th_scene_options_default();
    th_world_def world_def = th_world_def_default();
    world_def.replan = 1.0; // no long step when the door shuts
    if (th_scene_load_json(clinic, strlen(clinic), "clinic", NULL, &options, &scene, &error) !=
            TH_OK ||
        th_world_create(scene, &world_def, &world, &error) != TH_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    th_body_def def = th_body_def_default();
    def.radius = RADIUS;
    def.pose.position = (th_vec2){1, 3};
    const th_way_point goal = {{29, 11}, 0};
    int robot;
    if (th_world_add_body(world, &def, &robot, &error) != TH_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    float left = INFINITY;
    for (int frame = 0; frame < 1200 && left > 0.1f; ++frame) {
        th_body_pose pose = th_world_body(world, robot).pose;
        th_way_point corners[CORNERS];
        int count = th_world_path(world, (th_way_point){pose.position, 0}, goal, RADIUS, corners,
                                  CORNERS, &left);
        if (frame == 200) th_world_set_door(world, "ward", false, &error);
        // Walks to the next corner, slower where people are in front or close by.
        float dx = count ? corners[0].point.x - pose.position.x : 0;
        float dy = count ? corners[0].point.y - pose.position.y : 0, far = hypotf(dx, dy);
        float speed = far > 0 ? fminf(SPEED, far / 0.05f) : 0;
        if (far > 0) {
            th_vec2 ahead = {pose.position.x + 2 * dx / far, pose.position.y + 2 * dy / far};
            th_hit hit =
                th_world_ray(world, 0, pose.position, ahead, TH_RAY_AGENTS, (th_agent_id){0});
            if (hit.kind == TH_HIT_AGENT) speed *= 0.3f;
            pose.velocity = (th_vec2){speed * dx / far, speed * dy / far};
        }
        th_world_move_body(world, robot, &pose, &error);
        th_world_step(world, 1);
        if (frame % 200 != 0) continue;
        th_seen seen[4];
        int near = th_world_nearest(world, 0, pose.position, 3, seen, 4);
        printf("%4.1f s: robot at (%.1f, %.1f), %.1f m to go, %d people within 3 m\n",
               th_world_time(world), (double)pose.position.x, (double)pose.position.y, (double)left,
               near);
    }
    printf("%.1f s: %s\n", th_world_time(world), left <= 0.1f ? "there" : "not there");
    th_world_destroy(world);
    th_scene_destroy(scene);
    return left <= 0.1f ? 0 : 1;
}
