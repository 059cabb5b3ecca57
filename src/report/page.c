// The page report.html: input, method, and the frame around all parts. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "observe/findings.h"
#include "report/figures.h"
#include "throng/model.h"
#include "throng/scene_view.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

// ---- the settings: groups in words, and every value that is not the default

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

// The number of people of the group that came in the first run.
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
        th_text_add(page, "<br><small>%s, %g to %g\xc2\xa0s</small>",
                    group->entries ? "as recorded" : "timetable", group->arrivals[0].time,
                    group->arrivals[group->arrival_count - 1].time);
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
    // The scene's own ends did not count where one was given, and the copy in the folder holds that one.
    if (data->def->max_time > 0) {
        compare_number(list, "stopped at (--max-time)", data->def->max_time, 0, "s");
    } else {
        compare_number(list, "duration (0: until empty)", scene->run.duration, usual.run.duration,
                       "s");
        compare_number(list, "longest until-empty run", scene->run.max_time, usual.run.max_time,
                       "s");
    }
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
        for (int k = 0; k < group->behave_count; ++k)
            compare_model(list, group, "behaviour", &group->behave[k]);
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

// ---- what is taken for granted

// Each model once, with its source.
static void add_models(th_text *page, const th_scene_view *scene) {
    int count = 0;
    const th_model *const *models = th_models(&count);
    for (int m = 0; m < count; ++m) {
        bool used = false;
        for (int g = 0; g < scene->group_count; ++g) {
            const th_model_choice *choice = NULL;
            for (int k = 0; (choice = th_group_model(&scene->groups[g], k)) != NULL; ++k)
                used = used || choice->model == m;
        }
        if (!used || strcmp(models[m]->name, "none") == 0) continue;
        th_text_put(page, "<li>");
        th_text_put(page, th_stage_name(models[m]->stage));
        th_text_put(page, " by the model <code>");
        th_text_escaped(page, models[m]->name);
        th_text_put(page, "</code>: ");
        th_text_escaped(page, models[m]->source);
        th_text_put(page, "</li>\n");
    }
}

void th_page_assumptions(th_text *page, const th_figure_data *data) {
    const th_scene_view *scene = data->scene;
    int closed = 0, timed = 0;
    for (int d = 0; d < scene->door_count; ++d) {
        closed += scene->doors[d].closed;
        timed += scene->doors[d].schedule_count > 0;
    }
    th_text_put(page, "<h3>Assumptions</h3><ul>\n");
    add_models(page, scene);
    th_text_add(page,
                "<li>Exits and doors are as wide as drawn and stand open, but for %d closed at the "
                "start and %d with a timetable.</li>\n",
                closed, timed);
    th_text_put(page, "<li>People set off after the times of the table above, know the plan and go "
                      "where their group does. Not simulated: fire, smoke, lifts, injuries.</li>"
                      "</ul>\n");
}

// ---- how things were measured, and how to get the same numbers again

static void item(th_text *page, const char *name) { th_text_add(page, "<dt>%s</dt><dd>", name); }

static void end_item(th_text *page) { th_text_put(page, "</dd>\n"); }

static void add_danger(th_text *page, const th_figure_data *data) {
    item(page, "Time in a dense crowd");
    th_text_put(page,
                "The density is that of the map cell a person is in when the state is looked at; "
                "the time between two looks counts half for each.");
    end_item(page);
    item(page, "Load on a body");
    th_text_put(
        page, "Half the sum of the normal forces of touching people and walls; per metre: the sum "
              "over the circumference of the body. With the model social_force they are its own "
              "contact forces. All other models have hard bodies: there they are the forces that "
              "keep people who touch (2\xc2\xa0"
              "cm) from walking into each other when all of them "
              "lean on with mass times wanted speed over 0.5\xc2\xa0s (D.\xc2\xa0Helbing, "
              "I.\xc2\xa0"
              "Farkas, T.\xc2\xa0Vicsek, Nature 407, 487, 2000), without friction: "
              "an upper estimate. Thresholds: R.\xc2\xa0S.\xc2\xa0"
              "C.\xc2\xa0Lee, "
              "R.\xc2\xa0L.\xc2\xa0Hughes, Accident Analysis and Prevention 38, 712, 2006, and "
              "what they cite.");
    end_item(page);
    item(page, "Crowd pressure");
    th_text_put(page,
                "Density times the variance of velocity (both directions together), weighted like "
                "the density; a velocity is the way between two looks over the time between. "
                "Cells with fewer than five people under the kernel have none (D.\xc2\xa0Helbing, "
                "A.\xc2\xa0Johansson, H.\xc2\xa0Z.\xc2\xa0"
                "Al-Abideen, Physical Review E 75, 046109, 2007).");
    end_item(page);
    if (!th_figure_pressure_applies(data)) return;
    item(page, "Pressure");
    th_text_put(
        page, "As the model of unilateral incompressibility keeps it, on cells of its own. A cell "
              "of the map shows the largest of the model's cells whose middles it holds or, "
              "where those are larger, the one its own middle is in.");
    end_item(page);
}

void th_page_method(th_text *page, const th_figure_data *data) {
    double interval = data->first ? data->first->interval : data->ensemble->interval;
    double cell = data->ensemble->map_count > 0 ? (double)data->ensemble->maps[0].cell : 0;
    th_text_put(page, "<section><h2>How it was measured</h2>\n<dl class=\"method\">\n");
    item(page, "Sampling");
    th_text_add(
        page,
        "The state is looked at every %g\xc2\xa0s of simulated time; exits, doors and lines "
        "count every crossing, whenever it happens.",
        interval);
    end_item(page);
    if (cell > 0) {
        item(page, "Density on maps");
        th_text_add(page,
                    "Cells of %g\xc2\xa0m. The people in a cell and its eight neighbours, weighted "
                    "1/4, 1/2, 1/4 in both directions, over the floor weighted alike: a square of "
                    "%g\xc2\xa0m whose middle counts most. Cells behind a wall are left out.",
                    cell, 3 * cell);
        end_item(page);
    }
    if (data->first && data->first->map_count > 0) add_danger(page, data);
    item(page, "Density in measurement areas");
    th_text_put(page, "People whose centre is inside, divided by the walkable part of the area.");
    end_item(page);
    item(page, "Flow");
    th_text_add(
        page,
        "Crossings per second in a sliding window of %g\xc2\xa0s, shortened at the start and "
        "the end; specific flow is flow divided by the width.",
        TH_FLOW_WINDOW);
    end_item(page);
    item(page, "Egress time");
    th_text_put(page, "When the last person left. A run in which people stayed inside has none.");
    end_item(page);
    item(page, "Interval and percentiles");
    th_text_put(
        page,
        "Over runs that differ only in their random seed. The 95\xc2\xa0% confidence interval "
        "of the mean is Student's t. It says how well the mean of the model is known, not "
        "how well the model describes people. Percentiles by linear interpolation "
        "between ordered values.");
    end_item(page);
    item(page, "Jam");
    th_text_add(page, "A person who wants to walk but is slower than %.1f\xc2\xa0m/s.",
                (double)TH_JAM_SPEED);
    end_item(page);
    item(page, "Thresholds");
    th_text_put(
        page,
        "Levels of service A to F for walkways: up to 0.31, 0.43, 0.72, 1.08, 2.15 and above, "
        "people per m\xc2\xb2 (J.\xc2\xa0"
        "J.\xc2\xa0"
        "Fruin, Pedestrian Planning and Design, 1971). "
        "Congestion: more than 4 per m\xc2\xb2, significant when it lasts longer than "
        "10\xc2\xa0% of the time (shares of the time are of the time until 95\xc2\xa0% had left, "
        "or until the last departure); maximum specific flow of corridors and doors: 1.3 per "
        "metre and second (IMO MSC.1/Circ.1533, 2016).");
    end_item(page);
    th_text_put(page, "</dl></section>\n");
}

static void add_code(th_text *page, const char *words) {
    th_text_put(page, "<code>");
    th_text_escaped(page, words);
    th_text_put(page, "</code>");
}

static void add_seeds(th_text *page, const th_ensemble *ensemble) {
    enum { SEEDS_MAX = 20 };
    bool in_row = ensemble->run_count > 2;
    for (int i = 1; i < ensemble->run_count; ++i)
        in_row = in_row && ensemble->runs[i].seed == ensemble->runs[i - 1].seed + 1;
    if (in_row) {
        th_text_add(page, "%" PRIu64 " to %" PRIu64, ensemble->runs[0].seed,
                    ensemble->runs[ensemble->run_count - 1].seed);
        return;
    }
    for (int i = 0; i < ensemble->run_count && i < SEEDS_MAX; ++i)
        th_text_add(page, "%s%" PRIu64, i > 0 ? ", " : "", ensemble->runs[i].seed);
    if (ensemble->run_count > SEEDS_MAX)
        th_text_add(page, ", \xe2\x80\xa6, %" PRIu64 " (all in runs.csv)",
                    ensemble->runs[ensemble->run_count - 1].seed);
}

static void add_now(th_text *page) {
    time_t now = time(NULL);
    struct tm utc;
    char words[64] = "";
    if (gmtime_r(&now, &utc)) strftime(words, sizeof words, "%Y-%m-%d %H:%M UTC", &utc);
    th_text_put(page, words);
}

// `throng export --html` into the folder puts a link into the span.
static void add_replay(th_text *page, const th_report_def *def) {
    char command[1024];
    if (!def->recording) {
        th_text_put(page, "this run was not recorded; <code>--record sqlite</code> does that");
        return;
    }
    th_text_put(page, "<span id=\"" TH_REPORT_REPLAY "\"></span>");
    snprintf(command, sizeof command, "throng replay %.900s", def->folder);
    add_code(page, command);
}

void th_page_reproduce(th_text *page, const th_figure_data *data) {
    const th_report_def *def = data->def;
    th_text_put(page, "<section><h2>To get the same numbers again</h2>\n<dl class=\"method\">\n");
    if (def->command_line) {
        item(page, "Command");
        add_code(page, def->command_line);
        end_item(page);
    }
    if (def->scene_file) {
        item(page, "Scene");
        add_code(page, def->scene_file);
        end_item(page);
    }
    if (def->override_count > 0) {
        item(page, "Changed values");
        for (int i = 0; i < def->override_count; ++i) {
            if (i > 0) th_text_put(page, "<br>");
            add_code(page, def->overrides[i]);
        }
        end_item(page);
    }
    item(page, data->ensemble->run_count > 1 ? "Seeds" : "Seed");
    add_seeds(page, data->ensemble);
    end_item(page);
    item(page, "Time step");
    th_text_add(page, "%g\xc2\xa0s",
                data->first && data->first->step > 0 ? data->first->step : data->scene->run.step);
    end_item(page);
    item(page, "Program");
    th_text_put(page, "throng ");
    th_text_escaped(page, th_version());
    th_text_put(page, "<br><small>");
    th_text_escaped(page, th_build_info());
    th_text_put(page, "</small>");
    end_item(page);
    if (def->recording) {
        item(page, "Recording");
        add_code(page, def->recording);
        end_item(page);
    }
    item(page, "See it move");
    add_replay(page, def);
    end_item(page);
    item(page, "Written");
    add_now(page);
    end_item(page);
    th_text_put(
        page, "</dl>\n<p class=\"note\">The same scene, seed, step and version give the same state "
              "hash on any number of threads.</p></section>\n");
}

// ---- report.html: one file with everything in it

void th_page_head(th_text *page, const char *title, const char *kind) {
    th_text_put(page, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                      "<title>");
    th_text_escaped(page, title);
    th_text_add(page, " \xe2\x80\x93 crowd simulation %s</title>\n<style>", kind);
    th_text_put(page, th_page_style);
    th_text_add(page,
                "</style></head>\n<body>\n<header><p class=\"note\">Crowd simulation %s, throng ",
                kind);
    th_text_escaped(page, th_version());
    th_text_put(page, "</p><h1>");
    th_text_escaped(page, title);
    th_text_put(page, "</h1></header>\n");
}

static void add_head(th_text *page, const th_figure_data *data) {
    const char *name = data->scene->name;
    const char *title = name && *name ? name : "scene without a name";
    th_page_head(page, title, "report");
    if (data->scene->description && *data->scene->description) {
        th_text_put(page, "<p>");
        th_text_escaped(page, data->scene->description);
        th_text_put(page, "</p>");
    }
}

static th_result add_findings(th_text *page, const th_figure_data *data, th_error *error) {
    const th_report_def *def = data->def;
    th_findings *findings = NULL;
    th_result result =
        th_run_findings(def->scene, def->ensemble, def->recording_trouble, &findings, error);
    if (result != TH_OK) return result;
    int count = 0;
    const th_finding *list = th_findings_list(findings, &count);
    if (count > 0) {
        th_text_put(page, "<section class=\"warnings\"><h2>Findings</h2><ul>");
        for (int i = 0; i < count; ++i) {
            th_text_add(page, "<li class=\"%s\">", th_severity_name(list[i].severity));
            if (list[i].severity == TH_SEVERITY_DANGER)
                th_text_put(page, "<strong>Danger:</strong> ");
            th_text_escaped(page, list[i].text);
            th_text_put(page, *list[i].cure ? " " : "");
            th_text_escaped(page, list[i].cure);
            th_text_put(page, "</li>\n");
        }
        th_text_put(page, "</ul></section>\n");
    } else {
        th_text_put(
            page,
            "<section class=\"fine\"><p>Nothing to be wary of. Looked at: people left behind, "
            "densities, loads on bodies, flows, congestion, overlaps, people in "
            "walls, gaps and doors of the plan, lost events, the recording.</p></section>\n");
    }
    th_findings_destroy(findings);
    return TH_OK;
}

static th_result add_figure(th_text *page, const th_figure *figure, int number,
                            const th_figure_data *data, th_error *error) {
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/figures/%s.png", data->def->folder, figure->name);
    if (length >= (int)sizeof path)
        return th_fail(error, TH_NO_FILE, "",
                       "the folder's path is too long; choose a shorter one");
    th_text_add(page, "<figure id=\"figure-%s\">", figure->name);
    th_result result = th_figure_write(figure, data, path, page, error);
    if (result != TH_OK) return result;
    th_text_add(page, "<figcaption><strong>Figure %d. %s.</strong> ", number, figure->title);
    figure->caption(page, data);
    th_text_put(page, "</figcaption></figure>\n");
    return TH_OK;
}

// The plan stands with the input, the others with the results.
static th_result add_results(th_text *page, const th_figure_data *data, th_error *error) {
    th_result result = TH_OK;
    int number = 1;
    th_text left_out = {0};
    th_text_put(page, "<section><h2>Results</h2>\n");
    for (int i = 1; i < th_figure_count && result == TH_OK; ++i) {
        if (th_figures[i].applies(data))
            result = add_figure(page, &th_figures[i], ++number, data, error);
        else if (th_figures[i].why_not)
            th_text_add(&left_out, "<li>%s</li>", th_figures[i].why_not);
    }
    if (left_out.length > 0) {
        th_text_put(page, "<p class=\"note\">Figures left out:</p><ul class=\"note\">");
        th_text_append(page, left_out.bytes, left_out.length);
        th_text_put(page, "</ul>\n");
    }
    page->failed = page->failed || left_out.failed;
    th_text_release(&left_out);
    th_page_failures(page, data);
    if (data->ensemble->run_count == 1) {
        th_page_counters(page, data);
        th_page_areas(page, data);
    }
    th_page_quantities(page, data);
    th_page_runs(page, data);
    th_text_put(page, "</section>\n");
    return result;
}

static th_result add_everything(th_text *page, const th_figure_data *data, th_error *error) {
    add_head(page, data);
    th_page_answer(page, data);
    th_result result = add_findings(page, data, error);
    th_text_put(page, "<section><h2>What was simulated</h2>\n");
    if (result == TH_OK && th_figures[0].applies(data))
        result = add_figure(page, &th_figures[0], 1, data, error);
    if (result != TH_OK) return result;
    th_page_population(page, data);
    th_page_differences(page, data);
    th_page_assumptions(page, data);
    th_text_put(page, "</section>\n");
    result = add_results(page, data, error);
    if (result != TH_OK) return result;
    th_page_method(page, data);
    th_page_reproduce(page, data);
    th_text_put(page, "</body></html>\n");
    return page->failed ? th_fail(error, TH_NO_MEMORY, "", "no memory for the report; free some")
                        : TH_OK;
}

static th_result make_figures_folder(const char *folder, th_error *error) {
    char path[4096];
    if (snprintf(path, sizeof path, "%s/figures", folder) >= (int)sizeof path)
        return th_fail(error, TH_NO_FILE, "",
                       "the folder's path is too long; choose a shorter one");
    if (mkdir(path, 0777) == 0 || errno == EEXIST) return TH_OK;
    return th_file_fail(error, path, "the folder cannot be made: %s; choose another folder",
                        strerror(errno));
}

th_result th_report_page(const th_report_def *def, th_error *error) {
    th_figure_data data;
    th_text page = {0};
    th_result result = make_figures_folder(def->folder, error);
    if (result != TH_OK) return result;
    result = th_figure_data_make(&data, def, error);
    if (result == TH_OK) result = add_everything(&page, &data, error);
    if (result == TH_OK)
        result = th_text_write(&page, def->folder, "report.html", TH_SYNCED, error);
    th_figure_data_release(&data);
    th_text_release(&page);
    return result;
}

// ---- the style sheet: one column on a screen, A4 on paper

const char th_page_style[] =
    "html{font:16px/1.5 system-ui,-apple-system,\"Segoe UI\",Roboto,\"Helvetica Neue\",Arial,"
    "sans-serif;color:#1a1a1a;background:#fff}"
    "body{max-width:58rem;margin:0 auto;padding:1.5rem}"
    "header{border-bottom:2px solid #1a1a1a;margin-bottom:1.5rem}"
    "h1{font-size:1.9rem;line-height:1.2;margin:.5rem 0 .3rem}"
    "h2{font-size:1.35rem;margin:2.4rem 0 .6rem;border-bottom:1px solid #bbb;padding-bottom:.2rem}"
    "h3{font-size:1.08rem;margin:1.6rem 0 .4rem}"
    "p{margin:.5rem 0}small,.note,figcaption{color:#444}.note{font-size:.9rem}"
    ".answer{border-left:6px solid #0072b2;background:#eef4f8;padding:.6rem 1.2rem;margin:1.2rem 0}"
    ".facts{display:flex;flex-wrap:wrap;gap:.4rem 2.2rem;margin:.7rem 0 .2rem}.facts "
    "dt{font-size:.85rem;"
    "color:#444}.facts dd{margin:0;font-weight:600}"
    ".headline{font-size:1.3rem;line-height:1.4;font-weight:600}"
    ".warnings{border-left:6px solid #d55e00;background:#fbf1ea;padding:.6rem 1.2rem;margin:1.2rem "
    "0}"
    ".warnings h2{border:0;margin:.2rem 0;font-size:1.1rem}.warnings ul{margin:.3rem "
    "0;padding-left:1.2rem}"
    ".fine{border-left:6px solid #009e73;background:#edf7f4;padding:.6rem 1.2rem;margin:1.2rem 0}"
    "figure{margin:1.8rem 0 2.2rem}figure svg{display:block;width:100%;height:auto}"
    "figcaption{font-size:.92rem;margin-top:.3rem;padding:0 .8rem}"
    "figcaption strong:first-child{color:#1a1a1a}"
    "table{border-collapse:collapse;font-size:.88rem;line-height:1.35;width:100%}"
    "th,td{text-align:left;vertical-align:top;padding:.3rem .6rem;border-bottom:1px solid #ddd}"
    "thead th{border-bottom:2px solid #666;vertical-align:bottom}tbody th{font-weight:600;"
    "overflow-wrap:anywhere;min-width:7rem}"
    "td{overflow-wrap:anywhere;min-width:3.2rem}.n{overflow-wrap:normal;text-align:right;font-"
    "variant-numeric:tabular-nums}.wide{overflow-x:auto}"
    "code{font:.88em ui-monospace,\"DejaVu Sans Mono\",Menlo,Consolas,monospace;"
    "overflow-wrap:anywhere}"
    "td code{white-space:nowrap}"
    "dl.method{display:grid;grid-template-columns:minmax(8rem,14rem) 1fr;gap:.35rem 1rem;"
    "font-size:.92rem}dl.method dt{font-weight:600}dl.method dd{margin:0;min-width:0}"
    "footer{margin-top:2rem;border-top:1px solid #bbb;font-size:.85rem;color:#555}"
    "@page{size:A4;margin:16mm 15mm 18mm}"
    "@media print{html{font-size:10.5pt}body{max-width:none;padding:0}"
    "figure,tr,.answer,.warnings,.fine,dl.method>div{break-inside:avoid}"
    "figure svg{max-height:225mm}h2,h3{break-after:avoid}thead{display:table-header-group}"
    ".answer,.warnings,.fine{print-color-adjust:exact;-webkit-print-color-adjust:exact}"
    ".wide{overflow:visible}a{color:inherit;text-decoration:none}}";
