// The answer: what an engineer would say first, with the certainty that the runs support.
// SPDX-License-Identifier: Apache-2.0
#include "report/page.h"
#include <math.h>

static void add_people(th_text *page, double count) {
    th_text_count(page, count);
    th_text_put(page, count > 0.5 && count < 1.5 ? " person" : " people");
}

static void add_95(th_text *page, const th_ensemble *ensemble) {
    th_sample_summary p95 = th_ensemble_reach(ensemble, 0.95);
    if (!isfinite(p95.mean)) return;
    th_text_put(page, "; 95\xc2\xa0% were out after ");
    th_text_within(page, p95.mean);
}

static double mean_of_runs(const th_ensemble *ensemble, bool inside) {
    double sum = 0;
    for (int i = 0; i < ensemble->run_count; ++i)
        sum += (double)(inside ? ensemble->runs[i].inside : ensemble->runs[i].spawned);
    return sum / ensemble->run_count;
}

// Everybody out in the only run.
static void answer_one(th_text *page, const th_ensemble *ensemble) {
    const th_run_summary *run = &ensemble->runs[0];
    add_people(page, (double)run->left);
    th_text_put(page, " left within ");
    th_text_within(page, run->egress_time);
    add_95(page, ensemble);
    th_text_put(page,
                ".</p><p>This is one run; repeat it with <code>--runs 20</code> for a confidence "
                "interval.");
}

// The runs that never emptied come first: whoever reads one sentence only must know.
static void answer_stuck(th_text *page, const th_ensemble *ensemble, int ended) {
    uint64_t most = 0;
    double longest = 0;
    for (int i = 0; i < ensemble->run_count; ++i) {
        if (isfinite(ensemble->runs[i].egress_time)) continue;
        if (ensemble->runs[i].inside > most) most = ensemble->runs[i].inside;
        longest = fmax(longest, ensemble->runs[i].time);
    }
    th_text_add(page, "In %d of %d runs not everybody got out: up to ", ensemble->run_count - ended,
                ensemble->run_count);
    th_text_count(page, (double)most);
    th_text_put(page, " of ");
    add_people(page, mean_of_runs(ensemble, false));
    th_text_put(page, " were still inside after ");
    th_text_seconds(page, longest);
    th_text_add(page, ".</p><p>In the other %s", ended == 1 ? "run " : "");
    if (ended > 1) th_text_add(page, "%d runs ", ended);
}

// Everybody out in `ended` of several runs.
static void answer_many(th_text *page, const th_ensemble *ensemble, int ended) {
    th_sample_summary egress = th_ensemble_egress(ensemble);
    if (ended < ensemble->run_count) {
        answer_stuck(page, ensemble, ended);
        th_text_put(page, "everybody left within ");
    } else {
        add_people(page, mean_of_runs(ensemble, false));
        th_text_put(page, " left within ");
    }
    th_text_within(page, egress.mean);
    th_text_add(page, " (mean of %d %s", ended, ended == 1 ? "run" : "runs");
    if (isfinite(egress.ci_low)) {
        th_text_put(page, ", 95\xc2\xa0% confidence interval ");
        th_text_seconds(page, egress.ci_low);
        th_text_put(page, " to ");
        th_text_seconds(page, egress.ci_high);
    }
    th_text_put(page, ")");
    if (ended == ensemble->run_count) add_95(page, ensemble);
    th_text_put(page, ".</p><p>");
    if (isfinite(egress.p95)) {
        th_text_put(page, "95th percentile of the egress times: ");
        th_text_within(page, egress.p95);
        th_text_put(page, " (fastest run ");
        th_text_within(page, egress.min);
        th_text_put(page, ", slowest ");
        th_text_within(page, egress.max);
        th_text_put(page, ").");
    }
    if (ended < ensemble->run_count)
        th_text_put(page, " Runs that did not empty are in none of these numbers.");
}

static void add_end(th_text *page, const th_ensemble *ensemble) {
    th_text_seconds(page, ensemble->runs[0].time);
    if (ensemble->run_count > 1) th_text_add(page, " (mean of %d runs)", ensemble->run_count);
    th_text_put(page, ".");
}

// People with places of their own need not leave: nobody is on the way any more.
static void answer_settled(th_text *page, const th_ensemble *ensemble) {
    double inside = mean_of_runs(ensemble, true), all = mean_of_runs(ensemble, false), lying = 0;
    for (int i = 0; i < ensemble->run_count; ++i)
        lying += (double)ensemble->runs[i].lying / ensemble->run_count;
    if (all > inside) {
        add_people(page, all - inside);
        th_text_put(page, " left and ");
    }
    if (lying > 0) {
        add_people(page, lying);
        th_text_put(page, inside > lying ? " lay on the ground, " : " lay on the ground after ");
    }
    if (inside > lying || !(lying > 0)) {
        add_people(page, inside - lying);
        th_text_put(page, " had reached the places they wanted to be at after ");
    }
    add_end(page, ensemble);
}

static void answer_not_ended(th_text *page, const th_ensemble *ensemble) {
    bool interrupted = ensemble->runs[0].interrupted;
    th_text_count(page, mean_of_runs(ensemble, true));
    th_text_put(page, " of ");
    add_people(page, mean_of_runs(ensemble, false));
    th_text_put(page, " had not left ");
    th_text_put(page, interrupted ? "when the run was interrupted at " : "after ");
    add_end(page, ensemble);
    th_text_put(page,
                "</p><p>So there is no egress time; the figure of people still inside shows where "
                "they are.");
}

static void add_fact(th_text *page, const char *name) {
    th_text_add(page, "<div><dt>%s</dt><dd>", name);
}

static void end_fact(th_text *page) { th_text_put(page, "</dd></div>"); }

// The numbers that are asked for next.
static void add_facts(th_text *page, const th_figure_data *data) {
    const th_ensemble *ensemble = data->ensemble;
    const th_density_findings *found = &data->found;
    double jam = 0;
    for (int i = 0; i < ensemble->run_count; ++i)
        jam += ensemble->runs[i].mean_jam_time / ensemble->run_count;
    th_text_put(page, "<dl class=\"facts\">");
    if (data->ensemble->map_count > 0) {
        add_fact(page, "highest density");
        th_text_measured(page, found->highest);
        th_text_put(page, "\xc2\xa0/m\xc2\xb2");
        end_fact(page);
        add_fact(page, "longest above 4\xc2\xa0/m\xc2\xb2");
        th_text_seconds(page, found->dense_time);
        if (found->dense_share > 0)
            th_text_add(page, " (%.0f\xc2\xa0%% of the time %s)", 100 * found->dense_share,
                        th_use_words(data->scene, ensemble));
        end_fact(page);
    }
    if (data->pressed.load > 0) {
        add_fact(page, "highest load on a body");
        th_text_measured(page, data->pressed.load);
        th_text_put(page, "\xc2\xa0N");
        end_fact(page);
    }
    th_fall_findings falls = th_find_falls(data->scene, ensemble);
    if (falls.possible) {
        int decimals = ensemble->run_count > 1 ? 1 : 0;
        add_fact(page, ensemble->run_count > 1 ? "people who fell, mean" : "people who fell");
        th_text_add(page, "%.*f", decimals, falls.fallen);
        if (falls.lying > 0) {
            th_text_add(page, " (%.*f", decimals, falls.lying);
            th_text_put(page, " lay on the ground at the end)");
        }
        end_fact(page);
    }
    if (isfinite(jam)) {
        add_fact(page, "mean time in a jam");
        th_text_seconds(page, jam);
        th_text_put(page, " per person");
        end_fact(page);
    }
    th_text_put(page, "</dl>");
}

void th_page_answer(th_text *page, const th_figure_data *data) {
    const th_ensemble *ensemble = data->ensemble;
    int ended = th_ensemble_egress(ensemble).count;
    th_text_put(page, "<section class=\"answer\"><p class=\"headline\">");
    if (ensemble->run_count == 0)
        th_text_put(page, "No run was finished.");
    else if (mean_of_runs(ensemble, false) <= 0)
        th_text_put(page, "Nobody was simulated: no group brought anybody in.");
    else if (ended == 0 && ensemble->runs[0].done && !ensemble->runs[0].interrupted)
        answer_settled(page, ensemble);
    else if (ended == 0)
        answer_not_ended(page, ensemble);
    else if (ensemble->run_count == 1)
        answer_one(page, ensemble);
    else
        answer_many(page, ensemble, ended);
    th_text_put(page, "</p>");
    if (ensemble->run_count > 0 && mean_of_runs(ensemble, false) > 0) add_facts(page, data);
    th_text_put(page, "</section>\n");
}
