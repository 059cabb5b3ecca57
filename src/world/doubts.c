// What a scene asks of its models that they are known not to manage. The widths are those that tools/test-long found; the
// build makes limits_found.inc from docs/data/long_limits.csv. SPDX-License-Identifier: Apache-2.0
#include "formula/vec.h"
#include "space/rooms.h"
#include "throng/model.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct found {
    const char *move, *filter, *family;
    float bodies; // least width from which on nobody is left behind
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

// [m] Of a usual person of the group.
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

// From where the group starts to the last of its goals, as the crow flies. False: it has none, or on another level.
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

// Does each of the two begin where the other ends, more or less: do they have to pass each other?
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
    snprintf(doubt->text, sizeof doubt->text,
             "group \"%.40s\": a passage is %.2g m wide%s; %s%s%s leaves people behind for good in "
             "%spassages %s",
             g->id, (double)width, against, move, filtered ? " with " : "", filtered ? filter : "",
             opponent ? "two-way " : "", from);
}

// A plan whose strokes or crowds nobody of the group heeds.
static void tell_of_idle_plan(doubt_list *list, const th_scene *scene, int group) {
    const th_group *g = &scene->groups[group];
    const th_model *plan = th_models(NULL)[g->plan.model];
    for (int k = 0; plan->weighs_ways && k < g->behave_count; ++k) {
        const th_model *behave = th_models(NULL)[g->behave[k].model];
        if (!(behave->decides & TH_DECIDES_AIM)) continue;
        if (behave->left_to_plan > 0 &&
            (!behave->leaves_to_plan || behave->leaves_to_plan(g->behave[k].params)))
            continue;
        if (list->count++ >= list->max) return;
        th_doubt *doubt = &list->doubts[list->count - 1];
        doubt->group = group;
        snprintf(
            doubt->text, sizeof doubt->text,
            "group \"%.40s\": the plan \"%s\" has no effect: the behaviour \"%s\" leads people "
            "who do not know the way, and nobody of the group does; let some know it, or "
            "leave the plan out",
            g->id, plan->name, behave->name);
    }
}

int th_scene_doubts(const th_scene *scene, th_doubt *doubts, int max) {
    doubt_list list = {doubts, max, 0};
    const float most = 8.0f; // [m] wider ones were not tried
    for (int g = 0; g < scene->group_count; ++g) tell_of_idle_plan(&list, scene, g);
    for (int g = 0; g < scene->group_count && scene->wall_count > 0; ++g) {
        th_model_limits limit = limits_of_group(&scene->groups[g]);
        if (!(limit.door > 0.0f || limit.two_way > 0.0f)) continue;
        th_arena arena = th_arena_of(NULL);
        float body = body_width(&scene->groups[g]);
        float width = th_narrowest_passage(scene, &arena, body, most);
        th_arena_release(&arena);
        const char *opponent = opponent_of(scene, g);
        if (width < most && width < limit.door * body)
            tell(&list, scene, g, NULL, width, limit.door * body);
        if (opponent && width < most && width < limit.two_way * body)
            tell(&list, scene, g, opponent, width, limit.two_way * body);
    }
    return list.count;
}
