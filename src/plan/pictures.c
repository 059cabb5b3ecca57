// SPDX-License-Identifier: Apache-2.0
#include "plan/nodes.h"

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
    const float *numbers = picture->height ? picture->height : picture->discomfort;
    double sum_x = 0.0, sum_y = 0.0;
    for (int row = y.begin; row < y.end; ++row)
        for (int column = x.begin; column < x.end; ++column) {
            size_t k = (size_t)row * (size_t)picture->nx + (size_t)column;
            sum_x += (double)(picture->guidance ? picture->guidance[k].x : numbers[k]);
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

// Between the middles of the four pixels around a place; false: the picture is not there.
static bool height_between(const th_picture *picture, th_vec2 at, float *height) {
    const th_box *box = &picture->box;
    if (!(at.x >= box->min_x && at.x <= box->max_x && at.y >= box->min_y && at.y <= box->max_y))
        return false;
    float x = (at.x - box->min_x) / (box->max_x - box->min_x) * (float)picture->nx - 0.5f;
    float y = (at.y - box->min_y) / (box->max_y - box->min_y) * (float)picture->ny - 0.5f;
    x = th_clamp(x, 0.0f, (float)(picture->nx - 1));
    y = th_clamp(y, 0.0f, (float)(picture->ny - 1));
    int column = (int)x, row = (int)y;
    int right = column + 1 < picture->nx ? 1 : 0, up = row + 1 < picture->ny ? picture->nx : 0;
    float s = x - (float)column, t = y - (float)row;
    const float *h = picture->height + (size_t)row * (size_t)picture->nx + (size_t)column;
    float low = h[0] + s * (h[right] - h[0]), high = h[up] + s * (h[up + right] - h[up]);
    *height = low + t * (high - low);
    return true;
}

// Slopes are differences between nodes: pixels that are not much finer than these would make steps of a ramp.
static bool height_at(const th_picture *picture, th_vec2 at, float spacing, float *height) {
    float pixel = (picture->box.max_x - picture->box.min_x) / (float)picture->nx;
    th_vec2 mean;
    if (4.0f * pixel > spacing) return height_between(picture, at, height);
    if (!mean_at(picture, at, spacing, &mean)) return false;
    *height = mean.x;
    return true;
}

void th_pictures_height(const th_nodes *nodes, float *height) {
    const th_scene *scene = nodes->scene;
    for (int i = 0; i < nodes->count; ++i) height[i] = TH_NO_HEIGHT;
    for (int k = 0; k < scene->picture_count; ++k) {
        const th_picture *picture = &scene->pictures[k];
        const th_node_level *grid = &nodes->levels[picture->level];
        if (picture->kind != TH_PICTURE_HEIGHT) continue;
        for (int i = grid->first; i < grid->first + grid->nx * grid->ny; ++i) {
            float own;
            if (height_at(picture, th_node_position(nodes, grid, i), nodes->spacing, &own))
                height[i] = own + (height[i] < TH_NO_HEIGHT ? height[i] : 0.0f);
        }
    }
}
