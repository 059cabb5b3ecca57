// What the behaviour hidac keeps per world. SPDX-License-Identifier: Apache-2.0
#include "behave/hidac/mind.h"
#include <math.h>
#include <string.h>

static int row_count(const th_scene *scene) { return scene->target_count + scene->goal_count; }

// ---- making

// How far behind a portal's line there is ground that one sees from the line.
static float beyond_of(const th_world *world, const th_mind *mind, int portal, int side) {
    const float tries[] = {0.6f, 0.3f, 0.1f};
    const th_room_portal *p = &mind->rooms->portals[portal];
    th_vec2 middle = th_scale(0.5f, th_add(p->a, p->b));
    th_vec2 over = th_scale(side == 1 ? 1.0f : -1.0f, p->over);
    const th_scene *scene = world->scene;
    th_walls walls = th_walls_of(scene, mind->open);
    for (int k = 0; k < 3; ++k) {
        th_vec2 from = th_add(middle, th_scale(0.01f, over));
        th_vec2 q = th_add(middle, th_scale(tries[k] + 0.25f, over));
        if (th_walls_first_crossing(&walls, p->levels[side], from, q, NULL) < 0) return tries[k];
    }
    return 0.05f;
}

static bool take_arrays(th_world *world, th_mind *m) {
    const th_scene *scene = world->scene;
    th_arena *arena = &m->arena;
    size_t people = (size_t)m->capacity, words = (size_t)m->words,
           portals = (size_t)m->rooms->portal_count, rows = (size_t)row_count(scene);
#define TAKE(name, count) m->name = th_arena_alloc(arena, (count) + 1, sizeof *m->name)
    TAKE(memory, people * words);
    TAKE(heard, people * words);
    TAKE(free_slots, people);
    TAKE(queue, (size_t)m->place_count * TH_MIND_BINS);
    TAKE(beyond, 2 * portals);
    TAKE(open, (size_t)scene->door_count);
    TAKE(no_doors, (size_t)m->door_words);
    TAKE(due, people);
    TAKE(next_aim, people);
    TAKE(leader, people);
    TAKE(told, people);
    TAKE(first_id, 2 * people);
    TAKE(first_aim, 2 * people);
    TAKE(first_room, 2 * people);
    TAKE(farthest, 2 * people);
#undef TAKE
    for (int b = 0; b < TH_MIND_BELIEFS; ++b) {
        m->beliefs[b].shut = th_arena_alloc(arena, (size_t)m->door_words, sizeof(uint32_t));
        m->beliefs[b].ways = th_arena_alloc(arena, rows * 2 * portals + 1, sizeof(float));
    }
    m->front.heap = th_arena_alloc(arena, 2 * portals + 1, sizeof *m->front.heap);
    m->front.place = th_arena_alloc(arena, 2 * portals + 1, sizeof *m->front.place);
    return !arena->failed;
}

static int move_field(const th_world *world, const char *name) {
    const th_model *move = th_models(NULL)[TH_MOVE_HIDAC];
    if (!th_model_field(world, TH_MOVE_HIDAC, 0)) return -1;
    for (int k = 0; k < move->field_count; ++k)
        if (strcmp(move->fields[k].name, name) == 0) return k;
    return -1;
}

bool th_mind_create(th_world *world, int model) {
    const th_scene *scene = world->scene;
    th_mind *m = th_alloc(&world->memory, 1, sizeof *m);
    if (!m) return false;
    th_model_set_state(world, model, m);
    m->arena = th_arena_of(&world->memory.allocator);
    th_error error;
    if (th_rooms_find(scene, TH_PASSAGE_WIDEST, &m->rooms, &error) != TH_OK) return false;
    m->capacity = world->agents.capacity;
    m->door_words = scene->door_count / 32 + 1;
    m->room_words = m->rooms->room_count / 32 + 1;
    m->words = m->door_words + m->room_words;
    m->place_count = 2 * m->rooms->portal_count + scene->goal_count;
    if (m->door_words > TH_MIND_DOOR_WORDS || !take_arrays(world, m)) return false;
    m->move_panic = move_field(world, "panic");
    m->move_manners = move_field(world, "manners");
    m->free_count = m->capacity;
    for (int k = 0; k < m->capacity; ++k) m->free_slots[k] = m->capacity - 1 - k;
    for (int n = 0; n < 2 * m->rooms->portal_count; ++n)
        m->beyond[n] = beyond_of(world, m, n / 2, n % 2);
    return true;
}

void th_mind_destroy(th_world *world, int model) {
    th_mind *m = th_model_state(world, model);
    th_rooms_destroy(m->rooms);
    th_arena_free(&m->arena);
    th_free(&world->memory, m, 1, sizeof *m);
}

// ---- memories

// People who are gone keep their places until there are none left; then those of the living are kept and all others free.
static void free_slots_again(th_world *world, th_mind *m) {
    const uint32_t *slots = th_own_words(world, TH_BEHAVE_HIDAC, TH_MIND_SLOT);
    uint32_t *used = m->heard; // work space: listeners have been served
    memset(used, 0, (size_t)m->capacity * sizeof *used);
    for (int i = 0; i < world->agents.count; ++i)
        if (slots[i] > 0 && !th_gone(world->agents.phase[i])) used[slots[i] - 1] = 1;
    m->free_count = 0;
    for (int k = m->capacity - 1; k >= 0; --k)
        if (!used[k]) m->free_slots[m->free_count++] = k;
}

int th_mind_take_slot(th_world *world, th_mind *m) {
    if (m->free_count == 0) free_slots_again(world, m);
    if (m->free_count == 0) return -1;
    return m->free_slots[--m->free_count];
}

// ---- ways

static void search_ways(const th_world *world, th_mind *m, th_belief *belief) {
    const th_scene *scene = world->scene;
    for (int r = 0; r < row_count(scene); ++r) {
        int single = r - scene->target_count;
        const int *goals = single < 0 ? scene->targets[r].goals : &single;
        int count = single < 0 ? scene->targets[r].goal_count : 1;
        th_room_ways(m->rooms, goals, count, belief->shut, &m->front,
                     belief->ways + (size_t)r * 2 * (size_t)m->rooms->portal_count);
    }
}

bool th_mind_ask(const th_world *world, th_mind *m, const uint32_t *shut, uint64_t since) {
    int b = th_mind_belief_of(m, shut);
    if (b < 0) {
        b = 0; // the one not asked for the longest
        for (int k = 1; k < TH_MIND_BELIEFS; ++k)
            if (m->beliefs[k].asked < m->beliefs[b].asked) b = k;
        if (m->beliefs[b].asked > since) return false;
        memcpy(m->beliefs[b].shut, shut, (size_t)m->door_words * sizeof *shut);
        search_ways(world, m, &m->beliefs[b]);
        m->beliefs[b].searched = m->asked + 1;
    }
    m->beliefs[b].asked = ++m->asked;
    return true;
}

// ---- snapshots

static size_t memory_bytes(const th_mind *m) {
    return (size_t)m->capacity * (size_t)m->words * sizeof *m->memory;
}
static size_t slot_bytes(const th_mind *m) { return (size_t)m->capacity * sizeof *m->free_slots; }

size_t th_mind_saved_size(const th_world *world, int model) {
    const th_mind *m = th_model_state(world, model);
    return memory_bytes(m) + slot_bytes(m) + sizeof m->free_count;
}

void th_mind_save(const th_world *world, int model, void *bytes) {
    const th_mind *m = th_model_state(world, model);
    char *at = bytes;
    memcpy(at, m->memory, memory_bytes(m));
    memcpy(at + memory_bytes(m), m->free_slots, slot_bytes(m));
    memcpy(at + memory_bytes(m) + slot_bytes(m), &m->free_count, sizeof m->free_count);
}

bool th_mind_saved_is_sound(const th_world *world, int model, const void *bytes, size_t size) {
    const th_mind *m = th_model_state(world, model);
    if (size != th_mind_saved_size(world, model)) return false;
    const char *at = bytes;
    int count, slot;
    memcpy(&count, at + memory_bytes(m) + slot_bytes(m), sizeof count);
    if (count < 0 || count > m->capacity) return false;
    for (int k = 0; k < count; ++k) {
        memcpy(&slot, at + memory_bytes(m) + (size_t)k * sizeof slot, sizeof slot);
        if (slot < 0 || slot >= m->capacity) return false;
    }
    return true;
}

void th_mind_restore(th_world *world, int model, const void *bytes) {
    th_mind *m = th_model_state(world, model);
    const char *at = bytes;
    memcpy(m->memory, at, memory_bytes(m));
    memcpy(m->free_slots, at + memory_bytes(m), slot_bytes(m));
    memcpy(&m->free_count, at + memory_bytes(m) + slot_bytes(m), sizeof m->free_count);
}

bool th_mind_fields_are_sound(const th_world *world, int model, int group, const uint32_t *fields) {
    (void)group;
    const th_mind *m = th_model_state(world, model);
    uint32_t portals = (uint32_t)m->rooms->portal_count;
    uint32_t goals = (uint32_t)world->scene->goal_count;
    return fields[TH_MIND_SLOT] <= (uint32_t)m->capacity &&
           fields[TH_MIND_ROOM] <= (uint32_t)m->rooms->room_count &&
           fields[TH_MIND_AIM] <= portals + goals && fields[TH_MIND_ENTERED] <= portals &&
           fields[TH_MIND_ENTRANCE] <= goals;
}
