// One client of the server, and the frames written for it. SPDX-License-Identifier: Apache-2.0
#include "studio/exchange.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- a client

static json_t *fine(void) { return json_pack("{s:b}", "ok", 1); }

static json_t *refuse(const char *text, const char *cure) {
    return json_pack("{s:b,s:s,s:s}", "ok", 0, "error", text, "cure", cure);
}

static bool numbers_of(const json_t *array, int count, double most, double *values) {
    if (json_array_size(array) != (size_t)count) return false;
    for (int k = 0; k < count; ++k) {
        const json_t *value = json_array_get(array, (size_t)k);
        values[k] = json_number_value(value);
        if (!json_is_number(value) || !(fabs(values[k]) <= most)) return false;
    }
    return true;
}

static json_t *set_view(th_client *client, const json_t *message) {
    double box[4], pixels[2];
    const json_t *levels = json_object_get(message, "levels"),
                 *fps = json_object_get(message, "fps");
    if (!numbers_of(json_object_get(message, "box"), 4, 1e6, box) || !(box[2] > box[0]) ||
        !(box[3] > box[1]))
        return refuse("box is no rectangle", "give [min x, min y, max x, max y]");
    if (!numbers_of(json_object_get(message, "pixels"), 2, 32768, pixels) || !(pixels[0] >= 1) ||
        !(pixels[1] >= 1))
        return refuse("pixels is no size", "give [width, height], 1 to 32768");
    uint64_t mask = 0;
    for (size_t k = 0; k < json_array_size(levels); ++k) {
        json_int_t level = json_integer_value(json_array_get(levels, k));
        if (level >= 0 && level < 64) mask |= (uint64_t)1 << level;
    }
    client->view =
        (th_studio_view){.given = true,
                         .box = {(float)box[0], (float)box[1], (float)box[2], (float)box[3]},
                         .pixels = {(int)pixels[0], (int)pixels[1]},
                         .levels = mask};
    if (json_is_number(fps)) client->fps = fmin(fmax(json_number_value(fps), 0.5), 60.0);
    return fine();
}

static json_t *set_colour(th_client *client, const json_t *message,
                          const th_studio_moment *moment) {
    const char *name = json_string_value(json_object_get(message, "by"));
    if (!name || strlen(name) >= sizeof client->colour ||
        (moment && th_studio_find_colour(moment->catalogue, name) < 0))
        return refuse("the scene has no such colour", "take a name of scene.colours");
    snprintf(client->colour, sizeof client->colour, "%s", name);
    return fine();
}

static void drop_layer(th_client *client, int k) {
    client->layers[k] = client->layers[--client->layer_count];
}

static json_t *set_layer(th_client *client, const json_t *message, const th_studio_moment *moment) {
    const char *name = json_string_value(json_object_get(message, "name"));
    json_int_t level = json_integer_value(json_object_get(message, "level"));
    json_int_t target = json_integer_value(json_object_get(message, "target"));
    bool on = !json_is_false(json_object_get(message, "on"));
    if (!name || strlen(name) >= TH_STUDIO_NAME ||
        (moment && th_studio_find_layer(moment->catalogue, name) < 0))
        return refuse("the scene has no such layer", "take a name of scene.layers");
    if (level < 0 || level >= TH_STUDIO_LEVELS || target < 0 || target > 100000)
        return refuse("there is no such level or target",
                      "take an index of scene.levels and targets");
    for (int k = 0; k < client->layer_count; ++k)
        if (strcmp(client->layers[k].name, name) == 0 && client->layers[k].level == (int)level)
            drop_layer(client, k--);
    if (!on) return fine();
    if (client->layer_count == TH_CLIENT_LAYERS)
        return refuse("four layers are on already", "switch one off first");
    th_client_layer *layer = &client->layers[client->layer_count++];
    *layer = (th_client_layer){.level = (int)level, .target = (int)target};
    snprintf(layer->name, sizeof layer->name, "%s", name);
    return fine();
}

json_t *th_client_request(th_client *client, const json_t *message,
                          const th_studio_moment *moment) {
    const char *verb = json_string_value(json_object_get(message, "do"));
    json_t *answer = NULL;
    if (strcmp(verb, "view") == 0) answer = set_view(client, message);
    if (strcmp(verb, "colour") == 0) answer = set_colour(client, message, moment);
    if (strcmp(verb, "layer") == 0) answer = set_layer(client, message, moment);
    if (strcmp(verb, "person") == 0) {
        client->person = (uint32_t)json_integer_value(json_object_get(message, "person"));
        client->person_world = (int)(json_integer_value(json_object_get(message, "world")) & 1);
    }
    if (answer || strcmp(verb, "person") == 0) client->sent[0] = client->sent[1] = 0;
    return answer;
}

static int layer_kind(const char *name) {
    static const char *const names[] = {
#define X(NAME, name, label, unit, vectors, of_target, max, doc) #name,
        TH_STUDIO_LAYERS(X)
#undef X
    };
    for (int k = 0; k < TH_LAYER_COUNT; ++k)
        if (strcmp(names[k], name) == 0) return k;
    return -1;
}

static void wish_colour(const char *name, th_studio_wishes *wishes) {
    bool of_world = strcmp(name, "load") == 0 || strcmp(name, "exposure") == 0 || strchr(name, '.');
    for (int k = 0; k < wishes->colour_count; ++k)
        if (strcmp(wishes->colours[k], name) == 0) return;
    if (of_world && wishes->colour_count < TH_STUDIO_COLUMNS)
        snprintf(wishes->colours[wishes->colour_count++], TH_STUDIO_NAME, "%s", name);
}

void th_client_wishes(const th_client *client, th_studio_wishes *wishes) {
    wish_colour(client->colour, wishes);
    for (int k = 0; k < client->layer_count; ++k) {
        const th_client_layer *layer = &client->layers[k];
        int kind = layer_kind(layer->name);
        bool known = kind < 0 || th_studio_is_of_people((th_studio_layer_kind)kind);
        for (int i = 0; !known && i < wishes->layer_count; ++i)
            known = (int)wishes->layers[i].kind == kind &&
                    wishes->layers[i].level == layer->level &&
                    wishes->layers[i].target == layer->target;
        if (known || wishes->layer_count == TH_STUDIO_FIELDS) continue;
        wishes->layers[wishes->layer_count].kind = (th_studio_layer_kind)kind;
        wishes->layers[wishes->layer_count].level = layer->level;
        wishes->layers[wishes->layer_count++].target = layer->target;
    }
}

void th_client_release(th_client *client) {
    for (th_studio_text *t = client->first, *next; t; t = next) {
        next = t->next;
        th_studio_text_destroy(t);
    }
    free(client->received);
    *client = (th_client){0};
}

// ---- frames: the people in view, thinned and quantised

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
    case TH_COLOUR_MOOD: return v->column ? (uint8_t)v->column[i] : TH_STUDIO_NOTHING;
    case TH_COLOUR_DENSITY:
        if (!v->density || row->level >= level_count) return TH_STUDIO_NOTHING;
        return scaled(v, th_studio_field_at(&v->density[row->level], row->x, row->y));
    default: return v->column ? scaled(v, v->column[i]) : TH_STUDIO_NOTHING;
    }
}

// ---- which people are sent

static bool in_view(const th_studio_row *row, const th_box *box, uint64_t levels) {
    if (levels && row->level < 64 && !(levels >> row->level & 1)) return false;
    float margin = 0.01f * (float)row->radius;
    return row->x >= box->min_x - margin && row->x <= box->max_x + margin &&
           row->y >= box->min_y - margin && row->y <= box->max_y + margin;
}

// The box around the plan and all people, also those outside it.
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
    const float always = 20000.0f; // people that are sent in any case
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

// ---- the post

#define LAYER_INTERVAL 0.2 // [s] between two maps

static bool reserve(th_studio_post *post, size_t bytes) {
    if (post->buffer && post->room >= bytes) return true;
    size_t room = bytes + bytes / 4;
    unsigned char *grown = malloc(room + post->before);
    if (!grown) return false;
    free(post->buffer);
    post->buffer = grown;
    post->room = room;
    return true;
}

static int send_bytes(th_studio_post *post, void *carrier, size_t size, bool is_text) {
    return post->send(carrier, post->buffer + post->before, size, is_text) ? 1 : -1;
}

static void forget_density(th_studio_post *post, int w) {
    th_studio_shown *shown = &post->shown[w];
    for (int l = 0; post->density[w] && shown->moment && l < shown->moment->catalogue->level_count;
         ++l)
        th_studio_field_release(&post->density[w][l]);
    free(post->density[w]);
    post->density[w] = NULL;
    th_studio_moment_release(shown->moment);
    *shown = (th_studio_shown){0};
}

// The density at each person's place, once per moment for all clients that colour by it.
static const th_studio_field *density_of(th_studio_post *post, int w, th_studio_shown shown) {
    if (post->shown[w].number == shown.number && post->density[w]) return post->density[w];
    forget_density(post, w);
    int levels = shown.moment->catalogue->level_count;
    post->density[w] = calloc((size_t)levels, sizeof *post->density[w]);
    if (!post->density[w]) return NULL;
    post->shown[w] = shown;
    th_studio_moment_hold(shown.moment);
    for (int l = 0; l < levels; ++l)
        if (!th_studio_map_people(shown.moment, TH_LAYER_DENSITY, l, &post->density[w][l])) {
            forget_density(post, w);
            return NULL;
        }
    return post->density[w];
}

static int write_people(th_studio_post *post, void *carrier, th_client *client, int w,
                        th_studio_shown shown) {
    const th_studio_catalogue *catalogue = shown.moment->catalogue;
    int colour = th_studio_find_colour(catalogue, client->colour);
    th_studio_frame frame = {.number = shown.number,
                             .past = shown.past,
                             .colour = colour < 0 ? 0 : colour,
                             .person = client->person_world == w ? client->person : 0};
    if (catalogue->colours[frame.colour].kind == TH_COLOUR_DENSITY)
        frame.density = density_of(post, w, shown);
    if (!reserve(post, th_studio_people_room(shown.moment))) return -1;
    size_t size =
        th_studio_write_people(shown.moment, &client->view, &frame, post->buffer + post->before);
    client->sent[w] = shown.number;
    return send_bytes(post, carrier, size, false);
}

static int write_field(th_studio_post *post, void *carrier, const th_studio_field *field,
                       th_studio_shown shown) {
    bool vectors = shown.moment->catalogue->layers[field->layer].vectors;
    th_studio_frame frame = {.number = shown.number, .past = shown.past};
    if (field->nx > 65535 || field->ny > 65535) return 0;
    if (!reserve(post, th_studio_field_room(field, vectors))) return -1;
    size_t size = th_studio_write_field(shown.moment, field, &frame, post->buffer + post->before);
    return send_bytes(post, carrier, size, false);
}

// 0: there was none to write.
static int write_layer(th_studio_post *post, void *carrier, th_client_layer *layer, int w,
                       th_studio_shown shown) {
    const th_studio_catalogue *catalogue = shown.moment->catalogue;
    int index = th_studio_find_layer(catalogue, layer->name);
    layer->number[w] = shown.number;
    if (index < 0 || layer->level >= catalogue->level_count) return 0;
    for (int k = 0; k < shown.moment->field_count; ++k) {
        const th_studio_field *field = &shown.moment->fields[k];
        if (field->layer == index && field->level == layer->level &&
            (field->target == layer->target || !catalogue->layers[index].of_target))
            return write_field(post, carrier, field, shown);
    }
    th_studio_field field;
    if (!th_studio_map_people(shown.moment, catalogue->layers[index].kind, layer->level, &field))
        return 0;
    field.layer = index;
    int written = write_field(post, carrier, &field, shown);
    th_studio_field_release(&field);
    return written;
}

// One thing that is due for the client: 1 written, 0 nothing due, -1 the connection is lost. *wait: seconds until more may be.
static int write_newest(th_studio_post *post, void *carrier, th_client *client, double *wait) {
    double now = th_monotonic_seconds(), next = client->sent_at + 1.0 / client->fps;
    int result = 0;
    *wait = 0;
    for (int w = 0; w < 2 && result == 0; ++w) {
        th_studio_shown shown = th_studio_look(post->exchange, w);
        if (shown.moment && shown.number != client->sent[w]) {
            // The second world is sent in the first one's turn.
            if (now >= next || w == 1) {
                result = write_people(post, carrier, client, w, shown);
                if (w == 0) client->sent_at = now;
            } else {
                *wait = next - now;
            }
        }
        for (int k = 0; shown.moment && k < client->layer_count && result == 0; ++k) {
            th_client_layer *layer = &client->layers[k];
            if (layer->number[w] == shown.number) continue;
            if (now >= layer->sent + LAYER_INTERVAL || w == 1) {
                result = write_layer(post, carrier, layer, w, shown);
                if (w == 0) layer->sent = now;
            } else if (*wait == 0 || layer->sent + LAYER_INTERVAL - now < *wait) {
                *wait = layer->sent + LAYER_INTERVAL - now;
            }
        }
        th_studio_moment_release(shown.moment);
    }
    return result;
}

static int write_text(th_studio_post *post, void *carrier, th_client *client) {
    th_studio_text *text = client->first;
    client->first = text->next;
    if (!client->first) client->last = NULL;
    client->waiting -= text->length;
    int result = -1;
    if (reserve(post, text->length)) {
        memcpy(post->buffer + post->before, text->text, text->length);
        result = send_bytes(post, carrier, text->length, true);
    }
    th_studio_text_destroy(text);
    return result;
}

int th_post_next(th_studio_post *post, th_client *client, void *carrier, double *wait) {
    *wait = 0;
    return client->first ? write_text(post, carrier, client)
                         : write_newest(post, carrier, client, wait);
}

// ---- requests

json_t *th_studio_parse(const char *text, size_t length, const char **reason) {
    json_t *message = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
    const char *verb = json_string_value(json_object_get(message, "do"));
    *reason = !message                   ? "the message is not JSON"
              : !json_is_object(message) ? "the message is not a JSON object"
              : !verb                    ? "the message has no \"do\""
              : verb[0] == '_'           ? "requests do not begin with an underscore"
                                         : NULL;
    if (!*reason) return message;
    json_decref(message);
    return NULL;
}

static void add_text(th_client *client, th_studio_text *text) {
    text->next = NULL;
    if (client->last)
        client->last->next = text;
    else
        client->first = text;
    client->last = text;
    client->waiting += text->length;
}

static void answer(th_client *client, json_t *object, const json_t *id) {
    if (id) json_object_set(object, "id", (json_t *)(uintptr_t)id);
    char *dumped = json_dumps(object, JSON_COMPACT);
    th_studio_text *text = calloc(1, sizeof *text);
    json_decref(object);
    if (!dumped || !text) {
        free(dumped);
        free(text);
        return;
    }
    *text = (th_studio_text){.length = strlen(dumped), .text = dumped};
    add_text(client, text);
}

bool th_post_receive(th_studio_post *post, th_client *client, const char *text, size_t length,
                     bool *wishes) {
    const char *reason;
    json_t *message = th_studio_parse(text, length, &reason);
    *wishes = false;
    if (!message) {
        answer(client,
               json_pack("{s:b,s:s,s:s}", "ok", 0, "error", reason, "cure",
                         "see docs/studio-protocol.md"),
               NULL);
        // A client that sends nonsense and never reads gets a limited number of answers.
        return client->waiting <= TH_STUDIO_BACKLOG;
    }
    th_studio_shown shown = th_studio_look(post->exchange, 0);
    json_t *own = th_client_request(client, message, shown.moment);
    th_studio_moment_release(shown.moment);
    if (own) {
        answer(client, own, json_object_get(message, "id"));
        *wishes = true;
    } else if (client->pending >= TH_STUDIO_PENDING) {
        answer(client,
               json_pack("{s:b,s:s,s:s}", "ok", 0, "error", "too many requests wait", "cure",
                         "wait for the answers"),
               json_object_get(message, "id"));
    } else {
        client->pending++;
        th_studio_ask(post->exchange, client->id, message); // the runner's alone from here on
        message = NULL;
    }
    json_decref(message);
    return client->waiting <= TH_STUDIO_BACKLOG;
}

void th_post_welcome(th_studio_post *post, th_client *client, uint64_t id) {
    *client = (th_client){.id = id, .fps = 30.0};
    snprintf(client->colour, sizeof client->colour, "speed");
    th_studio_ask(post->exchange, id, json_pack("{s:s}", "do", "_joined"));
}

bool th_post_deliver(th_client *client, const th_studio_text *text) {
    if (text->client != 0 && text->client != client->id) return true;
    if (text->is_reply && client->pending > 0) client->pending--;
    if (client->waiting > TH_STUDIO_BACKLOG) return false;
    th_studio_text *copy = calloc(1, sizeof *copy);
    char *bytes = malloc(text->length + 1);
    if (!copy || !bytes) {
        free(copy);
        free(bytes);
        return true;
    }
    memcpy(bytes, text->text, text->length + 1);
    *copy = (th_studio_text){.length = text->length, .text = bytes};
    add_text(client, copy);
    return true;
}

void th_post_release(th_studio_post *post) {
    for (int w = 0; w < 2; ++w) forget_density(post, w);
    free(post->buffer);
    post->buffer = NULL;
}
