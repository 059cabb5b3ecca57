// The studio with its world on a device: what a page asks for in a session, side by side with the same session on the CPU.
// Everything must answer as there, to the same state; a model that has no functions for a device is refused with a reason,
// and the crowd on show stays. SPDX-License-Identifier: Apache-2.0
#include "studio/studio.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char room[] =
    "{\"levels\": [{\"walkable\": {\"rect\": [0, 0, 20, 10]}, \"walls\": [[[10, 0], [10, 2]], "
    "[[10, "
    "4], [10, 6]], [[10, 8], [10, 10]]]}],"
    "\"doors\": [{\"id\": \"south\", \"line\": [[10, 2], [10, 4]]}, {\"id\": \"north\", \"line\": "
    "[[10, 6], [10, 8]]}],"
    "\"exits\": [{\"id\": \"out\", \"line\": [[20, 3], [20, 7]]}],"
    "\"groups\": [{\"id\": \"people\", \"count\": 40, \"area\": {\"rect\": [1, 1, 8, 9]}, \"to\": "
    "\"out\", \"move\": \"orca\"}]}";

typedef struct session {
    th_studio studio;
    int64_t asked;
} session;

static th_result begin(session *s, th_backend backend, const char *text, th_error *error) {
    assert_true(th_studio_init(&s->studio));
    s->asked = 0;
    s->studio.backend = backend;
    s->studio.threads = 1;
    json_t *document = th_document_read(text, strlen(text), "room", NULL);
    assert_non_null(document);
    return th_play_open(&s->studio, document, "room.json", NULL, error);
}

// The answer, as a page would get it; the caller lets go of it.
static json_t *ask(session *s, const char *text) {
    json_t *message = json_loads(text, 0, NULL), *answer = NULL;
    assert_non_null(message);
    json_object_set_new(message, "id", json_integer(++s->asked));
    th_studio_ask(&s->studio.exchange, 1, message);
    th_studio_request *request = th_studio_take_requests(&s->studio.exchange);
    th_studio_answer(&s->studio, request);
    th_studio_request_destroy(request);
    for (th_studio_text *one = th_studio_take_texts(&s->studio.exchange), *next; one; one = next) {
        next = one->next;
        json_t *told = json_loadb(one->text, one->length, 0, NULL);
        if (told && json_integer_value(json_object_get(told, "id")) == s->asked)
            answer = json_incref(told);
        json_decref(told);
        th_studio_text_destroy(one);
    }
    assert_non_null(answer);
    return answer;
}

static const char *text_of(const json_t *answer, const char *key) {
    const char *text = json_string_value(json_object_get(answer, key));
    return text ? text : "";
}

static void must(session *s, const char *text) {
    json_t *answer = ask(s, text);
    if (!json_is_true(json_object_get(answer, "ok")))
        fail_msg("%s: %s", text, text_of(answer, "error"));
    json_decref(answer);
}

static int count_of(session *s) { return th_world_agent_count(s->studio.plays[0].world); }

// Both are asked the same and are then in the same state.
static void both(session *cpu, session *device, const char *text) {
    json_t *a = ask(cpu, text), *b = ask(device, text);
    if (!json_is_true(json_object_get(b, "ok"))) fail_msg("%s: %s", text, text_of(b, "error"));
    assert_true(json_is_true(json_object_get(a, "ok")));
    json_object_del(a, "id");
    json_object_del(b, "id");
    if (!json_equal(a, b)) fail_msg("%s is answered otherwise on the device", text);
    json_decref(a);
    json_decref(b);
    a = ask(cpu, "{\"do\": \"hash\"}");
    b = ask(device, "{\"do\": \"hash\"}");
    if (strcmp(text_of(a, "hash"), text_of(b, "hash")) != 0)
        fail_msg("after %s the device has another state", text);
    json_decref(a);
    json_decref(b);
}

static bool begins_on_device(session *s, const char *text) {
    th_error error = {0};
    th_result result = begin(s, TH_BACKEND_CUDA, text, &error);
    if (result == TH_OK) return true;
    th_studio_release(&s->studio);
    if (result != TH_NO_DEVICE) fail_msg("%s", error.message);
    print_message("  %s\n", error.message);
    return false;
}

static void a_session_on_a_device_is_that_on_the_cpu(void **state) {
    (void)state;
    session cpu, device;
    if (!begins_on_device(&device, room)) skip();
    assert_int_equal(begin(&cpu, TH_BACKEND_CPU, room, NULL), TH_OK);
    static const char *const asked[] = {
        "{\"do\": \"step\", \"n\": 10}",
        "{\"do\": \"edit\", \"kind\": \"wall\", \"level\": 0, \"line\": [[14, 0], [14, 6]]}",
        "{\"do\": \"step\", \"n\": 10}",
        "{\"do\": \"edit\", \"kind\": \"door\", \"door\": \"south\", \"open\": false}",
        "{\"do\": \"step\", \"n\": 10}",
        "{\"do\": \"edit\", \"kind\": \"people\", \"group\": 0, \"at\": [13, 8], \"count\": 8}",
        "{\"do\": \"step\", \"n\": 5}",
        "{\"do\": \"edit\", \"kind\": \"remove_people\", \"at\": [13, 8], \"radius\": 3, "
        "\"level\": 0}",
        "{\"do\": \"set\", \"group\": \"*\", \"stage\": \"move\", \"name\": \"time_horizon\", "
        "\"value\": 3}",
        "{\"do\": \"step\", \"n\": 5}",
        "{\"do\": \"model\", \"group\": \"*\", \"stage\": \"move\", \"model\": \"people\"}",
        "{\"do\": \"step\", \"n\": 10}",
        "{\"do\": \"edit\", \"kind\": \"add\", \"what\": \"obstacles\", \"level\": 0, \"value\": "
        "{\"rect\": [12, 1, 13, 2]}}",
        "{\"do\": \"step\", \"n\": 5}",
        "{\"do\": \"undo\"}",
        "{\"do\": \"undo\"}",
        "{\"do\": \"step\", \"n\": 5}",
        "{\"do\": \"undo\"}",
        "{\"do\": \"redo\"}",
        "{\"do\": \"restart\"}",
        "{\"do\": \"step\", \"n\": 20}",
        "{\"do\": \"seed\", \"seed\": 5}",
        "{\"do\": \"step\", \"n\": 10}",
        "{\"do\": \"compare\", \"on\": true}",
        "{\"do\": \"step\", \"n\": 5}",
        "{\"do\": \"save\"}",
    };
    for (size_t k = 0; k < sizeof asked / sizeof asked[0]; ++k) both(&cpu, &device, asked[k]);
    assert_int_equal(count_of(&cpu), count_of(&device));
    th_studio_release(&cpu.studio);
    th_studio_release(&device.studio);
}

// Frames, maps and the past are made of what the device has.
static void what_is_shown_is_what_the_device_has(void **state) {
    (void)state;
    session s;
    if (!begins_on_device(&s, room)) skip();
    must(&s, "{\"do\": \"step\", \"n\": 30}");
    th_world *world = s.studio.plays[0].world;
    th_studio_wishes wishes = {.colour_count = 1, .layer_count = 1};
    snprintf(wishes.colours[0], sizeof wishes.colours[0], "load");
    wishes.layers[0].kind = TH_LAYER_TRAVEL_TIME;
    th_studio_moment *moment =
        th_studio_moment_take(world, 0, s.studio.plays[0].catalogue, &wishes, NULL);
    assert_non_null(moment);
    assert_int_equal(moment->count, 40);
    assert_int_equal(moment->column_count, 1);
    assert_int_equal(moment->field_count, 1);
    const float *x = th_world_map(world, TH_FIELD_POSITION_X, TH_ACCESS_READ);
    const uint32_t *id = th_world_map(world, TH_FIELD_ID, TH_ACCESS_READ);
    for (int k = 0; k < moment->count; ++k) {
        int i = 0;
        while (id[i] != moment->rows[k].id) ++i;
        assert_true(moment->rows[k].x == x[i]);
        assert_true(isfinite(moment->columns[0].values[k]));
    }
    th_studio_moment_release(moment);
    double from, to;
    assert_true(th_history_range(&s.studio.history, &from, &to));
    must(&s, "{\"do\": \"scrub\", \"time\": 1.0}");
    const th_studio_moment *past = th_history_at(&s.studio.history, 0, s.studio.scrub_time);
    assert_true(s.studio.scrubbing && past && past->time < 1.01);
    assert_int_equal(past->count, 40);
    must(&s, "{\"do\": \"scrub\", \"time\": null}");
    must(&s, "{\"do\": \"person\", \"person\": 3}");
    th_inspect(&s.studio);
    th_studio_release(&s.studio);
}

static th_vec2 stand(const th_agent *person) {
    (void)person;
    return (th_vec2){0.0f, 0.0f};
}

// A model of a program's own has no functions for a device and says so; the crowd that is there stays.
static void what_a_device_cannot_do_is_refused_with_a_reason(void **state) {
    (void)state;
    static th_model own;
    own = th_model_default();
    own.stage = TH_STAGE_MOVE;
    own.name = "standing";
    own.doc = own.source = "test";
    own.agent = stand;
    assert_int_equal(th_model_register(&own, NULL), TH_OK);
    session s;
    if (!begins_on_device(&s, room)) skip();
    must(&s, "{\"do\": \"step\", \"n\": 5}");
    uint64_t before = th_world_hash(s.studio.plays[0].world);
    json_t *answer = ask(
        &s, "{\"do\": \"model\", \"group\": \"*\", \"stage\": \"move\", \"model\": \"standing\"}");
    assert_true(json_is_false(json_object_get(answer, "ok")));
    const char *why = text_of(answer, "error");
    if (!strstr(why, "standing")) fail_msg("'%s' does not name the model", why);
    json_decref(answer);
    assert_true(th_world_hash(s.studio.plays[0].world) == before);
    must(&s, "{\"do\": \"step\", \"n\": 5}");
    th_studio_release(&s.studio);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_on_a_device_is_that_on_the_cpu),
        cmocka_unit_test(what_is_shown_is_what_the_device_has),
        cmocka_unit_test(what_a_device_cannot_do_is_refused_with_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
