// SPDX-License-Identifier: Apache-2.0
#include "studio/client.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
