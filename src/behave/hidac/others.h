// The behaviour hidac: talk, leaders to follow, alarm and panic.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_BEHAVE_HIDAC_OTHERS_H
#define TH_BEHAVE_HIDAC_OTHERS_H
#include "behave/hidac/step.h"
#include <string.h>

#define TH_MIND_CALM 0.2f // below the threshold: panic is over

TH_BOTH static inline void th_mind_hear_alarm(const th_mind_step *s, uint32_t i) {
    const th_mind_params *p = th_mind_params_of(s, i);
    if (p->alarm_time < 0.0f || (s->nature[i] & TH_MIND_HEARD) ||
        (float)s->world->time < p->alarm_time)
        return;
    s->nature[i] |= TH_MIND_HEARD;
    th_vec2 alarm = {(float)((double)p->alarm_x - s->world->scene->origin.x),
                     (float)((double)p->alarm_y - s->world->scene->origin.y)};
    float distance = th_length(th_sub(alarm, th_position(&s->world->agents, i)));
    bool here = p->alarm_level < 0.0f || (uint32_t)p->alarm_level == s->world->agents.level[i];
    if (p->alarm_radius > 0.0f && !(here && distance <= p->alarm_radius)) return;
    th_random4 r = th_philox(s->world->seed, TH_STREAM_HIDAC_MIND, s->world->agents.id[i], 2);
    if (th_uniform(r.v[0]) >= p->alarm_share) return;
    s->panic[i] = 1.0f;
    s->used_to[i] = 0.0f;
}

// ---- what others within range know and do

typedef struct th_mind_around {
    int people, panicked, pushed, fallen, close;
    bool told;       // the way, by trained staff
    bool alarmed;    // by talk with a neighbour in panic
    uint32_t leader; // nearest one to follow; UINT32_MAX: none
    float leader_distance2;
} th_mind_around;

// May j lead i? Yes, if it is of the group that the scene names, or else knows the way to the same place.
TH_BOTH static inline bool th_mind_leads(const th_mind_step *s, uint32_t i, uint32_t j) {
    int leaders = th_mind_leaders_of(s, i);
    if (leaders >= 0) return (int)s->world->agents.group[j] == leaders;
    return th_mind_knows(s->nature[j]) && s->aim[j] > 0 &&
           th_mind_target_of(s, j) == th_mind_target_of(s, i);
}

// Does j behave in panic, by its own mind or as the move model has it for good?
TH_BOTH static inline bool th_mind_is_panicked(const th_mind_step *s, uint32_t j, bool minded) {
    if (minded && (s->nature[j] & TH_MIND_PANICS)) return true;
    int panic = s->mind->used[TH_MIND_USES_PANIC];
    return panic >= 0 && th_used_floats(s->world, panic)[j] > 0.5f;
}

// Is j pushed about? Only the move model hidac tells.
TH_BOTH static inline bool th_mind_is_pushed(const th_mind_step *s, uint32_t j, float far) {
    const int *used = s->mind->used;
    if (used[TH_MIND_USES_PUSHED_X] < 0) return false;
    th_vec2 pushed = {th_used_floats(s->world, used[TH_MIND_USES_PUSHED_X])[j],
                      th_used_floats(s->world, used[TH_MIND_USES_PUSHED_Y])[j]};
    return th_length2(pushed) > far * far;
}

// Does agent j frighten others?
TH_BOTH static inline bool th_mind_frightens(const th_mind_step *s, uint32_t j) {
    const th_group_state *group = &s->world->groups[s->world->agents.group[j]];
    const th_mind_params *p =
        (const th_mind_params *)(const void *)th_behave_params(group, TH_BEHAVE_HIDAC);
    bool minded = p != NULL;
    return th_mind_is_panicked(s, j, minded) || s->world->agents.phase[j] == TH_PHASE_FALLEN ||
           (minded && p->panic_by_pushing > 0.0f && th_mind_is_pushed(s, j, p->panic_push));
}

TH_FORMULA uint32_t th_mind_patch(uint32_t level, int row, int column) {
    uint32_t mixed = (uint32_t)row * 73856093u ^ (uint32_t)column * 19349663u ^ level * 83492791u;
    return mixed % TH_MIND_FRIGHTS;
}

// The patch of the map of fright in which agent j stands.
TH_BOTH static inline uint8_t *th_mind_patch_at(const th_mind_step *s, uint32_t j) {
    const th_agents *a = &s->world->agents;
    const th_level_grid *grid = &s->world->index.grids[a->level[j]];
    return s->mind->fright + th_mind_patch(a->level[j],
                                           th_grid_row(grid, a->position_y[j]) / TH_MIND_PATCH,
                                           th_grid_column(grid, a->position_x[j]) / TH_MIND_PATCH);
}

// May an agent within range frighten others?
TH_BOTH static inline bool th_mind_fright_near(const th_mind_step *s, uint32_t level, th_vec2 at,
                                               float range) {
    if (!s->mind->upset) return false;
    th_rows cells = th_rows_around(&s->world->index.grids[level], at, range);
    for (int r = cells.row / TH_MIND_PATCH; r <= cells.last_row / TH_MIND_PATCH; ++r)
        for (int c = cells.column0 / TH_MIND_PATCH; c <= cells.column1 / TH_MIND_PATCH; ++c)
            if (s->mind->fright[th_mind_patch(level, r, c)]) return true;
    return false;
}

// Does agent j lack knowledge of the plan?
TH_BOTH static inline bool th_mind_is_stranger(const th_mind_step *s, uint32_t j) {
    return th_mind_is_own(s, j) && !(s->nature[j] & TH_MIND_KNOWS_ALL);
}

// Adds what i sees of j; no wall is between them.
TH_BOTH static inline void th_mind_watch(const th_mind_step *s, uint32_t i, uint32_t j, bool minded,
                                         float distance2, th_mind_around *seen) {
    const th_mind_params *p = th_mind_params_of(s, i);
    const th_agents *a = &s->world->agents;
    bool in_range = distance2 <= p->panic_range * p->panic_range;
    if (a->phase[j] == TH_PHASE_FALLEN) seen->fallen += in_range;
    if (!th_moves(a->phase[j])) return;
    seen->close += distance2 <= 1.0f;
    if (!in_range) return;
    seen->people++;
    seen->panicked += th_mind_is_panicked(s, j, minded);
    seen->pushed += th_mind_is_pushed(s, j, p->panic_push);
}

// Takes over what j tells. The order of tellers does not matter, since the latest news of each door counts.
TH_BOTH static inline void th_mind_hear(const th_mind_step *s, uint32_t j, th_mind_around *seen,
                                        uint32_t *heard) {
    th_mind *m = s->mind;
    uint32_t *theirs = th_mind_memory_of(s, j);
    if (m->strangers)
        for (int w = m->door_words; w < m->door_words + m->room_words; ++w) heard[w] |= theirs[w];
    const uint16_t *news = th_mind_changes_in(m, theirs);
    uint16_t *known = th_mind_changes_in(m, heard);
    for (int d = 0; m->doors_changed && d < s->world->scene->door_count; ++d)
        if (news[d] > known[d]) known[d] = news[d];
    seen->told |= (s->nature[j] & TH_MIND_TRAINED) != 0;
    seen->alarmed |= (s->nature[j] & TH_MIND_PANICS) != 0;
}

// The view of i, the same for all neighbours.
typedef struct th_mind_sight {
    th_vec2 at;
    int level;
    float clear2; // nearer, no wall hides a neighbour
    float feel2;  // others frighten this far
    float talk2;  // and are talked with
    bool wants_leader;
} th_mind_sight;

TH_BOTH static inline void th_mind_meet(const th_mind_step *s, uint32_t i, uint32_t j,
                                        float distance2, const th_mind_sight *sight,
                                        th_mind_around *seen, uint32_t *heard) {
    const th_mind_params *p = th_mind_params_of(s, i);
    const th_agents *a = &s->world->agents;
    bool minded =
        th_behave_params(&s->world->groups[a->group[j]], TH_BEHAVE_HIDAC) != NULL && s->slot[j] > 0;
    if (distance2 <= sight->feel2 &&
        (distance2 <= sight->clear2 ||
         th_walls_first_crossing(&s->walls, sight->level, sight->at, th_position(a, j), NULL) < 0))
        th_mind_watch(s, i, j, minded, distance2, seen);
    if (!minded || !th_moves(a->phase[j]) || s->room[j] != s->room[i]) return;
    if (heard && distance2 <= sight->talk2 && th_mind_params_of(s, j)->talks > 0.0f)
        th_mind_hear(s, j, seen, heard);
    if (!sight->wants_leader || distance2 > p->sight * p->sight || !th_mind_leads(s, i, j)) return;
    // The present leader counts as the nearest.
    if (th_mind_leaders_of(s, i) >= 0 && s->follows[i] == a->id[j]) distance2 = 0.0f;
    if (distance2 < seen->leader_distance2 ||
        (distance2 == seen->leader_distance2 && a->id[j] < a->id[seen->leader])) {
        seen->leader = j;
        seen->leader_distance2 = distance2;
    }
}

TH_BOTH static inline bool th_mind_wants_leader(const th_mind_step *s, uint32_t i) {
    return th_mind_leaders_of(s, i) >= 0 ||
           ((s->nature[i] & TH_MIND_FOLLOWER) && !th_mind_knows(s->nature[i]));
}

TH_BOTH static inline th_mind_around th_mind_look_around(const th_mind_step *s, uint32_t i,
                                                         uint32_t *heard) {
    const th_mind_params *p = th_mind_params_of(s, i);
    const th_agents *a = &s->world->agents;
    th_mind_around seen = {0, 0, 0, 0, 0, false, false, UINT32_MAX, INFINITY};
    // The number of calm neighbours matters only where others panic; the density always does.
    bool upset = th_mind_fright_near(s, a->level[i], th_position(a, i), p->panic_range);
    th_temper temper = th_temper_of(p, s->nature[i]);
    float feel = th_max(upset ? p->panic_range : 0.0f, 1.0f),
          talk = heard ? th_mind_talk_range(p, &temper) : 0.0f;
    th_mind_sight sight = {th_position(a, i), (int)a->level[i], 0.0f,
                           feel * feel,       talk * talk,      th_mind_wants_leader(s, i)};
    float clear = s->walls.count > 0 ? th_walls_clear(&s->walls, sight.level, sight.at) : 1e6f;
    sight.clear2 = clear * clear;
    float range = th_max(th_max(feel, talk), sight.wants_leader ? p->sight : 0.0f);
    const th_level_grid *grid = &s->world->index.grids[sight.level];
    th_rows rows = th_rows_around(grid, sight.at, range);
    for (uint32_t begin, end; th_next_run(&s->world->index, grid, &rows, &begin, &end);)
        for (uint32_t j = begin; j < end; ++j) {
            float distance2 = th_length2(th_sub(th_position(a, j), sight.at));
            if (j != i && distance2 <= range * range)
                th_mind_meet(s, i, j, distance2, &sight, &seen, heard);
        }
    return seen;
}

TH_BOTH static inline void th_mind_feel(const th_mind_step *s, uint32_t i,
                                        const th_mind_around *seen) {
    const th_mind_params *p = th_mind_params_of(s, i);
    float people = (float)(seen->people > 0 ? seen->people : 1);
    th_fright fright = {(float)seen->panicked / people, (float)seen->pushed / people,
                        (float)(seen->close + 1) / 3.14159265f, seen->fallen > 0, seen->alarmed};
    float dt = s->interval * (float)TH_MIND_LOOKS;
    s->panic[i] = th_mind_panic(p, s->panic[i], &fright, s->used_to[i], dt);
    s->used_to[i] = th_mind_get_used(p, s->used_to[i], (s->nature[i] & TH_MIND_PANICS) != 0, dt);
}

// An agent that has fallen behind makes the leader wait, a little longer than until its own next look; one that is ahead
// waits itself.
// Many may call one leader, all with the same value.
TH_BOTH static inline void th_mind_call_leader(const th_mind_step *s, uint32_t i, uint32_t leader) {
    const th_agents *a = &s->world->agents;
    th_vec2 off = th_sub(th_position(a, leader), th_position(a, i));
    float far = th_mind_params_of(s, i)->wait_distance;
    if (th_length2(off) <= far * far || th_mind_is_ahead(s, i, leader)) return;
    float *called = &s->called[leader];
#ifndef TH_DEVICE_CODE
#pragma omp atomic write
#endif
    *called = 2.0f * s->interval;
}

// The k-th agent whose turn it is hears and sees others, if it is its turn to think; the memory of others is not
// written meanwhile.
TH_BOTH static inline void th_mind_listen(const th_mind_step *s, int k) {
    uint32_t i = s->mind->due[k];
    uint32_t *heard = s->mind->heard + (size_t)k * (size_t)s->mind->words;
    size_t bytes = (size_t)s->mind->words * sizeof *heard;
    s->mind->leader[k] = UINT32_MAX;
    if (!th_mind_minds_others(s, i)) return;
    bool hears = th_mind_hears(s, i), led = th_mind_leaders_of(s, i) >= 0;
    if (hears) memcpy(heard, th_mind_memory_of(s, i), bytes);
    th_mind_around seen = th_mind_look_around(s, i, hears ? heard : NULL);
    if (th_mind_thinks(s, i)) th_mind_feel(s, i, &seen);
    s->mind->told[k] = seen.told;
    if (th_mind_wants_leader(s, i)) s->mind->leader[k] = seen.leader;
    if (led && seen.leader != UINT32_MAX) {
        s->follows[i] = s->world->agents.id[seen.leader];
        th_mind_call_leader(s, i, seen.leader);
    }
}

// Takes over what was heard.
TH_BOTH static inline void th_mind_remember(const th_mind_step *s, int k) {
    uint32_t i = s->mind->due[k];
    if (!th_mind_hears(s, i)) return;
    th_mind *m = s->mind;
    uint32_t *heard = m->heard + (size_t)k * (size_t)m->words, *own = th_mind_memory_of(s, i);
    for (int w = m->door_words; w < m->door_words + m->room_words; ++w) own[w] = heard[w];
    const uint16_t *news = th_mind_changes_in(m, heard);
    uint16_t *known = th_mind_changes_in(m, own);
    for (int d = 0; m->doors_changed && d < s->world->scene->door_count; ++d) {
        if (news[d] == known[d]) continue;
        known[d] = news[d];
        th_set_bit(own, d, news[d] & 1);
    }
    if (m->told[k]) s->nature[i] |= TH_MIND_TOLD;
}

// Panic begins or is over.
TH_BOTH static inline void th_mind_panic_or_calm(const th_mind_step *s, uint32_t i) {
    const th_mind_params *p = th_mind_params_of(s, i);
    th_temper temper = th_temper_of(p, s->nature[i]);
    float threshold = th_mind_threshold(p, &temper);
    if (s->panic[i] >= threshold)
        s->nature[i] |= TH_MIND_PANICS;
    else if (s->panic[i] < threshold - TH_MIND_CALM || s->panic[i] <= 0.0f)
        s->nature[i] &= ~(uint32_t)TH_MIND_PANICS;
}
#endif
