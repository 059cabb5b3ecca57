// validation.json: every test with its rule, what was measured and the numbers behind it.
// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/file.h"
#include "validate/validate.h"
#include <errno.h>
#include <jansson.h>
#include <math.h>

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
    return json_pack("{s:s,s:s,s:s,s:s,s:s,s:o,s:o,s:o}", "throng", th_version(), "build",
                     th_build_info(), "plan", setup->plan ? setup->plan : "field", "filter",
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
