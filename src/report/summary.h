// summary.json: the results of a run, or of many, for programs. SPDX-License-Identifier: Apache-2.0
#ifndef TH_REPORT_SUMMARY_H
#define TH_REPORT_SUMMARY_H
#include "report/report.h"

th_result th_report_summary(const th_report_def *def, th_error *error);
#endif
