// A moment as one client sees it: the bytes of a binary message. SPDX-License-Identifier: Apache-2.0
#ifndef TH_STUDIO_FRAME_H
#define TH_STUDIO_FRAME_H
#include "studio/moment.h"

typedef struct th_studio_view {
    bool given;      // false: everything
    th_box box;      // [m]
    int pixels[2];   // of that box
    uint64_t levels; // bit each; 0: all
} th_studio_view;

typedef struct th_studio_frame {
    uint32_t number;
    bool past;
    int colour;      // index in the catalogue
    uint32_t person; // inspected; 0: nobody
    // Of level 0 .. level_count - 1, for the colour "density"; NULL: none yet
    const th_studio_field *density;
} th_studio_frame;

// Bytes that a message about people can have at most.
size_t th_studio_people_room(const th_studio_moment *moment);
// Writes head, people head and records; returns the bytes.
size_t th_studio_write_people(const th_studio_moment *moment, const th_studio_view *view,
                              const th_studio_frame *frame, unsigned char *to);
size_t th_studio_field_room(const th_studio_field *field, bool vectors);
size_t th_studio_write_field(const th_studio_moment *moment, const th_studio_field *field,
                             const th_studio_frame *frame, unsigned char *to);
#endif
