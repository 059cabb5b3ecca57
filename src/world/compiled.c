// Compiled scenes: the lists of a th_scene as bytes that every machine and build reads alike, so that a build without GEOS,
// jansson and libpng can step them. Numbers are little-endian; models, their parameters and the keys of their sections stand
// by name. Grids, fields and rooms follow from the lists and are made again. One function per struct both writes and
// reads.
//
// A check sum can be forged: whatever is used as an index, a size or a number in a formula is checked when it is read, so a
// damaged file gives an error and never a broken world. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/file.h"
#include "core/hash.h"
#include "plan/plan.h"
#include "registry/models.h"
#include "scene/scene.h"
#include "space/rooms.h"
#include "space/walls.h"
#include "world/world.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Raised with every change of the format, also with a new member of a struct.
enum { COMPILED_VERSION = 4 };
static const char magic[8] = {'t', 'h', 's', 'c', 'e', 'n', 'e', '\n'};
enum { HEAD = 8 + 4 + 8 + 8 }; // magic, version, bytes that follow, their check sum

typedef struct coder {
    bool reading;
    unsigned char *bytes;
    size_t size, at, capacity; // reading: size; writing: capacity
    th_scene *scene;
    bool bad, full;     // values that no scene has; no memory
    const char *part;   // which list is being read, for the message
    char sentence[200]; // a better one
} coder;

// ---- numbers and texts

static void refuse(coder *c) { c->bad = true; }
static bool failed(const coder *c) { return c->bad || c->full; }
static void need(coder *c, bool holds) {
    if (c->reading && !holds) refuse(c);
}

static bool reserve(coder *c, size_t more) {
    if (c->at + more <= c->capacity) return true;
    size_t capacity = 2 * c->capacity + more + 4096;
    unsigned char *bytes = realloc(c->bytes, capacity);
    if (!bytes) return !(c->full = true);
    c->bytes = bytes;
    c->capacity = capacity;
    return true;
}

static uint64_t number(coder *c, uint64_t value, size_t bytes) {
    if (failed(c)) return 0;
    if (!c->reading) {
        if (!reserve(c, bytes)) return 0;
        for (size_t k = 0; k < bytes; ++k) c->bytes[c->at++] = (unsigned char)(value >> 8 * k);
        return value;
    }
    if (c->size - c->at < bytes) {
        refuse(c);
        return 0;
    }
    value = 0;
    for (size_t k = 0; k < bytes; ++k) value |= (uint64_t)c->bytes[c->at++] << 8 * k;
    return value;
}

static void code_int(coder *c, int *value, int low, int high) {
    *value = (int)(int32_t)(uint32_t)number(c, (uint32_t)*value, 4);
    need(c, *value >= low && *value <= high);
    if (failed(c)) *value = 0;
}
static void code_flag(coder *c, bool *value) {
    uint64_t bit = number(c, *value, 1);
    need(c, bit <= 1);
    *value = bit == 1;
}
static void code_u64(coder *c, uint64_t *value) { *value = number(c, *value, 8); }

// NaN is never in range.
static void code_float(coder *c, float *value, float low, float high) {
    uint32_t bits;
    memcpy(&bits, value, sizeof bits);
    bits = (uint32_t)number(c, bits, 4);
    memcpy(value, &bits, sizeof bits);
    need(c, *value >= low && *value <= high);
}
static void code_double(coder *c, double *value, double low, double high) {
    uint64_t bits;
    memcpy(&bits, value, sizeof bits);
    bits = number(c, bits, 8);
    memcpy(value, &bits, sizeof bits);
    need(c, *value >= low && *value <= high);
}

enum { TEXT_MOST = 1 << 20, ID_MOST = 100, LIST_MOST = 1 << 26 };
static void code_text(coder *c, const char **text, int most) {
    int length = c->reading ? 0 : (int)strlen(*text);
    code_int(c, &length, 0, most);
    if (failed(c) || !(c->reading || reserve(c, (size_t)length))) return;
    if (!c->reading) {
        if (length) memcpy(c->bytes + c->at, *text, (size_t)length);
    } else {
        if (c->size - c->at < (size_t)length) {
            refuse(c);
            return;
        }
        char *copy = th_arena_alloc(c->scene->arena, (size_t)length + 1, 1);
        if (!copy) {
            c->full = true;
            return;
        }
        if (length) memcpy(copy, c->bytes + c->at, (size_t)length);
        need(c, strlen(copy) == (size_t)length && th_is_utf8(copy));
        *text = copy;
    }
    c->at += (size_t)length;
}

// Room for a list whose elements take `least` bytes of the file each, so that a forged count costs no more memory than the
// file is long. `list` is the address of the pointer, which stays NULL where it was. Returns the elements.
static void *code_list(coder *c, const void *list, int *count, size_t element, size_t least,
                       int most) {
    void *elements;
    memcpy(&elements, list, sizeof elements);
    bool there = elements != NULL;
    code_flag(c, &there);
    code_int(c, count, 0, most);
    if (!c->reading) return elements;
    need(c, (size_t)*count <= (c->size - c->at) / least && (there || *count == 0));
    elements = NULL;
    if (!failed(c) && there) {
        elements = th_arena_alloc(c->scene->arena, (size_t)*count, element);
        c->full = !elements;
    }
    if (failed(c)) *count = 0;
    // The member is a pointer to constant elements of some type: all of these look alike.
    memcpy((void *)(uintptr_t)list, &elements, sizeof elements);
    return elements;
}
#define LIST(c, pointer, count, least, most) \
    code_list(c, &(pointer), count, sizeof *(pointer), least, most)

// ---- places. A scene is at most 40 km across and lies around its origin.

static const float FAR = 50000.0f; // [m]
static void code_vec(coder *c, th_vec2 *p) {
    code_float(c, &p->x, -FAR, FAR);
    code_float(c, &p->y, -FAR, FAR);
}
static void code_unit(coder *c, th_vec2 *p) {
    code_float(c, &p->x, -1.001f, 1.001f);
    code_float(c, &p->y, -1.001f, 1.001f);
}
static void code_level(coder *c, int *level) { code_int(c, level, 0, c->scene->level_count - 1); }
static void code_goal(coder *c, int *goal) { code_int(c, goal, -1, c->scene->goal_count - 1); }
// An empty box has its ends at infinity.
static void code_box(coder *c, th_box *box) {
    code_float(c, &box->min_x, -FAR, INFINITY);
    code_float(c, &box->min_y, -FAR, INFINITY);
    code_float(c, &box->max_x, -INFINITY, FAR);
    code_float(c, &box->max_y, -INFINITY, FAR);
    bool empty = !(box->min_x <= box->max_x);
    need(c, empty ? !(box->min_y <= box->max_y) : box->min_y <= box->max_y);
    if (!empty) need(c, box->min_x <= FAR && box->max_x >= -FAR && box->min_y <= FAR);
}

static void code_polygons(coder *c, th_polygons *shape) {
    int points = 0, starts = shape->ring_count > 0 ? shape->ring_count + 1 : 0;
    if (!c->reading && starts > 0) points = shape->ring_start[shape->ring_count];
    int *start = LIST(c, shape->ring_start, &starts, 4, LIST_MOST);
    for (int r = 0; r < starts && !failed(c); ++r) code_int(c, &start[r], 0, LIST_MOST);
    th_vec2 *all = LIST(c, shape->points, &points, 8, LIST_MOST);
    for (int k = 0; k < points && !failed(c); ++k) code_vec(c, &all[k]);
    if (c->reading && !failed(c)) {
        shape->ring_count = starts > 0 ? starts - 1 : 0;
        need(c, starts != 1 && (starts == 0 || (start[0] == 0 && start[starts - 1] == points)));
        for (int r = 0; r + 1 < starts && !failed(c); ++r) need(c, start[r + 1] >= start[r] + 3);
    }
    code_box(c, &shape->box);
    code_double(c, &shape->area, -1e-3, 1e11);
    for (int k = 0; c->reading && k < points && !failed(c); ++k)
        need(c, all[k].x >= shape->box.min_x && all[k].x <= shape->box.max_x &&
                    all[k].y >= shape->box.min_y && all[k].y <= shape->box.max_y);
}
static void code_area(coder *c, th_area *area) {
    code_level(c, &area->level);
    code_polygons(c, &area->shape);
}
static void code_line(coder *c, th_line *line) {
    code_level(c, &line->level);
    code_vec(c, &line->a);
    code_vec(c, &line->b);
}

// ---- levels and walls

static bool in_box(const th_box *box, th_vec2 p) {
    const float off = 0.01f; // [m] rounding
    return p.x >= box->min_x - off && p.x <= box->max_x + off && p.y >= box->min_y - off &&
           p.y <= box->max_y + off;
}

static void code_levels(coder *c) {
    th_scene *scene = c->scene;
    th_level *levels = LIST(c, scene->levels, &scene->level_count, 40, 20000);
    for (int l = 0; l < scene->level_count && !failed(c); ++l) {
        th_level *level = &levels[l];
        code_text(c, &level->id, ID_MOST);
        code_float(c, &level->z, -1e5f, 1e5f);
        code_flag(c, &level->bounded);
        code_polygons(c, &level->walkable);
        code_box(c, &level->box);
        code_int(c, &level->wall_begin, l > 0 ? levels[l - 1].wall_end : 0, LIST_MOST);
        code_int(c, &level->wall_end, level->wall_begin, LIST_MOST);
        need(c, !level->bounded || level->walkable.ring_count > 0);
        need(c, level->walkable.ring_count == 0 ||
                    (in_box(&level->box,
                            (th_vec2){level->walkable.box.min_x, level->walkable.box.min_y}) &&
                     in_box(&level->box,
                            (th_vec2){level->walkable.box.max_x, level->walkable.box.max_y})));
    }
    need(c, scene->level_count > 0);
}

static void check_wall(coder *c, int w) {
    const th_wall *walls = c->scene->walls, *wall = &walls[w];
    const th_level *level = &c->scene->levels[wall->level];
    double x = (double)wall->b.x - (double)wall->a.x, y = (double)wall->b.y - (double)wall->a.y,
           length = sqrt(x * x + y * y), off = 1e-3 * length + 1e-6;
    need(c, length > 0.0 && fabs((double)wall->length - length) <= off &&
                fabs((double)wall->direction.x * length - x) <= off &&
                fabs((double)wall->direction.y * length - y) <= off);
    need(c, w >= level->wall_begin && w < level->wall_end && in_box(&level->box, wall->a) &&
                in_box(&level->box, wall->b));
    need(c, walls[wall->next].level == wall->level && walls[wall->prev].level == wall->level &&
                walls[wall->next].prev == w && walls[wall->prev].next == w); // closed chains
    bool door = wall->door < c->scene->door_count || wall->door == TH_NARROW_GAP;
    bool bar = wall->door == TH_NARROW_GAP && wall->gap >= -(float)TH_BAR_MAX;
    need(c, wall->door >= -1 && door && (wall->gap >= 0.0f || bar));
}

static void code_walls(coder *c) {
    th_scene *scene = c->scene;
    th_wall *walls = LIST(c, scene->walls, &scene->wall_count, 40, LIST_MOST);
    double length = 0.0;
    for (int w = 0; w < scene->wall_count && !failed(c); ++w) {
        th_wall *wall = &walls[w];
        code_vec(c, &wall->a);
        code_vec(c, &wall->b);
        code_unit(c, &wall->direction);
        code_float(c, &wall->length, 0.0f, 4.0f * FAR);
        code_int(c, &wall->next, 0, scene->wall_count - 1);
        code_int(c, &wall->prev, 0, scene->wall_count - 1);
        code_flag(c, &wall->a_convex);
        code_level(c, &wall->level);
        code_int(c, &wall->door, -1, TH_NARROW_GAP);
        code_float(c, &wall->gap, -(float)TH_BAR_MAX, INFINITY);
        length += (double)wall->length;
    }
    need(c, length <= 3e6); // [m] as the compiler allows
    int last = failed(c) ? 0 : scene->levels[scene->level_count - 1].wall_end;
    need(c, last == scene->wall_count);
}

// ---- what lies on the ground

static void code_links(coder *c) {
    th_scene *scene = c->scene;
    th_link *links = LIST(c, scene->links, &scene->link_count, 28, 20000);
    for (int k = 0; k < scene->link_count && !failed(c); ++k) {
        code_text(c, &links[k].id, ID_MOST);
        code_level(c, &links[k].level[0]);
        code_level(c, &links[k].level[1]);
        code_vec(c, &links[k].a);
        code_vec(c, &links[k].b);
        code_unit(c, &links[k].up);
        need(c, links[k].level[0] != links[k].level[1]);
    }
}

static void code_zones(coder *c) {
    th_scene *scene = c->scene;
    th_zone *zones = LIST(c, scene->zones, &scene->zone_count, 50, 40000);
    for (int k = 0; k < scene->zone_count && !failed(c); ++k) {
        code_text(c, &zones[k].id, ID_MOST);
        code_area(c, &zones[k].area);
        code_float(c, &zones[k].up, 1e-9f, 2.0f);
        code_float(c, &zones[k].down, 1e-9f, 2.0f);
        code_unit(c, &zones[k].up_direction);
        code_float(c, &zones[k].discomfort, 0.0f, 1000.0f);
        code_goal(c, &zones[k].to);
    }
}

static void code_pixels(coder *c, const float **values, int cells) {
    int count = *values ? cells : 0;
    float *all = LIST(c, *values, &count, 4, LIST_MOST);
    need(c, !*values || count == cells);
    for (int k = 0; k < count && !failed(c); ++k) code_float(c, &all[k], -1e4f, 1e4f);
}

static void code_pictures(coder *c) {
    th_scene *scene = c->scene;
    th_picture *pictures = LIST(c, scene->pictures, &scene->picture_count, 40, 100);
    for (int k = 0; k < scene->picture_count && !failed(c); ++k) {
        th_picture *picture = &pictures[k];
        int kind = (int)picture->kind;
        code_text(c, &picture->id, ID_MOST);
        code_level(c, &picture->level);
        code_int(c, &kind, 0, TH_PICTURE_HEIGHT);
        picture->kind = (th_picture_kind)kind;
        code_box(c, &picture->box);
        code_int(c, &picture->nx, 1, 1 << 14);
        code_int(c, &picture->ny, 1, 1 << 14);
        need(c, picture->box.max_x > picture->box.min_x && picture->box.max_y > picture->box.min_y);
        int cells = picture->nx * picture->ny, guided = picture->guidance ? cells : 0;
        code_pixels(c, &picture->discomfort, cells);
        code_pixels(c, &picture->height, cells);
        th_vec2 *all = LIST(c, picture->guidance, &guided, 8, LIST_MOST);
        need(c, !picture->guidance || guided == cells);
        for (int p = 0; p < guided && !failed(c); ++p) code_unit(c, &all[p]);
        code_goal(c, &picture->to);
        need(c, (picture->discomfort != NULL) == (kind == TH_PICTURE_DISCOMFORT) &&
                    (picture->guidance != NULL) == (kind == TH_PICTURE_GUIDANCE) &&
                    (picture->height != NULL) == (kind == TH_PICTURE_HEIGHT));
    }
}

static void code_doors(coder *c) {
    th_scene *scene = c->scene;
    th_door *doors = LIST(c, scene->doors, &scene->door_count, 30, 40000);
    for (int d = 0; d < scene->door_count && !failed(c); ++d) {
        th_door *door = &doors[d];
        code_text(c, &door->id, ID_MOST);
        code_line(c, &door->line);
        code_flag(c, &door->closed);
        th_door_change *changes = LIST(c, door->schedule, &door->schedule_count, 9, LIST_MOST);
        for (int k = 0; k < door->schedule_count && !failed(c); ++k) {
            code_double(c, &changes[k].time, k > 0 ? changes[k - 1].time : 0.0, 1e7);
            code_flag(c, &changes[k].open);
        }
        code_goal(c, &door->exit);
    }
}

// ---- sections: an element is its id, its level, and a value for each key, at the key's place in the model's struct

static void code_value(coder *c, const th_section *section, const th_key_info *key, char *item) {
    void *value = item + key->offset;
    switch (key->kind) {
    case TH_KEY_NUMBER:
        code_float(c, value, (float)key->min, isinf(key->value) ? INFINITY : (float)key->max);
        break;
    case TH_KEY_WORD: {
        int words = 1;
        for (const char *at = key->words; *at; ++at) words += *at == ' ';
        code_int(c, value, 0, words - 1);
        break;
    }
    case TH_KEY_GOAL: code_goal(c, value); break;
    case TH_KEY_NAME: code_int(c, value, section->name_begin, section->name_end - 1); break;
    case TH_KEY_LINE: {
        th_polyline *line = value;
        th_vec2 *points = LIST(c, line->points, &line->count, 8, 10000);
        for (int k = 0; k < line->count && !failed(c); ++k) code_vec(c, &points[k]);
        code_float(c, &line->length, 0.0f, 1e7f);
        need(c, line->count >= 2 || (!key->required && line->count == 0));
        for (int k = 1; k < line->count && !failed(c); ++k)
            need(c, points[k].x != points[k - 1].x || points[k].y != points[k - 1].y);
        break;
    }
    case TH_KEY_AREA:
        code_polygons(c, value);
        need(c, !key->required || ((const th_polygons *)value)->ring_count > 0);
        break;
    }
}

static void code_items(coder *c, th_section *section) {
    const th_section_info *info = section->info;
    char *items = code_list(c, &section->items, &section->count, info->item_size, 8,
                            info->max_items > 0 ? info->max_items : 1000);
    for (int i = 0; i < section->count && !failed(c); ++i) {
        char *item = items + (size_t)i * info->item_size;
        th_item *head = (th_item *)(void *)item;
        code_text(c, &head->id, ID_MOST);
        code_level(c, &head->level);
        for (int k = 0; k < info->key_count && !failed(c); ++k)
            code_value(c, section, &info->keys[k], item);
    }
    int about = -1;
    if (c->reading && !failed(c) && info->compile && section->count > 0)
        need(c, !info->compile(items, section->count, &about));
}

// The keys that the file knows are those of this build.
static void code_keys(coder *c, const th_section_info *info) {
    int count = info->key_count;
    code_int(c, &count, 0, 1000);
    bool same = count == info->key_count;
    for (int k = 0; k < count && same && !failed(c); ++k) {
        const char *name = info->keys[k].name;
        int kind = (int)info->keys[k].kind;
        code_text(c, &name, ID_MOST);
        code_int(c, &kind, 0, TH_KEY_NAME);
        same =
            !failed(c) && strcmp(name, info->keys[k].name) == 0 && kind == (int)info->keys[k].kind;
    }
    if (same || failed(c)) return;
    snprintf(c->sentence, sizeof c->sentence,
             "the section \"%.40s\" has other keys in this build; compile the scene again",
             info->name);
    refuse(c);
}

static th_section *named_section(coder *c, const char *name) {
    th_section *sections = (th_section *)(uintptr_t)c->scene->sections;
    for (int k = 0; k < c->scene->section_count; ++k)
        if (strcmp(sections[k].info->name, name) == 0) return &sections[k];
    snprintf(c->sentence, sizeof c->sentence,
             "no model of this build has the section \"%.60s\"; load the plugin that has it", name);
    refuse(c);
    return NULL;
}

static void take_sections(coder *c) {
    int count = 0;
    while (th_section_at(count, NULL)) ++count;
    th_section *sections = th_arena_alloc(c->scene->arena, (size_t)count, sizeof *sections);
    c->full = !sections;
    for (int k = 0; sections && k < count; ++k)
        sections[k].info = th_section_at(k, &sections[k].model);
    c->scene->sections = sections;
    c->scene->section_count = sections ? count : 0;
}

// Codes the sections that have elements, by name.
static void code_sections(coder *c) {
    th_scene *scene = c->scene;
    int used = 0, next = 0;
    if (c->reading) take_sections(c);
    for (int k = 0; !c->reading && k < scene->section_count; ++k)
        used += scene->sections[k].count > 0;
    code_int(c, &used, 0, 1000);
    for (int u = 0; u < used && !failed(c); ++u) {
        while (!c->reading && scene->sections[next].count == 0) ++next;
        const char *name = c->reading ? "" : scene->sections[next].info->name;
        code_text(c, &name, ID_MOST);
        th_section *section = failed(c) ? NULL : named_section(c, name);
        ++next;
        if (!section) return;
        need(c, section->count == 0);
        code_keys(c, section->info);
        code_int(c, &section->name_begin, 0, scene->name_count);
        code_int(c, &section->name_end, section->name_begin, scene->name_count);
        code_items(c, section);
    }
}

static void code_names(coder *c) {
    th_scene *scene = c->scene;
    const char **names = LIST(c, scene->names, &scene->name_count, 4, 100000);
    for (int k = 0; k < scene->name_count && !failed(c); ++k) code_text(c, &names[k], ID_MOST);
}

// ---- goals

// The element that a detour leads to: its section's place among all, and its own.
static void code_item(coder *c, th_goal *goal) {
    th_scene *scene = c->scene;
    int section = -1, item = -1;
    for (int k = 0; !c->reading && goal->item && k < scene->section_count; ++k) {
        const th_section *s = &scene->sections[k];
        const char *begin = s->items, *at = (const char *)goal->item;
        if (s->count == 0 || at < begin || at >= begin + (size_t)s->count * s->info->item_size)
            continue;
        section = k;
        item = (int)((size_t)(at - begin) / s->info->item_size);
    }
    const char *name = section >= 0 ? scene->sections[section].info->name : "";
    code_text(c, &name, ID_MOST);
    code_int(c, &item, -1, LIST_MOST);
    if (!c->reading || failed(c)) return;
    need(c, (item >= 0) == (goal->kind == TH_GOAL_DETOUR));
    if (item < 0 || failed(c)) return;
    const th_section *s = named_section(c, name);
    if (!s) return;
    need(c, s->info->detours && item < s->count);
    if (failed(c)) return;
    goal->item =
        (const th_item *)(const void *)((const char *)s->items + (size_t)item * s->info->item_size);
    need(c, goal->item->level == goal->area.level);
}

static void code_goals(coder *c) {
    th_scene *scene = c->scene;
    th_goal *goals = (th_goal *)(uintptr_t)scene->goals;
    for (int g = 0; g < scene->goal_count && !failed(c); ++g) {
        th_goal *goal = &goals[g];
        int kind = (int)goal->kind;
        code_text(c, &goal->id, ID_MOST);
        code_int(c, &kind, 0, TH_GOAL_DETOUR);
        goal->kind = (th_goal_kind)kind;
        code_flag(c, &goal->is_line);
        code_line(c, &goal->line);
        code_area(c, &goal->area);
        code_float(c, &goal->wait, 0.0f, 1e7f);
        code_flag(c, &goal->refuge);
        code_int(c, &goal->capacity, 0, 1000000);
        code_item(c, goal);
        need(c, goal->is_line || goal->area.shape.ring_count > 0);
    }
}

static void code_targets(coder *c) {
    th_scene *scene = c->scene;
    th_target *targets = LIST(c, scene->targets, &scene->target_count, 9, LIST_MOST);
    for (int t = 0; t < scene->target_count && !failed(c); ++t) {
        int *goals = LIST(c, targets[t].goals, &targets[t].goal_count, 4, LIST_MOST);
        for (int k = 0; k < targets[t].goal_count && !failed(c); ++k)
            code_int(c, &goals[k], k > 0 ? goals[k - 1] + 1 : 0, scene->goal_count - 1);
        need(c, targets[t].goal_count > 0);
    }
}

// ---- groups

static void check_params(coder *c, const th_model *model, const float *params) {
    th_error error = {0};
    if (!c->reading || failed(c) ||
        th_model_check_params(model, params, "", TH_BAD_SCENE, &error) == TH_OK)
        return;
    snprintf(c->sentence, sizeof c->sentence, "%.190s", error.message);
    refuse(c);
}

static void code_model(coder *c, th_stage stage, th_model_choice *choice) {
    const char *name = c->reading ? "" : th_models(NULL)[choice->model]->name;
    code_text(c, &name, ID_MOST);
    if (failed(c)) return;
    if (c->reading) choice->model = th_model_find(stage, name);
    if (choice->model < 0) {
        snprintf(c->sentence, sizeof c->sentence,
                 "this build has no %s model \"%.60s\"; load the plugin that has it",
                 th_stage_name(stage), name);
        refuse(c);
        return;
    }
    const th_model *model = th_models(NULL)[choice->model];
    int count = model->param_count;
    code_int(c, &count, 0, TH_PARAM_MAX);
    bool same = count == model->param_count;
    for (int k = 0; k < count && same && !failed(c); ++k) {
        const char *param = model->params[k].name;
        code_text(c, &param, ID_MOST);
        same = failed(c) || strcmp(param, model->params[k].name) == 0;
        code_float(c, &choice->params[k], (float)model->params[k].min, (float)model->params[k].max);
    }
    if (!same && !failed(c)) {
        snprintf(c->sentence, sizeof c->sentence,
                 "the model \"%.60s\" has other parameters in this build; compile the scene again",
                 model->name);
        refuse(c);
    }
    check_params(c, model, choice->params);
}

static void code_distribution(coder *c, th_distribution *d, double low, double high) {
    int kind = (int)d->kind;
    code_int(c, &kind, 0, TH_DISTRIBUTION_WEIBULL);
    d->kind = (th_distribution_kind)kind;
    code_double(c, &d->a, -1e6, 1e6);
    code_double(c, &d->b, -1e6, 1e6);
    code_double(c, &d->min, low, high);
    code_double(c, &d->max, low, high);
    if (kind == TH_DISTRIBUTION_CONSTANT) need(c, d->a == d->min && d->a == d->max);
    if (kind == TH_DISTRIBUTION_UNIFORM) need(c, d->a == d->min && d->b == d->max && d->a <= d->b);
    if (kind <= TH_DISTRIBUTION_UNIFORM) return;
    need(c, d->min < d->max && d->b >= 0.0);
    if (kind >= TH_DISTRIBUTION_GAMMA) need(c, d->a > 0.0 && d->b > 0.0);
    if (kind == TH_DISTRIBUTION_NORMAL)
        need(c, d->a + 6.0 * d->b >= d->min && d->a - 6.0 * d->b <= d->max);
}

static void code_people(coder *c, th_group *group) {
    const double most = 50e6; // [people] of one group
    uint64_t count = (uint64_t)group->count;
    code_u64(c, &count);
    need(c, (double)count <= most);
    group->count = failed(c) ? 0 : (int64_t)count;
    int placed = group->positions ? (int)group->count : 0;
    th_vec2 *positions = LIST(c, group->positions, &placed, 8, LIST_MOST);
    need(c, !group->positions || placed == (int)group->count);
    for (int k = 0; k < placed && !failed(c); ++k) code_vec(c, &positions[k]);
    code_double(c, &group->rate, 0.0, 1e5);
    code_double(c, &group->rate_start, 0.0, 1e7);
    code_double(c, &group->rate_end, -HUGE_VAL, HUGE_VAL);
    th_arrival *arrivals = LIST(c, group->arrivals, &group->arrival_count, 12, LIST_MOST);
    for (int k = 0; k < group->arrival_count && !failed(c); ++k) {
        code_double(c, &arrivals[k].time, k > 0 ? arrivals[k - 1].time : 0.0, 1e7);
        code_int(c, &arrivals[k].count, 0, (int)most);
    }
    double arriving = 0.0;
    for (int k = 0; k < group->arrival_count && !failed(c); ++k) arriving += arrivals[k].count;
    th_entry *entries = LIST(c, group->entries, &group->entry_count, 20, LIST_MOST);
    need(c, !group->entries || arriving == (double)group->entry_count);
    for (int k = 0; k < group->entry_count && !failed(c); ++k) {
        code_vec(c, &entries[k].position);
        code_vec(c, &entries[k].velocity);
        code_int(c, &entries[k].level, 0, c->scene->level_count - 1);
    }
    bool source = group->rate > 0.0 || group->arrival_count > 0;
    bool ground = c->scene->levels[group->level].bounded || group->area.shape.ring_count > 0;
    need(c, !(source && group->count > 0) &&
                (ground || group->positions || group->entries || (group->count == 0 && !source)));
}

static void code_way(coder *c, th_group *group) {
    th_scene *scene = c->scene;
    int legs = th_group_ways(group), names = group->weights ? scene->name_count : 0;
    int *route = LIST(c, group->route, &legs, 4, LIST_MOST);
    for (int k = 0; k < legs && !failed(c); ++k) code_int(c, &route[k], 0, scene->target_count - 1);
    code_int(c, &group->route_count, 0, (int)TH_DETOUR - 1);
    code_int(c, &group->detour_count, 0, LIST_MOST);
    need(c, group->route_count + group->detour_count == legs);
    float *weights = LIST(c, group->weights, &names, 4, LIST_MOST);
    need(c, names == scene->name_count);
    for (int k = 0; k < names && !failed(c); ++k) code_float(c, &weights[k], 0.0f, 10.0f);
    code_goal(c, &group->entrance);
    int own = (int)group->own_goal;
    code_int(c, &own, 0, TH_OWN_GOAL_OPPOSITE);
    group->own_goal = (th_own_goal_kind)own;
    code_area(c, &group->own_goal_area);
    code_float(c, &group->own_goal_centre.x, -3e8f, 3e8f);
    code_float(c, &group->own_goal_centre.y, -3e8f, 3e8f);
    bool mirrored = own == TH_OWN_GOAL_MIRROR_X || own == TH_OWN_GOAL_OPPOSITE;
    need(c, !mirrored ||
                (fabsf(group->own_goal_centre.x) < FAR && fabsf(group->own_goal_centre.y) < FAR));
    need(c, own != TH_OWN_GOAL_IN_AREA || group->own_goal_area.shape.ring_count > 0);
    need(c, own == TH_OWN_GOAL_NONE || group->route_count == 0);
}

static void code_behaviours(coder *c, th_group *group) {
    code_int(c, &group->behave_count, 1, TH_BEHAVE_MAX);
    for (int k = 0; k < group->behave_count && !failed(c); ++k) {
        code_model(c, TH_STAGE_BEHAVE, &group->behave[k]);
        if (failed(c) || !c->reading) continue;
        const th_model *model = th_models(NULL)[group->behave[k].model];
        for (int j = 0; j < k; ++j) need(c, group->behave[j].model != group->behave[k].model);
        need(c, (group->decides & model->decides) == 0);
        group->decides |= model->decides;
    }
}

// Every detour is a place of a behaviour of the group.
static void check_detours(coder *c, const th_group *group) {
    const th_scene *scene = c->scene;
    for (int k = 0; k < th_group_ways(group) && !failed(c); ++k) {
        const th_target *target = &scene->targets[group->route[k]];
        bool detour = k >= group->route_count;
        if (detour) need(c, target->goal_count == 1 && (group->decides & TH_DECIDES_DETOUR) != 0);
        for (int g = 0; g < target->goal_count; ++g)
            need(c, (scene->goals[target->goals[g]].kind == TH_GOAL_DETOUR) == detour);
    }
}

static void code_part(coder *c, th_group *group) {
    th_part *part = &group->part;
    const char *profile = part->profile ? part->profile : "";
    code_text(c, &profile, ID_MOST);
    part->profile = profile && *profile ? profile : NULL;
    code_int(c, &part->place, 0, 20000);
    code_int(c, &part->count, 1, 20000);
    code_int(c, &part->index, 0, part->count - 1);
    code_double(c, &part->begin, 0.0, 1.0);
    code_double(c, &part->end, part->begin, 1.0);
    code_float(c, &group->up, 1e-9f, 4.0f);
    code_float(c, &group->down, 1e-9f, 4.0f);
    code_int(c, &group->bar, 0, TH_BAR_MAX);
}

// The parts of a group stand next to each other, and in their order.
static void check_parts(coder *c) {
    const th_scene *scene = c->scene;
    for (int g = 0; g < scene->group_count && !failed(c); ++g) {
        const th_part *part = &scene->groups[g].part;
        int left = part->count - 1 - part->index;
        need(c, left < scene->group_count - g && (part->index > 0 ? g > 0 : true));
        const th_part *before = part->index > 0 && g > 0 ? &scene->groups[g - 1].part : NULL;
        need(c, part->index == 0 || (before && before->index == part->index - 1 &&
                                     before->count == part->count && before->end == part->begin));
        need(c, left == 0 || scene->groups[g + 1].part.index == part->index + 1);
        need(c, !(left == 0) || part->end == 1.0);
    }
}

static void code_group(coder *c, th_group *group) {
    int rigid = (int)group->rigid;
    code_text(c, &group->id, ID_MOST);
    code_level(c, &group->level);
    code_area(c, &group->area);
    if (!failed(c)) code_people(c, group);
    code_distribution(c, &group->radius, 0.05, 2.0);
    code_distribution(c, &group->speed, 0.0, 10.0);
    code_distribution(c, &group->premovement, 0.0, 1e6);
    code_distribution(c, &group->mass, 1.0, 1000.0);
    code_int(c, &rigid, 0, TH_RIGID_NEVER);
    group->rigid = (th_rigid)rigid;
    code_behaviours(c, group);
    code_model(c, TH_STAGE_PLAN, &group->plan);
    code_model(c, TH_STAGE_FILTER, &group->filter);
    code_model(c, TH_STAGE_MOVE, &group->move);
    code_way(c, group);
    code_int(c, &group->leader, -1, c->scene->group_count - 1);
    code_part(c, group);
    if (!c->reading || failed(c)) return;
    need(c, group->own_goal == TH_OWN_GOAL_NONE || th_models(NULL)[group->plan.model]->own_goals);
    need(c, group->area.level == group->level);
    check_detours(c, group);
}

// Followers and leaders keep company, and no group follows itself over others.
static void check_leaders(coder *c) {
    const th_scene *scene = c->scene;
    for (int g = 0; g < scene->group_count && !failed(c); ++g) {
        int at = g, steps = 0;
        for (; at >= 0 && steps <= scene->group_count; ++steps) {
            bool leads = scene->groups[at].leader >= 0 || at != g;
            if (leads) need(c, (scene->groups[at].decides & TH_DECIDES_COMPANY) != 0);
            at = scene->groups[at].leader;
        }
        need(c, at < 0);
    }
}

static void code_groups(coder *c) {
    th_scene *scene = c->scene;
    th_group *groups = LIST(c, scene->groups, &scene->group_count, 200, 20000);
    for (int g = 0; g < scene->group_count && !failed(c); ++g) code_group(c, &groups[g]);
    if (c->reading && !failed(c)) check_leaders(c);
    if (c->reading && !failed(c)) check_parts(c);
}

// ---- the rest

static void code_scripted(coder *c) {
    th_scene *scene = c->scene;
    th_scripted *list = LIST(c, scene->scripted, &scene->scripted_count, 20, 20000);
    for (int k = 0; k < scene->scripted_count && !failed(c); ++k) {
        th_scripted *one = &list[k];
        code_text(c, &one->id, ID_MOST);
        code_level(c, &one->level);
        code_float(c, &one->radius, 0.01f, 5.0f);
        th_vec2 *discs = LIST(c, one->discs, &one->disc_count, 8, 20001);
        for (int d = 0; d < one->disc_count && !failed(c); ++d) code_vec(c, &discs[d]);
        code_flag(c, &one->is_body);
        th_keyframe *path = LIST(c, one->path, &one->path_count, 24, LIST_MOST);
        for (int p = 0; p < one->path_count && !failed(c); ++p) {
            code_double(c, &path[p].time, 0.0, 1e7);
            need(c, p == 0 || path[p].time > path[p - 1].time);
            code_double(c, &path[p].x, -(double)FAR, (double)FAR);
            code_double(c, &path[p].y, -(double)FAR, (double)FAR);
        }
        need(c, one->path_count > 0 && one->disc_count > 0);
    }
}

static void code_measures(coder *c) {
    th_scene *scene = c->scene;
    th_measure_line *lines = LIST(c, scene->measure_lines, &scene->measure_line_count, 24, 20000);
    for (int k = 0; k < scene->measure_line_count && !failed(c); ++k) {
        code_text(c, &lines[k].id, ID_MOST);
        code_line(c, &lines[k].line);
    }
    th_measure_area *areas = LIST(c, scene->measure_areas, &scene->measure_area_count, 40, 20000);
    for (int k = 0; k < scene->measure_area_count && !failed(c); ++k) {
        code_text(c, &areas[k].id, ID_MOST);
        code_area(c, &areas[k].area);
        code_double(c, &areas[k].walkable_area, 0.0, 1e11);
    }
}

static void code_gaps(coder *c) {
    th_scene *scene = c->scene;
    th_line *closed = LIST(c, scene->closed_gaps, &scene->closed_gap_count, 20, 1000);
    for (int k = 0; k < scene->closed_gap_count && !failed(c); ++k) code_line(c, &closed[k]);
    th_narrow_gap *narrow = LIST(c, scene->narrow_gaps, &scene->narrow_gap_count, 28, 1000);
    for (int k = 0; k < scene->narrow_gap_count && !failed(c); ++k) {
        code_line(c, &narrow[k].line);
        code_float(c, &narrow[k].width, 0.0f, 1e3f);
        code_int(c, &narrow[k].door, -1, scene->door_count - 1);
    }
    code_int(c, &scene->size_count, 1, TH_SIZE_MAX);
    code_int(c, &scene->bar_count, 0, TH_BAR_MAX);
    need(c, scene->bar_count < scene->size_count);
    for (int g = 0; g < scene->group_count; ++g) need(c, scene->groups[g].bar <= scene->bar_count);
    for (int k = 0; k < TH_SIZE_MAX && !failed(c); ++k) {
        code_float(c, &scene->sizes[k], 0.0f, 1e3f);
        need(c, k == 0 || k >= scene->size_count - scene->bar_count ||
                    scene->sizes[k] >= scene->sizes[k - 1]);
    }
}

static void code_settings(coder *c) {
    th_scene *scene = c->scene;
    code_text(c, &scene->name, TEXT_MOST);
    code_text(c, &scene->description, TEXT_MOST);
    code_double(c, &scene->origin.x, -1e8, 1e8);
    code_double(c, &scene->origin.y, -1e8, 1e8);
    code_double(c, &scene->run.step, TH_STEP_MIN, 0.5);
    code_double(c, &scene->run.duration, 0.0, 1e7);
    code_double(c, &scene->run.max_time, 1e-9, 1e7);
    code_u64(c, &scene->run.seed);
    code_int(c, &scene->run.runs, 1, 100000);
    code_text(c, &scene->record.format, ID_MOST);
    code_double(c, &scene->record.fps, 1e-9, 1000.0);
    code_double(c, &scene->plan_cell, 0.0, 5.0);
    need(c, scene->plan_cell == 0.0 || scene->plan_cell >= 0.02);
}

// The pieces into which walls and portals cut the ground, for rooms; a build without GEOS needs them.
static void code_faces(coder *c, th_face *found, int count) {
    th_scene *scene = c->scene;
    const th_face *list = found;
    th_face *faces = LIST(c, list, &count, 40, LIST_MOST);
    for (int k = 0; k < count && !failed(c); ++k) {
        code_level(c, &faces[k].level);
        code_polygons(c, &faces[k].shape);
        code_double(c, &faces[k].area, -1e11, 1e11);
        need(c, faces[k].shape.ring_count > 0);
    }
    if (!c->reading) return;
    scene->faces = list;
    scene->face_count = count;
}

// Goals and names are counted before what refers to them.
static void code_scene(coder *c, th_face *faces, int face_count) {
    th_scene *scene = c->scene;
#define PART(call, name) \
    if (!failed(c)) {    \
        c->part = name;  \
        call;            \
    }
    PART(code_settings(c), "run")
    PART((void)LIST(c, scene->goals, &scene->goal_count, 60, 60000), "goals")
    PART(code_levels(c), "levels")
    PART(code_walls(c), "walls")
    PART(code_doors(c), "doors")
    for (int w = 0; c->reading && w < scene->wall_count && !failed(c); ++w) check_wall(c, w);
    PART(code_links(c), "stairs")
    PART(code_zones(c), "zones")
    PART(code_pictures(c), "pictures")
    PART(code_names(c), "names")
    PART(code_sections(c), "sections")
    PART(code_goals(c), "goals")
    PART(code_targets(c), "routes")
    PART(code_groups(c), "groups")
    PART(code_scripted(c), "scripted")
    PART(code_measures(c), "measure")
    PART(code_gaps(c), "gaps")
    PART(code_faces(c, faces, face_count), "rooms")
#undef PART
}

// ---- the file

static uint64_t check_sum(const unsigned char *bytes, size_t size) {
    uint64_t h = size;
    for (size_t k = 0; k < size; ++k) h = (h ^ bytes[k]) * 0x100000001b3u; // FNV-1a
    return th_mix64(h);
}

void th_compiled_seal(void *bytes, size_t size) {
    if (size < HEAD) return;
    coder c = {.bytes = bytes, .at = 12, .capacity = HEAD};
    number(&c, size - HEAD, 8);
    number(&c, check_sum((unsigned char *)bytes + HEAD, size - HEAD), 8);
}

bool th_is_compiled(const void *bytes, size_t size) {
    return size >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
}

th_result th_scene_compiled(const th_scene *scene, void **bytes, size_t *size, th_error *error) {
    *bytes = NULL;
    *size = 0;
    th_arena work = th_arena_of(&scene->arena->memory.allocator);
    th_face *faces = NULL;
    int face_count = 0;
    // Plans that cannot be joined to rooms have none in the file either.
    bool found = th_faces_find(scene, &work, &faces, &face_count, NULL) == TH_OK;
    if (!found) face_count = 0;
    if (found != (faces != NULL)) faces = found ? th_arena_alloc(&work, 0, sizeof *faces) : NULL;
    coder c = {.scene = (th_scene *)(uintptr_t)scene}; // read only
    if (reserve(&c, HEAD)) {
        memcpy(c.bytes, magic, sizeof magic);
        c.at = sizeof magic;
        number(&c, COMPILED_VERSION, 4);
        c.at = HEAD;
        code_scene(&c, faces, face_count);
    }
    bool full = c.full || work.failed;
    th_arena_release(&work);
    if (full) {
        free(c.bytes);
        return th_fail(error, TH_NO_MEMORY, "", "no memory for the compiled scene");
    }
    th_compiled_seal(c.bytes, c.at);
    *bytes = c.bytes;
    *size = c.at;
    return TH_OK;
}

static th_result check_head(coder *c, th_error *error) {
    if (!th_is_compiled(c->bytes, c->size) || c->size < HEAD)
        return th_fail(error, TH_BAD_SCENE, "", "these bytes are no compiled scene of throng");
    c->at = sizeof magic;
    unsigned version = (unsigned)number(c, 0, 4);
    if (version != COMPILED_VERSION)
        return th_fail(
            error, TH_BAD_SCENE, "",
            "the compiled scene is of version %u and this build reads version %d; make it "
            "again from the scene with this build's `throng compile`",
            version, COMPILED_VERSION);
    uint64_t size = number(c, 0, 8), sum = number(c, 0, 8);
    if (size != c->size - HEAD || sum != check_sum(c->bytes + HEAD, c->size - HEAD))
        return th_fail(error, TH_BAD_SCENE, "",
                       "the compiled scene is damaged or cut short (%zu bytes, %llu expected)",
                       c->size, (unsigned long long)size + HEAD);
    return TH_OK;
}

static th_result prepare(th_scene *scene, th_error *error) {
    if (!th_wall_grids_build(scene) || !th_goal_grids_build(scene))
        return th_fail(error, TH_NO_MEMORY, "", "no memory for the grids of walls and goals");
    return th_plan_prepare(scene, error);
}

th_result th_scene_load_compiled(const void *bytes, size_t size, const th_allocator *allocator,
                                 th_scene **out, th_error *error) {
    th_error local;
    if (!error) error = &local;
    memset(error, 0, sizeof *error);
    *out = NULL;
    coder c = {.reading = true, .bytes = (unsigned char *)(uintptr_t)bytes, .size = size};
    th_result result = check_head(&c, error);
    if (result != TH_OK) return result;
    th_memory memory = th_memory_of(allocator);
    c.scene = th_scene_empty(&memory);
    if (!c.scene) return th_fail(error, TH_NO_MEMORY, "", "no memory for a scene");
    code_scene(&c, NULL, 0);
    c.bad = c.bad || (!c.full && c.at != size);
    if (c.full)
        result = th_fail(error, TH_NO_MEMORY, "", "no memory for the compiled scene");
    else if (c.bad)
        result = th_fail(error, TH_BAD_SCENE, c.part, "%s",
                         *c.sentence ? c.sentence
                                     : "the compiled scene holds values that no scene can have");
    else
        result = prepare(c.scene, error);
    if (result != TH_OK) {
        th_scene_destroy(c.scene);
        return result;
    }
    *out = c.scene;
    return TH_OK;
}

#ifdef TH_COMPILED_ONLY
// ---- a build without GEOS, jansson and libpng makes no scenes

static th_result cannot(th_scene **scene, th_error *error) {
    if (scene) *scene = NULL;
    return th_fail(
        error, TH_BAD_SCENE, "",
        "this build of throng reads compiled scenes only; make one with `throng compile`");
}
th_result th_scene_create(const th_scene_def *def, th_scene **scene, th_error *error) {
    (void)def;
    return cannot(scene, error);
}
th_result th_scene_load_json(const char *text, size_t length, const char *name,
                             const char *base_dir, const th_scene_options *options,
                             th_scene **scene, th_error *error) {
    (void)text, (void)length, (void)name, (void)base_dir, (void)options;
    return cannot(scene, error);
}
th_result th_scene_overridden_json(const char *path, const th_scene_options *options, char **json,
                                   th_error *error) {
    (void)path, (void)options;
    *json = NULL;
    return cannot(NULL, error);
}
th_result th_scene_load_file(const char *path, const th_scene_options *options, th_scene **scene,
                             th_error *error) {
    size_t size = 0;
    *scene = NULL;
    char *bytes = th_file_content(path, &size, error);
    if (!bytes) return TH_NO_FILE;
    th_result result = th_is_compiled(bytes, size)
                           ? th_scene_load_compiled(
                                 bytes, size, options ? &options->allocator : NULL, scene, error)
                           : cannot(scene, error);
    free(bytes);
    return result;
}
void th_scene_destroy(th_scene *scene) {
    if (!scene) return;
    th_plan_release(scene);
    th_scene_release(scene);
}
#endif
