// One table for all that happens at a time: people that come, doors and exits that open and shut. Its rows are added to the
// definition before it is compiled. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/file.h"
#include "scene/decode.h"
#include "scene/scene.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MOST = 1000000, WORD_MOST = 120 };

typedef struct row {
    double time;
    int line;       // of the file; rows of one time keep their order
    const char *id; // behind "doors.", "exits." or "groups."
    int kind;       // of `kinds`
    bool open;
    int count;
} row;

enum { DOORS, EXITS, GROUPS };
static const char *const kinds[] = {"doors.", "exits.", "groups."};

typedef struct table {
    const th_scene_def *def;
    th_arena *arena;
    th_error *error;
    row *rows;
    int count, capacity;
} table;

static th_result bad(const table *t, int line, const char *why) {
    return th_fail(t->error, TH_BAD_SCENE, "timetable", "%.200s line %d: %s",
                   t->def->timetable_file, line, why);
}

static th_result no_memory(const table *t) {
    return th_fail(t->error, TH_NO_MEMORY, "timetable", "no memory for the timetable");
}

// The next field of a line: between commas, without blanks around it. False: there is none, or it is too long.
static bool next_field(char **at, char *field) {
    size_t length = strcspn(*at, ",;\r\n");
    const char *from = *at;
    *at += length;
    if (**at == ',' || **at == ';') ++*at;
    while (length > 0 && (*from == ' ' || *from == '\t')) ++from, --length;
    while (length > 0 && (from[length - 1] == ' ' || from[length - 1] == '\t')) --length;
    if (length == 0 || length >= WORD_MOST) return false;
    memcpy(field, from, length);
    field[length] = '\0';
    return true;
}

static bool number_of(const char *text, double *value) {
    char *rest;
    *value = strtod(text, &rest);
    return rest != text && !*rest && *value >= 0.0 && *value <= 1e7;
}

static th_result read_row(table *t, int line, char *text) {
    char time[WORD_MOST], what[WORD_MOST], value[WORD_MOST];
    row r = {.line = line, .kind = -1};
    double count;
    if (!next_field(&text, time) || !next_field(&text, what) || !next_field(&text, value))
        return bad(t, line, "rows are time,what,value, as 30,doors.main,close or 0,groups.all,50");
    if (!number_of(time, &r.time)) return bad(t, line, "the time must be a number of seconds");
    for (int k = 0; k < 3; ++k)
        if (strncmp(what, kinds[k], strlen(kinds[k])) == 0) r.kind = k;
    if (r.kind < 0) return bad(t, line, "what must be doors.ID, exits.ID or groups.ID");
    r.id = th_arena_string(t->arena, what + strlen(kinds[r.kind]));
    r.open = strcmp(value, "open") == 0;
    if (r.kind != GROUPS && !r.open && strcmp(value, "close") != 0)
        return bad(t, line, "doors and exits \"open\" or \"close\"");
    if (r.kind == GROUPS && (!number_of(value, &count) || count != floor(count)))
        return bad(t, line, "the number of people that come must be a whole number");
    if (r.kind == GROUPS) r.count = (int)count;
    if (t->count >= ROWS_MOST) return bad(t, line, "there are more than a million rows");
    if (!r.id || !th_arena_reserve(t->arena, &t->rows, &t->capacity, t->count + 1, sizeof *t->rows))
        return no_memory(t);
    t->rows[t->count++] = r;
    return TH_OK;
}

static th_result read_rows(table *t) {
    char *text = NULL;
    size_t length = 0;
    th_link_scope links = {t->def->base_dir, t->def->allow_links};
    if (t->def->no_files)
        return th_fail(t->error, TH_BAD_SCENE, "timetable", "linked files are not allowed here");
    th_result result = th_file_read(t->arena, links, t->def->timetable_file, "timetable", &text,
                                    &length, t->error);
    int line = 0;
    for (char *at = text; result == TH_OK && *at;) {
        char *end = strchr(at, '\n');
        if (end) *end = '\0';
        ++line;
        bool blank = !at[strspn(at, " \t\r,;")] || *at == '#';
        bool heading = line == 1 && strncmp(at, "time", 4) == 0;
        if (!blank && !heading) result = read_row(t, line, at);
        at = end ? end + 1 : at + strlen(at);
    }
    return result;
}

static int by_time(const void *left, const void *right) {
    const row *a = left, *b = right;
    if (a->time != b->time) return a->time < b->time ? -1 : 1;
    return (a->line > b->line) - (a->line < b->line);
}

// The changes of one door or exit: its own, which come first at equal times, and those of the table.
static th_result add_changes(table *t, int kind, const char *id, const th_door_change **list,
                             int *count) {
    int more = 0, own = 0, all = 0;
    for (int k = 0; k < t->count; ++k)
        more += t->rows[k].kind == kind && id && strcmp(t->rows[k].id, id) == 0;
    if (more == 0) return TH_OK;
    th_door_change *to = th_arena_alloc(t->arena, (size_t)*count + (size_t)more, sizeof *to);
    if (!to) return no_memory(t);
    for (int k = 0; k < t->count; ++k) {
        if (t->rows[k].kind != kind || strcmp(t->rows[k].id, id) != 0) continue;
        while (own < *count && (*list)[own].time <= t->rows[k].time) to[all++] = (*list)[own++];
        to[all++] = (th_door_change){t->rows[k].time, t->rows[k].open};
    }
    while (own < *count) to[all++] = (*list)[own++];
    *list = to;
    *count = all;
    return TH_OK;
}

static th_result add_arrivals(table *t, th_group_def *group) {
    int more = 0, own = 0, all = 0;
    for (int k = 0; k < t->count; ++k)
        more += t->rows[k].kind == GROUPS && group->id && strcmp(t->rows[k].id, group->id) == 0;
    if (more == 0) return TH_OK;
    th_arrival *to =
        th_arena_alloc(t->arena, (size_t)group->arrival_count + (size_t)more, sizeof *to);
    if (!to) return no_memory(t);
    for (int k = 0; k < t->count; ++k) {
        if (t->rows[k].kind != GROUPS || strcmp(t->rows[k].id, group->id) != 0) continue;
        while (own < group->arrival_count && group->arrivals[own].time <= t->rows[k].time)
            to[all++] = group->arrivals[own++];
        to[all++] = (th_arrival){t->rows[k].time, t->rows[k].count};
    }
    while (own < group->arrival_count) to[all++] = group->arrivals[own++];
    group->arrivals = to;
    group->arrival_count = all;
    return TH_OK;
}

static bool is_known(const table *t, const row *r) {
    const th_scene_def *def = t->def;
    const char *id = NULL;
    for (int k = 0; r->kind == DOORS && k < def->door_count; ++k)
        if ((id = def->doors[k].id) && strcmp(id, r->id) == 0) return true;
    for (int k = 0; r->kind == EXITS && k < def->goal_count; ++k)
        if ((id = def->goals[k].id) && def->goals[k].kind == TH_GOAL_EXIT && strcmp(id, r->id) == 0)
            return true;
    for (int k = 0; r->kind == GROUPS && k < def->group_count; ++k)
        if ((id = def->groups[k].id) && strcmp(id, r->id) == 0) return true;
    return false;
}

static th_result add_rows(table *t, th_scene_def *out) {
    size_t doors = (size_t)out->door_count, goals = (size_t)out->goal_count;
    size_t groups = (size_t)out->group_count;
    th_door_def *door = th_arena_alloc(t->arena, doors, sizeof *door);
    th_goal_def *goal = th_arena_alloc(t->arena, goals, sizeof *goal);
    th_group_def *group = th_arena_alloc(t->arena, groups, sizeof *group);
    if (!door || !goal || !group) return no_memory(t);
    if (doors) memcpy(door, out->doors, doors * sizeof *door);
    if (goals) memcpy(goal, out->goals, goals * sizeof *goal);
    if (groups) memcpy(group, out->groups, groups * sizeof *group);
    th_result result = TH_OK;
    for (size_t k = 0; k < doors && result == TH_OK; ++k)
        result = add_changes(t, DOORS, door[k].id, &door[k].schedule, &door[k].schedule_count);
    for (size_t k = 0; k < goals && result == TH_OK; ++k)
        if (goal[k].kind == TH_GOAL_EXIT)
            result = add_changes(t, EXITS, goal[k].id, &goal[k].schedule, &goal[k].schedule_count);
    for (size_t k = 0; k < groups && result == TH_OK; ++k) result = add_arrivals(t, &group[k]);
    out->doors = door;
    out->goals = goal;
    out->groups = group;
    return result;
}

th_result th_timetable_expand(const th_scene_def *def, th_arena *arena, th_scene_def *out,
                              th_error *error) {
    th_error local = {0};
    table t = {.def = def, .arena = arena, .error = error ? error : &local};
    *out = *def;
    if (!def->timetable_file) return TH_OK;
    th_result result = read_rows(&t);
    for (int k = 0; k < t.count && result == TH_OK; ++k)
        if (!is_known(&t, &t.rows[k]))
            result = bad(&t, t.rows[k].line, "the scene has no door, exit or group of this id");
    if (result != TH_OK || t.count == 0) return result;
    qsort(t.rows, (size_t)t.count, sizeof *t.rows, by_time);
    return add_rows(&t, out);
}
