// Filling in a th_error. SPDX-License-Identifier: Apache-2.0
#ifndef TH_CORE_ERROR_H
#define TH_CORE_ERROR_H
#include "throng/base.h"

// Sets code, path (may be NULL) and message; leaves file, line and column as they are, so that a
// loader can add them. Returns code. `error` may be NULL.
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
th_result
th_fail(th_error *error, th_result code, const char *path, const char *format, ...);

// The nearest of `count` known words to `word` by edit distance, or NULL when none is near:
// for "did you mean" in messages.
const char *th_nearest_word(const char *word, const char *const *known, int count);
#endif
