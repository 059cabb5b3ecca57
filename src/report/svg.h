// One figure as an SVG that can stand in a page with others. SPDX-License-Identifier: Apache-2.0
#ifndef TH_REPORT_SVG_H
#define TH_REPORT_SVG_H
#include "report/text.h"

// Copies cairo's SVG into a page: without the XML declaration, every id and every reference to one
// prefixed (cairo counts from 0 in every file, so ids of two figures would clash), path data rounded to
// hundredths, with role and label for readers who cannot see it. `svg` is changed. False when `svg` is
// not what cairo writes.
bool th_svg_inline(th_text *page, char *svg, const char *prefix, const char *label);
#endif
