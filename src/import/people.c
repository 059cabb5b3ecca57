// People from a table: CSV with a line for each person, as Pathfinder and others write them. People that are alike become a
// group with their positions. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "import/drawing.h"
#include "throng/scene.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { COLUMNS_MOST = 200, FIELD_MOST = 100, GROUPS_MOST = 500, PEOPLE_MOST = 1000000 };

// X(NAME, headings that mean it: the first word of a column's name, in small letters)
#define COLUMNS(X)                                 \
    X(EAST, "x")                                   \
    X(NORTH, "y")                                  \
    X(Z, "z")                                      \
    X(LEVEL, "level floor storey")                 \
    X(PROFILE, "profile kind")                     \
    X(GOAL, "exit goal target behavior behaviour") \
    X(SPEED, "speed maxspeed vmax v0")             \
    X(RADIUS, "radius")                            \
    X(WIDTH, "diameter width shoulderwidth")       \
    X(DELAY, "delay initialdelay premovement")
enum {
#define X(NAME, words) AT_##NAME,
    COLUMNS(X)
#undef X
        COLUMN_COUNT
};

typedef struct person {
    char text[COLUMN_COUNT][FIELD_MOST];
} person;

typedef struct table {
    json_t *scene;
    const char *at, *end;
    int line;
    int column[COLUMNS_MOST]; // of each field; -1: not used
    char between;             // , or ;
    int strangers, unknown_profiles, unknown_goals;
} table;

// ---- lines and fields

// The next field, without quotes and blanks around it; false at the end of the line.
static bool next_field(table *t, char *field, bool *last) {
    size_t length = 0;
    bool quoted = false;
    if (t->at >= t->end || *last) return false;
    for (; t->at < t->end; ++t->at) {
        char letter = *t->at;
        if (letter == '"') {
            quoted = !quoted;
            continue;
        }
        if (!quoted && (letter == t->between || letter == '\n')) break;
        if (letter == '\r' || (length == 0 && letter == ' ')) continue;
        if (length + 1 < FIELD_MOST) field[length++] = letter;
    }
    while (length > 0 && field[length - 1] == ' ') --length;
    field[length] = '\0';
    *last = t->at >= t->end || *t->at == '\n';
    if (t->at < t->end) ++t->at;
    t->line += *last;
    return true;
}

// "Initial Delay (s)" is initialdelay.
static int column_of(const char *heading) {
    static const char *const words[] = {
#define X(NAME, words) words,
        COLUMNS(X)
#undef X
    };
    char plain[FIELD_MOST];
    size_t length = 0;
    for (; *heading && *heading != '(' && *heading != '['; ++heading)
        if (isalnum((unsigned char)*heading))
            plain[length++] = (char)tolower((unsigned char)*heading);
    plain[length] = '\0';
    for (int c = 0; c < COLUMN_COUNT; ++c)
        for (const char *at = words[c]; *at;) {
            size_t size = strcspn(at, " ");
            if (size == length && strncmp(at, plain, size) == 0) return c;
            at += size + (at[size] == ' ');
        }
    return -1;
}

static bool read_heading(table *t) {
    char field[FIELD_MOST];
    bool last = false, found[COLUMN_COUNT] = {false};
    size_t line = t->end > t->at ? (size_t)(t->end - t->at) : 0;
    const char *stop = line ? memchr(t->at, '\n', line) : NULL;
    if (stop) line = (size_t)(stop - t->at);
    t->between = line && memchr(t->at, ';', line) ? ';' : ',';
    for (int k = 0; k < COLUMNS_MOST; ++k) t->column[k] = -1;
    for (int k = 0; k < COLUMNS_MOST && next_field(t, field, &last); ++k) {
        int c = column_of(field);
        if (c < 0 || found[c]) continue;
        t->column[k] = c;
        found[c] = true;
    }
    return found[AT_EAST] && found[AT_NORTH];
}

static bool number_of(const char *text, double *value) {
    char *rest;
    *value = strtod(text, &rest);
    return rest != text && !*rest && isfinite(*value);
}

// ---- who they are

static bool is_named(const json_t *scene, const char *list, const char *id) {
    size_t k;
    json_t *value;
    json_array_foreach(json_object_get(scene, list), k, value) {
        const char *own = json_string_value(json_object_get(value, "id"));
        if (own && strcmp(own, id) == 0) return true;
    }
    return false;
}

static bool is_profile(const json_t *scene, const char *id) {
    int count;
    const th_profile_def *all = th_profiles(&count);
    for (int k = 0; k < count; ++k)
        if (strcmp(all[k].id, id) == 0) return true;
    return is_named(scene, "profiles", id);
}

// By its name, or the highest that is not above z.
static const char *level_of(const table *t, const person *p) {
    const json_t *levels = json_object_get(t->scene, "levels");
    if (*p->text[AT_LEVEL] && is_named(t->scene, "levels", p->text[AT_LEVEL]))
        return p->text[AT_LEVEL];
    double z, best = -HUGE_VAL;
    if (!number_of(p->text[AT_Z], &z)) z = 0.0;
    const char *found = json_string_value(json_object_get(json_array_get(levels, 0), "id"));
    for (size_t k = 0; k < json_array_size(levels); ++k) {
        const json_t *level = json_array_get(levels, k);
        double height = json_number_value(json_object_get(level, "z"));
        if (height > z + 0.5 || height < best) continue;
        best = height;
        found = json_string_value(json_object_get(level, "id"));
    }
    return found;
}

static void set_number(json_t *group, const char *key, const char *text, double low, double high,
                       double scale) {
    double value;
    if (number_of(text, &value) && scale * value >= low && scale * value <= high)
        json_object_set_new(group, key, json_real(scale * value));
}

static json_t *group_like(table *t, const person *p, const char *level) {
    json_t *group = json_pack("{s:[]}", "positions");
    if (level) json_object_set_new(group, "level", json_string(level));
    if (*p->text[AT_PROFILE]) {
        if (is_profile(t->scene, p->text[AT_PROFILE]))
            json_object_set_new(group, "profiles", json_string(p->text[AT_PROFILE]));
        else
            t->unknown_profiles++;
    }
    if (*p->text[AT_GOAL]) {
        if (is_named(t->scene, "exits", p->text[AT_GOAL]))
            json_object_set_new(group, "to", json_string(p->text[AT_GOAL]));
        else
            t->unknown_goals++;
    }
    set_number(group, "speed", p->text[AT_SPEED], 0.0, 10.0, 1.0);
    set_number(group, "radius", p->text[AT_WIDTH], 0.05, 2.0, 0.5);
    set_number(group, "radius", p->text[AT_RADIUS], 0.05, 2.0, 1.0);
    set_number(group, "premovement", p->text[AT_DELAY], 0.0, 1e6, 1.0);
    return group;
}

// Groups by what makes people alike; numbers count only while there are few different ones.
static json_t *group_of(table *t, json_t *by_key, json_t *groups, person *p) {
    const char *level = level_of(t, p);
    char key[4 * FIELD_MOST + 300];
    for (int pass = 0; pass < 2; ++pass) {
        bool few = pass == 0;
        snprintf(key, sizeof key, "%.99s|%s|%s|%s|%s|%s|%s", level ? level : "",
                 p->text[AT_PROFILE], p->text[AT_GOAL], few ? p->text[AT_SPEED] : "",
                 few ? p->text[AT_RADIUS] : "", few ? p->text[AT_WIDTH] : "",
                 few ? p->text[AT_DELAY] : "");
        json_t *group = json_object_get(by_key, key);
        if (group) return group;
        if (few && json_array_size(groups) >= GROUPS_MOST) {
            t->strangers++;
            *p->text[AT_SPEED] = *p->text[AT_RADIUS] = *p->text[AT_WIDTH] = *p->text[AT_DELAY] = 0;
            continue;
        }
        group = group_like(t, p, level);
        if (json_object_set_new(by_key, key, group) != 0) return NULL; // no UTF-8
        json_array_append(groups, group);
        return group;
    }
    return NULL;
}

static bool read_person(table *t, person *p) {
    char field[FIELD_MOST];
    bool last = false;
    *p = (person){0};
    for (int k = 0; next_field(t, field, &last); ++k)
        if (k < COLUMNS_MOST && t->column[k] >= 0)
            memcpy(p->text[t->column[k]], field, sizeof field);
    double x, y;
    return number_of(p->text[AT_EAST], &x) && number_of(p->text[AT_NORTH], &y);
}

th_result th_import_people(json_t *scene, const char *text, size_t length, char *told, size_t size,
                           th_error *error) {
    table t = {.scene = scene, .at = text, .end = text + length, .line = 1};
    if (length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) t.at += 3;
    if (!read_heading(&t))
        return th_fail(error, TH_BAD_SCENE, "",
                       "line 1: the table of people needs columns x and y; known are also z, "
                       "level, profile, exit, speed, radius, diameter and delay");
    json_t *groups = json_array(), *by_key = json_object();
    person p;
    int people = 0, skipped = 0;
    while (t.at < t.end && people < PEOPLE_MOST) {
        bool good = read_person(&t, &p);
        json_t *group = good ? group_of(&t, by_key, groups, &p) : NULL;
        if (group) {
            json_array_append_new(
                json_object_get(group, "positions"),
                json_pack("[f,f]", strtod(p.text[AT_EAST], NULL), strtod(p.text[AT_NORTH], NULL)));
            ++people;
        } else {
            ++skipped;
        }
    }
    snprintf(told, size, "  %d people in %zu groups; %d lines without a place are left out%s%s%s\n",
             people, json_array_size(groups), skipped,
             t.unknown_profiles ? "; unknown profiles are left out" : "",
             t.unknown_goals ? "; goals that are no exits are left out" : "",
             t.strangers
                 ? "; there are more than 500 kinds, the speeds, sizes and delays of the rest "
                   "are throng's own"
                 : "");
    th_result result = TH_OK;
    if (people == 0)
        result = th_fail(error, TH_BAD_SCENE, "", "the table of people has no line with x and y");
    else
        json_object_set(scene, "groups", groups);
    json_decref(by_key);
    json_decref(groups);
    return result;
}
