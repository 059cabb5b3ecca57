// The parts of the page, in the order they stand in it. SPDX-License-Identifier: Apache-2.0
#ifndef TH_REPORT_PAGE_H
#define TH_REPORT_PAGE_H
#include "report/figures.h"

// The answer in one sentence or two, with its interval. page_results.c
void th_page_answer(th_text *page, const th_figure_data *data);
// What was simulated: groups, and what differs from the defaults. page.c
void th_page_population(th_text *page, const th_figure_data *data);
void th_page_differences(th_text *page, const th_figure_data *data);
// Tables of counters, areas and runs. page_results.c
void th_page_counters(th_text *page, const th_figure_data *data);
void th_page_areas(th_text *page, const th_figure_data *data);
void th_page_runs(th_text *page, const th_figure_data *data);
// How things were measured, and how to get the same numbers again. page.c
void th_page_method(th_text *page, const th_figure_data *data);
void th_page_reproduce(th_text *page, const th_figure_data *data);

extern const char th_page_style[]; // the style sheet
#endif
