// Sums over many neighbours that vectorise and still have one order: neighbour k always goes to lane
// k mod TH_LANES, and the lanes are added in a fixed tree, so the bits do not depend on how wide the
// machine's registers are. SPDX-License-Identifier: Apache-2.0
#ifndef TH_FORMULA_LANES_H
#define TH_FORMULA_LANES_H
#include "formula/common.h"

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
#endif
