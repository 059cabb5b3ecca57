// Scripted people and bodies. A body is a set of discs that move together: rings of discs, each ring
// further inside, so that no agent of 0.2 m radius can slip in. SPDX-License-Identifier: Apache-2.0
#include "scene/compile.h"
#include <math.h>

enum { DISC_LIMIT = 20000 };

static const char *scripted_id(const th_scene *scene, int i) { return scene->scripted[i].id; }

void th_gather_scripted(th_compiler *c) {
    th_scene *scene = c->scene;
    scene->scripted = c->list.scripted =
        th_take(c, (size_t)c->def->scripted_count, sizeof *scene->scripted);
    for (int i = 0; i < c->def->scripted_count && c->result == TH_OK; ++i) {
        const th_scripted_def *def = &c->def->scripted[i];
        th_scripted *scripted = &c->list.scripted[i];
        th_at(c, "scripted[%d].id", i);
        scripted->id = th_unique_id(c, def->id, "scripted", i, scripted_id, i);
        th_at(c, "scripted[%d].level", i);
        scripted->level = th_level_index(c, def->level);
        scripted->is_body = !th_shape_empty(&def->shape);
        th_at(c, "scripted[%d].radius", i);
        if (!scripted->is_body) th_check_range(c, "radius", def->radius, 0.05, 5.0, "m");
        scripted->radius = (float)def->radius;
        th_at(c, "scripted[%d].path", i);
        if (def->path_count < 1) th_bad(c, "a path needs at least one key frame [time, x, y]");
        for (int k = 0; k < def->path_count && c->result == TH_OK; ++k) {
            th_at(c, "scripted[%d].path[%d]", i, k);
            th_check_range(c, "time", def->path[k].time, 0.0, 1e7, "s");
            if (k && !(def->path[k].time > def->path[k - 1].time))
                th_bad(c, "time %g s does not come after %g s", def->path[k].time,
                       def->path[k - 1].time);
            th_gather_point(c, (th_point){def->path[k].x, def->path[k].y}, scripted->level);
        }
        // The shape has its own origin: it is parsed for its form, not for its place.
        th_extent whole = c->extent, level = c->extents[scripted->level];
        th_at(c, "scripted[%d].shape", i);
        th_gather_shape(c, &def->shape, false, scripted->level);
        c->extent = whole;
        c->extents[scripted->level] = level;
        scene->scripted_count = i + 1;
    }
}

typedef struct disc_writer {
    th_vec2 *discs; // NULL while counting
    int count;
    float spacing;
} disc_writer;

static bool add_discs(void *context, const th_vec2 *points, int count, bool ring, bool hole) {
    (void)ring;
    (void)hole;
    disc_writer *writer = context;
    for (int i = 0; i + 1 < count; ++i) {
        double x = (double)points[i + 1].x - (double)points[i].x;
        double y = (double)points[i + 1].y - (double)points[i].y;
        double needed = ceil(sqrt(x * x + y * y) / (double)writer->spacing);
        int steps = needed < 1.0 ? 1 : needed > DISC_LIMIT ? DISC_LIMIT : (int)needed;
        for (int k = 0; k < steps; ++k, ++writer->count) {
            if (writer->count > DISC_LIMIT) return true;
            if (!writer->discs) continue;
            double t = (double)k / steps;
            writer->discs[writer->count].x = (float)((double)points[i].x + t * x);
            writer->discs[writer->count].y = (float)((double)points[i].y + t * y);
        }
    }
    return true;
}

static GEOSGeometry *inset(th_compiler *c, const GEOSGeometry *shape, double distance) {
    enum { QUADRANT = 8, CAP_ROUND = 1, JOIN_MITRE = 2 };
    return GEOSBufferWithStyle_r(c->geometry.geos, shape, -distance, QUADRANT, CAP_ROUND,
                                 JOIN_MITRE, 2.0);
}

// Discs as large as the shape allows, from 0.2 m down to 0.05 m.
static float disc_radius(th_compiler *c, const GEOSGeometry *shape) {
    static const float radii[] = {0.2f, 0.1f, 0.05f};
    for (int i = 0; i < 3; ++i) {
        GEOSGeometry *inner = inset(c, shape, (double)radii[i]);
        bool empty = !inner || GEOSisEmpty_r(c->geometry.geos, inner);
        if (inner) GEOSGeom_destroy_r(c->geometry.geos, inner);
        if (!empty) return radii[i];
    }
    return 0.0f;
}

static bool write_rings(th_compiler *c, const GEOSGeometry *shape, float radius,
                        disc_writer *writer) {
    th_point origin = {0.0, 0.0};
    if (radius == 0.0f) return th_geometry_visit(&c->geometry, shape, origin, add_discs, writer);
    for (double depth = (double)radius; writer->count <= DISC_LIMIT;
         depth += 1.5 * (double)radius) {
        GEOSGeometry *ring = inset(c, shape, depth);
        bool end = !ring || GEOSisEmpty_r(c->geometry.geos, ring);
        bool good = end || th_geometry_visit(&c->geometry, ring, origin, add_discs, writer);
        if (ring) GEOSGeom_destroy_r(c->geometry.geos, ring);
        if (!good) return false;
        if (end) break;
    }
    return true;
}

static void compile_body(th_compiler *c, int i) {
    th_scripted *scripted = &c->list.scripted[i];
    const GEOSGeometry *shape = th_shape_geometry(c, &c->def->scripted[i].shape);
    float radius = disc_radius(c, shape);
    scripted->radius = radius > 0.0f ? radius : 0.05f; // thinner than 10 cm: discs on the outline
    disc_writer writer = {NULL, 0, scripted->radius};
    if (!write_rings(c, shape, radius, &writer)) th_no_memory(c);
    th_at(c, "scripted[%d].shape", i);
    if (writer.count > DISC_LIMIT)
        th_bad(c, "the body is too large; make it a door or smaller bodies");
    writer.discs = th_take(c, (size_t)writer.count + 1, sizeof *writer.discs);
    if (!writer.discs) return;
    writer.count = 0;
    if (!write_rings(c, shape, radius, &writer)) th_no_memory(c);
    scripted->discs = writer.discs;
    scripted->disc_count = writer.count;
}

void th_compile_scripted(th_compiler *c) {
    for (int i = 0; i < c->def->scripted_count && c->result == TH_OK; ++i) {
        const th_scripted_def *def = &c->def->scripted[i];
        th_scripted *scripted = &c->list.scripted[i];
        th_keyframe *path = th_take(c, (size_t)def->path_count, sizeof *path);
        for (int k = 0; path && k < def->path_count; ++k) {
            path[k] = def->path[k];
            path[k].x -= c->scene->origin.x;
            path[k].y -= c->scene->origin.y;
        }
        scripted->path = path;
        scripted->path_count = def->path_count;
        if (scripted->is_body) {
            compile_body(c, i);
        } else {
            scripted->discs = th_take(c, 1, sizeof *scripted->discs);
            scripted->disc_count = 1;
        }
    }
}
