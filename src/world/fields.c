// The field list, expanded: allocation, names, access by number. SPDX-License-Identifier: Apache-2.0
#include "world/fields.h"
#include <assert.h>

#define X(NAME, name, type, doc) \
    static_assert(sizeof(type) == 4, "fields are four bytes wide: " #name);
TH_FIELDS(X)
#undef X

void *th_field_get(const th_agents *agents, th_field field) {
    switch (field) {
#define X(NAME, name, type, doc) \
    case TH_FIELD_##NAME: return agents->name;
        TH_FIELDS(X)
#undef X
    default: return NULL;
    }
}

void th_field_set(th_agents *agents, th_field field, void *array) {
    switch (field) {
#define X(NAME, name, type, doc) \
    case TH_FIELD_##NAME: agents->name = array; break;
        TH_FIELDS(X)
#undef X
    default: break;
    }
}

const char *th_field_name(th_field field) {
    static const char *const names[] = {
#define X(NAME, name, type, doc) #name,
        TH_FIELDS(X)
#undef X
    };
    return (unsigned)field < TH_FIELD_COUNT ? names[field] : "?";
}

const char *th_stage_name(th_stage stage) {
    static const char *const names[] = {
#define X(NAME, name, doc) #name,
        TH_STAGES(X)
#undef X
    };
    return (unsigned)stage < TH_STAGE_COUNT ? names[stage] : "?";
}

// Everything of th_agents that is not a field: written and read within a step.
#define WORK_ARRAYS(X)                                                                      \
    X(next_position_x)                                                                      \
    X(next_position_y) X(next_velocity_x) X(next_velocity_y) X(work_x) X(work_y) X(work2_x) \
        X(work2_y) X(cell) X(order) X(slot)

bool th_agents_create(th_agents *agents, const th_memory *memory, int capacity) {
    *agents = (th_agents){.capacity = capacity};
    size_t n = (size_t)capacity + TH_ARRAY_PAD;
    bool complete = true;
    for (int f = 0; f < TH_FIELD_COUNT; ++f) {
        void *array = th_alloc(memory, n, 4);
        th_field_set(agents, (th_field)f, array);
        agents->other[f] = th_alloc(memory, n, 4);
        complete = complete && array && agents->other[f];
    }
#define X(name)                            \
    agents->name = th_alloc(memory, n, 4); \
    complete = complete && agents->name;
    WORK_ARRAYS(X)
#undef X
    return complete;
}

void th_agents_destroy(th_agents *agents, const th_memory *memory) {
    size_t n = (size_t)agents->capacity + TH_ARRAY_PAD;
    for (int f = 0; f < TH_FIELD_COUNT; ++f) {
        th_free(memory, th_field_get(agents, (th_field)f), n, 4);
        th_free(memory, agents->other[f], n, 4);
    }
#define X(name) th_free(memory, agents->name, n, 4);
    WORK_ARRAYS(X)
#undef X
    *agents = (th_agents){0};
}
