// Records a crowd leaving a room, then reads the file back and says how far people walked.
// cc record.c $(pkg-config --cflags --libs throng-record) -lm
// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <throng/record.h>
#include <throng/throng.h>
#include <unistd.h>

static const char scene_json[] = "{\"levels\": [{\"walkable\": {\"rect\": [0, 0, 20, 12]}}],"
                                 " \"exits\": [{\"id\": \"door\", \"line\": [[20, 5], [20, 7]]}],"
                                 " \"groups\": [{\"count\": 100, \"to\": \"door\"}]}";

static int fail(const th_error *error) {
    fprintf(stderr, "%s: %s\n", error->file, error->message);
    return 1;
}

static int record(th_world *world, const char *path) {
    th_error error = {0};
    th_recorder *recorder = NULL;
    th_recorder_def def = th_recorder_def_default();
    def.path = path;
    if (th_recorder_create(world, &def, &recorder, &error) != TH_OK) return fail(&error);
    th_result result = th_recorder_see(recorder, world, &error); // frame 0: before the first step
    while (result == TH_OK && !th_world_done(world)) {
        th_world_step(world, 1);
        result = th_recorder_see(recorder, world, &error);
    }
    th_recorder_totals totals;
    if (th_recorder_close(recorder, &totals, &error) != TH_OK) return fail(&error);
    printf("%llu frames, %llu rows, %llu bytes\n", (unsigned long long)totals.frames,
           (unsigned long long)totals.rows, (unsigned long long)totals.bytes);
    return 0;
}

// Adds up the way of every agent, frame by frame.
static int read_back(const char *path) {
    enum { AGENT_MAX = 100 }; // as many as the scene has; ids start at 1
    double last_x[AGENT_MAX + 1], last_y[AGENT_MAX + 1], walked = 0;
    int seen[AGENT_MAX + 1] = {0};
    th_error error = {0};
    th_trajectory *trajectory = NULL;
    if (th_trajectory_open(path, &trajectory, &error) != TH_OK) return fail(&error);
    th_moment frame = {0};
    th_result result;
    while ((result = th_trajectory_next(trajectory, &frame, &error)) == TH_OK && frame.count >= 0)
        for (int i = 0; i < frame.count; ++i) {
            int64_t id = frame.id[i];
            if (id < 0 || id > AGENT_MAX) continue;
            if (seen[id]) walked += hypot(frame.x[i] - last_x[id], frame.y[i] - last_y[id]);
            seen[id] = 1;
            last_x[id] = frame.x[i];
            last_y[id] = frame.y[i];
        }
    long long people = (long long)th_trajectory_about(trajectory)->agent_count;
    printf("%lld people walked %.1f m on average\n", people, walked / (double)people);
    th_trajectory_close(trajectory);
    return result == TH_OK ? 0 : fail(&error);
}

int main(void) {
    th_error error = {0};
    th_scene *scene = NULL;
    th_world *world = NULL;
    th_world_def def = th_world_def_default();
    if (th_scene_load_json(scene_json, sizeof scene_json - 1, "example", NULL, NULL, &scene,
                           &error) != TH_OK ||
        th_world_create(scene, &def, &world, &error) != TH_OK)
        return fail(&error);
    char path[64];
    snprintf(path, sizeof path, "/tmp/throng-example-%ld.sqlite", (long)getpid());
    int code = record(world, path);
    if (code == 0) code = read_back(path);
    remove(path);
    th_world_destroy(world);
    th_scene_destroy(scene);
    return code;
}
