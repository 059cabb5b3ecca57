// The numbers of a run by exit, door, stairs, line, area, group and profile, and when further runs do not change them.
// SPDX-License-Identifier: Apache-2.0
#include "observe/quantities.h"
#include "core/memory.h"
#include "observe/ensemble.h"
#include "observe/findings.h"
#include <stdlib.h>
#include <string.h>

void th_quantities_release(th_quantities *all) {
    for (int k = 0; k < all->count; ++k) {
        free(all->list[k].id);
        free(all->list[k].values);
    }
    free(all->list);
    *all = (th_quantities){0};
}

// ---- adding a run

static void add(th_quantities *all, const char *of, const char *id, const char *name,
                const char *unit, int worst, double value) {
    int k = all->filling++;
    if (all->failed) return;
    if (all->runs == 0) {
        bool room = TH_RESERVE_ONE(all->list, all->count);
        char *own = room ? strdup(id) : NULL;
        if (own) all->list[all->count++] = (th_quantity){of, own, name, unit, worst, NULL};
        all->failed = own == NULL;
    }
    if (all->failed || k >= all->count) {
        all->failed = true;
        return;
    }
    th_quantity *quantity = &all->list[k];
    if (strcmp(quantity->id, id) != 0 || strcmp(quantity->name, name) != 0 ||
        !TH_RESERVE_ONE(quantity->values, all->runs))
        all->failed = true;
    else
        quantity->values[all->runs] = value;
}

static double or_none(double value, bool known) { return known ? value : (double)NAN; }

static void add_run(th_quantities *all, const th_run_summary *run) {
    add(all, "run", "", "egress time", "s", 1, run->egress_time);
    add(all, "run", "", "50 % out", "s", 1, th_run_reach(run, run->interval, 0.5));
    add(all, "run", "", "95 % out", "s", 1, run->p95_time);
    add(all, "run", "", "people", "", 0, (double)run->spawned);
    add(all, "run", "", "people inside at the end", "", 1, (double)run->inside);
    add(all, "run", "", "mean time in a jam", "s", 1, run->mean_jam_time);
    add(all, "run", "", "highest density", "1/m2", 1, run->max_density);
    add(all, "run", "", "people over 30 s above 7 /m2", "", 1, (double)run->crushed);
    add(all, "run", "", "highest flow", "1/(m s)", 0, run->max_flow);
    add(all, "run", "", "highest load", "N", 1, run->max_load);
    add(all, "run", "", "people who fell", "", 1, (double)run->fallen);
}

static void add_waits(th_quantities *all, const char *of, const th_observation *o,
                      const th_counter *counter) {
    double *waits = malloc(((size_t)counter->pass_count + 1) * sizeof *waits);
    uint32_t longest_queue = 0;
    for (int k = 0; counter->queue && k < o->sample_count; ++k)
        if (counter->queue[k] > longest_queue) longest_queue = counter->queue[k];
    for (int k = 0; waits && k < counter->pass_count; ++k)
        waits[k] = (double)counter->passes[k].wait;
    if (!waits) all->failed = true;
    th_sample_summary s = th_summarise(waits, waits ? counter->pass_count : 0);
    free(waits);
    add(all, of, counter->id, "longest queue", "people", 1, (double)longest_queue);
    add(all, of, counter->id, "mean wait", "s", 1, s.mean);
    add(all, of, counter->id, "95 % of waits below", "s", 1, s.count == 1 ? s.mean : s.p95);
    add(all, of, counter->id, "longest wait", "s", 1, s.max);
}

static void add_counter(th_quantities *all, const th_observation *o, const th_counter *counter) {
    const char *of = th_counter_kind_names[counter->kind];
    double forward = (double)counter->forward_total, backward = (double)counter->backward_total;
    double width = counter->width > 0.0 ? counter->width : (double)NAN;
    bool used = forward + backward > 0.0;
    add(all, of, counter->id, "people", "", 0, forward + backward);
    if (counter->kind != TH_COUNT_EXIT) {
        add(all, of, counter->id, "people forward", "", 0, forward);
        add(all, of, counter->id, "people backward", "", 0, backward);
    }
    add(all, of, counter->id, "first", "s", 0, or_none(counter->first_time, used));
    add(all, of, counter->id, "last", "s", 1, or_none(counter->last_time, used));
    add(all, of, counter->id, "mean flow", "1/s", 0, th_counter_mean_flow(counter));
    add(all, of, counter->id, "mean specific flow", "1/(m s)", 0,
        th_counter_mean_flow(counter) / width);
    add(all, of, counter->id, "highest specific flow, 10 s", "1/(m s)", 0,
        th_counter_peak_flow(o, counter));
    if (counter->kind != TH_COUNT_LINE) add_waits(all, of, o, counter);
}

static void add_area(th_quantities *all, const th_observation *o, const th_area_series *area) {
    double sum = 0.0, highest = 0.0, speed = 0.0;
    int moving = 0;
    for (int k = 0; k < o->sample_count; ++k) {
        if (k < o->use_sample_count) sum += (double)area->density[k];
        highest = fmax(highest, (double)area->density[k]);
        if (isnan(area->speed[k]) || !(area->density[k] > 0.0f)) continue;
        speed += (double)area->speed[k];
        moving++;
    }
    add(all, "area", area->id, "mean density", "1/m2", 1,
        or_none(sum / o->use_sample_count, o->use_sample_count > 0));
    add(all, "area", area->id, "highest density", "1/m2", 1, highest);
    add(all, "area", area->id, "mean speed", "m/s", -1, or_none(speed / moving, moving > 0));
}

// ---- groups and profiles

// The name that people of a group are added up under; NULL: not by this.
typedef const char *member_name(const th_group *group);

static const char *group_name(const th_group *group) { return group->id; }
static const char *profile_name(const th_group *group) { return group->part.profile; }

typedef struct member {
    const char *name;
    int count, out;
    double last, end_sum, jam_sum;
} member;

static member *find_member(member *members, int *count, const char *name) {
    for (int m = 0; m < *count; ++m)
        if (strcmp(members[m].name, name) == 0) return &members[m];
    members[*count] = (member){.name = name, .last = (double)NAN};
    return &members[(*count)++];
}

static void see_member(member *m, const th_person *person) {
    m->count++;
    m->jam_sum += (double)person->jam_time;
    if (isnan(person->end_time)) return;
    m->out++;
    m->end_sum += (double)(person->end_time - person->start_time);
    m->last = fmax(m->last, (double)person->end_time); // fmax leaves NaN out
}

static void add_members(th_quantities *all, const th_observation *o, const char *of,
                        member_name *name_of) {
    const th_scene_view *scene = o->scene;
    if (!scene) return;
    member *members = calloc((size_t)scene->group_count + 1, sizeof *members);
    int *index = calloc((size_t)scene->group_count + 1, sizeof *index), count = 0;
    all->failed = all->failed || !members || !index;
    for (int g = 0; members && index && g < scene->group_count; ++g) {
        const char *name = name_of(&scene->groups[g]);
        index[g] = name ? (int)(find_member(members, &count, name) - members) : -1;
    }
    for (int p = 0; members && index && p < o->person_count; ++p) {
        int g = o->people[p].group;
        if (g >= 0 && g < scene->group_count && index[g] >= 0)
            see_member(&members[index[g]], &o->people[p]);
    }
    for (int k = 0; members && k < count; ++k) {
        const member *m = &members[k];
        add(all, of, m->name, "people", "", 0, m->count);
        add(all, of, m->name, "people not out", "", 1, m->count - m->out);
        add(all, of, m->name, "last out", "s", 1, m->last);
        add(all, of, m->name, "mean time to get out", "s", 1,
            or_none(m->end_sum / m->out, m->out > 0));
        add(all, of, m->name, "mean time in a jam", "s", 1,
            or_none(m->jam_sum / m->count, m->count > 0));
    }
    free(members);
    free(index);
}

bool th_quantities_add(th_quantities *all, const th_observation *o, const th_run_summary *run) {
    all->filling = 0;
    add_run(all, run);
    for (int c = 0; c < o->counter_count; ++c) add_counter(all, o, &o->counters[c]);
    for (int a = 0; a < o->area_count; ++a) add_area(all, o, &o->areas[a]);
    add_members(all, o, "group", group_name);
    add_members(all, o, "profile", profile_name);
    if (all->filling != all->count) all->failed = true;
    if (!all->failed) all->runs++;
    return !all->failed;
}

const th_quantity *th_quantities_find(const th_quantities *all, const char *of, const char *id,
                                      const char *name) {
    for (int k = 0; k < all->count; ++k)
        if (strcmp(all->list[k].of, of) == 0 && strcmp(all->list[k].id, id) == 0 &&
            strcmp(all->list[k].name, name) == 0)
            return &all->list[k];
    return NULL;
}

th_sample_summary th_quantity_summary(const th_quantities *all, const th_quantity *quantity) {
    return th_summarise(quantity->values, all->runs);
}

int th_quantity_worst(const th_quantities *all, const th_quantity *quantity) {
    int worst = -1;
    for (int r = 0; quantity->worst != 0 && r < all->runs; ++r) {
        if (isnan(quantity->values[r])) continue;
        double more = worst < 0 ? 1.0 : quantity->values[r] - quantity->values[worst];
        if (worst < 0 || more * quantity->worst > 0.0) worst = r;
    }
    return worst;
}

// ---- how many runs are enough

enum { CURVE = 100, SECANT = 5 }; // points of a curve; a secant spans 5 of them, to leave out noise

static double product(const double *a, const double *b) {
    double sum = 0.0;
    for (int k = 0; k < CURVE; ++k) sum += a[k] * b[k];
    return sum;
}

static double secants(const double *a, const double *b) {
    double sum = 0.0;
    for (int k = SECANT; k < CURVE; ++k) sum += (a[k] - a[k - SECANT]) * (b[k] - b[k - SECANT]);
    return sum;
}

static void compare_curves(const double *now, const double *before, th_convergence_step *step) {
    double difference[CURVE];
    for (int k = 0; k < CURVE; ++k) difference[k] = now[k] - before[k];
    double size = product(before, before);
    step->distance = sqrt(product(difference, difference) / size);
    step->projection = fabs(product(now, before) / size - 1.0);
    step->secant =
        fabs(secants(now, before) / sqrt(secants(now, now) * secants(before, before)) - 1.0);
}

// The first step from which `change` stays within the bound for TH_CONVERGED_RUNS steps; 0: none.
typedef double step_change(const th_convergence_step *now, const th_convergence_step *before);

static double mean_change(const th_convergence_step *now, const th_convergence_step *before) {
    return fabs(now->mean / before->mean - 1.0);
}
static double p95_change(const th_convergence_step *now, const th_convergence_step *before) {
    return fabs(now->p95 / before->p95 - 1.0);
}
static double curve_change(const th_convergence_step *now, const th_convergence_step *before) {
    (void)before;
    return fmax(now->distance, fmax(now->projection, now->secant));
}

static int settled(const th_convergence *c, step_change *change) {
    int calm = 0;
    for (int k = 1; k < c->count; ++k) {
        calm = change(&c->steps[k], &c->steps[k - 1]) <= TH_CONVERGED_SHARE ? calm + 1 : 0;
        if (calm == TH_CONVERGED_RUNS) return c->steps[k].runs;
    }
    return 0;
}

static void fill_step(th_convergence_step *step, const double *times, int count) {
    th_sample_summary s = th_summarise(times, count);
    *step = (th_convergence_step){.runs = count,
                                  .mean = s.mean,
                                  .low = s.ci_low,
                                  .high = s.ci_high,
                                  .p95 = count > 1 ? s.p95 : s.mean,
                                  .distance = (double)NAN,
                                  .projection = (double)NAN,
                                  .secant = (double)NAN};
}

bool th_convergence_make(const th_ensemble *ensemble, th_convergence *made) {
    *made = (th_convergence){0};
    double *times = malloc(((size_t)ensemble->run_count + 1) * sizeof *times);
    double mean[CURVE] = {0}, before[CURVE];
    made->steps = calloc((size_t)ensemble->run_count + 1, sizeof *made->steps);
    if (!times || !made->steps) {
        free(times);
        th_convergence_release(made);
        return false;
    }
    for (int r = 0; r < ensemble->run_count; ++r) {
        const th_run_summary *run = &ensemble->runs[r];
        if (!isfinite(run->egress_time)) continue;
        int n = made->count++;
        times[n] = run->egress_time;
        memcpy(before, mean, sizeof mean);
        for (int k = 0; k < CURVE; ++k)
            mean[k] += (th_run_reach(run, ensemble->interval, (k + 1) / (double)CURVE) - mean[k]) /
                       (n + 1);
        fill_step(&made->steps[n], times, n + 1);
        if (n > 0) compare_curves(mean, before, &made->steps[n]);
    }
    th_sample_summary s = th_summarise(times, made->count);
    free(times);
    if (made->count > 1) {
        double half = 1.96 * s.standard_deviation / (TH_CONVERGED_SHARE * s.mean);
        made->needed = (int)fmin(1e9, fmax(2.0, ceil(half * half)));
    }
    made->mean_at = settled(made, mean_change);
    made->p95_at = settled(made, p95_change);
    made->curve_at = settled(made, curve_change);
    return true;
}

void th_convergence_release(th_convergence *convergence) {
    free(convergence->steps);
    *convergence = (th_convergence){0};
}
