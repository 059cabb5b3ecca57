// One step of the behaviour hidac, shared by its files: turns, knowledge and aims of agents.
// SPDX-License-Identifier: Apache-2.0
#ifndef TH_BEHAVE_HIDAC_STEP_H
#define TH_BEHAVE_HIDAC_STEP_H
#include "behave/hidac/mind.h"

enum { TH_MIND_LOOKS = 5 }; // a person thinks with every fifth look

typedef struct th_mind_step {
    th_world *world;
    th_mind *mind;
    th_walls walls;
    uint32_t *slot, *room, *aim, *entered, *nature, *entrance, *follows, *planned;
    float *jammed, *changed, *panic, *remaining, *waited, *called, *used_to;
    float interval; // [s] between two looks of a person
    uint64_t period;
} th_mind_step;

// Steps between two looks of a person, about 0.2 s.
TH_BOTH static inline uint64_t th_mind_period(float dt) {
    double period = 0.2 / (double)dt;
    return period < 1.0 ? 1 : (uint64_t)(period + 0.5);
}

TH_BOTH static inline th_mind_step th_mind_begin(th_world *world, th_mind *mind) {
    th_mind_step s;
    s.world = world;
    s.mind = mind;
    s.walls = th_world_walls(world);
#define FIELD(name, NUMBER, type) \
    s.name = (type *)th_own_words(world, TH_BEHAVE_HIDAC, TH_MIND_##NUMBER)
    FIELD(slot, SLOT, uint32_t);
    FIELD(room, ROOM, uint32_t);
    FIELD(aim, AIM, uint32_t);
    FIELD(entered, ENTERED, uint32_t);
    FIELD(nature, NATURE, uint32_t);
    FIELD(entrance, ENTRANCE, uint32_t);
    FIELD(follows, FOLLOWS, uint32_t);
    FIELD(jammed, JAMMED, float);
    FIELD(changed, CHANGED, float);
    FIELD(panic, PANIC, float);
    FIELD(remaining, REMAINING, float);
    FIELD(waited, WAITED, float);
    FIELD(called, CALLED, float);
    FIELD(planned, PLANNED, uint32_t);
    FIELD(used_to, USED_TO, float);
#undef FIELD
    s.period = th_mind_period(world->dt);
    s.interval = (float)s.period * world->dt;
    return s;
}
TH_BOTH static inline const th_mind_params *th_mind_params_of(const th_mind_step *s, uint32_t i) {
    return (const th_mind_params *)(const void *)th_behave_params(
        &s->world->groups[s->world->agents.group[i]], TH_BEHAVE_HIDAC);
}
TH_BOTH static inline uint32_t *th_mind_memory_of(const th_mind_step *s, uint32_t i) {
    return s->mind->memory + (size_t)(s->slot[i] - 1) * (size_t)s->mind->words;
}
TH_BOTH static inline uint32_t *th_mind_rooms_seen(const th_mind_step *s, uint32_t i) {
    return th_mind_memory_of(s, i) + s->mind->door_words;
}
// The part of a memory that counts how often each door had changed, as far as known.
TH_BOTH static inline uint16_t *th_mind_changes_in(const th_mind *m, uint32_t *memory) {
    return (uint16_t *)(void *)(memory + m->door_words + m->room_words);
}

// A door has changed when its number says another state than it has; numbers end at the two largest.
TH_BOTH static inline void th_mind_note_door(const th_world *world, th_mind *m, int door) {
    uint16_t *changes = &m->changes[door];
    bool shut = world->door_closed[door] != 0;
    if (((*changes & 1) != 0) != shut)
        *changes = *changes == UINT16_MAX ? UINT16_MAX - 1 : *changes + 1;
    if (*changes > 0) m->doors_changed = 1;
}
TH_BOTH static inline bool th_mind_is_own(const th_mind_step *s, uint32_t i) {
    const th_agents *a = &s->world->agents;
    return th_moves(a->phase[i]) &&
           th_behave_params(&s->world->groups[a->group[i]], TH_BEHAVE_HIDAC) != NULL;
}
// The group that the person follows; -1: none.
TH_BOTH static inline int th_mind_leaders_of(const th_mind_step *s, uint32_t i) {
    return s->world->scene->groups[s->world->agents.group[i]].leader;
}
TH_BOTH static inline bool th_mind_thinks(const th_mind_step *s, uint32_t i) {
    uint64_t turn = (s->world->agents.id[i] + s->world->step_count) / s->period;
    return turn % TH_MIND_LOOKS == 0;
}
TH_BOTH static inline bool th_mind_knows(uint32_t nature) {
    return (nature & (TH_MIND_KNOWS_ALL | TH_MIND_TRAINED | TH_MIND_TOLD)) != 0;
}
// Does it know how long the rest of its way is?
TH_BOTH static inline bool th_mind_knows_way(uint32_t nature) {
    return th_mind_knows(nature) || (nature & TH_MIND_KNOWS_WAY_IN) != 0;
}
// -1: no leg left.
TH_BOTH static inline int th_mind_target_of(const th_mind_step *s, uint32_t i) {
    const th_group *group = &s->world->scene->groups[s->world->agents.group[i]];
    uint32_t leg = s->world->agents.leg[i];
    return leg < (uint32_t)group->route_count ? group->route[leg] : -1;
}

// The place of the room that an aim stands for; -1: none.
TH_BOTH static inline int th_mind_place_of_aim(const th_mind_step *s, int room, uint32_t aim) {
    const th_rooms *rooms = s->mind->rooms;
    const th_room *here = &rooms->rooms[room];
    if (aim == 0) return -1;
    if (aim <= (uint32_t)rooms->portal_count) return th_place_of_portal(here, (int)aim - 1);
    int goal = (int)aim - 1 - rooms->portal_count;
    for (int k = 0; k < here->goal_count; ++k)
        if (here->goals[k] == goal) return here->portal_count + k;
    return -1;
}

TH_BOTH static inline uint32_t th_mind_aim_of_place(const th_mind_step *s, int room, int place) {
    const th_room *here = &s->mind->rooms->rooms[room];
    if (place < 0) return 0;
    if (place < here->portal_count) return (uint32_t)here->portals[place] + 1;
    return (uint32_t)(s->mind->rooms->portal_count + here->goals[place - here->portal_count]) + 1;
}

TH_BOTH static inline bool th_mind_in_target(const th_scene *scene, int target, int goal) {
    for (int k = 0; k < scene->targets[target].goal_count; ++k)
        if (scene->targets[target].goals[k] == goal) return true;
    return false;
}

// May an agent go to a place of the room: an exit of its own route, a door that it does not take for shut?
TH_BOTH static inline bool th_mind_may_go_to(const th_mind_step *s, uint32_t i, int room, int place,
                                             int target) {
    const th_room *here = &s->mind->rooms->rooms[room];
    if (place >= here->portal_count)
        return th_mind_in_target(s->world->scene, target, here->goals[place - here->portal_count]);
    const th_room_portal *portal = &s->mind->rooms->portals[here->portals[place]];
    return portal->kind != TH_PORTAL_DOOR || !th_bit(th_mind_memory_of(s, i), portal->index);
}

// Is agent i nearer to its aim than j of the same room is?
TH_BOTH static inline bool th_mind_is_ahead(const th_mind_step *s, uint32_t i, uint32_t j) {
    int room = (int)s->room[i] - 1,
        place = room < 0 ? -1 : th_mind_place_of_aim(s, room, s->aim[i]);
    if (place < 0) return false;
    th_vec2 p = th_position(&s->world->agents, i), q = th_position(&s->world->agents, j);
    th_vec2 to = th_rooms_place_point(s->mind->rooms, &s->mind->rooms->rooms[room], place, p);
    return th_length(th_sub(to, p)) < th_length(th_sub(to, q));
}

// The first exit named is the entrance that people came by.
TH_BOTH static inline void th_mind_welcome(const th_mind_step *s, uint32_t i, int slot) {
    const th_agents *a = &s->world->agents;
    s->slot[i] = (uint32_t)(slot + 1);
    s->nature[i] = th_mind_draw_nature(th_mind_params_of(s, i), s->world->seed, a->id[i]);
    s->entrance[i] = (uint32_t)(s->world->scene->groups[a->group[i]].entrance + 1);
    uint32_t *memory = slot < 0 ? NULL : th_mind_memory_of(s, i);
    for (int w = 0; memory && w < s->mind->words; ++w) memory[w] = 0;
}

// Does it not know where to go on its route? An agent with a goal of its own needs no aim.
TH_BOTH static inline bool th_mind_is_lost(const th_mind_step *s, uint32_t i) {
    return s->aim[i] == 0 && th_mind_target_of(s, i) >= 0;
}

// Is it the person's turn to look, or has it nowhere to go yet?
TH_BOTH static inline bool th_mind_is_due(const th_mind_step *s, uint32_t i) {
    const th_agents *a = &s->world->agents;
    if (!th_mind_is_own(s, i) || s->slot[i] == 0) return false;
    return (a->id[i] + s->world->step_count) % s->period == 0 ||
           (a->phase[i] == TH_PHASE_WALKING && th_mind_is_lost(s, i));
}

// Among the agents whose turn it is, does this one look at neighbours and think, or hear their news?
TH_BOTH static inline bool th_mind_minds_others(const th_mind_step *s, uint32_t i) {
    return th_mind_thinks(s, i) || th_mind_is_lost(s, i) || th_mind_leaders_of(s, i) >= 0;
}
// While no door has changed and all agents know the plan, there is no news.
TH_BOTH static inline bool th_mind_hears(const th_mind_step *s, uint32_t i) {
    return (s->mind->strangers || s->mind->doors_changed || s->mind->upset) &&
           th_mind_params_of(s, i)->talks > 0.0f && (th_mind_thinks(s, i) || th_mind_is_lost(s, i));
}
#endif
