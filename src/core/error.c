// Error messages and result texts. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

th_result th_fail(th_error *error, th_result code, const char *path, const char *format, ...) {
    if (!error) return code;
    error->code = code;
    snprintf(error->path, sizeof error->path, "%s", path ? path : "");
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return code;
}

enum { WORD_MAX = 64 };

static int edit_distance(const char *a, const char *b) {
    int length_a = (int)strlen(a), length_b = (int)strlen(b);
    if (length_a >= WORD_MAX || length_b >= WORD_MAX) return WORD_MAX;
    int row[WORD_MAX + 1];
    for (int j = 0; j <= length_b; ++j) row[j] = j;
    for (int i = 1; i <= length_a; ++i) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= length_b; ++j) {
            int above = row[j];
            int best = diagonal + (a[i - 1] != b[j - 1]);
            if (above + 1 < best) best = above + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            row[j] = best;
            diagonal = above;
        }
    }
    return row[length_b];
}

const char *th_nearest_word(const char *word, const char *const *known, int count) {
    const char *best = NULL;
    int best_distance = (int)strlen(word) / 2 + 1; // a word further away would not help the reader
    for (int i = 0; i < count; ++i) {
        int distance = edit_distance(word, known[i]);
        if (distance < best_distance) {
            best_distance = distance;
            best = known[i];
        }
    }
    return best;
}

const char *th_result_text(th_result result) {
    static const char *const texts[] = {
#define X(name, text) text,
        TH_RESULTS(X)
#undef X
    };
    return (unsigned)result < TH_RESULT_COUNT ? texts[result] : "unknown result";
}
