// Areas and lines as a user types them: NAME=POLYGON (...), NAME=x0,y0,x1,y1, or without a name.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_OBSERVE_PLACE_TEXT_H
#define TH_OBSERVE_PLACE_TEXT_H
#include "throng/base.h"

typedef struct th_place_text {
    char name[64]; // "" when the text has none
    bool is_box;   // four numbers in `box`; otherwise `wkt` is WKT, not looked at yet
    double box[4]; // x0, y0, x1, y1 as typed
    const char *wkt;
} th_place_text;

// TH_BAD_ARGUMENT with what is expected when it is neither. `wkt` points into the text.
th_result th_place_text_read(const char *text, th_place_text *place, th_error *error);
// The rectangle of a box, whatever corners were typed; "" when it has no width or height.
void th_place_rectangle(const th_place_text *place, char *wkt, size_t size);
#endif
