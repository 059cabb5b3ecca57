// summary.json: the results of a run, or of many, for programs. SPDX-License-Identifier: Apache-2.0
#ifndef TH_REPORT_SUMMARY_H
#define TH_REPORT_SUMMARY_H
#include "report/report.h"
#include <jansson.h>

// The object itself, to be released; NULL with an error, which must not be NULL.
json_t *th_report_summary_json(const th_report_def *def, th_error *error);
th_result th_report_summary(const th_report_def *def, th_error *error);
#endif
