// Plane vectors. Right-handed, x east, y north. SPDX-License-Identifier: Apache-2.0
#ifndef TH_FORMULA_VEC_H
#define TH_FORMULA_VEC_H
#include "core/device.h"
#include <math.h>

TH_FORMULA th_vec2 th_v(float x, float y) {
    th_vec2 r;
    r.x = x;
    r.y = y;
    return r;
}
TH_FORMULA th_vec2 th_add(th_vec2 a, th_vec2 b) { return th_v(a.x + b.x, a.y + b.y); }
TH_FORMULA th_vec2 th_sub(th_vec2 a, th_vec2 b) { return th_v(a.x - b.x, a.y - b.y); }
TH_FORMULA th_vec2 th_scale(float s, th_vec2 a) { return th_v(s * a.x, s * a.y); }
TH_FORMULA float th_dot(th_vec2 a, th_vec2 b) { return a.x * b.x + a.y * b.y; }
TH_FORMULA float th_det(th_vec2 a, th_vec2 b) { return a.x * b.y - a.y * b.x; }
TH_FORMULA th_vec2 th_perp_left(th_vec2 a) { return th_v(-a.y, a.x); }
TH_FORMULA th_vec2 th_perp_right(th_vec2 a) { return th_v(a.y, -a.x); }
TH_FORMULA float th_length2(th_vec2 a) { return a.x * a.x + a.y * a.y; }
TH_FORMULA float th_length(th_vec2 a) { return sqrtf(th_length2(a)); } // sqrt is exact in IEEE 754
#ifdef TH_HARDWARE_MATH // one instruction instead of two; differs for NaN only
TH_FORMULA float th_min(float a, float b) { return fminf(a, b); }
TH_FORMULA float th_max(float a, float b) { return fmaxf(a, b); }
#else
TH_FORMULA float th_min(float a, float b) { return a < b ? a : b; }
TH_FORMULA float th_max(float a, float b) { return a > b ? a : b; }
#endif
TH_FORMULA float th_clamp(float x, float low, float high) { return th_min(th_max(x, low), high); }
// (0, 0) for vectors too short to have a direction.
TH_FORMULA th_vec2 th_unit(th_vec2 a) {
    float length = th_length(a);
    return length > 1e-12f ? th_scale(1.0f / length, a) : th_v(0.0f, 0.0f);
}
// Shortens a to at most `limit`.
TH_FORMULA th_vec2 th_limit(th_vec2 a, float limit) {
    float length2 = th_length2(a);
    return length2 > limit * limit ? th_scale(limit / sqrtf(length2), a) : a;
}
// Nearest point to p on the segment a..b.
TH_FORMULA th_vec2 th_nearest_on_segment(th_vec2 p, th_vec2 a, th_vec2 b) {
    th_vec2 ab = th_sub(b, a);
    float length2 = th_length2(ab);
    float s = length2 > 0.0f ? th_clamp(th_dot(th_sub(p, a), ab) / length2, 0.0f, 1.0f) : 0.0f;
    return th_add(a, th_scale(s, ab));
}
#endif
