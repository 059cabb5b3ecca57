// Writing frames: who is in view, thinned and quantised. SPDX-License-Identifier: Apache-2.0
#include "studio/frame.h"
#include <math.h>
#include <string.h>

enum { HEADS = sizeof(th_studio_head) + sizeof(th_studio_people_head) };
_Static_assert(sizeof(th_studio_map_head) == sizeof(th_studio_people_head), "heads are alike");

static th_studio_head head_of(const th_studio_moment *moment, const th_studio_frame *frame,
                              th_studio_kind kind) {
    return (th_studio_head){.magic = TH_STUDIO_MAGIC,
                            .version = TH_STUDIO_VERSION,
                            .kind = (uint8_t)kind,
                            .world = (uint8_t)moment->world,
                            .flags = frame->past ? 1 : 0,
                            .frame = frame->number,
                            .time = moment->time,
                            .total = (uint32_t)moment->count,
                            .level = TH_STUDIO_NO_LEVEL};
}

size_t th_studio_people_room(const th_studio_moment *moment) {
    return HEADS + (size_t)moment->count * sizeof(th_studio_person);
}

// ---- values of the colour

typedef struct values {
    th_studio_colour_kind kind;
    bool category;
    float min, max, scale; // scale: bytes per unit
    const float *column;
    const th_studio_field *density;
} values;

static void find_range(values *v, int count) {
    v->min = 0.0f;
    v->max = 0.0f;
    for (int i = 0; v->column && i < count; ++i) {
        float value = v->column[i];
        if (!isfinite(value)) continue;
        v->min = fminf(v->min, value);
        v->max = fmaxf(v->max, value);
    }
    if (v->max <= v->min) v->max = v->min + 1.0f;
}

static values values_of(const th_studio_moment *moment, const th_studio_frame *frame) {
    const th_studio_colour *colour = &moment->catalogue->colours[frame->colour];
    values v = {.kind = colour->kind,
                .category = colour->category,
                .max = colour->max,
                .density = frame->density};
    for (int k = 0; k < moment->column_count; ++k)
        if (moment->columns[k].colour == frame->colour) v.column = moment->columns[k].values;
    if (!v.category && v.max <= 0.0f) find_range(&v, moment->count);
    v.scale = v.category ? 0.0f : 254.0f / (v.max - v.min);
    return v;
}

static uint8_t scaled(const values *v, float value) {
    float steps = (value - v->min) * v->scale + 0.5f;
    if (isnan(steps)) return TH_STUDIO_NOTHING;
    return (uint8_t)(steps < 0.0f ? 0.0f : steps > 254.0f ? 254.0f : steps);
}

static uint8_t value_of(const values *v, const th_studio_row *row, int i, int level_count) {
    switch (v->kind) {
    case TH_COLOUR_SPEED: return scaled(v, TH_STUDIO_SPEED_STEP * (float)row->speed);
    case TH_COLOUR_SPEED_RATIO: return scaled(v, (float)row->ratio / 255.0f);
    case TH_COLOUR_GROUP: return row->group;
    case TH_COLOUR_GOAL: return row->goal;
    case TH_COLOUR_STATE: return row->phase;
    case TH_COLOUR_LEVEL: return row->level;
    case TH_COLOUR_DENSITY:
        if (!v->density || row->level >= level_count) return TH_STUDIO_NOTHING;
        return scaled(v, th_studio_field_at(&v->density[row->level], row->x, row->y));
    default: return v->column ? scaled(v, v->column[i]) : TH_STUDIO_NOTHING;
    }
}

// ---- who is sent

static bool in_view(const th_studio_row *row, const th_box *box, uint64_t levels) {
    if (levels && row->level < 64 && !(levels >> row->level & 1)) return false;
    float margin = 0.01f * (float)row->radius;
    return row->x >= box->min_x - margin && row->x <= box->max_x + margin &&
           row->y >= box->min_y - margin && row->y <= box->max_y + margin;
}

// Of everybody; outside the plan too.
static th_box box_around(const th_studio_moment *moment) {
    th_box box = moment->catalogue->box;
    for (int i = 0; i < moment->count; ++i) {
        box.min_x = fminf(box.min_x, moment->rows[i].x);
        box.min_y = fminf(box.min_y, moment->rows[i].y);
        box.max_x = fmaxf(box.max_x, moment->rows[i].x);
        box.max_y = fmaxf(box.max_y, moment->rows[i].y);
    }
    return box;
}

static int count_in_view(const th_studio_moment *moment, const th_box *box, uint64_t levels) {
    int count = 0;
    for (int i = 0; i < moment->count; ++i) count += in_view(&moment->rows[i], box, levels);
    return count;
}

// A body of 0.4 m that covers less than a pixel stands for its share of it, so that as much of the picture is covered as
// bodies would; but a small crowd in a great plan is seen whole.
static float share_kept(const th_studio_moment *moment, const th_studio_view *view,
                        const th_box *box, uint64_t levels) {
    if (!view->given || view->pixels[0] <= 0) return 1.0f;
    float scale = (float)view->pixels[0] / fmaxf(box->max_x - box->min_x, 1e-3f);
    float body = 0.4f * scale, kept = body * body;
    const float always = 20000.0f; // people who are sent anyway
    if (kept >= 1.0f || (float)moment->count <= always) return 1.0f;
    int count = count_in_view(moment, box, levels);
    if (count > 0) kept = fmaxf(kept, always / (float)count);
    return kept < 1.0f ? kept : 1.0f;
}

static uint32_t shuffled(uint32_t id) {
    id ^= id >> 16;
    id *= 0x7feb352du;
    id ^= id >> 15;
    id *= 0x846ca68bu;
    return id ^ id >> 16;
}

static uint16_t quantised(float value, float min, float per_step) {
    float steps = (value - min) * per_step + 0.5f;
    return (uint16_t)(steps < 0.0f ? 0.0f : steps > 65535.0f ? 65535.0f : steps);
}

size_t th_studio_write_people(const th_studio_moment *moment, const th_studio_view *view,
                              const th_studio_frame *frame, unsigned char *to) {
    th_box box = view->given ? view->box : box_around(moment);
    uint64_t levels = view->given ? view->levels : 0;
    // Bodies reach into the view from outside it.
    const float margin = 2.55f;
    th_studio_people_head people = {.min_x = box.min_x - margin,
                                    .min_y = box.min_y - margin,
                                    .step_x = (box.max_x - box.min_x + 2.0f * margin) / 65535.0f,
                                    .step_y = (box.max_y - box.min_y + 2.0f * margin) / 65535.0f,
                                    .speed_max = 255.0f * TH_STUDIO_SPEED_STEP,
                                    .kept = share_kept(moment, view, &box, levels)};
    values v = values_of(moment, frame);
    people.value_min = v.category ? 0.0f : v.min;
    people.value_max = v.category ? 0.0f : v.max;
    uint32_t limit =
        people.kept < 1.0f ? (uint32_t)((double)people.kept * 4294967295.0) : UINT32_MAX;
    float per_x = 1.0f / people.step_x, per_y = 1.0f / people.step_y;
    unsigned char *at = to + HEADS;
    for (int i = 0; i < moment->count; ++i) {
        const th_studio_row *row = &moment->rows[i];
        bool marked = row->id == frame->person && row->id != 0;
        if (!in_view(row, &box, levels) || (!marked && shuffled(row->id) > limit)) continue;
        th_studio_person person = {.id = row->id,
                                   .x = quantised(row->x, people.min_x, per_x),
                                   .y = quantised(row->y, people.min_y, per_y),
                                   .heading = row->heading,
                                   .speed = row->speed,
                                   .value = value_of(&v, row, i, moment->catalogue->level_count),
                                   .phase = row->phase,
                                   .level = row->level,
                                   .group = row->group,
                                   .radius = row->radius,
                                   .mark = marked};
        memcpy(at, &person, sizeof person);
        at += sizeof person;
    }
    th_studio_head head = head_of(moment, frame, TH_STUDIO_PEOPLE);
    head.count = (uint32_t)((size_t)(at - to - HEADS) / sizeof(th_studio_person));
    head.item = (uint16_t)frame->colour;
    memcpy(to, &head, sizeof head);
    memcpy(to + sizeof head, &people, sizeof people);
    return (size_t)(at - to);
}

// ---- maps

size_t th_studio_field_room(const th_studio_field *field, bool vectors) {
    return HEADS + (size_t)field->nx * (size_t)field->ny * (vectors ? 2 : 1);
}

static float largest(const float *numbers, size_t count) {
    float top = 0.0f;
    for (size_t k = 0; k < count; ++k)
        if (isfinite(numbers[k])) top = fmaxf(top, fabsf(numbers[k]));
    return top;
}

size_t th_studio_write_field(const th_studio_moment *moment, const th_studio_field *field,
                             const th_studio_frame *frame, unsigned char *to) {
    const th_studio_layer *layer = &moment->catalogue->layers[field->layer];
    size_t cells = (size_t)field->nx * (size_t)field->ny,
           numbers = layer->vectors ? 2 * cells : cells;
    float top = largest(field->values, numbers);
    th_studio_map_head map = {.min_x = field->min_x,
                              .min_y = field->min_y,
                              .cell = field->cell,
                              .nx = (uint16_t)field->nx,
                              .ny = (uint16_t)field->ny,
                              .value_max = layer->max > 0.0f ? layer->max : fmaxf(top, 1e-6f),
                              .top = top};
    unsigned char *at = to + HEADS;
    for (size_t k = 0; k < numbers; ++k) {
        float share = field->values[k] / map.value_max;
        if (layer->vectors) {
            float steps = isnan(share) ? 0.0f : 127.0f * fminf(fmaxf(share, -1.0f), 1.0f);
            at[k] = (unsigned char)(int8_t)lrintf(steps);
        } else {
            at[k] = isnan(share) ? TH_STUDIO_NOTHING
                                 : (unsigned char)lrintf(254.0f * fminf(fmaxf(share, 0.0f), 1.0f));
        }
    }
    th_studio_head head =
        head_of(moment, frame, layer->vectors ? TH_STUDIO_VECTORS : TH_STUDIO_MAP);
    head.count = (uint32_t)cells;
    head.item = (uint16_t)field->layer;
    head.level = (uint16_t)field->level;
    memcpy(to, &head, sizeof head);
    memcpy(to + sizeof head, &map, sizeof map);
    return HEADS + numbers;
}
