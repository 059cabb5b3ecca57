// Keeping to one side: the loop over people and the model's description. Cost: a place on a strip and four cells per
// agent on one. Model, additions and what is left out: docs/models/keep_side.md. SPDX-License-Identifier: Apache-2.0
#include "filter/keep_side/keep_side.h"
#include "core/parallel.h"
#include "space/distance_grid.h"
#include "throng/model.h"

static th_keep_side *state_of(const th_world *world) {
    return world->model_state[TH_FILTER_KEEP_SIDE];
}

static void run(th_world *world, int model) {
    (void)model;
    th_keep_side *s = state_of(world);
    th_strips_update(s, world);
    th_walls walls = th_world_walls(world);
    int count = world->agents.count;
#pragma omp parallel for num_threads(world->threads) schedule(static)
    for (int i = 0; i < count; ++i)
        if (th_keep_side_filters(world, i)) th_keep_side_filter(world, &s->fields, &walls, i);
}

static void destroy(th_world *world, int model) {
    th_keep_side *s = state_of(world);
    if (!s) return;
    th_arena_release(&s->arena);
    th_dealloc(&world->memory, s, 1, sizeof *s);
    world->model_state[model] = NULL;
}

static bool create(th_world *world, int model) {
    th_keep_side *s = th_alloc(&world->memory, 1, sizeof *s);
    if (!s) return false;
    world->model_state[model] = s;
    s->arena = th_arena_of(&world->memory.allocator);
    return th_strips_create(s, world->scene);
}

// ---- snapshots: the fields follow from the walls, which may be others afterwards

static void restore(th_world *world, int model, const void *memory) {
    (void)model;
    (void)memory;
    state_of(world)->stale = true;
}
static bool fields_are_sound(const th_world *world, int model, int group, const uint32_t *fields) {
    (void)model;
    (void)group;
    float leaving;
    memcpy(&leaving, &fields[TH_KEEP_SIDE_LEAVING], sizeof leaving);
    int strips;
    th_strips_of(world->scene, &strips);
    return fields[TH_KEEP_SIDE_HELD] <= 2 * (uint32_t)strips && leaving >= 0.0f && leaving <= 1e3f;
}

// ---- what it shows

static int influences(th_world *world, int model, uint32_t i, th_influence *list, int max) {
    th_keep_side *s = state_of(world);
    uint32_t held = th_own_words(world, (th_model_id)model, TH_KEEP_SIDE_HELD)[i];
    if (held == 0) return 0;
    th_strips_update(s, world);
    const th_keep_side_params *params =
        (const th_keep_side_params *)world->groups[world->agents.group[i]].filter_params;
    const th_strip_field *strip = &s->strips[(held - 1) / 2];
    int sense = (int)((held - 1) % 2);
    th_vec2 at = th_position(&world->agents, i);
    th_strip_place place = th_strip_place_of(strip, at);
    float hold;
    th_vec2 local =
        th_strip_look_up(strip, &place, sense, th_keep_side_cosine(params->turn), &hold);
    const th_influence all[] = {{.kind = TH_INFLUENCE_VECTOR,
                                 .name = "keep side",
                                 .unit = "-",
                                 .at = at,
                                 .vector = th_strip_direction(strip, &place, sense, local)}};
    for (int k = 0; k < TH_COUNT_OF(all) && k < max; ++k) list[k] = all[k];
    return TH_COUNT_OF(all);
}

static int statistics(const th_world *world, int model, th_model_value *values, int max) {
    const th_keep_side *s = state_of(world);
    const uint32_t *held = th_own_words(world, (th_model_id)model, TH_KEEP_SIDE_HELD);
    int people = 0;
    for (int i = 0; i < world->agents.count; ++i) people += held[i] != 0;
    const th_model_value all[] = {{"cells", "1", (double)s->cell_count},
                                  {"builds", "1", (double)s->builds},
                                  {"people_on_strips", "1", (double)people}};
    for (int k = 0; k < TH_COUNT_OF(all) && k < max; ++k) values[k] = all[k];
    return TH_COUNT_OF(all);
}

static const th_field_info fields[] = {
    {.name = "held",
     .hashed = true,
     .doc = "1 + 2 * strip + sense of the strip one keeps to, 0: none"},
    {.name = "leaving",
     .is_float = true,
     .hashed = true,
     .doc = "time for which it has wanted to leave the strip [s]"},
};
static const th_param_info params[] = {TH_KEEP_SIDE_PARAMS(TH_PARAM_INFO)};
const th_model th_filter_keep_side_model = {
    .cookie = TH_MODEL_COOKIE,
    .stage = TH_STAGE_FILTER,
    .name = "keep_side",
    .doc = "agents on marked strips keep to the right, or the left",
    .source = "Cheng 2013, section 3.6",
    .params = params,
    .param_count = TH_COUNT_OF(params),
    .fields = fields,
    .field_count = TH_COUNT_OF(fields),
    .sections = &th_strips_section,
    .section_count = 1,
    .run = run,
    .reach = th_reads_none,
    .create = create,
    .destroy = destroy,
    .restore = restore,
    .fields_are_sound = fields_are_sound,
    .influences = influences,
    .statistics = statistics,
};

// ---- strips

// Strips become fields: cells along and across the line, the ideal track beside walls and edges, and passes from there.
// Cost of a build: about ten sight lines a cell.

#define CELL 0.5f // [m] about as wide as a person, Cheng 2013: a cell per person
#define LOOK 2.0f // [m] a wall less than this ahead lets the planner in
#define STOP 0.5f // [m] with less than this the planner leads alone
#define ALONG_WALL \
    0.5f // cosine; a wall that is more across the strip than this shows no agent the way

enum {
    OPEN_FREE = 1,
    OPEN_ALONG = 2,
    OPEN_ACROSS = 4
}; // a cell, and what is between it and the next ones

// ---- memory

// ---- the section of the scene

// Each agent asks each strip of its level in every step; a change of walls builds all of them again.
enum { MAX_STRIPS = 100, MAX_POINTS = 1000 };
#define MAX_AREA 25000.0 // [m2]

static const char *compile(void *items, int count, int *item) {
    const th_strip *strips = items;
    double area = 0.0;
    *item = -1;
    for (int k = 0; k < count; ++k) area += (double)strips[k].line.length * (double)strips[k].width;
    return area > MAX_AREA
               ? "the strips cover more than 25000 m2; mark the busy parts of corridors only"
               : NULL;
}

static const th_key_info keys[] = {
    {.name = "line",
     .kind = TH_KEY_LINE,
     .offset = offsetof(th_strip, line),
     .required = true,
     .doc = "The middle of the strip, at least two points."},
    {.name = "width",
     .kind = TH_KEY_NUMBER,
     .offset = offsetof(th_strip, width),
     .unit = "m",
     .min = 0.5,
     .max = 100,
     .value = 4, // a corridor that two people abreast use both ways
     .doc = "Of the strip [m], default 4. Walls within it bound the free width."},
    {.name = "side",
     .kind = TH_KEY_WORD,
     .offset = offsetof(th_strip, side),
     .words = "right left",
     .doc = "On which side of the strip people keep, default right."},
    {.name = "track",
     .kind = TH_KEY_NUMBER,
     .offset = offsetof(th_strip, track),
     .unit = "-",
     .min = 0,
     .max = 1,
     .value = 0.4, // leaves a fifth of the width between the two directions
     .doc = "Part of the free width, from the side, that is the ideal track, default 0.4; 0: the "
            "cells beside the wall only."},
};
const th_section_info th_strips_section = {
    .name = "strips",
    .item = "strip",
    .doc = "Strips on which people with the filter \"keep_side\" keep to one side.",
    .item_size = sizeof(th_strip),
    .keys = keys,
    .key_count = TH_COUNT_OF(keys),
    .max_items = MAX_STRIPS,
    .max_points = MAX_POINTS,
    .width_key = "width",
    .needed = true,
    .compile = compile,
};

// ---- memory

static int cells_along(float length) {
    int count = (int)ceilf(length / CELL - 1e-3f);
    return count > 0 ? count : 1;
}

static void take_strip(th_keep_side *s, const th_strip *strip, th_strip_field *field) {
    float *at = th_arena_alloc(&s->arena, (size_t)strip->line.count, sizeof *at);
    *field = (th_strip_field){.level = strip->item.level,
                              .columns = cells_along(strip->line.length),
                              .rows = cells_along(strip->width),
                              .point_count = strip->line.count,
                              .width = strip->width,
                              .length = strip->line.length,
                              .own_side = {-1.0f, 1.0f},
                              .points = strip->line.points,
                              .at = at};
    field->column = field->length / (float)field->columns;
    field->row = field->width / (float)field->rows;
    if (strip->side == 1) field->own_side[0] = 1.0f, field->own_side[1] = -1.0f;
    field->box = (th_box){1e30f, 1e30f, -1e30f, -1e30f};
    for (int k = 0; at && k < strip->line.count; ++k) {
        th_vec2 p = strip->line.points[k];
        float half = 0.5f * strip->width;
        at[k] = k ? at[k - 1] + th_length(th_sub(p, strip->line.points[k - 1])) : 0.0f;
        field->box.min_x = th_min(field->box.min_x, p.x - half);
        field->box.max_x = th_max(field->box.max_x, p.x + half);
        field->box.min_y = th_min(field->box.min_y, p.y - half);
        field->box.max_y = th_max(field->box.max_y, p.y + half);
    }
}

bool th_strips_create(th_keep_side *s, const th_scene *scene) {
    int count;
    const th_strip *strips = th_strips_of(scene, &count);
    s->strips = th_arena_alloc(&s->arena, (size_t)count, sizeof *s->strips);
    size_t largest = 0;
    for (int k = 0; s->strips && k < count; ++k) {
        take_strip(s, &strips[k], &s->strips[k]);
        size_t cells = (size_t)s->strips[k].columns * (size_t)s->strips[k].rows;
        s->cell_count += 2 * cells;
        largest = cells > largest ? cells : largest;
    }
    s->cells = th_arena_alloc(&s->arena, s->cell_count, sizeof *s->cells);
    s->pass = th_arena_alloc(&s->arena, largest, sizeof *s->pass);
    s->open = th_arena_alloc(&s->arena, largest, sizeof *s->open);
    if (s->arena.failed) return false;
    th_strip_cell *next = s->cells;
    for (int k = 0; k < count; ++k)
        for (int sense = 0; sense < 2; ++sense) {
            s->strips[k].cells[sense] = next;
            next += s->strips[k].columns * s->strips[k].rows;
        }
    s->fields = (th_strip_fields){s->strips, count};
    s->stale = true;
    return true;
}

// ---- one strip

typedef struct builder {
    const th_world *world;
    th_walls walls;
    const th_strip *strip;
    const th_strip_field *field;
    uint8_t *open;
    uint32_t *pass;
    th_strip_cell *cells; // of the sense that is being built
    int sense;
} builder;

static float aside_of(const th_strip_field *f, int row) {
    return ((float)row + 0.5f) * f->row - 0.5f * f->width;
}
static th_vec2 middle_of(const th_strip_field *f, int column, int row, th_vec2 *axis) {
    return th_strip_point(f, ((float)column + 0.5f) * f->column, aside_of(f, row), axis);
}

// The first wall between two points: how far it is and which; -1 and the whole way if there is none.
static int cast(const builder *b, th_vec2 from, th_vec2 to, float *distance) {
    float t = 1.0f;
    int wall = th_walls_first_crossing(&b->walls, b->field->level, from, to, &t);
    *distance = (wall < 0 ? 1.0f : t) * th_length(th_sub(to, from));
    return wall;
}
static bool sees(const builder *b, th_vec2 from, th_vec2 to) {
    return th_walls_first_crossing(&b->walls, b->field->level, from, to, NULL) < 0;
}

// Finds the cells in which people can be, and the neighbours between which they can walk.
static void find_open(const builder *b) {
    const th_strip_field *f = b->field;
    int count = f->columns * f->rows;
#pragma omp parallel for num_threads(b->world->threads) schedule(static)
    for (int c = 0; c < count; ++c) {
        th_vec2 axis, p = middle_of(f, c % f->columns, c / f->columns, &axis);
        b->open[c] = th_walkable(b->world->scene, f->level, p) ? OPEN_FREE : 0;
    }
#pragma omp parallel for num_threads(b->world->threads) schedule(static)
    for (int c = 0; c < count; ++c) {
        int column = c % f->columns, row = c / f->columns;
        if (!(b->open[c] & OPEN_FREE)) continue;
        th_vec2 axis, p = middle_of(f, column, row, &axis);
        uint8_t more = 0;
        if (column + 1 < f->columns && (b->open[c + 1] & OPEN_FREE) &&
            sees(b, p, middle_of(f, column + 1, row, &axis)))
            more |= OPEN_ALONG;
        if (row + 1 < f->rows && (b->open[c + f->columns] & OPEN_FREE) &&
            sees(b, p, middle_of(f, column, row + 1, &axis)))
            more |= OPEN_ACROSS;
        b->pass[c] = more;
    }
    for (int c = 0; c < count; ++c) // apart, because neighbours look at it above
        if (b->open[c]) b->open[c] = (uint8_t)(b->open[c] | b->pass[c]);
}

// Free way from a place to the edge of the strip on its own (1) or other (-1) side: as far as the first wall.
static float free_way(const builder *b, int column, int row, float side, int *wall) {
    const th_strip_field *f = b->field;
    float aside = aside_of(f, row), towards = side * f->own_side[b->sense];
    float to_edge = 0.5f * f->width - towards * aside, distance;
    th_vec2 axis, p = middle_of(f, column, row, &axis);
    // A little further, so that a wall along the edge is seen.
    th_vec2 q = th_add(p, th_scale(towards * (to_edge + 0.5f * f->row), th_perp_left(axis)));
    *wall = cast(b, p, q, &distance);
    return th_min(distance, to_edge);
}

// Pass 1: the ideal track, along what is on one's own side.
static bool start_track(const builder *b, int c, th_vec2 *direction) {
    const th_strip_field *f = b->field;
    int own, other, column = c % f->columns, row = c / f->columns;
    float near = free_way(b, column, row, 1.0f, &own),
          far = free_way(b, column, row, -1.0f, &other);
    if (near > th_max(f->row, b->strip->track * (near + far))) return false;
    *direction = th_v(1.0f, 0.0f);
    if (own < 0) return true;
    th_vec2 axis;
    middle_of(f, column, row, &axis);
    const th_wall *wall = &b->walls.walls[own];
    th_vec2 along = th_unit(th_sub(wall->b, wall->a));
    float onwards = th_dot(along, axis) * (b->sense ? -1.0f : 1.0f);
    float aside = th_det(axis, along) * f->own_side[b->sense];
    if (onwards < 0.0f) onwards = -onwards, aside = -aside; // walls have no sense of their own
    if (onwards > ALONG_WALL) *direction = th_unit(th_v(onwards, aside));
    return true;
}

enum { NEXT, PREVIOUS, LEFT, RIGHT }; // neighbours, along the line and across it

// A neighbour of a cell; -1: none, or a wall between.
static int neighbour_of(const builder *b, int c, int k) {
    const th_strip_field *f = b->field;
    bool across = k >= LEFT;
    int sign = k == NEXT || k == LEFT ? 1 : -1;
    int place = (across ? c / f->columns : c % f->columns) + sign;
    if (place < 0 || place >= (across ? f->rows : f->columns)) return -1;
    int other = c + sign * (across ? f->columns : 1), low = sign > 0 ? c : other;
    return b->open[low] & (across ? OPEN_ACROSS : OPEN_ALONG) ? other : -1;
}

// Eqs. 3.15 and 3.16: towards the neighbour on one's own side; the mean where neighbours before or behind were visited
// too, by an earlier pass. Passes go away from the own side only: around the ends of an obstacle they would turn people
// to the wrong side, and backwards.
static bool visit(const builder *b, int c, uint32_t pass, th_vec2 *direction) {
    const int neighbours[3] = {b->field->own_side[b->sense] > 0.0f ? LEFT : RIGHT, NEXT, PREVIOUS};
    th_vec2 sum = {0.0f, 0.0f};
    int visited = 0;
    for (int k = 0; k < 3; ++k) {
        int other = neighbour_of(b, c, neighbours[k]);
        if (other >= 0 && b->pass[other] != 0 && b->pass[other] < pass) {
            sum = th_add(sum, b->cells[other].direction);
            ++visited;
        } else if (k == 0) {
            return false;
        }
    }
    *direction = th_unit(visited == 1 ? th_add(sum, th_v(0.0f, 1.0f)) : sum);
    return true;
}

static void run_passes(const builder *b) {
    const th_strip_field *f = b->field;
    int count = f->columns * f->rows;
#pragma omp parallel for num_threads(b->world->threads) schedule(static)
    for (int c = 0; c < count; ++c) {
        b->cells[c] = (th_strip_cell){{0.0f, 0.0f}, 0.0f, 0};
        b->pass[c] = (b->open[c] & OPEN_FREE) && start_track(b, c, &b->cells[c].direction);
    }
    int added = 1;
    for (uint32_t pass = 2; added > 0; ++pass) {
        added = 0;
        for (int c = 0; c < count; ++c) {
            if (b->pass[c] != 0 || !(b->open[c] & OPEN_FREE)) continue;
            if (!visit(b, c, pass, &b->cells[c].direction)) continue;
            b->pass[c] = pass; // not seen by this pass, which looks at earlier ones only
            ++added;
        }
    }
}

// The free way ahead in the row of a cell, up to LOOK.
static float clear_ahead(const builder *b, int c) {
    const th_strip_field *f = b->field;
    int step = b->sense ? -1 : 1, column = c % f->columns, row = c / f->columns;
    float clear = 0.0f, rest;
    for (; clear < LOOK; clear += f->column, column += step) {
        int next = column + step, low = step > 0 ? column : next;
        if (next < 0 || next >= f->columns) break;
        if (!(b->open[row * f->columns + low] & OPEN_ALONG)) break;
    }
    if (clear >= LOOK) return LOOK;
    th_vec2 axis, p = middle_of(f, column, row, &axis);
    float onwards = b->sense ? -1.0f : 1.0f;
    cast(b, p, th_add(p, th_scale(onwards * (LOOK - clear), axis)), &rest);
    return clear + rest;
}

static bool is_joined(const builder *b, int c) {
    const th_strip_field *f = b->field;
    bool next = c % f->columns + 1 < f->columns, above = c / f->columns + 1 < f->rows;
    int need = OPEN_FREE | (next ? OPEN_ALONG : 0) | (above ? OPEN_ACROSS : 0);
    if ((b->open[c] & need) != need) return false;
    if (!next || !above) return true;
    return (b->open[c + 1] & OPEN_ACROSS) && (b->open[c + f->columns] & OPEN_ALONG);
}

static void build_sense(builder *b) {
    const th_strip_field *f = b->field;
    run_passes(b);
    int count = f->columns * f->rows;
#pragma omp parallel for num_threads(b->world->threads) schedule(static)
    for (int c = 0; c < count; ++c) {
        b->cells[c].joined = is_joined(b, c);
        if (b->pass[c] != 0)
            b->cells[c].hold = th_clamp((clear_ahead(b, c) - STOP) / (LOOK - STOP), 0.0f, 1.0f);
    }
}

void th_strips_update(th_keep_side *s, const th_world *world) {
    if (!s->stale && s->walls_version == world->walls_version) return;
    int count;
    const th_strip *strips = th_strips_of(world->scene, &count);
    th_strip_cell *next = s->cells;
    for (int k = 0; k < s->fields.count; ++k) {
        const th_strip_field *field = &s->strips[k];
        builder b = {world, th_world_walls(world), &strips[k], field, s->open, s->pass, next, 0};
        find_open(&b);
        for (; b.sense < 2; ++b.sense, b.cells += field->columns * field->rows) build_sense(&b);
        next = b.cells;
    }
    s->walls_version = world->walls_version;
    s->stale = false;
    s->builds++;
}
