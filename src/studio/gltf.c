// A recording as glTF 2.0 in one file: a node per person with its way as an animation; few people walk with bones of their own.
// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "studio/outward.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Numbers of the format.
enum {
    UINT8 = 5121,
    UINT16 = 5123,
    UINT32 = 5125,
    FLOAT = 5126,
    VERTICES = 34962,
    INDICES = 34963
};

typedef struct gltf {
    th_out_crowd crowd;
    unsigned char *bytes;
    size_t size, room;
    bool failed; // no memory
    json_t *views, *accessors, *nodes, *meshes, *materials, *skins, *channels, *samplers;
    int times, inverses; // accessors
} gltf;

// ---- the buffer

static int add_view(gltf *g, const void *bytes, size_t size, int target) {
    size_t at = (g->size + 3) & ~(size_t)3;
    if (at + size > g->room) {
        size_t room = at + size + g->room / 2 + (1 << 16);
        unsigned char *grown = realloc(g->bytes, room);
        if (!grown) {
            g->failed = true;
            return 0;
        }
        g->bytes = grown;
        g->room = room;
    }
    memset(g->bytes + g->size, 0, at - g->size);
    memcpy(g->bytes + at, bytes, size);
    g->size = at + size;
    json_t *view = json_pack("{s:i,s:I,s:I}", "buffer", 0, "byteOffset", (json_int_t)at,
                             "byteLength", (json_int_t)size);
    if (target) json_object_set_new(view, "target", json_integer(target));
    json_array_append_new(g->views, view);
    return (int)json_array_size(g->views) - 1;
}

// Least and most of the components, where the format asks for them.
static void add_bounds(json_t *accessor, const float *values, int count, int width) {
    json_t *least = json_array(), *most = json_array();
    for (int c = 0; c < width; ++c) {
        float low = values[c], high = values[c];
        for (int k = 1; k < count; ++k) {
            low = fminf(low, values[width * k + c]);
            high = fmaxf(high, values[width * k + c]);
        }
        json_array_append_new(least, json_real((double)low));
        json_array_append_new(most, json_real((double)high));
    }
    json_object_set_new(accessor, "min", least);
    json_object_set_new(accessor, "max", most);
}

static int add_accessor(gltf *g, const void *values, int count, int kind, const char *type,
                        int target, bool bounds) {
    static const struct {
        const char *name;
        int width;
    } types[] = {{"SCALAR", 1}, {"VEC3", 3}, {"VEC4", 4}, {"MAT4", 16}};
    int width = 1;
    for (int k = 0; k < 4; ++k)
        if (strcmp(types[k].name, type) == 0) width = types[k].width;
    size_t each = kind == UINT8 ? 1 : kind == UINT16 ? 2 : 4;
    int view = add_view(g, values, each * (size_t)width * (size_t)count, target);
    json_t *accessor = json_pack("{s:i,s:i,s:i,s:s}", "bufferView", view, "componentType", kind,
                                 "count", count, "type", type);
    if (bounds) add_bounds(accessor, values, count, width);
    json_array_append_new(g->accessors, accessor);
    return (int)json_array_size(g->accessors) - 1;
}

static int add_node(gltf *g, json_t *node) {
    json_array_append_new(g->nodes, node);
    return (int)json_array_size(g->nodes) - 1;
}

// ---- meshes

static void add_material(gltf *g, const char *name, double r, double green, double b) {
    json_array_append_new(g->materials,
                          json_pack("{s:s,s:b,s:{s:[f,f,f,f],s:f,s:f}}", "name", name,
                                    "doubleSided", 1, "pbrMetallicRoughness", "baseColorFactor", r,
                                    green, b, 1.0, "metallicFactor", 0.0, "roughnessFactor", 0.9));
}

static void add_body(gltf *g, int clothes, bool skinned) {
    th_out_body body;
    if (!th_out_body_create(clothes, &body)) {
        g->failed = true;
        return;
    }
    int n = body.point_count;
    json_t *attributes = json_pack(
        "{s:i,s:i,s:i}", "POSITION", add_accessor(g, body.points, n, FLOAT, "VEC3", VERTICES, true),
        "NORMAL", add_accessor(g, body.normals, n, FLOAT, "VEC3", VERTICES, false), "COLOR_0",
        add_accessor(g, body.colours, n, FLOAT, "VEC3", VERTICES, false));
    uint8_t *joints = skinned ? calloc((size_t)n, 4) : NULL;
    float *weights = skinned ? calloc((size_t)n, 4 * sizeof *weights) : NULL;
    if (joints && weights) {
        for (int k = 0; k < n; ++k) {
            joints[4 * k] = body.bones[k];
            weights[4 * k] = 1.0f;
        }
        json_object_set_new(
            attributes, "JOINTS_0",
            json_integer(add_accessor(g, joints, n, UINT8, "VEC4", VERTICES, false)));
        json_object_set_new(
            attributes, "WEIGHTS_0",
            json_integer(add_accessor(g, weights, n, FLOAT, "VEC4", VERTICES, false)));
    }
    g->failed = g->failed || (skinned && !(joints && weights));
    free(joints);
    free(weights);
    int indices =
        add_accessor(g, body.triangles, 3 * body.triangle_count, UINT32, "SCALAR", INDICES, false);
    char name[32];
    snprintf(name, sizeof name, "person_%d", clothes);
    json_array_append_new(g->meshes,
                          json_pack("{s:s,s:[{s:o,s:i,s:i}]}", "name", name, "primitives",
                                    "attributes", attributes, "indices", indices, "material", 0));
    th_out_body_release(&body);
}

// A mesh of triangles in a node of its own.
static int add_still(gltf *g, const char *name, const float *points, int count,
                     const uint32_t *triangles, int indices, int material) {
    json_t *attributes = json_pack("{s:i}", "POSITION",
                                   add_accessor(g, points, count, FLOAT, "VEC3", VERTICES, true));
    json_array_append_new(
        g->meshes,
        json_pack("{s:s,s:[{s:o,s:i,s:i}]}", "name", name, "primitives", "attributes", attributes,
                  "indices", add_accessor(g, triangles, indices, UINT32, "SCALAR", INDICES, false),
                  "material", material));
    return add_node(
        g, json_pack("{s:s,s:i}", "name", name, "mesh", (int)json_array_size(g->meshes) - 1));
}

static void add_level(gltf *g, int l, json_t *roots) {
    static const uint32_t ground[] = {0, 1, 2, 0, 2, 3};
    static const uint32_t faces[] = {0, 1, 5, 0, 5, 4, 1, 2, 6, 1, 6, 5, 2, 3, 7,
                                     2, 7, 6, 3, 0, 4, 3, 4, 7, 4, 5, 6, 4, 6, 7};
    const th_scene_view *scene = g->crowd.scene;
    const th_level *level = &scene->levels[l];
    const th_box *b = &level->box;
    char name[160];
    float floor[12] = {b->min_x, b->min_y, level->z, b->max_x, b->min_y, level->z,
                       b->max_x, b->max_y, level->z, b->min_x, b->max_y, level->z};
    if (!(b->max_x > b->min_x && b->max_y > b->min_y)) return;
    snprintf(name, sizeof name, "ground %.100s", level->id);
    json_array_append_new(roots, json_integer(add_still(g, name, floor, 4, ground, 6, 1)));
    int walls = 0, room = level->wall_end - level->wall_begin;
    float *points = malloc(((size_t)room + 1) * 24 * sizeof *points);
    uint32_t *triangles = malloc(((size_t)room + 1) * 30 * sizeof *triangles);
    g->failed = g->failed || !points || !triangles;
    for (int w = level->wall_begin; w < level->wall_end && !g->failed; ++w) {
        if (scene->walls[w].door >= 0) continue;
        th_out_wall_corners(&scene->walls[w], level->z, (float(*)[3])(points + 24 * walls));
        for (int k = 0; k < 30; ++k) triangles[30 * walls + k] = 8 * (uint32_t)walls + faces[k];
        walls++;
    }
    snprintf(name, sizeof name, "walls %.100s", level->id);
    if (walls > 0 && !g->failed)
        json_array_append_new(
            roots, json_integer(add_still(g, name, points, 8 * walls, triangles, 30 * walls, 2)));
    free(points);
    free(triangles);
}

// ---- people

static void add_channel(gltf *g, int node, const char *path, const float *values, int count,
                        const char *type, const char *way) {
    int sampler = (int)json_array_size(g->samplers);
    int output = add_accessor(g, values, count, FLOAT, type, 0, false);
    json_array_append_new(g->samplers, json_pack("{s:i,s:i,s:s}", "input", g->times, "output",
                                                 output, "interpolation", way));
    json_array_append_new(g->channels, json_pack("{s:i,s:{s:i,s:s}}", "sampler", sampler, "target",
                                                 "node", node, "path", path));
}

// Joints of the body below a node, parents first; returns the first.
static int add_joints(gltf *g) {
    int first = (int)json_array_size(g->nodes);
    for (int b = 0; b < TH_OUT_BONES; ++b) {
        static const char *const names[TH_OUT_BONES] = {
            "trunk",    "left thigh",   "left shin", "right thigh",  "right shin",
            "left arm", "left forearm", "right arm", "right forearm"};
        int parent = th_out_parents[b];
        double at[3];
        for (int c = 0; c < 3; ++c)
            at[c] = (double)(th_out_joints[b][c] - (parent < 0 ? 0.0f : th_out_joints[parent][c]));
        json_t *node = json_pack("{s:s,s:[f,f,f]}", "name", names[b], "translation", at[0], at[1],
                                 at[2]),
               *children = json_array();
        for (int c = b + 1; c < TH_OUT_BONES; ++c)
            if (th_out_parents[c] == b) json_array_append_new(children, json_integer(first + c));
        if (json_array_size(children) > 0) json_object_set(node, "children", children);
        json_decref(children);
        add_node(g, node);
    }
    return first;
}

// The values of one person over all frames.
typedef struct way {
    float *places, *turns, *sizes, *bones, *hips; // 3, 4, 3 each frame; 4 per bone but the trunk; 3
    bool always;
} way;

// About z; people on the ground are tilted backwards first.
static void turn_of(const th_out_person *p, float q[4]) {
    float c = cosf(0.5f * p->heading), s = sinf(0.5f * p->heading), h = sqrtf(0.5f);
    float lying[4] = {h * s, -h * c, h * s, h * c}, standing[4] = {0, 0, s, c};
    memcpy(q, p->lying ? lying : standing, sizeof lying);
}

static void see(const th_out_person *p, int frame, int frames, way *w) {
    float wide = p->girth * p->height, size[3] = {wide, wide, p->height};
    float place[3] = {p->x, p->y, p->z};
    memcpy(w->places + 3 * (size_t)frame, place, sizeof place);
    turn_of(p, w->turns + 4 * (size_t)frame);
    for (int c = 0; c < 3; ++c) w->sizes[3 * (size_t)frame + (size_t)c] = p->there ? size[c] : 0.0f;
    w->always = w->always && p->there;
    if (!w->bones) return;
    th_out_pose pose = th_out_pose_of(p->gait, p->step);
    float hips[3] = {0, 0, th_out_joints[0][2] - pose.drop};
    memcpy(w->hips + 3 * (size_t)frame, hips, sizeof hips);
    for (int b = 1; b < TH_OUT_BONES; ++b) {
        float *q = w->bones + 4 * ((size_t)(b - 1) * (size_t)frames + (size_t)frame);
        q[0] = q[2] = 0.0f;
        q[1] = sinf(-0.5f * pose.angles[b]);
        q[3] = cosf(0.5f * pose.angles[b]);
    }
}

static void add_person(gltf *g, const th_out_person *p, const way *w, json_t *roots) {
    int frames = g->crowd.frame_count, clothes = th_out_clothes_of(p->id);
    char name[32];
    snprintf(name, sizeof name, "person %u", p->id);
    json_t *node = json_pack("{s:s}", "name", name);
    float wide = p->girth * p->height;
    if (w->always)
        json_object_set_new(node, "scale",
                            json_pack("[f,f,f]", (double)wide, (double)wide, (double)p->height));
    if (!w->bones) json_object_set_new(node, "mesh", json_integer(clothes));
    int at = add_node(g, node);
    add_channel(g, at, "translation", w->places, frames, "VEC3", "LINEAR");
    add_channel(g, at, "rotation", w->turns, frames, "VEC4", "LINEAR");
    if (!w->always) add_channel(g, at, "scale", w->sizes, frames, "VEC3", "STEP");
    json_array_append_new(roots, json_integer(at));
    if (!w->bones) return;
    int first = add_joints(g);
    json_object_set_new(node, "children", json_pack("[i]", first));
    json_t *joints = json_array();
    for (int b = 0; b < TH_OUT_BONES; ++b) json_array_append_new(joints, json_integer(first + b));
    json_array_append_new(g->skins,
                          json_pack("{s:o,s:i,s:i}", "joints", joints, "inverseBindMatrices",
                                    g->inverses, "skeleton", first));
    // A skinned mesh is where its bones are: its node stands beside the crowd.
    snprintf(name, sizeof name, "body of person %u", p->id);
    int body = add_node(g, json_pack("{s:s,s:i,s:i}", "name", name, "mesh", clothes, "skin",
                                     (int)json_array_size(g->skins) - 1));
    json_array_append_new(json_object_get(json_array_get(g->nodes, 0), "bodies"),
                          json_integer(body));
    add_channel(g, first, "translation", w->hips, frames, "VEC3", "LINEAR");
    for (int b = 1; b < TH_OUT_BONES; ++b)
        add_channel(g, first + b, "rotation", w->bones + 4 * (size_t)(b - 1) * (size_t)frames,
                    frames, "VEC4", "LINEAR");
}

// All ways at once: frames come by time, and a person wants all of its own.
static void add_people(gltf *g, const th_out_def *def, bool skinned, json_t *roots, bool *stopped) {
    size_t frames = (size_t)g->crowd.frame_count, n = (size_t)g->crowd.count;
    size_t each = frames * (size_t)(3 + 4 + 3 + (skinned ? 3 + 4 * (TH_OUT_BONES - 1) : 0));
    float *all = malloc((each * n + 1) * sizeof *all);
    way *ways = calloc(n + 1, sizeof *ways);
    if (g->failed || !all || !ways) {
        g->failed = true;
        free(all);
        free(ways);
        return;
    }
    for (size_t p = 0; p < n; ++p) {
        float *at = all + p * each;
        ways[p] =
            (way){.places = at, .turns = at + 3 * frames, .sizes = at + 7 * frames, .always = true};
        if (skinned) ways[p].hips = at + 10 * frames;
        if (skinned) ways[p].bones = at + 13 * frames;
    }
    th_out_rewind(&g->crowd);
    while (!g->failed && !*stopped && th_out_next(&g->crowd)) {
        for (size_t p = 0; p < n; ++p)
            see(&g->crowd.people[p], g->crowd.frame, (int)frames, &ways[p]);
        *stopped = def->progress && !def->progress(g->crowd.frame / (double)frames, def->context);
    }
    for (size_t p = 0; p < n && !g->failed && !*stopped; ++p)
        add_person(g, &g->crowd.people[p], &ways[p], roots);
    free(all);
    free(ways);
}

static void add_times(gltf *g) {
    int frames = g->crowd.frame_count;
    float *times = malloc((size_t)frames * sizeof *times);
    g->failed = g->failed || !times;
    for (int f = 0; times && f < frames; ++f) times[f] = (float)(f / g->crowd.fps);
    if (times) g->times = add_accessor(g, times, frames, FLOAT, "SCALAR", 0, true);
    free(times);
}

static void add_inverses(gltf *g) {
    float matrices[16 * TH_OUT_BONES] = {0};
    for (int b = 0; b < TH_OUT_BONES; ++b) {
        float *m = matrices + 16 * b;
        m[0] = m[5] = m[10] = m[15] = 1.0f;
        for (int c = 0; c < 3; ++c) m[12 + c] = -th_out_joints[b][c];
    }
    g->inverses = add_accessor(g, matrices, TH_OUT_BONES, FLOAT, "MAT4", 0, false);
}

// ---- the file

static void put_word(th_file_writer *file, size_t value) {
    unsigned char bytes[4] = {(unsigned char)value, (unsigned char)(value >> 8),
                              (unsigned char)(value >> 16), (unsigned char)(value >> 24)};
    th_file_put(file, bytes, sizeof bytes);
}

static void put_binary(const gltf *g, th_file_writer *file, const char *text) {
    size_t length = strlen(text), padded = (length + 3) & ~(size_t)3,
           bytes = (g->size + 3) & ~(size_t)3;
    th_file_put(file, "glTF", 4);
    put_word(file, 2);
    put_word(file, 12 + 8 + padded + 8 + bytes);
    put_word(file, padded);
    th_file_put(file, "JSON", 4);
    th_file_put(file, text, length);
    th_file_put(file, "   ", padded - length);
    put_word(file, bytes);
    th_file_put(file, "BIN\0", 4);
    th_file_put(file, g->bytes, g->size);
    th_file_put(file, "\0\0\0", bytes - g->size);
}

static th_result put_file(gltf *g, json_t *document, const char *path, th_error *error) {
    static const char mark[] = "\"uri\":\"data:application/octet-stream;base64,";
    size_t name = strlen(path);
    bool binary = name > 4 && strcmp(path + name - 4, ".glb") == 0;
    json_t *buffer = json_pack("{s:I}", "byteLength", (json_int_t)g->size);
    if (!binary)
        json_object_set_new(buffer, "uri", json_string("data:application/octet-stream;base64,"));
    json_object_set_new(document, "buffers", json_pack("[o]", buffer));
    char *text = json_dumps(document, JSON_COMPACT | JSON_REAL_PRECISION(9));
    th_file_writer file;
    if (!text) return th_fail(error, TH_NO_MEMORY, "", "no memory for the text of the file");
    th_file_begin(&file, NULL, path);
    if (binary) {
        put_binary(g, &file, text);
    } else {
        char *at = strstr(text, mark) + sizeof mark - 1;
        th_file_put(&file, text, (size_t)(at - text));
        th_base64_put(&file, g->bytes, g->size);
        th_file_put(&file, at, strlen(at));
    }
    free(text);
    return th_file_end(&file, TH_FLUSHED, error);
}

static void release(gltf *g) {
    json_t *const lists[] = {g->views,     g->accessors, g->nodes,    g->meshes,
                             g->materials, g->skins,     g->channels, g->samplers};
    for (size_t k = 0; k < sizeof lists / sizeof lists[0]; ++k) json_decref(lists[k]);
    th_out_release(&g->crowd);
    free(g->bytes);
}

// The members of the document; lists that would be empty are left out, as the format asks.
static json_t *document_of(gltf *g, json_t *roots) {
    json_t *crowd = json_array_get(g->nodes, 0), *bodies = json_object_get(crowd, "bodies");
    json_t *shown = json_array();
    json_array_append_new(shown, json_integer(0));
    json_array_extend(shown, bodies);
    json_object_del(crowd, "bodies");
    json_object_set(crowd, "children", roots);
    json_t *document = json_pack(
        "{s:{s:s,s:s},s:i,s:[{s:o}],s:O,s:O,s:O,s:O,s:O}", "asset", "version", "2.0", "generator",
        "throng", "scene", 0, "scenes", "nodes", shown, "nodes", g->nodes, "meshes", g->meshes,
        "materials", g->materials, "accessors", g->accessors, "bufferViews", g->views);
    if (json_array_size(g->skins) > 0) json_object_set(document, "skins", g->skins);
    if (json_array_size(g->channels) > 0)
        json_object_set_new(document, "animations",
                            json_pack("[{s:s,s:O,s:O}]", "name", "walk", "channels", g->channels,
                                      "samplers", g->samplers));
    return document;
}

th_result th_gltf_write(const th_studio *studio, const char *path, const th_out_def *def,
                        th_error *error) {
    gltf g = {.views = json_array(),
              .accessors = json_array(),
              .nodes = json_array(),
              .meshes = json_array(),
              .materials = json_array(),
              .skins = json_array(),
              .channels = json_array(),
              .samplers = json_array()};
    bool stopped = false;
    th_result result = th_out_create(studio, def->fps, &g.crowd, error);
    if (result != TH_OK) {
        release(&g);
        return result;
    }
    bool skinned = g.crowd.count <= TH_GLTF_SKINNED;
    json_t *roots = json_array();
    // East, north and up become x, -z and y.
    add_node(&g, json_pack("{s:s,s:[f,f,f,f],s:[]}", "name", "crowd", "rotation", -sqrt(0.5), 0.0,
                           0.0, sqrt(0.5), "bodies"));
    add_material(&g, "person", 1, 1, 1);
    add_material(&g, "ground", 0.45, 0.44, 0.41);
    add_material(&g, "wall", 0.7, 0.68, 0.64);
    add_times(&g);
    if (skinned) add_inverses(&g);
    for (int k = 0; k < TH_OUT_CLOTHES; ++k) add_body(&g, k, skinned);
    for (int l = 0; l < g.crowd.scene->level_count; ++l) add_level(&g, l, roots);
    add_people(&g, def, skinned, roots, &stopped);
    if (g.failed || stopped)
        result = th_fail(error, TH_NO_MEMORY, "", "stopped, or no memory; give a smaller --fps");
    else if (g.size > 2000000000u)
        result = th_fail(
            error, TH_BAD_ARGUMENT, "",
            "the animations take more than 2 GB, which programs do not open; give a smaller "
            "--fps, or write --usd");
    if (result == TH_OK) {
        json_t *document = document_of(&g, roots);
        result = put_file(&g, document, path, error);
        json_decref(document);
    }
    json_decref(roots);
    release(&g);
    return result;
}
