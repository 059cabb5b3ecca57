// libFuzzer target: the texts of `--set` and `--vary`. Every line of the input is one; lines that begin with '*' vary,
// without it. A good variation loads the scene with its first and last values, as a sweep does.
//   build-fuzz/fuzz/fuzz_override -max_len=512 -max_total_time=60 fuzz/corpus/override
// SPDX-License-Identifier: Apache-2.0
#include "run/runs.h"
#include "throng/throng.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 12 };
static const char SCENE[] =
    "{\"levels\":[{\"id\":\"ground\",\"walkable\":{\"rect\":[0,0,20,10]}}],"
    "\"doors\":[{\"id\":\"main\",\"line\":[[10,4],[10,6]]}],"
    "\"exits\":[{\"id\":\"e\",\"line\":[[20,4],[20,6]]}],"
    "\"groups\":[{\"id\":\"all\",\"area\":{\"rect\":[1,1,9,9]},\"count\":5}]}";

static void load(const char *const *overrides, int count) {
    th_scene *scene = NULL;
    th_error error = {0};
    const th_scene_options options = {.overrides = overrides, .override_count = count};
    th_result result =
        th_scene_load_json(SCENE, strlen(SCENE), "fuzz.json", NULL, &options, &scene, &error);
    if (result != TH_OK && (scene || error.code != result || !error.message[0])) abort();
    th_scene_destroy(scene);
}

// With the values of combination k behind the overrides.
static void load_varied(const th_variation *v, int k, const char **overrides, int count) {
    char *texts[TH_VARY_PATHS] = {0};
    for (int i = 0; i < v->count; ++i) {
        if (asprintf(&texts[i], "%s=%s", v->items[i].path, th_variation_value(v, k, i)) < 0)
            abort();
        overrides[count + i] = texts[i];
    }
    load(overrides, count + v->count);
    for (int i = 0; i < v->count; ++i) free(texts[i]);
}

// A sweep that its folder describes reads back as the same.
static void check_kept(const th_variation *v) {
    th_variation back;
    json_t *json = th_variation_json(v);
    if (!json || !th_variation_of_json(&back, json) || back.count != v->count ||
        back.combinations != v->combinations)
        abort();
    th_variation_release(&back);
    json_decref(json);
}

static void vary(const char *const *texts, int count, const char **overrides, int set_count) {
    th_variation v;
    th_error error = {0};
    th_result result = th_variation_read(&v, texts, count, &error);
    if (result != TH_OK && !error.message[0]) abort();
    if (result == TH_OK) {
        check_kept(&v);
        load_varied(&v, 0, overrides, set_count);
        load_varied(&v, v.combinations - 1, overrides, set_count);
    }
    th_variation_release(&v);
    th_variation drawn;
    error = (th_error){0};
    result = th_variation_draw(&drawn, texts, count, "sobol:20", 1, &error);
    if (result != TH_OK && !error.message[0]) abort();
    if (result == TH_OK) check_kept(&drawn);
    th_variation_release(&drawn);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *sets[MOST + TH_VARY_PATHS], *varied[MOST];
    int set_count = 0, vary_count = 0;
    char *text = strndup((const char *)data, size), *rest = text;
    if (!text) abort();
    for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
        if (*line == '*' && vary_count < MOST)
            varied[vary_count++] = line + 1;
        else if (*line != '*' && set_count < MOST)
            sets[set_count++] = line;
    }
    if (vary_count > 0)
        vary(varied, vary_count, sets, set_count);
    else
        load(sets, set_count);
    free(text);
    return 0;
}
