// State of the behaviour hidac in a world. SPDX-License-Identifier: Apache-2.0
#include "behave/hidac/mind.h"
#include <math.h>
#include <string.h>

static int row_count(const th_scene *scene) { return scene->target_count + scene->goal_count; }

// ---- making

// Depth of the ground behind a portal's line that is in sight from the line.
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
    TAKE(goal_numbers, (size_t)scene->goal_count);
    TAKE(changes, (size_t)scene->door_count);
    TAKE(route_rooms, (size_t)scene->group_count * (size_t)m->room_words);
    TAKE(company_begin, (size_t)scene->group_count);
    TAKE(companies, (size_t)m->company_count);
    TAKE(due, people);
    TAKE(next_aim, people);
    TAKE(leader, people);
    TAKE(told, people);
#undef TAKE
    for (int b = 0; b < TH_MIND_BELIEFS; ++b) {
        m->beliefs[b].shut = th_arena_alloc(arena, (size_t)m->door_words, sizeof(uint32_t));
        m->beliefs[b].ways = th_arena_alloc(arena, rows * 2 * portals + 1, sizeof(float));
        m->beliefs[b].next = th_arena_alloc(arena, rows * 2 * portals + 1, sizeof(int));
        m->beliefs[b].known = th_arena_alloc(arena, rows + 1, 1);
    }
    m->front.heap = th_arena_alloc(arena, 2 * portals + 1, sizeof *m->front.heap);
    m->front.place = th_arena_alloc(arena, 2 * portals + 1, sizeof *m->front.place);
    return !arena->failed;
}

static bool comes_in_companies(const th_scene *scene, int group) {
    const th_group *g = &scene->groups[group];
    for (int k = 0; k < g->behave_count; ++k) {
        const th_mind_params *p = (const th_mind_params *)(const void *)g->behave[k].params;
        if (g->behave[k].model == TH_BEHAVE_HIDAC) return p->companions >= 2.0f;
    }
    return false;
}

// Rooms with a goal of the group's route.
static void mark_route_rooms(const th_scene *scene, const th_rooms *rooms, int group,
                             uint32_t *marked) {
    const th_group *g = &scene->groups[group];
    for (int leg = 0; leg < g->route_count; ++leg)
        for (int r = 0; r < rooms->room_count; ++r)
            for (int k = 0; k < rooms->rooms[r].goal_count; ++k)
                for (int t = 0; t < scene->targets[g->route[leg]].goal_count; ++t)
                    if (scene->targets[g->route[leg]].goals[t] == rooms->rooms[r].goals[k])
                        th_set_bit(marked, r, true);
}

static void fill_groups(const th_scene *scene, th_mind *m) {
    int companies = 0;
    for (int g = 0; g < scene->group_count; ++g) {
        m->company_begin[g] = comes_in_companies(scene, g) ? companies : -1;
        companies += comes_in_companies(scene, g) ? m->capacity : 0;
        mark_route_rooms(scene, m->rooms, g, m->route_rooms + (size_t)g * (size_t)m->room_words);
    }
    for (int c = 0; c < m->company_count; ++c) m->companies[c].leader = UINT32_MAX;
    for (int g = 0; g < scene->goal_count; ++g) m->goal_numbers[g] = g;
}

bool th_mind_create(th_world *world, int model) {
    const th_scene *scene = world->scene;
    th_mind *m = th_alloc(&world->memory, 1, sizeof *m);
    if (!m) return false;
    th_model_set_state(world, model, m);
    m->arena = th_arena_of(&world->memory.allocator);
    if (th_rooms_create(scene, TH_PASSAGE_WIDTH_MAX, &m->rooms, world->trouble) != TH_OK)
        return false;
    m->capacity = world->agents.capacity;
    m->door_words = scene->door_count / 32 + 1;
    m->room_words = m->rooms->room_count / 32 + 1;
    m->words = m->door_words + m->room_words + (scene->door_count + 1) / 2;
    for (int g = 0; g < scene->group_count; ++g)
        if (comes_in_companies(scene, g)) m->company_count += m->capacity;
    m->place_count = 2 * m->rooms->portal_count + scene->goal_count;
    if (m->door_words > TH_MIND_DOOR_WORDS || !take_arrays(world, m)) return false;
    for (int k = 0; k < TH_MIND_USES; ++k) m->used[k] = th_model_used_field(world, model, k);
    fill_groups(scene, m);
    m->free_count = m->capacity;
    for (int k = 0; k < m->capacity; ++k) m->free_slots[k] = m->capacity - 1 - k;
    for (int n = 0; n < 2 * m->rooms->portal_count; ++n)
        m->beyond[n] = beyond_of(world, m, n / 2, n % 2);
    return true;
}

void th_mind_destroy(th_world *world, int model) {
    th_mind *m = th_model_state(world, model);
    th_rooms_destroy(m->rooms);
    th_arena_release(&m->arena);
    th_dealloc(&world->memory, m, 1, sizeof *m);
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

static th_room_ways ways_of(const th_world *world, th_mind *m, th_belief *belief, int row) {
    const th_scene *scene = world->scene;
    int single = row - scene->target_count;
    size_t at = (size_t)row * 2 * (size_t)m->rooms->portal_count;
    th_room_ways w = {m->rooms, NULL, 1, &m->front, belief->ways + at, belief->next + at};
    w.goals = single < 0 ? scene->targets[row].goals : &m->goal_numbers[single];
    if (single < 0) w.goal_count = scene->targets[row].goal_count;
    return w;
}

static int differing_doors(const th_mind *m, const uint32_t *a, const uint32_t *b) {
    int count = 0;
    for (int k = 0; k < m->door_words; ++k) count += __builtin_popcount(a[k] ^ b[k]);
    return count;
}

// From the ways of the set that differs least, if there is one.
static void search_row(const th_world *world, th_mind *m, th_belief *belief, int row) {
    const th_belief *like = NULL;
    int least = 0;
    for (int k = 0; k < TH_MIND_BELIEFS; ++k) {
        const th_belief *other = &m->beliefs[k];
        if (other == belief || other->asked == 0 || !other->known[row]) continue;
        int differing = differing_doors(m, other->shut, belief->shut);
        if (like && differing >= least) continue;
        like = other;
        least = differing;
    }
    th_room_ways w = ways_of(world, m, belief, row);
    belief->known[row] = 1;
    if (!like) {
        th_room_ways_search(&w, belief->shut);
        return;
    }
    size_t nodes = 2 * (size_t)m->rooms->portal_count, at = (size_t)row * nodes;
    memcpy(w.ways, like->ways + at, nodes * sizeof *w.ways);
    memcpy(w.next, like->next + at, nodes * sizeof *w.next);
    th_room_ways_change(&w, like->shut, belief->shut);
}

bool th_mind_ask(const th_world *world, th_mind *m, const uint32_t *shut, int row, uint64_t since) {
    int b = th_mind_belief_of(m, shut), rows = row_count(world->scene);
    if (b < 0) {
        b = 0; // the one not asked for the longest
        for (int k = 1; k < TH_MIND_BELIEFS; ++k)
            if (m->beliefs[k].asked < m->beliefs[b].asked) b = k;
        if (m->beliefs[b].asked > since) return false;
        memcpy(m->beliefs[b].shut, shut, (size_t)m->door_words * sizeof *shut);
        memset(m->beliefs[b].known, 0, (size_t)rows);
    }
    th_belief *belief = &m->beliefs[b];
    for (int r = row < 0 ? 0 : row; r < (row < 0 ? rows : row + 1); ++r) {
        if (belief->known[r]) continue;
        search_row(world, m, belief, r);
        belief->searched = m->asked + 1;
    }
    belief->asked = ++m->asked;
    return true;
}

// ---- snapshots

// The saved parts, in order, of a world with room for `capacity` people: another one than this world's where a run goes
// on in a world that was made for more or fewer.
typedef struct part {
    void *bytes;
    size_t size;
} part;
enum { PARTS = 7, CAPACITY = 0, MEMORY = 1, SLOTS = 2, COUNT = 3, COMPANIES = 5 };

static void list_parts(const th_world *world, const th_mind *m, int capacity, part *parts) {
    size_t people = (size_t)capacity;
    size_t companies =
        (size_t)m->company_count / (size_t)m->capacity * people; // of each group so many
    part all[PARTS] = {{(void *)&m->capacity, sizeof m->capacity},
                       {m->memory, people * (size_t)m->words * sizeof *m->memory},
                       {m->free_slots, people * sizeof *m->free_slots},
                       {(void *)&m->free_count, sizeof m->free_count},
                       {m->queue, (size_t)m->place_count * TH_MIND_BINS * sizeof *m->queue},
                       {m->companies, companies * sizeof *m->companies},
                       {m->changes, (size_t)world->scene->door_count * sizeof *m->changes}};
    memcpy(parts, all, sizeof all);
}

static size_t size_of_parts(const part *parts) {
    size_t size = 0;
    for (int k = 0; k < PARTS; ++k) size += parts[k].size;
    return size;
}

size_t th_mind_saved_size(const th_world *world, int model) {
    part parts[PARTS];
    const th_mind *m = th_model_state(world, model);
    list_parts(world, m, m->capacity, parts);
    return size_of_parts(parts);
}

void th_mind_save(const th_world *world, int model, void *bytes) {
    part parts[PARTS];
    char *at = bytes;
    const th_mind *m = th_model_state(world, model);
    list_parts(world, m, m->capacity, parts);
    for (int k = 0; k < PARTS; at += parts[k++].size) memcpy(at, parts[k].bytes, parts[k].size);
}

static bool slots_are_sound(int capacity, const char *slots, const char *count_bytes) {
    int count, slot;
    memcpy(&count, count_bytes, sizeof count);
    if (count < 0 || count > capacity) return false;
    for (int k = 0; k < count; ++k) {
        memcpy(&slot, slots + (size_t)k * sizeof slot, sizeof slot);
        if (slot < 0 || slot >= capacity) return false;
    }
    return true;
}

static bool companies_are_sound(const th_world *world, const th_mind *m, const char *bytes,
                                size_t size) {
    uint32_t portals = (uint32_t)m->rooms->portal_count;
    for (size_t k = 0; k < size / sizeof(th_company); ++k) {
        th_company c;
        memcpy(&c, bytes + k * sizeof c, sizeof c);
        if (c.aim > portals + (uint32_t)world->scene->goal_count || c.entered > portals ||
            c.room > (uint32_t)m->rooms->room_count || !(fabsf(c.farthest) < INFINITY) ||
            !(fabsf(c.goal.x) < INFINITY) || !(fabsf(c.goal.y) < INFINITY))
            return false;
    }
    return true;
}

bool th_mind_saved_is_sound(const th_world *world, int model, const void *bytes, size_t size) {
    const th_mind *m = th_model_state(world, model);
    int capacity;
    if (size < sizeof capacity) return false;
    memcpy(&capacity, bytes, sizeof capacity);
    part parts[PARTS];
    const char *begin[PARTS], *at = bytes;
    if (capacity < 1 || capacity > INT32_MAX / 2) return false;
    list_parts(world, m, capacity, parts);
    if (size != size_of_parts(parts)) return false;
    for (int k = 0; k < PARTS; at += parts[k++].size) begin[k] = at;
    return slots_are_sound(capacity, begin[SLOTS], begin[COUNT]) &&
           companies_are_sound(world, m, begin[COMPANIES], parts[COMPANIES].size);
}

// Rows of `from`, of which there were `before` for each group, to m->capacity each.
static void restore_companies(th_mind *m, const char *from, int before) {
    size_t rows = (size_t)(before < m->capacity ? before : m->capacity), row = sizeof *m->companies;
    for (int begin = 0; begin < m->company_count; begin += m->capacity) {
        memcpy(m->companies + begin, from, rows * row);
        from += (size_t)before * row;
    }
}

void th_mind_restore(th_world *world, int model, const void *bytes) {
    th_mind *m = th_model_state(world, model);
    int capacity;
    memcpy(&capacity, bytes, sizeof capacity);
    part parts[PARTS];
    const char *at = bytes;
    list_parts(world, m, capacity, parts);
    size_t most = (size_t)m->capacity * (size_t)m->words * sizeof *m->memory;
    for (int k = 0; k < PARTS; at += parts[k++].size) {
        if (k == COMPANIES) restore_companies(m, at, capacity);
        if (k == CAPACITY || k == SLOTS || k == COUNT || k == COMPANIES) continue;
        memcpy(parts[k].bytes, at, k == MEMORY && most < parts[k].size ? most : parts[k].size);
    }
    m->free_count = 0;
    if (capacity != m->capacity) {
        free_slots_again(world, m);
        return;
    }
    const char *slots = (const char *)bytes + parts[CAPACITY].size + parts[MEMORY].size;
    memcpy(m->free_slots, slots, parts[SLOTS].size);
    memcpy(&m->free_count, slots + parts[SLOTS].size, parts[COUNT].size);
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
