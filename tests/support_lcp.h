// Methods for the pressure problem of the model uic beside its own, TH_LCP_MULTIGRID: a test solves one problem with
// all of them. SPDX-License-Identifier: Apache-2.0
#ifndef TH_TESTS_SUPPORT_LCP_H
#define TH_TESTS_SUPPORT_LCP_H
#include "move/uic/multigrid.h"

extern const th_lcp_method TH_LCP_MPRGP; // the paper's own, over every active cell: the reference
extern const th_lcp_method TH_LCP_POLICY;
extern const th_lcp_method TH_LCP_PSOR;
#endif
