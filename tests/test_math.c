// formula/math.h against libm, and scalar against vector bits. SPDX-License-Identifier: Apache-2.0
#include "core/parallel.h"
#include "formula/math.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static void exp_stays_within_its_error_bound(void **state) {
    (void)state;
    double worst = 0.0;
    // Every 997th float: 440 000 of them.
    for (float start = 1e-6f; start < 88.0f;) {
        for (int sign = -1; sign <= 1; sign += 2) {
            float x = (float)sign * start;
            if (x < -87.0f) continue;
            double exact = exp((double)x), error = fabs((double)th_exp(x) - exact) / exact;
            worst = error > worst ? error : worst;
        }
        uint32_t bits;
        memcpy(&bits, &start, sizeof bits);
        bits += 997;
        memcpy(&start, &bits, sizeof start);
    }
    assert_true(worst < 2e-7);
    assert_true(worst > 1e-9); // the loop has seen something
    assert_true(th_exp(0.0f) == 1.0f);
}

static void exp_is_clamped_and_never_fails(void **state) {
    (void)state;
    assert_true(th_exp(-1e30f) == th_exp(-87.0f));
    assert_true(th_exp(-INFINITY) == th_exp(-87.0f));
    assert_true(th_exp(1e30f) == th_exp(88.0f));
    assert_true(th_exp(INFINITY) == th_exp(88.0f));
    assert_true(isfinite(th_exp(88.0f)));
    assert_true(th_exp(NAN) == th_exp(-87.0f));
    assert_true(th_exp(-87.0f) > 0.0f);
}

static void exp_does_not_decrease_where_steps_are_larger_than_its_error(void **state) {
    (void)state;
    float last = 0.0f;
    for (int k = -87000; k <= 88000; ++k) {
        float y = th_exp((float)k * 0.001f);
        assert_true(y > last);
        last = y;
    }
}

TH_CLONES static void exp_of_all(const float *restrict x, float *restrict y, int count) {
    for (int k = 0; k < count; ++k) y[k] = th_exp(x[k]);
}

static void exp_has_the_same_bits_in_a_vector_loop(void **state) {
    (void)state;
    enum { COUNT = 4099 };
    static float x[COUNT], y[COUNT];
    for (int k = 0; k < COUNT; ++k) x[k] = -90.0f + (float)k * 0.0437f;
    exp_of_all(x, y, COUNT);
    for (int k = 0; k < COUNT; ++k) {
        volatile float one = x[k];
        float alone = th_exp(one);
        assert_memory_equal(&alone, &y[k], sizeof alone);
    }
}

static void functions_in_double_stay_within_their_error_bounds(void **state) {
    (void)state;
    for (double x = 1e-12; x < 1e12; x *= 1.0137) {
        double wanted = log(x);
        assert_true(fabs(th_log_double(x) - wanted) <= 4e-15 * fmax(1.0, fabs(wanted)));
    }
    for (double x = -699.0; x < 700.0; x += 0.037) {
        assert_true(fabs(th_exp_double(x) / exp(x) - 1.0) < 1e-14);
    }
    assert_true(th_exp_double(-1e300) == th_exp_double(-700.0) && isfinite(th_exp_double(1e300)));
    for (double turn = 0.0; turn <= 1.0; turn += 1.0 / 8192.0) {
        double sine, cosine;
        th_sincos_turn(turn, &sine, &cosine);
        assert_true(fabs(sine - sin(turn * 6.283185307179586)) < 4e-15);
        assert_true(fabs(cosine - cos(turn * 6.283185307179586)) < 4e-15);
    }
}

static void quarter_turns_are_exact(void **state) {
    (void)state;
    const double wanted[5][2] = {{0, 1}, {1, 0}, {0, -1}, {-1, 0}, {0, 1}};
    for (int k = 0; k <= 4; ++k) {
        double sine, cosine;
        th_sincos_turn(0.25 * k, &sine, &cosine);
        assert_true(sine == wanted[k][0] && cosine == wanted[k][1]);
    }
}

static void lanes_add_up_in_the_stated_tree(void **state) {
    (void)state;
    th_lanes lanes;
    for (int l = 0; l < TH_LANES; ++l) lanes.lane[l] = (float)(1 << l);
    assert_true(th_lanes_sum(&lanes) == 65535.0f);
    // 1e8 swallows a 1 added alone, so only the stated order keeps both of them: lanes 0 and 8 cancel.
    memset(&lanes, 0, sizeof lanes);
    lanes.lane[0] = 1e8f;
    lanes.lane[8] = -1e8f;
    lanes.lane[1] = 1.0f;
    assert_true(th_lanes_sum(&lanes) == 1.0f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exp_stays_within_its_error_bound),
        cmocka_unit_test(exp_is_clamped_and_never_fails),
        cmocka_unit_test(exp_does_not_decrease_where_steps_are_larger_than_its_error),
        cmocka_unit_test(exp_has_the_same_bits_in_a_vector_loop),
        cmocka_unit_test(functions_in_double_stay_within_their_error_bounds),
        cmocka_unit_test(quarter_turns_are_exact),
        cmocka_unit_test(lanes_add_up_in_the_stated_tree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
