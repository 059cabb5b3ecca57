// A drawing as lines on layers, whatever file it came from, and what becomes of it. SPDX-License-Identifier: Apache-2.0
#ifndef TH_IMPORT_DRAWING_H
#define TH_IMPORT_DRAWING_H
#include "core/memory.h"
#include "throng/scene_view.h"
#include <jansson.h>

// A line of points; arcs are many short ones.
typedef struct th_drawn_path {
    int layer, first, count;
    bool closed;      // the last point joins the first, which is not repeated
    const char *name; // of a room; NULL: it has none
    bool filled;      // the outline of a hatch
    bool is_arc;      // of a circle about `centre`
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

typedef struct th_drawn_level {
    const char *name;
    double z; // [m]
} th_drawn_level;

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
    double unit;            // [m] of the drawing's unit; 0: it says none
    th_drawn_level *levels; // from the lowest; none: those that the layers name, 3 m apart
    int level_count;
    bool outdoors;   // a map: what is not built on is ground
    bool has_origin; // the plan's (0, 0) is elsewhere in the file:
    th_point origin; // there, for the recipe
} th_drawing;

// drawing.c: a drawing is built of layers and paths, all in its arena.

// The layer's number; -1 with an error. The name is copied.
int th_drawing_layer(th_drawing *drawing, const char *name, th_error *error);
// The points x, y, x, y, ... as a path of at least two points; false with an error.
bool th_drawing_add(th_drawing *drawing, int layer, const th_point *points, int count, bool closed,
                    th_error *error);
// Counts something that is left out; false: no memory.
bool th_drawing_leave_out(th_drawing *drawing, const char *name, int count);

// dxf.c: an ASCII DXF of any version. `unit` [m], 0: what the file says. The text is changed.
th_result th_dxf_read(th_drawing *drawing, th_arena *arena, char *text, size_t length, double unit,
                      th_error *error);
// A unit by its name, "mm"; 0: there is none. In metres.
double th_unit_of(const char *name);

// dxf_write.c: a scene's ground, walls, doors, exits, stairs and groups on layers that th_plan_import knows. To be freed with
// free(); NULL: no memory.
char *th_dxf_write(const th_scene_view *scene, size_t *length);

// program.c: what another program made of a file.
typedef struct th_program_end {
    bool missing; // there is no such program
    int code;     // its exit code; -1: it ran too long, wrote too much or was killed
    char *out;    // what it wrote, to be released with free()
    size_t length;
    char said[400]; // its first complaint
} th_program_end;
th_result th_program_run(const char *const *words, th_program_end *end, th_error *error);

// Scripts that other programs run, built in.
typedef struct th_import_script {
    const char *name;
    const unsigned char *text;
    size_t length;
} th_import_script;
extern const th_import_script th_import_scripts[];
extern const int th_import_script_count;

// ifc.c: IFC 2x3 and 4, read by Node and web-ifc.
th_result th_ifc_read(th_drawing *drawing, th_arena *arena, const char *path, th_error *error);
// The output of that program.
th_result th_ifc_take(th_drawing *drawing, th_arena *arena, const char *text, size_t length,
                      th_error *error);

// gis.c: maps, read by ogr2ogr. `origin` of an earlier import, or NULL.
th_result th_gis_read(th_drawing *drawing, th_arena *arena, const char *path, const double *origin,
                      th_error *error);
// The SQLite file that ogr2ogr writes.
th_result th_gis_take(th_drawing *drawing, th_arena *arena, const char *database,
                      const double *origin, th_error *error);

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
    bool has_area;
    double area[4]; // ground of maps: x0, y0, x1, y1 [m]
    bool has_origin;
    double origin[2]; // of maps, from an earlier import
    double exits[64][4];
    int exit_count;
    double width;        // of a picture on the ground [m]; 0: not known
    const char *picture; // the PNG that is written of one, beside the scene
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

// How the drawing is taken, as scenes keep it, also where th_plan_import fails; NULL: no memory, or too many levels.
json_t *th_plan_recipe(const th_drawing *drawing, const th_import_settings *settings);

// others.c: a scenario of Vadere or JuPedSim as a scene. `wkt`: the ground, from a file of its own, or NULL; `text` may be
// NULL where `wkt` is all there is.
json_t *th_others_take(th_arena *arena, const char *text, size_t length, const char *wkt,
                       const th_import_settings *settings, const char **told, th_error *error);

// picture.c: a PNG, SVG or PDF to be traced. The PNG is released with free().
bool th_picture_is(const char *path);
th_result th_picture_read(const char *path, char **png, size_t *length, th_error *error);
// As th_import_file.
json_t *th_picture_import(th_arena *arena, const char *path, const th_import_settings *settings,
                          const char **told, th_error *error);

// people.c: the groups of a scene from a CSV of people, and into `told` what was made of it.
th_result th_import_people(json_t *scene, const char *text, size_t length, char *told, size_t size,
                           th_error *error);

// import.c: a file of any kind that throng knows, by its name, as a scene; as th_plan_import, in the arena. `recipe`, unless
// NULL: that of th_plan_recipe where a drawing was read that makes no scene, otherwise NULL.
json_t *th_import_file(th_arena *arena, const char *path, const th_import_settings *settings,
                       const char **told, json_t **recipe, th_error *error);
#endif
