// Adding runs up: a few numbers of every run, the maps summed over all. A run is added in O(people + cells); only the
// first is kept whole. SPDX-License-Identifier: Apache-2.0
#include "observe/ensemble.h"
#include "core/error.h"
#include "core/memory.h"
#include "observe/observer_parts.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

th_result th_ensemble_init(th_ensemble *ensemble) {
    *ensemble = (th_ensemble){0};
    return TH_OK;
}

static th_result no_memory(th_error *error) {
    return th_fail(error, TH_NO_MEMORY, "", "no memory to add a run to the others");
}

// ---- one run in a few numbers

// When 95 % of all people had left: the time at which the last of these left. False: no memory.
static bool find_p95(const th_observation *o, double *p95) {
    *p95 = (double)NAN;
    uint64_t needed = (o->statistics.spawned * 95 + 99) / 100;
    if (needed == 0 || o->statistics.left < needed) return true;
    double *times = malloc(((size_t)o->person_count + 1) * sizeof *times);
    if (!times) return false;
    int count = 0;
    for (int p = 0; p < o->person_count; ++p)
        if (!isnan(o->people[p].end_time)) times[count++] = (double)o->people[p].end_time;
    th_sort_values(times, count);
    // People leave at the end of a step, so rounding to whole steps undoes the rounding to float.
    if ((uint64_t)count >= needed)
        *p95 = o->step > 0.0 ? round(times[needed - 1] / o->step) * o->step : times[needed - 1];
    free(times);
    return true;
}

static double mean_jam_time(const th_observation *o) {
    double sum = 0.0;
    int count = 0;
    for (int p = 0; p < o->person_count; ++p) {
        if (o->people[p].group < 0) continue;
        sum += (double)o->people[p].jam_time;
        count++;
    }
    return count > 0 ? sum / count : (double)NAN;
}

typedef const float *map_values(const th_map *map);
static const float *density_max(const th_map *map) { return map->density_max; }
static const float *pressure_max(const th_map *map) { return map->pressure_max; }
static const float *crowd_pressure_max(const th_map *map) { return map->crowd_pressure_max; }

// Over all cells of all maps that have such values; NaN: none has.
static double highest(const th_observation *o, map_values *values_of) {
    double found = (double)NAN;
    for (int m = 0; m < o->map_count; ++m) {
        const th_map *map = &o->maps[m];
        const float *values = values_of(map);
        float largest = 0.0f;
        if (!values) continue;
        for (size_t c = 0; c < (size_t)map->nx * (size_t)map->ny; ++c)
            if (values[c] > largest) largest = values[c];
        found = fmax(found, (double)largest);
    }
    return found;
}

static bool any_crowd_pressure(const th_observation *o) {
    for (int m = 0; m < o->map_count; ++m)
        for (size_t c = 0; c < (size_t)o->maps[m].nx * (size_t)o->maps[m].ny; ++c)
            if (o->maps[m].crowd_pressure_count[c] > 0.0f) return true;
    return false;
}

static uint64_t count_exposed(const th_observation *o, int bound) {
    uint64_t count = 0;
    for (int p = 0; p < o->person_count; ++p)
        count += o->people[p].group >= 0 && o->people[p].exposure[bound] > TH_PACKED_TIME;
    return count;
}

// A person that falls after the last sample was not seen lying.
static uint64_t count_fallen(const th_observation *o) {
    uint64_t count = 0, lying = o->statistics.fallen;
    for (int p = 0; p < o->person_count; ++p)
        count += o->people[p].group >= 0 && o->people[p].lying_time > 0.0f;
    return count > lying ? count : lying;
}

static void find_loads(const th_observation *o, th_run_summary *run) {
    for (int p = 0; p < o->person_count; ++p) {
        const th_person *person = &o->people[p];
        if (person->group < 0) continue;
        run->max_load = fmax(run->max_load, (double)person->peak_load);
        run->max_line = fmax(run->max_line, (double)person->peak_line);
        for (int k = 0; k < TH_LOADS; ++k)
            run->overloaded[k] += person->load_time[k] > th_load_times[k];
    }
}

double th_counter_peak_flow(const th_observation *o, const th_counter *counter) {
    int window = (int)lround(TH_PEAK_WINDOW / o->interval);
    double highest = (double)NAN;
    if (window < 1) window = 1;
    if (!(counter->width > 0.0)) return highest;
    for (int k = window; k < o->sample_count; ++k) {
        double crossed = (double)(counter->forward[k] - counter->forward[k - window]);
        if (counter->backward)
            crossed += (double)(counter->backward[k] - counter->backward[k - window]);
        highest = fmax(highest, crossed / (window * o->interval * counter->width));
    }
    return highest;
}

static void find_flow(const th_observation *o, th_run_summary *run) {
    run->max_flow = (double)NAN;
    run->max_flow_counter = -1;
    for (int c = 0; c < o->counter_count; ++c) {
        double flow = th_counter_peak_flow(o, &o->counters[c]);
        if (!(flow > 0.0) || flow <= run->max_flow) continue;
        run->max_flow = flow;
        run->max_flow_counter = c;
    }
}

// Counts people of the group within 2 m of person k, looking at every `stride`-th.
static int stuck_around(const th_observation *o, int k, int stride) {
    const th_left_behind *one = &o->left_behind[k];
    int count = 0;
    for (int i = 0; i < o->left_behind_count; i += stride) {
        const th_left_behind *other = &o->left_behind[i];
        float dx = other->x - one->x, dy = other->y - one->y;
        count += other->group == one->group && other->level == one->level &&
                 dx * dx + dy * dy < 2.0f * 2.0f;
    }
    return count;
}

th_stuck th_stuck_of(const th_observation *o, int group) {
    th_stuck stuck = {.group = group};
    int most = -1, stride = 1 + o->left_behind_count / 2000; // pairs: enough to find a cluster
    for (int i = 0; i < o->left_behind_count; ++i) {
        const th_left_behind *person = &o->left_behind[i];
        if (person->group != group) continue;
        bool looked_at = stuck.count++ % stride == 0;
        int around = looked_at ? stuck_around(o, i, stride) : -1;
        if (around <= most) continue;
        most = around;
        stuck.level = person->level;
        stuck.x = person->x;
        stuck.y = person->y;
    }
    return stuck;
}

static void find_stuck(const th_observation *o, th_run_summary *run) {
    int groups = 0;
    for (int i = 0; i < o->left_behind_count; ++i)
        if (o->left_behind[i].group >= groups) groups = o->left_behind[i].group + 1;
    for (int g = 0; g < groups; ++g) {
        th_stuck stuck = th_stuck_of(o, g);
        if (stuck.count > run->stuck.count) run->stuck = stuck;
    }
}

// The jam's head is who has the shortest way to go of those that do not move.
static bool is_head(const th_left_behind *one, const th_left_behind *than, const int *counts) {
    if (than->group < 0) return true;
    bool stuck = one->cause == TH_LEFT_WEDGED || one->cause == TH_LEFT_TOO_WIDE;
    bool other = than->cause == TH_LEFT_WEDGED || than->cause == TH_LEFT_TOO_WIDE;
    if (stuck != other) return stuck;
    if (!stuck) return counts[one->cause] > counts[than->cause];
    return one->to_go < than->to_go || (isnan(than->to_go) && !isnan(one->to_go));
}

// A person close before `at` who has a shorter way to go: what `at` waits for. -1: none.
static int before_of(const th_observation *o, const th_left_behind *at) {
    for (int i = 0; i < o->left_behind_count; ++i) {
        const th_left_behind *other = &o->left_behind[i];
        float dx = other->x - at->x, dy = other->y - at->y;
        float reach = other->radius + at->radius + 0.5f; // [m] less than a body fits between
        if (other->level == at->level && other->to_go < at->to_go &&
            dx * dx + dy * dy < reach * reach)
            return i;
    }
    return -1;
}

static void find_failure(const th_observation *o, th_failure *failure) {
    failure->head.group = -1;
    for (int i = 0; i < o->left_behind_count; ++i) failure->counts[o->left_behind[i].cause]++;
    for (int i = 0; i < o->left_behind_count; ++i)
        if (is_head(&o->left_behind[i], &failure->head, failure->counts))
            failure->head = o->left_behind[i];
    // Each is nearer to the goal than the one behind, so this ends.
    int next = failure->head.cause == TH_LEFT_WEDGED ? before_of(o, &failure->head) : -1;
    for (; next >= 0; next = before_of(o, &failure->head)) failure->head = o->left_behind[next];
}

double th_run_reach(const th_run_summary *run, double interval, double share) {
    double wanted = share * (double)run->spawned;
    if (share >= 1) return run->egress_time;
    if (share >= 0.95 && share <= 0.95) return run->p95_time; // from single exits, more exact
    if (run->spawned == 0) return (double)NAN;
    for (int k = 0; k < run->sample_count; ++k) {
        if ((double)run->left_curve[k] < wanted) continue;
        if (k == 0) return 0;
        double before = run->left_curve[k - 1], now = run->left_curve[k];
        return interval * (k - 1 + (now > before ? (wanted - before) / (now - before) : 1));
    }
    return run->done ? run->egress_time : (double)NAN; // after the last sample
}

bool th_run_summarise(const th_observation *o, th_run_summary *run) {
    *run = (th_run_summary){
        .seed = o->seed,
        .hash = o->hash,
        .egress_time = th_egress_time(o),
        .mean_jam_time = mean_jam_time(o),
        .max_density = highest(o, density_max),
        .max_pressure = highest(o, pressure_max),
        .max_crowd_pressure = any_crowd_pressure(o) ? highest(o, crowd_pressure_max) : (double)NAN,
        .crushed = count_exposed(o, TH_EXPOSURE_PACKED),
        .deadly = count_exposed(o, TH_EXPOSURE_DEADLY),
        .fallen = count_fallen(o),
        .lying = o->statistics.fallen,
        .falls = o->statistics.falls,
        .largest_overlap = (double)o->statistics.largest_overlap,
        .spawned = o->statistics.spawned,
        .left = o->statistics.left,
        .inside = o->statistics.inside,
        .wall_crossings = o->statistics.wall_crossings,
        .steps = o->statistics.steps,
        .wall_seconds = o->wall_seconds,
        .time = o->statistics.time,
        .use_time = o->use_sample_count * o->interval,
        .done = o->done,
        .interval = o->interval,
        .interrupted = o->interrupted,
        .sample_count = o->sample_count};
    memcpy(run->spans, o->spans, sizeof run->spans);
    find_loads(o, run);
    find_flow(o, run);
    find_stuck(o, run);
    find_failure(o, &run->failure);
    for (int k = 0; k < o->sample_count; ++k)
        if (o->overlapping[k] > run->overlapping_most) run->overlapping_most = o->overlapping[k];
    run->left_curve = malloc(((size_t)o->sample_count + 1) * sizeof *run->left_curve);
    if (!run->left_curve || !find_p95(o, &run->p95_time)) {
        free(run->left_curve);
        return false;
    }
    if (o->sample_count > 0)
        memcpy(run->left_curve, o->left, (size_t)o->sample_count * sizeof *run->left_curve);
    return true;
}

// ---- maps

static void *copy_of(const void *array, size_t bytes) {
    void *copy = malloc(bytes);
    if (copy) memcpy(copy, array, bytes);
    return copy;
}

// NULL stays NULL.
#define COPY(array) \
    (!from->array || (to->array = copy_of(from->array, cells * sizeof *to->array)) != NULL)

static bool copy_frames(const th_map_frames *from, th_map_frames *to) {
    size_t cells = TH_FRAMES * (size_t)from->nx * (size_t)from->ny;
    *to = *from;
    to->density = to->speed = to->walkers = NULL;
    return COPY(density) && COPY(speed) && COPY(walkers);
}

static bool copy_map(const th_map *from, th_map *to) {
    size_t cells = (size_t)from->nx * (size_t)from->ny;
    *to = (th_map){.level = from->level,
                   .min_x = from->min_x,
                   .min_y = from->min_y,
                   .cell = from->cell,
                   .nx = from->nx,
                   .ny = from->ny,
                   .outside_count = from->outside_count};
#define X(name) &&COPY(name)
    return copy_frames(&from->frames, &to->frames) && COPY(walkable) TH_MAP_SUMS(X) &&
           COPY(pressure_sum) && COPY(pressure_max);
#undef X
}

// While there is one run its maps are the sum; with the second the sum needs its own.
static bool own_maps(th_ensemble *ensemble) {
    if (ensemble->maps != ensemble->first->maps || ensemble->map_count == 0) return true;
    th_map *maps = calloc((size_t)ensemble->map_count, sizeof *maps);
    bool copied = maps;
    for (int m = 0; copied && m < ensemble->map_count; ++m)
        copied = copy_map(&ensemble->first->maps[m], &maps[m]);
    if (copied) {
        ensemble->maps = maps;
        return true;
    }
    for (int m = 0; maps && m < ensemble->map_count; ++m) th_map_release(&maps[m]);
    free(maps);
    return false;
}

static bool same_grid(const th_map *a, const th_map *b) {
    return a->level == b->level && a->nx == b->nx && a->ny == b->ny &&
           !(a->min_x < b->min_x || a->min_x > b->min_x || a->min_y < b->min_y ||
             a->min_y > b->min_y || a->cell < b->cell || a->cell > b->cell);
}

static void add_larger(float *largest, float value) {
    if (value > *largest) *largest = value;
}

static void add_pressure(th_map *sum, const th_map *map) {
    if (!map->pressure_max) return;
    for (size_t c = 0; c < (size_t)map->nx * (size_t)map->ny; ++c) {
        sum->pressure_sum[c] += map->pressure_sum[c];
        add_larger(&sum->pressure_max[c], map->pressure_max[c]);
    }
}

// A shorter run has narrower frames: several of them go into one of the sum.
static void add_frames(th_map_frames *sum, const th_map_frames *frames) {
    size_t blocks = (size_t)sum->nx * (size_t)sum->ny;
    while (sum->width < frames->width) th_map_halve_frames(sum);
    for (int f = 0; f < TH_FRAMES; ++f) {
        size_t to = (size_t)(f * frames->width / sum->width) * blocks, from = (size_t)f * blocks;
        for (size_t b = 0; b < blocks; ++b) {
            sum->density[to + b] += frames->density[from + b];
            sum->speed[to + b] += frames->speed[from + b];
            sum->walkers[to + b] += frames->walkers[from + b];
        }
    }
    if (frames->samples > sum->samples) sum->samples = frames->samples;
}

static void add_map(th_map *sum, const th_map *map) {
    add_frames(&sum->frames, &map->frames);
    for (size_t c = 0; c < (size_t)map->nx * (size_t)map->ny; ++c) {
        sum->density_sum[c] += map->density_sum[c];
        sum->speed_sum[c] += map->speed_sum[c];
        sum->walker_count[c] += map->walker_count[c];
        sum->person_count[c] += map->person_count[c];
        sum->dense_time[c] += map->dense_time[c];
        sum->density_late[c] += map->density_late[c];
        sum->dense_late[c] += map->dense_late[c];
        sum->load_time[c] += map->load_time[c];
        add_larger(&sum->load_max[c], map->load_max[c]);
        sum->jam_time[c] += map->jam_time[c];
        sum->lying_count[c] += map->lying_count[c];
        sum->crowd_pressure_sum[c] += map->crowd_pressure_sum[c];
        sum->crowd_pressure_count[c] += map->crowd_pressure_count[c];
        sum->turbulent_time[c] += map->turbulent_time[c];
        add_larger(&sum->density_max[c], map->density_max[c]);
        add_larger(&sum->crowd_pressure_max[c], map->crowd_pressure_max[c]);
    }
    add_pressure(sum, map);
    sum->outside_count += map->outside_count;
}

// A run that ended before its model had a pressure has none: the first run that has one makes the room.
static bool pressure_room(th_ensemble *ensemble, const th_observation *o) {
    bool made = true;
    for (int m = 0; made && m < o->map_count; ++m)
        if (o->maps[m].pressure_max && !ensemble->maps[m].pressure_max)
            made = th_map_make_pressure(&ensemble->maps[m]);
    return made;
}

static th_result add_maps(th_ensemble *ensemble, const th_observation *o, th_error *error) {
    bool fits = o->map_count == ensemble->map_count && o->interval >= ensemble->interval &&
                o->interval <= ensemble->interval;
    for (int m = 0; fits && m < o->map_count; ++m)
        fits = same_grid(&ensemble->maps[m], &o->maps[m]);
    if (!fits)
        return th_fail(error, TH_BAD_ARGUMENT, "",
                       "runs of different scenes or intervals cannot be added up");
    if (!own_maps(ensemble) || !pressure_room(ensemble, o)) return no_memory(error);
    for (int m = 0; m < o->map_count; ++m) add_map(&ensemble->maps[m], &o->maps[m]);
    ensemble->use_samples += o->use_sample_count;
    ensemble->map_runs++;
    return TH_OK;
}

// ---- queues over time

static bool reserve_bins(th_door_queue *queue, int bins) {
    int from = queue->bins;
    if (bins <= from) return true;
    if (!TH_RESIZE(queue->people, bins) || !TH_RESIZE(queue->most, bins) ||
        !TH_RESIZE(queue->wait, bins) || !TH_RESIZE(queue->passed, bins))
        return false;
    for (int b = from; b < bins; ++b) {
        queue->people[b] = queue->wait[b] = 0.0;
        queue->most[b] = queue->passed[b] = 0;
    }
    queue->bins = bins;
    return true;
}

static int bin_of(double time) { return time > 0.0 ? (int)(time / TH_QUEUE_BIN) : 0; }

static bool add_queue(th_door_queue *queue, const th_observation *o, const th_counter *counter) {
    if (!counter->queue || counter->kind == TH_COUNT_LINE) return true;
    if (!reserve_bins(queue, bin_of(fmax(o->statistics.time, o->sample_count * o->interval)) + 1))
        return false;
    for (int k = 0; k < o->sample_count; ++k) {
        int b = bin_of(k * o->interval + 1e-6);
        queue->people[b] += (double)counter->queue[k];
        if (counter->queue[k] > queue->most[b]) queue->most[b] = counter->queue[k];
    }
    for (int k = 0; k < counter->pass_count; ++k) {
        int b = bin_of((double)counter->passes[k].time - o->start);
        if (b >= queue->bins) continue;
        queue->wait[b] += (double)counter->passes[k].wait;
        queue->passed[b]++;
    }
    return true;
}

static bool add_queues(th_ensemble *ensemble, const th_observation *o) {
    if (!ensemble->queues)
        ensemble->queues = calloc((size_t)o->counter_count + 1, sizeof *ensemble->queues);
    bool added = ensemble->queues;
    for (int c = 0; added && c < o->counter_count; ++c)
        added = add_queue(&ensemble->queues[c], o, &o->counters[c]);
    return added;
}

double th_queue_people(const th_ensemble *ensemble, int counter, int bin) {
    double samples = fmax(1.0, TH_QUEUE_BIN / ensemble->interval) * ensemble->run_count;
    return ensemble->queues[counter].people[bin] / samples;
}

double th_queue_wait(const th_ensemble *ensemble, int counter, int bin) {
    const th_door_queue *queue = &ensemble->queues[counter];
    return queue->passed[bin] > 0 ? queue->wait[bin] / queue->passed[bin] : (double)NAN;
}

// ---- adding

static th_result take_first(th_ensemble *ensemble, th_observation *o, th_error *error) {
    ensemble->first = malloc(sizeof *ensemble->first);
    if (!ensemble->first) return no_memory(error);
    *ensemble->first = *o;
    *o = (th_observation){0};
    ensemble->interval = ensemble->first->interval;
    ensemble->maps = ensemble->first->maps;
    ensemble->map_count = ensemble->first->map_count;
    ensemble->use_samples = ensemble->first->use_sample_count;
    ensemble->map_runs = 1;
    return TH_OK;
}

th_result th_ensemble_add(th_ensemble *ensemble, th_observation *o, th_error *error) {
    th_run_summary run;
    if (!TH_RESERVE_ONE(ensemble->runs, ensemble->run_count) || !th_run_summarise(o, &run))
        return no_memory(error);
    // Before the observation is taken over.
    if (!th_quantities_add(&ensemble->quantities, o, &run) || !add_queues(ensemble, o)) {
        free(run.left_curve);
        return no_memory(error);
    }
    th_result result =
        ensemble->first ? add_maps(ensemble, o, error) : take_first(ensemble, o, error);
    if (result != TH_OK) {
        free(run.left_curve);
        return result;
    }
    ensemble->runs[ensemble->run_count++] = run;
    return TH_OK;
}

void th_ensemble_release(th_ensemble *ensemble) {
    for (int r = 0; r < ensemble->run_count; ++r) free(ensemble->runs[r].left_curve);
    free(ensemble->runs);
    th_quantities_release(&ensemble->quantities);
    for (int c = 0; ensemble->queues && c < ensemble->first->counter_count; ++c) {
        th_door_queue *queue = &ensemble->queues[c];
        free(queue->people);
        free(queue->most);
        free(queue->wait);
        free(queue->passed);
    }
    free(ensemble->queues);
    if (ensemble->first && ensemble->maps != ensemble->first->maps) {
        for (int m = 0; m < ensemble->map_count; ++m) th_map_release(&ensemble->maps[m]);
        free(ensemble->maps);
    }
    if (ensemble->first) th_observation_release(ensemble->first);
    free(ensemble->first);
    *ensemble = (th_ensemble){0};
}

th_sample_summary th_ensemble_egress(const th_ensemble *ensemble) {
    double *times = malloc(((size_t)ensemble->run_count + 1) * sizeof *times);
    if (!times) return th_summarise(NULL, 0);
    for (int r = 0; r < ensemble->run_count; ++r) times[r] = ensemble->runs[r].egress_time;
    th_sample_summary summary = th_summarise(times, ensemble->run_count);
    free(times);
    return summary;
}
