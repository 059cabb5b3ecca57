// Strokes of guidance, and whom the discomfort of zones is for. SPDX-License-Identifier: Apache-2.0
#include "formula/segment.h"
#include "scene/compile.h"
#include "scene/scene.h"
#include <math.h>

// Work of spreading strokes over the ground: every piece of a line is laid over the nodes within its radius.
enum { STROKE_LIMIT = 1000, POINT_LIMIT = 10000 };
#define AREA_LIMIT 1e7 // [m2] of the boxes around all pieces and their radius

static const char *stroke_id(const th_scene *scene, int i) { return scene->guidance[i].id; }

static double area_of(const th_stroke_def *def) {
    double area = 0.0, around = 2.0 * fmax(def->radius, 0.0);
    for (int k = 0; k + 1 < def->point_count; ++k)
        area += (fabs(def->line[k + 1].x - def->line[k].x) + around) *
                (fabs(def->line[k + 1].y - def->line[k].y) + around);
    return area;
}

void th_gather_points(th_compiler *c, const char *what, const th_point *points, int count,
                      int level) {
    if (count < 2) th_bad(c, "a %s needs a \"line\" of at least two points [[x, y], ...]", what);
    for (int k = 0; k < count && c->result == TH_OK; ++k) th_gather_point(c, points[k], level);
}

static void gather_stroke(th_compiler *c, int i) {
    const th_stroke_def *def = &c->def->guidance[i];
    th_stroke *stroke = &c->list.guidance[i];
    th_at(c, "guidance[%d].id", i);
    stroke->id = th_unique_id(c, def->id, "stroke", i, stroke_id, i);
    th_at(c, "guidance[%d].level", i);
    stroke->level = th_level_index(c, def->level);
    th_at(c, "guidance[%d].radius", i);
    th_check_above(c, "radius", def->radius, 0.0, 20.0, "m");
    stroke->radius = (float)def->radius;
    th_at(c, "guidance[%d].strength", i);
    if (!(def->strength > 0.0 && def->strength < 1.0))
        th_bad(c,
               "strength is %g; it must be more than 0 and less than 1: at 1 nobody could walk "
               "against the stroke",
               def->strength);
    stroke->strength = (float)def->strength;
    th_at(c, "guidance[%d].to", i);
    stroke->to = def->to ? th_goal_index(c, def->to) : -1;
    th_at(c, "guidance[%d].line", i);
    th_gather_points(c, "stroke", def->line, def->point_count, stroke->level);
}

void th_gather_guidance(th_compiler *c) {
    const th_scene_def *def = c->def;
    th_scene *scene = c->scene;
    for (int i = 0; i < def->zone_count && c->result == TH_OK; ++i) {
        th_at(c, "zones[%d].to", i);
        c->list.zones[i].to = def->zones[i].to ? th_goal_index(c, def->zones[i].to) : -1;
    }
    th_at(c, "guidance");
    int64_t points = 0;
    double area = 0.0;
    for (int i = 0; i < def->guidance_count; ++i) {
        points += def->guidance[i].point_count;
        area += area_of(&def->guidance[i]);
    }
    if (def->guidance_count > STROKE_LIMIT || points > POINT_LIMIT)
        th_bad(c, "%d strokes of %lld points; a scene has at most %d and %d: draw them coarser",
               def->guidance_count, (long long)points, STROKE_LIMIT, POINT_LIMIT);
    scene->guidance = c->list.guidance =
        th_take(c, (size_t)def->guidance_count, sizeof *scene->guidance);
    for (int i = 0; i < def->guidance_count && c->result == TH_OK; ++i) {
        gather_stroke(c, i);
        scene->guidance_count = i + 1;
    }
    th_at(c, "guidance");
    if (area > AREA_LIMIT)
        th_bad(c, "the strokes cover %.3g m2, at most %.0g; make them fewer, shorter or narrower",
               area, AREA_LIMIT);
}

// Does the line come over ground? Its points first, which nearly always answers.
static bool touches(const th_polygons *ground, const th_vec2 *points, int count) {
    for (int k = 0; k < count; ++k)
        if (th_polygons_contain(ground, points[k])) return true;
    double t;
    for (int k = 0; k + 1 < count; ++k)
        for (int r = 0; r < ground->ring_count; ++r) {
            int begin = ground->ring_start[r], end = ground->ring_start[r + 1];
            for (int i = begin, j = end - 1; i < end; j = i++)
                if (th_segments_meet(points[k], points[k + 1], ground->points[j], ground->points[i],
                                     &t))
                    return true;
        }
    return false;
}

th_vec2 *th_compile_points(th_compiler *c, const char *what, const th_point *line, int count,
                           int level, float *length) {
    th_vec2 *points = th_take(c, (size_t)count, sizeof *points);
    *length = 0.0f;
    for (int k = 0; points && k < count; ++k) {
        points[k] = th_relative(c, line[k]);
        if (k) *length += th_length(th_sub(points[k], points[k - 1]));
    }
    if (!points) return NULL;
    const th_level *ground = &c->scene->levels[level];
    if (!(*length > 1e-3f)) th_bad(c, "the %s has no length, so it points nowhere", what);
    if (ground->bounded && !touches(&ground->walkable, points, count))
        th_bad(c,
               "the %s lies outside the walkable area of level \"%.60s\"; move it there, or "
               "give the level it belongs to",
               what, ground->id);
    return points;
}

void th_compile_guidance(th_compiler *c) {
    float length;
    for (int i = 0; i < c->def->guidance_count && c->result == TH_OK; ++i) {
        const th_stroke_def *def = &c->def->guidance[i];
        th_stroke *stroke = &c->list.guidance[i];
        th_at(c, "guidance[%d].line", i);
        stroke->points =
            th_compile_points(c, "stroke", def->line, def->point_count, stroke->level, &length);
        stroke->point_count = def->point_count;
    }
}
