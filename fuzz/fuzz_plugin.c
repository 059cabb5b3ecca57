// libFuzzer target: descriptions of models as a plugin may give them. The bytes fill a th_model: names, parameters,
// presets, fields, sight, which functions there are and what they return. A wrong one is refused with a reason; one
// that is taken is named by a scene and stepped, no agent gets lost and nothing becomes NaN, whatever it returns.
//   build-fuzz/fuzz/fuzz_plugin -max_len=256 -max_total_time=60 fuzz/corpus/plugin
// SPDX-License-Identifier: Apache-2.0
#include "registry/models.h"
#include "throng/throng.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct input {
    const uint8_t *data;
    size_t size, used;
} input;

static unsigned next(input *in) { return in->used < in->size ? in->data[in->used++] : 0; }

static const char *word(input *in) {
    static const char *const words[] = {"mine", "range", "strength", "x", "orca", "", "a b", NULL};
    return words[next(in) % 8];
}

static double number(input *in) {
    static const double numbers[] = {0, 1, 0.5, 2, 50, -1, 1e30, 1e300};
    unsigned byte = next(in);
    if (byte == 255) return (double)NAN;
    return byte < 250 ? numbers[byte % 8] : byte % 2 ? (double)INFINITY : -(double)INFINITY;
}

// ---- what its functions return

static int answer; // of this input

static th_vec2 velocity(const th_agent *person) {
    static const float speeds[] = {0, 1, -1, 100, 1e30f, INFINITY, NAN, 1e-40f};
    th_vec2 result = {speeds[answer % 8], speeds[answer / 8 % 8]};
    if (answer & 64) result = person->preferred;
    if (person->own) person->own[0].real = result.x;
    return result;
}

static void look(const float *params, th_sight *sight) {
    (void)params;
    sight->neighbours = answer % 40 - 5;
    sight->neighbour_range = (float)(answer % 90) - 10;
    sight->walls = answer % 100 - 10;
    sight->wall_range = answer % 3 ? 2.0f : NAN;
}

static void run(th_world *world, int model) { (void)world, (void)model; }
static bool create(th_world *world, int model) { return (void)world, (void)model, answer % 5; }
static size_t saved_size(const th_world *world, int model) { return (void)world, (void)model, 8; }
static void save(const th_world *world, int model, void *memory) {
    (void)world, (void)model;
    memset(memory, 1, 8);
}
static bool sound(const th_world *world, int model, const void *memory, size_t size) {
    return (void)world, (void)model, (void)memory, size == 8;
}
static void restore(th_world *world, int model, const void *memory) {
    (void)world, (void)model, (void)memory;
}

// ---- the description

static th_param_info params[8];
static th_param preset_params[4];
static th_preset_info presets[2];
static th_field_info fields[8];

static void fill_lists(input *in, th_model *m) {
    for (int i = 0; i < 8; ++i) {
        params[i] =
            (th_param_info){word(in), word(in), number(in), number(in), number(in), "s", "d"};
        fields[i] = (th_field_info){word(in), next(in) % 2, next(in) % 2, next(in) % 8 ? "d" : NULL,
                                    next(in) % 2 ? "l" : NULL};
    }
    for (int i = 0; i < 4; ++i) preset_params[i] = (th_param){word(in), number(in)};
    for (int i = 0; i < 2; ++i)
        presets[i] = (th_preset_info){word(in), "d", preset_params, (int)(next(in) % 6) - 1};
    m->params = next(in) % 16 ? params : NULL;
    m->param_count = (int)(next(in) % 10) - 1;
    m->presets = next(in) % 16 ? presets : NULL;
    m->preset_count = (int)(next(in) % 4) - 1;
    m->fields = next(in) % 16 ? fields : NULL;
    m->field_count = (int)(next(in) % 10) - 1;
    if (m->param_count > 8) m->param_count = 100;
    if (m->preset_count > 2) m->preset_count = -7;
    if (m->field_count > 8) m->field_count = 1000;
}

static void fill(input *in, th_model *m) {
    unsigned how = next(in);
    *m = th_model_default();
    if (how == 255) m->cookie = 0;
    m->stage = (th_stage)(next(in) % 9);
    m->name = word(in);
    m->doc = how % 16 == 15 ? NULL : "doc";
    m->source = "source";
    m->agent = how & 1 ? NULL : velocity;
    m->run = how & 1 ? run : NULL;
    m->look = how & 2 ? look : NULL;
    m->create = how & 4 ? create : NULL;
    if (how & 8) m->saved_size = saved_size, m->save = save, m->saved_is_sound = sound;
    m->restore = how & 8 && next(in) % 8 ? restore : NULL;
    m->sight = (th_sight){(int)(next(in) % 24) - 2, (float)number(in), next(in) % 2,
                          (int)(next(in) % 70) - 2, (float)number(in)};
    m->order = (int)next(in) - 100;
    m->cell_size = (float)number(in);
    m->separates_pairs = next(in) % 2;
    m->needs_lattice = next(in) % 2;
    m->own_goals = next(in) % 2;
    answer = (int)next(in);
    fill_lists(in, m);
}

// ---- the world

static void check(th_world *world) {
    th_statistics s = th_world_statistics(world);
    if (s.spawned != s.inside + s.left + s.removed) abort();
    int count = th_world_agent_count(world);
    for (int f = 0; f < 2; ++f) {
        int field = f ? TH_FIELD_POSITION_Y : TH_FIELD_POSITION_X;
        const float *values = th_world_map(world, field, TH_ACCESS_READ);
        for (int i = 0; values && i < count; ++i)
            if (!isfinite(values[i])) abort();
        th_world_unmap(world, field);
    }
}

static void use(const th_model *m) {
    static const char *const stages[] = {[TH_STAGE_BEHAVE] = "behave",
                                         [TH_STAGE_PLAN] = "plan",
                                         [TH_STAGE_FILTER] = "filter",
                                         [TH_STAGE_MOVE] = "move"};
    char text[600];
    snprintf(text, sizeof text,
             "{\"levels\":[{\"walkable\":{\"rect\":[0,0,8,8]}}],"
             "\"exits\":[{\"id\":\"e\",\"line\":[[8,3],[8,5]]}],"
             "\"groups\":[{\"to\":\"e\",\"%s\":\"%s\",\"positions\":[[1,1],[1.5,1],[7.5,4]]}]}",
             stages[m->stage], m->name);
    th_scene *scene = NULL;
    th_world *world = NULL;
    th_error error = {0};
    th_result result = th_scene_load_json(text, strlen(text), "fuzz", NULL, NULL, &scene, &error);
    if (result != TH_OK && !error.message[0]) abort();
    th_world_def def = th_world_def_default();
    def.threads = 1;
    if (result == TH_OK && th_world_create(scene, &def, &world, &error) == TH_OK) {
        th_world_step(world, 5);
        check(world);
        th_world_destroy(world);
    }
    th_scene_destroy(scene);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static th_model model;
    int before = 0;
    th_models(&before);
    input in = {data, size, 0};
    fill(&in, &model);
    th_error error = {0};
    th_result result = th_model_register(&model, &error);
    if (result == TH_OK)
        use(&model);
    else if (error.code != result || !error.message[0])
        abort();
    th_models_forget(before);
    return 0;
}
