// Maps over time as small multiples: density with levels of service, and speed, in the frames of the maps.
// SPDX-License-Identifier: Apache-2.0
#include "report/figures.h"
#include "throng/scene_view.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ACROSS = 4 };           // panels in a row
static const double KEY = 150; // room for the key at the right [units]

// The value of a block in a frame; NaN: none.
typedef double block_value(const th_figure_data *data, const th_map_frames *frames, int frame,
                           int block);

static int samples_of(const th_map_frames *frames, int frame) {
    if (frames->chosen > 0) return 1;
    int left = frames->samples - frame * frames->width;
    return left < frames->width ? left : frames->width;
}

static double density_of(const th_figure_data *data, const th_map_frames *frames, int frame,
                         int block) {
    double sum = (double)frames->density[frame * frames->nx * frames->ny + block];
    int samples = samples_of(frames, frame) * data->ensemble->map_runs;
    return sum > 0 && samples > 0 ? sum / samples : (double)NAN;
}

static double speed_of(const th_figure_data *data, const th_map_frames *frames, int frame,
                       int block) {
    int k = frame * frames->nx * frames->ny + block;
    (void)data;
    return frames->walkers[k] > 0 ? (double)(frames->speed[k] / frames->walkers[k]) : (double)NAN;
}

static bool frame_shown(const th_figure_data *data, int frame) {
    for (int m = 0; m < data->ensemble->map_count; ++m) {
        const th_map_frames *frames = &data->ensemble->maps[m].frames;
        if (frames->chosen > 0)
            return frame < frames->chosen &&
                   frames->chosen_times[frame] < frames->samples * data->ensemble->interval;
        for (int b = 0; b < frames->nx * frames->ny; ++b)
            if (frames->density[frame * frames->nx * frames->ny + b] > 0) return true;
    }
    return false;
}

// Frames up to the last with people.
static int frame_count(const th_figure_data *data) {
    int count = TH_FRAMES;
    while (count > 0 && !frame_shown(data, count - 1)) --count;
    return count;
}

// "10 to 20 s", "at 30 s"
static void frame_name(const th_figure_data *data, int frame, char *name, size_t size) {
    const th_map_frames *frames = &data->ensemble->maps[0].frames;
    double width = frames->width * data->ensemble->interval;
    double unit = width < 300 ? 1 : 60;
    const char *word = width < 300 ? "s" : "min";
    if (frames->chosen > 0)
        snprintf(name, size, "at %g s", frames->chosen_times[frame]);
    else
        snprintf(name, size, "%g to %g %s", frame * width / unit, (frame + 1) * width / unit, word);
}

static void draw_blocks(const th_canvas *canvas, const th_panel *panel, const th_figure_data *data,
                        int level, int frame, block_value *value, th_value_colour *colour,
                        const void *context) {
    for (int m = 0; m < data->ensemble->map_count; ++m) {
        const th_map *map = &data->ensemble->maps[m];
        int blocks = map->frames.nx * map->frames.ny;
        if (map->level != level) continue;
        double *values = malloc(((size_t)blocks + 1) * sizeof *values);
        if (!values) return; // the plan is still drawn
        for (int b = 0; b < blocks; ++b) values[b] = value(data, &map->frames, frame, b);
        th_raster raster = {map->min_x,     map->min_y,     map->cell * (float)map->frames.stride,
                            map->frames.nx, map->frames.ny, values};
        th_draw_raster(canvas, panel, &raster, colour, context);
        free(values);
    }
}

// All frames of a level; returns the y below.
static double draw_level(const th_canvas *canvas, const th_figure_data *data, int level, double y,
                         block_value *value, th_value_colour *colour, const void *context) {
    const th_scene_view *scene = data->scene;
    th_box box = data->boxes && scene->level_count > 1 ? data->boxes[level] : data->box;
    double text = canvas->text, left = 0.8 * text, gap = 0.7 * text;
    int count = frame_count(data), columns = count < ACROSS ? count : ACROSS;
    double room = (canvas->width - KEY - left) / columns - gap;
    double across = (double)(box.max_x - box.min_x), up = (double)(box.max_y - box.min_y);
    double scale = fmin(room / across, 0.5 * canvas->width / up);
    char name[80], clean[96];
    if (scene->level_count > 1) {
        th_clean_text(scene->levels[level].id, clean, sizeof clean);
        cairo_set_source_rgb(canvas->cairo, 0.1, 0.1, 0.1);
        th_canvas_text(canvas, left, y + text, 0, text, true, clean);
        y += 1.6 * text;
    }
    for (int f = 0; f < count; ++f) {
        th_panel panel = {.left = left + f % columns * (room + gap),
                          .top = y + 1.3 * text + f / columns * (scale * up + 2 * text),
                          .width = scale * across,
                          .height = scale * up,
                          .box = box,
                          .scale = scale,
                          .origin = scene->origin};
        frame_name(data, f, name, sizeof name);
        cairo_set_source_rgb(canvas->cairo, 0.1, 0.1, 0.1);
        th_canvas_text(canvas, panel.left, panel.top - 0.3 * text, 0, 0.92 * text, false, name);
        cairo_save(canvas->cairo);
        cairo_rectangle(canvas->cairo, panel.left, panel.top, panel.width, panel.height);
        cairo_clip(canvas->cairo);
        th_draw_ground(canvas, &panel, scene, level);
        cairo_save(canvas->cairo);
        th_clip_to_ground(canvas, &panel, scene, level);
        draw_blocks(canvas, &panel, data, level, f, value, colour, context);
        cairo_restore(canvas->cairo);
        th_draw_outline(canvas, &panel, scene, level, 0.8);
        th_draw_exits(canvas, &panel, scene, level);
        cairo_restore(canvas->cairo);
    }
    int rows = (count + columns - 1) / columns;
    return y + 1.3 * text + rows * (scale * up + 2 * text);
}

// All levels; `top` is where the key at the right may begin. Returns the y below.
static double draw_frames(const th_canvas *canvas, const th_figure_data *data, const char *title,
                          const char *what, block_value *value, th_value_colour *colour,
                          const void *context, double *top) {
    char runs[80], note[160];
    th_figure_runs(data, false, runs, sizeof runs);
    snprintf(note, sizeof note, "%s, %s", what, runs);
    double y = th_figure_head(canvas, data, title, note);
    *top = y + 1.3 * canvas->text;
    for (int level = 0; level < data->scene->level_count; ++level)
        y = draw_level(canvas, data, level, y, value, colour, context);
    return y;
}

static double key_x(const th_canvas *canvas) { return canvas->width - KEY + 0.6 * canvas->text; }

bool th_figure_density_times_applies(const th_figure_data *data) {
    return th_maps_measured(data) && frame_count(data) > 1;
}

static const char *what_of(const th_figure_data *data) {
    return data->ensemble->maps[0].frames.chosen > 0 ? "at the chosen times"
                                                     : "mean over each stretch of time";
}

double th_figure_density_times_draw(const th_canvas *canvas, const th_figure_data *data) {
    double top;
    double y = draw_frames(canvas, data, "Density and level of service over time", what_of(data),
                           density_of, th_class_colour, &th_density_classes, &top);
    return fmax(y,
                th_class_key(canvas, key_x(canvas), top + 0.5 * canvas->text, &th_density_classes));
}

void th_figure_density_times_caption(th_text *text, const th_figure_data *data) {
    th_text_add(text,
                "Density of each cell %s%s, in Fruin's walkway levels of service A to F, F "
                "divided at 4, 7, 8 and 10\xc2\xa0/m\xc2\xb2; blank: no person came near.",
                data->ensemble->maps[0].frames.chosen > 0 ? "at the times that the scene chooses"
                                                          : "over time",
                data->ensemble->run_count > 1 ? ", mean over the runs" : "");
    if (data->ensemble->maps[0].frames.chosen == 0)
        th_text_put(text, " <code>measure.map_times</code> of the scene chooses other times.");
}

static double largest_speed(const th_figure_data *data) {
    double largest = 0;
    for (int m = 0; m < data->ensemble->map_count; ++m) {
        const th_map_frames *frames = &data->ensemble->maps[m].frames;
        for (int f = 0; f < TH_FRAMES; ++f)
            for (int b = 0; b < frames->nx * frames->ny; ++b)
                largest = fmax(largest, speed_of(data, frames, f, b));
    }
    return fmin(fmax(largest, 0.5), 1.6); // one fast person must not compress the scale
}

bool th_figure_speed_times_applies(const th_figure_data *data) {
    return th_figure_density_times_applies(data);
}

static th_colour scale_colour(double value, const void *context) {
    return th_colour_scale(value / *(const double *)context);
}

double th_figure_speed_times_draw(const th_canvas *canvas, const th_figure_data *data) {
    double top, text = canvas->text, highest = largest_speed(data), bar = 10 * text;
    double y = draw_frames(canvas, data, "Speed over time", what_of(data), speed_of, scale_colour,
                           &highest, &top);
    th_canvas_colour_bar(canvas, key_x(canvas), top + 1.6 * text, 1.3 * text, bar, 0, highest,
                         th_colour_scale, "speed [m/s]");
    return fmax(y, top + bar + 3 * text);
}

void th_figure_speed_times_caption(th_text *text, const th_figure_data *data) {
    (void)data;
    th_text_put(text, "Mean speed of the people in a cell, without those told to stand or wait. "
                      "Dark: they stood or crept; blank: no person walked there.");
}
