// Ticks and numbers of axes. SPDX-License-Identifier: Apache-2.0
#include "draw/axis.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

// The next larger of 1, 2, 5 times a power of ten.
static double next_step(double step) {
    double power = pow(10, floor(log10(step) + 1e-9));
    double digit = round(step / power);
    return digit < 2 ? 2 * power : digit < 5 ? 5 * power : 10 * power;
}

// Whole multiples of step in low .. high; with a small tolerance, as 3 * 0.1 > 0.3.
static double first_multiple(double low, double step) { return ceil(low / step - 1e-6); }
static double last_multiple(double high, double step) { return floor(high / step + 1e-6); }

int th_ticks(double low, double high, int most, double *tick, double *step) {
    if (most > TH_TICKS_MAX) most = TH_TICKS_MAX;
    if (most < 2) most = 2;
    *step = pow(10, floor(log10((high - low) / most)) - 1);
    while (last_multiple(high, *step) - first_multiple(low, *step) + 1 > most)
        *step = next_step(*step);
    int count = 0;
    double first = first_multiple(low, *step), last = last_multiple(high, *step);
    for (double k = first; k <= last && count < most; k += 1)
        tick[count++] = k == 0 ? 0 : fmin(fmax(k * *step, low), high);
    return count;
}

static void order_bounds(double *low, double *high) {
    if (!isfinite(*low) && !isfinite(*high)) *low = 0, *high = 1;
    if (!isfinite(*low)) *low = *high;
    if (!isfinite(*high)) *high = *low;
    if (*low > *high) {
        double swap = *low;
        *low = *high;
        *high = swap;
    }
    // Nearer than this the numbers at the ticks would all read the same.
    double middle = (*low + *high) / 2, least = 1e-6 * fmax(fabs(*low), fabs(*high));
    if (*high - *low > least && *high - *low > 1e-9) return;
    double half = fabs(middle) < 1e-9 ? 0.5 : 0.05 * fabs(middle);
    *low = middle - half;
    *high = middle + half;
}

void th_axis_thin(th_axis *axis, int most) {
    double low = axis->low / axis->unit, high = axis->high / axis->unit, step = 1;
    axis->tick_count = th_ticks(low, high, most, axis->tick, &step);
    if (axis->whole && step < 1) {
        step = 1;
        axis->tick_count = 0;
        for (double k = ceil(low - 1e-9); k <= high + 1e-9 && axis->tick_count < TH_TICKS_MAX; ++k)
            axis->tick[axis->tick_count++] = k;
    }
    int decimals = (int)ceil(-log10(step) - 1e-9);
    axis->decimals = decimals > 0 ? (decimals < 12 ? decimals : 12) : 0;
    for (int i = 0; i < axis->tick_count; ++i) axis->tick[i] *= axis->unit;
}

th_axis th_axis_make(double low, double high, int most, const char *title) {
    th_axis axis = {.unit = 1};
    order_bounds(&low, &high);
    axis.low = low;
    axis.high = high;
    snprintf(axis.title, sizeof axis.title, "%s", title);
    th_axis_thin(&axis, most);
    return axis;
}

th_axis th_axis_count(double highest, int most, const char *title) {
    th_axis axis = th_axis_make(0, highest >= 1 && isfinite(highest) ? highest : 1, most, title);
    axis.whole = true;
    th_axis_thin(&axis, most);
    return axis;
}

th_axis th_axis_time(double low, double high, int most, const char *what) {
    th_axis axis = th_axis_make(low, high, most, "");
    const char *unit = "s";
    if (axis.high > TH_AXIS_HOURS) axis.unit = 3600, unit = "h";
    snprintf(axis.title, sizeof axis.title, "%s [%s]", what, unit);
    th_axis_thin(&axis, most);
    return axis;
}

void th_axis_label(const th_axis *axis, double value, char *label, size_t size) {
    double shown = value / axis->unit;
    if (fabs(shown) >= 1e9)
        snprintf(label, size, "%.3g", shown);
    else
        th_number_text(shown, axis->decimals, fabs(shown) >= 9999.5 ? " " : "", label, size);
}

void th_number_text(double value, int decimals, const char *separator, char *text, size_t size) {
    char plain[400];
    snprintf(plain, sizeof plain, "%.*f", decimals, value);
    if (strspn(plain, "-0.") == strlen(plain) && plain[0] == '-')
        memmove(plain, plain + 1, strlen(plain)); // no minus before a zero
    size_t used = 0, gap = strlen(separator);
    const char *point = strchr(plain, '.');
    size_t digits = point ? (size_t)(point - plain) : strlen(plain);
    for (size_t i = 0; plain[i] && used + gap + 2 < size; ++i) {
        bool digit_before = i > 0 && plain[i - 1] >= '0' && plain[i - 1] <= '9';
        if (i < digits && digit_before && (digits - i) % 3 == 0) {
            memcpy(text + used, separator, gap);
            used += gap;
        }
        text[used++] = plain[i];
    }
    if (size > 0) text[used] = '\0';
}
