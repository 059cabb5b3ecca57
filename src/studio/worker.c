// The studio without a server: the thread that steps the worlds and the post of one client, in turns, for the Worker of a page
// (docs/web.md). It speaks the protocol of the server (docs/studio-protocol.md). studio/src/engine.ts calls it; only the
// WebAssembly build has it, together with what that build lacks: gzip, PNG and recordings. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "studio/studio.h"
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define EXPORT(name) __attribute__((export_name(name)))
__attribute__((import_module("throng"), import_name("send"))) void
th_worker_send(const void *bytes, size_t size, int is_text);

static th_studio studio;
static th_client client;
static th_studio_post post;

static bool send_message(void *carrier, unsigned char *bytes, size_t size, bool is_text) {
    (void)carrier;
    th_worker_send(bytes, size, is_text);
    return true;
}

static void renew_wishes(void) {
    th_studio_wishes wishes = {0};
    th_client_wishes(&client, &wishes);
    th_studio_wish(&studio.exchange, &wishes, 1);
}

EXPORT("take") void *th_worker_take(size_t size);
void *th_worker_take(size_t size) { return malloc(size); }
EXPORT("give") void th_worker_give(void *memory);
void th_worker_give(void *memory) { free(memory); }

// Starts with a scene; the client is greeted in the first turn. Returns a th_result; the message goes out as a text.
EXPORT("open") int th_worker_open(const char *text, size_t length, const char *name);
int th_worker_open(const char *text, size_t length, const char *name) {
    th_error error = {0};
    json_t *document =
        th_studio_init(&studio) ? th_document_read(text, length, name, &error) : NULL;
    studio.threads = 1;
    th_result result =
        document ? th_play_open(&studio, document, name, NULL, &error) : TH_BAD_SCENE;
    if (result != TH_OK) {
        th_worker_send(error.message, strlen(error.message), 1);
        return (int)result;
    }
    post = (th_studio_post){.exchange = &studio.exchange, .send = send_message};
    th_post_welcome(&post, &client, 1);
    renew_wishes();
    th_studio_begin(&studio);
    return TH_OK;
}

EXPORT("receive") void th_worker_receive(const char *text, size_t length);
void th_worker_receive(const char *text, size_t length) {
    bool wishes;
    th_post_receive(&post, &client, text, length, &wishes);
    if (wishes) renew_wishes();
}

// Answers, steps for 20 ms at most, sends what is due. Returns the seconds until there is more to do.
EXPORT("turn") double th_worker_turn(void);
double th_worker_turn(void) {
    double wait = 0;
    th_studio_turn(&studio);
    for (th_studio_text *t = th_studio_take_texts(&studio.exchange), *next; t; t = next) {
        next = t->next;
        th_post_deliver(&client, t);
        th_studio_text_destroy(t);
    }
    while (th_post_next(&post, &client, NULL, &wait) > 0) continue;
    double idle = th_studio_idle(&studio);
    return wait > 0 && wait < idle ? wait : idle;
}

// ---- functions that this build lacks: files of any kind, gzipped ones and recordings among them

gzFile gzopen(const char *path, const char *mode) {
    (void)path, (void)mode;
    return NULL;
}
int gzread(gzFile file, voidp bytes, unsigned size) {
    (void)file, (void)bytes, (void)size;
    return -1;
}
int gzdirect(gzFile file) { return file == NULL; }
z_off_t gzoffset(gzFile file) { return file ? 1 : 0; }
int gzclose(gzFile file) { return file ? 1 : 0; }
int mkstemp(char *path) {
    (void)path;
    return -1;
}

static th_result no_recordings(th_error *error) {
    return th_fail(error, TH_BAD_ARGUMENT, "",
                   "a page without a server shows no recordings; use `throng replay`");
}
th_result th_replay_open(th_studio *s, const char *path, th_error *error) {
    (void)s, (void)path;
    return no_recordings(error);
}
th_result th_replay_put(th_studio *s, const char *path, const char *name, th_error *error) {
    (void)s, (void)path, (void)name;
    return no_recordings(error);
}
json_t *th_do_import(th_studio *s, const json_t *asked, uint64_t from, th_error *error) {
    (void)s, (void)asked, (void)from;
    return th_request_refuse(error, "",
                             "a page without a server reads no drawings; use `throng import`");
}
th_result th_intake_keep(th_intake *intake, const char *from, const char *name, th_error *error) {
    (void)intake, (void)from, (void)name;
    th_do_import(NULL, NULL, 0, error);
    return TH_BAD_ARGUMENT;
}
void th_intake_finish(th_studio *s) { (void)s; }
void th_intake_release(th_intake *intake) { (void)intake; }
double th_replay_duration(const struct th_replay *replay) { return replay ? 1 : 0; }
double th_replay_frame(const struct th_replay *replay) { return replay ? 1 : 0; }
const th_scene_view *th_replay_scene(const struct th_replay *replay) {
    (void)replay;
    return NULL;
}
void th_replay_release(struct th_replay *replay) { (void)replay; }
