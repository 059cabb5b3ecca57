// The filter that changes nothing. SPDX-License-Identifier: Apache-2.0
#include "registry/models.h"

const th_model th_filter_none_model = {
    .cookie = TH_MODEL_COOKIE,
    .stage = TH_STAGE_FILTER,
    .name = "none",
    .doc = "the planned velocity as it is",
    .source = "throng",
    .is_default = true,
    .reach = th_reads_none,
};
