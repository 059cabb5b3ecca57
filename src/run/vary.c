// Lists of values and their combinations. SPDX-License-Identifier: Apache-2.0
#include "core/array.h"
#include "core/error.h"
#include "run/runs.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool add_value(th_vary *item, const char *text, size_t length) {
    while (length > 0 && *text == ' ') ++text, --length;
    while (length > 0 && text[length - 1] == ' ') --length;
    if (item->count == TH_VARY_VALUES || length == 0) return false;
    if (!TH_RESERVE_ONE(item->values, item->count)) return false;
    item->values[item->count] = strndup(text, length);
    return item->values[item->count] != NULL && ++item->count > 0;
}

// "0.8..1.6:5"; false: it is no range, `bad` when it nearly is one.
static bool add_range(th_vary *item, const char *text, bool *bad) {
    *bad = false;
    const char *dots = strstr(text, "..");
    if (!dots) return false;
    char *end = NULL;
    double low = strtod(text, &end);
    // strtod takes the first dot of "1..2" for a decimal point.
    bool good = end != text && (end == dots || end == dots + 1);
    const char *second = dots + 2;
    double high = strtod(second, &end);
    good = good && end != second && *end == ':' && isfinite(low) && isfinite(high);
    const char *number = end ? end + 1 : second;
    long count = good ? strtol(number, &end, 10) : 0;
    good = good && end != number && *end == '\0' && count >= 2 && count <= TH_VARY_VALUES;
    *bad = !good;
    for (long i = 0; i < count && good; ++i) {
        char value[40];
        double share = (double)i / (double)(count - 1);
        // Ten digits: 0.8 + 0.2 reads 1, and no width needs more.
        snprintf(value, sizeof value, "%.10g", i == count - 1 ? high : low + share * (high - low));
        good = add_value(item, value, strlen(value));
    }
    return good;
}

// Commas inside brackets and quotes belong to a value: "[[0,1],[0,2]],[[0,1],[0,3]]" are two lines.
static bool add_list(th_vary *item, const char *text) {
    int depth = 0;
    bool quoted = false;
    const char *from = text;
    for (const char *at = text;; ++at) {
        if (*at == '\0' || (*at == ',' && depth == 0 && !quoted)) {
            if (!add_value(item, from, (size_t)(at - from))) return false;
            if (*at == '\0') return true;
            from = at + 1;
        } else if (*at == '"') {
            quoted = !quoted;
        } else if (!quoted) {
            depth += (*at == '[' || *at == '{') - (*at == ']' || *at == '}');
        }
    }
}

static bool count_combinations(th_variation *variation) {
    long long product = 1;
    for (int i = 0; i < variation->count; ++i) {
        product *= variation->items[i].count;
        if (product > TH_VARY_COMBINATIONS) return false;
    }
    variation->combinations = (int)product;
    return product > 0;
}

// Refuses text that is not UTF-8: sweep.json could not hold it.
static bool is_text(const char *text) {
    json_t *kept = json_string(text);
    json_decref(kept);
    return kept != NULL;
}

static bool read_one(th_vary *item, const char *text) {
    const char *equals = strchr(text, '=');
    bool bad_range = false;
    item->path = equals ? strndup(text, (size_t)(equals - text)) : NULL;
    bool good = equals && equals != text && item->path;
    if (good && !add_range(item, equals + 1, &bad_range))
        good = !bad_range && add_list(item, equals + 1);
    return good;
}

th_result th_variation_read(th_variation *variation, const char *const *texts, int count,
                            th_error *error) {
    *variation = (th_variation){0};
    if (count > TH_VARY_PATHS)
        return th_fail(error, TH_BAD_ARGUMENT, "vary", "is given %d times; at most %d", count,
                       TH_VARY_PATHS);
    for (int i = 0; i < count; ++i) {
        variation->count = i + 1;
        if (!is_text(texts[i]))
            return th_fail(error, TH_BAD_ARGUMENT, "vary",
                           "text %d is not UTF-8; write it in UTF-8", i + 1);
        if (!read_one(&variation->items[i], texts[i]))
            return th_fail(error, TH_BAD_ARGUMENT, "vary",
                           "%s: give path=value,value,... or path=low..high:number, like "
                           "doors.main.width=0.8..1.6:5; at most %d values",
                           texts[i], TH_VARY_VALUES);
        for (int k = 0; k < i; ++k)
            if (strcmp(variation->items[k].path, variation->items[i].path) == 0)
                return th_fail(error, TH_BAD_ARGUMENT, "vary", "%s is given twice",
                               variation->items[i].path);
    }
    if (count_combinations(variation)) return TH_OK;
    return th_fail(error, TH_BAD_ARGUMENT, "vary", "makes more than %d combinations; fewer values",
                   TH_VARY_COMBINATIONS);
}

void th_variation_release(th_variation *variation) {
    for (int i = 0; i < variation->count; ++i) {
        th_vary *item = &variation->items[i];
        for (int k = 0; k < item->count; ++k) free(item->values[k]);
        free(item->values);
        free(item->path);
    }
    *variation = (th_variation){0};
}

// Which value of path `item` combination `k` has; the last path changes fastest.
static int choice_of(const th_variation *variation, int k, int item) {
    for (int i = variation->count - 1; i > item; --i) k /= variation->items[i].count;
    return k % variation->items[item].count;
}

const char *th_variation_value(const th_variation *variation, int k, int item) {
    return variation->items[item].values[choice_of(variation, k, item)];
}

json_t *th_variation_json(const th_variation *variation) {
    json_t *list = json_array();
    for (int i = 0; i < variation->count; ++i) {
        const th_vary *item = &variation->items[i];
        json_t *values = json_array();
        for (int k = 0; k < item->count; ++k)
            json_array_append_new(values, json_string(item->values[k]));
        json_array_append_new(list, json_pack("{s:s,s:o}", "path", item->path, "values", values));
    }
    return list;
}

bool th_variation_of_json(th_variation *variation, const json_t *json) {
    *variation = (th_variation){0};
    if (!json_is_array(json) || json_array_size(json) > TH_VARY_PATHS) return false;
    for (size_t i = 0; i < json_array_size(json); ++i) {
        const json_t *object = json_array_get(json, i);
        const json_t *values = json_object_get(object, "values");
        const char *path = json_string_value(json_object_get(object, "path"));
        th_vary *item = &variation->items[variation->count++];
        item->path = path ? strdup(path) : NULL;
        if (!item->path) return false;
        for (size_t k = 0; k < json_array_size(values); ++k) {
            const char *text = json_string_value(json_array_get(values, k));
            if (!text || !add_value(item, text, strlen(text))) return false;
        }
    }
    return count_combinations(variation);
}
