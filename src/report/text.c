// Growing text, and figures in it. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/memory.h"
#include "draw/canvas.h"
#include "draw/chart.h"
#include "report/report.h"
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
    add_number(text, seconds, 1);
    th_text_add(text, "\xc2\xa0s");
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

// ---- SVG. Cairo's, made fit for a page: its text is outlines, so nothing a scene says occurs in it and plain
// searching for attributes is safe.

static bool starts_with(const char *text, const char *start) {
    return strncmp(text, start, strlen(start)) == 0;
}

// Copies path data up to the closing quote, numbers to hundredths of a unit; returns what follows.
static const char *round_path(th_text *page, const char *at) {
    while (*at && *at != '"') {
        bool number = *at == '-' || *at == '.' || (*at >= '0' && *at <= '9');
        if (!number) {
            th_text_append(page, at++, 1);
            continue;
        }
        char *end = NULL, rounded[64];
        double value = strtod(at, &end);
        int length = snprintf(rounded, sizeof rounded, "%.2f", value);
        while (length > 0 && rounded[length - 1] == '0') --length;
        if (length > 0 && rounded[length - 1] == '.') --length;
        bool nothing = length == 0 || (length == 2 && strncmp(rounded, "-0", 2) == 0);
        th_text_append(page, nothing ? "0" : rounded, nothing ? 1 : (size_t)length);
        at = end > at ? end : at + 1;
    }
    return at;
}

static void copy_prefixed(th_text *page, const char *at, const char *prefix) {
    while (*at) {
        if (starts_with(at, " id=\"")) {
            th_text_add(page, " id=\"%s-", prefix);
            at += strlen(" id=\"");
        } else if (starts_with(at, "xlink:href=\"#")) {
            th_text_add(page, "href=\"#%s-", prefix);
            at += strlen("xlink:href=\"#");
        } else if (starts_with(at, "xlink:href=\"")) {
            at += strlen("xlink:");
            const char *quote = strchr(at + strlen("href=\""), '"');
            if (!quote) quote = at + strlen(at) - 1;
            th_text_append(page, at, (size_t)(quote + 1 - at));
            at = quote + 1;
        } else if (starts_with(at, "url(#")) {
            th_text_add(page, "url(#%s-", prefix);
            at += strlen("url(#");
        } else if (starts_with(at, " d=\"")) {
            th_text_add(page, " d=\"");
            at = round_path(page, at + strlen(" d=\""));
        } else {
            size_t run = 1 + strcspn(at + 1, " xu");
            th_text_append(page, at, run);
            at += run;
        }
    }
}

bool th_svg_inline(th_text *page, char *svg, const char *prefix, const char *label) {
    char *root = strstr(svg, "<svg "), *box = root ? strstr(root, "viewBox=\"") : NULL;
    char *end = root ? strchr(root, '>') : NULL;
    if (!root || !box || !end || box > end) return false;
    char *box_end = strchr(box + strlen("viewBox=\""), '"');
    if (!box_end) return false;
    // The HTML parser sets the namespace and the style sheet sets the size.
    th_text_add(page, "<svg ");
    th_text_append(page, box, (size_t)(box_end + 1 - box));
    th_text_add(page, " role=\"img\" aria-label=\"");
    th_text_escaped(page, label);
    th_text_add(page, "\">");
    copy_prefixed(page, end + 1, prefix);
    return true;
}
