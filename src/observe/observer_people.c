// One row per person, and some people's ways. Cost of a sample: O(people), in the order of their ids. SPDX-License-Identifier: Apache-2.0
#include "core/array.h"
#include "observe/observer_parts.h"
#include <math.h>
#include <stdlib.h>

bool th_people_reserve(th_observer *observer, uint32_t id) {
    th_observation *o = &observer->observation;
    if (id > (uint32_t)INT32_MAX) return false;
    if (id > observer->person_room) {
        size_t room = observer->person_room ? observer->person_room : 256;
        while (room < id) room += room / 2;
        if (!TH_RESIZE(o->people, room) || !TH_RESIZE(observer->last_seen, room)) return false;
        // Only work space, but as large as the others so that a sample need not allocate.
        free(observer->by_place);
        observer->by_place = malloc(room * sizeof *observer->by_place);
        if (!observer->by_place) return false;
        observer->person_room = room;
    }
    for (; o->person_count < (int)id; ++o->person_count) {
        o->people[o->person_count] = (th_person){
            .start_time = NAN, .end_time = NAN, .peak_pressure = NAN, .group = -1, .exit = -1};
        for (int k = 0; o->map_count == 0 && k < TH_EXPOSURES; ++k)
            o->people[o->person_count].exposure[k] = NAN;
        observer->last_seen[o->person_count] = (th_last_seen){.crowding = TH_CROWDING_UNKNOWN};
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
    float vx = (float)moment->velocity_x[i], vy = (float)moment->velocity_y[i];
    float speed = sqrtf(vx * vx + vy * vy);
    th_last_seen now = {.x = (float)moment->x[i],
                        .y = (float)moment->y[i],
                        .speed = speed,
                        .velocity = {vx, vy},
                        .doing = (uint8_t)doing_now(moment->phase[i], speed),
                        .crowding = before->crowding, // until the maps know
                        .level = (uint16_t)th_moment_level(moment, i),
                        .wait_until = moment->wait_until ? (float)moment->wait_until[i] : 0.0f};
    if (before->crowding == TH_CROWDING_UNKNOWN || !(interval > 0.0f)) return now;
    th_vec2 way = {(now.x - before->x) / interval, (now.y - before->y) / interval};
    // Between levels coordinates may jump: the way counts if somebody can have walked it.
    if (before->level == now.level || way.x * way.x + way.y * way.y < FASTEST * FASTEST)
        now.velocity = way;
    return now;
}

uint32_t th_people_sample(th_observer *observer, const th_moment *moment, double time) {
    th_observation *o = &observer->observation;
    float interval = (float)(time - observer->last_sample_time);
    uint32_t jammed = 0;
    for (int i = 0; i < moment->count; ++i) {
        if (!th_moment_is_person(moment, i)) continue;
        int64_t index = moment->id[i] - 1;
        th_last_seen now = seen_now(moment, i, &observer->last_seen[index], interval);
        jammed += now.doing == TH_DOING_JAM;
        th_person *person = &o->people[index];
        if (person->group < 0 && moment->group)
            begin_person(person, moment, i, &now, time);
        else
            continue_person(person, &observer->last_seen[index], &now, observer->last_sample_time,
                            interval);
        observer->last_seen[index] = now;
    }
    return jammed;
}

// ---- into the maps

// Ids say nothing about places, so that in a large crowd every person would touch a part of the map that is
// in no cache. Sorted into bands of rows first, a million people take a third of the time.
enum { BANDS = 128 };

static uint32_t band_of(const th_map *map, float y) {
    float band = (y - map->min_y) / (map->cell * (float)map->ny) * BANDS;
    return !(band > 0.0f) ? 0 : band >= (float)BANDS ? BANDS - 1 : (uint32_t)band;
}

static void put_level(th_observer *observer, const th_moment *moment, int32_t level) {
    th_map *map = &observer->observation.maps[level];
    size_t start[BANDS + 1] = {0};
    for (int i = 0; i < moment->count; ++i)
        if (th_moment_is_person(moment, i) && th_moment_level(moment, i) == level)
            start[band_of(map, (float)moment->y[i]) + 1]++;
    for (int b = 0; b < BANDS; ++b) start[b + 1] += start[b];
    size_t count = start[BANDS];
    for (int i = 0; i < moment->count; ++i)
        if (th_moment_is_person(moment, i) && th_moment_level(moment, i) == level)
            observer->by_place[start[band_of(map, (float)moment->y[i])]++] =
                observer->last_seen[moment->id[i] - 1];
    for (size_t k = 0; k < count; ++k)
        th_map_put(map, &observer->map_work[level], &observer->by_place[k]);
}

void th_people_into_maps(th_observer *observer, const th_moment *moment) {
    for (int m = 0; m < observer->observation.map_count; ++m) put_level(observer, moment, m);
}

// The piece after the last sample, as he was seen then.
static void end_person(th_observer *observer, int64_t index, double time) {
    const th_last_seen *last = &observer->last_seen[index];
    th_person *person = &observer->observation.people[index];
    float since = (float)(time - observer->last_sample_time);
    if (person->group < 0 || !(since > 0.0f)) return;
    spend(person, last->doing, since);
    th_exposure_spend(person, last->crowding, since);
    if (last->doing != TH_DOING_WAIT) person->path_length += last->speed * since;
}

void th_person_leaves(th_observer *observer, uint32_t id, int exit, double time) {
    th_person *person = &observer->observation.people[id - 1];
    end_person(observer, id - 1, time);
    person->end_time = (float)time;
    person->exit = (int16_t)exit;
}

void th_people_find_lost(th_observer *observer, const th_moment *moment, double time,
                         uint64_t lost) {
    th_observation *o = &observer->observation;
    int at = 0;
    for (int p = 0; p < o->person_count && lost > 0; ++p) {
        while (at < moment->count && moment->id[at] < p + 1) at++;
        bool there = at < moment->count && moment->id[at] == p + 1;
        if (there || o->people[p].group < 0 || !isnan(o->people[p].end_time)) continue;
        th_person_leaves(observer, (uint32_t)p + 1, -1, time);
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

// Every n-th person. When there are more of them than ways are wanted, every other way is dropped:
// those that stay are whole, and they are spread evenly over all ids so far.
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
