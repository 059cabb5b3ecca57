// A recording as a USD text file, which Blender, Houdini, Unreal and others open, and as a table of points. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "studio/outward.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct usd {
    th_file_writer file;
    th_out_crowd crowd;
    const th_out_def *def;
    int passes, pass; // over the recording
    bool stopped;
} usd;

static void put(usd *u, const char *text) { th_file_put(&u->file, text, strlen(text)); }

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
print(usd *u, const char *format, ...) {
    char text[512];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    put(u, text);
}

// Names of prims have letters, digits and underscores only.
static void put_name(usd *u, const char *id) {
    put(u, "_");
    for (; *id; ++id) {
        char c[2] = {*id, 0};
        bool fits =
            (*id >= 'a' && *id <= 'z') || (*id >= 'A' && *id <= 'Z') || (*id >= '0' && *id <= '9');
        put(u, fits ? c : "_");
    }
}

// ---- meshes

static void put_triples(usd *u, const char *declared, const float *values, int count) {
    print(u, "            %s = [", declared);
    for (int k = 0; k < count; ++k)
        print(u, "%s(%.4f, %.4f, %.4f)", k ? ", " : "", (double)values[3 * k],
              (double)values[3 * k + 1], (double)values[3 * k + 2]);
    put(u, "]");
}

static void put_body(usd *u, int clothes) {
    th_out_body body;
    if (!th_out_body_create(clothes, &body)) {
        u->stopped = true;
        return;
    }
    print(u,
          "        def Mesh \"person_%d\" {\n            uniform token subdivisionScheme = "
          "\"none\"\n",
          clothes);
    put(u, "            int[] faceVertexCounts = [");
    for (int k = 0; k < body.triangle_count; ++k) put(u, k ? ", 3" : "3");
    put(u, "]\n            int[] faceVertexIndices = [");
    for (int k = 0; k < 3 * body.triangle_count; ++k)
        print(u, "%s%u", k ? ", " : "", body.triangles[k]);
    put(u, "]\n");
    put_triples(u, "point3f[] points", body.points, body.point_count);
    put(u, "\n");
    put_triples(u, "normal3f[] normals", body.normals, body.point_count);
    put(u, " (interpolation = \"vertex\")\n");
    put_triples(u, "color3f[] primvars:displayColor", body.colours, body.point_count);
    put(u, " (interpolation = \"vertex\")\n        }\n");
    th_out_body_release(&body);
}

// The ground of a level as a rectangle, its walls as boxes.
static void put_level(usd *u, const th_scene_view *scene, int l) {
    const th_level *level = &scene->levels[l];
    const th_box *b = &level->box;
    double z = (double)level->z;
    int walls = 0;
    put(u, "    def Xform \"level");
    put_name(u, level->id);
    put(u, "\" {\n        def Mesh \"ground\" {\n            uniform token subdivisionScheme = "
           "\"none\"\n"
           "            int[] faceVertexCounts = [4]\n            int[] faceVertexIndices = [0, 1, "
           "2, 3]\n"
           "            color3f[] primvars:displayColor = [(0.45, 0.44, 0.41)]\n");
    print(u, "            point3f[] points = [(%.3f, %.3f, %.3f), (%.3f, %.3f, %.3f), ",
          (double)b->min_x, (double)b->min_y, z, (double)b->max_x, (double)b->min_y, z);
    print(u, "(%.3f, %.3f, %.3f), (%.3f, %.3f, %.3f)]\n        }\n", (double)b->max_x,
          (double)b->max_y, z, (double)b->min_x, (double)b->max_y, z);
    for (int w = level->wall_begin; w < level->wall_end; ++w) walls += scene->walls[w].door < 0;
    if (walls > 0) {
        static const int faces[] = {0, 1, 5, 4, 1, 2, 6, 5, 2, 3, 7, 6, 3, 0, 4, 7, 4, 5, 6, 7};
        put(u,
            "        def Mesh \"walls\" {\n            uniform token subdivisionScheme = \"none\"\n"
            "            color3f[] primvars:displayColor = [(0.7, 0.68, 0.64)]\n            int[] "
            "faceVertexCounts = [");
        for (int k = 0; k < 5 * walls; ++k) put(u, k ? ", 4" : "4");
        put(u, "]\n            int[] faceVertexIndices = [");
        for (int k = 0; k < 20 * walls; ++k)
            print(u, "%s%d", k ? ", " : "", 8 * (k / 20) + faces[k % 20]);
        put(u, "]\n            point3f[] points = [");
        for (int w = level->wall_begin, first = 1; w < level->wall_end; ++w) {
            float corners[8][3];
            if (scene->walls[w].door >= 0) continue;
            th_out_wall_corners(&scene->walls[w], level->z, corners);
            for (int k = 0; k < 8; ++k, first = 0)
                print(u, "%s(%.3f, %.3f, %.3f)", first ? "" : ", ", (double)corners[k][0],
                      (double)corners[k][1], (double)corners[k][2]);
        }
        put(u, "]\n        }\n");
    }
    put(u, "    }\n");
}

// ---- values of people by time

typedef void put_value(usd *u, const th_out_person *person);

static void put_position(usd *u, const th_out_person *p) {
    print(u, "(%.3f, %.3f, %.3f)", (double)p->x, (double)p->y, (double)p->z);
}
static void put_velocity(usd *u, const th_out_person *p) {
    print(u, "(%.3f, %.3f, 0)", p->there ? (double)p->velocity[0] : 0.0,
          p->there ? (double)p->velocity[1] : 0.0);
}
// About z; people on the ground are tilted backwards first.
static void put_orientation(usd *u, const th_out_person *p) {
    double c = cos(0.5 * (double)p->heading), s = sin(0.5 * (double)p->heading), h = sqrt(0.5);
    if (p->lying)
        print(u, "(%.4f, %.4f, %.4f, %.4f)", h * c, h * s, -h * c, h * s);
    else
        print(u, "(%.4f, 0, 0, %.4f)", c, s);
}
static void put_heading(usd *u, const th_out_person *p) { print(u, "%.4f", (double)p->heading); }
static void put_gait(usd *u, const th_out_person *p) { print(u, "%.4f", (double)p->gait); }
static void put_step(usd *u, const th_out_person *p) { print(u, "%.3f", (double)p->step); }

static bool told(usd *u) {
    double share = (u->pass + (double)u->crowd.frame / u->crowd.frame_count) / u->passes;
    if (u->def->progress && !u->def->progress(share, u->def->context)) u->stopped = true;
    return !u->stopped;
}

static void put_samples(usd *u, const char *declared, put_value *value) {
    print(u, "        %s.timeSamples = {\n", declared);
    th_out_rewind(&u->crowd);
    while (!u->stopped && th_out_next(&u->crowd) && told(u)) {
        print(u, "            %d: [", u->crowd.frame);
        for (int p = 0; p < u->crowd.count; ++p) {
            if (p > 0) put(u, ", ");
            value(u, &u->crowd.people[p]);
        }
        put(u, "],\n");
    }
    put(u, "        }\n");
    u->pass++;
}

// Writes the people that have not come yet or have left.
static void put_absent(usd *u) {
    put(u, "        int64[] invisibleIds.timeSamples = {\n");
    th_out_rewind(&u->crowd);
    while (!u->stopped && th_out_next(&u->crowd) && told(u)) {
        print(u, "            %d: [", u->crowd.frame);
        for (int p = 0, first = 1; p < u->crowd.count; ++p) {
            if (u->crowd.people[p].there) continue;
            print(u, "%s%u", first ? "" : ", ", u->crowd.people[p].id);
            first = 0;
        }
        put(u, "],\n");
    }
    put(u, "        }\n");
    u->pass++;
}

static void put_constants(usd *u) {
    const th_out_crowd *crowd = &u->crowd;
    put(u, "        rel prototypes = [");
    for (int k = 0; k < TH_OUT_CLOTHES; ++k)
        print(u, "%s</crowd/people/person_%d>", k ? ", " : "", k);
    put(u, "]\n        int64[] ids = [");
    for (int p = 0; p < crowd->count; ++p) print(u, "%s%u", p ? ", " : "", crowd->people[p].id);
    put(u, "]\n        int[] protoIndices = [");
    for (int p = 0; p < crowd->count; ++p)
        print(u, "%s%d", p ? ", " : "", th_out_clothes_of(crowd->people[p].id));
    put(u, "]\n        float3[] scales = [");
    for (int p = 0; p < crowd->count; ++p) {
        double wide = (double)(crowd->people[p].girth * crowd->people[p].height);
        print(u, "%s(%.3f, %.3f, %.3f)", p ? ", " : "", wide, wide,
              (double)crowd->people[p].height);
    }
    put(u, "]\n");
}

th_result th_usd_write(const th_studio *studio, const char *path, const th_out_def *def,
                       th_error *error) {
    usd u = {.def = def, .passes = 7};
    th_result result = th_out_create(studio, def->fps, &u.crowd, error);
    if (result != TH_OK) return result;
    const th_scene_view *scene = u.crowd.scene;
    th_file_begin(&u.file, NULL, path);
    print(&u,
          "#usda 1.0\n(\n    defaultPrim = \"crowd\"\n    metersPerUnit = 1\n    upAxis = \"Z\"\n"
          "    startTimeCode = 0\n    endTimeCode = %d\n    timeCodesPerSecond = %g\n    "
          "framesPerSecond = %g\n)\n"
          "def Xform \"crowd\" {\n",
          u.crowd.frame_count - 1, def->fps, def->fps);
    for (int l = 0; l < scene->level_count; ++l) put_level(&u, scene, l);
    put(&u, "    def PointInstancer \"people\" {\n");
    put_constants(&u);
    put_samples(&u, "point3f[] positions", put_position);
    put_samples(&u, "quath[] orientations", put_orientation);
    put_samples(&u, "vector3f[] velocities", put_velocity);
    put_samples(&u, "float[] primvars:heading", put_heading);
    put_samples(&u, "float[] primvars:gait", put_gait);
    put_samples(&u, "float[] primvars:stepLength", put_step);
    put_absent(&u);
    for (int k = 0; k < TH_OUT_CLOTHES; ++k) put_body(&u, k);
    put(&u, "    }\n}\n");
    th_out_release(&u.crowd);
    if (!u.stopped) return th_file_end(&u.file, TH_FLUSHED, error);
    th_file_discard(&u.file);
    return th_fail(error, TH_NO_MEMORY, "", "stopped, or no memory for the body");
}

th_result th_points_write(const th_studio *studio, const char *path, const th_out_def *def,
                          th_error *error) {
    usd u = {.def = def, .passes = 1};
    th_result result = th_out_create(studio, def->fps, &u.crowd, error);
    if (result != TH_OK) return result;
    th_file_begin(&u.file, NULL, path);
    put(&u, "frame,time,id,x,y,z,velocity_x,velocity_y,heading,gait,step_length\n");
    while (th_out_next(&u.crowd) && told(&u))
        for (int k = 0; k < u.crowd.count; ++k) {
            const th_out_person *p = &u.crowd.people[k];
            if (!p->there) continue;
            print(&u, "%d,%.4f,%u,%.3f,%.3f,%.3f,%.3f,%.3f,%.4f,%.4f,%.3f\n", u.crowd.frame,
                  u.crowd.start + u.crowd.frame / u.crowd.fps, p->id, (double)p->x, (double)p->y,
                  (double)p->z, (double)p->velocity[0], (double)p->velocity[1], (double)p->heading,
                  (double)p->gait, (double)p->step);
        }
    th_out_release(&u.crowd);
    if (!u.stopped) return th_file_end(&u.file, TH_FLUSHED, error);
    th_file_discard(&u.file);
    return th_fail(error, TH_NO_FILE, "", "stopped");
}
