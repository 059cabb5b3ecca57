// How things were measured and how to get the same numbers again. SPDX-License-Identifier: Apache-2.0
#include "report/page.h"
#include "throng/scene_view.h"
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

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
              "cm) from walking into each other when everybody "
              "leans on with mass times wanted speed over 0.5\xc2\xa0s (D.\xc2\xa0Helbing, "
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
    th_text_put(page, "When the last person left. A run in which somebody stayed inside has none.");
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
    th_text_add(page, "Somebody who wants to walk but is slower than %.1f\xc2\xa0m/s.",
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
        "or until nobody left any more); maximum specific flow of corridors and doors: 1.3 per "
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
