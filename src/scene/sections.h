// Scene data that models declare (th_section_info, throng/model.h). SPDX-License-Identifier: Apache-2.0
#ifndef TH_SCENE_SECTIONS_H
#define TH_SCENE_SECTIONS_H
#include "scene/decode.h"
#include "throng/model.h"

enum { TH_SECTION_MAX = 64, TH_KEY_MAX = 32 }; // of all models together; keys of one

// Their names, at most TH_SECTION_MAX of them; returns how many.
int th_section_names(const char **names);
// The declaration of a section; NULL: no model has it.
const th_section_info *th_section_find(const char *name);
// From the tree to the definition.
void th_decode_sections(th_decoder *decoder, json_t *root, th_scene_def *def);
#endif
