// throng list: models, planners, parameters, stages, fields. All of it comes from the library's own
// tables, so it cannot be out of date. SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct field_row {
    const char *name, *type, *doc;
} field_row;

static const field_row fields[] = {
#define X(NAME, name, type, doc) {#name, #type, doc},
    TH_FIELDS(X)
#undef X
};

static const char *const stage_docs[] = {
#define X(NAME, name, doc) doc,
    TH_STAGES(X)
#undef X
};

// [{"filter", "door", "two_way"}]: widths of bodies; null where every width tried left people behind.
static json_t *limits_json(const th_model *move) {
    int count = 0;
    const th_model *const *models = th_models(&count);
    json_t *limits = json_array();
    for (int i = 0; i < count; ++i) {
        if (models[i]->stage != TH_STAGE_FILTER) continue;
        th_model_limits of = th_model_limits_of(move->name, models[i]->name);
        if (of.door < 0.0f || of.two_way < 0.0f) continue;
        json_t *door = isfinite(of.door) ? json_real((double)of.door) : json_null();
        json_t *two_way = isfinite(of.two_way) ? json_real((double)of.two_way) : json_null();
        json_array_append_new(limits, json_pack("{s:s,s:o,s:o}", "filter", models[i]->name, "door",
                                                door, "two_way", two_way));
    }
    return limits;
}

static json_t *sections_json(const th_model *model);
static json_t *group_keys_json(const th_model *model);
static json_t *model_json(const th_model *model) {
    json_t *params = json_array(), *presets = json_array();
    for (int i = 0; i < model->param_count; ++i) {
        const th_param_info *p = &model->params[i];
        json_array_append_new(params, json_pack("{s:s,s:s,s:f,s:f,s:f,s:s,s:s}", "name", p->name,
                                                "unit", p->unit, "default", p->value, "min", p->min,
                                                "max", p->max, "source", p->source, "doc", p->doc));
    }
    for (int i = 0; i < model->preset_count; ++i) {
        const th_preset_info *preset = &model->presets[i];
        json_t *values = json_object();
        for (int k = 0; k < preset->param_count; ++k)
            json_object_set_new(values, preset->params[k].name, json_real(preset->params[k].value));
        json_array_append_new(presets, json_pack("{s:s,s:s,s:o}", "name", preset->name, "doc",
                                                 preset->doc ? preset->doc : "", "values", values));
    }
    json_t *limits = model->stage == TH_STAGE_MOVE ? limits_json(model) : json_array();
    json_t *decides = json_array();
    for (int d = 0; d < TH_DECISIONS; ++d)
        if (model->decides >> d & 1)
            json_array_append_new(decides, json_string(th_decision_name((th_decision)(1 << d))));
    return json_pack("{s:s,s:s,s:s,s:s,s:o,s:o,s:o,s:o,s:o,s:o}", "stage",
                     th_stage_name(model->stage), "name", model->name, "doc", model->doc, "source",
                     model->source, "decides", decides, "parameters", params, "presets", presets,
                     "limits", limits, "sections", sections_json(model), "group_keys",
                     group_keys_json(model));
}

// The JSON Schema of a key of a model's section.
static json_t *key_schema(const th_key_info *key) {
    json_t *schema = json_pack("{s:s}", "description", key->doc);
    if (key->kind == TH_KEY_NUMBER)
        json_object_update_new(schema,
                               json_pack("{s:s,s:f,s:f}", "type", "number",
                                         key->above ? "exclusiveMinimum" : "minimum", key->min,
                                         key->below ? "exclusiveMaximum" : "maximum", key->max));
    if (key->kind == TH_KEY_NAME)
        json_object_update_new(
            schema, json_pack("{s:s,s:i,s:i}", "type", "string", "minLength", 1, "maxLength", 100));
    if (key->kind == TH_KEY_GOAL) json_object_set_new(schema, "type", json_string("string"));
    if (key->kind == TH_KEY_LINE)
        json_object_update_new(schema, json_pack("{s:s,s:i,s:{s:s}}", "type", "array", "minItems",
                                                 2, "items", "$ref", "#/$defs/point"));
    if (key->kind == TH_KEY_AREA) json_object_set_new(schema, "$ref", json_string("#/$defs/shape"));
    if (key->kind == TH_KEY_NUMBER && isfinite(key->value))
        json_object_set_new(schema, "default", json_real(key->value));
    if (key->kind == TH_KEY_NAME) json_object_set_new(schema, "default", json_string(key->words));
    if (key->kind != TH_KEY_WORD) return schema;
    json_t *words = json_array();
    for (const char *at = key->words; *at;) {
        size_t size = strcspn(at, " ");
        json_array_append_new(words, json_stringn(at, size));
        at += size + (at[size] == ' ');
    }
    json_object_set(schema, "default", json_array_get(words, (size_t)key->value));
    json_object_set_new(schema, "enum", words);
    return schema;
}

// Marks the parts of the schema that come from a model.
static json_t *declared_by(const th_model *model) {
    return json_sprintf("declared by the %s model %s", th_stage_name(model->stage), model->name);
}

// The part of the scene's JSON Schema that a model brings along.
static json_t *section_schema(const th_model *model, const th_section_info *section) {
    json_t *keys = json_object(), *required = json_array();
    json_object_set_new(
        keys, "id",
        json_pack(
            "{s:s,s:s,s:i,s:i}", "description",
            "Name of this thing, unique among its kind. Default: made up from kind and index.",
            "type", "string", "minLength", 1, "maxLength", 100));
    json_object_set_new(
        keys, "level",
        json_pack("{s:s,s:s}", "description",
                  "Id of the level it is on. May be left out when the scene has one "
                  "level.",
                  "type", "string"));
    for (int k = 0; k < section->key_count; ++k) {
        json_object_set_new(keys, section->keys[k].name, key_schema(&section->keys[k]));
        if (section->keys[k].required)
            json_array_append_new(required, json_string(section->keys[k].name));
    }
    return json_pack("{s:o,s:s,s:s,s:i,s:{s:s,s:b,s:o,s:o}}", "$comment", declared_by(model),
                     "description", section->doc, "type", "array", "maxItems",
                     section->max_items > 0 ? section->max_items : 1000, "items", "type", "object",
                     "additionalProperties", 0, "properties", keys, "required", required);
}

static json_t *sections_json(const th_model *model) {
    json_t *sections = json_object();
    for (int s = 0; s < model->section_count; ++s)
        json_object_set_new(sections, model->sections[s].name,
                            section_schema(model, &model->sections[s]));
    return sections;
}

// The keys that its sections add to groups.
static json_t *group_keys_json(const th_model *model) {
    json_t *keys = json_object();
    for (int s = 0; s < model->section_count; ++s) {
        const th_section_info *section = &model->sections[s];
        if (!section->group_key) continue;
        json_object_set_new(keys, section->group_key,
                            json_pack("{s:o,s:s,s:[{s:s,s:{s:s}},{s:s,s:{s:s,s:i,s:i}}]}",
                                      "$comment", declared_by(model), "description",
                                      section->group_doc, "oneOf", "type", "array", "items", "type",
                                      "string", "type", "object", "additionalProperties", "type",
                                      "number", "minimum", 0, "maximum", 10));
    }
    return keys;
}

static json_t *profiles_json(void);
static json_t *everything_json(void) {
    json_t *models = json_array(), *stages = json_array(), *field_list = json_array();
    int count = 0;
    const th_model *const *infos = th_models(&count);
    for (int i = 0; i < count; ++i)
        if (!infos[i]->internal) json_array_append_new(models, model_json(infos[i]));
    for (int i = 0; i < TH_STAGE_COUNT; ++i)
        json_array_append_new(stages, json_pack("{s:s,s:s}", "name", th_stage_name((th_stage)i),
                                                "doc", stage_docs[i]));
    for (int i = 0; i < TH_FIELD_COUNT; ++i)
        json_array_append_new(field_list, json_pack("{s:s,s:s,s:s}", "name", fields[i].name, "type",
                                                    fields[i].type, "doc", fields[i].doc));
    return json_pack("{s:o,s:o,s:o,s:o}", "models", models, "stages", stages, "fields", field_list,
                     "profiles", profiles_json());
}

static void print_limit(float limit, const char *where) {
    if (limit < 0.0f) return; // not tried
    if (limit == 0.0f)
        printf("no trouble %s", where);
    else if (isfinite(limit))
        printf("people left behind %s below %.3g body widths", where, (double)limit);
    else
        printf("people left behind %s of every width tried", where);
}

// The findings of tools/test-long, with and without each filter.
static void print_limits(const th_model *move) {
    int count = 0;
    const th_model *const *models = th_models(&count);
    for (int i = 0; i < count; ++i) {
        if (models[i]->stage != TH_STAGE_FILTER) continue;
        th_model_limits of = th_model_limits_of(move->name, models[i]->name);
        if (of.door < 0.0f && of.two_way < 0.0f) continue;
        printf("  %-23s   limits, filter %s: ", "", models[i]->name);
        print_limit(of.door, "at doors");
        printf("; ");
        print_limit(of.two_way, "in two-way corridors");
        printf("\n");
    }
}

// Lists the decisions of a behaviour. A group may have several behaviours that decide different things.
static void print_decisions(const th_model *model) {
    const char *between = "decides: ";
    if (model->decides) printf("  %-23s   ", "");
    for (int d = 0; d < TH_DECISIONS; ++d) {
        if (!(model->decides >> d & 1)) continue;
        printf("%s%s", between, th_decision_name((th_decision)(1 << d)));
        between = ", ";
    }
    if (model->decides) printf("\n");
}

// Fields of other models that it reads or writes.
static void print_uses(const th_model *model) {
    for (int k = 0; k < model->use_count; ++k)
        printf("  %-23s   uses %s; where no group has it: %s\n", "", model->uses[k].field,
               model->uses[k].absent);
}

// A section of the scene file and its keys.
static void print_section(const th_section_info *section) {
    printf("  %-23s   scene: \"%s\": %s\n", "", section->name, section->doc);
    for (int k = 0; k < section->key_count; ++k) {
        const th_key_info *key = &section->keys[k];
        printf("  %-23s     %-10s %s%s%s\n", "", key->name, key->doc,
               key->kind == TH_KEY_WORD ? " One of: " : "",
               key->kind == TH_KEY_WORD ? key->words : "");
    }
    if (section->group_key)
        printf("  %-23s   group: \"%s\": %s\n", "", section->group_key, section->group_doc);
}

static void print_models(void) {
    int count = 0;
    const th_model *const *models = th_models(&count);
    printf("models (a group's behave, plan, filter and move)\n");
    for (int i = 0; i < count; ++i) {
        if (models[i]->internal) continue;
        printf("  %-7s %-15s %s\n", th_stage_name(models[i]->stage), models[i]->name,
               models[i]->doc);
        printf("  %-23s   source: %s\n", "", models[i]->source);
        print_decisions(models[i]);
        print_uses(models[i]);
        for (int k = 0; k < models[i]->section_count; ++k) print_section(&models[i]->sections[k]);
        for (int k = 0; k < models[i]->preset_count; ++k)
            printf("  %-23s   preset %s: %s\n", "", models[i]->presets[k].name,
                   models[i]->presets[k].doc ? models[i]->presets[k].doc : "");
        if (models[i]->stage == TH_STAGE_MOVE) print_limits(models[i]);
    }
}

static void print_parameters(void) {
    int count = 0;
    const th_model *const *models = th_models(&count);
    printf("parameters: default [unit] (lowest .. highest), what it is, source\n");
    for (int i = 0; i < count; ++i) {
        if (models[i]->param_count == 0) continue;
        printf("  %s %s\n", th_stage_name(models[i]->stage), models[i]->name);
        for (int k = 0; k < models[i]->param_count; ++k) {
            const th_param_info *p = &models[i]->params[k];
            printf("    %-22s %8g [%s] (%g .. %g)\n      %s\n      source: %s\n", p->name, p->value,
                   p->unit, p->min, p->max, p->doc, p->source);
        }
    }
}

static void print_stages(void) {
    printf("stages of a step, in order\n");
    for (int i = 0; i < TH_STAGE_COUNT; ++i)
        printf("  %-8s %s\n", th_stage_name((th_stage)i), stage_docs[i]);
}

static void print_fields(void) {
    printf("fields of an agent\n");
    for (int i = 0; i < TH_FIELD_COUNT; ++i)
        printf("  %-12s %-8s %s\n", fields[i].name, fields[i].type, fields[i].doc);
}

static const char *spread(const th_distribution *d, char *text, size_t size) {
    if (d->kind == TH_DISTRIBUTION_CONSTANT)
        snprintf(text, size, "%g", d->a);
    else if (d->kind == TH_DISTRIBUTION_UNIFORM)
        snprintf(text, size, "%g to %g", d->a, d->b);
    else
        snprintf(text, size, "%g +- %g in %g to %g", d->a, d->b, d->min, d->max);
    return text;
}

static void print_profiles(void) {
    int count = 0;
    const th_profile_def *profiles = th_profiles(&count);
    printf(
        "profiles (a group's \"profiles\"): speed on the flat, up and down stairs as shares of it, "
        "radius\n");
    for (int i = 0; i < count; ++i) {
        const th_profile_def *p = &profiles[i];
        char speed[120], radius[120];
        printf("  %-19s %s m/s", p->id, spread(&p->speed, speed, sizeof speed));
        if (p->up > 0) printf(", up %.2f", p->up);
        if (p->down > 0) printf(", down %.2f", p->down);
        if (p->has_radius) printf(", %s m", spread(&p->radius, radius, sizeof radius));
        if (p->has_rigid) printf(", rigid");
        printf("\n    %s\n    source: %s\n", p->doc, p->source);
    }
}

static json_t *profiles_json(void) {
    int count = 0;
    const th_profile_def *profiles = th_profiles(&count);
    json_t *list = json_array();
    for (int i = 0; i < count; ++i) {
        const th_profile_def *p = &profiles[i];
        char text[120];
        json_t *one = json_pack("{s:s,s:s,s:s,s:s}", "id", p->id, "doc", p->doc, "source",
                                p->source, "speed", spread(&p->speed, text, sizeof text));
        if (p->up > 0) json_object_set_new(one, "up", json_real(p->up));
        if (p->down > 0) json_object_set_new(one, "down", json_real(p->down));
        if (p->has_radius) json_object_set_new(one, "radius", json_real(p->radius.a));
        if (p->has_rigid)
            json_object_set_new(one, "rigid", json_boolean(p->rigid == TH_RIGID_ALWAYS));
        json_array_append_new(list, one);
    }
    return list;
}

typedef struct topic {
    const char *name;
    void (*print)(void);
} topic;

static const topic topics[] = {
    {"models", print_models}, {"parameters", print_parameters}, {"stages", print_stages},
    {"fields", print_fields}, {"profiles", print_profiles},
};
enum { TOPIC_COUNT = sizeof topics / sizeof topics[0] };

static int complain_topic(const th_command *command, const char *typed) {
    const char *words[TOPIC_COUNT];
    for (int i = 0; i < TOPIC_COUNT; ++i) words[i] = topics[i].name;
    const char *nearest = th_suggest(typed, words, TOPIC_COUNT);
    th_complain(command, "nothing called '%s'; %s%s%s", typed, nearest ? "did you mean " : "",
                nearest ? nearest : "there are models, parameters, stages, fields, profiles",
                nearest ? "?" : "");
    return TH_EXIT_USAGE;
}

static int run_list(const th_command *command, int argc, char **argv) {
    bool json = false;
    th_text_list plugins = {0};
    const th_option options[] = {
        {"json", TH_OPTION_FLAG, &json, NULL, "one JSON object with everything", 0, 0},
        TH_PLUGIN_OPTION(&plugins),
    };
    const char *wanted = NULL;
    th_parse_result parsed = th_args_parse(command, options, 2, argc, argv, &wanted);
    if (parsed != TH_PARSE_OK) return parsed == TH_PARSE_HELP ? TH_EXIT_OK : TH_EXIT_USAGE;
    int chosen = -1;
    for (int i = 0; i < TOPIC_COUNT; ++i)
        if (wanted && strcmp(topics[i].name, wanted) == 0) chosen = i;
    if (wanted && chosen < 0) return complain_topic(command, wanted);

    int code = th_load_plugins(&plugins);
    if (code != TH_EXIT_OK) return code;
    if (json) {
        json_t *object = everything_json();
        if (!object) return TH_EXIT_FAILED;
        json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(7));
        putchar('\n');
        json_decref(object);
        return TH_EXIT_OK;
    }
    bool first = true;
    for (int i = 0; i < TOPIC_COUNT; ++i) {
        if (chosen >= 0 && i != chosen) continue;
        if (!first) putchar('\n');
        topics[i].print();
        first = false;
    }
    return TH_EXIT_OK;
}

const th_command th_command_list = {
    .name = "list",
    .operands = "[TOPIC]",
    .operand_min = 0,
    .operand_max = 1,
    .summary = "models, planners and their parameters",
    .detail = "TOPIC is models, parameters, stages, fields or profiles; without it, all. Every\n"
              "parameter comes with its default, unit, limits and source. A scene names a model in "
              "a group's\n"
              "plan, filter or move, and any parameter beside it.",
    .examples = "  throng list\n"
                "  throng list parameters\n"
                "  throng list --json\n",
    .run = run_list,
};
