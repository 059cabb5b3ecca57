// Verification suites and experiments with people: what is asked, what was measured, whether it holds.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_VALIDATE_VALIDATE_H
#define TH_VALIDATE_VALIDATE_H
#include "throng/throng.h"

typedef enum th_verdict { TH_PASS, TH_FAIL, TH_NOT_APPLICABLE, TH_REPORTED } th_verdict;
#endif
