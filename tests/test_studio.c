// The studio without its server: frames as bytes, documents and their edits, people that go on in another scene.
// SPDX-License-Identifier: Apache-2.0
#include "studio/exchange.h"
#include "studio/studio.h"
#include "throng/throng.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char room[] = "{\"levels\": [{\"walkable\": {\"rect\": [0, 0, 20, 10]}}], \"exits\": "
                           "[{\"id\": \"east\", \"line\": [[20, 4], [20, 6]]}],"
                           "\"doors\": [{\"id\": \"middle\", \"line\": [[10, 0], [10, 10]]}],"
                           "\"groups\": [{\"id\": \"people\", \"count\": 50, \"area\": {\"rect\": "
                           "[0, 0, 8, 10]}, \"to\": \"east\", \"move\": \"orca\"}]}";

static th_scene *compile(const json_t *document) {
    th_scene *scene = NULL;
    th_error error = {0};
    if (th_document_compile(document, "test", (th_link_scope){0}, NULL, &scene, &error) != TH_OK)
        fail_msg("%s", error.message);
    return scene;
}

static json_t *read_room(void) {
    json_t *document = th_document_read(room, sizeof room - 1, "room", NULL);
    assert_non_null(document);
    return document;
}

static th_world *world_of(const th_scene *scene) {
    th_world *world = NULL;
    th_world_def def = th_world_def_default();
    def.threads = 1;
    assert_int_equal(th_world_create(scene, &def, &world, NULL), TH_OK);
    return world;
}

// ---- frames

static uint32_t u32_at(const unsigned char *bytes) {
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}
static uint16_t u16_at(const unsigned char *bytes) { return (uint16_t)(bytes[0] | bytes[1] << 8); }
static float f32_at(const unsigned char *bytes) {
    float value;
    uint32_t bits = u32_at(bytes);
    memcpy(&value, &bits, sizeof value);
    return value;
}

// Byte by byte as docs/studio-protocol.md says, not by the structs that wrote them.
static void a_frame_is_the_documented_bytes(void **state) {
    (void)state;
    json_t *document = read_room();
    th_scene *scene = compile(document);
    th_world *world = world_of(scene);
    th_world_step(world, 5);
    th_studio_catalogue *catalogue = th_studio_catalogue_create(th_scene_view_of(scene), world);
    static const th_studio_wishes none;
    th_studio_moment *moment = th_studio_moment_take(world, 1, catalogue, &none, NULL);
    assert_non_null(moment);
    unsigned char *bytes = malloc(th_studio_people_room(moment));
    const th_studio_view view = {.given = true, .box = {0, 0, 20, 10}, .pixels = {1000, 500}};
    const th_studio_frame frame = {.number = 77, .past = true, .colour = 0, .person = 3};
    size_t size = th_studio_write_people(moment, &view, &frame, bytes);
    assert_int_equal(size, 64 + 16 * 50);
    assert_memory_equal(bytes, "THR1", 4);
    assert_int_equal(bytes[4], 1);                // version
    assert_int_equal(bytes[5], TH_STUDIO_PEOPLE); // kind
    assert_int_equal(bytes[6], 1);                // world
    assert_int_equal(bytes[7], 1);                // of the past
    assert_int_equal(u32_at(bytes + 8), 77);      // number
    assert_int_equal(u32_at(bytes + 12), 50);     // records
    assert_int_equal(u32_at(bytes + 24), 50);     // people in all
    assert_int_equal(u16_at(bytes + 30), 65535);
    const float *x = th_world_map(world, TH_FIELD_POSITION_X, TH_ACCESS_READ);
    const float *y = th_world_map(world, TH_FIELD_POSITION_Y, TH_ACCESS_READ);
    const float *vx = th_world_map(world, TH_FIELD_VELOCITY_X, TH_ACCESS_READ);
    const float *vy = th_world_map(world, TH_FIELD_VELOCITY_Y, TH_ACCESS_READ);
    const uint32_t *id = th_world_map(world, TH_FIELD_ID, TH_ACCESS_READ);
    for (int k = 0; k < 50; ++k) {
        const unsigned char *person = bytes + 64; // in any order
        while (person < bytes + size && u32_at(person) != id[k]) person += 16;
        assert_true(person < bytes + size);
        float px = f32_at(bytes + 32) + f32_at(bytes + 40) * (float)u16_at(person + 4);
        float py = f32_at(bytes + 36) + f32_at(bytes + 44) * (float)u16_at(person + 6);
        assert_true(fabsf(px - x[k]) < 0.001f && fabsf(py - y[k]) < 0.001f);
        double speed = hypot((double)vx[k], (double)vy[k]);
        assert_true(fabs((double)(person[9] * f32_at(bytes + 56) / 255.0f) - speed) < 0.011);
        double heading = atan2((double)vy[k], (double)vx[k]),
               given = person[8] * (3.141592653589793 / 128);
        if (speed > 0.06) assert_true(cos(heading - given) > 0.999);
        assert_int_equal(person[11], TH_PHASE_WALKING);
        assert_int_equal(person[14], 20); // cm
        assert_int_equal(person[15], id[k] == 3);
    }
    free(bytes);
    th_studio_moment_release(moment);
    th_studio_catalogue_release(catalogue);
    th_world_destroy(world);
    th_scene_destroy(scene);
    json_decref(document);
}

static th_studio_moment *many(th_studio_catalogue *catalogue, int count) {
    th_studio_moment *moment = th_studio_moment_create(catalogue, count);
    assert_non_null(moment);
    for (int k = 0; k < count; ++k)
        moment->rows[k] = (th_studio_row){.id = (uint32_t)k + 1,
                                          .x = 20.0f * (float)(k % 1000) / 1000.0f,
                                          .y = 10.0f * (float)(k / 1000) / ((float)count / 1000.0f),
                                          .radius = 20,
                                          .phase = TH_PHASE_WALKING};
    return moment;
}

// Agents outside the view are not sent; people smaller than a pixel are thinned, and the same ones stay.
// Every agent once and where it is, without those that have just left; the same in the order of ids, which loads ask
// for.
static void moments_hold_the_living(void **state) {
    (void)state;
    json_t *document = read_room();
    th_scene *scene = compile(document);
    th_world *world = world_of(scene);
    th_studio_catalogue *catalogue = th_studio_catalogue_create(th_scene_view_of(scene), world);
    th_world_step(world, 3);
    const th_agent_id gone[] = {{3}, {50}};
    assert_int_equal(th_world_remove(world, gone, 2), 2);
    th_statistics counts = th_world_counts(world), all = th_world_statistics(world);
    assert_int_equal(counts.inside, 48);
    assert_int_equal(counts.removed, 2);
    all.overlaps = all.overlapping_agents = 0;
    all.deepest_overlap = 0;
    all.largest_overlap = counts.largest_overlap; // has just been looked at
    assert_memory_equal(&counts, &all, sizeof all);
    for (int loads = 0; loads < 2; ++loads) {
        th_studio_wishes wishes = {.colours = {"speed", "load"}, .colour_count = loads ? 2 : 0};
        th_studio_moment *moment = th_studio_moment_take(world, 0, catalogue, &wishes, NULL);
        const uint32_t *id = th_world_map(world, TH_FIELD_ID, TH_ACCESS_READ);
        const float *x = th_world_map(world, TH_FIELD_POSITION_X, TH_ACCESS_READ);
        assert_int_equal(moment->count, 48);
        assert_int_equal(th_world_agent_count(world), 48);
        for (int k = 0; k < 48; ++k) {
            int found = 0, at = 0;
            for (int i = 0; i < 48; ++i)
                if (moment->rows[i].id == id[k]) found++, at = i;
            assert_int_equal(found, 1);
            assert_true(moment->rows[at].x == x[k]);
            if (loads) assert_int_equal(at, k);
        }
        th_studio_moment_release(moment);
    }
    th_studio_catalogue_release(catalogue);
    th_world_destroy(world);
    th_scene_destroy(scene);
    json_decref(document);
}

static void views_cull_and_thin(void **state) {
    (void)state;
    json_t *document = read_room();
    th_scene *scene = compile(document);
    th_studio_catalogue *catalogue = th_studio_catalogue_create(th_scene_view_of(scene), NULL);
    th_studio_moment *moment = many(catalogue, 100000);
    unsigned char *bytes = malloc(th_studio_people_room(moment));
    const th_studio_frame frame = {.number = 1};
    th_studio_view view = {.given = true, .box = {0, 0, 10, 10}, .pixels = {2000, 2000}};
    size_t half = th_studio_write_people(moment, &view, &frame, bytes);
    assert_true(half > 16 * 49000 && half < 16 * 53000);
    assert_true(f32_at(bytes + 60) == 1.0f);
    view = (th_studio_view){.given = true, .box = {0, 0, 20, 10}, .pixels = {20, 10}};
    size_t thin = th_studio_write_people(moment, &view, &frame, bytes);
    float kept = f32_at(bytes + 60);
    assert_true(fabsf(kept - 0.2f) < 0.001f); // 20 000 of 100 000 are always sent
    assert_true(fabs((double)thin / (16.0 * 100000) - (double)kept) < 0.01);
    uint32_t first = u32_at(bytes + 64);
    moment->rows[first - 1].x += 0.1f;
    th_studio_write_people(moment, &view, &frame, bytes);
    assert_int_equal(u32_at(bytes + 64), first);
    view.levels = 2; // no agent is on level 1
    assert_int_equal(th_studio_write_people(moment, &view, &frame, bytes), 64);
    free(bytes);
    th_studio_moment_release(moment);
    th_studio_catalogue_release(catalogue);
    th_scene_destroy(scene);
    json_decref(document);
}

static void a_density_map_holds_all_agents(void **state) {
    (void)state;
    json_t *document = read_room();
    th_scene *scene = compile(document);
    th_studio_catalogue *catalogue = th_studio_catalogue_create(th_scene_view_of(scene), NULL);
    th_studio_moment *moment = many(catalogue, 1000);
    th_studio_field field;
    for (int k = 0; k < 1000; ++k) // all over the room, which the helper's row along a wall is not
        moment->rows[k].y = 10.0f * ((float)(k * 37 % 1000) + 0.5f) / 1000.0f;
    assert_true(th_studio_map_people(moment, TH_LAYER_DENSITY, 0, &field));
    double people = 0;
    for (int k = 0; k < field.nx * field.ny; ++k)
        people +=
            (double)(field.values[k] * catalogue->kernels[0].walkable[k] * field.cell * field.cell);
    assert_true(fabs(people - 1000.0) < 5.0); // the kernel's 0.5 %
    th_studio_field_release(&field);
    th_studio_moment_release(moment);
    th_studio_catalogue_release(catalogue);
    th_scene_destroy(scene);
    json_decref(document);
}

// ---- documents

static void edits_change_the_document(void **state) {
    (void)state;
    json_t *document = read_room();
    th_document_made made;
    json_t *door = json_pack("{s:[[f,f],[f,f]]}", "line", 5.0, 0.0, 5.0, 2.0);
    assert_int_equal(th_document_add(document, "doors", NULL, door, &made, NULL), TH_OK);
    assert_string_equal(made.id, "door_2");
    json_t *key = json_string("door_2"), *change = json_pack("{s:b}", "closed", 1);
    assert_int_equal(th_document_change(document, "doors", NULL, key, change, NULL), TH_OK);
    assert_true(json_is_true(
        json_object_get(json_array_get(json_object_get(document, "doors"), 1), "closed")));
    th_scene *scene = compile(document);
    assert_int_equal(th_scene_view_of(scene)->door_count, 2);
    th_scene_destroy(scene);
    assert_int_equal(th_document_remove(document, "doors", NULL, key, NULL), TH_OK);
    assert_int_equal(th_document_remove(document, "doors", NULL, key, NULL), TH_BAD_ARGUMENT);
    json_t *patch = json_pack("[{s:s,s:s,s:i},{s:s,s:s}]", "op", "replace", "path",
                              "/groups/0/count", "value", 7, "op", "remove", "path", "/doors/0");
    assert_int_equal(th_document_patch(document, patch, NULL), TH_OK);
    scene = compile(document);
    assert_int_equal(th_scene_view_of(scene)->groups[0].count, 7);
    assert_int_equal(th_scene_view_of(scene)->door_count, 0);
    th_scene_destroy(scene);
    json_decref(patch);
    json_decref(change);
    json_decref(key);
    json_decref(door);
    json_decref(document);
}

// ---- the time that the way takes

static th_studio_moment *moment_with_ways(th_world *world, th_studio_catalogue *catalogue) {
    th_studio_wishes wishes = {.layer_count = 2,
                               .layers = {{TH_LAYER_DISTANCE, 0, 0}, {TH_LAYER_TRAVEL_TIME, 0, 0}}};
    th_studio_moment *moment = th_studio_moment_take(world, 0, catalogue, &wishes, NULL);
    assert_non_null(moment);
    assert_int_equal(moment->field_count, 2);
    return moment;
}

static void the_way_takes_longer_through_standing_people(void **state) {
    (void)state;
    json_t *document = read_room();
    // No agent: as far as one walks freely. The others do not set off: at a shuffle through them.
    for (int people = 0; people <= 60; people += 60) {
        json_t *patch =
            json_pack("[{s:s,s:s,s:i},{s:s,s:s,s:i}]", "op", "replace", "path", "/groups/0/count",
                      "value", people, "op", "add", "path", "/groups/0/premovement", "value", 1000);
        assert_int_equal(th_document_patch(document, patch, NULL), TH_OK);
        th_scene *scene = compile(document);
        th_world *world = world_of(scene);
        th_studio_catalogue *catalogue = th_studio_catalogue_create(th_scene_view_of(scene), world);
        th_studio_moment *moment = moment_with_ways(world, catalogue);
        const th_studio_field *way = &moment->fields[0], *time = &moment->fields[1];
        int cells = 0, slower = 0;
        for (int k = 0; k < way->nx * way->ny; ++k) {
            assert_int_equal(!isnan(way->values[k]), !isnan(time->values[k]));
            if (isnan(way->values[k])) continue;
            float freely = way->values[k] / 1.34f;
            if (people == 0)
                assert_true(fabsf(time->values[k] - freely) <= 1e-4f * (1.0f + freely));
            assert_true(time->values[k] >= freely * 0.9999f);
            slower += time->values[k] > 2.0f * freely;
            cells++;
        }
        assert_true(cells > 500);
        if (people > 0) assert_true(slower > cells / 10);
        th_studio_moment_release(moment);
        th_studio_catalogue_release(catalogue);
        th_world_destroy(world);
        th_scene_destroy(scene);
        json_decref(patch);
    }
    json_decref(document);
}

// ---- going on in another scene

static void agents_with_a_place_go_on(void **state) {
    (void)state;
    json_t *document = read_room();
    th_scene *scene = compile(document), *next = NULL;
    th_world *world = world_of(scene), *moved = NULL;
    th_world_step(world, 10);
    assert_int_equal(th_world_set_door(world, "middle", false, NULL), TH_OK);
    // Another model, and a solid that takes the ground from under some.
    json_t *patch = json_pack("[{s:s,s:s,s:s},{s:s,s:s,s:[{s:[i,i,i,i]}]}]", "op", "replace",
                              "path", "/groups/0/move", "value", "social_force", "op", "add",
                              "path", "/levels/0/obstacles", "value", "rect", 0, 0, 3, 10);
    assert_int_equal(th_document_patch(document, patch, NULL), TH_OK);
    next = compile(document);
    int lost = -1, kept = 0, gone = 0;
    th_world_def def = th_world_def_default();
    assert_int_equal(th_world_continue(next, &def, world, &lost, &moved, NULL), TH_OK);
    assert_true(th_world_time(moved) == th_world_time(world));
    assert_int_equal(th_world_step_count(moved), 10);
    assert_false(th_world_door_open(moved, 0));
    const uint32_t *id = th_world_map(world, TH_FIELD_ID, TH_ACCESS_READ),
                   *new_id = th_world_map(moved, TH_FIELD_ID, TH_ACCESS_READ);
    const float *x = th_world_map(world, TH_FIELD_POSITION_X, TH_ACCESS_READ),
                *new_x = th_world_map(moved, TH_FIELD_POSITION_X, TH_ACCESS_READ);
    const float *v = th_world_map(world, TH_FIELD_VELOCITY_X, TH_ACCESS_READ),
                *new_v = th_world_map(moved, TH_FIELD_VELOCITY_X, TH_ACCESS_READ);
    for (int k = 0; k < th_world_agent_count(world); ++k) {
        if (x[k] < 3.0f) {
            gone++;
            continue;
        }
        assert_int_equal(id[k], new_id[kept]);
        assert_true(x[k] == new_x[kept] && v[k] == new_v[kept]);
        kept++;
    }
    assert_true(gone > 0 && kept > 0);
    // The same in two parts, with steps between.
    th_world *prepared = NULL, *again = NULL;
    int without = -1, without_too = -1;
    assert_int_equal(th_world_prepare(next, &def, 4000, &prepared, NULL), TH_OK);
    th_world_step(world, 5);
    assert_int_equal(th_world_continue(next, &def, world, &without, &again, NULL), TH_OK);
    assert_int_equal(th_world_take_over(prepared, world, &without_too, NULL), TH_OK);
    assert_int_equal(without_too, without);
    th_world_step(prepared, 20);
    th_world_step(again, 20);
    assert_true(th_world_hash(prepared) == th_world_hash(again));
    th_world_destroy(prepared);
    th_world_destroy(again);
    assert_int_equal(lost, gone);
    assert_int_equal(th_world_agent_count(moved), kept);
    th_statistics s = th_world_statistics(moved);
    assert_int_equal(s.spawned, s.inside + s.left + s.removed);
    assert_int_equal(s.removed, gone);
    th_world_step(moved, 10);
    s = th_world_statistics(moved);
    assert_int_equal(s.spawned, s.inside + s.left + s.removed);
    th_world_destroy(moved);
    th_world_destroy(world);
    th_scene_destroy(next);
    th_scene_destroy(scene);
    json_decref(patch);
    json_decref(document);
}

static void messages_are_objects_with_a_verb(void **state) {
    (void)state;
    const char *reason;
    json_t *message = th_studio_parse("{\"do\":\"play\"}", 13, &reason);
    assert_non_null(message);
    json_decref(message);
    assert_null(th_studio_parse("{\"do\":\"_gone\"}", 14, &reason));
    assert_null(th_studio_parse("[1]", 3, &reason));
    assert_null(th_studio_parse("", 0, &reason));
    assert_non_null(reason);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frame_is_the_documented_bytes),
        cmocka_unit_test(moments_hold_the_living),
        cmocka_unit_test(views_cull_and_thin),
        cmocka_unit_test(a_density_map_holds_all_agents),
        cmocka_unit_test(the_way_takes_longer_through_standing_people),
        cmocka_unit_test(edits_change_the_document),
        cmocka_unit_test(agents_with_a_place_go_on),
        cmocka_unit_test(messages_are_objects_with_a_verb),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
