// Bytes as a small scene that is nearly always valid: every model of the table, its presets and parameters, in a hall of two
// floors with a wall, a door, stairs, a strip, a stroke, a zone and a place of interest, exits that shut and sources. For the
// targets that step worlds.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_FUZZ_WORLD_H
#define TH_FUZZ_WORLD_H
#include "throng/live.h"
#include "throng/model.h"
#include "throng/throng.h"
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FUZZ_TEXT = 16384, FUZZ_GROUPS = 2 };

typedef struct fuzz_input {
    const uint8_t *data;
    size_t size, used;
} fuzz_input;

static inline unsigned fuzz_next(fuzz_input *in) {
    return in->used < in->size ? in->data[in->used++] : 0;
}
static inline double fuzz_place(fuzz_input *in) { // [m] in the hall
    return 0.3 + 7.4 * fuzz_next(in) / 255.0;
}

typedef struct fuzz_text {
    char text[FUZZ_TEXT];
    size_t used;
} fuzz_text;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static inline void
fuzz_write(fuzz_text *t, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(t->text + t->used, sizeof t->text - t->used, format, arguments);
    va_end(arguments);
    if (length < 0 || t->used + (size_t)length >= sizeof t->text) abort(); // make it larger
    t->used += (size_t)length;
}

// Models of a stage that scenes can choose.
static inline int fuzz_models(th_stage stage, const th_model **found) {
    int count, kept = 0;
    const th_model *const *models = th_models(&count);
    for (int m = 0; m < count; ++m)
        if (models[m]->stage == stage && !models[m]->internal) found[kept++] = models[m];
    return kept;
}

// Its name, or with a preset and up to three parameters, each anywhere in its range or at an end of it.
static inline void fuzz_write_model(fuzz_input *in, fuzz_text *t, const th_model *model) {
    unsigned how = fuzz_next(in);
    fuzz_write(t, "{\"model\":\"%s\"", model->name);
    if (model->preset_count > 0 && how & 4)
        fuzz_write(t, ",\"preset\":\"%s\"",
                   model->presets[fuzz_next(in) % (unsigned)model->preset_count].name);
    int last = -1;
    for (unsigned k = 0; k < (how & 3) && model->param_count > 0; ++k) {
        int p = (int)(fuzz_next(in) % (unsigned)model->param_count);
        unsigned at = fuzz_next(in);
        if (p <= last) continue; // no key twice
        last = p;
        const th_param_info *param = &model->params[p];
        double value = at == 255 ? param->max : param->min + (param->max - param->min) * at / 256.0;
        if (at < 128) value = param->value + (value - param->value) * at / 128.0;
        fuzz_write(t, ",\"%s\":%.9g", param->name, value);
    }
    fuzz_write(t, "}");
}

static inline void fuzz_write_choice(fuzz_input *in, fuzz_text *t, th_stage stage) {
    const th_model *models[TH_MODEL_MAX];
    int count = fuzz_models(stage, models);
    fuzz_write(t, ",\"%s\":", th_stage_name(stage));
    fuzz_write_model(in, t, models[fuzz_next(in) % (unsigned)count]);
}

// Two behaviours where they do not decide the same.
static inline void fuzz_write_behaviours(fuzz_input *in, fuzz_text *t) {
    const th_model *models[TH_MODEL_MAX];
    unsigned count = (unsigned)fuzz_models(TH_STAGE_BEHAVE, models);
    const th_model *a = models[fuzz_next(in) % count], *b = models[fuzz_next(in) % count];
    fuzz_write(t, ",\"behave\":[");
    fuzz_write_model(in, t, a);
    if (a != b && !(a->decides & b->decides)) {
        fuzz_write(t, ",");
        fuzz_write_model(in, t, b);
    }
    fuzz_write(t, "]");
}

// They stand there from the beginning, or come later.
static inline void fuzz_write_people(fuzz_input *in, fuzz_text *t) {
    unsigned how = fuzz_next(in), people = 1 + fuzz_next(in) % 8;
    if (how % 8 == 0) {
        fuzz_write(t, ",\"source\":{\"rate\":%g,\"from\":%g,\"until\":%g}", 0.2 * people,
                   0.01 * fuzz_next(in), 3.0 + 0.02 * fuzz_next(in));
        return;
    }
    if (how % 8 == 1) {
        double first = 0.01 * fuzz_next(in);
        fuzz_write(t, ",\"source\":{\"timetable\":[[%g,%u],[%g,2]]}", first, people, first + 0.7);
        return;
    }
    if (how % 8 == 2) {
        fuzz_write(t, ",\"count\":%u", people);
        return;
    }
    fuzz_write(t, ",\"positions\":[");
    for (unsigned i = 0; i < people; ++i) {
        double x = fuzz_place(in), y = fuzz_place(in);
        fuzz_write(t, "%s[%g,%g]", i ? "," : "", x, y);
    }
    fuzz_write(t, "]");
}

static inline void fuzz_write_route(fuzz_input *in, fuzz_text *t) {
    static const char *const routes[] = {"[\"w\",[\"e\",\"f\"]]", "[\"e\"]", "[\"q\",\"e\"]",
                                         "[[\"e\",\"f\"]]",       "[\"f\"]", "[]"};
    unsigned k = fuzz_next(in);
    if (k % 16 == 15)
        fuzz_write(t, ",\"own_goal\":%s", k & 16 ? "\"opposite\"" : "\"mirror_x\"");
    else
        fuzz_write(t, ",\"route\":%s", routes[k % (sizeof routes / sizeof *routes)]);
}

static inline void fuzz_write_group(fuzz_input *in, fuzz_text *t, int g) {
    unsigned how = fuzz_next(in);
    fuzz_write(t, "%s{\"id\":\"g%d\",\"level\":\"a\",\"radius\":%g", g ? "," : "", g,
               0.1 + 0.2 * fuzz_next(in) / 255.0);
    if (how & 1) fuzz_write(t, ",\"rigid\":%s", how & 2 ? "true" : "false");
    if (how & 4) fuzz_write(t, ",\"speed\":{\"uniform\":[%g,%g]}", how & 8 ? 0.0 : 1.0, 2.0);
    if (how & 16) fuzz_write(t, ",\"premovement\":{\"uniform\":[0,1]}");
    fuzz_write_route(in, t);
    fuzz_write_behaviours(in, t);
    fuzz_write_choice(in, t, TH_STAGE_PLAN);
    fuzz_write_choice(in, t, TH_STAGE_FILTER);
    fuzz_write_choice(in, t, TH_STAGE_MOVE);
    fuzz_write_people(in, t);
    fuzz_write(t, "}");
}

static inline void fuzz_write_scene(fuzz_input *in, fuzz_text *t) {
    t->used = 0;
    double step = 0.01 + 0.1 * fuzz_next(in) / 255.0, ends[4];
    unsigned how = fuzz_next(in);
    for (int i = 0; i < 4; ++i) ends[i] = fuzz_place(in);
    fuzz_write(
        t,
        "{\"levels\":[{\"id\":\"a\",\"walkable\":{\"rect\":[0,0,8,8]},"
        "\"walls\":[[[%g,%g],[%g,%g]]]},{\"id\":\"b\",\"walkable\":{\"rect\":[-6,0,-2,8]}}],"
        "\"stairs\":[{\"id\":\"s\",\"level\":\"a\",\"to\":\"b\",\"area\":{\"rect\":[-2,3,0,5]},"
        "\"top\":[[-2,3],[-2,5]]}],"
        "\"doors\":[{\"id\":\"d\",\"level\":\"a\",\"line\":[[0.1,%g],[7.9,%g]],"
        "\"schedule\":[{\"time\":0.3,\"open\":false},{\"time\":0.6,\"open\":true}]}],"
        "\"exits\":[{\"id\":\"e\",\"level\":\"a\",\"line\":[[8,3],[8,5]],\"closed\":%s,"
        "\"schedule\":[[%g,\"open\"],[1.5,\"close\"],[2,\"open\"]]},"
        "{\"id\":\"f\",\"level\":\"b\",\"line\":[[-6,3],[-6,5]]}],"
        "\"waypoints\":[{\"id\":\"w\",\"level\":\"a\",\"area\":{\"rect\":[1,1,3,3]}}],"
        "\"waiting_areas\":[{\"id\":\"q\",\"level\":\"a\",\"area\":{\"rect\":[5,1,7,3]},\"wait\":0."
        "5}],"
        "\"measure\":{\"lines\":[{\"level\":\"a\",\"line\":[[4,0],[4,8]]}],"
        "\"areas\":[{\"level\":\"a\",\"area\":{\"rect\":[3,3,6,6]}}]},"
        "\"interests\":[{\"id\":\"i\",\"level\":\"a\",\"area\":{\"rect\":[5,5,6,6]}}],"
        "\"zones\":[{\"level\":\"a\",\"area\":{\"rect\":[2,2,5,4]},\"speed\":0.6}],"
        "\"guidance\":[{\"level\":\"a\",\"line\":[[1,4],[4,5],[7,4]]}],"
        "\"strips\":[{\"level\":\"a\",\"line\":[[%g,%g],[4,4],[%g,%g]],\"width\":%g}],"
        "\"scripted\":[{\"level\":\"a\",\"path\":[[0,1,7],[9,7,7]]}%s],"
        "\"plan_cell\":0.4,\"run\":{\"step\":%g},\"groups\":[",
        ends[0], ends[1], ends[2] + 0.1, ends[3], ends[2], ends[2], how & 1 ? "true" : "false",
        how & 2 ? 0.5 : 1.0, ends[1], ends[0], ends[3], ends[2], ends[0] + 0.3,
        how & 4 ? ",{\"level\":\"a\",\"shape\":{\"rect\":[-0.3,-0.2,0.3,0.2]},"
                  "\"path\":[[0,4,1],[3,4,7]]}"
                : "",
        step);
    int groups = 1 + (int)(fuzz_next(in) % FUZZ_GROUPS);
    for (int g = 0; g < groups; ++g) fuzz_write_group(in, t, g);
    fuzz_write(t, "]}");
}

// No agent is lost and nothing is NaN.
static inline void fuzz_check(th_world *world) {
    th_statistics s = th_world_statistics(world);
    if (s.spawned != s.inside + s.left + s.removed) abort();
    int count = th_world_agent_count(world);
    const int fields[] = {TH_FIELD_POSITION_X, TH_FIELD_POSITION_Y, TH_FIELD_VELOCITY_X,
                          TH_FIELD_VELOCITY_Y};
    for (int f = 0; f < 4; ++f) {
        const float *values = th_world_map(world, fields[f], TH_ACCESS_READ);
        for (int i = 0; values && i < count; ++i)
            if (!isfinite(values[i])) abort();
        if (values) th_world_unmap(world, fields[f]);
    }
}

static inline th_scene *fuzz_load(const fuzz_text *t) {
    th_scene *scene = NULL;
    th_error error;
    th_result result = th_scene_load_json(t->text, t->used, "fuzz", NULL, NULL, &scene, &error);
    if (result != TH_OK && getenv("TH_FUZZ_SHOW"))
        fprintf(stderr, "%s\n%s: %s\n", t->text, error.path, error.message);
    return scene;
}

static inline th_world *fuzz_world(const th_scene *scene) {
    th_world_def def = th_world_def_default();
    th_world *world = NULL;
    def.threads = 1;
    th_world_create(scene, &def, &world, NULL);
    return world;
}
#endif
