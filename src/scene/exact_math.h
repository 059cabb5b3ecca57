// exp, log, sine and cosine in double from +, -, *, / and exact bit moves only: the same bits with every
// compiler and library, because drawn properties and round shapes decide where people start.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_SCENE_EXACT_MATH_H
#define TH_SCENE_EXACT_MATH_H
#include <math.h>
#include <stdint.h>
#include <string.h>

// Natural logarithm of a positive, normal x; relative error below 1e-15.
// x = 2^n m with m in [sqrt 1/2, sqrt 2); log m = 2 atanh((m-1)/(m+1)) by its odd series.
static inline double th_exact_log(double x) {
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
    for (int k = 23; k >= 1; k -= 2) sum = sum * s2 + 1.0 / (double)k; // |s| < 0.172: s^24 < 1e-18
    return (double)exponent * 0.6931471805599453 + 2.0 * s * sum;
}

// e^x, clamped to -700 .. 700; relative error below 1e-15. Taylor of degree 14 on |r| <= ln 2 / 2.
static inline double th_exact_exp(double x) {
    x = x < -700.0 ? -700.0 : x > 700.0 ? 700.0 : x;
    double whole = floor(x * 1.4426950408889634 + 0.5);
    double r = x - whole * 0.693147180369123816490;
    r -= whole * 1.90821492927058770002e-10; // ln 2 in two parts
    double sum = 1.0;
    for (int k = 14; k >= 1; --k) sum = 1.0 + sum * r / (double)k;
    uint64_t bits = (uint64_t)((int64_t)whole + 1023) << 52;
    double scale;
    memcpy(&scale, &bits, sizeof scale);
    return sum * scale;
}

// Sine and cosine of turn * 2 pi for turn in [0, 1]; absolute error below 1e-15.
static inline void th_exact_sincos(double turn, double *sine, double *cosine) {
    double quarters = floor(turn * 4.0 + 0.5); // quarter turns, nearest
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
#endif
