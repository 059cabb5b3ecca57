// Walking the field list. SPDX-License-Identifier: Apache-2.0
#ifndef TH_WORLD_FIELDS_H
#define TH_WORLD_FIELDS_H
#include "state/world.h"

// The array of a field, untyped; every element is four bytes.
void *th_field_get(const th_agents *agents, th_field field);
void th_field_set(th_agents *agents, th_field field, void *array);

// Could an agent have these values, all fields of it as four-byte words? Everything that is used as an
// index is in range, every float a number of this world (within 1000 km, radius above 0). What comes
// from outside (snapshots, views, spawns) goes through here.
bool th_agent_is_sound(const th_world *world, const uint32_t bits[TH_FIELD_COUNT]);

bool th_agents_create(th_agents *agents, const th_memory *memory, int capacity);
void th_agents_destroy(th_agents *agents, const th_memory *memory);
#endif
