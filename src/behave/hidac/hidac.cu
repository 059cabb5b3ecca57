// The behaviour hidac on the device: one thread per person, and a list of those whose turn it is. Ways over the rooms
// are searched on the host, once for every set of doors that an agent takes for shut; while there is none, nothing is
// copied. SPDX-License-Identifier: Apache-2.0
#include "behave/hidac/think.h"
#include "behave/hidac/walk.h"
#include "device/model.cuh"
#include "device/upload.cuh"

namespace th {

enum { ASKED_AT_ONCE = 16 }; // sets of shut doors that the host is told of at a time

struct mind_words {
    // agents: on turn, of these minding others, new, without ways for their beliefs
    uint32_t due, minding, fresh, missing;
};

// On the host, with device pointers.
struct mind_device {
    th_mind *mind; // on the device
    th_mind known; // its pointers
    mind_words *words;
    uint32_t *minding; // places in the list of those whose turn it is
    uint32_t *wanted;  // ASKED_AT_ONCE sets of shut doors
    uint8_t *decided;  // by place in the list of those whose turn it is
    bool doubts;       // an agent may take a door for shut
    bool crowded;      // places for memories may run out
};

static mind_device *device_of(const th_world *host) {
    return (mind_device *)host->device_world->model_state[TH_BEHAVE_HIDAC];
}
static th_mind *host_of(const th_world *host) {
    return (th_mind *)host->model_state[TH_BEHAVE_HIDAC];
}
static size_t belief_bytes(const th_world *host) {
    const th_mind *m = host_of(host);
    size_t rows = (size_t)host->scene->target_count + (size_t)host->scene->goal_count;
    return rows * 2 * (size_t)m->rooms->portal_count * sizeof(float);
}

// ---- memory

static th_rooms *copy_rooms(store &s, const th_world *host) {
    const th_rooms *from = host_of(host)->rooms;
    th_room_store copy = *th_room_store_of(from);
    th_rooms &rooms = copy.rooms;
    rooms.scene = host->device_world->known.scene;
    copy.arena = nullptr;
    rooms.rooms = copy_each(s, from->rooms, from->room_count, [&](th_room &room) {
        size_t places = (size_t)room.portal_count + (size_t)room.goal_count;
        room.shape = copy_polygons(s, room.shape);
        room.portals = s.copy(room.portals, (size_t)room.portal_count);
        room.goals = s.copy(room.goals, (size_t)room.goal_count);
        room.distances = s.copy(room.distances, places * places);
    });
    rooms.portals = s.copy(from->portals, (size_t)from->portal_count);
    copy.grids = copy_each(s, copy.grids, host->scene->level_count, [&](th_room_grid &grid) {
        if (!grid.start) return;
        size_t cells = (size_t)grid.nx * (size_t)grid.ny, entries = (size_t)grid.start[cells];
        grid.start = s.copy(grid.start, cells + 1);
        grid.list = s.copy(grid.list, entries);
    });
    return &s.copy(&copy, 1)->rooms;
}

static void take_arrays(mind_device *d, store &s, const th_world *host) {
    const th_mind *m = host_of(host);
    th_mind *k = &d->known;
    size_t people = (size_t)m->capacity, words = (size_t)m->words;
    k->rooms = copy_rooms(s, host);
    k->memory = s.room<uint32_t>(people * words);
    k->heard = s.room<uint32_t>(people * words);
    k->free_slots = s.room<int>(people);
    k->queue = s.room<int>((size_t)m->place_count * TH_MIND_BINS);
    k->beyond = s.copy(m->beyond, 2 * (size_t)m->rooms->portal_count);
    k->open = nullptr;
    k->no_doors = s.copy(m->no_doors, (size_t)m->door_words);
    uint32_t **lists[] = {&k->due, &k->next_aim, &k->leader};
    for (uint32_t **list : lists) *list = s.room<uint32_t>(people);
    k->told = s.room<bool>(people);
    size_t groups = (size_t)host->scene->group_count;
    k->changes = s.room<uint16_t>((size_t)host->scene->door_count);
    k->route_rooms = s.copy(m->route_rooms, groups * (size_t)m->room_words);
    k->company_begin = s.copy(m->company_begin, groups);
    k->companies = s.room<th_company>((size_t)m->company_count);
    k->goal_numbers = nullptr;
    for (th_belief &belief : k->beliefs) {
        belief.shut = s.room<uint32_t>((size_t)m->door_words);
        belief.ways = (float *)s.take(belief_bytes(host));
        belief.next = nullptr;
        belief.known = nullptr;
        belief.asked = 0;
    }
    k->front = {};
}

static bool mind_create(th_world *host) {
    store &s = host->device_world->store;
    mind_device *d = new (std::nothrow) mind_device();
    if (!d) return false;
    host->device_world->model_state[TH_BEHAVE_HIDAC] = d;
    d->known = *host_of(host);
    d->mind = s.room<th_mind>(1);
    d->words = s.room<mind_words>(1);
    d->minding = s.room<uint32_t>((size_t)d->known.capacity);
    d->wanted = s.room<uint32_t>(ASKED_AT_ONCE * (size_t)d->known.door_words);
    d->decided = s.room<uint8_t>((size_t)d->known.capacity);
    take_arrays(d, s, host);
    if (s.failed) return false;
    clear(d->words, sizeof *d->words);
    return put(d->mind, &d->known, sizeof d->known);
}

static void mind_destroy(th_world *host) {
    delete device_of(host);
    host->device_world->model_state[TH_BEHAVE_HIDAC] = nullptr;
}

// ---- to the device and back

// The parts of a snapshot, here and on the host.
struct mind_part {
    void *host, *device;
    size_t size;
};
enum { MIND_PARTS = 6 };

static void list_parts(const th_world *host, mind_device *d, mind_part *parts) {
    th_mind *m = host_of(host), *k = &d->known;
    size_t people = (size_t)m->capacity;
    const mind_part all[MIND_PARTS] = {
        {m->memory, k->memory, people * (size_t)m->words * sizeof *m->memory},
        {m->free_slots, k->free_slots, people * sizeof *m->free_slots},
        {&m->free_count, &d->mind->free_count, sizeof m->free_count},
        {m->queue, k->queue, (size_t)m->place_count * TH_MIND_BINS * sizeof *m->queue},
        {m->companies, k->companies, (size_t)m->company_count * sizeof *m->companies},
        {m->changes, k->changes, (size_t)host->scene->door_count * sizeof *m->changes}};
    memcpy(parts, all, sizeof all);
}

// Sends the ways that the device lacks.
static bool put_beliefs(mind_device *d, const th_world *host) {
    const th_mind *m = host_of(host);
    bool good = true;
    for (int b = 0; b < TH_MIND_BELIEFS && good; ++b) {
        th_belief *there = &d->known.beliefs[b];
        const th_belief *here = &m->beliefs[b];
        if (there->asked == here->searched) continue;
        there->asked = here->searched;
        good = put(there->shut, here->shut, (size_t)m->door_words * sizeof *here->shut) &&
               (belief_bytes(host) == 0 || put(there->ways, here->ways, belief_bytes(host)));
    }
    return good && put(d->mind->beliefs, d->known.beliefs, sizeof d->known.beliefs);
}

// Is a door shut, or taken for shut by any agent, present or gone?
static bool has_doubts(const th_world *host) {
    const th_mind *m = host_of(host);
    for (int door = 0; door < host->scene->door_count; ++door)
        if (host->door_closed[door]) return true;
    for (int k = 0; k < m->capacity; ++k)
        if (!th_same_words(m->memory + (size_t)k * (size_t)m->words, m->no_doors, m->door_words))
            return true;
    return false;
}

static bool mind_send(th_world *host) {
    mind_device *d = device_of(host);
    th_mind *m = host_of(host);
    d->doubts = has_doubts(host);
    d->crowded = host->device_world->sources || m->free_count < host->agents.count;
    th_mind_ask(host, m, m->no_doors, -1, UINT64_MAX);
    mind_part parts[MIND_PARTS];
    list_parts(host, d, parts);
    bool good = true;
    for (const mind_part &p : parts) good = good && (p.size == 0 || put(p.device, p.host, p.size));
    return good && put_beliefs(d, host);
}

static bool mind_fetch(th_world *host) {
    mind_part parts[MIND_PARTS];
    list_parts(host, device_of(host), parts);
    bool good = true;
    for (const mind_part &p : parts) good = good && (p.size == 0 || get(p.host, p.device, p.size));
    return good;
}

// ---- new people

// Frees the memory slots of agents that are gone, when slots run short.
static void free_slots_again(th_world *host, mind_device *d) {
    th_mind *m = d->mind;
    mind_words *words = d->words;
    each(
        d->known.capacity, TH_LAMBDA(int k) {
            if (words->fresh > (uint32_t)m->free_count) m->heard[k] = 0;
        });
    for_each_agent(
        host, TH_LAMBDA(th_world * world, int i) {
            uint32_t slot = th_own_words(world, TH_BEHAVE_HIDAC, TH_MIND_SLOT)[i];
            if (words->fresh > (uint32_t)m->free_count && slot > 0 &&
                !th_gone(world->agents.phase[i]))
                m->heard[slot - 1] = 1;
        });
    once(
        host, TH_LAMBDA(th_world *) {
            words->missing = words->fresh > (uint32_t)m->free_count ? 1 : 0;
            if (words->missing) m->free_count = 0;
        });
    each(
        d->known.capacity, TH_LAMBDA(int k) {
            if (words->missing && !m->heard[k])
                m->free_slots[add((uint32_t *)&m->free_count, 1u)] = k;
        });
}

// The order of the slots is not fixed; no result depends on it.
static void welcome(th_world *host, mind_device *d) {
    th_mind *m = d->mind;
    mind_words *words = d->words;
    for_each_agent(
        host, TH_LAMBDA(th_world * world, int i) {
            th_mind_step s = th_mind_begin(world, m);
            if (s.slot[i] == 0 && th_mind_is_own(&s, (uint32_t)i))
                m->next_aim[i] = add(&words->fresh, 1u);
        });
    if (d->crowded) free_slots_again(host, d);
    for_each_agent(
        host, TH_LAMBDA(th_world * world, int i) {
            th_mind_step s = th_mind_begin(world, m);
            if (s.slot[i] != 0 || !th_mind_is_own(&s, (uint32_t)i)) return;
            int left = m->free_count - (int)m->next_aim[i];
            th_mind_welcome(&s, (uint32_t)i, left > 0 ? m->free_slots[left - 1] : -1);
        });
    once(
        host, TH_LAMBDA(th_world *) {
            m->free_count =
                m->free_count > (int)words->fresh ? m->free_count - (int)words->fresh : 0;
            words->fresh = 0;
        });
}

// ---- what all know: moods, doors, queues and companies

static void survey(th_world *host, mind_device *d) {
    th_mind *m = d->mind;
    clear(d->mind->fright, sizeof d->mind->fright);
    once(
        host, TH_LAMBDA(th_world *) { m->upset = m->strangers = m->doors_changed = 0; });
    if (host->scene->door_count > 0) {
        const th_world *there = world_on_device(host);
        each(
            host->scene->door_count, TH_LAMBDA(int k) { th_mind_note_door(there, m, k); });
    }
    for_each_agent(
        host, TH_LAMBDA(th_world * world, int i) {
            th_mind_step s = th_mind_begin(world, m);
            if (th_mind_frightens(&s, (uint32_t)i))
                *th_mind_patch_at(&s, (uint32_t)i) = m->upset = 1;
            if (th_mind_is_stranger(&s, (uint32_t)i)) m->strangers = 1;
        });
}

// People lie in the order of cells, so most of a warp counts in one place.
TH_ON_GPU static void count_in(int *bin) {
#ifdef __CUDACC__
    unsigned same = __match_any_sync(__activemask(), (unsigned long long)bin);
    if (threadIdx.x % 32 == lowest_bit(same)) add(bin, __popc(same));
#else
    add(bin, 1);
#endif
}

static void count_queues(th_world *host, mind_device *d) {
    th_mind *m = d->mind;
    clear(d->known.queue, (size_t)d->known.place_count * TH_MIND_BINS * sizeof(int));
    for_each_agent(
        host, TH_LAMBDA(th_world * world, int i) {
            th_mind_step s = th_mind_begin(world, m);
            int *bin = th_mind_bin_before(&s, (uint32_t)i);
            if (bin) count_in(bin);
        });
}

// Ways left are not negative, and such numbers are in the order of their bits.
static void gather_companies(th_world *host, mind_device *d) {
    th_mind *m = d->mind;
    if (d->known.company_count == 0) return;
    each(
        d->known.company_count, TH_LAMBDA(int c) {
            th_company none = {};
            none.leader = UINT32_MAX;
            m->companies[c] = none;
        });
    for_each_agent(
        host, TH_LAMBDA(th_world * world, int i) {
            th_mind_step s = th_mind_begin(world, m);
            th_company *c = th_mind_company_joined(&s, (uint32_t)i);
            if (c) smallest(&c->leader, th_mind_claim(&s, (uint32_t)i));
        });
    for_each_agent(
        host, TH_LAMBDA(th_world * world, int i) {
            th_mind_step s = th_mind_begin(world, m);
            th_company *c = th_mind_company_joined(&s, (uint32_t)i);
            if (!c || !th_mind_came_with(&s, c, (uint32_t)i)) return;
            if (!th_mind_knows_way(s.nature[i])) c->unsure = 1;
            if (th_mind_leads_company(&s, c, (uint32_t)i)) th_mind_lead_company(&s, c, (uint32_t)i);
        });
    for_each_agent(
        host, TH_LAMBDA(th_world * world, int i) {
            th_mind_step s = th_mind_begin(world, m);
            th_company *c = th_mind_company_joined(&s, (uint32_t)i);
            if (!c || !th_mind_came_with(&s, c, (uint32_t)i)) return;
            float way = th_mind_way_in_company(&s, c, (uint32_t)i);
            uint32_t bits;
            memcpy(&bits, &way, sizeof bits);
            largest((uint32_t *)&c->farthest, bits);
        });
}

// ---- turns

static void list_due(th_world *host, mind_device *d) {
    th_mind *m = d->mind;
    mind_words *words = d->words;
    once(
        host, TH_LAMBDA(th_world *) { words->due = words->minding = 0; });
    for_each_agent(
        host, TH_LAMBDA(th_world * world, int i) {
            th_mind_step s = th_mind_begin(world, m);
            if (th_mind_is_due(&s, (uint32_t)i)) m->due[add(&words->due, 1u)] = (uint32_t)i;
        });
}

// function(step, k) for all agents whose turn it is.
template <class Function> static void each_due(th_world *host, mind_device *d, Function function) {
    th_mind *m = d->mind;
    const mind_words *words = d->words;
    for_each_agent(
        host, TH_LAMBDA(th_world * world, int k) {
            if ((uint32_t)k >= words->due) return;
            th_mind_step s = th_mind_begin(world, m);
            function(&s, k);
        });
}

// The same for those of them that mind others: one in five or fewer, so the threads of a warp are not left idle.
template <class Function>
static void each_minding(th_world *host, mind_device *d, Function function) {
    th_mind *m = d->mind;
    const mind_words *words = d->words;
    const uint32_t *minding = d->minding;
    for_each_agent(
        host, TH_LAMBDA(th_world * world, int k) {
            if ((uint32_t)k >= words->minding) return;
            th_mind_step s = th_mind_begin(world, m);
            function(&s, (int)minding[k]);
        });
}

static void look(th_world *host, mind_device *d) {
    mind_words *words = d->words;
    uint32_t *minding = d->minding;
    each_due(
        host, d, TH_LAMBDA(const th_mind_step *s, int k) {
            th_mind_look(s, k);
            s->mind->leader[k] = UINT32_MAX;
            if (th_mind_minds_others(s, s->mind->due[k]))
                minding[add(&words->minding, 1u)] = (uint32_t)k;
        });
}

// Agents whose ways are at hand decide; the beliefs of some of the others go to the host.
static void decide_some(th_world *host, mind_device *d) {
    mind_words *words = d->words;
    uint32_t *wanted = d->wanted;
    uint8_t *decided = d->decided;
    once(
        host, TH_LAMBDA(th_world *) { words->missing = 0; });
    each_due(
        host, d, TH_LAMBDA(const th_mind_step *s, int k) {
            if (decided[k]) return;
            const uint32_t *shut = th_mind_memory_of(s, s->mind->due[k]);
            int doors = s->mind->door_words;
            if (th_mind_belief_of(s->mind, shut) >= 0) {
                th_mind_decide(s, k);
                decided[k] = 1;
                return;
            }
            uint32_t at = add(&words->missing, 1u);
            for (int w = 0; at < ASKED_AT_ONCE && w < doors; ++w)
                wanted[at * (uint32_t)doors + (uint32_t)w] = shut[w];
        });
}

// In rounds, until every agent has its ways.
static bool decide_in_doubt(th_world *host, mind_device *d) {
    th_mind *m = host_of(host);
    uint32_t *sets = m->heard; // work space of the host, not in use by a world on the device
    size_t bytes = (size_t)m->door_words * sizeof *sets;
    clear(d->decided, (size_t)d->known.capacity);
    for (;;) {
        mind_words words;
        decide_some(host, d);
        if (!finish() || !get(&words, d->words, sizeof words)) return false;
        if (words.missing == 0) return true;
        size_t count = words.missing < ASKED_AT_ONCE ? words.missing : (size_t)ASKED_AT_ONCE;
        if (!get(sets, d->wanted, count * bytes)) return false;
        uint64_t since = m->asked;
        th_mind_ask(host, m, m->no_doors, -1, since);
        for (size_t k = 0; k < count; ++k)
            th_mind_ask(host, m, sets + k * (size_t)m->door_words, -1, since);
        if (!put_beliefs(d, host)) return false;
    }
}

static void decide(th_world *host, mind_device *d) {
    if (d->doubts) {
        decide_in_doubt(host, d);
        return;
    }
    each_due(
        host, d, TH_LAMBDA(const th_mind_step *s, int k) { th_mind_go_on(s, k); });
    each_minding(
        host, d, TH_LAMBDA(const th_mind_step *s, int k) { th_mind_reconsider(s, k); });
}

static void mind_run(th_world *host) {
    mind_device *d = device_of(host);
    welcome(host, d);
    survey(host, d);
    if (host->step_count % th_mind_period(host->dt) == 0) {
        count_queues(host, d);
        gather_companies(host, d);
    }
    list_due(host, d);
    look(host, d);
    each_minding(
        host, d, TH_LAMBDA(const th_mind_step *s, int k) { th_mind_listen(s, k); });
    each_minding(
        host, d, TH_LAMBDA(const th_mind_step *s, int k) { th_mind_remember(s, k); });
    decide(host, d);
    each_due(
        host, d, TH_LAMBDA(const th_mind_step *s, int k) { th_mind_commit(s, k); });
}

const device_model device_behave_hidac = {.create = mind_create,
                                          .destroy = mind_destroy,
                                          .run = mind_run,
                                          .send = mind_send,
                                          .fetch = mind_fetch};

} // namespace th
