// Elementary functions with the same bits everywhere: only +, -, *, /, floor and bit tricks, so that gcc,
// clang and nvcc, scalar and vector, agree. libm differs between versions and machines.
// One exception: th_exp, th_inverse_root, th_divide and th_root are instructions of a GPU there, right to
// about 1e-6 of the value, because they are a large part of what a pair of people costs; a build with TH_EXACT has the
// CPU's bits (docs/gpu.md).
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_FORMULA_MATH_H
#define TH_FORMULA_MATH_H
#include "core/device.h"
#include "formula/vec.h"
#include <math.h>
#include <string.h>

// e^x, relative error below 2e-7 for -87 <= x <= 88, clamped outside; not-a-number gives e^-87.
// e^x = 2^n e^r with |r| <= ln(2)/2; e^r by its Taylor polynomial of degree 7, whose rest is below
// 6e-9 there. No branches and no calls: a loop around it vectorises.
TH_FORMULA float th_exp(float x) {
    x = x > -87.0f ? x : -87.0f;
    x = x < 88.0f ? x : 88.0f;
#ifdef TH_HARDWARE_MATH
    float power;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x * 1.44269504f));
    return power;
#else
    // Round to nearest without a branch: 1.5 * 2^23 pushes the fraction out of the mantissa.
    float whole = (x * 1.44269504f + 12582912.0f) - 12582912.0f;
    // ln 2 in two parts (Cody and Waite): the first has 10 bits, so whole * part is exact.
    float r = x - whole * 0.693359375f;
    r = r + whole * 2.12194440e-4f;
    float p = 1.0f / 5040.0f;
    p = p * r + 1.0f / 720.0f;
    p = p * r + 1.0f / 120.0f;
    p = p * r + 1.0f / 24.0f;
    p = p * r + 1.0f / 6.0f;
    p = p * r + 0.5f;
    p = p * (r * r) + r + 1.0f;
    uint32_t bits = (uint32_t)((int32_t)whole + 127) << 23;
    float scale;
    memcpy(&scale, &bits, sizeof scale);
    return p * scale;
#endif
}

// 1 / sqrt(x) for positive, normal x; relative error below 5e-6. A first guess from the exponent (Lomont 2003)
// and two Newton steps; in a vector loop it costs less than one square root or division.
TH_FORMULA float th_inverse_root(float x) {
#ifdef TH_HARDWARE_MATH
    float root;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(x));
    return root;
#else
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = 0x5f375a86u - (bits >> 1);
    float y;
    memcpy(&y, &bits, sizeof y);
    y = y * (1.5f - (0.5f * x) * (y * y));
    return y * (1.5f - (0.5f * x) * (y * y));
#endif
}

// a / b and sqrt(x). Exactly rounded on a CPU, approximate on a GPU. Use them for forces and directions, not for
// tests that decide on which side of a line an agent is. On a GPU b must be below 8e37.
TH_FORMULA float th_divide(float a, float b) {
#ifdef TH_HARDWARE_MATH
    float ratio;
    asm("div.approx.ftz.f32 %0, %1, %2;" : "=f"(ratio) : "f"(a), "f"(b));
    return ratio;
#else
    return a / b;
#endif
}
TH_FORMULA float th_root(float x) {
#ifdef TH_HARDWARE_MATH
    float root;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(x));
    return root;
#else
    return sqrtf(x);
#endif
}

// e^x in double, clamped to -700 .. 700; relative error below 1e-14. Taylor of degree 14 on
// |r| <= ln(2)/2.
TH_FORMULA double th_exp_double(double x) {
    x = x < -700.0 ? -700.0 : x > 700.0 ? 700.0 : x;
    double whole = floor(x * 1.4426950408889634 + 0.5);
    double r = x - whole * 0.693147180369123816490;
    r -= whole * 1.90821492927058770002e-10; // ln 2 in two parts
    double sum = 1.0;
    for (int k = 14; k >= 1; --k) {
        sum = 1.0 + sum * r / (double)k;
    }
    uint64_t bits = (uint64_t)((int64_t)whole + 1023) << 52;
    double scale;
    memcpy(&scale, &bits, sizeof scale);
    return sum * scale;
}

// Natural logarithm of a positive, normal x; relative error below 4e-15.
// x = 2^n m with m in [sqrt 1/2, sqrt 2); log m = 2 atanh((m-1)/(m+1)) by its odd series.
TH_FORMULA double th_log_double(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int exponent = (int)(bits >> 52) - 1023;
    bits = (bits & 0xFFFFFFFFFFFFFu) | 0x3FF0000000000000u;
    double m;
    memcpy(&m, &bits, sizeof m);
    if (m > 1.4142135623730951) {
        m *= 0.5;
        ++exponent;
    }
    double s = (m - 1.0) / (m + 1.0), s2 = s * s, sum = 0.0;
    for (int k = 23; k >= 1; k -= 2) { // |s| < 0.172: s^24 < 1e-18
        sum = sum * s2 + 1.0 / (double)k;
    }
    return (double)exponent * 0.6931471805599453 + 2.0 * s * sum;
}

// Sine and cosine of turn * 2 pi for turn in [0, 1]; absolute error below 4e-15. In turns, because
// the reduction to the nearest quarter is then exact.
TH_FORMULA void th_sincos_turn(double turn, double *sine, double *cosine) {
    double quarters = floor(turn * 4.0 + 0.5);
    double a = (turn - quarters * 0.25) * 6.283185307179586, a2 = a * a;
    double s = 1.0, c = 1.0;
    for (int k = 10; k >= 1; --k) {
        s = 1.0 - s * a2 / (double)((2 * k) * (2 * k + 1));
        c = 1.0 - c * a2 / (double)((2 * k - 1) * (2 * k));
    }
    s *= a;
    int quarter = (int)quarters & 3;
    *sine = quarter == 0 ? s : quarter == 1 ? c : quarter == 2 ? -s : -c;
    *cosine = quarter == 0 ? c : quarter == 1 ? -s : quarter == 2 ? -c : s;
}

// ---- lanes

// Sums over many neighbours that vectorise and still have one order: neighbour k always goes to lane
// k mod TH_LANES, and the lanes are added in a fixed tree, so the bits do not depend on how wide the
// machine's registers are.

enum { TH_LANES = 16 }; // one AVX-512 register of floats

typedef struct th_lanes {
    float lane[TH_LANES];
} th_lanes;

TH_FORMULA float th_lanes_sum(const th_lanes *lanes) {
    float sum[TH_LANES / 2];
    for (int i = 0; i < 8; ++i) {
        sum[i] = lanes->lane[i] + lanes->lane[i + 8];
    }
    for (int i = 0; i < 4; ++i) {
        sum[i] += sum[i + 4];
    }
    return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

// ---- the eikonal equation

// The local solver of |grad d| = slowness on a lattice with eight neighbours.

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
