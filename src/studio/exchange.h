// The exchange between the server's thread and the one that steps the world: requests one way; answers, events and the
// newest moment the other way. Neither side ever waits for the other. SPDX-License-Identifier: Apache-2.0
#ifndef TH_STUDIO_EXCHANGE_H
#define TH_STUDIO_EXCHANGE_H
#include "core/system/system.h"
#include "studio/moment.h"
#include <jansson.h>
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
    th_gate *gate; // rung when there is something for the runner
    th_studio_request *first_request, *last_request;
    th_studio_text *first_text, *last_text;
    th_studio_shown shown[2];
    uint32_t newest; // number given last
    th_studio_wishes wishes;
    bool wishes_changed;
    int clients;
    uint64_t inspected; // person << 1 | world, as asked last; 0: none
    bool stop;
    const atomic_int *rebuilt;  // some world was made beside the one on show; NULL: none ever is
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

// ---- clients of the server: view, waiting texts, next frame

// ---- frames: a moment as one client sees it, the bytes of a binary message

typedef struct th_studio_view {
    bool given;      // false: everything
    th_box box;      // [m]
    int pixels[2];   // of that box
    uint64_t levels; // bit each; 0: all
} th_studio_view;

typedef struct th_studio_frame {
    uint32_t number;
    bool past;
    int colour;      // index in the catalogue
    uint32_t person; // inspected; 0: none
    // Density by level, for the colour "density"; NULL: none yet
    const th_studio_field *density;
} th_studio_frame;

// Bytes that a message about people can have at most.
size_t th_studio_people_room(const th_studio_moment *moment);
// Writes head, people head and records; returns the bytes.
size_t th_studio_write_people(const th_studio_moment *moment, const th_studio_view *view,
                              const th_studio_frame *frame, unsigned char *to);
size_t th_studio_field_room(const th_studio_field *field, bool vectors);
size_t th_studio_write_field(const th_studio_moment *moment, const th_studio_field *field,
                             const th_studio_frame *frame, unsigned char *to);

// ---- a client

enum { TH_CLIENT_LAYERS = 4 };

typedef struct th_client_layer {
    char name[TH_STUDIO_NAME];
    int level, target;
    double sent;        // wall clock [s]
    uint32_t number[2]; // of the moment sent last, by world
} th_client_layer;

typedef struct th_client {
    uint64_t id; // 0: not in use
    th_studio_view view;
    double fps;
    char colour[TH_STUDIO_NAME];
    uint32_t person;
    int person_world;
    th_client_layer layers[TH_CLIENT_LAYERS];
    int layer_count;
    uint32_t sent[2];             // number of the moment sent last, by world
    double sent_at;               // wall clock [s]
    int pending;                  // requests that are not answered yet
    th_studio_text *first, *last; // texts that wait
    size_t waiting;               // bytes of these
    char *received;               // of a message in parts
    size_t received_length, received_room;
} th_client;

// The requests that change a client alone: view, colour, layer, person (which also goes on to the runner). Returns the answer,
// or NULL: it is not one of these. `moment` may be NULL.
json_t *th_client_request(th_client *client, const json_t *message, const th_studio_moment *moment);
// Adds what the client wants of the world itself.
void th_client_wishes(const th_client *client, th_studio_wishes *wishes);
void th_client_release(th_client *client);

// ---- the post: what clients send and get, whatever carries it: the server's sockets, or the messages of a page whose crowd
// runs in the browser (worker.c)

typedef struct th_studio_post {
    th_studio_exchange *exchange;
    // Sends a message; `carrier` is the client's. `before` bytes in front of it may be written to. False: the client is lost.
    bool (*send)(void *carrier, unsigned char *bytes, size_t size, bool is_text);
    size_t before;
    unsigned char *buffer; // of a message, with `before` bytes in front
    size_t room;
    th_studio_shown shown[2];    // what the density below belongs to
    th_studio_field *density[2]; // by level, of shown
} th_studio_post;

void th_post_release(th_studio_post *post);
// A client that has come: it is greeted by the runner.
void th_post_welcome(th_studio_post *post, th_client *client, uint64_t id);
// Handles a client's message: answers it or hands it to the runner. *wishes: the client may want to see something else
// now. False: the client is dropped.
bool th_post_receive(th_studio_post *post, th_client *client, const char *text, size_t length,
                     bool *wishes);
// A text of the runner, where it is for this client. False: too many wait for it, and it is dropped.
bool th_post_deliver(th_client *client, const th_studio_text *text);
// One thing that is due for the client: 1 sent, 0 nothing due, -1 the client is lost. *wait: seconds until more may be.
int th_post_next(th_studio_post *post, th_client *client, void *carrier, double *wait);
#endif
