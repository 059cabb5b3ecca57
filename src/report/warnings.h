// What a reader must know before believing the numbers, as plain sentences: the page and summary.json show
// the same. SPDX-License-Identifier: Apache-2.0
#ifndef TH_REPORT_WARNINGS_H
#define TH_REPORT_WARNINGS_H
#include "report/report.h"

typedef struct th_warnings {
    char **texts; // UTF-8, no markup
    int count;
} th_warnings;

th_result th_report_warnings(const th_report_def *def, th_warnings *warnings, th_error *error);
void th_warnings_release(th_warnings *warnings);
#endif
