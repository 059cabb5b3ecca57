// libFuzzer target: any bytes as an area a user typed, a walkable area and a crowd. Three parts: a line with the
// area, a line with the walkable area (or empty), and two bytes a person. Either a clear error comes out, or densities
// that are numbers. SPDX-License-Identifier: Apache-2.0
#include "observe/density.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PEOPLE_MAX = 64 };

// The next line as a text, cut off `data`.
static char *next_line(const uint8_t **data, size_t *size) {
    const uint8_t *end = *size > 0 ? memchr(*data, '\n', *size) : NULL;
    size_t length = end ? (size_t)(end - *data) : *size;
    char *line = malloc(length + 1);
    if (!line) abort();
    if (length > 0) memcpy(line, *data, length);
    line[length] = '\0';
    size_t used = end ? length + 1 : length;
    *data += used;
    *size -= used;
    return line;
}

static void measure(const th_region *region, const uint8_t *data, size_t size) {
    double x[PEOPLE_MAX], y[PEOPLE_MAX], speed[PEOPLE_MAX], individual[PEOPLE_MAX];
    int count = 0;
    for (; size >= 2 && count < PEOPLE_MAX; data += 2, size -= 2, ++count) {
        x[count] = 0.1 * data[0]; // many on a line, some at one place
        y[count] = 0.1 * data[1];
        speed[count] = data[0] % 7 == 0 ? (double)NAN : 0.01 * data[1];
    }
    for (int m = 0; m < 6; ++m) {
        th_density_def def = {(th_density_method)(m % 3), m < 3 ? 1.0 : 0.0, 0.7};
        th_area_reading moment;
        if (th_region_measure(region, &def, x, y, speed, count, &moment, individual, NULL) != TH_OK)
            abort();
        if (!isfinite(moment.density) || moment.density < 0 || moment.count > count) abort();
        for (int i = 0; i < count; ++i)
            if (!isnan(individual[i]) && !(individual[i] > 0)) abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *area = next_line(&data, &size), *walkable = next_line(&data, &size), rectangle[256];
    th_place_text place;
    th_error error = {0};
    th_result result = th_place_text_read(area, &place, &error);
    if (result != TH_OK) {
        if (error.code != result || !error.message[0]) abort();
    } else {
        th_region *region = NULL;
        if (place.is_box) th_place_rectangle(&place, rectangle, sizeof rectangle);
        result = th_region_create(walkable[0] ? walkable : NULL,
                                  place.is_box ? rectangle : place.wkt, &region, &error);
        if (result != TH_OK && (region || error.code != result || !error.message[0])) abort();
        if (result == TH_OK) measure(region, data, size);
        th_region_destroy(region);
    }
    free(area);
    free(walkable);
    return 0;
}
