// All people at one moment, small enough to keep minutes of it, and what can be shown of it. Made by the thread that
// steps the world (or reads the recording), read by the server's; constant once published, and freed by the thread that lets go
// of it last. SPDX-License-Identifier: Apache-2.0
#ifndef TH_STUDIO_MOMENT_H
#define TH_STUDIO_MOMENT_H
#include "observe/density.h"
#include "observe/observer.h"
#include "studio/layout.h"
#include "throng/live.h"
#include "throng/model.h"
#include "throng/scene_view.h"
#include <stdatomic.h>

#define TH_STUDIO_SPEED_STEP 0.02f // [m/s] of a byte: up to 5.1 m/s
enum { TH_STUDIO_COLUMNS = 8, TH_STUDIO_FIELDS = 8, TH_STUDIO_NAME = 80, TH_STUDIO_LEVELS = 64 };

// ---- what a scene offers: colours of people and layers

// X(NAME, name, label, unit, recorded, max, doc): those that every crowd has; `recorded`: recordings know it too. From 0
// to max; 0: a category.
#define TH_STUDIO_COLOURS(X)                                                                     \
    X(SPEED, speed, "speed", "m/s", true, 2, "how fast the person walks")                        \
    X(SPEED_RATIO, speed_ratio, "speed against wish", "-", false, 1,                             \
      "speed over the speed the person would walk on free flat ground")                          \
    X(DENSITY, density, "density", "1/m2", true, 8, "people per square metre around the person") \
    X(GROUP, group, "group", "", true, 0, "the person's group")                                  \
    X(GOAL, goal, "goal", "", false, 0, "what the person walks to")                              \
    X(STATE, state, "state", "", true, 0, "standing, walking, waiting, fallen, ...")             \
    X(MOOD, mood, "mood", "", false, 0, "calm, waiting, impatient, in panic or fallen")          \
    X(LEVEL, level, "level", "", true, 0, "the level the person is on")                          \
    X(LOAD, load, "load on the body", "N", false, 1000,                                          \
      "half the sum of the contact forces on the person: what squeezes the body")                \
    X(EXPOSURE, exposure, "time in a dense crowd", "s", false, 120,                              \
      "seconds that the person has spent where it was denser than 4 people/m2")

typedef enum th_studio_colour_kind {
#define X(NAME, name, label, unit, recorded, max, doc) TH_COLOUR_##NAME,
    TH_STUDIO_COLOURS(X)
#undef X
        TH_COLOUR_FIELD // a value that a model keeps of every agent, "stage/model.field"
} th_studio_colour_kind;

typedef struct th_studio_colour {
    char name[TH_STUDIO_NAME], label[TH_STUDIO_NAME], unit[16], doc[200];
    th_studio_colour_kind kind;
    bool category;
    float max;     // of the legend, which begins at 0; 0: as the values are
    bool is_float; // of a field
} th_studio_colour;

// X(NAME, name, label, unit, vectors, of_target, max, doc)
#define TH_STUDIO_LAYERS(X)                                                                       \
    X(DENSITY, density, "density", "1/m2", false, false, 8,                                       \
      "people per square metre around the place, of the floor there; a person alone is no crowd") \
    X(SPEED, speed, "mean speed", "m/s", false, false, 2, "mean speed of the people there")       \
    X(FLOW, flow, "specific flow", "1/(m s)", false, false, 4,                                    \
      "density times the length of the mean velocity")                                            \
    X(CROWD_PRESSURE, crowd_pressure, "crowd pressure", "1/s2", false, false, 0.1,                \
      "density times the variance of the local velocity over half a minute (Helbing 2007); from " \
      "0.02 on a crowd of more than 7 /m2 is turbulent")                                          \
    X(HIGHEST, highest_density, "highest density so far", "1/m2", false, false, 8,                \
      "the highest density of each cell at any full second, as in the report")                    \
    X(MEAN, mean_density, "mean density so far", "1/m2", false, false, 8,                         \
      "the density of each cell, averaged over the time so far")                                  \
    X(DENSE, time_dense, "time above 4 /m2", "s", false, false, 0,                                \
      "seconds that each cell was denser than 4 people/m2 (IMO), as in the report")               \
    X(USAGE, usage, "time people spent", "s", false, false, 0,                                    \
      "person-seconds in each cell so far: where people were")                                    \
    X(DELAY, delay, "time people lost", "s", false, false, 0,                                     \
      "person-seconds in each cell of people slower than 0.2 m/s who would go on")                \
    X(VELOCITY, velocity, "mean velocity", "m/s", true, false, 2,                                 \
      "mean velocity of the people there")                                                        \
    X(DISTANCE, distance, "way to go", "m", false, true, 0, "walking distance to a target")       \
    X(TRAVEL_TIME, travel_time, "time to go", "s", false, true, 0,                                \
      "time to a target at the pace that the people on the way have now, 1.34 m/s on "            \
      "empty ground")                                                                             \
    X(GUIDANCE, guidance, "direction to go", "-", true, true, 1,                                  \
      "direction in which the way to a target shortens")                                          \
    X(PLANNED, planned, "direction planned", "-", true, true, 1,                                  \
      "which way the planner leads people to a target: planners that weigh ways know more than "  \
      "the "                                                                                      \
      "shortest way")                                                                             \
    X(DISCOMFORT, discomfort, "discomfort of pictures", "-", false, true, 0,                      \
      "how much people would rather not be there, as the scene's pictures say")                   \
    X(DRAWN, drawn, "guidance of pictures", "-", true, true, 1,                                   \
      "which way the scene's pictures of guidance lead people to a target")                       \
    X(PACKING, packing, "packing", "-", false, false, 1, "of a model with grids: 1 is packed")    \
    X(PRESSURE, pressure, "model pressure", "m2/s", false, false, 0,                              \
      "of a model with grids: its gradient slows people down")

typedef enum th_studio_layer_kind {
#define X(NAME, name, label, unit, vectors, of_target, max, doc) TH_LAYER_##NAME,
    TH_STUDIO_LAYERS(X)
#undef X
        TH_LAYER_COUNT
} th_studio_layer_kind;

typedef struct th_studio_layer {
    const char *name, *label, *unit, *doc;
    th_studio_layer_kind kind;
    bool vectors, of_target;
    float max; // of the legend; 0: as the values are
} th_studio_layer;

typedef struct th_studio_catalogue {
    atomic_int references;
    th_studio_colour colours[64];
    int colour_count;
    th_studio_layer layers[TH_LAYER_COUNT];
    int layer_count;
    int level_count;
    th_box level_boxes[TH_STUDIO_LEVELS];
    th_kernel kernels[TH_STUDIO_LEVELS]; // of the densities, by level
    th_box box;
} th_studio_catalogue;

// A value that a model keeps, in words: its name without underscores, and the unit that its text ends with, "[m/s]".
void th_studio_field_words(const th_field_info *field, char label[TH_STUDIO_NAME], char unit[16]);
// The catalogue of a world, or (world NULL) of a recording. NULL: no memory.
th_studio_catalogue *th_studio_catalogue_create(const th_scene_view *scene, const th_world *world);
// Makes the kernels anew after level_boxes were changed. False: no memory.
bool th_studio_catalogue_fit(th_studio_catalogue *catalogue, const th_scene_view *scene);
int th_studio_find_colour(const th_studio_catalogue *catalogue, const char *name); // -1: none
int th_studio_find_layer(const th_studio_catalogue *catalogue, const char *name);
void th_studio_catalogue_release(th_studio_catalogue *catalogue);

// ---- all people at a moment

typedef struct th_studio_row {
    uint32_t id;
    float x, y;             // [m] from the scene's origin
    uint8_t heading, speed; // as th_studio_person
    uint8_t ratio;          // 255 steps of the preferred speed
    uint8_t phase, level, group, goal;
    uint8_t radius; // [cm]
} th_studio_row;

typedef struct th_studio_column { // each person's value of a colour that rows do not hold
    int colour;
    float *values;
} th_studio_column;

// Values of the cells of a level: one each, or x and y of a vector. NaN: nothing there.
typedef struct th_studio_field {
    int layer, level, target;
    int nx, ny;
    float min_x, min_y, cell;
    float *values;
} th_studio_field;

typedef struct th_studio_moment {
    atomic_int references;
    double time;
    uint64_t step;
    int world;
    int count;
    th_studio_row *rows; // of a recording ascending in id, of a world in any order
    th_studio_catalogue *catalogue;
    th_studio_column columns[TH_STUDIO_COLUMNS];
    int column_count;
    th_studio_field fields[TH_STUDIO_FIELDS]; // of the layers that only the world knows
    int field_count;
} th_studio_moment;

// Requests of clients that only the world can answer.
typedef struct th_studio_wishes {
    char colours[TH_STUDIO_COLUMNS][TH_STUDIO_NAME];
    int colour_count;
    struct {
        th_studio_layer_kind kind;
        int level, target;
    } layers[TH_STUDIO_FIELDS];
    int layer_count;
} th_studio_wishes;

// Copies a world's people. `seen` (or NULL): what was observed of it. NULL: no memory.
th_studio_moment *th_studio_moment_take(th_world *world, int number, th_studio_catalogue *catalogue,
                                        const th_studio_wishes *wishes, const th_observation *seen);
// An empty one with room for `count` rows.
th_studio_moment *th_studio_moment_create(th_studio_catalogue *catalogue, int count);
th_studio_moment *th_studio_moment_hold(th_studio_moment *moment);
void th_studio_moment_release(th_studio_moment *moment); // NULL is fine
size_t th_studio_moment_bytes(const th_studio_moment *moment);

// A byte for a direction, and one for a speed.
uint8_t th_studio_heading(float x, float y);
uint8_t th_studio_speed(float speed);

// ---- maps of the people of a level
bool th_studio_is_of_people(th_studio_layer_kind kind);   // they alone make it
bool th_studio_is_of_observer(th_studio_layer_kind kind); // what was seen so far makes it
// False: no memory, or the layer is not one that people alone make.
bool th_studio_map_people(const th_studio_moment *moment, th_studio_layer_kind kind, int level,
                          th_studio_field *field);
// ---- maps of the world, maps.c: of field->level and, where the layer is of one, field->target. False: no memory, or
// the world has none.
bool th_studio_map_world(th_world *world, const th_studio_moment *moment,
                         const th_observation *seen, th_studio_layer_kind kind,
                         th_studio_field *field);
void th_studio_field_release(th_studio_field *field);
// Value of the cell at a place; 0 beyond the map.
float th_studio_field_at(const th_studio_field *field, float x, float y);
#endif
