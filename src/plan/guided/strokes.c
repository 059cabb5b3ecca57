// Strokes: the section "guidance" of the scene file. SPDX-License-Identifier: Apache-2.0
#include "plan/guided/guided.h"

// Work of spreading strokes over the ground: every piece of a line is laid over the nodes within its radius.
enum { MAX_STROKES = 1000, MAX_POINTS = 10000 };
#define MAX_AREA 1e7 // [m2] of the boxes around all pieces and their radius

static const char *compile(void *items, int count, int *item) {
    const th_stroke *strokes = items;
    double area = 0.0;
    *item = -1;
    for (int k = 0; k < count; ++k) {
        const th_vec2 *p = strokes[k].line.points;
        double around = 2.0 * (double)strokes[k].radius;
        for (int i = 0; i + 1 < strokes[k].line.count; ++i)
            area += (fabs((double)(p[i + 1].x - p[i].x)) + around) *
                    (fabs((double)(p[i + 1].y - p[i].y)) + around);
    }
    return area > MAX_AREA ? "the strokes cover more than 1e7 m2; make them fewer, shorter or "
                             "narrower"
                           : NULL;
}

static const th_key_info keys[] = {
    {.name = "line",
     .kind = TH_KEY_LINE,
     .offset = offsetof(th_stroke, line),
     .required = true,
     .doc = "From its first point to its last, at least two points."},
    {.name = "radius",
     .kind = TH_KEY_NUMBER,
     .offset = offsetof(th_stroke, radius),
     .unit = "m",
     .min = 0,
     .above = true,
     .max = 20,
     .value = 2, // Patil 2011: strokes are as wide as a way
     .doc = "Distance from the line where the advice has faded to nothing [m], default 2."},
    {.name = "strength",
     .kind = TH_KEY_NUMBER,
     .offset = offsetof(th_stroke, strength),
     .unit = "-",
     .min = 0,
     .above = true,
     .max = 1, // no agent could walk against it
     .below = true,
     .value = 0.8, // nine times quicker along it than against it
     .doc = "Of the advice on the line, default 0.8."},
    {.name = "to",
     .kind = TH_KEY_GOAL,
     .offset = offsetof(th_stroke, to),
     .doc = "Goal whose people the stroke is for. Default: all people."},
};
const th_section_info th_strokes_section = {
    .name = "guidance",
    .item = "stroke",
    .doc = "Strokes on the ground that people who plan with \"guided\" prefer to walk along.",
    .item_size = sizeof(th_stroke),
    .keys = keys,
    .key_count = TH_COUNT_OF(keys),
    .max_items = MAX_STROKES,
    .max_points = MAX_POINTS,
    .reach_key = "radius",
    .leads = true,
    .colour = 0x7399d9,
    .compile = compile,
};
