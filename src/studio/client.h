// One client of the server: its view, what waits for it, and the frame that is next. SPDX-License-Identifier: Apache-2.0
#ifndef TH_STUDIO_CLIENT_H
#define TH_STUDIO_CLIENT_H
#include "studio/exchange.h"
#include "studio/moment.h"

// ---- frames

// A moment as one client sees it: the bytes of a binary message.

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
    // Of level 0 .. level_count - 1, for the colour "density"; NULL: none yet
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

// One client of the server: its view, what waits for it, and the frame that is next.

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
#endif
