// Keeps rounding from moving people outside. O(edges x people), a millisecond per edge and million people.
// SPDX-License-Identifier: Apache-2.0
#include "record/clearance.h"
#include "core/parallel.h"
#include "formula/vec.h"
#include <math.h>
#include <stdlib.h>

static void add_edge(th_edge *edges, int *count, const th_scene *scene, int level, th_vec2 a,
                     th_vec2 b) {
    const float aside = 0.05f; // [m] as the engine looks for what is behind an exit
    th_edge edge = {.a = a, .direction = th_unit(th_sub(b, a)), .level = level};
    edge.length = th_length(th_sub(b, a));
    th_vec2 middle = th_scale(0.5f, th_add(a, b));
    th_vec2 left = th_add(middle, th_scale(aside, th_perp_left(edge.direction)));
    edge.side = th_scene_walkable(scene, level, left) ? 1.0f : -1.0f;
    edges[(*count)++] = edge;
}

th_edge *th_edges_of(const th_scene *scene, int *count) {
    *count = 0;
    int most = scene->goal_count + 2 * scene->link_count;
    if (most == 0) return NULL;
    th_edge *edges = malloc((size_t)most * sizeof *edges);
    if (!edges) {
        *count = -1;
        return NULL;
    }
    for (int g = 0; g < scene->goal_count; ++g) {
        const th_goal *goal = &scene->goals[g];
        if (goal->is_line && goal->kind == TH_GOAL_EXIT)
            add_edge(edges, count, scene, goal->line.level, goal->line.a, goal->line.b);
    }
    for (int l = 0; l < 2 * scene->link_count; ++l) {
        const th_link *link = &scene->links[l / 2];
        add_edge(edges, count, scene, link->level[l % 2], link->a, link->b);
    }
    return edges;
}

// Without branches, so that the loop vectorises; nearly nobody is moved.
TH_CLONES static void keep_clear_of(const th_edge *edge, float clearance, int count, double *x,
                                    double *y, const int32_t *level) {
    const float ax = edge->a.x, ay = edge->a.y, dx = edge->direction.x, dy = edge->direction.y;
    const float most = edge->length + clearance;
    for (int i = 0; i < count; ++i) {
        float here_x = (float)x[i], here_y = (float)y[i];
        float px = here_x - ax, py = here_y - ay;
        float along = px * dx + py * dy, across = py * dx - px * dy;
        bool close = (fabsf(across) < clearance) & (along > -clearance) & (along < most);
        if (level) close &= level[i] == edge->level;
        float side = across > 0.0f ? 1.0f : across < 0.0f ? -1.0f : edge->side;
        float shift = close ? side * clearance - across : 0.0f;
        x[i] = (double)(here_x - shift * dy);
        y[i] = (double)(here_y + shift * dx);
    }
}

void th_keep_clear(const th_edge *edges, int edge_count, float clearance, int count, double *x,
                   double *y, const int32_t *level) {
    for (int e = 0; e < edge_count; ++e) {
        if (!level && edges[e].level != 0) continue;
        keep_clear_of(&edges[e], clearance, count, x, y, level);
    }
}
