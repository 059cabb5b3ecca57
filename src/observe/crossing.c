// Crossings of lines. SPDX-License-Identifier: Apache-2.0
#include "observe/crossing.h"
#include "core/error.h"
#include <stdlib.h>
#include <string.h>

double th_line_width(const th_line_watch *line) {
    return hypot(line->b.x - line->a.x, line->b.y - line->a.y);
}

void th_line_release(th_line_watch *line) {
    free(line->crossings);
    free(line->visits);
    *line = (th_line_watch){.a = line->a, .b = line->b, .level = line->level};
}

// Positive to the left of a -> b. Who stands on the line is to its left.
static double side_of(const th_line_watch *line, double x, double y) {
    return (line->b.x - line->a.x) * (y - line->a.y) - (line->b.y - line->a.y) * (x - line->a.x);
}

// Where on the step from (x0, y0) to (x1, y1) the line is crossed, 0 .. 1; negative: not.
static double place_of(const th_line_watch *line, double x0, double y0, double x1, double y1) {
    double before = side_of(line, x0, y0), after = side_of(line, x1, y1);
    if ((before >= 0.0) == (after >= 0.0)) return -1.0;
    double share = before / (before - after);
    double dx = line->b.x - line->a.x, dy = line->b.y - line->a.y;
    double along =
        dx * (x0 + share * (x1 - x0) - line->a.x) + dy * (y0 + share * (y1 - y0) - line->a.y);
    return along >= 0.0 && along < dx * dx + dy * dy ? share : -1.0;
}

static bool is_later(const th_crossing *a, const th_crossing *b) {
    return a->time > b->time || (!(a->time < b->time) && a->id > b->id);
}

// Kept in order of time: somebody lost for a moment may have crossed before the last frame.
static bool add_crossing(th_line_watch *line, th_crossing crossing) {
    if (line->count == line->room) {
        int room = line->room > 0 ? 2 * line->room : 256;
        th_crossing *moved = realloc(line->crossings, (size_t)room * sizeof *moved);
        if (!moved) return false;
        line->crossings = moved;
        line->room = room;
    }
    int at = line->count++;
    for (; at > 0 && is_later(&line->crossings[at - 1], &crossing); --at)
        line->crossings[at] = line->crossings[at - 1];
    line->crossings[at] = crossing;
    return true;
}

// Takes back the person's last crossing.
static void remove_last(th_line_watch *line, int64_t id) {
    int at = line->count - 1;
    while (at >= 0 && line->crossings[at].id != id) --at;
    if (at < 0) return;
    memmove(line->crossings + at, line->crossings + at + 1,
            (size_t)(line->count - at - 1) * sizeof *line->crossings);
    --line->count;
}

static bool cross(th_line_watch *line, const th_walker *w, th_line_visit *visit, double share) {
    bool forward = side_of(line, w->x, w->y) >= 0.0;
    bool back = visit->crossed && visit->forward != forward && visit->farthest < TH_TURNED_BACK;
    *visit = (th_line_visit){.crossed = !back, .forward = forward};
    if (back) {
        remove_last(line, w->id);
        return true;
    }
    double time = w->before_time + share * (w->last_time - w->before_time);
    return add_crossing(line, (th_crossing){w->id, time, forward});
}

static bool make_visits(th_line_watch *line, const th_walkers *walkers) {
    if (walkers->count <= line->visit_count) return true;
    int room = walkers->room;
    th_line_visit *moved = realloc(line->visits, (size_t)room * sizeof *moved);
    if (!moved) return false;
    memset(moved + line->visit_count, 0, (size_t)(room - line->visit_count) * sizeof *moved);
    line->visits = moved;
    line->visit_count = room;
    return true;
}

bool th_line_see(th_line_watch *line, const th_walkers *walkers, const th_moment *moment) {
    if (!make_visits(line, walkers)) return false;
    double width = th_line_width(line);
    for (int i = 0; i < moment->count; ++i) {
        const th_walker *w = &walkers->all[walkers->now[i]];
        th_line_visit *visit = &line->visits[walkers->now[i]];
        if (w->level != line->level) continue;
        double share = -1.0;
        if (!isnan(w->before_x)) share = place_of(line, w->before_x, w->before_y, w->x, w->y);
        if (share >= 0.0 && !cross(line, w, visit, share)) return false;
        visit->farthest = fmax(visit->farthest, fabs(side_of(line, w->x, w->y)) / width);
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
