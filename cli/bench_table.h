// The table that `throng bench` prints and writes, and the bars beside its figures.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_CLI_BENCH_TABLE_H
#define TH_CLI_BENCH_TABLE_H
#include "cli/args.h"
#include "throng/world.h"
#include <jansson.h>
#include <stdbool.h>

// One measurement. `bar` is in the unit of the printed figure, 0: none.
typedef struct th_bench_case {
    const char *scene, *model;
    const char *filter; // NULL: none; "name" or "name:preset"
    th_backend backend;
    int agents, threads;
    double step; // [s]; 0: the bench's, or that of the scene file
    bool behaviour;
    const th_text_list *params; // "name=value", for all groups; NULL: none
    double bar;                 // [ms] per step, or per sub-step for models with sub-steps
    bool bar_on_plan;           // the bar is on the plan stage alone
} th_bench_case;

enum { TH_BENCH_CASES_MAX = 32 };
// Fills `cases`, returns how many.
int th_bench_cases(th_bench_case *cases, bool full, int threads, th_backend backend);

void th_bench_print_head(const th_bench_case *what);
void th_bench_print_row(const th_bench_case *what, const json_t *row);
// Beside the target first, then renamed. False: it could not be written.
bool th_bench_write_csv(const th_bench_case *cases, const json_t *rows, const char *path);
#endif
