// Walking the field list. SPDX-License-Identifier: Apache-2.0
#ifndef TH_WORLD_FIELDS_H
#define TH_WORLD_FIELDS_H
#include "state/world.h"

// The array of a field, untyped; every element is four bytes.
// Numbers from TH_FIELD_COUNT on are the fields of the world's models.
void *th_field_get(const th_agents *agents, int field);
void th_field_set(th_agents *agents, int field, void *array);
static inline int th_field_count(const th_agents *agents) {
    return TH_FIELD_COUNT + agents->own_count;
}

// Could an agent have these values, all fields of it as four-byte words? Everything that is used as an
// index is in range, every float a number of this world (within 1000 km, radius above 0). What comes
// from outside (snapshots, views, spawns) goes through here.
bool th_agent_is_sound(const th_world *world, const uint32_t *bits);

// With `own_count` fields of models; the arrays belong to the world's arena.
void th_agents_create(th_world *world, int capacity, int own_count);
#endif
