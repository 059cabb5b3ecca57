// Places of interest: their layers, outlines and times, and which of them a group may be drawn to.
// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "scene/compile.h"
#include <math.h>
#include <string.h>

// A detour has a distance field of its own, and an outline is looked at by everybody near it.
enum { PLACE_LIMIT = 255, POINT_LIMIT = 2000 };

static int find_layer(const th_scene *scene, const char *name) {
    for (int i = 0; i < scene->layer_count; ++i)
        if (strcmp(scene->layers[i], name) == 0) return i;
    return -1;
}

static int layer_of(th_compiler *c, const char *name) {
    int found = find_layer(c->scene, name);
    if (found >= 0) return found;
    if (!name[0] || strlen(name) > 100) th_bad(c, "the name of a layer has 1 to 100 characters");
    const char *copy = th_copy_string(c, name);
    if (!copy) return 0;
    if (!c->list.layers)
        c->scene->layers = c->list.layers = th_take(c, PLACE_LIMIT, sizeof *c->list.layers);
    if (!c->list.layers) return 0;
    c->list.layers[c->scene->layer_count] = copy;
    return c->scene->layer_count++;
}

void th_gather_interest(th_compiler *c, int index, int place) {
    const th_goal_def *def = &c->def->goals[index];
    th_goal *goal = &c->list.goals[index];
    th_at(c, "interests");
    if (place >= PLACE_LIMIT) {
        th_bad(c, "more than %d places of interest; those alike can share an area", PLACE_LIMIT);
        return;
    }
    th_at(c, "interests[%d].layer", place);
    goal->layer = layer_of(c, def->layer ? def->layer : "other");
    th_at(c, "interests[%d].strength", place);
    th_check_above(c, "strength", def->strength, 0.0, 10.0, "");
    goal->strength = (float)def->strength;
    th_at(c, "interests[%d].from", place);
    th_check_range(c, "from", def->from, 0.0, 1e7, "s");
    goal->from = (float)def->from;
    th_at(c, "interests[%d].until", place);
    if (def->until != 0.0 && !(def->until > def->from))
        th_bad(c, "until (%g s) does not come after from (%g s)", def->until, def->from);
    goal->until = def->until != 0.0 ? (float)def->until : INFINITY;
    th_at(c, "interests[%d].area", place);
    if (def->has_line || th_shape_empty(&def->area))
        th_bad(c, "a place of interest needs an \"area\": the outline of a building or of ground");
}

// ---- outlines

static double twice_area(const th_vec2 *points, int begin, int end) {
    double sum = 0.0;
    for (int i = begin, j = end - 1; i < end; j = i++)
        sum +=
            (double)points[j].x * (double)points[i].y - (double)points[i].x * (double)points[j].y;
    return sum;
}

// Outer rings run counter-clockwise and holes clockwise, so that integrals along all of them are of the area.
static void orient(const th_polygons *shape, th_vec2 *points) {
    for (int r = 0; r < shape->ring_count; ++r) {
        int begin = shape->ring_start[r], end = shape->ring_start[r + 1], around = 0;
        for (int s = 0; s < shape->ring_count; ++s) {
            bool inside = false;
            for (int i = shape->ring_start[s], j = shape->ring_start[s + 1] - 1;
                 s != r && i < shape->ring_start[s + 1]; j = i++)
                inside ^= th_ray_crosses(points[j], points[i], points[begin]);
            around += inside;
        }
        if ((twice_area(points, begin, end) > 0.0) == (around % 2 == 0)) continue;
        for (int i = begin, j = end - 1; i < j; ++i, --j) {
            th_vec2 swap = points[i];
            points[i] = points[j];
            points[j] = swap;
        }
    }
}

void th_compile_interest(th_compiler *c, int index, int place) {
    const th_goal_def *def = &c->def->goals[index];
    th_goal *goal = &c->list.goals[index];
    th_polygons *shape = &goal->area.shape;
    if (c->result != TH_OK) return;
    th_at(c, "interests[%d].area", place);
    if (shape->ring_count == 0) {
        th_bad(c, "the area is empty");
        return;
    }
    int points = shape->ring_start[shape->ring_count];
    if (points > POINT_LIMIT) {
        th_bad(c, "the outline has %d points, at most are %d; draw it coarser", points,
               POINT_LIMIT);
        return;
    }
    th_vec2 *turned = th_take(c, (size_t)points, sizeof *turned);
    if (!turned) return;
    memcpy(turned, shape->points, (size_t)points * sizeof *turned);
    orient(shape, turned);
    shape->points = turned;
    const GEOSGeometry *ground = c->walkable[goal->area.level];
    double away = 0.0;
    const double reach = 0.5; // [m] a building stands on the edge of the ground, or in it
    if (ground &&
        GEOSDistance_r(c->geometry.geos, th_shape_geometry(c, &def->area), ground, &away) &&
        away > reach)
        th_bad(c,
               "\"%.60s\" lies outside the level \"%.60s\", %.1f m from its ground; move it onto "
               "the ground "
               "or to the ground's edge",
               goal->id, c->scene->levels[goal->area.level].id, away);
}

// ---- groups

static void set_weights(th_compiler *c, int i, float *weights) {
    const th_group_def *def = &c->def->groups[i];
    for (int k = 0; k < c->scene->layer_count; ++k) weights[k] = def->interested_in ? 0.0f : 1.0f;
    for (int k = 0; k < def->interested_in_count && c->result == TH_OK; ++k) {
        const th_layer_weight *given = &def->interested_in[k];
        th_at(c, "groups[%d].interested_in", i);
        int layer = given->layer ? find_layer(c->scene, given->layer) : -1;
        if (layer < 0) {
            const char *name = given->layer ? given->layer : "";
            const char *near = th_nearest_word(name, c->scene->layers, c->scene->layer_count);
            th_bad(
                c,
                near
                    ? "no place of \"interests\" is of the layer \"%.60s\"; did you mean \"%.60s\"?"
                    : "no place of \"interests\" is of the layer \"%.60s\"; layers are the names "
                      "under \"layer\" there%.0s",
                name, near ? near : "");
            return;
        }
        th_check_range(c, "the weight of a layer", given->weight, 0.0, 10.0, "");
        weights[layer] = (float)given->weight;
    }
}

// A target for every place that the group cares for, after those of the route.
void th_compile_detours(th_compiler *c, int i, int *route) {
    th_scene *scene = c->scene;
    th_group *group = &c->list.groups[i];
    float *weights = th_take(c, (size_t)scene->layer_count, sizeof *weights);
    if (!weights) return;
    set_weights(c, i, weights);
    group->interest = weights;
    bool drawn = (group->decides & TH_DECIDES_DETOUR) != 0;
    th_at(c, "groups[%d].interested_in", i);
    if (c->def->groups[i].interested_in_count > 0 && !drawn)
        th_bad(c,
               "the behaviour \"%s\" goes past places of interest; add \"interest\" to \"behave\"",
               th_models(NULL)[group->behave[0].model]->name);
    for (int g = 0; drawn && g < scene->goal_count && c->result == TH_OK; ++g) {
        if (scene->goals[g].kind != TH_GOAL_INTEREST || weights[scene->goals[g].layer] == 0.0f)
            continue;
        int *goals = th_take(c, 1, sizeof *goals);
        if (!goals) return;
        goals[0] = g;
        route[group->route_count + group->detour_count++] = th_target_of(c, goals, 1);
    }
}

int th_group_target(const th_group *group, uint32_t leg) { return th_leg_target(group, leg); }
