// What trajectories and writers keep, and numbers as text. SPDX-License-Identifier: Apache-2.0
#include "record/backend.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// NULL stays NULL; false: no memory.
static bool keep_optional(th_arena *kept, const char **text) {
    if (*text) *text = th_arena_string(kept, *text);
    return *text != NULL;
}

bool th_keep_info(th_arena *kept, th_trajectory_info *to, const th_trajectory_info *from) {
    th_trajectory_info copy = *from;
    size_t level_count = (size_t)from->level_count, note_count = (size_t)from->note_count;
    th_trajectory_level *levels = th_arena_alloc(kept, level_count, sizeof *levels);
    th_trajectory_note *notes = th_arena_alloc(kept, note_count, sizeof *notes);
    if (!levels || !notes) return false;
    for (size_t i = 0; i < level_count; ++i) {
        levels[i] = from->levels[i];
        if (!keep_optional(kept, &levels[i].id)) return false;
        if (levels[i].wkt && !keep_optional(kept, &levels[i].wkt)) return false;
    }
    for (size_t i = 0; i < note_count; ++i) {
        notes[i] = from->notes[i];
        if (!keep_optional(kept, &notes[i].key) || !keep_optional(kept, &notes[i].value))
            return false;
    }
    copy.levels = levels;
    copy.notes = notes;
    *to = copy;
    return true;
}

void th_exact_text(char text[TH_NUMBER_TEXT], double value) {
    // As many digits as the whole part has, else %g turns 10 into 1e+01; 17 are always enough.
    double size = fabs(value);
    int digits = size >= 10 && size < 1e15 ? (int)log10(size) + 1 : 1;
    for (; digits <= 17; ++digits) {
        snprintf(text, TH_NUMBER_TEXT, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    char *comma = strchr(text, ',');
    if (comma) *comma = '.';
    size_t length = strlen(text);
    if (!strpbrk(text, ".en")) // e: exponent, n: inf and nan
        snprintf(text + length, TH_NUMBER_TEXT - length, ".0");
}
