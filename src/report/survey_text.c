// A survey as text. SPDX-License-Identifier: Apache-2.0
#include "observe/observation.h"
#include "report/survey.h"
#include <stdio.h>

static void print_ground(FILE *out, const th_survey *survey) {
    const th_survey_def *def = &survey->def;
    fprintf(out, "  frames       %lld to %lld, %g per second: %.2f s to %.2f s\n",
            (long long)survey->first_frame, (long long)survey->last_frame, survey->fps,
            survey->first_time, survey->last_time);
    fprintf(out, "  people       %d, at most %d at once\n", survey->walkers->count,
            survey->most_people);
    double window = round(def->motion.window * survey->fps) / survey->fps;
    fprintf(out, "  velocities   over %.3g s before and after\n", fmax(window, 1 / survey->fps));
    if (!survey->has_ground)
        fprintf(out,
                "  ground       not known, taken as endless: --walkable says where walls are\n");
}

static void print_service(FILE *out, const double *share, const char *what) {
    fprintf(out, "      %-16s", what);
    for (int s = 0; s < TH_SERVICE_LEVELS; ++s)
        fprintf(out, "  %c %5.1f %%", 'A' + s, 100 * share[s]);
    fprintf(out, "\n");
}

// "3.057", or "-" where there is no number.
static const char *cell(double value, char text[16]) {
    if (isfinite(value))
        snprintf(text, 16, "%.3f", value);
    else
        snprintf(text, 16, "-");
    return text;
}

static void print_area(FILE *out, const th_survey *survey, int a) {
    const th_survey_area *area = &survey->areas[a];
    char density[16], highest[16], speed[16], flow[16];
    fprintf(out, "  %s, %.3g m2, %d moments\n", area->name, area->size, area->count);
    for (int m = 0; m < TH_DENSITY_METHODS; ++m) {
        if (!survey->def.method[m]) continue;
        th_survey_mean mean = th_survey_mean_of(survey, a, (th_density_method)m);
        fprintf(out, "    %-10s density %7s /m2 (highest %s)   speed %6s m/s   flow %6s /(m s)\n",
                th_density_method_name((th_density_method)m), cell(mean.density, density),
                cell(mean.highest_density, highest), cell(mean.speed, speed),
                cell(mean.flow, flow));
        print_service(out, mean.service, "service");
        if (mean.speed < 0)
            fprintf(
                out,
                "    warning: on the whole people walk against --direction, so speed and flow are "
                "negative;\n             turn its signs round, or give --both-ways for two "
                "streams\n");
    }
    th_survey_pressure pressure = th_survey_pressure_of(survey, a);
    if (isfinite(pressure.mean))
        fprintf(out, "    crowd pressure    mean %.4f /s2, highest %.4f /s2\n", pressure.mean,
                pressure.most);
}

static void print_direction(FILE *out, const th_line_flow *flow, const char *name) {
    char total[16], middle[16], specific[16], middle_specific[16];
    if (flow->count == 0) return;
    fprintf(out, "    %-9s %d people, %.2f s to %.2f s; flow %s /s, middle 80 %% %s /s;\n", name,
            flow->count, flow->first_time, flow->last_time, cell(flow->flow, total),
            cell(flow->middle_flow, middle));
    fprintf(out, "              specific flow %s /(m s), middle 80 %% %s /(m s)\n",
            cell(flow->specific_flow, specific), cell(flow->middle_specific_flow, middle_specific));
    if (flow->count > 2)
        fprintf(out,
                "              time headways: mean %.3f s, median %.3f s, 95th percentile %.3f s\n",
                flow->headway.mean, flow->headway.median, flow->headway.p95);
}

static void print_line(FILE *out, const th_survey *survey, int l) {
    th_line_flow forward = {0}, backward = {0};
    const th_line_watch *line = &survey->lines[l];
    fprintf(out, "  %s, %.3g m wide\n", survey->def.lines[l].name, th_line_width(line));
    if (line->count == 0) fprintf(out, "    nobody crossed it\n");
    if (line->beside > 0)
        fprintf(out,
                "    warning: %d crossings less than %.1f m beside its ends are not counted; make "
                "the line longer\n",
                line->beside, TH_BESIDE);
    if (th_line_flow_of(line, true, &forward, NULL) == TH_OK)
        print_direction(out, &forward, "forward");
    if (th_line_flow_of(line, false, &backward, NULL) == TH_OK)
        print_direction(out, &backward, "backward");
}

static void print_people(FILE *out, const th_survey *survey) {
    const th_walkers *walkers = survey->walkers;
    th_survey_people mean = th_survey_people_of(survey);
    double seconds = 0;
    if (walkers->count == 0) return;
    fprintf(out, "people\n");
    double speed = th_histogram_mean(&walkers->speed);
    if (isfinite(speed)) fprintf(out, "  speed        mean %.3f m/s\n", speed);
    fprintf(out,
            "  standing     %.2f s a person before setting off, %.2f s in jams (below %.1f m/s)\n",
            mean.wait_time, mean.jam_time, (double)TH_JAM_SPEED);
    if (isfinite(mean.path_ratio))
        fprintf(out, "  path         %.3f times the straight line\n", mean.path_ratio);
    // Acceleration takes three frames of a person, jerk four.
    double jerk = th_histogram_mean(&walkers->jerk);
    if (isfinite(th_histogram_mean(&walkers->acceleration))) {
        fprintf(out, "  acceleration mean %.3f, 95th percentile %.3f m/s2;",
                th_histogram_mean(&walkers->acceleration),
                th_histogram_quantile(&walkers->acceleration, 0.95));
        if (isfinite(jerk))
            fprintf(out, " jerk mean %.2f, 95th percentile %.2f m/s3", jerk,
                    th_histogram_quantile(&walkers->jerk, 0.95));
        else
            fputs(" nobody is there long enough for a jerk", out);
        fputs("\n               (frame by frame: compare equal frame rates only)\n", out);
    }
    double share[TH_SERVICE_LEVELS];
    for (int s = 0; s < TH_SERVICE_LEVELS; ++s) seconds += survey->service[s];
    for (int s = 0; s < TH_SERVICE_LEVELS; ++s) share[s] = survey->service[s] / seconds;
    if (seconds > 0) print_service(out, share, "own density");
}

static void print_distances(FILE *out, const th_spacing_totals *d) {
    if (d->nearest.count == 0) return;
    fprintf(out, "nearest other person\n");
    fprintf(out, "  distance     mean %.3f m, least %.3f m, 5 %% below %.3f m, half below %.3f m\n",
            th_histogram_mean(&d->nearest), d->nearest.least,
            th_histogram_quantile(&d->nearest, 0.05), th_histogram_quantile(&d->nearest, 0.5));
    if (!(d->radius > 0)) return;
    fprintf(out,
            "  collisions   %lld times two bodies of radius %.3g m overlapped by more than 1 cm",
            (long long)d->collisions, d->radius);
    if (d->collisions > 0)
        fprintf(out, ",\n               %.2f s together, the longest %.2f s, the deepest %.3f m",
                d->pair_time, d->longest, d->deepest);
    fprintf(out, "\n");
}

void th_survey_print(FILE *out, const char *path, const th_survey *survey) {
    fprintf(out, "%s\n", path);
    if (survey->moments == 0) {
        fprintf(out, "  nothing in these frames\n");
        return;
    }
    print_ground(out, survey);
    if (survey->area_count > 0)
        fprintf(out, "areas (levels of service: %s)\n", survey->def.service->source);
    for (int a = 0; a < survey->area_count; ++a) print_area(out, survey, a);
    if (survey->line_count > 0) fprintf(out, "lines\n");
    for (int l = 0; l < survey->line_count; ++l) print_line(out, survey, l);
    print_people(out, survey);
    print_distances(out, survey->distances);
    if (survey->stopped) fprintf(out, "stopped at %.2f s\n", survey->last_time);
}
