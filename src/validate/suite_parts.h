// Shared by the tests of all suites: scenes by stem, worlds by seed, single people, samples, words.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_VALIDATE_SUITE_PARTS_H
#define TH_VALIDATE_SUITE_PARTS_H
#include "validate/validate.h"
#include <math.h>

// The scenes of scenes/verification, built into the program so that it needs no files; written by
// tools/embed-scenes.cmake.
typedef struct th_embedded_scene {
    const char *stem;
    const unsigned char *text;
    size_t length;
} th_embedded_scene;
extern const th_embedded_scene th_embedded_scenes[];
extern const int th_embedded_scene_count;

struct th_trial {
    const th_suite_setup *setup;
    const th_suite *suite;
    const th_suite_test *test;
    th_outcome *outcome;
    bool judged;
};

// Adds to what was measured, to the remark.
#if defined(__GNUC__)
#define TH_WORDS __attribute__((format(printf, 2, 3)))
#else
#define TH_WORDS
#endif
TH_WORDS void th_trial_say(th_trial *trial, const char *format, ...);
TH_WORDS void th_trial_remark(th_trial *trial, const char *format, ...);
// Every condition of the rule goes through here: one that does not hold fails the test for good.
void th_trial_judge(th_trial *trial, bool holds);
// Fails the test with a sentence, whatever its rule asks.
TH_WORDS void th_trial_fail(th_trial *trial, const char *format, ...);
// A test that asks for documentation only.
void th_trial_report(th_trial *trial);
bool th_trial_failed(const th_trial *trial);

// A scene and one crowd in it.
typedef struct th_case {
    th_trial *trial;
    th_scene *scene;
    th_world *world;
    th_world_moment now; // as last looked at
    uint64_t steps;
} th_case;

// scenes/verification/<stem>.json with the setup's models in every group and further overrides
// ("groups[0].count=50") on top, a list that ends with NULL, or NULL. False: the test has failed.
bool th_case_open(th_case *one, th_trial *trial, const char *stem, uint64_t seed,
                  const char *const *overrides);
// The same with models as the scene file has them.
bool th_case_open_as_is(th_case *one, th_trial *trial, const char *stem, uint64_t seed, int threads,
                        const char *const *overrides);
void th_case_close(th_case *one);
// One step. No person may be lost or in a wall (checked once a second). False: over, at `limit` seconds or
// because no person is on the way any more.
bool th_case_step(th_case *one, double limit);
// Steps to the end; fails the test when people are still on the way then. Returns the time.
double th_case_finish(th_case *one, double limit);
// Keeps the plan and the crowd as they are now for the report, once per test; later calls do nothing.
void th_case_picture(th_case *one);
// Steps to `time`, then th_case_picture.
void th_case_picture_at(th_case *one, double time);

// One row of a moment.
typedef struct th_person_now {
    double x, y, velocity_x, velocity_y;
    double speed; // preferred [m/s]
    double wait_until;
    uint32_t id, level, group, phase;
} th_person_now;

// All people in id order, at most `most`; returns how many.
int th_case_everybody(th_case *one, th_person_now *people, int most);
bool th_case_find(th_case *one, uint32_t id, th_person_now *found);
// Steps until person `id` has come `distance` metres from (x, y) along the unit direction, interpolated
// within the step; NaN, and a failed test, when that takes longer than `limit` or the person leaves first.
double th_case_time_to_come(th_case *one, uint32_t id, double x, double y, double direction_x,
                            double direction_y, double distance, double limit);
// Counting lines and areas by id; a missing one is a bug of the scene.
th_line_count th_case_line(th_case *one, const char *id);
th_area_state th_case_area(th_case *one, const char *id);

// A sample, or a curve where unit_x is not NULL; bounds NaN where there are none. Returns its number.
int th_trial_series(th_trial *trial, const char *name, const char *unit, const char *unit_x,
                    double low, double high);
void th_trial_value(th_trial *trial, int series, double value);
void th_trial_point(th_trial *trial, int series, double x, double y);
double th_series_mean(const th_series *series);
double th_series_deviation(const th_series *series); // of the sample; 0 for fewer than two

// Mean egress time over the setup's crowds, every crowd a value of a new sample called `name`. The first
// crowd's picture is taken at `picture` seconds (0: none).
double th_trial_mean_egress(th_trial *trial, const char *name, const char *stem,
                            const char *const *overrides, double limit, double picture);

// Mean speed in a corridor without ends, 26 m long, at a density [1/m2]. False: the test has failed.
bool th_trial_corridor_speed(th_trial *trial, double density, double width, double *speed);

// Kolmogorov-Smirnov: the probability that a sample (sorted here) of a distribution given by its
// cumulative function differs from it as much as this one.
double th_kolmogorov(double *values, int count, double (*cumulative)(double x, const void *context),
                     const void *context);

// A JSON list of `count` starts 2 m apart, as an override of the group's positions. Free it.
char *th_lane_positions(int count);

extern const th_suite th_suite_rimea, th_suite_imo, th_suite_nist, th_suite_iso, th_suite_juelich;

// Tests that several suites ask for in the same words, each with its own numbers.
void th_check_corridor_time(th_trial *trial, const char *speed, double low, double high);
void th_check_stairs(th_trial *trial, const char *stem, const char *factor, double way,
                     double expected);
void th_check_premovement(th_trial *trial);
void th_check_corner(th_trial *trial, const char *area, double limit);
void th_check_exit_allocation(th_trial *trial);
void th_check_doors_shut(th_trial *trial, const char *speed);
void th_check_counterflow(th_trial *trial);
void th_check_exit_flow(th_trial *trial);
void th_check_room_corridor_stairs(th_trial *trial);
// All of `count` people in lanes walk at their own speed within 0.03 m/s, and the sample of all crowds has
// the mean and the deviation of the population within three standard errors.
void th_check_population(th_trial *trial, int count, const char *speed, double mean,
                         double deviation);
void th_check_walking_speed(th_trial *trial);
void th_check_slow_person(th_trial *trial);
void th_check_dynamic_exit(th_trial *trial);
void th_check_congestion(th_trial *trial);
void th_check_groups(th_trial *trial, const char *const *overrides);
void th_check_social_influence(th_trial *trial);
void th_check_affiliation(th_trial *trial);
#endif
