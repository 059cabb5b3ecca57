// Reading areas and lines. SPDX-License-Identifier: Apache-2.0
#include "observe/place_text.h"
#include "core/error.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *after_spaces(const char *at) {
    while (isspace((unsigned char)*at)) ++at;
    return at;
}

// Four finite numbers with commas between them and nothing behind.
static bool read_box(const char *text, double box[4]) {
    const char *at = text;
    for (int k = 0; k < 4; ++k) {
        char *end;
        box[k] = strtod(at, &end);
        if (end == at || !isfinite(box[k]) || fabs(box[k]) > 1e8) return false;
        at = after_spaces(end);
        if (*at != (k < 3 ? ',' : '\0')) return false;
        ++at;
    }
    return true;
}

th_result th_place_text_read(const char *text, th_place_text *place, th_error *error) {
    *place = (th_place_text){.wkt = text};
    const char *equals = strchr(text, '=');
    if (equals) {
        size_t length = (size_t)(equals - text);
        if (length == 0 || length >= sizeof place->name)
            return th_fail(error, TH_BAD_ARGUMENT, "",
                           "'%.80s': the name before '=' has 1 to %zu bytes", text,
                           sizeof place->name - 1);
        memcpy(place->name, text, length);
        place->wkt = equals + 1;
    }
    place->wkt = after_spaces(place->wkt);
    if (read_box(place->wkt, place->box)) {
        place->is_box = true;
        return TH_OK;
    }
    if (isalpha((unsigned char)place->wkt[0]) && strchr(place->wkt, '(')) return TH_OK;
    return th_fail(error, TH_BAD_ARGUMENT, "",
                   "'%.80s' is neither four numbers x0,y0,x1,y1 nor a POLYGON ((x y, ...)); with a "
                   "name: NAME=x0,y0,x1,y1",
                   text);
}

void th_place_rectangle(const th_place_text *place, char *wkt, size_t size) {
    double x0 = fmin(place->box[0], place->box[2]), x1 = fmax(place->box[0], place->box[2]);
    double y0 = fmin(place->box[1], place->box[3]), y1 = fmax(place->box[1], place->box[3]);
    if (size > 0) wkt[0] = '\0';
    if (!(x1 > x0) || !(y1 > y0)) return;
    snprintf(wkt, size, "POLYGON ((%.9g %.9g, %.9g %.9g, %.9g %.9g, %.9g %.9g, %.9g %.9g))", x0, y0,
             x1, y0, x1, y1, x0, y1, x0, y0);
}
