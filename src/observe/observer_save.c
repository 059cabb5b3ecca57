// An observer as bytes and back. One walk over everything that changes serves counting, writing and
// reading. Bytes may come from a damaged file: a check sum first, then every length against what is left
// and every index against the scene. SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/hash.h"
#include "core/memory.h"
#include "observe/observer_parts.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KEEP_VERSION = 8 };
static const uint64_t keep_magic = 0x31736276676e7274u; // "trngvbs1"

typedef struct keep_head {
    uint64_t magic, version, size, sum; // size: of all, head included
} keep_head;

typedef enum keep_mode { KEEP_COUNT, KEEP_WRITE, KEEP_READ } keep_mode;
typedef struct keeper {
    keep_mode mode;
    unsigned char *write;
    const unsigned char *read;
    size_t at, size;
    const char *trouble; // the first thing that went wrong
    bool no_memory;
} keeper;

static bool sound(const keeper *k) { return !k->trouble && !k->no_memory; }
static void expect(keeper *k, bool condition, const char *trouble) {
    if (!condition && sound(k)) k->trouble = trouble;
}

static void pass(keeper *k, void *value, size_t bytes) {
    if (!sound(k) || bytes == 0) return;
    if (k->mode == KEEP_READ) {
        expect(k, bytes <= k->size - k->at, "cut short");
        if (!sound(k)) return;
        memcpy(value, k->read + k->at, bytes);
    } else if (k->mode == KEEP_WRITE) {
        memcpy(k->write + k->at, value, bytes);
    }
    k->at += bytes;
}

// A value that must be the same in the bytes and in this observer.
static void match(keeper *k, double value) {
    double kept = value;
    pass(k, &kept, sizeof kept);
    expect(k, kept >= value && kept <= value, // false for what is not a number
           "made for another scene, interval or map cell");
}

// Room for `count` elements in an array that is read; the old array is given up.
static void *room_for(keeper *k, void *old, size_t count, size_t size) {
    if (k->mode != KEEP_READ || !sound(k)) return old;
    expect(k, count <= (k->size - k->at) / size, "cut short");
    if (!sound(k)) return old;
    free(old);
    if (count == 0) return NULL;
    void *array = calloc(th_array_room(count), size);
    if (!array) k->no_memory = true;
    return array;
}

static void pass_counts(keeper *k, uint32_t **array, int count) {
    *array = room_for(k, *array, (size_t)count, sizeof **array);
    pass(k, *array, (size_t)count * sizeof **array);
}

static void pass_floats(keeper *k, float **array, int count) {
    *array = room_for(k, *array, (size_t)count, sizeof **array);
    pass(k, *array, (size_t)count * sizeof **array);
}

static void pass_head(keeper *k, th_observer *observer) {
    th_observation *o = &observer->observation;
    match(k, o->interval);
    match(k, (double)o->counter_count);
    match(k, (double)o->area_count);
    match(k, (double)o->map_count);
    match(k, (double)observer->scene->goal_count);
    match(k, (double)observer->scene->group_count);
    match(k, (double)observer->def.track_count);
    pass(k, &o->seed, sizeof o->seed);
    pass(k, &o->events_lost, sizeof o->events_lost);
    pass(k, o->spans, sizeof o->spans);
    pass(k, &observer->last_step, sizeof observer->last_step);
    pass(k, &observer->last_sample_time, sizeof observer->last_sample_time);
    pass(k, &observer->last_load_time, sizeof observer->last_load_time);
    pass(k, &observer->last_left, sizeof observer->last_left);
    pass(k, &o->use_sample_count, sizeof o->use_sample_count);
    pass(k, &observer->lost_since_sample, sizeof observer->lost_since_sample);
    pass(k, &observer->last_id, sizeof observer->last_id);
    pass(k, &observer->track_stride, sizeof observer->track_stride);
    expect(k, observer->track_stride > 0, "no way of choosing tracks");
}

static void pass_series(keeper *k, th_observation *o) {
    int count = o->sample_count;
    pass(k, &count, sizeof count);
    expect(k, count >= 0, "a negative number of samples");
    if (!sound(k)) return;
    pass_counts(k, &o->spawned, count);
    pass_counts(k, &o->inside, count);
    pass_counts(k, &o->left, count);
    pass_counts(k, &o->overlapping, count);
    pass_counts(k, &o->jammed, count);
    for (int c = 0; c < o->counter_count; ++c) {
        th_counter *counter = &o->counters[c];
        pass_counts(k, &counter->forward, count);
        pass_counts(k, &counter->backward, count);
        pass_counts(k, &counter->queue, count);
        int passes = counter->pass_count;
        pass(k, &passes, sizeof passes);
        expect(k, passes >= 0, "a negative number of people in a door");
        if (!sound(k)) return;
        counter->passes = room_for(k, counter->passes, (size_t)passes, sizeof *counter->passes);
        pass(k, counter->passes, (size_t)passes * sizeof *counter->passes);
        if (sound(k)) counter->pass_count = passes;
        pass(k, &counter->first_time, sizeof counter->first_time);
        pass(k, &counter->last_time, sizeof counter->last_time);
        pass(k, &counter->forward_total, sizeof counter->forward_total);
        pass(k, &counter->backward_total, sizeof counter->backward_total);
    }
    for (int a = 0; a < o->area_count; ++a) {
        pass_floats(k, &o->areas[a].density, count);
        pass_floats(k, &o->areas[a].speed, count);
        pass_floats(k, &o->areas[a].voronoi_density, count);
        pass_floats(k, &o->areas[a].gaussian_density, count);
    }
    expect(k, o->use_sample_count >= 0 && o->use_sample_count <= count, "more use than samples");
    if (sound(k)) o->sample_count = count;
}

// Only there once a model gave one.
static void pass_pressure(keeper *k, th_map *map) {
    size_t cells = (size_t)map->nx * (size_t)map->ny;
    uint64_t there = map->pressure_max != NULL;
    pass(k, &there, sizeof there);
    expect(k, there <= 1, "of a pressure whose flag is neither 0 nor 1");
    if (!sound(k)) return;
    if (k->mode == KEEP_READ && there) {
        size_t each = sizeof *map->pressure_sum + sizeof *map->pressure_max;
        expect(k, cells <= (k->size - k->at) / each, "cut short");
        if (sound(k) && !th_map_make_pressure(map)) k->no_memory = true;
    } else if (k->mode == KEEP_READ) {
        th_map_forget_pressure(map);
    }
    if (!sound(k) || !there) return;
    pass(k, map->pressure_sum, cells * sizeof *map->pressure_sum);
    pass(k, map->pressure_max, cells * sizeof *map->pressure_max);
}

static void pass_frames(keeper *k, th_map_frames *frames, int samples) {
    size_t blocks = TH_FRAMES * (size_t)frames->nx * (size_t)frames->ny;
    int width = frames->width;
    match(k, (double)frames->stride);
    match(k, (double)frames->chosen);
    pass(k, &width, sizeof width);
    expect(k, width > 0 && (frames->chosen > 0 || (int64_t)width * TH_FRAMES >= samples),
           "of frames that do not hold its samples");
    if (!sound(k)) return;
    frames->width = width;
    frames->samples = samples;
    pass(k, frames->density, blocks * sizeof *frames->density);
    pass(k, frames->speed, blocks * sizeof *frames->speed);
    pass(k, frames->walkers, blocks * sizeof *frames->walkers);
}

static void pass_maps(keeper *k, th_observation *o) {
    for (int m = 0; m < o->map_count; ++m) {
        th_map *map = &o->maps[m];
        size_t cells = (size_t)map->nx * (size_t)map->ny;
        match(k, (double)map->nx);
        match(k, (double)map->ny);
        match(k, (double)map->cell);
        match(k, (double)map->min_x);
        match(k, (double)map->min_y);
#define X(name) pass(k, map->name, cells * sizeof *map->name);
        TH_MAP_SUMS(X)
#undef X
        pass(k, map->motion, cells * sizeof *map->motion);
        pass_frames(k, &map->frames, o->sample_count);
        pass_pressure(k, map);
        pass(k, &map->outside_count, sizeof map->outside_count);
    }
}

static void pass_people(keeper *k, th_observer *observer) {
    th_observation *o = &observer->observation;
    int count = o->person_count;
    pass(k, &count, sizeof count);
    expect(k, count >= 0, "a negative number of people");
    if (k->mode == KEEP_READ && sound(k)) {
        size_t each = sizeof *o->people + sizeof *observer->last_seen;
        expect(k, (size_t)count <= (k->size - k->at) / each, "cut short");
        if (!sound(k)) return;
        o->person_count = 0;
        if (!th_people_reserve(observer, (uint32_t)count)) k->no_memory = true;
    }
    if (!sound(k)) return;
    pass(k, o->people, (size_t)count * sizeof *o->people);
    pass(k, observer->last_seen, (size_t)count * sizeof *observer->last_seen);
    if (k->mode != KEEP_READ || !sound(k)) return;
    const th_scene_view *scene = observer->scene;
    for (int p = 0; p < count; ++p)
        expect(k,
               o->people[p].exit >= -1 && o->people[p].exit < scene->goal_count &&
                   o->people[p].group >= -1 &&
                   o->people[p].group < scene->group_count + scene->scripted_count,
               "a person of no group or through no exit");
    expect(k, observer->last_id <= (uint32_t)count, "ids without people");
}

static void pass_track(keeper *k, const th_observer *observer, th_track *track) {
    pass(k, &track->id, sizeof track->id);
    pass(k, &track->group, sizeof track->group);
    pass(k, &track->first_sample, sizeof track->first_sample);
    int count = track->count;
    pass(k, &count, sizeof count);
    int samples = observer->observation.sample_count, people = observer->observation.person_count;
    expect(k,
           count >= 0 && count <= samples && track->first_sample >= 0 &&
               track->first_sample <= samples - count && track->id >= 1 &&
               track->id <= (uint32_t)people && track->group >= -1 &&
               track->group < observer->scene->group_count + observer->scene->scripted_count,
           "a track of an unknown agent");
    if (!sound(k)) return;
    pass_floats(k, &track->x, count);
    pass_floats(k, &track->y, count);
    track->level = room_for(k, track->level, (size_t)count, sizeof *track->level);
    pass(k, track->level, (size_t)count);
    for (int n = 0; k->mode == KEEP_READ && n < count && sound(k); ++n)
        expect(k, track->level[n] < observer->scene->level_count, "a way on no level");
    if (sound(k)) track->count = count;
}

static void pass_tracks(keeper *k, th_observer *observer) {
    th_observation *o = &observer->observation;
    int count = o->track_count;
    pass(k, &count, sizeof count);
    expect(k, count >= 0 && count <= observer->def.track_count, "more ways than wanted");
    uint32_t last = 0;
    for (int t = 0; t < count && sound(k); ++t) {
        if (k->mode == KEEP_READ && t >= o->track_count) o->track_count = t + 1;
        pass_track(k, observer, &o->tracks[t]);
        expect(k, o->tracks[t].id > last, "ways out of order");
        last = o->tracks[t].id;
    }
}

static void pass_all(keeper *k, th_observer *observer) {
    pass_head(k, observer);
    pass_series(k, &observer->observation);
    pass_maps(k, &observer->observation);
    pass_people(k, observer);
    pass_tracks(k, observer);
}

static uint64_t check_sum(const unsigned char *bytes, size_t size) {
    uint64_t h = size;
    for (size_t k = 0; k < size; k += 8) {
        uint64_t word = 0;
        memcpy(&word, bytes + k, size - k < 8 ? size - k : 8);
        h = th_hash_add(h, word);
    }
    return h;
}

void th_observer_seal(void *bytes, size_t size) {
    keep_head head;
    if (size < sizeof head) return;
    memcpy(&head, bytes, sizeof head);
    head.sum = check_sum((unsigned char *)bytes + sizeof head, size - sizeof head);
    memcpy(bytes, &head, sizeof head);
}

th_result th_observer_save(const th_observer *observer, void **bytes, size_t *size,
                           th_error *error) {
    *bytes = NULL;
    *size = 0;
    th_observer *watched = (th_observer *)observer; // counting and writing change nothing
    th_observer_wait(watched);
    keeper counter = {.mode = KEEP_COUNT};
    pass_all(&counter, watched);
    keep_head head = {keep_magic, KEEP_VERSION, counter.at + sizeof head, 0};
    unsigned char *memory = malloc(head.size);
    if (!memory)
        return th_fail(error, TH_NO_MEMORY, "", "no memory to keep what was measured so far");
    keeper writer = {.mode = KEEP_WRITE, .write = memory + sizeof head};
    pass_all(&writer, watched);
    memcpy(memory, &head, sizeof head);
    th_observer_seal(memory, head.size);
    *bytes = memory;
    *size = head.size;
    return TH_OK;
}

static void forget(th_observer *observer) {
    th_observation *o = &observer->observation;
    for (int t = 0; t < o->track_count; ++t) {
        free(o->tracks[t].x);
        free(o->tracks[t].y);
        free(o->tracks[t].level);
        o->tracks[t] = (th_track){0};
    }
    o->track_count = o->sample_count = o->person_count = 0;
}

th_result th_observer_restore(th_observer *observer, const void *bytes, size_t size,
                              th_error *error) {
    keep_head head = {0};
    memcpy(&head, bytes, size < sizeof head ? size : sizeof head);
    if (size < sizeof head || head.magic != keep_magic)
        return th_fail(error, TH_BAD_SNAPSHOT, "", "these bytes are not a throng measurement");
    if (head.version != KEEP_VERSION)
        return th_fail(error, TH_BAD_SNAPSHOT, "",
                       "the measurement is of version %llu; this is version %d",
                       (unsigned long long)head.version, KEEP_VERSION);
    const unsigned char *body = (const unsigned char *)bytes + sizeof head;
    if (head.size != size || head.sum != check_sum(body, size - sizeof head))
        return th_fail(error, TH_BAD_SNAPSHOT, "", "the measurement is damaged or cut short");
    keeper reader = {.mode = KEEP_READ, .read = body, .size = size - sizeof head};
    th_observer_wait(observer);
    forget(observer);
    pass_all(&reader, observer);
    expect(&reader, reader.at == reader.size, "too long");
    int samples = observer->observation.sample_count;
    if (sound(&reader) && samples > 0) th_observer_note_counts(observer, samples - 1);
    if (sound(&reader)) return TH_OK;
    forget(observer);
    if (reader.no_memory)
        return th_fail(error, TH_NO_MEMORY, "", "no memory to take up what was measured so far");
    return th_fail(error, TH_BAD_SNAPSHOT, "", "the measurement does not fit: it is %s",
                   reader.trouble);
}
