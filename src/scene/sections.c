// Scene data that models declare: decoding, checking and compiling by the declaration. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "scene/compile.h"
#include "scene/decode.h"
#include "throng/model.h"
#include <math.h>
#include <string.h>

enum { KEY_MAX = 32 }; // of one section

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

// The declaration of a section; NULL: no model has it.
static const th_section_info *find_section(const char *name) {
    const th_section_info *info;
    for (int k = 0; (info = th_section_at(k, NULL)); ++k)
        if (strcmp(info->name, name) == 0) return info;
    return NULL;
}

// Its first key of a kind; NULL: none.
static const th_key_info *first_key(const th_section_info *info, th_key_kind kind) {
    for (int k = 0; k < info->key_count; ++k)
        if (info->keys[k].kind == kind) return &info->keys[k];
    return NULL;
}

static int find_key(const th_section_info *info, const char *name) {
    for (int k = 0; k < info->key_count; ++k)
        if (strcmp(info->keys[k].name, name) == 0) return k;
    return -1;
}

// ---- from the tree to the definition

// Members without a key in the declaration are "id" or "level".
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
    const char *known[KEY_MAX + 2] = {"id", "level"};
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

// ---- lines of elements

static void gather_points(th_compiler *c, const char *what, const th_point *points, int count,
                          int level) {
    if (count < 2) th_bad(c, "a %s needs a \"line\" of at least two points [[x, y], ...]", what);
    for (int k = 0; k < count && c->result == TH_OK; ++k) th_gather_point(c, points[k], level);
}

// Does the line touch ground? Tests its points first, which nearly always decides.
static bool touches(const th_polygons *ground, const th_vec2 *points, int count) {
    for (int k = 0; k < count; ++k)
        if (th_polygons_contain(ground, points[k])) return true;
    double t;
    for (int k = 0; k + 1 < count; ++k)
        for (int r = 0; r < ground->ring_count; ++r) {
            int begin = ground->ring_start[r], end = ground->ring_start[r + 1];
            for (int i = begin, j = end - 1; i < end; j = i++)
                if (th_segments_meet(points[k], points[k + 1], ground->points[j], ground->points[i],
                                     &t))
                    return true;
        }
    return false;
}

// Points that follow each other differ, so that every piece has a direction.
static int drop_repeated(th_vec2 *points, int count) {
    int kept = 1;
    for (int k = 1; k < count; ++k)
        if (th_length(th_sub(points[k], points[kept - 1])) > 1e-3f) points[kept++] = points[k];
    return kept;
}

static th_polyline compile_polyline(th_compiler *c, const char *what, const th_value_def *value,
                                    int level) {
    th_polyline line = {NULL, 0, 0.0f};
    th_vec2 *points = th_take(c, (size_t)value->point_count, sizeof *points);
    if (!points) return line;
    for (int k = 0; k < value->point_count; ++k) points[k] = th_relative(c, value->points[k]);
    line.points = points;
    line.count = drop_repeated(points, value->point_count);
    for (int k = 1; k < line.count; ++k) line.length += th_length(th_sub(points[k], points[k - 1]));
    const th_level *ground = &c->scene->levels[level];
    if (line.count < 2) th_bad(c, "the %s has no length, so it points nowhere", what);
    if (ground->bounded && !touches(&ground->walkable, points, line.count))
        th_bad(c,
               "the %s lies outside the walkable area of level \"%.60s\"; move it there, or "
               "give the level it belongs to",
               what, ground->id);
    return line;
}

// ---- areas of elements

enum { OUTLINE_LIMIT = 2000 }; // points of one: models look at all of them for each agent nearby

static double twice_area(const th_vec2 *points, int begin, int end) {
    double sum = 0.0;
    for (int i = begin, j = end - 1; i < end; j = i++)
        sum +=
            (double)points[j].x * (double)points[i].y - (double)points[i].x * (double)points[j].y;
    return sum;
}

// Outer rings run counter-clockwise and holes clockwise, so that integrals along all of them are of the area.
static void orient(const th_polygons *shape, th_vec2 *points) {
    for (int r = 0; r < shape->ring_count; ++r) {
        int begin = shape->ring_start[r], end = shape->ring_start[r + 1], around = 0;
        for (int s = 0; s < shape->ring_count; ++s) {
            bool inside = false;
            for (int i = shape->ring_start[s], j = shape->ring_start[s + 1] - 1;
                 s != r && i < shape->ring_start[s + 1]; j = i++)
                inside ^= th_ray_crosses(points[j], points[i], points[begin]);
            around += inside;
        }
        if ((twice_area(points, begin, end) > 0.0) == (around % 2 == 0)) continue;
        for (int i = begin, j = end - 1; i < j; ++i, --j) {
            th_vec2 swap = points[i];
            points[i] = points[j];
            points[j] = swap;
        }
    }
}

static void check_near_ground(th_compiler *c, const char *id, const th_shape *shape, int level) {
    const GEOSGeometry *ground = c->walkable[level];
    double away = 0.0;
    const double reach = 0.5; // [m] a building stands on the edge of the ground, or in it
    if (ground && GEOSDistance_r(c->geometry.geos, th_shape_geometry(c, shape), ground, &away) &&
        away > reach)
        th_bad(c,
               "\"%.60s\" lies outside the level \"%.60s\", %.1f m from its ground; move it onto "
               "the ground or to the ground's edge",
               id, c->scene->levels[level].id, away);
}

static th_polygons compile_outline(th_compiler *c, const char *id, const th_shape *shape,
                                   int level) {
    th_polygons outline = th_compile_area(c, shape, level).shape;
    int points =
        c->result == TH_OK && outline.ring_count > 0 ? outline.ring_start[outline.ring_count] : 0;
    if (points == 0) th_bad(c, "the area is empty");
    if (points > OUTLINE_LIMIT)
        th_bad(c, "the outline has %d points, at most are %d; draw it coarser", points,
               OUTLINE_LIMIT);
    th_vec2 *turned = c->result == TH_OK ? th_take(c, (size_t)points, sizeof *turned) : NULL;
    if (!turned) return outline;
    memcpy(turned, outline.points, (size_t)points * sizeof *turned);
    orient(&outline, turned);
    outline.points = turned;
    check_near_ground(c, id, shape, level);
    return outline;
}

// ---- names of elements

static int find_name(const th_scene *scene, const th_section *section, const char *name) {
    for (int i = section->name_begin; i < section->name_end; ++i)
        if (strcmp(scene->names[i], name) == 0) return i;
    return -1;
}

static int gather_name(th_compiler *c, th_section *section, const char *name) {
    int found = find_name(c->scene, section, name);
    if (found >= 0) return found;
    if (!name[0] || strlen(name) > 100) th_bad(c, "a name has 1 to 100 characters");
    const char *copy = th_copy_string(c, name);
    if (!copy) return 0;
    c->list.names[c->scene->name_count] = copy;
    section->name_end = ++c->scene->name_count;
    return section->name_end - 1;
}

static const th_item *item_of(const th_section *section, int i) {
    const char *items = section->items;
    return (const th_item *)(const void *)(items + (size_t)i * section->info->item_size);
}

// ---- elements that are goals

static const char *goal_id(const th_scene *scene, int i) { return scene->goals[i].id; }

static void gather_detours(th_compiler *c, const th_section *section) {
    for (int i = 0; i < section->count && c->result == TH_OK; ++i) {
        const th_item *item = item_of(section, i);
        th_goal *goal = &c->list.goals[c->scene->goal_count];
        th_at(c, "%s[%d].id", section->info->name, i);
        th_unique_id(c, item->id, "goal", i, goal_id, c->scene->goal_count);
        goal->id = item->id;
        goal->kind = TH_GOAL_DETOUR;
        goal->area.level = goal->line.level = item->level;
        goal->item = item;
        ++c->scene->goal_count;
    }
}

int th_count_detours(const th_scene_def *def) {
    int count = 0;
    for (int k = 0; k < def->section_count; ++k) {
        const th_section_info *info = find_section(def->sections[k].name);
        if (info && info->detours) count += def->sections[k].item_count;
    }
    return count;
}

static bool is_in(const th_section *section, const th_item *item) {
    return item && section->count > 0 && item >= item_of(section, 0) &&
           item <= item_of(section, section->count - 1);
}

static void compile_places(th_compiler *c, const th_section *section) {
    const th_key_info *area = first_key(section->info, TH_KEY_AREA);
    for (int g = 0; g < c->scene->goal_count; ++g) {
        th_goal *goal = &c->list.goals[g];
        if (!is_in(section, goal->item)) continue;
        const char *item = (const char *)goal->item;
        goal->area.shape = *(const th_polygons *)(const void *)(item + area->offset);
    }
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

// The place of a word in a list separated by blanks; -1: not in the list.
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
            gather_name(c, section, value && value->text ? value->text : key->words);
        break;
    case TH_KEY_LINE:
        if (value) gather_points(c, e->info->item, value->points, value->point_count, level);
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
        if (!find_section(c->def->sections[k].name))
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
        if (detours) gather_detours(c, section);
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
                compile_polyline(c, e->info->item, value, level);
        if (key->kind == TH_KEY_AREA)
            *(th_polygons *)(void *)(e->item + key->offset) = compile_outline(
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
        if (info->detours) compile_places(c, section);
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

// ---- groups

static bool group_uses(const th_group *group, int model) {
    const th_model_choice *choice;
    for (int k = 0; (choice = th_group_model(group, k)); ++k)
        if (choice->model == model) return true;
    return false;
}

static void set_weight(th_compiler *c, const th_section *section, const th_weight_def *given,
                       float *weights) {
    const th_scene *scene = c->scene;
    const char *kind = first_key(section->info, TH_KEY_NAME)->name;
    int found = find_name(scene, section, given->name);
    if (found < 0) {
        const char *near = th_nearest_word(given->name, scene->names + section->name_begin,
                                           section->name_end - section->name_begin);
        if (near)
            th_bad(c, "nothing in \"%s\" has the %s \"%.60s\"; did you mean \"%.60s\"?",
                   section->info->name, kind, given->name, near);
        else
            th_bad(c,
                   "nothing in \"%s\" has the %s \"%.60s\"; give names that stand under \"%s\" "
                   "there",
                   section->info->name, kind, given->name, kind);
        return;
    }
    th_check_range(c, "the weight of a name", given->weight, 0.0, 10.0, "");
    weights[found] = (float)given->weight;
}

// The values of a section's key of the group.
static void set_weights(th_compiler *c, int i, const th_section *section, float *weights) {
    const th_group_def *def = &c->def->groups[i];
    const char *key = section->info->group_key;
    const th_model *model = th_models(NULL)[section->model];
    bool given = false;
    for (int k = 0; key && k < def->weight_count; ++k)
        given = given || strcmp(def->weights[k].key, key) == 0;
    for (int n = section->name_begin; n < section->name_end; ++n) weights[n] = given ? 0.0f : 1.0f;
    if (!given) return;
    th_at(c, "groups[%d].%s", i, key);
    if (!group_uses(&c->scene->groups[i], section->model))
        th_bad(c, "the group does not use the model that this is for; add \"%s\" to \"%s\"",
               model->name, th_stage_name(model->stage));
    for (int k = 0; k < def->weight_count && c->result == TH_OK; ++k)
        if (def->weights[k].name && strcmp(def->weights[k].key, key) == 0)
            set_weight(c, section, &def->weights[k], weights);
}

static bool cares_for(const th_section *section, const th_item *item, const float *weights) {
    const th_key_info *name = first_key(section->info, TH_KEY_NAME);
    const char *at = (const char *)item;
    return !name || weights[*(const int *)(const void *)(at + name->offset)] != 0.0f;
}

// A target for each place of the section that the group cares for, after those of the route.
static void add_detours(th_compiler *c, int i, const th_section *section, int *route) {
    th_scene *scene = c->scene;
    th_group *group = &c->list.groups[i];
    for (int g = 0; g < scene->goal_count && c->result == TH_OK; ++g) {
        const th_item *item = scene->goals[g].item;
        if (!is_in(section, item) || !cares_for(section, item, group->weights)) continue;
        int *goals = th_take(c, 1, sizeof *goals);
        if (!goals) return;
        goals[0] = g;
        route[group->route_count + group->detour_count++] = th_target_of(c, goals, 1);
    }
}

// Refuses weights by a key that no section of the scene declares.
static void check_weight_keys(th_compiler *c, int i) {
    const th_group_def *def = &c->def->groups[i];
    const char *keys[TH_SECTION_MAX];
    int count = th_section_group_keys(keys);
    for (int k = 0; k < def->weight_count; ++k) {
        bool known = false;
        for (int j = 0; j < count; ++j)
            known = known || (def->weights[k].key && strcmp(def->weights[k].key, keys[j]) == 0);
        th_at(c, "groups[%d].weights[%d].key", i, k);
        if (!known) th_bad(c, "no model declares a key of groups of this name");
    }
}

void th_compile_weights(th_compiler *c, int i, int *route) {
    const th_scene *scene = c->scene;
    th_group *group = &c->list.groups[i];
    float *weights = th_take(c, (size_t)scene->name_count, sizeof *weights);
    if (!weights) return;
    group->weights = weights;
    check_weight_keys(c, i);
    for (int k = 0; k < scene->section_count && c->result == TH_OK; ++k) {
        const th_section *section = &scene->sections[k];
        set_weights(c, i, section, weights);
        if (section->info->detours && group_uses(group, section->model))
            add_detours(c, i, section, route);
    }
}
