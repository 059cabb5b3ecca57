// Messages from clients of the studio, as the server reads them and as the thread that steps the world answers them: lines of
// the input are requests to a small scene. SPDX-License-Identifier: Apache-2.0
#include "studio/exchange.h"
#include "studio/studio.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char room[] = "{\"levels\": [{\"walkable\": {\"rect\": [0, 0, 20, 10]}}], \"exits\": "
                           "[{\"id\": \"east\", \"line\": [[20, 4], [20, 6]]}],"
                           "\"doors\": [{\"id\": \"middle\", \"line\": [[10, 0], [10, 10]]}],"
                           "\"groups\": [{\"id\": \"people\", \"count\": 20, \"area\": {\"rect\": "
                           "[0, 0, 8, 10]}, \"to\": \"east\"}]}";

// Loading checks a scene's demands (fuzz_scene); here it must only stay small enough to be quick.
static bool is_slow(const json_t *message) {
    const char *verb = json_string_value(json_object_get(message, "do"));
    const json_t *n = json_object_get(message, "n");
    if (strcmp(verb, "open") == 0 || strcmp(verb, "new") == 0) return true;
    // Reading it may start a program; fuzz_sqlite and its like have the readers.
    if (strcmp(verb, "import") == 0) return true;
    if (strcmp(verb, "upload") == 0) return json_is_true(json_object_get(message, "last"));
    return strcmp(verb, "step") == 0 && json_number_value(n) > 3;
}

static void answer(th_studio *studio, th_client *client, const char *text, size_t length) {
    const char *reason;
    json_t *message = th_studio_parse(text, length, &reason);
    if (!message) return;
    th_studio_shown shown = th_studio_look(&studio->exchange, 0);
    json_t *own = th_client_request(client, message, shown.moment);
    th_studio_moment_release(shown.moment);
    if (!own && !is_slow(message)) {
        const th_studio_request request = {.client = 1, .message = message};
        th_studio_answer(studio, &request);
    }
    json_decref(own);
    json_decref(message);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    th_studio studio;
    th_client client = {.id = 1, .fps = 30};
    if (size > 20000 || !th_studio_init(&studio)) return 0;
    json_t *document = th_document_read(room, sizeof room - 1, "room", NULL);
    studio.threads = 1;
    if (!document || th_play_open(&studio, document, "room", NULL, NULL) != TH_OK) abort();
    th_studio_moment_release(th_studio_take(&studio, 0));
    const char *text = (const char *)data, *end = text + size;
    for (int lines = 0; text < end && lines < 20; ++lines) {
        const char *line = memchr(text, '\n', (size_t)(end - text));
        if (!line) line = end;
        answer(&studio, &client, text, (size_t)(line - text));
        text = line + 1;
    }
    th_studio_wishes wishes = {0};
    th_client_wishes(&client, &wishes);
    studio.wishes = wishes;
    for (int w = 0; w < studio.play_count; ++w) {
        th_world_step(studio.plays[w].world, 1);
        th_charts_see(&studio, w);
        th_studio_moment_release(th_studio_take(&studio, w));
    }
    th_inspect(&studio);
    json_decref(th_describe_state(&studio));
    th_client_release(&client);
    th_studio_release(&studio);
    return 0;
}
