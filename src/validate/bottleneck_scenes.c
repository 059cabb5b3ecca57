// Scene files of the experiments at doors, written by hand from their plans. SPDX-License-Identifier: Apache-2.0
#include "validate/bottleneck_scenes.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// Speeds are throng's default, Weidmann 1993.
th_models_choice th_door_choice(const char *filter, const char *move) {
    return (th_models_choice){
        .filter = filter, .move = move, .radius = "{\"uniform\": [0.178, 0.2]}"};
}

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
static void add_people(th_door_scene *scene, th_box start, th_box exit,
                       const th_models_choice *choice) {
    char models[TH_CHOICE_TEXT];
    th_choice_text(choice, ", ", models);
    add(scene, "\"exits\": [{\"id\": \"out\", \"area\": {\"rect\": [%g, %g, %g, %g]}}],\n",
        (double)exit.min_x, (double)exit.min_y, (double)exit.max_x, (double)exit.max_y);
    add(scene,
        "\"groups\": [{\"count\": %d, \"area\": {\"rect\": [%g, %g, %g, %g]}, \"to\": "
        "\"out\"%s}]}\n",
        scene->people, (double)start.min_x, (double)start.min_y, (double)start.max_x,
        (double)start.max_y, models);
}

// A room of 4 m and a passage in the middle of its wall.
static void passage(th_door_scene *scene, const char *name, int people, double width, double length,
                    double run_up, const th_models_choice *choice) {
    const double density = 3.3, half = 2; // [1/m2], [m]
    *scene = (th_door_scene){.people = people, .line = 0.5 * length};
    double depth = people / density / (2 * half), back = -run_up - depth - 1;
    add(scene, "{\"name\": \"%s, %.1f m\", \"levels\": [{\"walkable\": [", name, width);
    add(scene, "{\"rect\": [%g, %g, 0, %g]}, ", back, -half, half);
    add(scene, "{\"rect\": [-0.1, %g, %g, %g]}, ", -0.5 * width, length + 0.1, 0.5 * width);
    add(scene, "{\"rect\": [%g, %g, %g, %g]}]}],\n", length, -half, length + 3, half);
    th_box start = {(float)(-run_up - depth), (float)-half, (float)-run_up, (float)half};
    th_box exit = {(float)(length + 2), (float)-half, (float)(length + 3), (float)half};
    add_people(scene, start, exit, choice);
    scene->jam = (th_box){-1.5f, -0.5f, -0.5f, 0.5f}; // a square metre, 1 m before the passage
    scene->shown = (th_box){(float)back, (float)-half, (float)(length + 3), (float)half};
}

void th_scene_seyfried(th_door_scene *scene, double width, const th_models_choice *choice) {
    passage(scene, "Seyfried 2009", 60, width, 2.8, 3, choice);
}

void th_scene_kretz(th_door_scene *scene, double width, const th_models_choice *choice) {
    passage(scene, "Kretz 2006", 100, width, 0.4, 1, choice);
}

void th_scene_adrian(th_door_scene *scene, const th_models_choice *choice) {
    *scene = (th_door_scene){.people = 75, .line = 0};
    add(scene,
        "{\"name\": \"Adrian 2020, 040_c_56_h-\", \"levels\": [{\"walkable\": ["
        "[-6.7, -2.8], [0, -2.8], [0, -0.4], [0.15, -0.25], [1.1, -0.25], [1.1, -2], [4, -2],"
        "[4, 2], [1.1, 2], [1.1, 0.25], [0.15, 0.25], [0, 0.4], [0, 2.8], [-6.7, 2.8]]}],\n");
    // Where people stood in the first frame.
    add_people(scene, (th_box){-6.0f, -2.6f, -0.1f, 2.6f}, (th_box){3, -2, 4, 2}, choice);
    scene->jam = (th_box){-1.3f, -0.4f, -0.5f, 0.4f}; // as in the archive's own analysis
    scene->shown = (th_box){-6.7f, -2.8f, 4, 2.8f};
}

void th_scene_hermes(th_door_scene *scene, const th_models_choice *choice) {
    *scene = (th_door_scene){.people = 348, .line = 0};
    // The plan has the passage 7.5 cm off the middle of the room; y is its y less 0.9 m, mirrored.
    const double density = 3.2, low = -3.1, high = 3.15; // [1/m2], [m]
    double front = -0.6, back = front - scene->people / density / (high - low);
    add(scene, "{\"name\": \"Hermes 2009, AO_300\", \"levels\": [{\"walkable\": [");
    add(scene, "{\"rect\": [%g, %g, -0.53, %g]}, {\"rect\": [-0.63, -1.5, 0.63, 1.5]}, ", back - 1,
        low, high);
    add(scene, "{\"rect\": [0.53, %g, 6.25, %g]}]}],\n", low, high);
    th_box start = {(float)back, (float)low, (float)front, (float)high};
    add_people(scene, start, (th_box){5.25f, (float)low, 6.25f, (float)high}, choice);
    scene->jam = (th_box){-2.6f, -1.5f, -0.6f, 1.5f};
    scene->shown = (th_box){-12, (float)low, 6.25f, (float)high};
}

void th_scene_grandstand(th_door_scene *scene, const th_models_choice *choice) {
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
    char models[TH_CHOICE_TEXT];
    th_choice_text(choice, ", ", models);
    add(scene, "\"groups\": [{\"to\": \"out\"%s, \"positions\": [", models);
    for (int k = 0; k < scene->people; ++k) {
        double x = -first - 0.5 * deep - (k / 2 % ROWS) * pitch;
        double y = aisle + 0.5 * seat + (k / 2 / ROWS) * seat;
        add(scene, "%s[%g, %g]", k > 0 ? ", " : "", x, k % 2 ? y : -y);
    }
    add(scene, "]}]}\n");
    scene->jam = (th_box){-1, -1, 1, 1}; // the mouth
    scene->shown = (th_box){-7.6f, -10.1f, 5, 10.1f};
}

// ---- a room that is not along the axes

typedef struct turn {
    double cosine, sine;
} turn;

static void add_points(th_door_scene *scene, turn t, const double (*points)[2], int count) {
    for (int k = 0; k < count; ++k)
        add(scene, "%s[%.4f, %.4f]", k > 0 ? ", " : "",
            t.cosine * points[k][0] - t.sine * points[k][1],
            t.sine * points[k][0] + t.cosine * points[k][1]);
}

void th_scene_room(th_door_scene *scene, int people, double width, uint64_t seed,
                   const th_models_choice *choice) {
    const double golden = 0.618033988749895, thick = 0.2, deep = 3; // [-], [m]
    double half = 0.5 * sqrt(fmax(people, 16.0)),
           angle = fmod(golden * (double)seed, 1) * 6.2831853;
    double middle = (2 * fmod(golden * golden * (double)seed, 1) - 1) * (half - 1.2);
    double low = middle - width / 2, high = middle + width / 2;
    turn t = {cos(angle), sin(angle)};
    *scene = (th_door_scene){.people = people};
    const double ground[][2] = {{-2 * half, -half},
                                {0, -half},
                                {0, low},
                                {thick, low},
                                {thick, -half},
                                {thick + deep, -half},
                                {thick + deep, half},
                                {thick, half},
                                {thick, high},
                                {0, high},
                                {0, half},
                                {-2 * half, half}};
    const double out[][2] = {{thick + deep - 1, -half},
                             {thick + deep, -half},
                             {thick + deep, half},
                             {thick + deep - 1, half}};
    // A crowd stands anywhere; somebody alone comes from the far wall, so that times compare.
    double front = people > 1 ? 0 : 0.7 - 2 * half;
    const double start[][2] = {
        {-2 * half, -half}, {front, -half}, {front, half}, {-2 * half, half}};
    char models[TH_CHOICE_TEXT];
    th_choice_text(choice, ", ", models);
    add(scene, "{\"name\": \"room\", \"levels\": [{\"walkable\": [");
    add_points(scene, t, ground, 12);
    add(scene, "]}], \"exits\": [{\"id\": \"out\", \"area\": [");
    add_points(scene, t, out, 4);
    add(scene, "]}],\n\"groups\": [{\"count\": %d, \"area\": [", people);
    add_points(scene, t, start, 4);
    add(scene, "], \"to\": \"out\"%s}]}\n", models);
}
