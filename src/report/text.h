// Text that grows, for the page: plain, escaped, numbers as people write them. Running out of memory is
// remembered and told at the end. SPDX-License-Identifier: Apache-2.0
#ifndef TH_REPORT_TEXT_H
#define TH_REPORT_TEXT_H
#include "core/file.h"

typedef struct th_text {
    char *bytes; // always ended by 0 once something was added
    size_t length, capacity;
    bool failed;
} th_text;

void th_text_release(th_text *text);
void th_text_append(th_text *text, const char *bytes, size_t length);
// Markup and words of our own, as they are.
void th_text_put(th_text *text, const char *words);
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void th_text_add(th_text *text, const char *format, ...);
// Words of others: markup characters escaped, bytes that are no UTF-8 shown as "?". NULL is nothing.
void th_text_escaped(th_text *text, const char *words);

// 2900 -> 2 900 with a narrow space.
void th_text_count(th_text *text, double count);
// With one decimal. "never" for NaN.
void th_text_seconds(th_text *text, double seconds);
// The same, rounded up: all people that a sentence speaks of are really outside.
void th_text_within(th_text *text, double seconds);
// Three significant digits, zeros kept, for columns of measured numbers; an en dash for NaN.
void th_text_measured(th_text *text, double value);
// At most three significant digits, without exponent where it can be helped; an en dash for NaN.
void th_text_value(th_text *text, double value);

// Makes the text the content of folder/name (folder NULL: name). Releases the text, whatever happens.
th_result th_text_write(th_text *text, const char *folder, const char *name,
                        th_durability durability, th_error *error);

// ---- one figure as an SVG that can stand in a page with others

// Copies cairo's SVG into a page: without the XML declaration, every id and every reference to one
// prefixed (cairo counts from 0 in every file, so ids of two figures would clash), path data rounded to
// hundredths, with role and label for readers who cannot see it. `svg` is changed. False when `svg` is
// not what cairo writes.
bool th_svg_inline(th_text *page, char *svg, const char *prefix, const char *label);
#endif
