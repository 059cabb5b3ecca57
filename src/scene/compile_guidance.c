// Strokes of guidance, strips on one side of which people keep, and whom the discomfort of zones is for. SPDX-License-Identifier: Apache-2.0
#include "formula/segment.h"
#include "scene/compile.h"
#include "scene/scene.h"
#include <math.h>

// Work of spreading strokes over the ground: every piece of a line is laid over the nodes within its radius.
enum { STROKE_LIMIT = 1000, POINT_LIMIT = 10000 };
#define AREA_LIMIT 1e7 // [m2] of the boxes around all pieces and their radius

// Everybody asks every strip of the level in every step; a change of walls builds all of them again.
enum { STRIP_LIMIT = 100, STRIP_POINT_LIMIT = 1000 };
#define STRIP_AREA_LIMIT 25000.0 // [m2]

static const char *stroke_id(const th_scene *scene, int i) { return scene->guidance[i].id; }

static double area_of(const th_stroke_def *def) {
    double area = 0.0, around = 2.0 * fmax(def->radius, 0.0);
    for (int k = 0; k + 1 < def->point_count; ++k)
        area += (fabs(def->line[k + 1].x - def->line[k].x) + around) *
                (fabs(def->line[k + 1].y - def->line[k].y) + around);
    return area;
}

static void gather_points(th_compiler *c, const char *what, const th_point *points, int count,
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
    gather_points(c, "stroke", def->line, def->point_count, stroke->level);
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

// The points of a line, relative to the origin; its length into *length. NULL: c has failed.
static th_vec2 *compile_points(th_compiler *c, const char *what, const th_point *line, int count,
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
            compile_points(c, "stroke", def->line, def->point_count, stroke->level, &length);
        stroke->point_count = def->point_count;
    }
}

// ---- strips

static const char *strip_id(const th_scene *scene, int i) { return scene->strips[i].id; }

static void gather_strip(th_compiler *c, int i) {
    const th_strip_def *def = &c->def->strips[i];
    th_strip *strip = &c->list.strips[i];
    th_at(c, "strips[%d].id", i);
    strip->id = th_unique_id(c, def->id, "strip", i, strip_id, i);
    th_at(c, "strips[%d].level", i);
    strip->level = th_level_index(c, def->level);
    th_at(c, "strips[%d].width", i);
    th_check_range(c, "width", def->width, 0.5, 100.0, "m");
    strip->width = (float)def->width;
    th_at(c, "strips[%d].track", i);
    th_check_range(c, "track", def->track, 0.0, 1.0, "");
    strip->track = (float)def->track;
    strip->left = def->left;
    th_at(c, "strips[%d].line", i);
    gather_points(c, "strip", def->line, def->point_count, strip->level);
}

void th_gather_strips(th_compiler *c) {
    const th_scene_def *def = c->def;
    th_scene *scene = c->scene;
    th_at(c, "strips");
    int64_t points = 0;
    for (int i = 0; i < def->strip_count; ++i) points += def->strips[i].point_count;
    if (def->strip_count > STRIP_LIMIT || points > STRIP_POINT_LIMIT)
        th_bad(c, "%d strips of %lld points; a scene has at most %d and %d: draw them coarser",
               def->strip_count, (long long)points, STRIP_LIMIT, STRIP_POINT_LIMIT);
    scene->strips = c->list.strips = th_take(c, (size_t)def->strip_count, sizeof *scene->strips);
    for (int i = 0; i < def->strip_count && c->result == TH_OK; ++i) {
        gather_strip(c, i);
        scene->strip_count = i + 1;
    }
}

// Points that follow each other differ, so that every piece has a direction.
static int drop_repeated(th_vec2 *points, int count) {
    int kept = 1;
    for (int k = 1; k < count; ++k)
        if (th_length(th_sub(points[k], points[kept - 1])) > 1e-3f) points[kept++] = points[k];
    return kept;
}

void th_compile_strips(th_compiler *c) {
    double area = 0.0;
    for (int i = 0; i < c->def->strip_count && c->result == TH_OK; ++i) {
        const th_strip_def *def = &c->def->strips[i];
        th_strip *strip = &c->list.strips[i];
        th_at(c, "strips[%d].line", i);
        th_vec2 *points =
            compile_points(c, "strip", def->line, def->point_count, strip->level, &strip->length);
        if (!points || c->result != TH_OK) return;
        strip->point_count = drop_repeated(points, def->point_count);
        if (strip->point_count < 2) th_bad(c, "the strip has no length, so it points nowhere");
        strip->points = points;
        strip->length = 0.0f;
        for (int k = 1; k < strip->point_count; ++k)
            strip->length += th_length(th_sub(points[k], points[k - 1]));
        area += (double)strip->length * (double)strip->width;
    }
    th_at(c, "strips");
    if (area > STRIP_AREA_LIMIT)
        th_bad(c, "the strips cover %.3g m2, at most %.0f; mark the busy parts of corridors only",
               area, STRIP_AREA_LIMIT);
}
