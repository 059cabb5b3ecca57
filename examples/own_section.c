// A model with scene data of its own: moving walkways. A walkway is a band along a line that carries the agents on it
// onwards with its speed. The section "walkways" of the scene file is declared here and nowhere else: the loader, plans,
// `throng list` and the schema know it from this file. docs/own-model.md explains it. SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <throng/throng.h>

typedef struct walkway {
    th_item item; // id and level
    th_polyline line;
    float width, speed; // [m] [m/s]
} walkway;

static const th_key_info keys[] = {
    {.name = "line",
     .kind = TH_KEY_LINE,
     .offset = offsetof(walkway, line),
     .required = true,
     .doc = "Its middle, from where it begins to where it ends."},
    {.name = "width",
     .kind = TH_KEY_NUMBER,
     .offset = offsetof(walkway, width),
     .unit = "m",
     .min = 0.5,
     .max = 10,
     .value = 1,
     .doc = "Of the walkway [m], default 1."},
    {.name = "speed",
     .kind = TH_KEY_NUMBER,
     .offset = offsetof(walkway, speed),
     .unit = "m/s",
     .min = 0.1,
     .max = 3,
     .value = 0.65,
     .doc = "Of the belt [m/s], default 0.65."},
};
static const th_section_info section = {.name = "walkways",
                                        .item = "walkway",
                                        .doc = "Moving walkways, for the filter \"walkway\".",
                                        .item_size = sizeof(walkway),
                                        .keys = keys,
                                        .key_count = 3,
                                        .width_key = "width"};

// The direction of the belt at p; 0: p is beside it.
static th_vec2 belt(const walkway *w, th_vec2 p) {
    for (int k = 0; k + 1 < w->line.count; ++k) {
        th_vec2 a = w->line.points[k], b = w->line.points[k + 1];
        float dx = b.x - a.x, dy = b.y - a.y, length = hypotf(dx, dy);
        float along = ((p.x - a.x) * dx + (p.y - a.y) * dy) / length;
        float aside = ((p.y - a.y) * dx - (p.x - a.x) * dy) / length;
        if (along >= 0 && along <= length && fabsf(aside) <= 0.5f * w->width)
            return (th_vec2){dx / length, dy / length};
    }
    return (th_vec2){0, 0};
}

static th_vec2 carried(const th_agent *me) {
    int count;
    const walkway *walkways = th_scene_items(th_world_scene(me->world), "walkways", &count);
    th_vec2 wanted = me->preferred;
    for (int k = 0; k < count; ++k) {
        if (walkways[k].item.level != me->level) continue;
        th_vec2 on = belt(&walkways[k], me->position);
        wanted.x += walkways[k].speed * on.x;
        wanted.y += walkways[k].speed * on.y;
    }
    return wanted;
}

TH_PLUGIN { // clang-format off
    static const th_model model = {
        .cookie = TH_MODEL_COOKIE, .stage = TH_STAGE_FILTER, .name = "walkway",
        .doc = "moving walkways carry people", .source = "throng, an example",
        .sections = &section, .section_count = 1, .agent = carried};
    return th_model_register(&model, error);
} // clang-format on

static const char hall[] =
    "{\"levels\": [{\"walkable\": {\"rect\": [0, 0, 40, 6]}}],"
    " \"exits\": [{\"id\": \"gate\", \"line\": [[40, 1], [40, 5]]}],"
    " \"walkways\": [{\"id\": \"belt\", \"line\": [[5, 3], [35, 3]], \"width\": 3}],"
    " \"groups\": [{\"count\": 20, \"area\": {\"rect\": [0.5, 1, 4, 5]}, \"to\": \"gate\","
    " \"filter\": \"walkway\"}]}";

int main(void) {
    th_world_def def = th_world_def_default();
    th_scene *scene = NULL;
    th_world *world = NULL;
    th_error error;
    if (th_plugin(&error) != TH_OK ||
        th_scene_load_json(hall, strlen(hall), "hall", NULL, NULL, &scene, &error) != TH_OK ||
        th_world_create(scene, &def, &world, &error) != TH_OK) {
        fprintf(stderr, "%s\n", error.message);
        th_scene_destroy(scene);
        return 1;
    }
    while (!th_world_done(world)) th_world_step(world, 1);
    printf("the last of them left after %.1f s\n", th_world_statistics(world).last_left_time);
    th_world_destroy(world);
    th_scene_destroy(scene);
    return 0;
}
