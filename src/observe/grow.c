// Arrays that grow by one, and freeing what was measured. SPDX-License-Identifier: Apache-2.0
#include "observe/parts.h"
#include <math.h>
#include <stdlib.h>

enum { LEAST_ROOM = 16 };

size_t th_grown_room(size_t count) {
    size_t room = LEAST_ROOM;
    while (room < count) room *= 2;
    return count ? room : 0;
}

// The array, moved when `count` fills its room; NULL when there is no memory.
static void *grown(void *array, int count, size_t size) {
    size_t room = th_grown_room((size_t)count);
    if ((size_t)count < room) return array;
    return realloc(array, th_grown_room((size_t)count + 1) * size);
}

bool th_grow_counts(uint32_t **array, int count) {
    uint32_t *moved = grown(*array, count, sizeof **array);
    if (moved) *array = moved;
    return moved;
}

bool th_grow_floats(float **array, int count) {
    float *moved = grown(*array, count, sizeof **array);
    if (moved) *array = moved;
    return moved;
}

bool th_grow_bytes(uint8_t **array, int count) {
    uint8_t *moved = grown(*array, count, sizeof **array);
    if (moved) *array = moved;
    return moved;
}

void th_map_release(th_map *map) {
    free(map->walkable);
    free(map->density_sum);
    free(map->density_max);
    free(map->speed_sum);
    free(map->person_count);
    free(map->dense_time);
    free(map->jam_time);
    free(map->crowd_pressure_sum);
    free(map->crowd_pressure_count);
    free(map->crowd_pressure_max);
    free(map->turbulent_time);
    free(map->pressure_sum);
    free(map->pressure_max);
    *map = (th_map){0};
}

void th_observation_release(th_observation *o) {
    for (int c = 0; c < o->counter_count; ++c) {
        free(o->counters[c].forward);
        free(o->counters[c].backward);
    }
    for (int a = 0; a < o->area_count; ++a) {
        free(o->areas[a].density);
        free(o->areas[a].speed);
        free(o->areas[a].voronoi_density);
        free(o->areas[a].gaussian_density);
    }
    for (int m = 0; m < o->map_count; ++m) th_map_release(&o->maps[m]);
    for (int t = 0; t < o->track_count; ++t) {
        free(o->tracks[t].x);
        free(o->tracks[t].y);
        free(o->tracks[t].level);
    }
    uint32_t *series[] = {o->spawned, o->inside, o->left, o->overlapping, o->jammed};
    for (size_t k = 0; k < sizeof series / sizeof *series; ++k) free(series[k]);
    free(o->counters);
    free(o->areas);
    free(o->maps);
    free(o->people);
    free(o->tracks);
    free(o->left_behind);
    *o = (th_observation){0};
}

double th_egress_time(const th_observation *o) {
    bool empty = o->done && o->statistics.inside == 0 && o->statistics.left > 0;
    return empty ? o->statistics.last_left_time : (double)NAN;
}
