// Copies a world's arrays into a moment: whole numbers and floats of four bytes become the wider types of a
// recording, which changes no value. SPDX-License-Identifier: Apache-2.0
#include "record/moment.h"
#include "throng/scene_view.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef enum element { TO_int64_t, TO_int32_t, TO_double } element;

static const struct {
    th_field field;
    element element;
    unsigned known;
    size_t size, member;
} table[TH_COLUMN_COUNT] = {
#define X(NAME, member, field, type, known) \
    {TH_FIELD_##field, TO_##type, known, sizeof(type), offsetof(th_moment, member)},
    TH_MOMENT_COLUMNS(X)
#undef X
};

// `phase` NULL: everybody; otherwise bodies are left out. How many were copied.
#define COPY(wide, narrow)                                             \
    {                                                                  \
        const narrow *values = from;                                   \
        wide *copy = to;                                               \
        if (!phase)                                                    \
            for (int i = 0; i < count; ++i) copy[i] = (wide)values[i]; \
        for (int i = 0; phase && i < count; ++i) {                     \
            copy[people] = (wide)values[i];                            \
            people += phase[i] != TH_PHASE_BODY;                       \
        }                                                              \
    }
static int copy_column(element to_type, void *to, const void *from, const uint32_t *phase,
                       int count) {
    int people = 0;
    if (to_type == TO_int64_t) COPY(int64_t, uint32_t)
    if (to_type == TO_int32_t) COPY(int32_t, uint32_t)
    if (to_type == TO_double) COPY(double, float)
    return phase ? people : count;
}

static bool take_column(th_world_moment *copy, th_world *world, int c, const uint32_t *phase) {
    if (!copy->columns[c]) copy->columns[c] = malloc((size_t)copy->room * table[c].size);
    const void *view = copy->columns[c] ? th_world_map(world, table[c].field, TH_READ) : NULL;
    if (!view) return false;
    copy->moment.count = copy_column(table[c].element, copy->columns[c], view, phase, copy->agents);
    th_world_unmap(world, table[c].field);
    memcpy((char *)&copy->moment + table[c].member, &copy->columns[c], sizeof(void *));
    return true;
}

bool th_world_moment_add(th_world_moment *copy, th_world *world, unsigned known) {
    if (th_world_scene(world)->level_count < 2) known &= ~(unsigned)TH_KNOW_LEVEL;
    const uint32_t *phase = NULL;
    if (copy->people_only) phase = th_world_map(world, TH_FIELD_PHASE, TH_READ);
    bool good = phase || !copy->people_only;
    for (int c = 0; good && c < TH_COLUMN_COUNT; ++c)
        if (table[c].known & known) good = take_column(copy, world, c, phase);
    if (phase) th_world_unmap(world, TH_FIELD_PHASE);
    return good;
}

bool th_world_moment_take(th_world_moment *copy, th_world *world, unsigned known) {
    int agents = th_world_agent_count(world);
    if (agents >= copy->room) {
        th_world_moment_release(copy);
        copy->room = agents + agents / 8 + 1; // a growing crowd does not ask every time
    }
    copy->agents = agents;
    copy->people_only = known & TH_PEOPLE_ONLY;
    copy->moment = (th_moment){.number = (int64_t)th_world_step_count(world),
                               .time = th_world_time(world),
                               .has_origin = true,
                               .origin = th_world_scene(world)->origin};
    return th_world_moment_add(copy, world, known | TH_KNOW_PLACE);
}

void th_world_moment_release(th_world_moment *copy) {
    for (int c = 0; c < TH_COLUMN_COUNT; ++c) free(copy->columns[c]);
    *copy = (th_world_moment){0};
}
