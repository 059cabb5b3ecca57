// One row per person (phases, exposure, loads), and the tracks of some. SPDX-License-Identifier: Apache-2.0
#include "core/memory.h"
#include "formula/segment.h"
#include "observe/observer_parts.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- people and tracks. Cost of a sample: O(people), in the order of their ids

bool th_people_reserve(th_observer *observer, uint32_t id) {
    th_observation *o = &observer->observation;
    if (id > (uint32_t)INT32_MAX) return false;
    if (id > observer->person_room) {
        size_t room = observer->person_room ? observer->person_room : 256;
        while (room < id) room += room / 2;
        if (!TH_RESIZE(o->people, room) || !TH_RESIZE(observer->last_seen, room)) return false;
        // Only work space, but as large as the others so that a sample need not allocate.
        free(observer->by_place);
        free(observer->later);
        observer->by_place = malloc(room * sizeof *observer->by_place);
        observer->later = malloc(room * sizeof *observer->later);
        if (!observer->by_place || !observer->later) return false;
        observer->person_room = room;
    }
    for (; o->person_count < (int)id; ++o->person_count) {
        o->people[o->person_count] = (th_person){
            .start_time = NAN, .end_time = NAN, .peak_pressure = NAN, .group = -1, .exit = -1};
        for (int k = 0; o->map_count == 0 && k < TH_EXPOSURES; ++k)
            o->people[o->person_count].exposure[k] = NAN;
        observer->last_seen[o->person_count] = (th_last_seen){
            .crowding = TH_CROWDING_UNKNOWN, .queue_since = NAN, .last_jam = NAN, .rest_x = NAN};
    }
    return true;
}

static void spend(th_person *person, uint32_t doing, float time) {
    if (doing == TH_DOING_WAIT) person->wait_time += time;
    if (doing == TH_DOING_JAM) person->jam_time += time;
    if (doing == TH_DOING_LIE) person->lying_time += time;
}

static th_doing doing_now(int32_t phase, float speed) {
    if (phase == TH_PHASE_STANDING || phase == TH_PHASE_WAITING) return TH_DOING_WAIT;
    if (phase == TH_PHASE_FALLEN) return TH_DOING_LIE;
    return phase == TH_PHASE_WALKING && speed < TH_JAM_SPEED ? TH_DOING_JAM : TH_DOING_OTHER;
}

static void begin_person(th_person *person, const th_moment *moment, int i, const th_last_seen *now,
                         double time) {
    person->group = (int16_t)moment->group[i];
    person->start_time = (float)moment->start_time[i];
    float since = (float)time - person->start_time;
    if (!(since > 0.0f)) return;
    spend(person, now->doing, since);
    person->path_length = now->doing == TH_DOING_WAIT ? 0.0f : now->speed * since;
}

static void continue_person(th_person *person, const th_last_seen *before, const th_last_seen *now,
                            double last_time, float interval) {
    float dx = now->x - before->x, dy = now->y - before->y, earlier = 0.5f * interval;
    person->path_length += sqrtf(dx * dx + dy * dy);
    if (before->doing == TH_DOING_WAIT && now->doing != TH_DOING_WAIT) // until when is known
        earlier = fminf(fmaxf(before->wait_until - (float)last_time, 0.0f), interval);
    spend(person, before->doing, earlier);
    spend(person, now->doing, interval - earlier);
}

#define FASTEST 3.0f // [m/s] a run

static th_last_seen seen_now(const th_moment *moment, int i, const th_last_seen *before,
                             float interval) {
    float vx = moment->velocity_x ? (float)moment->velocity_x[i] : 0.0f;
    float vy = moment->velocity_y ? (float)moment->velocity_y[i] : 0.0f;
    if (!isfinite(vx) || !isfinite(vy)) vx = vy = 0.0f; // a recording may not know it
    float speed = sqrtf(vx * vx + vy * vy);
    int32_t phase = moment->phase ? moment->phase[i] : (int32_t)TH_PHASE_WALKING;
    th_last_seen now = {.x = (float)moment->x[i],
                        .y = (float)moment->y[i],
                        .speed = speed,
                        .velocity = {vx, vy},
                        .doing = (uint8_t)doing_now(phase, speed),
                        .crowding = before->crowding, // until the maps know
                        .level = (uint16_t)th_moment_level(moment, i),
                        .wait_until = moment->wait_until ? (float)moment->wait_until[i] : 0.0f,
                        .queue_since = before->queue_since,
                        .last_jam = before->last_jam,
                        .rest_x = before->rest_x,
                        .rest_y = before->rest_y,
                        .rest_since = before->rest_since};
    if (before->crowding == TH_CROWDING_UNKNOWN || !(interval > 0.0f)) return now;
    th_vec2 way = {(now.x - before->x) / interval, (now.y - before->y) / interval};
    // Between levels coordinates may jump: the way counts if a person can have walked it.
    if (before->level == now.level || way.x * way.x + way.y * way.y < FASTEST * FASTEST)
        now.velocity = way;
    return now;
}

// ---- queues

// Through the opening of counter c at `time`; false: no memory.
static bool pass_opening(th_observation *o, int c, th_last_seen *person, double time) {
    th_counter *counter = &o->counters[c];
    bool queued = isfinite(person->queue_since) && (float)time - person->last_jam <= TH_QUEUE_BREAK;
    float since = person->queue_since;
    if (!TH_RESERVE_ONE(counter->passes, counter->pass_count)) return false;
    counter->passes[counter->pass_count++] =
        (th_pass){(float)time, queued ? (float)time - since : 0.0f};
    person->queue_since = person->last_jam = NAN;
    if (!queued || !counter->queue) return true;
    int from = (int)ceil(((double)since - o->start) / o->interval - 1e-6);
    for (int k = from > 0 ? from : 0;
         k < o->sample_count && o->start + k * o->interval < time - 1e-6; ++k)
        counter->queue[k]++;
    return true;
}

// The stairs between two levels that lie nearest to the way from p to q; -1: none.
static int stairs_between(const th_observer *observer, int lower, int upper, th_vec2 p, th_vec2 q) {
    const th_vec2 middle = {0.5f * (p.x + q.x), 0.5f * (p.y + q.y)};
    float least = INFINITY;
    int nearest = -1;
    for (int c = 0; c < observer->observation.counter_count; ++c) {
        if (observer->observation.counters[c].kind != TH_COUNT_STAIRS) continue;
        const th_link *link = &observer->scene->links[observer->counter_index[c]];
        float away = th_segment_distance2(middle, link->a, link->b);
        if (link->level[0] != lower || link->level[1] != upper || away >= least) continue;
        least = away;
        nearest = c;
    }
    return nearest;
}

static bool climb(th_observer *observer, const th_last_seen *before, th_last_seen *now,
                  double time) {
    bool up = now->level > before->level;
    int c =
        stairs_between(observer, up ? before->level : now->level, up ? now->level : before->level,
                       (th_vec2){before->x, before->y}, (th_vec2){now->x, now->y});
    if (c < 0) return true;
    th_counter *counter = &observer->observation.counters[c];
    if (counter->forward_total + counter->backward_total == 0) counter->first_time = time;
    counter->last_time = time;
    up ? counter->forward_total++ : counter->backward_total++;
    return pass_opening(&observer->observation, c, now, time);
}

// A person that turns round a jamb between two samples goes on the straight way between them through the wall beside the
// door, by less than this [m]: about a body.
#define JAMB 0.4f

// Does the straight way cross the door's line, made longer at both ends?
static bool crosses(const th_line *line, float longer, th_vec2 p, th_vec2 q) {
    float dx = line->b.x - line->a.x, dy = line->b.y - line->a.y;
    float share = longer / hypotf(dx, dy);
    const th_vec2 a = {line->a.x - share * dx, line->a.y - share * dy};
    const th_vec2 b = {line->b.x + share * dx, line->b.y + share * dy};
    return th_segment_crossing(p, q, a, b) != 0;
}

// Where the person went since the last sample, on a straight way: through doors, or where it met none, through one whose
// jamb it cut. False: no memory.
static bool see_passages(th_observer *observer, const th_last_seen *before, th_last_seen *now,
                         double time) {
    th_observation *o = &observer->observation;
    const th_vec2 p = {before->x, before->y}, q = {now->x, now->y};
    if (before->level != now->level && !climb(observer, before, now, time)) return false;
    int cut = -1;
    bool met = false;
    for (int c = 0; c < o->counter_count; ++c) {
        if (o->counters[c].kind != TH_COUNT_DOOR) continue;
        const th_line *line = &observer->scene->doors[observer->counter_index[c]].line;
        if (line->level != now->level || !crosses(line, JAMB, p, q)) continue;
        cut = c;
        if (!crosses(line, 0.0f, p, q)) continue;
        met = true;
        if (!pass_opening(o, c, now, time)) return false;
    }
    return met || cut < 0 || pass_opening(o, cut, now, time);
}

static void see_rest(th_last_seen *now, double time) {
    float dx = now->x - now->rest_x, dy = now->y - now->rest_y;
    if (dx * dx + dy * dy <= TH_REST_REACH * TH_REST_REACH) return; // not where rest_x is NaN
    now->rest_x = now->x;
    now->rest_y = now->y;
    now->rest_since = (float)time;
}

// What the sample says of queues; `before` NULL: the person is new. False: no memory.
static bool see_queue(th_observer *observer, const th_last_seen *before, th_last_seen *now,
                      double time) {
    see_rest(now, time);
    if (before && !see_passages(observer, before, now, time)) return false;
    if (now->doing != TH_DOING_JAM) return true;
    if (!((float)time - now->last_jam <= TH_QUEUE_BREAK)) now->queue_since = (float)time;
    now->last_jam = (float)time;
    return true;
}

// The stairs' counts of this sample, which th_series_take could not know.
static void take_stairs(th_observation *o) {
    for (int c = 0; c < o->counter_count; ++c) {
        th_counter *counter = &o->counters[c];
        if (counter->kind != TH_COUNT_STAIRS) continue;
        counter->forward[o->sample_count] = (uint32_t)counter->forward_total;
        counter->backward[o->sample_count] = (uint32_t)counter->backward_total;
    }
}

typedef struct people_sample {
    th_observer *observer;
    const th_moment *moment;
    double time;
    float interval; // since the sample before [s]
} people_sample;

// Person i of the moment; false: no memory.
static bool see_person(const people_sample *s, int i, const th_last_seen *seen) {
    th_observer *observer = s->observer;
    int64_t index = s->moment->id[i] - 1;
    th_last_seen *last = &observer->last_seen[index], now = *seen;
    th_person *person = &observer->observation.people[index];
    if (person->group < 0 && s->moment->group)
        begin_person(person, s->moment, i, &now, s->time);
    else
        continue_person(person, last, &now, observer->last_sample_time, s->interval);
    if (!see_queue(observer, isfinite(last->rest_x) ? last : NULL, &now, s->time)) return false;
    *last = now;
    return true;
}

// May it have come through a door or over stairs since the last sample? Then counters change, which all share.
static bool may_pass(const th_observer *observer, const th_last_seen *before,
                     const th_last_seen *now) {
    const th_observation *o = &observer->observation;
    const th_vec2 p = {before->x, before->y}, q = {now->x, now->y};
    if (!isfinite(before->rest_x)) return false; // new
    if (before->level != now->level) return true;
    for (int c = 0; c < o->counter_count; ++c) {
        if (o->counters[c].kind != TH_COUNT_DOOR) continue;
        const th_line *line = &observer->scene->doors[observer->counter_index[c]].line;
        if (line->level == now->level && th_segment_crossing(p, q, line->a, line->b) != 0)
            return true;
    }
    return false;
}

static th_last_seen seen_in(const people_sample *s, int i) {
    return seen_now(s->moment, i, &s->observer->last_seen[s->moment->id[i] - 1], s->interval);
}

// Blocks of people by several threads; those who may have passed an opening after them, in the order of the ids.
bool th_people_sample(th_observer *observer, const th_moment *moment, double time) {
    th_observation *o = &observer->observation;
    const people_sample s = {observer, moment, time, (float)(time - observer->last_sample_time)};
    uint32_t jammed = 0;
    bool *later = observer->later;
#pragma omp parallel for num_threads(th_observer_threads(observer, moment)) schedule(static) \
    reduction(+ : jammed)
    for (int i = 0; i < moment->count; ++i) {
        later[i] = false;
        if (!th_moment_is_person(moment, i)) continue;
        th_last_seen now = seen_in(&s, i);
        jammed += now.doing == TH_DOING_JAM;
        later[i] = may_pass(observer, &observer->last_seen[moment->id[i] - 1], &now);
        if (!later[i]) see_person(&s, i, &now); // asks for no memory
    }
    for (int i = 0; i < moment->count; ++i) {
        if (!later[i]) continue;
        th_last_seen now = seen_in(&s, i);
        if (!see_person(&s, i, &now)) return false;
    }
    take_stairs(o);
    o->jammed[o->sample_count] = jammed;
    return true;
}

// ---- into the maps

// Ids say nothing about places, so that in a large crowd every person would touch a part of the map that is
// in no cache. Sorted into bands of rows first, a million people take a third of the time.
enum { BANDS = 128 };

static uint32_t band_of(const th_map *map, float y) {
    float band = (y - map->min_y) / (map->cell * (float)map->ny) * BANDS;
    return !(band > 0.0f) ? 0 : band >= (float)BANDS ? BANDS - 1 : (uint32_t)band;
}

// The people of a level.
typedef struct level_people {
    th_observer *observer;
    const th_moment *moment;
    int32_t level;
    int threads, parts;      // the moment is taken in so many parts
    size_t start[BANDS + 1]; // of the bands in by_place
} level_people;

enum { PARTS_MOST = 64 };
typedef int band_counts[BANDS];

static bool is_here(const level_people *p, int i) {
    return th_moment_is_person(p->moment, i) && th_moment_level(p->moment, i) == p->level;
}
static int part_begin(const level_people *p, int part) {
    return (int)((int64_t)p->moment->count * part / p->parts);
}

// Into by_place: band by band, in each in the order of the ids.
static void sort_into_bands(level_people *p) {
    const th_map *map = &p->observer->observation.maps[p->level];
    band_counts counts[PARTS_MOST] = {{0}};
#pragma omp parallel for num_threads(p->threads) schedule(static)
    for (int part = 0; part < p->parts; ++part)
        for (int i = part_begin(p, part); i < part_begin(p, part + 1); ++i)
            if (is_here(p, i)) counts[part][band_of(map, (float)p->moment->y[i])]++;
    int at = 0;
    for (int b = 0; b < BANDS; ++b) {
        p->start[b] = (size_t)at;
        for (int part = 0; part < p->parts; ++part) {
            int count = counts[part][b];
            counts[part][b] = at;
            at += count;
        }
    }
    p->start[BANDS] = (size_t)at;
#pragma omp parallel for num_threads(p->threads) schedule(static)
    for (int part = 0; part < p->parts; ++part)
        for (int i = part_begin(p, part); i < part_begin(p, part + 1); ++i)
            if (is_here(p, i))
                p->observer->by_place[counts[part][band_of(map, (float)p->moment->y[i])]++] =
                    p->observer->last_seen[p->moment->id[i] - 1];
}

// Of the rows of part k alone. The people who may add to them come in one order, however many parts there are.
static void fill_rows(const level_people *p, int k, bool notes) {
    th_map *map = &p->observer->observation.maps[p->level];
    th_map_work *work = &p->observer->map_work[p->level];
    const th_row_range rows = {(int)((int64_t)map->ny * k / p->parts),
                               (int)((int64_t)map->ny * (k + 1) / p->parts)};
    int first = (rows.from - 2) * BANDS / map->ny - 1, last = (rows.to + 2) * BANDS / map->ny + 1;
    if (first < 0) first = 0;
    if (last >= BANDS) last = BANDS - 1;
    for (size_t at = p->start[first]; at < p->start[last + 1]; ++at) {
        const th_last_seen *person = &p->observer->by_place[at];
        int cell = th_kernel_cell(&work->kernel, person->x, person->y), row = cell / map->nx;
        if (cell < 0 || row < rows.from - 1 || row > rows.to) continue;
        if (!notes)
            th_map_put_in(map, work, rows, person);
        else if (row >= rows.from && row < rows.to)
            th_map_note(work, person);
    }
}

static void put_level(th_observer *observer, const th_moment *moment, int32_t level) {
    th_map *map = &observer->observation.maps[level];
    th_map_work *work = &observer->map_work[level];
    level_people p = {observer, moment, level, th_observer_threads(observer, moment), 1, {0}};
    work->sums.threads = p.threads;
    if (p.threads > 1) p.parts = 4 * p.threads < PARTS_MOST ? 4 * p.threads : PARTS_MOST;
    sort_into_bands(&p);
    int outside = 0;
#pragma omp parallel for num_threads(p.threads) schedule(static) reduction(+ : outside)
    for (size_t k = 0; k < p.start[BANDS]; ++k)
        outside +=
            th_kernel_cell(&work->kernel, observer->by_place[k].x, observer->by_place[k].y) < 0;
    map->outside_count += (double)outside;
    for (int notes = 1; notes >= 0; --notes)
#pragma omp parallel for num_threads(p.threads) schedule(dynamic, 1)
        for (int k = 0; k < p.parts; ++k) fill_rows(&p, k, notes);
}

void th_people_into_maps(th_observer *observer, const th_moment *moment) {
    for (int m = 0; m < observer->observation.map_count; ++m) put_level(observer, moment, m);
}

// The piece after the last sample, with the state of that sample.
static void end_person(th_observer *observer, int64_t index, double time) {
    const th_last_seen *last = &observer->last_seen[index];
    th_person *person = &observer->observation.people[index];
    float since = (float)(time - observer->last_sample_time);
    if (person->group < 0 || !(since > 0.0f)) return;
    spend(person, last->doing, since);
    th_exposure_spend(person, last->crowding, since);
    if (last->doing != TH_DOING_WAIT) person->path_length += last->speed * since;
}

bool th_person_leaves(th_observer *observer, uint32_t id, int exit, double time) {
    th_person *person = &observer->observation.people[id - 1];
    end_person(observer, id - 1, time);
    int counter = th_exit_counter(observer, exit);
    if (counter >= 0 &&
        !pass_opening(&observer->observation, counter, &observer->last_seen[id - 1], time))
        return false;
    person->end_time = (float)time;
    person->exit = (int16_t)exit;
    return true;
}

void th_people_find_lost(th_observer *observer, const th_moment *moment, double time,
                         uint64_t lost) {
    th_observation *o = &observer->observation;
    int at = 0;
    for (int p = 0; p < o->person_count && lost > 0; ++p) {
        while (at < moment->count && moment->id[at] < p + 1) at++;
        bool there = at < moment->count && moment->id[at] == p + 1;
        if (there || o->people[p].group < 0 || !isnan(o->people[p].end_time)) continue;
        th_person_leaves(observer, (uint32_t)p + 1, -1, time); // through no exit: cannot fail
        lost--;
    }
}

void th_people_finish(th_observer *observer, const th_moment *moment, double time) {
    for (int i = 0; i < moment->count; ++i)
        if (th_moment_is_person(moment, i) && moment->id[i] <= observer->observation.person_count)
            end_person(observer, moment->id[i] - 1, time);
}

// ---- ways

static void release_track(th_track *track) {
    free(track->x);
    free(track->y);
    free(track->level);
    *track = (th_track){0};
}

// Keeps the way of every n-th person. When there are too many, every other way is dropped: the others stay complete and
// evenly spread over all ids so far.
static void thin_tracks(th_observer *observer, uint32_t last_id) {
    th_observation *o = &observer->observation;
    uint32_t most = (uint32_t)observer->def.track_count;
    while ((last_id - 1) / observer->track_stride >= most) observer->track_stride *= 2;
    int kept = 0;
    for (int t = 0; t < o->track_count; ++t) {
        if ((o->tracks[t].id - 1) % observer->track_stride != 0)
            release_track(&o->tracks[t]);
        else
            o->tracks[kept++] = o->tracks[t];
    }
    o->track_count = kept;
}

static int find_person(const th_moment *moment, uint32_t id) {
    int low = 0, high = moment->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (moment->id[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < moment->count && moment->id[low] == id ? low : -1;
}

static bool extend_track(th_track *track, const th_moment *moment, int i) {
    int n = track->count;
    if (!TH_RESERVE_ONE(track->x, n) || !TH_RESERVE_ONE(track->y, n) ||
        !TH_RESERVE_ONE(track->level, n))
        return false;
    track->x[n] = (float)moment->x[i];
    track->y[n] = (float)moment->y[i];
    track->level[n] = (uint8_t)th_moment_level(moment, i);
    track->count++;
    return true;
}

bool th_tracks_see(th_observer *observer, const th_moment *moment, int sample) {
    th_observation *o = &observer->observation;
    if (observer->def.track_count <= 0 || moment->count == 0) return true;
    uint32_t last_id = (uint32_t)moment->id[moment->count - 1];
    thin_tracks(observer, last_id);
    uint32_t next = o->track_count ? o->tracks[o->track_count - 1].id + observer->track_stride : 1;
    for (; next <= last_id && o->track_count < observer->def.track_count;
         next += observer->track_stride) {
        int i = find_person(moment, next);
        if (i < 0 || !th_moment_is_person(moment, i)) continue;
        o->tracks[o->track_count++] =
            (th_track){.id = next, .group = o->people[next - 1].group, .first_sample = sample};
    }
    for (int t = 0; t < o->track_count; ++t) {
        int i = find_person(moment, o->tracks[t].id);
        if (i >= 0 && !extend_track(&o->tracks[t], moment, i)) return false;
    }
    return true;
}

// ---- exposure and loads

// Exposure of people: seconds in a crowd denser than each bound, the highest pressure met, loads. Updated
// when samples are taken; the time between two is halved as for everything else people do. Cost of a sample:
// O(people), and O(cells) where a model has a pressure.

const float th_exposure_bounds[TH_EXPOSURES] = TH_EXPOSURE_BOUNDS;

const float th_load_bounds[TH_LOADS] = TH_LOAD_BOUNDS;
const float th_load_times[TH_LOADS] = TH_LOAD_TIMES;

uint8_t th_crowding_of(float density) {
    uint8_t crowding = 0;
    while (crowding < TH_EXPOSURES && density > th_exposure_bounds[crowding]) crowding++;
    return crowding;
}

void th_exposure_spend(th_person *person, uint32_t crowding, float time) {
    if (crowding > TH_EXPOSURES) return; // not known
    for (uint32_t k = 0; k < crowding; ++k) person->exposure[k] += time;
}

static void expose(th_person *person, th_last_seen *seen, uint8_t now, double time,
                   float interval) {
    if (seen->crowding == TH_CROWDING_UNKNOWN) {
        float since = (float)time - person->start_time;
        if (since > 0.0f) th_exposure_spend(person, now, since);
    } else {
        th_exposure_spend(person, seen->crowding, 0.5f * interval);
        th_exposure_spend(person, now, 0.5f * interval);
    }
    seen->crowding = now;
}

// ---- pressure: what a model keeps (TH_GRID_PRESSURE), on the cells of the maps. A model's grid has its own cells,
// and on an open plane it moves, so every sample is mapped anew: a cell of the map gets the largest value of the
// model's cells whose middles are in it or, where the model's are larger, that of the one its own middle is
// in. Nothing is interpolated, because a thin wall may have a packed and an empty side, and no peak gets
// lost.

void th_map_forget_pressure(th_map *map) {
    free(map->pressure_sum);
    free(map->pressure_max);
    map->pressure_sum = NULL;
    map->pressure_max = NULL;
}

bool th_map_make_pressure(th_map *map) {
    size_t cells = (size_t)map->nx * (size_t)map->ny;
    th_map_forget_pressure(map);
    map->pressure_sum = calloc(cells, sizeof *map->pressure_sum);
    map->pressure_max = calloc(cells, sizeof *map->pressure_max);
    if (map->pressure_sum && map->pressure_max) return true;
    th_map_forget_pressure(map);
    return false;
}

// The model's columns (or rows) first .. last; none when first > last.
typedef struct cell_range {
    int first, last;
} cell_range;

// The first cell of `count` whose middle is at `at` or behind, in cells from the grid's edge.
static int first_behind(float at, int count) {
    float wanted = at - 0.5f;
    if (!(wanted > 0.0f)) return 0;
    if (wanted > (float)(count - 1)) return count;
    int cell = (int)wanted;
    return (float)cell < wanted ? cell + 1 : cell;
}

// For the map's cell between low and high.
static cell_range range_of(float low, float high, int count) {
    cell_range range = {first_behind(low, count), first_behind(high, count) - 1};
    float middle = 0.5f * (low + high);
    if (range.first > range.last && middle >= 0.0f && middle < (float)count)
        range.first = range.last = (int)middle;
    return range;
}

static float largest_in(const th_grid *grid, cell_range columns, cell_range rows) {
    float largest = 0.0f;
    for (int j = rows.first; j <= rows.last; ++j)
        for (int i = columns.first; i <= columns.last; ++i)
            if (grid->values[(size_t)j * (size_t)grid->nx + (size_t)i] > largest)
                largest = grid->values[(size_t)j * (size_t)grid->nx + (size_t)i];
    return largest;
}

bool th_map_take_pressure(th_map *map, const th_grid *grid, int threads) {
    if (!map->pressure_max && !th_map_make_pressure(map)) return false;
    float ratio = map->cell / grid->cell;
    float x = (map->min_x - grid->min_x) / grid->cell, y = (map->min_y - grid->min_y) / grid->cell;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 16)
    for (int j = 0; j < map->ny; ++j) {
        cell_range rows = range_of(y + (float)j * ratio, y + (float)(j + 1) * ratio, grid->ny);
        if (rows.first > rows.last) continue;
        for (int i = 0; i < map->nx; ++i) {
            size_t c = (size_t)j * (size_t)map->nx + (size_t)i;
            if (!(map->walkable[c] > 0.0f)) continue;
            cell_range columns =
                range_of(x + (float)i * ratio, x + (float)(i + 1) * ratio, grid->nx);
            float pressure = largest_in(grid, columns, rows);
            if (!(pressure > 0.0f)) continue;
            map->pressure_sum[c] += (double)pressure;
            if (pressure > map->pressure_max[c]) map->pressure_max[c] = pressure;
        }
    }
    return true;
}

static float grid_at(const th_grid *grid, float x, float y) {
    float column = (x - grid->min_x) / grid->cell, row = (y - grid->min_y) / grid->cell;
    if (!(column >= 0.0f && row >= 0.0f && column < (float)grid->nx && row < (float)grid->ny))
        return 0.0f;
    return grid->values[(size_t)row * (size_t)grid->nx + (size_t)column];
}

static void meet_pressure(th_observation *o, const th_moment *moment, int32_t level,
                          const th_grid *grid, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int i = 0; i < moment->count; ++i)
        if (th_moment_is_person(moment, i) && th_moment_level(moment, i) == level) {
            th_person *person = &o->people[moment->id[i] - 1];
            float pressure = grid_at(grid, (float)moment->x[i], (float)moment->y[i]);
            if (!(pressure <= person->peak_pressure)) person->peak_pressure = pressure; // or NaN
        }
}

void th_exposure_sample(th_observer *observer, const th_moment *moment, double time) {
    th_observation *o = &observer->observation;
    float interval = (float)(time - observer->last_sample_time);
#pragma omp parallel for num_threads(th_observer_threads(observer, moment)) schedule(static)
    for (int i = 0; i < (o->map_count > 0 ? moment->count : 0); ++i) {
        if (!th_moment_is_person(moment, i)) continue;
        int64_t index = moment->id[i] - 1;
        int32_t m = th_moment_level(moment, i);
        uint8_t now =
            th_map_crowding_at(&observer->map_work[m], (float)moment->x[i], (float)moment->y[i]);
        expose(&o->people[index], &observer->last_seen[index], now, time, interval);
    }
}

bool th_pressure_sample(th_observer *observer, th_world *world, const th_moment *moment) {
    th_observation *o = &observer->observation;
    int threads = th_observer_threads(observer, moment);
    for (int level = 0; level < observer->scene->level_count; ++level) {
        th_grid grid;
        if (!th_world_map_grid(world, TH_GRID_PRESSURE, level, &grid)) continue;
        if (level < o->map_count && !th_map_take_pressure(&o->maps[level], &grid, threads))
            return false;
        meet_pressure(o, moment, level, &grid, threads);
    }
    return true;
}

// ---- loads

// Working the forces out costs as much as several steps: in a large crowd they are looked at less often.
enum { LARGE_CROWD = 20000 };
#define LARGE_INTERVAL 10.0 // [s]

static void bear(th_person *person, float force, float radius, float time, bool packed) {
    float load = 0.5f * force, line = force / (6.2831853f * radius);
    if (load > person->peak_load) person->peak_load = load;
    if (line > person->peak_line) person->peak_line = line;
    for (int k = 0; k < TH_LOADS; ++k)
        if (packed && load > th_load_bounds[k]) person->load_time[k] += time;
}

static void map_load(th_map *map, float x, float y, float load, double time) {
    float column = (x - map->min_x) / map->cell, row = (y - map->min_y) / map->cell;
    if (!(column >= 0.0f && row >= 0.0f && column < (float)map->nx && row < (float)map->ny)) return;
    size_t c = (size_t)row * (size_t)map->nx + (size_t)column;
    if (load > map->load_max[c]) map->load_max[c] = load;
    if (load > th_load_bounds[0]) map->load_time[c] += time;
}

bool th_load_look(th_observer *observer, th_world *world, const th_moment *moment, double time) {
    size_t count = (size_t)moment->count;
    bool large = moment->count > LARGE_CROWD;
    double since = time - observer->last_load_time;
    observer->load_known = false;
    if (count == 0 ||
        (large && observer->observation.sample_count > 0 && since < LARGE_INTERVAL - 1e-6))
        return true;
    if (!TH_RESERVE(observer->forces, observer->force_room, 2 * count)) return false;
    const float *radius = th_world_map(world, TH_FIELD_RADIUS, TH_ACCESS_READ);
    if (!radius || !th_world_contact_forces(world, observer->forces)) return false;
    memcpy(observer->forces + count, radius, count * sizeof *radius);
    observer->load_known = true;
    return true;
}

void th_load_sample(th_observer *observer, const th_moment *moment, double time) {
    th_observation *o = &observer->observation;
    const float *radius = observer->forces + moment->count;
    double since = time - observer->last_load_time;
    if (!observer->load_known) return;
    for (int i = 0; i < moment->count; ++i) {
        float force = observer->forces[i];
        if (!(force > 0.0f) || !th_moment_is_person(moment, i)) continue;
        uint8_t crowding = observer->last_seen[moment->id[i] - 1].crowding;
        bool packed = crowding > TH_EXPOSURE_PACKED && crowding <= TH_EXPOSURES;
        bear(&o->people[moment->id[i] - 1], force, radius[i], (float)since, packed);
        int32_t level = th_moment_level(moment, i);
        if (level < o->map_count)
            map_load(&o->maps[level], (float)moment->x[i], (float)moment->y[i], 0.5f * force,
                     since);
    }
    observer->last_load_time = time;
}
