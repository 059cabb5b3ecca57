// Growing text. SPDX-License-Identifier: Apache-2.0
#include "report/text.h"
#include "core/array.h"
#include "core/error.h"
#include "draw/axis.h"
#include "draw/canvas.h"
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void th_text_release(th_text *text) {
    free(text->bytes);
    *text = (th_text){0};
}

static bool reserve(th_text *text, size_t more) {
    text->failed = text->failed || more > SIZE_MAX / 4 ||
                   !TH_RESERVE(text->bytes, text->capacity, text->length + more + 1);
    return !text->failed;
}

void th_text_append(th_text *text, const char *bytes, size_t length) {
    if (!reserve(text, length)) return;
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

void th_text_put(th_text *text, const char *words) { th_text_append(text, words, strlen(words)); }

void th_text_add(th_text *text, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length >= 0 && reserve(text, (size_t)length)) {
        vsnprintf(text->bytes + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    }
    va_end(again);
}

void th_text_escaped(th_text *text, const char *words) {
    size_t size = words ? strlen(words) + 8 : 8;
    char *clean = malloc(size);
    if (!clean) {
        text->failed = true;
        return;
    }
    th_clean_text(words, clean, size);
    for (const char *at = clean; *at; ++at) {
        switch (*at) {
        case '<': th_text_add(text, "&lt;"); break;
        case '>': th_text_add(text, "&gt;"); break;
        case '&': th_text_add(text, "&amp;"); break;
        case '"': th_text_add(text, "&quot;"); break;
        case '\'': th_text_add(text, "&#39;"); break;
        default: th_text_append(text, at, 1);
        }
    }
    free(clean);
}

#define NARROW_SPACE "\xe2\x80\xaf" // U+202F, does not break

static void add_number(th_text *text, double value, int decimals) {
    char number[64];
    th_number_text(value, decimals, NARROW_SPACE, number, sizeof number);
    th_text_add(text, "%s", number);
}

void th_text_count(th_text *text, double count) { add_number(text, count, 0); }

void th_text_seconds(th_text *text, double seconds) {
    if (!isfinite(seconds)) {
        th_text_add(text, "never");
        return;
    }
    add_number(text, seconds, seconds < 99.95 ? 1 : 0);
    th_text_add(text, "\xc2\xa0s");
    if (seconds < 600) return;
    long long whole = llround(seconds);
    if (whole >= 36000)
        th_text_add(text, " (%lld\xc2\xa0h %02lld\xc2\xa0min)", whole / 3600, whole / 60 % 60);
    else
        th_text_add(text, " (%lld\xc2\xa0min %02lld\xc2\xa0s)", whole / 60, whole % 60);
}

void th_text_measured(th_text *text, double value) {
    double size = fabs(value);
    if (!isfinite(value) || size >= 1e15 || (size > 0 && size < 1e-4)) {
        th_text_value(text, value);
        return;
    }
    int magnitude = size > 0 ? (int)floor(log10(size) + 2e-3) : 0; // 9.996 is 10.0
    add_number(text, value, magnitude >= 2 ? 0 : magnitude > 0 ? 1 : 2);
}

void th_text_value(th_text *text, double value) {
    double size = fabs(value);
    bool large = size < 1e15 && (size >= 99.95 || value == floor(value));
    if (!isfinite(value))
        th_text_put(text, "\xe2\x80\x93");
    else if (large)
        add_number(text, value, 0);
    else
        th_text_add(text, "%.3g", value);
}

th_result th_text_write(th_text *text, const char *folder, const char *name,
                        th_durability durability, th_error *error) {
    th_result result;
    if (text->failed) {
        result = th_fail(error, TH_NO_MEMORY, "", "no memory for %s; free some", name);
    } else {
        th_file_writer writer;
        th_file_begin(&writer, folder, name);
        th_file_put(&writer, text->bytes, text->length);
        result = th_file_end(&writer, durability, error);
    }
    th_text_release(text);
    return result;
}
