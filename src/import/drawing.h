// A drawing as lines on layers, whatever file it came from, and what becomes of it. SPDX-License-Identifier: Apache-2.0
#ifndef TH_IMPORT_DRAWING_H
#define TH_IMPORT_DRAWING_H
#include "core/memory.h"
#include "throng/scene_view.h"
#include <jansson.h>

// A line of points; arcs are many short ones.
typedef struct th_drawn_path {
    int layer, first, count;
    bool closed; // the last point joins the first, which is not repeated
    bool is_arc; // of a circle about `centre`
    th_point centre;
    int insert; // which block reference it came with, 0: none
    int line;   // of the file, for messages
} th_drawn_path;

typedef struct th_drawn_layer {
    const char *name; // UTF-8
    bool hidden;      // frozen or off
    int paths;
} th_drawn_layer;

// A part of the drawing that was left out, by its name in the file.
typedef struct th_left_out {
    const char *name;
    int count;
} th_left_out;

typedef struct th_drawing {
    th_arena *arena;
    th_point *points; // in the drawing's unit
    int point_count, point_capacity;
    th_drawn_path *paths;
    int path_count, path_capacity;
    th_drawn_layer *layers;
    int layer_count, layer_capacity;
    th_left_out *left_out;
    int left_out_count, left_out_capacity;
    double unit; // [m] of the drawing's unit; 0: it says none
} th_drawing;

// dxf.c: an ASCII DXF of any version. `unit` [m], 0: what the file says. The text is changed.
th_result th_dxf_read(th_drawing *drawing, th_arena *arena, char *text, size_t length, double unit,
                      th_error *error);
// A unit by its name, "mm"; 0: there is none. In metres.
double th_unit_of(const char *name);

// dxf_write.c: a scene's ground, walls, doors, exits, stairs and groups on layers that th_plan_import knows. To be freed with
// free(); NULL: no memory.
char *th_dxf_write(const th_scene_view *scene, size_t *length);

// ---- plan.c: a drawing as a scene

typedef struct th_layer_rule {
    const char *layer; // "A-WALL*": * stands for any text; letters alike, large or small
    const char *role;  // "walls", "walls@upper"; th_role_names
} th_layer_rule;

enum { TH_RULES_MAX = 256 };
typedef struct th_import_settings {
    double unit;  // [m] of the drawing's unit; 0: what the drawing says
    double close; // gaps up to this are closed [m]
    double turn;  // [degrees] counter-clockwise
    th_layer_rule rules[TH_RULES_MAX];
    int rule_count;
    char names[16384]; // of layers in rules that th_import_add_rule added
    int names_length;
    int people; // to put on the ground; 0: none
    double exits[64][4];
    int exit_count;
    const char *file, *name;
} th_import_settings;

th_import_settings th_import_settings_default(void);
// "walls, obstacles, ..."
const char *th_role_names(void);
// Adds "LAYER=role", whose role stays the caller's; false: it is not of this form, or no such role.
bool th_import_add_rule(th_import_settings *settings, const char *text);
// Takes what `settings` leaves open from the recipe that an earlier import left in a scene.
th_result th_import_recipe(th_import_settings *settings, const json_t *scene, th_error *error);

// The scene, to be released with json_decref, and into *told what was found, closed, joined and ignored, in the drawing's
// arena. NULL with an error.
json_t *th_plan_import(const th_drawing *drawing, const th_import_settings *settings,
                       const char **told, th_error *error);
#endif
