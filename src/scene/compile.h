// The compiler's own state, shared by the compile_*.c files. SPDX-License-Identifier: Apache-2.0
#ifndef TH_SCENE_COMPILE_H
#define TH_SCENE_COMPILE_H
#include "core/geometry.h"
#include "scene/wall_chains.h"

typedef struct th_parsed_shape {
    const th_shape *shape;
    GEOSGeometry *geometry;
} th_parsed_shape;

typedef struct th_extent {
    th_point low, high; // low > high: nothing yet
} th_extent;
#define TH_NO_EXTENT                                   \
    {                                                  \
        {HUGE_VAL, HUGE_VAL}, { -HUGE_VAL, -HUGE_VAL } \
    }

// The lists of the scene while they are filled; the scene shows them as constant.
typedef struct th_scene_lists {
    th_level *levels;
    th_link *links;
    th_zone *zones;
    th_picture *pictures;
    th_section *sections;
    th_door *doors;
    th_goal *goals;
    const char **names;
    th_target *targets;
    th_group *groups;
    th_scripted *scripted;
    th_measure_line *measure_lines;
    th_measure_area *measure_areas;
} th_scene_lists;

typedef struct th_compiler {
    const th_scene_def *def;
    const th_level_def *levels; // the definition's, or one open plane
    int level_count;
    const th_narrow_gap *narrow_gaps;
    int narrow_gap_count;
    th_scene *scene;
    th_scene_lists list; // of the scene
    th_error *error;
    th_result result; // of the first failure
    th_geometry geometry;
    th_arena work; // freed after compiling
    th_parsed_shape *shapes;
    int shape_count, shape_capacity, shape_cursor;
    int drawn_pixels;        // of areas from pictures, those read so far
    GEOSGeometry **walkable; // by level; NULL on an open plane
    th_gap *gaps;            // in the edges of the ground
    int gap_count;
    uint64_t *id_hashes; // of the kind whose ids are being gathered
    int id_hash_capacity;
    const uint8_t *bars[TH_BAR_MAX]; // of stairs, doors and zones, one after the other: in the set?
    int *exit_of_door;          // by door: the exit that it shuts, -1: none; NULL: no exit shuts
    th_extent *extents;         // by level
    th_extent extent;           // of everything
    const th_point **positions; // by group
    int *position_counts;
    th_recorded_person **recorded; // by group
    int *recorded_counts;
    int64_t people_linked; // positions from linked files
    char path[160];
} th_compiler;

#if defined(__GNUC__)
#define TH_PRINTF(text, rest) __attribute__((format(printf, text, rest)))
#else
#define TH_PRINTF(text, rest)
#endif
// Sets c->path and returns it.
const char *th_at(th_compiler *c, const char *format, ...) TH_PRINTF(2, 3);
// Fails (once) at c->path.
void th_bad(th_compiler *c, const char *format, ...) TH_PRINTF(2, 3);
void th_no_memory(th_compiler *c);
void *th_take(th_compiler *c, size_t count, size_t size);     // from the scene's arena
const char *th_copy_string(th_compiler *c, const char *text); // refuses what is not UTF-8
// "must lie in low .. high unit" at c->path; above: low itself is not allowed.
void th_check_range(th_compiler *c, const char *name, double value, double low, double high,
                    const char *unit);
void th_check_above(th_compiler *c, const char *name, double value, double low, double high,
                    const char *unit);
// Index of a level by id, NULL for the only one. c->path is the object's; 0 after a failure.
int th_level_index(th_compiler *c, const char *id);
// Index of a goal by id. c->path is the object's; 0 after a failure.
int th_goal_index(th_compiler *c, const char *id);
// Copies the id, makes one up when there is none, and refuses a second of the same name.
const char *th_unique_id(th_compiler *c, const char *id, const char *kind, int index,
                         const char *(*earlier)(const th_scene *scene, int i), int earlier_count);

// First pass: parse and remember, growing the extents of the level.
void th_gather_shape(th_compiler *c, const th_shape *shape, bool lines, int level);
void th_gather_point(th_compiler *c, th_point point, int level);
void th_gather_line(th_compiler *c, const th_point line[2], int level);
// Second pass.
GEOSGeometry *th_shape_geometry(th_compiler *c, const th_shape *shape); // NULL for an empty one
th_area th_compile_area(th_compiler *c, const th_shape *shape, int level);
th_vec2 th_relative(const th_compiler *c, th_point point);
th_line th_compile_line(const th_compiler *c, const th_point line[2], int level);

// A linked list of positions: rows "x,y" (also separated by blanks, semicolons or tabs; a first line that is no
// numbers is a header).
th_result th_positions_read(th_arena *arena, th_link_scope links, const char *name,
                            const char *path, th_point **positions, int *count, th_error *error);

// compile_pictures.c
void th_gather_pictures(th_compiler *c);
void th_compile_pictures(th_compiler *c);
// Is the area drawn: what is dark in a PNG?
bool th_shape_drawn(const th_shape *shape);
// Its outlines; NULL after th_bad.
GEOSGeometry *th_drawn_geometry(th_compiler *c, const th_shape *shape, bool lines);
// All pixels of a PNG as red, green, blue, alpha, row by row from the top; at most `most` of them. `path` is the
// place in the scene, for messages.
th_result th_png_read(th_arena *arena, const char *bytes, size_t length, int most, const char *path,
                      uint8_t **pixels, int *width, int *height, th_error *error);
// sections.c: scene data that models declare, first the sections whose elements are goals.
void th_gather_sections(th_compiler *c, bool detours);
void th_compile_sections(th_compiler *c);
// Counts elements that are goals; compiles a group's weights of names, and its detours, after its route.
int th_count_detours(const th_scene_def *def);
void th_compile_weights(th_compiler *c, int group, int *route);
void th_gather_groups(th_compiler *c);
void th_compile_groups(th_compiler *c);
// The target of these goals, ascending, which live as long as the scene; a new one where there is none yet.
int th_target_of(th_compiler *c, const int *goals, int count);
void th_gather_scripted(th_compiler *c);
void th_compile_scripted(th_compiler *c);
void th_compile_walls(th_compiler *c);
// compile_bars.c: ways that some people never use. First which sets of them there are; then walls for those people.
void th_gather_bars(th_compiler *c);
void th_add_bars(th_compiler *c, int level, struct th_wall_builder *builder);
void th_check_way(th_compiler *c, const char *id); // is there such stairs, door, zone or exit?
// Sets c->path to a member of a goal.
void th_at_goal(th_compiler *c, int goal, const char *key);
// Sets c->path to a member of a door, or of the exit that it shuts.
void th_at_door(th_compiler *c, int door, const char *key);
// Doors, the tops of stairs (on both their levels) and goal lines: where they lie on a wall it opens.
const th_opening *th_collect_openings(th_compiler *c, int *count);
// Refuses openings in the ground's edge that lead nowhere.
void th_check_openings(th_compiler *c);
// Refuses stairs that lie over each other.
void th_check_stairs_apart(th_compiler *c);
#endif
