// Segments against points and segments. The crossing test errs on the side of "crosses", so that a
// wall is never passed through rounding. SPDX-License-Identifier: Apache-2.0
#ifndef TH_FORMULA_SEGMENT_H
#define TH_FORMULA_SEGMENT_H
#include "formula/vec.h"

TH_FORMULA float th_segment_distance2(th_vec2 p, th_vec2 a, th_vec2 b) {
    return th_length2(th_sub(p, th_nearest_on_segment(p, a, b)));
}

// Twice the signed area of (a, b, c), 0 when the three points are in line up to rounding. Differences
// of floats are nearly exact in double and the products lose at most a few of 53 bits, so 1e-12
// relative covers the rounding of the sum with room to spare.
TH_FORMULA double th_orientation(th_vec2 a, th_vec2 b, th_vec2 c) {
    double abx = (double)b.x - (double)a.x, aby = (double)b.y - (double)a.y;
    double acx = (double)c.x - (double)a.x, acy = (double)c.y - (double)a.y;
    double left = abx * acy, right = aby * acx;
    double area = left - right;
    double slack = 1e-12 * (fabs(left) + fabs(right));
    return area > slack || area < -slack ? area : 0.0;
}

TH_FORMULA bool th_ranges_touch(float a0, float a1, float b0, float b1) {
    return th_min(a0, a1) <= th_max(b0, b1) && th_min(b0, b1) <= th_max(a0, a1);
}

// Do the boxes around p..q and a..b come within `margin` of each other? A cheap test that rejects nearly every pair.
TH_FORMULA bool th_boxes_touch(th_vec2 p, th_vec2 q, th_vec2 a, th_vec2 b, float margin) {
    return th_min(p.x, q.x) <= th_max(a.x, b.x) + margin &&
           th_min(a.x, b.x) <= th_max(p.x, q.x) + margin &&
           th_min(p.y, q.y) <= th_max(a.y, b.y) + margin &&
           th_min(a.y, b.y) <= th_max(p.y, q.y) + margin;
}

// Where c lies along p -> q, as a fraction in [0, 1].
TH_FORMULA double th_segment_fraction(th_vec2 p, th_vec2 q, th_vec2 c) {
    double dx = (double)q.x - (double)p.x, dy = (double)q.y - (double)p.y;
    double length2 = dx * dx + dy * dy;
    if (length2 <= 0.0) return 0.0;
    double t = (((double)c.x - (double)p.x) * dx + ((double)c.y - (double)p.y) * dy) / length2;
    return t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t;
}

// Does the straight line through p and q run between a and b? A point on the line is on its right.
TH_FORMULA bool th_line_parts(th_vec2 p, th_vec2 q, th_vec2 a, th_vec2 b) {
    th_vec2 pq = th_sub(q, p);
    return (th_det(pq, th_sub(a, p)) > 0.0f) != (th_det(pq, th_sub(b, p)) > 0.0f);
}

// The direction in which the path p -> q crosses the segment a..b: +1 from the right of a -> b to its left, -1 back,
// 0 not at all. A point on the line is on its right, so that a path cut into steps is counted once.
// For counting people; th_segments_meet decides whether a wall stops an agent.
TH_FORMULA int th_segment_crossing(th_vec2 p, th_vec2 q, th_vec2 a, th_vec2 b) {
    if (!th_boxes_touch(p, q, a, b, 0.0f)) return 0;
    if (!th_line_parts(a, b, p, q) || !th_line_parts(p, q, a, b)) return 0;
    return th_det(th_sub(b, a), th_sub(q, a)) > 0.0f ? 1 : -1;
}

// Does the path p -> q meet the segment a..b? Touching and collinear overlap count. *t is the
// fraction of the path walked when it first does.
TH_FORMULA bool th_segments_meet(th_vec2 p, th_vec2 q, th_vec2 a, th_vec2 b, double *t) {
    if (!th_boxes_touch(p, q, a, b, 0.0f)) return false;
    double side_p = th_orientation(a, b, p), side_q = th_orientation(a, b, q);
    if ((side_p > 0.0 && side_q > 0.0) || (side_p < 0.0 && side_q < 0.0)) return false;
    double side_a = th_orientation(p, q, a), side_b = th_orientation(p, q, b);
    if ((side_a > 0.0 && side_b > 0.0) || (side_a < 0.0 && side_b < 0.0)) return false;
    if (side_p == 0.0 && side_q == 0.0) { // in line (or one of them a point); the boxes overlap
        double ta = th_segment_fraction(p, q, a), tb = th_segment_fraction(p, q, b);
        double first = ta < tb ? ta : tb;
        bool inside = th_segment_distance2(p, a, b) <= 0.0f;
        *t = inside ? 0.0 : first;
        return true;
    }
    *t = side_p == 0.0 ? 0.0 : fabs(side_p) / (fabs(side_p) + fabs(side_q));
    return true;
}
#endif
