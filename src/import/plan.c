// A drawing as a scene: which layer is what, lines joined and closed, the ground found where none is drawn. All that was
// found, closed, joined and left out is told. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/geometry.h"
#include "import/drawing.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The parts that layers play. X(NAME, word, usual names of layers).
#define ROLES(X)                                                                                 \
    X(IGNORED, "ignore", "")                                                                     \
    X(STAIRS_TOP, "stairs_top", "stairs_top treppe_oben")                                        \
    X(STAIRS, "stairs", "stair treppe escalier")                                                 \
    X(EXITS, "exits", "exit ausgang sortie")                                                     \
    X(DOORS, "doors", "door t\xC3\xBCr tuer porte")                                              \
    X(WALLS, "walls", "wall wand w\xC3\xA4nde waende mur cloison railing barrier")               \
    X(OBSTACLES, "obstacles",                                                                    \
      "obstacle column pillar s\xC3\xA4ule saeule st\xC3\xBCtze stuetze building natural=water") \
    X(GROUND, "ground", "ground walkable boden")                                                 \
    X(AREAS, "areas", "ifcspace")                                                                \
    X(PEOPLE, "people", "people personen distribution")
typedef enum role {
#define X(NAME, word, usual) ROLE_##NAME,
    ROLES(X)
#undef X
        ROLE_COUNT
} role;
static const char *const role_words[] = {
#define X(NAME, word, usual) word,
    ROLES(X)
#undef X
};
static const char *const usual_names[] = {
#define X(NAME, word, usual) usual,
    ROLES(X)
#undef X
};

enum { LEVELS_MOST = 64, TOLD_MOST = 20, SEGMENTS_MOST = 400000 };
static const double BODY = 0.5;  // [m] narrower faces between lines are walls, not rooms
static const double SAME = 1e-4; // [m] closer points are one
static const double GRID =
    5e-4; // [m] of the corners of found ground: an end rounded by SAME is on its wall
static const double DOOR_MOST = 20.0; // [m]

typedef struct line2 {
    th_point a, b;
} line2;

// A layer's part, and the levels behind @: "walls@upper", "stairs@ground@upper".
typedef struct layer_part {
    role role;
    int level, to; // -1: none
} layer_part;

typedef struct importer {
    const th_drawing *drawing;
    const th_import_settings *settings;
    th_arena *arena;
    th_error *error;
    th_result result;
    layer_part *parts; // by layer
    const char *levels[LEVELS_MOST];
    int level_count;
    th_point *points; // of the drawing, in metres
    bool *closed;     // by path: as drawn, or because its ends nearly meet
    bool *used;       // by path
    bool *doubles;    // by path: a hatch whose outline is there already
    char *told;
    int told_length, told_capacity;
    int gaps_closed, rings_closed, faces_thin, faces_shut, doubled;
    json_t *outer; // doors that lead out of all rooms, by level
    json_t *scene;
} importer;

th_import_settings th_import_settings_default(void) {
    return (th_import_settings){.close = 0.05, .name = "drawing"};
}

const char *th_role_names(void) {
    return "walls, obstacles, ground, doors, exits, people, areas, stairs, stairs_top, ignore";
}

static void fail(importer *m, const char *why) {
    if (m->result == TH_OK) m->result = th_fail(m->error, TH_BAD_SCENE, "", "%s", why);
}

static void no_memory(importer *m) {
    if (m->result == TH_OK)
        m->result = th_fail(m->error, TH_NO_MEMORY, "", "no memory for the drawing");
}

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
tell(importer *m, const char *format, ...) {
    char line[600];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length >= (int)sizeof line) length = (int)sizeof line - 1;
    if (!th_arena_reserve(m->arena, &m->told, &m->told_capacity, m->told_length + length + 1, 1)) {
        no_memory(m);
        return;
    }
    memcpy(m->told + m->told_length, line, (size_t)length + 1);
    m->told_length += length;
}

// ---- which layer is what

static int lower(char letter) { return tolower((unsigned char)letter); }

// Does the text fit the pattern, in which * stands for any text?
static bool fits(const char *pattern, const char *text) {
    const char *star = NULL, *from = NULL;
    while (*text) {
        if (*pattern == '*') {
            star = ++pattern;
            from = text;
        } else if (lower(*pattern) == lower(*text)) {
            ++pattern;
            ++text;
        } else if (star) {
            pattern = star;
            text = ++from;
        } else {
            return false;
        }
    }
    while (*pattern == '*') ++pattern;
    return !*pattern;
}

// In the layer's own name, without the levels behind it.
static bool contains(const char *text, const char *word, size_t length) {
    for (; *text && *text != '@'; ++text) {
        size_t k = 0;
        while (k < length && text[k] && lower(text[k]) == lower(word[k])) ++k;
        if (k == length) return true;
    }
    return false;
}

// The role that a word names up to an @ or its end; -1: none.
static int role_named(const char *word) {
    size_t length = strcspn(word, "@");
    for (int r = 0; r < ROLE_COUNT; ++r)
        if (strlen(role_words[r]) == length && strncmp(role_words[r], word, length) == 0) return r;
    return -1;
}

static role usual_role(const char *layer) {
    for (int r = 1; r < ROLE_COUNT; ++r)
        for (const char *at = usual_names[r]; *at;) {
            size_t length = strcspn(at, " ");
            if (contains(layer, at, length)) return (role)r;
            at += length + (at[length] == ' ');
        }
    return ROLE_IGNORED;
}

static bool add_rule(th_import_settings *settings, const char *layer, const char *word) {
    if (settings->rule_count >= TH_RULES_MAX || role_named(word) < 0) return false;
    settings->rules[settings->rule_count++] = (th_layer_rule){layer, word};
    return true;
}

bool th_import_add_rule(th_import_settings *settings, const char *text) {
    const char *equals = strrchr(text, '=');
    if (!equals || equals == text) return false;
    size_t length = (size_t)(equals - text);
    char *layer = settings->names + settings->names_length;
    if (length + 1 > sizeof settings->names - (size_t)settings->names_length) return false;
    memcpy(layer, text, length);
    layer[length] = '\0';
    settings->names_length += (int)length + 1;
    return add_rule(settings, layer, equals + 1);
}

static bool take_numbers(const json_t *recipe, const char *key, double *to, size_t count) {
    const json_t *list = json_object_get(recipe, key);
    if (json_array_size(list) != count) return false;
    for (size_t k = 0; k < count; ++k) to[k] = json_number_value(json_array_get(list, k));
    return true;
}

th_result th_import_recipe(th_import_settings *settings, const json_t *scene, th_error *error) {
    const json_t *recipe = json_object_get(scene, "import");
    if (!json_is_object(recipe))
        return th_fail(error, TH_BAD_SCENE, "import",
                       "the scene has no \"import\": it was not made by `throng import`");
    const char *unit = json_string_value(json_object_get(recipe, "unit")), *layer;
    if (settings->unit == 0.0 && unit) settings->unit = th_unit_of(unit);
    const json_t *close = json_object_get(recipe, "close"), *turn = json_object_get(recipe, "turn");
    if (json_is_number(close)) settings->close = json_number_value(close);
    if (json_is_number(turn)) settings->turn = json_number_value(turn);
    if (!(settings->close >= 0.0 && settings->close <= 1.0 && fabs(settings->turn) <= 360.0))
        return th_fail(error, TH_BAD_SCENE, "import",
                       "gaps are closed up to \"close\", 0 to 1 m, and the drawing is turned by "
                       "\"turn\", -360 to 360 degrees");
    if (settings->width == 0.0)
        settings->width = json_number_value(json_object_get(recipe, "width"));
    settings->has_origin |= take_numbers(recipe, "origin", settings->origin, 2);
    if (!settings->has_area) settings->has_area = take_numbers(recipe, "area", settings->area, 4);
    json_t *value;
    json_object_foreach(json_object_get(recipe, "layers"), layer, value) {
        const char *word = json_string_value(value);
        if (!word || !add_rule(settings, layer, word))
            return th_fail(error, TH_BAD_SCENE, "import.layers",
                           "\"%.60s\" is no part that a layer plays; give one of: %s",
                           word ? word : layer, th_role_names());
    }
    return TH_OK;
}

static int level_named(importer *m, const char *name, size_t length) {
    if (length == 0 || length > 60) {
        name = "ground";
        length = 6;
    }
    for (int l = 0; l < m->level_count; ++l)
        if (strlen(m->levels[l]) == length && strncmp(m->levels[l], name, length) == 0) return l;
    if (m->level_count >= LEVELS_MOST) {
        fail(m, "the layers name more than 64 levels");
        return 0;
    }
    char copy[64];
    snprintf(copy, sizeof copy, "%.*s", (int)length, name);
    const char *kept = th_arena_string(m->arena, copy);
    if (!kept) {
        no_memory(m);
        return 0;
    }
    m->levels[m->level_count] = kept;
    return m->level_count++;
}

// The text behind the first @ of the rule or else of the layer's name; NULL: none.
static const char *levels_of(const th_drawn_layer *layer, const th_layer_rule *rule) {
    const char *text = rule && strchr(rule->role, '@') ? rule->role : layer->name;
    const char *at = strchr(text, '@');
    return at ? at + 1 : NULL;
}

static const th_layer_rule *rule_of(const importer *m, const th_drawn_layer *layer) {
    for (int k = 0; k < m->settings->rule_count; ++k)
        if (fits(m->settings->rules[k].layer, layer->name)) return &m->settings->rules[k];
    return NULL;
}

// Maps name what covers the ground, not what it is for; kerbs and gates stop nobody.
static role usual_role_outdoors(const char *layer) {
    static const char *const open[] = {"kerb", "gate", "bollard", "entrance", "stile"};
    for (size_t k = 0; k < sizeof open / sizeof *open; ++k)
        if (contains(layer, open[k], strlen(open[k]))) return ROLE_IGNORED;
    role found = usual_role(layer);
    return found == ROLE_GROUND ? ROLE_IGNORED : found;
}

static void take_role(importer *m, int l) {
    const th_drawn_layer *layer = &m->drawing->layers[l];
    const th_layer_rule *rule = rule_of(m, layer);
    m->parts[l] = (layer_part){rule                   ? (role)role_named(rule->role)
                               : layer->hidden        ? ROLE_IGNORED
                               : m->drawing->outdoors ? usual_role_outdoors(layer->name)
                                                      : usual_role(layer->name),
                               -1, -1};
    if (layer->paths == 0) m->parts[l].role = ROLE_IGNORED;
}

static void take_layer_levels(importer *m, int l) {
    const th_drawn_layer *layer = &m->drawing->layers[l];
    layer_part *part = &m->parts[l];
    if (part->role == ROLE_IGNORED) return;
    const char *at = levels_of(layer, rule_of(m, layer)), *to = at ? strchr(at, '@') : NULL;
    part->level = at ? level_named(m, at, strcspn(at, "@")) : level_named(m, "", 0);
    if (to) part->to = level_named(m, to + 1, strlen(to + 1));
}

// Levels that the drawing knows come in its order, from the lowest, as far as layers use them.
static void take_layers(importer *m) {
    const th_drawing *d = m->drawing;
    m->parts = th_arena_alloc(m->arena, (size_t)d->layer_count + 1, sizeof *m->parts);
    if (!m->parts) {
        no_memory(m);
        return;
    }
    for (int l = 0; l < d->layer_count; ++l) take_role(m, l);
    for (int k = 0; k < d->level_count; ++k)
        for (int l = 0; l < d->layer_count && m->result == TH_OK; ++l) {
            const char *at = levels_of(&d->layers[l], rule_of(m, &d->layers[l]));
            size_t length = at ? strcspn(at, "@") : 0;
            if (m->parts[l].role == ROLE_IGNORED || strlen(d->levels[k].name) != length ||
                strncmp(d->levels[k].name, at, length) != 0)
                continue;
            level_named(m, at, length);
            break;
        }
    for (int l = 0; l < d->layer_count && m->result == TH_OK; ++l) take_layer_levels(m, l);
}

static double height_of(const importer *m, int level) {
    for (int k = 0; k < m->drawing->level_count; ++k)
        if (strcmp(m->drawing->levels[k].name, m->levels[level]) == 0)
            return round(m->drawing->levels[k].z * 1e4) / 1e4;
    return 3.0 * level;
}

// ---- paths in metres

// A hatch is ground, an obstacle or a place of people; in walls it only shows what they are made of.
static layer_part part_of(const importer *m, int path) {
    const th_drawn_path *drawn = &m->drawing->paths[path];
    layer_part part = m->parts[drawn->layer];
    bool area = part.role == ROLE_GROUND || part.role == ROLE_OBSTACLES ||
                part.role == ROLE_PEOPLE || part.role == ROLE_AREAS;
    if (drawn->filled && (!area || m->doubles[path])) part.role = ROLE_IGNORED;
    return part;
}

typedef struct ring_box {
    double x0, y0, x1, y1;
    int path;
} ring_box;

static int by_west(const void *left, const void *right) {
    const ring_box *a = left, *b = right;
    return a->x0 != b->x0 ? (a->x0 > b->x0) - (a->x0 < b->x0) : a->path - b->path;
}

static bool same_ring(const importer *m, const ring_box *a, const ring_box *b) {
    const double near = 1e-3; // [m]
    return m->drawing->paths[a->path].layer == m->drawing->paths[b->path].layer &&
           fabs(a->x0 - b->x0) < near && fabs(a->y0 - b->y0) < near && fabs(a->x1 - b->x1) < near &&
           fabs(a->y1 - b->y1) < near;
}

// Notes hatches whose outline is drawn, too, and those that lie on another.
static void find_doubles(importer *m) {
    enum { LOOKED_AT = 1000 };
    const th_drawing *d = m->drawing;
    ring_box *boxes = th_arena_alloc(m->arena, (size_t)d->path_count + 1, sizeof *boxes);
    m->doubles = th_arena_alloc(m->arena, (size_t)d->path_count + 1, 1);
    if (!boxes || !m->doubles) {
        no_memory(m);
        return;
    }
    int count = 0;
    for (int k = 0; k < d->path_count; ++k) {
        ring_box box = {HUGE_VAL, HUGE_VAL, -HUGE_VAL, -HUGE_VAL, k};
        for (int i = 0; m->closed[k] && i < d->paths[k].count; ++i) {
            th_point p = m->points[d->paths[k].first + i];
            box.x0 = fmin(box.x0, p.x), box.y0 = fmin(box.y0, p.y);
            box.x1 = fmax(box.x1, p.x), box.y1 = fmax(box.y1, p.y);
        }
        if (m->closed[k]) boxes[count++] = box;
    }
    qsort(boxes, (size_t)count, sizeof *boxes, by_west);
    for (int a = 0; a < count; ++a)
        for (int b = a + 1; b < count && b <= a + LOOKED_AT && boxes[b].x0 - boxes[a].x0 < 1e-3;
             ++b) {
            int first = boxes[a].path, second = boxes[b].path;
            if (!same_ring(m, &boxes[a], &boxes[b])) continue;
            if (d->paths[second].filled && !m->doubles[first])
                m->doubles[second] = true;
            else if (d->paths[first].filled && !m->doubles[second])
                m->doubles[first] = true;
        }
}

static void to_metres(importer *m, double unit) {
    const th_drawing *d = m->drawing;
    double angle = m->settings->turn / 360.0 * 6.283185307179586, c = cos(angle), s = sin(angle);
    m->points = th_arena_alloc(m->arena, (size_t)d->point_count + 1, sizeof *m->points);
    m->closed = th_arena_alloc(m->arena, (size_t)d->path_count + 1, 1);
    m->used = th_arena_alloc(m->arena, (size_t)d->path_count + 1, 1);
    if (!m->points || !m->closed || !m->used) {
        no_memory(m);
        return;
    }
    for (int k = 0; k < d->point_count; ++k) {
        double x = d->points[k].x * unit, y = d->points[k].y * unit;
        m->points[k] =
            m->settings->turn == 0.0 ? (th_point){x, y} : (th_point){c * x - s * y, s * x + c * y};
        if (!(fabs(m->points[k].x) <= TH_COORDINATE_MAX &&
              fabs(m->points[k].y) <= TH_COORDINATE_MAX)) {
            fail(m, "a point lies off the earth; is the --unit right?");
            return;
        }
    }
    for (int k = 0; k < d->path_count; ++k) {
        const th_drawn_path *path = &d->paths[k];
        th_point a = m->points[path->first], b = m->points[path->first + path->count - 1];
        m->closed[k] = path->closed;
        if (path->closed || path->count < 4) continue;
        double apart = hypot(a.x - b.x, a.y - b.y);
        if (apart > m->settings->close) continue;
        m->points[path->first + path->count - 1] = a;
        m->closed[k] = true;
        m->rings_closed += apart > SAME;
    }
    find_doubles(m);
}

static bool is_part(const importer *m, int path, role wanted, int level) {
    layer_part part = part_of(m, path);
    return part.role == wanted && part.level == level;
}

// ---- gaps: ends of walls and doors move to what is near

typedef struct segment {
    int from, to; // points
} segment;
typedef struct snapper {
    importer *m;
    segment *list;
    int count, capacity;
    int *head, *next, *entry;
    int entry_count, entry_capacity, next_capacity;
    double cell;
} snapper;
enum { BUCKETS = 1 << 16 };

static int bucket_of(const snapper *s, double x, double y) {
    int64_t column = (int64_t)floor(x / s->cell), row = (int64_t)floor(y / s->cell);
    return (int)((uint64_t)(column * 73856093 ^ row * 19349663) & (BUCKETS - 1));
}

static void enter(snapper *s, int index, double x, double y) {
    int bucket = bucket_of(s, x, y), last = s->head[bucket];
    if (last >= 0 && s->entry[last] == index) return;
    if (!th_arena_reserve(s->m->arena, &s->entry, &s->entry_capacity, s->entry_count + 1,
                          sizeof *s->entry) ||
        !th_arena_reserve(s->m->arena, &s->next, &s->next_capacity, s->entry_count + 1,
                          sizeof *s->next)) {
        no_memory(s->m);
        return;
    }
    s->entry[s->entry_count] = index;
    s->next[s->entry_count] = last;
    s->head[bucket] = s->entry_count++;
}

static void add_segment(snapper *s, int from, int to) {
    importer *m = s->m;
    if (m->result != TH_OK) return;
    if (s->count >= SEGMENTS_MOST) {
        fail(m, "the walls have more than 400000 pieces; leave layers out");
        return;
    }
    if (!th_arena_reserve(m->arena, &s->list, &s->capacity, s->count + 1, sizeof *s->list)) {
        no_memory(m);
        return;
    }
    s->list[s->count] = (segment){from, to};
    th_point a = m->points[from], b = m->points[to];
    double steps = ceil(hypot(b.x - a.x, b.y - a.y) / (0.5 * s->cell)) + 1.0;
    for (int k = 0; k <= (int)steps && m->result == TH_OK; ++k) {
        double t = k / steps;
        enter(s, s->count, a.x + t * (b.x - a.x), a.y + t * (b.y - a.y));
    }
    ++s->count;
}

static bool joins(const importer *m, int path, int level) {
    role r = part_of(m, path).role;
    return part_of(m, path).level == level &&
           (r == ROLE_WALLS || r == ROLE_DOORS || r == ROLE_EXITS);
}

static void gather_segments(snapper *s, int level) {
    importer *m = s->m;
    const th_drawing *d = m->drawing;
    double reach = 0.0;
    for (int k = 0; k < d->path_count; ++k)
        for (int i = 1; is_part(m, k, ROLE_WALLS, level) && i < d->paths[k].count; ++i) {
            int p = d->paths[k].first + i;
            reach = fmax(reach, hypot(m->points[p].x - m->points[p - 1].x,
                                      m->points[p].y - m->points[p - 1].y));
        }
    s->cell = fmax(fmax(1.0, 2.0 * m->settings->close), reach / 2000.0);
    s->head = th_arena_alloc(m->arena, BUCKETS, sizeof *s->head);
    if (!s->head) {
        no_memory(m);
        return;
    }
    for (int b = 0; b < BUCKETS; ++b) s->head[b] = -1;
    for (int k = 0; k < d->path_count && m->result == TH_OK; ++k) {
        const th_drawn_path *path = &d->paths[k];
        if (!is_part(m, k, ROLE_WALLS, level)) continue;
        for (int i = 1; i < path->count; ++i) add_segment(s, path->first + i - 1, path->first + i);
        if (m->closed[k]) add_segment(s, path->first + path->count - 1, path->first);
    }
}

static th_point nearest_on(th_point p, th_point a, th_point b) {
    double dx = b.x - a.x, dy = b.y - a.y, length2 = dx * dx + dy * dy;
    double t = length2 > 0.0 ? ((p.x - a.x) * dx + (p.y - a.y) * dy) / length2 : 0.0;
    t = fmin(fmax(t, 0.0), 1.0);
    return (th_point){a.x + t * dx, a.y + t * dy};
}

// The nearest point of another wall, ends before middles; how far it is, or more than the tolerance.
static double nearest_wall(const snapper *s, int end, th_point *best) {
    const importer *m = s->m;
    th_point p = m->points[end];
    double least = HUGE_VAL;
    for (int side = 0; side < 9; ++side) {
        double x = p.x + (side % 3 - 1) * s->cell, y = p.y + (side / 3 - 1) * s->cell;
        for (int e = s->head[bucket_of(s, x, y)]; e >= 0; e = s->next[e]) {
            segment other = s->list[s->entry[e]];
            if (other.from == end || other.to == end) continue;
            th_point a = m->points[other.from], b = m->points[other.to];
            th_point q = nearest_on(p, a, b);
            double to_a = hypot(p.x - a.x, p.y - a.y), to_b = hypot(p.x - b.x, p.y - b.y);
            double apart = hypot(p.x - q.x, p.y - q.y);
            // An end within the tolerance is meant, though a middle be nearer.
            if (fmin(to_a, to_b) <= m->settings->close) {
                q = to_a <= to_b ? a : b;
                apart = 0.5 * fmin(to_a, to_b);
            }
            if (apart < least) {
                least = apart;
                *best = q;
            }
        }
    }
    return least;
}

static void close_end(snapper *s, int end) {
    importer *m = s->m;
    th_point p = m->points[end], q;
    double apart = nearest_wall(s, end, &q);
    if (!(apart <= m->settings->close)) return;
    apart = hypot(p.x - q.x, p.y - q.y);
    m->points[end] = q;
    if (apart <= SAME) return;
    if (m->gaps_closed++ < TOLD_MOST)
        tell(m, "  closed a gap of %.0f mm at (%.3f, %.3f)\n", 1000.0 * apart, p.x, p.y);
}

static void close_gaps(importer *m, int level) {
    snapper s = {.m = m};
    const th_drawing *d = m->drawing;
    gather_segments(&s, level);
    for (int k = 0; k < d->path_count && m->result == TH_OK; ++k) {
        const th_drawn_path *path = &d->paths[k];
        if (!joins(m, k, level) || m->closed[k] || path->is_arc) continue;
        int last = path->first + path->count - 1;
        close_end(&s, path->first);
        close_end(&s, last);
    }
}

// ---- doors

static bool near(th_point a, th_point b, double within) {
    return hypot(a.x - b.x, a.y - b.y) <= within;
}

// A leaf drawn open with the arc that it swings: the opening is from the hinge to the arc's other end.
static bool opening_of_arc(importer *m, int arc, double unit, line2 *opening) {
    const th_drawing *d = m->drawing;
    const th_drawn_path *path = &d->paths[arc];
    double angle = m->settings->turn / 360.0 * 6.283185307179586, c = cos(angle), s = sin(angle);
    double x = path->centre.x * unit, y = path->centre.y * unit;
    th_point hinge = {c * x - s * y, s * x + c * y};
    th_point ends[2] = {m->points[path->first], m->points[path->first + path->count - 1]};
    double radius = hypot(ends[0].x - hinge.x, ends[0].y - hinge.y);
    for (int k = 0; k < d->path_count; ++k) {
        const th_drawn_path *leaf = &d->paths[k];
        if (m->used[k] || leaf->is_arc || leaf->insert != path->insert ||
            part_of(m, k).role != ROLE_DOORS || part_of(m, k).level != part_of(m, arc).level)
            continue;
        for (int i = 0; i + 1 < leaf->count; ++i)
            for (int e = 0; e < 4; ++e) {
                th_point a = m->points[leaf->first + i + (e & 1)];
                th_point b = m->points[leaf->first + i + 1 - (e & 1)];
                if (!near(a, hinge, 0.1 * radius) || !near(b, ends[e >> 1], 0.1 * radius)) continue;
                m->used[k] = true;
                *opening = (line2){hinge, ends[1 - (e >> 1)]};
                return true;
            }
    }
    return false;
}

static json_t *json_point(th_point p) {
    return json_pack("[f,f]", round(p.x * 1e4) / 1e4, round(p.y * 1e4) / 1e4);
}

static json_t *json_line(line2 line) {
    return json_pack("[o,o]", json_point(line.a), json_point(line.b));
}

static json_t *json_path(const importer *m, int k, bool ring) {
    const th_drawn_path *path = &m->drawing->paths[k];
    json_t *list = json_array();
    int count = path->count;
    if (ring && near(m->points[path->first], m->points[path->first + count - 1], SAME)) --count;
    for (int i = 0; i < count; ++i)
        json_array_append_new(list, json_point(m->points[path->first + i]));
    if (!ring && m->closed[k]) json_array_append_new(list, json_point(m->points[path->first]));
    return list;
}

static void add_door(importer *m, const char *list, int level, line2 line) {
    json_t *doors = json_object_get(m->scene, list);
    char id[32];
    snprintf(id, sizeof id, "%s%zu", strcmp(list, "exits") == 0 ? "exit" : "door",
             json_array_size(doors) + 1);
    if (hypot(line.b.x - line.a.x, line.b.y - line.a.y) < 0.01) return;
    json_array_append_new(doors, json_pack("{s:s,s:s,s:o}", "id", id, "level", m->levels[level],
                                           "line", json_line(line)));
}

static void take_doors(importer *m, double unit) {
    const th_drawing *d = m->drawing;
    int odd = 0;
    for (int k = 0; k < d->path_count; ++k) {
        line2 opening;
        if (part_of(m, k).role != ROLE_DOORS || !d->paths[k].is_arc) continue;
        m->used[k] = true;
        if (opening_of_arc(m, k, unit, &opening))
            add_door(m, "doors", part_of(m, k).level, opening);
        else
            ++odd;
    }
    for (int k = 0; k < d->path_count; ++k) {
        const th_drawn_path *path = &d->paths[k];
        if (part_of(m, k).role != ROLE_DOORS || m->used[k]) continue;
        th_point a = m->points[path->first], b = m->points[path->first + path->count - 1];
        if (path->count == 2 && !near(a, b, 0.01) && near(a, b, DOOR_MOST))
            add_door(m, "doors", part_of(m, k).level, (line2){a, b});
        else
            ++odd;
    }
    if (odd > 0)
        tell(m,
             "  %d %s on layers of doors %s no opening: draw a line across it, or leaf and arc\n",
             odd, odd == 1 ? "shape" : "shapes", odd == 1 ? "is" : "are");
}

static void take_exits(importer *m) {
    const th_drawing *d = m->drawing;
    json_t *exits = json_object_get(m->scene, "exits");
    int odd = 0;
    for (int k = 0; k < d->path_count; ++k) {
        const th_drawn_path *path = &d->paths[k];
        layer_part part = part_of(m, k);
        if (part.role != ROLE_EXITS) continue;
        if (m->closed[k]) {
            char id[32];
            snprintf(id, sizeof id, "exit%zu", json_array_size(exits) + 1);
            json_array_append_new(exits,
                                  json_pack("{s:s,s:s,s:o}", "id", id, "level",
                                            m->levels[part.level], "area", json_path(m, k, true)));
        } else if (path->count == 2) {
            add_door(m, "exits", part.level,
                     (line2){m->points[path->first], m->points[path->first + 1]});
        } else {
            ++odd;
        }
    }
    for (int k = 0; k < m->settings->exit_count; ++k) {
        const double *e = m->settings->exits[k];
        add_door(m, "exits", 0, (line2){{e[0], e[1]}, {e[2], e[3]}});
    }
    if (odd > 0)
        tell(m, "  %d open lines of several pieces on layers of exits are left out\n", odd);
}

// ---- ground

typedef struct faces {
    GEOSContextHandle_t geos;
    GEOSGeometry **lines;
    int count, capacity;
} faces;

static void add_geometry_line(importer *m, faces *f, const th_point *points, int count, bool ring) {
    int all = count + (ring ? 1 : 0);
    if (m->result != TH_OK || count < 2) return;
    if (!th_arena_reserve(m->arena, &f->lines, &f->capacity, f->count + 1, sizeof *f->lines)) {
        no_memory(m);
        return;
    }
    GEOSCoordSequence *list = GEOSCoordSeq_create_r(f->geos, (unsigned)all, 2);
    for (int i = 0; list && i < all; ++i) {
        GEOSCoordSeq_setX_r(f->geos, list, (unsigned)i, points[i % count].x);
        GEOSCoordSeq_setY_r(f->geos, list, (unsigned)i, points[i % count].y);
    }
    GEOSGeometry *line = list ? GEOSGeom_createLineString_r(f->geos, list) : NULL;
    if (line) f->lines[f->count++] = line;
}

static void add_path_line(importer *m, faces *f, int k) {
    const th_drawn_path *path = &m->drawing->paths[k];
    add_geometry_line(m, f, m->points + path->first, path->count, m->closed[k]);
}

static void add_list_lines(importer *m, faces *f, const char *list, const char *level) {
    size_t k;
    json_t *value;
    json_array_foreach(json_object_get(m->scene, list), k, value) {
        json_t *line = json_object_get(value, "line");
        if (!line || strcmp(json_string_value(json_object_get(value, "level")), level) != 0)
            continue;
        th_point points[2];
        for (size_t i = 0; i < 2; ++i)
            points[i] = (th_point){json_number_value(json_array_get(json_array_get(line, i), 0)),
                                   json_number_value(json_array_get(json_array_get(line, i), 1))};
        add_geometry_line(m, f, points, 2, false);
    }
}

// All lines cut at each other. Ends that lie on a line but for rounding are on it.
static GEOSGeometry *noded(faces *f, int first) {
    GEOSGeometry **lines = f->count > first ? f->lines + first : NULL;
    GEOSGeometry *all = GEOSGeom_createCollection_r(f->geos, GEOS_MULTILINESTRING, lines,
                                                    (unsigned)(f->count - first));
    if (!all) return NULL;
    f->count = first; // they belong to the collection
    GEOSGeometry *cut = GEOSUnaryUnionPrec_r(f->geos, all, GRID);
    GEOSGeom_destroy_r(f->geos, all);
    return cut;
}

static bool is_thin(faces *f, const GEOSGeometry *face) {
    GEOSGeometry *inner = GEOSBuffer_r(f->geos, face, -0.5 * BODY, 4);
    bool thin = !inner || GEOSisEmpty_r(f->geos, inner) == 1;
    GEOSGeom_destroy_r(f->geos, inner);
    return thin;
}

static bool has_opening(faces *f, const GEOSGeometry *face, const GEOSGeometry *openings) {
    const double enough =
        0.1; // [m] of an opening on the face's edge, or of the top of stairs in it
    const double hair = 0.005; // [m] where walls cut an opening its pieces need not lie on the edge
    GEOSGeometry *wide = GEOSBuffer_r(f->geos, face, hair, 2);
    GEOSGeometry *common = wide ? GEOSIntersection_r(f->geos, wide, openings) : NULL;
    double length = 0.0;
    if (common) GEOSLength_r(f->geos, common, &length);
    GEOSGeom_destroy_r(f->geos, wide);
    GEOSGeom_destroy_r(f->geos, common);
    return length >= enough;
}

static bool is_stairs_from(const importer *m, int k, int level) {
    return is_part(m, k, ROLE_STAIRS, level) && m->closed[k];
}

// Doors, exits and stairs that begin here, gathered from `first` on, without the tops of these stairs, which lead to the level
// above; and the tops of stairs that end here.
static GEOSGeometry *ways_in(importer *m, faces *f, int first, int level) {
    const th_drawing *d = m->drawing;
    GEOSGeometry *here = noded(f, first);
    for (int k = 0; k < d->path_count; ++k)
        if (is_part(m, k, ROLE_STAIRS_TOP, level)) add_path_line(m, f, k);
    GEOSGeometry *tops = here ? noded(f, first) : NULL;
    GEOSGeometry *wide = tops ? GEOSBuffer_r(f->geos, tops, 0.01, 2) : NULL;
    GEOSGeometry *rest = wide ? GEOSDifference_r(f->geos, here, wide) : NULL;
    for (int k = 0; k < d->path_count; ++k)
        if (part_of(m, k).role == ROLE_STAIRS_TOP && part_of(m, k).to == level)
            add_path_line(m, f, k);
    GEOSGeometry *above = rest ? noded(f, first) : NULL;
    GEOSGeometry *all = above ? GEOSUnion_r(f->geos, rest, above) : NULL;
    GEOSGeom_destroy_r(f->geos, here);
    GEOSGeom_destroy_r(f->geos, tops);
    GEOSGeom_destroy_r(f->geos, wide);
    GEOSGeom_destroy_r(f->geos, rest);
    GEOSGeom_destroy_r(f->geos, above);
    return all;
}

static void append_shapes(importer *m, faces *f, const GEOSGeometry *shape, json_t *list) {
    for (int k = 0; k < GEOSGetNumGeometries_r(f->geos, shape); ++k) {
        const GEOSGeometry *one = GEOSGetGeometryN_r(f->geos, shape, k);
        if (GEOSGeomTypeId_r(f->geos, one) != GEOS_POLYGON) continue;
        GEOSWKTWriter *writer = GEOSWKTWriter_create_r(f->geos);
        if (!writer) continue;
        GEOSWKTWriter_setTrim_r(f->geos, writer, 1);
        GEOSWKTWriter_setRoundingPrecision_r(f->geos, writer, 4);
        char *text = GEOSWKTWriter_write_r(f->geos, writer, one);
        if (text) json_array_append_new(list, json_string(text));
        if (text) GEOSFree_r(f->geos, text);
        GEOSWKTWriter_destroy_r(f->geos, writer);
    }
    (void)m;
}

static GEOSGeometry *polygons_of(faces *f, int first) {
    GEOSGeometry *cut = noded(f, first);
    const GEOSGeometry *list[1] = {cut};
    GEOSGeometry *all = cut ? GEOSPolygonize_r(f->geos, list, 1) : NULL;
    GEOSGeom_destroy_r(f->geos, cut);
    return all;
}

static bool is_outer(faces *f, const GEOSGeometry *inside, const json_t *door) {
    const json_t *line = json_object_get(door, "line");
    double middle[2];
    for (size_t i = 0; i < 2; ++i)
        middle[i] = 0.5 * (json_number_value(json_array_get(json_array_get(line, 0), i)) +
                           json_number_value(json_array_get(json_array_get(line, 1), i)));
    GEOSGeometry *point = GEOSGeom_createPointFromXY_r(f->geos, middle[0], middle[1]);
    GEOSGeometry *around = point ? GEOSBuffer_r(f->geos, point, 0.05, 4) : NULL;
    bool outer = around && GEOSContains_r(f->geos, inside, around) == 0 &&
                 GEOSIntersects_r(f->geos, inside, around) == 1;
    GEOSGeom_destroy_r(f->geos, around);
    GEOSGeom_destroy_r(f->geos, point);
    return outer;
}

// Doors with a face on one side only.
static void note_outer_doors(importer *m, faces *f, const GEOSGeometry *all, int level) {
    GEOSGeometry *inside = GEOSUnaryUnion_r(f->geos, all);
    size_t k;
    json_t *door;
    json_array_foreach(json_object_get(m->scene, "doors"), k, door) {
        const char *on = json_string_value(json_object_get(door, "level"));
        if (inside && on && strcmp(on, m->levels[level]) == 0 && is_outer(f, inside, door))
            json_array_append(m->outer, door);
    }
    GEOSGeom_destroy_r(f->geos, inside);
}

// Where no exits are drawn, doors that lead out of the lowest level that has such become exits.
static void take_outer_doors(importer *m) {
    json_t *doors = json_object_get(m->scene, "doors"), *exits = json_object_get(m->scene, "exits");
    const json_t *first = json_array_get(m->outer, 0);
    if (!first || json_array_size(exits) > 0) return;
    const char *level = json_string_value(json_object_get(first, "level"));
    size_t k;
    json_t *door;
    json_array_foreach(m->outer, k, door) {
        if (strcmp(json_string_value(json_object_get(door, "level")), level) != 0) break;
        for (size_t i = 0; i < json_array_size(doors); ++i)
            if (json_array_get(doors, i) == door) {
                json_array_append(exits, door);
                json_array_remove(doors, i);
            }
        char id[32];
        snprintf(id, sizeof id, "exit%zu", json_array_size(exits));
        tell(m, "  %s leads out of level %s and is taken as %s\n",
             json_string_value(json_object_get(door, "id")), level, id);
        json_object_set_new(door, "id", json_string(id));
    }
}

// The rooms that walls, doors and exits enclose. Faces that are narrow are the insides of walls; those without a door or an
// exit are solid, too, as no agent can enter.
static void find_rooms(importer *m, faces *f, int level, json_t *walkable) {
    const th_drawing *d = m->drawing;
    for (int k = 0; k < d->path_count; ++k)
        if (is_part(m, k, ROLE_WALLS, level)) add_path_line(m, f, k);
    int first = f->count;
    for (int pass = 0; pass < 2;
         ++pass) { // once to cut the walls, once to know where the openings are
        add_list_lines(m, f, "doors", m->levels[level]);
        add_list_lines(m, f, "exits", m->levels[level]);
        for (int k = 0; k < d->path_count; ++k)
            if (is_stairs_from(m, k, level)) add_path_line(m, f, k);
        if (pass == 0) first = f->count;
    }
    GEOSGeometry *openings = ways_in(m, f, first, level), *all = polygons_of(f, 0);
    if (!openings || !all) {
        no_memory(m);
    } else {
        GEOSGeometry *rooms = NULL;
        for (int k = 0; k < GEOSGetNumGeometries_r(f->geos, all); ++k) {
            const GEOSGeometry *face = GEOSGetGeometryN_r(f->geos, all, k);
            bool thin = is_thin(f, face), shut = !thin && !has_opening(f, face, openings);
            m->faces_thin += thin;
            m->faces_shut += shut;
            if (thin || shut) continue;
            GEOSGeometry *more =
                rooms ? GEOSUnion_r(f->geos, rooms, face) : GEOSGeom_clone_r(f->geos, face);
            GEOSGeom_destroy_r(f->geos, rooms);
            rooms = more;
        }
        note_outer_doors(m, f, all, level);
        if (rooms) GEOSNormalize_r(f->geos, rooms);
        if (rooms) append_shapes(m, f, rooms, walkable);
        GEOSGeom_destroy_r(f->geos, rooms);
    }
    GEOSGeom_destroy_r(f->geos, openings);
    GEOSGeom_destroy_r(f->geos, all);
}

static bool inside(const importer *m, int ring, th_point p) {
    const th_drawn_path *path = &m->drawing->paths[ring];
    bool in = false;
    for (int i = 0, j = path->count - 1; i < path->count; j = i++) {
        th_point a = m->points[path->first + j], b = m->points[path->first + i];
        if ((a.y <= p.y) != (b.y <= p.y) && a.x + (p.y - a.y) / (b.y - a.y) * (b.x - a.x) > p.x)
            in = !in;
    }
    return in;
}

// Rings in rings: the second is a hole, the third ground again. Open lines are joined to rings.
static void take_drawn(importer *m, faces *f, role wanted, int level, json_t *solid, json_t *open) {
    const th_drawing *d = m->drawing;
    int first = f->count;
    for (int k = 0; k < d->path_count; ++k) {
        if (!is_part(m, k, wanted, level)) continue;
        if (!m->closed[k]) {
            add_path_line(m, f, k);
            continue;
        }
        int depth = 0;
        for (int j = 0; j < d->path_count && solid; ++j)
            if (j != k && m->closed[j] && is_part(m, j, wanted, level))
                depth += inside(m, j, m->points[d->paths[k].first]);
        json_array_append_new(depth % 2 == 1 ? solid : open, json_path(m, k, true));
    }
    if (f->count == first) return;
    GEOSGeometry *joined = polygons_of(f, first);
    if (joined) {
        int rings = GEOSGetNumGeometries_r(f->geos, joined);
        tell(m, "  joined lines on layers of %s to %d %s\n", role_words[wanted], rings,
             rings == 1 ? "ring" : "rings");
        append_shapes(m, f, joined, open);
    }
    GEOSGeom_destroy_r(f->geos, joined);
}

// ---- levels, stairs, people

// A wall of two points that is there already, either way round.
static bool is_double(importer *m, line2 *seen, int count, line2 line) {
    for (int k = 0; k < count && k < 20000; ++k)
        if ((near(seen[k].a, line.a, SAME) && near(seen[k].b, line.b, SAME)) ||
            (near(seen[k].a, line.b, SAME) && near(seen[k].b, line.a, SAME))) {
            m->doubled++;
            return true;
        }
    return false;
}

static json_t *walls_of(importer *m, int level) {
    const th_drawing *d = m->drawing;
    json_t *walls = json_array();
    line2 *seen = th_arena_alloc(m->arena, (size_t)d->path_count + 1, sizeof *seen);
    int count = 0;
    for (int k = 0; k < d->path_count && seen; ++k) {
        const th_drawn_path *path = &d->paths[k];
        if (!is_part(m, k, ROLE_WALLS, level)) continue;
        line2 line = {m->points[path->first], m->points[path->first + path->count - 1]};
        if (path->count == 2 && (near(line.a, line.b, SAME) || is_double(m, seen, count, line)))
            continue;
        if (path->count == 2) seen[count++] = line;
        json_array_append_new(walls, json_path(m, k, false));
    }
    return walls;
}

static json_t *json_box(double x0, double y0, double x1, double y1) {
    return json_pack("{s:[f,f,f,f]}", "rect", round(x0 * 1e3) / 1e3, round(y0 * 1e3) / 1e3,
                     round(x1 * 1e3) / 1e3, round(y1 * 1e3) / 1e3);
}

// A map's ground is the --area, or else a box around what is taken of it; without exits people leave over its edges.
static void take_open_ground(importer *m, int level, json_t *walkable) {
    const double edge = 2.0; // [m] depth of the exits along the edges
    const th_drawing *d = m->drawing;
    double box[4] = {HUGE_VAL, HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    for (int k = 0; k < d->path_count; ++k)
        for (int i = 0; part_of(m, k).level == level && i < d->paths[k].count; ++i) {
            th_point p = m->points[d->paths[k].first + i];
            box[0] = fmin(box[0], p.x), box[1] = fmin(box[1], p.y);
            box[2] = fmax(box[2], p.x), box[3] = fmax(box[3], p.y);
        }
    if (m->settings->has_area) memcpy(box, m->settings->area, sizeof box);
    if (!(box[2] - box[0] > 2.0 * edge && box[3] - box[1] > 2.0 * edge)) return;
    json_array_append_new(walkable, json_box(box[0], box[1], box[2], box[3]));
    tell(m, "  level %s: the ground is the box from (%.1f, %.1f) to (%.1f, %.1f)\n",
         m->levels[level], box[0], box[1], box[2], box[3]);
    json_t *exits = json_object_get(m->scene, "exits");
    if (json_array_size(exits) > 0) return;
    const struct {
        const char *id;
        double area[4];
    } sides[] = {{"north", {box[0], box[3] - edge, box[2], box[3]}},
                 {"east", {box[2] - edge, box[1], box[2], box[3]}},
                 {"south", {box[0], box[1], box[2], box[1] + edge}},
                 {"west", {box[0], box[1], box[0] + edge, box[3]}}};
    for (int k = 0; k < 4; ++k) {
        const double *a = sides[k].area;
        json_array_append_new(exits, json_pack("{s:s,s:s,s:o}", "id", sides[k].id, "level",
                                               m->levels[level], "area",
                                               json_box(a[0], a[1], a[2], a[3])));
    }
    tell(m, "  no exits: people leave over the edges, north, east, south and west\n");
}

static void take_level(importer *m, int level) {
    th_geometry geometry = {.arena = m->arena};
    if (!th_geometry_open(&geometry)) {
        no_memory(m);
        return;
    }
    faces f = {.geos = geometry.geos};
    json_t *walkable = json_array(), *obstacles = json_array();
    take_drawn(m, &f, ROLE_GROUND, level, obstacles, walkable);
    take_drawn(m, &f, ROLE_OBSTACLES, level, NULL, obstacles);
    if (json_array_size(walkable) == 0 && m->drawing->outdoors) {
        take_open_ground(m, level, walkable);
    } else if (json_array_size(walkable) == 0 && m->result == TH_OK) {
        find_rooms(m, &f, level, walkable);
        if (json_array_size(walkable) > 0)
            tell(m, "  level %s: no ground is drawn; it is what walls, doors and exits enclose\n",
                 m->levels[level]);
    }
    while (f.count > 0) GEOSGeom_destroy_r(f.geos, f.lines[--f.count]);
    th_geometry_close(&geometry);
    if (json_array_size(walkable) == 0 && m->result == TH_OK)
        m->result = th_fail(
            m->error, TH_BAD_SCENE, "",
            "level %s has no ground: its walls, doors and exits enclose no room with a way in or "
            "out. Close larger gaps (--close), add exits (--exit x0,y0,x1,y1), or map a layer of "
            "closed outlines (--layer NAME=ground)",
            m->levels[level]);
    json_t *one = json_pack("{s:s,s:f,s:o}", "id", m->levels[level], "z", height_of(m, level),
                            "walkable", walkable);
    if (json_array_size(obstacles) > 0)
        json_object_set_new(one, "obstacles", obstacles);
    else
        json_decref(obstacles);
    json_t *walls = walls_of(m, level);
    if (json_array_size(walls) > 0)
        json_object_set_new(one, "walls", walls);
    else
        json_decref(walls);
    json_array_append_new(json_object_get(m->scene, "levels"), one);
}

// The line on stairs_top that is nearest to the middle of the area.
static int top_of(const importer *m, int stairs) {
    const th_drawing *d = m->drawing;
    layer_part part = part_of(m, stairs);
    int best = -1;
    double least = HUGE_VAL;
    for (int k = 0; k < d->path_count; ++k) {
        layer_part other = part_of(m, k);
        if (other.role != ROLE_STAIRS_TOP || other.level != part.level || other.to != part.to ||
            d->paths[k].count != 2)
            continue;
        th_point a = m->points[d->paths[k].first], b = m->points[d->paths[k].first + 1];
        th_point middle = {0.5 * (a.x + b.x), 0.5 * (a.y + b.y)};
        const th_drawn_path *ring = &d->paths[stairs];
        for (int i = 0; i < ring->count; ++i) {
            th_point q = nearest_on(middle, m->points[ring->first + i],
                                    m->points[ring->first + (i + 1) % ring->count]);
            double apart = hypot(q.x - middle.x, q.y - middle.y);
            if (apart < least) {
                least = apart;
                best = k;
            }
        }
    }
    return best;
}

static void take_stairs(importer *m) {
    const th_drawing *d = m->drawing;
    json_t *list = json_array();
    for (int k = 0; k < d->path_count && m->result == TH_OK; ++k) {
        layer_part part = part_of(m, k);
        if (part.role != ROLE_STAIRS || !m->closed[k]) continue;
        int top = part.to >= 0 ? top_of(m, k) : -1;
        if (top < 0) {
            tell(m,
                 "  stairs at line %d are left out: name both levels, stairs@lower@upper, and "
                 "draw their upper edge on a layer stairs_top@lower@upper\n",
                 d->paths[k].line);
            continue;
        }
        char id[32];
        snprintf(id, sizeof id, "stairs%zu", json_array_size(list) + 1);
        line2 edge = {m->points[d->paths[top].first], m->points[d->paths[top].first + 1]};
        json_array_append_new(list,
                              json_pack("{s:s,s:s,s:s,s:o,s:o}", "id", id, "level",
                                        m->levels[part.level], "to", m->levels[part.to], "area",
                                        json_path(m, k, true), "top", json_line(edge)));
    }
    if (json_array_size(list) > 0)
        json_object_set_new(m->scene, "stairs", list);
    else
        json_decref(list);
}

static double area_of(const importer *m, int ring) {
    const th_drawn_path *path = &m->drawing->paths[ring];
    double twice = 0.0;
    for (int i = 0, j = path->count - 1; i < path->count; j = i++) {
        th_point a = m->points[path->first + j], b = m->points[path->first + i];
        twice += a.x * b.y - b.x * a.y;
    }
    return 0.5 * fabs(twice);
}

// The people of --people in the areas drawn for them, by size, or else spread over the levels.
static void take_people(importer *m) {
    const th_drawing *d = m->drawing;
    json_t *groups = json_array();
    int left = m->settings->people;
    double total = 0.0;
    for (int k = 0; k < d->path_count; ++k)
        if (part_of(m, k).role == ROLE_PEOPLE && m->closed[k]) total += area_of(m, k);
    double size = total;
    for (int k = 0; k < d->path_count; ++k) {
        if (part_of(m, k).role != ROLE_PEOPLE || !m->closed[k] || !(size > 0.0)) continue;
        int count = (int)floor((double)left * area_of(m, k) / size + 0.5);
        size -= area_of(m, k);
        left -= count;
        json_array_append_new(groups,
                              json_pack("{s:s,s:o,s:i}", "level", m->levels[part_of(m, k).level],
                                        "area", json_path(m, k, true), "count", count));
    }
    for (int l = 0; l < m->level_count && total == 0.0 && m->settings->people > 0; ++l) {
        int count = left / (m->level_count - l);
        left -= count;
        json_array_append_new(groups,
                              json_pack("{s:s,s:i}", "level", m->levels[l], "count", count));
    }
    json_object_set_new(m->scene, "groups", groups);
}

static bool has_id(const json_t *list, const char *id) {
    for (size_t k = 0; k < json_array_size(list); ++k) {
        const char *other = json_string_value(json_object_get(json_array_get(list, k), "id"));
        if (other && strcmp(other, id) == 0) return true;
    }
    return false;
}

// Rooms and other outlines to be measured in, by their names.
static void take_areas(importer *m) {
    enum { AREAS_MOST = 200 };
    const th_drawing *d = m->drawing;
    json_t *list = json_array();
    int left_out = 0;
    for (int k = 0; k < d->path_count; ++k) {
        layer_part part = part_of(m, k);
        if (part.role != ROLE_AREAS || !m->closed[k]) continue;
        if (json_array_size(list) == AREAS_MOST) {
            ++left_out;
            continue;
        }
        const char *name = d->paths[k].name;
        char id[100];
        snprintf(id, sizeof id, "%.80s", name ? name : "area 1");
        for (int n = 2; has_id(list, id); ++n)
            snprintf(id, sizeof id, "%.80s %d", name ? name : "area", n);
        json_array_append_new(list,
                              json_pack("{s:s,s:s,s:o}", "id", id, "level", m->levels[part.level],
                                        "area", json_path(m, k, true)));
    }
    if (json_array_size(list) > 0) {
        tell(m, "  %zu areas to measure density and speed in\n", json_array_size(list));
        json_object_set_new(m->scene, "measure", json_pack("{s:O}", "areas", list));
    }
    if (left_out > 0) tell(m, "  %d more areas than 200 are left out\n", left_out);
    json_decref(list);
}

// ---- what is told and kept

static const char *unit_name(double unit) {
    static const char *const names[] = {"mm", "cm", "dm", "m", "km", "in", "ft", "yd"};
    for (size_t k = 0; k < sizeof names / sizeof *names; ++k)
        if (th_unit_of(names[k]) == unit) return names[k];
    return NULL;
}

static json_t *recipe_of(const importer *m, double unit) {
    json_t *layers = json_object();
    for (int l = 0; l < m->drawing->layer_count; ++l) {
        const layer_part *part = &m->parts[l];
        if (m->drawing->layers[l].paths == 0) continue;
        char text[200];
        const char *level = part->level >= 0 ? m->levels[part->level] : NULL;
        snprintf(text, sizeof text, "%s%s%s%s%s", role_words[part->role], level ? "@" : "",
                 level ? level : "", part->to >= 0 ? "@" : "",
                 part->to >= 0 ? m->levels[part->to] : "");
        json_object_set_new(layers, m->drawing->layers[l].name, json_string(text));
    }
    json_t *recipe =
        json_pack("{s:s,s:f,s:f,s:o}", "file", m->settings->file ? m->settings->file : "", "close",
                  m->settings->close, "turn", m->settings->turn, "layers", layers);
    if (unit_name(unit)) json_object_set_new(recipe, "unit", json_string(unit_name(unit)));
    if (m->drawing->has_origin)
        json_object_set_new(recipe, "origin",
                            json_pack("[f,f]", m->drawing->origin.x, m->drawing->origin.y));
    if (m->settings->has_area) {
        const double *a = m->settings->area;
        json_object_set_new(recipe, "area", json_pack("[f,f,f,f]", a[0], a[1], a[2], a[3]));
    }
    return recipe;
}

static void tell_layers(importer *m, double unit) {
    const th_drawing *d = m->drawing;
    double low_x = HUGE_VAL, low_y = HUGE_VAL, high_x = -HUGE_VAL, high_y = -HUGE_VAL;
    for (int k = 0; k < d->path_count; ++k) {
        if (part_of(m, k).role == ROLE_IGNORED) continue;
        for (int i = 0; i < d->paths[k].count; ++i) {
            th_point p = m->points[d->paths[k].first + i];
            low_x = fmin(low_x, p.x), high_x = fmax(high_x, p.x);
            low_y = fmin(low_y, p.y), high_y = fmax(high_y, p.y);
        }
    }
    tell(m, "%s: unit %g m%s%s, turned by %g degrees; %.2f x %.2f m\n",
         m->settings->file ? m->settings->file : "drawing", unit, unit_name(unit) ? " = 1 " : "",
         unit_name(unit) ? unit_name(unit) : "", m->settings->turn, fmax(0.0, high_x - low_x),
         fmax(0.0, high_y - low_y));
    tell(m, "  %-40s %8s  %s\n", "layer", "shapes", "taken as");
    for (int l = 0; l < d->layer_count; ++l) {
        const layer_part *part = &m->parts[l];
        if (d->layers[l].paths == 0) continue;
        tell(m, "  %-40.60s %8d  %s%s%s%s%s%s\n", d->layers[l].name, d->layers[l].paths,
             part->role == ROLE_IGNORED ? "nothing" : role_words[part->role],
             part->level >= 0 ? " on " : "", part->level >= 0 ? m->levels[part->level] : "",
             part->to >= 0 ? " up to " : "", part->to >= 0 ? m->levels[part->to] : "",
             d->layers[l].hidden ? " (frozen or off)" : "");
    }
    for (int k = 0; k < d->left_out_count; ++k)
        tell(m, "  %-40.60s %8d  left out\n", d->left_out[k].name, d->left_out[k].count);
}

static void tell_rest(importer *m) {
    if (m->gaps_closed > TOLD_MOST)
        tell(m, "  and %d more gaps up to %.0f mm\n", m->gaps_closed - TOLD_MOST,
             1000.0 * m->settings->close);
    if (m->rings_closed > 0)
        tell(m, "  %d outlines whose ends nearly met are closed\n", m->rings_closed);
    int hatches = 0;
    for (int k = 0; k < m->drawing->path_count; ++k)
        hatches += m->drawing->paths[k].filled && part_of(m, k).role == ROLE_IGNORED;
    if (hatches > 0)
        tell(m, "  %d hatches are left out: in walls, drawn as outlines, or on layers not taken\n",
             hatches);
    if (m->doubled > 0) tell(m, "  %d walls drawn twice are taken once\n", m->doubled);
    if (m->faces_thin > 0)
        tell(m, "  %d faces narrower than %.1f m are the insides of walls\n", m->faces_thin, BODY);
    if (m->faces_shut > 0)
        tell(m, "  %d rooms without door or exit are taken as solid\n", m->faces_shut);
    size_t exits = json_array_size(json_object_get(m->scene, "exits"));
    tell(m, "  %d %s, %zu doors, %zu exits, %d people\n", m->level_count,
         m->level_count == 1 ? "level" : "levels",
         json_array_size(json_object_get(m->scene, "doors")), exits, m->settings->people);
    if (exits == 0) tell(m, "  no exits: give --layer NAME=exits, or --exit x0,y0,x1,y1\n");
}

static double unit_in_force(importer *m) {
    double unit = m->settings->unit > 0.0 ? m->settings->unit : m->drawing->unit;
    if (unit > 0.0) return unit;
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (int k = 0; k < m->drawing->point_count; ++k) {
        low = fmin(low, m->drawing->points[k].x);
        high = fmax(high, m->drawing->points[k].x);
    }
    m->result = th_fail(m->error, TH_BAD_SCENE, "",
                        "the drawing names no unit ($INSUNITS); it is %g units wide. Give --unit "
                        "mm, cm, m, in or ft",
                        high > low ? high - low : 0.0);
    return 1.0;
}

static void import(importer *m) {
    double unit = unit_in_force(m);
    if (m->result == TH_OK) take_layers(m);
    if (m->result == TH_OK) to_metres(m, unit);
    if (m->result != TH_OK) return;
    tell_layers(m, unit);
    if (m->level_count == 0) {
        fail(m, "no layer is known as walls, ground, doors or exits; say which is what with "
                "--layer NAME=walls, `throng import --help` lists the parts");
        return;
    }
    m->scene = json_pack("{s:s,s:o,s:[],s:[],s:[]}", "name",
                         m->settings->name ? m->settings->name : "drawing", "import",
                         recipe_of(m, unit), "levels", "doors", "exits");
    if (!m->scene) {
        fail(m, "the drawing's name is not UTF-8");
        return;
    }
    for (int l = 0; l < m->level_count && m->result == TH_OK; ++l) close_gaps(m, l);
    if (m->result != TH_OK) return;
    take_doors(m, unit);
    take_exits(m);
    for (int l = 0; l < m->level_count && m->result == TH_OK; ++l) take_level(m, l);
    if (m->result != TH_OK) return;
    take_outer_doors(m);
    take_stairs(m);
    take_areas(m);
    take_people(m);
    tell_rest(m);
}

json_t *th_plan_import(const th_drawing *drawing, const th_import_settings *settings,
                       const char **told, th_error *error) {
    importer m = {.drawing = drawing,
                  .settings = settings,
                  .arena = drawing->arena,
                  .error = error,
                  .outer = json_array()};
    import(&m);
    json_decref(m.outer);
    *told = m.told ? m.told : "";
    if (m.result == TH_OK) return m.scene;
    json_decref(m.scene);
    return NULL;
}

json_t *th_plan_recipe(const th_drawing *drawing, const th_import_settings *settings) {
    th_error error = {0};
    importer m = {
        .drawing = drawing, .settings = settings, .arena = drawing->arena, .error = &error};
    take_layers(&m);
    return m.result == TH_OK ? recipe_of(&m, settings->unit > 0.0 ? settings->unit : drawing->unit)
                             : NULL;
}
