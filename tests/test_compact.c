// The compact codec: lossless on the grid, small for a walking crowd, safe with damaged bytes.
// SPDX-License-Identifier: Apache-2.0
#include "core/system/system.h"
#include "record/compact.h"
#include "support.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096 };

typedef struct people {
    int count;
    int64_t id[MOST];
    int32_t x[MOST], y[MOST], level[MOST];
    uint8_t heading[MOST];
} people;

static uint32_t draw(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static th_grid_frame grid_of(const people *p) {
    return (th_grid_frame){p->count, p->id, p->x, p->y, p->heading, p->level};
}

static void assert_same(const people *p, const th_grid_frame *got) {
    assert_int_equal(p->count, got->count);
    for (int i = 0; i < p->count; ++i) {
        assert_int_equal(p->id[i], got->id[i]);
        assert_int_equal(p->x[i], got->x[i]);
        assert_int_equal(p->y[i], got->y[i]);
        assert_int_equal(p->level[i], got->level[i]);
        if (got->heading) assert_int_equal(p->heading[i], got->heading[i]);
    }
}

// Wraps around: the codec takes any number.
static int32_t near(int32_t place, uint32_t reach, uint32_t *seed) {
    return (int32_t)((uint32_t)place + draw(seed) % reach - reach / 2);
}

// Some leave, some come (also ids that were here before), some jump, some change level.
static void change(people *p, uint32_t *seed) {
    people next = {0};
    int old = 0;
    int64_t id = -3;
    while (next.count < MOST / 2 && (old < p->count || draw(seed) % 8)) {
        id += 1 + (draw(seed) % 4 == 0 ? draw(seed) % 3 : 0);
        int i = next.count;
        while (old < p->count && p->id[old] < id) ++old;
        bool was = old < p->count && p->id[old] == id;
        if (draw(seed) % 16 == 0) continue;
        if (!was && draw(seed) % 4) continue;
        next.id[i] = id;
        if (was) {
            bool jumps = draw(seed) % 50 == 0;
            uint32_t reach = jumps ? 1u << 24 : 200u;
            next.x[i] = near(p->x[old], reach, seed);
            next.y[i] = near(p->y[old], reach, seed);
            next.level[i] = draw(seed) % 20 ? p->level[old] : (int)(draw(seed) % 5);
        } else {
            next.x[i] = (int32_t)(draw(seed) << 8);
            next.y[i] = (int32_t)(draw(seed) << 8);
            next.level[i] = (int)(draw(seed) % 2);
        }
        next.heading[i] = (uint8_t)draw(seed);
        next.count++;
    }
    *p = next;
}

static void round_trip(void **state) {
    (void)state;
    th_compact_codec *writer = th_compact_codec_create(), *reader = th_compact_codec_create();
    static people p;
    memset(&p, 0, sizeof p);
    uint32_t seed = 1;
    int most = 0, jumps = 0;
    for (int f = 0; f < 300; ++f) {
        if (f % 70 == 69)
            p.count = 0; // an empty frame
        else if (f % 10)
            change(&p, &seed);
        most = p.count > most ? p.count : most;
        th_grid_frame in = grid_of(&p), out;
        if (f % 7 == 3) in.heading = NULL;
        const unsigned char *bytes;
        size_t size;
        th_error error = {0};
        assert_int_equal(th_compact_encode(writer, &in, f % 50 == 0, &bytes, &size, &error), TH_OK);
        assert_int_equal(th_compact_decode(reader, bytes, size, p.count, &out, &error), TH_OK);
        assert_same(&p, &out);
        assert_true((in.heading == NULL) == (out.heading == NULL));
        ++jumps;
    }
    assert_true(most > 100 && jumps == 300);
    th_compact_codec_destroy(writer);
    th_compact_codec_destroy(reader);
}

// The corners of the grid, and neighbours of the escape.
static void jumps_are_escaped(void **state) {
    (void)state;
    static const int32_t places[] = {0,         127,       254,       126,  -2, -130,
                                     INT32_MAX, INT32_MIN, INT32_MAX, -128, 0,  128};
    th_compact_codec *writer = th_compact_codec_create(), *reader = th_compact_codec_create();
    for (size_t f = 0; f < sizeof places / sizeof places[0]; ++f) {
        int64_t id[2] = {INT64_MIN, INT64_MAX};
        int32_t x[2] = {places[f], -1}, y[2] = {5, places[f]};
        th_grid_frame in = {2, id, x, y, NULL, NULL}, out;
        const unsigned char *bytes;
        size_t size;
        assert_int_equal(th_compact_encode(writer, &in, false, &bytes, &size, NULL), TH_OK);
        assert_int_equal(th_compact_decode(reader, bytes, size, 2, &out, NULL), TH_OK);
        assert_true(out.id[0] == INT64_MIN && out.id[1] == INT64_MAX);
        assert_int_equal(out.x[0], places[f]);
        assert_int_equal(out.y[1], places[f]);
    }
    th_compact_codec_destroy(writer);
    th_compact_codec_destroy(reader);
}

// A reader that starts at any key frame sees the same as one that was there from the beginning.
static void key_frames(void **state) {
    (void)state;
    enum { FRAMES = 30, EVERY = 10 };
    th_compact_codec *writer = th_compact_codec_create();
    unsigned char *blobs[FRAMES];
    size_t sizes[FRAMES];
    people *truth = calloc(FRAMES + 1, sizeof *truth);
    assert_non_null(truth);
    uint32_t seed = 7;
    for (int f = 0; f < FRAMES; ++f) {
        truth[f + 1] = truth[f];
        change(&truth[f + 1], &seed);
        th_grid_frame in = grid_of(&truth[f + 1]);
        const unsigned char *bytes;
        assert_int_equal(th_compact_encode(writer, &in, f % EVERY == 0, &bytes, &sizes[f], NULL),
                         TH_OK);
        blobs[f] = malloc(sizes[f]);
        assert_non_null(blobs[f]);
        memcpy(blobs[f], bytes, sizes[f]);
    }
    for (int start = 0; start < FRAMES; start += EVERY) {
        th_compact_codec *reader = th_compact_codec_create();
        th_grid_frame out;
        th_error error = {0};
        if (start) { // not in the middle of a stretch
            int count = truth[start].count;
            assert_int_equal(
                th_compact_decode(reader, blobs[start - 1], sizes[start - 1], count, &out, &error),
                TH_NO_FILE);
            assert_non_null(strstr(error.message, "key frame"));
        }
        for (int f = start; f < FRAMES; ++f) {
            assert_int_equal(
                th_compact_decode(reader, blobs[f], sizes[f], truth[f + 1].count, &out, NULL),
                TH_OK);
            assert_same(&truth[f + 1], &out);
        }
        th_compact_codec_destroy(reader);
    }
    for (int f = 0; f < FRAMES; ++f) free(blobs[f]);
    free(truth);
    th_compact_codec_destroy(writer);
}

static void refuses(void **state) {
    (void)state;
    th_compact_codec *codec = th_compact_codec_create();
    int64_t id[2] = {2, 2};
    int32_t x[2] = {0}, y[2] = {0};
    th_grid_frame in = {2, id, x, y, NULL, NULL};
    const unsigned char *bytes;
    size_t size;
    th_error error = {0};
    assert_int_equal(th_compact_encode(codec, &in, true, &bytes, &size, &error), TH_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "ascending"));
    th_compact_codec_destroy(codec);
}

// Every single byte changed and every length cut: an error, never another frame. The check sum of
// zstd sees to that; below it the structure must hold as well, which the fuzzer looks at.
static void damage(void **state) {
    (void)state;
    static people p;
    memset(&p, 0, sizeof p);
    uint32_t seed = 3;
    th_compact_codec *writer = th_compact_codec_create();
    for (int f = 0; f < 6; ++f) change(&p, &seed);
    p.count = p.count > 40 ? 40 : p.count;
    assert_true(p.count > 10);
    th_grid_frame in = grid_of(&p), out;
    const unsigned char *bytes;
    size_t size;
    assert_int_equal(th_compact_encode(writer, &in, true, &bytes, &size, NULL), TH_OK);
    unsigned char *bad = malloc(size);
    assert_non_null(bad);
    th_compact_codec *reader = th_compact_codec_create();
    for (size_t k = 0; k < size; ++k) {
        th_error error = {0};
        memcpy(bad, bytes, size);
        bad[k] ^= 0x41;
        th_result result = th_compact_decode(reader, bad, size, p.count, &out, &error);
        if (result == TH_OK)
            assert_same(&p, &out); // a bit that zstd does not use
        else
            assert_true(error.message[0] != 0);
        assert_int_equal(th_compact_decode(reader, bytes, k, p.count, &out, &error), TH_NO_FILE);
    }
    assert_int_equal(th_compact_decode(reader, bytes, size, p.count + 1, &out, NULL), TH_NO_FILE);
    assert_int_equal(th_compact_decode(reader, bytes, size, -1, &out, NULL), TH_NO_FILE);
    assert_int_equal(th_compact_decode(reader, bytes, size, p.count, &out, NULL), TH_OK);
    free(bad);
    th_compact_codec_destroy(writer);
    th_compact_codec_destroy(reader);
}

static void positions_round_to_the_grid(void **state) {
    (void)state;
    const double places[] = {0, 0.0004, 0.0006, -0.0006, 12.3456, -2000.0004, 5234567.8901};
    enum { COUNT = sizeof places / sizeof places[0] };
    int32_t grid[COUNT];
    assert_true(th_compact_to_grid(COUNT - 1, places, 0, 0.001, grid));
    for (int i = 0; i < COUNT - 1; ++i)
        assert_true(fabs(grid[i] * 0.001 - places[i]) <= 0.0005 + 1e-12);
    assert_int_equal(grid[3], -1);
    assert_false(th_compact_to_grid(COUNT, places, 0, 0.001, grid)); // 5234 km at 1 mm
    assert_true(th_compact_to_grid(1, &places[COUNT - 1], 5234000.0, 0.001, grid));
    assert_int_equal(grid[0], 567890);
    const double nowhere = (double)NAN;
    assert_false(th_compact_to_grid(1, &nowhere, 0, 0.001, grid));
    const double far = (double)1999.9994f, lost = (double)INFINITY;
    assert_true(th_compact_to_grid(1, &far, -1.0, 0.001, grid));
    assert_true(fabs(grid[0] * 0.001 - (far + 1.0)) <= 0.0005 + 1e-12);
    assert_false(th_compact_to_grid(1, &lost, 0, 0.001, grid));
}

static void headings(void **state) {
    (void)state;
    double worst = 0;
    for (int k = 0; k < 10000; ++k) {
        double angle = k * (2 * 3.14159265358979 / 10000);
        float x = (float)(3 * cos(angle)), y = (float)(3 * sin(angle));
        uint8_t heading;
        th_compact_headings(1, &x, &y, &heading);
        double off = fabs(heading - angle * (TH_COMPACT_HEADINGS / (2 * 3.14159265358979)));
        off = fmin(off, TH_COMPACT_HEADINGS - off);
        worst = fmax(worst, off);
    }
    assert_true(worst < 0.501); // half a step and the rounding of floats
    const float x[] = {0, NAN, -1, 0, 1, INFINITY}, y[] = {0, 1, 0, -1, 0, INFINITY};
    uint8_t heading[6];
    th_compact_headings(6, x, y, heading);
    const uint8_t wanted[6] = {0, 0, 128, 192, 0, 0};
    assert_memory_equal(heading, wanted, 6);
}

// ---- size and rate on people that walk: printed, not asserted beyond a rough bound

// 10 frames a second; every agent turns a little and changes speed a little, as in a crowd.
static void walk(int count, int32_t *x, int32_t *y, uint8_t *heading, float *exact,
                 uint32_t *seed) {
    for (int i = 0; i < count; ++i) {
        float *e = exact + (size_t)i * 4; // x, y [mm], angle, speed [mm a frame]
        float u = (float)(draw(seed) & 0xFFFF) / 65536.0f - 0.5f;
        float v = (float)(draw(seed) & 0xFFFF) / 65536.0f - 0.5f;
        e[2] += 0.1f * u;
        e[3] += 8.0f * v + 0.1f * (130.0f - e[3]);
        e[0] += e[3] * cosf(e[2]);
        e[1] += e[3] * sinf(e[2]);
        x[i] = (int32_t)e[0];
        y[i] = (int32_t)e[1];
        float dx = cosf(e[2]), dy = sinf(e[2]);
        th_compact_headings(1, &dx, &dy, &heading[i]);
    }
}

static void walking_crowd(void **state) {
    (void)state;
    enum { COUNT = 100000, FRAMES = 25 };
    int64_t *id = calloc(COUNT, sizeof *id);
    int32_t *x = calloc(COUNT, sizeof *x), *y = calloc(COUNT, sizeof *y);
    uint8_t *heading = calloc(COUNT, 1);
    float *exact = calloc((size_t)COUNT * 4, sizeof *exact);
    th_compact_codec *writer = th_compact_codec_create(), *reader = th_compact_codec_create();
    assert_true(id && x && y && heading && exact && writer && reader);
    uint32_t seed = 5;
    for (int i = 0; i < COUNT; ++i) {
        id[i] = i + 1;
        exact[(size_t)i * 4] = (float)(draw(&seed) % 200000);
        exact[(size_t)i * 4 + 1] = (float)(draw(&seed) % 200000);
        exact[(size_t)i * 4 + 2] = (float)(draw(&seed) % 628) / 100.0f;
        exact[(size_t)i * 4 + 3] = 130.0f;
    }
    double encoding = 0, decoding = 0;
    size_t bytes_all = 0, key_bytes = 0;
    for (int f = 0; f < FRAMES; ++f) {
        walk(COUNT, x, y, heading, exact, &seed);
        th_grid_frame in = {COUNT, id, x, y, heading, NULL}, out;
        const unsigned char *bytes;
        size_t size;
        double start = th_monotonic_seconds();
        assert_int_equal(th_compact_encode(writer, &in, f == 0, &bytes, &size, NULL), TH_OK);
        double middle = th_monotonic_seconds();
        assert_int_equal(th_compact_decode(reader, bytes, size, COUNT, &out, NULL), TH_OK);
        decoding += th_monotonic_seconds() - middle;
        encoding += middle - start;
        *(f ? &bytes_all : &key_bytes) += size;
        assert_memory_equal(out.x, x, COUNT * sizeof *x);
        assert_memory_equal(out.y, y, COUNT * sizeof *y);
        assert_memory_equal(out.heading, heading, COUNT);
    }
    double rows = (double)COUNT * (FRAMES - 1);
    print_message(
        "compact: %.2f bytes per person and frame (key frame %.2f), encoding %.1f million "
        "a second, decoding %.1f\n",
        (double)bytes_all / rows, (double)key_bytes / COUNT, (rows + COUNT) / encoding * 1e-6,
        (rows + COUNT) / decoding * 1e-6);
    assert_true((double)bytes_all / rows < 3.0); // three byte planes are the upper bound
    th_compact_codec_destroy(writer);
    th_compact_codec_destroy(reader);
    free(id);
    free(x);
    free(y);
    free(heading);
    free(exact);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip), cmocka_unit_test(jumps_are_escaped),
        cmocka_unit_test(key_frames), cmocka_unit_test(refuses),
        cmocka_unit_test(damage),     cmocka_unit_test(positions_round_to_the_grid),
        cmocka_unit_test(headings),   cmocka_unit_test(walking_crowd),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
