// Fields: the list of them, bulk views in id order, removal by id, and questions to models. SPDX-License-Identifier: Apache-2.0
#include "formula/vec.h"
#include "state/device.h"
#include "state/ranks.h"
#include "throng/live.h"
#include "world/world.h"
#include <assert.h>
#include <math.h>
#include <string.h>

// ---- the values of an agent

static bool indices_are_sound(const th_world *world, const uint32_t *bits) {
    const th_scene *scene = world->scene;
    uint32_t levels = (uint32_t)scene->level_count, groups = (uint32_t)scene->group_count;
    uint32_t group = bits[TH_FIELD_GROUP], phase = bits[TH_FIELD_PHASE];
    if (bits[TH_FIELD_LEVEL] >= levels || bits[TH_FIELD_GOAL_LEVEL] >= levels ||
        group >= (uint32_t)world->group_count || phase >= TH_PHASE_COUNT)
        return false;
    uint32_t detours = group < groups ? (uint32_t)scene->groups[group].detour_count : 0;
    if (th_detour_of(bits[TH_FIELD_LEG]) > detours) return false;
    bool scripted = phase == TH_PHASE_SCRIPTED || phase == TH_PHASE_BODY;
    return scripted == (group >= groups) || th_gone(phase);
}

// Numbers of models: finite, and whatever the model itself demands.
static bool own_fields_are_sound(const th_world *world, const uint32_t *bits) {
    th_group_state *group = &world->groups[bits[TH_FIELD_GROUP]];
    float *params;
    for (int c = 0; th_state_model(group, c, &params) != TH_NO_MODEL; ++c) {
        int chosen = (int)th_state_model(group, c, &params);
        const th_model *model = th_models(NULL)[chosen];
        const uint32_t *own = bits + TH_FIELD_COUNT + world->first_own[chosen];
        for (int f = 0; f < model->field_count; ++f) {
            float value;
            memcpy(&value, &own[f], sizeof value);
            if (model->fields[f].is_float && !(value >= -1e6f && value <= 1e6f)) return false;
        }
        if (model->fields_are_sound &&
            !model->fields_are_sound(world, chosen, (int)bits[TH_FIELD_GROUP], own))
            return false;
    }
    return true;
}

bool th_agent_is_sound(const th_world *world, const uint32_t *bits) {
    static const th_field numbers[] = {
        TH_FIELD_POSITION_X,  TH_FIELD_POSITION_Y,  TH_FIELD_VELOCITY_X, TH_FIELD_VELOCITY_Y,
        TH_FIELD_PREFERRED_X, TH_FIELD_PREFERRED_Y, TH_FIELD_RADIUS,     TH_FIELD_SPEED,
        TH_FIELD_MASS,        TH_FIELD_GOAL_X,      TH_FIELD_GOAL_Y,     TH_FIELD_WAIT_UNTIL,
        TH_FIELD_START_TIME};
    const float farthest = 1e6f; // [m] fifty times the largest scene
    const float latest = 1e9f;   // [s]
    const float largest = 5.0f;  // [m] of a radius: a scripted person's limit
    float value[TH_FIELD_COUNT];
    memcpy(value, bits, sizeof value);
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; ++k) {
        bool is_time = numbers[k] == TH_FIELD_WAIT_UNTIL || numbers[k] == TH_FIELD_START_TIME;
        float limit = is_time ? latest : farthest;
        if (!(value[numbers[k]] >= -limit && value[numbers[k]] <= limit)) return false;
    }
    return value[TH_FIELD_RADIUS] > 0.0f && value[TH_FIELD_RADIUS] <= largest &&
           value[TH_FIELD_SPEED] >= 0.0f && value[TH_FIELD_MASS] >= 0.0f &&
           indices_are_sound(world, bits) && own_fields_are_sound(world, bits);
}

// Everything of th_agents that is not a field: written and read within a step.
#define WORK_ARRAYS(X) \
    X(next_position_x) \
    X(next_position_y) \
    X(next_velocity_x) \
    X(next_velocity_y) \
    X(separated_x)     \
    X(separated_y) X(substep_velocity_x) X(substep_velocity_y) X(cell) X(order) X(slot)

void th_agents_create(th_world *world, int capacity, int own_count) {
    th_agents *agents = &world->agents;
    th_arena *arena = &world->arena;
    *agents = (th_agents){.capacity = capacity, .own_count = own_count};
    size_t n = (size_t)capacity + TH_ARRAY_PAD, fields = (size_t)th_field_count(agents);
    agents->own = th_arena_alloc(arena, (size_t)own_count, sizeof *agents->own);
    world->own_hash_factor =
        th_arena_alloc(arena, (size_t)own_count, sizeof *world->own_hash_factor);
    world->other_field = th_arena_alloc(arena, fields, sizeof *world->other_field);
    world->views = th_arena_alloc(arena, fields, sizeof *world->views);
    world->view_access = th_arena_alloc(arena, fields, sizeof *world->view_access);
    world->one_agent = th_arena_alloc(arena, fields, sizeof *world->one_agent);
    if (arena->failed) return;
    for (int f = 0; f < th_field_count(agents); ++f) {
        th_field_set(agents, f, th_arena_alloc(arena, n, 4));
        world->other_field[f] = th_arena_alloc(arena, n, 4);
    }
#define X(name) agents->name = th_arena_alloc(arena, n, 4);
    WORK_ARRAYS(X)
#undef X
}

// Radix sort of the living by id, 11 bits at a time: O(agents), no allocation (order serves).
static int sort_by_id(th_world *world) {
    th_agents *agents = &world->agents;
    uint32_t *from = world->id_order, *to = agents->order;
    int count = 0;
    for (int i = 0; i < agents->count; ++i)
        if (!th_gone(agents->phase[i])) from[count++] = (uint32_t)i;
    for (int shift = 0; shift < 33; shift += 11) {
        uint32_t start[2049] = {0};
        for (int k = 0; k < count; ++k) start[(agents->id[from[k]] >> shift & 2047) + 1]++;
        for (int d = 0; d < 2048; ++d) start[d + 1] += start[d];
        for (int k = 0; k < count; ++k) to[start[agents->id[from[k]] >> shift & 2047]++] = from[k];
        uint32_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != world->id_order) memcpy(world->id_order, from, (size_t)count * sizeof *from);
    return count;
}

static inline uint32_t bits_set(uint32_t word) {
    word -= word >> 1 & 0x55555555u;
    word = (word & 0x33333333u) + (word >> 2 & 0x33333333u);
    return ((word + (word >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24;
}

// Ids are unique, so an agent's place among the living is the number of smaller ids: a bit per id, the
// sum of bits before each word gives every agent its place at once. Two and a half times as fast as
// the sort at a million; needs two words of `order` per 32 ids between the smallest and the largest.
static int rank_by_id(th_world *world, uint32_t first, int words) {
    const th_agents *agents = &world->agents;
    uint32_t *bits = agents->order, *before = agents->order + words, count = 0;
    memset(bits, 0, (size_t)words * sizeof *bits);
    for (int i = 0; i < agents->count; ++i) {
        uint32_t place = agents->id[i] - first;
        if (!th_gone(agents->phase[i])) bits[place / 32] |= 1u << place % 32;
    }
    for (int w = 0; w < words; ++w) {
        before[w] = count;
        count += bits_set(bits[w]);
    }
#pragma omp parallel for num_threads(world->threads) schedule(static)
    for (int i = 0; i < agents->count; ++i) {
        if (th_gone(agents->phase[i])) continue;
        uint32_t place = agents->id[i] - first;
        uint32_t smaller = bits[place / 32] & ((1u << place % 32) - 1);
        world->id_order[before[place / 32] + bits_set(smaller)] = (uint32_t)i;
    }
    return (int)count;
}

void th_update_id_order(th_world *world) {
    if (world->id_order_valid) return;
    if (world->device)
        world->device->fetch(world, TH_FIELD_BIT(TH_FIELD_ID) | TH_FIELD_BIT(TH_FIELD_PHASE));
    const th_agents *agents = &world->agents;
    uint32_t first = UINT32_MAX, last = 0;
    for (int i = 0; i < agents->count; ++i) {
        uint32_t id = agents->id[i];
        if (th_gone(agents->phase[i])) continue;
        first = id < first ? id : first;
        last = id > last ? id : last;
    }
    // After long runs with sources few of many ids are alive.
    uint64_t words = first <= last ? ((uint64_t)last - first) / 32 + 1 : 0;
    bool dense = 2 * words <= (uint64_t)agents->count;
    world->id_order_count = dense ? rank_by_id(world, first, (int)words) : sort_by_id(world);
    world->id_order_valid = true;
}

// Writes nothing: several threads may ask at once.
int th_world_agent_count(const th_world *world) {
    if (world->id_order_valid) return world->id_order_count;
    th_refresh(world, TH_FIELD_BIT(TH_FIELD_PHASE));
    int count = 0;
    for (int i = 0; i < world->agents.count; ++i) count += !th_gone(world->agents.phase[i]);
    return count;
}

static bool is_field(const th_world *world, int field) {
    return field >= 0 && field < th_field_count(&world->agents);
}

void *th_world_map(th_world *world, int field, th_access access) {
    if (!is_field(world, field) || (unsigned)access > TH_ACCESS_OVERWRITE) return NULL;
    th_update_id_order(world);
    if (world->device) world->device->fetch(world, TH_FIELD_BIT(field));
    if (!world->views[field])
        world->views[field] = th_alloc(&world->memory, (size_t)world->agents.capacity, 4);
    uint32_t *view = world->views[field];
    if (!view) return NULL;
    world->view_access[field] = access;
    if (access != TH_ACCESS_OVERWRITE) {
        const uint32_t *array = th_field_get(&world->agents, field);
#pragma omp parallel for num_threads(world->threads) schedule(static)
        for (int k = 0; k < world->id_order_count; ++k) view[k] = array[world->id_order[k]];
    }
    return view;
}

const void *th_world_stored(th_world *world, int field, int *count) {
    *count = 0;
    if (!is_field(world, field)) return NULL;
    if (world->device) world->device->fetch(world, TH_FIELD_BIT(field));
    *count = world->agents.count;
    return th_field_get(&world->agents, field);
}

// No agent dies, is born or becomes a scripted body by a written phase: the counts would not add up.
bool th_may_become(const th_world *world, uint32_t i, int field, uint32_t value) {
    if (field == TH_FIELD_PHASE && !(th_moves(world->agents.phase[i]) && th_moves(value)))
        return false;
    uint32_t *bits = world->one_agent;
    for (int f = 0; f < th_field_count(&world->agents); ++f)
        bits[f] = ((const uint32_t *)th_field_get(&world->agents, f))[i];
    bits[field] = value;
    return th_agent_is_sound(world, bits);
}

void th_field_written(th_world *world, uint32_t i, int field) {
    if (field == TH_FIELD_RADIUS)
        world->max_radius = th_max(world->max_radius, world->agents.radius[i]);
    if (field != TH_FIELD_POSITION_X && field != TH_FIELD_POSITION_Y && field != TH_FIELD_LEVEL)
        return;
    th_step_off_walls(world, i);
    // The index is now older than the positions; searches look at all agents until it is rebuilt.
    world->max_moved = 1e6f;
}

void th_world_unmap(th_world *world, int field) {
    if (!is_field(world, field)) return;
    if (world->view_access[field] == TH_ACCESS_READ) return; // also where it was never mapped
    if (field == TH_FIELD_ID) return;                        // the views' own order
    th_fetch_to_change(world);
    const uint32_t *view = world->views[field];
    uint32_t *array = th_field_get(&world->agents, field);
    for (int k = 0; k < world->id_order_count; ++k) {
        uint32_t i = world->id_order[k];
        if (array[i] == view[k]) continue;
        if (th_may_become(world, i, field, view[k]))
            array[i] = view[k];
        else
            world->counters.repairs++;
        th_field_written(world, i, field);
    }
}

// Through the order of the ids where it is up to date, else one by one: a const world is not written.
int64_t th_find_agent(const th_world *world, uint32_t id) {
    if (!world->id_order_valid) {
        th_refresh(world, TH_FIELD_BIT(TH_FIELD_ID) | TH_FIELD_BIT(TH_FIELD_PHASE));
        for (int i = 0; i < world->agents.count; ++i)
            if (world->agents.id[i] == id && !th_gone(world->agents.phase[i])) return i;
        return -1;
    }
    int low = 0, high = world->id_order_count - 1;
    while (low <= high) {
        int middle = low + (high - low) / 2;
        uint32_t found = world->agents.id[world->id_order[middle]];
        if (found == id) return world->id_order[middle];
        if (found < id)
            low = middle + 1;
        else
            high = middle - 1;
    }
    return -1;
}

bool th_world_alive(const th_world *world, th_agent_id id) {
    return th_find_agent(world, id.serial) >= 0;
}

int th_world_remove(th_world *world, const th_agent_id *ids, int count) {
    th_fetch_to_change(world);
    th_update_id_order(world);
    int removed = 0;
    for (int k = 0; k < count; ++k) {
        int64_t i = th_find_agent(world, ids[k].serial);
        if (i < 0 || th_gone(world->agents.phase[i]))
            continue; // the order may still hold one removed just now
        if (world->agents.phase[i] != TH_PHASE_BODY) world->counters.removed++;
        if (world->agents.phase[i] == TH_PHASE_FALLEN) world->counters.fallen--;
        world->agents.phase[i] = TH_PHASE_REMOVED;
        removed++;
    }
    world->id_order_valid = false;
    th_ranks_count(world, false);
    return (int)th_ranks_sum(world, (uint64_t)removed);
}

// ---- grid views: a model's values of the cells of a level, copied out on request

const char *th_grid_name(th_grid_kind kind) {
    static const char *const names[] = {
#define X(NAME, name, doc) #name,
        TH_GRIDS(X)
#undef X
    };
    return (unsigned)kind < TH_GRID_COUNT ? names[kind] : "unknown";
}

static float *room_for(th_world *world, th_grid_kind kind, size_t count) {
    if (world->grid_view_sizes[kind] < count) {
        th_dealloc(&world->memory, world->grid_views[kind], world->grid_view_sizes[kind],
                   sizeof(float));
        world->grid_views[kind] = th_alloc(&world->memory, count, sizeof(float));
        world->grid_view_sizes[kind] = world->grid_views[kind] ? count : 0;
    }
    return world->grid_views[kind];
}

void th_release_grid_views(th_world *world) {
    for (int k = 0; k < TH_GRID_COUNT; ++k)
        th_dealloc(&world->memory, world->grid_views[k], world->grid_view_sizes[k], sizeof(float));
}

bool th_world_map_grid(th_world *world, th_grid_kind kind, int level, th_grid *grid) {
    *grid = (th_grid){0};
    if ((unsigned)kind >= TH_GRID_COUNT || level < 0 || level >= world->scene->level_count)
        return false;
    if (world->device) world->device->fetch_grids(world);
    int used[TH_MODEL_MAX], count = th_used_models(world, used);
    for (int k = 0; k < count; ++k) {
        const th_model *model = th_models(NULL)[used[k]];
        if (!model->grid || !model->grid(world, used[k], kind, level, grid, NULL)) continue;
        float *values = room_for(world, kind, (size_t)grid->nx * (size_t)grid->ny);
        if (values) return model->grid(world, used[k], kind, level, grid, values);
        *grid = (th_grid){0};
        return false;
    }
    return false;
}

// ---- questions to models: influences on an agent, directions of planners

int th_world_influences(th_world *world, th_agent_id id, int model, th_influence *list, int max) {
    if (world->device || world->ranks || max < 0) return 0;
    th_update_id_order(world);
    if (!th_world_alive(world, id)) return 0;
    // Models look around by the cells of the last step, which people have left since. Sorting is by cell and id, so
    // doing it once more changes nothing for the next step.
    th_stage_index(world);
    th_update_id_order(world);
    int64_t i = th_find_agent(world, id.serial);
    int count = 0;
    th_group_state *group = &world->groups[world->agents.group[i]];
    float *params;
    for (int k = 0; th_state_model(group, k, &params) != TH_NO_MODEL; ++k) {
        int m = (int)th_state_model(group, k, &params);
        if (model >= 0 && m != model) continue;
        const th_model *one = th_models(NULL)[m];
        int left = count < max ? max - count : 0;
        if (one->influences)
            count += one->influences(world, m, (uint32_t)i, left ? list + count : NULL, left);
    }
    return count;
}

const char *th_mood_name(th_mood mood) {
    static const char *const names[] = {
#define X(NAME, words) words,
        TH_MOODS(X)
#undef X
    };
    return (unsigned)mood < TH_MOOD_COUNT ? names[mood] : "unknown";
}

// Agents on the ground are fallen whatever their models say.
static th_mood mood_of(th_world *world, uint32_t i) {
    uint32_t phase = world->agents.phase[i];
    if (phase == TH_PHASE_FALLEN) return TH_MOOD_FALLEN;
    th_mood mood = phase == TH_PHASE_WAITING ? TH_MOOD_WAITS : TH_MOOD_CALM;
    if (!th_moves(phase)) return mood;
    th_group_state *group = &world->groups[world->agents.group[i]];
    float *params;
    for (int k = 0; th_state_model(group, k, &params) != TH_NO_MODEL; ++k) {
        int m = (int)th_state_model(group, k, &params);
        const th_model *model = th_models(NULL)[m];
        th_mood told = model->mood ? model->mood(world, m, i) : TH_MOOD_CALM;
        if (told > mood) mood = told;
    }
    return mood;
}

void th_world_moods(th_world *world, uint8_t *moods) {
    if (world->device) th_refresh(world, TH_ALL_FIELDS);
    th_update_id_order(world);
    for (int k = 0; k < world->id_order_count; ++k)
        moods[k] = (uint8_t)mood_of(world, world->id_order[k]);
}

bool th_world_directions(th_world *world, int target, int level, const th_vec2 *points, int count,
                         th_vec2 *directions) {
    const th_scene *scene = world->scene;
    if (target < 0 || target >= scene->target_count || level < 0 || level >= scene->level_count)
        return false;
    if (world->device) th_refresh(world, TH_ALL_FIELDS); // what was solved there
    for (int g = 0; g < scene->group_count; ++g) {
        int m = (int)world->groups[g].plan;
        const th_model *model = th_models(NULL)[m];
        if (!model->directions ||
            !model->directions(world, m, g, target, level, points, count, directions))
            continue;
        for (int k = 0; k < count; ++k) {
            float length = th_length(directions[k]);
            directions[k] = length > 0.0f ? th_scale(1.0f / length, directions[k]) : th_v(NAN, NAN);
        }
        return true;
    }
    return false;
}
