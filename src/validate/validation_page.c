// validation.html: one file with everything in it, to be handed to an authority.
// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/file.h"
#include "report/page.h"
#include "throng/scene_view.h"
#include "validate/suite_parts.h"
#include "validate/validate.h"
#include "validate/validation_figures.h"
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>

static const char style[] =
    ".pass{color:#00664a}.fail{color:#b03a00;font-weight:700}.reported{color:#005a8c}.na{color:#"
    "555}"
    ".v{white-space:nowrap;font-weight:600}article{border-top:1px solid #bbb;margin-top:1.6rem}"
    "article figure{margin:.8rem 0}@media print{article{break-inside:avoid}}";

static const char *class_of(th_verdict verdict) {
    static const char *const names[] = {"pass", "fail", "na", "reported"};
    return names[verdict];
}

static void anchor(th_text *page, const th_validation_entry *entry) {
    th_text_add(page, "%s-%s", entry->suite->name, entry->test->number);
}

static void add_head(th_text *page, const th_validation *validation) {
    th_text_put(page, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                      "<title>Verification of throng</title>\n<style>");
    th_text_put(page, th_page_style);
    th_text_put(page, style);
    th_text_put(page,
                "</style></head>\n<body>\n<header><p class=\"note\">Verification report, throng ");
    th_text_escaped(page, th_version());
    th_text_put(page,
                "</p><h1>Verification of a crowd model</h1></header>\n<section class=\"answer\"><p "
                "class=\"headline\">");
    th_text_add(page, "%d tests: %d pass, %d fail, %d reported, %d not applicable.</p>",
                validation->count, validation->totals[TH_PASS], validation->totals[TH_FAIL],
                validation->totals[TH_REPORTED], validation->totals[TH_NOT_APPLICABLE]);
    th_text_put(page, "<p>Reported: the rule gives no bound, or a bound that contradicts "
                      "measurements with people "
                      "(the remark says so). Not applicable: needs what throng does not "
                      "simulate.</p></section>\n");
}

// ---- what was simulated

static void add_model(th_text *page, const char *stage, const th_model_choice *choice) {
    const th_model *model = th_models(NULL)[choice->model];
    th_text_add(page, "<h3>%s: %s</h3><p>", stage, model->name);
    th_text_escaped(page, model->doc);
    th_text_put(page, ". Source: ");
    th_text_escaped(page, model->source);
    th_text_put(page, ".</p>\n");
    if (model->param_count == 0) return;
    th_text_put(
        page,
        "<div class=\"wide\"><table><thead><tr><th>parameter</th><th class=\"n\">value</th><th "
        "class=\"n\">default</th><th>unit</th><th>meaning</th><th>source</th></tr></"
        "thead><tbody>\n");
    for (int i = 0; i < model->param_count; ++i) {
        const th_param_info *p = &model->params[i];
        bool changed = choice->params[i] != (float)p->value;
        th_text_add(
            page,
            "<tr><td><code>%s</code></td><td class=\"n\">%s%g%s</td><td class=\"n\">%g</td><td>",
            p->name, changed ? "<strong>" : "", (double)choice->params[i],
            changed ? "</strong>" : "", p->value);
        th_text_escaped(page, p->unit);
        th_text_put(page, "</td><td>");
        th_text_escaped(page, p->doc);
        th_text_put(page, "</td><td>");
        th_text_escaped(page, p->source);
        th_text_put(page, "</td></tr>\n");
    }
    th_text_put(page, "</tbody></table></div>\n");
}

static void add_models(th_text *page, const th_validation *validation) {
    th_outcome outcome = {0};
    th_suite_test nothing = {.number = "", .title = ""};
    th_trial trial = {&validation->setup, NULL, &nothing, &outcome, false};
    th_case one;
    if (!th_case_open(&one, &trial, "rimea_01_corridor", 1, NULL))
        return; // run before: cannot fail but for memory
    const th_group *group = &one.scene->groups[0];
    add_model(page, "Plan", &group->plan);
    add_model(page, "Filter", &group->filter);
    add_model(page, "Move", &group->move);
    th_case_close(&one);
}

static void add_setup(th_text *page, const th_validation *validation) {
    th_text_put(page, "<section id=\"models\"><h2>Models and parameters</h2>\n<p>The same for "
                      "every test. Values that "
                      "differ from the defaults are bold.</p>\n");
    add_models(page, validation);
    th_text_put(page, "</section>\n<section id=\"assumptions\"><h2>Assumptions</h2><ul>");
    th_text_add(
        page,
        "<li>Seeds 1 to %d: tests that depend on chance are judged by the mean of %d crowds.</li>",
        validation->setup.crowds, validation->setup.crowds);
    th_text_put(
        page,
        "<li>People: radius 0.2 m, mass 80 kg, preferred speed normal 1.34 m/s, 0.26 m/s within "
        "0.5 to 2.2 m/s "
        "(Weidmann 1993), unless a test prescribes others.</li>"
        "<li>Time step 0.1 s; force models cut it into sub-steps of their own.</li>"
        "<li>Stairs are drawn along the slope; their speed factors are those on the steps.</li>"
        "<li>Everybody knows the plan and takes the nearest of the exits allowed, by walking "
        "distance.</li>"
        "<li>The rules are those of the published descriptions named beside each test; where a "
        "guideline gives "
        "words only, the bound and its origin are named.</li>"
        "<li>Every run is checked once a simulated second: nobody lost, nobody in a wall. One that "
        "is not fails "
        "its test.</li></ul></section>\n");
}

// ---- the tests

static void add_verdict(th_text *page, const th_outcome *outcome) {
    th_text_add(page, "<span class=\"v %s\">%s</span>", class_of(outcome->verdict),
                th_verdict_word(outcome->verdict));
}

static void add_table(th_text *page, const th_validation *validation) {
    const th_suite *suite = NULL;
    th_text_put(page, "<section id=\"table\"><h2>Tests</h2>\n");
    for (int i = 0; i < validation->count; ++i) {
        const th_validation_entry *entry = &validation->entries[i];
        if (entry->suite != suite) {
            if (suite) th_text_put(page, "</tbody></table></div>\n");
            suite = entry->suite;
            th_text_add(page, "<h3 id=\"%s\">%s</h3><p class=\"note\">", suite->name, suite->title);
            th_text_escaped(page, suite->document);
            th_text_put(
                page,
                "</p><div "
                "class=\"wide\"><table><thead><tr><th>test</th><th>asked</th><th>measured</th>"
                "<th>verdict</th></tr></thead><tbody>\n");
        }
        th_text_put(page, "<tr><td><a href=\"#");
        anchor(page, entry);
        th_text_add(page, "\">%s&nbsp;%s</a> %s</td><td>", suite->title, entry->test->number,
                    entry->test->title);
        th_text_escaped(page, entry->test->asked);
        th_text_put(page, "</td><td>");
        th_text_escaped(page,
                        *entry->outcome.measured ? entry->outcome.measured : entry->outcome.remark);
        th_text_put(page, "</td><td>");
        add_verdict(page, &entry->outcome);
        th_text_put(page, "</td></tr>\n");
    }
    th_text_put(page, suite ? "</tbody></table></div></section>\n" : "</section>\n");
}

static void add_row(th_text *page, const char *name, const char *words) {
    if (!words || !*words) return;
    th_text_add(page, "<dt>%s</dt><dd>", name);
    th_text_escaped(page, words);
    th_text_put(page, "</dd>");
}

static bool add_figure(th_text *page, th_validation_draw *draw, const th_validation_entry *entry,
                       const char *kind, const char *caption) {
    char prefix[80], label[200];
    snprintf(prefix, sizeof prefix, "%s-%s-%s", entry->suite->name, entry->test->number, kind);
    for (char *at = prefix; *at; ++at)
        if (*at == '.') *at = '_'; // in url(#...) a point is fine, in style sheets it is not
    snprintf(label, sizeof label, "%s %s: %s", entry->suite->title, entry->test->number, kind);
    th_text_put(page, "<figure>");
    bool good = th_validation_add_figure(page, draw, &entry->outcome, prefix, label);
    th_text_add(page, "<figcaption>%s</figcaption></figure>\n", caption);
    return good;
}

static bool add_test(th_text *page, const th_validation_entry *entry) {
    const th_outcome *outcome = &entry->outcome;
    bool good = true;
    th_text_put(page, "<article id=\"");
    anchor(page, entry);
    th_text_add(page, "\"><h3>%s %s: %s</h3><p>", entry->suite->title, entry->test->number,
                entry->test->title);
    add_verdict(page, outcome);
    th_text_put(page, "</p><dl class=\"method\">");
    add_row(page, "Asked", entry->test->asked);
    if (entry->test->run) add_row(page, "Source of the rule", entry->test->source);
    add_row(page, "Measured", outcome->measured);
    add_row(page, entry->test->run ? "Remark" : "Reason", outcome->remark);
    if (outcome->runs > 0) th_text_add(page, "<dt>Simulations</dt><dd>%d</dd>", outcome->runs);
    th_text_put(page, "</dl>\n");
    if (outcome->picture.scene)
        good = add_figure(page, th_validation_draw_plan, entry, "plan",
                          "The plan with everybody on it in the first crowd.");
    if (good && th_validation_has_samples(outcome))
        good = add_figure(page, th_validation_draw_samples, entry, "values",
                          "Dots: one per crowd; bars: how many values. Pale: what the rule allows. "
                          "In brackets: how many "
                          "values.");
    if (good && th_validation_has_curves(outcome))
        good = add_figure(page, th_validation_draw_curves, entry, "curves",
                          "Coloured with dots: simulated. Black, dashed: measured with people.");
    th_text_put(page, "</article>\n");
    return good;
}

static bool add_everything(th_text *page, const th_validation *validation) {
    bool good = true;
    add_head(page, validation);
    add_table(page, validation);
    add_setup(page, validation);
    th_text_put(page, "<section id=\"details\"><h2>Every test</h2>\n");
    for (int i = 0; good && i < validation->count; ++i)
        good = add_test(page, &validation->entries[i]);
    th_text_put(page, "</section>\n<footer><p>throng ");
    th_text_escaped(page, th_version());
    th_text_put(page, ", ");
    th_text_escaped(page, th_build_info());
    th_text_put(
        page,
        ". The same command gives the same numbers with any number of jobs. The scenes are in "
        "<code>scenes/verification</code>.</p></footer></body></html>\n");
    return good && !page->failed;
}

th_result th_validation_write_page(const th_validation *validation, const char *path,
                                   th_error *error) {
    th_text page = {0};
    th_result result =
        add_everything(&page, validation)
            ? th_text_write(&page, NULL, path, TH_FLUSHED, error)
            : th_fail(error, TH_NO_MEMORY, "", "no memory for the report; free some");
    th_text_release(&page);
    return result;
}

// ---- validation.json: every test with its rule, what was measured and the numbers behind it

static json_t *number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

static json_t *series_json(const th_series *series) {
    json_t *object = json_object(), *x = json_array(), *y = json_array();
    for (int i = 0; i < series->count; ++i) {
        json_array_append_new(x, number(series->x[i]));
        json_array_append_new(y, number(series->y[i]));
    }
    json_object_set_new(object, "name", json_string(series->name));
    json_object_set_new(object, "unit", json_string(series->unit));
    json_object_set_new(object, "measured_with_people", json_boolean(series->reference));
    if (series->unit_x) {
        json_object_set_new(object, "unit_x", json_string(series->unit_x));
        json_object_set(object, "x", x);
    }
    json_object_set(object, series->unit_x ? "y" : "values", y);
    if (isfinite(series->low)) json_object_set_new(object, "asked_least", number(series->low));
    if (isfinite(series->high)) json_object_set_new(object, "asked_most", number(series->high));
    json_decref(x);
    json_decref(y);
    return object;
}

static json_t *entry_json(const th_validation_entry *entry) {
    const th_outcome *outcome = &entry->outcome;
    char feature[2] = {entry->test->feature, 0};
    json_t *series = json_array();
    for (int i = 0; i < outcome->series_count; ++i)
        json_array_append_new(series, series_json(&outcome->series[i]));
    return json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:i,s:o}", "suite", entry->suite->name,
                     "number", entry->test->number, "title", entry->test->title, "feature", feature,
                     "asked", entry->test->asked, "source",
                     entry->test->run ? entry->test->source : "", "verdict",
                     th_verdict_word(outcome->verdict), "measured", outcome->measured, "remark",
                     outcome->remark, "runs", outcome->runs, "series", series);
}

static json_t *validation_json(const th_validation *validation) {
    const th_suite_setup *setup = &validation->setup;
    json_t *tests = json_array(), *totals = json_object(), *seeds = json_array();
    for (int i = 0; i < validation->count; ++i)
        json_array_append_new(tests, entry_json(&validation->entries[i]));
    for (int v = 0; v <= TH_REPORTED; ++v)
        json_object_set_new(totals, th_verdict_word((th_verdict)v),
                            json_integer(validation->totals[v]));
    for (int seed = 1; seed <= setup->crowds; ++seed)
        json_array_append_new(seeds, json_integer(seed));
    return json_pack("{s:s,s:s,s:s*,s:s,s:s,s:s,s:o,s:o,s:o}", "throng", th_version(), "build",
                     th_build_info(), "behave", setup->behave, "plan",
                     setup->plan ? setup->plan : "field", "filter",
                     setup->filter ? setup->filter : "none", "move", setup->move, "seeds", seeds,
                     "totals", totals, "tests", tests);
}

th_result th_validation_write_json(const th_validation *validation, const char *path,
                                   th_error *error) {
    json_t *object = validation_json(validation);
    if (!object) return th_fail(error, TH_NO_MEMORY, "", "no memory for the report; free some");
    th_file_writer writer;
    th_file_begin(&writer, NULL, path);
    if (writer.file &&
        json_dumpf(object, writer.file, JSON_INDENT(1) | JSON_REAL_PRECISION(8)) != 0)
        writer.cause = errno ? errno : -1;
    json_decref(object);
    return th_file_end(&writer, TH_FLUSHED, error);
}
