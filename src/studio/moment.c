// Taking a moment of a world: one pass over the views. SPDX-License-Identifier: Apache-2.0
#include "studio/moment.h"
#include "throng/model.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- the catalogue

static th_studio_colour *add_colour(th_studio_catalogue *c, const char *name, const char *label,
                                    const char *unit, const char *doc) {
    if (c->colour_count == (int)(sizeof c->colours / sizeof c->colours[0])) return NULL;
    th_studio_colour *colour = &c->colours[c->colour_count++];
    *colour = (th_studio_colour){0};
    snprintf(colour->name, sizeof colour->name, "%s", name);
    snprintf(colour->label, sizeof colour->label, "%s", label);
    snprintf(colour->unit, sizeof colour->unit, "%s", unit);
    snprintf(colour->doc, sizeof colour->doc, "%s", doc);
    return colour;
}

void th_studio_field_words(const th_field_info *field, char label[TH_STUDIO_NAME], char unit[16]) {
    const char *open = strrchr(field->doc, '['), *shut = open ? strchr(open, ']') : NULL;
    snprintf(label, TH_STUDIO_NAME, "%s", field->name);
    for (char *c = label; *c; ++c)
        if (*c == '_') *c = ' ';
    snprintf(unit, 16, "%.*s", shut ? (int)(shut - open - 1) : 0, open ? open + 1 : "");
}

static void add_common_colours(th_studio_catalogue *c, const th_scene_view *scene, bool is_world) {
    static const struct {
        const char *name, *label, *unit, *doc;
        th_studio_colour_kind kind;
        bool recorded;
        float max;
    } table[] = {
#define X(NAME, name, label, unit, recorded, max, doc) \
    {#name, label, unit, doc, TH_COLOUR_##NAME, recorded, max},
        TH_STUDIO_COLOURS(X)
#undef X
    };
    for (size_t k = 0; k < sizeof table / sizeof table[0]; ++k) {
        if (!is_world && !table[k].recorded) continue;
        if (table[k].kind == TH_COLOUR_LEVEL && scene->level_count == 1) continue;
        th_studio_colour *colour =
            add_colour(c, table[k].name, table[k].label, table[k].unit, table[k].doc);
        colour->kind = table[k].kind;
        colour->max = table[k].max;
        colour->category = table[k].max == 0.0f;
    }
}

static bool has_label(const th_studio_catalogue *c, const char *label) {
    for (int k = 0; k < c->colour_count; ++k)
        if (strcmp(c->colours[k].label, label) == 0) return true;
    return false;
}

static void add_field_colours(th_studio_catalogue *c, const th_world *world) {
    int count;
    const th_model *const *models = th_models(&count);
    for (int m = 0; m < count; ++m) {
        for (int f = 0; f < models[m]->field_count; ++f) {
            const th_field_info *field = &models[m]->fields[f];
            char name[TH_STUDIO_NAME], words[TH_STUDIO_NAME], label[TH_STUDIO_NAME], unit[16];
            snprintf(name, sizeof name, "%s/%s.%s", th_stage_name(models[m]->stage),
                     models[m]->name, field->name);
            // No group uses the model, or it is not offered.
            if (!field->label || th_world_field(world, name) < 0) continue;
            th_studio_field_words(field, words, unit);
            bool twice = has_label(c, field->label);
            snprintf(label, sizeof label, "%.44s%s%.30s%s", field->label, twice ? " (" : "",
                     twice ? models[m]->name : "", twice ? ")" : "");
            th_studio_colour *colour = add_colour(c, name, label, unit, field->doc);
            if (!colour) return;
            colour->kind = TH_COLOUR_FIELD;
            colour->is_float = field->is_float;
        }
    }
}

static bool has_grids(const th_scene_view *scene) {
    for (int g = 0; g < scene->group_count; ++g)
        if (th_models(NULL)[scene->groups[g].move.model]->grid) return true;
    return false;
}

static bool has_directions(const th_scene_view *scene) {
    for (int g = 0; g < scene->group_count; ++g)
        if (th_models(NULL)[scene->groups[g].plan.model]->directions) return true;
    return false;
}

static bool has_picture(const th_scene_view *scene, th_picture_kind kind) {
    for (int k = 0; k < scene->picture_count; ++k)
        if (scene->pictures[k].kind == kind) return true;
    return false;
}

static void add_layers(th_studio_catalogue *c, const th_scene_view *scene, const th_world *world) {
    static const th_studio_layer layers[] = {
#define X(NAME, name, label, unit, vectors, of_target, max, doc) \
    {#name, label, unit, doc, TH_LAYER_##NAME, vectors, of_target, (float)(max)},
        TH_STUDIO_LAYERS(X)
#undef X
    };
    for (int l = 0; l < TH_LAYER_COUNT; ++l) {
        bool grid = layers[l].kind == TH_LAYER_PACKING || layers[l].kind == TH_LAYER_PRESSURE;
        if ((grid && (!world || !has_grids(scene))) ||
            (layers[l].of_target && (!world || scene->target_count == 0)) ||
            (th_studio_is_of_observer(layers[l].kind) && !world) ||
            (layers[l].kind == TH_LAYER_PLANNED && !has_directions(scene)) ||
            (layers[l].kind == TH_LAYER_DISCOMFORT && !has_picture(scene, TH_PICTURE_DISCOMFORT)) ||
            (layers[l].kind == TH_LAYER_DRAWN && !has_picture(scene, TH_PICTURE_GUIDANCE)))
            continue;
        c->layers[c->layer_count++] = layers[l];
    }
}

static void include_box(th_box *box, const th_box *other, bool first) {
    if (first) {
        *box = *other;
        return;
    }
    box->min_x = fminf(box->min_x, other->min_x);
    box->min_y = fminf(box->min_y, other->min_y);
    box->max_x = fmaxf(box->max_x, other->max_x);
    box->max_y = fmaxf(box->max_y, other->max_y);
}

th_studio_catalogue *th_studio_catalogue_create(const th_scene_view *scene, const th_world *world) {
    th_studio_catalogue *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    atomic_init(&c->references, 1);
    add_common_colours(c, scene, world != NULL);
    if (world) add_field_colours(c, world);
    add_layers(c, scene, world);
    c->level_count = scene->level_count < TH_STUDIO_LEVELS ? scene->level_count : TH_STUDIO_LEVELS;
    for (int l = 0; l < c->level_count; ++l) {
        c->level_boxes[l] = scene->levels[l].box;
        include_box(&c->box, &scene->levels[l].box, l == 0);
    }
    if (th_studio_catalogue_fit(c, scene)) return c;
    th_studio_catalogue_release(c);
    return NULL;
}

bool th_studio_catalogue_fit(th_studio_catalogue *c, const th_scene_view *scene) {
    const float most = 1024.0f; // cells in a row
    for (int l = 0; l < c->level_count; ++l) {
        const th_box *box = &c->level_boxes[l];
        float size = fmaxf(box->max_x - box->min_x, box->max_y - box->min_y);
        th_kernel_release(&c->kernels[l]);
        if (!th_kernel_create(scene, l, (double)fmaxf(0.5f, size / most), box, &c->kernels[l]))
            return false;
    }
    return true;
}

int th_studio_find_colour(const th_studio_catalogue *catalogue, const char *name) {
    for (int k = 0; k < catalogue->colour_count; ++k)
        if (strcmp(catalogue->colours[k].name, name) == 0) return k;
    return -1;
}

int th_studio_find_layer(const th_studio_catalogue *catalogue, const char *name) {
    for (int k = 0; k < catalogue->layer_count; ++k)
        if (strcmp(catalogue->layers[k].name, name) == 0) return k;
    return -1;
}

void th_studio_catalogue_release(th_studio_catalogue *catalogue) {
    if (!catalogue || atomic_fetch_sub(&catalogue->references, 1) != 1) return;
    for (int l = 0; l < catalogue->level_count; ++l) th_kernel_release(&catalogue->kernels[l]);
    free(catalogue);
}

// ---- moments

th_studio_moment *th_studio_moment_create(th_studio_catalogue *catalogue, int count) {
    th_studio_moment *moment = calloc(1, sizeof *moment);
    if (!moment) return NULL;
    atomic_init(&moment->references, 1);
    moment->rows = malloc((size_t)(count > 0 ? count : 1) * sizeof *moment->rows);
    if (!moment->rows) {
        free(moment);
        return NULL;
    }
    atomic_fetch_add(&catalogue->references, 1);
    moment->catalogue = catalogue;
    moment->count = count;
    return moment;
}

th_studio_moment *th_studio_moment_hold(th_studio_moment *moment) {
    if (moment) atomic_fetch_add(&moment->references, 1);
    return moment;
}

void th_studio_moment_release(th_studio_moment *moment) {
    if (!moment || atomic_fetch_sub(&moment->references, 1) != 1) return;
    for (int k = 0; k < moment->column_count; ++k) free(moment->columns[k].values);
    for (int k = 0; k < moment->field_count; ++k) th_studio_field_release(&moment->fields[k]);
    th_studio_catalogue_release(moment->catalogue);
    free(moment->rows);
    free(moment);
}

size_t th_studio_moment_bytes(const th_studio_moment *moment) {
    size_t bytes = sizeof *moment + (size_t)moment->count * sizeof *moment->rows;
    bytes += (size_t)moment->column_count * (size_t)moment->count * sizeof(float);
    for (int k = 0; k < moment->field_count; ++k)
        bytes += 2 * (size_t)moment->fields[k].nx * (size_t)moment->fields[k].ny * sizeof(float);
    return bytes;
}

// The arc tangent on 0 .. 1 by two terms is right to 0.005 rad; a byte is 0.025.
uint8_t th_studio_heading(float x, float y) {
    float ax = fabsf(x), ay = fabsf(y), high = fmaxf(ax, ay), low = fminf(ax, ay);
    if (!(high > 0.0f)) return 0;
    float t = low / high, angle = t * (0.9724f - 0.1919f * t * t) * (128.0f / 3.14159265f);
    if (ay > ax) angle = 64.0f - angle;
    if (x < 0.0f) angle = 128.0f - angle;
    if (y < 0.0f) angle = 256.0f - angle;
    return (uint8_t)((int)(angle + 0.5f) & 255);
}

uint8_t th_studio_speed(float speed) {
    float steps = speed / TH_STUDIO_SPEED_STEP + 0.5f;
    return (uint8_t)(steps < 255.0f ? steps : 255.0f);
}

static uint8_t byte_of(uint32_t index) { return (uint8_t)(index < 255 ? index : 255); }

enum {
    VIEWS = 13,
};
static const th_field needed[VIEWS] = {
    TH_FIELD_ID,         TH_FIELD_POSITION_X,  TH_FIELD_POSITION_Y,  TH_FIELD_VELOCITY_X,
    TH_FIELD_VELOCITY_Y, TH_FIELD_PREFERRED_X, TH_FIELD_PREFERRED_Y, TH_FIELD_RADIUS,
    TH_FIELD_SPEED,      TH_FIELD_LEVEL,       TH_FIELD_GROUP,       TH_FIELD_PHASE,
    TH_FIELD_LEG};

typedef struct views {
    const uint32_t *id, *level, *group, *phase, *leg;
    const float *x, *y, *vx, *vy, *px, *py, *radius, *speed;
} views;

// Maps fields of all agents in the order of their ids, or (`stored`) in the world's own, which is much faster. -1: no memory.
static int map_views(th_world *world, bool stored, views *v) {
    const void *mapped[VIEWS];
    int count = stored ? 0 : th_world_agent_count(world);
    for (int k = 0; k < VIEWS; ++k) {
        mapped[k] = stored ? th_world_stored(world, (int)needed[k], &count)
                           : th_world_map(world, (int)needed[k], TH_ACCESS_READ);
        if (!mapped[k]) return -1;
    }
    *v = (views){.id = mapped[0],
                 .x = mapped[1],
                 .y = mapped[2],
                 .vx = mapped[3],
                 .vy = mapped[4],
                 .px = mapped[5],
                 .py = mapped[6],
                 .radius = mapped[7],
                 .speed = mapped[8],
                 .level = mapped[9],
                 .group = mapped[10],
                 .phase = mapped[11],
                 .leg = mapped[12]};
    return count;
}

// The target of the leg an agent is on.
static uint8_t goal_of(const th_scene_view *scene, uint32_t group, uint32_t leg) {
    if (group >= (uint32_t)scene->group_count) return TH_STUDIO_NOTHING;
    int target = th_group_target(&scene->groups[group], leg);
    return target >= 0 ? byte_of((uint32_t)target) : TH_STUDIO_NOTHING;
}

// Standing agents face where they want to go, or what they watch.
static th_vec2 facing_of(const th_scene_view *scene, const views *v, int i, bool walks) {
    if (walks) return (th_vec2){v->vx[i], v->vy[i]};
    bool watches = v->phase[i] == TH_PHASE_WAITING && v->group[i] < (uint32_t)scene->group_count;
    if (!watches) return (th_vec2){v->px[i], v->py[i]};
    th_vec2 at = {v->x[i], v->y[i]};
    return th_watched_from(scene, &scene->groups[v->group[i]], v->leg[i], at);
}

static void fill_rows(th_studio_moment *moment, const th_scene_view *scene, const views *v) {
#pragma omp parallel for schedule(static) if (moment->count > 20000)
    for (int i = 0; i < moment->count; ++i) {
        th_studio_row *row = &moment->rows[i];
        float speed = sqrtf(v->vx[i] * v->vx[i] + v->vy[i] * v->vy[i]);
        th_vec2 facing = facing_of(scene, v, i, speed > 0.05f);
        float ratio = v->speed[i] > 0.0f ? 255.0f * speed / v->speed[i] : 0.0f;
        float radius = 100.0f * v->radius[i] + 0.5f;
        row->id = v->id[i];
        row->x = v->x[i];
        row->y = v->y[i];
        row->heading = th_studio_heading(facing.x, facing.y);
        row->speed = th_studio_speed(speed);
        row->ratio = (uint8_t)(ratio < 254.0f ? ratio : 254.0f);
        row->phase = (uint8_t)v->phase[i];
        row->level = byte_of(v->level[i]);
        row->group = byte_of(v->group[i]);
        row->goal = goal_of(scene, v->group[i], v->leg[i]);
        row->radius = (uint8_t)(radius < 255.0f ? radius : 255.0f);
    }
}

static bool is_gone(uint32_t phase) { return phase == TH_PHASE_LEFT || phase == TH_PHASE_REMOVED; }

// Removes people that have left since from the rows and columns.
static void close_ranks(th_studio_moment *moment) {
    int kept = 0;
    for (int i = 0; i < moment->count; ++i) {
        if (is_gone(moment->rows[i].phase)) continue;
        if (kept < i) {
            moment->rows[kept] = moment->rows[i];
            for (int c = 0; c < moment->column_count; ++c)
                moment->columns[c].values[kept] = moment->columns[c].values[i];
        }
        kept++;
    }
    moment->count = kept;
}

// Values for colours that rows do not hold. Loads and moods come in the order of ids.
static bool needs_id_order(const th_studio_catalogue *c, const th_studio_wishes *wishes) {
    for (int k = 0; k < wishes->colour_count; ++k) {
        int colour = th_studio_find_colour(c, wishes->colours[k]);
        if (colour >= 0 && (c->colours[colour].kind == TH_COLOUR_LOAD ||
                            c->colours[colour].kind == TH_COLOUR_MOOD))
            return true;
    }
    return false;
}

static bool fill_column(th_world *world, const th_studio_colour *colour, bool stored,
                        const th_studio_moment *moment, const th_observation *seen, float *values) {
    const th_studio_row *rows = moment->rows;
    int count = moment->count;
    if (colour->kind == TH_COLOUR_LOAD) {
        if (!th_world_contact_forces(world, values)) return false;
        for (int i = 0; i < count; ++i) values[i] *= 0.5f;
        return true;
    }
    if (colour->kind == TH_COLOUR_MOOD) {
        uint8_t *moods = malloc((size_t)count + 1);
        if (!moods) return false;
        th_world_moods(world, moods);
        for (int i = 0; i < count; ++i) values[i] = (float)moods[i];
        free(moods);
        return true;
    }
    if (colour->kind == TH_COLOUR_EXPOSURE) {
        for (int i = 0; i < count; ++i)
            values[i] = seen && rows[i].id > 0 && rows[i].id <= (uint32_t)seen->person_count
                            ? seen->people[rows[i].id - 1].exposure[TH_EXPOSURE_DENSE]
                            : 0.0f;
        return true;
    }
    int field = th_world_field(world, colour->name), all = 0;
    const void *view = field < 0 ? NULL
                       : stored  ? th_world_stored(world, field, &all)
                                 : th_world_map(world, field, TH_ACCESS_READ);
    if (!view) return false;
    for (int i = 0; i < count; ++i)
        values[i] =
            colour->is_float ? ((const float *)view)[i] : (float)((const uint32_t *)view)[i];
    if (!stored) th_world_unmap(world, field);
    return true;
}

static void take_columns(th_studio_moment *moment, th_world *world, bool stored,
                         const th_studio_wishes *wishes, const th_observation *seen) {
    const th_studio_catalogue *c = moment->catalogue;
    for (int k = 0; k < wishes->colour_count; ++k) {
        int colour = th_studio_find_colour(c, wishes->colours[k]);
        if (colour < 0) continue;
        float *values = malloc((size_t)(moment->count + 1) * sizeof *values);
        if (values && fill_column(world, &c->colours[colour], stored, moment, seen, values))
            moment->columns[moment->column_count++] = (th_studio_column){colour, values};
        else
            free(values);
    }
}

static void take_fields(th_studio_moment *moment, th_world *world, const th_studio_wishes *wishes,
                        const th_observation *seen) {
    for (int k = 0; k < wishes->layer_count; ++k) {
        th_studio_layer_kind kind = wishes->layers[k].kind;
        th_studio_field field = {
            .level = wishes->layers[k].level, .target = wishes->layers[k].target, .layer = -1};
        for (int l = 0; l < moment->catalogue->layer_count; ++l)
            if (moment->catalogue->layers[l].kind == kind) field.layer = l;
        if (field.layer >= 0 && th_studio_map_world(world, moment, seen, kind, &field))
            moment->fields[moment->field_count++] = field;
        else
            th_studio_field_release(&field);
    }
}

th_studio_moment *th_studio_moment_take(th_world *world, int number, th_studio_catalogue *catalogue,
                                        const th_studio_wishes *wishes,
                                        const th_observation *seen) {
    bool stored = !needs_id_order(catalogue, wishes);
    views v;
    int count = map_views(world, stored, &v);
    th_studio_moment *moment = count < 0 ? NULL : th_studio_moment_create(catalogue, count);
    if (!moment) return NULL;
    moment->time = th_world_time(world);
    moment->step = th_world_step_count(world);
    moment->world = number;
    fill_rows(moment, th_scene_view_of(th_world_scene(world)), &v);
    for (int k = 0; k < VIEWS && !stored; ++k) th_world_unmap(world, (int)needed[k]);
    take_columns(moment, world, stored, wishes, seen);
    if (stored) close_ranks(moment);
    take_fields(moment, world, wishes, seen);
    return moment;
}
