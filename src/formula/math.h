// Elementary functions with the same bits everywhere: only +, *, / and bit tricks, so that gcc, clang
// and nvcc, scalar and vector, agree. libm differs between versions and machines.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_FORMULA_MATH_H
#define TH_FORMULA_MATH_H
#include <string.h>
#include "formula/common.h"

// e^x, relative error below 3e-7 for -87 <= x <= 88; clamped outside. exp(x) = 2^n 2^f with f in
// [-0.5, 0.5]; 2^f by its Taylor polynomial of degree 7 in f ln 2.
TH_FORMULA float th_exp(float x) {
    x = x < -87.0f ? -87.0f : x;
    x = x > 88.0f ? 88.0f : x;
    float n = x * 1.44269504f;
    // Round to nearest without a branch: 1.5 * 2^23 pushes the fraction out of the mantissa.
    float shifted = n + 12582912.0f;
    float whole = shifted - 12582912.0f;
    float r = x - whole * 0.693359375f; // ln 2 in two parts (Cody-Waite)
    r = r - whole * -2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    int32_t exponent = (int32_t)whole;
    uint32_t bits = (uint32_t)(exponent + 127) << 23;
    float scale;
    memcpy(&scale, &bits, sizeof scale);
    return p * scale;
}
#endif
