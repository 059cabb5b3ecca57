// Is a point inside? SPDX-License-Identifier: Apache-2.0
#include "scene/scene.h"

// Even-odd rule; an edge counts for its lower end but not its upper, so a ray through a corner counts once.
TH_BOTH bool th_polygons_contain(const th_polygons *polygons, th_vec2 point) {
    if (polygons->ring_count == 0 || point.x < polygons->box.min_x ||
        point.x > polygons->box.max_x || point.y < polygons->box.min_y ||
        point.y > polygons->box.max_y)
        return false;
    bool inside = false;
    for (int r = 0; r < polygons->ring_count; ++r) {
        int begin = polygons->ring_start[r], end = polygons->ring_start[r + 1];
        th_vec2 a = polygons->points[end - 1];
        for (int i = begin; i < end; ++i) {
            th_vec2 b = polygons->points[i];
            if ((a.y <= point.y) != (b.y <= point.y)) {
                double t = ((double)point.y - (double)a.y) / ((double)b.y - (double)a.y);
                double x = (double)a.x + t * ((double)b.x - (double)a.x);
                if (x > (double)point.x) inside = !inside;
            }
            a = b;
        }
    }
    return inside;
}
