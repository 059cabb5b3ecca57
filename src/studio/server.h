// HTTP and WebSocket on one port, in the caller's thread. SPDX-License-Identifier: Apache-2.0
#ifndef TH_STUDIO_SERVER_H
#define TH_STUDIO_SERVER_H
#include "studio/exchange.h"
#include <stdatomic.h>

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
