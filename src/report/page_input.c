// What was simulated: groups in words, and every setting that is not the default.
// SPDX-License-Identifier: Apache-2.0
#include "report/page.h"
#include "throng/model.h"
#include "throng/scene_view.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_range(th_text *text, const th_distribution *d) {
    bool low = isfinite(d->min) && d->min > -1e30, high = isfinite(d->max) && d->max < 1e30;
    if (low && high)
        th_text_add(text, ", %g to %g", d->min, d->max);
    else if (low)
        th_text_add(text, ", at least %g", d->min);
    else if (high)
        th_text_add(text, ", at most %g", d->max);
}

static void add_distribution(th_text *text, const th_distribution *d, const char *unit) {
    switch (d->kind) {
    case TH_DISTRIBUTION_CONSTANT: th_text_add(text, "%g\xc2\xa0%s", d->a, unit); return;
    case TH_DISTRIBUTION_UNIFORM:
        th_text_add(text, "%g to %g\xc2\xa0%s, uniform", d->a, d->b, unit);
        return;
    case TH_DISTRIBUTION_NORMAL: th_text_add(text, "normal, mean %g, s.d. %g", d->a, d->b); break;
    case TH_DISTRIBUTION_LOGNORMAL:
        th_text_add(text, "log-normal, median %.3g, s.d. of the logarithm %g", exp(d->a), d->b);
        break;
    case TH_DISTRIBUTION_GAMMA: th_text_add(text, "gamma, shape %g, scale %g", d->a, d->b); break;
    case TH_DISTRIBUTION_WEIBULL:
        th_text_add(text, "Weibull, scale %g, shape %g", d->a, d->b);
        break;
    }
    add_range(text, d);
    th_text_add(text, "\xc2\xa0%s", unit);
}

// How many of the group came in the first run.
static int64_t came(const th_observation *first, int group) {
    int64_t count = 0;
    for (int i = 0; first && i < first->person_count; ++i) count += first->people[i].group == group;
    return count;
}

static void add_source(th_text *page, const th_group *group) {
    if (group->rate > 0) {
        th_text_put(page, "<br><small>");
        th_text_value(page, group->rate);
        th_text_add(page, "\xc2\xa0/s from %g\xc2\xa0s", group->rate_start);
        if (isfinite(group->rate_end) && group->rate_end < 1e15)
            th_text_add(page, " to %g\xc2\xa0s", group->rate_end);
        th_text_put(page, "</small>");
    } else if (group->arrival_count > 0) {
        th_text_add(page, "<br><small>timetable, %g to %g\xc2\xa0s</small>",
                    group->arrivals[0].time, group->arrivals[group->arrival_count - 1].time);
    }
}

static void add_route(th_text *page, const th_scene_view *scene, const th_group *group) {
    if (group->own_goal != TH_OWN_GOAL_NONE) th_text_put(page, "a place of their own");
    for (int leg = 0; leg < group->route_count; ++leg) {
        const th_target *target = &scene->targets[group->route[leg]];
        if (leg > 0) th_text_put(page, ", then ");
        if (target->goal_count > 1) th_text_put(page, "nearest of ");
        for (int i = 0; i < target->goal_count; ++i) {
            if (i > 0) th_text_put(page, ", ");
            th_text_escaped(page, scene->goals[target->goals[i]].id);
        }
    }
}

static const char *model_name(const th_model_choice *choice) {
    return th_models(NULL)[choice->model]->name;
}

static void add_group(th_text *page, const th_figure_data *data, int index) {
    const th_group *group = &data->scene->groups[index];
    th_text_put(page, "<tr><th scope=\"row\">");
    th_text_escaped(page, group->id);
    th_text_put(page, "</th><td class=\"n\">");
    th_text_count(page, (double)(data->first ? came(data->first, index) : group->count));
    add_source(page, group);
    th_text_put(page, "</td><td>");
    add_route(page, data->scene, group);
    th_text_put(page, "</td><td>");
    add_distribution(page, &group->speed, "m/s");
    th_text_put(page, "</td><td>");
    add_distribution(page, &group->radius, "m");
    th_text_put(page, "</td><td>");
    add_distribution(page, &group->premovement, "s");
    th_text_add(page, "</td><td>%s, plan %s, filter %s</td></tr>\n", model_name(&group->move),
                model_name(&group->plan), model_name(&group->filter));
}

void th_page_population(th_text *page, const th_figure_data *data) {
    enum { GROUPS_MAX = 200 };
    if (data->scene->group_count == 0) return;
    th_text_put(page, "<h3>Population</h3><div class=\"wide\"><table><thead><tr><th>group</th>"
                      "<th class=\"n\">people</th><th>go to</th><th>preferred speed</th>"
                      "<th>radius</th><th>set off after</th><th>model</th></tr></thead><tbody>\n");
    for (int i = 0; i < data->scene->group_count && i < GROUPS_MAX; ++i) add_group(page, data, i);
    th_text_put(page, "</tbody></table></div>\n");
    if (data->scene->group_count > GROUPS_MAX)
        th_text_add(page, "<p class=\"note\">%d more groups are in the scene file.</p>\n",
                    data->scene->group_count - GROUPS_MAX);
}

// ---- differences from the defaults

// One setting with one value, and the groups that have it.
typedef struct difference {
    char name[80], value[160], usual[160];
    th_text groups;
    int group_count;
} difference;
enum { DIFFERENCES_MAX = 200 };
typedef struct difference_list {
    difference rows[DIFFERENCES_MAX];
    int count;
    bool cut;
} difference_list;

static void differ(difference_list *list, const char *group, const char *name, const char *value,
                   const char *usual) {
    int i = 0;
    while (i < list->count &&
           (strcmp(list->rows[i].name, name) != 0 || strcmp(list->rows[i].value, value) != 0))
        ++i;
    if (i == DIFFERENCES_MAX) {
        list->cut = true;
        return;
    }
    difference *row = &list->rows[i];
    if (i == list->count) {
        ++list->count;
        snprintf(row->name, sizeof row->name, "%s", name);
        snprintf(row->value, sizeof row->value, "%s", value);
        snprintf(row->usual, sizeof row->usual, "%s", usual);
    }
    if (!group) return;
    if (row->group_count++ > 0) th_text_put(&row->groups, ", ");
    th_text_escaped(&row->groups, group);
}

static void compare_model(difference_list *list, const th_group *group, const char *stage,
                          const th_model_choice *choice) {
    const th_model *model = th_models(NULL)[choice->model];
    const char *usual = th_models(NULL)[th_stage_default_model(model->stage)]->name;
    if (strcmp(model->name, usual) != 0) differ(list, group->id, stage, model->name, usual);
    for (int i = 0; i < model->param_count; ++i) {
        const th_param_info *info = &model->params[i];
        float usual_value = (float)info->value;
        if (choice->params[i] >= usual_value && choice->params[i] <= usual_value) continue;
        const char *unit = strcmp(info->unit, "-") == 0 ? "" : info->unit;
        char name[80], value[160], standard[160];
        snprintf(name, sizeof name, "%s %s", model->name, info->name);
        snprintf(value, sizeof value, "%.7g %s", (double)choice->params[i], unit);
        snprintf(standard, sizeof standard, "%.7g %s", info->value, unit);
        differ(list, group->id, name, value, standard);
    }
}

static bool same_distribution(const th_distribution *a, const th_distribution *b) {
    const double left[4] = {a->a, a->b, a->min, a->max}, right[4] = {b->a, b->b, b->min, b->max};
    if (a->kind != b->kind) return false;
    int used = a->kind == TH_DISTRIBUTION_CONSTANT ? 1 : a->kind == TH_DISTRIBUTION_UNIFORM ? 2 : 4;
    for (int i = 0; i < used; ++i)
        if (left[i] < right[i] || left[i] > right[i]) return false;
    return true;
}

static void compare_distribution(difference_list *list, const th_group *group, const char *name,
                                 const th_distribution *value, const th_distribution *usual,
                                 const char *unit) {
    if (same_distribution(value, usual)) return;
    th_text is = {0}, was = {0};
    add_distribution(&is, value, unit);
    add_distribution(&was, usual, unit);
    if (!is.failed && !was.failed) differ(list, group->id, name, is.bytes, was.bytes);
    th_text_release(&is);
    th_text_release(&was);
}

static void compare_number(difference_list *list, const char *name, double value, double usual,
                           const char *unit) {
    char is[160], was[160];
    snprintf(is, sizeof is, "%g %s", value, unit);
    snprintf(was, sizeof was, "%g %s", usual, unit);
    if (strcmp(is, was) == 0) return; // a step is time over steps, and rounded
    differ(list, NULL, name, is, was);
}

static void compare_all(difference_list *list, const th_figure_data *data) {
    const th_scene_view *scene = data->scene;
    th_scene_def usual = th_scene_def_default();
    th_group_def standard = th_group_def_default();
    double step = data->first && data->first->step > 0 ? data->first->step : scene->run.step;
    compare_number(list, "time step", step, usual.run.step, "s");
    compare_number(list, "duration (0: until empty)", scene->run.duration, usual.run.duration, "s");
    if (data->def->max_time > 0)
        compare_number(list, "stopped at (--max-time)", data->def->max_time, 0, "s");
    compare_number(list, "longest until-empty run", scene->run.max_time, usual.run.max_time, "s");
    for (int i = 0; i < scene->group_count; ++i) {
        const th_group *group = &scene->groups[i];
        compare_distribution(list, group, "preferred speed", &group->speed, &standard.speed, "m/s");
        compare_distribution(list, group, "radius", &group->radius, &standard.radius, "m");
        compare_distribution(list, group, "sets off after", &group->premovement,
                             &standard.premovement, "s");
        compare_distribution(list, group, "mass", &group->mass, &standard.mass, "kg");
        compare_model(list, group, "move model", &group->move);
        compare_model(list, group, "plan", &group->plan);
        compare_model(list, group, "filter", &group->filter);
        compare_model(list, group, "behaviour", &group->behave);
    }
}

static void add_difference(th_text *page, const difference *row, int group_count) {
    th_text_put(page, "<tr><th scope=\"row\">");
    th_text_escaped(page, row->name);
    th_text_put(page, "</th><td>");
    th_text_escaped(page, row->value);
    th_text_put(page, "</td><td>");
    th_text_escaped(page, row->usual);
    th_text_put(page, "</td><td>");
    if (row->group_count == 0 || row->group_count == group_count)
        th_text_put(page, "all");
    else if (row->groups.bytes)
        th_text_put(page, row->groups.bytes);
    th_text_put(page, "</td></tr>\n");
}

void th_page_differences(th_text *page, const th_figure_data *data) {
    difference_list *list = calloc(1, sizeof *list);
    if (!list) {
        page->failed = true;
        return;
    }
    compare_all(list, data);
    th_text_put(page, "<h3>Settings that differ from the defaults</h3>\n");
    if (list->count == 0)
        th_text_put(page, "<p>None: every parameter has its default value.</p>\n");
    else
        th_text_put(page, "<div class=\"wide\"><table><thead><tr><th>setting</th><th>here</th>"
                          "<th>default</th><th>groups</th></tr></thead><tbody>\n");
    for (int i = 0; i < list->count; ++i) {
        add_difference(page, &list->rows[i], data->scene->group_count);
        th_text_release(&list->rows[i].groups);
    }
    if (list->count > 0) th_text_put(page, "</tbody></table></div>\n");
    if (list->cut) th_text_put(page, "<p class=\"note\">More are in the scene file.</p>\n");
    free(list);
}
