// Axes and charts: round ticks for any data, and data drawn at the right pixels.
// SPDX-License-Identifier: Apache-2.0
#include "draw/canvas.h"
#include "draw/chart.h"
#include "observe/density.h"
#include "observe/observer.h"
#include "support.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- ticks

static void check_ticks(double low, double high) {
    enum { MOST = 10 };
    double tick[TH_TICKS_MAX], step = 0;
    int count = th_ticks(low, high, MOST, tick, &step);
    if (count < 3 || count > MOST) fail_msg("%g .. %g: %d ticks", low, high, count);
    double digit = step / pow(10, floor(log10(step) + 1e-9));
    assert_true(fabs(digit - 1) < 1e-6 || fabs(digit - 2) < 1e-6 || fabs(digit - 5) < 1e-6);
    for (int i = 0; i < count; ++i) {
        assert_true(tick[i] >= low && tick[i] <= high);
        if (i > 0) assert_near((tick[i] - tick[i - 1]) / step, 1, 1e-3);
        // Inside, so only rounding to the ends may move one off its multiple.
        assert_near(tick[i] / step, round(tick[i] / step), 1e-5);
    }
}

static void ticks_are_round_ascending_and_inside(void **state) {
    (void)state;
    uint64_t random = 1;
    for (int i = 0; i < 20000; ++i) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        double a = (double)(random >> 40) / 16777216.0,
               b = (double)(random >> 8 & 0xffff) / 65536.0;
        double span = pow(10, -6 + 18 * a), low = (b - 0.5) * span * 40;
        check_ticks(low, low + span);
        check_ticks(0, span);
    }
}

static void check_axis(const th_axis *axis) {
    char before[64] = "", label[64];
    assert_true(isfinite(axis->low) && isfinite(axis->high) && axis->low < axis->high);
    assert_in_range(axis->tick_count, 2, TH_TICKS_MAX);
    for (int i = 0; i < axis->tick_count; ++i) {
        th_axis_label(axis, axis->tick[i], label, sizeof label);
        assert_null(strpbrk(label, "na")); // neither nan nor inf
        if (strcmp(label, before) == 0) fail_msg("two ticks read %s", label);
        memcpy(before, label, sizeof label);
    }
}

static void any_bounds_give_a_usable_axis(void **state) {
    (void)state;
    const double values[] = {0,
                             1,
                             -1,
                             1e-30,
                             1e6,
                             1e6 + 1e-9,
                             36000,
                             0.1,
                             1e12,
                             (double)NAN,
                             (double)INFINITY,
                             -(double)INFINITY,
                             -5,
                             3.7,
                             2,
                             117,
                             117.001,
                             1e-7,
                             123456789.125,
                             5e-324,
                             1e15};
    enum { VALUES = sizeof values / sizeof values[0] };
    for (int i = 0; i < VALUES; ++i) {
        for (int j = 0; j < VALUES; ++j) {
            th_axis axis = th_axis_make(values[i], values[j], 8, "");
            check_axis(&axis);
            if (isfinite(values[i]) && isfinite(values[j])) {
                assert_true(axis.low <= fmin(values[i], values[j]) + 1e-12);
                assert_true(axis.high >= fmax(values[i], values[j]) - 1e-12);
            }
            axis = th_axis_time(values[i], values[j], 8, "time");
            check_axis(&axis);
        }
        th_axis axis = th_axis_count(values[i], 8, "people");
        check_axis(&axis);
        assert_int_equal(axis.decimals, 0); // people are whole numbers
    }
}

static void time_is_shown_in_a_unit_people_read(void **state) {
    (void)state;
    char label[32];
    th_axis axis = th_axis_time(0, 2, 8, "time");
    assert_string_equal(axis.title, "time [s]");
    axis = th_axis_time(0, 17000, 8, "time"); // the unit of every number beside it
    assert_string_equal(axis.title, "time [s]");
    axis = th_axis_time(0, 36000, 8, "time");
    assert_string_equal(axis.title, "time [h]");
    // The tick at 2 h is at 7200 s of the data.
    bool found = false;
    for (int i = 0; i < axis.tick_count; ++i) {
        th_axis_label(&axis, axis.tick[i], label, sizeof label);
        if (strcmp(label, "2") != 0) continue;
        assert_near(axis.tick[i], 7200, 1e-9);
        found = true;
    }
    assert_true(found);
}

static void numbers_read_as_people_write_them(void **state) {
    (void)state;
    char text[64];
    th_number_text(2900, 0, " ", text, sizeof text);
    assert_string_equal(text, "2 900");
    th_number_text(-1234567.25, 1, " ", text, sizeof text);
    assert_string_equal(text, "-1 234 567.2");
    th_number_text(-0.001, 1, " ", text, sizeof text);
    assert_string_equal(text, "0.0");
    th_number_text(999, 0, " ", text, sizeof text);
    assert_string_equal(text, "999");
    th_number_text(1e300, 0, " ", text, 8); // cut, but ended
    assert_true(strlen(text) < 8);
}

static void labels_never_touch(void **state) {
    (void)state;
    const double highs[] = {1, 2, 17, 999, 1e4, 1e6, 3.3e8};
    th_canvas canvas = th_canvas_create(800, 100, 13);
    for (size_t i = 0; i < sizeof highs / sizeof highs[0]; ++i) {
        for (double width = 60; width < 700; width *= 1.7) {
            th_chart chart = {&canvas,
                              50,
                              10,
                              width,
                              80,
                              th_axis_count(highs[i], 9, ""),
                              th_axis_make(0, 1, 5, "")};
            th_chart_thin_ticks(&chart);
            double end = -1e9;
            for (int k = 0; k < chart.x.tick_count; ++k) {
                char label[48];
                th_axis_label(&chart.x, chart.x.tick[k], label, sizeof label);
                double half = th_canvas_text_width(&canvas, 0.92 * 13, label) / 2;
                double at = th_chart_x(&chart, chart.x.tick[k]);
                // Two labels are left standing even where there is room for one only.
                if (chart.x.tick_count > 2) assert_true(at - half > end);
                end = at + half;
            }
        }
    }
    th_canvas_destroy(&canvas);
}

// ---- pixels

static uint32_t pixel(const th_canvas *canvas, double x, double y) {
    cairo_surface_flush(canvas->surface);
    const unsigned char *data = cairo_image_surface_get_data(canvas->surface);
    uint32_t value;
    memcpy(&value, data + (int)y * cairo_image_surface_get_stride(canvas->surface) + 4 * (int)x, 4);
    return value & 0xffffff;
}

static uint32_t rgb(th_colour colour) {
    return (uint32_t)lround(255 * colour.r) << 16 | (uint32_t)lround(255 * colour.g) << 8 |
           (uint32_t)lround(255 * colour.b);
}

static const uint32_t WHITE = 0xffffff;

static void a_line_passes_through_its_data(void **state) {
    (void)state;
    th_canvas canvas = th_canvas_create(300, 200, 13);
    // 200 x 100 pixels for 0 .. 10 and 0 .. 50: a datum (3, 20) is 60 to the right and 60 down.
    th_chart chart = {
        &canvas, 50, 40, 200, 100, th_axis_make(0, 10, 8, ""), th_axis_make(0, 50, 8, "")};
    const double x[] = {0, 3, 5, 6, 10}, y[] = {20, 20, (double)NAN, 40, 40};
    th_line_style style = {{1, 0, 0}, 3, 0, 1};
    th_chart_line(&chart, x, y, 5, style);
    assert_int_equal(pixel(&canvas, 50 + 40, 40 + 60), 0xff0000);
    assert_int_equal(pixel(&canvas, 50 + 160, 40 + 20), 0xff0000);
    assert_int_equal(pixel(&canvas, 50 + 90, 40 + 60), WHITE); // the gap of the NaN
    assert_int_equal(pixel(&canvas, 50 + 40, 40 + 50), WHITE);
    th_canvas_destroy(&canvas);
}

static void a_peak_survives_many_data_per_pixel(void **state) {
    (void)state;
    enum { COUNT = 36000 };
    th_canvas canvas = th_canvas_create(300, 200, 13);
    th_chart chart = {
        &canvas, 50, 40, 200, 100, th_axis_make(0, COUNT, 8, ""), th_axis_make(0, 10, 8, "")};
    double *x = malloc(COUNT * sizeof *x), *y = calloc(COUNT, sizeof *y);
    assert_non_null(x);
    assert_non_null(y);
    for (int i = 0; i < COUNT; ++i) x[i] = i;
    y[18000] = 9;
    th_chart_line(&chart, x, y, COUNT, (th_line_style){{0, 0, 1}, 3, 0, 1});
    assert_int_equal(pixel(&canvas, 50 + 100, 40 + 50), 0x0000ff);
    assert_int_equal(pixel(&canvas, 50 + 90, 40 + 50), WHITE);
    free(x);
    free(y);
    th_canvas_destroy(&canvas);
}

static void a_bar_is_as_high_as_its_count(void **state) {
    (void)state;
    th_canvas canvas = th_canvas_create(300, 200, 13);
    th_chart chart = {
        &canvas, 50, 40, 200, 100, th_axis_make(0, 10, 8, ""), th_axis_make(0, 10, 8, "")};
    th_chart_bar(&chart, 2, 4, 5, (th_colour){0, 1, 0});
    assert_int_equal(pixel(&canvas, 50 + 60, 40 + 55), 0x00ff00);
    assert_int_equal(pixel(&canvas, 50 + 60, 40 + 45), WHITE);
    assert_int_equal(pixel(&canvas, 50 + 30, 40 + 55), WHITE);
    assert_int_equal(pixel(&canvas, 50 + 90, 40 + 55), WHITE);
    th_canvas_destroy(&canvas);
}

// ---- maps

static void cells_lie_where_they_belong(void **state) {
    (void)state;
    const double value[] = {0.2, 1.5, 5.0, (double)NAN, 7.0, 0.5}; // three columns, two rows
    th_raster raster = {1, 2, 0.5f, 3, 2, value};
    th_canvas canvas = th_canvas_create(300, 200, 13);
    th_panel panel = {50, 40, 200, 100, {0, 0, 4, 4}, 40, {0, 0}};
    panel.height = 160;
    assert_true(th_draw_raster(&canvas, &panel, &raster, th_class_colour, &th_density_classes));
    for (int i = 0; i < 6; ++i) {
        // Cell centres in metres, y upwards.
        double x = 1 + 0.5 * (i % 3) + 0.25, y = 2 + 0.5 * (double)(i / 3) + 0.25;
        uint32_t expected =
            isnan(value[i]) ? WHITE : rgb(th_class_colour(value[i], &th_density_classes));
        assert_int_equal(pixel(&canvas, 50 + 40 * x, 40 + 160 - 40 * y), expected);
    }
    th_canvas_destroy(&canvas);
}

static void a_hot_spot_survives_a_large_map(void **state) {
    (void)state;
    enum { SIDE = 3000 };
    double *value = calloc((size_t)SIDE * SIDE, sizeof *value);
    assert_non_null(value);
    value[(size_t)1500 * SIDE + 2250] = 7;
    th_raster raster = {0, 0, 1, SIDE, SIDE, value};
    th_canvas canvas =
        th_canvas_create(3200, 3200, 13); // so large that sub-pixel rounding does not matter
    th_panel panel = {100, 100, 3000, 3000, {0, 0, SIDE, SIDE}, 1, {0, 0}};
    assert_true(th_draw_raster(&canvas, &panel, &raster, th_class_colour, &th_density_classes));
    assert_int_equal(pixel(&canvas, 100 + 2250, 100 + 3000 - 1500.5),
                     rgb(th_class_colour(7, &th_density_classes)));
    assert_int_equal(pixel(&canvas, 100 + 2260, 100 + 3000 - 1500.5),
                     rgb(th_class_colour(0, &th_density_classes)));
    free(value);
    th_canvas_destroy(&canvas);
}

static double lightness(th_colour c) { return 0.2126 * c.r + 0.7152 * c.g + 0.0722 * c.b; }

static void denser_is_darker_also_in_grey(void **state) {
    (void)state;
    const double middles[TH_DENSITY_CLASSES] = {0.1, 0.4, 0.6, 0.9, 2, 3, 5, 7.5, 9, 11};
    for (int i = 1; i < TH_DENSITY_CLASSES; ++i) {
        double lighter = lightness(th_class_colour(middles[i - 1], &th_density_classes));
        assert_true(lightness(th_class_colour(middles[i], &th_density_classes)) < lighter - 0.03);
    }
    // A bound belongs to the better level, as in Fruin's table.
    assert_int_equal(rgb(th_class_colour(0.31, &th_density_classes)),
                     rgb(th_class_colour(0.1, &th_density_classes)));
    assert_int_equal(rgb(th_class_colour(0.311, &th_density_classes)),
                     rgb(th_class_colour(0.4, &th_density_classes)));
    // The same bounds as findings and levels of service have.
    for (int i = 0; i < TH_SERVICE_LEVELS - 1; ++i)
        assert_near(th_density_bounds[i], th_services[0].bounds[i], 0);
    assert_near(th_density_bounds[TH_SERVICE_LEVELS], (double)TH_PACKED, 0);
    for (int i = 1; i <= 100; ++i) {
        assert_true(lightness(th_colour_scale(i / 100.0)) >=
                    lightness(th_colour_scale((i - 1) / 100.0)));
        assert_true(lightness(th_colour_heat(i / 100.0)) <=
                    lightness(th_colour_heat((i - 1) / 100.0)));
    }
}

// ---- words

static void bad_bytes_do_not_spoil_the_page(void **state) {
    (void)state;
    char clean[64];
    th_clean_text("a\xff\xc0\xaf\xed\xa0\x80z\n\x01", clean, sizeof clean);
    assert_string_equal(clean, "a??????z ?");
    th_clean_text("T\xc3\xbcr \xe2\x82\xac \xf0\x9f\x9a\xaa", clean, sizeof clean);
    assert_string_equal(clean, "T\xc3\xbcr \xe2\x82\xac \xf0\x9f\x9a\xaa");
    th_clean_text("cut\xc3", clean, sizeof clean); // ends within a character
    assert_string_equal(clean, "cut?");
    th_clean_text(NULL, clean, sizeof clean);
    assert_string_equal(clean, "");
    th_canvas canvas = th_canvas_create(100, 50, 13);
    th_canvas_text(&canvas, 5, 20, 0, 13, false, "\xff\xfe");
    assert_int_equal(cairo_status(canvas.cairo), CAIRO_STATUS_SUCCESS);
    th_canvas_destroy(&canvas);
}

static void long_names_are_cut_to_their_room(void **state) {
    (void)state;
    char fitted[200], name[400];
    th_canvas canvas = th_canvas_create(300, 50, 13);
    memset(name, 'm', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    th_canvas_fit(&canvas, 13, 120, name, fitted, sizeof fitted);
    assert_true(th_canvas_text_width(&canvas, 13, fitted) <= 120);
    assert_true(th_canvas_text_width(&canvas, 13, fitted) > 100);
    assert_non_null(strstr(fitted, "\xe2\x80\xa6"));
    th_canvas_fit(&canvas, 13, 120, "door", fitted, sizeof fitted);
    assert_string_equal(fitted, "door");
    th_canvas_destroy(&canvas);
}

// A full disk is told as one, not as too little memory; small pictures meet it at their end, large ones while they are packed.
static void a_full_disk_is_told_as_one(void **state) {
    (void)state;
    if (access("/dev/full", W_OK) != 0) skip();
    char folder[] = "/tmp/throng-chart-XXXXXX", path[64], part[80];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.png", folder);
    snprintf(part, sizeof part, "%s.part", path);
    for (int side = 20; side <= 400; side *= 20) {
        th_canvas canvas = th_canvas_create(side, side, 10);
        cairo_surface_flush(canvas.surface);
        unsigned char *pixels = cairo_image_surface_get_data(canvas.surface);
        for (int k = 0; k < 4 * side * side; ++k)
            pixels[k] =
                (unsigned char)(((unsigned)k * (unsigned)k * 2654435761u) >> 24); // does not pack
        cairo_surface_mark_dirty(canvas.surface);
        assert_int_equal(symlink("/dev/full", part), 0);
        th_error error = {0};
        assert_int_equal(th_canvas_write(&canvas, path, &error), TH_NO_FILE);
        assert_non_null(strstr(error.message, "No space left"));
        assert_int_not_equal(access(part, F_OK), 0);
        th_canvas_destroy(&canvas);
    }
    assert_int_equal(rmdir(folder), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_disk_is_told_as_one),
        cmocka_unit_test(ticks_are_round_ascending_and_inside),
        cmocka_unit_test(any_bounds_give_a_usable_axis),
        cmocka_unit_test(time_is_shown_in_a_unit_people_read),
        cmocka_unit_test(numbers_read_as_people_write_them),
        cmocka_unit_test(labels_never_touch),
        cmocka_unit_test(a_line_passes_through_its_data),
        cmocka_unit_test(a_peak_survives_many_data_per_pixel),
        cmocka_unit_test(a_bar_is_as_high_as_its_count),
        cmocka_unit_test(cells_lie_where_they_belong),
        cmocka_unit_test(a_hot_spot_survives_a_large_map),
        cmocka_unit_test(denser_is_darker_also_in_grey),
        cmocka_unit_test(bad_bytes_do_not_spoil_the_page),
        cmocka_unit_test(long_names_are_cut_to_their_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
