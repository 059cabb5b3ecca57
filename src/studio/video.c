// A recording as a video: pages of the plan, drawn one by one and handed to ffmpeg as raw pictures. ffmpeg is a program of
// its own that need not be there. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "draw/plan_drawing.h"
#include "studio/encoder.h"
#include "studio/studio.h"
#include <math.h>
#include <stdlib.h>

// ---- the crowd between two recorded moments

typedef struct drawn {
    int room;
    int64_t *id;
    double *x, *y, *velocity_x, *velocity_y, *radius;
    int32_t *level, *group, *phase;
    bool *door_closed;
} drawn;

static void release_drawn(drawn *d) {
    free(d->id);
    free(d->x);
    free(d->y);
    free(d->velocity_x);
    free(d->velocity_y);
    free(d->radius);
    free(d->level);
    free(d->group);
    free(d->phase);
    free(d->door_closed);
}

static bool make_drawn(drawn *d, const th_studio *studio) {
    const th_studio_history *h = &studio->history;
    for (int k = h->first; k < h->count; ++k)
        if (h->moments[k]->count > d->room) d->room = h->moments[k]->count;
    size_t room = (size_t)d->room + 1;
    d->id = malloc(room * sizeof *d->id);
    d->x = malloc(room * sizeof *d->x);
    d->y = malloc(room * sizeof *d->y);
    d->velocity_x = malloc(room * sizeof *d->velocity_x);
    d->velocity_y = malloc(room * sizeof *d->velocity_y);
    d->radius = malloc(room * sizeof *d->radius);
    d->level = malloc(room * sizeof *d->level);
    d->group = malloc(room * sizeof *d->group);
    d->phase = malloc(room * sizeof *d->phase);
    d->door_closed = malloc((size_t)th_replay_scene(studio->replay)->door_count + 1);
    return d->id && d->x && d->y && d->velocity_x && d->velocity_y && d->radius && d->level &&
           d->group && d->phase && d->door_closed;
}

// Everybody of `now`, on the straight way to where they are in `next` (NULL: there is none). Rows ascend in id.
static th_moment between(drawn *d, const th_studio_moment *now, const th_studio_moment *next,
                         double time) {
    double share = next ? (time - now->time) / (next->time - now->time) : 0.0;
    for (int i = 0, k = 0; i < now->count; ++i) {
        const th_studio_row *row = &now->rows[i];
        while (next && k < next->count && next->rows[k].id < row->id) ++k;
        const th_studio_row *to = next && k < next->count && next->rows[k].id == row->id &&
                                          next->rows[k].level == row->level
                                      ? &next->rows[k]
                                      : row;
        double speed = (double)(TH_STUDIO_SPEED_STEP * (float)row->speed),
               angle = row->heading * (6.283185307179586 / 256.0);
        d->id[i] = row->id;
        d->x[i] = (double)row->x + share * ((double)to->x - (double)row->x);
        d->y[i] = (double)row->y + share * ((double)to->y - (double)row->y);
        d->velocity_x[i] = speed * cos(angle);
        d->velocity_y[i] = speed * sin(angle);
        d->radius[i] = 0.01 * row->radius;
        d->level[i] = row->level;
        d->group[i] = row->group;
        d->phase[i] = row->phase;
    }
    return (th_moment){.time = time,
                       .count = now->count,
                       .id = d->id,
                       .x = d->x,
                       .y = d->y,
                       .velocity_x = d->velocity_x,
                       .velocity_y = d->velocity_y,
                       .level = d->level,
                       .group = d->group,
                       .phase = d->phase,
                       .radius = d->radius};
}

// By the timetable: what else opened and shut doors a recording does not tell.
static void set_doors(drawn *d, const th_scene_view *scene, double time) {
    for (int k = 0; k < scene->door_count; ++k) {
        const th_door *door = &scene->doors[k];
        d->door_closed[k] = door->closed;
        for (int c = 0; c < door->schedule_count && door->schedule[c].time <= time; ++c)
            d->door_closed[k] = !door->schedule[c].open;
    }
}

// ---- the pictures

// A row at a time: rows of the page may be longer, and videos have an even number of them.
static bool put_page(const th_encoder *e, int width, int height, const th_canvas *page) {
    cairo_surface_flush(page->surface);
    const unsigned char *pixels = cairo_image_surface_get_data(page->surface);
    int stride = cairo_image_surface_get_stride(page->surface);
    if (!pixels) return false;
    if (stride == 4 * width) return th_encoder_put(e, pixels, (size_t)stride * (size_t)height);
    for (int y = 0; y < height; ++y)
        if (!th_encoder_put(e, pixels + (size_t)y * (size_t)stride, 4 * (size_t)width))
            return false;
    return true;
}

// ---- the whole

// The page of a moment between moment k of the recording and the next. No surface: no memory.
static th_canvas draw_page(const th_studio *studio, th_plan_view *view, drawn *d, int k,
                           double time) {
    const th_studio_history *h = &studio->history;
    const th_studio_moment *now = h->moments[k],
                           *next = k + 1 < h->count ? h->moments[k + 1] : NULL;
    th_moment crowd = between(d, now, next, fmax(time, now->time));
    const json_t *row = th_charts_row(&studio->plays[0].charts, time);
    set_doors(d, view->scene, time);
    view->left = (uint64_t)json_integer_value(json_array_get(row, 2));
    view->crowd = &crowd;
    view->time = time;
    float *density = view->colour_by == TH_BY_DENSITY ? th_crowd_density(&crowd) : NULL;
    view->density = density;
    th_canvas page = {0};
    if (density || view->colour_by != TH_BY_DENSITY) page = th_plan_page(view);
    view->crowd = NULL;
    view->density = NULL;
    free(density);
    return page;
}

static th_result draw_all(const th_studio *studio, th_encoder *e, th_plan_view *view,
                          const th_video_def *def, const char *path, drawn *d, th_error *error) {
    const th_studio_history *h = &studio->history;
    double begin = h->moments[h->first]->time, end = h->moments[h->count - 1]->time;
    int frames = (int)floor((end - begin) * def->fps + 1e-6) + 1;
    for (int f = 0, k = h->first; f < frames; ++f) {
        double time = begin + f / def->fps;
        while (k + 1 < h->count && h->moments[k + 1]->time <= time + 1e-9) ++k;
        th_canvas page = draw_page(studio, view, d, k, time);
        if (!page.surface)
            return th_fail(error, TH_NO_MEMORY, "", "no memory for a picture of the video");
        th_result result = TH_OK;
        int height = (int)page.height & ~1;
        if (f == 0) result = th_encoder_start(e, path, def->fps, view->width, height, error);
        if (result == TH_OK && !put_page(e, view->width, height, &page))
            result = TH_NO_FILE; // its end tells why
        th_canvas_destroy(&page);
        if (result == TH_OK && def->progress && !def->progress((f + 1.0) / frames, def->context))
            result = TH_NO_FILE;
        if (result != TH_OK) return result;
    }
    return TH_OK;
}

th_result th_video_write(const th_studio *studio, const char *path, const th_video_def *def,
                         th_error *error) {
    const th_scene_view *scene = th_replay_scene(studio->replay);
    drawn d = {0};
    th_encoder e = {.to = -1};
    if (!make_drawn(&d, studio)) {
        release_drawn(&d);
        return th_fail(error, TH_NO_MEMORY, "", "no memory for the people of the video");
    }
    th_plan_view view = {.scene = scene,
                         .door_closed = d.door_closed,
                         .colour_by = (th_colour_by)def->colour_by,
                         .box = studio->plays[0].catalogue->box,
                         .width = def->width & ~1,
                         .title = *scene->name ? scene->name : studio->name};
    float margin = fmaxf(
        0.5f, 0.02f * fmaxf(view.box.max_x - view.box.min_x, view.box.max_y - view.box.min_y));
    view.box = (th_box){view.box.min_x - margin, view.box.min_y - margin, view.box.max_x + margin,
                        view.box.max_y + margin};
    th_result result = draw_all(studio, &e, &view, def, path, &d, error);
    release_drawn(&d);
    return th_encoder_end(&e, path, result, error);
}
