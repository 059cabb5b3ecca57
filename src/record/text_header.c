// What the comment lines at the top of Juelich text say: frame rate, unit, levels. PedPy's rules
// (docs/recordings.md), and kinder, as the archive holds files that PedPy needs help with.
// SPDX-License-Identifier: Apache-2.0
#include "record/text.h"
#include <ctype.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The powers of ten that doubles hold exactly.
static const double powers_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                       1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                       1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

double th_text_number(const char *text, const char **end) {
    if (end) *end = text;
    const char *at = text + (*text == '+' || *text == '-');
    uint64_t mantissa = 0;
    int digits = 0, decimals = 0;
    for (; is_digit(*at); ++at, ++digits)
        if (digits < 18) mantissa = mantissa * 10 + (uint64_t)(*at - '0');
    if (*at == '.')
        for (++at; is_digit(*at); ++at, ++digits, ++decimals)
            if (digits < 18) mantissa = mantissa * 10 + (uint64_t)(*at - '0');
    if (digits == 0) return 0;
    // One exact division rounds once, as strtod does, in a tenth of its time.
    if (digits <= 15 && *at != 'e' && *at != 'E') {
        if (end) *end = at;
        double value = (double)mantissa / powers_of_ten[decimals];
        return *text == '-' ? -value : value;
    }
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!c_locale) return 0;
    char *stop = NULL;
    double value = strtod_l(text, &stop, c_locale);
    freelocale(c_locale);
    if (end) *end = stop;
    return value;
}

static double first_positive(const char *text) {
    for (; *text; ++text) {
        const char *end;
        double value = th_text_number(text, &end);
        if (end != text) return value > 0 && isfinite(value) ? value : 0;
    }
    return 0;
}

// "in metres" and "in m," but not "in mode".
static bool says_metres(const char *line) {
    for (const char *at = line; (at = strcasestr(at, "in m")) != NULL; at += 4)
        if (!isalpha((unsigned char)at[4]) || strncasecmp(at + 4, "et", 2) == 0) return true;
    return false;
}

static void read_unit(th_text_comments *comments, const char *line, th_text_header *header) {
    if (strcasestr(line, "x/cm") || strcasestr(line, "x/m")) {
        header->unit = strcasestr(line, "x/cm") ? 0.01 : 1;
        comments->column_unit = true;
    } else if (!comments->column_unit) { // prose gives way to a column's title
        if (strcasestr(line, "in cm")) header->unit = 0.01;
        if (says_metres(line)) header->unit = 1;
    }
}

// "# level 1 3.5 upper%20floor"
static void read_level(const char *line, th_text_header *header) {
    int index = -1, used = 0;
    if (sscanf(line, "# level %d %n", &index, &used) != 1 || used == 0) return;
    if (index != header->level_count || index >= TH_TEXT_LEVELS) return;
    const char *end = NULL;
    th_text_level *level = &header->levels[index];
    level->z = th_text_number(line + used, &end);
    if (!isfinite(level->z) || end == line + used || *end != ' ') return;
    th_text_decode(level->id, sizeof level->id, end + 1);
    ++header->level_count;
}

void th_text_read_comment(th_text_comments *comments, const char *line, th_text_header *header) {
    const char *word = strcasestr(line, "framerate");
    if (word && header->fps <= 0) header->fps = first_positive(word + strlen("framerate"));
    read_unit(comments, line, header);
    static const char columns[] = "# id frame x/m y/m z/m level";
    if (strcmp(line, columns) == 0) header->has_level = true;
    if (strncmp(line, "# throng ", 9) == 0) header->by_throng = true;
    if (header->by_throng) read_level(line, header);
}

void th_text_encode(char *word, size_t size, const char *id) {
    // A level may be called "framerate": its letters are escaped, so that the name survives.
    bool all = strcasestr(id, "framerate") != NULL;
    size_t at = 0;
    for (; *id && at + 4 <= size; ++id) {
        bool letter = (*id >= 'a' && *id <= 'z') || (*id >= 'A' && *id <= 'Z') || is_digit(*id);
        if ((letter && !all) || *id == '_' || *id == '-')
            word[at++] = *id;
        else
            at += (size_t)snprintf(word + at, size - at, "%%%02X", (unsigned)(unsigned char)*id);
    }
    word[at] = '\0';
}

static int hex_digit(char digit) {
    if (digit >= '0' && digit <= '9') return digit - '0';
    if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
    return -1;
}

void th_text_decode(char *id, size_t size, const char *word) {
    size_t at = 0;
    while (*word && at + 1 < size) {
        bool coded = word[0] == '%' && hex_digit(word[1]) >= 0 && hex_digit(word[2]) >= 0;
        int byte = coded ? hex_digit(word[1]) * 16 + hex_digit(word[2]) : *word;
        if (byte == 0) break;
        id[at++] = (char)byte;
        word += coded ? 3 : 1;
    }
    id[at] = '\0';
}
