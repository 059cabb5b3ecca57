// Numbers that should be equal, in double precision: cmocka compares floats. SPDX-License-Identifier: Apache-2.0
#ifndef TH_TESTS_NEAR_H
#define TH_TESTS_NEAR_H
#include <math.h>

#define assert_near(found, wanted, tolerance)                                     \
    do {                                                                          \
        double a = (found), b = (wanted);                                         \
        if (!(fabs(a - b) <= (tolerance))) fail_msg("%.12g, wanted %.12g", a, b); \
    } while (0)
#endif
