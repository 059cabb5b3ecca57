// Scene files of the experiments at doors, written by hand from their plans. SPDX-License-Identifier: Apache-2.0
#include "validate/bottleneck_scenes.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// Discs with the area that adults cover seen from above: 0.100 m2 in summer dress to 0.125 m2 in winter
// dress (Predtechenskii, Milinskii 1978), so radii of 0.178 to 0.200 m. Speeds: throng's default, Weidmann 1993.
#define BODIES "\"radius\": {\"uniform\": [0.178, 0.2]}"

static void add(th_door_scene *scene, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void add(th_door_scene *scene, const char *format, ...) {
    size_t length = strlen(scene->text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(scene->text + length, sizeof scene->text - length, format, arguments);
    va_end(arguments);
}

// The rest of a scene whose people stand somewhere in start and leave by the exit.
static void add_people(th_door_scene *scene, th_box start, th_box exit, const char *filter,
                       const char *move) {
    add(scene, "\"exits\": [{\"id\": \"out\", \"area\": {\"rect\": [%g, %g, %g, %g]}}],\n",
        (double)exit.min_x, (double)exit.min_y, (double)exit.max_x, (double)exit.max_y);
    add(scene,
        "\"groups\": [{\"count\": %d, \"area\": {\"rect\": [%g, %g, %g, %g]}, \"to\": "
        "\"out\", " BODIES ", \"filter\": %s, \"move\": %s}]}\n",
        scene->people, (double)start.min_x, (double)start.min_y, (double)start.max_x,
        (double)start.max_y, filter, move);
}

void th_scene_seyfried(th_door_scene *scene, double width, const char *filter, const char *move) {
    const double density = 3.3, half = 2, length = 2.8, run_up = 3; // [1/m2], [m]
    *scene = (th_door_scene){.people = 60, .line = 0.5 * length};
    double depth = scene->people / density / (2 * half), back = -run_up - depth - 1;
    add(scene, "{\"name\": \"Seyfried 2009, %.1f m\", \"levels\": [{\"walkable\": [", width);
    add(scene, "{\"rect\": [%g, %g, 0, %g]}, ", back, -half, half);
    add(scene, "{\"rect\": [-0.1, %g, %g, %g]}, ", -0.5 * width, length + 0.1, 0.5 * width);
    add(scene, "{\"rect\": [%g, %g, %g, %g]}]}],\n", length, -half, length + 3, half);
    th_box start = {(float)(-run_up - depth), (float)-half, (float)-run_up, (float)half};
    th_box exit = {(float)(length + 2), (float)-half, (float)(length + 3), (float)half};
    add_people(scene, start, exit, filter, move);
    scene->jam = (th_box){-1.5f, -0.5f, -0.5f, 0.5f}; // a square metre, 1 m before the passage
    scene->shown = (th_box){(float)back, (float)-half, (float)(length + 3), (float)half};
}

void th_scene_adrian(th_door_scene *scene, const char *filter, const char *move) {
    *scene = (th_door_scene){.people = 75, .line = 0};
    add(scene,
        "{\"name\": \"Adrian 2020, 040_c_56_h-\", \"levels\": [{\"walkable\": ["
        "[-6.7, -2.8], [0, -2.8], [0, -0.4], [0.15, -0.25], [1.1, -0.25], [1.1, -2], [4, -2],"
        "[4, 2], [1.1, 2], [1.1, 0.25], [0.15, 0.25], [0, 0.4], [0, 2.8], [-6.7, 2.8]]}],\n");
    // Where people stood in the first frame.
    add_people(scene, (th_box){-6.0f, -2.6f, -0.1f, 2.6f}, (th_box){3, -2, 4, 2}, filter, move);
    scene->jam = (th_box){-1.3f, -0.4f, -0.5f, 0.4f}; // as in the archive's own analysis
    scene->shown = (th_box){-6.7f, -2.8f, 4, 2.8f};
}

void th_scene_hermes(th_door_scene *scene, const char *filter, const char *move) {
    *scene = (th_door_scene){.people = 348, .line = 0};
    // The plan has the passage 7.5 cm off the middle of the room; y is its y less 0.9 m, mirrored.
    const double density = 3.2, low = -3.1, high = 3.15; // [1/m2], [m]
    double front = -0.6, back = front - scene->people / density / (high - low);
    add(scene, "{\"name\": \"Hermes 2009, AO_300\", \"levels\": [{\"walkable\": [");
    add(scene, "{\"rect\": [%g, %g, -0.53, %g]}, {\"rect\": [-0.63, -1.5, 0.63, 1.5]}, ", back - 1,
        low, high);
    add(scene, "{\"rect\": [0.53, %g, 6.25, %g]}]}],\n", low, high);
    th_box start = {(float)back, (float)low, (float)front, (float)high};
    add_people(scene, start, (th_box){5.25f, (float)low, 6.25f, (float)high}, filter, move);
    scene->jam = (th_box){-2.6f, -1.5f, -0.6f, 1.5f};
    scene->shown = (th_box){-12, (float)low, 6.25f, (float)high};
}

void th_scene_grandstand(th_door_scene *scene, const char *filter, const char *move) {
    enum { ROWS = 10, SEATS = 15 };
    // [m] of Menge's scene: depth of a row, from row to row, from the mouth to the first, half an aisle, half
    // the grandstand; seats 0.6 m apart: throng's choice, so that 300 people fit.
    const double deep = 0.5, pitch = 0.7, first = 0.35, aisle = 1, side = 10, seat = 0.6;
    *scene = (th_door_scene){.people = 2 * ROWS * SEATS, .line = 0};
    add(scene, "{\"name\": \"grandstand\", \"levels\": [{\"walkable\": ["
               "{\"rect\": [-7.5, -1, 5, 1]}");
    for (int row = 0; row < ROWS; ++row) {
        double x = -first - row * pitch;
        add(scene, ", {\"rect\": [%g, %g, %g, %g]}", x - deep, -side, x, side);
    }
    add(scene, "]}],\n\"exits\": [{\"id\": \"out\", \"area\": {\"rect\": [4, %g, 5, %g]}}],\n",
        -aisle, aisle);
    add(scene,
        "\"groups\": [{\"to\": \"out\", " BODIES ", \"filter\": %s, \"move\": %s, "
        "\"positions\": [",
        filter, move);
    for (int k = 0; k < scene->people; ++k) {
        double x = -first - 0.5 * deep - (k / 2 % ROWS) * pitch;
        double y = aisle + 0.5 * seat + (k / 2 / ROWS) * seat;
        add(scene, "%s[%g, %g]", k > 0 ? ", " : "", x, k % 2 ? y : -y);
    }
    add(scene, "]}]}\n");
    scene->jam = (th_box){-1, -1, 1, 1}; // the mouth
    scene->shown = (th_box){-7.6f, -10.1f, 5, 10.1f};
}
