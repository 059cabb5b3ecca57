// Demands of a scene that its models are known not to meet, and its parts without effect. The widths are those that tools/test-long found; the
// build makes limits_found.inc from docs/data/long_limits.csv. SPDX-License-Identifier: Apache-2.0
#include "formula/vec.h"
#include "space/rooms.h"
#include "throng/model.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct found {
    const char *move, *filter, *family;
    float bodies; // least width from which on no agent is left behind
} found;
static const found limits[] = {
#include <limits_found.inc>
};

static float limit_of(const char *move, const char *filter, const char *family) {
    for (size_t k = 0; k < sizeof limits / sizeof *limits; ++k)
        if (strcmp(limits[k].move, move) == 0 && strcmp(limits[k].filter, filter) == 0 &&
            strcmp(limits[k].family, family) == 0)
            return limits[k].bodies;
    return -1.0f;
}

th_model_limits th_model_limits_of(const char *move, const char *filter) {
    th_model_limits of = {limit_of(move, filter, "door"), limit_of(move, filter, "two_way")};
    return of;
}

static th_model_limits limits_of_group(const th_group *group) {
    const th_model *const *models = th_models(NULL);
    return th_model_limits_of(models[group->move.model]->name, models[group->filter.model]->name);
}

// The width of a usual body of the group [m].
static float body_width(const th_group *group) {
    const th_distribution *r = &group->radius;
    double radius = r->kind == TH_DISTRIBUTION_UNIFORM     ? 0.5 * (r->a + r->b)
                    : r->kind == TH_DISTRIBUTION_LOGNORMAL ? exp(r->a)
                    : r->kind == TH_DISTRIBUTION_GAMMA     ? r->a * r->b
                                                           : r->a;
    return (float)(2 * radius);
}

static th_vec2 middle(const th_box *box) {
    return (th_vec2){0.5f * (box->min_x + box->max_x), 0.5f * (box->min_y + box->max_y)};
}

// From the group's start to the last of its goals, in a straight line. False: it has none, or one on another level.
static bool way_of(const th_scene *scene, const th_group *group, th_vec2 *from, th_vec2 *to) {
    if (group->route_count == 0) return false;
    const th_target *target = &scene->targets[group->route[group->route_count - 1]];
    const th_goal *goal = &scene->goals[target->goals[0]];
    int level = goal->is_line ? goal->line.level : goal->area.level;
    bool everywhere = group->area.shape.ring_count == 0;
    *from = middle(everywhere ? &scene->levels[group->level].box : &group->area.shape.box);
    *to = goal->is_line ? (th_vec2){0.5f * (goal->line.a.x + goal->line.b.x),
                                    0.5f * (goal->line.a.y + goal->line.b.y)}
                        : middle(&goal->area.shape.box);
    return level == group->level;
}

static float along(th_vec2 from, th_vec2 to, th_vec2 p) {
    th_vec2 way = th_sub(to, from);
    return th_dot(th_sub(p, from), way) / fmaxf(th_length2(way), 1e-6f);
}

// Does each of the two begin about where the other ends, so that they must pass each other?
static bool meet(const th_scene *scene, const th_group *a, const th_group *b) {
    th_vec2 from_a, to_a, from_b, to_b;
    if (a->level != b->level || !way_of(scene, a, &from_a, &to_a) ||
        !way_of(scene, b, &from_b, &to_b))
        return false;
    th_vec2 way_a = th_sub(to_a, from_a), way_b = th_sub(to_b, from_b);
    if (th_dot(th_unit(way_a), th_unit(way_b)) > -0.7f) return false; // 135 degrees at least
    return along(from_a, to_a, from_b) > 0.0f && along(from_b, to_b, from_a) > 0.0f;
}

static const char *opponent_of(const th_scene *scene, int group) {
    for (int g = 0; g < scene->group_count; ++g)
        if (g != group && meet(scene, &scene->groups[group], &scene->groups[g]))
            return scene->groups[g].id;
    return NULL;
}

typedef struct doubt_list {
    th_doubt *doubts;
    int max, count;
} doubt_list;

// `opponent`: the group that comes the other way; NULL: none needed.
static void tell(doubt_list *list, const th_scene *scene, int group, const char *opponent,
                 float width, float limit) {
    if (list->count++ >= list->max) return;
    const th_group *g = &scene->groups[group];
    const char *move = th_models(NULL)[g->move.model]->name,
               *filter = th_models(NULL)[g->filter.model]->name;
    bool filtered = strcmp(filter, "none") != 0;
    char against[80] = "", from[48] = "of every width tried";
    if (opponent) snprintf(against, sizeof against, " and \"%.40s\" comes towards it", opponent);
    if (isfinite(limit)) snprintf(from, sizeof from, "below %.2g m", (double)limit);
    th_doubt *doubt = &list->doubts[list->count - 1];
    doubt->group = group;
    doubt->no_effect = false;
    snprintf(doubt->text, sizeof doubt->text,
             "group \"%.40s\": a passage is %.2g m wide%s; %s%s%s leaves people behind for good in "
             "%spassages %s",
             g->id, (double)width, against, move, filtered ? " with " : "", filtered ? filter : "",
             opponent ? "two-way " : "", from);
}

// ---- what has no effect

// A place for a sentence about something without effect; NULL: the list is full.
static char *take_text(doubt_list *list, int group) {
    if (list->count++ >= list->max) return NULL;
    th_doubt *doubt = &list->doubts[list->count - 1];
    doubt->group = group;
    doubt->no_effect = true;
    return doubt->text;
}
enum { TEXT = sizeof((th_doubt *)0)->text };

static void tell_of_idle_plan(doubt_list *list, const th_scene *scene, int group) {
    const th_group *g = &scene->groups[group];
    const th_model *plan = th_models(NULL)[g->plan.model];
    for (int k = 0; plan->weighs_ways && k < g->behave_count; ++k) {
        const th_model *behave = th_models(NULL)[g->behave[k].model];
        if (!(behave->decides & TH_DECIDES_AIM)) continue;
        if (behave->left_to_plan > 0 &&
            (!behave->leaves_to_plan || behave->leaves_to_plan(g->behave[k].params)))
            continue;
        char *text = take_text(list, group);
        if (text)
            snprintf(text, TEXT,
                     "group \"%.40s\": the plan \"%s\" has no effect: the behaviour \"%s\" leads "
                     "people who do not know the way, and none of the group does; let some know "
                     "it, or leave the plan out",
                     g->id, plan->name, behave->name);
    }
}

static bool uses(const th_group *group, int model) {
    const th_model_choice *choice;
    for (int k = 0; (choice = th_group_model(group, k)); ++k)
        if (choice->model == model) return true;
    return false;
}

static bool leads_to(const th_scene *scene, const th_group *group, int goal) {
    for (int k = 0; k < group->route_count + group->detour_count; ++k) {
        const th_target *target = &scene->targets[group->route[k]];
        for (int g = 0; g < target->goal_count; ++g)
            if (target->goals[g] == goal) return true;
    }
    return false;
}

static const th_item *item_of(const th_section *section, int i) {
    const char *items = section->items;
    return (const th_item *)(const void *)(items + (size_t)i * section->info->item_size);
}

static int goal_of(const th_scene *scene, const th_item *item) {
    for (int g = 0; g < scene->goal_count; ++g)
        if (scene->goals[g].item == item) return g;
    return -1;
}

// The goal that an element names or is and that no group of the model goes to; -1: there is none.
static int missed_goal(const th_scene *scene, const th_section *section, const th_item *item) {
    int goals[2] = {section->info->detours ? goal_of(scene, item) : -1, -1};
    for (int k = 0; k < section->info->key_count; ++k)
        if (section->info->keys[k].kind == TH_KEY_GOAL)
            goals[1] =
                *(const int *)(const void *)((const char *)item + section->info->keys[k].offset);
    for (int k = 0; k < 2; ++k) {
        bool reached = goals[k] < 0;
        for (int g = 0; g < scene->group_count && !reached; ++g)
            reached = uses(&scene->groups[g], section->model) &&
                      leads_to(scene, &scene->groups[g], goals[k]);
        if (!reached) return goals[k];
    }
    return -1;
}

static const char *stage_word(const th_model *model) {
    return model->stage == TH_STAGE_BEHAVE ? "behaviour" : th_stage_name(model->stage);
}

// Reports sections that no group's model reads, elements for people that do not exist, and models without the elements
// they need.
static void tell_of_idle_section(doubt_list *list, const th_scene *scene,
                                 const th_section *section) {
    const th_section_info *info = section->info;
    const th_model *model = th_models(NULL)[section->model];
    int used = -1;
    for (int g = 0; g < scene->group_count && used < 0; ++g)
        if (uses(&scene->groups[g], section->model)) used = g;
    char *text = NULL;
    if (section->count > 0 && used < 0 && (text = take_text(list, -1)))
        snprintf(text, TEXT,
                 "\"%s\" has no effect: no group uses the %s \"%s\"; set it for a group, or leave "
                 "\"%s\" out",
                 info->name, stage_word(model), model->name, info->name);
    if (section->count == 0 && used >= 0 && info->needed && (text = take_text(list, used)))
        snprintf(
            text, TEXT,
            "group \"%.40s\": the %s \"%s\" has no effect: the scene has no \"%s\"; add one, or "
            "leave the %s out",
            scene->groups[used].id, stage_word(model), model->name, info->name, stage_word(model));
    for (int i = 0; used >= 0 && i < section->count; ++i) {
        const th_item *item = item_of(section, i);
        int goal = missed_goal(scene, section, item);
        if (goal < 0 || !(text = take_text(list, -1))) continue;
        bool itself = scene->goals[goal].item == item;
        snprintf(text, TEXT,
                 "the %s \"%.40s\" has no effect: no group with the %s \"%s\" %s%.40s%s",
                 info->item, item->id, stage_word(model), model->name,
                 itself ? "cares for it" : "goes to \"", itself ? "" : scene->goals[goal].id,
                 itself ? "" : "\"");
    }
}

// Reports discomfort, directions or heights of the ground that no group's planner heeds.
static void tell_of_idle_ground(doubt_list *list, const th_scene *scene, th_picture_kind kind) {
    static const char *const words[] = {"discomfort", "guidance", "height"};
    const char *what = NULL;
    for (int z = 0; z < scene->zone_count && kind == TH_PICTURE_DISCOMFORT; ++z)
        if (scene->zones[z].discomfort > 0.0f) what = "zones";
    for (int p = 0; p < scene->picture_count; ++p)
        if (scene->pictures[p].kind == kind) what = "pictures";
    int count;
    const th_model *const *models = th_models(&count);
    for (int g = 0; g < scene->group_count; ++g)
        if (models[scene->groups[g].plan.model]->heeds >> kind & 1) return;
    char plans[200] = "", *text;
    for (int m = 0; m < count; ++m)
        if (models[m]->heeds >> kind & 1) {
            size_t used = strlen(plans);
            snprintf(plans + used, sizeof plans - used, "%s\"%.40s\"", used ? " or " : "",
                     models[m]->name);
        }
    if (what && scene->group_count > 0 && (text = take_text(list, -1)))
        snprintf(text, TEXT, "the %s of \"%s\" has no effect: no group plans with %s", words[kind],
                 what, plans);
}

// ---- values of a group

// The latest end of a run [s].
static double end_of(const th_scene *scene) {
    return scene->run.duration > 0.0 ? scene->run.duration : scene->run.max_time;
}

static bool has_a_way(const th_group *group) {
    const uint32_t ways = TH_DECIDES_AIM | TH_DECIDES_COMPANY | TH_DECIDES_DETOUR;
    return group->route_count + group->detour_count > 0 || group->own_goal != TH_OWN_GOAL_NONE ||
           (group->decides & ways);
}

// Adds the idle values that the group's models report, and the walking models of a group that stays in place.
static void tell_of_idle_models(doubt_list *list, const th_scene *scene, int group) {
    const th_group *g = &scene->groups[group];
    const th_model_choice *choice;
    char why[300], *text;
    for (int k = 0; (choice = th_group_model(g, k)); ++k) {
        const th_model *model = th_models(NULL)[choice->model];
        if (model->idle && model->idle(scene, group, choice->params, why, sizeof why) &&
            (text = take_text(list, group)))
            snprintf(text, TEXT, "group \"%.40s\": %s", g->id, why);
        bool guides = model->stage == TH_STAGE_PLAN || model->stage == TH_STAGE_FILTER;
        if (guides && !has_a_way(g) && choice->model != th_stage_default_model(model->stage) &&
            (text = take_text(list, group)))
            snprintf(text, TEXT,
                     "group \"%.40s\": the %s \"%s\" has no effect: the group has nowhere to go; "
                     "give it a route, or leave the %s out",
                     g->id, stage_word(model), model->name, stage_word(model));
    }
}

static void tell_of_idle_values(doubt_list *list, const th_scene *scene, int group) {
    const th_group *g = &scene->groups[group];
    const th_model *move = th_models(NULL)[g->move.model];
    char *text;
    if (g->rigid != TH_RIGID_BY_SIZE && th_model_body(move, g->move.params).depth >= 1.0f &&
        (text = take_text(list, group)))
        snprintf(text, TEXT,
                 "group \"%.40s\": \"rigid\" has no effect: with the move model \"%s\" no body "
                 "turns its shoulders",
                 g->id, move->name);
    if (g->positions && g->area.shape.ring_count > 0 && (text = take_text(list, group)))
        snprintf(text, TEXT,
                 "group \"%.40s\": \"area\" has no effect: people begin at the positions that are "
                 "given",
                 g->id);
    if (g->rate > 0.0 && g->rate_start >= end_of(scene) && (text = take_text(list, group)))
        snprintf(text, TEXT,
                 "group \"%.40s\": the source has no effect: it begins at %g s and the run ends at "
                 "%g s",
                 g->id, g->rate_start, end_of(scene));
}

// ---- doors, goals and zones

// The first change of a door that comes too late, or that changes nothing.
static void tell_of_idle_door(doubt_list *list, const th_scene *scene, const th_door *door) {
    bool open = !door->closed;
    for (int k = 0; k < door->schedule_count; open = door->schedule[k++].open) {
        const th_door_change *change = &door->schedule[k];
        bool late = change->time >= end_of(scene);
        if (!late && change->open != open) continue;
        char *text = take_text(list, -1), why[80] = "";
        if (late) snprintf(why, sizeof why, "the run ends at %g s", end_of(scene));
        if (text)
            snprintf(text, TEXT, "door \"%.40s\": \"%s\" at %g s has no effect: %s%s", door->id,
                     change->open ? "open" : "close", change->time, late ? why : "it is then ",
                     late   ? ""
                     : open ? "open"
                            : "closed");
        return;
    }
}

// Waypoints and waiting areas of no route, as one doubt.
static void tell_of_idle_goals(doubt_list *list, const th_scene *scene) {
    char ids[200] = "", *text;
    int count = 0;
    for (int k = 0; k < scene->goal_count; ++k) {
        th_goal_kind kind = scene->goals[k].kind;
        bool reached = kind != TH_GOAL_WAYPOINT && kind != TH_GOAL_WAITING;
        for (int g = 0; g < scene->group_count && !reached; ++g)
            reached = leads_to(scene, &scene->groups[g], k);
        if (reached || ++count > 3) continue;
        size_t used = strlen(ids);
        snprintf(ids + used, sizeof ids - used, "%s\"%.40s\"", used ? ", " : "",
                 scene->goals[k].id);
    }
    if (count > 0 && scene->group_count > 0 && (text = take_text(list, -1)))
        snprintf(text, TEXT, "%s%s %s no effect: no group goes there", ids,
                 count > 3 ? " and more" : "", count > 1 ? "have" : "has");
}

static bool plans_with(const th_group *group, uint32_t heeds) {
    return (th_models(NULL)[group->plan.model]->heeds & heeds) == heeds;
}

// Ground for the people of one goal, where planners ignore the goal or no such people walk.
static void tell_of_idle_to(doubt_list *list, const th_scene *scene, const char *what,
                            const char *id, int to, th_picture_kind kind) {
    bool felt = false, by_goal = false, meant = false;
    for (int g = 0; g < scene->group_count; ++g) {
        const th_group *group = &scene->groups[g];
        bool all = plans_with(group, TH_HEEDS_GOALS | 1u << kind);
        felt |= plans_with(group, 1u << kind);
        by_goal |= all;
        meant |= all && leads_to(scene, group, to);
    }
    char *text = to >= 0 && felt && !meant ? take_text(list, -1) : NULL;
    if (text && by_goal)
        snprintf(text, TEXT, "%s \"%.40s\" has no effect: no group that heeds it goes to \"%.40s\"",
                 what, id, scene->goals[to].id);
    else if (text)
        snprintf(text, TEXT,
                 "%s \"%.40s\": \"to\" has no effect: no group's plan asks for whom the ground is "
                 "meant",
                 what, id);
}

static void tell_of_idle_zone(doubt_list *list, const th_scene *scene, const th_zone *zone) {
    bool plain = zone->up_direction.x == 0.0f && zone->up_direction.y == 0.0f;
    char *text;
    if (plain && zone->up == 1.0f && zone->down == 1.0f && zone->discomfort == 0.0f &&
        (text = take_text(list, -1)))
        snprintf(text, TEXT,
                 "zone \"%.40s\" has no effect: give it a \"speed\" or a \"discomfort\"", zone->id);
    if (zone->discomfort > 0.0f)
        tell_of_idle_to(list, scene, "zone", zone->id, zone->to, TH_PICTURE_DISCOMFORT);
}

static void tell_of_no_effect(doubt_list *list, const th_scene *scene) {
    for (int g = 0; g < scene->group_count; ++g) {
        tell_of_idle_plan(list, scene, g);
        tell_of_idle_models(list, scene, g);
        tell_of_idle_values(list, scene, g);
    }
    for (int s = 0; s < scene->section_count; ++s)
        tell_of_idle_section(list, scene, &scene->sections[s]);
    for (int k = 0; k <= TH_PICTURE_HEIGHT; ++k)
        tell_of_idle_ground(list, scene, (th_picture_kind)k);
    for (int z = 0; z < scene->zone_count; ++z) tell_of_idle_zone(list, scene, &scene->zones[z]);
    for (int p = 0; p < scene->picture_count; ++p)
        tell_of_idle_to(list, scene, "picture", scene->pictures[p].id, scene->pictures[p].to,
                        scene->pictures[p].kind);
    for (int d = 0; d < scene->door_count; ++d) tell_of_idle_door(list, scene, &scene->doors[d]);
    tell_of_idle_goals(list, scene);
}

// The narrowest passages for bodies of a width. Each search runs once, and all share one allowance of work.
typedef struct passage_widths {
    float body, width;
    int64_t work;
} passage_widths;

static const float WIDEST_TRIED = 8.0f; // [m]

static float narrowest_for(passage_widths *known, const th_scene *scene, float body) {
    if (body == known->body) return known->width;
    th_arena arena = th_arena_of(NULL);
    known->body = body;
    known->width = th_narrowest_passage_within(scene, &arena, body, WIDEST_TRIED, &known->work);
    th_arena_release(&arena);
    return known->width;
}

int th_scene_doubts(const th_scene *scene, th_doubt *doubts, int max) {
    doubt_list list = {doubts, max, 0};
    passage_widths known = {-1.0f, 0.0f, TH_PASSAGE_WORK};
    tell_of_no_effect(&list, scene);
    for (int g = 0; g < scene->group_count && scene->wall_count > 0; ++g) {
        th_model_limits limit = limits_of_group(&scene->groups[g]);
        if (!(limit.door > 0.0f || limit.two_way > 0.0f)) continue;
        float body = body_width(&scene->groups[g]);
        float width = narrowest_for(&known, scene, body);
        const char *opponent = opponent_of(scene, g);
        if (width < WIDEST_TRIED && width < limit.door * body)
            tell(&list, scene, g, NULL, width, limit.door * body);
        if (opponent && width < WIDEST_TRIED && width < limit.two_way * body)
            tell(&list, scene, g, opponent, width, limit.two_way * body);
    }
    return list.count;
}
