// The suites, a choice of their tests, and running them over the cores. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/pool.h"
#include "core/system/system.h"
#include "throng/model.h"
#include "throng/scene_view.h"
#include "validate/suite_parts.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *th_verdict_word(th_verdict verdict) {
    static const char *const words[] = {"pass", "fail", "not applicable", "reported"};
    return words[verdict];
}

// The models of groups whose scene names none.
th_suite_setup th_suite_setup_default(void) {
    const th_model *const *models = th_models(NULL);
    return (th_suite_setup){.plan = models[th_stage_default_model(TH_STAGE_PLAN)]->name,
                            .filter = models[th_stage_default_model(TH_STAGE_FILTER)]->name,
                            .move = models[th_stage_default_model(TH_STAGE_MOVE)]->name,
                            .crowds = 3};
}

const th_suite *const *th_suites(int *count) {
    static const th_suite *const list[] = {&th_suite_rimea, &th_suite_imo, &th_suite_nist,
                                           &th_suite_iso, &th_suite_juelich};
    *count = (int)(sizeof list / sizeof *list);
    return list;
}

// ---- one test

void th_outcome_release(th_outcome *outcome) {
    for (int i = 0; i < outcome->series_count; ++i) {
        free(outcome->series[i].x);
        free(outcome->series[i].y);
    }
    if (outcome->picture.scene) th_world_moment_release(&outcome->picture.crowd);
    free(outcome->picture.door_closed);
    th_scene_destroy(outcome->picture.scene);
    *outcome = (th_outcome){0};
}

void th_suite_run_test(const th_suite_setup *setup, const th_suite *suite,
                       const th_suite_test *test, th_outcome *outcome) {
    *outcome = (th_outcome){.verdict = TH_NOT_APPLICABLE};
    th_trial trial = {setup, suite, test, outcome, false};
    double started = th_monotonic_seconds();
    if (test->run) {
        test->run(&trial);
        if (!trial.judged) th_trial_fail(&trial, "the test did not come to a verdict");
    } else {
        th_trial_remark(&trial, "%s", test->source);
    }
    outcome->seconds = th_monotonic_seconds() - started;
}

// ---- a choice of tests

static const th_suite *find_suite(const char *name) {
    int count;
    const th_suite *const *suites = th_suites(&count);
    for (int i = 0; i < count; ++i)
        if (strcmp(suites[i]->name, name) == 0) return suites[i];
    return NULL;
}

static th_result unknown_suite(const char *name, th_error *error) {
    int count;
    const th_suite *const *suites = th_suites(&count);
    const char *words[16] = {"all"};
    for (int i = 0; i < count; ++i) words[i + 1] = suites[i]->name;
    const char *near = th_nearest_word(name, words, count + 1);
    return th_fail(error, TH_BAD_ARGUMENT, "", "no suite called '%s'; %s%s%s", name,
                   near ? "did you mean " : "there are rimea, imo, nist, iso, juelich, all",
                   near ? near : "", near ? "?" : "");
}

// "rimea 9", "rimea9" or "9": the number, with or without its suite before it.
static bool is_meant(const th_suite *suite, const th_suite_test *test, const char *only) {
    size_t length = strlen(suite->name);
    if (strncasecmp(only, suite->name, length) == 0) {
        only += length;
        while (*only == ' ' || *only == '_' || *only == '-') ++only;
    }
    return strcasecmp(only, test->number) == 0;
}

static void choose(th_validation *validation, const char *suite, const char *only) {
    int suite_count;
    const th_suite *const *suites = th_suites(&suite_count);
    for (int s = 0; s < suite_count; ++s) {
        if (suite && strcmp(suite, suites[s]->name) != 0) continue;
        for (int t = 0; t < suites[s]->test_count; ++t) {
            if (only && !is_meant(suites[s], &suites[s]->tests[t], only)) continue;
            validation->entries[validation->count++] =
                (th_validation_entry){.suite = suites[s], .test = &suites[s]->tests[t]};
        }
    }
}

th_result th_validation_choose(th_validation *validation, const char *suite, const char *only,
                               th_error *error) {
    if (suite && strcmp(suite, "all") == 0) suite = NULL;
    if (suite && !find_suite(suite)) return unknown_suite(suite, error);
    int suite_count, most = 0;
    const th_suite *const *suites = th_suites(&suite_count);
    for (int s = 0; s < suite_count; ++s) most += suites[s]->test_count;
    validation->entries = calloc((size_t)most, sizeof *validation->entries);
    if (!validation->entries) return th_fail(error, TH_NO_MEMORY, "", "no memory for the tests");
    choose(validation, suite, only);
    if (validation->count > 0) return TH_OK;
    th_validation_release(validation);
    return th_fail(error, TH_BAD_ARGUMENT, "",
                   "no test numbered '%s'%s%s; `throng validate --list` shows them", only,
                   suite ? " in " : "", suite ? suite : "");
}

void th_validation_release(th_validation *validation) {
    for (int i = 0; i < validation->count; ++i) th_outcome_release(&validation->entries[i].outcome);
    free(validation->entries);
    validation->entries = NULL;
    validation->count = 0;
}

// ---- running them

typedef struct running {
    th_validation *validation;
    th_validation_progress *seen;
    void *context;
} running;

static void run_entry(void *context, int index) {
    th_validation *validation = ((running *)context)->validation;
    th_validation_entry *entry = &validation->entries[index];
    th_suite_run_test(&validation->setup, entry->suite, entry->test, &entry->outcome);
}

static bool show_progress(void *context, const th_pool_progress *progress) {
    running *r = context;
    const char *title =
        progress->newest >= 0 ? r->validation->entries[progress->newest].test->title : "";
    return !r->seen || r->seen(progress->done, r->validation->count, title, r->context);
}

// The longest first. Insertion sort: a hundred tests, and equal costs stay in order.
static void order_by_cost(const th_validation *validation, int *order) {
    const th_validation_entry *entries = validation->entries;
    for (int i = 0; i < validation->count; ++i) {
        int at = i;
        for (; at > 0 && entries[order[at - 1]].test->cost < entries[i].test->cost; --at)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

// A model that does not exist is the caller's mistake, not a failed test.
static th_result try_models(const th_suite_setup *setup, th_error *error) {
    th_outcome outcome = {0};
    th_suite_test nothing = {.number = "", .title = ""};
    th_trial trial = {setup, NULL, &nothing, &outcome, false};
    th_case one;
    bool good = th_case_open(&one, &trial, "rimea_01_corridor", 1, NULL);
    if (good) th_case_close(&one);
    return good ? TH_OK : th_fail(error, TH_BAD_ARGUMENT, "", "%s", outcome.remark);
}

th_result th_validation_run(th_validation *validation, int jobs, th_validation_progress *seen,
                            void *context, th_error *error) {
    th_result result = try_models(&validation->setup, error);
    if (result != TH_OK) return result;
    int *order = calloc((size_t)validation->count, sizeof *order);
    if (!order) return th_fail(error, TH_NO_MEMORY, "", "no memory for the tests");
    order_by_cost(validation, order);
    running r = {validation, seen, context};
    th_pool_def pool = {.count = validation->count,
                        .threads = jobs,
                        .order = order,
                        .run = run_entry,
                        .waiting = show_progress,
                        .context = &r};
    th_pool_progress progress;
    result = th_pool_run(&pool, &progress, error);
    free(order);
    bool complete = result == TH_OK && progress.done == validation->count;
    for (int i = 0; complete && i < validation->count; ++i)
        ++validation->totals[validation->entries[i].outcome.verdict];
    validation->interrupted = !complete;
    return result;
}
