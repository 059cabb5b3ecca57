// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "studio/studio.h"
#include "throng/model.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- reading

// Comments become blanks, so that lines and columns stay; commas before a closing bracket too.
static void blank_comments(char *text) {
    bool quoted = false;
    for (char *c = text; *c; ++c) {
        if (quoted) {
            if (*c == '\\' && c[1])
                ++c;
            else if (*c == '"')
                quoted = false;
        } else if (*c == '"') {
            quoted = true;
        } else if (*c == '/' && c[1] == '/') {
            while (*c && *c != '\n') *c++ = ' ';
            if (!*c) return;
        } else if (*c == '/' && c[1] == '*') {
            while (*c && !(*c == '*' && c[1] == '/')) {
                if (*c != '\n') *c = ' ';
                ++c;
            }
            if (!*c) return;
            c[0] = c[1] = ' ';
        }
    }
}

static bool is_number_pair(const json_t *value) {
    return json_is_array(value) && json_is_number(json_array_get(value, 0));
}

// One shape or a list of them: a ring of points is one, although an array.
static void make_list(json_t *level, const char *key) {
    json_t *given = json_object_get(level, key);
    if (!given) return;
    bool is_list = json_is_array(given) && !is_number_pair(json_array_get(given, 0));
    if (is_list) return;
    json_t *list = json_array();
    json_array_append(list, given);
    json_object_set_new(level, key, list);
}

// The lists of a document: where they are, what their elements are called, and whether these have ids. Goals share one set of
// ids. After these come the sections that models declare.
typedef struct list_kind {
    const char *what, *stem;
    bool in_measure, in_level, has_id, is_goal;
} list_kind;
static const list_kind kinds[] = {
    {"levels", "level", false, false, true, false},
    {"stairs", "stairs", false, false, true, false},
    {"zones", "zone", false, false, true, false},
    {"pictures", "picture", false, false, true, false},
    {"underlays", "underlay", false, false, true, false},
    {"doors", "door", false, false, true, false},
    {"exits", "exit", false, false, true, true},
    {"waypoints", "waypoint", false, false, true, true},
    {"waiting_areas", "waiting", false, false, true, true},
    {"groups", "group", false, false, true, false},
    {"scripted", "scripted", false, false, true, false},
    {"lines", "line", true, false, true, false},
    {"areas", "area", true, false, true, false},
    {"walkable", "", false, true, false, false},
    {"obstacles", "", false, true, false, false},
    {"walls", "", false, true, false, false},
};
enum { KINDS = sizeof kinds / sizeof kinds[0], KINDS_MAX = KINDS + 64 };

// The k-th list; false: there are no more.
static bool kind_at(int k, list_kind *kind) {
    int count;
    const th_model *const *models = th_models(&count);
    if (k < KINDS) {
        *kind = kinds[k];
        return true;
    }
    k -= KINDS;
    for (int m = 0; m < count; k -= models[m++]->section_count) {
        if (k >= models[m]->section_count) continue;
        const th_section_info *info = &models[m]->sections[k];
        *kind = (list_kind){info->name, info->item, false, false, true, info->detours};
        return true;
    }
    return false;
}

static json_t *find_list(json_t *document, const list_kind *kind) {
    json_t *parent = kind->in_measure ? json_object_get(document, "measure") : document;
    return json_object_get(parent, kind->what);
}

static bool id_is_taken(json_t *document, const list_kind *kind, const char *id) {
    list_kind other_kind;
    for (int k = 0; kind_at(k, &other_kind); ++k) {
        bool same = strcmp(other_kind.what, kind->what) == 0;
        if (!same && !(kind->is_goal && other_kind.is_goal)) continue;
        json_t *list = find_list(document, &other_kind);
        for (size_t i = 0; i < json_array_size(list); ++i) {
            const char *other = json_string_value(json_object_get(json_array_get(list, i), "id"));
            if (other && strcmp(other, id) == 0) return true;
        }
    }
    return false;
}

static void give_id(json_t *document, const list_kind *kind, json_t *element, size_t number) {
    char id[64];
    if (!json_is_object(element) || json_object_get(element, "id")) return;
    for (size_t n = number + 1;; ++n) {
        snprintf(id, sizeof id, "%s_%zu", kind->stem, n);
        if (!id_is_taken(document, kind, id)) break;
    }
    json_object_set_new(element, "id", json_string(id));
}

static void normalise(json_t *document) {
    json_t *levels = json_object_get(document, "levels");
    if (!levels || (json_is_array(levels) && json_array_size(levels) == 0)) {
        levels = json_array();
        json_array_append_new(levels, json_pack("{s:s}", "id", "ground"));
        json_object_set_new(document, "levels", levels);
    } else if (json_array_size(levels) == 1 && !json_object_get(json_array_get(levels, 0), "id") &&
               json_is_object(json_array_get(levels, 0))) {
        json_object_set_new(json_array_get(levels, 0), "id", json_string("ground"));
    }
    list_kind kind;
    for (int k = 0; kind_at(k, &kind); ++k) {
        json_t *list = find_list(document, &kind);
        for (size_t i = 0; kind.has_id && i < json_array_size(list); ++i)
            give_id(document, &kind, json_array_get(list, i), i);
    }
    for (size_t i = 0; i < json_array_size(levels); ++i) {
        json_t *level = json_array_get(levels, i);
        make_list(level, "walkable");
        make_list(level, "obstacles");
        make_list(level, "walls");
    }
}

json_t *th_document_read(const char *text, size_t length, const char *name, th_error *error) {
    char *copy = malloc(length + 1);
    if (!copy) {
        th_fail(error, TH_NO_MEMORY, "", "no memory for a scene of %zu bytes", length);
        return NULL;
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    blank_comments(copy);
    json_error_t wrong;
    json_t *document = json_loads(copy, JSON_REJECT_DUPLICATES, &wrong);
    free(copy);
    if (json_is_object(document)) {
        normalise(document);
        return document;
    }
    if (error) {
        snprintf(error->file, sizeof error->file, "%s", name);
        error->line = document ? 1 : wrong.line;
        error->column = document ? 1 : wrong.column;
    }
    th_fail(error, TH_BAD_SCENE, "", "%s",
            document ? "a scene is a JSON object, { ... }" : wrong.text);
    json_decref(document);
    return NULL;
}

th_result th_document_compile(const json_t *document, const char *name, th_link_scope links,
                              const th_allocator *allocator, th_scene **scene, th_error *error) {
    char *text = json_dumps(document, JSON_REAL_PRECISION(15));
    if (!text) return th_fail(error, TH_NO_MEMORY, "", "no memory for the text of the scene");
    th_scene_options options = {.no_files = links.folder == NULL, .allow_links = links.anywhere};
    if (allocator) options.allocator = *allocator;
    th_result result =
        th_scene_load_json(text, strlen(text), name, links.folder, &options, scene, error);
    free(text);
    return result;
}

// ---- writing

// Values that fit on a line are written on one: points, lines, rectangles and most elements.
typedef struct written {
    char *text;
    size_t length, room;
} written;

static bool write_text(written *w, const char *text, size_t length) {
    if (w->length + length + 1 > w->room) {
        size_t room = 2 * (w->length + length) + 256;
        char *grown = realloc(w->text, room);
        if (!grown) return false;
        w->text = grown;
        w->room = room;
    }
    memcpy(w->text + w->length, text, length);
    w->length += length;
    w->text[w->length] = '\0';
    return true;
}

static bool write_line(written *w, const char *text, int depth) {
    bool done = write_text(w, "\n", 1);
    for (int k = 0; k < depth && done; ++k) done = write_text(w, "  ", 2);
    return done && write_text(w, text, strlen(text));
}

static bool write_value(written *w, const json_t *value, int depth);

static bool write_members(written *w, const json_t *value, int depth) {
    bool done = true, first = true;
    const char *name;
    json_t *member;
    size_t k;
    if (json_is_array(value)) {
        json_array_foreach(value, k, member) {
            done = done && (first || write_text(w, ",", 1)) && write_line(w, "", depth + 1) &&
                   write_value(w, member, depth + 1);
            first = false;
        }
        return done;
    }
    json_object_foreach((json_t *)value, name, member) {
        json_t *text = json_string(name);
        char *quoted = json_dumps(text, JSON_ENCODE_ANY);
        done = done && quoted && (first || write_text(w, ",", 1)) &&
               write_line(w, quoted, depth + 1) && write_text(w, ": ", 2) &&
               write_value(w, member, depth + 1);
        first = false;
        free(quoted);
        json_decref(text);
    }
    return done;
}

static bool write_value(written *w, const json_t *value, int depth) {
    enum { WIDE = 110 };
    char *line = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    if (!line) return false;
    size_t length = strlen(line);
    bool whole = !(json_is_array(value) || json_is_object(value)) ||
                 (depth > 0 && length + 2 * (size_t)depth <= WIDE);
    bool done = !whole || write_text(w, line, length);
    free(line);
    if (whole) return done;
    bool list = json_is_array(value);
    return write_text(w, list ? "[" : "{", 1) && write_members(w, value, depth) &&
           write_line(w, list ? "]" : "}", depth);
}

char *th_document_write(const json_t *document) {
    written w = {0};
    if (write_value(&w, document, 0) && write_text(&w, "\n", 1)) return w.text;
    free(w.text);
    return NULL;
}

// ---- edits

static bool find_kind(const char *what, list_kind *kind, th_error *error) {
    const char *words[KINDS_MAX];
    int count = 0;
    for (; count < KINDS_MAX && kind_at(count, kind); ++count) {
        if (what && strcmp(kind->what, what) == 0) return true;
        words[count] = kind->what;
    }
    const char *near = what ? th_nearest_word(what, words, count) : NULL;
    th_fail(error, TH_BAD_ARGUMENT, "what", "a scene has no list '%.40s'%s%s", what ? what : "",
            near ? "; did you mean " : "", near ? near : "");
    return false;
}

// -1: there is none.
static int find_element(const json_t *list, const json_t *key) {
    size_t count = json_array_size(list);
    if (json_is_integer(key)) {
        json_int_t index = json_integer_value(key);
        return index >= 0 && (size_t)index < count ? (int)index : -1;
    }
    const char *id = json_string_value(key);
    for (size_t i = 0; id && i < count; ++i) {
        const char *other = json_string_value(json_object_get(json_array_get(list, i), "id"));
        if (other && strcmp(other, id) == 0) return (int)i;
    }
    return -1;
}

// The list; with `make` it is made where it is missing.
static json_t *open_list(json_t *document, const list_kind *kind, const json_t *level, bool make,
                         th_error *error) {
    json_t *parent = document;
    if (kind->in_measure) {
        parent = json_object_get(document, "measure");
        if (!parent && make) {
            parent = json_object();
            json_object_set_new(document, "measure", parent);
        }
    } else if (kind->in_level) {
        json_t *levels = json_object_get(document, "levels");
        int l = level ? find_element(levels, level) : 0;
        parent = json_array_get(levels, (size_t)(l < 0 ? 0 : l));
        if (l < 0 || !json_is_object(parent)) {
            th_fail(error, TH_BAD_ARGUMENT, "level", "there is no such level");
            return NULL;
        }
    }
    json_t *list = json_object_get(parent, kind->what);
    if (!list && make) {
        list = json_array();
        json_object_set_new(parent, kind->what, list);
    }
    if (!json_is_array(list)) {
        th_fail(error, TH_BAD_ARGUMENT, "what", "the scene has no %s", kind->what);
        return NULL;
    }
    return list;
}

th_result th_document_add(json_t *document, const char *what, const json_t *level,
                          const json_t *value, th_document_made *made, th_error *error) {
    list_kind found, *kind = &found;
    if (!find_kind(what, kind, error)) return TH_BAD_ARGUMENT;
    if (!value || (kind->has_id && !json_is_object(value)))
        return th_fail(error, TH_BAD_ARGUMENT, "value",
                       "give the new element as a scene writes it");
    json_t *list = open_list(document, kind, level, true, error);
    if (!list) return TH_BAD_ARGUMENT;
    json_t *element = json_deep_copy(value);
    if (kind->has_id) {
        give_id(document, kind, element, json_array_size(list));
        json_t *levels = json_object_get(document, "levels");
        int l = level ? find_element(levels, level) : -1;
        bool by_level = strcmp(what, "levels") != 0 && !json_object_get(element, "level");
        json_t *id = l < 0 ? NULL : json_object_get(json_array_get(levels, (size_t)l), "id");
        if (by_level && id) json_object_set(element, "level", id);
    }
    json_array_append_new(list, element);
    if (made) {
        const char *id = kind->has_id ? json_string_value(json_object_get(element, "id")) : NULL;
        made->what = kind->what;
        made->index = (int)json_array_size(list) - 1;
        snprintf(made->id, sizeof made->id, "%s", id ? id : "");
    }
    return TH_OK;
}

static th_result find_place(json_t *document, const char *what, const json_t *level,
                            const json_t *key, json_t **list, int *index, th_error *error) {
    list_kind kind;
    if (!find_kind(what, &kind, error)) return TH_BAD_ARGUMENT;
    *list = open_list(document, &kind, level, false, error);
    if (!*list) return TH_BAD_ARGUMENT;
    *index = find_element(*list, key);
    if (*index >= 0) return TH_OK;
    return th_fail(error, TH_BAD_ARGUMENT, "key", "there is no such element of %s: it has %zu",
                   what, json_array_size(*list));
}

th_result th_document_change(json_t *document, const char *what, const json_t *level,
                             const json_t *key, const json_t *value, th_error *error) {
    json_t *list;
    int index;
    th_result result = find_place(document, what, level, key, &list, &index, error);
    if (result != TH_OK) return result;
    if (!value) return th_fail(error, TH_BAD_ARGUMENT, "value", "say what to change");
    json_t *element = json_array_get(list, (size_t)index);
    if (!json_is_object(element) || !json_is_object(value)) {
        json_array_set_new(list, (size_t)index, json_deep_copy(value));
        return TH_OK;
    }
    const char *name;
    json_t *member;
    json_object_foreach((json_t *)value, name, member) {
        if (json_is_null(member))
            json_object_del(element, name);
        else
            json_object_set_new(element, name, json_deep_copy(member));
    }
    return TH_OK;
}

th_result th_document_remove(json_t *document, const char *what, const json_t *level,
                             const json_t *key, th_error *error) {
    json_t *list;
    int index;
    th_result result = find_place(document, what, level, key, &list, &index, error);
    if (result == TH_OK) json_array_remove(list, (size_t)index);
    return result;
}

// The next part of a JSON pointer, "~1" and "~0" read; false: there is none.
static bool next_part(const char **at, char part[128]) {
    size_t length = 0;
    if (**at != '/') return false;
    for (++*at; **at && **at != '/'; ++*at) {
        char c = **at;
        if (c == '~' && ((*at)[1] == '0' || (*at)[1] == '1')) c = *++*at == '0' ? '~' : '/';
        if (length + 1 >= 128) return false;
        part[length++] = c;
    }
    part[length] = '\0';
    return true;
}

static json_t *step_into(json_t *node, const char *part) {
    if (json_is_object(node)) return json_object_get(node, part);
    char *end;
    unsigned long index = strtoul(part, &end, 10);
    return *part && !*end ? json_array_get(node, index) : NULL;
}

static bool patch_array(json_t *array, const char *part, char op, json_t *value) {
    size_t count = json_array_size(array), index = count;
    if (strcmp(part, "-") != 0) {
        char *end;
        index = strtoul(part, &end, 10);
        if (!*part || *end) return false;
    }
    if (op == 'a') return index <= count && json_array_insert_new(array, index, value) == 0;
    if (index >= count) return false;
    return op == 'r' ? json_array_set_new(array, index, value) == 0
                     : json_array_remove(array, index) == 0;
}

static bool patch_one(json_t *document, const char *path, char op, const json_t *value) {
    char part[128];
    json_t *node = document;
    if (!next_part(&path, part)) return false;
    while (*path) {
        if (!(node = step_into(node, part)) || !next_part(&path, part)) return false;
    }
    json_t *copy = op == 'd' ? NULL : json_deep_copy(value);
    if (json_is_array(node)) return patch_array(node, part, op, copy);
    if (json_is_object(node) && op != 'd') return json_object_set_new(node, part, copy) == 0;
    json_decref(copy);
    return json_is_object(node) && json_object_del(node, part) == 0;
}

th_result th_document_patch(json_t *document, const json_t *patch, th_error *error) {
    if (!json_is_array(patch) || json_array_size(patch) == 0)
        return th_fail(error, TH_BAD_ARGUMENT, "patch", "give an array of operations");
    for (size_t i = 0; i < json_array_size(patch); ++i) {
        const json_t *step = json_array_get(patch, i), *value = json_object_get(step, "value");
        const char *op = json_string_value(json_object_get(step, "op"));
        const char *path = json_string_value(json_object_get(step, "path"));
        char short_op = !op                          ? 0
                        : strcmp(op, "add") == 0     ? 'a'
                        : strcmp(op, "replace") == 0 ? 'r'
                        : strcmp(op, "remove") == 0  ? 'd'
                                                     : 0;
        if (!short_op || !path || (short_op != 'd' && !value))
            return th_fail(error, TH_BAD_ARGUMENT, "patch",
                           "operation %zu: give op (add, replace, remove), path and value", i);
        if (!patch_one(document, path, short_op, value))
            return th_fail(error, TH_BAD_ARGUMENT, "patch",
                           "operation %zu: there is no place %.100s in the scene", i, path);
    }
    normalise(document);
    return TH_OK;
}

static json_t *find_group(json_t *document, int group, th_error *error) {
    json_t *element = json_array_get(json_object_get(document, "groups"), (size_t)group);
    if (!json_is_object(element))
        th_fail(error, TH_BAD_ARGUMENT, "group", "the scene has no group %d", group);
    return json_is_object(element) ? element : NULL;
}

th_result th_document_set_model(json_t *document, int group, const char *stage, json_t *choice,
                                th_error *error) {
    json_t *element = find_group(document, group, error);
    if (!element) return TH_BAD_ARGUMENT;
    json_object_set(element, stage, choice);
    return TH_OK;
}

static const char *name_of_choice(const json_t *choice) {
    return json_string_value(json_is_object(choice) ? json_object_get(choice, "model") : choice);
}

// The choice of a model in a list of behaviours, as an object; a new one at its end where there was none.
static json_t *of_list(json_t *list, const char *model) {
    for (size_t k = 0; k < json_array_size(list); ++k) {
        json_t *one = json_array_get(list, k);
        const char *name = name_of_choice(one);
        if (!name || strcmp(name, model) != 0) continue;
        if (!json_is_object(one)) json_array_set_new(list, k, json_pack("{s:s}", "model", model));
        return json_array_get(list, k);
    }
    json_array_append_new(list, json_pack("{s:s}", "model", model));
    return json_array_get(list, json_array_size(list) - 1);
}

th_result th_document_set_behaviours(json_t *document, int group, const json_t *names,
                                     th_error *error) {
    json_t *element = find_group(document, group, error);
    if (!element) return TH_BAD_ARGUMENT;
    json_t *before = json_object_get(element, "behave"), *list = json_array();
    for (size_t k = 0; k < json_array_size(names); ++k) {
        json_t *name = json_array_get(names, k), *kept = name;
        size_t count = json_is_array(before) ? json_array_size(before) : before ? 1 : 0;
        for (size_t b = 0; b < count && json_is_string(name); ++b) {
            json_t *one = json_is_array(before) ? json_array_get(before, b) : before;
            const char *was = name_of_choice(one);
            if (was && strcmp(was, json_string_value(name)) == 0) kept = one;
        }
        json_array_append(list, kept);
    }
    json_object_set_new(element, "behave", list);
    return TH_OK;
}

th_result th_document_set_param(json_t *document, int group, const char *stage, const char *model,
                                const char *name, double value, th_error *error) {
    json_t *element = find_group(document, group, error);
    if (!element) return TH_BAD_ARGUMENT;
    json_t *choice = json_object_get(element, stage);
    if (json_is_array(choice)) {
        choice = of_list(choice, model);
    } else if (!json_is_object(choice)) {
        choice = json_pack("{s:s}", "model", model);
        json_object_set_new(element, stage, choice);
    }
    json_object_set_new(choice, name, json_real(value));
    return TH_OK;
}

// ---- new ones

json_t *th_document_empty(double width, double height) {
    double middle = 0.5 * height, half = 0.6;
    return json_pack("{s:s, s:s, s:[{s:s, s:[{s:[f,f,f,f]}]}], s:[{s:s, s:[[f,f],[f,f]]}], "
                     "s:[{s:s, s:i, s:{s:[f,f,f,f]}, "
                     "s:s}], s:{s:i}}",
                     "name", "new", "description", "An empty room.", "levels", "id", "ground",
                     "walkable", "rect", 0.0, 0.0, width, height, "exits", "id", "exit_1", "line",
                     width, middle - half, width, middle + half, "groups", "id", "group_1", "count",
                     0, "area", "rect", 0.5, 0.5, 0.5 * width, height - 0.5, "to", "exit_1", "run",
                     "max_time", 36000);
}

static void skip_blanks(const char **text) {
    while (isspace((unsigned char)**text)) ++*text;
}

// The user places exits and people: the plan alone is a scene whose people stay.
static json_t *plan_document(json_t *shape, const char *name) {
    return json_pack("{s:s, s:s, s:[{s:s, s:[o]}], s:[], s:[], s:{s:i}}", "name", name,
                     "description", "A plan without exits and people yet.", "levels", "id",
                     "ground", "walkable", shape, "exits", "groups", "run", "max_time", 36000);
}

static void append_ring(char **text, size_t *length, const json_t *ring, bool first) {
    size_t room = *length + 64 * (json_array_size(ring) + 2);
    char *grown = realloc(*text, room);
    if (!grown) return;
    *text = grown;
    *length += (size_t)snprintf(*text + *length, room - *length, "%s(", first ? "" : ", ");
    for (size_t i = 0; i < json_array_size(ring); ++i) {
        const json_t *point = json_array_get(ring, i);
        *length += (size_t)snprintf(*text + *length, room - *length, "%s%.15g %.15g", i ? ", " : "",
                                    json_number_value(json_array_get(point, 0)),
                                    json_number_value(json_array_get(point, 1)));
    }
    *length += (size_t)snprintf(*text + *length, room - *length, ")");
}

static void append_polygon(json_t *shapes, const json_t *rings) {
    char *text = malloc(64);
    if (!text) return;
    size_t length = (size_t)snprintf(text, 64, "POLYGON (");
    for (size_t r = 0; r < json_array_size(rings); ++r)
        append_ring(&text, &length, json_array_get(rings, r), r == 0);
    char *closed = realloc(text, length + 2);
    if (closed) {
        text = closed;
        memcpy(text + length, ")", 2);
        json_array_append_new(shapes, json_string(text));
    }
    free(text);
}

// Polygons of a GeoJSON tree, wherever they are.
static void collect_polygons(json_t *shapes, const json_t *node, int depth) {
    if (depth > 8 || !json_is_object(node)) return;
    const char *type = json_string_value(json_object_get(node, "type"));
    const json_t *coordinates = json_object_get(node, "coordinates");
    if (type && strcmp(type, "Polygon") == 0) append_polygon(shapes, coordinates);
    for (size_t p = 0;
         type && strcmp(type, "MultiPolygon") == 0 && p < json_array_size(coordinates); ++p)
        append_polygon(shapes, json_array_get(coordinates, p));
    collect_polygons(shapes, json_object_get(node, "geometry"), depth + 1);
    static const char *const lists[] = {"features", "geometries"};
    for (int k = 0; k < 2; ++k) {
        const json_t *list = json_object_get(node, lists[k]);
        for (size_t i = 0; i < json_array_size(list); ++i)
            collect_polygons(shapes, json_array_get(list, i), depth + 1);
    }
}

json_t *th_document_of_plan(const char *text, const char *name) {
    skip_blanks(&text);
    static const char *const words[] = {"POLYGON", "MULTIPOLYGON", "GEOMETRYCOLLECTION"};
    for (int k = 0; k < 3; ++k)
        if (strncasecmp(text, words[k], strlen(words[k])) == 0)
            return plan_document(json_string(text), name);
    json_t *tree = json_loads(text, 0, NULL);
    const char *type = json_string_value(json_object_get(tree, "type"));
    json_t *document = NULL;
    if (type) {
        json_t *shapes = json_array();
        collect_polygons(shapes, tree, 0);
        document = plan_document(json_null(), name);
        json_object_set_new(json_array_get(json_object_get(document, "levels"), 0), "walkable",
                            shapes);
    }
    json_decref(tree);
    return document;
}
