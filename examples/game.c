// A game's loop: a square full of people, a tram that drives through, a player that walks and pushes, and what a game
// asks between two steps. SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>
#include <throng/ask.h>
#include <throng/live.h>
#include <throng/throng.h>

static const char *const square =
    "{\"levels\": [{\"walkable\": {\"rect\": [0, 0, 60, 40]}}],"
    " \"exits\": [{\"id\": \"north\", \"line\": [[0, 40], [60, 40]]},"
    "            {\"id\": \"south\", \"line\": [[0, 0], [60, 0]]}],"
    " \"groups\": [{\"count\": 150, \"area\": {\"rect\": [5, 2, 55, 16]}, \"to\": \"north\"},"
    "             {\"count\": 150, \"area\": {\"rect\": [5, 24, 55, 38]}, \"to\": \"south\"}],"
    " \"run\": {\"step\": 0.05}}";

int main(void) {
    th_error error;
    th_scene *scene = NULL;
    th_world *world = NULL;
    th_scene_options options = th_scene_options_default();
    th_world_def world_def = th_world_def_default();
    world_def.threads = 1; // the game keeps the other cores
    if (th_scene_load_json(square, strlen(square), "square", NULL, &options, &scene, &error) !=
            TH_OK ||
        th_world_create(scene, &world_def, &world, &error) != TH_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    const th_vec2 outline[] = {{-6, -2}, {6, -2}, {6, 2}, {-6, 2}};
    th_body_def tram = th_body_def_default(), player = th_body_def_default();
    tram.outline = outline;
    tram.outline_count = 4;
    tram.pose = (th_body_pose){.position = {-6, 20}, .velocity = {5, 0}};
    player.radius = 0.3f;
    player.pose.position = (th_vec2){30, 5};
    int tram_body, player_body;
    if (th_world_add_body(world, &tram, &tram_body, &error) != TH_OK ||
        th_world_add_body(world, &player, &player_body, &error) != TH_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    for (int frame = 0; frame < 600; ++frame) {
        // The tram goes on by itself. The player goes where the keys say: north, then along the tram's rails.
        player.pose.velocity = frame < 200 ? (th_vec2){0, 1.5f} : (th_vec2){1.5f, 0};
        player.pose.position = th_world_body(world, player_body).pose.position;
        th_world_move_body(world, player_body, &player.pose, &error);
        th_world_step(world, 1);
        if (frame % 100 != 99) continue;
        th_vec2 at = th_world_body(world, player_body).pose.position;
        th_crowd crowd;
        th_world_crowd_at(world, 0, at, NULL, &crowd);
        printf("%4.1f s: player at (%.1f, %.1f) among %.1f people/m2, tram at %.1f m, %d inside\n",
               th_world_time(world), (double)at.x, (double)at.y, (double)crowd.density,
               (double)th_world_body(world, tram_body).pose.position.x,
               th_world_agent_count(world));
    }
    th_world_destroy(world);
    th_scene_destroy(scene);
    return 0;
}
