// libFuzzer target: any bytes as a scene text, and the first steps of the world that it makes. Nothing may crash, hang or
// leak; linked files are refused. The mutator edits the scene as JSON (a number, a word, an element doubled, moved or left
// out, a model replaced by another of its stage), so that most inputs stay scenes; now and then it edits bytes.
//   build-fuzz/fuzz/fuzz_scene -max_len=4096 -max_total_time=60 fuzz/corpus/scene
// SPDX-License-Identifier: Apache-2.0
#include "scene/scene.h"
#include "throng/throng.h"
#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

enum { PEOPLE = 300 }; // more would only cost time

static void step_world(const th_scene *scene) {
    th_world_def def = th_world_def_default();
    th_world *world = NULL;
    double people = 0;
    const th_scene_view *view = th_scene_view_of(scene);
    for (int g = 0; g < view->group_count; ++g) people += (double)view->groups[g].count;
    if (people > PEOPLE) return;
    def.threads = 1;
    def.max_agents = 4 * PEOPLE;
    if (th_world_create(scene, &def, &world, NULL) == TH_OK) th_world_step(world, 2);
    th_world_destroy(world);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    th_scene_options options = {.no_files = true};
    th_scene *scene = NULL;
    th_error error;
    th_result result =
        th_scene_load_json((const char *)data, size, "fuzz.json", NULL, &options, &scene, &error);
    if (result != TH_OK && (scene || error.code != result || !error.message[0])) abort();
    if (result == TH_OK) step_world(scene);
    if (result == TH_OK) th_scene_destroy(scene);
    return 0;
}

// ---- a mutator that keeps scenes valid

typedef struct mutation {
    uint64_t random;
    long countdown; // values to pass before the one that is edited; negative: edited
    bool counts;    // only counts them
} mutation;

static unsigned draw(mutation *m, size_t most) {
    m->random = m->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)((m->random >> 33) % (most > 0 ? most : 1));
}

static json_t *other_number(mutation *m, const json_t *value) {
    static const double factors[] = {0.5, 2.0, 0.9, 1.1, -1.0, 0.0, 1.000001, 10.0, 0.1};
    unsigned how = draw(m, 2 * sizeof factors / sizeof *factors);
    double old = json_number_value(value);
    if (json_is_integer(value) && draw(m, 2))
        return json_integer(json_integer_value(value) + (json_int_t)draw(m, 5) - 2);
    if (how < sizeof factors / sizeof *factors) return json_real(old * factors[how]);
    return json_real(old + ((double)draw(m, 2001) - 1000.0) / 500.0);
}

// The name of another model, where the text is that of one.
static json_t *other_word(mutation *m, const json_t *value) {
    const char *old = json_string_value(value);
    int count;
    const th_model *const *models = th_models(&count);
    unsigned from = draw(m, (size_t)count);
    for (int k = 0; k < count; ++k) {
        if (strcmp(models[k]->name, old) != 0) continue;
        for (int j = 0; j < count; ++j) {
            const th_model *other = models[((unsigned)j + from) % (unsigned)count];
            if (other->stage == models[k]->stage && !other->internal && other != models[k])
                return json_string(other->name);
        }
    }
    return NULL;
}

static void edit_array(mutation *m, json_t *array) {
    size_t count = json_array_size(array), at = draw(m, count), to = draw(m, count + 1);
    if (count == 0) return;
    switch (draw(m, 3)) {
    case 0: json_array_remove(array, at); return;
    case 1: json_array_insert_new(array, to, json_deep_copy(json_array_get(array, at))); return;
    default: json_array_insert(array, to, json_array_get(array, at)); json_array_remove(array, at);
    }
}

static json_t *edited(mutation *m, json_t *value);

static void visit_object(mutation *m, json_t *object) {
    const char *key;
    json_t *value;
    void *next;
    json_object_foreach_safe(object, next, key, value) {
        if (m->countdown < 0) return;
        if (m->countdown == 0 && !m->counts && draw(m, 8) == 0) {
            m->countdown = -1;
            json_object_del(object, key);
            return;
        }
        json_t *put = edited(m, value);
        if (put) json_object_set_new(object, key, put);
    }
}

// Walks to the value whose turn it is; a replacement for this one, or NULL.
static json_t *edited(mutation *m, json_t *value) {
    if (m->countdown < 0) return NULL;
    if (m->countdown-- == 0 && !m->counts) {
        m->countdown = -1;
        if (json_is_number(value)) return other_number(m, value);
        if (json_is_string(value)) return other_word(m, value);
        if (json_is_boolean(value)) return json_boolean(!json_boolean_value(value));
        if (json_is_array(value)) edit_array(m, value);
        return NULL;
    }
    if (json_is_object(value)) visit_object(m, value);
    for (size_t k = 0; json_is_array(value) && k < json_array_size(value); ++k) {
        json_t *put = edited(m, json_array_get(value, k));
        if (put) json_array_set_new(value, k, put);
        if (m->countdown < 0) return NULL;
    }
    return NULL;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
    mutation m = {.random = seed, .countdown = 1L << 40, .counts = true};
    json_t *root = draw(&m, 10) ? json_loadb((const char *)data, size, 0, NULL) : NULL;
    if (!root) return LLVMFuzzerMutate(data, size, most);
    edited(&m, root);
    long values = (1L << 40) - m.countdown;
    m.counts = false;
    for (unsigned edits = 1 + draw(&m, 3); edits > 0; --edits) {
        m.countdown = 1 + (long)draw(&m, (size_t)values);
        json_t *put = edited(&m, root);
        json_decref(put);
    }
    size_t length = json_dumpb(root, (char *)data, most, JSON_COMPACT | JSON_REAL_PRECISION(9));
    json_decref(root);
    return length <= most ? length : LLVMFuzzerMutate(data, size, most);
}
