// formula/random.h: Philox against the known answers, and what is made of its words.
// SPDX-License-Identifier: Apache-2.0
#include "formula/random.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

// philox4x32, 10 rounds, of kat_vectors in the Random123 distribution. Counter words are (agent,
// stream, step low, step high), key words (seed low, seed high).
static void philox_gives_the_known_answers(void **state) {
    (void)state;
    static const struct {
        uint32_t counter[4], key[2], answer[4];
    } known[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t k = 0; k < sizeof known / sizeof known[0]; ++k) {
        const uint32_t *c = known[k].counter;
        uint64_t seed = (uint64_t)known[k].key[1] << 32 | known[k].key[0];
        th_random4 r = th_philox(seed, c[1], c[0], (uint64_t)c[3] << 32 | c[2]);
        for (int w = 0; w < 4; ++w) assert_int_equal(r.v[w], known[k].answer[w]);
    }
}

// 65536 draws into 64 bins: chi-square has 63 degrees of freedom, 1 in 10^4 are above 117.
static double chi_square(uint32_t stream, int word, bool over_steps) {
    enum { BINS = 64, DRAWS = 65536 };
    int bins[BINS] = {0};
    for (uint32_t k = 0; k < DRAWS; ++k) {
        th_random4 r = over_steps ? th_philox(7, stream, 3, k) : th_philox(7, stream, k, 3);
        float u = th_uniform(r.v[word]);
        assert_true(u >= 0.0f && u < 1.0f);
        ++bins[(int)(u * BINS)];
    }
    double sum = 0.0, expected = (double)DRAWS / BINS;
    for (int b = 0; b < BINS; ++b) sum += (bins[b] - expected) * (bins[b] - expected) / expected;
    return sum;
}

static void draws_are_uniform_over_agents_and_steps(void **state) {
    (void)state;
    for (int word = 0; word < 4; ++word) {
        for (int over_steps = 0; over_steps <= 1; ++over_steps) {
            double x2 = chi_square(TH_STREAM_NOISE, word, over_steps != 0);
            assert_true(x2 > 27.0 && x2 < 117.0); // both tails
        }
    }
}

static void streams_and_neighbours_are_not_correlated(void **state) {
    (void)state;
    enum { DRAWS = 20000 };
    double stream = 0.0, agent = 0.0, step = 0.0;
    for (uint32_t k = 0; k < DRAWS; ++k) {
        double u = (double)th_uniform(th_philox(1, TH_STREAM_SPEED, k, 5).v[0]) - 0.5;
        stream += u * ((double)th_uniform(th_philox(1, TH_STREAM_MASS, k, 5).v[0]) - 0.5);
        agent += u * ((double)th_uniform(th_philox(1, TH_STREAM_SPEED, k + 1, 5).v[0]) - 0.5);
        step += u * ((double)th_uniform(th_philox(1, TH_STREAM_SPEED, k, 6).v[0]) - 0.5);
    }
    // The sum of products has deviation sqrt(n)/12; four of them are 1 in 16000.
    double bound = 4.0 * sqrt(DRAWS) / 12.0;
    assert_true(fabs(stream) < bound && fabs(agent) < bound && fabs(step) < bound);
}

static void uniforms_keep_inside_their_interval(void **state) {
    (void)state;
    assert_true(th_uniform(0) == 0.0f);
    assert_true(th_uniform(0xffffffffu) < 1.0f);
    assert_true(th_uniform_double(0, 0) > 0.0);
    assert_true(th_uniform_double(0xffffffffu, 0xffffffffu) < 1.0);
    assert_true(th_uniform_double(0x80000000u, 0) > 0.5);
    assert_true(th_uniform_double(0x7fffffffu, 0xffffffffu) < 0.5);
}

static void pair_directions_are_unit_and_opposite(void **state) {
    (void)state;
    double sum_x = 0.0, sum_y = 0.0;
    for (uint32_t i = 1; i <= 100; ++i) {
        for (uint32_t j = i + 1; j <= 101; ++j) {
            th_vec2 a = th_pair_direction(i, j), b = th_pair_direction(j, i);
            assert_true(a.x == -b.x && a.y == -b.y);
            assert_true(fabs(hypot((double)a.x, (double)a.y) - 1.0) < 1e-6);
            sum_x += (double)a.x;
            sum_y += (double)a.y;
        }
    }
    // 5050 unit vectors in all directions: the mean's components have deviation 0.01.
    assert_true(fabs(sum_x / 5050.0) < 0.05 && fabs(sum_y / 5050.0) < 0.05);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox_gives_the_known_answers),
        cmocka_unit_test(draws_are_uniform_over_agents_and_steps),
        cmocka_unit_test(streams_and_neighbours_are_not_correlated),
        cmocka_unit_test(uniforms_keep_inside_their_interval),
        cmocka_unit_test(pair_directions_are_unit_and_opposite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
