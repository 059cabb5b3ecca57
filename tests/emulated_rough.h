// Makes an emulated device (tests/CMakeLists.txt) as inexact as a GPU: the functions of formula/math.h that a GPU takes
// from its hardware get a relative error of up to 1e-6 here, a different one for every argument. Stands before
// a .cu file. SPDX-License-Identifier: Apache-2.0
#ifndef TH_TESTS_EMULATED_ROUGH_H
#define TH_TESTS_EMULATED_ROUGH_H
#define TH_ROUGH
// clang-format off
#include "device/device.cuh"
#include "formula/math.h"
// clang-format on

// Times 1 + e, |e| <= 1e-6, by the value's own bits.
TH_FORMULA float rough(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits = (bits ^ bits >> 15) * 0x2c1b3c6du;
    bits = (bits ^ bits >> 12) * 0x297a2d39u;
    return value * (1.0f + 1e-6f * ((float)(bits >> 8) / 8388608.0f - 1.0f));
}
// Roughened true values, as a GPU has them, and not of the CPU's own approximation, which is off by up to 5e-6.
TH_FORMULA float rough_inverse_root(float x) { return rough(1.0f / sqrtf(x)); }
TH_FORMULA float rough_exp(float x) {
    return rough(expf(x > -87.0f ? x < 88.0f ? x : 88.0f : -87.0f));
}
TH_FORMULA float rough_root(float x) { return rough(sqrtf(x)); }
TH_FORMULA float rough_divide(float a, float b) { return rough(a / b); }
#define th_inverse_root rough_inverse_root
#define th_exp rough_exp
#define th_root rough_root
#define th_divide rough_divide
#endif
