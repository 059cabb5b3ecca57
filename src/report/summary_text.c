// The outcome of a run, or of many, as text for people. SPDX-License-Identifier: Apache-2.0
#include "report/summary.h"

// The compiled scene, only for names: observations carry indices.
#include "throng/scene_view.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void print_exits(FILE *out, const th_observation *seen) {
    bool titled = false;
    for (int i = 0; i < seen->counter_count; ++i) {
        const th_counter *counter = &seen->counters[i];
        if (counter->kind != TH_COUNT_EXIT) continue;
        if (!titled) fprintf(out, "\nexits               people    first      last\n");
        titled = true;
        fprintf(out, "  %-16s %7" PRIu64, counter->id, counter->forward_total);
        if (counter->forward_total > 0)
            fprintf(out, "  %6.1f s  %6.1f s", counter->first_time, counter->last_time);
        fputc('\n', out);
    }
    if (seen->events_lost > 0)
        fprintf(out,
                "  (who took which is not known of %" PRIu64
                " people, who left in too large a crowd)\n",
                seen->events_lost);
}

static void print_lines(FILE *out, const th_observation *seen, th_counter_kind kind,
                        const char *title) {
    bool titled = false;
    for (int i = 0; i < seen->counter_count; ++i) {
        const th_counter *counter = &seen->counters[i];
        if (counter->kind != kind) continue;
        if (!titled) fprintf(out, "\n%-18s forward backward     flow     flow per metre\n", title);
        titled = true;
        uint64_t forward = counter->forward_total, backward = counter->backward_total;
        double interval = counter->last_time - counter->first_time;
        fprintf(out, "  %-16s %7" PRIu64 "  %7" PRIu64, counter->id, forward, backward);
        if (forward + backward >= 2 && interval > 0) {
            double flow = (double)(forward + backward - 1) / interval;
            fprintf(out, "  %5.2f /s", flow);
            if (counter->width > 0) fprintf(out, "  %9.2f /(m s)", flow / counter->width);
        }
        fputc('\n', out);
    }
}

static void print_areas(FILE *out, const th_observation *seen) {
    if (seen->area_count > 0)
        fprintf(out, "\nareas               at end      mean   highest density [/m2]\n");
    for (int i = 0; i < seen->area_count; ++i) {
        const th_area_series *area = &seen->areas[i];
        double sum = 0, highest = 0, now = 0;
        for (int k = 0; k < seen->sample_count; ++k) {
            now = (double)area->density[k];
            sum += now;
            highest = fmax(highest, now);
        }
        fprintf(out, "  %-16s %7.2f  %8.2f  %8.2f\n", area->id, now,
                seen->sample_count > 0 ? sum / seen->sample_count : 0.0, highest);
    }
}

// Who did not get out of a run that was to go on until empty, by group, and where to look for them.
static void print_left_behind(FILE *out, const th_scene_view *scene, const th_observation *seen) {
    if (!seen->timed_out) return;
    bool titled = false;
    for (int g = 0; g < scene->group_count; ++g) {
        int count = 0;
        const th_left_behind *first = NULL;
        for (int i = 0; i < seen->left_behind_count; ++i) {
            const th_left_behind *person = &seen->left_behind[i];
            if (person->group != g || person->phase >= TH_PHASE_ARRIVED) continue;
            if (count++ == 0) first = person;
        }
        if (!first) continue;
        if (!titled) fprintf(out, "\nstill on the way    people   one of them stands at\n");
        titled = true;
        fprintf(out, "  %-16s %7d   (%.2f, %.2f) on %s\n", scene->groups[g].id, count,
                (double)first->x + scene->origin.x, (double)first->y + scene->origin.y,
                scene->levels[first->level].id);
    }
}

static void print_people(FILE *out, const th_observation *seen) {
    const th_statistics *s = &seen->statistics;
    fprintf(out, "  people           %" PRIu64 " came, %" PRIu64 " left, %" PRIu64 " inside",
            s->spawned, s->left, s->inside);
    if (s->removed > 0) fprintf(out, ", %" PRIu64 " removed", s->removed);
    if (s->falls > 0)
        fprintf(out, "\n  fallen           %" PRIu64 " lie on the ground, %" PRIu64 " falls in all",
                s->fallen, s->falls);
    if (s->waiting_to_enter > 0)
        fprintf(out, ", %" PRIu64 " waiting to enter", s->waiting_to_enter);
    if (s->still_to_come > 0) fprintf(out, ", %" PRIu64 " still to come", s->still_to_come);
    double egress = th_egress_time(seen);
    if (isfinite(egress))
        fprintf(out, "\n  egress time      %.1f s", egress);
    else if (s->left > 0)
        fprintf(out, "\n  last left at     %.1f s", s->last_left_time);
    fputc('\n', out);
}

void th_report_print_run(FILE *out, const th_scene_view *scene, const char *scene_file,
                         const th_observation *seen) {
    const th_statistics *s = &seen->statistics;
    fprintf(out, "%s (%s), seed %" PRIu64 "%s\n", scene->name, scene_file, seen->seed,
            seen->interrupted ? ", interrupted" : "");
    print_people(out, seen);
    fprintf(out, "  simulated        %.1f s in %" PRIu64 " steps of %g s", s->time, s->steps,
            seen->step);
    fprintf(out, "\n  took             %.2f s", seen->wall_seconds);
    if (seen->wall_seconds > 0)
        fprintf(out, ", %.1f times real time", s->time / seen->wall_seconds);
    fprintf(out, "\n  largest overlap  %.1f cm", 100 * (double)s->largest_overlap);
    fprintf(out, "\n  walls            %" PRIu64 " crossed, %" PRIu64 " moves cut short",
            s->wall_crossings, s->wall_stops);
    if (s->repairs > 0) fprintf(out, "\n  repairs          %" PRIu64, s->repairs);
    if (s->unreachable > 0)
        fprintf(out, "\n  no way out       %" PRIu64 " people whose goal cannot be reached",
                s->unreachable);
    fprintf(out, "\n  state hash       %016" PRIx64 "\n", seen->hash);
    print_left_behind(out, scene, seen);
    print_exits(out, seen);
    print_lines(out, seen, TH_COUNT_DOOR, "doors");
    print_lines(out, seen, TH_COUNT_LINE, "lines");
    print_areas(out, seen);
}

void th_report_print_sample(FILE *out, const th_ensemble *ensemble) {
    th_sample_summary egress = th_ensemble_egress(ensemble);
    fprintf(out, "  %d of %d runs emptied the scene\n", egress.count, ensemble->run_count);
    if (egress.count == 0) return;
    fprintf(out, "  egress time      mean %.1f s", egress.mean);
    if (egress.count > 1)
        fprintf(out,
                ", 95 %% interval of the mean %.1f .. %.1f s (%.1f %% wide)\n"
                "                   median %.1f s, 95th percentile %.1f s",
                egress.ci_low, egress.ci_high, 100 * egress.ci_relative, egress.median, egress.p95);
    fprintf(out, "\n                   lowest %.1f s, highest %.1f s\n", egress.min, egress.max);
}
