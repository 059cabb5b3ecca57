// Verification suites: what is asked, what was measured, whether it holds. A test is a row of a suite's table
// with a function that runs its crowds; results do not depend on how many tests run at once.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_VALIDATE_VALIDATE_H
#define TH_VALIDATE_VALIDATE_H
#include "record/moment.h"
#include "throng/throng.h"

typedef enum th_verdict { TH_PASS, TH_FAIL, TH_NOT_APPLICABLE, TH_REPORTED } th_verdict;
const char *th_verdict_word(th_verdict verdict); // "pass", "fail", "not applicable", "reported"

// The models that a test's scene names, and its people: JSON as in a scene file. NULL: the scene does not say, so
// that its people have the defaults.
typedef struct th_models_choice {
    const char *behave, *plan, *filter, *move;
    const char *radius; // [m]
} th_models_choice;
// The members of a group that say so, each behind `separator`: `, "move": "orca"`.
enum { TH_CHOICE_TEXT = 1600 };
void th_choice_text(const th_models_choice *choice, const char *separator,
                    char text[TH_CHOICE_TEXT]);

// The models of every test's people, and the number of crowds of statistical tests.
typedef struct th_suite_setup {
    const char *plan, *filter, *move; // as in a scene file: a name, or a JSON object
    const char *behave;               // of groups whose scene names none; NULL: the default
    int crowds;                       // seeds 1 .. crowds
} th_suite_setup;
// The default of every stage, three crowds.
th_suite_setup th_suite_setup_default(void);

// Numbers behind a verdict: a sample (one value per crowd or person), or a curve of y over x.
typedef struct th_series {
    char name[80];
    const char *unit, *unit_x; // unit_x NULL: a sample
    double *x, *y;
    int count;
    double low, high; // where the rule wants them; NaN: no such bound
    bool reference;   // measured with people, not simulated
} th_series;

// The plan with all people on it at an instructive moment.
typedef struct th_suite_picture {
    th_scene *scene; // owned
    th_world_moment crowd;
    bool *door_closed;
    double time;
    uint64_t left;
} th_suite_picture;

enum { TH_SERIES_MAX = 12 };
typedef struct th_outcome {
    th_verdict verdict;
    char measured[640];
    char remark[640]; // why it is not applicable, why it failed, how a rule was read
    th_series series[TH_SERIES_MAX];
    int series_count;
    th_suite_picture picture; // scene NULL: none
    int runs;                 // worlds simulated
    double seconds;           // of the wall clock; not part of any result file
} th_outcome;
void th_outcome_release(th_outcome *outcome);

typedef struct th_trial th_trial;
typedef struct th_suite_test {
    const char *number, *title;
    char feature;       // F: flat, S: stairs or slow zones, X: needs what throng does not simulate
    const char *asked;  // the rule with its numbers
    const char *source; // where numbers come from that the guideline does not give
    void (*run)(th_trial *trial); // NULL: not applicable, for the reason in `source`
    int cost;                     // rough seconds; the longest begin first
} th_suite_test;

typedef struct th_suite {
    const char *name, *title, *document;
    const th_suite_test *tests;
    int test_count;
} th_suite;
// RiMEA, IMO, NIST, ISO, Juelich.
const th_suite *const *th_suites(int *count);

// Runs one test. Always returns: whatever goes wrong becomes a failed test with the reason.
void th_suite_run_test(const th_suite_setup *setup, const th_suite *suite,
                       const th_suite_test *test, th_outcome *outcome);

// A choice of tests and their outcomes, in the order of the tables.
typedef struct th_validation_entry {
    const th_suite *suite;
    const th_suite_test *test;
    th_outcome outcome;
} th_validation_entry;

typedef struct th_validation {
    th_suite_setup setup;
    th_validation_entry *entries;
    int count;
    int totals[TH_REPORTED + 1]; // by verdict
    bool interrupted;            // some were not run: no totals, nothing worth writing
} th_validation;

// All tests of `suite` (NULL or "all": of every suite), or the one numbered `only` where that is not NULL
// ("rimea 9" or "9" within a suite). TH_BAD_ARGUMENT with the nearest name when there is none such.
th_result th_validation_choose(th_validation *validation, const char *suite, const char *only,
                               th_error *error);
// Runs them, `jobs` at a time (0: one per core). `seen` (or NULL) is called from the caller's thread with
// how many are done; false stops before the next test begins.
typedef bool th_validation_progress(int done, int count, const char *running, void *context);
th_result th_validation_run(th_validation *validation, int jobs, th_validation_progress *seen,
                            void *context, th_error *error);
void th_validation_release(th_validation *validation);

// The same content for machines and for readers. Both hold nothing
// that changes from run to run.
th_result th_validation_write_json(const th_validation *validation, const char *path,
                                   th_error *error);
th_result th_validation_write_page(const th_validation *validation, const char *path,
                                   th_error *error);
#endif
