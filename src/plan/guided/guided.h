// Navigation fields (Patil, van den Berg, Curtis, Lin, Manocha 2011; Cheng 2013, sections 4.2 and 4.4): the maths of
// one stroke, one triangle of the lattice and one person.
//
// Implemented: strokes spread to a guidance field G with |G| < 1; an agent moves with G + u, |u| <= 1, so the speed in
// the unit direction a is s = a.G + sqrt((a.G)^2 - |G|^2 + 1) (eq. 4.10); cost-to-go C with max over a of (-grad C . a)
// s = 1 (eq. 4.8); the direction of motion stored at every node (eq. 4.13), which is not -grad C. Put right: eq. 4.11
// leaves out the way to the crossing point and gives the Manhattan metric where G = 0; eq. 4.13 is not of unit length.
// Additions: triangles half as wide (eight neighbours), zones, stairs and discomfort as slower ground, levels, doors.
// Dynamic variant (section 4.4): the speed on which the cost reckons is that of the continuum planner (eq. 4.1).
// Left out: guidance from films. SPDX-License-Identifier: Apache-2.0
#ifndef TH_PLAN_GUIDED_GUIDED_H
#define TH_PLAN_GUIDED_GUIDED_H
#include "formula/params.h"
#include "formula/vec.h"

// X(name, default, min, max, "unit", "source", "doc")
#define TH_GUIDED_PARAMS(X)                                                                      \
    X(cell, 0, 0, 5, "m",                                                                        \
      "throng: fine enough for the narrowest door; taken when the world is made",                \
      "side of a cell, 0: that of the distance fields, with `every` 0.5; the smallest one of "   \
      "all groups holds")                                                                        \
    X(follow, 1, 0, 10, "-", "throng",                                                           \
      "factor on the strength of all strokes, 0: the shortest way")                              \
    X(most, 0.95, 0, 0.99, "-", "throng: 39 times quicker along than against, and still finite", \
      "longest guidance; what strokes add up to beyond it is cut")                               \
    X(discomfort_weight, 1, 0, 100, "-", "Treuille 2006, gamma",                                 \
      "weight of discomfort: at 1 a metre in a zone of 1 is as bad as two elsewhere")            \
    X(every, 0, 0, 1000, "steps", "Cheng 2013, section 4.4; taken when the world is made",       \
      "steps between two solutions that count the crowd, 0: never, the crowd is not counted")    \
    X(top_speed, 1.34, 0.1, 10, "m/s", "Weidmann 1993",                                          \
      "with `every`: speed on free ground with which the cost reckons")                          \
    X(least_speed, 0.05, 0.001, 1, "m/s", "as the plan continuum",                               \
      "with `every`: speed against a dense flow")                                                \
    X(density_min, 0.5, 0.01, 20, "-", "Treuille 2006",                                          \
      "with `every`: splat up to which people walk freely")                                      \
    X(density_max, 0.8, 0.02, 20, "-", "as the plan continuum",                                  \
      "with `every`: splat from which on people walk with the flow")

typedef struct th_guided_params {
    TH_GUIDED_PARAMS(TH_PARAM_MEMBER)
} th_guided_params;

// ---- strokes

// How much of a stroke is felt at a distance from it: all on the line, nothing from the radius on, smooth at both.
TH_FORMULA float th_stroke_weight(float distance2, float radius) {
    float left = 1.0f - distance2 / (radius * radius);
    return left > 0.0f ? left * left : 0.0f;
}

// ---- cost

// Seconds for the displacement (x, y) where people walk at 1 m/s and g is the guidance: the T with |d / T - g| = 1.
TH_FORMULA float th_guided_time(th_vec2 d, th_vec2 g) {
    float along = th_dot(d, g), length2 = th_length2(d);
    float root = sqrtf(along * along + length2 * (1.0f - th_length2(g)));
    return length2 > 0.0f ? length2 / (along + root) : 0.0f;
}

typedef struct th_guided_step {
    float value;       // cost-to-go
    th_vec2 direction; // of motion, of any length
} th_guided_step;

// A node, its axis neighbour (value `axis`, one spacing away in direction (1, 0)) and the diagonal one beside it (value
// `diagonal`, in direction (1, 1)) form a triangle; g is the guidance in these coordinates, `cost` spacing times
// slowness. The least (1 - b) axis + b diagonal + cost T((1, b)) over 0 <= b <= 1. Let (X, Y) = -grad C times the
// spacing: Y = axis - diagonal is known, X = C - axis is not, and eq. 4.8 reads |(X, Y)| = cost - g.(X, Y). With k =
// cost - g.y Y that is (1 - g.x^2) X^2 + 2 k g.x X + Y^2 - k^2 = 0. The motion, g + (X, Y) / |(X, Y)|, must pass
// between the two neighbours; if it does not, one of them alone has the least (T is convex). The card's form with two
// axis neighbours is the same equation.
TH_FORMULA th_guided_step th_guided_triangle(float axis, float diagonal, th_vec2 g, float cost) {
    th_vec2 along = th_v(1.0f, 0.0f), across = th_v(1.0f, 1.0f);
    th_guided_step best = {axis + cost * th_guided_time(along, g), along};
    float corner = diagonal + cost * th_guided_time(across, g);
    if (corner < best.value) best = (th_guided_step){corner, across};
    float y = axis - diagonal, k = cost - g.y * y, a = 1.0f - g.x * g.x;
    float root2 = k * k - a * y * y;
    if (!(k > 0.0f && root2 >= 0.0f)) return best;
    float root = sqrtf(root2);
    // The larger root, in the form that does not cancel.
    float x = g.x > 0.0f ? (k * k - y * y) / (k * g.x + root) : (root - k * g.x) / a;
    float length = sqrtf(x * x + y * y);
    if (!(length > 0.0f && k - g.x * x >= 0.0f)) return best;
    th_vec2 motion = th_v(g.x + x / length, g.y + y / length);
    if (motion.x > 0.0f && motion.y >= 0.0f && motion.y <= motion.x && axis + x < best.value)
        best = (th_guided_step){axis + x, motion};
    return best;
}
#endif
