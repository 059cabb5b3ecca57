// Scene data that models declare: decoding, checking and compiling by the declaration. SPDX-License-Identifier: Apache-2.0
#include "scene/sections.h"
#include "core/error.h"
#include "scene/scene.h"
#include <math.h>
#include <string.h>

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

int th_section_names(const char **names) {
    const th_section_info *info;
    int count = 0;
    for (; count < TH_SECTION_MAX && (info = th_section_at(count, NULL)); ++count)
        names[count] = info->name;
    return count;
}

int th_section_group_keys(const char **names) {
    const th_section_info *info;
    int count = 0;
    for (int k = 0; k < TH_SECTION_MAX && (info = th_section_at(k, NULL)); ++k)
        if (info->group_key) names[count++] = info->group_key;
    return count;
}

const th_section_info *th_section_find(const char *name) {
    const th_section_info *info;
    for (int k = 0; (info = th_section_at(k, NULL)); ++k)
        if (strcmp(info->name, name) == 0) return info;
    return NULL;
}

const th_key_info *th_section_key(const th_section_info *info, th_key_kind kind) {
    for (int k = 0; k < info->key_count; ++k)
        if (info->keys[k].kind == kind) return &info->keys[k];
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

static int find_key(const th_section_info *info, const char *name) {
    for (int k = 0; k < info->key_count; ++k)
        if (strcmp(info->keys[k].name, name) == 0) return k;
    return -1;
}

// ---- from the tree to the definition

// What has no key of the declaration is "id" or "level".
static void decode_value(th_decoder *decoder, const th_key_info *key, const json_t *found,
                         th_value_def *value) {
    th_key_kind kind = key ? key->kind : TH_KEY_WORD;
    if (kind == TH_KEY_NUMBER) value->number = th_decode_number(decoder, found);
    if (kind == TH_KEY_LINE) value->points = th_decode_points(decoder, found, &value->point_count);
    if (kind == TH_KEY_WORD || kind == TH_KEY_GOAL || kind == TH_KEY_NAME)
        value->text = th_decode_string(decoder, found, "a string");
}

static void decode_item(th_decoder *decoder, const th_section_info *info, json_t *object,
                        th_item_def *item) {
    const char *known[TH_KEY_MAX + 2] = {"id", "level"};
    for (int k = 0; k < info->key_count; ++k) known[k + 2] = info->keys[k].name;
    if (!th_check_keys(decoder, object, known, info->key_count + 2)) return;
    th_value_def *values = th_decoder_alloc(decoder, json_object_size(object), sizeof *values);
    const char *name;
    json_t *found;
    json_object_foreach(object, name, found) {
        if (!values || decoder->result != TH_OK) return;
        int k = find_key(info, name);
        th_value_def *value = &values[item->value_count++];
        if (k >= 0 && info->keys[k].kind == TH_KEY_AREA)
            th_read_shape(decoder, object, name, &value->area);
        th_place place = th_enter_key(decoder, name);
        decode_value(decoder, k >= 0 ? &info->keys[k] : NULL, found, value);
        value->key = name;
        th_leave(decoder, place);
    }
    item->values = values;
}

static void decode_section(th_decoder *decoder, const th_section_info *info, json_t *array,
                           th_section_def *section) {
    th_place place = th_enter_key(decoder, info->name);
    if (!json_is_array(array)) th_expected(decoder, array, "an array [ ... ]");
    size_t count = json_array_size(array);
    th_item_def *items = th_decoder_alloc(decoder, count, sizeof *items);
    for (size_t i = 0; items && i < count && decoder->result == TH_OK; ++i) {
        th_place inner = th_enter_index(decoder, i);
        decode_item(decoder, info, json_array_get(array, i), &items[i]);
        th_leave(decoder, inner);
    }
    *section = (th_section_def){info->name, items, (int)count};
    th_leave(decoder, place);
}

void th_decode_sections(th_decoder *decoder, json_t *root, th_scene_def *def) {
    const char *names[TH_SECTION_MAX];
    int count = th_section_names(names);
    th_section_def *sections = th_decoder_alloc(decoder, (size_t)count + 1, sizeof *sections);
    for (int k = 0; sections && k < count && decoder->result == TH_OK; ++k) {
        json_t *array = json_object_get(root, names[k]);
        if (array)
            decode_section(decoder, th_section_at(k, NULL), array, &sections[def->section_count++]);
    }
    def->sections = sections;
}

// ["shopping", "dining"] or {"shopping": 1, "dining": 0.5}: into `list`, which has room for one more.
static size_t decode_names(th_decoder *decoder, const char *group_key, json_t *given,
                           th_weight_def *list) {
    const char *name;
    json_t *value;
    size_t count = 0;
    json_object_foreach(given, name, value) {
        th_place inner = th_enter_key(decoder, name);
        list[count++] = (th_weight_def){group_key, name, th_decode_number(decoder, value)};
        th_leave(decoder, inner);
    }
    for (size_t k = 0; k < json_array_size(given); ++k) {
        name = th_decode_string(decoder, json_array_get(given, k), "a name");
        list[count++] = (th_weight_def){group_key, name, 1.0};
    }
    if (count == 0) list[count++] = (th_weight_def){group_key, NULL, 0.0};
    return count;
}

void th_decode_weights(th_decoder *decoder, json_t *object, th_group_def *group) {
    const char *keys[TH_SECTION_MAX];
    int key_count = th_section_group_keys(keys);
    size_t room = 0;
    for (int k = 0; k < key_count; ++k) {
        json_t *given = json_object_get(object, keys[k]);
        if (!given || decoder->result != TH_OK) continue;
        th_place place = th_enter_key(decoder, keys[k]);
        if (!json_is_object(given) && !json_is_array(given))
            th_expected(decoder, given, "names [name, ...] or {name: weight, ...}");
        room += json_object_size(given) + json_array_size(given) + 1;
        th_leave(decoder, place);
    }
    if (room == 0 || decoder->result != TH_OK) return;
    th_weight_def *list = th_decoder_alloc(decoder, room, sizeof *list);
    size_t count = 0;
    for (int k = 0; list && k < key_count && decoder->result == TH_OK; ++k) {
        json_t *given = json_object_get(object, keys[k]);
        if (!given) continue;
        th_place place = th_enter_key(decoder, keys[k]);
        count += decode_names(decoder, keys[k], given, list + count);
        th_leave(decoder, place);
    }
    group->weights = list;
    group->weight_count = (int)count;
}

// ---- from the definition to the scene

typedef struct element { // of a section, while it is compiled
    const th_section_info *info;
    const th_item_def *def;
    char *item; // the model's struct
    int index;
} element;

static void at_key(th_compiler *c, const element *e, const char *key) {
    th_at(c, "%s[%d].%s", e->info->name, e->index, key);
}

static const th_value_def *value_of(const element *e, const char *key) {
    for (int k = 0; k < e->def->value_count; ++k)
        if (strcmp(e->def->values[k].key, key) == 0) return &e->def->values[k];
    return NULL;
}

// The place of a word in a list of words parted by blanks; -1: it is none of them.
static int word_index(const char *words, const char *word) {
    size_t length = strlen(word);
    for (int k = 0; *words; ++k) {
        size_t size = strcspn(words, " ");
        if (size == length && strncmp(words, word, size) == 0) return k;
        words += size + (words[size] == ' ');
    }
    return -1;
}

static void gather_number(th_compiler *c, const element *e, const th_key_info *key,
                          const th_value_def *value) {
    double number = value ? value->number : key->value;
    bool low = key->above ? number > key->min : number >= key->min,
         high = key->below ? number < key->max : number <= key->max;
    if (value && !(low && high))
        th_bad(c, "%s is %g; it must be %s %g and %s %g%s%s", key->name, number,
               key->above ? "more than" : "at least", key->min,
               key->below ? "less than" : "at most", key->max, strcmp(key->unit, "-") ? " " : "",
               strcmp(key->unit, "-") ? key->unit : "");
    *(float *)(void *)(e->item + key->offset) = (float)number;
}

static void gather_word(th_compiler *c, const element *e, const th_key_info *key,
                        const th_value_def *value) {
    int *place = (int *)(void *)(e->item + key->offset);
    *place = value && value->text ? word_index(key->words, value->text) : (int)key->value;
    if (*place < 0) th_bad(c, "unknown word \"%.60s\"; give one of: %s", value->text, key->words);
}

static const char *article(const char *word) { return strchr("aeiou", word[0]) ? "an" : "a"; }

static void gather_key(th_compiler *c, th_section *section, const element *e,
                       const th_key_info *key) {
    const th_value_def *value = value_of(e, key->name);
    int level = ((const th_item *)(const void *)e->item)->level;
    at_key(c, e, key->name);
    if (!value && key->required)
        th_bad(c, "%s %s needs %s \"%s\": %s", article(e->info->item), e->info->item,
               article(key->name), key->name, key->doc);
    if (c->result != TH_OK) return;
    switch (key->kind) {
    case TH_KEY_NUMBER: gather_number(c, e, key, value); break;
    case TH_KEY_WORD: gather_word(c, e, key, value); break;
    case TH_KEY_GOAL:
        *(int *)(void *)(e->item + key->offset) =
            value && value->text ? th_goal_index(c, value->text) : -1;
        break;
    case TH_KEY_NAME:
        *(int *)(void *)(e->item + key->offset) =
            th_gather_name(c, section, value && value->text ? value->text : key->words);
        break;
    case TH_KEY_LINE:
        if (value) th_gather_points(c, e->info->item, value->points, value->point_count, level);
        break;
    case TH_KEY_AREA:
        if (value) th_gather_shape(c, &value->area, false, level);
        break;
    }
}

static const char *item_id(const th_section *section, int i) {
    const char *item = (const char *)section->items + (size_t)i * section->info->item_size;
    return ((const th_item *)(const void *)item)->id;
}

static const char *unique_id(th_compiler *c, const th_section *section, const element *e) {
    const th_value_def *given = value_of(e, "id");
    char made[60];
    snprintf(made, sizeof made, "%.40s%d", e->info->item, e->index);
    const char *id = th_copy_string(c, given && given->text ? given->text : made);
    for (int i = 0; id && i < e->index; ++i)
        if (strcmp(item_id(section, i), id) == 0)
            th_bad(c, "the id \"%.60s\" is taken by another %s", id, e->info->item);
    return id;
}

static void gather_section(th_compiler *c, const th_section_def *def, th_section *section) {
    const th_section_info *info = section->info;
    int max_items = info->max_items > 0 ? info->max_items : 1000,
        max_points = info->max_points > 0 ? info->max_points : 10000;
    int64_t points = 0;
    for (int i = 0; i < def->item_count; ++i)
        for (int k = 0; k < def->items[i].value_count; ++k)
            points += def->items[i].values[k].point_count;
    th_at(c, "%s", info->name);
    if (def->item_count > max_items || points > max_points)
        th_bad(c, "%d %s of %lld points; a scene has at most %d and %d: draw them coarser",
               def->item_count, info->name, (long long)points, max_items, max_points);
    char *items = th_take(c, (size_t)def->item_count, info->item_size);
    section->items = items;
    for (int i = 0; items && i < def->item_count && c->result == TH_OK; ++i) {
        element e = {info, &def->items[i], items + (size_t)i * info->item_size, i};
        th_item *item = (th_item *)(void *)e.item;
        at_key(c, &e, "id");
        item->id = unique_id(c, section, &e);
        const th_value_def *level = value_of(&e, "level");
        at_key(c, &e, "level");
        item->level = th_level_index(c, level ? level->text : NULL);
        for (int k = 0; k < info->key_count && c->result == TH_OK; ++k)
            gather_key(c, section, &e, &info->keys[k]);
        section->count = i + 1;
    }
}

static const th_section_def *definition_of(const th_scene_def *def, const char *name) {
    for (int k = 0; k < def->section_count; ++k)
        if (strcmp(def->sections[k].name, name) == 0) return &def->sections[k];
    return NULL;
}

// Room for the list of sections and for all names of their elements.
static void take_sections(th_compiler *c, int count) {
    size_t names = 0;
    for (int k = 0; k < c->def->section_count; ++k) {
        th_at(c, "%.60s", c->def->sections[k].name);
        if (!th_section_find(c->def->sections[k].name))
            th_bad(c, "no model declares a section of this name; load its plugin first");
        names += (size_t)c->def->sections[k].item_count;
    }
    c->scene->names = c->list.names = th_take(c, names, sizeof *c->list.names);
    c->scene->sections = c->list.sections = th_take(c, (size_t)count, sizeof *c->scene->sections);
    for (int k = 0; c->list.sections && k < count; ++k)
        c->list.sections[k].info = th_section_at(k, &c->list.sections[k].model);
    c->scene->section_count = c->list.sections ? count : 0;
}

void th_gather_sections(th_compiler *c, bool detours) {
    const char *names[TH_SECTION_MAX];
    int count = th_section_names(names);
    if (c->result == TH_OK && !c->list.sections) take_sections(c, count);
    for (int k = 0; k < c->scene->section_count && c->result == TH_OK; ++k) {
        th_section *section = &c->list.sections[k];
        const th_section_def *def = definition_of(c->def, names[k]);
        if (section->info->detours != detours) continue;
        section->name_begin = section->name_end = c->scene->name_count;
        if (def) gather_section(c, def, section);
        if (detours) th_gather_detours(c, section);
    }
}

static void compile_element(th_compiler *c, const element *e) {
    int level = ((const th_item *)(const void *)e->item)->level;
    for (int k = 0; k < e->info->key_count && c->result == TH_OK; ++k) {
        const th_key_info *key = &e->info->keys[k];
        const th_value_def *value = value_of(e, key->name);
        if (!value) continue;
        at_key(c, e, key->name);
        if (key->kind == TH_KEY_LINE)
            *(th_polyline *)(void *)(e->item + key->offset) =
                th_compile_polyline(c, e->info->item, value, level);
        if (key->kind == TH_KEY_AREA)
            *(th_polygons *)(void *)(e->item + key->offset) = th_compile_outline(
                c, ((const th_item *)(const void *)e->item)->id, &value->area, level);
    }
}

void th_compile_sections(th_compiler *c) {
    for (int k = 0; k < c->scene->section_count && c->result == TH_OK; ++k) {
        th_section *section = &c->list.sections[k];
        const th_section_info *info = section->info;
        const th_section_def *def = definition_of(c->def, info->name);
        char *items = (char *)(uintptr_t)section->items;
        for (int i = 0; i < section->count && c->result == TH_OK; ++i) {
            element e = {info, &def->items[i], items + (size_t)i * info->item_size, i};
            compile_element(c, &e);
        }
        if (info->detours) th_compile_places(c, section);
        if (c->result != TH_OK || !info->compile || section->count == 0) continue;
        int item = -1;
        const char *wrong = info->compile(items, section->count, &item);
        if (item >= 0)
            th_at(c, "%s[%d]", info->name, item);
        else
            th_at(c, "%s", info->name);
        if (wrong) th_bad(c, "%s", wrong);
    }
}
