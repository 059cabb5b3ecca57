// Elementary functions with the same bits everywhere: only +, -, *, / and bit tricks, so that gcc, clang
// and nvcc, scalar and vector, agree. libm differs between versions and machines.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_FORMULA_MATH_H
#define TH_FORMULA_MATH_H
#include "formula/common.h"
#include <string.h>

// e^x, relative error below 2e-7 for -87 <= x <= 88, clamped outside; not-a-number gives e^-87.
// e^x = 2^n e^r with |r| <= ln(2)/2; e^r by its Taylor polynomial of degree 7, whose rest is below
// 6e-9 there. No branches and no calls: a loop around it vectorises.
TH_FORMULA float th_exp(float x) {
    x = x > -87.0f ? x : -87.0f;
    x = x < 88.0f ? x : 88.0f;
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
}

// Cosine, absolute error below 1e-14 for |x| <= 1000: reduced to |x| <= pi/2 around the nearest
// multiple of pi, then Taylor to x^20.
TH_FORMULA double th_cos(double x) {
    double turns = x * 0.3183098861837907; // 1/pi
    double n = (turns + 6755399441055744.0) - 6755399441055744.0;
    // pi in two parts; the first has 33 bits, so n times it is exact for |n| < 2^20.
    double r = (x - n * 3.1415926534682512) - n * 1.2154201013012384e-10;
    double r2 = r * r, sum = 1.0;
    for (int k = 20; k >= 2; k -= 2) {
        sum = 1.0 - sum * r2 / (double)(k * (k - 1));
    }
    return ((int64_t)n & 1) != 0 ? -sum : sum;
}
#endif
