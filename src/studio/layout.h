// The binary messages of the studio: one list of fields per layout, little endian, without gaps. The C structs, the
// TypeScript reader (studio/src/layout.ts) and docs/data/studio_layout.csv are made from these lists;
// `build/tools/studio-layout` prints the last two. SPDX-License-Identifier: Apache-2.0
#ifndef TH_STUDIO_LAYOUT_H
#define TH_STUDIO_LAYOUT_H
#include <stdint.h>

#define TH_STUDIO_MAGIC 0x31524854u // the bytes "THR1"
enum { TH_STUDIO_VERSION = 1, TH_STUDIO_NO_LEVEL = 65535, TH_STUDIO_NOTHING = 255 };

// X(NAME, value, name, doc)
#define TH_STUDIO_KINDS(X)                                                            \
    X(PEOPLE, 1, people, "a people head, then `count` person records")                \
    X(MAP, 2, map, "a map head, then `count` cells of one byte, rows from the south") \
    X(VECTORS, 3, vectors, "a map head, then `count` cells of two signed bytes, x and y")

typedef enum th_studio_kind {
#define X(NAME, value, name, doc) TH_STUDIO_##NAME = value,
    TH_STUDIO_KINDS(X)
#undef X
} th_studio_kind;

// X(name, type, doc); types are u8, u16, u32, f32, f64.
#define TH_STUDIO_HEAD(X)                                                                  \
    X(magic, u32, "0x31524854, the bytes THR1")                                            \
    X(version, u8, "of these layouts: 1")                                                  \
    X(kind, u8, "see the kinds")                                                           \
    X(world, u8, "0; 1 for the second world of a comparison")                              \
    X(flags, u8, "bit 0: of the past, while scrubbing")                                    \
    X(frame, u32, "number of the moment; it grows, and frames are left out")               \
    X(count, u32, "records or cells that follow the second head")                          \
    X(time, f64, "simulated [s]")                                                          \
    X(total, u32, "people in the world, in view or not")                                   \
    X(item, u16, "people: index in scene.colours; map and vectors: index in scene.layers") \
    X(level, u16, "of a map or vectors; 65535 for people, whose records have it")

#define TH_STUDIO_PEOPLE_HEAD(X)                                                            \
    X(min_x, f32, "x of a person is min_x + step_x * record.x [m] from the scene's origin") \
    X(min_y, f32, "y of a person is min_y + step_y * record.y [m]")                         \
    X(step_x, f32, "[m]")                                                                   \
    X(step_y, f32, "[m]")                                                                   \
    X(value_min, f32, "number: value_min + record.value / 254 * (value_max - value_min)")   \
    X(value_max, f32, "category: both are 0 and record.value is the index")                 \
    X(speed_max, f32, "speed is record.speed / 255 * speed_max [m/s]")                      \
    X(kept, f32, "share of the people in view that was sent, 1 unless thinned")

#define TH_STUDIO_PERSON(X)                                                        \
    X(id, u32, "never given twice")                                                \
    X(x, u16, "")                                                                  \
    X(y, u16, "")                                                                  \
    X(heading, u8, "256 steps around, counter-clockwise from east")                \
    X(speed, u8, "255 steps up to speed_max")                                      \
    X(value, u8, "of the chosen colour; 255: none")                                \
    X(phase, u8, "index in hello.phases: standing, walking, waiting, ...")         \
    X(level, u8, "index of the level")                                             \
    X(group, u8, "index in scene.groups, scripted people after them; 255: beyond") \
    X(radius, u8, "[cm]")                                                          \
    X(mark, u8, "bit 0: is the inspected person")

#define TH_STUDIO_MAP_HEAD(X)                                                                \
    X(min_x, f32, "west edge of the first cell [m] from the scene's origin")                 \
    X(min_y, f32, "south edge of the first cell [m]")                                        \
    X(cell, f32, "side of a cell [m]")                                                       \
    X(nx, u16, "cells in a row")                                                             \
    X(ny, u16, "rows")                                                                       \
    X(value_min, f32, "map: value_min + byte / 254 * (value_max - value_min); 255: nothing") \
    X(value_max, f32, "vectors: component = signed byte / 127 * value_max")                  \
    X(top, f32, "largest value of all cells")                                                \
    X(spare, u32, "0")

typedef uint8_t th_studio_u8;
typedef uint16_t th_studio_u16;
typedef uint32_t th_studio_u32;
typedef float th_studio_f32;
typedef double th_studio_f64;

#define X(name, type, doc) th_studio_##type name;
typedef struct th_studio_head {
    TH_STUDIO_HEAD(X)
} th_studio_head;
typedef struct th_studio_people_head {
    TH_STUDIO_PEOPLE_HEAD(X)
} th_studio_people_head;
typedef struct th_studio_person {
    TH_STUDIO_PERSON(X)
} th_studio_person;
typedef struct th_studio_map_head {
    TH_STUDIO_MAP_HEAD(X)
} th_studio_map_head;
#undef X

// The structs are the bytes that are sent: no gaps, and a little-endian machine.
_Static_assert(sizeof(th_studio_head) == 32 && sizeof(th_studio_people_head) == 32 &&
                   sizeof(th_studio_person) == 16 && sizeof(th_studio_map_head) == 32,
               "a layout has a gap");
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the studio sends its structs as they are, which takes a little-endian machine"
#endif

#define TH_STUDIO_LAYOUTS(X)                                                        \
    X(head, Head, TH_STUDIO_HEAD, "every binary message begins with it")            \
    X(people_head, PeopleHead, TH_STUDIO_PEOPLE_HEAD, "follows the head of people") \
    X(person, Person, TH_STUDIO_PERSON, "one person")                               \
    X(map_head, MapHead, TH_STUDIO_MAP_HEAD, "follows the head of a map or of vectors")
#endif
