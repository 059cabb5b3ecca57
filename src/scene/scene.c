// Questions to a compiled scene, however it was made. SPDX-License-Identifier: Apache-2.0
#include "scene/scene.h"
#include "core/error.h"
#ifndef TH_COMPILED_ONLY
#include "scene/decode.h"
#endif
#include <string.h>

// A scene and the arena of its lists in one block.
typedef struct owned_scene {
    th_scene scene;
    th_arena arena;
} owned_scene;

th_scene *th_scene_empty(const th_memory *memory) {
    owned_scene *owned = th_alloc(memory, 1, sizeof *owned);
    if (!owned) return NULL;
    owned->scene.view.scene = &owned->scene;
    owned->scene.arena = &owned->arena;
    owned->arena.memory = *memory;
    return &owned->scene;
}

void th_scene_release(th_scene *scene) {
    if (!scene) return;
    th_memory memory = scene->arena->memory;
#ifndef TH_COMPILED_ONLY
    th_source_map_destroy(scene->source_map);
#endif
    th_arena_release(scene->arena);
    th_dealloc(&memory, scene, 1, sizeof(owned_scene));
}

const th_scene_view *th_scene_view_of(const th_scene *scene) { return &scene->view; }

void th_scene_locate(const th_scene *scene, th_error *error) {
#ifdef TH_COMPILED_ONLY
    (void)scene, (void)error;
#else
    if (!scene) return;
    if (scene->group_count > 0)
        th_profiles_locate(error, &scene->groups[0].part, sizeof *scene->groups,
                           scene->group_count);
    th_source_map_locate(scene->source_map, error);
#endif
}

const th_section_info *th_section_at(int k, int *model) {
    int count;
    const th_model *const *models = th_models(&count);
    for (int m = 0; m < count; ++m) {
        if (model) *model = m;
        if (k < models[m]->section_count) return &models[m]->sections[k];
        k -= models[m]->section_count;
    }
    return NULL;
}

const void *th_scene_items(const th_scene *scene, const char *section, int *count) {
    *count = 0;
    for (int k = 0; k < scene->section_count; ++k) {
        if (strcmp(scene->sections[k].info->name, section) != 0) continue;
        *count = scene->sections[k].count;
        return scene->sections[k].items;
    }
    return NULL;
}

bool th_polygons_surround(const th_polygons *shape, th_vec2 point) {
    return th_polygons_contain(shape, point);
}

// Bytes of the UTF-8 sequence at `text`; 0 when it is none.
static int sequence_length(const unsigned char *text) {
    unsigned lead = text[0], low = 0x80, high = 0xBF;
    if (lead < 0x80) return 1;
    int length = lead >= 0xC2 && lead < 0xE0 ? 2 : lead >= 0xE0 && lead < 0xF0 ? 3 : 4;
    if (lead < 0xC2 || lead > 0xF4) return 0;
    if (lead == 0xE0) low = 0xA0;  // overlong
    if (lead == 0xED) high = 0x9F; // surrogates
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F; // beyond U+10FFFF
    if (text[1] < low || text[1] > high) return 0;
    for (int i = 2; i < length; ++i)
        if (text[i] < 0x80 || text[i] > 0xBF) return 0;
    return length;
}

bool th_is_utf8(const char *text) {
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        int length = sequence_length(at);
        if (length == 0) return false;
        at += length;
    }
    return true;
}
