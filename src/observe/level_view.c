// Gathering a level. SPDX-License-Identifier: Apache-2.0
#include "observe/level_view.h"
#include <math.h>
#include <stdlib.h>

void th_level_view_release(th_level_view *view) {
    free(view->index);
    free(view->x);
    free(view->y);
    free(view->speed);
    free(view->individual);
    *view = (th_level_view){0};
}

static bool make_room(th_level_view *view, int count) {
    if (count < view->room) return true;
    th_level_view_release(view);
    size_t room = (size_t)count + (size_t)count / 4 + 16;
    view->index = malloc(room * sizeof *view->index);
    view->x = malloc(room * sizeof *view->x);
    view->y = malloc(room * sizeof *view->y);
    view->speed = malloc(room * sizeof *view->speed);
    view->individual = malloc(room * sizeof *view->individual);
    if (!view->index || !view->x || !view->y || !view->speed || !view->individual) {
        th_level_view_release(view);
        return false;
    }
    view->room = (int)room;
    return true;
}

bool th_level_view_fill(th_level_view *view, const th_moment *moment, int level,
                        th_point direction) {
    if (!make_room(view, moment->count)) return false;
    double length = hypot(direction.x, direction.y);
    view->count = 0;
    for (int i = 0; i < moment->count; ++i) {
        if ((moment->level ? moment->level[i] : 0) != level) continue;
        double vx = moment->velocity_x[i], vy = moment->velocity_y[i];
        int k = view->count++;
        view->index[k] = i;
        view->x[k] = moment->x[i];
        view->y[k] = moment->y[i];
        view->speed[k] =
            length > 0.0 ? (vx * direction.x + vy * direction.y) / length : hypot(vx, vy);
    }
    return true;
}
