// What models' sections are to groups: names with weights, and places that are detours. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "scene/scene.h"
#include "scene/sections.h"
#include <string.h>

// ---- names

static int find_name(const th_scene *scene, const th_section *section, const char *name) {
    for (int i = section->name_begin; i < section->name_end; ++i)
        if (strcmp(scene->names[i], name) == 0) return i;
    return -1;
}

int th_gather_name(th_compiler *c, th_section *section, const char *name) {
    int found = find_name(c->scene, section, name);
    if (found >= 0) return found;
    if (!name[0] || strlen(name) > 100) th_bad(c, "a name has 1 to 100 characters");
    const char *copy = th_copy_string(c, name);
    if (!copy) return 0;
    c->list.names[c->scene->name_count] = copy;
    section->name_end = ++c->scene->name_count;
    return section->name_end - 1;
}

static const th_item *item_of(const th_section *section, int i) {
    const char *items = section->items;
    return (const th_item *)(const void *)(items + (size_t)i * section->info->item_size);
}

// ---- elements that are goals

static const char *goal_id(const th_scene *scene, int i) { return scene->goals[i].id; }

void th_gather_detours(th_compiler *c, const th_section *section) {
    for (int i = 0; i < section->count && c->result == TH_OK; ++i) {
        const th_item *item = item_of(section, i);
        th_goal *goal = &c->list.goals[c->scene->goal_count];
        th_at(c, "%s[%d].id", section->info->name, i);
        th_unique_id(c, item->id, "goal", i, goal_id, c->scene->goal_count);
        goal->id = item->id;
        goal->kind = TH_GOAL_DETOUR;
        goal->area.level = goal->line.level = item->level;
        goal->item = item;
        ++c->scene->goal_count;
    }
}

int th_count_detours(const th_scene_def *def) {
    int count = 0;
    for (int k = 0; k < def->section_count; ++k) {
        const th_section_info *info = th_section_find(def->sections[k].name);
        if (info && info->detours) count += def->sections[k].item_count;
    }
    return count;
}

static bool is_in(const th_section *section, const th_item *item) {
    return item && section->count > 0 && item >= item_of(section, 0) &&
           item <= item_of(section, section->count - 1);
}

void th_compile_places(th_compiler *c, const th_section *section) {
    const th_key_info *area = th_section_key(section->info, TH_KEY_AREA);
    for (int g = 0; g < c->scene->goal_count; ++g) {
        th_goal *goal = &c->list.goals[g];
        if (!is_in(section, goal->item)) continue;
        const char *item = (const char *)goal->item;
        goal->area.shape = *(const th_polygons *)(const void *)(item + area->offset);
    }
}

// ---- groups

static bool group_uses(const th_group *group, int model) {
    const th_model_choice *choice;
    for (int k = 0; (choice = th_group_model(group, k)); ++k)
        if (choice->model == model) return true;
    return false;
}

static void set_weight(th_compiler *c, const th_section *section, const th_weight_def *given,
                       float *weights) {
    const th_scene *scene = c->scene;
    const char *kind = th_section_key(section->info, TH_KEY_NAME)->name;
    int found = find_name(scene, section, given->name);
    if (found < 0) {
        const char *near = th_nearest_word(given->name, scene->names + section->name_begin,
                                           section->name_end - section->name_begin);
        if (near)
            th_bad(c, "nothing in \"%s\" has the %s \"%.60s\"; did you mean \"%.60s\"?",
                   section->info->name, kind, given->name, near);
        else
            th_bad(c,
                   "nothing in \"%s\" has the %s \"%.60s\"; give names that stand under \"%s\" "
                   "there",
                   section->info->name, kind, given->name, kind);
        return;
    }
    th_check_range(c, "the weight of a name", given->weight, 0.0, 10.0, "");
    weights[found] = (float)given->weight;
}

// The values of a section's key of the group.
static void set_weights(th_compiler *c, int i, const th_section *section, float *weights) {
    const th_group_def *def = &c->def->groups[i];
    const char *key = section->info->group_key;
    const th_model *model = th_models(NULL)[section->model];
    bool given = false;
    for (int k = 0; key && k < def->weight_count; ++k)
        given = given || strcmp(def->weights[k].key, key) == 0;
    for (int n = section->name_begin; n < section->name_end; ++n) weights[n] = given ? 0.0f : 1.0f;
    if (!given) return;
    th_at(c, "groups[%d].%s", i, key);
    if (!group_uses(&c->scene->groups[i], section->model))
        th_bad(c, "the group does not use the model that this is for; add \"%s\" to \"%s\"",
               model->name, th_stage_name(model->stage));
    for (int k = 0; k < def->weight_count && c->result == TH_OK; ++k)
        if (def->weights[k].name && strcmp(def->weights[k].key, key) == 0)
            set_weight(c, section, &def->weights[k], weights);
}

static bool cares_for(const th_section *section, const th_item *item, const float *weights) {
    const th_key_info *name = th_section_key(section->info, TH_KEY_NAME);
    const char *at = (const char *)item;
    return !name || weights[*(const int *)(const void *)(at + name->offset)] != 0.0f;
}

// A target for each place of the section that the group cares for, after those of the route.
static void add_detours(th_compiler *c, int i, const th_section *section, int *route) {
    th_scene *scene = c->scene;
    th_group *group = &c->list.groups[i];
    for (int g = 0; g < scene->goal_count && c->result == TH_OK; ++g) {
        const th_item *item = scene->goals[g].item;
        if (!is_in(section, item) || !cares_for(section, item, group->weights)) continue;
        int *goals = th_take(c, 1, sizeof *goals);
        if (!goals) return;
        goals[0] = g;
        route[group->route_count + group->detour_count++] = th_target_of(c, goals, 1);
    }
}

// Weights of names without a section that the scene has are refused by name.
static void check_weight_keys(th_compiler *c, int i) {
    const th_group_def *def = &c->def->groups[i];
    const char *keys[TH_SECTION_MAX];
    int count = th_section_group_keys(keys);
    for (int k = 0; k < def->weight_count; ++k) {
        bool known = false;
        for (int j = 0; j < count; ++j)
            known = known || (def->weights[k].key && strcmp(def->weights[k].key, keys[j]) == 0);
        th_at(c, "groups[%d].weights[%d].key", i, k);
        if (!known) th_bad(c, "no model declares a key of groups of this name");
    }
}

void th_compile_weights(th_compiler *c, int i, int *route) {
    const th_scene *scene = c->scene;
    th_group *group = &c->list.groups[i];
    float *weights = th_take(c, (size_t)scene->name_count, sizeof *weights);
    if (!weights) return;
    group->weights = weights;
    check_weight_keys(c, i);
    for (int k = 0; k < scene->section_count && c->result == TH_OK; ++k) {
        const th_section *section = &scene->sections[k];
        set_weights(c, i, section, weights);
        if (section->info->detours && group_uses(group, section->model))
            add_detours(c, i, section, route);
    }
}
