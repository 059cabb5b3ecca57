// The local solver of |grad d| = slowness on a lattice with eight neighbours.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_FORMULA_EIKONAL_H
#define TH_FORMULA_EIKONAL_H
#include "formula/vec.h"

#define TH_UNREACHABLE \
    1e30f // walking distance of a place that cannot be reached; finite, so that sums stay finite

// A node, its axis neighbour (value `axis`, one spacing away) and the diagonal neighbour beside it
// (value `diagonal`) form a right triangle. The front comes through the side between the two, on which
// d is linear: the least axis + s (diagonal - axis) + cost sqrt(1 + s^2) over 0 <= s <= 1, where
// cost = slowness * spacing. With g = (axis - diagonal) / cost the minimum is at
// s / sqrt(1 + s^2) = g, where the value is axis + cost sqrt(1 - g^2).
// The eight-neighbour form of Sethian's upwind update (1996): triangles half as wide as the usual
// four make the error around point sources and corners several times smaller.
TH_FORMULA float th_eikonal_triangle(float axis, float diagonal, float cost) {
    float g = (axis - diagonal) / cost;
    if (g <= 0.0f) return axis + cost;
    if (g >= 0.70710678f) return diagonal + cost * 1.41421356f;
    return axis + cost * sqrtf(1.0f - g * g);
}
#endif
