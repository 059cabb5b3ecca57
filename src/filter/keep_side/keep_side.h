// Keeping to one side (Cheng 2013, section 3.6, "sub-domain navigation field"): where an agent is on a strip, and how
// its field changes the planned direction.
// Implemented: two fields for a strip, one for either sense of walking along it; the ideal track beside what is on
// one's own side, along it; passes from there over the rest of the strip that turn towards the track (eqs. 3.15 and
// 3.16); on the strip the direction is the field's and the speed the planner's.
// Additions: strips along any line instead of boxes along the axes, with cells along and across the line, because with
// cells of the plan a slanting strip would have two visited neighbours nearly everywhere and so no pull to the side;
// the edge of a strip counts where there is no wall; a wider track; a limit to the turn; blending at the edges; the
// sense by the planned direction; handing back to the planner in front of walls and to agents that want to leave.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_FILTER_KEEP_SIDE_KEEP_SIDE_H
#define TH_FILTER_KEEP_SIDE_KEEP_SIDE_H
#include "core/memory.h"
#include "formula/math.h"
#include "formula/params.h"
#include "state/world.h"

// X(name, default, min, max, "unit", "source", "doc")
#define TH_KEEP_SIDE_PARAMS(X)                                                      \
    X(keep, 1, 0, 1, "-", "Cheng 2013: solely the field's direction",               \
      "share of the field in the direction on a strip, the rest is the planner's")  \
    X(turn, 60, 0, 85, "deg",                                                       \
      "throng: the published field turns to 90, people would cross square-on",      \
      "most that people turn from the strip towards their side")                    \
    X(blend, 1, 0, 10, "m", "Cheng 2013: a few cells; throng: two cells of 0.5 m",  \
      "distance beyond the strip over which its share fades to nothing")            \
    X(leave, 60, 10, 80, "deg", "throng",                                           \
      "an agent whose plan leads at more than this to the strip wants to leave it") \
    X(patience, 1, 0, 30, "s", "throng", "time after which such an agent is let go")

typedef struct th_keep_side_params {
    TH_KEEP_SIDE_PARAMS(TH_PARAM_MEMBER)
} th_keep_side_params;

// A cell of a strip for one sense of walking. The direction is relative to the strip: x onwards, y to one's own side.
typedef struct th_strip_cell {
    th_vec2 direction; // unit, (0, 0) where no agent can be
    float hold;        // 0: the planner leads, 1: the field does
    // Nothing stands between it and the next ones along, across and both, so one may interpolate.
    uint32_t joined;
} th_strip_cell;

// Cells of a strip lie row by row along its line, the first row at its right edge.
typedef struct th_strip_field {
    int level, columns, rows, point_count;
    float width, length, column, row; // the last two: size of a cell [m]
    float own_side[2];                // by sense: -1 the right edge of the line, 1 the left one
    th_box box;
    const th_vec2 *points;
    const float *at;               // by point: distance along the line [m]
    const th_strip_cell *cells[2]; // by sense: along the line, against it
} th_strip_field;

typedef struct th_strip_fields {
    const th_strip_field *strips;
    int count;
} th_strip_fields;

// Where an agent is on a strip.
typedef struct th_strip_place {
    float along, aside; // [m] on the strip; aside: from the middle to the left
    float beyond;       // [m] off the strip, 0 on it
    th_vec2 axis;       // of the piece of the line, unit
} th_strip_place;

TH_FORMULA th_strip_place th_strip_place_of(const th_strip_field *strip, th_vec2 p) {
    th_strip_place place = {0.0f, 0.0f, 0.0f, {1.0f, 0.0f}};
    float best2 = 1e30f, off = 0.0f;
    for (int k = 0; k + 1 < strip->point_count; ++k) {
        th_vec2 a = strip->points[k], b = strip->points[k + 1];
        th_vec2 near = th_nearest_on_segment(p, a, b);
        float distance2 = th_length2(th_sub(p, near));
        if (!(distance2 < best2)) continue;
        best2 = distance2;
        float size = strip->at[k + 1] - strip->at[k];
        place.axis = th_scale(1.0f / size, th_sub(b, a));
        th_vec2 from = th_sub(p, a);
        float along = th_dot(from, place.axis), aside = th_det(place.axis, from);
        // Around the outside of a bend every agent is as far along as the bend, and as far aside as away from it.
        bool first = k == 0, last = k + 2 == strip->point_count;
        bool around = (along < 0.0f && !first) || (along > size && !last);
        place.aside = around ? (aside < 0.0f ? -sqrtf(distance2) : sqrtf(distance2)) : aside;
        off = along < 0.0f && first ? -along : along > size && last ? along - size : 0.0f;
        place.along = strip->at[k] + th_clamp(along, 0.0f, size);
    }
    float half = 0.5f * strip->width, over = th_max(fabsf(place.aside) - half, 0.0f);
    place.aside = th_clamp(place.aside, -half, half);
    place.beyond = sqrtf(off * off + over * over);
    return place;
}

// The place in the world of a place on the strip.
TH_FORMULA th_vec2 th_strip_point(const th_strip_field *strip, float along, float aside,
                                  th_vec2 *axis) {
    int k = 0;
    while (k + 2 < strip->point_count && strip->at[k + 1] < along) ++k;
    th_vec2 a = strip->points[k], b = strip->points[k + 1];
    *axis = th_scale(1.0f / (strip->at[k + 1] - strip->at[k]), th_sub(b, a));
    th_vec2 on_line = th_add(a, th_scale(along - strip->at[k], *axis));
    return th_add(on_line, th_scale(aside, th_perp_left(*axis)));
}

// Not more than `turn` to either side; (0, 0) stays so.
TH_FORMULA th_vec2 th_strip_limit_turn(th_vec2 direction, float cosine) {
    if (direction.x >= cosine || th_length2(direction) == 0.0f) return direction;
    float sine = sqrtf(1.0f - cosine * cosine);
    return th_v(cosine, direction.y < 0.0f ? -sine : sine);
}

// The field at a place for a sense of walking, between cells where nothing stands between them. *hold: how much it
// leads.
TH_FORMULA th_vec2 th_strip_look_up(const th_strip_field *strip, const th_strip_place *place,
                                    int sense, float cosine, float *hold) {
    float x = place->along / strip->column, y = (place->aside + 0.5f * strip->width) / strip->row;
    int column = (int)th_clamp(x, 0.0f, (float)(strip->columns - 1));
    int row = (int)th_clamp(y, 0.0f, (float)(strip->rows - 1));
    const th_strip_cell *cells = strip->cells[sense];
    const th_strip_cell *own = &cells[row * strip->columns + column];
    // The four cells whose middles are around the place.
    float left = th_clamp(x - 0.5f, 0.0f, (float)(strip->columns - 1)),
          low = th_clamp(y - 0.5f, 0.0f, (float)(strip->rows - 1));
    int i = (int)left, j = (int)low;
    const th_strip_cell *corner = &cells[j * strip->columns + i];
    *hold = own->hold;
    if (!corner->joined) return th_strip_limit_turn(own->direction, cosine);
    float u = left - (float)i, v = low - (float)j;
    int next = i + 1 < strip->columns ? 1 : 0, above = j + 1 < strip->rows ? strip->columns : 0;
    const th_strip_cell *four[4] = {corner, corner + next, corner + above, corner + above + next};
    const float weight[4] = {(1.0f - u) * (1.0f - v), u * (1.0f - v), (1.0f - u) * v, u * v};
    th_vec2 sum = {0.0f, 0.0f};
    *hold = 0.0f;
    for (int k = 0; k < 4; ++k) {
        sum = th_add(sum, th_scale(weight[k], th_strip_limit_turn(four[k]->direction, cosine)));
        *hold += weight[k] * four[k]->hold;
    }
    return th_unit(sum);
}

// The field's direction in the world.
TH_FORMULA th_vec2 th_strip_direction(const th_strip_field *strip, const th_strip_place *place,
                                      int sense, th_vec2 local) {
    th_vec2 onwards = sense == 0 ? place->axis : th_scale(-1.0f, place->axis);
    th_vec2 aside = th_scale(strip->own_side[sense], th_perp_left(place->axis));
    return th_add(th_scale(local.x, onwards), th_scale(local.y, aside));
}

TH_FORMULA float th_keep_side_cosine(float degrees) {
    double sine, cosine;
    th_sincos_turn((double)degrees / 360.0, &sine, &cosine);
    return (float)cosine;
}

// The hold on an agent: a strip with its share, 1 on the strip and less beyond it.
typedef struct th_strip_choice {
    int strip; // -1: none
    float share;
    float fit; // cosine between the planned direction and the line, of either sign
    th_strip_place place;
} th_strip_choice;

// Chooses, of strips that lie over each other, the one along which an agent walks. An agent beside a strip is on it only if
// nothing stands between.
TH_FORMULA th_strip_choice th_strip_choose(const th_strip_fields *fields, const th_walls *walls,
                                           int level, th_vec2 p, th_vec2 heading, float blend) {
    th_strip_choice best = {-1, 0.0f, 0.0f, {0.0f, 0.0f, 0.0f, {1.0f, 0.0f}}};
    for (int s = 0; s < fields->count; ++s) {
        const th_strip_field *strip = &fields->strips[s];
        const th_box *box = &strip->box;
        if (strip->level != level || p.x < box->min_x - blend || p.x > box->max_x + blend ||
            p.y < box->min_y - blend || p.y > box->max_y + blend)
            continue;
        th_strip_place place = th_strip_place_of(strip, p);
        float share = place.beyond <= 0.0f ? 1.0f
                      : blend > 0.0f       ? 1.0f - place.beyond / blend
                                           : 0.0f;
        float fit = th_dot(heading, place.axis);
        if (!(share > 0.0f && share * fabsf(fit) > best.share * fabsf(best.fit))) continue;
        th_vec2 axis, on_strip = th_strip_point(strip, place.along, place.aside, &axis);
        if (place.beyond > 0.0f && th_walls_first_crossing(walls, level, p, on_strip, NULL) >= 0)
            continue;
        best = (th_strip_choice){s, share, fit, place};
    }
    return best;
}

// State of a person: 1 + 2 * strip + sense of the strip that holds it (0: nothing), and for how long it has wanted to
// leave [s].
enum { TH_KEEP_SIDE_HELD, TH_KEEP_SIDE_LEAVING };

// The sense in which an agent walks along a strip that may hold it; -1: none, the planner leads. An agent that wants to leave
// is held for the patience and then released until it walks along a strip again.
TH_FORMULA int th_keep_side_sense(const th_keep_side_params *params, const th_strip_choice *choice,
                                  float dt, uint32_t *held, float *leaving) {
    uint32_t strip = 1 + 2 * (uint32_t)choice->strip;
    if (choice->strip >= 0 && fabsf(choice->fit) >= th_keep_side_cosine(params->leave)) {
        *held = strip + (choice->fit < 0.0f ? 1 : 0);
        *leaving = 0.0f;
    } else {
        bool here = choice->strip >= 0 && (*held == strip || *held == strip + 1);
        *leaving += dt;
        if (!here || *leaving > params->patience) *held = 0;
        if (*held == 0) *leaving = 0.0f;
    }
    return *held == 0 ? -1 : (int)(*held - strip);
}

TH_FORMULA bool th_keep_side_filters(const th_world *world, int i) {
    const th_agents *agents = &world->agents;
    return agents->phase[i] == TH_PHASE_WALKING &&
           world->groups[agents->group[i]].filter == TH_FILTER_KEEP_SIDE;
}

// Turns the preferred velocity of an agent that walks; its length stays.
TH_FORMULA void th_keep_side_filter(th_world *world, const th_strip_fields *fields,
                                    const th_walls *walls, int i) {
    th_agents *agents = &world->agents;
    const th_keep_side_params *params =
        (const th_keep_side_params *)(const void *)world->groups[agents->group[i]].filter_params;
    th_vec2 preferred = {agents->preferred_x[i], agents->preferred_y[i]};
    float speed = th_length(preferred);
    if (!(speed > 1e-6f)) return;
    th_vec2 heading = th_scale(1.0f / speed, preferred);
    th_strip_choice choice =
        th_strip_choose(fields, walls, (int)agents->level[i], th_position(agents, (uint32_t)i),
                        heading, params->blend);
    int sense = th_keep_side_sense(
        params, &choice, world->dt, &th_own_words(world, TH_FILTER_KEEP_SIDE, TH_KEEP_SIDE_HELD)[i],
        &th_own_floats(world, TH_FILTER_KEEP_SIDE, TH_KEEP_SIDE_LEAVING)[i]);
    if (sense < 0) return;
    const th_strip_field *strip = &fields->strips[choice.strip];
    float hold;
    th_vec2 local =
        th_strip_look_up(strip, &choice.place, sense, th_keep_side_cosine(params->turn), &hold);
    float share = params->keep * choice.share * hold;
    th_vec2 field = th_strip_direction(strip, &choice.place, sense, local);
    th_vec2 mixed = th_add(th_scale(1.0f - share, heading), th_scale(share, field));
    float length = th_length(mixed);
    if (!(length > 0.1f)) return; // they cancel out: the planner leads
    agents->preferred_x[i] = speed / length * mixed.x;
    agents->preferred_y[i] = speed / length * mixed.y;
}

// ---- strips of a world

// A strip of the scene, compiled.
typedef struct th_strip {
    th_item item;
    th_polyline line;
    float width; // [m]
    int side;    // 0: keep right, 1: left
    float track; // [-]
} th_strip;

// The fields of the strips of a world: built by passes from the walls as they stand, and again when they change.

typedef struct th_keep_side {
    th_arena arena; // of all this
    th_strip_fields fields;
    th_strip_field *strips; // of fields
    th_strip_cell *cells;   // of all strips, one sense after the other
    size_t cell_count;
    uint32_t *pass;  // work space, a cell of one strip and sense each: the pass that visited it
    uint8_t *open;   // the same: OPEN_*
    uint32_t builds; // how often they were built
    uint32_t walls_version;
    bool stale; // whatever the version says
} th_keep_side;

#ifdef __cplusplus
extern "C" {
#endif
extern const th_section_info th_strips_section;
static inline const th_strip *th_strips_of(const th_scene *scene, int *count) {
    return (const th_strip *)th_scene_items(scene, "strips", count);
}
// Takes the memory of all strips. False: there is none.
bool th_strips_create(th_keep_side *state, const th_scene *scene);
// Builds the fields if the walls are not those they were built with.
void th_strips_update(th_keep_side *state, const th_world *world);
#ifdef __cplusplus
}
#endif
#endif
