// Cairo's SVG made fit for a page. Its text is outlines, so nothing a scene says occurs in it and plain
// searching for attributes is safe. SPDX-License-Identifier: Apache-2.0
#include "report/svg.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
