// People of a recording: their ways, crossings of lines, distances and overlaps. SPDX-License-Identifier: Apache-2.0
#include "observe/walkers.h"
#include "core/error.h"
#include "core/hash.h"
#include "core/memory.h"
#include "observe/observer.h"
#include "observe/region.h"
#include "record/moment.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

// ---- ways and lines

// The paths of all people, frame by frame, and their crossings of lines. Cost of a moment: O(people), and O(people) per line.

// ---- people by id

th_walkers *th_walkers_create(void) { return calloc(1, sizeof(th_walkers)); }

void th_walkers_destroy(th_walkers *walkers) {
    if (!walkers) return;
    free(walkers->all);
    free(walkers->slot);
    free(walkers->now);
    free(walkers);
}

static int find_slot(const th_walkers *walkers, int64_t id) {
    int at = (int)(th_mix64((uint64_t)id) & (uint64_t)(walkers->slot_count - 1));
    while (walkers->slot[at] != 0 && walkers->all[walkers->slot[at] - 1].id != id)
        at = (at + 1) & (walkers->slot_count - 1);
    return at;
}

static bool grow(th_walkers *walkers) {
    int room = walkers->room > 0 ? 2 * walkers->room : 256;
    if (!TH_RESIZE(walkers->all, room)) return false;
    int *slot = calloc((size_t)room * 2, sizeof *slot); // half full at most
    if (!slot) return false;
    free(walkers->slot);
    walkers->slot = slot;
    walkers->slot_count = 2 * room;
    walkers->room = room;
    for (int i = 0; i < walkers->count; ++i) slot[find_slot(walkers, walkers->all[i].id)] = i + 1;
    return true;
}

// Index of the person, new when not seen before; -1: no memory.
static int index_of(th_walkers *walkers, int64_t id) {
    if (walkers->count >= walkers->room && !grow(walkers)) return -1;
    int slot = find_slot(walkers, id);
    if (walkers->slot[slot] == 0) {
        walkers->all[walkers->count] = (th_walker){
            .id = id, .first_time = (double)NAN, .acceleration_p95.q = 0.95, .jerk_p95.q = 0.95};
        walkers->slot[slot] = ++walkers->count;
    }
    return walkers->slot[slot] - 1;
}

// ---- one person at one moment

// A person lost for less than this has crossed the lines in between; after a longer time the way is not known. [s]
static const double BRIDGED = 1.0;

static void begin_stretch(th_walker *w, const th_moment *moment, int i) {
    // Adds the straight-line length of the previous stretch.
    if (w->stretch > 0) w->distance += hypot(w->x - w->start_x, w->y - w->start_y);
    if (isnan(w->first_time)) {
        w->first_time = moment->time;
        w->first_x = moment->x[i];
        w->first_y = moment->y[i];
    }
    w->stretch = 1;
    w->start_x = moment->x[i];
    w->start_y = moment->y[i];
    w->counted = false;
}

// Differences of the place, one frame apart. Acceleration needs three frames in a row, jerk four.
static void add_differences(th_walkers *walkers, th_walker *w, double dx, double dy, double time) {
    double vx = dx / time, vy = dy / time;
    if (w->stretch >= 3) {
        double ax = (vx - w->velocity_x) / time, ay = (vy - w->velocity_y) / time;
        double a = hypot(ax, ay);
        w->acceleration_sum += a;
        w->acceleration_count++;
        th_running_quantile_add(&w->acceleration_p95, a);
        th_histogram_add(&walkers->acceleration, a);
        if (w->stretch >= 4) {
            double j = hypot(ax - w->acceleration_x, ay - w->acceleration_y) / time;
            w->jerk_sum += j;
            w->jerk_count++;
            th_running_quantile_add(&w->jerk_p95, j);
            th_histogram_add(&walkers->jerk, j);
        }
        w->acceleration_x = ax;
        w->acceleration_y = ay;
    }
    w->velocity_x = vx;
    w->velocity_y = vy;
}

static void add_slow_time(th_walker *w, double time) {
    if (w->set_off)
        w->jam_time += time;
    else
        w->wait_time += time;
}

// Half of the time between two frames counts for the speed before, half for the speed after.
static void add_speed(th_walkers *walkers, th_walker *w, double speed, double time) {
    if (isnan(speed)) return;
    bool slow = speed < (double)TH_JAM_SPEED;
    if (w->counted && w->slow) add_slow_time(w, 0.5 * time);
    if (!slow) w->set_off = true;
    if (w->counted && slow) add_slow_time(w, 0.5 * time);
    w->slow = slow;
    w->counted = true;
    w->speed_sum += speed;
    w->speed_count++;
    th_histogram_add(&walkers->speed, speed);
}

static void see_person(th_walkers *walkers, th_walker *w, const th_moment *moment, int i) {
    double dx = moment->x[i] - w->x, dy = moment->y[i] - w->y, time = moment->time - w->last_time;
    bool same = w->last_moment > 0 && time > 0.0 && !th_is_jump(dx, dy, time);
    bool goes_on = same && w->last_moment == walkers->moments - 1;
    if (goes_on) {
        w->stretch++;
        w->path += hypot(dx, dy);
        add_differences(walkers, w, dx, dy, time);
    } else {
        begin_stretch(w, moment, i);
    }
    bool bridged = goes_on || (same && time <= BRIDGED);
    w->before_x = bridged ? w->x : (double)NAN;
    w->before_y = bridged ? w->y : (double)NAN;
    w->before_time = w->last_time;
    add_speed(walkers, w, hypot(moment->velocity_x[i], moment->velocity_y[i]),
              goes_on ? time : 0.0);
    w->x = moment->x[i];
    w->y = moment->y[i];
    w->level = th_moment_level(moment, i);
    w->last_time = moment->time;
    w->last_moment = walkers->moments;
}

bool th_walkers_see(th_walkers *walkers, const th_moment *moment) {
    if (!TH_RESERVE(walkers->now, walkers->now_room, moment->count + 1)) return false;
    walkers->moments++;
    for (int i = 0; i < moment->count; ++i) {
        int index = index_of(walkers, moment->id[i]);
        if (index < 0) return false;
        walkers->now[i] = index;
        see_person(walkers, &walkers->all[index], moment, i);
    }
    return true;
}

double th_walker_distance(const th_walker *w) {
    return w->distance + hypot(w->x - w->start_x, w->y - w->start_y);
}

double th_walker_detour(const th_walker *w) {
    double distance = th_walker_distance(w);
    return distance > 0.01 ? w->path / distance : (double)NAN;
}

// ---- lines

double th_line_width(const th_line_watch *line) {
    return hypot(line->b.x - line->a.x, line->b.y - line->a.y);
}

void th_line_release(th_line_watch *line) {
    free(line->crossings);
    free(line->visits);
    *line = (th_line_watch){.a = line->a, .b = line->b, .level = line->level};
}

// Distance to the left of a -> b [m].
static double side_of(const th_line_watch *line, double x, double y) {
    double dx = line->b.x - line->a.x, dy = line->b.y - line->a.y;
    return (dx * (y - line->a.y) - dy * (x - line->a.x)) / hypot(dx, dy);
}

static int8_t definite(double side) {
    return (int8_t)(side > TH_ON_LINE ? 1 : side < -TH_ON_LINE ? -1 : 0);
}

// A step over the line without end.
typedef struct step_over {
    double share;  // where on the step, 0 .. 1
    double beside; // how far beside the nearer end [m]; 0: on the line
} step_over;

static step_over over_at(const th_line_watch *line, double x0, double y0, double x1, double y1) {
    double before = side_of(line, x0, y0), after = side_of(line, x1, y1);
    double share = before < after || before > after ? before / (before - after) : 0.0;
    share = fmin(fmax(share, 0.0), 1.0);
    double dx = line->b.x - line->a.x, dy = line->b.y - line->a.y, length = hypot(dx, dy);
    double along =
        (dx * (x0 + share * (x1 - x0) - line->a.x) + dy * (y0 + share * (y1 - y0) - line->a.y)) /
        length;
    double beyond = along < 0.0 ? -along : along >= length ? along - length + 1e-9 : 0.0;
    return (step_over){share, beyond};
}

static bool is_later(const th_crossing *a, const th_crossing *b) {
    return a->time > b->time || (!(a->time < b->time) && a->id > b->id);
}

// Kept in order of time: a person lost for a moment may have crossed before the last frame.
static bool add_crossing(th_line_watch *line, th_crossing crossing) {
    if (!TH_RESERVE(line->crossings, line->room, line->count + 1)) return false;
    int at = line->count++;
    for (; at > 0 && is_later(&line->crossings[at - 1], &crossing); --at)
        line->crossings[at] = line->crossings[at - 1];
    line->crossings[at] = crossing;
    return true;
}

// Removes the person's last crossing.
static void remove_last(th_line_watch *line, int64_t id) {
    int at = line->count - 1;
    while (at >= 0 && line->crossings[at].id != id) --at;
    if (at < 0) return;
    memmove(line->crossings + at, line->crossings + at + 1,
            (size_t)(line->count - at - 1) * sizeof *line->crossings);
    --line->count;
}

static bool cross_line(th_line_watch *line, const th_walker *w, th_line_visit *visit, bool forward,
                       double time) {
    bool back = visit->crossed && visit->forward != forward && visit->farthest < TH_TURNED_BACK;
    *visit = (th_line_visit){.crossed = !back, .forward = forward, .side = visit->side};
    if (back) {
        remove_last(line, w->id);
        return true;
    }
    return add_crossing(line, (th_crossing){w->id, time, forward});
}

static bool make_visits(th_line_watch *line, const th_walkers *walkers) {
    if (walkers->count <= line->visit_count) return true;
    int room = walkers->room;
    if (!TH_RESIZE(line->visits, room)) return false;
    memset(line->visits + line->visit_count, 0,
           (size_t)(room - line->visit_count) * sizeof *line->visits);
    line->visit_count = room;
    return true;
}

static bool see_walker(th_line_watch *line, const th_walker *w, th_line_visit *visit) {
    double distance = side_of(line, w->x, w->y);
    int8_t side = definite(distance), before = visit->side;
    bool known = !isnan(w->before_x);
    if (side != 0) visit->side = side;
    bool good = true;
    if (known && side != 0 && before != 0 && side != before) {
        step_over over = over_at(line, w->before_x, w->before_y, w->x, w->y);
        double time = w->before_time + over.share * (w->last_time - w->before_time);
        if (over.beside <= 0.0)
            good = cross_line(line, w, visit, side > 0, time);
        else
            line->beside += over.beside < TH_BESIDE;
    }
    visit->farthest = fmax(visit->farthest, fabs(distance));
    return good;
}

bool th_line_see(th_line_watch *line, const th_walkers *walkers, const th_moment *moment) {
    if (!make_visits(line, walkers)) return false;
    for (int i = 0; i < moment->count; ++i) {
        const th_walker *w = &walkers->all[walkers->now[i]];
        if (w->level == line->level && !see_walker(line, w, &line->visits[walkers->now[i]]))
            return false;
    }
    return true;
}

bool th_line_finish(th_line_watch *line, const th_walkers *walkers, double frame, double end) {
    for (int k = 0; k < walkers->count && k < line->visit_count; ++k) {
        const th_walker *w = &walkers->all[k];
        th_line_visit *visit = &line->visits[k];
        if (w->level != line->level || !(w->last_time < end - 0.5 * frame) || visit->side == 0 ||
            w->stretch < 2)
            continue;
        double x = w->x + 1.5 * frame * w->velocity_x, y = w->y + 1.5 * frame * w->velocity_y;
        double ahead = side_of(line, x, y);
        if (visit->side > 0 ? ahead > 0.0 : ahead < 0.0) continue;
        step_over over = over_at(line, w->x, w->y, x, y);
        double time = w->last_time + over.share * 1.5 * frame;
        if (over.beside > 0.0)
            line->beside += over.beside < TH_BESIDE;
        else if (!cross_line(line, w, visit, visit->side < 0, time))
            return false;
    }
    return true;
}

static double rate(const double *time, int first, int last) {
    double span = last > first ? time[last] - time[first] : 0.0;
    return span > 0.0 ? (last - first) / span : (double)NAN;
}

th_result th_line_flow_of(const th_line_watch *line, bool forward, th_line_flow *flow,
                          th_error *error) {
    double none = (double)NAN, width = th_line_width(line);
    *flow = (th_line_flow){.first_time = none, .last_time = none};
    double *time = malloc(((size_t)line->count + 1) * sizeof *time);
    if (!time) return th_fail(error, TH_NO_MEMORY, "", "no memory for the flow of a line");
    for (int i = 0; i < line->count; ++i)
        if (line->crossings[i].forward == forward) time[flow->count++] = line->crossings[i].time;
    int count = flow->count;
    if (count > 0) {
        flow->first_time = time[0];
        flow->last_time = time[count - 1];
    }
    flow->flow = rate(time, 0, count - 1);
    flow->middle_flow = count >= 10 ? rate(time, count / 10, count * 9 / 10 - 1) : none;
    flow->specific_flow = flow->flow / width;
    flow->middle_specific_flow = flow->middle_flow / width;
    for (int i = 0; i + 1 < count; ++i) time[i] = time[i + 1] - time[i];
    flow->headway = th_summarise(time, count > 1 ? count - 1 : 0);
    free(time);
    return TH_OK;
}

// ---- distances and overlaps

// Nearest neighbours and overlaps, people sorted into squares. Overlaps are followed from moment to moment by
// pair, so that one that lasts a second is one and not sixteen. Cost of a moment: about nine people per person, and a sort
// of the overlapping pairs.

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

// All people within the squares around, ring by ring, until neither the nearest nor an overlap can be missed.
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

// Both lists in order: pairs that overlapped before keep the time it began.
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

// The next higher level with people on it. Levels without people cost nothing, however high they count.
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
