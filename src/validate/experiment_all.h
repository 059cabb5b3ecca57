// One configuration against everything that was measured with people: rows of a table, each with a bar.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_VALIDATE_EXPERIMENT_ALL_H
#define TH_VALIDATE_EXPERIMENT_ALL_H
#include "core/statistics.h"
#include "validate/corridors.h"
#include "validate/experiments.h"

// What one run found. Which number stands where is the family's own business.
enum { TH_ALL_NUMBERS = 3 };
typedef struct th_all_found {
    double number[TH_ALL_NUMBERS];
    th_fundamental_bin bins[TH_CORRIDOR_CLASSES]; // sums; corridors only
} th_all_found;

#define TH_ALL_COLUMNS \
    "configuration|where|what|people|simulated|spread|off [%]|bar|seeds|verdict|remark"
typedef struct th_all_study {
    const th_experiment_settings *settings;
    th_experiment_table *table;
    char configuration[200]; // whom it judges: the first cell of every row
    int bars, missed;
} th_all_study;

// Places of one kind, each run with several seeds and judged together.
typedef struct th_all_family {
    const char *name; // first word of its rows, for --only
    int places;
    int seeds, quick_seeds;
    th_result (*walk)(const th_experiment_settings *settings, int place, uint64_t seed,
                      th_all_found *found, th_error *error);
    // found[place * seeds + k]: crowd k of a place
    void (*judge)(th_all_study *study, const th_all_found *found, int seeds);
} th_all_family;
extern const th_all_family th_all_rooms[]; // experiment_all_rooms.c: doors, lock-ups, time step
extern const int th_all_rooms_count;

// ---- rows

// Of one number over the seeds of a place, at most 64; runs without it are not counted.
th_sample_summary th_all_summary(const th_all_found *found, int seeds, int number);
// One number for all seeds together.
th_sample_summary th_all_single(double value, int seeds);
// A row whose bar is "within `bar` of people", a share.
void th_all_near(th_all_study *study, const char *name, const char *what, double people,
                 th_sample_summary own, int decimals, double bar);
// A row with whatever is asked; NaN: an empty cell.
typedef struct th_all_row {
    const char *name, *what, *bar;
    const char *remark; // NULL: none
    double people;
    th_sample_summary own;
    int decimals;
    bool pass;
} th_all_row;
void th_all_add(th_all_study *study, const th_all_row *row);
#endif
