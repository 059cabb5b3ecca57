// From people to the lattice of the continuum planner: the loops over people and nodes. Every thread has nodes of its
// own and looks at all agents. SPDX-License-Identifier: Apache-2.0
#include "plan/continuum/crowd.h"
#include "core/parallel.h"

th_splat_settings th_splat_settings_of(const th_world *world) {
    th_splat_settings set = {.exponent = 8.0f};
    float prediction = 0.0f;
    bool first = true;
    for (int g = 0; g < world->scene->group_count; ++g) {
        if (!th_continuum_has(world, g)) continue;
        const th_continuum_params *p = th_continuum_params_of(world, g);
        set.exponent = th_min(set.exponent, p->exponent);
        if (first) set.cone = p->cone >= 0.5f;
        first = false;
        if (!(p->prediction > prediction) || p->discomfort_weight == 0.0f) continue;
        prediction = p->prediction;
        set.samples = (int)(p->prediction_samples + 0.5f);
    }
    set.interval = set.samples > 0 ? prediction / (float)set.samples : 0.0f;
    return set;
}

void th_continuum_splat(const th_continuum *c, const th_world *world,
                        const th_splat_settings *set) {
    const th_splat_part all = {c, th_world_walls(world), *set, 0, 0};
    int count = c->nodes.count, parts = world->threads;
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (int t = 0; t < parts; ++t) {
        th_splat_part part = all;
        part.begin = (int)((int64_t)count * t / parts);
        part.end = (int)((int64_t)count * (t + 1) / parts);
        memset(c->sums + part.begin, 0, (size_t)(part.end - part.begin) * sizeof *c->sums);
        for (int i = 0; i < world->agents.count; ++i)
            if (!th_gone(world->agents.phase[i]))
                th_splat_person(&part, &world->agents, (uint32_t)i);
        for (int i = part.begin; i < part.end; ++i) th_node_take_sums(c, i);
    }
}

void th_continuum_make_faces(const th_continuum *c, const th_world *world, int group) {
    const th_continuum_params *p = th_continuum_params_of(world, group);
    const th_faces *faces = &c->faces[group];
    for (int l = 0; l < world->scene->level_count; ++l) {
        const th_node_level *grid = &c->nodes.levels[l];
#pragma omp parallel for num_threads(world->threads) schedule(static)
        for (int row = 0; row < grid->ny; ++row)
            for (int column = 0; column < grid->nx; ++column)
                th_node_make_faces(c, p, faces, grid->first + row * grid->nx + column, grid->nx);
    }
    for (int i = 0; i < c->nodes.portal_count; ++i) th_portal_make_faces(c, p, faces, i);
}
