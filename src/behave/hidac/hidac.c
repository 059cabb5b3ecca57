// HiDAC, the high level: rooms, knowledge, talk, impatience, panic. A person looks around five times and thinks once a
// second, people in turns, so a step costs a fraction of the crowd. Values that others read (aim, nature, memory)
// change between loops only, so the result does not depend on the number of threads. Cost per thought: the places of
// the room, the people within range; of those who explore also the rooms they know. SPDX-License-Identifier: Apache-2.0
#include "behave/hidac/think.h"
#include "behave/hidac/walk.h"
#include "core/parallel.h"
#include <stdio.h>
#include <string.h>

// Notes whether any agent of the world frightens others and whether any lacks knowledge of the plan.
static void survey(const th_mind_step *s) {
    int upset = 0, strangers = 0;
    memset(s->mind->fright, 0, sizeof s->mind->fright);
#pragma omp parallel for num_threads(s->world->threads) schedule(static) \
    reduction(+ : upset, strangers)
    for (int k = 0; k < s->world->agents.count; ++k) {
        if (th_mind_frightens(s, (uint32_t)k)) {
            uint8_t *patch = th_mind_patch_at(s, (uint32_t)k);
#pragma omp atomic write
            *patch = 1;
            ++upset;
        }
        strangers += th_mind_is_stranger(s, (uint32_t)k);
    }
    s->mind->upset = upset > 0;
    s->mind->strangers = strangers > 0;
}

static bool is_new(const th_mind_step *s) {
    int fresh = 0;
#pragma omp parallel for num_threads(s->world->threads) schedule(static) reduction(+ : fresh)
    for (int k = 0; k < s->world->agents.count; ++k)
        fresh += s->slot[k] == 0 && th_mind_is_own(s, (uint32_t)k);
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
    th_mind *m = s->mind;
    uint32_t count = m->company_count > 0 ? (uint32_t)s->world->agents.count : 0;
    for (int c = 0; c < m->company_count; ++c) m->companies[c] = (th_company){.leader = UINT32_MAX};
    for (uint32_t i = 0; i < count; ++i) {
        th_company *c = th_mind_company_joined(s, i);
        if (c && th_mind_claim(s, i) < c->leader) c->leader = th_mind_claim(s, i);
    }
    for (uint32_t i = 0; i < count; ++i) {
        th_company *c = th_mind_company_joined(s, i);
        if (!c || !th_mind_came_with(s, c, i)) continue;
        if (!th_mind_knows_way(s->nature[i])) c->unsure = 1;
        if (th_mind_leads_company(s, c, i)) th_mind_lead_company(s, c, i);
    }
    for (uint32_t i = 0; i < count; ++i) {
        th_company *c = th_mind_company_joined(s, i);
        if (!c || !th_mind_came_with(s, c, i)) continue;
        c->farthest = th_max(c->farthest, th_mind_way_in_company(s, c, i));
    }
}

static int list_due(const th_mind_step *s) {
    int count = 0;
    for (int k = 0; k < s->world->agents.count; ++k)
        if (th_mind_is_due(s, (uint32_t)k)) s->mind->due[count++] = (uint32_t)k;
    return count;
}

// Prepares the ways for the beliefs of agents on the list that may choose anew, from `begin` to the first for which there is
// no room; the next agent probably needs the ways of the last one.
static int prepare_ways(const th_mind_step *s, int begin, int count) {
    const uint32_t *last = NULL;
    int last_row = -1;
    uint64_t since = s->mind->asked;
    for (int k = begin; k < count; ++k) {
        uint32_t i = s->mind->due[k];
        if (!th_mind_minds_others(s, i) || !th_mind_can_decide(s, i)) continue;
        int row = th_mind_row_of(s, i, th_mind_target_of(s, i));
        const uint32_t *shut = th_mind_memory_of(s, i);
        if (row < 0 || (row == last_row && last && th_same_words(last, shut, s->mind->door_words)))
            continue;
        if (!th_mind_ask(s->world, s->mind, s->mind->no_doors, row, since) ||
            !th_mind_ask(s->world, s->mind, shut, row, since))
            return k;
        last = shut;
        last_row = row;
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
    survey(&s);
    s.mind->doors_changed = 0;
    for (int d = 0; d < world->scene->door_count; ++d) th_mind_note_door(world, s.mind, d);
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

// Staff tell others the way, too.
static bool leaves_to_plan(const float *values) {
    const th_mind_params *p = (const th_mind_params *)(const void *)values;
    return p->knows_all > 0.0f || p->trained > 0.0f;
}

// Impatient: in a jam for longer than its patience, which another way would end.
static th_mood mood(const th_world *world, int model, uint32_t i) {
    const th_mind_params *p = (const th_mind_params *)(const void *)th_model_params(
        world, model, (int)world->agents.group[i]);
    uint32_t nature = th_own_words(world, TH_BEHAVE_HIDAC, TH_MIND_NATURE)[i];
    th_temper temper = th_temper_of(p, nature);
    float impatience = th_mind_impatience(p, &temper, false);
    if (nature & TH_MIND_PANICS) return TH_MOOD_PANICS;
    float jammed = th_own_floats(world, TH_BEHAVE_HIDAC, TH_MIND_JAMMED)[i];
    return jammed > th_mind_patience(p, impatience) ? TH_MOOD_IMPATIENT : TH_MOOD_CALM;
}

static const th_field_use uses[TH_MIND_USES] = {
    [TH_MIND_USES_PANIC] = {"move/hidac.panic", "panic shows in decisions, not in the gait"},
    [TH_MIND_USES_MANNERS] = {"move/hidac.manners", "temper shows in decisions, not in pushing"},
    [TH_MIND_USES_PUSHED_X] = {"move/hidac.pushed_x", "pushing frightens no agent"},
    [TH_MIND_USES_PUSHED_Y] = {"move/hidac.pushed_y", "pushing frightens no agent"},
};

// An alarm that no agent can hear, and followers where all know the way.
static bool idle(const th_scene *scene, int group, const float *values, char *text, size_t size) {
    (void)group;
    const th_mind_params *p = (const th_mind_params *)(const void *)values;
    double end = scene->run.duration > 0.0 ? scene->run.duration : scene->run.max_time;
    bool sounds = p->alarm_time >= 0.0f;
    if (sounds && (double)p->alarm_time >= end)
        snprintf(text, size,
                 "the alarm has no effect: it sounds at %g s and the run ends at %g s; set an "
                 "earlier alarm_time",
                 (double)p->alarm_time, end);
    else if (sounds && p->alarm_share <= 0.0f)
        snprintf(text, size, "the alarm has no effect: alarm_share is 0; raise it");
    else if (sounds && p->alarm_radius > 0.0f && p->alarm_level >= (float)scene->level_count)
        snprintf(text, size, "the alarm has no effect: alarm_level is %g, and the last level is %d",
                 (double)p->alarm_level, scene->level_count - 1);
    else if (p->followers > 0.0f && p->knows_all >= 1.0f)
        snprintf(text, size, "\"followers\" has no effect: all know the way; lower \"knows_all\"");
    else
        return false;
    return true;
}

// Draws anew what a changed share decides: only the bits that differ, so that what an agent has learnt since stays.
static const char *edited(th_world *world, int model, int group, const float *before) {
    const th_mind *mind = th_model_state(world, model);
    const th_mind_params *old = (const th_mind_params *)(const void *)before;
    const th_mind_params *p =
        (const th_mind_params *)(const void *)th_model_params(world, model, group);
    if (p->companions >= 2.0f && mind->company_begin[group] < 0)
        return "the group began without companions, and there is no room for them in this world; "
               "change it in the scene and start anew";
    bool new_alarm = p->alarm_time != old->alarm_time || p->alarm_x != old->alarm_x ||
                     p->alarm_y != old->alarm_y || p->alarm_radius != old->alarm_radius ||
                     p->alarm_level != old->alarm_level || p->alarm_share != old->alarm_share;
    uint32_t *nature = th_own_words(world, TH_BEHAVE_HIDAC, TH_MIND_NATURE);
    const uint32_t *slot = th_own_words(world, TH_BEHAVE_HIDAC, TH_MIND_SLOT);
    for (int i = 0; i < world->agents.count; ++i) {
        if (world->agents.group[i] != (uint32_t)group || slot[i] == 0) continue;
        uint32_t then = th_mind_draw_nature(old, world->seed, world->agents.id[i]);
        uint32_t now = th_mind_draw_nature(p, world->seed, world->agents.id[i]);
        nature[i] = (nature[i] & ~(then ^ now)) | (now & (then ^ now));
        if (new_alarm) nature[i] &= ~(uint32_t)TH_MIND_HEARD;
    }
    return NULL;
}

static const th_field_info fields[TH_MIND_FIELDS] = {
    [TH_MIND_SLOT] = {"slot", false, false, "1 + place of its memory", NULL},
    [TH_MIND_ROOM] = {"room", false, true, "1 + room, 0: none", NULL},
    [TH_MIND_AIM] = {"aim", false, true, "1 + portal, or 1 + number of portals + goal; 0: none",
                     NULL},
    [TH_MIND_ENTERED] = {"entered", false, true, "1 + portal by which it came into the room", NULL},
    [TH_MIND_NATURE] =
        {"nature", false, true,
         "bits: 1 knows all, 2 way in, 4 trained, 8 follower, 16 anxious, 32 polite, "
         "64 impatient, 128 in panic, 256 heard the alarm, 512 was told the way",
         NULL},
    [TH_MIND_ENTRANCE] = {"entrance", false, true, "1 + exit by which it came in", NULL},
    [TH_MIND_FOLLOWS] = {"follows", false, true, "id of the leader whom it follows", NULL},
    [TH_MIND_JAMMED] = {"jammed", true, true, "time in the jam before its aim [s]",
                        "time in a jam"},
    [TH_MIND_CHANGED] = {"changed", true, true, "time until it may change its mind again [s]",
                         NULL},
    [TH_MIND_PANIC] = {"panic", true, true, "level, 0 to 1", "level of panic"},
    [TH_MIND_REMAINING] = {"remaining", true, true, "way left as far as it knows [m]",
                           "way left as far as known"},
    [TH_MIND_WAITED] = {"waited", true, true, "for companions and followers [s]",
                        "time waited for companions"},
    [TH_MIND_CALLED] = {"called", true, true, "left of a follower's call to wait [s]", NULL},
    [TH_MIND_PLANNED] = {"planned", false, false, "1: knows the way, the planner leads it", NULL},
    [TH_MIND_USED_TO] = {"used_to", true, true, "panic that it has got used to [s]", NULL},
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
    .decides = TH_DECIDES_AIM | TH_DECIDES_COMPANY | TH_DECIDES_MOOD,
    .left_to_plan = 1 + TH_MIND_PLANNED,
    .leaves_to_plan = leaves_to_plan,
    .check = check,
    .idle = idle,
    .edited = edited,
    .mood = mood,
    .uses = uses,
    .use_count = TH_MIND_USES,
};
