// The table of models: those of models.h, then those that a program registers. It lies below the scene, which names
// models; of the folders above it knows only the models' descriptions. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/file.h"
#include "core/system/system.h"
#include "registry/models.h"
#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define X(STAGE, NAME, stage, name) extern const th_model th_##stage##_##name##_model;
TH_MODELS(X)
#undef X

static const th_model *models[TH_MODEL_MAX] = {
#define X(STAGE, NAME, stage, name) &th_##stage##_##name##_model,
    TH_MODELS(X)
#undef X
};
static_assert((int)TH_BUILT_IN_MODELS <= (int)TH_MODEL_MAX, "raise TH_MODEL_MAX");
static int model_count = TH_BUILT_IN_MODELS;

th_model th_model_default(void) { return (th_model){.cookie = TH_MODEL_COOKIE}; }

const th_model *const *th_models(int *count) {
    if (count) *count = model_count;
    return models;
}

const char *th_stage_name(th_stage stage) {
    static const char *const names[] = {
#define X(NAME, name, doc) #name,
        TH_STAGES(X)
#undef X
    };
    return (unsigned)stage < TH_STAGE_COUNT ? names[stage] : "?";
}

int th_model_find(th_stage stage, const char *name) {
    if (!name) return -1;
    for (int m = 0; m < model_count; ++m)
        if (models[m]->stage == stage && !models[m]->internal && strcmp(models[m]->name, name) == 0)
            return m;
    return -1;
}

int th_stage_default_model(th_stage stage) {
    for (int m = 0; m < model_count; ++m)
        if (models[m]->stage == stage && models[m]->is_default) return m;
    return -1;
}

int th_model_find_param(const th_model *model, const char *name) {
    for (int p = 0; p < model->param_count; ++p)
        if (name && strcmp(model->params[p].name, name) == 0) return p;
    return -1;
}

// ---- rules for bodies

float th_reads_none(const th_world *world, const float *params) {
    (void)world, (void)params;
    return 0.0f;
}

th_body_rules th_model_body(const th_model *model, const float *params) {
    th_body_rules rules = {.separation_passes = 4, // overlaps against passes: docs/models/orca.md
                           .depth = 1.0f,
                           .standing_yield = 0.5f,
                           .newcomer_bodies = 1.0f};
    if (model->body) model->body(params, &rules);
    return rules;
}

// Finds a rule that is out of range, with its value and its limits; NULL: none.
static const char *body_fault(const th_body_rules *rules, double *value, double *min, double *max) {
    const struct {
        const char *name;
        double value, min, max;
    } all[] = {{"separation_passes", rules->separation_passes, 0.0, 16.0},
               {"depth", (double)rules->depth, 0.01, 1.0},
               {"standing_yield", (double)rules->standing_yield, 0.001, 0.5},
               {"gap_clearance", (double)rules->gap_clearance, 0.0, 1.0},
               {"newcomer_bodies", (double)rules->newcomer_bodies, 1.0, 10.0},
               {"newcomer_metres", (double)rules->newcomer_metres, 0.0, 10.0},
               {"stiffness", (double)rules->stiffness, 0.0, 1e6},
               {"stiffening", (double)rules->stiffening, 0.0, 1e7},
               {"friction", (double)rules->friction, 0.0, 100.0}};
    for (size_t k = 0; k < sizeof all / sizeof *all; ++k) {
        *value = all[k].value;
        *min = all[k].min;
        *max = all[k].max;
        if (!(*value >= *min - 1e-6 && *value <= *max + 1e-6)) return all[k].name;
    }
    return NULL;
}

th_result th_model_check_params(const th_model *model, const float *params, const char *path,
                                th_result code, th_error *error) {
    int param = 0;
    const char *wrong = model->check ? model->check(params, &param) : NULL;
    if (wrong) return th_fail(error, code, path, "%s: %s", model->params[param].name, wrong);
    if (model->stage != TH_STAGE_MOVE) return TH_OK;
    double value, min, max;
    th_body_rules rules = th_model_body(model, params);
    wrong = body_fault(&rules, &value, &min, &max);
    if (!wrong) return TH_OK;
    return th_fail(error, code, path,
                   "model \"%s\": with these parameters its function `body` sets %s to %g; it must "
                   "lie in %g .. %g",
                   model->name, wrong, value, min, max);
}

// ---- what a description from outside must have

static bool is_word(const char *text) {
    if (!text || !(isalpha((unsigned char)text[0]))) return false;
    size_t length = strlen(text);
    for (size_t k = 0; k < length; ++k)
        if (!isalnum((unsigned char)text[k]) && text[k] != '_') return false;
    return length < 40;
}

static th_result check_params(const th_model *model, th_error *error) {
    for (int p = 0; p < model->param_count; ++p) {
        const th_param_info *info = &model->params[p];
        if (!is_word(info->name))
            return th_fail(error, TH_BAD_ARGUMENT, "",
                           "model \"%s\": parameter %d has no name of letters, digits and _",
                           model->name, p);
        if (!info->unit || !info->source || !info->doc)
            return th_fail(
                error, TH_BAD_ARGUMENT, "",
                "model \"%s\": parameter \"%s\" needs unit (\"-\" for none), source and doc",
                model->name, info->name);
        if (!(isfinite(info->min) && isfinite(info->max) && info->min <= info->value &&
              info->value <= info->max))
            return th_fail(error, TH_BAD_ARGUMENT, "",
                           "model \"%s\": the default %g of \"%s\" does not lie in %g .. %g",
                           model->name, info->value, info->name, info->min, info->max);
        for (int q = 0; q < p; ++q)
            if (strcmp(model->params[q].name, info->name) == 0)
                return th_fail(error, TH_BAD_ARGUMENT, "", "model \"%s\" has two parameters \"%s\"",
                               model->name, info->name);
    }
    return TH_OK;
}

static th_result check_preset(const th_model *model, const th_preset_info *preset,
                              th_error *error) {
    for (int k = 0; k < preset->param_count; ++k) {
        const th_param *value = &preset->params[k];
        int p = th_model_find_param(model, value->name);
        if (p < 0)
            return th_fail(error, TH_BAD_ARGUMENT, "",
                           "model \"%s\": preset \"%s\" sets \"%s\", which is no parameter of it",
                           model->name, preset->name, value->name ? value->name : "");
        if (!(value->value >= model->params[p].min && value->value <= model->params[p].max))
            return th_fail(error, TH_BAD_ARGUMENT, "",
                           "model \"%s\": preset \"%s\" sets %s to %g; it must lie in %g .. %g",
                           model->name, preset->name, value->name, value->value,
                           model->params[p].min, model->params[p].max);
    }
    return TH_OK;
}

static th_result check_presets(const th_model *model, th_error *error) {
    if (model->preset_count < 0 || (model->preset_count > 0 && !model->presets))
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "model \"%s\" has %d presets, but `presets` is empty", model->name,
                       model->preset_count);
    for (int k = 0; k < model->preset_count; ++k) {
        const th_preset_info *preset = &model->presets[k];
        if (!is_word(preset->name) || preset->param_count < 0 ||
            (preset->param_count > 0 && !preset->params))
            return th_fail(error, TH_BAD_ARGUMENT, "",
                           "model \"%s\": preset %d needs a name of letters, digits and _, and "
                           "param_count values in `params`",
                           model->name, k);
        th_result result = check_preset(model, preset, error);
        if (result != TH_OK) return result;
    }
    return TH_OK;
}

static th_result check_fields(const th_model *model, th_error *error) {
    for (int f = 0; f < model->field_count; ++f) {
        if (!is_word(model->fields[f].name))
            return th_fail(error, TH_BAD_ARGUMENT, "",
                           "model \"%s\": field %d has no name of letters, digits and _",
                           model->name, f);
        if (!model->fields[f].doc)
            return th_fail(error, TH_BAD_ARGUMENT, "", "model \"%s\": field \"%s\" needs doc",
                           model->name, model->fields[f].name);
        for (int g = 0; g < f; ++g)
            if (strcmp(model->fields[g].name, model->fields[f].name) == 0)
                return th_fail(error, TH_BAD_ARGUMENT, "", "model \"%s\" has two fields \"%s\"",
                               model->name, model->fields[f].name);
    }
    return TH_OK;
}

static th_result check_key(const th_model *model, const th_section_info *section,
                           const th_key_info *key, th_error *error) {
    bool number = key->kind == TH_KEY_NUMBER;
    bool unlimited = isinf(key->value) && key->value > 0.0;
    if (!is_word(key->name) || !key->doc || strcmp(key->name, "id") == 0 ||
        strcmp(key->name, "level") == 0)
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "model \"%s\": a key of the section \"%s\" needs doc and a name of letters, "
                       "digits and _ other than id and level",
                       model->name, section->name);
    if (key->offset + sizeof(float) > section->item_size || (number && !key->unit) ||
        (number && !unlimited && !(key->min <= key->value && key->value <= key->max)) ||
        ((key->kind == TH_KEY_WORD || key->kind == TH_KEY_NAME) && !key->words))
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "model \"%s\": the key \"%s\" of \"%s\" lies outside item_size, or lacks "
                       "unit, words or a default within its range",
                       model->name, key->name, section->name);
    return TH_OK;
}

// The keys that scenes and groups have without any model: sections may not be called like them.
static const char *const scene_keys[] = {
    "name",   "description", "levels",        "stairs",   "zones",    "pictures",  "doors",
    "exits",  "waypoints",   "waiting_areas", "groups",   "scripted", "measure",   "run",
    "record", "plan_cell",   "$schema",       "profiles", "import",   "timetable", "underlays"};
static const char *const group_keys[] = {
    "id",     "level",    "area",   "count",       "density",  "positions", "positions_file",
    "source", "radius",   "speed",  "premovement", "mass",     "rigid",     "route",
    "to",     "own_goal", "behave", "plan",        "filter",   "move",      "leader",
    "up",     "down",     "avoid",  "profiles",    "recording"};

const char *const *th_scene_keys(int *count) {
    *count = sizeof scene_keys / sizeof *scene_keys;
    return scene_keys;
}

const char *const *th_group_keys(int *count) {
    *count = sizeof group_keys / sizeof *group_keys;
    return group_keys;
}

static bool is_among(const char *word, const char *const *words, int count) {
    for (int k = 0; k < count; ++k)
        if (strcmp(words[k], word) == 0) return true;
    return false;
}

static int count_keys(const th_section_info *section, th_key_kind kind, const char *name) {
    int count = 0;
    for (int k = 0; k < section->key_count; ++k)
        count +=
            section->keys[k].kind == kind && (!name || strcmp(section->keys[k].name, name) == 0);
    return count;
}

// Names that sections of all models share: their own and the keys that they add to groups.
static th_result check_names(const th_model *model, const th_section_info *section,
                             th_error *error) {
    int scene_count, group_count;
    const char *const *taken = th_scene_keys(&scene_count);
    const char *const *taken_by_groups = th_group_keys(&group_count);
    const char *key = section->group_key;
    if (is_among(section->name, taken, scene_count) ||
        (key && is_among(key, taken_by_groups, group_count)))
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "model \"%s\": \"%s\" is a key that all scenes have; give the section or "
                       "its group_key another name",
                       model->name,
                       is_among(section->name, taken, scene_count) ? section->name : key);
    for (int m = 0; m < model_count; ++m)
        for (int k = 0; k < models[m]->section_count; ++k) {
            const th_section_info *other = &models[m]->sections[k];
            if (strcmp(other->name, section->name) == 0)
                return th_fail(error, TH_BAD_ARGUMENT, "",
                               "model \"%s\": the model \"%s\" has a section \"%s\" already; "
                               "give yours another name",
                               model->name, models[m]->name, section->name);
            if (key && other->group_key && strcmp(other->group_key, key) == 0)
                return th_fail(error, TH_BAD_ARGUMENT, "",
                               "model \"%s\": the model \"%s\" has the group_key \"%s\" already; "
                               "give yours another name",
                               model->name, models[m]->name, key);
        }
    return TH_OK;
}

// Do the keys that a section names (its width, its reach) exist, with the right kind?
static th_result check_roles(const th_model *model, const th_section_info *section,
                             th_error *error) {
    const char *widths[] = {section->width_key, section->reach_key};
    for (int k = 0; k < 2; ++k)
        if (widths[k] && count_keys(section, TH_KEY_NUMBER, widths[k]) == 0)
            return th_fail(error, TH_BAD_ARGUMENT, "",
                           "model \"%s\": \"%s\" has no number \"%s\" for its width_key or "
                           "reach_key",
                           model->name, section->name, widths[k]);
    int names = count_keys(section, TH_KEY_NAME, NULL);
    if (names > 1 ||
        (section->group_key && (names == 0 || !is_word(section->group_key) || !section->group_doc)))
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "model \"%s\": \"%s\" has %d keys of TH_KEY_NAME; it has at most one, and "
                       "with a group_key exactly one and a group_doc",
                       model->name, section->name, names);
    bool sends = model->stage == TH_STAGE_BEHAVE && (model->decides & TH_DECIDES_DETOUR);
    bool placed = false;
    for (int k = 0; k < section->key_count && !placed; ++k)
        if (section->keys[k].kind == TH_KEY_AREA) {
            placed = section->keys[k].required;
            break;
        }
    if (section->detours && !(sends && placed))
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "model \"%s\": `detours` of \"%s\" needs a behave model that decides "
                       "TH_DECIDES_DETOUR, and a required area",
                       model->name, section->name);
    return TH_OK;
}

static th_result check_sections(const th_model *model, th_error *error) {
    if (model->section_count < 0 || model->section_count > 8 ||
        (model->section_count > 0 && !model->sections))
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "model \"%s\" has %d sections; there may be 0 to 8, in `sections`",
                       model->name, model->section_count);
    for (int s = 0; s < model->section_count; ++s) {
        const th_section_info *section = &model->sections[s];
        if (!is_word(section->name) || !is_word(section->item) || !section->doc ||
            section->item_size < sizeof(th_item) || section->key_count < 0 ||
            section->key_count > 30 || (section->key_count > 0 && !section->keys))
            return th_fail(
                error, TH_BAD_ARGUMENT, "",
                "model \"%s\": section %d needs name, item, doc, an item_size of a struct "
                "that begins with a th_item, and at most 30 keys",
                model->name, s);
        th_result result = check_names(model, section, error);
        for (int k = 0; result == TH_OK && k < section->key_count; ++k)
            result = check_key(model, section, &section->keys[k], error);
        if (result == TH_OK) result = check_roles(model, section, error);
        if (result != TH_OK) return result;
    }
    return TH_OK;
}

static th_result check_uses(const th_model *model, th_error *error) {
    if (model->use_count < 0 || (model->use_count > 0 && !model->uses))
        return th_fail(error, TH_BAD_ARGUMENT, "", "model \"%s\" has %d uses, but `uses` is empty",
                       model->name, model->use_count);
    for (int k = 0; k < model->use_count; ++k) {
        const th_field_use *use = &model->uses[k];
        const char *slash = use->field ? strchr(use->field, '/') : NULL;
        if (!slash || !strchr(slash, '.') || !use->absent)
            return th_fail(error, TH_BAD_ARGUMENT, "",
                           "model \"%s\": use %d needs `field` as \"stage/model.field\" and "
                           "`absent`, which says what happens without it",
                           model->name, k);
    }
    return TH_OK;
}

static th_result check_lists(const th_model *model, th_error *error) {
    if (model->param_count < 0 || model->param_count > TH_PARAM_MAX ||
        (model->param_count > 0 && !model->params))
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "model \"%s\" has %d parameters; there may be 0 to %d, in `params`",
                       model->name, model->param_count, TH_PARAM_MAX);
    if (model->field_count < 0 || model->field_count > TH_MODEL_FIELD_MAX ||
        (model->field_count > 0 && !model->fields))
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "model \"%s\" has %d fields; there may be 0 to %d, in `fields`", model->name,
                       model->field_count, TH_MODEL_FIELD_MAX);
    th_result result = check_params(model, error);
    if (result == TH_OK) result = check_presets(model, error);
    if (result == TH_OK) result = check_uses(model, error);
    if (result == TH_OK) result = check_fields(model, error);
    return result == TH_OK ? check_sections(model, error) : result;
}

static th_result check_sight(const th_model *model, th_error *error) {
    const th_sight *sight = &model->sight;
    if (sight->neighbours < 0 || sight->neighbours > TH_NEIGHBOUR_MAX ||
        !(sight->neighbour_range >= 0.0f && sight->neighbour_range <= 50.0f))
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "model \"%s\" wants to see %d neighbours within %g m; there are 0 to %d "
                       "within 0 to 50 m",
                       model->name, sight->neighbours, (double)sight->neighbour_range,
                       TH_NEIGHBOUR_MAX);
    if (sight->walls < 0 || sight->walls > TH_NEAR_WALL_MAX ||
        !(sight->wall_range >= 0.0f && sight->wall_range <= 50.0f))
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "model \"%s\" wants to see %d walls within %g m; there are 0 to %d within 0 "
                       "to 50 m",
                       model->name, sight->walls, (double)sight->wall_range, TH_NEAR_WALL_MAX);
    if (!model->look && ((sight->neighbours > 0) != (sight->neighbour_range > 0.0f) ||
                         (sight->walls > 0) != (sight->wall_range > 0.0f)))
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "model \"%s\": `sight` needs both a number and a range, of neighbours and "
                       "of walls, or neither",
                       model->name);
    return TH_OK;
}

static th_result check_functions(const th_model *model, th_error *error) {
    if (!model->run == !model->agent)
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       model->run ? "model \"%s\" has both `agent` and `run`; give one of them"
                                  : "model \"%s\" has no function that runs it; give `agent`, or "
                                    "`run` for all people at once",
                       model->name);
    if (model->begin && !model->agent)
        return th_fail(
            error, TH_BAD_ARGUMENT, "",
            "model \"%s\": `begin` goes before `agent`, which it lacks; `run` may do the "
            "same itself",
            model->name);
    if (model->agent && model->stage == TH_STAGE_BEHAVE)
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "model \"%s\": `agent` returns a velocity, which is for plan, filter and "
                       "move; a behave model has `run`",
                       model->name);
    int saving = (model->saved_size != NULL) + (model->save != NULL) +
                 (model->saved_is_sound != NULL) + (model->restore != NULL);
    if (saving != 0 && saving != 4 && !(saving == 1 && model->restore))
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "model \"%s\" has %d of saved_size, save, saved_is_sound and restore; give "
                       "all, none or restore alone",
                       model->name, saving);
    return model->agent ? check_sight(model, error) : TH_OK;
}

static th_result check_defaults(const th_model *model, th_error *error) {
    if (model->body && model->stage != TH_STAGE_MOVE)
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "model \"%s\" has `body`, which is for move models; leave it NULL",
                       model->name);
    float params[TH_PARAM_MAX] = {0};
    for (int p = 0; p < model->param_count; ++p) params[p] = (float)model->params[p].value;
    return th_model_check_params(model, params, "", TH_BAD_ARGUMENT, error);
}

th_result th_model_register(const th_model *model, th_error *error) {
    if (!model || model->cookie != TH_MODEL_COOKIE)
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "the description was not made by th_model_default(); start from it");
    if (!is_word(model->name))
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "a model needs a name of letters, digits and _, beginning with a letter");
    if (model->stage != TH_STAGE_BEHAVE && model->stage != TH_STAGE_PLAN &&
        model->stage != TH_STAGE_FILTER && model->stage != TH_STAGE_MOVE)
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "model \"%s\": stage must be TH_STAGE_BEHAVE, PLAN, FILTER or MOVE",
                       model->name);
    if (!model->doc || !model->source)
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "model \"%s\" needs doc (one line) and source (paper or author)",
                       model->name);
    if (th_model_find(model->stage, model->name) >= 0)
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "there is a model \"%s\" of this stage already; give yours another name",
                       model->name);
    if (model->is_default || model->internal)
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "model \"%s\": is_default and internal are for the engine's own models",
                       model->name);
    th_result result = check_functions(model, error);
    if (result == TH_OK) result = check_lists(model, error);
    if (result == TH_OK) result = check_defaults(model, error);
    if (result != TH_OK) return result;
    if (model_count == TH_MODEL_MAX)
        return th_fail(error, TH_FULL, "", "there are %d models already, the most there can be",
                       TH_MODEL_MAX);
    models[model_count++] = model;
    return TH_OK;
}

void th_models_forget(int count) {
    assert(count >= (int)TH_BUILT_IN_MODELS && count <= model_count);
    model_count = count;
}

// ---- plugins: models in a shared library, loaded at run time

// Libraries that have registered their models. They stay loaded: the table of models points into them.
static void *loaded[TH_MODEL_MAX];
static int loaded_count;

static bool is_loaded(const void *library) {
    for (int k = 0; k < loaded_count; ++k)
        if (loaded[k] == library) return true;
    return false;
}

static th_result check_layout(void *library, const char *path, th_error *error) {
    static const struct {
        const char *name;
        uint32_t number;
    } own[] = {
#define X(name, number) {name, (uint32_t)(number)},
        TH_PLUGIN_LAYOUT(X)
#undef X
    };
    const uint32_t *layout = th_library_symbol(library, "th_plugin_layout");
    if (!layout || !th_library_symbol(library, "th_plugin"))
        return th_file_fail(error, path,
                            "is a library, but not a plugin: it has no th_plugin; write TH_PLUGIN "
                            "{ return th_model_register(&mine, error); } into its source");
    for (size_t k = 0; k < sizeof own / sizeof *own; ++k) // the first is the version of the list
        if (layout[k] != own[k].number)
            return th_file_fail(error, path,
                                "was built for another version of throng than this %s (%s is %u "
                                "there and %u here); compile it again with the headers of this "
                                "version",
                                TH_VERSION, own[k].name, layout[k], own[k].number);
    return TH_OK;
}

// The plugin's own message, with the file's name.
static th_result register_models(void *library, const char *path, th_error *error) {
    typedef th_result plugin_fn(th_error *);
    plugin_fn *plugin;
    void *symbol = th_library_symbol(library, "th_plugin");
    memcpy(&plugin, &symbol, sizeof plugin); // C has no cast from an object to a function
    int before, after;
    th_error own = {0};
    th_models(&before);
    th_result result = plugin(&own);
    th_models(&after);
    if (result == TH_OK && after == before)
        return th_file_fail(error, path,
                            "registers no model; call th_model_register in its TH_PLUGIN");
    if (result == TH_OK) return TH_OK;
    th_models_forget(before);
    snprintf(own.file, sizeof own.file, "%.255s", path);
    if (!own.message[0]) th_fail(&own, result, "", "its th_plugin failed and does not say why");
    if (error) *error = own;
    return result;
}

th_result th_plugin_load(const char *path, th_error *error) {
    if (th_system_plain_file(path) == TH_NOT_PLAIN)
        return th_file_fail(error, path, "cannot be read: not a plain file");
    void *library = th_library_open(path);
    if (!library)
        return th_file_fail(error, path,
                            "the plugin does not load: %.300s; build it with `cc -shared -fPIC "
                            "mine.c $(pkg-config --cflags throng) -o libmine.so`",
                            th_library_error());
    th_result result = TH_OK;
    bool again = is_loaded(library);
    if (!again) result = check_layout(library, path, error);
    if (!again && result == TH_OK && loaded_count == TH_MODEL_MAX)
        result = th_fail(error, TH_FULL, "", "there are %d plugins already", TH_MODEL_MAX);
    if (!again && result == TH_OK) result = register_models(library, path, error);
    if (again || result != TH_OK)
        th_library_close(library);
    else
        loaded[loaded_count++] = library;
    return result;
}
