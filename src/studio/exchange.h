// What passes between the thread of the server and the one that steps the world: requests one way; answers, events and the
// newest moment the other. Neither ever waits for the other. SPDX-License-Identifier: Apache-2.0
#ifndef TH_STUDIO_EXCHANGE_H
#define TH_STUDIO_EXCHANGE_H
#include "studio/moment.h"
#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>

#define TH_STUDIO_JSON (JSON_COMPACT | JSON_REAL_PRECISION(9)) // how messages are written
enum {
    TH_STUDIO_CLIENTS = 64,           // at once
    TH_STUDIO_PENDING = 64,           // requests of one client that wait
    TH_STUDIO_MESSAGE = 8 << 20,      // bytes of a message from a client
    TH_STUDIO_BACKLOG = 8 << 20,      // bytes of texts that wait for a client before it is dropped
    TH_STUDIO_FILE_DOCUMENT = 1 << 20 // bytes of a scene file that events carry along
};

typedef struct th_studio_request {
    struct th_studio_request *next;
    uint64_t client; // that is answered
    json_t *message; // an object
} th_studio_request;

typedef struct th_studio_text {
    struct th_studio_text *next;
    uint64_t client; // 0: all
    bool is_reply;
    size_t length;
    char *text;
} th_studio_text;

// A moment that is on show.
typedef struct th_studio_shown {
    uint32_t number; // 0: nothing yet
    bool past;
    th_studio_moment *moment; // held
} th_studio_shown;

typedef struct th_studio_exchange {
    pthread_mutex_t lock;
    pthread_cond_t asked; // something for the runner
    th_studio_request *first_request, *last_request;
    th_studio_text *first_text, *last_text;
    th_studio_shown shown[2];
    uint32_t newest; // number given last
    th_studio_wishes wishes;
    bool wishes_changed;
    int clients;
    uint64_t inspected; // person << 1 | world, as asked last; 0: none
    bool stop;
    void (*wake)(void *server); // thread-safe; NULL: no listener
    void *server;
} th_studio_exchange;

bool th_studio_exchange_init(th_studio_exchange *exchange);
void th_studio_exchange_release(th_studio_exchange *exchange);

// The server's side. Takes the message over.
void th_studio_ask(th_studio_exchange *exchange, uint64_t client, json_t *message);
th_studio_text *th_studio_take_texts(th_studio_exchange *exchange); // a list; the caller frees
void th_studio_text_destroy(th_studio_text *text);
th_studio_shown th_studio_look(th_studio_exchange *exchange, int world); // held
void th_studio_wish(th_studio_exchange *exchange, const th_studio_wishes *wishes, int clients);
void th_studio_stop(th_studio_exchange *exchange);

// The runner's side.
th_studio_request *
th_studio_take_requests(th_studio_exchange *exchange); // a list; the caller frees
void th_studio_request_destroy(th_studio_request *request);
// Waits until something is asked, `stop`, or so many seconds; false: stop.
bool th_studio_wait(th_studio_exchange *exchange, double seconds);
// Sends a JSON object and lets go of it. client 0: all.
void th_studio_say_text(th_studio_exchange *exchange, uint64_t client, bool is_reply,
                        char *text); // takes the text over
void th_studio_say(th_studio_exchange *exchange, uint64_t client, bool is_reply, json_t *object);
// Puts a moment on show (held anew) or, with NULL, nothing.
void th_studio_show(th_studio_exchange *exchange, int world, th_studio_moment *moment, bool past);

// ---- the server, server.c

// HTTP and WebSocket on one port, in the caller's thread.

enum { TH_STUDIO_TOKEN = 33 }; // 32 hex digits and a 0

typedef struct th_studio_server th_studio_server;
typedef struct th_studio_server_def {
    const char *address; // NULL: 127.0.0.1
    int port;            // 0: any that is free
} th_studio_server_def;

// Starts to listen. TH_BAD_ARGUMENT or TH_NO_FILE with what is wrong: the port is taken, ...
th_result th_studio_server_create(const th_studio_server_def *def, th_studio_exchange *exchange,
                                  th_studio_server **server, th_error *error);
int th_studio_server_port(const th_studio_server *server);
const char *th_studio_server_token(const th_studio_server *server);
// Serves until *stop, which a signal handler may set (it must then call th_studio_server_wake).
void th_studio_server_run(th_studio_server *server, const atomic_bool *stop);
void th_studio_server_wake(th_studio_server *server); // from any thread
void th_studio_server_destroy(th_studio_server *server);

// A message from a client as the server reads it: NULL and a reason, or an object with "do". For the fuzzer too.
json_t *th_studio_parse(const char *text, size_t length, const char **reason);
#endif
