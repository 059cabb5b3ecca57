// HiDAC, the high level: rooms, knowledge, talk, impatience, panic. A person looks around five times and thinks once a
// second, people in turns, so a step costs a fraction of the crowd. Everything that others see (aim, nature, memory) changes
// between loops only: the result does not depend on the number of threads. Cost per thought: the places of the room, the
// people within range; of those who explore also the rooms they know. SPDX-License-Identifier: Apache-2.0
#include "behave/hidac/think.h"
#include "behave/hidac/walk.h"
#include "core/parallel.h"
#include <string.h>

// Is anybody new? Also whether anybody is in panic.
static bool is_new(const th_mind_step *s) {
    int fresh = 0, upset = 0;
#pragma omp parallel for num_threads(s->world->threads) schedule(static) reduction(+ : fresh, upset)
    for (int k = 0; k < s->world->agents.count; ++k) {
        fresh += s->slot[k] == 0 && th_mind_is_own(s, (uint32_t)k);
        upset += (s->nature[k] & TH_MIND_PANICS) != 0;
    }
    s->mind->upset = upset > 0;
    return fresh > 0;
}

static void welcome(const th_mind_step *s) {
    for (int k = 0; k < s->world->agents.count; ++k)
        if (s->slot[k] == 0 && th_mind_is_own(s, (uint32_t)k))
            th_mind_welcome(s, (uint32_t)k, th_mind_take_slot(s->world, s->mind));
}

static void count_queues(const th_mind_step *s) {
    memset(s->mind->queue, 0, (size_t)s->mind->place_count * TH_MIND_BINS * sizeof(int));
#pragma omp parallel for num_threads(s->world->threads) schedule(static)
    for (int k = 0; k < s->world->agents.count; ++k) {
        int *bin = th_mind_bin_before(s, (uint32_t)k);
        if (!bin) continue;
#pragma omp atomic
        ++*bin;
    }
}

static void gather_companies(const th_mind_step *s) {
    const th_agents *a = &s->world->agents;
    th_mind *m = s->mind;
    if (!th_mind_has_companies(s->world)) return;
    memset(m->first_id, 0, 2 * (size_t)m->capacity * sizeof *m->first_id);
    for (int k = 0; k < a->count; ++k) {
        uint32_t i = (uint32_t)k, c = th_mind_company_joined(s, i);
        if (c == UINT32_MAX) continue;
        bool first = m->first_id[c] == 0 || a->id[i] < m->first_id[c];
        m->farthest[c] =
            m->first_id[c] == 0 ? s->remaining[i] : th_max(m->farthest[c], s->remaining[i]);
        if (!first) continue;
        m->first_id[c] = a->id[i];
        m->first_aim[c] = s->aim[i];
        m->first_room[c] = s->room[i];
    }
}

static int list_due(const th_mind_step *s) {
    int count = 0;
    for (int k = 0; k < s->world->agents.count; ++k)
        if (th_mind_is_due(s, (uint32_t)k)) s->mind->due[count++] = (uint32_t)k;
    return count;
}

// Ways for everything that those on the list believe, from `begin` to the first for whom there is no place; the set of the
// last one is likely that of the next.
static int prepare_ways(const th_mind_step *s, int begin, int count) {
    const uint32_t *last = NULL;
    uint64_t since = s->mind->asked;
    th_mind_ask(s->world, s->mind, s->mind->no_doors, since);
    for (int k = begin; k < count; ++k) {
        const uint32_t *shut = th_mind_memory_of(s, s->mind->due[k]);
        if (last && th_same_words(last, shut, s->mind->door_words)) continue;
        if (!th_mind_ask(s->world, s->mind, shut, since)) return k;
        last = shut;
    }
    return count;
}

typedef void due_fn(const th_mind_step *s, int k);
static void each_due(const th_mind_step *s, int begin, int end, due_fn *function) {
#pragma omp parallel for num_threads(s->world->threads) schedule(dynamic, 64)
    for (int k = begin; k < end; ++k) function(s, k);
}

static void run(th_world *world, int model) {
    th_mind_step s = th_mind_begin(world, th_model_state(world, model));
    if (is_new(&s)) welcome(&s);
    if (world->step_count % s.period == 0) {
        count_queues(&s);
        gather_companies(&s);
    }
    int count = list_due(&s);
    each_due(&s, 0, count, th_mind_look);
    each_due(&s, 0, count, th_mind_listen);
    each_due(&s, 0, count, th_mind_remember);
    for (int begin = 0; begin < count;) {
        int end = prepare_ways(&s, begin, count);
        each_due(&s, begin, end, th_mind_decide);
        begin = end;
    }
    each_due(&s, 0, count, th_mind_commit);
}

static const char *check(const float *values, int *param) {
    const th_mind_params *p = (const th_mind_params *)(const void *)values;
    if (p->knows_all + p->knows_way_in > 1.00001f) {
        *param = (int)(&p->knows_way_in - values);
        return "together with knows_all more than 1; the shares of a group add up to at most 1";
    }
    if (p->anxious + p->polite + p->impatient > 1.00001f) {
        *param = (int)(&p->impatient - values);
        return "anxious, polite and impatient are more than 1 together; give shares that add up to "
               "at most 1";
    }
    return NULL;
}

static const th_field_info fields[TH_MIND_FIELDS] = {
    [TH_MIND_SLOT] = {"slot", false, false, "1 + place of its memory"},
    [TH_MIND_ROOM] = {"room", false, true, "1 + room, 0: none"},
    [TH_MIND_AIM] = {"aim", false, true, "1 + portal, or 1 + number of portals + goal; 0: none"},
    [TH_MIND_ENTERED] = {"entered", false, true, "1 + portal by which it came into the room"},
    [TH_MIND_NATURE] =
        {"nature", false, true,
         "bits: 1 knows all, 2 way in, 4 trained, 8 follower, 16 anxious, 32 polite, "
         "64 impatient, 128 in panic, 256 heard the alarm, 512 was told the way"},
    [TH_MIND_ENTRANCE] = {"entrance", false, true, "1 + exit by which it came in"},
    [TH_MIND_FOLLOWS] = {"follows", false, true, "id of the leader whom it follows"},
    [TH_MIND_JAMMED] = {"jammed", true, true, "time in the jam before its aim [s]"},
    [TH_MIND_CHANGED] = {"changed", true, true, "time until it may change its mind again [s]"},
    [TH_MIND_PANIC] = {"panic", true, true, "level, 0 to 1"},
    [TH_MIND_REMAINING] = {"remaining", true, true, "way left as far as it knows [m]"},
    [TH_MIND_WAITED] = {"waited", true, true, "for companions and followers [s]"},
    [TH_MIND_CALLED] = {"called", true, true, "left of a follower's call to wait [s]"},
};
static const th_param_info params[] = {TH_MIND_PARAMS(TH_PARAM_INFO)};
const th_model th_behave_hidac_model = {
    .cookie = TH_MODEL_COOKIE,
    .stage = TH_STAGE_BEHAVE,
    .name = "hidac",
    .doc = "rooms, what people know of them, talk, impatience, panic",
    .source = TH_PB06,
    .params = params,
    .param_count = TH_COUNT_OF(params),
    .fields = fields,
    .field_count = TH_MIND_FIELDS,
    .run = run,
    .create = th_mind_create,
    .destroy = th_mind_destroy,
    .saved_size = th_mind_saved_size,
    .save = th_mind_save,
    .saved_is_sound = th_mind_saved_is_sound,
    .restore = th_mind_restore,
    .fields_are_sound = th_mind_fields_are_sound,
    .follows_route = true,
    .leads = true,
    .follows_leaders = true,
    .check = check,
};
