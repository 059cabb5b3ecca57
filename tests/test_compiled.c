// Compiled scenes: the same hashes as the scenes they were made from, also without GEOS; refusals; bytes changed on purpose.
// SPDX-License-Identifier: Apache-2.0
#include "core/hash.h"
#include "scene/scene.h"
#include "support.h"
#include "world/world.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Every section, rooms, pictures, stairs, sources, positions, own goals, leaders, bodies, doors, narrow gaps.
static const char *const scenes[] = {
    "scenes/station.json",
    "scenes/hidac/building.json",
    "scenes/hidac/doors.json",
    "scenes/guided/park.json",
    "scenes/guided/jam.json",
    "scenes/interest/letters.json",
    "scenes/uic/doorway.json",
    "scenes/uic/circle_1500.json",
    "scenes/continuum/crossing.json",
    "scenes/keep_side/tunnel.json",
    "scenes/undecided/sights.json",
    "scenes/quickest/two_exits_two_levels.json",
    "scenes/people/seat_rows.json",
    "scenes/pbd/bears_and_rabbits.json",
    "scenes/verification/nist_29_groups.json",
    "scenes/verification/juelich_05_narrow.json",
    "scenes/templates/stairs.json",
    "scenes/grosser_stern.json",
};
enum { SCENES = sizeof scenes / sizeof *scenes, STEPS = 5 };

typedef struct blob {
    unsigned char *bytes;
    size_t size;
} blob;

static blob compiled(const th_scene *scene) {
    void *bytes = NULL;
    blob made = {0};
    th_error error = {0};
    if (th_scene_compiled(scene, &bytes, &made.size, &error) != TH_OK)
        fail_msg("%s", error.message);
    made.bytes = bytes;
    return made;
}

static blob compiled_text(const char *json) {
    th_scene *scene = scene_of(json);
    blob made = compiled(scene);
    th_scene_destroy(scene);
    return made;
}

static th_scene *loaded(blob from) {
    th_scene *scene = NULL;
    th_error error = {0};
    if (th_scene_load_compiled(from.bytes, from.size, NULL, &scene, &error) != TH_OK)
        fail_msg("%s: %s", error.path, error.message);
    return scene;
}

static uint64_t hash_of(const th_scene *scene) {
    th_world *world = world_of(scene, 1, 7);
    th_world_step(world, STEPS);
    uint64_t hash = th_world_hash(world);
    th_world_destroy(world);
    return hash;
}

// The hash that the build without GEOS prints.
static void assert_same_without_geos(blob from, uint64_t hash) {
    char path[] = "/tmp/throng-compiled-XXXXXX", command[600], line[200] = "", wanted[40];
    int file = mkstemp(path);
    assert_true(file >= 0 && write(file, from.bytes, from.size) == (ssize_t)from.size);
    close(file);
    snprintf(command, sizeof command, "'%s' %s %d 7", TH_COMPILED_ONLY_PROGRAM, path, STEPS);
    FILE *out = popen(command, "r");
    assert_non_null(out);
    if (!fgets(line, sizeof line, out)) line[0] = '\0';
    pclose(out);
    unlink(path);
    snprintf(wanted, sizeof wanted, "%016llx\n", (unsigned long long)hash);
    assert_string_equal(line, wanted);
}

// Members that a few steps may not show.
static void assert_same_lists(const th_scene *a, const th_scene *b) {
    for (int g = 0; g < a->group_count; ++g) {
        const th_group *p = &a->groups[g], *q = &b->groups[g];
        assert_memory_equal(p->weights, q->weights, (size_t)a->name_count * sizeof *p->weights);
        assert_memory_equal(p->route, q->route, (size_t)th_group_ways(p) * sizeof *p->route);
    }
    for (int d = 0; d < a->door_count; ++d)
        for (int k = 0; k < a->doors[d].schedule_count; ++k)
            assert_true(a->doors[d].schedule[k].time == b->doors[d].schedule[k].time);
}

static void shipped_scenes_keep_their_hashes(void **state) {
    (void)state;
    for (int k = 0; k < SCENES; ++k) {
        th_scene *source = scene_file(scenes[k]);
        blob made = compiled(source);
        th_scene *scene = loaded(made);
        blob again = compiled(scene);
        if (made.size != again.size || memcmp(made.bytes, again.bytes, made.size) != 0)
            fail_msg("%s: not the same bytes after reading", scenes[k]);
        assert_same_lists(source, scene);
        uint64_t hash = hash_of(source);
        if (hash_of(scene) != hash) fail_msg("%s: another hash", scenes[k]);
        assert_same_without_geos(made, hash);
        free(again.bytes);
        free(made.bytes);
        th_scene_destroy(scene);
        th_scene_destroy(source);
    }
}

static const char *const small = TH_JSON({
    "levels": [{"id": "a", "walkable": {"rect": [0, 0, 10, 6]}, "obstacles": [{"rect": [2, 2, 3, 3]}]},
               {"id": "b", "walkable": {"rect": [8, 0, 20, 6]}}],
    "stairs": [{"level": "a", "to": "b", "area": {"rect": [7, 1, 9, 3]}, "top": [[9, 1], [9, 3]]}],
    "zones": [{"level": "a", "area": {"rect": [0, 4, 2, 6]}, "speed": 0.5}],
    "doors": [{"id": "d", "level": "a", "line": [[5, 0], [5, 6]], "schedule": [{"time": 1, "open": false}]}],
    "exits": [{"id": "e", "level": "b", "line": [[20, 1], [20, 5]]}],
    "waiting_areas": [{"id": "w", "level": "a", "area": {"rect": [5, 4, 6, 6]}, "wait": 1}],
    "strips": [{"level": "b", "line": [[10, 3], [19, 3]]}],
    "interests": [{"level": "b", "area": {"rect": [12, 0, 13, 1]}, "layer": "shop"}],
    "groups": [{"id": "g", "level": "a", "count": 5, "area": {"rect": [1, 1, 4, 5]}, "route": ["w", "e"],
                "filter": "keep_side", "behave": ["route", "interest"]},
               {"id": "h", "level": "a", "positions": [[1, 5], [3, 5]], "to": "e", "behave": "hidac",
                "move": "hidac", "speed": {"normal": [1.3, 0.2], "min": 0.5, "max": 2}},
               {"id": "s", "level": "a", "source": {"rate": 1}, "area": {"rect": [1, 1, 4, 5]}, "to": "e"}],
    "scripted": [{"level": "b", "path": [[0, 12, 3], [10, 15, 3]], "shape": {"rect": [0, 0, 1, 1]}}],
    "measure": {"lines": [{"id": "l", "level": "b", "line": [[15, 0], [15, 6]]}],
                "areas": [{"id": "m", "level": "b", "area": {"rect": [14, 0, 16, 6]}}]}
});

static void assert_refused(blob bytes, const char *why) {
    th_scene *scene = NULL;
    th_error error = {0};
    assert_int_equal(th_scene_load_compiled(bytes.bytes, bytes.size, NULL, &scene, &error),
                     TH_BAD_SCENE);
    assert_null(scene);
    if (!strstr(error.message, why)) fail_msg("\"%s\" lacks \"%s\"", error.message, why);
}

static void other_versions_and_damage_are_refused_with_a_sentence(void **state) {
    (void)state;
    blob made = compiled_text(small);
    made.bytes[8] ^= 1;
    assert_refused(made, "is of version 5 and this build reads version 4");
    made.bytes[8] ^= 1;
    for (size_t k = 28; k < made.size; k += 97) {
        made.bytes[k] ^= 1;
        assert_refused(made, "damaged or cut short");
        made.bytes[k] ^= 1;
    }
    assert_refused((blob){made.bytes, made.size - 1}, "damaged or cut short");
    assert_refused((blob){made.bytes, 20}, "no compiled scene");
    assert_refused((blob){(unsigned char *)"{\"levels\": []}", 14}, "no compiled scene");
    free(made.bytes);
}

// The text of `size` characters in the bytes.
static unsigned char *find(blob in, const char *text, size_t size) {
    for (size_t k = 0; k + size <= in.size; ++k)
        if (memcmp(in.bytes + k, text, size) == 0) return in.bytes + k;
    fail_msg("\"%s\" is not there", text);
    return NULL;
}

static void models_and_parameters_of_another_build_are_named(void **state) {
    (void)state;
    blob made = compiled_text(small);
    memcpy(find(made, "interests", 9), "interesty", 9);
    th_compiled_seal(made.bytes, made.size);
    assert_refused(made, "no model of this build has the section \"interesty\"");
    memcpy(find(made, "interesty", 9), "interests", 9);
    memcpy(find(made, "people", 6), "peopel", 6);
    th_compiled_seal(made.bytes, made.size);
    assert_refused(made, "this build has no move model \"peopel\"");
    memcpy(find(made, "peopel", 6), "people", 6);
    memcpy(find(made, "time_gap", 8), "tome_gap", 8);
    th_compiled_seal(made.bytes, made.size);
    assert_refused(made, "other parameters in this build");
    free(made.bytes);
}

// fuzz/fuzz_compiled.c is the open-ended version.
static void forged_bytes_are_refused_or_make_a_world(void **state) {
    (void)state;
    blob made = compiled_text(small);
    unsigned char *forged = malloc(made.size);
    assert_non_null(forged);
    uint64_t random = 1;
    int refused = 0, accepted = 0;
    enum { TRIES = 3000 };
    for (int k = 0; k < TRIES; ++k) {
        memcpy(forged, made.bytes, made.size);
        for (int change = 0; change < 1 + k % 3; ++change) {
            random = th_mix64(random + 0x9e3779b97f4a7c15u);
            forged[28 + random % (made.size - 28)] ^= (unsigned char)(random >> 32);
        }
        th_compiled_seal(forged, made.size);
        th_scene *scene = NULL;
        th_world *world = NULL;
        th_world_def def = th_world_def_default();
        def.threads = 1;
        th_result result = th_scene_load_compiled(forged, made.size, NULL, &scene, NULL);
        refused += result != TH_OK;
        accepted += result == TH_OK;
        if (scene && th_world_create(scene, &def, &world, NULL) == TH_OK) th_world_step(world, 1);
        th_world_destroy(world);
        th_scene_destroy(scene);
    }
    assert_true(refused > TRIES / 4 && accepted > TRIES / 20);
    free(forged);
    free(made.bytes);
}

static void missing_memory_is_an_error_and_nothing_is_lost(void **state) {
    (void)state;
    blob made = compiled_text(small);
    bool complete = false;
    for (int64_t k = 1; !complete; k += 1 + k / 8) {
        ledger book = {.fail_at = k};
        th_allocator allocator = {counted_alloc, counted_free, &book};
        th_scene *scene = NULL;
        th_result result = th_scene_load_compiled(made.bytes, made.size, &allocator, &scene, NULL);
        complete = result == TH_OK;
        assert_true(complete || result == TH_NO_MEMORY);
        th_scene_destroy(scene);
        assert_int_equal(book.bytes, 0);
    }
    free(made.bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shipped_scenes_keep_their_hashes),
        cmocka_unit_test(other_versions_and_damage_are_refused_with_a_sentence),
        cmocka_unit_test(models_and_parameters_of_another_build_are_named),
        cmocka_unit_test(forged_bytes_are_refused_or_make_a_world),
        cmocka_unit_test(missing_memory_is_an_error_and_nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
