// The server: libwebsockets in one thread. It reads requests, answers what concerns a client alone, hands the rest to the
// runner, and writes the newest moment to each client that has taken the last one. A client that does not read keeps its socket full
// and is not asked again; the others do not wait for it. SPDX-License-Identifier: Apache-2.0
#include "core/array.h"
#include "core/error.h"
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
#define LAYER_INTERVAL 0.2 // [s] between two maps

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
    unsigned char *buffer; // of a frame, LWS_PRE before it
    size_t buffer_room;
    th_studio_shown shown[2];    // what the density below belongs to
    th_studio_field *density[2]; // by level, of shown
    struct lws *sockets[TH_STUDIO_CLIENTS];
};

// What lws keeps per connection: a client of the WebSocket, or a page being sent.
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

// In a time that does not tell how much of it was right.
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
    // On every address: any of them, as a number. A name could be a stranger's that leads here.
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
    // A page from elsewhere must not come in, and a WebSocket without an origin comes from no page.
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

// ---- frames

static bool reserve(th_studio_server *server, size_t bytes) {
    if (server->buffer_room >= bytes + LWS_PRE) return true;
    size_t room = bytes + bytes / 4 + LWS_PRE;
    unsigned char *grown = malloc(room);
    if (!grown) return false;
    free(server->buffer);
    server->buffer = grown;
    server->buffer_room = room;
    return true;
}

static void forget_density(th_studio_server *server, int w) {
    th_studio_shown *shown = &server->shown[w];
    for (int l = 0;
         server->density[w] && shown->moment && l < shown->moment->catalogue->level_count; ++l)
        th_studio_field_release(&server->density[w][l]);
    free(server->density[w]);
    server->density[w] = NULL;
    th_studio_moment_release(shown->moment);
    *shown = (th_studio_shown){0};
}

// The density at each person's place, once per moment for all clients that colour by it.
static const th_studio_field *density_of(th_studio_server *server, int w, th_studio_shown shown) {
    if (server->shown[w].number == shown.number && server->density[w]) return server->density[w];
    forget_density(server, w);
    int levels = shown.moment->catalogue->level_count;
    server->density[w] = calloc((size_t)levels, sizeof *server->density[w]);
    if (!server->density[w]) return NULL;
    server->shown[w] = shown;
    th_studio_moment_hold(shown.moment);
    for (int l = 0; l < levels; ++l)
        if (!th_studio_map_people(shown.moment, TH_LAYER_DENSITY, l, &server->density[w][l])) {
            forget_density(server, w);
            return NULL;
        }
    return server->density[w];
}

static int write_people(th_studio_server *server, struct lws *wsi, th_client *client, int w,
                        th_studio_shown shown) {
    const th_studio_catalogue *catalogue = shown.moment->catalogue;
    int colour = th_studio_find_colour(catalogue, client->colour);
    th_studio_frame frame = {.number = shown.number,
                             .past = shown.past,
                             .colour = colour < 0 ? 0 : colour,
                             .person = client->person_world == w ? client->person : 0};
    if (catalogue->colours[frame.colour].kind == TH_COLOUR_DENSITY)
        frame.density = density_of(server, w, shown);
    if (!reserve(server, th_studio_people_room(shown.moment))) return -1;
    size_t size =
        th_studio_write_people(shown.moment, &client->view, &frame, server->buffer + LWS_PRE);
    client->sent[w] = shown.number;
    return lws_write(wsi, server->buffer + LWS_PRE, size, LWS_WRITE_BINARY) < 0 ? -1 : 1;
}

static int write_field(th_studio_server *server, struct lws *wsi, const th_studio_field *field,
                       th_studio_shown shown) {
    bool vectors = shown.moment->catalogue->layers[field->layer].vectors;
    th_studio_frame frame = {.number = shown.number, .past = shown.past};
    if (field->nx > 65535 || field->ny > 65535) return 0;
    if (!reserve(server, th_studio_field_room(field, vectors))) return -1;
    size_t size = th_studio_write_field(shown.moment, field, &frame, server->buffer + LWS_PRE);
    return lws_write(wsi, server->buffer + LWS_PRE, size, LWS_WRITE_BINARY) < 0 ? -1 : 1;
}

// 0: there was none to write.
static int write_layer(th_studio_server *server, struct lws *wsi, th_client_layer *layer, int w,
                       th_studio_shown shown) {
    const th_studio_catalogue *catalogue = shown.moment->catalogue;
    int index = th_studio_find_layer(catalogue, layer->name);
    layer->number[w] = shown.number;
    if (index < 0 || layer->level >= catalogue->level_count) return 0;
    for (int k = 0; k < shown.moment->field_count; ++k) {
        const th_studio_field *field = &shown.moment->fields[k];
        if (field->layer == index && field->level == layer->level &&
            (field->target == layer->target || !catalogue->layers[index].of_target))
            return write_field(server, wsi, field, shown);
    }
    th_studio_field field;
    if (!th_studio_map_people(shown.moment, catalogue->layers[index].kind, layer->level, &field))
        return 0;
    field.layer = index;
    int written = write_field(server, wsi, &field, shown);
    th_studio_field_release(&field);
    return written;
}

// One thing that is due for the client: 1 written, 0 nothing due, -1 the connection is lost. *wait: seconds until more may be.
static int write_newest(th_studio_server *server, struct lws *wsi, th_client *client,
                        double *wait) {
    double now = th_monotonic_seconds(), next = client->sent_at + 1.0 / client->fps;
    int result = 0;
    *wait = 0;
    for (int w = 0; w < 2 && result == 0; ++w) {
        th_studio_shown shown = th_studio_look(server->exchange, w);
        if (shown.moment && shown.number != client->sent[w]) {
            // The second world goes with the first one's turn.
            if (now >= next || w == 1) {
                result = write_people(server, wsi, client, w, shown);
                if (w == 0) client->sent_at = now;
            } else {
                *wait = next - now;
            }
        }
        for (int k = 0; shown.moment && k < client->layer_count && result == 0; ++k) {
            th_client_layer *layer = &client->layers[k];
            if (layer->number[w] == shown.number) continue;
            if (now >= layer->sent + LAYER_INTERVAL || w == 1) {
                result = write_layer(server, wsi, layer, w, shown);
                if (w == 0) layer->sent = now;
            } else if (*wait == 0 || layer->sent + LAYER_INTERVAL - now < *wait) {
                *wait = layer->sent + LAYER_INTERVAL - now;
            }
        }
        th_studio_moment_release(shown.moment);
    }
    return result;
}

static int write_text(th_studio_server *server, struct lws *wsi, th_client *client) {
    th_studio_text *text = client->first;
    client->first = text->next;
    if (!client->first) client->last = NULL;
    client->waiting -= text->length;
    int result = -1;
    if (reserve(server, text->length)) {
        memcpy(server->buffer + LWS_PRE, text->text, text->length);
        result =
            lws_write(wsi, server->buffer + LWS_PRE, text->length, LWS_WRITE_TEXT) < 0 ? -1 : 1;
    }
    th_studio_text_destroy(text);
    return result;
}

static int write_next(th_studio_server *server, struct lws *wsi, th_client *client) {
    double wait = 0;
    int result =
        client->first ? write_text(server, wsi, client) : write_newest(server, wsi, client, &wait);
    if (result < 0) return -1;
    if (result > 0)
        lws_callback_on_writable(wsi);
    else if (wait > 0)
        lws_set_timer_usecs(wsi, (lws_usec_t)(1e6 * wait) + 500);
    return 0;
}

// ---- requests

json_t *th_studio_parse(const char *text, size_t length, const char **reason) {
    json_t *message = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
    const char *verb = json_string_value(json_object_get(message, "do"));
    *reason = !message                   ? "the message is not JSON"
              : !json_is_object(message) ? "the message is not a JSON object"
              : !verb                    ? "the message has no \"do\""
              : verb[0] == '_'           ? "requests do not begin with an underscore"
                                         : NULL;
    if (!*reason) return message;
    json_decref(message);
    return NULL;
}

static void add_text(th_client *client, th_studio_text *text) {
    text->next = NULL;
    if (client->last)
        client->last->next = text;
    else
        client->first = text;
    client->last = text;
    client->waiting += text->length;
}

static void answer(th_client *client, struct lws *wsi, json_t *object, const json_t *id) {
    if (id) json_object_set(object, "id", (json_t *)(uintptr_t)id);
    char *dumped = json_dumps(object, JSON_COMPACT);
    th_studio_text *text = calloc(1, sizeof *text);
    json_decref(object);
    if (!dumped || !text) {
        free(dumped);
        free(text);
        return;
    }
    *text = (th_studio_text){.length = strlen(dumped), .text = dumped};
    add_text(client, text);
    lws_callback_on_writable(wsi);
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

static int handle(th_studio_server *server, struct lws *wsi, th_client *client) {
    const char *reason;
    json_t *message = th_studio_parse(client->received, client->received_length, &reason);
    client->received_length = 0;
    if (!message) {
        answer(client, wsi,
               json_pack("{s:b,s:s,s:s}", "ok", 0, "error", reason, "cure",
                         "see docs/studio-protocol.md"),
               NULL);
        // A client that only sends nonsense and never reads gets a limited number of answers.
        return client->waiting > TH_STUDIO_BACKLOG ? -1 : 0;
    }
    th_studio_shown shown = th_studio_look(server->exchange, 0);
    json_t *own = th_client_request(client, message, shown.moment);
    th_studio_moment_release(shown.moment);
    if (own) {
        answer(client, wsi, own, json_object_get(message, "id"));
        renew_wishes(server);
    } else if (client->pending >= TH_STUDIO_PENDING) {
        answer(client, wsi,
               json_pack("{s:b,s:s,s:s}", "ok", 0, "error", "too many requests wait", "cure",
                         "wait for the answers"),
               json_object_get(message, "id"));
    } else {
        client->pending++;
        th_studio_ask(server->exchange, client->id, message); // the runner's alone from here on
        message = NULL;
    }
    json_decref(message);
    return client->waiting > TH_STUDIO_BACKLOG ? -1 : 0;
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
    int result = handle(server, wsi, client);
    if (client->received_length == 0) { // a large message must not keep its memory
        free(client->received);
        client->received = NULL;
        client->received_room = 0;
    }
    return result;
}

// ---- coming and going

static void tell_runner(th_studio_server *server, const th_client *client, const char *what) {
    th_studio_ask(server->exchange, client->id, json_pack("{s:s}", "do", what));
}

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
    *client = (th_client){.id = ++server->next_client, .fps = 30.0};
    snprintf(client->colour, sizeof client->colour, "speed");
    tell_runner(server, client, "_joined");
    renew_wishes(server);
    return 0;
}

static void farewell(th_studio_server *server, struct lws *wsi, th_client *client) {
    for (int k = 0; k < TH_STUDIO_CLIENTS; ++k) {
        if (server->sockets[k] != wsi) continue;
        server->sockets[k] = NULL;
        server->clients--;
        tell_runner(server, client, "_gone");
    }
    th_client_release(client);
    renew_wishes(server);
}

// Texts of the runner to their clients. Clients with too many are dropped.
static void deliver_one(th_studio_server *server, const th_studio_text *text) {
    for (int k = 0; k < TH_STUDIO_CLIENTS; ++k) {
        if (!server->sockets[k]) continue;
        th_client *client = &((connection *)lws_wsi_user(server->sockets[k]))->client;
        if (text->client != 0 && text->client != client->id) continue;
        if (text->is_reply && client->pending > 0) client->pending--;
        if (client->waiting > TH_STUDIO_BACKLOG) {
            lws_set_timeout(server->sockets[k], PENDING_TIMEOUT_CLOSE_SEND, LWS_TO_KILL_ASYNC);
            continue;
        }
        th_studio_text *copy = calloc(1, sizeof *copy);
        char *bytes = malloc(text->length + 1);
        if (!copy || !bytes) {
            free(copy);
            free(bytes);
            continue;
        }
        memcpy(bytes, text->text, text->length + 1);
        *copy = (th_studio_text){.length = text->length, .text = bytes};
        add_text(client, copy);
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
// Silence: asked after 20 s, dropped after 60.
static const lws_retry_bo_t silence = {.secs_since_valid_ping = 20, .secs_since_valid_hangup = 60};

void th_studio_server_wake(th_studio_server *server) { lws_cancel_service(server->context); }
static void wake(void *server) { th_studio_server_wake(server); }

// ---- the whole

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
    pthread_mutex_lock(&exchange->lock);
    exchange->wake = wake;
    exchange->server = server;
    pthread_mutex_unlock(&exchange->lock);
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
    for (int w = 0; w < 2; ++w) forget_density(server, w);
    free(server->page);
    free(server->buffer);
    free(server);
}

// ---- the page, one file made from studio/

// The page of the studio, one file made from studio/ and put into the program as it is.

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

size_t th_studio_page_size(void) { return (size_t)(th_studio_page_end - th_studio_page); }
