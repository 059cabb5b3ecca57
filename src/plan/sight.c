// What can be seen from where, and the nearest point of a goal: the questions of everybody who looks for a
// way. SPDX-License-Identifier: Apache-2.0
#include "formula/segment.h"
#include "plan/field/field.h"

TH_BOTH const th_portal *th_portal_find(const th_graph *graph, int node) {
    int low = 0, high = graph->nodes->portal_count - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (graph->portals[middle].node < node)
            low = middle + 1;
        else
            high = middle;
    }
    return &graph->portals[low];
}

TH_BOTH static bool clear_path(const th_walls *walls, int level, th_vec2 p, th_vec2 q) {
    float length = th_length(th_sub(q, p));
    if (length <= 1e-3f) return true;
    th_vec2 end = th_add(p, th_scale((length - 1e-3f) / length, th_sub(q, p)));
    return th_walls_first_crossing(walls, level, p, end, NULL) < 0;
}

TH_BOTH bool th_in_sight(const th_scene *scene, const th_walls *walls, int level_p, th_vec2 p,
                         int level_q, th_vec2 q) {
    if (level_p == level_q) return clear_path(walls, level_p, p, q);
    for (int i = 0; i < scene->link_count; ++i) {
        const th_link *link = &scene->links[i];
        int side = link->level[0] == level_p ? 0 : 1;
        if (link->level[side] != level_p || link->level[1 - side] != level_q) continue;
        float along = th_dot(th_sub(q, p), link->up);
        if (side == 0 ? along <= 0.0f : along >= 0.0f) continue;
        double t;
        if (!th_segments_meet(p, q, link->a, link->b, &t)) continue;
        th_vec2 on_line = th_add(p, th_scale((float)t, th_sub(q, p)));
        if (clear_path(walls, level_p, p, on_line) && clear_path(walls, level_q, q, on_line))
            return true;
    }
    return false;
}

TH_BOTH static th_vec2 nearest_on_rings(const th_polygons *shape, th_vec2 p) {
    th_vec2 best = p;
    float best2 = 3e38f;
    for (int r = 0; r < shape->ring_count; ++r) {
        int begin = shape->ring_start[r], end = shape->ring_start[r + 1];
        for (int i = begin, j = end - 1; i < end; j = i++) {
            th_vec2 q = th_nearest_on_segment(p, shape->points[j], shape->points[i]);
            float distance2 = th_length2(th_sub(q, p));
            if (distance2 < best2) {
                best2 = distance2;
                best = q;
            }
        }
    }
    return best;
}

TH_BOTH th_vec2 th_goal_nearest(const th_goal *goal, th_vec2 p, float inset) {
    if (!goal->is_line)
        return th_polygons_contain(&goal->area.shape, p) ? p
                                                         : nearest_on_rings(&goal->area.shape, p);
    th_vec2 along = th_sub(goal->line.b, goal->line.a);
    float length = th_length(along);
    if (length <= 0.0f) return goal->line.a;
    th_vec2 cut = th_scale(th_min(inset, 0.49f * length) / length, along);
    return th_nearest_on_segment(p, th_add(goal->line.a, cut), th_sub(goal->line.b, cut));
}
