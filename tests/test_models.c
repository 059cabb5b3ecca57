// The table of models and the choice of one. SPDX-License-Identifier: Apache-2.0
#include "filter/densesense/densesense.h"
#include "filter/keep_side/keep_side.h"
#include "move/helbing_molnar/helbing_molnar.h"
#include "move/orca/orca.h"
#include "move/social_force/social_force.h"
#include "registry/models.h"
#include "scene/scene.h"
#include "support.h"
#include <string.h>

static void table(void **state) {
    (void)state;
    int count = 0;
    const th_model *const *models = th_models(&count);
    assert_int_equal(count, TH_BUILT_IN_MODELS);
    for (int i = 0; i < count; ++i) {
        int found = th_model_find(models[i]->stage, models[i]->name);
        assert_int_equal(found, models[i]->internal ? -1 : i);
        assert_true(models[i]->doc[0] && models[i]->source[0]);
        for (int k = 0; k < models[i]->param_count; ++k) {
            const th_param_info *p = &models[i]->params[k];
            assert_true(p->min <= p->value && p->value <= p->max);
            assert_true(p->unit[0] && p->source[0] && p->doc[0]);
            for (int j = 0; j < k; ++j) assert_string_not_equal(p->name, models[i]->params[j].name);
        }
    }
    // Every move model passes its separation_passes on to contact.
    for (int i = 0; i < count; ++i) {
        if (models[i]->stage != TH_STAGE_MOVE || models[i]->internal) continue;
        float params[TH_PARAM_MAX] = {0};
        for (int k = 0; k < models[i]->param_count; ++k)
            params[k] = (float)models[i]->params[k].value;
        params[th_model_find_param(models[i], "separation_passes")] = 13.0f;
        assert_int_equal(th_model_body(models[i], params).separation_passes, 13);
    }
    const th_stage stages[] = {TH_STAGE_BEHAVE, TH_STAGE_PLAN, TH_STAGE_FILTER, TH_STAGE_MOVE};
    for (int k = 0; k < 4; ++k) {
        int defaults = 0;
        for (int i = 0; i < count; ++i)
            defaults += models[i]->stage == stages[k] && models[i]->is_default;
        assert_int_equal(defaults, 1);
    }
    assert_string_equal(models[TH_PLAN_FIELD]->name, "field");
    assert_string_equal(models[TH_MOVE_SOCIAL_FORCE]->name, "social_force");
    assert_int_equal(th_model_find(TH_STAGE_PLAN, "orca"), -1);
}

// The stages read the floats as a struct: table and struct must have the same members in order.
static void structs_agree(void **state) {
    (void)state;
    int count = 0;
    const th_model *const *models = th_models(&count);
    assert_int_equal(models[TH_MOVE_ORCA]->param_count, sizeof(th_orca_params) / sizeof(float));
    assert_int_equal(models[TH_MOVE_SOCIAL_FORCE]->param_count,
                     sizeof(th_social_force_params) / sizeof(float));
    assert_int_equal(models[TH_MOVE_HELBING_MOLNAR]->param_count,
                     sizeof(th_helbing_molnar_params) / sizeof(float));
    assert_int_equal(models[TH_FILTER_DENSESENSE]->param_count,
                     sizeof(th_densesense_params) / sizeof(float));
    assert_int_equal(models[TH_FILTER_KEEP_SIDE]->param_count,
                     sizeof(th_keep_side_params) / sizeof(float));
    th_model_choice choice;
    th_model_def def = {.name = "orca"};
    assert_int_equal(
        th_model_choose(TH_STAGE_MOVE, &def, false, false, "groups[0].move", &choice, NULL), TH_OK);
    th_orca_params params;
    memcpy(&params, choice.params, sizeof params);
    assert_float_equal(params.time_horizon, 2.0f, 0);
    assert_float_equal(params.max_neighbours, 10.0f, 0);
}

static void every_preset(void **state) {
    (void)state;
    int count = 0, presets = 0;
    const th_model *const *models = th_models(&count);
    for (int i = 0; i < count; ++i)
        for (int k = 0; k < models[i]->preset_count; ++k, ++presets) {
            th_model_def def = {.name = models[i]->name, .preset = models[i]->presets[k].name};
            th_model_choice choice;
            th_error error = {0};
            if (th_model_choose(models[i]->stage, &def, false, false, "move", &choice, &error) !=
                TH_OK)
                fail_msg("%s", error.message);
        }
    assert_int_equal(models[TH_MOVE_SOCIAL_FORCE]->preset_count, 2);
    assert_int_equal(models[TH_MOVE_HELBING_MOLNAR]->preset_count, 1);
    assert_string_equal(models[TH_MOVE_HELBING_MOLNAR]->presets[0].name, "hm1995");
    assert_true(presets >= 3);
}

static void values_on_top_of_presets(void **state) {
    (void)state;
    th_param substep = {"substep", 0.02};
    th_model_def def = {
        .name = "social_force", .preset = "menge_soft", .params = &substep, .param_count = 1};
    th_model_choice choice;
    assert_int_equal(th_model_choose(TH_STAGE_MOVE, &def, false, false, "move", &choice, NULL),
                     TH_OK);
    th_social_force_params params;
    memcpy(&params, choice.params, sizeof params);
    assert_float_equal(params.substep, 0.02f, 1e-7);
    assert_float_equal(params.repulsion_distance, 0.015f, 1e-7);
}

static void expect(const th_model_def *def, const char *path, const char *message) {
    th_model_choice choice;
    th_error error = {0};
    assert_int_equal(
        th_model_choose(TH_STAGE_MOVE, def, false, false, "groups[2].move", &choice, &error),
        TH_BAD_SCENE);
    assert_string_equal(error.path, path);
    assert_string_equal(error.message, message);
}

static void messages(void **state) {
    (void)state;
    expect(&(th_model_def){.name = "socialforce"}, "groups[2].move",
           "unknown move model \"socialforce\"; did you mean \"social_force\"?");
    expect(&(th_model_def){.name = "xx"}, "groups[2].move",
           "unknown move model \"xx\"; known: people, orca, social_force, helbing_molnar, "
           "collision_free_speed, anticipation_velocity, power_law, uic, pbd, hidac, colonization");
    expect(&(th_model_def){.name = "social_force", .preset = "menge_sof"}, "groups[2].move.preset",
           "unknown preset of social_force \"menge_sof\"; did you mean \"menge_soft\"?");
    expect(&(th_model_def){.name = "orca", .params = &(th_param){"max_sped", 1}, .param_count = 1},
           "groups[2].move.max_sped",
           "unknown parameter of orca \"max_sped\"; did you mean \"max_speed\"?");
    expect(
        &(th_model_def){.name = "orca", .params = &(th_param){"max_speed", 99}, .param_count = 1},
        "groups[2].move.max_speed", "max_speed is 99; it must lie in 0.01 .. 10 m/s (default 2)");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table),        cmocka_unit_test(structs_agree),
        cmocka_unit_test(every_preset), cmocka_unit_test(values_on_top_of_presets),
        cmocka_unit_test(messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
