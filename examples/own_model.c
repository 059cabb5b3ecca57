// A model of your own, after Tordeux, Chraibi, Seyfried, "Collision-free speed model for pedestrian
// dynamics", 2016: turn away from an agent that is near, walk as fast as the gap ahead allows. docs/own-model.md
// explains it and makes a plugin of this file. SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdio.h>
#include <throng/throng.h>

enum { TIME_GAP, STRENGTH, RANGE };
static const th_param_info params[] = {
    {"time_gap", "s", 0.1, 5, 1, "Tordeux 2016", "gap to the person ahead, divided by the speed"},
    {"strength", "-", 0, 20, 3, "Tordeux 2016", "how strongly people turn away from others"},
    {"range", "m", 0.01, 1, 0.1, "Tordeux 2016", "how fast that fades with the distance"}};
static const th_field_info fields[] = {
    {"held_up", true, true, "time lost to others so far [s]", "time lost to others"}};

static void turn_away(const th_agent *me, th_vec2 from, float gap, th_vec2 *to) {
    float dx = me->position.x - from.x, dy = me->position.y - from.y;
    float push = me->params[STRENGTH] * expf(-gap / me->params[RANGE]) / (hypotf(dx, dy) + 1e-6f);
    *to = (th_vec2){to->x + push * dx, to->y + push * dy};
}

static th_vec2 velocity(const th_agent *me) {
    float wanted = hypotf(me->preferred.x, me->preferred.y), speed = wanted;
    const th_near_agent *end = me->neighbours + me->neighbour_count;
    th_vec2 to = me->direction;
    for (const th_near_agent *n = me->neighbours; n < end; ++n)
        turn_away(me, n->position, n->distance - me->radius - n->radius, &to);
    for (int w = 0; w < me->wall_count; ++w)
        turn_away(me, me->walls[w].nearest, me->walls[w].distance - me->radius, &to);
    float length = hypotf(to.x, to.y) + 1e-6f, x = to.x / length, y = to.y / length;
    for (const th_near_agent *n = me->neighbours; n < end; ++n) { // is it in the way?
        float dx = n->position.x - me->position.x, dy = n->position.y - me->position.y;
        float size = me->radius + n->radius, gap = fmaxf(n->distance - size, 0);
        if (x * dx + y * dy > 0 && fabsf(x * dy - y * dx) < size)
            speed = fminf(speed, gap / me->params[TIME_GAP]);
    }
    if (wanted > 0) me->own[0].real += (1 - speed / wanted) * me->step;
    return (th_vec2){speed * x, speed * y};
}

TH_PLUGIN { // clang-format off
    static const th_model model = {
        .cookie = TH_MODEL_COOKIE, .stage = TH_STAGE_MOVE, .name = "keep_gap",
        .doc = "keeps a time gap to those ahead", .source = "Tordeux, Chraibi, Seyfried 2016",
        .params = params, .param_count = 3, .fields = fields, .field_count = 1, .agent = velocity,
        .sight = {.neighbours = 12, .neighbour_range = 3, .walls = 4, .wall_range = 1}};
    return th_model_register(&model, error);
} // clang-format on

int main(void) {
    const char *choice = "groups.0.move=keep_gap";
    th_scene_options options = th_scene_options_default();
    options.overrides = &choice;
    options.override_count = 1;
    th_world_def def = th_world_def_default();
    th_scene *scene = NULL;
    th_world *world = NULL;
    th_error error;
    if (th_plugin(&error) != TH_OK ||
        th_scene_load_file("scenes/door.json", &options, &scene, &error) != TH_OK ||
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
