// Drawings, piece by piece: layers, paths, and what is left out. SPDX-License-Identifier: Apache-2.0
#include "import/drawing.h"
#include "core/error.h"
#include <math.h>
#include <string.h>

enum { LAYERS_MOST = 20000, POINTS_MOST = 4000000, NAMES_MOST = 200 };

static bool no_memory(th_error *error) {
    th_fail(error, TH_NO_MEMORY, "", "no memory for the drawing");
    return false;
}

int th_drawing_layer(th_drawing *drawing, const char *name, th_error *error) {
    for (int l = 0; l < drawing->layer_count; ++l)
        if (strcmp(drawing->layers[l].name, name) == 0) return l;
    if (drawing->layer_count >= LAYERS_MOST) {
        th_fail(error, TH_BAD_SCENE, "", "the drawing has more than 20000 layers");
        return -1;
    }
    const char *copy = th_arena_string(drawing->arena, name);
    if (!copy || !th_arena_reserve(drawing->arena, &drawing->layers, &drawing->layer_capacity,
                                   drawing->layer_count + 1, sizeof *drawing->layers)) {
        no_memory(error);
        return -1;
    }
    drawing->layers[drawing->layer_count] = (th_drawn_layer){.name = copy};
    return drawing->layer_count++;
}

bool th_drawing_add(th_drawing *drawing, int layer, const th_point *points, int count, bool closed,
                    th_error *error) {
    if (count < 2) return true;
    for (int k = 0; k < count; ++k)
        if (!isfinite(points[k].x) || !isfinite(points[k].y)) {
            th_fail(error, TH_BAD_SCENE, "", "layer %.60s: a coordinate is no number",
                    drawing->layers[layer].name);
            return false;
        }
    if (count > POINTS_MOST - drawing->point_count) {
        th_fail(error, TH_BAD_SCENE, "",
                "the drawing has more than 4 million points; leave layers out");
        return false;
    }
    if (!th_arena_reserve(drawing->arena, &drawing->points, &drawing->point_capacity,
                          drawing->point_count + count, sizeof *drawing->points) ||
        !th_arena_reserve(drawing->arena, &drawing->paths, &drawing->path_capacity,
                          drawing->path_count + 1, sizeof *drawing->paths))
        return no_memory(error);
    drawing->paths[drawing->path_count++] = (th_drawn_path){.layer = layer,
                                                            .first = drawing->point_count,
                                                            .count = count,
                                                            .closed = closed && count > 2};
    memcpy(drawing->points + drawing->point_count, points, (size_t)count * sizeof *points);
    drawing->point_count += count;
    drawing->layers[layer].paths++;
    return true;
}

bool th_drawing_leave_out(th_drawing *drawing, const char *name, int count) {
    for (int k = 0; k < drawing->left_out_count; ++k)
        if (strcmp(drawing->left_out[k].name, name) == 0) {
            drawing->left_out[k].count += count;
            return true;
        }
    if (drawing->left_out_count >= NAMES_MOST) return true;
    const char *copy = th_arena_string(drawing->arena, name);
    if (!copy || !th_arena_reserve(drawing->arena, &drawing->left_out, &drawing->left_out_capacity,
                                   drawing->left_out_count + 1, sizeof *drawing->left_out))
        return false;
    drawing->left_out[drawing->left_out_count++] = (th_left_out){copy, count};
    return true;
}
