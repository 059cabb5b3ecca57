// The fuzz corpus and thousands of its mutations, in-process and always the same: whatever the bytes, the
// loader answers with a scene or with an error. fuzz/fuzz_scene.c is the open-ended version.
// SPDX-License-Identifier: Apache-2.0
#include "core/hash.h"
#include "scene/scene.h"
#include "support.h"
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 16384, FILES = 64, MUTATIONS = 200 };

typedef struct text {
    char bytes[LONGEST];
    size_t length;
} text;

static text corpus[FILES];
static int corpus_count;

static int load_corpus(void **state) {
    (void)state;
    DIR *folder = opendir(TH_SOURCE_DIR "/fuzz/corpus/scene");
    if (!folder) return -1;
    for (struct dirent *entry; (entry = readdir(folder)) && corpus_count < FILES;) {
        if (entry->d_name[0] == '.') continue;
        char path[600];
        snprintf(path, sizeof path, "%s/fuzz/corpus/scene/%s", TH_SOURCE_DIR, entry->d_name);
        FILE *file = fopen(path, "rb");
        if (!file) continue;
        text *t = &corpus[corpus_count++];
        t->length = fread(t->bytes, 1, LONGEST, file);
        fclose(file);
    }
    closedir(folder);
    return 0;
}

// Returns whether it was accepted.
static bool try_text(const text *t) {
    th_scene_options options = {.no_files = true};
    th_scene *scene = NULL;
    th_error error;
    th_result result =
        th_scene_load_json(t->bytes, t->length, "fuzz", NULL, &options, &scene, &error);
    if (result == TH_OK) {
        th_scene_destroy(scene);
        return true;
    }
    assert_null(scene);
    assert_int_equal(error.code, result);
    assert_true(error.message[0] != '\0');
    assert_true(error.line > 0 && error.column > 0);
    return false;
}

static void the_corpus_is_survived(void **state) {
    (void)state;
    int accepted = 0;
    assert_true(corpus_count > 15);
    for (int i = 0; i < corpus_count; ++i) accepted += try_text(&corpus[i]);
    assert_true(accepted >= 3 && accepted < corpus_count);
}

// One edit: flip, drop, double, splice from another file, or an invalid token.
static void mutate(text *t, uint64_t random) {
    static const char *const tokens[] = {"1e308", "-1",     "0",  "null",   "[]",  "{}",
                                         "\"\"",  "1e-300", "[[", "]]",     "NaN", "true",
                                         "\\u00", "\xc3",   "/*", "9999999"};
    if (t->length == 0) return;
    size_t at = (size_t)(random >> 8) % t->length, length = 1 + (size_t)(random >> 40) % 12;
    if (at + length > t->length) length = t->length - at;
    switch (random % 5) {
    case 0: t->bytes[at] = (char)(t->bytes[at] ^ (char)(1u << ((random >> 32) & 7))); return;
    case 1:
        memmove(t->bytes + at, t->bytes + at + length, t->length - at - length);
        t->length -= length;
        return;
    case 2:
        if (t->length + length > LONGEST) return;
        memmove(t->bytes + at + length, t->bytes + at, t->length - at);
        t->length += length;
        return;
    case 3: {
        const text *other = &corpus[(random >> 32) % (uint64_t)corpus_count];
        if (other->length < length) return;
        memcpy(t->bytes + at, other->bytes + (random >> 16) % (other->length - length + 1), length);
        return;
    }
    default: {
        const char *token = tokens[(random >> 32) % (sizeof tokens / sizeof tokens[0])];
        size_t size = strlen(token);
        if (t->length + size > LONGEST) return;
        memmove(t->bytes + at + size, t->bytes + at, t->length - at);
        memcpy(t->bytes + at, token, size);
        t->length += size;
        return;
    }
    }
}

static void mutations(void **state) {
    (void)state;
    static text changed;
    uint64_t random = 1;
    int accepted = 0;
    for (int i = 0; i < corpus_count; ++i)
        for (int k = 0; k < MUTATIONS; ++k) {
            changed = corpus[i];
            int edits = 1 + k % 4;
            for (int e = 0; e < edits; ++e)
                mutate(&changed, random = th_mix64(random + 0x9e3779b97f4a7c15u));
            accepted += try_text(&changed);
        }
    // Most edits break a text and some do not: both cases must have occurred.
    assert_true(accepted > 20 && accepted < corpus_count * MUTATIONS / 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_corpus_is_survived),
        cmocka_unit_test(mutations),
    };
    return cmocka_run_group_tests(tests, load_corpus, NULL);
}
