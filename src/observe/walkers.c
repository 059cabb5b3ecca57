// Everybody's way, frame by frame. SPDX-License-Identifier: Apache-2.0
#include "observe/walkers.h"
#include "core/hash.h"
#include "observe/observation.h"
#include <stdlib.h>
#include <string.h>

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
    th_walker *all = realloc(walkers->all, (size_t)room * sizeof *all);
    if (!all) return false;
    walkers->all = all;
    int *slot = calloc((size_t)room * 2, sizeof *slot); // half full at most
    if (!slot) return false;
    free(walkers->slot);
    walkers->slot = slot;
    walkers->slot_count = 2 * room;
    walkers->room = room;
    for (int i = 0; i < walkers->count; ++i) slot[find_slot(walkers, all[i].id)] = i + 1;
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

// Who is lost for a moment has still crossed a line in between; longer, nobody knows which way they went. [s]
static const double BRIDGED = 1.0;

static void begin_stretch(th_walker *w, const th_moment *moment, int i) {
    // What lay straight between the ends of the stretch before.
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

// Of the time between two frames one half goes to what was done before, one half to what is done after.
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
    bool same = w->last_moment > 0 && time > 0.0 && !th_leaps(dx, dy, time);
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
    w->level = moment->level ? moment->level[i] : 0;
    w->last_time = moment->time;
    w->last_moment = walkers->moments;
}

bool th_walkers_see(th_walkers *walkers, const th_moment *moment) {
    if (moment->count >= walkers->now_room) {
        int room = moment->count + moment->count / 4 + 16;
        int *now = realloc(walkers->now, (size_t)room * sizeof *now);
        if (!now) return false;
        walkers->now = now;
        walkers->now_room = room;
    }
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
