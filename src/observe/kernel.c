// The kernel density at each person's place. SPDX-License-Identifier: Apache-2.0
#include "observe/kernel.h"
#include "record/moment.h"
#include <stdlib.h>

static th_vec2 place_of(const th_scene_view *scene, const th_moment *m, int i) {
    if (!m->has_origin) return (th_vec2){(float)m->x[i], (float)m->y[i]};
    return (th_vec2){(float)(m->origin.x + m->x[i] - scene->origin.x),
                     (float)(m->origin.y + m->y[i] - scene->origin.y)};
}

static bool is_on(const th_moment *m, int i, int level) {
    return th_moment_is_person(m, i) && th_moment_level(m, i) == level;
}

static bool level_density(const th_scene_view *scene, const th_moment *m, int level,
                          float *density) {
    th_kernel kernel;
    th_kernel_work work = {0};
    bool made =
        th_kernel_create(scene, level, 0.5, NULL, &kernel) && th_kernel_work_create(&kernel, &work);
    for (int pass = 0; made && pass < 3; ++pass) {
        if (pass == 2) th_kernel_spread(&kernel, &work);
        for (int i = 0; i < m->count; ++i) {
            if (!is_on(m, i, level)) continue;
            th_vec2 p = place_of(scene, m, i);
            int cell = th_kernel_cell(&kernel, p.x, p.y);
            float sums[TH_SUMS];
            if (cell < 0) continue;
            if (pass == 0)
                th_kernel_note(&kernel, &work, p.x, p.y);
            else if (pass == 1)
                th_kernel_put(&kernel, &work, p.x, p.y, (th_vec2){0},
                              th_kernel_alone(&kernel, &work, p.x, p.y));
            else {
                th_kernel_read(&kernel, &work, cell % kernel.nx, cell / kernel.nx, sums);
                density[i] = th_kernel_density(&kernel, (size_t)cell, sums);
            }
        }
    }
    th_kernel_work_release(&work);
    th_kernel_release(&kernel);
    return made;
}

float *th_people_density(const th_scene_view *scene, const th_moment *moment) {
    float *density = calloc((size_t)moment->count + 1, sizeof *density);
    bool made = density != NULL;
    for (int level = 0; made && level < scene->level_count; ++level)
        made = level_density(scene, moment, level, density);
    if (made) return density;
    free(density);
    return NULL;
}
