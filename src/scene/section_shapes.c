// Lines and areas of scene data that models declare. SPDX-License-Identifier: Apache-2.0
#include "scene/scene.h"
#include "scene/sections.h"
#include <string.h>

// ---- lines

void th_gather_points(th_compiler *c, const char *what, const th_point *points, int count,
                      int level) {
    if (count < 2) th_bad(c, "a %s needs a \"line\" of at least two points [[x, y], ...]", what);
    for (int k = 0; k < count && c->result == TH_OK; ++k) th_gather_point(c, points[k], level);
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

// Points that follow each other differ, so that every piece has a direction.
static int drop_repeated(th_vec2 *points, int count) {
    int kept = 1;
    for (int k = 1; k < count; ++k)
        if (th_length(th_sub(points[k], points[kept - 1])) > 1e-3f) points[kept++] = points[k];
    return kept;
}

th_polyline th_compile_polyline(th_compiler *c, const char *what, const th_value_def *value,
                                int level) {
    th_polyline line = {NULL, 0, 0.0f};
    th_vec2 *points = th_take(c, (size_t)value->point_count, sizeof *points);
    if (!points) return line;
    for (int k = 0; k < value->point_count; ++k) points[k] = th_relative(c, value->points[k]);
    line.points = points;
    line.count = drop_repeated(points, value->point_count);
    for (int k = 1; k < line.count; ++k) line.length += th_length(th_sub(points[k], points[k - 1]));
    const th_level *ground = &c->scene->levels[level];
    if (line.count < 2) th_bad(c, "the %s has no length, so it points nowhere", what);
    if (ground->bounded && !touches(&ground->walkable, points, line.count))
        th_bad(c,
               "the %s lies outside the walkable area of level \"%.60s\"; move it there, or "
               "give the level it belongs to",
               what, ground->id);
    return line;
}

// ---- areas

bool th_polygons_surround(const th_polygons *shape, th_vec2 point) {
    return th_polygons_contain(shape, point);
}

enum { OUTLINE_LIMIT = 2000 }; // points of one: models look at all of them for each agent nearby

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

static void check_near_ground(th_compiler *c, const char *id, const th_shape *shape, int level) {
    const GEOSGeometry *ground = c->walkable[level];
    double away = 0.0;
    const double reach = 0.5; // [m] a building stands on the edge of the ground, or in it
    if (ground && GEOSDistance_r(c->geometry.geos, th_shape_geometry(c, shape), ground, &away) &&
        away > reach)
        th_bad(c,
               "\"%.60s\" lies outside the level \"%.60s\", %.1f m from its ground; move it onto "
               "the ground or to the ground's edge",
               id, c->scene->levels[level].id, away);
}

th_polygons th_compile_outline(th_compiler *c, const char *id, const th_shape *shape, int level) {
    th_polygons outline = th_compile_area(c, shape, level).shape;
    int points =
        c->result == TH_OK && outline.ring_count > 0 ? outline.ring_start[outline.ring_count] : 0;
    if (points == 0) th_bad(c, "the area is empty");
    if (points > OUTLINE_LIMIT)
        th_bad(c, "the outline has %d points, at most are %d; draw it coarser", points,
               OUTLINE_LIMIT);
    th_vec2 *turned = c->result == TH_OK ? th_take(c, (size_t)points, sizeof *turned) : NULL;
    if (!turned) return outline;
    memcpy(turned, outline.points, (size_t)points * sizeof *turned);
    orient(&outline, turned);
    outline.points = turned;
    check_near_ground(c, id, shape, level);
    return outline;
}
