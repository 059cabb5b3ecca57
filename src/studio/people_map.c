// Maps made from where people are. Everybody is spread over the four nearest cells of half a metre, and the map is then
// smoothed once with 1 2 1 both ways: a person covers about a square metre, so single people are seen and a packed crowd is
// even. Walls are not known to it: beside one the density is up to half too low. SPDX-License-Identifier: Apache-2.0
#include "studio/moment.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MASS, MOMENTUM_X, MOMENTUM_Y, ENERGY, SPEED, SUMS };

typedef struct sums {
    int nx, ny;
    float min_x, min_y, cell;
    float *of[SUMS]; // those that the layer needs, else NULL
} sums;

void th_studio_field_release(th_studio_field *field) {
    free(field->values);
    field->values = NULL;
}

float th_studio_field_at(const th_studio_field *field, float x, float y) {
    int i = (int)floorf((x - field->min_x) / field->cell);
    int j = (int)floorf((y - field->min_y) / field->cell);
    if (i < 0 || j < 0 || i >= field->nx || j >= field->ny) return 0.0f;
    return field->values[(size_t)j * (size_t)field->nx + (size_t)i];
}

static bool begin(sums *s, const th_box *box, unsigned which) {
    float width = box->max_x - box->min_x, height = box->max_y - box->min_y;
    const float most = 1024.0f; // cells in a row
    s->cell = fmaxf(0.5f, fmaxf(width, height) / most);
    s->nx = (int)(width / s->cell) + 3; // a margin, so that nothing is lost at the edge
    s->ny = (int)(height / s->cell) + 3;
    s->min_x = box->min_x - s->cell;
    s->min_y = box->min_y - s->cell;
    for (int k = 0; k < SUMS; ++k) {
        if (!(which >> k & 1)) continue;
        s->of[k] = calloc((size_t)s->nx * (size_t)s->ny, sizeof(float));
        if (!s->of[k]) return false;
    }
    return true;
}

static void spread(float *sum, size_t at, int nx, const float *weights, float value) {
    if (!sum) return;
    sum[at] += weights[0] * value;
    sum[at + 1] += weights[1] * value;
    sum[at + (size_t)nx] += weights[2] * value;
    sum[at + (size_t)nx + 1] += weights[3] * value;
}

static void add_person(sums *s, const th_studio_row *row, const float *cosines) {
    float gx = (row->x - s->min_x) / s->cell - 0.5f, gy = (row->y - s->min_y) / s->cell - 0.5f;
    if (!(gx >= 0.0f && gy >= 0.0f)) return;
    int i = (int)gx, j = (int)gy;
    if (i > s->nx - 2 || j > s->ny - 2) return;
    float fx = gx - (float)i, fy = gy - (float)j;
    const float weights[4] = {(1 - fx) * (1 - fy), fx * (1 - fy), (1 - fx) * fy, fx * fy};
    size_t at = (size_t)j * (size_t)s->nx + (size_t)i;
    float speed = TH_STUDIO_SPEED_STEP * (float)row->speed;
    spread(s->of[MASS], at, s->nx, weights, 1.0f);
    spread(s->of[MOMENTUM_X], at, s->nx, weights, speed * cosines[row->heading]);
    spread(s->of[MOMENTUM_Y], at, s->nx, weights, speed * cosines[(row->heading + 192) & 255]);
    spread(s->of[ENERGY], at, s->nx, weights, speed * speed);
    spread(s->of[SPEED], at, s->nx, weights, speed);
}

// 1 2 1 along one axis; what would leave the map stays at its edge.
static void smooth_line(float *line, int count, size_t stride) {
    float before = line[0];
    for (int k = 0; k < count; ++k) {
        float here = line[(size_t)k * stride];
        float after = k + 1 < count ? line[(size_t)(k + 1) * stride] : here;
        line[(size_t)k * stride] = 0.25f * (before + 2.0f * here + after);
        before = here;
    }
}

static void smooth(const sums *s) {
    for (int k = 0; k < SUMS; ++k) {
        if (!s->of[k]) continue;
        for (int y = 0; y < s->ny; ++y) smooth_line(s->of[k] + (size_t)y * (size_t)s->nx, s->nx, 1);
        for (int x = 0; x < s->nx; ++x) smooth_line(s->of[k] + x, s->ny, (size_t)s->nx);
    }
}

static float value_of(const sums *s, th_studio_layer_kind kind, size_t at) {
    float mass = s->of[MASS][at], density = mass / (s->cell * s->cell);
    if (kind == TH_LAYER_DENSITY) return density;
    if (mass < 0.05f) return kind == TH_LAYER_SPEED ? NAN : 0.0f;
    if (kind == TH_LAYER_SPEED) return s->of[SPEED][at] / mass;
    float x = s->of[MOMENTUM_X][at] / mass, y = s->of[MOMENTUM_Y][at] / mass;
    if (kind == TH_LAYER_FLOW) return density * sqrtf(x * x + y * y);
    return density * fmaxf(0.0f, s->of[ENERGY][at] / mass - x * x - y * y); // crowd pressure
}

static unsigned sums_of(th_studio_layer_kind kind) {
    switch (kind) {
    case TH_LAYER_DENSITY: return 1u << MASS;
    case TH_LAYER_SPEED: return 1u << MASS | 1u << SPEED;
    case TH_LAYER_FLOW:
    case TH_LAYER_VELOCITY: return 1u << MASS | 1u << MOMENTUM_X | 1u << MOMENTUM_Y;
    case TH_LAYER_CROWD_PRESSURE:
        return 1u << MASS | 1u << MOMENTUM_X | 1u << MOMENTUM_Y | 1u << ENERGY;
    default: return 0; // not of people alone
    }
}

bool th_studio_is_of_people(th_studio_layer_kind kind) { return sums_of(kind) != 0; }

static void fill_values(const sums *s, th_studio_layer_kind kind, float *values) {
    size_t cells = (size_t)s->nx * (size_t)s->ny;
    for (size_t k = 0; k < cells; ++k) {
        if (kind != TH_LAYER_VELOCITY) {
            values[k] = value_of(s, kind, k);
            continue;
        }
        float mass = s->of[MASS][k];
        values[2 * k] = mass < 0.05f ? NAN : s->of[MOMENTUM_X][k] / mass;
        values[2 * k + 1] = mass < 0.05f ? NAN : s->of[MOMENTUM_Y][k] / mass;
    }
}

bool th_studio_map_people(const th_studio_moment *moment, th_studio_layer_kind kind, int level,
                          th_studio_field *field) {
    unsigned which = sums_of(kind);
    if (!which || level < 0 || level >= moment->catalogue->level_count) return false;
    float cosines[256];
    for (int k = 0; k < 256; ++k) cosines[k] = cosf((float)k * (3.14159265f / 128.0f));
    sums s = {0};
    size_t values = 0;
    *field = (th_studio_field){.layer = -1, .level = level};
    if (begin(&s, &moment->catalogue->level_boxes[level], which)) {
        for (int i = 0; i < moment->count; ++i)
            if (moment->rows[i].level == level && moment->rows[i].phase != TH_PHASE_BODY)
                add_person(&s, &moment->rows[i], cosines);
        smooth(&s);
        values = (size_t)s.nx * (size_t)s.ny * (kind == TH_LAYER_VELOCITY ? 2 : 1);
        field->values = malloc(values * sizeof(float));
        if (field->values) fill_values(&s, kind, field->values);
    }
    for (int k = 0; k < SUMS; ++k) free(s.of[k]);
    field->nx = s.nx;
    field->ny = s.ny;
    field->min_x = s.min_x;
    field->min_y = s.min_y;
    field->cell = s.cell;
    return field->values != NULL;
}
