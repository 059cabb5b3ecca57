// Scene data that models declare (th_section_info, throng/model.h). SPDX-License-Identifier: Apache-2.0
#ifndef TH_SCENE_SECTIONS_H
#define TH_SCENE_SECTIONS_H
#include "scene/compile.h"
#include "scene/decode.h"
#include "throng/model.h"

enum { TH_SECTION_MAX = 64, TH_KEY_MAX = 32 }; // of all models together; keys of one

// Their names, at most TH_SECTION_MAX of them; returns how many.
int th_section_names(const char **names);
// The keys that they add to groups, at most TH_SECTION_MAX of them; returns how many.
int th_section_group_keys(const char **names);
// The declaration of a section; NULL: no model has it.
const th_section_info *th_section_find(const char *name);
// Its first key of a kind; NULL: none.
const th_key_info *th_section_key(const th_section_info *info, th_key_kind kind);

// From the tree to the definition.
void th_decode_sections(th_decoder *decoder, json_t *root, th_scene_def *def);
void th_decode_weights(th_decoder *decoder, json_t *object, th_group_def *group);

// The points of a line, two at least, over ground somewhere; an area on or beside ground. At c->path.
void th_gather_points(th_compiler *c, const char *what, const th_point *points, int count,
                      int level);
th_polyline th_compile_polyline(th_compiler *c, const char *what, const th_value_def *value,
                                int level);
th_polygons th_compile_outline(th_compiler *c, const char *id, const th_shape *shape, int level);

int th_gather_name(th_compiler *c, th_section *section, const char *name);
#endif
