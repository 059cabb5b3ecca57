// SPDX-License-Identifier: Apache-2.0
#include "plan/pictures.h"

bool th_drawn_for(const th_scene *scene, int target, int goal) {
    if (goal < 0 || target < 0) return true;
    for (int k = 0; k < scene->targets[target].goal_count; ++k)
        if (scene->targets[target].goals[k] == goal) return true;
    return false;
}

typedef struct pixel_range {
    int begin, end;
} pixel_range;

// Along one axis: the pixels of size `pixel`, from `low` on, whose middles are within half a spacing of `at`.
static pixel_range pixels_around(float at, float low, float pixel, float half, int count) {
    float begin = ceilf((at - half - low) / pixel - 0.5f),
          end = ceilf((at + half - low) / pixel - 0.5f);
    if (!(end > begin)) { // the pixel it lies in
        begin = floorf((at - low) / pixel);
        end = begin + 1.0f;
    }
    float most = (float)count;
    return (pixel_range){(int)th_clamp(begin, 0.0f, most), (int)th_clamp(end, 0.0f, most)};
}

// The mean of the pixels around a node; false: none is there.
static bool mean_at(const th_picture *picture, th_vec2 at, float spacing, th_vec2 *mean) {
    float half = 0.5f * spacing;
    float px = (picture->box.max_x - picture->box.min_x) / (float)picture->nx;
    float py = (picture->box.max_y - picture->box.min_y) / (float)picture->ny;
    pixel_range x = pixels_around(at.x, picture->box.min_x, px, half, picture->nx);
    pixel_range y = pixels_around(at.y, picture->box.min_y, py, half, picture->ny);
    double sum_x = 0.0, sum_y = 0.0;
    for (int row = y.begin; row < y.end; ++row)
        for (int column = x.begin; column < x.end; ++column) {
            size_t k = (size_t)row * (size_t)picture->nx + (size_t)column;
            sum_x += (double)(picture->guidance ? picture->guidance[k].x : picture->discomfort[k]);
            sum_y += (double)(picture->guidance ? picture->guidance[k].y : 0.0f);
        }
    double count = (double)(x.end - x.begin) * (double)(y.end - y.begin);
    if (!(count > 0.0)) return false;
    *mean = th_v((float)(sum_x / count), (float)(sum_y / count));
    return true;
}

typedef struct destination { // one of the two
    float *discomfort;
    th_vec2 *guidance;
    float follow;
} destination;

static void add_picture(const th_nodes *nodes, const th_picture *picture, const destination *to) {
    const th_node_level *grid = &nodes->levels[picture->level];
    for (int i = grid->first; i < grid->first + grid->nx * grid->ny; ++i) {
        th_vec2 mean;
        if (!mean_at(picture, th_node_position(nodes, grid, i), nodes->spacing, &mean)) continue;
        if (to->discomfort)
            to->discomfort[i] += mean.x;
        else
            to->guidance[i] = th_add(to->guidance[i], th_scale(to->follow, mean));
    }
}

static void add_all(const th_nodes *nodes, int target, th_picture_kind kind,
                    const destination *to) {
    const th_scene *scene = nodes->scene;
    for (int i = 0; i < scene->picture_count; ++i)
        if (scene->pictures[i].kind == kind && th_drawn_for(scene, target, scene->pictures[i].to))
            add_picture(nodes, &scene->pictures[i], to);
}

void th_pictures_add_discomfort(const th_nodes *nodes, int target, float *discomfort) {
    add_all(nodes, target, TH_PICTURE_DISCOMFORT, &(destination){.discomfort = discomfort});
}

void th_pictures_add_guidance(const th_nodes *nodes, int target, float follow, th_vec2 *guidance) {
    add_all(nodes, target, TH_PICTURE_GUIDANCE,
            &(destination){.guidance = guidance, .follow = follow});
}
