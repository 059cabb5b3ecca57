// The server: libwebsockets in one thread. It reads requests, answers what concerns a client alone, hands the rest to the
// runner, and writes the newest moment to each client that has taken the last one. A client that does not read keeps its socket full
// and is not asked again; the others do not wait for it. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/memory.h"
#include "core/system/system.h"
#include "studio/exchange.h"
#include "studio/studio.h"
#include <arpa/inet.h>
#include <libwebsockets.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <zlib.h>

enum { CONNECTIONS = 512, PAGE_CHUNK = 32768 };

struct th_studio_server {
    struct lws_context *context;
    struct lws_vhost *vhost;
    th_studio_exchange *exchange;
    char token[TH_STUDIO_TOKEN];
    char address[128];
    int port, clients;
    uint64_t next_client;
    unsigned char *page; // gzip
    size_t page_size;
    th_studio_post post;
    struct lws *sockets[TH_STUDIO_CLIENTS];
};

// The data of a connection: a client of the WebSocket, or a page being sent.
typedef struct connection {
    th_client client;
    size_t page_sent;
    bool zipped;
} connection;

// ---- admission

static bool hex_token(char token[TH_STUDIO_TOKEN]) {
    unsigned char bytes[(TH_STUDIO_TOKEN - 1) / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) return false;
    for (size_t k = 0; k < sizeof bytes; ++k) snprintf(token + 2 * k, 3, "%02x", bytes[k]);
    return true;
}

// Takes the same time however many characters match.
static bool same_token(const char *given, const char *token) {
    if (strlen(given) != TH_STUDIO_TOKEN - 1) return false;
    unsigned different = 0;
    for (int k = 0; k < TH_STUDIO_TOKEN - 1; ++k)
        different |= (unsigned)(unsigned char)given[k] ^ (unsigned)(unsigned char)token[k];
    return different == 0;
}

// "127.0.0.1:8080" names this server: an address it listens on, or one of this machine's names for it.
static bool is_own_host(const th_studio_server *server, const char *host) {
    const char *const names[] = {"127.0.0.1", "localhost", "[::1]", server->address};
    char expected[160];
    for (size_t k = 0; k < sizeof names / sizeof names[0]; ++k) {
        snprintf(expected, sizeof expected, "%s:%d", names[k], server->port);
        if (strcasecmp(host, expected) == 0) return true;
    }
    if (strcmp(server->address, "0.0.0.0") != 0) return false;
    // On every address: any of them, as a number. A name could belong to an attacker and lead here.
    char number[64], *colon;
    struct in_addr address;
    snprintf(number, sizeof number, "%s", host);
    colon = strrchr(number, ':');
    if (!colon || atoi(colon + 1) != server->port) return false;
    *colon = '\0';
    return inet_pton(AF_INET, number, &address) == 1;
}

static bool may_enter(const th_studio_server *server, struct lws *wsi, bool needs_origin) {
    char host[160] = "", origin[200] = "", token[TH_STUDIO_TOKEN + 16] = "";
    if (lws_hdr_copy(wsi, host, sizeof host, WSI_TOKEN_HOST) <= 0 || !is_own_host(server, host))
        return false;
    int length = lws_hdr_copy(wsi, origin, sizeof origin, WSI_TOKEN_ORIGIN);
    bool is_own = strncmp(origin, "http://", 7) == 0 && is_own_host(server, origin + 7);
    // Refuses pages from elsewhere; a WebSocket without an origin comes from no page.
    if (length != 0 ? !is_own : needs_origin) return false;
    const char *given = lws_get_urlarg_by_name(wsi, "token=", token, sizeof token);
    return given && same_token(given, server->token);
}

// ---- the page

static const char no_page[] = "<!doctype html><meta charset=utf-8><title>throng "
                              "studio</title><body style='font:16px sans-serif;"
                              "max-width:40em;margin:4em auto'><h1>This build of throng has no "
                              "studio page</h1><p>The server runs and "
                              "speaks <code>docs/studio-protocol.md</code>, but the page is made "
                              "with Node, which was not there when "
                              "this program was built. Install Node "
                              "(<code>tools/install-deps</code> does) and run <code>make "
                              "build</code> again.</p>";

static bool zip_page(th_studio_server *server) {
    const unsigned char *page =
        th_studio_page_size() ? th_studio_page : (const unsigned char *)no_page;
    size_t size = th_studio_page_size() ? th_studio_page_size() : sizeof no_page - 1;
    z_stream z = {0};
    if (deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) return false;
    size_t room = deflateBound(&z, (uLong)size);
    server->page = malloc(room);
    if (!server->page) {
        deflateEnd(&z);
        return false;
    }
    z.next_in = (Bytef *)(uintptr_t)page; // zlib does not write there
    z.avail_in = (uInt)size;
    z.next_out = server->page;
    z.avail_out = (uInt)room;
    bool whole = deflate(&z, Z_FINISH) == Z_STREAM_END;
    server->page_size = z.total_out;
    deflateEnd(&z);
    return whole;
}

static void page_bytes(const th_studio_server *server, const connection *c,
                       const unsigned char **bytes, size_t *size) {
    if (c->zipped) {
        *bytes = server->page;
        *size = server->page_size;
    } else if (th_studio_page_size()) {
        *bytes = th_studio_page;
        *size = th_studio_page_size();
    } else {
        *bytes = (const unsigned char *)no_page;
        *size = sizeof no_page - 1;
    }
}

// Refuses and goes on to the next request of the connection: a browser sends several on one and would wait for the end of this.
static int refuse_page(struct lws *wsi, unsigned status, const char *text) {
    return lws_return_http_status(wsi, status, text) || lws_http_transaction_completed(wsi) ? -1
                                                                                            : 0;
}

static int begin_page(th_studio_server *server, struct lws *wsi, connection *c, const char *path) {
    unsigned char text[LWS_PRE + 2048], *at = text + LWS_PRE, *start = at,
                                        *end = text + sizeof text - 1;
    char accepted[200] = "";
    if (strcmp(path, "/") != 0) return refuse_page(wsi, 404, NULL);
    if (!may_enter(server, wsi, false))
        return refuse_page(wsi, 403,
                           "<p>The token in this address is not that of the running studio. Open "
                           "the whole address that <code>throng studio</code> prints; it is new "
                           "at every start.</p>");
    lws_hdr_copy(wsi, accepted, sizeof accepted, WSI_TOKEN_HTTP_ACCEPT_ENCODING);
    c->zipped = strstr(accepted, "gzip") != NULL;
    c->page_sent = 0;
    const unsigned char *bytes;
    size_t size;
    page_bytes(server, c, &bytes, &size);
    static const char policy[] =
        "default-src 'none'; script-src 'unsafe-inline' blob:; style-src "
        "'unsafe-inline'; img-src data: blob:; connect-src 'self' ws: data: blob:; "
        "worker-src blob:; font-src data:; frame-ancestors 'none'";
    if (lws_add_http_common_headers(wsi, 200, "text/html; charset=utf-8", (lws_filepos_t)size, &at,
                                    end) ||
        (c->zipped && lws_add_http_header_by_name(wsi, (const unsigned char *)"content-encoding:",
                                                  (const unsigned char *)"gzip", 4, &at, end)) ||
        lws_add_http_header_by_name(wsi, (const unsigned char *)"cache-control:",
                                    (const unsigned char *)"no-store", 8, &at, end) ||
        lws_add_http_header_by_name(wsi, (const unsigned char *)"referrer-policy:",
                                    (const unsigned char *)"no-referrer", 11, &at, end) ||
        lws_add_http_header_by_name(wsi, (const unsigned char *)"x-content-type-options:",
                                    (const unsigned char *)"nosniff", 7, &at, end) ||
        lws_add_http_header_by_name(
            wsi, (const unsigned char *)"content-security-policy:", (const unsigned char *)policy,
            (int)sizeof policy - 1, &at, end) ||
        lws_finalize_write_http_header(wsi, start, &at, end))
        return -1;
    lws_callback_on_writable(wsi);
    return 0;
}

static int go_on_with_page(th_studio_server *server, struct lws *wsi, connection *c) {
    unsigned char chunk[LWS_PRE + PAGE_CHUNK];
    const unsigned char *bytes;
    size_t size;
    page_bytes(server, c, &bytes, &size);
    size_t length = size - c->page_sent < PAGE_CHUNK ? size - c->page_sent : PAGE_CHUNK;
    bool last = c->page_sent + length == size;
    memcpy(chunk + LWS_PRE, bytes + c->page_sent, length);
    if (lws_write(wsi, chunk + LWS_PRE, length, last ? LWS_WRITE_HTTP_FINAL : LWS_WRITE_HTTP) < 0)
        return -1;
    c->page_sent += length;
    if (!last) {
        lws_callback_on_writable(wsi);
        return 0;
    }
    return lws_http_transaction_completed(wsi) ? -1 : 0;
}

// ---- messages

static bool send_message(void *carrier, unsigned char *bytes, size_t size, bool is_text) {
    return lws_write(carrier, bytes, size, is_text ? LWS_WRITE_TEXT : LWS_WRITE_BINARY) >= 0;
}

static int write_next(th_studio_server *server, struct lws *wsi, th_client *client) {
    double wait = 0;
    int result = th_post_next(&server->post, client, wsi, &wait);
    if (result < 0) return -1;
    if (result > 0)
        lws_callback_on_writable(wsi);
    else if (wait > 0)
        lws_set_timer_usecs(wsi, (lws_usec_t)(1e6 * wait) + 500);
    return 0;
}

static void renew_wishes(th_studio_server *server) {
    th_studio_wishes wishes = {0};
    for (int k = 0; k < TH_STUDIO_CLIENTS; ++k) {
        if (!server->sockets[k]) continue;
        const connection *c = lws_wsi_user(server->sockets[k]);
        th_client_wishes(&c->client, &wishes);
    }
    th_studio_wish(server->exchange, &wishes, server->clients);
}

static int receive(th_studio_server *server, struct lws *wsi, th_client *client, const void *bytes,
                   size_t length) {
    if (client->received_length + length > TH_STUDIO_MESSAGE) {
        lws_close_reason(wsi, LWS_CLOSE_STATUS_MESSAGE_TOO_LARGE, NULL, 0);
        return -1;
    }
    if (lws_frame_is_binary(wsi)) {
        lws_close_reason(wsi, LWS_CLOSE_STATUS_UNACCEPTABLE_OPCODE, NULL, 0);
        return -1;
    }
    if (!TH_RESERVE(client->received, client->received_room, client->received_length + length + 1))
        return -1;
    if (length) memcpy(client->received + client->received_length, bytes, length);
    client->received_length += length;
    if (!lws_is_final_fragment(wsi) || lws_remaining_packet_payload(wsi) > 0) return 0;
    bool wishes;
    bool stays =
        th_post_receive(&server->post, client, client->received, client->received_length, &wishes);
    if (wishes) renew_wishes(server);
    lws_callback_on_writable(wsi);
    free(client->received); // a large message must not keep its memory
    client->received = NULL;
    client->received_length = client->received_room = 0;
    return stays ? 0 : -1;
}

// ---- coming and going

static int welcome(th_studio_server *server, struct lws *wsi, th_client *client) {
    int place = 0;
    while (place < TH_STUDIO_CLIENTS && server->sockets[place]) ++place;
    if (place == TH_STUDIO_CLIENTS) {
        static unsigned char full[] = "64 clients are connected already";
        lws_close_reason(wsi, LWS_CLOSE_STATUS_POLICY_VIOLATION, full, sizeof full - 1);
        return -1;
    }
    server->sockets[place] = wsi;
    server->clients++;
    th_post_welcome(&server->post, client, ++server->next_client);
    renew_wishes(server);
    return 0;
}

static void farewell(th_studio_server *server, struct lws *wsi, th_client *client) {
    for (int k = 0; k < TH_STUDIO_CLIENTS; ++k) {
        if (server->sockets[k] != wsi) continue;
        server->sockets[k] = NULL;
        server->clients--;
        th_studio_ask(server->exchange, client->id, json_pack("{s:s}", "do", "_gone"));
    }
    th_client_release(client);
    renew_wishes(server);
}

// Texts of the runner to their clients. Clients with too many are dropped.
static void deliver_one(th_studio_server *server, const th_studio_text *text) {
    for (int k = 0; k < TH_STUDIO_CLIENTS; ++k) {
        if (!server->sockets[k]) continue;
        th_client *client = &((connection *)lws_wsi_user(server->sockets[k]))->client;
        if (!th_post_deliver(client, text))
            lws_set_timeout(server->sockets[k], PENDING_TIMEOUT_CLOSE_SEND, LWS_TO_KILL_ASYNC);
    }
}

static void deliver(th_studio_server *server) {
    for (th_studio_text *t = th_studio_take_texts(server->exchange), *next; t; t = next) {
        next = t->next;
        deliver_one(server, t);
        th_studio_text_destroy(t);
    }
    for (int k = 0; k < TH_STUDIO_CLIENTS; ++k)
        if (server->sockets[k]) lws_callback_on_writable(server->sockets[k]);
}

static int on_event(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                    size_t length) {
    th_studio_server *server = lws_context_user(lws_get_context(wsi));
    connection *c = user;
    switch (reason) {
    case LWS_CALLBACK_HTTP: return begin_page(server, wsi, c, in);
    case LWS_CALLBACK_HTTP_WRITEABLE: return go_on_with_page(server, wsi, c);
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
        if (may_enter(server, wsi, true)) return 0;
        lws_return_http_status(wsi, 403, NULL);
        return -1;
    case LWS_CALLBACK_ESTABLISHED: return welcome(server, wsi, &c->client);
    case LWS_CALLBACK_CLOSED: farewell(server, wsi, &c->client); return 0;
    case LWS_CALLBACK_RECEIVE: return receive(server, wsi, &c->client, in, length);
    case LWS_CALLBACK_SERVER_WRITEABLE: return write_next(server, wsi, &c->client);
    case LWS_CALLBACK_TIMER: lws_callback_on_writable(wsi); return 0;
    case LWS_CALLBACK_EVENT_WAIT_CANCELLED: deliver(server); return 0;
    // Nothing but the page is served, and nothing is taken.
    case LWS_CALLBACK_HTTP_BODY:
    case LWS_CALLBACK_HTTP_BODY_COMPLETION: return -1;
    default: return 0;
    }
}

static const struct lws_protocols protocols[] = {
    {"http", on_event, sizeof(connection), 4096, 0, NULL, 0},
    {"throng-1", on_event, sizeof(connection), 65536, 0, NULL, 0},
    {NULL, NULL, 0, 0, 0, NULL, 0},
};
// A silent client is asked after 20 s and dropped after 60 s.
static const lws_retry_bo_t silence = {.secs_since_valid_ping = 20, .secs_since_valid_hangup = 60};

void th_studio_server_wake(th_studio_server *server) { lws_cancel_service(server->context); }
static void wake(void *server) { th_studio_server_wake(server); }

// ---- running the server

static th_result listen_on(th_studio_server *server, const th_studio_server_def *def,
                           th_error *error) {
    struct lws_context_creation_info info = {0};
    info.port = def->port;
    info.iface = server->address;
    info.protocols = protocols;
    info.user = server;
    info.retry_and_idle_policy = &silence;
    info.timeout_secs = 10; // for a request to be complete
    info.keepalive_timeout = 10;
    info.fd_limit_per_thread = CONNECTIONS;
    info.options = LWS_SERVER_OPTION_EXPLICIT_VHOSTS | LWS_SERVER_OPTION_DISABLE_IPV6 |
                   LWS_SERVER_OPTION_FAIL_UPON_UNABLE_TO_BIND;
    if (strchr(server->address, ':')) info.options &= ~(uint64_t)LWS_SERVER_OPTION_DISABLE_IPV6;
    lws_set_log_level(0, NULL);
    server->context = lws_create_context(&info);
    if (!server->context)
        return th_fail(error, TH_NO_MEMORY, "", "the server could not be started: no memory");
    // Port 0 lets the system choose; -1 would be none for lws.
    server->vhost = lws_create_vhost(server->context, &info);
    if (!server->vhost)
        return th_fail(error, TH_NO_FILE, "port",
                       "cannot listen on %s port %d: it is in use or not an address of this "
                       "machine; give another --port, or 0 for any",
                       server->address, def->port);
    server->port = def->port ? def->port : lws_get_vhost_listen_port(server->vhost);
    return TH_OK;
}

th_result th_studio_server_create(const th_studio_server_def *def, th_studio_exchange *exchange,
                                  th_studio_server **out, th_error *error) {
    *out = NULL;
    th_studio_server *server = calloc(1, sizeof *server);
    if (!server) return th_fail(error, TH_NO_MEMORY, "", "no memory for the server");
    server->exchange = exchange;
    server->post = (th_studio_post){.exchange = exchange, .send = send_message, .before = LWS_PRE};
    snprintf(server->address, sizeof server->address, "%s",
             def->address ? def->address : "127.0.0.1");
    th_result result = TH_OK;
    if (!hex_token(server->token))
        result = th_fail(error, TH_NO_FILE, "", "the system gives no random numbers for the token");
    else if (!zip_page(server))
        result = th_fail(error, TH_NO_MEMORY, "", "no memory for the page");
    else
        result = listen_on(server, def, error);
    if (result != TH_OK) {
        th_studio_server_destroy(server);
        return result;
    }
    th_gate_lock(exchange->gate);
    exchange->wake = wake;
    exchange->server = server;
    th_gate_unlock(exchange->gate);
    *out = server;
    return TH_OK;
}

int th_studio_server_port(const th_studio_server *server) { return server->port; }
const char *th_studio_server_token(const th_studio_server *server) { return server->token; }

void th_studio_server_run(th_studio_server *server, const atomic_bool *stop) {
    while (!atomic_load(stop) && lws_service(server->context, 0) >= 0) continue;
}

void th_studio_server_destroy(th_studio_server *server) {
    if (!server) return;
    if (server->context) lws_context_destroy(server->context);
    th_post_release(&server->post);
    free(server->page);
    free(server);
}

// ---- the page of the studio, one file made from studio/ and put into the program as it is

#ifndef TH_STUDIO_PAGE_FILE
#define TH_STUDIO_PAGE_FILE "/dev/null"
#endif

__asm__(".section .rodata\n"
        ".global th_studio_page\n"
        ".global th_studio_page_end\n"
        "th_studio_page:\n"
        ".incbin \"" TH_STUDIO_PAGE_FILE "\"\n"
        "th_studio_page_end:\n"
        ".byte 0\n"
        ".previous\n");
extern const unsigned char th_studio_page_end[];

// The engine for pages without a server, made by `make wasm`.
#ifndef TH_STUDIO_ENGINE_FILE
#define TH_STUDIO_ENGINE_FILE "/dev/null"
#endif
__asm__(".section .rodata\n"
        ".global th_studio_engine\n"
        ".global th_studio_engine_end\n"
        "th_studio_engine:\n"
        ".incbin \"" TH_STUDIO_ENGINE_FILE "\"\n"
        "th_studio_engine_end:\n"
        ".byte 0\n"
        ".previous\n");
extern const unsigned char th_studio_engine_end[];
size_t th_studio_engine_size(void) { return (size_t)(th_studio_engine_end - th_studio_engine); }

size_t th_studio_page_size(void) { return (size_t)(th_studio_page_end - th_studio_page); }
