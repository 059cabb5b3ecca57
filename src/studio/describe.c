// The events hello, scene and state. docs/data/studio_messages.csv names every member.
// SPDX-License-Identifier: Apache-2.0
#include "formula/weidmann.h"
#include "observe/density.h"
#include "observe/observer.h"
#include "studio/studio.h"
#include "throng/model.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static json_t *number(double value) { return isfinite(value) ? json_real(value) : json_null(); }
static json_t *point(double x, double y) { return json_pack("[f,f]", x, y); }
static json_t *point_of(th_vec2 p) { return point((double)p.x, (double)p.y); }

// ---- models

static json_t *describe_params(const th_model *model) {
    json_t *list = json_array();
    for (int p = 0; p < model->param_count; ++p) {
        const th_param_info *info = &model->params[p];
        json_array_append_new(list, json_pack("{s:s,s:s,s:o,s:o,s:o,s:s,s:s}", "name", info->name,
                                              "unit", info->unit, "min", number(info->min), "max",
                                              number(info->max), "default", number(info->value),
                                              "source", info->source, "doc", info->doc));
    }
    return list;
}

static json_t *describe_presets(const th_model *model) {
    json_t *list = json_array();
    for (int k = 0; k < model->preset_count; ++k) {
        const th_preset_info *preset = &model->presets[k];
        json_t *params = json_object();
        for (int p = 0; p < preset->param_count; ++p)
            json_object_set_new(params, preset->params[p].name, number(preset->params[p].value));
        json_array_append_new(list, json_pack("{s:s,s:s,s:o}", "name", preset->name, "doc",
                                              preset->doc, "params", params));
    }
    return list;
}

static json_t *describe_models(void) {
    int count;
    const th_model *const *models = th_models(&count);
    json_t *list = json_array();
    for (int m = 0; m < count; ++m) {
        const th_model *model = models[m];
        if (model->internal) continue;
        json_array_append_new(list, json_pack("{s:s,s:s,s:s,s:s,s:b,s:b,s:o,s:o}", "stage",
                                              th_stage_name(model->stage), "name", model->name,
                                              "doc", model->doc, "source", model->source,
                                              "is_default", model->is_default, "own_goals",
                                              model->own_goals, "params", describe_params(model),
                                              "presets", describe_presets(model)));
    }
    return list;
}

// ---- sections that models declare

static json_t *describe_words(const char *words) {
    json_t *list = json_array();
    while (*words) {
        size_t size = strcspn(words, " ");
        json_array_append_new(list, json_stringn(words, size));
        words += size + (words[size] == ' ');
    }
    return list;
}

// The default of a key as text; "": none.
static json_t *usual_of(const th_key_info *key, const json_t *words) {
    char text[40] = "";
    if (key->kind == TH_KEY_NUMBER && isfinite(key->value))
        snprintf(text, sizeof text, "%g", key->value);
    if (key->kind == TH_KEY_NAME) return json_string(key->words);
    if (key->kind == TH_KEY_WORD)
        return json_string(json_string_value(json_array_get(words, (size_t)key->value)));
    return json_string(text);
}

static json_t *describe_keys(const th_section_info *info) {
    static const char *const kinds[] = {[TH_KEY_NUMBER] = "number",
                                        [TH_KEY_WORD] = "choice",
                                        [TH_KEY_GOAL] = "goal",
                                        [TH_KEY_NAME] = "text"};
    json_t *list = json_array();
    for (int k = 0; k < info->key_count; ++k) {
        const th_key_info *key = &info->keys[k];
        if (key->kind == TH_KEY_LINE || key->kind == TH_KEY_AREA) continue;
        json_t *words = describe_words(key->kind == TH_KEY_WORD ? key->words : "");
        bool number = key->kind == TH_KEY_NUMBER, united = number && strcmp(key->unit, "-") != 0;
        json_array_append_new(list, json_pack("{s:s,s:s,s:s,s:s,s:o,s:o,s:o}", "name", key->name,
                                              "kind", kinds[key->kind], "doc", key->doc, "unit",
                                              united ? key->unit : "", "usual",
                                              usual_of(key, words), "choices", words, "max",
                                              number ? json_real(key->max) : json_null()));
    }
    return list;
}

// Where an element is: in the first area or line of its keys; NULL: it has no place.
static const th_key_info *place_of(const th_section_info *info) {
    for (int k = 0; k < info->key_count; ++k)
        if (info->keys[k].kind == TH_KEY_LINE || info->keys[k].kind == TH_KEY_AREA)
            return &info->keys[k];
    return NULL;
}

static json_t *describe_section(const th_model *model, const th_section_info *info) {
    const th_key_info *place = place_of(info);
    char colour[8];
    snprintf(colour, sizeof colour, "#%06x",
             (unsigned)(info->colour ? info->colour : 0x59a699) & 0xffffffu);
    json_t *required = json_array();
    for (int k = 0; k < info->key_count; ++k)
        if (info->keys[k].required)
            json_array_append_new(required, json_string(info->keys[k].name));
    return json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:b,s:o,s:o}", "list", info->name, "item",
                     info->item, "stage", th_stage_name(model->stage), "model", model->name, "doc",
                     info->doc, "key", place ? place->name : "", "place",
                     !place                       ? ""
                     : place->kind == TH_KEY_AREA ? "area"
                                                  : "path",
                     "colour", colour, "leads", info->leads, "required", required, "options",
                     describe_keys(info));
}

static json_t *describe_sections(void) {
    int count;
    const th_model *const *models = th_models(&count);
    json_t *list = json_array();
    for (int m = 0; m < count; ++m)
        for (int s = 0; s < models[m]->section_count; ++s)
            json_array_append_new(list, describe_section(models[m], &models[m]->sections[s]));
    return list;
}

static json_t *describe_templates(void) {
    json_t *list = json_array();
    for (int k = 0; k < th_studio_template_count; ++k) {
        const th_studio_template *t = &th_studio_templates[k];
        json_t *document = th_document_read((const char *)t->text, t->size, t->name, NULL);
        const char *title = json_string_value(json_object_get(document, "name"));
        const char *text = json_string_value(json_object_get(document, "description"));
        json_array_append_new(list,
                              json_pack("{s:s,s:s,s:s}", "name", t->name, "title",
                                        title ? title : t->name, "description", text ? text : ""));
        json_decref(document);
    }
    return list;
}

// References of the charts: Weidmann's speeds by density, and the density that IMO calls congestion.
static json_t *describe_references(void) {
    json_t *curve = json_array();
    for (int k = 0; k <= 54; ++k)
        json_array_append_new(curve, json_pack("[f,f]", 0.1 * k, th_weidmann_speed(0.1 * k)));
    return json_pack("{s:o,s:f}", "weidmann", curve, "congestion", (double)TH_DENSE);
}

static json_t *describe_hello(void) {
    static const char *const phases[] = {"standing", "walking",  "waiting", "arrived",
                                         "fallen",   "scripted", "body"};
    json_t *names = json_array();
    for (size_t k = 0; k < sizeof phases / sizeof phases[0]; ++k)
        json_array_append_new(names, json_string(phases[k]));
    return json_pack("{s:s,s:i,s:s,s:s,s:b,s:o,s:[s,s,s,s],s:o,s:o,s:o,s:o,s:{s:i,s:i}}", "event",
                     "hello", "protocol", TH_STUDIO_VERSION, "version", th_version(), "build",
                     th_build_info(), "replay", 0, "phases", names, "stages", "behave", "plan",
                     "filter", "move", "models", describe_models(), "sections", describe_sections(),
                     "templates", describe_templates(), "references", describe_references(),
                     "limits", "message", TH_STUDIO_MESSAGE, "clients", TH_STUDIO_CLIENTS);
}

// Made once: nothing but `replay` changes, and every client that comes is told it.
json_t *th_describe_hello(th_studio *studio) {
    if (!studio->hello) studio->hello = describe_hello();
    json_object_set_new(studio->hello, "replay", json_boolean(studio->replay != NULL));
    return json_incref(studio->hello);
}

// ---- the scene

static json_t *describe_box(const th_box *box) {
    return json_pack("[f,f,f,f]", (double)box->min_x, (double)box->min_y, (double)box->max_x,
                     (double)box->max_y);
}

static json_t *describe_rings(const th_polygons *shape) {
    json_t *rings = json_array();
    for (int r = 0; r < shape->ring_count; ++r) {
        json_t *ring = json_array();
        for (int p = shape->ring_start[r]; p < shape->ring_start[r + 1]; ++p)
            json_array_append_new(ring, point_of(shape->points[p]));
        json_array_append_new(rings, ring);
    }
    return rings;
}

static json_t *describe_line(const th_line *line) {
    return json_pack("[o,o]", point_of(line->a), point_of(line->b));
}

static json_t *describe_levels(const th_scene_view *scene) {
    json_t *list = json_array();
    for (int l = 0; l < scene->level_count; ++l) {
        const th_level *level = &scene->levels[l];
        json_t *walls = json_array();
        for (int w = level->wall_begin; w < level->wall_end; ++w) {
            const th_wall *wall = &scene->walls[w];
            if (wall->door >= 0) continue;
            json_array_append_new(walls,
                                  json_pack("[f,f,f,f]", (double)wall->a.x, (double)wall->a.y,
                                            (double)wall->b.x, (double)wall->b.y));
        }
        json_array_append_new(list, json_pack("{s:s,s:f,s:b,s:o,s:o,s:o}", "id", level->id, "z",
                                              (double)level->z, "bounded", level->bounded, "box",
                                              describe_box(&level->box), "rings",
                                              describe_rings(&level->walkable), "walls", walls));
    }
    return list;
}

static json_t *describe_goals(const th_scene_view *scene) {
    static const char *const kinds[] = {"exit", "waypoint", "waiting", "detour"};
    json_t *list = json_array();
    for (int g = 0; g < scene->goal_count; ++g) {
        const th_goal *goal = &scene->goals[g];
        json_t *one = json_pack("{s:s,s:s,s:i,s:f}", "id", goal->id, "kind", kinds[goal->kind],
                                "level", goal->is_line ? goal->line.level : goal->area.level,
                                "wait", (double)goal->wait);
        if (goal->is_line)
            json_object_set_new(one, "line", describe_line(&goal->line));
        else
            json_object_set_new(one, "rings", describe_rings(&goal->area.shape));
        json_array_append_new(list, one);
    }
    return list;
}

static double number_of(const th_section_info *info, const th_item *item, const char *name) {
    for (int k = 0; name && k < info->key_count; ++k)
        if (strcmp(info->keys[k].name, name) == 0)
            return (double)*(const float *)(const void *)((const char *)item +
                                                          info->keys[k].offset);
    return 0.0;
}

static json_t *describe_item(const th_section_info *info, const th_key_info *place,
                             const th_item *item) {
    const void *value = (const char *)item + place->offset;
    const th_polyline *line = value;
    json_t *rings;
    if (place->kind == TH_KEY_AREA) {
        rings = describe_rings(value);
    } else {
        json_t *points = json_array();
        for (int k = 0; k < line->count; ++k)
            json_array_append_new(points, point_of(line->points[k]));
        rings = json_pack("[o]", points);
    }
    double width =
        number_of(info, item, info->width_key) + 2.0 * number_of(info, item, info->reach_key);
    return json_pack("{s:s,s:i,s:f,s:o}", "id", item->id, "level", item->level, "width", width,
                     "rings", rings);
}

// {"strips": [{"id", "level", "width", "rings"}]}: where the elements of models' sections are.
static json_t *describe_items(const th_scene_view *scene) {
    json_t *all = json_object();
    for (int s = 0; s < scene->section_count; ++s) {
        const th_section *section = &scene->sections[s];
        const th_key_info *place = place_of(section->info);
        json_t *list = json_array();
        for (int i = 0; place && i < section->count; ++i) {
            const char *items = section->items;
            const void *item = items + (size_t)i * section->info->item_size;
            json_array_append_new(list, describe_item(section->info, place, item));
        }
        json_object_set_new(all, section->info->name, list);
    }
    return all;
}

static void name_target(const th_scene_view *scene, const th_target *target, char name[200]) {
    name[0] = '\0';
    for (int g = 0; g < target->goal_count; ++g) {
        size_t used = strlen(name);
        snprintf(name + used, 200 - used, "%s%s", g ? " or " : "",
                 scene->goals[target->goals[g]].id);
    }
}

static json_t *describe_targets(const th_scene_view *scene) {
    json_t *list = json_array();
    for (int t = 0; t < scene->target_count; ++t) {
        const th_target *target = &scene->targets[t];
        char name[200];
        json_t *goals = json_array();
        for (int g = 0; g < target->goal_count; ++g)
            json_array_append_new(goals, json_integer(target->goals[g]));
        name_target(scene, target, name);
        json_array_append_new(list, json_pack("{s:o,s:s}", "goals", goals, "name", name));
    }
    return list;
}

static json_t *describe_choice(const th_model_choice *choice) {
    const th_model *model = th_models(NULL)[choice->model];
    json_t *params = json_object();
    for (int p = 0; p < model->param_count; ++p)
        json_object_set_new(params, model->params[p].name, number((double)choice->params[p]));
    return json_pack("{s:s,s:o}", "model", model->name, "params", params);
}

static json_t *describe_behaviours(const th_group *group) {
    json_t *list = json_array();
    for (int k = 0; k < group->behave_count; ++k)
        json_array_append_new(list, describe_choice(&group->behave[k]));
    return list;
}

static void apply_numbers(json_t *described, const json_t *choice) {
    json_t *params = json_object_get(described, "params"), *value;
    const char *name;
    json_object_foreach((json_t *)choice, name, value) {
        if (json_is_number(value) && json_object_get(params, name))
            json_object_set(params, name, value);
    }
}

// Live changes of parameters are in the document alone, so its values are shown.
static void apply_live_params(json_t *group, const json_t *document, int index) {
    static const char *const stages[] = {"plan", "filter", "move"};
    const json_t *element = json_array_get(json_object_get(document, "groups"), (size_t)index);
    for (int s = 0; s < 3; ++s)
        apply_numbers(json_object_get(group, stages[s]), json_object_get(element, stages[s]));
    const json_t *given = json_object_get(element, "behave");
    json_t *behaviours = json_object_get(group, "behave");
    for (size_t k = 0; k < json_array_size(behaviours); ++k)
        apply_numbers(json_array_get(behaviours, k),
                      json_is_array(given) ? json_array_get(given, k) : given);
}

static json_t *describe_groups(const th_scene_view *scene, const json_t *document) {
    json_t *list = json_array();
    for (int g = 0; g < scene->group_count; ++g) {
        const th_group *group = &scene->groups[g];
        json_t *route = json_array();
        for (int r = 0; r < group->route_count; ++r)
            json_array_append_new(route, json_integer(group->route[r]));
        json_t *one = json_pack(
            "{s:s,s:i,s:o,s:I,s:f,s:o,s:o,s:o,s:o,s:o}", "id", group->id, "level", group->level,
            "rings",
            group->area.shape.ring_count ? describe_rings(&group->area.shape) : json_null(),
            "count", (json_int_t)group->count, "rate", group->rate, "route", route, "behave",
            describe_behaviours(group), "plan", describe_choice(&group->plan), "filter",
            describe_choice(&group->filter), "move", describe_choice(&group->move));
        if (document) apply_live_params(one, document, g);
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *describe_doors(const th_scene_view *scene, const th_world *world) {
    json_t *list = json_array();
    for (int d = 0; d < scene->door_count; ++d) {
        const th_door *door = &scene->doors[d];
        json_array_append_new(list, json_pack("{s:s,s:i,s:o,s:b,s:b}", "id", door->id, "level",
                                              door->line.level, "line", describe_line(&door->line),
                                              "open",
                                              world ? th_world_door_open(world, d) : !door->closed,
                                              "exit", door->exit >= 0));
    }
    return list;
}

static json_t *describe_rest(const th_scene_view *scene, json_t *out) {
    json_t *stairs = json_array(), *zones = json_array(), *scripted = json_array();
    json_t *lines = json_array(), *areas = json_array();
    for (int k = 0; k < scene->link_count; ++k) {
        const th_link *link = &scene->links[k];
        json_array_append_new(stairs,
                              json_pack("{s:s,s:[i,i],s:[o,o],s:o}", "id", link->id, "levels",
                                        link->level[0], link->level[1], "line", point_of(link->a),
                                        point_of(link->b), "up", point_of(link->up)));
    }
    for (int k = 0; k < scene->zone_count; ++k) {
        const th_zone *zone = &scene->zones[k];
        json_array_append_new(
            zones, json_pack("{s:s,s:i,s:o,s:f,s:f,s:o,s:f}", "id", zone->id, "level",
                             zone->area.level, "rings", describe_rings(&zone->area.shape), "up",
                             (double)zone->up, "down", (double)zone->down, "up_direction",
                             point_of(zone->up_direction), "discomfort", (double)zone->discomfort));
    }
    for (int k = 0; k < scene->scripted_count; ++k) {
        const th_scripted *body = &scene->scripted[k];
        json_t *path = json_array();
        for (int p = 0; p < body->path_count; ++p)
            json_array_append_new(
                path, json_pack("[f,f,f]", body->path[p].time, body->path[p].x, body->path[p].y));
        json_array_append_new(scripted,
                              json_pack("{s:s,s:i,s:b,s:o}", "id", body->id, "level", body->level,
                                        "is_body", body->is_body, "path", path));
    }
    for (int k = 0; k < scene->measure_line_count; ++k) {
        const th_measure_line *line = &scene->measure_lines[k];
        json_array_append_new(lines,
                              json_pack("{s:s,s:i,s:o}", "id", line->id, "level", line->line.level,
                                        "line", describe_line(&line->line)));
    }
    for (int k = 0; k < scene->measure_area_count; ++k) {
        const th_measure_area *area = &scene->measure_areas[k];
        json_array_append_new(areas,
                              json_pack("{s:s,s:i,s:o}", "id", area->id, "level", area->area.level,
                                        "rings", describe_rings(&area->area.shape)));
    }
    json_object_set_new(out, "stairs", stairs);
    json_object_set_new(out, "zones", zones);
    json_object_set_new(out, "scripted", scripted);
    json_object_set_new(out, "lines", lines);
    json_object_set_new(out, "areas", areas);
    return out;
}

// Names of the values of a category.
static json_t *names_of(const th_studio_colour *colour, const th_scene_view *scene) {
    static const char *const phases[] = {"standing", "walking",  "waiting", "arrived",
                                         "fallen",   "scripted", "body"};
    json_t *names = json_array();
    if (colour->kind == TH_COLOUR_GROUP) {
        for (int g = 0; g < scene->group_count; ++g)
            json_array_append_new(names, json_string(scene->groups[g].id));
        for (int k = 0; k < scene->scripted_count; ++k)
            json_array_append_new(names, json_string(scene->scripted[k].id));
    } else if (colour->kind == TH_COLOUR_GOAL) {
        for (int t = 0; t < scene->target_count; ++t) {
            char name[200];
            name_target(scene, &scene->targets[t], name);
            json_array_append_new(names, json_string(name));
        }
    } else if (colour->kind == TH_COLOUR_STATE) {
        for (int k = 0; k < 7; ++k) json_array_append_new(names, json_string(phases[k]));
    } else if (colour->kind == TH_COLOUR_MOOD) {
        for (int k = 0; k < TH_MOOD_COUNT; ++k)
            json_array_append_new(names, json_string(th_mood_name((th_mood)k)));
    } else if (colour->kind == TH_COLOUR_LEVEL) {
        for (int l = 0; l < scene->level_count; ++l)
            json_array_append_new(names, json_string(scene->levels[l].id));
    }
    return names;
}

// Levels of service of a density map, the first one as a start.
static json_t *describe_services(void) {
    json_t *levels = json_array();
    for (int k = 0; k < TH_SERVICE_COUNT; ++k) {
        json_t *bounds = json_array();
        for (int b = 0; b < TH_SERVICE_LEVELS - 1; ++b)
            json_array_append_new(bounds, json_real(th_services[k].bounds[b]));
        json_array_append_new(levels, json_pack("{s:s,s:s,s:o}", "name", th_services[k].name,
                                                "source", th_services[k].source, "bounds", bounds));
    }
    json_array_append_new(levels, json_pack("{s:s,s:s,s:[f]}", "name", "imo", "source",
                                            "IMO MSC.1/Circ.1533: congestion", "bounds", 4.0));
    return levels;
}

static void describe_offers(const th_studio_catalogue *c, const th_scene_view *scene, json_t *out) {
    json_t *colours = json_array(), *layers = json_array();
    for (int k = 0; k < c->colour_count; ++k) {
        const th_studio_colour *colour = &c->colours[k];
        json_array_append_new(colours,
                              json_pack("{s:s,s:s,s:s,s:s,s:f,s:f,s:o,s:s}", "name", colour->name,
                                        "label", colour->label, "unit", colour->unit, "kind",
                                        colour->category ? "category" : "number", "min", 0.0, "max",
                                        (double)colour->max, "names", names_of(colour, scene),
                                        "doc", colour->doc));
    }
    for (int k = 0; k < c->layer_count; ++k) {
        const th_studio_layer *layer = &c->layers[k];
        bool density = layer->kind == TH_LAYER_DENSITY || layer->kind == TH_LAYER_HIGHEST ||
                       layer->kind == TH_LAYER_MEAN;
        json_t *levels = density ? describe_services() : json_array();
        json_array_append_new(layers,
                              json_pack("{s:s,s:s,s:s,s:s,s:f,s:f,s:b,s:o,s:s}", "name",
                                        layer->name, "label", layer->label, "unit", layer->unit,
                                        "kind", layer->vectors ? "vectors" : "map", "min", 0.0,
                                        "max", (double)layer->max, "of_target", layer->of_target,
                                        "levels", levels, "doc", layer->doc));
    }
    json_object_set_new(out, "colours", colours);
    json_object_set_new(out, "layers", layers);
}

static json_t *carried_document(const json_t *document) {
    size_t size = document ? json_dumpb(document, NULL, 0, JSON_COMPACT) : 0;
    return size == 0 || size > TH_STUDIO_FILE_DOCUMENT ? json_null() : json_deep_copy(document);
}

static json_t *describe_underlays(const json_t *document, const th_scene_view *scene) {
    json_t *out = json_array(), *given;
    size_t k;
    json_array_foreach(json_object_get(document, "underlays"), k, given) {
        const char *on = json_string_value(json_object_get(given, "level"));
        const json_t *at = json_object_get(given, "at");
        int level = scene->level_count - 1;
        while (level > 0 && !(on && strcmp(scene->levels[level].id, on) == 0)) --level;
        json_array_append_new(
            out, json_pack("{s:O,s:i,s:O,s:o,s:O,s:f}", "id", json_object_get(given, "id"), "level",
                           level, "file", json_object_get(given, "file"), "at",
                           point(json_number_value(json_array_get(at, 0)) - scene->origin.x,
                                 json_number_value(json_array_get(at, 1)) - scene->origin.y),
                           "metres_per_pixel", json_object_get(given, "metres_per_pixel"), "turn",
                           json_number_value(json_object_get(given, "turn"))));
    }
    return out;
}

json_t *th_describe_scene(const th_studio *studio, int world) {
    const th_play *play = &studio->plays[world];
    const th_scene_view *scene = studio->replay ? th_replay_scene(studio->replay)
                                                : th_scene_view_of(th_world_scene(play->world));
    json_t *out = json_pack(
        "{s:s,s:i,s:s,s:s,s:s,s:o,s:o,s:I,s:f}", "event", "scene", "world", world, "name",
        scene->name, "description", scene->description, "file", studio->name, "origin",
        point(scene->origin.x, scene->origin.y), "box", describe_box(&play->catalogue->box), "seed",
        (json_int_t)studio->seed, "step",
        play->world ? th_world_step_length(play->world) : th_replay_frame(studio->replay));
    if (!out) return NULL;
    json_object_set_new(out, "document", carried_document(play->document));
    json_object_set_new(out, "levels", describe_levels(scene));
    json_object_set_new(out, "doors", describe_doors(scene, play->world));
    json_object_set_new(out, "goals", describe_goals(scene));
    json_object_set_new(out, "sections", describe_items(scene));
    json_object_set_new(out, "targets", describe_targets(scene));
    json_object_set_new(out, "groups", describe_groups(scene, play->document));
    json_object_set_new(out, "live_walls",
                        play->live_walls ? json_deep_copy(play->live_walls) : json_array());
    json_object_set_new(out, "findings",
                        play->charts.findings ? json_incref(play->charts.findings) : json_array());
    json_object_set_new(out, "underlays", describe_underlays(play->document, scene));
    describe_offers(play->catalogue, scene, out);
    return describe_rest(scene, out);
}

// ---- the state

static json_t *pair(uint64_t a, uint64_t b) {
    return json_pack("[I,I]", (json_int_t)a, (json_int_t)b);
}

static json_t *describe_counts(th_world *world, json_t *out) {
    const th_scene_view *scene = th_scene_view_of(th_world_scene(world));
    json_t *exits = json_array(), *doors = json_array(), *lines = json_array(),
           *areas = json_array(), *open = json_array();
    for (int g = 0; g < scene->goal_count; ++g)
        json_array_append_new(exits, json_integer((json_int_t)th_world_exit(world, g).left));
    for (int d = 0; d < scene->door_count; ++d) {
        th_line_count count = th_world_door(world, d);
        json_array_append_new(doors, pair(count.forward, count.backward));
        json_array_append_new(open, json_boolean(th_world_door_open(world, d)));
    }
    for (int l = 0; l < th_world_line_count(world); ++l) {
        th_line_count count = th_world_line(world, l);
        json_array_append_new(lines, pair(count.forward, count.backward));
    }
    for (int a = 0; a < th_world_area_count(world); ++a) {
        th_area_state area = th_world_area(world, a);
        json_array_append_new(areas,
                              json_pack("[o,o]", number(area.density), number(area.mean_speed)));
    }
    json_object_set_new(out, "exits", exits);
    json_object_set_new(out, "doors", doors);
    json_object_set_new(out, "doors_open", open);
    json_object_set_new(out, "lines", lines);
    json_object_set_new(out, "areas", areas);
    return out;
}

static json_t *describe_world(const th_studio *studio, th_play *play) {
    th_statistics s = th_world_counts(play->world);
    json_t *out =
        json_pack("{s:f,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:b,s:f}", "time", s.time, "step",
                  (json_int_t)s.steps, "spawned", (json_int_t)s.spawned, "inside",
                  (json_int_t)s.inside, "left", (json_int_t)s.left, "removed",
                  (json_int_t)s.removed, "waiting_to_enter", (json_int_t)s.waiting_to_enter,
                  "fallen", (json_int_t)s.fallen, "unreachable", (json_int_t)s.unreachable, "done",
                  th_world_done(play->world), "density", (double)play->charts.density);
    describe_counts(play->world, out);
    if (!studio->playing) {
        char hash[20];
        snprintf(hash, sizeof hash, "%016llx", (unsigned long long)th_world_hash(play->world));
        json_object_set_new(out, "hash", json_string(hash));
    }
    return out;
}

static json_t *describe_replayed(const th_studio *studio) {
    const th_studio_moment *moment = th_history_at(&studio->history, 0, studio->cursor);
    const json_t *row = th_charts_row(&studio->plays[0].charts, studio->cursor);
    json_int_t left = json_integer_value(json_array_get(row, 2));
    json_t *areas = json_array_get(row, 8); // density and speed of each, as in a state
    json_t *out =
        json_pack("{s:f,s:I,s:I,s:i,s:I,s:i,s:i,s:i,s:i,s:b,s:f,s:[],s:[],s:[],s:[]}", "time",
                  studio->cursor, "step", (json_int_t)(moment ? moment->step : 0), "spawned",
                  left + (moment ? moment->count : 0), "inside", moment ? moment->count : 0, "left",
                  left, "removed", 0, "waiting_to_enter", 0, "fallen", 0, "unreachable", 0, "done",
                  studio->cursor >= th_replay_duration(studio->replay), "density",
                  (double)studio->plays[0].charts.density, "exits", "doors", "doors_open", "lines");
    json_object_set_new(out, "areas", areas ? json_incref(areas) : json_array());
    return out;
}

json_t *th_describe_state(th_studio *studio) {
    double from = 0, to = 0;
    bool kept = th_history_range(&studio->history, &from, &to);
    json_t *worlds = json_array();
    for (int w = 0; w < studio->play_count && !studio->replay; ++w)
        json_array_append_new(worlds, describe_world(studio, &studio->plays[w]));
    if (studio->replay) json_array_append_new(worlds, describe_replayed(studio));
    return json_pack("{s:s,s:b,s:f,s:f,s:f,s:i,s:i,s:i,s:I,s:o,s:b,s:o,s:o,s:o,s:o}", "event",
                     "state", "playing", studio->playing, "speed", studio->speed,
                     "steps_per_second", studio->rate, "real_time", studio->real_time, "clients",
                     studio->clients, "undo", studio->undo.count, "redo", studio->redo.count,
                     "undo_bytes", (json_int_t)th_undo_bytes(studio), "rebuild",
                     th_rebuild_describe(studio), "compare", studio->play_count == 2, "history",
                     kept ? json_pack("[f,f]", from, to) : json_null(), "scrub",
                     studio->scrubbing ? json_real(studio->scrub_time) : json_null(), "duration",
                     studio->replay ? json_real(th_replay_duration(studio->replay)) : json_null(),
                     "worlds", worlds);
}
