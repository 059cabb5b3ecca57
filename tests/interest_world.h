// Small worlds with places of interest. SPDX-License-Identifier: Apache-2.0
#ifndef TH_TESTS_INTEREST_WORLD_H
#define TH_TESTS_INTEREST_WORLD_H
#include "behave/interest/interest.h"
#include "support.h"
#include "throng/live.h"
#include <stdlib.h>
#include <string.h>

static inline const uint32_t *words_of(th_world *world, int field) {
    assert_true(field >= 0);
    return (const uint32_t *)(const void *)field_of(world, field);
}
#endif
