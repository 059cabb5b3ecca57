// Nearest neighbours and overlaps, people sorted into squares. Overlaps are followed from moment to moment by
// pair, so that one that lasts a second is one and not sixteen. Cost of a moment: about nine people per person, and a sort
// of the overlapping pairs. SPDX-License-Identifier: Apache-2.0
#include "observe/spacing.h"
#include "core/array.h"
#include "observe/region.h"
#include "record/moment.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef struct pair {
    int64_t low, high; // ids
    double since;      // when it began [s]
} pair;

typedef struct pair_list {
    pair *all;
    int count, room;
} pair_list;

struct th_spacing {
    th_spacing_totals totals;
    th_point_grid grid;
    int *member;
    int member_room;
    pair_list now, before;
    double last_time;
    bool begun;
};

th_spacing *th_spacing_create(double radius) {
    th_spacing *spacing = calloc(1, sizeof *spacing);
    if (spacing) spacing->totals.radius = radius;
    return spacing;
}

void th_spacing_destroy(th_spacing *spacing) {
    if (!spacing) return;
    th_point_grid_release(&spacing->grid);
    free(spacing->member);
    free(spacing->now.all);
    free(spacing->before.all);
    free(spacing);
}

static bool add_pair(pair_list *list, pair p) {
    if (!TH_RESERVE(list->all, list->room, list->count + 1)) return false;
    list->all[list->count++] = p;
    return true;
}

static int compare_pairs(const void *a, const void *b) {
    const pair *p = a, *q = b;
    if (p->low != q->low) return p->low < q->low ? -1 : 1;
    return (p->high > q->high) - (p->high < q->high);
}

typedef struct search {
    th_spacing *spacing;
    const th_moment *moment;
    int person;
    double nearest2;
    bool memory;
} search;

static void meet(search *s, int other) {
    if (other == s->person) return;
    const th_moment *m = s->moment;
    double dx = m->x[other] - m->x[s->person], dy = m->y[other] - m->y[s->person];
    double distance2 = dx * dx + dy * dy;
    s->nearest2 = fmin(s->nearest2, distance2);
    th_spacing_totals *totals = &s->spacing->totals;
    double touching = 2.0 * totals->radius - TH_TOUCH;
    if (other < s->person || !(touching > 0.0) || distance2 >= touching * touching) return;
    totals->deepest = fmax(totals->deepest, 2.0 * totals->radius - sqrt(distance2));
    // Ids ascend with the index.
    s->memory =
        s->memory && add_pair(&s->spacing->now, (pair){m->id[s->person], m->id[other], m->time});
}

// Everybody within the squares around, ring by ring, until neither the nearest nor an overlap can be missed.
static void search_around(search *s) {
    const th_point_grid *grid = &s->spacing->grid;
    double x = s->moment->x[s->person], y = s->moment->y[s->person];
    int column = (int)((x - grid->low.x) / grid->cell), row = (int)((y - grid->low.y) / grid->cell);
    int rings = grid->nx > grid->ny ? grid->nx : grid->ny;
    double reach = 2.0 * s->spacing->totals.radius;
    for (int ring = 0; ring <= rings; ++ring) {
        double nearest = (ring - 1) * grid->cell;
        if (ring > 0 && nearest > reach && nearest * nearest > s->nearest2) break;
        for (int r = row - ring; r <= row + ring; ++r) {
            if (r < 0 || r >= grid->ny) continue;
            int step = r == row - ring || r == row + ring || ring == 0 ? 1 : 2 * ring;
            for (int c = column - ring; c <= column + ring; c += step) {
                if (c < 0 || c >= grid->nx) continue;
                int cell = r * grid->nx + c;
                for (int k = grid->cell_start[cell]; k < grid->cell_start[cell + 1]; ++k)
                    meet(s, grid->in_cell[k]);
            }
        }
    }
}

static bool see_level(th_spacing *spacing, const th_moment *moment, int level) {
    int count = 0;
    for (int i = 0; i < moment->count; ++i)
        if (th_moment_level(moment, i) == level && isfinite(moment->x[i]) && isfinite(moment->y[i]))
            spacing->member[count++] = i;
    if (!th_point_grid_fill(&spacing->grid, moment->x, moment->y, spacing->member, count))
        return false;
    search s = {.spacing = spacing, .moment = moment, .memory = true};
    for (int k = 0; k < count && s.memory; ++k) {
        s.person = spacing->member[k];
        s.nearest2 = HUGE_VAL;
        search_around(&s);
        th_histogram_add(&spacing->totals.nearest, sqrt(s.nearest2)); // alone: not counted
    }
    return s.memory;
}

static void end_pair(th_spacing_totals *totals, const pair *p, double time) {
    totals->longest = fmax(totals->longest, time - p->since);
    totals->pair_time += time - p->since;
}

// Both lists in order: who overlapped before keeps the time it began.
static void follow_pairs(th_spacing *spacing, double time) {
    th_spacing_totals *totals = &spacing->totals;
    pair_list *now = &spacing->now, *before = &spacing->before;
    if (now->count > 1) qsort(now->all, (size_t)now->count, sizeof *now->all, compare_pairs);
    int b = 0;
    for (int n = 0; n < now->count; ++n) {
        while (b < before->count && compare_pairs(&before->all[b], &now->all[n]) < 0)
            end_pair(totals, &before->all[b++], time);
        if (b < before->count && compare_pairs(&before->all[b], &now->all[n]) == 0)
            now->all[n].since = before->all[b++].since;
        else
            totals->collisions++;
    }
    while (b < before->count) end_pair(totals, &before->all[b++], time);
    totals->pairs += now->count;
    pair_list swap = *before;
    *before = *now;
    *now = swap;
    now->count = 0;
}

// The next higher level that somebody is on. Levels that nobody is on cost nothing, however high they count.
static bool next_level(const th_moment *moment, int *level) {
    int next = INT_MAX;
    bool found = false;
    for (int i = 0; i < moment->count; ++i) {
        int own = th_moment_level(moment, i);
        if (own <= *level || own > next) continue;
        next = own;
        found = true;
    }
    *level = next;
    return found;
}

bool th_spacing_see(th_spacing *spacing, const th_moment *moment) {
    if (!TH_RESERVE(spacing->member, spacing->member_room, moment->count + 1)) return false;
    for (int level = -1; next_level(moment, &level);)
        if (!see_level(spacing, moment, level)) return false;
    follow_pairs(spacing, moment->time);
    if (spacing->begun)
        spacing->totals.person_time += moment->count * (moment->time - spacing->last_time);
    spacing->last_time = moment->time;
    spacing->begun = true;
    return true;
}

const th_spacing_totals *th_spacing_finish(th_spacing *spacing) {
    for (int b = 0; b < spacing->before.count; ++b)
        end_pair(&spacing->totals, &spacing->before.all[b], spacing->last_time);
    spacing->before.count = 0;
    return &spacing->totals;
}
