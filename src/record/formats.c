// Names of the trajectory formats. SPDX-License-Identifier: Apache-2.0
#include "throng/record.h"

const char *th_trajectory_format_name(th_trajectory_format format) {
    static const char *const names[] = {
#define X(NAME, name, suffix, doc) #name,
        TH_TRAJECTORY_FORMATS(X)
#undef X
    };
    return (unsigned)format < TH_TRAJECTORY_FORMAT_COUNT ? names[format] : "unknown";
}
