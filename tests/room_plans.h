// Plans and their rooms, for the tests of rooms. SPDX-License-Identifier: Apache-2.0
#ifndef TH_TESTS_ROOM_PLANS_H
#define TH_TESTS_ROOM_PLANS_H
#include "space/rooms.h"
#include "space/walls.h"
#include "support.h"
#include "throng/rooms.h"
#include <string.h>

typedef struct plan {
    th_scene *scene;
    th_rooms *rooms;
} plan;

static inline plan open_plan(const char *json) {
    plan p = {.scene = scene_of(json)};
    th_error error;
    if (th_rooms_create(p.scene, TH_PASSAGE_WIDTH_MAX, &p.rooms, &error) != TH_OK)
        fail_msg("%s", error.message);
    return p;
}

static inline void close_plan(plan *p) {
    th_rooms_destroy(p->rooms);
    th_scene_destroy(p->scene);
}

// The ring as WKT, turned by `angle` and shifted.
static inline void ring_text(char *text, size_t size, const double (*ring)[2], int count,
                             double angle) {
    size_t at = 0;
    for (int k = 0; k <= count; ++k) {
        double x = ring[k % count][0], y = ring[k % count][1];
        at += (size_t)snprintf(text + at, size - at, "%s%.9f %.9f", k > 0 ? ", " : "",
                               3.337 + x * cos(angle) - y * sin(angle),
                               -1.713 + x * sin(angle) + y * cos(angle));
    }
}

static const double angles[] = {0, 0.1, 0.5235987756, 1.0, 1.5707963268, 2.2, 3.9, 5.5};

enum { ANGLES = sizeof angles / sizeof angles[0] };
#endif
